// aclnnTransQuantParamV2, V3 and aclnnTransQuantParam: pack scales and offsets of quantised matrix products into
// 64-bit words.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/trans_quant_param_functions.h"

#include "aclnnop/aclnn_trans_quant_param.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/jobs/statistics.h"
#include "base/errors.h"
#include "base/float_environment.h"
#include "base/log.h"
#include "engine/gemm/scale_words.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace matmul;

enum Tensors { kScale, kOffset, kOut };
enum Attributes { kRoundMode };

constexpr DtypeRule kDtypesOfScale =
    SinceAtlasA2(DtypeSet(ACL_FLOAT)).On(kAtlasInference, DtypeSet(ACL_FLOAT));
constexpr DtypeSet kWords(ACL_UINT64, ACL_INT64);

bool IsRow(const Shape& shape) { return shape.rank == 1 || (shape.rank == 2 && shape[0] == 1); }
// Tells whether there are several rows of scales, for groups of terms or of matrices.
bool HasRows(const OperatorCall& call) {
  const Shape& shape = call.Tensor(kScale).shape;
  return products::kAscend950.Contains(call.product) && shape.rank == 2 && shape[0] > 1;
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  int64_t most = 1;
  for (const int tensor : {kScale, kOffset}) {
    if (!call.IsGiven(tensor)) continue;
    const Shape& shape = call.Tensor(tensor).shape;
    const bool has_rows = tensor == kScale && HasRows(call);
    if ((!IsRow(shape) && !has_rows) || shape[shape.rank - 1] < 1)
      return Refuse(check, call, tensor,
                    "[n] or [1, n], with n at least 1, of scales on Ascend 950 also [g, n]");
    const int64_t length = shape[shape.rank - 1];
    if (most != 1 && length != 1 && length != most)
      return RefuseWith(check, call, tensor, kScale, "as many elements, or one of them 1");
    most = std::max(most, length);
  }
  const Shape& out = call.Tensor(kOut).shape;
  if (HasRows(call)) {
    const Shape words{call.Tensor(kScale).shape[0], most};
    return out == words ? ACL_SUCCESS : RefuseShape(check, call, kOut, words);
  }
  if (IsRow(out) && out[out.rank - 1] == most) return ACL_SUCCESS;
  return RefuseShape(check, call, kOut, {most});
}

constexpr auto kTypesAndShapes =
    List(NotNull(kScale), NotNull(kOut), HasQuantised(), DtypesIn(kDtypesOfScale, {kScale}),
         IfThere<kOffset>(DtypesIn(kDtypesOfScale, {kOffset})), DtypesIn(kWords, {kOut}), Custom(ShapesFit));
constexpr auto kRest = List(SizesRepresentable({kOut}), InsideStorage({kScale, kOffset}));
constexpr auto kChecks = Join(kTypesAndShapes, kRest);
constexpr auto kChecksOfV3 = Join(kTypesAndShapes, List(IntegerIn(kRoundMode, 0, 1)), kRest);

engine::ScaleWordsJob::Operand OperandOf(const OperatorCall& call, int tensor) {
  if (!call.IsGiven(tensor)) return {-1, 0, 0, 0};
  const StridedView view = PlainView(call.Tensor(tensor));
  const int last = view.shape.rank - 1;
  return {static_cast<int8_t>(tensor), ByteOffset(view), ByteStride(view, last),
          last == 1 ? ByteStride(view, 0) : 0};
}

void SetWords(const OperatorCall& call, Executor& executor) {
  executor.SetJob([&] {
    const Shape& out = call.Tensor(kOut).shape;
    const bool rounds = !call.attributes.empty() && call.attributes[kRoundMode].integer == 1;
    return engine::ScaleWordsJob{
        OperandOf(call, kScale), OperandOf(call, kOffset),
        OperandOf(call, kOut),   call.Tensor(kOut).numel,
        out[out.rank - 1],       rounds ? engine::ScaleBits::kNearest : engine::ScaleBits::kHigh};
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTransQuantParamV2) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetWords);
}

PORTACL_PHASE_1(aclnnTransQuantParamV3) {
  return RunPhase1(call, kChecksOfV3, workspaceSize, executor, SetWords);
}

aclnnStatus aclnnTransQuantParam(const float* scaleArray, uint64_t scaleSize, const float* offsetArray,
                                 uint64_t offsetSize, uint64_t** quantParam, uint64_t* quantParamSize) {
  constexpr const char* kApi = "aclnnTransQuantParam";
  const ApiScope scope(kApi);
  const auto refuse_null = [&](aclnnStatus code, const char* name) {
    return FailAclnn(code, Text(kApi, ": parameter ", name, " is a null pointer."));
  };
  if (scaleArray == nullptr) return refuse_null(ACLNN_ERR_PARAM_INVALID, "scaleArray");
  if (offsetArray == nullptr && offsetSize != 0) return refuse_null(ACLNN_ERR_PARAM_INVALID, "offsetArray");
  if (quantParam == nullptr) return refuse_null(ACLNN_ERR_PARAM_NULLPTR, "quantParam");
  if (quantParamSize == nullptr) return refuse_null(ACLNN_ERR_PARAM_NULLPTR, "quantParamSize");
  constexpr uint64_t kPadding = 16;
  constexpr uint64_t kMost = (std::numeric_limits<uint64_t>::max() >> 4) - kPadding;
  if (scaleSize == 0 || scaleSize > kMost) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(kApi, ": parameter scaleSize has the value ", scaleSize,
                                                   ", accepted: 1 to ", kMost, "."));
  }
  if (offsetSize > kMost) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(kApi, ": parameter offsetSize has the value ", offsetSize,
                                                   ", accepted: 0 to ", kMost, "."));
  }
  if (offsetSize > 1 && scaleSize > 1 && offsetSize != scaleSize) {
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(kApi, ": parameter offsetSize has the value ", offsetSize,
                                                   ", accepted: 0, 1 or scaleSize, ", scaleSize, "."));
  }
  const uint64_t count = std::max(scaleSize, offsetSize);
  const uint64_t size = count == 1 ? 1 : (count + kPadding - 1) / kPadding * kPadding;
  // The caller frees it.
  auto* const words = static_cast<uint64_t*>(std::calloc(size, sizeof(uint64_t)));
  if (words == nullptr)
    return FailAclnn(ACLNN_ERR_INNER_NULLPTR, Text(kApi, ": no memory for ", size, " words."));
  const DefaultFloatEnvironment environment;
  for (uint64_t i = 0; i < count; ++i) {
    const float offset = offsetSize == 0 ? 0 : offsetArray[offsetSize == 1 ? 0 : i];
    words[i] = engine::ScaleWord(scaleArray[scaleSize == 1 ? 0 : i], offset, engine::ScaleBits::kAll);
  }
  *quantParam = words;
  *quantParamSize = size;
  return ACL_SUCCESS;
}
