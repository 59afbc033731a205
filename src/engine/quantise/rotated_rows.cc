// Quantises rows and matrices that are multiplied by matrices first (see quantise.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

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

// Cuts blocks of numbers at `part` of their greatest magnitude. NaN stays.
void LimitBlocks(float part, int64_t block, int64_t n, float* x) {
  for (int64_t first = 0; first < n; first += block) {
    const int64_t end = std::min(first + block, n);
    float greatest = 0;
    for (int64_t i = first; i < end; ++i) greatest = std::max(greatest, std::fabs(x[i]));
    const float limit = part * greatest;
    for (int64_t i = first; i < end; ++i) {
      if (x[i] > limit) x[i] = limit;
      if (x[i] < -limit) x[i] = -limit;
    }
  }
}

}  // namespace

void QuantiseRotated::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto* const matrices = reinterpret_cast<const float*>(rotation.Address(context));
  const auto bring = [&](int64_t row, int64_t, int64_t column, int64_t n, float* products) {
    float numbers[kMostWidth];
    for (int64_t from = column; from < column + n;) {
      const int64_t first = from / width * width;
      const int64_t until = std::min(first + width, column + n);
      const float* const matrix = matrices + (has_many ? first * width : 0);
      source.Bring(row * columns + first, width, numbers);
      AddProducts(numbers, matrix + (from - first), width, width, until - from, products + (from - column));
      from = until;
    }
  };
  if (!to.is_there) return QuantiseThrough(*this, quantiser[0], context, bring);
  auto* const results = reinterpret_cast<float*>(to.buffer.Address(context));
  const View limits(limit, isa, context);
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t end) {
    const float part = limits.is_there() ? limits.At(0) : 0;
    for (int64_t row = from; row < end; ++row) {
      float* const products = results + row * columns;
      bring(row, 0, 0, columns, products);
      if (part > 0 && part < 1) LimitBlocks(part, kLimited, columns, products);
    }
  });
}

int64_t QuantiseKronecker::Parts() const noexcept { return std::min<int64_t>(rows, 64); }

void QuantiseKronecker::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto* const before = reinterpret_cast<const float*>(left.Address(context));
  const auto* const behind = has_right ? reinterpret_cast<const float*>(right.Address(context)) : nullptr;
  auto* const all = reinterpret_cast<float*>(memory.Address(context));
  auto* const written = to.is_there ? reinterpret_cast<float*>(to.buffer.Address(context)) : nullptr;
  const Coder coder(*this, quantiser[0], context);
  const int64_t parts = Parts();
  ForEachBlock(parts, threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    float* const products = all + part * 2 * columns;
    float* const memory_of_results = products + columns;
    for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
      char rounded[kMostWidth * sizeof(float)];
      float numbers[kMostWidth];
      for (int64_t line = 0; line < height; ++line) {
        float* const product = products + line * width;
        source.Bring(row * columns + line * width, width, has_right ? numbers : product);
        if (!has_right) continue;
        AddProducts(numbers, behind, width, width, width, product);
        source.Round(product, width, rounded);
      }
      float* const results = written == nullptr ? memory_of_results : written + row * columns;
      for (int64_t line = 0; line < height; ++line) {
        float* const product = results + line * width;
        AddProducts(before + line * height, products, height, width, width, product);
        source.Round(product, width, rounded);
      }
      coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t) { return results + column; });
    }
  });
}

}  // namespace portacl::engine
