"""Functions of ATen that few models call, on the NPU beside PyTorch's CPU, none of which falls back."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import functools
import math

import pytest
import torch
import torch_npu  # noqa: F401
from torch.nn import functional as F

import portacl.torch

OWN = """gcd.out _add_relu.Tensor _add_relu_.Tensor addr addr_ xlogy.Scalar_Other xlogy.Scalar_Self xlogy_.Scalar_Other complex polar angle
channel_shuffle fill_diagonal_ _chunk_cat upsample_linear1d upsample_linear1d_backward upsample_nearest1d_backward _upsample_nearest_exact1d
_upsample_nearest_exact1d_backward _upsample_nearest_exact2d _upsample_nearest_exact2d_backward _ctc_loss _ctc_loss_backward batch_norm_stats
batch_norm_elemt batch_norm_backward_elemt batch_norm_reduce batch_norm_backward_reduce batch_norm_gather_stats_with_counts
batch_norm_gather_stats_update isin.Tensor_Scalar isin.Scalar_Tensor_out logspace.out _embedding_bag _embedding_bag_forward_only _pdist_forward
unique_dim linalg_cholesky slogdet _linalg_svd _fused_adam_ _fused_adam_.tensor_lr upsample_nearest3d upsample_nearest3d_backward
_upsample_nearest_exact3d _upsample_nearest_exact3d_backward
upsample_trilinear3d upsample_trilinear3d_backward upsample_bicubic2d_backward _upsample_bilinear2d_aa _upsample_bilinear2d_aa_backward
_upsample_bicubic2d_aa _upsample_bicubic2d_aa_backward reflection_pad3d reflection_pad3d_backward replication_pad3d replication_pad3d_backward
_adaptive_avg_pool3d _adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward max_unpool2d max_unpool3d
affine_grid_generator grid_sampler_3d grid_sampler_3d_backward grid_sampler_2d_backward renorm renorm.out
 renorm_""".split()


def drawn(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def same(f, *tensors, **tolerance):
    """f of tensors on the NPU and on the CPU."""
    got = f(*(tensor.npu() for tensor in tensors))
    assert got.device.type == "npu"
    torch.testing.assert_close(got.cpu(), f(*tensors), equal_nan=True, **tolerance)


def test_they_are_own():
    assert {f"aten::{name}" for name in OWN} - portacl.torch.own_operators() == set()
    assert "npu::npu_fused_cross_entropy_loss_with_max_sum" in portacl.torch.own_operators()


@pytest.mark.parametrize("dtype", [torch.int16, torch.int32, torch.int64], ids=str)
def test_divisors(dtype):
    a = torch.tensor([0, 12, -18, 7, 100, -1], dtype=dtype)
    same(torch.gcd, a, torch.tensor([0, 18, 12, 21, -75, 0], dtype=dtype))
    same(torch.gcd, a.view(2, 3), torch.tensor([4, 6, 8], dtype=dtype))


def test_sums():
    a, b = drawn(3, 5), drawn(3, 5) * 2
    same(lambda x, y: torch.ops.aten._add_relu(x, y, alpha=-0.5), a, b)
    same(lambda x, y: torch.ops.aten._add_relu_(x.clone(), y), a, b)
    m = drawn(4, 6)
    same(lambda x, u, v: torch.addr(x, u, v, beta=0.5, alpha=-2), m, drawn(4), drawn(6))
    same(lambda x, u, v: torch.addr(x, u, v, beta=0), torch.full((4, 6), float("nan")), drawn(4), drawn(6))
    same(lambda x, u, v: x.clone().addr_(u, v), m, drawn(4), drawn(6))
    truths = torch.tensor([True, False, True])
    same(torch.addr, torch.zeros(3, 3, dtype=torch.bool), truths, truths)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
def test_sums_wrap_before_what_is_below_zero_is_left_out(dtype):
    most = torch.iinfo(dtype).max
    a = torch.tensor([most, most, 5, 5, 0, 1], dtype=dtype)
    b = torch.tensor([1, most, 3, 9, 0, most], dtype=dtype)
    for alpha in (1, 2) if dtype == torch.uint8 else (1, 2, -1):
        sums = [(int(x) + alpha * int(y)) % 2 ** (8 * dtype.itemsize) for x, y in zip(a, b)]
        wanted = [0 if dtype != torch.uint8 and x > most else x for x in sums]
        got = torch.ops.aten._add_relu(a.npu(), b.npu(), alpha=alpha)
        assert got.cpu().tolist() == wanted


def test_logarithms():
    x = torch.tensor([0.0, 1.0, 2.5, float("nan"), -1.0])
    for number in (0.0, 2.0, float("nan")):
        same(lambda t, number=number: torch.xlogy(t, number), x)
        same(lambda t, number=number: torch.xlogy(number, t), x)
    same(lambda t: t.clone().xlogy_(3.0), x)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, float("inf")])
def test_slices_scaled_to_a_norm(p):
    for dim in (0, -1):
        same(lambda x, dim=dim: x.renorm(p, dim, 1.5), drawn(3, 4, 5))
        same(lambda x, dim=dim: x.clone().renorm_(p, dim, 40.0), drawn(7, 300))
    x = drawn(3, 4).npu().requires_grad_()
    x.renorm(p, 0, 1.0).sum().backward()
    assert x.grad is not None


def test_losses_from_what_several_devices_found():
    logits = drawn(5, 33) * 3
    targets = torch.tensor([0, 32, 7, 7, 1])
    most = logits.max(1).values
    sums = (logits - most[:, None]).exp().sum(1)
    predicted = logits[torch.arange(5), targets] - most
    for given in (logits, logits.half(), None):
        numbers = (tensor.npu() for tensor in (most, sums, predicted))
        loss, shares = torch_npu.npu_fused_cross_entropy_loss_with_max_sum(
            *numbers, vocab_parallel_logits=None if given is None else given.npu()
        )
        torch.testing.assert_close(loss.cpu(), F.cross_entropy(logits, targets, reduction="none"))
        if given is not None:
            torch.testing.assert_close(shares.cpu(), (given.float() - most[:, None]).exp() / sums[:, None])


def test_complex_numbers():
    a, b = drawn(3, 4), drawn(3, 4) * 2
    same(torch.complex, a, b)
    same(torch.complex, a.double(), b.double()[:1])
    same(torch.polar, a.abs(), b)
    same(torch.angle, torch.complex(a, b))
    same(torch.angle, torch.cat([a.flatten(), torch.tensor([0.0, -0.0, float("nan")])]))


def test_movements():
    same(lambda x: torch.channel_shuffle(x, 3), drawn(2, 12, 5, 5))
    for shape in ((3, 3), (7, 3), (3, 7), (4, 4, 4)):
        for wrap in (False, True):
            same(lambda x, wrap=wrap: x.clone().fill_diagonal_(2.5, wrap=wrap), drawn(*shape))
    same(lambda x, y: torch._chunk_cat([x, y], 0, 4), drawn(7, 3), drawn(5))


@pytest.mark.parametrize("size", [3, 10, 17])
@pytest.mark.parametrize("mode", ["linear", "linear by the corners", "nearest", "nearest-exact"])
def test_sequences_resized(mode, size):
    corners = {"align_corners": mode.endswith("corners")} if mode.startswith("linear") else {}
    kind = mode.split()[0]
    both = []
    for device in ("npu", "cpu"):
        x = drawn(2, 3, 10).to(device).requires_grad_()
        y = F.interpolate(x, size=size, mode=kind, **corners)
        (y * drawn(2, 3, size).to(device)).sum().backward()
        both.append((y.detach().cpu(), x.grad.cpu()))
    for got, want in zip(*both):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_images_resized_exactly():
    both = []
    for device in ("npu", "cpu"):
        x = drawn(2, 3, 5, 7).to(device).requires_grad_()
        y = F.interpolate(x, scale_factor=1.7, mode="nearest-exact")
        (y * y).sum().backward()
        both.append((y.detach().cpu(), x.grad.cpu()))
    for got, want in zip(*both):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def trained(f, *shape):
    """f and its gradient on the NPU and on the CPU."""
    both = []
    for device in ("npu", "cpu"):
        x = drawn(*shape).to(device).requires_grad_()
        y = f(x)
        (y * drawn(*y.shape).to(device)).sum().backward()
        both.append((y.detach().cpu(), x.grad.cpu()))
    for got, want in zip(*both):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("size", [(2, 3, 5), (4, 5, 6), (9, 11, 13)], ids=str)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact", "trilinear", "trilinear by the corners"])
def test_volumes_resized(mode, size):
    corners = {"align_corners": mode.endswith("corners")} if mode.startswith("trilinear") else {}
    trained(lambda x: F.interpolate(x, size=size, mode=mode.split()[0], **corners), 2, 3, 4, 5, 6)


@pytest.mark.parametrize("size", [(3, 4), (20, 17), (31, 40)], ids=str)
@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_images_resized_smoothly(mode, corners, size):
    trained(lambda x: F.interpolate(x, size=size, mode=mode, align_corners=corners, antialias=True), 2, 3, 20, 17)
    trained(lambda x: F.interpolate(x, size=size, mode=mode, align_corners=corners), 2, 3, 20, 17)


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_volumes_padded(mode):
    trained(lambda x: F.pad(x, (2, 1, 0, 3, 1, 2), mode=mode), 2, 3, 4, 5, 6)
    trained(lambda x: F.pad(x, (2, -1, -2, 3, 1, -1), mode=mode), 2, 3, 4, 5, 6)


@pytest.mark.parametrize("size", [1, (1, 2, 3), (4, 3, 5)], ids=str)
def test_volumes_pooled(size):
    trained(lambda x: F.adaptive_avg_pool3d(x, size), 2, 3, 4, 5, 6)
    trained(lambda x: F.adaptive_max_pool3d(x, size), 2, 3, 4, 5, 6)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_sampled(mode, padding, corners):
    for shape in ((2, 3, 5, 7), (2, 3, 4, 5, 6)):
        axes = len(shape) - 2
        if mode == "bicubic" and axes == 3:
            continue
        # No place is where a weight bends.
        places = (drawn(2, *shape[2:], axes) * 8).round() / 16 + 0.0371
        both = []
        for device in ("npu", "cpu"):
            x, grid = drawn(*shape).to(device).requires_grad_(), places.to(device).requires_grad_()
            y = F.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=corners)
            (y * drawn(*y.shape).to(device)).sum().backward()
            both.append((y.detach().cpu(), x.grad.cpu(), grid.grad.cpu()))
        for got, want in zip(*both):
            torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)


def cells_of(x, boxes, scale, rows, columns, points, ends_behind):
    """Cells of boxes as torchvision defines them, in float64: the mean over points of what lies between elements, as a matrix for each axis."""

    def shares(low, high, cells, length):
        begin = low * scale
        cell = max((high + ends_behind) * scale - begin, 1.0) / cells
        count = points if points > 0 else math.ceil(cell)
        at = begin + cell * (torch.arange(cells * count, dtype=torch.float64) + 0.5) / count
        near = (at >= -1) & (at <= length)
        weight = (1 - (at.clamp(0, length - 1)[:, None] - torch.arange(length)).abs()).clamp(min=0) * near[:, None]
        return weight.view(cells, count, length).mean(1)

    return torch.stack([
        torch.einsum("rh,chw,sw->crs", shares(y1, y2, rows, x.shape[2]), x[int(n)], shares(x1, x2, columns, x.shape[3]))
        for n, x1, y1, x2, y2 in boxes.tolist()
    ])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16], ids=str)
@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("points", [0, 2])
def test_cells_of_boxes(points, mode, dtype):
    x = drawn(2, 3, 9, 11).to(dtype)
    boxes = torch.tensor([[0, 0, 0, 15, 9], [1, -6, 3, 7, 30], [1, 4, 4, 4, 4], [0, 100, 100, 120, 120]], dtype=dtype)
    exact = x.double().requires_grad_()
    want = cells_of(exact, boxes, 0.5, 2, 4, points, mode)
    gradient = drawn(4, 3, 2, 4).to(dtype)
    want.backward(gradient.double())
    tolerance = {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 1e-3, "atol": 1e-3}
    got = torch_npu.npu_roi_align(x.npu(), boxes.npu(), 0.5, 2, 4, points, mode)
    assert got.dtype == dtype
    torch.testing.assert_close(got.cpu().double(), want.detach(), **tolerance)
    got = torch_npu.npu_roi_alignbk(gradient.npu(), boxes.npu(), list(x.shape), 4, 2, 0.5, points, mode)
    torch.testing.assert_close(got.cpu().double(), exact.grad, **tolerance)


@pytest.mark.parametrize("corners", [False, True])
def test_affine_grids(corners):
    trained(lambda theta: F.affine_grid(theta, (2, 3, 5, 7), align_corners=corners), 2, 2, 3)
    # torch_npu refuses the gradient of a volume's grid.
    theta = drawn(2, 3, 4)
    got, want = (F.affine_grid(theta.to(device), (2, 3, 4, 1, 6), align_corners=corners).cpu() for device in ("npu", "cpu"))
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)


def test_unpooled():
    # torch_npu's own places of maxima in two dims are masks, which unpooling refuses.
    _, flat = F.max_pool2d(drawn(2, 3, 8, 6), 2, return_indices=True)
    _, deep = F.max_pool3d(drawn(2, 3, 4, 6, 8), 2, return_indices=True)
    trained(lambda x: F.max_unpool2d(x, flat.to(x.device), 2), *flat.shape)
    trained(lambda x: F.max_unpool3d(x, deep.to(x.device), 2), *deep.shape)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("zero_infinity", [False, True])
def test_ctc_loss(reduction, zero_infinity):
    targets = torch.randint(1, 20, (4, 12), generator=torch.Generator().manual_seed(0))
    # The last sequence has no way where it counts: it is shorter than its target.
    steps = torch.tensor([50, 47, 31, 12 if not zero_infinity else 5])
    lengths = torch.tensor([12, 9, 0, 4 if not zero_infinity else 8])
    both = []
    for device in ("npu", "cpu"):
        x = drawn(50, 4, 20).to(device).requires_grad_()
        loss = F.ctc_loss(x.log_softmax(2), targets.to(device), steps, lengths, reduction=reduction, zero_infinity=zero_infinity)
        loss.sum().backward()
        both.append((loss.detach().cpu(), x.grad.cpu()))
    for got, want in zip(*both):
        torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.int8], ids=str)
def test_membership(dtype):
    x = torch.tensor([[0, 1, 2], [3, 2, 1]], dtype=dtype)
    for invert in (False, True):
        same(lambda x, invert=invert: torch.isin(x, 2, invert=invert), x)
        same(lambda x, invert=invert: torch.isin(2, x, invert=invert), x)
        same(lambda x, invert=invert: torch.isin(7, x.repeat(4, 1), invert=invert), x)
    edges = torch.tensor([0, 1, 1, 3], dtype=dtype)
    for right in (False, True):
        same(lambda x, edges, right=right: torch.bucketize(x, edges, right=right), x, edges)


def test_powers_evenly_spaced():
    got = torch.logspace(-1, 2, 13, base=10, device="npu")
    torch.testing.assert_close(got.cpu(), torch.logspace(-1, 2, 13, base=10), rtol=2e-6, atol=0)
    assert torch.logspace(0, 1, 0, device="npu").numel() == 0


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("includes_last", [False, True])
def test_bags(mode, includes_last):
    table = drawn(9, 33)
    index = torch.randint(9, (20,), generator=torch.Generator().manual_seed(0))
    offsets = torch.tensor([0, 3, 3, 10, 20] if includes_last else [0, 3, 3, 10])
    for padding in (None, 4):
        same(
            lambda table, index, offsets, padding=padding: F.embedding_bag(
                index, table, offsets, mode=mode, include_last_offset=includes_last, padding_idx=padding
            ),
            table,
            index,
            offsets,
        )
    nothing = torch.empty(0, dtype=torch.int64)
    same(lambda table, index, offsets: F.embedding_bag(index, table, offsets, mode=mode), table, nothing, torch.tensor([0, 0]))
    if mode == "sum":
        weighted = functools.partial(F.embedding_bag, mode="sum", include_last_offset=includes_last)
        same(lambda t, i, o, w: weighted(i, t, o, per_sample_weights=w), table, index, offsets, drawn(20))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool], ids=str)
def test_rows_by_an_index_of_any_shape(dtype):
    x = (drawn(9, 5) * 3).to(dtype)
    index = torch.randint(9, (4, 3), generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(torch_npu.npu_gather_sparse_index(x.npu(), index.npu()).cpu(), x[index], rtol=0, atol=0)
    if dtype is torch.float32:  # torch_npu's gradient is of an index of one dim
        both = [one.requires_grad_() for one in (x.npu(), x.clone())]
        index, factor = index.flatten(), drawn(12, 5)
        (torch_npu.npu_gather_sparse_index(both[0], index.npu()) * factor.npu()).sum().backward()
        (both[1][index] * factor).sum().backward()
        torch.testing.assert_close(both[0].grad.cpu(), both[1].grad, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("dim", [None, 0, 1])
def test_gradients_of_repeats(dtype, dim):
    x = drawn(6, 5).to(dtype)
    parts = x.numel() if dim is None else x.shape[dim]
    repeats = torch.randint(4, (parts,), generator=torch.Generator().manual_seed(3))
    grads = []
    for device in ("npu", "cpu"):
        leaf = x.clone().to(device).requires_grad_()
        repeated = torch.repeat_interleave(leaf, repeats.to(device), dim)
        (repeated * drawn(*repeated.shape).to(device, dtype)).sum().backward()
        grads.append(leaf.grad.cpu())
    tolerance = {torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 2e-2, torch.float64: 1e-12}[dtype]
    torch.testing.assert_close(*grads, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_gradients_of_bags(mode):
    index = torch.randint(9, (20,), generator=torch.Generator().manual_seed(2))
    for offsets, last, padding in (([0, 3, 3, 10], False, None), ([0, 3, 3, 10, 20], True, None), ([0, 3, 3, 10], False, 4)):
        grads = []
        for device in ("npu", "cpu"):
            table = drawn(9, 33).to(device).requires_grad_()
            bags = F.embedding_bag(
                index.to(device), table, torch.tensor(offsets, device=device), mode=mode, include_last_offset=last, padding_idx=padding
            )
            (bags * drawn(*bags.shape).to(device)).sum().backward()
            grads.append(table.grad.cpu())
        torch.testing.assert_close(*grads, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, float("inf")])
def test_pairs_of_rows(p):
    same(lambda x: F.pdist(x, p), drawn(40, 7), rtol=1e-5, atol=1e-6)


def test_slices():
    assert torch.unique(torch.empty(0, 3, device="npu"), dim=0).shape == (0, 3)
    x = torch.randint(3, (50, 2, 2), generator=torch.Generator().manual_seed(1))
    for dim in range(3):
        found = functools.partial(torch.unique, dim=dim, return_inverse=True, return_counts=True)
        for got, want in zip(found(x.npu()), found(x)):
            torch.testing.assert_close(got.cpu(), want)


def test_decompositions():
    a = drawn(3, 20, 20)
    same(lambda x: torch.linalg.cholesky(x @ x.mT + 20 * torch.eye(20, device=x.device)), a, rtol=1e-4, atol=1e-5)
    for got, want in zip(torch.slogdet(a.npu()), torch.slogdet(a)):
        torch.testing.assert_close(got.cpu(), want, rtol=1e-4, atol=1e-4)
    both = [a.to(device).requires_grad_() for device in ("npu", "cpu")]
    for one in both:
        torch.slogdet(one)[1].sum().backward()
    torch.testing.assert_close(both[0].grad.cpu(), both[1].grad, rtol=1e-3, atol=1e-3)
    for shape in ((6, 4), (4, 6), (2, 5, 5)):
        x = drawn(*shape)
        same(torch.linalg.svdvals, x, rtol=1e-5, atol=1e-5)
        for full in (False, True):
            u, s, vh = torch.linalg.svd(x.npu(), full_matrices=full)
            k = s.shape[-1]
            torch.testing.assert_close((u[..., :k] * s[..., None, :] @ vh[..., :k, :]).cpu(), x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.3}, {"weight_decay": 0.3, "maximize": True}, {"amsgrad": True}], ids=str)
def test_fused_adam(options):
    both = []
    for device in ("npu", "cpu"):
        params = [torch.nn.Parameter(drawn(*shape).to(device)) for shape in ((3, 4), (5,), ())]
        optimizer = torch.optim.Adam(params, lr=0.1, fused=True, **options)
        for step in range(4):
            for param in params:
                param.grad = drawn(*param.shape).to(device) * (step - 1.5)
            optimizer.step()
        both.append([param.detach().cpu() for param in params])
    for got, want in zip(*both):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("keeps_logits", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("index", [torch.int32, torch.int64], ids=str)
def test_cross_entropy_of_a_linear_layer(dtype, index, keeps_logits):
    """Of two parts of the classes, whose results are joined as ranks join theirs, beside PyTorch's in float64."""
    rows, size, classes = 13, 20, 130
    x, weight, grad = drawn(rows, size, dtype=dtype), drawn(2 * classes, size, dtype=dtype), drawn(rows)
    target = torch.randint(2 * classes, (rows,), generator=torch.Generator().manual_seed(1))
    leaves = [one.double().requires_grad_() for one in (x, weight)]
    want = F.cross_entropy(leaves[0] @ leaves[1].mT, target, reduction="none")
    want.backward(grad.double())

    parts = [part.npu() for part in weight.chunk(2)]
    of = torch_npu.npu_fused_linear_online_max_sum
    found = [of(x.npu(), part, target.to(index).npu(), i * classes, (i + 1) * classes, keeps_logits) for i, part in enumerate(parts)]
    most = torch.maximum(found[0][0], found[1][0])
    total = sum(one[1] * (one[0] - most).exp() for one in found)
    predicted = 0
    for i, (maximum, _, own, mask, masked, _) in enumerate(found):
        bits = torch.tensor([mask[row // 8].item() >> row % 8 & 1 for row in range(rows)])
        is_own = target // classes == i
        torch.testing.assert_close(bits, (~is_own).long())
        torch.testing.assert_close(masked.cpu(), torch.where(is_own, target - i * classes, 0).to(index))
        predicted = predicted + (own + maximum - most) * is_own.npu()
    grads = []
    for part, (_, _, _, mask, masked, logits) in zip(parts, found):
        loss, softmax = torch_npu.npu_fused_cross_entropy_loss_with_max_sum(
            most, total, predicted, vocab_parallel_logits=logits if keeps_logits else None
        )
        torch.testing.assert_close(loss.cpu().double(), want, rtol=1e-4, atol=1e-4)
        given = {"softmax": softmax} if keeps_logits else {"logits_max": most, "sum_exp_logits": total}
        grads.append(
            torch_npu.npu_fused_linear_cross_entropy_loss_with_max_sum_backward(grad.npu(), x.npu(), part, mask, masked, **given)
        )
    tolerance = 2e-3 if dtype == torch.float16 else 1.6e-2
    if keeps_logits:  # of rounded logits
        tolerance *= 4
    got = [sum(one[0].float() for one in grads), torch.cat([one[1].float() for one in grads])]
    for one, leaf in zip(got, leaves):
        torch.testing.assert_close(one.cpu().double(), leaf.grad, rtol=tolerance, atol=tolerance)
