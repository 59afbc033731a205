// What the tests of matrix products share: the sum that an element is, one fused multiply-add after the other, and calls that are drawn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing {

using Index = std::vector<int64_t>;

// ---- the definition, written down from docs/numerics.md ----

inline constexpr int64_t kBlockOfTerms = 256;
inline constexpr int64_t kBlockOfHalves = 32;

// Adds up blocks of at most 256 terms, each a chain that begins at +0. Of two operands of 16 bits blocks have at most 32 terms, and two
// chains, of even and of odd places, whose sum is added to what begins at +0.
template <class T>
class BlockedSumOf {
 public:
  BlockedSumOf(DtypeNumber left, DtypeNumber right)
      : are_halves_(left == right && (left == ACL_FLOAT16 || left == ACL_BF16)), is_first_(!are_halves_) {}

  void AddTerm(T a, T b) {
    T& chain = are_halves_ && terms_ % 2 != 0 ? odd_ : even_;
    chain = std::fma(a, b, chain);
    if (++terms_ == (are_halves_ ? kBlockOfHalves : kBlockOfTerms)) EndBlock();
  }
  // Also where a product of a batch ends.
  void EndBlock() {
    if (terms_ == 0) return;
    const T block = are_halves_ ? even_ + odd_ : even_;
    sum_ = is_first_ ? block : sum_ + block;
    is_first_ = false;
    even_ = odd_ = 0;
    terms_ = 0;
  }
  T Result() {
    EndBlock();
    return sum_;
  }

 private:
  bool are_halves_;
  bool is_first_;
  T sum_ = 0;
  T even_ = 0;
  T odd_ = 0;
  int64_t terms_ = 0;
};
using BlockedSum = BlockedSumOf<float>;

// An operand's numbers, and where the element lies that an index of a broadcast shape means: dims are counted from the end, those of one
// element repeat.
struct FloatTensor {
  Shape shape;
  DtypeNumber dtype;
  std::vector<float> numbers;

  explicit FloatTensor(const TensorValues& tensor) : shape(tensor.shape), dtype(tensor.dtype) {
    for (const Element& element : tensor.elements)
      numbers.push_back(static_cast<float>(NumberOf(tensor.dtype, element.data()).real));
  }
  int64_t PlaceOf(const Index& index) const {
    int64_t place = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      place = place * shape[i] + (shape[i] == 1 ? 0 : index[index.size() - shape.size() + i]);
    return place;
  }
  float At(const Index& index) const { return numbers[static_cast<size_t>(PlaceOf(index))]; }
};

// The sum of an element of their product.
inline BlockedSum SumOf(const FloatTensor& left, const FloatTensor& right) {
  return BlockedSum(left.dtype, right.dtype);
}

// Adds the terms of an element to a sum: the last dim of the left operand, the last but one of the right one.
template <class Sum>
void AddTerms(const FloatTensor& left, Index a, const FloatTensor& right, Index b, Sum& sum) {
  const int64_t depth = left.shape.back();
  if (depth == 0) return;
  a[a.size() - 1] = 0;
  b[b.size() - 2] = 0;
  const auto first = static_cast<size_t>(left.PlaceOf(a));
  auto place = static_cast<size_t>(right.PlaceOf(b));
  for (int64_t k = 0; k < depth; ++k, place += static_cast<size_t>(right.shape.back()))
    sum.AddTerm(left.numbers[first + static_cast<size_t>(k)], right.numbers[place]);
}

inline Element Rounded(DtypeNumber dtype, float value) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeElement(dtype, static_cast<double>(value), element.data());
  return element;
}

// ---- rules ----

inline Rule TakesMode(const std::string& matrices) {
  return Refuses(161002, "cubeMathType", [=](PlanCall& call) {
    const int64_t mode = call["cubeMathType"].integer;
    const bool is_a2 = call.product == Product::kA2 || call.product == Product::kA3;
    const bool is_new = is_a2 || call.product == Product::k950;
    if (mode < (is_a2 ? -1 : 0) || mode > (is_new ? 4 : 3)) return true;
    const size_t space = matrices.find(' ');
    const bool has_float = call[matrices.substr(0, space)].dtype == ACL_FLOAT ||
                           call[matrices.substr(space + 1)].dtype == ACL_FLOAT;
    return !is_new && has_float && mode != 1 && mode != 2;
  });
}
inline Rule IsNoFractal(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) { return call[name].format == ACL_FORMAT_FRACTAL_NZ; });
}

// ---- drawing ----

inline int64_t DrawLength(RandomNumbers& random) {
  if (random.Chance(8)) return random.Below(2);
  return random.Chance(10) ? random.Between(14, 70) : random.Between(1, 9);
}
inline int64_t DrawDepth(RandomNumbers& random) {
  if (random.Chance(8)) return 0;
  return random.Chance(10) ? random.Between(250, 600) : random.Between(1, 20);
}
inline const DtypeList kMatrixDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
inline void DrawDtypes(PlanCall& call, RandomNumbers& random) {
  const bool is_mixed = random.Chance(40);
  const DtypeNumber dtype = DrawDtype(random, kMatrixDtypes);
  for (PlanArgument& one : call.arguments) {
    if (one.kind == ParameterKind::kTensor) one.dtype = is_mixed ? DrawDtype(random, kMatrixDtypes) : dtype;
  }
}

// Numbers of one size, so that sums are numbers; every fifth call has some of any size, infinities and NaN besides.
inline void FillNumbers(const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const bool has_others = random.Chance(20);
  for (HostTensor& tensor : tensors) {
    for (int64_t i = 0; i < tensor.size(); ++i) {
      if (has_others && random.Chance(3)) continue;
      EncodeElement(tensor.dtype(), static_cast<double>(random.Between(-4000, 4000)) / 1111,
                    tensor.Element(i));
    }
  }
}

}  // namespace portacl::testing
