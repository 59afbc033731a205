// A job of updates (engine/update/update.h), put together from the tensors of a call.
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
  // A tensor of the call: an argument, or an entry of one.
  struct Part {
    int argument;
    int entry = 0;
  };

  // For at most `most` updates. Where there is no memory for them, phase 1 fails and nothing below does anything.
  UpdateList(const OperatorCall& call, Executor& executor, int most) noexcept;

  // Tensors of one shape, in the formula's order; tensors of one element whose numbers are read when the job runs, the first element
  // of each. An argument of -1 is one that is not given.
  void Add(const UpdateKernels& kernels, engine::PrepareUpdate prepare, std::initializer_list<float> numbers,
           std::initializer_list<Part> tensors, int outputs, std::initializer_list<Part> read) noexcept;

  // Ends the list: sets the executor's job. Without elements there is none.
  // Argument `found` becomes 1 where a formula finds what it looks for.
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
