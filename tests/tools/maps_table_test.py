#!/usr/bin/env python3
"""That the tables of bench/ have rows for every operator of the families that they measure and for no other; that each row of maps_table.py
calls what its operator's header declares, with as many arguments, and that both sides of it name the same operands.

Usage: maps_table_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import ast
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1)).parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tools")]
import images_table  # noqa: E402
import maps_table  # noqa: E402
import moves_table  # noqa: E402
import ordered_table  # noqa: E402
import public_functions  # noqa: E402
import reductions_table  # noqa: E402
import rows_table  # noqa: E402
import schema.read  # noqa: E402

HEADERS = public_functions.headers_of(ROOT)

KINDS = {"aclTensor*": "tensor", "aclScalar*": "S", "int64_t": "I", "int": "I", "bool": "I", "float": "F", "double": "D",
         "aclDataType": "type", "char*": "text"}
TENSORS = ("a", "b", "c", "m", "z", "a2", "out", "out1", "out2", "same", "pair", "outs", "also", "sum", "decay")
TEXTS = ("none", "tanh")
NUMBERS = {"s", "t", "low", "high", "n", "rows", "columns"}


def kinds_of_header(operator, function):
    """Of the parameters of phase 1 but the last two; None when the header declares no such function."""
    text = HEADERS[f"aclnnop/aclnn_{operator}.h"]
    found = re.search(rf"\baclnn{function}GetWorkspaceSize\(([^)]*)\)", text)
    if not found:
        return None
    parameters = [re.sub(r"\bconst\b", "", one).split() for one in found.group(1).split(",")[:-2]]
    return [KINDS["".join(words[:-1])] for words in parameters]


def kind_of_word(word):
    kind = word.partition(":")[0]
    return "tensor" if kind in TENSORS else "text" if kind in TEXTS else kind


class MapsTable(unittest.TestCase):
    def test_every_operator_is_measured(self):
        listed = maps_table.families(schema.read.read(ROOT))
        self.assertEqual(set(listed.values()), set(maps_table.MEASURED_FAMILIES))
        rows = (maps_table.ROWS + moves_table.ROWS + images_table.ROWS + reductions_table.ROWS + ordered_table.ROWS +
                rows_table.ROWS)
        # Are of Ascend 950 alone; computes nothing; is V5 on a tensor of a private format, which PyTorch's have not; makes a few words of a few scales.
        not_measured = {"clipped_swiglu_v2", "fused_matmul", "trans_matmul_weight", "quant_matmul_weight_nz", "trans_quant_param_v2", "trans_quant_param_v3"}
        # Are of Ascend 950 or of Atlas inference products alone, or QuantMatmulV4's product with a function; copies codes.
        # Are V2 with a mode that changes nothing, and with weights in a private format; copies; takes weights in a private format alone.
        not_measured |= {"transpose_quant_batch_mat_mul", "transpose_quant_batch_mat_mul_weight_nz", "quant_batch_matmul_inplace_add", "dual_level_quant_matmul_weight_nz",
                         "quant_grouped_matmul_inplace_add", "fused_quant_matmul", "fused_quant_matmul_weight_nz", "quant_matmul_dequant", "convert_weight_to_int4_pack"}
        not_measured |= {"weight_quant_batch_matmul_v3", "weight_quant_batch_matmul_nz", "npu_format_cast", "quant_matmul_reduce_sum_weight_nz"}
        # Gradients that PyTorch composes of slices.
        not_measured |= {"circular_pad2d_backward", "circular_pad3d_backward"}
        # PyTorch has none; torchvision is no part of it.
        not_measured |= {"roi_align", "roi_align_backward", "deformable_conv2d", "deformable_conv2d_backward"}
        # Are parts of a loss over several devices, which PyTorch's CPU has not.
        not_measured |= {name for name in listed if name.startswith("fused_linear_")}
        # Make a few numbers of those of several devices.
        not_measured |= {"batch_norm_gather_stats_with_counts", "sync_batch_norm_gather_stats"}
        # Writes one number; are of steps that PyTorch has not.
        not_measured |= {"amp_update_scale", "apply_adam", "apply_fused_ema_adam"}
        # PyTorch's CPU has no call that does the same.
        not_measured |= {"chamfer_distance_backward"}
        # Writes one number; is of Atlas inference products alone.
        not_measured |= {"precision_compare", "instance_norm"}
        # Takes an equation; is a product of vectors or of batches.
        not_measured |= {"einsum"}
        not_measured |= {"add_rms_norm_bias", *(name for name in listed if name.startswith("grouped_matmul"))}
        # Are measured by a program of their own, bench/loss_calls.cc.
        not_measured |= {name for name in listed if name.startswith(("mse_loss", "l1_loss", "smooth_l1_loss", "kl_div"))}
        self.assertEqual({row.operator for row in rows}, set(listed) - not_measured)

    def test_names_are_told_apart(self):
        self.assertEqual(len({row.name for row in maps_table.ROWS}), len(maps_table.ROWS))

    def test_calls_are_those_of_the_headers(self):
        for row in maps_table.ROWS:
            with self.subTest(row.name):
                self.assertEqual([kind_of_word(word) for word in row.ours.split()], kinds_of_header(row.operator, row.function))

    def test_both_sides_have_the_same_operands(self):
        for row in maps_table.ROWS:
            with self.subTest(row.name):
                known = {*TENSORS, *NUMBERS, "torch"}
                theirs = {node.id for node in ast.walk(ast.parse(row.torch)) if isinstance(node, ast.Name)}
                self.assertLessEqual(theirs, known)
                ours = {word for word in row.ours.split() if word in TENSORS}
                returned = {"out"} if not re.search(r"\bout", row.torch) else set()
                self.assertEqual(ours - returned, theirs & set(TENSORS))

    def test_dtypes_and_domains_are_known(self):
        for row in maps_table.ROWS:
            with self.subTest(row.name):
                self.assertLessEqual(set(row.dtypes), set(maps_table.EVERYTHING))
                self.assertIn(row.domain, maps_table.DOMAINS)
                for dtype in row.dtypes:
                    self.assertIn(row.output_of(dtype), maps_table.EVERYTHING)


if __name__ == "__main__":
    unittest.main()
