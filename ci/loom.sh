#!/bin/sh
# Model checking of the sources that ship.   ci/loom.sh short|long [TEST_ARGUMENT..]
# short: each model with the bound on preemptions that stands beside it (crates/sync/tests/model/mod.rs says how far).
# The mutex, waiting, events, queues and pools: crates/sync/tests/loom_*.rs. The other locks:
# crates/locks/tests/loom_*.rs; the distributed ones: crates/rma-locks/tests/exhaustive*.rs, whose small sizes the
# tests of the crates explore. Combining: crates/combining/tests/loom_*.rs. The rings:
# crates/transport/tests/loom_ring.rs. Objects and requests that pass between threads: loom_tests beside the
# code, in crates/objects/src.
# long: up to five preemptions wherever there is a bound, at most five minutes a model; says which were not finished.
# After the models: faults planted in a copy of the sources, each of which a model has to find (ci/faults.py): in the short
# form a random few, with the seed that brings them again, in the long form all, and their models without them.
set -eu
cd "$(dirname "$0")/.."
form=${1:-short}
[ $# -eq 0 ] || shift
planted="--sample 5"
case "$form" in
short) ;;
long)
    planted=
    export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-5}" LOOM_MAX_DURATION="${LOOM_MAX_DURATION:-300}"
    [ $# -gt 0 ] || set -- --nocapture
    ;;
*) echo "usage: $0 short|long [TEST_ARGUMENT..]" >&2; exit 2 ;;
esac
export RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom
cargo test -p heddle-sync --profile loom --test 'loom_*' -- "$@"
cargo test -p heddle-locks --profile loom --test 'loom_*' -- "$@"
cargo test -p heddle-combining --profile loom --test 'loom_*' -- "$@"
cargo test -p heddle-transport --profile loom --test 'loom_*' -- "$@"
cargo test -p heddle-objects --profile loom --lib -- "$@"
unset RUSTFLAGS CARGO_TARGET_DIR
[ "$form" = short ] || HEDDLE_EXPLORE_LONG=1 cargo test -p heddle-rma-locks --release --test 'exhaustive*' -- "$@"
# With arguments, which name models, only these models run.
case "$*" in
"" | --nocapture)
    # shellcheck disable=SC2086  # none or two words
    ci/faults.py loom $planted
    [ "$form" = short ] || ci/faults.py loom --sound
    ;;
esac
