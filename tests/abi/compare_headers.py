"""Compares two headers of the MPI ABI: names, values, types, sizes, offsets and prototypes.

usage: compare_headers.py OURS PEERS WORKDIR
"""

import os
import re
import subprocess
import sys
from pathlib import Path

# Names of functions that the ABI's list has and the peer's header does not declare.
ONLY_OURS = {"MPI_Psend_init_c", "MPI_Precv_init_c"}

STATUS_FIELDS = ["MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "MPI_internal"]


def without_comments(path):
    return re.sub(r"/\*.*?\*/", "", Path(path).read_text(), flags=re.S)


def constants(text):
    """Names of macros with a value, and of enumerators; the peer's helper macros and extensions left out."""
    macros = re.findall(r"^#define[ \t]+(MPI_\w+)[ \t]+\S", text, flags=re.M)
    bodies = re.findall(r"\benum\b[^{;]*\{(.*?)\}", text, flags=re.S)
    enumerators = re.findall(r"\b(MPI_\w+)\s*=", "\n".join(bodies))
    helpers = {"MPI_ABI_Aint", "MPI_ABI_Offset", "MPI_ABI_Count"}
    return set(macros + enumerators) - helpers


def types(text):
    """Names of types, callbacks apart."""
    names = re.findall(r"^typedef[^;{(]*\b(MPI_\w+);", text, flags=re.M)
    return set(names + re.findall(r"\}\s*(MPI_\w+);", text))


def declarations(text):
    """Declarations of functions and of callback types, by name."""
    found = {}
    for line in text.splitlines():
        function = re.match(r"(?:int|double|MPI_\w+) (P?MPI_\w+)\(.*\);", line)
        callback = re.match(r"typedef \w+ \(?(MPI_\w+)\)?\s*\(.*\);", line)
        alias = re.match(r"typedef MPI_\w+_function (MPI_\w+_fn);", line)
        match = function or callback or alias
        if match and "MPIX" not in line:
            found[match[1]] = line.strip()
    return found


def types_as_written(declaration):
    """The types of a declaration's parameters: MPI_Aint and MPI_Count are one type to the compiler, not to a reader."""
    found = []
    for param in declaration[declaration.rindex("(") + 1 : declaration.rindex(")")].split(","):
        param = param.strip()
        if param not in ("void", "..."):
            param = re.sub(r"\w+((\[\d*\])*)$", r"\1", param).replace("[]", "*")
        if "*" not in param:
            param = param.replace("const ", "")
        # A function as a parameter is a pointer to it.
        found.append(param.replace(" ", "").replace("_function*", "_function").replace("_function_c*", "_function_c"))
    return found


def compile_c(source, output, include, what):
    command = [os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Werror", f"-I{include}", "-o", output, source]
    if output == "/dev/null":
        command.insert(1, "-fsyntax-only")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{what}:\n{done.stderr}")


def program(names, type_names):
    """C text that prints all there is to know of the constants and types."""
    handles = sorted(n for n in type_names if n not in ("MPI_Aint", "MPI_Offset", "MPI_Count"))
    cases = "".join(f', {n}: "{n}"' for n in handles if n not in ("MPI_Status", "MPI_T_cb_safety", "MPI_T_source_order"))
    lines = ["#include HEADER", "#include <stddef.h>", "#include <stdio.h>", "#include <stdint.h>",
             f'#define TYPE(x) _Generic((x), default: "-", int: "int", void*: "void*", int*: "int*", '
             f'MPI_Status*: "MPI_Status*", char**: "char**", char***: "char***", MPI_Offset: "MPI_Offset"{cases})',
             "int main(void) {"]
    lines += [f'    printf("{n} %lld %zu %s\\n", (long long)(intptr_t){n}, sizeof({n}), TYPE({n}));' for n in sorted(names)]
    lines += [f'    printf("sizeof {n} %zu align %zu\\n", sizeof({n}), _Alignof({n}));' for n in sorted(type_names)]
    lines += [f'    printf("offset {f} %zu\\n", offsetof(MPI_Status, {f}));' for f in STATUS_FIELDS]
    return "\n".join(lines + ["    return 0;", "}", ""])


def difference(what, ours, peers):
    if ours != peers:
        sys.exit(f"{what}: only in ours {sorted(ours - peers)}, only in the peer's {sorted(peers - ours)}")


def main():
    ours, peers, work = sys.argv[1:]
    # Behind this line are the header's own functions, for Fortran, and the removed names.
    ours_text, peers_text = without_comments(ours).split("#ifndef MPI_ABI_static_inline")[0], without_comments(peers)
    names, type_names = constants(ours_text), types(ours_text)
    difference("constants", names, constants(peers_text))
    difference("types", type_names - {n for n in type_names if n.endswith("_fn")},
               {n for n in types(peers_text) if not n.endswith("_fn")})
    ours_declared, peers_declared = declarations(ours_text), declarations(peers_text)
    extra = ONLY_OURS | {"P" + n for n in ONLY_OURS}
    difference("functions", set(ours_declared) - extra, set(peers_declared))

    outputs = []
    for label, header in (("ours", ours), ("peers", peers)):
        source, binary = Path(work, f"{label}.c"), Path(work, label)
        source.write_text(f'#define HEADER "{Path(header).resolve()}"\n' + program(names, type_names))
        compile_c(str(source), str(binary), work, f"the program of constants with {header}")
        outputs.append(subprocess.run([str(binary)], capture_output=True, text=True, check=True).stdout.splitlines())
    for mine, other in zip(*outputs):
        if mine != other:
            sys.exit(f"a value, type or size differs: ours '{mine}', the peer's '{other}'")

    # A second declaration of a function or type is an error unless it equals the first.
    for header, declared in ((ours, peers_declared), (peers, {n: d for n, d in ours_declared.items() if n not in extra})):
        source = Path(work, "redeclare.c")
        source.write_text(f'#include "{Path(header).resolve()}"\n' + "\n".join(declared.values()) + "\n")
        compile_c(str(source), "/dev/null", work, f"declarations of the other header after {header}")
    for name, declaration in peers_declared.items():
        if not name.endswith("_fn") and types_as_written(declaration) != types_as_written(ours_declared[name]):
            sys.exit(f"{name} differs: ours '{ours_declared[name]}', the peer's '{declaration}'")
    print(f"abi headers: {len(names)} constants, {len(type_names)} types, {len(peers_declared)} declarations agree")


main()
