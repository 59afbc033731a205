// Calls of the determinism test: a function, with what phase 1 is given besides the tensors of a case, in the order of its signature.
//
//   const auto kRmsNorm = Register(
//       PORTACL_PHASES(aclnnRmsNorm, c[0], c[1], 1e-6, c.OutIf(c.setting == 0, kRows, c.Dtype()),
//                      c.OutIf(c.setting == 1, kNumbers)),
//       Cases({ACL_FLOAT, ACL_BF16}, {kRows, kColumns}, {kRows, {kNumbers, ACL_FLOAT}}));
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "determinism/subject.h"
#include "gtest/gtest.h"
#include "support/made.h"

namespace portacl::testing {

using Tensors = std::span<aclTensor* const>;

// A case's tensors, of which the last one is the output that is hashed, the number of its setting, and what else phase 1 is given.
class Call : public Made {
 public:
  Call(Tensors given, int64_t of, uint64_t* workspace, aclOpExecutor** made)
      : setting(of), size(workspace), executor(made), given_(given) {}

  const int64_t setting;
  uint64_t* const size;
  aclOpExecutor** const executor;

  Tensors given() const { return given_; }
  aclTensor* operator[](size_t i) const { return given_[i]; }
  aclTensor* out() const { return given_.back(); }
  aclDataType Dtype(size_t i = 0) const {
    aclDataType dtype = ACL_DT_UNDEFINED;
    aclGetDataType(given_[i], &dtype);
    return dtype;
  }
  Shape ShapeOf(size_t i) const { return ViewOf(given_[i]).shape; }

  // An output that is not looked at, of zeros or of what other calls wrote, in the format of the one that is.
  // It lies behind those that the call has already.
  aclTensor* Unseen(const Shape& shape, aclDataType dtype = ACL_FLOAT) {
    static std::vector<double> memory(1 << 19);
    double* const from = memory.data() + unseen_;
    unseen_ += static_cast<size_t>(NumElements(shape)) * aclDataTypeSize(dtype) / sizeof(double) + 1;
    EXPECT_LE(unseen_, memory.size());
    aclFormat format = ACL_FORMAT_ND;
    aclGetFormat(out(), &format);
    return Dense(shape, dtype, from, format);
  }
  // An input of zeros.
  aclTensor* Zeros(const Shape& shape, aclDataType dtype) {
    static std::vector<double> memory(1 << 19);
    EXPECT_LE(static_cast<size_t>(NumElements(shape)) * aclDataTypeSize(dtype),
              memory.size() * sizeof(double));
    return Dense(shape, dtype, memory.data(), ACL_FORMAT_ND);
  }
  // The output that is hashed, in some settings; in others none, or one that is not looked at.
  aclTensor* OutIf(bool is_hashed) const { return is_hashed ? out() : nullptr; }
  aclTensor* OutIf(bool is_hashed, const Shape& shape, aclDataType dtype = ACL_FLOAT) {
    return is_hashed ? out() : Unseen(shape, dtype);
  }
  // A part of a tensor.
  aclTensor* Part(size_t i, size_t dim, int64_t begin, int64_t length) {
    return Own(testing::Part(given_[i], dim, begin, length));
  }
  // Tensors as a list, which owns views of them.
  aclTensorList* ListOf(size_t first, size_t count = 1) {
    std::vector<aclTensor*> views;
    for (size_t i = first; i < first + count; ++i) views.push_back(Same(given_[i]));
    return List(views);
  }

 private:
  Tensors given_;
  size_t unseen_ = 0;  // doubles of unseen outputs
};

// Both phases of a function.
struct Phases {
  std::string name;
  aclnnStatus (*run)(void*, uint64_t, aclOpExecutor*, aclrtStream);
  std::function<aclnnStatus(Call& c)> plan;

  // A further subject of the same function.
  Phases As(const std::string& what) const { return {name + "_" + what, run, plan}; }
};

// An input or an output of a case.
struct CaseTensor {
  // Takes integers alone: else {{4}, ACL_FLOAT} would be a shape of two dims.
  struct Dim {
    template <std::integral T>
    Dim(T dim) : length(static_cast<int64_t>(dim)) {}
    int64_t length;
  };
  CaseTensor(std::initializer_list<Dim> dims) {
    for (const Dim& dim : dims) shape.push_back(dim.length);
  }
  CaseTensor(const Shape& dims, DtypeNumber of = kUndefinedDtype, int64_t limit = 0, int64_t first = 0)
      : shape(dims), dtype(of), below(limit), least(first) {}

  Shape shape;
  DtypeNumber dtype = kUndefinedDtype;  // undefined: the case's
  int64_t below = 0;                    // of indices: what they lie below
  int64_t least = 0;                    // and from which one on
};

// A case of inputs and an output of one dtype, but for those that have another.
GivenCase Case(DtypeNumber dtype, const std::vector<CaseTensor>& inputs, const CaseTensor& output,
               size_t setting = 0);
// A case for each dtype and each output, which is the setting.
std::vector<GivenCase> Cases(const std::vector<DtypeNumber>& dtypes, const std::vector<CaseTensor>& inputs,
                             const std::vector<CaseTensor>& outputs);
std::vector<GivenCase> operator+(std::vector<GivenCase> first, const std::vector<GivenCase>& second);

// How a subject differs from most.
struct Traits {
  std::vector<size_t> not_negative = {};
  bool is_plain_code = false;
  bool sums_everything = true;
  Start start = Start::kAnything;
  const char* soc = nullptr;
  std::vector<int64_t> settings = {};  // values of Call::setting; empty: 0, 1, ...
  bool cuts_freely = false;
  bool outlives_phase_1 = false;  // phase 2 sets shapes of tensors
  // The text whose seed its numbers have; none: the name. Subjects of one text have the same numbers.
  std::optional<std::string> seed_of = {};
};

Subject SubjectOf(const Phases& phases, const std::vector<GivenCase>& cases, const Traits& traits = {});
SubjectRegistration Register(const Phases& phases, const std::vector<GivenCase>& cases,
                             const Traits& traits = {});

}  // namespace portacl::testing

// The arguments may name the call, `c`. The compiler chooses their order.
#define PORTACL_PHASES(function, ...)                                                 \
  ::portacl::testing::Phases {                                                        \
#function, function,                                                              \
        [](::portacl::testing::Call &                                                 \
           c) { return function##GetWorkspaceSize(__VA_ARGS__, c.size, c.executor); } \
  }
