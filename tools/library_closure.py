#!/usr/bin/env python3
"""Copies a shared library and all that it needs, but for the C and C++ runtimes, which every system has, into a folder, under the names
by which they are needed; prints the copies, one a line.

usage: library_closure.py LIBRARY FOLDER

What Debian's packages say of the licences, where the libraries are of such, is copied to FOLDER/licenses/LIBRARY.txt, with the texts that it
refers to.
SPDX-License-Identifier: Apache-2.0
"""

import pathlib
import re
import shutil
import subprocess
import sys

RUNTIME = re.compile(r"(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+|ld-linux[\w-]*|linux-vdso)\.so\.\d+")


def output_of(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def name_of(library: pathlib.Path) -> str:
    """The name by which a library is needed: its soname."""
    match = re.search(r"\(SONAME\).*\[(.+)\]", output_of("readelf", "-d", str(library)))
    return match.group(1) if match else library.name


def needed_by(library: pathlib.Path) -> dict[str, pathlib.Path]:
    """Name: file, of all that the loader would load with the library."""
    found = {}
    for name, file in re.findall(r"^\s*(\S+) => (\S+)", output_of("ldd", str(library)), re.MULTILINE):
        if file == "not":
            raise ValueError(f"it needs {name}, which is not found")
        if not RUNTIME.fullmatch(name):
            found[name] = pathlib.Path(file)
    return found


def licence_of(library: pathlib.Path) -> pathlib.Path | None:
    """What Debian's packages keep beside the library."""
    if shutil.which("dpkg-query") is None:
        return None
    real = str(library.resolve())
    for path in (real, real.removeprefix("/usr"), f"/usr{real}"):
        owner = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True)
        if owner.returncode == 0:
            file = pathlib.Path("/usr/share/doc") / owner.stdout.split(":")[0] / "copyright"
            return file if file.is_file() else None
    return None


def main() -> None:
    library, folder = map(pathlib.Path, sys.argv[1:3])
    try:
        files = {name_of(library): library} | needed_by(library)
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        sys.exit(f"{library}: {error}")
    (folder / "licenses").mkdir(parents=True, exist_ok=True)
    for name, file in sorted(files.items()):
        (folder / name).unlink(missing_ok=True)  # never rewritten under who has loaded it
        shutil.copy(file.resolve(), folder / name)
        print(folder / name)
        licence = licence_of(file)
        if licence is not None:
            shutil.copy(licence, folder / "licenses" / f"{name}.txt")
            for whole in re.findall(r"/usr/share/common-licenses/[\w.-]*\w", licence.read_text(encoding="utf-8", errors="replace")):
                if pathlib.Path(whole).is_file():
                    shutil.copy(whole, folder / "licenses" / f"{pathlib.Path(whole).name}.txt")


if __name__ == "__main__":
    main()
