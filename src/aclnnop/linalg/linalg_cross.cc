// aclnnLinalgCross: the cross product of vectors of three elements along a dim.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/linalg/linalg_cross_functions.h"

#include "aclnnop/jobs/mul.h"
#include "aclnnop/jobs/sums.h"
#include "aclnnop/map_list.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "plan/views.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOther, kOut };
enum Attributes { kDim };

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | kIntegers | kComplex);

// Returns the distance of self's dim from the last one. The other tensor's dims are aligned there.
int FromEnd(const OperatorCall& call) {
  const int rank = call.Tensor(kSelf).shape.rank;
  return rank - WrappedDim(call.attributes[kDim].integer, rank);
}

// Checks the broadcast shape, as CANN does.
aclnnStatus AreThree(const Check& check, OperatorCall& call) noexcept {
  const int from_end = FromEnd(call);
  const Shape& shape = call.broadcast;
  if (from_end >= 1 && shape[shape.rank - from_end] == 3) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf);
  AddArgumentShape(message.Add(" with "), call, kOther)
      .Add(" has not 3 elements along self's dim ")
      .Add(call.attributes[kDim].integer);
  return FailAclnn(check.code, message.Add(", accepted: 3."));
}

// Sets the dtype of the computation: products of 16-bit floats stay in float32.
aclnnStatus Widen16BitFloats(const Check&, OperatorCall& call) noexcept {
  if (kFloatHalfAndBf16.Contains(call.promoted)) call.promoted = ACL_FLOAT;
  return ACL_SUCCESS;
}

constexpr auto kChecks =
    Join(List(NotNull(kSelf), NotNull(kOther), NotNull(kOut), DtypesIn(kDtypes, {kSelf, kOther, kOut}),
              SameDtype(kSelf, kOther), SameDtype(kSelf, kOut), RankAtMost(8, {kSelf, kOther, kOut}),
              Broadcasts({kSelf, kOther}), ShapeIsBroadcast(kOut), DimIn(kDim, kSelf), Custom(AreThree),
              PromotesToDtypeOf(kSelf), Custom(Widen16BitFloats), SizesRepresentable({kOut}),
              DoneIfEmpty({kOut}), InsideStorage({kSelf, kOther})));

// Computes all products before the differences, since out may be one of the operands.
void SetCross(const OperatorCall& call, Executor& executor) {
  const int from_end = FromEnd(call);
  const auto component = [&](int tensor, int64_t index) {
    MappedView view{PlainView(call.Tensor(tensor)), call.OperandOf(tensor)};
    // An operand whose dim is 1, or that lacks the dim, uses one element for all components.
    const int dim = view.tensor.shape.rank - from_end;
    if (dim >= 0) Select(view.tensor, dim, view.tensor.shape[dim] == 1 ? 0 : index % 3);
    return view;
  };
  const int64_t length = call.Tensor(kOut).numel / 3;
  MapList maps(call, executor, 9);
  const MappedView scratch = maps.Scratch(Shape{6 * length}, call.promoted);
  const auto product = [&](int64_t index) {
    MappedView view{component(kOut, 0).tensor, scratch.operand};
    view.tensor.dtype = call.promoted;
    view.tensor.offset = index * length;
    FillShape(view.tensor, component(kOut, 0).tensor.shape, 1);
    view.tensor.Describe();
    return view;
  };
  const engine::KernelTable& multiply = ProductKernels(call.promoted);
  for (int64_t i = 0; i < 3; ++i) {
    maps.Add({component(kSelf, i + 1), component(kOther, i + 2)}, product(2 * i), multiply);
    maps.Add({component(kSelf, i + 2), component(kOther, i + 1)}, product(2 * i + 1), multiply);
  }
  const engine::KernelTable& add = SumKernels(ACL_FLOAT);  // kernels that take a factor
  aclScalar one;
  one.dtype = ACL_INT8;
  one.value[0] = 1;
  engine::Scalars minus_one;
  SetMapScalar(call, add, one, minus_one, 0);
  Negate(call, add, minus_one, 0);
  for (int64_t i = 0; i < 3; ++i)
    maps.Add({product(2 * i), product(2 * i + 1)}, component(kOut, i), add, minus_one);
  maps.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLinalgCross) { return RunPhase1(call, kChecks, workspaceSize, executor, SetCross); }
