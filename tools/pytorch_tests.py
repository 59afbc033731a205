"""Which tests of PyTorch on portacl a change reaches, and which of the others a seed draws. tools/chosen.py asks, tests/conftest.py draws.

A test runs if what it is made of changed: its file, a file that this imports or starts, the part of the package that these import. A change in
src/ reaches the tests that name a function of PyTorch or of CANN that it is about; one that is about no function reaches them all.
SPDX-License-Identifier: Apache-2.0
"""
from __future__ import annotations

import ast
import functools
import hashlib
import json
import pathlib
import re
from collections.abc import Iterable, Iterator
from typing import Any

FOLDERS = ("tests/pytorch_npu", "tests/recording", "tests/comparison")
STARTING = "tests/python/test_pytorch.py"
STATE = ("python", *FOLDERS, "tests/python", "examples", "tools/torch_npu_table")
OF_TESTS = ("tests", "tools", "docs", "examples")
PAGE = "docs/pytorch.md"
ROWS = "rows:own"  # the operators of PAGE that are own, whose samples run
OF_ROWS = re.compile(r"tests/pytorch_npu/(opinfo\.py|samples\.py|worker\.py|opinfo_reasons\.toml)$|python/portacl/torch/|tools/torch_npu_table/")
TABLES = "python/portacl/torch/operators-*.json"
ONE_IN = 5
CORE = re.compile(r"python/(portacl/[^/]+|portacl_start/.*|portacl_start\.pth)$|tests/[^/]+\.py$")
# What tests of a part of the library say, whole files of which a change of the part reaches.
WORDS_OF_PARTS = {
    "src/hccl/": "hccl|torchrun",
    "src/record/": "(?i)record",
    "src/sanitizer/": "PORTACL_CHECK",
    "src/profile/": "(?i)profil",
    "src/acl/profiling/": "(?i)profil",
    "src/acl/graph/": "(?i)graph",
    "src/atb/": r"(?i)\batb|\b_npu_",
}
IMPORTED = re.compile(r"^\s*(?:from\s+(?P<package>[\w.]+)\s+)?import\s+(?P<names>\([^)]*\)|[^#\n;\\\"']+)", re.MULTILINE)
QUOTED = re.compile(r"[\"'](?P<path>[\w.\-/]+)[\"'](?P<more>(?:\s*/\s*[\"'][\w.\-/]+[\"'])*)")


def texts_in(root: pathlib.Path, folder: str) -> dict[str, pathlib.Path]:
    """The files below the folder, by path."""
    files = (path for path in sorted((root / folder).rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(root).as_posix(): path for path in files}


def tests(root: pathlib.Path) -> list[str]:
    return [path for folder in FOLDERS for path in texts_in(root, folder) if re.search(r"/test_\w+\.py$", path)] + [STARTING]


def own_rows(root: pathlib.Path) -> list[str]:
    """The operators of PyTorch's samples that the page calls own."""
    return sorted(re.findall(r"^\| (\S+) \| own \|", (root / PAGE).read_text(encoding="utf-8"), re.MULTILINE))


def state_of(root: pathlib.Path) -> dict[str, bytes]:
    """What the tests are made of: texts by path, of whole folders, and of what tests read elsewhere."""
    paths = {path for folder in STATE for path in texts_in(root, folder)} | {path.relative_to(root).as_posix() for path in root.glob("tests/*.py")}
    for test in tests(root):
        paths |= files_of(test, root)
    return {path: (root / path).read_bytes() for path in sorted(paths)} | {ROWS: "\n".join(own_rows(root)).encode()}


@functools.cache
def _text(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def _named(text: str) -> tuple[set[str], set[str]]:
    """The words behind "from" and "import", with the dots of packages, and the quoted words and paths, joined by slashes where Python joins them."""
    imported = set()
    for match in IMPORTED.finditer(text):
        names = re.findall(r"\w[\w.]*", re.sub(r"\bas\s+\w+", "", match["names"]))
        package = match["package"] or ""
        imported |= {package, *names, *(f"{package}.{name}" for name in names if package)} - {""}
    quoted = {"/".join([match["path"], *re.findall(r"[\w.\-/]+", match["more"].replace(" / ", " "))]) for match in QUOTED.finditer(text)}
    return imported, quoted


@functools.cache
def files_of(test: str, root: pathlib.Path) -> frozenset[str]:
    """The file, its conftest.py, and what these import or name, and so on: by its stem or its name, from their folders or folders that they name."""
    start = root / test
    files = {path for path in (start, start.with_name("conftest.py")) if path.is_file()}
    places, imported, quoted = set(), set(), set()
    todo = set(files)
    while todo:
        for path in todo:
            words, names = _named(_text(path)) if path.suffix == ".py" else (set(), set())
            imported |= {part for word in words for part in word.split(".")}
            quoted |= names
            places.add(path.parent)
            above = [folder for folder in path.parents if folder.is_relative_to(root)]
            places |= {folder / name for name in names | words for folder in above if (folder / name).is_dir()}
        places -= {root, root / "tests"}
        last = {name.rpartition("/")[2] for name in quoted}
        found = {path for place in places for path in place.iterdir()
                 if path.is_file() and (path.name in last or path.suffix == ".py" and path.stem in imported | last)}
        found |= {root / name for name in quoted if (root / name).is_file()}
        todo = {path for path in found if path.is_relative_to(root) and path.relative_to(root).parts[0] in OF_TESTS} - files
        files |= todo
    return frozenset(path.relative_to(root).as_posix() for path in files)


def _module(name: str, root: pathlib.Path) -> str | None:
    for path in (root / "python" / name.replace(".", "/") / "__init__.py", root / "python" / f"{name.replace('.', '/')}.py"):
        if path.is_file():
            return path.relative_to(root).as_posix()
    return None


@functools.cache
def _imports(path: str, root: pathlib.Path) -> frozenset[str]:
    """The modules of the package that a module of it imports, wherever it does; what it names to import it later, too."""
    package = path.removeprefix("python/").split("/")[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(_text(root / path))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join([*package[:len(package) - node.level + 1], *([node.module] if node.module else [])]) if node.level else node.module or ""
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(r"(portacl|acl|msprof)(\.\w+)+", node.value):
            names.add(node.value)
    return frozenset(filter(None, (_module(name, root) for name in names)))


@functools.cache
def modules_of(files: frozenset[str], root: pathlib.Path) -> set[str]:
    """The parts of the package that the files name, and what these import; what is common to all parts is followed no further."""
    texts = [_text(root / path) for path in files if path.endswith(".py")]
    names = {name for text in texts for name in re.findall(r"\b(?:portacl|portacl_start|acl|msprof)(?:\.\w+)*", text)}
    names |= {word for text in texts for word in _named(text)[0] if word.startswith("portacl")}
    prefixes = {".".join(name.split(".")[:count]) for name in names for count in range(1, name.count(".") + 2)}
    todo, found = {module for module in (_module(name, root) for name in prefixes) if module}, set()
    while todo:
        path = todo.pop()
        found.add(path)
        if not CORE.match(path):
            todo |= _imports(path, root) - found
    return found


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def files_reached(changed: set[str], root: pathlib.Path) -> dict[str, str]:
    """The files of tests that run whole, and what of them changed."""
    files_by_test = {test: files_of(test, root) for test in tests(root)}
    modules_by_test = {test: modules_of(files, root) for test, files in files_by_test.items()}
    # Data, and what is started by its name, belongs to those that import something of its folder.
    unnamed = {path for path in changed if path.startswith("python/")}.difference(*modules_by_test.values())
    found = {}
    for test, files in files_by_test.items():
        folders = {_folder(path) for path in modules_by_test[test] if not CORE.match(path)}
        why = changed & (files | modules_by_test[test]) or {path for path in unnamed if _folder(path) in folders}
        said = [part for part, words in WORDS_OF_PARTS.items()
                if any(path.startswith(part) for path in changed) and any(re.search(words, _text(root / path)) for path in files)]
        if why or said:
            found[test] = sorted(why)[0] if why else said[0]
    return found


@functools.cache
def name_of(word: str) -> str:
    """The name without what tells forms of one function apart: "aclnnInplaceAdd", "aten::add_.Tensor" and "add" are one."""
    word = re.sub(r"^(aten|npu)::", "", word).partition(".")[0].lower().strip("_")
    word = re.sub(r"^aclnn(inplace)?", "", word)
    word = re.sub(r"^(npu|native|functional)_", "", word).replace("_", "")
    return re.sub(r"(v\d+|backward|grad)+$", "", word) or word


def names_reached(functions: set[str], table: dict[str, Any]) -> set[str]:
    """The names, as name_of() gives them, of functions of CANN and of PyTorch's functions that need one of them."""
    needs: dict[str, set[str]] = {}
    for found in (table["operators"], table["gradients"], *table["products"].values()):
        for operator, text in found.items():
            needs.setdefault(operator.partition("::")[2], set()).update(re.split(r"[ |]", text or ""))
    reached: set[str] = set()
    wanted = {name.removeprefix("aclnn") for name in functions}
    while True:
        more = {operator for operator, words in needs.items() if operator not in reached and not words.isdisjoint(wanted)}
        if not more:
            return {name_of(name) for name in functions | reached} - {""}
        reached |= more
        wanted |= {f"{space}::{operator}" for operator in more for space in ("aten", "npu")}


def _words(text: str) -> frozenset[str]:
    return frozenset(map(name_of, re.findall(r"[A-Za-z_]\w*", text)))


def _definitions(body: list[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield (alias.asname or alias.name).partition(".")[0], node
        else:
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    yield inner.id, node


def texts_of_tests(test: str, root: pathlib.Path) -> dict[str, str]:
    """By test, "test_it" or "TestThem::test_it", its text with that of whatever it names in its file, its conftest.py and files of its own."""
    sources = [root / test, (root / test).with_name("conftest.py")]
    trees = [(path, ast.parse(_text(path))) for path in sources if path.is_file()]
    places: dict[str, list[str]] = {}
    for path, tree in trees:
        for name, node in _definitions(tree.body):
            places.setdefault(name, []).append(ast.get_source_segment(_text(path), node, padded=True) or "")
            decorators = getattr(node, "decorator_list", [])
            places[name] += [ast.get_source_segment(_text(path), one) or "" for one in decorators]
    own_files = {path.relative_to(root).as_posix() for path in sources}
    others = {pathlib.PurePath(path).stem: _text(root / path) for path in files_of(test, root) - own_files if path.endswith(".py")}

    def whole(parts: list[str]) -> str:
        seen: set[str] = set()
        todo = list(parts)
        collected = []
        while todo:
            text = todo.pop()
            collected.append(text)
            for word in set(re.findall(r"\w+", text)) - seen:
                seen.add(word)
                todo += places.get(word, ()) if not word.startswith(("test_", "Test")) else ()
                todo += [others[word]] if word in others else []
        return "\n".join(collected)

    found = {}
    for node in trees[0][1].body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        shared = [ast.get_source_segment(_text(sources[0]), one) or "" for one in members if not getattr(one, "name", "").startswith("test_")]
        for member in members:
            if getattr(member, "name", "").startswith("test_"):
                prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
                own = [ast.get_source_segment(_text(sources[0]), one) or "" for one in (member, *member.decorator_list)]
                found[prefix + member.name] = whole([*own, *(shared if prefix else [])])
    return found


def choose(root: pathlib.Path, changed: set[str], everything: str, functions: set[str], seed: str) -> dict[str, Any]:
    """What runs: "everything", because of a path, or files of tests and single tests of others; of PyTorch's samples, rows and drawn rows."""
    tables = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(root.glob(TABLES))]
    names = names_reached(functions, next(table for table in tables if "base" not in table)) if functions else set()
    everything = everything or next((path for path in sorted(changed) if CORE.match(path)), "")
    files = files_reached(changed, root)
    reached = {}
    for test in tests(root) if names else ():
        if test not in files:
            reached[test] = [name for name, text in texts_of_tests(test, root).items() if not names.isdisjoint(_words(text))]
    of_rows = bool(everything) or any(path == ROWS or OF_ROWS.match(path) for path in changed)
    rows = [name for name in own_rows(root) if of_rows or not names.isdisjoint((name_of(name), name_of(name.rpartition(".")[2])))]
    return {"seed": seed, "everything": everything, "files": files, "tests": {test: own for test, own in reached.items() if own},
            "rows": rows, "drawn_rows": sorted(drawn(set(own_rows(root)) - set(rows), seed))}


def is_reached(choice: dict[str, Any], test: str) -> bool:
    """Whether a change reaches a test, "FILE::TestThem::test_it[how]"."""
    file, _, name = test.partition("::")
    return bool(choice["everything"]) or file in choice["files"] or name.partition("[")[0] in choice["tests"].get(file, ())


def drawn(names: Iterable[str], seed: str) -> set[str]:
    """One in ONE_IN of the names, and one at least."""
    ordered = sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())
    return set(ordered[:-(-len(ordered) // ONE_IN)])


def drawn_by_file(choice: dict[str, Any], names: Iterable[str]) -> set[str]:
    """Those of the tests that the seed draws: of each file one in ONE_IN that no change reaches."""
    by_file: dict[str, list[str]] = {}
    for name in names:
        if not is_reached(choice, name):
            by_file.setdefault(name.partition("::")[0], []).append(name)
    return {name for own in by_file.values() for name in drawn(own, choice["seed"])}
