"""What megatron_loop.py trains, by PyTorch's own operators in float64 on the CPU: with Megatron's names and layouts of weights.

Devices are named, because transfer_to_npu makes an NPU the default one.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import zlib
from typing import Any

import torch
import torch.nn.functional as F

LAYERS, HEADS, WIDTH, WORDS, LENGTH, SEQUENCES = 2, 4, 64, 32, 64, 4
EXPERTS, CHOSEN, HIDDEN = 4, 2, 48
HEAD = WIDTH // HEADS
EPSILON = 1e-5  # of the norms
STEPS = 20
GREATEST_NORM = 1.0
# With an epsilon as small as is usual, a gradient of nearly nothing makes a whole step, whose direction is that of its rounding.
ADAM: dict[str, Any] = {"lr": 3e-3, "weight_decay": 0.1, "betas": (0.9, 0.95), "eps": 1e-5}


def _shapes() -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"embedding.word_embeddings.weight": (WORDS, WIDTH)}
    for layer in range(LAYERS):
        shapes |= {
            f"decoder.layers.{layer}.input_layernorm.weight": (WIDTH,),
            f"decoder.layers.{layer}.self_attention.linear_proj.weight": (WIDTH, WIDTH),
            f"decoder.layers.{layer}.self_attention.linear_qkv.weight": (3 * WIDTH, WIDTH),
            f"decoder.layers.{layer}.pre_mlp_layernorm.weight": (WIDTH,),
            f"decoder.layers.{layer}.mlp.router.weight": (EXPERTS, WIDTH),
            f"decoder.layers.{layer}.mlp.experts.weight1": (EXPERTS, WIDTH, 2 * HIDDEN),
            f"decoder.layers.{layer}.mlp.experts.weight2": (EXPERTS, HIDDEN, WIDTH),
        }
    return {**shapes, "decoder.final_layernorm.weight": (WIDTH,), "output_layer.weight": (WORDS, WIDTH)}


def whole_weights() -> dict[str, torch.Tensor]:
    weights = {}
    for name, shape in _shapes().items():
        draw = torch.Generator("cpu").manual_seed(zlib.crc32(name.encode()))
        size = 1.0 if "embedding" in name else WIDTH**-0.5
        drawn = torch.empty(shape, device="cpu").normal_(generator=draw) * size
        weights[name] = torch.ones(shape, device="cpu") if "norm" in name else drawn
    return weights


def batch(step: int) -> torch.Tensor:
    """Sequences [S + 1,B] of whole numbers, each five times the one before it and three modulo 31, one in eight replaced by chance."""
    draw = torch.Generator("cpu").manual_seed(1000 + step)
    chance = torch.empty(LENGTH + 1, SEQUENCES, device="cpu").uniform_(generator=draw) < 0.125
    other = torch.empty(LENGTH + 1, SEQUENCES, device="cpu").uniform_(0, WORDS, generator=draw).long()
    rows = [other[0]]
    for index in range(1, LENGTH + 1):
        rows.append(torch.where(chance[index], other[index], (5 * rows[-1] + 3) % (WORDS - 1)))
    return torch.stack(rows)


def _normed(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPSILON) * weight


def _turned(x: torch.Tensor) -> torch.Tensor:
    turns = torch.arange(LENGTH).double()[:, None] * 10000.0 ** (-torch.arange(0, HEAD, 2).double() / HEAD)
    turns = torch.cat((turns, turns), -1)[:, None, None]
    first, second = x.chunk(2, -1)
    return x * turns.cos() + torch.cat((-second, first), -1) * turns.sin()


def _attention(x: torch.Tensor, qkv: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    query, key, value = (x @ qkv.T).unflatten(-1, (HEADS, 3, HEAD)).unbind(-2)  # Megatron keeps those of a head together
    scores = torch.einsum("ibnd,jbnd->bnij", _turned(query), _turned(key)) * HEAD**-0.5
    weights = scores.masked_fill(torch.ones(LENGTH, LENGTH, dtype=torch.bool).triu(1), -torch.inf).softmax(-1)
    return torch.einsum("bnij,jbnd->ibnd", weights, value).flatten(2) @ out.T


def _experts(x: torch.Tensor, choice: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    logits, chosen = (x @ choice.T).topk(CHOSEN)
    shares = logits.softmax(-1)
    result = torch.zeros_like(x)
    for expert in range(EXPERTS):
        token, place = (chosen == expert).nonzero(as_tuple=True)
        first, second = (x[token] @ up[expert]).chunk(2, -1)
        result = result.index_add(0, token, (F.silu(first) * second) @ down[expert] * shares[token, place, None])
    return result


def _loss(weights: dict[str, torch.Tensor], sequences: torch.Tensor) -> torch.Tensor:
    x = weights["embedding.word_embeddings.weight"][sequences[:-1]]
    for layer in range(LAYERS):
        own = {name.split(".", 3)[3]: one for name, one in weights.items() if name.startswith(f"decoder.layers.{layer}.")}
        attended = _normed(x, own["input_layernorm.weight"])
        x = x + _attention(attended, own["self_attention.linear_qkv.weight"], own["self_attention.linear_proj.weight"])
        flat = _normed(x, own["pre_mlp_layernorm.weight"]).reshape(-1, WIDTH)
        parts = (own["mlp.router.weight"], own["mlp.experts.weight1"], own["mlp.experts.weight2"])
        x = x + _experts(flat, *parts).view_as(x)
    logits = _normed(x, weights["decoder.final_layernorm.weight"]) @ weights["output_layer.weight"].T
    return F.cross_entropy(logits.flatten(0, 1), sequences[1:].flatten())


def trained() -> dict[str, torch.Tensor]:
    weights = {name: one.double().requires_grad_() for name, one in whole_weights().items()}
    optimizer = torch.optim.AdamW(weights.values(), **ADAM)  # norms decay, too: Megatron's scheduler, of which there is none, excepts them
    numbers = {}
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = _loss(weights, batch(step))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights.values(), GREATEST_NORM)
        optimizer.step()
        numbers[f"loss.{step}"] = loss.detach().reshape(1)
    return numbers | {f"weight.{name}": one.detach() for name, one in weights.items()}
