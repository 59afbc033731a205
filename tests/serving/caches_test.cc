// Paged caches, from their descriptions: slots below 0, beyond the cache, and more than once among them.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"

#include "aclnnop/families/serving.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
const DtypeList kOld = {ACL_FLOAT16, ACL_BF16, ACL_INT8};
const DtypeList kNew = {ACL_FLOAT16, ACL_BF16,  ACL_INT8,   ACL_FLOAT,    ACL_UINT8,       ACL_INT16,
                        ACL_UINT16,  ACL_INT32, ACL_UINT32, ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};

bool IsListed(const PlanCall& call, const std::string& name, bool only_new) {
  const DtypeList& list = call.product == Product::k950 ? kNew : kOld;
  const bool has = call.product == Product::k950 ||
                   (!only_new && (call.product == Product::kA2 || call.product == Product::kA3));
  return has && std::find(list.begin(), list.end(), call[name].dtype) != list.end();
}
bool IsGrouped(const PlanCall& call, const char* mode) {
  return !call[mode].null && call[mode].text == "PA_NZ";
}
bool HasValues(const PlanCall& call) {
  return !call["value"].null && !call["value"].shape.empty() && NumElements(call["value"].shape) != 0;
}
int64_t GroupOf(const PlanCall& call, const std::string& cache) {
  return 32 / static_cast<int64_t>(aclDataTypeSize(static_cast<aclDataType>(call[cache].dtype)));
}

Rule Fits(const std::string& rows, const std::string& cache, const char* mode) {
  return Refuses(kTiling, cache, [=](PlanCall& call) {
    const Shape& shape = call[rows].shape;
    const Shape& pages = call[cache].shape;
    const int64_t heads = shape[shape.size() - 2];
    const int64_t length = shape.back();
    if (!IsGrouped(call, mode)) return pages.size() != 4 || pages[2] != heads || pages[3] != length;
    const int64_t group = GroupOf(call, cache);
    const bool four = pages.size() == 4 && heads * length % group == 0 &&
                      pages[1] == heads * length / group && pages[3] == group;
    const bool five = pages.size() == 5 && length % group == 0 && pages[1] == heads &&
                      pages[2] == length / group && pages[4] == group;
    return !four && !five;
  });
}
Rule Tokens(const std::string& rows) {
  return Refuses(kTiling, "slotMapping", [=](PlanCall& call) {
    const Shape& shape = call[rows].shape;
    return call["slotMapping"].shape != Shape{NumElements(Shape(shape.begin(), shape.end() - 2))};
  });
}

// Row by row: where each of its elements goes.
Outcome Scattered(const PlanCall& call, const TensorValues& rows, const TensorValues& cache,
                  const TensorValues& slots, bool is_grouped) {
  Outcome out(cache.elements.size());
  const int64_t heads = rows.shape[rows.shape.size() - 2];
  const int64_t length = rows.shape.back();
  const int64_t row = heads * length;
  const int64_t blocks = cache.shape[0];
  const int64_t in_block = cache.shape[is_grouped ? cache.shape.size() - 2 : 1];
  (void)call;
  for (int64_t token = 0; token < std::ssize(slots.elements); ++token) {
    const int64_t slot = slots.Integer(token);
    if (slot < 0 || slot >= blocks * in_block) continue;
    for (int64_t i = 0; i < row; ++i) {
      int64_t to = slot * row + i;
      if (is_grouped) {
        const int64_t group = cache.shape.back();
        to = ((slot / in_block * (row / group) + i / group) * in_block + slot % in_block) * group + i % group;
      }
      out[static_cast<size_t>(to)] = rows.elements[static_cast<size_t>(token * row + i)];
    }
  }
  return out;
}

void DrawCache(PlanCall& call, RandomNumbers& random, const std::string& rows, const std::string& cache,
               const Shape& tokens, int64_t blocks, int64_t in_block, bool is_grouped, DtypeNumber dtype) {
  call[rows].dtype = call[cache].dtype = dtype;
  // Groups of some rows reach over several heads.
  const int64_t group = GroupOf(call, cache);
  const bool reaches = is_grouped && random.Below(3) == 0;
  const int64_t heads = reaches ? group / 2 * random.Between(1, 3) : random.Between(1, 3);
  const int64_t length = reaches      ? 2 * random.Between(1, 5)
                         : is_grouped ? group * random.Between(1, 3)
                                      : random.Between(1, random.Below(3) == 0 ? 150 : 9);
  call[rows].shape = tokens;
  call[rows].shape.push_back(heads);
  call[rows].shape.push_back(length);
  call[cache].shape = {blocks, in_block, heads, length};
  if (!is_grouped) return;
  call[cache].shape = reaches || random.Below(2) == 0 ? Shape{blocks, heads * length / group, in_block, group}
                                                      : Shape{blocks, heads, length / group, in_block, group};
}
Shape DrawTokens(RandomNumbers& random) {
  if (random.Below(3) == 0) return {random.Between(1, 4), random.Between(1, 5)};
  return {random.Between(1, random.Below(3) == 0 ? 60 : 8)};
}
std::optional<IndexRange> SlotRange(const PlanCall& call, size_t tensor, const char* mode) {
  if (tensor != 2) return std::nullopt;
  const Shape& cache = call["keyCacheRef"].shape;
  const int64_t in_block = cache.size() < 2 ? 1 : cache[IsGrouped(call, mode) ? cache.size() - 2 : 1];
  const int64_t slots = cache.empty() ? 1 : cache[0] * in_block;
  return IndexRange{-2, slots + 2};
}

OperatorSpec Pair() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnScatterPaKvCache);
  op.valid = {TensorArg("key", {4, 2, 32}, ACL_FLOAT16),
              OutputArg("keyCacheRef", {3, 16, 2, 32}, ACL_FLOAT16),
              TensorArg("slotMapping", {4}, ACL_INT32),
              TensorArg("value", {4, 2, 48}, ACL_FLOAT16),
              OutputArg("valueCacheRef", {3, 16, 2, 48}, ACL_FLOAT16),
              TensorArg("compressLensOptional", {4}, ACL_INT32),
              TensorArg("compressSeqOffsetOptional", {4}, ACL_INT32),
              TensorArg("seqLensOptional", {4}, ACL_INT32),
              TextArg("cacheModeOptional", "Norm"),
              TextArg("scatterModeOptional", "None"),
              ArrayArg("stridesOptional", {1, 1}),
              ArrayArg("offsetsOptional", {0, 0})};
  for (size_t i = 5; i < 8; ++i) op.valid[i].null = true;
  const char* const mode = "cacheModeOptional";
  const auto given = [](const PlanCall& call) { return !call["value"].null; };
  const auto both = [](const PlanCall& call) { return !call["value"].null && !call["valueCacheRef"].null; };
  const auto indices = [](const std::string& name) { return Given(name, SameDtype("slotMapping", name)); };
  op.rules = {NoNulls("key keyCacheRef slotMapping", 561103),
              When(given, NoNulls("valueCacheRef", 561103)),
              SucceedsIf([](PlanCall& call) {
                const bool keys =
                    NumElements(call["key"].shape) != 0 && NumElements(call["keyCacheRef"].shape) != 0;
                const bool values = HasValues(call) && NumElements(call["valueCacheRef"].shape) != 0;
                return !keys && !values;
              }),
              Ranks("key", 3, 4),
              When(given, Refuses(161002, "value",
                                  [](PlanCall& call) {
                                    const size_t rank = call["value"].shape.size();
                                    return rank != 0 && rank != 3 && rank != 4;
                                  })),
              Refuses(161002, "key", [](PlanCall& call) { return !IsListed(call, "key", false); }),
              SameDtype("key", "keyCacheRef"),
              When(both, SameDtype("value", "valueCacheRef")),
              When([=](const PlanCall& call) { return both(call) && !IsGrouped(call, mode); },
                   SameDtype("key", "value")),
              DtypeIn("slotMapping", {{ACL_INT32, ACL_INT64}}),
              indices("compressLensOptional"),
              indices("compressSeqOffsetOptional"),
              indices("seqLensOptional"),
              When(HasValues,
                   Refuses(161002, "value", [](PlanCall& call) { return !IsListed(call, "value", false); })),
              Refuses(kTiling, mode,
                      [=](PlanCall& call) {
                        return !call[mode].null && call[mode].text != "Norm" && call[mode].text != "PA_NZ";
                      }),
              Refuses(561103, "scatterModeOptional",
                      [](PlanCall& call) {
                        const PlanArgument& text = call["scatterModeOptional"];
                        return !text.null && !text.text.empty() && text.text != "None";
                      }),
              Tokens("key"),
              Fits("key", "keyCacheRef", mode),
              When(HasValues, Tokens("value")),
              When(HasValues, Fits("value", "valueCacheRef", mode))};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool is_grouped = random.Below(2) == 0;
    call[mode].text = is_grouped ? "PA_NZ" : "Norm";
    call["scatterModeOptional"].text = random.Below(2) == 0 ? "" : "None";
    const Shape tokens = DrawTokens(random);
    const int64_t blocks = random.Between(1, 4);
    const int64_t in_block = random.Between(1, 6);
    const DtypeNumber dtype = DrawDtype(random, kOld);
    DrawCache(call, random, "key", "keyCacheRef", tokens, blocks, in_block, is_grouped, dtype);
    DrawCache(call, random, "value", "valueCacheRef", tokens, blocks, in_block, is_grouped,
              is_grouped ? DrawDtype(random, kOld) : dtype);
    call["slotMapping"].shape = {NumElements(tokens)};
    call["slotMapping"].dtype = random.Below(2) == 0 ? ACL_INT32 : ACL_INT64;
    if (random.Below(4) == 0) call["value"].null = call["valueCacheRef"].null = true;
  };
  op.range = [=](const PlanCall& call, size_t tensor) { return SlotRange(call, tensor, mode); };
  op.takes_workspace = true;
  op.updates = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<Outcome> all = {Scattered(call, tensors[0], tensors[1], tensors[2], IsGrouped(call, mode))};
    all.push_back(HasValues(call) ? Scattered(call, tensors[3], tensors[4], tensors[2], IsGrouped(call, mode))
                                  : Outcome(tensors[4].elements.size()));
    return all;
  };
  return op;
}

OperatorSpec Alone() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnScatterPaCache);
  op.valid = {TensorArg("key", {4, 2, 32}, ACL_FLOAT16),
              OutputArg("keyCacheRef", {3, 16, 2, 32}, ACL_FLOAT16),
              TensorArg("slotMapping", {4}, ACL_INT32),
              TensorArg("compressLensOptional", {4}, ACL_INT32),
              TensorArg("compressSeqOffsetOptional", {4}, ACL_INT32),
              TensorArg("seqLensOptional", {4}, ACL_INT32),
              TextArg("cacheMode", "Norm")};
  for (size_t i = 3; i < 6; ++i) op.valid[i].null = true;
  const char* const mode = "cacheMode";
  op.rules = {NoNulls("key keyCacheRef slotMapping", 561103),
              DoneIfEmpty("key keyCacheRef"),
              Ranks("key", 3, 4),
              Refuses(161002, "key", [](PlanCall& call) { return !IsListed(call, "key", true); }),
              SameDtype("key", "keyCacheRef"),
              DtypeIn("slotMapping", {{ACL_INT32, ACL_INT64}}),
              Refuses(kTiling, mode,
                      [=](PlanCall& call) {
                        return !call[mode].null && call[mode].text != "Norm" && call[mode].text != "PA_NZ";
                      }),
              Tokens("key"),
              Fits("key", "keyCacheRef", mode)};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool is_grouped = random.Below(2) == 0;
    call[mode].text = is_grouped ? "PA_NZ" : "Norm";
    const Shape tokens = DrawTokens(random);
    DrawCache(call, random, "key", "keyCacheRef", tokens, random.Between(1, 4), random.Between(1, 6),
              is_grouped, DrawDtype(random, kNew));
    call["slotMapping"].shape = {NumElements(tokens)};
    call["slotMapping"].dtype = random.Below(2) == 0 ? ACL_INT32 : ACL_INT64;
  };
  op.range = [=](const PlanCall& call, size_t tensor) { return SlotRange(call, tensor, mode); };
  op.takes_workspace = true;
  op.updates = true;
  op.numbers_on = Product::k950;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{Scattered(call, tensors[0], tensors[1], tensors[2], IsGrouped(call, mode))};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Pair(), Alone()};
  return all;
}

PORTACL_OPERATOR_TESTS(PagedCaches, Operators());

aclTensor* Expanded(const Shape& shape, aclDataType dtype, const Shape& strides, void* data) {
  const int64_t storage[] = {int64_t{1} << 20};
  return aclCreateTensor(shape.data(), shape.size(), dtype, strides.data(), 0, ACL_FORMAT_ND, storage, 1,
                         data);
}

// Slots that are one number cost no memory but in the workspace, where their blocks are: its size must not wrap.
TEST(PagedCaches, MoreThanAWorkspaceHolds) {
  const ScopedEnvironment environment(Variables{});
  for (const int64_t tokens : {int64_t{1} << 61, int64_t{1} << 59, int64_t{1} << 53, int64_t{1} << 52}) {
    const std::vector<aclTensor*> all = {Expanded({tokens, 1, 1}, ACL_INT8, {0, 0, 0}, ForbiddenAddress()),
                                         Expanded({2, 2, 1, 1}, ACL_INT8, {9, 1, 1, 1}, ForbiddenAddress()),
                                         Expanded({tokens}, ACL_INT64, {0}, ForbiddenAddress())};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        aclnnScatterPaKvCacheGetWorkspaceSize(all[0], all[1], all[2], nullptr, nullptr, nullptr, nullptr,
                                              nullptr, nullptr, nullptr, nullptr, nullptr, &size, &executor);
    if (tokens <= int64_t{1} << 52) {
      ASSERT_EQ(status, 0) << TakeErrorMessage();
      EXPECT_EQ(size, static_cast<uint64_t>(tokens) * 8);
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    } else {
      EXPECT_EQ(status, 561101) << tokens;
      EXPECT_NE(TakeErrorMessage().find("for which there is no memory"), std::string::npos) << tokens;
    }
    for (const aclTensor* tensor : all) aclDestroyTensor(tensor);
  }
}

// Of keys without elements there may be more than can be counted: 6 times as many as here are 2 and 2 to the power of 64.
TEST(PagedCaches, DimsThatMultiplyToNoNumber) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kSixth = 3074457345618258603;
  const std::vector<aclTensor*> all = {
      Expanded({6, kSixth, 1, 0}, ACL_INT8, {0, 0, 0, 0}, ForbiddenAddress()),
      Expanded({2, 2, 1, 0}, ACL_INT8, {0, 0, 0, 0}, ForbiddenAddress()),
      Expanded({2}, ACL_INT64, {0}, ForbiddenAddress()),
      Expanded({2, 1, 1}, ACL_INT8, {0, 0, 0}, ForbiddenAddress()),
      Expanded({2, 2, 1, 1}, ACL_INT8, {2, 1, 1, 1}, ForbiddenAddress())};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(
      aclnnScatterPaKvCacheGetWorkspaceSize(all[0], all[1], all[2], all[3], all[4], nullptr, nullptr, nullptr,
                                            nullptr, nullptr, nullptr, nullptr, &size, &executor),
      561002);
  EXPECT_NE(TakeErrorMessage().find("slotMapping"), std::string::npos);
  for (const aclTensor* tensor : all) aclDestroyTensor(tensor);
}

// Blocks longer than slots of 32 bits reach, of which all slots but the first have one place.
TEST(PagedCaches, BlocksLongerThanSlotsReach) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kLength = (int64_t{1} << 32) + 2;
  int8_t cache[] = {1, 2, 3, 4};
  int8_t key[] = {7};
  int32_t slots[] = {5};
  const std::vector<aclTensor*> all = {Expanded({1, 1, 1}, ACL_INT8, {1, 1, 1}, key),
                                       Expanded({2, kLength, 1, 1}, ACL_INT8, {2, 0, 1, 1}, cache),
                                       Expanded({1}, ACL_INT32, {1}, slots)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus status =
      aclnnScatterPaKvCacheGetWorkspaceSize(all[0], all[1], all[2], nullptr, nullptr, nullptr, nullptr,
                                            nullptr, nullptr, nullptr, nullptr, nullptr, &size, &executor);
  ASSERT_EQ(status, 0) << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnScatterPaKvCache(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(std::vector<int8_t>(cache, cache + 4), (std::vector<int8_t>{7, 2, 3, 4}));
  for (const aclTensor* tensor : all) aclDestroyTensor(tensor);
}

}  // namespace
}  // namespace portacl::testing
