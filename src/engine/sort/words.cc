// Makes the key-index pairs of elements, of all or of those below a bound (see sort_lines.h). Plain loops
// that the compiler vectorises, compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/sort/words.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "engine/place.h"
#include "engine/sort/sort_lines.h"

#ifndef PORTACL_ENGINE_SORT_WORDS
#define PORTACL_ENGINE_SORT_WORDS
namespace portacl::engine {

struct WordRun {
  const char* elements;
  int64_t n;
  int64_t first;
  uint64_t flips;
  uint64_t below;
  int64_t most;
};

template <class Word>
struct WordFunctions {
  KeyRange (*make)(const WordRun& run, Word* words);
  int64_t (*filter)(const WordRun& run, Word* words, int64_t* count);
};

}  // namespace portacl::engine
#endif  // PORTACL_ENGINE_SORT_WORDS

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

template <class Bits>
constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));

// Keys have 32 bits, or 64 for longer elements.
template <class Bits>
using KeyFor = std::conditional_t<sizeof(Bits) == 8, uint64_t, uint32_t>;

// Turns the bits of a float, whose infinity is kInfinity, into a key. Has no branches, so that it vectorises.
template <class Bits_, Bits_ kInfinity>
struct FloatKey {
  using Bits = Bits_;
  static HWY_INLINE KeyFor<Bits> Of(Bits bits) {
    const auto magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign<Bits>));
    const auto ordered = static_cast<Bits>(bits == magnitude ? bits | kSign<Bits> : ~bits);
    const Bits number = magnitude == 0 ? kSign<Bits> : ordered;
    return magnitude > kInfinity ? std::numeric_limits<Bits>::max() : number;
  }
};
template <class Bits_>
struct SignedKey {
  using Bits = Bits_;
  static HWY_INLINE KeyFor<Bits> Of(Bits bits) { return static_cast<Bits>(bits ^ kSign<Bits>); }
};
template <class Bits_>
struct UnsignedKey {
  using Bits = Bits_;
  static HWY_INLINE KeyFor<Bits> Of(Bits bits) { return bits; }
};
struct BoolKey {
  using Bits = uint8_t;
  static HWY_INLINE uint32_t Of(uint8_t byte) { return byte != 0 ? 1 : 0; }
};

HWY_INLINE void PutWord(uint64_t key, int64_t position, NarrowWord* word) {
  *word = key << 32 | static_cast<uint64_t>(position);
}
HWY_INLINE void PutWord(uint64_t key, int64_t position, WideWord* word) {
  *word = {key, static_cast<uint64_t>(position)};
}

template <class KeyRule, class Word>
KeyRange Make(const WordRun& run, Word* HWY_RESTRICT words) {
  using Bits = typename KeyRule::Bits;
  using Key = KeyFor<Bits>;
  const auto flips = static_cast<Key>(run.flips);
  Key least = std::numeric_limits<Key>::max();
  Key most = 0;
  const char* const elements = run.elements;
  const int64_t first = run.first;
  for (int64_t i = 0; i < run.n; ++i) {
    const Bits bits = Load<Bits>(elements + i * static_cast<int64_t>(sizeof(Bits)));
    const Key key = KeyRule::Of(bits) ^ flips;
    least = std::min(least, key);
    most = std::max(most, key);
    PutWord(key, first + i, words + i);
  }
  return {least, most};
}

// Elements are examined one by one only if the least key of a step is below the bound.
template <class KeyRule, class Word>
int64_t Filter(const WordRun& run, Word* HWY_RESTRICT words, int64_t* count) {
  using Bits = typename KeyRule::Bits;
  using Key = KeyFor<Bits>;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));
  const auto flips = static_cast<Key>(run.flips);
  const auto below = static_cast<Key>(run.below);
  int64_t found = *count;
  int64_t i = 0;
  while (i < run.n && found <= run.most - kFilterStep) {
    const int64_t n = std::min(run.n - i, kFilterStep);
    const char* const from = run.elements + i * kSize;
    Key keys[kFilterStep];
    Key least = std::numeric_limits<Key>::max();
    if (n == kFilterStep) {
      for (int64_t k = 0; k < kFilterStep; ++k) {
        keys[k] = KeyRule::Of(Load<Bits>(from + k * kSize)) ^ flips;
        least = std::min(least, keys[k]);
      }
    } else {
      for (int64_t k = 0; k < n; ++k) {
        keys[k] = KeyRule::Of(Load<Bits>(from + k * kSize)) ^ flips;
        least = std::min(least, keys[k]);
      }
    }
    if (least < below) {
      for (int64_t k = 0; k < n; ++k) {
        PutWord(keys[k], run.first + i + k, words + found);
        found += keys[k] < below ? 1 : 0;
      }
    }
    i += n;
  }
  *count = found;
  return i;
}

template <class Word, class KeyRule>
HWY_INLINE WordFunctions<Word> Both() {
  return {Make<KeyRule, Word>, Filter<KeyRule, Word>};
}

template <class Word>
HWY_INLINE WordFunctions<Word> FunctionsOf(aclDataType dtype) {
  switch (dtype) {
    case ACL_BOOL:
      return Both<Word, BoolKey>();
    case ACL_UINT8:
      return Both<Word, UnsignedKey<uint8_t>>();
    case ACL_INT8:
      return Both<Word, SignedKey<uint8_t>>();
    case ACL_INT16:
      return Both<Word, SignedKey<uint16_t>>();
    case ACL_UINT16:
      return Both<Word, UnsignedKey<uint16_t>>();
    case ACL_INT32:
      return Both<Word, SignedKey<uint32_t>>();
    case ACL_UINT32:
      return Both<Word, UnsignedKey<uint32_t>>();
    case ACL_FLOAT16:
      return Both<Word, FloatKey<uint16_t, 0x7C00>>();
    case ACL_BF16:
      return Both<Word, FloatKey<uint16_t, 0x7F80>>();
    case ACL_FLOAT:
      return Both<Word, FloatKey<uint32_t, 0x7F800000>>();
    default:
      break;
  }
  if constexpr (std::is_same_v<Word, WideWord>) {
    if (dtype == ACL_INT64) return Both<Word, SignedKey<uint64_t>>();
    if (dtype == ACL_UINT64) return Both<Word, UnsignedKey<uint64_t>>();
  }
  if constexpr (std::is_same_v<Word, WideWord>) return Both<Word, FloatKey<uint64_t, 0x7FF0000000000000>>();
  return {};
}

// The position of a pair is the number of smaller ones. All are compared with all, vectorised and without
// branches.
void SortFew(const NarrowWord* words, int64_t n, NarrowWord* HWY_RESTRICT sorted) {
  constexpr int64_t kStep = 8;
  NarrowWord all[kFewWords];
  std::copy_n(words, n, all);
  const int64_t padded = (n + kStep - 1) / kStep * kStep;
  std::fill(all + n, all + padded, ~NarrowWord{0});
  for (int64_t i = 0; i < n; ++i) {
    const NarrowWord word = all[i];
    uint64_t less = 0;
    for (int64_t k = 0; k < padded; k += kStep) {
      for (int64_t j = 0; j < kStep; ++j) less += all[k + j] < word ? 1 : 0;
    }
    sorted[less] = word;
  }
}

WordFunctions<NarrowWord> NarrowFunctions(aclDataType dtype) { return FunctionsOf<NarrowWord>(dtype); }
WordFunctions<WideWord> WideFunctions(aclDataType dtype) { return FunctionsOf<WideWord>(dtype); }

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kNarrow = PORTACL_ISA_TABLE(NarrowFunctions);
constexpr auto kWide = PORTACL_ISA_TABLE(WideFunctions);
constexpr auto kSortFew = PORTACL_ISA_TABLE(SortFew);

WordFunctions<NarrowWord> Find(Isa isa, aclDataType dtype, const NarrowWord*) {
  return kNarrow.For(isa)(dtype);
}
WordFunctions<WideWord> Find(Isa isa, aclDataType dtype, const WideWord*) { return kWide.For(isa)(dtype); }

}  // namespace

void SortFew(Isa isa, NarrowWord* words, int64_t n, NarrowWord* other, NarrowWord** sorted) noexcept {
  *sorted = isa == Isa::kPortable ? words : other;
  // Without wide vectors a sort takes fewer comparisons.
  isa == Isa::kPortable ? std::sort(words, words + n) : kSortFew.For(isa)(words, n, other);
}

template <class Word>
KeyRange MakeWords(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first, uint64_t flips,
                   Word* words) noexcept {
  return Find(isa, dtype, words).make({elements, n, first, flips, 0, 0}, words);
}

template <class Word>
int64_t FilterWords(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first,
                    uint64_t flips, uint64_t below, int64_t most, Word* words, int64_t* count) noexcept {
  return Find(isa, dtype, words).filter({elements, n, first, flips, below, most}, words, count);
}

template KeyRange MakeWords(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, NarrowWord*) noexcept;
template KeyRange MakeWords(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, WideWord*) noexcept;
template int64_t FilterWords(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, uint64_t, int64_t,
                             NarrowWord*, int64_t*) noexcept;
template int64_t FilterWords(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, uint64_t, int64_t,
                             WideWord*, int64_t*) noexcept;

}  // namespace portacl::engine

#endif  // HWY_ONCE
