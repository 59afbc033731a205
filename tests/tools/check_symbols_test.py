#!/usr/bin/env python3
"""Which instructions tools/check_symbols.py finds in what objdump prints of a function.

Usage: check_symbols_test.py TOOLS
SPDX-License-Identifier: Apache-2.0
"""
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
import check_symbols  # noqa: E402

PLAIN, VECTOR = "_ZN7portacl3SumEv", "_ZN7portacl6N_AVX23SumEv"


def faults(name, *instructions, is_fused=False):
    lines = "".join(f"\n  {i:4x}:\t{instruction}" for i, instruction in enumerate(instructions))
    return check_symbols.faults_in_function("sum.cc.o", f"0000000000000040 <{name}>:{lines}", is_fused)


class Instructions(unittest.TestCase):
    def test_what_every_machine_runs(self):
        for name in PLAIN, VECTOR:
            self.assertEqual(faults(name, "push   %rbp", "movaps %xmm0,%xmm1", "pmaddwd %xmm0,%xmm1", "verr   %ax", "data16 cs nopw 0x0(%rax,%rax,1)"), [])

    def test_what_only_vector_functions_may_have(self):
        for instruction in ("vaddps %xmm0,%xmm1,%xmm2", "data16 vaddps %xmm0,%xmm1,%xmm2", "andn   %rax,%rbx,%rcx", "cs rorx $0x3,%rax,%rbx",
                            "kmovw  %k1,%eax{%zmm0}", "movups %ymm0,(%rax)"):
            with self.subTest(instruction):
                self.assertEqual(len(faults(PLAIN, "ret", instruction, instruction.replace("0x3", "0x4"))), 1)
                self.assertIn(f"{PLAIN} has ", faults(PLAIN, instruction)[0])
                self.assertEqual(faults(VECTOR, instruction), [])

    def test_what_is_fused_only_where_it_is_written(self):
        fused = ("vfmadd132ps %xmm0,%xmm1,%xmm2", "vfnmsub213sd (%rax),%xmm1,%xmm2", "v4fmaddps (%rax),%zmm4,%zmm1")
        for instruction in fused:
            with self.subTest(instruction):
                mnemonic = instruction.split()[0]
                self.assertEqual(faults(VECTOR, instruction, instruction), [f"sum.cc.o: {VECTOR} has the fused instruction {mnemonic}"])
                self.assertEqual(faults(VECTOR, instruction, is_fused=True), [])
                self.assertEqual(len(faults(PLAIN, instruction, is_fused=True)), 1)


if __name__ == "__main__":
    unittest.main()
