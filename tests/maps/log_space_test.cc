// Powers with evenly spaced exponents: what phase 1 answers, and every element against float64's pow.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_log_space.h"
#include "indexing/index_calls.h"

namespace portacl::testing {
namespace {

const DtypeList kBounds = {ACL_FLOAT, ACL_DOUBLE, ACL_INT64, ACL_FLOAT16, ACL_BF16};

double FloatIn(const IndexArgument& scalar) {
  const Element element =
      ConvertedElement(scalar.dtype, ElementOfNumber(scalar.dtype, scalar.number), ACL_FLOAT);
  return DecodeReal(ACL_FLOAT, element.data());
}
double RoundedTo(DtypeNumber dtype, double value) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeElement(dtype, value, element.data());
  return DecodeReal(dtype, element.data());
}
bool AreMixed(const IndexCall& call) {
  const DtypeNumber start = call["start"].dtype;
  const DtypeNumber end = call["end"].dtype;
  return (start == ACL_FLOAT16 && end == ACL_BF16) || (start == ACL_BF16 && end == ACL_FLOAT16);
}

IndexOperator LogSpace() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnLogSpace);
  op.takes_workspace = true;
  op.valid = {ScalarArg("start", {.real = 0}), ScalarArg("end", {.real = 3}), IntegerArg("steps", 6),
              RealArg("base", 10), OutputArg("result", {6})};
  const auto is_complex = [](IndexCall& call) {
    return IsComplexDtype(call["start"].dtype) || IsComplexDtype(call["end"].dtype);
  };
  op.rules = {
      NoNulls("start end result", 561103),
      Refuses(161002, "start end", is_complex),
      Listed_("result", {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}}),
      Refuses(161002, "steps", [](IndexCall& call) { return call["steps"].integer < 0; }),
      SucceedsIf([](IndexCall& call) { return call["steps"].integer == 0; }),
      Refuses(561103, "result",
              [](IndexCall& call) { return NumElements(call["result"].shape) != call["steps"].integer; }),
      Refuses(561103, "result", [](IndexCall& call) { return call["result"].shape.size() > 8; })};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 3);
    if (random.Chance(10)) shape = {random.Between(1000, 3000)};
    call["steps"].integer = NumElements(shape);
    call["result"] = OutputArg("result", shape, DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    call["base"].real =
        std::vector<double>{2, 10, 0.5, 1, 2.718281828459045}[static_cast<size_t>(random.Below(5))];
    for (const char* name : {"start", "end"}) {
      call[name].dtype = DrawDtype(random, kBounds);
      call[name].number = {.real = static_cast<long double>(random.Between(-8, 8)) / 4};
      if (call[name].dtype == ACL_INT64)
        call[name].number.real = static_cast<long double>(random.Between(-2, 2));
    }
  };
  // Exponents are rounded to the result's type first, unless one bound has FLOAT16 and the other BF16.
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const double start = FloatIn(call["start"]);
    const double end = FloatIn(call["end"]);
    const int64_t last = call["steps"].integer - 1;
    const DtypeNumber dtype = tensors[0].dtype;
    Outcome outcome;
    for (int64_t i = 0; i <= last; ++i) {
      const float step =
          last == 0 ? 0 : (static_cast<float>(end) - static_cast<float>(start)) / static_cast<float>(last);
      const bool is_first_half = i < (last + 1) / 2 || last == 0;
      const double exact = is_first_half ? start + static_cast<double>(i) * static_cast<double>(step)
                                         : end - static_cast<double>(last - i) * static_cast<double>(step);
      const double exponent =
          AreMixed(call) ? RoundedTo(ACL_FLOAT, exact) : RoundedTo(dtype, RoundedTo(ACL_FLOAT, exact));
      const double power = std::pow(static_cast<double>(static_cast<float>(call["base"].real)), exponent);
      outcome.emplace_back(ElementOfNumber(dtype, {static_cast<long double>(power), 0}));
    }
    return std::vector<Outcome>{outcome};
  };
  op.is_inexact = true;
  op.tolerance = 2e-6;
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> all = {LogSpace()};
  return all;
}

PORTACL_INDEX_TESTS(Powers, Operators());

}  // namespace
}  // namespace portacl::testing
