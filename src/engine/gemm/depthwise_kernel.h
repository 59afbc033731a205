// The loops of convolutions that are computed without packing (see depthwise.h), for each instruction set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// The most terms of an element of an image, which is one block of terms of products of float32.
inline constexpr int64_t kMostWindowTerms = 256;

// Rows of sums: out(r, c) = the sum of w[t] * x[r * x_row + place[t] + c]. Steps are in numbers and may be
// negative.
struct WindowSums {
  const float* x;
  int64_t x_row;
  const int64_t* place;  // of each term
  const float* w;
  int64_t terms;
  float* out;
  int64_t out_row;
  int64_t rows;
  int64_t columns;
  bool adds;  // `added` plus the sum
  float added;
};
using WindowSumsFunction = void (*)(const WindowSums& sums);

// The shapes of windows for which there are loops that read an element once for several rows. Rows of a square
// window lie as far apart as those of the output, or half as far.
enum class WindowShape : uint8_t { kAny, kThree, kThreeOfTwo, kFive, kFiveOfTwo };
inline constexpr int kWindowShapes = 5;

// Sums of products of y and x over pixels, for several places of x beside them. Each lane of a vector is a
// channel of its own.
struct PixelSums {
  const float* y;        // a vector for each pixel
  const float* x;        // vectors
  const int32_t* pixel;  // x's number for each pixel of y
  int64_t count;         // pixels
  int64_t step;          // of these, every step-th one from the first on is added
  const int64_t* place;  // of each sum, in numbers
  int64_t sums;
  float* sum;  // a vector for each sum, to which products are added one by one
};

// Rows that lie `row` numbers apart.
struct NumberRows {
  const float* first;
  int64_t row;
  int64_t rows;
};

struct DepthwiseKernels {
  Isa isa;
  int64_t lanes;
  // In the order of float32, and in that of two 16-bit operands; by WindowShape.
  WindowSumsFunction window_sums[2][kWindowShapes];
  void (*pixel_sums)(const PixelSums& sums);
  // Adds n sums of a block of terms to others, or begins with them, and zeroes them. `odd` is nullptr, or a second
  // chain of each: then sum = sum + (even + odd), which begins at +0.
  void (*add_block)(float* even, float* odd, int64_t n, bool is_first, float* sum);
  // Copies `count` numbers of each row, or separates those at even places from those at odd ones. As many zeros
  // as a vector has lanes may be written behind each.
  void (*copy_rows)(const NumberRows& from, int64_t count, float* to, int64_t to_row);
  void (*separate_rows)(const NumberRows& from, int64_t count, float* even, float* odd, int64_t to_row);
  // Puts numbers of two rows in turn into one, of `count`.
  void (*alternate_rows)(const NumberRows& even, const float* odd, int64_t count, float* to, int64_t to_row);
};

const DepthwiseKernels& FindDepthwiseKernels(Isa isa) noexcept;

}  // namespace portacl::engine
