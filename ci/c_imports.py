"""The uses between the sources of a C program, read from its files.

`Program(folder).edges()` says in which lines a file names a function or an object that another file defines. A header
says only what there is, so it counts for nothing. A name that two files define (as `static`, say) is nobody's.
"""

import re

LEFT_OUT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
# A function with its body, or an object, at the start of a line and not `static`.
DEFINITION = re.compile(
    r"""^(?!(?:static|typedef|extern|return|else|case|goto)\b)[A-Za-z_][\w\s*]*?\b
        (?P<name>[A-Za-z_]\w*)\s*
        (?:\([^;{]*\)\s*\{ | (?:\[[^\]]*\])*\s*[=;])""",
    re.MULTILINE | re.VERBOSE,
)
MAIN = re.compile(r"^int\s+main\s*\(", re.MULTILINE)
WORD = re.compile(r"[A-Za-z_]\w*")


def without_comments(text):
    """The text with blanks in the place of comments and strings; its lines stay where they are."""
    return LEFT_OUT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


class Program:
    """The sources of a folder; `files` has the lines of each."""

    def __init__(self, folder):
        self.texts = {file: without_comments(file.read_text()) for file in sorted(folder.glob("*.c"))}
        self.files = {file: (None, file.read_text().splitlines()) for file in self.texts}

    def is_one(self):
        """Whether the files are one program, not each a program of its own."""
        return len(self.texts) > 1 and sum(bool(MAIN.search(text)) for text in self.texts.values()) == 1

    def edges(self):
        """The lines, by the file that has them and the file that they lead to."""
        homes = {}
        for file, text in self.texts.items():
            for match in DEFINITION.finditer(text):
                homes.setdefault(match["name"], set()).add(file)
        found = {}
        for file, text in self.texts.items():
            for number, line in enumerate(text.splitlines(), 1):
                for word in WORD.findall(line):
                    home = homes.get(word, ())
                    if len(home) == 1 and file not in home:
                        found.setdefault((file, *home), set()).add(number)
        return found
