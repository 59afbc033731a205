// Matrix products in tiles of the output, which threads take one by one (see gemm.h): chooses the way and the tiles. Tiles do not depend on
// each other.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/gemm.h"

#include <algorithm>
#include <utility>

#include "base/float_environment.h"
#include "engine/gemm/gemm_tile.h"
#include "engine/gemm/integer_result.h"
#include "engine/gemm/quantised.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

using namespace gemm_tile;

// Thresholds in multiplications: below the first a second thread gains nothing. Above the second tiles take
// so long that having more of them than threads pays.
constexpr double kWorkOfThread = 1 << 18;
constexpr double kWorkOfLongTile = 1 << 24;
// Blocks of terms that a thread takes at a time in a product of two vectors.
constexpr int64_t kBlocksOfThread = 256;

// The fewest rows and columns of a product for which pairs of terms pay.
constexpr int64_t kRowsOfTiles = 4;
constexpr int64_t kColumnsOfTiles = 16;

// Transposes a product. The numbers stay the same, since multiplication is commutative.
void Transpose(Gemm& gemm) {
  std::swap(gemm.left, gemm.right);
  std::swap(gemm.rows, gemm.columns);
  for (GemmOperand* operand : {&gemm.left, &gemm.right, &gemm.out, &gemm.added})
    std::swap(operand->row, operand->column);
}

// Turns the innermost batch dim into further rows of the left operand, if the right one is the same for all.
void JoinBatchToRows(Gemm& gemm) {
  constexpr int kLast = kGemmBatchDims - 1;
  if (gemm.integers != nullptr && gemm.integers->factor.row != 0) return;  // factors begin again with each
  const auto continues = [&](const GemmOperand& operand) {
    return gemm.rows == 1 || gemm.batch[kLast] == 1 || operand.batch[kLast] == gemm.rows * operand.row;
  };
  for (int dim = 0; dim < kGemmBatchDims; ++dim) {
    if (gemm.right.batch[kLast] != 0 || !continues(gemm.left) || !continues(gemm.out) ||
        (gemm.adds && !continues(gemm.added))) {
      return;
    }
    if (gemm.rows == 1) {
      for (GemmOperand* operand : {&gemm.left, &gemm.out, &gemm.added}) operand->row = operand->batch[kLast];
    }
    gemm.rows *= gemm.batch[kLast];
    for (int i = kLast; i > 0; --i) {
      gemm.batch[i] = gemm.batch[i - 1];
      for (GemmOperand* operand : {&gemm.left, &gemm.right, &gemm.out, &gemm.added})
        operand->batch[i] = operand->batch[i - 1];
    }
    gemm.batch[0] = 1;
    for (GemmOperand* operand : {&gemm.left, &gemm.right, &gemm.out, &gemm.added}) operand->batch[0] = 0;
  }
}

double WorkOf(const Gemm& gemm) {
  double work = 1;
  for (int64_t length : gemm.batch) work *= static_cast<double>(length);
  return work * static_cast<double>(gemm.rows) * static_cast<double>(gemm.columns) *
         static_cast<double>(std::max<int64_t>(gemm.depth, 1)) *
         static_cast<double>(std::max<int64_t>(gemm.groups, 1));
}

// Chooses how a job computes its tiles.
GemmJob::Way WayOf(const Gemm& gemm) {
  using Way = GemmJob::Way;
  const int64_t blocks = gemm.groups * DividedUp(gemm.depth, kGemmDepth);
  const int32_t size = SizeOf(gemm.right.dtype);
  if (gemm.rows == 1 && gemm.columns == 1 && gemm.depth > kGemmDepth && gemm.integers == nullptr)
    return Way::kDot;
  if (gemm.rows == 1 && gemm.right.column == size) return Way::kRow;
  if (gemm.right.row == size && gemm.rows * blocks <= kMostRowsTogether) return Way::kPanels;
  return Way::kTiles;
}

// Tells whether both operands are float32 and are not packed, because packing costs as much as it gains.
bool IsSmall(const Gemm& gemm) {
  return gemm.rows > 1 && gemm.rows <= kSmallSide && gemm.columns <= kSmallSide && gemm.depth > 0 &&
         gemm.depth <= kSmallSide && gemm.groups == 1 && gemm.left.patches == nullptr &&
         gemm.left.dtype == ACL_FLOAT && gemm.right.dtype == ACL_FLOAT && gemm.right.column == kNumber &&
         gemm.right.row % kNumber == 0 && gemm.left.row % kNumber == 0 && gemm.left.column % kNumber == 0;
}

GemmJob::Way WayOfQuantisedRow(const Gemm& gemm) {
  using Way = GemmJob::Way;
  if (gemm.left.patches != nullptr) return Way::kTiles;
  const QuantisedOrder order = OrderOf(*gemm.right.quantised, gemm.depth);
  if (order == QuantisedOrder::kColumns) return Way::kRow;
  const bool fits = gemm.groups * DividedUp(gemm.depth, kGemmDepth) <= kMostRowsTogether;
  return order == QuantisedOrder::kTerms && fits ? Way::kPanels : Way::kTiles;
}

// Makes tiles as large as memory allows, but enough of them for the threads. Columns are cut first: each cut
// packs the left operand once more, which is mostly a copy of rows.
void ChooseTiles(GemmJob& job, int threads) {
  const Gemm& gemm = job.gemm;
  const int64_t width = job.kernels->columns;
  const double work = WorkOf(gemm);
  job.threads = static_cast<int>(std::clamp(work / kWorkOfThread, 1.0, static_cast<double>(threads)));
  int64_t batches = 1;
  for (int64_t length : gemm.batch) batches *= length;
  int64_t row_tiles = job.is_direct ? 1 : DividedUp(gemm.rows, kSumRows);
  const bool is_row = job.way == GemmJob::Way::kRow;
  const int64_t most_columns = is_row ? kMostRowColumns : job.is_direct ? kMostColumns : kSumColumns;
  int64_t column_tiles = DividedUp(gemm.columns, most_columns / width * width);
  if (job.threads > 1) {
    const double wanted = std::max(1.0, std::min(4.0, work / kWorkOfLongTile / job.threads));
    const int64_t tiles = static_cast<int64_t>(wanted) * job.threads;
    while (batches * row_tiles * column_tiles < tiles) {
      const int64_t rows = DividedUp(gemm.rows, row_tiles);
      const int64_t columns = DividedUp(gemm.columns, column_tiles);
      if (columns >= 2 * rows && columns > width) {
        ++column_tiles;
      } else if (rows > job.kernels->rows) {
        ++row_tiles;
      } else if (columns > width) {
        ++column_tiles;
      } else {
        break;
      }
    }
  }
  job.tile_rows = DividedUp(gemm.rows, row_tiles);
  job.tile_columns = RoundedUp(DividedUp(gemm.columns, column_tiles), width);
  job.row_tiles = DividedUp(gemm.rows, job.tile_rows);
  job.column_tiles = DividedUp(gemm.columns, job.tile_columns);
  const int64_t tiles = batches * job.row_tiles * job.column_tiles;
  job.is_long = work / static_cast<double>(tiles) > kWorkOfThread * 8;
}

// Computes one element whose blocks of terms are shared by threads. Their sums are added in order when all
// are there.
void RunSharedBlocks(const GemmJob& job, void* const* addresses, float* sums) {
  const auto at = [&](const GemmOperand& operand) {
    return static_cast<char*>(addresses[operand.argument]) + operand.offset;
  };
  const Gemm& gemm = job.gemm;
  const Tile tile{1, 1, at(gemm.left), at(gemm.right), gemm.adds ? at(gemm.added) : nullptr, at(gemm.out),
                  0, 0};
  ForEachBlock(DividedUp(job.shared_blocks, kBlocksOfThread), job.threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    const int64_t block = part * kBlocksOfThread;
    RunBlocks(job, tile, block, std::min(kBlocksOfThread, job.shared_blocks - block), sums + block);
  });
  const DefaultFloatEnvironment environment;
  FinishBlocks(job, tile, sums);
}

// Begins a job, with the rows and columns that its kernels see.
GemmJob BegunJob(const Gemm& gemm, Isa isa) {
  GemmJob job{};
  job.gemm = gemm;
  job.kernels = &FindGemmKernels(isa);
  Gemm& made = job.gemm;
  const bool is_packed = IsPacked(made.right);
  if (!is_packed) JoinBatchToRows(made);
  // Vectors run along the columns. The product is transposed if the output is dense along its rows, or has
  // too few columns for a vector.
  const bool is_narrow = made.columns < job.kernels->columns && made.rows > made.columns;
  const bool is_across = made.out.column != SizeOf(made.out.dtype) &&
                         made.out.row == SizeOf(made.out.dtype) &&
                         (made.rows >= job.kernels->columns || made.rows >= made.columns);
  job.is_transposed = !is_packed && (is_narrow || is_across);
  if (job.is_transposed) Transpose(made);
  return job;
}

GemmJob FinishedJob(GemmJob job, Isa isa, int threads, const TileKernels* tiles, const ByteKernels* bytes) {
  const Gemm& made = job.gemm;
  const bool is_packed = IsPacked(made.right);
  job.is_even_odd = IsEvenOdd(made);
  job.load[0] = FindLoad(isa, made.left.dtype, ACL_FLOAT);
  job.load[1] = FindLoad(isa, made.right.dtype, ACL_FLOAT);
  job.load[2] = FindLoad(isa, made.added.dtype, ACL_FLOAT);
  job.store = FindStore(isa, made.out.dtype);
  job.gather = FindGather(isa, GatherSource::kCache);
  job.scatter = FindScatter(isa, /*from_memory=*/false);
  job.is_direct = !is_packed && made.integers == nullptr && made.out.dtype == ACL_FLOAT && !made.adds &&
                  made.alpha == 1.0f && made.depth > 0 && (made.out.column == kNumber || made.columns == 1) &&
                  made.out.row % kNumber == 0;
  job.way = is_packed ? GemmJob::Way::kTiles : WayOf(made);
  if (!is_packed && !job.is_even_odd && job.kernels->multiply_small != nullptr && IsSmall(made))
    job.way = GemmJob::Way::kSmall;
  if (made.right.quantised != nullptr && made.rows == 1 && made.depth > 0) {
    job.quantised_kernels = &FindQuantisedRowKernels(isa);
    job.way = WayOfQuantisedRow(made);
  }
  const bool is_of_tiles = job.way == GemmJob::Way::kTiles || job.way == GemmJob::Way::kPanels;
  if (tiles != nullptr && is_of_tiles && made.left.dtype == ACL_BF16 && made.right.dtype == ACL_BF16 &&
      made.depth > 0 && made.rows >= kRowsOfTiles && made.columns >= kColumnsOfTiles &&
      job.kernels->columns % tiles->columns == 0 && job.kernels->columns <= kMostTileColumns) {
    job.tile_kernels = tiles;
    job.way = GemmJob::Way::kTiles;
  }
  if (bytes != nullptr && made.integers != nullptr && made.depth > 0 &&
      job.kernels->columns % bytes->columns == 0) {
    // The right operand of one row is not packed.
    const bool has_lines = job.way == GemmJob::Way::kPanels && made.rows == 1;
    if (has_lines && bytes->multiply_lines != nullptr) {
      job.byte_kernels = bytes;
    } else if (job.way == GemmJob::Way::kTiles || made.rows > 1) {
      job.byte_kernels = bytes;
      job.way = GemmJob::Way::kTiles;
    }
  }
  ChooseTiles(job, threads);
  if (job.way == GemmJob::Way::kDot && job.threads > 1 && made.groups == 1 && made.out.argument >= 0 &&
      std::all_of(std::begin(made.batch), std::end(made.batch), [](int64_t length) { return length == 1; })) {
    job.shared_blocks = DividedUp(made.depth, job.is_even_odd ? kEvenOddDepth : kGemmDepth);
  }
  return job;
}

}  // namespace

GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads) noexcept {
  const GemmJob begun = BegunJob(gemm, isa);
  if (gemm.integers == nullptr) return FinishedJob(begun, isa, threads, TileKernelsInUse(isa), nullptr);
  return FinishedJob(begun, isa, threads, nullptr, ByteKernelsInUse(isa, begun.gemm.rows));
}

GemmJob MakeGemmJob(const Gemm& gemm, Isa isa, int threads, const TileKernels* tiles,
                    const ByteKernels* bytes) noexcept {
  return FinishedJob(BegunJob(gemm, isa), isa, threads, tiles, bytes);
}

bool GemmJob::Touches(int operand) const noexcept {
  return (gemm.depth > 0 && (operand == gemm.left.argument || operand == gemm.right.argument)) ||
         operand == gemm.out.argument || (gemm.adds && operand == gemm.added.argument);
}

int64_t GemmJob::Elements() const noexcept { return MultiplicationsOf(gemm); }

int64_t MultiplicationsOf(const Gemm& gemm) noexcept {
  constexpr double kMultiplicationsOfElement = 32;
  const double elements = WorkOf(gemm) / kMultiplicationsOfElement;
  constexpr double kMost = double{1LL << 62};
  return static_cast<int64_t>(std::min(elements, kMost));
}

void GemmJob::Run(void* const* addresses, void* workspace) const noexcept {
  if (shared_blocks > 0) {
    RunSharedBlocks(*this, addresses, static_cast<float*>(workspace));
    return ReportIsaThatRan(kernels->isa);
  }
  ForEachBlock(
      Tiles(), threads, [&](int64_t tile) { RunTile(addresses, workspace, tile); },
      is_long ? BlockLength::kLong : BlockLength::kShort);
  ReportIsaThatRan(kernels->isa);
}

int64_t GemmJob::Tiles() const noexcept {
  int64_t tiles = row_tiles * column_tiles;
  for (int64_t length : gemm.batch) tiles *= length;
  return tiles;
}

void GemmJob::RunTile(void* const* addresses, void* workspace, int64_t block) const noexcept {
  const DefaultFloatEnvironment environment;
  const int64_t column = block % column_tiles * tile_columns;
  block /= column_tiles;
  const int64_t row = block % row_tiles * tile_rows;
  block /= row_tiles;
  int64_t index[kGemmBatchDims];
  for (int dim = kGemmBatchDims - 1; dim >= 0; --dim) {
    index[dim] = block % gemm.batch[dim];
    block /= gemm.batch[dim];
  }
  const auto at = [&](const GemmOperand& operand, int64_t rows, int64_t columns) {
    void* const base = operand.argument < 0 ? workspace : addresses[operand.argument];
    char* address = static_cast<char*>(base) + operand.offset + rows * operand.row + columns * operand.column;
    for (int dim = 0; dim < kGemmBatchDims; ++dim) address += index[dim] * operand.batch[dim];
    return address;
  };
  const Tile tile{std::min(tile_rows, gemm.rows - row),
                  std::min(tile_columns, gemm.columns - column),
                  gemm.depth > 0 ? at(gemm.left, row, 0) : nullptr,
                  gemm.depth > 0 ? at(gemm.right, 0, column) : nullptr,
                  gemm.adds ? at(gemm.added, row, column) : nullptr,
                  at(gemm.out, row, column),
                  row,
                  column};
  gemm_tile::Run(*this, tile);
}

}  // namespace portacl::engine
