"""The table of the torch_npu that is installed here: it is the one in force, it knows every operator, and what it calls own is right.

`./dev torch_npu --version V` runs this file with each version that has a table.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
import torch_npu

import portacl.torch
from portacl.torch import _table
from portacl_start import versions

VERSION = torch_npu.__version__.split("+")[0]


class TestVersions:
    def test_each_has_a_table(self):
        for version in versions.TESTED_TORCH_NPU:
            assert _table.read(version)["torch_npu"] == version

    @pytest.mark.parametrize(
        ("version", "nearest"),
        [
            *((version, version) for version in versions.TESTED_TORCH_NPU),
            ("2.13.0+git1234", "2.13.0"),
            ("2.10.0", "2.10.0.post4"),
            ("2.10.0.post7", "2.10.0.post4"),
            ("2.9.0.post2", "2.10.0.post4"),
            ("2.11.0", "2.10.0.post4"),
            ("2.12.0.post3", "2.13.0"),
            ("2.14.1", "2.14.0"),
            ("3.0.0", "2.14.0"),
            ("unknown", "2.10.0.post4"),
        ],
    )
    def test_another_one_gets_the_nearest(self, version: str, nearest: str):
        assert versions.nearest(version) == nearest
        assert _table.table_for(version, "Ascend910B1").version == nearest
        sentence = versions.why_not(version)
        if version.split("+")[0] in versions.TESTED_TORCH_NPU:
            assert sentence is None
        else:
            assert sentence is not None and sentence.endswith(f"the table of {nearest} is used")

    def test_differences(self):
        base = {"torch_npu": "1", "operators": {"a": "A", "b": "B", "c": "C"}, "products": {"x": {"a": "AX"}, "y": {}}}
        other = {"torch_npu": "2", "operators": {"a": "A", "c": "D", "d": ""}, "products": {"x": {"c": "CX"}, "y": {}}}
        found = _table.differences(base, other)
        assert found == {"torch_npu": "2", "operators": {"b": None, "c": "D", "d": ""}, "products": {"x": {"a": None, "c": "CX"}}}
        assert _table.changed(base, {"base": "1", **found}) == other


class TestInForce:
    def test_it_is_this_versions(self):
        assert VERSION in versions.TESTED_TORCH_NPU
        assert _table.table_for(torch_npu.__version__, "Ascend910B1").version == VERSION

    def test_it_knows_every_operator(self):
        table = _table.table_for(torch_npu.__version__, "Ascend910B1")
        names = torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1")
        there = [name for name in names if name.startswith("aten::") and is_torch_npus(name)]
        assert len(there) > 1000
        assert [name for name in there if table.needs(name) is None] == []

    def test_what_is_own(self):
        assert len(portacl.torch.own_operators()) > 1000


def is_torch_npus(name: str) -> bool:
    """Whether torch_npu has a kernel for it; portacl.torch registers its own, in Python, beside those."""
    return any(line.startswith("PrivateUse1") and "torch_npu/csrc" in line for line in torch._C._dispatch_dump(name).splitlines())


LOSSES = {
    "l1": F.l1_loss,
    "smooth l1": F.smooth_l1_loss,
    "mse": F.mse_loss,
    "huber": F.huber_loss,
    "kl": lambda x, y: F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean"),
    "bce": lambda x, y: F.binary_cross_entropy_with_logits(x, torch.sigmoid(y)),
    "cross entropy": lambda x, y: F.cross_entropy(x, y.argmax(1)),
    "nll": lambda x, y: F.nll_loss(F.log_softmax(x, 1), y.argmax(1)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str):
    """A loss and its gradient, against float64 on the CPU; nothing falls back."""
    x, y = torch.randn(6, 5), torch.randn(6, 5)
    exact = x.double().requires_grad_()
    want = LOSSES[name](exact, y.double())
    want.backward()
    here = x.npu().requires_grad_()
    got = LOSSES[name](here, y.npu())
    got.backward()
    torch.testing.assert_close(got.cpu().double(), want, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(here.grad.cpu().double(), exact.grad, rtol=1e-5, atol=1e-6)


OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9),
    # With an epsilon beside which a gradient that is only rounding does not count.
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.05, eps=1e-3),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_step_of_training(optimizer: str):
    """Convolution, normalisation, attention and products: weights after a step are the CPU's."""

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.nn.Conv2d(3, 8, 3, padding=1)
            self.norm = torch.nn.LayerNorm(8)
            self.mix = torch.nn.Linear(8, 24, bias=False)
            self.head = torch.nn.Linear(8, 5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            rows = self.norm(F.gelu(self.convolution(x), approximate="tanh").flatten(2).transpose(1, 2))
            query, key, value = self.mix(rows).chunk(3, -1)
            return self.head((torch.softmax(query @ key.transpose(1, 2) * 8**-0.5, -1) @ value).mean(1))

    images, classes = torch.randn(4, 3, 6, 6), torch.arange(4)
    weights = []
    for device in ("cpu", "npu"):
        torch.manual_seed(3)
        network = Network().to(device)
        steps = OPTIMIZERS[optimizer](network.parameters())
        F.cross_entropy(network(images.to(device)), classes.to(device)).backward()
        steps.step()
        weights.append([one.detach().cpu() for one in network.parameters()])
    for here, there in zip(*weights):
        torch.testing.assert_close(there, here, rtol=1e-4, atol=1e-5)
