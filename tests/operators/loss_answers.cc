// What phase 1 of the losses answers, from CANN's rules, and their valid calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "aclnnop/families/loss.h"
#include "operators/losses.h"
#include "support/index_rules.h"

namespace portacl::testing {
namespace {

const DtypeList kLossDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
// What is read and written where a rule leaves more open.
const DtypeList kReadable = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_INT8, ACL_UINT8,
                             ACL_INT16, ACL_INT32,   ACL_INT64, ACL_BOOL};
const DtypeList kWritable = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
const DtypeList kWritableFromInt64 = {ACL_FLOAT,      ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_COMPLEX64,
                                      ACL_COMPLEX128, ACL_INT8,    ACL_UINT8, ACL_INT16,  ACL_UINT16,
                                      ACL_INT32,      ACL_UINT32,  ACL_INT64, ACL_UINT64};

bool IsNone(const IndexCall& call) { return call["reduction"].integer == 0; }
bool IsReduced(const IndexCall& call) { return !IsNone(call); }
Shape Broadcasted(const IndexCall& call) { return call.result; }

// ---- self, target, an output ----

using ReducedShape = Shape (*)(const Shape& broadcast);
Shape Scalar(const Shape&) { return {}; }
Shape WithoutFirst(const Shape& shape) {
  return shape.empty() ? Shape{} : Shape(shape.begin() + 1, shape.end());
}

// Changes shapes of the inputs and sets the output's to what the reduction gives.
void SetShapes(IndexCall& call, const Shape& self, const Shape& target, int64_t reduction,
               ReducedShape reduced) {
  const Shape broadcast = Broadcast(self, target).value_or(Shape{});
  call["self"].shape = self;
  call["target"].shape = target;
  call["reduction"].integer = reduction;
  call.arguments.back().shape = reduction == 0 ? broadcast : reduced(broadcast);
}

void MakeLoss(IndexOperator& op, int64_t modes, ReducedShape reduced) {
  op.takes_workspace = true;
  for (int64_t reduction = 0; reduction <= modes; ++reduction) {
    for (const auto& [self, target] : {std::pair<Shape, Shape>{{2, 3}, {2, 3}},
                                       {{2, 1, 4}, {3, 1}},
                                       {{3}, {2, 3}},
                                       {{}, {2, 3}},
                                       {{}, {}},
                                       {{1}, {}},
                                       {{5}, {5}},
                                       {Shape(8, 2), {}},
                                       {{0, 3}, {0, 3}},
                                       {{1, 3}, {0, 1}},
                                       {{}, {2, 0}},
                                       {{3, 0}, {3, 0}}}) {
      op.bases.push_back([=](IndexCall& call) { SetShapes(call, self, target, reduction, reduced); });
    }
  }
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(2, 8, random);
    SetShapes(call, shapes[0], shapes[1], random.Below(modes + 1), reduced);
    for (IndexArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kTensor) one.dtype = DrawDtype(random, kLossDtypes);
      if (one.name == "logTarget") one.integer = random.Below(2);
      if (one.kind == ParameterKind::kReal) one.real = random.Unit() * 2;
    }
  };
}

// An output of R's shape, or that of a reduction.
IndexRules OutputIs(const std::string& output, ReducedShape reduced) {
  return {When(IsNone, HasShape(output, Broadcasted)),
          When(IsReduced, HasShape(output, [=](const IndexCall& call) { return reduced(call.result); }))};
}

IndexOperator L1Loss() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnL1Loss);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              OutputArg("out", {2, 3})};
  const auto is_float = [](const IndexCall& call, const char* name) {
    return IsFloatingDtype(call[name].dtype);
  };
  op.rules = IndexRules{NoNulls("self target out"),
                        IntegerFrom("reduction", 0, 2),
                        Refuses(161002, "self",
                                [=](IndexCall& call) {
                                  const bool self = is_float(call, "self");
                                  const bool target = is_float(call, "target");
                                  const int64_t mode = call["reduction"].integer;
                                  return mode == 0 ? target && !self : mode == 1 && !target && !self;
                                }),
                        Promote("self target"),
                        PromotedIsIn(kFloats + DtypeList{ACL_INT64}),
                        PromotedFits("out"),
                        AtMost8Dims("self target"),
                        BroadcastsTogether("self target")} +
             OutputIs("out", Scalar) +
             IndexRules{Representable(),
                        When(IsNone, DoneIfEmpty("self target")),
                        [](IndexCall& call) {
                          return Convertible(
                              "out", call.promoted == ACL_INT64 ? kWritableFromInt64 : kWritable)(call);
                        },
                        DoneIfEmpty("self target"),
                        Inside("self target"),
                        Convertible("self target", kReadable)};
  MakeLoss(op, 2, Scalar);
  return op;
}

IndexOperator SmoothL1Loss() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnSmoothL1Loss);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              RealArg("beta", 1), OutputArg("result", {2, 3})};
  op.rules = {NoNulls("self target result"), DtypeOf("self target", kFloats), Promote("self target"),
              PromotedFits("result"), IntegerFrom("reduction", 0, 2), AtMost8Dims("self target"),
              BroadcastsTogether("self target"), When(IsNone, HasShape("result", Broadcasted)),
              NotBelowZero("beta"), Representable(), When(IsNone, DoneIfEmpty("self target")),
              Convertible("result", kWritable),
              // A reduced result of a wrong shape is found only when it would be written.
              When([](const IndexCall& call) { return IsAnyEmpty(call, "self target"); },
                   HasOneElement("result", 561103)),
              DoneIfEmpty("self target"), Inside("self target"),
              Refuses(561103, "format",
                      [](IndexCall& call) {
                        return call["result"].shape.empty() && call["result"].format == ACL_FORMAT_NCHW;
                      }),
              When(IsReduced, HasOneElement("result", 561103))};
  MakeLoss(op, 2, Scalar);
  return op;
}

IndexOperator KlDiv() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnKlDiv);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              IntegerArg("logTarget", 0), OutputArg("out", {2, 3})};
  op.rules = {NoNulls("self target out"), DtypeOf("self target out", kFloats), AtMost8Dims("self target"),
              IntegerFrom("reduction", 0, 3), Representable(),
              // Empty inputs need not broadcast. Without a reduction out may have any shape then.
              When(IsNone, DoneIfEmpty("self target")),
              When([](const IndexCall& call) { return IsAnyEmpty(call, "self target"); },
                   HasOneElement("out", 561103)),
              DoneIfEmpty("self target"), Inside("self target"), BroadcastsTogether("self target"),
              // Two scalars are computed as tensors of one element, which out may be, too.
              When(IsNone, HasShape("out",
                                    [](const IndexCall& call) {
                                      const bool is_one =
                                          call.result.empty() && call["out"].shape == Shape{1};
                                      return is_one ? Shape{1} : call.result;
                                    })),
              When(IsReduced, HasOneElement("out", 161002))};
  MakeLoss(op, 3, Scalar);
  return op;
}

IndexOperator Mse(const CFunction& function, ReducedShape reduced) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              OutputArg("out", {2, 3})};
  op.rules =
      IndexRules{
          NoNulls("self target out"),          Promote("self target"),         PromotedIsIn(kFloats),
          DtypeOf("self target out", kFloats), IntegerFrom("reduction", 0, 2), AtMost8Dims("self target"),
          BroadcastsTogether("self target")} +
      OutputIs("out", reduced) +
      IndexRules{Representable(), DoneIfEmpty("self target"), Inside("self target")};
  MakeLoss(op, 2, reduced);
  return op;
}

// ---- gradients ----

// The position of gradOutput, self, target and of the result's shape among these: -1 for that of all together.
void SetShapes(IndexCall& call, const std::vector<Shape>& shapes, int result) {
  for (size_t i = 0; i < 3; ++i) call.arguments[i].shape = shapes[i];
  const std::optional<Shape> all = Broadcast(shapes);
  call.arguments.back().shape = result < 0 ? all.value_or(Shape{}) : shapes[static_cast<size_t>(result)];
}

void MakeGradient(IndexOperator& op, int result) {
  for (IndexArgument& one : op.valid) {
    if (one.name == "reduction") continue;
    one.shape = {2, 3};
  }
  const int64_t large = int64_t{1} << 40;
  for (const std::vector<Shape>& shapes : std::vector<std::vector<Shape>>{{{}, {2, 3}, {2, 3}},
                                                                          {{2, 3}, {}, {2, 3}},
                                                                          {{2, 3}, {2, 3}, {}},
                                                                          {{2, 3}, {3}, {2, 3}},
                                                                          {{2, 3}, {2, 1}, {2, 3}},
                                                                          {{2, 3}, {1, 3}, {2, 3}},
                                                                          {{2, 3}, {2, 3}, {3}},
                                                                          {{2, 3}, {2, 3}, {2, 1}},
                                                                          {{2, 3, 4}, {2, 1, 4}, {2, 3, 4}},
                                                                          {{2, 1, 1}, {3, 1}, {4}},
                                                                          {{4, 2, 3}, {2, 3}, {1, 3}},
                                                                          {{4, 2, 3}, {2, 1}, {4, 1, 3}},
                                                                          {{3}, {1, 3}, {3}},
                                                                          {{1, 3}, {3}, {1, 3}},
                                                                          {{}, {}, {}},
                                                                          {{1}, {}, {}},
                                                                          {{0}, {0}, {0}},
                                                                          {{0}, {1}, {1}},
                                                                          {{0}, {2}, {2}},
                                                                          {{1}, {1}, {0}},
                                                                          {{1}, {2, 0}, {}},
                                                                          {{0}, {1}, {0}},
                                                                          {{}, {0}, {}},
                                                                          {{1, 1}, {2, 1}, {2, 0}},
                                                                          {{}, {0, 3}, {3}},
                                                                          {{}, {}, {3, 0}},
                                                                          {{1, 3}, {0, 3}, {1, 1}},
                                                                          {{2, 0, 3}, {2, 0, 3}, {2, 0, 3}},
                                                                          {{}, {large, 1}, {1, large}},
                                                                          {{}, {}, {1 << 20, 1 << 20}}}) {
    op.bases.push_back([=](IndexCall& call) { SetShapes(call, shapes, result); });
  }
  for (const int64_t mode : {1, 2, 3}) {
    op.bases.push_back([=](IndexCall& call) { call["reduction"].integer = mode; });
    op.bases.push_back([=](IndexCall& call) {
      SetShapes(call, {{}, {2, 1}, {2, 3}}, result);
      call["reduction"].integer = mode;
    });
  }
  op.takes_workspace = result >= 0;
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    SetShapes(call, RandomBroadcastShapes(3, 8, random), result);
    const DtypeNumber dtype = DrawDtype(random, kLossDtypes);
    const bool mixed = random.Chance(50);
    for (IndexArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kTensor) one.dtype = mixed ? DrawDtype(random, kLossDtypes) : dtype;
      if (one.name == "logTarget") one.integer = random.Below(2);
      if (one.kind == ParameterKind::kReal) one.real = random.Unit() * 2;
    }
    call["reduction"].integer = random.Below(3);
  };
}

IndexOperator L1LossBackward() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnL1LossBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}), TensorArg("target", {}),
              IntegerArg("reduction", 0), OutputArg("gradInput", {})};
  op.rules = {NoNulls("gradOutput self target gradInput"),
              IntegerFrom("reduction", 0, 2),
              Promote("gradOutput self target"),
              PromotedFits("gradInput"),
              PromotedIsIn(kFloats),
              AtMost8Dims("self target gradOutput gradInput"),
              BroadcastsTogether("self gradOutput target"),
              HasShape("gradInput", Broadcasted),
              Representable(),
              DoneIfEmpty("self gradOutput target"),
              Inside("gradOutput self target"),
              Convertible("gradOutput self target", kReadable),
              Convertible("gradInput", kWritable)};
  MakeGradient(op, -1);
  return op;
}

IndexOperator SmoothL1LossBackward() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnSmoothL1LossBackward);
  op.valid = {TensorArg("gradOut", {}),   TensorArg("self", {}), TensorArg("target", {}),
              IntegerArg("reduction", 0), RealArg("beta", 1),    OutputArg("gradInput", {})};
  op.rules = {NoNulls("gradOut self target gradInput"),
              DtypeOf("gradOut self target gradInput", kFloats),
              AtMost8Dims("gradOut self target"),
              IntegerFrom("reduction", 0, 2),
              NotBelowZero("beta"),
              BroadcastsTogether("gradOut self target"),
              HasShape("gradInput", Broadcasted),
              Representable(),
              DoneIfEmpty("gradOut self target"),
              Inside("gradOut self target")};
  MakeGradient(op, -1);
  return op;
}

IndexOperator MseLossBackward() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnMseLossBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}), TensorArg("target", {}),
              IntegerArg("reduction", 0), OutputArg("out", {})};
  op.rules = {NoNulls("gradOutput self target out"), SameDtypeAs("self", "gradOutput target"),
              DtypeOf("self out", kFloats),          IntegerFrom("reduction", 0, 2),
              AtMost8Dims("gradOutput self target"), BroadcastsTogether("gradOutput self target"),
              HasShape("out", Broadcasted),          Representable(),
              DoneIfEmpty("gradOutput self target"), Inside("gradOutput self target")};
  MakeGradient(op, -1);
  return op;
}

// The dtypes of gradOutput, self, target and the gradient; on some products there are none.
IndexRule KlDtypes(const std::string& names, std::vector<Product> without) {
  return [=](IndexCall& call) {
    const bool is_without = std::find(without.begin(), without.end(), call.product) != without.end();
    return DtypeOf(names, is_without ? Listed{} : kFloats)(call);
  };
}
IndexRule GradOutputExpands() { return Expands("gradOutput"); }

IndexOperator KlDivBackward() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnKlDivBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}),      TensorArg("target", {}),
              IntegerArg("reduction", 0),  IntegerArg("logTarget", 0), OutputArg("out", {})};
  op.valid[1].is_unread = true;
  op.rules = {NoNulls("gradOutput self target out"), Fits("self", "out"),
              KlDtypes("gradOutput self target out", {Product::k310B, Product::kNoDevice}),
              AtMost8Dims("gradOutput self target out"), BroadcastsTogether("self target"),
              GradOutputExpands(), HasShape("out", [](const IndexCall& call) { return call["self"].shape; }),
              Representable(), DoneIfEmpty("self"), Inside("gradOutput self target"),
              // Without a sum, out has the format of a self that is not ND.
              Refuses(561103, "out", [](IndexCall& call) {
                const int32_t format = call["self"].format;
                return call.result == call["self"].shape && format != ACL_FORMAT_ND &&
                       call["out"].format != format;
              })};
  MakeGradient(op, 1);
  return op;
}

IndexOperator KlDivTargetBackward() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnKlDivTargetBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}),      TensorArg("target", {}),
              IntegerArg("reduction", 0),  IntegerArg("logTarget", 0), OutputArg("gradTarget", {})};
  op.rules = {NoNulls("gradOutput self target gradTarget"),
              Fits("self", "gradTarget"),
              KlDtypes("gradOutput self target gradTarget",
                       {Product::k310B, Product::k310P, Product::k910, Product::kNoDevice}),
              SameDtypeAs("target", "gradTarget"),
              AtMost8Dims("gradOutput self target gradTarget"),
              BroadcastsTogether("self target"),
              GradOutputExpands(),
              HasShape("gradTarget", [](const IndexCall& call) { return call["target"].shape; }),
              NoPrivateFormat("gradOutput self target gradTarget"),
              Representable(),
              DoneIfEmpty("self"),
              Inside("gradOutput self target"),
              DoneIfEmpty("target")};
  MakeGradient(op, 2);
  return op;
}

}  // namespace

std::vector<const IndexOperator*> LossOperators() {
  // Never destroyed: programs call operators until they have ended.
  static const auto& all =
      *new std::vector<IndexOperator>{L1LossBackward(),
                                      SmoothL1LossBackward(),
                                      KlDivBackward(),
                                      L1Loss(),
                                      SmoothL1Loss(),
                                      KlDiv(),
                                      Mse(PORTACL_C_FUNCTION(aclnnMseLoss), Scalar),
                                      Mse(PORTACL_C_FUNCTION(aclnnMseLossOut), WithoutFirst),
                                      MseLossBackward(),
                                      KlDivTargetBackward()};
  std::vector<const IndexOperator*> pointers;
  for (const IndexOperator& op : all) pointers.push_back(&op);
  return pointers;
}

const IndexOperator& LossOperator(const std::string& name) {
  for (const IndexOperator* op : LossOperators()) {
    if (op->function.name == name) return *op;
  }
  throw std::logic_error(name + " is no loss");
}

}  // namespace portacl::testing
