// Shared code of reductions and scans: the reduced dims, the result's shape, the result of an empty tensor,
// and their jobs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/reduction/axis_reduction.h"
#include "engine/reduction/scan.h"

namespace portacl {

// self is the first tensor of every reduction. The first attribute gives the reduced dims, as an array or as
// one dim. The second tells whether they are kept. Without attributes all dims are reduced. Pass an optional
// array that is null as one without values.
inline constexpr int kReducedSelf = 0;
enum ReductionAttributes { kReducedDims, kKeepsReducedDims };

inline constexpr DtypeSet kRealNumbers{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8,
                                       ACL_UINT8, ACL_INT16,   ACL_INT32,  ACL_INT64};

// Returns the reduced dims, one bit each. All dims are reduced if there is no array, or one without values.
uint32_t ReducedDims(const OperatorCall& call) noexcept;
// Returns the number of elements that are reduced to one.
int64_t ReducedCount(const OperatorCall& call) noexcept;

namespace check {
aclnnStatus SetsReducedShape(const Check& check, OperatorCall& call) noexcept;
aclnnStatus GivesValueIfEmpty(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DtypeIs(const Check& check, OperatorCall& call) noexcept;
aclnnStatus NoEmptyDims(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// Never fails: computes the result's shape into call.broadcast, for ShapeIsResult.
inline constexpr Check kSetsReducedShape{.run = check::SetsReducedShape};
// Succeeds when the tensor is empty: every element of the outputs then gets one value (SetReductionValue),
// whatever their shapes. 561103 when an output has more than 8 dims that do not merge.
constexpr Check GivesValueIfEmpty(int tensor) {
  return {.run = check::GivesValueIfEmpty, .operands = {tensor}};
}
// 161002 when the tensor's dtype is not that of the dtype attribute.
constexpr Check DtypeIs(int tensor, int attribute) {
  return {.run = check::DtypeIs, .operands = {tensor, attribute}};
}
// 161002 when a reduced dim is empty.
inline constexpr Check kNoEmptyDims{.run = check::NoEmptyDims};
// The checks of dims, in CANN's usual order.
constexpr auto DimsChecks() {
  return List(DimsIn(kReducedDims, kReducedSelf), DimsDistinct(kReducedDims, kReducedSelf));
}

// A pass of a reduction (engine/reduction/axis_reduction.h).
struct ReductionPassRequest {
  engine::ReductionOperation operation;
  engine::ReductionEpilogue ending = engine::ReductionEpilogue::kNone;
  bool is_least = false;         // of extremes: minimum, else maximum
  bool is_of_magnitude = false;  // of extremes: compares magnitudes
  bool is_kept = false;
  double divisor = 1;
  double number = 0;
  double power = 0;
  int output = -1;  // position of a tensor in the call
  int indices = -1;
};

// Sets the executor's job. Casts the elements of `view`, or of self without a view, to `cast`, and reduces
// them over the dims in `reduced`. Casts the results to the outputs' dtypes; integers first wrap to `cast`.
struct ReductionRequest {
  uint32_t reduced;
  aclDataType cast;
  std::initializer_list<ReductionPassRequest> passes;
  const StridedView* view = nullptr;
};
void SetAxisReductionJob(const OperatorCall& call, const ReductionRequest& request,
                         Executor& executor) noexcept;
// Returns that job for another job to run. The caller reserves its workspace.
engine::AxisReductionJob MakeAxisReductionJob(const OperatorCall& call,
                                              const ReductionRequest& request) noexcept;

// Sets the executor's job: the sum or the mean of self's elements, cast to `cast` first. FLOAT, FLOAT16 and
// BF16 take the path of the losses where nothing else has to be cast.
void SetSumJob(const OperatorCall& call, uint32_t reduced, aclDataType cast, bool is_mean, Executor& executor,
               const StridedView* view = nullptr) noexcept;

// Sets the executor's job: every element of the call's outputs becomes this value. Dtypes without NaN or
// infinities take the nearest value.
void SetReductionValue(const OperatorCall& call, double value, Executor& executor) noexcept;

// Sets the executor's job: a scan along a dim. Casts the elements of self to `cast` first.
struct ScanRequest {
  engine::ScanOperation operation;
  aclDataType cast;
  int dim;
  int output;
  int indices = -1;
  bool is_exclusive = false;
  bool is_reversed = false;
};
void SetScanJob(const OperatorCall& call, const ScanRequest& request, Executor& executor) noexcept;

}  // namespace portacl
