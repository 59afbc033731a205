#!/usr/bin/env python3
"""What tools/chosen.py chooses for changes, and for seeds.

Usage: chosen_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys
import tempfile
import unittest
from types import SimpleNamespace

TOOLS = sys.argv.pop(1)
sys.path[:0] = [TOOLS, f"{TOOLS}/../tests/mutation"]
import chosen  # noqa: E402
import mutants  # noqa: E402
import recorded_state  # noqa: E402

# An operator that reduces and one that moves. A source of the engine is found through its header.
INCLUDES = {
    "src/aclnnop/reductions/sum.cc": {"src/engine/reduction/axis_reduction.h", "src/base/errors.h"},
    "src/aclnnop/indexing/index.cc": {"src/engine/move/move.h", "src/aclnnop/jobs/mul.h", "src/base/errors.h"},
    "src/engine/reduction/axis_reduction.cc": {"src/engine/reduction/axis_reduction.h", "src/plan/views.h"},
    "src/engine/move/move.cc": {"src/engine/move/move.h"},
    "src/plan/views.cc": {"src/plan/views.h"},
    "src/aclnnop/arithmetic/mul.cc": {"src/aclnnop/jobs/mul.h"},
    "src/base/errors.cc": {"src/base/errors.h"},
}
HEADERS = [SimpleNamespace(family="reductions", source="sum", functions=[SimpleNamespace(name="aclnnSum")]),
           SimpleNamespace(family="indexing", source="index", functions=[SimpleNamespace(name="aclnnIndex")])]
FUNCTIONS = ["aclnnIndex", "aclnnIndexOfComplex", "aclnnSum"]


def swept(*changed):
    return sorted(chosen.functions_to_sweep(set(changed), INCLUDES, HEADERS, FUNCTIONS, "seed")[0])


class Determinism(unittest.TestCase):
    def test_what_an_operator_computes_with(self):
        self.assertEqual(swept(), [])
        self.assertEqual(swept("src/aclnnop/reductions/sum.cc"), ["aclnnSum"])
        self.assertEqual(swept("src/engine/reduction/axis_reduction.cc"), ["aclnnSum"])
        self.assertEqual(swept("src/plan/views.cc"), ["aclnnSum"])
        self.assertEqual(swept("src/engine/move/move.h"), ["aclnnIndex", "aclnnIndexOfComplex"])
        self.assertEqual(swept("src/aclnnop/arithmetic/mul.cc"), ["aclnnIndex", "aclnnIndexOfComplex"])  # its header lies elsewhere
        self.assertEqual(swept("src/base/errors.cc"), [])

    def test_a_source_without_a_header_of_its_name_stands_for_its_folder(self):
        self.assertEqual(swept("src/engine/move/rows_of_words.cc"), ["aclnnIndex", "aclnnIndexOfComplex"])
        self.assertEqual(swept("src/engine/other/words.cc"), [])
        most = [{"src/engine/move/move.h"}, {"src/engine/move/move.h"}, set()]
        self.assertEqual(chosen.with_neighbours({"src/engine/move/words.cc"}, INCLUDES, most), {"src/engine/move/words.cc", "src/engine/move/move.cc"})

    def test_other_hashes_and_other_options(self):
        self.assertEqual(swept("hashes:aclnnIndexOfComplex"), ["aclnnIndexOfComplex"])
        self.assertEqual(swept(chosen.OPTIONS), FUNCTIONS)

    def test_lines_of_several_outputs_belong_to_one_function(self):
        text = "# head\n1 aclnnRms 0 a\n2 aclnnRms_rstd 0 a\n3 aclnnSum 0 a\n"
        self.assertEqual(chosen.hashes_by_function(text), {"aclnnRms": "1 aclnnRms 0 a\n2 aclnnRms_rstd 0 a", "aclnnSum": "3 aclnnSum 0 a"})


class Samples(unittest.TestCase):
    def test_a_seed_draws_the_same_and_seeds_draw_everything_in_time(self):
        names = [f"name{number}" for number in range(40)]
        self.assertEqual(chosen.drawn(names, 5, "a"), chosen.drawn(names[::-1], 5, "a"))
        self.assertEqual(set().union(*(chosen.drawn(names, 5, str(seed)) for seed in range(60))), set(names))

    def test_a_name_more_takes_the_place_of_at_most_one(self):
        names = [f"name{number}" for number in range(40)]
        self.assertGreaterEqual(len(chosen.drawn(names, 5, "a") & chosen.drawn([*names, "new"], 5, "a")), 4)


class LeftOut(unittest.TestCase):
    TEXTS = {"sum_test": {"tests/reductions/sum_test.cc": 'Run("aclnnSum");', "tests/support/runs.h": ""},
             "index_test": {"tests/indexing/index_test.cc": "aclnnIndex(aclnnSumOfIndices)"}}

    def reached(self, *changed):
        return sorted(chosen.functions_reached(set(changed), INCLUDES, HEADERS))

    def test_functions_that_a_change_reaches(self):
        self.assertEqual(self.reached(), [])
        self.assertEqual(self.reached("src/engine/reduction/axis_reduction.cc"), ["aclnnSum"])
        self.assertEqual(self.reached("src/aclnnop/arithmetic/mul.cc"), ["aclnnIndex"])
        self.assertEqual(self.reached("src/base/errors.cc"), ["aclnnIndex", "aclnnSum"])
        self.assertEqual(self.reached("tests/reductions/views.cc"), [])
        self.assertEqual(self.reached("src/engine/move/rows_of_words.cc"), ["aclnnIndex"])
        self.assertEqual(self.reached("src/aclnnop/reductions/operators.toml"), ["aclnnSum"])

    def test_what_reaches_everything(self):
        for path, everything in (("cmake/compile_options.cmake", True), ("include/acl/acl.h", True), ("tools/schema/read.py", True),
                                 ("tests/support/unknown.cc", True), ("tests/support/runs.h", False), ("src/base/errors.cc", False)):
            self.assertEqual(chosen.reaches_everything({path}, {"tests/support/runs.h"}), everything, path)

    def left_out(self, changed=(), functions=()):
        left_out, sample = chosen.executables_to_leave_out(set(changed), set(functions), self.TEXTS, "seed")
        self.assertFalse(left_out & sample)
        return left_out | sample

    def test_an_executable_is_reached_by_its_texts_and_its_functions(self):
        self.assertEqual(self.left_out(), {"sum_test", "index_test"})
        self.assertEqual(self.left_out(changed=["tests/support/runs.h"]), {"index_test"})
        self.assertEqual(self.left_out(functions=["aclnnIndex"]), {"sum_test"})
        self.assertEqual(self.left_out(functions=["aclnnSum"]), {"index_test"})  # no other word is meant
        pasted = {"paste_test": {"tests/unary/paste_test.cc": "#define BOTH(name) Run(aclnn##name, aclnnInplace##name)"}}
        self.assertEqual(chosen.executables_to_leave_out(set(), {"aclnnSum"}, pasted, "seed"), (set(), set()))

    def test_a_fifth_of_the_rest_is_drawn(self):
        texts = {f"name{number}": {} for number in range(30)}
        left_out, sample = chosen.executables_to_leave_out(set(), set(), texts, "seed")
        self.assertEqual((len(left_out), len(sample)), (24, 6))

    def test_texts_are_those_that_a_test_includes(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for path, text in {"tests/norm/a.cc": '#include "own.h"\n#include "support/x.h"\n#include <vector>\n#include "engine/e.h"\n',
                               "tests/norm/own.h": "", "tests/support/x.h": '#include "y.h"\n', "tests/support/x.cc": "",
                               "tests/support/y.h": "", "tests/support/z.cc": ""}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            self.assertEqual(chosen.texts_of_test(["tests/norm/a.cc"], root),
                             {"tests/norm/a.cc", "tests/norm/own.h", "tests/support/x.h", "tests/support/x.cc", "tests/support/y.h"})


class Executables(unittest.TestCase):
    MUTANTS = [mutants.Mutant("one", "src/a/x.cc", "", "", ("x_test", "shared:Suite.*", "determinism", "libportacl.so:3")),
               mutants.Mutant("two", "src/a/y.cc", "", "", ("y_test", "shared"))]

    def test_those_of_the_mutants_or_of_the_folder(self):
        self.assertEqual(set(chosen.executables_for({"src/a/x.cc"}, self.MUTANTS, 9, "s")[0]), {"x_test", "shared"})
        self.assertEqual(set(chosen.executables_for({"src/a/z.cc"}, self.MUTANTS, 9, "s")[0]), {"x_test", "y_test", "shared"})
        self.assertEqual(chosen.executables_for({"src/b/z.cc"}, self.MUTANTS, 9, "s"), ([], 0))

    def test_a_limit_keeps_what_most_changes_name_and_tells_the_rest(self):
        self.assertEqual(chosen.executables_for({"src/a/x.cc", "src/a/y.cc"}, self.MUTANTS, 1, "s"), (["shared"], 2))


class Sources(unittest.TestCase):
    def test_a_header_changes_what_includes_it(self):
        self.assertEqual(chosen.affected({"src/engine/move/move.h"}, INCLUDES), {"src/aclnnop/indexing/index.cc", "src/engine/move/move.cc"})

    def test_only_what_computes_is_borrowed(self):
        for path, is_borrowed in (("src/aclnnop/loss/a.cc", True), ("src/engine/reduction/a.cc", True), ("src/engine/parallel.cc", False),
                                  ("src/aclnnop/phase1.cc", False), ("src/acl/memory/a.cc", False), ("src/sanitizer/a.cc", False)):
            self.assertEqual(bool(chosen.BORROWED.match(path)), is_borrowed, path)

    def test_what_moves_has_the_same_hash(self):
        text = b'#include "a/x.h"\n#include "b/y.h"\n#include <vector>\nint a;\n'
        moved = b'#include "b/y.h"\n#include "c/x.h"\n#include <vector>\nint a;\n'
        self.assertEqual(recorded_state.hash_of_source(text), recorded_state.hash_of_source(moved))
        for other in (text.replace(b"int", b"long"), text.replace(b"y.h", b"z.h"), text.replace(b"vector", b"list")):
            self.assertNotEqual(recorded_state.hash_of_source(text), recorded_state.hash_of_source(other))

    def test_comments_and_layout_have_no_hash(self):
        text = b'// A sum.\nint a = f("x  //y", \'"\');  // of two\n'
        same = (b'// Adds.\nint a = f("x  //y", \'"\');\n', b'int a =\n    f( "x  //y",\n\n\'"\');  // "z"')
        for other in same:
            self.assertEqual(recorded_state.hash_of_source(text), recorded_state.hash_of_source(other), other)
        for other in (text.replace(b"x  /", b"x /"), text.replace(b"y", b"z"), text.replace(b"of two", b"NOLINT"), text.replace(b"f(", b"g(")):
            self.assertNotEqual(recorded_state.hash_of_source(text), recorded_state.hash_of_source(other), other)


if __name__ == "__main__":
    unittest.main()
