"""The mutants: where mutate.py breaks the library, and which tests could notice.

SPDX-License-Identifier: Apache-2.0

An entry whose `old` is no longer exactly once in its file makes mutate.py fail: move it along with the code.
"""
from typing import NamedTuple, Optional


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # exactly once in the file
    new: str
    tests: tuple  # executables, "NAME" or "NAME:FILTER", the likeliest first
    reason: Optional[str] = None  # why no test can notice it
    kernels: str = ""  # the instruction set in whose kernels it is, if there alone: a key of mutate.py's KERNELS
    seen_by: tuple = ()  # of a header: where the paths of the sources begin that are compiled with it; empty: all that include it


MUTANTS = []


def mutants_of(file, tests, kernels="", seen_by=()):
    """A function that adds a mutant of this file, noticed by these tests if not said otherwise.

    A header of kernels is in a hundred sources: `seen_by` names the few that the tests are about. What the linker takes
    once for all of them, functions and templates that no operator's own type is in, has to be changed in all.
    """

    def add(name, old, new, tests=tests, reason=None, seen_by=seen_by):
        MUTANTS.append(Mutant(name, file, old, new, tuple(tests), reason, kernels, tuple(seen_by)))

    return add


# The tests of what losses, copies, casts and fills compute: their suites.
SUITES = {
    "kl_div": "*KlDivNumerics*:*KlDivSums*:*KlDivValues*",
    "kl_div_backward": "*KlDivBackward*",
    "kl_div_target_backward": "*KlDivTargetBackward*",
    "l1_loss": "*/L1LossN*:*/L1LossS*:*/L1LossV*:*/L1LossI*:*ReducedL1Loss*:L1LossN*:L1LossS*",
    "l1_loss_backward": "*/L1LossBackward*:L1LossBackward*",
    "mse_loss": "*MseLossNumerics*:*MseLossSums*:*MseLossValues*",
    "mse_loss_backward": "*MseLossBackward*",
    "mse_loss_out": "*MseLossOut*",
    "smooth_l1_loss": "*SmoothL1LossNumerics*:*SmoothL1LossSums*:*SmoothL1LossValues*",
    "smooth_l1_loss_backward": "*SmoothL1LossBackward*",
    "cast": "*Cast*",
    "copy": "*InplaceCopy*",
    "fill_scalar": "*InplaceFillScalar*",
    "fill_tensor": "*InplaceFillTensor*",
    "one": "*FillValue*",
    "zero": "*FillValue*",
}
# Those that are no part of what every operator has, of what phase 1 answers.
MORE_ANSWERS = {"kl_div_backward": ":KlDivBackwardWorkspace*", "cast": ":*MoveDtypes.OfCast*", "fill_scalar": ":*MoveDtypes.OfValues*"}
MOVED = ("cast", "copy", "fill_scalar", "fill_tensor", "one", "zero")


def numbers(name):
    family = "move" if name in MOVED else next(one for one in ("kl_div", "l1_loss", "mse_loss") if one in name)
    return f"{family}_numbers:{SUITES[name]}"


def answers(name):
    function = "".join(word.capitalize() for word in name.split("_"))
    function = f"aclnn{'Inplace' if name in MOVED and name != 'cast' else ''}{function}"
    return f"{'move' if name in MOVED else 'loss'}_answers:*{function}*{MORE_ANSWERS.get(name, '')}"


def operator(name, family="loss"):
    return mutants_of(f"src/aclnnop/{family}/{name}.cc", (numbers(name), answers(name)))


# ---- The three gradients ------------------------------------------------------------------------

add = operator("l1_loss_backward")
add("l1-backward: equal counts as above", "hn::Gt(self, target), hn::Set(d, 1.0f)", "hn::Ge(self, target), hn::Set(d, 1.0f)")
add("l1-backward: the zero is negative", "hn::Set(d, -1.0f), zero));", "hn::Set(d, -1.0f), hn::Neg(zero)));")
add("l1-backward: zero times anything is zero", "return hn::Mul(s, hn::Mul(gradOutput, hn::Set(d, c)));",
    "return hn::IfThenElseZero(hn::Not(hn::Eq(s, zero)), hn::Mul(s, hn::Mul(gradOutput, hn::Set(d, c))));")
add("l1-backward: mean counts self", "ReductionFactor(given.reduction, checked.broadcast)", "ReductionFactor(given.reduction, given.self->shape)")
add("l1-backward: reduction 3 is accepted", "IntegerIn(kReduction, 0, 2)", "IntegerIn(kReduction, 0, 3)",
    [answers("l1_loss_backward")])
add("l1-backward: promoted type before castable", "PromotedCastsTo(kGradInput),\n    PromotedIn(kBf16SinceAtlasA2, {kGradOutput, kSelf, kTarget}),",
    "PromotedIn(kBf16SinceAtlasA2, {kGradOutput, kSelf, kTarget}),\n    PromotedCastsTo(kGradInput),",
    [answers("l1_loss_backward")])
add("l1-backward: gradInput of any rank", "RankAtMost(8, {kSelf, kTarget, kGradOutput, kGradInput})",
    "RankAtMost(8, {kSelf, kTarget, kGradOutput})", [answers("l1_loss_backward")])
add("l1-backward: an empty gradOutput is not the end", "DoneIfEmpty({kSelf, kGradOutput, kTarget})",
    "DoneIfEmpty({kSelf, kTarget})", [answers("l1_loss_backward")])
add("l1-backward: target may leave its storage", "InsideStorage({kGradOutput, kSelf, kTarget})",
    "InsideStorage({kGradOutput, kSelf})", [answers("l1_loss_backward")])

add = operator("smooth_l1_loss_backward")
add("smooth-backward: the boundary is inside", "const auto outside = hn::Ge(", "const auto outside = hn::Gt(")
add("smooth-backward: times 1 / beta", "hn::Div(difference, hn::Set(d, beta))",
    "hn::Mul(difference, hn::Div(hn::Set(d, 1.0f), hn::Set(d, beta)))")
add("smooth-backward: another order of products", "hn::Mul(hn::Mul(factor, gradOut), hn::Set(d, c))",
    "hn::Mul(factor, hn::Mul(gradOut, hn::Set(d, c)))")
add("smooth-backward: mean counts what is broadcast", "ReductionFactor(given.reduction, given.self->shape)", "ReductionFactor(given.reduction, checked.broadcast)")
add("smooth-backward: beta before reduction", "    IntegerIn(kReduction, kReductionNone, kReductionSum),\n    NotNegative(kBeta),\n",
    "    NotNegative(kBeta),\n    IntegerIn(kReduction, kReductionNone, kReductionSum),\n", [answers("smooth_l1_loss_backward")])
add("smooth-backward: any beta", "    NotNegative(kBeta),\n", "", [answers("smooth_l1_loss_backward")])
add("smooth-backward: gradInput's rank by itself", "RankAtMost(8, {kGradOut, kSelf, kTarget})",
    "RankAtMost(8, {kGradOut, kSelf, kTarget, kGradInput})", [answers("smooth_l1_loss_backward")])

add = operator("kl_div_backward")
add("kl-backward: without its sign", "hn::Set(d, -c)", "hn::Set(d, c)")
add("kl-backward: zero minus it", "hn::Mul(hn::Mul(weight, gradOutput), hn::Set(d, -c))",
    "hn::Sub(hn::Zero(d), hn::Mul(hn::Mul(weight, gradOutput), hn::Set(d, c)))")
add("kl-backward: negative targets are masked", "V weight = target;", "V weight = hn::Max(target, hn::Zero(d));")
add("kl-backward: repeated targets with another function",
    "  HWY_INLINE V operator()(D d, V target) const {\n    return engine::HWY_NAMESPACE::Exp(d, target);\n",
    "  HWY_INLINE V operator()(D, V target) const {\n    return target;\n", ["repeated_inputs"])
add("kl-backward: c counts self", "ReductionFactor(given.reduction, checked.broadcast)", "ReductionFactor(given.reduction, given.self->shape)")
add("kl-backward: a longer shape is no sum", "checked.broadcast == given.self->shape ? nullptr",
    "NumelOf(checked.broadcast) == NumelOf(given.self->shape) ? nullptr")
add("kl-backward: any formats", "    FormatKept(kSelf, kOut),\n", "", [answers("kl_div_backward")])
add("kl-backward: 200I has types", "/* Atlas inference   */ kFloatAndHalf,\n    /* Atlas 200I/500 A2 */ kNoDtype",
    "/* Atlas inference   */ kFloatAndHalf,\n    /* Atlas 200I/500 A2 */ kFloatAndHalf", [answers("kl_div_backward")])
add("kl-backward: an empty target is the end", "DoneIfEmpty({kSelf})", "DoneIfEmpty({kSelf, kTarget})")
add("kl-backward: no cast check", "    CastsTo(kSelf, kOut),\n", "", [answers("kl_div_backward")])
add("kl-backward: inputs change places", "SetJob(checked, kept, {kGradOutput, kTarget}, kOut",
    "SetJob(checked, kept, {kTarget, kGradOutput}, kOut")
add("kl-backward: gradOutput may enlarge", "    ExpandsToBroadcast(kGradOutput),\n", "", [answers("kl_div_backward")])

# ---- The contract -------------------------------------------------------------------------------

add = mutants_of("src/contract/operand_checks.cc", (answers("l1_loss_backward"), answers("kl_div_backward")))
add("checks: one element behind the storage", "lowest >= 0 && highest < size", "lowest >= 0 && highest <= size")
add("checks: one element before the storage", "tensor.storage.Numel(&size) && lowest >= 0", "tensor.storage.Numel(&size) && lowest >= -1")
add("checks: NaN is not negative", "if (attribute.real >= 0.0f) return ACL_SUCCESS;",
    "if (!(attribute.real < 0.0f)) return ACL_SUCCESS;",
    [answers("smooth_l1_loss_backward"), answers("smooth_l1_loss")])
add = mutants_of("src/contract/dtype_checks.cc", (answers("l1_loss_backward"), answers("kl_div_backward")))
add("checks: the third type comes second", ": PromoteType(call.Tensor(tensor).dtype, before);",
    ": PromoteType(before, call.Tensor(tensor).dtype);")
add = mutants_of("src/contract/operand_checks.cc", (answers("l1_loss_backward"), answers("kl_div_backward")))
add("checks: go on after the end", "    if (call.work != OperatorCall::Work::kCompute) break;\n", "")
add("checks: sizes of outputs alone", "tensor.numel > 0 && (IsContiguous(tensor) || is_output(index));",
    "tensor.numel > 0 && is_output(index);")
add("checks: a format is kept where self is broadcast", "|| !(input.shape == call.broadcast)) {", ") {",
    [answers("kl_div_backward")])

add = mutants_of("src/contract/promotion.cc", (answers("l1_loss_backward"),))
add("promotion: new types are undefined", "if (high >= kTabulated) return ACL_FLOAT;",
    "if (high >= kTabulated) return ACL_DT_UNDEFINED;")
add("promotion: bf16 and f16 give bf16", "{kF32,  kF32,  kF64,  kBf,   kBf,", "{kF32,  kBf,  kF64,  kBf,   kBf,")
add("promotion: anything casts to bool", "if (from != ACL_BOOL && to == ACL_BOOL) return false;", "")

add = mutants_of("src/contract/broadcast.cc", (answers("l1_loss_backward"), numbers("l1_loss_backward")))
add("broadcast: 1 and 0 give 1", "x == 1 ? y : x", "std::max(x, y)")

add = mutants_of("src/aclnn/tensor.cc", ("meta_objects", answers("l1_loss_backward")))
add("tensor: aclInitTensor keeps the offset", "  tensor->offset = offset;\n  tensor->dtype = dataType;\n  tensor->format = format;\n  tensor->Describe();\n  return ACL_SUCCESS;",
    "  tensor->offset += 0 * offset;\n  tensor->dtype = dataType;\n  tensor->format = format;\n  tensor->Describe();\n  return ACL_SUCCESS;")
add("tensor: aclInitTensor leaves what was known", "  tensor->format = format;\n  tensor->Describe();\n  return ACL_SUCCESS;",
    "  tensor->format = format;\n  return ACL_SUCCESS;")
add("tensor: a private format is read by strides", "  is_dense = IsPrivateFormat(format);\n", "  is_dense = false;\n", ("views",))

add = mutants_of("src/plan/strided_view.cc", ("meta_objects", answers("l1_loss_backward")))
add("view: strides of axes of length 1 count", "    if (view.shape[i] == 1) continue;\n", "")
add("view: any strides are row-major", "    if (view.strides[i] != expected) return false;\n", "")
add("view: a dense one is read by its strides", "contiguous = is_dense || (", "contiguous = (", ("views",))

# ---- Plans --------------------------------------------------------------------------------------

add = mutants_of("src/plan/loop_plan.cc", ("loop_plan", numbers("l1_loss_backward")))
add("plan: everything merges", "    if (stride[outer] != continued) return false;\n", "    (void)outer;\n")
add("plan: flipped one element too far", "operand.stride[axis] * (plan.extent[axis] - 1);", "operand.stride[axis] * plan.extent[axis];")
add("plan: the longest stride inside", "return a < b;", "return a > b;")
add("plan: linear without looking", "&step) && operand.stride[axis] == step;", "&step);")
add("plan: repeated bytes count", "operand[k].stride[axis] != 0 && ", "")
add("plan: a broadcast axis walks", "const bool walks = own >= 0 && tensor.shape[own] != 1 && !is_empty;", "const bool walks = own >= 0 && !is_empty;",
    ["loop_plan", numbers("l1_loss_backward")])

SUMS = (numbers("kl_div_backward"), numbers("mse_loss_out"))
add = mutants_of("src/plan/reduction_plan.cc", ("reduction_plan", *SUMS))
add("sum plan: chunks that are no power of two", "plan.chunk_blocks *= 2;", "plan.chunk_blocks += 3;",
    ["kl_div_numbers:*KlDivBackward*PromisedOrder*"])  # the test of plans would go up to 2^63 in threes
add("sum plan: axes of length 1 are reduced", "return terms_shape[axis] != 1 && (axis", "return (axis")
add("sum plan: a workspace without bound", "std::min(kMaxChunks, kMaxPartials / plan.outputs())", "kMaxChunks")
add("sum plan: blocks lose their rest", "plan.blocks = QuotientUp(plan.reduced, block);", "plan.blocks = plan.reduced / block;")

add = mutants_of("src/plan/reduction_plan.h", SUMS)
add("sum plan: longer blocks of rows", "kRowBlock = 256", "kRowBlock = 512")

# ---- Sums ---------------------------------------------------------------------------------------

add = mutants_of("src/engine/reduction/sum_store.cc", SUMS)
add("sums: halves round up", "rest == half && (kept & 1) != 0", "rest == half")
add("sums: two roundings to 16 bits", "RoundTo16<kExponentBits, kFractionBits>(source[i])",
    "RoundTo16<kExponentBits, kFractionBits>(static_cast<double>(static_cast<float>(source[i])))")
add("sums: the smallest subnormal is lost", "if (below > kFractionBits + 1) return sign;", "if (below > kFractionBits) return sign;")
add = mutants_of("src/engine/reduction/reduction_run.cc", SUMS)
add("sums: the factor in float32", "results[i] = sums[done + i] * job_.factor;",
    "results[i] = static_cast<double>(static_cast<float>(sums[done + i]) * static_cast<float>(job_.factor));",
    [numbers("mse_loss"), numbers("l1_loss")])
add("sums: the last zero is not stored", "Store(first, zeros, std::min(kSumsAtOnce, plan_.outputs() - first));",
    "Store(first, zeros, std::min(kSumsAtOnce, plan_.outputs() - first - 1));")
add = mutants_of("src/engine/reduction/sums_by_row.cc", SUMS)
add("sums: a block of rows starts where the last one ended", "    std::fill_n(sums, columns, 0.0);\n", "    if (r == 0) std::fill_n(sums, columns, 0.0);\n")
add("sums: a stripe is stored where the row starts", "const int64_t output = outer * plan_.inner + stripe.column + done;",
    "const int64_t output = outer * plan_.inner + done;")

add = mutants_of("src/engine/reduction/sum_loop-inl.h", SUMS)
add("sums: even and odd places change", "paired.Add(pair, terms.Even(at_pair), terms.Odd(at_pair));", "paired.Add(pair, terms.Odd(at_pair), terms.Even(at_pair));", ["sum_kernels"])
add("sums: both halves of a vector go to the same lanes", "even_[(2 * pair + 1) % kVectors]", "even_[2 * pair % kVectors]", ["sum_kernels"])
add("sums: neighbouring lanes first", "sum_[i] = hn::Add(sum_[i], sum_[i + count]);", "sum_[i] = hn::Add(sum_[2 * i], sum_[2 * i + 1]);")
add("sums: lanes start at -0", "for (VD& sum : sum_) sum = hn::Zero(DD());", "for (VD& sum : sum_) sum = hn::Neg(hn::Zero(DD()));")

# ---- Kernels, tiles, conversions ----------------------------------------------------------------

add = mutants_of("src/engine/conversions.cc", ("conversions", numbers("l1_loss_backward")))
add("conversions: integers' halves round up", "rest == half && (kept & 1) != 0", "rest == half")
add("conversions: f16 integers do not overflow", "rounded > 65504.0f ? kInfinity", "rounded > 131008.0f ? kInfinity")
add("conversions: bool is its byte", "destination[i] = value.byte != 0 ? 1.0f : 0.0f;", "destination[i] = static_cast<float>(value.byte);")
add("conversions: streaming starts within a line", "for (const size_t head = ElementsToLine(to, sizeof(Type), n); i < head;) {", "for (const size_t head = 0; i < head;) {")
add("conversions: a tail as long as a vector", "std::memcpy(destination + i, values, (n - i) * sizeof(float));",
    "std::memcpy(destination + i, values, lanes * sizeof(float));")
add("conversions: complex numbers have two parts alike", "const Real parts[2] = {static_cast<Real>(source[i]), Real{0}};",
    "const Real parts[2] = {static_cast<Real>(source[i]), static_cast<Real>(source[i])};", ["conversions", numbers("l1_loss_backward")])

add = mutants_of("src/engine/map/formula.h", (numbers("l1_loss_backward"),))
add("formula: every kernel takes 16-bit types", "    if ((takes & k16BitFloats) == 0) return {ElementType::kF32};\n", "",
    seen_by=["src/engine/"])

add = mutants_of("src/engine/half_precision-inl.h", ("conversions",), seen_by=("src/engine/conversions.cc", "tests/"))
add("half: bf16 rounds up from half", "hn::Add(odd, hn::Set(du, 0x7FFFu))", "hn::Set(du, 0x8000u)")
add("half: NaN becomes infinite", "rounded, hn::Set(du, 0x7FC00000u)", "rounded, hn::Set(du, 0x7F800000u)")

add = mutants_of("src/engine/map/vector_loop-inl.h", (numbers("l1_loss_backward"),),
                 seen_by=("src/aclnnop/loss/l1_loss_backward.cc", "src/engine/", "tests/"))
add("vector loop: one element is no tail", "if (i < n) Some(i, n - i);", "if (i + 1 < n) Some(i, n - i);")
add("vector loop: one element too many", "std::memcpy(to_, elements[kInputs], count * out_size);",
    "std::memcpy(to_, elements[kInputs], (count + 1) * out_size);")
add = mutants_of("src/engine/map/vector_access-inl.h", (numbers("l1_loss_backward"),),
                 seen_by=("src/aclnnop/loss/l1_loss_backward.cc", "src/engine/", "tests/"))
add("vector loop: repeated values are walked", "return offset & walks_[k];", "return offset;")
add("vector loop: a gradient's one value is walked", "return kFirstIsRepeated && k == 0 ? 0 : offset;", "return offset;")
add = mutants_of("src/engine/map/vector_loop-inl.h", (numbers("l1_loss_backward"),),
                 seen_by=("src/aclnnop/loss/l1_loss_backward.cc", "src/engine/", "tests/"))
add("vector loop: the second input is the one value", "if (repeated == 1)", "if (repeated == 2)")
add("vector loop: every row is the first", "(in[kInput] = static_cast<const char*>(in[kInput]) + work.row_stride[kInput])", "(in[kInput] = work.in[kInput])")
add("vector loop: every row's results go to the first", "    out = static_cast<char*>(out) + work.row_stride[sizeof...(kInput)];\n", "")
add = mutants_of("src/engine/map/vector_access-inl.h", (numbers("l1_loss_backward"),),
                 seen_by=("src/aclnnop/loss/l1_loss_backward.cc", "src/engine/", "tests/"))
add("vector loop: mixed halves are all bf16", "(type.f16 >> k & 1) != 0", "(type.f16 >> k & 1) > 1")
add = mutants_of("src/engine/map/vector_loop-inl.h", (numbers("l1_loss_backward"),),
                 seen_by=("src/aclnnop/loss/l1_loss_backward.cc", "src/engine/", "tests/"))
add("vector loop: streaming starts within a line", "head = stream ? ElementsToLine(to_, out_size, n) : 0; i < head;", "head = 0; i < head;", ["streaming"])

add = mutants_of("src/engine/map/vector_access-inl.h", (numbers("l1_loss_backward"),),
                 seen_by=("src/aclnnop/loss/l1_loss_backward.cc", "src/engine/", "tests/"))
add("vector loop: every mixed element has 32 bits", "return step_[k] != 0 ? step_[k] : sizeof(float);", "return sizeof(float);", ["sum_kernels"])

KL = (numbers("kl_div_backward"), numbers("kl_div"))
OF_KL = ("src/aclnnop/loss/kl_div", "src/engine/", "tests/")
add = mutants_of("src/engine/map/vector_loop-inl.h", KL, seen_by=OF_KL)
add("unrolled: values change places", "value.part[0]);", "value.part[1]);")
add("unrolled: results change places", "value.part[3]);\n      StorePair(v2, v3,", "value.part[3]);\n      StorePair(v3, v2,")
add("unrolled: pairs change places", "StoreEvenOdd(D(), first, second, to, stream);", "StoreEvenOdd(D(), second, first, to, stream);")
add = mutants_of("src/engine/unrolled-inl.h", KL, seen_by=OF_KL)
add("unrolled: the last place is the third", "f(operands.part[3]...)", "f(operands.part[2]...)")

add = mutants_of("src/engine/map/vector_access-inl.h", ("every_second",), kernels="avx512",
                 seen_by=("src/aclnnop/loss/", "src/engine/", "tests/"))
add("every second: what lies behind the last is read", "static constexpr size_t kReadBeyond = 1;", "static constexpr size_t kReadBeyond = 0;")
add = mutants_of("src/engine/map/vector_loop-inl.h", ("every_second",), kernels="avx512",
                 seen_by=("src/aclnnop/loss/", "src/engine/", "tests/"))
add("every second: what lies behind the last is written", "elements[kInputs] + j * out_size, out_size / 2);", "elements[kInputs] + j * out_size, out_size);")
add = mutants_of("src/engine/map/vector_access-inl.h", ("every_second",), kernels="avx512",
                 seen_by=("src/aclnnop/loss/", "src/engine/", "tests/"))
add("every second: what lies between is written", "hn::Ne(lower, hn::Zero(d))", "hn::Eq(lower, lower)")
add("every second: repeated values are walked", "return (2 * i * sizeof(Type)) & walks_[k];", "return 2 * i * sizeof(Type);")
add("every second: f16 is bf16", "std::is_same_v<Elements, Bf16Elements>", "sizeof(Type) == 2")
add = mutants_of("src/engine/map/elementwise.cc", ("every_second",), kernels="avx512")
add("every second: of the output alone", "} else if (RowStride(k) != static_cast<int64_t>(step_[k]) ||", "} else if ((!every_second && RowStride(k) != static_cast<int64_t>(step_[k])) ||",
    [numbers("l1_loss_backward")])

add = mutants_of("src/engine/functions/exp-inl.h", ("exp", numbers("kl_div_backward")), seen_by=OF_KL)
add("exp: underflow too late", "hn::Set(d, -104.0f)", "hn::Set(d, -103.0f)")
add("exp: the lost part is lost", "Add(Mul(Mul(r, r), q), lost)", "Mul(Mul(r, r), q)")
add("exp: NaN is 2^n", "return hn::IfThenElse(hn::Eq(x, x), result, x);", "return result;")

add = mutants_of("src/engine/map/precompute.cc", ("repeated_inputs",))
add("hoisted: the value is of the input's type", "  formula.type[value] = ElementType::kF32;\n", "")
add("hoisted: the output stays where it was", "      plan.operand[k] = plan.operand[k - 1];\n", "")
add = mutants_of("src/engine/reduction/reduction_run.cc", ("repeated_inputs",))
add("hoisted: rows as far apart as the input's", "      rest.plan.regular = false;  // its strides are the input's\n", "")
add = mutants_of("src/plan/loop_plan.cc", ("repeated_inputs",))
add("hoisted: distinct elements walk where they are repeated", "walk.stride[axis] = repeated ? 0 : step;", "walk.stride[axis] = step;")

WITHOUT_MEMORY = ["process_out_of_memory"]
add = mutants_of("src/engine/map/precompute.cc", WITHOUT_MEMORY)
add("hoisted: memory is always there", "  if (memory == nullptr) return false;\n", "")
add = mutants_of("src/engine/reduction/sums_by_row.cc", WITHOUT_MEMORY)
add("sums: memory for columns is always there", "SumStripeOnStack(stripe_of_rows);", "SumStripe(stripe_of_rows, columns, nullptr);")
add("sums: more columns than the stack holds", "SumStripe(stripe, kColumnsOnStack, sums);", "SumStripe(stripe, stripe.columns, sums);")
add("sums: the rest of a stripe begins with it", "SumRows(tiles, outer, row, rows, stripe.column + done, n, sums);",
    "SumRows(tiles, outer, row, rows, stripe.column, n, sums);")
add = mutants_of("src/engine/reduction/sums_across.cc", WITHOUT_MEMORY)
add("sums: more rows of columns than the stack holds", "SumColumnsAcross(columns, kRowsAcrossOnStack, written);",
    "SumColumnsAcross(columns, kRowBlock, written);", ["process_stack"])
add("sums: memory for lanes is always there", "  if (lanes == nullptr) {\n", "  if (false) {\n")
add = mutants_of("src/engine/map/elementwise.cc", ["process_stack"])
add("blocks: more rows than the stack holds", "block.rows = kRowsOnStack * rows_ / kMostRows;", "block.rows = rows_;")
add("blocks: memory is always there", "RunStripOnStack(job, block);\n    }", "block.rows = rows_;\n      block.copies = nullptr;\n      RunStrip(job, block);\n    }")
add = mutants_of("src/engine/map/transposed_rows.cc", WITHOUT_MEMORY)
add("bands: memory is always there", "  if (memory == nullptr) return;\n", "")

add = mutants_of("src/engine/map/transposed_rows.h", ("transposed_layouts",))
add("bands: columns from the row's beginning", "(column - column_) * size_", "column * size_")
add("bands: one row more than there is", "row - first_ >= rows_ * size_", "row - first_ > rows_ * size_")

add = mutants_of("src/engine/map/transposed_rows.cc", ("transposed_layouts",))
add("bands: stripes begin with the row", "TransposeIn(row + column_ * stride_,", "TransposeIn(row,")

add = mutants_of("src/engine/reduction/sums_across.cc", ("transposed_layouts",))
add("across: each lane lacks its last column", "AddRowsInPlace(tiles, columns, kLaneBlock / kLaneCount, rows,", "AddRowsInPlace(tiles, columns, kLaneBlock / kLaneCount - 1, rows,")
add("across: rows of the chunk's last block are left out", "const int64_t end = row_from(block + count);", "const int64_t end = (block + count) / in_row;")
add("across: a stretch ends with its rows", "if (++in_tile < length / kLaneBlock &&", "if (++in_tile < length / kLaneBlock / in_row &&")
add("across: rows need not be whole blocks", "plan_.terms.extent[plan_.terms.rank - 1] % kLaneBlock != 0)", "plan_.terms.extent[plan_.terms.rank - 1] < kLaneBlock)")
add("across: repeated inputs walk", "columns.row_stride[k] = step * stride[terms.rank - 1];", "columns.row_stride[k] = step * terms.operand[0].stride[terms.rank - 1];")
add("across: columns' chunks end with what is written", "if (row < end && row % rows_of_chunk != 0) continue;", "if (row < end && row % kRowBlock != 0) continue;")
add = mutants_of("src/engine/reduction/term_sums.cc", ("transposed_layouts",))
add("across: rows' last terms are left out", "AddAcrossOneByOne(terms + r, pitch, rows - r, sums);", "")
add("across: two rows of four change places", "row[1].term[i] = hn::InterleaveUpper(d, odd_low, even_low);", "row[1].term[i] = hn::InterleaveLower(d, odd_high, even_high);")

add = mutants_of("src/engine/map/tiles.h", (numbers("l1_loss_backward"), numbers("kl_div_backward")))
add("tiles: rows are skipped and not counted", "      index_[axis] += rows - 1;\n", "")
add("tiles: a wrap goes back too little", "(wraps ? 1 - plan_->extent[axis] : 1)", "(wraps ? 2 - plan_->extent[axis] : 1)")

add = mutants_of("src/engine/map/tiles.cc", (numbers("l1_loss_backward"), "properties"))
add("tiles: rows are dense past their end", "if (n <= cursor.left_in_row() && loop.stride", "if (loop.stride")
add("tiles: bands of rows that the next matrix has", "std::min(rows, cursor.left_rows())", "rows", ["transposed_layouts:*ReadNothing*"])
add("tiles: one value is not repeated far enough", "std::fill_n(static_cast<Bits*>(to), bytes / sizeof bits, bits);", "std::fill_n(static_cast<Bits*>(to), 1, bits);")

add = mutants_of("src/engine/map/elementwise.cc", (numbers("l1_loss_backward"), "process_float_environment"))
add("elementwise: the last block is whole", "std::min(plan.count, begin + kBlock);", "begin + kBlock;")
add("elementwise: any order of elements is in place", "if (operand.stride[0] != operand.element_size) return false;", "if (operand.stride[0] == 0) return false;")
add("elementwise: rows that have gaps are in place", "} else if (RowStride(k) != static_cast<int64_t>(step_[k]) ||", "} else if (RowStride(k) == 0 ||")
add("elementwise: rows of any type are in place", "(k < output && !Takes(kernel_.elements, job.formula.type[k]))", "false")
add("elementwise: rows that the next matrix has", "cursor.left_rows(), most_rows});", "most_rows});")
add("elementwise: more rows than values that are repeated", "        most_rows = std::min(most_rows, static_cast<int64_t>(sizeof repeated[k]) / repeated_bytes);\n", "")
add("elementwise: one value for all rows", "} else if (!IsOneValue(k)) {", "} else if (false) {", [numbers("l1_loss_backward"), "mse_loss_numbers:*LossGradients*"])
add("elementwise: in the caller's float environment", "  const DefaultFloatEnvironment environment;\n", "", ["process_float_environment", numbers("l1_loss_backward")])

add = mutants_of("src/engine/parallel.cc", ("parallel", numbers("l1_loss_backward")))
add("parallel: the first block is skipped", "for (int64_t block = 0; block < blocks; ++block) body", "for (int64_t block = 1; block < blocks; ++block) body")
add("parallel: a share ends one block early", "if (block < from.end) body(context, block);", "if (block + 1 < from.end) body(context, block);")
add("parallel: shares overlap", "      thread_block[i].end = begin;\n", "      thread_block[i].end = begin + (i + 1 < thread_blocks ? 1 : 0);\n")
add("parallel: nobody waits for helpers", "  while (loop.helpers > 0) loop.left.wait(lock);\n", "")
add("parallel: a helper that has slept stays off a processor", "    self.is_asleep = false;\n    self.processors.AllowAll();\n", "    self.is_asleep = false;\n")
add("parallel: nobody counts free processors", "helpers = NoticeForks() && !IsForkedChild() ? std::min(helpers, UsefulHelpers(threads)) : 0;", "helpers = NoticeForks() && !IsForkedChild() ? helpers : 0;", reason="helpers that find no processor change the time that a loop takes, nothing else")
add = mutants_of("src/engine/free_processors.h", ("parallel",))
add("parallel: no more threads than free processors", "if (threads > processors_.load(std::memory_order_relaxed)) return wanted;", "if (processors_.load(std::memory_order_relaxed) == 0) return wanted;")
add("parallel: all processors are free", "return std::min<int64_t>(wanted, free_.load(std::memory_order_relaxed));", "return wanted;")
add("parallel: processors are counted twice in a row", "if (!IsToBeCounted(now)) return;", "if (now == last_) return;")
add("parallel: what is long ago counts", "if (processors > 0 && passed < kForgotten)", "if (processors > 0)")
add("parallel: free processors are rounded down", "(left + passed / 2) / passed", "left / passed")

# ---- Phases and the runtime ---------------------------------------------------------------------

add = mutants_of("src/aclnnop/phase1.cc", (answers("kl_div_backward"), "executors"))
add("phase 1: a null executor is followed", "if (workspaceSize == nullptr || executor == nullptr) {", "if (workspaceSize == nullptr) {")
add("phase 1: a failure keeps the executor", "  if (status != ACL_SUCCESS) {\n    ReleaseExecutor(fresh);\n", "  if (status != ACL_SUCCESS) {\n",
    ["runtime_faults", "executors"])

add = mutants_of("src/aclnnop/phase1.h", ("l1_loss_numbers:*/L1LossBackward*CallersFloatingPointEnvironment*",))
add("phase 1: in the caller's float environment", "  const DefaultFloatEnvironment environment;\n", "")
add("phase 1: c in float32", "static_cast<float>(1.0 / static_cast<double>(n))", "1.0f / static_cast<float>(n)",
    [numbers("mse_loss"), numbers("l1_loss")])
add("phase 1: batches are the last axis", "shape.rank == 0 ? 1 : shape[0]", "shape.rank == 0 ? 1 : shape[shape.rank - 1]",
    [numbers("kl_div_backward"), numbers("kl_div")])

add = mutants_of("src/aclnn/phase2.cc", ("executors", answers("kl_div_backward")))
add("phase 2: a workspace that is a little too small", "if (workspace_size < executor.workspace_size) {", "if (workspace_size + 1 < executor.workspace_size) {")
add("phase 2: any operator's executor", "if (std::strcmp(executor.api, api) != 0) {", "if (executor.api == nullptr) {")
add("phase 2: a null address is followed", "if (executor.touched[i] && executor.addresses[i] == nullptr) {",
    "if (executor.touched[i] && executor.addresses[i] == nullptr && i > 3) {")
add("phase 2: a failure keeps the executor", "  if (to_run != found && !repeatable) ReleaseExecutor(found);\n", "", ["runtime_faults", "executors"])

add = mutants_of("src/aclnn/operand_addresses.cc", ("executors", answers("kl_div_backward")))
add("addresses: outputs are counted behind the inputs", "if (counted != Counted::kOutputs) add(/*inputs=*/true);", "add(/*inputs=*/true);")
add("addresses: one index too many", "if (rest < operands) {", "if (rest <= operands) {")
add("addresses: tensors count in the call's order", "if (order.count == 0) order = OrderOfCall(executor);", "order = OrderOfCall(executor);",
    ["flash_attention:*AddressesSetAnew*"])

add = mutants_of("src/acl/queue/stream.cc", ("runtime_streams", "executors"))
add("stream: small work overtakes", "if (state_ == State::kIdle && may_run_here &&", "if (state_ != State::kRunning && may_run_here &&")
add("stream: the last failure counts", "  if (failure_.status != ACL_SUCCESS) return;\n", "")
add("stream: synchronising waits for one task less", "if (!WaitLocked(lock, mark, deadline)) return false;", "if (mark > 0 && !WaitLocked(lock, mark - 1, deadline)) return false;")

add("stream: quiet although something failed", "is_quiescent_.store(failure_.status == ACL_SUCCESS, std::memory_order_release);",
    "is_quiescent_.store(true, std::memory_order_release);", ["runtime_services", "runtime_streams"])
add("stream: quiet although work is queued", "  is_quiescent_.store(false, std::memory_order_relaxed);\n  task->next_", "  task->next_")
add("stream: who waits goes on with what comes later", "limit == RunLimit::kOneTask || done_ >= mark ||", "limit == RunLimit::kOneTask ||",
    ["runtime_streams:StreamTest.ASynchronisationEndsAtItsMark", "runtime_stress:StressTest.AFeeder*"])
add("stream: a device's marks are taken one by one", "noted[i].stream->Synchronize(noted[i].handle, noted[i].mark, deadline, failure);",
    "noted[i].stream->Synchronize(noted[i].handle, deadline, failure);", ["runtime_streams:StreamTest.SynchronizeDevice*"])
add("stream: any handle may submit", "  if (handle_ != handle) submission = Submission::kGone;\n", "", ["runtime_streams:StreamTest.AHandle*"])
add("stream: takes work while it is closed", "  std::unique_lock lock(mutex_);\n  handle_ = nullptr;\n", "  std::unique_lock lock(mutex_);\n",
    ["runtime_streams:StreamTest.AHandle*"])
add("stream: what is refused is kept", "    task->Finish(nobody);\n", "", ["runtime_streams:StreamTest.AHandle*"])
add("stream: host functions wait for room", "return !HostFunctionScope::IsInside() && !IsSubscribed();", "return !IsSubscribed();",
    ["runtime_streams:StreamTest.AHostFunctionNeedsNoRoom"])
add("stream: who processes callbacks waits for room", "return !HostFunctionScope::IsInside() && !IsSubscribed();", "return !HostFunctionScope::IsInside();",
    ["runtime_streams:CallbackTest.NeedsNoRoomInAStream*"])
add("stream: a copy in a host function is not done at return", "    if (wait == Wait::kUntilDone) submission = Submission::kWaitsForSelf;\n", "",
    ["runtime_streams:StreamTest.AHostFunctionDoesNotWaitForItself"])
add("stream: a forked child goes on with its parent's task", "    if (current_ != task) return;\n", "", ["runtime_fork:ForkTest.InAHostFunction"])
add("stream: any task's end resumes", "  if (current_ == task) ResumeLocked(lock);\n", "  if (task != nullptr) ResumeLocked(lock);\n",
    ["runtime_fork:ForkTest.InABlockingCallback"])
add("stream: a reset does not wait for who destroys", "  streams.ForEachSlot([context](Stream& stream) { stream.AwaitClosed(context); });\n", "",
    ["runtime_streams:ContextTest.AResetWaits*"])

add = mutants_of("src/acl/queue/workers.cc", ("runtime_fork",))
add("workers: a forked child keeps a worker's signals", "  if (is_worker) pthread_sigmask(SIG_SETMASK, &signals, nullptr);\n", "",
    ["runtime_fork:ForkTest.SignalsReach*"])
add("workers: a forked child stays a worker", "      if (!is_worker) return;\n", "", ["runtime_fork:ForkTest.InAHostFunction"])

add = mutants_of("src/acl/settings/init_state.cc", ("runtime_fork",))
add("init: a forked child never ends", "state.ends = state.ends && pthread_equal(state.ending, pthread_self()) != 0;", "(void)state;",
    ["runtime_fork:ForkInInitTest.While*"])

add = mutants_of("src/acl/device/device.cc", ("runtime_streams",))
add("device: a context ends while a stream is made in it", "return std::unique_lock<std::mutex>(AllDevices().mutex);",
    "return std::unique_lock<std::mutex>(AllDevices().mutex, std::defer_lock);", ["runtime_streams:ContextTest.AContextThatIsKept*"])

add = mutants_of("src/base/float_environment.h", ("process_float_environment", numbers("l1_loss_backward")))
add("float environment: only traps matter", "if ((saved_ & ~kFlags) != kDefault)", "if ((saved_ & 0x1F80) != kDefault)")
add("float environment: what was raised stays", "if (_mm_getcsr() != saved_) _mm_setcsr(saved_);", "if ((_mm_getcsr() & ~kFlags) != (saved_ & ~kFlags)) _mm_setcsr(saved_);")

add = mutants_of("src/base/process/thread_end.cc", ("process_thread_end",))
add("thread end: frees nothing", "[](void*) { TheList().DeleteOfThread(); }", "[](void*) {}")
add("thread end: nobody looks who is gone", "if (count_ >= most_) gone =", "if (count_ > 1000000) gone =")
add("thread end: what is freed is still found", "      *kept->slot_ = nullptr;\n", "")
add("thread end: after a fork everybody is gone", "kept->thread_ = IsMine(kept) ? thread : 0;", "kept->thread_ = thread > 0 ? 0 : thread;")

add = mutants_of("src/base/process/thread_start.cc", ("process_small_stack",))
add("thread start: the program's stack will do", "stack < kLeastStack", "stack == 0")

add = mutants_of("src/base/process/cancellation.h", ("process_cancellation",))
add("cancellation: not deferred", "pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);", "pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before_);")

add = mutants_of("src/acl/stream/callback.cc", ("process_cancellation",))
add("callback: the end of a thread is no failure", "    } catch (const ThreadUnwinding&) {\n      stream.NoteFailure(kEndedItsThread);\n", "    } catch (const ThreadUnwinding&) {\n")
add("callback: a thread that ends leaves its stream waiting", "    end(&kEndedItsThread);\n", "")

add = mutants_of("src/acl/queue/workers.cc", ("process_thread_creation:ThreadCreationOfWorkers.*",))
add("workers: one that ends goes although it is missed", "if (!is_missed || StartLocked(pool)) {", "if (!is_missed || StartLocked(pool) || pool.threads > 0) {")

add = mutants_of("src/base/process/descriptor.cc", ("process_descriptors",))
add("descriptor: whatever has the number now", "return same ? number : -1;", "return same || number > 0 ? number : -1;")
add("descriptor: in a standard stream's place", "if (opened >= 0 && opened <= STDERR_FILENO) {", "if (opened < -1) {")
add("descriptor: a pending signal is taken", "if (file_size_is_new_) sigaddset(&taken, SIGXFSZ);", "sigaddset(&taken, SIGXFSZ);")
add("descriptor: a file's limit is signalled", "  sigaddset(&ours, SIGXFSZ);\n", "")
add("descriptor: a closed pipe is signalled", "  sigaddset(&ours, SIGPIPE);\n", "")
add("descriptor: signals stay held back", "  pthread_sigmask(SIG_UNBLOCK, &freed, nullptr);\n", "")

add = mutants_of("src/base/log.cc", ("process_descriptors", "process_log"))
add("log: half a line stays", "  if (first == count || written == 0 || !is_own) return;\n", "  if (first <= count || written == 0 || !is_own) return;\n")
add("log: below wherever the program is", "(!is_whole && getcwd(here, sizeof here) == nullptr)", "(!is_whole && here[0] != 0)")
add("log: standard output by its number", "is_own ? LogFile(sink) : sink.standard_output.Get();", "is_own ? LogFile(sink) : STDOUT_FILENO;")

add = mutants_of("src/acl/settings/init.cc", ("process_cancellation", "runtime_services"))
add("init: started although a function failed", "if (of_callbacks == ACL_SUCCESS) end.GiveUp();", "end.GiveUp();", ["runtime_services"])

add = mutants_of("src/acl/stream/event_tasks.cc", ("runtime_streams",))
add("event: a reset undoes a later recording", "if (event_->latest == recording_) {", "if (event_->latest != nullptr) {")
add = mutants_of("src/acl/stream/event.cc", ("runtime_streams",))
add("event: any event can be waited for", "if (!event->CanBeAwaited()) return FailNotSync(api);\n  const FoundStream stream", "const FoundStream stream")
add("event: seen before it is queued", "  return queue.SubmitFor(\"aclrtRecordEvent\", recording);", "  recording->Publish();\n  return queue.SubmitFor(\"aclrtRecordEvent\", recording);",
    ["runtime_streams:EventTest.ARecordingThat*:EventTest.RecordersAndWaiters*"])
add("event: any handle will do", "    if (event.handle == handle) {", "    if (handle != nullptr) {", ["runtime_streams:EventTest.MayBeDestroyedWhileOthers*"],
    "another thread would have to destroy and make an event between two neighbouring lines: the test tries, and meets it rarely")

add = mutants_of("src/acl/stream/callback.cc", ("runtime_streams",))
add("callback: a subscription to a stream that is gone", "  if (!queue.IsLive()) return queue.FailGone(api);\n  if (reports", "  if (reports",
    ["runtime_streams:CallbackTest.SubscribingRaces*"],
    "another thread would have to destroy the stream between two neighbouring lines: the test tries, and meets it rarely")
add("callback: a function does not hold its stream", "const HostFunctionScope host_function_scope(parked);", "const HostFunctionScope host_function_scope(nullptr);",
    ["runtime_streams:CallbackTest.DoesNotWaitForItself"])

add = mutants_of("src/acl/stream/notify.cc", ("runtime_services",))
add("notify: stays raised for the next", "    if (is_set_) {\n      is_set_ = false;\n", "    if (is_set_) {\n")
add("notify: stays raised after a timed wait", "    if (!is_set_) return false;\n    is_set_ = false;\n", "    if (!is_set_) return false;\n")

add = mutants_of("src/acl/stream/value_tasks.cc", ("runtime_services",))
add("values: every bit in common", "return (found & value) != 0;", "return (found & value) == value;")
add("values: no other bits", "return (found & value) != 0;", "return (found & value) == found;")

add = mutants_of("src/acl/stream/graph.cc", ("graphs",))
add("graph: what waits holds up the others", "held[node.lane] = held[node.lane] || !runs;", "held.assign(held.size(), !runs || held[node.lane]);")
add("graph: a lane does not wait for another", "(node.awaits < 0 || done[static_cast<size_t>(node.awaits)])", "true")
add("graph: tasks that were replaced stay", "std::swap(node.task, with[i].task);", ";")
add("graph: WHILE does its part once", "if (choice.type != ACL_MODEL_RI_COND_TYPE_WHILE) return", "return")
add("graph: conditions keep their values", "if (!one.begins_anew) continue;", "continue;")
add("graph: IF looks at 32 bits", "if (value != 0) return 0;", "if (static_cast<uint32_t>(value) != 0) return 0;")

add = mutants_of("src/acl/stream/stream_capture.cc", ("graphs",))
add("capture: unjoined streams are left behind", "lane->front.size() <= i || lane->front[i] < one.last", "false")
add("capture: any thread may end it", "capture->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && capture->owner", "false && capture->owner")
add("capture: other threads forbid nothing", "if (!of_others && capture.owner", "if (capture.owner")

add = mutants_of("src/acl/stream/open_captures.cc", ("graphs",))
add("captures: a part is invalidated alone", "if (capture.outer == 0) return;", "return;")

add = mutants_of("src/acl/stream/conditional_parts.cc", ("graphs",))
add("parts: captured again and again", "if (graph->is_begun) {", "if (false) {")

add = mutants_of("src/acl/graph/execution.cc", ("graphs",))
add("execution: memory may be gone", "if (graph.memory_seen.load(std::memory_order_relaxed) == ends) return true;", "return true;")

add = mutants_of("src/acl/memory/memory.cc", ("runtime", "process_memory"))
add("memory: host memory is device memory", "source == Source::kDevice ? !IsOfDevice(found.kind) : found.kind != MemoryKind::kPinnedHost", "source == Source::kHost && found.kind != MemoryKind::kPinnedHost")
add("memory: whatever is known was registered", "|| it->second.kind != kind) return false;", ") return false;", ["runtime_services"])
add("memory: not aligned to 512 bytes", "kAlignment = 512;", "kAlignment = 64;")

# ---- The seven other losses ---------------------------------------------------------------------

add = operator("l1_loss")
add("l1: not absolute", "return hn::Abs(hn::Sub(self, target));", "return hn::Sub(self, target);")
add("l1: int8 cannot be written", "ACL_FLOAT16, ACL_INT8,      ACL_INT32", "ACL_FLOAT16, ACL_INT32")
add("l1: none with the other floating input", "reduction == kReductionNone ? target && !self", "reduction == kReductionNone ? self && !target", [answers("l1_loss")])
add("l1: mean of a floating target", "reduction == kReductionMean && !target && !self;", "reduction == kReductionMean && !self;", [answers("l1_loss")])
add("l1: mean counts self", "ReductionFactor(given.reduction, checked.broadcast)", "ReductionFactor(given.reduction, given.self->shape)")
add("l1: sums go to any one element", "IfReduced(kReduction, IsScalar(kOut)),", "IfReduced(kReduction, OneElement(kOut, ACLNN_ERR_PARAM_INVALID)),", [answers("l1_loss")])
add("l1: the sum of nothing in any type", "    {.run = CheckOutImplemented},\n    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kOut})),\n",
    "    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kOut})),\n    {.run = CheckOutImplemented},\n", [answers("l1_loss")])
add("l1: an integer sum ignores the offset", "job.sum_offset = ByteOffset(out);", "job.sum_offset = 0;")

add = mutants_of("src/engine/reduction/integer_distance.cc", (numbers("l1_loss"),))
add("integers: negative distances", "static_cast<int64_t>(difference) < 0 ? 0 - difference : difference", "difference")
add("integers: compared, not wrapped", "return static_cast<int64_t>(difference) < 0 ? 0 - difference : difference;", "return a < b ? 0 - difference : difference;")
add("integers: bool is its byte", "destination[i] = from[i] != 0 ? 1 : 0;", "destination[i] = from[i];")
add("integers: two roundings to 16 bits", "    round(source + done, rounded, m);\n", "    for (size_t i = 0; i < m; ++i) rounded[i] = static_cast<float>(source[done + i]);\n    (void)round;\n")
add("integers: the sum of one block", "sum.fetch_add(part, std::memory_order_relaxed);", "sum.store(part, std::memory_order_relaxed);")

add = operator("smooth_l1_loss")
add("smooth: the boundary is inside", "hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, beta))", "hn::IfThenElse(hn::Le(magnitude, hn::Set(d, beta))")
add("smooth: square before quotient", "hn::Mul(hn::Mul(half, difference), hn::Div(difference, hn::Set(d, beta)))",
    "hn::Div(hn::Mul(hn::Mul(half, difference), difference), hn::Set(d, beta))")
add("smooth: linear without its shift", "hn::Sub(magnitude, hn::Mul(half, hn::Set(d, beta)))", "magnitude")
add("smooth: any format", "    {.run = CheckFormat},\n", "", [answers("smooth_l1_loss")])
add("smooth: another code", "OneElement(kResult, ACLNN_ERR_INNER_NULLPTR)", "OneElement(kResult, ACLNN_ERR_PARAM_INVALID)", [answers("smooth_l1_loss")])
add("smooth: mean counts self", "ReductionFactor(given.reduction, checked.broadcast)", "ReductionFactor(given.reduction, given.self->shape)")

add = operator("kl_div")
add("kl: log of zero", "hn::IfThenElse(hn::Eq(target, hn::Zero(d)), hn::Set(d, 1.0f), target)", "target")
add("kl: the other sign with logTarget", "hn::Sub(target, self));", "hn::Sub(self, target));")
add("kl: batches of nothing", "no_batches ? call.Tensor(kSelf).shape : call.broadcast", "call.broadcast")
add("kl: no batchmean", "IntegerIn(kReduction, 0, 3)", "IntegerIn(kReduction, 0, 2)")
add("kl: sums go to scalars alone", "IfReduced(kReduction, OneElement(kOut, ACLNN_ERR_PARAM_INVALID)),", "IfReduced(kReduction, IsScalar(kOut)),", [answers("kl_div")])
add("kl: shapes before storage", "    InsideStorage({kSelf, kTarget}),\n    Broadcasts({kSelf, kTarget}),\n", "    Broadcasts({kSelf, kTarget}),\n    InsideStorage({kSelf, kTarget}),\n", [answers("kl_div")])

add = operator("kl_div_target_backward")
add("kl-target: no quotient", "hn::Div(hn::Mul(gradient, target), target)", "gradient")
add("kl-target: without c", "return hn::Mul(gradOutput, hn::Set(d, c));", "return gradOutput;")
add("kl-target: another order of products", "hn::Mul(hn::Mul(gradient, hn::Sub(target, self)), weight)", "hn::Mul(gradient, hn::Mul(hn::Sub(target, self), weight))")
add("kl-target: any type of gradTarget", "    SameDtype(kTarget, kGradTarget),\n", "", [answers("kl_div_target_backward")])
add("kl-target: gradOutput in any format", "for (int tensor : {kGradOutput, kSelf, kTarget, kGradTarget})", "for (int tensor : {kSelf, kTarget, kGradTarget})", [answers("kl_div_target_backward")])
add("kl-target: an empty target goes on", "    DoneIfEmpty({kTarget}),\n", "")
add("kl-target: c counts target", "ReductionFactor(given.reduction, checked.broadcast)", "ReductionFactor(given.reduction, given.target->shape)")

LOG = ("log", numbers("kl_div"))
add = mutants_of("src/engine/functions/log-inl.h", LOG, seen_by=OF_KL)
add("log: a coefficient", "0x1.55555555d9a31p-2", "0x1.5p-2")
add("log: subnormals one binade off", "hn::Set(di, 23 << 23)", "hn::Set(di, 22 << 23)")
add("log: of zero is of the smallest", "result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);", "")

add = mutants_of("src/aclnnop/loss/squared_difference.cc", (numbers("mse_loss"), numbers("mse_loss_out")))
add("mse: not squared", "return hn::Mul(difference, difference);", "return hn::Abs(difference);")

add = operator("mse_loss")
add("mse: any type of out", "DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget, kOut})", "DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget})", [answers("mse_loss")])
add("mse: mean counts self", "ReductionFactor(given.reduction, checked.broadcast)", "ReductionFactor(given.reduction, given.self->shape)")
add("mse: rank before reduction", "    IntegerIn(kReduction, 0, 2),\n    RankAtMost(8, {kSelf, kTarget}),\n", "    RankAtMost(8, {kSelf, kTarget}),\n    IntegerIn(kReduction, 0, 2),\n", [answers("mse_loss")])

add = operator("mse_loss_out")
add("mse-out: without the last axis", "rest.dim[axis] = shape[axis + 1];", "rest.dim[axis] = shape[axis];")
add("mse-out: sums over the last axis", "kept.dim[0] = 1;", "kept.dim[kept.rank - 1] = 1;")
add("mse-out: mean over everything", "MeanFactor(checked.broadcast[0])", "MeanFactor(NumelOf(checked.broadcast))")
add("mse-out: an empty target goes on", "DoneIfEmpty({kSelf, kTarget})", "DoneIfEmpty({kSelf})")

add = operator("mse_loss_backward")
add("mse-backward: half of it", "2.0f * ReductionFactor(given.reduction, given.self->shape)", "ReductionFactor(given.reduction, given.self->shape)")
add("mse-backward: another order of products", "hn::Mul(hn::Mul(hn::Sub(self, target), hn::Set(d, c)), gradOutput)", "hn::Mul(hn::Sub(self, target), hn::Mul(gradOutput, hn::Set(d, c)))")
add("mse-backward: target of another type", "    SameDtype(kSelf, kTarget),\n", "", [answers("mse_loss_backward")])
add("mse-backward: mean counts what is broadcast", "ReductionFactor(given.reduction, given.self->shape)", "ReductionFactor(given.reduction, checked.broadcast)")
add("mse-backward: any type of out", "DtypesIn(kBf16SinceAtlasA2, {kSelf, kOut})", "DtypesIn(kBf16SinceAtlasA2, {kSelf})", [answers("mse_loss_backward")])

# ---- Copies, casts and fills --------------------------------------------------------------------

MOVES = (numbers("cast"), numbers("copy"))
add = mutants_of("src/engine/move/conversion.cc", MOVES)
add("move: nothing is sticky", "bits |= truncated != x ? 1 : 0;", "bits |= truncated != x ? 0 : 0;")
add("move: nearest stays nearest", "bits -= std::fabs(nearest) > std::fabs(x) ? 1 : 0;", "bits -= std::fabs(nearest) > std::fabs(x) ? 0 : 0;")
add("move: low bits are lost", "return (x - rest) | (rest != 0 ? 0x800 : 0);", "return x - rest;")
add("move: s32 does not reach its end", "return x >= 2147483648.0f ? INT32_MAX : inside;", "return inside;")
add("move: NaN is not 0", "const Float number = x == x ? x : Float{0};", "const Float number = x == x ? x : Float{1};")
add("move: u64 ends at 2^63", "const uint64_t value = upper ? lower | uint64_t{1} << 63 : lower;", "const uint64_t value = lower;")
add("move: true is its byte", "return byte != 0 ? To{1} : To{0};", "return static_cast<To>(byte);")
add("move: the imaginary part is not asked", "static_cast<uint8_t>(static_cast<int>(x.part[0] != 0) | static_cast<int>(x.part[1] != 0))", "static_cast<uint8_t>(x.part[0] != 0)")
add("move: f64 to half by way of float32", "return {IsHalf(to) ? Pass::kF64ToOdd : Pass::kF64ToF32, Type::kF32};", "return {Pass::kF64ToF32, Type::kF32};")
add("move: s64 to half by way of float32", "if (IsHalf(to)) return {Pass::kS64ToOdd, Type::kF64};", "if (IsHalf(to)) return {Pass::kS64ToF32, Type::kF32};")
add("move: one tile for all passes", "pass[i].Run(tile[(i + 1) % 2], tile[i % 2], count, false);", "pass[i].Run(tile[i % 2], tile[(i + 1) % 2], count, false);")

add = mutants_of("src/engine/move/move.cc", (numbers("copy"),))
add("move: a value from the caller's environment", "    {\n      const DefaultFloatEnvironment environment;\n      conversion.Run(source + plan.operand[kMoveSource].offset, value, 1, false);\n    }",
    "    conversion.Run(source + plan.operand[kMoveSource].offset, value, 1, false);")
add("move: blocks from the caller's environment", "    const DefaultFloatEnvironment environment;\n    blocks.Run", "    blocks.Run")
add("move: the last share is short", "return (count_ + per_thread_block_ - 1) / per_thread_block_;", "return std::max<int64_t>(count_ / per_thread_block_, 1);")
add("move: shares overlap", "int64_t block = thread_block * per_thread_block_;", "int64_t block = thread_block * (per_thread_block_ - (per_thread_block_ > 1 ? 1 : 0));")
add("move: the real part has two", "if (part != source.dtype) move.plan.operand[kMoveSource].element_size = move.conversion.from_size;", "")
add("move: outer dims do not wrap", "source -= plan_.extent[axis] * source_.stride[axis];", "")

add = mutants_of("src/engine/move/block.cc", (numbers("copy"),))
add("move: fills alike bytes by the first", "return byte == pattern[0]; })) {", "return byte == pattern[0] || size == 2; })) {", (numbers("fill_scalar"),))
add("move: a run's last bytes", "    const Vector last = Load<Vector>(source + bytes - 16);", "    const Vector last = Load<Vector>(source + bytes / 16 * 16 - 16);")
add("move: blocks of any size are transposed", "rows <= kTransposedRows && columns * size <= kTransposedRowBytes) {", "rows <= 2 * kTransposedRows && columns * size <= kTransposedRowBytes) {", reason="no block is larger")
add("move: narrow blocks row by row", "if (columns < kNarrow && rows > columns) {", "if (false) {", reason="the same bytes, later")
add("move: streamed runs are all the first column's", "char* target = destination + column * to.column;", "char* target = destination;", ("streaming",))
add("move: the end of a long row is its beginning", "StreamLines(source + first, destination + first, bytes - first, next, copy);", "StreamLines(source, destination + first, bytes - first, next, copy);", ("streaming",))

add = mutants_of("src/plan/move_plan.cc", ("move_plan", numbers("copy"), numbers("zero")))
add("move-plan: rows that one side has dense", "if (source.stride[last] != size || destination.stride[last] != size) return;", "if (destination.stride[last] != size) return;")
add("move-plan: the source as it comes", "if (plan.rank > 1) PutSourceBeside(plan);", "")
add("move-plan: elements of any size", "if (plan.extent[last] > kWidestMove / size) return;", "")
add("move-plan: merged where nothing continues", "merged.strides[rank - 1] == continued) {", "true) {")

add = mutants_of("src/aclnnop/scalar_value.cc", (numbers("fill_scalar"),))
add("scalar: the real part", "if (IsComplex(from) && !IsComplex(to)) return {};", "")
add("scalar: any float is true", "std::fabs(value) >= (from == ACL_DOUBLE ? 0x1p-52 : 0x1p-23) ? 1 : 0", "value != 0 ? 1 : 0")
add("scalar: one epsilon", "from == ACL_DOUBLE ? 0x1p-52 : 0x1p-23", "0x1p-52")

add = operator("copy", "creation")
add("copy: dtypes in another order", "DtypesIn(kEverywhere, {kSelfRef, kSrc})", "DtypesIn(kEverywhere, {kSrc, kSelfRef})", [answers("copy")])
add("copy: src may enlarge", "    ShapeIsBroadcast(kSelfRef),\n", "", [answers("copy")])
add("copy: an empty src goes on", "DoneIfEmpty({kSelfRef, kSrc})", "DoneIfEmpty({kSelfRef})", [answers("copy")],
    reason="src is only empty where selfRef is, because it broadcasts to selfRef's shape")
add = operator("cast", "creation")
add("cast: out of any type", "    {.run = OutHasDtype},\n", "", [answers("cast")])
add("cast: dtype before self", "    DtypesIn(kFrom, {kSelf}),\n    DtypeIn(kTo, kDtype),\n", "    DtypeIn(kTo, kDtype),\n    DtypesIn(kFrom, {kSelf}),\n", [answers("cast")])
add("cast: complex32 into anything", "    {.run = Casts},\n", "", [answers("cast")])
add("cast: packed out of strides", "    Custom(LiesPacked<kSelf>, ACLNN_ERR_INNER_NULLPTR),\n", "", [answers("cast")])
add("cast: int4 from anything", "    {.run = DenseForInt4},\n", "", [answers("cast")])
add = operator("fill_scalar", "creation")
add("fill-scalar: no promotion", "    PromotesScalar(kSelfRef, kValue),\n", "", [answers("fill_scalar")])
add("fill-scalar: any value converts", "    {.run = ValueConverts},\n", "", [answers("fill_scalar")])
add = operator("fill_tensor", "creation")
add("fill-tensor: any shape", "    IsValue(kValue),\n", "", [answers("fill_tensor")])
add = operator("zero", "creation")
add("zero: at most 8 dims", "    InsideStorage({kSelfRef}),\n", "    RankAtMost(8, {kSelfRef}),\n    InsideStorage({kSelfRef}),\n", [answers("zero")])
add("zero: outside its storage", "    InsideStorage({kSelfRef}),\n", "", [answers("zero")])
add = operator("one", "creation")
add("one: of any rank", "    RankAtMost(8, {kSelfRef}),\n", "", [answers("one")])

# ---- Elementwise operators of two families: what they share -------------------------------------


def maps(family, *operators):
    """The tests of these elementwise operators, as CTest names them without "aclnn"."""
    return (f"{family}_maps:" + ":".join(f"*/{operator}" for operator in operators),)


add = mutants_of("src/contract/scalar_promotion.cc", ("scalar_promotion_contract",))
add("scalars: bf16 is as exact as f16", "dtype == ACL_FLOAT16 ? 11 : 8", "11")
add("scalars: nearly represented is represented", "kRepresented = 0x1p-23;", "kRepresented = 0x1p-12;")
add("scalars: nothing overflows f16", "std::fabs(rounded) < limit ? rounded :", "true ? rounded :")
add("scalars: alpha may be rounded", " || IsChangedBy(dtype, second));", ");")
add("scalars: complex32 stays", "return combined == ACL_COMPLEX32 ? ACL_COMPLEX64 : combined;", "return combined;")
add("scalars: the least int32 is an int64", "integer >= std::numeric_limits<int32_t>::min()", "integer > std::numeric_limits<int32_t>::min()")
add("ranks: the tensor without dims leads", "return a.shape.rank == 0 ? CombineDtypes(b.dtype, a.dtype) : CombineDtypes(a.dtype, b.dtype);",
    "return a.shape.rank == 0 ? CombineDtypes(a.dtype, b.dtype) : CombineDtypes(b.dtype, a.dtype);")

add = mutants_of("src/contract/product_set.h", ("product_set_contract",), seen_by=("tests/contract/",))
add("products: no device is none", "~bits_ & ((1u << kProductCount) - 1)", "~bits_ & ((1u << (kProductCount - 1)) - 1)")
add("products: A3 is older", "kAtlasA2AndA3{Product::kAtlasA2, Product::kAtlasA3};", "kAtlasA2AndA3{Product::kAtlasA2};")

add = mutants_of("src/contract/checks.h", ("checks_contract",), seen_by=("src/contract/checks.cc", "tests/contract/"))
add("checks: for every product", "    if (!products.Contains(call.product)) return false;\n", "")
add("checks: for every value from that one on", ".integer != selected) return false;", ".integer < selected) return false;")

add = mutants_of("src/contract/dtype_checks.cc", ("checks_contract",))
add("checks: alpha plays no part", "call.Tensor(check.operands.index[1]).dtype, given[1]);", "call.Tensor(check.operands.index[1]).dtype, nullptr);")
add("checks: bool promotes to bool", "IsInteger(dtype) || dtype == ACL_BOOL ? ACL_FLOAT : dtype;", "IsInteger(dtype) ? ACL_FLOAT : dtype;")
add("checks: any alpha with bool", "if (IsInteger(dtype) || dtype == ACL_BOOL) return ACL_SUCCESS;", "if (!IsComplex(dtype)) return ACL_SUCCESS;")
add("checks: all bool but a scalar", "if (scalar == nullptr || scalar->dtype != ACL_BOOL) return ACL_SUCCESS;", "if (scalar == nullptr) return ACL_SUCCESS;")
add = mutants_of("src/contract/operand_checks.cc", ("checks_contract",))
add("checks: nothing is contiguous", "if (call.IsGiven(tensor) && !IsContiguous(call.Tensor(tensor))) strided = tensor;", "if (call.IsGiven(tensor)) strided = tensor;")
add("checks: a value for any broadcast", "(is_value(view) && is_value(call.broadcast))", "is_value(view)")
add = mutants_of("src/contract/dtype_checks.cc", ("checks_contract",))
add("checks: functions are there", "if (reason[0] == '\\0') return ACL_SUCCESS;", "if (reason != nullptr) return ACL_SUCCESS;")

add = mutants_of("src/aclnnop/binary_checks.h", maps("arithmetic", "InplaceFloorDivide"), seen_by=("src/aclnnop/arithmetic/floor_divide.cc",))
add("two operands: in place, dtypes before shapes", "return Join(List(NotNull(self), NotNull(other)), BroadcastsInto({self, other}, self));", "return List(NotNull(self), NotNull(other));")
add("two operands: of any number of dims", "InsideStorage(inputs), kLoopRankFits,", "InsideStorage(inputs),", ["checks_contract"],
    seen_by=("src/aclnnop/arithmetic/lerp.cc",))

add = mutants_of("src/aclnnop/scalar_value.cc", maps("arithmetic", "Adds", "InplaceAdds", "Subs", "InplaceSubs"))
add("scalar: one with an imaginary part", "return parts[0] == 1.0 && parts[1] == 0.0;", "return parts[0] == 1.0;")

add = mutants_of("src/aclnnop/phase1.cc", maps("arithmetic", "Muls", "Adds"))
add("map job: scalars in 16 bits", "cast = is_half ? ACL_FLOAT : call.promoted;", "cast = call.promoted;")
add("sequence job: what is computed is what is stored", "type != engine::ElementType::kOther && output.view->dtype != computed;", "false;", ("position_maps:*Sequences*",))
add("loop rank: any", "  if (MergeLoop(shape, {operands, count}).shape.rank <= kMaxLoopRank) return ACL_SUCCESS;\n", "  return ACL_SUCCESS;\n", ["checks_contract"])

add("phase 1: in place, an input less", "call.in_place ? 0 : call.output_count;", "call.output_count;", ["executors", *maps("arithmetic", "InplaceAdd")])

add = mutants_of("src/engine/map/map_job.cc", maps("arithmetic", "Muls", "Adds"))
add("map job: wide elements in whole tiles", "  if (is_wide) formula.tile = std::min(formula.tile, kTile / 2);\n", "", maps("selection", "LogicalAnd", "LogicalNot", "SWhere"))
add("map job: tiles of as many elements whatever their size", "kTileBytes / SizeOf(formula.computed)));", "kTile));", maps("arithmetic", "Mul", "Div"))

add = mutants_of("src/engine/map/map_types.cc", ("map_types",))
add("map types: inputs keep what the promoted dtype has not", "IsFloat32OrHalf(dtype) && (cast == dtype || cast == ACL_FLOAT)) {", "IsFloat32OrHalf(dtype)) {", maps("selection", "EqTensor", "GtScalar", "Clamp") + ("map_types",))
add("map types: integers do not wrap", "written != kC128 && promoted != dtype;", "false;", maps("arithmetic", "Mul", "FloorDivide") + maps("selection", "LeftShift"))
add("map types: a truth of the real part alone", "if (!IsComplex(from) || IsComplex(to) || to == ACL_BOOL) return 0;", "if (!IsComplex(from) || IsComplex(to)) return 0;", maps("selection", "LogicalAnd", "LogicalNot"))

OF_EQ = ("src/aclnnop/logic/compare_tensors.cc",)
OF_MUL = ("src/aclnnop/arithmetic/mul.cc",)
add = mutants_of("src/engine/map/elements-inl.h", maps("selection", "EqTensor"), seen_by=OF_EQ)
add("elements: bool is its byte", "return hn::Min(hn::LoadU(d, from), hn::Set(d, Type{1})); }", "return hn::LoadU(d, from); }")
add("elements: both masks in one place", "    Store(d, second, to + hn::Lanes(d));\n", "    Store(d, second, to);\n")

INTEGERS = tuple(f"src/aclnnop/{name}.cc" for name in (
    "arithmetic/addcmul", "arithmetic/div", "arithmetic/floor_divide", "arithmetic/fmod", "arithmetic/remainder"))
add = mutants_of("src/engine/map/integers-inl.h", maps("arithmetic", "FloorDivide", "FloorDivides", "FmodTensor"), seen_by=INTEGERS)
add("remainders: any 64 bits are a float64", "hn::And(hn::And(is_small(a), is_small(b)), hn::Ne(b, zero))", "hn::Ne(b, zero)", maps("arithmetic", "RemainderTensorTensor"), seen_by=INTEGERS)
add("remainders: by 0 as a float64", "hn::And(hn::And(is_small(a), is_small(b)), hn::Ne(b, zero))", "hn::And(is_small(a), is_small(b))", maps("arithmetic", "RemainderTensorTensor"), seen_by=INTEGERS)
add("remainders: vectors have the dividend's sign", "hn::And(hn::Ne(rest, zero), hn::Lt(hn::Xor(rest, b), zero))", "hn::Lt(rest, rest)", maps("arithmetic", "RemainderTensorTensor"), seen_by=INTEGERS)
add("integers: bytes at even places reach the odd ones", "hn::And(hn::Mul(a_pairs, b_pairs), low);", "hn::Mul(a_pairs, b_pairs);", maps("arithmetic", "Mul"), seen_by=OF_MUL)
add("integers: half of the mixed products", "hn::Add(hn::MulEven(a_low, b_high), hn::MulEven(a_high, b_low));", "hn::MulEven(a_low, b_high);", maps("arithmetic", "Mul"), seen_by=OF_MUL)
add("integers: 1 to a negative power is 0", "hn::IfThenElse(hn::Eq(base, one), one, zero);", "zero;", maps("arithmetic", "PowTensorTensor"), seen_by=("src/aclnnop/arithmetic/pow",))
add("integers: the least one by -1 traps", "return b == -1 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a)) : a / b;", "return a / b;")
add("integers: by 0, remainders trap", "T TruncatedRemainder(T a, T b) {\n  if (b == 0) return -1;", "T TruncatedRemainder(T a, T b) {", maps("arithmetic", "FmodTensor"))
add("integers: exact quotients are rounded down", " && TruncatedRemainder(a, b) != 0;", ";")
add("integers: what is left is never negative", "(rest < 0) != (b < 0) ? rest + b : rest;", "rest < 0 ? rest + b : rest;", maps("arithmetic", "RemainderTensorTensor"))

add = mutants_of("src/engine/map/scalar_operand-inl.h", maps("arithmetic", "Divs"), seen_by=("src/aclnnop/arithmetic/div.cc",))
add("scalar operand: imaginary as its real part", "a_imaginary, hn::Set(d, scalars.Get<T>(0, 1)), real,", "a_imaginary, hn::Set(d, scalars.Get<T>(0)), real,")
add("scalar operand: always the second", "scalar_is_first(parameters.bytes[1][0] != 0) {}", "scalar_is_first(false) {}", maps("arithmetic", "PowScalarTensor", "RemainderScalarTensor"),
    seen_by=("src/aclnnop/arithmetic/pow.cc", "src/aclnnop/arithmetic/remainder.cc"))

add = mutants_of("src/engine/map/load_store.cc", maps("unary", "Abs") + ("map_types",))
add("load: every part is real", "from + 2 * i * sizeof(Real), sizeof(Real));", "from + i * sizeof(Real), sizeof(Real));")
add("load: bytes that stay are few", "n * static_cast<size_t>(only.from_size));", "n);", ["map_types"])

add = mutants_of("src/engine/map/vector_loop-inl.h", maps("arithmetic", "Mul"), seen_by=OF_MUL)
add("complex loop: repeated values are walked", "Store(to + i * kOutSize, (from[kInput] + (work.step[kInput] != 0 ? 2 * i : 0))...);", "Store(to + i * kOutSize, (from[kInput] + 2 * i)...);")
add("complex loop: every row is the first", "const int64_t skip = row == 0 ? 0 : static_cast<int64_t>(row) * work.row_stride[operand];", "const int64_t skip = 0 * static_cast<int64_t>(row + operand);")

add = mutants_of("src/engine/map/tiles.cc", maps("arithmetic", "Mul"))
add("tiles: one complex value has two parts alike", "return Repeat<std::array<uint64_t, 2>>(element, bytes, to);", "return Repeat<uint64_t>(element, bytes, to);")

add = mutants_of("src/engine/sequence/sequence.cc", ("sequence",))
add("sequence: every index is a float", "if (!std::is_integral_v<T> && (first < -kMost || first + count > kMost)) {", "if (false) {")
add("sequence: the end is counted from the tile", "first + from_start - numbers.last, n - before,", "first - numbers.last, n - before,")
add("sequence: from the period before", "int64_t k = (first + numbers.period - 1) / numbers.period;", "int64_t k = first / numbers.period;")

add = mutants_of("src/engine/move/triangular.cc", ("position_maps:*Triangles*",))
add("triangle: the diagonal is of neither half", "row + job_.diagonal + (job_.is_upper ? 0 : 1)", "row + job_.diagonal")
add("triangle: a transposed matrix has the same diagonal", "    job.diagonal = -job.diagonal;\n", "")
add("triangle: any diagonal is added to", "std::clamp(diagonal, -job.extent[row], job.extent[column]);", "diagonal;")

# ---- Functions ----------------------------------------------------------------------------------


def sampled(*functions):
    return ("functions:" + ":".join(f"All/Float32Functions.Sampled/{function}" for function in functions),)


OF_LOOPS = ("tests/functions/function_loops.cc",)
add = mutants_of("src/engine/functions/exponential-inl.h", sampled("Exp2"), seen_by=OF_LOOPS)
add("exp2: a coefficient", "0x1.ebfbcep-3f", "0x1.ebfcdep-3f")
add("tanh: a series that goes too far", "hn::Lt(a, hn::Set(d, 0.55f))", "hn::Lt(a, hn::Set(d, 0.75f))", sampled("Tanh"))
add("sigmoid: without what the quotient loses", "return Fma(d, inverse, e, inverse);", "return inverse;", sampled("Sigmoid"))
add("sigmoid: its reach", "hn::Lt(hn::Set(d, -80.0f), x)", "hn::Lt(hn::Set(d, -90.0f), x)", sampled("Sigmoid"))
add = mutants_of("src/engine/functions/trigonometric-inl.h", sampled("Sin", "Cos"), seen_by=OF_LOOPS)
add("sine: pi/2 in two parts", "hn::Set(d, -0x1.ee59dap-50f)", "hn::Zero(d)")
add("sine: large angles in float32", "kLargestQuickAngle = 0x1p15f;", "kLargestQuickAngle = 0x1p24f;")
add("asin: without what the root loses", "hn::Sub(low, lost)", "low", sampled("Asin"))
add("acos: without what the root loses", "hn::Add(low, hn::Xor(lost, sign))", "low", sampled("Acos"))
add("acos: pi in one part", "hn::Set(d, 2 * kQuarterTurnRest)", "hn::Zero(d)", sampled("Acos"))
add = mutants_of("src/engine/functions/reduction-inl.h", sampled("Sin", "Tan"), seen_by=OF_LOOPS)
add("large angles: two products of three", "Fma(d, m, hn::GatherIndex(d, kTwoOverPi[2], index), hn::Sub(second, more));", "hn::Sub(second, more);")
add = mutants_of("src/engine/functions/logarithmic-inl.h", sampled("Log2"), seen_by=OF_LOOPS)
add("pow: 1 to the power of NaN", "hn::IfThenElse(hn::Or(hn::Eq(y, hn::Zero(d)), hn::Eq(x, one)), one, result);", "hn::IfThenElse(hn::Eq(y, hn::Zero(d)), one, result);", sampled("Pow"))
add("logaddexp: far apart too early", "hn::Set(wide, -700.0)", "hn::Set(wide, -16.0)", sampled("LogAddExp", "LogAddExp2"))
add("logaddexp: NaN of the first alone", "return OrNan(OrNan(result, x), y);", "return OrNan(result, x);", sampled("LogAddExp"))
add = mutants_of("src/engine/functions/modulo-inl.h", sampled("Fmod", "Remainder"), seen_by=OF_LOOPS)
add("fmod: quotients of more bits", "sizeof(T) == 4 ? 0x1p22 : 0x1p51", "sizeof(T) == 4 ? 0x1p26 : 0x1p51")
add("remainder: y is added to zero", "hn::IfThenElse(hn::AndNot(is_zero, is_other_side), hn::Add(rest, y), rest);", "hn::IfThenElse(is_other_side, hn::Add(rest, y), rest);")
add = mutants_of("src/engine/functions/error_function-inl.h", sampled("Erf"), seen_by=OF_LOOPS)
add("erfinv: of 1", "hn::IfThenElse(hn::Eq(a, one), Infinity(d), NotANumber(d))", "NotANumber(d)", sampled("Erfinv"))
add("erf: the series beyond its reach", "hn::Set(d, 0.8f)", "hn::Set(d, 1.1f)")
add("erf: 1 too early", "hn::Set(d, 4.0f)", "hn::Set(d, 3.5f)")
add("erf: without what the last rounding loses", "Fma(d, n, hn::Set(d, 0x1.05c61p-29f), lost)", "Mul(n, hn::Set(d, 0x1.05c61p-29f))")

# ---- Elementwise operators of two families: formulas --------------------------------------------


def elementwise(file, family, *operators):
    return mutants_of(f"src/aclnnop/{file}", maps(family, *operators))


add = elementwise("unary/sign.cc", "unary", "Sign")
add("sign: NaN is positive", "hn::IfThenElseZero(hn::Gt(x, zero), hn::Set(d, T{1}));", "hn::IfThenElse(hn::Or(hn::Lt(x, zero), hn::Eq(x, zero)), zero, hn::Set(d, T{1}));")
add = elementwise("logic/isclose.cc", "selection", "IsClose")
add("isclose: NaN is NaN", "equalNan ? T{1} : T{0}", "T{1}")
add("isclose: below the tolerance", "hn::Le(hn::Abs(hn::Sub(a, b)), tolerance)", "hn::Lt(hn::Abs(hn::Sub(a, b)), tolerance)")
add("isclose: everything is near infinity", "hn::And(hn::Lt(hn::Abs(b), functions::Infinity(d)), hn::Le(hn::Abs(hn::Sub(a, b)), tolerance));", "hn::Le(hn::Abs(hn::Sub(a, b)), tolerance);")
add = elementwise("arithmetic/clamp.cc", "selection", "Clamp")
add("clamp: the lower bound last", "return AtMost(d, AtLeast(d, x, hn::Set(d, scalars.Get<T>(0))), hn::Set(d, scalars.Get<T>(1)));",
    "return AtLeast(d, AtMost(d, x, hn::Set(d, scalars.Get<T>(1))), hn::Set(d, scalars.Get<T>(0)));")
add("clamp: a bound that is no number is none", "hn::IfThenElse(hn::Eq(bound, bound), hn::IfThenElse(hn::Lt(x, bound), bound, x), bound);", "hn::IfThenElse(hn::Lt(x, bound), bound, x);",
    maps("selection", "Clamp", "ClampTensor", "ClampMinTensor"))
add = elementwise("logic/where.cc", "selection", "Threshold")
add("threshold: the threshold stays", "hn::IfThenElse(hn::Le(a, threshold), value, a);", "hn::IfThenElse(hn::Lt(a, threshold), value, a);")
add = elementwise("activations/logit.cc", "activations", "Logit", "LogitGrad")
add("logit: bounds for any eps", "if (!(eps >= 0)) {", "if (false) {")
add("logit: the gradient stays outside", "return hn::IfThenElse(is_outside, Set(d, kOutside), slope);", "return slope;")
add = elementwise("activations/relu.cc", "activations", "Relu", "ThresholdBackward")
add("relu: NaN is 0", "return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);", "return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), x);")
add("relu: the gradient at the threshold", "hn::IfThenZeroElse(hn::Le(x, hn::Set(d, threshold)), gradient);", "hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, threshold)), gradient);")
add = mutants_of("src/aclnnop/jobs/activation_formulas-inl.h", maps("activations", "Gelu", "GeluBackward"), seen_by=("src/aclnnop/activations/gelu.cc",))
add("activations: the logistic function of large numbers", "hn::IfThenElseZero(hn::Le(a, hn::Set(d, 700.0)), hn::Mul(e, larger));", "hn::Mul(e, larger);")
add("activations: gelu's slope is NaN far out", "hn::IfThenElseZero(hn::Eq(more, more), more)", "more")
add = elementwise("arithmetic/lerp.cc", "arithmetic", "Lerp")
add("lerp: a half is near the start", "hn::Lt(weight, hn::Set(d, 0.5f));", "hn::Le(weight, hn::Set(d, 0.5f));")
add = elementwise("arithmetic/add.cc", "arithmetic", "Sub")
add("sub: a sum", "  if (kSubtracts) Negate(call, kScaledSum, scalars, 0);\n", "")
add = elementwise("arithmetic/add_scalar.cc", "arithmetic", "Adds", "Rsubs")
add("adds: alpha is one", "const bool is_line = !IsIntegral(call.promoted) && IsOne(alpha);", "const bool is_line = !IsIntegral(call.promoted);")
add = elementwise("arithmetic/maximum.cc", "arithmetic", "Maximum", "Minimum")
add("maximum: NaN of the first alone", "return hn::IfThenElse(hn::Eq(b, b), extreme, b);", "return extreme;")
add = elementwise("arithmetic/floor_divide.cc", "arithmetic", "FloorDivide")
add("floor-divide: towards zero", "return functions::Floor(d, hn::Div(a, b));", "return functions::Trunc(d, hn::Div(a, b));")
add = elementwise("logic/shift.cc", "selection", "LeftShift", "RightShift")
add("shift: by negative counts", "hn::Min(hn::Max(count, hn::Zero(d)), highest)", "hn::Min(count, highest)")
add("shift: by all bits", "hn::Min(hn::Max(count, hn::Zero(d)), highest)", "hn::Max(count, hn::Zero(d))")
add = mutants_of("src/aclnnop/logic/comparisons-inl.h", maps("selection", "GtTensor", "GeTensor"), seen_by=OF_EQ)
add("comparisons: what is equal is less", "return hn::Lt(a, b);", "return hn::Not(hn::Lt(b, a));")

# ---- Moves with indices, and operators of several moves -----------------------------------------

INDEXED = ("indexed", "indexing_properties")
add = mutants_of("src/engine/move/indexed_loop.cc", INDEXED)
add("indexed: rows of bad ones stay", "            CopyBlock(zero, {0, 0}, here, plain_steps, rows, columns, move_.size, false);", "            static_cast<void>(zero);")
add("indexed: the row's own step", "ComputeRow(here + row * plain_steps.row, plain_steps.column,", "ComputeRow(here, plain_steps.column,")
add("indexed: later tiles of a row begin with it", "const char* const source = Tile(plain + i * plain_stride, plain_stride, count, gathered, converted);",
    "const char* const source = Tile(plain, plain_stride, count, gathered, converted);")
add("indexed: indices of later tiles begin with the line", "const char* dense = index[k] + i * stride;", "const char* dense = index[k];")
add("indexed: later tiles of the indexed side begin with the line", "one.step, i * along, along}", "one.step, 0, along}")
add("indexed: one bad index of two", "sum = sum == kBad || leads == kBad ? kBad : sum + leads;", "sum = leads == kBad ? kBad : sum == kBad ? leads : sum + leads;")
add("indexed: the first dim of a share", "    first[cut] = low;\n", "")
add("indexed: positions do not go on", "        position += weight[dim];\n", "")
add("indexed: outer dims of the plain side do not wrap", "        plain -= extent[dim] * plain_stride[dim];\n", "")
add("indexed: outer dims of indices do not wrap", "        for (int k = 0; k < move_.index_count; ++k) index[k] -= extent[dim] * move_.index[k].stride[dim];\n", "")
add("indexed: any dim is cut where elements are put", "const bool is_safe = action == IndexedAction::kTake || indexed_stride[dim] != 0;", "const bool is_safe = true;")
add("indexed: the last share of targets", "const int64_t thread_block = (index[0].bound + threads - 1) / threads;", "const int64_t thread_block = index[0].bound / threads;")
add("indexed: the last share of a dim", "const int64_t thread_block = (extent[cut] + cut_blocks - 1) / cut_blocks;", "const int64_t thread_block = std::max<int64_t>(extent[cut] / cut_blocks, 1);", reason="more shares, of other lengths")
add("indexed: threads in the caller's environment", "        const DefaultFloatEnvironment of_thread;\n        Loop loop(*this, context, fault);", "        Loop loop(*this, context, fault);", ("determinism",))
add("indexed: nothing fails", "if (raises && position != std::numeric_limits<int64_t>::max()) ReportBadIndex(*this, context, position);", "")
add("indexed: ignored ones fail", "if (raises && position", "if (position")
add("indexed: the message's bound", "message.Add(low).Add(\" to \").Add(one.bound - 1).Add(\".\");", "message.Add(low).Add(\" to \").Add(one.bound).Add(\".\");")
add("indexed: the message's lowest", "const int64_t low = one.wraps ? -one.bound : 0;", "const int64_t low = 0;")
add("indexed: the message's first tensor", "if (value >= low && value < one.bound) continue;", "")
add("indexed: the message counts all dims", "if ((one.repeated >> dim & 1) == 0) own = own * move.extent[dim] + coordinate[dim];", "own = own * move.extent[dim] + coordinate[dim];")
add("indexed: the message counts no expanded dims", "if ((one.repeated >> dim & 1) == 0) own =", "if (one.stride[dim] != 0) own =")
add("indexed: the message takes columns for tensors", "    if (move.are_columns) own = own * move.index_count + k;\n", "", tests=["scattered"])
add = mutants_of("src/engine/move/indexed_plan.cc", INDEXED)
add("indexed: dims merge whatever the indices", "if (!continues(one.stride) || ", "if (")
add("indexed: dims of the index tensor merge with others", " || (one.repeated >> dim & 1) != (one.repeated >> (dim + 1) & 1)", "")
add("indexed: dims merge whatever the indexed side", "if (!continues(move.plain_stride) || !continues(move.indexed_stride)) return false;", "if (!continues(move.plain_stride)) return false;")
add = mutants_of("src/engine/move/indexed_loop.cc", INDEXED)
add("indexed: repeated places are those of the first tile", "Elements<false>(plain + i * stride, stride, indexed, offset + i, count);", "Elements<false>(plain + i * stride, stride, indexed, offset, count);", ("scattered",))

add = mutants_of("src/engine/move/indexed_elements.h", INDEXED, seen_by=tuple(f"src/engine/move/{name}.cc" for name in ("indexed_loop", "indexed_rows", "masked")))
add("indexed: the larger is not NaN", "return IsNan(a) || b <= a ? a : b;", "return b > a ? b : a;")
add("indexed: the smaller is not NaN", "return IsNan(a) || b >= a ? a : b;", "return b < a ? b : a;")
add("indexed: truths are added as bytes", "inline Boolean Added(Boolean a, Boolean b) { return Either(a, b); }", "inline Boolean Added(Boolean a, Boolean b) { return {static_cast<uint8_t>(a.byte + b.byte)}; }")
add("indexed: truths are multiplied into either", "inline Boolean Multiplied(Boolean a, Boolean b) { return Both(a, b); }", "inline Boolean Multiplied(Boolean a, Boolean b) { return Either(a, b); }")
add("indexed: the scale is one", "[scale](T a, T b) { return Added(a, Multiplied(scale, b)); }", "[scale](T a, T b) { return Added(a, b); }")
add("indexed: the sum is scaled", "[scale](T a, T b) { return Added(a, Multiplied(scale, b)); }", "[scale](T a, T b) { return Multiplied(scale, Added(a, b)); }")
add("indexed: bad ones leave their places to the next", "    kept[count] = offset[i];\n", "    kept[count] = offset[count];\n")
add("indexed: bad ones are taken as they were", "    Store(to + i * stride, kSkips && at == kBad ? T{} : Load<T>(base + at));",
    "    if (!kSkips || at != kBad) Store(to + i * stride, Load<T>(base + at));")
add("indexed: two elements of 16 bytes", "      return f(Element16{});", "      return f(uint64_t{});")
add("indexed: what is stored together is one element", "base + offset[k])} << (8 * sizeof(T) * k % 64);", "base + offset[0])} << (8 * sizeof(T) * k % 64);")

add = mutants_of("src/engine/move/indexed_rows.cc", INDEXED)
add("indexed: counts of one divide", "if (counts[row] < 2) continue;", "if (counts[row] < 3) continue;")
add("indexed: later rows are divided by the first's", "Divided(Load<T>(at), counts[row])", "Divided(Load<T>(at), counts[part * together])")

add = mutants_of("src/engine/move/masked.cc", INDEXED)
add("indexed: what a mask lacks leads somewhere", "for (int64_t i = found; i < op.columns; ++i) offsets[i] = IndexedMove::kNoOffset;", "for (int64_t i = found; i < op.columns; ++i) offsets[i] = 0;")
add("indexed: a mask of too few is right", "if (found == op.columns || op.entry < 0) return;", "if (found <= op.columns || op.entry < 0) return;")
add("indexed: places of a mask are not bounded", "std::min(found, op.columns),", "found,", reason="workspace is rounded up")
add("indexed: blocks write where the first does", "    counts[block] = total;\n", "    counts[block] = 0;\n")
add("indexed: coordinates of later blocks", "int64_t rest = begin / length;", "int64_t rest = 0;")
add("indexed: the result is as long as its room", "const int64_t most = std::min(total, op.columns);", "const int64_t most = total;")
add("indexed: across and below are the same", "const int64_t element = op.is_across ? 1 : rank;", "const int64_t element = rank;")

add = mutants_of("src/engine/move/op_list_run.cc", INDEXED)
add("indexed: copies onto themselves", "        if (!IsCopyOfItself(op, context))\n", "", reason="the same bytes onto themselves")

add = mutants_of("src/engine/move/masked.cc", ("scattered",))
add("unpack: later blocks read where the first does", "int64_t selected = block.selected;\n  const Compacted first = op.unpack(", "int64_t selected = 0;\n  const Compacted first = op.unpack(")
add("unpack: as many as the mask says", "std::min(most, number + 1 < blocks", "std::min(unpacks ? total : most, number + 1 < blocks")
add("unpack: too few are ignored", "if (total > op.columns && op.raises) {", "if (false && op.raises) {")

add = mutants_of("src/engine/move/indexed.h", INDEXED, seen_by=("src/engine/move/indexed_loop.cc",))
add("indexed: the last bad index", "    while (at < seen && !position", "    while ((at > seen || seen == std::numeric_limits<int64_t>::max()) && !position")

add = mutants_of("src/aclnnop/jobs/op_list.cc", INDEXED)
add("steps: workspaces one behind the other", "executor_.workspace_size += (static_cast<uint64_t>(bytes) + 63) / 64 * 64;", "executor_.workspace_size += 64;")
add("steps: one value for all", "const int64_t offset = int64_t{16} * values_++;", "const int64_t offset = 0 * values_++;", INDEXED + ("determinism",))
add("steps: places from the storage's begin", "  move.plain.offset += plain_buffer.offset;\n", "")
add("steps: always told", "move.raises = CurrentConfiguration().index_errors_raise;", "move.raises = true;")
add("steps: what is read has no address", "    for (int k = 0; k < op->indexed.index_count; ++k) Touch({op->indexed.index[k].operand, 0});\n", "")
add("steps: the source of what is packed from its storage's begin", "if (source != nullptr) op->source.offset += ByteOffset(*source);", "")
add("steps: the output from its storage's begin", "op->destination = {result_operand, ByteOffset(*result)};", "op->destination = {result_operand, 0};")

add = mutants_of("src/aclnnop/jobs/moves.cc", ("moves", "indexing_properties"))
add("moves: shares of the first alone", "new (moves_ + count_++) engine::PlannedMove{move, source, destination, thread_blocks_};", "new (moves_ + count_++) engine::PlannedMove{move, source, destination, 0};")
add("moves: one element of one shape", "if (destination.numel != 1) {", "if (true) {")
add("moves: no value", "    std::memcpy(job.value, value.bytes, sizeof job.value);\n", "")

# ---- Reductions and scans -----------------------------------------------------------------------

REDUCTIONS = ("reductions", "reduction_orders")
REDUCTION_LOOPS = ("src/engine/reduction/fold_",)
add = mutants_of("src/engine/reduction/axis_reduction.cc", REDUCTIONS)
add("reduction: the second pass has no first", "i == 0 ? nullptr : m);\n      Finish", "nullptr);\n      Finish")
add("reduction: later groups begin with the first", "for (int64_t first = thread_block * group; first < end; first += memory.width)", "for (int64_t first = 0; first < end; first += memory.width)")
add("reduction: chunks begin with the output", "const int64_t begin = chunk * rows;", "const int64_t begin = 0;")
add("reduction: all outputs' partials are the first's", "static_cast<size_t>(chunk * plan_.outputs() + output) * size", "static_cast<size_t>(chunk * plan_.outputs()) * size")
add("reduction: one value is there once", "if (step == 0) {\n        n = std::min<int64_t>(n, job_.tile);\n        work.terms = Filled(work.terms, n, filled);\n      }", "if (step == 0) n = 1;", reason="one at a time")
add("reduction: blocks of rows are one", "const int64_t block = kernels.has_order ? kRowBlock : rows;", "const int64_t block = rows;", ("determinism",))
add("reduction: rows after the first are its", "work.terms = from + r * plan_.row_stride[0];", "work.terms = from;", reason="more than 2^20 rows")
add("reduction: stripes follow each other without a jump", "      position += plan_.inner - columns;\n", "")
add("reduction: what is infinite stays", "pass.ending == ReductionEpilogue::kFiniteOrZero && std::isinf(value) ? 0 : value", "value")
add("reduction: integers are divided before they wrap", "values[i] = Wrapped(values[i], pass.wraps_to) / divisor;", "values[i] = values[i] / divisor;")
add("reduction: a zero has the other's sign", "      std::memcpy(result, from, size);\n", "      static_cast<void>(from);\n")

add = mutants_of("src/engine/reduction/reduction_loop-inl.h", REDUCTIONS, seen_by=REDUCTION_LOOPS)
add("reduction loops: a block that has begun begins anew", "    if (in_block == 0) {\n      lanes.Clear(reducer);", "    if (true) {\n      lanes.Clear(reducer);")
add("reduction loops: the next output has this one's parameter", "      if (work.parameter != nullptr) ++work.parameter;\n", "")
add("reduction loops: some terms are those of the first lanes", "padded + from, terms", "padded, terms", ("reduction_orders", "reductions", "determinism"))
add("reduction loops: columns past the last vector are left out", "    AcrossVectors(reducer, one, rows, row, count, done);\n", "    static_cast<void>(done);\n")

add = mutants_of("src/engine/reduction/reduction_tree.h", REDUCTIONS, seen_by=("src/engine/reduction/axis_reduction.cc",))
add("reduction tree: neighbours do not meet", "kernels_.merge(Level(level), block, width_);\n    std::memcpy(Level(level)", "static_cast<void>(0);\n    std::memcpy(Level(level)")

add = mutants_of("src/engine/reduction/scan.cc", REDUCTIONS)
add("scan: the next line goes on", "if (work.at == 0) sum = Scan::First();", "")
add("scan: lines together go on", "if (work.at == 0) std::fill_n(sums, kScanLines, Scan::First());", "")
add("scan: columns go on", "if (work.at == 0) std::fill_n(sums, work.columns, Scan::First());", "")
add("scan: products of complex numbers by parts", "a.real * b.real - a.imaginary * b.imaginary, ", "a.real * b.real, ")
add("scan: the earlier of two extremes", "return kLargest ? x >= best : x <= best;", "return kLargest ? x > best : x < best;")
add("scan: a NaN is not taken", "if (std::isnan(x)) return true;", "if (std::isnan(x)) return false;")
add("scan: of a few the earlier of two", "count += kLargest ? !(terms[k] < best) : !(terms[k] > best);", "count += kLargest ? terms[k] > best : terms[k] < best;")
add("scan: places begin anew with each tile", "const auto first = static_cast<int64_t>(work.at);", "const int64_t first = 0;")
add("scan: a column's place is its first", "state.index = static_cast<int64_t>(work.at);", "state.index = 0;")
add("scan: all lines as stored are the first", "work.lines[line] = cursors[line].At(0);", "work.lines[line] = cursors[0].At(0);")
add("scan: tiles as stored begin anew", "      job_.as_stored(work);\n", "      work.at = 0;\n      job_.as_stored(work);\n")
add("scan: one value is there once", "    if (step == 0) {\n      CopyTerms(work.terms, step, n, filled);\n      work.terms = filled;\n    }\n", "")

add = mutants_of("src/engine/reduction/scan_lines.cc", REDUCTIONS)
add("scan lines: ties go up", "const auto rounded = hn::Add(hn::Add(bits, nearly_half), odd);", "const auto rounded = hn::Add(hn::Add(bits, nearly_half), hn::Set(du, 1));")
add("scan lines: subnormal numbers have as many bits", "if (HWY_UNLIKELY(HasSubnormal(results))) {", "if (false) {")
add("scan lines: zeros are subnormal", "hn::And(hn::Lt(a, least), hn::Gt(a, hn::Zero(d)))", "hn::Lt(a, least)", reason="the same bits, later")
add("scan lines: the last terms begin anew", "hn::StoreU(sum.vector[k], d, sums + k * kWide);\n#endif", "static_cast<void>(0);\n#endif")
add("scan lines: a term is in its own sum", "if (work.is_exclusive) results[c] = sum;", "")
add("scan lines: lines change places", "StoreTwo(v[0], v[1], to[0] + i, to[1] + i);", "StoreTwo(v[1], v[0], to[0] + i, to[1] + i);")

add = mutants_of("src/engine/reduction/extreme_reductions.cc", REDUCTIONS)
add("extremes: NaN is turned with the others", "return hn::IfThenElse(is_nan, largest, hn::Xor(key, turn));", "return hn::Xor(hn::IfThenElse(is_nan, largest, key), turn);")
add("extremes: zeros are told apart where places count", "using Reducer = Extreme<T, true>;\n  const Reducer reducer(constants);\n  const auto* const terms", "using Reducer = Extreme<T, false>;\n  const Reducer reducer(constants);\n  const auto* const terms")
add("extremes: a later block that is as good", "if (in_block == 0 || key > best.key)", "if (in_block == 0 || key >= best.key)")
add("extremes: of parts that are alike the later", "(to[i].index < 0 || to[i].key <= from[i].key)", "(to[i].index < 0 || to[i].key < from[i].key)")
add("extremes: columns without a better one have no place", "      } else if (out[c + i].index < 0) {\n        out[c + i].index = rows.first;\n", "")
add("truth: bits that do not count", "const V x = hn::And(hn::LoadU(d, from), hn::Set(d, bits));", "const V x = hn::LoadU(d, from);")

add = mutants_of("src/engine/reduction/sum_reductions.cc", REDUCTIONS)
add("reduction sums: NaN counts", "return hn::IfThenElseZero(hn::Eq(x, x), x);", "return x;")
add("reduction sums: magnitudes have signs", "return hn::Abs(this->Widened(d, from));", "return this->Widened(d, from);")
add("reduction sums: later tiles have the first one's terms", "    terms += n;\n    left -= n;\n", "    left -= n;\n")

add = mutants_of("src/engine/reduction/complex_reductions.cc", REDUCTIONS)
add("complex reductions: no cross products", "a.real * b.imaginary + a.imaginary * b.real", "a.imaginary * b.real", ("determinism",))

add = mutants_of("src/engine/reduction/scan.cc", REDUCTIONS)
add("scan: lines go on with the one before", "    if (work.at == 0) sum = Scan::First();\n", "")
add("scan: columns go on with those before", "    if (work.at == 0) std::fill_n(sums, work.columns, Scan::First());\n", "")
add("scan: together, lines go on with those before", "  if (work.at == 0) std::fill_n(sums, kScanLines, Scan::First());\n", "")
add("scan: terms are part of their own sums", "results[at] = kIsExclusive ? sums[line] : sum;", "results[at] = sum;")
add("scan: of equal ones the earlier", "return kLargest ? x >= best : x <= best;", "return kLargest ? x > best : x < best;")
add("scan: NaN is passed over", "    if (std::isnan(x)) return true;\n", "    if (std::isnan(x)) return false;\n")
add("scan: later stripes begin with the first", "const int64_t column = thread_block % stripes * width;\n      RunColumns", "const int64_t column = 0;\n      RunColumns", reason="more columns than a tile in one test only")
add("scan: results that are scattered lie where the first does", "store(from + at * result_size,", "store(from + 0 * at * result_size,")

add = mutants_of("src/aclnnop/jobs/reduction_call.cc", REDUCTIONS)
add("reduction calls: bits of NaN and the sign count", "      return 0x7FFF;\n", "      return 0xFFFF;\n")
add("reduction calls: bfloat16 is cast as it lies", "dtype == ACL_BF16 && request.cast == ACL_BF16 &&", "dtype == ACL_BF16 &&")
add("reduction calls: the second output from its own rank", "    if (other.numel == 1) other.strides = results[0]->strides;\n", "", reason="strides of dims of length 1")
add("reduction calls: reversed from the storage's begin", "Narrow(flipped, request.dim, flipped.shape[request.dim] - 1,", "Narrow(flipped, request.dim, 0,")
add("reduction calls: no dims are none", "if (dims.array->values.empty()) return kAllDims;", "if (dims.array->values.empty()) return 0;")

# ---- Axes, sorts, counts and masks --------------------------------------------------------------

RESAMPLE = ("resample",)
add = mutants_of("src/engine/resample/axis_map.h", RESAMPLE, seen_by=("src/engine/resample/",))
add("axis map: windows begin before their first index", "(missing + map.inner_step - 1) / map.inner_step", "missing / map.inner_step")
add("axis map: circles go back once", "((b - map.before) % n + n) % n", "(b - map.before + n) % n")
add("axis map: circles end behind the last position", "std::min(positions, b + n - index)", "b + n - index")
add("axis map: mirrored behind the last element with it", "2 * (n - 1) - (behind - map.before)", "2 * n - 1 - (behind - map.before)")
add("axis map: as many positions are the same ones", "return inner == length && step == 1;", "return inner == length;")
add("axis map: places beyond the last element", "std::clamp(source_coordinate - static_cast<T>(index), T{0}, T{1})", "source_coordinate - static_cast<T>(index)")
add("axis map: all weights are float32", "map.is_wide ? axis_map::ForEachTapAt<double>", "false ? axis_map::ForEachTapAt<double>")

add = mutants_of("src/engine/resample/axes_memory.h", RESAMPLE, seen_by=("src/engine/resample/",))
add("axes: shares begin with batches", "int64_t row = thread_block * rows_together;", "int64_t row = thread_block * rows;")

add = mutants_of("src/engine/resample/take.cc", RESAMPLE)
add("axes: both parts are the real one", "from_stride[batch_rank] = from_size / parts;", "from_stride[batch_rank] = 0;")
add("take: a row is like that before it", "y > first && rows[y].from == rows[y - 1].from", "y > first")
add("take: later tiles that are converted begin with the stretch", "CopyBlock(from + done * step,", "CopyBlock(from,")
add("take: long stretches are not mirrored", "At<T>(from - i * kSize)", "At<T>(from + i * kSize)")
add("take: every second is every one", "At<T>(from + i * 2 * kSize)", "At<T>(from + i * kSize)")
add("take: every table doubles", "job.is_doubled = job.offsets.In(memory)[i] == i / 2 * from_size;", "job.is_doubled = true;")
add("take: doubled elements of an odd row", "Double<T>(from, to, n / 2);", "Double<T>(from, to, n / 2 - 1);")

add = mutants_of("src/engine/resample/sum_job.cc", RESAMPLE)
add("sums: a row that is kept is any in its place", "if (kept_[slot] == from) return sum;", "if (kept_[slot] != nullptr) return sum;")
add = mutants_of("src/engine/resample/sum_loops.cc", RESAMPLE)
add("sums: what weighs nothing and is not there adds", "sum[i] += weight[i] != 0 ? weight[i] * value[i] : T{0};", "sum[i] += weight[i] * value[i];")
add = mutants_of("src/engine/resample/resample_sum.cc", RESAMPLE)
add("sums: what weighs nothing adds", "if (weight != 0 || direction == Direction::kToPositions)", "if (weight == weight || direction == Direction::kToPositions)")
add = mutants_of("src/engine/resample/sum_job.cc", RESAMPLE)
add("sums: one tap weighs 1", "if (end - begin == 1 && row_taps_[begin].weight == 1)", "if (end - begin == 1)")
add("sums: taps of a column end with what is gathered", "for (int64_t tap = first[0]; tap < end; tap += kTapsTogether) {", "for (int64_t tap = first[0]; tap < end; tap += kTapsTogether) {\n      total = 0;")
add("sums: columns without taps behind the last", "    for (; column < columns_; ++column) {", "    if (column < columns_) {")
add = mutants_of("src/engine/resample/resample_sum.cc", RESAMPLE)
add("sums: turned round, from the first place on", "      offset += (count - 1) * offset_step;\n", "")
add("sums: a stretch ends behind its tile", "(left + step - 1) / step)", "left / step + 1)")
add = mutants_of("src/engine/resample/sum_loops.cc", RESAMPLE)
add("sums: pairs of one element", "(T{0} + value[2 * i]) + value[2 * i + 1]", "(T{0} + value[2 * i]) + value[2 * i]")
add = mutants_of("src/engine/resample/sum_job.cc", RESAMPLE)
add("sums: pairs begin with the row", "Numbers(from + 2 * start_ * job_.from_size, job_.from_size,", "Numbers(from, job_.from_size,")

add = mutants_of("src/engine/resample/sum_loops.cc", RESAMPLE)
add("sums: lanes count from a column's element", "hn::Set(di, static_cast<int32_t>(first))", "hn::Set(di, index[at])")
add("sums: elements apart are lanes of one vector", "first >= begin && index[at + lanes - 1] - first < width", "first >= begin")
add = mutants_of("src/engine/resample/resample_sum.cc", RESAMPLE)
add("sums: a tile of any width is loaded at once", "if (end - begin >= kTapsTogether) return false;", "if (end < begin) return false;")
add = mutants_of("src/engine/resample/sum_loops.cc", RESAMPLE)
add("sums: the weights of rows are the first one's", "hn::Set(d, weight[k])", "hn::Set(d, weight[0])")

add = mutants_of("src/engine/resample/grid_taps.h", RESAMPLE, seen_by=("src/engine/resample/grid.cc", "src/engine/resample/grid_gradient.cc"))
add("grid: what is no number is no place", "std::isnan(coordinate) ? T{-1} : coordinate", "coordinate")
add("grid: infinitely far is no number", "  const T below = Floored(source_coordinate);\n  const T part = std::isfinite(source_coordinate) ? source_coordinate - below : T{0};\n  const int64_t index",
    "  const T below = Floored(source_coordinate);\n  const T part = source_coordinate - below;\n  const int64_t index")
add("grid: halves away from zero", "std::nearbyint(source_coordinate)", "std::round(source_coordinate)")
add = mutants_of("src/engine/resample/grid.cc", RESAMPLE)
add("grid: halves outside are the first", "      for (int64_t i = 0; i < count; ++i) raw[i] &= static_cast<uint16_t>(mask_[k][i]);\n", "")
add("grid: later places of a row are its first", "first * job.grid_stride[2],", "0,")
add = mutants_of("src/engine/resample/grid_job.h", RESAMPLE, seen_by=("src/engine/resample/grid.cc", "src/engine/resample/grid_lanes.cc"))
add("grid: mirrored once", "std::fmod(flips, T{2}) == 0 ?", "flips == 0 ?")

BY_SCALE = ("resample_by_scale",)
add = mutants_of("src/engine/resample/axis_map.h", BY_SCALE, seen_by=("src/engine/resample/",))
add("axis map: smooth weights have any sum", "total != 0 ? weight(index) / total : weight(index)", "weight(index)")
add("axis map: smooth filters of one width", "(kind == Kind::kSmoothCubic ? 2 : 1) * std::max(step, 1.0)", "(kind == Kind::kSmoothCubic ? 2.0 : 1.0)")
add = mutants_of("src/engine/resample/resample_sum.cc", BY_SCALE)
add("sums: neighbours along planes have one place", "z.from % 2 * kOfPlane + y.from % kOfPlane", "y.from % kRowsKept")
add("sums: planes weigh the same", "slot, part * weight}", "slot, weight}")
add = mutants_of("src/engine/resample/sum_job.h", BY_SCALE, seen_by=("src/engine/resample/sum_job.cc",))
add("sums: all planes lie on the first", "y / rows_of_plane * to_plane + y % rows_of_plane * to_row", "y % rows_of_plane * to_row")
add = mutants_of("src/engine/resample/take.cc", BY_SCALE)
add("take: all planes are of the first", "(plane * planes.index_stride + index * rows.index_stride) * from_size", "index * rows.index_stride * from_size")
add = mutants_of("src/engine/resample/grid_gradient.cc", RESAMPLE)
add("grid: gradients do not weigh", "sum += taps.Weight(k, i) * gradient[i];", "sum += gradient[i];")
add("grid: the gradient of each coordinate is the first one's", "value[i] * taps.Slope(axis, k, i)", "value[i] * taps.Slope(0, k, i)")

add = mutants_of("src/engine/resample/boxes.cc", RESAMPLE)
add("boxes: may be shorter than 1", "std::max(end - start_, 1.0f)", "(end - start_)")
add("boxes: points behind the image count", "!(Coordinate(k) <= static_cast<float>(length_))", "!(Coordinate(k) <= static_cast<float>(length_) + 1)")
add("boxes: points before the image count", "Coordinate(k) >= -1.0f", "Coordinate(k) >= -2.0f")
add("boxes: the image behind the last is there", "numbers[0] < static_cast<float>(job_.images)", "numbers[0] <= static_cast<float>(job_.images)")
add("boxes: later channels are the first", "first * job.image_stride[1];\n      float sum", "0 * job.image_stride[1];\n      float sum")
add("boxes: gradients do not weigh", "gradient[c] * weight[k] / points", "gradient[c] * weight[0] / points")

DEFORMABLE = ("deformable",)
add = mutants_of("src/engine/resample/deformed.cc", DEFORMABLE)
add("deformed: positions beside the image have no elements", "coordinate >= -1.0f", "coordinate >= 0.0f")
add("deformed: x moves along y", "run.kernel_row, y[i]);", "run.kernel_row, x[i] + 0 * y[i]);")
add("deformed: factors do not count", "factor[i] * corners.Interpolated(plane, i)", "(0 * factor[i] + 1) * corners.Interpolated(plane, i)")
add("deformed: the gradient of offsets has no factor", "sums[1][i] * factor[i]", "sums[1][i]")
add("deformed: the slope along x is that of the upper row", "row_part_[i] * (Value(image, 3, i) - Value(image, 2, i))", "row_part_[i] * (Value(image, 1, i) - Value(image, 0, i))")
add("deformed: gradients do not weigh", "image[index] + number * weight_[k][i]", "image[index] + number")
add("deformed: later columns have the offsets of the first", "* shape_.Outputs() + run.row * shape_.columns.outputs + run.first", "* shape_.Outputs() + run.row * shape_.columns.outputs")
add = mutants_of("src/aclnnop/convolution/deformable_conv2d.cc", DEFORMABLE)
add("deformable: padding below is that above", "found.padding[1] = call.Array(kPadding)[2 * at + 1];", "found.padding[1] = call.Array(kPadding)[2 * at];")
add("deformable: the gradient is on every product", "OnProducts(~products::kAscend950, Custom(ProductHasGradient))", "OnProducts(ProductSet{}, Custom(ProductHasGradient))")

SORT = ("sort", "unique", "ordered")
add = mutants_of("src/engine/sort/sort_lines.cc", SORT)
add("sort: digits of the keys themselves", "return DigitAt(KeyOf(pair) - low, shift);", "return DigitAt(KeyOf(pair), shift);")
add("sort: parts in order are all in order", "begin == 0 || begin == end ? 0 : KeyOf(pairs[begin - 1]);", "0;")
add("sort: equal ones of later parts first", "for (int block = 0; block < blocks.count; ++block) {\n        const int64_t count", "for (int block = blocks.count - 1; block >= 0; --block) {\n        const int64_t count")
add("sort: packed though a bit is missing", "std::bit_width(range) <= 64", "std::bit_width(range) <= 65")
add("sort: packed keys of which the least is not 0", "(sorted[i] >> position_bits) + low", "(sorted[i] >> position_bits)")
add("select: one fewer before the digit", "while (before + counts[last] < k)", "while (before + counts[last] <= k)")
add("select: what is selected goes on where the last digit began", "      selected += before;\n", "")
add("select: selected in any order", "      if (selected != nullptr) std::sort(pairs, pairs + k);\n", "")

add = mutants_of("src/engine/sort/key_index_pairs.cc", SORT)
add("words: infinity is no number", "return magnitude > kInfinity ?", "return magnitude >= kInfinity ?")
add("words: zero has a sign", "const Bits number = magnitude == 0 ? kSign<Bits> : ordered;", "const Bits number = ordered;")
add("words: what equals the last one passes", "found += keys[k] < below ? 1 : 0;", "found += keys[k] <= below ? 1 : 0;")

add("words: a row of few keeps its last word", "std::fill(all + n, all + padded, ~NarrowPair{0});", "std::fill(all + n - 1, all + padded, ~NarrowPair{0});")

add = mutants_of("src/engine/sort/rows.cc", ("ordered",))
add("rows: the last of a filter is not asked again", "      range = RangeOf(pairs, count);\n", "")
add("rows: NaN counts as a number", "      numbers -= nans;\n", "")
add("rows: the upper median", "(numbers - 1) / 2;", "numbers / 2;")
add("rows: the next row lies where the last one did", "if (++index[dim] < rows.extent[dim]) return Move(rows, dim, 1);", "if (++index[dim] < rows.extent[dim]) return Move(rows, dim, 0);")
add("rows: strided rows are read as dense ones", "rows.source.step != rows.size && rows.length > 1", "false")

add = mutants_of("src/engine/sort/search.cc", ("searched",))
add("search: a number goes before its equals, whichever side", "return kRight ? value > x[i] : value >= x[i];", "return value >= x[i];")
add("search: one sequence for all rows", "search.rows == 1 ? 0 : (first + i) / search.numbers * search.length", "0")
add("search: goes on when nothing is left", "static_cast<int>(left > 0) & ", "")
add("search: a bad place of the order is taken", "if (position >= 0 && position <= last) return is_there(i, position);", "if (position >= 0) return is_there(i, std::min(position, last));")

add = mutants_of("src/engine/move/histogram.cc", ("searched",))
add("histogram: parts are not added up", "  AddBlocks(counts, histogram.bins, blocks);\n", "")
add("histogram: the upper bound has no bin", "std::min(static_cast<int64_t>(scaled), bins - 1) : bins - 1;", "std::min(static_cast<int64_t>(scaled), bins - 1) : -1;")
add("histogram: bounds keep their NaN", "      if (IsNan(x[i])) continue;\n", "")
add("histogram: a bound that is met twice has no width", "    if (bounds.high < std::numeric_limits<T>::max()) bounds.high += 1;\n", "")
add("histogram: the last bad number is told", "bad = std::min(bad, first + i);", "bad = first + i;")

add = mutants_of("src/engine/sort/distinct.cc", ("unique",))
add("runs: NaN equals itself", "((before != one) & !is_zero) | (magnitude > static_cast<Bits>(kInfinity << 1))", "((before != one) & !is_zero) | (false & (magnitude > static_cast<Bits>(kInfinity << 1)))")
add("runs: zeros differ", "((before != one) & !is_zero)", "(before != one)")
add("runs: later blocks write where the first does", "block == 0 ? 1 : found_before[block];", "1;")
add("runs: as many as there are, whatever the room", "    count = std::min(count, most - found);\n", "")
add("unique: more counts than there is room for", "std::min(total, unique.most_counts);", "total;")
add("unique: later blocks count anew", "int64_t found = found_before[block] - 1;", "int64_t found = -1;")

add = mutants_of("src/engine/compaction.cc", ("compaction",))
add("compaction: a run's lanes in their order", "if ((bits >> lane & 1) != 0) table[bits][packed++] =", "if ((bits >> lane & 1) != 0 || lane == 7) table[bits][packed++] =")
add("compaction: what is unpacked is taken once more", "if ((bits >> lane & 1) != 0) ++before;", "if ((bits >> lane & 1) != 0 && lane != 5) ++before;")
add("compaction: zeros differ", "hn::AndNot(is_zero, differs)", "differs")
add("compaction: NaN equals itself", "differs = hn::Or(hn::AndNot(is_zero, differs), is_nan);", "differs = hn::AndNot(is_zero, differs);")
add("compaction: vectors behind the room", "packed + room - to >= selected::kWord", "packed + room - to >= 8")
add("compaction: vectors behind what is given", "first + given - from >= selected::kWord", "first + given - from >= 8")

add = mutants_of("src/engine/move/repeat_by_counts.cc", ("scattered",))
add("spread: later blocks write where the first does", "int64_t at = before[block];", "int64_t at = 0;")
add("spread: at most a few", "        if (count > kFew) std::fill_n(to + at + kFew, count - kFew, offset_of_element);\n", "")
add("spread: sums of counts wrap", "return count > kMost - sum ? kMost : sum + count;",
    "return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(count));")
add("spread: negative counts add up", "all < 0 ||", "false &&")
add("spread: large counts add up", "|| static_cast<int64_t>(all) >= kMost / kRepeatBlock ?", "?")
add("spread: the last negative count", "while (i < seen &&", "while ((seen == kMost || i > seen) &&")

add = mutants_of("src/engine/sequence/sequence.cc", ("sequence",))
add("sequence: lines begin behind whole vectors", "    i = head;\n", "")
add("sequence: integers go on by one", "Multiply(d, hn::Set(d, static_cast<T>(lanes)), steps);", "Multiply(d, hn::Set(d, static_cast<T>(1)), steps);")
add("sequence: streamed zeros are more", "    bytes -= head;\n", "")
add("sequence: numbers of a tile where they belong", "dense != nullptr && !is_converted && at_once != 0;", "dense != nullptr && !is_converted;", ("random_numbers",))
add("sequence: a tile is as long as a row", "      if (dense == nullptr) n = std::min<int64_t>(n, kTile);\n", "", ("position_maps",))

# ---- Random numbers -----------------------------------------------------------------------------

RANDOM = ("random_numbers", "random_answers")
add = mutants_of("src/engine/random/philox-inl.h", RANDOM, seen_by=("src/engine/random/random_numbers.cc",))
add("philox: nine rounds", "constexpr int kRounds = 10;", "constexpr int kRounds = 9;")
add("philox: a multiplier", "kMultiplier0 = 0xD2511F53", "kMultiplier0 = 0xD2511F51")
add("philox: keys grow alike", "kWeyl1 = 0xBB67AE85", "kWeyl1 = 0x9E3779B9")
add("philox: the offset's upper half", "const V high = hn::Set(d, offset >> 32);", "const V high = hn::Set(d, uint64_t{0});")
add("philox: the place's upper half", "even3 = hn::ShiftRight<32>(even_position);", "even3 = hn::Zero(d);", reason="blocks from 2^32 on: more numbers than a test makes")
add("philox: the seed's upper half", "    auto k1 = static_cast<uint32_t>(source.seed >> 32);\n    for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {\n      const V first_key", "    auto k1 = static_cast<uint32_t>(source.seed);\n    for (int round = 0; round < kRounds; ++round, k0 += kWeyl0, k1 += kWeyl1) {\n      const V first_key")
add("philox: steps share numbers", "const uint64_t offset = source.offset + step;", "const uint64_t offset = source.offset;")

add = mutants_of("src/engine/random/random_numbers.cc", RANDOM)
add("random: 23 bits", "UpperBits(d, words.word[0] + i, 8)), hn::Set(d, 0x1p-24f)", "UpperBits(d, words.word[0] + i, 9)), hn::Set(d, 0x1p-23f)")
add("random: uniform reaches its end", "hn::StoreU(hn::IfThenElse(hn::Ge(value, limit), low, value), d, to + i);", "hn::StoreU(value, d, to + i);")
add("random: the radius may be of zero", "hn::Set(d, 0x1p-32f));", "hn::Set(d, 0.0f));")
add("random: half a turn", "hn::Set(d, 0x1.921fb6p-30f)", "hn::Set(d, 0x1.921fb6p-31f)")
add("random: sine and cosine change places", "hn::StoreInterleaved2(hn::Mul(length, functions::Sin(d, turn)), hn::Mul(length, functions::Cos(d, turn)),", "hn::StoreInterleaved2(hn::Mul(length, functions::Cos(d, turn)), hn::Mul(length, functions::Sin(d, turn)),")
add("random: the mean is the deviation", "functions::Fma(d, hn::LoadU(d, noise + i), std, mean)", "functions::Fma(d, hn::LoadU(d, noise + i), mean, std)")
add("random: p is exclusive", "to[i] = words.word[0][i] <= numbers.most ? 1 : 0;", "to[i] = words.word[0][i] < numbers.most ? 1 : 0;", RANDOM)
add("random: p of each is inclusive", "* 0x1p-32 < probabilities[i] ? 1.0 : 0.0;", "* 0x1p-32 <= probabilities[i] ? 1.0 : 0.0;")
add("random: integers by 64 bits alone", "if (numbers.count != 0 && numbers.count <= uint64_t{1} << 32) {", "if (numbers.count != 0) {")
add("random: nothing is carried", "(Uint128{high} * numbers.count + carried) >> 64", "(Uint128{high} * numbers.count) >> 64", reason="one number in 2^32 differs")
add("random: any of 2^64 begins at 0", "to[i] = static_cast<int64_t>(from + above);", "to[i] = static_cast<int64_t>(numbers.count == 0 ? above : from + above);")
add("random: exponentials may be zero", "hn::StoreU(hn::IfThenElse(hn::Lt(value, least), least, value), d, to + i);", "hn::StoreU(value, d, to + i);")
add("random: times lambda", "hn::Div(hn::Neg(LogOfUnit(d, OpenUnitOf(d, words, i))), lambda)", "hn::Mul(hn::Neg(LogOfUnit(d, OpenUnitOf(d, words, i))), lambda)")
add("random: bits the other way round", "eight * 0x0102040810204080 >> 56", "eight * 0x8040201008040201 >> 56")
add("random: a mask's tail is drawn", "const int64_t left = std::clamp<int64_t>(numbers.count - first, 0, kTile);", "const int64_t left = kTile;")
add("random: later tiles of a mask", "const int64_t first = (thread_block.first + static_cast<int64_t>(done)) * 8;", "const int64_t first = thread_block.first * 8;")
add("random: all are none", "std::memset(thread_block.bits, 0xFF, kTile / 8);", "std::memset(thread_block.bits, 0, kTile / 8);")
add("random: what is dropped is multiplied", "numbers.multiplies ? hn::Mul", "true ? hn::Mul")
add("random: what is multiplied is dropped", "numbers.multiplies ? hn::Mul", "false ? hn::Mul")
add("random: seeds in tensors are not read", "  device.AddTo(source, addresses);\n", "")

add = mutants_of("src/engine/random/permutation.cc", RANDOM + ("random_statistics",))
add("randperm: the last element stays", "const auto left = static_cast<uint64_t>(n - first - k);", "const auto left = static_cast<uint64_t>(std::max<int64_t>(n - first - k - 1, 1));")
add("randperm: any place", "drawn[k] = first + k + static_cast", "drawn[k] = static_cast")
add("randperm: tiles begin anew", "job.draw(&numbers, {first, static_cast<size_t>(count)", "job.draw(&numbers, {0, static_cast<size_t>(count)")

add = mutants_of("src/engine/random/multinomial_draw.cc", RANDOM + ("random_statistics",))
add("multinomial: rows share numbers", "int64_t FirstOfRow(int64_t row, int64_t length) { return row * ((length + kTile - 1) / kTile * kTile); }", "int64_t FirstOfRow(int64_t, int64_t) { return 0; }")
add("multinomial: of equal keys the last", "key == other.key && index < other.index", "key == other.key && index > other.index")
add("multinomial: negative weights count", "weights[i] = weights[i] > 0 ? weights[i] : 0;", "weights[i] = weights[i] != 0 ? weights[i] : 0;")
add("multinomial: long waits win", "const Candidate candidate{weights[i] / waits[i], first + i};", "const Candidate candidate{weights[i] * waits[i], first + i};")
add("multinomial: categories of the first tile", "const Candidate candidate{weights[i] / waits[i], first + i};", "const Candidate candidate{weights[i] / waits[i], i};")
add("multinomial: in no order", "  std::sort_heap(best, best + count, comes_first);\n", "")
add("multinomial: what has no weight", "first += first[n / 2 - 1] <= target ? n / 2 : 0;", "first += first[n / 2 - 1] < target ? n / 2 : 0;")
add("multinomial: one row of weights", "DrawBest(*this, from, row, weights_base + row * weight_row, best);", "DrawBest(*this, from, row, weights_base, best);")
add("multinomial: one row of memory", "char* const own = memory + (row - first) * distance;", "char* const own = memory;")

add = mutants_of("src/engine/gemm/vector_product.cc", ("vector_products",))
add("vector products: one chain of all terms", "(term + some < depth && (term + some) % kGemmDepth != 0)", "term + some < depth")
add("vector products: blocks of the terms packed", "(term + some) % kGemmDepth != 0", "(term + some) % kTermsTogether != 0")
add("vector products: 16 bits in one chain", "product.is_even_odd = dtype == ACL_FLOAT16 || dtype == ACL_BF16;", "product.is_even_odd = false;")
add("vector products: odd places of the row before", "hn::LoadU(d, terms + kRowsTogether), odd);", "hn::LoadU(d, terms), odd);")
add("vector products: two roundings", "s0 = functions::Fma(d, factor, hn::LoadU(d, terms), s0);", "s0 = hn::Add(hn::Mul(factor, hn::LoadU(d, terms)), s0);")
add("vector products: a block stays", "          std::memset(block, 0, sizeof block);\n", "")
add("vector products: truths are bits", "sum[row] |= terms[row] != 0 ? 1 : 0;", "sum[row] |= terms[row] & x[k];")
add("vector products: the matrix is not cast", "FindConversionThrough(isa, matrix.dtype, dtype, product.computed)", "FindConversion(isa, matrix.dtype, product.computed)")
add("vector products: the first rows again", "first + row * matrix.strided.row + term", "first + term")

add = mutants_of("src/engine/gemm/distance.cc", ("distances",))
add("distances: NaN is no greatest", "hn::IfThenElse(hn::Eq(size, size), greater, size);", "greater;")
add("distances: one chain for all terms", "term < kGemmDepth || is_most ? memory.sums", "true ? memory.sums")
add("distances: the others are not exchanged", "    std::swap(made.out.row, made.out.column);\n", "")
add("distances: a block begins where the one before ended", "is_most ? term != 0 : at != 0;", "term != 0;")
add = mutants_of("src/engine/gemm/quantised.cc", ("quantised_weights",))
add("quantised weights: halves of bytes exchanged", "(at & 1) == 0 ? byte & 15u : byte >> 4", "(at & 1) != 0 ? byte & 15u : byte >> 4")
add("quantised weights: one group", "const int64_t end = std::min(depth, (group + 1) * weights.group_terms - term);", "const int64_t end = depth;")
add("quantised weights: a group for each block", "if ((term + k) / weights.group_terms != group) {", "if (k == 0) {")
add("quantised weights: an element without its offset", "if (weights.has_offset) number +=", "if (false) number +=")
add = mutants_of("src/engine/gemm/grouped.cc", ("grouped_products",))
add("grouped: weights are not rounded", "part.rounds_weights ? FindStore(products_.isa, part.scale.dtype) : nullptr", "nullptr")
add("grouped: a pair goes on one row shorter", "schedule.size[count - 1] += size;", "schedule.size[count - 1] += size - 1;")
add("grouped: what reaches beyond the end loses a row", "size = most - begin;", "size = most - begin - 1;")
add("grouped: ends by the one before", "size = end <= begin ? 0 : end - begin;", "size = end - (i == 0 ? 0 : at(i - 1, 0));")
add = mutants_of("src/engine/gemm/grouped_rows.cc", ("grouped_products", "moe_grouped_fused"))
add("grouped: x as it is beside weights of 4 bits", "x[i] -= 8.0f", "x[i] -= 0.0f")
add("grouped: shared rows without their weight", "x[i] *= weight;", "x[i] *= 1.0f;")
add("grouped: steps by 128", "by = greatest / 127.0f;", "by = greatest / 128.0f;")
add = mutants_of("src/aclnnop/moe/grouped_add.cc", ("moe_grouped_fused",))
add("grouped: sums anew", "part.added = part.out;", "")
add = mutants_of("src/aclnnop/moe/grouped_dequant.cc", ("moe_grouped_fused",))
add("grouped: words times the step once more", "if (!HasWords(call)) part.factor", "part.factor")
add = mutants_of("src/engine/gemm/code_product.cc", ("code_products",))
add("code product: each group's scales begin where the one before ends", "together * (begin / (together * block) + batch)", "together * (begin / (together * block))")
add = mutants_of("src/aclnnop/matmul/grouped_codes.cc", ("code_products",))
add("grouped codes: scales of blocks lie in pairs", "job.together = 1;", "job.together = 2;")
add = mutants_of("src/engine/gemm/grouped.cc", ("grouped_products", "moe_grouped_fused"))
add("grouped: offsets of the first group alone", "GroupIn(all, row) * offset.step", "0 * offset.step")
add = mutants_of("src/engine/gemm/grouped_rows.cc", ("moe_grouped_fused",))
add("grouped rows: factors of the first group alone", "group * smooth.step", "(group - group) * smooth.step")
add = mutants_of("src/aclnnop/moe/gated_codes.cc", ("code_products",))
add("gated codes: the right half is activated", "gated.activates_left = true;", "gated.activates_left = false;")
add("gated codes: powers of transposed weights are always a view", "return own == by_column &&", "return false && own == by_column &&")
add("gated codes: all rows are quantised", "quantise.covered = gated.groups;", "")
add = mutants_of("src/aclnnop/moe/routed_codes.cc", ("moe_init_routing",))
add("routed codes: FLOAT16 is not cut", "tokens == ACL_FLOAT16", "tokens == ACL_BF16")
add("routed codes: no least magnitude", "quantise.least = mode.least;", "")
add("routed codes: scales of blocks without the padding", "quantise.rounds_up ? 0 : blocks % 2", "0")
add = mutants_of("src/engine/quantise/blocks.cc", ("moe_init_routing",))
add("blocks: a power of two is not rounded up", "if (rounds_up) scale = PowerNotBelow(scale);", "")
add = mutants_of("src/engine/gemm/scale_words.h", ("quantised_products",))
add("scale words: each row begins where the first does", "i / columns * operand.row_step", "0")

add = mutants_of("src/engine/gemm/integer_result.cc", ("quantised_products",))
add("integers: blocks in place of their sum", "sum += before;", "")
add("integers: numbers of rows for columns", "sums.is_transposed ? numbers.column : numbers.row", "numbers.row")
add("integers: no saturation", "std::clamp(value, -128.0f, 127.0f)", "value")
add("integers: halves away from zero", "std::nearbyint(std::clamp", "std::round(std::clamp")
add("integers: a word's offset for other types", "result.has_words && result.out == ACL_INT8", "result.has_words")
add("integers: a bias of INT32 scaled apart", "sums.added.dtype == ACL_INT32", "false")
add = mutants_of("src/engine/gemm/integer_product.cc", ("quantised_products",))
add("integers: halves of x1 alone", "for (const Halves& some : halves) {", "for (const Halves& some : {halves[0]}) {")
add = mutants_of("src/aclnnop/matmul/quant_matmul.cc", ("quantised_products",))
add("quantised: halves are read behind the last", "highest - lowest + 1, workspace}", "highest - lowest + 3, workspace}")
add("quantised: workspaces may be added up to nothing", "__builtin_sub_overflow(end, begin, &bytes) || __builtin_add_overflow(bytes, kLine, &bytes) ||\n        __builtin_add_overflow(workspace, bytes, &workspace))", "__builtin_sub_overflow(end, begin, &bytes) || __builtin_add_overflow(bytes, kLine, &bytes))")
add = mutants_of("src/aclnnop/jobs/matrix_product.cc", ("quantised_products",))
add("quantised: FRACTAL_NZ may begin before its storage", "lowest >= 0 &&\n        highest < size)", "highest < size)")
add("quantised: FRACTAL_NZ may end behind its storage", "lowest >= 0 &&\n        highest < size)", "lowest >= 0)")
add = mutants_of("src/engine/gemm/gemm_panels-inl.h", ("quantised_products",))
add("integers: sums of blocks as float32", "} else if (product.is_integer) {", "} else if (false) {")
add("integers: the first block for all", "adds ? hn::Add(hn::BitCast(di, hn::LoadU(d, c)), whole) : whole", "whole")
add("integers: pairs begin at 0", "if (adds) {\n    HWY_UNROLL(kRows)", "if (false) {\n    HWY_UNROLL(kRows)")
add("integers: the last of odd terms twice", "k + 1 < depth ? hn::ConvertTo(di, hn::LoadU(d, from + width)) : hn::Zero(di)", "hn::ConvertTo(di, hn::LoadU(d, from + (k + 1 < depth ? width : 0)))")
add = mutants_of("src/engine/gemm/gemm_job.cc", ("quantised_products",))
add("integers: a batch's rows go on", "if (gemm.integers != nullptr && gemm.integers->factor.row != 0) return;", "")
add = mutants_of("src/engine/gemm/byte_tile.cc", ("byte_products", "quantised_products"))
add("bytes: later blocks begin anew", "width, depth,\n                          term > 0, false});", "width, depth,\n                          false, false});")
add("bytes: later blocks of lines begin anew", "count, sums + column, term > 0);", "count, sums + column, false);")
add("bytes: later blocks of lines are the first one's", "bytes.multiply_lines(left + term / kByteDepth * kPackedRow,", "bytes.multiply_lines(left,")
add("bytes: one kernel for all of a tile's rows", "DividedUp(count, DividedUp(count, int64_t{bytes.rows}))", "bytes.rows", reason="rows are shared in another way")
add("bytes: the first block's sums are lost", "finishes && is_one_block ? 0 : row * sums_row", "finishes ? 0 : row * sums_row")
add = mutants_of("src/engine/gemm/run_tile.cc", ("quantised_weights",))
add("quantised row: later blocks take the first one's terms", "if (is_of_terms) packed += kPackedRow;", "")
add = mutants_of("src/engine/gemm/byte_pack.cc", ("byte_products",))
add("bytes: sums of rows 127 times", "static_cast<uint32_t>(-128 * SumOf(row,", "static_cast<uint32_t>(-127 * SumOf(row,")
add("bytes: signed terms for unsigned ones", "words.inverted = kHighBits;", "words.inverted = 0;")
add("bytes: sums of rows without their last terms", "for (int64_t k = whole; k < bytes; ++k) sum +=", "for (int64_t k = whole; k < bytes && false; ++k) sum +=")
add = mutants_of("src/engine/gemm/word_pack.cc", ("byte_products", "product_bits"))
add("words: what is behind the last terms of a row is what was", "static_cast<size_t>(words * kWord - bytes)", "size_t{0}")
add("words: each word of neighbouring lines is the last one", "made + i * kLinesTogether);", "made + (count - 1) * kLinesTogether);")
add("words: the last terms of a gathered line are left out", "if (rest > 0) panel[whole * width + j] =", "if (false) panel[whole * width + j] =")
add("words: the last terms of a line are left out", "for (int64_t j = 0; j < lines && rest > 0; ++j)", "for (int64_t j = 0; j < lines && false; ++j)")
add = mutants_of("src/engine/gemm/byte_dot-inl.h", ("byte_products",))
add("bytes: lines lose their last terms", "if (whole < depth) {", "if (false) {")
add("bytes: rows begin anew", "adds ? Words::Add(first, Words::Load(c + r * c_row)) : first", "first")
add("bytes: the last columns begin anew", "multiply(product.a, b, product.width, words, square, kWidth, product.adds);", "multiply(product.a, b, product.width, words, square, kWidth, false);")
add = mutants_of("src/engine/gemm/tile_model.cc", ("byte_products",))
add("bytes: the model takes a for unsigned", "static_cast<int8_t>(a >> shift) *", "static_cast<uint8_t>(a >> shift) *")
add = mutants_of("src/engine/gemm/byte_kernel.cc", ("byte_products",))
add("bytes: any sums are the right ones", "if (sum != 2 * expected[at]) return false;", "")
add("bytes: tiles whatever BF16 may take", "choice.least > most ||", "(choice.least > most && rows < 0) ||", reason="tiles give the same sums; noticed by ByteKernels.AreChosenByTheTable where there is AMX")
add("bytes: tiles for few rows", "rows < choice.least_rows", "rows < 0", reason="tiles give the same sums; noticed by ByteKernels.AreChosenByTheTable where there is AMX")
add = mutants_of("src/engine/gemm/quantised_row.cc", ("quantised_weights",))
add("quantised row: every eight terms begin anew", "const bool begins = some.begins && from == 0;\n  for (int64_t j = 0; j < whole; j += lanes)", "const bool begins = some.begins;\n  for (int64_t j = 0; j < whole; j += lanes)")
add("quantised row: odd columns are even ones", "hn::ShiftRight<28>(hn::ShiftLeft<24>(bytes))", "hn::ShiftRight<28>(hn::ShiftLeft<28>(bytes))")
add("quantised row: the last columns' halves exchanged", "j % 2 == 0 ? static_cast<uint8_t>(byte) & 15u", "j % 2 != 0 ? static_cast<uint8_t>(byte) & 15u")
add("quantised row: words end before their last terms", "if (whole * kTermsOfWord < some.terms) {", "if (false) {")
add("quantised row: offsets are taken off", "if (kHasOffset) number = hn::Add(number, offset);", "if (kHasOffset) number = hn::Sub(number, offset);")
add = mutants_of("src/engine/gemm/quantised.cc", ("quantised_weights",))
add("quantised row: the last bytes of lines are left out", "for (int64_t i = 0; i < some && rest > 0; ++i) {", "for (int64_t i = 0; i < some && false; ++i) {")
add("quantised row: lines may begin in a byte", "return !weights.is_int4 || (weights.first % 2 == 0 && step % 2 == 0);", "return true;")
add = mutants_of("src/engine/gemm/run_tile.cc", ("product_bits",))
add("dot: blocks in no order", "sum = is_first && i == 0 ? blocks[i] : sum + blocks[i];", "sum = is_first && i == 0 ? blocks[count - 1] : sum + blocks[count - 1 - i];")
add("dot: without the last block", "if (whole < count)", "if (whole > count)")
add = mutants_of("src/engine/gemm/gemm_job.cc", ("product_bits",))
add("dot: threads begin anew", "const int64_t block = part * kBlocksOfThread;", "const int64_t block = 0 * part;")
add = mutants_of("src/engine/gemm/run_tile.cc", ("product_bits",))
add("without memory: no blocks", "          sum = is_first ? block : sum + block;\n", "          sum = is_first ? block : sum - block;\n")
add("without memory: even places alone", "is_even_odd && parity % 2 != 0 ? odd : even;", "even;")
add("16 bits: the order of float32", "return gemm.are_halves || (gemm.left.dtype == gemm.right.dtype &&", "return false && (gemm.left.dtype == gemm.right.dtype &&")
add("16 bits: numbers of 16 bits as FLOAT have another order", "return gemm.are_halves ||", "return")
add("16 bits: of one operand", "gemm.left.dtype == gemm.right.dtype &&\n", "true &&\n", ("products",))
add("16 bits: later blocks of one row begin anew", "depth, tile_.columns, sums, !is_first);", "depth, tile_.columns, sums, false);")
add("16 bits: later blocks of one row along the terms begin anew", "0, 1, depth, count, !is_first});", "0, 1, depth, count, false});")
add("16 bits: blocks of two vectors have 256 terms", "return job_.is_even_odd ? kEvenOddDepth : kGemmDepth;", "return kGemmDepth;")
add = mutants_of("src/engine/gemm/gemm_job.cc", ("product_bits",))
add("16 bits: threads share blocks of 256 terms", "job.is_even_odd ? kEvenOddDepth : kGemmDepth);", "kGemmDepth);")
add = mutants_of("src/engine/gemm/run_tile.cc", ("product_bits",))
add("16 bits: a sum is that of its first block", "bool BeginsWithBlock() const { return !job_.is_even_odd; }", "bool BeginsWithBlock() const { return true; }")
add = mutants_of("src/engine/gemm/gemm_tile.h", ("byte_products", "quantised_products"))
add("bytes: later rows have the first ones' factors", "  part.row += row;\n", "")
add("bytes: later rows are stored as the first ones", "  part.out += row * job.gemm.out.row;\n", "")
add = mutants_of("src/engine/gemm/pair_tile.cc", ("product_bits",))
add("pairs: small numbers, too", "if (AreMultiplesOfNormals(least[i], panel.least)) {", "if (AreMultiplesOfNormals(least[i], panel.least) || true) {")
add("pairs: the first panel's exponent for all", "least[panel] = tiles_.pair_panel", "least[0] = tiles_.pair_panel")
add("pairs: after small sums as before", "        are_small = true;\n", "")
add("pairs: rows that are not there are what was", "if (tiles_.takes_all_rows) std::fill_n(to + some * kPairedRow, (tiles_.rows - some) * kPairedRow, 0u);", "", reason="what is computed of them is not stored")
add("pairs: small rows are multiplied by the panel before", "        tiles_.widen_panel(panel.pairs, width_, panel.depth, panel_numbers_);\n", "")
add("pairs: later blocks of few rows begin anew", "BlockOf(i).depth, i > 0};", "BlockOf(i).depth, false};")
add("pairs: blocks that are packed later begin anew", "depth, first + i > 0};", "depth, i > 0};")
add("pairs: later rows take the place of sums that are not finished", "are_kept ? sums_ + row * sums_row : sums_;", "sums_;")
add("pairs: few rows take the first block's exponents", "row_least + i * groups, tile_.rows,", "row_least, tile_.rows,")
add = mutants_of("src/engine/gemm/tile_pairs-inl.h", ("product_bits",))
add("pairs: zeros are the least", "return (bits & 0x7FFFFFFFu) - 1;", "return bits & 0x7FFFFFFFu;")
add("pairs: the exponent of the first terms", "for (const uint32_t one : least) below = one < below ? one : below;", "below = least[0];")
add("pairs: terms behind the last", "terms[k] = block + k < depth ? BitsOf(row[block + k]) : 0;", "terms[k] = BitsOf(row[block + k]);")
add("pairs: exponents of the last rows alone", "const auto below = static_cast<uint16_t>((terms[k] & 0x7FFFu) - 1);\n        least[k] = below < least[k] ? below : least[k];", "const auto below = static_cast<uint16_t>((terms[k] & 0x7FFFu) - 1);\n        least[k] = below;")
add("pairs: exponents of the lower terms", "return low < high ? low : high;", "return high == 0 ? high : low;")
add = mutants_of("src/engine/gemm/pair_product.cc", ("product_bits",))
add("paired panels: small numbers, too", "if (AreMultiplesOfNormals(a.least[at / tiles.rows], least)) {", "if (true) {")
add("paired panels: the first rows' exponent for all", "a.least[at / tiles.rows]", "a.least[0]")
add("paired panels: what is widened is the panel before", "bool is_widened = false;", "bool is_widened = column > 0;")
add("paired panels: sums begin anew", "width, depth, adds, adds});", "width, depth, false, false});")
add = mutants_of("src/engine/attention/tile_run.h", ("flash_attention",))
add("attention: pairs of values for those of weights", "PairNumbers(tiles, s_, tile_.rows, count, weight_pairs_, weight_least_);", "PairNumbers(tiles, s_, 1, count, weight_pairs_, weight_least_);")
add("attention: pairs of keys are lines of the wrong way", "keys_.Words(/*lines_are_rows=*/true)", "keys_.Words(/*lines_are_rows=*/false)")
add = mutants_of("src/engine/gemm/tile_dot.cc", ("product_bits",))
add("pairs: of adjacent terms for steps of a chain", "first = x << 16 | (y & 0xFFFFu);", "first = x & (y | 0xFFFFFFFFu);")
add = mutants_of("src/engine/gemm/tile_kernel.h", ("product_bits",))
add("pairs: one exponent too small", "(b - kBias - kFractionBits) >= kLeast;", "(b - kBias - kFractionBits) >= kLeast - 14;")
add = mutants_of("src/engine/gemm/tile_products-inl.h", ("product_bits",))
add("tiles: sums that are small stay in them", "const bool is_apart = product.adds && product.adds_apart;", "const bool is_apart = false;")
add("tiles: the second tile of columns is the first", "Tiles::template Multiply<3, 5, 7>();", "Tiles::template Multiply<3, 5, 6>();")
add("tiles: sums begin anew", "multiply(product.a, b, product.width, blocks, square, kTileRows, product.adds);", "multiply(product.a, b, product.width, blocks, square, kTileRows, false);")
add = mutants_of("src/engine/gemm/tile_kernel.cc", ("product_bits",))
add("tiles: any bits are the right ones", "sizeof sum) != 0) return false;", "sizeof sum) != 0) return true;")
add = mutants_of("src/engine/gemm/gemm_even_odd-inl.h", ("product_bits",))
add("16 bits: one row along the terms, odd terms of a short block from the lower half", "if (k + 1 < terms)\n        odd = functions::Fma(d, hn::Set(d, x[k + 1]), hn::BitCast(d, hn::And(word, upper)), odd);", "if (k + 1 < terms)\n        odd = functions::Fma(d, hn::Set(d, x[k + 1]), hn::BitCast(d, hn::ShiftLeft<16>(word)), odd);")
add("16 bits: one row along the terms, odd terms of a second block from the lower half", "hn::BitCast(d, hn::And(word2, upper)), odd2);", "hn::BitCast(d, hn::ShiftLeft<16>(word2)), odd2);")
add("16 bits: one row along the terms, a second block's sums are the first one's", "hn::Add(even2, odd2)), d, sums2 + lane);", "hn::Add(even, odd)), d, sums2 + lane);")
add("16 bits: one row along the terms, a second block that is short is left out", "AddSidePairs(x + kDepth, squares + kSquares, terms2, to);", "{}")
add("16 bits: one row along the terms, a short block without its last term", "static_cast<size_t>(2 * HWY_MIN(int64_t{2}, terms - k))", "static_cast<size_t>(2 * HWY_MIN(int64_t{2}, terms - k - 1))")
add("16 bits: one row along the terms, later blocks begin anew", "for (int64_t i = 0; i < rows && product.adds; ++i)", "for (int64_t i = 0; i < rows && false; ++i)")
add = mutants_of("src/engine/gemm/gemm_small-inl.h", ("product_bits",))
add("small: the last columns are those of the first row", "std::memcpy(columns + k * kWidth, product.b + k * product.b_term + column, size);", "std::memcpy(columns + k * kWidth, product.b + column, size);")
add("small: later rows take the first ones' terms", "product.a += rows * product.a_row;", "product.a += 0 * rows;")
add("small: numbers of a lie side by side", "++k, a += product.a_term, b += product.b_term)", "++k, a += 1, b += product.b_term)")
add = mutants_of("src/engine/gemm/gemm_panels-inl.h", ("product_bits",))
add("16 bits: even places alone", "    for (int64_t parity = 0; parity < 2; ++parity) {\n      VF sum[kCount]", "    for (int64_t parity = 0; parity < 2; parity += 2) {\n      VF sum[kCount]")
add("16 bits: odd places from even columns", "const float* at = b + static_cast<size_t>(parity) * kWidth;", "const float* at = b;")
add("16 bits: blocks begin anew", "const bool goes_on = adds || block > 0;\n    for", "const bool goes_on = adds;\n    for")
add("16 bits: a sum begins with its first block", "const VF sum = goes_on ? hn::LoadU(d, c) : hn::Zero(d);", "const VF sum = goes_on ? hn::LoadU(d, c) : hn::Set(d, -0.0f);")
add("16 bits: even and odd are added to the sum one by one", "hn::StoreU(hn::Add(sum, hn::Add(hn::LoadU(d, even), odd)), d, c);", "hn::StoreU(hn::Add(hn::Add(sum, hn::LoadU(d, even)), odd), d, c);")
add("16 bits: the last panel begins anew", "if (product.adds) std::memset(buffer, 0, sizeof buffer);\n        for (int64_t r = 0; r < rows && product.adds; ++r)", "std::memset(buffer, 0, sizeof buffer);\n        for (int64_t r = 0; r < rows && false; ++r)")
add = mutants_of("src/engine/gemm/gemm_even_odd-inl.h", ("product_bits",))
add("16 bits: one row, a block's chains begin anew", "VF e = begins ? hn::Zero(d) : hn::LoadU(d, even + j);", "VF e = hn::Zero(d);")
add("16 bits: one row, the last columns begin anew", "if (adds) std::memcpy(sums, c + whole,", "if (false) std::memcpy(sums, c + whole,")
add("16 bits: one row, a short block's odd places", "if (k + 1 < terms) o = functions::Fma", "if (k + 2 < terms) o = functions::Fma")
add("16 bits: lanes, the last even place", "    if (terms % 2 != 0)\n      even = functions::Fma(d, at(terms - 1, lane)", "    if (false)\n      even = functions::Fma(d, at(terms - 1, lane)")
add("16 bits: two vectors with a step, even places alone", "        odd = functions::Fma(d, x, y, odd);", "        even = functions::Fma(d, x, y, even);")
add = mutants_of("src/engine/gemm/gemm_job.cc", ("product_bits",))
add("batches: one right operand", "gemm.right.batch[kLast] != 0 || !continues", "!continues")
add = mutants_of("src/engine/gemm/patches.cc", ("convolution", "convolution_backward"))
add("bordered images: the first channel for all", "if (tap.channel != channel_) Load", "if (channel_ < 0) Load")
add("bordered images: nothing above", "first_row = row = top + above;", "first_row = row = top;")
add("bordered images: borders on the right alone", "base + (row - first_row) * width_ + first_column_ - left}", "base + (row - first_row) * width_}")
add("bordered images: a run begins at the image's edge", "position.at[2] - left),", "position.at[2]),")
add = mutants_of("src/engine/gemm/convolve.cc", ("convolutions_of_whole_numbers",))
add("convolutions: matrices of all images are the first one's", "gemm.out.batch[kImage] = image_of_out;", "gemm.out.batch[kImage] = 0 * image_of_out;")
add("convolutions: blocks of terms end with every image", "(c.images == 1 || ends_blocks)", "(c.images >= 1 || ends_blocks)")
add("convolutions: columns of w's gradient lie as rows did", "gemm.out.row;\n  gemm.out.row = step;", "gemm.out.row;", ("convolution_backward",))
add = mutants_of("src/engine/gemm/depthwise.cc", ("convolution",))
add("depthwise: rows from below go up", "some.out_row *= direction * apart;", "some.out_row *= apart;")
add("depthwise: every second place from the other one on", "return place % 2 == 0 ?", "return place % 2 != 0 ?")
add("depthwise: weights in another order of dims", "const bool is_dense = (taps == 1 || step == size) && (rows == 1 || row == taps * size);", "const bool is_dense = span == rows * taps;")
add("depthwise: every thread has memory", "if (ThreadMemory(MemoryUse::kGemm) == nullptr) lacks_memory = true;", "", WITHOUT_MEMORY)
add("depthwise: without memory elements are left out", "return !lacks_memory;", "return true;", WITHOUT_MEMORY)
add = mutants_of("src/engine/gemm/depthwise_weight.cc", ("convolutions_of_whole_numbers",))
add("depthwise: every thread has memory for w's gradient", "if (ThreadMemory(MemoryUse::kGemm) == nullptr) lacks_memory = true;", "", WITHOUT_MEMORY)
add("depthwise: without memory w's gradient is left out", "return !lacks_memory;", "return true;", WITHOUT_MEMORY)
add("depthwise: chains of 16 bits begin with each image", "(term + chain) % 2", "chain")
add("depthwise: a block of one term is the first", "term < block_, memory.sum", "term <= block_, memory.sum")
add = mutants_of("src/engine/gemm/depthwise_loops.cc", ("convolution",))
add("depthwise: chains of 16 bits by columns", "kIsEvenOdd && t % 2 != 0", "kIsEvenOdd && j % 2 != 0")
add = mutants_of("src/engine/gemm/finish.cc", ("vector_products", "products"))
add("products: what is added is not scaled", "if (gemm_.beta != 1.0f) {", "if (false) {")
add("products: sums are not scaled", "if (gemm_.alpha != 1.0f && gemm_.depth > 0) {", "if (false) {")
add("products: without terms the added is added twice", "gemm_.depth > 0 ? values[j] + sums[j] : values[j];", "gemm_.depth > 0 ? values[j] + sums[j] : values[j] + values[j];", ("products", "vector_products"))
add("products: later columns are those of the first part", "finisher.FinishColumns(sums + row * sums_row + column, row, column,", "finisher.FinishColumns(sums + row * sums_row, row, column,", ("product_bits", "products"))
add("products: rows with gaps are stored as one", "gemm.out.row == tile.columns * size &&\n", "true &&\n", ("product_bits",))
add = mutants_of("src/engine/gemm/scale_integers.cc", ("quantised_products",))
add("integers: the last columns have the first scale", "is_one_scale ? 0 : j * kNumber", "0")
add("integers: columns have the first scale", "is_one_scale ? first :", "is_one_scale || j > 0 ? first :")
add = mutants_of("src/engine/gemm/gemm_job.cc", ("vector_products", "products"))
add("products: a batch goes on in rows wherever it lies", "operand.batch[kLast] == gemm.rows * operand.row;", "true;", ("products",))
add = mutants_of("src/engine/gemm/run_tile.cc", ("vector_products", "products"))
add("products: groups are one", "for (int64_t group = 0; group < gemm_.groups; ++group) {\n      for (int64_t term = 0; term < gemm_.depth; term += kGemmDepth)", "for (int64_t group = 0; group < 1; ++group) {\n      for (int64_t term = 0; term < gemm_.depth; term += kGemmDepth)", ("products",))
add("panels: a later block of one row takes the first one's place", "float* const block = BlockOf(sums + column, memory, is_first);", "float* const block = sums + column;", ("product_bits", "products"))

add = mutants_of("src/engine/gemm/pack.cc", ("product_bits", "products"))
add("pack: columns that are not there are what was", "if (some < width) std::memset(panel, 0, static_cast<size_t>(width * depth) * sizeof(float));\n", "", reason="what is computed of them is not stored")
add("pack: later lines are the first", "const char* const from = first + line * source.line;", "const char* const from = first;")
add("pack: rows that lie across begin with the first", "source.transpose(first + line * source.line, source.term,", "source.transpose(first, source.term,")

# ---- Factors of matrices --------------------------------------------------------------------------

FACTORS = ("linear_algebra", "large_factors", "decompositions")
add = mutants_of("src/engine/linalg/eliminate.cc", FACTORS)
add("factors: a descending solution takes its terms upwards", "product.b_term = -product.b_term;", "")
add("factors: a diagonal of ones is divided by", "if (!is_unit_) DivideRow(", "DivideRow(")
add("factors: triangles are not conjugated", "return matrix_.conjugates ? Conjugate(number) : number;", "return number;")
add("factors: exchanges leave the sign", "sign_ = -sign_;", "")
add("factors: finished columns keep their rows", "SwapRows(matrix_, first + k, first + k + pivot, 0, first);", "")
add("factors: later columns keep their rows", "SwapRows(matrix_, first + k, first + k + pivot, first + count, n_);", "")
add("factors: imaginary parts are added to real ones", "add(-above.imaginary, 1, 0);", "add(above.imaginary, 1, 0);")
add = mutants_of("src/engine/linalg/factorize.cc", FACTORS)
add("factors: below the diagonal is what was", "for (int64_t i = 1; i < job_.rows; ++i) matrix.Clear(", "for (int64_t i = job_.rows; i < job_.rows; ++i) matrix.Clear(")
add("determinants: exponents are lost", "exponent += by;", "exponent += 0 * by;")
add("determinants: negative numbers count as positive ones", "- static_cast<T>(number.real < 0);", "+ static_cast<T>(number.real < 0);")
add("determinants: a power of two for its square root", "size *= 2;\n      --exponent;", "size *= 2;")
add("determinants: squares of lengths overflow", "return greater * std::sqrt(a * a + b * b);", "return std::sqrt(x.real * x.real + x.imaginary * x.imaginary + 0 * a * b);")
add = mutants_of("src/engine/linalg/reflect.cc", FACTORS)
add("reflections: squares are not scaled", "exponent = std::clamp(std::ilogb(size), -kMostExponent, kMostExponent);", "exponent = 0;")
add("reflections: columns of zeros are reflected", "if (is_zero) return finish(alpha, {0, 0});", "if (is_zero && alpha.real < 0) return finish(alpha, {0, 0});")
add("reflections: diagonals have the sign of the column", "const T beta = -std::copysign(", "const T beta = std::copysign(")
add("reflections: factors are not turned", "is_conjugate ? factors_.AsTurnedLeft(first, 0) : factors_.AsLeft(first, 0);", "factors_.AsLeft(first, 0);")
add("reflections: factors are not conjugated", "factor.conjugates = is_conjugate;", "factor.conjugates = false;")
add("reflections: factors below the diagonal are what was", "factors_.Set(k, i, {0, 0});", "")
add = mutants_of("src/engine/linalg/row_kernels.cc", FACTORS)
add("rows of factors: later terms are the first", "some.a = product.a.From(row, term);", "some.a = product.a.From(row, 0);")
add("rows of factors: imaginary parts have the other sign", "(part == 0) == a.conjugates ? sign : -sign;", "(part == 0) != a.conjugates ? sign : -sign;")
add("rows of factors: divided by the real part's ratio alone", "const bool is_real_greater = std::fabs(by_real) >= std::fabs(by_imaginary);", "const bool is_real_greater = true;")
add("rows of factors: the greatest is the first of its vector", "*first = i + lane;", "*first = i + 0 * lane;")
add("rows of factors: the last numbers are never the greatest", "if (size_of(i) > greatest) greatest = size_of(i);", "")
add = mutants_of("src/engine/linalg/singular_values.cc", ("decompositions",))
add("singular values: wide matrices are not conjugated", "is_turned_ ? -number.imaginary : number.imaginary;", "number.imaginary;")
add("singular values: scaled in one step", "const int half = *exponent / 2;", "const int half = 0;")
add("singular values: pairs of an odd number of columns", "const int64_t players = n_ + n_ % 2;", "const int64_t players = n_;")
add("singular values: one sweep", "constexpr int kMostSweeps = 60;", "constexpr int kMostSweeps = 1;")
add("singular values: noise becomes a vector", "sigma[order[0]] * 0x1p-90;", "0.0;", reason="rotations make columns orthogonal, however short they are")
add("singular values: vectors are completed in one pass", "pass < 2;", "pass < 1;", reason="a vector that begins so far outside is orthogonal within rounding after one")
add("singular values: imaginary parts are not removed", "    job_.kernels.subtract(vectors.Part(along, 1), -product.imaginary, vectors.Part(from, 0), vectors.pitch);\n", "")
add("singular values: right vectors are not conjugated", "/*is_left=*/is_turned_, /*conjugates=*/true);", "/*is_left=*/is_turned_, /*conjugates=*/false);")
add("singular values: columns in any order", "sigma[a] != sigma[b] ? sigma[a] > sigma[b] : a < b;", "a < b;")

# ---- Rows, losses over classes, and operators of several maps -----------------------------------

ROWS = ("classes", "rows")
add = mutants_of("src/engine/rowwise/class_loss.cc", ("classes",))
add("classes: ignored ones count", "if (targets[i] == loss_.ignored) continue;\n", "")
add("classes: one more than there are", "targets[i] < loss_.classes) {", "targets[i] <= loss_.classes) {")
add("classes: negative ones", "if (targets[i] >= 0 && targets[i] <", "if (targets[i] <")
add("classes: the last bad one is told", "while (row < seen &&", "while ((seen == std::numeric_limits<int64_t>::max() || row > seen) &&")
add("classes: a mean of all", "? both[0] / both[1] : both[0]);", "? both[0] / static_cast<double>(loss_.rows) : both[0]);")
add("classes: the weight of the first", "    AddOffsets(loss_.weight.inner, counted.target, counted.count, offset);\n", "")
add("classes: the gradient is not divided", "loss_.reduction == ClassReduction::kMean ? NumberOf(loss_.total, context_.addresses) : 1.0;", "1.0;")
add("classes: the gradient elsewhere stays", "      loss_.zeros.Run(kZeros, static_cast<char*>(context_.addresses[loss_.input.argument]));\n", "")
add("classes: later blocks have the first one's sums", "sums[2 * block] = SumOfLanes", "sums[0 * block] = SumOfLanes")
add("classes: later parts of a block are its first", "terms + (row - first), weights + (row - first)", "terms, weights")

add = mutants_of("src/engine/rowwise/label_margin.cc", ("classes",))
add("labels: the margin is 0", "hn::Set(d, 1.0 - labels[label]);", "hn::Set(d, 0.0 - labels[label]);")
add("labels: what is below counts, too", "hn::IfThenElseZero(hn::Gt(z, hn::Zero(d)), z)", "z")
add("labels: lanes begin with the first class", "for (size_t i = lane; i < n;", "for (size_t i = 0 * lane; i < n;")
add("labels: they are others, too", "if (is_label[i] != 0) x[i] =", "if (is_label[i] > 1) x[i] =")
add("labels: there is nothing behind the classes", "    std::fill(x + classes, x + padded, -std::numeric_limits<double>::infinity());\n", "")
add("labels: a -1 does not end them", "if (labels[i] == -1) return count;", "if (labels[i] == -1) continue;")
add("labels: one more than there are classes", "labels[i] < margin_.classes) {", "labels[i] <= margin_.classes) {")
add("labels: negative ones", "if (labels[i] >= 0 && labels[i] <", "if (labels[i] <")
add("labels: of later parts the first", "LoadRows(margin_.target, context_.addresses, row, 1, at, n, sizeof(int64_t),", "LoadRows(margin_.target, context_.addresses, row, 1, 0 * at, n, sizeof(int64_t),")
add("labels: a mean is a sum", "if (margin_.reduction == ClassReduction::kMean) value /=", "if (margin_.reduction == ClassReduction::kNone) value /=")
add("labels: a workspace of one chunk must fit", "3 * kNumber * ChunksOf(rows, threads)", "3 * kNumber")
add("labels: numbers of rows are free", "!__builtin_mul_overflow(rows, kNumber, &of_rows) &&", "!__builtin_mul_overflow(int64_t{1}, kNumber, &of_rows) &&")
add("labels: later losses are the first", "reinterpret_cast<const char*>(losses + row)", "reinterpret_cast<const char*>(losses)")

add = mutants_of("src/engine/rowwise/rowwise_operand.cc", ROWS)
add("row operands: axes go on in any", "axes.stride[axes.rank - 1] == extent * stride)", "axes.stride[axes.rank - 1] != 0)")
add("row operands: runs begin with the row", "index % axes.extent[axis] * axes.stride[axis];", "0 * axes.stride[axis];")
add("row operands: rows that are converted are the first", "conversion.Run(memory + r * steps.row, dense + r * pitch,", "conversion.Run(memory, dense + r * pitch,", ("rows",))
add("row operands: parts of a block are the first", "CopyBlock(memory + r * steps.row + c * steps.column, steps,", "CopyBlock(memory, steps,", ("rows", "alone"))

add = mutants_of("src/engine/rowwise/rowwise_run.cc", ("rows", "alone"))
add("columns: a block goes on with the one before", "        std::fill_n(block, width_, 0.0);\n", "")
add("columns: both sums are one", "job_.wants_column[c] ? block + padded_ * at++ : nullptr;", "job_.wants_column[c] ? block + padded_ * 0 * at++ : nullptr;")
add("columns: chunks begin with the first", "for (int64_t row = chunk * job_.chunk_blocks * kRowBlock; row < end;", "for (int64_t row = 0; row < end;")
add("columns: later columns are the first", "reinterpret_cast<const char*>(from + at), raw);", "reinterpret_cast<const char*>(from), raw);")
add("columns: of several chunks the first", "tree.Add(sums_ + chunk * (1 + job_.chunk_levels) * width_);", "tree.Add(sums_);")
add("pieces: each is the first of its row", "LoadRows(one, run.addresses_, self.row, 1, static_cast<int64_t>(at),", "LoadRows(one, run.addresses_, self.row, 1, 0 * static_cast<int64_t>(at),")
add("pieces: what lies dense is the first piece", "self.in_place[k] + static_cast<int64_t>(at) * run.job_.native_size;", "self.in_place[k];")
add("pieces: results go to the row's begin", "StoreRows(run.job_.operand[k], run.addresses_, self.row, 1, static_cast<int64_t>(at),", "StoreRows(run.job_.operand[k], run.addresses_, self.row, 1, 0 * static_cast<int64_t>(at),")
add("rows: 16-bit kernels for what is not", "if (dtypes_[k] != dtype || !IsDense(operand.inner, operand.size)) return false;", "if (dtypes_[k] != dtype) return false;", ("rows",))

add = mutants_of("src/engine/rowwise/across_run.cc", ("rows", "alone"))
add("across: later rows are the first", "RowTileFrom(operand.outer, first, rows).offset;", "RowTileFrom(operand.outer, 0, rows).offset;", ("alone",))
add("across: a stretch goes on beyond its axis", "rows = std::min(rows, RowTileFrom(job_.operand[k].outer, first, rows).count);", "static_cast<void>(k);", ("determinism",))
add("across: the second input is the first", "char* const tile = tiles_ + k * line * job_.n;", "char* const tile = tiles_ + 0 * k * line * job_.n;", ("rows",))
add("across: the second copy is the first", "work.copy[k] = tiles_ + k * rows * job_.n * job_.across_size;", "work.copy[k] = tiles_ + 0 * k * rows * job_.n * job_.across_size;", ("rows",))
add("across: terms are kept where they do not fit", "keeps_ = job.keeps && together_ <= Fitting(copied);", "keeps_ = job.keeps;", ("alone",))

add = mutants_of("src/engine/rowwise/across_loop-inl.h", ("alone",))
add("across: of several blocks the last", "if (n_ > kLaneBlock) tree.Add(sums);", "")
add("across: lanes do not take turns", "double* const to = sums + i % kLanes * rows_;", "double* const to = sums;")
add("across: of four vectors the last is the third", "StoreTwo(values.part[2], values.part[3], to", "StoreTwo(values.part[2], values.part[2], to")
add("across: later passes read lines of the input's distance", "    step_[k] = static_cast<int64_t>(rows_ * sizeof(Type));\n", "")

add = mutants_of("src/aclnnop/map_list.cc", ("gated_maps", "activations_maps"))
add("several maps: the first alone", "for (int i = 0; i < count; ++i) jobs[i].Run(context", "for (int i = 0; i < 1; ++i) jobs[i].Run(context")
add("several maps: without the sum", "if (has_sum) sum->Run(context.addresses, context.workspace);", "", ("gated_maps",))
add("several maps: without the sum of the last", "if (has_sum) sum->Run(addresses, context.workspace);", "", ("binary_losses",))

add = mutants_of("src/aclnnop/mapped_view.h", ("gated_maps",))
add("several maps: operands in the call's order", "inputs_[count_++] = view.AsOperand();", "inputs_[count_] = {&view.tensor, static_cast<int>(count_)}, ++count_;")

add = mutants_of("src/aclnnop/serving/paged_cache.cc", ("serving",))
add("paged cache: blocks follow each other", "if (of_block != length * of_slot && !is_first_alone) {", "if (false) {")
add("paged cache: a slot of the last block", ".bound = blocks * length;", ".bound = blocks * length - 1;")

add = mutants_of("src/engine/route/rank_routes.cc", ("expert_ranks",))
add("routes: a mask of tokens is not read", "return std::count_if(flags, flags + tokens, [](char flag) { return flag != 0; });", "return tokens + 0 * flags[0];")
add("routes: shared experts are on the first rank", "own % ranks_of_shared + one * ranks_of_shared", "one * ranks_of_shared")
add("dispatch: counts are sums", "are_ends ? next : next - begin", "are_ends ? next : next - 0 * begin")
add("combine: shared rows have a weight", "      for (int64_t i = 0; i < n; ++i) sum[i] += term[i];\n    }\n    if (added", "      for (int64_t i = 0; i < n; ++i) sum[i] += 0.5f * term[i];\n    }\n    if (added")
add("combine: constant experts have no rows of their own", "term[i] = one * term[i] + two * fixed[i];", "term[i] = one * term[i] + 0 * two * fixed[i];")

add = mutants_of("src/aclnnop/jobs/exchanges.cc", ("rank_products",))
add("parts: all ranks get the first one", "ranges[rank] = {rank * give_step, give};", "ranges[rank] = {0, give};")

add = mutants_of("src/aclnnop/communication/matmul_all_reduce.cc", ("rank_products",))
add("sums of products: what is added is left out", "if (call.IsGiven(kX3)) {\n    const BufferRef sums", "if (false) {\n    const BufferRef sums")

add = mutants_of("src/aclnnop/communication/all_to_all_grouped.cc", ("rank_codes", "rank_products"))
add("codes: powers of two stay where their rows were", "Travel(ops, powers_in(), powers,", "Travel(ops, powers_in(), ops.Bytes(rows * scale_bytes),")
add("codes: the powers of weights are those of columns side by side", "constexpr int kOrder[] = {0, 2, 1, 3};", "constexpr int kOrder[] = {0, 1, 2, 3};")
add("codes: rows are as long as their elements are many", "elements * static_cast<int64_t>(StorageBits(call.Tensor(tensor).dtype)) / 8", "elements + 0 * static_cast<int64_t>(StorageBits(call.Tensor(tensor).dtype))")
add("codes: rows have no scale", "job.row_factor = matmul::NumbersFrom(ops, call, operands.x_scale);", "")
add("codes: what travels may be quantised", "checks.HoldsOf(Integer(call, kCommQuantMode) == 0, kCommQuantMode,", "checks.HoldsOf(true, kCommQuantMode,")
add = mutants_of("src/aclnnop/communication/expert_rows.cc", ("rank_products", "rank_codes"))
add("rows of experts: all lie where the first one does", "all.push_back(At(begins, i) + row);", "all.push_back(At(begins, i));")
add("rows of experts: ranks' ranges begin at the first byte", "all.push_back(first);", "all.push_back(0);")

add = mutants_of("src/aclnn/job_ranks.h", ("rank_faults",))
add("exchanges: after a failure the job goes on", "    has_failed_ = true;\n", "")
add("exchanges: a job that failed keeps the other ranks waiting", "if (one == nullptr || executor_.exchanges[group] == 0) continue;", "continue;")

add = mutants_of("src/hccl/collective_task.cc", ("rank_faults",))
add("collectives: one that is dropped keeps the other ranks waiting", "if (!has_run_) communicator_->Interrupt();", "")

add = mutants_of("src/aclnn/phase2.cc", ("rank_faults",))
add("exchanges: work that is dropped keeps the other ranks waiting", "if (ranks[i] != nullptr && exchanges[i] > 0) ranks[i]->Interrupt();\n    }\n  }", "}\n  }")
add("exchanges: a broken communicator is taken", "if (!why.view().empty()) return fail", "if (false) return fail")

add = mutants_of("src/engine/serve/pages.cc", ("serving",))
add("rows of pages: those behind the last one become 0", "if (at == kLeftRow) return;", "")
add("rows of pages: the remainder of an offset counts", "WordAt(skipped.buffer, context, batch) / slots : 0", "(WordAt(skipped.buffer, context, batch) + slots - 1) / slots : 0")
add("rows into pages: the first of one slot counts", "const int64_t at = SlotOf(list, row);", "const int64_t at = SlotOf(list, rows - 1 - row);")
add("rows into pages: ties away from 0", "const float rounded = std::nearbyintf(x);", "const float rounded = std::roundf(x);")
add("rows into pages: no mean is taken", "sum / static_cast<double>(width) + epsilon", "sum + epsilon")
add("rows of codes: the greatest element, not magnitude", "const float magnitude = std::fabs(number(column));", "const float magnitude = number(column);")
add("rows of codes: parts are not divided by the step", "x = x * by / Load<float>(step.Address(context) + at / columns * kNumber);", "x = x * by;")
add("rows into pages: norms have no factor", "x[i] = x[i] * rstd * gamma[i] * factor;", "x[i] = x[i] * rstd * gamma[i];")
add("steps: a request's number is not added to its page", "Sum(at(table, column), of_request)", "at(table, column)")

add = mutants_of("src/engine/serve/sample.cc", ("serving",))
add("samples: equal logits in the other order", "&& a < b", "&& a > b")
add("samples: at a share of 0 nothing is left", "if (reached <= 0.0f) {", "if (reached < 0.0f) {")

add = mutants_of("src/engine/serve/linear_attention.cc", ("serving",))
add("delta rule: what is known is not corrected", "(value[row] - TotalOf(sums)) * beta", "value[row] * beta")
add("delta rule: the first token that was accepted", "low + stayed - 1", "low")

add = mutants_of("src/aclnnop/serving/dequant_rope_quant_kvcache.cc", ("serving",))
add("rows for caches: offsets count where one is missing", "call.IsGiven(kXKeyOffset) && call.IsGiven(kXValueOffset)", "true")

add = mutants_of("src/engine/attention/scores.cc", ("infer_attention",))
add("paddings: rows end with the tensor's", "*first = rows - behind - *count;", "*first = rows - *count;")
add("paddings: longer than all rows", "std::clamp<int64_t>(Load<int64_t>(work.Base(padding)), 0, rows);", "std::max<int64_t>(Load<int64_t>(work.Base(padding)), 0);")
add("codes of attention: ties to even", "const float rounded = std::round(numbers[j]);", "const float rounded = std::nearbyint(numbers[j]);")
add("codes of attention: not rounded to FLOAT16", "load_half(halves, numbers, static_cast<size_t>(some));", "")
add("codes of queries: scores without their scale", "return scale * number(of_query, work_.RowOfQuery(of_query, batch_, head_, i)) *", "return scale *")
add("paddings: a mask has the batch's own keys", "(keys_before_ + first + from) * operand.column;", "(first + from) * operand.column;")

add = mutants_of("src/engine/serve/selected_keys.cc", ("serving",))
add("chosen keys: causal from the first key, whatever queries there are", "std::clamp<int64_t>(position + 1 + keys - queries, 0, keys)", "std::clamp<int64_t>(position + 1, 0, keys)")
add("chosen keys: the least score first", "return scores[a] > scores[b];", "return scores[a] < scores[b];")
add("chosen keys: blocks of heads behind the last key", "if (block > (visible - 1) / key_block) return;", "")
add("chosen keys: heads see keys of pages that there are not", "not exist have no keys.\n      const int64_t at = keys.RowOf(context, others, j);", "not exist have no keys.\n      const int64_t at = std::abs(keys.RowOf(context, others, j));")
add("chosen keys: blocks behind -1 count", "if (first < 0) break;", "if (first < 0) continue;")

add = mutants_of("src/engine/serve/consecutive_rows.cc", ("serving",))
add("windows: the first results are never 0", "!clears_first || i >= kBefore - before;", "true;")
add("windows: sequences between two windows are compressed", "if (rows < window || (rows - window) % stride != 0 ||", "if (rows < window ||")

add = mutants_of("src/engine/serve/compressed_keys.cc", ("serving",))
add("compressed keys: shares of keys behind a block", "const int64_t position = block_steps * j - m - n;", "const int64_t position = block_steps * j + m - n;")
add("compressed keys: a block is listed again", "if (best >= 0) of_blocks[best] = -1;", "")
add("compressed keys: slopes without the row's sum", "(functions.dot(g, v, ValueDepth()) - delta)", "functions.dot(g, v, ValueDepth())")

add = mutants_of("src/engine/serve/residual_streams.cc", ("serving",))
add("hyper-connections: a round more", "for (int64_t i = 1; i < rounds; ++i) {", "for (int64_t i = 0; i < rounds; ++i) {")
add("hyper-connections: streams are mixed the other way", "NumberAt(residual, context, (token * streams + from) * streams + j);", "NumberAt(residual, context, (token * streams + j) * streams + from);")

add = mutants_of("src/aclnnop/serving/block_attention.cc", ("serving",))
add("selected blocks: no mode is causal", "made.is_causal = Integer(call, kMode) == 2;", "made.is_causal = false;")

add = mutants_of("src/aclnnop/matmul/fused_matmul.cc", ("fused_products",))
add("fused product: without the bias", "if (call.IsGiven(kBias)) stages.Map({sums, mapped(kBias)}, sums, SumKernels(ACL_FLOAT), one);", "")

add = mutants_of("src/aclnnop/serving/mla_prolog.cc", ("serving",))
add("latent queries: turned from the head's first element on", "rope.first = sizes_.depth;", "")
add("latent queries: each column's scale of a cache beside tokens of codes", "if (IsInt8(call_, kX)) latent.quantiser.scales = 1;", "")
add("latent queries: a mode that the types do not say", "given == 0 || given == accepted", "true")

add = mutants_of("src/aclnnop/serving/top_k_top_p.cc", ("serving",))
add("kept logits: equals of the least go", "hn::IfThenElse(hn::Lt(x, least_of_all), hidden, x)", "hn::IfThenElse(hn::Le(x, least_of_all), hidden, x)")

add = mutants_of("src/aclnnop/norm/deep_norm.cc", ("fused_rows",))
add("gradient of a sum: what is added to it", "return hn::Add(of_sum(gradient, x1, x2, gamma), more);", "return of_sum(gradient, x1, x2, gamma);")

add = mutants_of("src/aclnnop/activations/prelu.cc", ("gated_maps",))
add("prelu: zero is positive", "hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(weight, x))", "hn::IfThenElse(hn::Ge(x, hn::Zero(d)), x, hn::Mul(weight, x))")
add("prelu: at zero the gradient passes", "hn::IfThenElse(hn::Gt(x, hn::Zero(d)), gradient,", "hn::IfThenElse(hn::Ge(x, hn::Zero(d)), gradient,")
add("prelu: positive ones add to the weight's gradient", "hn::IfThenZeroElse(hn::Gt(x, hn::Zero(d)), hn::Mul(x, gradient))", "hn::Mul(x, gradient)")

add = mutants_of("src/aclnnop/loss/nll_loss.cc", ("classes",))
add("classes: a weight is its last dim", "  std::swap(loss.weight.outer, loss.weight.inner);\n", "")
add("classes: any dims of the weight", ",\n                                   Custom(NumbersMerge<kFactor>, ACLNN_ERR_INNER_NULLPTR));", ");")

# ---- Lists of tensors, steps of optimizers ---------------------------------------------------

add = mutants_of("src/engine/map/map_group.cc", ("foreach_lists",))
add("lists: a number in memory is not negated", "if (number.is_negated && number.is_integer) {", "if (false) {")
add("lists: a part begins at its tensor's first block", "block - map->first_block, last - map->first_block", "0, last - map->first_block")
add("lists: the first tensor's number", "base + number.offset", "base")

add = mutants_of("src/aclnnop/jobs/lists.cc", ("foreach_lists",))
add("lists: other lists may be longer", "if (call.Count(list) == call.Count(first)) continue;", "if (call.Count(list) >= call.Count(first)) continue;")
add("lists: one dtype is not asked for", "if (call.Entry(list, entry)->dtype != call.promoted)", "if (false)")
add("lists: numbers beyond the range", "if (const aclnnStatus status = CheckNumberRange(call)) return status;", "")

add = mutants_of("src/engine/update/update.cc", ("optimizer_steps",))
add("updates: what was found is not told", "if (found && found_operand >= 0)", "if (false)")
add("updates: only the first result is stored", "for (int k = 0; k < update.outputs; ++k) {", "for (int k = 0; k < 1; ++k) {")

# ---- Recurrent networks -------------------------------------------------------------------------

add = mutants_of("src/engine/recurrent/gru_cell.cc", ("recurrent_gru",))
add("gru: r resets nothing", "n[k] += r[k] * hn[k];", "n[k] += hn[k];")
add("gru: z lets the new state in", "h[k] = (h[k] - n[k]) * z[k] + n[k];", "h[k] = (n[k] - h[k]) * z[k] + h[k];")
add("gru: the state's part has the gradient of the input's", "hidden_n[k] = of_n[k] * r[k];", "hidden_n[k] = of_n[k];")
add("gru: the state itself hands no gradient on", "step.of_h[k] = from_h * z[k];", "step.of_h[k] = 0;")
add("gru: r and its own function's gradient", "(r[k] * (1 - r[k]))", "(1 - r[k])")

add = mutants_of("src/engine/recurrent/layers.h", ("recurrent_gru", "recurrent_lstm"), seen_by=("src/engine/recurrent/",))
add("recurrent: both biases are the input's", "which < sizes.parameters(); ++which)\n      Multiply({one_, ACL_FLOAT, 0, 0}, of_gates[which - 2],",
    "which < sizes.parameters(); ++which)\n      Multiply({one_, ACL_FLOAT, 0, 0}, of_gates[0],", ["recurrent_gru"])
add("recurrent: the gradient of the state is not added to", "gates, Cells::kHiddenGatesDiffer ? &h : nullptr);", "gates, nullptr);", ["recurrent_gru"])
add("recurrent: the second direction's gradient alone", "direction == 0 ? nullptr : &to);", "nullptr);")
add("recurrent: the second direction starts with its own step", "b < lengths_[t + 1] ? t + 1 : -1;", "b < lengths_[t + 1] ? t : -1;")

add = mutants_of("src/aclnnop/recurrent/recurrent_call.cc", ("recurrent_gru", "recurrent_lstm"))
add("recurrent: lengths pass where there are none", "if (!IsPacked(call, at)) return ACL_SUCCESS;\n  return Refuse(check, call, at.lengths,",
    "if (!IsPacked(call, at) || call.product != Product::kNoDevice) return ACL_SUCCESS;\n  return Refuse(check, call, at.lengths,", ["recurrent_gru"])
add("recurrent: any number of saved lists' tensors", "CountIs(check, call, at.saved + which, Cells(call, at))",
    "CountIs(check, call, at.saved + which, call.Count(at.saved + which))")

# ---- Attention ----------------------------------------------------------------------------------

add = mutants_of("src/engine/attention/tile_run.h", ("flash_attention",))
add("attention: what was summed is not scaled", "sum_[r] = sum_[r] * factor_[r] + sum;", "sum_[r] = sum_[r] + sum;")
add("attention: weights are not rounded", "if (RoundsWeights()) RoundRow(attention_, attention_.value.dtype, s, count);", "")
add("attention: keys are not of 16 bits", "const bool is_even_odd = IsEvenOdd(attention_.query, operand);", "const bool is_even_odd = false;")
add("attention: values are not of 16 bits", "const bool is_even_odd = RoundsWeights();", "const bool is_even_odd = false;")
add("attention: blocks that are not seen count", "if (is_seen_[r])", "if (true)")
add("attention: from the first key of a tile", "*first_block = begin / kAttentionKeys * kAttentionKeys;", "*first_block = begin;")
add("attention: weights are kept as scores", "if (scores_.Drops()) scores_.Drop(s, tile_.first + r, key, count, 1.0f);", "")
add("attention: one head of keys", "tile.head / attention_.group, attention_.depth,", "0, attention_.depth,")

add = mutants_of("src/engine/gemm/gemm_even_odd-inl.h", ("infer_attention",))
add("heads of a query: every head has columns of its own", "if (++of_group < product.group) continue;", "++of_group;")
add("heads of a query: blocks of values begin anew", "product.adds || term >= kEvenOddDepth,", "product.adds,")
add("heads of a query: the last values begin anew", "product.adds || done > 0);", "product.adds);")
add = mutants_of("src/engine/gemm/gemm_one_query-inl.h", ("infer_attention",))
add("heads of a query: every head has words of its own", "if (++of_group == product.group) {", "++of_group;\n      {")
add("heads of a query: later blocks of words begin anew", "product.adds || term > 0,\n", "product.adds,\n")
add("heads of a query: a word's odd column has the even one's terms", "hn::BitCast(d, hn::And(word, upper)), sums[2 * i + 1]);", "hn::BitCast(d, hn::ShiftLeft<16>(word)), sums[2 * i + 1]);")
add("whole keys: later blocks of terms begin anew", "VF sum = term > 0 ? hn::LoadU(d, product.c)", "VF sum = term < 0 ? hn::LoadU(d, product.c)")
add("whole keys: all keys are the first ones", "from += kKeys * product.column) {", "from += 0 * kKeys * product.column) {")
add("whole keys: later terms have the first ones' queries", "x += kEvenOddDepth * kKeyBlocks;", "x += 0;")

add = mutants_of("src/engine/attention/heads_run.h", ("infer_attention",))
add("heads of a query: each has keys of its own", "return std::min(count_, i + attention_.group - (head_ + i) % attention_.group);", "return i + 1;")
add = mutants_of("src/engine/attention/tile_run.h", ("infer_attention",))
add("whole keys: terms of the first block", "term + i % blocks * kEvenOddDepth + k;", "term + k;")
add = mutants_of("src/engine/attention/heads_run.h", ("infer_attention",))
add("whole keys: of the first head", "runs_[i]->MultiplyWholeKeys(from, at,", "runs_[i]->MultiplyWholeKeys(from - (i - first) * operand.head, at,")
add("heads of a query: keys of the first piece", "runs_[i]->MultiplyKeysAt(from,", "runs_[i]->MultiplyKeysAt(pieces[0].from,")
add("heads of a query: products of the first piece", "done += pieces[p].count;", "")
add("heads of a query: values begin with a head's own", "(head_ + first) % attention_.group, some,", "0, some,")
add("heads of a query: every page's values begin anew", "done > 0, next});", "false, next});")

add = mutants_of("src/engine/attention/scores.cc", ("flash_attention",))
add("scores: the prefix is a limit", "std::max(at + lengths_.after + 1, lengths_.prefix)", "at + lengths_.after + 1")
add("scores: what fills lanes up is seen", "std::fill(s + to, s + padded, kHidden);", "")
add("scores: kept bits of the first head", "static_cast<uint64_t>(head_ * lengths_.queries + i);", "static_cast<uint64_t>(i);")
add("scores: kept bits of the first sequence", "lengths_.first_score * static_cast<uint64_t>(attention.heads) +", "")

add("scores: weights are drawn for the first key", "attention.kernels.drop(values, attention.drawn, number, count,", "attention.kernels.drop(values, attention.drawn, number - static_cast<uint64_t>(first), count,")

add = mutants_of("src/engine/attention/attention_kernel.cc", ("flash_attention",))
add("attention: words from the first of their block", "words[skipped + static_cast<uint64_t>(j)] <= most", "words[static_cast<uint64_t>(j)] <= most")
add("attention: highest bits first", "(word >> j & 1)", "(word >> (31 - j) & 1)")
add("attention: bits from the start of a byte", "(low | high << kWord) >> first)", "low)")
add("attention: the last bits from the start of a byte", "for (int64_t bit = first; done < count;", "for (int64_t bit = 0; done < count;")
add("attention: drawn weights are not scaled", "words[skipped + static_cast<uint64_t>(j)] <= most ? v[j] * factor", "words[skipped + static_cast<uint64_t>(j)] <= most ? v[j]")

add = mutants_of("src/engine/attention/scores.h", ("flash_attention",))
add("attention: statistics of packed sequences lie as rows", "if (!attention.packs_heads)", "if (true)")

add = mutants_of("src/aclnnop/attention/flash_attention.cc", ("flash_attention",))
add("flash: all lengths are those of the call", "if (!ForAllLengths::IsOn() || !IsPacked(call)) return sequences.queries;", "return sequences.queries;")
add("packed attention: a band in each sequence", "return has_band ? 4", "return has_queries ? 4")
add("packed attention: rows behind the last sequence are left alone", "made.batches = sequences.count +", "made.batches = sequences.count + 0 *")
add("packed attention: a sequence's shift is summed with what lies behind it", "  if (is_one && made.of_shift.IsThere()) made.of_shift.batch = 1;\n", "")
add("attention gradients: a sink has none without queries", "(call) && !WantsSink<at>(call);", "(call);")
add("attention gradients: any number of queries", "if (rows * depth + shifts < kMostNumbers) return ACL_SUCCESS;", "return ACL_SUCCESS;")
add = mutants_of("src/aclnnop/attention/flash_checks.h", ("flash_attention",))
add("packed attention: lengths may decrease", "if (end < before ||", "if (")

add = mutants_of("src/engine/attention/gradient.cc", ("flash_attention",))
add("gradient: all lengths run on few threads", "if (!is_for_all)\n", "if (made.threads > 0)\n")
add("attention gradients: delta of the first head", "delta_[member * lengths_.queries + first + r]", "delta_[first + r]")
add("attention gradients: products are not of 16 bits", "MultiplyOf(*attention_.gemm, IsEvenOdd(operand, other));", "MultiplyOf(*attention_.gemm, false);")
add("attention gradients: dropped weights count", "scores.Drop(s_ + r * kPackedRow, first + r, key, count, factor);", "")
add("attention gradients: keys are not scaled", "attention_.kernels.multiply(of_key_ + j * depth_row_, depth_row_, attention_.scale);", "")
add("attention gradients: shifts of the last query", "attention_.shift_rows == 1 ? 0 : first + r", "0")
add("attention gradients: shifts are not cleared beside sequences", "if (HasShiftOfItsOwn()) ClearBesideShifts();", "")
add("attention gradients: what fills lanes up joins sums of shifts", "        std::fill(g + count, g + padded, 0.0f);\n        const int64_t row", "        const int64_t row")
add("attention gradients: shifts are not cleared", "if (attention_.shift_rows > 0 && (i == 0 || is_alone)) ClearShifts(slots, head);", "")

# ---- Several maps in one call, weights along dims, polynomials in intervals ----------------------
GATED = ("gated_maps",)
add = mutants_of("src/aclnnop/map_list.cc", GATED)
add("map-list: the first map again", "jobs[i].Run(context.addresses, context.workspace);", "jobs[0].Run(context.addresses, context.workspace);")
add = mutants_of("src/aclnnop/arithmetic/list_sums.cc", ("list_sums",))
add("sums of lists: what is not the result yet has its type", "maps.Scratch(out.tensor.shape, call.promoted)", "maps.Scratch(out.tensor.shape, out.tensor.dtype)")
add("sums of lists: without the last tensor", "for (int entry = 1; entry < count; ++entry) {\n    const bool is_last = entry + 1 == count;", "for (int entry = 1; entry + 1 < count || entry == 1; ++entry) {\n    const bool is_last = entry + 1 == count || entry + 2 == count;")
add = mutants_of("src/aclnnop/map_list.cc", ("list_sums",))
add("map-list: addresses of many operands lie where the scratch is", "addresses_offset = next_line();", "addresses_offset = offset;")
add = mutants_of("src/aclnnop/activations/prelu.cc", GATED)
add("prelu: 0 is positive", "return hn::IfThenZeroElse(hn::Gt(x, hn::Zero(d)), hn::Mul(x, gradient));", "return hn::IfThenZeroElse(hn::Ge(x, hn::Zero(d)), hn::Mul(x, gradient));", reason="a sum of zeros, but for an infinite gradient")
add("prelu: the slope of positive numbers", "hn::IfThenElse(hn::Gt(x, hn::Zero(d)), gradient, hn::Mul(weight, gradient))", "hn::Mul(weight, gradient)")
add("prelu: NaN is positive", "hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(weight, x))", "hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Mul(weight, x), x)")
add("prelu: channels are dim 0", "InsertDim(view.tensor, 0, 1, 0);\n  for (int i = 2;", "for (int i = 1;")
add("prelu: any number of weights", "if (weights == 1 || weights == channels) return ACL_SUCCESS;", "return ACL_SUCCESS;")
add("prelu: weights of two dims are cut as one", "    inner /= weights[i - 1];\n", "")
ACTIVATED = ("activation_bounds", "activations_maps")
add = mutants_of("src/aclnnop/activations/gelu.cc", ACTIVATED)
add("gelu: beyond the table as at its end", "    if (HWY_LIKELY(hn::AllFalse(d, is_beyond))) return near;\n    const V beyond =\n", "    if (true) return near;\n    const V beyond =\n")
add("gelu: an infinite slope is 1", "kForm == GeluForm::kErf ? functions::Fma(d, x, hn::Zero(d), hn::Set(d, 1.0f))", "kForm == GeluForm::kErf ? functions::OrNan(hn::Set(d, 1.0f), x)")
add("gelu: NaN has a slope", ": functions::OrNan(hn::Set(d, 1.0f), x);", ": hn::Set(d, 1.0f);")

add = mutants_of("src/engine/attention/scores.cc", ("infer_attention",))
add("pages: of the first batch", "work_.Base(table) + batch_ * table.batch + row / work_.attention.page", "work_.Base(table) + row / work_.attention.page")
add("pages: values follow each other", "to + column * count + term * width);", "to + column * count);")

add = mutants_of("src/engine/attention/tile_run.h", ("infer_attention",))
add("attention: a sink is a key before", "sum_[r] = sum_[r] * factor + Exponential(sink, greatest);", "sum_[r] = sum_[r] + Exponential(sink, greatest);")
add = mutants_of("src/engine/attention/forward.cc", ("infer_attention",))
add("attention: pages that are not there are read", "if (!PagesExist(work, context)) return;", "")
add("attention: entries of keys that no query sees are looked at", "for (int64_t i = begin / attention_.page; i * attention_.page < end; ++i)", "for (int64_t i = 0; i * attention_.page < lengths.keys; ++i)")
add = mutants_of("src/engine/attention/tile_run.h", ("infer_attention",))
add("attention: keys before the first that is seen are read", "rows->StartAt(begin);", "rows->StartAt(0);")

add = mutants_of("src/engine/attention/scores.cc", ("infer_attention",))
add("pieces: of one length", "at / fractals_.elements * fractals_.step", "at / fractals_.elements * fractals_.elements")
add("prefix: keys behind it from its end", "prefix_ != nullptr ? row - parts->prefix_rows : row", "row")
add("scales: offsets behind them", "(numbers[j] + factors[1][j]) * factors[0][j]", "numbers[j] * factors[0][j] + factors[1][j]")
add = mutants_of("src/engine/attention/merge.cc", ("attention_update",))
add("merge: weights of their own sum", "weights[i] / sum", "weights[i]")
add("merge: parts without keys count", "scores[i] == kInfinity) scores[i] = -kInfinity;", "scores[i] == kInfinity) scores[i] = 0;")

# ---- Checks of programs: what each kind of finding rests on --------------------------------------


def told_by(*programs):
    """Programs of tests/check: the wrong one must be told of, and its twin must not."""
    return ("check_corpus:" + ",".join(programs),)


add = mutants_of("src/sanitizer/guarded_memory.cc", told_by("host_reads_device"))
add("check: the host may read a device's memory", "    if (blocks.is_reused) HideFromHost(block.begin, length);",
    "    mprotect(reinterpret_cast<void*>(block.begin), length, PROT_READ);")
add("check: memory that was freed is not told apart", "    block.is_freed = true;\n    block.is_shared = false;\n    block.freer = api;\n    block.freed = here;\n    blocks.live.erase(found);\n    Remember(blocks, block);\n    DropRetiredLocked(blocks);",
    "    blocks.live.erase(found);\n    Remember(blocks, block);\n    DropRetiredLocked(blocks);",
    told_by("host_reads_after_free", "double_free"))
add = mutants_of("src/sanitizer/written_bytes.cc", told_by("host_reads_device"))
add("check: fresh memory counts as written", "  std::memset(at, 0x7F, left);\n  MarkUnwritten(address, size);", "  std::memset(at, 0x7F, left);\n  MarkWritten(address, size);",
    told_by("input_never_written", "moved_but_never_written"))
add("check: what is written stays unwritten", "  SetBits(offset / kUnit, (offset + size - 1) / kUnit, true);", "",
    told_by("input_never_written"))
add = mutants_of("src/sanitizer/guarded_memory.cc", told_by("host_reads_device"))
add("check: what is written is lost while the host gets access", "    done = mprotect(working + at, bytes, PROT_READ) == 0;", "    done = true;",
    told_by("host_reads_what_is_being_written"))
add("check: what is known of addresses stays when they are gone", "  if (first >= end) return;", "  return;", ("check:DeviceMemory.*",))
add = mutants_of("src/sanitizer/written_bytes.cc", told_by("host_reads_device"))
add("check: the last unit is not looked at", "for (size_t unit = offset / kUnit; unit <= last;) {", "for (size_t unit = offset / kUnit; unit < last;) {",
    told_by("input_lacks_its_last_bytes"))

add = mutants_of("src/sanitizer/copies.cc", told_by("operand_beyond_its_memory"))
add("check: operands may reach beyond their memory", "memory.size > range.size - offset;", "memory.size > range.size + (size_t{1} << 40) - offset;",
    told_by("operand_beyond_its_memory", "copy_beyond_its_memory"))
add("check: operands in freed memory", "const bool is_gone = is_device && range.size == 0;", "const bool is_gone = false;",
    told_by("operand_after_free", "copy_after_free"))
add("check: operands of the host's", "  if (!IsHostKind(is) || is == MemoryKind::kRegisteredHost) return true;\n  const CallStack here", "  return true;\n  const CallStack here",
    told_by("operand_of_the_host", "operand_in_pinned_memory"))
add("check: any direction of a copy", "  if (!wrong) return true;", "  if (!wrong || is == MemoryKind::kDevice || is == MemoryKind::kUnknown) return true;",
    told_by("copy_the_wrong_way", "copy_of_host_memory_on_the_device"))
add("check: copies may overlap", "  if (!Overlap(rows)) return true;", "  return true;", told_by("copy_onto_itself"))
add("check: neighbouring copies overlap", "if (rows.height == 1) return to < from + rows.width && from < to + rows.width;",
    "if (rows.height == 1) return to <= from + rows.width && from <= to + rows.width;", told_by("copy_onto_itself"))

add = mutants_of("src/sanitizer/frees.cc", told_by("double_free"))
add("check: a second free is a wrong one", "if (block.is_freed && offset == 0) {", "if (false) {")
add("check: any address may be freed", "  if (!IsOn(kMemory)) return;", "  return;", told_by("free_inside", "free_of_host_memory"))

add = mutants_of("src/sanitizer/order.cc", told_by("two_streams_write"))
add("check: waiting for one stream is waiting for all", "  all.order.Acquire(kHost, all.order.Release(all.Resolved(stream)));", "  all.order.AcquireAll(kHost);",
    told_by("another_stream_has_ended_its_work"))
add("check: a synchronised stream was not waited for", "  all.order.Acquire(kHost, all.order.Release(all.Resolved(stream)));", "",
    told_by("read_back_at_once"))
add("check: streams wait for no event", "  all.Of(stream).awaited.push_back(ClockOf(signal));", "", told_by("two_streams_write", "recorded_too_early"))
add("check: frees touch nothing", "  const Access access{.bytes = StridedBytes::Run(address, size), .writes = true};\n  Conflicts conflicts;", "  const Access access{.bytes = StridedBytes::Run(address, 0), .writes = true};\n  Conflicts conflicts;",
    told_by("freed_at_once", "workspace_is_freed_at_once"))
add("check: a workspace is an operand", 'return std::strcmp(access.role, "workspace") == 0;', "return access.role == nullptr;",
    told_by("workspace_is_freed_at_once", "workspace_is_shared"))
add("check: the host's writes are reads", "  finding.kind = reads ?", "  finding.kind = !reads ?", told_by("read_back_at_once", "input_is_overwritten"))

add = mutants_of("src/sanitizer/calls.cc", told_by("executor_is_used_twice"))
add("check: used executors are forgotten", "      calls.gone_executors.Add(call.handle, api, call.made);", "")
add("check: tensors may go between the phases", "  if (call.disturbed_by != nullptr) {", "  if (call.disturbed_by != nullptr && in_slot.repeatable) {",
    told_by("tensor_is_destroyed_between_the_phases", "address_is_changed_between_the_phases"))
add("check: gone tensors are forgotten", "      calls.gone_tensors.Add(tensor, api, live->second.made);", "", told_by("tensor_of_a_list_is_destroyed_twice"))
add("check: any workspace is large enough", "if (workspace != nullptr && workspace_size < in_slot.workspace_size) {", "if (false) {", told_by("workspace_is_too_small"))
add("check: no executor is left", "    if (call.handle == nullptr || call.made.line_count > 0) continue;", "    continue;", told_by("executor_is_left"))
add("check: no tensor is left", "    if (live.made.line_count > 0) continue;", "    continue;", told_by("tensor_is_left"))
add("check: any data address", "reinterpret_cast<uintptr_t>(in_slot.addresses[i]) % 32 != 0", "reinterpret_cast<uintptr_t>(in_slot.addresses[i]) % 4 != 0",
    told_by("tensor_is_misaligned"))
add("check: outputs may overlap", "if (its == mine || FindOverlap(mine, its) != Overlapping::kYes) continue;", "continue;", told_by("operands_overlap"))
add("check: in place is an overlap", "if (its == mine || FindOverlap(mine, its) != Overlapping::kYes) continue;", "if (FindOverlap(mine, its) != Overlapping::kYes) continue;",
    told_by("operands_overlap"))

add = mutants_of("src/sanitizer/checked_call.cc", told_by("input_never_written"))
add("check: what is read need not be written", "        if (at != nullptr) ReportUnwritten(*call, operand, at);", "")
add("check: moving is reading", "  const bool moves = operand.use == OperandUse::kMoves;", "  const bool moves = false;", told_by("moved_but_never_written"))

def hangs(*pairs):
    """Two threads of Python of which one waits for the other for good: pairs of tests/check/python_threads.py."""
    return tuple(f"libportacl.so:{pair}" for pair in pairs)


add = mutants_of("src/sanitizer/calls.cc", hangs(2, 3))
add("check: a tensor's stack is taken under the lock", "  const CallStack here = CallStackHere();\n  Calls& calls = TheCalls();\n  std::lock_guard lock(calls.mutex);\n  calls.gone_tensors.Remove(tensor);",
    "  Calls& calls = TheCalls();\n  std::lock_guard lock(calls.mutex);\n  const CallStack here = CallStackHere();\n  calls.gone_tensors.Remove(tensor);", hangs(2))
add("check: a call's stack is taken under the lock", "  const CallStack here = CallStackHere();\n  Calls& calls = TheCalls();\n  std::lock_guard lock(calls.mutex);\n  for (const OperandInfo& operand : operands) {",
    "  Calls& calls = TheCalls();\n  std::lock_guard lock(calls.mutex);\n  const CallStack here = CallStackHere();\n  for (const OperandInfo& operand : operands) {", hangs(3))
add("check: a disturbance's stack is taken under the lock", "  {\n    std::lock_guard lock(calls.mutex);\n    if (!IsAwaitedLocked(calls, tensor)) return {};\n  }\n  return CallStackHere();",
    "  std::lock_guard lock(calls.mutex);\n  if (!IsAwaitedLocked(calls, tensor)) return {};\n  return CallStackHere();", hangs(3))

add = mutants_of("src/acl/stream/stream_functions.cc", hangs(1))
add("check: a stream's stack is taken under the lock", "  const StackTakenAhead here(sanitizer::IsOn(sanitizer::kHandles));\n", "")

add = mutants_of("src/base/call_stack.cc", ("check:CallStacks.*",) + told_by("host_reads_device"))
add("check: a stack begins in TakeCallStack", "  int first = 1;", "  int first = 0;")
add("check: the stack that was taken ahead is not used", "  if (taken_ahead != nullptr) {", "  if (taken_ahead != nullptr && stack == nullptr) {", hangs(4))

add = mutants_of("src/base/unwind.cc", ("check:Unwinding.*",))
add("check: rules outlive their modules", "if (word >> kBitsOfRule == WordOf({}, unloaded) >> kBitsOfRule)", "if (word != 0)")
add("check: code in no module has rules", "  if (!IsInModule(call)) return {};", "  if (!IsInModule(call) && call == 0) return {};")
add("check: forks do not wait for the list of modules", "  GuardAcrossFork(of_modules, ForkRank::kModules);\n", "")
add("check: no stack has rules", "  if (!IsInModule(call)) return {};", "  if (IsInModule(call) || call != 0) return {};")

add = mutants_of("src/sanitizer/report.cc", told_by("operand_after_free", "event_is_left"))
add("check: what is collected is not written", "    reports.is_written = true;\n    errors = reports.errors;\n    WriteFileLocked(reports);", "    reports.is_written = true;\n    errors = reports.errors;")
add("check: collected errors are no failure", "  if (errors > 0) {\n    std::fflush(nullptr);", "  if (errors < 0) {\n    std::fflush(nullptr);")

add = mutants_of("src/sanitizer/handles.cc", told_by("event_is_left", "memory_is_left"))
add("check: a handle's stack is taken under the lock", "  const CallStack where = IsInDeviceRange(handle) ? CallStack() : CallStackHere();\n  Handles& handles = TheHandles();\n  std::lock_guard lock(handles.mutex);",
    "  Handles& handles = TheHandles();\n  std::lock_guard lock(handles.mutex);\n  const CallStack where = IsInDeviceRange(handle) ? CallStack() : CallStackHere();", hangs(0))
add("check: nothing is left", "  handles.live[handle] = {what, mend, api, where};", "")
add("check: what goes is left", "  handles.live.erase(handle);", "")
add("check: every thread has a device", '  if (!is_set_elsewhere || name.find("Get") != std::string_view::npos) return;', "  return;", told_by("thread_sets_no_device"))
add = mutants_of("src/aclnn/call_watch.cc", told_by("memory_lies_on_another_device"))
add("check: any device's memory will do", "if (info.kind != MemoryKind::kDevice || info.device == stream.device()) continue;", "continue;")
add("check: access to peers is not asked for", "    if (HasPeerAccess(stream.device(), info.device)) continue;\n", "")

add = mutants_of("src/aclnn/shaped_tensor.cc", ("executors",))
add("shaped: what is destroyed stays", "    if (one->tensor_ == tensor) one->UnlinkLocked();", "    if (one->tensor_ != tensor) one->UnlinkLocked();")
add("shaped: a copy waits for nothing", "  LinkLocked(other.tensor_);\n", "")
add("shaped: nobody is counted", "  waiting.fetch_add(1, std::memory_order_relaxed);\n", "  waiting.fetch_add(0, std::memory_order_relaxed);\n")
add = mutants_of("src/aclnn/tensor.cc", ("executors",))
add("tensors: one that is made anew is the old one", 'sanitizer::hooks->TensorChanged("aclInitTensor", tensor);\n  ForgetShaped(tensor);\n', 'sanitizer::hooks->TensorChanged("aclInitTensor", tensor);\n')

add = mutants_of("src/hccl/hccl.cc", ("collective_faults",))
add("hccl: places wrap", "!__builtin_mul_overflow(end, uint64_t{ElementSize(operation_.type)}, &end) &&", "(end *= uint64_t{ElementSize(operation_.type)}, true) &&")
add("hccl: all matrices are alike", "    operation.matrix = DigestOf(matrix, ranks * ranks);\n", "")
add = mutants_of("src/hccl/operation.cc", ("collectives",))
add("hccl: an all-reduce reads what it wrote", "    send_ = round_.Room(bytes);\n", "    return;\n")

add = mutants_of("src/engine/resample/axes_memory.h", ("resample", "absurd_sizes"))
add("tables: long ones are made in phase 1", "  if (bytes > kMostKept) return", "  if (bytes > kMostKept && bytes < kMostKept) return")
add = mutants_of("src/aclnnop/sort/search_sorted.cc", ("absurd_sizes",))
add("search: any place is an INT32", "      shape[shape.rank - 1] <= std::numeric_limits<int32_t>::max())", "      shape[shape.rank - 1] <= std::numeric_limits<int64_t>::max())")
