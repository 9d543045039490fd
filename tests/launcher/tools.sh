#!/bin/sh
# Tests the compiler wrappers, the pkg-config files and the installation:  tests/launcher/tools.sh [BUILD]
#
# Works on a library of its own that has the name of the real one, so that it needs nothing built but the scripts. With BUILD it tests
# the wrapper for Fortran, too, which needs a real library. Prints one line a test; exit status 1 if one has failed.
set -u

root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

check() {
    what=$1
    shift
    if "$@" >"$work/output" 2>&1; then
        echo "ok      $what"
    else
        echo "FAILED  $what"
        sed 's/^/        /' "$work/output"
        failures=$((failures + 1))
    fi
}
# The output of a command is a line.
prints() {
    expected=$1
    shift
    got=$("$@") || return 1
    [ "$got" = "$expected" ] || { printf 'expected: %s\ngot:      %s\n' "$expected" "$got"; return 1; }
}
fails() {
    ! "$@"
}

# What cargo would have built, in a folder whose name needs quoting.
release="$work/re lease"
mkdir "$release"
cat >"$work/library.c" <<'EOF'
int MPI_Answer(void) { return 42; }
EOF
cc -shared -fPIC -Wl,-soname,libmpi_abi.so.1 -o "$release/libmpi_abi.so" "$work/library.c" || exit 1
cc -shared -fPIC -Wl,-soname,libmpi_mpifh.so.40 -o "$release/libheddle_fortran_openmpi.so" "$work/library.c" || exit 1
printf '#!/bin/sh\necho "mpiexec $*"\n' >"$release/mpiexec"
cat >"$release/generate" <<'EOF'
#!/bin/sh
if [ "$1" = mpich ] || [ "$1" = openmpi ]; then
    printf '    .data\n    .globl MPI_UNWEIGHTED\nMPI_UNWEIGHTED: .quad 10\n' >"$2"
    exit
fi
[ "$1" = header ] || exit 1
cat >"$2" <<'END'
#ifdef __cplusplus
extern "C" {
#endif
int MPI_Answer(void);
#ifdef __cplusplus
}
#endif
END
EOF
chmod +x "$release/mpiexec" "$release/generate"
cat >"$work/program.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(void) { printf("%d\n", MPI_Answer()); return 0; }
EOF
cp "$work/program.c" "$work/program.cpp"

build="$work/the build"
prefix="$work/pre fix"
check "stage" "$root/tools/stage.sh" "$release" "$build"
stamp=$(stat -c %Y.%i "$build/lib/libmpi_abi.so.1" "$build/lib/pkgconfig/heddle.pc")
check "stage again" "$root/tools/stage.sh" "$release" "$build"
check "what has not changed is not touched" \
    [ "$stamp" = "$(stat -c %Y.%i "$build/lib/libmpi_abi.so.1" "$build/lib/pkgconfig/heddle.pc")" ]
check "stage misses what is not built" fails "$root/tools/stage.sh" "$work" "$work/nothing"
check "install" "$root/tools/install.sh" "$build" "$prefix"
check "install again" "$root/tools/install.sh" "$build" "$prefix"
check "the library is a file" [ ! -L "$prefix/lib/libmpi_abi.so.1" ]
check "its link is relative" prints libmpi_abi.so.1 readlink "$prefix/lib/libmpi_abi.so"
check "nothing but the installation is there" prints "bin include lib share" sh -c 'cd "$1" && echo *' - "$prefix"

# The installation is moved before it is used.
mv "$prefix" "$work/moved"
prefix="$work/moved"
for build_or_prefix in "$build" "$prefix"; do
    bin="$build_or_prefix/bin"
    check "mpicc compiles and links" "$bin/mpicc" -o "$work/a" "$work/program.c"
    check "and the program finds the library" prints 42 "$work/a"
    for name in libmpi.so.12 libmpich.so.12 libmpicxx.so.12 libmpi.so.40; do
        check "$name finds the library" sh -c 'ldd "$1/lib/compat/$2" | grep -F "$1/lib/compat/../libmpi_abi.so.1"' - "$build_or_prefix" $name
    done
    for name in libmpi_usempif08.so.40 libmpi_usempi_ignore_tkr.so.40; do
        check "$name finds Fortran's library" sh -c 'ldd "$1/lib/compat/$2" | grep -F "$1/lib/compat/libmpi_mpifh.so.40"' - "$build_or_prefix" $name
    done
    check "mpicxx compiles and links" "$bin/mpicxx" -o "$work/b" "$work/program.cpp"
    check "and its program finds the library" prints 42 "$work/b"
    check "mpicc compiles only" "$bin/mpicc" -c -o "$work/c.o" "$work/program.c"
    check "mpicc links only" "$bin/mpicc" "$work/c.o" -o "$work/c"
    check "and that program runs" prints 42 "$work/c"
done
check "options with blanks and quotes arrive" sh -c \
    '"$1/bin/mpicc" "-DTEXT=\"it'"'"'s a text\"" -c -o "$2/d.o" "$2/program.c"' - "$prefix" "$work"
check "mpicc through a link" sh -c 'ln -s "$1/bin/mpicc" "$2/mpicc" && "$2/mpicc" -c -o "$2/e.o" "$2/program.c"' \
    - "$prefix" "$work"
check "-show can be run" sh -c 'eval "$("$1/bin/mpicc" -show -o "$2/f" "$2/program.c")" && [ "$("$2/f")" = 42 ]' \
    - "$prefix" "$work"
check "-show without files names the library" sh -c '"$1/bin/mpicc" -show | grep -q -e "-lmpi_abi"' - "$prefix"
check "-compile-info" prints "-I$prefix/include" "$prefix/bin/mpicc" -compile-info
check "-link-info" sh -c '"$1/bin/mpicc" -link-info | grep -q -e "-rpath,$1/lib.* -lmpi_abi"' - "$prefix"
check "the compiler's own questions" "$prefix/bin/mpicc" --version
check "HEDDLE_CC" prints "gcc -O3 -I$prefix/include -c x.c" \
    env HEDDLE_CC="gcc -O3" "$prefix/bin/mpicc" -show -c x.c
check "HEDDLE_CXX" prints "no-such-compiler -I$prefix/include -c x.cc" \
    env HEDDLE_CXX=no-such-compiler "$prefix/bin/mpicxx" -show -c x.cc
check "the compiler's failure is ours" fails "$prefix/bin/mpicc" -c "$work/no-such-file.c"
check "mpiexec is there" prints "mpiexec -n 2" "$prefix/bin/mpiexec" -n 2
check "so is mpirun" prints "mpiexec -n 2" "$prefix/bin/mpirun" -n 2

if command -v pkg-config >/dev/null 2>&1; then
    PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
    export PKG_CONFIG_PATH
    check "pkg-config" sh -c 'cc -o "$1/g" "$1/program.c" $(pkg-config --cflags --libs heddle) && [ "$("$1/g")" = 42 ]' \
        - "$work"
    for name in mpi mpi-c mpi-cxx; do
        check "pkg-config by the name $name" prints "$(pkg-config --cflags --libs heddle)" pkg-config --cflags --libs "$name"
    done
    check "pkg-config has the version" prints \
        "$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)" pkg-config --modversion heddle
else
    echo "skipped pkg-config: not on this machine"
fi

# The wrapper for Fortran, with one compiler after the other.
fortran_shown() {
    eval "$("$prefix/bin/mpifort" -show -o "$work/h" "$work/f08.f90")" && "$work/h"
}
fortran_info() {
    eval "$HEDDLE_FC $("$prefix/bin/mpifort" -compile-info) -c -o '$work/i.o' '$work/f08.f90'" \
        && eval "$HEDDLE_FC -o '$work/i' '$work/i.o' $("$prefix/bin/mpifort" -link-info)" && "$work/i"
}
fortran_pkg_config() {
    eval "$HEDDLE_FC -o '$work/j' '$work/mpif.f90' $(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" \
        pkg-config --cflags --libs heddle_fortran)" && "$work/j"
}
fortran_options() {
    HEDDLE_FC="$1 -O3" "$prefix/bin/mpifort" -show | grep "^$1 -O3 .*-lheddle_fortran -lmpi_abi\$"
}
# fortran_program WORDS: one that gets at MPI by these words
fortran_program() {
    cat <<EOF
program answer
  $1
  integer :: total, ierror
  call MPI_Init(ierror)
  call MPI_Allreduce(42, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (total /= 42) error stop 1
  call MPI_Finalize(ierror)
end program
EOF
}
if [ $# -gt 0 ] && command -v gfortran >/dev/null 2>&1; then
    fortran_program "use mpi_f08" >"$work/f08.f90"
    fortran_program "include 'mpif.h'" >"$work/mpif.f90"
    check "install for Fortran" "$root/tools/install.sh" "$1" "$work/for tran"
    prefix="$work/moved for tran"
    mv "$work/for tran" "$prefix"
    for compiler in gfortran flang-22; do
        command -v "$compiler" >/dev/null 2>&1 || continue
        HEDDLE_FC=$compiler
        export HEDDLE_FC
        check "$compiler: -show can be run" fortran_shown
        check "$compiler: -compile-info and -link-info make a program" fortran_info
        for name in mpif77 mpif90; do
            check "$compiler: $name is mpifort" prints "$("$prefix/bin/mpifort" -show)" "$prefix/bin/$name" -show
        done
        check "$compiler: the compiler's own questions" prints "$("$compiler" --version)" "$prefix/bin/mpifort" --version
        check "$compiler: options in HEDDLE_FC" fortran_options "$compiler"
        ! command -v pkg-config >/dev/null 2>&1 || check "$compiler: pkg-config and mpif.h" fortran_pkg_config
    done
else
    echo "skipped Fortran: no build was given, or gfortran is not on this machine"
fi

# sanitized WORDS: the output of a program under ThreadSanitizer, with the suppressions that are installed
sanitized() {
    TSAN_OPTIONS="exitcode=66 suppressions='$prefix/share/heddle/thread-sanitizer.supp'" "$prefix/bin/mpiexec" -n 2 "$work/checked" "$@"
}
reports_race() {
    ! sanitized race >"$work/race" 2>&1 && grep -q "WARNING: ThreadSanitizer: data race" "$work/race"
}
if [ $# -gt 0 ] && cc -fsanitize=thread "$work/library.c" -shared -fPIC -o "$work/probe.so" 2>/dev/null; then
    prefix="$work/checked by tsan"
    check "install for ThreadSanitizer" "$root/tools/install.sh" "$1" "$prefix"
    check "a program for ThreadSanitizer" "$prefix/bin/mpicc" -g -pthread -fsanitize=thread \
        "$root/tests/sanitize/checked.c" -o "$work/checked"
    check "ThreadSanitizer has nothing to say of a right program" sanitized right
    check "and reports the race of a wrong one" reports_race
else
    echo "skipped ThreadSanitizer: no build was given, or the compiler does not have it"
fi

[ "$failures" -eq 0 ] || { echo "$failures tests have failed" >&2; exit 1; }
