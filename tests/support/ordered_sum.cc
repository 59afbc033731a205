// Sums in the promised order: see ordered_sum.h.
// SPDX-License-Identifier: Apache-2.0
#include "ordered_sum.h"

#include <algorithm>
#include <utility>

namespace portacl::testing {
namespace {

constexpr size_t kLanes = 16;
constexpr size_t kTermsPerLaneBlock = 4096;
constexpr size_t kTermsPerRowBlock = 256;

double SumOfNeighbours(std::vector<double> level) {
  while (level.size() > 1) {
    std::vector<double> next;
    for (size_t i = 0; i + 1 < level.size(); i += 2) {
      next.push_back(level[i] + level[i + 1]);
    }
    if (level.size() % 2 != 0) {
      next.push_back(level.back());
    }
    level = std::move(next);
  }
  return level.empty() ? 0.0 : level.front();
}

// Lane i takes lane i + 8, then i + 4, i + 2, i + 1.
double SumOfLanes(std::vector<double> sums) {
  while (sums.size() > 1) {
    const size_t half = sums.size() / 2;
    for (size_t i = 0; i < half; ++i) {
      sums[i] += sums[i + half];
    }
    sums.resize(half);
  }
  return sums.front();
}

double SumOfBlock(std::span<const float> terms, size_t lanes) {
  std::vector<double> sums(lanes, 0.0);
  for (size_t i = 0; i < terms.size(); ++i) {
    sums[i % lanes] += static_cast<double>(terms[i]);
  }
  return SumOfLanes(sums);
}

double SumOfOutput(std::span<const float> terms, bool in_lanes) {
  const size_t block = in_lanes ? kTermsPerLaneBlock : kTermsPerRowBlock;
  std::vector<double> blocks;
  for (size_t start = 0; start < terms.size(); start += block) {
    blocks.push_back(
        SumOfBlock(terms.subspan(start, std::min(block, terms.size() - start)), in_lanes ? kLanes : 1));
  }
  return SumOfNeighbours(blocks);
}

Shape WithLeadingOnes(Shape shape, size_t rank) {
  shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

}  // namespace

std::vector<int64_t> OutputPositions(const Shape& terms_shape, const Shape& output_shape) {
  return BroadcastPositions(output_shape, terms_shape);
}

std::vector<double> OrderedSums(const Shape& terms_shape, std::span<const float> terms,
                                const Shape& output_shape) {
  const auto outputs = static_cast<size_t>(NumElements(output_shape));
  const Shape output = WithLeadingOnes(output_shape, terms_shape.size());
  bool last_is_summed = false;
  for (size_t axis = 0; axis < terms_shape.size(); ++axis) {
    if (terms_shape[axis] > 1) {
      last_is_summed = output[axis] == 1;
    }
  }

  // The terms of each output lie together, in row-major order.
  const std::vector<int64_t> position = OutputPositions(terms_shape, output_shape);
  const size_t per_output = outputs == 0 ? 0 : terms.size() / outputs;
  std::vector<float> sorted(terms.size());
  std::vector<size_t> count(outputs, 0);
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto at = static_cast<size_t>(position[i]);
    sorted[at * per_output + count[at]++] = terms[i];
  }
  std::vector<double> sums;
  for (size_t at = 0; at < outputs; ++at) {
    sums.push_back(
        SumOfOutput(std::span<const float>(sorted).subspan(at * per_output, per_output), last_is_summed));
  }
  return sums;
}

}  // namespace portacl::testing
