#!/bin/sh
# Runs the program with right and wrong parameters, and under each of Heddle's models that are named:
#   examples/sweep/test.sh MPIEXEC PROGRAM [MODEL..]
# It checks the balance of its particles; here all runs of a problem must have one checksum. The last line is "N passed, M failed".
set -u

mpiexec=$1
program=$2
shift 2
output=$(mktemp)
trap 'rm -f "$output"' EXIT
passed=0 failed=0 checksum=

# expect NAME STATUS PATTERN RANKS THREADS WORD..: the program's status, and a line that it prints
expect() {
    name=$1 wanted=$2 pattern=$3 ranks=$4 threads=$5
    shift 5
    OMP_NUM_THREADS=$threads timeout 120 "$mpiexec" -n "$ranks" "$program" "$@" >"$output" 2>&1
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
# same NAME RANKS THREADS WORD..: a run that prints the same checksum as those before it
same() {
    name=$1 ranks=$2 threads=$3
    shift 3
    expect "$name" 0 "^checksum $checksum" "$ranks" "$threads" "$@"
    [ -n "$checksum" ] || checksum=$(sed -n 's/^checksum \([0-9A-F]*\),.*/\1/p' "$output")
}

for ranks in 1 2 3 4; do
    for threads in 1 3; do
        for comms in per-thread shared; do
            same "$ranks ranks, $threads threads, $comms" "$ranks" "$threads" nx=8 ny=6 nz=5 nang=4 ng=4 ichunk=2 nsteps=1 "comms=$comms"
        done
    done
done
expect "processes along z" 0 "^processes 4 (1 x 4)" 4 2 nx=8 ny=4 nz=4 npez=4
expect "a report in JSON" 0 '^{"library": "..*", "comms": "shared", "ranks": 2, "threads": 2, .*"mpi_time_share": .*}$' 2 2 nx=8 ny=4 nz=4 \
    comms=shared report=json
expect "an unknown name" 2 'colour: the names are nx' 2 1 colour=3
expect "no number" 2 'nx=many: not a value of nx' 2 1 nx=many
expect "no value" 2 'expected NAME=VALUE' 2 1 nx
expect "chunks that do not fit" 2 'nx has to be a multiple of ichunk' 2 1 nx=9 ichunk=4
expect "too many processes" 2 'more processes along y or z than cells' 4 1 ny=2 nz=2 npey=4
expect "processes that do not divide" 2 'does not divide' 4 1 npey=3
expect "processes that are not there" 2 'is not the number of processes, 2' 2 1 npey=3 npez=3

# Another problem, with many small messages.
checksum=
same "one rank and thread" 1 1 nx=32 ny=6 nz=6 nang=2 ng=9 ichunk=1
for model; do
    export HEDDLE_MODEL="$model"
    for comms in per-thread shared; do
        same "$model, $comms" 2 3 nx=32 ny=6 nz=6 nang=2 ng=9 ichunk=1 "comms=$comms"
    done
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
