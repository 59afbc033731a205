// Shared code of matrix products (see matrix_product.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/matrix_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/data_type.h"
#include "base/errors.h"
#include "engine/move/move.h"

namespace portacl::matmul {

aclnnStatus check::ModeFits(const Check& check, OperatorCall& call) noexcept {
  const Attribute& mode = call.attributes[static_cast<size_t>(check.low)];
  const bool is_new = products::kSinceAtlasA2.Contains(call.product);
  const int64_t low = products::kAtlasA2AndA3.Contains(call.product) ? -1 : 0;
  const int64_t high = is_new ? 4 : 3;
  if (mode.integer < low || mode.integer > high)
    return RefuseInteger(check, call, mode.name, mode.integer, low, high);
  if (is_new || (mode.integer != 0 && mode.integer != 3)) return ACL_SUCCESS;
  for (const int8_t tensor : check.operands) {
    if (call.Tensor(tensor).dtype != ACL_FLOAT) continue;
    return FailAclnn(check.code,
                     StartMessage(call)
                         .Add("parameter ")
                         .Add(mode.name)
                         .Add(" has the value ")
                         .Add(mode.integer)
                         .Add(" and parameter ")
                         .Add(call.Name(tensor))
                         .Add(" the dtype DT_FLOAT, accepted on this product with that dtype: 1 or 2."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::HasQuantised(const Check& check, OperatorCall& call) noexcept {
  return FailAclnn(check.code,
                   StartMessage(call).Add("not on this product, accepted: Atlas A2, Atlas A3, Ascend "
                                          "950 and Atlas inference products."));
}

aclnnStatus Refuse(const Check& check, const OperatorCall& call, int tensor, const char* accepted) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" is not accepted, accepted: ");
  return FailAclnn(check.code, message.Add(accepted).Add("."));
}

StridedView LastTwoSwapped(const StridedView& tensor) noexcept {
  StridedView view = tensor;
  const int rank = view.shape.rank;
  std::swap(view.shape.dim[rank - 2], view.shape.dim[rank - 1]);
  std::swap(view.strides.dim[rank - 2], view.strides.dim[rank - 1]);
  view.Describe();
  return view;
}
bool IsTransposed(const StridedView& tensor) noexcept {
  return !IsContiguous(tensor) && tensor.shape.rank >= 2 && IsContiguous(LastTwoSwapped(tensor));
}

aclnnStatus RefuseWith(const Check& check, const OperatorCall& call, int tensor, int other,
                       const char* accepted) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor).Add(" does not go with ");
  AddArgumentShape(message, call, other).Add(", accepted: ");
  return FailAclnn(check.code, message.Add(accepted).Add("."));
}

aclnnStatus check::DepthsEqual(const Check& check, OperatorCall& call) noexcept {
  const int left = check.operands.index[0];
  const int right = check.operands.index[1];
  const Shape& a = call.Tensor(left).shape;
  const Shape& b = call.Tensor(right).shape;
  if (a[a.rank - 1] == b[std::max(b.rank - 2, 0)]) return ACL_SUCCESS;
  return RefuseWith(check, call, right, left, "as many rows as that has columns");
}

aclnnStatus check::NotFractal(const Check& check, OperatorCall& call) noexcept {
  for (const int8_t tensor : check.operands) {
    if (call.Tensor(tensor).format != ACL_FORMAT_FRACTAL_NZ) continue;
    return FailAclnn(check.code, StartMessage(call)
                                     .Add("parameter ")
                                     .Add(call.Name(tensor))
                                     .Add(" has the format FRACTAL_NZ, accepted: any but that."));
  }
  return ACL_SUCCESS;
}

namespace {

bool IsTrustedTransposed(const StridedView& tensor) noexcept {
  return tensor.bytes_fit && IsTransposed(tensor);
}

}  // namespace

aclnnStatus check::MatricesInsideStorage(const Check& check, OperatorCall& call) noexcept {
  for (const int8_t tensor : check.operands) {
    if (!call.IsGiven(tensor)) continue;
    // A matrix product reads its operands by their strides, whatever their format, so operands of private
    // formats are checked, too.
    const bool is_private = IsPrivateFormat(call.Tensor(tensor).format);
    if (!is_private && IsTrustedTransposed(call.Tensor(tensor))) continue;
    const Check inside =
        WithCode(check.code, is_private ? matmul::FractalInsideStorage({tensor}) : InsideStorage({tensor}));
    if (const aclnnStatus status = inside.run(inside, call)) return status;
  }
  return ACL_SUCCESS;
}

aclnnStatus check::FractalInsideStorage(const Check& check, OperatorCall& call) noexcept {
  for (const int8_t tensor : check.operands) {
    if (!IsPrivateFormat(call.Tensor(tensor).format)) continue;
    aclTensor view = call.Tensor(tensor);
    view.format = ACL_FORMAT_ND;
    view.Describe();
    if (IsContiguous(view) || IsTrustedTransposed(view)) continue;
    int64_t lowest = 0;
    int64_t highest = 0;
    int64_t size = 0;
    if (view.bytes_fit && ReachOf(view, &lowest, &highest) && view.storage.Numel(&size) && lowest >= 0 &&
        highest < size)
      continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, tensor).Add(" and strides ");
    AddShape(message, view.strides);
    message.Add(" has a private format, accepted: elements inside its storage of shape ");
    AddShape(message, view.storage);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::BatchesFit(const Check& check, OperatorCall& call) noexcept {
  const int left = check.operands.index[0];
  const int right = check.operands.index[1];
  const int64_t a = call.Tensor(left).shape[0];
  const int64_t b = call.Tensor(right).shape[0];
  if (a == b || a == 1 || b == 1) return ACL_SUCCESS;
  return RefuseWith(check, call, right, left, "the same first dim, or one of them 1");
}

aclnnStatus check::ScalarsAreNumbers(const Check& check, OperatorCall& call) noexcept {
  for (const int8_t attribute : check.attributes) {
    const aclDataType dtype = call.Scalar(attribute).dtype;
    if (ScalarConverts(dtype, ACL_FLOAT)) continue;
    Text message = StartMessage(call).Add("parameter ");
    message.Add(call.attributes[static_cast<size_t>(attribute)].name).Add(" with dtype ");
    AddDtypeName(message, dtype);
    return FailAclnn(check.code, message.Add(" is not converted, accepted: a number or bool."));
  }
  return ACL_SUCCESS;
}

float FloatOf(const aclScalar& scalar) noexcept {
  const ScalarValue value = ConvertScalar(scalar, ACL_FLOAT);
  float number;
  std::memcpy(&number, value.bytes, sizeof number);
  return number;
}

float RoundedFloatOf(const aclScalar& scalar) noexcept {
  constexpr float kEpsilon = std::numeric_limits<float>::epsilon();
  const float number = FloatOf(scalar);
  if (std::fabs(number) <= kEpsilon) return 0;
  return std::fabs(number - 1) <= kEpsilon ? 1 : number;
}

namespace {

// Computes a product in the workspace, and copies it to an output that strides cannot describe as a matrix.
struct CopiedProductJob {
  engine::GemmJob gemm;
  engine::Move move;
  int8_t out;

  bool Touches(int operand) const noexcept { return operand == out || gemm.Touches(operand); }
  int64_t Elements() const noexcept { return gemm.Elements(); }
  void Run(void* const* addresses, void* workspace) const noexcept {
    gemm.Run(addresses, workspace);
    move.Run(static_cast<const char*>(workspace), static_cast<char*>(addresses[out]));
  }
};

// Returns a matrix's strides, with one for each dim of the output's batch.
engine::GemmOperand OperandOf(const Matrices& matrices, const Shape& batch) {
  const StridedView& view = matrices.view;
  const int rank = view.shape.rank;
  const auto step = [&](int dim) { return ByteStride(view, dim); };
  engine::GemmOperand operand{};
  operand.argument = static_cast<int8_t>(matrices.argument);
  operand.dtype = view.dtype;
  operand.offset = ByteOffset(view);
  operand.row = rank >= 2 ? step(rank - 2) : 0;
  operand.column = rank >= 1 ? step(rank - 1) : 0;
  for (int i = 0; i < batch.rank && i < rank - 2; ++i)
    operand.batch[engine::kGemmBatchDims - 1 - i] = step(rank - 3 - i);
  return operand;
}

}  // namespace

engine::Gemm GemmOf(const MatrixProduct& product) noexcept {
  const Shape& out = product.out.view.shape;
  const Shape& left = product.left.view.shape;
  Shape batch = out;
  batch.rank = product.sums_batch ? 0 : out.rank - 2;
  engine::Gemm gemm{};
  std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
  for (int i = 0; i < batch.rank; ++i) gemm.batch[engine::kGemmBatchDims - 1 - i] = batch[batch.rank - 1 - i];
  gemm.rows = out[out.rank - 2];
  gemm.columns = out[out.rank - 1];
  gemm.depth = product.multiplies ? left[left.rank - 1] : 0;
  gemm.groups = 1;
  gemm.left = OperandOf(product.left, batch);
  gemm.right = OperandOf(product.right, batch);
  gemm.out = OperandOf(product.out, batch);
  if (product.sums_batch) {
    const Shape& right = product.right.view.shape;
    // left and right have three dims, and either may have a batch of 1.
    gemm.groups = left[0] == 1 ? right[0] : left[0];
    gemm.left.group = ByteStride(product.left.view, 0);
    gemm.right.group = ByteStride(product.right.view, 0);
    if (gemm.groups == 0) gemm.depth = 0;
  }
  gemm.adds = product.added != nullptr;
  if (gemm.adds) gemm.added = OperandOf(*product.added, batch);
  gemm.alpha = product.alpha;
  gemm.beta = product.beta;
  return gemm;
}

void SetProductJob(const OperatorCall& call, const MatrixProduct& product, Executor& executor) noexcept {
  const engine::Gemm gemm = GemmOf(product);
  if (gemm.depth == 0 && !gemm.adds) return SetFillJob(call, call.Output(), {}, executor);
  if (product.out.argument >= 0) {
    executor.SetJob([&] {
      const engine::GemmJob job = engine::MakeGemmJob(gemm, call.isa, call.threads);
      executor.workspace_size = static_cast<uint64_t>(job.WorkspaceBytes());
      return job;
    });
    return;
  }
  // The output has another shape than the product, and its elements are not contiguous.
  const aclTensor& out = call.Tensor(call.Output());
  StridedView dense;
  dense.dtype = out.dtype;
  FillShape(dense, out.shape, 1);
  executor.workspace_size = static_cast<uint64_t>(out.numel) * (StorageBits(out.dtype) / 8);
  executor.SetJob([&] {
    return CopiedProductJob{engine::MakeGemmJob(gemm, call.isa, call.threads),
                            engine::MakeMove(dense, out, call.isa, call.threads),
                            static_cast<int8_t>(call.Output())};
  });
}

}  // namespace portacl::matmul
