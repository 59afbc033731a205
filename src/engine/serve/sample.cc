// Samples the next token of each row (see serve.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float_environment.h"
#include "engine/parallel.h"
#include "engine/serve/serve.h"

namespace portacl::engine {
namespace {

// Whether x is greater: NaN is greater than all numbers.
bool IsGreater(float x, float y) { return x > y || (std::isnan(x) && !std::isnan(y)); }

// Turns logits into their softmax.
template <class Exponential>
void Normalize(const Exponential& exponential, float* x, int64_t count) {
  float greatest = x[0];
  for (int64_t i = 1; i < count; ++i) greatest = IsGreater(x[i], greatest) ? x[i] : greatest;
  for (int64_t i = 0; i < count; ++i) x[i] -= greatest;
  exponential(x, count);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]);
  const auto total = static_cast<float>(sum);
  for (int64_t i = 0; i < count; ++i) x[i] /= total;
}

// Returns how many of the probabilities, which descend, are kept: until their sum reaches `reached`, and while they are at least `least`
// times the greatest. If nothing has to be reached, the greatest alone is kept and becomes 1.
int64_t KeptOf(float* x, int64_t count, float reached, float least) {
  if (reached <= 0.0f) {
    count = 1;
    x[0] = 1.0f;
  } else if (reached < 1.0f) {
    double sum = 0;
    int64_t i = 0;
    for (; i < count && sum < static_cast<double>(reached); ++i) sum += static_cast<double>(x[i]);
    count = i;
  }
  if (least >= 1.0f) {
    count = 1;
  } else if (least > 0.0f) {
    const float limit = least * x[0];
    int64_t i = 0;
    while (i < count && !(x[i] < limit)) ++i;
    count = i;
  }
  return count;
}

}  // namespace

void SampleRows::Run(const JobContext& context) const noexcept {
  const auto number = [&](const NumberRows& numbers, int64_t at) {
    float value;
    numbers.load(numbers.buffer.Address(context) + at * numbers.size, &value, 1);
    return value;
  };
  const auto address = [&](const OptionalBuffer& buffer, int64_t at, int64_t size) {
    return buffer.buffer.Address(context) + at * size;
  };
  ForEachBlock(
      rows, threads,
      [&](int64_t row) {
        const DefaultFloatEnvironment environment;
        const int64_t start = row * columns;
        auto* const indices = reinterpret_cast<int64_t*>(order.Address(context)) + start;
        float* const x = reinterpret_cast<float*>(share.Address(context)) + 2 * start;
        float* const of_kept = x + columns;
        logits.load(logits.buffer.Address(context) + start * logits.size, x, static_cast<size_t>(columns));
        for (int64_t i = 0; i < columns; ++i) indices[i] = i;

        const int64_t wanted = Load<int32_t>(k.Address(context) + row * 4);
        const float reached = number(p, row);
        const float least = least_share.is_there ? number(least_share, row) : 0.0f;
        const bool is_cut = wanted >= 1 && wanted <= std::min(columns, most);
        int64_t count = is_cut ? wanted : columns;
        if (is_cut || reached < 1.0f || least > 0.0f) {
          std::partial_sort(indices, indices + count, indices + columns, [x](int64_t a, int64_t b) {
            return IsGreater(x[a], x[b]) || (!IsGreater(x[b], x[a]) && a < b);
          });
        }
        for (int64_t i = 0; i < count; ++i) of_kept[i] = x[indices[i]];
        if (are_logits) Normalize(exponential, of_kept, count);
        count = KeptOf(of_kept, count, reached, least);

        if (is_choosing) {
          int64_t best = 0;
          float greatest = 0;
          for (int64_t i = 0; i < count; ++i) {
            float score = of_kept[i];
            if (weight.is_there)
              score /= std::fabs(Load<float>(address(weight, start + i, 4))) + static_cast<float>(epsilon);
            if (i != 0 && !(score > greatest)) continue;
            greatest = score;
            best = i;
          }
          Store(address(chosen, row, 8), indices[best]);
        }
        if (kept.is_there) {
          const float none = are_logits ? -std::numeric_limits<float>::infinity() : 0.0f;
          for (int64_t i = 0; i < columns; ++i) Store(address(kept, start + i, 4), none);
          for (int64_t i = 0; i < count; ++i) Store(address(kept, start + indices[i], 4), x[indices[i]]);
        }
        if (kept_buffer.is_there) {
          for (int64_t i = 0; i < columns; ++i) {
            Store(address(kept_buffer, start + i, 8), i < count ? indices[i] : int64_t{0});
            Store(address(probability, start + i, 4), i < count ? of_kept[i] : 0.0f);
          }
        }
      },
      columns > 20000 ? BlockLength::kLong : BlockLength::kShort);
}

}  // namespace portacl::engine
