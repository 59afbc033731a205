"""A GPT of experts in parts, by the calls that MindSpeed and Megatron make: its pieces, and its training by several processes."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from gpt import network, pieces, plain
from gpt.ranks import COPIES, RING, TENSOR, Layout, OneProcess
from test_distributed import torchrun

import portacl.torch

SIZES = ((1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2), (2, 2, 1), (4, 1, 1), (1, 4, 1), (1, 2, 2), (2, 2, 2))
LAYOUTS = [Layout(*sizes) for sizes in SIZES]


def named(layout: Layout) -> str:
    return f"tensor{layout.tensor}-ring{layout.ring}-data{layout.data}"


def near(found: torch.Tensor, wanted: torch.Tensor, apart: float = 2e-6) -> None:
    torch.testing.assert_close(found.detach().cpu().double(), wanted.detach(), rtol=0, atol=apart * max(1.0, wanted.abs().max().item()))


def leaves(tensors) -> list[torch.Tensor]:
    return [one.detach().float().contiguous().npu().requires_grad_() for one in tensors]


@pytest.mark.parametrize("layout", LAYOUTS, ids=named)
def test_every_rank_has_one_group_of_each_axis(layout):
    for axis, count in ((TENSOR, layout.tensor), (RING, layout.ring), (COPIES, layout.copies)):
        groups = {tuple(layout.peers(rank, axis)) for rank in range(layout.size)}
        assert {len(group) for group in groups} == {count}
        assert sorted(rank for group in groups for rank in group) == list(range(layout.size))
        assert all(rank in layout.peers(rank, axis) for rank in range(layout.size))
    assert len({layout.place(rank) for rank in range(layout.size)}) == layout.size


@pytest.mark.parametrize("ring", [1, 2, 4])
def test_the_pieces_of_a_ring_are_the_sequence(ring):
    found = [row for index in range(ring) for piece in pieces.pieces_of(index, ring, 16) for row in range(16)[piece]]
    assert sorted(found) == list(range(16))
    assert [row for piece in pieces.pieces_of(0, ring, 16) for row in range(16)[piece]][-1] == 15  # its last piece is the end


@pytest.mark.parametrize("ring", [1, 2, 4])
def test_ring_attention_is_causal_attention(ring):
    length, columns, heads, size = 32, 3, 2, 16
    query, key, value, gradient = torch.randn(4, length, columns, heads, size, dtype=torch.float64)
    wholes = [one.requires_grad_() for one in (query.clone(), key.clone(), value.clone())]
    scores = torch.einsum("ibnd,jbnd->bnij", *wholes[:2]) * size**-0.5
    weights = scores.masked_fill(torch.ones(length, length, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    wanted = torch.einsum("bnij,jbnd->ibnd", weights, wholes[2])
    wanted.backward(gradient)

    def parts(whole):
        rows = [[whole[piece] for piece in pieces.pieces_of(index, ring, length)] for index in range(ring)]
        return [torch.cat(one).flatten(2) for one in rows]

    inputs = [leaves(parts(one)) for one in (query, key, value)]
    mask = torch.ones(2048, 2048, dtype=torch.bool).triu(1).npu()
    found = pieces.ring_attention(OneProcess(Layout(ring=ring)), heads, mask, *inputs)
    torch.autograd.backward(found, [one.float().npu() for one in parts(gradient)])
    for rank in range(ring):
        near(found[rank], parts(wanted)[rank])
        for mine, whole in zip(inputs, wholes):
            near(mine[rank].grad, parts(whole.grad)[rank], 4e-6)


@pytest.mark.parametrize("tensor", [1, 2, 4])
def test_words_and_their_loss_in_parts(tensor):
    words, width, count = 12, 8, 30
    table, head = torch.randn(2, words, width, dtype=torch.float64)
    tokens, wanted_words = torch.randint(0, words, (2, count))
    wholes = [table.clone().requires_grad_(), head.clone().requires_grad_()]
    wanted = F.cross_entropy(wholes[0][tokens] @ wholes[1].T, wanted_words, reduction="none")
    wanted.sum().backward()

    ranks = OneProcess(Layout(tensor=tensor))
    tables, heads = (leaves(whole.chunk(tensor)) for whole in (table, head))
    x = pieces.copied(ranks, pieces.embedded(ranks, [tokens.npu()] * tensor, tables))
    found = pieces.cross_entropy(ranks, [one @ part.T for one, part in zip(x, heads)], [wanted_words.npu()] * tensor)
    torch.autograd.backward([one.sum() for one in found])
    for rank in range(tensor):
        near(found[rank], wanted)
        near(tables[rank].grad, wholes[0].grad.chunk(tensor)[rank], 4e-6)
        near(heads[rank].grad, wholes[1].grad.chunk(tensor)[rank], 4e-6)


@pytest.mark.parametrize("choice", ["any", "one expert alone"])
@pytest.mark.parametrize("layout", [Layout(), Layout(2, 1, 1), Layout(1, 2, 1), Layout(2, 1, 2), Layout(1, 2, 2)], ids=named)
def test_experts_on_several_ranks(layout, choice):
    tokens, width, hidden, count, taken = 16, 8, 4, 4, 2
    x, gradient = torch.randn(2, tokens, width, dtype=torch.float64)
    up, down = torch.randn(count, width, 2, hidden, dtype=torch.float64), torch.randn(count, hidden, width, dtype=torch.float64)
    shares = torch.rand(tokens, taken, dtype=torch.float64)
    chosen = torch.stack([torch.randperm(count)[:taken] for _ in range(tokens)])
    if choice != "any":
        chosen[:], taken = 1, 1
        chosen, shares = chosen[:, :1].contiguous(), shares[:, :1].contiguous()
    wholes = [one.clone().requires_grad_() for one in (x, shares, up, down)]
    wanted = torch.zeros_like(x)
    for expert in range(count):
        token, place = (chosen == expert).nonzero(as_tuple=True)
        rows = wholes[0][token]
        made = (F.silu(rows @ wholes[2][expert, :, 0]) * (rows @ wholes[2][expert, :, 1])) @ wholes[3][expert]
        wanted = wanted.index_add(0, token, made * wholes[1][token, place, None])
    wanted.backward(gradient)

    def of_rank(whole, rank):
        return whole.chunk(layout.copies)[layout.peers(rank, COPIES).index(rank)]

    ranks = OneProcess(layout)
    own = [leaves(of_rank(whole, rank) for rank in ranks.ranks) for whole in (x, shares)]
    weights = [leaves(network.part(name, whole, layout, rank) for rank in ranks.ranks) for name, whole in (("up", up), ("down", down))]
    found = pieces.experts(
        ranks, own[0], [of_rank(chosen, rank).npu() for rank in ranks.ranks], own[1], [one.flatten(2) for one in weights[0]], weights[1]
    )
    torch.autograd.backward(found, [of_rank(gradient, rank).float().npu() for rank in ranks.ranks])
    for rank in ranks.ranks:
        near(found[rank], of_rank(wanted, rank))
        for mine, whole in zip(own, wholes):
            near(mine[rank].grad, of_rank(whole.grad, rank), 4e-6)
        for name, mine, whole in zip(("up", "down"), weights, wholes[2:]):
            near(mine[rank].grad, network.part(name, whole.grad, layout, rank), 4e-6)


@pytest.mark.parametrize("copies", [1, 2, 4])
def test_a_sharded_optimizer_steps_as_one(copies):
    ranks = OneProcess(Layout(data=copies))
    shapes = [(3, 5), (7,), (1,)]  # 23 numbers, which 2 and 4 do not divide
    values = [torch.randn(shape, dtype=torch.float64) for shape in shapes]
    wholes = [one.clone().requires_grad_() for one in values]
    apart = [torch.randn(6, dtype=torch.float64) for _ in range(copies)]
    wholes_apart = [one.clone().requires_grad_() for one in apart]
    settings = {"lr": 0.01, "weight_decay": 0.1, "betas": (0.9, 0.95), "eps": 1e-5}
    plain_steps = torch.optim.AdamW([*wholes, *wholes_apart], **settings)
    shared, whole = [leaves(values) for _ in range(copies)], [leaves([one]) for one in apart]
    sharded = pieces.ShardedAdam(ranks, shared, whole, **settings)
    for _ in range(3):
        for index, one in enumerate(wholes):
            gradients = [torch.randn_like(one) for _ in range(copies)]
            one.grad = sum(gradients)
            for mine, gradient in zip(shared, gradients):
                mine[index].grad = gradient.float().npu()
        for (mine,), one in zip(whole, wholes_apart):
            one.grad = torch.randn_like(one)
            mine.grad = one.grad.float().npu()
        plain_steps.step()
        sharded.step()
    assert all(weight.grad is None for mine in (*shared, *whole) for weight in mine)
    for mine in shared:
        for found, wanted in zip(mine, wholes):
            near(found, wanted)
    for (found,), wanted in zip(whole, wholes_apart):
        near(found, wanted)


@pytest.fixture(scope="module")
def plainly_trained():
    return plain.trained(3)


@pytest.mark.parametrize("layout", LAYOUTS, ids=named)
def test_one_process_that_plays_all_ranks(layout, plainly_trained):
    losses, weights = network.trained(OneProcess(layout), "npu", 3)
    wanted_losses, wanted = plainly_trained
    torch.testing.assert_close(losses, wanted_losses, rtol=0, atol=2e-6)
    for rank in range(layout.size):
        for name, value in weights[rank].items():
            near(value, network.part(name, wanted[name], layout, rank), 1e-5)


def test_its_operators_are_own():
    names = ("npu_rms_norm", "npu_rotary_mul", "npu_swiglu", "npu_fusion_attention", "npu_fusion_attention_grad", "npu_ring_attention_update")
    more = ("npu_grouped_matmul", "npu_moe_token_permute", "npu_moe_token_unpermute")
    assert {f"npu::{name}" for name in (*names, *more)} | {"aten::_fused_adamw_"} <= portacl.torch.own_operators()


@pytest.mark.parametrize("layout", [Layout(2, 1, 1), Layout(1, 1, 2), Layout(2, 2, 1)], ids=named)
def test_several_processes_train_as_one(layout):
    sizes = (layout.tensor, layout.ring, layout.data)
    done = torchrun(layout.size, "gpt_training.py", *map(str, sizes), PORTACL_FALLBACK="error")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert done.stdout.count("done") == layout.size
