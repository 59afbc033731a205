"""The network: its weights and how ranks share them, and its losses.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import torch
import torch_npu

from gpt import pieces
from gpt.ranks import COPIES

LAYERS, HEADS, WIDTH, WORDS, LENGTH, SEQUENCES = 2, 4, 64, 32, 64, 4
EXPERTS, CHOSEN, HIDDEN = 4, 2, 48
HEAD = WIDTH // HEADS
EPSILON = 1e-5  # of the norms


def whole_weights() -> dict[str, torch.Tensor]:
    """Those of one process, on the CPU, in float32."""
    draw = torch.Generator().manual_seed(11)

    def drawn(*shape: int, terms: int) -> torch.Tensor:
        return torch.randn(shape, generator=draw) * terms**-0.5

    weights = {"words": drawn(WORDS, WIDTH, terms=1)}
    for layer in range(LAYERS):
        weights[f"{layer}.norm1"] = torch.ones(WIDTH)
        weights[f"{layer}.qkv"] = drawn(3, WIDTH, WIDTH, terms=WIDTH)
        weights[f"{layer}.out"] = drawn(WIDTH, WIDTH, terms=WIDTH)
        weights[f"{layer}.norm2"] = torch.ones(WIDTH)
        weights[f"{layer}.choice"] = drawn(WIDTH, EXPERTS, terms=WIDTH)
        weights[f"{layer}.up"] = drawn(EXPERTS, WIDTH, 2, HIDDEN, terms=WIDTH)
        weights[f"{layer}.down"] = drawn(EXPERTS, HIDDEN, WIDTH, terms=HIDDEN)
    weights["norm"] = torch.ones(WIDTH)
    weights["head"] = drawn(WIDTH, WORDS, terms=WIDTH)
    return weights


# The dim of which a rank of TENSOR has a part. Others have all of the weight.
PARTS = {"words": 0, "head": 1, "qkv": 2, "out": 0, "up": 3, "down": 1}


def is_of_experts(name: str) -> bool:
    return name.split(".")[-1] in ("up", "down")


def part(name: str, whole: torch.Tensor, layout, rank: int) -> torch.Tensor:
    """What a rank holds of a weight."""
    dim = PARTS.get(name.split(".")[-1])
    if is_of_experts(name):
        whole = whole.chunk(layout.copies)[layout.peers(rank, COPIES).index(rank)]
    return (whole if dim is None else whole.chunk(layout.tensor, dim)[layout.place(rank)[0]]).contiguous()


def batch(step: int) -> torch.Tensor:
    """Sequences [S + 1,B] of whole numbers, each five times the one before it and three modulo 31, one in eight replaced by chance."""
    draw = torch.Generator().manual_seed(1000 + step)
    chance, other = torch.rand(LENGTH + 1, SEQUENCES, generator=draw) < 0.125, torch.randint(0, WORDS, (LENGTH + 1, SEQUENCES), generator=draw)
    rows = [other[0]]
    for index in range(1, LENGTH + 1):
        rows.append(torch.where(chance[index], other[index], (5 * rows[-1] + 3) % (WORDS - 1)))
    return torch.stack(rows)


def angles() -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of the positions, [S,1,1,D]."""
    turns = torch.arange(LENGTH).double()[:, None] * 10000.0 ** (-torch.arange(0, HEAD, 2).double() / HEAD)
    turns = torch.cat((turns, turns), -1)[:, None, None]
    return turns.cos(), turns.sin()


class Network:
    def __init__(self, ranks, device: str):
        self.ranks = ranks
        wholes = whole_weights()
        self.weights = [
            {name: part(name, whole, ranks.layout, rank).to(device).requires_grad_() for name, whole in wholes.items()} for rank in ranks.ranks
        ]
        self.mask = torch.ones(2048, 2048, dtype=torch.bool, device=device).triu(1)
        self.angles = [tuple(self._own(table.float(), rank).to(device) for table in angles()) for rank in ranks.ranks]
        self.device = device

    def _own(self, rows: torch.Tensor, rank: int) -> torch.Tensor:
        _, index, _ = self.ranks.layout.place(rank)
        return torch.cat([rows[piece] for piece in pieces.pieces_of(index, self.ranks.layout.ring, LENGTH)])

    def named(self, name: str) -> list[torch.Tensor]:
        return [weights[name] for weights in self.weights]

    def losses(self, sequences: torch.Tensor) -> list[torch.Tensor]:
        """Each rank's share of the batch's mean loss. Ranks of TENSOR have the same."""
        layout = self.ranks.layout
        tokens, wanted = [], []
        for rank in self.ranks.ranks:
            columns = sequences.chunk(layout.data, 1)[layout.place(rank)[2]]
            tokens.append(self._own(columns[:-1], rank).to(self.device))
            wanted.append(self._own(columns[1:], rank).flatten().to(self.device))
        x = pieces.embedded(self.ranks, tokens, self.named("words"))
        for layer in range(LAYERS):
            x = [one + more for one, more in zip(x, self._attention(layer, self._normed(x, f"{layer}.norm1")))]
            x = [one + more for one, more in zip(x, self._experts(layer, self._normed(x, f"{layer}.norm2")))]
        x = pieces.copied(self.ranks, self._normed(x, "norm"))
        logits = [one.flatten(0, 1) @ weight for one, weight in zip(x, self.named("head"))]
        return [one.sum() / (LENGTH * SEQUENCES) for one in pieces.cross_entropy(self.ranks, logits, wanted)]

    def _normed(self, x, name: str) -> list[torch.Tensor]:
        return [torch_npu.npu_rms_norm(one, weight, epsilon=EPSILON)[0] for one, weight in zip(x, self.named(name))]

    def _attention(self, layer: int, x) -> list[torch.Tensor]:
        heads = HEADS // self.ranks.layout.tensor
        inputs: list[list[torch.Tensor]] = [[], [], []]
        for one, weight, (cosine, sine) in zip(pieces.copied(self.ranks, x), self.named(f"{layer}.qkv"), self.angles):
            rows, columns, _ = one.shape
            for which, made in enumerate(one.flatten(0, 1) @ weight):
                made = made.view(rows, columns, heads, HEAD)
                if which < 2:
                    made = torch_npu.npu_rotary_mul(made, cosine, sine)
                inputs[which].append(made.reshape(rows, columns, heads * HEAD))
        made = pieces.ring_attention(self.ranks, heads, self.mask, *inputs)
        return pieces.summed(self.ranks, [one @ weight for one, weight in zip(made, self.named(f"{layer}.out"))])

    def _experts(self, layer: int, x) -> list[torch.Tensor]:
        flat = [one.flatten(0, 1) for one in x]
        shares = [(one @ weight).softmax(-1) for one, weight in zip(flat, self.named(f"{layer}.choice"))]
        chosen_shares, chosen = zip(*(one.topk(CHOSEN) for one in shares))
        up = [weight.flatten(2) for weight in self.named(f"{layer}.up")]
        made = pieces.experts(self.ranks, flat, chosen, chosen_shares, up, self.named(f"{layer}.down"))
        return [one.view_as(before) for one, before in zip(made, x)]


def optimizer_of(network: Network) -> pieces.ShardedAdam:
    shared = [[one for name, one in weights.items() if not is_of_experts(name)] for weights in network.weights]
    whole = [[one for name, one in weights.items() if is_of_experts(name)] for weights in network.weights]
    return pieces.ShardedAdam(network.ranks, shared, whole, **ADAM)


# With an epsilon as small as is usual, a gradient of nearly nothing makes a whole step, whose direction is that of its rounding.
ADAM = {"lr": 3e-3, "weight_decay": 0.1, "betas": (0.9, 0.95), "eps": 1e-5}


def trained(ranks, device: str, steps: int) -> tuple[list[float], list[dict[str, torch.Tensor]]]:
    """The losses of the batches, and the weights of the ranks that this process plays, on the CPU."""
    network = Network(ranks, device)
    optimizer = optimizer_of(network)
    losses = []
    for step in range(steps):
        parts = network.losses(batch(step))
        torch.autograd.backward(parts)
        optimizer.step()
        losses.append(ranks.sum([one.detach() for one in parts], COPIES)[0].item())
    return losses, [{name: one.detach().cpu() for name, one in weights.items()} for weights in network.weights]
