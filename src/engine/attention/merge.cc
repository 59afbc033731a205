// Merges parts of attention (see merge.h). docs/numerics.md defines the order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/attention/merge.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/attention/scores.h"
#include "engine/buffer_ref.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

using namespace attention;

constexpr int64_t kRowsOfBlock = 64;
constexpr int64_t kColumns = 256;  // that are summed at a time
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kMost = std::numeric_limits<float>::max();

struct Row {
  int64_t batch;
  int64_t head;
  int64_t row;
};

class MergeJob {
 public:
  MergeJob(const AttentionMerge& merge, int left_out, Isa isa, int threads)
      : merge_(merge), left_out_(left_out), isa_(isa), threads_(threads) {}

  bool Touches(int operand) const noexcept { return operand != left_out_; }
  int64_t Elements() const noexcept { return Rows() * merge_.depth * merge_.parts; }

  void Run(const JobContext& context) const noexcept {
    // Loading and storing rows reads only these members.
    Attention loops{};
    loops.isa = isa_;
    loops.kernels = FindAttentionKernels(isa_);
    loops.gather = FindGather(isa_, GatherSource::kCache);
    loops.scatter = FindScatter(isa_, /*from_memory=*/false);
    ForEachBlock(DividedUp(Rows(), kRowsOfBlock), threads_, [&](int64_t block) {
      const DefaultFloatEnvironment environment;
      const int64_t first = block * kRowsOfBlock;
      for (int64_t i = first; i < std::min(first + kRowsOfBlock, Rows()); ++i) {
        const int64_t head = i / merge_.rows;
        Merge(loops, context, {head / merge_.heads, head % merge_.heads, i % merge_.rows});
      }
    });
    ReportIsaThatRan(isa_);
  }

 private:
  int64_t Rows() const { return merge_.batches * merge_.heads * merge_.rows; }

  static char* At(const JobContext& context, const AttentionOperand& operand, const Row& row) {
    return static_cast<char*>(context.addresses[operand.argument]) + operand.offset +
           row.batch * operand.batch + row.head * operand.head + row.row * operand.row;
  }

  // Returns exp(a - b) * factor by the same steps as in rows.
  static float Weight(const Attention& loops, float a, float b, float factor) {
    alignas(64) float numbers[kAttentionLanes] = {a};
    loops.kernels.weights(numbers, kAttentionLanes, b, factor);
    return numbers[0];
  }

  void Merge(const Attention& loops, const JobContext& context, const Row& row) const {
    const auto* const parts = reinterpret_cast<const MergedPart*>(context.memory);
    float scores[kMostMergedParts];
    float weights[kMostMergedParts];
    float greatest = -kInfinity;
    for (int i = 0; i < merge_.parts; ++i) {
      scores[i] = Load<float>(At(context, parts[i].greatest, row));
      if (!parts[i].sum.IsThere() && scores[i] == kInfinity) scores[i] = -kInfinity;
      greatest = scores[i] > greatest ? scores[i] : greatest;
    }
    float sum = 0;
    for (int i = 0; i < merge_.parts; ++i) {
      const float own = parts[i].sum.IsThere() ? Load<float>(At(context, parts[i].sum, row)) : 1.0f;
      weights[i] = scores[i] == -kInfinity ? 0.0f : Weight(loops, scores[i], greatest, own);
      sum += weights[i];
    }
    // A NaN sum does not mean that there are no keys.
    const bool is_empty = sum == 0;
    const AttentionOperand& out = merge_.result.out;
    for (int64_t column = 0; column < merge_.depth; column += kColumns) {
      const int64_t count = std::min(kColumns, merge_.depth - column);
      alignas(64) float sums[kColumns] = {};
      alignas(64) float term[kColumns] = {};
      for (int i = 0; i < merge_.parts; ++i) {
        // Skips a part without weight, whose output may be anything.
        if (weights[i] == 0) continue;
        const AttentionOperand& operand = parts[i].out;
        LoadRow(loops, operand, At(context, operand, row) + column * operand.column, count, term);
        loops.kernels.multiply(term, InLanes(count), weights[i] / sum);
        loops.kernels.add(sums, term, InLanes(count), 1.0f);
      }
      StoreRow(loops, out, sums, count, At(context, out, row) + column * out.column);
    }
    const bool has_sums = merge_.result.sum.IsThere();
    Store(context, merge_.result.greatest, row,
          has_sums   ? greatest
          : is_empty ? kInfinity
                     : loops.kernels.log_sum(greatest, sum));
    // Rows that see no key have the lowest float as maximum. Their sum is clamped to the greatest float, so
    // that the next merge can use it.
    Store(context, merge_.result.sum, row, greatest == -kMost && sum > kMost ? kMost : sum);
  }

  void Store(const JobContext& context, const AttentionOperand& operand, const Row& row, float value) const {
    if (!operand.IsThere()) return;
    char* const to = At(context, operand, row);
    for (int64_t copy = 0; copy < merge_.copies; ++copy)
      std::memcpy(to + copy * operand.column, &value, sizeof value);
  }

  AttentionMerge merge_;
  int left_out_;
  Isa isa_;
  int threads_;
};

}  // namespace

MergedPart* ReserveMergedParts(JobMemory& job, int parts) noexcept {
  std::byte* const memory = job.ReserveMemory(static_cast<size_t>(parts) * sizeof(MergedPart));
  if (memory == nullptr) job.RefuseSize(0, parts);
  return reinterpret_cast<MergedPart*>(memory);
}

AnyJob MakeAttentionMergeJob(const AttentionMerge& merge, int left_out, Isa isa, int threads) noexcept {
  return AnyJob([&] { return MergeJob(merge, left_out, isa, threads); });
}

}  // namespace portacl::engine
