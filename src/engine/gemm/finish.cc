// Finishes sums (see finish.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/finish.h"

#include <algorithm>

#include "engine/gemm/integer_result.h"

namespace portacl::engine::gemm_tile {
namespace {

// Columns that are finished at a time.
constexpr int64_t kFinished = 512;

class Finisher {
 public:
  Finisher(const GemmJob& job, const Tile& tile) : job_(job), gemm_(job.gemm), tile_(tile) {}

  // Scales, adds and stores the sums of a row's columns from `column` on, at most kFinished of them.
  void FinishColumns(float* sums, int64_t row, int64_t column, int64_t n) const {
    if (gemm_.integers != nullptr) {
      if (gemm_.depth == 0) std::fill_n(sums, n, 0.0f);
      return FinishIntegers(sums, row, column, n);
    }
    if (gemm_.alpha != 1.0f && gemm_.depth > 0) {
      for (int64_t j = 0; j < n; ++j) sums[j] *= gemm_.alpha;
    }
    const auto count = static_cast<size_t>(n);
    if (gemm_.adds && gemm_.added.column == 0) {
      float value;
      job_.load[2](tile_.added + row * gemm_.added.row, &value, 1);
      if (gemm_.beta != 1.0f) value *= gemm_.beta;
      for (int64_t j = 0; j < n; ++j) sums[j] = gemm_.depth > 0 ? value + sums[j] : value;
    } else if (gemm_.adds) {
      alignas(64) float values[kFinished];
      alignas(64) char elements[kFinished * sizeof(float)];
      const int32_t size = SizeOf(gemm_.added.dtype);
      const char* from = tile_.added + row * gemm_.added.row + column * gemm_.added.column;
      if (gemm_.added.column != size && n > 1) {
        job_.gather(from, gemm_.added.column, size, elements, n);
        from = elements;
      }
      job_.load[2](from, values, count);
      if (gemm_.beta != 1.0f) {
        for (int64_t j = 0; j < n; ++j) values[j] *= gemm_.beta;
      }
      for (int64_t j = 0; j < n; ++j) sums[j] = gemm_.depth > 0 ? values[j] + sums[j] : values[j];
    }
    if (!gemm_.adds && gemm_.depth == 0) std::fill_n(sums, n, 0.0f);
    char* const to = tile_.out + row * gemm_.out.row;
    if (gemm_.out_columns == nullptr) {
      StoreColumns(sums, to + column * gemm_.out.column, gemm_.out.column, n);
    } else {
      StoreAlongDims(sums, to, tile_.column + column, n);
    }
  }

 private:
  void FinishIntegers(const float* sums, int64_t row, int64_t column, int64_t n) const {
    const char* const added =
        gemm_.adds ? tile_.added + row * gemm_.added.row + column * gemm_.added.column : nullptr;
    const IntegerSums all{sums,
                          n,
                          tile_.row + row,
                          tile_.column + column,
                          job_.is_transposed,
                          {added, gemm_.added.column, gemm_.added.dtype}};
    const int32_t size = SizeOf(gemm_.out.dtype);
    char* const to = tile_.out + row * gemm_.out.row + column * gemm_.out.column;
    if (gemm_.out.column == size || n == 1)
      return ResultOfIntegers(*gemm_.integers, all, job_.kernels->isa, job_.store, to);
    alignas(64) char elements[kFinished * sizeof(float)];
    ResultOfIntegers(*gemm_.integers, all, job_.kernels->isa, job_.store, elements);
    job_.scatter(elements, to, gemm_.out.column, size, n);
  }

  void StoreColumns(const float* sums, char* to, int64_t step, int64_t n) const {
    const int32_t size = SizeOf(gemm_.out.dtype);
    const auto count = static_cast<size_t>(n);
    if (step == size || n == 1) return job_.store(sums, to, count, false);
    alignas(64) char elements[kFinished * sizeof(float)];
    job_.store(sums, elements, count, false);
    job_.scatter(elements, to, step, size, n);
  }

  void StoreAlongDims(const float* sums, char* to, int64_t column, int64_t n) const {
    const GemmColumns& columns = *gemm_.out_columns;
    constexpr int kLast = GemmColumns::kDims - 1;
    while (n > 0) {
      const int64_t along = column % columns.length[kLast];
      const int64_t some = std::min(n, columns.length[kLast] - along);
      char* first = to + along * columns.stride[kLast];
      int64_t rest = column / columns.length[kLast];
      for (int dim = kLast - 1; dim >= 0; --dim) {
        first += rest % columns.length[dim] * columns.stride[dim];
        rest /= columns.length[dim];
      }
      StoreColumns(sums, first, columns.stride[kLast], some);
      sums += some;
      column += some;
      n -= some;
    }
  }

  const GemmJob& job_;
  const Gemm& gemm_;
  const Tile& tile_;
};

}  // namespace

void Finish(const GemmJob& job, const Tile& tile, float* sums, int64_t sums_row) {
  const Gemm& gemm = job.gemm;
  const int64_t size = SizeOf(gemm.out.dtype);
  if (sums_row == tile.columns && gemm.out.column == size && gemm.out.row == tile.columns * size &&
      gemm.out_columns == nullptr && gemm.integers == nullptr && !gemm.adds && gemm.alpha == 1.0f &&
      gemm.depth > 0) {
    // All rows are one.
    return job.store(sums, tile.out, static_cast<size_t>(tile.rows * tile.columns), false);
  }
  const Finisher finisher(job, tile);
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t column = 0; column < tile.columns; column += kFinished) {
      finisher.FinishColumns(sums + row * sums_row + column, row, column,
                             std::min(kFinished, tile.columns - column));
    }
  }
}

void FinishElement(const GemmJob& job, const Tile& tile, float sum, int64_t row, int64_t column) {
  Finisher(job, tile).FinishColumns(&sum, row, column, 1);
}

}  // namespace portacl::engine::gemm_tile
