#!/bin/sh
# Tests the example: right trees on several graphs, ranks, threads; wrong trees and wrong input
# refused.
#
#     ./test.sh MPIEXEC [PROGRAM]      MPIEXEC may carry options: "mpiexec -bind-to none"
set -u
cd "$(dirname "$0")" || exit 1
mpiexec=${1:-mpiexec}
program=${2:-build/graph500}
limit_s=${TEST_LIMIT_S:-300} # a run that takes longer hangs
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
runs=0
failures=0

if [ ! -x "$program" ]; then
    echo "test.sh: $program is not there; build it with \"make\" first" >&2
    exit 1
fi

# run RANKS OPTIONS...: output in $work/out and $work/err, exit status in $status
run() {
    ranks=$1
    shift
    runs=$((runs + 1))
    # $mpiexec unquoted: it may carry options.
    timeout "$limit_s" $mpiexec -n "$ranks" "$program" --no-progress "$@" \
        >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

fail() {
    failures=$((failures + 1))
    echo "FAILED: $*"
    sed 's/^/    | /' "$work/out" "$work/err"
}

# good EXPECTED RANKS OPTIONS...: exit status 0 and EXPECTED (a pattern) in the output
good() {
    expected=$1
    shift
    run "$@"
    if [ "$status" -ne 0 ] || ! grep -q -e "$expected" "$work/out"; then
        fail "ranks $*: status $status, expected \"$expected\""
    fi
}

# bad STATUS EXPECTED RANKS OPTIONS...: that exit status, and EXPECTED once on stderr
bad() {
    wanted=$1
    expected=$2
    shift 2
    run "$@"
    if [ "$status" -ne "$wanted" ] || [ "$(grep -c -e "$expected" "$work/err")" -ne 1 ]; then
        fail "ranks $*: status $status (expected $wanted), expected once \"$expected\""
    fi
}

# file TEXT: an input file with that text
file() {
    printf "$1" >"$work/graph"
}

echo "small graph: ranks x threads"
for ranks in 1 2 3 4; do
    for threads in 1 2 3; do
        good 'validated *34/34' "$ranks" --input data/karate.txt --threads "$threads"
    done
done
good 'validated *34/34' 3 --input data/karate.txt --threads 2 --comms shared
good 'validated *34/34' 2 --input data/karate.txt --threads 2 --buffer 64

echo "the model in use, by its name, on Heddle"
run 1 --scale 1 --roots 1
if grep -q 'MPI  *Heddle' "$work/out"; then
    grep -q "model  *${HEDDLE_MODEL:-auto}" "$work/out" || fail "no name of a model"
fi

echo "town, generated graphs, both kinds of communicators, small and large messages"
good 'validated *16/16' 2 --input data/town.mtx --roots 16
good 'validated *16/16' 2 --scale 10 --roots 16
good 'validated *16/16' 3 --scale 10 --roots 16 --threads 3 --comms shared --buffer 128
good 'validated *4/4' 2 --scale 13 --roots 4 --buffer 1000000
good 'validated *2/2' 4 --scale 1 --edgefactor 8 --threads 1

echo "the same graph on any number of processes"
facts() {
    sed -n -e 's/.*"root": \([0-9]*\), .*"levels": \(.*\)}.*/\1 \2/p' "$1"
}
for setting in "1 1" "2 3" "3 2"; do
    set -- $setting
    run "$1" --threads "$2" --scale 9 --roots 8 --seed 7 --json "$work/json"
    facts "$work/json" >"$work/facts.$1"
done
if [ ! -s "$work/facts.1" ] || ! cmp -s "$work/facts.1" "$work/facts.2" ||
    ! cmp -s "$work/facts.1" "$work/facts.3"; then
    fail "roots, levels or sizes of the searches differ between 1, 2 and 3 processes"
fi

echo "wrong trees are refused"
for kind in parent level cycle lost extra root; do
    for ranks in 1 3; do
        run "$ranks" --input data/town.mtx --roots 3 --corrupt "$kind"
        if [ "$status" -ne 1 ] || ! grep -q 'validated *0/3' "$work/out" ||
            ! grep -q 'tree from root [0-9]* is wrong' "$work/err"; then
            fail "ranks $ranks: a tree with a wrong $kind: status $status"
        fi
    done
done

echo "file formats"
file '# comment\n%% comment\n\n0 1\n1\t2\r\n 2 0 0.5\n'
good '3 vertices, 3 edges' 2 --input "$work/graph"
file '1 2\n2 3'
good '3 vertices, 2 edges' 2 --input "$work/graph"
file '7 7\n1000000000 7\n7 5000000000\n'
good '3 vertices, 3 edges' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate real general\n%% c\n3 3 2\n1 2 0.5\n3 1 -1e3\n'
good '3 vertices, 2 edges' 2 --input "$work/graph"
file '%%%%MatrixMarket MATRIX Coordinate Integer Symmetric\n5 5 3\n2 1 4\n3 3 1\n3 2 5\n'
good '5 vertices, 3 edges' 2 --input "$work/graph"

echo "wrong input is refused, by rank 0 only"
bad 2 'cannot open' 2 --input "$work/nothing"
bad 2 'cannot read' 2 --input "$work"
file '0 1\n2 x\n'
bad 2 'line 2: .*not a number' 3 --input "$work/graph"
file '0 1\n2\n'
bad 2 'line 2: .*missing' 2 --input "$work/graph"
file '0 1\n1 2\n-3 2\n'
bad 2 'line 3: .*negative' 2 --input "$work/graph"
file '0 1\n1 2.5\n'
bad 2 'line 2: .*whole number' 2 --input "$work/graph"
file '0 1 2 3\n'
bad 2 'line 1: .*nothing is expected' 2 --input "$work/graph"
file '0 281474976710656\n'
bad 2 'line 1: .*out of range' 2 --input "$work/graph"
file '0 99999999999999999999\n'
bad 2 'line 1: .*64 bits' 2 --input "$work/graph"
file 'a\0b\n'
bad 2 'line 1: .*NUL' 2 --input "$work/graph"
file ''
bad 2 'no edge' 2 --input "$work/graph"
file '# nothing\n'
bad 2 'no edge' 2 --input "$work/graph"
file '3 3\n'
bad 2 'no edge' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix array real general\n2 2\n'
bad 2 'line 1: .*coordinate' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate quaternion general\n'
bad 2 'line 1: .*quaternion' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate pattern odd\n'
bad 2 'line 1: .*odd' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate pattern general\n'
bad 2 'ends before' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 2\n'
bad 2 'line 2: .*square' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n1 4\n'
bad 2 'line 4: .*out of range' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n0 2\n1 2\n'
bad 2 'line 3: .*out of range' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n'
bad 2 'after 1 of 2' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n1 3\n'
bad 2 'line 4: more entries' 2 --input "$work/graph"
file '%%%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2\n'
bad 2 'line 3: .*value' 2 --input "$work/graph"

echo "wrong options are refused, by rank 0 only"
bad 2 '--threads' 2 --threads 257
bad 2 '--threads' 2 --threads 0
bad 2 '--threads' 2 --threads -1
bad 2 '--scale' 2 --scale 12x
bad 2 '--scale' 2 --scale
bad 2 '--buffer' 2 --buffer 8
bad 2 '--comms' 2 --comms none
bad 2 'unknown option' 2 --what
bad 2 'not from both' 2 --scale 8 --input data/karate.txt
bad 2 'cannot write' 2 --scale 8 --json "$work/nothing/file"
good 'usage:' 2 --help

echo "$runs runs, $failures failed"
[ "$failures" -eq 0 ]
