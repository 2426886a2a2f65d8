#!/usr/bin/env bash
# Builds the page, fails if what is committed is another, and tries it in a browser against a coordinator.
# Usage: scripts/page.sh [build]; with "build" it only builds.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh page
cd web
npm ci --no-audit --no-fund
npm run build
[ "${1:-}" = build ] && exit
if ! git diff --exit-code --stat -- dist src/schema.d.ts; then
    echo "web/dist is not what web/src makes: run scripts/page.sh build, and commit it" >&2
    exit 1
fi
cd ..
# As scripts/test.sh builds it. Part of the workspace alone would be built with other features, and so once more.
cargo test --workspace --locked --no-run
cd web
npm test
