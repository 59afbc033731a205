"""What docs/pytorch.md says fails on an NPU as well does so, with the error that the page quotes, and the way round works."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pathlib
import warnings

import pytest
import torch
import torch_npu
from torch import nn

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "pytorch.md"


def scaled_step(fused: bool) -> None:
    model = nn.Linear(3, 3).npu()
    optimizer = torch.optim.AdamW(model.parameters(), fused=fused)
    scaler = torch_npu.npu.amp.GradScaler()
    with torch.autocast("npu", dtype=torch.float16):
        loss = model(torch.ones(2, 3).npu()).sum()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()


def padded_encoder(**settings) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2, **settings).npu().eval()
        padding = torch.tensor([[False] * 5, [False] * 3 + [True] * 2]).npu()
        with torch.no_grad():
            encoder(torch.rand(2, 5, 16).npu(), src_key_padding_mask=padding)


def nested(layout: torch.layout) -> None:
    torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], layout=layout).npu()


def compiled(**settings) -> None:
    torch.compile(lambda x: x.sin() + 1, **settings)(torch.ones(3).npu())


def sparse_product(dense: bool) -> None:
    matrix = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.ones(2), (2, 2), device="npu")
    ones = torch.ones(2, 2).npu()
    _ = matrix.to_dense() @ ones if dense else torch.sparse.mm(matrix, ones)


def geglu(device: str) -> None:
    torch_npu.npu_geglu(torch.ones(2, 8, device=device))


@pytest.mark.parametrize(
    "fails, text, works",
    [
        pytest.param(
            lambda: scaled_step(True),
            "Adam.step() got an unexpected keyword argument 'grad_scaler'",
            lambda: scaled_step(False),
            id="fp16",
        ),
        pytest.param(
            padded_encoder,
            "Could not run 'aten::_to_copy' with arguments from the 'NestedTensornpu' backend",
            lambda: padded_encoder(enable_nested_tensor=False),
            id="encoder",
        ),
        pytest.param(
            lambda: nested(torch.strided),
            "Could not run 'aten::_to_copy' with arguments from the 'NestedTensornpu' backend",
            lambda: nested(torch.jagged),
            id="nested",
        ),
        pytest.param(compiled, "Device npu not supported", lambda: compiled(backend="aot_eager"), id="inductor"),
        pytest.param(
            lambda: sparse_product(False),
            "The operator 'aten::addmm' is not currently supported on the NPU backend.",
            lambda: sparse_product(True),
            id="sparse",
        ),
        pytest.param(
            lambda: geglu("cpu"),
            "Could not run 'npu::npu_geglu' with arguments from the 'CPU' backend",
            lambda: geglu("npu"),
            id="geglu",
        ),
    ],
)
def test_the_error_is_what_the_page_quotes(fails, text, works):
    assert f"{text}`" in PAGE.read_text(encoding="utf-8")
    with pytest.raises(Exception) as raised:
        fails()
    assert text in str(raised.value)
    works()


def test_coalescing_names_the_function_that_is_missing():
    matrix = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.ones(2), (2, 2), device="npu")
    with pytest.raises(RuntimeError, match="aclnnCoalesceSparse"):
        matrix.coalesce()
