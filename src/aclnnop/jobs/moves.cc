// Jobs of several copies (see moves.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/moves.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "engine/cache_size.h"

namespace portacl {
namespace {

// Bytes of destinations that one thread should take at a time.
constexpr int64_t kTogether = 131072;

}  // namespace

MoveList::MoveList(Executor& executor, int64_t most) noexcept
    : executor_(executor),
      moves_(reinterpret_cast<engine::PlannedMove*>(executor.ReserveMemory(
          static_cast<size_t>(std::max<int64_t>(most, 1)) * sizeof(engine::PlannedMove)))) {}

void MoveList::Add(const engine::Move& move, int source, int destination) noexcept {
  new (moves_ + count_++) engine::PlannedMove{move, source, destination, thread_blocks_};
  thread_blocks_ += move.ThreadBlocks();
  elements_ += move.plan.count;
  bytes_ += move.plan.count * move.plan.operand[kMoveDestination].element_size;
}

void MoveList::Copy(const StridedView& source, int source_operand, const StridedView& destination,
                    int destination_operand, aclDataType via) noexcept {
  if (moves_ == nullptr || destination.shape.IsEmpty()) return;
  if (destination.numel != 1) {
    Add(engine::MakeMove(source, destination, executor_.isa, executor_.threads, via), source_operand,
        destination_operand);
    return;
  }
  // Copies one element between any two shapes.
  StridedView from = source;
  StridedView to = destination;
  from.shape.rank = from.strides.rank = to.shape.rank = to.strides.rank = 0;
  Add(engine::MakeMove(from, to, executor_.isa, executor_.threads, via), source_operand, destination_operand);
}

void MoveList::Fill(const StridedView& destination, int destination_operand) noexcept {
  if (moves_ == nullptr || destination.shape.IsEmpty()) return;
  StridedView one;
  one.dtype = destination.dtype;
  Add(engine::MakeMove(one, destination, executor_.isa, executor_.threads), engine::MoveJob::kValue,
      destination_operand);
}

void MoveList::SetJob(const ScalarValue& value) noexcept {
  if (moves_ == nullptr || count_ == 0) return;
  executor_.SetJob([&] {
    engine::MovesJob job;
    job.count = static_cast<int>(count_);
    job.threads = executor_.threads;
    job.thread_blocks = thread_blocks_;
    job.barrier = barrier_;
    job.thread_blocks_together =
        std::max<int64_t>(1, thread_blocks_ * kTogether / std::max<int64_t>(bytes_, 1));
    job.elements = elements_;
    std::memcpy(job.value, value.bytes, sizeof job.value);
    return job;
  });
  const bool streams =
      2 * bytes_ > engine::LastLevelCacheBytes();  // together they may exceed the cache, each alone not
  for (int64_t i = 0; i < count_; ++i) {
    moves_[i].move.stream = moves_[i].move.stream || streams;
    if (moves_[i].source != engine::MoveJob::kValue) executor_.touched[moves_[i].source] = true;
    executor_.touched[moves_[i].destination] = true;
  }
}

}  // namespace portacl
