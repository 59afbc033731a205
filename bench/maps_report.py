#!/usr/bin/env python3
"""Sums up what maps.py measured: elementwise operators beside PyTorch.

Usage: maps_report.py [--page PAGE.md] [--rest-of-aten] [--again] RESULTS.json...

--page writes the tables between the marks of a page, with --rest-of-aten those of that group: a row for each family, and the cases below half of
PyTorch's rate with their reasons. --again prints a filter that makes ./dev bench --maps measure the cases below 1 once more,
and does nothing else. Several results are joined; a case that is in more than one counts as in the last. Files that do not exist are
skipped.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import pathlib
import re
import sys

import rest_of_aten
from report import geometric_mean, markdown, write_between

PAGE_MARKS = ("<!-- elementwise operators, written by bench/maps_report.py -->\n", "\n<!-- end of the elementwise operators -->")
HEADINGS = ("cases", "how many", "geometric mean", "lowest", "highest", "below 1")
REST_MARKS = ("<!-- the rest of ATen, written by bench/maps_report.py -->\n", "\n<!-- end of the rest of ATen -->")
EXTREMES = 10
NEEDS_A_REASON = 0.5
LARGEST_IN_CACHE = 16


def load(paths):
    cases, runs = {}, []
    for path in paths:
        if path.exists():
            data = json.loads(path.read_text())
            runs.append(f"{data['processor']}, PyTorch {data['torch']} with {data['vectors']}")
            cases.update((case["name"], case) for case in data["maps"])
    return list(cases.values()), list(dict.fromkeys(runs))


def groups(cases):
    """What is summed up in a row of its own."""
    for family in dict.fromkeys(case["family"] for case in cases):
        for where, in_cache in (("in cache", True), ("from memory", False)):
            yield f"{family}, {where}", [c for c in cases if c["family"] == family and (c["log2"] <= LARGEST_IN_CACHE) == in_cache]
    for dtype in dict.fromkeys(case["dtype"] for case in cases):
        yield dtype, [case for case in cases if case["dtype"] == dtype]
    yield "all", cases


def spread(case):
    return f"{case['ratio']:.2f} ({case['ratio_p10']:.2f}..{case['ratio_p90']:.2f})"


def rows_of_groups(cases):
    for text, found in groups(cases):
        if found:
            ratios = [case["ratio"] for case in found]
            below = sum(ratio < 1 for ratio in ratios)
            yield (text, str(len(found)), f"{geometric_mean(ratios):.2f}", f"{min(ratios):.2f}", f"{max(ratios):.2f}",
                   f"{below} ({below / len(found):.0%})")


def rows_of_cases(cases):
    for case in cases:
        yield f"`{case['name']}`", f"{case['ns_per_element']:.3f}", f"{case['their_ns_per_element']:.3f}", spread(case)


def reason_of(case):
    return rest_of_aten.REASONS.get(case["name"].partition("/")[0], "no reason is given")


def rows_with_reasons(cases):
    for case in cases:
        if case["ratio"] < NEEDS_A_REASON:
            yield f"`{case['name']}`", spread(case), reason_of(case)


def write_rest(cases, runs, page):
    found = [case for case in cases if rest_of_aten.is_in(case["name"].partition("/")[0])]
    reasons = list(rows_with_reasons(found))
    parts = ["\n".join(f"Measured on: {run}." for run in runs), markdown(HEADINGS, rows_of_groups(found)),
             markdown(("case", "ratio (p10..p90 of its pairs)", "why"), reasons) if reasons else f"No case is below {NEEDS_A_REASON}."]
    write_between(page, REST_MARKS, "\n\n".join(parts))


def print_summary(cases):
    below = [case for case in cases if case["ratio"] < 1]
    if below:
        print("\nbelow 1")
    for case in below:
        print(f"  {case['name']:<36} {case['ns_per_element']:10.4f} {case['their_ns_per_element']:10.4f}  {spread(case)}")
    for name, ratio, why in rows_with_reasons(case for case in cases if rest_of_aten.is_in(case["name"].partition("/")[0])):
        print(f"  {name} {ratio}: {why}")
    print()
    for row in (HEADINGS, *rows_of_groups(cases)):
        print(f"  {row[0]:<26}" + "".join(f"{cell:>16}" for cell in row[1:]))


def write_page(cases, runs, page):
    headings = ("case", "ns per element", "PyTorch", "ratio (p10..p90 of its pairs)")
    below = [case for case in cases if case["ratio"] < 1]
    parts = ["\n".join(f"Measured on: {run}." for run in runs), markdown(HEADINGS, rows_of_groups(cases)),
             f"The {EXTREMES} highest:", markdown(headings, rows_of_cases(reversed(cases[-EXTREMES:]))),
             f"The {EXTREMES} lowest:", markdown(headings, rows_of_cases(cases[:EXTREMES]))]
    if len(below) > EXTREMES:
        parts += ["All others below 1:", markdown(headings, rows_of_cases(below[EXTREMES:]))]
    elif not below:
        parts += ["No case is below 1."]
    write_between(page, PAGE_MARKS, "\n\n".join(parts))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--rest-of-aten", action="store_true")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    cases, runs = load(options.results)
    if not cases:
        sys.exit("no results")
    cases.sort(key=lambda case: case["ratio"])
    if options.again:
        print("^(" + "|".join(re.escape(case["name"]) for case in cases if case["ratio"] < 1) + ")$")
        return
    print_summary(cases)
    if options.page:
        (write_rest if options.rest_of_aten else write_page)(cases, runs, options.page)


if __name__ == "__main__":
    main()
