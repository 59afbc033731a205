"""The pieces of the network that need other ranks, each with its gradient. Lists have an entry for each rank that this process plays.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import torch
import torch_npu

from gpt.ranks import COPIES, RING, TENSOR

# ---- Weights in parts ----


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ranks, *parts):
        return tuple(ranks.sum(list(parts), TENSOR))

    @staticmethod
    def backward(ctx, *gradients):
        return (None, *gradients)


class _Copy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ranks, *values):
        ctx.ranks = ranks
        return tuple(value.view_as(value) for value in values)

    @staticmethod
    def backward(ctx, *gradients):
        return (None, *ctx.ranks.sum(list(gradients), TENSOR))


def summed(ranks, parts: list[torch.Tensor]) -> list[torch.Tensor]:
    """Ends a region of weights in parts: the sums of what the ranks have, whose gradient every rank has."""
    return list(_Sum.apply(ranks, *parts))


def copied(ranks, values: list[torch.Tensor]) -> list[torch.Tensor]:
    """Begins a region of weights in parts: the same values, whose gradients are the sums of the ranks'."""
    return list(_Copy.apply(ranks, *values))


def embedded(ranks, tokens: list[torch.Tensor], tables: list[torch.Tensor]) -> list[torch.Tensor]:
    """Rows of a table of which each rank holds some."""
    parts = []
    for rank, token, table in zip(ranks.ranks, tokens, tables):
        row = token - ranks.layout.place(rank)[0] * len(table)
        is_own = (row >= 0) & (row < len(table))
        parts.append(torch.nn.functional.embedding(row * is_own, table) * is_own[..., None])
    return summed(ranks, parts)


class _CrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ranks, wanted, *logits):
        greatest = ranks.max([one.amax(-1) for one in logits], TENSOR)
        shifted = [one - top[:, None] for one, top in zip(logits, greatest)]
        columns, is_own, chosen = [], [], []
        for rank, one, target in zip(ranks.ranks, shifted, wanted):
            column = target - ranks.layout.place(rank)[0] * one.shape[1]
            is_own.append((column >= 0) & (column < one.shape[1]))
            columns.append((column * is_own[-1])[:, None])
            chosen.append(one.gather(1, columns[-1])[:, 0] * is_own[-1])
        powers = [one.exp() for one in shifted]
        sums = ranks.sum([one.sum(-1) for one in powers], TENSOR)
        ctx.shares = [one / total[:, None] for one, total in zip(powers, sums)]
        ctx.columns, ctx.is_own = columns, is_own
        return tuple(total.log() - one for total, one in zip(sums, ranks.sum(chosen, TENSOR)))

    @staticmethod
    def backward(ctx, *gradients):
        results = []
        for share, column, is_own, gradient in zip(ctx.shares, ctx.columns, ctx.is_own, gradients):
            results.append(share.scatter_add(1, column, -is_own[:, None].float()) * gradient[:, None])
        return (None, None, *results)


def cross_entropy(ranks, logits: list[torch.Tensor], wanted: list[torch.Tensor]) -> list[torch.Tensor]:
    """The loss of each token, from logits of which each rank holds the columns of some words."""
    return list(_CrossEntropy.apply(ranks, wanted, *logits))


# ---- Sequences in parts: ring attention ----


def pieces_of(index: int, ring: int, length: int) -> list[slice]:
    """What a rank of the ring holds of a sequence: a piece of the front and its mirror image, so that all have the same work under a causal mask."""
    if ring == 1:
        return [slice(0, length)]
    each = length // (2 * ring)
    return [slice(piece * each, (piece + 1) * each) for piece in (index, 2 * ring - 1 - index)]


class _RingAttention(torch.autograd.Function):
    """Queries stay, keys and values go around. With the rank's own keys the mask is causal. Keys of a rank before have the front piece only,
    which all own queries see. Keys of a rank behind are seen by the queries of the back piece, all of them."""

    @staticmethod
    def forward(ctx, ranks, heads, mask, *inputs):
        count = len(ranks.ranks)
        query, key, value = inputs[:count], inputs[count : 2 * count], inputs[2 * count :]
        going = [torch.stack(pair) for pair in zip(key, value)]
        state: list = [None] * count
        for step in range(ranks.layout.ring):
            for place, rank in enumerate(ranks.ranks):
                rows, terms, settings = _seen(ranks.layout, rank, step, query[place], mask)
                k, v = _halves(going[place], 1, terms)
                found = torch_npu.npu_fusion_attention(_halves(query[place], 0, rows), k, v, heads, "SBH", scale=_scale(k, heads), **settings)[:3]
                state[place] = found if step == 0 else _updated(state[place], found, rows)
            if step + 1 < ranks.layout.ring:
                going = ranks.passed_on(going, RING)
        ctx.ranks, ctx.heads, ctx.mask = ranks, heads, mask
        ctx.save_for_backward(*inputs, *(tensor for three in state for tensor in three))
        return tuple(three[0] for three in state)

    @staticmethod
    def backward(ctx, *gradients):
        ranks, heads, count = ctx.ranks, ctx.heads, len(ctx.ranks.ranks)
        saved = ctx.saved_tensors
        query, key, value = saved[:count], saved[count : 2 * count], saved[2 * count : 3 * count]
        state = [saved[begin : begin + 3] for begin in range(3 * count, 6 * count, 3)]
        going = [torch.stack(pair) for pair in zip(key, value)]
        sums = [torch.zeros_like(pair) for pair in going]  # they go around with the keys and values to which they belong
        result = [torch.zeros_like(one) for one in query]
        for step in range(ranks.layout.ring):
            for place, rank in enumerate(ranks.ranks):
                rows, terms, settings = _seen(ranks.layout, rank, step, query[place], ctx.mask)
                k, v = _halves(going[place], 1, terms)
                out, greatest, total = state[place]
                of_query, of_key, of_value = torch_npu.npu_fusion_attention_grad(
                    _halves(query[place], 0, rows),
                    k,
                    v,
                    _halves(gradients[place].contiguous(), 0, rows),
                    heads,
                    "SBH",
                    softmax_max=_halves(greatest, 2, rows),
                    softmax_sum=_halves(total, 2, rows),
                    attention_in=_halves(out, 0, rows),
                    scale_value=_scale(k, heads),
                    **settings,
                )[:3]
                _add(result[place], of_query, 0, rows)
                _add(sums[place], torch.stack((of_key, of_value)), 1, terms)
            if ranks.layout.ring > 1:  # once more than in the forward pass: then the sums are where the keys are from
                going, sums = ranks.passed_on(going, RING), ranks.passed_on(sums, RING)
        return (None, None, None, *result, *(pair[0] for pair in sums), *(pair[1] for pair in sums))


def _scale(key: torch.Tensor, heads: int) -> float:
    return (key.shape[-1] // heads) ** -0.5


def _seen(layout, rank: int, step: int, query: torch.Tensor, mask: torch.Tensor) -> tuple:
    """Which half of the queries sees which half of the keys that are here after some steps (None: both halves), and how."""
    index = layout.place(rank)[1]
    if step == 0:
        # Rows of mode 3 end with the keys. The mask of 2048 by 2048 stands for one of any size.
        return None, None, {"atten_mask": mask, "sparse_mode": 3, "pre_tockens": len(query), "next_tockens": 0}
    return (None, 0, {}) if index >= step else (1, None, {})


def _halves(tensor: torch.Tensor, axis: int, half: int | None) -> torch.Tensor:
    return tensor if half is None else tensor.chunk(2, axis)[half].contiguous()


def _add(tensor: torch.Tensor, more: torch.Tensor, axis: int, half: int | None) -> None:
    (tensor if half is None else tensor.chunk(2, axis)[half]).add_(more)


def _updated(before, found, rows: int | None) -> list[torch.Tensor]:
    """Attention over the keys so far and those of a step: result, greatest scores, sums."""
    axes = (0, 2, 2)
    parts = [_halves(tensor, axis, rows) for tensor, axis in zip(before, axes)]
    merged = torch_npu.npu_ring_attention_update(*parts, *found)
    if rows is None:
        return list(merged)
    return [torch.cat((tensor.chunk(2, axis)[0], part), axis) for tensor, part, axis in zip(before, merged, axes)]


def ring_attention(ranks, heads: int, mask: torch.Tensor, query, key, value) -> list[torch.Tensor]:
    """Causal attention of sequences [S,B,H] whose pieces the ranks of a ring hold (pieces_of)."""
    return list(_RingAttention.apply(ranks, heads, mask, *query, *key, *value))


# ---- Experts on several ranks ----


class _Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, ranks, sent, received, *rows):
        ctx.ranks, ctx.sent, ctx.received = ranks, sent, received
        return tuple(ranks.exchanged(list(rows), sent, received, COPIES))

    @staticmethod
    def backward(ctx, *gradients):
        return (None, None, None, *ctx.ranks.exchanged(list(gradients), ctx.received, ctx.sent, COPIES))


class _GroupedProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, sizes):
        ctx.save_for_backward(x, weight, sizes)
        return _grouped(x, weight, sizes, 0)

    @staticmethod
    def backward(ctx, gradient):
        x, weight, sizes = ctx.saved_tensors
        return _grouped(gradient, weight.transpose(1, 2), sizes, 0), _grouped(x.T, gradient, sizes, 2), None


def _grouped(x, weight, sizes, group_type):
    return torch_npu.npu_grouped_matmul([x], [weight], group_list=sizes, group_list_type=1, split_item=3, group_type=group_type)[0]


def grouped_product(x: torch.Tensor, weight: torch.Tensor, sizes: torch.Tensor) -> torch.Tensor:
    """Rows times the weight of their group: sizes[g] rows of x, one group behind the other, times weight[g]."""
    return _GroupedProduct.apply(x, weight, sizes)


def experts(ranks, x, chosen, shares, up, down) -> list[torch.Tensor]:
    """Each token through the experts chosen for it, [tokens,k], times their shares. A rank of COPIES holds some experts, and of them a part of
    the hidden columns: up [experts,H,2F], down [experts,F,H]."""
    layout, held = ranks.layout, len(up[0])
    rows, places = zip(*(torch_npu.npu_moe_token_permute(one, which.int()) for one, which in zip(x, chosen)))
    numbers = torch.arange(held * layout.copies, device=x[0].device)
    counts = [(which.flatten()[:, None] == numbers).sum(0) for which in chosen]
    # How many rows of each rank are for each expert: as many numbers as ranks, for each expert, so every rank learns all.
    table = [one.view(layout.copies, layout.copies, held).cpu() for one in ranks.gathered(counts, COPIES)]
    own = [layout.peers(rank, COPIES).index(rank) for rank in ranks.ranks]
    sent = [one[index].sum(-1).tolist() for one, index in zip(table, own)]
    received = [one[:, index].sum(-1).tolist() for one, index in zip(table, own)]
    come = _Exchange.apply(ranks, sent, received, *rows)

    # Rows come sorted by rank and then by expert, and are needed by expert and then by rank.
    local = torch.arange(held, dtype=torch.int32)
    whose = [torch.cat([local.repeat_interleave(row) for row in one[:, index]]).to(x[0].device) for one, index in zip(table, own)]
    sizes = [one[:, index].sum(0).to(x[0].device) for one, index in zip(table, own)]
    sorted_rows, back = zip(*(torch_npu.npu_moe_token_permute(one, which) for one, which in zip(come, whose)))
    made = [grouped_product(*three) for three in zip(copied(ranks, list(sorted_rows)), up, sizes)]
    made = [grouped_product(torch_npu.npu_swiglu(one), weight, size) for one, weight, size in zip(made, down, sizes)]
    made = [torch_npu.npu_moe_token_unpermute(one, place) for one, place in zip(summed(ranks, made), back)]
    home = _Exchange.apply(ranks, received, sent, *made)
    return [torch_npu.npu_moe_token_unpermute(one, place, share) for one, place, share in zip(home, places, shares)]


# ---- A sharded optimizer ----


class ShardedAdam:
    """A fused AdamW whose state, and the weights that it steps, are shared by the ranks of COPIES. Gradients are added and shared in one go,
    and the new weights are gathered. Weights that no other rank of COPIES has (`whole`) are stepped where they are."""

    def __init__(self, ranks, shared: list[list[torch.Tensor]], whole: list[list[torch.Tensor]], **settings):
        self._ranks, self._shared, self._whole = ranks, shared, whole
        self._owned = [self._own_shard(rank, weights) for rank, weights in zip(ranks.ranks, shared)]
        self._steps = torch.optim.AdamW([*self._owned, *(weight for mine in whole for weight in mine)], fused=True, **settings)

    def _flat(self, tensors) -> torch.Tensor:
        flat = torch.cat([one.detach().reshape(-1) for one in tensors])
        return torch.nn.functional.pad(flat, (0, -flat.numel() % self._ranks.layout.copies))

    def _own_shard(self, rank: int, weights) -> torch.Tensor:
        peers = self._ranks.layout.peers(rank, COPIES)
        return self._flat(weights).chunk(len(peers))[peers.index(rank)].clone()

    @torch.no_grad()
    def step(self) -> None:
        """A step by the gradients of the weights, which are gone afterwards."""
        sums = self._ranks.sum_in_shards([self._flat([weight.grad for weight in mine]) for mine in self._shared], COPIES)
        for owned, gradient in zip(self._owned, sums):
            owned.grad = gradient
        self._steps.step()
        for flat, mine in zip(self._ranks.gathered(self._owned, COPIES), self._shared):
            begin = 0
            for weight in mine:
                weight.copy_(flat[begin : begin + weight.numel()].view_as(weight))
                begin += weight.numel()
        for mine in (*self._shared, *self._whole):
            for weight in mine:
                weight.grad = None
