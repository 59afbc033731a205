// A sampling job (see grid.h), and the common part of its two loops: grid.cc's for any image, grid_lanes.cc's
// for float32 and 16 bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

#include "base/isa.h"
#include "engine/conversions.h"
#include "engine/job.h"

namespace portacl::engine {

enum class GridFilter : uint8_t { kLinear, kNearest, kCubic };
enum class GridEdge : uint8_t { kZero, kBorder, kReflection };

struct GridJob;

// Samples the points of a row, starting with one image's first channel. There are at most kGridPositions of
// them, or kCubicGridPositions with the cubic filter or in a volume.
using GridLoop = void (*)(const GridJob& job, const char* input, const char* grid, char* output,
                          int64_t count);
// Points at a time. With more of them a channel's image stays in the caches longer, but their taps take
// stack.
constexpr int64_t kGridPositions = 256;
constexpr int64_t kCubicGridPositions = 64;

// Returns nullptr if the image is too large for the loop's offsets.
GridLoop FindGridLoop(Isa isa, const GridJob& job) noexcept;

struct GridJob {
  int8_t input;
  int8_t grid;
  int8_t output;
  GridFilter filter;
  GridEdge edge;
  bool aligns_corners;
  bool is_volume;
  bool is_wide;
  bool asks_ahead;  // prefetches, since the image lies beyond the nearest caches
  int32_t size;
  int threads;
  int64_t images;
  int64_t channels;
  int64_t depth;  // 1 for an image
  int64_t height;
  int64_t width;
  int64_t planes;  // of points; 1 for an image
  int64_t rows;
  int64_t columns;
  // Offsets and strides in bytes. Those of planes stand apart.
  int64_t input_offset;
  int64_t input_plane;
  int64_t input_stride[4];  // of images, channels, rows, columns
  int64_t grid_offset;
  int64_t grid_plane;
  int64_t grid_stride[4];  // of images, rows, columns, coordinates
  int64_t output_offset;
  int64_t output_plane;
  int64_t output_stride[4];
  LoadFunction load;  // nullptr if nothing is converted
  StoreFunction store;
  GridLoop loop;  // nullptr: grid.cc's

  bool Touches(int operand) const noexcept {
    return operand == input || operand == grid || operand == output;
  }
  int64_t Elements() const noexcept { return images * channels * planes * rows * columns; }
  void Run(const JobContext& context) const noexcept;
};

// The gradients of sampling. Instead of an output, the job that samples has the output's gradient.
struct GridGradientJob {
  GridJob sampling;
  int8_t input_gradient;  // -1: is not asked for
  int8_t grid_gradient;
  int64_t input_offset;
  int64_t input_plane;
  int64_t input_stride[4];
  int64_t grid_offset;
  int64_t grid_plane;
  int64_t grid_stride[4];

  bool Touches(int operand) const noexcept {
    return sampling.Touches(operand) || operand == input_gradient || operand == grid_gradient;
  }
  int64_t Elements() const noexcept {
    const int64_t elements =
        sampling.images * sampling.channels * sampling.depth * sampling.height * sampling.width;
    return elements > sampling.Elements() ? elements : sampling.Elements();
  }
  // Sums of 16-bit elements are float32.
  uint64_t OwnWorkspace() const noexcept {
    if (sampling.load == nullptr || input_gradient < 0) return 0;
    return static_cast<uint64_t>(sampling.images * sampling.channels * sampling.depth * sampling.height *
                                 sampling.width) *
           sizeof(float);
  }
  void Run(const JobContext& context) const noexcept;
};

// Reflects a coordinate until it lies between the two edges, which are given doubled.
template <class T>
T Reflected(T source_coordinate, int64_t twice_low, int64_t twice_high) {
  if (twice_low == twice_high) return 0;
  const T low = static_cast<T>(twice_low) / 2;
  const T span = static_cast<T>(twice_high - twice_low) / 2;
  source_coordinate = std::fabs(source_coordinate - low);
  const T extra = std::fmod(source_coordinate, span);
  const T flips = std::floor(source_coordinate / span);
  return std::fmod(flips, T{2}) == 0 ? extra + low : span - extra + low;
}

}  // namespace portacl::engine
