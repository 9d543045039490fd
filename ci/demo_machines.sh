#!/bin/sh
# The main job on two machines, which network namespaces of this one play (as root or with sudo).
#   ci/demo_machines.sh BUILD
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
search=$PATH
if ! command -v prterun >/dev/null && ! command -v mpiexec.hydra >/dev/null; then
    search=$PATH:$(ci/peer.sh mpich)/bin
fi
sudo=""
[ "$(id -u)" -eq 0 ] || sudo=sudo

# machines COMMAND..: runs it on the first machine. The launcher learns only from --hosts which machines there are.
machines() {
    $sudo python3 tests/machines/with_machines.py --machines 2 -- \
        env -u HYDRA_HOST_FILE -u PRTE_MCA_prte_default_hostfile PATH="$search" \
        PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"
}
if ! machines true; then
    echo "The system lets nobody make network namespaces here, as in most containers: two machines cannot be played." >&2
    exit 1
fi

echo "== A generated graph: 2 machines x 1 process x 2 threads, scale 18 (262,144 vertices, 4.2 million edges) =="
machines "$build/bin/mpiexec" --hosts 10.77.0.1,10.77.0.2 -n 2 "$build/examples/graph500" --threads 2 --scale 18
