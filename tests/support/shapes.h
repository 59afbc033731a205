// Shapes, broadcasting and walks over logical indices, written as plain loops for the oracle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "random_numbers.h"

namespace portacl::testing {

using Shape = std::vector<int64_t>;

int64_t NumElements(const Shape& shape);
std::string ToString(const Shape& shape);  // "[2, 3]", a scalar "[]"

// Broadcasts right-aligned shapes: equal dims stay, 1 takes the other length (even 0), everything else fails.
std::optional<Shape> Broadcast(const Shape& a, const Shape& b);
std::optional<Shape> Broadcast(std::span<const Shape> shapes);

// Returns for every logical index of `result` in row-major order the row-major position in an operand of
// shape `operand` that broadcasts to it.
std::vector<int64_t> BroadcastPositions(const Shape& operand, const Shape& result);

// Returns the row-major strides of a dense tensor.
std::vector<int64_t> DenseStrides(const Shape& shape);

// Returns the sum of index * stride for every logical index in row-major order.
std::vector<int64_t> StridedOffsets(const Shape& shape, std::span<const int64_t> strides);

// Draws `count` shapes of ranks up to `max_rank` that broadcast together. No dim is 0.
std::vector<Shape> RandomBroadcastShapes(int count, int max_rank, RandomNumbers& random);

}  // namespace portacl::testing
