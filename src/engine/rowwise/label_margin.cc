// Runs sums over pairs of labels and other classes (see label_margin.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/label_margin.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/rowwise/label_margin.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/map/sum_work.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace label_margin {

namespace hn = hwy::HWY_NAMESPACE;

// Sums max((1 - label) + x, 0) over all pairs of a label and an x. The n numbers x fill whole lanes. Term i
// of a label goes to lane i % kLanes, the labels in their order. NaN counts as not positive.
Isa SumOfPairs(const double* labels, size_t count, const double* x, size_t n, double* total) {
  const hn::CappedTag<double, kLanes> d;
  HWY_ALIGN double sums[kLanes];
  for (size_t lane = 0; lane < kLanes; lane += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (size_t label = 0; label < count; ++label) {
      const auto gap = hn::Set(d, 1.0 - labels[label]);
      for (size_t i = lane; i < n; i += kLanes) {
        const auto z = hn::Add(gap, hn::LoadU(d, x + i));
        sum = hn::Add(sum, hn::IfThenElseZero(hn::Gt(z, hn::Zero(d)), z));
      }
    }
    hn::StoreU(sum, d, sums + lane);
  }
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  *total = sums[0];
  return ThisIsa();
}

}  // namespace label_margin
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/errors.h"
#include "base/float_environment.h"
#include "engine/isa_in_use.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"
#include "engine/reduction/sum_tree.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {
namespace {

constexpr auto kSumOfPairs = PORTACL_ISA_TABLE(label_margin::SumOfPairs);

// Labels that are loaded at once, and numbers that are written at once.
constexpr int64_t kAtOnce = 256;
// Chunks per thread, so that late threads can take fewer.
constexpr int64_t kChunksPerThread = 2;

int64_t ChunksOf(int64_t rows, int threads) {
  return std::min(rows, kChunksPerThread * std::max(threads, 1));
}

// Rounds up to whole lanes.
int64_t Padded(int64_t classes) {
  constexpr auto kWhole = static_cast<int64_t>(kLanes);
  return (classes + kWhole - 1) / kWhole * kWhole;
}

class MarginRun {
 public:
  MarginRun(const LabelMargin& margin, const JobContext& context) : margin_(margin), context_(context) {}

  void Run() {
    auto* const losses = static_cast<double*>(context_.workspace);
    ForEachBlock(margin_.chunks, margin_.threads, [&](int64_t chunk) {
      const DefaultFloatEnvironment environment;
      auto* const own = reinterpret_cast<double*>(static_cast<char*>(context_.workspace) +
                                                  static_cast<uint64_t>(margin_.rows) * sizeof(double) +
                                                  static_cast<uint64_t>(chunk) * margin_.ChunkBytes());
      const int64_t end = FirstRow(chunk + 1);
      for (int64_t row = FirstRow(chunk); row < end; ++row) losses[row] = Loss(row, own);
    });
    Finish(losses);
    const int64_t bad = bad_.load(std::memory_order_relaxed);
    if (margin_.raises && bad != std::numeric_limits<int64_t>::max()) Report(bad);
  }

 private:
  // Returns the first row of a chunk. The sizes of chunks differ by one row at most.
  int64_t FirstRow(int64_t chunk) const {
    return margin_.rows / margin_.chunks * chunk + std::min(chunk, margin_.rows % margin_.chunks);
  }

  // Returns the loss of a row and writes `is_label`. `own` has room for three numbers per class: elements,
  // the labels' elements, and flags of labels. The second part also serves as buffer for unconverted
  // elements.
  double Loss(int64_t row, double* own) {
    const int64_t classes = margin_.classes;
    const int64_t padded = Padded(classes);
    double* const x = own;
    double* const of_labels = own + padded;
    double* const is_label = own + 2 * padded;
    LoadRows(margin_.input, context_.addresses, row, 1, 0, classes, sizeof(double),
             reinterpret_cast<char*>(x), reinterpret_cast<char*>(of_labels));
    std::fill_n(is_label, classes, 0.0);
    const int64_t count = TakeLabels(row, x, of_labels, is_label);
    // Minus infinity makes labels and padding add nothing.
    for (int64_t i = 0; i < classes; ++i) {
      if (is_label[i] != 0) x[i] = -std::numeric_limits<double>::infinity();
    }
    std::fill(x + classes, x + padded, -std::numeric_limits<double>::infinity());
    double sum = 0;
    const Isa isa = kSumOfPairs.For(margin_.isa)(of_labels, static_cast<size_t>(count), x,
                                                 static_cast<size_t>(padded), &sum);
    if (row == 0) ReportIsaThatRan(isa);
    StoreRows(margin_.is_label, context_.addresses, row, 1, 0, classes, sizeof(double),
              reinterpret_cast<const char*>(is_label), reinterpret_cast<char*>(of_labels));
    return sum / static_cast<double>(classes);
  }

  // Reads the labels and returns their count.
  int64_t TakeLabels(int64_t row, const double* x, double* of_labels, double* is_label) {
    int64_t labels[kAtOnce];
    int64_t raw[kAtOnce];
    int64_t count = 0;
    for (int64_t at = 0; at < margin_.classes; at += kAtOnce) {
      const int64_t n = std::min(kAtOnce, margin_.classes - at);
      LoadRows(margin_.target, context_.addresses, row, 1, at, n, sizeof(int64_t),
               reinterpret_cast<char*>(labels), reinterpret_cast<char*>(raw));
      for (int64_t i = 0; i < n; ++i) {
        if (labels[i] == -1) return count;
        if (labels[i] >= 0 && labels[i] < margin_.classes) {
          of_labels[count++] = x[labels[i]];
          is_label[labels[i]] = 1.0;
        } else {
          Note(row * margin_.classes + at + i);
        }
      }
    }
    return count;
  }

  void Finish(const double* losses) {
    const DefaultFloatEnvironment environment;
    double raw[kAtOnce];
    if (margin_.reduction == ClassReduction::kNone) {
      for (int64_t row = 0; row < margin_.rows; row += kAtOnce) {
        StoreRows(margin_.result, context_.addresses, row, std::min(kAtOnce, margin_.rows - row), 0, 1,
                  sizeof(double), reinterpret_cast<const char*>(losses + row), reinterpret_cast<char*>(raw));
      }
      return;
    }
    double levels[64];
    SumTree tree(levels, 1);
    for (int64_t row = 0; row < margin_.rows; row += kLaneBlock) {
      double sums[kLanes] = {};
      const int64_t n = std::min(kLaneBlock, margin_.rows - row);
      for (int64_t i = 0; i < n; ++i) sums[static_cast<size_t>(i) % kLanes] += losses[row + i];
      for (size_t width = kLanes / 2; width > 0; width /= 2) {
        for (size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
      }
      tree.Add(sums);
    }
    double value;
    tree.Finish(&value);
    if (margin_.reduction == ClassReduction::kMean) value /= static_cast<double>(margin_.rows);
    StoreRows(margin_.result, context_.addresses, 0, 1, 0, 1, sizeof(double),
              reinterpret_cast<const char*>(&value), reinterpret_cast<char*>(raw));
  }

  void Note(int64_t element) {
    int64_t seen = bad_.load(std::memory_order_relaxed);
    while (element < seen && !bad_.compare_exchange_weak(seen, element, std::memory_order_relaxed)) {
    }
  }

  void Report(int64_t element) {
    int64_t label = 0;
    int64_t raw = 0;
    LoadRows(margin_.target, context_.addresses, element / margin_.classes, 1, element % margin_.classes, 1,
             sizeof label, reinterpret_cast<char*>(&label), reinterpret_cast<char*>(&raw));
    Text message(context_.api, ": target has the value ");
    message.Add(label).Add(" at element ").Add(element).Add(", accepted: 0 to ").Add(margin_.classes - 1);
    context_.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message.Add(", or -1 behind the last label."));
  }

  const LabelMargin& margin_;
  const JobContext& context_;
  std::atomic<int64_t> bad_{std::numeric_limits<int64_t>::max()};
};

}  // namespace

uint64_t LabelMargin::ChunkBytes() const noexcept {
  return 3 * static_cast<uint64_t>(Padded(classes)) * sizeof(double);
}

uint64_t LabelMargin::WorkspaceBytes() const noexcept {
  return static_cast<uint64_t>(rows) * sizeof(double) + static_cast<uint64_t>(chunks) * ChunkBytes();
}

bool LabelMarginFits(int64_t rows, int64_t classes, int threads) noexcept {
  constexpr auto kNumber = static_cast<int64_t>(sizeof(double));
  int64_t padded;
  int64_t of_chunks;
  int64_t of_rows;
  int64_t all;
  return !__builtin_add_overflow(classes, static_cast<int64_t>(kLanes), &padded) &&
         !__builtin_mul_overflow(padded, 3 * kNumber * ChunksOf(rows, threads), &of_chunks) &&
         !__builtin_mul_overflow(rows, kNumber, &of_rows) &&
         !__builtin_add_overflow(of_chunks, of_rows, &all);
}

void LabelMargin::Run(const JobContext& context) const noexcept { MarginRun(*this, context).Run(); }

void LabelMarginJob::Run(const JobContext& context) const noexcept {
  reinterpret_cast<const LabelMargin*>(context.memory)->Run(context);
}

LabelMarginJob MakeLabelMarginJob(JobMemory& memory, LabelMargin margin, uint32_t touched) noexcept {
  auto* const held = memory.ReserveMemory(sizeof margin);
  if (held == nullptr) return {};
  margin.chunks = ChunksOf(margin.rows, margin.threads);
  std::memcpy(held, &margin, sizeof margin);
  const int64_t elements = margin.rows * margin.classes;
  return {touched, elements, margin.WorkspaceBytes()};
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
