#!/usr/bin/env python3
"""Checks that the folders of src/, and the rooms of a folder, include each other only in the order of ALLOWED and ROOMS below.

No two units may depend on each other, be it through others: a unit is a header and its source, taken together. A family of
operators includes no other family, but what lies in aclnnop/jobs, which includes none. No two files share a name. A header that the head of a file refers to is there.

What a file may not include it does not know by another way either: it declares no class that is defined there, and below the operators no text is
the name of one.

Usage: check_layers.py [REPOSITORY]
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

import public_functions
import schema.read
import schema.tables

# What each folder may include from src/. Public headers live in include/ under the same first names: acl/acl_base.h is public.
ALLOWED = {
    "base": {"base"},
    "sanitizer": {"sanitizer", "base"},  # the runtime reaches it through base/sanitizer_hooks.h alone
    "profile": {"profile", "base"},
    "record": {"record", "base"},
    "acl": {"acl", "profile", "record", "base"},  # of record, the settings
    "plan": {"plan", "base"},
    "engine": {"engine", "plan", "acl", "base"},  # of acl, the configuration in force; see ONLY
    "aclnn": {"aclnn", "profile", "record", "engine", "plan", "acl", "base"},  # of engine, the job; see ONLY
    "contract": {"contract", "aclnn", "plan", "acl", "base"},
    "hccl": {"hccl", "profile", "engine", "plan", "aclnn", "acl", "base"},
    "aclop": {"aclop", "profile", "engine", "plan", "aclnn", "acl", "base"},
    "aclnnop": {"aclnnop", "profile", "record", "engine", "plan", "contract", "aclnn", "acl", "base"},
    "atb": {"atb"},  # a client of the public functions
    "graph_engine": {"graph_engine"},  # a library of its own
    "platform": {"platform"},  # likewise
    "info": {"info", "aclnnop", "hccl", "engine", "plan", "contract", "aclnn", "acl", "base"},
}
# All that a folder may include of another one.
ONLY = {("aclnn", "engine"): {"engine/job.h"}, ("engine", "acl"): {"acl/settings/configuration.h"}}
CALLS_OPERATORS = {"aclnnop", "aclop", "atb"}
# What may name operators in texts: also what finds them by the names of an older API, and what tells of them.
NAMES_OPERATORS = CALLS_OPERATORS | {"graph_engine", "info"}
# The rooms of a folder: each may include those before it, and itself. "" is what lies in the folder itself.
ROOMS = {
    "base": ["process", ""],
    "acl": ["", "settings", "queue", "device", "stream", "memory", "graph", "operator", "unsupported", "profiling"],
    "engine": ["", "functions", "sort", "move", "gemm", "map", "reduction", "sequence", "random", "resample", "pool", "rowwise",
               "attention", "recurrent", "linalg", "update", "route", "serve", "quantise", "align"],
}
# What builds jobs for several families of operators, and the only folder of aclnnop that others of it include.
SHARED_BY_FAMILIES = "jobs"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
SEE = re.compile(r"\bsee ([\w/-]+\.h)\b")
HEAD = 4  # lines
DECLARED = re.compile(r"^[ \t]*(?:class|struct) (\w+);", re.MULTILINE)
DEFINED = re.compile(r"^[ \t]*(?:class|struct)(?: \[\[.*?\]\]| alignas\(.*?\))? (\w+)(?: final)?(?: :[^;{]*)? \{", re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{.*?^\}  // namespace$", re.MULTILINE | re.DOTALL)
TEXT = re.compile(r'"(\w+)"')


def room_of(name):
    """The room of a path below src/, such as "settings" for acl/settings/init.cc and "" for acl/last_error.cc."""
    return "/".join(name.split("/")[1:-1])


def unit_of(name):
    return re.sub(r"(-inl)?\.(h|cc)$", "", name)


def is_above(here, name):
    """Whether `name` lies in a room that the file `here` of the same folder must not include; both below src/."""
    folder = here.split("/")[0]
    if folder not in ROOMS or name.split("/")[0] != folder:
        return False
    rooms = ROOMS[folder]
    return room_of(name) not in rooms or rooms.index(room_of(name)) > rooms.index(room_of(here))


def is_of_another_family(here, name):
    """Whether `name` lies in a family of operators that the file `here` must not include; both below src/."""
    if not (here.startswith("aclnnop/") and name.startswith("aclnnop/")):
        return False
    return room_of(name) not in {"", SHARED_BY_FAMILIES, room_of(here)} or (room_of(here) == "" and room_of(name) != "")


def must_not_know(here, name):
    """Whether the file `here` may not include `name`, and so must not know its classes either; both below src/."""
    folder, target = here.split("/")[0], name.split("/")[0]
    return target not in ALLOWED[folder] or is_above(here, name) or is_of_another_family(here, name)


def classes_declared(texts):
    """(file, class, file that defines it) for each class that a file declares and must not know."""
    defined = {}
    for name, text in texts.items():
        for one in DEFINED.findall(UNNAMED.sub("", text)):
            defined.setdefault(one, []).append(name)
    for here, text in texts.items():
        for one in DECLARED.findall(text):
            places = defined.get(one, [])
            if places and all(must_not_know(here, place) for place in places):
                yield here, one, places[0]


def names_of(operators):
    """How a text may name an operator: as its function, or without aclnn, as Slice."""
    functions = {function.name for header in operators for function in header.functions}
    return functions | {name.removeprefix("aclnn") for name in functions}


def circles(uses):
    """The sets of units that reach each other, by Tarjan's algorithm, without recursion."""
    found, number, lowest, path, on_path = [], {}, {}, [], set()
    for start in sorted(uses):
        if start in number:
            continue
        walk = [(start, iter(sorted(uses[start])))]
        number[start] = lowest[start] = len(number)
        path.append(start)
        on_path.add(start)
        while walk:
            unit, rest = walk[-1]
            used = next(rest, None)
            if used is None:
                walk.pop()
                if walk:
                    lowest[walk[-1][0]] = min(lowest[walk[-1][0]], lowest[unit])
                if lowest[unit] == number[unit]:
                    members = set()
                    while unit not in members:
                        members.add(path.pop())
                    on_path -= members
                    if len(members) > 1:
                        found.append(members)
            elif used not in number:
                number[used] = lowest[used] = len(number)
                path.append(used)
                on_path.add(used)
                walk.append((used, iter(sorted(uses.get(used, ())))))
            elif used in on_path:
                lowest[unit] = min(lowest[unit], number[used])
    return found


def faults_of(root):
    faults = []
    uses = {}  # which other units each unit includes
    by_name = {}  # where each file name is
    public = public_functions.headers_of(root)
    operators = schema.read.read(root)
    made = schema.tables.made(root, operators)
    named = names_of(operators)
    texts = {}
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in {".h", ".cc"}:
            continue
        here = path.relative_to(root / "src").as_posix()
        folder = here.split("/")[0]
        if by_name.setdefault(path.name, here) != here:
            faults.append(f"{path}: {by_name[path.name]} has the same name")
        if folder not in ALLOWED:
            faults.append(f"{path}: folder {folder} has no place in the order")
            continue
        if folder in ROOMS and room_of(here) not in ROOMS[folder]:
            faults.append(f"{path}: room {folder}/{room_of(here)} has no place in the order")
            continue
        used = uses.setdefault(unit_of(here), set())
        text = texts[here] = path.read_text()
        if folder not in NAMES_OPERATORS:
            for name in sorted(named.intersection(TEXT.findall(re.sub("//.*", "", text)))):
                faults.append(f"{path}: {folder} must not name the operator {name}")
        for name in SEE.findall("\n".join(text.split("\n")[:HEAD])):
            if not any((beside / name).exists() for beside in (path.parent, root / "src", root / "include")):
                faults.append(f"{path}: its head refers to {name}, which is neither beside it nor in src/ or include/")
        for name in INCLUDE.findall(text):
            target = name.split("/")[0]
            is_internal = (root / "src" / name).exists()
            if not is_internal and name not in public and name not in made:
                faults.append(f"{path}: includes {name}, which is neither in src/ nor in include/")
            elif is_internal and target not in ALLOWED[folder]:
                faults.append(f"{path}: {folder} must not include {name}")
            elif is_internal and name not in ONLY.get((folder, target), {name}):
                faults.append(f"{path}: {folder} includes of {target} {', '.join(sorted(ONLY[folder, target]))} alone, not {name}")
            elif is_internal and is_above(here, name):
                faults.append(f"{path}: room {folder}/{room_of(here)} must not include {name}")
            elif is_internal and is_of_another_family(here, name):
                faults.append(f"{path}: family {room_of(here) or 'aclnnop'} must not include {name}")
            elif not is_internal and (target == "aclnnop" or name in made) and folder not in CALLS_OPERATORS:
                faults.append(f"{path}: {folder} must not know {name}, which tells of operators")
            if is_internal and unit_of(name) != unit_of(here):
                used.add(unit_of(name))
    for here, one, place in classes_declared(texts):
        faults.append(f"{root / 'src' / here}: declares {one}, but must not include {place}, which defines it")
    for members in circles(uses):
        faults.append(f"these depend on each other: {', '.join(sorted(members))}")
    for path, text in public.items():
        for name in INCLUDE.findall(text):
            if (root / "src" / name).exists():
                faults.append(f"{path}: a public header includes {name} from src/")
    return faults


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    faults = faults_of(root)
    print("\n".join(faults) if faults else "layers: in order")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
