// Calls of the determinism test whose operands are codes: codes, scales and groups that are the same in every case, and outputs of any
// dtypes, one behind the other in a tensor of bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "determinism/arguments.h"
#include "determinism/subject.h"
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

// Tensors of a call and lists of them, until phase 1 is over. Those that a list has are its own.
class Made {
 public:
  Made() = default;
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    for (const aclTensor* const tensor : tensors_) aclDestroyTensor(tensor);
    for (const aclTensorList* const list : lists_) aclDestroyTensorList(list);
  }
  static aclTensor* Tensor(const Shape& shape, aclDataType dtype, void* data,
                           aclFormat format = ACL_FORMAT_ND) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, format, shape.data(), shape.size(),
                           data);
  }
  aclTensor* Own(const Shape& shape, aclDataType dtype, void* data, aclFormat format = ACL_FORMAT_ND) {
    return tensors_.emplace_back(Tensor(shape, dtype, data, format));
  }
  aclTensorList* List(const std::vector<const aclTensor*>& tensors) {
    return lists_.emplace_back(aclCreateTensorList(tensors.data(), tensors.size()));
  }
  aclTensorList* List(const aclTensor* tensor) { return List(std::vector<const aclTensor*>{tensor}); }
  // For what is written and not looked at.
  aclTensor* Unseen(const Shape& shape, aclDataType dtype) {
    static std::vector<double> memory(1 << 14);
    return Own(shape, dtype, memory.data());
  }

 private:
  std::vector<aclTensor*> tensors_;
  std::vector<aclTensorList*> lists_;
};

// A call whose outputs lie in the last of the given tensors.
class CodedCall : public Made {
 public:
  // `gap` bytes stay before, between and behind the outputs.
  CodedCall(Tensors given, int64_t of, uint64_t* workspace, aclOpExecutor** made, int64_t gap = 0)
      : setting(of), size(workspace), executor(made), given_(given), gap_(gap), at_(gap) {}
  static constexpr int64_t kBytes = 1 << 16;

  const int64_t setting;
  uint64_t* const size;
  aclOpExecutor** const executor;

  aclTensor* operator[](size_t i) const { return given_[i]; }
  aclDataType Dtype(size_t i = 0) const {
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclGetDataType(given_[i], &dtype);
    return dtype;
  }
  // The next output. A call has at most one of these among its arguments, whose order the compiler chooses.
  void* Place(const Shape& shape, aclDataType dtype) {
    void* address = nullptr;
    aclGetRawTensorAddr(given_.back(), &address);
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
  aclTensor* Out(const Shape& shape, aclDataType dtype) { return Own(shape, dtype, Place(shape, dtype)); }
  aclTensorList* OutList(const Shape& shape, aclDataType dtype) {
    return List(Tensor(shape, dtype, Place(shape, dtype)));
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
    return Own(shape, dtype, DataOf(dtype), format);
  }
  aclTensorList* InList(const Shape& shape, aclDataType dtype, aclFormat format = ACL_FORMAT_ND) {
    return List(Tensor(shape, dtype, DataOf(dtype), format));
  }
  // Integers that stay as long as the program runs.
  template <class T>
  aclTensor* Integers(const std::vector<T>& values, aclDataType dtype, Shape shape = {}) {
    static std::deque<std::vector<T>> kept;
    size_t i = 0;
    while (i < kept.size() && kept[i] != values) ++i;
    if (i == kept.size()) kept.push_back(values);
    if (shape.empty()) shape = {std::ssize(values)};
    return Own(shape, dtype, kept[i].data());
  }
  char* Text(const char* text) { return texts_.emplace_back(text).data(); }

 private:
  Tensors given_;
  const int64_t gap_;
  int64_t at_;
  std::vector<std::pair<int64_t, int64_t>> places_;
  std::deque<std::string> texts_;
};

struct CodedInput {
  Shape shape;
  DtypeNumber dtype = kUndefinedDtype;  // undefined: the case's
  int64_t below = 0;                    // of indices: from 0 to what they lie below
};

// A subject with a case for each dtype and each setting.
inline SubjectRegistration Coded(const char* name,
                                 aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream),
                                 const char* soc, const std::vector<DtypeNumber>& dtypes,
                                 const std::vector<CodedInput>& inputs, size_t settings,
                                 aclnnStatus (*plan)(CodedCall&)) {
  Subject subject;
  subject.description.binding.name = name;
  subject.description.binding.tensors.assign(inputs.size(), "input");
  subject.description.binding.tensors.emplace_back("out");
  subject.description.binding.run = run;
  subject.description.binding.plan = [plan](Tensors given, const Attributes& a, uint64_t* size,
                                            aclOpExecutor** executor) {
    CodedCall call(given, a.reduction, size, executor);
    return plan(call);
  };
  subject.description.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
  }
  for (const DtypeNumber dtype : dtypes) {
    for (size_t setting = 0; setting < settings; ++setting) {
      GivenCase one{{}, {}, ACL_UINT8, {CodedCall::kBytes}, setting};
      for (const CodedInput& input : inputs) {
        if (input.below > 0) one.indices.push_back({.input = one.input_dtypes.size(), .below = input.below});
        one.input_dtypes.push_back(input.dtype == kUndefinedDtype ? dtype : input.dtype);
        one.input_shapes.push_back(input.shape);
      }
      subject.given.push_back(one);
    }
  }
  subject.soc = soc;
  subject.start = Start::kZero;
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  subject.is_plain_code = true;  // as phase 1 sees it: parts alone are compiled for each instruction set
  for (const char* c = name; *c != '\0'; ++c)
    subject.seed = subject.seed * 31 + static_cast<unsigned char>(*c);
  return SubjectRegistration(std::move(subject));
}

}  // namespace portacl::testing
