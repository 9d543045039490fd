#!/usr/bin/env bash
# Programs on one machine and on two, which network namespaces play, started by a Slurm that lives as long as this test
# (with_slurm.py): `srun --mpi=pmi2` and `srun --mpi=pmix`.
#
#   slurm.sh BUILD [all]     `all`: every program of tests/c that is not about one machine, on 2 machines and 4; else a few
#
# Ends with 77 where the kernel lets nobody make namespaces, or Slurm is not installed.
set -uo pipefail
. "$(dirname "$0")/common.sh"
build=$(realpath -m "$1")
work=$build/tests/slurm
ring=$work/ring
cd "$here/../.." || exit

# in_slurm PROTOCOL MACHINES RANKS ARGUMENT..: srun
in_slurm() { timeout "$hangs_after" srun --mpi="$1" -N "$2" -n "$3" "${@:4}" 2>&1; }

# ends WHAT BEGIN: fails if the job that began then did not end by itself, or ranks are left.
ends() {
    [ $((SECONDS - $2)) -lt "$hangs_after" ] || fail "$1: the job went on for $((SECONDS - $2)) s"
    ! pgrep -f "^$work/" >/dev/null || fail "$1: ranks stay behind"
    echo "ok   $1"
}

# The tests, within the allocation of a job.
jobs() {
    local protocol=$1 shape machines ranks said status begin
    for shape in "1 3" "2 5"; do
        read -r machines ranks <<<"$shape"
        said=$(in_slurm "$protocol" "$machines" "$ranks" "$ring") || fail "$protocol: ring: $shape: $said"
        grep -q "^$ranks ranks on $machines machines: .* $((1000 * (ranks - 1))) times" <<<"$said" || fail "$protocol: ring: $shape: $said"
        echo "ok   $protocol: ring of $ranks ranks on $machines machines"
    done

    # With -K a rank that dies ends the job on both machines.
    begin=$SECONDS
    said=$(in_slurm "$protocol" 2 4 -K "$ring" killed) && fail "$protocol: a killed rank: no error: $said"
    ends "$protocol: a killed rank" "$begin"

    # An abort does so without it. Slurm kills the other ranks, and its status is then that of a killed rank.
    begin=$SECONDS
    said=$(in_slurm "$protocol" 2 4 "$work/abort_code")
    status=$?
    [ "$status" -eq 37 ] || [ "$status" -eq 137 ] || fail "$protocol: an abort gave the status $status: $said"
    ends "$protocol: an abort, status $status" "$begin"

    said=$(in_slurm "$protocol" 2 2 sh -c "\"$ring\" && exit 5")
    status=$?
    [ "$status" -eq 5 ] || fail "$protocol: ranks that exit with 5 gave $status: $said"
    echo "ok   $protocol: the status of ranks"

    programs "$protocol" 2 '^(error_fatal|init_levels|p2p_order|sessions_errors|threads_order)'
}

programs() { # programs PROTOCOL MACHINES PATTERN; `jobs` tests the status of an abort
    python3 tests/c/run.py --mpicc "$build/bin/mpicc" --mpiexec "srun --mpi=$1 -K -N 1-$2" --build-dir "$work" \
        --models auto --cover one --jobs 1 -k "^(?!abort_code|threads_abort)$3" || fail "$1: programs of tests/c on $2 machines"
}

# mixed FIRST SECOND: HEDDLE_BOOTSTRAP of two ranks
# shellcheck disable=SC2016  # the rank's variable
mixed() { in_slurm pmi2 1 2 -K sh -c '[ $SLURM_PROCID = 0 ] || shift; HEDDLE_BOOTSTRAP=$1 exec "$0"' "$ring" "$1" "$2"; }

# The launcher that has started a rank is the one that was asked for.
chosen() {
    local said
    said=$(HEDDLE_BOOTSTRAP=pmi in_slurm pmi2 2 2 "$ring") || fail "HEDDLE_BOOTSTRAP=pmi: $said"
    said=$(HEDDLE_BOOTSTRAP=pmix in_slurm pmi2 1 2 "$ring") && fail "HEDDLE_BOOTSTRAP=pmix: no error"
    grep -q "HEDDLE_BOOTSTRAP is pmix.*PMIX_NAMESPACE" <<<"$said" || fail "HEDDLE_BOOTSTRAP=pmix: $said"
    # Slurm refuses two versions of PMI in one job, so `auto` of one rank has to be the version of the other one.
    said=$(mixed auto pmi2) || fail "auto: $said"
    said=$(mixed pmi pmi2) && fail "PMI-1 and PMI-2 in one job: no error"
    grep -q "asked to speak PMI-[12], the launcher says" <<<"$said" || fail "PMI-1 and PMI-2 in one job: $said"
    echo "ok   HEDDLE_BOOTSTRAP"
}

# left PROTOCOL: no rank stays behind if slurmstepd of one machine is killed. Slurm takes a while to see that the step is over, so
# other steps may be beside it.
left() {
    local begin=$SECONDS line step
    exec {said}< <(HEDDLE_PEER_TIMEOUT=2 exec srun --overlap --mpi="$1" -N 2 -n 4 "$work/lost" compute 2>&1)
    local srun=$!
    read -r line <&"$said"
    [ "$line" = "all have met" ] || fail "$1: a killed slurmstepd: $line"
    step=$(ps -o ppid= -p "$(pgrep -of "^$work/lost")" | tr -d ' ')
    grep -q slurmstepd "/proc/$step/comm" || fail "$1: the ranks are no children of slurmstepd"
    kill -KILL "$step"
    # A rank that is no child of this shell says nothing to it when it ends.
    while pgrep -f "^$work/" >/dev/null && [ $((SECONDS - begin)) -lt "$hangs_after" ]; do sleep 0.05; done
    ends "$1: a killed slurmstepd" "$begin"
    kill -KILL "$srun"
    exec {said}<&-
}

case ${2-} in
jobs)
    jobs pmi2 && jobs pmix && chosen && left pmi2 && left pmix
    exit
    ;;
programs)
    programs pmi2 "$3" "$on_machines" && programs pmix "$3" "$on_machines"
    exit
    ;;
esac
mkdir -p "$work"
"$build/bin/mpicc" -O1 -o "$ring" "$here/ring.c" || fail "ring.c does not compile"
"$build/bin/mpicc" -O1 -o "$work/lost" "$here/lost.c" || fail "lost.c does not compile"
"$build/bin/mpicc" -O1 -o "$work/abort_code" tests/c/abort_code.c || fail "abort_code.c does not compile"
need_machines
in_job() { # in_job MACHINES ARGUMENT..: this script with these arguments, within the allocation of a job
    python3 "$here/with_slurm.py" --machines "$1" -- salloc --quiet -N "$1" -n 32 "$here/slurm.sh" "$build" "${@:2}"
}
in_job 2 jobs || exit
if [ "${2-}" = all ]; then
    in_job 2 programs 2 && in_job 4 programs 4
fi
