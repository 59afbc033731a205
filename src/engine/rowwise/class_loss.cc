// Runs losses over classes and their gradients (see class_loss.h). There is one result per row, so that
// fetching elements far apart takes the time: plain loops suffice.
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/class_loss.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/errors.h"
#include "base/float_environment.h"
#include "engine/map/sum_work.h"
#include "engine/parallel.h"
#include "engine/reduction/sum_tree.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {
namespace {

// Rows whose targets are loaded at once.
constexpr int64_t kAtOnce = 256;

// Load and store one element, converted.
float ElementAt(const RowwiseOperand& operand, const char* address) {
  float value;
  if (operand.conversion->KeepsBytes()) {
    std::memcpy(&value, address, sizeof value);
  } else {
    operand.conversion->Run(address, &value, 1, false);
  }
  return value;
}
double NumberOf(const RowwiseOperand& operand, void* const* addresses) {
  alignas(16) char raw[16];
  double value = 0;
  LoadRows(operand, addresses, 0, 1, 0, 1, sizeof value, reinterpret_cast<char*>(&value), raw);
  return value;
}
void StoreNumber(const RowwiseOperand& operand, void* const* addresses, double value) {
  alignas(16) char raw[16];
  StoreRows(operand, addresses, 0, 1, 0, 1, sizeof value, reinterpret_cast<const char*>(&value), raw);
}

const char* AddressOf(const RowwiseOperand& operand, void* const* addresses) {
  if (operand.argument == RowwiseOperand::kConstant) return nullptr;
  return static_cast<const char*>(addresses[operand.argument]) + operand.offset;
}
int64_t Offset(const RowAxes& axes, int64_t index) { return RowTileFrom(axes, index, 1).offset; }

int64_t Blocks(int64_t rows) { return rows / kLaneBlock + (rows % kLaneBlock != 0 ? 1 : 0); }

// Sums in the order of a sum over the last axis (docs/numerics.md).
double SumOfLanes(const float* terms, int64_t n) {
  double lanes[kLanes] = {};
  for (int64_t i = 0; i < n; ++i) lanes[static_cast<size_t>(i) % kLanes] += static_cast<double>(terms[i]);
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

class ClassRun {
 public:
  ClassRun(const ClassLoss& loss, const JobContext& context)
      : loss_(loss),
        context_(context),
        input_(AddressOf(loss.input, context.addresses)),
        weight_(AddressOf(loss.weight, context.addresses)) {}

  void Run() {
    if (loss_.work == ClassWork::kGradients) {
      loss_.zeros.Run(kZeros, static_cast<char*>(context_.addresses[loss_.input.argument]));
      PrepareGradient();
    }
    auto* const sums = static_cast<double*>(context_.workspace);
    if (loss_.work == ClassWork::kCoefficients && loss_.reduction == ClassReduction::kMean) {
      ForBlocks([&](int64_t block, int64_t first, int64_t end) { SumWeights(block, first, end, sums); });
      double both[2];
      AddBlocks(sums, both);
      divisor_ = both[1];
    }
    ForBlocks([&](int64_t block, int64_t first, int64_t end) {
      if (loss_.work == ClassWork::kLosses) return Losses(block, first, end, sums);
      for (int64_t row = first; row < end; row += kAtOnce) {
        const int64_t n = std::min(kAtOnce, end - row);
        loss_.work == ClassWork::kGradients ? Scatter(row, n) : Coefficients(row, n);
      }
    });
    if (loss_.work == ClassWork::kLosses && loss_.reduction != ClassReduction::kNone) Finish(sums);
    const int64_t bad = bad_.load(std::memory_order_relaxed);
    if (loss_.raises && bad != std::numeric_limits<int64_t>::max()) Report(bad);
  }

 private:
  alignas(16) static constexpr char kZeros[16] = {};

  // Calls run(block, first, end) for each block of rows.
  template <class Block>
  void ForBlocks(const Block& run) {
    ForEachBlock(Blocks(loss_.rows), loss_.threads, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t first = block * kLaneBlock;
      run(block, first, std::min(loss_.rows, first + kLaneBlock));
    });
  }

  // Calls counts(i, target) for those of n rows from `row` on whose target is a class that is not ignored.
  template <class Counts>
  void ForTargets(int64_t row, int64_t n, const Counts& counts) {
    int64_t targets[kAtOnce];
    int64_t raw[kAtOnce];
    LoadRows(loss_.target, context_.addresses, row, n, 0, 1, sizeof(int64_t),
             reinterpret_cast<char*>(targets), reinterpret_cast<char*>(raw));
    for (int64_t i = 0; i < n; ++i) {
      if (targets[i] == loss_.ignored) continue;
      if (targets[i] >= 0 && targets[i] < loss_.classes) {
        counts(i, targets[i]);
      } else {
        Note(row + i);
      }
    }
  }

  float WeightOf(int64_t target) const {
    if (weight_ == nullptr) return 1.0f;
    return ElementAt(loss_.weight, weight_ + Offset(loss_.weight.inner, target));
  }
  int64_t ByteOffsetOf(int64_t row, int64_t target) const {
    return Offset(loss_.input.outer, row) + (loss_.is_of_targets ? 0 : Offset(loss_.input.inner, target));
  }

  void SumWeights(int64_t block, int64_t first, int64_t end, double* sums) {
    float weights[kLaneBlock];
    std::fill_n(weights, end - first, 0.0f);
    for (int64_t row = first; row < end; row += kAtOnce) {
      ForTargets(row, std::min(kAtOnce, end - row),
                 [&](int64_t i, int64_t target) { weights[row - first + i] = WeightOf(target); });
    }
    sums[2 * block] = 0.0;
    sums[2 * block + 1] = SumOfLanes(weights, end - first);
  }

  void Losses(int64_t block, int64_t first, int64_t end, double* sums) {
    float terms[kLaneBlock];
    float weights[kLaneBlock];
    const int64_t n = end - first;
    std::fill_n(terms, n, 0.0f);
    std::fill_n(weights, n, 0.0f);
    for (int64_t row = first; row < end; row += kAtOnce) {
      float smooth[kAtOnce];
      float raw[kAtOnce];
      const int64_t some = std::min(kAtOnce, end - row);
      if (loss_.smooths) {
        LoadRows(loss_.smooth, context_.addresses, row, some, 0, 1, sizeof(float),
                 reinterpret_cast<char*>(smooth), reinterpret_cast<char*>(raw));
      }
      ForTargets(row, some, [&](int64_t i, int64_t target) {
        const int64_t position = row - first + i;
        weights[position] = WeightOf(target);
        terms[position] =
            -(weights[position] * ElementAt(loss_.input, input_ + ByteOffsetOf(row + i, target)));
        if (loss_.smooths) terms[position] = loss_.share * terms[position] + loss_.smoothing * smooth[i];
      });
    }
    if (loss_.reduction == ClassReduction::kNone) {
      double raw[kAtOnce];
      for (int64_t at = 0; at < n; at += kAtOnce) {
        StoreRows(loss_.result, context_.addresses, first + at, std::min(kAtOnce, n - at), 0, 1,
                  sizeof(float), reinterpret_cast<const char*>(terms + at), reinterpret_cast<char*>(raw));
      }
    } else {
      sums[2 * block] = SumOfLanes(terms, n);
      sums[2 * block + 1] = SumOfLanes(weights, n);
    }
  }

  // Adds up the blocks' sums of losses and of weights.
  void AddBlocks(double* sums, double* both) const {
    double levels[80];
    SumTree tree(levels, 2);
    for (int64_t block = 0; block < Blocks(loss_.rows); ++block) tree.Add(sums + 2 * block);
    tree.Finish(both);
  }

  void Finish(double* sums) {
    const DefaultFloatEnvironment environment;
    double both[2];
    AddBlocks(sums, both);
    StoreNumber(loss_.result, context_.addresses,
                loss_.reduction == ClassReduction::kMean ? both[0] / both[1] : both[0]);
    if (loss_.total.argument != RowwiseOperand::kConstant)
      StoreNumber(loss_.total, context_.addresses, both[1]);
  }

  // Computes the values that all rows share.
  void PrepareGradient() {
    const DefaultFloatEnvironment environment;
    divisor_ = loss_.reduction == ClassReduction::kMean ? NumberOf(loss_.total, context_.addresses) : 1.0;
  }

  void Scatter(int64_t row, int64_t n) {
    double gradients[kAtOnce];
    double raw[kAtOnce];
    LoadRows(loss_.result, context_.addresses, row, n, 0, 1, sizeof(double),
             reinterpret_cast<char*>(gradients), reinterpret_cast<char*>(raw));
    auto* const out = const_cast<char*>(input_);
    ForTargets(row, n, [&](int64_t i, int64_t target) {
      const double value = -(static_cast<double>(WeightOf(target)) * gradients[i]) / divisor_;
      char* const position = out + ByteOffsetOf(row + i, target);
      if (loss_.input.conversion->KeepsBytes()) {
        std::memcpy(position, &value, sizeof value);
      } else {
        loss_.input.conversion->Run(&value, position, 1, false);
      }
    });
  }

  // Computes for each row the extra gradient of its target's element, and the gradient of the others for a
  // weight of 1; 0 for rows that do not count.
  void Coefficients(int64_t row, int64_t n) {
    double gradients[kAtOnce];
    double raw[kAtOnce];
    LoadRows(loss_.result, context_.addresses, row, n, 0, 1, sizeof(double),
             reinterpret_cast<char*>(gradients), reinterpret_cast<char*>(raw));
    auto* const of_targets =
        reinterpret_cast<double*>(static_cast<char*>(context_.workspace) + loss_.coefficients_offset) + row;
    double* const of_all = of_targets + loss_.rows;
    std::fill_n(of_targets, n, 0.0);
    std::fill_n(of_all, n, 0.0);
    ForTargets(row, n, [&](int64_t i, int64_t target) {
      const double gradient = -gradients[i] / divisor_;
      of_targets[i] = static_cast<double>(loss_.share) * static_cast<double>(WeightOf(target)) * gradient;
      if (loss_.smooths) of_all[i] = static_cast<double>(loss_.smoothing) * gradient;
    });
  }

  void Note(int64_t row) {
    int64_t seen = bad_.load(std::memory_order_relaxed);
    while (row < seen && !bad_.compare_exchange_weak(seen, row, std::memory_order_relaxed)) {
    }
  }

  void Report(int64_t row) {
    int64_t target = 0;
    int64_t raw = 0;
    LoadRows(loss_.target, context_.addresses, row, 1, 0, 1, sizeof target, reinterpret_cast<char*>(&target),
             reinterpret_cast<char*>(&raw));
    Text message(context_.api, ": target has the value ");
    message.Add(target).Add(" at element ").Add(row).Add(", accepted: 0 to ").Add(loss_.classes - 1);
    context_.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message.Add(", or ignoreIndex."));
  }

  const ClassLoss& loss_;
  const JobContext& context_;
  const char* const input_;
  const char* const weight_;
  double divisor_ = 1;
  std::atomic<int64_t> bad_{std::numeric_limits<int64_t>::max()};
};

}  // namespace

uint64_t ClassLoss::WorkspaceBytes() const noexcept {
  if (work == ClassWork::kGradients || reduction == ClassReduction::kNone) return 0;
  return static_cast<uint64_t>(Blocks(rows)) * 2 * sizeof(double);
}

void ClassLoss::Run(const JobContext& context) const noexcept { ClassRun(*this, context).Run(); }

void ClassLossJob::Run(const JobContext& context) const noexcept {
  reinterpret_cast<const ClassLoss*>(context.memory)->Run(context);
}

ClassLossJob MakeClassLossJob(JobMemory& memory, const ClassLoss& loss, uint32_t touched) noexcept {
  auto* const held = memory.ReserveMemory(sizeof loss);
  if (held == nullptr) return {};
  std::memcpy(held, &loss, sizeof loss);
  const int64_t elements = loss.work == ClassWork::kGradients ? loss.rows * loss.classes : loss.rows;
  return {touched, elements, loss.WorkspaceBytes()};
}

}  // namespace portacl::engine
