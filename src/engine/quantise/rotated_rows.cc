// Quantises rows and matrices that are multiplied by matrices first (see quantise.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/quantise/coder.h"

namespace portacl::engine {
namespace {

using namespace quantise;

// Sets sums to the products of a vector of `terms` numbers and a matrix whose rows are `stride` numbers apart; the
// terms of a sum are added by ascending index.
void AddProducts(const float* vector, const float* matrix, int64_t terms, int64_t stride, int64_t n,
                 float* sums) {
  std::fill(sums, sums + n, 0.0f);
  for (int64_t term = 0; term < terms; ++term) {
    const float factor = vector[term];
    const float* const row = matrix + term * stride;
    for (int64_t i = 0; i < n; ++i) sums[i] += factor * row[i];
  }
}

}  // namespace

void QuantiseRotated::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto* const matrix = reinterpret_cast<const float*>(rotation.Address(context));
  QuantiseThrough(*this, quantiser[0], context,
                  [&](int64_t row, int64_t, int64_t column, int64_t n, float* to) {
                    float numbers[kMostWidth];
                    for (int64_t from = column; from < column + n;) {
                      const int64_t first = from / width * width;
                      const int64_t until = std::min(first + width, column + n);
                      float* const sums = to + (from - column);
                      source.Bring(row * columns + first, width, numbers);
                      AddProducts(numbers, matrix + (from - first), width, width, until - from, sums);
                      from = until;
                    }
                  });
}

int64_t QuantiseKronecker::Parts() const noexcept { return std::min<int64_t>(rows, 64); }

void QuantiseKronecker::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto* const before = reinterpret_cast<const float*>(left.Address(context));
  const auto* const behind = reinterpret_cast<const float*>(right.Address(context));
  auto* const all = reinterpret_cast<float*>(memory.Address(context));
  const Coder coder(*this, quantiser[0], context);
  const int64_t parts = Parts();
  ForEachBlock(parts, threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    float* const products = all + part * 2 * columns;
    float* const results = products + columns;
    for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
      char rounded[kMostWidth * sizeof(float)];
      float numbers[kMostWidth];
      for (int64_t line = 0; line < height; ++line) {
        float* const to = products + line * width;
        source.Bring(row * columns + line * width, width, numbers);
        AddProducts(numbers, behind, width, width, width, to);
        source.Round(to, width, rounded);
      }
      for (int64_t line = 0; line < height; ++line) {
        float* const to = results + line * width;
        AddProducts(before + line * height, products, height, width, width, to);
        source.Round(to, width, rounded);
      }
      coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t) { return results + column; });
    }
  });
}

}  // namespace portacl::engine
