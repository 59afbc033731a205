"""The command line of `python -m portacl compare`.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import os
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NoReturn

from .terminal import printable

_EPILOG = """\
standards: cann (CANN's accuracy standard), torch (torch.testing.assert_close), torch_npu (assertRtolEqual), bits (the same bits as
portacl's), threshold (those of --threshold). All are reported; those chosen by --standard decide what is off. Without a choice: threshold
where one is given, else bits for a recording made on portacl, else cann, and torch for dtypes of which CANN's standard says nothing (float64,
float8).

exit code: 0 nothing is off, 1 something is, 2 a file or an option cannot be used.
"""

# Reasons for which a recording ends that holds all that was asked for.
_USUAL_ENDS = ("", "the program ended", "the program ended it", "all steps that were asked for are recorded")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m portacl compare",
        description="Replays the operators of a recording on portacl and in float64, or sets two recordings side by side.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "recordings", nargs="+", metavar="FILE", help="a recording, or two: what `python -m portacl record` wrote, or msprobe's folder"
    )
    parser.add_argument("--standard", action="append", choices=("cann", "torch", "torch_npu", "bits", "threshold"), help="decides; may be repeated")
    parser.add_argument(
        "--threshold",
        action="append",
        default=[],
        metavar="DTYPE=LIMIT",
        help="float32=4ulp, float16=1e-3 or bfloat16=1e-2,1e-5 (relative, absolute); DTYPE all: of every other",
    )
    parser.add_argument("--json", metavar="FILE", help="write the report as JSON")
    parser.add_argument("--html", metavar="FILE", help="write the report as one page")
    parser.add_argument("--bisect", action="store_true", help="find the operator that makes the loss part")
    parser.add_argument("--loss", type=int, metavar="CALL", help="with --bisect: the call whose result is the loss (else found)")
    parser.add_argument("--quiet", action="store_true", help="no progress and no table, but for one line")
    return parser


def _refuse(message: str) -> NoReturn:
    sys.stderr.write(f"portacl compare: {printable(message)}\n")
    raise SystemExit(2)


class Progress:
    """Prints progress on standard error: at most twice a second on a terminal, every ten seconds elsewhere."""

    def __init__(self, total: int, quiet: bool):
        self._total = total
        self._quiet = quiet
        self._is_terminal = sys.stderr.isatty()
        self._every = 0.5 if self._is_terminal else 10.0
        self._start = self._last = time.monotonic()

    def __call__(self, number: int, what: str) -> None:
        now = time.monotonic()
        if self._quiet or now - self._last < self._every:
            return
        self._last = now
        left = (now - self._start) / max(1, number) * (self._total - number)
        line = f"portacl compare: {number} of {self._total} calls, about {left:.0f} s left ({printable(what)})"
        sys.stderr.write(f"\r{line[:119]:119}" if self._is_terminal else line + "\n")
        sys.stderr.flush()

    def end(self) -> None:
        if not self._quiet and self._is_terminal and self._last != self._start:
            sys.stderr.write("\r" + " " * 119 + "\r")


def main(arguments: list[str]) -> int:
    given = _parser().parse_args(arguments)
    if len(given.recordings) > 2:
        _refuse(f"{len(given.recordings)} recordings: one is replayed, two are set side by side")
    if given.bisect and len(given.recordings) == 2:
        _refuse("--bisect takes one recording: its operators are swapped with portacl's")
    if given.loss is not None and not given.bisect:
        _refuse("--loss belongs to --bisect")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal with a small character set accepts any name
    os.environ.pop("PORTACL_RECORD", None)  # replayed calls are not recorded, least of all into the file that is being read
    os.environ.setdefault("PORTACL_FALLBACK", "quiet")  # a row reports when PyTorch's CPU kernels replaced portacl
    warnings.filterwarnings("ignore", category=UserWarning)
    _need("torch", "tensors are compared by PyTorch")
    from portacl import recording

    try:
        thresholds = _thresholds(given.threshold)
        opened = [recording.open(file) for file in given.recordings]
    except ValueError as error:
        _refuse(str(error))
    except recording.RecordingError as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{error.filename}: {error.strerror}")
    for file in (given.json, given.html):
        if file is not None and not os.path.isdir(os.path.dirname(os.path.abspath(file))):
            _refuse(f"{file}: its folder does not exist")
    try:
        return _compare(given, opened, thresholds)
    except ValueError as error:
        _refuse(str(error))
    except OSError as error:
        _refuse(f"{error.filename or ' and '.join(given.recordings)}: {error.strerror or error}")
    finally:
        for one in opened:
            one.close()


def _need(package: str, sentence: str) -> None:
    if importlib.util.find_spec(package) is None:
        _refuse(f"{sentence}, and {sys.executable} has no {package}")


def _thresholds(given: list[str]) -> dict[str, Any]:
    from . import standards

    return dict(standards.threshold(text) for text in given)


def _ends_early(one: Any) -> Iterator[str]:
    """Sentences of a recording that says that it does not hold the whole program, or not whole tensors."""
    sentences = (one.meta.get("summaries_because"), None if one.end in _USUAL_ENDS else one.end)
    return (sentence for sentence in sentences if isinstance(sentence, str))


def _compare(given: argparse.Namespace, opened: list[Any], thresholds: dict[str, Any]) -> int:
    from . import findings, programs, replay, report
    from .standards import Standards

    if len(opened) == 1 and not programs.is_of_program(opened[0].meta):
        _need("torch_npu", "operators are replayed by PyTorch on device npu")

    lists = []
    for one in opened:
        calls = list(one)
        if not calls:
            _refuse(one.problem or f"{one.path}: it holds no call")
        lists.append(calls)
    of_portacl = all(replay.is_of_portacl(one.meta, replay.home_of(calls)) for one, calls in zip(opened, lists))
    chosen = tuple(given.standard or (("threshold",) if thresholds else ("bits",) if of_portacl else ("cann",)))
    chosen_standards = Standards(chosen, thresholds, falls_to=None if given.standard or chosen != ("cann",) else "torch")
    if given.bisect:
        from . import bisect

        return bisect.run(opened[0], lists[0], given.loss, Progress, given.quiet)
    if len(opened) == 2:
        from . import beside

        found = beside.compare(opened[0], opened[1], lists[0], lists[1], chosen_standards)
    else:
        from . import judge

        progress = Progress(len(lists[0]), given.quiet)
        found = judge.compare(opened[0], lists[0], chosen_standards, of_portacl, lambda number, call: progress(number, call.name))
        progress.end()
    found.problems += [one.problem for one in opened if one.problem]
    for one in opened:
        for sentence in _ends_early(one):
            found.fact("recording" if len(opened) == 1 else str(one.path), sentence)
    if found.rows and found.count(findings.NOT_COMPARED) == len(found.rows):
        found.problems.append("no call was compared; record with --keep all")
    text = report.table(found)
    sys.stdout.write(text.rstrip("\n").rpartition("\n")[2] + "\n" if given.quiet else text)
    try:
        if given.json:
            report.write_json(found, given.json)
        if given.html:
            report.write_html(found, given.html)
    except OSError as error:
        _refuse(f"{error.filename}: {error.strerror}")
    return 1 if found.is_off else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
