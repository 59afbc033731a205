"""Which CANN is in force: the variables, `import portacl` in a running process, and the cases with two of them.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import SITE, THIS, TOOLKIT, Python, clean_environment

from portacl_start import environment

ENVIRONMENT_AS_JSON = "import json, os; print(json.dumps(dict(os.environ)))"
IMPORT_AND_CALL = """
import ctypes, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import portacl
for one in caught:
    print(one.category.__name__, one.message, one.filename == __file__)
print(ctypes.CDLL("libascendcl.so").aclInit(None))
"""


def environment_of(command: list[str], environment: dict[str, str]) -> dict[str, str]:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return {name: value for name, value in found.items() if name not in ("_", "SHLVL", "PWD", "OLDPWD", "LC_CTYPE")}


def test_variables_are_those_of_set_env(python: Python) -> None:
    # The queue is named so that it does not depend on the number of processors.
    before = clean_environment() | {"LD_LIBRARY_PATH": "/somewhere:/else", "PKG_CONFIG_PATH": "/somewhere", "TASK_QUEUE_ENABLE": "1"}
    sourced = f'source "{TOOLKIT}/set_env.sh" && "$0" -c "$1"'
    expected = environment_of(["bash", "-c", sourced, python.executable, ENVIRONMENT_AS_JSON], before)
    assert expected["ASCEND_HOME_PATH"] == str(TOOLKIT) and expected["LD_LIBRARY_PATH"] == f"{TOOLKIT}/lib64:/somewhere:/else"
    assert environment_of([python.executable, "-m", "portacl", "-c", ENVIRONMENT_AS_JSON], before) == expected
    assert environment_of([python.executable, "-c", "import portacl; " + ENVIRONMENT_AS_JSON], before) == expected
    # A second time changes nothing.
    twice = [python.executable, "-m", "portacl", "-m", "portacl", "-c", "import portacl; " + ENVIRONMENT_AS_JSON]
    assert environment_of(twice, before) == expected


QUEUE = "import os, sys; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])]); "
SHOW_QUEUE = "print('queue', os.environ.get('TASK_QUEUE_ENABLE'))"


@pytest.mark.parametrize("how", ["import", "start", "pytest"])
def test_one_processor_has_no_thread_for_the_queue(python: Python, how: str) -> None:
    suite = python.write("test_queue.py", f"import os\ndef test_queue():\n    {SHOW_QUEUE}\n")
    code = QUEUE + {
        "import": f"import portacl; {SHOW_QUEUE}",
        "start": f"os.execv(sys.executable, [sys.executable, '-m', 'portacl', '-c', \"import os; {SHOW_QUEUE}\"])",
        "pytest": f"os.execv(sys.executable, [sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider', '-qs', '--npu', {str(suite)!r}])",
    }[how]
    several = len(os.sched_getaffinity(0)) > 1 and environment.processors() > 1
    for count, given, expected in ((1, {}, "0"), (1, {"TASK_QUEUE_ENABLE": "1"}, "1"), (2, {}, "None" if several else "0")):
        assert f"queue {expected}\n" in python.prints("-c", code, str(count), **given), (count, given)


@pytest.mark.parametrize(("line", "most"), [("max 100000", 10**6), ("100000 100000", 1), ("150000 100000", 2), ("1000 100000", 1), ("", 10**6)])
def test_quota_of_a_container(tmp_path: pathlib.Path, line: str, most: int) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text(line + "\n")
    assert environment.processors(str(quota)) == min(most, len(os.sched_getaffinity(0)))
    assert environment.processors(str(tmp_path / "none")) == len(os.sched_getaffinity(0))


def test_import_in_a_running_process(python: Python) -> None:
    script = python.write("imports.py", IMPORT_AND_CALL)
    assert python.prints(script) == "0\n"


def test_every_name_is_loaded_from_the_package(python: Python) -> None:
    names = sorted(path.name for path in (TOOLKIT / "lib64").glob("*.so"))
    assert {"libascendcl.so", "libacl_rt.so", "libnnopbase.so", "libopapi.so", "libopapi_nn.so", "libopapi_math.so"} <= {*names}
    code = f"""
import ctypes, portacl
addresses = {{ctypes.cast(ctypes.CDLL(name).aclInit, ctypes.c_void_p).value for name in {names!r}}}
assert len(addresses) == 1, addresses
folders = {{line.split(None, 5)[5].rpartition("/")[0] for line in open("/proc/self/maps") if "libopapi" in line}}
print(folders)
"""
    assert python.prints("-c", code) == f"{ {str(TOOLKIT / 'lib64')} }\n"


def test_cann_that_the_environment_names(python: Python, other_cann: pathlib.Path) -> None:
    script = python.write("imports.py", IMPORT_AND_CALL)
    named = {
        "ASCEND_HOME_PATH": str(other_cann),
        "LD_LIBRARY_PATH": f"{other_cann}/lib64:/else",
        "PATH": f"{other_cann}/bin:/usr/bin",
    }
    sentence = f"{THIS} is in force; CANN in {other_cann}, which the environment names, is not used"
    assert python.prints(script, **named) == f"RuntimeWarning {sentence} True\n0\n"
    started = python("-m", "portacl", "-c", "import os; print(os.environ['LD_LIBRARY_PATH'], os.environ['PATH'])", **named)
    assert started.returncode == 0 and started.stderr.count("Warning") == 1 and sentence in started.stderr
    # Nothing of the other one is left for the loader to find.
    assert started.stdout == f"{TOOLKIT}/lib64:/else {TOOLKIT}/bin:{TOOLKIT}/tools/profiler/bin:/usr/bin\n"


def test_variable_that_names_nothing(python: Python) -> None:
    script = python.write("imports.py", IMPORT_AND_CALL)
    assert python.prints(script, ASCEND_HOME_PATH="/nonexistent") == "0\n"


def test_cann_that_is_loaded(python: Python, other_cann: pathlib.Path) -> None:
    script = python.write("imports.py", IMPORT_AND_CALL)
    loaded = {"LD_PRELOAD": str(other_cann / "lib64" / "libascendcl.so")}
    sentence = f"CANN in {other_cann} is loaded in this process and stays in force; {THIS} is not used"
    assert python.prints(script, **loaded) == f"RuntimeWarning {sentence} True\n12345\n"
    code = "import os, portacl; print(portacl.include_dir(), os.environ.get('ASCEND_HOME_PATH'))"
    assert python.prints("-W", "ignore", "-c", code, **loaded) == f"{TOOLKIT}/include None\n"
    started = python("-W", "ignore", "-m", "portacl", script, **loaded)
    refusal = f"portacl: not started: CANN in {other_cann} is loaded in this process already\n"
    assert (started.returncode, started.stdout, started.stderr) == (1, "", refusal)


def test_two_portacls_in_one_process(python: Python, other_portacl: pathlib.Path) -> None:
    text = f"import ctypes\nctypes.CDLL({str(other_portacl / 'lib64' / 'libascendcl.so')!r})\n" + IMPORT_AND_CALL
    script = python.write(
        "both.py", text + "print(sum('libportacl' in line and 'r-xp' in line for line in open('/proc/self/maps')))\n"
    )
    sentence = f"portacl in {other_portacl} is loaded in this process and stays in force; {THIS} is not used"
    assert python.prints(script) == f"RuntimeWarning {sentence} True\n0\n1\n"


def test_portacl_that_the_environment_names(python: Python, other_portacl: pathlib.Path) -> None:
    script = python.write(
        "imports.py",
        IMPORT_AND_CALL + "print(sum('libportacl' in line and 'r-xp' in line for line in open('/proc/self/maps')))\n",
    )
    named = {"ASCEND_HOME_PATH": str(other_portacl), "LD_LIBRARY_PATH": f"{other_portacl}/lib64"}
    sentence = f"{THIS} is in force; portacl in {other_portacl}, which the environment names, is not used"
    assert python.prints(script, **named) == f"RuntimeWarning {sentence} True\n0\n1\n"


def test_package_elsewhere(python: Python, tmp_path: pathlib.Path) -> None:
    """The folder may lie anywhere: found through PYTHONPATH, with a blank in its name."""
    place = tmp_path / "some where"
    for name in ("portacl", "portacl_start"):
        shutil.copytree(SITE / name, place / name)
    found = python("-m", "portacl", "-c", "import os; print(os.environ['ASCEND_HOME_PATH'])", PYTHONPATH=str(place))
    assert (found.returncode, found.stdout) == (0, f"{place}/portacl/toolkit\n")
    reason = "so PyTorch gets no fallback for the operators that portacl lacks"
    assert found.stderr == f"portacl: {place}/portacl is not in a site folder of this Python, {reason}\n"


def test_child_of_another_installation(python: Python, other_portacl: pathlib.Path) -> None:
    """set_env.sh of a prefix: without `import portacl` this package stays out."""
    code = "import ctypes; ctypes.CDLL('libopapi.so'); print([l.split(None, 5)[5].strip() for l in open('/proc/self/maps') if 'libportacl' in l][0])"
    sourced = f'source "{other_portacl}/set_env.sh" && exec "$0" -c "$1"'
    done = subprocess.run(
        ["bash", "-c", sourced, python.executable, code], env=clean_environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(other_portacl)) and os.sep in done.stdout
