// Draws indices (see multinomial_draw.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/random/multinomial_draw.h"

#include <algorithm>

#include "base/float_environment.h"
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

// Padding for whole vectors at the end of a tile.
constexpr size_t kBehindTile = 256 / sizeof(double);

// Returns the index of a row's first random number.
int64_t FirstOfRow(int64_t row, int64_t length) { return row * ((length + kTile - 1) / kTile * kTile); }

// Loads n weights of a row from `first` on. Negative ones and NaN become 0.
void LoadTile(const MultinomialJob& job, const char* row, int64_t first, int64_t n, char* gathered,
              double* weights) {
  const char* from = row + first * job.weight_column;
  if (job.weight_column == job.weight_size) {
    // Prefetches the next tile, because other rows come in between.
    const char* const next = from + n * job.weight_size;
    for (int64_t k = 0; k < n * job.weight_size; k += 64) __builtin_prefetch(next + k);
  }
  if (job.weight_column != job.weight_size || !job.is_loaded) {
    void* const to = job.is_loaded ? static_cast<void*>(gathered) : weights;
    job.gather(from, job.weight_column, job.weight_size, to, n);
    from = gathered;
  }
  if (job.is_loaded) job.load(from, weights, static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) weights[i] = weights[i] > 0 ? weights[i] : 0;
}

// Calls use(first, n, weights) for each tile of a row.
template <class Use>
void ForEachTile(const MultinomialJob& job, const char* row, const Use& use) {
  alignas(64) char gathered[kTile * sizeof(double)];
  alignas(64) double weights[kTile + kBehindTile];
  for (int64_t first = 0; first < job.categories; first += kTile) {
    const int64_t n = std::min<int64_t>(job.categories - first, kTile);
    LoadTile(job, row, first, n, gathered, weights);
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
    job.draw_exponentials(&numbers, {element, static_cast<size_t>(n), waits, false, {}, nullptr});
    for (int64_t i = 0; i < n; ++i) {
      const Candidate candidate{weights[i] / waits[i], first + i};
      // The worst candidate is at the top of the heap.
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

// Counts the ascending sums that are at most `target`; not all are. Has no branches, which nobody could
// predict.
int64_t CountUpTo(const double* sums, int64_t n, double target) {
  const double* first = sums;
  for (; n > 1; n -= n / 2) first += first[n / 2 - 1] <= target ? n / 2 : 0;
  return first - sums;
}

// Rows that are added up together: within a row each addition waits for the previous one.
constexpr int64_t kRowsAtOnce = 4;
constexpr int64_t kPartsOfThread = 4;

// Sums `rows` rows, at most kRowsAtOnce. The weights and sums of consecutive rows are at the given distances.
void AddUp(const MultinomialJob& job, const char* weights_of_rows, char* sums_of_rows, int64_t rows) {
  alignas(64) char gathered[kTile * sizeof(double)];
  alignas(64) double weights[kRowsAtOnce][kTile + kBehindTile];
  double sum[kRowsAtOnce] = {};
  const auto distance = static_cast<int64_t>(job.WorkspaceOfRow());
  for (int64_t first = 0; first < job.categories; first += kTile) {
    const int64_t n = std::min<int64_t>(job.categories - first, kTile);
    double* sums[kRowsAtOnce];
    for (int64_t row = 0; row < rows; ++row) {
      sums[row] = reinterpret_cast<double*>(sums_of_rows + row * distance) + first;
      LoadTile(job, weights_of_rows + row * job.weight_row, first, n, gathered, weights[row]);
    }
    if (rows < kRowsAtOnce) {
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t i = 0; i < n; ++i) sums[row][i] = sum[row] += weights[row][i];
      }
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t row = 0; row < kRowsAtOnce; ++row) sums[row][i] = sum[row] += weights[row][i];
    }
  }
}

template <class Put>
void DrawUnits(const MultinomialJob& job, const RandomSource& source, int64_t row, const double* sums,
               const Put& put) {
  const UniformNumbers<double> numbers{source, 0, 1, 1, 1, 0};
  for (int64_t first = 0; first < job.samples; first += kTile) {
    alignas(64) double units[kTile + kBehindTile];
    const int64_t n = std::min<int64_t>(job.samples - first, kTile);
    job.draw_units(&numbers,
                   {FirstOfRow(row, job.samples) + first, static_cast<size_t>(n), units, false, {}, nullptr});
    for (int64_t k = 0; k < n; ++k) put(CountUpTo(sums, job.categories, units[k] * sums[job.categories - 1]));
  }
}

}  // namespace

uint64_t MultinomialJob::WorkspaceOfRow() const noexcept {
  if (adds_up) return static_cast<uint64_t>(categories) * sizeof(double);
  return samples == 1 ? 0 : static_cast<uint64_t>(samples) * sizeof(Candidate);
}

// Sizes the workspace for several tasks per thread, so that a late thread takes fewer. A task walks its rows
// in groups.
int64_t MultinomialJob::RowsInWorkspace() const noexcept {
  return std::min(rows, kPartsOfThread * kRowsAtOnce * std::max(threads, 1));
}

void MultinomialJob::Run(void* const* addresses, void* workspace) const noexcept {
  RandomSource from = source;
  device.AddTo(from, addresses);
  const char* const weights_base = static_cast<const char*>(addresses[weights]) + weight_offset;
  char* const indices_base = static_cast<char*>(addresses[indices]) + index_offset;
  const auto distance = static_cast<int64_t>(WorkspaceOfRow());
  // Few rows are taken one by one, so that no thread is idle.
  const int64_t at_once = std::clamp<int64_t>(rows / std::max(threads, 1), 1, kRowsAtOnce);
  const int64_t parts = std::max<int64_t>(1, RowsInWorkspace() / at_once);
  const int64_t groups = (rows + at_once - 1) / at_once;
  ForEachBlock(std::min(parts, groups), threads, [&](int64_t part) {
    const DefaultFloatEnvironment environment;
    char* const memory = static_cast<char*>(workspace) + part * at_once * distance;
    for (int64_t group = part; group < groups; group += parts) {
      const int64_t first = group * at_once;
      const int64_t count = std::min(rows - first, at_once);
      if (adds_up) AddUp(*this, weights_base + first * weight_row, memory, count);
      for (int64_t row = first; row < first + count; ++row) {
        char* to = indices_base + row * index_row;
        const auto put = [&](int64_t index) {
          std::memcpy(to, &index, sizeof index);
          to += index_column;
        };
        char* const own = memory + (row - first) * distance;
        if (adds_up) {
          DrawUnits(*this, from, row, reinterpret_cast<const double*>(own), put);
          continue;
        }
        Candidate one;
        auto* const best = samples == 1 ? &one : reinterpret_cast<Candidate*>(own);
        DrawBest(*this, from, row, weights_base + row * weight_row, best);
        for (int64_t k = 0; k < samples; ++k) put(best[k].index);
      }
    }
  });
}

}  // namespace portacl::engine
