#!/bin/sh
# Tests the collective operations with random data:  tests/collective/run.sh [MPIEXEC [MPICC [SEEDS]]]
#
# SEEDS: seeds of the random operations, in one word ("1 2 3"). CHOICES: settings in the form NAME=value, in one word, under
# which every other random run is made. Every run is bounded by time; the last line sums up the results.
set -u

here=$(dirname "$(readlink -f "$0")")
mpiexec=${1:-mpiexec}
mpicc=${2:-mpicc}
seeds=${3:-1 2}
operations=${OPERATIONS:-500}
build=$(mktemp -d) || exit 1
trap 'rm -rf "$build"' EXIT
passed=0
failed=0
chosen=

for program in fuzz errors; do
    "$mpicc" -std=gnu11 -Wall -Wextra -O1 -g -o "$build/$program" "$here/$program.c" || exit 1
done

# try RANKS PROGRAM ARGUMENTS...
try() {
    ranks=$1
    program=$2
    shift 2
    # Not quoted: MPIEXEC may come with options, and there may be several choices.
    if env $chosen timeout 300 $mpiexec -n "$ranks" "$build/$program" "$@"; then
        passed=$((passed + 1))
    else
        echo "failed with status $?: $chosen $program $* on $ranks ranks" >&2
        failed=$((failed + 1))
    fi
}

for ranks in 1 2 3 4 5 6 7 8; do
    try "$ranks" errors
    for seed in $seeds; do
        [ $(((ranks + seed) % 2)) -eq 0 ] || chosen=${CHOICES:-}
        try "$ranks" fuzz "$seed" "$operations"
        chosen=
    done
done
chosen=${CHOICES:-}
# Messages of many megabytes, and many ranks with little data.
try 3 fuzz 7 40 1500000
try 4 fuzz 31 40 60000
try 13 fuzz 7 100 2400
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
