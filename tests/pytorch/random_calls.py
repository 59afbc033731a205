"""Random calls of an operator: each is made from the seed and its number alone.

SPDX-License-Identifier: Apache-2.0
"""
import numpy as np

import number_formats as nf
import operands
import operators

BETAS = (0.0, -0.0, 1.0, 0.5, 0.3, 2.0, 10.0, 1e-3, 1e-7, 1e-40, 3e38, float("inf"))
GENERAL = ("uniform", "normal", "wide", "special", "close")


def kinds_for(operator, rng, log_target: bool) -> dict:
    """What kind of values each input gets. The second half of the operands may be near the first."""
    kinds = {name: GENERAL[rng.randint(0, 4)] for name in operator.inputs}
    if rng.randint(0, 3) == 0:
        kinds["target"] = "close"
    if "KlDiv" in operator.name and rng.randint(0, 2):
        kinds["self"] = "logarithm"
        kinds["target"] = "logarithm" if log_target else "probability"
    return kinds


def calls_for_every_mix(operator) -> int:
    """Three in four calls go through the mixes in turn."""
    return len(operator.all_mixes) * 4 // 3 + 4


def random_call(operator, seed: int, number: int, long: bool) -> operators.Call:
    rng = np.random.RandomState([seed, operators.ALL.index(operator), number])
    mixes = operator.all_mixes
    mix, out_dtype, reductions = mixes[((number - number // 4) * 7919) % len(mixes)]  # all of them in turn
    if number % 4 == 3:  # float32 alone, where no 16-bit rounding hides the others
        mix, out_dtype, reductions = (nf.F32,) * len(operator.inputs), nf.F32, operator.reductions
    reduction = int(reductions[rng.randint(0, len(reductions))])
    log_target = bool(operator.has_log_target and rng.randint(0, 2))
    beta = float(np.float32(BETAS[rng.randint(0, len(BETAS))])) if operator.has_beta else 1.0

    full = operands.random_shape(rng, long)
    shapes = {name: operands.narrowed(rng, full, 2) for name in operator.inputs}
    if operator.is_gradient and rng.randint(0, 3) == 0:
        shapes[operator.inputs[0]] = ()
    if "KlDiv" in operator.name and operator.is_gradient:  # gradOutput may expand to R, not enlarge it
        R = np.broadcast_shapes(shapes["self"], shapes["target"])
        if np.broadcast_shapes(shapes["gradOutput"], R) != R:
            shapes["gradOutput"] = operands.narrowed(rng, tuple(R), 2)
    R = tuple(int(n) for n in np.broadcast_shapes(*shapes.values()))

    kinds = kinds_for(operator, rng, log_target)
    inputs, base = [], None
    for name, dtype in zip(operator.inputs, mix):
        one = operands.random_operand(rng, name, dtype, shapes[name], kinds[name], base)
        if name == "self":
            base = one.values().ravel()
        inputs.append(one)
    out = operands.random_output(rng, operator.output, out_dtype, tuple(operator.output_shape(R, shapes, reduction)))
    return operators.Call(operator, inputs, out, reduction, beta, log_target)
