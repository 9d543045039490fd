#!/usr/bin/env python3
"""Prints a table of the workspace's crates: files, lines, longest file, longest function, circles of imports.

    ci/crates.py

It reads the sources below `src` and leaves out what only tests compile. Circles are those of `ci/circles.py --folders`.
"""

import sys

sys.dont_write_bytecode = True
from circles import all_circles, crates_of, packages  # noqa: E402
from imports import closing, shipping, tokens_of  # noqa: E402


def functions(tokens):
    """The name and the number of lines of each function with a body."""
    for i in range(len(tokens) - 1):
        if tokens[i].text == "fn" and tokens[i + 1].word:
            at = i + 2
            while tokens[at].text not in "{;":
                at = closing(tokens, at) + 1 if tokens[at].text in "([" else at + 1
            if tokens[at].text == "{":
                yield tokens[closing(tokens, at)].line - tokens[i].line + 1, tokens[i + 1].text


def row(folder):
    """The cells of a crate's row."""
    files, longest_functions, circles = {}, [], 0
    for crate in crates_of(folder):
        for file, (_, lines) in crate.files.items():
            tokens, dropped = shipping(tokens_of("\n".join(lines)))
            files[file.relative_to(folder / "src")] = len(lines) - 1 - dropped
            longest_functions.append(max(functions(tokens), default=(0, "-")))
        circles += sum(1 for _ in all_circles(crate, folders=True))
    file = max(files, key=files.get)
    lines, name = max(longest_functions)
    longest = (f"`{file}` ({files[file]})", f"`{name}` ({lines})")
    return (folder.name, len(files), sum(files.values()), *longest, circles)


def main():
    print("| crate | files | lines | longest file | longest function | circles |")
    print("|---|---:|---:|---|---|---:|")
    for folder in packages().values():
        print("|", " | ".join(map(str, row(folder))), "|")


if __name__ == "__main__":
    main()
