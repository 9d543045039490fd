#!/usr/bin/env python3
"""Runs modules of mpi4py's test suite under mpiexec and adds up what ran, passed and was skipped.

The modules are the lines of modules.txt. A line is the name of a module, then perhaps patterns of tests to leave out,
each with a leading minus, or `left out: REASON`; `#` starts a comment. Each module is run by itself with each number of
ranks, under a time limit, so that one that hangs or crashes costs only itself. The ranks write into files of their own.

All skipped tests are listed at the end with their reasons. A skip that allowed_skips.txt does not allow is a failure, and so
is a module of the suite that modules.txt does not name.

With `--once` each module runs with one of the numbers of ranks, drawn at random for it. The run prints its seed; the variable
HEDDLE_TEST_SEED repeats the draw, or with `all` runs each module with all of them.
"""

import argparse
import dataclasses
import itertools
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import skips  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass
class Count:
    ran: int = 0
    skipped: int = 0
    failed: int = 0

    def add(self, other):
        self.ran += other.ran
        self.skipped += other.skipped
        self.failed += other.failed

    @property
    def passed(self):
        return self.ran - self.skipped - self.failed


def read_modules(path):
    """The modules with the patterns of tests to leave out, and those that are left out as a whole with the reason."""
    modules, left_out = [], {}
    for line in path.read_text().splitlines():
        line, _, reason = line.partition("#")[0].partition("left out:")
        words = line.split()
        if reason:
            left_out[words[0]] = reason.strip()
        elif words:
            modules.append((words[0], [word.removeprefix("-") for word in words[1:]]))
    return modules, left_out


def read_result(text):
    """What unittest says at the end of a rank's output; None if it did not get there."""
    ran = re.search(r"^Ran (\d+) tests? in", text, re.MULTILINE)
    end = re.search(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?\s*$", text, re.MULTILINE)
    if not ran or not end:
        return None
    words = dict(re.findall(r"([a-z ]+)=(\d+)", end[1] or ""))
    words = {key.strip(): int(value) for key, value in words.items()}
    # Parts of a test are counted one by one among failures; here a test counts once.
    failed = len(set(re.findall(r"^(?:FAIL|ERROR): \S+ \((\S+)\)", text, re.MULTILINE)))
    failed += words.get("unexpected successes", 0)
    if failed == 0 and end[0].startswith("FAILED"):
        failed = 1
    return Count(int(ran[1]), words.get("skipped", 0), failed)


def run_module(options, module, left_out, ranks, model):
    """Runs one module; returns (Count of the rank with the most failures, its skips, problem or None, seconds)."""
    folder = options.out / "-".join(filter(None, [module, str(ranks), model]))
    environment = os.environ | ({"HEDDLE_MODEL": model} if model else {})
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tests = [options.python, "runtests.py", "-v", "--no-builddir", "--no-numpy", "-i", rf"^{module}\.py$"]
    for pattern in left_out + options.leave_out:
        tests += ["-x", pattern]
    # The shell of each rank gives it a file named for its process.
    inner = f'exec {shlex.join(tests)} >"{folder}/rank-$$" 2>&1'
    command = [*options.mpiexec, "-n", str(ranks), "sh", "-c", inner]
    began = time.monotonic()
    launcher = folder / "mpiexec"
    problem = None
    with launcher.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=options.tests,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            status = process.wait(options.timeout)
            if status != 0:
                problem = f"exit status {status}"
        except subprocess.TimeoutExpired:
            problem = f"still running after {options.timeout:g} s"
            stop(process)
    texts = [path.read_text(errors="replace") for path in sorted(folder.glob("rank-*"))]
    counts = [read_result(text) for text in texts]
    finished = [count for count in counts if count is not None]
    worst = max(finished, key=lambda count: count.failed, default=Count())
    if len(finished) < ranks and problem is None:
        problem = f"only {len(finished)} of {ranks} ranks reported"
    found = [skips.read_skips(text) for text in texts]
    if problem is None and any(len(of_rank) != count.skipped for of_rank, count in zip(found, counts)):
        problem = "not all skipped tests are found in the output"
    if problem:
        problem += "\n" + details(texts, launcher.read_text(errors="replace"))
    return worst, set().union(*found), problem, time.monotonic() - began


def stop(process):
    for number, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
            process.wait(patience)
            return
        except ProcessLookupError:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def details(texts, launcher):
    lines = [line for line in launcher.splitlines() if line.strip()][-12:]
    seen = set()
    for text in texts:
        for found in re.findall(r"^(?:FAIL|ERROR): \S+ \(\S+\)", text, re.MULTILINE):
            seen.add(found)
        if read_result(text) is None and text.strip():
            lines.append("a rank ended after: " + text.strip().splitlines()[-1])
    return "\n".join("    " + line for line in [*sorted(seen)[:40], *lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpiexec", type=shlex.split, required=True, help="launcher, with options")
    parser.add_argument("--python", default=sys.executable, help="interpreter that has mpi4py")
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="the folder `test` of mpi4py's sources")
    parser.add_argument("--out", type=lambda p: pathlib.Path(p).resolve(), required=True, help="folder for the outputs")
    parser.add_argument("--modules", type=pathlib.Path, default=HERE / "modules.txt", help="list of modules")
    parser.add_argument("--models", default="", help="values of HEDDLE_MODEL, separated by commas (default: as it is)")
    parser.add_argument("--ranks", default="1 2 4", help="numbers of ranks (default: 1 2 4)")
    parser.add_argument("--once", action="store_true", help="each module with one number of ranks, drawn at random")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a module (default 300)")
    parser.add_argument("-k", dest="pattern", default="", help="only modules matching this regular expression")
    parser.add_argument("-x", dest="leave_out", action="append", default=[], help="leave out tests matching this pattern")
    options = parser.parse_args()

    modules, left_out = read_modules(options.modules)
    rules = skips.read_rules(HERE / "allowed_skips.txt")
    broken = check_complete(options.tests, modules, left_out)
    modules = [entry for entry in modules if re.search(options.pattern, entry[0])]
    seen = {}
    total = Count()
    for model, (ranks, chosen) in itertools.product(options.models.split(","), plan(options, modules)):
        label = " ".join(filter(None, [f"n={ranks}", model]))
        of_ranks = Count()
        for module, without in chosen:
            count, skipped, problem, seconds = run_module(options, module, without, ranks, model)
            reasons = {skip: skips.reason(rules, skip, ranks) for skip in skipped}
            for skip, why in reasons.items():
                seen.setdefault((why or "NOT ALLOWED", skip), set()).add(ranks)
            wrong = sorted(f"{skip.test} ({skip.text})" for skip, why in reasons.items() if why is None)
            if wrong:
                problem = "; ".join(filter(None, [problem, f"skips that are not allowed: {', '.join(wrong)}"]))
            of_ranks.add(count)
            mark = "FAIL" if problem else "ok  "
            print(
                f"{mark} {label} {module}: {count.ran} run, {count.passed} passed, "
                f"{count.skipped} skipped, {count.failed} failed ({seconds:.1f} s)"
                + (f": {problem}" if problem else ""),
                flush=True,
            )
            broken += problem is not None
        print(f"{label}: {of_ranks.ran} run, {of_ranks.passed} passed, {of_ranks.skipped} skipped, {of_ranks.failed} failed")
        total.add(of_ranks)
    for module, why in left_out.items():
        print(f"left out as a whole: {module}, {why}")
    for line in skips.table(seen):
        print(line)
    print(
        f"mpi4py: {total.ran} run, {total.passed} passed, {total.skipped} skipped, {total.failed} failed; "
        f"{broken} module runs with problems"
    )
    return 1 if broken or total.failed else 0


def check_complete(tests, modules, left_out):
    """The number of the suite's modules that modules.txt does not name; they are printed."""
    known = {name for name, _ in modules} | set(left_out)
    missing = sorted({path.stem for path in tests.glob("test_*.py")} - known)
    for name in missing:
        print(f"FAIL {name} is in the suite, but not in modules.txt")
    return len(missing)


def plan(options, modules):
    """The modules to run with each number of ranks."""
    numbers = [int(ranks) for ranks in options.ranks.split()]
    seed = os.environ.get("HEDDLE_TEST_SEED") or str(random.randrange(1 << 16))
    if not options.once or seed == "all":
        return [(ranks, modules) for ranks in numbers]
    print(f"each module with one of {options.ranks} ranks: HEDDLE_TEST_SEED={seed}")
    drawn = {module: random.Random(f"{seed} {module}").choice(numbers) for module, _ in modules}
    return [(ranks, [entry for entry in modules if drawn[entry[0]] == ranks]) for ranks in numbers]


if __name__ == "__main__":
    sys.exit(main())
