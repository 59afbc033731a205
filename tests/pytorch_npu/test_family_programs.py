"""Small whole programs, one for each family of ATen's rarer functions: each trains on device npu beside the CPU."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

STEPS = 3


class Speech(nn.Module):
    """Frames to letters by a convolution with normed weights, a GRU and CTC, as wav2vec 2.0 is fine-tuned."""

    def __init__(self):
        super().__init__()
        self.frames, self.letters = nn.Conv1d(8, 16, 3, padding=1), nn.Linear(16, 6)
        self.gain = nn.Parameter(torch.ones(16, 1, 1))
        self.mixed = nn.GRU(16, 16, batch_first=True)

    def forward(self, x, targets):
        weight = self.frames.weight
        weight = weight * (self.gain / torch.linalg.vector_norm(weight, dim=(1, 2), keepdim=True))
        x = F.gelu(F.conv1d(x, weight, self.frames.bias, padding=1), approximate="tanh")
        x = self.letters(self.mixed(x.transpose(1, 2))[0])
        lengths = [x.shape[1], x.shape[1] - 3]
        return F.ctc_loss(F.log_softmax(x, 2).transpose(0, 1), targets, lengths, [4, 3], zero_infinity=True)


class Segmentation(nn.Module):
    """An hourglass: pooled, and made large again by the places of the maxima and by cubic interpolation."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)

    def forward(self, x, classes):
        x = F.relu(self.down(F.pad(x, (1, 1, 1, 1), mode="reflect")))
        small = F.interpolate(x, size=(9, 9), mode="bilinear", antialias=True, align_corners=False)
        large = F.interpolate(small, size=(16, 16), mode="bicubic", align_corners=False)
        near = F.interpolate(small, size=(16, 16), mode="nearest-exact")
        return F.cross_entropy(self.up(large + near), classes)


class Aligned(nn.Module):
    """A spatial transformer: an affine grid from the image, sampled there. No point lies on a pixel, where gradients jump."""

    def __init__(self):
        super().__init__()
        self.where, self.what = nn.Linear(3 * 144, 6), nn.Linear(3 * 144, 5)
        nn.init.zeros_(self.where.weight)
        with torch.no_grad():
            self.where.bias.copy_(torch.tensor([0.873, 0.113, 0.057, -0.131, 0.791, 0.011]))

    def forward(self, x, classes):
        grid = F.affine_grid(self.where(x.flatten(1)).view(-1, 2, 3), list(x.shape), align_corners=False)
        found = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
        return F.cross_entropy(self.what(found.flatten(1)), classes)


class Video(nn.Module):
    """Volumes: padded, resized, pooled to a few cells."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv3d(2, 6, 3), nn.Linear(6 * 8, 5)

    def forward(self, x, classes):
        x = F.relu(self.first(F.pad(x, (1, 1, 1, 1, 1, 1), mode="replicate")))
        x = F.interpolate(x, size=(5, 7, 6), mode="trilinear", align_corners=True)
        x = F.adaptive_avg_pool3d(x, 2) + F.adaptive_max_pool3d(x, 2)
        return F.cross_entropy(self.last(x.flatten(1)), classes)


class Shuffled(nn.Module):
    """Groups of channels that are shuffled between convolutions."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(4, 8, 1, groups=2), nn.Conv2d(8, 8, 3, padding=1, groups=4)
        self.norm, self.last = nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x, classes):
        x = F.channel_shuffle(F.relu(self.norm(self.first(x))), 2)
        return F.cross_entropy(self.last(self.second(x).amax((2, 3))), classes)


class Neighbours(nn.Module):
    """Embeddings whose distances are learned: pairs within a batch, and to centres, of a bounded norm."""

    def __init__(self):
        super().__init__()
        self.embed, self.centres = nn.Linear(12, 6), nn.Parameter(torch.randn(5, 6))

    def forward(self, x, classes):
        x = torch.renorm(self.embed(x), 2, 0, 1.5)
        apart = torch.cdist(x[None], self.centres[None], p=2, compute_mode="donot_use_mm_for_euclid_dist")[0]
        same = torch.isin(classes, torch.tensor([1, 3], device=x.device)).to(x.dtype)
        return F.cross_entropy(-apart, classes) + torch.xlogy(same, 1 + apart.mean(1)).mean() + F.pdist(x).mean() / 10


class Words(nn.Module):
    """Sums of the words of texts, scaled to a norm."""

    def __init__(self):
        super().__init__()
        self.words, self.last = nn.EmbeddingBag(30, 12, mode="mean", padding_idx=0), nn.Linear(12, 5)

    def forward(self, texts, classes):
        return F.cross_entropy(self.last(self.words(texts)), classes)


def letters():
    return torch.tensor([[1, 2, 2, 5], [3, 1, 4, 0]])


def classes(n: int = 4) -> torch.Tensor:
    return torch.tensor([0, 3, 1, 4])[:n]


PROGRAMS = {
    "speech": (Speech, lambda: (torch.randn(2, 8, 20), letters())),
    "segmentation": (Segmentation, lambda: (torch.randn(2, 3, 14, 14), torch.randint(0, 4, (2, 16, 16)))),
    "alignment": (Aligned, lambda: (torch.rand(4, 3, 12, 12), classes())),
    "video": (Video, lambda: (torch.randn(3, 2, 4, 6, 6), classes(3))),
    "shuffled groups": (Shuffled, lambda: (torch.randn(4, 4, 6, 6), classes())),
    "neighbours": (Neighbours, lambda: (torch.randn(4, 12), classes())),
    "words": (Words, lambda: (torch.randint(0, 30, (4, 7)), classes())),
}


def losses(name: str, device: str) -> list[float]:
    torch.manual_seed(5)
    network, batch = PROGRAMS[name]
    model, operands = network().to(device), [one.to(device) for one in batch()]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)  # Adam makes steps of the signs of gradients near 0
    found = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(*operands)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


# Gradients of bags and of distances within a batch fall back.
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_losses(name):
    on_npu, on_cpu = torch.tensor(losses(name, "npu")), torch.tensor(losses(name, "cpu"))
    torch.testing.assert_close(on_npu, on_cpu, rtol=1e-4, atol=1e-5)
    assert on_cpu[-1] < on_cpu[0]
