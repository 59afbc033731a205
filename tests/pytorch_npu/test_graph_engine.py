"""What torch_npu computes by operators of CANN's graph engine alone is refused at the call, before anything is queued."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
import torch
import torch_npu

import portacl.torch
from portacl.torch import _compositions, _table

TABLE = _table.table_for(torch_npu.__version__, "Ascend910B1")
ENGINE = "an operator of CANN's graph engine"


def operators() -> list[torch._ops.OpOverload]:
    """The operators that need the graph engine and have no other way, in each namespace that has them."""
    found = []
    for full in sorted(TABLE._needs.keys() - _compositions.BY_NAME.keys()):
        if any(lack.startswith(ENGINE) for lack in TABLE.missing(TABLE.needs(full), lambda function: True)):
            name, _, overload = full.partition("::")[2].partition(".")
            for namespace in ("npu", "aten"):
                operator = getattr(getattr(getattr(torch.ops, namespace), name, None), overload or "default", None)
                if operator is not None and not torch._C._dispatch_has_computed_kernel_for_dispatch_key(operator.name(), "CPU"):
                    found.append(operator)
    return found


def argument(kind: str) -> Any:
    """Something of a type of the schema."""
    if kind.endswith("?"):
        return None
    if "Tensor" in kind:
        one = torch.ones(2, 3, device="npu")
        return [one, one] if "[" in kind or kind.startswith("List") else one
    if "[" in kind or kind.startswith("List"):
        return [1, 1]
    return {"bool": True, "str": "half", "float": 1.0}.get(kind, 1)


def call(operator: torch._ops.OpOverload) -> None:
    schema = operator._schema
    given = {a.name: argument(str(a.type)) for a in schema.arguments if not a.has_default_value() and "Optional" not in str(a.type)}
    nothing = {a.name: None for a in schema.arguments if not a.has_default_value() and "Optional" in str(a.type)}
    operator(**given, **nothing)


def test_they_are_many():
    names = {operator.name() for operator in operators()}
    assert len(names) > 50
    assert {
        *("npu::npu_lstm", "npu::npu_gru", "npu::npu_giou", "npu::npu_diou", "npu::npu_ptiou", "npu::npu_nms_v4", "npu::npu_stride_add"),
        *("npu::npu_nms_rotated", "npu::npu_nms_with_mask", "npu::npu_rotated_iou", "npu::npu_rotated_box_encode"),
        *("npu::npu_bounding_box_encode", "npu::npu_yolo_boxes_encode", "npu::npu_fused_attention_score_fwd"),
        *("npu::npu_alloc_float_status", "npu::npu_fused_attention_score_grad"),
    } <= names
    assert not names & portacl.torch.own_operators()


def test_what_needs_only_operators_that_are_here_is_own():
    assert "npu::npu_broadcast" in portacl.torch.own_operators()
    assert torch.ops.npu.npu_broadcast(torch.ones(1, 3).npu(), [2, 3]).cpu().tolist() == [[1, 1, 1], [1, 1, 1]]


def test_each_says_so_at_the_call():
    seven = torch.full((1,), 7.0, device="npu")
    for operator in operators():
        with pytest.raises(NotImplementedError) as error:
            call(operator)
        message = str(error.value)
        assert operator._schema.name.partition("::")[2] in message, operator
        assert ENGINE in message, operator
        types = [need.removeprefix("graph:") for need in (TABLE.needs(operator.name()) or "").split() if need.startswith("graph:")]
        assert all(f"({one})" in message for one in types), operator
        torch.npu.synchronize()
        assert (seven * 2 + 1).item() == 15, operator


BEFORE_A2 = """
    from torch.nn import functional as F
    torch.manual_seed(7)

    def leaf(*shape):
        return torch.randn(shape).requires_grad_()

    calls = {
        "conv1d": (lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1), [(2, 3, 9), (4, 3, 3), (4,)]),
        "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), [(2, 3, 7, 8), (4, 3, 3, 3), (4,)]),
        "conv2d, groups": (lambda x, w: F.conv2d(x, w, groups=2, dilation=2), [(1, 4, 7, 8), (6, 2, 2, 3)]),
        "conv3d": (F.conv3d, [(1, 2, 4, 5, 6), (3, 2, 2, 3, 3)]),
        "conv_transpose1d": (F.conv_transpose1d, [(1, 3, 5), (3, 2, 3)]),
        "conv_transpose2d": (lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2), [(2, 3, 4, 5), (3, 4, 3, 3), (4,)]),
        "max_pool3d": (lambda x: F.max_pool3d(x, 2), [(1, 2, 4, 6, 6)]),
        "avg_pool3d": (lambda x: F.avg_pool3d(x, 2, 1), [(1, 2, 4, 5, 6)]),
        "unfold": (lambda x: F.unfold(x, 3, padding=1), [(1, 2, 5, 6)]),
        "fold": (lambda x: F.fold(x, (4, 4), 2), [(1, 8, 9)]),
        "add": (lambda x, y: x + y, [(3, 4), (4,)]),
    }
    for name, (function, shapes) in calls.items():
        leaves = [leaf(*shape) for shape in shapes]
        there = [one.detach().npu().requires_grad_() for one in leaves]
        want, got = function(*leaves), function(*there)
        torch.testing.assert_close(got.detach().cpu(), want.detach(), msg=lambda text: f"{name}: {text}")
        weights = torch.randn(want.shape)
        of_them = torch.autograd.grad(got, there, weights.npu())
        for one, other in zip(of_them, torch.autograd.grad(want, leaves, weights)):
            torch.testing.assert_close(one.cpu(), other, rtol=1e-4, atol=1e-5, msg=lambda text: f"{name}: {text}")
    print((torch.full((1,), 7.0, device="npu") * 2 + 1).item())
    try:
        torch.ops.npu.npu_sub_sample(torch.ones(16, dtype=torch.int32).npu(), 8, 0.5)
    except NotImplementedError as error:
        print(error)
    print((torch.full((1,), 7.0, device="npu") * 2 + 1).item())
    """


@pytest.mark.parametrize(
    ("product", "queue"), [("Ascend310P3", "1"), ("Ascend310P3", "0"), ("Ascend910A", "1"), ("Ascend310B1", "1")]
)
def test_products_before_atlas_a2_compute(program, product, queue):
    out, err, status = program(BEFORE_A2, PORTACL_SOC=product, TASK_QUEUE_ENABLE=queue, PORTACL_FALLBACK="quiet")
    assert status == 0, err[-2000:]
    first, refusal, last = out.splitlines()[-3:]
    assert first == last == "15.0"
    assert "npu_sub_sample" in refusal and ENGINE + " (SubSample)" in refusal


CONVOLUTIONS = ("_convolution", "convolution_backward", "max_pool3d_with_indices", "max_pool3d_with_indices_backward")
WINDOWS = ("avg_pool3d", "avg_pool3d_backward", "im2col")


@pytest.mark.parametrize(
    ("product", "names"),
    [
        *((name, CONVOLUTIONS + WINDOWS) for name in ("Ascend310P1", "Ascend310P3", "Ascend910A", "Ascend910B", "Ascend910ProB")),
        *((name, CONVOLUTIONS) for name in ("Ascend310B1", "Ascend310B4")),
        *((name, ()) for name in ("Ascend910B1", "Ascend910_9391", "Ascend950PR_9579")),
    ],
)
def test_which_products_need_it(product, names):
    some = _table.table_for(torch_npu.__version__, product)
    for name in CONVOLUTIONS + WINDOWS:
        lacking = some.missing(some.needs("aten::" + name), lambda function: True)
        assert lacking == ([ENGINE] if name in names else []), name


@pytest.mark.parametrize("queue", ["0", "1"])
def test_operands_that_are_refused_end_no_process(program, queue):
    """A kernel may be called while Python holds its lock, as those that the choice is asked for are. torch_npu lets go of the lock, and
    would never take it back where its operator's call fails."""
    out, err, status = program(
        """
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.PrivateUse1)
        call = torch.library.get_kernel("npu::npu_broadcast", "PrivateUse1").call_boxed
        print(call(keys, torch.ones(1, 3).npu(), [2, 3]).cpu().tolist())
        one = torch.ones(1, 3).npu()
        try:
            call(keys, one, [5, 4])
            torch.npu.synchronize()
        except RuntimeError as error:
            print(str(error).replace("\\n", " "))
        try:
            print((one + 1).cpu())
        except RuntimeError as error:
            print("refused, too")
        """,
        TASK_QUEUE_ENABLE=queue,
        PORTACL_FALLBACK="quiet",
    )
    assert status == 0, err[-2000:]
    lines = out.splitlines()
    assert "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]" in lines
    refusal, after = lines[-2:]
    assert "operator BroadcastTo cannot make the output DT_FLOAT [5, 4]" in refusal
    assert "counted from the last, the output's." in refusal
    assert after == "refused, too"
