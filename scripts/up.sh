#!/usr/bin/env bash
# Builds Gleaner, starts a grid on this machine and shows what it does: tasks are placed, an owner comes back, tasks
# move on with their checkpoints. Ctrl-C ends it; safe to repeat. Options go to `gleaner up`.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install.sh build run
cargo build --release --locked --bin gleaner --bin gleaner-launch
exec target/release/gleaner up --demo "$@"
