"""What falls back gives the CPU's results, on the NPU's memory, with PyTorch's semantics."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
import warnings

import pytest
import torch
import torch_npu
from torch import nn

from portacl.torch import _kernels, _memory, own_operators
from portacl.torch._calls import Calls


def layouts():
    """The same 24 numbers, seen in many ways: (name, tensor on the CPU whose storage may be larger)."""
    dense = torch.arange(24.0).view(2, 3, 4) - 7.5
    wide = torch.arange(96.0) - 40
    yield "dense", dense
    yield "transposed", dense.transpose(0, 2)
    yield "permuted", dense.permute(1, 2, 0)
    yield "every second", wide.view(4, 6, 4)[::2, ::2]
    yield "offset", wide[5:29].view(2, 3, 4)
    yield "expanded", dense[:1, :, :1].expand(2, 3, 4)
    yield "overlapping", wide.as_strided((2, 3, 4), (3, 2, 1), 2)
    yield "empty", dense[:0]
    yield "scalar", dense[1, 2, 3]
    yield "channels last", wide.view(2, 4, 3, 4).to(memory_format=torch.channels_last)


def on_npu(tensor: torch.Tensor) -> torch.Tensor:
    """With the same strides and offset, whatever lies between the elements."""
    size = tensor.untyped_storage().nbytes() // tensor.element_size()
    storage = torch.as_strided(tensor, (size,), (1,), 0).npu()
    return storage.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def same(got: torch.Tensor, want: torch.Tensor) -> None:
    assert got.device.type == "npu"
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert torch.equal(torch.nan_to_num(got.cpu(), 7.0), torch.nan_to_num(want, 7.0))


@pytest.mark.parametrize("name, tensor", [pytest.param(*case, id=case[0]) for case in layouts()])
class TestLayouts:
    def test_the_same_elements_are_seen_without_a_copy(self, name, tensor):
        device = on_npu(tensor)
        seen = _memory.on_cpu(device)
        assert seen.device.type == "cpu"
        assert torch.equal(seen, tensor)
        assert seen.stride() == tensor.stride()
        assert tensor.numel() == 0 or seen.data_ptr() == device.data_ptr()

    def test_map(self, name, tensor):
        same(torch.lgamma(on_npu(tensor)), torch.lgamma(tensor))
        assert torch.lgamma(on_npu(tensor)).stride() == torch.lgamma(tensor).stride()

    def test_own_map(self, name, tensor):
        got, want = torch.sin(on_npu(tensor)), torch.sin(tensor)
        assert got.shape == want.shape
        assert got.is_contiguous()  # which is torch_npu's choice
        assert torch.allclose(got.cpu(), want, rtol=1.3e-6, atol=1e-7)

    def test_two_layouts_in_one_call(self, name, tensor):
        other = torch.rand(tensor.shape)
        same(on_npu(tensor) * other.npu(), tensor * other)
        same(torch.hypot(on_npu(tensor), other.npu()), torch.hypot(tensor, other))

    def test_reduction(self, name, tensor):
        same(on_npu(tensor).sum(), tensor.sum())
        if tensor.dim() and tensor.numel():
            same(on_npu(tensor).amax(-1), tensor.amax(-1))

    def test_moves(self, name, tensor):
        device = on_npu(tensor)
        assert torch.equal(device.cpu(), tensor)
        same(device.contiguous(), tensor.contiguous())
        same(device.clone(), tensor)
        for dtype in (torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.bool):
            same(device.to(dtype), tensor.to(dtype))
        same(tensor.npu(), tensor)
        target = torch.zeros(tensor.shape).npu()
        same(target.copy_(device), tensor)

    def test_in_place(self, name, tensor):
        if name == "overlapping":
            return  # undefined on every device, and not always noticed
        if name == "expanded":
            with pytest.raises(RuntimeError, match="single memory location"):
                on_npu(tensor).mul_(2)
            return
        device, host = on_npu(tensor), tensor.clone(memory_format=torch.preserve_format)
        address = device.data_ptr()
        assert device.mul_(3).sub_(1) is device
        assert device.data_ptr() == address
        same(device, host.mul_(3).sub_(1))
        assert device.copysign_(2) is device
        same(device, host.copysign_(2))


class TestInPlace:
    def test_only_the_view_is_written(self):
        base = torch.zeros(4, 5).npu()
        base[:, 1:3].add_(2)
        want = torch.zeros(4, 5)
        want[:, 1:3].add_(2)
        same(base, want)

    def test_the_result_is_the_operand(self):
        with torch.inference_mode():  # where nothing but the kernel decides what is returned
            x = torch.rand(3).npu()
            assert torch.ops.aten.lgamma_.default(x).data_ptr() == x.data_ptr()

    def test_promotion_that_cannot_be_stored_is_refused(self):
        with pytest.raises(RuntimeError, match="can't be cast"):
            torch.ones(3, dtype=torch.int64).npu().copysign_(0.5)  # torch_npu's own kernels do not refuse

    def test_statistics_that_no_schema_marks_as_written(self):
        device, host = nn.BatchNorm1d(3).double().npu(), nn.BatchNorm1d(3).double()
        x = torch.rand(6, 3, dtype=torch.float64)  # which CANN's function does not take
        device(x.npu()), host(x)
        same(device.running_mean, host.running_mean)
        same(device.running_var, host.running_var)


class TestOut:
    def test_right_shape_keeps_memory_and_strides(self):
        out = torch.zeros(3, 2).npu().t()
        address, stride = out.data_ptr(), out.stride()
        x = torch.rand(2, 3)
        for function in (torch.lgamma, torch.floor):  # falls back, is own
            assert function(x.npu(), out=out) is out
            assert (out.data_ptr(), out.stride()) == (address, stride)
            same(out, function(x))

    def test_empty_is_resized_without_a_word(self):
        for function in (torch.mul, torch.copysign):  # is own, falls back
            out = torch.empty(0).npu()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                function(torch.full((2, 3), 2.5).npu(), 1, out=out)
            same(out, torch.full((2, 3), 2.5))

    def test_wrong_shape_is_resized_with_pytorchs_warning(self):
        for function in (torch.mul, torch.copysign):
            out = torch.ones(7).npu()
            with pytest.warns(UserWarning, match="resized"):
                function(torch.full((2, 3), 2.5).npu(), 1, out=out)
            same(out, torch.full((2, 3), 2.5))

    def test_it_may_be_an_input(self):
        for dtype in (torch.float32, torch.float64):  # is own, falls back
            x, y = torch.randint(9, (2, 4, 4)).to(dtype)
            a = x.npu()
            torch.mm(a, y.npu(), out=a)
            same(a, x @ y)

    def test_several(self):
        x = torch.rand(4, 5)
        values, indices = torch.empty(0).npu(), torch.empty(0, dtype=torch.int64).npu()
        torch.sort(x.npu(), 1, out=(values, indices))
        want = torch.sort(x, 1)
        same(values, want.values)
        same(indices, want.indices)

    def test_dtype(self):
        out = torch.empty(3, dtype=torch.float64, device="npu")
        torch.add(torch.ones(3).npu(), 1, out=out)
        same(out, torch.full((3,), 2.0, dtype=torch.float64))
        x, out = torch.ones(3).npu(), torch.empty(3, dtype=torch.int32, device="npu")
        with pytest.raises(RuntimeError, match="can't be cast"):
            torch.hypot(x, x, out=out)
        with pytest.raises(RuntimeError, match="aclnnAdds failed, error code is 161002"):  # own: the operator's own answer
            torch.add(x, 0.5, out=out)


class TestPromotion:
    @pytest.mark.parametrize("left", [torch.bool, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32])
    @pytest.mark.parametrize("right", [torch.bool, torch.int64, torch.float16, torch.float32, 2, 2.5, True])
    def test_as_on_the_cpu(self, left, right):
        x = torch.tensor([0, 1, 3]).to(left)
        y = torch.tensor([1, 2, 5]).to(right) if isinstance(right, torch.dtype) else right
        device = y.npu() if isinstance(y, torch.Tensor) else y
        same(x.npu() * device, x * y)
        same(torch.true_divide(x.npu(), device), torch.true_divide(x, y))

    def test_tensors_without_dimensions_and_numbers(self):
        x = torch.ones(3, dtype=torch.float16)
        same(x.npu() + torch.tensor(2.0).npu(), x + torch.tensor(2.0))
        same(x.npu() + torch.tensor(2.0), x + torch.tensor(2.0))  # a host number is welcome
        same(2.0 - x.npu(), 2.0 - x)
        for compare in (torch.ge, torch.gt, torch.le, torch.lt, torch.eq, torch.ne):
            same(compare(torch.tensor(1.0), x.npu()), compare(torch.tensor(1.0), x))
            same(compare(x.npu(), torch.tensor(1.0)), compare(x, torch.tensor(1.0)))


    def test_numbers_where_the_schema_has_a_tensor(self):
        for dtype in (torch.float16, torch.int64):
            for x in (torch.tensor([1, -3]).to(dtype), torch.tensor(-2).to(dtype)):
                same(torch.copysign(x.npu(), 2.5), torch.copysign(x, 2.5))
        x = torch.tensor([1.5, -3])
        same(x.npu().copysign_(-1), x.clone().copysign_(-1))
        same(torch.copysign(x.npu(), -1, out=torch.empty(2).npu()), torch.copysign(x, -1))


class TestComplex:
    def test_of_real_numbers(self):
        x = torch.rand(3, 4)
        same(x.npu().to(torch.complex64), x.to(torch.complex64))
        target = torch.zeros(4, 3, dtype=torch.complex64)
        same(target.npu().t().copy_(x.npu()), target.t().copy_(x))

    def test_conjugates(self):
        z = torch.view_as_complex(torch.rand(3, 4, 2))
        device = torch.view_as_complex(torch.view_as_real(z).npu())
        same(device.conj().clone(), z.conj().clone())
        same(device.conj().resolve_conj(), z.conj().resolve_conj())
        same(device.conj() @ device.t(), z.conj() @ z.t())
        assert torch.allclose((device.conj() * device).cpu(), z.conj() * z, rtol=1.3e-6, atol=1e-7)
        same(device.imag, z.imag)
        device.conj().copy_(device)
        same(device, z.conj().resolve_conj())


class TestDevices:
    def test_two_devices_in_one_call_are_refused(self):
        with pytest.raises(RuntimeError, match="same device"):
            torch.ones(3).npu() + torch.ones(3)

    def test_two_npus_in_one_call_are_refused(self, program):
        out, err, status = program(
            """
            x, y = torch.ones(3).to("npu:1"), torch.ones(3).to("npu:0")
            print((x * 2 + torch.rand(3, device="npu:1")).device, torch.arange(3, device="npu:1").device)
            print(y.copy_(x).device)
            try:
                torch.hypot(x, y)
            except RuntimeError as error:
                print(error)
            """,
            PORTACL_DEVICE_COUNT="2",
            PORTACL_FALLBACK="quiet",
        )
        assert status == 0, err
        assert out.splitlines()[:2] == ["npu:1 npu:1", "npu:0"]
        assert "same device" in out and "npu:1 and npu:0" in out

    def test_indices_may_be_on_the_host(self):
        x = torch.rand(5, 2)
        same(x.npu()[torch.tensor([3, 1])], x[torch.tensor([3, 1])])
        device = x.npu()
        device[torch.tensor([0, 2])] = 1.5
        x[torch.tensor([0, 2])] = 1.5
        same(device, x)

    def test_factories(self):
        same(torch.arange(2, 9, 3, device="npu"), torch.arange(2, 9, 3))
        same(torch.linspace(0, 1, 5, device="npu"), torch.linspace(0, 1, 5))
        same(torch.eye(3, device="npu:0"), torch.eye(3))


class TestShapesFromData:
    def test_they_come_out(self):
        x = torch.tensor([3.0, 0.0, -1.0, 3.0])
        same(x.npu().nonzero(), x.nonzero())
        same(x.npu()[x.npu() > 0], x[x > 0])
        for got, want in zip(
            torch.unique(x.npu(), return_inverse=True, return_counts=True),
            torch.unique(x, return_inverse=True, return_counts=True),
        ):
            same(got, want)

    @pytest.mark.parametrize("streams", ["the current one", "another"])
    def test_work_is_pending_in_the_stream(self, streams):
        """The shape is known when what the mask depends on has been computed, and no sooner."""
        n = 1 << 21
        source = (torch.arange(n) % 7).float().npu()
        torch.npu.synchronize()
        want = torch.arange(n) % 7 == 3
        stream = torch.npu.current_stream() if streams == "the current one" else torch.npu.Stream()
        with torch.npu.stream(stream):
            for _ in range(3):
                x = torch.zeros(n, device="npu")
                for _ in range(4):
                    x.copy_(source.view(2, -1).t().reshape(-1).view(-1, 2).t().reshape(-1))  # takes a while, changes nothing
                mask = x == 3
                places = mask.nonzero()
                assert places.shape == (int(want.sum()), 1)
                same(places, want.nonzero())
                same(mask.nonzero(as_tuple=True)[0], want.nonzero(as_tuple=True)[0])
                x.add_(1)
                same(x.masked_select(mask), torch.full((places.shape[0],), 4.0))
                x.mul_(2)
                same(x[mask], torch.full((places.shape[0],), 8.0))
                x[mask] = 1.0
                x[places[:2, 0]] += 4
                assert x.sum().item() == (source.cpu() * 2 + 2)[~want].sum().item() + places.shape[0] + 8

    def test_nothing_and_everything(self):
        for x in (torch.zeros(3, 4), torch.ones(3, 4), torch.zeros(0, 4), torch.tensor(0.0), torch.tensor(2.0)):
            same(x.npu().nonzero(), x.nonzero())
            same(x.npu()[x.npu() != 0], x[x != 0])
            same(x.npu().masked_select(x.npu() != 0), x.masked_select(x != 0))


class TestBadIndices:
    def test_the_message_names_the_index_and_nothing_runs_behind_it(self, program):
        # torch_npu has its streams stop on failure.
        out, err, status = program(
            """
            x = torch.arange(12.0).npu().view(4, 3)
            index = torch.tensor([1, 4, 0]).npu()
            y = x.index_select(0, index)
            for wait in (torch.npu.synchronize, x.add_(1).cpu):
                try:
                    wait()
                except RuntimeError as error:
                    print("index has the value 4 at element 1, accepted: 0 to 3." in str(error))
            """
        )
        assert (out.splitlines()[:1], len(out.splitlines()), status) == (["True"], 2, 0), err

    def test_they_may_be_ignored(self, program):
        out, err, status = program(
            """
            x = torch.arange(12.0).npu().view(4, 3)
            print(x.index_select(0, torch.tensor([1, 4]).npu()).cpu().tolist())
            """,
            PORTACL_INDEX_ERRORS="ignore",
        )
        assert (out, status) == ("[[3.0, 4.0, 5.0], [0.0, 0.0, 0.0]]\n", 0), err


def grown(parameters, make, steps=4, **how):
    """Parameters after some steps of an optimizer."""
    optimizer = make(parameters, **how)
    for step in range(steps):
        optimizer.zero_grad()
        sum(((p - step) ** 2).mean() for p in parameters).backward()
        optimizer.step()
    return parameters


class TestLists:
    @pytest.mark.parametrize("how", [{}, {"foreach": True}, {"foreach": False}], ids=str)
    @pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop", "Adadelta", "NAdam", "Rprop"])
    def test_optimizers(self, name, how):
        generator = torch.Generator().manual_seed(3)
        starts = [torch.rand(4, 3, generator=generator), torch.rand(5, generator=generator)]
        results = [
            grown([s.to(device).requires_grad_() for s in starts], getattr(torch.optim, name), lr=0.05, **how)
            for device in ("npu", "cpu")
        ]
        for got, want in zip(*results):
            assert torch.allclose(got.detach().cpu(), want.detach(), rtol=1e-6, atol=1e-7)

    def test_clipping(self):
        starts = [torch.rand(4, 3), torch.rand(5)]
        norms = []
        for device in ("npu", "cpu"):
            parameters = [s.to(device).requires_grad_() for s in starts]
            sum((p * 3).sum() for p in parameters).backward()
            norms.append(nn.utils.clip_grad_norm_(parameters, 1.0).item())
            assert nn.utils.get_total_norm([p.grad for p in parameters]).item() == pytest.approx(1.0, rel=1e-5)
        assert norms[0] == norms[1]


class TestGradients:
    def both(self, function, *inputs):
        results = []
        for device in ("npu", "cpu"):
            leaves = [i.to(device).requires_grad_() for i in inputs]
            out = function(*leaves)
            (first,) = torch.autograd.grad(out.sin().sum(), leaves[:1], create_graph=True)
            second = torch.autograd.grad(first.square().sum(), leaves, allow_unused=True)
            results.append((out, first, second))
        (out, first, second), (host_out, host_first, host_second) = results
        assert torch.allclose(out.cpu(), host_out, rtol=1e-6, atol=1e-6)
        assert torch.allclose(first.cpu(), host_first, rtol=1e-5, atol=1e-6)
        for got, want in zip(second, host_second):
            assert (got is None) == (want is None)
            if got is not None:
                assert torch.allclose(got.cpu(), want, rtol=1e-4, atol=1e-5)

    def test_first_and_second(self):
        x, y = torch.rand(4, 4), torch.rand(4, 4)
        self.both(lambda a: (a.tanh() * a.exp()).sum(0), x)
        self.both(lambda a, b: a @ b, x, y)
        self.both(lambda a, b: torch.linalg.solve(a + 3 * torch.eye(4, device=a.device), b), x, y)
        self.both(lambda a: torch.softmax(a, 1).cumsum(0), x)
        self.both(lambda a: a[torch.tensor([1, 0, 1])], x)
        self.both(lambda a: a.gather(1, torch.zeros(4, 2, dtype=torch.int64, device=a.device)), x)
        self.both(lambda a: nn.functional.silu(a), x)
        self.both(lambda a: a.view(2, 8).t().contiguous() * 2, x)

    def test_a_saved_tensor_that_was_written_is_noticed(self):
        x = torch.rand(3).npu().requires_grad_()
        y = x.exp()
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()

    def test_nothing_is_recorded_without_need(self):
        x = torch.rand(3).npu().requires_grad_()
        with torch.no_grad():
            assert not (x * 2).requires_grad
        with torch.inference_mode():
            assert (x @ x).is_inference()
        assert (x * 2).requires_grad

    def test_an_operator_that_returns_a_view_would_return_one(self):
        # torch_npu has every view operator today, and they need nothing: so the kernel is called by hand.
        kernel = _kernels.fallback(torch.ops.aten.diagonal.default, Calls("aten::diagonal", own=False), lambda: None)
        x = torch.rand(4, 4)
        device = x.npu()
        got = kernel(device, 1)
        same(got, x.diagonal(1))
        assert got.untyped_storage().data_ptr() == device.untyped_storage().data_ptr()

    def test_views_stay_views(self):
        x = torch.rand(4, 4).npu()
        for view in (x.t(), x[1:], x.diagonal(), x.unfold(0, 2, 1), x.expand(2, 4, 4), x.view(16), x.chunk(2)[1]):
            assert view._base is x
            assert view.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        parts = torch.rand(6).npu().split(2)
        parts[1].zero_()
        assert parts[1].sum().item() == 0

    @pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
    def test_recurrent(self, kind):
        torch.manual_seed(3)
        host = getattr(nn, kind)(3, 4, 2, bidirectional=True)
        device = getattr(nn, kind)(3, 4, 2, bidirectional=True)
        device.load_state_dict(host.state_dict())
        device.npu()
        x = torch.rand(5, 2, 3)
        results = []
        for module, place in ((device, "npu"), (host, "cpu")):
            output = module(x.to(place))[0]
            output.square().sum().backward()
            results.append([output, *(p.grad for p in module.parameters())])
        for got, want in zip(*results):
            assert torch.allclose(got.cpu(), want, rtol=1e-5, atol=1e-6)

    @pytest.mark.parametrize("causal", [False, True])
    def test_attention(self, causal):
        inputs = [torch.rand(2, 3, 5, 8) for _ in range(3)]
        results = []
        for place in ("npu", "cpu"):
            leaves = [i.to(place).requires_grad_() for i in inputs]
            out = nn.functional.scaled_dot_product_attention(*leaves, is_causal=causal)
            out.sum().backward()
            results.append([out, *(leaf.grad for leaf in leaves)])
        for got, want in zip(*results):
            assert torch.allclose(got.cpu(), want, rtol=1e-5, atol=1e-6)


class TestMemoryFormat:
    def test_channels_last_stays(self):
        x = torch.rand(2, 4, 5, 5, dtype=torch.float64).to(memory_format=torch.channels_last)
        weight = torch.rand(3, 4, 3, 3, dtype=torch.float64)  # which CANN's convolution does not take
        got, want = nn.functional.conv2d(on_npu(x), weight.npu()), nn.functional.conv2d(x, weight)
        assert torch.allclose(got.cpu(), want, rtol=1e-5, atol=1e-5)
        assert got.stride() == want.stride()
        assert torch.lgamma(on_npu(x)).is_contiguous(memory_format=torch.channels_last)


def draw(device="npu", generator=None):
    """Some random numbers of every kind."""
    how = {"device": device, "generator": generator}
    return [
        torch.rand(5, **how),
        torch.randn(5, **how),
        torch.randint(0, 1000, (5,), **how),
        torch.randperm(20, **how),
        torch.empty(5, device=device).exponential_(generator=generator),
        torch.bernoulli(torch.full((20,), 0.5, device=device), generator=generator),
        torch.multinomial(torch.ones(50, device=device), 8, generator=generator),
        torch.normal(torch.zeros(4, device=device), 1.0, generator=generator),
    ]


def equal(these, those) -> bool:
    return all(torch.equal(a.cpu(), b.cpu()) for a, b in zip(these, those))


class TestRandomNumbers:
    def test_a_seed_repeats_them(self):
        torch.manual_seed(5)
        first = draw()
        second = draw()
        assert not any(torch.equal(a.cpu(), b.cpu()) for a, b in zip(first, second))
        torch.manual_seed(5)
        assert equal(first, draw()) and equal(second, draw())
        torch.npu.manual_seed(5)
        assert equal(first, draw())
        torch.npu.manual_seed(6)
        assert not equal(first, draw())

    def test_dropout(self):
        x = torch.ones(200).npu().requires_grad_()
        torch.manual_seed(1)
        y = nn.functional.dropout(x, 0.25)
        y.sum().backward()
        assert torch.equal(x.grad.cpu(), y.detach().cpu())  # the same elements were kept, with the same factor
        assert set(y.detach().cpu().tolist()) == {0.0, torch.tensor(4 / 3).item()}
        torch.manual_seed(1)
        assert torch.equal(nn.functional.dropout(x, 0.25).detach().cpu(), y.detach().cpu())

    def test_state(self):
        draw()
        state = torch.npu.get_rng_state()
        first = draw()
        torch.npu.set_rng_state(state)
        assert equal(first, draw())

    def test_fork(self):
        torch.manual_seed(9)
        with torch.random.fork_rng(devices=[0], device_type="npu"):
            inside = draw()
        assert equal(inside, draw())

    def test_what_is_done_in_a_fork_is_not_seen_outside(self):
        torch.manual_seed(9)
        draw()
        want = draw()
        torch.manual_seed(9)
        draw()
        with torch.random.fork_rng(devices=[0], device_type="npu"):
            torch.manual_seed(77)
            draw()
        assert equal(want, draw())

    def test_a_state_is_kept_between_any_two_calls(self):
        """Each call begins where the one before left off, whatever it drew and however much."""
        calls = [
            lambda: torch.rand(100003, device="npu"),
            lambda: torch.randn(7, device="npu"),
            lambda: torch.randperm(5000, device="npu"),
            lambda: torch.zeros(0, device="npu").uniform_(),
            lambda: nn.functional.dropout(torch.ones(333, device="npu"), 0.3),
            lambda: torch.multinomial(torch.rand(5, 20, device="npu"), 4),
            lambda: torch.zeros(50, device="npu", dtype=torch.float16).normal_(1, 2),
            lambda: torch.zeros(50, device="npu", dtype=torch.int64).random_(-5, 1 << 40),
            lambda: torch.zeros(50, device="npu").bernoulli_(0.3),
            lambda: torch.zeros(50, device="npu").exponential_(2.0),
        ]
        states = []
        first = []
        for call in calls:
            states.append(torch.npu.get_rng_state())
            first.append(call().cpu())
        for number in reversed(range(len(calls))):
            torch.npu.set_rng_state(states[number])
            for call, want in zip(calls[number:], first[number:]):
                assert torch.equal(call().cpu(), want)

    def test_no_two_calls_share_numbers(self):
        """Of 63 random bits no two among a million are the same, unless calls use parts of one sequence twice."""
        torch.manual_seed(3)
        sizes = [1, 3, 4, 5, 1000, 70001, 250000] * 3
        drawn = torch.cat([torch.empty(n, dtype=torch.int64, device="npu").random_().cpu() for n in sizes])
        assert drawn.unique().numel() == drawn.numel() == sum(sizes)
        floats = [torch.rand(1000, dtype=torch.float64, device="npu").cpu() for _ in range(200)]
        assert torch.cat(floats).unique().numel() > 200 * 1000 * 0.98

    def test_exponential_numbers_are_own(self):
        assert "aten::exponential_" in own_operators()
        drawn = torch.empty(200000, device="npu").exponential_(2.0).cpu()
        assert (drawn > 0).all() and abs(drawn.mean() - 0.5) < 0.01
        assert abs((drawn < 0.25).double().mean() - (1 - 2.718281828**-0.5)) < 0.01

    def test_a_generators_state(self):
        generator = torch.Generator(device="npu").manual_seed(11)
        assert generator.initial_seed() == 11
        draw(generator=generator)
        state = generator.get_state()
        want = draw(generator=generator)
        other = torch.Generator(device="npu")
        other.set_state(state)
        assert equal(want, draw(generator=other))
        generator.set_state(state)
        assert equal(want, draw(generator=generator))

    def test_a_generator_of_ones_own(self):
        generator = torch.Generator(device="npu").manual_seed(4)
        torch.manual_seed(1)
        before = torch.npu.get_rng_state()
        first = draw(generator=generator)
        assert torch.equal(torch.npu.get_rng_state(), before)  # the default generator is not used
        assert equal(first, draw(generator=generator.manual_seed(4)))

    def test_the_cpus_generator_is_left_alone(self):
        torch.manual_seed(2)
        before = torch.get_rng_state()
        draw()
        nn.functional.dropout(torch.ones(9).npu(), 0.5)
        assert torch.equal(torch.get_rng_state(), before)

    def test_the_cpus_generator_is_refused(self):
        with pytest.raises(RuntimeError, match="generator"):
            torch.ones(3).npu().uniform_(generator=torch.Generator())


class TestStreams:
    def test_pending_work_is_waited_for(self):
        source = torch.full((1 << 22,), 3.0).npu()
        for stream in (torch.npu.current_stream(), torch.npu.Stream()):
            with torch.npu.stream(stream):
                target = torch.zeros(1 << 22, device="npu")
                for _ in range(4):
                    target.copy_(source.view(2, -1).t().reshape(-1))  # own work that takes a while
                total = (target * 2).copysign(target).sum()  # the second falls back
                target.copy_(source)
                target.add_(1)  # writes after what is pending
                assert total.item() == 6.0 * (1 << 22)
                assert target.sum().item() == 4.0 * (1 << 22)

    def test_many_threads(self):
        wrong = []

        def work(number):
            x = torch.full((100,), float(number)).npu()
            for _ in range(100):
                # What x * 2 took is free before copysign, which the CPU computes, gets memory in another thread.
                if (x * 2 + 1).copysign(x + 1).sum().item() != 100 * (2.0 * number + 1):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong


class TestGradientsOfOwnOperators:
    """CANN has no gradient of this loss: PyTorch's on the CPU takes which classes are labels from what the own operator wrote."""

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
    @pytest.mark.parametrize("shape", [(5, 19), (19,)], ids=str)
    @pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
    def test_multilabel_margin_loss(self, reduction, shape, dtype):
        assert "aten::multilabel_margin_loss_forward" in own_operators()
        x = torch.randn(shape, dtype=dtype)
        target = torch.randint(19, shape)
        target[..., 4] = -1
        target.view(-1)[0] = -1  # a row without labels
        weight = torch.randn(shape[:-1] if reduction == "none" else (), dtype=dtype)
        results = []
        for device in ("cpu", "npu"):
            own = x.to(device).detach().requires_grad_()
            loss = nn.functional.multilabel_margin_loss(own, target.to(device), reduction=reduction)
            (loss * weight.to(device)).sum().backward()
            results.append((loss.detach().cpu(), own.grad.cpu()))
        for cpu, npu in zip(*results):
            torch.testing.assert_close(npu, cpu)

    def test_multilabel_margin_loss_of_halves(self):
        x = torch.randn(7, 12, dtype=torch.float16)
        target = torch.randint(-1, 12, (7, 12))
        loss, marks = torch.ops.aten.multilabel_margin_loss_forward(x.npu(), target.npu(), 0)
        want, labels = torch.ops.aten.multilabel_margin_loss_forward(x.double(), target, 0)
        torch.testing.assert_close(loss.cpu(), want.half())
        assert torch.equal(marks.cpu(), labels.half())


class TestWhatCannotFallBack:
    def test_quantized_results(self):
        with pytest.raises(NotImplementedError, match="quantize_per_tensor.*no dense tensors"):
            torch.quantize_per_tensor(torch.ones(2).npu(), 0.1, 0, torch.qint8)

    def test_torch_npus_own_operators_say_what_is_missing(self):
        with pytest.raises(NotImplementedError, match="npu_hans_encode.*aclnnHansEncode"):
            torch.ops.npu.npu_hans_encode.out(torch.ones(32768).npu(), True, False, out=[torch.ones(64).npu()] * 4)
