// Reductions to extremes, with or without their indices, and any/all (see fold_kernels.h). Compiled once per
// instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/fold/fold_sums.h"

#include <bit>
#include <limits>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/fold/fold_extremes.cc"
#include <hwy/foreach_target.h>

#include "engine/fold/fold_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace folds {

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

  explicit Extreme(const FoldConstants& constants)
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
void FinishExtreme(const FoldConstants& constants, const void* accumulators, size_t n, void* results,
                   int64_t*) {
  using Fold = Extreme<T, false>;
  const Fold fold(constants);
  for (size_t i = 0; i < n; ++i)
    static_cast<typename Fold::Result*>(results)[i] =
        fold.ResultOf(static_cast<const typename Fold::Key*>(accumulators)[i]);
}

template <class T, ElementType kTerms, ElementType kResults = kTerms>
constexpr FoldKernels kExtremeFold = {ThisIsa(),
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
template <class Fold>
HWY_INLINE size_t FirstWith(const Fold& fold, const typename Fold::Term* terms, size_t count,
                            typename Fold::Key key) {
  const hn::ScalableTag<typename Fold::Key> d;
  const hn::CappedTag<typename Fold::Key, 1> one;
  const size_t n = hn::Lanes(d);
  size_t i = 0;
  for (; i + n <= count; i += n) {
    const intptr_t found =
        hn::FindFirstTrue(d, hn::Eq(fold.Value(d, terms + i, hn::Zero(d)), hn::Set(d, key)));
    if (found >= 0) return i + static_cast<size_t>(found);
  }
  while (hn::GetLane(fold.Value(one, terms + i, hn::Zero(one))) != key) ++i;
  return i;
}

template <class T>
void AlongPlaced(const FoldConstants& constants, FoldWork& work) {
  using Fold = Extreme<T, true>;
  const Fold fold(constants);
  const auto* const terms = static_cast<const T*>(work.terms);
  PlacedKey best;
  std::memcpy(&best, work.lanes, sizeof best);
  ForEachPiece(work, [&](size_t i, size_t end, size_t in_block, bool ends) HWY_ATTR {
    using Lanes = LaneSet<Fold>;
    const typename Lanes::D d;
    const auto none = hn::Zero(d);
    Lanes lanes;
    lanes.Clear(fold);
    size_t k = i;
    for (; k + Fold::kLanes <= end; k += Fold::kLanes) lanes.Add(fold, terms + k, none);
    if (k < end) lanes.AddSome(fold, terms + k, 0, end - k, none);
    const typename Fold::Key key = lanes.Total(fold);
    if (in_block == 0 || key > best.key) {
      const size_t place = work.at + FirstWith(fold, terms + i, end - i, key);
      best = {key, work.first + static_cast<int64_t>(place)};
    }
    if (ends) {
      auto*& out = reinterpret_cast<PlacedKey*&>(work.out);
      *out++ = best;
    }
  });
  std::memcpy(work.lanes, &best, sizeof best);
}

template <class T, class D>
HWY_INLINE size_t AcrossPlacedVectors(const Extreme<T, true>& fold, D d, const FoldRows& rows, size_t c) {
  using Key = typename KeyOf<T>::Key;
  auto* const out = static_cast<PlacedKey*>(rows.out);
  const size_t n = hn::Lanes(d);
  for (; c + n <= rows.columns; c += n) {
    HWY_ALIGN Key keys[hn::MaxLanes(d)];
    HWY_ALIGN Key places[hn::MaxLanes(d)];
    for (size_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(out[c + i].key);
    const T* from = static_cast<const T*>(rows.terms) + c;
    // A column without terms yet takes its first one, whatever its key.
    auto best = hn::LoadU(d, keys);
    auto place = hn::Set(d, Key{-1});
    for (size_t row = 0; row < rows.rows; ++row, from += rows.pitch) {
      const auto key = fold.Value(d, from, hn::Zero(d));
      const auto is_better = hn::Gt(key, best);
      best = hn::IfThenElse(is_better, key, best);
      place = hn::IfThenElse(is_better, hn::Set(d, static_cast<Key>(row)), place);
    }
    hn::StoreU(best, d, keys);
    hn::StoreU(place, d, places);
    for (size_t i = 0; i < n; ++i) {
      if (places[i] >= 0) {
        out[c + i] = {keys[i], rows.first + places[i]};
      } else if (out[c + i].place < 0) {
        out[c + i].place = rows.first;
      }
    }
  }
  return c;
}

template <class T>
void AcrossPlaced(const FoldConstants& constants, const FoldRows& rows) {
  using Key = typename KeyOf<T>::Key;
  const Extreme<T, true> fold(constants);
  const size_t done = AcrossPlacedVectors<T>(fold, hn::ScalableTag<Key>(), rows, 0);
  AcrossPlacedVectors<T>(fold, hn::CappedTag<Key, 1>(), rows, done);
}

template <class T>
void ClearPlaced(void* accumulators, size_t n) {
  std::fill_n(static_cast<PlacedKey*>(accumulators), n,
              PlacedKey{std::numeric_limits<typename KeyOf<T>::Key>::min(), -1});
}

void MergePlaced(const void* earlier, void* later, size_t n) {
  const auto* const from = static_cast<const PlacedKey*>(earlier);
  auto* const to = static_cast<PlacedKey*>(later);
  for (size_t i = 0; i < n; ++i) {
    if (from[i].place >= 0 && (to[i].place < 0 || to[i].key <= from[i].key)) to[i] = from[i];
  }
}

template <class T>
void FinishPlaced(const FoldConstants& constants, const void* accumulators, size_t n, void* results,
                  int64_t* places) {
  using Fold = Extreme<T, true>;
  const Fold fold(constants);
  const auto* const from = static_cast<const PlacedKey*>(accumulators);
  for (size_t i = 0; i < n; ++i) {
    static_cast<T*>(results)[i] = fold.ResultOf(static_cast<typename Fold::Key>(from[i].key));
    places[i] = from[i].place;
  }
}

template <class T, ElementType kTerms>
constexpr FoldKernels kPlacedFold = {ThisIsa(),   sizeof(PlacedKey), false,           kTerms,
                                     kTerms,      AlongPlaced<T>,    AcrossPlaced<T>, ClearPlaced<T>,
                                     MergePlaced, FinishPlaced<T>};

// ---- any and all ----

// any ORs the bits of the terms; all records whether a term has none.
template <class T, bool kAll>
struct Truth {
  using Term = T;
  using Accumulator = T;
  static constexpr size_t kLanes = 256 / sizeof(T);
  static constexpr bool kHasOrder = false;
  static constexpr bool kHasParameter = false;
  explicit Truth(const FoldConstants& constants) : bits(static_cast<T>(constants.bits)) {}
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
void FinishTruth(const FoldConstants&, const void* accumulators, size_t n, void* results, int64_t*) {
  for (size_t i = 0; i < n; ++i) {
    const bool found = static_cast<const T*>(accumulators)[i] != 0;
    static_cast<uint8_t*>(results)[i] = found != kAll ? 1 : 0;
  }
}

template <class T, bool kAll, ElementType kTerms>
constexpr FoldKernels kTruthFold = {ThisIsa(),
                                    sizeof(T),
                                    false,
                                    kTerms,
                                    ElementType::kBool,
                                    Along<Truth<T, kAll>>,
                                    Across<Truth<T, kAll>>,
                                    Clear<Truth<T, kAll>>,
                                    Merge<Truth<T, kAll>>,
                                    FinishTruth<T, kAll>};

const FoldKernels* FindExtreme(FoldOperation operation, ElementType terms) {
  using enum FoldOperation;
  using enum ElementType;
  const bool is_all = operation == kAll;
  const bool is_placed = operation == kFirstExtreme;
  switch (terms) {
    case kBf16:
      return operation == kExtreme ? &kExtremeFold<Bf16Word, kU16, kF32> : nullptr;
    case kF32:
      return is_placed ? &kPlacedFold<float, kF32> : &kExtremeFold<float, kF32>;
    case kF64:
      return is_placed ? &kPlacedFold<double, kF64> : &kExtremeFold<double, kF64>;
    case kI32:
      return is_placed ? &kPlacedFold<int32_t, kI32> : &kExtremeFold<int32_t, kI32>;
    case kI64:
      return is_placed ? &kPlacedFold<int64_t, kI64> : &kExtremeFold<int64_t, kI64>;
    case kU8:
      return is_all ? &kTruthFold<uint8_t, true, kU8> : &kTruthFold<uint8_t, false, kU8>;
    case kU16:
      return is_all ? &kTruthFold<uint16_t, true, kU16> : &kTruthFold<uint16_t, false, kU16>;
    case kU32:
      return is_all ? &kTruthFold<uint32_t, true, kU32> : &kTruthFold<uint32_t, false, kU32>;
    case kU64:
      return is_all ? &kTruthFold<uint64_t, true, kU64> : &kTruthFold<uint64_t, false, kU64>;
    default:
      return nullptr;
  }
}

}  // namespace folds
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kFindExtreme = PORTACL_ISA_TABLE(folds::FindExtreme);

}  // namespace

const FoldKernels* FindFold(Isa isa, FoldOperation operation, ElementType terms) noexcept {
  const bool is_truth = operation == FoldOperation::kAny || operation == FoldOperation::kAll;
  const bool is_extreme = operation == FoldOperation::kExtreme || operation == FoldOperation::kFirstExtreme;
  if (is_truth || is_extreme) return kFindExtreme.For(isa)(operation, terms);
  if (terms == ElementType::kC128) return FindComplexFold(operation);
  return FindSumFold(isa, operation, terms);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
