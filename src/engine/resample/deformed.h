// Samples images where a kernel's positions lie when offsets move them, and computes the gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Along one axis, for output position p, the kernel's position k lies at p * stride + k * dilation - padding of the image.
struct DeformedAxis {
  int64_t length;   // of the image
  int64_t outputs;  // positions of the kernel on the image
  int64_t kernel;
  int64_t stride;
  int64_t padding;
  int64_t dilation;
};

// Dense FLOAT tensors. `images` is N, C, H, W. `offsets` is N, 3, groups, kernel rows, kernel columns, rows, columns: what moves a
// position along x, what moves it along y, and its factor. `samples` is N, C, rows * kernel rows, columns * kernel columns.
// Neighbouring channels, C / groups of them, share offsets.
struct DeformedShape {
  int64_t images;
  int64_t channels;
  int64_t groups;
  DeformedAxis rows;
  DeformedAxis columns;

  int64_t KernelSize() const noexcept { return rows.kernel * columns.kernel; }
  int64_t Outputs() const noexcept { return rows.outputs * columns.outputs; }
  int64_t Elements() const noexcept { return images * channels * KernelSize() * Outputs(); }
};

// A sample is its factor times the image's value at the moved position: linear between the four elements around it, of which those
// outside the image count 0 (docs/numerics.md). A position that is not finite has none.
struct SampleDeformed {
  DeformedShape shape;
  BufferRef images;
  BufferRef offsets;
  BufferRef samples;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

// The gradient of an image's element is the sum, from +0 on, of gradient * factor * weight over the samples that it has a weight in,
// by row, kernel position and column. The gradients of an offset and a factor are sums over channels, in their order.
struct DeformedGradient {
  DeformedShape shape;
  BufferRef images;
  BufferRef offsets;
  BufferRef samples;  // their gradient
  BufferRef images_out;
  BufferRef offsets_out;
  int threads;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
