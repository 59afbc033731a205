"""Trains a llama-like network on sequences that follow a rule: RMSNorm, rotary positions, grouped attention, SwiGLU."""

# SPDX-License-Identifier: Apache-2.0
import sys

import torch
import torch.nn.functional as F
import training
from torch import nn

LAYERS, HEADS, GROUPS, WIDTH, HIDDEN, LENGTH, NUMBERS = 2, 4, 2, 128, 344, 48, 31
HEAD = WIDTH // HEADS


def turned(x, cos, sin):
    """Rotary positions: each pair of the two halves is turned by an angle of its place."""
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-second, first], dim=-1) * sin


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(WIDTH, eps=1e-5), nn.RMSNorm(WIDTH, eps=1e-5)
        self.q, self.out = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(WIDTH, GROUPS * HEAD, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        normed = self.norm1(x)
        q, k, v = (part(normed).view(batch, length, -1, HEAD).transpose(1, 2) for part in (self.q, self.k, self.v))
        k, v = (part.repeat_interleave(HEADS // GROUPS, dim=1) for part in (turned(k, cos, sin), v))
        attended = F.scaled_dot_product_attention(turned(q, cos, sin), k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        normed = self.norm2(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(NUMBERS, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.RMSNorm(WIDTH, eps=1e-5), nn.Linear(WIDTH, NUMBERS, bias=False)
        speed = torch.exp2(torch.arange(HEAD // 2, dtype=torch.float32) * (-2 * 13.0 / HEAD))
        angles = torch.outer(torch.arange(LENGTH, dtype=torch.float32), torch.cat([speed, speed]))
        self.register_buffer("cos", torch.cos(angles))
        self.register_buffer("sin", torch.sin(angles))

    def forward(self, tokens):
        x = self.token(tokens)
        for block in self.blocks:
            x = block(x, self.cos, self.sin)
        return self.head(self.norm(x))


class Sequences(training.Task):
    __doc__ = __doc__
    name = "llama"
    steps = 300
    precision = "bf16"
    below = 1.0

    def network(self):
        return Llama()

    def loss(self, network, step):
        """Every number is the sum of the two before it, modulo 31."""
        columns = list(self.whole(step, NUMBERS, 2, self.batch))
        while len(columns) <= LENGTH:
            columns.append((columns[-1] + columns[-2]) % NUMBERS)
        tokens = torch.stack(columns, dim=1)
        return F.cross_entropy(network(tokens[:, :-1]).flatten(0, 1).float(), tokens[:, 1:].flatten())


if __name__ == "__main__":
    sys.exit(training.main(Sequences))
