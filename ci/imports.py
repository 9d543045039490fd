"""The imports between the modules of a crate, read from its sources.

`Crate(root).edges()` says in which lines a file names an item of another file: in a `use`, or in a path such as
`crate::a::b`.

- A name counts for the file that defines it: if `a/mod.rs` says `pub use b::X`, an import of `crate::a::X` leads to
  `a/b.rs`. A re-export alone is no import, and `mod b;` is none either.
- Code that only tests compile (`#[cfg(test)]`, also within `all(..)`) is left out.
- Methods are not seen, since a call does not say where a method is written.
"""

import re

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
      | (?P<block>/\*)
      | (?P<raw>b?r(?P<hashes>\#*)")
      | (?P<string>[bc]?"(?:\\.|[^"\\])*")
      | (?P<char>b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'])')
      | (?P<lifetime>'[A-Za-z_]\w*)
      | (?P<word>(?:r\#)?[A-Za-z_]\w*)
      | (?P<number>\d[\w.]*)
      | (?P<mark>::|.)""",
    re.VERBOSE | re.DOTALL,
)
PAIRS = {"(": ")", "[": "]", "{": "}"}
KINDS = {"struct", "enum", "union", "trait", "type", "fn", "const", "static"}


class Token:
    __slots__ = ("text", "line", "word")

    def __init__(self, text, line, word):
        self.text, self.line, self.word = text, line, word


def tokens_of(text):
    """The words and marks of a source; strings and comments are dropped."""
    found, at, line = [], 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        end = match.end()
        if match["block"]:
            depth = 1
            while depth and end < len(text):
                if text.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif text.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
        elif match["raw"]:
            close = text.find('"' + match["hashes"], end)
            end = len(text) if close < 0 else close + 1 + len(match["hashes"])
        elif match["string"] is not None:
            found.append(Token(match["string"], line, False))
        elif match["word"]:
            found.append(Token(match["word"].removeprefix("r#"), line, True))
        elif match["mark"]:
            found.append(Token(match["mark"], line, False))
        line += text.count("\n", at, end)
        at = end
    return found


def closing(tokens, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].text in PAIRS:
            depth += 1
        elif tokens[i].text in PAIRS.values():
            depth -= 1
            if depth == 0:
                return i
    return len(tokens) - 1


def needs_test(words):
    """Whether a `cfg(..)` attribute, as its tokens, holds only where tests are compiled."""
    text = "".join(words)
    if text == "cfg(test)":
        return True
    match = re.fullmatch(r"cfg\(all\((.*)\)\)", text)
    return bool(match) and "test" in split_list(match[1])


def split_list(text):
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += letter == "("
        depth -= letter == ")"
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [*parts, text[start:]]


def end_of_item(tokens, at):
    """The index behind the item, statement, field or arm that starts at `at`."""
    i, ended_by_semicolon = at, False
    while i < len(tokens):
        text = tokens[i].text
        if text in ("use", "let", "const", "static", "type"):
            ended_by_semicolon = text != "const" or tokens[i + 1].text not in ("fn", "unsafe", "extern")
        if text in PAIRS:
            i = closing(tokens, i)
            if text == "{" and not ended_by_semicolon:
                return i + 1
        elif text in PAIRS.values():
            return i
        elif text == ";":
            return i + 1
        elif text == "," and not any(token.text in ("fn", "impl", "struct", "enum", "trait") for token in tokens[at:i]):
            return i + 1
        i += 1
    return i


def shipping(tokens):
    """The tokens without the items that only tests compile, and the number of lines that those take."""
    kept, dropped, i = [], 0, 0
    while i < len(tokens):
        end = end_of_attribute(tokens, i)
        if end and needs_test([token.text for token in tokens[i:end] if token.text not in "#![]"]):
            start = tokens[i].line
            while next_end := end_of_attribute(tokens, end):
                end = next_end
            i = end_of_item(tokens, end)
            dropped += tokens[i - 1].line - start + 1
        else:
            kept.extend(tokens[i : end or i + 1])
            i = end or i + 1
    return kept, dropped


def end_of_attribute(tokens, at):
    """The index behind the attribute at `at`; none if there is no attribute."""
    start = at + 1 + (at + 1 < len(tokens) and tokens[at + 1].text == "!")
    if start < len(tokens) and tokens[at].text == "#" and tokens[start].text == "[":
        return closing(tokens, start) + 1
    return None


class Module:
    """A module: a file, or a block `mod name { .. }` in one."""

    def __init__(self, name, parent, file, folder):
        self.name, self.parent, self.file, self.folder = name, parent, file, folder
        self.children, self.aliases, self.globs, self.items = {}, {}, [], set()
        self.imports = []  # (path, line, whether it is re-exported, alias)
        self.paths = []  # (path, line, whether a call or a macro follows)

    def path(self):
        return (*self.parent.path(), self.name) if self.parent else ()


class Crate:
    def __init__(self, root):
        self.files, self.macros = {}, {}
        self.root = Module("", None, root, root.parent)
        self.read(self.root)

    def read(self, module):
        text = module.file.read_text()
        self.files[module.file] = (module, text.split("\n"))
        self.scan(shipping(tokens_of(text))[0], module)

    def scan(self, tokens, module):
        i, depth, exported, path = 0, 0, False, None
        while i < len(tokens):
            token = tokens[i]
            if end := end_of_attribute(tokens, i):
                words = [t.text for t in tokens[i:end] if t.text not in "#![]"]
                if words[:2] == ["path", "="]:
                    path = words[2].strip('"')
                exported = exported or words[0] == "macro_export"
                i = end
                continue
            if token.text == "use" and not self.is_capture(tokens, i):
                end = i
                while tokens[end].text != ";":
                    end += 1
                public = self.is_public(tokens, i)
                for segments, alias in use_tree(tokens[i + 1 : end]):
                    self.note_import(module, segments, alias, public, token.line)
                i = end + 1
                continue
            if token.text == "mod" and depth == 0 and tokens[i + 1].word:
                name = tokens[i + 1].text
                if tokens[i + 2].text == ";":
                    self.read_child(module, name, path)
                    i, path = i + 3, None
                    continue
                if tokens[i + 2].text == "{":
                    end = closing(tokens, i + 2)
                    child = Module(name, module, module.file, module.folder / name)
                    module.children[name] = child
                    self.scan(tokens[i + 3 : end], child)
                    i = end + 1
                    continue
            if token.text == "macro_rules" and i + 2 < len(tokens) and tokens[i + 1].text == "!":
                (self.macros if exported else {}).setdefault(tokens[i + 2].text, module)
                module.items.add(tokens[i + 2].text)
                exported = False
            elif token.text in KINDS and depth == 0 and i + 1 < len(tokens) and tokens[i + 1].word:
                module.items.add(tokens[i + 1].text)
            if token.text in PAIRS:
                depth += 1
            elif token.text in PAIRS.values():
                depth -= 1
            i = self.note_path(tokens, i, module) if token.word else i + 1

    def is_capture(self, tokens, i):
        """Whether `use` is the precise capture of a return type: `impl Sized + use<..>`."""
        return tokens[i + 1].text == "<"

    def is_public(self, tokens, i):
        if i and tokens[i - 1].text == ")":
            while i and tokens[i].text != "(":
                i -= 1
        return i > 0 and tokens[i - 1].text == "pub"

    def read_child(self, module, name, path):
        if path:
            candidates = [module.file.parent / path]
        else:
            candidates = [module.folder / f"{name}.rs", module.folder / name / "mod.rs"]
        for file in candidates:
            if file.is_file():
                folder = file.parent if file.name == "mod.rs" else file.parent / name
                child = Module(name, module, file, folder)
                module.children[name] = child
                self.read(child)
                return
        raise SystemExit(f"{module.file}: no file for `mod {name};`")

    def note_import(self, module, segments, alias, public, line):
        if segments[-1] == "*":
            module.globs.append((segments[:-1], line, public))
            return
        if segments[-1] == "self":
            segments = segments[:-1]
        name = alias or segments[-1]
        if name != "_" and (name != segments[0] or len(segments) > 1):
            module.aliases[name] = segments
        module.imports.append((segments, line, public, name))

    def note_path(self, tokens, i, module):
        """Notes the path that starts at token `i`, and says where it ends."""
        if i and tokens[i - 1].text in (".", "::", "fn", "struct", "enum", "trait", "type", "mod", "let"):
            leading = tokens[i - 1].text != "::" or (i > 1 and tokens[i - 2].text == "$")
            if not leading or tokens[i - 1].text != "::":
                return i + 1
        segments, line = [tokens[i].text], tokens[i].line
        end = i + 1
        while end + 1 < len(tokens) and tokens[end].text == "::" and tokens[end + 1].word:
            segments.append(tokens[end + 1].text)
            end += 2
        called = end < len(tokens) and tokens[end].text in ("(", "!")
        module.paths.append((segments, line, called))
        return end

    def resolve(self, module, segments, seen=frozenset()):
        """The module that defines what a path names, and the name there (none if the path names a module)."""
        if (module, tuple(segments)) in seen:
            return None
        seen = seen | {(module, tuple(segments))}
        first, rest = segments[0], segments[1:]
        if first == "crate":
            here = self.root
            if len(rest) == 1 and rest[0] in self.macros and rest[0] not in here.children:
                return self.macros[rest[0]], rest[0]
        elif first == "self":
            here = module
        elif first == "super":
            here = module.parent
        else:
            return self.resolve_in(module, segments, seen, bare=True)
        while here and rest and rest[0] == "super":
            here, rest = here.parent, rest[1:]
        if here is None:
            return None
        return self.resolve_in(here, rest, seen, bare=False) if rest else (here, None)

    def resolve_in(self, module, segments, seen, bare):
        name, rest = segments[0], segments[1:]
        if name in module.children:
            child = module.children[name]
            return self.resolve_in(child, rest, seen, bare=False) if rest else (child, None)
        if name in module.items:
            return module, name
        if name in module.aliases:
            found = self.resolve(module, module.aliases[name], seen)
            if found and found[1] is None and rest:
                return self.resolve_in(found[0], rest, seen, bare=False)
            return found
        for path, _, _ in module.globs:
            target = self.resolve(module, path, seen)
            if target and target[1] is None and target[0] is not module:
                found = self.resolve_in(target[0], segments, seen, bare=True)
                if found:
                    return found
        # A name that a macro or an included file defines counts for the module that is named.
        return None if bare else (module, name)

    def modules(self):
        waiting = [self.root]
        while waiting:
            module = waiting.pop()
            yield module
            waiting.extend(module.children.values())

    def edges(self):
        """For each pair of files the lines in which the first imports from the second."""
        found = {}

        def add(module, target, line):
            if target and target[1] is not None and target[0].file != module.file:
                found.setdefault((module.file, target[0].file), set()).add(line)

        for module in self.modules():
            public = set()
            for segments, line, is_public, name in module.imports:
                if is_public:
                    public.add(name)
                else:
                    add(module, self.resolve(module, segments), line)
            for segments, line, called in module.paths:
                if segments[0] in ("Self", "std", "core"):
                    continue
                name = segments[0]
                if len(segments) > 1:
                    imported = name not in public and name in module.aliases and self.resolve(module, [name])
                    if not (imported and imported[1]):  # else the line of the `use` stands for it
                        add(module, self.resolve(module, segments), line)
                    continue
                type_like = name[:1].isupper()
                by_glob = name not in module.items and name not in module.aliases and module.globs
                if (name in public or by_glob) and (type_like or called):
                    add(module, self.resolve(module, segments), line)
        return found


def use_tree(tokens):
    """The paths of a `use`, each with the name it gets here if that is another."""
    prefix, i = [], 0
    while i < len(tokens):
        token = tokens[i]
        if token.text == "{":
            inner, start, end = [], i + 1, closing(tokens, i)
            for j in range(i + 1, end + 1):
                top = j == end or (tokens[j].text == "," and balanced(tokens[start:j]))
                if top and j > start:
                    inner.extend(use_tree(tokens[start:j]))
                if top:
                    start = j + 1
            return [(prefix + segments, alias) for segments, alias in inner]
        if token.text == "as":
            return [(prefix, tokens[i + 1].text)]
        if token.word or token.text == "*":
            prefix.append(token.text)
        i += 1
    return [(prefix, None)] if prefix else []


def balanced(tokens):
    return sum(token.text == "{" for token in tokens) == sum(token.text == "}" for token in tokens)
