#!/usr/bin/env bash
# Long stress, many random programs and inputs, every combination of the C programs, mpi4py with odd numbers of ranks, the
# sanitizers' long form.   ci/soak.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
# may_skip COMMAND..: fails unless the command ends with 0, or with 77 since the machine lacks what it needs
may_skip() {
    local status=0
    "$@" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ]
}
models=$("$build/bin/heddle" models --names | paste -sd ,)
"$build/bin/heddle" models --pairwise --seed "$RANDOM" >"$build/combinations"
ci/stress.sh "$build" 1000
python3 tests/random/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" \
    --combinations "$build/combinations" --runs 1000
python3 tests/random/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" --windows \
    --combinations "$build/combinations" --runs 1000
python3 tests/c/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" --models "$models" --cover all
# A million objects of each kind, and no growth.
FLAT_COUNT=1000000 python3 tests/c/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" \
    --models per-vni-mutex,lock-free,csync --cover one --jobs 1 -k lifetime_flat_objects
# Every lifetime with either request pool and both kinds of reference counts.
HEDDLE_TEST_SEED=0 ci/lanes.sh lifetime
HEDDLE_TEST_SEED=1 ci/lanes.sh lifetime
# Several machines, under every model.
may_skip tests/machines/test.sh "$build" .peers/mpich all
# With odd numbers of ranks make test runs a sample.
tests/mpi4py/run.sh "$build" "$build/mpi4py" --ranks "1 3 5"
# And its tests of communication a sample of the models.
tests/mpi4py/run.sh "$build" "$build/mpi4py" --ranks 2 --models "$models" \
    -k '^test_(attributes|cco_|comm$|errhandler|op|p2p_|pack|request|threads|util_pkl5)'
tests/fuzz/run.py "$build" --runs 10000
tests/fuzz/special_values.py "$build" --pairs all
PROPTEST_CASES=100000 cargo test --quiet -p heddle-transport --lib garbage
PROPTEST_CASES=20000 cargo test --quiet -p heddle-message --lib random_messages
may_skip ci/sanitize.sh long
# All programs on several machines by the other launchers.
may_skip tests/machines/prrte.sh "$build" .peers/openmpi all
may_skip tests/machines/slurm.sh "$build" all
