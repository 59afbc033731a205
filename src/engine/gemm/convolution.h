// Describes a convolution: its tensors and axes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "engine/gemm/patches.h"

namespace portacl::engine {

// FLOAT, FLOAT16 or BF16 operands with strides in bytes. x and y are [image, channel, axes], w is [channel of
// y, channel of x in the group, axes].
struct ConvolutionOperand {
  int8_t argument;  // operand of the executor
  aclDataType dtype;
  int64_t offset;
  int64_t outer;
  int64_t inner;
  int64_t axis[kPatchAxes];
};

struct ConvolutionAxis {
  int64_t x = 1;  // lengths
  int64_t y = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t padding = 0;  // before the first element; may be negative
  int64_t dilation = 1;
};

struct Convolution {
  int64_t images;
  int64_t groups;
  int64_t x_channels;  // of a group
  int64_t y_channels;
  ConvolutionAxis axis[kPatchAxes];  // an image with fewer axes has the last ones
  ConvolutionOperand x, y, w;
  // Tells whether `added` is added to the result, one element for each of its channels. Not for w.
  bool adds;
  ConvolutionOperand added;  // only `inner` is used
};

}  // namespace portacl::engine
