#!/usr/bin/env python3
"""Breaks the library on purpose, one place at a time (mutants.py), and reports which test notices.

SPDX-License-Identifier: Apache-2.0

A mutant that no test notices survives: either a test is missing, or the mutant changes nothing that can be observed;
then its entry in mutants.py says why. Mutants are made in a copy of the sources that is built for one instruction set
besides the portable one, so that a build takes seconds. Exit status: 0 when every survivor has a reason, 1 when not,
2 when the table does not fit the sources or these do not build.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mutants import MUTANTS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The fallback is always built; tests of the other instruction set are the ones that run.
DISABLED_TARGETS = "HWY_AVX3|HWY_SVE"
FILTER = "*:-*Long.*:*/portable"
# The hashes say that something changed, not that it is wrong: they are asked only when nothing else noticed.
LAST_RESORT = "determinism"
CPU_SECONDS = 150
WALL_SECONDS = 420


def copy_sources(to):
    """Copies what git would track; a file that is the same already keeps its time, so that builds stay incremental."""
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    if listing.returncode == 0:
        files = listing.stdout.splitlines()
    else:
        skip = re.compile(r"^(build|\.git)")
        files = [str(f.relative_to(ROOT)) for f in ROOT.rglob("*")
                 if f.is_file() and not skip.match(str(f.relative_to(ROOT)))]
    for name in files:
        source, target = ROOT / name, to / name
        if not source.is_file():
            continue
        content = source.read_bytes()
        if target.is_file() and target.read_bytes() == content:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        shutil.copymode(source, target)
    for path in to.rglob("*"):
        if path.is_file() and str(path.relative_to(to)) not in set(files):
            path.unlink()


def check_table(mutants):
    wrong = []
    for mutant in mutants:
        count = (ROOT / mutant.file).read_text().count(mutant.old)
        if count != 1:
            wrong.append(f"{mutant.name}: its text is {count} times in {mutant.file}")
        if mutant.old == mutant.new:
            wrong.append(f"{mutant.name}: changes nothing")
    names = [mutant.name for mutant in mutants]
    wrong += [f"{name}: more than one mutant has this name" for name in set(names) if names.count(name) > 1]
    return wrong


class Builder:
    def __init__(self, place, jobs):
        self.source, self.build, self.runs, self.jobs = place / "source", place / "build", place / "runs", jobs
        self.paths = {}

    def configure(self):
        self.source.mkdir(parents=True, exist_ok=True)
        copy_sources(self.source)
        shutil.rmtree(self.runs, ignore_errors=True)
        cmake = "/usr/bin/cmake" if os.access("/usr/bin/cmake", os.X_OK) else "cmake"
        self.run([cmake, "-S", self.source, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                  "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DPORTACL_WERROR=OFF", "-DPORTACL_BUILD_TESTS=ON",
                  f"-DPORTACL_DISABLED_TARGETS={DISABLED_TARGETS}"])

    def run(self, command):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def make(self, targets):
        return self.run(["ninja", "-C", self.build, f"-j{self.jobs}", *sorted(targets)])

    def executable(self, target):
        if target not in self.paths:
            found = [p for p in (self.build / "tests").rglob(target) if p.is_file() and os.access(p, os.X_OK)]
            self.paths[target] = found[0]
        return self.paths[target]

    def keep(self, mutant, targets):
        """The next mutant's build overwrites the executables, so those of this one are set aside."""
        folder = self.runs / re.sub(r"\W+", "_", mutant.name)
        folder.mkdir(parents=True, exist_ok=True)
        for target in targets:
            shutil.copy2(self.executable(target), folder / target)
        return folder


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_tests(folder, tests, corpus):
    """(the test that noticed, how) or None."""
    for test in tests:
        target, _, only = test.partition(":")
        if target == "fuzz_corpus":
            command = [folder / target, corpus]
        else:
            pattern = only + FILTER[1:] if only else FILTER
            command = [folder / target, f"--gtest_filter={pattern}", "--gtest_fail_fast", "--gtest_brief=1"]
        try:
            done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=WALL_SECONDS, preexec_fn=limit, errors="replace", text=True, cwd=folder)
        except subprocess.TimeoutExpired:
            return target, "did not end"
        if done.returncode != 0:
            failed = re.search(r"\[  FAILED  \] (\S+?),? ", done.stdout.replace("\n", " "))
            signal = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
            return target, failed.group(1) if failed else signal
    return None


def share(mutants, trees):
    """Groups of about the same size; mutants of one file stay together, so that it is built as it was only once."""
    by_file = {}
    for mutant in mutants:
        by_file.setdefault(mutant.file, []).append(mutant)
    groups = [[] for _ in range(min(trees, len(by_file)))]
    # A header costs as much as the many files that include it.
    for file, group in sorted(by_file.items(), key=lambda item: -len(item[1]) * (4 if item[0].endswith(".h") else 1)):
        smallest = min(groups, key=lambda g: sum(4 if m.file.endswith(".h") else 1 for m in g))
        smallest.extend(group)
    for group in groups:
        group.sort(key=lambda m: m.file.endswith(".h"))  # stable; what takes long comes last
    return groups


class Unusable(Exception):
    """The sources do not build, or a test fails without any mutant."""


class Campaign:
    """The mutants of one tree, one after the other: while one is tested, the next is built."""

    def __init__(self, place, jobs, started):
        self.builder, self.jobs, self.started = Builder(place, jobs), jobs, started
        self.corpus = self.builder.source / "tests/fuzz/corpus"
        self.noticed, self.by_hashes, self.broken = {}, {}, []

    def prepare(self, mutants):
        self.builder.configure()
        needed = sorted({t.partition(":")[0] for m in mutants for t in m.tests})
        status, output = self.builder.make(needed)
        if status != 0:
            raise Unusable(output[-4000:])
        plain = self.builder.runs / "plain"
        plain.mkdir(parents=True, exist_ok=True)
        for target in needed:
            shutil.copy2(self.builder.executable(target), plain / target)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for target, result in zip(needed, pool.map(lambda t: run_tests(plain, [t], self.corpus), needed)):
                if result:
                    raise Unusable(f"{target} fails without any mutant: {result[1]}")
        shutil.rmtree(plain)
        print(f"[{time.monotonic() - self.started:5.0f} s] {len(needed)} test programs pass without a mutant", flush=True)

    def attempt(self, mutant, tests, pool):
        """Builds a mutant and has the pool test it; the result is a future, None if it does not build."""
        path = self.builder.source / mutant.file
        original = path.read_text()
        path.write_text(original.replace(mutant.old, mutant.new))
        targets = {t.partition(":")[0] for t in tests}
        status, output = self.builder.make(targets)
        folder = self.builder.keep(mutant, targets) if status == 0 else None
        path.write_text(original)
        if folder is None:
            print(f"{mutant.name} does not build:\n{output[-2000:]}", flush=True)
            return None

        def test():
            noticed = run_tests(folder, tests, self.corpus)
            shutil.rmtree(folder)
            word = f"killed by {noticed[0]}: {noticed[1]}" if noticed else "SURVIVED"
            print(f"[{time.monotonic() - self.started:5.0f} s] {mutant.name:46} {word}", flush=True)
            return noticed

        return pool.submit(test)

    def run(self, mutants):
        self.prepare(mutants)
        with concurrent.futures.ThreadPoolExecutor(max(1, self.jobs - 1)) as pool:
            futures = {}
            for mutant in mutants:
                future = self.attempt(mutant, mutant.tests, pool)
                if future is None:
                    self.broken.append(mutant.name)
                else:
                    futures[mutant.name] = future
            self.noticed = {name: future.result() for name, future in futures.items()}
            for mutant in mutants:
                if mutant.name in self.noticed and self.noticed[mutant.name] is None and not mutant.reason:
                    future = self.attempt(mutant, (LAST_RESORT,), pool)
                    self.by_hashes[mutant.name] = future.result() if future else None
        return self


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="mutants whose name or file matches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processors to use")
    parser.add_argument("--trees", type=int, default=1, metavar="N", help="copies of the sources to work in at once")
    parser.add_argument("--place", default=str(ROOT / "build" / "mutants"), help="where to copy and build")
    parser.add_argument("--check", action="store_true", help="only whether the table fits the sources")
    options = parser.parse_args()

    chosen = [m for m in MUTANTS if re.search(options.only, m.name) or re.search(options.only, m.file)]
    wrong = check_table(chosen)
    for line in wrong:
        print(line)
    if wrong or not chosen:
        print(f"{len(wrong)} entries of {len(chosen)} do not fit the sources")
        return 2
    if options.check:
        print(f"{len(chosen)} mutants fit the sources")
        return 0

    started = time.monotonic()
    place = pathlib.Path(options.place)
    groups = share(chosen, max(1, options.trees))
    jobs = max(1, options.jobs // len(groups))
    noticed, by_hashes, broken = {}, {}, []
    try:
        with concurrent.futures.ThreadPoolExecutor(len(groups)) as pool:
            campaigns = [Campaign(place if len(groups) == 1 else place / str(i), jobs, started) for i in range(len(groups))]
            for campaign in pool.map(lambda pair: pair[0].run(pair[1]), zip(campaigns, groups)):
                noticed.update(campaign.noticed)
                by_hashes.update(campaign.by_hashes)
                broken += campaign.broken
    except Unusable as problem:
        print(problem)
        return 2

    print(f"\n{'mutant':46} {'file':40} noticed by")
    killed = only_hashes = excused = survived = 0
    for mutant in chosen:
        if mutant.name in broken:
            word = "does not build"
        elif noticed[mutant.name]:
            killed += 1
            word = ": ".join(noticed[mutant.name])
        elif by_hashes.get(mutant.name):
            only_hashes += 1
            word = f"ONLY the hashes: {by_hashes[mutant.name][1]}"
        elif mutant.reason:
            excused += 1
            word = f"nothing, because {mutant.reason}"
        else:
            survived += 1
            word = "NOTHING"
        print(f"{mutant.name:46} {mutant.file:40} {word}")
    print(f"\n{len(chosen)} mutants: {killed} killed by tests of what is right, {only_hashes} by the hashes alone, "
          f"{excused} survived for a reason, {survived} survived, {len(broken)} did not build; "
          f"{time.monotonic() - started:.0f} s")
    return 2 if broken else 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
