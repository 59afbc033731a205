// States of linear attention, the short convolutions in front of it, and the gates of groups of rows (see
// serve.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/serve/linear_attention.cc"
#include "base/foreach_target.h"

#include "engine/functions/exponential-inl.h"
#include "engine/serve/serve.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace serve {

namespace hn = hwy::HWY_NAMESPACE;

// The lanes of a sum over a row, whatever the vector width.
constexpr int64_t kSums = 16;
using D = hn::CappedTag<float, kSums>;

void Exponential(float* values, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(functions::Exp(d, hn::LoadU(d, values + i)), d, values + i);
  if (i == n) return;
  float last[kSums] = {};
  std::copy(values + i, values + n, last);
  hn::StoreU(functions::Exp(d, hn::LoadU(d, last)), d, last);
  std::copy(last, last + (n - i), values + i);
}

HWY_INLINE float TotalOf(float* sums) {
  for (int64_t width = kSums / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

// Processes a token. The state has rows of `depth` numbers, a multiple of 16.
void Step(float* state, const float* key, const float* query, const float* decay, const float* value,
          float beta, float* to, int64_t width, int64_t depth) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < width; ++row) {
    float* const own = state + row * depth;
    float sums[kSums] = {};
    for (int64_t i = 0; i < depth; i += kSums) {
      for (int64_t j = 0; j < kSums; j += lanes) {
        const auto decayed = hn::Mul(hn::LoadU(d, own + i + j), hn::LoadU(d, decay + i + j));
        hn::StoreU(decayed, d, own + i + j);
        hn::StoreU(functions::Fma(d, decayed, hn::LoadU(d, key + i + j), hn::LoadU(d, sums + j)), d,
                   sums + j);
      }
    }
    const auto correction = hn::Set(d, (value[row] - TotalOf(sums)) * beta);
    std::fill_n(sums, kSums, 0.0f);
    for (int64_t i = 0; i < depth; i += kSums) {
      for (int64_t j = 0; j < kSums; j += lanes) {
        const auto corrected =
            functions::Fma(d, correction, hn::LoadU(d, key + i + j), hn::LoadU(d, own + i + j));
        hn::StoreU(corrected, d, own + i + j);
        hn::StoreU(functions::Fma(d, corrected, hn::LoadU(d, query + i + j), hn::LoadU(d, sums + j)), d,
                   sums + j);
      }
    }
    to[row] = TotalOf(sums);
  }
}

void Gate(const float* a, const float* b, float limit, float weight, float* to, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto most = hn::Set(d, limit);
  const auto least = hn::Set(d, -limit);
  const auto factor = hn::Set(d, weight);
  const auto gated = [&](const float* first, const float* second) HWY_ATTR {
    // This order of operands lets NaN pass.
    const auto x = hn::Min(most, hn::LoadU(d, first));
    const auto y = hn::Max(least, hn::Min(most, hn::LoadU(d, second)));
    return hn::Mul(hn::Mul(hn::Mul(x, functions::Sigmoid(d, x)), y), factor);
  };
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(gated(a + i, b + i), d, to + i);
  if (i == n) return;
  float last[2][kSums] = {};
  std::copy(a + i, a + n, last[0]);
  std::copy(b + i, b + n, last[1]);
  hn::StoreU(gated(last[0], last[1]), d, last[0]);
  std::copy(last[0], last[0] + (n - i), to + i);
}

}  // namespace serve
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/float_environment.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr auto kExponential = PORTACL_ISA_TABLE(serve::Exponential);
constexpr auto kStep = PORTACL_ISA_TABLE(serve::Step);
constexpr auto kGate = PORTACL_ISA_TABLE(serve::Gate);

constexpr int64_t kColumns = 512;  // of a row, loaded at a time

void Bring(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + at * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + at * rows.size, static_cast<size_t>(n), false);
}
int64_t WordAt(const BufferRef& buffer, const JobContext& context, int64_t i) {
  return Load<int64_t>(buffer.Address(context) + i * int64_t{sizeof(int64_t)});
}
void BringFloats(const OptionalBuffer& buffer, const JobContext& context, int64_t at, int64_t n, float* to) {
  std::memcpy(to, buffer.buffer.Address(context) + at * int64_t{sizeof(float)},
              static_cast<size_t>(n) * sizeof(float));
}

}  // namespace

ServingFunctions ServingFunctionsOf(Isa isa) noexcept {
  return {kExponential.For(isa), kStep.For(isa), kGate.For(isa)};
}

// A head's sequences run one after the other, because one may begin with the state of another.
void DeltaRule::Run(const JobContext& context) const noexcept {
  int64_t first = 0;
  char* const begins = begin.Address(context);
  for (int64_t b = 0; b < sequences; ++b) {
    Store(begins + b * 8, first);
    first += std::clamp<int64_t>(WordAt(length, context, b), 0, tokens - first);
  }
  Store(begins + sequences * 8, first);
  const int64_t padded = Padded();
  ForEachBlock(heads, threads, [&](int64_t head) {
    const DefaultFloatEnvironment environment;
    float* const now = reinterpret_cast<float*>(work.Address(context)) + head * WorkOfHead();
    float* const of_key = now + width * padded;
    float* const of_query = of_key + padded;
    float* const decays = of_query + padded;
    float* const values = decays + padded;
    float* const results = values + width;
    const int64_t key_head = head / (heads / key_heads);
    std::fill_n(now, WorkOfHead(), 0.0f);
    const auto bring_state = [&](const NumberRows& from, int64_t at) {
      for (int64_t row = 0; row < width; ++row)
        Bring(from, context, ((at * heads + head) * width + row) * depth, depth, now + row * padded);
    };
    const auto put_state = [&](int64_t at) {
      for (int64_t row = 0; row < width; ++row)
        Put(state, context, ((at * heads + head) * width + row) * depth, depth, now + row * padded);
    };
    for (int64_t b = 0; b < sequences; ++b) {
      const int64_t low = Load<int64_t>(begins + b * 8);
      const int64_t high = Load<int64_t>(begins + (b + 1) * 8);
      if (!index.is_there) {
        bring_state(initial, b);
      } else if (low < high) {
        const int64_t stayed = accepted.is_there ? WordAt(accepted.buffer, context, b) : 1;
        const bool is_one = stayed >= 1 && stayed <= high - low;
        const int64_t at = is_one ? WordAt(index.buffer, context, low + stayed - 1) : -1;
        if (at >= 0 && at < states) {
          bring_state(state, at);
        } else {
          std::fill_n(now, width * padded, 0.0f);
        }
      }
      for (int64_t t = low; t < high; ++t) {
        Bring(key, context, (t * key_heads + key_head) * depth, depth, of_key);
        Bring(query, context, (t * key_heads + key_head) * depth, depth, of_query);
        for (int64_t i = 0; i < depth; ++i) of_query[i] *= scale;
        Bring(value, context, (t * heads + head) * width, width, values);
        float share = 1;
        if (beta.is_there) Bring(beta, context, t * heads + head, 1, &share);
        float factor = 1;
        if (decay.is_there) {
          BringFloats(decay, context, t * heads + head, 1, &factor);
          exponential(&factor, 1);
        }
        std::fill_n(decays, depth, factor);
        if (each_decay.is_there) {
          BringFloats(each_decay, context, (t * heads + head) * depth, depth, decays);
          exponential(decays, depth);
          for (int64_t i = 0; i < depth; ++i) decays[i] *= factor;
        }
        step(now, of_key, of_query, decays, values, share, results, width, padded);
        Put(to, context, (t * heads + head) * width, width, results);
        if (!index.is_there) continue;
        const int64_t at = WordAt(index.buffer, context, t);
        if (at >= 0 && at < states) put_state(at);
      }
      if (!index.is_there) put_state(b);
    }
  });
}

void ConvolveCausally::Run(const JobContext& context) const noexcept {
  constexpr int64_t kTaps = 3;
  ForEachBlock(steps * batches, threads, [&](int64_t row) {
    const DefaultFloatEnvironment environment;
    const int64_t s = row / batches;
    const int64_t b = row % batches;
    const bool is_shown = !mask.is_there || Load<uint8_t>(mask.buffer.Address(context) + b * steps + s) != 0;
    float sum[kColumns];
    float term[kColumns];
    float factor[kColumns];
    for (int64_t column = 0; column < columns; column += kColumns) {
      const int64_t n = std::min(kColumns, columns - column);
      std::fill_n(sum, n, 0.0f);
      for (int64_t tap = 0; is_shown && tap < kTaps; ++tap) {
        const int64_t from = s - (kTaps - 1) + tap;
        if (from < 0) continue;
        Bring(x, context, (from * batches + b) * columns + column, n, term);
        Bring(weight, context, tap * columns + column, n, factor);
        for (int64_t i = 0; i < n; ++i) sum[i] += factor[i] * term[i];
      }
      Put(to, context, row * columns + column, n, sum);
    }
  });
}

void GateGroups::Run(const JobContext& context) const noexcept {
  int64_t last = rows;
  if (count.is_there) {
    last = 0;
    for (int64_t i = 0; i < counts; ++i)
      last += std::clamp<int64_t>(WordAt(count.buffer, context, i), 0, rows - last);
  }
  ForEachBlock(last, threads, [&](int64_t row) {
    const DefaultFloatEnvironment environment;
    float a[kColumns];
    float b[kColumns];
    float factor = 1;
    if (weight.is_there) BringFloats(weight, context, row, 1, &factor);
    for (int64_t column = 0; column < columns; column += kColumns) {
      const int64_t n = std::min(kColumns, columns - column);
      Bring(x, context, row * 2 * columns + column, n, a);
      Bring(x, context, (row * 2 + 1) * columns + column, n, b);
      gate(a, b, limit, factor, a, n);
      Put(to, context, row * columns + column, n, a);
    }
  });
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
