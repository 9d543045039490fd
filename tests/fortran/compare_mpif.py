#!/usr/bin/env python3
"""Compares Heddle's library for Fortran with the header and the library of another implementation of its ABI.

    compare_mpif.py TABLE HEADER LIBRARY COMPAT WORK

TABLE is crates/spec/mpich.table or openmpi.table, HEADER the other one's mpif.h, LIBRARY its libmpifort.so.12 or libmpi_mpifh.so.40
(further ones of Open MPI's modules may follow behind WORK), COMPAT the folder with Heddle's libraries, WORK a folder to work in.

1. Each constant of the header that the table has has its value, but for those that differ between the languages.
2. The common blocks of the header are in Heddle's libmpi.so.12 or libmpi.so.40, as long as a program has them.
3. Each name of a subroutine in the libraries is in Heddle's, but for those like LEFT_OUT.
"""

import pathlib
import re
import subprocess
import sys

PARAMETER = re.compile(r"^ *PARAMETER *\( *(MPI_\w+) *= *(-?\d+(?:-1)?|'[0-9A-F]+'X) *\)", re.MULTILINE | re.IGNORECASE)
INCLUDE = re.compile(r"^ +include '([\w.-]+)'", re.MULTILINE | re.IGNORECASE)
# What this version of the standard says of itself, and what the program's memory for MPI_Bsend holds beside messages.
OTHER_VALUES = ("MPI_VERSION", "MPI_SUBVERSION", "MPI_BSEND_OVERHEAD")
SUBROUTINE = re.compile(r"p?mpir?_[a-z0-9_]+|P?MPI_[A-Z0-9_]+|__mpi_f08_\w+_MOD_\w+")
# Extensions, inner names of the library and its modules, and mpi_f08 for Intel's compilers; handles in variables of any type.
LEFT_OUT = re.compile(
    r"mpi[ir]_|p?mpix_|mpi_fortran_|mpi_\w+_mp_|P?MPI_F_|p?mpir?_(get_hw_resource_info|free_mem_f08|delete_error_\w+_f08)|\w+_MOD___", re.IGNORECASE
)


def table(path):
    """The constants of the table by their groups."""
    found, group = {}, ""
    for line in path.read_text().splitlines():
        words = line.split()
        if line.startswith("section"):
            group = words[1]
        elif line.startswith("  ") and words[1] != "=" and (not words[1][0].isalpha() or words[2:]):
            # Behind the symbol of a handle stands the integer.
            found[words[0]] = (group, int(words[1] if not words[1][0].isalpha() else words[2], 0))
    return found


def in_fortran(name, group, value, of_mpich):
    """A constant's value in Fortran: MPICH's keys of attributes are the next number, the greatest lengths have no null."""
    if of_mpich and group == "KEYVALS" and name != "MPI_KEYVAL_INVALID":
        return value + 1
    return value - (group == "LIMITS" and name.startswith("MPI_MAX_"))


def text_of(header):
    """A header with those that it includes."""
    text = header.read_text()
    return text + "".join(text_of(header.with_name(name)) for name in INCLUDE.findall(text))


def value_of(text):
    """A value as a header writes it: 255 or 256-1."""
    return int(text.removesuffix("-1")) - 1 if text.endswith("-1") and len(text) > 2 else int(text)


def symbols(file, *options):
    lines = subprocess.run(["nm", *options, file], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split() for line in lines]


def commons(header, work):
    """The common blocks of a program with the header, and their bytes."""
    source, program = work / "commons.F90", work / "commons.o"
    source.write_text(f"program commons\n  include '{header}'\n  print *, MPI_VERSION\nend program\n")
    subprocess.run(["gfortran", "-w", f"-I{header.parent}", "-ffixed-line-length-none", "-c", source, "-o", program], check=True)
    return {name: int(size, 16) for size, kind, name in (line[-3:] for line in symbols(program) if len(line) == 3) if kind == "C"}


def main():
    table_path, header, library, compat, work, *modules = map(pathlib.Path, sys.argv[1:])
    of_mpich = table_path.stem == "mpich"
    libmpi = "libmpi.so.12" if of_mpich else "libmpi.so.40"
    believed, wrong, compared = table(table_path), [], 0
    for name, value in PARAMETER.findall(text_of(header)):
        if name.upper() not in believed or name.upper() in OTHER_VALUES:
            continue
        compared += 1
        ours, theirs = in_fortran(name.upper(), *believed[name.upper()], of_mpich), value_of(value)
        if (ours ^ theirs) & 0xFFFFFFFF:
            wrong.append(f"{name} is {theirs} in {header}, not {ours}")
    blocks = commons(header, work)
    ours = {line[3]: int(line[1], 16) for line in symbols(compat / libmpi, "-DS", "--defined-only") if len(line) == 4}
    wrong += [f"{name} has {size} bytes, and {ours.get(name)} in {libmpi}" for name, size in blocks.items() if ours.get(name) != size]
    known = {line[-1] for line in symbols(compat / library.name, "-D", "--defined-only")}
    names = {line[-1] for file in (library, *modules) for line in symbols(file, "-D", "--defined-only")}
    names = {name for name in names if SUBROUTINE.fullmatch(name) and not LEFT_OUT.match(name)}
    wrong += [f"{library.name} lacks {name}" for name in sorted(names - known)]
    for complaint in wrong:
        print(complaint)
    print(f"{compared} constants, {len(blocks)} common blocks, {len(names)} names compared, {len(wrong)} differ")
    return 1 if wrong or compared < 200 or len(blocks) < 5 or len(names) < 2000 else 0


if __name__ == "__main__":
    sys.exit(main())
