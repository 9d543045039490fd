#!/usr/bin/env bash
# Fortran programs that were compiled for libmpifort.so.12 or for libmpi_mpifh.so.40, on Heddle (docs/binaries.md):
#   tests/fortran/compiled_elsewhere.sh BUILD_DIR
# Compares the constants, common blocks and names with Intel MPI's, which stands in HEDDLE_PEER_IMPI or .peers/impi. Then gfortran compiles
# programs of this folder with Intel's mpif.h and module mpi, a few, drawn by HEDDLE_TEST_SEED, or all, and each runs with 2 ranks. Intel's
# module mpi_f08 is for other compilers, so elsewhere/f08.F90 has a few subroutines of MPICH's. If HEDDLE_MPICH_FORTRAN is a folder with the
# mpif.h, the modules and libmpifort.so.12 of an MPICH whose modules fit gfortran, the programs are compiled with these, too, in all forms.
# The same with the libraries of Open MPI that the system's packages have, which are unpacked into .peers/openmpi-fortran, and with
# mixed/program.F90, whose other side is in C.
# Prints one line a program; the last is "N passed, M failed".
set -u
export HEDDLE_TEST_SEED=${HEDDLE_TEST_SEED:-all}

here=$(dirname "$(readlink -f "$0")")
top=$(dirname "$(dirname "$here")")
build=$(readlink -f "$1")
compat=$build/lib/compat
impi=$("$top/ci/peer.sh" impi) || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
cd "$work" || exit

outcome() { # outcome NAME STATUS
    if [ "$2" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAIL    $1 (status $2)"
        sed 's/^/        /' "$work/output"
    fi
}

# Those whose names the headers do not have yet: of MPI 4.1 and later, or functions that mpif.h does not declare.
is_newer() { # is_newer PROGRAM FORM WHOSE
    case $3,$1,$2 in
    *,buffers,* | *,environment,* | *,messages,* | *,objects,* | *,sessions,*) ;;
    # Large counts, and sections with gaps.
    openmpi,requests,f08 | openmpi,sections,f08) ;;
    openmpi,*) false ;;
    *,memories,mpi* | *,partitions,mpi | *,requests,mpi) ;;
    # Of MPICH 4.0: its mpi_f08 has a shorter MPI_MAX_INFO_VAL, and gfortran copies components for it.
    mpich,info,f08 | mpich,requests,* | mpich,sections,* | mpich,types,*) ;;
    *) false ;;
    esac
}

run() { # run WHOSE FORM PROGRAM SOURCE OPTION..: compiles and runs it
    local name="$3, $2 of $1"
    shift 3
    gfortran -cpp -w -fallow-argument-mismatch -I"$here" -o program "$@" >output 2>&1 \
        && timeout 120 "$build/bin/mpiexec" -n 2 ./program >output 2>&1 && grep -qx ok output
    outcome "$name" $?
}

# programs WHOSE OPTIONS LIBRARIES FORM..
programs() {
    local whose=$1 options=$2 libraries=$3 source program form define
    shift 3
    # shellcheck disable=SC2086  # lists
    while read -r program form; do
        case $form in mpif) define=-DMPIF ;; mpi) define= ;; f08) define=-DF08 ;; esac
        source=$(echo "$here/$program".F*)
        run "$whose" "$form" "$program" "$source" $define $options $libraries
    done < <(for source in "$here"/*.F90 "$here"/*.F; do
        program=$(basename "${source%.*}")
        for form; do is_newer "$program" "$form" "$whose" || echo "$program $form"; done
    done | "$top/ci/drawn.py" 5 "Fortran programs compiled for $whose")
}

compare() { # compare WHOSE TABLE ARGUMENT..: those of compare_mpif.py
    local name="constants, common blocks and names of $1"
    shift
    "$here/compare_mpif.py" "$@" >output 2>&1
    outcome "$name" $?
}

compare impi "$top/crates/spec/mpich.table" "$impi/include/mpif.h" "$impi/lib/libmpifort.so.12" "$compat" "$work"
run mpich f08 elsewhere/f08 "$here/elsewhere/f08.F90" "$compat/libmpifort.so.12" "$compat/libmpi.so.12"
peers=("$impi/lib/libmpifort.so.12" "$impi/lib/libmpi.so.12" -Wl,--allow-shlib-undefined)
"${CC:-cc}" -Wall -I"$impi/include" -c -o ignored.o "$here/elsewhere/ignored.c" || exit
run impi mpif elsewhere/ignored "$here/elsewhere/ignored.F90" ignored.o -I"$impi/include" "${peers[@]}"
modules=$(printf '%s\n' "$impi/include/mpi/gfortran/$(gfortran -dumpversion | cut -d. -f1)."*)
if [ -d "$modules" ]; then forms="mpif mpi"; else forms=mpif; fi
# shellcheck disable=SC2086  # a list
programs impi "-I$modules -I$impi/include" "${peers[*]}" $forms
if [ -n "${HEDDLE_MPICH_FORTRAN:-}" ]; then
    programs mpich "-I$HEDDLE_MPICH_FORTRAN" "$compat/libmpifort.so.12 $compat/libmpi.so.12" mpif mpi f08
fi
openmpi=$("$top/ci/peer.sh" openmpi-fortran)
case $? in
0)
    compare openmpi "$top/crates/spec/openmpi.table" "$openmpi/include/mpif.h" "$openmpi/lib/libmpi_mpifh.so.40" "$compat" "$work" \
        "$openmpi"/lib/libmpi_usempi{_ignore_tkr,f08}.so.40
    ours=("$compat"/libmpi_usempi{f08,_ignore_tkr}.so.40 "$compat/libmpi_mpifh.so.40" "$compat/libmpi.so.40")
    "${CC:-cc}" -w -I"$openmpi/include" -c -o side.o "$here/mixed/side.c" || exit
    "${CC:-cc}" -w -I"$openmpi/include" -c -o ignored.o "$here/elsewhere/ignored.c" || exit
    run openmpi mpif elsewhere/ignored "$here/elsewhere/ignored.F90" ignored.o -I"$openmpi/include" "${ours[@]}"
    run openmpi f08 mixed/program "$here/mixed/program.F90" -DF08 side.o -I"$openmpi/include" "${ours[@]}"
    programs openmpi "-DGAPLESS -I$openmpi/include" "${ours[*]}" mpif mpi f08
    ;;
77) echo "Open MPI's libraries for Fortran are not compared" ;;
*) exit 1 ;;
esac
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
