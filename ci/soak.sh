#!/usr/bin/env bash
# Long stress, many random programs and inputs, combinations of the C programs, mpi4py with odd numbers of ranks, the
# sanitizers' long form.   ci/soak.sh BUILD [PART..]
#
# It runs in parts, whose names it prints; PART is a pattern of them ('lane:*'). A run that was interrupted goes on with
# the part that had not ended (ci/parts.sh). Logs are in BUILD/soak.
# What could go on for days, in random order, ends after HEDDLE_TEST_SECONDS each time (default 300): some hours on two cores.
set -uo pipefail
cd "$(dirname "$0")/.."
. ci/parts.sh
build=${1:-build}
[ $# -eq 0 ] || shift
models=$("$build/bin/heddle" models --names | paste -sd ,) || exit
combinations=$build/soak/combinations
mkdir -p "$build/soak"
export HEDDLE_TEST_SECONDS=${HEDDLE_TEST_SECONDS:-300}
"$build/bin/heddle" models --pairwise --seed "$RANDOM" >"$combinations" || exit

# c_programs ARGUMENT..: programs of tests/c
c_programs() {
    python3 tests/c/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" --build-dir "$build/tests/c" "$@"
}
# random_programs ARGUMENT..: of messages, or of windows
random_programs() {
    python3 tests/random/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" --combinations "$combinations" \
        --runs 1000 "$@"
}

part_stress() { ci/stress.sh "$build" 100; }
part_random() { random_programs; }
part_windows() { random_programs --windows; }
# Every combination of a model, a number of ranks and a level.
part_programs() { c_programs --models "$models" --cover all; }
# A million objects of each kind, and no growth.
part_objects() {
    HEDDLE_TEST_SECONDS="" FLAT_COUNT=1000000 c_programs --models auto,lock-free,csync --cover one -k lifetime_flat_objects
}
# A lane of make test without a draw: all lifetimes, models, or numbers of ranks.
part_lane() { HEDDLE_TEST_SEED=all ci/lanes.sh "$1"; }
# Several machines, under every model.
part_machines() {
    local mpich
    mpich=$(ci/peer.sh mpich)
    tests/machines/test.sh "$build" "$mpich" all
}
part_fuzz() { tests/fuzz/run.py "$build" --runs 10000; }
part_special_values() { tests/fuzz/special_values.py "$build" --pairs all; }
part_garbage() {
    PROPTEST_CASES=100000 cargo test --quiet -p heddle-transport --lib garbage
    PROPTEST_CASES=20000 cargo test --quiet -p heddle-message --lib random_messages
}
part_sanitize() { ci/sanitize.sh long "$1"; }
# All programs on several machines by the other launchers.
part_prrte() { tests/machines/prrte.sh "$build" all; }
part_slurm() { tests/machines/slurm.sh "$build" all; }

run_parts "$build/soak" lane:rust lane:lifetime lane:collective lane:graph500 lane:abi lane:fortran lane:mpi4py lane:py_models \
    fuzz special_values garbage objects random windows stress machines prrte slurm programs sanitize:address \
    sanitize:thread -- "$@"
