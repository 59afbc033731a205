// Weighted sums of consecutive rows (see consecutive_rows.h), in plain code: each element is a short sum by itself.
// SPDX-License-Identifier: Apache-2.0
#include "engine/serve/consecutive_rows.h"

#include <algorithm>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

void Bring(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + at * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + at * rows.size, static_cast<size_t>(n), false);
}
int64_t WordAt(const BufferRef& buffer, const JobContext& context, int64_t i) {
  return Load<int64_t>(buffer.Address(context) + i * int64_t{sizeof(int64_t)});
}
int64_t WordOr(const OptionalBuffer& buffer, const JobContext& context, int64_t i, int64_t otherwise) {
  return buffer.is_there ? WordAt(buffer.buffer, context, i) : otherwise;
}

}  // namespace

// A thread block takes some columns of all sequences, one sequence after the other, because several sequences may
// share one line of `state`.
void ConvolveFromStates::Run(const JobContext& context) const noexcept {
  constexpr int64_t kBefore = kTaps - 1;
  ForEachBlock(Blocks(), threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t column = block * kColumns;
    const int64_t n = std::min(kColumns, columns - column);
    float* const kept = reinterpret_cast<float*>(work.Address(context)) + block * WorkOfBlock();
    float weights[kTaps][kColumns];
    for (int64_t k = 0; k < kTaps; ++k) Bring(weight, context, k * columns + column, n, weights[k]);
    for (int64_t b = 0; b < sequences; ++b) {
      const int64_t own = WordOr(line, context, b, b);
      if (own == skipped || own < 0 || own >= lines) continue;
      const int64_t first = std::clamp<int64_t>(WordOr(begin, context, b, b * steps), 0, rows);
      const int64_t end = std::clamp<int64_t>(WordOr(begin, context, b + 1, (b + 1) * steps), first, rows);
      const int64_t count = end - first;
      // Any number may be given: below -rows and above kBefore all mean the same.
      const int64_t before = std::clamp(WordOr(computed, context, b, kBefore), -rows, kBefore);
      const bool is_new = computed.is_there && before == 0;
      // Rows of the line in front of the sequence's: `passed` of them are not convolved.
      const int64_t most = std::max<int64_t>(slots - kBefore, 0);
      const int64_t passed =
          is_new ? 0 : std::clamp<int64_t>(WordOr(accepted, context, b, most + 1), 1, most + 1) - 1;
      const auto state_at = [&](int64_t slot) { return (own * slots + slot) * columns + column; };
      const auto bring = [&](int64_t row, float* to_row) {
        const int64_t inner = row - passed - kBefore;
        if (inner >= 0) return Bring(x, context, (first + inner) * columns + column, n, to_row);
        if (is_new || row >= slots) {
          std::fill_n(to_row, n, 0.0f);
        } else {
          Bring(state, context, state_at(row), n, to_row);
        }
      };
      // Reads the rows to keep before results overwrite them.
      const int64_t all = passed + kBefore + count;
      const int64_t stays = std::min(slots, all);
      for (int64_t i = 0; i < stays; ++i) bring(all - stays + i, kept + i * kColumns);
      float window[kTaps][kColumns];
      for (int64_t k = 0; k < kBefore; ++k) bring(passed + k, window[k + 1]);
      for (int64_t i = 0; i < count; ++i) {
        std::copy_n(window[1], n, window[0]);
        std::copy_n(window[2], n, window[1]);
        bring(passed + kBefore + i, window[2]);
        float sum[kColumns] = {};
        const bool is_shown = !clears_first || i >= kBefore - before;
        for (int64_t k = 0; is_shown && k < kTaps; ++k) {
          for (int64_t j = 0; j < n; ++j) sum[j] += weights[k][j] * window[k][j];
        }
        for (int64_t j = 0; adds_x && j < n; ++j) sum[j] += window[2][j];
        Put(to, context, (first + i) * columns + column, n, sum);
      }
      for (int64_t i = 0; i < stays; ++i)
        Put(state, context, state_at(slots - stays + i), n, kept + i * kColumns);
    }
  });
}

void CompressWindows::Run(const JobContext& context) const noexcept {
  constexpr int64_t kColumns = 512;
  // A window's sequence is found by counting those of the sequences before.
  ForEachBlock(windows * heads, threads, [&](int64_t item) {
    const DefaultFloatEnvironment environment;
    const int64_t head = item % heads;
    int64_t left = item / heads;
    int64_t first = 0;
    bool is_found = false;
    for (int64_t b = 0; b < sequences && !is_found; ++b) {
      const int64_t last = std::clamp(WordAt(end, context, b), first, rows);
      const int64_t own = last - first >= window ? (last - first - window) / stride + 1 : 0;
      is_found = left < own;
      if (!is_found) {
        left -= own;
        first = last;
      }
    }
    float sum[kColumns];
    float term[kColumns];
    for (int64_t column = 0; column < width; column += kColumns) {
      const int64_t n = std::min(kColumns, width - column);
      std::fill_n(sum, n, 0.0f);
      for (int64_t j = 0; is_found && j < window; ++j) {
        float factor;
        Bring(weight, context, j * heads + head, 1, &factor);
        Bring(x, context, ((first + left * stride + j) * heads + head) * width + column, n, term);
        for (int64_t i = 0; i < n; ++i) sum[i] += factor * term[i];
      }
      Put(to, context, item * width + column, n, sum);
    }
  });
}

void CompressLastWindow::Run(const JobContext& context) const noexcept {
  constexpr int64_t kColumns = 512;
  // A head takes all sequences, one after the other, since several may have one slot.
  ForEachBlock(heads, threads, [&](int64_t head) {
    const DefaultFloatEnvironment environment;
    float sum[kColumns];
    float term[kColumns];
    for (int64_t b = 0; b < sequences; ++b) {
      const int64_t rows = std::min(WordAt(length, context, b), columns * slots);
      const int64_t target = WordAt(slot, context, b);
      if (rows < window || (rows - window) % stride != 0 || target < 0 || target >= targets) continue;
      for (int64_t column = 0; column < width; column += kColumns) {
        const int64_t n = std::min(kColumns, width - column);
        std::fill_n(sum, n, 0.0f);
        for (int64_t j = 0; j < window; ++j) {
          const int64_t row = rows - window + j;
          const int64_t page = WordAt(table, context, b * columns + row / slots);
          if (page < 0 || page >= pages) continue;
          float factor;
          Bring(weight, context, j * heads + head, 1, &factor);
          Bring(x, context, ((page * slots + row % slots) * heads + head) * width + column, n, term);
          for (int64_t i = 0; i < n; ++i) sum[i] += factor * term[i];
        }
        Put(to, context, (target * heads + head) * width + column, n, sum);
      }
    }
  });
}

void CompressGradients::Run(const JobContext& context) const noexcept {
  constexpr int64_t kColumns = 512;
  const auto windows_of = [&](int64_t count) { return count >= window ? (count - window) / stride + 1 : 0; };
  ForEachBlock(rows * heads, threads, [&](int64_t item) {
    const DefaultFloatEnvironment environment;
    const int64_t row = item / heads;
    const int64_t head = item % heads;
    int64_t first = 0;
    int64_t before = 0;  // windows of the sequences before
    int64_t own = 0;
    for (int64_t b = 0; b < sequences && own == 0; ++b) {
      const int64_t last = std::clamp(WordAt(end, context, b), first, rows);
      if (row < last) {
        own = windows_of(last - first);
        break;
      }
      before += windows_of(last - first);
      first = last;
    }
    const int64_t position = row - first;
    const int64_t least = position < window ? 0 : (position - window) / stride + 1;
    float sum[kColumns];
    float term[kColumns];
    for (int64_t column = 0; column < width; column += kColumns) {
      const int64_t n = std::min(kColumns, width - column);
      std::fill_n(sum, n, 0.0f);
      for (int64_t i = least; i < own && i * stride <= position; ++i) {
        float factor;
        Bring(weight, context, (position - i * stride) * heads + head, 1, &factor);
        Bring(gradient, context, ((before + i) * heads + head) * width + column, n, term);
        for (int64_t j = 0; j < n; ++j) sum[j] += factor * term[j];
      }
      Put(of_x, context, item * width + column, n, sum);
    }
  });
  ForEachBlock(window * heads, threads, [&](int64_t item) {
    const DefaultFloatEnvironment environment;
    const int64_t of_window = item / heads;
    const int64_t head = item % heads;
    double sum = 0;
    int64_t first = 0;
    int64_t at = 0;
    float left[kColumns];
    float right[kColumns];
    for (int64_t b = 0; b < sequences; ++b) {
      const int64_t last = std::clamp(WordAt(end, context, b), first, rows);
      for (int64_t i = 0; i < windows_of(last - first) && at < windows; ++i, ++at) {
        const int64_t row = first + i * stride + of_window;
        for (int64_t column = 0; column < width; column += kColumns) {
          const int64_t n = std::min(kColumns, width - column);
          Bring(gradient, context, (at * heads + head) * width + column, n, left);
          Bring(x, context, (row * heads + head) * width + column, n, right);
          for (int64_t j = 0; j < n; ++j) sum += static_cast<double>(left[j]) * static_cast<double>(right[j]);
        }
      }
      first = last;
    }
    const auto rounded = static_cast<float>(sum);
    Put(of_weight, context, item, 1, &rounded);
  });
}

}  // namespace portacl::engine
