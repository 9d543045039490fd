#!/usr/bin/env python3
"""Compares libmpifort.so.12 with the header and the library of another implementation of MPICH's ABI for Fortran.

    compare_mpif.py TABLE HEADER LIBRARY COMPAT WORK

TABLE is crates/spec/mpich.table, HEADER the other one's mpif.h, LIBRARY its libmpifort.so.12, COMPAT the folder with Heddle's
libraries, WORK a folder to work in.

1. Each constant of the header that the table has has its value, but for those that differ between the languages.
2. The common blocks of the header are in Heddle's libmpi.so.12, as long as a program has them.
3. Each name of a subroutine in the library is in Heddle's, but for those like LEFT_OUT.
"""

import pathlib
import re
import subprocess
import sys

PARAMETER = re.compile(r"^ *PARAMETER *\( *(MPI_\w+) *= *(-?\d+|'[0-9A-F]+'X) *\)", re.MULTILINE | re.IGNORECASE)
# What this version of the standard says of itself, and what the program's memory for MPI_Bsend holds beside messages.
OTHER_VALUES = ("MPI_VERSION", "MPI_SUBVERSION", "MPI_BSEND_OVERHEAD")
SUBROUTINE = re.compile(r"p?mpir?_[a-z0-9_]+|P?MPI_[A-Z0-9_]+")
# Extensions, inner names of the library and its modules, and mpi_f08 for Intel's compilers.
LEFT_OUT = re.compile(r"mpi[ir]_|mpi_\w+_mp_|P?MPI_F_|p?mpir?_(get_hw_resource_info|free_mem_f08|delete_error_\w+_f08)", re.IGNORECASE)


def table(path):
    """The constants of the table by their groups."""
    found, group = {}, ""
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("section"):
            group = words[1]
        elif line.startswith("  ") and words[1] != "=":
            found[words[0]] = (group, int(words[1], 0))
    return found


def in_fortran(name, group, value):
    """A constant's value in Fortran: keys of attributes are the next number, the greatest lengths have no null."""
    if group == "KEYVALS" and name != "MPI_KEYVAL_INVALID":
        return value + 1
    return value - (group == "LIMITS" and name.startswith("MPI_MAX_"))


def symbols(file, *options):
    lines = subprocess.run(["nm", *options, file], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split() for line in lines]


def commons(header, work):
    """The common blocks of a program with the header, and their bytes."""
    source, program = work / "commons.F90", work / "commons.o"
    source.write_text(f"program commons\n  include '{header}'\n  print *, MPI_VERSION\nend program\n")
    subprocess.run(["gfortran", "-w", "-ffixed-line-length-none", "-c", source, "-o", program], check=True)
    return {name: int(size, 16) for size, kind, name in (line[-3:] for line in symbols(program) if len(line) == 3) if kind == "C"}


def main():
    table_path, header, library, compat, work = map(pathlib.Path, sys.argv[1:])
    believed, wrong, compared = table(table_path), [], 0
    for name, value in PARAMETER.findall(header.read_text()):
        if name.upper() not in believed or name.upper() in OTHER_VALUES:
            continue
        compared += 1
        ours, theirs = in_fortran(name.upper(), *believed[name.upper()]), int(value)
        if (ours ^ theirs) & 0xFFFFFFFF:
            wrong.append(f"{name} is {theirs} in {header}, not {ours}")
    blocks = commons(header, work)
    ours = {line[3]: int(line[1], 16) for line in symbols(compat / "libmpi.so.12", "-DS", "--defined-only") if len(line) == 4}
    wrong += [f"{name} has {size} bytes, and {ours.get(name)} in libmpi.so.12" for name, size in blocks.items() if ours.get(name) != size]
    known = {line[-1] for line in symbols(compat / "libmpifort.so.12", "-D", "--defined-only")}
    names = {line[-1] for line in symbols(library, "-D", "--defined-only") if SUBROUTINE.fullmatch(line[-1]) and not LEFT_OUT.match(line[-1])}
    wrong += [f"libmpifort.so.12 lacks {name}" for name in sorted(names - known)]
    for complaint in wrong:
        print(complaint)
    print(f"{compared} constants, {len(blocks)} common blocks, {len(names)} names compared, {len(wrong)} differ")
    return 1 if wrong or compared < 200 or len(blocks) < 5 or len(names) < 2000 else 0


if __name__ == "__main__":
    sys.exit(main())
