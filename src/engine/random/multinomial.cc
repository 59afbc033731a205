// Draws indices (see multinomial.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/random/multinomial.h"

#include <algorithm>

#include "acl/float_environment.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

struct Candidate {
  double key;
  int64_t index;

  bool IsBetterThan(const Candidate& other) const {
    return key > other.key || (key == other.key && index < other.index);
  }
};

// Room for the vector that a tile's last one may be.
constexpr size_t kBehindTile = 256 / sizeof(double);

// The number at which a row's begin.
int64_t FirstOfRow(int64_t row, int64_t length) { return row * ((length + kTile - 1) / kTile * kTile); }

// One row's weights, a tile at a time; those that are negative or NaN are 0.
template <class Use>
void ForEachTile(const MultinomialJob& job, const char* row, const Use& use) {
  alignas(64) char gathered[kTile * sizeof(double)];
  alignas(64) double weights[kTile + kBehindTile];
  for (int64_t first = 0; first < job.categories; first += kTile) {
    const int64_t n = std::min<int64_t>(job.categories - first, kTile);
    void* const to = job.is_loaded ? static_cast<void*>(gathered) : weights;
    job.gather(row + first * job.weight_column, job.weight_column, job.weight_size, to, n);
    if (job.is_loaded) job.load(gathered, weights, static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) weights[i] = weights[i] > 0 ? weights[i] : 0;
    use(first, n, weights);
  }
}

void DrawBest(const MultinomialJob& job, const RandomSource& source, int64_t row, const char* weights_of_row,
              Candidate* best) {
  const ExponentialNumbers numbers{source, 1, 0};
  const auto comes_first = [](const Candidate& a, const Candidate& b) { return a.IsBetterThan(b); };
  int64_t count = 0;
  ForEachTile(job, weights_of_row, [&](int64_t first, int64_t n, const double* weights) {
    alignas(64) double waits[kTile + kBehindTile];
    const int64_t element = FirstOfRow(row, job.categories) + first;
    job.draw_exponentials(&numbers, {element, static_cast<size_t>(n), waits, {}, nullptr});
    for (int64_t i = 0; i < n; ++i) {
      const Candidate candidate{weights[i] / waits[i], first + i};
      // The worst of a heap is its first.
      if (count < job.samples) {
        best[count++] = candidate;
        std::push_heap(best, best + count, comes_first);
      } else if (candidate.IsBetterThan(best[0])) {
        std::pop_heap(best, best + count, comes_first);
        best[count - 1] = candidate;
        std::push_heap(best, best + count, comes_first);
      }
    }
  });
  std::sort_heap(best, best + count, comes_first);
}

// How many of the ascending sums are at most `target`; fewer than all. Without branches that nobody could predict.
int64_t CountUpTo(const double* sums, int64_t n, double target) {
  const double* first = sums;
  for (; n > 1; n -= n / 2) first += first[n / 2 - 1] <= target ? n / 2 : 0;
  return first - sums;
}

void AddUp(const MultinomialJob& job, const char* weights_of_row, double* sums) {
  double sum = 0;
  ForEachTile(job, weights_of_row, [&](int64_t first, int64_t n, const double* weights) {
    for (int64_t i = 0; i < n; ++i) sums[first + i] = sum += weights[i];
  });
}

}  // namespace

uint64_t MultinomialJob::WorkspaceOfRow() const noexcept {
  if (adds_up) return static_cast<uint64_t>(categories) * sizeof(double);
  return samples == 1 ? 0 : static_cast<uint64_t>(samples) * sizeof(Candidate);
}

void MultinomialJob::Run(void* const* addresses, void* workspace) const noexcept {
  RandomSource from = source;
  device.AddTo(from, addresses);
  const char* const weights_base = static_cast<const char*>(addresses[weights]) + weight_offset;
  char* const indices_base = static_cast<char*>(addresses[indices]) + index_offset;
  ForEachBlock(rows, threads, [&](int64_t row) {
    const DefaultFloatEnvironment environment;
    const char* const weights_of_row = weights_base + row * weight_row;
    char* to = indices_base + row * index_row;
    char* const memory = static_cast<char*>(workspace) + static_cast<uint64_t>(row) * WorkspaceOfRow();
    const auto put = [&](int64_t index) {
      std::memcpy(to, &index, sizeof index);
      to += index_column;
    };
    if (!adds_up) {
      Candidate one;
      auto* const best = samples == 1 ? &one : reinterpret_cast<Candidate*>(memory);
      DrawBest(*this, from, row, weights_of_row, best);
      for (int64_t k = 0; k < samples; ++k) put(best[k].index);
      return;
    }
    auto* const sums = reinterpret_cast<double*>(memory);
    AddUp(*this, weights_of_row, sums);
    const UniformNumbers<double> numbers{from, 0, 1, 1, 1, 0};
    for (int64_t first = 0; first < samples; first += kTile) {
      alignas(64) double units[kTile + kBehindTile];
      const int64_t n = std::min<int64_t>(samples - first, kTile);
      draw_units(&numbers, {FirstOfRow(row, samples) + first, static_cast<size_t>(n), units, {}, nullptr});
      for (int64_t k = 0; k < n; ++k) {
        put(CountUpTo(sums, categories, units[k] * sums[categories - 1]));
      }
    }
  });
}

}  // namespace portacl::engine
