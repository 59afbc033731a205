// What phase 1 of the losses answers, from CANN's rules, and their valid calls.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "aclnnop/families/loss.h"
#include "operators/losses.h"
#include "support/rules.h"

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

bool IsNone(const PlanCall& call) { return call["reduction"].integer == 0; }
bool IsReduced(const PlanCall& call) { return !IsNone(call); }
Shape Broadcasted(const PlanCall& call) { return call.result; }

// ---- self, target, an output ----

using ReducedShape = Shape (*)(const Shape& broadcast);
Shape Scalar(const Shape&) { return {}; }
Shape WithoutFirst(const Shape& shape) {
  return shape.empty() ? Shape{} : Shape(shape.begin() + 1, shape.end());
}

// Changes shapes of the inputs and sets the output's to what the reduction gives.
void SetShapes(PlanCall& call, const Shape& self, const Shape& target, int64_t reduction,
               ReducedShape reduced) {
  const Shape broadcast = Broadcast(self, target).value_or(Shape{});
  call["self"].shape = self;
  call["target"].shape = target;
  call["reduction"].integer = reduction;
  call.arguments.back().shape = reduction == 0 ? broadcast : reduced(broadcast);
}

void MakeLoss(OperatorSpec& op, int64_t modes, ReducedShape reduced) {
  op.is_worded = true;
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
      op.bases.push_back([=](PlanCall& call) { SetShapes(call, self, target, reduction, reduced); });
    }
  }
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(2, 8, random);
    SetShapes(call, shapes[0], shapes[1], random.Below(modes + 1), reduced);
    for (PlanArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kTensor) one.dtype = DrawDtype(random, kLossDtypes);
      if (one.name == "logTarget") one.integer = random.Below(2);
      if (one.kind == ParameterKind::kReal) one.real = random.Unit() * 2;
    }
  };
}

// An output of R's shape, or that of a reduction.
Rules OutputIs(const std::string& output, ReducedShape reduced) {
  return {When(IsNone, HasShape(output, Broadcasted)),
          When(IsReduced, HasShape(output, [=](const PlanCall& call) { return reduced(call.result); }))};
}

OperatorSpec L1Loss() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnL1Loss);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              OutputArg("out", {2, 3})};
  const auto is_float = [](const PlanCall& call, const char* name) {
    return IsFloatingDtype(call[name].dtype);
  };
  op.rules =
      Rules{NoNulls("self target out"),
            IntegerFrom("reduction", 0, 2),
            Refuses(161002, "self",
                    [=](PlanCall& call) {
                      const bool self = is_float(call, "self");
                      const bool target = is_float(call, "target");
                      const int64_t mode = call["reduction"].integer;
                      return mode == 0 ? target && !self : mode == 1 && !target && !self;
                    }),
            Promotes("self target"),
            PromotedIn("self target", kFloats + DtypeList{ACL_INT64}),
            PromotedCastsTo("out"),
            Ranks("self target"),
            Broadcasts("self target")} +
      OutputIs("out", Scalar) +
      Rules{Representable(),
            When(IsNone, DoneIfEmpty("self target")),
            [](PlanCall& call) {
              return Convertible("out", call.promoted == ACL_INT64 ? kWritableFromInt64 : kWritable)(call);
            },
            DoneIfEmpty("self target"),
            Inside("self target"),
            Convertible("self target", kReadable)};
  MakeLoss(op, 2, Scalar);
  return op;
}

OperatorSpec SmoothL1Loss() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSmoothL1Loss);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              RealArg("beta", 1), OutputArg("result", {2, 3})};
  op.rules = {NoNulls("self target result"), DtypeIn("self target", kFloats), Promotes("self target"),
              PromotedCastsTo("result"), IntegerFrom("reduction", 0, 2), Ranks("self target"),
              Broadcasts("self target"), When(IsNone, HasShape("result", Broadcasted)), NotBelowZero("beta"),
              Representable(), When(IsNone, DoneIfEmpty("self target")), Convertible("result", kWritable),
              // A reduced result of a wrong shape is found only when it would be written.
              When([](const PlanCall& call) { return IsAnyEmpty(call, "self target"); },
                   HasOneElement("result", 561103)),
              DoneIfEmpty("self target"), Inside("self target"),
              Refuses(561103, "format",
                      [](PlanCall& call) {
                        return call["result"].shape.empty() && call["result"].format == ACL_FORMAT_NCHW;
                      }),
              When(IsReduced, HasOneElement("result", 561103))};
  MakeLoss(op, 2, Scalar);
  return op;
}

OperatorSpec KlDiv() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnKlDiv);
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              IntegerArg("logTarget", 0), OutputArg("out", {2, 3})};
  op.rules = {NoNulls("self target out"), DtypeIn("self target out", kFloats), Ranks("self target"),
              IntegerFrom("reduction", 0, 3), Representable(),
              // Empty inputs need not broadcast. Without a reduction out may have any shape then.
              When(IsNone, DoneIfEmpty("self target")),
              When([](const PlanCall& call) { return IsAnyEmpty(call, "self target"); },
                   HasOneElement("out", 561103)),
              DoneIfEmpty("self target"), Inside("self target"), Broadcasts("self target"),
              // Two scalars are computed as tensors of one element, which out may be, too.
              When(IsNone, HasShape("out",
                                    [](const PlanCall& call) {
                                      const bool is_one =
                                          call.result.empty() && call["out"].shape == Shape{1};
                                      return is_one ? Shape{1} : call.result;
                                    })),
              When(IsReduced, HasOneElement("out", 161002))};
  MakeLoss(op, 3, Scalar);
  return op;
}

OperatorSpec Mse(const CFunction& function, ReducedShape reduced) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("self", {2, 3}), TensorArg("target", {2, 3}), IntegerArg("reduction", 0),
              OutputArg("out", {2, 3})};
  op.rules = Rules{NoNulls("self target out"),         Promotes("self target"),
                   PromotedIn("self target", kFloats), DtypeIn("self target out", kFloats),
                   IntegerFrom("reduction", 0, 2),     Ranks("self target"),
                   Broadcasts("self target")} +
             OutputIs("out", reduced) +
             Rules{Representable(), DoneIfEmpty("self target"), Inside("self target")};
  MakeLoss(op, 2, reduced);
  return op;
}

// ---- gradients ----

// The position of gradOutput, self, target and of the result's shape among these: -1 for that of all together.
void SetShapes(PlanCall& call, const std::vector<Shape>& shapes, int result) {
  for (size_t i = 0; i < 3; ++i) call.arguments[i].shape = shapes[i];
  const std::optional<Shape> all = Broadcast(shapes);
  call.arguments.back().shape = result < 0 ? all.value_or(Shape{}) : shapes[static_cast<size_t>(result)];
}

void MakeGradient(OperatorSpec& op, int result) {
  op.is_worded = true;
  for (PlanArgument& one : op.valid) {
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
    op.bases.push_back([=](PlanCall& call) { SetShapes(call, shapes, result); });
  }
  for (const int64_t mode : {1, 2, 3}) {
    op.bases.push_back([=](PlanCall& call) { call["reduction"].integer = mode; });
    op.bases.push_back([=](PlanCall& call) {
      SetShapes(call, {{}, {2, 1}, {2, 3}}, result);
      call["reduction"].integer = mode;
    });
  }
  op.takes_workspace = result >= 0;
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    SetShapes(call, RandomBroadcastShapes(3, 8, random), result);
    const DtypeNumber dtype = DrawDtype(random, kLossDtypes);
    const bool mixed = random.Chance(50);
    for (PlanArgument& one : call.arguments) {
      if (one.kind == ParameterKind::kTensor) one.dtype = mixed ? DrawDtype(random, kLossDtypes) : dtype;
      if (one.name == "logTarget") one.integer = random.Below(2);
      if (one.kind == ParameterKind::kReal) one.real = random.Unit() * 2;
    }
    call["reduction"].integer = random.Below(3);
  };
}

OperatorSpec L1LossBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnL1LossBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}), TensorArg("target", {}),
              IntegerArg("reduction", 0), OutputArg("gradInput", {})};
  op.rules = {NoNulls("gradOutput self target gradInput"),
              IntegerFrom("reduction", 0, 2),
              Promotes("gradOutput self target"),
              PromotedCastsTo("gradInput"),
              PromotedIn("self target", kFloats),
              Ranks("self target gradOutput gradInput"),
              Broadcasts("self gradOutput target"),
              HasShape("gradInput", Broadcasted),
              Representable(),
              DoneIfEmpty("self gradOutput target"),
              Inside("gradOutput self target"),
              Convertible("gradOutput self target", kReadable),
              Convertible("gradInput", kWritable)};
  MakeGradient(op, -1);
  return op;
}

OperatorSpec SmoothL1LossBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSmoothL1LossBackward);
  op.valid = {TensorArg("gradOut", {}),   TensorArg("self", {}), TensorArg("target", {}),
              IntegerArg("reduction", 0), RealArg("beta", 1),    OutputArg("gradInput", {})};
  op.rules = {NoNulls("gradOut self target gradInput"),
              DtypeIn("gradOut self target gradInput", kFloats),
              Ranks("gradOut self target"),
              IntegerFrom("reduction", 0, 2),
              NotBelowZero("beta"),
              Broadcasts("gradOut self target"),
              HasShape("gradInput", Broadcasted),
              Representable(),
              DoneIfEmpty("gradOut self target"),
              Inside("gradOut self target")};
  MakeGradient(op, -1);
  return op;
}

OperatorSpec MseLossBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMseLossBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}), TensorArg("target", {}),
              IntegerArg("reduction", 0), OutputArg("out", {})};
  op.rules = {NoNulls("gradOutput self target out"), SameDtype("self", "gradOutput target"),
              DtypeIn("self out", kFloats),          IntegerFrom("reduction", 0, 2),
              Ranks("gradOutput self target"),       Broadcasts("gradOutput self target"),
              HasShape("out", Broadcasted),          Representable(),
              DoneIfEmpty("gradOutput self target"), Inside("gradOutput self target")};
  MakeGradient(op, -1);
  return op;
}

// The dtypes of gradOutput, self, target and the gradient; on some products there are none.
Rule KlDtypes(const std::string& names, std::vector<Product> without) {
  return [=](PlanCall& call) {
    const bool is_without = std::find(without.begin(), without.end(), call.product) != without.end();
    return DtypeIn(names, is_without ? Listed{} : kFloats)(call);
  };
}
Rule GradOutputExpands() { return Expands("gradOutput"); }

OperatorSpec KlDivBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnKlDivBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}),      TensorArg("target", {}),
              IntegerArg("reduction", 0),  IntegerArg("logTarget", 0), OutputArg("out", {})};
  op.valid[1].is_unread = true;
  op.rules = {NoNulls("gradOutput self target out"), CastsTo("self", "out"),
              KlDtypes("gradOutput self target out", {Product::k310B, Product::kNoDevice}),
              Ranks("gradOutput self target out"), Broadcasts("self target"), GradOutputExpands(),
              HasShape("out", [](const PlanCall& call) { return call["self"].shape; }), Representable(),
              DoneIfEmpty("self"), Inside("gradOutput self target"),
              // Without a sum, out has the format of a self that is not ND.
              Refuses(561103, "out", [](PlanCall& call) {
                const int32_t format = call["self"].format;
                return call.result == call["self"].shape && format != ACL_FORMAT_ND &&
                       call["out"].format != format;
              })};
  MakeGradient(op, 1);
  return op;
}

OperatorSpec KlDivTargetBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnKlDivTargetBackward);
  op.valid = {TensorArg("gradOutput", {}), TensorArg("self", {}),      TensorArg("target", {}),
              IntegerArg("reduction", 0),  IntegerArg("logTarget", 0), OutputArg("gradTarget", {})};
  op.rules = {NoNulls("gradOutput self target gradTarget"),
              CastsTo("self", "gradTarget"),
              KlDtypes("gradOutput self target gradTarget",
                       {Product::k310B, Product::k310P, Product::k910, Product::kNoDevice}),
              SameDtype("target", "gradTarget"),
              Ranks("gradOutput self target gradTarget"),
              Broadcasts("self target"),
              GradOutputExpands(),
              HasShape("gradTarget", [](const PlanCall& call) { return call["target"].shape; }),
              NoPrivateFormat("gradOutput self target gradTarget"),
              Representable(),
              DoneIfEmpty("self"),
              Inside("gradOutput self target"),
              DoneIfEmpty("target")};
  MakeGradient(op, 2);
  return op;
}

}  // namespace

std::vector<const OperatorSpec*> LossOperators() {
  // Never destroyed: programs call operators until they have ended.
  static const auto& all =
      *new std::vector<OperatorSpec>{L1LossBackward(),
                                     SmoothL1LossBackward(),
                                     KlDivBackward(),
                                     L1Loss(),
                                     SmoothL1Loss(),
                                     KlDiv(),
                                     Mse(PORTACL_C_FUNCTION(aclnnMseLoss), Scalar),
                                     Mse(PORTACL_C_FUNCTION(aclnnMseLossOut), WithoutFirst),
                                     MseLossBackward(),
                                     KlDivTargetBackward()};
  std::vector<const OperatorSpec*> pointers;
  for (const OperatorSpec& op : all) pointers.push_back(&op);
  return pointers;
}

const OperatorSpec& LossOperator(const std::string& name) {
  for (const OperatorSpec* op : LossOperators()) {
    if (op->function.name == name) return *op;
  }
  throw std::logic_error(name + " is no loss");
}

}  // namespace portacl::testing
