// Takes, sums and multiplies rows (see route.h). One thread computes a row, and sums follow the order of
// entries, so bits do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/data_type.h"
#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/parallel.h"
#include "engine/route/route.h"

namespace portacl::engine {
namespace {

constexpr int64_t kColumns = 512;         // of a row, loaded at a time
constexpr int64_t kBlockBytes = 1 << 16;  // that a block of rows reads

int64_t RowsOfBlock(int64_t row_bytes) {
  return std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(row_bytes, 1));
}
// Calls body(first, end) for blocks of rows.
template <class Body>
void ForEachRows(int64_t rows, int64_t row_bytes, int threads, const Body& body) {
  const int64_t each = RowsOfBlock(row_bytes);
  ForEachBlock((rows + each - 1) / each, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    body(block * each, std::min(rows, (block + 1) * each));
  });
}

int64_t IndexOr(const OptionalBuffer& buffer, const JobContext& context, int64_t i, int64_t otherwise) {
  return buffer.is_there ? Load<int64_t>(buffer.buffer.Address(context) + i * int64_t{sizeof(int64_t)})
                         : otherwise;
}
float NumberAt(const OptionalBuffer& buffer, const JobContext& context, int64_t i, float otherwise) {
  return buffer.is_there ? Load<float>(buffer.buffer.Address(context) + i * int64_t{sizeof(float)})
                         : otherwise;
}

// Loads some columns of a row as float32.
void Bring(const NumberRows& rows, const JobContext& context, int64_t columns, int64_t row, int64_t column,
           int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + (row * columns + column) * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t columns, int64_t row, int64_t column,
         int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + (row * columns + column) * rows.size,
             static_cast<size_t>(n), false);
}

bool IsRow(int64_t row, int64_t rows) { return row >= 0 && row < rows; }

void Add(float* sum, const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) sum[i] += x[i];
}
void Scale(float* x, float factor, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] *= factor;
}

}  // namespace

NumberRows NumberRowsOf(Isa isa, BufferRef buffer, aclDataType dtype) noexcept {
  return {buffer, static_cast<int32_t>(StorageBits(dtype) / 8), FindLoad(isa, dtype, ACL_FLOAT),
          FindStore(isa, dtype), true};
}

void TakeRows::Run(const JobContext& context) const noexcept {
  const char* const from = source.Address(context);
  char* const target = to.Address(context);
  BadIndex bad;
  const auto row_of = [&](int64_t row) {
    const int64_t at = IndexOr(entry, context, row, row);
    return modulus == 0 ? at / divisor : at % modulus;
  };
  ForEachRows(rows, bytes, threads, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      char* const at = target + row * bytes;
      if (entry.is_there && !refuses_none && IndexOr(entry, context, row, row) == -1) {
        if (clears) std::memset(at, 0, static_cast<size_t>(bytes));
        continue;
      }
      const int64_t source_row = row_of(row);
      if (IsRow(source_row, source_rows)) {
        std::memcpy(at, from + source_row * bytes, static_cast<size_t>(bytes));
      } else {
        bad.Note(row);
        std::memset(at, 0, static_cast<size_t>(bytes));
      }
    }
  });
  bad.Report(context, raises, name, 0, source_rows, row_of);
}

void CombineRows::Run(const JobContext& context) const noexcept {
  BadIndex bad;
  BadIndex bad_expert;
  const auto index_at = [&](int64_t p) { return IndexOr(index, context, p, p); };
  ForEachRows(rows, columns * (entries_of_row + 1) * 4, threads, [&](int64_t first_row, int64_t end_row) {
    float sum[kColumns];
    float term[kColumns];
    float other[kColumns];
    for (int64_t row = first_row; row < end_row; ++row) {
      const int64_t low = begin.is_there ? IndexOr(begin, context, row, 0) : row * entries_of_row;
      const int64_t high = begin.is_there ? IndexOr(begin, context, row + 1, 0) : low + entries_of_row;
      for (int64_t column = 0; column < columns; column += kColumns) {
        const int64_t n = std::min(kColumns, columns - column);
        std::fill_n(sum, n, 0.0f);
        if (first.is_there) Bring(first, context, columns, row, column, n, sum);
        if (second.is_there) {
          Bring(second, context, columns, row, column, n, term);
          Add(sum, term, n);
        }
        for (int64_t p = low; p < high; ++p) {
          const int64_t at = is_column_order ? (p - low) * rows + row : p;
          const int64_t from = index_at(at);
          const int64_t own = begin.is_there ? from : p;  // index of factor and expert
          const float weight = NumberAt(factor, context, own, 1.0f);
          if (skips_zero && factor.is_there && weight == 0.0f) continue;
          const int64_t e = IndexOr(expert, context, own, -1);
          const bool is_own = expert.is_there && (copy.Contains(e) || constant.Contains(e));
          if (expert.is_there && zero.Contains(e)) continue;
          if (is_own) {
            Bring(token, context, columns, row, column, n, term);
            if (constant.Contains(e)) {
              Scale(term, NumberAt(alpha1, context, alphas == 1 ? 0 : e - constant.low, 1.0f), n);
              Bring(constant_row, context, columns, constant_rows == 1 ? 0 : e - constant.low, column, n,
                    other);
              Scale(other, NumberAt(alpha2, context, alphas == 1 ? 0 : e - constant.low, 1.0f), n);
              Add(term, other, n);
            }
          } else if (IsRow(from, source_rows)) {
            Bring(source, context, columns, from, column, n, term);
          } else {
            if (from < least || (from >= source_rows && !may_exceed)) bad.Note(at);
            continue;
          }
          if (bias.is_there) {
            if (IsRow(e, experts)) {
              Bring(bias, context, columns, e, column, n, other);
              Add(term, other, n);
            } else {
              bad_expert.Note(own);
            }
          }
          if (factor.is_there) Scale(term, weight, n);
          Add(sum, term, n);
        }
        Put(to, context, columns, row, column, n, sum);
      }
    }
  });
  bad.Report(context, raises, name, least, source_rows, index_at);
  bad_expert.Report(context, raises, expert_name, 0, experts,
                    [&](int64_t p) { return IndexOr(expert, context, p, 0); });
}

void BroadcastRows::Run(const JobContext& context) const noexcept {
  BadIndex bad;
  ForEachRows(rows, columns * 8, threads, [&](int64_t first, int64_t end) {
    float term[kColumns];
    for (int64_t row = first; row < end; ++row) {
      const int64_t p = IndexOr(entry, context, row, row);
      const int64_t from = p < 0 ? -1 : IndexOr(source_row, context, p, p / divisor);
      const bool is_there = p >= 0 && IsRow(from, source_rows);
      if (p >= 0 && from != -1 && !is_there) bad.Note(p);
      const float weight = is_there ? NumberAt(factor, context, p, 1.0f) : 0.0f;
      for (int64_t column = 0; column < columns; column += kColumns) {
        const int64_t n = std::min(kColumns, columns - column);
        if (is_there) {
          Bring(source, context, columns, from, column, n, term);
          if (factor.is_there) Scale(term, weight, n);
        } else {
          std::fill_n(term, n, 0.0f);
        }
        Put(to, context, columns, row, column, n, term);
      }
    }
  });
  bad.Report(context, raises, name, -1, source_rows,
             [&](int64_t p) { return IndexOr(source_row, context, p, 0); });
}

void DotRows::Run(const JobContext& context) const noexcept {
  char* const target = to.Address(context);
  constexpr int64_t kSums = 8;
  BadIndex bad_expert;
  ForEachRows(entries, columns * 8, threads, [&](int64_t first, int64_t end) {
    float x[kColumns];
    float y[kColumns];
    for (int64_t p = first; p < end; ++p) {
      double sums[kSums] = {};
      const int64_t from = IndexOr(index, context, p, p);
      const int64_t with = IndexOr(right_row, context, p, p / divisor);
      const int64_t e = IndexOr(expert, context, p, -1);
      const bool is_there = IsRow(from, left_rows) && IsRow(with, right_rows);
      for (int64_t column = 0; is_there && column < columns; column += kColumns) {
        const int64_t n = std::min(kColumns, columns - column);
        Bring(left, context, columns, from, column, n, x);
        if (bias.is_there && IsRow(e, experts)) {
          Bring(bias, context, columns, e, column, n, y);
          Add(x, y, n);
        } else if (bias.is_there) {
          bad_expert.Note(p);
        }
        Bring(right, context, columns, with, column, n, y);
        for (int64_t i = 0; i < n; ++i)
          sums[i % kSums] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
      }
      for (int64_t width = kSums / 2; width > 0; width /= 2) {
        for (int64_t i = 0; i < width; ++i) sums[i] += sums[i + width];
      }
      Store(target + p * int64_t{sizeof(float)}, static_cast<float>(sums[0]));
    }
  });
  bad_expert.Report(context, raises, expert_name, 0, experts,
                    [&](int64_t p) { return IndexOr(expert, context, p, 0); });
}

namespace {

int8_t Saturated(float rounded) {
  if (std::isnan(rounded)) return 0;
  return static_cast<int8_t>(std::clamp(rounded, -128.0f, 127.0f));
}

// Truncates a number in FLOAT16's range to FLOAT16.
float TruncatedToHalf(float x) {
  const float size = std::fabs(x);
  if (!(size > 0)) return x;
  int exponent = 0;
  std::frexp(size, &exponent);
  const float unit = std::ldexp(1.0f, std::max(exponent - 11, -24));
  return std::copysign(std::trunc(size / unit) * unit, x);
}

}  // namespace

void QuantiseRows::Run(const JobContext& context) const noexcept {
  ForEachRows(rows, columns * 8, threads, [&](int64_t first, int64_t end) {
    float x[kColumns];
    float weight[kColumns];
    uint16_t half[kColumns];
    const auto to_half = [&](float* values, int64_t n) {
      store_half(values, half, static_cast<size_t>(n), false);
      load_half(half, values, static_cast<size_t>(n));
    };
    for (int64_t row = first; row < end; ++row) {
      char* const target = to.Address(context) + row * columns;
      const int64_t p = IndexOr(entry, context, row, row);
      if (p < 0) {
        if (clears) std::memset(target, 0, static_cast<size_t>(columns));
        if (clears && row_scale.is_there)
          Store(row_scale.buffer.Address(context) + row * int64_t{sizeof(float)}, 0.0f);
        continue;
      }
      const int64_t from = p / divisor;
      if (!is_dynamic) {
        float numbers[] = {NumberAt(scale, context, 0, 1.0f), NumberAt(offset, context, 0, 0.0f)};
        to_half(numbers, 2);
        for (int64_t column = 0; column < columns; column += kColumns) {
          const int64_t n = std::min(kColumns, columns - column);
          Bring(source, context, columns, from, column, n, x);
          to_half(x, n);
          Scale(x, numbers[0], n);
          to_half(x, n);
          for (int64_t i = 0; i < n; ++i) x[i] += numbers[1];
          to_half(x, n);
          for (int64_t i = 0; i < n; ++i)
            target[column + i] = static_cast<char>(Saturated(std::nearbyintf(x[i])));
        }
        continue;
      }
      int64_t scale_row = 0;
      if (scale.is_there && scale_rows > 1) {
        const char* const experts = expert.buffer.Address(context);
        const int64_t e = is_wide ? Load<int64_t>(experts + p * 8) : Load<int32_t>(experts + p * 4);
        scale_row = std::clamp<int64_t>(e - first_expert, 0, scale_rows - 1);
      }
      const auto bring = [&](int64_t column, int64_t n) {
        Bring(source, context, columns, from, column, n, x);
        if (!scale.is_there) return;
        std::memcpy(weight,
                    scale.buffer.Address(context) + (scale_row * columns + column) * int64_t{sizeof(float)},
                    static_cast<size_t>(n) * sizeof(float));
        for (int64_t i = 0; i < n; ++i) x[i] *= weight[i];
      };
      float greatest = 0;
      for (int64_t column = 0; column < columns; column += kColumns) {
        const int64_t n = std::min(kColumns, columns - column);
        bring(column, n);
        for (int64_t i = 0; i < n; ++i) greatest = std::fabs(x[i]) > greatest ? std::fabs(x[i]) : greatest;
      }
      const float step = greatest / 127.0f;
      for (int64_t column = 0; column < columns; column += kColumns) {
        const int64_t n = std::min(kColumns, columns - column);
        bring(column, n);
        for (int64_t i = 0; i < n; ++i) {
          const float number = step == 0 ? 0.0f : TruncatedToHalf(x[i] / step);
          target[column + i] = static_cast<char>(Saturated(std::round(number)));
        }
      }
      if (row_scale.is_there) Store(row_scale.buffer.Address(context) + row * int64_t{sizeof(float)}, step);
    }
  });
}

void GateGradient::Run(const JobContext& context) const noexcept {
  BadIndex bad;
  const auto number = [&](const BufferRef& buffer, int64_t i) {
    return Load<float>(buffer.Address(context) + i * 4);
  };
  const auto expert = [&](int64_t i) { return Load<int64_t>(chosen.Address(context) + i * 8); };
  ForEachRows(rows, experts * 8, threads, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      const auto x_of = [&](int64_t j) {
        const int64_t e = expert(row * k + j);
        return IsRow(e, experts) ? number(x, row * experts + e) : 0.0f;
      };
      auto* const sum = reinterpret_cast<char*>(sums.Address(context)) + row * experts * 4;
      std::memset(sum, 0, static_cast<size_t>(experts) * sizeof(float));
      float total = 0;
      for (int64_t j = 0; j < k; ++j) total += x_of(j);
      total += epsilon;
      float beta = 0;
      for (int64_t j = 0; j < k; ++j) beta += x_of(j) / total * (factor * number(gradient, row * k + j));
      for (int64_t j = 0; j < k; ++j) {
        const int64_t e = expert(row * k + j);
        if (!IsRow(e, experts)) {
          bad.Note(row * k + j);
          continue;
        }
        const float d = (factor * number(gradient, row * k + j) - beta) / total;
        Store(sum + e * 4, Load<float>(sum + e * 4) + d);
      }
      for (int64_t e = 0; e < experts; ++e) {
        const float own = number(x, row * experts + e);
        const float result = own * (1.0f - own) * Load<float>(sum + e * 4);
        Put(to, context, experts, row, e, 1, &result);
      }
    }
  });
  bad.Report(context, raises, name, 0, experts, expert);
}

}  // namespace portacl::engine
