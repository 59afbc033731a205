// Jobs of several maps (see map_list.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/map_list.h"

#include <new>

namespace portacl {
namespace {

// In the job's memory: room for `most` maps, then for the sum.
struct MapsJob {
  int most;
  int count;
  bool has_sum;
  int64_t elements;

  // What they touch is marked by MapList::SetJob.
  bool Touches(int) const noexcept { return false; }
  int64_t Elements() const noexcept { return elements; }

  void Run(const JobContext& context) const noexcept {
    const auto* jobs = reinterpret_cast<const engine::ElementwiseJob*>(context.memory);
    if (has_sum)
      reinterpret_cast<const engine::ReductionJob*>(jobs + most)->Run(context.addresses, context.workspace);
    for (int i = 0; i < count; ++i) jobs[i].Run(context.addresses, context.workspace);
  }
};
static_assert(sizeof(engine::ElementwiseJob) % alignof(engine::ReductionJob) == 0);

// The call as if the views were its tensors, the output the last.
struct CallOfViews {
  CallOfViews(const OperatorCall& whole, std::initializer_list<MappedView> inputs, const MappedView& output)
      : call(whole) {
    for (const MappedView& input : inputs) {
      tensors[count] = {nullptr, &input.tensor};
      indices.index[indices.count++] = static_cast<int8_t>(count);
      ++count;
    }
    tensors[count] = {nullptr, &output.tensor};
    call.tensors = {tensors, static_cast<size_t>(count) + 1};
  }

  TensorArgument tensors[kMaxLoopOperands];
  Operands indices;
  int count = 0;
  OperatorCall call;
};

template <class Job>
void Bind(std::initializer_list<MappedView> inputs, Job& job) noexcept {
  int k = 0;
  for (const MappedView& input : inputs) job.formula.argument[k++] = static_cast<int8_t>(input.operand);
}

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
  const CallOfViews views(call_, inputs, output);
  engine::ElementwiseJob* const job = new (jobs_ + count_++)
      engine::ElementwiseJob(MakeMapJob(views.call, views.indices, views.count, kernels, scalars));
  Bind(inputs, *job);
  job->result.argument = static_cast<int8_t>(output.operand);
  elements_ += job->plan.count;
}

void MapList::AddSum(std::initializer_list<MappedView> inputs, const MappedView& output, const Shape& terms,
                     const Shape& kept, const engine::Kernels& kernels) noexcept {
  if (jobs_ == nullptr) return;
  const CallOfViews views(call_, inputs, output);
  engine::ReductionJob* const job = new (sum()) engine::ReductionJob(
      MakeReductionJob(views.call, terms, kept, views.indices, views.count, /*factor=*/1.0f, executor_));
  job->formula.Set(kernels, engine::NoParameters{});
  Bind(inputs, *job);
  job->output_argument = static_cast<int8_t>(output.operand);
  elements_ += job->Elements();
  has_sum_ = true;
}

void MapList::SetJob() noexcept {
  if (jobs_ == nullptr) return;
  executor_.SetJob([&] { return MapsJob{most_, count_, has_sum_, elements_}; });
  for (int operand = 0; operand < executor_.operand_count; ++operand) {
    bool touched = has_sum_ && sum()->Touches(operand);
    for (int i = 0; i < count_; ++i) touched = touched || jobs_[i].Touches(operand);
    executor_.touched[operand] = touched;
  }
}

}  // namespace portacl
