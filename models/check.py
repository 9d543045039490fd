#!/usr/bin/env python3
"""Checks the SPIN models in this folder; prints the number of states of each run.

    models/check.py             all runs
    models/check.py --short     only those of seconds
    models/check.py NAME..      the runs whose names contain one of these words

Exits with 77, after a line that says so, if spin or a C compiler is missing.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODEL = Path(__file__).resolve().parent / "rma_rw.pml"
MEMORY_MIB = 4000
SIZES = ("WRITERS", "READERS", "LEVELS", "FAN", "COUNTERS", "T_L", "T_W", "ROUNDS")


class Run:
    """`sizes` in the order of SIZES. `fails`: what the output has to say, or None if there has to be no error."""

    def __init__(self, name, sizes, flags=(), how="all", fails=None, long=False, claim=None):
        self.name, self.sizes, self.flags, self.how = name, sizes, list(flags), how
        self.fails, self.long, self.claim = fails, long, claim

    def title(self):
        sizes = " ".join(f"{name}={value}" for name, value in zip(SIZES, self.sizes))
        return f"{self.name}: {sizes} {' '.join(self.flags)}".strip()


ASSERTION, DEADLOCK, CYCLE = "assertion violated", "invalid end state", "acceptance cycle"
RUNS = [
    # Mutual exclusion, readers against writers, and no deadlock: everything, as far as memory allows.
    Run("safety", (1, 1, 1, 1, 1, 1, 1, 3)),
    Run("safety", (1, 2, 1, 1, 2, 1, 1, 2)),
    Run("safety", (2, 2, 1, 2, 1, 1, 1, 2)),
    Run("safety", (2, 2, 1, 2, 2, 1, 2, 2)),
    Run("safety", (2, 1, 2, 2, 1, 1, 1, 2)),
    Run("safety", (2, 1, 2, 1, 1, 1, 1, 2)),
    Run("safety", (3, 1, 2, 2, 1, 2, 1, 1)),
    Run("safety", (2, 2, 3, 1, 1, 1, 1, 1)),
    Run("safety", (3, 2, 1, 3, 1, 1, 2, 1), long=True),
    Run("safety", (4, 1, 2, 2, 1, 1, 1, 1), long=True),
    Run("safety", (4, 2, 2, 2, 1, 2, 2, 1), long=True),
    Run("safety", (4, 1, 3, 2, 1, 1, 1, 1), long=True),
    Run("safety", (2, 1, 4, 1, 1, 1, 1, 1), long=True),
    # Processes that come for ever.
    Run("safety", (2, 2, 1, 2, 1, 1, 1, 0)),
    Run("safety", (2, 2, 2, 1, 1, 1, 2, 0), long=True),
    Run("safety", (3, 1, 2, 2, 1, 1, 1, 0), long=True),
    # Bounds on bypassing, in everything that processes which come for ever can do.
    Run("bypass", (2, 2, 1, 2, 1, 1, 1, 0), ["BYPASS"]),
    Run("bypass", (3, 1, 1, 3, 1, 1, 2, 0), ["BYPASS"]),
    # Every process that wants to enter enters, if every process that can go on does (weak fairness).
    Run("liveness of writers", (2, 1, 1, 2, 1, 1, 1, 0), ["LIVENESS"], claim="writer_enters"),
    Run("liveness of readers", (2, 1, 1, 2, 1, 1, 1, 0), ["LIVENESS"], claim="reader_enters"),
    Run("liveness of writers", (2, 2, 1, 2, 1, 1, 2, 0), ["LIVENESS"], claim="writer_enters", long=True),
    Run("liveness of readers", (2, 2, 1, 2, 1, 1, 2, 0), ["LIVENESS"], claim="reader_enters", long=True),
    Run("liveness of writers", (2, 1, 2, 1, 1, 1, 1, 0), ["LIVENESS"], claim="writer_enters", long=True),
    Run("liveness of readers", (2, 1, 2, 1, 1, 1, 1, 0), ["LIVENESS"], claim="reader_enters", long=True),
    # Larger ones: a part of the states, by hashing, or random runs.
    Run("part", (8, 3, 3, 2, 2, 2, 2, 2), how="bits", long=True),
    Run("part", (16, 3, 4, 2, 3, 2, 2, 2), how="bits", long=True),
    Run("random", (64, 3, 3, 4, 3, 2, 2, 20), how="random"),
    Run("random", (128, 3, 4, 4, 3, 2, 2, 20), how="random", long=True),
    # The listings as printed, and line by line.
    Run("as printed", (1, 1, 1, 1, 1, 1, 1, 2), ["PRINTED", "T_R=1"], fails=ASSERTION),
    Run("as printed, two levels", (2, 0, 2, 2, 1, 1, 1, 1), ["PRINTED", "T_R=1"], fails=DEADLOCK),
    Run("as printed, readers alone", (0, 2, 1, 1, 1, 1, 1, 2), ["PRINTED", "T_R=1"], fails=DEADLOCK),
    Run("as printed, done is not set", (0, 1, 1, 1, 1, 1, 1, 0), ["PRINTED", "NOT_DONE", "T_R=2", "LIVENESS"],
        claim="reader_enters", fails=CYCLE),
    Run("Listing 9", (1, 2, 1, 1, 1, 1, 1, 2), ["LISTING_9", "T_R=1"], fails=f"{ASSERTION}|{DEADLOCK}"),
    Run("node of the rank", (2, 0, 2, 2, 1, 1, 1, 1), ["NODE_OF_RANK"], fails=DEADLOCK),
    Run("a writer that enters", (1, 1, 1, 1, 1, 1, 1, 1), ["WRITER_ENTERS"], fails=ASSERTION),
    Run("no phase", (2, 1, 1, 2, 1, 1, 1, 2), ["NO_PHASE"], fails=DEADLOCK),
]


def macros(run):
    return [f"-D{name}={value}" for name, value in zip(SIZES, run.sizes)] + [f"-D{flag}" for flag in run.flags]


def output(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


def check(run, folder):
    """The words for the states, and whether the result is the one that is wanted."""
    if run.how == "random":
        texts = [output(["spin", f"-n{seed}", *macros(run), str(MODEL)], folder) for seed in range(1, 6)]
        # A deadlock shows as a timeout, and the processes that are left.
        ended = sum("processes created" in text and not re.search("timeout|#processes|Error", text) for text in texts)
        return f"{ended} of {len(texts)} random runs ended well", ended == len(texts)
    made = output(["spin", "-a", *macros(run), str(MODEL)], folder)
    if not (folder / "pan.c").exists():
        return made, False
    if "Error" in made:
        return made, False
    options = [f"-DMEMLIM={MEMORY_MIB}"]
    arguments = ["-m20000000", "-w26"] if run.long else ["-m5000000", "-w22"]
    if run.claim is None:
        options.append("-DSAFETY")
        arguments.append("-n")
    else:
        options.append(f"-DNFAIR={run.sizes[0] + run.sizes[1] + 3}")
        arguments += ["-a", "-f", "-n", "-N", run.claim]
    if run.how == "bits":
        options.append("-DBITSTATE")
        arguments = ["-w31", "-m1000000", "-k3", "-n", "-Q2"]
    else:
        options.append("-DCOLLAPSE")
    built = output(["cc", "-O2", "-w", *options, "-o", "pan", "pan.c"], folder)
    if not (folder / "pan").exists():
        return built, False
    text = output(["./pan", *arguments], folder)
    states = re.search(r"([\d.e+]+) states, stored", text)
    errors = re.search(r"errors: (\d+)", text)
    stopped = re.search(r"(max search depth too small|reached -DMEMLIM)", text)
    words = f"{float(states.group(1)):,.0f} states" if states else text
    if run.fails:
        found = re.search(run.fails, text)
        words += f", found: {found.group(0)}" if found else ", NOT FOUND"
        return words, bool(found)
    if stopped and run.how == "all":
        words += f", not all: {stopped.group(0)}"
    if run.how == "bits":
        words += ", a part of all"
    # Where memory ends the search, what was searched has no error.
    return words, bool(errors) and errors.group(1) == "0"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--short", action="store_true")
    arguments = parser.parse_args()
    for tool in ("spin", "cc"):
        if shutil.which(tool) is None:
            print(f"models/check.py: skipped: {tool} is not installed")
            return 77
    failed = 0
    for run in RUNS:
        if arguments.short and run.long or arguments.names and not any(name in run.name for name in arguments.names):
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            words, good = check(run, Path(folder))
        print(f"{'ok  ' if good else 'FAIL'} {run.title()}: {words} ({time.monotonic() - began:.1f} s)", flush=True)
        failed += not good
    if failed:
        print(f"{failed} runs did not end as they have to")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
