"""float64 where there is no SLEEF: PyTorch's CPU computes it, and says why. The wheel carries SLEEF; here it is taken out."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import shutil

import portacl
import pytest

PROGRAM = """
import warnings
import torch.nn.functional as F

torch.manual_seed(1)
real = torch.rand(4, 5, dtype=torch.float64) + 0.5
computed = {
    "exp": torch.exp, "log": torch.log, "log2": torch.log2, "log1p": torch.log1p, "expm1": torch.expm1, "exp2": torch.exp2,
    "sigmoid": torch.sigmoid, "tanh": torch.tanh, "sin": torch.sin, "cos": torch.cos, "tan": torch.tan, "atan": torch.atan,
    "sinh": torch.sinh, "acosh": lambda x: torch.acosh(x + 1), "erf": torch.erf, "erfc": torch.erfc, "lgamma": torch.lgamma,
    "digamma": torch.digamma, "erfinv": lambda x: torch.erfinv(x / 2), "sinc": torch.sinc, "atan2": lambda x: torch.atan2(x, x + 1),
    "softmax": lambda x: x.softmax(-1), "log_softmax": lambda x: x.log_softmax(0), "elu": F.elu, "celu": F.celu,
    "glu": lambda x: F.glu(x[:, :4]), "silu": F.silu, "gelu": F.gelu, "mish": F.mish,
    "logsigmoid": F.logsigmoid, "logsumexp": lambda x: x.logsumexp(1), "norm": lambda x: torch.linalg.vector_norm(x, 3.5),
    "pow": lambda x: x ** 2.5, "rpow": lambda x: 2.5 ** x, "pow tensors": lambda x: x ** x, "exp_": lambda x: x.clone().exp_(),
    "bce": lambda x: F.binary_cross_entropy_with_logits(x, x.detach() / 4), "nll": lambda x: F.cross_entropy(x, torch.arange(4, device=x.device)),
    "logaddexp": lambda x: torch.logaddexp(x, x + 1), "kl": lambda x: F.kl_div(x.log(), x.detach(), reduction="sum"),
    "xlogy": lambda x: torch.xlogy(x, x + 1), "softmin": lambda x: F.softmin(x, 0), "cumsum": lambda x: x.exp().cumsum(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0), "std": lambda x: x.std(), "prod": lambda x: x.sin().prod(),
}
for name, function in computed.items():
    for values in (real, real.clone().requires_grad_()):
        there = values.detach().to("npu").requires_grad_(values.requires_grad)
        here, got = function(values), function(there)
        torch.testing.assert_close(got.cpu(), here, rtol=1e-13, atol=1e-13, msg=lambda text: name + ": " + text)
        if values.requires_grad:
            values.grad = None
            here.sum().backward()
            got.sum().backward()
            torch.testing.assert_close(there.grad.cpu(), values.grad, rtol=1e-12, atol=1e-12, msg=lambda text: name + "'s gradient: " + text)
number = torch.complex(real, real)
for function in (torch.exp, torch.log, torch.sin, torch.tanh, torch.square, lambda x: x ** 2, lambda x: x ** 0.3):
    torch.testing.assert_close(function(number.npu()).cpu(), function(number))
counts = torch.arange(1, 9)
assert torch.allclose(torch.exp(counts.npu()).cpu(), torch.exp(counts)) and (counts.npu() ** 3).cpu().equal(counts ** 3)
for power in (2, 3, -1, 0.5, 0, 1):
    assert torch.equal((real.npu() ** power).cpu(), real ** power), power
# What follows is right, of float32, too, which needs none.
torch.testing.assert_close((real.float().npu().exp() * 2 + 1).cpu(), real.float().exp() * 2 + 1)
assert (torch.normal(0.0, 1.0, (1000,), dtype=torch.float64, device="npu").cpu().std() - 1).abs() < 0.2
print("done")
"""
WARNS = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    torch.ones(3, dtype=torch.float64, device="npu").exp()
print(*[one.message for one in caught])
"""


@pytest.fixture(scope="module")
def without_sleef(tmp_path_factory: pytest.TempPathFactory, no_libraries: str) -> dict[str, str]:
    """The variables of a prefix that is this one without SLEEF."""
    place = tmp_path_factory.mktemp("without") / "prefix"
    shutil.copytree(portacl.prefix(), place, ignore=shutil.ignore_patterns("include"))
    (place / "lib64" / "portacl" / "libportacl_sleef.so").unlink()
    return {
        "ASCEND_HOME_PATH": str(place),
        "ASCEND_TOOLKIT_HOME": str(place),
        "ASCEND_OPP_PATH": str(place / "opp"),
        "LD_LIBRARY_PATH": f"{place}/lib64:{no_libraries}",
    }


def test_float64_falls_back(program, without_sleef):
    output, errors, status = program(WARNS + PROGRAM, **without_sleef)
    assert status == 0, errors[-3000:]
    warning, _, rest = output.partition("\n")
    assert rest == "done\n" and warning.startswith(
        "aten::exp is computed by PyTorch's CPU kernel: portacl's functions of float64 need SLEEF, which is not there, or "
        "CANN's function does not take "
    ), output


def test_with_sleef_it_does_not(program, no_libraries):
    output, errors, status = program(WARNS, LD_LIBRARY_PATH=f"{portacl.library_dir()}:{no_libraries}")
    assert (output, status) == ("\n", 0), errors[-3000:]
