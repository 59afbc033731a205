// aclnnAddmm, aclnnBaddbmm, aclnnAddbmm and their in-place forms: matrix products plus beta times a tensor.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/addmm_functions.h"

#include <algorithm>
#include <limits>

#include "aclnnop/jobs/matrix_product.h"
#include "base/errors.h"
#include "contract/broadcast.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kSelf, kLeft, kRight, kOut };
enum Attributes { kBeta, kAlpha, kMode };

// Begins every list of checks here: null pointers and dtypes, in CANN's order. `out` is kSelf for in-place functions.
constexpr auto First(int out) {
  return List(NotNull(kSelf), NotNull(kLeft), NotNull(kRight), ScalarNotNull(kBeta), ScalarNotNull(kAlpha),
              NotNull(out), DtypesIn(matmul::kDtypes, {kLeft, kRight, kSelf, out}));
}
// Ends every list of checks here.
constexpr auto Last(int out) {
  return List(ModeFits(kMode, {kLeft, kRight}), SizesRepresentable({out}), DoneIfEmpty({out}),
              FractalInsideStorage({kLeft, kRight, kSelf}), MatricesInsideStorage({kLeft, kRight}),
              InsideStorage({kSelf}), ScalarsAreNumbers({kBeta, kAlpha}));
}

bool ExpandsTo(const Shape& shape, const Shape& whole) {
  if (shape.rank > whole.rank) return false;
  for (int i = 1; i <= shape.rank; ++i) {
    const int64_t length = shape[shape.rank - i];
    if (length != 1 && length != whole[whole.rank - i]) return false;
  }
  return true;
}

// 161002 when self does not expand to call.broadcast.
aclnnStatus SelfExpands(const Check& check, OperatorCall& call) noexcept {
  if (ExpandsTo(call.Tensor(kSelf).shape, call.broadcast)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf).Add(" does not expand to ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add(", the product's shape, accepted: one that does."));
}

// Views self in the dims of matrices.
Matrices AddedOf(const OperatorCall& call) {
  Matrices added{kSelf, call.Tensor(kSelf)};
  while (added.view.shape.rank < 2) InsertDim(added.view, 0, 1, 0);
  return added;
}

MatrixProduct ProductOf(const OperatorCall& call) {
  return {.left = {kLeft, call.Tensor(kLeft)},
          .right = {kRight, call.Tensor(kRight)},
          .out = {call.Output(), call.Tensor(call.Output())}};
}

// ---- Addmm ----

aclnnStatus SetResultOfMatrices(const Check&, OperatorCall& call) noexcept {
  const Shape& left = call.Tensor(kLeft).shape;
  const Shape& right = call.Tensor(kRight).shape;
  call.broadcast = Shape{left[left.rank - 2], right[right.rank - 1]};
  return ACL_SUCCESS;
}

// Accepts any empty output if the result has no rows or columns.
aclnnStatus OutIsResultOrEmpty(const Check& check, OperatorCall& call) noexcept {
  const int out = call.Output();
  if (call.broadcast.IsEmpty() ? call.Tensor(out).numel == 0 && call.Tensor(out).shape.IsEmpty()
                               : call.Tensor(out).shape == call.broadcast) {
    return ACL_SUCCESS;
  }
  return RefuseShape(check, call, out, call.broadcast);
}

constexpr auto AddmmChecks(int out) {
  return Join(First(out),
              List(RankIs(2, {kLeft, kRight}), DepthsEqual(kLeft, kRight), NotFractal({kSelf}),
                   Custom(SetResultOfMatrices), Custom(SelfExpands), Custom(OutIsResultOrEmpty)),
              Last(out));
}
constexpr auto kAddmmChecks = AddmmChecks(kOut);
constexpr auto kInplaceAddmmChecks = AddmmChecks(kSelf);

void SetAddmm(const OperatorCall& call, Executor& executor) {
  const Matrices added = AddedOf(call);
  MatrixProduct product = ProductOf(call);
  product.alpha = RoundedFloatOf(call.Scalar(kAlpha));
  product.beta = RoundedFloatOf(call.Scalar(kBeta));
  product.multiplies = product.alpha != 0 && call.Tensor(kLeft).shape[1] > 0;
  // Without a matrix product the result is 0 * self, which is NaN for NaN and infinities.
  if (product.beta != 0 || !product.multiplies) product.added = &added;
  SetProductJob(call, product, executor);
}

// ---- Baddbmm ----

// Refuses a call where self or the matrix product is empty, but not both.
aclnnStatus BothEmptyOrNone(const Check& check, OperatorCall& call) noexcept {
  const bool is_empty = call.Tensor(kSelf).shape.IsEmpty();
  if (is_empty == call.broadcast.IsEmpty()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf)
      .Add(is_empty ? " is empty, but not " : " is not empty, but ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add(", the product's shape, is; accepted: both or none."));
}

aclnnStatus SetResultOfBatches(const Check&, OperatorCall& call) noexcept {
  const Shape& left = call.Tensor(kLeft).shape;
  const Shape& right = call.Tensor(kRight).shape;
  call.broadcast = Shape{left[0] == 1 ? right[0] : left[0], left[1], right[2]};
  return ACL_SUCCESS;
}

// CANN broadcasts self with batch1's batch dim instead of the product's, and requires that shape of the
// output. It does not broadcast the product.
aclnnStatus OutIsSumsShape(const Check& check, OperatorCall& call) noexcept {
  const int out = call.Output();
  Shape product = call.broadcast;
  product.dim[0] = call.Tensor(kLeft).shape[0];
  Shape sum;
  if (!BroadcastShapes(call.Tensor(kSelf).shape, product, &sum))
    return RefuseWith(check, call, kSelf, kLeft, "one that broadcasts with the product");
  if (!(call.Tensor(out).shape == sum) || !(sum == call.broadcast))
    return RefuseShape(check, call, out, call.broadcast);
  return ACL_SUCCESS;
}

constexpr auto BaddbmmChecks(int out) {
  return Join(First(out),
              List(RankIs(3, {kLeft, kRight}), DepthsEqual(kLeft, kRight), BatchesFit(kLeft, kRight),
                   Custom(SetResultOfBatches), Custom(BothEmptyOrNone), Custom(OutIsSumsShape),
                   SameFormat({kLeft, kRight, out})),
              Last(out));
}
constexpr auto kBaddbmmChecks = BaddbmmChecks(kOut);
constexpr auto kInplaceBaddbmmChecks = BaddbmmChecks(kSelf);

void SetBaddbmm(const OperatorCall& call, Executor& executor) {
  const Matrices added = AddedOf(call);
  MatrixProduct product = ProductOf(call);
  product.alpha = RoundedFloatOf(call.Scalar(kAlpha));
  product.beta = RoundedFloatOf(call.Scalar(kBeta));
  product.multiplies = call.Tensor(kLeft).shape[2] > 0;
  if (product.beta != 0) product.added = &added;
  SetProductJob(call, product, executor);
}

// ---- Addbmm ----

constexpr auto AddbmmChecks(int out) {
  return Join(First(out),
              List(RankIs(3, {kLeft, kRight}), DepthsEqual(kLeft, kRight), BatchesFit(kLeft, kRight),
                   Custom(SetResultOfMatrices), Custom(BothEmptyOrNone), Custom(SelfExpands),
                   ShapeIsResult(out), SameFormat({kLeft, kRight})),
              Last(out));
}
constexpr auto kAddbmmChecks = AddbmmChecks(kOut);
constexpr auto kInplaceAddbmmChecks = AddbmmChecks(kSelf);

void SetAddbmm(const OperatorCall& call, Executor& executor) {
  const Matrices added = AddedOf(call);
  MatrixProduct product = ProductOf(call);
  product.alpha = FloatOf(call.Scalar(kAlpha));
  product.beta = FloatOf(call.Scalar(kBeta));
  product.sums_batch = true;
  const bool has_terms = call.Tensor(kLeft).numel > 0 && call.Tensor(kRight).numel > 0;
  product.multiplies = product.alpha != 0 && has_terms;
  if (product.beta != 0) product.added = &added;
  SetProductJob(call, product, executor);
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddmm) { return RunPhase1(call, kAddmmChecks, workspaceSize, executor, SetAddmm); }

PORTACL_PHASE_1(aclnnInplaceAddmm) {
  return RunPhase1(call, kInplaceAddmmChecks, workspaceSize, executor, SetAddmm);
}

PORTACL_PHASE_1(aclnnBaddbmm) { return RunPhase1(call, kBaddbmmChecks, workspaceSize, executor, SetBaddbmm); }

PORTACL_PHASE_1(aclnnInplaceBaddbmm) {
  return RunPhase1(call, kInplaceBaddbmmChecks, workspaceSize, executor, SetBaddbmm);
}

PORTACL_PHASE_1(aclnnAddbmm) { return RunPhase1(call, kAddbmmChecks, workspaceSize, executor, SetAddbmm); }

PORTACL_PHASE_1(aclnnInplaceAddbmm) {
  return RunPhase1(call, kInplaceAddbmmChecks, workspaceSize, executor, SetAddbmm);
}
