// Phase 1 of all operators: checks null outputs, acquires the executor, runs the operator's checks, then
// plans its work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "aclnn/executor.h"
#include "aclnnop/scalar_value.h"
#include "contract/checks.h"
#include "engine/map/dispatch.h"
#include "engine/map/elementwise_job.h"
#include "engine/reduction/all_elements.h"
#include "engine/reduction/reduction.h"
#include "engine/sequence/sequence.h"

namespace portacl::engine {
struct ViewOperand;
}

namespace portacl {

// Dtypes that an elementwise formula can write.
inline constexpr DtypeSet kWritable{ACL_FLOAT,  ACL_FLOAT16,   ACL_BF16,
                                    ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128};
// Dtypes that an elementwise formula can read; integers and bool go through the promoted dtype.
inline constexpr DtypeSet kReadable{ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_INT8, ACL_UINT8,
                                    ACL_INT16, ACL_INT32,   ACL_INT64, ACL_BOOL};

// Returns the factor c of a mean over n elements: one division in float64, rounded once.
inline float MeanFactor(int64_t n) noexcept { return static_cast<float>(1.0 / static_cast<double>(n)); }

// Returns the factor c of a reduction over `shape`. mean counts all elements, batchmean the first dim. Any
// other number gives 1.
inline float ReductionFactor(int64_t reduction, const Shape& shape) noexcept {
  switch (reduction) {
    case kReductionMean:
      return MeanFactor(NumelOf(shape));
    case kReductionBatchMean:
      return MeanFactor(shape.rank == 0 ? 1 : shape[0]);
    default:
      return 1.0f;
  }
}

// Runs the checks in CANN's order: null workspaceSize or executor (161001), then the executor itself
// (561101), then the list. If all pass and there is something to compute, calls build(call, executor), which
// sets the executor's job. Writes *workspaceSize and *executor only after that. All floating-point work
// happens in the default environment.
template <class Build>
aclnnStatus RunPhase1(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                      aclOpExecutor** executor, const Build& build) noexcept;

// Returns the job of an elementwise formula over `shape`. The inputs, in the formula's order, and the output
// broadcast to it. The caller sets the formula (job.formula.Set).
engine::ElementwiseJob MakeElementwiseJob(const OperatorCall& call, const Shape& shape, Operands inputs,
                                          int output) noexcept;

// Returns the job that sums a formula's terms of shape `shape` to the shape `kept` (see PlanReduction),
// multiplies each sum by `factor` and rounds once. Adds the workspace that it needs to the executor.
engine::ReductionJob MakeReductionJob(const OperatorCall& call, const Shape& shape, const Shape& kept,
                                      Operands inputs, int output, float factor, Executor& executor) noexcept;

// Returns the job of a map over the output's shape, to which the inputs broadcast. Each input is cast to
// call.promoted, or to its dtype in `casts`, and then to the type of the computation (engine::ComputedType).
// A floating result is rounded once to the output's dtype. An integer result wraps to call.promoted, and is
// then cast. `scalars` have the type of the computation (see SetMapScalar). `kernels` must be static.
engine::ElementwiseJob MakeMapJob(const OperatorCall& call, Operands inputs, int output,
                                  const engine::KernelTable& kernels, const engine::Scalars& scalars,
                                  std::initializer_list<aclDataType> casts = {}) noexcept;

// Sets that job as the executor's.
void SetMapJob(const OperatorCall& call, Operands inputs, int output, const engine::KernelTable& kernels,
               const engine::Scalars& scalars, Executor& executor,
               std::initializer_list<aclDataType> casts = {}) noexcept;

// Sets the executor's job: writes 1 to the output's only element, a BOOL, if a formula that writes BOOL gives
// 1 for every element of the inputs, else 0. The inputs are cast to call.promoted. They have one shape, of at
// most 8 dims and without a dim of 0. With `is_opposite` it writes 0 in place of 1, and 1 in place of 0.
void SetEveryJob(const OperatorCall& call, Operands inputs, int output, const engine::KernelTable& kernels,
                 const engine::Scalars& scalars, Executor& executor, bool is_opposite = false) noexcept;

// Stores a scalar as scalar i, cast to `cast` and then to the type in which `kernels` compute call.promoted.
// `cast` defaults to call.promoted, but to FLOAT for FLOAT16 and BF16: a scalar keeps the precision of the
// computation. Precondition: ScalarConverts.
void SetMapScalar(const OperatorCall& call, const engine::KernelTable& kernels, const aclScalar& scalar,
                  engine::Scalars& scalars, int i, aclDataType cast = ACL_DT_UNDEFINED) noexcept;

// Sets the executor's job: copies one operand, with conversion, to another, to whose shape it broadcasts.
// Preconditions: see engine::MakeMove.
void SetMoveJob(const OperatorCall& call, int source, int destination, Executor& executor) noexcept;

// Sets the executor's job: fills an operand with `value`, which has its dtype. Its dims must merge to at most
// kMaxLoopRank (see MergedDims).
void SetFillJob(const OperatorCall& call, int destination, const ScalarValue& value,
                Executor& executor) noexcept;

// The operands of a sequence.
struct SequenceOperands {
  int output;
  Operands inputs{};  // broadcast to the output's shape
  int packed = -1;
  engine::PackedOperand::Use use = engine::PackedOperand::Use::kNone;
};

// Returns the job of a sequence (see engine/sequence/sequence.h) of this type. The caller sets its numbers.
// They are rounded once to the output's dtype, or, if integers, wrap. Inputs are converted to the type.
engine::SequenceJob MakeSequenceJob(const OperatorCall& call, engine::ElementType type,
                                    const SequenceOperands& operands) noexcept;

// The same without inputs. The output may be a view of an operand or of the workspace.
engine::SequenceJob MakeSequenceJob(const OperatorCall& call, engine::ElementType type,
                                    const engine::ViewOperand& output) noexcept;

// Why a job built now has no functions of float64, for FunctionsThere; empty where it has them.
const char* WhyFunctionsAreMissing() noexcept;

// Sets the executor's job: writes the numbers of a sequence to an output.
template <class Numbers>
void SetSequenceJob(const OperatorCall& call, const Numbers& numbers, Executor& executor) noexcept {
  executor.SetJob([&] {
    auto job = MakeSequenceJob(call, engine::TypeOf(numbers), {.output = call.Output()});
    job.Set(call.isa, numbers);
    return job;
  });
}

// Sets the executor's job: writes the values of a formula over call.broadcast. Kernels is a VectorFunction or
// Kernels.
template <class Kernels, class Parameters>
void SetElementwiseJob(const OperatorCall& call, Operands inputs, int output, const Kernels& kernels,
                       const Parameters& parameters, Executor& executor) noexcept {
  executor.SetJob([&] {
    auto job = MakeElementwiseJob(call, call.broadcast, inputs, output);
    job.formula.Set(kernels, parameters);
    return job;
  });
}

// Sets the executor's job: a formula over call.broadcast. Without `kept` it writes the values. With `kept` it
// sums them to that shape, and multiplies each sum by `factor`; this needs kernels.sums.
template <class Parameters>
void SetJob(const OperatorCall& call, const Shape* kept, Operands inputs, int output, float factor,
            const engine::Kernels& kernels, const Parameters& parameters, Executor& executor) noexcept {
  if (kept == nullptr) {
    SetElementwiseJob(call, inputs, output, kernels, parameters, executor);
  } else {
    executor.SetJob([&] {
      auto job = MakeReductionJob(call, call.broadcast, *kept, inputs, output, factor, executor);
      job.formula.Set(kernels, parameters);
      return job;
    });
  }
}

namespace phase1 {
aclnnStatus Begin(OperatorCall& call, std::span<const Check> checks, const uint64_t* workspaceSize,
                  aclOpExecutor* const* executor, Executor** acquired) noexcept;
aclnnStatus End(const OperatorCall& call, Executor* acquired, uint64_t* workspaceSize,
                aclOpExecutor** executor) noexcept;
aclnnStatus CheckLoopRank(const Check& check, OperatorCall& call) noexcept;
}  // namespace phase1

// 561103 when an output has more than 8 dims, which some operators do not check, and the loop over all
// tensors does not merge to fewer dims. Precondition: every tensor is given.
inline constexpr Check kLoopRankFits{.run = phase1::CheckLoopRank};
// 561103 as kLoopRankFits, for a loop over these tensors only, inputs and outputs.
constexpr Check LoopRankFits(Operands tensors) { return {.run = phase1::CheckLoopRank, .operands = tensors}; }

}  // namespace portacl

#include "base/float_environment.h"

template <class Build>
aclnnStatus portacl::RunPhase1(OperatorCall& call, std::span<const Check> checks, uint64_t* workspaceSize,
                               aclOpExecutor** executor, const Build& build) noexcept {
  const DefaultFloatEnvironment environment;
  Executor* acquired = nullptr;
  if (const aclnnStatus status = phase1::Begin(call, checks, workspaceSize, executor, &acquired))
    return status;
  if (call.work != OperatorCall::Work::kNothing) build(call, *acquired);
  return phase1::End(call, acquired, workspaceSize, executor);
}

// Begins the definition of phase 1 of an operator whose C functions tools/schema makes. `call` holds the
// tensors and lists of tensors as tensors, and the other arguments as attributes, both in order. `given`
// holds all arguments by name.
#define PORTACL_PHASE_1(api)                                                                         \
  aclnnStatus portacl::phase1::api([[maybe_unused]] const api##Arguments& given, OperatorCall& call, \
                                   uint64_t* workspaceSize, aclOpExecutor** executor)

// Defines phase 2 of an operator.
#define PORTACL_PHASE_2(api)                                                                              \
  aclnnStatus api(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream) { \
    return portacl::RunExecutor(#api, workspace, workspaceSize, executor, stream);                        \
  }
