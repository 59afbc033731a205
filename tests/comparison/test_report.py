"""Standards, figures, the table, the JSON and the page; what cannot be used."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html.parser
import json
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch_npu.testing.testcase import TestCase

import portacl.recording
from portacl.comparison import __main__ as command_line
from portacl.comparison import errors, standards

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def test_units_in_the_last_place_are_numpys():
    for dtype, numpy in ((torch.float32, np.float32), (torch.float16, np.float16), (torch.float64, np.float64)):
        values = torch.tensor([1.0, 1.5, 2.0, 3e-5, 60000.0, 1e-7, 0.0, -7.3]).to(dtype)
        want = np.spacing(np.abs(values.numpy().astype(numpy))).astype(np.float64)
        assert errors.unit(values.double(), dtype).tolist() == want.tolist()
    assert errors.unit(torch.tensor([1.0, 200.0]).double(), torch.bfloat16).tolist() == [2.0**-7, 1.0]


def test_figures():
    one, other = torch.tensor([1.0, 2.0, math.nan, math.inf]), torch.tensor([1.0, 2.0 + 2.0**-21, math.nan, math.inf])
    found = errors.Deviation(one, other).measures()
    assert found["differing"] == 1 and found["ulp"] == 2 and found["absolute"] == 2.0**-21
    assert found["relative"] == 2.0**-21 / (2 + 2.0**-21) and 1 - 1e-12 < found["cosine"] <= 1
    far = errors.Deviation(torch.tensor([math.nan, 1.0]), torch.tensor([1.0, 1.0])).measures()
    assert far["ulp"] == math.inf and far["differing"] == 1
    assert errors.Deviation(torch.tensor([0.0]), torch.tensor([-0.0])).has_same_bits is False
    assert errors.Deviation(torch.tensor([2**60 + 1]), torch.tensor([2**60])).measures()["differing"] == 1
    assert errors.Deviation(torch.tensor([math.inf], dtype=torch.float16), torch.tensor([70000.0], dtype=torch.float64)).has_same_bits
    assert errors.Deviation(torch.tensor([1 + 2j]), torch.tensor([1 + 3j])).measures()["ulp"] == 2.0**22


def passes(check, *arguments, **options) -> bool:
    try:
        check(*arguments, **options)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("dtype", FLOATS)
def test_standards_of_pytorch_and_torch_npu_are_their_functions(dtype):
    """At errors around their tolerances, in few or many elements."""
    draw = torch.Generator().manual_seed(5)
    judge, theirs = TestCase(), {"torch": 0, "torch_npu": 0}
    for number in range(300):
        want = torch.randn(2000, generator=draw).to(dtype)
        size = 10.0 ** float(torch.empty(()).uniform_(-7, 0, generator=draw))
        share = float(torch.rand((), generator=draw)) ** 6
        moved = torch.rand(2000, generator=draw) < share
        got = torch.where(moved, want.double() * (1 + size * torch.randn(2000, generator=draw)), want.double()).to(dtype)
        if number % 17 == 0:
            got[3] = math.nan
        deviation = errors.Deviation(got, want)
        known = {
            "torch": passes(torch.testing.assert_close, got, want, equal_nan=True),
            "torch_npu": passes(judge.assertRtolEqual, got, want),
        }
        for name, result in known.items():
            theirs[name] += result
            assert standards.Standards((name,)).judge(name, deviation) is result, (name, number, size, share)
    assert all(20 < passed < 280 for passed in theirs.values())


def test_the_numbers_of_canns_standard_are_those_of_the_page():
    """docs/numerics.md has them as a table; `./dev torch` reads the same file."""
    text = (ROOT / "docs" / "numerics.md").read_text(encoding="utf-8").split("## CANN's accuracy standard")[1]
    known = standards._of_cann()
    for row, form in (("rtol", "2^{}"), ("atol", "2^{}"), ("limit", "{:g}")):
        want = [form.format(known[dtype][row]) for dtype in ("float32", "float16", "bfloat16")]
        assert f"| {row} | {' | '.join(want)} |" in text
    assert f"{known['share'] * 100:g} % lie within" in text and f"(or {known['largest_ulp']} units in the last place" in text


@pytest.mark.parametrize("dtype", FLOATS)
def test_canns_standard(dtype):
    row = standards._of_cann()[standards.dtype_name(dtype)]
    judge = standards.Standards(("cann",))
    exact = torch.full((1000,), 4.0, dtype=torch.float64)
    edge = 2.0 ** row["atol"] + 4 * 2.0 ** row["rtol"]

    def passes(moved: int, by: float) -> bool:
        got = exact.clone()
        got[:moved] += by
        return judge.judge("cann", errors.Deviation(got.to(dtype), exact))

    assert passes(1000, edge / 2)
    assert passes(10, min(row["limit"], edge * 8) * 0.9) and not passes(11, edge * 1.5)
    assert not passes(1, 4 * max(row["limit"], 32 * float(errors.unit(exact[:1], dtype))))
    assert judge.judge("cann", errors.Deviation(exact, exact)) is None  # float64: it says nothing


def program():
    x = torch.linspace(-1, 1, 40).reshape(5, 8).npu()
    torch.exp(x).sum(0)


class Page(html.parser.HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.report = ""
        self._in_report = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._in_report = tag == "script" and dict(attributes).get("id") == "report"

    def handle_data(self, data):
        if self._in_report:
            self.report += data
            self._in_report = False


def test_the_page_holds_the_report_and_needs_nothing_else(record, compare, tmp_path):
    file = tmp_path / "page.html"
    found = compare(record(program, "aten::exp=nan"), "--html", file)
    text = file.read_text(encoding="utf-8")
    page = Page(text)
    assert json.loads(page.report) == found.content
    assert not re.search(r"(src|href)=|url\(|@import|https?:|fetch\(|XMLHttpRequest", text.replace(page.report, ""))
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(ids) == len(set(ids)) and set(re.findall(r'\$\("(\w+)"\)', text)) <= {*ids, "detail"}
    assert "prefers-color-scheme: dark" in text
    content = found.content
    assert content["format"] == 1 and content["summary"]["off"] == 1 and content["first"] == found.of("off")[0]["index"]
    for call in content["calls"]:
        assert call["stack"] is None or content["stacks"][call["stack"]]
        assert isinstance(call["inputs"], list) and call["verdict"] in ("ok", "off", "propagated", "not compared")
    off = found.of("off")[0]
    assert off["inputs"] == ["0: float32[5, 8]"] and off["outputs"] == ["output 0: float32[5, 8]"]
    assert "test_report.py" in content["stacks"][off["stack"]]
    assert off["worst"]["at"] == [2, 4] and off["worst"]["places"][off["worst"]["here"]] == [2, 4]


def test_no_text_of_a_recording_ends_the_script(tmp_path):
    from portacl.comparison import findings, report

    found = findings.Findings("</script><b>", "&lt; \u2028", {}, (), {"ulp": "ulp", "exact": ""})
    page = report.page(found)
    assert "</script><b>" not in page and json.loads(Page(page).report)["title"] == "</script><b>"


def test_the_table(record, compare):
    found = compare(record(program, "aten::exp=4ulp"))
    lines = found.text.splitlines()
    assert lines[0].endswith("calls recorded on portacl, beside portacl and float64")
    assert any(re.match(r"aten::exp +1 +1 +0 +\S+ +\S+ +\S+ +1( - \S+)? +bits 1", line) for line in lines), found.text
    assert lines[-1] == f"{len(found.calls)} calls: 1 off, 1 propagated, {len(found.of('ok'))} ok, {len(found.of('not compared'))} not compared"
    quiet = compare(record(program), "--quiet")
    assert quiet.text.count("\n") == 1


def test_what_cannot_be_used(record, tmp_path, capsys):
    file = record(program)
    text = tmp_path / "text.rec"
    text.write_text("no recording")
    for arguments, message in (
        ([tmp_path / "missing.rec"], "missing.rec: No such file or directory"),
        ([text], "text.rec: no recording"),
        ([file, file, file], "3 recordings"),
        ([file, "--threshold", "float33=1ulp"], "float33 is no dtype"),
        ([file, "--threshold", "float32"], "--threshold float32: not DTYPE=Nulp"),
        ([file, "--standard", "threshold"], "--standard threshold"),
        ([file, "--html", tmp_path / "none" / "page.html"], "its folder does not exist"),
    ):
        with pytest.raises(SystemExit) as end:
            command_line.main([str(one) for one in arguments])
        assert end.value.code == 2
        assert message in capsys.readouterr().err


def test_a_cut_recording_is_judged_as_far_as_it_goes(record, compare):
    file = record(program, "aten::exp=4ulp")
    content = file.read_bytes()
    file.write_bytes(content[: len(content) - 30])
    found = compare(file)
    assert found.content["problems"] and "byte" in found.content["problems"][0]
    assert found.code == 1 and "problem: " in found.text


def test_a_recording_that_reached_its_limit_says_so(compare, tmp_path):
    file = tmp_path / "run.rec"
    with portacl.recording.record(file, limit=60_000, progress=False):
        for _ in range(200):
            torch.randn(64).npu().exp()
    found = compare(file)
    said = [fact["value"] for fact in found.content["facts"] if fact["what"] == "recording"]
    assert found.code == 0 and len(said) == 2
    assert "tensors are kept as a hash and statistics" in said[0] and said[1].endswith("the recording ends here")
    assert all(f"recording: {sentence}" in found.text for sentence in said)


def test_a_recording_of_a_whole_program_says_nothing_of_its_end(record, compare):
    assert compare(record(program)).fact("recording") == ""


def test_the_command(record, tmp_path):
    """In a process of its own, as a user starts it."""
    file = record(program, "aten::exp=4ulp")
    done = subprocess.run([sys.executable, "-m", "portacl", "compare", str(file)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 1, done.stderr
    assert "first off: #" in done.stdout and "Traceback" not in done.stderr
