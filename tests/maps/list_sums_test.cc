// Sums and extremes of lists of tensors, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aclnnop/families/arithmetic.h"
#include "gtest/gtest.h"
#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing {
namespace {

using Fold = std::function<float(float, float)>;
using FoldIntegers = std::function<int64_t(int64_t, int64_t)>;

bool IsAnyEmpty(const PlanCall& call) {
  const auto& entries = call["tensors"].entries;
  return std::any_of(entries.begin(), entries.end(),
                     [](const PlanArgument& entry) { return NumElements(entry.shape) == 0; });
}
Rule AnyOther(aclnnStatus code,
              std::function<bool(const PlanArgument& entry, const PlanArgument& out)> wrong) {
  return Refuses(code, "tensors", [=](PlanCall& call) {
    const auto& entries = call["tensors"].entries;
    return std::any_of(entries.begin(), entries.end(),
                       [&](const PlanArgument& entry) { return wrong(entry, call["out"]); });
  });
}
Rule OtherTypes(aclnnStatus code) {
  return AnyOther(
      code, [](const PlanArgument& entry, const PlanArgument& out) { return entry.dtype != out.dtype; });
}
const Rule kRanks =
    AnyOther(161002, [](const PlanArgument& entry, const PlanArgument&) { return entry.shape.size() > 8; });

// The shape to which all tensors broadcast; false if there is none.
bool BroadcastsAll(const PlanCall& call, Shape* result) {
  Shape all;
  for (const PlanArgument& entry : call["tensors"].entries) {
    Shape one = entry.shape;
    while (one.size() < all.size()) one.insert(one.begin(), 1);
    while (all.size() < one.size()) all.insert(all.begin(), 1);
    for (size_t dim = 0; dim < one.size(); ++dim) {
      if (all[dim] == 1) {
        all[dim] = one[dim];
      } else if (one[dim] != 1 && one[dim] != all[dim]) {
        return false;
      }
    }
  }
  *result = all;
  return true;
}

OperatorSpec OfList(const CFunction& function, const DtypeList& drawn, bool broadcasts, const Fold& fold,
                    const FoldIntegers& fold_integers) {
  OperatorSpec op;
  op.function = function;
  op.valid = {ListArg("tensors", {{2, 3}, {2, 3}, {2, 3}}), OutputArg("out", {2, 3})};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, drawn);
    const Shape shape = DrawShape(random, 0, random.Below(6) == 0 ? 8 : 4, 4);
    auto& entries = call["tensors"].entries;
    const PlanArgument entry = entries[0];
    // More than eight operands are held elsewhere.
    entries.assign(static_cast<size_t>(random.Between(1, random.Below(4) == 0 ? 40 : 4)), entry);
    for (PlanArgument& one : entries) {
      one.dtype = dtype;
      one.shape = shape;
      if (!broadcasts) continue;
      for (int64_t& length : one.shape) {
        if (random.Below(4) == 0) length = 1;
      }
      while (!one.shape.empty() && one.shape[0] == 1 && random.Below(2) == 0)
        one.shape.erase(one.shape.begin());
    }
    call["out"].dtype = dtype;
    BroadcastsAll(call, &call["out"].shape);
  };
  op.takes_workspace = true;  // with three tensors and more
  op.is_inexact = true;       // NaN
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const DtypeNumber dtype = call["out"].dtype;
    return std::vector<Outcome>{
        ForEachElement(call["out"].shape, [&](std::vector<int64_t>& index) -> std::optional<Element> {
          float real = 0;
          int64_t whole = 0;
          for (size_t i = 0; i + 1 < tensors.size(); ++i) {
            const TensorValues& tensor = tensors[i];
            std::vector<int64_t> own(index.end() - std::ssize(tensor.shape), index.end());
            for (size_t dim = 0; dim < own.size(); ++dim) {
              if (tensor.shape[dim] == 1) own[dim] = 0;
            }
            const int64_t at = PositionOf(tensor.shape, own);
            if (IsIntegral(dtype)) {
              whole = i == 0 ? tensor.Integer(at) : fold_integers(whole, tensor.Integer(at));
            } else {
              const auto one = static_cast<float>(
                  NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(at)].data()).real);
              real = i == 0 ? one : fold(real, one);
            }
          }
          if (!IsIntegral(dtype)) return ElementOfNumber(dtype, {static_cast<long double>(real), 0});
          Element element(static_cast<size_t>(ElementSize(dtype)));
          EncodeIntegerElement(dtype, whole, element.data());
          return element;
        })};
  };
  return op;
}

float Add(float a, float b) { return a + b; }
int64_t AddWrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
bool IsNan(float x) { return std::isnan(x); }
float Greater(float a, float b) {
  if (IsNan(a) || IsNan(b)) return NAN;
  return a == b ? (std::signbit(a) ? b : a) : std::max(a, b);
}
float Lesser(float a, float b) {
  if (IsNan(a) || IsNan(b)) return NAN;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
const FoldIntegers kGreater = [](int64_t a, int64_t b) { return std::max(a, b); };
const FoldIntegers kLesser = [](int64_t a, int64_t b) { return std::min(a, b); };

const Rule kHasTensors =
    Refuses(161002, "tensors", [](PlanCall& call) { return call["tensors"].entries.empty(); });
const Rule kBroadcasts =
    Refuses(161002, "tensors", [](PlanCall& call) { return !BroadcastsAll(call, &call.result); });

OperatorSpec AddN() {
  OperatorSpec op = OfList(PORTACL_C_FUNCTION(aclnnAddN),
                           {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT64}, false, Add, AddWrapping);
  const Listed listed = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT64}};
  const auto is_first_another = [](const PlanCall& call) {
    return call["tensors"].entries[0].dtype != call["out"].dtype;
  };
  op.rules = {NoNulls("tensors out"),
              kHasTensors,
              SucceedsIf([=](PlanCall& call) { return is_first_another(call) && IsAnyEmpty(call); }),
              Refuses(561103, "tensors", [=](PlanCall& call) { return is_first_another(call); }),
              DtypeIn("tensors", listed),
              DtypeIn("out", listed),
              kRanks,
              AnyOther(161002, [](const PlanArgument& entry,
                                  const PlanArgument& out) { return entry.shape != out.shape; }),
              Refuses(161002, "tensors",
                      [](PlanCall& call) {
                        const int32_t format = call["tensors"].entries[0].format;
                        return format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_NC1HWC0;
                      }),
              SucceedsIf([](PlanCall& call) { return IsAnyEmpty(call); }),
              OtherTypes(561103)};
  return op;
}

OperatorSpec Sum() {
  OperatorSpec op = OfList(PORTACL_C_FUNCTION(aclnnSum),
                           {ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8, ACL_INT32}, true, Add, AddWrapping);
  op.rules = {NoNulls("tensors out"),
              kHasTensors,
              DtypeIn("tensors", {{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8, ACL_INT32}}),
              kRanks,
              kBroadcasts,
              ResultIs("out"),
              DoneIfEmpty("out"),
              OtherTypes(561103)};
  return op;
}

OperatorSpec Extreme(const CFunction& function, bool is_greater) {
  OperatorSpec op = OfList(function, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT32, ACL_INT64}, true,
                           is_greater ? Greater : Lesser, is_greater ? kGreater : kLesser);
  Listed listed = {{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT32, ACL_INT64}, {ACL_BF16}};
  if (is_greater) listed.on_950 = {ACL_UINT8};
  op.rules = {NoNulls("tensors out"),
              kHasTensors,
              DtypeIn("tensors", listed),
              DtypeIn("out", listed),
              OtherTypes(161002),
              kRanks,
              kBroadcasts,
              ResultIs("out"),
              DoneIfEmpty("out")};
  return op;
}

const OperatorSpec kOperators[] = {AddN(), Sum(), Extreme(PORTACL_C_FUNCTION(aclnnMaxN), true),
                                   Extreme(PORTACL_C_FUNCTION(aclnnMinN), false)};
PORTACL_OPERATOR_TESTS(ListSums, kOperators);

}  // namespace
}  // namespace portacl::testing
