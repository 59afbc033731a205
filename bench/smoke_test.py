#!/usr/bin/env python3
"""Checks that portacl_bench runs a case and that report.py understands what it writes. No time is looked at.

Usage: smoke_test.py DRIVER
SPDX-License-Identifier: Apache-2.0
"""
import json
import pathlib
import subprocess
import sys
import tempfile

FILTER = r"^(l1_loss_backward/f32/dense/2.8|kl_div_backward/mixed/self_row/2.8|kl_div\.sum/bf16/stride2/2.2)/t1$"
COUNTERS = ("ratio", "ratio_p10", "ratio_p90", "ns_per_element", "ceiling_ns_per_element", "pairs")
LIMIT_FILTER = r"^limit/l1_loss(_backward|\.mean)/f32/dense/2.14/t1$"
LIMIT_COUNTERS = ("ratio", "limit_of_ceiling", "library_of_ceiling", "limit_ns_per_element")


def check_limits(driver, folder):
    """The hand-written loops, which must compute what the library does; machines whose vectors are of no fixed length have
    none."""
    out = pathlib.Path(folder, "limits.json")
    run = subprocess.run([driver, "--limits", f"--benchmark_filter={LIMIT_FILTER}", "--minutes=0.001",
                          f"--benchmark_out={out}", "--benchmark_out_format=json"])
    cases = json.loads(out.read_text())["benchmarks"]
    if len(cases) != 2:
        sys.exit(f"2 hand-written loops were asked for, {len(cases)} came: {[c['name'] for c in cases]}")
    if all("no loops for this machine" in case.get("error_message", "") for case in cases):
        return
    if run.returncode != 0:
        sys.exit(f"a hand-written loop failed: {[c.get('error_message') for c in cases]}")
    for case in cases:
        for counter in LIMIT_COUNTERS:
            if not case.get(counter, 0) > 0:
                sys.exit(f"{case['name']}: {counter} is {case.get(counter)}")
    report = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("report.py"), out], check=True,
                            capture_output=True, text=True).stdout
    for case in cases:
        if case["label"] not in report:
            sys.exit(f"the report lacks {case['label']}: {report}")


def main():
    driver = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "ceiling.json")
        subprocess.run([driver, f"--benchmark_filter={FILTER}", "--minutes=0.001", f"--benchmark_out={out}",
                        "--benchmark_out_format=json"], check=True)
        cases = json.loads(out.read_text())["benchmarks"]
        if len(cases) != 3:
            sys.exit(f"3 cases were asked for, {len(cases)} came: {[c['name'] for c in cases]}")
        for case in cases:
            for counter in COUNTERS:
                if not case.get(counter, 0) > 0:
                    sys.exit(f"{case['name']}: {counter} is {case.get(counter)}")
        report = pathlib.Path(__file__).with_name("report.py")
        subprocess.run([sys.executable, report, "--plots", folder, out], check=True)
        check_limits(driver, folder)
        unknown = subprocess.run([driver, "--benchmark_filter=^no_such_case$"], capture_output=True)
        if unknown.returncode == 0:
            sys.exit("a filter that matches nothing was accepted")


if __name__ == "__main__":
    main()
