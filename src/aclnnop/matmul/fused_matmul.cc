// aclnnFusedMatmul: a product whose result goes through one more operation.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/fused_matmul_functions.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "aclnnop/jobs/activation_kernels.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/mul.h"
#include "aclnnop/jobs/sums.h"
#include "aclnnop/stage_list.h"

namespace portacl {
namespace {

using namespace matmul;
using dense::IfGiven;
using dense::ShapeChecks;

enum Tensors { kX1, kX2, kBias, kX3, kY };
enum Attributes { kType, kMode };

enum class Fused : uint8_t { kNone, kWidened, kAdd, kMultiply, kGeluErf, kGeluTanh, kRelu, kUnknown };
Fused FusedOf(const OperatorCall& call) noexcept {
  constexpr const char* kNames[] = {"", "16cast32", "add", "mul", "gelu_erf", "gelu_tanh", "relu"};
  const char* const text = call.attributes[kType].text;
  const std::string_view name = text == nullptr ? "" : text;
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  return static_cast<Fused>(found - std::begin(kNames));
}
bool HasOther(const OperatorCall& call) noexcept {
  return FusedOf(call) == Fused::kAdd || FusedOf(call) == Fused::kMultiply;
}
bool IsGelu(const OperatorCall& call) noexcept {
  return FusedOf(call) == Fused::kGeluErf || FusedOf(call) == Fused::kGeluTanh;
}
bool HasBiasOfGelu(const OperatorCall& call) noexcept { return IsGelu(call) && call.IsGiven(kBias); }
bool ReadsOther(const OperatorCall& call) noexcept { return HasOther(call) && call.IsGiven(kX3); }

aclnnStatus NoBias(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  return checks.Holds(false, kBias, "null with gelu_erf and gelu_tanh").status();
}

aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType x = call.Tensor(kX1).dtype;
  const Fused fused = FusedOf(call);
  const DtypeSet bias(x, ACL_FLOAT);
  if (call.IsGiven(kBias)) checks.Holds(bias.Contains(call.Tensor(kBias).dtype), kBias, "x1's type or FLOAT");
  const aclDataType y = fused == Fused::kWidened ? ACL_FLOAT : x;
  checks.Holds(call.Tensor(kY).dtype == y, kY, "x1's type, with 16cast32 FLOAT");
  checks.Integer(kMode, 0, 3);
  if (x == ACL_FLOAT) {
    checks.HoldsOf(fused != Fused::kWidened && !IsGelu(call), kType, "another with FLOAT");
    checks.HoldsOf(call.attributes[kMode].integer == 3, kMode, "3 with FLOAT");
  }
  call.promoted = ACL_FLOAT;  // of the maps behind the product
  return checks.status();
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Fused fused = FusedOf(call);
  checks.HoldsOf(fused != Fused::kUnknown, kType, "\"\", 16cast32, add, mul, gelu_erf, gelu_tanh or relu");
  const int most = fused == Fused::kNone || fused == Fused::kRelu ? 6 : HasOther(call) ? 3 : 2;
  checks.Rank(kX1, 2, most).Rank(kX2, 2, most);
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  checks.Holds(left.rank == right.rank, kX2, "as many dims as x1");
  checks.Holds(right[right.rank - 2] == left[left.rank - 1], kX2, "as many rows as x1 has columns");
  if (!checks.Passed()) return checks.status();
  Shape result = left;
  for (int dim = 0; dim + 2 < left.rank; ++dim) {
    checks.Holds(left[dim] == right[dim] || left[dim] == 1 || right[dim] == 1, kX2,
                 "a batch that broadcasts");
    result.dim[dim] = left[dim] == 1 ? right[dim] : left[dim];
  }
  result.dim[left.rank - 1] = right[right.rank - 1];
  checks.Is(kY, result).IsIfGiven(kBias, Shape{right[right.rank - 1]});
  if (HasOther(call)) checks.Is(kX3, result);
  return checks.status();
}

constexpr DtypeRule kOn950 = ByGeneration({}, {}, kFloatHalfAndBf16);
constexpr auto kChecks =
    Join(List(NotNull(kX1), NotNull(kX2), NotNull(kY), If(HasOther, NotNull(kX3)),
              If(HasBiasOfGelu, Custom(NoBias, ACLNN_ERR_PARAM_NULLPTR)), DtypesIn(kOn950, {kX1}),
              SameDtype(kX1, kX2), If(ReadsOther, SameDtype(kX1, kX3)), Custom(TypesFit), Custom(ShapesFit)),
         List(SizesRepresentable({kY}), DoneIfEmpty({kY}), FractalInsideStorage({kX1, kX2}),
              MatricesInsideStorage({kX1, kX2}), IfGiven<kBias>(InsideStorage({kBias})),
              If(ReadsOther, InsideStorage({kX3}))));

void SetFused(const OperatorCall& call, Executor& executor) {
  const auto matrices = [&](int tensor) { return Matrices{call.OperandOf(tensor), call.Tensor(tensor)}; };
  const Fused fused = FusedOf(call);
  if (fused == Fused::kNone || fused == Fused::kWidened) {
    MatrixProduct product{matrices(kX1), matrices(kX2), matrices(kY)};
    Matrices bias{};
    if (call.IsGiven(kBias)) {
      bias = {call.OperandOf(kBias), PlainView(call.Tensor(kBias))};
      InsertDim(bias.view, 0, 1, 0);
      product.added = &bias;
    }
    return SetProductJob(call, product, executor);
  }
  const auto mapped = [&](int tensor) { return MappedView{call.Tensor(tensor), call.OperandOf(tensor)}; };
  engine::Scalars one;
  constexpr float kFactor = 1;
  std::memcpy(one.bytes[0], &kFactor, sizeof kFactor);
  StageList stages(call, executor, 3);
  const MappedView sums = stages.Scratch(call.Tensor(kY).shape, ACL_FLOAT);
  const MatrixProduct product{matrices(kX1), matrices(kX2), {sums.operand, sums.tensor}};
  stages.Product(GemmOf(product), mapped(kX1), mapped(kX2), sums);
  if (call.IsGiven(kBias)) stages.Map({sums, mapped(kBias)}, sums, SumKernels(ACL_FLOAT), one);
  switch (fused) {
    case Fused::kAdd:
      stages.Map({sums, mapped(kX3)}, mapped(kY), SumKernels(ACL_FLOAT), one);
      break;
    case Fused::kMultiply:
      stages.Map({sums, mapped(kX3)}, mapped(kY), ProductKernels(ACL_FLOAT));
      break;
    case Fused::kRelu:
      stages.Map({sums}, mapped(kY), ReluKernels());
      break;
    default:
      stages.Map({sums}, mapped(kY), GeluKernels(fused == Fused::kGeluTanh));
  }
  stages.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnFusedMatmul) { return RunPhase1(call, kChecks, workspaceSize, executor, SetFused); }
