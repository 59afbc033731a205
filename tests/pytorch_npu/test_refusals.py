"""What is not supported says so, and leaves nothing behind: the next refusal is that of its own call, the next right call is right."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json

import pytest

# Each runs in a process of its own, since what it might leave behind lasts. They are forked where nothing has used the device yet,
# which takes them a second instead of five.
OPENING = """
import json, os, tempfile, traceback

def refused():
    x, out = torch.ones(3).npu(), torch.empty(3, dtype=torch.int32, device="npu")
    return message_of(lambda: torch.add(x, 0.5, out=out))

def right():
    return (torch.ones(3).npu() * 2 + 1).tolist()

def message_of(call):
    try:
        call()
        torch.npu.synchronize()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "no error"

def in_a_process_of_its_own(call):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            torch.ones(1).npu()
            with open(writing, "w") as file:
                json.dump(call(), file)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading) as file:
        told = file.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(told) if told else f"ended with {status}"
"""

GRAPH_OPERATORS = """
from torch.nn import functional

def tried(call):
    arguments = [torch.rand(shape) for shape in SHAPES[call]]
    of_cpu = ON_CPU.get(call, None if call.startswith("npu_") else CALLS[call])
    want = of_cpu and of_cpu(*arguments)
    try:
        got = CALLS[call](*(argument.npu() for argument in arguments)).cpu()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "right" if want is not None and torch.allclose(got, want, rtol=1e-5, atol=1e-6) else "WRONG"

def once(call):
    def both():
        told = [tried(call)]
        for _ in range(2):
            try:
                told.append(right())
            except Exception as error:
                told.append(f"{type(error).__name__}: {error}")
        return told
    return both

CALLS = {
    "conv1d": lambda x, w: functional.conv1d(x, w),
    "conv2d": lambda x, w: functional.conv2d(x, w),
    "conv_transpose2d": lambda x, w: functional.conv_transpose2d(x, w),
    "max_pool3d": lambda x: functional.max_pool3d(x, 2),
    "avg_pool3d": lambda x: functional.avg_pool3d(x, 2),
    "unfold": lambda x: functional.unfold(x, 3),
    "npu_mish": lambda x: torch_npu.npu_mish(x),
    "npu_bmmV2": lambda x, y: torch_npu.npu_bmmV2(x, y, []),
    "npu_sort_v2": lambda x: torch_npu.npu_sort_v2(x),
    "npu_stride_add": lambda x, y: torch_npu.npu_stride_add(x, y, 0, 0, 1),
    "npu_giou": lambda x, y: torch_npu.npu_giou(x, y, True),
}
ON_CPU = {  # what native operators compute
    "npu_mish": functional.mish,
    "npu_bmmV2": torch.bmm,
    "npu_sort_v2": lambda x: x.sort().values,
}
SHAPES = {
    "conv1d": [(1, 2, 8), (3, 2, 3)],
    "conv2d": [(1, 2, 8, 8), (3, 2, 3, 3)],
    "conv_transpose2d": [(1, 3, 8, 8), (3, 2, 3, 3)],
    "max_pool3d": [(1, 2, 4, 4, 4)],
    "avg_pool3d": [(1, 2, 4, 4, 4)],
    "unfold": [(1, 2, 6, 6)],
    "npu_mish": [(4,)],
    "npu_bmmV2": [(1, 2, 3), (1, 3, 2)],
    "npu_sort_v2": [(4,)],
    "npu_stride_add": [(1, 16, 2, 2, 16), (1, 16, 2, 2, 16)],
    "npu_giou": [(4, 3), (4, 3)],
}
print(json.dumps({call: in_a_process_of_its_own(once(call)) for call in CALLS}))
"""

PROGRAMS = """
def profiler():
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # where it leaves folders
        with torch_npu.profiler.profile():
            assert right() == [3.0, 3.0, 3.0]
        os.chdir("/")

def fallback_in_graph():
    x = torch.ones(3).npu()
    with torch.npu.graph(torch.npu.NPUGraph()):
        torch.lgamma(x)

def mask_in_graph():
    x = torch.ones(3).npu()
    with torch.npu.graph(torch.npu.NPUGraph()):
        x[x > 0]

def wait_in_graph():
    with torch.npu.graph(torch.npu.NPUGraph()):
        torch.npu.synchronize()

def event():
    torch.npu.Event(interprocess=True)

def handle_of_event():
    event = torch.npu.Event()
    event.record()
    event.ipc_handle()

def event_of_handle():
    torch.npu.Event.from_ipc_handle(0, bytes(64))

def share():
    torch.ones(3).npu().untyped_storage()._share_npu_()

def send():
    import multiprocessing.reduction
    multiprocessing.reduction.ForkingPickler.dumps(torch.ones(3).npu())

def receive():
    torch.UntypedStorage._new_shared_npu(0, bytes(65), 512, 0, bytes(8), 0, bytes(64), False)

def start_dump():
    torch_npu.npu.init_dump()

def set_dump():
    torch_npu.npu.set_dump("/dev/null")

def end_dump():
    torch_npu.npu.finalize_dump()

PROGRAMS = [profiler, fallback_in_graph, mask_in_graph, wait_in_graph, event, handle_of_event, event_of_handle, share, send, receive, start_dump, set_dump, end_dump]
def twice(program):
    return lambda: [message_of(program), refused(), right()] + [message_of(program), refused(), right()]

print(json.dumps({program.__name__: in_a_process_of_its_own(twice(program)) for program in PROGRAMS}))
"""

# What each says itself. torch_npu keeps an error of the profiler, and of dumps, to its log.
SAYS = {
    "profiler": "no error",
    "fallback_in_graph": "RuntimeError: aten.lgamma.default cannot be captured in a graph",
    "mask_in_graph": "there is no graph. It was aclnnNonzeroV2: the shape of a result depends on values",
    "wait_in_graph": "there is no graph. It was aclrtSynchronizeDeviceWithTimeout: a stream that it waits for is captured",
    "event": "RuntimeError: IPC Event is not support because create event with flag ACL_EVENT_IPC failed",
    "handle_of_event": "aclrtIpcGetEventHandle is not supported",
    "event_of_handle": "RuntimeError: IPC Event is not support because create event with flag ACL_EVENT_IPC failed",
    "share": "aclrtIpcMemGetExportKey is not supported: memory and events of one process cannot be used in another here.",
    "send": "aclrtIpcMemGetExportKey is not supported: memory and events of one process cannot be used in another here.",
    "receive": "aclrtIpcMemImportByKey is not supported: memory and events of one process cannot be used in another here.",
    "start_dump": "no error",
    "set_dump": "no error",
    "end_dump": "no error",
}


@pytest.mark.parametrize("queue", ["0", "1"])
def test_nothing_stays_behind(program, queue):
    out, err, status = program(OPENING + PROGRAMS, TASK_QUEUE_ENABLE=queue, PORTACL_FALLBACK="quiet")
    assert status == 0, err
    told = json.loads(out.splitlines()[-1])
    assert told.keys() == SAYS.keys()
    for name, what in told.items():
        assert isinstance(what, list), (name, what, err)
        for said, refused, right in (what[:3], what[3:]):
            assert SAYS[name] in said, name
            assert "call aclnnAdds failed, error code is 161002" in refused, name
            assert "parameter out with dtype DT_INT32 cannot hold the result dtype" in refused, name
            assert right == [3.0, 3.0, 3.0], name
    assert "Feature is not supported and the possible cause" not in out + err  # torch_npu's words for going on regardless


@pytest.mark.parametrize("queue", ["0", "1"])
@pytest.mark.parametrize("product", ["Ascend310P3", "Ascend910B1"])
def test_operators_of_the_graph_engine(program, product, queue):
    """They are right, or refused by name at the call; what follows is right, and no process ends."""
    out, err, status = program(
        OPENING + GRAPH_OPERATORS, PORTACL_SOC=product, TASK_QUEUE_ENABLE=queue, PORTACL_FALLBACK="quiet"
    )
    assert status == 0, err
    for name, told in json.loads(out.splitlines()[-1]).items():
        assert isinstance(told, list), (name, told, err)
        result, *rights = told
        if name in ("npu_stride_add", "npu_giou"):
            assert "NotImplementedError" in result and name in result and "CANN's graph engine" in result, (name, result)
        else:
            assert result == "right", (name, result)
        assert rights == [[3.0, 3.0, 3.0]] * 2, name
