// Sums of outputs whose terms are one row apart: rows are added to a row of sums.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/reduction/reduction_run.h"
#include "engine/reduction/sum_tree.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

// float64 values for the sums of a stripe of columns, all levels together: 512 KiB in the thread's memory, or
// a quarter of that if there would be too few stripes for the threads. Wide rows are read faster than narrow
// ones.
constexpr int64_t kColumnSums = 65536;
constexpr int64_t kColumnSumsOfMany = 16384;
// Columns that are summed at once on the stack, if a thread has no memory.
constexpr int64_t kColumnsOnStack = 32;
static_assert((kColumnSums + kLanes * (kSumTreeLevels + 1)) * int64_t{sizeof(double)} <= kThreadMemoryBytes);

}  // namespace

void ReductionRun::RunRows() {
  if (RunRowsAcross()) return;
  const int levels = static_cast<int>(std::bit_width(static_cast<uint64_t>(plan_.chunk_blocks))) + 1;
  const auto columns_in = [&](int64_t sums) { return std::max<int64_t>(64, sums / (levels + 1) / 64 * 64); };
  int64_t stripes = 1;
  int64_t group = 1;
  int64_t groups = 1;
  const auto set_columns = [&](int64_t most) {
    stripes = (plan_.inner + most - 1) / most;
    group = stripes * plan_.chunks > 1 ? 1 : GroupFor(plan_.reduced * plan_.inner);
    groups = (plan_.outer + group - 1) / group;
  };
  set_columns(columns_in(kColumnSums));
  // Long rows are read faster, but threads must not be idle.
  if (job_.threads > 1 && groups * stripes * plan_.chunks < kBlocksPerThread * job_.threads)
    set_columns(columns_in(kColumnSumsOfMany));
  ForEachBlock(groups * stripes * plan_.chunks, job_.threads, [&](int64_t thread_block) {
    const int64_t chunk = thread_block % plan_.chunks;
    const int64_t stripe = thread_block / plan_.chunks % stripes;
    const int64_t first = thread_block / plan_.chunks / stripes * group;
    const int64_t column = StripeBegin(stripe, stripes);
    const int64_t columns = StripeBegin(stripe + 1, stripes) - column;
    const Stripe stripe_of_rows = {first, std::min(first + group, plan_.outer), chunk, column, columns};
    if (char* const memory = ThreadMemory(MemoryUse::kSums)) {
      SumStripe(stripe_of_rows, columns, reinterpret_cast<double*>(memory));
    } else {
      SumStripeOnStack(stripe_of_rows);
    }
  });
}

void ReductionRun::SumStripeOnStack(const Stripe& stripe) const {
  alignas(64) double sums[kColumnsOnStack * (kSumTreeLevels + 1)];
  SumStripe(stripe, kColumnsOnStack, sums);
}

void ReductionRun::SumStripe(const Stripe& stripe, int64_t at_once, double* sums) const {
  const int64_t row = stripe.chunk * plan_.chunk_blocks * kRowBlock;
  const int64_t rows = std::min(plan_.reduced - row, plan_.chunk_blocks * kRowBlock);
  const DefaultFloatEnvironment environment;
  FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
  // If the columns are the walk's rows, restricts the walk to the stripe.
  LoopRange loop_range(plan_.terms);
  const bool is_windowed = loop_range.columns == plan_.inner;
  for (int64_t outer = stripe.first; outer < stripe.end; ++outer) {
    loop_range.end = (outer * plan_.reduced + row + rows) * plan_.inner;
    for (int64_t done = 0; done < stripe.columns; done += at_once) {
      const int64_t n = std::min(at_once, stripe.columns - done);
      if (is_windowed) {
        loop_range.column = stripe.column + done;
        loop_range.columns = n;
      }
      if (!in_place_rows_) tiles.WalkRows(loop_range);
      SumRows(tiles, outer, row, rows, stripe.column + done, n, sums);
      const int64_t output = outer * plan_.inner + stripe.column + done;
      if (plan_.chunks == 1) {
        Store(output, sums, n);
      } else {
        std::copy_n(sums, n, &partials_[stripe.chunk * plan_.outputs() + output]);
      }
    }
  }
  ReportIsaThatRan(tiles.isa());
}

int64_t ReductionRun::StripeBegin(int64_t stripe, int64_t stripes) const {
  if (stripe == stripes) return plan_.inner;
  const int64_t begin = plan_.inner / stripes * stripe + std::min(stripe, plan_.inner % stripes);
  return begin / kLaneCount * kLaneCount;
}

void ReductionRun::SumRows(FormulaTiles& tiles, int64_t outer, int64_t row, int64_t rows, int64_t column,
                           int64_t columns, double* sums) const {
  SumTree tree(sums + columns, columns);
  for (int64_t r = 0; r < rows; r += kRowBlock) {
    std::fill_n(sums, columns, 0.0);
    const int64_t position = (outer * plan_.reduced + row + r) * plan_.inner + column;
    const int64_t block = std::min(rows - r, kRowBlock);
    if (in_place_rows_) {
      const Cursor cursor(plan_.terms, base_, position);
      RowsInPlace in_place;
      for (int k = 0; k < plan_.terms.operand_count; ++k) {
        in_place.from[k] = cursor.At(k);
        in_place.row_stride[k] = plan_.row_stride[k];
        in_place.column_stride[k] = plan_.column_stride[k];
      }
      AddRowsInPlace(tiles, in_place, block, columns, sums);
    } else {
      AddRowsInTiles(tiles, position, block, columns, sums);
    }
    tree.Add(sums);
  }
  tree.Finish(sums);
}

void ReductionRun::AddRowsInPlace(FormulaTiles& tiles, const RowsInPlace& in_place, int64_t rows,
                                  int64_t columns, double* sums) const {
  SumWork work = StartWork(SumWork::Order::kByRow);
  work.sums = sums;
  WorkOnRows(kernel_, in_place, rows, columns, work, [&](SumWork& some) { RunKernel(tiles, some); });
}

void ReductionRun::AddRowsInTiles(FormulaTiles& tiles, int64_t position, int64_t rows, int64_t columns,
                                  double* sums) const {
  // If a stripe has all columns, its rows are contiguous in the walk and a tile may hold several. Otherwise
  // there is a jump after each row.
  const int64_t together = columns == plan_.inner ? rows : 1;
  SumWork work = StartWork(SumWork::Order::kByRow);
  for (int64_t r = 0; r < rows; r += together) {
    Cursor cursor(plan_.terms, base_, position);
    int64_t at = 0;
    for (int64_t left = together * columns; left > 0;) {
      const int64_t n = std::min({left, tiles.LongestTile(cursor), int64_t{kTile}});
      tiles.Locate(cursor, position, n, work.in, work.step);
      for (int64_t used = 0; used < n;) {
        // The rest of a row, whole rows, or the beginning of one.
        const int64_t m = std::min(n - used, columns - at);
        work.n = static_cast<size_t>(m);
        work.rows = m == columns ? static_cast<size_t>((n - used) / columns) : 1;
        work.sums = sums + at;
        SumWork row_work = work;
        for (int k = 0; k < plan_.terms.operand_count; ++k) {
          const auto stride = static_cast<int64_t>(work.step[k]);
          row_work.in[k] = static_cast<const char*>(work.in[k]) + used * stride;
          row_work.row_stride[k] = columns * stride;
        }
        RunKernel(tiles, row_work);
        used += m * static_cast<int64_t>(work.rows);
        at = at + m == columns ? 0 : at + m;
      }
      left -= n;
      position += n;
      if (left > 0) cursor.Skip(n);
    }
    position += plan_.inner - columns;
  }
}

}  // namespace portacl::engine
