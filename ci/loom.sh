#!/bin/sh
# Model checking of the sources that ship.   ci/loom.sh drawn|short|long [TEST_ARGUMENT..]
# drawn: of the short form 14 test programs and 3 faults, drawn by HEDDLE_TEST_SEED.
# short: each model with the bound on preemptions that stands beside it (crates/sync/tests/model/mod.rs says how far).
# The mutex, waiting, events, queues and pools: crates/sync/tests/loom_*.rs. The other locks:
# crates/locks/tests/loom_*.rs; the distributed ones: crates/rma-locks/tests/exhaustive*.rs, whose small sizes the
# tests of the crates explore. Combining: crates/combining/tests/loom_*.rs. The rings:
# crates/transport/tests/loom_ring.rs. Objects and requests that pass between threads: loom_tests beside the
# code, in crates/objects/src.
# long: the same, and each model that has a bound goes on with higher ones, for ten seconds; says how far it came.
# After the models: faults planted in a copy of the sources, each of which a model has to find (ci/faults.py): in the short
# form a random few, with the seed that brings them again, in the long form all. HEDDLE_LOOM_CRATES="sync ..": only the
# models of these crates.
set -eu
cd "$(dirname "$0")/.."
form=${1:-short}
[ $# -eq 0 ] || shift
count=1000 planted="--sample 5"
case "$form" in
drawn) count=14 planted="--sample 3" ;;
short) ;;
long)
    planted=
    export HEDDLE_LOOM_SECONDS="${HEDDLE_LOOM_SECONDS:-10}"
    [ $# -gt 0 ] || set -- --nocapture
    ;;
*) echo "usage: $0 drawn|short|long [TEST_ARGUMENT..]" >&2; exit 2 ;;
esac
export HEDDLE_TEST_SEED="${HEDDLE_TEST_SEED:-$$}"
crates=${HEDDLE_LOOM_CRATES:-sync locks combining transport objects}
# Each test program, behind its crate.
programs=$(
    for crate in $crates; do
        [ "$crate" != objects ] || echo "$crate --lib"
        for file in crates/"$crate"/tests/loom_*.rs; do
            [ ! -e "$file" ] || echo "$crate --test $(basename "$file" .rs)"
        done
    done | ci/drawn.py "$count" loom
)
echo "$programs"
echo "HEDDLE_TEST_SEED=$HEDDLE_TEST_SEED"
# Crate by crate, so that a long run can be taken in parts (ci/verify.sh).
for crate in $crates; do
    tests=$(echo "$programs" | sed -n "s/^$crate //p")
    [ -n "$tests" ] || continue
    # shellcheck disable=SC2086  # a list
    RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p "heddle-$crate" --profile loom $tests -- "$@"
done
# With arguments, which name models, only these models run.
case "$*${HEDDLE_LOOM_CRATES-}" in
"" | --nocapture)
    # shellcheck disable=SC2086  # none or two words
    ci/faults.py loom $planted
    ;;
esac
