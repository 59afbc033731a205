"""The same training by PyTorch's own operators alone, in float64 on the CPU, with all weights in one place.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import torch
import torch.nn.functional as F

from gpt.network import ADAM, CHOSEN, EPSILON, EXPERTS, HEAD, HEADS, LAYERS, WIDTH, angles, batch, whole_weights


def _normed(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPSILON) * weight


def _turned(x: torch.Tensor) -> torch.Tensor:
    cosine, sine = angles()
    first, second = x.chunk(2, -1)
    return x * cosine + torch.cat((-second, first), -1) * sine


def _attention(x: torch.Tensor, qkv: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    query, key, value = ((x @ weight).unflatten(-1, (HEADS, HEAD)) for weight in qkv)
    scores = torch.einsum("ibnd,jbnd->bnij", _turned(query), _turned(key)) * HEAD**-0.5
    is_hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    weights = scores.masked_fill(is_hidden, -torch.inf).softmax(-1)
    return torch.einsum("bnij,jbnd->ibnd", weights, value).flatten(2) @ out


def _experts(x: torch.Tensor, choice: torch.Tensor, up: torch.Tensor, down: torch.Tensor) -> torch.Tensor:
    shares, chosen = (x @ choice).softmax(-1).topk(CHOSEN)
    result = torch.zeros_like(x)
    for expert in range(EXPERTS):
        token, place = (chosen == expert).nonzero(as_tuple=True)
        first, second = x[token] @ up[expert, :, 0], x[token] @ up[expert, :, 1]
        result = result.index_add(0, token, (F.silu(first) * second) @ down[expert] * shares[token, place, None])
    return result


def loss_of(weights: dict[str, torch.Tensor], sequences: torch.Tensor) -> torch.Tensor:
    x = weights["words"][sequences[:-1]]
    for layer in range(LAYERS):
        own = {name: weights[f"{layer}.{name}"] for name in ("norm1", "qkv", "out", "norm2", "choice", "up", "down")}
        x = x + _attention(_normed(x, own["norm1"]), own["qkv"], own["out"])
        flat = _normed(x, own["norm2"]).reshape(-1, WIDTH)
        x = x + _experts(flat, own["choice"], own["up"], own["down"]).view_as(x)
    return F.cross_entropy((_normed(x, weights["norm"]) @ weights["head"]).flatten(0, 1), sequences[1:].flatten())


def trained(steps: int) -> tuple[list[float], dict[str, torch.Tensor]]:
    weights = {name: one.double().requires_grad_() for name, one in whole_weights().items()}
    optimizer = torch.optim.AdamW(weights.values(), **ADAM)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(weights, batch(step))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, {name: one.detach() for name, one in weights.items()}
