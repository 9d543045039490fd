#!/usr/bin/env python3
"""Counts how many instructions a call from Fortran takes beyond the same call from C, under callgrind.

    run.py BUILD_DIR

A case is run with two numbers of calls; the difference belongs to the calls (loops included, which are alike). Prints a line of
JSON for each case and form, and `N passed, M failed`: a case fails if it takes more than LIMITS says. Ends with 77 where
there is no valgrind. The compiler is gfortran; its version decides how many instructions the caller needs, so the limits hold for
VERSION alone, and other versions are only counted.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FEW, MANY = 200, 1200
VERSION = "12"
# By case, for mpif.h and mpi_f08: the most instructions beyond C.
LIMITS = {
    "send": (26, 44),
    "receive": (32, 52),
    "send and wait, nonblocking": (103, 124),
    "send on a communicator of the program": (98, 134),
    "send an array of two dimensions": (27, 98),
}
FORMS = {"mpif.h": "-DMPIF", "mpi_f08": "-DF08"}


def instructions(program, number, case, folder):
    counts = folder / "counts"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}", program, str(number), str(case)]
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return int(re.search(r"^(?:summary|totals): (\d+)", counts.read_text(), re.MULTILINE)[1])


def a_call(program, case, folder):
    few, many = (instructions(program, number, case, folder) for number in (FEW, MANY))
    return round((many - few) / (MANY - FEW), 1)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("valgrind"):
        print("there is no valgrind")
        return 77
    has_limits = subprocess.check_output(["gfortran", "-dumpversion"], text=True).split(".")[0].strip() == VERSION
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([build / "bin/mpicc", "-O2", HERE / "calls.c", "-o", folder / "c"], check=True)
        for form, option in FORMS.items():
            command = [build / "bin/mpifort", "-O2", "-cpp", f"-I{HERE.parent}", option, HERE / "calls.F90", "-o", folder / form]
            subprocess.run(command, check=True)
        for case, (what, limits) in enumerate(LIMITS.items(), 1):
            in_c = a_call(folder / "c", case, folder)
            for form, limit in zip(FORMS, limits):
                beyond = round(a_call(folder / form, case, folder) - in_c, 1)
                print(json.dumps({"case": what, "form": form, "c": in_c, "beyond c": beyond, "limit": limit}))
                failed += has_limits and beyond > limit
    print(f"{len(LIMITS) * len(FORMS) - failed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
