// A job of sampling at places (see grid.h), and what its two loops share: grid.cc's for any image, grid_lanes.cc's for float32 and 16 bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "acl/isa.h"
#include "engine/conversions.h"
#include "engine/job.h"

namespace portacl::engine {

enum class GridFilter : uint8_t { kLinear, kNearest, kCubic };
enum class GridEdge : uint8_t { kZero, kBorder, kReflection };

struct GridJob;

// One image's first channel, a row of places, where they go; at most kGridPlaces of them, kCubicGridPlaces with the cubic filter.
using GridLoop = void (*)(const GridJob& job, const char* input, const char* grid, char* output,
                          int64_t count);
// The more, the longer a channel's image stays in the caches, and what is known of them takes the stack.
constexpr int64_t kGridPlaces = 256;
constexpr int64_t kCubicGridPlaces = 64;

// Null where an image is so large that its loop has no numbers for it.
GridLoop FindGridLoop(Isa isa, const GridJob& job) noexcept;

struct GridJob {
  int8_t input;
  int8_t grid;
  int8_t output;
  GridFilter filter;
  GridEdge edge;
  bool aligns_corners;
  bool is_wide;
  bool asks_ahead;  // the image comes from beyond the nearest caches
  int32_t size;
  int threads;
  int64_t images;
  int64_t channels;
  int64_t height;
  int64_t width;
  int64_t rows;
  int64_t columns;
  // In bytes.
  int64_t input_offset;
  int64_t input_stride[4];
  int64_t grid_offset;
  int64_t grid_stride[4];
  int64_t output_offset;
  int64_t output_stride[4];
  LoadFunction load;  // null where nothing is converted
  StoreFunction store;
  GridLoop loop;  // null: grid.cc's

  bool Touches(int operand) const noexcept {
    return operand == input || operand == grid || operand == output;
  }
  int64_t Elements() const noexcept { return images * channels * rows * columns; }
  void Run(const JobContext& context) const noexcept;
};

// Reflected until it lies between the two edges, given as twice their places.
template <class T>
T Reflected(T place, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return 0;
  const T low = static_cast<T>(twice_low) / 2;
  const T span = static_cast<T>(twice_high - twice_low) / 2;
  place = std::fabs(place - low);
  const T extra = std::fmod(place, span);
  const T flips = std::floor(place / span);
  return std::fmod(flips, T{2}) == 0 ? extra + low : span - extra + low;
}

}  // namespace portacl::engine
