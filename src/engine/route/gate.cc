// Chooses the best experts of each token (see route.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/route/gate.cc"
#include "base/foreach_target.h"

#include "engine/functions/functions-inl.h"
#include "engine/route/route.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace route {

namespace hn = hwy::HWY_NAMESPACE;

// Applies the activation; for kSoftmax only the exponential.
template <GateRows::Function kFunction, class D, class V>
HWY_INLINE V Activated(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  if constexpr (kFunction == GateRows::Function::kSoftmax) return functions::Exp(d, x);
  if constexpr (kFunction == GateRows::Function::kSigmoid)
    return hn::Div(one, hn::Add(one, functions::Exp(d, hn::Neg(x))));
  const V softplus = hn::Add(hn::IfThenElse(hn::IsNaN(x), x, hn::Max(x, hn::Zero(d))),
                             functions::Log1p(d, functions::Exp(d, hn::Neg(hn::Abs(x)))));
  return hn::Sqrt(softplus);
}

template <GateRows::Function kFunction>
void ActivateBy(float* values, int64_t n) {
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

void Activate(GateRows::Function function, float* values, int64_t n) {
  if (function == GateRows::Function::kSoftmax) ActivateBy<GateRows::Function::kSoftmax>(values, n);
  if (function == GateRows::Function::kSigmoid) ActivateBy<GateRows::Function::kSigmoid>(values, n);
  if (function == GateRows::Function::kRootOfSoftplus)
    ActivateBy<GateRows::Function::kRootOfSoftplus>(values, n);
}

}  // namespace route
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr auto kActivate = PORTACL_ISA_TABLE(route::Activate);

// Tells whether x comes before y: NaN is greater than all numbers.
bool IsBetter(float x, float y) { return x > y || (std::isnan(x) && !std::isnan(y)); }

// Replaces values by their softmax: subtracts the greatest, and sums exponentials in float64.
void Softmax(const GateRows& gate, float* values, int64_t n) {
  float greatest = values[0];
  for (int64_t i = 1; i < n; ++i) greatest = IsBetter(values[i], greatest) ? values[i] : greatest;
  for (int64_t i = 0; i < n; ++i) values[i] -= greatest;
  gate.activate(GateRows::Function::kSoftmax, values, n);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(values[i]);
  const auto rounded = static_cast<float>(sum);
  for (int64_t i = 0; i < n; ++i) values[i] /= rounded;
}

// The best numbers so far, in order; a new one goes behind equal ones.
struct Best {
  float* score;  // `most` of them
  char* buffer;  // INT32
  int64_t most;
  int64_t count = 0;

  void Offer(float value, int64_t at) {
    if (count == most && !IsBetter(value, score[count - 1])) return;
    int64_t i = count == most ? count - 1 : count++;
    for (; i > 0 && IsBetter(value, score[i - 1]); --i) {
      score[i] = score[i - 1];
      Store(buffer + 4 * i, Load<int32_t>(buffer + 4 * (i - 1)));
    }
    score[i] = value;
    Store(buffer + 4 * i, static_cast<int32_t>(at));
  }
};

// Closes all groups but the best ones, whose experts then have the lowest score.
void CloseGroups(const GateRows& gate, const float* score, char* closed) {
  constexpr int64_t kMostGroups = 2048;
  float of_group[kMostGroups];
  const int64_t size = gate.experts / gate.groups;
  for (int64_t g = 0; g < gate.groups; ++g) {
    const float* const own = score + g * size;
    float first = own[0];
    float second = -std::numeric_limits<float>::infinity();
    for (int64_t i = 1; i < size; ++i) {
      const bool is_first = IsBetter(own[i], first);
      if (is_first || IsBetter(own[i], second)) second = is_first ? first : own[i];
      if (is_first) first = own[i];
    }
    of_group[g] = gate.sums_two ? first + second : first;
  }
  std::memset(closed, 1, static_cast<size_t>(gate.groups));
  for (int64_t n = 0; n < gate.kept_groups; ++n) {
    int64_t best = -1;
    for (int64_t g = 0; g < gate.groups; ++g) {
      if (closed[g] != 0 && (best < 0 || IsBetter(of_group[g], of_group[best]))) best = g;
    }
    closed[best] = 0;
  }
}

}  // namespace

void SetActivation(GateRows& gate, Isa isa) noexcept {
  gate.activate = kActivate.For(isa);
  gate.load_half = FindLoad(isa, ACL_FLOAT16, ACL_FLOAT);
  gate.store_half = FindStore(isa, ACL_FLOAT16);
}

void GateRows::Run(const JobContext& context) const noexcept {
  constexpr int64_t kTileOfScores = 512;
  constexpr int64_t kMostGroups = 2048;
  BadIndex bad;
  const auto given_at = [&](int64_t i) { return Load<int64_t>(given.buffer.Address(context) + 8 * i); };
  const auto address = [&](const NumberRows& operand, int64_t i) {
    return operand.buffer.Address(context) + i * operand.size;
  };
  const int64_t each = std::max<int64_t>(1, 4096 / experts);
  ForEachBlock((rows + each - 1) / each, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    for (int64_t row = block * each; row < std::min(rows, (block + 1) * each); ++row) {
      auto* const values = reinterpret_cast<float*>(value.Address(context)) + row * experts;
      auto* const scores = reinterpret_cast<float*>(score.Address(context)) + row * (experts + k);
      float* const selected_scores = scores + experts;
      char* const indices = chosen.Address(context) + 4 * row * k;
      const auto n = static_cast<size_t>(experts);
      x.load(address(x, row * experts), values, n);
      if (function == Function::kSoftmax) Softmax(*this, values, experts);
      if (function == Function::kSigmoid || function == Function::kRootOfSoftplus)
        activate(function, values, experts);
      if (all.is_there)
        std::memcpy(all.buffer.Address(context) + 4 * row * experts, values, n * sizeof(float));
      std::memcpy(scores, values, n * sizeof(float));
      if (ranks_half) {
        uint16_t half[kTileOfScores];
        for (int64_t at = 0; at < experts; at += kTileOfScores) {
          const auto some = static_cast<size_t>(std::min(kTileOfScores, experts - at));
          store_half(scores + at, half, some, false);
          load_half(half, scores + at, some);
        }
      }
      if (bias.is_there) {
        float tile[kTileOfScores];
        for (int64_t at = 0; at < experts; at += kTileOfScores) {
          const int64_t some = std::min(kTileOfScores, experts - at);
          bias.load(address(bias, at), tile, static_cast<size_t>(some));
          for (int64_t i = 0; i < some; ++i) scores[at + i] += tile[i];
        }
      }
      if (given.is_there) {
        for (int64_t j = 0; j < k; ++j) {
          int64_t e = given_at(row * k + j);
          if (e < 0 || e >= experts) {
            bad.Note(row * k + j);
            e = 0;
          }
          Store(indices + 4 * j, static_cast<int32_t>(e));
        }
      } else {
        Best best{selected_scores, indices, k};
        char closed[kMostGroups];
        const bool has_groups = groups > 1 && kept_groups < groups;
        if (has_groups) CloseGroups(*this, scores, closed);
        const int64_t size = experts / groups;
        for (int64_t e = 0; e < experts; ++e) {
          if (!has_groups || closed[e / size] == 0) best.Offer(scores[e], e);
        }
      }
      for (int64_t j = 0; j < k; ++j) selected_scores[j] = values[Load<int32_t>(indices + 4 * j)];
      if (softmax_after) Softmax(*this, selected_scores, k);
      if (normalises) {
        float sum = 0;
        for (int64_t j = 0; j < k; ++j) sum += selected_scores[j];
        sum += epsilon;
        for (int64_t j = 0; j < k; ++j) selected_scores[j] /= sum;
      }
      if (factor != 1.0f) {
        for (int64_t j = 0; j < k; ++j) selected_scores[j] *= factor;
      }
      y.store(selected_scores, address(y, row * k), static_cast<size_t>(k), false);
      if (is_finished.is_there && *(is_finished.buffer.Address(context) + row) != 0) {
        for (int64_t j = 0; j < k; ++j) Store(indices + 4 * j, static_cast<int32_t>(experts));
      }
    }
  });
  bad.Report(context, raises, name, 0, experts, given_at);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
