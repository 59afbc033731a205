// Products of matrices of codes (see code_product.h). A tile of either operand becomes float32 numbers, which a
// kernel multiplies. A result is one sum by ascending terms, whatever the vectors' width.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/code_product.h"

#include <algorithm>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/code_product.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"  // for the fused operation: see FourRows
#include "engine/half_precision-inl.h"

// The size of a tile, such that the numbers of both operands and the sums stay in the first-level cache.
#ifndef PORTACL_ENGINE_CODE_PRODUCT_TILE
#define PORTACL_ENGINE_CODE_PRODUCT_TILE
namespace portacl::engine::code_product_tile {
inline constexpr int64_t kRows = 32;
inline constexpr int64_t kColumns = 64;
inline constexpr int64_t kTerms = 32;
}  // namespace portacl::engine::code_product_tile
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace code_product {

namespace hn = hwy::HWY_NAMESPACE;
using namespace code_product_tile;

// Adds the products of `terms` terms to four rows of sums. Each product is exact, so that one rounding follows it
// with and without fused operations.
HWY_INLINE void FourRows(const float* left, const float* right, int64_t terms, float* sums) {
  const hn::CappedTag<float, kColumns / 2> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t column = 0; column < kColumns; column += 2 * lanes) {
    float* const to = sums + column;
    auto s00 = hn::LoadU(d, to);
    auto s01 = hn::LoadU(d, to + lanes);
    auto s10 = hn::LoadU(d, to + kColumns);
    auto s11 = hn::LoadU(d, to + kColumns + lanes);
    auto s20 = hn::LoadU(d, to + 2 * kColumns);
    auto s21 = hn::LoadU(d, to + 2 * kColumns + lanes);
    auto s30 = hn::LoadU(d, to + 3 * kColumns);
    auto s31 = hn::LoadU(d, to + 3 * kColumns + lanes);
    const float* from = right + column;
    for (int64_t term = 0; term < terms; ++term, from += kColumns) {
      const auto r0 = hn::LoadU(d, from);
      const auto r1 = hn::LoadU(d, from + lanes);
      const auto a0 = hn::Set(d, left[term]);
      s00 = hn::MulAdd(a0, r0, s00);
      s01 = hn::MulAdd(a0, r1, s01);
      const auto a1 = hn::Set(d, left[kTerms + term]);
      s10 = hn::MulAdd(a1, r0, s10);
      s11 = hn::MulAdd(a1, r1, s11);
      const auto a2 = hn::Set(d, left[2 * kTerms + term]);
      s20 = hn::MulAdd(a2, r0, s20);
      s21 = hn::MulAdd(a2, r1, s21);
      const auto a3 = hn::Set(d, left[3 * kTerms + term]);
      s30 = hn::MulAdd(a3, r0, s30);
      s31 = hn::MulAdd(a3, r1, s31);
    }
    hn::StoreU(s00, d, to);
    hn::StoreU(s01, d, to + lanes);
    hn::StoreU(s10, d, to + kColumns);
    hn::StoreU(s11, d, to + kColumns + lanes);
    hn::StoreU(s20, d, to + 2 * kColumns);
    hn::StoreU(s21, d, to + 2 * kColumns + lanes);
    hn::StoreU(s30, d, to + 3 * kColumns);
    hn::StoreU(s31, d, to + 3 * kColumns + lanes);
  }
}

// Adds the products of rows of `left` and columns of `right` to sums. Rows are computed in fours: kRows of them are
// there.
void MultiplyTile(const float* left, const float* right, int64_t terms, int64_t rows, float* sums) {
  for (int64_t row = 0; row < rows; row += 4)
    FourRows(left + row * kTerms, right, terms, sums + row * kColumns);
}

}  // namespace code_product
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/data_type.h"
#include "base/errors.h"
#include "base/float_environment.h"
#include "base/text.h"
#include "engine/codes.h"
#include "engine/conversions.h"
#include "engine/isa_in_use.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

using namespace code_product_tile;

constexpr auto kMultiply = PORTACL_ISA_TABLE(code_product::MultiplyTile);

int64_t QuotientUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Loads codes as float32.
class Codes {
 public:
  Codes(const CodeMatrix& matrix, Isa isa, const JobContext& context)
      : matrix_(matrix),
        base_(matrix.buffer.Address(context)),
        is_packed_(StorageBits(matrix.dtype) == 4),
        size_(static_cast<int64_t>(StorageBits(matrix.dtype) / 8)),
        table_(is_packed_ ? NumbersOfCodes(matrix.dtype) : nullptr),
        load_(is_packed_ ? nullptr : FindLoad(isa, matrix.dtype, ACL_FLOAT)) {}

  bool HasTermsSideBySide() const { return matrix_.term_step == 1; }
  // Loads n codes that are contiguous, from this line and term on.
  void Bring(int64_t batch, int64_t line, int64_t term, int64_t n, float* to) const {
    const int64_t at = batch * matrix_.batch_step + line * matrix_.line_step + term * matrix_.term_step;
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): codes that are not packed have a function
    if (!is_packed_) return load_(base_ + at * size_, to, static_cast<size_t>(n));
    const auto* const bytes = reinterpret_cast<const uint8_t*>(base_);
    for (int64_t i = at; i < at + n; ++i)
      to[i - at] = table_[i % 2 == 0 ? bytes[i / 2] & 0xF : bytes[i / 2] >> 4];
  }

 private:
  const CodeMatrix& matrix_;
  const char* base_;
  bool is_packed_;
  int64_t size_;
  const float* table_;
  LoadFunction load_;
};

// Loads single numbers, of a 64-bit word its lower half.
class Number {
 public:
  Number(const BufferRef& buffer, aclDataType dtype, bool is_there, Isa isa, const JobContext& context)
      : base_(is_there ? buffer.Address(context) : nullptr),
        size_(static_cast<int64_t>(StorageBits(dtype) / 8)),
        powers_(dtype == ACL_FLOAT8_E8M0 ? NumbersOfCodes(dtype) : nullptr),
        load_(size_ == 2 ? FindLoad(isa, dtype, ACL_FLOAT) : nullptr) {}
  bool is_there() const { return base_ != nullptr; }
  float At(int64_t at) const {
    const char* const from = base_ + at * size_;
    if (powers_ != nullptr) return powers_[static_cast<uint8_t>(*from)];
    if (load_ == nullptr) return Load<float>(from);
    float number = 0;
    load_(from, &number, 1);
    return number;
  }

 private:
  const char* base_;
  int64_t size_;
  const float* powers_;
  LoadFunction load_;
};

class Scales {
 public:
  Scales(const CodeScales& scales, Isa isa, const JobContext& context)
      : scales_(scales), number_(scales.buffer, scales.dtype, scales.is_there, isa, context) {}
  bool is_there() const { return number_.is_there(); }
  float At(int64_t batch, int64_t line, int64_t block) const {
    return number_.At(batch * scales_.batch_step + line / scales_.lines * scales_.line_step +
                      block / scales_.blocks * scales_.block_step);
  }

 private:
  const CodeScales& scales_;
  Number number_;
};

class LineNumbers {
 public:
  LineNumbers(const CodeNumbers& numbers, Isa isa, const JobContext& context)
      : number_(numbers.buffer, numbers.dtype, numbers.is_there, isa, context),
        is_one_(numbers.is_one),
        batch_step_(numbers.batch_step) {}
  bool is_there() const { return number_.is_there(); }
  float At(int64_t batch, int64_t line) const {
    return number_.At(batch * batch_step_ + (is_one_ ? 0 : line));
  }

 private:
  Number number_;
  bool is_one_;
  int64_t batch_step_;
};

// Terms of a batch, and the number of its first block.
struct Terms {
  int64_t begin, end, block;
};
// Calls body(batch, count, its element in the list) for pairs, until one has no rows or no batch.
template <class Body>
void ForEachPair(const CodeProduct& job, const JobContext& context, const Body& body) {
  const char* const ends = job.ends.Address(context);
  for (int64_t i = 0; i < job.pairs; ++i) {
    const auto batch = Load<int64_t>(ends + 2 * i * int64_t{sizeof(int64_t)});
    const auto count = Load<int64_t>(ends + (2 * i + 1) * int64_t{sizeof(int64_t)});
    if (count <= 0) return;
    const bool is_there = batch >= 0 && batch < job.batches;
    body(batch, count, 2 * i + (is_there ? 1 : 0));
    if (!is_there) return;
  }
}

// Calls body(batch, begin, end) for the parts of a list of batches [0, last), of `all` terms or rows.
template <class Body>
void ForEachPart(const CodeProduct& job, int64_t last, int64_t all, const JobContext& context,
                 const Body& body) {
  const char* const ends = job.ends.Address(context);
  int64_t begin = 0;
  if (job.pairs >= 0) {
    return ForEachPair(job, context, [&](int64_t batch, int64_t count, int64_t) {
      const int64_t end = begin + std::min(count, all - begin);
      if (batch >= 0 && batch < job.batches && begin < end) body(batch, begin, end);
      begin = end;
    });
  }
  for (int64_t batch = 0; batch < last && begin < all; ++batch) {
    const auto number = Load<int64_t>(ends + batch * int64_t{sizeof(int64_t)});
    const int64_t count = job.are_counts ? number : number < begin ? 0 : number - begin;
    const int64_t end = begin + std::clamp<int64_t>(count, 0, all - begin);
    body(batch, begin, end);
    begin = end;
  }
}

void FailList(const CodeProduct& job, const JobContext& context, int64_t value, int64_t element,
              const char* accepted, int64_t most) {
  Text message(context.api, ": ", job.name);
  message.Add(" has the value ").Add(value).Add(" at element ").Add(element).Add(", accepted: ");
  context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message.Add(accepted).Add(most).Add("."));
}

// Fails the stream if the list has a part that reaches beyond all terms or rows, or a pair without a batch.
void CheckList(const CodeProduct& job, int64_t all, const JobContext& context) {
  const char* const of_all = job.cut == CodeProduct::Cut::kTerms
                                 ? "groups of so many terms together at most: "
                                 : "groups of so many rows together at most: ";
  const char* const ends = job.ends.Address(context);
  int64_t begin = 0;
  if (job.pairs >= 0) {
    bool has_failed = false;
    return ForEachPair(job, context, [&](int64_t batch, int64_t count, int64_t element) {
      if (has_failed) return;
      const bool is_there = element % 2 != 0;
      has_failed = !is_there || count > all - begin;
      if (!has_failed) {
        begin += count;
      } else if (is_there) {
        FailList(job, context, count, element, of_all, all);
      } else {
        FailList(job, context, batch, element, "groups from 0 to ", job.batches - 1);
      }
    });
  }
  for (int64_t batch = 0; batch < job.batches; ++batch) {
    const auto number = Load<int64_t>(ends + batch * int64_t{sizeof(int64_t)});
    const int64_t count = std::max<int64_t>(job.are_counts ? number : number < begin ? 0 : number - begin, 0);
    if (count > all - begin) return FailList(job, context, number, batch, of_all, all);
    begin += count;
  }
}

// Computes tiles of a product.
class Tiles {
 public:
  Tiles(const CodeProduct& job, const JobContext& context)
      : job_(job),
        context_(context),
        left_(job.left, job.isa, context),
        right_(job.right, job.isa, context),
        left_scale_(job.left_scale, job.isa, context),
        right_scale_(job.right_scale, job.isa, context),
        left_level_(job.left_level, job.isa, context),
        right_level_(job.right_level, job.isa, context),
        zero_(job.zero, job.isa, context),
        column_factor_(job.column_factor, job.isa, context),
        row_factor_(job.row_factor, job.isa, context),
        bias_(job.bias, job.isa, context),
        multiply_(kMultiply.For(job.isa)),
        store_(FindStore(job.isa, job.dtype)),
        size_(static_cast<int64_t>(StorageBits(job.dtype) / 8)) {}

  // Computes at most kRows rows and kColumns columns of a batch.
  void Compute(int64_t batch, const Terms& terms, int64_t first, int64_t rows, int64_t from) const {
    const int64_t columns = std::min(job_.columns - from, kColumns);
    const int64_t block = job_.block > 0 ? job_.block : std::max<int64_t>(job_.terms, 1);
    float sums[kRows * kColumns] = {};
    for (int64_t begin = terms.begin; begin < terms.end; begin += block)
      AddBlock(batch, first, rows, from, columns, begin, std::min(terms.end, begin + block),
               terms.block + (begin - terms.begin) / block, sums);
    for (int64_t row = 0; row < rows; ++row) Finish(batch, first + row, from, columns, sums + row * kColumns);
  }

 private:
  // Adds a block's part of the sums.
  void AddBlock(int64_t batch, int64_t first, int64_t rows, int64_t from, int64_t columns, int64_t begin,
                int64_t end, int64_t block, float* sums) const {
    float parts[kRows * kColumns] = {};
    float left[kRows * kTerms] = {};
    float right[kTerms * kColumns] = {};
    float of_rows[kRows] = {};
    for (int64_t term = begin; term < end; term += kTerms) {
      const int64_t n = std::min(kTerms, end - term);
      BringLeft(batch, first, rows, term, n, left);
      BringRight(batch, from, columns, term, n, right);
      multiply_(left, right, n, rows, parts);
      for (int64_t row = 0; zero_.is_there() && row < rows; ++row) {
        for (int64_t i = 0; i < n; ++i) of_rows[row] += left[row * kTerms + i];
      }
    }
    for (int64_t column = 0; column < columns; ++column) {
      const float of_column = Product(right_scale_, right_level_, batch, from + column, block);
      const float zero = zero_.is_there() ? zero_.At(batch, from + column, block) : 0;
      right[column] = of_column;
      right[kColumns + column] = zero;
    }
    for (int64_t row = 0; row < rows; ++row) {
      const float of_row = Product(left_scale_, left_level_, batch, first + row, block);
      float* const part = parts + row * kColumns;
      if (zero_.is_there()) {
        for (int64_t i = 0; i < columns; ++i) part[i] -= of_rows[row] * right[kColumns + i];
      }
      for (int64_t i = 0; i < columns; ++i) sums[row * kColumns + i] += part[i] * (of_row * right[i]);
    }
  }
  static float Product(const Scales& scales, const Scales& level, int64_t batch, int64_t line,
                       int64_t block) {
    float product = scales.is_there() ? scales.At(batch, line, block) : 1;
    if (level.is_there()) product *= level.At(batch, line, block);
    return product;
  }

  void BringLeft(int64_t batch, int64_t first, int64_t rows, int64_t term, int64_t n, float* to) const {
    if (left_.HasTermsSideBySide()) {
      for (int64_t row = 0; row < rows; ++row) left_.Bring(batch, first + row, term, n, to + row * kTerms);
      return;
    }
    float line[kRows];
    for (int64_t i = 0; i < n; ++i) {
      left_.Bring(batch, first, term + i, rows, line);
      for (int64_t row = 0; row < rows; ++row) to[row * kTerms + i] = line[row];
    }
  }
  void BringRight(int64_t batch, int64_t from, int64_t columns, int64_t term, int64_t n, float* to) const {
    if (!right_.HasTermsSideBySide()) {
      for (int64_t i = 0; i < n; ++i) right_.Bring(batch, from, term + i, columns, to + i * kColumns);
      return;
    }
    float line[kTerms];
    for (int64_t column = 0; column < columns; ++column) {
      right_.Bring(batch, from + column, term, n, line);
      for (int64_t i = 0; i < n; ++i) to[i * kColumns + column] = line[i];
    }
  }

  void Finish(int64_t batch, int64_t row, int64_t from, int64_t columns, float* sums) const {
    if (bias_.is_there() && job_.adds_first) AddBias(batch, from, columns, sums);
    if (column_factor_.is_there()) {
      for (int64_t i = 0; i < columns; ++i) sums[i] *= column_factor_.At(batch, from + i);
    }
    if (row_factor_.is_there()) {
      const float factor = row_factor_.At(batch, row);
      for (int64_t i = 0; i < columns; ++i) sums[i] *= factor;
    }
    if (bias_.is_there() && !job_.adds_first) AddBias(batch, from, columns, sums);
    char* const to =
        job_.out.Address(context_) + (batch * job_.out_batch_step + row * job_.out_row_step + from) * size_;
    if (job_.adds_to_out) {
      float before[kColumns];
      FindLoad(job_.isa, job_.dtype, ACL_FLOAT)(to, before, static_cast<size_t>(columns));
      for (int64_t i = 0; i < columns; ++i) sums[i] = before[i] + sums[i];
    }
    store_(sums, to, static_cast<size_t>(columns), false);
  }
  void AddBias(int64_t batch, int64_t from, int64_t columns, float* sums) const {
    for (int64_t i = 0; i < columns; ++i) sums[i] += bias_.At(batch, from + i);
  }

  const CodeProduct& job_;
  const JobContext& context_;
  const Codes left_, right_;
  const Scales left_scale_, right_scale_, left_level_, right_level_, zero_;
  const LineNumbers column_factor_, row_factor_, bias_;
  void (*multiply_)(const float*, const float*, int64_t, int64_t, float*);
  StoreFunction store_;
  int64_t size_;
};

}  // namespace

void CodeProduct::Run(const JobContext& context) const noexcept {
  ReportIsaThatRan(isa);
  const Tiles tiles(*this, context);
  if (cut != Cut::kNone && raises) CheckList(*this, cut == Cut::kTerms ? terms : rows, context);
  const int64_t down = QuotientUp(rows, kRows);
  const int64_t across = QuotientUp(columns, kColumns);
  // Each unit reads the list of terms up to its own: there are few units of many batches.
  const int64_t each = cut == Cut::kTerms ? std::max<int64_t>(1, QuotientUp(batches, 256)) : 1;
  const int64_t parts = cut == Cut::kRows ? 1 : QuotientUp(batches, each);
  ForEachBlock(parts * down * across, threads, [&](int64_t unit) {
    const DefaultFloatEnvironment environment;
    const int64_t first = unit / (down * across) * each;
    const int64_t last = std::min(batches, first + each);
    const int64_t row = unit / across % down * kRows;
    const int64_t until = std::min(rows, row + kRows);
    const int64_t column = unit % across * kColumns;
    const Terms all{0, terms, 0};
    switch (cut) {
      case Cut::kNone:
        tiles.Compute(first, all, row, until - row, column);
        break;
      case Cut::kTerms: {
        int64_t batch = first;
        const auto compute = [&](int64_t begin, int64_t end) {
          const int64_t own = block > 0 ? together * (begin / (together * block) + batch) : 0;
          tiles.Compute(batch, {begin, end, own}, row, until - row, column);
          ++batch;
        };
        ForEachPart(*this, last, terms, context, [&](int64_t part, int64_t begin, int64_t end) {
          if (part >= first) compute(begin, end);
        });
        while (batch < last) compute(terms, terms);  // batches behind the last term have none
        break;
      }
      case Cut::kRows:
        ForEachPart(*this, batches, until, context, [&](int64_t batch, int64_t begin, int64_t end) {
          const int64_t own = std::max(begin, row);
          if (own < end) tiles.Compute(batch, all, own, end - own, column);
        });
        break;
    }
  });
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
