// Jobs of several maps and at most one sum, run one after the other. Operands are views of the call's
// tensors, for example halves of one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "aclnnop/mapped_view.h"
#include "aclnnop/phase1.h"

namespace portacl {

class MapList {
 public:
  // Reserves room for `most` maps and one sum. Without memory phase 1 fails, and the functions below do
  // nothing.
  MapList(const OperatorCall& call, Executor& executor, int most) noexcept;

  // Adds a map like SetMapJob: the inputs are cast to the call's promoted dtype and broadcast to the output's
  // shape. A map may read what an earlier one has written. Preconditions: the output has elements, and its
  // dims merge to at most kMaxLoopRank.
  void Add(std::initializer_list<MappedView> inputs, const MappedView& output,
           const engine::KernelTable& kernels, const engine::Scalars& scalars = {}) noexcept;

  // Adds a sum like MakeReductionJob, of a formula without parameters: terms of the shape `terms` summed to
  // `kept`. It runs before the maps, which may thus overwrite what it reads. With a Scratch it runs last.
  void AddSum(std::initializer_list<MappedView> inputs, const MappedView& output, const Shape& terms,
              const Shape& kept, const engine::Kernels& kernels, float factor = 1.0f) noexcept;

  // Returns a dense tensor in the workspace, through which a map passes results to a later one or to the sum.
  // The sum then runs last. One for each list.
  MappedView Scratch(const Shape& shape, aclDataType dtype = ACL_FLOAT) noexcept;

  // Sets the executor's job.
  void SetJob() noexcept;

 private:
  engine::ReductionJob* sum() const noexcept;

  const OperatorCall& call_;
  Executor& executor_;
  int most_;
  engine::ElementwiseJob* jobs_;
  int count_ = 0;
  bool has_sum_ = false;
  uint64_t scratch_bytes_ = 0;
  int64_t elements_ = 0;
};

}  // namespace portacl
