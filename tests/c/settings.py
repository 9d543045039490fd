#!/usr/bin/env python3
"""Every setting has a program that notices if it is ignored.

    tests/c/settings.py --mpicc MPICC --mpiexec MPIEXEC     run the programs without each of their settings
    tests/c/settings.py --table                             print which program stands for which value
    tests/c/settings.py --check                             only look whether a program stands for each value

A program of tests/c names the settings that it is about (`// settings:`, run.py). It has to pass with them, and to fail
without any one of them, as it would if the library ignored that one.

The values are those of docs/reference.md, which the library's own tables make: every name but the default, and some number
where a number is wanted. A value that no program is about stands in tests/c/settings_untested.txt, with the reason. So a
new value without a test, and one that has a test and still stands there, is an error.

The last line printed is `N passed, M failed, K skipped`; what is skipped are the values without a test.
"""

import argparse
import pathlib
import re
import shlex
import sys
import tempfile

import run

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "docs" / "reference.md"
UNTESTED = HERE / "settings_untested.txt"
NUMBER, LIST, PAIR = "a number", "a list", "p-X-Y"


def values_of(allowed, default):
    """The values of a column of the reference page, without the default: names, and the kinds above."""
    found = []
    for part in re.split(r", (?:or )?", allowed):
        part = part.removeprefix("or ").strip('" ')
        if part.startswith("a number"):
            part = NUMBER
        elif part.startswith("p-X-Y"):
            part = PAIR
        elif part.startswith("a list") or " " in part or re.match(r"[0-9]", part):
            part = LIST
        if part != default and part not in found:
            found.append(part)
    return found


def rows():
    """The reference page's rows: a variable, its allowed values, its default."""
    return re.findall(r"^\| `(HEDDLE_\w+)` \| (.*?) \| (.*?) \|", REFERENCE.read_text(), re.M)


def reference():
    """Every variable with its values."""
    return {variable: values_of(allowed, default) for variable, allowed, default in rows()}


def kind_of(value, values):
    """The value, or what stands for it in the reference page."""
    if value in values:
        return value
    if re.fullmatch(r"p-\S+-\S+", value):
        return PAIR
    return NUMBER if NUMBER in values and value.isdigit() else LIST


def programs():
    """Every variant of a program that is about settings, as its largest run."""
    for source in sorted(HERE.glob("*.c")):
        program = run.Program(source, run.read_keys(source))
        if "settings" in program.keys:
            for found in program.runs(run.numbers("1-128"), [""], "one"):
                if program.settings(found.variant):
                    yield found


def untested():
    for line in UNTESTED.read_text().splitlines():
        if line and not line.startswith("#"):
            variable, value, _reason = re.split(r" {2,}", line, maxsplit=2)
            yield variable, value


def check_table(table, gaps):
    """What is wrong with the table: one line each."""
    known = {(variable, value) for variable, values in reference().items() for value in values}
    for missing in sorted(known - table.keys() - gaps):
        yield ("{}={}: no program of tests/c has it in its `// settings:`; tests/c/settings_untested.txt can say why"
               .format(*missing))
    for both in sorted(gaps & table.keys()):
        yield "{}={}: has a program now, and still stands in tests/c/settings_untested.txt".format(*both)
    for unknown in sorted((gaps | table.keys()) - known):
        yield "{}={}: no such value".format(*unknown)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpicc", type=shlex.split, default=["mpicc"])
    parser.add_argument("--mpiexec", type=shlex.split, default=["mpiexec"])
    parser.add_argument("--build-dir", type=pathlib.Path, help="where binaries go and stay for the next run (default: a temporary folder)")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.cflags, options.oracle, options.abi = [], False, None

    values, gaps, table = reference(), set(untested()), {}
    defaults = {(variable, default) for variable, _, default in rows()}
    cases = list(programs())
    for case in cases:
        for variable, value in case.program.settings(case.variant).items():
            # The default, named, acts against what another setting says.
            if (variable, value) in defaults:
                continue
            table.setdefault((variable, kind_of(value, values.get(variable, []))), []).append(case.label())
    wrong = list(check_table(table, gaps))
    for line in wrong:
        print(f"FAIL {line}")
    if options.table:
        for (variable, value), labels in sorted(table.items()):
            print(f"{variable}={value}: {', '.join(labels)}")
    if options.table or options.check:
        return 1 if wrong else 0

    passed, failed = 0, len(wrong)
    with tempfile.TemporaryDirectory(prefix="heddle-settings-") as scratch:
        folder = options.build_dir or pathlib.Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases:
            run.build(case.program, options, folder)
            options.timeout = 600
            problem, _ = run.execute(case, options)
            if problem:
                print(f"FAIL {case.label()}: {problem}", flush=True)
                failed += 1
                continue
            # Without a setting some hang.
            options.timeout = 60
            for variable, value in case.program.settings(case.variant).items():
                if run.execute(case, options, left_out=variable)[0]:
                    print(f"ok   {case.label()} fails without {variable}={value}", flush=True)
                    passed += 1
                else:
                    print(f"FAIL {case.label()} passes without {variable}={value}", flush=True)
                    failed += 1
    print(f"{passed} passed, {failed} failed, {len(gaps)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
