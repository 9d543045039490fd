#!/usr/bin/env bash
# Runs one lane of ci/test.sh.   ci/lanes.sh LANE
#
# A lane ends with status 0 if all is well, and with 77 if the machine lacks what it needs; its last line then says what.
# ci/test.sh runs lanes beside each other, so two lanes never write the same files: run.py puts what it compiles in its
# place by a rename.
#
# What a lane draws at random (ci/drawn.py) follows from HEDDLE_TEST_SEED, so that over the runs everything has its turn;
# HEDDLE_TEST_SEED=all draws everything, as make soak does, with lanes or with longer forms of them.
set -uo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build
mpicc=$build/bin/mpicc
mpiexec=$build/bin/mpiexec
models=auto,global-mutex
export HEDDLE_TEST_SEED=${HEDDLE_TEST_SEED:-$RANDOM}
mkdir -p "$build/test"

# c_programs ARGUMENT..: the programs of tests/c. Each is compiled once, by the lane that comes first.
c_programs() {
    python3 tests/c/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --build-dir "$build/tests/c" "$@"
}

# model_names FIRST N: N of the names of Heddle's models from the FIRST on, and of three of the papers', drawn; fails where
# there are none, so that no lane passes idly
model_names() {
    "$build/bin/heddle" models --names --form heddle | tail -n "+$1" | ci/drawn.py "$2" models | grep . || return
    "$build/bin/heddle" models --names --form paper | ci/drawn.py 3 papers | grep .
}

lane_lint() { ci/lint.sh; }
# Of the tests that take long (ci/long_tests.txt) a third, drawn at random, and all others.
lane_rust() {
    local test left_out=()
    while read -r test; do left_out+=(--skip "$test"); done \
        < <(ci/drawn.py 8 long_tests <ci/long_tests.txt | grep -vxFf - ci/long_tests.txt)
    echo "HEDDLE_TEST_SEED=$HEDDLE_TEST_SEED, left out: ${left_out[*]}"
    HEDDLE_TEST_SEED=${HEDDLE_TEST_SEED/all/0} cargo test --workspace --quiet -- --exact "${left_out[@]}"
}
lane_loom() { ci/loom.sh drawn; }
# As make builds, but for the command heddle: whoever measures with it runs make before.
lane_build() {
    cargo build --release --workspace --config profile.release.package.heddle-cli.opt-level=1 \
        --config profile.release.package.heddle-experiments.opt-level=1 && tools/stage.sh target/release "$build"
}
lane_abi() { tests/abi/run.sh "$build"; }
lane_instructions() { tests/instructions/run.py --mpicc "$mpicc" --mpiexec "$mpiexec"; }
lane_lab() { tests/lab/run.py "$build"; }
# Every experiment once: what it launches, not what it finds.
lane_papers() { tests/papers/run.py "$build"; }
# started_by MPIEXEC [PROGRAMS]: how a job begins and ends is the launcher's; the rest is the lane c's.
started_by() {
    mpiexec=$1 c_programs --models auto --cover one \
        -k "^(${2:-abort|error_(abort|fatal|self)|file_size|coll_many|fork_exit|init_|no_leaks|probe|self_comm|sessions(_no_world)?$|threads_(abort|order)|win_fence})"
}
# MPICH is there once the lane abi has run. Its launcher speaks PMI-1 and PMI-2.
lane_hydra() {
    local hydra=${HEDDLE_PEER_MPICH:-$PWD/.peers/mpich}/bin/mpiexec
    started_by "$hydra" && HEDDLE_BOOTSTRAP=pmi2 started_by "$hydra" 'abort_code|error_(fatal|self)|init_|probe|sessions$'
}
lane_prrte() {
    local openmpi status=0
    openmpi=$(ci/peer.sh openmpi) || return
    tests/machines/prrte.sh "$build" || status=$?
    [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || return "$status"
    started_by "$openmpi/bin/mpiexec --allow-run-as-root --map-by :OVERSUBSCRIBE --bind-to none"
}
# Slurm is there if ci/prerequisites.sh could install it.
lane_slurm() { tests/machines/slurm.sh "$build"; }
# Machines are network namespaces, where the kernel lets us make some.
lane_machines() { tests/machines/test.sh "$build" "${HEDDLE_PEER_MPICH:-$PWD/.peers/mpich}"; }
lane_tools() { tests/launcher/tools.sh "$build"; }
lane_sync_c() { tests/sync_c/run.sh "$build"; }
lane_rma_locks_c() {
    tests/rma_locks_c/run.sh "$build" || return
    make -s -C examples/hash_table CC="$mpicc" PKG_CONFIG_PATH="$build/lib/pkgconfig" BUILD="$build/examples" \
        && examples/hash_table/test.sh "$mpiexec" "$build/examples/hash_table"
}
lane_fortran() {
    local names
    names=$(model_names 1 6) || return
    ci/peer.sh impi >/dev/null || return
    tests/fortran/run.sh "$build" || return
    tests/fortran/compiled_elsewhere.sh "$build" || return
    tests/fortran/cost/run.py "$build" || [ $? -eq 77 ] || return
    make -s -C examples/sweep FC="$build/bin/mpifort" BUILD="$build/examples/sweep" || return
    # shellcheck disable=SC2086  # a list
    examples/sweep/test.sh "$mpiexec" "$build/examples/sweep/sweep" $names
}
lane_settings() {
    python3 tests/c/settings.py --mpicc "$mpicc" --mpiexec "$mpiexec" --build-dir "$build/tests/c"
}
# Each choice of a model ignored in turn: a few, drawn at random (make verify: all).
lane_mutants() { ci/mutants.py --sample 4; }
# Each program at every level and under both models, with four numbers of ranks, combined at random; make soak: all
# combinations.
lane_c() { c_programs --models "$models" --cover each --most 4; }
# The other models: 150 of the programs with the most ranks and threads, each under one of them, drawn at random (make
# soak: all under all). And the order of messages where threads hand operations over one by one.
lane_models() {
    local others
    others=$(model_names 3 100 | paste -sd ,) || return
    # What these two are about is no part of a model, and the second has a lane of its own.
    c_programs --models "$others" --cover one --sample 1 --few 150 -k '^(?!error_messages|lifetime_flat_objects)' \
        && HEDDLE_COMBINING_LIMIT=1 HEDDLE_POST_TRIES=0 c_programs --models lockq-mcs,lockq-mtx --cover one -k order \
        && HEDDLE_COMBINING_LIMIT=1 c_programs --models csync --cover one -k order \
        && c_programs --models lock-free --cover one -k order
}
# The lifetimes of objects: two of the eight pairs of a lifetime and of where requests come from and how references are
# counted, drawn at random.
lane_lifetime() {
    local lifetime pool kind
    for lifetime in naive suppress collect none; do
        printf '%s\n' "$lifetime shared locked" "$lifetime thread-local atomic"
    done | ci/drawn.py 2 lifetimes | while read -r lifetime pool kind; do
        local settings=(HEDDLE_LIFETIME="$lifetime" HEDDLE_REQUEST_POOL="$pool" HEDDLE_REFERENCE_COUNTS="$kind")
        echo "${settings[*]}"
        (export "${settings[@]}" && c_programs --models "$models" --cover one \
            -k "$([ "$lifetime" = none ] || echo 'lifetime_flat|no_leaks|')lifetime_early|free|persistent|type_messages") \
            </dev/null || return
    done
}
# Half of the combinations of parts of a model, drawn at random.
lane_random() {
    local combinations=$build/test/combinations
    "$build/bin/heddle" models --pairwise | ci/drawn.py 72 combinations >"$combinations" || return
    python3 tests/random/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --models "$models" --runs 20 \
        && python3 tests/random/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" \
            --combinations "$combinations" --runs "$(wc -l <"$combinations")" --ops 150 \
        && python3 tests/random/run.py --mpicc "$mpicc" --mpiexec "$mpiexec" --windows --models "$models" --runs 30
}
# The first two models and eight of the others, drawn at random, as are the algorithms and the operations.
lane_collective() {
    local names others model choices seed=${HEDDLE_TEST_SEED/all/0} operations=500 table=$build/test/collectives.table
    others=$(model_names 3 5) || return
    names="${models//,/ } $others"
    for model in $names; do
        seed=$((seed + 1))
        echo "HEDDLE_MODEL=$model, algorithms drawn with HEDDLE_TEST_SEED=$HEDDLE_TEST_SEED"
        choices=$(tests/collective/choices.py "$build/bin/heddle" "$HEDDLE_TEST_SEED-$model" "$table") || return
        HEDDLE_MODEL=$model CHOICES=$choices OPERATIONS=$operations tests/collective/run.sh "$mpiexec" "$mpicc" "$seed" || return
        [ "$model" != global-mutex ] || operations=100
    done
}
# Half of the models, each in one shape of a job, drawn at random.
lane_stress() { ci/stress.sh "$build" 30 1 19; }
lane_graph500() {
    local names model
    names=$(model_names 1 9) || return
    make -C examples/graph500 CC="$mpicc" BUILD="$build/examples" || return
    for model in $names; do
        echo "HEDDLE_MODEL=$model"
        HEDDLE_MODEL=$model examples/graph500/test.sh "$mpiexec" "$build/examples/graph500" || return
    done
}
# A few inputs, and a sample of the pairs of special values.
lane_fuzz() {
    tests/fuzz/run.py "$build" || return
    if [ "$HEDDLE_TEST_SEED" = all ]; then
        tests/fuzz/special_values.py "$build" --pairs all
    else
        tests/fuzz/special_values.py "$build" --pairs 40 --seed "$HEDDLE_TEST_SEED"
    fi
}
lane_sanitize() { HEDDLE_TOOLS=target/release ci/sanitize.sh; }
# Every module once, with a number of ranks that is drawn for it.
lane_mpi4py() { tests/mpi4py/run.sh "$build" "$build/mpi4py" --ranks "1 2 3 4 5" --once; }
# mpi4py's tests of communication under two of the other models, drawn at random, with threads (mpi4py asks for
# MPI_THREAD_MULTIPLE).
lane_py_models() {
    local others
    others=$(model_names 2 100 | ci/drawn.py 2 py_models | paste -sd ,) || return
    tests/mpi4py/run.sh "$build" "$build/mpi4py" --ranks 2 --models "$others" \
        -k '^test_(attributes|cco_|comm$|errhandler|op|p2p_|pack|request|threads|util_pkl5)'
}
lane_rsmpi() { tests/rsmpi/run.sh "$build" "$build/rsmpi"; }

if [ $# -ne 1 ] || ! declare -F "lane_$1" >/dev/null; then
    echo "usage: $0 LANE" >&2
    exit 2
fi
"lane_$1"
