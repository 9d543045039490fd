#!/bin/sh
# Model checking of the sources that ship.   ci/loom.sh short|long
# short: each model with the bound on preemptions that stands beside it in the tests.
# long: up to five preemptions everywhere.
set -eu
cd "$(dirname "$0")/.."
case "${1:-short}" in
short) ;;
long) export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-5}" ;;
*) echo "usage: $0 short|long" >&2; exit 2 ;;
esac
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom \
    cargo test -p heddle-sync --release --test 'loom_*'
