// aclnnProd and aclnnProdDim: products of all elements, or along a dim.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/reductions/product_functions.h"

#include "aclnnop/jobs/reduction_call.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
constexpr int kDtype = 2;

constexpr DtypeRule kDtypes = WithBf16SinceAtlasA2(kRealNumbers | kBool | kComplex);
constexpr DtypeSet kFilled = kRealNumbers | kBool | kBf16;

aclnnStatus FillsOut(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(kOut).dtype;
  if (!call.Tensor(kSelf).shape.IsEmpty() || kFilled.Contains(dtype)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kOut)
      .Add(" cannot be 1 while self has no elements, accepted: ");
  AddDtypeSet(message, kFilled);
  return FailAclnn(check.code, message.Add("."));
}

constexpr auto kFirst = List(NotNull(kSelf), NotNull(kOut), DtypesIn(kDtypes, {kSelf}), DtypeIs(kOut, kDtype),
                             RankAtMost(8, {kSelf, kOut}));
constexpr auto kLast =
    List(SizesRepresentable({kOut}), Custom(FillsOut), GivesValueIfEmpty(kSelf), kSetsReducedShape,
         ShapeIsResultOrOne(kOut), InsideStorage({kSelf}), DtypeImplemented({kOut}, kConvertible));
constexpr auto kProdChecks = Join(kFirst, kLast);
constexpr auto kProdDimChecks = Join(kFirst, List(DimIn(kReducedDims, kSelf)), kLast);

void SetProduct(const OperatorCall& call, Executor& executor) {
  if (call.Tensor(kSelf).shape.IsEmpty()) return SetReductionValue(call, 1, executor);
  const aclDataType dtype = call.Tensor(kOut).dtype;
  const auto operation =
      dtype == ACL_BOOL ? engine::ReductionOperation::kAll : engine::ReductionOperation::kProduct;
  SetAxisReductionJob(call, {ReducedDims(call), dtype, {{.operation = operation, .output = kOut}}}, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnProd) {
  const aclIntArray all_dims;
  const Attribute attributes[] = {{"dim", &all_dims}, {"keepDim", false}, {"dtype", given.dtype}};
  call.attributes = attributes;
  return RunPhase1(call, kProdChecks, workspaceSize, executor, SetProduct);
}

PORTACL_PHASE_1(aclnnProdDim) { return RunPhase1(call, kProdDimChecks, workspaceSize, executor, SetProduct); }
