"""What a recording holds of a program, and that the program computes what it computes without one."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import threading

import pytest
import torch
from torch import nn

import portacl.recording as recordings

HERE = pathlib.Path(__file__).resolve().parent
DEVICES = ("npu", "cpu")
KEPT = ("all", "sample", "summary")
DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64, torch.complex128, torch.bool, torch.uint8, torch.int8,
    torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2,
]  # fmt: skip


class Net(nn.Module):
    """Normalisation with statistics of its own, dropped elements, a module within a module, a parameter that is used twice."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)), nn.Dropout(0.25)])

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = x + layer(torch.relu(x))
        return torch.nn.functional.linear(x, self.first.weight.t())


def train(device, steps=3, each=None):
    torch.manual_seed(7)
    net = Net().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    losses = []
    for number in range(steps):
        x = torch.randn(5, 6, device=device)
        optimizer.zero_grad()
        loss = net(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if each:
            each(number)
    bits = [one.detach().cpu().numpy().tobytes() for one in (*net.state_dict().values(), *losses, torch.rand(4, device=device))]
    return net, bits


def read(path):
    with recordings.open(path) as recording:
        calls = list(recording)
        assert recording.problem is None
        for call in calls:  # their contents, while the file is open
            for _, record in [*call.inputs(), *call.results()]:
                record.kept_tensor = record.tensor()
    return calls


def of(calls, name):
    found = [call for call in calls if call.name == name]
    assert found, f"{name} is not among {sorted({call.name for call in calls})}"
    return found


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "run.rec")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("keep", KEPT)
def test_a_program_computes_the_same_bits(path, device, keep):
    _, without = train(device)
    with recordings.record(path, keep):
        _, recorded = train(device)
    _, after = train(device)
    assert recorded == without == after


@pytest.mark.parametrize("device", DEVICES)
def test_operators_of_backward_are_seen_with_module_and_call(path, device):
    with recordings.record(path):
        train(device, steps=2)
    calls = read(path)
    assert [call.index for call in calls] == list(range(len(calls)))
    assert {call.step for call in calls} == {0, 1, 2}  # what comes after the last step is in the next
    assert {call.phase for call in calls} == {"forward", "backward", "none"}
    backward = [call for call in calls if call.phase == "backward"]
    # Autograd's threads compute for a device; the calls of each are told apart.
    assert {call.thread for call in backward} == ({1} if device == "npu" else {0})
    assert {call.module for call in backward} >= {"first", "layers.0.0", "layers.0.1", "layers.1"}
    for call in backward:
        if call.gradient_of is not None:
            of_it = calls[call.gradient_of]
            assert of_it.phase == "forward" and (of_it.module, of_it.root) == (call.module, call.root)
            assert call.stack == of_it.stack
    (product,) = (call for call in calls if call.step == 0 and call.module == "first" and call.name == "aten::addmm.default")
    assert product.root == "Net" and product.args[0].name == "first.bias" and product.args[0].requires_grad
    places = [f"{pathlib.Path(frame.file).name}:{frame.function}" for frame in product.stack]
    assert places[:2] == ["test_capture.py:forward", "test_capture.py:train"]
    gradients = [call for call in backward if call.gradient_of == product.index and call.name == "aten::mm.default"]
    assert gradients and all(call.module == "first" for call in gradients)


@pytest.mark.parametrize("device", DEVICES)
def test_inputs_are_those_before_the_call_and_outputs_those_after(path, device):
    x = torch.arange(6.0, device=device).reshape(2, 3)
    view = x.t()
    total = torch.zeros(3, device=device)
    with recordings.record(path):
        x.add_(1)
        view.mul_(2)
        torch.sum(x, 0, out=total)
        torch._foreach_add_([x, total], 1.0)
        x.add(x)
    added, multiplied, summed, list_added, doubled = read(path)
    start = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(added.args[0].kept_tensor, start) and torch.equal(added.outputs[0].kept_tensor, start + 1)
    assert added.aliases == {0: ("args", 0)} and list(added.written) == [("args", 0)] and [place for place, _ in added.results()] == [("outputs", 0)]
    assert torch.equal(multiplied.args[0].kept_tensor, (start + 1).t()) and multiplied.args[0].strides == (1, 3)
    assert multiplied.args[0].storage == added.args[0].storage
    after = 2 * (start + 1)
    assert torch.equal(multiplied.outputs[0].kept_tensor, after.t())
    assert summed.kwargs["out"].hash is None and torch.equal(summed.outputs[0].kept_tensor, after.sum(0))
    assert [place for place, _ in list_added.results()] == [("args", 0, 0), ("args", 0, 1)]
    assert torch.equal(list_added.args[0][1].kept_tensor, after.sum(0)) and list_added.args[1] == 1.0
    assert torch.equal(list_added.written["args", 0, 1].kept_tensor, after.sum(0) + 1)
    assert torch.equal(doubled.outputs[0].kept_tensor, 2 * (after + 1))


def test_memory_that_numpy_writes_is_read_again(path):
    x = torch.zeros(4)
    with recordings.record(path, "summary"):
        x + 1
        x.numpy()[2] = 5
        x + 1
    first, second = of(read(path), "aten::add.Tensor")
    assert first.args[0].hash != second.args[0].hash and second.args[0].statistics.max == 5


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype_keeps_its_bits_and_has_its_statistics(path, dtype):
    if dtype.is_complex:
        values = torch.complex(torch.tensor([1.5, 0.0, -2.0, math.inf]), torch.tensor([0.0, -0.0, 3.0, math.nan])).to(dtype)
    elif dtype.is_floating_point:
        values = torch.tensor([1.5, 0.0, -2.0, math.nan, 448.0, -0.0]).to(dtype)
    else:
        values = torch.tensor([3, 0, 1, 100, 0], dtype=torch.int64).to(dtype)
    given = [values]
    if not dtype.is_complex and dtype is not torch.bool:  # none of which is 0, and of one sign
        above = values.to(torch.float64).abs() + 2
        given += [above.to(dtype), *([(-above).to(dtype)] if dtype.is_signed else [])]
    if dtype.is_floating_point:
        eight = torch.arange(3.0, 11.0)
        eight[5] = math.nan
        given.append(eight.to(dtype))
    with recordings.record(path):
        copies = [one.clone() for one in given]
    for call, one, copy in zip(read(path), given, copies, strict=True):
        for record in (call.args[0], call.outputs[0]):
            keeps_bits_and_statistics(record, one, copy)


def keeps_bits_and_statistics(record, values, copy):
    back = record.kept_tensor
    assert back.dtype == values.dtype and back.shape == values.shape
    assert torch.equal(back.view(torch.uint8), copy.view(torch.uint8))
    found = record.statistics
    numbers = [float(one) for one in (torch.view_as_real(values).flatten() if values.is_complex() else values.to(torch.float64)).tolist()]
    finite = [one for one in numbers if math.isfinite(one)]
    assert (found.count, found.min, found.max) == (len(numbers), min(finite), max(finite))
    assert (found.nan, found.inf) == (sum(map(math.isnan, numbers)), sum(map(math.isinf, numbers)))
    assert found.zeros == sum(one == 0 for one in numbers)
    assert found.mean == pytest.approx(math.fsum(finite) / len(finite)) and found.norm == pytest.approx(math.hypot(*finite))


@pytest.mark.parametrize("device", DEVICES)
def test_every_layout_of_memory_is_read_back(path, device):
    base = torch.arange(24.0, device=device).reshape(2, 3, 4)
    shapes = {
        "permuted": base.permute(2, 0, 1),
        "a part": base[:, 1:, ::2],
        "repeated": base[0, 0].expand(5, 4),
        "overlapping": base.flatten().as_strided((3, 4), (2, 1)),
        "empty": base[:, :0],
        "a number": base[1, 2, 3],
        "channels last": base[None].permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
        "shifted": base.flatten()[7:],
    }
    wanted = {name: (tensor.cpu(), tensor.stride(), tensor.storage_offset()) for name, tensor in shapes.items()}
    with recordings.record(path):
        for tensor in shapes.values():
            torch.neg(tensor)
    for call, (name, (values, strides, offset)) in zip(of(read(path), "aten::neg.default"), wanted.items()):
        record = call.args[0]
        assert torch.equal(record.kept_tensor, values), name
        assert torch.equal(call.outputs[0].kept_tensor, -values), name
        assert (record.strides, record.offset) == (strides, offset)
        if name != "overlapping":
            assert record.kept_tensor.stride() == strides, name


def test_content_in_order_of_rows_needs_no_torch(path):
    tensor = torch.arange(24, dtype=torch.int16).reshape(2, 3, 4).permute(2, 0, 1)
    with recordings.record(path):
        tensor + 1
    with recordings.open(path) as recording:
        record = next(iter(recording)).args[0]
        assert record.order == (1, 2, 0)
        assert record.content() == tensor.contiguous().numpy().tobytes()


def test_transposed_matrices_are_written_once(path):
    matrix = torch.randn(100, 100)
    with recordings.record(path):
        matrix.t() @ matrix.t()
        matrix @ matrix
    with open(path, "rb") as file:
        kinds = [frame.kind for frame in recordings._frames.frames(file, os.path.getsize(path))]
    assert kinds.count("DATA") == 3  # the matrix and two products


def test_sparse_conjugated_and_negated_tensors(path):
    sparse = torch.eye(3).to_sparse()
    compressed = torch.eye(3).to_sparse_csr()
    numbers = torch.tensor([1 + 2j, 3 - 4j])
    with recordings.record(path):
        torch.neg(sparse)
        torch.neg(compressed)
        torch.exp(numbers.conj())
        torch.exp(numbers.conj().imag)
    calls = read(path)
    negations = of(calls, "aten::neg.default")
    assert torch.equal(negations[0].args[0].kept_tensor.to_dense(), torch.eye(3)) and negations[0].args[0].layout == "sparse_coo"
    assert torch.equal(negations[1].args[0].kept_tensor.to_dense(), torch.eye(3)) and negations[1].args[0].layout == "sparse_csr"
    exponentials = of(calls, "aten::exp.default")
    assert torch.equal(exponentials[0].args[0].kept_tensor, numbers.conj().resolve_conj())
    assert torch.equal(exponentials[1].args[0].kept_tensor, torch.tensor([-2.0, 4.0]))


def test_tensors_without_elements_are_told(path):
    with recordings.record(path):
        torch.empty(3, device="meta") + 1
        torch.quantize_per_tensor(torch.ones(2), 0.5, 0, torch.qint8).dequantize()
    calls = read(path)
    assert of(calls, "aten::add.Tensor")[0].args[0].problem == "a tensor of device meta has no elements"
    assert of(calls, "aten::dequantize.self")[0].args[0].problem == "the elements of quantized tensors are not recorded"


class Doubled(torch.Tensor):
    """A tensor that is made of another one."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        taken = [one.inner if isinstance(one, Doubled) else one for one in args]
        return func(*taken, **(kwargs or {}))


class Named(torch.Tensor):
    """A tensor with another name, and nothing else."""


def test_subclasses(path):
    plain = torch.ones(2)
    with recordings.record(path):
        Doubled(plain) + 1
        plain.as_subclass(Named) * 2
    calls = read(path)
    (added,) = of(calls, "aten::add.Tensor")
    assert torch.equal(added.args[0].kept_tensor, plain)
    (multiplied,) = of(calls, "aten::mul.Tensor")
    assert torch.equal(multiplied.args[0].kept_tensor, plain)


@pytest.mark.parametrize("device", DEVICES)
def test_a_draw_can_be_repeated_from_the_recorded_generator(path, device):
    own = torch.Generator(device=device).manual_seed(3)
    torch.manual_seed(11)
    with recordings.record(path):
        torch.rand(4, device=device)
        first = torch.rand(4, device=device)
        torch.rand(2, device=device, generator=own)
        second = torch.rand(2, device=device, generator=own)
    calls = [call for call in read(path) if call.random is not None]
    assert [call.random.is_default for call in calls] == [True, True, False, False]
    assert calls[0].random.seed == 11 and calls[2].random.seed == 3
    again = torch.Generator(device=device)
    for call, drawn in ((calls[1], first), (calls[3], second)):
        again.set_state(torch.frombuffer(bytearray(call.random.state), dtype=torch.uint8))
        assert torch.equal(torch.rand(len(drawn), device=device, generator=again), drawn)


def test_arguments_that_are_no_tensors(path):
    with recordings.record(path):
        torch.full((2, 3), math.inf, dtype=torch.float16, device="cpu")
        torch.ones(2, 3, 4, 5).clone(memory_format=torch.channels_last)
        torch.ones(2).mul(2 - 3j)
    calls = read(path)
    full = of(calls, "aten::full.default")[0]
    assert full.args == [[2, 3], math.inf] and full.kwargs["dtype"] == recordings.DType("float16")
    assert full.kwargs["dtype"].torch() is torch.float16 and full.kwargs["device"] == recordings.Device("cpu")
    assert of(calls, "aten::clone.default")[0].kwargs["memory_format"].torch() is torch.channels_last


def test_steps_and_modules_are_chosen(path):
    with recordings.record(path, "summary", steps=range(1, 2)) as recorder:
        train("npu", steps=3)
    calls = read(path)
    assert {call.step for call in calls} == {1} and recorder.current_step == 3
    with recordings.open(path) as recording:
        assert list(recording) and recording.end == "all steps that were asked for are recorded"
    with recordings.record(path, "summary", module="layers.0"):
        train("npu", steps=1)
    calls = read(path)
    assert {call.module for call in calls} == {"layers.0.0", "layers.0.1"}
    assert {call.phase for call in calls} == {"forward", "backward"}
    with recordings.record(path, "summary") as recorder:
        torch.ones(2)
        recorder.step()
        torch.ones(2)
    assert [call.step for call in read(path)] == [0, 1]


def test_the_limit_is_kept_and_said(path, capfd):
    limit = 1 << 20
    values = [torch.randn(10_000) for _ in range(40)]
    with recordings.record(path, limit=limit) as recorder:
        for one in values:
            torch.neg(one)
        assert len(recorder.problems) == 1 and recorder.problems[0].endswith("tensors are kept as a hash and statistics")
        while len(recorder.problems) == 1:
            torch.zeros(1)
        for _ in range(100):
            torch.zeros(1)
    calls = read(path)
    assert os.path.getsize(path) <= limit + 500  # the closing frame
    kept = [call.outputs[0].kept for call in of(calls, "aten::neg.default")]
    assert kept[0] == "all" and kept[-1] == "summary" and kept == sorted(kept)
    assert recorder.problems[1].startswith(f"the limit of 1.0 MB is reached after {len(calls)} calls, in step 0")
    with recordings.open(path) as recording:
        assert list(recording) and recording.end == recorder.problems[1]
        assert recording.meta["summaries_because"] == recorder.problems[0]
    told = capfd.readouterr().err
    assert all(f"portacl record: {sentence}" in told for sentence in recorder.problems)


def test_samples(path):
    x = torch.randn(3, 1000).t()
    with recordings.record(path, "sample", sample=5):
        x.exp()
    (call,) = read(path)
    record = call.outputs[0]
    assert record.kept == "sample" and record.sample_positions == (0, 749, 1499, 2249, 2999)
    assert torch.equal(record.sample(), x.exp().contiguous().flatten()[list(record.sample_positions)])


def test_errors_are_recorded_and_raised(path):
    with recordings.record(path):
        with pytest.raises(RuntimeError, match="size of tensor a"):
            torch.ones(2) + torch.ones(3)
        torch.ones(2) + 1
    failed = of(read(path), "aten::add.Tensor")[0]
    assert failed.error is not None and failed.error.startswith("RuntimeError: The size of tensor a") and failed.outputs == []


def test_threads(path):
    together = threading.Barrier(3)  # the number of a thread that is gone may be given to another one

    def work(recorder, number):
        with recorder.in_thread():
            together.wait()
            for _ in range(20):
                torch.full((50,), float(number), device="npu").add_(1).sum()
            together.wait()

    with recordings.record(path) as recorder:
        threads = [threading.Thread(target=work, args=(recorder, number)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        torch.ones(1)
    calls = read(path)
    assert [call.index for call in calls] == list(range(len(calls)))
    assert len({call.thread for call in calls}) == 4
    for call in of(calls, "aten::sum.default"):
        assert call.outputs[0].kept_tensor == call.args[0].kept_tensor.sum()


def test_memory_is_not_kept_alive(path):
    x = torch.ones(1000, device="npu")
    with recordings.record(path, "summary") as recorder:
        for _ in range(2000):
            x + 1
        gc.collect()
        assert len(recorder._storages) < 600 and len(recorder._seen) < 600
        assert sum(seen() is not None for seen in recorder._seen.values()) < 10


def test_a_forked_process_writes_nothing(path):
    with recordings.record(path):
        torch.ones(1)
        child = os.fork()
        if child == 0:
            torch.zeros(1)
            os._exit(0)
        os.waitpid(child, 0)
    assert [call.name for call in read(path)] == ["aten::ones.default"]


def test_a_forked_process_leaves_the_file_to_its_parent(path):
    with recordings.record(path) as recorder:
        torch.ones(1)
        child = os.fork()
        if child == 0:
            recorder.stop()
            os._exit(0)
        os.waitpid(child, 0)
        torch.zeros(1)
    assert [call.name for call in read(path)] == ["aten::ones.default", "aten::zeros.default"]
    with open(path, "rb") as file:
        kinds = [frame.kind for frame in recordings._frames.frames(file, os.path.getsize(path))]
    assert kinds.count("DONE") == 1 and kinds[-1] == "DONE"


@pytest.mark.parametrize("count", [40, 1000])
@pytest.mark.parametrize("room", [0, 4, 300, 600, 1000, 2000, 3000])
def test_a_full_disk_ends_the_recording_alone(path, capfd, room, count):
    """Room for so many bytes more: none, some of a frame, some frames, all but the elements of a result."""
    torch.manual_seed(9)
    wanted = [torch.rand(count).neg() for _ in range(20)]
    torch.manual_seed(9)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with recordings.record(path, progress=False) as recorder:
        torch.ones(3)
        size = os.path.getsize(path)
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, before[1]))
            values = [torch.rand(count).neg() for _ in range(20)]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        torch.ones(3)
    assert all(map(torch.equal, values, wanted))
    told = capfd.readouterr().err
    assert told.count("cannot be written: File too large: the recording ends after") == 1 and len(recorder.problems) == 1
    with recordings.open(path) as recording:
        calls = list(recording)
        assert recording.problem is None or "cut at byte" in recording.problem  # the last frame says why, where it has room
        assert calls[0].name == "aten::ones.default" and len(calls) < 20
        assert f"ends after {len(calls)} calls" in told


def test_a_disk_that_is_full_from_the_start_is_an_error():
    with pytest.raises(OSError, match="No space left"):
        recordings.record("/dev/full").start()


def test_elements_of_a_dump_saved_from_a_view(tmp_path):
    whole = torch.arange(12.0)
    shapes = {"shifted": whole[7:], "one": whole[5], "columns": whole.reshape(3, 4)[:, 1:3], "bits": (whole > 8)[6:]}
    (tmp_path / "dump_tensor_data").mkdir()
    for name, values in shapes.items():
        torch.save(values, tmp_path / "dump_tensor_data" / f"{name}.pt")
    entries = [
        {"type": "torch.Tensor", "dtype": str(values.dtype), "shape": list(values.shape), "data_name": f"{name}.pt"}
        for name, values in shapes.items()
    ]
    (tmp_path / "dump.json").write_text(json.dumps({"level": "L1", "data": {"Torch.add.0.forward": {"input_args": entries, "output": []}}}))
    with recordings.open(tmp_path) as recording:
        (call,) = recording
        assert recording.problem is None
        for record, values in zip(call.args, shapes.values(), strict=True):
            assert torch.equal(record.tensor(), values)


def test_what_can_not_be_is_refused(path, tmp_path):
    for options, words in (
        ({"keep": "some"}, "keep='some': none of all, sample, summary"),
        ({"limit": 0}, "limit=0"),
        ({"sample": 0}, "sample=0"),
        ({"steps": range(0, 4, 2)}, "range"),
    ):
        with pytest.raises(ValueError, match=words):
            recordings.record(path, **options)
    with pytest.raises(OSError):
        recordings.record(tmp_path / "nowhere" / "run.rec").start()
    torch.ones(1)  # not recorded, and nothing is left behind
    recorder = recordings.record(path).start()
    with pytest.raises(RuntimeError, match="was started before"):
        recorder.start()
    recorder.stop()
    recorder.stop()


@pytest.mark.parametrize("dtype", [one for one in DTYPES if one not in (torch.uint16, torch.uint32, torch.uint64)], ids=str)
def test_summaries_made_on_a_device_are_those_of_the_host(dtype):
    """The operators that run on a device whose memory the host cannot read run here on the CPU."""
    from portacl.recording import _summary

    values = (torch.randn(3000) * 3).to(torch.complex64 if dtype.is_complex else torch.float32).to(dtype)
    hash, found = _summary.on_device(values)
    wanted = _summary.by_operators(values)
    assert (found.count, found.min, found.max, found.nan, found.inf, found.zeros) == (
        wanted.count, wanted.min, wanted.max, wanted.nan, wanted.inf, wanted.zeros,
    )  # fmt: skip
    assert found.mean == pytest.approx(wanted.mean, rel=1e-4, abs=1e-4) and found.norm == pytest.approx(wanted.norm, rel=1e-5)
    assert hash == _summary.on_device(values.clone())[0]
    other = values.clone()
    other[[17, 18]] = other[[18, 17]]
    assert torch.equal(other.view(torch.uint8), values.view(torch.uint8)) or hash != _summary.on_device(other)[0]
    with_others = values.clone()
    if dtype.is_floating_point and dtype.itemsize > 1:
        with_others[3], with_others[5] = math.nan, -math.inf
        _, found = _summary.on_device(with_others)
        assert (found.nan, found.inf) == (1, 1) and math.isfinite(found.min)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_parts_of_tensors_have_the_summary_of_their_copies(path, dtype):
    """Parts are read where they lie, a block of 8192 bytes at a time."""
    bits = torch.randint(0, 256, (37 * 41 * 23 * dtype.itemsize,), generator=torch.Generator().manual_seed(3), dtype=torch.uint8)
    whole = (bits % 2 if dtype is torch.bool else bits).view(dtype).reshape(37, 41, 23)
    parts = [whole[1:, :, ::2], whole[:, 3:40].transpose(0, 2), whole[::3, 5], whole[:1].expand(5, 41, 23), whole[:, :, 7], whole[2, 1::5, 3:4]]
    with recordings.record(path, "summary"):
        for part in parts:
            part.detach()
            part.contiguous().detach()
    calls = [call for call in read(path) if call.name == "aten::detach.default"]
    assert len(calls) == 2 * len(parts)
    for part, copy in zip(calls[::2], calls[1::2]):
        assert part.args[0].strides != copy.args[0].strides and part.args[0].shape == copy.args[0].shape
        assert part.args[0].hash == copy.args[0].hash is not None
        assert part.args[0].statistics == copy.args[0].statistics


@pytest.mark.parametrize("device", DEVICES)
def test_a_tensor_whose_data_gets_another_shape_is_described_anew(path, device):
    """Assigning to .data runs no operator: neither the object nor its memory changes."""
    values = torch.arange(6.0).to(device)
    with recordings.record(path, "summary"):
        values.sum()
        values.data = values.data.view(2, 3)
        values.sum(0)
        values.data = values.data.t()
        values.sum(0)
    sums = [call for call in read(path) if call.name.startswith("aten::sum")]
    assert [list(call.args[0].shape) for call in sums] == [[6], [2, 3], [3, 2]]
    assert list(sums[2].args[0].strides) == [1, 3]


@pytest.mark.parametrize("keep", KEPT)
def test_tensors_whose_memory_was_made_smaller(path, keep):
    """What shards a model frees a parameter's memory and keeps the tensor."""
    for view in (lambda x: x, lambda x: x[1:], lambda x: x[:, ::2], lambda x: x.t()):
        whole = torch.arange(24.0).reshape(4, 6)
        part = view(whole)
        with recordings.record(path, keep):
            whole.untyped_storage().resize_(0)
            part.detach()
        (call,) = [call for call in read(path) if call.name == "aten::detach.default"]
        assert "storage is smaller" in str(call.args[0].problem)


def test_sums_that_leave_the_range_of_float64():
    from portacl.recording import _summary

    for scale in (1e200, 1e-200):
        values = torch.tensor([3.0, 4.0], dtype=torch.float64) * scale
        _, text = _summary.text_of_memory(values.data_ptr(), 2, values.dtype)
        assert f'"norm":{5 * scale!r}'[:12] in text


def run(*arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PORTACL", "ASCEND"))} | variables
    environment.pop("LD_LIBRARY_PATH", None)
    return subprocess.run([sys.executable, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=600)


SCRIPT = """
import sys, os, torch
from portacl_start import environment
print(sys.argv[1:], __name__, environment.loaded() is not None and "npu" in sys.argv)
x = torch.ones(2, device=sys.argv[1], requires_grad=True)
(x * 3).sum().backward()
sys.exit(int(sys.argv[2]))
"""


def test_the_command_records_a_program(tmp_path):
    script, path = tmp_path / "script.py", tmp_path / "run_7.rec"
    script.write_text(SCRIPT)
    done = run("-m", "portacl", "record", "-o", tmp_path / "run_{rank}.rec", "--keep", "summary", "--limit", "1M", script, "npu", 3, RANK="7")
    assert done.returncode == 3, done.stderr
    assert done.stdout == "['npu', '3'] __main__ True\n"
    calls = read(str(path))
    assert f"portacl record: {len(calls)} calls in 0 whole steps" in done.stderr
    assert of(calls, "aten::mul.Tensor")[0].stack[0] == (str(script), 6, "<module>")
    with recordings.open(path) as recording:
        assert list(recording) and recording.end == "the program ended with status 3" and recording.meta["program"] == [str(script), "npu", "3"]


def test_where_a_cann_is_named_portacl_stays_out(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = run(
        "-m", "portacl", "record", "-o", tmp_path / "run.rec", script, "cpu", 0,
        ASCEND_HOME_PATH=str(tmp_path), TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "['cpu', '0'] __main__ False\n"), done.stderr
    assert "is in force" not in done.stderr and "portacl record: " in done.stderr
    with recordings.open(tmp_path / "run.rec") as recording:
        assert list(recording) and recording.meta["cann"] is None


def test_the_command_refuses_what_it_does_not_know(tmp_path):
    for arguments, words in (
        (["--limit", "3x", "script.py"], "'3x' is no size"),
        (["--steps", "5:3", "script.py"], "there is no step in it"),
        ([], "there is no program to run"),
        (["nowhere.py"], "there is no file nowhere.py"),
        (["--keep", "most", "script.py"], "invalid choice"),
    ):
        done = run("-m", "portacl", "record", *arguments, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        assert done.returncode == 2 and words in done.stderr
