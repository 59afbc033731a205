// Jobs of several maps, and maybe a sum, one after the other, whose operands are views of the call's tensors: halves of one, say.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "aclnnop/call_of_views.h"

namespace portacl {

class MapList {
 public:
  // For at most `most` maps and one sum of the executor's job. Where there is no memory for them, phase 1 fails and nothing below
  // does anything.
  MapList(const OperatorCall& call, Executor& executor, int most) noexcept;

  // As SetMapJob: the inputs are cast to the call's promoted dtype and broadcast to the output's shape. A map may read what an
  // earlier one has written. Preconditions: the output has elements, and its dims merge to at most kMaxLoopRank.
  void Add(std::initializer_list<MappedView> inputs, const MappedView& output,
           const engine::KernelTable& kernels, const engine::Scalars& scalars = {}) noexcept;

  // As MakeReductionJob, of a formula without parameters: terms of the shape `terms` summed to `kept`. It runs before the maps,
  // which may so write over what it reads, unless there is a Scratch.
  void AddSum(std::initializer_list<MappedView> inputs, const MappedView& output, const Shape& terms,
              const Shape& kept, const engine::Kernels& kernels, float factor = 1.0f) noexcept;

  // A dense tensor of the shape in the workspace, for what a map leaves to a later one or to the sum, which then is the last
  // to run. One of a list.
  MappedView Scratch(const Shape& shape, aclDataType dtype = ACL_FLOAT) noexcept;

  // Ends the list: sets the executor's job.
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
