// Lists of tensors that are copied, zeroed and reduced to norms, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "list_calls.h"

#include "aclnnop/families/foreach.h"
#include "gtest/gtest.h"
#include "support/converted_value.h"

namespace portacl::testing {
namespace {

const DtypeList kFloats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
const DtypeList kCopied = {ACL_FLOAT,  ACL_FLOAT16, ACL_BF16,   ACL_INT8,  ACL_UINT8,  ACL_INT16,
                           ACL_UINT16, ACL_INT32,   ACL_UINT32, ACL_INT64, ACL_DOUBLE, ACL_BOOL};

// What is wrong with one list by itself, but for its first entry's dtype.
bool IsListWrong(const PlanArgument& list) {
  for (const PlanArgument& entry : list.entries) {
    if (entry.dtype != list.entries[0].dtype || entry.shape.size() > 8 ||
        entry.format == ACL_FORMAT_FRACTAL_NZ)
      return true;
  }
  return false;
}
bool IsFirstWrong(const PlanArgument& list, const DtypeList& dtypes) {
  return !list.entries.empty() && !Has(dtypes, list.entries[0].dtype);
}
bool IsEmptyList(const PlanArgument& list) {
  return std::all_of(list.entries.begin(), list.entries.end(),
                     [](const PlanArgument& one) { return NumElements(one.shape) == 0; });
}

OperatorSpec Copies() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnForeachCopy);
  op.valid = {ListArg("x", {{2, 3}, {4}}), ListArg("out", {{2, 3}, {4}}, true)};
  op.rules = {
      Refuses(161001, "x out", [](PlanCall& call) { return AnyArgumentNull(call, false); }),
      Refuses(161002, "x out",
              [](PlanCall& call) {
                const auto& x = call["x"];
                const auto& out = call["out"];
                if (!IsNewProduct(call.product) || AnyEntryNull(call)) return true;
                if (IsFirstWrong(x, kCopied) || IsFirstWrong(out, kCopied)) return true;
                if (IsListWrong(x) || IsListWrong(out) || x.entries.size() != out.entries.size()) return true;
                if (x.entries.empty()) return false;
                const DtypeNumber from = x.entries[0].dtype;
                const DtypeNumber to = out.entries[0].dtype;
                const bool converts =
                    IsFloatDtype(from) && IsFloatDtype(to) && (from == ACL_FLOAT || to == ACL_FLOAT);
                return from != to && !converts;
              }),
      Refuses(561002, "x out",
              [](PlanCall& call) {
                const auto& x = call["x"].entries;
                const auto& out = call["out"].entries;
                for (size_t i = 0; i < x.size(); ++i) {
                  if (x[i].shape != out[i].shape) return true;
                }
                return false;
              }),
      SucceedsIf([](PlanCall& call) { return IsEmptyList(call["x"]); }),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const std::vector<Shape> shapes = DrawShapes(random);
    const DtypeNumber from = DrawDtype(random, random.Chance(50) ? kFloats : kCopied);
    DtypeNumber to = from;
    if (IsFloatDtype(from) && random.Chance(70))
      to = from == ACL_FLOAT ? DrawDtype(random, kFloats) : ACL_FLOAT;
    call["x"] = ListArg("x", shapes, false, from);
    call["out"] = ListArg("out", shapes, true, to);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const size_t count = call["x"].entries.size();
    std::vector<Outcome> outcomes(count);
    for (size_t i = 0; i < count; ++i) {
      for (const Element& element : tensors[i].elements)
        outcomes[i].push_back(ConvertedElement(tensors[i].dtype, element, tensors[count + i].dtype));
    }
    return outcomes;
  };
  return op;
}

OperatorSpec Zeros() {
  const DtypeList dtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT16, ACL_INT32};
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnForeachZeroInplace);
  op.valid = {ListArg("x", {{2, 3}, {4}}, true)};
  op.rules = {
      Refuses(161001, "x", [](PlanCall& call) { return AnyArgumentNull(call, true); }),
      Refuses(161002, "x",
              [=](PlanCall& call) { return !IsNewProduct(call.product) || IsFirstWrong(call["x"], dtypes); }),
      Refuses(561002, "x", [](PlanCall& call) { return IsListWrong(call["x"]); }),
      SucceedsIf([](PlanCall& call) { return IsEmptyList(call["x"]); }),
  };
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    call["x"] = ListArg("x", DrawShapes(random), true, DrawDtype(random, dtypes));
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    std::vector<Outcome> outcomes;
    for (const TensorValues& tensor : tensors)
      outcomes.emplace_back(tensor.elements.size(), Element(static_cast<size_t>(ElementSize(tensor.dtype))));
    return outcomes;
  };
  op.updates = true;
  return op;
}

OperatorSpec Norms(Product product) {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnForeachNorm);
  op.valid = {ListArg("x", {{2, 3}, {4}}), ScalarArg("scalar", {2, 0}), ListArg("out", {{}, {1}}, true)};
  op.numbers_on = product;
  op.rules = {
      Refuses(161001, "x scalar out", [](PlanCall& call) { return AnyArgumentNull(call, true); }),
      Refuses(161002, "x scalar out",
              [](PlanCall& call) {
                if (!IsNewProduct(call.product)) return true;
                const auto& x = call["x"];
                const auto& out = call["out"];
                if (IsFirstWrong(x, kFloats) || IsFirstWrong(out, kFloats)) return true;
                if (!x.entries.empty() && !out.entries.empty() && x.entries[0].dtype != out.entries[0].dtype)
                  return true;
                return !Has({ACL_FLOAT, ACL_DOUBLE, ACL_INT64}, call["scalar"].dtype);
              }),
      Refuses(561002, "x out",
              [](PlanCall& call) {
                const auto& out = call["out"].entries;
                return IsListWrong(call["x"]) || IsListWrong(call["out"]) ||
                       call["x"].entries.size() != out.size() ||
                       std::any_of(out.begin(), out.end(),
                                   [](const PlanArgument& one) { return NumElements(one.shape) != 1; });
              }),
      SucceedsIf([](PlanCall& call) { return call["x"].entries.empty(); }),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    std::vector<Shape> shapes = DrawShapes(random);
    if (random.Chance(3)) shapes.push_back({70000});
    const DtypeNumber dtype = DrawDtype(random, kFloats);
    std::vector<Shape> ones;
    for (size_t i = 0; i < shapes.size(); ++i) ones.push_back(random.Chance(70) ? Shape{} : Shape{1, 1});
    const long double orders[] = {1, 2, 0, 3, 1.5L, std::numeric_limits<long double>::infinity()};
    call["x"] = ListArg("x", shapes, false, dtype);
    call["out"] = ListArg("out", ones, true, dtype);
    call["scalar"].number = {orders[random.Below(6)], 0};
    call["scalar"].dtype = random.Chance(50) ? ACL_DOUBLE : ACL_FLOAT;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillLists({}, tensors, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const size_t count = call["x"].entries.size();
    const long double order = call["scalar"].number.real;
    const bool is_sum = order >= 1 && order < 2;
    const bool is_largest = std::isinf(order) && call.product == Product::k950;
    std::vector<Outcome> outcomes;
    for (size_t i = 0; i < count; ++i) {
      double norm = 0;
      for (int64_t k = 0; k < std::ssize(tensors[i].elements); ++k) {
        const double x = std::fabs(RealAt(tensors[i], k));
        if (is_largest)
          norm = std::isnan(x) || std::isnan(norm) ? std::nan("") : std::max(norm, x);
        else
          norm += is_sum ? x : x * x;
      }
      if (!is_sum && !is_largest) norm = std::sqrt(norm);
      outcomes.push_back({ElementOfNumber(tensors[count + i].dtype, {static_cast<long double>(norm), 0})});
    }
    return outcomes;
  };
  op.takes_workspace = true;
  op.is_inexact = true;
  op.tolerance = 1e-6;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Copies(), Zeros(), Norms(Product::kA2)};
  return all;
}
PORTACL_OPERATOR_TESTS(ListMoves, Operators());

TEST(ListNormsOn950, EveryElement) { CheckNumbers(Norms(Product::k950), 400); }

}  // namespace
}  // namespace portacl::testing
