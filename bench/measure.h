// Two sides compared on a machine that others use too: short bursts in turn, and medians of their ratios.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <vector>

namespace portacl::bench {

struct Side {
  std::function<void()> call;
  std::function<void()> before_burst = [] {};
  std::function<void()> after_burst = [] {};
  std::chrono::microseconds idle_before_call{0};  // if not 0, every call is timed by itself
  double warm_up = 0;                             // seconds of calls, after the first, that are not counted
};

struct Effort {
  double seconds = 0.1;   // for one comparison
  double burst = 200e-6;  // seconds that a burst lasts at least
  int least_pairs = 5;
  int most_pairs = 41;
};

struct Comparison {
  double ours = 0;    // median seconds per call
  double theirs = 0;  // of the best of the other sides
  // Theirs divided by ours, pair by pair: 1 is as fast, above is faster.
  double ratio = 0;
  double p10 = 0;
  double p90 = 0;
  int pairs = 0;
  int best = 0;  // which of the other sides
};

double Quantile(std::vector<double> values, double q);

// Seconds per call of a burst whose first call is not counted.
double Burst(const Side& side, int calls);

// How many calls make a burst of at least that many seconds.
int CallsPerBurst(const Side& side, double seconds);

// Several groups of sides, of each of which the fastest counts: all are tried in turn first, then the fastest of each
// group take turns.
struct Turns {
  std::vector<int> best;                   // of each group
  std::vector<std::vector<double>> times;  // of each group's best, seconds per call, round by round
};
Turns TakeTurns(const std::vector<std::vector<Side>>& groups, const Effort& effort);

// Times of one side and of another from the same rounds.
Comparison CompareTimes(const std::vector<double>& ours, const std::vector<double>& theirs);

// The others are tried in turn first; the one that is then the fastest is compared with.
Comparison Compare(const Side& ours, const std::vector<Side>& others, const Effort& effort);

}  // namespace portacl::bench
