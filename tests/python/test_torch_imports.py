"""What happens around the import of torch_npu: with packages of the same names and habits, so that it is tested without a download.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import importlib.util
import pathlib

import pytest
from conftest import THIS, Python

NOTICE = f"{THIS}: no CANN was found, so device npu is this computer's CPU\n"

# Loads back ends at its end, as PyTorch does, and goes on after that.
TORCH = """
import os
from importlib.metadata import entry_points
if os.getenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
    found = entry_points()
    for one in found.select(group="torch.backends") if hasattr(found, "select") else found.get("torch.backends", []):
        one.load()()
print("torch is whole")
is_whole = True
"""

# Loads a library by name, as the dependencies of the extension module are, and stands for the fallback, so that its calls are seen.
TORCH_NPU = """
import ctypes, os, sys, types
before = os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1")
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
import torch
library = ctypes.CDLL("libascendcl.so")
import atexit
atexit.register(print, "torch_npu has ended")
print("torch_npu: aclInit returned", library.aclInit(None))

def install():
    import torch
    print("fallback installed, counting" if os.environ.get("PORTACL_REPORT") else "fallback installed", torch.is_whole)

fallback = types.ModuleType("portacl.torch")
fallback.install, fallback.report = install, lambda: "THE TABLE\\n"
sys.modules["portacl.torch"] = fallback

def _autoload():
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = before
_autoload()
"""

WITHOUT_PYTORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="this Python has PyTorch")

BY_TORCH = "torch_npu: aclInit returned {}\ntorch is whole\nfallback installed{} True\n"
BY_TORCH_NPU = "torch is whole\ntorch_npu: aclInit returned {}\nfallback installed{} True\n"
END = "torch_npu has ended\n"
WHOLE = BY_TORCH.format(0, "") + END


def write_packages(python: Python, version: str = "2.13.0") -> None:
    python.write("packages/torch/__init__.py", TORCH)
    python.write("packages/torch_npu/__init__.py", TORCH_NPU)
    facts = f"packages/torch_npu-{version}.dist-info"
    python.write(f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: torch_npu\nVersion: {version}\n")
    python.write(f"{facts}/entry_points.txt", "[torch.backends]\ntorch_npu = torch_npu:_autoload\n")


@pytest.fixture(scope="session", autouse=True)
def no_trace_of_cann() -> None:
    traces = [place for place in ("/usr/local/Ascend", str(pathlib.Path.home() / "Ascend")) if pathlib.Path(place).exists()]
    if traces:
        pytest.skip(f"CANN seems to be installed here: {traces[0]}")


@pytest.fixture
def packages(python: Python) -> dict[str, str]:
    write_packages(python)
    return {"PYTHONPATH": str(python.folder / "packages")}


@pytest.mark.parametrize(("code", "output"), [("import torch", BY_TORCH), ("import torch_npu, torch", BY_TORCH_NPU)])
def test_in_every_way_of_starting(python: Python, packages: dict[str, str], code: str, output: str) -> None:
    script = python.write("script.py", f"if __name__ == '__main__':\n    {code}\n")
    whole = output.format(0, "") + END
    assert python.prints("-m", "portacl", script, **packages) == whole
    imports = python.write("imports.py", f"import portacl\n{code}\n")
    assert python.prints(imports, **packages) == whole
    plain = python(script, **packages)
    assert (plain.returncode, plain.stdout, plain.stderr) == (0, whole, NOTICE)


def test_children(python: Python, packages: dict[str, str]) -> None:
    text = """
import multiprocessing, subprocess, sys

def work(_):
    import torch

if __name__ == "__main__":
    import torch
    sys.stdout.flush()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    process = multiprocessing.get_context("spawn").Process(target=work, args=(0,))
    process.start()
    process.join()
"""
    script = python.write("script.py", text)
    expected = sorted((BY_TORCH.format(0, "") * 3 + END * 3).splitlines())
    assert sorted(python.prints("-m", "portacl", script, **packages).splitlines()) == expected
    plain = python(script, **packages)
    assert sorted(plain.stdout.splitlines()) == expected
    assert plain.stderr == NOTICE  # once, by the first


def test_back_ends_that_are_not_loaded(python: Python, packages: dict[str, str]) -> None:
    found = python.prints("-m", "portacl", "-c", "import torch", TORCH_DEVICE_BACKEND_AUTOLOAD="0", **packages)
    assert found == "torch is whole\n"
    code = "import torch; import torch_npu"
    found = python.prints("-m", "portacl", "-c", code, TORCH_DEVICE_BACKEND_AUTOLOAD="0", **packages)
    assert found == BY_TORCH_NPU.format(0, "") + END


def test_looking_for_torch_is_no_import(python: Python, packages: dict[str, str]) -> None:
    code = "import importlib.util, os; print(importlib.util.find_spec('torch_npu').name, os.environ.get('ASCEND_HOME_PATH'))"
    assert python.prints("-c", code, **packages) == "torch_npu None\n"


def test_the_loader_stays_what_it_is(python: Python, packages: dict[str, str]) -> None:
    code = "import inspect, torch; print(type(torch.__loader__).__name__, inspect.getsource(torch).count('torch.backends'))"
    assert python.prints("-m", "portacl", "-c", code, **packages) == BY_TORCH.format(0, "") + "SourceFileLoader 2\n" + END


@WITHOUT_PYTORCH
def test_torch_alone(python: Python, packages: dict[str, str]) -> None:
    for path in (python.folder / "packages").glob("torch_npu*/*"):
        path.unlink()
    for path in (python.folder / "packages").glob("torch_npu*"):
        path.rmdir()
    assert python.prints("-c", "import torch", **packages) == "torch is whole\n"
    assert python.prints("-m", "portacl", "-c", "import torch", **packages) == "torch is whole\n"
    reported = python("-m", "portacl", "--report", "-c", "import torch", **packages)
    sentence = f"portacl: --report is about PyTorch on device npu, and {python.executable} has no torch_npu\n"
    assert (reported.returncode, reported.stderr) == (1, sentence)


@WITHOUT_PYTORCH
def test_python_without_torch(python: Python) -> None:
    assert python.prints("-m", "portacl", "-c", "print(1)") == "1\n"
    reported = python("-m", "portacl", "--report", "-c", "print(1)")
    sentence = f"portacl: --report is about PyTorch on device npu, and {python.executable} has no torch\n"
    assert (reported.returncode, reported.stdout, reported.stderr) == (1, "", sentence)


def test_version_that_is_not_tested(python: Python) -> None:
    write_packages(python, "2.14.1")
    for arguments in (["-m", "portacl", "-c", "import torch"], ["-c", "import portacl, torch"]):
        found = python(*arguments, PYTHONPATH=str(python.folder / "packages"))
        assert (found.returncode, found.stdout) == (0, WHOLE)
        tested = "2.10.0.post4, 2.13.0, 2.14.0"
        sentence = f"RuntimeWarning: torch_npu 2.14.1 is not one that portacl is tested with ({tested}); the table of 2.14.0 is used; "
        sentence += f"{THIS.split(' in ')[0].replace(' ', ' is ')}\n"
        assert sentence in found.stderr and found.stderr.count("Warning") == 1


@pytest.mark.parametrize(
    ("end", "code", "error"),
    [("", 0, ""), ("sys.exit(3)", 3, ""), ("raise ValueError('here')", 1, "ValueError: here\n"), ("sys.exit('why')", 1, "why\n")],
)
def test_report(python: Python, packages: dict[str, str], end: str, code: int, error: str) -> None:
    script = python.write("script.py", f"import sys, torch\n{end}\n")
    found = python("-m", "portacl", "--report", script, **packages)
    assert (found.returncode, found.stdout) == (code, BY_TORCH.format(0, ", counting") + END)
    assert found.stderr.endswith(error + "THE TABLE\n") and found.stderr.count("THE TABLE") == 1


def test_report_comes_before_the_end_of_torch_npu(python: Python, packages: dict[str, str]) -> None:
    code = "import os; os.dup2(1, 2); import torch"
    assert python("-m", "portacl", "--report", "-c", code, **packages).stdout.endswith("THE TABLE\n" + END)


def test_report_is_of_one_process(python: Python, packages: dict[str, str]) -> None:
    text = "import os, subprocess, sys, torch\nsubprocess.run([sys.executable, '-c', 'import torch'])\nif os.fork() == 0: sys.exit()\nos.wait()\n"
    found = python("-m", "portacl", "--report", python.write("script.py", text), **packages)
    assert found.stderr.count("THE TABLE") == 1


def test_report_without_torch_npu(python: Python, packages: dict[str, str]) -> None:
    found = python("-m", "portacl", "--report", "-c", "print(1)", **packages)
    assert (found.stdout, found.stderr) == ("1\n", "portacl: nothing to report: torch_npu was not imported\n")


def test_plain_start_stays_out_where_a_cann_may_be(python: Python, packages: dict[str, str], other_cann: pathlib.Path) -> None:
    """A plain start never takes the place of a CANN, nor of one that is only half set up."""
    script = python.write("script.py", "import torch\n")
    # A CANN in force is used, and no fallback installed.
    cann = BY_TORCH.format(12345, "").replace("fallback installed True\n", "") + END
    libraries = {"LD_LIBRARY_PATH": f"{other_cann}/lib64"}
    for named in ({"ASCEND_HOME_PATH": str(other_cann)}, {"ASCEND_TOOLKIT_HOME": str(other_cann)}, {}):
        assert python.prints(script, **packages, **libraries, **named) == cann
    assert python.prints(script, **packages, LD_PRELOAD=f"{other_cann}/lib64/libascendcl.so") == cann
    # One that is not in force: as without portacl, and a sentence why.
    (python.folder / "home" / "Ascend").mkdir(parents=True)
    for reason, environment in (
        ("ASCEND_HOME_PATH is /nonexistent", {"ASCEND_HOME_PATH": "/nonexistent"}),
        ("ASCEND_OPP_PATH is /x/opp", {"ASCEND_OPP_PATH": "/x/opp"}),
        ("PORTACL_AUTOSTART is 0", {"PORTACL_AUTOSTART": "0"}),
        (f"there is {python.folder}/home/Ascend", {"HOME": f"{python.folder}/home"}),
    ):
        found = python(script, **packages, **environment)
        assert found.returncode == 1 and found.stderr.count("OSError: libascendcl.so: cannot open shared object file") == 1
        sentence = f"portacl is installed but was not used, because {reason}; see python -m portacl --help\n"
        assert sentence in found.stderr


def test_devices_are_traces_of_cann(python: Python, packages: dict[str, str]) -> None:
    """The folders and devices cannot be made here, so they are exchanged for others."""
    python.write("davinci0", "")
    code = f"""
from portacl_start import environment
assert set(environment.TRACES_OF_CANN) == {{"/usr/local/Ascend", "~/Ascend", "/dev/davinci*"}}
environment.TRACES_OF_CANN = ({str(python.folder / "davinci*")!r},)
print(environment.reason_to_stay_out())
"""
    assert python.prints("-c", code, **packages) == f"there is {python.folder}/davinci0\n"


def test_another_portacl_gets_the_fallback(python: Python, packages: dict[str, str], other_portacl: pathlib.Path) -> None:
    named = {
        "ASCEND_HOME_PATH": str(other_portacl),
        "ASCEND_OPP_PATH": f"{other_portacl}/opp",
        "LD_LIBRARY_PATH": f"{other_portacl}/lib64",
    }
    assert python.prints("-c", "import torch", **packages, **named) == WHOLE


def test_start_without_torch_reads_nothing_else(python: Python) -> None:
    code = "import sys; print(sorted(name for name in sys.modules if 'portacl' in name))"
    assert python.prints("-c", code) == "['portacl_start']\n"
