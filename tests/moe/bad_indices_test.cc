// Experts, places and counts that are none, for every function that has them: the stream fails once with a message, or passes over them
// as the headers say; nothing is written outside of the outputs, and the next call is right.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "determinism/coded_calls.h"
#include "moe_calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kTokens = 5, kEntries = 2, kColumns = 8, kExperts = 3;
constexpr int64_t kRows = kTokens * kEntries;
// Bytes around each output: more than a row.
constexpr int64_t kGap = 256;
const Shape kOfTokens = {kTokens, kColumns};
const Shape kOfRows = {kRows, kColumns};
const Shape kChoice = {kTokens, kEntries};
constexpr const char* kAtlasA2 = "Ascend910B1";
constexpr aclDataType kFloat = ACL_FLOAT;

// A call with integers that are all right, each of which may be another one.
struct Indexed {
  const char* function;
  const char* soc;
  aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream);
  const char* parameter;
  aclDataType dtype;
  Shape shape;
  std::vector<int64_t> right;
  int64_t below;           // the integers that are right are from 0 up to this
  bool passes_over;        // every other integer; else the stream fails
  bool passes_over_minus;  // -1
  bool passes_over_more;   // what is too large
  aclnnStatus (*plan)(CodedCall& c, aclTensor* integers);
};
const std::vector<int64_t> kOrder = {3, 0, 9, 1, 8, 2, 7, 4, 6, 5};
const std::vector<int64_t> kExpertIds = {0, 1, 2, 0, 1, 2, 0, 2, 1, 0};

aclTensor* Order(CodedCall& c) {
  return c.Integers(std::vector<int32_t>(kOrder.begin(), kOrder.end()), ACL_INT32);
}
aclTensor* Experts(CodedCall& c) {
  return c.Integers(std::vector<int32_t>(kExpertIds.begin(), kExpertIds.end()), ACL_INT32, kChoice);
}

const Indexed kCalls[] = {
    {"aclnnMoeInitRoutingV2", kAtlasA2, aclnnMoeInitRoutingV2, "expertIdx", ACL_INT32, kChoice, kExpertIds,
     kExperts, false, false, false,
     [](CodedCall& c, aclTensor* experts) {
       aclTensor* const to = c.Out(kOfRows, kFloat);
       aclTensor* const places = c.Out({kRows}, ACL_INT32);
       return aclnnMoeInitRoutingV2GetWorkspaceSize(c.In(kOfTokens, kFloat), experts, 0, 0, kExperts, 0, 2,
                                                    false, to, places, c.Out({kExperts}, ACL_INT32), nullptr,
                                                    c.size, c.executor);
     }},
    {"aclnnMoeInitRoutingV2", kAtlasA2, aclnnMoeInitRoutingV2, "expertIdx", ACL_INT32, kChoice, kExpertIds,
     kExperts, false, false, false,
     [](CodedCall& c, aclTensor* experts) {
       aclTensor* const to = c.Out({kExperts, 2, kColumns}, kFloat);
       aclTensor* const places = c.Out({kRows}, ACL_INT32);
       return aclnnMoeInitRoutingV2GetWorkspaceSize(c.In(kOfTokens, kFloat), experts, 0, 2, kExperts, 1, 0,
                                                    true, to, places, nullptr, c.Out({kExperts}, ACL_INT32),
                                                    c.size, c.executor);
     }},
    {"aclnnMoeInitRoutingV3", kAtlasA2, aclnnMoeInitRoutingV3, "expertIdx", ACL_INT32, kChoice, kExpertIds,
     kExperts, true, true, true,
     [](CodedCall& c, aclTensor* experts) {
       const aclIntArray* const range = c.Ints({0, kExperts});
       aclTensor* const to = c.Out(kOfRows, ACL_INT8);
       aclTensor* const places = c.Out({kRows}, ACL_INT32);
       aclTensor* const counts = c.Out({kExperts}, ACL_INT64);
       return aclnnMoeInitRoutingV3GetWorkspaceSize(
           c.In(kOfTokens, kFloat), experts, c.In({kExperts, kColumns}, kFloat), nullptr, -1, 0, kExperts, 0,
           1, true, 1, range, 0, to, places, counts, c.Out({kRows}, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeInitRouting", kAtlasA2, aclnnMoeInitRouting, "rowIdx", ACL_INT32, kChoice, kOrder, kRows, false,
     false, false,
     [](CodedCall& c, aclTensor* rows) {
       aclTensor* const to = c.Out(kOfRows, kFloat);
       aclTensor* const places = c.Out({kRows}, ACL_INT32);
       return aclnnMoeInitRoutingGetWorkspaceSize(c.In(kOfTokens, kFloat), rows, Experts(c), kTokens, to,
                                                  places, c.Out({kRows}, ACL_INT32), c.size, c.executor);
     }},
    {"aclnnMoeInitRoutingV2Grad",
     kAtlasA2,
     aclnnMoeInitRoutingV2Grad,
     "expandedRowIdx",
     ACL_INT32,
     {kRows},
     kOrder,
     kRows,
     false,
     false,
     false,
     [](CodedCall& c, aclTensor* places) {
       return aclnnMoeInitRoutingV2GradGetWorkspaceSize(c.In(kOfRows, kFloat), places, kEntries, 0, 0,
                                                        c.Out(kOfTokens, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeFinalizeRoutingV2",
     kAtlasA2,
     aclnnMoeFinalizeRoutingV2,
     "expandedRowIdx",
     ACL_INT32,
     {kRows},
     kOrder,
     kRows,
     false,
     false,
     false,
     [](CodedCall& c, aclTensor* places) {
       return aclnnMoeFinalizeRoutingV2GetWorkspaceSize(
           c.In(kOfRows, kFloat), places, c.In(kOfTokens, kFloat), nullptr,
           c.In({kExperts, kColumns}, kFloat), c.In(kChoice, kFloat), Experts(c), 2, c.Out(kOfTokens, kFloat),
           c.size, c.executor);
     }},
    {"aclnnMoeFinalizeRoutingV2", kAtlasA2, aclnnMoeFinalizeRoutingV2, "expertIdxOptional", ACL_INT32,
     kChoice, kExpertIds, kExperts, false, false, false,
     [](CodedCall& c, aclTensor* experts) {
       return aclnnMoeFinalizeRoutingV2GetWorkspaceSize(
           c.In(kOfRows, kFloat), Order(c), c.In(kOfTokens, kFloat), nullptr,
           c.In({kExperts, kColumns}, kFloat), c.In(kChoice, kFloat), experts, 2, c.Out(kOfTokens, kFloat),
           c.size, c.executor);
     }},
    {"aclnnMoeFinalizeRoutingV2Grad", kAtlasA2, aclnnMoeFinalizeRoutingV2Grad, "expertIdxOptional", ACL_INT32,
     kChoice, kExpertIds, kExperts, false, false, false,
     [](CodedCall& c, aclTensor* experts) {
       return aclnnMoeFinalizeRoutingV2GradGetWorkspaceSize(
           c.In(kOfTokens, kFloat), Order(c), c.In(kOfRows, kFloat), c.In(kChoice, kFloat), experts,
           c.In({kExperts, kColumns}, kFloat), 0, 0, kExperts, 0, c.Out(kOfRows, kFloat),
           c.Out(kChoice, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeFinalizeRoutingV2Grad",
     kAtlasA2,
     aclnnMoeFinalizeRoutingV2Grad,
     "expandedRowIdx",
     ACL_INT32,
     {kRows},
     kOrder,
     kRows,
     false,
     true,
     true,
     [](CodedCall& c, aclTensor* places) {
       return aclnnMoeFinalizeRoutingV2GradGetWorkspaceSize(
           c.In(kOfTokens, kFloat), places, c.In(kOfRows, kFloat), c.In(kChoice, kFloat), nullptr, nullptr, 0,
           0, kExperts, 0, c.Out(kOfRows, kFloat), c.Out(kChoice, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeTokenPermuteGrad",
     kAtlasA2,
     aclnnMoeTokenPermuteGrad,
     "sortedIndices",
     ACL_INT32,
     {kRows},
     kOrder,
     kRows,
     false,
     false,
     true,
     [](CodedCall& c, aclTensor* places) {
       return aclnnMoeTokenPermuteGradGetWorkspaceSize(c.In(kOfRows, kFloat), places, kEntries, false,
                                                       c.Out(kOfTokens, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeTokenUnpermute",
     kAtlasA2,
     aclnnMoeTokenUnpermute,
     "sortedIndices",
     ACL_INT32,
     {kRows},
     kOrder,
     kRows,
     false,
     false,
     true,
     [](CodedCall& c, aclTensor* places) {
       return aclnnMoeTokenUnpermuteGetWorkspaceSize(c.In(kOfRows, kFloat), places, c.In(kChoice, kFloat),
                                                     false, nullptr, c.Out(kOfTokens, kFloat), c.size,
                                                     c.executor);
     }},
    {"aclnnMoeGatingTopKBackward", kAtlasA2, aclnnMoeGatingTopKBackward, "expertIdx", ACL_INT32, kChoice,
     kExpertIds, kExperts, false, false, false,
     [](CodedCall& c, aclTensor* experts) {
       return aclnnMoeGatingTopKBackwardGetWorkspaceSize(
           c.In({kTokens, kExperts}, kFloat), c.In(kChoice, kFloat), experts, 0, 1, 2.5, 1e-20,
           c.Out({kTokens, kExperts}, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeGatingTopKV2",
     kAscend950,
     aclnnMoeGatingTopKV2,
     "inputIdsOptional",
     ACL_INT64,
     {kTokens},
     {0, 2, 1, 3, 2},
     4,
     false,
     false,
     false,
     [](CodedCall& c, aclTensor* ids) {
       aclTensor* const y = c.Out(kChoice, kFloat);
       aclTensor* const chosen = c.Out(kChoice, ACL_INT32);
       return aclnnMoeGatingTopKV2GetWorkspaceSize(
           c.In({kTokens, kExperts}, kFloat), nullptr, ids,
           c.Integers<int32_t>({0, 1, 2, 0, 1, 2, 2, 1}, ACL_INT32, {4, kEntries}), kEntries, 1, 1, 0, 0, 1,
           true, 1, 1e-20, y, chosen, c.Out({kTokens, kExperts}, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeGatingTopKV2",
     kAscend950,
     aclnnMoeGatingTopKV2,
     "tid2eidOptional",
     ACL_INT64,
     {4, kEntries},
     {0, 1, 2, 0, 1, 2, 2, 1},
     kExperts,
     false,
     false,
     false,
     [](CodedCall& c, aclTensor* experts) {
       aclTensor* const y = c.Out(kChoice, kFloat);
       aclTensor* const chosen = c.Out(kChoice, ACL_INT32);
       return aclnnMoeGatingTopKV2GetWorkspaceSize(c.In({kTokens, kExperts}, kFloat), nullptr,
                                                   c.Integers<int32_t>({0, 2, 1, 3, 2}, ACL_INT32), experts,
                                                   kEntries, 1, 1, 0, 0, 1, true, 1, 1e-20, y, chosen,
                                                   c.Out({kTokens, kExperts}, kFloat), c.size, c.executor);
     }},
    {"aclnnMoeUpdateExpert", kAscend950, aclnnMoeUpdateExpert, "expertIds", ACL_INT64, kChoice, kExpertIds,
     kExperts, false, false, false,
     [](CodedCall& c, aclTensor* experts) {
       aclTensor* const ids = c.Out(kChoice, ACL_INT64);
       return aclnnMoeUpdateExpertGetWorkspaceSize(
           experts, c.Integers<int32_t>({2, 7, 8, 1, 9, 0, 2, 5, 6}, ACL_INT32, {kExperts, 3}), nullptr,
           nullptr, nullptr, 1, 2, 0, ids, c.Out(kChoice, ACL_BOOL), c.size, c.executor);
     }},
};

struct Ran {
  aclError synchronized = 0;
  std::string message;
  std::vector<std::byte> bytes;
  std::vector<std::pair<int64_t, int64_t>> outputs;  // places among these bytes
};
Ran RunWith(const Indexed& indexed, const std::vector<int64_t>& values,
            const ScopedEnvironment& environment) {
  const auto each = static_cast<size_t>(ElementSize(indexed.dtype));
  GuardedBuffer integers(values.size() * each);
  for (size_t i = 0; i < values.size(); ++i) std::memcpy(integers.data() + i * each, &values[i], each);
  Ran ran;
  ran.bytes.assign(static_cast<size_t>(CodedCall::kBytes), std::byte{0xEE});
  Made made;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  {
    aclTensor* const given[] = {made.Dense({CodedCall::kBytes}, ACL_UINT8, ran.bytes.data())};
    CodedCall call(given, 0, &size, &executor, kGap);
    EXPECT_EQ(indexed.plan(call, made.Dense(indexed.shape, indexed.dtype, integers.device())), 0)
        << TakeErrorMessage();
    ran.outputs = call.places();
  }
  ran.synchronized = RunAndWait(environment, indexed.run, size, executor);
  ran.message = ran.synchronized == 0 ? "" : TakeErrorMessage();
  return ran;
}
// Bytes outside of the outputs keep what they held.
void ExpectNothingElse(const Ran& ran) {
  int64_t from = 0;
  const auto expect_held = [&](int64_t to) {
    for (; from < to; ++from) ASSERT_EQ(ran.bytes[static_cast<size_t>(from)], std::byte{0xEE}) << from;
  };
  auto outputs = ran.outputs;
  std::sort(outputs.begin(), outputs.end());
  for (const auto& [begin, end] : outputs) {
    expect_held(begin);
    from = end;
  }
  expect_held(std::ssize(ran.bytes));
}

TEST(BadIndices, FailTheStreamOnceOrArePassedOver) {
  for (const Indexed& indexed : kCalls) {
    const bool is_narrow = indexed.dtype == ACL_INT32;
    const int64_t greatest =
        is_narrow ? std::numeric_limits<int32_t>::max() : std::numeric_limits<int64_t>::max();
    for (const char* const threads : {"1", "3"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_SOC", indexed.soc}, {"PORTACL_NUM_THREADS", threads}});
      const Ran right = RunWith(indexed, indexed.right, environment);
      ASSERT_EQ(right.synchronized, 0) << indexed.function << " " << right.message;
      for (const int64_t bad : {int64_t{-1}, indexed.below, greatest, -greatest - 1}) {
        for (const size_t at : {size_t{0}, indexed.right.size() - 1}) {
          SCOPED_TRACE(std::string(indexed.function) + ", " + indexed.parameter + " " + std::to_string(bad) +
                       " at " + std::to_string(at));
          std::vector<int64_t> values = indexed.right;
          values[at] = bad;
          const Ran ran = RunWith(indexed, values, environment);
          const bool passes = indexed.passes_over || (bad == -1 && indexed.passes_over_minus) ||
                              (bad > 0 && indexed.passes_over_more);
          EXPECT_EQ(ran.synchronized, passes ? 0 : ACL_ERROR_RT_AICORE_EXCEPTION);
          if (!passes) {
            const std::string words = std::string(indexed.function) + ": " + indexed.parameter +
                                      " has the value " + std::to_string(bad) + " at element " +
                                      std::to_string(at) + ", accepted: ";
            EXPECT_NE(ran.message.find(words), std::string::npos) << ran.message;
          }
          ExpectNothingElse(ran);
          const Ran next = RunWith(indexed, indexed.right, environment);
          EXPECT_EQ(next.synchronized, 0) << next.message;
          EXPECT_TRUE(next.bytes == right.bytes);
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
