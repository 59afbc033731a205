#!/usr/bin/env python3
"""Chooses what is tested whole: what changed since everything was, and a sample that another commit draws anew.

    chosen.py determinism BUILD [--seed SEED]   prints the functions that `determinism` runs in every way, with commas between them
    chosen.py left-out BUILD [--seed SEED]      prints the test executables of operators that are neither reached by a change nor drawn, with
                                                semicolons between them
    chosen.py asan|tsan --pool                  prints the test executables that a sample is drawn from
    chosen.py asan|tsan BUILD [--seed SEED] [--borrow FILE]
                                                prints the test executables to run, and in a second line which part of the tests of which
                                                of them; writes to FILE, a line each, sources of src/ that are not compiled for the
                                                sanitizer, and their objects in BUILD
    chosen.py torch_npu BUILD [--seed SEED]     prints what `./dev torch_npu` runs (tools/pytorch_tests.py), as JSON
    chosen.py record                            notes the sources as they are: everything was tested

BUILD is a build directory with a finished library, of which Ninja's record of includes is read. tools/tested_whole.txt has the state that is
compared with. SEED is the hash of the commit, or the day where there is none. What was chosen, and why, is said on standard error.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import datetime
import functools
import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys

import pytorch_tests
import recorded_state
import schema.read

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = "tools/tested_whole.txt"
HEAD = "What was there when everything was last tested: the hash of a text, and whose it is. Written by `.ci/run --whole`."
HASHES = "tests/determinism/determinism_hashes.txt"
OPTIONS = ("cmake/compile_options.cmake", "cmake/library_options.cmake")

# The executables that are drawn from: some operators of each kind, and the runtime. The fuzzer runs all operators besides.
POOLS = {
    "asan": ["arithmetic_maps", "conversions", "executors", "exp", "gather", "kl_div_numbers",
             "l1_loss_numbers", "log", "loss_answers", "meta_objects", "move_answers", "mse_loss_numbers", "position_answers",
             "position_maps", "repeated_inputs", "runtime", "runtime_faults", "runtime_services", "runtime_streams"],
    "tsan": ["executors", "meta_objects", "parallel", "position_maps", "runtime", "runtime_faults", "runtime_fork",
             "runtime_services", "runtime_streams", "runtime_stress"],
}
# How many of them a seed draws; how many more what changed may add; a seed draws one in so many sources, operators and executables, and
# under a sanitizer one in so many tests of each suite of operators.
DRAWN = {"asan": 6, "tsan": 4}
MOST_FOR_CHANGES = {"asan": 12, "tsan": 6}
ONE_IN = {"sources": 15, "operators": 12, "executables": 5, "tests": 3}
# Tests of operators, and the smoke test of their benchmarks: these alone are left out. All other tests always run.
OF_OPERATORS = re.compile(r"bench/|tests/(attention|convolution|creation|foreach|image|indexing|large|linalg|loss|maps|matmul|moe|norm|optimizers|"
                          r"pooling|properties|quantisation|random|recurrent|reductions|serving|shape|sort)/")
# What the headers and the C functions of all operators are made from.
SCHEMA = re.compile(r"include/|tools/schema/")
# What CMake writes about test executables: a line each, its name and its sources.
EXECUTABLES = "test_executables.txt"
# Folders whose sources may be taken from BUILD as they are. All others are cheap, and what everything runs through.
BORROWED = re.compile(r"src/(aclnnop|engine)/[^/]+/")
# What an operator's bits depend on.
COMPUTES = re.compile(r"src/(aclnnop|engine|plan)/")


def seed_of(root: pathlib.Path) -> str:
    run = subprocess.run(["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return run.stdout.strip() if run.returncode == 0 else datetime.date.today().isoformat()


def drawn(names: list[str], count: int, seed: str) -> set[str]:
    """So many of the names, always the same for a seed, and whatever else is among the names."""
    return set(sorted(names, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())[:count])


def hashes_by_function(text: str) -> dict[str, str]:
    """Of each function with lines in the file of hashes, those lines. "aclnnAddRmsNorm_sum 3 ..." belongs to aclnnAddRmsNorm."""
    lines = collections.defaultdict(list)
    for line in text.splitlines():
        if not line.startswith("#"):
            lines[line.split()[1].partition("_")[0]].append(line)
    return {function: "\n".join(own) for function, own in lines.items()}


def state_of(root: pathlib.Path) -> dict[str, str]:
    bits = hashes_by_function((root / HASHES).read_text(encoding="utf-8"))
    others = {**{path: (root / path).read_text(encoding="utf-8") for path in OPTIONS}, **{f"hashes:{name}": text for name, text in bits.items()}}
    sources: dict[str, str] = {}
    for folder in ("src", "tests", "include", "bench"):
        sources |= recorded_state.sources_of(root, folder)
    for path in [*root.glob("src/aclnnop/*/operators.toml"), *root.glob("tools/schema/*.py")]:
        others[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    return {name: recorded_state.hash_of(text) for name, text in pytorch_tests.state_of(root).items()} | sources | {
        name: recorded_state.hash_of(text.encode()) for name, text in others.items()}


def unit_of(path: str) -> str:
    """A header and its sources have one name; they may lie in different folders."""
    return re.sub(r"(-inl)?\.(h|cc)$", "", path.rpartition("/")[2])


def affected(changed: set[str], includes: dict[str, set[str]]) -> set[str]:
    """The sources that changed, or include a header that did."""
    return {source for source in includes if source in changed or includes[source] & changed}


def computes_with(includes: dict[str, set[str]]) -> dict[str, set[str]]:
    """Source: what its results come from, itself, headers, and the sources that these headers belong to, and so on."""
    own = collections.defaultdict(set)
    for source in includes:
        if COMPUTES.match(source):
            own[unit_of(source)].add(source)
    found = {}
    for start in includes:
        reached, todo = set(), [start]
        while todo:
            source = todo.pop()
            if source in reached:
                continue
            reached.add(source)
            headers = {header for header in includes[source] if COMPUTES.match(header)}
            todo += [source for header in headers for source in own.get(unit_of(header), ())]
            reached |= headers
        found[start] = reached
    return found


def with_neighbours(changed: set[str], includes: dict[str, set[str]], computes: list[set[str]]) -> set[str]:
    """The changed files, and the folders of those that nothing computes with by name: a source may implement a header of another name.

    `computes` is what each function computes with. What most functions compute with is no sign of a folder.
    """
    counts = collections.Counter(path for files in computes for path in files)
    lost = {path.rpartition("/")[0] for path in changed if COMPUTES.match(path) and path.endswith((".h", ".cc")) and not counts[path]}
    return changed | {path for path in set(includes).union(*includes.values())
                      if path.rpartition("/")[0] in lost and 2 * counts[path] <= len(computes)}


def families_of_schemas(changed: set[str]) -> set[str]:
    return {path.split("/")[2] for path in changed if path.endswith("/operators.toml")}


def sources_of_functions(headers) -> dict[str, str]:
    return {function.name: f"src/aclnnop/{header.family}/{header.source}.cc" for header in headers for function in header.functions if header.source}


def source_of(name: str, sources: dict[str, str]) -> str:
    """The source of a function, or of one with other operands: "aclnnCumsumOfComplex" is aclnnCumsum."""
    return sources[max((known for known in sources if name.startswith(known)), key=len)]


def functions_to_sweep(changed: set[str], includes: dict[str, set[str]], headers, known_bits: list[str], seed: str) -> tuple[set[str], set[str]]:
    """The functions with hashes that a change reaches, and those that the seed draws."""
    if changed.intersection(OPTIONS):
        return set(known_bits), set()
    sources = sources_of_functions(headers)
    uses = computes_with(includes)
    wide = with_neighbours(changed, includes, [uses[source] for source in sources.values()])
    reached = {name for name in known_bits
               if f"hashes:{name}" in changed or not wide.isdisjoint(uses[source_of(name, sources)])}
    return reached, drawn(known_bits, -(-len(known_bits) // ONE_IN["operators"]), seed)


def executables_for(changed: set[str], mutants, most: int, seed: str) -> tuple[list[str], int]:
    """The tests that notice mutants of what changed, or else of its folder: the most-named first; and how many more there are."""
    by_file, by_folder = collections.defaultdict(set), collections.defaultdict(set)
    for mutant in mutants:
        # Programs in Python notice some by the library itself, which is no test executable.
        names = {name for name in (test.partition(":")[0] for test in mutant.tests) if not name.startswith("libportacl.so")}
        by_file[mutant.file] |= names
        by_folder[mutant.file.rpartition("/")[0]] |= names
    votes: collections.Counter = collections.Counter()
    for path in changed:
        votes.update(by_file.get(path) or by_folder.get(path.rpartition("/")[0], ()))
    votes.pop("determinism", None)  # has a choice of its own
    ranked = sorted(votes, key=lambda name: (-votes[name], hashlib.sha256(f"{seed} {name}".encode()).digest()))
    return ranked[:most], max(0, len(ranked) - most)


def functions_reached(changed: set[str], includes: dict[str, set[str]], headers, uses: dict[str, set[str]] | None = None) -> set[str]:
    """The functions whose results or answers may differ: their schema, their source, a header that it includes, or what these are about changed."""
    sources, uses, families = sources_of_functions(headers), uses or computes_with(includes), families_of_schemas(changed)
    wide = with_neighbours(changed, includes, [uses[source] for source in sources.values()])
    units = {unit_of(path) for path in wide if path.startswith("src/")}
    reached = {source for source in includes if units & {unit_of(path) for path in {source} | includes[source] | uses[source]}}
    return {name for name, source in sources.items() if source in reached or source.split("/")[2] in families}


@functools.cache
def descriptions(root: pathlib.Path) -> dict[str, str]:
    """The functions that headers of tests/operators declare and that take nothing: the source of each."""
    folder = root / "tests/operators"
    declared = {name for header in folder.glob("*.h") for name in re.findall(r"\b(\w+)\(\);", header.read_text(encoding="utf-8"))}
    found = {}
    for source in folder.glob("*.cc"):
        defined = re.findall(r"^\S.*\b(\w+)\(\) {", source.read_text(encoding="utf-8"), re.MULTILINE)
        found |= {name: source.relative_to(root).as_posix() for name in declared.intersection(defined)}
    return found


def reach_in_pytorch(changed: set[str], includes: dict[str, set[str]], headers) -> tuple[str, set[str]]:
    """A path whose change reaches every test of PyTorch, if there is one, and the functions that the others reach."""
    uses, functions = computes_with(includes), set()
    for path in sorted(changed):
        if path in OPTIONS or SCHEMA.match(path):
            return path, set()
        if path.startswith("src/") and not path.startswith(tuple(pytorch_tests.WORDS_OF_PARTS)):
            reached = functions_reached({path}, includes, headers, uses)
            if not reached or 2 * len(reached) > sum(len(header.functions) for header in headers):
                return path, set()
            functions |= reached
    return "", functions


def texts_of_test(sources: list[str], root: pathlib.Path) -> set[str]:
    """The sources of a test, the headers in tests/ that they include, and the sources of these headers, and so on.

    Several sources may define what a header of tests/operators declares: that counts of which the function is called.
    """
    found, todo = set(), list(sources)
    if any(path.startswith("tests/maps/") for path in sources):  # described elementwise operators are linked to them
        todo += [path.relative_to(root).as_posix() for path in root.glob("tests/maps/operators_*.cc")]
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        text = (root / path).read_text(encoding="utf-8")
        if '#include "operators/' in text:
            todo += [descriptions(root)[name] for name in re.findall(r"\b(\w+)\(\)", text) if name in descriptions(root)]
        for header in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            places = [(root / path).parent / header, root / "tests" / header]
            there = next((place for place in places if place.is_file()), None)
            if there is not None:
                todo += [file.resolve().relative_to(root).as_posix() for file in (there, there.with_suffix(".cc")) if file.is_file()]
    return found


def executables_to_leave_out(changed: set[str], functions: set[str], texts: dict[str, dict[str, str]], seed: str) -> tuple[set[str], set[str]]:
    """Of tests of operators, by name the texts of each: those that no change reaches, less those that the seed draws; and the drawn ones."""
    def names_one(text: str) -> bool:  # macros may make a function's name of parts
        return re.search(r"\baclnn\w*##", text) is not None or not functions.isdisjoint(re.findall(r"\baclnn\w+", text))

    reached = {name for name, files in texts.items() if changed & set(files) or functions and any(names_one(text) for text in files.values())}
    rest = sorted(set(texts) - reached)
    sample = drawn(rest, -(-len(rest) // ONE_IN["executables"]), seed)
    return set(rest) - sample, sample


def reaches_everything(changed: set[str], tested: set[str]) -> bool:
    """Whether a change is of what all operators are made from, or of tests whose executables are not known."""
    return any(path in OPTIONS or SCHEMA.match(path) or path.startswith("tests/") and path.endswith((".cc", ".h")) and path not in tested for path in changed)


def drawn_tests(sample: set[str], reached: list[str], executables: dict[str, list[str]], seed: str) -> str:
    """The part of the tests that runs under a sanitizer, "INDEX of COUNT: NAMES", of executables of operators that no change reaches."""
    index = int(hashlib.sha256(seed.encode()).hexdigest(), 16) % ONE_IN["tests"]
    return " ".join([f"{index} of {ONE_IN['tests']}:", *(name for name in sorted(sample.difference(reached)) if any(map(OF_OPERATORS.match, executables.get(name, []))))])


def executables_of(build: pathlib.Path) -> dict[str, list[str]]:
    """By name, the sources of each test executable."""
    lines = [line.split() for line in (build / EXECUTABLES).read_text(encoding="utf-8").splitlines()]
    return {name: sources for name, *sources in lines}


def objects_of(build: pathlib.Path, root: pathlib.Path) -> dict[str, str]:
    """Source in src/: its object."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(root / "src") and "/portacl_objects.dir/" in entry["command"]:
            words = shlex.split(entry["command"])
            found[path.relative_to(root).as_posix()] = str(pathlib.Path(entry["directory"], words[words.index("-o") + 1]))
    return found


def say(text: str) -> None:
    print(f"    {text}", file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["determinism", "left-out", "asan", "tsan", "torch_npu", "record"])
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("--seed")
    parser.add_argument("--borrow", type=pathlib.Path)
    parser.add_argument("--pool", action="store_true")
    options = parser.parse_args()
    state = state_of(ROOT)
    if options.what == "record":
        recorded_state.write_list(ROOT / LIST, HEAD, state)
        return 0
    if options.pool:
        print(",".join(POOLS[options.what]))
        return 0
    build, seed = options.build.resolve(), options.seed or seed_of(ROOT)
    changed = recorded_state.changed_since(recorded_state.read_list(ROOT / LIST), state)
    includes = recorded_state.includes_of(ROOT, build)
    if options.what == "determinism":
        names = sorted(name.removeprefix("hashes:") for name in state if name.startswith("hashes:"))
        reached, sample = functions_to_sweep(changed, includes, schema.read.read(ROOT), names, seed)
        say(f"in every way: {len(reached)} of {len(names)} functions that a change reaches, and of seed {seed} {len(sample - reached)}:")
        say(" ".join(sorted(sample - reached)) or "none")
        print(",".join(sorted(reached | sample)))
        return 0
    if options.what == "left-out":
        executables = executables_of(build)
        paths = {name: texts_of_test(sources, ROOT) for name, sources in executables.items()}
        texts = {name: {path: (ROOT / path).read_text(encoding="utf-8") for path in own} for name, own in paths.items()
                 if OF_OPERATORS.match(executables[name][0])}
        if reaches_everything(changed, set().union(*paths.values())):
            say("a change reaches everything")
            print("")
            return 0
        functions = functions_reached(changed, includes, schema.read.read(ROOT))
        left_out, sample = executables_to_leave_out(changed, functions, texts, seed)
        say(f"tests of operators: {len(texts) - len(left_out) - len(sample)} of {len(texts)} executables that a change reaches, and of seed {seed}:")
        say(" ".join(sorted(sample)) or "none")
        print(";".join(sorted(left_out)))
        return 0
    if options.what == "torch_npu":
        choice = pytorch_tests.choose(ROOT, changed, *reach_in_pytorch(changed, includes, schema.read.read(ROOT)), seed)
        say(f"a change reaches every test: {choice['everything']}" if choice["everything"] else
            f"a change reaches {len(choice['files'])} files of tests, {sum(map(len, choice['tests'].values()))} tests of others, and "
            f"{len(choice['rows'])} of PyTorch's samples; of the rest the seed draws one in {pytorch_tests.ONE_IN}, of these samples:")
        say(" ".join(choice["drawn_rows"]) or "none")
        print(json.dumps(choice))
        return 0
    sys.path.insert(0, str(ROOT / "tests/mutation"))
    from mutants import MUTANTS
    reached, more = executables_for({path for path in changed if path.startswith("src/")}, MUTANTS, MOST_FOR_CHANGES[options.what], seed)
    sample = drawn(POOLS[options.what], DRAWN[options.what], seed)
    say(f"for what changed: {' '.join(reached) or 'nothing'}" + (f" ({more} more are left out)" if more else ""))
    say(f"of seed {seed}: {' '.join(sorted(sample))}")
    if options.borrow:
        objects = {source: path for source, path in objects_of(build, ROOT).items() if BORROWED.match(source)}
        own = affected(changed, includes) & set(objects) if changed.isdisjoint(OPTIONS) else set(objects)
        lent = drawn(sorted(objects), -(-len(objects) // ONE_IN["sources"]), seed)
        say(f"compiled for it: {len(own)} sources that a change reaches, and of the same seed {len(lent - own)} of {len(objects)}:")
        say(" ".join(sorted(path.removeprefix("src/") for path in lent - own)))
        text = "".join(f"{source.removeprefix('src/')} {path}\n" for source, path in sorted(objects.items()) if source not in own | lent)
        options.borrow.parent.mkdir(parents=True, exist_ok=True)
        if not options.borrow.exists() or options.borrow.read_text(encoding="utf-8") != text:
            options.borrow.write_text(text, encoding="utf-8")
    tests = drawn_tests(sample, reached, executables_of(build), seed)
    say(f"of the tests of each suite, part {tests}")
    print(",".join(sorted({*reached, *sample})), tests, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
