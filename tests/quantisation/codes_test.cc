// Codes of few bits: every one of them as a number, and numbers as codes, by aclnnCast, which keeps what is too large, and by a quantiser, which
// saturates it.
// SPDX-License-Identifier: Apache-2.0
#include "quant_calls.h"

#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_copy.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

const DtypeList kFloat8s = {ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_HIFLOAT8};
const DtypeList kPacked = {ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2, ACL_INT4};

// All of FLOAT16, and float32 numbers around the ends of the formats.
std::vector<float> ManyNumbers() {
  std::vector<float> numbers;
  for (uint32_t word = 0; word < 65536; ++word) {
    const auto half = static_cast<uint16_t>(word);
    numbers.push_back(static_cast<float>(DecodeReal(ACL_FLOAT16, &half)));
  }
  for (int exponent = -28; exponent <= 18; ++exponent) {
    for (int step = 0; step < 64; ++step) {
      for (const float nudge : {-1e-7f, 0.0f, 1e-7f}) {
        const float number = std::ldexp(1.0f + static_cast<float>(step) / 64.0f + nudge, exponent);
        numbers.push_back(number);
        numbers.push_back(-number);
      }
    }
  }
  numbers.insert(numbers.end(), {INFINITY, -INFINITY, NAN, 3e38f, -3e38f, 1e-40f});
  if (numbers.size() % 2 != 0) numbers.push_back(0);
  return numbers;
}

class Codes : public ::testing::TestWithParam<Isa> {};

// Runs what takes two tensors of a run of elements, and returns the bytes of the second.
template <class Call>
std::vector<uint8_t> BytesOf(const ScopedEnvironment& environment, const void* from, size_t from_bytes,
                             DtypeNumber from_dtype, size_t to_bytes, DtypeNumber to_dtype, int64_t count,
                             const Call& call,
                             aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream)) {
  Made made;
  GuardedBuffer source(from_bytes);
  GuardedBuffer destination(to_bytes);
  std::memcpy(source.device(), from, from_bytes);
  aclTensor* const self = made.Dense({count}, AsAclDataType(from_dtype), source.device());
  aclTensor* const out = made.Dense({count}, AsAclDataType(to_dtype), destination.device());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(call(self, out, &size, &executor), 0) << TakeErrorMessage();
  if (executor == nullptr) return {};
  EXPECT_EQ(RunAndWait(environment, run, size, executor), 0);
  std::vector<uint8_t> bytes(to_bytes);
  std::memcpy(bytes.data(), destination.device(), to_bytes);
  return bytes;
}
std::vector<uint8_t> CastBytes(const ScopedEnvironment& environment, const void* from, size_t from_bytes,
                               DtypeNumber from_dtype, size_t to_bytes, DtypeNumber to_dtype, int64_t count) {
  return BytesOf(
      environment, from, from_bytes, from_dtype, to_bytes, to_dtype, count,
      [=](aclTensor* self, aclTensor* out, uint64_t* size, aclOpExecutor** executor) {
        return aclnnCastGetWorkspaceSize(self, AsAclDataType(to_dtype), out, size, executor);
      },
      aclnnCast);
}

uint32_t CodeAt(const std::vector<uint8_t>& bytes, DtypeNumber dtype, size_t i) {
  if (BitsOfCode(dtype) == 8) return bytes[i];
  return i % 2 == 0 ? bytes[i / 2] & 0xF : bytes[i / 2] >> 4;
}
// Which codes are wrong, the first of them by name.
void ExpectCodes(const std::vector<float>& numbers, const std::vector<uint8_t>& bytes, DtypeNumber dtype,
                 bool saturates, char rounding = 'n') {
  ASSERT_FALSE(bytes.empty());
  int wrong = 0;
  for (size_t i = 0; i < numbers.size() && wrong < 3; ++i) {
    const uint32_t found = CodeAt(bytes, dtype, i);
    const uint32_t expected = saturates && dtype == ACL_INT4
                                  ? QuantisedCode(dtype, numbers[i], rounding)
                                  : CodeOfNumber(dtype, static_cast<double>(numbers[i]), saturates, rounding);
    const bool is_nan = !saturates && std::isnan(numbers[i]) && BitsOfCode(dtype) == 8;
    if (is_nan ? std::isnan(NumberOfCode(dtype, found)) : found == expected) continue;
    ++wrong;
    ADD_FAILURE() << DtypeName(dtype) << " of " << numbers[i] << ": " << found << ", expected " << expected;
  }
}

TEST_P(Codes, OfBytesAsNumbers) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_SOC", "Ascend950PR_9599"}, {"PORTACL_ISA", engine::IsaName(GetParam())}});
  uint8_t codes[256];
  for (int i = 0; i < 256; ++i) codes[i] = static_cast<uint8_t>(i);
  for (const DtypeNumber dtype : kFloat8s) {
    const std::vector<uint8_t> bytes = CastBytes(environment, codes, 256, dtype, 256 * 4, ACL_FLOAT, 256);
    for (uint32_t i = 0; i < 256; ++i) {
      float found = 0;
      std::memcpy(&found, bytes.data() + i * 4, 4);
      const double expected = NumberOfCode(dtype, i);
      EXPECT_TRUE(std::isnan(expected) ? std::isnan(found) : static_cast<double>(found) == expected)
          << DtypeName(dtype) << " " << i << ": " << found << ", expected " << expected;
    }
  }
  for (const DtypeNumber dtype : {ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2}) {
    const uint8_t nibbles[] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA, 0xDC, 0xFE};
    const std::vector<uint8_t> bytes = CastBytes(environment, nibbles, 8, dtype, 16 * 4, ACL_FLOAT, 16);
    for (uint32_t i = 0; i < 16; ++i) {
      float found = 0;
      std::memcpy(&found, bytes.data() + i * 4, 4);
      EXPECT_EQ(static_cast<double>(found), NumberOfCode(dtype, i)) << DtypeName(dtype) << " " << i;
    }
  }
}

TEST_P(Codes, OfNumbersByCast) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_SOC", "Ascend950PR_9599"}, {"PORTACL_ISA", engine::IsaName(GetParam())}});
  const std::vector<float> numbers = ManyNumbers();
  for (const DtypeNumber dtype : kFloat8s)
    ExpectCodes(numbers,
                CastBytes(environment, numbers.data(), numbers.size() * 4, ACL_FLOAT, numbers.size(), dtype,
                          static_cast<int64_t>(numbers.size())),
                dtype, false);
  for (const DtypeNumber dtype : kPacked)
    ExpectCodes(numbers,
                CastBytes(environment, numbers.data(), numbers.size() * 4, ACL_FLOAT, numbers.size() / 2,
                          dtype, static_cast<int64_t>(numbers.size())),
                dtype, true);
}

TEST_P(Codes, OfNumbersByAQuantiser) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_SOC", "Ascend950PR_9599"}, {"PORTACL_ISA", engine::IsaName(GetParam())}});
  const std::vector<float> numbers = ManyNumbers();
  Made made;
  GuardedBuffer one(sizeof(float));
  const float scale = 1;
  std::memcpy(one.device(), &scale, sizeof scale);
  for (const DtypeNumber dtype : kFloat8s) {
    const aclTensor* const factor = made.Dense({1}, ACL_FLOAT, one.device());
    ExpectCodes(numbers,
                BytesOf(
                    environment, numbers.data(), numbers.size() * 4, ACL_FLOAT, numbers.size(), dtype,
                    static_cast<int64_t>(numbers.size()),
                    [&](aclTensor* x, aclTensor* y, uint64_t* size, aclOpExecutor** executor) {
                      return aclnnAscendQuantV3GetWorkspaceSize(x, factor, nullptr, false, "round", dtype, -1,
                                                                y, size, executor);
                    },
                    aclnnAscendQuantV3),
                dtype, true);
  }
  for (const auto& [name, rounding] :
       {std::pair{"round", 'n'}, {"floor", 'f'}, {"ceil", 'c'}, {"trunc", 't'}}) {
    const aclTensor* const factor = made.Dense({1}, ACL_FLOAT, one.device());
    const std::vector<uint8_t> bytes = BytesOf(
        environment, numbers.data(), numbers.size() * 4, ACL_FLOAT, numbers.size(), ACL_INT8,
        static_cast<int64_t>(numbers.size()),
        [&, mode = name](aclTensor* x, aclTensor* y, uint64_t* size, aclOpExecutor** executor) {
          return aclnnAscendQuantV3GetWorkspaceSize(x, factor, nullptr, false, mode, ACL_INT8, -1, y, size,
                                                    executor);
        },
        aclnnAscendQuantV3);
    ASSERT_FALSE(bytes.empty());
    for (size_t i = 0; i < numbers.size(); ++i)
      ASSERT_EQ(bytes[i], QuantisedCode(ACL_INT8, numbers[i], rounding)) << name << " " << numbers[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Codes, ::testing::ValuesIn(IsasToTest()),
                         [](const auto& parameter) { return std::string(engine::IsaName(parameter.param)); });

// What float32 and FLOAT8_E8M0 make of each other in a copy, and an odd number of codes of 4 bits.
TEST(CodesByHand, PowersAndOddNumbers) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  const float numbers[] = {1, 1.4f, 1.5f, 0, -2, INFINITY, NAN, 0x1p127f};
  Made made;
  GuardedBuffer source(sizeof numbers);
  GuardedBuffer codes(8);
  std::memcpy(source.device(), numbers, sizeof numbers);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnInplaceCopyGetWorkspaceSize(made.Dense({8}, ACL_FLOAT8_E8M0, codes.device()),
                                             made.Dense({8}, ACL_FLOAT, source.device()), &size, &executor),
            0);
  ASSERT_EQ(RunAndWait(environment, aclnnInplaceCopy, size, executor), 0);
  const uint8_t powers[] = {127, 127, 128, 0, 0, 255, 255, 254};
  EXPECT_EQ(std::memcmp(codes.device(), powers, sizeof powers), 0);

  const float few[] = {1, -2, 3};
  const std::vector<uint8_t> bytes =
      CastBytes(environment, few, sizeof few, ACL_FLOAT, 2, ACL_FLOAT4_E2M1, 3);
  EXPECT_EQ(bytes, (std::vector<uint8_t>{0xC2, 0x05}));
}

}  // namespace
}  // namespace portacl::testing
