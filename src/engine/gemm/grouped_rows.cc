// Rowwise computations before and after grouped matrix products (see grouped.h). One thread computes a row,
// so bits do not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/gemm/grouped_rows.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/functions/gelu-inl.h"
#include "engine/gemm/grouped.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace grouped {

namespace hn = hwy::HWY_NAMESPACE;

template <GroupedRows::Function kFunction, class D, class V>
HWY_INLINE V Activated(D d, V x) {
  using Function = GroupedRows::Function;
  const V one = hn::Set(d, 1.0f);
  if constexpr (kFunction == Function::kRelu) {
    return hn::IfThenElse(hn::IsNaN(x), x, hn::Max(x, hn::Zero(d)));
  } else if constexpr (kFunction == Function::kGelu) {
    return functions::GeluByErf(d, x);
  } else if constexpr (kFunction == Function::kGeluTanh) {
    return functions::GeluByTanh(d, x);
  } else if constexpr (kFunction == Function::kFastGelu) {
    return hn::Div(x, hn::Add(one, functions::Exp(d, hn::Mul(hn::Set(d, -1.702f), x))));
  } else {
    return hn::Div(x, hn::Add(one, functions::Exp(d, hn::Neg(x))));
  }
}

template <GroupedRows::Function kFunction>
void ApplyOne(float* values, int64_t n) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(Activated<kFunction>(d, hn::LoadU(d, values + i)), d, values + i);
  if (i == n) return;
  float last[16] = {};
  std::copy(values + i, values + n, last);
  hn::StoreU(Activated<kFunction>(d, hn::LoadU(d, last)), d, last);
  std::copy(last, last + (n - i), values + i);
}

void Apply(GroupedRows::Function function, float* values, int64_t n) {
  using Function = GroupedRows::Function;
  if (function == Function::kRelu) ApplyOne<Function::kRelu>(values, n);
  if (function == Function::kGelu) ApplyOne<Function::kGelu>(values, n);
  if (function == Function::kGeluTanh) ApplyOne<Function::kGeluTanh>(values, n);
  if (function == Function::kFastGelu) ApplyOne<Function::kFastGelu>(values, n);
  if (function == Function::kSilu || function == Function::kSwigluQuant) ApplyOne<Function::kSilu>(values, n);
}

}  // namespace grouped
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/data_type.h"
#include "base/errors.h"
#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/gemm/quantised.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"
#include "engine/strided.h"

namespace portacl::engine {
namespace {

constexpr auto kApply = PORTACL_ISA_TABLE(grouped::Apply);
constexpr int64_t kColumns = 512;  // of a row, loaded at a time
constexpr int64_t kBlockBytes = 1 << 16;

// Calls body(row) for every row.
template <class Body>
void ForEachRow(int64_t rows, int64_t row_bytes, int threads, const Body& body) {
  const int64_t each = std::max<int64_t>(1, kBlockBytes / std::max<int64_t>(row_bytes, 1));
  ForEachBlock((rows + each - 1) / each, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t end = std::min(rows, (block + 1) * each);
    for (int64_t row = block * each; row < end; ++row) body(row);
  });
}
// Calls body(column, count) for tiles of a row.
template <class Body>
void ForEachTile(int64_t columns, const Body& body) {
  for (int64_t column = 0; column < columns; column += kColumns)
    body(column, std::min(kColumns, columns - column));
}

int64_t SizeOf(const GroupedOperand& operand) { return static_cast<int64_t>(StorageBits(operand.dtype) / 8); }
char* At(const GroupedOperand& operand, const JobContext& context, int64_t row, int64_t column = 0) {
  return operand.buffer.Address(context) + row * operand.row + column * operand.column;
}

// Stores or loads adjacent numbers, at most kColumns.
void Put(const GroupedOperand& to, const JobContext& context, Isa isa, int64_t row, int64_t column, int64_t n,
         const void* numbers) {
  const int64_t size = SizeOf(to);
  char* const target = At(to, context, row, column);
  if (to.column == size || n == 1) {
    std::memcpy(target, numbers, static_cast<size_t>(n * size));
  } else {
    FindScatter(isa, /*from_memory=*/false)(numbers, target, to.column, static_cast<int32_t>(size), n);
  }
}
const char* Bring(const GroupedOperand& from, const JobContext& context, Isa isa, int64_t row, int64_t column,
                  int64_t n, char* memory) {
  const int64_t size = SizeOf(from);
  const char* const source = At(from, context, row, column);
  if (from.column == size || n == 1) return source;
  FindGather(isa, GatherSource::kCache)(source, from.column, static_cast<int32_t>(size), memory, n);
  return memory;
}

int8_t Saturated(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int8_t>(std::nearbyint(std::clamp(value, -128.0f, 127.0f)));
}

float NumberOf(const GroupedOperand& operand, const JobContext& context, Isa isa, int64_t row) {
  float number;
  FindLoad(isa, operand.dtype, ACL_FLOAT)(At(operand, context, row), &number, 1);
  return number;
}

float GreatestSize(const float* values, int64_t n, float greatest) {
  for (int64_t i = 0; i < n; ++i)
    greatest = std::fabs(values[i]) > greatest ? std::fabs(values[i]) : greatest;
  return greatest;
}

}  // namespace

void SetFunction(GroupedRows& rows, Isa isa) noexcept {
  rows.isa = isa;
  rows.apply = kApply.For(isa);
}

void GroupedRows::Run(const JobContext& context) const noexcept {
  const int64_t there = std::min(Load<int64_t>(covered.Address(context)), rows);
  const StoreFunction store =
      function == Function::kSwigluQuant ? FindStore(isa, ACL_FLOAT16) : FindStore(isa, out.dtype);
  const LoadFunction load_half = FindLoad(isa, ACL_FLOAT16, ACL_FLOAT);
  ForEachRow(there, columns * int64_t{sizeof(float)}, threads, [&](int64_t row) {
    auto* const values = reinterpret_cast<float*>(sums.Address(context)) + row * columns;
    if (factor.is_there) {
      const float number = NumberOf(factor, context, isa, row);
      for (int64_t i = 0; i < columns; ++i) values[i] *= number;
    }
    alignas(64) char rounded[kColumns * sizeof(float)];
    if (function != Function::kSwigluQuant) {
      if (function != Function::kNone) apply(function, values, columns);
      ForEachTile(columns, [&](int64_t column, int64_t n) {
        store(values + column, rounded, static_cast<size_t>(n), false);
        Put(out, context, isa, row, column, n, rounded);
      });
      return;
    }
    const int64_t half = columns / 2;
    apply(function, values, half);
    for (int64_t i = 0; i < half; ++i) values[i] *= values[half + i];
    if (smooth.is_there) {
      const int64_t group = GroupOfRow(covered.Address(context), scheduled, row);
      const char* const by = smooth.buffer.Address(context) + group * smooth.step;
      for (int64_t i = 0; i < half; ++i) values[i] *= Load<float>(by + i * smooth.column);
    }
    const float step = GreatestSize(values, half, 0.0f) / 127.0f;
    const float inverse = 1.0f / step;
    ForEachTile(half, [&](int64_t column, int64_t n) {
      float* const some = values + column;
      for (int64_t i = 0; i < n; ++i) some[i] = step == 0 ? 0.0f : some[i] * inverse;
      store(some, rounded, static_cast<size_t>(n), false);
      load_half(rounded, some, static_cast<size_t>(n));
      int8_t whole[kColumns];
      for (int64_t i = 0; i < n; ++i) whole[i] = Saturated(some[i]);
      Put(out, context, isa, row, column, n, whole);
    });
    Store(At(row_scale, context, row), step);
  });
}

void GroupedInput::Run(const JobContext& context) const noexcept {
  const LoadFunction load = kind == Kind::kUnpackNibbles ? nullptr : FindLoad(isa, from.dtype, ACL_FLOAT);
  const LoadFunction load_smooth = FindLoad(isa, ACL_FLOAT16, ACL_FLOAT);
  const StoreFunction store_bf16 = FindStore(isa, ACL_BF16);
  ForEachRow(rows, columns * int64_t{sizeof(float)}, threads, [&](int64_t row) {
    if (kind == Kind::kUnpackNibbles) {
      auto* const target = reinterpret_cast<int8_t*>(to.Address(context)) + row * columns;
      if (from.column == 1) {
        UnpackNibbles(from.buffer.Address(context), first + row * from.row, columns, target);
      } else {
        for (int64_t i = 0; i < columns; ++i)
          UnpackNibbles(from.buffer.Address(context), first + row * from.row + i * from.column, 1,
                        target + i);
      }
      return;
    }
    alignas(64) char gathered[kColumns * sizeof(float)];
    alignas(64) float x[kColumns];
    alignas(64) float weight[kColumns];
    const auto bring = [&](int64_t column, int64_t n) {
      load(Bring(from, context, isa, row, column, n, gathered), x, static_cast<size_t>(n));
      if (!smooth.is_there) return;
      load_smooth(Bring(smooth, context, isa, 0, column, n, gathered), weight, static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) x[i] *= weight[i];
    };
    if (kind == Kind::kLess8) {
      char* const target = to.Address(context) + row * columns * 2;
      float sum = 0;  // of integers, exact
      ForEachTile(columns, [&](int64_t column, int64_t n) {
        bring(column, n);
        for (int64_t i = 0; adds_up && i < n; ++i) sum += x[i];
        for (int64_t i = 0; i < n; ++i) x[i] -= 8.0f;
        store_bf16(x, target + column * 2, static_cast<size_t>(n), false);
      });
      if (adds_up) Store(made.Address(context) + row * int64_t{sizeof(float)}, sum);
      return;
    }
    float by;
    if (step.is_there) {
      by = NumberOf(step, context, isa, row);
    } else {
      float greatest = 0;
      ForEachTile(columns, [&](int64_t column, int64_t n) {
        bring(column, n);
        greatest = GreatestSize(x, n, greatest);
      });
      by = greatest / 127.0f;
    }
    auto* const target = reinterpret_cast<int8_t*>(to.Address(context)) + row * columns;
    ForEachTile(columns, [&](int64_t column, int64_t n) {
      bring(column, n);
      for (int64_t i = 0; i < n; ++i) target[column + i] = by == 0 ? int8_t{0} : Saturated(x[i] / by);
    });
    Store(made.Address(context) + row * int64_t{sizeof(float)}, by);
  });
}

void GroupedCombine::Run(const JobContext& context) const noexcept {
  const int64_t there = std::min(Load<int64_t>(covered.Address(context)), rows);
  auto* const head = reinterpret_cast<int64_t*>(words.Address(context));
  int64_t* const next = head + to_rows;
  const auto index_at = [&](int64_t row) {
    const char* const at = At(index, context, row);
    return index.dtype == ACL_INT32 ? int64_t{Load<int32_t>(at)} : Load<int64_t>(at);
  };
  // Inserts from the last on, so that each list is in the rows' order.
  std::fill_n(head, to_rows, int64_t{-1});
  int64_t bad = -1;
  for (int64_t row = there - 1; row >= 0; --row) {
    const int64_t target = index_at(row);
    if (target < 0 || target >= to_rows) {
      bad = row;
    } else if (logit.is_there || head[target] < 0) {
      next[row] = head[target];
      head[target] = row;
    }
  }
  if (raises && bad >= 0) {
    Text message(context.api, ": ", name);
    message.Add(" has the value ").Add(index_at(bad)).Add(" at element ").Add(bad).Add(", accepted: 0 to ");
    context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message.Add(to_rows - 1).Add("."));
  }
  ForEachRow(to_rows, columns * int64_t{sizeof(float)}, threads, [&](int64_t target) {
    alignas(64) float x[kColumns];
    alignas(64) char gathered[kColumns * sizeof(float)];
    ForEachTile(columns, [&](int64_t column, int64_t n) {
      const int64_t of_shared = target - first;
      if (shared.is_there && of_shared >= 0 && of_shared < shared_rows) {
        FindLoad(isa, shared.dtype, ACL_FLOAT)(Bring(shared, context, isa, of_shared, column, n, gathered), x,
                                               static_cast<size_t>(n));
        for (int64_t i = 0; i < n; ++i) x[i] *= weight;
      } else {
        std::fill_n(x, n, 0.0f);
      }
      for (int64_t row = head[target]; row >= 0; row = next[row]) {
        const auto* const sum =
            reinterpret_cast<const float*>(sums.Address(context)) + row * columns + column;
        float by = factor.is_there ? NumberOf(factor, context, isa, row) : 1.0f;
        if (logit.is_there) by *= NumberOf(logit, context, isa, row);
        for (int64_t i = 0; i < n; ++i) x[i] += sum[i] * by;
      }
      Put(to, context, isa, target, column, n, x);
    });
  });
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
