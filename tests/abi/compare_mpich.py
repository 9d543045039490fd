#!/usr/bin/env python3
"""Compares what Heddle believes of MPICH's ABI with MPICH's header and library.

    compare_mpich.py TABLE PEER COMPAT WORK

TABLE is crates/spec/mpich.table, PEER an installation of MPICH, COMPAT the folder with Heddle's libmpi.so.12, WORK a folder to work in.

1. Each constant of the table has the header's value, and a status the sizes and offsets of crates/abi/src/mpich/status.rs.
2. Each name of MPICH's libmpi.so.12 is in Heddle's, but for those that begin like LEFT_OUT.
"""

import pathlib
import re
import subprocess
import sys

# Extensions, and what MPICH's own Fortran library calls.
LEFT_OUT = re.compile(r"P?MPIX_|P?MPIO_|MPIR_|MPII_|MPID|MPL_|PMIx?_|[^MP]|MPICH|MPI_F08_STATUS|_")
STATUS = {"sizeof(MPI_Status)": 20, "offsetof(MPI_Status, MPI_SOURCE)": 8, "offsetof(MPI_Status, MPI_TAG)": 12, "offsetof(MPI_Status, MPI_ERROR)": 16, "sizeof(MPI_Aint)": 8, "sizeof(MPI_Count)": 8, "sizeof(MPI_Offset)": 8, "sizeof(MPI_Comm)": 4, "sizeof(MPI_File)": 8}  # fmt: skip


def constants(table):
    """Expressions and their values."""
    found = dict(STATUS)
    for line in table.read_text().splitlines():
        words = line.split()
        if line.startswith("  ") and words[1] != "=":
            found[words[0]] = int(words[1], 0)
    return found


def values(names, peer, work):
    """What MPICH's header makes of these expressions."""
    lines = "".join(f'    printf("%lld\\n", (long long)({name}));\n' for name in names)
    source, program = work / "constants.c", work / "constants"
    source.write_text(f"#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n{lines}    return 0;\n}}\n")
    subprocess.run(["cc", "-w", f"-I{peer}/include", source, "-o", program], check=True)
    return [int(line) for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()]


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


def main():
    table, peer, compat, work = map(pathlib.Path, sys.argv[1:])
    believed = constants(table)
    wrong = []
    for (name, ours), theirs in zip(believed.items(), values(list(believed), peer, work)):
        if (ours ^ theirs) & 0xFFFFFFFF or ours >= 0 and theirs >= 0 and ours != theirs:
            wrong.append(f"{name} is {theirs} in MPICH's header, not {ours}")
    names = [name for name in exported(peer / "lib" / "libmpi.so.12") if not LEFT_OUT.match(name)]
    missing = sorted(set(names) - exported(compat / "libmpi.so.12"))
    wrong += [f"libmpi.so.12 lacks {name}" for name in missing]
    for complaint in wrong:
        print(complaint)
    print(f"{len(believed)} constants and sizes, {len(names)} names compared, {len(wrong)} differ")
    return 1 if wrong or len(believed) < 300 or len(names) < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
