// Rotary embeddings, from their description.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"

#include "aclnnop/families/attention.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

const Listed kDtypes = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};

// The element with which another one of a row is turned, and whether it comes with a minus sign.
struct Partner {
  int64_t place;
  bool negative;
};
Partner PartnerOf(int64_t mode, int64_t i, int64_t n) {
  if (mode == 1) return i % 2 == 0 ? Partner{i + 1, true} : Partner{i - 1, false};
  const int64_t rows = mode == 2 ? n / 2 : n;
  const bool first = i % rows < rows / 2;
  return {first ? i + rows / 2 : i - rows / 2, first};
}

OperatorSpec RotaryOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRotaryPositionEmbedding);
  op.valid = {TensorArg("x", {2, 3, 2, 4}), TensorArg("cos", {2, 3, 2, 4}), TensorArg("sin", {2, 3, 2, 4}),
              IntegerArg("mode", 0), OutputArg("out", {2, 3, 2, 4})};
  const auto fails = [](const std::string& names, std::function<bool(PlanCall&)> wrong) {
    return Refuses(561002, names, std::move(wrong));
  };
  op.rules = {
      NoNulls("x cos sin out"),
      DtypeIn("x", kDtypes),
      SameDtype("x", "cos"),
      SameDtype("x", "sin"),
      SameDtype("x", "out"),
      fails("mode", [](PlanCall& call) { return call["mode"].integer < 0 || call["mode"].integer > 3; }),
      fails("x cos sin",
            [](PlanCall& call) {
              return call["x"].shape.size() != 4 || call["cos"].shape.size() != 4 ||
                     call["sin"].shape.size() != 4;
            }),
      fails("sin", [](PlanCall& call) { return call["cos"].shape != call["sin"].shape; }),
      fails("x",
            [](PlanCall& call) {
              const int64_t n = call["x"].shape[3];
              return n > 1024 || n % (call["mode"].integer == 2 ? 4 : 2) != 0;
            }),
      fails("cos",
            [](PlanCall& call) {
              const Shape& x = call["x"].shape;
              const Shape& cos = call["cos"].shape;
              bool fits = cos[3] == x[3];
              for (size_t i = 0; i < 3; ++i) fits = fits && (cos[i] == 1 || cos[i] == x[i]);
              return !fits;
            }),
      fails("out", [](PlanCall& call) { return call["out"].shape != call["x"].shape; }),
      DoneIfEmpty("x"),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 4, 4, 4);
    call["mode"].integer = random.Below(4);
    shape[3] = 4 * random.Between(1, random.Below(4) == 0 ? 256 : 20);
    if (call["mode"].integer != 2 && random.Below(3) == 0) shape[3] += 2;
    if (shape[3] > 1024) shape[3] = 1024;
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"x", "cos", "sin", "out"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    for (size_t i = 0; i < 3; ++i) {
      if (random.Below(2) == 0) call["cos"].shape[i] = 1;
    }
    call["sin"].shape = call["cos"].shape;
  };
  op.fill = FillRows;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    const int64_t mode = call["mode"].integer;
    const int64_t n = x.shape[3];
    std::vector<double> out(x.elements.size());
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      const Index index = IndexAt(x.shape, i);
      const int64_t row = i - index[3];
      // In mode 3 even elements come first, then odd ones.
      const auto at = [&](int64_t place) {
        return ValueAt(x, row + (mode != 3 ? place : place < n / 2 ? 2 * place : 2 * (place - n / 2) + 1));
      };
      const Partner partner = PartnerOf(mode, index[3], n);
      const double turned = partner.negative ? -at(partner.place) : at(partner.place);
      out[static_cast<size_t>(i)] =
          at(index[3]) * ValueAt(tensors[1], index) + turned * ValueAt(tensors[2], index);
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// The gradients of the sum of dy * y by y's definition: each element of y is x * cos and its partner's x * sin, with a sign.
std::vector<Outcome> GradientOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const TensorValues& dy = tensors[0];
  const bool has_x = !call["xOptional"].null;
  const int64_t mode = call["mode"].integer;
  const int64_t n = dy.shape[3];
  std::vector<double> dx(dy.elements.size());
  std::vector<double> dcos(tensors[1].elements.size());
  std::vector<double> dsin(dcos.size());
  for (int64_t i = 0; i < std::ssize(dx); ++i) {
    const Index index = IndexAt(dy.shape, i);
    const int64_t row = i - index[3];
    const auto place = [&](int64_t at) {
      return static_cast<size_t>(row + (mode != 3 ? at : at < n / 2 ? 2 * at : 2 * (at - n / 2) + 1));
    };
    const Partner partner = PartnerOf(mode, index[3], n);
    const double sign = partner.negative ? -1 : 1;
    const double gradient = ValueAt(dy, i);
    dx[place(index[3])] += gradient * ValueAt(tensors[1], index);
    dx[place(partner.place)] += sign * gradient * ValueAt(tensors[2], index);
    if (!has_x) continue;
    Index angle = index;
    for (size_t dim = 0; dim < 3; ++dim) angle[dim] = tensors[1].shape[dim] == 1 ? 0 : angle[dim];
    const auto to = static_cast<size_t>(PositionOf(tensors[1].shape, angle));
    // Terms are float32.
    const auto term = [&](double x) { return static_cast<double>(static_cast<float>(gradient * x)); };
    dcos[to] += term(ValueAt(tensors[3], static_cast<int64_t>(place(index[3]))));
    dsin[to] += sign * term(ValueAt(tensors[3], static_cast<int64_t>(place(partner.place))));
  }
  const auto angles = [&](const char* name, const std::vector<double>& numbers) {
    return has_x ? AsOutcome(call[name].dtype, numbers) : Outcome(NumElements(call[name].shape));
  };
  return {AsOutcome(call["dxOut"].dtype, dx), angles("dcosOut", dcos), angles("dsinOut", dsin)};
}

OperatorSpec RotaryGradOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRotaryPositionEmbeddingGrad);
  const Shape shape = {2, 3, 2, 4};
  op.valid = {TensorArg("dy", shape),        TensorArg("cos", shape),    TensorArg("sin", shape),
              TensorArg("xOptional", shape), IntegerArg("mode", 0),      OutputArg("dxOut", shape),
              OutputArg("dcosOut", shape),   OutputArg("dsinOut", shape)};
  const auto fails = [](const std::string& names, std::function<bool(PlanCall&)> wrong) {
    return Refuses(561002, names, std::move(wrong));
  };
  const auto given = [](const PlanCall& call) { return !call["xOptional"].null; };
  op.rules = {
      NoNulls("dy cos sin dxOut dcosOut dsinOut"),
      DtypeIn("dy", kDtypes),
      SameDtype("dy", "cos"),
      SameDtype("dy", "sin"),
      Refuses(161002, "xOptional",
              [=](PlanCall& call) { return given(call) && call["xOptional"].dtype != call["dy"].dtype; }),
      SameDtype("dy", "dxOut"),
      SameDtype("dy", "dcosOut"),
      SameDtype("dy", "dsinOut"),
      fails("mode", [](PlanCall& call) { return call["mode"].integer < 0 || call["mode"].integer > 3; }),
      fails("dy cos sin",
            [](PlanCall& call) {
              return call["dy"].shape.size() != 4 || call["cos"].shape.size() != 4 ||
                     call["sin"].shape.size() != 4;
            }),
      fails("sin", [](PlanCall& call) { return call["cos"].shape != call["sin"].shape; }),
      fails("dy",
            [](PlanCall& call) {
              const int64_t n = call["dy"].shape[3];
              return n > 1024 || n % (call["mode"].integer == 2 ? 4 : 2) != 0;
            }),
      fails("cos",
            [](PlanCall& call) {
              const Shape& dy = call["dy"].shape;
              const Shape& cos = call["cos"].shape;
              bool fits = cos[3] == dy[3];
              for (size_t i = 0; i < 3; ++i) fits = fits && (cos[i] == 1 || cos[i] == dy[i]);
              return !fits;
            }),
      fails("xOptional",
            [=](PlanCall& call) { return given(call) && call["xOptional"].shape != call["dy"].shape; }),
      fails("dxOut", [](PlanCall& call) { return call["dxOut"].shape != call["dy"].shape; }),
      fails("dcosOut",
            [=](PlanCall& call) { return given(call) && call["dcosOut"].shape != call["cos"].shape; }),
      fails("dsinOut",
            [=](PlanCall& call) { return given(call) && call["dsinOut"].shape != call["cos"].shape; }),
      SucceedsIf([=](PlanCall& call) {
        return NumElements(call["dy"].shape) == 0 && (!given(call) || NumElements(call["cos"].shape) == 0);
      }),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape drawn = DrawShape(random, 4, 4, 4);
    call["mode"].integer = random.Below(4);
    drawn[3] = 4 * random.Between(1, random.Below(4) == 0 ? 256 : 20);
    if (call["mode"].integer != 2 && random.Below(3) == 0) drawn[3] -= 2;
    if (random.Below(20) == 0) {  // blocks of terms, and rows of one pair
      drawn = {2, random.Between(200, 2100), 2, call["mode"].integer == 2 ? 4 : 2};
    }
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"dy", "cos", "sin", "xOptional", "dxOut", "dcosOut", "dsinOut"}) {
      call[name].shape = drawn;
      call[name].dtype = dtype;
    }
    for (size_t i = 0; i < 3; ++i) {
      if (random.Below(2) == 0) call["cos"].shape[i] = 1;
    }
    for (const char* name : {"sin", "dcosOut", "dsinOut"}) call[name].shape = call["cos"].shape;
    call["xOptional"].null = random.Below(5) == 0;
  };
  op.fill = FillRows;
  op.takes_workspace = true;
  op.tolerance = 3e-6;
  op.is_inexact = true;
  op.oracle = GradientOracle;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {RotaryOperator(), RotaryGradOperator()};
  return all;
}

PORTACL_OPERATOR_TESTS(Rotary, Operators());

}  // namespace
}  // namespace portacl::testing
