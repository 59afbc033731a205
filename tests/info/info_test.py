#!/usr/bin/env python3
# portacl-info: its table is what phase 1 really accepts, its other lines are what is in force, and wrong use is refused.
# usage: info_test.py PORTACL_INFO ACCEPTED_DTYPES SANITIZERS
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

INFO, ACCEPTED_DTYPES, SANITIZERS = sys.argv[1:4]
LIBRARIES = os.path.realpath(os.path.join(os.path.dirname(INFO), '../lib64/portacl'))
KNOWN_VARIABLES = ('PORTACL_SOC', 'PORTACL_ISA', 'PORTACL_NUM_THREADS', 'PORTACL_DEVICE_COUNT')

# A full name per product, and what CANN's pages and code say about it: short name, then for each operator the types
# that are documented and those that are accepted.
ALL = {'FLOAT', 'FLOAT16', 'BF16'}
OLD = {'FLOAT', 'FLOAT16'}
NONE = set()
ALL_AND_INT64, OLD_AND_INT64 = ALL | {'INT64'}, OLD | {'INT64'}
LOSSES = ('aclnnL1LossBackward', 'aclnnSmoothL1LossBackward', 'aclnnSmoothL1Loss', 'aclnnKlDiv', 'aclnnMseLoss', 'aclnnMseLossOut')
OPERATORS = (*LOSSES, 'aclnnL1Loss', 'aclnnMseLossBackward', 'aclnnKlDivBackward', 'aclnnKlDivTargetBackward')


def product(losses, l1_loss, mse_loss_backward, kl_div_backward, kl_div_target_backward):
    return (*[losses] * len(LOSSES), l1_loss, mse_loss_backward, kl_div_backward, kl_div_target_backward)


NEW = product((ALL, ALL), (ALL_AND_INT64, ALL_AND_INT64), (ALL, ALL), (ALL, ALL), (ALL, ALL))
PRODUCTS = {
    'Ascend950PR_9589': NEW,
    'Ascend910_9391': NEW,
    'Ascend910B1': NEW,
    'Ascend310B1': product((NONE, OLD), (NONE, OLD_AND_INT64), (NONE, OLD), (NONE, NONE), (NONE, NONE)),
    'Ascend310P3': product((OLD, OLD), (OLD_AND_INT64, OLD_AND_INT64), (OLD, OLD), (NONE, OLD), (NONE, NONE)),
    'Ascend910A': product((OLD, OLD), (OLD_AND_INT64, OLD_AND_INT64), (NONE, OLD), (NONE, OLD), (NONE, NONE)),
}
# Copies, casts and fills: lists before Atlas A2, from then on, and of Ascend 950.
MOVED = {'FLOAT', 'FLOAT16', 'DOUBLE', 'INT8', 'INT16', 'INT32', 'INT64', 'UINT8', 'UINT16', 'UINT32', 'UINT64', 'BOOL',
         'COMPLEX64', 'COMPLEX128'}
WIDE_UNSIGNED = {'UINT16', 'UINT32', 'UINT64'}
BF16 = {'BF16'}
COPIED = MOVED | BF16 | {'HIFLOAT8', 'FLOAT8_E5M2', 'FLOAT8_E4M3FN', 'FLOAT8_E8M0'}
TINY = {'HIFLOAT8', 'FLOAT8_E5M2', 'FLOAT8_E4M3FN', 'FLOAT4_E2M1', 'FLOAT4_E1M2'}
FILLED = MOVED - WIDE_UNSIGNED
ZEROED = (MOVED | BF16) - {'UINT32', 'UINT64'}
ONES = FILLED - {'COMPLEX64', 'COMPLEX128'}
MOVES = ('aclnnInplaceCopy', 'aclnnCast', 'aclnnInplaceFillScalar', 'aclnnInplaceFillTensor', 'aclnnInplaceZero', 'aclnnInplaceOne')
SINCE_A2 = ((COPIED, COPIED), (MOVED | BF16,) * 2, (MOVED | BF16,) * 2, (MOVED | BF16, FILLED | BF16), (ZEROED, ZEROED),
            (ONES | BF16 | {'UINT16'}, ONES | BF16))
ON_950 = (SINCE_A2[0], (MOVED | BF16 | TINY | {'COMPLEX32'},) * 2, *SINCE_A2[2:4], (ZEROED | TINY,) * 2, SINCE_A2[5])
BEFORE_A2 = ((COPIED, COPIED), (MOVED, MOVED), (FILLED, FILLED), (FILLED, FILLED), (ZEROED - BF16, ZEROED), (ONES | {'UINT16'}, ONES))
ON_310B = (BEFORE_A2[0], *((NONE, accepted) for _, accepted in BEFORE_A2[1:]))
for soc, moves in {'Ascend950PR_9589': ON_950, 'Ascend910_9391': SINCE_A2, 'Ascend910B1': SINCE_A2, 'Ascend310B1': ON_310B,
                   'Ascend310P3': BEFORE_A2, 'Ascend910A': BEFORE_A2}.items():
    PRODUCTS[soc] += moves
OPERATORS += MOVES
# Listed, but never converted to another one; and of those, the ones that have no loop at all.
NEVER_CONVERTED = TINY | {'COMPLEX32', 'FLOAT8_E8M0'}
NO_LOOP = {'FLOAT4_E2M1', 'FLOAT4_E1M2'}
CONVERTED_ALL = {'aclnnCast': {'COMPLEX32'}, 'aclnnInplaceCopy': set()}  # but for these
# What one operand may have, but not all.
NOT_TOGETHER = dict.fromkeys(('aclnnPowTensorTensor', 'aclnnPowTensorScalar'), {'BOOL'})
LISTED = subprocess.run([sys.executable, '-B', os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../tools/schema'), 'list'],
                        check=True, capture_output=True, text=True).stdout
INDEXING = {f'aclnnop/aclnn_{stem}.h' for stem in re.findall(
    r'^OPERATOR\((\w+), (?:attention|communication|convolution|foreach|image|indexing|linalg|matmul|moe|norm|optimizers|pooling|quantisation|recurrent|serving|shape|sort),', LISTED, re.MULTILINE)}
INDEXING -= {'aclnnop/aclnn_tril.h', 'aclnnop/aclnn_triu.h'}
# Of other families, what a description tries.
TESTS = pathlib.Path(__file__).resolve().parent.parent
DESCRIBED = {name for text in (path.read_text() for path in [*TESTS.rglob('*_test.cc'), *TESTS.glob('operators/*.cc')]) if 'OperatorSpec' in text
             for name in re.findall(r'PORTACL_C_FUNCTION\((aclnn\w+)\)', text)}
# Operands that must have the dtype of another one.
TIED = {'aclnnMseLossBackward': ('gradOutput', 'self', 'target'), 'aclnnKlDivTargetBackward': ('target', 'gradTarget')}
SOC_NAMES = ('Ascend910A Ascend910ProA Ascend910PremiumA Ascend910B Ascend910ProB Ascend910B1 Ascend910B2 Ascend910B2C '
             'Ascend910B3 Ascend910B4 Ascend910B4-1 Ascend910_9391 Ascend910_9392 Ascend910_9381 Ascend910_9382 '
             'Ascend910_9372 Ascend910_9362 Ascend910_9363 Ascend950PR_* Ascend950DT_* Ascend310P1 Ascend310P2 '
             'Ascend310P3 Ascend310P4 Ascend310P5 Ascend310P6 Ascend310P7 Ascend310B1 Ascend310B2 Ascend310B3 '
             'Ascend310B4').split()


def run(program, *arguments, **variables):
    environment = {name: value for name, value in os.environ.items() if name not in KNOWN_VARIABLES}
    environment.update(variables)
    return subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=600)


def info(**variables):
    done = run(INFO, '--json', **variables)
    assert done.returncode == 0 and done.stderr == '', done
    return json.loads(done.stdout)


class Info(unittest.TestCase):
    def test_table_is_what_phase_1_accepts(self):
        table = info()
        names = {op['name'] for op in table['operators']}
        self.assertLessEqual(set(OPERATORS), names)
        for product in table['products']:
            for name in product['soc_names']:
                soc = name.replace('*', '9571')
                with self.subTest(soc=soc):
                    self.assertEqual(info(PORTACL_SOC=soc)['product'], product['line'])
                    probe = run(ACCEPTED_DTYPES, PORTACL_SOC=soc)
                    self.assertEqual(probe.returncode, 0, probe.stderr)
                    probed = json.loads(probe.stdout)
                    # What moves and indexes elements takes lists, arrays and indices: the tests of their families try its dtypes.
                    indexing = {op['name'] for op in table['operators'] if op['header'] in INDEXING} | DESCRIBED
                    self.assertEqual(names - set(probed) - indexing, set())
                    for op in table['operators']:
                        if op['name'] not in probed:
                            continue
                        found = probed[op['name']]
                        if op['name'] not in OPERATORS:  # elementwise ones
                            accepted = set(op['accepted'][product['line']]) - NOT_TOGETHER.get(op['name'], set())
                            self.assertEqual(sorted(accepted), sorted(found['together']), (soc, op['name']))
                            continue
                        listed = sorted(set(op['accepted'][product['line']]) - (set() if op['name'] in CONVERTED_ALL else NO_LOOP))
                        self.assertEqual(listed, sorted(found['together']), op['name'])
                        if op['name'] in MOVES:
                            for operand, alone in found['operands'].items():
                                never = CONVERTED_ALL.get(op['name'], NEVER_CONVERTED)
                                converted = set(listed) - never if len(found['operands']) > 1 else set(listed)
                                if (op['name'], operand) == ('aclnnInplaceFillTensor', 'value'):
                                    converted = MOVED | BF16  # any that is converted to selfRef's
                                if (op['name'], operand) == ('aclnnCast', 'out') and 'FLOAT4_E2M1' in listed:
                                    converted = converted | {'INT4'}  # a dtype that nothing is converted from
                                self.assertEqual(converted, set(alone), (op['name'], operand))
                        elif op['dtypes_of'] in ('every operand', 'every input'):
                            operands = dict(found['operands'])
                            if op['dtypes_of'] == 'every input':
                                self.assertLess(set(listed), set(operands.pop('result')), op['name'])
                            for operand, alone in operands.items():
                                tied = operand in TIED.get(op['name'], ())
                                self.assertEqual(found['together'][:1] if tied else listed, sorted(alone), (op['name'], operand))
                        else:
                            self.assertLessEqual(set(listed), set(found['operands']['target']), op['name'])

    def test_table_says_what_is_known_of_each_product(self):
        for soc, expected in PRODUCTS.items():
            table = info(PORTACL_SOC=soc)
            self.assertEqual(table['soc'], soc)
            operators = {op['name']: op for op in table['operators']}
            for name, (documented, accepted) in zip(OPERATORS, expected):
                with self.subTest(soc=soc, operator=name):
                    self.assertEqual(set(operators[name]['documented'][table['product']]), documented)
                    self.assertEqual(set(operators[name]['accepted'][table['product']]), accepted)

    def test_products(self):
        table = info()
        names = [name for product in table['products'] for name in product['soc_names']]
        self.assertEqual(len(table['products']), 6)
        self.assertEqual(sorted(name for name in names if name != 'Ascend310'),
                         sorted(name for name in SOC_NAMES if name != 'Ascend310'))
        self.assertEqual(info(PORTACL_SOC='Ascend910B')['product'], info(PORTACL_SOC='Ascend910A')['product'])
        self.assertNotEqual(info(PORTACL_SOC='Ascend910B')['product'], info(PORTACL_SOC='Ascend910B1')['product'])

    def test_what_is_in_force(self):
        plain = info()
        self.assertEqual(plain['soc'], 'Ascend910B1')
        self.assertEqual(plain['emulated_cann_version'], '9.1.0')
        self.assertRegex(plain['version'], r'^\d+\.\d+\.\d+$')
        self.assertGreaterEqual(plain['threads'], 1)
        self.assertEqual(plain['devices'], 1)
        # Those beside the library, whatever the system has. Sanitizers open libraries in a program's place, and search none of its folders.
        for name in () if SANITIZERS else ('sleef', 'gloo'):
            self.assertEqual(plain[name], {'file': os.path.join(LIBRARIES, f'libportacl_{name}.so')})
        self.assertEqual(plain['isa'], plain['isas'][-1])
        self.assertIn('portable', plain['isas'])
        for isa in plain['isas']:
            named = info(PORTACL_ISA=isa)
            self.assertEqual((named['isa'], named['pairs_of_bf16']), (isa, None))
        pairs = plain['all_pairs_of_bf16']
        self.assertEqual(plain['pairs_of_bf16'], pairs[-1] if pairs else None)
        for name in pairs:
            named = info(PORTACL_ISA=name)
            self.assertEqual((named['isa'], named['pairs_of_bf16']), ('avx512', name))
        names = {'avx512': {'avx512_vnni', 'amx_int8'}, 'avx2': {'avx_vnni'}, 'neon': {'neon_dotprod'}, 'sve': {'neon_dotprod'}}
        for isa in plain['isas']:
            self.assertIn(info(PORTACL_ISA=isa)['words_of_int8'], names.get(isa, set()) - {'amx_int8'} | {None})
        self.assertIn(plain['words_of_int8'], names.get(plain['isa'], set()) | {None})
        chosen = info(PORTACL_NUM_THREADS='3', PORTACL_DEVICE_COUNT='5')
        self.assertEqual((chosen['threads'], chosen['devices']), (3, 5))

    def test_text_says_the_same(self):
        for soc in ('Ascend910B1', 'Ascend310P3'):
            table = info(PORTACL_SOC=soc, PORTACL_NUM_THREADS='3')
            done = run(INFO, PORTACL_SOC=soc, PORTACL_NUM_THREADS='3')
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            text = done.stdout
            for value in (table['version'], table['emulated_cann_version'], soc, table['product'], table['isa']):
                self.assertIn(value, text)
            self.assertRegex(text, r'(?m)^threads +3$')
            self.assertIn(f"pairs of BF16    {table['pairs_of_bf16'] or 'none'} (of: {' '.join(table['all_pairs_of_bf16']) or 'none'})", text)
            self.assertIn(f"\nwords of INT8    {table['words_of_int8'] or 'none'}\n", text)
            for name in () if SANITIZERS else ('SLEEF', 'Gloo'):
                self.assertIn(f'\n{name:<16} {table[name.lower()]["file"]}\n', text)
            for product in table['products']:
                for name in product['soc_names']:
                    self.assertIn(name, text)
            for op in table['operators']:
                self.assertIn(op['header'], text)
                section = text[text.index(op['name'] + ' ('):].split('\n\n')[0]
                for product in table['products']:
                    line = product['line']
                    row = re.search(r'(?m)^ +' + re.escape(line) + r'  +(.*)$', section)
                    self.assertIsNotNone(row, (op['name'], line))
                    cells = re.split(r' {2,}', row.group(1).strip())
                    shown = [set() if cell == '-' else set(cell.split()) for cell in cells[:2]]
                    documented, accepted = set(op['documented'][line]), set(op['accepted'][line])
                    self.assertEqual(shown, [documented, accepted], (op['name'], line))
                    self.assertEqual(cells[2:], ['(differs)'] if documented != accepted else [])

    def test_wrong_use(self):
        for arguments in (['--xml'], ['json'], ['--json', '--json'], ['--json', 'more'], ['']):
            done = run(INFO, *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ''), arguments)
            self.assertIn('usage: portacl-info', done.stderr)
        for arguments in (['--help'], ['-h']):
            done = run(INFO, *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ''), arguments)
            self.assertIn('usage: portacl-info', done.stdout)

    def test_wrong_configuration(self):
        for name, value, accepted in (('PORTACL_SOC', 'Ascend910B99', 'Ascend910B1'),
                                      ('PORTACL_ISA', 'avx1024', 'portable')):
            for arguments in ([], ['--json']):
                done = run(INFO, *arguments, **{name: value})
                self.assertEqual((done.returncode, done.stdout), (1, ''))
                for fragment in ('aclInit', '100000', name, value, accepted):
                    self.assertIn(fragment, done.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
