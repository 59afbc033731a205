"""Times a layer of experts beside the same layer of PyTorch's operators on the CPU, in one process, the two sides in turn.

usage: python -m portacl bench/experts.py [--threads N] [--rounds N] [--tokens N] [--width N] [--hidden N]     (./dev bench --experts)

Each of 512 tokens of 1024 numbers goes to the two best of eight experts, which multiply by [1024, 7168], gate by SiLU, and multiply by [3584, 1024].
npu: npu_moe_* and npu_grouped_matmul, with int8 npu_dynamic_quant. cpu: topk, and for each expert index_select, matmul and index_add; with int8
_int_mm of rows that are quantised by the same formula. Results are compared first. A time is the best of all rounds, a ratio, cpu / npu, the median
of the rounds' ratios: above 1, npu is faster. The last rows: npu_dynamic_quant beside a copy that reads and writes as many bytes.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("PORTACL_FALLBACK", "error")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "examples" / "pytorch"))
EXPERTS, TAKEN = 8, 2


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(usage=__doc__)
    for name, value in (("threads", 2), ("rounds", 15), ("tokens", 512), ("width", 1024), ("hidden", 3584)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


options = parsed()
os.environ["PORTACL_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(options.threads)
import moe  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402
import torch_npu  # noqa: E402


class Layer:
    """Weights of both sides, and the layer's calls."""

    def __init__(self, dtype: torch.dtype):
        torch.manual_seed(1)
        width, hidden = options.width, options.hidden
        self.x = torch.randn(options.tokens, width).to(dtype)
        self.slope = torch.randn(options.tokens, width).to(dtype)
        self.choice = (torch.randn(width, EXPERTS) / width**0.5).to(dtype)
        self.up = (torch.randn(EXPERTS, width, 2 * hidden) / width**0.5).to(dtype)
        self.down = (torch.randn(EXPERTS, hidden, width) / hidden**0.5).to(dtype)
        self.parameters = [self.x, self.choice, self.up, self.down]
        self.on_npu = [parameter.npu() for parameter in self.parameters]
        self.slope_on_npu = self.slope.npu()
        self.whole_up, self.step_up = moe.as_int8(self.up.float(), 1)
        self.whole_down, self.step_down = moe.as_int8(self.down.float(), 1)
        self.int8_on_npu = [t.npu() for t in (self.whole_up, self.step_up.to(dtype), self.whole_down, self.step_down.to(dtype))]
        self.step_up, self.step_down = self.step_up.to(dtype).float(), self.step_down.to(dtype).float()

    def need_gradients(self) -> None:
        for parameter in (*self.parameters, *self.on_npu):
            parameter.requires_grad_()

    def npu_route(self):
        x, choice, *_ = self.on_npu
        logits = x @ choice
        _, experts, _ = torch_npu.npu_moe_gating_top_k_softmax(logits.detach(), k=TAKEN)
        shares = logits.softmax(-1).gather(1, experts.long())
        rows, places = torch_npu.npu_moe_token_permute(x, experts)
        sizes = (experts.flatten()[:, None] == torch.arange(EXPERTS, device=x.device)).sum(0)
        return rows, places, shares, sizes

    def npu(self):
        rows, places, shares, sizes = self.npu_route()
        *_, up, down = self.on_npu
        gated = torch_npu.npu_swiglu(moe.GroupedProduct.apply(rows, up, sizes), dim=-1)
        return torch_npu.npu_moe_token_unpermute(moe.GroupedProduct.apply(gated, down, sizes), places, shares)

    def npu_int8(self):
        rows, places, shares, sizes = self.npu_route()
        for weight, scale, is_gated in ((*self.int8_on_npu[:2], True), (*self.int8_on_npu[2:], False)):
            whole, step = torch_npu.npu_dynamic_quant(rows)
            rows = moe.grouped(whole, weight, sizes, 0, scale=[scale], per_token_scale=[step], output_dtype=shares.dtype)
            if is_gated:
                rows = torch_npu.npu_swiglu(rows, dim=-1)
        return torch_npu.npu_moe_token_unpermute(rows, places, shares)

    def cpu(self, product=None):
        x, choice, up, down = self.parameters
        shares, experts = (x @ choice).softmax(-1).topk(TAKEN)
        result = torch.zeros_like(x)
        for expert in range(EXPERTS):
            token, place = (experts == expert).nonzero(as_tuple=True)
            rows = x.index_select(0, token)
            first, second = (product(rows, expert, True) if product else rows @ up[expert]).chunk(2, dim=-1)
            gated = F.silu(first) * second
            made = product(gated, expert, False) if product else gated @ down[expert]
            result = result.index_add(0, token, made * shares[token, place, None])
        return result

    def cpu_int8(self):
        def product(rows, expert, is_up):
            weight, step = (self.whole_up, self.step_up) if is_up else (self.whole_down, self.step_down)
            greatest = rows.abs().amax(1, keepdim=True).float() / 127
            whole = torch.round(rows.float() / greatest).to(torch.int8)
            return (torch._int_mm(whole, weight[expert]).float() * step[expert] * greatest).to(rows.dtype)

        return self.cpu(product)

    def npu_trained(self):
        for parameter in self.on_npu:
            parameter.grad = None
        self.npu().backward(self.slope_on_npu)

    def cpu_trained(self):
        for parameter in self.parameters:
            parameter.grad = None
        self.cpu().backward(self.slope)


def timed(function) -> float:
    start = time.perf_counter()
    function()
    torch.npu.synchronize()
    return time.perf_counter() - start


def compare(name: str, npu, cpu) -> None:
    timed(npu), timed(cpu)
    pairs = [(timed(npu), timed(cpu)) for _ in range(options.rounds)]
    best = [min(pair[side] for pair in pairs) * 1e3 for side in (0, 1)]
    print(f"{name:<34} {best[0]:9.2f} {best[1]:9.2f} {statistics.median(theirs / ours for ours, theirs in pairs):10.2f}", flush=True)


def compare_quantiser(columns: int) -> None:
    x = torch.randn((1 << 25) // columns, columns).to(torch.bfloat16).npu()
    source = torch.zeros(3 * x.numel() // 2, dtype=torch.uint8)  # two bytes a number are read, one is written
    target = torch.zeros_like(source)
    compare(f"npu_dynamic_quant, {columns} columns", lambda: torch_npu.npu_dynamic_quant(x), lambda: target.copy_(source))


def must_agree(npu: torch.Tensor, cpu: torch.Tensor, part: float) -> None:
    """A token whose second and third expert are close may have another one: a few rows in a hundred."""
    npu, cpu = npu.detach().cpu().float(), cpu.detach().float()
    far = ((npu - cpu).abs().amax(-1) > part * cpu.abs().max()).float().mean().item()
    if far > 0.05:
        raise SystemExit(f"{100 * far:.1f} % of the rows differ")


def main() -> int:
    torch.set_num_threads(options.threads)
    print(f"{options.threads} thread{'s' if options.threads > 1 else ''}: milliseconds")
    print(f"{'':<34} {'npu':>9} {'cpu':>9} {'cpu / npu':>10}")
    for dtype, name in ((torch.bfloat16, "bf16"), (torch.float32, "f32")):
        layer = Layer(dtype)
        with torch.no_grad():
            must_agree(layer.npu(), layer.cpu(), 0.05)
            compare(f"{name}, forward", layer.npu, layer.cpu)
            if dtype == torch.bfloat16:
                must_agree(layer.npu_int8(), layer.cpu_int8(), 0.1)
                compare("int8, forward", layer.npu_int8, layer.cpu_int8)
        layer.need_gradients()
        layer.npu_trained(), layer.cpu_trained()
        must_agree(layer.on_npu[0].grad, layer.x.grad, 0.1)
        compare(f"{name}, forward and gradients", layer.npu_trained, layer.cpu_trained)
    for columns in (1024, 4096):
        compare_quantiser(columns)
    return 0


if __name__ == "__main__":
    sys.exit(main())
