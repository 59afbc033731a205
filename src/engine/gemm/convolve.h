// Convolutions of images with one, two or three axes, and their gradients, as matrix products with patches: y
// = x * w + added. The gradients are sums of the same products, by elements of x or of w.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/buffer_ref.h"
#include "engine/gemm/convolution.h"

namespace portacl::engine {

// The tensor to compute from the others.
enum class ConvolutionResult : uint8_t { kY, kX, kW };

// Trivially copyable, so that an executor can hold it.
struct ConvolutionJob {
  Convolution convolution;
  ConvolutionResult result;
  Isa isa;
  int threads;

  bool Touches(int operand) const noexcept;
  int64_t Elements() const noexcept;
  void Run(void* const* addresses, void* workspace) const noexcept;
};

// A convolution of buffers. The operands' `argument` is the buffer's index.
struct BufferConvolution {
  static constexpr int kBuffers = 4;
  ConvolutionJob job;
  BufferRef buffer[kBuffers];
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
