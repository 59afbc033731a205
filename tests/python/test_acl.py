"""pyACL, the module acl: what clients call, wrong arguments, callbacks, and which CANN it is of.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import pathlib
import re

import pytest
from conftest import SITE, THIS, TOOLKIT, Python
from test_package import ROOT

NOTICE = f"{THIS}: no CANN was found, so device npu is this computer's CPU\n"
BEGIN = "import acl\nassert acl.init() == 0 and acl.rt.set_device(0) == 0\n"
# Of candle, vllm-ascend, MindSpeed, MindSpeed-LLM, sglang and dlinfer.
CALLED = """
    init finalize get_soc_name get_tensor_desc_num_dims get_tensor_desc_dim_v2 op.set_model_dir
    rt.set_device rt.reset_device rt.set_context rt.create_context rt.destroy_context rt.create_stream rt.destroy_stream rt.malloc
    rt.free rt.malloc_host rt.free_host rt.memcpy rt.memcpy_async rt.get_device_count rt.get_mem_info rt.device_can_access_peer
    rt.device_enable_peer_access rt.get_device_info rt.subscribe_report rt.unsubscribe_report rt.process_report
    util.bytes_to_ptr util.ptr_to_bytes util.numpy_to_ptr
""".split()


def run(python: Python, code: str, **environment: str) -> list[str]:
    return python.prints("-m", "portacl", "-c", BEGIN + code, **environment).splitlines()


def test_what_clients_call_is_there(python: Python) -> None:
    code = f"import acl, operator\nfor name in {CALLED!r}: assert callable(operator.attrgetter(name)(acl)), name\n"
    assert python.prints("-m", "portacl", "-c", code) == ""
    assert python.prints("-m", "portacl", "-c", "from acl.rt import memcpy; print(memcpy.__module__, memcpy.__doc__)") == (
        "acl.rt aclrtMemcpy: takes (dst, dest_max, src, count, kind), returns the code\n"
    )


def test_every_declaration_is_that_of_the_header(python: Python) -> None:
    """The parameters of each C function, in their order, by the kinds that their C types have."""
    text = " ".join(path.read_text() for path in sorted((ROOT / "include" / "acl").glob("*.h")))
    text = re.sub(r"\s+", " ", re.sub(r"//[^\n]*", "", text))
    opaque = {"aclrtStream", "aclrtEvent", "aclrtContext", "aclrtCallback"}
    numbers = {"int32_t": "int", "uint32_t": "uint", "uint64_t": "uint64", "int64_t": "int64", "size_t": "size", "float": "float"}

    def kind_of(declared: str) -> str:
        typ = re.sub(r"\bconst ", "", declared).rsplit(" ", 1)[0].strip()
        stars = typ.count("*")
        typ = typ.rstrip("*").strip()
        if typ == "char":
            return "text"
        if typ == "int64_t" and "dims" in declared:
            return "dims"
        is_handle = typ in opaque or typ == "void" or typ in ("aclTensorDesc", "aclDataBuffer")
        if is_handle:
            return "*pointer" if stars == (1 if typ in opaque else 2) else "pointer"
        kind = numbers.get(typ, "int")  # else an enumeration
        return f"*{kind}" if stars else kind

    declarations = run(python, "from acl import _table as t; print(*{**t.ACL, **t.RT, **t.OP}.values(), sep='\\n')")
    assert len(declarations) > 80
    for declaration in declarations:
        name, parameters = declaration.split("(", 1)
        found = re.search(rf"[ *]{name}\(([^)]*)\);", text)
        assert found is not None, name
        inside = [] if found[1] in ("", "void") else [kind_of(one) for one in found[1].split(", ")]
        mine = [one.split(" ")[0] for one in parameters.split(")")[0].split(", ") if one]
        assert mine == inside, (declaration, found[0])


def test_round_trip_through_memory(python: Python) -> None:
    code = """
import numpy as np
sent = np.arange(1000, dtype=np.float32).reshape(10, 100)
device, ret = acl.rt.malloc(sent.nbytes, 0)
assert ret == 0 and device != 0
host, ret = acl.rt.malloc_host(sent.nbytes)
assert ret == 0 and host != 0
stream, ret = acl.rt.create_stream()
assert ret == 0 and stream != 0
assert acl.rt.memcpy(device, sent.nbytes, acl.util.numpy_to_ptr(sent), sent.nbytes, 1) == 0
assert acl.rt.memcpy_async(host, sent.nbytes, device, sent.nbytes, 2, stream) == 0
event, ret = acl.rt.create_event()
assert ret == 0 and acl.rt.record_event(event, stream) == 0 and acl.rt.synchronize_event(event) == 0
assert acl.rt.query_event_status(event) == (1, 0)
assert acl.rt.synchronize_stream(stream) == 0 and acl.rt.stream_query(stream) == (0, 0)
assert acl.util.ptr_to_bytes(host, sent.nbytes) == sent.tobytes()
seen = acl.util.ptr_to_numpy(host, (10, 100), 11)
assert seen.dtype == np.float32 and (seen == sent).all()
data = b"seventeen letters"
assert acl.rt.memcpy(device, sent.nbytes, acl.util.bytes_to_ptr(data), len(data), 1) == 0
assert acl.rt.memset(device + 9, 8, 0x2D, 8) == 0
assert acl.rt.memcpy(host, sent.nbytes, device, len(data), 2) == 0
print(acl.util.ptr_to_bytes(host, len(data)).decode())
array = acl.util.ptr_to_numpy(host, (3,), 1)
array[:] = ord("x")
print(acl.util.ptr_to_bytes(host, 4).decode())
second, ret = acl.rt.create_event()
assert acl.rt.record_event(second, stream) == 0 and acl.rt.synchronize_event(second) == 0
ms, ret = acl.rt.event_elapsed_time(event, second)
assert ret == 0 and ms >= 0, (ms, ret)
for code in (acl.rt.destroy_event(event), acl.rt.destroy_event(second), acl.rt.destroy_stream(stream), acl.rt.free(device),
             acl.rt.free_host(host), acl.rt.reset_device(0), acl.finalize()):
    assert code == 0
"""
    assert run(python, code) == ["seventeen--------", "xxxe"]


def test_what_there_is_of_devices(python: Python) -> None:
    code = """
assert acl.get_soc_name() == acl.rt.get_soc_name() == "Ascend310P3"
assert acl.rt.get_device_count() == (2, 0) and acl.rt.get_device() == (0, 0) and acl.rt.get_run_mode() == (1, 0)
free, total, ret = acl.rt.get_mem_info(1)
assert ret == 0 and 0 < free <= total
assert acl.rt.get_device_info(0, 601)[1] == 0
context, ret = acl.rt.create_context(1)
assert ret == 0 and acl.rt.get_context() == (context, 0) and acl.rt.get_device() == (1, 0)
assert acl.rt.device_can_access_peer(0, 1) == (1, 0) and acl.rt.device_enable_peer_access(0, 0) == 0
assert acl.rt.destroy_context(context) == 0
desc = acl.create_tensor_desc(0, [2, 3], 2)
assert desc != 0 and acl.get_tensor_desc_num_dims(desc) == 2 and acl.get_tensor_desc_dim_v2(desc, 1) == (3, 0)
assert acl.get_tensor_desc_element_count(desc) == 6 and acl.get_tensor_desc_type(desc) == 0
scalar = acl.create_tensor_desc(0, [], 2)
assert acl.get_tensor_desc_num_dims(scalar) == 0
acl.set_tensor_desc_name(desc, "x")
assert acl.get_tensor_desc_name(desc) == "x"
assert acl.destroy_tensor_desc(desc) is None
buffer = acl.create_data_buffer(4096, 16)
assert (acl.get_data_buffer_addr(buffer), acl.get_data_buffer_size(buffer), acl.destroy_data_buffer(buffer)) == (4096, 16, 0)
"""
    assert run(python, code, PORTACL_SOC="Ascend310P3", PORTACL_DEVICE_COUNT="2") == []


def test_python_functions_in_a_stream(python: Python) -> None:
    """By both ways in which the thread is started that calls them; what they are called with is kept until then."""
    code = """
import threading
import time
called, stop = [], False
def report(arguments):
    assert acl.rt.set_context(arguments[0]) == 0
    while not stop:
        acl.rt.process_report(10)
context, ret = acl.rt.get_context()
stream, ret = acl.rt.create_stream()
first, ret = acl.util.start_thread(report, [context])
assert ret == 0 and acl.rt.subscribe_report(first, stream) == 0
assert acl.rt.launch_callback(lambda data: called.append((data, threading.get_ident())), [1, 2], 1, stream) == 0
assert acl.rt.launch_callback(lambda data: called.append(data["x"]), {"x": 3}, 0, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0
end = time.monotonic() + 60
while len(called) < 2 and time.monotonic() < end:  # the stream does not wait for a callback that does not block it
    time.sleep(0.001)
assert acl.rt.unsubscribe_report(first, stream) == 0
stop = True
assert acl.util.stop_thread(first) == 0 and acl.util.stop_thread(first) == 100000
assert called == [([1, 2], first), 3], called
stop = False
thread = threading.Thread(target=report, args=([context],))
thread.start()
assert acl.rt.subscribe_report(thread.ident, stream) == 0
assert acl.rt.launch_callback(called.append, 4, 1, stream) == 0 and acl.rt.synchronize_stream(stream) == 0
stop = True
thread.join()
assert called[2:] == [4]
assert acl.rt.launch_callback(called.append, 5, 1, 12345) != 0 and not acl.rt._launched
"""
    assert run(python, code) == []


def test_wrong_arguments_give_codes(python: Python) -> None:
    code = """
for wrong, expected in (
    (acl.rt.malloc(0, 0), (0, 100000)),
    (acl.rt.malloc(-1, 0), (0, 100000)),
    (acl.rt.malloc(1 << 64, 0), (0, 100000)),
    (acl.rt.malloc(1 << 62, 0), (0, 207001)),
    (acl.rt.free(0), 100000),
    (acl.rt.free(None), 100000),
    (acl.rt.free(12345), 107000),
    (acl.rt.memcpy(0, 4, 0, 4, 1), 100000),
    (acl.rt.set_device(7), 107001),
    (acl.rt.set_device(1 << 31), 100000),
    (acl.rt.destroy_stream(5), 107003),
    (acl.rt.synchronize_stream(77), 107003),
    (acl.rt.set_context(99), 107002),
    (acl.rt.record_event(5, 0), 107000),
    (acl.rt.get_mem_info(1 << 40), (0, 0, 100000)),
    (acl.rt.get_device_info(7, 0), (0, 107001)),
    (acl.init("/nowhere.json"), 100003),
    (acl.get_tensor_desc_num_dims(0), 0),
    (acl.get_tensor_desc_dim_v2(0, 0), (0, 100000)),
):
    if wrong != expected: print(wrong, expected)
# And what follows is right.
pointer, ret = acl.rt.malloc(64, 0)
assert ret == 0 and acl.rt.memset(pointer, 64, 0, 65) != 0 and acl.rt.memset(pointer, 64, 7, 64) == 0 and acl.rt.free(pointer) == 0
def raises(call, kind):
    try:
        call()
    except kind as error:
        print(error)
raises(lambda: acl.rt.malloc("x", 0), TypeError)
raises(lambda: acl.rt.malloc(1), TypeError)
raises(lambda: acl.rt.free(1.5), TypeError)
raises(lambda: acl.util.bytes_to_ptr("x"), TypeError)
raises(lambda: acl.util.ptr_to_bytes(0, 4), ValueError)
raises(lambda: acl.util.ptr_to_bytes(4096, -1), ValueError)
raises(lambda: acl.rt.launch_callback(3, 0, 1, 0), TypeError)
raises(lambda: acl.mdl, AttributeError)
import numpy as np
raises(lambda: acl.util.numpy_to_ptr(np.zeros((4, 4))[:, 1]), ValueError)
raises(lambda: acl.util.ptr_to_numpy(4096, (2,), 17), ValueError)
raises(lambda: acl.util.ptr_to_numpy(4096, (2, -1), 11), ValueError)
assert acl.util.ptr_to_bytes(0, 0) == b"" and acl.util.ptr_to_numpy(0, (0, 3), 11).shape == (0, 3)
"""
    assert run(python, code) == [
        "acl.rt.malloc: size must be an int, not str",
        "acl.rt.malloc takes 2 arguments (size, policy), not 1",
        "acl.rt.free: address must be an int, not float",
        "acl.util.bytes_to_ptr: data must be bytes, not str",
        "acl.util.ptr_to_bytes: there are no 4 bytes at address 0",
        "acl.util.ptr_to_bytes: there are no -1 bytes at address 4096",
        "acl.rt.launch_callback: function must be callable, not int",
        "acl.mdl is not a part of pyACL that portacl has: see docs/python.md, or print(acl.__all__)",
        "acl.util.numpy_to_ptr: the array does not lie in one piece; numpy.ascontiguousarray makes one that does",
        "acl.util.ptr_to_numpy: 17 is not the number of a type of numbers",
        "acl.util.ptr_to_numpy: the shape has a negative length: (2, -1)",
    ]


WHICH = "import acl, os; print(acl.__file__, acl.init(), os.environ.get('ASCEND_HOME_PATH'))"
OWN = f"{SITE}/acl/__init__.py"


def test_which_cann_it_is_of(python: Python, other_cann: pathlib.Path) -> None:
    """As torch_npu: portacl where that was asked for or where there is nothing else; what is in force otherwise."""
    plain = python("-c", WHICH)
    assert (plain.stdout, plain.stderr) == (f"{OWN} 0 {TOOLKIT}\n", NOTICE)
    assert python.prints("-m", "portacl", "-c", WHICH) == f"{OWN} 0 {TOOLKIT}\n"
    assert python.prints("-c", "import portacl\n" + WHICH) == f"{OWN} 0 {TOOLKIT}\n"
    named = {"ASCEND_HOME_PATH": str(other_cann), "LD_LIBRARY_PATH": f"{other_cann}/lib64"}
    assert python.prints("-c", WHICH, **named) == f"{OWN} 12345 {other_cann}\n"
    # A function that the other one does not have.
    assert python.prints("-c", "import acl; print(acl.rt.malloc(1, 0), acl.rt.set_device(0))", **named) == "(0, 200001) 200001\n"
    absent = python("-c", "import acl", PORTACL_AUTOSTART="0")
    assert absent.returncode == 1 and "ImportError: acl: no CANN can be loaded: libascendcl.so: cannot open shared" in absent.stderr
    assert "; portacl was not used, because PORTACL_AUTOSTART is 0" in absent.stderr


@pytest.mark.parametrize("how", ["python -m portacl", "import portacl"])
def test_module_of_another_cann(python: Python, other_cann: pathlib.Path, how: str) -> None:
    """It comes first where that CANN is in force, and leaves with it."""
    place = other_cann / "python" / "site-packages"
    place.mkdir(parents=True, exist_ok=True)
    (place / "acl.py").write_text("def init():\n    return 'of the other CANN'\n")
    named = {
        "ASCEND_HOME_PATH": str(other_cann),
        "LD_LIBRARY_PATH": f"{other_cann}/lib64",
        "PYTHONPATH": f"{place}:{python.folder}",
    }
    assert python.prints("-c", WHICH, **named) == f"{place}/acl.py of the other CANN {other_cann}\n"
    see = "import os; print(os.environ['PYTHONPATH'])\n" + WHICH
    start = ("-m", "portacl", "-c", see) if how == "python -m portacl" else ("-c", "import portacl\n" + see)
    done = python(*start, **named)
    assert done.stdout == f"{python.folder}\n{OWN} 0 {TOOLKIT}\n", done.stderr


def test_the_page_lists_every_function(python: Python) -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    listed = {name: [word.strip() for word in given.split(",") if word] for name, given in re.findall(r"\| `acl\.([\w.]+)\((.*?)\)`", page)}
    code = "for m in (acl, acl.rt, acl.op, acl.util): print(m.__name__, *m.__all__)"
    there = {
        f"{module}.{name}".removeprefix("acl.")
        for module, *names in (line.split() for line in run(python, code))
        for name in names
        if name not in ("op", "rt", "util", "numpy_contiguous_to_ptr")
    }
    assert set(listed) == there
    code = """
from acl import _table
for part, prefix in ((_table.ACL, ""), (_table.RT, "rt."), (_table.OP, "op.")):
    for name, declaration in part.items(): print(prefix + name, declaration)
"""
    for line in run(python, code):
        name, c_name, parameters = re.match(r"(\S+) (\w+)\((.*)\)", line).groups()  # type: ignore[union-attr]
        given = [one.split(" ")[1].replace("?", "=None") for one in parameters.split(", ") if one and one[0] != "*"]
        assert listed[name] == given and f"`acl.{name}({', '.join(given)})`" in page
        assert re.search(rf"`acl\.{re.escape(name)}\(.*\| `{c_name}` \|", page)
