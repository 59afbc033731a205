// Sums over the axes along which an operand was broadcast, in the order that the library promises. Written
// for the oracle as plain loops in float64.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "shapes.h"

namespace portacl::testing {

// Returns for every term of `terms_shape`, in row-major order, the row-major position of its output. The
// output's shape broadcasts to the terms'.
std::vector<int64_t> OutputPositions(const Shape& terms_shape, const Shape& output_shape);

// Returns the sums of float32 terms, one for each output. If the last axis longer than 1 is summed over, the
// terms of an output go in turn to 16 lanes, in blocks of 4096 terms. Each lane of the lower half then adds
// its counterpart in the upper half, until one lane is left. Otherwise terms are added one after the other,
// in blocks of 256. Blocks are combined as pairs of neighbours, level by level; an odd one moves up.
// Everything starts at +0, so the sum of a single -0 is +0.
std::vector<double> OrderedSums(const Shape& terms_shape, std::span<const float> terms,
                                const Shape& output_shape);

}  // namespace portacl::testing
