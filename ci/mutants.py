#!/usr/bin/env python3
"""Builds the library with the mutants of ci/mutants.toml in it, and brings them to life one at a time; a program of tests/c, or a
test of a crate, has to fail under each.

    ci/mutants.py [NAME]... [--sample N [--seed S]]     all mutants, those named, or a random few
    ci/mutants.py --check                               only look whether each still fits the sources

All mutants are in one build (mutant schemata): the word MUTANT in what takes a line's place becomes a function that says
whether this mutant is the one that an environment variable names. So a mutant costs the run of one program, not a build. The
tests of a crate are built, with all mutants, when the first mutant that they notice is chosen.
Without a mutant each of the programs and tests has to pass.

The last line printed is `N passed, M failed, K skipped`, counting mutants.
"""

import argparse
import functools
import os
import pathlib
import random
import re
import subprocess
import sys
import tomllib

import faults

BASE = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = BASE / "tests" / "c"
FOLDER = BASE / "target" / "mutants"
CHOSEN = "MUTANT_OF_HEDDLE"
# What the name of each crate begins with, and that of no program.
CRATE = "heddle-"
# A build as quick as it can be for code that is run a few times.
QUICK = [f"--config=profile.release.{setting}" for setting in
         ("lto=false", "codegen-units=16", "debug=false", "incremental=false", "opt-level=0")]
PLATFORM = "crates/platform/src/lib.rs"
IS_ALIVE = f"""
/// Returns true if the mutant with the name is the chosen one.
pub fn is_alive(mutant: &str) -> bool {{
    static CHOSEN: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    CHOSEN.get_or_init(|| std::env::var("{CHOSEN}").ok()).as_deref() == Some(mutant)
}}
"""

sys.path.insert(0, str(PROGRAMS))
import run  # noqa: E402  (tests/c/run.py)


def planted(mutants):
    """The changed files with their text, and what is wrong with the mutants."""
    texts = {PLATFORM: (BASE / PLATFORM).read_text() + IS_ALIVE}
    problems = []
    for name, mutant in mutants.items():
        path = mutant["file"]
        text = texts.get(path) or (BASE / path).read_text()
        # From a word's beginning, or `Kind::named` would be found in `LockKind::named`.
        found = re.findall((r"\b" if mutant["old"][0].isalnum() else "") + re.escape(mutant["old"]), text)
        if len(found) != 1:
            problems.append(f"{name}: its `old` has to stand in {path} once, and is there {len(found)} times: {mutant['old']}")
        alive = f'heddle_platform::is_alive("{name}")'
        texts[path] = text.replace(mutant["old"], mutant["new"].replace("MUTANT", alive))
        program, *rest = mutant["caught"].split()
        if program.startswith(CRATE):
            file, test = rest
            if not any(f"fn {test.split('::')[-1]}()" in source.read_text() for source in test_sources(program, file)):
                problems.append(f"{name}: {program} has no test {file} {test}")
        elif not (PROGRAMS / f"{program}.c").is_file():
            problems.append(f"{name}: there is no program tests/c/{program}.c")
        elif case_of(mutant) is None:
            problems.append(f"{name}: tests/c/{program}.c has no variant {' '.join(rest) or 'without a name'}")
    return texts, problems


def test_sources(package, file):
    """The sources that the test `file` of a crate may be in."""
    crate = BASE / "crates" / package.removeprefix(CRATE)
    if file == "lib":
        return crate.glob("src/**/*.rs")
    return [*crate.glob(f"tests/{file}.rs"), *crate.glob(f"tests/{file}/*.rs")]


def environment():
    return os.environ | {"CARGO_TARGET_DIR": str(FOLDER / "built"), "RUSTFLAGS": "-Awarnings"}


@functools.cache
def library():
    """The folder with the library."""
    command = ["cargo", "build", "--quiet", "--release", *QUICK, "-p", "heddle-abi"]
    subprocess.run(command, cwd=FOLDER / "tree", env=environment(), check=True)
    library = FOLDER / "lib" / "libmpi_abi.so.1"
    library.parent.mkdir(exist_ok=True)
    library.unlink(missing_ok=True)
    library.symlink_to(FOLDER / "built/release/libmpi_abi.so")
    return library.parent


def case_of(mutant):
    """The largest run of the program and variant that have to notice the mutant; none if there is no such variant."""
    name, *variant = mutant["caught"].split()
    source = PROGRAMS / f"{name}.c"
    program = run.Program(source, run.read_keys(source))
    runs = program.runs(run.numbers("1-128"), [""], "one")
    return next((found for found in runs if [found.variant] == (variant or [""])), None)


def program_that_notices(mutant, options):
    """The name of the run of a C program that has to notice the mutant, and a function that says whether it fails."""
    case = case_of(mutant)
    run.build(case.program, options, FOLDER)

    def fails():
        os.environ["LD_LIBRARY_PATH"] = str(library())
        failed, _ = run.execute(case, options)
        os.environ.pop("LD_LIBRARY_PATH")
        return failed

    return case.label(), fails


def test_that_notices(mutant, options):
    """The same for a test of a crate."""
    package, file, test = mutant["caught"].split()
    which = ["--lib"] if file == "lib" else ["--test", file]
    command = ["cargo", "test", "--no-run", "--message-format=json-render-diagnostics", "-p", package, *which]
    program, errors = faults.test_program(command, FOLDER / "tree", environment(), file)
    if program is None:
        raise SystemExit(errors)

    def fails():
        try:
            ended = subprocess.run([program, "--exact", test], capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return True
        return ended.returncode != 0 or "running 1 test" not in ended.stdout

    return f"{package} {file} {test}", fails


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", default=os.environ.get("HEDDLE_TEST_SEED", "1"))
    options = parser.parse_args()
    options.mpicc, options.mpiexec = [str(BASE / "build/bin/mpicc")], [str(BASE / "build/bin/mpiexec")]
    options.cflags, options.oracle, options.abi = [], False, None

    mutants = tomllib.loads((BASE / "ci/mutants.toml").read_text())
    texts, problems = planted(mutants)
    for problem in problems:
        print(f"FAIL {problem}")
    if problems or options.check:
        return 1 if problems else 0
    unknown = set(options.names) - set(mutants)
    if unknown:
        parser.error(f"ci/mutants.toml has no mutant {', '.join(sorted(unknown))}")
    chosen = options.names or list(mutants)
    if options.sample and options.sample < len(chosen) and options.seed != "all":
        chosen = random.Random(options.seed).sample(chosen, options.sample)
        print(f"{options.sample} of {len(mutants)} mutants, HEDDLE_TEST_SEED={options.seed}")

    faults.copy_sources(FOLDER / "tree", lambda path, old: texts[path].encode() if path in texts else old)
    passed = failed = 0
    for name in chosen:
        is_test = mutants[name]["caught"].startswith(CRATE)
        label, fails = (test_that_notices if is_test else program_that_notices)(mutants[name], options)
        os.environ.pop(CHOSEN, None)
        options.timeout = 600
        fails_without = fails()
        os.environ[CHOSEN] = name
        # Many hang.
        options.timeout = 60
        is_caught = fails()
        os.environ.pop(CHOSEN)
        if is_caught and not fails_without:
            passed += 1
            print(f"ok   {name}: {label} fails", flush=True)
        else:
            failed += 1
            print(f"FAIL {name}: {label} " + ("fails without it, too" if fails_without else "passes"), flush=True)
    print(f"{passed} passed, {failed} failed, {len(mutants) - len(chosen)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
