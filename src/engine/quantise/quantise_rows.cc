// Quantises rows to codes (see quantise.h). One thread computes a row, and nothing depends on where a vector
// begins, so that bits do not depend on who does what.
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/codes.h"
#include "engine/conversions.h"
#include "engine/parallel.h"
#include "engine/quantise/row_operands.h"
#include "engine/quantise/tile_functions.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

using quantise::FactorRow;
using quantise::FunctionsFor;
using quantise::Groups;
using quantise::kSquareLanes;
using quantise::TileFunctions;
using quantise::View;

constexpr int64_t kTileColumns = 512;              // columns that are processed at a time
constexpr int64_t kPiece = 32 * kTileColumns;      // columns that a thread takes if rows may be cut
constexpr int64_t kBlockBytes = int64_t{1} << 17;  // of the numbers of a block of rows
constexpr int64_t kMostKept = kThreadMemoryBytes / int64_t{sizeof(float)};

int64_t QuotientUp(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t RowsOfBlock(int64_t columns) {
  return std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(columns * int64_t{sizeof(float)}, 1));
}

// Calls body(first, end) for blocks of rows.
template <class Body>
void ForEachRows(int64_t rows, int64_t columns, int threads, const Body& body) {
  const int64_t each = RowsOfBlock(columns);
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

// Applies a quantiser to rows.
class Coder {
 public:
  using Kind = Quantiser::Kind;
  using Step = Quantiser::Step;

  Coder(const QuantisedRows& job, const Quantiser& quantiser, const JobContext& context)
      : q_(quantiser),
        functions_(FunctionsFor(job.isa)),
        scale_(quantiser.scale, job.isa, context, job.columns),
        offset_(quantiser.offset, job.isa, context, job.columns),
        columns_(job.columns) {
    if (!Writes()) return;
    encode_ = FindEncode(job.isa, quantiser.dtype);
    const auto bits = static_cast<int64_t>(StorageBits(quantiser.dtype));
    is_packed_ = bits == 4;
    size_ = is_packed_ ? 1 : bits / 8;
    codes_ = quantiser.codes.Address(context);
    load_half_ = FindLoad(job.isa, ACL_FLOAT16, ACL_FLOAT);
    store_half_ = FindStore(job.isa, ACL_FLOAT16);
    if (quantiser.row_step.is_there) row_step_ = quantiser.row_step.buffer.Address(context);
    if (quantiser.row_offset.is_there) row_offset_ = quantiser.row_offset.buffer.Address(context);
    if (quantiser.tensor_step.is_there) tensor_ = quantiser.tensor_step.buffer.Address(context);
  }
  bool Writes() const { return q_.kind != Kind::kNone; }
  bool ReadsRow() const { return q_.kind == Kind::kGreatest || q_.kind == Kind::kRange; }

  // Quantises columns of a row, or all of them if the row determines the scale. tile(column, n) returns n
  // numbers of the row.
  template <class Tile>
  void Row(int64_t row, int64_t group, int64_t begin, int64_t end, const Tile& tile) const {
    if (!Writes()) return;
    float factor = 1;
    float divisor = 1;
    float term = 0;
    bool has_term = false;
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
      if (least > greatest) least = greatest = 0;  // the row has only NaN
      float step = 0;
      if (q_.kind == Kind::kGreatest) {
        const float size = std::max(std::fabs(least), std::fabs(greatest));
        switch (q_.step) {
          case Step::kReciprocal:
            factor = q_.most / size;
            step = 1.0f / factor;
            break;
          case Step::kProduct:
            divisor = step = size * (1.0f / q_.most);
            break;
          case Step::kQuotient:
            divisor = step = size / q_.most;
            break;
          case Step::kInverse:
            factor = step = q_.most / size;
            break;
        }
      } else {
        step = std::max((greatest - least) / q_.span + 0.0f, q_.least_step);
        term = step == 0 ? 0.0f : q_.most - greatest / step;
        has_term = true;
        if (q_.step == Step::kReciprocal) {
          factor = 1.0f / step;
        } else {
          divisor = step;
        }
        if (step == 0) factor = 0;
      }
      if (tensor_ == nullptr || (row == 0 && begin == 0)) {
        if (row_step_ != nullptr) Store(row_step_ + row * int64_t{sizeof(float)}, step);
        if (row_offset_ != nullptr) Store(row_offset_ + row * int64_t{sizeof(float)}, term);
      }
      if (q_.kind == Kind::kRange && step == 0) divisor = std::numeric_limits<float>::infinity();
    }
    ForEachTile(begin, end, [&](int64_t column, int64_t n) {
      float memory[kTileColumns];
      const auto count = static_cast<size_t>(n);
      std::memcpy(memory, tile(column, n), count * sizeof(float));
      if (ReadsRow()) {
        if (scale_.is_there()) Smooth(row, group, column, n, memory);
        if (factor != 1) functions_.multiply(memory, &factor, 1, count);
        if (divisor != 1) functions_.divide(memory, &divisor, 1, count);
        if (has_term) functions_.add(memory, &term, 1, count);
      } else {
        ScaleBy(row, group, column, n, memory);
      }
      Encode(row, column, n, memory);
    });
  }

 private:
  void Smooth(int64_t row, int64_t group, int64_t column, int64_t n, float* x) const {
    float memory[kTileColumns];
    const FactorRow::Numbers scale = scale_.Bring(row, group, column, n, memory);
    functions_.multiply(x, scale.number, scale.count, static_cast<size_t>(n));
  }
  void ScaleBy(int64_t row, int64_t group, int64_t column, int64_t n, float* x) const {
    float memory[kTileColumns];
    const auto count = static_cast<size_t>(n);
    if (scale_.is_there()) {
      const FactorRow::Numbers scale = scale_.Bring(row, group, column, n, memory);
      if (q_.passes_zero && scale.count == 1 && memory[0] == 0) memory[0] = 1;
      if (q_.squares_scale) {
        for (size_t i = 0; i < scale.count; ++i) memory[i] *= memory[i];
      }
      if (q_.kind == Kind::kReciprocal) {
        for (size_t i = 0; i < scale.count; ++i) memory[i] = 1.0f / memory[i];
      }
      if (q_.kind == Kind::kDivide) {
        functions_.divide(x, memory, scale.count, count);
      } else {
        functions_.multiply(x, memory, scale.count, count);
        if (q_.multiplies_twice) functions_.multiply(x, memory, scale.count, count);
      }
    }
    if (!offset_.is_there()) return;
    const FactorRow::Numbers offset = offset_.Bring(row, group, column, n, memory);
    functions_.add(x, offset.number, offset.count, count);
  }
  void Encode(int64_t row, int64_t column, int64_t n, float* x) const {
    const auto count = static_cast<size_t>(n);
    if (q_.half_before) {
      uint16_t half[kTileColumns];
      store_half_(x, half, count, false);
      load_half_(half, x, count);
    }
    const int64_t at = row * columns_ + column;
    if (!is_packed_) return encode_(x, codes_ + at * size_, count, q_.rounding);
    uint8_t nibbles[kTileColumns];
    encode_(x, nibbles, count, q_.rounding);
    auto* const bytes = reinterpret_cast<uint8_t*>(codes_) + at / 2;
    PackHalves(nibbles, bytes, count / 2);
    if (count % 2 != 0) bytes[count / 2] = nibbles[count - 1];
  }

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

// Quantises rows; bring(row, group, column, n, to) loads n numbers of a row. Rows that do not determine the
// scale are cut.
template <class Bring>
void QuantiseThrough(const QuantisedRows& job, const Quantiser& quantiser, const JobContext& context,
                     const Bring& bring) {
  const Coder coder(job, quantiser, context);
  const bool reads_row = coder.ReadsRow() && !quantiser.tensor_step.is_there;
  const bool is_cut = !reads_row && job.columns > kPiece;
  const int64_t pieces = is_cut ? QuotientUp(job.columns, kPiece) : 1;
  const int64_t piece = is_cut ? kPiece : job.columns;
  ForEachRows(job.rows * pieces, piece, job.threads, [&](int64_t from, int64_t to) {
    Groups groups(job.groups, context);
    char* const memory = reads_row && piece <= kMostKept ? ThreadMemory(MemoryUse::kRows) : nullptr;
    auto* const kept = reinterpret_cast<float*>(memory);
    for (int64_t unit = from; unit < to; ++unit) {
      const int64_t row = unit / pieces;
      const int64_t group = groups.Of(row);
      if (group < 0) continue;
      const int64_t begin = unit % pieces * piece;
      const int64_t end = std::min(job.columns, begin + piece);
      if (kept != nullptr) {
        ForEachTile(begin, end, [&](int64_t column, int64_t n) {
          bring(row, group, column, n, kept + (column - begin));
        });
        coder.Row(row, group, begin, end, [&](int64_t column, int64_t) { return kept + (column - begin); });
      } else {
        float tile[kTileColumns];
        coder.Row(row, group, begin, end, [&](int64_t column, int64_t n) {
          bring(row, group, column, n, tile);
          return tile;
        });
      }
    }
  });
}

}  // namespace

void QuantisePlain::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  QuantiseThrough(*this, quantiser[0], context,
                  [&](int64_t row, int64_t, int64_t column, int64_t n, float* to) {
                    source.Bring(row * columns + column, n, to);
                  });
}

void QuantiseNormed::Run(const JobContext& context) const noexcept {
  const View first(x1, isa, context);
  const View second(x2, isa, context);
  const View scale(gamma, isa, context);
  const View shift(beta, isa, context);
  const View sums(sum, isa, context);
  const View plain(normed, isa, context);
  const View reciprocals(rstd, isa, context);
  const TileFunctions functions = FunctionsFor(isa);
  const auto bring_sum = [&](int64_t row, int64_t column, int64_t n, float* to) {
    float memory[kTileColumns];
    const int64_t at = row * columns + column;
    first.Bring(at, n, to);
    if (second.is_there()) {
      second.Bring(at, n, memory);
      functions.add(to, memory, static_cast<size_t>(n), static_cast<size_t>(n));
    }
    if (rounds_sum) first.Round(to, n, reinterpret_cast<char*>(memory));
  };
  // Each block of rows has its own coders, since these hold the reciprocal of the current row.
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t to) {
    const Coder coders[] = {Coder(*this, quantiser[0], context), Coder(*this, quantiser[1], context)};
    char* const memory = ThreadMemory(MemoryUse::kRows);
    auto* const kept = memory != nullptr && columns <= kMostKept ? reinterpret_cast<float*>(memory) : nullptr;
    for (int64_t row = from; row < to; ++row) {
      float tile[kTileColumns];
      double lanes[kSquareLanes] = {};
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        float* const numbers = kept != nullptr ? kept + column : tile;
        bring_sum(row, column, n, numbers);
        functions.add_squares(numbers, static_cast<size_t>(n), lanes);
      });
      for (size_t width = kSquareLanes / 2; width > 0; width /= 2) {
        for (size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
      }
      const auto reciprocal =
          static_cast<float>(1.0 / std::sqrt(lanes[0] / static_cast<double>(columns) + eps));
      if (reciprocals.is_there()) reciprocals.Put(row, 1, &reciprocal);
      const auto bring = [&](int64_t column, int64_t n, float* numbers, bool is_first) {
        float other[kTileColumns];
        const auto count = static_cast<size_t>(n);
        const int64_t at = row * columns + column;
        if (is_first && sums.is_there()) sums.Put(at, n, numbers);
        functions.multiply(numbers, &reciprocal, 1, count);
        if (rounds_steps) first.Round(numbers, n, reinterpret_cast<char*>(other));
        scale.Bring(column, n, other);
        functions.multiply(numbers, other, count, count);
        if (rounds_steps) first.Round(numbers, n, reinterpret_cast<char*>(other));
        if (is_first && plain.is_there()) plain.Put(at, n, numbers);
        if (!shift.is_there()) return;
        shift.Bring(column, n, other);
        functions.add(numbers, other, count, count);
      };
      if (kept != nullptr) {
        ForEachTile(0, columns, [&](int64_t column, int64_t n) { bring(column, n, kept + column, true); });
        for (const Coder& coder : coders)
          coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t) { return kept + column; });
        continue;
      }
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        bring_sum(row, column, n, tile);
        bring(column, n, tile, true);
      });
      for (const Coder& coder : coders) {
        coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t n) {
          bring_sum(row, column, n, tile);
          bring(column, n, tile, false);
          return tile;
        });
      }
    }
  });
}

void QuantiseGated::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const FactorRow weights(weight_scale, isa, context, 2 * columns);
  const FactorRow activations(activation_scale, isa, context, 1);
  const FactorRow before(first_bias, isa, context, 2 * columns);
  const FactorRow behind(bias, isa, context, 2 * columns);
  const TileFunctions functions = FunctionsFor(isa);
  // Loads some of the 2 * columns numbers of a row, scaled.
  const auto bring_scaled = [&](int64_t row, int64_t group, int64_t column, int64_t n, float* to) {
    float memory[2 * kTileColumns];
    const auto count = static_cast<size_t>(n);
    if (before.IsInteger() && source.IsInteger()) {
      before.AddTo(source, row * 2 * columns + column, row, group, column, n, to);
    } else {
      source.Bring(row * 2 * columns + column, n, to);
    }
    if (before.is_there() && !before.IsInteger()) {
      const FactorRow::Numbers term = before.Bring(row, group, column, n, memory);
      functions.add(to, term.number, term.count, count);
    }
    if (weights.is_there()) {
      const FactorRow::Numbers factor = weights.Bring(row, group, column, n, memory);
      functions.multiply(to, factor.number, factor.count, count);
    }
    if (activations.is_there()) {
      const FactorRow::Numbers factor = activations.Bring(row, group, 0, 1, memory);
      functions.multiply(to, factor.number, factor.count, count);
    }
    if (behind.is_there()) {
      const FactorRow::Numbers term = behind.Bring(row, group, column, n, memory);
      functions.add(to, term.number, term.count, count);
    }
  };
  QuantiseThrough(*this, quantiser[0], context,
                  [&](int64_t row, int64_t group, int64_t column, int64_t n, float* to) {
                    float other[kTileColumns];
                    if (form == Form::kClampedPairs) {
                      float both[2 * kTileColumns];
                      bring_scaled(row, group, 2 * column, 2 * n, both);
                      for (int64_t i = 0; i < n; ++i) {
                        to[i] = both[2 * i];
                        other[i] = both[2 * i + 1];
                      }
                    } else {
                      bring_scaled(row, group, activates_left ? column : columns + column, n, to);
                      bring_scaled(row, group, activates_left ? columns + column : column, n, other);
                    }
                    const auto count = static_cast<size_t>(n);
                    const auto at_most = [&](float* numbers) {
                      for (int64_t i = 0; i < n; ++i) numbers[i] = numbers[i] > limit ? limit : numbers[i];
                    };
                    const auto within = [&](float* numbers) {
                      for (int64_t i = 0; i < n; ++i)
                        numbers[i] = numbers[i] > limit ? limit : numbers[i] < -limit ? -limit : numbers[i];
                    };
                    switch (form) {
                      case Form::kSilu:
                        functions.activate(to, 1.0f, count);
                        break;
                      case Form::kClampedPairs:
                      case Form::kClampedHalves:
                        at_most(to);
                        within(other);
                        functions.activate(to, alpha, count);
                        functions.add(other, &shift, 1, count);
                        break;
                      case Form::kClampedSilu:
                        functions.activate(to, 1.0f, count);
                        at_most(to);
                        within(other);
                        break;
                    }
                    functions.multiply(to, other, count, count);
                  });
}

void Dequantise::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const View target(to, isa, context);
  const FactorRow before(first, isa, context, columns);
  const FactorRow factors(scale, isa, context, columns);
  const FactorRow others(second_scale, isa, context, columns);
  const FactorRow behind(last, isa, context, columns);
  const TileFunctions functions = FunctionsFor(isa);
  const int64_t pieces = QuotientUp(columns, kPiece);
  ForEachRows(rows * pieces, std::min(columns, kPiece), threads, [&](int64_t from, int64_t until) {
    for (int64_t unit = from; unit < until; ++unit) {
      const int64_t row = unit / pieces;
      const int64_t begin = unit % pieces * kPiece;
      ForEachTile(begin, std::min(columns, begin + kPiece), [&](int64_t column, int64_t n) {
        float numbers[kTileColumns];
        float memory[kTileColumns];
        const auto count = static_cast<size_t>(n);
        if (before.IsInteger() && source.IsInteger()) {
          before.AddTo(source, row * columns + column, row, 0, column, n, numbers);
        } else {
          source.Bring(row * columns + column, n, numbers);
        }
        if (before.is_there() && !before.IsInteger()) {
          const FactorRow::Numbers term = before.Bring(row, 0, column, n, memory);
          functions.add(numbers, term.number, term.count, count);
        }
        if (factors.is_there()) {
          const FactorRow::Numbers factor = factors.Bring(row, 0, column, n, memory);
          if (squares_scale) {
            for (size_t i = 0; i < factor.count; ++i) memory[i] *= memory[i];
          }
          functions.multiply(numbers, memory, factor.count, count);
          if (multiplies_twice) functions.multiply(numbers, memory, factor.count, count);
        }
        if (others.is_there()) {
          const FactorRow::Numbers factor = others.Bring(row, 0, column, n, memory);
          functions.multiply(numbers, factor.number, factor.count, count);
        }
        if (behind.is_there()) {
          const FactorRow::Numbers term = behind.Bring(row, 0, column, n, memory);
          functions.add(numbers, term.number, term.count, count);
        }
        target.Put(row * columns + column, n, numbers);
      });
    }
  });
}

int64_t TensorExtremes::Blocks(int64_t rows, int64_t columns) noexcept {
  return QuotientUp(rows, RowsOfBlock(columns));
}

void TensorExtremes::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const FactorRow factors(factor, isa, context, columns);
  const TileFunctions functions = FunctionsFor(isa);
  char* const found = pairs.Address(context);
  const int64_t blocks = Blocks(rows, columns);
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t until) {
    float least = std::numeric_limits<float>::infinity();
    float greatest = -least;
    Groups of_rows(groups, context);
    for (int64_t row = from; row < until; ++row) {
      const int64_t group = of_rows.Of(row);
      if (group < 0) continue;
      ForEachTile(0, columns, [&](int64_t column, int64_t n) {
        float numbers[kTileColumns];
        float memory[kTileColumns];
        source.Bring(row * columns + column, n, numbers);
        if (factors.is_there()) {
          const FactorRow::Numbers some = factors.Bring(row, group, column, n, memory);
          functions.multiply(numbers, some.number, some.count, static_cast<size_t>(n));
        }
        functions.extremes(numbers, static_cast<size_t>(n), &least, &greatest);
      });
    }
    const float pair[] = {least, greatest};
    std::memcpy(found + from / RowsOfBlock(columns) * int64_t{sizeof pair}, pair, sizeof pair);
  });
  float all[] = {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  for (int64_t block = 0; block < blocks; ++block) {
    float pair[2];
    std::memcpy(pair, found + block * int64_t{sizeof pair}, sizeof pair);
    all[0] = std::min(all[0], pair[0]);
    all[1] = std::max(all[1], pair[1]);
  }
  std::memcpy(to.Address(context), all, sizeof all);
}

}  // namespace portacl::engine
