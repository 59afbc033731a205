// Runs one sum job: finds its terms, and adds them in one of four ways.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/map/sum_work.h"
#include "engine/map/tiles.h"
#include "engine/reduction/reduction.h"
#include "engine/strided.h"

namespace portacl::engine {

// Levels of the tree over blocks. 2^40 blocks are more than memory or time can hold.
inline constexpr int kSumTreeLevels = 40;

// The fewest tasks per thread. Wide stripes of columns would leave fewer.
inline constexpr int64_t kBlocksPerThread = 4;

// Terms that are computed before they are added, if sums or rows are shorter than kLanes.
inline constexpr int64_t kTermsAtOnce = 2048;
// Rows whose repeated values are written out at once.
inline constexpr int64_t kRepeatedRows = 16;

// Groups of narrow rows that are added at once.
inline constexpr int64_t kNarrowGroups = 64;

class ReductionRun {
 public:
  // `base` holds the addresses of the inputs at the first term, `output` is the output's storage.
  ReductionRun(const ReductionJob& job, char* const* base, void* output, void* workspace);

  void Run();

 private:
  static constexpr int64_t kLaneCount = kLanes;

  // Returns how many outputs, or rows of outputs, of `terms` terms each form a task.
  int64_t GroupFor(int64_t terms) const;

  SumWork StartWork(SumWork::Order order) const;

  // Rows of terms whose inputs are native, and dense or one value within a row, at equal distances from row
  // to row.
  struct RowsInPlace {
    const char* from[kMaxInputs];
    int64_t row_stride[kMaxInputs];
    int64_t column_stride[kMaxInputs];
  };

  void RunKernel(FormulaTiles& tiles, SumWork& work) const {
    tiles.SetIsa(job_.formula.sums(kernel_, job_.formula.parameters, work));
  }

  // Writes the next n terms to `out`.
  static void ComputeTerms(FormulaTiles& tiles, Cursor& cursor, int64_t position, int64_t n, float* out);

  // ---- the terms of an output are contiguous in the walk: lanes (sums_by_lane.cc) ----

  void RunLanes();

  // Sums `count` outputs of fewer than kLanes terms. Calls done(i, sums, n) for groups of n outputs from i
  // on.
  template <class Done>
  void SumShort(int64_t first, int64_t count, const Done& done) const;

  // Computes `count` sums of `length` contiguous terms each, the first at `position`. Calls done(i, sums, n)
  // for groups of n sums from i on.
  template <class Done>
  void SumLanes(int64_t position, int64_t length, int64_t count, const Done& done) const;

  // Returns the sum of `length` terms, the first at `position`.
  double SumTile(int64_t position, int64_t length) const;

  // ---- inputs that are dense across the walk's rows (sums_across.cc) ----

  // Tells whether the kernel reads all inputs directly, and they are dense or repeated across the walk's rows.
  bool LieAcross() const;

  // Returns rows for the kernel that are columns of the walk: every `step`th, from `skip` columns after the
  // cursor on.
  RowsInPlace ColumnsFrom(const Cursor& cursor, int64_t skip, int64_t step) const;

  // Sums rows that are whole blocks. Term c of every row goes to lane c mod kLanes of its own block.
  // Therefore elements that are adjacent in memory, one column of neighbouring rows, can be added as vectors
  // without a transposition. Returns whether it was possible and worth it.
  bool RunLanesAcross();

  // Sums `total` terms, the first at `position`, in groups of `length`; the last may be shorter. Calls
  // done(i, sum) for each group.
  template <class Done>
  void SumAcross(int64_t position, int64_t total, int64_t length, const Done& done) const;

  // Computes the sums of blocks [block, block + count), numbered row by row. `lanes` has room for kLanes *
  // kRowsAcross sums.
  void SumBlocksAcross(FormulaTiles& tiles, int64_t block, int64_t count, double* lanes, double* sums) const;

  // Computes the terms of a few columns along the columns, in memory order, and then adds them row by row.
  // Returns whether that was possible.
  bool RunRowsAcross();

  // Columns [column, column + count) of an outer row, and the chunks [first, end).
  struct ColumnsAcross {
    int64_t outer;
    int64_t column;
    int64_t count;
    int64_t first;
    int64_t end;
  };

  [[gnu::noinline]] void SumColumnsAcrossOnStack(const ColumnsAcross& columns) const;

  // Writes the terms of `at_once` rows at a time to `written`.
  void SumColumnsAcross(const ColumnsAcross& columns, int64_t at_once, float* written) const;

  // Writes the terms of `rows` rows of some columns, the first at `position`, column by column.
  void WriteColumns(FormulaTiles& tiles, int64_t position, int64_t columns, int64_t rows, float* written,
                    int64_t pitch) const;

  // Prefetches the memory after rows of n elements, which are the next rows to add.
  void PrefetchBehind(const RowsInPlace& in_place, int64_t rows, int64_t n) const;

  // ---- the terms of an output are one row apart: rows (sums_by_row.cc) ----

  void RunRows();

  // Columns [column, column + columns) of a chunk of the outer rows [first, end).
  struct Stripe {
    int64_t first;
    int64_t end;
    int64_t chunk;
    int64_t column;
    int64_t columns;
  };

  [[gnu::noinline]] void SumStripeOnStack(const Stripe& stripe) const;

  // Sums `at_once` columns at a time; `sums` holds their sums and those of the tree.
  void SumStripe(const Stripe& stripe, int64_t at_once, double* sums) const;

  // Returns the first column of a stripe. Stripes are nearly equal and begin with whole cache lines of sums.
  int64_t StripeBegin(int64_t stripe, int64_t stripes) const;

  // Sums rows [row, row + rows) of columns [column, column + columns) into sums[0..columns). The memory
  // after these holds the tree.
  void SumRows(FormulaTiles& tiles, int64_t outer, int64_t row, int64_t rows, int64_t column, int64_t columns,
               double* sums) const;

  // Calls run(work) for `rows` rows of `columns` terms, as many at a time as one kernel call can take.
  template <class Work, class Run>
  void WorkOnRows(KernelType kernel, const RowsInPlace& in_place, int64_t rows, int64_t columns, Work work,
                  const Run& run) const {
    work.n = static_cast<size_t>(columns);
    alignas(64) unsigned char repeated[kMaxInputs][kRepeatedRows][kRepeated * sizeof(float)];
    for (int64_t r = 0; r < rows;) {
      int64_t n = rows - r;
      for (int k = 0; k < plan_.terms.operand_count; ++k) {
        const int64_t row_stride = in_place.row_stride[k];
        const char* const source = in_place.from[k] + r * row_stride;
        work.in[k] = source;
        work.step[k] = static_cast<size_t>(in_place.column_stride[k]);
        work.row_stride[k] = row_stride;
        if (work.step[k] != 0) continue;
        // One value per row, or one for all.
        work.in[k] = repeated[k];
        if (row_stride != 0) {
          n = std::min(n, kRepeatedRows);
          work.row_stride[k] = sizeof repeated[k][0];
        }
        for (int64_t i = 0; i < (row_stride != 0 ? n : 1); ++i)
          RepeatElement(job_.formula, kernel, k, source + i * row_stride, repeated[k][i]);
      }
      work.rows = static_cast<size_t>(n);
      run(work);
      r += n;
    }
  }

  void AddRowsInPlace(FormulaTiles& tiles, const RowsInPlace& in_place, int64_t rows, int64_t columns,
                      double* sums) const;

  void AddRowsInTiles(FormulaTiles& tiles, int64_t position, int64_t rows, int64_t columns,
                      double* sums) const;

  // ---- rows shorter than kLanes (narrow_rows.cc) ----

  // Adds the blocks of an output, or several outputs of one block, together.
  void RunNarrowRows();

  struct NarrowTerms {
    alignas(64) float terms[kTermsAtOnce + kLanes] = {};
    alignas(64) double sums[kNarrowGroups * kLaneCount];
    double levels[kSumTreeLevels * kLaneCount];
    double total[kLanes];
  };

  // Sums `count` rows of outputs from `first` on; each is one block that fits the buffer.
  void SumNarrowOutputs(FormulaTiles& tiles, NarrowTerms& buffers, int64_t first, int64_t count) const;

  // Sums `rows` rows of one output, the first at `position`, into buffers.total.
  void SumNarrowBlocks(FormulaTiles& tiles, NarrowTerms& buffers, int64_t position, int64_t rows) const;

  void AddNarrowRows(NarrowTerms& buffers, int64_t stride, int64_t groups, int64_t rows, bool clear) const;

  // ---- outputs ----

  void CombineChunks() const;

  void StoreZeros() const;

  // Multiplies, rounds and writes the sums of outputs [first, first + count).
  void Store(int64_t first, const double* sums, int64_t count) const;

  const ReductionJob& job_;
  const ReductionPlan& plan_;
  const KernelType kernel_;  // of sums
  bool in_place_rows_;       // within a row of columns every input is dense and native, or one value
  double* partials_;
  char* base_[kMaxInputs];
  char* output_;
};

}  // namespace portacl::engine
