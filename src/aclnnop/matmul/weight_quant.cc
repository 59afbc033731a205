// aclnnWeightQuantBatchMatmulV2, V3 and Nz: matrix products with 8-bit or 4-bit weights. Each column, or each group
// of a column's elements along the inner (K) axis, has a scale.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/weight_quant_functions.h"

#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/statistics.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/gemm/quantised_product.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kX, kWeight, kScale, kOffset, kQuantScale, kQuantOffset, kBias, kY };
enum Attributes { kGroupSize, kPrecise };  // kPrecise: the third form only

constexpr DtypeRule kDtypesOfX =
    SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_BF16)).On(kAtlasInference, DtypeSet(ACL_FLOAT16));
constexpr DtypeRule kDtypesOfWeight =
    SinceAtlasA2(DtypeSet(ACL_INT8, ACL_INT4, ACL_INT32)).On(kAtlasInference, DtypeSet(ACL_INT8));
// FLOAT holds eight codes of FLOAT4_E2M1, as INT32 holds eight of INT4.
constexpr DtypeSet kFloat4Weights(ACL_FLOAT4_E2M1, ACL_FLOAT);
constexpr DtypeRule kDtypesOfNzWeight = Everywhere(DtypeSet(ACL_INT8, ACL_INT4, ACL_INT32) | kFloat4Weights);
// Includes 64-bit scales and 8-bit results: CANN accepts them here, and a later check refuses them.
constexpr DtypeRule kDtypesOfScale = SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_UINT64, ACL_INT64))
                                         .On(kAtlasInference, DtypeSet(ACL_FLOAT16));
constexpr DtypeRule kDtypesOfNzScale =
    Everywhere(DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_UINT64, ACL_INT64, ACL_FLOAT8_E8M0));
constexpr DtypeRule kDtypesOfOffset =
    SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_INT32)).On(kAtlasInference, DtypeSet(ACL_FLOAT16));
constexpr DtypeRule kDtypesOfBias = SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_FLOAT))
                                        .On(kAtlasInference, DtypeSet(ACL_FLOAT16))
                                        .On(products::kAscend950, DtypeSet(ACL_FLOAT16, ACL_FLOAT, ACL_BF16));
constexpr DtypeRule kDtypesOfY =
    SinceAtlasA2(DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_INT8)).On(kAtlasInference, DtypeSet(ACL_FLOAT16));

constexpr int64_t kMostLength = 65535;
constexpr int64_t kGroupStep = 32;
constexpr int64_t kInWord = 8;

bool HasFloat4Weights(const OperatorCall& call) {
  return kFloat4Weights.Contains(call.Tensor(kWeight).dtype);
}
bool HasPowers(const OperatorCall& call) { return call.Tensor(kScale).dtype == ACL_FLOAT8_E8M0; }

// The weight as a matrix of integers. Strides are in elements, of which a byte holds one or two.
struct Weight {
  int64_t terms;
  int64_t columns;
  int64_t term;
  int64_t column;
  int64_t first;
  bool is_transposed;
};

StridedView LyingWeight(const OperatorCall& call) { return PlainView(ByStrides(call.Tensor(kWeight))); }
bool HasWords(const OperatorCall& call) {
  return call.Tensor(kWeight).dtype == ACL_INT32 || call.Tensor(kWeight).dtype == ACL_FLOAT;
}

// Words hold eight elements along the contiguous axis. If both axes qualify, the number of terms decides.
Weight WeightOf(const OperatorCall& call) {
  const aclTensor& tensor = call.Tensor(kWeight);
  const StridedView lying = LyingWeight(call);
  Weight weight{tensor.shape[0],  tensor.shape[1], lying.strides[0],
                lying.strides[1], lying.offset,    IsTransposed(lying)};
  if (!HasWords(call)) return weight;
  const int64_t terms = call.Tensor(kX).shape[1];
  if (IsContiguous(tensor) && weight.terms != terms && weight.terms * kInWord == terms)
    weight.is_transposed = IsContiguous(LastTwoSwapped(tensor));
  weight.first *= kInWord;
  if (weight.is_transposed) {
    weight.terms *= kInWord;
    weight.term = 1;
    weight.column *= kInWord;
  } else {
    weight.columns *= kInWord;
    weight.column = 1;
    weight.term *= kInWord;
  }
  return weight;
}

aclnnStatus NothingQuantised(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kQuantScale, kQuantOffset}) {
    if (call.IsGiven(tensor)) return Refuse(check, call, tensor, "on this product a null pointer");
  }
  return ACL_SUCCESS;
}

aclnnStatus LiesAccepted(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kX, kWeight}) {
    // Words are read by strides, whatever their format.
    const bool has_words = tensor == kWeight && HasWords(call);
    const StridedView view = has_words ? LyingWeight(call) : StridedView(call.Tensor(tensor));
    if (!IsContiguous(view) && !IsTransposed(view))
      return Refuse(check, call, tensor, "contiguous, or with its last two dims transposed");
  }
  const bool is_transposed = IsTransposed(LyingWeight(call));
  for (const int tensor : {kScale, kOffset}) {
    if (call.IsGiven(tensor) && !is_transposed && !IsContiguous(call.Tensor(tensor)))
      return Refuse(check, call, tensor, "contiguous, unless weight is transposed");
  }
  for (const int tensor : {kY, kQuantScale, kQuantOffset, kBias}) {
    if (call.IsGiven(tensor) && !IsContiguous(call.Tensor(tensor)))
      return Refuse(check, call, tensor, "contiguous");
  }
  return ACL_SUCCESS;
}

// On Ascend 950 scales are transposed like the weight.
aclnnStatus LiesAsWeight(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kScale, kOffset}) {
    if (!call.IsGiven(tensor)) continue;
    const aclTensor& view = call.Tensor(tensor);
    if (view.shape.rank < 2 || view.numel == 1) continue;
    if (!IsContiguous(view) && !IsTransposed(view))
      return Refuse(check, call, tensor, "transposed as weight is");
    if (IsTransposed(LyingWeight(call)) && !IsContiguous(LastTwoSwapped(view)))
      return Refuse(check, call, tensor, "transposed as weight is");
  }
  return ACL_SUCCESS;
}

bool IsFixpipe(const OperatorCall& call) {
  const aclDataType scale = call.Tensor(kScale).dtype;
  return scale == ACL_UINT64 || scale == ACL_INT64;
}

template <bool kIsNz>
aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  const aclDataType x = call.Tensor(kX).dtype;
  const bool is_fixpipe = IsFixpipe(call);
  const bool fixpipe_fits =
      x == ACL_FLOAT16 && call.Tensor(kWeight).dtype == ACL_INT8 && call.Tensor(kY).dtype == ACL_FLOAT16;
  const bool is_other = call.Tensor(kScale).dtype != x && !(HasPowers(call) && HasFloat4Weights(call));
  if (is_fixpipe ? !fixpipe_fits : is_other)
    return Refuse(check, call, kScale,
                  kIsNz ? "x's dtype, with weights of FLOAT4 also FLOAT8_E8M0" : "x's dtype");
  if (call.IsGiven(kOffset) && HasFloat4Weights(call))
    return Refuse(check, call, kOffset, "with weights of FLOAT4 a null pointer");
  if (call.IsGiven(kOffset) &&
      call.Tensor(kOffset).dtype != (is_fixpipe ? ACL_INT32 : call.Tensor(kScale).dtype))
    return Refuse(check, call, kOffset, "antiquantScale's dtype");
  if (call.IsGiven(kBias)) {
    const aclDataType bias = call.Tensor(kBias).dtype;
    const bool fits = x == ACL_FLOAT16 ? bias == ACL_FLOAT16 : bias != ACL_FLOAT16;
    if (!fits) return Refuse(check, call, kBias, "DT_FLOAT16 with x of that, else DT_FLOAT");
  }
  if (call.Tensor(kY).dtype != (call.IsGiven(kQuantScale) ? ACL_INT8 : x))
    return Refuse(check, call, kY, "x's dtype, and DT_INT8 with quantScaleOptional");
  return ACL_SUCCESS;
}

bool IsFractal(aclFormat format) {
  return format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_FRACTAL_NZ_C0_16 ||
         format == ACL_FORMAT_FRACTAL_NZ_C0_32;
}

template <bool kIsNz>
aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  if (kIsNz && !IsFractal(call.Tensor(kWeight).format))
    return Refuse(check, call, kWeight, "a format of FRACTAL_NZ");
  for (const int tensor : {kX, kWeight, kScale, kOffset, kQuantScale, kQuantOffset, kBias, kY}) {
    if (!call.IsGiven(tensor)) continue;
    const aclFormat format = call.Tensor(tensor).format;
    const bool is_nz =
        tensor == kWeight &&
        (kIsNz || (format == ACL_FORMAT_FRACTAL_NZ && !products::kAscend950.Contains(call.product)));
    if (format != ACL_FORMAT_ND && !is_nz)
      return Refuse(check, call, tensor, "the format ND, of weight before Ascend 950 FRACTAL_NZ too");
  }
  return ACL_SUCCESS;
}

aclnnStatus RanksFit(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kBias, kScale, kOffset}) {
    if (!call.IsGiven(tensor)) continue;
    const int rank = call.Tensor(tensor).shape.rank;
    if (rank < 1 || rank > 2) return Refuse(check, call, tensor, "1 or 2 dims");
  }
  return ACL_SUCCESS;
}

aclnnStatus LengthsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& x = call.Tensor(kX).shape;
  const Weight weight = WeightOf(call);
  if (weight.terms != x[1]) return RefuseWith(check, call, kWeight, kX, "as many terms");
  if (x[0] < 1 || x[1] < 1) return Refuse(check, call, kX, "dims of at least 1");
  if (weight.columns < 1) return Refuse(check, call, kWeight, "dims of at least 1");
  if (products::kAtlasA2AndA3.Contains(call.product)) {
    if (x[1] > kMostLength || (IsTransposed(call.Tensor(kX)) && x[0] > kMostLength))
      return Refuse(check, call, kX, "at most 65535 columns, of a transposed one rows too");
    if (weight.columns > kMostLength) return Refuse(check, call, kWeight, "at most 65535 columns");
  }
  // A single row or column counts as either layout.
  const int64_t inner = weight.terms == 1 || weight.columns == 1 ? weight.terms * weight.columns
                        : weight.is_transposed                   ? weight.terms
                                                                 : weight.columns;
  if (StorageBits(call.Tensor(kWeight).dtype) == 4 && inner % 2 != 0)
    return Refuse(check, call, kWeight, "an even number of elements side by side");
  const Shape& y = call.Tensor(kY).shape;
  if (y[0] != x[0] || y[1] != weight.columns)
    return Refuse(check, call, kY, "rows of x by columns of weight");
  return ACL_SUCCESS;
}

aclnnStatus GroupSizeFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t size = call.attributes[kGroupSize].integer;
  const int64_t terms = call.Tensor(kX).shape[1];
  if (HasPowers(call))
    return size == kGroupStep
               ? ACL_SUCCESS
               : RefuseInteger(check, call, call.attributes[kGroupSize].name, size, kGroupStep, kGroupStep);
  if (size == 0 || (size >= kGroupStep && size < terms && size % kGroupStep == 0)) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter antiquantGroupSize has the value ")
                                   .Add(size)
                                   .Add(", accepted: 0, or a multiple of 32 less than x's ")
                                   .Add(terms)
                                   .Add(" columns."));
}

aclnnStatus NumbersFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& scale = call.Tensor(kScale).shape;
  const int64_t columns = call.Tensor(kY).shape[1];
  const int64_t size = call.attributes[kGroupSize].integer;
  const int64_t last = scale[scale.rank - 1];
  bool fits;
  if (size == 0) {
    fits = (last == 1 || last == columns) && (scale.rank == 1 || scale[0] == 1);
  } else {
    const int64_t groups = (call.Tensor(kX).shape[1] + size - 1) / size;
    fits = scale.rank == 2 && scale[0] == groups && last == columns;
  }
  if (!fits)
    return Refuse(check, call, kScale,
                  "one element, one for each column, or with groups one for each of these and each column");
  if (call.IsGiven(kOffset) && call.Tensor(kOffset).shape != scale)
    return Refuse(check, call, kOffset, "antiquantScale's shape");
  if (call.IsGiven(kBias)) {
    const Shape& bias = call.Tensor(kBias).shape;
    if (bias[bias.rank - 1] != columns || (bias.rank == 2 && bias[0] != 1))
      return Refuse(check, call, kBias, "one element for each column");
  }
  return ACL_SUCCESS;
}

aclnnStatus IsComputed(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : {kQuantScale, kQuantOffset}) {
    if (call.IsGiven(tensor)) return Refuse(check, call, tensor, "a null pointer: results are not quantised");
  }
  return IsFixpipe(call) ? Refuse(check, call, kScale, "x's dtype: scales of 64 bits are not computed")
                         : ACL_SUCCESS;
}

aclnnStatus PrecisionFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t precise = call.attributes[kPrecise].integer;
  return precise == 0 || precise == 1
             ? ACL_SUCCESS
             : RefuseInteger(check, call, call.attributes[kPrecise].name, precise, 0, 1);
}
// The form for weights in FRACTAL_NZ is there on Ascend 950 alone.
aclnnStatus IsAscend950(const Check& check, OperatorCall& call) noexcept {
  if (products::kAscend950.Contains(call.product)) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call).Add("is not supported on this product, accepted: Ascend 950."));
}

template <bool kIsNz>
constexpr auto kChecks = List(
    HasQuantised(), NotNull(kX), NotNull(kWeight), NotNull(kScale), NotNull(kY),
    OnProducts(~products::kAtlasA2AndA3, Custom(NothingQuantised, ACLNN_ERR_PARAM_NULLPTR)),
    Custom(LiesAccepted), OnProducts(products::kAscend950, Custom(LiesAsWeight)), DtypesIn(kDtypesOfX, {kX}),
    DtypesIn(kIsNz ? kDtypesOfNzWeight : kDtypesOfWeight, {kWeight}),
    DtypesIn(kIsNz ? kDtypesOfNzScale : kDtypesOfScale, {kScale}),
    IfThere<kOffset>(DtypesIn(kDtypesOfOffset, {kOffset})), IfThere<kBias>(DtypesIn(kDtypesOfBias, {kBias})),
    DtypesIn(kDtypesOfY, {kY}), RankIs(2, {kX, kWeight, kY}), Custom(DtypesFit<kIsNz>),
    Custom(FormatsFit<kIsNz>), Custom(RanksFit), Custom(LengthsFit), Custom(GroupSizeFits),
    Custom(NumbersFit), Custom(IsComputed, ACLNN_ERR_INNER_NULLPTR), SizesRepresentable({kY}),
    MatricesInsideStorage({kX, kWeight, kScale, kOffset, kBias}));
constexpr auto kNzChecks = Join(List(Custom(IsAscend950, ACLNN_ERR_RUNTIME_ERROR)), kChecks<true>);
constexpr auto kThirdChecks = Join(kChecks<false>, List(Custom(PrecisionFits)));

engine::GroupNumbers NumbersOf(const OperatorCall& call, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  const int last = view.shape.rank - 1;
  return {static_cast<int8_t>(tensor), ByteOffset(view), ByteStride(view, last),
          last == 0 ? 0 : ByteStride(view, 0)};
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  const Weight weight = WeightOf(call);
  const Matrices x{kX, call.Tensor(kX)};
  const Matrices bias{kBias, call.IsGiven(kBias) ? StridedView(call.Tensor(kBias)) : StridedView{}};
  const int64_t size = call.attributes[kGroupSize].integer;
  const bool has_offset = call.IsGiven(kOffset);
  const engine::QuantisedWeights weights{
      .argument = kWeight,
      .is_int4 = call.Tensor(kWeight).dtype != ACL_INT8,
      .has_offset = has_offset,
      .first = weight.first,
      .term = weight.term,
      .column = weight.column,
      .group_terms = size == 0 ? weight.terms : size,
      .dtype = call.Tensor(kScale).dtype,
      .scale = NumbersOf(call, kScale),
      .offset = has_offset ? NumbersOf(call, kOffset) : engine::GroupNumbers{},
      .is_float4 = HasFloat4Weights(call)};
  // The job replaces the right operand with the weights.
  const engine::Gemm gemm = GemmOf(
      {.left = x, .right = x, .out = {kY, call.Tensor(kY)}, .added = call.IsGiven(kBias) ? &bias : nullptr});
  executor.SetJob([&] { return engine::QuantisedGemmJob{gemm, weights, call.isa, call.threads}; });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnWeightQuantBatchMatmulV2) {
  return RunPhase1(call, kChecks<false>, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnWeightQuantBatchMatmulV3) {
  return RunPhase1(call, kThirdChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnWeightQuantBatchMatmulNz) {
  return RunPhase1(call, kNzChecks, workspaceSize, executor, SetProduct);
}
