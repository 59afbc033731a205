// Jobs of several maps (see map_list.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/map_list.h"

#include <algorithm>
#include <cstddef>
#include <new>

#include "base/data_type.h"
#include "engine/reduction/reduction_job.h"
#include "plan/views.h"

namespace portacl {
namespace {

// Layout of the job's memory: room for `most` maps, then for the sum.
struct MapsJob {
  int most;
  int count;
  bool has_sum;
  int scratch;  // number of the operand in the workspace, after the others, or -1
  uint64_t scratch_offset;
  uint64_t addresses_offset;  // of the operands' addresses in the workspace, where they are many
  int64_t elements;

  // MapList::SetJob marks the touched operands.
  bool Touches(int) const noexcept { return false; }
  int64_t Elements() const noexcept { return elements; }

  void Run(const JobContext& context) const noexcept {
    const auto* jobs = reinterpret_cast<const engine::ElementwiseJob*>(context.memory);
    const auto* sum = reinterpret_cast<const engine::ReductionJob*>(jobs + most);
    if (scratch < 0) {
      if (has_sum) sum->Run(context.addresses, context.workspace);
      for (int i = 0; i < count; ++i) jobs[i].Run(context.addresses, context.workspace);
      return;
    }
    auto* const workspace = static_cast<std::byte*>(context.workspace);
    void* few[kFewOperands + 1];
    void** const addresses =
        scratch <= kFewOperands ? few : reinterpret_cast<void**>(workspace + addresses_offset);
    std::copy_n(context.addresses, scratch, addresses);
    addresses[scratch] = workspace + scratch_offset;
    for (int i = 0; i < count; ++i) jobs[i].Run(addresses, context.workspace);
    if (has_sum) sum->Run(addresses, context.workspace);
  }
};
static_assert(sizeof(engine::ElementwiseJob) % alignof(engine::ReductionJob) == 0);

}  // namespace

MapList::MapList(const OperatorCall& call, Executor& executor, int most) noexcept
    : call_(call),
      executor_(executor),
      most_(most),
      jobs_(reinterpret_cast<engine::ElementwiseJob*>(executor.ReserveMemory(
          static_cast<size_t>(most) * sizeof(engine::ElementwiseJob) + sizeof(engine::ReductionJob)))) {}

engine::ReductionJob* MapList::sum() const noexcept {
  return reinterpret_cast<engine::ReductionJob*>(jobs_ + most_);
}

void MapList::Add(std::initializer_list<MappedView> inputs, const MappedView& output,
                  const engine::KernelTable& kernels, const engine::Scalars& scalars) noexcept {
  if (jobs_ == nullptr) return;
  engine::ElementwiseJob* const job = new (jobs_ + count_++) engine::ElementwiseJob(
      engine::MakeMapJob(SettingsOf(call_), MapInputs(inputs).All(), output.AsOperand(), kernels, scalars));
  elements_ += job->plan.count;
}

void MapList::AddSum(std::initializer_list<MappedView> inputs, const MappedView& output, const Shape& terms,
                     const Shape& kept, const engine::Kernels& kernels, float factor) noexcept {
  if (jobs_ == nullptr) return;
  engine::ReductionJob* const job = new (sum())
      engine::ReductionJob(engine::MakeReductionJob(SettingsOf(call_), terms, kept, MapInputs(inputs).All(),
                                                    output.AsOperand(), static_cast<double>(factor)));
  executor_.workspace_size = job->plan.workspace_bytes();
  job->formula.Set(kernels, engine::NoParameters{});
  elements_ += job->Elements();
  has_sum_ = true;
}

MappedView MapList::Scratch(const Shape& shape, aclDataType dtype) noexcept {
  MappedView view{};
  view.tensor.dtype = dtype;
  FillShape(view.tensor, shape, 1);
  view.tensor.Describe();
  view.operand = executor_.operand_count;
  constexpr int64_t kMostElements = int64_t{1} << 52;
  if (jobs_ != nullptr && (!view.tensor.countable || view.tensor.numel > kMostElements)) {
    executor_.RefuseSize(call_.Name(0), view.tensor.numel);
    jobs_ = nullptr;
  }
  scratch_bytes_ = static_cast<uint64_t>(view.tensor.numel) * (StorageBits(dtype) / 8);
  return view;
}

void MapList::SetJob() noexcept {
  if (jobs_ == nullptr) return;
  constexpr uint64_t kCacheLine = 64;
  const auto next_line = [&] {
    return (executor_.workspace_size + kCacheLine - 1) / kCacheLine * kCacheLine;
  };
  const uint64_t offset = next_line();
  uint64_t addresses_offset = 0;
  const int scratch = scratch_bytes_ == 0 ? -1 : executor_.operand_count;
  if (scratch >= 0) executor_.workspace_size = offset + scratch_bytes_;
  if (scratch > kFewOperands) {
    addresses_offset = next_line();
    executor_.workspace_size = addresses_offset + (static_cast<uint64_t>(scratch) + 1) * sizeof(void*);
  }
  executor_.SetJob(
      [&] { return MapsJob{most_, count_, has_sum_, scratch, offset, addresses_offset, elements_}; });
  for (int operand = 0; operand < executor_.operand_count; ++operand) {
    bool touched = has_sum_ && sum()->Touches(operand);
    for (int i = 0; i < count_; ++i) touched = touched || jobs_[i].Touches(operand);
    executor_.touched[operand] = touched;
  }
}

}  // namespace portacl
