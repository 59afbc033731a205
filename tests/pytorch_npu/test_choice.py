"""Own, fallback or an error: the choice, what is said about it, the report, and other products."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import pytest
import torch
import torch_npu

import portacl.torch
from portacl.torch import _refusals, _table

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools" / "torch_npu_table"))
import refused_dtypes  # noqa: E402

VERSION = torch.__version__.split("+")[0]

# An operator that CANN has and portacl lacks, and the function that it needs. The tests below ask no other one by name, so whoever
# adds it writes another here.
LACKING, ITS_FUNCTION = "aten::embedding_renorm_", "aclnnEmbeddingRenorm"


def lacking(matrix: str) -> str:
    """A call of that operator, which leaves a matrix of numbers up to 1 as it is."""
    return f"torch.embedding_renorm_({matrix}, torch.zeros(1, dtype=torch.int64).npu(), 9, 2)"


def table(product: str) -> _table.Table:
    return _table.table_for(torch_npu.__version__, product)


class TestTable:
    def test_with_every_function_all_is_own_but_what_needs_the_graph_engine(self):
        some = table("Ascend910B1")
        for name in ("aten::add.Tensor", "aten::mse_loss", "aten::native_layer_norm", "aten::_foreach_add_.Scalar"):
            assert some.missing(some.needs(name), lambda function: True) == []
        assert some.missing(some.needs("aten::lstm.input"), lambda function: True)

    def test_every_function_counts(self):
        some = table("Ascend910B1")
        assert some.missing(some.needs("aten::add.Tensor"), lambda function: function != "aclnnAdds") == ["aclnnAdds"]
        assert some.missing(some.needs("aten::add.Tensor"), lambda function: False) == ["aclnnAdd", "aclnnAdds"]
        assert some.missing(some.needs("aten::view"), lambda function: False) == []

    def test_an_operator_needs_what_its_operators_need(self):
        some = table("Ascend910B1")
        lacking = some.missing(some.needs("aten::scaled_dot_product_attention"), lambda function: False)
        assert any("FlashAttentionScore" in name for name in lacking)

    def test_products_differ(self):
        for product, function in (("Ascend910B1", "aclnnGelu"), ("Ascend950PR_9579", "aclnnGeluV2")):
            some = table(product)
            assert some.missing(some.needs("aten::gelu.out"), lambda name: False) == [function]

    def test_what_it_does_not_know_is_not_own(self):
        some = table("Ascend910B1")
        assert some.needs("aten::no_such_operator") is None
        assert some.missing(None, lambda function: True)

    def test_both_phases_must_be_there(self):
        present = _table.loaded_functions()
        assert present("aclnnMseLoss")
        assert not present("aclnnNoSuchOperator")
        assert not present("aclnnInit")  # a function, but no operator

    def test_gradients_of_torch_npu(self):
        some = table("Ascend910B1")
        needs = some.gradient_needs("aten::l1_loss")
        assert some.missing(needs, lambda name: name != "aclnnL1LossBackward") == ["aclnnL1LossBackward"]


class TestChoice:
    def test_the_losses_are_own(self):
        own = portacl.torch.own_operators()
        assert {"aten::mse_loss", "aten::smooth_l1_loss", "aten::l1_loss", "aten::kl_div"} <= own
        assert {"aten::mse_loss_backward", "npu::l1_loss_backward", "npu::kl_div_backward"} <= own
        assert {"aten::copy_", "aten::clone", "aten::fill_.Scalar", "aten::zero_", "aten::ones_like"} <= own
        assert {"aten::view", "aten::as_strided", "aten::empty_strided"} <= own
        assert "aten::linalg_lstsq" not in own

    def test_arithmetic_is_own(self):
        own = portacl.torch.own_operators()
        assert {"aten::add.Tensor", "aten::mul.out", "aten::div_.Scalar", "aten::exp", "aten::where.self", "aten::ge.Tensor"} <= own
        assert not {LACKING, "aten::lgamma"} & own

    def test_sorting_is_own(self):
        own = portacl.torch.own_operators()
        assert {"aten::sort", "aten::sort.stable", "aten::topk", "aten::median.dim", "aten::kthvalue", "aten::searchsorted.Tensor"} <= own

    def test_norms_are_own(self):
        own = portacl.torch.own_operators()
        assert {"aten::native_batch_norm", "aten::native_batch_norm_backward", "aten::native_layer_norm_backward"} <= own

    def test_twice_is_once(self):
        before = portacl.torch._installed
        portacl.torch.install()
        assert portacl.torch._installed is before


class TestDtypes:
    def test_no_own_operator_refuses_what_the_cpu_takes(self):
        # What this finds belongs into the table: tools/torch_npu_table/refused_dtypes.py prints it.
        own = refused_dtypes.overloads(sorted(portacl.torch.own_operators()))
        assert len(own) > 100
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert refused_dtypes.refused(own) == {}

    def test_nor_any_other_form_of_a_call(self):
        # What this finds takes a rule in portacl/torch/_refusals.py.
        own = refused_dtypes.overloads(sorted(portacl.torch.own_operators()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert refused_dtypes.refused_forms(own, {}) == {}

    @pytest.mark.parametrize("words, seen", [("input must be half or float", True), ("tensors on the same device", False)])
    def test_refusals_in_words_of_torch_npu_are_seen(self, monkeypatch, words, seen):
        def refuse():
            raise RuntimeError(words)

        monkeypatch.setattr(torch.npu, "synchronize", refuse)
        assert ("float32" in refused_dtypes.refused([torch.ops.aten.abs.default]).get("aten::abs", [])) is seen

    def test_who_computes(self, program):
        out, err, status = program(
            """
            import warnings
            warnings.simplefilter("ignore")
            yes, no = torch.tensor([True, True]).npu(), torch.tensor([True, False]).npu()
            print(torch.clamp_max(yes, no).tolist(), torch.clamp_min(no, yes).tolist(), yes.clamp_max_(no).tolist())
            ints = torch.tensor([3, -4]).npu()
            print(ints.ceil().tolist(), ints.clone().ceil_().tolist(), torch.ceil(ints, out=torch.empty_like(ints)).tolist())
            wide = torch.zeros(2, dtype=torch.float64, device="npu").masked_fill_(no, 2.5)
            print(wide.dtype, wide.tolist(), torch.ones(1, dtype=torch.complex64, device="npu").tolist())
            print(torch.tensor([1.5]).npu().ceil().item(), torch.zeros(2).npu().masked_fill_(no, 1).tolist())
            print(portacl.torch.report(), end="")
            """,
            PORTACL_REPORT="1",
        )
        assert status == 0, err
        assert out.splitlines()[:4] == [
            "[True, False] [True, True] [True, False]",
            "[3, -4] [3, -4] [3, -4]",
            "torch.float64 [2.5, 0.0] [(1+0j)]",
            "2.0 [1.0, 0.0]",
        ]
        found = {key: count for key, (count, _) in rows(out).items()}
        for name in ("clamp_max.Tensor", "clamp_min.Tensor", "clamp_max_.Tensor", "ceil_", "ceil.out", "ones"):
            assert found["aten::" + name, "fallback"] == 1
            assert ("aten::" + name, "own") not in found
        assert found["aten::ceil", "fallback"] == found["aten::ceil", "own"] == 1
        assert found["aten::masked_fill_.Scalar", "fallback"] == found["aten::masked_fill_.Scalar", "own"] == 1

    def test_the_message_says_which(self, program):
        out, err, status = program("torch.ones(2, dtype=torch.int32).npu().ceil()", PORTACL_FALLBACK="error")
        assert status != 0
        assert "aten::ceil would fall back" in err and "CANN's function does not take uint8, int8, int16, int32, int64" in err

    @pytest.mark.parametrize("loss", ["l1_loss", "mse_loss", "smooth_l1_loss", "kl_div"])
    def test_gradients(self, loss):
        results = []
        for device in ("npu", "cpu"):
            x = torch.linspace(-2, 1, 7, dtype=torch.float64).to("cpu")
            leaf = torch.empty(7, dtype=torch.float64, device=device).copy_(x).requires_grad_()
            target = torch.ones(7, dtype=torch.float64, device=device)
            getattr(torch.nn.functional, loss)(leaf, target, reduction="sum").backward()
            results.append(leaf.grad.cpu())
        assert results[0].dtype is torch.float64
        assert torch.equal(*results)


def _leaf(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape).to(dtype).requires_grad_()


_F = torch.nn.functional

# What CANN's functions refuse, or leave unwritten, for the sake of more than a dtype.
_REFUSED_ARGUMENTS = {
    "max_pool2d": (lambda x: _F.max_pool2d(x, 3, 2, 1, dilation=2), [(2, 3, 9, 9)]),
    "max_pool2d, one axis": (lambda x: _F.max_pool2d(x, 2, dilation=(1, 2)), [(3, 5, 6)]),
    "max_pool3d": (lambda x: _F.max_pool3d(x, 2, dilation=2), [(1, 2, 5, 5, 5)]),
    "group_norm, eps": (lambda x, w, b: _F.group_norm(x, 2, w, b, eps=0.0), [(2, 6, 5), (6,), (6,)]),
    "group_norm, empty": (lambda x, w, b: _F.group_norm(x, 1, w, b), [(0, 2), (2,), (2,)]),
    "batch_norm, empty": (lambda x, w, b: _F.batch_norm(x, torch.zeros_like(w), torch.ones_like(w), w, b), [(0, 2, 3), (2,), (2,)]),
    "matmul": (torch.matmul, [(5, 5, 0), (0, 5)]),
    "avg_pool2d, empty": (lambda x: _F.avg_pool2d(x, 2), [(0, 2, 4, 4)]),
    "avg_pool3d, empty": (lambda x: _F.avg_pool3d(x, 2), [(0, 2, 4, 4, 4)]),
    "conv_transpose3d": (
        lambda x, w: _F.conv_transpose3d(x, w, stride=1, output_padding=1, dilation=2),
        [(1, 2, 3, 3, 3), (2, 2, 2, 2, 2)],
    ),
    "unfold": (lambda x: x.unfold(0, 1, 1), [()]),
}
_REFUSED_ARGUMENTS_OF_BF16 = {
    "reflect": (lambda x: _F.pad(x, (8, 8, 8, 8), mode="reflect"), [(1, 2, 10, 10)]),
    "replicate": (lambda x: _F.pad(x, (-1, 1, -2, 1), mode="replicate"), [(1, 3, 4, 4)]),
    "median": (lambda x: x.median(), [()]),
    "median, a dim": (lambda x: x.median(1).values, [(3, 1)]),
    "nanmedian, a dim": (lambda x: x.nanmedian(dim=-1).values, [(3, 1)]),
}


class TestArguments:
    def test_the_rules_name_operators(self):
        for name in _refusals._RULES:
            base, _, overload = name.partition(".")
            operator = getattr(getattr(torch.ops.aten, base), overload or "default")
            names = [argument.name for argument in operator._schema.arguments]
            assert set(_refusals.rule(operator.name()).arguments) <= set(names)

    @pytest.mark.parametrize("name", [*_REFUSED_ARGUMENTS, *_REFUSED_ARGUMENTS_OF_BF16])
    def test_as_on_the_cpu(self, name):
        of_bf16 = name in _REFUSED_ARGUMENTS_OF_BF16
        function, shapes = _REFUSED_ARGUMENTS_OF_BF16[name] if of_bf16 else _REFUSED_ARGUMENTS[name]
        leaves = [_leaf(*shape, dtype=torch.bfloat16 if of_bf16 else torch.float32) for shape in shapes]
        there = [leaf.detach().npu().requires_grad_() for leaf in leaves]
        want, got = function(*leaves), function(*there)
        torch.testing.assert_close(got.cpu(), want)
        weights = torch.randn(want.shape).to(want.dtype)
        wanted = torch.autograd.grad(want, leaves, weights)
        for one, other in zip(torch.autograd.grad(got, there, weights.npu()), wanted):
            torch.testing.assert_close(one.cpu(), other)

    # CANN's functions succeed and leave the result as the memory was.
    @pytest.mark.parametrize("axes", [2, 3])
    def test_means_of_no_elements(self, axes):
        x = torch.empty(1, 2, *[0] * (axes - 1), 4)
        pool = getattr(_F, f"avg_pool{axes}d")
        for where in (x, x.npu()):
            with pytest.raises(RuntimeError, match="Expected"):
                pool(where, 2, padding=1)

    def test_a_dropouts_mask_of_bool(self):
        gradient, mask = torch.randn(4, 5), torch.rand(4, 5) > 0.5
        for scale in (1.0, 2.0):
            got = torch.ops.aten.native_dropout_backward(gradient.npu(), mask.npu(), scale)
            assert torch.equal(got.cpu(), gradient * mask * scale)

    def test_who_computes(self, program):
        out, err, status = program(
            """
            x = torch.randn(1, 2, 8, 8).npu().requires_grad_()
            for dilation in (1, (1, 1), 2, (1, 2)):
                torch.nn.functional.max_pool2d(x, 3, 1, 1, dilation).sum().backward()
            print(portacl.torch.report(), end="")
            """,
            PORTACL_REPORT="1",
            PORTACL_FALLBACK="quiet",
        )
        assert status == 0, err
        found = {key: count for key, (count, _) in rows(out).items()}
        for name in ("aten::max_pool2d_with_indices", "aten::max_pool2d_with_indices_backward"):
            assert found[name, "own"] == found[name, "fallback"] == 2

    def test_the_message_says_what(self, program):
        _, err, status = program("torch.nn.functional.max_pool2d(torch.ones(1, 4, 4).npu(), 2, dilation=2)", PORTACL_FALLBACK="error")
        assert status != 0
        assert "aten::max_pool2d_with_indices would fall back" in err and "a dilation other than 1" in err


class TestWarnings:
    def test_each_operator_once_at_the_users_line(self, program):
        out, err, status = program(
            f"""
            import warnings
            x = torch.ones(1, 3).npu()
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(3):
                    {lacking("x")}
                    x.lgamma()
                torch.nn.functional.mse_loss(x, x)
            for one in caught:
                print(one.category.__name__, one.filename, one.message)
            """
        )
        assert status == 0, err
        lines = out.splitlines()
        assert len(lines) == 2
        assert all(line.startswith("FallbackWarning <string> aten::") for line in lines)
        assert LACKING in lines[0] and ITS_FUNCTION in lines[0] and "PORTACL_FALLBACK=quiet" in lines[0]

    def warned_in_a_gradient(self, program, steps: str) -> list[list[str]]:
        """What was warned of: file, line, message. The gradient of lgamma, digamma, falls back in autograd's own thread."""
        out, err, status = program(
            f"""
            import threading, warnings
            x = torch.full((3,), 2.5, device="npu", requires_grad=True)
            torch.lgamma(x)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                {steps}
            for one in caught:
                print(one.filename, one.lineno, one.message, sep="|")
            import os, sys
            sys.stdout.flush()
            os._exit(0)  # not while autograd's thread may still let go of what it used: an interpreter that ends does not wait for it
            """
        )
        assert status == 0, err
        return [line.split("|") for line in out.splitlines()]

    def test_in_a_gradient_the_line_that_asked_for_it_and_the_gradients_name(self, program):
        [(file, line, message)] = self.warned_in_a_gradient(program, "torch.lgamma(x).sum().backward()")
        assert file == "<string>" and line == "9"
        assert "aten::digamma" in message and "called by the gradient LgammaBackward0" in message

    def test_in_a_gradient_the_forwards_line_where_it_was_recorded(self, program):
        steps = """
                torch.autograd.set_detect_anomaly(True)
                y = torch.lgamma(x).sum()
                y.backward()
        """.strip()
        caught = self.warned_in_a_gradient(program, steps)
        [(file, line, message)] = [one for one in caught if "digamma" in one[2]]
        assert file == "<string>" and line == "10"
        assert "called by the gradient LgammaBackward0" in message

    def test_in_gradients_of_several_threads_the_gradients_name(self, program):
        steps = """
                inside, leave = threading.Event(), threading.Event()
                def wait(gradient):
                    inside.set()
                    leave.wait()
                cpu = torch.ones(1, requires_grad=True)
                waits = cpu * 2
                waits.register_hook(wait)
                other = threading.Thread(target=waits.backward)
                other.start()
                inside.wait()
                third = threading.Thread(target=torch.lgamma(x).sum().backward)
                third.start()
                third.join()
                leave.set()
                other.join()
        """.strip()
        [(file, line, message)] = self.warned_in_a_gradient(program, steps)
        assert file == "<the gradient LgammaBackward0>" and "called by the gradient LgammaBackward0" in message

    def test_quiet(self, program):
        out, err, status = program(f"x = torch.ones(2, 3).npu()\nprint({lacking('x')}.sum().item())", PORTACL_FALLBACK="quiet")
        assert status == 0 and "FallbackWarning" not in err
        assert float(out) == 6

    def test_error(self, program):
        out, err, status = program(
            f"""
            x = torch.ones(1, 3, requires_grad=True, device="npu")
            torch.nn.functional.mse_loss(x, torch.zeros_like(x)).backward()
            print("own works")
            try:
                {lacking("x.detach()")}
            except NotImplementedError as error:
                print(error)
            try:
                torch.linalg.inv(torch.eye(2).npu())
            except NotImplementedError as error:
                print(error)
            """,
            PORTACL_FALLBACK="error",
        )
        assert status == 0, err
        first, second, third = out.splitlines()[:3]
        assert first == "own works"
        assert LACKING in second and ITS_FUNCTION in second
        assert "aten::linalg_inv_ex" in third and "torch_npu has no kernel" in third

    def test_another_value_is_refused(self, program):
        _, err, status = program("print('not reached')", PORTACL_FALLBACK="loud")
        assert status != 0
        assert "ValueError: PORTACL_FALLBACK=loud: neither of warn, quiet, error" in err


def rows(report: str) -> dict[str, tuple[int, str, float]]:
    """By operator and who computed it."""
    found = {}
    for line in report.splitlines():
        row = re.fullmatch(r"(\S+::\S+) +(\d+) +(own|fallback) +([\d.]+)", line)
        if row:
            found[row[1], row[3]] = (int(row[2]), float(row[4]))
    return found


class TestReport:
    SOURCE = f"""
        x = torch.rand(4, requires_grad=True, device="npu")
        y = torch.rand(4).npu()
        for _ in range(5):
            torch.nn.functional.mse_loss(x, y).backward()
        for _ in range(3):
            {lacking("y.view(1, 4)")}
        print(portacl.torch.report(), end="")
        """

    def test_own_and_fallback(self, started):
        out, err, status = started(self.SOURCE, PORTACL_REPORT="1", PORTACL_FALLBACK="quiet")
        assert status == 0, err
        found = rows(out)
        assert found["aten::mse_loss", "own"][0] == 5
        assert found["aten::mse_loss_backward", "own"][0] == 5
        assert found[LACKING, "fallback"][0] == 3
        assert all(seconds > 0 for _, seconds in found.values())
        assert out.endswith("\n")
        own = sum(count for (_, by), (count, _) in found.items() if by == "own")
        assert re.search(rf"^own: \d+ operators, {own} calls, [\d.]+ ms$", out, re.MULTILINE)

    def test_without_the_variable_own_operators_are_not_counted(self, program):
        out, err, status = program(self.SOURCE, PORTACL_FALLBACK="quiet")
        assert status == 0, err
        assert ("aten::mse_loss", "own") not in rows(out)
        assert rows(out)[LACKING, "fallback"][0] == 3
        assert "own: not counted" in out

    def test_numbers_stay_numbers(self, program):
        # torch_npu's kernels take them as tensors that promote as numbers do, which counting must not change
        source = """
            for dtype in (torch.float16, torch.int32, torch.bool):
                for x in (torch.tensor([1, 0, 3]).to(dtype).npu(), torch.tensor(3).to(dtype).npu()):
                    for number in (2, 2.7, True):
                        for y in (x * number, x + number, x / number, number / x, torch.add(x, number, alpha=2)):
                            print(y.dtype, y.tolist())
            print(torch.ones(2).npu().mul_(3).tolist(), torch.mul(torch.ones(2).npu(), 2.5, out=torch.empty(2).npu()).tolist())
            """
        outputs = [program(source, PORTACL_FALLBACK="quiet", **more)[0] for more in ({}, {"PORTACL_REPORT": "1"})]
        assert outputs[0] == outputs[1] != ""

    def test_a_number_is_counted_once(self, program):
        source = "for _ in range(3): torch.ones(2).npu() * 2\nprint(portacl.torch.report(), end='')"
        out, err, status = program(source, PORTACL_REPORT="1", PORTACL_FALLBACK="quiet")
        assert status == 0, err
        assert rows(out)["aten::mul.Tensor", "own"][0] == 3

    def test_nothing_called(self, program):
        out, err, status = program("print(portacl.torch.report(), end='')", PORTACL_REPORT="1")
        assert status == 0, err
        assert "own: 0 operators, 0 calls" in out

    def test_counting_changes_no_bit(self, program):
        source = """
            torch.manual_seed(3)
            x = torch.rand(100, requires_grad=True, device="npu")
            loss = torch.nn.functional.smooth_l1_loss(x, torch.rand(100).npu())
            loss.backward()
            print(loss.item(), x.grad.double().sum().item(), x.grad.cpu().numpy().tobytes().hex())
            """
        outputs = [program(source, PORTACL_FALLBACK="quiet", **more)[0] for more in ({}, {"PORTACL_REPORT": "1"})]
        assert outputs[0] == outputs[1] != ""


class TestProducts:
    @pytest.mark.parametrize("product", ["Ascend910B1", "Ascend910_9391", "Ascend910A", "Ascend310P3", "Ascend950PR_9579"])
    def test_the_same_program(self, program, product):
        out, err, status = program(
            """
            torch.manual_seed(3)
            model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.GELU(), torch.nn.Linear(8, 1)).npu()
            x = torch.linspace(-1, 1, 30).view(10, 3)
            optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
            for _ in range(3):
                optimizer.zero_grad()
                torch.nn.functional.l1_loss(model(x.npu()), x.npu()[:, :1] * 2).backward()
                optimizer.step()
            print(torch.npu.get_device_name(), sum(p.abs().sum().item() for p in model.parameters()))
            view = x.npu().t()[1:, ::2]
            assert torch.equal(view.cpu(), x.t()[1:, ::2]) and torch.equal(view.contiguous().cpu(), view.cpu())
            assert torch.equal(view.to(torch.float16).cpu(), x.t()[1:, ::2].half())
            """,
            PORTACL_SOC=product,
            PORTACL_FALLBACK="quiet",
        )
        assert status == 0, err[-2000:]
        name, total = out.split()[-2:]
        assert name == product
        assert float(total) == pytest.approx(11.6, abs=5)

    def test_attention_is_own_on_every_product_that_has_it(self, program):
        source = """
            shapes = [(2, 4, 33, 16), (2, 4, 70, 16), (2, 4, 70, 16)]
            torch.manual_seed(3)
            q, k, v = (torch.randn(shape) for shape in shapes)
            attend = torch.nn.functional.scaled_dot_product_attention
            def run(device, dropped=0.0, **more):
                given = [t.to(device, dtype).detach().requires_grad_() for t in (q, k, v)]
                more = {name: t.to(device) if isinstance(t, torch.Tensor) else t for name, t in more.items()}
                out = attend(*given, dropout_p=dropped, **more)
                out.float().square().sum().backward()
                return [out.detach(), *(t.grad for t in given)]
            for dtype, bound in ((torch.float32, 2e-5), (torch.float16, 1e-2), (torch.bfloat16, 8e-2)):
                for more in ({}, {"is_causal": True}, {"attn_mask": torch.rand(33, 70) > 0.3}, {"scale": 0.3}):
                    for here, there in zip(run("npu", **more), run("cpu", **more)):
                        assert (here.cpu().float() - there.float()).abs().max() < bound, (dtype, more)
            dtype = torch.float32
            torch.npu.manual_seed(5)
            first, second = run("npu", 0.25), run("npu", 0.25)
            torch.npu.manual_seed(5)
            again = run("npu", 0.25)
            assert all(torch.equal(a, b) for a, b in zip(first, again)) and not torch.equal(first[0], second[0])
            # The result is a linear function of the values, whose gradient is then that of the same weights.
            assert torch.isclose((2 * first[0] * first[0]).sum().cpu(), (v * first[3].cpu()).sum(), rtol=1e-4)
            ones = torch.ones(1, 1, 256, 8, device="npu")
            mean = attend(torch.zeros(1, 1, 512, 8, device="npu"), ones, ones, dropout_p=0.25).mean().item()
            assert abs(mean - 1) < 0.02, mean
            """
        for product in ("Ascend910B1", "Ascend950PR_9579"):
            _, err, status = program(source, PORTACL_SOC=product, PORTACL_FALLBACK="error")
            assert status == 0, (product, err[-2000:])


class TestSwitches:
    def test_the_compatible_implementation_can_be_asked_for(self, program):
        # It looks whether the device's context is there, and passes null for flags that it does not want.
        source = """
            torch_npu.npu.use_compatible_impl(True)
            assert torch_npu.npu.are_compatible_impl_enabled()
            x = torch.arange(6.0).reshape(2, 3).npu()
            y = (x @ x.t() + 1).relu().sum() * 2
            pooled = torch.nn.functional.max_pool2d(x.reshape(1, 1, 2, 3), 2)
            print(y.item(), x.clamp(1, 4).cpu().tolist(), pooled.cpu().tolist())
            torch_npu.npu.use_compatible_impl(False)
            print((x * 2 + 1).cpu().tolist())
        """
        out, err, status = program(source, PORTACL_FALLBACK="quiet")
        assert status == 0, err
        assert out.splitlines()[-2:] == [
            "174.0 [[1.0, 1.0, 2.0], [3.0, 4.0, 4.0]] [[[[4.0]]]]",
            "[[1.0, 3.0, 5.0], [7.0, 9.0, 11.0]]",
        ]
