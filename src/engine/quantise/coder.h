// Applies a quantiser to rows of float32 numbers, tile by tile, and cuts rows for threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/codes.h"
#include "engine/conversions.h"
#include "engine/parallel.h"
#include "engine/quantise/quantise.h"
#include "engine/quantise/row_operands.h"
#include "engine/quantise/tile_functions.h"
#include "engine/thread_memory.h"

namespace portacl::engine::quantise {

inline constexpr int64_t kTileColumns = 512;              // columns that are processed at a time
inline constexpr int64_t kBlock = 32 * kTileColumns;      // columns that a thread takes if rows may be cut
inline constexpr int64_t kBlockBytes = int64_t{1} << 17;  // of the numbers of a block of rows
inline constexpr int64_t kMostKept = kThreadMemoryBytes / int64_t{sizeof(float)};

inline int64_t QuotientUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RowsOfBlock(int64_t columns) {
  return std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(columns * int64_t{sizeof(float)}, 1));
}

// Calls body(first, end) for blocks of rows, which have `least` rows at least.
template <class Body>
void ForEachRows(int64_t rows, int64_t columns, int threads, const Body& body, int64_t least = 1) {
  const int64_t each = std::max(least, RowsOfBlock(columns));
  ForEachBlock(QuotientUp(rows, each), threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    body(block * each, std::min(rows, (block + 1) * each));
  });
}
template <class Body>
void ForEachTile(int64_t begin, int64_t end, const Body& body) {
  for (int64_t column = begin; column < end; column += kTileColumns)
    body(column, std::min(kTileColumns, end - column));
}

// The factor, divisor and term of a row, which follow from its extremes, and the step between codes that is written.
struct RowScale {
  float factor = 1;
  float divisor = 1;
  float term = 0;
  float step = 0;
  bool has_term = false;
};
RowScale ScaleOf(const Quantiser& quantiser, float least, float greatest);

// Applies a quantiser to rows.
class Coder {
 public:
  using Kind = Quantiser::Kind;
  using Step = Quantiser::Step;

  Coder(const QuantisedRows& job, const Quantiser& quantiser, const JobContext& context);
  bool Writes() const { return q_.kind != Kind::kNone; }
  bool ReadsRow() const { return q_.kind == Kind::kGreatest || q_.kind == Kind::kRange; }

  // Quantises columns of a row, or all of them if the row determines the scale. tile(column, n) returns n
  // numbers of the row.
  template <class Tile>
  void Row(int64_t row, int64_t group, int64_t begin, int64_t end, const Tile& tile) const {
    if (!Writes()) return;
    RowScale scale;
    if (ReadsRow()) {
      float least = std::numeric_limits<float>::infinity();
      float greatest = -std::numeric_limits<float>::infinity();
      if (tensor_ != nullptr) {
        least = Load<float>(tensor_);
        greatest = Load<float>(tensor_ + sizeof(float));
      } else {
        ForEachTile(begin, end, [&](int64_t column, int64_t n) {
          float memory[kTileColumns];
          const float* numbers = tile(column, n);
          if (scale_.is_there()) {
            std::memcpy(memory, numbers, static_cast<size_t>(n) * sizeof(float));
            Smooth(row, group, column, n, memory);
            numbers = memory;
          }
          functions_.extremes(numbers, static_cast<size_t>(n), &least, &greatest);
        });
      }
      scale = ScaleOf(q_, least, greatest);
      if (tensor_ == nullptr || (row == 0 && begin == 0)) {
        if (row_step_ != nullptr) Store(row_step_ + row * int64_t{sizeof(float)}, scale.step);
        if (row_offset_ != nullptr) Store(row_offset_ + row * int64_t{sizeof(float)}, scale.term);
      }
    }
    ForEachTile(begin, end, [&](int64_t column, int64_t n) {
      float memory[kTileColumns];
      const auto count = static_cast<size_t>(n);
      std::memcpy(memory, tile(column, n), count * sizeof(float));
      if (ReadsRow()) {
        if (scale_.is_there()) Smooth(row, group, column, n, memory);
        if (scale.factor != 1) functions_.multiply(memory, &scale.factor, 1, count);
        if (scale.divisor != 1) functions_.divide(memory, &scale.divisor, 1, count);
        if (scale.has_term) functions_.add(memory, &scale.term, 1, count);
      } else {
        ScaleBy(row, group, column, n, memory);
      }
      Encode(row, column, n, memory);
    });
  }

 private:
  void Smooth(int64_t row, int64_t group, int64_t column, int64_t n, float* x) const;
  void ScaleBy(int64_t row, int64_t group, int64_t column, int64_t n, float* x) const;
  void Encode(int64_t row, int64_t column, int64_t n, float* x) const;

  const Quantiser& q_;
  const TileFunctions functions_;
  const FactorRow scale_;
  const FactorRow offset_;
  const int64_t columns_;
  EncodeFunction encode_ = nullptr;
  LoadFunction load_half_ = nullptr;
  StoreFunction store_half_ = nullptr;
  bool is_packed_ = false;
  int64_t size_ = 1;
  char* codes_ = nullptr;
  char* row_step_ = nullptr;
  char* row_offset_ = nullptr;
  const char* tensor_ = nullptr;
};

// The units of work of threads: blocks of a row, or whole rows if a row determines its scale.
struct Units {
  Units(const QuantisedRows& job, const Quantiser& quantiser) {
    const bool is_dynamic =
        quantiser.kind == Quantiser::Kind::kGreatest || quantiser.kind == Quantiser::Kind::kRange;
    reads_row = is_dynamic && !quantiser.tensor_step.is_there;
    const bool is_cut = !reads_row && job.columns > kBlock;
    blocks = is_cut ? QuotientUp(job.columns, kBlock) : 1;
    length = is_cut ? kBlock : job.columns;
  }
  bool reads_row;
  int64_t blocks;
  int64_t length;  // columns
};

// Quantises the units [from, to); bring(row, group, column, n, to) loads n numbers of a row.
template <class Bring>
void QuantiseUnits(const QuantisedRows& job, const Coder& coder, const Units& units, int64_t from, int64_t to,
                   const JobContext& context, const Bring& bring) {
  Groups groups(job.groups, context);
  char* const memory =
      units.reads_row && units.length <= kMostKept ? ThreadMemory(MemoryUse::kRows) : nullptr;
  auto* const kept = reinterpret_cast<float*>(memory);
  for (int64_t unit = from; unit < to; ++unit) {
    const int64_t row = unit / units.blocks;
    const int64_t group = groups.Of(row);
    if (group < 0) continue;
    const int64_t begin = unit % units.blocks * units.length;
    const int64_t end = std::min(job.columns, begin + units.length);
    if (kept != nullptr) {
      ForEachTile(begin, end,
                  [&](int64_t column, int64_t n) { bring(row, group, column, n, kept + (column - begin)); });
      coder.Row(row, group, begin, end, [&](int64_t column, int64_t) { return kept + (column - begin); });
    } else {
      float tile[kTileColumns];
      coder.Row(row, group, begin, end, [&](int64_t column, int64_t n) {
        bring(row, group, column, n, tile);
        return tile;
      });
    }
  }
}
template <class Bring>
void QuantiseThrough(const QuantisedRows& job, const Quantiser& quantiser, const JobContext& context,
                     const Bring& bring) {
  const Coder coder(job, quantiser, context);
  const Units units(job, quantiser);
  ForEachRows(job.rows * units.blocks, units.length, job.threads,
              [&](int64_t from, int64_t to) { QuantiseUnits(job, coder, units, from, to, context, bring); });
}

}  // namespace portacl::engine::quantise
