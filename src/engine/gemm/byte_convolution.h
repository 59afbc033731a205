// Convolutions of INT8 images of three axes with exact sums, which are then scaled.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "base/isa.h"
#include "engine/buffer_ref.h"

namespace portacl::engine {

// out[n, o, p] = sum * scale[o] + bias[o], with the sum over channels c and kernel positions k of weight[o, c, k] *
// image[n, c, p * stride + k * dilation - padding], 0 outside the image. Patches of some positions become rows of a
// matrix, which is multiplied. A listed op (OpList::Compute) with dense operands, trivially copyable.
struct ByteConvolution {
  static constexpr int kAxes = 3;
  static constexpr int64_t kPatchBytes = int64_t{1} << 24;

  BufferRef image;   // INT8 [images, channels, lengths]
  BufferRef weight;  // INT8 [results, channels, kernel]
  BufferRef scale;   // FLOAT [results]
  BufferRef bias;    // [results]
  aclDataType bias_dtype = ACL_FLOAT;
  bool has_bias = false;
  BufferRef out;  // [images, results, result lengths]
  aclDataType dtype = ACL_FLOAT16;
  BufferRef patches;   // PositionsAtOnce() * Terms() bytes
  BufferRef schedule;  // kScheduleWords words
  static constexpr int64_t kScheduleWords = 6;
  int64_t images = 0, channels = 0, results = 0;
  int64_t lengths[kAxes], kernel[kAxes], result_lengths[kAxes];
  int64_t stride[kAxes], dilation[kAxes], padding[kAxes];
  Isa isa = Isa::kPortable;
  int threads = 1;

  int64_t Terms() const noexcept { return channels * kernel[0] * kernel[1] * kernel[2]; }
  int64_t Positions() const noexcept { return result_lengths[0] * result_lengths[1] * result_lengths[2]; }
  int64_t PositionsAtOnce() const noexcept;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
