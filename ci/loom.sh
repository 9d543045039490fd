#!/bin/sh
# Model checking of the sources that ship.   ci/loom.sh short|long [TEST_ARGUMENT..]
# short: each model with the bound on preemptions that stands beside it (crates/sync/tests/model/mod.rs says how far).
# The locks: crates/sync/tests/loom_*.rs. The rings: crates/transport/tests/loom_ring.rs. The engine's own hand-overs: loom_tests beside the code, in crates/engine/src.
# long: up to five preemptions wherever there is a bound, at most five minutes a model; says which were not finished.
set -eu
cd "$(dirname "$0")/.."
form=${1:-short}
[ $# -eq 0 ] || shift
case "$form" in
short) ;;
long)
    export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-5}" LOOM_MAX_DURATION="${LOOM_MAX_DURATION:-300}"
    [ $# -gt 0 ] || set -- --nocapture
    ;;
*) echo "usage: $0 short|long [TEST_ARGUMENT..]" >&2; exit 2 ;;
esac
export RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom
cargo test -p heddle-sync --release --test 'loom_*' -- "$@"
cargo test -p heddle-transport --release --test 'loom_*' -- "$@"
cargo test -p heddle-engine --release --lib -- "$@"
