// The operations of ATB, built from native operators: their checks and their calls.
// SPDX-License-Identifier: Apache-2.0
#include "atb/operations.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_addmm.h"
#include "aclnnop/aclnn_amax.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_clamp.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_cos.h"
#include "aclnnop/aclnn_div.h"
#include "aclnnop/aclnn_fill_scalar.h"
#include "aclnnop/aclnn_gather.h"
#include "aclnnop/aclnn_gather_pa_kv_cache.h"
#include "aclnnop/aclnn_masked_fill_scalar.h"
#include "aclnnop/aclnn_maximum.h"
#include "aclnnop/aclnn_mm.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_neg.h"
#include "aclnnop/aclnn_reduce_sum.h"
#include "aclnnop/aclnn_rms_norm.h"
#include "aclnnop/aclnn_rotary_position_embedding.h"
#include "aclnnop/aclnn_round.h"
#include "aclnnop/aclnn_scatter.h"
#include "aclnnop/aclnn_scatter_pa_kv_cache.h"
#include "aclnnop/aclnn_sigmoid.h"
#include "aclnnop/aclnn_sin.h"
#include "aclnnop/aclnn_sub.h"
#include "aclnnop/aclnn_tanh.h"
#include "aclnnop/aclnn_topk.h"
#include "atb/attention_operations.h"
#include "atb/expectations.h"

namespace atb {
namespace {

using infer::ElewiseParam;
using infer::GroupTopkParam;
using infer::LinearParam;
using infer::PagedAttentionParam;
using infer::ReshapeAndCacheParam;
using infer::RmsNormParam;
using infer::RopeParam;
using infer::SelfAttentionParam;

constexpr int8_t kKeepDtype = 0;  // cubeMathType

// Returns the tensor as FLOAT: a copy, or the tensor itself where it is FLOAT already.
Tensor InFloat(Calls& calls, const Tensor& tensor) {
  if (tensor.desc.dtype == ACL_FLOAT) return tensor;
  const Tensor cast = calls.Temporary(ShapeOf(tensor), ACL_FLOAT);
  aclTensor* const from = calls.View(tensor);
  aclTensor* const to = calls.View(cast);
  PORTACL_ATB_CALL(calls, aclnnCast, from, ACL_FLOAT, to);
  return cast;
}

// Computes out = clamp(round(x / scale) + offset) as INT8, in FLOAT. `rounds_last` rounds after the offset is
// added.
void Quantise(Calls& calls, const Tensor& x, const Tensor& scale, const Tensor& offset, bool rounds_last,
              const Tensor& out) {
  const Tensor quotient = calls.Temporary(ShapeOf(x), ACL_FLOAT);
  aclTensor* const numerator = calls.View(x);
  aclTensor* const denominator = calls.View(InFloat(calls, scale));
  aclTensor* const steps = calls.View(quotient);
  PORTACL_ATB_CALL(calls, aclnnDiv, numerator, denominator, steps);
  const auto round = [&] { PORTACL_ATB_CALL(calls, aclnnInplaceRound, steps); };
  if (!rounds_last) round();
  if (IsThere(offset) && ElementsOf(ShapeOf(offset)) > 0) {
    aclTensor* const shift = calls.View(InFloat(calls, offset));
    aclScalar* const one = calls.Number(1);
    PORTACL_ATB_CALL(calls, aclnnInplaceAdd, steps, shift, one);
  }
  if (rounds_last) round();
  aclScalar* const least = calls.Number(-128);
  aclScalar* const most = calls.Number(127);
  PORTACL_ATB_CALL(calls, aclnnClamp, steps, least, most, steps);
  aclTensor* const to = calls.View(out);
  PORTACL_ATB_CALL(calls, aclnnCast, steps, ACL_INT8, to);
}

// ---- Linear: out = x weight (+ bias), or out += x weight ----

void Check(const LinearParam& param) {
  Accept(param.outDataType == -1, "outDataType", param.outDataType, "-1, products of floating point");
  Accept(!param.enAccum || !param.hasBias, "hasBias", param.hasBias, "false where enAccum is true");
}

aclTensor* Matrix(Calls& calls, const Tensor& tensor, bool transposes, const char* name) {
  ExpectRank(tensor, 2, name);
  const Shape shape = ShapeOf(tensor);
  return transposes ? calls.View(tensor, {shape[1], shape[0]}, {1, shape[1]}) : calls.View(tensor);
}

void Make(const LinearParam& param, const VariantPack& pack, Calls& calls) {
  aclTensor* const x = Matrix(calls, pack.in[0], param.transposeA, "x");
  aclTensor* const weight = Matrix(calls, pack.in[1], param.transposeB, "weight");
  const Tensor& result = pack.out[0];
  aclTensor* const out = calls.View(result);
  aclScalar* const one = calls.Number(1);
  if (param.enAccum) {
    aclTensor* const product = calls.View(calls.Temporary(ShapeOf(result), result.desc.dtype));
    PORTACL_ATB_CALL(calls, aclnnMm, x, weight, product, kKeepDtype);
    PORTACL_ATB_CALL(calls, aclnnInplaceAdd, out, product, one);
  } else if (param.hasBias) {
    aclTensor* const bias = calls.View(pack.in[2]);
    PORTACL_ATB_CALL(calls, aclnnAddmm, bias, x, weight, one, one, out, kKeepDtype);
  } else {
    PORTACL_ATB_CALL(calls, aclnnMm, x, weight, out, kKeepDtype);
  }
}

// ---- Elewise ----

bool IsBinary(int type) {
  return type == ElewiseParam::kAdd || type == ElewiseParam::kMul || type == ElewiseParam::kRealDiv ||
         type == ElewiseParam::kSub || type == ElewiseParam::kMax;
}

void Check(const ElewiseParam& param) {
  const int type = param.elewiseType;
  const bool is_unary =
      (type >= ElewiseParam::kCast && type <= ElewiseParam::kNeg) || type == ElewiseParam::kTanh;
  Accept(is_unary || IsBinary(type) || type == ElewiseParam::kQuantPerChannel, "elewiseType", type,
         "1 to 5, 8 to 10, 15, 17, 20 and 21");
}

void Make(const ElewiseParam& param, const VariantPack& pack, Calls& calls) {
  const Tensor& result = pack.out[0];
  if (param.elewiseType == ElewiseParam::kQuantPerChannel) {
    return Quantise(calls, InFloat(calls, pack.in[0]), pack.in[1], pack.in[2], false, result);
  }
  aclTensor* const self = calls.View(pack.in[0]);
  aclTensor* const out = calls.View(result);
  aclTensor* const other = IsBinary(param.elewiseType) ? calls.View(pack.in[1]) : nullptr;
  aclScalar* const one = calls.Number(1);
  switch (param.elewiseType) {
    case ElewiseParam::kCast:
      PORTACL_ATB_CALL(calls, aclnnCast, self, result.desc.dtype, out);
      break;
    case ElewiseParam::kMuls: {
      aclScalar* const factor = calls.Number(param.mulsParam.varAttr);
      PORTACL_ATB_CALL(calls, aclnnMuls, self, factor, out);
      break;
    }
    case ElewiseParam::kCos:
      PORTACL_ATB_CALL(calls, aclnnCos, self, out);
      break;
    case ElewiseParam::kSin:
      PORTACL_ATB_CALL(calls, aclnnSin, self, out);
      break;
    case ElewiseParam::kNeg:
      PORTACL_ATB_CALL(calls, aclnnNeg, self, out);
      break;
    case ElewiseParam::kAdd:
      PORTACL_ATB_CALL(calls, aclnnAdd, self, other, one, out);
      break;
    case ElewiseParam::kMul:
      PORTACL_ATB_CALL(calls, aclnnMul, self, other, out);
      break;
    case ElewiseParam::kRealDiv:
      PORTACL_ATB_CALL(calls, aclnnDiv, self, other, out);
      break;
    case ElewiseParam::kSub:
      PORTACL_ATB_CALL(calls, aclnnSub, self, other, one, out);
      break;
    case ElewiseParam::kMax:
      PORTACL_ATB_CALL(calls, aclnnMaximum, self, other, out);
      break;
    default:
      PORTACL_ATB_CALL(calls, aclnnTanh, self, out);
      break;
  }
}

// ---- RmsNorm: y = x / sqrt(mean(x^2) + epsilon) * gamma (+ beta), quantised on request ----

void Check(const RmsNormParam& param) {
  Accept(param.layerType == RmsNormParam::kNorm, "layerType", param.layerType, "1");
  const auto& norm = param.normParam;
  Accept(norm.quantType == RmsNormParam::kUnquantised || norm.quantType == RmsNormParam::kInt8,
         "normParam.quantType", norm.quantType, "0 and 2");
  Accept(!norm.rstd, "normParam.rstd", norm.rstd, "false");
  Accept(norm.modelType == 0, "normParam.modelType", norm.modelType, "0");
  Accept(norm.dynamicQuantType == 0, "normParam.dynamicQuantType", norm.dynamicQuantType, "0");
}

void Make(const RmsNormParam& param, const VariantPack& pack, Calls& calls) {
  const bool quantises = param.normParam.quantType == RmsNormParam::kInt8;
  const Tensor x = quantises ? InFloat(calls, pack.in[0]) : pack.in[0];
  const Tensor weights = quantises ? InFloat(calls, pack.in[1]) : pack.in[1];
  const Tensor normed = quantises ? calls.Temporary(ShapeOf(x), ACL_FLOAT) : pack.out[0];
  Shape rows = ShapeOf(x);
  if (rows.empty()) Refuse(kInvalidTensorDim, "x has no dims, accepted: 1 to 8");
  const int64_t width = rows.back();
  rows.back() = 1;
  aclTensor* const self = calls.View(x);
  aclTensor* const gamma = calls.View(weights, {width});
  aclTensor* const y = calls.View(normed);
  aclTensor* const rstd = calls.View(calls.Temporary(rows, ACL_FLOAT));
  const double epsilon = param.normParam.epsilon;
  ExpectSize(ElementsOf(ShapeOf(weights)), width, "the number of gamma's elements");
  PORTACL_ATB_CALL(calls, aclnnRmsNorm, self, gamma, epsilon, y, rstd);
  if (!quantises) return;
  const Tensor& beta = pack.in[2];
  if (IsThere(beta)) {
    ExpectSize(ElementsOf(ShapeOf(beta)), width, "the number of beta's elements");
    aclTensor* const shift = calls.View(InFloat(calls, beta), {width});
    aclScalar* const one = calls.Number(1);
    PORTACL_ATB_CALL(calls, aclnnInplaceAdd, y, shift, one);
  }
  Quantise(calls, normed, pack.in[3], pack.in[4], true, pack.out[0]);
}

// ---- GroupTopk: sets everything outside the k groups of the highest scores to 0, in place ----

void Check(const GroupTopkParam& param) {
  Accept(param.groupNum >= 1, "groupNum", param.groupNum, "1 and more");
  Accept(param.k >= 1 && param.k <= param.groupNum, "k", param.k, "1 to groupNum");
  Accept(param.groupMultiFlag <= GroupTopkParam::kSumOfLargest, "groupMultiFlag", param.groupMultiFlag,
         "0 and 1");
  Accept(param.n >= 1, "n", param.n, "1 and more");
}

// Overwrites all but the k best groups with a value. A group's score is the sum of its `largest` greatest
// members. The tensor is [rows, groups, members].
void HideOtherGroups(Calls& calls, const Tensor& self, const Shape& shape, int64_t k, int64_t largest,
                     double value) {
  const int64_t rows = shape[0];
  const int64_t groups = shape[1];
  const aclDataType dtype = self.desc.dtype;
  aclTensor* const by_group = calls.View(self, shape);
  aclTensor* const scores = calls.View(calls.Temporary({rows, groups}, dtype));
  aclIntArray* const members_dim = calls.Integers({2});
  if (largest == 1) {
    PORTACL_ATB_CALL(calls, aclnnAmax, by_group, members_dim, false, scores);
  } else {
    if (largest > shape[2]) Accept(false, "n", largest, "at most the members of a group");
    aclTensor* const values = calls.View(calls.Temporary({rows, groups, largest}, dtype));
    aclTensor* const indices = calls.View(calls.Temporary({rows, groups, largest}, ACL_INT64));
    PORTACL_ATB_CALL(calls, aclnnTopk, by_group, largest, 2, true, true, values, indices);
    PORTACL_ATB_CALL(calls, aclnnReduceSum, values, members_dim, false, dtype, scores);
  }
  aclTensor* const best = calls.View(calls.Temporary({rows, k}, dtype));
  aclTensor* const kept = calls.View(calls.Temporary({rows, k}, ACL_INT64));
  PORTACL_ATB_CALL(calls, aclnnTopk, scores, k, 1, true, true, best, kept);
  const Tensor hides = calls.Temporary({rows, groups}, ACL_BOOL);
  aclTensor* const mask = calls.View(hides);
  aclTensor* const of_members = calls.View(hides, {rows, groups, 1});
  aclScalar* const one = calls.Number(1);
  aclScalar* const zero = calls.Number(0);
  aclScalar* const hidden = calls.Number(value);
  PORTACL_ATB_CALL(calls, aclnnInplaceFillScalar, mask, one);
  PORTACL_ATB_CALL(calls, aclnnInplaceScatterValue, mask, 1, kept, zero, 0);
  PORTACL_ATB_CALL(calls, aclnnInplaceMaskedFillScalar, by_group, of_members, hidden);
}

void Make(const GroupTopkParam& param, const VariantPack& pack, Calls& calls) {
  const Tensor& self = pack.out[0];
  ExpectRank(self, 2, "self");
  const int64_t rows = ShapeOf(self)[0];
  const int64_t groups = param.groupNum;
  const int64_t members = ShapeOf(self)[1] / groups;
  ExpectSize(ShapeOf(self)[1], members * groups, "the number of experts, a multiple of groupNum,");
  HideOtherGroups(calls, self, {rows, groups, members}, param.k,
                  param.groupMultiFlag == GroupTopkParam::kMax ? 1 : param.n, 0);
}

// ---- FusedAddTopkDiv: selects the k experts of the largest biased sigmoids, within the best groups ----

void Check(const FusedAddTopkDivParam& param) {
  constexpr int kSigmoid = 8;
  Accept(param.activationType == kSigmoid, "activationType", param.activationType, "8");
  Accept(!param.enableExpertMapping, "enableExpertMapping", param.enableExpertMapping, "false");
  Accept(param.groupNum >= 1, "groupNum", param.groupNum, "1 and more");
  Accept(param.groupTopk >= 1 && param.groupTopk <= param.groupNum, "groupTopk", param.groupTopk,
         "1 to groupNum");
  Accept(param.n >= 1, "n", param.n, "1 and more");
  Accept(param.k >= 1, "k", param.k, "1 and more");
}

void Make(const FusedAddTopkDivParam& param, const VariantPack& pack, Calls& calls) {
  ExpectRank(pack.in[0], 2, "x");
  const Shape shape = ShapeOf(pack.in[0]);
  const int64_t rows = shape[0];
  const int64_t experts = shape[1];
  const int64_t members = experts / param.groupNum;
  const int64_t k = param.k;
  ExpectSize(experts, members * param.groupNum, "the number of experts, a multiple of groupNum,");
  Accept(k <= experts, "k", k, "at most the number of experts");
  ExpectSize(ElementsOf(ShapeOf(pack.in[1])), experts, "the number of addNum's elements");
  for (uint32_t i = 0; i < 2; ++i) {
    if (ShapeOf(pack.out[i]) != Shape{rows, k})
      Refuse(kInvalidTensorSize, std::string(i == 0 ? "y" : "indices") + " has not the shape [rows of x, k]");
  }
  aclTensor* const x = calls.View(InFloat(calls, pack.in[0]));
  aclTensor* const bias = calls.View(InFloat(calls, pack.in[1]), {experts});
  aclTensor* const gates = calls.View(calls.Temporary(shape, ACL_FLOAT));
  const Tensor biased = calls.Temporary(shape, ACL_FLOAT);
  aclTensor* const chosen_by = calls.View(biased);
  aclScalar* const one = calls.Number(1);
  PORTACL_ATB_CALL(calls, aclnnSigmoid, x, gates);
  PORTACL_ATB_CALL(calls, aclnnAdd, gates, bias, one, chosen_by);
  if (param.groupTopk < param.groupNum)
    HideOtherGroups(calls, biased, {rows, param.groupNum, members}, param.groupTopk, param.n,
                    -std::numeric_limits<double>::infinity());
  aclTensor* const values = calls.View(calls.Temporary({rows, k}, ACL_FLOAT));
  aclTensor* const wide_indices = calls.View(calls.Temporary({rows, k}, ACL_INT64));
  aclTensor* const y = calls.View(pack.out[0]);
  aclTensor* const indices = calls.View(pack.out[1]);
  PORTACL_ATB_CALL(calls, aclnnTopk, chosen_by, k, 1, true, true, values, wide_indices);
  PORTACL_ATB_CALL(calls, aclnnGather, gates, 1, wide_indices, y);
  PORTACL_ATB_CALL(calls, aclnnCast, wide_indices, ACL_INT32, indices);
  if (param.isNorm) {
    aclTensor* const sums = calls.View(calls.Temporary({rows, 1}, ACL_FLOAT));
    aclIntArray* const last = calls.Integers({1});
    PORTACL_ATB_CALL(calls, aclnnReduceSum, y, last, true, ACL_FLOAT, sums);
    PORTACL_ATB_CALL(calls, aclnnInplaceDiv, y, sums);
  }
  aclScalar* const scale = calls.Number(param.scale);
  PORTACL_ATB_CALL(calls, aclnnInplaceMuls, y, scale);
}

// ---- ReshapeAndCache: copies rows of keys and values to slots of paged caches ----

void Check(const ReshapeAndCacheParam& param) {
  Accept(param.compressType == 0, "compressType", param.compressType, "0");
  Accept(param.kvCacheCfg >= ReshapeAndCacheParam::kKeyAndValue &&
             param.kvCacheCfg <= ReshapeAndCacheParam::kFractalNz,
         "kvCacheCfg", param.kvCacheCfg, "0 to 2");
}

void Make(const ReshapeAndCacheParam& param, const VariantPack& pack, Calls& calls) {
  const bool has_value = param.kvCacheCfg != ReshapeAndCacheParam::kKeyAlone;
  aclTensor* const key = calls.View(pack.in[0]);
  aclTensor* const value = has_value ? calls.View(pack.in[1]) : nullptr;
  aclTensor* const slots = calls.View(pack.in[has_value ? 4 : 2]);
  aclTensor* const key_cache = calls.View(pack.out[0]);
  aclTensor* const value_cache = has_value ? calls.View(pack.out[1]) : nullptr;
  const char* const mode = param.kvCacheCfg == ReshapeAndCacheParam::kFractalNz ? "PA_NZ" : "Norm";
  calls.Add(
      [=](uint64_t* size, aclOpExecutor** executor) {
        char cache_mode[8];
        std::strcpy(cache_mode, mode);
        return aclnnScatterPaKvCacheGetWorkspaceSize(key, key_cache, slots, value, value_cache, nullptr,
                                                     nullptr, nullptr, cache_mode, nullptr, nullptr, nullptr,
                                                     size, executor);
      },
      aclnnScatterPaKvCache);
}

// ---- PagedCacheLoad: copies rows of paged caches behind each other ----

void Check(const PagedCacheLoadParam& param) {
  Accept(param.kvCacheCfg == 0 || param.kvCacheCfg == 1, "kvCacheCfg", param.kvCacheCfg, "0 and 1");
}

void Make(const PagedCacheLoadParam& param, const VariantPack& pack, Calls& calls) {
  aclTensor* const key_cache = calls.View(pack.in[0]);
  aclTensor* const value_cache = calls.View(pack.in[1]);
  aclTensor* const table = calls.View(pack.in[2]);
  aclTensor* const lengths = calls.View(pack.in[3]);
  aclTensor* const starts = IsThere(pack.in[4]) ? calls.View(pack.in[4]) : nullptr;
  aclTensor* const key = calls.View(pack.out[0]);
  aclTensor* const value = calls.View(pack.out[1]);
  const char* const mode = param.kvCacheCfg == 0 ? "PA_NZ" : "Norm";
  const bool are_sums = param.cumsum;
  calls.Add(
      [=](uint64_t* size, aclOpExecutor** executor) {
        char cache_mode[8];
        std::strcpy(cache_mode, mode);
        return aclnnGatherPaKvCacheGetWorkspaceSize(key_cache, value_cache, table, lengths, key, value,
                                                    starts, cache_mode, are_sums, size, executor);
      },
      aclnnGatherPaKvCache);
}

// ---- MLAPreprocess: refused ----

void Check(const MlaPreprocessParam&) {
  Refuse(
      kInvalidParam,
      "it is not supported: the order of query, key and rotary part in the columns of wdqkv is not public; "
      "call the operators that it joins, or torch_npu.npu_mla_prolog_v2");
}
void Make(const MlaPreprocessParam&, const VariantPack&, Calls&) {}

// ---- Rope: rotates query and key by angles whose cosines and sines are given ----

void Check(const RopeParam& param) {
  Accept(param.rotaryCoeff >= 2 && param.rotaryCoeff != 4, "rotaryCoeff", param.rotaryCoeff,
         "2 (halves) and the head's size (adjacent pairs)");
  Accept(param.cosFormat == 0, "cosFormat", param.cosFormat, "0");
}

void Rotate(Calls& calls, const Tensor& from, const Tensor& cos, const Tensor& sin, int64_t mode,
            const Tensor& to) {
  const int64_t tokens = ShapeOf(cos)[0];
  const int64_t width = ShapeOf(cos)[1];
  const int64_t heads = tokens * width == 0 ? 0 : ElementsOf(ShapeOf(from)) / (tokens * width);
  ExpectSize(ElementsOf(ShapeOf(from)), tokens * heads * width,
             "the number of elements, tokens x heads x size,");
  const Shape shape = {1, tokens, heads, width};
  const Shape angles = {1, tokens, 1, width};
  const bool casts = from.desc.dtype != cos.desc.dtype;
  const Tensor source = casts ? InFloat(calls, from) : from;
  const Tensor turned = casts ? calls.Temporary(ShapeOf(from), ACL_FLOAT) : to;
  aclTensor* const x = calls.View(source, shape);
  aclTensor* const cosines = calls.View(casts ? InFloat(calls, cos) : cos, angles);
  aclTensor* const sines = calls.View(casts ? InFloat(calls, sin) : sin, angles);
  aclTensor* const y = calls.View(turned, shape);
  PORTACL_ATB_CALL(calls, aclnnRotaryPositionEmbedding, x, cosines, sines, mode, y);
  if (!casts) return;
  aclTensor* const out = calls.View(to, shape);
  const aclDataType dtype = to.desc.dtype;
  PORTACL_ATB_CALL(calls, aclnnCast, y, dtype, out);
}

void Make(const RopeParam& param, const VariantPack& pack, Calls& calls) {
  const Tensor& cos = pack.in[2];
  const Tensor& sin = pack.in[3];
  ExpectRank(cos, 2, "cos");
  if (param.rotaryCoeff != 2) ExpectSize(param.rotaryCoeff, ShapeOf(cos)[1], "rotaryCoeff");
  if (ShapeOf(cos) != ShapeOf(sin)) Refuse(kInvalidTensorSize, "cos and sin have different shapes");
  const int64_t mode = param.rotaryCoeff == 2 ? 0 : 1;
  Rotate(calls, pack.in[0], cos, sin, mode, pack.out[0]);
  Rotate(calls, pack.in[1], cos, sin, mode, pack.out[1]);
}

// ---- Counts of input and output tensors ----

Counts CountsOf(const LinearParam& param) { return {param.hasBias || param.enAccum ? 3u : 2u, 1}; }
Counts CountsOf(const ElewiseParam& param) {
  return {param.elewiseType == ElewiseParam::kQuantPerChannel ? 3u
          : IsBinary(param.elewiseType)                       ? 2u
                                                              : 1u,
          1};
}
Counts CountsOf(const RmsNormParam& param) {
  return {param.normParam.quantType == RmsNormParam::kInt8 ? 5u : 2u, 1};
}
Counts CountsOf(const GroupTopkParam&) { return {2, 1}; }
Counts CountsOf(const FusedAddTopkDivParam&) { return {2, 2}; }
Counts CountsOf(const PagedCacheLoadParam&) { return {5, 2}; }
Counts CountsOf(const MlaParam& param) { return {10, param.calcType == MlaParam::kRing ? 2u : 1u}; }
Counts CountsOf(const RingMlaParam&) { return {9, 2}; }
Counts CountsOf(const MlaPreprocessParam&) { return {0, 0}; }
Counts CountsOf(const ReshapeAndCacheParam& param) {
  return param.kvCacheCfg == ReshapeAndCacheParam::kKeyAlone ? Counts{3, 1} : Counts{5, 2};
}
Counts CountsOf(const RopeParam&) { return {5, 2}; }
Counts CountsOf(const PagedAttentionParam& param) {
  return {param.calcType == 1 ? 7u : param.maskType == PagedAttentionParam::kAlibi ? 6u : 5u, 1};
}
Counts CountsOf(const SelfAttentionParam& param) {
  if (param.calcType == SelfAttentionParam::kPrefixEncoder) return {7, 1};
  return {param.maskType == SelfAttentionParam::kCompressed ? 5u : 4u, 1};
}

// Returns the public name of each parameter's operation.
const char* NameOf(const LinearParam&) { return "LinearOperation"; }
const char* NameOf(const ElewiseParam&) { return "ElewiseOperation"; }
const char* NameOf(const RmsNormParam&) { return "RmsNormOperation"; }
const char* NameOf(const GroupTopkParam&) { return "GroupTopkOperation"; }
const char* NameOf(const FusedAddTopkDivParam&) { return "FusedAddTopkDiv"; }
const char* NameOf(const PagedCacheLoadParam&) { return "AtbPagedCacheLoad"; }
const char* NameOf(const MlaParam&) { return "AtbMLA"; }
const char* NameOf(const RingMlaParam&) { return "AtbRingMLA"; }
const char* NameOf(const MlaPreprocessParam&) { return "AtbMLAPreprocess"; }
const char* NameOf(const ReshapeAndCacheParam&) { return "ReshapeAndCacheOperation"; }
const char* NameOf(const RopeParam&) { return "RopeOperation"; }
const char* NameOf(const PagedAttentionParam&) { return "PagedAttentionOperation"; }
const char* NameOf(const SelfAttentionParam&) { return "SelfAttentionOperation"; }

using atb::Check;
using atb::Make;

template <class Param>
Description Describe(const Param& param) {
  Check(param);
  return {NameOf(param), CountsOf(param),
          [param](const VariantPack& pack, Calls& calls) { Make(param, pack, calls); }};
}

}  // namespace

template <class Param>
Status CreateOperation(const Param& param, Operation** operation) {
  return CreateDescribed([&param] { return Describe(param); }, NameOf(param), operation);
}
template Status CreateOperation(const LinearParam&, Operation**);
template Status CreateOperation(const ElewiseParam&, Operation**);
template Status CreateOperation(const RmsNormParam&, Operation**);
template Status CreateOperation(const GroupTopkParam&, Operation**);
template Status CreateOperation(const FusedAddTopkDivParam&, Operation**);
template Status CreateOperation(const PagedCacheLoadParam&, Operation**);
template Status CreateOperation(const MlaParam&, Operation**);
template Status CreateOperation(const RingMlaParam&, Operation**);
template Status CreateOperation(const MlaPreprocessParam&, Operation**);
template Status CreateOperation(const ReshapeAndCacheParam&, Operation**);
template Status CreateOperation(const RopeParam&, Operation**);
template Status CreateOperation(const PagedAttentionParam&, Operation**);
template Status CreateOperation(const SelfAttentionParam&, Operation**);

}  // namespace atb
