#!/bin/sh
# Lets schemathesis attack the HTTP API by its own OpenAPI document. Extra arguments go to schemathesis.
set -eu
cd "$(dirname "$0")/.."
venv="${CARGO_TARGET_DIR:-target}/schemathesis"
[ -x "$venv/bin/schemathesis" ] || { python3 -m venv "$venv" && "$venv/bin/pip" -q install 'schemathesis>=4,<5'; }
SCHEMATHESIS="$(realpath "$venv")/bin/schemathesis" SCHEMATHESIS_ARGS="$*" \
    cargo test -p gleaner-http --test http -- --ignored --nocapture schemathesis
