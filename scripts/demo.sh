#!/usr/bin/env bash
# Builds Gleaner and runs a paper's experiments again; ends with a report that opens in a browser.
# Safe to repeat. Options go to `gleaner paper bertasi`, as in: scripts/demo.sh --seeds 20
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh build
cargo build --release --locked --bin gleaner
target/release/gleaner paper bertasi --out gleaner-out/bertasi "$@"

report=$PWD/gleaner-out/bertasi/report.html
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] && command -v xdg-open >/dev/null; then
    xdg-open "$report"
else
    echo "Open this in a browser: file://$report"
fi
