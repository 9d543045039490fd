#!/usr/bin/env python3
"""Finds prose that is hard to read in the documents.

    ci/prose.py

- Lines go up to 100 columns in README.md, ARCHITECTURE.md, CONTRIBUTING.md and `docs`. Tables, code fences and lines
  without a space to break them at may be wider.
- What there is of one thing for each other is said with "per": a communicator per thread.
- A sentence has at most 30 words in README.md, CONTRIBUTING.md and the glossary. A cell of a table is made of
  sentences, too; code in backquotes is one word, and a colon or a semicolon ends no sentence.

The script first sees that it finds a fault of each kind in a text of its own. It prints `FILE:LINE: what is wrong`, and
exits with 1 if there is something.
"""

import re
import sys
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
COLUMNS = 100
WORDS = 30
SHORT = ("README.md", "CONTRIBUTING.md", "docs/glossary.md")
NARROW = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
EACH = re.compile(
    r"\b(?:one|two|communicator|VCI|lock|tags?|threads|ranks|VNIs|bytes) an? (?:thread|process|core|machine|rank|VNI)\b"
)
END = re.compile(r"[.!?…][\"')*]*(?= |$)")


def prose(text):
    """The lines of a document with their numbers, without code fences and made tables."""
    fence = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```") or re.match(r"<!-- .*: (begin|end) -->", line):
            fence = not fence
        elif not fence:
            yield number, line


def too_wide(text):
    """The numbers of the lines that go beyond the columns, though they could be broken."""
    for number, line in prose(text):
        words = ITEM.sub("", line, count=1).strip()
        breakable = " " in re.sub(r"`[^`]*`|\[[^]]*\]\(\S*\)", "", words)
        if len(line) > COLUMNS and breakable and not line.startswith(("|", "#")):
            yield number


def paragraphs(text):
    """Runs of words that belong together, each with the number of its first line: paragraphs, items, cells."""
    words, begin = [], 0
    for number, line in (*prose(text), (0, "")):
        row, item = line.startswith("|"), ITEM.match(line)
        if words and (row or item or not line.strip() or line.startswith(("#", "<!--"))):
            yield begin, " ".join(words)
            words = []
        if row:
            yield from ((number, cell) for cell in re.sub(r"`[^`]*`", "code", line).split("|"))
        elif line.strip() and not line.startswith(("#", "<!--")):
            begin = begin if words else number
            words.append((line[item.end() :] if item else line).strip())


def too_long(text):
    """The sentences of too many words, each with the number of its paragraph's first line."""
    for number, paragraph in paragraphs(text):
        plain = re.sub(r"`[^`]*`", "code", paragraph)
        plain = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", plain)
        begin = 0
        for end in [*(match.end() for match in END.finditer(plain)), len(plain)]:
            sentence = plain[begin:end].strip()
            begin = end
            count = len([word for word in sentence.split() if re.search(r"\w", word)])
            if count > WORDS:
                yield number, f"{count} words: {sentence[:70]} …"


def main():
    if list(too_wide("a " * 60)) != [1] or list(too_wide("| " * 60)):
        sys.exit("prose.py finds no line that is too wide")
    if len(list(too_long("A sentence. " + "word " * 31 + "end."))) != 1 or list(too_long("word " * 30)):
        sys.exit("prose.py finds no sentence that is too long")
    if not EACH.search("a communicator a thread") or EACH.search("a communicator per thread"):
        sys.exit("prose.py finds no missing \"per\"")
    found = 0
    for path in sorted([*BASE.glob("*.md"), *BASE.glob("docs/*.md")]):
        name, text = path.relative_to(BASE).as_posix(), path.read_text(encoding="utf-8")
        faults = []
        if name in NARROW or name.startswith("docs/"):
            faults += [(number, f"the line goes beyond {COLUMNS} columns") for number in too_wide(text)]
            for number, line in enumerate(text.split("\n"), 1):
                faults += [(number, f"say \"per\": {each}") for each in EACH.findall(line)]
        if name in SHORT:
            faults += too_long(text)
        for number, fault in sorted(faults):
            print(f"{name}:{number}: {fault}")
            found += 1
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
