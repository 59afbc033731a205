// Quantises rows to codes (see quantise.h). One thread computes a row, and nothing depends on where a vector
// begins, so that bits do not depend on who does what.
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/quantise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vector_targets.h"

#ifndef PORTACL_ENGINE_QUANTISE_QUANTISE_TYPES_
#define PORTACL_ENGINE_QUANTISE_QUANTISE_TYPES_

namespace portacl::engine {

constexpr size_t kSquareLanes = 16;

// Operations on float32 numbers of a tile. `count` of a second operand is 1 if one number serves all.
struct TileFunctions {
  Isa isa;                                                                    // for which they are compiled
  void (*extremes)(const float* x, size_t n, float* least, float* greatest);  // ignores NaN
  void (*multiply)(float* x, const float* factor, size_t count, size_t n);
  void (*divide)(float* x, const float* divisor, size_t count, size_t n);
  void (*add)(float* x, const float* term, size_t count, size_t n);
  // Adds squares to kSquareLanes sums; number i goes to sum i % kSquareLanes.
  void (*add_squares)(const float* x, size_t n, double* sums);
  void (*activate)(float* x, float alpha, size_t n);  // x times the logistic function of alpha x
};

}  // namespace portacl::engine

#endif  // PORTACL_ENGINE_QUANTISE_QUANTISE_TYPES_

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/quantise/quantise.cc"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>
#include "engine/functions/exponential-inl.h"
#include "engine/half_precision-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace quantise {

namespace hn = hwy::HWY_NAMESPACE;

void Extremes(const float* x, size_t n, float* least, float* greatest) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  VF low = hn::Set(d, *least);
  VF high = hn::Set(d, *greatest);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const VF v = hn::LoadU(d, x + i);
    low = hn::IfThenElse(hn::Lt(v, low), v, low);
    high = hn::IfThenElse(hn::Gt(v, high), v, high);
  }
  float lowest = hn::GetLane(hn::MinOfLanes(d, low));
  float highest = hn::GetLane(hn::MaxOfLanes(d, high));
  for (; i < n; ++i) {
    lowest = x[i] < lowest ? x[i] : lowest;
    highest = x[i] > highest ? x[i] : highest;
  }
  *least = lowest;
  *greatest = highest;
}

struct Product {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Mul(a, b);
  }
};
struct Quotient {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Div(a, b);
  }
};
struct Sum {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

template <class Op>
HWY_INLINE void WithSecond(float* x, const float* y, size_t count, size_t n) {
  const DF d;
  const hn::CappedTag<float, 1> one;
  const size_t lanes = hn::Lanes(d);
  const Op op;
  const VF single = hn::Set(d, *y);
  size_t i = 0;
  if (count == 1) {
    for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, x + i), single), d, x + i);
  } else {
    for (; i + lanes <= n; i += lanes) hn::StoreU(op(hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, x + i);
  }
  for (; i < n; ++i) {
    const auto second = hn::Set(one, count == 1 ? *y : y[i]);
    hn::StoreU(op(hn::LoadU(one, x + i), second), one, x + i);
  }
}
void Multiply(float* x, const float* factor, size_t count, size_t n) {
  WithSecond<Product>(x, factor, count, n);
}
void Divide(float* x, const float* divisor, size_t count, size_t n) {
  WithSecond<Quotient>(x, divisor, count, n);
}
void Add(float* x, const float* term, size_t count, size_t n) { WithSecond<Sum>(x, term, count, n); }

void AddSquares(const float* x, size_t n, double* sums) {
  for (size_t i = 0; i < n; i += kSquareLanes) {
    const size_t some = HWY_MIN(kSquareLanes, n - i);
    for (size_t lane = 0; lane < some; ++lane) {
      const double number = static_cast<double>(x[i + lane]);
      sums[lane] += number * number;
    }
  }
}

void Activate(float* x, float alpha, size_t n) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const auto activated = [&](VF v) HWY_ATTR {
    return hn::Mul(v, functions::Sigmoid(d, hn::Mul(v, hn::Set(d, alpha))));
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(activated(hn::LoadU(d, x + i)), d, x + i);
  if (i == n) return;
  HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
  std::memcpy(rest, x + i, (n - i) * sizeof(float));
  hn::Store(activated(hn::Load(d, rest)), d, rest);
  std::memcpy(x + i, rest, (n - i) * sizeof(float));
}

TileFunctions TileFunctionsHere() {
  return {ThisIsa(), Extremes, Multiply, Divide, Add, AddSquares, Activate};
}

}  // namespace quantise
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <hwy/cache_control.h>
#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/cache_size.h"
#include "engine/codes.h"
#include "engine/conversions.h"
#include "engine/isa_in_use.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"
#include "engine/quantise/code_rows.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

constexpr auto kTileFunctions = PORTACL_ISA_TABLE(quantise::TileFunctionsHere);
TileFunctions FunctionsFor(Isa isa) {
  const TileFunctions functions = kTileFunctions.For(isa)();
  ReportIsaThatRan(functions.isa);
  return functions;
}

constexpr int64_t kTileColumns = 512;              // columns that are processed at a time
constexpr int64_t kPiece = 32 * kTileColumns;      // columns that a thread takes if rows may be cut
constexpr int64_t kBlockBytes = int64_t{1} << 17;  // of the numbers of a block of rows
constexpr int64_t kMostKept = kThreadMemoryBytes / int64_t{sizeof(float)};

// Reads and writes numbers of an operand as float32.
class View {
 public:
  View(const Numbers& numbers, Isa isa, const JobContext& context) : is_there_(numbers.is_there) {
    if (!is_there_) return;
    base_ = numbers.buffer.Address(context);
    dtype_ = numbers.dtype;
    is_packed_ = StorageBits(numbers.dtype) == 4;
    size_ = static_cast<int64_t>(StorageBits(numbers.dtype) / 8);
    load_ = FindLoad(isa, numbers.dtype, ACL_FLOAT);
    store_ = FindStore(isa, numbers.dtype);
    table_ = is_packed_ ? NumbersOfCodes(numbers.dtype) : nullptr;
  }
  bool is_there() const { return is_there_; }

  void Bring(int64_t at, int64_t n, float* to) const {
    if (!is_packed_) return load_(base_ + at * size_, to, static_cast<size_t>(n));
    const auto* const bytes = reinterpret_cast<const uint8_t*>(base_);
    for (int64_t i = at; i < at + n; ++i)
      to[i - at] = table_[i % 2 == 0 ? bytes[i / 2] & 0xF : bytes[i / 2] >> 4];
  }
  float At(int64_t at) const {
    float number = 0;
    Bring(at, 1, &number);
    return number;
  }
  void Put(int64_t at, int64_t n, const float* from) const {
    store_(from, base_ + at * size_, static_cast<size_t>(n), false);
  }
  bool IsInteger() const { return dtype_ == ACL_INT32; }
  int64_t Integer(int64_t at) const { return Load<int32_t>(base_ + at * size_); }
  // Rounds numbers as storing and loading them would.
  void Round(float* x, int64_t n, char* memory) const {
    store_(x, memory, static_cast<size_t>(n), false);
    load_(memory, x, static_cast<size_t>(n));
  }

 private:
  bool is_there_;
  bool is_packed_ = false;
  aclDataType dtype_ = ACL_DT_UNDEFINED;
  char* base_ = nullptr;
  int64_t size_ = 0;
  LoadFunction load_ = nullptr;
  StoreFunction store_ = nullptr;
  const float* table_ = nullptr;
};

// A row of factors: one for all columns, or one for each.
class FactorRow {
 public:
  FactorRow(const Factors& factors, Isa isa, const JobContext& context, int64_t columns)
      : view_(factors.numbers, isa, context),
        by_column_(factors.by_column),
        by_group_(factors.by_group),
        rows_(factors.rows),
        columns_(factors.by_column ? columns : 1) {}
  bool is_there() const { return view_.is_there(); }

  // Returns which row of factors a row takes.
  int64_t Which(int64_t row, int64_t group) const {
    return by_group_ ? std::clamp<int64_t>(group, 0, rows_ - 1) : row % rows_;
  }

  // Computes the sum of x and these factors, both INT32, as integers and rounds it once.
  void AddTo(const View& x, int64_t at, int64_t row, int64_t group, int64_t column, int64_t n,
             float* to) const {
    const int64_t which = Which(row, group);
    const int64_t own = which * columns_ + (by_column_ ? column : 0);
    for (int64_t i = 0; i < n; ++i)
      to[i] = static_cast<float>(x.Integer(at + i) + view_.Integer(own + (by_column_ ? i : 0)));
  }
  bool IsInteger() const { return view_.is_there() && view_.IsInteger(); }

  struct Numbers {
    const float* number;
    size_t count;
  };
  Numbers Bring(int64_t row, int64_t group, int64_t column, int64_t n, float* memory) const {
    const int64_t which = Which(row, group);
    const int64_t many = by_column_ ? n : 1;
    view_.Bring(which * columns_ + (by_column_ ? column : 0), many, memory);
    return {memory, static_cast<size_t>(many)};
  }

 private:
  View view_;
  bool by_column_;
  bool by_group_;
  int64_t rows_;
  int64_t columns_;
};

// Finds the group of each row.
class Groups {
 public:
  Groups(const RowGroups& groups, const JobContext& context) : groups_(groups) {
    if (groups.ends.is_there) numbers_ = groups.ends.buffer.Address(context);
  }
  // Returns -1 if there is none. Rows are asked for in ascending order.
  int64_t Of(int64_t row) {
    if (numbers_ == nullptr) return 0;
    while (at_ < groups_.count && row >= End()) {
      total_ = End();
      ++at_;
    }
    if (at_ >= groups_.count) return -1;
    return groups_.are_pairs ? Number(2 * at_) : at_;
  }

 private:
  int64_t Number(int64_t i) const { return Load<int64_t>(numbers_ + i * int64_t{sizeof(int64_t)}); }
  int64_t End() const {
    if (groups_.are_pairs) return total_ + std::max<int64_t>(0, Number(2 * at_ + 1));
    return groups_.are_counts ? total_ + std::max<int64_t>(0, Number(at_)) : std::max(total_, Number(at_));
  }

  const RowGroups& groups_;
  const char* numbers_ = nullptr;
  int64_t at_ = 0;
  int64_t total_ = 0;
};

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

// Sets sums to the products of a vector of `terms` numbers and a matrix whose rows are `stride` numbers apart; the
// terms of a sum are added by ascending index.
void AddProducts(const float* vector, const float* matrix, int64_t terms, int64_t stride, int64_t n,
                 float* sums) {
  std::fill(sums, sums + n, 0.0f);
  for (int64_t term = 0; term < terms; ++term) {
    const float factor = vector[term];
    const float* const row = matrix + term * stride;
    for (int64_t i = 0; i < n; ++i) sums[i] += factor * row[i];
  }
}

// The operations that follow from the extremes of a row - multiply, divide, add - and the step that is written.
struct RowScale {
  float factor = 1;
  float divisor = 1;
  float term = 0;
  float step = 0;
  bool has_term = false;
};
RowScale ScaleOf(const Quantiser& quantiser, float least, float greatest) {
  using Step = Quantiser::Step;
  RowScale scale;
  if (least > greatest) least = greatest = 0;  // the row has only NaN
  if (quantiser.kind == Quantiser::Kind::kGreatest) {
    const float size = std::max(std::fabs(least), std::fabs(greatest));
    switch (quantiser.step) {
      case Step::kReciprocal:
        scale.factor = quantiser.most / size;
        scale.step = 1.0f / scale.factor;
        break;
      case Step::kProduct:
        scale.divisor = scale.step = size * (1.0f / quantiser.most);
        break;
      case Step::kQuotient:
        scale.divisor = scale.step = size / quantiser.most;
        break;
      case Step::kInverse:
        scale.factor = scale.step = quantiser.most / size;
        break;
      case Step::kBoth:
        scale.factor = quantiser.most / size;
        scale.step = size / quantiser.most;
        break;
    }
    return scale;
  }
  scale.step = std::max((greatest - least) / quantiser.span + 0.0f, quantiser.least_step);
  scale.term = scale.step == 0 ? 0.0f : quantiser.most - greatest / scale.step;
  scale.has_term = true;
  if (quantiser.step == Step::kReciprocal) {
    scale.factor = 1.0f / scale.step;
  } else {
    scale.divisor = scale.step;
  }
  if (scale.step == 0) {
    scale.factor = 0;
    scale.divisor = std::numeric_limits<float>::infinity();
  }
  return scale;
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

// How rows are cut for threads: rows that do not determine the scale into pieces, others not.
struct Units {
  Units(const QuantisedRows& job, const Quantiser& quantiser) {
    const bool is_dynamic =
        quantiser.kind == Quantiser::Kind::kGreatest || quantiser.kind == Quantiser::Kind::kRange;
    reads_row = is_dynamic && !quantiser.tensor_step.is_there;
    const bool is_cut = !reads_row && job.columns > kPiece;
    pieces = is_cut ? QuotientUp(job.columns, kPiece) : 1;
    piece = is_cut ? kPiece : job.columns;
  }
  bool reads_row;
  int64_t pieces;
  int64_t piece;  // columns
};

// Quantises the units [from, to); bring(row, group, column, n, to) loads n numbers of a row.
template <class Bring>
void QuantiseUnits(const QuantisedRows& job, const Coder& coder, const Units& units, int64_t from, int64_t to,
                   const JobContext& context, const Bring& bring) {
  Groups groups(job.groups, context);
  char* const memory = units.reads_row && units.piece <= kMostKept ? ThreadMemory(MemoryUse::kRows) : nullptr;
  auto* const kept = reinterpret_cast<float*>(memory);
  for (int64_t unit = from; unit < to; ++unit) {
    const int64_t row = unit / units.pieces;
    const int64_t group = groups.Of(row);
    if (group < 0) continue;
    const int64_t begin = unit % units.pieces * units.piece;
    const int64_t end = std::min(job.columns, begin + units.piece);
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
  ForEachRows(job.rows * units.pieces, units.piece, job.threads,
              [&](int64_t from, int64_t to) { QuantiseUnits(job, coder, units, from, to, context, bring); });
}

// ---- rows in memory, whose numbers become codes without a copy between ----

// A row of factors as float32, converted again only when it is another.
class KeptRow {
 public:
  KeptRow(const FactorRow& factors, float* memory) : factors_(factors), memory_(memory) {}
  const float* Bring(int64_t row, int64_t group, int64_t column, int64_t n) {
    const int64_t which = factors_.Which(row, group);
    if (which != which_ || column != column_) factors_.Bring(row, group, column, n, memory_);
    which_ = which;
    column_ = column;
    return memory_;
  }

 private:
  const FactorRow& factors_;
  float* memory_;
  int64_t which_ = -1;
  int64_t column_ = -1;
};

// Quantises plain rows by the functions of code_rows.h.
class RowsToCodes {
 public:
  RowsToCodes(const QuantisePlain& job, const JobContext& context)
      : job_(job),
        q_(job.quantiser[0]),
        context_(context),
        functions_(FindCodeRows(job.isa, job.x.dtype, q_.dtype)),
        scale_(q_.scale, job.isa, context, job.columns),
        offset_(q_.offset, job.isa, context, job.columns),
        units_(job, q_),
        number_size_(static_cast<int64_t>(StorageBits(job.x.dtype) / 8)),
        code_bits_(static_cast<int64_t>(StorageBits(q_.dtype))) {}

  // Whether there are functions for this job.
  bool Fit() const {
    const bool is_plain = !q_.squares_scale && !q_.multiplies_twice && !q_.passes_zero && !q_.half_before &&
                          q_.rounding == Rounding::kNearestEven && q_.kind != Quantiser::Kind::kNone &&
                          q_.kind != Quantiser::Kind::kReciprocal;
    const bool is_smoothed_by_column = !IsDynamic() || !scale_.is_there() || q_.scale.by_column;
    const bool is_whole = code_bits_ == 8 || (job_.columns % 2 == 0);
    return functions_.encode != nullptr && is_plain && is_smoothed_by_column && is_whole &&
           (!NeedsMemory() || units_.piece <= kMostInRow);
  }

  // Returns false if the thread has no memory.
  bool Run(int64_t from, int64_t to) const {
    auto* const memory = NeedsMemory() ? reinterpret_cast<float*>(ThreadMemory(MemoryUse::kRows)) : nullptr;
    if (NeedsMemory() && memory == nullptr) return false;
    KeptRow scales(scale_, memory);
    KeptRow offsets(offset_, memory == nullptr ? nullptr : memory + kMostInRow);
    Groups groups(job_.groups, context_);
    const char* const numbers = job_.x.buffer.Address(context_);
    char* const codes = q_.codes.Address(context_);
    const bool streams =
        job_.rows * job_.columns * (8 * number_size_ + code_bits_) / 8 > LastLevelCacheBytes();
    for (int64_t unit = from; unit < to; ++unit) {
      const int64_t row = unit / units_.pieces;
      const int64_t group = groups.Of(row);
      if (group < 0) continue;
      const int64_t begin = unit % units_.pieces * units_.piece;
      const int64_t n = std::min(job_.columns, begin + units_.piece) - begin;
      const int64_t at = row * job_.columns + begin;
      const char* const x = numbers + at * number_size_;
      const CodeSteps steps = StepsOf(row, group, begin, n, x, scales, offsets);
      // A row that determines its scale is read twice: while it is encoded the next one comes.
      const char* const next = units_.reads_row && unit + 1 < to ? x + job_.columns * number_size_ : nullptr;
      functions_.encode(x, steps, static_cast<size_t>(n), next, codes + at * code_bits_ / 8, streams);
    }
    if (streams) hwy::FlushStream();
    return true;
  }
  const Units& units() const { return units_; }

 private:
  using Kind = Quantiser::Kind;
  static constexpr int64_t kMostInRow = kMostKept / 2;

  bool IsDynamic() const { return q_.kind == Kind::kGreatest || q_.kind == Kind::kRange; }
  bool NeedsMemory() const {
    return (scale_.is_there() && q_.scale.by_column) || (offset_.is_there() && q_.offset.by_column);
  }

  CodeSteps StepsOf(int64_t row, int64_t group, int64_t begin, int64_t n, const char* x, KeptRow& scales,
                    KeptRow& offsets) const {
    CodeSteps steps;
    if (!IsDynamic()) {
      const bool divides = q_.kind == Kind::kDivide;
      if (scale_.is_there() && q_.scale.by_column) {
        (divides ? steps.divisors : steps.factors) = scales.Bring(row, group, begin, n);
      } else if (scale_.is_there()) {
        scale_.Bring(row, group, begin, 1, divides ? &steps.divisor : &steps.factor);
        (divides ? steps.divides : steps.multiplies) = true;
      }
      if (offset_.is_there() && q_.offset.by_column) {
        steps.terms = offsets.Bring(row, group, begin, n);
      } else if (offset_.is_there()) {
        offset_.Bring(row, group, begin, 1, &steps.term);
        steps.adds = true;
      }
      return steps;
    }
    if (scale_.is_there()) steps.factors = scales.Bring(row, group, begin, n);
    float least = std::numeric_limits<float>::infinity();
    float greatest = -std::numeric_limits<float>::infinity();
    if (q_.tensor_step.is_there) {
      const char* const extremes = q_.tensor_step.buffer.Address(context_);
      least = Load<float>(extremes);
      greatest = Load<float>(extremes + sizeof(float));
    } else if (q_.kind == Kind::kGreatest) {
      greatest = functions_.greatest(x, steps.factors, static_cast<size_t>(n));
      least = -greatest;
    } else {
      functions_.range(x, steps.factors, static_cast<size_t>(n), &least, &greatest);
    }
    const RowScale scale = ScaleOf(q_, least, greatest);
    if (!q_.tensor_step.is_there || (row == 0 && begin == 0)) {
      const int64_t at = row * int64_t{sizeof(float)};
      if (q_.row_step.is_there) Store(q_.row_step.buffer.Address(context_) + at, scale.step);
      if (q_.row_offset.is_there) Store(q_.row_offset.buffer.Address(context_) + at, scale.term);
    }
    steps.factor = scale.factor;
    steps.divisor = scale.divisor;
    steps.term = scale.term;
    steps.multiplies = scale.factor != 1;
    steps.divides = scale.divisor != 1;
    steps.adds = scale.has_term;
    return steps;
  }

  const QuantisePlain& job_;
  const Quantiser& q_;
  const JobContext& context_;
  const CodeRowFunctions functions_;
  const FactorRow scale_;
  const FactorRow offset_;
  const Units units_;
  const int64_t number_size_;
  const int64_t code_bits_;
};

}  // namespace

void QuantisePlain::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto bring = [&](int64_t row, int64_t, int64_t column, int64_t n, float* to) {
    source.Bring(row * columns + column, n, to);
  };
  const RowsToCodes plain_rows(*this, context);
  if (!plain_rows.Fit()) return QuantiseThrough(*this, quantiser[0], context, bring);
  const Units& units = plain_rows.units();
  ForEachRows(rows * units.pieces, units.piece, threads, [&](int64_t from, int64_t to) {
    if (plain_rows.Run(from, to)) return;
    const Coder coder(*this, quantiser[0], context);
    QuantiseUnits(*this, coder, units, from, to, context, bring);
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
        if (is_first && plain.is_there() && !normed_has_beta) plain.Put(at, n, numbers);
        if (shift.is_there()) {
          shift.Bring(column, n, other);
          functions.add(numbers, other, count, count);
        }
        if (is_first && plain.is_there() && normed_has_beta) plain.Put(at, n, numbers);
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

void QuantiseRotated::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto* const matrix = reinterpret_cast<const float*>(rotation.Address(context));
  QuantiseThrough(*this, quantiser[0], context,
                  [&](int64_t row, int64_t, int64_t column, int64_t n, float* to) {
                    float numbers[kMostWidth];
                    for (int64_t from = column; from < column + n;) {
                      const int64_t first = from / width * width;
                      const int64_t until = std::min(first + width, column + n);
                      float* const sums = to + (from - column);
                      source.Bring(row * columns + first, width, numbers);
                      AddProducts(numbers, matrix + (from - first), width, width, until - from, sums);
                      from = until;
                    }
                  });
}

int64_t QuantiseKronecker::Parts() const noexcept { return std::min<int64_t>(rows, 64); }

void QuantiseKronecker::Run(const JobContext& context) const noexcept {
  const View source(x, isa, context);
  const auto* const before = reinterpret_cast<const float*>(left.Address(context));
  const auto* const behind = reinterpret_cast<const float*>(right.Address(context));
  auto* const all = reinterpret_cast<float*>(memory.Address(context));
  const Coder coder(*this, quantiser[0], context);
  const int64_t parts = Parts();
  ForEachBlock(parts, threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    float* const products = all + part * 2 * columns;
    float* const results = products + columns;
    for (int64_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) {
      char rounded[kMostWidth * sizeof(float)];
      float numbers[kMostWidth];
      for (int64_t line = 0; line < height; ++line) {
        float* const to = products + line * width;
        source.Bring(row * columns + line * width, width, numbers);
        AddProducts(numbers, behind, width, width, width, to);
        source.Round(to, width, rounded);
      }
      for (int64_t line = 0; line < height; ++line) {
        float* const to = results + line * width;
        AddProducts(before + line * height, products, height, width, width, to);
        source.Round(to, width, rounded);
      }
      coder.Row(row, 0, 0, columns, [&](int64_t column, int64_t) { return results + column; });
    }
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
  const CodeRowFunctions in_memory = FindCodeRows(isa, x.dtype, ACL_INT8);
  char* const found = pairs.Address(context);
  const int64_t blocks = Blocks(rows, columns);
  ForEachRows(rows, columns, threads, [&](int64_t from, int64_t until) {
    float least = std::numeric_limits<float>::infinity();
    float greatest = -least;
    Groups of_rows(groups, context);
    for (int64_t row = from; row < until; ++row) {
      const int64_t group = of_rows.Of(row);
      if (group < 0) continue;
      if (in_memory.range != nullptr && !factors.is_there()) {
        const char* const numbers =
            x.buffer.Address(context) + row * columns * static_cast<int64_t>(StorageBits(x.dtype) / 8);
        in_memory.range(numbers, nullptr, static_cast<size_t>(columns), &least, &greatest);
        continue;
      }
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

#endif  // HWY_ONCE
