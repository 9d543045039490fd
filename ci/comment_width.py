#!/usr/bin/env python3
"""Finds comments in the Rust sources that are wider than the code may be.

    ci/comment_width.py

The limit is `max_width` of `rustfmt.toml`: rustfmt keeps code within it, and leaves comments alone. The script prints
`FILE:LINE` of every line with a comment that goes beyond it, and exits with 1 if there is one. A row of a table, a
line of a code fence and a line without a space to break it at may be wider.
"""

import re
import sys
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
# Strings and characters are read as well, since what looks like a comment within them is none.
TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)
      | /\*.*?\*/
      | r(?P<hashes>\#*)".*?"(?P=hashes)
      | "(?:\\.|[^"\\])*"
      | '(?:\\[^\n]+?|[^\\'\n])'""",
    re.VERBOSE | re.DOTALL,
)
# What opens a line and cannot be parted from the word behind it: an item of a list, the name of a link's target.
OPENING = re.compile(r"//[/!]?\s*(?:(?:[-*+]|\d+[.)]|\[[^]]*\]:)\s+)*")


def too_wide(text, limit):
    """The numbers of the lines whose comment goes beyond the limit."""
    fence, last, begin, number = False, 0, 0, 1
    for comment in TOKEN.finditer(text):
        if not comment["comment"]:
            continue
        number += text.count("\n", begin, comment.start())
        begin = comment.start()
        line = text[text.rfind("\n", 0, begin) + 1 : comment.end()]
        alone = line.lstrip() == comment[0]
        fence = fence and alone and number == last + 1
        last = number
        words = OPENING.sub("", comment[0].rstrip(), count=1)
        if alone and words.startswith(("```", "~~~")):
            fence = not fence
        elif alone and (fence or words.startswith("|") or " " not in words):
            continue
        elif len(line) > limit:
            yield number


def main():
    setting = re.search(r"^max_width\s*=\s*(\d+)", (BASE / "rustfmt.toml").read_text(), re.MULTILINE)
    limit, found = int(setting[1]), 0
    for source in sorted(BASE.glob("crates/**/*.rs")):
        for number in too_wide(source.read_text(encoding="utf-8"), limit):
            print(f"{source.relative_to(BASE)}:{number}: the comment goes beyond {limit} columns")
            found += 1
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
