"""Trains a language model of experts on sequences that follow a rule: four layers of eight experts, of which each token takes two."""

# SPDX-License-Identifier: Apache-2.0
import sys

import torch
import torch.nn.functional as F
import torch_npu
import training
from torch import nn

LAYERS, HEADS, WIDTH, EXPERTS, TAKEN, HIDDEN, LENGTH, NUMBERS = 4, 4, 64, 8, 2, 96, 24, 17
HEAD = WIDTH // HEADS


class GroupedProduct(torch.autograd.Function):
    """Rows times the weight of their group: sizes[g] rows of x, one group behind the other, times weight[g]."""

    @staticmethod
    def forward(ctx, x, weight, sizes):
        ctx.save_for_backward(x, weight, sizes)
        return grouped(x, weight, sizes, 0)

    @staticmethod
    def backward(ctx, gradient):
        x, weight, sizes = ctx.saved_tensors
        return grouped(gradient, weight.transpose(1, 2), sizes, 0), grouped(x.T, gradient, sizes, 2), None


def grouped(x, weight, sizes, group_type, **more):
    return torch_npu.npu_grouped_matmul(
        [x], [weight], group_list=sizes, group_list_type=1, split_item=3, group_type=group_type, **more
    )[0]


def as_int8(x, dim):
    """Whole numbers, and the step between them along a dim."""
    step = x.float().abs().amax(dim, keepdim=True).clamp(min=1e-12) / 127
    return torch.round(x / step).to(torch.int8), step.squeeze(dim)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.choice = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter((torch.rand(EXPERTS, WIDTH, 2 * HIDDEN) * 2 - 1) * WIDTH**-0.5)
        self.down = nn.Parameter((torch.rand(EXPERTS, HIDDEN, WIDTH) * 2 - 1) * HIDDEN**-0.5)
        self.is_int8 = False

    def forward(self, x):
        logits = self.choice(x)
        return self.on_npu(x, logits) if x.device.type == "npu" else self.on_cpu(x, logits)

    def product(self, x, weight, sizes):
        if not self.is_int8:
            return GroupedProduct.apply(x, weight, sizes)
        whole, step = as_int8(x, 1)
        weights, scale = as_int8(weight, 1)
        return grouped(whole, weights, sizes, 0, scale=[scale], per_token_scale=[step], output_dtype=torch.float16).to(x.dtype)

    def on_npu(self, x, logits):
        _, experts, _ = torch_npu.npu_moe_gating_top_k_softmax(logits.detach(), k=TAKEN)
        shares = logits.softmax(-1).gather(1, experts.long())
        rows, places = torch_npu.npu_moe_token_permute(x, experts)
        sizes = (experts.flatten()[:, None] == torch.arange(EXPERTS, device=x.device)).sum(0)
        first, second = self.product(rows, self.up, sizes).chunk(2, dim=-1)
        made = self.product(F.silu(first) * second, self.down, sizes)
        return torch_npu.npu_moe_token_unpermute(made, places, shares)

    def on_cpu(self, x, logits):
        """The same by PyTorch's own operators."""
        all_shares = logits.softmax(-1)
        shares, experts = all_shares.topk(TAKEN)
        result = torch.zeros_like(x)
        for expert in range(EXPERTS):
            token, place = (experts == expert).nonzero(as_tuple=True)
            first, second = (x[token] @ self.up[expert]).chunk(2, dim=-1)
            made = (F.silu(first) * second) @ self.down[expert]
            result = result.index_add(0, token, made * shares[token, place, None])
        return result


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH, eps=1e-5), nn.RMSNorm(WIDTH, eps=1e-5)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.experts = Experts()

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = (part.view(batch, length, HEADS, HEAD).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.experts(self.norm2(x).view(batch * length, WIDTH)).view(batch, length, WIDTH)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(NUMBERS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.RMSNorm(WIDTH, eps=1e-5), nn.Linear(WIDTH, NUMBERS, bias=False)

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Rules(training.Task):
    __doc__ = __doc__
    name = "moe"
    steps = 200
    below = 1.0
    compared = 10  # later a token whose two best experts are close may choose another one

    def network(self):
        return Model()

    def sequences(self, step):
        """Every number is the sum of the two before it, modulo 17."""
        columns = list(self.whole(step, NUMBERS, 2, self.batch))
        while len(columns) <= LENGTH:
            columns.append((columns[-1] + columns[-2]) % NUMBERS)
        return torch.stack(columns, dim=1)

    def loss(self, network, step):
        tokens = self.sequences(step)
        return F.cross_entropy(network(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())

    def shown(self, network):
        if self.device != "npu":
            return ""
        with torch.no_grad():
            tokens = self.sequences(10**6)[:, :-1]
            plain = network(tokens).argmax(-1)
            for block in network.blocks:
                block.experts.is_int8 = True
            same = (network(tokens).argmax(-1) == plain).float().mean().item()
            for block in network.blocks:
                block.experts.is_int8 = False
        return f"experts as int8: {100 * same:.1f} % of all predictions are the same"


if __name__ == "__main__":
    sys.exit(training.main(Rules))
