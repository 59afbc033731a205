// Float sums of a product as INT8 (see quantised_sums.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/quantised_sums.h"

#include <algorithm>
#include <cmath>

#include "base/float_environment.h"
#include "engine/gemm/scale_words.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTogether = 8192;  // numbers that a thread takes at a time

int8_t Saturated(float value) {
  if (std::isnan(value)) return 0;
  return static_cast<int8_t>(std::nearbyint(std::clamp(value, -128.0f, 127.0f)));
}

}  // namespace

void QuantisedSums::Run(const JobContext& context) const noexcept {
  const int64_t each = std::max<int64_t>(1, kTogether / std::max<int64_t>(columns, 1));
  ForEachBlock((rows + each - 1) / each, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t end = std::min(rows, (block + 1) * each);
    for (int64_t row = block * each; row < end; ++row) {
      const char* const from = sums.Address(context) + row * columns * int64_t{sizeof(float)};
      char* const codes = to.Address(context) + row * row_step;
      for (int64_t column = 0; column < columns; ++column) {
        const char* const word = words.Address(context) + column * word_step;
        float value = Load<float>(from + column * int64_t{sizeof(float)}) * Load<float>(word);
        value += OffsetOfScaleWord(Load<uint64_t>(word));
        codes[column * column_step] = static_cast<char>(Saturated(value));
      }
    }
  });
}

}  // namespace portacl::engine
