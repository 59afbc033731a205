// The functions of src/engine/functions over arrays, on any instruction set, for their tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "base/isa.h"

namespace portacl::testing {

// out[i] = f(x[i], y[i]); y is not read by functions of one argument. `n` is a multiple of 64, which every vector's
// length divides.
template <class T>
using FunctionLoop = void (*)(const T* x, const T* y, T* out, size_t n);

struct FunctionLoops {
  const char* name;
  bool has_two;
  FunctionLoop<float> (*float32)(Isa);
  FunctionLoop<double> (*float64)(Isa);
};

std::span<const FunctionLoops> AllFunctionLoops();

}  // namespace portacl::testing
