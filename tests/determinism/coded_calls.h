// Calls of the determinism test whose operands are codes: codes, scales and groups that are the same in every case, and outputs of any
// dtypes, one behind the other in a tensor of bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "determinism/calls.h"
#include "gtest/gtest.h"

namespace portacl::testing {

inline constexpr const char* kAscend950 = "Ascend950PR_9579";
inline constexpr const char* kAscend310P = "Ascend310P3";

// ---- data that stays ----

// Codes of FLOAT8_E4M3FN, FLOAT8_E5M2, FLOAT4, INT4 or INT8, none of which is a NaN or infinity.
inline void* Codes() {
  static std::vector<uint8_t> codes = [] {
    std::vector<uint8_t> made(1 << 17);
    for (size_t i = 0; i < made.size(); ++i) {
      made[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
      if ((made[i] & 0x78) == 0x78) made[i] ^= 0x40;
    }
    return made;
  }();
  return codes.data();
}
// HIFLOAT8's infinity has a bit pattern of its own, as has its NaN.
inline void* HiFloatCodes() {
  static std::vector<uint8_t> codes = [] {
    const auto* const from = static_cast<const uint8_t*>(Codes());
    std::vector<uint8_t> made(from, from + (1 << 17));
    for (uint8_t& code : made) {
      if (code == 0x80 || (code & 0x7F) == 0x6F) code = 0x08;
    }
    return made;
  }();
  return codes.data();
}
// Powers of two near 1, of FLOAT8_E8M0.
inline void* Powers() {
  static std::vector<uint8_t> powers = [] {
    std::vector<uint8_t> made(1 << 15);
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<uint8_t>(120 + i * 7 % 11);
    return made;
  }();
  return powers.data();
}
// Numbers near 1 of both signs, of FLOAT16 or BF16.
inline void* Halves(aclDataType dtype) {
  const auto numbers = [](unsigned low, unsigned fraction) {
    std::vector<uint16_t> made(1 << 15);
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = static_cast<uint16_t>((low | (i * 2654435761u >> 7) % fraction) ^ (i % 3 == 0 ? 0x8000 : 0));
    return made;
  };
  static std::vector<uint16_t> halves[] = {numbers(0x3800, 0x400), numbers(0x3F00, 0x100)};
  return halves[dtype == ACL_FLOAT16 ? 0 : 1].data();
}
// Positive numbers below 1.
inline void* Floats() {
  static std::vector<float> floats = [] {
    std::vector<float> made(1 << 14);
    for (size_t i = 0; i < made.size(); ++i)
      made[i] = 0x1p-12f * static_cast<float>(256 + (i * 2654435761u >> 9) % 3001);
    return made;
  }();
  return floats.data();
}
// Words whose lower half is a FLOAT.
inline void* Words() {
  static std::vector<uint64_t> words = [] {
    std::vector<uint64_t> made(1 << 10);
    for (size_t i = 0; i < made.size(); ++i) {
      const float number = 0x1p-7f * static_cast<float>(1 + i % 37);
      uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      made[i] = bits;
    }
    return made;
  }();
  return words.data();
}

// ---- calls ----

// A call whose outputs lie in the last of the given tensors.
class CodedCall : public Call {
 public:
  // `gap` bytes stay before, between and behind the outputs.
  CodedCall(Tensors given, int64_t of, uint64_t* workspace, aclOpExecutor** made, int64_t gap = 0)
      : Call(given, of, workspace, made), gap_(gap), at_(gap) {}
  static constexpr int64_t kBytes = 1 << 16;

  // The next output. A call has at most one of these among its arguments, whose order the compiler chooses.
  void* Place(const Shape& shape, aclDataType dtype) {
    void* address = nullptr;
    aclGetRawTensorAddr(out(), &address);
    void* const place = static_cast<char*>(address) + at_;
    const bool has_halves = dtype == ACL_INT4 || dtype == ACL_FLOAT4_E2M1 || dtype == ACL_FLOAT4_E1M2;
    const int64_t bytes = NumElements(shape) * static_cast<int64_t>(has_halves ? 1 : aclDataTypeSize(dtype));
    places_.push_back({at_, at_ + bytes});
    at_ += bytes + gap_;
    EXPECT_LE(at_, kBytes);
    return place;
  }
  // The first byte of each output and the one behind it.
  const std::vector<std::pair<int64_t, int64_t>>& places() const { return places_; }
  aclTensor* Out(const Shape& shape, aclDataType dtype) { return Dense(shape, dtype, Place(shape, dtype)); }
  aclTensorList* OutList(const Shape& shape, aclDataType dtype) {
    return List(Entry(shape, dtype, Place(shape, dtype)));
  }
  // Inputs that are the same in every case.
  static void* DataOf(aclDataType dtype) {
    switch (dtype) {
      case ACL_FLOAT8_E8M0:
        return Powers();
      case ACL_HIFLOAT8:
        return HiFloatCodes();
      case ACL_FLOAT16:
      case ACL_BF16:
        return Halves(dtype);
      case ACL_FLOAT:
        return Floats();
      case ACL_INT64:
      case ACL_UINT64:
        return Words();
      default:
        return Codes();
    }
  }
  aclTensor* In(const Shape& shape, aclDataType dtype, aclFormat format = ACL_FORMAT_ND) {
    return Dense(shape, dtype, DataOf(dtype), format);
  }
  aclTensorList* InList(const Shape& shape, aclDataType dtype, aclFormat format = ACL_FORMAT_ND) {
    return List(Entry(shape, dtype, DataOf(dtype), format));
  }
  // Integers that stay as long as the program runs.
  template <class T>
  aclTensor* Integers(const std::vector<T>& values, aclDataType dtype, Shape shape = {}) {
    static std::deque<std::vector<T>> kept;
    size_t i = 0;
    while (i < kept.size() && kept[i] != values) ++i;
    if (i == kept.size()) kept.push_back(values);
    if (shape.empty()) shape = {std::ssize(values)};
    return Dense(shape, dtype, kept[i].data());
  }

 private:
  const int64_t gap_;
  int64_t at_;
  std::vector<std::pair<int64_t, int64_t>> places_;
};

// A subject with a case for each dtype and each setting.
inline SubjectRegistration Coded(const char* name,
                                 aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream),
                                 const char* soc, const std::vector<DtypeNumber>& dtypes,
                                 const std::vector<CaseTensor>& inputs, size_t settings,
                                 aclnnStatus (*plan)(CodedCall&)) {
  return Register(
      {name, run,
       [plan](Call& c) {
         CodedCall call(c.given(), c.setting, c.size, c.executor);
         return plan(call);
       }},
      Cases(dtypes, inputs, std::vector<CaseTensor>(settings, {Shape{CodedCall::kBytes}, ACL_UINT8})),
      // Plain code as phase 1 sees it: parts alone are compiled for each instruction set.
      {.is_plain_code = true, .start = Start::kZero, .soc = soc});
}

}  // namespace portacl::testing
