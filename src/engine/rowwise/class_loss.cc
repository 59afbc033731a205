// Runs losses over classes and their gradients (see class_loss.h). There is one result per row: a tile's elements are
// gathered from their places, converted together, and computed by plain loops.
// SPDX-License-Identifier: Apache-2.0
#include "engine/rowwise/class_loss.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

#include "base/errors.h"
#include "base/float_environment.h"
#include "engine/map/sum_work.h"
#include "engine/move/indexed_elements.h"
#include "engine/parallel.h"
#include "engine/reduction/sum_tree.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {
namespace {

// Rows whose targets are loaded at once.
constexpr int64_t kAtOnce = 256;

// The rows of a tile that count: the target is a class that is not ignored.
struct CountedRows {
  int64_t count;
  int64_t row[kAtOnce];  // within the tile
  int64_t target[kAtOnce];
};

// Load and store elements at byte offsets, converted.
void Gather(const RowwiseOperand& operand, const char* base, const int64_t* offset, int64_t n, float* to) {
  alignas(64) char raw[kAtOnce * int64_t{sizeof(double)}];
  const bool keeps_bytes = operand.conversion->KeepsBytes();
  char* const gathered = keeps_bytes ? reinterpret_cast<char*>(to) : raw;
  ForSize(operand.size,
          [&](auto element) { TakeAt<decltype(element), false>(base, offset, gathered, operand.size, n); });
  if (!keeps_bytes) operand.conversion->Run(raw, to, static_cast<size_t>(n), false);
}
void PutNumbers(const RowwiseOperand& operand, char* base, const int64_t* offset, int64_t n,
                const double* from) {
  alignas(64) char made[kAtOnce * int64_t{sizeof(double)}];
  const bool keeps_bytes = operand.conversion->KeepsBytes();
  if (!keeps_bytes) operand.conversion->Run(from, made, static_cast<size_t>(n), false);
  const char* const source = keeps_bytes ? reinterpret_cast<const char*>(from) : made;
  ForSize(operand.size,
          [&](auto element) { PutAt<decltype(element), false>(base, offset, source, operand.size, n); });
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
// Adds the byte offset of each class to an offset.
void AddOffsets(const RowAxes& axes, const int64_t* index, int64_t n, int64_t* offset) {
  if (axes.rank > 1) {
    for (int64_t i = 0; i < n; ++i) offset[i] += RowTileFrom(axes, index[i], 1).offset;
  } else if (axes.rank == 1) {
    for (int64_t i = 0; i < n; ++i) offset[i] += index[i] * axes.stride[0];
  }
}
// Computes the byte offsets of n consecutive indices.
void ConsecutiveOffsets(const RowAxes& axes, int64_t index, int64_t n, int64_t* offset) {
  for (int64_t i = 0; i < n;) {
    const RowTile run = RowTileFrom(axes, index + i, n - i);
    for (int64_t k = 0; k < run.count; ++k) offset[i + k] = run.offset + k * run.stride;
    i += run.count;
  }
}

int64_t Blocks(int64_t rows) { return rows / kLaneBlock + (rows % kLaneBlock != 0 ? 1 : 0); }

// Sums in the order of a sum over the last axis (docs/numerics.md).
double SumOfLanes(const float* terms, int64_t n) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + int64_t{kLanes} <= n; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += static_cast<double>(terms[i + static_cast<int64_t>(lane)]);
  }
  for (size_t lane = 0; i < n; ++i, ++lane) lanes[lane] += static_cast<double>(terms[i]);
  for (size_t width = kLanes / 2; width > 0; width /= 2) {
    for (size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
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

  // Lists those of n rows from `row` on that count.
  void FindCounted(int64_t row, int64_t n, CountedRows& counted) {
    int64_t targets[kAtOnce];
    int64_t raw[kAtOnce];
    int64_t count = 0;
    LoadRows(loss_.target, context_.addresses, row, n, 0, 1, sizeof(int64_t),
             reinterpret_cast<char*>(targets), reinterpret_cast<char*>(raw));
    for (int64_t i = 0; i < n; ++i) {
      if (targets[i] == loss_.ignored) continue;
      if (targets[i] >= 0 && targets[i] < loss_.classes) {
        counted.row[count] = i;
        counted.target[count++] = targets[i];
      } else {
        Note(row + i);
      }
    }
    counted.count = count;
  }

  // Loads the weights of the rows' targets.
  void LoadWeights(const CountedRows& counted, float* weights) const {
    if (weight_ == nullptr) return static_cast<void>(std::fill_n(weights, counted.count, 1.0f));
    int64_t offset[kAtOnce] = {};
    AddOffsets(loss_.weight.inner, counted.target, counted.count, offset);
    Gather(loss_.weight, weight_, offset, counted.count, weights);
  }
  // Computes the byte offsets of the elements of input at the rows' targets; there are n rows from `row` on.
  void FindOffsets(int64_t row, int64_t n, const CountedRows& counted, int64_t* offset) const {
    int64_t of_row[kAtOnce];
    ConsecutiveOffsets(loss_.input.outer, row, n, of_row);
    for (int64_t i = 0; i < counted.count; ++i) offset[i] = of_row[counted.row[i]];
    if (!loss_.is_of_targets) AddOffsets(loss_.input.inner, counted.target, counted.count, offset);
  }

  void SumWeights(int64_t block, int64_t first, int64_t end, double* sums) {
    float weights[kLaneBlock];
    std::fill_n(weights, end - first, 0.0f);
    for (int64_t row = first; row < end; row += kAtOnce) {
      CountedRows counted;
      float of_counted[kAtOnce];
      FindCounted(row, std::min(kAtOnce, end - row), counted);
      LoadWeights(counted, of_counted);
      for (int64_t i = 0; i < counted.count; ++i) weights[row - first + counted.row[i]] = of_counted[i];
    }
    sums[2 * block] = 0.0;
    sums[2 * block + 1] = SumOfLanes(weights, end - first);
  }

  // Computes the losses and weights of those of n rows that count.
  [[gnu::noinline]] void LossesOfTile(int64_t row, int64_t n, float* terms, float* weights) {
    float smooth[kAtOnce];
    if (loss_.smooths) {
      float raw[kAtOnce];
      LoadRows(loss_.smooth, context_.addresses, row, n, 0, 1, sizeof(float), reinterpret_cast<char*>(smooth),
               reinterpret_cast<char*>(raw));
    }
    CountedRows counted;
    int64_t offset[kAtOnce];
    float weight[kAtOnce];
    float element[kAtOnce];
    FindCounted(row, n, counted);
    LoadWeights(counted, weight);
    FindOffsets(row, n, counted, offset);
    Gather(loss_.input, input_, offset, counted.count, element);
    for (int64_t k = 0; k < counted.count; ++k) {
      const int64_t i = counted.row[k];
      weights[i] = weight[k];
      terms[i] = -(weight[k] * element[k]);
      if (loss_.smooths) terms[i] = loss_.share * terms[i] + loss_.smoothing * smooth[i];
    }
  }

  void Losses(int64_t block, int64_t first, int64_t end, double* sums) {
    float terms[kLaneBlock];
    float weights[kLaneBlock];
    const int64_t n = end - first;
    std::fill_n(terms, n, 0.0f);
    std::fill_n(weights, n, 0.0f);
    for (int64_t row = first; row < end; row += kAtOnce)
      LossesOfTile(row, std::min(kAtOnce, end - row), terms + (row - first), weights + (row - first));
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
    CountedRows counted;
    int64_t offset[kAtOnce];
    float weight[kAtOnce];
    double values[kAtOnce];
    FindCounted(row, n, counted);
    LoadWeights(counted, weight);
    FindOffsets(row, n, counted, offset);
    for (int64_t i = 0; i < counted.count; ++i)
      values[i] = -(static_cast<double>(weight[i]) * gradients[counted.row[i]]) / divisor_;
    PutNumbers(loss_.input, const_cast<char*>(input_), offset, counted.count, values);
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
    CountedRows counted;
    float weight[kAtOnce];
    FindCounted(row, n, counted);
    LoadWeights(counted, weight);
    for (int64_t k = 0; k < counted.count; ++k) {
      const int64_t i = counted.row[k];
      const double gradient = -gradients[i] / divisor_;
      of_targets[i] = static_cast<double>(loss_.share) * static_cast<double>(weight[k]) * gradient;
      if (loss_.smooths) of_all[i] = static_cast<double>(loss_.smoothing) * gradient;
    }
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
