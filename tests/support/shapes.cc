// Shapes and broadcasting for the oracle: see shapes.h.
// SPDX-License-Identifier: Apache-2.0
#include "shapes.h"

#include <algorithm>

namespace portacl::testing {

int64_t NumElements(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    count *= dim;
  }
  return count;
}

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= result.size(); ++i) {
    const int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      return std::nullopt;
    }
    result[result.size() - i] = x == 1 ? y : x;
  }
  return result;
}

std::optional<Shape> Broadcast(std::span<const Shape> shapes) {
  std::optional<Shape> result = Shape{};
  for (const Shape& shape : shapes) {
    result = Broadcast(*result, shape);
    if (!result) {
      return std::nullopt;
    }
  }
  return result;
}

std::vector<int64_t> DenseStrides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

std::vector<int64_t> StridedOffsets(const Shape& shape, std::span<const int64_t> strides) {
  const int64_t count = NumElements(shape);
  const int64_t row = shape.empty() ? 1 : shape.back();
  const int64_t step = shape.empty() ? 0 : strides.back();
  std::vector<int64_t> offsets;
  offsets.reserve(static_cast<size_t>(count));
  std::vector<int64_t> index(shape.size(), 0);
  int64_t offset = 0;
  while (std::ssize(offsets) < count) {
    for (int64_t i = 0; i < row; ++i) offsets.push_back(offset + i * step);
    for (size_t axis = shape.empty() ? 0 : shape.size() - 1; axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) {
        break;
      }
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return offsets;
}

std::vector<int64_t> BroadcastPositions(const Shape& operand, const Shape& result) {
  const std::vector<int64_t> dense = DenseStrides(operand);
  std::vector<int64_t> strides(result.size(), 0);
  const size_t missing = result.size() - operand.size();
  for (size_t i = 0; i < operand.size(); ++i) {
    strides[missing + i] = operand[i] == 1 ? 0 : dense[i];
  }
  return StridedOffsets(result, strides);
}

std::vector<Shape> RandomBroadcastShapes(int count, int max_rank, RandomNumbers& random) {
  const auto rank = static_cast<size_t>(random.Between(0, max_rank));
  Shape full(rank);
  int64_t elements = 1;
  for (int64_t& dim : full) {
    dim = elements > 200 ? random.Between(1, 2) : random.Between(1, 5);
    elements *= dim;
  }
  if (rank > 0 && elements < 200 && random.Chance(40)) {
    full.back() = random.Between(1, 70);  // long enough for several vectors in the innermost run
  }
  std::vector<Shape> shapes;
  for (int i = 0; i < count; ++i) {
    Shape shape = full;
    const int style =
        static_cast<int>(random.Below(4));  // 0, 1: as it is; 2, 3: with ones; 3: leading dims dropped
    if (style >= 2) {
      for (int64_t& dim : shape) {
        dim = random.Chance(40) ? 1 : dim;
      }
    }
    if (style == 3) {
      shape.erase(shape.begin(), shape.begin() + random.Between(0, static_cast<int64_t>(rank)));
    }
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace portacl::testing
