#!/usr/bin/env python3
"""Checks that what the pages name is there: pages and anchors of links, files and folders, verbs of ./dev, names of the code.

Usage: check_docs.py [REPOSITORY]

- A link leads to a file, and its anchor to a heading. So does docs/PAGE.md#ANCHOR in a source.
- A path in backticks exists (`src/plan/`, `tests/maps/*.h`), and so does the path of a file between fences. FAMILY, NAME and the like stand for
  any text.
- After ./dev stands a verb that it lists.
- CONTRIBUTING.md names every folder of src/.
- Pages for contributors: a file or folder that is named alone exists (`stream.cc`, `map/`), a name of the code in backticks stands somewhere in
  the sources, and no number of files or folders is typed. What is quoted between ```cpp or ```toml, up to an empty line, stands in one source
  so, but for the indentation.
- Neither pages nor sources refer to a decision by its number alone, which no page explains.
SPDX-License-Identifier: Apache-2.0
"""
import functools
import pathlib
import re
import sys
from collections.abc import Iterator

SOURCES = ("src", "include", "tests", "tools", "python", "bench", "examples", "cmake")
FOLDERS = (*SOURCES, "docs", "licenses", ".ci")
SUFFIXES = (".h", ".cc", ".c", ".cpp", ".py", ".toml", ".txt", ".cmake", ".sh", ".def", ".in", "")
# Pages about what the sources look like. The others name what programs of others have, too.
FOR_CONTRIBUTORS = ("CONTRIBUTING.md", "docs/README.md", "docs/tour.md", "docs/design/*.md", "docs/add_an_operator.md",
                    "docs/operator_kinds.md", "docs/testing.md", "docs/performance_notes.md")
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
PAGE_IN_A_SOURCE = re.compile(r"\bdocs/[\w/]+\.md(?:#[\w-]+)?")
VERB = re.compile(r"(?<![\w/.])\./dev ([a-z][a-z0-9_]*)")
PATH = re.compile(rf"(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./*{{}},+-]*")
FENCED = re.compile(rf"(?<![\w/.*])(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./-]*\.(?:h|cc|c|cpp|py|toml|md)\b")
QUOTED = re.compile(r"^```(?:cpp|toml)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"[\w-]+\.(?:h|cc|py|def|toml|\*)")
ANY = re.compile(r"<\w+>|(?<![A-Za-z])[A-Z]{4,}(?![A-Za-z])")  # in a path
INSTALLED = ("include/aclnnop", "tools/profiler")  # folders of the build and of a prefix
# CamelCase, kConstant and names of the project's own variables: what nothing but this code is called.
NAME = re.compile(r"(?:(?:\w+::)*)([A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+|k[A-Z]\w+|PORTACL_\w+)(?:\(\))?")
COUNTED = re.compile(r"(?<!one in )\b\d[\d,]* (?:source |header )?(?:files|headers|sources|folders|rooms)\b")
DECISION = re.compile(r"\((?:see )?[A-UW-Z]\d{1,2}(?:, [A-Z]\d{1,2})*\)|\b[Dd]ecision [A-Z]\d+")


def slug(heading: str) -> str:
    """The anchor of a heading, as the usual viewers of Markdown make it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


@functools.cache
def anchors(path: pathlib.Path) -> set[str]:
    found: set[str] = set()
    seen: dict[str, int] = {}
    fenced = False
    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        heading = re.match(r"#+ (.*)", line)
        if heading and not fenced:
            name = slug(heading[1])
            found.add(f"{name}-{seen[name]}" if name in seen else name)
            seen[name] = seen.get(name, 0) + 1
    return found


def alternatives(text: str) -> list[str]:
    """The texts that braces stand for: a{b,c} is ab and ac."""
    found = re.search(r"\{([^{}]*)\}", text)
    if not found:
        return [text]
    return [one for part in found[1].split(",") for one in alternatives(text[: found.start()] + part + text[found.end() :])]


class Tree:
    """The files of a repository that pages may name."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.files = [path for folder in FOLDERS for path in (root / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        self.files += [path for path in root.iterdir() if path.is_file()]
        self.names = {path.name for path in self.files}
        self.paths = {path.relative_to(root).as_posix() for path in self.files}
        self.paths |= {parent.as_posix() for path in self.paths for parent in pathlib.PurePosixPath(path).parents}
        self.folders = {pathlib.PurePosixPath(path).name for path in self.paths - {path.relative_to(root).as_posix() for path in self.files}}
        self.verbs = set(re.findall(r"^#: (\w+)", (root / "dev").read_text(encoding="utf-8"), re.MULTILINE)) | {"stages"}

    @functools.cached_property
    def texts(self) -> dict[pathlib.Path, str]:
        sources = [path for path in self.files if path.relative_to(self.root).parts[0] in SOURCES and path.suffix in SUFFIXES]
        return {path: path.read_text(encoding="utf-8", errors="ignore") for path in sources}

    @functools.cached_property
    def words(self) -> set[str]:
        return {word for text in self.texts.values() for word in re.findall(r"\w+", text)}

    @functools.cached_property
    def lines(self) -> str:
        """All sources without indentation."""
        return "\n".join(line.strip() for path, text in self.texts.items() if path.suffix in (".cc", ".h", ".toml") for line in text.split("\n"))

    def has(self, path: str) -> bool:
        patterns = [re.escape(ANY.sub("*", one).rstrip("/")).replace(r"\*", "[^/]*") for one in alternatives(path)]
        return all(pattern in self.paths or any(re.fullmatch(pattern, one) for one in self.paths) for pattern in patterns)

    def has_name(self, name: str) -> bool:
        return name in self.names if "*" not in name else any(one.startswith(name.removesuffix("*")) for one in self.names)


def faults_of_links(page: pathlib.Path, line: str) -> Iterator[str]:
    for target in LINK.findall(line):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            yield f"link to {name}, which is not there"
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            yield f"link to {target}: no heading is called so"


def faults_of_code(tree: Tree, line: str, for_contributors: bool) -> Iterator[str]:
    for text in CODE.findall(line):
        if PATH.fullmatch(text) and not text.startswith(INSTALLED) and not tree.has(text) and not tree.has(f"{text}.*"):
            yield f"`{text}` is not there"
        elif for_contributors and FILE.fullmatch(text) and not tree.has_name(text):
            yield f"no file is called `{text}`"
        elif for_contributors and re.fullmatch(r"[a-z_]+/", text) and text.rstrip("/") not in tree.folders:
            yield f"no folder is called `{text}`"
        name = NAME.fullmatch(text)
        if for_contributors and name and name[1] not in tree.words:
            yield f"`{text}` is the name of nothing in the sources"


def faults_of_quotes(tree: Tree, text: str) -> Iterator[tuple[int, str]]:
    """Line and fault."""
    for block in QUOTED.finditer(text):
        for part in re.finditer(r"(?:.*\S.*\n)+", block[1]):
            quote = "\n".join(line.strip() for line in part[0].splitlines())
            if f"\n{quote}\n" not in tree.lines:
                number = text.count("\n", 0, block.start(1) + part.start()) + 1
                yield number, f"quotes what stands in no source: {quote.splitlines()[0]}"


def faults_of(root: pathlib.Path) -> Iterator[str]:
    tree = Tree(root)
    pages = sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "examples").rglob("*.md")])
    contributors = {path for pattern in FOR_CONTRIBUTORS for path in root.glob(pattern)}
    for page in pages:
        here = page.relative_to(root)
        if here.name == "CHANGELOG.md":
            continue  # says what was
        if page in contributors:
            yield from (f"{here}:{number}: {fault}" for number, fault in faults_of_quotes(tree, page.read_text(encoding="utf-8")))
        fenced = False
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= line.startswith("```")
            found = [f"{path} is not there" for path in FENCED.findall(line) if fenced and not path.startswith(INSTALLED) and not tree.has(path)]
            found += [*faults_of_links(page, line), *faults_of_code(tree, line, page in contributors)]
            found += [f"./dev has no verb {verb}" for verb in VERB.findall(line) if verb not in tree.verbs]
            found += [f"a number that nobody keeps true: {text}" for text in COUNTED.findall(line) if page in contributors]
            found += [f"refers to a decision that no page explains: {text}" for text in DECISION.findall(line)]
            yield from (f"{here}:{number}: {fault}" for fault in found)
    folders = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for folder in sorted(path.name for path in (root / "src").iterdir() if path.is_dir()):
        if f"`src/{folder}/`" not in folders:
            yield f"CONTRIBUTING.md: src/{folder}/ has no row in the table of folders"
    for path, text in tree.texts.items():
        here = path.relative_to(root)
        if here.parts[:2] == ("tests", "tools"):
            continue  # their small trees have pages of their own
        for number, line in enumerate(text.split("\n"), 1):
            for target in PAGE_IN_A_SOURCE.findall(line) if "docs/" in line else ():
                name, _, anchor = target.partition("#")
                if ANY.search(name):
                    continue
                if not (root / name).exists() or (anchor and anchor not in anchors(root / name)):
                    yield f"{here}:{number}: {target} is not there"
            if "(" in line and here.parts[0] in ("src", "include") and re.search(r"//|^#", line):
                yield from (f"{here}:{number}: refers to a decision that no page explains: {found}" for found in DECISION.findall(line))


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    faults = list(faults_of(root))
    print("\n".join(faults) or "pages: what they name is there")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
