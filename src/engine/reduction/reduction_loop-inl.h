// Vector loops of reductions, over lanes of one output or over columns. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_REDUCTION_REDUCTION_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_REDUCTION_REDUCTION_LOOP_INL_H_
#undef PORTACL_ENGINE_REDUCTION_REDUCTION_LOOP_INL_H_
#else
#define PORTACL_ENGINE_REDUCTION_REDUCTION_LOOP_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include <hwy/highway.h>
#include "engine/map/vector_loop-inl.h"
#include "engine/reduction/reduction_kernels.h"
#include "plan/reduction_plan.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace reducers {

// A reduction is a struct with: Term, the type of its elements in memory; Accumulator; kLanes; kHasOrder;
// kHasParameter; Identity(); Value(d, from, m), the lanes of d for the terms at `from`; With(d, earlier,
// later).

// The accumulators of a block's lanes.
template <class Reducer>
class LaneSet {
 public:
  using A = typename Reducer::Accumulator;
  static constexpr size_t kLanes = Reducer::kLanes;
  using D = hn::CappedTag<A, kLanes>;
  using V = hn::Vec<D>;

  HWY_INLINE LaneSet() {}  // NOLINT(*-member-init, *-use-equals-default): see Terms16

  HWY_INLINE void Clear(const Reducer& reducer) {
    const D d;
    for (size_t i = 0; i < Vectors(); ++i) Set(i, hn::Set(d, reducer.Identity()));
  }
  HWY_INLINE void Load(const void* from) {
    const D d;
    for (size_t i = 0; i < Vectors(); ++i)
      Set(i, hn::LoadU(d, static_cast<const A*>(from) + i * hn::Lanes(d)));
  }
  HWY_INLINE void Store(void* to) const {
    const D d;
    for (size_t i = 0; i < Vectors(); ++i) hn::StoreU(Get(i), d, static_cast<A*>(to) + i * hn::Lanes(d));
  }
  // Adds one term to each lane.
  HWY_INLINE void Add(const Reducer& reducer, const typename Reducer::Term* terms, V parameter) {
    const D d;
    for (size_t i = 0; i < Vectors(); ++i)
      Set(i, reducer.With(d, Get(i), reducer.Value(d, terms + i * hn::Lanes(d), parameter)));
  }
  // Adds `count` terms, the first to lane `lane`. Reads nothing else.
  HWY_INLINE void AddSome(const Reducer& reducer, const typename Reducer::Term* terms, size_t lane,
                          size_t count, V parameter) {
    const D d;
    const size_t n = hn::Lanes(d);
    for (size_t i = 0; i < Vectors(); ++i) {
      const size_t begin = i * n;
      if (begin + n <= lane || begin >= lane + count) continue;
      if (begin >= lane && begin + n <= lane + count) {
        Set(i, reducer.With(d, Get(i), reducer.Value(d, terms + (begin - lane), parameter)));
        continue;
      }
      const size_t from = lane > begin ? lane - begin : 0;
      const size_t to = std::min(n, lane + count - begin);
      HWY_ALIGN typename Reducer::Term padded[hn::MaxLanes(d)] = {};
      std::memcpy(padded + from, terms + (begin + from - lane), (to - from) * sizeof padded[0]);
      const V value = reducer.Value(d, padded, parameter);
      const V kept = hn::IfThenElse(hn::FirstN(d, from), Get(i), reducer.With(d, Get(i), value));
      Set(i, hn::IfThenElse(hn::FirstN(d, to), kept, Get(i)));
    }
  }
  // Reduces the lanes in halves: lane i takes lane i + kLanes / 2, then i + kLanes / 4 and so on.
  HWY_INLINE A Total(const Reducer& reducer) {
    const D d;
    size_t vectors = Vectors();
    for (; vectors > 1; vectors /= 2) {
      for (size_t i = 0; i < vectors / 2; ++i) Set(i, reducer.With(d, Get(i), Get(i + vectors / 2)));
    }
#if HWY_HAVE_SCALABLE || HWY_TARGET == HWY_SCALAR
    HWY_ALIGN A rest[hn::MaxLanes(d)];
    hn::StoreU(Get(0), d, rest);
    const hn::CappedTag<A, 1> one;
    for (size_t width = hn::Lanes(d) / 2; width > 0; width /= 2) {
      for (size_t i = 0; i < width; ++i)
        hn::StoreU(reducer.With(one, hn::LoadU(one, rest + i), hn::LoadU(one, rest + i + width)), one,
                   rest + i);
    }
    return rest[0];
#else
    return Halves(reducer, d, Get(0));
#endif
  }

 private:
#if HWY_HAVE_SCALABLE
  static HWY_INLINE size_t Vectors() { return kLanes / hn::Lanes(D()); }
  HWY_INLINE V Get(size_t i) const { return hn::LoadU(D(), lanes_ + i * hn::Lanes(D())); }
  HWY_INLINE void Set(size_t i, V v) { hn::StoreU(v, D(), lanes_ + i * hn::Lanes(D())); }
  HWY_ALIGN A lanes_[kLanes];
#else
  static constexpr size_t Vectors() { return kLanes / hn::MaxLanes(D()); }
  HWY_INLINE V Get(size_t i) const { return lanes_[i]; }
  HWY_INLINE void Set(size_t i, V v) { lanes_[i] = v; }
#if HWY_TARGET != HWY_SCALAR
  // Reduces the lanes of a vector, in registers.
  template <class Tag>
  static HWY_INLINE A Halves(const Reducer& reducer, Tag, hn::Vec<Tag> v) {
    if constexpr (hn::MaxLanes(Tag()) == 1) {
      return hn::GetLane(v);
    } else {
      const hn::Half<Tag> half;
      return Halves(reducer, half, reducer.With(half, hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
    }
  }
#endif
  V lanes_[kLanes / hn::MaxLanes(D())];
#endif
};

// Calls function(begin, end, is_new, ends) for the terms of each block, and advances `work`.
template <class Function>
HWY_INLINE void ForEachTermBlock(ReductionWork& work, const Function& function) {
  constexpr size_t kBlock = kLaneBlock;
  for (size_t i = 0; i < work.n;) {
    const size_t in_block = work.at % kBlock;
    const size_t left = std::min(kBlock - in_block, work.length - work.at);
    const size_t end = i + std::min(left, work.n - i);
    function(i, end, in_block, end - i == left);
    work.at += end - i;
    if (work.at == work.length) {
      work.at = 0;
      if (work.parameter != nullptr) ++work.parameter;
    }
    i = end;
  }
}

// Prefetch distance of reductions from memory: several pages, since there is one stream and little to
// compute.
constexpr size_t kReductionAhead = 16384;

template <class Reducer>
void Along(const ReductionConstants& constants, ReductionWork& work) {
  constexpr size_t kLanes = Reducer::kLanes;
  using Lanes = LaneSet<Reducer>;
  const auto* const terms = static_cast<const typename Reducer::Term*>(work.terms);
  const Reducer reducer(constants);
  ForEachTermBlock(work, [&](size_t i, size_t end, size_t in_block, bool ends) HWY_ATTR {
    const typename Lanes::D d;
    typename Lanes::V parameter = hn::Zero(d);
    if constexpr (Reducer::kHasParameter) parameter = hn::Set(d, *work.parameter);
    Lanes lanes;
    if (in_block == 0) {
      lanes.Clear(reducer);
    } else {
      lanes.Load(work.lanes);
    }
    if (const size_t lane = in_block % kLanes) {
      const size_t count = std::min(kLanes - lane, end - i);
      lanes.AddSome(reducer, terms + i, lane, count, parameter);
      i += count;
    }
    for (; i + kLanes <= end; i += kLanes) {
      // The processor's own prefetching stops at the end of a page.
      if (work.from_memory) {
        for (size_t ahead = 0; ahead < kLanes * sizeof terms[0]; ahead += 64)
          hwy::Prefetch(reinterpret_cast<const char*>(terms + i) + kReductionAhead + ahead);
      }
      lanes.Add(reducer, terms + i, parameter);
    }
    if (i < end) lanes.AddSome(reducer, terms + i, 0, end - i, parameter);
    if (ends) {
      auto*& out = reinterpret_cast<typename Reducer::Accumulator*&>(work.out);
      *out++ = lanes.Total(reducer);
    } else {
      lanes.Store(work.lanes);
    }
  });
}

// Processes columns from c on as far as whole vectors of d fit; returns the end.
template <class Reducer, class D>
HWY_INLINE size_t AcrossVectors(const Reducer& reducer, D d, const ReductionRows& rows, size_t row,
                                size_t count, size_t c) {
  auto* const out = static_cast<typename Reducer::Accumulator*>(rows.out);
  const auto* const terms =
      static_cast<const typename Reducer::Term*>(rows.terms) + static_cast<int64_t>(row) * rows.pitch;
  const size_t n = hn::Lanes(d);
  for (; c + n <= rows.columns; c += n) {
    auto parameter = hn::Zero(d);
    if constexpr (Reducer::kHasParameter) parameter = hn::LoadU(d, rows.parameter + c);
    auto sum = hn::LoadU(d, out + c);
    const typename Reducer::Term* from = terms + c;
    if (HWY_LIKELY(count == 4)) {
      sum = reducer.With(d, sum, reducer.Value(d, from, parameter));
      sum = reducer.With(d, sum, reducer.Value(d, from + rows.pitch, parameter));
      sum = reducer.With(d, sum, reducer.Value(d, from + 2 * rows.pitch, parameter));
      sum = reducer.With(d, sum, reducer.Value(d, from + 3 * rows.pitch, parameter));
    } else {
      for (size_t r = 0; r < count; ++r, from += rows.pitch)
        sum = reducer.With(d, sum, reducer.Value(d, from, parameter));
    }
    hn::StoreU(sum, d, out + c);
  }
  return c;
}

template <class Reducer>
void Across(const ReductionConstants& constants, const ReductionRows& rows) {
  const Reducer reducer(constants);
  const hn::ScalableTag<typename Reducer::Accumulator> d;
  const hn::CappedTag<typename Reducer::Accumulator, 1> one;
  for (size_t row = 0; row < rows.rows; row += 4) {
    const size_t count = std::min<size_t>(4, rows.rows - row);
    const size_t done = AcrossVectors(reducer, d, rows, row, count, 0);
    AcrossVectors(reducer, one, rows, row, count, done);
  }
}

template <class Reducer>
void Clear(void* accumulators, size_t n) {
  std::fill_n(static_cast<typename Reducer::Accumulator*>(accumulators), n,
              Reducer(ReductionConstants()).Identity());
}

template <class Reducer>
void Merge(const void* earlier, void* later, size_t n) {
  using A = typename Reducer::Accumulator;
  const Reducer reducer{ReductionConstants()};
  const auto* const from = static_cast<const A*>(earlier);
  auto* const to = static_cast<A*>(later);
  const hn::ScalableTag<A> d;
  const hn::CappedTag<A, 1> one;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d))
    hn::StoreU(reducer.With(d, hn::LoadU(d, from + i), hn::LoadU(d, to + i)), d, to + i);
  for (; i < n; ++i)
    hn::StoreU(reducer.With(one, hn::LoadU(one, from + i), hn::LoadU(one, to + i)), one, to + i);
}

}  // namespace reducers
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
