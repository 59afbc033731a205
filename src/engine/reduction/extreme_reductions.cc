// Reductions to extremes, with or without their indices, and any/all (see reduction_kernels.h). Compiled once per
// instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/sum_reductions.h"

#include <bit>
#include <limits>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/reduction/extreme_reductions.cc"
#include "base/foreach_target.h"

#include "engine/reduction/reduction_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace reducers {

// ---- keys ----

template <class T>
struct KeyOf;
template <>
struct KeyOf<float> {
  using Key = int32_t;
  static constexpr Key kInfinity = 0x7F800000;
};
template <>
struct KeyOf<Bf16Word> {
  using Key = int16_t;
  static constexpr Key kInfinity = 0x7F80;
};
template <>
struct KeyOf<double> {
  using Key = int64_t;
  static constexpr Key kInfinity = 0x7FF0000000000000;
};
template <>
struct KeyOf<int32_t> {
  using Key = int32_t;
};
template <>
struct KeyOf<int64_t> {
  using Key = int64_t;
};

template <class T, bool kZerosAreAlike>
struct Extreme {
  using Term = T;
  using Key = typename KeyOf<T>::Key;
  using Accumulator = Key;
  static constexpr size_t kLanes = 128 / sizeof(Key) * 2;
  static constexpr bool kHasOrder = false;
  static constexpr bool kHasParameter = false;
  static constexpr bool kIsWord = std::is_same_v<T, Bf16Word>;
  static constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsWord;
  using Result = std::conditional_t<kIsWord, float, T>;
  static constexpr Key kLargest = std::numeric_limits<Key>::max();

  explicit Extreme(const ReductionConstants& constants)
      : bits(static_cast<Key>(constants.bits)), flip(static_cast<Key>(constants.flip)) {
    if (kIsFloat && sizeof(T) < 8 && constants.bits != ~uint64_t{0}) bits = kLargest;
  }
  static HWY_INLINE Key Identity() { return std::numeric_limits<Key>::min(); }

  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    const V word = hn::LoadU(d, reinterpret_cast<const Key*>(from));
    const V turn = hn::Set(d, flip);
    if constexpr (kIsFloat) {
      const V largest = hn::Set(d, kLargest);
      const V x = hn::And(word, hn::Set(d, bits));
      const auto is_nan = hn::Gt(hn::And(x, largest), hn::Set(d, KeyOf<T>::kInfinity));
      V key = hn::Xor(x, hn::And(hn::ShiftRight<sizeof(Key) * 8 - 1>(x), largest));
      if constexpr (kZerosAreAlike) {
        const auto is_negative_zero = hn::Eq(key, hn::Set(d, Key{-1}));
        key = hn::IfThenElse(is_negative_zero, hn::Zero(d), key);
      }
      return hn::IfThenElse(is_nan, largest, hn::Xor(key, turn));
    } else {
      return hn::Xor(word, turn);
    }
  }
  template <class D, class V>
  HWY_INLINE V With(D, V earlier, V later) const {
    return hn::Max(earlier, later);
  }

  HWY_INLINE Result ResultOf(Key key) const {
    if constexpr (kIsFloat) {
      if (key == kLargest) return std::numeric_limits<Result>::quiet_NaN();
      key = static_cast<Key>(key ^ flip);
      key = static_cast<Key>(key ^ ((key >> (sizeof(Key) * 8 - 1)) & kLargest));
    } else {
      key = static_cast<Key>(key ^ flip);
    }
    if constexpr (kIsWord) {
      return std::bit_cast<float>(static_cast<uint32_t>(static_cast<uint16_t>(key)) << 16);
    } else {
      return std::bit_cast<T>(key);
    }
  }

  Key bits;
  Key flip;
};

template <class T>
void FinishExtreme(const ReductionConstants& constants, const void* accumulators, size_t n, void* results,
                   int64_t*) {
  using Reducer = Extreme<T, false>;
  const Reducer reducer(constants);
  for (size_t i = 0; i < n; ++i)
    static_cast<typename Reducer::Result*>(results)[i] =
        reducer.ResultOf(static_cast<const typename Reducer::Key*>(accumulators)[i]);
}

template <class T, ElementType kTerms, ElementType kResults = kTerms>
constexpr ReductionKernels kExtremeReduction = {ThisIsa(),
                                                sizeof(typename KeyOf<T>::Key),
                                                false,
                                                kTerms,
                                                kResults,
                                                Along<Extreme<T, false>>,
                                                Across<Extreme<T, false>>,
                                                Clear<Extreme<T, false>>,
                                                Merge<Extreme<T, false>>,
                                                FinishExtreme<T>};

// ---- extremes with their indices ----

// Returns the first of `count` terms with this key; there is one.
template <class Reducer>
HWY_INLINE size_t FirstWith(const Reducer& reducer, const typename Reducer::Term* terms, size_t count,
                            typename Reducer::Key key) {
  const hn::ScalableTag<typename Reducer::Key> d;
  const hn::CappedTag<typename Reducer::Key, 1> one;
  const size_t n = hn::Lanes(d);
  size_t i = 0;
  for (; i + n <= count; i += n) {
    const intptr_t found =
        hn::FindFirstTrue(d, hn::Eq(reducer.Value(d, terms + i, hn::Zero(d)), hn::Set(d, key)));
    if (found >= 0) return i + static_cast<size_t>(found);
  }
  while (hn::GetLane(reducer.Value(one, terms + i, hn::Zero(one))) != key) ++i;
  return i;
}

template <class T>
void AlongIndexed(const ReductionConstants& constants, ReductionWork& work) {
  using Reducer = Extreme<T, true>;
  const Reducer reducer(constants);
  const auto* const terms = static_cast<const T*>(work.terms);
  IndexedKey best;
  std::memcpy(&best, work.lanes, sizeof best);
  ForEachTermBlock(work, [&](size_t i, size_t end, size_t in_block, bool ends) HWY_ATTR {
    using Lanes = LaneSet<Reducer>;
    const typename Lanes::D d;
    const auto none = hn::Zero(d);
    Lanes lanes;
    lanes.Clear(reducer);
    size_t k = i;
    for (; k + Reducer::kLanes <= end; k += Reducer::kLanes) lanes.Add(reducer, terms + k, none);
    if (k < end) lanes.AddSome(reducer, terms + k, 0, end - k, none);
    const typename Reducer::Key key = lanes.Total(reducer);
    if (in_block == 0 || key > best.key) {
      const size_t index = work.at + FirstWith(reducer, terms + i, end - i, key);
      best = {key, work.first + static_cast<int64_t>(index)};
    }
    if (ends) {
      auto*& out = reinterpret_cast<IndexedKey*&>(work.out);
      *out++ = best;
    }
  });
  std::memcpy(work.lanes, &best, sizeof best);
}

template <class T, class D>
HWY_INLINE size_t AcrossIndexedVectors(const Extreme<T, true>& reducer, D d, const ReductionRows& rows,
                                       size_t c) {
  using Key = typename KeyOf<T>::Key;
  auto* const out = static_cast<IndexedKey*>(rows.out);
  const size_t n = hn::Lanes(d);
  for (; c + n <= rows.columns; c += n) {
    HWY_ALIGN Key keys[hn::MaxLanes(d)];
    HWY_ALIGN Key indices[hn::MaxLanes(d)];
    for (size_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(out[c + i].key);
    const T* from = static_cast<const T*>(rows.terms) + c;
    // A column without terms yet takes its first one, whatever its key.
    auto best = hn::LoadU(d, keys);
    auto index = hn::Set(d, Key{-1});
    for (size_t row = 0; row < rows.rows; ++row, from += rows.pitch) {
      const auto key = reducer.Value(d, from, hn::Zero(d));
      const auto is_better = hn::Gt(key, best);
      best = hn::IfThenElse(is_better, key, best);
      index = hn::IfThenElse(is_better, hn::Set(d, static_cast<Key>(row)), index);
    }
    hn::StoreU(best, d, keys);
    hn::StoreU(index, d, indices);
    for (size_t i = 0; i < n; ++i) {
      if (indices[i] >= 0) {
        out[c + i] = {keys[i], rows.first + indices[i]};
      } else if (out[c + i].index < 0) {
        out[c + i].index = rows.first;
      }
    }
  }
  return c;
}

template <class T>
void AcrossIndexed(const ReductionConstants& constants, const ReductionRows& rows) {
  using Key = typename KeyOf<T>::Key;
  const Extreme<T, true> reducer(constants);
  const size_t done = AcrossIndexedVectors<T>(reducer, hn::ScalableTag<Key>(), rows, 0);
  AcrossIndexedVectors<T>(reducer, hn::CappedTag<Key, 1>(), rows, done);
}

template <class T>
void ClearIndexed(void* accumulators, size_t n) {
  std::fill_n(static_cast<IndexedKey*>(accumulators), n,
              IndexedKey{std::numeric_limits<typename KeyOf<T>::Key>::min(), -1});
}

void MergeIndexed(const void* earlier, void* later, size_t n) {
  const auto* const from = static_cast<const IndexedKey*>(earlier);
  auto* const to = static_cast<IndexedKey*>(later);
  for (size_t i = 0; i < n; ++i) {
    if (from[i].index >= 0 && (to[i].index < 0 || to[i].key <= from[i].key)) to[i] = from[i];
  }
}

template <class T>
void FinishIndexed(const ReductionConstants& constants, const void* accumulators, size_t n, void* results,
                   int64_t* indices) {
  using Reducer = Extreme<T, true>;
  const Reducer reducer(constants);
  const auto* const from = static_cast<const IndexedKey*>(accumulators);
  for (size_t i = 0; i < n; ++i) {
    static_cast<T*>(results)[i] = reducer.ResultOf(static_cast<typename Reducer::Key>(from[i].key));
    indices[i] = from[i].index;
  }
}

template <class T, ElementType kTerms>
constexpr ReductionKernels kIndexedExtremeReduction = {
    ThisIsa(),       sizeof(IndexedKey), false,           kTerms,       kTerms,
    AlongIndexed<T>, AcrossIndexed<T>,   ClearIndexed<T>, MergeIndexed, FinishIndexed<T>};

// ---- any and all ----

// any ORs the bits of the terms; all records whether a term has none.
template <class T, bool kAll>
struct AllAny {
  using Term = T;
  using Accumulator = T;
  static constexpr size_t kLanes = 256 / sizeof(T);
  static constexpr bool kHasOrder = false;
  static constexpr bool kHasParameter = false;
  explicit AllAny(const ReductionConstants& constants) : bits(static_cast<T>(constants.bits)) {}
  static HWY_INLINE T Identity() { return 0; }

  template <class D, class V>
  HWY_INLINE V Value(D d, const T* from, V) const {
    const V x = hn::And(hn::LoadU(d, from), hn::Set(d, bits));
    if constexpr (!kAll) {
      return x;
    } else {
      return hn::IfThenElseZero(hn::Eq(x, hn::Zero(d)), hn::Set(d, T{1}));
    }
  }
  template <class D, class V>
  HWY_INLINE V With(D, V earlier, V later) const {
    return hn::Or(earlier, later);
  }
  T bits;
};

template <class T, bool kAll>
void FinishAllAny(const ReductionConstants&, const void* accumulators, size_t n, void* results, int64_t*) {
  for (size_t i = 0; i < n; ++i) {
    const bool found = static_cast<const T*>(accumulators)[i] != 0;
    static_cast<uint8_t*>(results)[i] = found != kAll ? 1 : 0;
  }
}

template <class T, bool kAll, ElementType kTerms>
constexpr ReductionKernels kAllAnyReduction = {ThisIsa(),
                                               sizeof(T),
                                               false,
                                               kTerms,
                                               ElementType::kBool,
                                               Along<AllAny<T, kAll>>,
                                               Across<AllAny<T, kAll>>,
                                               Clear<AllAny<T, kAll>>,
                                               Merge<AllAny<T, kAll>>,
                                               FinishAllAny<T, kAll>};

const ReductionKernels* FindExtreme(ReductionOperation operation, ElementType terms) {
  using enum ReductionOperation;
  using enum ElementType;
  const bool is_all = operation == kAll;
  const bool is_indexed_extreme = operation == kFirstExtreme;
  switch (terms) {
    case kBf16:
      return operation == kExtreme ? &kExtremeReduction<Bf16Word, kU16, kF32> : nullptr;
    case kF32:
      return is_indexed_extreme ? &kIndexedExtremeReduction<float, kF32> : &kExtremeReduction<float, kF32>;
    case kF64:
      return is_indexed_extreme ? &kIndexedExtremeReduction<double, kF64> : &kExtremeReduction<double, kF64>;
    case kI32:
      return is_indexed_extreme ? &kIndexedExtremeReduction<int32_t, kI32>
                                : &kExtremeReduction<int32_t, kI32>;
    case kI64:
      return is_indexed_extreme ? &kIndexedExtremeReduction<int64_t, kI64>
                                : &kExtremeReduction<int64_t, kI64>;
    case kU8:
      return is_all ? &kAllAnyReduction<uint8_t, true, kU8> : &kAllAnyReduction<uint8_t, false, kU8>;
    case kU16:
      return is_all ? &kAllAnyReduction<uint16_t, true, kU16> : &kAllAnyReduction<uint16_t, false, kU16>;
    case kU32:
      return is_all ? &kAllAnyReduction<uint32_t, true, kU32> : &kAllAnyReduction<uint32_t, false, kU32>;
    case kU64:
      return is_all ? &kAllAnyReduction<uint64_t, true, kU64> : &kAllAnyReduction<uint64_t, false, kU64>;
    default:
      return nullptr;
  }
}

}  // namespace reducers
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kFindExtreme = PORTACL_ISA_TABLE(reducers::FindExtreme);

}  // namespace

const ReductionKernels* FindReduction(Isa isa, ReductionOperation operation, ElementType terms) noexcept {
  const bool is_all_any = operation == ReductionOperation::kAny || operation == ReductionOperation::kAll;
  const bool is_extreme =
      operation == ReductionOperation::kExtreme || operation == ReductionOperation::kFirstExtreme;
  if (is_all_any || is_extreme) return kFindExtreme.For(isa)(operation, terms);
  if (terms == ElementType::kC128) return FindComplexReduction(operation);
  return FindSumReduction(isa, operation, terms);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
