// Bursts in turn (see measure.h).
// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace portacl::bench {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr int kMostCalls = 20000;

}  // namespace

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

double Burst(const Side& side, int calls) {
  side.before_burst();
  side.call();
  if (side.idle_before_call.count() > 0) {
    std::vector<double> times;
    for (int i = 0; i < calls; ++i) {
      std::this_thread::sleep_for(side.idle_before_call);
      const double begin = Now();
      side.call();
      times.push_back(Now() - begin);
    }
    side.after_burst();
    return Quantile(times, 0.5);
  }
  for (const double start = Now(); Now() - start < side.warm_up;) side.call();
  const double begin = Now();
  for (int i = 0; i < calls; ++i) side.call();
  const double seconds = (Now() - begin) / calls;
  side.after_burst();
  return seconds;
}

int CallsPerBurst(const Side& side, double seconds) {
  if (side.idle_before_call.count() > 0) return 5;
  int calls = 1;
  for (;;) {
    const double one = Burst(side, calls);
    if (one * calls >= seconds / 4 || calls >= kMostCalls)
      return std::clamp(static_cast<int>(std::ceil(seconds / one)), 1, kMostCalls);
    calls *= 4;
  }
}

Comparison Compare(const Side& ours, const std::vector<Side>& others, const Effort& effort) {
  const double begin = Now();
  Comparison result;
  std::vector<int> calls;
  for (const Side& side : others) calls.push_back(CallsPerBurst(side, effort.burst));
  if (others.size() > 1) {
    std::vector<std::vector<double>> tried(others.size());
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < others.size(); ++i) tried[i].push_back(Burst(others[i], calls[i]));
    }
    std::vector<double> medians;
    for (const auto& times : tried) medians.push_back(Quantile(times, 0.5));
    result.best = static_cast<int>(std::min_element(medians.begin(), medians.end()) - medians.begin());
  }
  const Side& best = others[static_cast<size_t>(result.best)];
  const int their_calls = calls[static_cast<size_t>(result.best)];
  const int our_calls = CallsPerBurst(ours, effort.burst);
  std::vector<double> mine, theirs, ratios;
  while (result.pairs < effort.least_pairs ||
         (result.pairs < effort.most_pairs && Now() - begin < effort.seconds)) {
    mine.push_back(Burst(ours, our_calls));
    theirs.push_back(Burst(best, their_calls));
    ratios.push_back(theirs.back() / mine.back());
    ++result.pairs;
  }
  result.ours = Quantile(mine, 0.5);
  result.theirs = Quantile(theirs, 0.5);
  result.ratio = Quantile(ratios, 0.5);
  result.p10 = Quantile(ratios, 0.1);
  result.p90 = Quantile(ratios, 0.9);
  return result;
}

}  // namespace portacl::bench
