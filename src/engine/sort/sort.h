// Stable sorting of keys together with the positions that they come from: radix passes over the digits in which keys differ.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"

namespace portacl::engine {

// Keys are unsigned and ordered as the elements are: -0 as 0, NaN behind all numbers and alike.
using NarrowKey = uint32_t;
using WideKey = uint64_t;
bool HasWideKeys(aclDataType dtype) noexcept;
// Whether elements of this dtype have keys: real numbers and bool.
bool HasKeys(aclDataType dtype) noexcept;
// The key of NaN, which no number has; of dtypes without NaN the largest, which then says nothing.
uint64_t NanKey(aclDataType dtype) noexcept;
bool IsFloatKey(aclDataType dtype) noexcept;

// n dense elements; Key is WideKey where HasWideKeys.
template <class Key>
void MakeKeys(aclDataType dtype, const char* elements, int64_t n, int threads, Key* keys) noexcept;

// What a sort reads and writes: two buffers of n each, so that a pass goes from one to the other, and kSortCounts counts. Position
// holds n.
template <class Key, class Position>
struct SortMemory {
  Key* keys[2];
  Position* positions[2];
  int64_t* counts;
};
inline constexpr int kMostSortParts = 64;
inline constexpr int64_t kSortCounts = int64_t{256} * kMostSortParts;

// Sorts keys[0], ascending, those that are equal by position. Returns which of the buffers holds the result: keys, and for each where it
// was. There is one such order, so threads change nothing.
template <class Key, class Position>
int SortKeys(const SortMemory<Key, Position>& memory, int64_t n, int threads) noexcept;

}  // namespace portacl::engine
