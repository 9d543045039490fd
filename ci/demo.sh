#!/bin/sh
# The main job: breadth-first searches of the Graph500 kind with threads that compute and communicate at once.
#   ci/demo.sh BUILD
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
graph500="$build/examples/graph500"

echo "== A generated graph: 2 processes x 2 threads, scale 18 (262,144 vertices, 4.2 million edges) =="
"$build/bin/mpiexec" -n 2 "$graph500" --threads 2 --scale 18
echo
echo "== A graph file: examples/graph500/data/town.mtx =="
"$build/bin/mpiexec" -n 2 "$graph500" --threads 2 --input examples/graph500/data/town.mtx
echo
cat <<'TEXT'
== The same search on two machines ==
With Heddle and the program at the same path on both, libfabric, ssh, and PRRTE or MPICH (docs/machines.md):
  build/bin/mpiexec --hosts first,second -n 2 build/examples/graph500 --threads 2 --scale 18
make demo-machines does that on this machine alone: two network namespaces play the machines.
TEXT
