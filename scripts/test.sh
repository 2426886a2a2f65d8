#!/usr/bin/env bash
# Passes all tests. Safe to repeat. Options go to `cargo test`, as in: scripts/test.sh -p gleaner-core
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh build test

# HTCondor's own ClassAd library, which the differential test compares with.
oracle=target/classad2
if [ ! -x "$oracle/bin/python3" ] || ! "$oracle/bin/python3" -c 'import classad2' 2>/dev/null; then
    python3 -m venv "$oracle"
    "$oracle/bin/pip" install --quiet htcondor==25.14.1
fi
export GLEANER_CLASSAD2_PYTHON=$PWD/$oracle/bin/python3

if [ $# -eq 0 ]; then
    set -- --workspace
fi
cargo test --locked "$@"
