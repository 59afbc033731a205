// Convolutions whose elements have few terms each, with up to 8 results for one channel in a group, or 2 for
// several, as depthwise layers have: computed from copies of a few rows of an image, without packing. Elements have
// the bits that products with patches give (docs/numerics.md).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/gemm/convolution.h"
#include "engine/gemm/patches.h"

namespace portacl::engine {

// Rows or columns of a result whose windows have the same elements of w.
struct WindowPart {
  PatchAxis axis;
  int64_t w_offset;  // in bytes
  int64_t w_tap;     // from one term to the next
};

// A convolution, or its gradient. Strides are in bytes. Two parts of an axis are each other's neighbours in the
// result: those of the first one are at even places.
struct WindowProduct {
  int64_t images;
  int64_t groups;
  int64_t rows;              // channels of the result in a group
  int64_t channels;          // of the image
  ConvolutionOperand image;  // `outer`, `inner`: from an image, a channel to the next one
  PatchAxis depth;
  WindowPart high[2];
  WindowPart last[2];
  int high_parts;
  int last_parts;
  ConvolutionOperand w;  // `outer`, `inner`: from a channel of the result, of the image to the next one
  int64_t w_group;
  ConvolutionOperand out;
  bool adds;
  ConvolutionOperand added;
};

// Tells whether a product is computed, which does not pay for every one, and needs memory of each thread. Otherwise
// some of the result may be written.
bool RunWindows(const WindowProduct& product, Isa isa, int threads, void* const* addresses);

// Computes the gradient of w of groups with one channel of x, or returns false likewise.
bool RunWeightOfWindows(const Convolution& convolution, Isa isa, int threads, void* const* addresses);

}  // namespace portacl::engine
