// What operators that resize images share: where an image's dims are, and from which places a resized one is taken.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "contract/arguments.h"
#include "engine/resample/axes.h"

namespace portacl {

// An image's dims by its format: NHWC, or else as NCHW has them.
struct ImageDims {
  int channels;
  int rows;
  int columns;
};
ImageDims DimsOf(const aclTensor& image) noexcept;

// As it lies in memory, with the dims in the order N, C, H, W.
StridedView ImageView(const aclTensor& image) noexcept;

// How far apart the places are that neighbours are taken from, in elements of the image: by the corners, by a scale greater than 0,
// or by the lengths. Rounded to float32 unless `is_wide`.
double StepBetween(int64_t from, int64_t to, double scale, bool aligns_corners, bool is_wide) noexcept;

// The map of one of the dims `dim` of two images in the order of ImageView: that of `resized` has the positions.
engine::AxisMap ResizedAxis(engine::AxisMap::Kind kind, const StridedView& image, const StridedView& resized,
                            int dim, double step, bool aligns_corners, bool is_wide) noexcept;

// ---- checks; 161002 each ----

// The tensor's format is neither NCHW nor NHWC, nor, with `takes_nd`, ND; or not the other tensor's.
aclnnStatus ImageFormat(const Check& check, const OperatorCall& call, int tensor, int other,
                        bool takes_nd = false);

// The tensor's number of images, or channels, is not the other's.
aclnnStatus SameImagesAndChannels(const Check& check, const OperatorCall& call, int tensor, int other);
// An array does not have this many values.
aclnnStatus ArrayHas(const Check& check, const OperatorCall& call, int attribute, size_t count);
// An array has a value less than 1.
aclnnStatus ArrayIsPositive(const Check& check, const OperatorCall& call, int attribute);
// A dim of the tensor is greater than what 32 bits count.
aclnnStatus SizesFit32Bits(const Check& check, const OperatorCall& call, int tensor);

// The shape of `image` with these rows and columns.
Shape ResizedShape(const aclTensor& image, int64_t rows, int64_t columns) noexcept;

}  // namespace portacl
