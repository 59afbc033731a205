#!/usr/bin/env python3
"""What tools/schema makes of a small schema, and what it says of each kind of mistake.

Usage: schema_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
from schema import functions, headers, read, tables  # noqa: E402

WHOLE = '''# A family.
[half]
source = "half"
repository = "math"
title = "aclnnHalf and aclnnInplaceHalf, half of a tensor."
about = """
out = self / 2
"""
text = "See there."
arguments = """
self  operand
out   result
"""
codes = """
161001  self or out is null
        (or both)
"""
functions = [
  "aclnnHalf(tensor self, out tensor out)",
  "aclnnInplaceHalf(inout tensor selfRef)",
]

[mixed]
source = "half"
repository = "nn"
title = "aclnnMixed."
formula = "  out = a mixture"
values = "NaN stays NaN."
types = """
  dims  one
"""
about = "The rest."
reads = "partly, dims moved"
needs = ["half"]
also = ["alias"]
[[mixed.group]]
codes_of = "half"
functions = ["aclnnMixed(tensor? biasOptional, ints dims, scalar alpha, double eps, const int64_t axis, out const tensor out)"]
[[mixed.group]]
phase_2 = "Waits."
functions = ["aclnnLater(out tensors outs)", "call aclnnNow(const float* data, uint64_t size)"]

[alias]
title = "aclnnHalf, where CANN has it, too."
needs = ["half"]
'''
HALF = '''// aclnnop/aclnn_half.h: aclnnHalf and aclnnInplaceHalf, half of a tensor.
// SPDX-License-Identifier: Apache-2.0
//
// out = self / 2
#ifndef PORTACL_ACLNNOP_ACLNN_HALF_H_
#define PORTACL_ACLNNOP_ACLNN_HALF_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// See there.
//   self  operand
//   out   result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//           (or both)
ACLNN_API aclnnStatus aclnnHalfGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHalf(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceHalfGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceHalf(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HALF_H_
'''
MIXED = '''// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//           (or both)
ACLNN_API aclnnStatus aclnnMixedGetWorkspaceSize(const aclTensor* biasOptional, const aclIntArray* dims,
                                                 const aclScalar* alpha, double eps, const int64_t axis,
                                                 const aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMixed(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

ACLNN_API aclnnStatus aclnnLaterGetWorkspaceSize(aclTensorList* outs, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);

// Waits.
ACLNN_API aclnnStatus aclnnLater(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnNow(const float* data, uint64_t size);
'''
FUNCTIONS = '''// The C functions of src/aclnnop/odd/half.cc. Made by tools/schema from operators.toml.
// SPDX-License-Identifier: Apache-2.0
// clang-format off: lines are as long as signatures.
#pragma once

#include "aclnnop/aclnn_half.h"
#include "aclnnop/aclnn_mixed.h"
#include "aclnnop/phase1.h"

namespace portacl::phase1 {
struct aclnnHalfArguments {
  const aclTensor* self;
  aclTensor* out;
};
aclnnStatus aclnnHalf(const aclnnHalfArguments& given, OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor);
struct aclnnInplaceHalfArguments {
  aclTensor* selfRef;
};
aclnnStatus aclnnInplaceHalf(const aclnnInplaceHalfArguments& given, OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor);
struct aclnnMixedArguments {
  const aclTensor* biasOptional;
  const aclIntArray* dims;
  const aclScalar* alpha;
  double eps;
  int64_t axis;
  const aclTensor* out;
};
aclnnStatus aclnnMixed(const aclnnMixedArguments& given, OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor);
}  // namespace portacl::phase1

aclnnStatus aclnnHalfGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
                                      aclOpExecutor** executor) {
  const portacl::TensorArgument given_tensors[] = {{"self", self}, {"out", out}};
  portacl::OperatorCall operator_call{"aclnnHalf", given_tensors, {}};
  return portacl::phase1::aclnnHalf({self, out}, operator_call, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnHalf)

aclnnStatus aclnnInplaceHalfGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                             aclOpExecutor** executor) {
  const portacl::TensorArgument given_tensors[] = {{"selfRef", selfRef}};
  portacl::OperatorCall operator_call{"aclnnInplaceHalf", given_tensors, {}, /*in_place=*/true};
  return portacl::phase1::aclnnInplaceHalf({selfRef}, operator_call, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnInplaceHalf)

aclnnStatus aclnnMixedGetWorkspaceSize(const aclTensor* biasOptional, const aclIntArray* dims,
                                       const aclScalar* alpha, double eps, const int64_t axis,
                                       const aclTensor* out, uint64_t* workspaceSize,
                                       aclOpExecutor** executor) {
  const portacl::TensorArgument given_tensors[] = {{"biasOptional", biasOptional}, {"out", out}};
  const portacl::Attribute given_attributes[] = {
      {"dims", dims},
      {"alpha", alpha},
      {"eps", eps},
      {"axis", axis},
  };
  portacl::OperatorCall operator_call{"aclnnMixed", given_tensors, given_attributes};
  return portacl::phase1::aclnnMixed({biasOptional, dims, alpha, eps, axis, out}, operator_call, workspaceSize, executor);
}
PORTACL_PHASE_2(aclnnMixed)
'''
FIRST = '[one]\nsource = "half"\nrepository = "math"\ntitle = "One."\nformula = "out = 1"\n'


class Schema(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path in ("src/aclnnop/odd/half.cc", "src/aclnnop/even/half.cc"):
            (self.root / path).parent.mkdir(parents=True)
            (self.root / path).touch()

    def read(self, **families):
        for family, text in families.items():
            (self.root / f"src/aclnnop/{family}/operators.toml").write_text(text)
        return read.read(self.root)

    def mistake(self, text, **more):
        with self.assertRaises(read.Error) as caught:
            self.read(odd=text, **more)
        said = str(caught.exception)
        self.assertEqual(said.count("\n"), 0, said)
        return said

    def test_headers(self):
        half, mixed, alias = self.read(odd=WHOLE)
        self.assertEqual(headers.header_text(half), HALF)
        text = headers.header_text(mixed)
        self.assertIn(MIXED, text)
        self.assertTrue(text.startswith("// aclnnop/aclnn_mixed.h: aclnnMixed.\n// SPDX-License-Identifier: Apache-2.0\n//\n//   out = a mixture\n//\n"
                                        "// Values: NaN stays NaN.\n// Types\n//   dims  one\n//\n// The rest.\n#ifndef "))
        self.assertIn('#include "aclnn/aclnn_base.h"\n#include "aclnn_half.h"\n#include "aclnn_util.h"\n', text)
        self.assertIn('#endif\n\n// CANN declares these here, too.\n#include "aclnn_alias.h"\n\n#endif  // PORTACL', text)
        self.assertEqual(headers.header_text(alias), '''// aclnnop/aclnn_alias.h: aclnnHalf, where CANN has it, too.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTACL_ACLNNOP_ACLNN_ALIAS_H_
#define PORTACL_ACLNNOP_ACLNN_ALIAS_H_

#include "aclnn_half.h"

#endif  // PORTACL_ACLNNOP_ACLNN_ALIAS_H_
''')
        [nothing] = self.read(odd='[lost]\ntitle = "declares nothing."\n')
        self.assertIn('#include "aclnn/aclnn_base.h"\n#include "aclnn_util.h"\n\n#endif', headers.header_text(nothing))
        self.assertEqual(headers.list_of_operators([half, mixed, alias]), "OPERATOR(half, odd, half, math)\nOPERATOR(mixed, odd, half, nn)\n")

    def test_arguments(self):
        _, mixed, _ = self.read(odd=WHOLE)
        bias, dims, alpha, eps, axis, out = mixed.functions[0].arguments
        self.assertEqual((bias.name, bias.type, bias.direction, bias.is_optional), ("biasOptional", "tensor", "in", True))
        self.assertEqual([one.c_type for one in (bias, dims, alpha, eps, axis, out)],
                         ["const aclTensor*", "const aclIntArray*", "const aclScalar*", "double", "const int64_t", "const aclTensor*"])
        self.assertEqual((out.direction, out.is_optional), ("out", False))
        self.assertEqual([function.phases for function in mixed.functions], [2, 2, 1])
        self.assertEqual(mixed.functions[0].place, "src/aclnnop/odd/operators.toml:38")

    def test_families_are_read_by_name(self):
        found = self.read(odd=WHOLE, even=FIRST + 'functions = ["aclnnOne(tensor self)"]\n')
        self.assertEqual([(one.family, one.name) for one in found], [("even", "one"), ("odd", "half"), ("odd", "mixed"), ("odd", "alias")])

    def test_what_is_missing(self):
        at = "src/aclnnop/odd/operators.toml:1: one: "
        self.assertEqual(self.mistake('[one]\nsource = "half"\nrepository = "math"\nfunctions = ["aclnnOne()"]\n'), at + "no title.")
        self.assertEqual(self.mistake('[one]\nrepository = "math"\ntitle = "One."\nfunctions = ["aclnnOne()"]\n'), at + "no source.")
        self.assertEqual(self.mistake('[one]\nsource = "half"\ntitle = "One."\nfunctions = ["aclnnOne()"]\n'), at + "no repository.")
        self.assertEqual(self.mistake(FIRST), at + "no functions.")
        self.assertEqual(self.mistake(FIRST.replace("formula", "text") + 'functions = ["aclnnOne()"]\n'),
                         at + "no formula of what src/aclnnop/odd/half.cc:1 computes.")
        self.assertEqual(self.mistake('\n[one]\nsource = "lost"\nrepository = "math"\ntitle = "One."\nfunctions = ["aclnnOne()"]\n'),
                         "src/aclnnop/odd/operators.toml:3: one: its source src/aclnnop/odd/lost.cc is missing.")

    def test_what_is_unknown(self):
        at = "src/aclnnop/odd/operators.toml:6: one: "
        self.assertIn(at + "formulas is no key, known are ", self.mistake(FIRST + 'formulas = "x"\n'))
        self.assertIn(at + "about is no text", self.mistake(FIRST + "about = 3\n"))
        self.assertIn(at + "functions is no list", self.mistake(FIRST + 'functions = "aclnnOne()"\n'))
        self.assertIn(at + '"tensr self": tensr is no type, known are tensor, ', self.mistake(FIRST + 'functions = ["aclnnOne(tensr self)"]\n'))
        self.assertIn(at + '"double? eps": only a handle may be null', self.mistake(FIRST + 'functions = ["aclnnOne(double? eps)"]\n'))
        self.assertIn(at + '"const tensor self": a handle that is read', self.mistake(FIRST + 'functions = ["aclnnOne(const tensor self)"]\n'))
        self.assertIn(at + "aclnnOne has two arguments self", self.mistake(FIRST + 'functions = ["aclnnOne(tensor self, out tensor self)"]\n'))
        self.assertIn(at + "'One(tensor self)' is no function", self.mistake(FIRST + 'functions = ["One(tensor self)"]\n'))
        self.assertIn("operators.toml:1: one: it includes two, which is no header", self.mistake(FIRST + 'also = ["two"]\nfunctions = ["aclnnOne()"]\n'))
        self.assertIn("operators.toml:3: one: repository maths is none of nn, math, transformer, cv",
                      self.mistake(FIRST.replace('"math"', '"maths"') + 'functions = ["aclnnOne()"]\n'))
        self.assertIn("operators.toml:1: no TOML: ", self.mistake("[one\n"))
        for key, value in ("reads", "all, x written"), ("writes", "inputs"), ("fuzz", "map"):
            self.assertIn(at + f"{key} {value} is none of ", self.mistake(FIRST + f'{key} = "{value}"\nfunctions = ["aclnnOne()"]\n'))

    def test_what_is_there_twice(self):
        both = FIRST + 'functions = ["aclnnOne(tensor self)"]\n'
        self.assertEqual(self.mistake(both + '[two]\nsource = "half"\nrepository = "nn"\ntitle = "Two."\nformula = "2"\nfunctions = ["aclnnOne(tensor x)"]\n'),
                         "src/aclnnop/odd/operators.toml:12: aclnnOne is declared at src/aclnnop/odd/operators.toml:6, too.")
        self.assertEqual(self.mistake(both, even=both),
                         "src/aclnnop/odd/operators.toml:1: aclnn_one.h is declared at src/aclnnop/even/operators.toml:1, too.")

    def test_a_definition_that_no_entry_has(self):
        (self.root / "src/aclnnop/odd/half.cc").write_text(
            "\naclnnStatus aclnnOneGetWorkspaceSize(\n    const aclTensor* self) { return 0; }\naclnnStatus aclnnTwo(int a) { return a; }\n")
        with self.assertRaises(read.Error) as caught:
            functions.sources(self.root, self.read(odd=FIRST + 'functions = ["aclnnOne(tensor self)"]\n'))
        self.assertEqual(str(caught.exception),
                         "src/aclnnop/odd/half.cc:4: aclnnTwo is defined, and src/aclnnop/odd/operators.toml has no such function.")

    def test_an_entry_that_no_source_defines(self):
        (self.root / "src/aclnnop/odd/half.cc").write_text("// Two\nMACRO(Two)\n")
        for what in "aclnnOne(tensor self, out tensor out)", "aclnnInplaceOne(inout tensor self)", "call aclnnTwo(int64_t size)":
            with self.assertRaises(read.Error) as caught:
                functions.sources(self.root, self.read(odd=FIRST + f'functions = ["{what}"]\n'))
            name = what.removeprefix("call ").partition("(")[0]
            self.assertEqual(str(caught.exception), f"src/aclnnop/odd/operators.toml:6: {name} is nowhere in its source, src/aclnnop/odd/half.cc:1.")

    def test_a_source_that_no_entry_has(self):
        (self.root / "src/aclnnop/odd/other.cc").write_text('#include "aclnnop/odd/other_functions.h"\nMACRO(Two)\n')
        (self.root / "src/aclnnop/odd/shared.cc").write_text('#include "aclnnop/odd/half_functions.h"\n')
        (self.root / "src/aclnnop/odd/half.cc").write_text("MACRO(One)\n")
        with self.assertRaises(read.Error) as caught:
            functions.sources(self.root, self.read(odd=FIRST + 'functions = ["aclnnOne(tensor self, out tensor out)"]\n'))
        self.assertEqual(str(caught.exception), "src/aclnnop/odd/other.cc:1: no entry of src/aclnnop/odd/operators.toml has this source.")

    def test_a_function_that_two_sources_define(self):
        for family in "odd", "even":
            (self.root / f"src/aclnnop/{family}/half.cc").write_text("\nPORTACL_PHASE_1(aclnnOne) {}\n")
        with self.assertRaises(read.Error) as caught:
            functions.sources(self.root, self.read(odd=FIRST + 'functions = ["aclnnOne(tensor self, out tensor out)"]\n'))
        self.assertEqual(str(caught.exception), "src/aclnnop/odd/half.cc:2: aclnnOne is defined at src/aclnnop/even/half.cc:2, too.")

    def test_what_a_call_gets(self):
        [header] = self.read(odd=FIRST + """functions = [
  "aclnnOne(tensor a, ints i, tensor b, double d, bools outputMask, floats f, out tensor c) passes d, outputMask, mode=0",
  "aclnnTwo(tensor a, tensor b, scalar s, char* t, out tensor c) passes b, x=null, c, t, s",
]
""")
        one, two = header.functions
        self.assertIn('given_tensors[] = {{"a", a}, {"b", b}, {"c", c}};', functions.made(one))
        self.assertIn('given_attributes[] = {{"d", d}, portacl::MaskAttribute(outputMask), {"mode", 0}};', functions.made(one))
        self.assertIn("phase1::aclnnOne({a, i, b, d, outputMask, f, c}, operator_call", functions.made(one))
        # Recorded besides: lists that attributes do not hold whole, and what is not passed.
        self.assertIn('given_values[] = {{"i", i}, {"outputMask", outputMask}, {"f", f}};', functions.made(one))
        self.assertIn('GivenValues recorded("aclnnOne", given_values);', functions.made(one))
        self.assertIn('given_values[] = {{"a", a}};', functions.made(two))
        self.assertIn('given_tensors[] = {{"b", b}, {"x", nullptr}, {"c", c}};', functions.made(two))
        self.assertIn('given_attributes[] = {{"t", static_cast<const char*>(t)}, {"s", s}};', functions.made(two))
        self.assertIn('#include "aclnnop/output_mask.h"', functions.source_text("half.cc", [header], [one, two]))
        self.assertIn('#include "aclnnop/given_values.h"', functions.source_text("half.cc", [header], [one, two]))

    def test_every_argument_is_recorded(self):
        """A call has each argument of every operator as it is, or a recording gets it besides."""
        pointers = {"const float*", "float*", "uint64_t*", "uint64_t**"}  # of functions that make no executor
        checked = 0
        for header in read.read(pathlib.Path(__file__).resolve().parents[2]):
            for one in header.functions:
                if any(argument.type in pointers for argument in one.arguments):
                    continue
                passed = None if one.passes is None else {name for name, _ in one.passes}
                besides = {argument.name for argument in functions.given_of(one)}
                has = {argument.name for argument in functions.tensors_of(one)}
                for argument in one.arguments:
                    is_list = functions.is_tensor(argument.type) or argument.type in ("scalars", "floats", "bools")
                    is_whole = argument.name in has or (not is_list and (passed is None or argument.name in passed))
                    self.assertTrue(is_whole or argument.name in besides, f"{one.name}: {argument.name}")
                    checked += 1
        self.assertGreater(checked, 3000)
        at = "src/aclnnop/odd/operators.toml:6: one: "
        self.assertEqual(self.mistake(FIRST + 'functions = ["aclnnOne(tensor a, out tensor b) passes c"]\n'),
                         at + "aclnnOne passes c, which is none of its arguments.")
        self.assertEqual(self.mistake(FIRST + 'functions = ["aclnnOne(tensor a, out tensor b) passes a, b, a"]\n'),
                         at + "aclnnOne passes two arguments a.")

    def test_functions_of_a_macro(self):
        source = self.root / "src/aclnnop/odd/half.cc"
        source.write_text("HALVES(Half)\naclnnStatus aclnnMixedGetWorkspaceSize(\naclnnStatus aclnnNow(\n// aclnnLater\n")
        text = functions.sources(self.root, self.read(odd=WHOLE))["aclnnop/odd/half_functions.h"]
        self.assertEqual([name for name in ("aclnnHalf", "aclnnInplaceHalf", "aclnnMixed", "aclnnLater") if f"PORTACL_PHASE_2({name})" in text],
                         ["aclnnHalf", "aclnnInplaceHalf", "aclnnLater"])

    def test_functions(self):
        source = self.root / "src/aclnnop/odd/half.cc"
        source.write_text("PORTACL_PHASE_1(aclnnHalf) {\n}\nPORTACL_PHASE_1(aclnnInplaceHalf) {\n}\n// PORTACL_PHASE_1(aclnnNot)\n"
                          "PORTACL_PHASE_1(aclnnMixed) {\n}\naclnnStatus aclnnLater(\naclnnStatus aclnnNow(\n")
        made = functions.sources(self.root, self.read(odd=WHOLE))
        self.assertEqual(list(made), ["aclnnop/odd/half_functions.h"])
        self.assertEqual(made["aclnnop/odd/half_functions.h"], FUNCTIONS)

    def test_the_number_of_outputs(self):
        several = 'functions = ["aclnnOne(tensor self, out tensor a, out tensors b)", "aclnnTwo(inout tensor selfRef, out tensor a)"]\n'
        one, two = self.read(odd=FIRST + several)[0].functions
        self.assertEqual((functions.is_in_place(one), functions.output_count(one)), (False, 2))
        self.assertEqual((functions.is_in_place(two), functions.output_count(two)), (False, 1))
        self.assertIn("/*in_place=*/false, /*output_count=*/2}", functions.made(one))

    def test_functions_that_cannot_be_made(self):
        source = self.root / "src/aclnnop/odd/half.cc"
        source.write_text("\nPORTACL_PHASE_1(aclnnTwo) {\n}\n")
        with self.assertRaises(read.Error) as caught:
            functions.sources(self.root, self.read(odd=FIRST + 'functions = ["aclnnOne(bools mask, out tensor out)"]\n'))
        self.assertEqual(str(caught.exception), "src/aclnnop/odd/half.cc:2: aclnnTwo is defined, and src/aclnnop/odd/operators.toml has no such function.")
        source.write_text("PORTACL_PHASE_1(aclnnOne) {\n}\n")
        for arguments in ("tensor self", "out tensor out, tensor self", "tensor self, inout tensor outRef", "int64_t count"):
            with self.assertRaises(read.Error) as caught:
                functions.sources(self.root, self.read(odd=FIRST + f'functions = ["aclnnOne({arguments})"]\n'))
            self.assertEqual(str(caught.exception), "src/aclnnop/odd/operators.toml:6: aclnnOne writes neither its last tensors nor its first one: "
                                                    "its source defines it whole.")

    def test_tables(self):
        found = self.read(odd=WHOLE, even=FIRST + """writes = "anew"
text = '"The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.'
functions = ["aclnnOne(tensor self, out tensor out)", "aclnnInplaceOne(inout tensor selfRef)", "aclnnBoth(tensor x, out tensor a, out tensor b)"]

[lists]
source = "half"
repository = "math"
title = "Lists."
formula = "x"
text = '"Lists" there.'
functions = ["aclnnLists(tensors x, tensor y, scalar s, out tensors out)", "aclnnFlags(inout tensors x, inout tensors y, bool z)"]
""")
        self.assertEqual(tables.functions(found).split(), [f"FUNCTION(aclnn{name})" for name in (
            "One", "InplaceOne", "Both", "Lists", "Flags", "Half", "InplaceHalf", "Mixed", "Later")])
        self.assertEqual(tables.access(found).splitlines(), [
            'ACCESS(aclnnOne, kReads, "", true, false)', 'ACCESS(aclnnInplaceOne, kReads, "", true, false)',
            'ACCESS(aclnnBoth, kReads, "", true, false)', 'ACCESS(aclnnFlags, kReads, "", false, true)',
            'ACCESS(aclnnMixed, kPartly, "dims", false, false)', 'ACCESS(aclnnLater, kPartly, "dims", false, false)'])
        self.assertEqual(tables.fuzz_calls(found).splitlines(), [
            "LISTS(Lists, 2, given.List({t[0]}), given.Numbers({1}, t[0]), given.Scalar(), given.List({t[1]}))",
            "MAP(One, false)", "MAP(InplaceOne, true)"])

    def test_facts(self):
        def facts(keys):
            return tables.operator_info(self.read(odd=FIRST + keys + 'functions = ["aclnnOne(tensor x, out tensor y)"]\n'))

        def rule(*products):
            return "DtypeRule{{" + ", ".join(f"DtypeSet({', '.join('ACL_' + one for one in product.split())})" for product in products) + "}}"

        with self.assertRaisesRegex(read.Error, "^src/aclnnop/odd/operators.toml:1: one: no dtypes.$"):
            facts("")
        old, new = "FLOAT INT8", "FLOAT BF16 INT8"
        accepted = rule(old, new, new, new + " INT64 FLOAT8_E5M2", old, old)
        given = 'dtypes = "s8 f32; since A2: bf16; 950: e5m2 s64"\n'
        self.assertEqual(facts(given), f"OPERATOR_INFO(one, aclnnOne, false, false, {accepted}, {accepted})\n")
        documented = rule(old, "", "", "FLOAT BF16 INT8 INT64 FLOAT8_E5M2", old, "")
        self.assertEqual(facts(given + 'documented = "without A2 A3 310B"\ndtypes_of = "every input"\n'),
                         f"OPERATOR_INFO(one, aclnnOne, false, true, {documented}, {accepted})\n")
        self.assertIn(f"true, false, {rule('', new, new, 'FLOAT BF16 INT8 INT64 FLOAT8_E5M2', '', '')}, ",
                      facts(given + 'documented = "since A2"\ndtypes_of = "promoted inputs"\n'))
        self.assertIn(f"{rule('FLOAT16', '', '', '', '', '')}, {rule('', '', '', '', '', '')})", facts('dtypes = "none"\ndocumented = "A1: f16"\n'))
        at = "src/aclnnop/odd/operators.toml:6: one: "
        for keys, said in (('dtypes = "f33"', "dtypes: f33 is no dtype, known are f32, "), ('dtypes = "910: f32"', "dtypes: 910 is no product, known are A1, "),
                           ('dtypes_of = "inputs"', "dtypes_of inputs is none of every operand, ")):
            self.assertIn(at + said, self.mistake(FIRST + keys + '\nfunctions = ["aclnnOne()"]\n'))

    def test_families(self):
        found = headers.family_headers(self.read(odd=WHOLE, even=FIRST + 'functions = ["aclnnOne(tensor self)"]\n'))
        self.assertEqual(list(found), ["aclnnop/families/even.h", "aclnnop/families/odd.h"])
        self.assertTrue(found["aclnnop/families/odd.h"].endswith('#include "aclnnop/aclnn_half.h"\n#include "aclnnop/aclnn_mixed.h"\n'
                                                                 '#include "aclnnop/aclnn_alias.h"\n'))

    def test_lines_of_others(self):
        self.assertIn("codes_of names two, which has no codes of its own", self.mistake(FIRST + 'codes_of = "two"\nfunctions = ["aclnnOne()"]\n'))
        self.assertIn("codes and codes_of exclude each other",
                      self.mistake(WHOLE.replace('codes_of = "half"', 'codes_of = "half"\ncodes = "1  x"')))


if __name__ == "__main__":
    unittest.main()
