#!/usr/bin/env bash
# Compiles the Fortran programs of this folder with mpifort, as mpif.h, `use mpi` and `use mpi_f08`, with gfortran and with every flang that is
# there, and runs them with 1 to 4 ranks (flang 16: 2 and 3):
#   tests/fortran/run.sh BUILD_DIR
# Then with 2 ranks on other libraries of the same ABI, those that are there: MPICH in HEDDLE_PEER_MPICH or .peers/mpich, Intel MPI in
# HEDDLE_PEER_IMPI or .peers/impi. Prints one line a program; the last is "N passed, M failed".
set -u

here=$(dirname "$(readlink -f "$0")")
build=$(readlink -f "$1")
peers=$(dirname "$(dirname "$here")")/.peers
mpich=${HEDDLE_PEER_MPICH:-$peers/mpich} impi=${HEDDLE_PEER_IMPI:-$peers/impi}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
cd "$work" || exit

# outcome NAME STATUS
outcome() {
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAIL    $1 (status $2)"
        sed 's/^/        /' "$work/output"
    fi
}
# Programs that end with a wrong result of their own print no `ok`.
is_ok() { [ "$1" -eq 0 ] && grep -qx ok "$work/output"; }

# The other libraries: a name, the folder and the variables of each. Intel's takes half a second to start, so one compiler and
# form are enough. It fails in some programs by itself: MPI_Neighbor_alltoall between two processes that are both neighbors of
# each other, the second start of MPI_Gather_init, MPI_Get_count of a part of an element, and error handlers (check.h).
on_peers() { # on_peers NAME PROGRAM
    on_peer "$1, on MPICH" "$mpich" "$2"
    case $HEDDLE_FC,$2 in
    gfortran,f08/environment | gfortran,f08/neighbors | gfortran,f08/persistent | gfortran,f08/requests | gfortran,f08/sessions) ;;
    gfortran,f08/*) on_peer "$1, on Intel MPI" "$impi" "$2" I_MPI_ROOT="$impi" I_MPI_FABRICS=shm I_MPI_PIN=0 ;;
    esac
}
on_peer() { # on_peer NAME FOLDER PROGRAM VARIABLE=VALUE..
    [ ! -x "$2/bin/mpiexec" ] || run "$1" env "${@:4}" "$2/bin/mpiexec" -n 2 env LD_LIBRARY_PATH="$2/lib" "$3"
}

run() { # run NAME COMMAND..
    local name=$1
    shift
    timeout 120 "$@" >"$work/output" 2>&1
    is_ok $?
    outcome "$name" $?
}

programs() { # programs COMPILER NAME
    local source program form options ranks objects numbers_of_ranks
    export HEDDLE_FC=$1
    case $2 in flang-new-16) numbers_of_ranks="2 3" ;; *) numbers_of_ranks="1 2 3 4" ;; esac
    for source in "$here"/*.F90 "$here"/*.F "$here"/mixed/program.F90; do
        program=$(basename "${source%.*}") objects=()
        # This one has a side in C.
        case $source in */mixed/*) program=mixed objects=("$work/side.o") ;; esac
        for form in mpif mpi f08 large; do
            case $form in
            mpif) options=(-DMPIF) ;;
            mpi)
                options=()
                # flang 16 has no interfaces in this module, which MPI_Sizeof needs.
                case $2 in flang-new-16) options=(-DPLAIN) ;; esac
                ;;
            f08)
                options=(-DF08)
                # flang 16 cannot pass arrays of any rank, and mpifort says so (see below).
                case $2 in flang-new-16) continue ;; esac
                ;;
            large)
                # Programs whose counts may have either size, with the large ones of mpi_f08.
                grep -q '^  COUNT' "$source" || continue
                options=(-DF08 -DLARGE)
                # The subroutines get counts in the same way from all compilers, and flang compiles slowly.
                case $2 in flang*) continue ;; esac
                ;;
            esac
            # Other compilers' OpenMP libraries are often not there; then the program's threads are one.
            case $2,$program in gfortran,threads) options+=(-fopenmp) ;; esac
            # Compiling takes most of the time, so the forms of a program do so together, each in a folder for its module files.
            mkdir -p "$form" && (cd "$form" && rm -f "$program" &&
                "$build/bin/mpifort" -cpp -I"$here" "${options[@]}" -o "$program" "$source" "${objects[@]}" >"$program.said" 2>&1) &
        done
        wait
        for form in mpif mpi f08 large; do
            [ -e "$form/$program.said" ] || continue
            mv "$form/$program.said" output
            if ! [ -x "$form/$program" ]; then
                outcome "$program, $form, $2: does not compile" 1
                continue
            fi
            for ranks in $numbers_of_ranks; do
                run "$program, $form, $2, $ranks ranks" "$build/bin/mpiexec" -n "$ranks" "$form/$program"
            done
            on_peers "$program, $form, $2" "$form/$program"
        done
    done
}

# Every constant has the value of C, but for the greatest lengths of texts, which have no null in Fortran.
constants() { # constants MODULE
    local names handles name less value
    names=$(sed -n 's/^ *parameter (\(MPI_[A-Z_0-9a-z]*\)=.*/\1/p' "$build/include/mpif.h" | grep -v '_KIND$\|^MPI_\(STATUS_SIZE\|SOURCE\|TAG\|ERROR\|SUBARRAYS.*\|ASYNC.*\)$')
    handles=
    [ "$1" = mpi ] || handles=$(sed -n 's/^ *type(MPI_[A-Za-z]*), parameter :: \(MPI_[A-Z0-9_]*\) = .*/\1/p' "$build/lib/heddle-fortran/$1.f90")
    {
        printf 'program constants\n  use %s\n' "$1"
        for name in $names; do
            value=$name
            ! grep -qx "$name" <<<"$handles" || value=$name%MPI_VAL
            printf "  print '(a,i0)', '%s ', %s\n" "$name" "$value"
        done
        printf 'end program\n'
    } >constants.f90
    {
        printf '#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\nint main(void) {\n'
        for name in $names; do
            case $name in MPI_MAX_*_*) less=1 ;; *) less=0 ;; esac
            printf 'printf("%%s %%ld\\n", "%s", (long)(intptr_t)%s - %s);\n' "$name" "$name" "$less"
        done
        printf 'return 0; }\n'
    } >constants_in_c.c
    "$build/bin/mpifort" -o constants constants.f90 && "$build/bin/mpicc" -o constants_in_c constants_in_c.c \
        && ./constants >fortran && ./constants_in_c >c && [ "$(wc -l <c)" -gt 250 ] && diff fortran c
}
for module in mpi mpi_f08; do
    constants "$module" >"$work/output" 2>&1
    outcome "constants of $module" $?
done

# compiles STATEMENT: with mpi_f08
compiles() {
    printf 'program p\n  use mpi_f08\n  implicit none\n  real :: x(3)\n  integer :: n\n  type(MPI_Request) :: request\n  %s\nend program\n' \
        "$1" >statement.f90
    "$build/bin/mpifort" -c statement.f90 >"$work/output" 2>&1
}
right() {
    compiles "$1"
    outcome "compiles: $1" $?
}
wrong() {
    ! compiles "$1"
    outcome "is refused: $1" $?
}
arguments() {
    right "call MPI_Isend(x, 3, MPI_REAL, 0, 0, MPI_COMM_WORLD, request, n)"
    wrong "call MPI_Isend(x, 3, MPI_REAL, 0, 0, MPI_COMM_WORLD, n)"
    wrong "call MPI_Isend(x, 3, MPI_COMM_WORLD, 0, 0, MPI_COMM_WORLD, request)"
    wrong "call MPI_Isend(x, 3.0, MPI_REAL, 0, 0, MPI_COMM_WORLD, request)"
    wrong "call MPI_Isend(x, 3, MPI_REAL, 0, 0, request)"
    right "call MPI_Wait(request, MPI_STATUS_IGNORE)"
    wrong "call MPI_Wait(request, n)"
    right "call MPI_Comm_rank(MPI_COMM_WORLD, rank=n)"
    wrong "call MPI_Comm_rank(MPI_COMM_WORLD, 3)"
    right "call MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)"
    wrong "call MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_REAL, MPI_REAL, MPI_COMM_WORLD)"
    right "n = merge(1, 0, MPI_COMM_WORLD == MPI_COMM_SELF)"
    wrong "n = merge(1, 0, MPI_COMM_WORLD == MPI_REAL)"
}
# mpifort says what it cannot do.
messages_of_mpifort() {
    ! "$build/bin/mpifort" -fdefault-integer-8 -c "$here/fixed.F" >"$work/output" 2>&1 && grep -q "INTEGERs of 4 bytes" "$work/output" \
        && ! HEDDLE_FC=no-compiler "$build/bin/mpifort" -c "$here/fixed.F" >"$work/output" 2>&1 \
        && grep -q "no Fortran compiler no-compiler.*HEDDLE_FC" "$work/output"
}
messages_of_mpifort
outcome "what mpifort refuses" $?

"$build/bin/mpicc" -Wall -c -o "$work/side.o" "$here/mixed/side.c" || exit
programs gfortran gfortran
arguments
for flang in /usr/bin/flang-[0-9]* /usr/bin/flang-new-1[67]; do
    case $flang in
    */flang-new-*) ! [ -x "$flang" ] || programs "$flang -flang-experimental-exec" "$(basename "$flang")" ;;
    *) ! [ -x "$flang" ] || programs "$flang" "$(basename "$flang")" ;;
    esac
done

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
