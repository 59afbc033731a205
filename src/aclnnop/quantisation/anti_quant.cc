// aclnnAscendAntiQuant and aclnnDequantBias: convert codes, or sums of products of codes, back to numbers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/quantisation/anti_quant_functions.h"

#include "aclnnop/quantisation/coded.h"

namespace portacl {
namespace {

using namespace quantisation;

// ---- AscendAntiQuant ----

enum Tensors { kX, kScale, kOffset, kY };
enum Attributes { kDstType, kSquare };

constexpr DtypeRule kCodes =
    ByGeneration({}, kIntegerCodes, kIntegerCodes | kFloat8s).On({Product::kAtlasInference}, kInt8);
constexpr DtypeRule kScales = ByGeneration({}, DtypeSet(ACL_FLOAT, ACL_BF16), DtypeSet(ACL_FLOAT, ACL_BF16))
                                  .On({Product::kAtlasInference}, kFloat);
constexpr DtypeRule kResults = SinceAtlasA2(kHalves).On({Product::kAtlasInference}, DtypeSet(ACL_FLOAT16));

aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool is_float8 = kFloat8s.Contains(call.Tensor(kX).dtype);
  checks.Holds(!is_float8 || call.Tensor(kScale).dtype == ACL_FLOAT, kScale, "FLOAT with x of 8-bit floats");
  checks.HoldsOf(Integer(call, kDstType) == call.Tensor(kY).dtype, kDstType, "the dtype of y");
  return checks.HoldsOf(!is_float8 || Integer(call, kSquare) == 0, kSquare, "false with x of 8-bit floats")
      .status();
}

Shape ShapeOfNumbers(const OperatorCall& call) {
  const aclTensor& x = call.Tensor(kX);
  Shape shape = x.shape;
  if (x.dtype != ACL_INT32) return shape;
  if (shape.rank == 0) return Shape{kInWord};
  int64_t last = 0;
  shape.dim[shape.rank - 1] = __builtin_mul_overflow(shape[shape.rank - 1], kInWord, &last) ? -1 : last;
  return shape;
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Shape shape = ShapeOfNumbers(call);
  if (call.Tensor(kX).dtype == ACL_INT4)
    checks.Holds(shape.rank > 0 && shape[shape.rank - 1] % 2 == 0, kX, "of INT4 an even last dim");
  checks.Is(kY, shape).Rank(kX, 0, 8);
  if (!checks.Passed()) return checks.status();
  const Shape& scale = call.Tensor(kScale).shape;
  const int64_t last = shape.rank == 0 ? 1 : shape[shape.rank - 1];
  const bool fits = scale.rank == 1 && (scale[0] == 1 || scale[0] == last);
  checks.Holds(fits, kScale, "one dim of 1 or as many elements as a row of y has");
  return checks.IsIfGiven(kOffset, scale).status();
}

constexpr Check kChecks[] = {
    NotNull(kX),
    NotNull(kScale),
    NotNull(kY),
    DtypesIn(kCodes, {kX}),
    DtypesIn(kScales, {kScale}),
    IfGiven<kOffset>(SameDtype(kScale, kOffset)),
    DtypesIn(kResults, {kY}),
    Custom(TypesFit),
    Custom(ShapesFit),
    SizesRepresentable({kY}),
    DoneIfEmpty({kX}),
    WithCode(ACLNN_ERR_PARAM_INVALID, Packed<kX>()),
    InsideStorage({kX, kScale}),
    IfGiven<kOffset>(InsideStorage({kOffset})),
};

void Set(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::Dequantise job{};
  const Shape shape = ShapeOfNumbers(call);
  job.columns = shape.rank == 0 ? 1 : shape[shape.rank - 1];
  job.rows = call.Tensor(kY).numel / job.columns;
  job.x = CodesIn(ops, call, kX);
  job.to = NumbersOut(ops, call, kY);
  job.scale = OneOrColumns(NumbersIn(ops, call, kScale), call, kScale, job.columns);
  job.first = OneOrColumns(NumbersIn(ops, call, kOffset), call, kOffset, job.columns);
  const bool is_squared = Integer(call, kSquare) != 0;
  job.squares_scale = is_squared && IsOn950(call);
  job.multiplies_twice = is_squared && IsBefore950(call);
  AddRows(ops, job, {job.x.buffer, job.to.buffer, job.scale.numbers.buffer, BufferOf(job.first.numbers)});
  ops.SetJob();
}

// ---- DequantBias ----

enum BiasTensors { kSums, kWeightScale, kActivateScale, kBias, kOut };
enum BiasAttributes { kOutputDtype };

constexpr DtypeSet kBiases{ACL_INT32, ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

aclnnStatus BiasShapes(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kSums, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kSums).shape;
  checks.Holds(x[0] > 0 && x[1] > 0, kSums, "at least one element").Is(kWeightScale, Shape{x[1]});
  checks.IsIfGiven(kActivateScale, Shape{x[0]}).IsIfGiven(kBias, Shape{x[1]}).Is(kOut, x);
  return checks
      .HoldsOf(Integer(call, kOutputDtype) == call.Tensor(kOut).dtype, kOutputDtype, "the dtype of out")
      .status();
}

constexpr DtypeRule kSumsOfProducts = SinceAtlasA2(DtypeSet(ACL_INT32));
constexpr DtypeRule kBiasResults = SinceAtlasA2(kHalves);
constexpr Check kBiasChecks[] = {
    NotNull(kSums),
    NotNull(kWeightScale),
    NotNull(kOut),
    DtypesIn(kSumsOfProducts, {kSums}),
    DtypesIn(DtypeSet(ACL_FLOAT, ACL_BF16), {kWeightScale}),
    IfGiven<kActivateScale>(DtypesIn(kFloat, {kActivateScale})),
    IfGiven<kBias>(DtypesIn(kBiases, {kBias})),
    DtypesIn(kBiasResults, {kOut}),
    Custom(BiasShapes, kTiling),
    SizesRepresentable({kOut}),
    InsideStorage({kSums, kWeightScale}),
    IfGiven<kActivateScale>(InsideStorage({kActivateScale})),
    IfGiven<kBias>(InsideStorage({kBias})),
};

void SetBias(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  engine::Dequantise job{};
  job.rows = call.Tensor(kSums).shape[0];
  job.columns = call.Tensor(kSums).shape[1];
  job.x = NumbersIn(ops, call, kSums);
  job.to = NumbersOut(ops, call, kOut);
  job.scale.numbers = NumbersIn(ops, call, kWeightScale);
  job.scale.by_column = true;
  job.second_scale.numbers = NumbersIn(ops, call, kActivateScale);
  job.second_scale.rows = job.rows;
  if (call.IsGiven(kBias)) {
    Factors& bias = call.Tensor(kBias).dtype == ACL_INT32 ? job.first : job.last;
    bias.numbers = NumbersIn(ops, call, kBias);
    bias.by_column = true;
  }
  AddRows(ops, job,
          {job.x.buffer, job.to.buffer, job.scale.numbers.buffer, BufferOf(job.second_scale.numbers),
           BufferOf(job.first.numbers), BufferOf(job.last.numbers)});
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAscendAntiQuant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}
PORTACL_PHASE_1(aclnnDequantBias) {
  return dense::RunOpList(call, kBiasChecks, workspaceSize, executor, SetBias);
}
