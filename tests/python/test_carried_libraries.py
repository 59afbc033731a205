"""SLEEF and Gloo: the wheel's own are used, on machines that have none as well as beside a system's; and what holds without SLEEF.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import json
import math
import pathlib
import shutil

import pytest
from conftest import HERE, TOOLKIT, Python
from test_package import output_of

OWN = TOOLKIT / "lib64" / "portacl"
NO_SLEEF = "SLEEF cannot be loaded: neither libportacl_sleef.so beside portacl nor libsleef.so.3 (package libsleef3)"

POWERS = """
import ctypes, struct, sys
import acl

base, operators = ctypes.CDLL("libnnopbase.so"), ctypes.CDLL("libopapi.so")
base.aclCreateTensor.restype = base.aclCreateScalar.restype = ctypes.c_void_p
assert acl.init() == 0 and acl.rt.set_device(0) == 0
one, count, zero = (ctypes.c_int64 * 1)(1), ctypes.c_uint64(1), ctypes.c_int64(0)
for exponent in map(float, sys.argv[1:]):
    numbers = ctypes.c_double(1.1), ctypes.c_double(0)
    made = [base.aclCreateTensor(one, count, 11, one, zero, 2, one, count, ctypes.byref(number)) for number in numbers]
    self, out = map(ctypes.c_void_p, made)
    scalar = ctypes.c_void_p(base.aclCreateScalar(ctypes.byref(ctypes.c_double(exponent)), 11))
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    code = operators.aclnnPowTensorScalarGetWorkspaceSize(self, scalar, out, ctypes.byref(size), ctypes.byref(executor))
    if code == 0:
        assert operators.aclnnPowTensorScalar(None, size, executor, None) == 0 and acl.rt.synchronize_device() == 0
        print(exponent, numbers[1].value.hex())
    else:
        print(exponent, code, acl.get_recent_err_msg().partition("aclnnPow")[2].splitlines()[0])
"""


@pytest.fixture
def hidden(tmp_path: pathlib.Path) -> str:
    """A folder in which the loader finds both libraries, broken, before those of the system."""
    place = tmp_path / "hidden"
    place.mkdir()
    for name in ("libsleef.so.3", "libgloo.so.0"):
        (place / name).touch()
    return str(place)


@pytest.fixture
def without_sleef(tmp_path: pathlib.Path) -> pathlib.Path:
    """The same files in another place, but for SLEEF."""
    place = tmp_path / "prefix"
    shutil.copytree(TOOLKIT, place)
    (place / "lib64" / "portacl" / "libportacl_sleef.so").unlink()
    return place


def test_both_are_carried_and_used_where_the_system_has_none(python: Python, hidden: str) -> None:
    printed = python.prints("-m", "portacl", HERE / "two_ranks.py", LD_LIBRARY_PATH=hidden, PORTACL_DEVICE_COUNT="2")
    assert printed == f"two ranks: {OWN}/libgloo.so.0 {OWN}/libportacl_gloo.so {OWN}/libportacl_sleef.so\n"


def test_both_are_used_beside_those_of_the_system(python: Python) -> None:
    assert python.prints("-m", "portacl", HERE / "two_ranks.py") == f"two ranks: {OWN}/libgloo.so.0 {OWN}/libportacl_gloo.so {OWN}/libportacl_sleef.so\n"


def test_info_names_them(python: Python, hidden: str, without_sleef: pathlib.Path) -> None:
    facts = json.loads(python.prints("-m", "portacl", "--info", "--json"))
    assert facts["sleef"] == {"file": f"{OWN}/libportacl_sleef.so"} and facts["gloo"] == {"file": f"{OWN}/libportacl_gloo.so"}
    text = python.prints("-m", "portacl", "--info")
    assert f"\nSLEEF            {OWN}/libportacl_sleef.so\nGloo             {OWN}/libportacl_gloo.so\n" in text
    program = without_sleef / "bin" / "portacl-info"
    assert f"\nSLEEF            none: {NO_SLEEF}\n" in output_of(program, LD_LIBRARY_PATH=hidden)
    assert json.loads(output_of(program, "--json", LD_LIBRARY_PATH=hidden))["sleef"] == {"file": None, "why": NO_SLEEF}


def test_they_are_nobody_elses(python: Python, hidden: str) -> None:
    """SLEEF's copy does not answer to the library's name, and no function of either can be taken for another one's."""
    assert "(SONAME)" not in output_of("readelf", "-d", OWN / "libportacl_sleef.so")
    assert "(SYMBOLIC)" in output_of("readelf", "-d", OWN / "libportacl_sleef.so")
    shown = [line.split()[-1] for line in output_of("nm", "-D", "--defined-only", OWN / "libportacl_gloo.so").splitlines()]
    assert shown == ["PortaclOpenTransport"]
    code = f"""
import ctypes, runpy
import portacl
acl = ctypes.CDLL("libascendcl.so")
assert acl.aclInit(None) == 0 and acl.aclrtSetDevice(0) == 0
print(runpy.run_path({str(HERE / "two_ranks.py")!r})["exponential"](1.0))
assert not hasattr(ctypes.CDLL(None), "Sleef_expd1_u10"), "SLEEF's functions are global"
try:
    ctypes.CDLL("libsleef.so.3")
except OSError as error:
    print(error)
"""
    assert python.prints("-c", code, LD_LIBRARY_PATH=hidden) == f"{math.e}\n{hidden}/libsleef.so.3: file too short\n"


def test_without_sleef_float64_is_refused_by_name(python: Python, hidden: str, without_sleef: pathlib.Path) -> None:
    script = python.write("powers.py", POWERS)
    exponents = ("2", "3", "-1", "0.5", "-0.5", "0", "1")
    library_path = f"{without_sleef}/lib64:{hidden}"
    found = python.prints(script, *exponents, LD_LIBRARY_PATH=library_path)
    expected = (1.1 * 1.1, 1.1 * 1.1 * 1.1, 1 / 1.1, 1.1**0.5, 1 / 1.1**0.5, 1.0, 1.1)
    lines = [f"{float(exponent)} {value.hex()}" for exponent, value in zip(exponents, expected)]
    assert found.splitlines()[:4] == lines[:4] and found.splitlines()[5:] == lines[5:]
    # The same bits as with SLEEF.
    assert python.prints("-m", "portacl", script, *exponents) == found
    refused = python.prints(script, "2.5", LD_LIBRARY_PATH=library_path)
    assert refused == (
        f"2.5 561103 TensorScalar: the dtype DT_DOUBLE needs functions that are not there, since {NO_SLEEF}, accepted: other dtypes.\n"
    )
    assert python.prints("-m", "portacl", script, "2.5").startswith("2.5 0x1.44e")
