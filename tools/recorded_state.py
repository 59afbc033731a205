"""What the sources were when something was last found right: a hash of each text, in a list that is committed.

A text is known by its hash wherever it lies. Of an include only the file's own name counts, so that a file that moves makes
neither itself nor what includes it new. Comments and layout do not count either, but for comments that silence a check.
SPDX-License-Identifier: Apache-2.0
"""
import functools
import hashlib
import pathlib
import re
import subprocess

INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]+"(?:[^"\n]*/)?([^"/\n]+)"[ \t]*\n?', re.MULTILINE)

# A literal, which is kept as it is; or white space and comments up to the end of a line, but for the space between two words, which stays.
TOKEN = re.compile(
    rb'(?P<literal>R"\((?s:.*?)\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')|(?P<layout>(?!(?<=\w) \w)(?:\s|//(?!.*NOLINT).*)+)')
WORD = re.compile(rb"\w")


def code_of(text: bytes) -> bytes:
    """The text without comments, and with white space only where it parts two words."""
    def kept(match: re.Match[bytes]) -> bytes:
        if match["literal"]:
            return match["literal"]
        before, behind = text[max(match.start() - 1, 0):match.start()], text[match.end():match.end() + 1]
        return b" " if WORD.match(before) and WORD.match(behind) else b""

    return TOKEN.sub(kept, text)


def hash_of(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def hash_of_source(text: bytes) -> str:
    names = sorted(INCLUDE.findall(text))
    return hashlib.sha256(b"\n".join([*names, code_of(INCLUDE.sub(b"", text))])).hexdigest()[:16]


def sources_of(root: pathlib.Path, folder: str = "src") -> dict[str, str]:
    """Path: hash, of what lies in src/, or in another folder. In the order of paths."""
    files = sorted([*root.glob(f"{folder}/**/*.cc"), *root.glob(f"{folder}/**/*.h")])
    return {file.relative_to(root).as_posix(): hash_of_source(file.read_bytes()) for file in files}


def read_list(file: pathlib.Path) -> dict[str, str]:
    if not file.exists():
        return {}
    lines = (line.split() for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {path: digest for digest, path in lines}


def write_list(file: pathlib.Path, head: str, state: dict[str, str]) -> None:
    lines = (f"{digest} {path}\n" for path, digest in sorted(state.items()))
    file.write_text(f"# {head}\n" + "".join(lines), encoding="utf-8")


def changed_since(known: dict[str, str], state: dict[str, str]) -> set[str]:
    hashes = set(known.values())
    return {path for path, digest in state.items() if digest not in hashes}


def headers_by_source(deps: str, root: pathlib.Path, build: pathlib.Path) -> dict[str, set[str]]:
    """What `ninja -t deps` prints, as: source in src/, the headers in src/ that it includes; paths relative to `root`."""
    @functools.cache  # a header is named by hundreds of sources
    def below_root(line: str) -> str:
        path = (build / line).resolve()
        return path.relative_to(root).as_posix() if path.is_relative_to(root / "src") else ""

    found: dict[str, set[str]] = {}
    for block in re.split(r"\n\n", deps):
        inside = [path for line in block.splitlines()[1:] if (path := below_root(line.strip()))]
        sources = [path for path in inside if path.endswith(".cc")]
        if sources:
            found.setdefault(sources[0], set()).update(path for path in inside if path.endswith(".h"))
    return found


def includes_of(root: pathlib.Path, build: pathlib.Path) -> dict[str, set[str]]:
    """The same, of a finished build."""
    cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
    ninja = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.+)$", cache, re.MULTILINE).group(1)
    deps = subprocess.run([ninja, "-C", str(build), "-t", "deps"], capture_output=True, text=True, check=True).stdout
    return headers_by_source(deps, root, build)
