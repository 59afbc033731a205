// Operands of operators that communicate, in a process of a test: numbers that every rank can compute, tensors over
// them, and calls of both phases.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "hccl/hccl.h"
#include "processes.h"
#include "support/float_formats.h"

namespace portacl::testing {

// A whole number from `low` to `high` that depends on its arguments alone.
inline int64_t Drawn(uint64_t seed, uint64_t rank, uint64_t i, int64_t low, int64_t high) {
  uint64_t x = (seed * 0x9E3779B97F4A7C15) ^ (rank << 48) ^ i;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  x ^= x >> 31;
  return low + static_cast<int64_t>(x % static_cast<uint64_t>(high - low + 1));
}
using Matrix = std::vector<double>;
inline Matrix DrawnMatrix(uint64_t seed, uint64_t rank, int64_t count, int64_t low = -1, int64_t high = 1) {
  Matrix made(static_cast<size_t>(count));
  for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<double>(Drawn(seed, rank, i, low, high));
  return made;
}
inline double At(const Matrix& numbers, int64_t i) { return numbers[static_cast<size_t>(i)]; }
// left [rows,terms] @ right [terms,columns]
inline Matrix Product(const Matrix& left, const Matrix& right, int64_t rows, int64_t terms, int64_t columns) {
  Matrix made(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < terms; ++k) sum += At(left, i * terms + k) * At(right, k * columns + j);
      made[static_cast<size_t>(i * columns + j)] = sum;
    }
  }
  return made;
}

// A dense tensor on the host, or a view of one with its two dims swapped.
class HostOperand {
 public:
  HostOperand(aclDataType dtype, std::vector<int64_t> shape, const Matrix& numbers, bool is_swapped = false)
      : dtype_(dtype), shape_(std::move(shape)) {
    const int64_t count = std::accumulate(shape_.begin(), shape_.end(), int64_t{1}, std::multiplies<>());
    bytes_.assign(static_cast<size_t>(count) * aclDataTypeSize(dtype) + 1, 0x5A);
    std::vector<int64_t> strides(shape_.size(), 1);
    for (size_t i = shape_.size(); i-- > 1;) strides[i - 1] = strides[i] * shape_[i];
    std::vector<int64_t> storage = shape_;
    if (is_swapped) {
      strides = {1, shape_[0]};
      storage = {shape_[1], shape_[0]};
    }
    for (int64_t i = 0; i < std::ssize(numbers); ++i) {
      const int64_t place = is_swapped ? i % shape_[1] * shape_[0] + i / shape_[1] : i;
      Set(place, At(numbers, i));
    }
    tensor_ = aclCreateTensor(shape_.data(), shape_.size(), dtype, strides.data(), 0, ACL_FORMAT_ND,
                              storage.data(), storage.size(), bytes_.data());
    EXPECT_NE(tensor_, nullptr);
  }
  HostOperand(aclDataType dtype, std::vector<int64_t> shape) : HostOperand(dtype, std::move(shape), {}) {}
  ~HostOperand() { aclDestroyTensor(tensor_); }
  HostOperand(const HostOperand&) = delete;
  HostOperand& operator=(const HostOperand&) = delete;

  aclTensor* tensor() const { return tensor_; }
  double Get(int64_t i) const {
    const unsigned char* const at = &bytes_[static_cast<size_t>(i) * aclDataTypeSize(dtype_)];
    switch (dtype_) {
      case ACL_FLOAT:
        return Read<float>(at);
      case ACL_FLOAT16:
        return DecodeFloat(kFloat16, Read<uint16_t>(at));
      case ACL_BF16:
        return DecodeFloat(kBfloat16, Read<uint16_t>(at));
      case ACL_INT32:
        return Read<int32_t>(at);
      case ACL_INT64:
        return static_cast<double>(Read<int64_t>(at));
      default:
        return Read<int8_t>(at);
    }
  }
  void Set(int64_t i, double value) {
    unsigned char* const at = &bytes_[static_cast<size_t>(i) * aclDataTypeSize(dtype_)];
    switch (dtype_) {
      case ACL_FLOAT:
        return Write(at, static_cast<float>(value));
      case ACL_FLOAT16:
        return Write(at, static_cast<uint16_t>(EncodeFloat(kFloat16, value)));
      case ACL_BF16:
        return Write(at, static_cast<uint16_t>(EncodeFloat(kBfloat16, value)));
      case ACL_INT32:
        return Write(at, static_cast<int32_t>(value));
      case ACL_INT64:
        return Write(at, static_cast<int64_t>(value));
      default:
        return Write(at, static_cast<int8_t>(value));
    }
  }
  // The first elements are these numbers, rounded to the type.
  void Expect(const Matrix& numbers, const std::string& what) const {
    for (int64_t i = 0; i < std::ssize(numbers); ++i)
      ASSERT_EQ(Get(i), At(numbers, i)) << what << ", element " << i;
  }
  const std::vector<unsigned char>& bytes() const { return bytes_; }

 private:
  template <class T>
  static T Read(const unsigned char* at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  template <class T>
  static void Write(unsigned char* at, T value) {
    std::memcpy(at, &value, sizeof value);
  }

  const aclDataType dtype_;
  std::vector<int64_t> shape_;
  std::vector<unsigned char> bytes_;
  aclTensor* tensor_ = nullptr;
};

// A rank's communicator, with its name, and a stream.
class Group {
 public:
  explicit Group(Rank& rank, int index = 0)
      : rank_(rank), comm_(rank.Join(index)), stream_(rank.NewStream()) {
    EXPECT_EQ(HcclGetCommName(comm_, name_), HCCL_SUCCESS);
  }
  ~Group() {
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(HcclCommDestroy(comm_), HCCL_SUCCESS);
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int64_t rank() const { return rank_.rank(); }
  int64_t size() const { return rank_.size(); }
  char* name() { return name_; }
  HcclComm comm() { return comm_; }
  aclrtStream stream() { return stream_; }

  // Runs both phases and waits. Returns the first error.
  using Plan = std::function<aclnnStatus(uint64_t*, aclOpExecutor**)>;
  using Run = aclnnStatus (*)(void*, uint64_t, aclOpExecutor*, aclrtStream);
  int Call(const Plan& plan, Run run) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    if (const aclnnStatus status = plan(&size, &executor)) return status;
    workspace_.resize(size + 1);
    if (const aclnnStatus status = run(size == 0 ? nullptr : workspace_.data(), size, executor, stream_))
      return status;
    return aclrtSynchronizeStream(stream_);
  }
  void Works(const Plan& plan, Run run) { ASSERT_EQ(Call(plan, run), 0) << Rank::Message(); }

 private:
  Rank& rank_;
  HcclComm comm_;
  aclrtStream stream_;
  char name_[128] = {};
  std::vector<char> workspace_;
};

}  // namespace portacl::testing
