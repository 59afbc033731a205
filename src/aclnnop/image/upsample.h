// Shared code of operators that resize images: the dims of an image, and the source positions of a resized
// one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "contract/arguments.h"
#include "engine/resample/axes.h"

namespace portacl {

// Positions of an image's dims: those of NHWC, or of NCHW for every other format.
struct ImageDims {
  int channels;
  int rows;
  int columns;
};
ImageDims DimsOf(const aclTensor& image) noexcept;

// Returns a view of the image with dims in the order N, C, H, W.
StridedView ImageView(const aclTensor& image) noexcept;

// Returns the distance between the source positions of neighbours, in elements of the image. It follows from
// the corners, from a scale greater than 0, or from the lengths. Rounded to float32 unless `is_wide`.
double SpacingBetween(int64_t from, int64_t to, double scale, bool aligns_corners, bool is_wide) noexcept;

// Returns the map of dim `dim` of two images in the order of ImageView. Positions are those of `resized`.
engine::AxisMap ResizedAxis(engine::AxisMap::Kind kind, const StridedView& image, const StridedView& resized,
                            int dim, double step, bool aligns_corners, bool is_wide) noexcept;

// Returns the scale by which the first tensor of a nearest-neighbour call is resized, or 0 if CANN's kernel of
// its dtype and product ignores scales.
double NearestScale(const OperatorCall& call, double scale) noexcept;

// ---- checks, which return 161002 ----

// Refuses a tensor's format that is neither NCHW nor NHWC nor, with `takes_nd`, ND, or that differs from the
// other tensor's.
aclnnStatus ImageFormat(const Check& check, const OperatorCall& call, int tensor, int other,
                        bool takes_nd = false);

// Refuses a number of images or channels that differs from the other tensor's.
aclnnStatus SameImagesAndChannels(const Check& check, const OperatorCall& call, int tensor, int other);
// Refuses an array that does not have `count` values.
aclnnStatus ArrayHas(const Check& check, const OperatorCall& call, int attribute, size_t count);
// Refuses an array with a value less than 1.
aclnnStatus ArrayIsPositive(const Check& check, const OperatorCall& call, int attribute);
// Refuses a tensor with a dim that exceeds 32 bits.
aclnnStatus SizesFit32Bits(const Check& check, const OperatorCall& call, int tensor);

// Returns the shape of `image` with these numbers of rows and columns.
Shape ResizedShape(const aclTensor& image, int64_t rows, int64_t columns) noexcept;

}  // namespace portacl
