// Executors keep what phase 1 decided until phase 2 hands it to a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

#include "acl/queue/task.h"
#include "acl/text.h"
#include "aclnn/acl_meta.h"
#include "aclnn/shaped_tensor.h"
#include "aclnn/tensor.h"

namespace portacl {

// The operands of a call are its tensors in parameter order; each entry of a list is one operand. Up to
// kFewOperands operands and kJobBytes of a job lie in the executor itself. More lie in memory that its slot
// keeps.
inline constexpr int kFewOperands = 8;
inline constexpr int kMaxParameters = 32;
// Limit of the tensors of one call to which phase 2 gives a shape.
inline constexpr int kMaxShaped = 2;

// A tensor parameter of the call: one operand, or one for each entry of a list.
struct ExecutorParameter {
  const char* name;
  int32_t first;  // operand
  int32_t count;
  bool is_list;
};

// Arguments of a running job.
struct JobContext {
  const char* api;
  void* const* addresses;      // storage bases of the operands
  void* workspace;             // that of phase 2
  const std::byte* memory;     // memory that the job requested and filled in phase 1
  const ShapedTensor* shaped;  // see ExecutorState::shaped
  Stream* stream;

  // Reports that the work failed. The next synchronisation of the stream returns this error once, unless
  // another failure came first.
  void Fail(aclError status, const Text& text) const noexcept;
  // Gives a tensor of Executor::ShapeLater a dense view of this shape, unless the tensor was destroyed or
  // changed since phase 1.
  void SetShape(int index, const Shape& shape) const noexcept;
};

// A job is a trivially copyable value that knows how to run. It is stored inside the executor, without heap.
// job.Run(addresses, workspace), or job.Run(context) with a JobContext, must not throw. job.Touches(i) tells
// whether Run reads or writes the data of operand i. job.Elements(), if it exists, returns how many elements
// are visited. A job without it counts as large.
struct ExecutorState {
  static constexpr size_t kJobBytes = 1408;

  const char* api;
  uint64_t workspace_size;
  void* workspace;
  int input_count;  // operands: first inputs, then outputs, unless the operator works in place
  int operand_count;
  int first_output;  // operand
  int output_count;
  int parameter_count;
  int first_output_parameter;
  ExecutorParameter parameters[kMaxParameters];
  void* few_addresses[kFewOperands];
  bool few_touched[kFewOperands];
  void** addresses;   // storage bases, captured in phase 1; `few_addresses` or in the slot's memory
  bool* touched;      // phase 2 reads or writes its data, so a null address is refused
  std::byte* memory;  // memory of the job, in the slot's memory
  size_t memory_bytes;
  bool out_of_memory;  // phase 1 requested more than there is
  int64_t elements;
  bool repeatable;
  const ShapedTensor*
      shaped;  // the executor's own: tensors of the caller whose shape phase 2 sets when it is known
  void (*run)(const ExecutorState&, Stream&) noexcept;  // nullptr: nothing to do (empty tensors)
  alignas(64) std::byte job[kJobBytes];

  // Constructs the job that `make` returns directly in the executor. Jobs are long: copying them would
  // dominate the cost of a small call.
  template <class Make>
  void SetJob(const Make& make) {
    using Job = decltype(make());
    static_assert(sizeof(Job) <= kJobBytes && std::is_trivially_copyable_v<Job> &&
                  std::is_trivially_destructible_v<Job>);
    const Job& value = *new (job) Job(make());
    for (int i = 0; i < operand_count; ++i) touched[i] = value.Touches(i);
    if constexpr (requires { value.Elements(); }) {
      elements = value.Elements();
    } else {
      elements = std::numeric_limits<int64_t>::max();
    }
    run = [](const ExecutorState& executor, Stream& stream) noexcept {
      const auto& held = *reinterpret_cast<const Job*>(executor.job);
      if constexpr (requires { held.Run(executor.addresses, executor.workspace); }) {
        held.Run(executor.addresses, executor.workspace);
      } else {
        held.Run(JobContext{executor.api, executor.addresses, executor.workspace, executor.memory,
                            executor.shaped, &stream});
      }
    };
  }
};

// An executor is itself the entry of a stream's queue, so phase 2 allocates nothing. A repeatable executor
// stays with its owner: every phase 2 queues a copy of it with the addresses of that moment.
struct Executor final : ExecutorState, Task {
  // Set when memory ran out: the parameter whose size caused it, or nullptr when no single one did.
  const char* too_large = nullptr;
  int64_t size = 0;
  bool sets_shapes = false;  // phase 2 then waits for the stream, even if the tensors are gone

  Outcome Run(Stream& stream) noexcept override;
  void Finish(StreamList&) noexcept override;

  // Makes room for the operands, before they are set. Returns false when there is no memory.
  bool ReserveOperands(int count) noexcept;
  // Allocates memory for the job, once, in phase 1. Returns nullptr when there is none: then the job is not
  // set, and phase 1 fails.
  std::byte* ReserveMemory(size_t bytes) noexcept;
  // Makes phase 1 fail, because a parameter of this size needs more memory than there is.
  void RefuseSize(const char* parameter, int64_t parameter_size) noexcept;
  // Announces in phase 1 that phase 2 gives the tensor a shape (JobContext::SetShape).
  void ShapeLater(int index, aclTensor* tensor) noexcept;
  // Takes over another executor's state. Returns false when there is no memory.
  bool Copy(const Executor& other) noexcept;
  // Frees memory beyond the amount that a slot keeps.
  void Shrink() noexcept;

 private:
  friend Executor* AcquireExecutor(const char* api) noexcept;
  friend void ReleaseExecutor(Executor* executor) noexcept;

  bool Grow(size_t bytes) noexcept;

  // Kept with the slot, so that the steady state allocates nothing.
  std::byte* kept_ = nullptr;
  size_t kept_bytes_ = 0;
  size_t operand_bytes_ = 0;  // size of the operands at its start
  ShapedTensor own_shaped_[kMaxShaped];
};

// Returns a fresh executor that does nothing yet, or nullptr when memory is exhausted.
Executor* AcquireExecutor(const char* api) noexcept;

// Ends phase 1 and returns the caller's handle. Exactly one of PublishExecutor and ReleaseExecutor follows
// AcquireExecutor.
aclOpExecutor* PublishExecutor(Executor* executor) noexcept;
void ReleaseExecutor(Executor* executor) noexcept;

// Phase 2 of every operator: checks the handle, the workspace, the addresses and the stream, then hands the
// job to the stream. The executor is consumed even when an error is returned, unless it is repeatable.
aclnnStatus RunExecutor(const char* api, void* workspace, uint64_t workspace_size, aclOpExecutor* executor,
                        aclrtStream stream) noexcept;

// Returns the number of live executors, those that a handle still finds.
int LiveExecutors() noexcept;

}  // namespace portacl
