// Sixteen terms of a row in the computed type, sixteen sums of them, and the sum of a row's blocks. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_ROWWISE_ROWWISE_TERMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_ROWWISE_ROWWISE_TERMS_INL_H_
#undef PORTACL_ENGINE_ROWWISE_ROWWISE_TERMS_INL_H_
#else
#define PORTACL_ENGINE_ROWWISE_ROWWISE_TERMS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>
#include "engine/reduction/sum_loop-inl.h"
#include "engine/reduction/sum_tree.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// ---- sixteen numbers of the computed type, and sixteen sums of them ----

struct Terms16OfDouble {
  HWY_ALIGN double term[kLanes];
};

class Sums16OfDouble {
 public:
  HWY_INLINE void Clear() { std::fill_n(sum_, kLanes, 0.0); }
  HWY_INLINE void Add(const Terms16OfDouble& terms) {
    for (size_t i = 0; i < kLanes; ++i) sum_[i] += terms.term[i];
  }
  HWY_INLINE double Total() {
    for (size_t width = kLanes / 2; width > 0; width /= 2) {
      for (size_t i = 0; i < width; ++i) sum_[i] += sum_[i + width];
    }
    return sum_[0];
  }

 private:
  double sum_[kLanes];
};

HWY_INLINE Terms16OfDouble Keep(Terms16OfDouble terms, size_t begin, size_t end) {
  for (size_t i = 0; i < kLanes; ++i) {
    if (i < begin || i >= end) terms.term[i] = 0.0;
  }
  return terms;
}

// Stores a vector at index j, a multiple of the lanes of a vector.
template <class D, class V>
HWY_INLINE void SetTerms(D d, Terms16OfDouble& terms, size_t j, V v) {
  hn::StoreU(v, d, terms.term + j);
}
template <class D>
HWY_INLINE hn::Vec<D> GetTerms(D d, const Terms16OfDouble& terms, size_t j) {
  return hn::LoadU(d, terms.term + j);
}
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
template <class D, class V>
HWY_INLINE void SetTerms(D d, Terms16& terms, size_t j, V v) {
  hn::StoreU(v, d, terms.term + j);
}
template <class D>
HWY_INLINE hn::Vec<D> GetTerms(D d, const Terms16& terms, size_t j) {
  return hn::LoadU(d, terms.term + j);
}
HWY_INLINE void StoreTerms(const Terms16& terms, float* to) {
  std::memcpy(to, terms.term, sizeof terms.term);
}
#else
template <class D, class V>
HWY_INLINE void SetTerms(D, Terms16& terms, size_t j, V v) {
  terms.term[j / kFloatLanes] = v;
}
template <class D>
HWY_INLINE hn::Vec<D> GetTerms(D, const Terms16& terms, size_t j) {
  return terms.term[j / kFloatLanes];
}
HWY_INLINE void StoreTerms(const Terms16& terms, float* to) {
  for (size_t j = 0; j < kLanes; j += kFloatLanes) hn::StoreU(terms.term[j / kFloatLanes], DF(), to + j);
}
#endif
HWY_INLINE void StoreTerms(const Terms16OfDouble& terms, double* to) {
  std::memcpy(to, terms.term, sizeof terms.term);
}

template <class T>
using TermsOf = std::conditional_t<std::is_same_v<T, double>, Terms16OfDouble, Terms16>;
template <class T>
using SumsOf = std::conditional_t<std::is_same_v<T, double>, Sums16OfDouble, Sums16>;

// The blocks of a row's sum, without the lanes, which stay in registers.
class RowBlocks {
 public:
  HWY_INLINE explicit RowBlocks(size_t n) : tree_(levels_, 1), is_one_(n <= kLaneBlock) {}
  template <class Sums>
  HWY_INLINE void End(Sums& lanes) {
    total_ = lanes.Total();
    if (is_one_) return;
    tree_.Add(&total_);
    lanes.Clear();
  }
  HWY_INLINE double Total() {
    if (!is_one_) tree_.Finish(&total_);
    return total_;
  }

 private:
  double levels_[40];  // 2^40 blocks are more than memory can hold
  SumTree tree_;
  double total_ = 0;
  bool is_one_;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
