"""Trains a small GPT on the characters of a text, then lets it write: embeddings, causal attention, LayerNorm, GELU, cross entropy."""

# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import torch
import torch.nn.functional as F
import training
from torch import nn

LAYERS, HEADS, WIDTH, LENGTH = 2, 4, 128, 64
TEXT = Path(__file__).resolve().parents[2] / "LICENSE"


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).unbind(2)
        attended = F.scaled_dot_product_attention(*(part.transpose(1, 2) for part in parts), is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, characters):
        super().__init__()
        self.token, self.place = nn.Embedding(characters, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, characters)
        for embedding in (self.token, self.place):
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.norm(self.blocks(self.token(tokens) + self.place(places))))


class Characters(training.Task):
    __doc__ = __doc__
    name = "nanogpt"
    steps = 300
    below = 1.9

    def __init__(self, device):
        super().__init__(device)
        text = TEXT.read_text(encoding="utf-8")
        self.characters = sorted(set(text))
        self.tokens = torch.tensor([self.characters.index(c) for c in text])

    def network(self):
        return GPT(len(self.characters))

    def loss(self, network, step):
        starts = self.whole(step, len(self.tokens) - LENGTH, self.batch, 1)
        windows = self.tokens[starts + torch.arange(LENGTH + 1, device=self.device)]
        return F.cross_entropy(network(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())

    @torch.no_grad()
    def shown(self, network):
        torch.manual_seed(2)
        tokens = self.tokens[:1].view(1, 1)
        for _ in range(200):
            odds = torch.softmax(network(tokens[:, -LENGTH:])[:, -1] / 0.7, dim=-1)
            tokens = torch.cat([tokens, torch.multinomial(odds, 1)], dim=1)
        return "it writes: " + "".join(self.characters[int(token)] for token in tokens[0].cpu())


if __name__ == "__main__":
    sys.exit(training.main(Characters))
