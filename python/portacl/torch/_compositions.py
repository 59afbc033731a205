"""Operators that only accelerators have in PyTorch, made of operators that every device has.

They are registered where PyTorch records gradients, so the gradient is that of what they are made of.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.autograd import forward_ad

from . import _memory

_Tensor = torch.Tensor


def _with_bias(gates: _Tensor, bias: _Tensor | None) -> _Tensor:
    return gates if bias is None else gates + bias


def _thnn_fused_lstm_cell(
    input_gates: _Tensor,
    hidden_gates: _Tensor,
    cx: _Tensor,
    input_bias: _Tensor | None = None,
    hidden_bias: _Tensor | None = None,
) -> tuple[_Tensor, _Tensor, _Tensor]:
    gates = _with_bias(hidden_gates, hidden_bias) + _with_bias(input_gates, input_bias)
    ingate, forget, cell, outgate = gates.chunk(4, 1)
    cy = forget.sigmoid() * cx + ingate.sigmoid() * cell.tanh()
    hy = outgate.sigmoid() * cy.tanh()
    return hy, cy, gates.detach()  # the third is work space for the fused gradient, which is not used


def _thnn_fused_gru_cell(
    input_gates: _Tensor,
    hidden_gates: _Tensor,
    hx: _Tensor,
    input_bias: _Tensor | None = None,
    hidden_bias: _Tensor | None = None,
) -> tuple[_Tensor, _Tensor]:
    input_reset, input_update, input_new = _with_bias(input_gates, input_bias).chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = _with_bias(hidden_gates, hidden_bias).chunk(3, 1)
    reset = (hidden_reset + input_reset).sigmoid()
    update = (hidden_update + input_update).sigmoid()
    new = (input_new + hidden_new * reset).tanh()
    return (hx - new) * update + new, input_gates.detach()


def pack_padded_sequence(input: _Tensor, lengths: _Tensor, batch_first: bool) -> tuple[_Tensor, _Tensor]:
    """Uses PyTorch's function: torch_npu's keeps the rows that a packed sequence leaves out."""
    torch._check(input.numel() > 0, lambda: "Cannot pack empty tensors.")
    torch._check(
        lengths.dim() == 1 and lengths.is_cpu and lengths.dtype is torch.int64,
        lambda: f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D {lengths.device} "
        f"{lengths.type().rpartition('.')[2].removesuffix('Tensor')} tensor",
    )
    padded = input.transpose(0, 1) if batch_first else input
    batch, each = padded.shape[1], lengths.tolist()
    torch._check(
        len(each) == batch,
        lambda: f"Expected `len(lengths)` to be equal to batch_size, but got {len(each)} (batch_size={batch})",
    )
    torch._check(
        all(n > 0 for n in each),
        lambda: "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0",
    )
    torch._check(
        all(a >= b for a, b in zip(each, each[1:])),
        lambda: "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
        "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need "
        "ONNX exportability.",
    )
    sizes = [sum(n > t for n in each) for t in range(each[0])]
    rows = _rows(sizes, batch).to(input.device)
    return padded.flatten(0, 1).index_select(0, rows), torch.tensor(sizes)


def _rows(sizes: list[int], batch: int) -> _Tensor:
    """Returns the mask of a padded sequence's rows that a packed one has, so many of each step."""
    return torch.cat([torch.arange(t * batch, t * batch + n) for t, n in enumerate(sizes)])


def _is_whole(
    input: _Tensor, hx: list[_Tensor], params: list[_Tensor], has_biases: bool, cells: int, drops: bool
) -> bool:
    """Whether CANN's whole function computes it: one dtype, no projection, no dropout between layers."""
    return (
        input.numel() > 0
        and input.dtype in (torch.float32, torch.float16)
        and all(t.dtype is input.dtype and t.device == input.device for t in (*hx, *params))
        and len(params) == cells * (4 if has_biases else 2)
        and all(state.shape == hx[0].shape for state in hx)
        and not drops
        and not _is_transformed([input, *hx, *params])
    )


def _is_transformed(tensors: list[_Tensor]) -> bool:
    """Whether torch.func or forward mode is active: they differentiate single steps."""
    if torch._C._functorch.peek_interpreter_stack() is not None:
        return True
    return forward_ad._current_level >= 0 and any(forward_ad.unpack_dual(t).tangent is not None for t in tensors)


def _saves(tensors: list[_Tensor]) -> bool:
    return torch.is_grad_enabled() and any(t.requires_grad for t in tensors)


class _Network(NamedTuple):
    """A recurrent network, whose tensors are its input, its states and its parameters."""

    outputs: int
    forward: Callable[..., Any]  # takes whether to save for the gradient, and the tensors; returns outputs and saved tensors
    backward: Callable[..., Any]  # takes gradients of outputs, saved tensors, the tensors; returns gradients of the tensors
    steps: Callable[..., Any]  # takes the tensors; returns the outputs, made of single steps

    def __call__(self, *tensors: _Tensor) -> Any:
        if _saves(list(tensors)):
            return _RecordedNetwork.apply(self, *tensors)
        return tuple(self.forward(False, *tensors)[: self.outputs])


class _RecordedNetwork(torch.autograd.Function):
    """A network with CANN's gradient. PyTorch cannot differentiate that gradient; a second derivative uses that of single steps."""

    @staticmethod
    def forward(ctx: Any, network: _Network, *tensors: _Tensor) -> Any:
        results = network.forward(True, *tensors)
        ctx.network = network
        ctx.save_for_backward(*tensors, *results[network.outputs :])
        return tuple(results[: network.outputs])

    @staticmethod
    def backward(ctx: Any, *of_outputs: _Tensor) -> Any:
        needed = ctx.needs_input_grad[1:]
        tensors, saved = ctx.saved_tensors[: len(needed)], ctx.saved_tensors[len(needed) :]
        if not torch.is_grad_enabled():
            return None, *ctx.network.backward(of_outputs, saved, *tensors)
        wanted = [t for t, need in zip(tensors, needed) if need]
        found = iter(torch.autograd.grad(ctx.network.steps(*tensors), wanted, of_outputs, create_graph=True, allow_unused=True))
        return None, *(next(found) if need else None for need in needed)


def lstm_input(
    steps: Callable[..., Any],
    input: _Tensor,
    hx: list[_Tensor],
    params: list[_Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    """Computes the whole network at once, as torch_npu does on Ascend 950; else in single steps."""
    drops = dropout != 0 and train and num_layers > 1
    if input.dim() != 3 or not _is_whole(input, hx, params, has_biases, num_layers * (1 + bidirectional), drops):
        return steps(
            input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
        )
    single = (has_biases, num_layers, dropout, train, bidirectional, batch_first)
    network = _lstm(
        lambda x, h, c, *p: steps(x, [h, c], list(p), *single), has_biases, num_layers, bidirectional, batch_first=batch_first
    )
    return network(input, *hx, *params)


def _lstm(steps: Callable[..., Any], has_biases: bool, num_layers: int, bidirectional: bool, **how: Any) -> _Network:
    def forward(saves: bool, x: _Tensor, h: _Tensor, c: _Tensor, *params: _Tensor) -> Any:
        return torch.ops.npu._lstm_npu(x, [h, c], list(params), has_biases, num_layers, 0.0, saves, bidirectional, **how)

    def backward(of: Any, saved: Any, x: _Tensor, h: _Tensor, c: _Tensor, *params: _Tensor) -> Any:
        of_x, of_states, of_params = torch.ops.npu._lstm_npu_backward(
            *of, x, [h, c], list(params), *saved, has_biases, num_layers, 0.0, True, bidirectional, **how
        )
        return of_x, *of_states, *of_params

    return _Network(3, forward, backward, steps)


def lstm_data(
    steps: Callable[..., Any],
    data: _Tensor,
    batch_sizes: _Tensor,
    hx: list[_Tensor],
    params: list[_Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
) -> Any:
    """Does the same for a packed sequence, which CANN's function takes together with the rows that it leaves out."""
    drops = dropout != 0 and train and num_layers > 1
    if data.dim() != 2 or not _is_whole(data, hx, params, has_biases, num_layers * (1 + bidirectional), drops):
        return steps(
            data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional
        )
    lengths = batch_sizes.tolist()
    batch = lengths[0]
    rows = _rows(lengths, batch).to(data.device)

    def single(x: _Tensor, h: _Tensor, c: _Tensor, *p: _Tensor) -> Any:
        y, hy, cy = steps(
            x.index_select(0, rows), batch_sizes, [h, c], list(p), has_biases, num_layers, dropout, train, bidirectional
        )
        return y.new_zeros(len(lengths) * batch, y.shape[1]).index_copy(0, rows, y).unflatten(0, (len(lengths), batch)), hy, cy

    padded = data.new_zeros(len(lengths) * batch, data.shape[1]).index_copy(0, rows, data)
    network = _lstm(
        single, has_biases, num_layers, bidirectional, batch_first=False, batch_sizes=batch_sizes.to(data.device)
    )
    whole = network(padded, *hx, *params)
    return whole[0].flatten(0, 1).index_select(0, rows), whole[1], whole[2]


def gru_input(
    steps: Callable[..., Any],
    input: _Tensor,
    hx: _Tensor,
    params: list[_Tensor],
    has_biases: bool,
    num_layers: int,
    dropout: float,
    train: bool,
    bidirectional: bool,
    batch_first: bool,
) -> Any:
    """Computes the whole network at once; else in single steps, as torch_npu does."""
    drops = dropout != 0 and train and num_layers > 1
    if input.dim() != 3 or not _is_whole(input, [hx], params, has_biases, num_layers * (1 + bidirectional), drops):
        return steps(
            input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first
        )
    single = (has_biases, num_layers, dropout, train, bidirectional, batch_first)

    def forward(saves: bool, x: _Tensor, h: _Tensor, *p: _Tensor) -> Any:
        return torch.ops.npu._gru_npu(
            x, h, list(p), has_biases, num_layers, 0.0, saves, bidirectional, batch_first=batch_first
        )

    def backward(of: Any, saved: Any, x: _Tensor, h: _Tensor, *p: _Tensor) -> Any:
        of_x, of_h, of_params = torch.ops.npu._gru_npu_backward(
            *of, x, h, list(p), *saved, has_biases, num_layers, 0.0, True, bidirectional, batch_first=batch_first
        )
        return of_x, of_h, *of_params

    return _Network(2, forward, backward, lambda x, h, *p: steps(x, h, list(p), *single))(input, hx, *params)


_FLASH = 1  # PyTorch's SDPBackend.FLASH_ATTENTION: on a CPU, the fused kernel


def scaled_dot_product_attention(
    query: _Tensor,
    key: _Tensor,
    value: _Tensor,
    attn_mask: _Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> _Tensor:
    """Returns what PyTorch chooses for the same tensors on the CPU: its fused kernel, or the formula."""
    seen = [_memory.shape_on_cpu(t) if t.device.type == "npu" else t for t in (query, key, value)]
    mask = attn_mask
    if mask is not None and mask.device.type == "npu":
        mask = _memory.shape_on_cpu(mask)
    choice = torch._fused_sdp_choice(*seen, mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
    if choice == _FLASH and not (attn_mask is not None and attn_mask.requires_grad):
        if attn_mask is not None and attn_mask.dtype is torch.bool:
            zero = torch.zeros((), dtype=query.dtype, device=query.device)
            attn_mask = torch.where(attn_mask, zero, torch.full_like(zero, float("-inf")))
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
        )[0]
    return torch.ops.aten._scaled_dot_product_attention_math(
        query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa
    )[0]


def one_(self: _Tensor) -> _Tensor:
    return self.fill_(1)


def _fused_adam(
    params: list[_Tensor],
    grads: list[_Tensor],
    exp_avgs: list[_Tensor],
    exp_avg_sqs: list[_Tensor],
    max_exp_avg_sqs: list[_Tensor],
    state_steps: list[_Tensor],
    *,
    lr: float | _Tensor,
    beta1: float,
    beta2: float,
    weight_decay: float,
    eps: float,
    amsgrad: bool,
    maximize: bool,
    grad_scale: _Tensor | None = None,
    found_inf: _Tensor | None = None,
) -> None:
    """Steps of Adam by those of AdamW, which torch_npu has on every product: decay is added to gradients first."""
    if found_inf is not None and found_inf.item() == 1:
        return
    if grad_scale is not None:
        torch._foreach_div_(grads, grad_scale)
    if weight_decay != 0:
        # Gradients are negated after this to maximize.
        grads = list(torch._foreach_add(grads, params, alpha=-weight_decay if maximize else weight_decay))
    torch._fused_adamw_(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        lr=float(lr),
        beta1=beta1,
        beta2=beta2,
        weight_decay=0.0,
        eps=eps,
        amsgrad=amsgrad,
        maximize=maximize,
    )


def _deformed(
    input: _Tensor,
    offset: _Tensor,
    kernel: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    groups: int,
) -> _Tensor:
    """Samples images where a kernel's positions lie that offsets move, in float32: N, C, rows * kernel rows, columns * kernel columns."""
    n, channels, height, width = input.shape
    rows, columns = offset.shape[2:]
    moved = offset.float().view(n, 3, groups, *kernel, rows, columns)

    def positions(axis: int, count: int, before: int) -> _Tensor:
        place = torch.arange(count, device=input.device) * stride[2 + axis] - before
        return (torch.arange(kernel[axis], device=input.device)[:, None] * dilation[2 + axis] + place[None]).float()

    x = positions(1, columns, padding[2])[:, None, :] + moved[:, 0]
    y = positions(0, rows, padding[0])[:, None, :, None] + moved[:, 1]
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1)
    of_groups = input.float().reshape(n * groups, channels // groups, height, width)
    found = torch.nn.functional.grid_sample(of_groups, grid.reshape(n * groups, -1, columns, 2), align_corners=False)
    found = found.view(n, groups, channels // groups, *kernel, rows, columns) * moved[:, 2][:, :, None]
    return found.permute(0, 1, 2, 5, 3, 6, 4).reshape(n, channels, rows * kernel[0], columns * kernel[1])


def _deformable_conv2d(
    input: _Tensor,
    weight: _Tensor,
    offset: _Tensor,
    bias: _Tensor | None,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int] = [1, 1, 1, 1],  # noqa: B006
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
) -> tuple[_Tensor, _Tensor]:
    called = "npu_deformable_conv2d: "
    torch._check(modulated, lambda: called + "modulated is False, accepted: True")
    torch._check(
        all(one.dim() == 4 for one in (input, weight, offset)), lambda: called + "input, weight and offset have 4 dims"
    )
    torch._check(
        len(kernel_size) == 2 and len(stride) == len(padding) == len(dilation) == 4,
        lambda: called + "kernel_size has 2 numbers, stride, padding and dilation have 4",
    )
    of_offset = 3 * deformable_groups * kernel_size[0] * kernel_size[1]
    places = [
        (input.shape[2 + i] + padding[2 * i] + padding[2 * i + 1] - dilation[2 + i] * (kernel_size[i] - 1) - 1) // stride[2 + i] + 1
        for i in (0, 1)
    ]
    torch._check(
        list(offset.shape) == [input.shape[0], of_offset, *places],
        lambda: f"{called}offset has the shape {list(offset.shape)}, accepted: {[input.shape[0], of_offset, *places]}",
    )
    if input.shape[0] == 0:
        samples = input.new_empty(0, input.shape[1], places[0] * kernel_size[0], places[1] * kernel_size[1])
        return input.new_empty(0, weight.shape[0], *places), samples
    samples = _deformed(input, offset, kernel_size, stride, padding, dilation, deformable_groups)
    floats = None if bias is None else bias.float()
    out = torch.nn.functional.conv2d(samples, weight.float(), floats, kernel_size, groups=groups)
    return out.to(input.dtype), samples.detach().to(input.dtype)


def _deformable_conv2d_backward(
    input: _Tensor,
    grad_output: _Tensor,
    offset_out: _Tensor,
    weight: _Tensor,
    offset: _Tensor,
    kernel_size: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int] = [1, 1, 1, 1],  # noqa: B006
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
) -> tuple[_Tensor, _Tensor, _Tensor, _Tensor]:
    with torch.enable_grad():
        given = [one.detach().requires_grad_() for one in (input, weight, offset)]
        bias = weight.detach().new_zeros(weight.shape[0]).requires_grad_()
        settings = (kernel_size, stride, padding, dilation, groups, deformable_groups, modulated)
        out, _ = _deformable_conv2d(*given, bias, *settings)
        of_input, of_weight, of_offset, of_bias = torch.autograd.grad(out, [*given, bias], grad_output)
    return of_input, of_weight, of_offset, of_bias


# Operators that torch_npu computes on the CPU or by the graph engine, but on Ascend 950.
BEFORE_950: dict[str, Callable[..., Any]] = {
    "aten::_fused_adam_": _fused_adam,
    "aten::_fused_adam_.tensor_lr": _fused_adam,
    "npu::npu_deformable_conv2d": _deformable_conv2d,
    "npu::npu_deformable_conv2dbk": _deformable_conv2d_backward,
}

BY_NAME: dict[str, Callable[..., Any]] = {
    "aten::_thnn_fused_lstm_cell": _thnn_fused_lstm_cell,
    "aten::_thnn_fused_gru_cell": _thnn_fused_gru_cell,
    "aten::_pack_padded_sequence": pack_padded_sequence,
    "aten::one_": one_,
    "aten::scaled_dot_product_attention": scaled_dot_product_attention,
}


def _batch_norm_backward_of_nothing(
    grad_out: _Tensor,
    input: _Tensor,
    weight: _Tensor | None,
    running_mean: _Tensor | None,
    running_var: _Tensor | None,
    save_mean: _Tensor | None,
    save_invstd: _Tensor | None,
    train: bool,
    eps: float,
    output_mask: list[bool],
) -> tuple[_Tensor | None, _Tensor | None, _Tensor | None]:
    """Handles tensors without elements: PyTorch's CPU kernel divides by their number, which ends the process."""
    of_channels = input if weight is None else weight
    shapes = (input, input.shape), (of_channels, input.shape[1:2]), (of_channels, input.shape[1:2])
    gradients = [like.new_zeros(shape) if wanted else None for (like, shape), wanted in zip(shapes, output_mask)]
    return gradients[0], gradients[1], gradients[2]


# Replacements for fallbacks of operators whose second tensor has no elements.
OF_NOTHING: dict[str, Callable[..., Any]] = {"aten::native_batch_norm_backward": _batch_norm_backward_of_nothing}


class Whole(NamedTuple):
    """A composition that also receives PyTorch's own composition of the operator, for calls that it leaves to that."""

    compute: Callable[..., Any]
    needs: str  # the operator of torch_npu that it calls
    products: str = ".*"  # the names of the operators that have it


OR_STEPS: dict[str, Whole] = {
    "aten::gru.input": Whole(gru_input, "npu::_gru_npu", "Ascend910(B[0-9]|_93).*"),
    "aten::lstm.data": Whole(lstm_data, "npu::_lstm_npu"),
    "aten::lstm.input": Whole(lstm_input, "npu::_lstm_npu"),
}
