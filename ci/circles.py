#!/usr/bin/env python3
"""Finds circles of imports between the modules of a crate, and between the files of a C program.

    ci/circles.py [--crate NAME]... [--except NAME]... [--folders] [--edges]

The script prints every circle with the lines that close it, and exits with 1 if there is one. `ci/imports.py` says
what counts as an import, `ci/c_imports.py` in C, where each folder with one `main` is a program. NAME is a package
(`heddle-sync`) or its folder (`sync`), or the path of such a folder (`bench`). `--edges` prints all imports instead of
the circles alone. `ci/crates.py` prints the size of every crate beside its circles.

With `--folders` siblings are compared too: the module `a` with all below it may not import from its sibling `b` if
`b` imports from `a`, even when no two files do.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from c_imports import Program  # noqa: E402
from imports import Crate  # noqa: E402

BASE = Path(__file__).resolve().parent.parent
LINES_SHOWN = 3  # of each import


def circles(edges):
    """The strongly connected components of more than one node (Tarjan, without recursion)."""
    after = {}
    for source, target in edges:
        after.setdefault(source, []).append(target)
        after.setdefault(target, [])
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in sorted(after):
        if root in index:
            continue
        work = [(root, iter(sorted(after[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(sorted(after[target]))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = set()
                    while node not in members:
                        member = stack.pop()
                        on_stack.discard(member)
                        members.add(member)
                    if len(members) > 1:
                        found.append(members)
    return found


def sibling_edges(crate, edges):
    """For each module with children: the imports between two of them, each with all that is below it."""
    levels = {}
    for (source, target), lines in edges.items():
        one, two = (crate.files[file][0].path() for file in (source, target))
        common = 0
        while common < min(len(one), len(two)) and one[common] == two[common]:
            common += 1
        if common < len(one) and common < len(two):
            level = levels.setdefault(one[:common], {})
            level.setdefault((one[common], two[common]), []).append((source, lines))
    return levels


def all_circles(crate, folders):
    """Every circle: its heading, its members, and the imports between two modules, each with files and lines."""
    edges = crate.edges()
    shown = {
        tuple(file.relative_to(BASE) for file in pair): [(pair[0], lines)] for pair, lines in edges.items()
    }
    for members in circles(shown):
        yield f"{len(members)} files", members, shown
    if folders and isinstance(crate, Crate):
        for parent, level in sorted(sibling_edges(crate, edges).items()):
            for members in circles(level):
                yield f"{len(members)} modules in `{'::'.join(('crate', *parent))}`", members, level


def report(crate, members, edges):
    """Prints the imports that close a circle."""
    for (source, target), imports in sorted(edges.items()):
        if source in members and target in members:
            print(f"  {source} -> {target}")
            for file, lines in sorted(imports):
                for line in sorted(lines)[:LINES_SHOWN]:
                    print(f"    {file.relative_to(BASE)}:{line}: {crate.files[file][1][line - 1].strip()}")


def packages():
    """The folder of each package of the workspace, but for those that compile another's sources."""
    found = {}
    for manifest in sorted(BASE.glob("crates/*/Cargo.toml")):
        if not (manifest.parent / "src").is_dir():
            continue
        found[re.search(r'^name\s*=\s*"([^"]+)"', manifest.read_text(), re.MULTILINE)[1]] = manifest.parent
    return found


def crates_of(folder):
    """The library and the programs of a package."""
    source = folder / "src"
    roots = [source / "lib.rs", source / "main.rs", *sorted(source.glob("bin/*.rs"))]
    return [Crate(root) for root in roots if root.is_file()]


def programs():
    """The C programs of several files: their folders, and what is in them."""
    listed = subprocess.run(["git", "ls-files", "*.c"], cwd=BASE, capture_output=True, text=True, check=True).stdout
    found = {}
    for folder in sorted({Path(file).parent for file in listed.splitlines()}):
        program = Program(BASE / folder)
        if program.is_one():
            found[str(folder)] = program
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--crate", action="append", metavar="NAME", help="look at this crate or C program only")
    parser.add_argument("--except", action="append", default=[], dest="left_out", metavar="NAME")
    parser.add_argument("--folders", action="store_true", help="compare sibling modules, with all below them, too")
    parser.add_argument("--edges", action="store_true", help="print every import between two files")
    options = parser.parse_args()

    folders, in_c = packages(), programs()
    known = {name: name for name in [*folders, *in_c]} | {folder.name: name for name, folder in folders.items()}
    for name in [*(options.crate or []), *options.left_out]:
        if name not in known:
            parser.error(f"no crate is called {name}")
    wanted = {known[name] for name in options.crate} if options.crate else {*folders, *in_c}
    wanted -= {known[name] for name in options.left_out}

    count = 0
    for package in sorted(wanted):
        for crate in [in_c[package]] if package in in_c else crates_of(folders[package]):
            if options.edges:
                for source, target in sorted(crate.edges()):
                    print(f"{source.relative_to(BASE)} -> {target.relative_to(BASE)}")
            for heading, members, edges in all_circles(crate, options.folders):
                count += 1
                print(f"{package}: a circle of {heading}:")
                report(crate, members, edges)
    if count:
        print(f"{count} circle(s) of imports", file=sys.stderr)
    sys.exit(1 if count else 0)


if __name__ == "__main__":
    main()
