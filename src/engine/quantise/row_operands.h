// The operands of quantised rows: numbers read and written as float32, rows of factors, and the group of each row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/data_type.h"
#include "engine/codes.h"
#include "engine/conversions.h"
#include "engine/job.h"
#include "engine/quantise/quantise.h"
#include "engine/strided.h"

namespace portacl::engine::quantise {

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

  // Returns the index of the row of factors for a row.
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
    if (groups_.are_pairs) return Behind(Number(2 * at_ + 1));
    return groups_.are_counts ? Behind(Number(at_)) : std::max(total_, Number(at_));
  }
  // A count may be any number.
  int64_t Behind(int64_t count) const {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    return count > kMost - total_ ? kMost : total_ + std::max<int64_t>(0, count);
  }

  const RowGroups& groups_;
  const char* numbers_ = nullptr;
  int64_t at_ = 0;
  int64_t total_ = 0;
};

}  // namespace portacl::engine::quantise
