// Complex numbers and their parts, outer products that are added to, and sums without what is below 0.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"

#include "aclnnop/families/arithmetic.h"
#include "gtest/gtest.h"
#include "support/rules.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
const Listed kFloatOnly = {{ACL_FLOAT}};

Rule Broadcast(const std::string& a, const std::string& b) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    const Shape& one = call[a].shape;
    const Shape& two = call[b].shape;
    const size_t rank = std::max(one.size(), two.size());
    call.result.assign(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
      const auto dim = [&](const Shape& shape) {
        return i + shape.size() < rank ? int64_t{1} : shape[i + shape.size() - rank];
      };
      if (dim(one) != dim(two) && dim(one) != 1 && dim(two) != 1) return Verdict{161002, {a, b}};
      call.result[i] = dim(one) == 1 ? dim(two) : dim(one);
    }
    return std::nullopt;
  };
}
// Two shapes that broadcast, and what they broadcast to.
void DrawBroadcast(PlanCall& call, RandomNumbers& random, const std::string& a, const std::string& b,
                   const std::string& out) {
  const Shape shape = DrawShape(random, 0, random.Below(6) == 0 ? 8 : 4, 4);
  for (const std::string& name : {a, b}) {
    call[name].shape = shape;
    for (int64_t& length : call[name].shape) {
      if (random.Below(4) == 0) length = 1;
    }
    const auto cut = static_cast<int64_t>(random.Below(static_cast<uint32_t>(shape.size()) + 1));
    if (random.Below(4) == 0)
      call[name].shape.erase(call[name].shape.begin(), call[name].shape.begin() + cut);
  }
  Broadcast(a, b)(call);
  call[out].shape = call.result;
}
DtypeNumber ComplexOf(DtypeNumber part) {
  return part == ACL_FLOAT16 ? ACL_COMPLEX32 : part == ACL_FLOAT ? ACL_COMPLEX64 : ACL_COMPLEX128;
}

OperatorSpec Complexes() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnComplex);
  op.valid = {TensorArg("real", {2, 3}), TensorArg("imag", {2, 3}), OutputArg("out", {2, 3}, ACL_COMPLEX64)};
  op.rules = {NoNulls("real imag out"),
              DoneIfEmpty("real imag"),
              DtypeIn("real", {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}}),
              SameDtype("real", "imag"),
              Refuses(161002, "out",
                      [](PlanCall& call) { return call["out"].dtype != ComplexOf(call["real"].dtype); }),
              Ranks("real imag", 0, 8),
              Broadcast("real", "imag"),
              ResultIs("out"),
              On({Product::k950}, SameFormat("real", "imag")),
              On({Product::k950}, NoPrivateFormat("real"))};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawBroadcast(call, random, "real", "imag", "out");
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_DOUBLE});
    for (const char* name : {"real", "imag"}) call[name].dtype = dtype;
    call["out"].dtype = ComplexOf(dtype);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{
        ForEachElement(call["out"].shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
          Element element;
          for (size_t part = 0; part < 2; ++part) {
            const TensorValues& from = tensors[part];
            Index own(from.shape.size());
            for (size_t i = 0; i < own.size(); ++i)
              own[i] = from.shape[i] == 1 ? 0 : index[index.size() - own.size() + i];
            const Element& number = from.elements[static_cast<size_t>(PositionOf(from.shape, own))];
            element.insert(element.end(), number.begin(), number.end());
          }
          return element;
        })};
  };
  return op;
}

OperatorSpec Polars() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnPolar);
  op.valid = {TensorArg("input", {2, 3}), TensorArg("angle", {2, 3}),
              OutputArg("out", {2, 3}, ACL_COMPLEX64)};
  op.rules = {NoNulls("input angle out"),
              DtypeIn("input angle", kFloatOnly),
              DtypeIn("out", {{ACL_COMPLEX64}}),
              Ranks("input angle", 0, 8),
              Broadcast("input", "angle"),
              ResultIs("out"),
              On({Product::k950}, SameFormat("input", "angle")),
              On({Product::k950}, NoPrivateFormat("input")),
              DoneIfEmpty("input angle")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawBroadcast(call, random, "input", "angle", "out");
  };
  op.fill = FillRows;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{
        ForEachElement(call["out"].shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
          const double modulus = ValueAt(tensors[0], index);
          const double angle = ValueAt(tensors[1], index);
          return ElementOfNumber(ACL_COMPLEX64, {static_cast<long double>(modulus * std::cos(angle)),
                                                 static_cast<long double>(modulus * std::sin(angle))});
        })};
  };
  return op;
}

OperatorSpec Angles() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAngleV2);
  op.valid = {TensorArg("x", {2, 3}), OutputArg("out", {2, 3})};
  const DtypeList real = {ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8,    ACL_INT16,
                          ACL_INT32, ACL_INT64,   ACL_BOOL, ACL_COMPLEX64};
  const auto angle_of = [](DtypeNumber x) {
    return x == ACL_FLOAT16 || x == ACL_BF16 ? x : DtypeNumber{ACL_FLOAT};
  };
  op.rules = {
      NoNulls("x out"),
      DtypeIn("x", {.everywhere = real, .on_950 = {ACL_BF16}}),
      Refuses(161002, "out", [=](PlanCall& call) { return call["out"].dtype != angle_of(call["x"].dtype); }),
      Refuses(kTiling, "x", [](PlanCall& call) { return call["x"].shape.size() > 8; }),
      Refuses(kTiling, "x out", [](PlanCall& call) { return call["x"].shape != call["out"].shape; }),
      DoneIfEmpty("x")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    call["x"].shape = call["out"].shape = DrawShape(random, 0, random.Below(6) == 0 ? 8 : 4, 4);
    call["x"].dtype = DrawDtype(random, real);
    call["out"].dtype = angle_of(call["x"].dtype);
  };
  op.fill = FillRows;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<double> out;
    for (const Element& element : tensors[0].elements) {
      const Number number = NumberOf(tensors[0].dtype, element.data());
      const auto x = static_cast<double>(number.real);
      const double pi = std::acos(-1.0);
      out.push_back(tensors[0].dtype == ACL_COMPLEX64 ? std::atan2(static_cast<double>(number.imaginary), x)
                    : std::isnan(x)                   ? x
                    : x < 0                           ? pi
                                                      : 0);
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// ---- outer products ----

const DtypeList kIntegersAndBool = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL};

OperatorSpec Outer(const CFunction& function, bool in_place) {
  OperatorSpec op;
  op.function = function;
  const std::string self = in_place ? "selfRef" : "self";
  const std::string out = in_place ? "selfRef" : "out";
  op.updates = in_place;
  op.valid = {in_place ? OutputArg(self, {2, 3}) : TensorArg(self, {2, 3}), TensorArg("vec1", {2}),
              TensorArg("vec2", {3}), ScalarArg("betaOptional", {1, 0}), ScalarArg("alphaOptional", {2, 0})};
  if (!in_place) op.valid.push_back(OutputArg("out", {2, 3}));
  const auto promoted = [=](PlanCall& call) {
    return PromoteDtypes(call[self].dtype, PromoteDtypes(call["vec2"].dtype, call["vec1"].dtype));
  };
  const auto is_integral = [](DtypeNumber dtype) {
    return std::find(kIntegersAndBool.begin(), kIntegersAndBool.end(), dtype) != kIntegersAndBool.end();
  };
  const auto fits = [=](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      if (call[name].null) return false;
      if (call[name].dtype == ACL_BOOL && promoted(call) != ACL_BOOL) return true;
      return is_integral(call[self].dtype) && is_integral(call["vec1"].dtype) &&
             is_integral(call["vec2"].dtype) && !is_integral(call[name].dtype);
    });
  };
  const auto scalar_listed = [=](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      return !call[name].null && !kFDI.Has(call.product, call[name].dtype);
    });
  };
  const std::string nulls = in_place ? "selfRef vec1 vec2" : "self vec1 vec2 out";
  op.rules = {NoNulls(nulls),
              DtypeIn(nulls, kFDI),
              scalar_listed("betaOptional"),
              scalar_listed("alphaOptional"),
              fits("betaOptional"),
              fits("alphaOptional"),
              Ranks("vec1 vec2", 1, 1),
              Ranks(self, in_place ? 2 : 0, 2),
              Refuses(161002, self,
                      [=](PlanCall& call) {
                        call.result = {call["vec1"].shape[0], call["vec2"].shape[0]};
                        const Shape& own = call[self].shape;
                        for (size_t i = 0; i < own.size(); ++i) {
                          const int64_t length = call.result[2 - own.size() + i];
                          if (own[i] != length && own[i] != 1) return true;
                        }
                        return false;
                      }),
              DoneIfEmpty("vec1 vec2"),
              ResultIs(out)};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = {random.Between(1, 9), random.Between(1, random.Below(4) == 0 ? 80 : 6)};
    call[self].shape = call[out].shape = shape;
    call["vec1"].shape = {shape[0]};
    call["vec2"].shape = {shape[1]};
    if (!in_place) {
      for (int64_t& length : call[self].shape) {
        if (random.Below(4) == 0) length = 1;
      }
      if (random.Below(4) == 0) call[self].shape.erase(call[self].shape.begin());
    }
    const DtypeNumber dtype = DrawDtype(
        random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32, ACL_INT8, ACL_INT64, ACL_BOOL});
    for (const std::string& name : {self, std::string("vec1"), std::string("vec2"), out})
      call[name].dtype = dtype;
    for (const char* name : {"betaOptional", "alphaOptional"}) {
      call[name].null = random.Below(4) == 0;
      call[name].dtype = dtype == ACL_BOOL      ? DtypeNumber{ACL_BOOL}
                         : is_integral(dtype)   ? DtypeNumber{ACL_INT64}
                         : random.Below(2) == 0 ? DtypeNumber{ACL_DOUBLE}
                                                : DtypeNumber{ACL_FLOAT};
      call[name].number = {static_cast<long double>(random.Between(-2, 3)), 0};
    }
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i] == nullptr || arguments[i]->null) continue;
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        // Products and sums of these are exact in every dtype.
        const Element element =
            ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(random.Between(-3, 3)), 0});
        std::copy(element.begin(), element.end(), tensors[i].Element(k));
      }
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const auto factor = [&](const char* name) {
      if (call[name].null) return 1.0;
      const auto value = static_cast<double>(call[name].number.real);
      return call[name].dtype == ACL_BOOL ? static_cast<double>(value != 0) : value;
    };
    std::vector<double> numbers;
    ForEachElement(call[out].shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
      const double a = ValueAt(tensors[0], index);
      const double b = ValueAt(tensors[1], Index{index[0]});
      const double c = ValueAt(tensors[2], Index{index[1]});
      const double beta = factor("betaOptional");
      const double alpha = factor("alphaOptional");
      const bool is_bool = tensors[0].dtype == ACL_BOOL;
      numbers.push_back(is_bool
                            ? static_cast<double>((beta != 0 && a != 0) || (alpha != 0 && b != 0 && c != 0))
                        : beta == 0 ? alpha * b * c
                                    : beta * a + alpha * b * c);
      return std::nullopt;
    });
    return std::vector<Outcome>{AsOutcome(call[out].dtype, numbers)};
  };
  return op;
}

const OperatorSpec kOperators[] = {Complexes(), Polars(), Angles(),
                                   Outer(PORTACL_C_FUNCTION(aclnnAddr), false),
                                   Outer(PORTACL_C_FUNCTION(aclnnInplaceAddr), true)};
PORTACL_OPERATOR_TESTS(ComplexParts, kOperators);

}  // namespace
}  // namespace portacl::testing
