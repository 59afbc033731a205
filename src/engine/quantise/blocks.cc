// Blocks of numbers that share a scale (see blocks.h). Greatest magnitudes are compared as bits, so that NaN and
// infinity are above all numbers; nothing depends on the order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTile = 1024;         // numbers that are processed at a time; the greatest block
constexpr int64_t kPiece = 16 * kTile;  // numbers of a row that a thread takes
constexpr uint32_t kInfinityBits = 0x7F800000;
constexpr uint32_t kUpperHalf = 0xFFFF0000;
constexpr uint8_t kNoPower = 0xFF;

int64_t QuotientUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

uint32_t MagnitudeBits(float x) { return std::bit_cast<uint32_t>(x) & 0x7FFFFFFF; }
uint32_t GreatestBits(const float* x, int64_t n, uint32_t greatest = 0) {
  for (int64_t i = 0; i < n; ++i) greatest = std::max(greatest, MagnitudeBits(x[i]));
  return greatest;
}

// Returns 2^-exponent for the code of 2^exponent, NaN for that of none.
float InverseOfPower(uint8_t code) {
  if (code == kNoPower) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(code == 254 ? 0x00400000u : (254u - code) << 23);
}
float PowerOfCode(uint8_t code) {
  if (code == kNoPower) return std::numeric_limits<float>::quiet_NaN();
  return std::bit_cast<float>(code == 0 ? 0x00400000u : static_cast<uint32_t>(code) << 23);
}

// Returns the power of two that is not below a number, which is at least 0; 2^-126 for subnormal ones.
float PowerNotBelow(float number) {
  return std::bit_cast<float>((std::bit_cast<uint32_t>(number) + 0x007FFFFF) & 0xFF800000);
}

// Loads numbers of an operand as float32.
class Source {
 public:
  Source(const Numbers& numbers, Isa isa, const JobContext& context)
      : base_(numbers.is_there ? numbers.buffer.Address(context) : nullptr) {
    if (base_ == nullptr) return;
    ReportIsaThatRan(isa);
    is_packed_ = StorageBits(numbers.dtype) == 4;
    size_ = static_cast<int64_t>(StorageBits(numbers.dtype) / 8);
    table_ = is_packed_ ? NumbersOfCodes(numbers.dtype) : nullptr;
    load_ = FindLoad(isa, numbers.dtype, ACL_FLOAT);
  }
  bool is_there() const { return base_ != nullptr; }
  void Bring(int64_t at, int64_t n, float* to) const {
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): numbers that are there have a function
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

 private:
  const char* base_;
  bool is_packed_ = false;
  int64_t size_ = 0;
  const float* table_ = nullptr;
  LoadFunction load_ = nullptr;
};

// Stores numbers as codes.
class Sink {
 public:
  Sink(const BufferRef& codes, aclDataType dtype, Rounding rounding, Isa isa, const JobContext& context)
      : base_(codes.Address(context)),
        encode_(FindEncode(isa, dtype)),
        rounding_(rounding),
        is_packed_(StorageBits(dtype) == 4) {}
  // `at` and n are even if codes have 4 bits.
  void Put(int64_t at, int64_t n, const float* x) const {
    const auto count = static_cast<size_t>(n);
    if (!is_packed_) return encode_(x, base_ + at, count, rounding_);
    uint8_t halves[kTile];
    encode_(x, halves, count, rounding_);
    PackHalves(halves, reinterpret_cast<uint8_t*>(base_ + at / 2), count / 2);
  }

 private:
  char* base_;
  EncodeFunction encode_;
  Rounding rounding_;
  bool is_packed_;
};

// Calls body(unit) for units of work.
template <class Body>
void ForEachUnit(int64_t units, int threads, const Body& body) {
  ForEachBlock(units, threads, [&](int64_t unit) {
    const DefaultFloatEnvironment environment;
    body(unit);
  });
}

// The rows of a group, without groups all rows. Ends that decrease or are beyond the rows are moved.
struct Rows {
  int64_t first, end;
};
// Calls body(group, its rows) for groups [first, last).
template <class Body>
void ForEachGroup(const RowGroups& groups, int64_t first, int64_t last, int64_t rows,
                  const JobContext& context, const Body& body) {
  if (!groups.ends.is_there) return body(0, Rows{0, rows});
  const char* const ends = groups.ends.buffer.Address(context);
  Rows own{0, 0};
  for (int64_t group = 0; group < last; ++group) {
    const auto number = Load<int64_t>(ends + group * int64_t{sizeof(int64_t)});
    own.first = own.end;
    const int64_t count = groups.are_counts ? number : number < own.first ? 0 : number - own.first;
    own.end = own.first + std::clamp<int64_t>(count, 0, rows - own.first);
    if (group >= first) body(group, own);
  }
}
// Returns how many rows all groups have together.
int64_t RowsCovered(const RowGroups& groups, int64_t rows, const JobContext& context) {
  if (!groups.ends.is_there) return rows;
  int64_t covered = 0;
  ForEachGroup(groups, groups.count - 1, groups.count, rows, context,
               [&](int64_t, const Rows& own) { covered = own.end; });
  return covered;
}
// Returns the number of groups in a unit. There are few units, because each reads the sizes of all groups before its own.
int64_t GroupsOfUnit(const RowGroups& groups) { return QuotientUp(groups.count, 256); }

// Quantises a row whose blocks are contiguous: numbers [from, to) of it.
void QuantiseContiguous(const QuantiseMx& job, const Source& x, const Sink& codes, uint8_t* scales,
                        int64_t row, int64_t from, int64_t to) {
  const int64_t each = kTile / job.block * job.block;
  float tile[kTile];
  for (int64_t begin = from; begin < to; begin += each) {
    const int64_t n = std::min(each, to - begin);
    x.Bring(row * job.length + begin, n, tile);
    for (int64_t at = 0; at < n; at += job.block) {
      const int64_t some = std::min(job.block, n - at);
      const uint8_t code = PowerCode(job.rule, GreatestBits(tile + at, some));
      scales[(begin + at) / job.block] = code;
      const float factor = InverseOfPower(code);
      for (int64_t i = at; i < at + some; ++i) tile[i] *= factor;
    }
    codes.Put(row * job.length + begin, n, tile);
  }
  const int64_t blocks = QuotientUp(job.length, job.block);
  if (to == job.length && blocks % 2 != 0) scales[blocks] = 0;
}

// Quantises up to two blocks whose numbers are in different rows, for columns [from, to). `first` is their first row,
// counted over all outer indices.
void QuantisePair(const QuantiseMx& job, const Source& x, const Sink& codes, uint8_t* scales, int64_t first,
                  int64_t end, int64_t from, int64_t to) {
  const int64_t n = to - from;
  float tile[kTile];
  float factors[kTile];
  for (int64_t half = 0; half < 2; ++half) {
    const int64_t begin = first + half * job.block;
    const int64_t stop = std::min(end, begin + job.block);
    if (begin >= end) {
      for (int64_t i = 0; i < n; ++i) scales[2 * (from + i) + half] = 0;
      continue;
    }
    uint32_t greatest[kTile] = {};
    for (int64_t row = begin; row < stop; ++row) {
      x.Bring(row * job.inner + from, n, tile);
      for (int64_t i = 0; i < n; ++i) greatest[i] = std::max(greatest[i], MagnitudeBits(tile[i]));
    }
    for (int64_t i = 0; i < n; ++i) {
      const uint8_t code = PowerCode(job.rule, greatest[i]);
      scales[2 * (from + i) + half] = code;
      factors[i] = InverseOfPower(code);
    }
    for (int64_t row = begin; row < stop; ++row) {
      x.Bring(row * job.inner + from, n, tile);
      for (int64_t i = 0; i < n; ++i) tile[i] *= factors[i];
      codes.Put(row * job.inner + from, n, tile);
    }
  }
}

}  // namespace

uint8_t PowerCode(const PowerRule& rule, uint32_t bits) noexcept {
  if (bits >= kInfinityBits) return kNoPower;
  if (rule.cuts_to_bfloat16) bits &= kUpperHalf;
  if (bits == 0 && rule.least_greatest <= 0) return 0;
  int exponent = 0;
  switch (rule.kind) {
    case PowerRule::Kind::kFloor:
      exponent = static_cast<int>(bits >> 23) - 127 - rule.greatest_exponent;
      break;
    case PowerRule::Kind::kQuotient: {
      const float greatest = std::max(std::bit_cast<float>(bits), rule.least_greatest);
      const auto quotient =
          std::bit_cast<uint32_t>(rule.inverse != 0 ? greatest * rule.inverse : greatest / rule.most);
      const uint32_t field = quotient >> 23;
      const uint32_t fraction = quotient & 0x007FFFFF;
      const bool is_above =
          field == 0 ? rule.rounds_subnormals && fraction > (1u << 22) : field < 254 && fraction != 0;
      exponent = static_cast<int>(field) - 127 + (is_above ? 1 : 0);
      break;
    }
    case PowerRule::Kind::kBfloat16: {
      const uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
      const uint32_t field = rounded >> 7;
      if (field == 0) return 0;
      if (field == 0xFF) return kNoPower;
      exponent =
          static_cast<int>(field) - 127 - rule.greatest_exponent + ((rounded & 0x7F) > rule.fraction ? 1 : 0);
      break;
    }
  }
  if (exponent > 127) return kNoPower;
  return static_cast<uint8_t>(std::max(exponent, rule.least_exponent) + 127);
}

void QuantiseMx::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  const Sink sink(codes, dtype, rounding, isa, context);
  auto* const bytes = reinterpret_cast<uint8_t*>(scales.Address(context));
  const int64_t pairs = QuotientUp(QuotientUp(length, block), 2);
  if (inner == 1 && !groups.ends.is_there) {
    const int64_t piece = kPiece / block * block;
    const int64_t pieces = QuotientUp(length, piece);
    const int64_t rows = std::max<int64_t>(1, kPiece / std::max<int64_t>(length, 1));
    const int64_t there = RowsCovered(covered, outer, context);
    ForEachUnit(QuotientUp(there, rows) * pieces, threads, [&](int64_t unit) {
      const int64_t first = unit / pieces * rows;
      const int64_t from = unit % pieces * piece;
      for (int64_t row = first; row < std::min(there, first + rows); ++row)
        QuantiseContiguous(*this, source, sink, bytes + row * pairs * 2, row, from,
                           std::min(length, from + piece));
    });
    return;
  }
  const int64_t chunks = QuotientUp(inner, kTile);
  if (groups.ends.is_there) {
    const int64_t many = GroupsOfUnit(groups);
    ForEachUnit(QuotientUp(groups.count, many) * chunks, threads, [&](int64_t unit) {
      const int64_t first = unit / chunks * many;
      const int64_t from = unit % chunks * kTile;
      const int64_t to = std::min(inner, from + kTile);
      const auto quantise = [&](int64_t group, const Rows& rows) {
        int64_t pair = rows.first / (2 * block) + group;
        for (int64_t row = rows.first; row < rows.end; row += 2 * block, ++pair)
          QuantisePair(*this, source, sink, bytes + pair * inner * 2, row, rows.end, from, to);
      };
      ForEachGroup(groups, first, std::min(groups.count, first + many), length, context, quantise);
    });
    return;
  }
  ForEachUnit(outer * pairs * chunks, threads, [&](int64_t unit) {
    const int64_t part = unit / (pairs * chunks);
    const int64_t from = unit % chunks * kTile;
    const int64_t to = std::min(inner, from + kTile);
    const int64_t pair = unit / chunks % pairs;
    QuantisePair(*this, source, sink, bytes + (part * pairs + pair) * inner * 2,
                 part * length + pair * 2 * block, (part + 1) * length, from, to);
  });
}

void QuantiseMxSquares::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  const Sink sink(codes, dtype, rounding, isa, context);
  auto* const by_row = reinterpret_cast<uint8_t*>(row_scales.Address(context));
  auto* const by_column = reinterpret_cast<uint8_t*>(column_scales.Address(context));
  const int64_t across = QuotientUp(columns, block);
  const int64_t row_pairs = QuotientUp(QuotientUp(rows, block), 2);
  const int64_t column_pairs = QuotientUp(across, 2);
  ForEachUnit(batches * row_pairs * 2, threads, [&](int64_t unit) {
    const int64_t batch = unit / (row_pairs * 2);
    const int64_t down = unit % (row_pairs * 2);
    uint8_t* const pair = by_column + (batch * row_pairs + down / 2) * columns * 2 + down % 2;
    const int64_t first = down * block;
    const int64_t stop = std::min(rows, first + block);
    if (first >= rows) {
      for (int64_t column = 0; column < columns; ++column) pair[2 * column] = 0;
      return;
    }
    float tile[kTile];
    for (int64_t square = 0; square < 2 * column_pairs; ++square) {
      const int64_t from = square * block;
      const int64_t n = std::min(columns, from + block) - from;
      uint8_t code = 0;
      if (n > 0) {
        uint32_t greatest = 0;
        for (int64_t row = first; row < stop; ++row) {
          source.Bring((batch * rows + row) * columns + from, n, tile);
          greatest = GreatestBits(tile, n, greatest);
        }
        code = PowerCode(rule, greatest);
        const float factor = InverseOfPower(code);
        for (int64_t row = first; row < stop; ++row) {
          const int64_t at = (batch * rows + row) * columns + from;
          source.Bring(at, n, tile);
          for (int64_t i = 0; i < n; ++i) tile[i] *= factor;
          sink.Put(at, n, tile);
        }
        for (int64_t i = 0; i < n; ++i) pair[2 * (from + i)] = code;
      }
      for (int64_t row = first; row < stop; ++row)
        by_row[(batch * rows + row) * column_pairs * 2 + square] = code;
    }
  });
}

void DequantiseMx::Run(const JobContext& context) const noexcept {
  const Source source(codes, isa, context);
  const auto* const bytes = reinterpret_cast<const uint8_t*>(scales.Address(context));
  char* const target = to.buffer.Address(context);
  const auto size = static_cast<int64_t>(StorageBits(to.dtype) / 8);
  const StoreFunction store = FindStore(isa, to.dtype);
  const int64_t pairs = QuotientUp(QuotientUp(length, block), 2);
  const int64_t row_length = inner == 1 ? length : inner;
  const int64_t rows = inner == 1 ? outer : outer * length;
  const int64_t each = std::max<int64_t>(1, kPiece / std::max<int64_t>(row_length, 1));
  ForEachUnit(QuotientUp(rows, each), threads, [&](int64_t unit) {
    float tile[kTile];
    for (int64_t row = unit * each; row < std::min(rows, (unit + 1) * each); ++row) {
      for (int64_t from = 0; from < row_length; from += kTile) {
        const int64_t n = std::min(kTile, row_length - from);
        source.Bring(row * row_length + from, n, tile);
        for (int64_t i = 0; i < n; ++i) {
          const int64_t column = from + i;
          const int64_t number = (inner == 1 ? column : row % length) / block;
          const int64_t scale = inner == 1
                                    ? row * pairs * 2 + number
                                    : ((row / length * pairs + number / 2) * inner + column) * 2 + number % 2;
          tile[i] *= PowerOfCode(bytes[scale]);
        }
        store(tile, target + (row * row_length + from) * size, static_cast<size_t>(n), false);
      }
    }
  });
}

void DivideBlocks::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  const Source factors(smooth, isa, context);
  char* const written = scales.Address(context);
  char* const target = to.buffer.Address(context);
  const auto size = static_cast<int64_t>(StorageBits(to.dtype) / 8);
  const StoreFunction store = FindStore(isa, to.dtype);
  const int64_t blocks = QuotientUp(columns, block);
  ForEachUnit(rows, threads, [&](int64_t row) {
    float tile[kTile];
    float smoothed[kTile];
    for (int64_t number = 0; number < blocks; ++number) {
      const int64_t from = number * block;
      const int64_t n = std::min(columns, from + block) - from;
      source.Bring(row * columns + from, n, tile);
      if (factors.is_there()) {
        factors.Bring(from, n, smoothed);
        for (int64_t i = 0; i < n; ++i) tile[i] *= smoothed[i];
      }
      const uint32_t bits = GreatestBits(tile, n);
      const float greatest = std::bit_cast<float>(bits);
      const float scale = greatest / most;
      std::memcpy(written + (row * blocks + number) * int64_t{sizeof scale}, &scale, sizeof scale);
      if (scale != 0) {
        for (int64_t i = 0; i < n; ++i) tile[i] /= scale;
      }
      store(tile, target + (row * columns + from) * size, static_cast<size_t>(n), false);
    }
  });
}

void QuantiseRowBlocks::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  const Sink sink(codes, dtype, Rounding::kNearestEven, isa, context);
  char* const written = scales.Address(context);
  const int64_t blocks = QuotientUp(columns, block);
  ForEachUnit(RowsCovered(covered, rows, context), threads, [&](int64_t row) {
    const float inverse = 1.0f / most;  // here, since the caller's environment may round otherwise
    float tile[kTile];
    for (int64_t number = 0; number < blocks; ++number) {
      const int64_t from = number * block;
      const int64_t n = std::min(columns, from + block) - from;
      source.Bring(row * columns + from, n, tile);
      float greatest = 0;
      for (int64_t i = 0; i < n; ++i) {
        const float size = std::fabs(tile[i]);
        if (size < std::numeric_limits<float>::infinity()) greatest = std::max(greatest, size);
      }
      greatest = std::max(greatest, least);
      float scale = greatest * inverse;
      float factor = most / greatest;
      if (rounds_up) {
        scale = PowerNotBelow(scale);
        factor = 1.0f / scale;
      }
      std::memcpy(written + (row * blocks + number) * int64_t{sizeof scale}, &scale, sizeof scale);
      for (int64_t i = 0; i < n; ++i) {
        const float product = tile[i] * factor;
        if (std::fabs(product) < std::numeric_limits<float>::infinity()) tile[i] = product;
      }
      sink.Put(row * columns + from, n, tile);
    }
  });
}

void GroupScales::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  char* const written = scales.Address(context);
  const int64_t count = groups.ends.is_there ? groups.count : 1;
  const int64_t each = groups.ends.is_there ? GroupsOfUnit(groups) : 1;
  ForEachUnit(QuotientUp(count, each), threads, [&](int64_t unit) {
    const int64_t last = std::min(count, (unit + 1) * each);
    ForEachGroup(groups, unit * each, last, rows, context, [&](int64_t group, const Rows& own) {
      uint32_t bits = 0;
      float tile[kTile];
      for (int64_t at = own.first * columns; at < own.end * columns; at += kTile) {
        const int64_t n = std::min(kTile, own.end * columns - at);
        source.Bring(at, n, tile);
        bits = GreatestBits(tile, n, bits);
      }
      const float greatest =
          bits > kInfinityBits ? std::numeric_limits<float>::quiet_NaN() : std::bit_cast<float>(bits);
      const float scale = greatest / most;
      std::memcpy(written + group * int64_t{sizeof scale}, &scale, sizeof scale);
    });
  });
}

void QuantiseRectangles::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  const Sink sink(codes, dtype, Rounding::kNearestEven, isa, context);
  char* const written = scales.Address(context);
  const int64_t across = QuotientUp(columns, column_block);
  const auto quantise = [&](int64_t first, int64_t stop, char* row_of_scales) {
    float tile[kTile];
    for (int64_t square = 0; square < across; ++square) {
      const int64_t from = square * column_block;
      const int64_t n = std::min(columns, from + column_block) - from;
      float greatest = 0;
      for (int64_t row = first; row < stop; ++row) {
        source.Bring(row * columns + from, n, tile);
        for (int64_t i = 0; i < n; ++i) {
          const float size = std::fabs(tile[i]);
          if (size < std::numeric_limits<float>::infinity()) greatest = std::max(greatest, size);
        }
      }
      float scale = std::max(greatest, least) / most;
      if (greatest_scale >= 0) scale = std::min(scale, greatest_scale);
      if (rounds_up) scale = PowerNotBelow(scale);
      std::memcpy(row_of_scales + square * int64_t{sizeof scale}, &scale, sizeof scale);
      for (int64_t row = first; row < stop; ++row) {
        source.Bring(row * columns + from, n, tile);
        for (int64_t i = 0; i < n; ++i) tile[i] /= scale;
        sink.Put(row * columns + from, n, tile);
      }
    }
    std::memset(row_of_scales + across * int64_t{sizeof(float)}, 0,
                static_cast<size_t>(more_scales) * sizeof(float));
  };
  const int64_t row_bytes = (across + more_scales) * int64_t{sizeof(float)};
  if (groups.ends.is_there) {
    const int64_t many = GroupsOfUnit(groups);
    ForEachUnit(QuotientUp(groups.count, many), threads, [&](int64_t unit) {
      const auto quantise_group = [&](int64_t group, const Rows& own) {
        int64_t at = own.first / row_block + group;
        for (int64_t row = own.first; row < own.end; row += row_block, ++at)
          quantise(row, std::min(own.end, row + row_block), written + at * row_bytes);
      };
      ForEachGroup(groups, unit * many, std::min(groups.count, (unit + 1) * many), rows, context,
                   quantise_group);
    });
    return;
  }
  const int64_t down = QuotientUp(rows, row_block);
  const int64_t each = std::max<int64_t>(1, kPiece / std::max<int64_t>(row_block * columns, 1));
  ForEachUnit(QuotientUp(batches * down, each), threads, [&](int64_t unit) {
    for (int64_t at = unit * each; at < std::min(batches * down, (unit + 1) * each); ++at) {
      const int64_t first = at / down * rows + at % down * row_block;
      quantise(first, std::min(at / down * rows + rows, first + row_block), written + at * row_bytes);
    }
  });
}

void QuantiseGroups::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  const Source factors(scale, isa, context);
  const Sink sink(codes, dtype, Rounding::kNearestEven, isa, context);
  const StoreFunction store = FindStore(isa, greatest.dtype);
  char* const found = greatest.buffer.Address(context);
  const auto size = static_cast<int64_t>(StorageBits(greatest.dtype) / 8);
  // A group is cut into as many parts for threads as there may be; their greatest magnitudes are kept here.
  constexpr int64_t kParts = 64;
  ForEachGroup(groups, 0, groups.count, rows, context, [&](int64_t group, const Rows& own) {
    const int64_t from = own.first * columns;
    const int64_t count = own.end * columns - from;
    const float factor = factors.At(group);
    const int64_t parts = std::clamp<int64_t>(QuotientUp(count, kPiece), 1, kParts);
    const int64_t each = QuotientUp(QuotientUp(count, parts), kTile) * kTile;
    uint32_t bits[kParts] = {};
    ForEachUnit(parts, threads, [&](int64_t part) {
      float tile[kTile];
      const int64_t end = std::min(count, (part + 1) * each);
      for (int64_t at = part * each; at < end; at += kTile) {
        const int64_t n = std::min(kTile, end - at);
        source.Bring(from + at, n, tile);
        bits[part] = GreatestBits(tile, n, bits[part]);
        for (int64_t i = 0; i < n; ++i) tile[i] *= factor;
        sink.Put(from + at, n, tile);
      }
    });
    const uint32_t most = *std::max_element(bits, bits + parts);
    const float number =
        most > kInfinityBits ? std::numeric_limits<float>::quiet_NaN() : std::bit_cast<float>(most);
    store(&number, found + group * size, 1, false);
  });
}

void FakeQuantise::Run(const JobContext& context) const noexcept {
  const Source source(x, isa, context);
  const Source scales(scale.numbers, isa, context);
  const Source zeros(zero.numbers, isa, context);
  char* const target = to.buffer.Address(context);
  auto* const within = reinterpret_cast<uint8_t*>(mask.Address(context));
  const auto size = static_cast<int64_t>(StorageBits(to.dtype) / 8);
  const StoreFunction store = FindStore(isa, to.dtype);
  const int64_t pieces = QuotientUp(columns, kPiece);
  const int64_t each = std::max<int64_t>(1, kPiece / std::max<int64_t>(columns, 1));
  ForEachUnit(QuotientUp(rows, each) * pieces, threads, [&](int64_t unit) {
    float tile[kTile];
    float factors[kTile];
    float points[kTile];
    const int64_t first = unit / pieces * each;
    const int64_t begin = unit % pieces * kPiece;
    const int64_t end = std::min(columns, begin + kPiece);
    for (int64_t row = first; row < std::min(rows, first + each); ++row) {
      for (int64_t from = begin; from < end; from += kTile) {
        const int64_t n = std::min(kTile, end - from);
        const int64_t at = row * columns + from;
        source.Bring(at, n, tile);
        if (is_enabled) {
          const int64_t own = scale.by_column ? from : row % scale.rows;
          const int64_t many = scale.by_column ? n : 1;
          scales.Bring(own, many, factors);
          zeros.Bring(own, many, points);
          for (int64_t i = 0; i < n; ++i) {
            const float factor = factors[many == 1 ? 0 : i];
            const float point = points[many == 1 ? 0 : i];
            const float code = std::nearbyint(tile[i] / factor) + point;
            within[at + i] = code >= least && code <= greatest ? 1 : 0;
            // NaN becomes the least code.
            const float kept = code >= least ? std::min(code, greatest) : least;
            tile[i] = (kept - point) * factor;
          }
        } else {
          std::memset(within + at, 1, static_cast<size_t>(n));
        }
        store(tile, target + at * size, static_cast<size_t>(n), false);
      }
    }
  });
}

}  // namespace portacl::engine
