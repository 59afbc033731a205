// Attention of parts of the keys in one, from its description.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "../norm/row_calls.h"

#include "aclnnop/families/attention.h"
#include "gtest/gtest.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsThereOn(Product product) {
  return product == Product::k950 || product == Product::kA3 || product == Product::kA2;
}

// ---- of logarithms ----

Rules UpdateRules() {
  return {
      Refuses(161002, "updateType",
              [](PlanCall& call) {
                const int64_t type = call["updateType"].integer;
                return type < 0 || type > 1 || call["lseOut"].null != (type == 0);
              }),
      Refuses(161001, "lse", [](PlanCall& call) { return call["lse"].null; }),
      Refuses(161001, "localOut", [](PlanCall& call) { return call["localOut"].null; }),
      NoNulls("out"),
      Refuses(161002, "lse",
              [](PlanCall& call) {
                const size_t count = call["lse"].entries.size();
                return count < 1 || count > 16 || call["localOut"].entries.size() != count;
              }),
      Refuses(161001, "",
              [](PlanCall& call) {
                bool wrong = false;
                for (const char* list : {"lse", "localOut"}) {
                  for (const PlanArgument& entry : call[list].entries) wrong = wrong || entry.null;
                }
                return wrong;
              }),
      Refuses(
          161002, "out",
          [](PlanCall& call) { return !IsThereOn(call.product) || !IsOneOf(call["out"].dtype, kRowDtypes); }),
      Refuses(161002, "",
              [](PlanCall& call) {
                bool wrong = call["updateType"].integer == 1 && call["lseOut"].dtype != ACL_FLOAT;
                for (const PlanArgument& entry : call["lse"].entries)
                  wrong = wrong || entry.dtype != ACL_FLOAT;
                for (const PlanArgument& entry : call["localOut"].entries)
                  wrong = wrong || entry.dtype != call["out"].dtype;
                return wrong;
              }),
      SucceedsIf([](PlanCall& call) {
        return NumElements(call["lse"].entries[0].shape) == 0 ||
               NumElements(call["localOut"].entries[0].shape) == 0;
      }),
      Refuses(161002, "",
              [](PlanCall& call) {
                const Shape& rows = call["lse"].entries[0].shape;
                const Shape& all = call["localOut"].entries[0].shape;
                if (rows.size() != 1 || all.size() != 2 || all[0] != rows[0] || all[1] % 8 != 0 ||
                    all[1] > 512)
                  return true;
                bool wrong = call["out"].shape != all ||
                             (call["updateType"].integer == 1 && call["lseOut"].shape != rows);
                for (const PlanArgument& entry : call["lse"].entries) wrong = wrong || entry.shape != rows;
                for (const PlanArgument& entry : call["localOut"].entries)
                  wrong = wrong || entry.shape != all;
                return wrong;
              }),
  };
}

std::vector<Outcome> Updated(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const size_t parts = call["lse"].entries.size();
  const Shape& all = call["out"].shape;
  std::vector<double> out(static_cast<size_t>(NumElements(all)));
  std::vector<double> lse(static_cast<size_t>(all[0]), kInfinity);
  for (int64_t row = 0; row < all[0]; ++row) {
    const auto logarithm = [&](size_t part) {
      const double value = ValueAt(tensors[part], row);
      return value == kInfinity ? -kInfinity : value;
    };
    double most = -kInfinity;
    for (size_t part = 0; part < parts; ++part) most = std::max(most, logarithm(part));
    if (most == -kInfinity) continue;
    double sum = 0;
    for (size_t part = 0; part < parts; ++part) sum += std::exp(logarithm(part) - most);
    lse[static_cast<size_t>(row)] = most + std::log(sum);
    for (int64_t column = 0; column < all[1]; ++column) {
      double& to = out[static_cast<size_t>(row * all[1] + column)];
      for (size_t part = 0; part < parts; ++part)
        to += ValueAt(tensors[parts + part], row * all[1] + column) * std::exp(logarithm(part) - most) / sum;
    }
  }
  std::vector<Outcome> outcomes = {AsOutcome(call["out"].dtype, out)};
  outcomes.push_back(call["updateType"].integer == 1 ? AsOutcome(ACL_FLOAT, lse) : Outcome());
  return outcomes;
}

OperatorSpec Update() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAttentionUpdate);
  op.valid = {ListArg("lse", {{3}, {3}}), ListArg("localOut", {{3, 8}, {3, 8}}), IntegerArg("updateType", 1),
              OutputArg("out", {3, 8}), OutputArg("lseOut", {3})};
  op.rules = UpdateRules();
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const auto parts =
        static_cast<size_t>(random.Below(4) == 0 ? random.Between(1, 16) : random.Between(1, 4));
    const int64_t rows = random.Between(1, random.Below(8) == 0 ? 150 : 9);
    const Shape all = {rows, 8 * random.Between(1, random.Below(9) == 0 ? 64 : 4)};
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["lse"].entries.resize(1);
    call["localOut"].entries.resize(1);
    call["lse"].entries[0].shape = call["lseOut"].shape = {rows};
    call["localOut"].entries[0].shape = call["out"].shape = all;
    call["localOut"].entries[0].dtype = call["out"].dtype = dtype;
    for (const char* list : {"lse", "localOut"}) {
      const PlanArgument first = call[list].entries[0];
      call[list].entries.resize(parts, first);
    }
    call["updateType"].integer = random.Below(2);
    call["lseOut"].null = call["updateType"].integer == 0;
  };
  // Some parts have no keys.
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i]->null) continue;
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        double value = static_cast<double>(random.Between(-3000, 3000)) / 1000;
        if (arguments[i]->name == "lse" && random.Below(4) == 0) value = kInfinity;
        const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(value), 0});
        std::copy(element.begin(), element.end(), tensors[i].Element(k));
      }
    }
  };
  op.oracle = Updated;
  op.is_inexact = true;
  op.tolerance = 1e-6;
  return op;
}

// ---- of statistics ----

bool IsPacked(const PlanCall& call) { return !call["inputLayout"].null && call["inputLayout"].text == "TND"; }
std::string StatisticLayout(const PlanCall& call) {
  for (const PlanArgument& one : call.arguments) {
    if (one.name == "inputSoftmaxLayout" && !one.null) return one.text;
  }
  return "";
}

Rules RingRules() {
  return {
      NoNulls("prevAttnOut prevSoftmaxMax prevSoftmaxSum curAttnOut curSoftmaxMax curSoftmaxSum attnOut "
              "softmaxMaxOut softmaxSumOut"),
      Refuses(161002, "prevAttnOut",
              [](PlanCall& call) {
                return !IsThereOn(call.product) || !IsOneOf(call["prevAttnOut"].dtype, kRowDtypes);
              }),
      SameDtype("prevAttnOut", "curAttnOut"),
      SameDtype("prevAttnOut", "attnOut"),
      Refuses(161002, "",
              [](PlanCall& call) {
                bool wrong = false;
                for (const char* name : {"prevSoftmaxMax", "prevSoftmaxSum", "curSoftmaxMax", "curSoftmaxSum",
                                         "softmaxMaxOut", "softmaxSumOut"})
                  wrong = wrong || call[name].dtype != ACL_FLOAT;
                return wrong;
              }),
      Refuses(561103, "inputSoftmaxLayout",
              [](PlanCall& call) { return IsPacked(call) && StatisticLayout(call).empty(); }),
      Refuses(561002, "",
              [](PlanCall& call) {
                const PlanArgument& layout = call["inputLayout"];
                if (!layout.null && layout.text != "SBH" && layout.text != "TND") return true;
                const std::string statistics = StatisticLayout(call);
                return IsPacked(call) ? statistics != "TND" : !statistics.empty() && statistics != "SBH";
              }),
      Refuses(561002, "",
              [](PlanCall& call) {
                const Shape& all = call["prevAttnOut"].shape;
                const Shape& numbers = call["prevSoftmaxMax"].shape;
                if (all.size() != 3) return true;
                if (IsPacked(call)) {
                  if (numbers != Shape{all[0], all[1], 8}) return true;
                } else if (numbers.size() != 4 || numbers[0] != all[1] || numbers[2] != all[0] ||
                           numbers[1] <= 0 || all[2] % numbers[1] != 0 || numbers[3] != 8) {
                  return true;
                }
                bool wrong = call["curAttnOut"].shape != all || call["attnOut"].shape != all;
                for (const char* name :
                     {"prevSoftmaxSum", "curSoftmaxMax", "curSoftmaxSum", "softmaxMaxOut", "softmaxSumOut"})
                  wrong = wrong || call[name].shape != numbers;
                return wrong;
              }),
      DoneIfEmpty("prevAttnOut"),
  };
}

std::vector<Outcome> Ringed(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const Shape& all = call["attnOut"].shape;
  const Shape& numbers = call["softmaxMaxOut"].shape;
  const bool packed = IsPacked(call);
  const int64_t heads = packed ? all[1] : numbers[1];
  const int64_t batches = packed ? 1 : all[1];
  const int64_t depth = packed ? all[2] : all[2] / heads;
  std::vector<double> out(static_cast<size_t>(NumElements(all)));
  std::vector<double> most(static_cast<size_t>(NumElements(numbers)));
  std::vector<double> sums(most.size());
  for (int64_t s = 0; s < all[0]; ++s) {
    for (int64_t b = 0; b < batches; ++b) {
      for (int64_t n = 0; n < heads; ++n) {
        const int64_t place = 8 * (packed ? s * heads + n : (b * heads + n) * all[0] + s);
        const double greatest = std::max(ValueAt(tensors[1], place), ValueAt(tensors[4], place));
        const double before = ValueAt(tensors[2], place) * std::exp(ValueAt(tensors[1], place) - greatest);
        const double now = ValueAt(tensors[5], place) * std::exp(ValueAt(tensors[4], place) - greatest);
        for (int64_t copy = 0; copy < 8; ++copy) {
          most[static_cast<size_t>(place + copy)] = greatest;
          sums[static_cast<size_t>(place + copy)] = before + now;
        }
        for (int64_t d = 0; d < depth; ++d) {
          const int64_t at = ((s * batches + b) * heads + n) * depth + d;
          out[static_cast<size_t>(at)] =
              (ValueAt(tensors[0], at) * before + ValueAt(tensors[3], at) * now) / (before + now);
        }
      }
    }
  }
  return {AsOutcome(call["attnOut"].dtype, out), AsOutcome(ACL_FLOAT, most), AsOutcome(ACL_FLOAT, sums)};
}

OperatorSpec Ring(const CFunction& function, bool names_statistics) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("prevAttnOut", {3, 2, 8}),
              TensorArg("prevSoftmaxMax", {2, 4, 3, 8}),
              TensorArg("prevSoftmaxSum", {2, 4, 3, 8}),
              TensorArg("curAttnOut", {3, 2, 8}),
              TensorArg("curSoftmaxMax", {2, 4, 3, 8}),
              TensorArg("curSoftmaxSum", {2, 4, 3, 8}),
              TensorArg("actualSeqQlenOptional", {2}, ACL_INT64),
              TextArg("inputLayout", "SBH")};
  if (names_statistics) op.valid.push_back(TextArg("inputSoftmaxLayout", "SBH"));
  op.valid.push_back(OutputArg("attnOut", {3, 2, 8}));
  op.valid.push_back(OutputArg("softmaxMaxOut", {2, 4, 3, 8}));
  op.valid.push_back(OutputArg("softmaxSumOut", {2, 4, 3, 8}));
  op.rules = RingRules();
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, random.Below(8) == 0 ? 70 : 5);
    const int64_t heads = random.Between(1, 4);
    const int64_t batches = random.Between(1, 3);
    const int64_t depth = random.Between(1, random.Below(8) == 0 ? 300 : 9);
    const bool packed = names_statistics && random.Below(2) == 0;
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"prevAttnOut", "curAttnOut", "attnOut"}) {
      call[name].shape = packed ? Shape{rows, heads, depth} : Shape{rows, batches, heads * depth};
      call[name].dtype = dtype;
    }
    for (const char* name : {"prevSoftmaxMax", "prevSoftmaxSum", "curSoftmaxMax", "curSoftmaxSum",
                             "softmaxMaxOut", "softmaxSumOut"})
      call[name].shape = packed ? Shape{rows, heads, 8} : Shape{batches, heads, rows, 8};
    call["inputLayout"].text = packed ? "TND" : "SBH";
    if (names_statistics)
      call["inputSoftmaxLayout"].text = packed ? "TND" : random.Below(2) == 0 ? "" : "SBH";
    call["actualSeqQlenOptional"].null = random.Below(2) == 0;
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto arguments = TensorsOf(call);
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (arguments[i]->null) continue;
      const bool is_sum = arguments[i]->name.find("Sum") != std::string::npos;
      for (int64_t k = 0; k < tensors[i].size(); ++k) {
        const double value = static_cast<double>(random.Between(is_sum ? 1 : -3000, 3000)) / 1000;
        const Element element = ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(value), 0});
        std::copy(element.begin(), element.end(), tensors[i].Element(k));
      }
    }
  };
  op.oracle = Ringed;
  op.is_inexact = true;
  op.tolerance = 1e-6;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {
      Update(),
      Ring(PORTACL_C_FUNCTION(aclnnRingAttentionUpdate), false),
      Ring(PORTACL_C_FUNCTION(aclnnRingAttentionUpdateV2), true),
  };
  return all;
}

PORTACL_OPERATOR_TESTS(AttentionUpdate, Operators());

aclTensor* MakeFloats(const Shape& shape, std::vector<float>& numbers) {
  return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), numbers.data());
}

// Parts of NaN alone are no parts without keys: a later merge still sees the NaN.
TEST(AttentionUpdate, NanIsNoEmptyPart) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr auto kFloatNan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto kFloatInfinity = std::numeric_limits<float>::infinity();
  // Rows of NaN, of NaN and a number, of NaN and no keys, of no keys.
  std::vector<float> lse[] = {{kFloatNan, kFloatNan, kFloatNan, kFloatInfinity},
                              {kFloatNan, 0, kFloatInfinity, -kFloatInfinity}};
  std::vector<float> parts[] = {std::vector<float>(32, 1), std::vector<float>(32, 3)};
  std::vector<float> out(32, 9), merged(4, 9);
  const aclTensor* const lses[] = {MakeFloats({4}, lse[0]), MakeFloats({4}, lse[1])};
  const aclTensor* const outs[] = {MakeFloats({4, 8}, parts[0]), MakeFloats({4, 8}, parts[1])};
  aclTensorList* const lse_list = aclCreateTensorList(lses, 2);
  aclTensorList* const out_list = aclCreateTensorList(outs, 2);
  aclTensor* const result = MakeFloats({4, 8}, out);
  aclTensor* const lse_out = MakeFloats({4}, merged);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnAttentionUpdateGetWorkspaceSize(lse_list, out_list, 1, result, lse_out, &size, &executor), 0)
      << aclGetRecentErrMsg();
  ASSERT_EQ(aclnnAttentionUpdate(nullptr, size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  for (size_t row = 0; row < 3; ++row) {
    EXPECT_TRUE(std::isnan(merged[row])) << row << " " << merged[row];
    EXPECT_TRUE(std::isnan(out[row * 8])) << row << " " << out[row * 8];
  }
  EXPECT_EQ(merged[3], kFloatInfinity);
  EXPECT_EQ(out[24], 0);
  for (const aclTensorList* list : {lse_list, out_list}) aclDestroyTensorList(list);
  for (const aclTensor* tensor : {result, lse_out}) aclDestroyTensor(tensor);
}

// Rows that see no key have the sum FLT_MAX in both parts, and keep it: a third part is then the only one.
TEST(AttentionUpdate, RowsWithoutKeysStayFinite) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  constexpr float kMost = std::numeric_limits<float>::max();
  const Shape all = {1, 1, 8};
  const Shape numbers = {1, 1, 1, 8};
  // What is there, and what is added to it.
  std::vector<float> out(8, 0), greatest(8, -kMost), sum(8, kMost);
  std::vector<float> other_out(8, 0), other_greatest(8, -kMost), other_sum(8, kMost);
  const auto merge = [&] {
    std::vector<float> to[] = {std::vector<float>(8, 9), std::vector<float>(8, 9), std::vector<float>(8, 9)};
    const aclTensor* const in[] = {
        MakeFloats(all, out),       MakeFloats(numbers, greatest),       MakeFloats(numbers, sum),
        MakeFloats(all, other_out), MakeFloats(numbers, other_greatest), MakeFloats(numbers, other_sum)};
    aclTensor* const results[] = {MakeFloats(all, to[0]), MakeFloats(numbers, to[1]),
                                  MakeFloats(numbers, to[2])};
    char layout[] = "SBH";
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(
        aclnnRingAttentionUpdateGetWorkspaceSize(in[0], in[1], in[2], in[3], in[4], in[5], nullptr, layout,
                                                 results[0], results[1], results[2], &size, &executor),
        0)
        << aclGetRecentErrMsg();
    EXPECT_EQ(aclnnRingAttentionUpdate(nullptr, size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    for (const aclTensor* tensor : in) aclDestroyTensor(tensor);
    for (const aclTensor* tensor : results) aclDestroyTensor(tensor);
    out = to[0];
    greatest = to[1];
    sum = to[2];
  };
  merge();
  EXPECT_EQ(out, std::vector<float>(8, 0));
  EXPECT_EQ(greatest, std::vector<float>(8, -kMost));
  EXPECT_EQ(sum, std::vector<float>(8, kMost));
  other_out.assign(8, 2);
  other_greatest.assign(8, 0);
  other_sum.assign(8, 1);
  merge();
  EXPECT_EQ(out, std::vector<float>(8, 2));
  EXPECT_EQ(greatest, std::vector<float>(8, 0));
  EXPECT_EQ(sum, std::vector<float>(8, 1));
}

}  // namespace
}  // namespace portacl::testing
