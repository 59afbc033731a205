// The results of integer matrix products (see integer_result.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/integer_result.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/buffer_ref.h"
#include "engine/gemm/scale_integers.h"
#include "engine/gemm/scale_words.h"

namespace portacl::engine {
namespace {

constexpr int64_t kMost = 512;
constexpr int64_t kNumber = sizeof(float);

// Loads `count` numbers `step` bytes apart as float32, or only one if they do not change.
int64_t LoadNumbers(const IntegerResult& result, const char* first, int64_t step, aclDataType dtype,
                    int64_t count, float* to) {
  const int32_t size = dtype == ACL_FLOAT ? 4 : 2;
  if (step == 0) count = 1;
  alignas(64) char gathered[kMost * sizeof(float)];
  if (step != size && count > 1) {
    result.gather(first, step, size, gathered, count);
    first = gathered;
  }
  if (size == 4) {
    std::memcpy(to, first, static_cast<size_t>(count) * sizeof(float));
  } else {
    (dtype == ACL_FLOAT16 ? result.load_f16 : result.load_bf16)(first, to, static_cast<size_t>(count));
  }
  return count;
}

void Multiply(float* values, const float* by, int64_t numbers, int64_t n) {
  if (numbers == 1) {
    for (int64_t j = 0; j < n; ++j) values[j] *= by[0];
  } else {
    for (int64_t j = 0; j < n; ++j) values[j] *= by[j];
  }
}
void Add(float* values, const float* more, int64_t numbers, int64_t n) {
  if (numbers == 1) {
    for (int64_t j = 0; j < n; ++j) values[j] += more[0];
  } else {
    for (int64_t j = 0; j < n; ++j) values[j] += more[j];
  }
}

// Numbers along the job's rows or columns.
struct Along {
  const char* first;
  int64_t step;
};
Along AlongColumns(const IntegerNumbers& numbers, const IntegerSums& sums) {
  const int64_t row = sums.is_transposed ? numbers.column : numbers.row;
  const int64_t column = sums.is_transposed ? numbers.row : numbers.column;
  return {numbers.first + sums.row * row + sums.column * column, column};
}

int8_t Saturated(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int8_t>(std::nearbyint(std::clamp(value, -128.0f, 127.0f)));
}

}  // namespace

void AddIntegers(const float* block, int64_t n, bool is_first, float* sums) noexcept {
  for (int64_t j = 0; j < n; ++j) {
    auto sum = static_cast<uint32_t>(static_cast<int32_t>(block[j]));
    if (!is_first) {
      uint32_t before;
      std::memcpy(&before, sums + j, sizeof before);
      sum += before;
    }
    std::memcpy(sums + j, &sum, sizeof sum);
  }
}

void ResultOfIntegers(const IntegerResult& result, const IntegerSums& sums, Isa isa, StoreFunction store,
                      char* to) noexcept {
  const int64_t n = sums.count;
  const bool adds_wholes = sums.added.first != nullptr && sums.added.dtype == ACL_INT32;
  alignas(64) uint32_t with_added[kMost];
  const auto* wholes = reinterpret_cast<const char*>(sums.sums);
  if (adds_wholes) {
    std::memcpy(with_added, wholes, static_cast<size_t>(n) * sizeof(uint32_t));
    for (int64_t j = 0; j < n; ++j) with_added[j] += Load<uint32_t>(sums.added.first + j * sums.added.step);
    wholes = reinterpret_cast<const char*>(with_added);
  }
  if (result.out == ACL_INT32) {
    std::memcpy(to, wholes, static_cast<size_t>(n) * sizeof(uint32_t));
    return;
  }
  alignas(64) float values[kMost];
  alignas(64) float numbers[kMost];
  const auto load = [&](const Along& along, aclDataType dtype) {
    return LoadNumbers(result, along.first, along.step, dtype, n, numbers);
  };
  const Along scale = AlongColumns(result.scale, sums);
  const auto scale_integers = FindScaleIntegers(isa);
  if (result.scale.dtype == ACL_FLOAT && (scale.step == kNumber || scale.step == 0)) {
    scale_integers(wholes, scale.first, scale.step == 0, n, values);
  } else {
    const bool is_one = load(scale, result.scale.dtype) == 1;
    scale_integers(wholes, reinterpret_cast<const char*>(numbers), is_one, n, values);
  }
  if (result.factor.first != nullptr)
    Multiply(values, numbers, load(AlongColumns(result.factor, sums), result.factor.dtype), n);
  if (result.offset.first != nullptr) {
    Add(values, numbers, load(AlongColumns(result.offset, sums), result.offset.dtype), n);
  } else if (result.has_words && result.out == ACL_INT8) {
    for (int64_t j = 0; j < n; ++j)
      values[j] += OffsetOfScaleWord(Load<uint64_t>(scale.first + j * scale.step));
  }
  if (sums.added.first != nullptr && !adds_wholes)
    Add(values, numbers, load({sums.added.first, sums.added.step}, sums.added.dtype), n);
  if (result.out != ACL_INT8) return store(values, to, static_cast<size_t>(n), false);
  for (int64_t j = 0; j < n; ++j) to[j] = static_cast<char>(Saturated(values[j]));
}

}  // namespace portacl::engine
