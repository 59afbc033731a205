// Builds a job of updates (engine/update/update.h) from the tensors of a call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

#include "aclnnop/phase1.h"
#include "engine/isa_table.h"
#include "engine/update/update.h"

namespace portacl {

using UpdateKernels = engine::IsaTable<engine::UpdateFunction>;

class UpdateList {
 public:
  // A tensor of the call: an argument, or an entry of a list.
  struct Part {
    int argument;
    int entry = 0;
  };

  // Reserves room for `most` updates. Without memory phase 1 fails, and the functions below do nothing.
  UpdateList(const OperatorCall& call, Executor& executor, int most) noexcept;

  // Adds an update of `tensors`, which have one shape and follow the formula's order. `read` lists tensors
  // whose first element is read when the job runs. An argument of -1 means a tensor that is not given.
  void Add(const UpdateKernels& kernels, engine::PrepareUpdate prepare, std::initializer_list<double> numbers,
           std::initializer_list<Part> tensors, int outputs, std::initializer_list<Part> read) noexcept;

  // Sets the executor's job, unless there are no elements. Argument `found` becomes 1 where a formula finds
  // what it looks for.
  void SetJob(int found = -1) noexcept;

 private:
  const OperatorCall& call_;
  Executor& executor_;
  engine::PlannedUpdate* updates_;
  int count_ = 0;
  int64_t blocks_ = 0;
  int64_t elements_ = 0;
};

}  // namespace portacl
