// What is kept of rows of logits, from its description.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"

#include <algorithm>

#include "aclnnop/families/serving.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

// Numbers of sixteenths from -2 to 2, whose exponentials are far enough from each other that every sum is on one side of a limit; many are the
// same. Shares are of no sum of few of them; counts from -1 on.
void FillLogits(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    const bool is_count = i == 2;
    if (is_count && call["k"].null) continue;
    if (i == 1 && call["p"].null) continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      long double value = static_cast<long double>(random.Between(-32, 32)) / 16;
      if (i == 1) value = static_cast<long double>(random.Between(1, 127)) / 128;
      if (is_count) value = static_cast<long double>(random.Between(-1, call["logits"].shape[1] + 2));
      if (i == 0 && random.Below(30) == 0) value = -std::numeric_limits<long double>::infinity();
      const Element element = ElementOfNumber(tensors[i].dtype(), {value, 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

OperatorSpec Kept(const CFunction& function) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("logits", {3, 7}), TensorArg("p", {3}), TensorArg("k", {3}, ACL_INT32),
              OutputArg("out", {3, 7})};
  const auto each = [](const std::string& name) {
    return Given(name, Refuses(161002, name, [=](PlanCall& call) {
                   return call[name].shape != Shape{call["logits"].shape[0]};
                 }));
  };
  op.rules = {NoNulls("logits out"),
              Refuses(161001, "p k", [](PlanCall& call) { return call["p"].null && call["k"].null; }),
              DtypeIn("logits", {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}}),
              Given("p", SameDtype("logits", "p")),
              Given("k", DtypeIn("k", {{ACL_INT32}})),
              SameDtype("logits", "out"),
              Ranks("logits", 2, 2),
              SameShape("logits", "out"),
              each("p"),
              each("k"),
              DoneIfEmpty("logits")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape shape = {random.Between(1, 5), random.Between(1, random.Below(3) == 0 ? 300 : 12)};
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"logits", "out", "p"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    call["p"].shape = call["k"].shape = {shape[0]};
    const int64_t given = random.Between(0, 2);
    call["p"].null = given == 1;
    call["k"].null = given == 2;
  };
  op.fill = FillLogits;
  op.takes_workspace = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t n = call["logits"].shape[1];
    std::vector<double> out(tensors[0].elements.size());
    for (int64_t row = 0; row < call["logits"].shape[0]; ++row) {
      std::vector<int64_t> order(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) order[static_cast<size_t>(i)] = row * n + i;
      const auto at = [&](int64_t i) { return ValueAt(tensors[0], i); };
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return at(a) < at(b); });
      std::vector<double> kept;
      for (const int64_t i : order) kept.push_back(at(i));
      const double none = -std::numeric_limits<double>::infinity();
      if (!call["k"].null) {
        const int64_t count = tensors[2].Integer(row);
        if (count > 0 && count < n) {
          const double least = kept[static_cast<size_t>(n - count)];
          for (double& one : kept) one = one < least ? none : one;
        }
      }
      if (!call["p"].null) {
        double total = 0;
        for (const double one : kept) total += std::exp(one - kept.back());
        const auto limit = static_cast<double>(1.0f - static_cast<float>(ValueAt(tensors[1], row)));
        double sum = 0;
        for (size_t i = 0; i + 1 < kept.size(); ++i) {
          sum += std::exp(kept[i] - kept.back());
          if (sum / total <= limit) kept[i] = none;
        }
      }
      for (size_t i = 0; i < kept.size(); ++i) out[static_cast<size_t>(order[i])] = kept[i];
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Kept(PORTACL_C_FUNCTION(aclnnApplyTopKTopP)),
                                                Kept(PORTACL_C_FUNCTION(aclnnApplyTopKTopPCustom))};
  return all;
}

PORTACL_OPERATOR_TESTS(Sampling, Operators());

}  // namespace
}  // namespace portacl::testing
