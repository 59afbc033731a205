// The loops that add a formula's terms into float64 sums, in the order of docs/numerics.md. Compiled once per
// instruction set and formula.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_REDUCTION_SUM_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_REDUCTION_SUM_LOOP_INL_H_
#undef PORTACL_ENGINE_REDUCTION_SUM_LOOP_INL_H_
#else
#define PORTACL_ENGINE_REDUCTION_SUM_LOOP_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "engine/half_precision-inl.h"
#include "engine/map/sum_work.h"
#include "engine/map/vector_loop-inl.h"
#include "plan/reduction_plan.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// ---- Sixteen terms and sixteen sums ----

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

// Vectors of one lane or of unknown length: plain loops, which the compiler may vectorise.
struct Terms16 {
  HWY_ALIGN float term[kLanes];
};

class Sums16 {
 public:
  HWY_INLINE void Clear() { std::fill_n(sum_, kLanes, 0.0); }
  HWY_INLINE void Load(const double* from) { std::memcpy(sum_, from, sizeof sum_); }
  HWY_INLINE void Store(double* to) const { std::memcpy(to, sum_, sizeof sum_); }
  HWY_INLINE void Add(const Terms16& terms) {
    for (size_t i = 0; i < kLanes; ++i) sum_[i] += static_cast<double>(terms.term[i]);
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

HWY_INLINE Terms16 LoadTerms(const float* from) {
  Terms16 terms;
  std::memcpy(terms.term, from, sizeof terms.term);
  return terms;
}

// Returns the terms in [begin, end) and +0 elsewhere. Adding +0 does not change a sum that started at +0.
HWY_INLINE Terms16 Keep(Terms16 terms, size_t begin, size_t end) {
  for (size_t i = 0; i < kLanes; ++i) {
    if (i < begin || i >= end) terms.term[i] = 0.0f;
  }
  return terms;
}

#else

using DD = hn::ScalableTag<double>;
using VD = hn::Vec<DD>;
constexpr size_t kFloatLanes = hn::MaxLanes(DF());
constexpr size_t kDoubleLanes = hn::MaxLanes(DD());
static_assert(kFloatLanes <= kLanes && 2 * kDoubleLanes == kFloatLanes);

// Structs with vector members have explicit constructors, because gcc compiles implicit ones for no
// instruction set.
struct Terms16 {
  HWY_INLINE Terms16() {}  // NOLINT(*-member-init, *-use-equals-default)
  VF term[kLanes / kFloatLanes];
};

template <class D, class V>
HWY_INLINE double SumOfLowerAndUpper(D, V v) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    return hn::GetLane(v);
  } else {
    const hn::Half<D> half;
    return SumOfLowerAndUpper(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

class Sums16 {
 public:
  HWY_INLINE Sums16() {}  // NOLINT(*-member-init, *-use-equals-default)
  HWY_INLINE void Clear() {
    for (VD& sum : sum_) sum = hn::Zero(DD());
  }
  HWY_INLINE void Load(const double* from) {
    for (size_t i = 0; i < kVectors; ++i) sum_[i] = hn::LoadU(DD(), from + i * kDoubleLanes);
  }
  HWY_INLINE void Store(double* to) const {
    for (size_t i = 0; i < kVectors; ++i) hn::StoreU(sum_[i], DD(), to + i * kDoubleLanes);
  }
  HWY_INLINE void Add(const Terms16& terms) {
    const hn::Half<DF> half;
    for (size_t i = 0; i < kVectors; i += 2) {
      const VF term = terms.term[i / 2];
      sum_[i] = hn::Add(sum_[i], hn::PromoteTo(DD(), hn::LowerHalf(half, term)));
      sum_[i + 1] = hn::Add(sum_[i + 1], hn::PromoteTo(DD(), hn::UpperHalf(half, term)));
    }
  }
  // Reduces the lanes in halves: lane i takes lane i + 8, then i + 4, i + 2, i + 1.
  HWY_INLINE double Total() {
    for (size_t count = kVectors / 2; count > 0; count /= 2) {
      for (size_t i = 0; i < count; ++i) sum_[i] = hn::Add(sum_[i], sum_[i + count]);
    }
    return SumOfLowerAndUpper(DD(), sum_[0]);
  }

 private:
  static constexpr size_t kVectors = kLanes / kDoubleLanes;
  VD sum_[kVectors];
};

HWY_INLINE Terms16 LoadTerms(const float* from) {
  Terms16 terms;
  for (size_t i = 0; i < kLanes / kFloatLanes; ++i) terms.term[i] = hn::LoadU(DF(), from + i * kFloatLanes);
  return terms;
}

// Sixteen sums with even and odd lanes apart, for terms that arrive as even and odd elements.
class PairedSums16 {
 public:
  // Terms that are added at once: whole vectors of even and of odd ones, and a multiple of the lanes.
  static constexpr size_t kGroup = HWY_MAX(kLanes, 2 * kFloatLanes);

  HWY_INLINE explicit PairedSums16(const Sums16& sums) {  // NOLINT(*-member-init)
    HWY_ALIGN double in_order[kLanes];
    sums.Store(in_order);
    for (size_t i = 0; i < kVectors; ++i)
      hn::LoadInterleaved2(DD(), in_order + i * 2 * kDoubleLanes, even_[i], odd_[i]);
  }
  HWY_INLINE Sums16 InOrder() const {
    HWY_ALIGN double in_order[kLanes];
    for (size_t i = 0; i < kVectors; ++i)
      hn::StoreInterleaved2(even_[i], odd_[i], DD(), in_order + i * 2 * kDoubleLanes);
    Sums16 sums;
    sums.Load(in_order);
    return sums;
  }
  // Adds pair number `pair` of a group's vectors of terms.
  HWY_INLINE void Add(size_t pair, VF even, VF odd) {
    const hn::Half<DF> half;
    VD& low_even = even_[2 * pair % kVectors];
    low_even = hn::Add(low_even, hn::PromoteTo(DD(), hn::LowerHalf(half, even)));
    VD& low_odd = odd_[2 * pair % kVectors];
    low_odd = hn::Add(low_odd, hn::PromoteTo(DD(), hn::LowerHalf(half, odd)));
    VD& high_even = even_[(2 * pair + 1) % kVectors];
    high_even = hn::Add(high_even, hn::PromoteTo(DD(), hn::UpperHalf(half, even)));
    VD& high_odd = odd_[(2 * pair + 1) % kVectors];
    high_odd = hn::Add(high_odd, hn::PromoteTo(DD(), hn::UpperHalf(half, odd)));
  }

 private:
  static constexpr size_t kVectors = kLanes / 2 / kDoubleLanes;
  VD even_[kVectors];
  VD odd_[kVectors];
};

// Returns the terms in [begin, end) and +0 elsewhere; begin is 0 or end is kLanes. Adding +0 does not change
// a sum that started at +0.
HWY_INLINE Terms16 Keep(const Terms16& terms, size_t begin, size_t end) {
  alignas(64) static constexpr uint32_t kMask[3 * kLanes] = {
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,    //
      ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u,  //
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0};
  const uint32_t* const mask = kMask + (end < kLanes ? 2 * kLanes - end : kLanes - begin);
  Terms16 kept;
  for (size_t i = 0; i < kLanes / kFloatLanes; ++i) {
    const VU bits = hn::And(hn::BitCast(DU(), terms.term[i]), hn::LoadU(DU(), mask + i * kFloatLanes));
    kept.term[i] = hn::BitCast(DF(), bits);
  }
  return kept;
}

#endif

// ---- A formula's terms, sixteen at a time ----

// Every loop below contains the formula once, or twice if terms come in pairs: a formula may be long, and is
// compiled for each element type.
template <class Formula, class Access, size_t... kInput>
class FormulaTerms {
 public:
  // Tells whether there are operands with 16-bit elements, and the fewest elements of a cache line.
  static constexpr bool kHas16BitFloats = Access::kHas16BitFloats;
  static constexpr size_t kLine = 64 / Access::kWidest;
  static constexpr bool kIsSingle = sizeof...(kInput) == 1;
  // Tells whether it is faster to load two vectors as their even and odd elements.
  static constexpr bool kIsPaired = Access::kIsPaired && HWY_TARGET != HWY_SCALAR && HWY_HAVE_SCALABLE == 0;

  HWY_INLINE FormulaTerms(const Formula& formula, KernelType type, const SumWork& work)
      : formula_(formula),
        access_(type, work.step, sizeof...(kInput)),
        from_{static_cast<const char*>(work.in[kInput])...},
        all_walk_((... && (work.step[kInput] != 0))) {}

  // Tells whether no input is one repeated value.
  HWY_INLINE bool all_walk() const { return all_walk_; }

  // Tells whether no input has a gap between rows.
  HWY_INLINE bool RowsFollow(const SumWork& work) const {
    return (... && (work.step[kInput] == 0 ||
                    std::abs(work.row_stride[kInput]) <= static_cast<int64_t>(work.n * work.step[kInput])));
  }
  HWY_INLINE void NextRow(const SumWork& work) { (..., (from_[kInput] += work.row_stride[kInput])); }

  // Prefetches the elements from i on.
  HWY_INLINE void Prefetch(size_t i) const {
    (..., hwy::Prefetch(from_[kInput] + access_.Offset(kInput, i)));
  }

  // Computes terms [i, i + 16); kAllWalk may be set if all_walk().
  template <bool kAllWalk>
  HWY_INLINE Terms16 At(size_t i) const {
#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
    const size_t lanes = hn::Lanes(DF());
    if (lanes > kLanes) return Some(i, kLanes, 0);
    Terms16 terms;
    HWY_UNROLL(1)
    for (size_t j = 0; j < kLanes; j += lanes) hn::StoreU(Vector<kAllWalk>(i + j), DF(), terms.term + j);
#else
    Terms16 terms;
    for (size_t j = 0; j < kLanes / kFloatLanes; ++j) terms.term[j] = Vector<kAllWalk>(i + j * kFloatLanes);
#endif
    return terms;
  }

  // Compute the even and the odd ones of two vectors of terms from i on, if all_walk().
  HWY_INLINE VF Even(size_t i) const {
    return formula_(DF(), access_.LoadEven(DF(), from_[kInput] + i * access_.Size(kInput))...);
  }
  HWY_INLINE VF Odd(size_t i) const {
    return formula_(DF(), access_.LoadOdd(DF(), from_[kInput] + i * access_.Size(kInput))...);
  }

  // Writes terms [i, i + count), at most 16, to the lanes from `lane` on, and +0 to the others. Reads nothing
  // else.
  HWY_NOINLINE void Some(size_t i, size_t count, size_t lane, float* terms) const {
    const DF d;
    HWY_ALIGN char elements[sizeof...(kInput)][kPadded * sizeof(float)] = {};
    (..., std::memcpy(elements[kInput] + lane * access_.Size(kInput),
                      from_[kInput] + access_.Offset(kInput, i), count * access_.Size(kInput)));
    HWY_ALIGN float values[kPadded];
    HWY_UNROLL(1)
    for (size_t j = 0; j < kLanes; j += hn::Lanes(d)) {
      const VF terms_of_vector =
          formula_(d, access_.Load(d, kInput, elements[kInput] + j * access_.Size(kInput))...);
      hn::StoreU(terms_of_vector, d, values + j);
    }
    std::fill_n(terms, kLanes, 0.0f);
    std::memcpy(terms + lane, values + lane, count * sizeof(float));
  }

  HWY_INLINE Terms16 Some(size_t i, size_t count, size_t lane) const {
    HWY_ALIGN float terms[kLanes];
    Some(i, count, lane, terms);
    return LoadTerms(terms);
  }

 private:
  static constexpr size_t kPadded = HWY_MAX(kLanes, HWY_MAX_BYTES / sizeof(float));

  template <bool kAllWalk>
  HWY_INLINE VF Vector(size_t i) const {
    return formula_(DF(), access_.Load(DF(), kInput,
                                       from_[kInput] + (kAllWalk ? i * access_.Size(kInput)
                                                                 : access_.Offset(kInput, i)))...);
  }

  Formula formula_;
  Access access_;
  const char* from_[sizeof...(kInput)];
  bool all_walk_;
};

// ---- The two orders ----

// Prefetch distance: several pages if there is one stream and nothing to compute.
template <class Terms>
inline constexpr size_t kSumAhead = (Terms::kIsSingle ? 4 : 1) * kFarthestAhead;

template <class Terms>
HWY_INLINE void SumLanes(const Terms& terms, SumWork& work) {
  constexpr size_t kBlock = kLaneBlock;
  const size_t n = work.n;
  const size_t length = work.length;
  size_t at = work.at;
  double* out = work.sums;
  for (size_t i = 0; i < n;) {
    const size_t in_block = at % kBlock;
    const size_t left = HWY_MIN(kBlock - in_block, length - at);
    const size_t end = i + HWY_MIN(left, n - i);
    Sums16 sums;
    if (in_block == 0) {
      sums.Clear();
    } else {
      sums.Load(work.lanes);
    }
    at += end - i;
    const bool ends = end - i == left;
    if (const size_t lane = in_block % kLanes) {
      const size_t count = HWY_MIN(kLanes - lane, end - i);
      sums.Add(terms.Some(i, count, lane));
      i += count;
    }
    if (terms.all_walk()) {
      // Prefetches as the loops that write values do, because the processor's own prefetching stops at the
      // end of a page. It pays for 16-bit types, which have more work per line, and for a single input.
#if HWY_TARGET != HWY_SCALAR && !HWY_HAVE_SCALABLE
      if constexpr (Terms::kIsPaired) {
        PairedSums16 paired(sums);
        for (; i + PairedSums16::kGroup <= end; i += PairedSums16::kGroup) {
          if (work.from_memory) terms.Prefetch(i + kSumAhead<Terms> / sizeof(uint16_t));
          for (size_t pair = 0; pair < PairedSums16::kGroup / (2 * kFloatLanes); ++pair) {
            const size_t at_pair = i + pair * 2 * kFloatLanes;
            paired.Add(pair, terms.Even(at_pair), terms.Odd(at_pair));
          }
        }
        sums = paired.InOrder();
      }
#endif
      for (; i + kLanes <= end; i += kLanes) {
        if constexpr (Terms::kHas16BitFloats) {
          if (work.from_memory) terms.Prefetch(i + kSumAhead<Terms> / sizeof(uint16_t));
        } else if constexpr (Terms::kIsSingle) {
          if (work.from_memory) terms.Prefetch(i + kSumAhead<Terms> / sizeof(float));
        }
        sums.Add(terms.template At<true>(i));
      }
    }
    for (const size_t last = HWY_MIN(end, n < kLanes ? 0 : n - kLanes + 1); i < last; i += kLanes) {
      Terms16 some = terms.template At<false>(i);
      // Elements after the end may be read, but are not added.
      if (HWY_UNLIKELY(end - i < kLanes)) some = Keep(some, 0, end - i);
      sums.Add(some);
    }
    if (i < end) sums.Add(terms.Some(i, end - i, 0));
    i = end;
    if (ends) {
      *out++ = sums.Total();
      if (at == length) at = 0;
    } else {
      sums.Store(work.lanes);
    }
  }
  work.at = at;
  work.sums = out;
}

template <class Terms>
HWY_INLINE void SumRows(Terms terms, const SumWork& work) {
  const size_t n = work.n;
  double* const to = work.sums;
  if (n < kLanes) {
    HWY_ALIGN float few[kLanes];
    for (size_t row = 0; row < work.rows; ++row) {
      terms.Some(0, n, 0, few);
      for (size_t i = 0; i < n; ++i) to[i] += static_cast<double>(few[i]);
      terms.NextRow(work);
    }
    return;
  }
  // Rows that are added before the sums are written again. From memory it is one row, because sequential
  // reads are fastest, and prefetches cover the next page. The hardware does not predict where reading
  // continues after a page or a row.
  constexpr size_t kTogether = 2;
  constexpr size_t kLine = Terms::kLine;
  constexpr size_t kAhead = 64 * kLine;
  const size_t in_row = n >= kAhead ? n - kAhead : terms.RowsFollow(work) ? n : 0;
  for (size_t row = 0; row < work.rows;) {
    size_t i = 0;
    const size_t count = HWY_MIN(work.rows - row, work.from_memory ? 1 : kTogether);
    Terms next = terms;
    next.NextRow(work);
    if (work.from_memory) {
      for (; i + kLanes <= n; i += kLanes) {
        if (i % kLine == 0) {
          if (i < in_row) {
            terms.Prefetch(i + kAhead);
          } else {
            next.Prefetch(i - in_row);
          }
        }
        Sums16 sums;
        sums.Load(to + i);
        sums.Add(terms.template At<false>(i));
        sums.Store(to + i);
      }
    } else if (count == kTogether) {
      for (; i + kLanes <= n; i += kLanes) {
        Sums16 sums;
        sums.Load(to + i);
        sums.Add(terms.template At<false>(i));
        sums.Add(next.template At<false>(i));
        sums.Store(to + i);
      }
      next.NextRow(work);
    }
    for (; i < n; i += kLanes) {
      // The last vectors overlap earlier sums, to which they add no terms.
      const size_t first = HWY_MIN(i, n - kLanes);
      Sums16 sums;
      sums.Load(to + first);
      next = terms;
      HWY_UNROLL(1)
      for (size_t k = 0; k < count; ++k) {
        sums.Add(Keep(next.template At<false>(first), i - first, kLanes));
        next.NextRow(work);
      }
      sums.Store(to + first);
    }
    terms = next;
    row += count;
  }
}

template <class Formula, class Access, size_t... kInput>
HWY_NOINLINE void SumOver(KernelType type, const void* parameters, SumWork& work,
                          std::index_sequence<kInput...>) {
  const Formula formula(*static_cast<const typename Formula::Parameters*>(parameters));
  const FormulaTerms<Formula, Access, kInput...> terms(formula, type, work);
  if (work.order == SumWork::Order::kByLane) {
    SumLanes(terms, work);
  } else {
    SumRows(terms, work);
  }
}

// The base of formulas that are summed: `struct Formula : Summable<Formula>` gets its kernels from here.
template <class Formula>
struct Summable : Elementwise<Formula> {
  // A SumFunction: selects the inputs' types, runs the loop, and returns the instruction set.
  static Isa Sums(KernelType type, const void* parameters, SumWork& work) {
    constexpr ElementTypes kTypes = KernelTypes(ThisIsa(), TakesOf<Formula>());
    constexpr auto kInputs = std::make_index_sequence<Formula::kInputs>();
    if constexpr ((kTypes & SetOf(ElementType::kMixed)) != 0) {
      if (type.elements == ElementType::kMixed) {
        SumOver<Formula, Mixed>(type, parameters, work, kInputs);
        return ThisIsa();
      }
    }
    if constexpr ((kTypes & k16BitFloats) != 0) {
      if (type.elements == ElementType::kBf16) {
        SumOver<Formula, Uniform<Bf16Elements>>(type, parameters, work, kInputs);
        return ThisIsa();
      }
      if (type.elements == ElementType::kF16) {
        SumOver<Formula, Uniform<F16Elements>>(type, parameters, work, kInputs);
        return ThisIsa();
      }
    }
    SumOver<Formula, Uniform<F32Elements>>(type, parameters, work, kInputs);
    return ThisIsa();
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
