#!/bin/sh
# Builds the SimGrid program and compares it with Gleaner on the same inputs. Installs nothing. See README.md.
set -eu
cd "$(dirname "$0")/../.."
if ! echo '#include <simgrid/s4u.hpp>' | "${CXX:-c++}" -std=c++17 -fsyntax-only -x c++ - 2>/dev/null; then
    echo "SimGrid and a C++ compiler are needed: apt-get install g++ libsimgrid-dev" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -O3 -std=c++17 benches/simgrid/greedy.cpp -o "$work/greedy" -lsimgrid
cargo build --release --quiet --package gleaner-bench --example compare
"${CARGO_TARGET_DIR:-target}/release/examples/compare" "$work/greedy" "$work/inputs"
