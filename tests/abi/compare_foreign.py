#!/usr/bin/env python3
"""Compares what Heddle believes of another library's ABI with that library and its header.

    compare_foreign.py ABI TABLE PEER COMPAT WORK

ABI is a key of ABIS below, TABLE its crates/spec/ABI.table, PEER an installation of that library, COMPAT the folder with Heddle's library of
that name, WORK a folder to work in.

1. Each constant of the table has the header's value, each handle is the address of that symbol, and a status has the sizes and offsets of
   crates/abi/src/ABI/status.rs.
2. Each name of the library is in Heddle's, but for its own extensions and what its Fortran library calls. So is each that its header mentions.
"""

import pathlib
import re
import subprocess
import sys

SIZES = {"sizeof(MPI_Aint)": 8, "sizeof(MPI_Count)": 8, "sizeof(MPI_Offset)": 8, "sizeof(MPI_File)": 8}
ABIS = {
    "mpich": {
        "library": "libmpi.so.12",
        "sizes": {"sizeof(MPI_Status)": 20, "offsetof(MPI_Status, MPI_SOURCE)": 8, "offsetof(MPI_Status, MPI_TAG)": 12, "offsetof(MPI_Status, MPI_ERROR)": 16, "sizeof(MPI_Comm)": 4},  # fmt: skip
        "left_out": r"P?MPIX_|P?MPIO_|MPIR_|MPII_|MPID|MPL_|PMIx?_|[^MP]|MPICH|MPI_F08_STATUS|_",
        "at_least": 1000,
    },
    "openmpi": {
        "library": "libmpi.so.40",
        "sizes": {"sizeof(MPI_Status)": 24, "offsetof(MPI_Status, MPI_SOURCE)": 0, "offsetof(MPI_Status, MPI_TAG)": 4, "offsetof(MPI_Status, MPI_ERROR)": 8, "offsetof(MPI_Status, _cancelled)": 12, "offsetof(MPI_Status, _ucount)": 16, "sizeof(MPI_Comm)": 8},  # fmt: skip
        # The names in capitals are those of callbacks for Fortran. MPI_Session_set_info is no function of the standard.
        "left_out": r"(?!P?MPI_)|P?MPI_[A-Z]+_|P?MPI_Session_set_info",
        "at_least": 900,
    },
}


def constants(abi, table):
    """Expressions and their values, and names with the symbols whose addresses they are."""
    values, symbols, kind = SIZES | abi["sizes"], {}, ""
    for line in table.read_text().splitlines():
        words = line.split()
        if line.startswith("section"):
            kind = words[2]
        elif line.startswith("  ") and words[1] != "=":
            if kind == "handle" and words[1][0].isalpha():
                symbols[words[0]] = words[1]
            else:
                values[words[0]] = int(words[1], 0)
    return values, symbols


def header_values(names, peer, work):
    """What the header makes of these expressions."""
    lines = "".join(f'    printf("%lld\\n", (long long)({name}));\n' for name in names)
    source, program = work / "constants.c", work / "constants"
    source.write_text(f"#include <mpi.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {{\n{lines}    return 0;\n}}\n")
    subprocess.run(["cc", "-w", f"-I{peer}/include", source, "-o", program], check=True)
    return [int(line) for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()]


def header_symbols(names, peer):
    """The symbols whose addresses these names are, as far as the header has them."""
    lines = "".join(f'#ifdef {name}\n"{name}" {name}\n#endif\n' for name in names)
    command = ["cc", "-E", "-P", f"-I{peer}/include", "-xc", "-"]
    text = subprocess.run(command, input=f"#include <mpi.h>\n{lines}", check=True, capture_output=True, text=True).stdout
    return {line.split('"')[1]: re.search(r"&\(?(\w+)", line)[1] for line in text.splitlines() if line.startswith('"')}


def exported(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1] for line in lines}


def main():
    abi = ABIS[sys.argv[1]]
    table, peer, compat, work = map(pathlib.Path, sys.argv[2:])
    values, symbols = constants(abi, table)
    wrong = []
    for (name, ours), theirs in zip(values.items(), header_values(list(values), peer, work)):
        if (ours ^ theirs) & 0xFFFFFFFF or ours >= 0 and theirs >= 0 and ours != theirs:
            wrong.append(f"{name} is {theirs} in the header, not {ours}")
    for name, theirs in header_symbols(list(symbols), peer).items():
        if symbols[name] != theirs:
            wrong.append(f"{name} is the address of {theirs} in the header, not of {symbols[name]}")
    names = {name for name in exported(peer / "lib" / abi["library"]) if not re.match(abi["left_out"], name)}
    names |= set(re.findall(r"\b(?:ompi_(?:mpi|request|message)_\w+|OMPI_C_MPI_\w+)(?=[;(])", (peer / "include" / "mpi.h").read_text()))
    missing = sorted(names - exported(compat / abi["library"]))
    wrong += [f"{abi['library']} lacks {name}" for name in missing]
    for complaint in wrong:
        print(complaint)
    compared = len(values) + len(symbols)
    print(f"{compared} constants and sizes, {len(names)} names compared, {len(wrong)} differ")
    return 1 if wrong or compared < 300 or len(names) < abi["at_least"] else 0


if __name__ == "__main__":
    sys.exit(main())
