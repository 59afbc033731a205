"""`python -m portacl`: whatever it starts runs exactly as Python itself would have run it, on portacl.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
import pathlib
import pty
import signal
import subprocess
import time
from typing import Any

import pytest
from conftest import HERE, TIME_LIMIT, TOOLKIT, Python, clean_environment

TELLS_ALL = """
'''A docstring.'''
import re, signal, sys
import __main__
hidden = ["__builtins__", "__loader__", "__cached__", "__main__", "re", "signal", "sys"]
print({name: re.sub(" at 0x[0-9a-f]*", "", str(value)) for name, value in vars(__main__).items() if name not in hidden})
print(sys.argv, sys.path, sys.flags, sys.warnoptions, sys._xoptions, sys.executable, sys.stdin.read())
print([signal.getsignal(number) for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)])
print("to standard error", file=sys.stderr)
"""

# Name of the case: the options of Python, and what stands behind them.
SAME = {
    "arguments": ([], ["tells_all.py", "a b", "--report", "-m", "portacl"]),
    "path": ([], ["./folder/../tells_all.py"]),
    "module": ([], ["-m", "tells_all", "1"]),
    "package": ([], ["-m", "folder", "1"]),
    "code": ([], ["-c", "import sys; print(sys.argv, sys.path)", "1"]),
    "standard input": ([], ["-", "1"]),
    "folder": ([], ["folder"]),
    "exit code": ([], ["-c", "import sys; sys.exit(7)"]),
    "exit message": ([], ["-c", "import sys; sys.exit('a sentence')"]),
    "traceback": ([], ["raises.py"]),
    "syntax error": ([], ["wrong.py"]),
    "no such script": ([], ["absent.py"]),
    "no such module": ([], ["-m", "absent"]),
    "killed": ([], ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"]),
    "interrupted": ([], ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('unreachable')"]),
    "ended hard": ([], ["-c", "import os; os._exit(9)"]),
    "optimised": (["-OO"], ["tells_all.py"]),
    "options with values": (["-X", "utf8", "-W", "error::UserWarning", "-X", "dev"], ["tells_all.py"]),
    "options in one word": (["-Bsu"], ["tells_all.py"]),
    "isolated": (["-I"], ["tells_all.py"]),
    "options behind": ([], ["-u", "-O", "tells_all.py", "x"]),
}


@pytest.fixture
def programs(python: Python) -> Python:
    python.write("tells_all.py", TELLS_ALL)
    python.write("folder/__init__.py", "")
    python.write("folder/__main__.py", TELLS_ALL)
    python.write("wrong.py", "x = = 1\n")
    python.write("raises.py", "def inner():\n    raise KeyError('here')\n\n\ninner()\n")
    return python


@pytest.mark.parametrize("case", SAME)
def test_runs_as_python_itself_would(programs: Python, case: str) -> None:
    options, rest = SAME[case]
    text = "import sys; print('from standard input', sys.argv)"
    expected = programs(*options, *rest, input=text)
    found = programs(*options, "-m", "portacl", *rest, input=text)
    assert (found.returncode, found.stdout, found.stderr) == (expected.returncode, expected.stdout, expected.stderr)


def test_options_joined_with_the_module(programs: Python) -> None:
    for spelling in (["-um", "portacl"], ["-umportacl"], ["-u", "-mportacl"]):
        assert programs(*spelling, "tells_all.py").stdout == programs("-u", "tells_all.py").stdout


def test_isolated_python_has_portacl_in_force(python: Python) -> None:
    assert "-1.0" in python.prints("-I", "-m", "portacl", HERE / "one_operator.py")


def test_one_operator(python: Python) -> None:
    assert python.prints("-m", "portacl", HERE / "one_operator.py") == "one operator: -1.0 2.0 0.0 -8.0\n"
    without = python(HERE / "one_operator.py")
    assert without.returncode == 1 and "libascendcl.so" in without.stderr


def test_it_is_the_same_process(python: Python) -> None:
    command = [python.executable, "-m", "portacl", "-c", "import os; print(os.getpid(), os.getppid())"]
    with subprocess.Popen(command, env=clean_environment(), stdout=subprocess.PIPE, text=True) as process:
        assert process.communicate(timeout=TIME_LIMIT)[0].split() == [str(process.pid), str(os.getpid())]


def test_interrupt_from_outside(python: Python) -> None:
    script = python.write("waits.py", "import time\nprint('ready', flush=True)\ntime.sleep(100)\n")
    command = [python.executable, "-m", "portacl", str(script)]

    def heed_interrupts() -> None:
        """A job in the background of a shell may have been told to ignore them."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=clean_environment(), text=True, preexec_fn=heed_interrupts, **pipes) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=TIME_LIMIT)[1]
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in errors


def test_terminal_stays_a_terminal(python: Python) -> None:
    leader, follower = pty.openpty()
    command = [python.executable, "-m", "portacl", "-c", "import sys; print(sys.stdin.isatty(), sys.stdout.isatty())"]
    try:
        subprocess.run(command, env=clean_environment(), stdin=follower, stdout=follower, check=True, timeout=TIME_LIMIT)
        time.sleep(0.01)
        assert os.read(leader, 100).strip() == b"True True"
    finally:
        os.close(leader)
        os.close(follower)


def test_children_inherit_it(python: Python) -> None:
    script = python.write(
        "children.py",
        f"""
import ctypes, multiprocessing, subprocess, sys

def status(_):
    return ctypes.CDLL("libopapi.so").aclInit(None)

if __name__ == "__main__":
    for method in ("spawn", "forkserver", "fork"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(status, range(2), chunksize=1)[0] == 0, method
    subprocess.run([sys.executable, {str(HERE / "one_operator.py")!r}], check=True)
""",
    )
    assert python.prints("-m", "portacl", script) == "one operator: -1.0 2.0 0.0 -8.0\n"
    # Where `import portacl` put it in force, in a process without the variables.
    text = script.read_text().replace('__main__":', '__main__":\n    import portacl')
    python.write("children.py", text)
    assert python.prints(script) == "one operator: -1.0 2.0 0.0 -8.0\n"


def test_info_is_that_of_portacl_info(python: Python) -> None:
    program = TOOLKIT / "bin" / "portacl-info"
    for arguments in ([], ["--json"]):
        done = subprocess.run([program, *arguments], env=clean_environment(), capture_output=True, text=True, check=True)
        assert python.prints("-m", "portacl", "--info", *arguments) == done.stdout
    unknown = python("-m", "portacl", "--info", PORTACL_SOC="Ascend1")
    assert unknown.returncode == 1 and "PORTACL_SOC has the value [Ascend1], accepted:" in unknown.stderr


def test_own_options(python: Python) -> None:
    assert python.prints("-m", "portacl", "--prefix") == f"{TOOLKIT}\n"
    assert python.prints("-m", "portacl", "--help").startswith("usage: python -m portacl ")
    for wrong in ([], ["--unknown"], ["--report"], ["--report", "--info"], ["--profile"], ["--profile", "x.json"], ["--profile=", "x.py"]):
        done = python("-m", "portacl", *wrong)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith("usage: python -m portacl ")


def test_profile(python: Python, tmp_path: pathlib.Path) -> None:
    trace = tmp_path / "out.json"
    script = python.write("calls.py", (HERE / "one_operator.py").read_text())
    for option in ([f"--profile={trace}"], ["--profile", str(trace)]):
        assert python.prints("-m", "portacl", *option, script) == "one operator: -1.0 2.0 0.0 -8.0\n"
        events = json.loads(trace.read_text())["traceEvents"]
        assert [one["args"]["Input Shapes"] for one in events if one.get("cat") == "operator"] == ["4;4;4"]
        trace.unlink()
    for wrong, says in [
        (tmp_path, f"--profile {tmp_path} is a folder; give the name of a file"),
        (tmp_path / "no" / "out.json", f"--profile {tmp_path}/no/out.json: there is no folder {tmp_path}/no"),
    ]:
        done = python("-m", "portacl", "--profile", str(wrong), script)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", f"portacl: {says}\n")


def test_no_write_access(python: Python, tmp_path: pathlib.Path) -> None:
    """Nothing is written anywhere, so a folder, a home and an installation that are read-only do not matter."""
    before = sorted(path for path in TOOLKIT.parent.rglob("*"))
    places = {"HOME": "/nonexistent", "TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
    # Root may write everywhere; nobody may not, where nobody can read this Python.
    nobody = {"user": 65534, "group": 65534, "extra_groups": ()} if os.geteuid() == 0 else {}
    if nobody and not can_run(python.executable, nobody):
        nobody = {}
    code = (HERE / "one_operator.py").read_text()
    tmp_path.chmod(0o555)
    try:
        done = subprocess.run(
            [python.executable, "-m", "portacl", "-c", code],
            cwd="/" if nobody else tmp_path,
            env={name: value for name, value in clean_environment().items() if name != "PYTHONDONTWRITEBYTECODE"} | places,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            check=False,
            **nobody,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "one operator: -1.0 2.0 0.0 -8.0\n", "")
        assert list(tmp_path.iterdir()) == []
    finally:
        tmp_path.chmod(0o755)
    after = sorted(path for path in TOOLKIT.parent.rglob("*"))
    assert [path for path in after if path not in before and path.parent.name != "__pycache__"] == []


def can_run(executable: str, user: dict[str, Any]) -> bool:
    try:
        return subprocess.run([executable, "-c", "import portacl_start"], cwd="/", check=False, **user).returncode == 0
    except PermissionError:
        return False
