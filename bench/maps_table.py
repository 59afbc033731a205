"""The elementwise operators as bench/maps.py measures them beside PyTorch: one row per operator and form of its arguments.

A row says what is called with what, on both sides, in words that both can be made from; nothing is imported for it.

Words of a call of ours, in the order of the signature without the last two:
  a b c     tensors of the case's dtype         m      a bool tensor, true for half of its elements
  same      a copy of a
  a2        a as a matrix                       z      a 0-dim tensor of the case's dtype
  out       the output                          out2   the output as a matrix
  out1      its first element                   sum    a 0-dim output
  pair      twice as many elements as a         outs, also   an output like pair, like out
  decay     exp(-abs(b))                        none tanh     the text
  type      the output's dtype, as a number
  S:x       an aclScalar as torch_npu makes one of a Python number: float64, int64 or bool
  I:x F:x D:x   x passed as int64_t (or int, or bool), float, double
The other side is a Python expression. It and the x above may use: s, t (numbers of the case's kind), low, high (bounds for
clamp), n (elements), rows, columns (of the matrices).

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses

FLOATS = ("f32", "bf16")
NUMBERS = ("f32", "bf16", "i64")
INTEGERS = ("i64", "i8")
INTEGERS_AND_BOOL = ("i64", "i8", "bool")
SIGNED = ("f32", "bf16", "i64", "i8")
EVERYTHING = ("f32", "bf16", "i64", "i8", "bool")

# Where elements lie. Integers have bounds of their own.
DOMAINS = {"any": ((-3.0, 3.0), (-20, 20)), "positive": ((0.1, 3.0), (1, 20)), "unit": ((-0.95, 0.95), (-1, 1)),
           "above_one": ((1.05, 4.0), (1, 20)), "counts": ((0.0, 7.0), (0, 7))}

# The dtype of the output.
OUTPUTS = {
    "same": lambda dtype: dtype,
    "bool": lambda dtype: "bool",
    "float": lambda dtype: dtype if dtype in FLOATS else "f32",
    "other": lambda dtype: {"f32": "bf16", "bf16": "f32", "i64": "f32"}[dtype],
}


@dataclasses.dataclass(frozen=True)
class Row:
    name: str  # the operator as in the schema, behind it the form
    function: str  # without aclnn
    ours: str
    torch: str
    dtypes: tuple = FLOATS
    domain: str = "any"
    output: str = "same"
    product: str = ""  # PORTACL_SOC, where the default product has no such operator

    @property
    def operator(self):
        return self.name.partition(".")[0]

    def output_of(self, dtype):
        return OUTPUTS[self.output](dtype)

    @property
    def from_memory(self):
        """The power of two of elements that come from memory."""
        return 24 if sum(word in ("a", "b", "c", "m", "a2", "same", "pair") for word in self.ours.split()) < 3 else 23


def unary(name, function, torch_name, dtypes=FLOATS, domain="any", output="float"):
    return Row(name, function, "a out", f"torch.{torch_name}(a, out=out)", dtypes, domain, output)


def binary(name, function, torch_name, dtypes=FLOATS, domain="any", output="same"):
    return Row(name, function, "a b out", f"torch.{torch_name}(a, b, out=out)", dtypes, domain, output)


def scalar(name, function, torch_name, dtypes=FLOATS, domain="any", output="same"):
    return Row(name, function, "a S:s out", f"torch.{torch_name}(a, s, out=out)", dtypes, domain, output)


def comparisons():
    for name in ("eq", "ne", "gt", "ge", "lt", "le"):
        yield binary(f"{name}_tensor", f"{name.title()}Tensor", name, EVERYTHING, output="bool")
    for name in ("eq", "ne", "gt", "ge", "lt", "le"):
        yield scalar(f"{name}_scalar", f"{name.title()}Scalar", name, SIGNED, output="bool")


# torch.rsub has no out=, torch.sub the other way round is the same; torch.isfinite, isinf and isclose have none either, nor an
# in-place form: what they return is new memory each time, as for their users.
ROWS = (
    Row("copy", "InplaceCopy", "out a", "out.copy_(a)", EVERYTHING),
    Row("cast", "Cast", "a type out", "out.copy_(a)", NUMBERS, output="other"),
    Row("fill_scalar", "InplaceFillScalar", "out S:s", "out.fill_(s)", EVERYTHING),
    Row("fill_tensor", "InplaceFillTensor", "out z", "out.fill_(z)", NUMBERS),
    Row("zero", "InplaceZero", "out", "out.zero_()", EVERYTHING),
    Row("one", "InplaceOne", "out", "out.fill_(1)", EVERYTHING),
    Row("add", "Add", "a b S:1 out", "torch.add(a, b, out=out)", NUMBERS),
    Row("add.alpha", "Add", "a b S:t out", "torch.add(a, b, alpha=t, out=out)", NUMBERS),
    Row("add.scalar", "Adds", "a S:s S:1 out", "torch.add(a, s, out=out)", NUMBERS),
    Row("add_v3", "AddV3", "S:s a S:1 out", "torch.add(a, s, out=out)"),
    Row("sub", "Sub", "a b S:1 out", "torch.sub(a, b, out=out)", NUMBERS),
    Row("rsub", "Rsub", "a b S:1 out", "torch.sub(b, a, out=out)", NUMBERS),
    binary("mul", "Mul", "mul", NUMBERS),
    scalar("mul.scalar", "Muls", "mul", NUMBERS),
    *comparisons(),
    Row("is_in_tensor_scalar", "IsInTensorScalar", "a S:s I:0 I:0 out", "torch.isin(a, s, out=out)", SIGNED, output="bool"),
    Row("equal", "Equal", "a same out1", "out1.fill_(torch.equal(a, same))", SIGNED, output="bool"),
    binary("logical_and", "LogicalAnd", "logical_and", EVERYTHING, output="bool"),
    binary("logical_or", "LogicalOr", "logical_or", EVERYTHING, output="bool"),
    binary("logical_xor", "LogicalXor", "logical_xor", EVERYTHING, output="bool"),
    unary("logical_not", "LogicalNot", "logical_not", EVERYTHING, output="bool"),
    binary("bitwise_and_tensor", "BitwiseAndTensor", "bitwise_and", INTEGERS_AND_BOOL),
    scalar("bitwise_and_scalar", "BitwiseAndScalar", "bitwise_and", ("i64",)),
    binary("bitwiseand", "BitwiseAndTensorOut", "bitwise_and", INTEGERS_AND_BOOL),
    binary("bitwise_or_tensor", "BitwiseOrTensor", "bitwise_or", INTEGERS_AND_BOOL),
    scalar("bitwise_or_scalar", "BitwiseOrScalar", "bitwise_or", ("i64",)),
    binary("bitwise_xor_tensor", "BitwiseXorTensor", "bitwise_xor", INTEGERS_AND_BOOL),
    scalar("bitwise_xor_scalar", "BitwiseXorScalar", "bitwise_xor", ("i64",)),
    unary("bitwise_not", "BitwiseNot", "bitwise_not", INTEGERS_AND_BOOL, output="same"),
    binary("left_shift", "LeftShift", "bitwise_left_shift", INTEGERS, "counts"),
    scalar("left_shift.scalar", "LeftShifts", "bitwise_left_shift", INTEGERS),
    binary("right_shift", "RightShift", "bitwise_right_shift", INTEGERS, "counts"),
    Row("isfinite", "IsFinite", "a out", "torch.isfinite(a)", FLOATS, output="bool"),
    Row("is_inf", "IsInf", "a out", "torch.isinf(a)", FLOATS, output="bool"),
    unary("isposinf", "IsPosInf", "isposinf", output="bool"),
    unary("isneginf", "IsNegInf", "isneginf", output="bool"),
    unary("signbit", "Signbit", "signbit", NUMBERS, output="bool"),
    Row("nan_to_num", "NanToNum", "a F:0.5 F:2.0 F:-2.0 out", "torch.nan_to_num(a, 0.5, 2.0, -2.0, out=out)"),
    Row("isclose", "IsClose", "a b D:1e-5 D:1e-8 I:False out", "torch.isclose(a, b)", NUMBERS, output="bool"),
    unary("exp", "Exp", "exp", NUMBERS),
    unary("exp2", "Exp2", "exp2", NUMBERS),
    unary("expm1", "Expm1", "expm1", NUMBERS),
    unary("sigmoid", "Sigmoid", "sigmoid", NUMBERS),
    unary("tanh", "Tanh", "tanh", NUMBERS),
    unary("sinh", "Sinh", "sinh", NUMBERS),
    unary("cosh", "Cosh", "cosh", NUMBERS),
    unary("asinh", "Asinh", "asinh", NUMBERS),
    unary("acosh", "Acosh", "acosh", NUMBERS, "above_one"),
    unary("atanh", "Atanh", "atanh", NUMBERS, "unit"),
    unary("log", "Log", "log", NUMBERS, "positive"),
    unary("log2", "Log2", "log2", NUMBERS, "positive"),
    unary("log10", "Log10", "log10", NUMBERS, "positive"),
    unary("log1p", "Log1p", "log1p", NUMBERS, "positive"),
    unary("sin", "Sin", "sin", NUMBERS),
    unary("cos", "Cos", "cos", NUMBERS),
    unary("tan", "Tan", "tan", NUMBERS),
    unary("sinc", "Sinc", "sinc", NUMBERS),
    unary("asin", "Asin", "asin", NUMBERS, "unit"),
    unary("acos", "Acos", "acos", NUMBERS, "unit"),
    unary("atan", "Atan", "atan", NUMBERS),
    unary("erf", "Erf", "erf", NUMBERS),
    unary("erfc", "Erfc", "erfc", NUMBERS),
    unary("erfinv", "Erfinv", "erfinv", NUMBERS, "unit"),
    unary("lgamma", "Lgamma", "lgamma", ("f32",), "positive"),
    unary("digamma", "Digamma", "digamma", ("f32",), "positive"),
    unary("sqrt", "Sqrt", "sqrt", NUMBERS, "positive"),
    unary("rsqrt", "Rsqrt", "rsqrt", NUMBERS, "positive"),
    unary("reciprocal", "Reciprocal", "reciprocal", NUMBERS, "positive"),
    Row("square", "Square", "a out", "torch.square(a, out=out)", NUMBERS, product="Ascend950PR_9579"),
    unary("floor", "Floor", "floor", NUMBERS, output="same"),
    unary("ceil", "Ceil", "ceil"),
    unary("round", "Round", "round", NUMBERS, output="same"),
    Row("round.decimals", "RoundDecimals", "a I:2 out", "torch.round(a, decimals=2, out=out)"),
    unary("trunc", "Trunc", "trunc"),
    unary("frac", "Frac", "frac"),
    unary("abs", "Abs", "abs", NUMBERS, output="same"),
    unary("neg", "Neg", "neg", NUMBERS, output="same"),
    unary("sign", "Sign", "sign", NUMBERS, output="same"),
    binary("div", "Div", "div", NUMBERS, "positive", "float"),
    scalar("div.scalar", "Divs", "div", NUMBERS, output="float"),
    Row("div.trunc", "DivMod", "a b I:1 out", "torch.div(a, b, rounding_mode='trunc', out=out)", NUMBERS, "positive"),
    Row("div.floor", "DivMod", "a b I:2 out", "torch.div(a, b, rounding_mode='floor', out=out)", NUMBERS, "positive"),
    binary("floor_divide", "FloorDivide", "floor_divide", NUMBERS, "positive"),
    scalar("floor_divide.scalar", "FloorDivides", "floor_divide", NUMBERS),
    Row("addcmul", "Addcmul", "a b c S:s out", "torch.addcmul(a, b, c, value=s, out=out)", NUMBERS),
    Row("addcdiv", "Addcdiv", "a b c S:s out", "torch.addcdiv(a, b, c, value=s, out=out)", domain="positive"),
    Row("lerp_tensor", "Lerp", "a b c out", "torch.lerp(a, b, c, out=out)"),
    Row("lerp_scalar", "Lerps", "a b S:0.25 out", "torch.lerp(a, b, 0.25, out=out)"),
    binary("maximum", "Maximum", "maximum", NUMBERS),
    binary("minimum", "Minimum", "minimum", NUMBERS),
    binary("atan2", "Atan2", "atan2", NUMBERS, output="float"),
    binary("xlogy_tensor", "XLogYTensor", "xlogy", NUMBERS, "counts", "float"),
    scalar("xlogy_scalar_other", "XLogYScalarOther", "xlogy", output="float"),
    Row("xlogy_scalar_self", "XLogYScalarSelf", "S:s a out", "torch.xlogy(s, a, out=out)", output="float"),
    binary("gcd", "Gcd", "gcd", ("i64",)),
    Row("heaviside", "Heaviside", "a b out", "torch.heaviside(a, b, out=out)"),
    Row("xlog1py", "Xlog1py", "a b out", "torch.special.xlog1py(a, b, out=out)"),
    Row("masked_scale", "MaskedScale", "a b F:0.5 out", "torch.mul(a, b, out=out).mul_(0.5)", ("f32",), product="Ascend950PR_9579"),
    Row("add_relu", "AddRelu", "a b S:s out", "torch._add_relu(a, b, alpha=s, out=out)", ("f32", "i64")),
    binary("logaddexp", "LogAddExp", "logaddexp"),
    binary("logaddexp2", "LogAddExp2", "logaddexp2"),
    Row("clamp", "Clamp", "a S:low S:high out", "torch.clamp(a, low, high, out=out)", NUMBERS),
    Row("clamp.min", "ClampMin", "a S:low out", "torch.clamp(a, min=low, out=out)", NUMBERS),
    Row("clamp.tensors", "ClampTensor", "a b c out", "torch.clamp(a, b, c, out=out)", NUMBERS),
    Row("s_where", "SWhere", "m a b out", "torch.where(m, a, b, out=out)", EVERYTHING),
    Row("masked_fill_scalar", "InplaceMaskedFillScalar", "out m S:s", "out.masked_fill_(m, s)", NUMBERS),
    Row("masked_fill_tensor", "InplaceMaskedFillTensor", "out m z", "out.masked_fill_(m, z)", NUMBERS),
    Row("threshold", "Threshold", "a S:s S:t out", "torch.threshold(a, s, t, out=out)", NUMBERS),
    Row("relu", "Relu", "a out", "torch.relu(a)"),
    Row("threshold_backward", "ThresholdBackward", "a b S:0 out", "torch.ops.aten.threshold_backward.grad_input(a, b, 0, grad_input=out)"),
    Row("leaky_relu", "LeakyRelu", "a S:0.01 out", "torch.ops.aten.leaky_relu.out(a, 0.01, out=out)"),
    Row("leaky_relu_backward", "LeakyReluBackward", "a b S:0.01 I:False out",
        "torch.ops.aten.leaky_relu_backward.grad_input(a, b, 0.01, False, grad_input=out)"),
    Row("gelu", "Gelu", "a out", "torch.ops.aten.gelu.out(a, approximate='tanh', out=out)"),
    Row("gelu_v2", "GeluV2", "a I:0 out", "torch.ops.aten.gelu.out(a, out=out)"),
    Row("gelu_backward", "GeluBackward", "a b out", "torch.ops.aten.gelu_backward.grad_input(a, b, approximate='tanh', grad_input=out)"),
    Row("gelu_backward_v2", "GeluBackwardV2", "a b none out", "torch.ops.aten.gelu_backward.grad_input(a, b, grad_input=out)"),
    Row("silu", "Silu", "a out", "torch.ops.aten.silu.out(a, out=out)"),
    Row("silu_backward", "SiluBackward", "a b out", "torch.ops.aten.silu_backward.grad_input(a, b, grad_input=out)"),
    Row("swish", "Swish", "a S:1 out", "torch.ops.aten.silu.out(a, out=out)"),
    Row("swish_backward", "SwishBackward", "a b S:1 out", "torch.ops.aten.silu_backward.grad_input(a, b, grad_input=out)"),
    Row("fast_gelu", "FastGelu", "a out", "torch.mul(a, torch.sigmoid(1.702 * a), out=out)"),
    Row("fast_gelu_backward", "FastGeluBackward", "a b out", "torch.ops.aten.silu_backward.grad_input(a, 1.702 * b, grad_input=out)"),
    Row("elu", "Elu", "a S:1 S:1 S:1 out", "torch.ops.aten.elu.out(a, out=out)"),
    Row("elu_backward", "EluBackward", "a S:1 S:1 S:1 I:False b out",
        "torch.ops.aten.elu_backward.grad_input(a, 1, 1, 1, False, b, grad_input=out)"),
    Row("celu", "Celu", "a S:2 out", "torch.celu(a, 2)"),
    Row("selu", "Selu", "a out", "torch.selu(a)"),
    Row("selu_backward", "SeluBackward", "a b out",
        "torch.ops.aten.elu_backward.grad_input(a, 1.6732632423543772, 1.0507009873554805, 1, True, b, grad_input=out)"),
    Row("prelu", "Prelu", "a z out", "torch.ops.aten._prelu_kernel(a, z)"),
    # Theirs has two results; the second is summed afterwards, which takes as long as the sum of anything else.
    Row("prelu_backward", "PreluBackward", "a b z out sum", "torch.ops.aten._prelu_kernel_backward(a, b, z)[sum.copy_(b.sum()).dim()]"),
    Row("softplus", "Softplus", "a S:1 S:20 out", "torch.ops.aten.softplus.out(a, 1, 20, out=out)"),
    Row("softplus_backward", "SoftplusBackward", "a b S:1 S:20 out",
        "torch.ops.aten.softplus_backward.grad_input(a, b, 1, 20, grad_input=out)"),
    Row("mish", "Mish", "a out", "torch.ops.aten.mish.out(a, out=out)"),
    Row("mish_backward", "MishBackward", "a b out", "torch.ops.aten.mish_backward(a, b)"),
    Row("logit", "Logit", "b D:0.1 out", "torch.logit(b, 0.1, out=out)"),
    Row("logit_grad", "LogitGrad", "b a D:0.1 out", "torch.ops.aten.logit_backward.grad_input(a, b, 0.1, grad_input=out)"),
    Row("logsigmoid", "LogSigmoid", "a out", "torch.nn.functional.logsigmoid(a)"),
    Row("logsigmoid_backward", "LogSigmoidBackward", "a b decay out",
        "torch.ops.aten.log_sigmoid_backward.grad_input(a, b, decay, grad_input=out)"),
    Row("hardsigmoid", "Hardsigmoid", "a out", "torch.ops.aten.hardsigmoid.out(a, out=out)"),
    Row("hardsigmoid_backward", "HardsigmoidBackward", "a b out", "torch.ops.aten.hardsigmoid_backward.grad_input(a, b, grad_input=out)"),
    Row("hardswish", "Hardswish", "a out", "torch.ops.aten.hardswish.out(a, out=out)"),
    Row("hardswish_backward", "HardswishBackward", "a b out", "torch.ops.aten.hardswish_backward(a, b)"),
    Row("hardswish_backward_v2", "HardswishBackwardV2", "a b out", "torch.ops.aten.hardswish_backward(a, b)"),
    Row("hardtanh", "Hardtanh", "a S:-1.0 S:1.0 out", "torch.ops.aten.hardtanh.out(a, -1.0, 1.0, out=out)"),
    Row("hardtanh_backward", "HardtanhBackward", "a b S:-1.0 S:1.0 out",
        "torch.ops.aten.hardtanh_backward.grad_input(a, b, -1.0, 1.0, grad_input=out)"),
    Row("hardshrink", "Hardshrink", "a S:0.5 out", "torch.ops.aten.hardshrink.out(a, 0.5, out=out)"),
    Row("hardshrink_backward", "HardshrinkBackward", "a b S:0.5 out",
        "torch.ops.aten.hardshrink_backward.grad_input(a, b, 0.5, grad_input=out)"),
    Row("shrink", "Shrink", "a S:0.5 S:0.25 out", "torch.where(a > 0.5, a - 0.25, torch.where(a < -0.5, a + 0.25, 0))", ("f32",)),
    Row("softshrink", "Softshrink", "a S:0.5 out", "torch.ops.aten.softshrink.out(a, 0.5, out=out)"),
    Row("softshrink_backward", "SoftshrinkBackward", "a b S:0.5 out",
        "torch.ops.aten.softshrink_backward.grad_input(a, b, 0.5, grad_input=out)"),
    Row("tanh_backward", "TanhBackward", "a b out", "torch.ops.aten.tanh_backward.grad_input(a, b, grad_input=out)"),
    Row("sigmoid_backward", "SigmoidBackward", "a b out", "torch.ops.aten.sigmoid_backward.grad_input(a, b, grad_input=out)"),
    Row("glu", "Glu", "pair I:0 out", "torch.ops.aten.glu.out(pair, 0, out=out)"),
    Row("glu_backward", "GluBackward", "a pair I:0 outs", "torch.ops.aten.glu_backward.grad_input(a, pair, 0, grad_input=outs)"),
    Row("swi_glu", "SwiGlu", "pair I:0 out", "torch.mul(torch.nn.functional.silu(pair[:n]), pair[n:], out=out)"),
    Row("swi_glu_grad", "SwiGluGrad", "a pair I:0 outs", "(torch.ops.aten.silu_backward.grad_input(a * pair[n:], pair[:n], grad_input=outs[:n]), "
        "torch.mul(torch.nn.functional.silu(pair[:n]), a, out=outs[n:]))"),
    Row("geglu", "GeGlu", "pair I:0 I:1 out also",
        "torch.mul(torch.ops.aten.gelu.out(pair[n:], approximate='tanh', out=also), pair[:n], out=out)"),
    Row("geglu_backward", "GeGluBackward", "a pair b I:0 I:1 outs",
        "(torch.mul(a, b, out=outs[:n]), "
        "torch.mul(torch.ops.aten.gelu_backward(a, pair[n:], approximate='tanh'), pair[:n], out=outs[n:]))"),
    Row("triu", "Triu", "a2 I:0 out2", "torch.triu(a2, 0, out=out2)", EVERYTHING),
    Row("tril", "Tril", "a2 I:0 out2", "torch.tril(a2, 0, out=out2)", EVERYTHING),
    scalar("pow", "PowTensorScalar", "pow", NUMBERS, "positive"),
    Row("pow.square", "PowTensorScalar", "a S:2 out", "torch.pow(a, 2, out=out)", NUMBERS),
    Row("pow.scalar_base", "PowScalarTensor", "S:s a out", "torch.pow(s, a, out=out)", NUMBERS, "positive"),
    binary("pow_tensor_tensor", "PowTensorTensor", "pow", NUMBERS, "positive"),
    binary("remainder", "RemainderTensorTensor", "remainder", NUMBERS, "positive"),
    scalar("remainder.scalar", "RemainderTensorScalar", "remainder", NUMBERS),
    binary("fmod_tensor", "FmodTensor", "fmod", NUMBERS, "positive"),
    scalar("fmod_scalar", "FmodScalar", "fmod", NUMBERS),
    Row("arange", "Arange", "S:0 S:n S:1 out", "torch.arange(0, n, 1, out=out)", NUMBERS),
    Row("range", "Range", "S:0 S:n-1 S:1 out", "torch.arange(0, n, 1, out=out)", NUMBERS),  # torch.range is deprecated
    Row("eye", "Eye", "I:rows I:columns out2", "torch.eye(rows, columns, out=out2)", ("f32", "i64")),
    Row("log_space", "LogSpace", "S:0 S:2 I:n D:10 out", "torch.logspace(0, 2, n, 10, out=out)", ("f32",)),
    Row("linspace", "Linspace", "S:0 S:100 I:n out", "torch.linspace(0, 100, n, out=out)", FLOATS),
)

MEASURED_FAMILIES = ("activations", "creation", "arithmetic", "unary", "logic", "indexing", "shape", "image", "random", "reductions", "sort", "matmul", "linalg", "norm", "loss", "pooling",
                     "optimizers")


def families(operators):
    """Operator -> family, for those of the schema that are in the families that are measured."""
    return {one.name: one.family for one in operators if one.source and one.family in MEASURED_FAMILIES}
