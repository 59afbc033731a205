// aclnnAddmv: beta * self + alpha * (mat @ vec). Matrix and vector are multiplied in the dtype to which they
// promote; alpha and beta promote further.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/addmv_functions.h"

#include <algorithm>
#include <new>

#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/jobs/sums.h"
#include "aclnnop/mapped_view.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/promotion.h"
#include "engine/gemm/vector_product.h"
#include "engine/map/map_job.h"
#include "engine/move/move.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kSelf, kMat, kVec, kOut };
enum Attributes { kAlpha, kBeta, kMode };

// ---- checks ----

constexpr DtypeSet kAddmvDtypes = kRealArithmetic | kBf16;

// The dtype in which each step is computed.
struct StepDtypes {
  aclDataType product;
  aclDataType scaled;  // alpha * product
  aclDataType added;   // beta * self
  aclDataType sum;
};

StepDtypes StepDtypesOf(const OperatorCall& call) {
  StepDtypes dtypes{};
  const auto scaled_by = [&](int factor, aclDataType dtype) {
    const aclScalar& scalar = call.Scalar(factor);
    return RoundedFloatOf(scalar) == 1 ? dtype : PromoteType(scalar.dtype, dtype);
  };
  dtypes.product = PromoteType(call.Tensor(kMat).dtype, call.Tensor(kVec).dtype);
  dtypes.scaled = scaled_by(kAlpha, dtypes.product);
  dtypes.added = scaled_by(kBeta, call.Tensor(kSelf).dtype);
  dtypes.sum = PromoteType(dtypes.scaled, dtypes.added);
  return dtypes;
}

aclnnStatus SetSumDtype(const Check&, OperatorCall& call) noexcept {
  call.promoted = StepDtypesOf(call).sum;
  return ACL_SUCCESS;
}

bool IsZero(const OperatorCall& call, int factor) { return RoundedFloatOf(call.Scalar(factor)) == 0; }

aclnnStatus LengthsOfAddmv(const Check& check, OperatorCall& call) noexcept {
  const Shape& mat = call.Tensor(kMat).shape;
  if (call.Tensor(kVec).shape[0] != mat[1])
    return RefuseWith(check, call, kVec, kMat, "as many elements as that has columns");
  const Shape& self = call.Tensor(kSelf).shape;
  const int64_t length = self.rank == 0 ? 1 : self[0];
  if (length != mat[0] && (length != 1 || IsZero(call, kAlpha))) {
    return RefuseWith(check, call, kSelf, kMat,
                      "as many elements as that has rows, or, unless alpha is 0, one element");
  }
  if (call.Tensor(kOut).shape[0] != mat[0])
    return RefuseWith(check, call, kOut, kMat, "as many elements as that has rows");
  return ACL_SUCCESS;
}

constexpr auto kAddmvChecks =
    List(NotNull(kSelf), NotNull(kMat), NotNull(kVec), ScalarNotNull(kAlpha), ScalarNotNull(kBeta),
         NotNull(kOut), DtypesIn(kAddmvDtypes, {kSelf, kMat, kVec, kOut}),
         ScalarDtypesIn(kAddmvDtypes, {kAlpha, kBeta}), Custom(SetSumDtype), PromotedCastsTo(kOut),
         RankAtMost(1, {kSelf}), RankIs(2, {kMat}), RankIs(1, {kVec, kOut}), Custom(LengthsOfAddmv),
         ModeFits(kMode, {kMat, kVec}), NotFractal({kSelf, kMat, kVec, kOut}), SizesRepresentable({kOut}),
         DoneIfEmpty({kSelf, kOut}), MatricesInsideStorage({kMat, kVec}), InsideStorage({kSelf}));

// ---- the job ----

// Returns the dtype of intermediate results: floats are not rounded to 16 bits between the computations.
aclDataType HeldIn(aclDataType dtype) { return kFloatHalfAndBf16.Contains(dtype) ? ACL_FLOAT : dtype; }
// Returns the dtype to which an intermediate result is cast as an operand of a step that is computed in
// `dtype`.
aclDataType CastFor(aclDataType dtype, aclDataType held) {
  return kFloatHalfAndBf16.Contains(held) ? HeldIn(dtype) : dtype;
}

// Operands in the workspace, numbered after the call's tensors. They follow each other, HeldBytes each.
enum Held { kProduct = kOut + 1, kScaled, kAdded, kOperands };
int64_t HeldBytes(int64_t rows) {
  constexpr int64_t kWidest = 8;
  constexpr int64_t kLine = 64;
  return (rows * kWidest + kLine - 1) / kLine * kLine;
}

// Layout of the executor's memory: the product, the maps over it and self, and the copy to out where nothing
// is added.
struct Computations {
  engine::GemmJob gemm;
  engine::VectorProduct product;
  engine::ElementwiseJob maps[3];
  int map_count = 0;
  engine::Move move;
  int8_t moved;
};

struct AddmvJob {
  bool is_gemm;  // the product is of FLOAT or 16-bit floats
  bool adds;
  int64_t held_bytes;
  int64_t elements;

  bool Touches(int operand) const noexcept { return operand != kSelf || adds; }
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept {
    const auto& computations = *reinterpret_cast<const Computations*>(context.memory);
    auto* const workspace = static_cast<char*>(context.workspace);
    void* addresses[kOperands];
    std::copy_n(context.addresses, kProduct, addresses);
    for (int i = kProduct; i < kOperands; ++i) addresses[i] = workspace + (i - kProduct) * held_bytes;
    if (is_gemm) {
      computations.gemm.Run(addresses, workspace);
    } else {
      computations.product.Run(addresses, workspace);
    }
    for (int i = 0; i < computations.map_count; ++i) computations.maps[i].Run(addresses, workspace);
    if (!adds)
      computations.move.Run(static_cast<const char*>(addresses[computations.moved]),
                            static_cast<char*>(addresses[kOut]));
  }
};

StridedView DenseVector(aclDataType dtype, int64_t length) {
  StridedView vector;
  vector.dtype = dtype;
  FillShape(vector, Shape{length}, 1);
  return vector;
}

Matrices ColumnOf(const OperatorCall& call, int tensor) {
  Matrices column{tensor, call.Tensor(tensor)};
  while (column.view.shape.rank < 2) InsertDim(column.view, column.view.shape.rank, 1, 0);
  return column;
}

engine::VectorProductOperand OperandOf(const OperatorCall& call, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  const auto step = [&](int dim) { return ByteStride(view, dim); };
  return {static_cast<int8_t>(tensor), view.dtype, ByteOffset(view), view.shape.rank == 2 ? step(0) : 0,
          step(view.shape.rank - 1)};
}

engine::ElementwiseJob ScaledJob(OperatorCall call, const engine::ViewOperand& input,
                                 const engine::ViewOperand& out, aclDataType dtype, int factor) {
  call.promoted = HeldIn(dtype);
  engine::Scalars scalars;
  SetMapScalar(call, ScaledKernels(), call.Scalar(factor), scalars, 0);
  return engine::MakeMapJob(SettingsOf(call), {&input, 1}, out, ScaledKernels(), scalars,
                            {CastFor(dtype, input.view->dtype)});
}

engine::ElementwiseJob SumJob(OperatorCall call, const engine::ViewOperand& added,
                              const engine::ViewOperand& product, aclDataType dtype) {
  call.promoted = HeldIn(dtype);
  engine::Scalars scalars;
  aclScalar one;
  one.dtype = ACL_BOOL;
  one.value[0] = 1;
  if (!IsIntegral(dtype)) SetMapScalar(call, SumKernels(dtype), one, scalars, 0);
  const engine::ViewOperand inputs[] = {added, product};
  return engine::MakeMapJob(SettingsOf(call), inputs, TensorOperand(call, kOut), SumKernels(dtype), scalars,
                            {CastFor(dtype, added.view->dtype), CastFor(dtype, product.view->dtype)});
}

// Sets beta * self, where nothing is multiplied.
void SetSelfJob(const OperatorCall& call, const StepDtypes& dtypes, Executor& executor) {
  if (RoundedFloatOf(call.Scalar(kBeta)) == 1) return SetMoveJob(call, kSelf, kOut, executor);
  if (dtypes.added == ACL_BOOL) return SetFillJob(call, kOut, {}, executor);  // beta counts as false
  executor.SetJob([&] {
    return ScaledJob(call, TensorOperand(call, kSelf), TensorOperand(call, kOut), dtypes.added, kBeta);
  });
}

void SetAddmv(const OperatorCall& call, Executor& executor) {
  const StepDtypes dtypes = StepDtypesOf(call);
  const aclTensor& mat = call.Tensor(kMat);
  if (IsZero(call, kAlpha) || mat.shape.IsEmpty()) return SetSelfJob(call, dtypes, executor);
  const bool adds = !IsZero(call, kBeta);
  const bool is_gemm =
      kFloatHalfAndBf16.Contains(mat.dtype) && kFloatHalfAndBf16.Contains(call.Tensor(kVec).dtype);
  MatrixProduct whole{.left = {kMat, mat}, .right = ColumnOf(call, kVec), .out = ColumnOf(call, kOut)};
  if (is_gemm && kFloatHalfAndBf16.Contains(call.Tensor(kSelf).dtype) &&
      kFloatHalfAndBf16.Contains(dtypes.sum) && kFloatHalfAndBf16.Contains(call.Tensor(kOut).dtype)) {
    const Matrices added = ColumnOf(call, kSelf);
    whole.alpha = RoundedFloatOf(call.Scalar(kAlpha));
    whole.beta = RoundedFloatOf(call.Scalar(kBeta));
    if (adds) whole.added = &added;
    return SetProductJob(call, whole, executor);
  }
  auto* const memory = executor.ReserveMemory(sizeof(Computations));
  if (memory == nullptr) return;
  auto& computations = *new (memory) Computations;
  const int64_t rows = mat.shape[0];
  const StridedView product = DenseVector(HeldIn(dtypes.product), rows);
  const StridedView scaled = DenseVector(HeldIn(dtypes.scaled), rows);
  const StridedView added = DenseVector(HeldIn(dtypes.added), rows);
  if (is_gemm) {
    whole.out = {-1, product};
    InsertDim(whole.out.view, 1, 1, 0);
    computations.gemm = engine::MakeGemmJob(GemmOf(whole), call.isa, call.threads);
  } else {
    computations.product = engine::MakeVectorProduct(OperandOf(call, kMat), OperandOf(call, kVec), rows,
                                                     mat.shape[1], dtypes.product, call.isa, call.threads);
  }
  engine::ViewOperand last{&product, kProduct};
  if (RoundedFloatOf(call.Scalar(kAlpha)) != 1) {
    computations.maps[computations.map_count++] =
        ScaledJob(call, last, {&scaled, kScaled}, dtypes.scaled, kAlpha);
    last = {&scaled, kScaled};
  }
  if (adds) {
    engine::ViewOperand addend = TensorOperand(call, kSelf);
    if (RoundedFloatOf(call.Scalar(kBeta)) != 1) {
      computations.maps[computations.map_count++] =
          ScaledJob(call, addend, {&added, kAdded}, dtypes.added, kBeta);
      addend = {&added, kAdded};
    }
    computations.maps[computations.map_count++] = SumJob(call, addend, last, dtypes.sum);
  } else {
    computations.move = engine::MakeMove(*last.view, call.Tensor(kOut), call.isa, call.threads);
    computations.moved = static_cast<int8_t>(last.operand);
  }
  const int64_t bytes = HeldBytes(rows);
  executor.workspace_size = static_cast<uint64_t>((kOperands - kProduct) * bytes);
  executor.SetJob([&] { return AddmvJob{is_gemm, adds, bytes, std::max(rows, mat.numel / 16)}; });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAddmv) { return RunPhase1(call, kAddmvChecks, workspaceSize, executor, SetAddmv); }
