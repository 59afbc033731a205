// The loops over a tile of columns of weighted sums along two axes, for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

template <class T>
struct TileLoops {
  void (*add)(T* sum, const T* value, size_t n);
  void (*sum_pairs)(T* sum, const T* value, size_t n);
  void (*add_scaled)(T* sum, const T* value, T weight, size_t n);
  void (*add_weighted)(T* sum, const T* value, const T* weight, size_t n);
  void (*add_present)(T* sum, const T* value, const T* weight, size_t n);
  void (*combine)(T* to, const T* const* row, const T* weight, int rows, size_t n, bool stream);
  void (*sum_near)(T* sum, const T* from, int64_t begin, int64_t end, const int32_t* index, const T* weight,
                   int64_t taps, size_t n);
};

// Returns the loops of an instruction set. T is float or double; double has no sum_near.
template <class T>
TileLoops<T> LoopsFor(Isa isa);

}  // namespace portacl::engine
