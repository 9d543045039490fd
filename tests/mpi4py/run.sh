#!/bin/sh
# Builds mpi4py from its sdist against an MPI library and runs the modules of its test suite named in modules.txt.
#
#   run.sh BUILD_DIR OUT [options of run_modules.py]
#
# BUILD_DIR has bin/mpicc and bin/mpiexec (what `make install PREFIX=BUILD_DIR` makes); MPICC and MPIEXEC in the environment
# replace them. With WHEEL=mpich nothing is built: the wheel of PyPI runs by its module for MPICH's ABI. OUT is a folder to work in: it is made if need be and what is already built there for the same compiler and
# library is used again. Needs python3 with venv, and PyPI.
set -eu

version=4.1.2
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 2 ]; then
    echo "usage: $0 BUILD_DIR OUT [options of run_modules.py]" >&2
    exit 2
fi
build=$(cd "$1" && pwd)
mkdir -p "$2"
out=$(cd "$2" && pwd)
shift 2
mpicc=${MPICC:-$build/bin/mpicc}
mpiexec=${MPIEXEC:-$build/bin/mpiexec}
for tool in "$mpicc" "$mpiexec"; do
    if ! [ -x "$tool" ]; then
        echo "$0: $tool is not there or not executable; install the library to $build, or set MPICC and MPIEXEC" >&2
        exit 2
    fi
done

python=$out/venv/bin/python
if ! [ -x "$python" ]; then
    echo "making a virtual environment in $out/venv"
    python3 -m venv "$out/venv"
fi
if ! [ -e "$out/tools-ready" ]; then
    "$python" -m pip install --quiet --upgrade --disable-pip-version-check "setuptools>=77" wheel "cython>=3.0.1"
    touch "$out/tools-ready"
fi

source=$out/mpi4py-$version
if ! [ -d "$source" ]; then
    echo "downloading mpi4py $version (sdist)"
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
        --no-binary :all: --dest "$out" "mpi4py==$version"
    tar -xzf "$out/mpi4py-$version.tar.gz" -C "$out"
fi

# The suite skips what mpi4py was built without: a NotImplementedError. A library that exports every name of the ABI says the
# same by MPI_ERR_UNSUPPORTED_OPERATION, so the suite is told to take that error, and no other, in the same way.
if ! grep -q '^def unavailable' "$source/test/mpiunittest.py"; then
    sed -i 's/except NotImplementedError:/except unittest.unavailable():/' "$source"/test/test_*.py
    cat >>"$source/test/mpiunittest.py" <<'END'


def unavailable():
    """The exceptions that mean the function is not there, for an `except` clause."""
    import sys

    from mpi4py import MPI

    error = sys.exc_info()[1]
    if isinstance(error, MPI.Exception) and error.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION:
        return (NotImplementedError, MPI.Exception)
    return NotImplementedError
END
fi

# The module is linked to the library by name, so it is built again only for another compiler or another header.
header=$(printf '#include <mpi.h>\n' | "$mpicc" -E - | cksum)
stamp="${WHEEL:+wheel }$mpicc $header"
if ! [ -e "$out/built-with" ] || [ "$(cat "$out/built-with")" != "$stamp" ]; then
    rm -f "$out/built-with"
    [ -n "${WHEEL:-}" ] || echo "building mpi4py with $mpicc (its log: $out/build.log)"
    # README's command, with options that save time. A wheel in pip's cache may be linked to another library.
    if [ -n "${WHEEL:-}" ]; then
        "$python" -m pip install --quiet --only-binary :all: --disable-pip-version-check --no-deps --force-reinstall "mpi4py==$version"
    elif ! env MPICC="$mpicc" CFLAGS="${CFLAGS:--O0 -g0}" "$python" -m pip install --no-binary mpi4py \
        --disable-pip-version-check --no-build-isolation --no-deps --no-cache-dir --force-reinstall \
        --verbose "mpi4py==$version" >"$out/build.log" 2>&1; then
        tail -40 "$out/build.log" >&2
        echo "$0: mpi4py does not build; the whole log is $out/build.log" >&2
        exit 1
    fi
    printf '%s' "$stamp" >"$out/built-with"
fi

[ -z "${WHEEL:-}" ] || export MPI4PY_MPIABI="$WHEEL"
"$mpiexec" -n 1 "$python" -c 'from mpi4py import MPI; print(MPI.Get_library_version().splitlines()[0])'
exec "$python" "$here/run_modules.py" --mpiexec "$mpiexec" --python "$python" --tests "$source/test" \
    --out "$out/results" "$@"
