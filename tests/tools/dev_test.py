#!/usr/bin/env python3
"""./dev and the programs behind it, as far as they build nothing: what they list, refuse, install, remove and measure by.

Usage: dev_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import hashlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

TOOLS = pathlib.Path(sys.argv.pop(1)).resolve()
DEV = TOOLS.parent / "dev"
sys.path.insert(0, str(TOOLS / "dev"))

import bench  # noqa: E402
import environments  # noqa: E402
import install  # noqa: E402
import needs  # noqa: E402
import presets  # noqa: E402
import progress  # noqa: E402
import steps  # noqa: E402
import testing  # noqa: E402
import wheel  # noqa: E402

VERBS = ("setup buildtime demo test asan tsan clang fuzz mutants torch train reproduce torch_npu clients serve check opinfo bench aarch64 install "
         "uninstall wheel where header format lint conformance").split()
# Arguments that are refused before anything is built, and what is said.
REFUSED = {
    "setup x": "usage: ./dev setup [mpi]",
    "buildtime x": "usage: ./dev buildtime",
    "demo a b": "usage: ./dev demo [--from BUILD] [FILE.cpp]",
    "demo /nonexistent.cpp": "no such file: /nonexistent.cpp",
    "demo --from /nonexistent": "--from needs a build directory",
    "test --of": "--of needs the names of test executables, with commas between them",
    "fuzz x": "usage: ./dev fuzz [SECONDS|--fixed [--chosen [--seed S]]]",
    "fuzz --fixed x": "usage: ./dev fuzz [SECONDS|--fixed [--chosen [--seed S]]]",
    "torch x": "usage: ./dev torch [--from BUILD] [--long]",
    "train x": "usage: ./dev train [--from BUILD]",
    "bench --filter": bench.USAGE,
    "bench --maps --part 1/2": bench.MAPS_USAGE,
    "install": "usage: ./dev install [--from BUILD] PREFIX",
    "install --prefix": "usage: ./dev install [--from BUILD] PREFIX",
    "uninstall": "usage: ./dev uninstall PREFIX",
    "wheel --try": "usage: ./dev wheel [--from BUILD] [--test] [--try RELEASE]",
    "wheel --try ../x": "usage: ./dev wheel [--from BUILD] [--test] [--try RELEASE]",
    "where": "usage: ./dev where NAME",
    "header a b": "usage: ./dev header NAME",
    "lint x": "usage: ./dev lint [--whole] [--record]",
    "nosuch": "no such verb: nosuch",
}
CMAKE_LISTS = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES NONE)
install(FILES a.txt DESTINATION include/small)
if(WITH_B)
  install(FILES a.txt DESTINATION include/small RENAME b.txt)
endif()
"""


def dev(*arguments, **environment):
    return subprocess.run([DEV, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)


class Door(unittest.TestCase):
    def test_bare_it_lists_its_verbs(self):
        said = dev().stdout
        self.assertEqual(list(dict.fromkeys(re.findall(r"^  (\w+)", said, re.MULTILINE))), VERBS)
        self.assertEqual(said, dev("--help").stdout)

    def test_what_is_wrong_is_refused_with_the_usage(self):
        for arguments, said in REFUSED.items():
            with self.subTest(arguments):
                result = dev(*arguments.split())
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"==> {said}\n", result.stderr)
                self.assertEqual(result.stdout, "")

    def test_every_verb_of_a_program_has_help(self):
        for verb in set(VERBS) - {"where", "header"}:
            with self.subTest(verb):
                result = dev(verb, "--help")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn(f"./dev {verb}" if verb not in ("tsan", "aarch64", "serve") else verb, result.stdout)

    def test_stages(self):
        with tempfile.NamedTemporaryFile("w+") as file:
            file.write("100|50|one|lint\n250|150|two|\n")
            file.flush()
            self.assertEqual(dev("stages", file.name).stdout,
                             "  seconds processor  stage\n      1.0       0.5  lint: one\n      2.5       1.5  two\n      3.5       2.0  in all\n")


class Steps(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        steps.log_into(self.root / "logs")

    def test_a_step_shows_its_output_only_when_it_fails(self):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            steps.step("going well", "well", ["sh", "-c", "echo hidden"])
            with self.assertRaises(SystemExit) as ended:
                steps.step("going wrong", "wrong", ["sh", "-c", "echo shown; exit 3"])
        self.assertEqual(ended.exception.code, 1)
        self.assertEqual(out.getvalue(), "==> going well\n==> going wrong\n")
        self.assertEqual(err.getvalue(), f"shown\n==> failed: going wrong (whole output: {self.root}/logs/wrong.log)\n")

    def test_stages_are_added_to_a_file(self):
        program = (f"import sys, time; sys.path.insert(0, {str(TOOLS / 'dev')!r}); import steps\n"
                   "def slow(arguments):\n  steps.say('slow'); time.sleep(1.1); steps.say('quick'); sys.exit(arguments[0])\n"
                   "sys.argv = ['', 'verb', 'a reason']; steps.program('', {'verb': slow})")
        file = self.root / "stages"
        result = subprocess.run([sys.executable, "-B", "-c", program], env={**os.environ, "PORTACL_STAGES": str(file)}, capture_output=True)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(file.read_text(), r"^1\d\d\|\d+\|slow\|verb\n$")

    def test_progress_is_shown_in_tenths(self):
        out = io.StringIO()
        lines = ["[0/2] Re-checking globbed directories...\n", "[1/20] Building a\n", "[2/20] Building b\n", "warning\n", "ninja: no work to do.\n", "     Start  7: x\n",
                 "10/20 Test  #7: x ....   Passed    0.01 sec\n", "20/20 Test #9: y ....***Failed\n"]
        with contextlib.redirect_stdout(out):
            progress.show(lines)
        self.assertEqual(out.getvalue(), "      0%  1 of 20\n     10%  2 of 20\nwarning\n     50%  10 of 20\n20/20 Test #9: y ....***Failed\n")

    def test_a_report(self):
        file = self.root / "tests.xml"
        outputs = {"a.S": ("run", ["[ RUN      ] S.A", "[       OK ] S.A (3 ms)", "[ RUN      ] S.B/x", "no end of line[       OK ] S.B/x (1 ms)",
                                   "[ RUN      ] S.C", "[  SKIPPED ] S.C (0 ms)", "[  SKIPPED ] 1 test, listed below:", "[  SKIPPED ] S.C"]),
                   "b.S": ("fail", ["[ RUN      ] S.A", "[       OK ] S.A (3 ms)", "[ RUN      ] S.B", "[  FAILED  ] S.B (9 ms)", "[ RUN      ] S.C"]),
                   "b.Ended": ("fail", ["[ RUN      ] S.A", "[       OK ] S.A (3 ms)"]),
                   "c": ("run", []), "d": ("fail", []), "e": ("notrun", ["why"]), "f": ("disabled", [])}
        file.write_text('<?xml version="1.0"?>\n<testsuite name="a">' + "".join(
            f'<testcase name="{name}" status="{status}"><system-out>{chr(10).join(lines)}</system-out></testcase>'
            for name, (status, lines) in outputs.items()) + "</testsuite>\n")
        self.assertEqual(progress.report(file), "5 passed, 4 failed, 3 skipped, in 7 processes")
        self.assertEqual(progress.report(self.root / "none"), "0 passed, 0 failed, in 0 processes")

    def test_of_a_process_that_fails_the_tests_that_passed_are_not_shown(self):
        out = io.StringIO()
        failed = ["[ RUN      ] S.B\n", "why\n", "[  FAILED  ] S.B (9 ms)\n"]
        with contextlib.redirect_stdout(out):
            progress.show(["[ RUN      ] S.A\n", "[       OK ] S.A (3 ms)\n", *failed, "[ RUN      ] S.C\n", "[ RUN      ] S.D\n", "told\n",
                           "[       OK ] S.D (1 ms)\n", "[ RUN      ] S.E\n"])
        self.assertEqual(out.getvalue(), "".join(failed) + "[ RUN      ] S.C\n[ RUN      ] S.D\ntold\n[       OK ] S.D (1 ms)\n[ RUN      ] S.E\n")


class Installing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "CMakeLists.txt").write_text(CMAKE_LISTS)
        (self.root / "a.txt").write_text("a\n")
        self.build, self.prefix = self.root / "build", self.root / "some where"
        steps.log_into(self.root / "logs")
        self.put("-DWITH_B=ON")

    def put(self, option):
        cmake = needs.find_cmake()
        subprocess.run([cmake, "-S", self.root, "-B", self.build, option], check=True, capture_output=True)
        with contextlib.redirect_stdout(io.StringIO()):
            install.put(self.build, self.prefix, cmake)

    def take_away(self):
        with contextlib.redirect_stdout(io.StringIO()):
            install.take_away(self.prefix)

    def files(self):
        return sorted(str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir())

    def test_the_manifest_names_what_was_installed(self):
        self.assertEqual((self.prefix / install.MANIFEST).read_text().splitlines(),
                         ["/", "include/", "include/small/", "include/small/a.txt", "include/small/b.txt", "lib64/", "lib64/cmake/",
                          "lib64/cmake/portacl/", install.MANIFEST])
        self.assertEqual(list(self.build.glob("stage.*")), [])

    def test_an_older_installation_leaves_nothing(self):
        inode = (self.prefix / "include/small/a.txt").stat().st_ino
        with (self.prefix / "include/small/a.txt").open():
            self.put("-DWITH_B=OFF")
            self.assertNotEqual((self.prefix / "include/small/a.txt").stat().st_ino, inode)  # replaced, not rewritten
        self.assertEqual(self.files(), ["include/small/a.txt", install.MANIFEST])
        self.take_away()
        self.assertFalse(self.prefix.exists())

    def test_what_others_put_there_stays(self):
        (self.prefix / "include/theirs.h").write_text("")
        self.take_away()
        self.assertEqual(self.files(), ["include/theirs.h"])
        self.put("-DWITH_B=ON")
        self.assertNotIn("/", (self.prefix / install.MANIFEST).read_text().split("\n"))
        self.assertNotIn("include/\n", (self.prefix / install.MANIFEST).read_text())

    def test_nothing_outside_the_prefix_is_removed(self):
        (self.root / "kept").write_text("")
        for name in ("../kept", str(self.root / "kept"), "include/../../kept"):
            (self.prefix / install.MANIFEST).write_text(f"{name}\n")
            with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
                install.take_away(self.prefix)
            self.assertIn(f"names something outside the prefix: {name}", err.getvalue())
        self.assertTrue((self.root / "kept").exists())

    def test_nothing_to_remove(self):
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
            install.take_away(self.root / "none")
        self.assertEqual(err.getvalue(), f"==> nothing to remove: {self.root}/none/{install.MANIFEST} does not exist\n")


class Wheels(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name, text=""):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def test_what_it_is_made_of(self):
        def made_of():
            with mock.patch.object(steps, "ROOT", self.folder):
                return wheel._made_of(self.folder / "built", objects, self.folder / "tools/bin/python")

        made = self.write("built/a.o", "1")
        objects = self.write("built/objects.txt", f"{made}\n{self.folder}/built/missing.o\n")
        for name in ("python/portacl/a.py", "include/a.h", "built/lib64/portacl/libx.so.1", "tools/pyvenv.cfg"):
            self.write(name)
        states = {made_of()}
        self.write("python/portacl/__pycache__/a.pyc")
        self.write("docs/a.md")
        self.assertEqual(states, {made_of()})
        for name, text in (("built/a.o", "22"), ("python/portacl/a.py", "1"), ("python/portacl/b.py", ""), ("include/a.h", "1"), ("src/b.cc", ""),
                           ("built/lib64/portacl/libx.so.1", "1"), ("tools/pyvenv.cfg", "1"), ("built/missing.o", "")):
            self.write(name, text)
            self.assertNotIn(made_of(), states, name)
            states.add(made_of())
        os.utime(made, ns=(1, 1))  # compiled again, to the same length
        self.assertNotIn(made_of(), states)

    def test_an_environment_has_the_very_file_that_pip_installed(self):
        file = self.write("portacl-0.1.0-py3-none-any.whl", "a wheel")

        def has_it():
            with mock.patch.object(environments, "_site", lambda python: str(self.folder / "site")):
                return environments._has_wheel(pathlib.Path("python"), file)

        def installed(text):
            note = {"archive_info": {"hashes": {"sha256": hashlib.sha256(text.encode()).hexdigest()}}}
            self.write("site/portacl-0.1.0.dist-info/direct_url.json", json.dumps(note))

        self.assertFalse(has_it())
        installed("a wheel")
        self.assertFalse(has_it())  # not yet done
        self.write("site/portacl-0.1.0.dist-info/RECORD")
        self.assertTrue(has_it())
        installed("another wheel")
        self.assertFalse(has_it())


class Benchmarks(unittest.TestCase):
    def commands(self, *arguments):
        """What `./dev bench` would run, without the paths of the folders."""
        found = []

        def run(command, environment=None, folder=None):
            found.append(" ".join(map(str, command)).replace(f"{self.place}/", "").replace(f"{steps.ROOT}/", ""))
            return 0

        with tempfile.TemporaryDirectory() as place, mock.patch.multiple(bench, PLACE=pathlib.Path(place)), \
                mock.patch.object(bench.steps, "run", run), mock.patch.object(bench.presets, "build", lambda *a, **k: found.append(f"build {a[1]}")), \
                mock.patch.object(bench.presets, "library", lambda given: (given or steps.RELEASE, "cmake")), \
                mock.patch.object(bench.wheel, "make", lambda given: "wheel"), \
                mock.patch.object(bench.environments, "torch", lambda: "torch-python"), \
                mock.patch.object(bench.environments, "torch_npu", lambda wheel: "npu-python"), contextlib.redirect_stdout(io.StringIO()):
            self.place = place
            for name in self.there:
                (pathlib.Path(place) / name).write_text("")
            bench.bench(list(arguments))
            self.left = sorted(path.name for path in pathlib.Path(place).iterdir())
        return found

    there = ()

    def test_programs(self):
        self.assertEqual(self.commands("--npu", "--seconds", "3"), ["npu-python -B -m portacl bench/pytorch_npu.py --seconds 3"])
        self.assertEqual(self.commands("--collectives", "--ranks", "2"),
                         ["build ['cann_hccl', 'portacl_gloo']", "torch-python -B bench/collectives.py --library build/release/lib64/libhccl.so --ranks 2"])
        self.assertEqual(self.commands("--checks", "5"), ["build ['check_costs']", "build/release/bench/check_costs build/release/lib64/libportacl.so "
                                                           "build/release/bench/libportacl_unchecked.so 5"])
        self.assertEqual(self.commands("--convolutions"), ["torch-python -B bench/convolution.py --build build/release"])

    def test_options_reach_the_program_that_measures(self):
        self.there = ("ceiling.2-of-3.json", "limits.1-of-1.json")
        self.assertEqual(self.commands("--quick", "--filter=abc", "--part", "1/2"),
                         ["build ['portacl_bench']",
                          "build/release/bench/portacl_bench --quick --benchmark_filter=abc --part=1/2 --benchmark_out=ceiling.1-of-2.json --benchmark_out_format=json",
                          f"python3 bench/report.py --plots {self.place} limits.1-of-1.json"])
        self.assertEqual(self.left, ["limits.1-of-1.json"])  # the parts of the run before are gone
        self.there = ()
        self.assertEqual(self.commands("--peers", "--filter", "x")[1], "torch-python bench/peers.py --build build/release --out peers.1-of-1.json --filter=x")

    def test_a_run_that_corrects_another_keeps_it(self):
        self.there = ("limits.1-of-1.json",)
        self.assertRegex(self.commands("--limits", "--keep")[1], r"--limits --benchmark_out=limits\.kept-\d+\.json")
        self.assertEqual(self.left, ["limits.1-of-1.json"])

    def test_maps(self):
        self.there = ("maps.json", "maps.kept-1.json")
        self.assertEqual(self.commands("--maps", "--check"), ["torch-python -B bench/maps.py --build build/release --out maps.json --check"])
        self.assertEqual(self.left, ["maps.json", "maps.kept-1.json"])
        self.assertEqual(self.commands("--maps", "--minutes=2", "--page"),
                         ["torch-python -B bench/maps.py --build build/release --out maps.json --minutes=2",
                          "python3 -B bench/maps_report.py --page docs/performance.md maps.json"])
        self.assertEqual(self.commands("--maps", "--rest-of-aten", "--processor", "--page"),
                         ["torch-python -B bench/maps.py --build build/release --out maps.json --rest-of-aten --processor",
                          "python3 -B bench/maps_report.py --page docs/performance.md --rest-of-aten maps.json"])
        self.assertEqual(self.left, [])


class Choosing(unittest.TestCase):
    def test_selections(self):
        for arguments, what, seed, rest in ((["--chosen", "--seed", "s", "-R", "x"], "chosen", "s", ["-R", "x"]), (["--pool"], "pool", "", []),
                                            (["--of", "a"], "all", "", ["--of", "a"]), (["--seed", "s", "--whole"], "all", "s", ["--whole"])):
            selection, left = testing.take_selection(arguments)
            self.assertEqual((selection.what, selection.seed, left), (what, seed, rest))


class Testing(unittest.TestCase):
    """The commands of the verbs that build and test, with what they would be told by programs that choose."""

    def commands(self, verb, *arguments):
        found = []

        def short(command):
            return " ".join(map(str, command)).replace(f"{steps.BUILDS}/", "").replace(f"{steps.ROOT}/", "")

        def build(preset, targets=(), *, tests=False, options=()):
            found.append(" ".join(["build", preset, *targets, *options]).replace(f"{steps.BUILDS}/", ""))
            return "/bin/cmake"

        def choose(verb, what, selection, *rest):
            found.append(short(["choose", what, selection.seed, *rest]))
            return "alpha,beta" + ("\n1 of 3: beta" if what in ("asan", "tsan") else "")

        def watched(what, log, command, environment=None):
            found.append(short(command))
            return True

        with mock.patch.object(testing.presets, "build", build), mock.patch.object(testing, "choose", choose), \
                mock.patch.object(testing.steps, "watched_step", watched), mock.patch.dict(os.environ), \
                mock.patch.object(testing.steps, "must", lambda command, otherwise="": found.append(short(command))), \
                mock.patch.object(steps, "JOBS", "2"), mock.patch.object(progress, "report", lambda path: ""), \
                contextlib.redirect_stdout(io.StringIO()):
            verb(list(arguments))
            self.environment = dict(os.environ)
        return found

    def ctest(self, preset, rest):
        return (f"/bin/ctest --test-dir {preset} --parallel 2 --output-on-failure --no-tests=error --output-junit {preset}/tests.xml{rest}"
                " --test-output-size-passed 9999999")

    def test_tests(self):
        whole = "build release -DPORTACL_LEFT_OUT="
        self.assertEqual(self.commands(testing.test), [whole, "choose determinism ", self.ctest("release", " -LE ^long$")])
        self.assertEqual(self.environment["PORTACL_DETERMINISM_WHOLE"], "alpha,beta")
        self.assertEqual(self.commands(testing.test, "--whole"), [whole, self.ctest("release", " -LE ^long$")])
        self.assertEqual(self.commands(testing.test, "--chosen", "--seed", "s"),
                         ["build release portacl_install", "choose left-out s", "build release -DPORTACL_LEFT_OUT=alpha,beta",
                          "choose determinism s", self.ctest("release", " -LE ^long$")])
        self.assertEqual(self.commands(testing.test, "--long", "-R", "x"), [whole, self.ctest("release", " -C cases -R x")])
        self.assertEqual(self.commands(testing.test, "--of", "a,b"),
                         ["build release a b -DPORTACL_LEFT_OUT=", self.ctest("release", r" -LE ^long$ -R ^(a|b)(\.|$)")])
        self.assertEqual(self.commands(testing.test, "--check", "runtime"),
                         ["build release runtime -DPORTACL_LEFT_OUT=", "python3 -B tests/check/run_suite.py release --jobs 2 runtime"])

    def test_sanitizers(self):
        self.assertEqual(self.commands(testing.asan, "--chosen", "--seed", "s", "-E", "x"),
                         ["build release portacl_install -DPORTACL_BORROWED=", "choose asan s --borrow asan.borrowed",
                          "build asan alpha beta -DPORTACL_BORROWED=asan.borrowed", self.ctest("asan", r" -LE ^long$ -R ^(alpha|beta)(\.|$) -C cases -E x")])
        self.assertEqual(self.environment["UBSAN_OPTIONS"], "print_stacktrace=1:halt_on_error=1")
        self.assertEqual(self.environment["PORTACL_TESTS_DRAWN"], "1 of 3: beta")
        self.assertEqual(self.commands(testing.asan, "--chosen", "--seed", "s", "--except", "*X*:*Y")[-1], self.ctest("asan", r" -LE ^long$ -R ^(alpha|beta)(\.|$)"))
        self.assertEqual(self.environment["PORTACL_TESTS_EXCEPT"], ":*X*:*Y")
        self.assertEqual(self.commands(testing.tsan, "--long"), ["build tsan -DPORTACL_BORROWED=", self.ctest("tsan", "")])


class Configuring(unittest.TestCase):
    """CMake runs only where it would do something else than the last time."""

    def configured(self, *options):
        ran = []

        def step(what, log, command, environment=None):
            ran.append(command)
            self.build.mkdir(exist_ok=True)
            (self.build / "CMakeCache.txt").write_text(self.cache)
            (self.build / "build.ninja").write_text("")

        cached = self.build / "CMakeCache.txt"
        with mock.patch.object(steps, "BUILDS", self.build.parent), mock.patch.object(steps, "step", step):
            presets._configure("cmake", "release", cached.read_text() if cached.exists() else "", options)
        return bool(ran)

    def test_where_something_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            self.build, self.cache = pathlib.Path(folder) / "release", "PORTACL_LEFT_OUT:STRING=a;b\n"
            self.assertTrue(self.configured())
            self.assertFalse(self.configured())
            self.assertFalse(self.configured("-DPORTACL_LEFT_OUT=a;b", "-DPORTACL_BORROWED="))
            self.assertTrue(self.configured("-DPORTACL_LEFT_OUT="))
            self.assertTrue(self.configured("--fresh"))
            self.assertFalse(self.configured())
            with mock.patch.dict(os.environ, CXXFLAGS="-g"):
                self.assertTrue(self.configured())
                self.assertFalse(self.configured())
            self.assertTrue(self.configured())
            (self.build / "CMakeCache.txt").write_text(self.cache + "BY_HAND:BOOL=ON\n")
            self.assertTrue(self.configured())
            (self.build / "build.ninja").unlink()
            self.assertTrue(self.configured())


class Needs(unittest.TestCase):
    def test_without_packages_one_sentence_names_what_is_missing(self):
        with tempfile.TemporaryDirectory() as empty:
            os.symlink(sys.executable, f"{empty}/python3")
            result = subprocess.run([sys.executable, "-B", TOOLS / "dev/needs.py", "setup"], env={"PATH": empty}, capture_output=True, text=True)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"^==> portacl needs these and does not find them here: g\+\+ 12 or newer, .*Ninja, pkg-config, Google "
                                        r"Highway, .*MPFR\.\n$")

    def test_a_compiler_that_is_none(self):
        with mock.patch.dict(os.environ, CXX="/bin/false --no"), contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
            needs.prepare()
        self.assertEqual(err.getvalue(), "==> CXX=/bin/false --no is not g++ 12, clang++ 14 or newer\n")


if __name__ == "__main__":
    unittest.main()
