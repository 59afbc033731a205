// Distances in tiles of the output (see distance.h). Vectors run along the columns, so that each element has
// its own chain. Both operands are packed as those of a matrix product.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/distance.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/distance.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/functions/functions-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Adds one more difference to a chain. NaN propagates with every norm.
template <DistanceNorm kNorm, class D, class V>
HWY_INLINE V WithDifference(D d, V chain, V difference, [[maybe_unused]] V power) {
  if constexpr (kNorm == DistanceNorm::kSquares) {
    return functions::Fma(d, difference, difference, chain);
  } else if constexpr (kNorm == DistanceNorm::kSum) {
    return hn::Add(chain, hn::Abs(difference));
  } else if constexpr (kNorm == DistanceNorm::kMost) {
    const V size = hn::Abs(difference);
    const V greater = hn::IfThenElse(hn::Gt(size, chain), size, chain);
    return hn::IfThenElse(hn::Eq(size, size), greater, size);
  } else if constexpr (kNorm == DistanceNorm::kCount) {
    const V counted = hn::IfThenElse(hn::Eq(difference, difference), hn::Set(d, 1.0f), difference);
    return hn::Add(chain, hn::IfThenZeroElse(hn::Eq(difference, hn::Zero(d)), counted));
  } else {
    return hn::Add(chain, functions::Pow(d, hn::Abs(difference), power));
  }
}

HWY_INLINE hn::Vec<hn::ScalableTag<float>> Start(const float* c, bool continues) {
  const hn::ScalableTag<float> d;
  return continues ? hn::LoadU(d, c) : hn::Zero(d);
}

// Adds up to four rows of a pair of vectors. Missing rows repeat an existing one. The code uses no arrays,
// since scalable vectors cannot be in one.
template <DistanceNorm kNorm>
HWY_INLINE void AddRows(const PackedDistances& work, int64_t row, int64_t rows, const float* b,
                        int64_t column) {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const V power = hn::Set(d, work.power);
  const int64_t row1 = HWY_MIN(1, rows - 1), row2 = HWY_MIN(2, rows - 1), row3 = rows - 1;
  const float* const a0 = work.a + row * kPackedRow;
  const float* const a1 = a0 + row1 * kPackedRow;
  const float* const a2 = a0 + row2 * kPackedRow;
  const float* const a3 = a0 + row3 * kPackedRow;
  float* const c0 = work.c + row * work.c_row + column;
  float* const c1 = c0 + row1 * work.c_row;
  float* const c2 = c0 + row2 * work.c_row;
  float* const c3 = c0 + row3 * work.c_row;
  V s00 = Start(c0, work.continues), s01 = Start(c0 + lanes, work.continues);
  V s10 = Start(c1, work.continues), s11 = Start(c1 + lanes, work.continues);
  V s20 = Start(c2, work.continues), s21 = Start(c2 + lanes, work.continues);
  V s30 = Start(c3, work.continues), s31 = Start(c3 + lanes, work.continues);
  for (int64_t k = 0; k < work.depth; ++k, b += work.width) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + lanes);
    const V x0 = hn::Set(d, a0[k]), x1 = hn::Set(d, a1[k]), x2 = hn::Set(d, a2[k]), x3 = hn::Set(d, a3[k]);
    s00 = WithDifference<kNorm>(d, s00, hn::Sub(x0, b0), power);
    s01 = WithDifference<kNorm>(d, s01, hn::Sub(x0, b1), power);
    s10 = WithDifference<kNorm>(d, s10, hn::Sub(x1, b0), power);
    s11 = WithDifference<kNorm>(d, s11, hn::Sub(x1, b1), power);
    s20 = WithDifference<kNorm>(d, s20, hn::Sub(x2, b0), power);
    s21 = WithDifference<kNorm>(d, s21, hn::Sub(x2, b1), power);
    s30 = WithDifference<kNorm>(d, s30, hn::Sub(x3, b0), power);
    s31 = WithDifference<kNorm>(d, s31, hn::Sub(x3, b1), power);
  }
  hn::StoreU(s00, d, c0);
  hn::StoreU(s01, d, c0 + lanes);
  hn::StoreU(s10, d, c1);
  hn::StoreU(s11, d, c1 + lanes);
  hn::StoreU(s20, d, c2);
  hn::StoreU(s21, d, c2 + lanes);
  hn::StoreU(s30, d, c3);
  hn::StoreU(s31, d, c3 + lanes);
}

// Processes one vector at a time: a power takes enough steps to keep the processor busy.
HWY_INLINE void AddPowers(const PackedDistances& work, int64_t row, const float* b, int64_t column) {
  const hn::ScalableTag<float> d;
  const auto power = hn::Set(d, work.power);
  const float* const a = work.a + row * kPackedRow;
  float* const c = work.c + row * work.c_row + column;
  auto sum = Start(c, work.continues);
  for (int64_t k = 0; k < work.depth; ++k, b += work.width) {
    sum = WithDifference<DistanceNorm::kPowers>(d, sum, hn::Sub(hn::Set(d, a[k]), hn::LoadU(d, b)), power);
  }
  hn::StoreU(sum, d, c);
}

template <DistanceNorm kNorm>
void AddDifferences(const PackedDistances& work) {
  constexpr bool kIsPower = kNorm == DistanceNorm::kPowers;
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
  const int64_t step = kIsPower ? lanes : 2 * lanes;
  const int64_t together = kIsPower ? 1 : 4;
  for (int64_t panel = 0; panel < work.panels; ++panel) {
    const float* const b = work.b + panel * work.width * work.depth;
    for (int64_t j = 0; j < work.width; j += step) {
      const int64_t column = panel * work.width + j;
      for (int64_t row = 0; row < work.rows; row += together) {
        if constexpr (kIsPower) {
          AddPowers(work, row, b + j, column);
        } else {
          AddRows<kNorm>(work, row, HWY_MIN(together, work.rows - row), b + j, column);
        }
      }
    }
  }
}

void Root(DistanceNorm norm, float power, float* sums, int64_t n) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (norm == DistanceNorm::kSquares) {
    for (int64_t i = 0; i < n; i += lanes) hn::StoreU(hn::Sqrt(hn::LoadU(d, sums + i)), d, sums + i);
  } else if (norm == DistanceNorm::kPowers) {
    const auto inverse = hn::Set(d, static_cast<float>(1.0 / static_cast<double>(power)));
    for (int64_t i = 0; i < n; i += lanes)
      hn::StoreU(functions::Pow(d, hn::LoadU(d, sums + i), inverse), d, sums + i);
  }
}

DistanceKernels KernelsHere(Isa isa) {
  return {isa,
          {AddDifferences<DistanceNorm::kCount>, AddDifferences<DistanceNorm::kSum>,
           AddDifferences<DistanceNorm::kSquares>, AddDifferences<DistanceNorm::kMost>,
           AddDifferences<DistanceNorm::kPowers>},
          Root};
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

// The size of a tile, whose sums and packed operands stay in the second-level cache. A thread without memory
// uses smaller tiles on the stack and packs a few terms at a time.
constexpr int64_t kTileRows = 192;
constexpr int64_t kTileColumns = kMostPanelColumns;
constexpr int64_t kFewRows = 4;
constexpr int64_t kFewTerms = 8;

// A second thread gains nothing below this many differences.
constexpr double kWorkOfThread = 1 << 17;

// The memory of a tile, in numbers.
struct TileMemory {
  float* left;
  float* right;
  float* sums;
  float* block;
  char* pack;
};
template <int64_t kRows, int64_t kTerms>
struct TileNumbers {
  static constexpr int64_t kRight = kTileColumns * (kTerms + 1);
  static constexpr int64_t kSums = kRows * kTileColumns;
  static constexpr int64_t kPack = std::max(kTileColumns * kTerms, kRows* kPackedRow) / 2;
  static constexpr int64_t kAll = kRows * kPackedRow + kRight + 2 * kSums + kPack;

  static TileMemory Of(float* numbers) {
    float* const right = numbers + kRows * kPackedRow;
    float* const sums = right + kRight;
    return {numbers, right, sums, sums + kSums, reinterpret_cast<char*>(sums + 2 * kSums)};
  }
};
using WholeTile = TileNumbers<kTileRows, kGemmDepth>;
using SmallTile = TileNumbers<kFewRows, kFewTerms>;
static_assert(WholeTile::kAll * int64_t{sizeof(float)} <= kGemmMemoryBytes);

struct Tile {
  int64_t row;  // the first one
  int64_t column;
  int64_t rows;
  int64_t columns;
  const char* left;
  const char* right;
  char* out;
};

// Writes distances of one row, `count` of them.
void StoreDistances(const DistanceJob& job, const float* sums, char* to, int64_t count) {
  const DistanceOperand& out = job.distances.out;
  const auto size = static_cast<int32_t>(out.dtype == ACL_FLOAT ? 4 : 2);
  if (out.column == size || count == 1) return job.store(sums, to, static_cast<size_t>(count), false);
  alignas(64) char elements[kTileColumns * sizeof(float)];
  job.store(sums, elements, static_cast<size_t>(count), false);
  job.scatter(elements, to, out.column, size, count);
}

// Writes the distances of a tile that lie above the diagonal, each row behind those of the rows before it.
void StoreTriangle(const DistanceJob& job, const Tile& tile, const float* sums, int64_t pitch) {
  const int64_t n = job.distances.columns;
  for (int64_t i = 0; i < tile.rows; ++i) {
    const int64_t row = tile.row + i;
    const int64_t first = std::max(tile.column, row + 1);
    const int64_t count = tile.column + tile.columns - first;
    if (count <= 0) continue;
    const int64_t index = row * (2 * n - row - 1) / 2 + first - row - 1;
    StoreDistances(job, sums + i * pitch + first - tile.column, tile.out + index * job.distances.out.column,
                   count);
  }
}

// Computes a tile, packing `most` terms at a time.
void RunTile(const DistanceJob& job, const Tile& tile, const TileMemory& memory, int64_t most) {
  const Distances& distances = job.distances;
  const bool is_most = distances.norm == DistanceNorm::kMost;
  const int64_t panels = (tile.columns + job.width - 1) / job.width;
  const int64_t pitch = panels * job.width;
  PackedDistances work{memory.left, memory.right, memory.sums, pitch,           tile.rows,
                       panels,      job.width,    int64_t{0},  distances.power, false};
  for (int64_t term = 0; term < distances.depth; term += work.depth) {
    const int64_t at = term % kGemmDepth;
    work.depth = std::min({distances.depth - term, kGemmDepth - at, most});
    PackRows(job.rows, tile.left + term * distances.left.column, tile.rows, work.depth, memory.pack,
             memory.left);
    PackPanels(job.columns, tile.right + term * distances.right.column, tile.columns, work.depth, job.width,
               memory.pack, memory.right);
    // A maximum has no blocks.
    work.c = term < kGemmDepth || is_most ? memory.sums : memory.block;
    work.continues = is_most ? term != 0 : at != 0;
    job.kernels.add[static_cast<size_t>(distances.norm)](work);
    const bool ends = at + work.depth == kGemmDepth || term + work.depth == distances.depth;
    if (work.c == memory.sums || !ends) continue;
    for (int64_t i = 0; i < tile.rows * pitch; ++i) memory.sums[i] += memory.block[i];
  }
  job.kernels.root(distances.norm, distances.power, memory.sums, tile.rows * pitch);
  if (distances.is_triangle) return StoreTriangle(job, tile, memory.sums, pitch);
  for (int64_t row = 0; row < tile.rows; ++row)
    StoreDistances(job, memory.sums + row * pitch, tile.out + row * distances.out.row, tile.columns);
}

PackSource SourceOf(const DistanceOperand& operand, const GemmKernels& kernels, Isa isa) {
  const bool is_float = operand.dtype == ACL_FLOAT;
  const auto element = static_cast<size_t>(is_float                       ? GemmElement::kF32
                                           : operand.dtype == ACL_FLOAT16 ? GemmElement::kF16
                                                                          : GemmElement::kBf16);
  return {operand.row,
          operand.column,
          is_float ? 4 : 2,
          FindLoad(isa, operand.dtype, ACL_FLOAT),
          kernels.pack_columns[element],
          kernels.transpose[element],
          FindGather(isa, GatherSource::kCache)};
}

double WorkOf(const Distances& distances) {
  double work = static_cast<double>(distances.rows) * static_cast<double>(distances.columns) *
                static_cast<double>(distances.depth);
  for (const int64_t length : distances.batch) work *= static_cast<double>(length);
  return distances.norm == DistanceNorm::kPowers ? work * 16 : work;
}

int64_t DividedUp(int64_t n, int64_t by) { return n / by + (n % by != 0 ? 1 : 0); }

}  // namespace

DistanceJob MakeDistanceJob(const Distances& distances, Isa isa, int threads) noexcept {
  static constexpr auto kKernels = PORTACL_ISA_TABLE(KernelsHere);
  const GemmKernels& packing = FindGemmKernels(isa);
  DistanceJob job{};
  job.distances = distances;
  Distances& made = job.distances;
  job.width = packing.columns;
  // Swaps the operands, if that lets vectors run along the longer one: distances are symmetric.
  if (!made.is_triangle && made.columns < job.width && made.rows > made.columns) {
    std::swap(made.left, made.right);
    std::swap(made.rows, made.columns);
    std::swap(made.out.row, made.out.column);
  }
  job.kernels = kKernels.For(isa)(isa);
  job.rows = SourceOf(made.left, packing, isa);
  job.columns = SourceOf(made.right, packing, isa);
  job.store = FindStore(isa, made.out.dtype);
  job.scatter = FindScatter(isa, /*from_memory=*/false);
  const double work = WorkOf(made);
  job.threads = static_cast<int>(std::clamp(work / kWorkOfThread, 1.0, static_cast<double>(threads)));
  int64_t batches = 1;
  for (const int64_t length : made.batch) batches *= length;
  job.tile_rows = std::min(made.rows, kTileRows);
  job.tile_columns = std::min(DividedUp(made.columns, job.width), kTileColumns / job.width) * job.width;
  const auto tiles = [&] {
    job.row_tiles = DividedUp(made.rows, job.tile_rows);
    job.column_tiles = DividedUp(made.columns, job.tile_columns);
    return batches * job.row_tiles * job.column_tiles;
  };
  while (job.threads > 1 && tiles() < 4 * int64_t{job.threads}) {
    if (job.tile_rows > 16) {
      job.tile_rows = DividedUp(job.tile_rows, 2);
    } else if (job.tile_columns > job.width) {
      job.tile_columns -= job.width;
    } else {
      break;
    }
  }
  job.is_long = work / static_cast<double>(tiles()) > kWorkOfThread;
  return job;
}

bool DistanceJob::Touches(int operand) const noexcept {
  return operand == distances.left.argument || operand == distances.right.argument ||
         operand == distances.out.argument;
}

// Returns the elements of an elementwise job that takes as long.
int64_t DistanceJob::Elements() const noexcept {
  constexpr double kDifferencesOfElement = 16;
  constexpr double kMost = double{1LL << 62};
  return static_cast<int64_t>(std::min(WorkOf(distances) / kDifferencesOfElement, kMost));
}

void DistanceJob::Run(void* const* addresses, void*) const noexcept {
  int64_t tiles = row_tiles * column_tiles;
  for (const int64_t length : distances.batch) tiles *= length;
  ForEachBlock(
      tiles, threads,
      [&](int64_t block) {
        const DefaultFloatEnvironment environment;
        const int64_t column = block % column_tiles * tile_columns;
        block /= column_tiles;
        const int64_t row = block % row_tiles * tile_rows;
        block /= row_tiles;
        const bool is_triangle = distances.is_triangle;
        if (is_triangle && column + tile_columns <= row + 1) return;
        int64_t index[kDistanceBatchDims];
        for (int dim = kDistanceBatchDims - 1; dim >= 0; --dim) {
          index[dim] = block % distances.batch[dim];
          block /= distances.batch[dim];
        }
        const auto at = [&](const DistanceOperand& operand, int64_t offset) {
          for (int dim = 0; dim < kDistanceBatchDims; ++dim) offset += index[dim] * operand.batch[dim];
          return static_cast<char*>(addresses[operand.argument]) + operand.offset + offset;
        };
        const DistanceOperand& out = distances.out;
        const int64_t first = is_triangle ? 0 : row * out.row + column * out.column;
        const Tile tile{row,
                        column,
                        std::min(tile_rows, distances.rows - row),
                        std::min(tile_columns, distances.columns - column),
                        at(distances.left, row * distances.left.row),
                        at(distances.right, column * distances.right.row),
                        at(out, first)};
        if (char* const memory = ThreadMemory(MemoryUse::kGemm))
          return RunTile(*this, tile, WholeTile::Of(reinterpret_cast<float*>(memory)), kGemmDepth);
        alignas(64) float numbers[SmallTile::kAll];
        for (int64_t skipped = 0; skipped < tile.rows; skipped += kFewRows) {
          const Tile part{row + skipped,
                          column,
                          std::min(kFewRows, tile.rows - skipped),
                          tile.columns,
                          tile.left + skipped * distances.left.row,
                          tile.right,
                          is_triangle ? tile.out : tile.out + skipped * out.row};
          RunTile(*this, part, SmallTile::Of(numbers), kFewTerms);
        }
      },
      is_long ? BlockLength::kLong : BlockLength::kShort);
  ReportIsaThatRan(kernels.isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
