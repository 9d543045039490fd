#!/usr/bin/env python3
"""Counts the instructions of the library's hottest calls under callgrind, and compares them with a table.

    run.py --mpicc build/bin/mpicc --mpiexec build/bin/mpiexec               count, and compare with budget.json
    run.py --mpicc .. --mpiexec .. --update                                  write the counts into budget.json
    run.py --mpicc .. --mpiexec .. --no-budget --json FILE                   only count; works with any MPI library

calls.c describes the cases; those named `alone_..` run in a world of one process. A count is what callgrind collects in
rank 0 from the beginning of a call to its end, divided by the number of calls. The cost of switching collection on and off
is measured and subtracted. A case has several parts, and the least of them counts: beside computing programs a call now and
then meets the other process at an odd moment and takes a longer path.

The levels `single` and `multiple` are thread levels. `unbiased` is MPI_THREAD_MULTIPLE without a bias: a small message
then takes the lock at its second attempt. A call that does not make that attempt takes the general path and grows. `spread` is
the same with messages that are spread over VNIs: a small one goes to its lane.

A case fails if it takes more instructions than the table says, by more than `tolerance_percent` and two instructions. A launch
with such a case is repeated, at most four times, and the least counts.
A case that has become shorter passes, and the run asks for an update of the table: otherwise the path could grow back
unnoticed.

The counts hold on every x86-64 machine. callgrind counts instructions, not time. valgrind shows a program the same
processor everywhere (with AVX2 if the real one has it), so the C library picks the same memcpy on AMD and on Intel. The
number of VNIs, which depends on the number of cores, is set (SETTINGS). calls.c removes what depends on timing. The counts
do depend on the compiler, so the table names it.

The last line is `N passed, M failed, K skipped`, counting cases at a level. Status 77: there is no valgrind.
"""

import argparse
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUDGET = HERE / "budget.json"
UNBIASED = {"HEDDLE_BIAS": "none"}
# The thread level and the environment of each level.
LEVELS = {
    "single": ("single", {}),
    "multiple": ("multiple", {}),
    "unbiased": ("multiple", UNBIASED),
    "spread": ("multiple", {**UNBIASED, "HEDDLE_SPREAD": "always"}),
}
# The only cases of a level, if not all.
CASES = {"spread": ["isend", "send", "irecv_posted", "recv_unexpected", "recv_in_ring", "waitall_in_ring", "sendrecv_unexpected"]}
# The default is two VNIs per core, and a probe polls all of them.
SETTINGS = {"HEDDLE_VNIS": "4"}
# How often a launch is repeated in which a case has grown. Where others want the cores, what waits for them polls more often.
REPEATS = 12
# Instructions beside the tolerance, for the shortest paths.
SLACK = 2
NOTHING = "nothing"
ALONE = "alone_"


class CannotCount(Exception):
    """The program could not be compiled or run."""


def compile_program(options, folder):
    program = folder / "calls"
    command = [*options.mpicc, "-std=gnu11", "-O2", "-Wall", "-Wextra", str(HERE / "calls.c"), "-o", str(program)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(options))
    if done.returncode != 0:
        raise CannotCount(f"{shlex.join(command)}\n{done.stdout}")
    return program


def environment(options, settings=()):
    """The caller's environment without its settings of Heddle, with SETTINGS, those of a level, and --env."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEDDLE_") and name != "VALGRIND_OPTS"}
    return {**kept, **SETTINGS, **dict(settings), **dict(setting.split("=", 1) for setting in options.env)}


def cases_of(options, level, alone):
    """The wanted cases of a launch, as calls.c names them; `None` means all."""
    some = level in CASES
    if not some and not options.cases:
        return None
    names = options.cases or ([] if alone else CASES[level])
    cases = [name.removeprefix(ALONE) for name in names if alone or not name.startswith(ALONE)]
    return [case for case in cases if not some or (case in CASES[level] and not alone)]


def launch(options, program, level, alone, folder):
    """Runs the wanted cases at a level, without a peer or with one; returns the program's output."""
    thread_level, settings = LEVELS[level]
    rank = [str(program), thread_level, str(folder / "told"), *(cases_of(options, level, alone) or [])]
    counted = [
        "valgrind", "--tool=callgrind", "--quiet", "--collect-atstart=no", "--instr-atstart=no",
        "--dump-line=no", f"--callgrind-out-file={folder}/counts",
    ]  # fmt: skip
    command = [*options.mpiexec, "-n", "1", *counted, *rank, *([] if alone else [":", "-n", "1", *rank])]
    with tempfile.TemporaryFile(mode="w+") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=environment(options, settings),
            start_new_session=True,
        )
        try:
            status = process.wait(options.timeout)
        except subprocess.TimeoutExpired:
            status = f"still running after {options.timeout:g} s"
        finally:
            stop(process)
        output.seek(0)
        text = output.read()
    if status != 0:
        raise CannotCount(f"{shlex.join(command)}\nstatus {status}:\n{text}")
    return text


def stop(process):
    """Ends a launch that is still running: the launcher may end its ranks, then it is killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, number)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                continue


def totals(folder):
    """Instructions of each case's least part, from the files that callgrind wrote."""
    found = {}
    for file in folder.glob("counts.*"):
        text = file.read_text(errors="replace")
        case = re.search(r"^desc: Trigger: Client Request: (\S+)$", text, re.MULTILINE)
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
        if case and total:
            found[case[1]] = min(int(total[1]), found.get(case[1], int(total[1])))
    return found


def count_launch(options, program, level, alone):
    """Instructions per call by case, and the library's version."""
    with tempfile.TemporaryDirectory(prefix="heddle-instructions-") as scratch:
        folder = pathlib.Path(scratch)
        text = launch(options, program, level, alone, folder)
        collected = totals(folder)
    cases = {name: (int(calls), int(switches)) for name, calls, switches in re.findall(r"^case (\S+) (\d+) (\d+)$", text, re.MULTILINE)}
    version = re.search(r"^version (.*)$", text, re.MULTILINE)
    missing = [name for name in cases if name not in collected]
    if missing or NOTHING not in cases:
        raise CannotCount(f"callgrind has not counted {', '.join(missing) or 'anything'}; the program said:\n{text}")
    switch = collected[NOTHING] / cases[NOTHING][1]
    if not 1 <= switch < 100:
        raise CannotCount(f"switching collection on and off takes {switch:.1f} instructions: callgrind does not obey the program")
    counts = {
        (ALONE if alone else "") + name: round((collected[name] - switch * switches) / calls, 1)
        for name, (calls, switches) in cases.items()
        if name != NOTHING
    }
    return counts, version[1] if version else ""


def compiler():
    try:
        return subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    except OSError:
        return "no rustc"


def has_grown(now, allowed, budget):
    return now > allowed * (1 + budget["tolerance_percent"] / 100) + SLACK


def count_again(options, program, counts, budget):
    """Repeats launches in which a case has grown; each case keeps its least count."""
    for alone, level in itertools.product([False, True], options.levels):
        cases = [case for case in counts if case.startswith(ALONE) == alone and level in counts[case]]
        for _ in range(REPEATS):
            if not any(has_grown(counts[case][level], budget["calls"].get(case, {}).get(level, 0), budget) for case in cases):
                break
            found, _ = count_launch(options, program, level, alone)
            for case in cases:
                if found[case] < counts[case][level]:
                    print(f"{case} {level}: {counts[case][level]} at first, {found[case]} when counted again")
                    counts[case][level] = found[case]


def compare(counts, budget):
    """Prints a line for each case; returns how many passed, failed, and became shorter."""
    tolerance = budget["tolerance_percent"] / 100
    passed = failed = shorter = 0
    print(f"{'case':30} {'level':9} {'allowed':>8} {'now':>8}")
    for case, levels in counts.items():
        for level, now in levels.items():
            allowed = budget["calls"].get(case, {}).get(level)
            if allowed is None:
                failed += 1
                verdict = "FAIL: not in the table, see --update"
            elif has_grown(now, allowed, budget):
                failed += 1
                verdict = f"FAIL: grown by {100 * (now / allowed - 1):.1f} %"
            else:
                passed += 1
                verdict = "ok"
                if now < allowed * (1 - tolerance) - SLACK:
                    shorter += 1
                    verdict = f"ok, shorter by {100 * (1 - now / allowed):.1f} %"
            shown = "-" if allowed is None else f"{allowed:.0f}"
            print(f"{case:30} {level:9} {shown:>8} {now:8.1f}  {verdict}")
    return passed, failed, shorter


def lost(counts, budget, options):
    """Rows of the table that were not counted, although they should have been."""
    if options.cases:
        return []
    return [
        f"{case} {level}"
        for case, levels in budget["calls"].items()
        for level in levels
        if level in options.levels and level not in counts.get(case, {})
    ]


def write_budget(counts, budget):
    calls = dict(budget["calls"])
    for case, levels in counts.items():
        calls[case] = {**calls.get(case, {}), **{level: round(now) for level, now in levels.items()}}
    lines = ",\n".join(f"    {json.dumps(case)}: {json.dumps(levels)}" for case, levels in calls.items())
    BUDGET.write_text(
        "{\n"
        f'  "compiler": {json.dumps(compiler())},\n'
        f'  "tolerance_percent": {json.dumps(budget["tolerance_percent"])},\n'
        f'  "calls": {{\n{lines}\n  }}\n'
        "}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", type=shlex.split, default=["mpicc"], help="compiler wrapper (default mpicc)")
    parser.add_argument("--mpiexec", type=shlex.split, default=["mpiexec"], help="launcher, with options (default mpiexec)")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="environment of the launch")
    parser.add_argument(
        "--levels", type=lambda text: text.split(","), default=list(LEVELS), help=f"levels (default {','.join(LEVELS)})"
    )
    parser.add_argument("--json", type=pathlib.Path, help="write the counts to this file")
    parser.add_argument("--update", action="store_true", help="write the counts into budget.json")
    parser.add_argument("--no-budget", action="store_true", help="only count")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one launch (default 300)")
    parser.add_argument("cases", nargs="*", help="only these cases (default: all)")
    options = parser.parse_args()
    unknown = [level for level in options.levels if level not in LEVELS]
    if unknown:
        parser.error(f"no level: {', '.join(unknown)}; there are {', '.join(LEVELS)}")
    if not shutil.which("valgrind"):
        print("there is no valgrind (Debian's package valgrind)")
        return 77

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    counts, version = {}, ""
    with tempfile.TemporaryDirectory(prefix="heddle-instructions-") as scratch:
        try:
            program = compile_program(options, pathlib.Path(scratch))
            for alone, level in itertools.product([False, True], options.levels):
                if cases_of(options, level, alone) == []:
                    continue
                found, version = count_launch(options, program, level, alone)
                for case, instructions in found.items():
                    counts.setdefault(case, {})[level] = instructions
            budget = json.loads(BUDGET.read_text())
            if not (options.update or options.no_budget):
                count_again(options, program, counts, budget)
        except CannotCount as problem:
            print(f"FAIL: cannot count: {problem}", file=sys.stderr)
            return 1
    uncounted = [name for name in options.cases if name not in counts]
    if uncounted:
        print(f"FAIL: no such case: {', '.join(uncounted)}", file=sys.stderr)
        return 1
    if options.json or options.no_budget:
        rows = [
            {"case": case, "level": level, "instructions": now} for case, levels in counts.items() for level, now in levels.items()
        ]
        text = json.dumps({"version": version, "counts": rows}, indent=1) + "\n"
        options.json.write_text(text) if options.json else print(text, end="")
    if options.no_budget:
        return 0

    passed, failed, shorter = compare(counts, budget)
    for what in lost(counts, budget, options):
        failed += 1
        print(f"FAIL: {what} is in the table and was not counted")
    if options.update:
        write_budget(counts, budget)
        print(f"{BUDGET} is written")
        return 0
    again = f"{sys.argv[0]} --mpicc {shlex.join(options.mpicc)} --mpiexec {shlex.join(options.mpiexec)} --update"
    if failed and compiler() != budget["compiler"]:
        print(f"the table was made with {budget['compiler']}, this is {compiler()}: compilers differ in what they inline")
    if failed:
        print(f"if the growth is intended, update the table: {again}")
    if shorter:
        print(f"paths became shorter; update the table so that they stay short: {again}")
    more = f", {shorter} shorter than the table" if shorter else ""
    print(f"{passed} passed, {failed} failed, 0 skipped{more}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
