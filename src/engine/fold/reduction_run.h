// The run of one reduction job: where its terms come from, and in which of four ways they are added.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/fold/reduction.h"
#include "engine/fold/sum_work.h"
#include "engine/map/tiles.h"
#include "engine/strided.h"

namespace portacl::engine {

// Levels of the tree over blocks: 2^40 blocks are more than memory or time can hold.
inline constexpr int kSumTreeLevels = 40;

// Pieces of work that each thread finds at least, where wide stripes of columns would leave fewer.
inline constexpr int64_t kPiecesPerThread = 4;

// Terms that are computed before they are added, where sums or rows are shorter than kLanes.
inline constexpr int64_t kTermsAtOnce = 2048;
// Rows whose repeated values are spread out at once.
inline constexpr int64_t kRepeatedRows = 16;

// Groups of narrow rows that are added at once.
inline constexpr int64_t kNarrowGroups = 64;

class ReductionRun {
 public:
  // With the addresses of the inputs at the first term, and of the output's storage.
  ReductionRun(const ReductionJob& job, char* const* base, void* output, void* workspace);

  void Run();

 private:
  static constexpr int64_t kLaneCount = kLanes;

  // How many outputs, or rows of outputs, of `terms` terms each make a piece of work.
  int64_t GroupFor(int64_t terms) const;

  SumWork StartWork(SumWork::Order order) const;

  // Rows of terms whose inputs are native, dense or one value within a row, and one stride apart from row to row.
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

  // ---- each output's terms lie side by side in the walk: lanes (sums_by_lane.cc) ----

  void RunLanes();

  // Sums `count` outputs of fewer than kLanes terms; calls done(i, sums, n) for n of them, from i on.
  template <class Done>
  void SumShort(int64_t first, int64_t count, const Done& done) const;

  // Sums `count` stretches of `length` terms each, the first at `position`; calls done(i, sums, n) for n of
  // them, from i on.
  template <class Done>
  void SumLanes(int64_t position, int64_t length, int64_t count, const Done& done) const;

  // The sum of `length` terms, the first at `position`.
  double SumStretch(int64_t position, int64_t length) const;

  // ---- inputs that lie across the walk's rows (sums_across.cc) ----

  // Whether the inputs, as the kernel takes them, lie dense across the walk's rows, or are repeated there.
  bool LieAcross() const;

  // Every `step`th column of the walk from the cursor's, `skip` later, as the rows of what is worked on.
  RowsInPlace ColumnsFrom(const Cursor& cursor, int64_t skip, int64_t step) const;

  // Where rows are whole blocks, term c of any of them goes to lane c mod kLanes of a block that no other row has part in.
  // So what lies side by side in memory, the same column of neighbouring rows, is added side by side, and nothing need be
  // transposed. Runs if that is possible and worth it.
  bool RunLanesAcross();

  // Sums `total` terms, the first at `position`, in stretches of `length` of which the last may be shorter; calls
  // done(i, sum) for each.
  template <class Done>
  void SumAcross(int64_t position, int64_t total, int64_t length, const Done& done) const;

  // The sums of the blocks [block, block + count), which are counted row by row. `lanes` takes kLanes * kRowsAcross sums.
  void SumBlocksAcross(FormulaTiles& tiles, int64_t block, int64_t count, double* lanes, double* sums) const;

  // The terms of a few columns are computed along the columns, as they lie in memory, and then added row by row. Runs if
  // that is possible.
  bool RunRowsAcross();

  // Columns [column, column + count) of an outer row, of chunks [first, end).
  struct ColumnsAcross {
    int64_t outer;
    int64_t column;
    int64_t count;
    int64_t first;
    int64_t end;
  };

  [[gnu::noinline]] void SumColumnsAcrossOnStack(const ColumnsAcross& columns) const;

  // The terms of `at_once` rows at a time are written.
  void SumColumnsAcross(const ColumnsAcross& columns, int64_t at_once, float* written) const;

  // The terms of `rows` rows of some columns, the first at `position`, column by column.
  void WriteColumns(FormulaTiles& tiles, int64_t position, int64_t columns, int64_t rows, float* written,
                    int64_t pitch) const;

  // Asks for what lies behind rows of n elements: the next rows that are worked on.
  void PrefetchBehind(const RowsInPlace& in_place, int64_t rows, int64_t n) const;

  // ---- each output's terms lie one row apart: rows (sums_by_row.cc) ----

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

  // `at_once` columns at a time; their sums, and those of the tree, lie in `sums`.
  void SumStripe(const Stripe& stripe, int64_t at_once, double* sums) const;

  // Stripes are nearly alike, and begin at whole cache lines of sums.
  int64_t StripeBegin(int64_t stripe, int64_t stripes) const;

  // Sums rows [row, row + rows) of columns [column, column + columns) into sums[0..columns); what follows
  // there holds the tree.
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

  // The blocks of an output, or outputs of one block, are added side by side.
  void RunNarrowRows();

  struct NarrowTerms {
    alignas(64) float terms[kTermsAtOnce + kLanes] = {};
    alignas(64) double sums[kNarrowGroups * kLaneCount];
    double levels[kSumTreeLevels * kLaneCount];
    double total[kLanes];
  };

  // Rows of outputs, `count` of them from `first` on, each of one block that fits the buffer.
  void SumNarrowOutputs(FormulaTiles& tiles, NarrowTerms& buffers, int64_t first, int64_t count) const;

  // `rows` rows of one output, the first at `position`, into buffers.total.
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
