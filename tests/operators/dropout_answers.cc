// What phase 1 of dropout and of its masks answers, from CANN's rules, and their valid calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "aclnnop/families/random.h"
#include "operators/random_rules.h"
#include "support/call_changes.h"
#include "support/rules.h"

namespace portacl::testing {
namespace {

const Listed kDropped = kFloats;
const DtypeList kWritable = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};

// The bytes of a mask with a bit for each of n elements: whole 128 bits.
int64_t MaskBytes(int64_t elements) { return elements / 128 * 16 + (elements % 128 != 0 ? 16 : 0); }
int64_t MaskBytes(const Shape& shape) { return MaskBytes(CountedElements(shape).value_or(0)); }

// The names of what is dropped from, of the mask and of the result.
struct Masked {
  std::string in;
  std::string mask;
  std::string out;
};

// The checks in common, around those of an attribute.
Rules MaskedRules(const Masked& names, const Listed& listed, const Rules& of_attribute,
                  bool may_be_larger = false) {
  return Rules{CastsTo(names.in, names.out), DtypeIn(names.in, listed), DtypeIn(names.mask, {{ACL_UINT8}})} +
         of_attribute +
         Rules{Ranks(names.in),
               ShapeOf(names.out, names.in),
               [=](PlanCall& call) -> std::optional<Verdict> {
                 const std::optional<int64_t> elements = CountedElements(call[names.in].shape);
                 const std::optional<int64_t> bytes = CountedElements(call[names.mask].shape);
                 if (elements && bytes && *bytes == MaskBytes(*elements)) return std::nullopt;
                 if (elements && bytes && may_be_larger && *bytes > MaskBytes(*elements)) return std::nullopt;
                 std::vector<std::string> says = {names.mask};
                 if (bytes) says.push_back(std::to_string(*bytes));
                 return Verdict{161002, {}, says};
               },
               Representable(),
               DoneIfEmpty(names.in),
               Inside(names.in + " " + names.mask),
               WithCode(561103, Ranks(names.mask)),
               Convertible(names.out, kWritable)};
}

void DrawMasked(OperatorSpec& op, const Masked& names, bool may_be_larger = false) {
  const auto shaped = [=](const Shape& shape) {
    return OfShapes({{names.in, shape}, {names.out, shape}, {names.mask, {MaskBytes(shape)}}});
  };
  for (const Shape& shape : {Shape{0, 4}, Shape{}, Shape{128}, Shape{129}, Shape(8, 2)})
    op.bases.push_back(shaped(shape));
  op.bases.push_back(OfDtype(names.out, ACL_DOUBLE));
  op.bases.push_back(OfShape(names.mask, {2, 8}));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    shaped(DrawShape(random, 0, 8))(call);
    if (may_be_larger && random.Chance(50)) call[names.mask].shape[0] += random.Below(3);
    call[names.in].dtype = DrawDtype(random, kReals);
    call[names.out].dtype = DrawDtype(random, kWritable);
    for (PlanArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kReal) one.real = static_cast<double>(random.Between(-1, 5)) / 4;
    }
  };
}

OperatorSpec Dropout() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDropout);
  op.valid = {TensorArg("input", kMatrix),
              RealArg("p", 0.5),
              IntegerArg("train", 1),
              Seed(),
              Offset(),
              OutputArg("out", kMatrix),
              OutputArg("maskOut", {16}, ACL_UINT8)};
  const Masked names = {"input", "maskOut", "out"};
  // BF16 is missing on Ascend 950.
  op.rules = Rules{NoNulls("input out maskOut"), CastsTo("input", "out"),
                   On({Product::k950}, DtypeIn("input", {{ACL_FLOAT, ACL_FLOAT16}}))} +
             MaskedRules(names, kDropped, {RefusesReal("p", IsNoProbability)});
  DrawMasked(op, names);
  for (const double p : {0.0, 1.0}) op.bases.push_back(Real("p", p));
  op.bases.push_back(Integer("train", 0));
  return op;
}

OperatorSpec DropoutV3() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDropoutV3);
  op.valid = {
      TensorArg("input", kMatrix), TensorArg("optionalNoiseShape", {2}), RealArg("p", 0.5), Seed(), Offset(),
      OutputArg("out", kMatrix),   OutputArg("maskOut", {16}, ACL_UINT8)};
  op.valid[1].null = true;
  op.valid[1].is_unread = true;
  const Masked names = {"input", "maskOut", "out"};
  const Rule no_noise =
      Refuses(161002, "optionalNoiseShape", [](PlanCall& call) { return !call["optionalNoiseShape"].null; });
  op.rules = Rules{NoNulls("input out maskOut")} +
             MaskedRules(names, kDropped, {no_noise, RefusesReal("p", IsNoProbability)});
  DrawMasked(op, names);
  for (const double p : {0.0, 1.0}) op.bases.push_back(Real("p", p));
  return op;
}

OperatorSpec DropoutDoMask() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDropoutDoMask);
  op.valid = {TensorArg("self", kMatrix), TensorArg("mask", {16}, ACL_UINT8), RealArg("prob", 0.5),
              OutputArg("out", kMatrix)};
  const Masked names = {"self", "mask", "out"};
  op.rules = Rules{NoNulls("self mask out"), DoneIfEmpty("self mask")} +
             MaskedRules(names, kDropped, {RefusesReal("prob", IsNoProbability)}, true);
  DrawMasked(op, names, true);
  for (const Shape& shape : {Shape{0}, Shape{32}, Shape{17}}) op.bases.push_back(OfShape("mask", shape));
  op.bases.push_back(Together({OfShape("self", {0}), OfDtype("self", ACL_INT8)}));
  return op;
}

OperatorSpec DropoutBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDropoutBackward);
  op.valid = {TensorArg("gradOutput", kMatrix), TensorArg("mask", {16}, ACL_UINT8), RealArg("scale", 2),
              OutputArg("out", kMatrix)};
  const Masked names = {"gradOutput", "mask", "out"};
  // The probability for which kept elements have this scale.
  const auto is_no_scale = [](double scale) { return IsNoProbability(scale == 0 ? 1 : 1 - 1 / scale); };
  op.rules = Rules{NoNulls("gradOutput mask out")} +
             MaskedRules(names, kDropped, {RefusesReal("scale", is_no_scale)});
  DrawMasked(op, names);
  for (const double scale : {0.0, 1.0, 0.5}) op.bases.push_back(Real("scale", scale));
  return op;
}

OperatorSpec DropoutV3Grad() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDropoutV3Grad);
  op.numbers_on = Product::k950;
  op.valid = {TensorArg("gradY", kMatrix), TensorArg("mask", {16}, ACL_UINT8), RealArg("scale", 2),
              OutputArg("gradX", kMatrix)};
  const Masked names = {"gradY", "mask", "gradX"};
  op.rules =
      Rules{
          On({Product::kA2, Product::kA3, Product::k310B, Product::k310P, Product::k910, Product::kNoDevice},
             Refuses(161002, "product", [](PlanCall&) { return true; })),
          NoNulls("gradY mask gradX")} +
      MaskedRules(names, kDropped, {});
  DrawMasked(op, names);
  op.bases.push_back(Real("scale", -3));
  return op;
}

// By the dtype that the probability is rounded to, and with tensors of seed and offset.
OperatorSpec DropoutGenMask(const CFunction& function, bool has_dtype, bool by_tensor) {
  OperatorSpec op;
  op.function = function;
  op.valid = std::vector<PlanArgument>{ArrayArg("shape", {50, 3}), RealArg("prob", 0.5)} + Seeds(by_tensor);
  if (has_dtype) op.valid.push_back(IntegerArg("probDataType", ACL_FLOAT));
  op.valid.push_back(OutputArg("out", {32}, ACL_UINT8));
  const auto dtype_of = [](const PlanCall& call) {
    return static_cast<DtypeNumber>(call["probDataType"].integer);
  };
  const auto is_unread = [](const PlanCall& call) {
    const double prob = call["prob"].real;
    return call.product == Product::k950 || std::fabs(prob) < 0x1p-52 || std::fabs(1 - prob) < 0x1p-52;
  };
  op.rules = Rules{NoNulls("shape")} + If(by_tensor, NoNulls(kSeedTensors)) +
             Rules{NoNulls("out"),
                   DtypeIn("out", {{ACL_UINT8}}),
                   RefusesReal("prob", IsNoProbability),
                   [](PlanCall& call) -> std::optional<Verdict> {
                     const Shape& shape = call["shape"].values;
                     const bool has_zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
                     const bool has_negative =
                         std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; });
                     if (has_zero && has_negative) return Verdict{kUndetermined};
                     const std::optional<int64_t> elements = CountedElements(shape);
                     if (!elements) return Verdict{161002, {}, {"shape"}};
                     const std::optional<int64_t> bytes = CountedElements(call["out"].shape);
                     if (bytes == MaskBytes(*elements)) return std::nullopt;
                     return Verdict{161002, {}, {"out", std::to_string(MaskBytes(*elements))}};
                   },
                   Representable(),
                   DoneIfEmpty("out"),
                   WithCode(561103, Ranks("out"))} +
             If(by_tensor, OneOf(kSeedTensors, kWords)) +
             If(has_dtype, [=](PlanCall& call) -> std::optional<Verdict> {
               if (is_unread(call) || IsOneOf(dtype_of(call), {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}))
                 return std::nullopt;
               std::vector<std::string> says = NamesOf({dtype_of(call)});
               says.push_back("probDataType");
               return Verdict{561103, {}, says};
             });
  const auto of_dims = [](const Shape& shape) {
    return [=](PlanCall& call) {
      call["shape"].values = shape;
      call["out"].shape = {MaskBytes(shape)};
    };
  };
  for (const Shape& shape : {Shape{}, Shape{0, 5}, Shape{128}, Shape{129}})
    op.bases.push_back(of_dims(shape));
  op.bases.push_back(OfShape("out", {2, 16}));
  const std::vector<DtypeNumber> dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_DOUBLE};
  for (const double prob : {0.0, 0.25, 1.0}) {
    for (const DtypeNumber dtype : has_dtype ? dtypes : std::vector<DtypeNumber>{ACL_FLOAT}) {
      op.bases.push_back(Real("prob", prob));
      if (has_dtype) op.bases.back() = Together({Real("prob", prob), Integer("probDataType", dtype)});
    }
  }
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    of_dims(DrawShape(random, 0, 4))(call);
    call["prob"].real = static_cast<double>(random.Below(5)) / 4;
    if (has_dtype) call["probDataType"].integer = DrawDtype(random, kReals);
  };
  return op;
}

}  // namespace

std::vector<OperatorSpec> DropoutOperators() {
  return {Dropout(),
          DropoutV3(),
          DropoutDoMask(),
          DropoutBackward(),
          DropoutV3Grad(),
          DropoutGenMask(PORTACL_C_FUNCTION(aclnnDropoutGenMask), false, false),
          DropoutGenMask(PORTACL_C_FUNCTION(aclnnDropoutGenMaskV2), true, false),
          DropoutGenMask(PORTACL_C_FUNCTION(aclnnDropoutGenMaskV2Tensor), true, true)};
}

}  // namespace portacl::testing
