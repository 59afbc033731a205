"""Trains a ResNet with 18 layers, as small as its images, on stripes of ten directions: convolutions, BatchNorm, pools, GradScaler."""

# SPDX-License-Identifier: Apache-2.0
import math
import sys

import torch
import torch.nn.functional as F
import training
from torch import nn

WIDTH, SIDE, CLASSES, IMAGES = 16, 24, 10, 512


class Block(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        short = [nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out)] if stride != 1 else []
        self.short = nn.Sequential(*short)

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(y)) + self.short(x), inplace=True)


def resnet18():
    layers = [nn.Conv2d(3, WIDTH, 3, 1, 1, bias=False), nn.BatchNorm2d(WIDTH), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = WIDTH
    for stage in range(4):
        for number in range(2):
            layers.append(Block(channels, WIDTH << stage, 2 if stage > 0 and number == 0 else 1))
            channels = WIDTH << stage
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES))


class Stripes(training.Task):
    __doc__ = __doc__
    name = "resnet"
    steps = 200
    precision = "f16"
    below = 0.5
    compared = 10

    def __init__(self, device):
        super().__init__(device)
        self.labels = self.whole(1, CLASSES, IMAGES)
        angle = self.labels.float() * (math.pi / CLASSES)
        places = torch.arange(SIDE, dtype=torch.float32)
        along = torch.cos(angle)[:, None, None] * places[:, None] + torch.sin(angle)[:, None, None] * places
        waves = torch.sin(along + 6.25 * self.uniform(2, IMAGES, 1, 1))[:, None]
        self.images = waves * self.uniform(3, IMAGES, 3, 1, 1) + self.uniform(4, IMAGES, 3, SIDE, SIDE) - 0.5

    @classmethod
    def tolerance(cls, precision, steps):
        """BatchNorm over few images and a large rate: a step up to doubles a difference. So ten steps are compared, and their bound is 2^10 times
        that of one; under autocast, which begins at 2^-11, nothing but the end would be left of that, so it is four times a loss's own."""
        return 2.0**-10 if precision == "f32" else 4 * super().tolerance(precision, steps)

    def network(self):
        return resnet18()

    def optimizer(self, parameters):
        return torch.optim.SGD(parameters, lr=0.02, momentum=0.9, weight_decay=1e-4, fused=True)

    def loss(self, network, step):
        rows = self.whole(step, IMAGES, self.batch)
        return F.cross_entropy(network(self.images[rows].to(self.dtype)).float(), self.labels[rows])


if __name__ == "__main__":
    sys.exit(training.main(Stripes))
