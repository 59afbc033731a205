// aclnnPowTensorTensor and its in-place form: powers of tensors by tensors.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/arithmetic/pow_tensor_tensor.cc"
#include "base/foreach_target.h"

#include "aclnnop/arithmetic/power-inl.h"
#include "engine/map/vector_loop-inl.h"

#if HWY_ONCE

#include "aclnnop/arithmetic/pow_tensor_tensor_functions.h"
#include "aclnnop/arithmetic/power.h"
#include "aclnnop/binary_checks.h"
#include "aclnnop/jobs/list_kernels.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

constexpr auto kPower = PORTACL_VALUE_KERNELS(powers::Power);

enum Tensors { kSelf, kExponent, kOut };

constexpr auto Checks(int out) {
  return Join(List(NotNull(kSelf), NotNull(kExponent), NotNull(out), NotAllBool({kSelf, kExponent}),
                   DtypesIn(kArithmeticDtypes, {kSelf, kExponent}), Promotes({kSelf, kExponent}),
                   PromotedCastsTo(out)),
              BroadcastChecks(kSelf, kExponent, out), ComputableChecks({kSelf, kExponent}, out),
              List(kPowerFunctionsThere));
}
constexpr auto kChecks = Checks(kOut);
constexpr auto kInPlaceChecks = Checks(kSelf);

void SetPower(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kSelf, kExponent}, call.Output(), kPower, engine::Scalars(), executor);
}

}  // namespace

const engine::KernelTable& PowerKernels() noexcept { return kPower; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnPowTensorTensor) { return RunPhase1(call, kChecks, workspaceSize, executor, SetPower); }

PORTACL_PHASE_1(aclnnInplacePowTensorTensor) {
  return RunPhase1(call, kInPlaceChecks, workspaceSize, executor, SetPower);
}

#endif  // HWY_ONCE
