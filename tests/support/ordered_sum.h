// Sums over the axes along which an operand was broadcast, in the order that the library promises, written for the
// oracle as plain loops in float64.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shapes.h"

namespace portacl::testing {

// For every term of `terms_shape` in row-major order, the row-major position of the output to which it is added.
// The output's shape broadcasts to the terms'.
std::vector<int64_t> OutputPositions(const Shape& terms_shape, const Shape& output_shape);

// The sums of float32 terms, one per output. Where the last axis longer than 1 is summed over, the terms of an
// output go in turn to 16 lanes, in blocks of 4096 terms, and each lane of the lower half takes the one as far up in
// the upper half until one is left; otherwise they are added one after the other, in blocks of 256. Blocks are combined
// as pairs of neighbours, level by level, an odd one moving up. Everything starts at +0, so the sum of a single -0
// is +0.
std::vector<double> OrderedSums(const Shape& terms_shape, std::span<const float> terms,
                                const Shape& output_shape);

}  // namespace portacl::testing
