#!/usr/bin/env python3
"""Calls every function of crates/spec/functions.table with the special and extreme values of each of its arguments.

One argument after the other is a null pointer, a handle that was freed or is of another kind, garbage, a rank, root or tag
that is a special value, a negative or huge count, a buffer that is MPI_BOTTOM or MPI_IN_PLACE, a text that is too long; then
pairs of arguments are. No call may crash, hang, take memory by the value, or leave a lock taken; where one argument alone is
wrong, the error has the class that the standard names.

The script writes a C program (special_values.h has its other half) with a table of the functions. It runs alone; children of
the program make the calls, and say on a shared page which one they make, so a crash or hang has a name, and the rest goes on.
Each child calls MPI_Init_thread with one thread level. What is left out: calls that rightly wait (receives from processes that send
nothing), calls that rightly use memory that is not there (a huge array of the program), and the functions of LEFT_OUT.

--pairs N: N pairs for each function, drawn by the seed (`all`: all of them). The last line is `N passed, M failed`.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "crates" / "spec" / "functions.table"
# They end the process or the library, or its use by the checks.
LEFT_OUT = {"Abort", "Finalize", "Init", "Init_thread", "T_finalize", "T_init_thread", "Pcontrol", "Wtime", "Wtick",
            "Abi_set_fortran_booleans", "Abi_set_fortran_info"}
HANDLES = ["comm", "group", "datatype", "request", "op", "info", "errhandler", "win", "file", "session", "message"]
C_HANDLE = {"comm": "MPI_Comm", "group": "MPI_Group", "datatype": "MPI_Datatype", "request": "MPI_Request", "op": "MPI_Op",
            "info": "MPI_Info", "errhandler": "MPI_Errhandler", "win": "MPI_Win", "file": "MPI_File", "session": "MPI_Session",
            "message": "MPI_Message"}
INTS = {"int", "rank", "tag", "logical", "keyval"}
# Receives and probes that wait for a message unless their source is MPI_PROC_NULL, and a send that waits for its receive.
WAITING = {"Recv", "Probe", "Mprobe", "Sendrecv", "Sendrecv_replace", "Ssend"}
# Memory of this size is really allocated.
ALLOCATING = {"Alloc_mem", "Win_allocate", "Win_allocate_shared"}


class Parameter:
    def __init__(self, text):
        self.only_large = text.startswith("+") or text.startswith(">+") or text.startswith("+>")
        text = text.replace("+", "", 1) if self.only_large else text
        self.way = "inout" if text.startswith("<>") else "out" if text.startswith(">") else "in"
        text = text.lstrip("<>").replace("+", "")
        name, _, kind = text.partition(":")
        self.array = "[" in (kind or name)
        base = re.sub(r"\[.*", "", kind or name)
        self.name, self.kind = name.split("[")[0], base
        self.text = text

    def slot(self, function):
        """The C name of the set of values that the argument takes."""
        kind, way = self.kind, self.way
        if kind.startswith("fn("):
            return "FUNCTION"
        if kind == "string":
            return "STRINGS" if self.array else "TEXT" if way == "in" else "OUT"
        if kind in ("choice", "address"):
            return "OUT" if kind == "address" and way == "out" else "BUFFER_OUT" if way != "in" else "BUFFER"
        if kind == "status":
            return "STATUS" if self.array or way == "out" else "STATUS_INOUT"
        if kind in ("attr", "state"):
            return "OUT" if way == "out" else "POINTER"
        if self.array:
            if way == "out":
                return "OUT_ARRAY"
            if kind in HANDLES:
                return f"{kind.upper()}_ARRAY"
            return "RANGES" if kind == "range" else "WIDE_ARRAY" if is_wide(kind, function.large) else "INT_ARRAY"
        if way == "out":
            return "OUT"
        if kind in HANDLES:
            name = "FILE_" if kind == "file" and way == "in" else kind.upper()
            return name + ("_INOUT" if way == "inout" else "")
        if kind.startswith("t_"):
            return "TOOL_INOUT" if way == "inout" else "TOOL"
        if way == "inout":
            return "WIDE_INOUT" if is_wide(kind, function.large) else "INT_INOUT"
        if kind == "rank":
            return "ROOT" if self.name == "root" else "RANK"
        if kind == "tag":
            return "TAG"
        if kind in ("count", "displ", "extent", "bigcount", "aint", "offset"):
            wide = is_wide(kind, function.large)
            counted = kind in ("count", "bigcount")
            return ("COUNT" if counted else "DISPL") + ("_WIDE" if wide else "")
        return "LOGICAL" if kind == "logical" else "COUNT" if self.name in LENGTHS else "INT"


LENGTHS = {"n", "ndims", "maxdims", "indegree", "outdegree", "maxindegree", "maxoutdegree", "nnodes", "maxindex", "maxedges",
           "maxneighbors", "length", "count", "incount", "partitions", "len", "argc", "valuelen", "maxprocs"}


def is_wide(kind, large):
    return kind in ("extent", "bigcount", "aint", "offset") or large and kind in ("count", "displ")


class Function:
    def __init__(self, name, attributes, parameters, chapter, large):
        self.name, self.attributes, self.chapter, self.large = name, attributes, chapter, large
        self.parameters = [p for p in parameters if large or not p.only_large]
        self.full = f"MPI_{name}{'_c' if large else ''}"

    def base_comm(self):
        if "eighbor_all" in self.name or self.name.startswith("Cart") and self.name not in ("Cart_create", "Cart_map"):
            return "CART"
        if self.name.startswith("Dist_graph_neighbors"):
            return "DIST_GRAPH"
        if self.name in ("Graph_get", "Graph_neighbors", "Graph_neighbors_count", "Graphdims_get"):
            return "GRAPH"
        return "PLAIN"

    def flags(self):
        flags = [f"BASE_{self.base_comm()}"]
        if self.name in WAITING:
            flags.append("WAITING")
        if self.name in ALLOCATING:
            flags.append("ALLOCATING")
        if "built" not in self.attributes:
            flags.append("NOT_BUILT")
        if any(a.startswith("returns=") for a in self.attributes):
            flags.append("RETURNS_VALUE")
        return "|".join(flags)

    def code(self, index):
        arguments = []
        for at, parameter in enumerate(self.parameters):
            arguments.append(f"({cast(parameter, self)})a[{at}]")
        call = f"{self.full}({', '.join(arguments)})"
        return f"static intptr_t call_{index}(const intptr_t *a) {{ (void)a; return (intptr_t){call}; }}"


def cast(parameter, function):
    """The C type of an argument."""
    kind, wide = parameter.kind, is_wide(parameter.kind, function.large)
    pointer = parameter.array or parameter.way != "in"
    if kind.startswith("fn("):
        name = kind[3:-1]
        large = function.large and name in ("User_function", "Datarep_conversion_function")
        return f"MPI_{name}{'_c' if large else ''} *"
    if kind == "range":
        return "int (*)[3]"
    if kind == "string":
        if "[][]" in parameter.text:
            return "char ***"
        return ("char ***" if parameter.way == "inout" else "char **") if parameter.array else "char *"
    if kind in ("choice", "address", "attr", "state"):
        return "void *"
    if kind == "status":
        return "MPI_Status *"
    if kind in C_HANDLE:
        base = C_HANDLE[kind]
    elif kind.startswith("t_"):
        base = f"MPI_T_{kind[2:]}"
    else:
        base = {"count": "MPI_Count", "displ": "MPI_Aint", "extent": "MPI_Count"}[kind] if function.large and kind in (
            "count", "displ", "extent") else {"extent": "MPI_Aint", "bigcount": "MPI_Count", "aint": "MPI_Aint",
                                              "offset": "MPI_Offset"}.get(kind, "int")
    return f"{base} *" if pointer else base


def functions():
    """All functions, in both forms."""
    found, chapter, known = [], "", {}
    for line in TABLE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        words, _, rest = line.partition("|")
        name, *attributes = words.split()
        if name == "chapter":
            chapter = attributes[0]
            continue
        if name == "callback":
            continue
        parameters = []
        for text in rest.split():
            if text.startswith(".."):
                parameters += known[text[2:]] if text != "..." else []
                continue
            parameter = Parameter(text)
            parameters.append(parameter)
        known[name] = parameters
        if name not in LEFT_OUT:
            found.append(Function(name, attributes, parameters, chapter, False))
            if "large" in attributes:
                found.append(Function(name, attributes, parameters, chapter, True))
    return found


def program(found):
    parts = ['#include "special_values.h"', ""]
    for index, function in enumerate(found):
        parts.append(function.code(index))
    for index, function in enumerate(found):
        rows = ", ".join(f'{{"{p.name}", {p.slot(function)}}}' for p in function.parameters)
        parts.append(f"static const struct parameter parameters_{index}[] = {{{rows or '{0}'}}};")
    parts.append("const struct function functions[] = {")
    for index, function in enumerate(found):
        parts.append(f'    {{"{function.full}", call_{index}, parameters_{index}, {len(function.parameters)}, {function.flags()}}},')
    parts += ["};", f"const int function_count = {len(found)};", ""]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="an installation")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32), help="default: random")
    parser.add_argument("--pairs", default="20", help="pairs for each function, or `all` (default 20)")
    parser.add_argument("--only", default="", help="functions whose names begin so")
    parser.add_argument("--levels", default="0123", help="thread levels (default 0123: all)")
    parser.add_argument("--keep", type=pathlib.Path, help="write the program to this folder, and keep it")
    options = parser.parse_args()
    found = functions()
    pairs = "-1" if options.pairs == "all" else str(int(options.pairs))
    print(f"seed {options.seed}: {len(found)} functions", flush=True)
    with tempfile.TemporaryDirectory(prefix="heddle-values-") as folder:
        folder = options.keep or pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        source, binary = folder / "special_values.c", folder / "special_values"
        source.write_text(program(found))
        command = [options.build / "bin" / "mpicc", "-std=gnu11", "-w", "-O1", "-g", "-I", HERE, source, HERE / "special_values_run.c"]
        subprocess.run([*command, "-o", binary], check=True)
        return subprocess.run([binary, str(options.seed), pairs, options.levels, options.only]).returncode


if __name__ == "__main__":
    sys.exit(main())
