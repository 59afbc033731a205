// aclnnMv and aclnnDot: the product of a matrix and a vector, and of two vectors.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/mv_functions.h"

#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/gemm/integer_dot.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kSelf, kVector, kOut };
enum Attributes { kMode };

// ---- Mv ----

bool SelfHasElements(const OperatorCall& call) noexcept { return !call.Tensor(kSelf).shape.IsEmpty(); }

aclnnStatus LengthsOfMv(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  if (call.Tensor(kVector).shape[0] != self[1])
    return RefuseWith(check, call, kVector, kSelf, "as many elements as that has columns");
  if (call.Tensor(kOut).shape[0] != self[0])
    return RefuseWith(check, call, kOut, kSelf, "as many elements as that has rows");
  return ACL_SUCCESS;
}

constexpr auto kMvChecks =
    List(NotNull(kSelf), NotNull(kVector), NotNull(kOut),  // in CANN's order
         SameDtype(kVector, kOut), If(SelfHasElements, SameDtype(kVector, kSelf)),
         DtypesIn(matmul::kDtypes, {kSelf, kVector, kOut}), ModeFits(kMode, {kSelf, kVector}),
         RankIs(2, {kSelf}), RankIs(1, {kVector, kOut}), Custom(LengthsOfMv), SizesRepresentable({kOut}),
         DoneIfEmpty({kOut}), MatricesInsideStorage({kSelf, kVector}));

// View a vector as a matrix of one column, or of one row.
Matrices ColumnOf(const OperatorCall& call, int tensor) {
  Matrices column{tensor, call.Tensor(tensor)};
  InsertDim(column.view, column.view.shape.rank, 1, 0);
  return column;
}
Matrices RowOf(const OperatorCall& call, int tensor) {
  Matrices row{tensor, call.Tensor(tensor)};
  InsertDim(row.view, 0, 1, 0);
  return row;
}

void SetMv(const OperatorCall& call, Executor& executor) {
  SetProductJob(
      call,
      {.left = {kSelf, call.Tensor(kSelf)}, .right = ColumnOf(call, kVector), .out = ColumnOf(call, kOut)},
      executor);
}

// ---- Dot ----

constexpr DtypeRule kDotDtypes =
    WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet{ACL_INT8, ACL_UINT8, ACL_INT32});

constexpr auto kDotChecks =
    List(NotNull(kSelf), NotNull(kVector), NotNull(kOut),  // in CANN's order
         SameDtype(kSelf, kVector), SameDtype(kSelf, kOut), DtypesIn(kDotDtypes, {kSelf}),
         RankIs(1, {kSelf, kVector}), SameShape(kSelf, kVector), IsScalar(kOut), SizesRepresentable({kOut}),
         MatricesInsideStorage({kSelf, kVector}));

void SetDot(const OperatorCall& call, Executor& executor) {
  const aclTensor& self = call.Tensor(kSelf);
  if (self.numel == 0) return SetFillJob(call, kOut, {}, executor);
  if (kFloatHalfAndBf16.Contains(self.dtype)) {
    Matrices out{kOut, call.Tensor(kOut)};
    InsertDim(out.view, 0, 1, 0);
    InsertDim(out.view, 0, 1, 0);
    return SetProductJob(call, {.left = RowOf(call, kSelf), .right = ColumnOf(call, kVector), .out = out},
                         executor);
  }
  executor.SetJob([&] {
    engine::IntegerDotJob job{};
    job.dtype = self.dtype;
    job.length = self.numel;
    for (const int tensor : {kSelf, kVector, kOut}) {
      job.argument[tensor] = static_cast<int8_t>(tensor);
      job.offset[tensor] = ByteOffset(call.Tensor(tensor));
      if (tensor != kOut) job.step[tensor] = ByteStride(call.Tensor(tensor), 0);
    }
    return job;
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMv) { return RunPhase1(call, kMvChecks, workspaceSize, executor, SetMv); }

PORTACL_PHASE_1(aclnnDot) { return RunPhase1(call, kDotChecks, workspaceSize, executor, SetDot); }
