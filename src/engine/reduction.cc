// Runs reduction jobs (see reduction.h and, for the order of additions, plan/reduction_plan.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/reduction.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DD = hn::ScalableTag<double>;
using DF = hn::Rebind<float, DD>;

void AddToRow(double* sums, const float* terms, size_t n) {
  const DD dd;
  const DF df;
  const size_t lanes = hn::Lanes(dd);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Add(hn::LoadU(dd, sums + i), hn::PromoteTo(dd, hn::LoadU(df, terms + i))), dd, sums + i);
  }
  for (; i < n; ++i) sums[i] += static_cast<double>(terms[i]);
}

void AddToLanes(double* sums, const float* terms, size_t n) {
  constexpr size_t kLanes = 16;
  const DD dd;
  const DF df;
  const size_t lanes = hn::Lanes(dd);
  size_t i = 0;
#if HWY_TARGET == HWY_AVX3
  // Two registers hold the sixteen sums.
  if (n >= kLanes) {
    auto low = hn::LoadU(dd, sums);
    auto high = hn::LoadU(dd, sums + lanes);
    for (; i + kLanes <= n; i += kLanes) {
      low = hn::Add(low, hn::PromoteTo(dd, hn::LoadU(df, terms + i)));
      high = hn::Add(high, hn::PromoteTo(dd, hn::LoadU(df, terms + i + lanes)));
    }
    hn::StoreU(low, dd, sums);
    hn::StoreU(high, dd, sums + lanes);
  }
#elif HWY_TARGET == HWY_AVX2
  if (n >= kLanes) {
    auto s0 = hn::LoadU(dd, sums);
    auto s1 = hn::LoadU(dd, sums + lanes);
    auto s2 = hn::LoadU(dd, sums + 2 * lanes);
    auto s3 = hn::LoadU(dd, sums + 3 * lanes);
    for (; i + kLanes <= n; i += kLanes) {
      s0 = hn::Add(s0, hn::PromoteTo(dd, hn::LoadU(df, terms + i)));
      s1 = hn::Add(s1, hn::PromoteTo(dd, hn::LoadU(df, terms + i + lanes)));
      s2 = hn::Add(s2, hn::PromoteTo(dd, hn::LoadU(df, terms + i + 2 * lanes)));
      s3 = hn::Add(s3, hn::PromoteTo(dd, hn::LoadU(df, terms + i + 3 * lanes)));
    }
    hn::StoreU(s0, dd, sums);
    hn::StoreU(s1, dd, sums + lanes);
    hn::StoreU(s2, dd, sums + 2 * lanes);
    hn::StoreU(s3, dd, sums + 3 * lanes);
  }
#else
  if (lanes <= kLanes) {
    for (; i + kLanes <= n; i += kLanes) {
      for (size_t lane = 0; lane < kLanes; lane += lanes) {
        hn::StoreU(hn::Add(hn::LoadU(dd, sums + lane), hn::PromoteTo(dd, hn::LoadU(df, terms + i + lane))),
                   dd, sums + lane);
      }
    }
  }
#endif
  for (; i < n; ++i) sums[i % kLanes] += static_cast<double>(terms[i]);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "acl/float_environment.h"
#include "engine/dispatch.h"
#include "engine/isa.h"
#include "engine/parallel.h"
#include "engine/tiles.h"

namespace portacl::engine {
namespace {

constexpr auto kAddToLanes = PORTACL_ISA_TABLE(AddToLanes);
constexpr auto kAddToRow = PORTACL_ISA_TABLE(AddToRow);

constexpr int kLanes = 16;

// The widest output element: complex128.
constexpr int64_t kMaxElement = 16;

// Terms that one piece of work covers, when outputs are short.
constexpr int64_t kTermsPerPiece = 16384;

// Levels of the tree over blocks: 2^40 blocks are more than memory or time can hold.
constexpr int kLevels = 40;

// float64 values on the stack for the sums of a stretch of columns, all levels together.
constexpr int64_t kColumnSums = 8192;

// Rows shorter than this are added without a call.
constexpr int64_t kShortRow = 16;

// ---- Rounding of sums --------------------------------------------------------------------------

// Rounds to nearest even, once, to a binary format with kExponentBits and kFractionBits, 16 bits in all.
template <int kExponentBits, int kFractionBits>
uint16_t RoundTo16(double value) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr uint64_t kInfinity = ((uint64_t{1} << kExponentBits) - 1) << kFractionBits;
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFF;
  if (magnitude > 0x7FF0000000000000)
    return static_cast<uint16_t>(sign | kInfinity | uint64_t{1} << (kFractionBits - 1));
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent > kBias) return static_cast<uint16_t>(sign | kInfinity);
  // Below the smallest normal number more bits are dropped; below half of the smallest subnormal all of them.
  const int below = std::max(0, 1 - kBias - exponent);
  if (below > kFractionBits + 1) return sign;
  const uint64_t significand = (magnitude & 0xFFFFFFFFFFFFF) | uint64_t{1} << 52;
  const int dropped = 52 - kFractionBits + below;
  uint64_t kept = significand >> dropped;
  const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
  const uint64_t half = uint64_t{1} << (dropped - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The hidden bit, and a carry, add to the exponent field; so does rounding up to infinity.
  const uint64_t field = below > 0 ? 0 : static_cast<uint64_t>(exponent + kBias - 1) << kFractionBits;
  return static_cast<uint16_t>(sign | (field + kept));
}

void StoreSumsF32(const double* source, void* destination, size_t n) {
  auto* to = static_cast<float*>(destination);
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<float>(source[i]);
}

template <class Real, int kParts>
void StoreSumsWide(const double* source, void* destination, size_t n) {
  auto* to = static_cast<unsigned char*>(destination);
  for (size_t i = 0; i < n; ++i) {
    const Real parts[2] = {static_cast<Real>(static_cast<float>(source[i])), Real{0}};
    std::memcpy(to + i * sizeof(Real) * kParts, parts, sizeof(Real) * kParts);
  }
}

template <int kExponentBits, int kFractionBits>
void StoreSums16(const double* source, void* destination, size_t n) {
  auto* to = static_cast<uint16_t*>(destination);
  for (size_t i = 0; i < n; ++i) to[i] = RoundTo16<kExponentBits, kFractionBits>(source[i]);
}

// ---- The tree ----------------------------------------------------------------------------------

// Combines the sums of blocks as the tree that pairs neighbours does, in the order in which they come: level
// i holds the sum of the last complete group of 2^i blocks that waits for its neighbour. A block is `width`
// sums side by side.
class Tree {
 public:
  Tree(double* levels, int64_t width) : levels_(levels), width_(width) {}

  // Takes the block in sums[0..width), which may be overwritten.
  void Add(double* sums) {
    int level = 0;
    for (int64_t count = count_++; (count & 1) != 0; count >>= 1, ++level) AddOnto(sums, Level(level));
    std::memcpy(Level(level), sums, static_cast<size_t>(width_) * sizeof(double));
  }

  // The sum of all blocks, +0 if there was none: an odd group at the end moves up until it finds a neighbour.
  void Finish(double* sums) {
    bool any = false;
    int level = 0;
    for (int64_t count = count_; count != 0; count >>= 1, ++level) {
      if ((count & 1) == 0) continue;
      if (any) {
        AddOnto(sums, Level(level));
      } else {
        std::memcpy(sums, Level(level), static_cast<size_t>(width_) * sizeof(double));
      }
      any = true;
    }
    if (!any) std::fill_n(sums, width_, 0.0);
    count_ = 0;
  }

 private:
  double* Level(int level) { return levels_ + level * width_; }
  // sums = earlier + sums
  void AddOnto(double* sums, const double* earlier) const {
    for (int64_t i = 0; i < width_; ++i) sums[i] = earlier[i] + sums[i];
  }

  double* levels_;
  int64_t width_;
  int64_t count_ = 0;
};

double CombineLanes(double* lanes) {
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

// ---- The job -----------------------------------------------------------------------------------

class ReductionRun {
 public:
  ReductionRun(const ReductionJob& job, void* const* addresses, void* workspace)
      : job_(job), plan_(job.plan), partials_(static_cast<double*>(workspace)) {
    for (int k = 0; k < plan_.terms.operand_count; ++k) {
      base_[k] = static_cast<char*>(addresses[job.formula.argument[k]]) + plan_.terms.operand[k].offset;
    }
    output_ = static_cast<char*>(addresses[job.output_argument]) + plan_.output.operand[0].offset;
  }

  void Run() {
    if (plan_.reduced == 0) {
      StoreZeros();
    } else if (plan_.in_lanes()) {
      RunLanes();
    } else {
      RunRows();
    }
    if (plan_.chunks > 1) CombineChunks();
  }

 private:
  // ---- each output's terms lie side by side in the walk: lanes ----

  void RunLanes() {
    if (plan_.chunks > 1) {
      ForEachBlock(plan_.outputs() * plan_.chunks, job_.threads, [&](int64_t piece) {
        const int64_t output = piece / plan_.chunks;
        const int64_t chunk = piece % plan_.chunks;
        const int64_t begin = chunk * plan_.chunk_blocks * kLaneBlock;
        const int64_t end = std::min(plan_.reduced, begin + plan_.chunk_blocks * kLaneBlock);
        SumLanes(output * plan_.reduced + begin, end - begin, 1,
                 [&](int64_t, double sum) { partials_[piece] = sum; });
      });
      return;
    }
    const int64_t group = std::clamp<int64_t>(kTermsPerPiece / plan_.reduced, 1, kTile);
    const int64_t pieces = (plan_.outputs() + group - 1) / group;
    ForEachBlock(pieces, job_.threads, [&](int64_t piece) {
      const int64_t first = piece * group;
      const int64_t count = std::min(group, plan_.outputs() - first);
      double sums[kTile];
      SumLanes(first * plan_.reduced, plan_.reduced, count, [&](int64_t i, double sum) { sums[i] = sum; });
      Store(first, sums, count);
    });
  }

  // Sums `count` stretches of `length` terms each, the first at `position`; calls done(i, sum) for each.
  template <class Done>
  void SumLanes(int64_t position, int64_t length, int64_t count, const Done& done) const {
    const DefaultFloatEnvironment environment;
    FormulaTiles tiles(job_.formula, plan_.terms, base_, ElementType::kF32);
    Cursor cursor(plan_.terms, base_, position);
    alignas(64) float terms[kTile];
    double levels[kLevels];
    Tree tree(levels, 1);
    alignas(64) double lanes[kLanes] = {};
    int64_t stretch = 0;
    int64_t in_stretch = 0;
    for (int64_t left = length * count; left > 0;) {
      const int64_t n = std::min({left, tiles.LongestStretch(cursor), kTile});
      tiles.Compute(cursor, position, n, terms);
      for (int64_t used = 0; used < n;) {
        const int64_t in_block = in_stretch % kLaneBlock;
        const int64_t lane = in_block % kLanes;
        int64_t m = std::min({n - used, length - in_stretch, kLaneBlock - in_block});
        // Tiles need not end at lane 15: the terms up to there go one by one.
        if (lane != 0) {
          m = std::min(m, kLanes - lane);
          for (int64_t i = 0; i < m; ++i) lanes[lane + i] += static_cast<double>(terms[used + i]);
        } else {
          job_.add.add_to_lanes(lanes, terms + used, static_cast<size_t>(m));
        }
        used += m;
        in_stretch += m;
        if (in_stretch != length && in_stretch % kLaneBlock != 0) continue;
        double sum = CombineLanes(lanes);
        std::fill_n(lanes, kLanes, 0.0);
        tree.Add(&sum);
        if (in_stretch != length) continue;
        tree.Finish(&sum);
        done(stretch++, sum);
        in_stretch = 0;
      }
      left -= n;
      position += n;
      cursor.Skip(n);
    }
    ReportIsaThatRan(tiles.isa());
  }

  // ---- each output's terms lie one row apart: rows ----

  void RunRows() {
    const int levels = static_cast<int>(std::bit_width(static_cast<uint64_t>(plan_.chunk_blocks))) + 1;
    const int64_t width = std::min(plan_.inner, std::max<int64_t>(64, kColumnSums / (levels + 1) / 64 * 64));
    const int64_t stripes = (plan_.inner + width - 1) / width;
    // Short sums share a piece of work, so that what a piece costs to begin is spread.
    const int64_t group =
        stripes * plan_.chunks > 1
            ? 1
            : std::clamp<int64_t>(kTermsPerPiece / (plan_.reduced * plan_.inner), 1, kTermsPerPiece);
    const int64_t groups = (plan_.outer + group - 1) / group;
    ForEachBlock(groups * stripes * plan_.chunks, job_.threads, [&](int64_t piece) {
      const int64_t chunk = piece % plan_.chunks;
      const int64_t stripe = piece / plan_.chunks % stripes;
      const int64_t first = piece / plan_.chunks / stripes * group;
      const int64_t column = stripe * width;
      const int64_t columns = std::min(width, plan_.inner - column);
      const int64_t row = chunk * plan_.chunk_blocks * kRowBlock;
      const int64_t rows = std::min(plan_.reduced - row, plan_.chunk_blocks * kRowBlock);
      const DefaultFloatEnvironment environment;
      FormulaTiles tiles(job_.formula, plan_.terms, base_, ElementType::kF32);
      double sums[kColumnSums];
      for (int64_t outer = first; outer < std::min(first + group, plan_.outer); ++outer) {
        SumRows(tiles, outer, row, rows, column, columns, sums);
        const int64_t output = outer * plan_.inner + column;
        if (plan_.chunks == 1) {
          Store(output, sums, columns);
        } else {
          for (int64_t i = 0; i < columns; ++i) partials_[(output + i) * plan_.chunks + chunk] = sums[i];
        }
      }
      ReportIsaThatRan(tiles.isa());
    });
  }

  // Sums rows [row, row + rows) of columns [column, column + columns) into sums[0..columns); what follows
  // there holds the tree.
  void SumRows(FormulaTiles& tiles, int64_t outer, int64_t row, int64_t rows, int64_t column, int64_t columns,
               double* sums) const {
    alignas(64) float terms[kTile];
    Tree tree(sums + columns, columns);
    const bool whole_rows = columns == plan_.inner;
    int64_t position = (outer * plan_.reduced + row) * plan_.inner + column;
    Cursor cursor(plan_.terms, base_, position);
    std::fill_n(sums, columns, 0.0);
    for (int64_t r = 0; r < rows;) {
      // Whole rows follow each other in the walk, so a tile may hold several; a stripe has a jump after each
      // row.
      const int64_t stretch = whole_rows ? std::min(rows, (r / kRowBlock + 1) * kRowBlock) - r : 1;
      int64_t at = 0;
      for (int64_t left = stretch * columns; left > 0;) {
        const int64_t n = std::min({left, tiles.LongestStretch(cursor), kTile});
        tiles.Compute(cursor, position, n, terms);
        for (int64_t used = 0; used < n;) {
          const int64_t m = std::min(n - used, columns - at);
          if (m < kShortRow) {
            for (int64_t i = 0; i < m; ++i) sums[at + i] += static_cast<double>(terms[used + i]);
          } else {
            job_.add.add_to_row(sums + at, terms + used, static_cast<size_t>(m));
          }
          used += m;
          at = at + m == columns ? 0 : at + m;
        }
        left -= n;
        position += n;
        cursor.Skip(n);
      }
      r += stretch;
      if (!whole_rows) {
        position += plan_.inner - columns;
        if (r < rows) cursor = Cursor(plan_.terms, base_, position);
      }
      if (r % kRowBlock == 0 || r == rows) {
        tree.Add(sums);
        std::fill_n(sums, columns, 0.0);
      }
    }
    tree.Finish(sums);
  }

  // ---- outputs ----

  void CombineChunks() const {
    const DefaultFloatEnvironment environment;
    double sums[kTile];
    double levels[kLevels];
    for (int64_t first = 0; first < plan_.outputs(); first += kTile) {
      const int64_t count = std::min(kTile, plan_.outputs() - first);
      for (int64_t i = 0; i < count; ++i) {
        Tree tree(levels, 1);
        for (int64_t chunk = 0; chunk < plan_.chunks; ++chunk)
          tree.Add(&partials_[(first + i) * plan_.chunks + chunk]);
        tree.Finish(&sums[i]);
      }
      Store(first, sums, count);
    }
  }

  void StoreZeros() const {
    const double zeros[kTile] = {};
    for (int64_t first = 0; first < plan_.outputs(); first += kTile) {
      Store(first, zeros, std::min(kTile, plan_.outputs() - first));
    }
  }

  // Multiplies, rounds and writes the sums of outputs [first, first + count).
  void Store(int64_t first, const double* sums, int64_t count) const {
    const DefaultFloatEnvironment environment;
    const int32_t size = plan_.output.operand[0].element_size;
    char* const base[] = {output_};
    alignas(64) double results[kTile];
    alignas(64) char rounded[kTile * kMaxElement];
    for (int64_t done = 0; done < count; done += kTile) {
      const int64_t n = std::min(kTile, count - done);
      for (int64_t i = 0; i < n; ++i) results[i] = sums[done + i] * job_.factor;
      job_.store(results, rounded, static_cast<size_t>(n));
      ForEachSegment(plan_.output, 0, Cursor(plan_.output, base, first + done), n,
                     [&](char* address, int64_t stride, int64_t at, int64_t length) {
                       Scatter(rounded + at * size, address, stride, size, length);
                     });
    }
  }

  const ReductionJob& job_;
  const ReductionPlan& plan_;
  double* partials_;
  char* base_[kMaxInputs];
  char* output_;
};

}  // namespace

SumStoreFunction FindSumStore(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      return StoreSumsF32;
    case ACL_FLOAT16:
      return StoreSums16<5, 10>;
    case ACL_BF16:
      return StoreSums16<8, 7>;
    case ACL_DOUBLE:
      return StoreSumsWide<double, 1>;
    case ACL_COMPLEX64:
      return StoreSumsWide<float, 2>;
    case ACL_COMPLEX128:
      return StoreSumsWide<double, 2>;
    default:
      return nullptr;
  }
}

SumFunctions FindSumFunctions(Isa isa) noexcept { return {kAddToLanes.For(isa), kAddToRow.For(isa)}; }

void ReductionJob::Run(void* const* addresses, void* workspace) const noexcept {
  ReductionRun(*this, addresses, workspace).Run();
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
