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

// Bursts of each side of a group before the fastest is chosen.
constexpr int kTrials = 5;

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

Turns TakeTurns(const std::vector<std::vector<Side>>& groups, const Effort& effort) {
  const double begin = Now();
  Turns turns;
  std::vector<int> calls;
  for (const std::vector<Side>& sides : groups) {
    std::vector<int> calls_of_sides;
    for (const Side& side : sides) calls_of_sides.push_back(CallsPerBurst(side, effort.burst));
    std::vector<std::vector<double>> tried(sides.size());
    for (int round = 0; sides.size() > 1 && round < kTrials; ++round) {
      for (size_t i = 0; i < sides.size(); ++i) tried[i].push_back(Burst(sides[i], calls_of_sides[i]));
    }
    std::vector<double> medians;
    for (const auto& times : tried) medians.push_back(times.empty() ? 0 : Quantile(times, 0.5));
    const auto best = std::min_element(medians.begin(), medians.end()) - medians.begin();
    turns.best.push_back(static_cast<int>(best));
    calls.push_back(calls_of_sides[static_cast<size_t>(best)]);
  }
  turns.times.resize(groups.size());
  for (int round = 0;
       round < effort.least_pairs || (round < effort.most_pairs && Now() - begin < effort.seconds); ++round) {
    for (size_t k = 0; k < groups.size(); ++k)
      turns.times[k].push_back(Burst(groups[k][static_cast<size_t>(turns.best[k])], calls[k]));
  }
  return turns;
}

Comparison CompareTimes(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> ratios;
  for (size_t i = 0; i < ours.size(); ++i) ratios.push_back(theirs[i] / ours[i]);
  Comparison result;
  result.ours = Quantile(ours, 0.5);
  result.theirs = Quantile(theirs, 0.5);
  result.ratio = Quantile(ratios, 0.5);
  result.p10 = Quantile(ratios, 0.1);
  result.p90 = Quantile(ratios, 0.9);
  result.pairs = static_cast<int>(ratios.size());
  return result;
}

Comparison Compare(const Side& ours, const std::vector<Side>& others, const Effort& effort) {
  const Turns turns = TakeTurns({{ours}, others}, effort);
  Comparison result = CompareTimes(turns.times[0], turns.times[1]);
  result.best = turns.best[1];
  return result;
}

}  // namespace portacl::bench
