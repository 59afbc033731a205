// Sums of inputs that are dense across the rows of the walk, without a transposition.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"
#include "engine/reduction/reduction_run.h"
#include "engine/reduction/sum_tree.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

// Padding after each column of the buffer into which a block's terms are written, so that the columns' distance
// is not a power of two.
constexpr int64_t kGapAcross = 16;
// The buffer's rows if it is on the stack, because the thread has no memory of its own (ThreadMemory).
constexpr int64_t kRowsAcrossOnStack = 48;

// Rows whose lanes are summed together if inputs are dense across them. Each column lies in another page,
// which is hardly worth visiting for a few elements. For the same reason tasks stay large.
constexpr int64_t kRowsAcross = 2048;
constexpr int64_t kFewestRowsAcross = 16;
constexpr int64_t kPiecesAcross = 2;
// The most blocks of these rows, if a row has several.
constexpr int64_t kBlocksAcross = 65536;
static_assert((kRowsAcross * kLanes + kBlocksAcross) * int64_t{sizeof(double)} <= kThreadMemoryBytes);

}  // namespace

bool ReductionRun::LieAcross() const {
  const LoopPlan& terms = plan_.terms;
  const int row = terms.rank - 1;
  if (row < 1) return false;
  bool any = false;
  for (int k = 0; k < terms.operand_count; ++k) {
    const OperandLoop& operand = terms.operand[k];
    const int64_t side = operand.stride[row - 1];
    if (!Takes(kernel_.elements, job_.formula.type[k]) || (side != 0 && side != operand.element_size))
      return false;
    any = any || TransposedRows::Fit(terms, operand);
  }
  return any;
}

ReductionRun::RowsInPlace ReductionRun::ColumnsFrom(const Cursor& cursor, int64_t skip, int64_t step) const {
  const LoopPlan& terms = plan_.terms;
  RowsInPlace columns;
  for (int k = 0; k < terms.operand_count; ++k) {
    const int64_t* const stride = terms.operand[k].stride;
    columns.from[k] = cursor.At(k) + skip * stride[terms.rank - 1];
    columns.row_stride[k] = step * stride[terms.rank - 1];
    columns.column_stride[k] = stride[terms.rank - 2];
  }
  return columns;
}

bool ReductionRun::RunLanesAcross() {
  if (!LieAcross() || plan_.reduced % kLaneBlock != 0 ||
      plan_.terms.extent[plan_.terms.rank - 1] % kLaneBlock != 0)
    return false;
  // The terms of one written sum: an output, or a chunk of one.
  const int64_t length = plan_.chunks > 1 ? plan_.chunk_blocks * kLaneBlock : plan_.reduced;
  const int64_t row_length = plan_.terms.extent[plan_.terms.rank - 1];
  const int64_t pieces = job_.threads > 1 ? kPiecesAcross * job_.threads : 1;
  const int64_t most = std::max<int64_t>(plan_.outputs() * plan_.chunks / pieces, 1);
  const int64_t group = std::clamp<int64_t>(kRowsAcross / std::max<int64_t>(length / row_length, 1), 1, most);
  const int64_t rows = std::min(group * length / row_length, plan_.terms.extent[plan_.terms.rank - 2]);
  if (rows < kFewestRowsAcross) return false;
  const int64_t groups = (plan_.chunks + group - 1) / group;
  if (plan_.chunks > 1) {
    ForEachBlock(plan_.outputs() * groups, job_.threads, [&](int64_t piece) {
      const int64_t output = piece / groups;
      const int64_t first = piece % groups * group;
      const int64_t begin = first * length;
      const int64_t end = first + group >= plan_.chunks ? plan_.reduced : begin + group * length;
      SumAcross(output * plan_.reduced + begin, end - begin, length,
                [&](int64_t i, double sum) { partials_[(first + i) * plan_.outputs() + output] = sum; });
    });
  } else {
    ForEachBlock((plan_.outputs() + group - 1) / group, job_.threads, [&](int64_t piece) {
      const int64_t first = piece * group;
      const int64_t count = std::min(group, plan_.outputs() - first);
      SumAcross(first * length, count * length, length,
                [&](int64_t i, double sum) { Store(first + i, &sum, 1); });
    });
  }
  return true;
}

template <class Done>
void ReductionRun::SumAcross(int64_t position, int64_t total, int64_t length, const Done& done) const {
  auto* const lanes = reinterpret_cast<double*>(ThreadMemory(MemoryUse::kSums));
  if (lanes == nullptr) {
    for (int64_t i = 0; i * length < total; ++i) {
      done(i, SumTile(position + i * length, std::min(length, total - i * length)));
    }
    return;
  }
  const DefaultFloatEnvironment environment;
  FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
  double levels[kSumTreeLevels];
  SumTree tree(levels, 1);
  double* const sums = lanes + kLaneCount * kRowsAcross;
  const int64_t in_row = plan_.terms.extent[plan_.terms.rank - 1] / kLaneBlock;
  const int64_t at_once = in_row < kBlocksAcross / kRowsAcross ? kRowsAcross * in_row : kBlocksAcross;
  const int64_t end = (position + total) / kLaneBlock;
  int64_t in_tile = 0;
  int64_t tile_part = 0;
  for (int64_t block = position / kLaneBlock; block < end;) {
    const int64_t n = std::min(end - block, at_once);
    SumBlocksAcross(tiles, block, n, lanes, sums);
    block += n;
    for (int64_t i = 0; i < n; ++i) {
      tree.Add(&sums[i]);
      if (++in_tile < length / kLaneBlock && (i + 1 < n || block < end)) continue;
      double sum;
      tree.Finish(&sum);
      done(tile_part++, sum);
      in_tile = 0;
    }
  }
  ReportIsaThatRan(tiles.isa());
}

void ReductionRun::SumBlocksAcross(FormulaTiles& tiles, int64_t block, int64_t count, double* lanes,
                                   double* sums) const {
  const LoopPlan& terms = plan_.terms;
  const int row = terms.rank - 1;
  const int64_t in_row = terms.extent[row] / kLaneBlock;
  for (int64_t part = 0; part < in_row; ++part) {
    // Returns the first row whose block number `part` is not before `from`.
    const auto row_from = [&](int64_t from) { return (from - part + in_row - 1) / in_row; };
    const int64_t end = row_from(block + count);
    for (int64_t first = row_from(block); first < end;) {
      const Cursor cursor(terms, base_, (first * in_row + part) * kLaneBlock);
      const int64_t rows = std::min({end - first, cursor.left_rows(), kRowsAcross});
      std::fill_n(lanes, kLaneCount * rows, 0.0);
      for (int64_t lane = 0; lane < kLaneCount; ++lane) {
        const RowsInPlace columns = ColumnsFrom(cursor, lane, kLaneCount);
        AddRowsInPlace(tiles, columns, kLaneBlock / kLaneCount, rows, lanes + lane * rows);
      }
      for (int64_t width = kLaneCount / 2; width > 0; width /= 2) {
        for (int64_t i = 0; i < width * rows; ++i) lanes[i] += lanes[i + width * rows];
      }
      for (int64_t i = 0; i < rows; ++i) sums[(first + i) * in_row + part - block] = lanes[i];
      first += rows;
    }
  }
}

bool ReductionRun::RunRowsAcross() {
  const LoopPlan& terms = plan_.terms;
  if (!LieAcross() || terms.extent[terms.rank - 1] != plan_.inner) return false;
  const int64_t stripes = (plan_.inner + kLaneCount - 1) / kLaneCount;
  const int64_t wanted = job_.threads > 1 ? kPiecesPerThread * job_.threads : 1;
  const int64_t group = std::clamp<int64_t>(plan_.outer * stripes * plan_.chunks / wanted, 1, plan_.chunks);
  const int64_t groups = (plan_.chunks + group - 1) / group;
  ForEachBlock(plan_.outer * stripes * groups, job_.threads, [&](int64_t piece) {
    const int64_t column = piece / groups % stripes * kLaneCount;
    const int64_t first = piece % groups * group;
    const ColumnsAcross columns = {piece / groups / stripes, column,
                                   std::min(plan_.inner - column, kLaneCount), first,
                                   std::min(plan_.chunks, first + group)};
    if (char* const memory = ThreadMemory(MemoryUse::kSums)) {
      SumColumnsAcross(columns, kRowBlock, reinterpret_cast<float*>(memory));
    } else {
      SumColumnsAcrossOnStack(columns);
    }
  });
  return true;
}

void ReductionRun::SumColumnsAcrossOnStack(const ColumnsAcross& columns) const {
  alignas(64) float written[kLanes * (kRowsAcrossOnStack + kGapAcross)];
  SumColumnsAcross(columns, kRowsAcrossOnStack, written);
}

void ReductionRun::SumColumnsAcross(const ColumnsAcross& columns, int64_t at_once, float* written) const {
  const DefaultFloatEnvironment environment;
  FormulaTiles tiles(job_.formula, plan_.terms, base_, kernel_, ElementType::kF32);
  // The distance of written columns: whole lines, but not a power of two.
  const int64_t pitch = at_once + kGapAcross;
  // Unused sums take terms, too.
  std::fill(written + columns.count * pitch, written + kLaneCount * pitch, 0.0f);
  double sums[kLanes];
  double levels[kSumTreeLevels * kLanes];
  SumTree tree(levels, columns.count);
  const int64_t output = columns.outer * plan_.inner + columns.column;
  const int64_t rows_of_chunk = plan_.chunk_blocks * kRowBlock;
  const int64_t end = std::min(plan_.reduced, columns.end * rows_of_chunk);
  for (int64_t row = columns.first * rows_of_chunk; row < end;) {
    const int64_t end_of_block = std::min(end, row + kRowBlock);
    std::fill_n(sums, kLaneCount, 0.0);
    const int64_t chunk = row / rows_of_chunk;
    while (row < end_of_block) {
      const int64_t rows = std::min(end_of_block - row, at_once);
      WriteColumns(tiles, (columns.outer * plan_.reduced + row) * plan_.inner + columns.column, columns.count,
                   rows, written, pitch);
      job_.terms.across(written, static_cast<size_t>(pitch), static_cast<size_t>(rows), sums);
      row += rows;
    }
    tree.Add(sums);
    if (row < end && row % rows_of_chunk != 0) continue;
    tree.Finish(sums);
    if (plan_.chunks == 1) {
      Store(output, sums, columns.count);
    } else {
      std::copy_n(sums, columns.count, &partials_[chunk * plan_.outputs() + output]);
    }
  }
  ReportIsaThatRan(tiles.isa());
}

void ReductionRun::WriteColumns(FormulaTiles& tiles, int64_t position, int64_t columns, int64_t rows,
                                float* written, int64_t pitch) const {
  static_assert(kLaneCount <= kRepeatedRows, "all columns are one piece of work");
  const KernelType kernel = job_.formula.KernelFor(ElementType::kF32).type;
  VectorWork work;
  work.step[job_.formula.input_count] = sizeof(float);
  work.row_stride[job_.formula.input_count] = pitch * int64_t{sizeof(float)};
  work.stream = false;
  for (int64_t done = 0; done < rows;) {
    const Cursor cursor(plan_.terms, base_, position + done * plan_.inner);
    const int64_t n = std::min(rows - done, cursor.left_rows());
    const RowsInPlace in_place = ColumnsFrom(cursor, 0, 1);
    if (job_.from_memory) PrefetchBehind(in_place, columns, n);
    work.out = written + done;
    WorkOnRows(kernel, in_place, columns, n, work, [&](const VectorWork& some) {
      tiles.SetIsa(job_.formula.function(kernel, job_.formula.parameters, some));
    });
    done += n;
  }
}

void ReductionRun::PrefetchBehind(const RowsInPlace& in_place, int64_t rows, int64_t n) const {
  asm volatile(
      "");  // gcc takes a function that only prefetches for one without effects, and leaves calls out
  for (int64_t r = 0; r < rows; ++r) {
    for (int k = 0; k < plan_.terms.operand_count; ++k) {
      const int64_t bytes = n * in_place.column_stride[k];
      const char* const behind = in_place.from[k] + r * in_place.row_stride[k] + bytes;
      for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(behind + i);
    }
  }
}

}  // namespace portacl::engine
