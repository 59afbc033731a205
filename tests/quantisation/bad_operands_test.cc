// Quantisers with groups that do not fit and with scales that are none: what fits is computed, nothing else is written, and nothing fails
// that the headers do not name.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "determinism/coded_calls.h"
#include "quant_calls.h"

namespace portacl::testing {
namespace {

constexpr int64_t kRows = 23, kColumns = 64, kGroups = 3;
constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
const Shape kX = {kRows, kColumns};
const Shape kTwice = {kRows, 2 * kColumns};
constexpr const char* kAtlasA2 = "Ascend910B1";

// ---- groups ----

struct GroupedQuantiser {
  const char* name;
  const char* soc;
  aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream);
  aclDataType dtype;  // of the groups
  bool are_counts;
  aclnnStatus (*plan)(CodedCall& c, aclTensor* groups);
};

const GroupedQuantiser kQuantisers[] = {
    {"GroupQuant", kAtlasA2, aclnnGroupQuant, ACL_INT64, false,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnGroupQuantGetWorkspaceSize(c.In(kX, ACL_FLOAT), c.In({kGroups, kColumns}, ACL_FLOAT),
                                              groups, nullptr, ACL_INT8, c.Out(kX, ACL_INT8), c.size,
                                              c.executor);
     }},
    {"DynamicQuantV2", kAtlasA2, aclnnDynamicQuantV2, ACL_INT32, false,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnDynamicQuantV2GetWorkspaceSize(c.In(kX, ACL_BF16), c.In({kGroups, kColumns}, ACL_BF16),
                                                  groups, ACL_INT8, c.Out(kX, ACL_INT8),
                                                  c.Out({kRows}, ACL_FLOAT), nullptr, c.size, c.executor);
     }},
    {"SwiGluQuantV2 of ends", kAtlasA2, aclnnSwiGluQuantV2, ACL_INT32, false,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnSwiGluQuantV2GetWorkspaceSize(c.In(kTwice, ACL_BF16), c.In({kGroups, kColumns}, ACL_FLOAT),
                                                 nullptr, groups, true, c.Text("dynamic"), 0, ACL_INT8,
                                                 c.Out(kX, ACL_INT8), c.Out({kRows}, ACL_FLOAT), c.size,
                                                 c.executor);
     }},
    {"SwiGluQuantV2 of counts", kAtlasA2, aclnnSwiGluQuantV2, ACL_INT32, true,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnSwiGluQuantV2GetWorkspaceSize(c.In(kTwice, ACL_BF16), c.In({kGroups, kColumns}, ACL_FLOAT),
                                                 nullptr, groups, true, c.Text("dynamic"), 1, ACL_INT8,
                                                 c.Out(kX, ACL_INT8), c.Out({kRows}, ACL_FLOAT), c.size,
                                                 c.executor);
     }},
    {"DequantSwigluQuant", kAtlasA2, aclnnDequantSwigluQuant, ACL_INT64, true,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnDequantSwigluQuantGetWorkspaceSize(c.In(kTwice, ACL_BF16), nullptr, nullptr, nullptr,
                                                      c.In({kGroups, kColumns}, ACL_FLOAT), nullptr, groups,
                                                      true, c.Text("dynamic"), c.Out(kX, ACL_INT8),
                                                      c.Out({kRows}, ACL_FLOAT), c.size, c.executor);
     }},
    {"GroupedQuantMax", kAscend950, aclnnGroupedQuantMax, ACL_INT64, false,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnGroupedQuantMaxGetWorkspaceSize(
           c.In(kX, ACL_BF16), c.In({kGroups}, ACL_FLOAT), groups, c.Text("rint"), ACL_FLOAT8_E5M2,
           c.Out(kX, ACL_FLOAT8_E5M2), c.Out({kGroups}, ACL_BF16), c.size, c.executor);
     }},
    {"GroupedDynamicMxQuant", kAscend950, aclnnGroupedDynamicMxQuant, ACL_INT32, false,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnGroupedDynamicMxQuantGetWorkspaceSize(
           c.In(kX, ACL_BF16), groups, "rint", ACL_FLOAT8_E5M2, 32, c.Out(kX, ACL_FLOAT8_E5M2),
           c.Out({kGroups, kColumns, 2}, ACL_FLOAT8_E8M0), c.size, c.executor);
     }},
    {"GroupedDynamicBlockQuant", kAscend950, aclnnGroupedDynamicBlockQuant, ACL_INT32, false,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnGroupedDynamicBlockQuantGetWorkspaceSize(
           c.In(kX, ACL_BF16), groups, 0, nullptr, ACL_FLOAT8_E5M2, 1, 128, 0, c.Out(kX, ACL_FLOAT8_E5M2),
           c.Out({kRows + kGroups, 1}, ACL_FLOAT), c.size, c.executor);
     }},
    {"SwigluMxQuant of counts", kAscend950, aclnnSwigluMxQuant, ACL_INT64, true,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnSwigluMxQuantGetWorkspaceSize(c.In(kTwice, ACL_BF16), groups, -1, true, 0, 0, 1, 0, 0, -1,
                                                 ACL_FLOAT8_E5M2, nullptr, 0, 0, c.Out(kX, ACL_FLOAT8_E5M2),
                                                 c.Out({kRows, 1, 2}, ACL_FLOAT8_E8M0), c.size, c.executor);
     }},
    {"SwigluMxQuant of ends", kAscend950, aclnnSwigluMxQuant, ACL_INT64, false,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnSwigluMxQuantGetWorkspaceSize(c.In(kTwice, ACL_BF16), groups, -1, true, 0, 0, 1, 0, 1, -1,
                                                 ACL_FLOAT8_E5M2, nullptr, 0, 0, c.Out(kX, ACL_FLOAT8_E5M2),
                                                 c.Out({kRows, 1, 2}, ACL_FLOAT8_E8M0), c.size, c.executor);
     }},
    {"SwigluGroupQuant", kAscend950, aclnnSwigluGroupQuant, ACL_INT64, true,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnSwigluGroupQuantGetWorkspaceSize(
           c.In(kTwice, ACL_BF16), nullptr, groups, nullptr, ACL_HIFLOAT8, 3, 0, false, -1, 448, false,
           c.Out(kX, ACL_HIFLOAT8), c.Out({kGroups}, ACL_FLOAT), nullptr, c.size, c.executor);
     }},
    {"SwigluGroupQuantGrad", kAscend950, aclnnSwigluGroupQuantGrad, ACL_INT64, true,
     [](CodedCall& c, aclTensor* groups) {
       return aclnnSwigluGroupQuantGradGetWorkspaceSize(c.In(kX, ACL_BF16), c.In(kTwice, ACL_BF16), nullptr,
                                                        nullptr, groups, -1, c.Out(kTwice, ACL_BF16), nullptr,
                                                        c.size, c.executor);
     }},
};

struct BadGroups {
  bool are_counts;
  std::vector<int64_t> given;
  std::vector<int64_t> fitting;
};
const BadGroups kBadGroups[] = {
    {false, {9, 4, 23}, {9, 9, 23}},
    {false, {-5, 30, 12}, {0, 23, 23}},
    {false, {kGreatest, kLeast, 5}, {23, 23, 23}},
    {false, {kLeast, kGreatest, kGreatest - 1}, {0, 23, 23}},
    {true, {9, -4, 12}, {9, 0, 12}},
    {true, {30, 1, 1}, {23, 0, 0}},
    {true, {kGreatest, kGreatest, kGreatest}, {23, 0, 0}},
    {true, {kLeast, kLeast, 5}, {0, 0, 5}},
    {true, {20, kGreatest - 1, kGreatest}, {20, 3, 0}},
};

// The bytes of all outputs, which are 0xEE before.
std::vector<std::byte> BytesWith(const GroupedQuantiser& quantiser, const std::vector<int64_t>& values,
                                 const ScopedEnvironment& environment) {
  const bool is_narrow = quantiser.dtype == ACL_INT32;
  GuardedBuffer groups(values.size() * (is_narrow ? 4 : 8));
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t value = is_narrow ? std::clamp<int64_t>(values[i], INT32_MIN, INT32_MAX) : values[i];
    std::memcpy(groups.data() + i * (is_narrow ? 4 : 8), &value, is_narrow ? 4 : 8);
  }
  std::vector<std::byte> bytes(static_cast<size_t>(CodedCall::kBytes), std::byte{0xEE});
  Made made;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  {
    aclTensor* const given[] = {made.Dense({CodedCall::kBytes}, ACL_UINT8, bytes.data())};
    CodedCall call(given, 0, &size, &executor);
    EXPECT_EQ(quantiser.plan(call, made.Dense({kGroups}, quantiser.dtype, groups.device())), 0)
        << TakeErrorMessage();
  }
  EXPECT_EQ(RunAndWait(environment, quantiser.run, size, executor), 0) << TakeErrorMessage();
  return bytes;
}

TEST(BadGroups, AreTakenAsFarAsTheyFit) {
  for (const GroupedQuantiser& quantiser : kQuantisers) {
    for (const char* const threads : {"1", "3"}) {
      const ScopedEnvironment environment(
          Variables{{"PORTACL_SOC", quantiser.soc}, {"PORTACL_NUM_THREADS", threads}});
      const std::vector<std::byte> none = BytesWith(quantiser, {0, 0, 0}, environment);
      for (const BadGroups& groups : kBadGroups) {
        if (groups.are_counts != quantiser.are_counts) continue;
        const std::vector<std::byte> expected = BytesWith(quantiser, groups.fitting, environment);
        EXPECT_TRUE(BytesWith(quantiser, groups.given, environment) == expected)
            << quantiser.name << " " << groups.given[0] << " " << groups.given[1] << " " << groups.given[2];
        EXPECT_FALSE(expected == none) << quantiser.name;
      }
      if (HasFailure()) return;
    }
  }
}

// ---- scales ----

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// One number and its scale, and the code that both make of it.
struct ScaledNumber {
  float x, scale;
  int8_t quotient, product;
};
const ScaledNumber kScaled[] = {
    {1, 0, 127, 0},
    {-1, 0, -128, 0},
    {0, 0, 0, 0},
    {1, -0.0f, -128, 0},
    {1, kInfinity, 0, 127},
    {0, kInfinity, 0, 0},
    {-2, -kInfinity, 0, 127},
    {1, kNan, 0, 0},
    {kNan, 1, 0, 0},
    {kInfinity, 1, 127, 127},
    {-kInfinity, 1, -128, -128},
    {kInfinity, kInfinity, 0, 127},
    {kInfinity, 0, 127, 0},
    {1, 0x1p-149f, 127, 0},
    {3, 0x1p127f, 0, 127},
    {-3, 1, -3, -3},
};

TEST(BadScales, OfStaticQuantisers) {
  constexpr size_t kCount = std::size(kScaled);
  const Shape row = {kCount};
  for (const char* const isa : {"", "avx2", "portable"}) {
    Variables variables{{"PORTACL_NUM_THREADS", "1"}};
    if (*isa != '\0') variables.push_back({"PORTACL_ISA", isa});
    const ScopedEnvironment environment(variables);
    if (environment.init_status() != 0) continue;
    Made made;
    const GuardedBuffer x(kCount * sizeof(float)), scale(kCount * sizeof(float)), y(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      std::memcpy(x.data() + 4 * i, &kScaled[i].x, 4);
      std::memcpy(scale.data() + 4 * i, &kScaled[i].scale, 4);
    }
    aclTensor* const tensors[] = {made.Dense(row, ACL_FLOAT, x.device()),
                                  made.Dense(row, ACL_FLOAT, scale.device()),
                                  made.Dense(row, ACL_INT8, y.device())};
    for (const bool divides : {true, false}) {
      uint64_t size = 0;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(divides ? aclnnQuantizeGetWorkspaceSize(tensors[0], tensors[1], nullptr, ACL_INT8, 0,
                                                        tensors[2], &size, &executor)
                        : aclnnAscendQuantGetWorkspaceSize(tensors[0], tensors[1], nullptr, false, "round",
                                                           ACL_INT8, tensors[2], &size, &executor),
                0)
          << TakeErrorMessage();
      ASSERT_EQ(RunAndWait(environment, divides ? aclnnQuantize : aclnnAscendQuant, size, executor), 0);
      for (size_t i = 0; i < kCount; ++i) {
        const ScaledNumber& one = kScaled[i];
        EXPECT_EQ(std::to_integer<int8_t>(y.data()[i]), divides ? one.quotient : one.product)
            << isa << ": " << one.x << (divides ? " / " : " * ") << one.scale;
      }
    }
  }
}

// A row that has no number for its scale: zeros alone, NaN alone; infinity.
TEST(BadScales, OfDynamicQuantisers) {
  struct Row {
    float x[4];
    int8_t codes[4];
    float scale;
  };
  const Row rows[] = {{{0, 0, 0, 0}, {0, 0, 0, 0}, 0},
                      {{kNan, kNan, kNan, kNan}, {0, 0, 0, 0}, 0},
                      {{kNan, -2, 1, 0}, {0, -127, 64, 0}, 2.0f / 127.0f},
                      {{kInfinity, 1, -1, 0}, {0, 0, 0, 0}, kInfinity}};
  constexpr size_t kCount = std::size(rows);
  const ScopedEnvironment environment(Variables{});
  Made made;
  const GuardedBuffer x(kCount * 8), y(kCount * 4), scale(kCount * 4);
  for (size_t i = 0; i < kCount * 4; ++i)
    EncodeElement(ACL_FLOAT16, static_cast<double>(rows[i / 4].x[i % 4]), x.data() + 2 * i);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(
      aclnnDynamicQuantGetWorkspaceSize(made.Dense({kCount, 4}, ACL_FLOAT16, x.device()), nullptr,
                                        made.Dense({kCount, 4}, ACL_INT8, y.device()),
                                        made.Dense({kCount}, ACL_FLOAT, scale.device()), &size, &executor),
      0)
      << TakeErrorMessage();
  ASSERT_EQ(RunAndWait(environment, aclnnDynamicQuant, size, executor), 0);
  for (size_t i = 0; i < kCount; ++i) {
    for (size_t k = 0; k < 4; ++k)
      EXPECT_EQ(std::to_integer<int8_t>(y.data()[4 * i + k]), rows[i].codes[k]) << i << " " << k;
    float found = 0;
    std::memcpy(&found, scale.data() + 4 * i, 4);
    EXPECT_FLOAT_EQ(found, rows[i].scale) << i;
  }
}

}  // namespace
}  // namespace portacl::testing
