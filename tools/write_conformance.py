#!/usr/bin/env python3
"""Writes docs/conformance.md: what the tests of every operator tried on every product, counted by the tests themselves.

Usage: write_conformance.py BUILD_DIRECTORY     run the tests of that build and write the page
       write_conformance.py --check PORTACL_INFO    is the page in order? (the same operators and products, nothing failed)

The contract tests go over all products by themselves. The numeric tests run once for each product, on the best instruction
set of the machine; those that say nothing about products (long loops, the caller's floating-point environment) are left to
the ordinary test run. Every number is a property that a test recorded.
SPDX-License-Identifier: Apache-2.0
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import check_operator_pages
import schema.read

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance.md"
REFUSED = 161002

# Product line -> its name in the contract tests, and a name of it for PORTACL_SOC.
PRODUCTS = {
    "Atlas A2": ("AtlasA2", "Ascend910B1"),
    "Atlas A3": ("AtlasA3", "Ascend910_9391"),
    "Ascend 950PR/950DT": ("Ascend950", "Ascend950PR_9599"),
    "Atlas training": ("Ascend910", "Ascend910A"),
    "Atlas inference": ("Ascend310P", "Ascend310P3"),
    "Atlas 200I/500 A2": ("Ascend310B", "Ascend310B1"),
}
HEADER = "aclnnop/aclnn_{}.h"
# What is described in these files has tests on every product, in the executables of a folder.
DESCRIBED = {"tests/operators/loss_answers.cc": "loss/loss", "tests/operators/move_answers.cc": "creation/move"}
NUMERIC_FILTER = ("On/{name}Numerics.*/{isa}:On/Reduced{name}Numerics.*/{isa}:On/FillValueNumerics.{name}/{isa}"
                  ":-*.LargeSizes/*:*.CallersFloatingPointEnvironment/*")
COLUMNS = ("operator", "product", "contract rows", "of them different", "numeric cases", "special values", "refused", "tests", "failed")


def operators() -> dict[str, str]:
    """aclnnL1LossBackward -> l1_loss_backward, in the order of the list: of the described operators."""
    described = {name for file in DESCRIBED for name in re.findall(r"PORTACL_C_FUNCTION\((\w+)\)", (ROOT / file).read_text())}
    names = {function.name: one.name for one in schema.read.read(ROOT) for function in one.functions[:1]}
    return {function: name for function, name in names.items() if function in described}


def executables(build: pathlib.Path, operator: str) -> tuple[pathlib.Path, pathlib.Path]:
    """Those of the answers of phase 1 and of the numbers."""
    family = next(family for file, family in DESCRIBED.items() if f"({operator}" in (ROOT / file).read_text())
    numbers = family
    if family == "loss/loss":
        numbers = "loss/" + ("kl_div" if "KlDiv" in operator else "mse_loss" if "Mse" in operator else "l1_loss")
    return build / f"tests/{family}_answers", build / f"tests/{numbers}_numbers"


def run(program: pathlib.Path, gtest_filter: str, **variables: str) -> list[dict]:
    """The tests that ran, with the properties that they recorded. What has passed is not run again."""
    run_of_it = f"{gtest_filter} {variables}".encode() + hashlib.sha256(program.read_bytes()).digest()
    kept = program.parent / "conformance" / f"{program.name}.{hashlib.sha256(run_of_it).hexdigest()[:32]}.json"
    if kept.exists():
        return json.loads(kept.read_text())
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([program, f"--gtest_filter={gtest_filter}", f"--gtest_output=json:{report}"],
                              env=os.environ | variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if not report.exists():
            raise SystemExit(f"{program.name} ended with {done.returncode} and no report:\n{done.stdout.decode()}")
        suites = json.loads(report.read_text())["testsuites"]
    tests = [test | {"suite": suite["name"]} for suite in suites for test in suite["testsuite"]]
    if not tests:
        raise SystemExit(f"{program.name} has no test for {gtest_filter}")
    if not failed(tests):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(tests))
    return tests


def failed(tests: list[dict]) -> int:
    return sum("failures" in test for test in tests)


def total(tests: list[dict], name: str) -> int:
    return sum(int(test.get(name, 0)) for test in tests)


def measure_operator(build: pathlib.Path, isa: str, operator: str) -> tuple[list[tuple], tuple]:
    """The operator's rows of the two tables."""
    by_product = []
    answers, numeric = executables(build, operator)
    contract = run(answers, f"*/{operator}On*:*/{operator}")
    for line, (name, soc) in PRODUCTS.items():
        rows = [test for test in contract if test["name"] == f"EveryChange/{operator}On{name}"]
        if not rows:
            raise SystemExit(f"{answers.name} has no rows of {operator} for {name}")
        codes = {int(test["valid_call"]) for test in rows}
        if codes == {0}:
            tests = run(numeric, NUMERIC_FILTER.format(isa=isa, name=operator.removeprefix("aclnn")), PORTACL_TEST_SOC=soc)
            numbers = [total(tests, key) for key in ("numeric_cases", "special_value_cases", "refused_cases")]
        elif codes == {REFUSED}:
            tests, numbers = [], [f"not on this product: {REFUSED}", "-", "every call"]
        else:
            raise SystemExit(f"{operator} on {line}: a valid call gives {codes}")
        by_product.append((operator, line, total(rows, "contract_rows"), total(rows, "answered_otherwise"), *numbers,
                           len(rows + tests), failed(rows + tests)))
        print("  ".join(map(str, by_product[-1])), flush=True)
    others = [test for test in contract if not test["name"].startswith("EveryChange/")]
    no_device = [test for test in contract if test["name"] == f"EveryChange/{operator}OnNoDeviceSet"]
    return by_product, (operator, total(others, "fault_pairs"), total(no_device, "contract_rows"), len(others + no_device),
                        failed(others + no_device))


def measure(build: pathlib.Path, isa: str) -> tuple[list[tuple], list[tuple]]:
    """The rows of the two tables."""
    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as workers:
        results = list(workers.map(lambda item: measure_operator(build, isa, item), operators()))
    return [row for rows, _ in results for row in rows], [row for _, row in results]


def table(columns: tuple, rows: list[tuple]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "".join("| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in line) + " |\n" for line in lines)


def machine(build: pathlib.Path, info: dict) -> str:
    compiler = next(build.glob("CMakeFiles/*/CMakeCXXCompiler.cmake")).read_text()
    identity = re.search(r'CMAKE_CXX_COMPILER_ID "(\w+)"', compiler).group(1)
    version = re.search(r'CMAKE_CXX_COMPILER_VERSION "([\d.]+)"', compiler).group(1)
    instructions = {"avx512": "x86-64 with AVX-512", "avx2": "x86-64 with AVX2", "sve": "aarch64 with SVE", "neon": "aarch64 with NEON"}
    cores = len(os.sched_getaffinity(0))
    return f"{instructions.get(info['isa'], info['isa'])}, {cores} cores, {'g++' if identity == 'GNU' else identity} {version}"


def commit() -> str:
    git = ["git", "-C", str(ROOT)]
    name = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    changed = subprocess.run([*git, "status", "--porcelain", "--", "src", "include", "tests"], capture_output=True, text=True,
                             check=True).stdout.strip()
    return name + (" with changes that were not committed" if changed else "")


def write(build: pathlib.Path) -> int:
    info = json.loads(subprocess.run([build / "src/portacl-info", "--json"], capture_output=True, check=True,
                                     env={k: v for k, v in os.environ.items() if not k.startswith("PORTACL_")}).stdout)
    by_product, whatever_product = measure(build, info["isa"])
    failures = sum(row[-1] for row in by_product + whatever_product)
    PAGE.write_text(f"""# Conformance

What the tests of every operator tried on every product, and how it went. `./dev conformance` runs them and writes this page;
each number was counted by the tests while they ran.

| | |
|---|---|
| commit | {commit()} |
| machine | {machine(build, info)} |
| interface emulated | CANN {info['emulated_cann_version']} |
| contract rows, numeric cases | {sum(row[2] for row in by_product):,}, {sum(row[4] for row in by_product if isinstance(row[4], int)):,} |
| failed | {failures:,} |

## Operators on products

{table(COLUMNS, by_product)}
| column | counts |
|---|---|
| contract rows | calls, most of them wrong in one way, whose code, message and lack of effects are as CANN's checks give them (`tests/loss/`, `tests/creation/`) |
| of them different | expected differences: rows for which this product gives another code than most products do |
| numeric cases | calls with dtypes that the product takes, in which every element of the output was compared with an oracle in float64, and every byte around the operands with what it was before; on the instruction set named above |
| special values | combinations of zeros, subnormals, boundaries, infinities and NaN, one for each operand, within those cases |
| refused | expected differences: numeric cases with dtypes that the product does not take, each refused with {REFUSED} |
| tests | the tests that these were part of. A test fails with the first of its cases |
| failed | tests that failed |

Where an operator does not exist on a product, a call that is valid elsewhere gives {REFUSED}, which the contract rows check.

The numeric tests also run on every other instruction set, and with long loops, numbers of threads and floating-point environments, in
`./dev test`; [testing.md](testing.md) says what each proves.

## Operators on whatever product

{table(("operator", "pairs of faults", "rows without a device", "tests", "failed"), whatever_product)}
A pair of faults is a call that is wrong in two ways, of which the one that CANN checks first must be reported. The rows without a device are
the contract rows on a thread on which no device was set. The tests are these and those of phase 2.
""", encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {failures} failed")
    return 1 if failures else 0


def check(info: pathlib.Path) -> int:
    rows: list[tuple] = []
    faults = []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        if line.startswith("| aclnn"):
            rows.append(cells)
            if cells[-1] != "0":
                faults.append(f"failed: {' '.join(cells)}")
    accepted = check_operator_pages.accepted(info)
    names = operators()
    lines = list(next(iter(accepted.values())))
    if sorted(lines) != sorted(PRODUCTS):
        faults.append(f"the code has the products {lines}, this script {list(PRODUCTS)}")
    expected = [(operator, product) for operator in names for product in lines]
    found = [row[:2] for row in rows if len(row) == len(COLUMNS)]
    faults += [f"missing: {' on '.join(pair)}" for pair in expected if found.count(pair) != 1]
    faults += [f"no such operator or product: {' on '.join(pair)}" for pair in found if pair not in expected]
    for row in rows:
        if len(row) == len(COLUMNS) and row[:2] in expected and (row[6] == "every call") == (accepted[HEADER.format(names[row[0]])][row[1]] != "-"):
            faults.append(f"{' on '.join(row[:2])}: the page and the code differ about whether it exists")
    print("\n".join(f"docs/conformance.md: {fault}" for fault in faults) or f"conformance: in order ({len(found)} rows)")
    return 1 if faults else 0


def main() -> int:
    if len(sys.argv) != (3 if sys.argv[1:2] == ["--check"] else 2):
        print(__doc__, file=sys.stderr)
        return 2
    return check(pathlib.Path(sys.argv[2])) if sys.argv[1] == "--check" else write(pathlib.Path(sys.argv[1]).resolve())


if __name__ == "__main__":
    sys.exit(main())
