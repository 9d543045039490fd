#!/bin/sh
# Runs the program with right and wrong options:  examples/hash_table/test.sh MPIEXEC PROGRAM
# The program checks its table. The last line is "N passed, M failed".
set -u

mpiexec=$1
program=$2
output=$(mktemp)
trap 'rm -f "$output"' EXIT
passed=0 failed=0

# expect NAME STATUS PATTERN RANKS OPTION..: the program's status, and a line that it prints
expect() {
    name=$1 wanted=$2 pattern=$3 ranks=$4
    shift 4
    timeout 120 "$mpiexec" -n "$ranks" "$program" "$@" >"$output" 2>&1
    status=$?
    if [ "$status" -eq "$wanted" ] && grep -q "$pattern" "$output"; then
        passed=$((passed + 1))
        echo "ok      $name"
    else
        failed=$((failed + 1))
        echo "FAIL    $name (status $status)"
        sed 's/^/        /' "$output"
    fi
}

for ranks in 1 2 4 8; do
    expect "three ways, $ranks ranks" 0 '^rma-rw .* keys$' "$ranks" --operations 100 --inserts 30
    expect "many collisions, $ranks ranks" 0 '^rma-rw .* keys$' "$ranks" --operations 60 --inserts 90 --slots 3
    expect "a full heap, $ranks ranks" 0 '^rma-rw .* refused: the heap of 5 places is full' "$ranks" \
        --operations 60 --inserts 90 --slots 2 --heap 5
done
for kind in rma-mcs d-mcs spin queue-rw adaptive; do
    expect "$kind" 0 "^$kind .* keys\$" 3 --sync "$kind" --operations 60 --inserts 50 --slots 16
done
expect "no inserts" 0 '^atomics .* 0 keys$' 3 --operations 50 --inserts 0
expect "no heap" 0 '^atomics .* refused: the heap of 0 places is full' 3 --operations 50 --inserts 90 --slots 1 --heap 0
expect "an unknown lock" 1 'there is no lock "mutex"' 2 --sync mutex
expect "an unknown option" 2 '^usage: ' 2 --colour red
expect "too many per cent" 2 '^usage: ' 2 --inserts 101
expect "no number" 2 '^usage: ' 2 --slots

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
