// Executors: what phase 1 decided, held until phase 2 hands it to a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "acl/queue/task.h"
#include "aclnn/acl_meta.h"
#include "aclnn/tensor.h"

namespace portacl {

// The operands of one call, in the operator's parameter order. One is the output: the last one, or the first where the
// operator works in place; that one counts as an input too.
inline constexpr int kMaxOperands = 5;

struct ExecutorOperand {
  const char* name;
  void* address;  // storage base, captured in phase 1 (decision R6)
  bool touched;   // phase 2 reads or writes its data, so a null address is refused
};

// A job is a trivially copyable value that knows how to run: it is stored inside the executor, without heap.
// job.Run(addresses, workspace) gets the operands' storage bases in parameter order and must not throw;
// job.Touches(i) tells whether Run reads or writes the data of operand i; job.Elements(), if it exists, how
// many elements are visited. A job without it counts as large.
struct ExecutorState {
  static constexpr size_t kJobBytes = 1408;

  const char* api;
  uint64_t workspace_size;
  void* workspace;
  int input_count;
  int operand_count;
  int output;  // its operand
  ExecutorOperand operands[kMaxOperands];
  int64_t elements;
  bool repeatable;
  void (*run)(const ExecutorState&) noexcept;  // nullptr: nothing to do (empty tensors)
  alignas(64) std::byte job[kJobBytes];

  // `make` returns the job, which is made in its place: jobs are long, and copies of them are what a small call
  // would spend its time on.
  template <class Make>
  void SetJob(const Make& make) {
    using Job = decltype(make());
    static_assert(sizeof(Job) <= kJobBytes && std::is_trivially_copyable_v<Job> &&
                  std::is_trivially_destructible_v<Job>);
    const Job& value = *new (job) Job(make());
    for (int i = 0; i < operand_count; ++i) operands[i].touched = value.Touches(i);
    if constexpr (requires { value.Elements(); }) {
      elements = value.Elements();
    } else {
      elements = std::numeric_limits<int64_t>::max();
    }
    run = [](const ExecutorState& executor) noexcept {
      void* addresses[kMaxOperands];
      for (int i = 0; i < executor.operand_count; ++i) addresses[i] = executor.operands[i].address;
      reinterpret_cast<const Job*>(executor.job)->Run(addresses, executor.workspace);
    };
  }
};

// An executor waits in a stream's queue by itself, so phase 2 needs no memory. A repeatable one stays with
// its owner, and a copy of it, with the addresses of that moment, is queued at every phase 2.
struct Executor final : ExecutorState, Task {
  Outcome Run(Stream& stream) noexcept override;
  void Finish(StreamList&) noexcept override;
};

// A fresh executor that does nothing yet; nullptr when memory is exhausted.
Executor* AcquireExecutor(const char* api) noexcept;

// Ends phase 1: the handle that the caller gets. Exactly one of PublishExecutor and ReleaseExecutor follows
// AcquireExecutor.
aclOpExecutor* PublishExecutor(Executor* executor) noexcept;
void ReleaseExecutor(Executor* executor) noexcept;

// Phase 2 of every operator: checks the handle, the workspace, the addresses and the stream (decisions C6,
// M1, R4), then hands the job to the stream. The executor is consumed, also when an error is returned, unless
// it is repeatable.
aclnnStatus RunExecutor(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                        aclrtStream stream) noexcept;

// How many executors exist that a handle still finds.
int LiveExecutors() noexcept;

}  // namespace portacl
