"""Trains an MLP whose four outputs learn with four losses: L1, smooth L1, mean squared error, and KL divergence of probabilities."""

# SPDX-License-Identifier: Apache-2.0
import sys

import torch
import torch.nn.functional as F
import training
from torch import nn

SAMPLES, WIDTH, CLASSES = 2048, 256, 5


class Points(training.Task):
    __doc__ = __doc__
    name = "mlp"
    steps = 300
    batch = 256
    below = 0.2

    def __init__(self, device):
        super().__init__(device)
        self.x = self.uniform(1, SAMPLES, 4) * 2 - 1
        curve = torch.sin(2 * self.x[:, 0]) + self.x[:, 1] * self.x[:, 2] - 0.5 * self.x[:, 3] ** 2
        self.y = curve + 0.04 * (self.uniform(2, SAMPLES) - 0.5)
        self.odds = torch.softmax(3 * torch.tanh(self.x) @ (self.uniform(3, 4, CLASSES) * 2 - 1), dim=1)

    def network(self):
        sizes = [4, WIDTH, WIDTH, 3 + CLASSES]
        layers = [layer for a, b in zip(sizes, sizes[1:]) for layer in (nn.Linear(a, b), nn.GELU(approximate="tanh"))]
        return nn.Sequential(*layers[:-1])

    def loss(self, network, step):
        rows = self.whole(step, SAMPLES, self.batch)
        y, odds = self.y[rows], self.odds[rows]
        out = network(self.x[rows].to(self.dtype)).float()
        divergence = F.kl_div(F.log_softmax(out[:, 3:], dim=1), odds, reduction="batchmean")
        return F.l1_loss(out[:, 0], y) + F.smooth_l1_loss(out[:, 1], y, beta=0.5) + F.mse_loss(out[:, 2], y) + divergence


if __name__ == "__main__":
    sys.exit(training.main(Points))
