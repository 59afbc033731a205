#!/usr/bin/env python3
"""Breaks the library on purpose, one place at a time (mutants.py), and reports which test notices.

SPDX-License-Identifier: Apache-2.0

A mutant that no test notices survives: either a test is missing, or the mutant changes nothing that can be observed;
then its entry in mutants.py says why. Mutants are made of a copy of the sources, built for one instruction set besides
the portable one (another for the few that are in its kernels alone, which only a processor that has it can run); a mutant takes the
compilation of what depends on the changed file, and a link. Exit status: 0 when every survivor has a reason, 1 when
not, 2 when the table does not fit the sources or these do not build.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from mutants import MUTANTS  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIGURATION = ("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1", "-DPORTACL_WERROR=OFF")


class Kernels(NamedTuple):
    """One instruction set and the fallback, which is always built; the tests of the former are the ones that run."""
    left_out: str  # Highway's targets
    tests: str
    flag: str  # of a processor that runs them; "" if every one does


KERNELS = {"": Kernels("HWY_AVX3|HWY_SVE", "*:-*Long.*:*/portable:*/avx512:*/sve", ""),
           "avx512": Kernels("HWY_AVX2|HWY_SVE", "*:-*Long.*:*/portable:*/avx2:*/sve", "avx512bw")}
# The hashes say that something changed, not that it is wrong: they are asked only when nothing else noticed.
LAST_RESORT = "determinism"
DOES_NOT_BUILD = ("compiler", "")
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
    for folder in ("include", "src", "tests"):
        for path in (to / folder).rglob("*"):
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


class Unusable(Exception):
    """The sources do not build, or a test fails without any mutant."""


class Builder:
    """A build of the sources as they are, and executables of it in which one source file is another."""

    def __init__(self, place, jobs, configuration):
        self.source, self.runs, self.jobs, self.configuration = place / "source", place / "runs", jobs, configuration
        self.build = self.source / "build" / "release"  # where other builds are, so that a compiler's cache knows it
        self.includers, self.compile, self.link = {}, {}, {}

    def run(self, command, **options):
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              **options)
        return done.returncode, done.stdout

    def configure(self):
        self.source.mkdir(parents=True, exist_ok=True)
        copy_sources(self.source)
        shutil.rmtree(self.runs, ignore_errors=True)
        cmake = "/usr/bin/cmake" if os.access("/usr/bin/cmake", os.X_OK) else "cmake"
        status, output = self.run([cmake, "-S", self.source, "-B", self.build, "-G", "Ninja", "-DPORTACL_BUILD_TESTS=ON",
                                   *self.configuration])
        if status != 0:
            raise Unusable(output[-4000:])

    def make(self, targets):
        status, output = self.run(["ninja", "-C", self.build, f"-j{self.jobs}", *sorted(targets)])
        if status != 0:
            raise Unusable(output[-4000:])
        for target in targets:
            self.learn(target)
        # Which objects are made from which files.
        status, output = self.run(["ninja", "-C", self.build, "-t", "deps"])
        made = None
        for line in output.splitlines():
            if not line.startswith(" "):
                made = line.partition(":")[0]
            elif line.strip():
                file = os.path.normpath(os.path.join(self.build, line.strip()))
                self.includers.setdefault(file, set()).add(made)

    def learn(self, target):
        """How the executable is linked and its objects are compiled."""
        output = self.run(["ninja", "-C", self.build, "-t", "commands", target])[1]
        for line in output.splitlines():
            for command in line.split(" && "):
                words = shlex.split(command)
                if "-o" not in words or words[0].endswith("cmake"):
                    continue
                made = words[words.index("-o") + 1]
                if "-c" in words:
                    self.compile[made] = words
                elif os.path.basename(made) == target or os.path.basename(made).startswith(f"{target}."):  # with its version
                    self.link[target] = words

    def path(self, target):
        return self.build / self.link[target][self.link[target].index("-o") + 1]

    def is_made_from(self, made, file):
        return os.path.relpath(made, self.build) in self.includers.get(os.path.normpath(self.source / file), ())

    def make_mutant(self, mutant, target, folder):
        """Builds one executable of a mutant into a folder; what the compiler says if it cannot."""
        changed = folder / mutant.file
        if not changed.exists():
            changed.parent.mkdir(parents=True, exist_ok=True)
            changed.write_text((self.source / mutant.file).read_text().replace(mutant.old, mutant.new))
        link = list(self.link[target])
        for made in sorted(self.includers.get(os.path.normpath(self.source / mutant.file), ())):
            if made not in link:
                continue
            words = [w for w in self.compile[made] if os.path.basename(w) != "ccache"]
            output, source = words.index("-o") + 1, words.index("-c") + 1
            compiled = os.path.relpath(os.path.join(self.build, words[source]), self.source)
            if mutant.seen_by and not compiled.startswith(mutant.seen_by):
                continue
            own = folder / made
            if not own.exists():
                if os.path.normpath(self.build / words[source]) == os.path.normpath(self.source / mutant.file):
                    words[source] = str(changed)
                words[output] = str(own)
                # A precompiled header would hide the changed one.
                if "-include" in words and self.is_made_from(words[words.index("-include") + 1] + ".gch", mutant.file):
                    at = words.index("-include")
                    del words[at:at + 2]
                for option in ("-MF", "-MT"):
                    at = words.index(option)
                    del words[at:at + 2]
                words = [word for word in words if word not in ("-MD", "-fpch-deps")]
                words.insert(1, f"-I{folder / 'src'}")
                own.parent.mkdir(parents=True, exist_ok=True)
                status, output = self.run(words, cwd=self.build)
                if status != 0:
                    return output
            link[link.index(made)] = str(own)
        link[link.index("-o") + 1] = str(folder / target)
        status, output = self.run(link, cwd=self.build)
        return output if status != 0 else None


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def runs_here(kernels):
    cpuinfo = pathlib.Path("/proc/cpuinfo")
    return not kernels.flag or (cpuinfo.exists() and kernels.flag in cpuinfo.read_text().split())


def run_test(executable, only, all_tests, corpus):
    """How the test noticed something, or None."""
    if executable.name == "fuzz_corpus":
        command = [executable, corpus]
    elif executable.name == "check_corpus":  # the names are those of its programs
        command = [sys.executable, "-B", corpus.parents[1] / "check" / "run_corpus.py", executable, *only.split(",")] if only else \
            [sys.executable, "-B", corpus.parents[1] / "check" / "run_corpus.py", executable]
    elif executable.name.startswith("libportacl.so"):  # a program in Python loads it; the names are numbers of its parts
        program = corpus.parents[1] / "check" / "python_threads.py"
        command = [sys.executable, "-B", program, executable, *([only] if only else [])]
    else:
        pattern = only + all_tests[1:] if only else all_tests
        command = [executable, f"--gtest_filter={pattern}", "--gtest_fail_fast", "--gtest_brief=1"]
    try:
        done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=WALL_SECONDS, preexec_fn=limit, errors="replace", text=True, cwd=executable.parent)
    except subprocess.TimeoutExpired:
        return "did not end"
    if done.returncode == 0:
        return None
    failed = re.search(r"\[  FAILED  \] (\S+?),? ", done.stdout.replace("\n", " "))
    signal = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    return failed.group(1) if failed else signal


class Campaign:
    def __init__(self, place, jobs, configuration, kernels):
        configuration = [*configuration, f"-DPORTACL_DISABLED_TARGETS={kernels.left_out}"]
        self.builder, self.jobs, self.started = Builder(place, jobs, configuration), jobs, time.monotonic()
        self.tests = kernels.tests
        self.corpus = self.builder.source / "tests/fuzz/corpus"

    def say(self, text):
        print(f"[{time.monotonic() - self.started:5.0f} s] {text}", flush=True)

    def prepare(self, mutants, trusted):
        self.builder.configure()
        needed = sorted({t.partition(":")[0] for m in mutants for t in m.tests})
        self.builder.make(needed)
        self.say(f"built {len(needed)} test programs")
        if trusted:
            return
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            results = pool.map(lambda target: run_test(self.builder.path(target), "", self.tests, self.corpus), needed)
            for target, result in zip(needed, results):
                if result:
                    raise Unusable(f"{target} fails without any mutant: {result}")
        self.say("they pass without a mutant")

    def attempt(self, mutant, tests):
        """(the test program that noticed, how), or None."""
        folder = self.builder.runs / re.sub(r"\W+", "_", mutant.name)
        noticed = None
        for test in tests:
            target, _, only = test.partition(":")
            complaint = self.builder.make_mutant(mutant, target, folder)
            if complaint is not None:
                self.say(f"{mutant.name} does not build:\n{complaint[-2000:]}")
                noticed = DOES_NOT_BUILD
                break
            how = run_test(folder / target, only, self.tests, self.corpus)
            if how is not None:
                noticed = (target, how)
                break
        shutil.rmtree(folder)
        if noticed != DOES_NOT_BUILD:
            self.say(f"{mutant.name:46} " + (f"killed by {noticed[0]}: {noticed[1]}" if noticed else "SURVIVED"))
        return noticed

    def run(self, mutants, trusted):
        """What noticed each mutant, and what the hashes say of those that nothing noticed."""
        self.prepare(mutants, trusted)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            noticed = dict(zip([m.name for m in mutants], pool.map(lambda m: self.attempt(m, m.tests), mutants)))
            left = [m for m in mutants if noticed[m.name] is None and not m.reason]
            if not left:
                return noticed, {}
            self.builder.make([LAST_RESORT])
            by_hashes = dict(zip([m.name for m in left], pool.map(lambda m: self.attempt(m, [LAST_RESORT]), left)))
        return noticed, by_hashes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="REGEX", help="mutants whose name or file matches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processors to use")
    parser.add_argument("--place", default=str(ROOT / "build" / "mutants"), help="where to copy and build")
    parser.add_argument("--configuration", default=" ".join(CONFIGURATION), metavar="ARGUMENTS",
                        help="how CMake is to configure the copy")
    parser.add_argument("--trust", action="store_true", help="do not first run the tests without a mutant")
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
    noticed, by_hashes, elsewhere = {}, {}, 0
    for name, kernels in KERNELS.items():
        mutants = [m for m in chosen if m.kernels == name]
        if not mutants:
            continue
        if not runs_here(kernels):
            elsewhere += len(mutants)
            continue
        campaign = Campaign(pathlib.Path(options.place) / name, max(1, options.jobs), options.configuration.split(), kernels)
        try:
            found, by_hash = campaign.run(mutants, options.trust)
        except Unusable as problem:
            print(problem)
            return 2
        noticed.update(found)
        by_hashes.update(by_hash)
    chosen = [m for m in chosen if m.name in noticed]

    print(f"\n{'mutant':46} {'file':40} noticed by")
    killed = only_hashes = excused = survived = broken = 0
    for mutant in chosen:
        if noticed[mutant.name] == DOES_NOT_BUILD:
            broken += 1
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
          f"{excused} survived for a reason, {survived} survived, {broken} did not build; "
          + (f"{elsewhere} need another processor; " if elsewhere else "") + f"{time.monotonic() - started:.0f} s")
    return 2 if broken else 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
