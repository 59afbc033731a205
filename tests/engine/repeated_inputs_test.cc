// Inputs that are repeated, where a formula takes a costly function of them: the same bits as the same values give when
// they are all there in memory (whose results the numeric suites compare with oracles).
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "acl/isa.h"
#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_kl_div_backward.h"
#include "gtest/gtest.h"
#include "support/dtype_rules.h"
#include "support/environment.h"
#include "support/random_numbers.h"

namespace portacl::testing {
namespace {

using Dims = std::vector<int64_t>;

int64_t Count(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Elements in memory, and how a tensor of `dims` lies in it.
struct Operand {
  Dims dims;
  Dims strides;
  int64_t offset = 0;
  aclDataType dtype = ACL_FLOAT;
  std::vector<unsigned char> memory;

  // Dense.
  Operand(const Dims& shape, aclDataType type) : dims(shape), strides(shape.size()), dtype(type) {
    int64_t step = 1;
    for (size_t axis = shape.size(); axis-- > 0; step *= shape[axis]) strides[axis] = step;
    memory.assign(static_cast<size_t>(Count(shape) * ElementSize(type)), 0xA5);
  }

  int64_t Elements() const { return static_cast<int64_t>(memory.size()) / ElementSize(dtype); }

  aclTensor* Tensor() {
    const int64_t storage = Elements();
    return aclCreateTensor(dims.data(), dims.size(), dtype, strides.data(), offset, ACL_FORMAT_ND, &storage,
                           1, memory.data());
  }

  void Put(int64_t element, float value) {
    unsigned char* const to = memory.data() + element * ElementSize(dtype);
    if (dtype == ACL_FLOAT) {
      std::memcpy(to, &value, sizeof value);
    } else if (dtype == ACL_FLOAT16) {
      const aclFloat16 half = aclFloatToFloat16(value);
      std::memcpy(to, &half, sizeof half);
    } else {
      std::memcpy(to, reinterpret_cast<const char*>(&value) + 2, 2);
    }
  }
};

enum class Values { kForSums, kAny };

// For sums, numbers that have a logarithm, and zeros; else also NaN, infinities, negative numbers, and some whose
// exponential is 0 or infinite.
void Fill(Operand& operand, Values values, RandomNumbers& random) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const float special[] = {0.0f, -0.0f, 1.0f, kNaN, kInfinity, -kInfinity, 89.0f, -110.0f};
  const bool any = values == Values::kAny;
  for (int64_t i = 0; i < operand.Elements(); ++i) {
    const auto number = static_cast<float>(random.Between(any ? -400 : 1, 400)) / 64;
    operand.Put(i, random.Chance(5) ? special[random.Below(any ? 8 : 3)] : number);
  }
}

// A NaN is a NaN: its sign and payload are not promised.
std::vector<float> Numbers(const Operand& operand) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < operand.Elements(); ++i) {
    const unsigned char* const from = operand.memory.data() + i * ElementSize(operand.dtype);
    float number = 0;
    if (operand.dtype == ACL_FLOAT) {
      std::memcpy(&number, from, sizeof number);
    } else if (operand.dtype == ACL_FLOAT16) {
      aclFloat16 half;
      std::memcpy(&half, from, sizeof half);
      number = aclFloat16ToFloat(half);
    } else {
      std::memcpy(reinterpret_cast<char*>(&number) + 2, from, 2);
    }
    numbers.push_back(std::isnan(number) ? std::numeric_limits<float>::quiet_NaN() : number);
  }
  return numbers;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// The same tensor over `shape`, each element in a place of its own.
Operand Materialised(const Operand& from, const Dims& shape) {
  Operand to(shape, from.dtype);
  const auto size = static_cast<size_t>(ElementSize(from.dtype));
  const size_t missing = shape.size() - from.dims.size();
  Dims index(shape.size(), 0);
  for (int64_t i = 0; i < to.Elements(); ++i) {
    int64_t at = from.offset;
    for (size_t axis = 0; axis < from.dims.size(); ++axis) {
      if (from.dims[axis] != 1) at += index[missing + axis] * from.strides[axis];
    }
    std::memcpy(to.memory.data() + static_cast<size_t>(i) * size,
                from.memory.data() + static_cast<size_t>(at) * size, size);
    for (size_t axis = shape.size(); axis-- > 0 && ++index[axis] == shape[axis];) index[axis] = 0;
  }
  return to;
}

// The numbers in out for the first operand (gradOutput, or self of the divergence) and target.
std::vector<float> Gradient(Operand& grad_output, Operand& target, const Dims& self_dims, bool log_target) {
  Operand self(self_dims, target.dtype);
  Operand out(self_dims, grad_output.dtype);
  aclTensor* const tensors[] = {grad_output.Tensor(), self.Tensor(), target.Tensor(), out.Tensor()};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnKlDivBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 1, log_target, tensors[3],
                                               &size, &executor),
            ACL_SUCCESS)
      << aclGetRecentErrMsg();
  std::vector<double> workspace(size / sizeof(double) + 1);
  EXPECT_EQ(aclnnKlDivBackward(size > 0 ? workspace.data() : nullptr, size, executor, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  return Numbers(out);
}

std::vector<float> Divergence(Operand& self, Operand& target, const Dims& shape, int64_t reduction,
                              bool log_target) {
  Operand out(reduction == 0 ? shape : Dims{}, self.dtype);
  aclTensor* const tensors[] = {self.Tensor(), target.Tensor(), out.Tensor()};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(
      aclnnKlDivGetWorkspaceSize(tensors[0], tensors[1], reduction, log_target, tensors[2], &size, &executor),
      ACL_SUCCESS)
      << aclGetRecentErrMsg();
  std::vector<double> workspace(size / sizeof(double) + 1);
  EXPECT_EQ(aclnnKlDiv(size > 0 ? workspace.data() : nullptr, size, executor, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  return Numbers(out);
}

// `selfs`: shapes of self, to which the gradient's terms are summed where they are not `shape`.
void ExpectSameBits(const Dims& shape, Operand target, aclDataType other, const std::vector<Dims>& selfs,
                    RandomNumbers& random) {
  Operand first(shape, other);
  for (const Values values : {Values::kForSums, Values::kAny}) {
    Fill(first, values, random);
    Fill(target, values, random);
    Operand all = Materialised(target, shape);
    for (const bool log_target : {true, false}) {
      for (const Dims& self : selfs) {
        if (values == Values::kAny && self != shape) continue;
        EXPECT_TRUE(
            SameBits(Gradient(first, target, self, log_target), Gradient(first, all, self, log_target)))
            << "gradient, self " << ::testing::PrintToString(self) << " log " << log_target;
      }
      for (int64_t reduction = 0; reduction <= (values == Values::kAny ? 0 : 3); ++reduction) {
        EXPECT_TRUE(SameBits(Divergence(first, target, shape, reduction, log_target),
                             Divergence(first, all, shape, reduction, log_target)))
            << "divergence, reduction " << reduction << " log " << log_target;
      }
    }
  }
}

struct Types {
  aclDataType target;
  aclDataType other;
};

constexpr Types kTypes[] = {{ACL_FLOAT, ACL_FLOAT},   {ACL_BF16, ACL_BF16},  {ACL_FLOAT16, ACL_FLOAT16},
                            {ACL_FLOAT16, ACL_FLOAT}, {ACL_BF16, ACL_FLOAT}, {ACL_FLOAT, ACL_BF16},
                            {ACL_BF16, ACL_FLOAT16}};

TEST(RepeatedInputs, SameBitsAsValuesInMemory) {
  RandomNumbers random(5);
  for (const Isa isa : SupportedIsas()) {
    const ScopedEnvironment environment({{"PORTACL_ISA", IsaName(isa)}, {"PORTACL_NUM_THREADS", "2"}});
    for (const Types& types : kTypes) {
      const auto check = [&](const Dims& shape, const Operand& target, const std::vector<Dims>& selfs) {
        SCOPED_TRACE(std::string(IsaName(isa)) + " types " + std::to_string(types.target) + " " +
                     std::to_string(types.other) + " target " + ::testing::PrintToString(target.dims) +
                     " of " + ::testing::PrintToString(shape));
        ExpectSameBits(shape, target, types.other, selfs, random);
      };
      const auto dense = [&](const Dims& dims) { return Operand(dims, types.target); };
      // Rows, short and long; columns; one value; axes in the middle, and on both sides.
      check({70, 263}, dense({263}), {{70, 263}, {70, 1}});
      check({600, 5}, dense({1, 5}), {{600, 5}});
      check({9, 5000}, dense({5000}), {{9, 5000}, {9, 1}});
      check({263, 70}, dense({263, 1}), {{263, 70}, {70}});
      check({70, 70}, dense({}), {{70, 70}});
      check({17, 9, 33}, dense({17, 1, 33}), {{17, 9, 33}, {1, 9, 1}});
      check({5, 33, 2, 17}, dense({33, 1, 17}), {{5, 33, 2, 17}});
      check({5, 33, 9, 3}, dense({5, 1, 9, 1}), {{5, 33, 9, 3}, {1, 33, 1, 3}});
      // Every second element of a row, from the fourth on; backwards; across the rows.
      Operand strided = dense({300});
      strided.dims = {131};
      strided.strides = {2};
      strided.offset = 3;
      check({40, 131}, strided, {{40, 131}});
      strided.strides = {-2};
      strided.offset = 290;
      check({40, 131}, strided, {{40, 131}});
      Operand turned = dense({21, 19});
      std::swap(turned.dims[0], turned.dims[1]);
      std::swap(turned.strides[0], turned.strides[1]);
      check({11, 19, 21}, turned, {{11, 19, 21}, {11, 1, 1}});
      // A tensor that repeats its elements by strides of 0.
      Operand expanded = dense({77});
      expanded.dims = {50, 77};
      expanded.strides = {0, 1};
      check({50, 77}, expanded, {{50, 77}});
      if (HasFailure()) return;
    }
  }
}

// The last that fits a thread's memory, and the first that does not; too few repeats; too few elements.
TEST(RepeatedInputs, SameBitsWhateverIsWorthwhile) {
  const ScopedEnvironment environment(Variables{Variable{"PORTACL_NUM_THREADS", "2"}});
  RandomNumbers random(6);
  for (const int64_t length : {int64_t{1} << 18, (int64_t{1} << 18) + 1}) {
    ExpectSameBits({4, length}, Operand({length}, ACL_FLOAT), ACL_FLOAT, {{4, length}}, random);
  }
  for (const Dims& shape : {Dims{3, 4000}, Dims{4, 512}, Dims{4, 511}}) {
    ExpectSameBits(shape, Operand({shape[1]}, ACL_BF16), ACL_BF16, {shape}, random);
  }
}

// Results may go where gradOutput is.
TEST(RepeatedInputs, InPlace) {
  const ScopedEnvironment environment(Variables{Variable{"PORTACL_NUM_THREADS", "2"}});
  RandomNumbers random(8);
  Operand target({300}, ACL_FLOAT);
  Operand grad_output({40, 300}, ACL_FLOAT);
  Fill(target, Values::kAny, random);
  Fill(grad_output, Values::kAny, random);
  const std::vector<float> expected = Gradient(grad_output, target, grad_output.dims, true);
  Operand self({40, 300}, ACL_FLOAT);
  aclTensor* const tensors[] = {grad_output.Tensor(), self.Tensor(), target.Tensor(), grad_output.Tensor()};
  uint64_t size = 1;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnKlDivBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 1, true, tensors[3], &size,
                                               &executor),
            ACL_SUCCESS);
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(aclnnKlDivBackward(nullptr, 0, executor, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  EXPECT_TRUE(SameBits(Numbers(grad_output), expected));
}

}  // namespace
}  // namespace portacl::testing
