"""Skipped tests in the output of mpi4py's test suite, and which of them are allowed.

A line of allowed_skips.txt has three columns and a reason in words: the skip's own text, the tests and the numbers of
ranks, the first two as regular expressions (the text must match as a whole, a test's full name anywhere).
"""

import collections
import dataclasses
import re
import textwrap

# `testName (module.Class.testName)`, perhaps a line of the test's docstring, `... skipped 'text'`.
LINE = re.compile(
    r"^(?P<test>\w+) \((?P<name>[\w.]+)\)(?: \S+)?(?:\n[^\n]*?)? \.\.\. (?:[^\n]*\n)*?[^\n]*?"
    r"skipped (?P<quote>['\"])(?P<text>.*)(?P=quote)$",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Skip:
    """A skipped test: its full name, and what the suite says."""

    test: str
    text: str


@dataclasses.dataclass(frozen=True)
class Rule:
    text: str
    tests: str
    ranks: str
    why: str

    def allows(self, skip, ranks):
        return (
            re.fullmatch(self.text, skip.text) is not None
            and re.search(self.tests, skip.test) is not None
            and (self.ranks == "any" or str(ranks) in self.ranks.split(","))
        )


def read_rules(path):
    rules = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            words = line.split(maxsplit=3)
            if len(words) < 4:
                raise SystemExit(f"{path}:{number}: a line has the skip's text, tests, ranks, and the reason in words")
            rules.append(Rule(*words))
    return rules


def read_skips(text):
    """All skips in a rank's output."""
    found = []
    # A record goes from one test's name to the next.
    starts = [match.start() for match in re.finditer(r"^\w+ \([\w.]+\)", text, re.MULTILINE)]
    for start, end in zip(starts, [*starts[1:], len(text)]):
        match = LINE.match(text[start:end])
        if match:
            found.append(Skip(match["name"], match["text"]))
    return found


def reason(rules, skip, ranks):
    """Why a skip is allowed; None if it is not."""
    return next((rule.why for rule in rules if rule.allows(skip, ranks)), None)


def table(seen):
    """Lines that name all skips: seen has a set of numbers of ranks for each (reason, Skip)."""
    groups = collections.defaultdict(list)
    for (why, skip), ranks in seen.items():
        groups[why, skip.text, tuple(sorted(ranks))].append(skip.test)
    for (why, text, ranks), tests in sorted(groups.items()):
        yield f"skipped with n={','.join(map(str, ranks))}: {len(tests)} tests, {why} ({text}):"
        by_class = collections.defaultdict(list)
        for test in sorted(tests):
            place, _, name = test.rpartition(".")
            by_class[place].append(name)
        for place, names in by_class.items():
            words = f"{place}: {' '.join(names)}"
            yield from textwrap.wrap(words, 120, initial_indent="    ", subsequent_indent="        ")
