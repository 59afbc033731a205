// What reductions and scans share: which dims are meant, the result's shape, what an empty tensor gives, and their jobs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/fold/fold.h"
#include "engine/fold/scan.h"

namespace portacl {

// self is the first tensor of every reduction. The first attribute says which dims are reduced, an array or one dim, and the
// second whether they are kept; without attributes all dims are. An array that may be null is given as one without values.
inline constexpr int kFoldSelf = 0;
enum FoldAttributes { kFoldDims, kFoldKeep };

inline constexpr DtypeSet kRealNumbers{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8,
                                       ACL_UINT8, ACL_INT16,   ACL_INT32,  ACL_INT64};

// The dims that are reduced, one bit each. No array, and one without values, mean all dims.
uint32_t ReducedDims(const OperatorCall& call) noexcept;
// The number of elements that become one.
int64_t ReducedCount(const OperatorCall& call) noexcept;

namespace check {
aclnnStatus SetsReducedShape(const Check& check, OperatorCall& call) noexcept;
aclnnStatus GivesValueIfEmpty(const Check& check, OperatorCall& call) noexcept;
aclnnStatus DtypeIs(const Check& check, OperatorCall& call) noexcept;
aclnnStatus NoEmptyDims(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// No test: leaves the result's shape in call.broadcast, for ShapeIsResult.
inline constexpr Check kSetsReducedShape{.run = check::SetsReducedShape};
// Success when the tensor is empty: every element of the outputs gets a value, whatever their shapes (SetFoldValue). 561103
// when one of them has more than 8 dims that do not merge.
constexpr Check GivesValueIfEmpty(int tensor) {
  return {.run = check::GivesValueIfEmpty, .operands = {tensor}};
}
// 161002 when the tensor's dtype is not the dtype attribute's.
constexpr Check DtypeIs(int tensor, int attribute) {
  return {.run = check::DtypeIs, .operands = {tensor, attribute}};
}
// 161002 when a dim that is named is empty.
inline constexpr Check kNoEmptyDims{.run = check::NoEmptyDims};
// The checks of dims, in CANN's usual order.
constexpr auto DimsChecks() { return List(DimsIn(kFoldDims, kFoldSelf), DimsDistinct(kFoldDims, kFoldSelf)); }

// One pass of a fold (engine/fold/fold.h).
struct FoldStep {
  engine::FoldOperation operation;
  engine::FoldEnding ending = engine::FoldEnding::kNone;
  bool is_least = false;         // of extremes
  bool is_of_magnitude = false;  // of extremes
  bool is_kept = false;
  double divisor = 1;
  double number = 0;
  double power = 0;
  int output = -1;  // tensor of the call
  int places = -1;
};

// Sets the executor's job. Elements of self are cast to `cast`, then folded; results are cast to the outputs' dtypes, with
// integers modulo 2^n of `cast` first. Of the dims in `reduced`; what is folded is `view` if it is given, else self.
struct FoldRequest {
  uint32_t reduced;
  aclDataType cast;
  std::initializer_list<FoldStep> steps;
  const StridedView* view = nullptr;
};
void SetFoldJob(const OperatorCall& call, const FoldRequest& request, Executor& executor) noexcept;
// That job, for others to run; a workspace that it needs is not entered anywhere.
engine::FoldJob MakeFoldJob(const OperatorCall& call, const FoldRequest& request) noexcept;

// The sum of self's elements, cast to `cast` first, or their mean: FLOAT, FLOAT16 and BF16 as they are in the way of losses.
void SetSumJob(const OperatorCall& call, uint32_t reduced, aclDataType cast, bool is_mean, Executor& executor,
               const StridedView* view = nullptr) noexcept;

// Sets the executor's job: every element of the call's outputs becomes this value, NaN and infinities as far as there are such.
void SetFoldValue(const OperatorCall& call, double value, Executor& executor) noexcept;

// Sets the executor's job: a scan along a dim. Elements of self are cast to `cast` first.
struct ScanRequest {
  engine::ScanOperation operation;
  aclDataType cast;
  int dim;
  int output;
  int places = -1;
  bool is_exclusive = false;
  bool is_reversed = false;
};
void SetScanJob(const OperatorCall& call, const ScanRequest& request, Executor& executor) noexcept;

}  // namespace portacl
