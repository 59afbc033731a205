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
import pytorch_tests  # noqa: E402
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
        for path in chosen.OPTIONS:
            self.assertEqual(swept(path), FUNCTIONS)

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
                                 ("tests/support/unknown.cc", True), ("tests/pytorch_npu/unknown.py", False), ("tests/support/runs.h", False), ("src/base/errors.cc", False)):
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

    def test_a_description_is_a_text_of_the_tests_that_call_it(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for path, text in {"tests/norm/rows_test.cc": '#include "operators/norms.h"\nRUN(RowOperators());\n',
                               "tests/norm/other_test.cc": '#include "norms.h"\nRUN(RowOperators(1));\n',
                               "tests/operators/norms.h": "Operators& RowOperators();\nOperators& Sums();\nOperators& Columns();\n",
                               "tests/operators/rows.cc": '#include "operators/norms.h"\nOperators& RowOperators() { return norms::Sums(); }\n',
                               "tests/operators/sums.cc": "Operators norms::Sums() {\n  return Columns;\n}\n",
                               "tests/operators/columns.cc": "  Operators& Sums() {\nOperators& Columns() {\nOperator Own() {\n"}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
            self.assertEqual(chosen.descriptions(root), {"RowOperators": "tests/operators/rows.cc", "Sums": "tests/operators/sums.cc",
                                                         "Columns": "tests/operators/columns.cc"})
            self.assertEqual(chosen.texts_of_test(["tests/norm/rows_test.cc"], root),
                             {"tests/norm/rows_test.cc", "tests/operators/norms.h", "tests/operators/rows.cc", "tests/operators/sums.cc"})
            self.assertEqual(chosen.texts_of_test(["tests/norm/other_test.cc"], root), {"tests/norm/other_test.cc"})


class Executables(unittest.TestCase):
    MUTANTS = [mutants.Mutant("one", "src/a/x.cc", "", "", ("x_test", "shared:Suite.*", "determinism", "libportacl.so:3")),
               mutants.Mutant("two", "src/a/y.cc", "", "", ("y_test", "shared"))]

    def test_those_of_the_mutants_or_of_the_folder(self):
        self.assertEqual(set(chosen.executables_for({"src/a/x.cc"}, self.MUTANTS, 9, "s")[0]), {"x_test", "shared"})
        self.assertEqual(set(chosen.executables_for({"src/a/z.cc"}, self.MUTANTS, 9, "s")[0]), {"x_test", "y_test", "shared"})
        self.assertEqual(chosen.executables_for({"src/b/z.cc"}, self.MUTANTS, 9, "s"), ([], 0))

    def test_a_limit_keeps_what_most_changes_name_and_tells_the_rest(self):
        self.assertEqual(chosen.executables_for({"src/a/x.cc", "src/a/y.cc"}, self.MUTANTS, 1, "s"), (["shared"], 2))

    def test_a_part_of_the_tests_of_operators_is_drawn(self):
        executables = {"sums": ["tests/reductions/sums_test.cc"], "rows": ["tests/norm/rows_test.cc"], "runtime": ["tests/acl/runtime_test.cc"]}
        parts = {chosen.drawn_tests({"runtime", "sums", "rows", "unknown"}, ["rows"], executables, f"seed {i}") for i in range(20)}
        self.assertEqual(parts, {f"{index} of 3: sums" for index in range(3)})


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


class PyTorch(unittest.TestCase):
    ROOT = pathlib.Path(TOOLS).resolve().parent
    TABLE = {"operators": {"aten::add.Tensor": "Add Adds", "aten::gelu": "Gelu|GeluV2", "aten::attention": "npu::npu_fused_attention",
                           "aten::npu_fused_attention": "Flash", "aten::view": ""},
             "products": {"Ascend950.*": {"aten::sum": "ReduceSumV2"}}, "gradients": {"aten::l1_loss": "L1LossBackward"}}

    def chosen(self, *changed, functions=()):
        return pytorch_tests.choose(self.ROOT, set(changed), "", set(functions), "seed")

    def files(self, *changed):
        return {path.rpartition("/")[2] for path in self.chosen(*changed)["files"]}

    def test_a_file_of_tests_is_reached_by_what_it_imports_or_starts(self):
        for path, reached in (("tests/pytorch_npu/test_aten.py", {"test_aten.py"}),
                              ("tests/pytorch_npu/distributed/gpt_training.py", {"test_gpt.py"}),  # its name is an argument of torchrun
                              ("tests/pytorch_npu/distributed/codes.py", {"test_distributed.py", "test_gpt.py", "test_profiler.py"}),
                              ("tests/pytorch_npu/gpt/pieces.py", {"test_gpt.py"}),
                              ("tests/pytorch_npu/checked_programs.py", {"test_checked_programs.py"}),
                              ("tests/recording/c_functions.py", {"test_programs.py"}),
                              ("tests/clients/judging.py", {"test_client_judging.py"}),  # by a folder that is put into sys.path
                              ("docs/numerics.md", {"test_report.py"}),
                              ("examples/pytorch/moe.py", {"test_examples.py"})):
            self.assertEqual(self.files(path), reached, path)
        self.assertEqual(self.files(), set())
        self.assertIn("test_models.py", self.files("examples/pytorch/lstm.py"))
        self.assertTrue({"test_examples.py", "test_models.py"} <= self.files("examples/pytorch/training.py"))

    def test_a_part_of_the_package_reaches_what_imports_it(self):
        everything = {path.rpartition("/")[2] for path in pytorch_tests.tests(self.ROOT)}
        self.assertEqual(self.files("python/portacl/torch/_install.py"), everything)  # conftest.py imports it
        self.assertEqual(self.files("python/portacl/torch/operators-2.13.0.json"), everything)
        self.assertEqual(self.files("python/portacl/torch/_extension.py"), {"test_vllm_extension.py"})
        recording = self.files("python/portacl/recording/_reading.py")
        self.assertTrue({"test_capture.py", "test_two_runs.py"} <= recording and "test_aten.py" not in recording)
        self.assertEqual(self.files("python/portacl/recording/_command.py"), recording)  # only `python -m portacl` imports it, by its name
        self.assertNotIn("test_capture.py", self.files("python/portacl/comparison/page.html"))
        self.assertIn("test_browser.py", self.files("python/portacl/comparison/page.html"))

    def test_what_is_common_to_all_parts_reaches_everything(self):
        for path in ("python/portacl/__main__.py", "python/portacl_start/environment.py", "python/portacl_start.pth", "tests/prepared.py"):
            choice = self.chosen(path)
            self.assertEqual(choice["everything"], path)
            self.assertEqual(choice["rows"], pytorch_tests.own_rows(self.ROOT))
            self.assertTrue(pytorch_tests.is_reached(choice, "tests/pytorch_npu/test_aten.py::test_any[1]"))

    def test_parts_of_the_library_reach_what_speaks_of_them(self):
        for path, yes, no in (("src/hccl/a.cc", "test_distributed.py", "test_aten.py"), ("src/sanitizer/a.cc", "test_checked_programs.py", "test_gpt.py"),
                              ("src/record/a.cc", "test_deferred.py", "test_norms.py"), ("src/atb/a.cc", "test_atb.py", "test_norms.py"),
                              ("src/acl/graph/a.cc", "test_graphs.py", "test_atb.py")):
            self.assertIn(yes, self.files(path), path)
            self.assertNotIn(no, self.files(path), path)

    def test_sources_reach_everything_or_their_functions(self):
        def reach(*changed):
            return chosen.reach_in_pytorch(set(changed), INCLUDES, [*HEADERS, SimpleNamespace(family="loss", source="", functions=[None] * 2)])

        self.assertEqual(reach(), ("", set()))
        self.assertEqual(reach("src/engine/reduction/axis_reduction.cc", "src/hccl/a.cc", "tests/norm/a.cc"), ("", {"aclnnSum"}))
        self.assertEqual(reach("src/aclnnop/reductions/operators.toml", "src/aclnnop/indexing/index.cc"), ("", {"aclnnSum", "aclnnIndex"}))
        for path in ("src/acl/queue/a.cc", "include/acl/acl.h", "tools/schema/read.py", *chosen.OPTIONS):
            self.assertEqual(reach("src/aclnnop/indexing/index.cc", path)[0], path)
        self.assertEqual(chosen.reach_in_pytorch({"src/base/errors.cc"}, INCLUDES, HEADERS)[0], "src/base/errors.cc")  # more than half of all

    def test_functions_of_pytorch_that_need_one_of_cann(self):
        def names(*functions):
            return pytorch_tests.names_reached(set(functions), self.TABLE)

        self.assertEqual(names("aclnnAdds"), {"adds", "add"})
        self.assertEqual(names("aclnnGeluV2"), {"gelu"})
        self.assertEqual(names("aclnnFlash"), {"flash", "fusedattention", "attention"})
        self.assertEqual(names("aclnnReduceSumV2"), {"reducesum", "sum"})
        self.assertEqual(names("aclnnL1LossBackward"), {"l1loss"})
        self.assertEqual({pytorch_tests.name_of(name) for name in ("LayerNorm", "layer_norm", "aten::native_layer_norm_backward", "aclnnLayerNormGrad")},
                         {"layernorm"})

    def test_a_test_is_reached_by_names_that_it_says_or_that_its_tables_say(self):
        choice = self.chosen(functions=["aclnnMseLoss"])
        self.assertIn("TestChoice::test_the_losses_are_own", choice["tests"]["tests/pytorch_npu/test_choice.py"])
        self.assertNotIn("TestChoice::test_sorting_is_own", choice["tests"]["tests/pytorch_npu/test_choice.py"])
        self.assertIn("test_losses", choice["tests"]["tests/pytorch_npu/test_tables.py"])
        self.assertTrue(pytorch_tests.is_reached(choice, "tests/pytorch_npu/test_tables.py::test_losses[mse]"))
        self.assertFalse(pytorch_tests.is_reached(choice, "tests/pytorch_npu/test_tables.py::test_another[mse]"))
        self.assertEqual(choice["rows"], ["nn.functional.mse_loss"])
        self.assertNotIn("nn.functional.mse_loss", choice["drawn_rows"])

    def test_of_each_file_some_tests_are_drawn_and_all_in_time(self):
        choice = {"everything": "", "files": {"c.py": ""}, "tests": {"b.py": ["test_own"]}, "seed": "a"}
        names = [*(f"a.py::test_all[{number}]" for number in range(11)), "b.py::test_own[1]", "b.py::test_other", "c.py::test_it"]
        sample = pytorch_tests.drawn_by_file(choice, names)
        self.assertEqual(len([name for name in sample if name.startswith("a.py")]), 3)
        self.assertEqual({name for name in sample if not name.startswith("a.py")}, {"b.py::test_other"})
        self.assertEqual(sample, pytorch_tests.drawn_by_file(choice, names[::-1]))
        drawn = set().union(*(pytorch_tests.drawn_by_file({**choice, "seed": str(seed)}, names) for seed in range(60)))
        self.assertEqual(drawn, {name for name in names if not pytorch_tests.is_reached(choice, name)})

    def test_the_state_has_what_tests_are_made_of(self):
        state = pytorch_tests.state_of(self.ROOT)
        for path in ("python/portacl/torch/operators-2.13.0.json", "tests/recording/conftest.py", "tests/prepared.py", "tests/clients/judging.py", "docs/pytorch.md",
                     "examples/pytorch/mlp.py", pytorch_tests.ROWS):
            self.assertIn(path, state)
        self.assertFalse([path for path in state if "__pycache__" in path])


if __name__ == "__main__":
    unittest.main()
