// Jobs of updates (see updates.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/optimizers/updates.h"

#include <algorithm>
#include <new>

#include "base/data_type.h"

namespace portacl {

UpdateList::UpdateList(const OperatorCall& call, Executor& executor, int most) noexcept
    : call_(call),
      executor_(executor),
      updates_(reinterpret_cast<engine::PlannedUpdate*>(
          executor.ReserveMemory(static_cast<size_t>(std::max(most, 1)) * sizeof(engine::PlannedUpdate)))) {}

void UpdateList::Add(const UpdateKernels& kernels, engine::PrepareUpdate prepare,
                     std::initializer_list<double> numbers, std::initializer_list<Part> tensors, int outputs,
                     std::initializer_list<Part> read) noexcept {
  const Part first = *tensors.begin();
  const aclTensor& whole = *call_.Entry(first.argument, first.entry);
  if (updates_ == nullptr || whole.shape.IsEmpty()) return;
  const Isa isa = call_.isa;
  engine::PlannedUpdate& update = *new (updates_ + count_++) engine::PlannedUpdate{};
  update.function = kernels.For(isa);
  update.prepare = prepare;
  std::copy(numbers.begin(), numbers.end(), update.number);
  update.outputs = static_cast<int8_t>(outputs);
  for (const Part& part : tensors) {
    const int k = update.operands++;
    const aclTensor& tensor = *call_.Entry(part.argument, part.entry);
    update.executor_operand[k] = call_.OperandOf(part.argument, part.entry);
    engine::RowwiseOperand& operand = update.operand[k];
    operand =
        engine::RowwiseOperandOf(k, tensor, tensor.shape, ~uint32_t{0}, /*is_output=*/false, ACL_FLOAT, isa);
    update.store[k] =
        engine::RowwiseOperandOf(k, tensor, tensor.shape, ~uint32_t{0}, /*is_output=*/true, ACL_FLOAT, isa)
            .conversion;
    operand.is_in_place = tensor.dtype == ACL_FLOAT && engine::IsDense(operand.inner, operand.size);
  }
  for (const Part& part : read) {
    const int k = update.read_count++;
    update.read_operand[k] = -1;
    if (part.argument < 0) continue;
    StridedView one = *call_.Entry(part.argument, part.entry);
    one.shape.rank = one.strides.rank = 0;  // takes the first element
    one.numel = 1;
    update.read_operand[k] = call_.OperandOf(part.argument, part.entry);
    update.read[k] =
        engine::RowwiseOperandOf(0, one, one.shape, ~uint32_t{0}, /*is_output=*/false, ACL_DOUBLE, isa);
  }
  update.count = whole.numel;
  update.first_block = blocks_;
  blocks_ += engine::UpdateBlocks(whole.numel);
  elements_ += whole.numel;
}

void UpdateList::SetJob(int found) noexcept {
  if (updates_ == nullptr || count_ == 0) return;
  executor_.SetJob([&] {
    engine::UpdateJob job;
    job.count = count_;
    job.threads = executor_.threads;
    job.blocks = blocks_;
    job.elements = elements_;
    job.found_operand = found < 0 ? -1 : call_.OperandOf(found);
    job.found_offset = found < 0 ? 0 : ByteOffset(call_.Tensor(found));
    return job;
  });
  for (int i = 0; i < count_; ++i) {
    const engine::PlannedUpdate& update = updates_[i];
    for (int k = 0; k < update.operands; ++k) executor_.touched[update.executor_operand[k]] = true;
    for (int k = 0; k < update.read_count; ++k) {
      if (update.read_operand[k] >= 0) executor_.touched[update.read_operand[k]] = true;
    }
  }
  if (found >= 0) executor_.touched[call_.OperandOf(found)] = true;
}

}  // namespace portacl
