"""The page in a browser: drawn, sorted, filtered and opened as a reader does it. Chromium is Debian's package of that name."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest
import torch

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium (apt install chromium): the page is not tried in a browser")

# What a reader does, and what is to be seen then. It runs behind the page's own script.
READER = """
const seen = {errors: faults};
const lines = () => [...document.querySelectorAll(".call")].map(line => [...line.children].map(cell => cell.textContent));
const detail = () => (document.getElementById("detail") || {innerText: ""}).innerText;
const press = key => document.querySelector(`#head [data-key=${key}]`).click();
seen.title = document.querySelector("h1").textContent;
seen.facts = document.getElementById("facts").textContent;
seen.at_first = lines();
seen.opened_at_first = detail();
const canvas = document.getElementById("plot");
const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
seen.drawn = pixels.some((value, k) => k % 4 === 3 && value > 0);
seen.points = points.length;
press("ulp"); seen.by_ulp = lines(); press("ulp"); seen.by_ulp_up = lines();
press("name"); seen.by_name = lines(); document.getElementById("order").click(); seen.in_order = lines();
const type = (id, value, event) => { const one = document.getElementById(id); one.value = value; one.dispatchEvent(new Event(event)); };
type("search", "EXP", "input"); seen.searched = lines(); type("search", "", "input");
type("verdict", "off", "change"); seen.of_verdict = lines(); seen.count = document.getElementById("shown").textContent; type("verdict", "", "change");
document.querySelectorAll(".call.open").forEach(line => line.click());
seen.closed = detail();
document.querySelectorAll(".call")[0].click(); seen.opened = detail();
document.querySelector("#facts a").click(); seen.reached = detail();
const [x, y] = points[points.length - 1], box = canvas.getBoundingClientRect();
canvas.onmousemove({clientX: box.left + x, clientY: box.top + y}); seen.tip = document.getElementById("tip").textContent;
document.body.append(Object.assign(document.createElement("pre"), {id: "seen", textContent: JSON.stringify(seen)}));
"""
WATCH = '<script>const faults = []; addEventListener("error", event => faults.push(String(event.message)));</script>'


def visited(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert "<head>" in text and "</body>" in text
    read = tmp_path / "read.html"
    read.write_text(text.replace("<head>", "<head>" + WATCH, 1).replace("</body>", f"<script>{READER}</script></body>"), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,800", "--virtual-time-budget=2000"]
    options += [f"--user-data-dir={tmp_path / 'user'}", "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom"]
    done = subprocess.run([str(CHROMIUM), *options, read.as_uri()], capture_output=True, text=True, timeout=240)
    found = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stderr[-2000:] + done.stdout[-2000:]
    return json.loads(html.unescape(found[1]))


def program():
    x = torch.arange(40.0).reshape(5, 8).npu() / 40
    ((x.exp() * 2 + 1).log() @ x.t()).sum().cpu()


def test_a_reader_of_the_page(record, compare, tmp_path):
    page = tmp_path / "page.html"
    report = compare(record(program, "aten::exp=nan"), "--html", page)
    seen = visited(page, tmp_path)
    assert seen["errors"] == []
    assert seen["title"] == report.content["title"] and "first off: #" in seen["facts"] and "aten::exp" in seen["facts"]
    assert seen["drawn"] and seen["points"] >= len(report.of("off")) + len(report.of("propagated")) + len(report.of("ok"))
    numbers = [call["index"] for call in report.calls]
    shown = [int(line[0]) for line in seen["at_first"]]
    assert shown == numbers  # all fit
    off = report.of("off")[0]
    for opened in ("opened_at_first", "reached"):  # with shapes, values around the worst element and the call stack
        assert "float32[5, 8]" in seen[opened] and "around [2, 4]" in seen[opened] and "test_browser.py" in seen[opened]
    by_ulp = [line[6] for line in seen["by_ulp"]]
    assert by_ulp[0] == "inf" and int(seen["by_ulp"][0][0]) == off["index"]
    known = [line[6] for line in seen["by_ulp_up"] if line[6]]
    assert known[0] == "0" and known[-1] == "inf"
    names = [line[4] for line in seen["by_name"]]
    assert names == sorted(names) or names == sorted(names, reverse=True)
    assert [int(line[0]) for line in seen["in_order"]] == numbers
    assert seen["searched"] and all("exp" in " ".join(line).lower() for line in seen["searched"])
    assert [int(line[0]) for line in seen["of_verdict"]] == [off["index"]] and seen["count"] == f"1 of {len(numbers)} calls"
    assert seen["closed"] == "" and "inputs" in seen["opened"] and "called from" in seen["opened"]
    assert re.match(r"#\d+ aten::\w+", seen["tip"])
