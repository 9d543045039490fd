#!/usr/bin/env bash
# Long stress and many random programs.   ci/soak.sh BUILD
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build}
ci/stress.sh "$build" 1000
python3 tests/random/run.py --mpicc "$build/bin/mpicc" --mpiexec "$build/bin/mpiexec" \
    --models per-vni-mutex,global-mutex --runs 1000
