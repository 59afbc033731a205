// Executors hold the results of phase 1 until phase 2 submits them to a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>

#include "acl/queue/task.h"
#include "aclnn/acl_meta.h"
#include "aclnn/shaped_tensor.h"
#include "aclnn/tensor.h"
#include "base/isa.h"
#include "engine/job.h"

namespace portacl {

class RankGroup;

// The most tensor parameters of a call. Its operands are its tensors in parameter order; each entry of a list is an operand.
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

// The results of phase 1. Members that only the slot needs are in Executor.
struct ExecutorState {
  const char* api;
  Isa isa;      // of the job's kernels
  int threads;  // the most that work on the job
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
  bool repeatable;
  const ShapedTensor*
      shaped;          // the executor's own: tensors of the caller whose shape phase 2 sets when it is known
  engine::AnyJob job;  // none: nothing to do (empty tensors)

  // Sets the job that `make` returns. It is constructed in place, because copies of jobs are costly.
  template <class Make>
  void SetJob(const Make& make) noexcept {
    if constexpr (std::is_same_v<decltype(make()), engine::AnyJob>) {
      new (&job) engine::AnyJob(make());
      for (int i = 0; job.IsThere() && i < operand_count; ++i) touched[i] = job.Touches(i);
    } else {
      const auto& value = job.Set(make);
      for (int i = 0; i < operand_count; ++i) touched[i] = value.Touches(i);
    }
    workspace_size += job.OwnWorkspace();
  }
};

// An executor is itself the entry of a stream's queue, so phase 2 allocates nothing. A repeatable executor
// stays with its owner: every phase 2 queues a copy, with the addresses that it has then.
struct Executor final : ExecutorState, Task, JobMemory {
  // Set when memory ran out: the parameter whose size caused it, or nullptr when no single one did.
  const char* too_large = nullptr;
  int64_t size = 0;
  bool sets_shapes = false;  // phase 2 then waits for the stream, even if the tensors are gone
  // The communicators of a job that exchanges data, and how many exchanges it makes in each. Phase 2 numbers them.
  static constexpr int kMostGroups = 2;
  std::shared_ptr<RankGroup> ranks[kMostGroups];
  int exchanges[kMostGroups] = {};
  uint64_t first_exchange[kMostGroups] = {};
  bool Communicates() const noexcept { return ranks[0] != nullptr; }

  Outcome Run(Stream& stream) noexcept override;
  bool Interrupt(Stream&) noexcept override;
  void Finish(StreamList&) noexcept override;

  // Makes room for the operands, before they are set. Returns false when there is no memory.
  bool ReserveOperands(int count) noexcept;
  // Allocates memory for the job, once, in phase 1. Returns nullptr when there is none: then the job is not
  // set, and phase 1 fails.
  std::byte* ReserveMemory(size_t bytes) noexcept override;
  // Makes phase 1 fail, because a parameter of this size needs more memory than there is.
  void RefuseSize(const char* parameter, int64_t parameter_size) noexcept;
  void RefuseSize(int parameter, int64_t parameter_size) noexcept override;
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

// Adds an operand's name: self, or tensors[3] for a list's entry.
void AddOperandName(Text& text, const ExecutorState& executor, int operand) noexcept;

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
