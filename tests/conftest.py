"""Runs, with --chosen FILE, the tests that tools/chosen.py chose, and of all other tests one in so many that its seed draws; says which."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import json
import pathlib
import re
import sys

import prepared
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools"))
import pytorch_tests  # noqa: E402

# Files whose tests start programs take longest, so that they come first.
STARTS = re.compile(r"\b(torchrun|subprocess|program)\b")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--chosen", metavar="FILE", type=pathlib.Path, help="run what this file, by tools/chosen.py, chooses")


def pytest_unconfigure() -> None:
    prepared.end_all()


def _choice(config: pytest.Config) -> dict | None:
    file = config.getoption("--chosen")
    return json.loads(file.read_text(encoding="utf-8")) if file else None


def _name(item: pytest.Item) -> str:
    return item.path.relative_to(ROOT).as_posix() + "::" + item.nodeid.partition("::")[2]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    starts = {path: STARTS.search(path.read_text(encoding="utf-8")) is not None for path in {item.path for item in items}}
    items.sort(key=lambda item: not starts[item.path])
    choice = _choice(config)
    if choice is None:
        return
    drawn = pytorch_tests.drawn_by_file(choice, map(_name, items))
    kept = [item for item in items if _name(item) in drawn or pytorch_tests.is_reached(choice, _name(item))]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def _told(choice: dict, names: list[str]) -> str:
    drawn = collections.defaultdict(list)
    for name in names:
        if not pytorch_tests.is_reached(choice, name):
            file, _, test = name.partition("::")
            drawn[file].append(test)
    count = sum(map(len, drawn.values()))
    lines = [f"{len(names) - count} tests that a change reaches, and of seed {choice['seed']} {count}:"]
    return "\n".join([*lines, *(f"    {file.rpartition('/')[2]}: {' '.join(tests)}" for file, tests in drawn.items())])


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> str | None:
    choice = _choice(config)
    return _told(choice, [_name(item) for item in items]) if choice else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node, ids: list[str]) -> None:
    choice = _choice(node.config)
    if choice and node.gateway.id == "gw0":
        reporter = node.config.pluginmanager.getplugin("terminalreporter")
        reporter.write_line(_told(choice, ids))
