"""Trains a two-layer LSTM to foretell a mixture of waves."""

# SPDX-License-Identifier: Apache-2.0
import sys

import torch
import torch.nn.functional as F
import training
from torch import nn

LENGTH, WIDTH = 32, 64


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.head = nn.LSTM(1, WIDTH, num_layers=2, batch_first=True), nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0])


class Waves(training.Task):
    __doc__ = __doc__
    name = "lstm"
    steps = 200
    batch = 32
    below = 0.01

    def network(self):
        return Forecast()

    def loss(self, network, step):
        speed, phase = self.uniform(step, 2, self.batch, 2, 1)
        times = torch.arange(LENGTH + 1, dtype=torch.float32, device=self.device)
        waves = torch.sin((0.2 + 0.4 * speed) * times + 6.25 * phase).sum(1)[:, :, None]
        return F.mse_loss(network(waves[:, :-1].to(self.dtype)).float(), waves[:, 1:])


if __name__ == "__main__":
    sys.exit(training.main(Waves))
