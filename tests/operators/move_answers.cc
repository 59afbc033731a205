// What phase 1 of copies, casts and fills answers, from CANN's rules, and their valid calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "aclnnop/families/creation.h"
#include "operators/moves.h"
#include "support/converted_value.h"
#include "support/rules.h"

namespace portacl::testing {
namespace {

Listed Convertibles() { return {ConvertibleDtypes()}; }
bool IsPacked(DtypeNumber dtype) {
  return dtype == ACL_FLOAT4_E2M1 || dtype == ACL_FLOAT4_E1M2 || dtype == ACL_INT4;
}

// Draws the shape of the first tensor and a second one that broadcasts to it, and any of these dtypes.
void MakeMove(OperatorSpec& op, const std::string& output, const std::string& input, bool is_value = false) {
  op.is_worded = true;
  for (const auto& [out, in] : {std::pair<Shape, Shape>{{}, {}},
                                {{2, 3}, {3}},
                                {{2, 3}, {2, 1}},
                                {{2, 3}, {}},
                                {{2, 3}, {1, 1}},
                                {{0}, {0}},
                                {{2, 0, 3}, {2, 0, 3}},
                                {{0, 3}, {1, 3}},
                                {{1, 3}, {0, 3}},
                                {{4, 2, 3}, {2, 3}},
                                {Shape(9, 2), {}}}) {
    op.bases.push_back([=](PlanCall& call) {
      call[output].shape = out;
      if (!input.empty()) call[input].shape = is_value ? Shape{1} : in;
    });
  }
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(2, 8, random);
    for (PlanArgument& one : call.arguments) one.dtype = DrawDtype(random, ConvertibleDtypes());
    call[output].shape = *Broadcast(shapes);
    if (!input.empty() && !is_value) call[input].shape = call[output].shape;
    if (!input.empty() && !is_value && random.Chance(50)) call[input].shape = shapes[1];
  };
}

OperatorSpec InplaceCopy() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceCopy);
  op.valid = {OutputArg("selfRef", {2, 3}), TensorArg("src", {2, 3})};
  op.rules = {NoNulls("selfRef src"),
              DtypeIn("selfRef src", Convertibles() + DtypeList{ACL_HIFLOAT8, ACL_FLOAT8_E5M2,
                                                                ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0}),
              Ranks("selfRef src"),
              Broadcasts("selfRef src"),
              HasShape("selfRef", [](const PlanCall& call) { return call.result; }),
              Representable(),
              DoneIfEmpty("selfRef src"),
              Inside("src")};
  MakeMove(op, "selfRef", "src");
  return op;
}

// Elements of 4 bits are contiguous in whole bytes.
Rule LiesPacked(const std::string& names) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    for (const std::string& name : Words(names)) {
      const PlanArgument& one = call[name];
      if (IsPacked(one.dtype) && (!IsDense(one) || one.strides.offset % 2 != 0))
        return Verdict{561103, {}, {name, "even element"}};
    }
    return std::nullopt;
  };
}

OperatorSpec Cast() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnCast);
  op.valid = {TensorArg("self", {2, 3}), IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2, 3})};
  op.takes_workspace = true;  // to and from codes of 4 bits
  Listed from = Convertibles() - DtypeList{ACL_BF16};
  from.on_new = {ACL_BF16};
  from.on_950 = {ACL_HIFLOAT8,  ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN,
                 ACL_COMPLEX32, ACL_FLOAT4_E1M2, ACL_FLOAT4_E2M1};
  Listed to = from;
  to.on_950.push_back(ACL_INT4);
  const auto dtype_of = [](const PlanCall& call) { return static_cast<DtypeNumber>(call["dtype"].integer); };
  op.rules = {NoNulls("self out"),
              DtypeIn("self", from),
              [=](PlanCall& call) -> std::optional<Verdict> {
                if (to.Has(call.product, dtype_of(call))) return std::nullopt;
                return Verdict{161002, {"dtype"}, NamesOf({dtype_of(call)})};
              },
              Ranks("self"),
              HasShape("out", [](const PlanCall& call) { return call["self"].shape; }),
              Refuses(161002, "self",
                      [](PlanCall& call) { return call["out"].dtype == ACL_INT4 && !IsDense(call["self"]); }),
              Representable(),
              DoneIfEmpty("self"),
              Inside("self"),
              [=](PlanCall& call) -> std::optional<Verdict> {
                if (call["out"].dtype == dtype_of(call)) return std::nullopt;
                return Verdict{561103, {"out"}, NamesOf({call["out"].dtype, dtype_of(call)})};
              },
              [](PlanCall& call) -> std::optional<Verdict> {
                const DtypeNumber self = call["self"].dtype;
                const DtypeNumber out = call["out"].dtype;
                if (self == out || (self != ACL_COMPLEX32 && out != ACL_COMPLEX32)) return std::nullopt;
                return Verdict{561103, {"self"}, NamesOf({self, out})};
              },
              LiesPacked("self out")};
  MakeMove(op, "out", "self");
  op.draw = [draw = op.draw](PlanCall& call, RandomNumbers& random) {
    draw(call, random);
    if (random.Chance(80)) call["self"].shape = call["out"].shape;
    call["dtype"].integer = call["out"].dtype;
  };
  return op;
}

const DtypeList kFilled = {ACL_FLOAT, ACL_INT32,  ACL_INT64, ACL_FLOAT16,   ACL_INT16,     ACL_INT8,
                           ACL_UINT8, ACL_DOUBLE, ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128};

OperatorSpec InplaceFillScalar() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceFillScalar);
  op.valid = {OutputArg("selfRef", {2, 3}), ScalarArg("value", {3, 0}, ACL_INT64)};
  op.rules = {NoNulls("selfRef value"),
              DtypeIn("selfRef", {kFilled, {ACL_BF16, ACL_UINT16, ACL_UINT32, ACL_UINT64}}),
              [](PlanCall& call) -> std::optional<Verdict> {
                const DtypeNumber self = call["selfRef"].dtype;
                const DtypeNumber value = call["value"].dtype;
                if (PromoteDtypes(self, value) != kUndefinedDtype) return std::nullopt;
                std::vector<std::string> says = NamesOf({self, value});
                says.insert(says.end(), {"selfRef", "value"});
                return Verdict{161002, {}, says};
              },
              Ranks("selfRef"),
              Representable(),
              DoneIfEmpty("selfRef"),
              Convertible("value", ConvertibleDtypes())};
  MakeMove(op, "selfRef", "");
  return op;
}

OperatorSpec InplaceFillTensor() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceFillTensor);
  op.valid = {OutputArg("selfRef", {2, 3}), TensorArg("value", {})};
  op.rules = {NoNulls("selfRef value"),
              DtypeIn("selfRef", {kFilled, {ACL_BF16}}),
              Ranks("selfRef"),
              HasShape("value",
                       [](const PlanCall& call) { return call["value"].shape.empty() ? Shape{} : Shape{1}; }),
              Representable(),
              DoneIfEmpty("selfRef"),
              Convertible("value", ConvertibleDtypes())};
  MakeMove(op, "selfRef", "value", /*is_value=*/true);
  return op;
}

OperatorSpec InplaceOne() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceOne);
  op.valid = {OutputArg("selfRef", {2, 3})};
  const DtypeList listed = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_UINT8,
                            ACL_INT16, ACL_INT32,   ACL_INT64,  ACL_BOOL};
  op.rules = {NoNulls("selfRef"), DtypeIn("selfRef", {listed, {ACL_BF16}}), Ranks("selfRef"), Representable(),
              DoneIfEmpty("selfRef")};
  MakeMove(op, "selfRef", "");
  return op;
}

// The number of dims after those that continue each other are merged.
size_t MergedDims(const PlanArgument& tensor) {
  if (IsDense(tensor)) return 1;
  const std::vector<int64_t> strides = tensor.strides.For(tensor.shape);
  size_t dims = 0;
  int64_t next = 0;  // the stride with which a dim continues the one after it
  for (size_t i = strides.size(); i-- > 0;) {
    if (tensor.shape[i] == 1) continue;
    dims += dims == 0 || strides[i] != next ? 1 : 0;
    next = strides[i] * tensor.shape[i];
  }
  return dims;
}

OperatorSpec InplaceZero() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceZero);
  op.valid = {OutputArg("selfRef", {2, 3})};
  Listed listed = Convertibles() - DtypeList{ACL_UINT32, ACL_UINT64};
  listed.on_950 = {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2};
  op.rules = {NoNulls("selfRef"), DtypeIn("selfRef", listed), Representable(), DoneIfEmpty("selfRef"),
              Inside("selfRef"),
              // With more dims, only dtypes of an NPU's vector core have a loop.
              [](PlanCall& call) -> std::optional<Verdict> {
                const PlanArgument& self = call["selfRef"];
                const DtypeList without = {ACL_DOUBLE, ACL_INT16, ACL_UINT16, ACL_COMPLEX64, ACL_COMPLEX128};
                if (self.shape.size() <= 8 || !IsOneOf(self.dtype, without)) return std::nullopt;
                return Verdict{561103, {"selfRef"}, {DtypeName(self.dtype), "8 dims"}};
              },
              [](PlanCall& call) -> std::optional<Verdict> {
                const PlanArgument& self = call["selfRef"];
                if (!IsPacked(self.dtype) && MergedDims(self) <= 8) return std::nullopt;
                return Verdict{561103, {"selfRef"}, {DtypeName(self.dtype), "8"}};
              }};
  MakeMove(op, "selfRef", "");
  for (const DtypeNumber dtype : ConvertibleDtypes()) {
    for (const Shape& shape : {Shape(8, 2), Shape(9, 2), Shape{2, 2, 2, 2, 0, 2, 2, 2, 2}}) {
      op.bases.push_back(
          [=](PlanCall& call) { call["selfRef"].dtype = dtype, call["selfRef"].shape = shape; });
    }
  }
  // Nine dims that do not merge, and with two that do.
  for (const int64_t step : {9, 6}) {
    op.bases.push_back([=](PlanCall& call) {
      call["selfRef"].shape = Shape(9, 2);
      call["selfRef"].strides = {
          true, {3 * 6561, 3 * 2187, 3 * 729, 3 * 243, 3 * 81, 81, 27, step, 3}, 77, 0, Shape{200000}};
    });
  }
  return op;
}

}  // namespace

std::vector<const OperatorSpec*> MoveOperators() {
  // Never destroyed: programs call operators until they have ended.
  static const auto& all = *new std::vector<OperatorSpec>{
      InplaceCopy(), Cast(), InplaceFillScalar(), InplaceFillTensor(), InplaceZero(), InplaceOne()};
  std::vector<const OperatorSpec*> pointers;
  for (const OperatorSpec& op : all) pointers.push_back(&op);
  return pointers;
}

const OperatorSpec& MoveOperatorNamed(const std::string& name) {
  for (const OperatorSpec* op : MoveOperators()) {
    if (op->function.name == name) return *op;
  }
  throw std::logic_error(name + " is no copy, cast or fill");
}

}  // namespace portacl::testing
