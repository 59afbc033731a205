#!/usr/bin/env python3
"""Makes the environment of `./dev serve`: a Python on top of that of `./dev torch_npu`, with what vllm and vllm-ascend import, and each
pair of their versions in a folder of its own. Run with the Python of `./dev torch_npu`; what is there already stays.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent
TRITON = "triton-ascend==3.2.0"
OF_THE_PACKAGE_INDEX = ("torch", "torch_npu")  # which the environment below has, so that no package brings another one


def _site(python: Path) -> Path:
    found = subprocess.run(
        [python, "-I", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], capture_output=True, text=True, check=True
    )
    return Path(found.stdout.strip())


def _pip(python: Path, *arguments: str) -> None:
    subprocess.run([python, "-m", "pip", "install", "--quiet", *arguments], check=True)


def make(place: Path, wheel: Path, pairs: list[str]) -> None:
    python = place / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
    site = _site(python)
    if site.resolve() != Path(sysconfig.get_paths()["purelib"]).resolve():
        (site / "pytorch.pth").write_text(sysconfig.get_paths()["purelib"] + "\n", encoding="utf-8")
    done = site / "portacl_serve.txt"
    wanted = (HERE / "requirements.txt").read_text(encoding="utf-8") + TRITON
    if not done.exists() or done.read_text(encoding="utf-8") != wanted:
        from importlib.metadata import version

        held = [f"{name}=={version(name).partition('+')[0]}" for name in OF_THE_PACKAGE_INDEX]
        _pip(python, *held, "-r", str(HERE / "requirements.txt"))
        # A package brings the other triton, whose files would lie among those of triton-ascend.
        subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "triton"], check=True)
        _pip(python, "--no-deps", "--force-reinstall", TRITON)
        done.write_text(wanted, encoding="utf-8")
    for pair in pairs:
        folder = place / f"vllm-{pair}"
        if not (folder / "vllm").exists() or not (folder / "vllm_ascend").exists():
            _pip(python, "--no-deps", "--target", str(folder), *_found(place / "wheels", pair))
    _pip(python, "--ignore-installed", "--no-index", "--no-deps", str(wheel))


def _found(wheels: Path, version: str) -> list[str]:
    """Wheels that were downloaded before, or what pip is asked for; a pair is named after vllm-ascend, whose 0.26.0rc1 is for vllm 0.26.0."""
    asked = []
    for name, wanted in (("vllm", version.partition("rc")[0]), ("vllm_ascend", version)):
        files = sorted(wheels.glob(f"{name}-{wanted}-*.whl"))
        asked.append(str(files[0]) if files else f"{name.replace('_', '-')}=={wanted}")
    return asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("place", type=Path, help="the folder of the environment; wheels in its folder wheels/ are used")
    parser.add_argument("--wheel", type=Path, required=True, help="portacl's")
    parser.add_argument("pairs", nargs="+", help="versions of vllm and vllm-ascend")
    options = parser.parse_args()
    make(options.place.resolve(), options.wheel, options.pairs)


if __name__ == "__main__":
    main()
