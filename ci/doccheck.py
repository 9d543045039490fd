#!/usr/bin/env python3
"""Finds what the documents name and the tree does not have.

    ci/doccheck.py

It reads every `*.md`, and of Rust files the comments, with the tables of modules at their head. These must exist:

- the file and the heading that a relative link leads to
- a path in backquotes: from the root, from the document, or from a crate (`message/vni/lost.rs`, `message/vni`); a file
  without its folder must be somewhere in the tree, or be written by a program that names it
- a name in a file: `SETTINGS` in `crates/settings/src/lib.rs`
- a program of `ci`, `tests` and `tools` that a command calls, which must be executable, and the target of a `make`
- an environment variable `HEDDLE_..`
- a lane; CONTRIBUTING.md's table has each lane of `ci/test.sh`, and `ci/lanes.sh` runs each
- a module in a table of modules, which must have all modules of its file
- a crate in ARCHITECTURE.md's drawing, which must have all crates, each above those that it uses
- a thing that a sentence counts: `the 28 crates`

Capitals stand for any name (`tests/c/NAME.c`). CHANGELOG.md may name what is gone: there only links count. The script
first sees that it finds a fault of each kind in a text of its own. It prints `FILE:LINE: what is wrong`, and exits
with 1.
"""

import os
import re
import sys
from fnmatch import fnmatchcase
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
SUFFIXES = "rs py sh c h F90 toml table json txt patch pml svg md".split()
MADE = ("build/", "target/", "results/", ".peers/", "share/", "lib/", "include/")  # not in the tree
SOURCE = re.compile(r"\.(rs|py|sh|c|h|F90|toml|table|mk|in)$|/[^.]+$|^Makefile$")
VARIABLE = re.compile(r"\bHEDDLE_[A-Z0-9_]*[A-Z0-9]\b(?!_)")
LANE = re.compile(r"\blanes? ((?:`\w+`(?:, | and )?)+)")
COUNT = re.compile(r"\b([0-9]+) (crates|lanes|mutants|environment variables)\b")
NAME = re.compile(r"`(?:mod@)?([\w/.]+)`")
ROW = re.compile(r"//! \| (.*?) \|")
CRATE = re.compile(r"^ ([a-z][a-z0-9-]*) ", re.MULTILINE)
PATH = re.compile(r"\.{0,2}[\w*-][\w.*-]*(/[\w.*-]+)*/?")


class Tree:
    """The files of the repository, and what the documents may name in them."""

    def __init__(self):
        self.texts, self.folders = {}, set()
        for folder, folders, names in os.walk(BASE):
            here = Path(folder).relative_to(BASE)
            top = here == Path(".")
            folders[:] = [f for f in folders if not f.startswith((".", "__")) and not (top and f + "/" in MADE)]
            self.folders.add(here.as_posix())
            for name in names:
                path = (here / name).as_posix()
                self.texts[path] = (BASE / path).read_text(encoding="utf-8", errors="replace")
        self.sources = "\n".join(
            text for path, text in self.texts.items() if SOURCE.search(path) and path != "ci/doccheck.py"
        )
        self.words = set(VARIABLE.findall(self.sources))
        self.names = {path.rsplit("/", 1)[-1] for path in self.texts}
        self.crates = {path.split("/")[1] for path in self.folders if path.startswith("crates/")}
        self.targets = set(re.findall(r"^([\w-]+):", self.texts["Makefile"], re.MULTILINE))
        self.lanes = set(re.findall(r"^lane (\w+)", self.texts["ci/test.sh"], re.MULTILINE))

    def has(self, path):
        """Whether there is such a file or folder; `*` stands for any name."""
        if "*" in path:
            return any(fnmatchcase(known, path) for known in (*self.texts, *self.folders))
        return path in self.texts or path in self.folders

    def has_module(self, path):
        """Whether a path that begins with a crate leads to a module, or to a file of the crate."""
        crate, _, below = path.partition("/")
        starts = (f"crates/{crate}/src/{below}", f"crates/{crate}/{below}")
        return crate in self.crates and any(self.has(start + end) for start in starts for end in ("", ".rs"))

    def counted(self, thing):
        """How many of a thing there are."""
        if thing == "crates":
            return len(self.crates)
        if thing == "lanes":
            return len(self.lanes)
        if thing == "mutants":
            return len(re.findall(r"^\[", self.texts["ci/mutants.toml"], re.MULTILINE))
        return len(set(VARIABLE.findall(self.texts["docs/reference.md"])))


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    return {slug(line) for line in re.findall(r"^#+ (.*)", text, re.MULTILINE)}


def outside_of_fences(text):
    """The text with the lines of code fences emptied."""
    return re.sub(r"^```.*?^```", lambda fence: "\n" * fence[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def line_of(match):
    return match.string.count("\n", 0, match.start()) + 1


def links(tree, name, text):
    """Links to files and headings."""
    prose = re.sub(r"`[^`\n]*`", lambda code: " " * len(code[0]), outside_of_fences(text))
    for match in re.finditer(r"\]\(([^)\s]+)\)", prose):
        target, _, anchor = match[1].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        path = os.path.normpath(os.path.join(os.path.dirname(name), target)) if target else name
        if not tree.has(path):
            yield line_of(match), f"the link's target {match[1]} does not exist"
        elif anchor and anchor not in anchors(tree.texts.get(path, text) if target else text):
            yield line_of(match), f"{path} has no heading for #{anchor}"


def is_known_path(tree, name, path):
    path = re.sub(r"(?<![A-Za-z0-9])[A-Z]+(?![A-Za-z0-9]{2})", "*", path.rstrip("/").removeprefix("./"))
    beside = os.path.normpath(os.path.join(os.path.dirname(name), path))
    if path.startswith(MADE) or tree.has(path) or tree.has(beside) or tree.has_module(path):
        return True
    first, folder, _ = path.partition("/")
    if path.rsplit(".", 1)[-1] in SUFFIXES:
        if "*" in path or any(known.endswith("/" + path) for known in tree.texts):
            return True
        # A file that a program makes or installs.
        return not folder and path in tree.sources
    return not folder or (first not in tree.crates and first not in tree.folders)


def paths(tree, name, text):
    """Paths in backquotes."""
    for match in re.finditer(r"`([^`\n]+)`", outside_of_fences(text)):
        for word in match[1].split():
            if PATH.fullmatch(word) and ("/" in word or word.rsplit(".", 1)[-1] in SUFFIXES):
                if not is_known_path(tree, name, word):
                    yield line_of(match), f"there is no {word}"


def names_in_files(tree, _, text):
    """Names that a file is said to have: `NAME` in `path`."""
    for match in re.finditer(r"`([A-Za-z_]\w*)`,? in\s+`([\w/]+\.\w+)`", text):
        files = [path for path in tree.texts if f"/{path}".endswith("/" + match[2])]
        if files and not any(re.search(rf"\b{match[1]}\b", tree.texts[path]) for path in files):
            yield line_of(match), f"{match[2]} has no {match[1]}"


def commands(tree, name, text):
    """Programs and make's targets, in backquotes and in code fences."""
    for match in re.finditer(r"`([^`\n]+)`|^ *([\w./]+ .*)$", text, re.MULTILINE):
        command = match[1] or match[2]
        if made := re.match(r"make ([a-z][a-z-]*)(?![\w/-])", command):
            if match[1] or "```" in text[: match.start()].rsplit("\n\n", 1)[-1]:
                if made[1] not in tree.targets:
                    yield line_of(match), f"the Makefile has no target {made[1]}"
        program = re.match(r"(?:ci|tests|tools)/[\w/.]+\.(?:sh|py)(?= |$)", command)
        if program and " " in command and tree.has(program[0]) and not os.access(BASE / program[0], os.X_OK):
            yield line_of(match), f"{program[0]} is not executable"


def variables(tree, _, text):
    """Environment variables."""
    for match in VARIABLE.finditer(text):
        if match[0] not in tree.words:
            yield line_of(match), f"no source reads {match[0]}"


def lanes(tree, name, text):
    """Lanes of ci/test.sh."""
    for match in LANE.finditer(text):
        for lane in re.findall(r"`(\w+)`", match[1]):
            if lane not in tree.lanes:
                yield line_of(match), f"ci/test.sh has no lane {lane}"
    table = re.search(r"^\| lane \|.*\n\|-.*\n((?:\|.*\n)+)", text, re.MULTILINE)
    if table:
        rows = set(re.findall(r"^\| `(\w+)`", table[1], re.MULTILINE))
        run = set(re.findall(r"^lane_(\w+)\(\)", tree.texts["ci/lanes.sh"], re.MULTILINE))
        for lane in sorted((tree.lanes | run) ^ rows | tree.lanes ^ run):
            yield line_of(table), f"{lane} is not in all of this table, ci/test.sh and ci/lanes.sh"


def counts(tree, _, text):
    """Numbers of things."""
    for match in COUNT.finditer(text):
        if int(match[1]) != tree.counted(match[2]):
            yield line_of(match), f"there are {tree.counted(match[2])} {match[2]}, not {match[1]}"


def layers(tree, name, text):
    """The drawing of ARCHITECTURE.md: a crate per row, which uses only crates below it."""
    if name != "ARCHITECTURE.md":
        return
    drawing = re.search(r"^```\n((?: .*\n)+)```", text, re.MULTILINE)
    groups = [CRATE.findall(group) for group in drawing[1].split(" ───")]
    rows = [crate for group in groups for crate in group]
    for crate in sorted(tree.crates ^ set(rows)):
        yield line_of(drawing), f"the drawing and the folder crates do not both have {crate}"
    for row, crate in enumerate(rows[: -len(groups[-1])]):
        manifest = tree.texts.get(f"crates/{crate}/Cargo.toml", "").partition("[dependencies]\n")[2]
        for used in re.findall(r"^heddle-([\w-]+)", manifest.partition("\n[")[0], re.MULTILINE):
            if used not in rows[row:]:
                yield line_of(drawing), f"{crate} uses {used}, which is not below it"


def module_table(tree, name, text):
    """The tables at the head of a Rust file, whose first column is `file` or `module`."""
    head = re.match(r"(?://.*\n)*", text)[0].split("\n")
    folder = os.path.dirname(name)
    if os.path.basename(name) not in ("mod.rs", "lib.rs", "main.rs"):
        folder = name.removesuffix(".rs")
    listed, inside, first_row = set(), False, 0
    rest = without_tests(text)
    modules = set(re.findall(r"^(?:pub(?:\([^)]*\))? )?mod (\w+);", rest, re.MULTILINE))
    for number, line in enumerate(head, 1):
        row = ROW.match(line)
        inside = line.startswith("//! |") and (inside or bool(row) and row[1] in ("file", "module"))
        if not inside or not row:
            continue
        first_row = first_row or number
        listed |= {word.rstrip("/").removesuffix(".rs") for word in NAME.findall(line)}
        for word in NAME.findall(row[1]):
            path = f"{folder}/{word.rstrip('/')}"
            known = tree.has(path) or tree.has(path + ".rs") or word in modules
            if not known and not re.search(rf"\buse .*\b{word}\b", rest):
                yield number, f"the table has {word}, which is no module here"
    for module in sorted(modules - listed) if first_row else ():
        yield first_row, f"the table lacks the module {module}"


def names_in_comments(tree, name, text):
    """Names of files in the comments of a source."""
    for match in re.finditer(r"^ *//.*", text, re.MULTILINE):
        for path in re.findall(r"`([\w/]+\.(?:rs|md|py|sh|toml|pml))`", match[0]):
            if not (path in tree.names or any(known.endswith("/" + path) for known in tree.texts)):
                if not tree.has(path) and not tree.has_module(path):
                    yield line_of(match), f"there is no {path}"


def without_tests(text):
    return re.sub(r"#\[cfg\((?:all\()?[^]]*\btest\b[^]]*\)\]\n(?:#\[.*\]\n)*.*", "", text)


OF_DOCUMENTS = (links, paths, names_in_files, commands, variables, lanes, counts, layers)
# What each check must find.
BROKEN = (
    (links, "README.md", "[a](docs/no_such_page.md)"),
    (links, "README.md", "[a](docs/glossary.md#no-such-heading)"),
    (links, "docs/glossary.md", "# A\n[a](#no-such-heading)"),
    (paths, "README.md", "`message/vni/no_such_file.rs`"),
    (paths, "README.md", "`message/vni/no_such_module`"),
    (paths, "docs/machines.md", "`tests/no_such_folder`"),
    (paths, "README.md", "`no_such_file.c`"),
    (names_in_files, "README.md", "`NO_SUCH_NAME` in `crates/sync/src/lib.rs`"),
    (commands, "README.md", "`make no-such-target`"),
    (commands, "README.md", "`ci/imports.py --now`"),
    (variables, "README.md", "`HEDDLE_NO_SUCH_VARIABLE`"),
    (lanes, "README.md", "the lane `no_such_lane`"),
    (lanes, "CONTRIBUTING.md", "| lane | what |\n|---|---|\n| `lint` | all |\n"),
    (counts, "README.md", "its 3 lanes"),
    (layers, "ARCHITECTURE.md", "```\n sync       \n abi        \n ─────\n cli        \n```\n"),
    (names_in_comments, "crates/sync/src/lib.rs", "// See `no_such_file.rs`.\n"),
    (module_table, "crates/sync/src/lib.rs", "//! | file | idea |\n//! |---|---|\n//! | `no_such_file.rs` | none |\n"),
    (module_table, "crates/sync/src/lib.rs", "//! | module | idea |\n//! | [`a`] | none |\n\nmod a;\nmod b;\n"),
)


def main():
    tree, found = Tree(), 0
    for check, name, text in BROKEN:
        if not list(check(tree, name, text)):
            sys.exit(f"doccheck.py: `{check.__name__}` finds no fault in {text!r}")
    for name, text in sorted(tree.texts.items()):
        checks = ()
        if name == "CHANGELOG.md":
            checks = (links,)
        elif name.endswith(".md"):
            checks = OF_DOCUMENTS
        elif name.endswith(".rs"):
            checks = (module_table, names_in_comments)
        for check in checks:
            for line, fault in check(tree, name, text):
                print(f"{name}:{line}: {fault}")
                found += 1
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
