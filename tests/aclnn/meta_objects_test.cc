// Tensors, scalars, arrays, lists and data types: what is copied, who owns what, what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "gtest/gtest.h"
#include "support/dtype_rules.h"
#include "support/environment.h"
#include "support/float_formats.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Dims = std::vector<int64_t>;

aclTensor* MakeTensor(const Dims& dims, void* data = nullptr, DtypeNumber dtype = ACL_FLOAT) {
  return aclCreateTensor(dims.data(), dims.size(), AsAclDataType(dtype), nullptr, 0, ACL_FORMAT_ND,
                         dims.data(), dims.size(), data);
}

Dims ViewShapeOf(const aclTensor* tensor) {
  int64_t* dims = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(aclGetViewShape(tensor, &dims, &count), 0);
  Dims shape(dims, dims + count);
  delete[] dims;  // the caller owns the array, made with new[]
  return shape;
}

// aclnnL1LossBackward, reduction none, of gradOutput, self, target and gradInput.
void Compute(aclTensor* const (&tensors)[4], aclrtStream stream) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, tensors[3], &size,
                                                &executor),
            0)
      << TakeErrorMessage();
  EXPECT_EQ(aclnnL1LossBackward(nullptr, size, executor, stream), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
}

TEST(Tensors, ShapesAreCopied) {
  Dims dims = {2, 3, 5};
  aclTensor* tensor = MakeTensor(dims);
  ASSERT_NE(tensor, nullptr);
  dims = {7, 7, 7};
  EXPECT_EQ(ViewShapeOf(tensor), (Dims{2, 3, 5}));
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
  for (size_t rank = 0; rank <= 25; ++rank) {
    tensor = MakeTensor(Dims(rank, 3));
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(ViewShapeOf(tensor), Dims(rank, 3));
    EXPECT_EQ(aclDestroyTensor(tensor), 0);
  }
}

TEST(Tensors, OnlyNullDimsAreRefused) {
  const Dims dims = {2, 3};
  EXPECT_EQ(aclCreateTensor(nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims.data(), 2, nullptr),
            nullptr);
  EXPECT_EQ(aclCreateTensor(dims.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 2, nullptr),
            nullptr);
  TakeErrorMessage();
  for (aclTensor* tensor :
       {aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr),
        aclCreateTensor(dims.data(), 2, ACL_DT_UNDEFINED, nullptr, -1, ACL_FORMAT_UNDEFINED, nullptr, 0,
                        nullptr),
        aclCreateTensor(dims.data(), 2, AsAclDataType(60), dims.data(), -100, ACL_FORMAT_NCHW, dims.data(), 1,
                        nullptr)}) {
    EXPECT_NE(tensor, nullptr) << "nothing else is checked when a tensor is made";
    EXPECT_EQ(aclDestroyTensor(tensor), 0);
  }
}

TEST(Tensors, ViewShapeRefusesNull) {
  aclTensor* tensor = MakeTensor({4});
  int64_t* dims = nullptr;
  uint64_t count = 0;
  EXPECT_EQ(aclGetViewShape(nullptr, &dims, &count), 161001);
  EXPECT_EQ(aclGetViewShape(tensor, nullptr, &count), 161001);
  EXPECT_EQ(aclGetViewShape(tensor, &dims, nullptr), 161001);
  EXPECT_EQ(dims, nullptr);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
  TakeErrorMessage();
}

TEST(Tensors, InitTensorReplacesWhatIsGiven) {
  const Dims first = {2, 3};
  const Dims second = {4};
  EXPECT_EQ(
      aclInitTensor(nullptr, first.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, first.data(), 2, nullptr),
      161001);
  TakeErrorMessage();
  aclTensor* tensor = MakeTensor(first);
  EXPECT_EQ(aclInitTensor(tensor, second.data(), 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, second.data(), 1,
                          nullptr),
            0);
  EXPECT_EQ(ViewShapeOf(tensor), second);
  EXPECT_EQ(aclInitTensor(tensor, nullptr, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr), 0);
  EXPECT_EQ(ViewShapeOf(tensor), second) << "null dims leave the shape as it was";
  EXPECT_EQ(aclInitTensor(tensor, first.data(), 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, nullptr),
            0);
  EXPECT_EQ(ViewShapeOf(tensor), second) << "and so does a count of 0";
  EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

TEST(Tensors, InitTensorKeepsTheAddressAndReplacesTheView) {
  const ScopedEnvironment environment(Variables{});
  float g[] = {1, 2, 3, 4};
  float x[] = {9, 9, 9, 9};
  float y[] = {0, 0, 0, 0};
  float out[] = {-1, -1, -1, -1};
  aclTensor* tensors[] = {MakeTensor({4}, g), MakeTensor({4}, x), MakeTensor({4}, y), MakeTensor({4}, out)};
  const Dims dims = {2};
  const Dims storage = {4};
  const Dims every_other = {2};
  for (aclTensor* tensor : tensors) {  // elements 1 and 3 of the same storage
    EXPECT_EQ(aclInitTensor(tensor, dims.data(), 1, ACL_FLOAT, every_other.data(), 1, ACL_FORMAT_ND,
                            storage.data(), 1, nullptr),
              0);
  }
  Compute(tensors, environment.stream());
  EXPECT_EQ(out[0], -1);
  EXPECT_EQ(out[1], 2);
  EXPECT_EQ(out[2], -1);
  EXPECT_EQ(out[3], 4);
  for (const aclTensor* tensor : tensors) {
    EXPECT_EQ(aclDestroyTensor(tensor), 0);
  }
}

TEST(Tensors, InitTensorFromNoElementsToSome) {
  const ScopedEnvironment environment(Variables{});
  float data[4][3] = {{5, 6, 7}, {1, 2, 3}, {2, 2, 2}, {-1, -1, -1}};
  aclTensor* tensors[4];
  const Dims dims = {3};
  for (int k = 0; k < 4; ++k) {
    tensors[k] = MakeTensor({0}, data[k]);
    EXPECT_EQ(aclInitTensor(tensors[k], dims.data(), 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims.data(), 1,
                            nullptr),
              0);
  }
  Compute(tensors, environment.stream());
  EXPECT_EQ(data[3][0], -5);
  EXPECT_EQ(data[3][1], 0);
  EXPECT_EQ(data[3][2], 7);
  for (const aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
}

// How a tensor can be described. Its memory is that of the operand, whatever is said of it.
struct Description {
  const char* name;
  Dims view;
  Dims strides;
  int64_t offset;
  aclFormat format;
  Dims storage;

  aclTensor* Create(float* data) const {
    return aclCreateTensor(view.data(), view.size(), ACL_FLOAT, strides.data(), offset, format,
                           storage.data(), storage.size(), data);
  }
  aclnnStatus Init(aclTensor* tensor, float* data) const {
    return aclInitTensor(tensor, view.data(), view.size(), ACL_FLOAT, strides.data(), offset, format,
                         storage.data(), storage.size(), data);
  }
};

constexpr int64_t kVast = int64_t{1} << 61;

std::vector<Description> Descriptions() {
  return {
      {"dense", {2, 3}, {3, 1}, 0, ACL_FORMAT_ND, {6}},
      {"larger", {3, 4}, {4, 1}, 2, ACL_FORMAT_ND, {16}},
      {"empty", {0, 3}, {3, 1}, 0, ACL_FORMAT_ND, {6}},
      {"transposed", {2, 3}, {1, 2}, 1, ACL_FORMAT_ND, {16}},
      {"with gaps", {2, 3}, {7, 2}, 0, ACL_FORMAT_ND, {16}},
      {"one element", {1, 1}, {5, 9}, 3, ACL_FORMAT_ND, {4}},
      {"outside its storage", {2, 3}, {3, 1}, 0, ACL_FORMAT_ND, {5}},
      {"of a negative dim", {-2, 3}, {3, 1}, 0, ACL_FORMAT_ND, {6}},
      {"of too many elements", {kVast, 8}, {8, 1}, 0, ACL_FORMAT_ND, {kVast, 8}},
      {"of too many bytes", {kVast, 1}, {1, 1}, 0, ACL_FORMAT_ND, {kVast, 1}},
      {"of bytes too far away", {2, 3}, {kVast, 1}, 0, ACL_FORMAT_ND, {kVast, 4}},
      {"in a private format", {2, 3}, {3, 1}, 0, ACL_FORMAT_FRACTAL_NZ, {6}},
  };
}

struct Answer {
  aclnnStatus plan = -1;
  uint64_t size = 0;
  aclnnStatus run = -1;
  float out[16];

  bool operator==(const Answer& other) const {
    return plan == other.plan && size == other.size && run == other.run &&
           std::memcmp(out, other.out, sizeof out) == 0;
  }
};

// Runs aclnnL1LossBackward with operands that are described one way and then, those of the set `initialised`, another.
Answer AnswerAfter(const Description& first, const Description& then, unsigned initialised,
                   aclrtStream stream) {
  float data[4][16];
  aclTensor* tensors[4];
  for (unsigned k = 0; k < 4; ++k) {
    for (int i = 0; i < 16; ++i) data[k][i] = k == 3 ? -1.0f : static_cast<float>((i * 5 + 7) % (k + 11));
    const bool changes = (initialised >> k & 1) != 0;
    tensors[k] = (changes ? first : then).Create(data[k]);
    if (changes) {
      EXPECT_EQ(then.Init(tensors[k], data[k]), 0);
    }
  }
  Answer answer;
  aclOpExecutor* executor = nullptr;
  answer.plan = aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, tensors[3],
                                                    &answer.size, &executor);
  if (answer.plan == 0) {
    answer.run = aclnnL1LossBackward(nullptr, answer.size, executor, stream);
    EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  }
  TakeErrorMessage();
  std::copy_n(data[3], 16, answer.out);
  for (const aclTensor* tensor : tensors) EXPECT_EQ(aclDestroyTensor(tensor), 0);
  return answer;
}

// Whatever a tensor was before, it is then what a tensor is that was made so.
TEST(Tensors, InitTensorLeavesNothingOfWhatWasThere) {
  const ScopedEnvironment environment(Variables{});
  const std::vector<Description> all = Descriptions();
  int computed = 0;
  int refused = 0;
  for (const Description& then : all) {
    const Answer expected = AnswerAfter(then, then, 0, environment.stream());
    ++(expected.plan == 0 ? computed : refused);
    for (const Description& first : all) {
      for (const unsigned initialised : {15u, 1u, 2u, 4u, 8u}) {
        ASSERT_TRUE(AnswerAfter(first, then, initialised, environment.stream()) == expected)
            << "operands " << initialised << ", first " << first.name << ", then " << then.name;
      }
    }
  }
  EXPECT_GE(computed, 6);
  EXPECT_GE(refused, 3);
}

TEST(Handles, DestroyingNullIsFine) {
  EXPECT_EQ(aclDestroyTensor(nullptr), 0);
  EXPECT_EQ(aclDestroyScalar(nullptr), 0);
  EXPECT_EQ(aclDestroyIntArray(nullptr), 0);
  EXPECT_EQ(aclDestroyFloatArray(nullptr), 0);
  EXPECT_EQ(aclDestroyBoolArray(nullptr), 0);
  EXPECT_EQ(aclDestroyTensorList(nullptr), 0);
  EXPECT_EQ(aclDestroyScalarList(nullptr), 0);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST(Handles, Executors) {
  const ScopedEnvironment environment(Variables{});
  EXPECT_EQ(aclDestroyAclOpExecutor(nullptr), 561103);
  TakeErrorMessage();
  alignas(64) std::byte zeros[4096] = {};
  EXPECT_EQ(aclDestroyAclOpExecutor(reinterpret_cast<aclOpExecutor*>(zeros)), 561000);
  TakeErrorMessage();
  float data[4] = {1, 2, 3, 4};
  float out[4] = {};
  aclTensor* in = MakeTensor({4}, data);
  aclTensor* result = MakeTensor({4}, out);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(in, in, in, 0, result, &size, &executor), 0);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0) << "legal on one that was never run";
  EXPECT_EQ(aclnnL1LossBackward(nullptr, 0, executor, nullptr), 561000);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 561000);
  ASSERT_EQ(aclnnL1LossBackwardGetWorkspaceSize(in, in, in, 0, result, &size, &executor), 0);
  EXPECT_EQ(aclnnL1LossBackward(nullptr, 0, executor, nullptr), 0);
  EXPECT_EQ(aclDestroyAclOpExecutor(executor), 561000) << "phase 2 consumed it";
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), 0);
  TakeErrorMessage();
  EXPECT_EQ(aclDestroyTensor(in), 0);
  EXPECT_EQ(aclDestroyTensor(result), 0);
}

TEST(Scalars, EveryType) {
  alignas(16) std::byte value[16] = {};
  for (DtypeNumber dtype = -1; dtype <= 41; ++dtype) {
    const std::vector<DtypeNumber>& all = AllDtypes();
    const bool known = std::find(all.begin(), all.end(), dtype) != all.end();
    const bool refused = dtype == ACL_STRING || dtype == ACL_COMPLEX32 || dtype == ACL_INT4 ||
                         dtype == ACL_UINT1 || dtype == ACL_DT_UNDEFINED;
    if (!known && !refused) {
      continue;
    }
    aclScalar* scalar = aclCreateScalar(value, AsAclDataType(dtype));
    const std::string message = TakeErrorMessage();
    if (refused) {
      EXPECT_EQ(scalar, nullptr) << DtypeName(dtype);
      EXPECT_NE(message.find("Not_Supported_Data_Type(EZ1006)"), std::string::npos) << message;
      EXPECT_NE(message.find(DtypeName(dtype)), std::string::npos) << message;
    } else if (IsFloatingDtype(dtype) && dtype >= ACL_HIFLOAT8) {
      aclDestroyScalar(scalar);  // the sources do not settle these
    } else {
      EXPECT_NE(scalar, nullptr) << DtypeName(dtype) << ": " << message;
      EXPECT_EQ(aclDestroyScalar(scalar), 0);
    }
  }
  EXPECT_EQ(aclCreateScalar(nullptr, ACL_FLOAT), nullptr);
  TakeErrorMessage();
}

TEST(Arrays, CopyTheirValues) {
  {
    std::vector<int64_t> values = {1, 2, 3};
    const aclIntArray* array = aclCreateIntArray(values.data(), values.size());
    ASSERT_NE(array, nullptr);
    values.assign(3, 0);
    EXPECT_EQ(aclDestroyIntArray(array), 0);
  }
  {
    const float values[] = {1, 2, 3};
    const aclFloatArray* array = aclCreateFloatArray(values, 3);
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(aclDestroyFloatArray(array), 0);
  }
  {
    const bool values[] = {true, false};
    const aclBoolArray* array = aclCreateBoolArray(values, 2);
    ASSERT_NE(array, nullptr);
    EXPECT_EQ(aclDestroyBoolArray(array), 0);
  }
}

TEST(Arrays, NullOrZeroIsEmpty) {
  const int64_t whole = 1;
  const float real = 1;
  const bool truth = true;
  for (const aclIntArray* array :
       {aclCreateIntArray(nullptr, 0), aclCreateIntArray(nullptr, 3), aclCreateIntArray(&whole, 0)}) {
    EXPECT_NE(array, nullptr);
    EXPECT_EQ(aclDestroyIntArray(array), 0);
  }
  for (const aclFloatArray* array : {aclCreateFloatArray(nullptr, 3), aclCreateFloatArray(&real, 0)}) {
    EXPECT_NE(array, nullptr);
    EXPECT_EQ(aclDestroyFloatArray(array), 0);
  }
  for (const aclBoolArray* array : {aclCreateBoolArray(nullptr, 3), aclCreateBoolArray(&truth, 0)}) {
    EXPECT_NE(array, nullptr);
    EXPECT_EQ(aclDestroyBoolArray(array), 0);
  }
}

// Under the leak checker this also shows that a list destroys its elements, and under the address checker
// that it does so once.
TEST(Lists, OwnTheirElements) {
  for (int round = 0; round < 100; ++round) {
    std::vector<const aclTensor*> tensors = {MakeTensor({2}), nullptr, MakeTensor({3, 4})};
    aclTensorList* list = aclCreateTensorList(tensors.data(), tensors.size());
    ASSERT_NE(list, nullptr);
    tensors.assign(3, nullptr);  // the pointer array was copied
    EXPECT_EQ(aclDestroyTensorList(list), 0);

    float value = 1;
    std::vector<const aclScalar*> scalars = {aclCreateScalar(&value, ACL_FLOAT), nullptr};
    aclScalarList* scalar_list = aclCreateScalarList(scalars.data(), scalars.size());
    ASSERT_NE(scalar_list, nullptr);
    scalars.assign(2, nullptr);
    EXPECT_EQ(aclDestroyScalarList(scalar_list), 0);
  }
}

TEST(DataTypes, Sizes) {
  const auto size = [](DtypeNumber dtype) { return aclDataTypeSize(AsAclDataType(dtype)); };
  for (const DtypeNumber dtype : {ACL_STRING, ACL_DT_UNDEFINED}) {
    EXPECT_EQ(size(dtype), 0u) << DtypeName(dtype);
  }
  for (const DtypeNumber dtype : {ACL_INT8, ACL_UINT8, ACL_BOOL, ACL_INT4, ACL_UINT1, ACL_HIFLOAT8,
                                  ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0}) {
    EXPECT_EQ(size(dtype), 1u) << DtypeName(dtype);
  }
  for (const DtypeNumber dtype : {ACL_FLOAT16, ACL_BF16, ACL_INT16, ACL_UINT16}) {
    EXPECT_EQ(size(dtype), 2u) << DtypeName(dtype);
  }
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_INT32, ACL_UINT32, ACL_COMPLEX32}) {
    EXPECT_EQ(size(dtype), 4u) << DtypeName(dtype);
  }
  for (const DtypeNumber dtype : {ACL_DOUBLE, ACL_INT64, ACL_UINT64, ACL_COMPLEX64, ACL_FLOAT6_E3M2,
                                  ACL_FLOAT6_E2M3, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2}) {
    EXPECT_EQ(size(dtype), 8u) << DtypeName(dtype);
  }
  EXPECT_EQ(size(ACL_COMPLEX128), 16u);
}

TEST(Float16, EveryValueToFloat) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float found = aclFloat16ToFloat(static_cast<aclFloat16>(bits));
    const bool special = (bits & 0x7C00) == 0x7C00;
    if (!special) {
      const auto expected = static_cast<float>(DecodeFloat(kFloat16, bits));
      ASSERT_EQ(std::bit_cast<uint32_t>(found), std::bit_cast<uint32_t>(expected)) << std::hex << bits;
    } else {
      ASSERT_TRUE(std::isfinite(found)) << std::hex << bits;
    }
  }
  // Infinity and NaN are read as if their exponent were an ordinary one.
  EXPECT_EQ(aclFloat16ToFloat(0x7C00), 65536.0f);
  EXPECT_EQ(aclFloat16ToFloat(0xFC00), -65536.0f);
  EXPECT_EQ(aclFloat16ToFloat(0x7E00), 98304.0f);
}

// Nearest even with gradual underflow; whatever exceeds the largest finite number saturates.
TEST(Float16, FromFloat) {
  const auto expect = [](float value) {
    uint32_t expected = EncodeFloat(kFloat16, static_cast<double>(value));
    if ((expected & 0x7FFF) == 0x7C00) {
      expected -= 1;
    }
    EXPECT_EQ(aclFloatToFloat16(value), expected) << std::hexfloat << value;
  };
  const float inf = std::numeric_limits<float>::infinity();
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    // The value itself, the tie between it and the next one, and the floats around both.
    const auto value = static_cast<float>(DecodeFloat(kFloat16, bits));
    const auto next = static_cast<float>(bits == 0x7BFF ? 65536.0 : DecodeFloat(kFloat16, bits + 1));
    const float tie = (value + next) / 2;
    for (const float around : {value, tie}) {
      for (const float x : {std::nextafter(around, -inf), around, std::nextafter(around, inf)}) {
        expect(x);
        expect(-x);
      }
    }
  }
  for (const float x : {0.0f, 1e-45f, 1e-38f, 0x1p-149f, 0x1p-26f, 65520.0f, 65535.0f, 1e6f, 1e30f,
                        std::numeric_limits<float>::max(), inf}) {
    expect(x);
    expect(-x);
  }
  EXPECT_EQ(aclFloatToFloat16(inf), 0x7BFF);
  EXPECT_EQ(aclFloatToFloat16(-inf), 0xFBFF);
  EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::quiet_NaN()), 0x7BFF);
}

}  // namespace
}  // namespace portacl::testing
