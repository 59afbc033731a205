"""A small network learns from a large one: the teacher from labels, then the student from the teacher's odds by KL divergence."""

# SPDX-License-Identifier: Apache-2.0
import sys

import torch
import torch.nn.functional as F
import training
from torch import nn

SAMPLES, INPUTS, CLASSES, HEAT = 2048, 16, 10, 2.0


def perceptron(width):
    return nn.Sequential(
        nn.Linear(INPUTS, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, CLASSES)
    )


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher, self.student = perceptron(512), perceptron(64)


class Distillation(training.Task):
    __doc__ = __doc__
    name = "distillation"
    steps = 300
    batch = 256
    below = 0.2

    def __init__(self, device):
        super().__init__(device)
        self.x = self.uniform(1, SAMPLES, INPUTS) * 2 - 1
        self.labels = (torch.sin(3 * self.x) @ (self.uniform(2, INPUTS, CLASSES) * 2 - 1)).argmax(dim=1)

    @classmethod
    def tolerance(cls, precision, steps):
        """ReLU has two slopes: one of the 256 x 512 outputs that is within rounding of 0 may take the other one, which is a whole term of a sum and
        not 2^-20 of it. A few in a training: ten times the bound of what has one slope."""
        return 10 * super().tolerance(precision, steps)

    def network(self):
        return Pair()

    def loss(self, network, step):
        """The first third of the steps is the teacher's."""
        rows = self.whole(step, SAMPLES, self.batch)
        x = self.x[rows].to(self.dtype)
        if step < self.steps // 3:
            return F.cross_entropy(network.teacher(x).float(), self.labels[rows])
        with torch.no_grad():
            odds = F.log_softmax(network.teacher(x).float() / HEAT, dim=1)
        learned = F.log_softmax(network.student(x).float() / HEAT, dim=1)
        return HEAT**2 * F.kl_div(learned, odds, reduction="batchmean", log_target=True)


if __name__ == "__main__":
    sys.exit(training.main(Distillation))
