// Refusals, modes and dtypes of grouped matrix products (see grouped_checks.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/grouped_checks.h"

#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/matmul/grouped_call.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl::grouped {

using namespace matmul;

namespace {

constexpr DtypeSet kWords(ACL_UINT64, ACL_INT64);
constexpr DtypeSet kHalfAndBf16(ACL_FLOAT16, ACL_BF16);
constexpr DtypeSet kFloat8Weights(ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_HIFLOAT8);
constexpr ProductSet kInference{Product::kAtlasInference};

}  // namespace

aclnnStatus RefuseEntry(const OperatorCall& call, aclnnStatus code, int argument, int entry,
                        const char* what_is_wrong) {
  return RefuseArgument(call, code, argument, call.IsList(argument) ? entry : -1, what_is_wrong);
}
aclnnStatus RefuseShapeOf(const OperatorCall& call, int argument, int entry, const char* accepted) {
  Text message = StartMessage(call).Add("parameter ");
  AddArgumentShape(message, call, argument, entry).Add(" is not accepted here, accepted: ");
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(accepted).Add("."));
}
aclnnStatus RefuseDtypeOf(const OperatorCall& call, int argument, int entry, DtypeSet accepted,
                          const char* with) {
  Text message = StartMessage(call).Add("parameter ");
  AddArgumentDtype(message, call, argument, entry).Add(" is not accepted ").Add(with).Add(", accepted: ");
  AddDtypeSet(message, accepted);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add("."));
}
aclnnStatus RefuseCount(const OperatorCall& call, int argument, const char* accepted) {
  Text message = StartMessage(call).Add("parameter ").Add(call.Name(argument)).Add(" has ");
  message.Add(call.Count(argument)).Add(" tensors, accepted: ");
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(accepted).Add("."));
}
aclnnStatus RefuseValue(const OperatorCall& call, int attribute, const char* accepted) {
  const Attribute& given = call.attributes[static_cast<size_t>(attribute)];
  Text message = StartMessage(call).Add("parameter ").Add(given.name).Add(" has the value ");
  return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                   message.Add(given.integer).Add(", accepted: ").Add(accepted).Add("."));
}

aclnnStatus ListsThere(const Check&, OperatorCall& call) noexcept {
  for (const int list : {kX, kWeight, kY}) {
    if (Has(call, list)) continue;
    return RefuseArgument(
        call, ACLNN_ERR_PARAM_NULLPTR, list, -1,
        " is a null pointer or has no tensors, or begins with none, accepted: a list of tensors.");
  }
  return ACL_SUCCESS;
}

aclnnStatus ModesFit(const Check&, OperatorCall& call) noexcept {
  const int64_t version = VersionOf(call);
  const int64_t type = GroupTypeOf(call);
  const int64_t split = call.attributes[kSplitItem].integer;
  const bool is_inference = kInference.Contains(call.product);
  if (version == kWeightNz && type == kTermSplit)
    return RefuseValue(call, kGroupType, "-1 or 0: weights in FRACTAL_NZ are not cut by terms");
  if (version <= kV2 && is_inference)
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kX, -1,
                          " is not accepted on this product, accepted: aclnnGroupedMatmulV3 and later.");
  if (split < 0 || split > 3) return RefuseValue(call, kSplitItem, "0 to 3");
  if (version >= kV3 && is_inference) {
    for (const int list : {kX, kWeight, kY}) {
      if (call.Count(list) != 1) return RefuseCount(call, list, "on this product one");
    }
    if (type != kRowSplit) return RefuseValue(call, kGroupType, "on this product 0");
  }
  if (type != kNoSplit && type != kRowSplit && type != kTermSplit)
    return RefuseValue(call, kGroupType, "-1, 0 or 2");
  if (type == kNoSplit && split >= 2) return RefuseValue(call, kSplitItem, "0 or 1 where groupType is -1");
  const int64_t list_type = call.attributes[kListType].integer;
  if (Has(call, kGroupList)) {
    const aclTensor& list = At(call, kGroupList);
    if (list.shape.rank != (list_type == kPairs ? 2 : 1))
      return RefuseShapeOf(call, kGroupList, 0, "one dim, of groupListType 2 two");
    if (list.dtype != ACL_INT64) return RefuseDtypeOf(call, kGroupList, 0, DtypeSet(ACL_INT64), "here");
  }
  const int64_t act = call.attributes[kActType].integer;
  if (act < 0 || act == 3 || act > 5) return RefuseValue(call, kActType, "0, 1, 2, 4 or 5");
  const bool has_pairs =
      type == kRowSplit && (products::kAtlasA2AndA3.Contains(call.product) ||
                            (products::kAscend950.Contains(call.product) && DtypeOf(call, kX) == ACL_INT8));
  if (list_type != kEnds && list_type != kSizes && !(list_type == kPairs && has_pairs))
    return RefuseValue(
        call, kListType,
        "0 or 1, with groupType 0 on Atlas A2 and A3, and on Ascend 950 with x of integers, also 2");
  return ACL_SUCCESS;
}

namespace {

aclnnStatus NotThere(const OperatorCall& call, int argument, const char* what) {
  if (!Has(call, argument)) return ACL_SUCCESS;
  return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, argument, -1, what);
}

aclnnStatus EntriesThere(const OperatorCall& call) {
  for (int argument = kX; argument <= kY; ++argument) {
    for (int entry = 0; entry < CountOf(call, argument); ++entry) {
      if (call.Entry(argument, entry) == nullptr)
        return RefuseEntry(call, ACLNN_ERR_PARAM_INVALID, argument, entry,
                           " is a null pointer, accepted: a tensor.");
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus AreOf(const OperatorCall& call, int argument, DtypeSet accepted, const char* with) {
  for (int entry = 0; entry < CountOf(call, argument); ++entry) {
    if (!accepted.Contains(At(call, argument, entry).dtype))
      return RefuseDtypeOf(call, argument, entry, accepted, with);
  }
  return ACL_SUCCESS;
}

}  // namespace

aclnnStatus IsThere(const OperatorCall& call, int argument, const char* with) {
  if (Has(call, argument)) return ACL_SUCCESS;
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, StartMessage(call)
                                                .Add("parameter ")
                                                .Add(call.Name(argument))
                                                .Add(" is not there, accepted: a tensor or list ")
                                                .Add(with)
                                                .Add("."));
}

namespace {

aclnnStatus FloatsFit(const OperatorCall& call) {
  const aclDataType x = DtypeOf(call, kX);
  if (const auto status = AreOf(call, kY, DtypeSet(x), "with x of that dtype")) return status;
  const bool is_950 = products::kAscend950.Contains(call.product);
  DtypeSet bias(x == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT);
  if (is_950) bias = bias | DtypeSet(x, ACL_FLOAT);
  if (const auto status = AreOf(call, kBias, bias, "with x of that dtype")) return status;
  for (const int argument : {kScale, kOffset, kPerToken, kAntiquantScale, kAntiquantOffset}) {
    if (const auto status = NotThere(call, argument, " is not accepted with floats, accepted: none."))
      return status;
  }
  return call.attributes[kActType].integer == 0 ? ACL_SUCCESS
                                                : RefuseValue(call, kActType, "0 with x of floats");
}

// Only floating-point inputs can be grouped along the inner (K) axis, groupType 2.
aclnnStatus TermsStay(const OperatorCall& call) {
  if (GroupTypeOf(call) != kTermSplit) return ACL_SUCCESS;
  return RefuseValue(call, kGroupType, "-1 or 0 with integers in x or weight");
}

aclnnStatus WeightsAloneFit(const OperatorCall& call) {
  if (const auto status = TermsStay(call)) return status;
  const DtypeSet x(DtypeOf(call, kX));
  if (const auto status = AreOf(call, kY, x, "with x of that dtype")) return status;
  const bool are_floats = kFloat8Weights.Contains(DtypeOf(call, kWeight));
  if (are_floats && GroupTypeOf(call) != kRowSplit)
    return RefuseValue(call, kGroupType, "0 with weights of 8-bit floats");
  if (are_floats) {
    if (const auto status = NotThere(call, kAntiquantOffset,
                                     " is not accepted with weights of 8-bit floats, accepted: none."))
      return status;
  }
  for (const int argument : {kAntiquantScale, kAntiquantOffset}) {
    if (are_floats && argument == kAntiquantOffset) break;
    if (const auto status = IsThere(call, argument, "with quantised weights")) return status;
    if (const auto status = AreOf(call, argument, x, "with x of that dtype")) return status;
  }
  DtypeSet bias(DtypeOf(call, kX) == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT);
  if (products::kAscend950.Contains(call.product)) bias = bias | x;
  if (const auto status = AreOf(call, kBias, bias, "with x of that dtype")) return status;
  for (const int argument : {kScale, kOffset, kPerToken}) {
    if (const auto status =
            NotThere(call, argument, " is not accepted with quantised weights, accepted: none."))
      return status;
  }
  return call.attributes[kActType].integer == 0 ? ACL_SUCCESS
                                                : RefuseValue(call, kActType, "0 with x of floats");
}

aclnnStatus IntegersFit(const OperatorCall& call) {
  if (const auto status = TermsStay(call)) return status;
  const DtypeSet results(ACL_INT32, ACL_INT8, ACL_BF16, ACL_FLOAT16);
  if (const auto status = AreOf(call, kY, results, "with x of INT8")) return status;
  const aclDataType y = DtypeOf(call, kY);
  if (const auto status = AreOf(call, kY, DtypeSet(y), "beside y[0]")) return status;
  const bool is_950 = products::kAscend950.Contains(call.product);
  DtypeSet bias(ACL_INT32);
  if (y == ACL_BF16) bias = bias | DtypeSet(ACL_BF16);
  if (is_950 && y != ACL_INT32 && y != ACL_INT8) bias = bias | DtypeSet(ACL_FLOAT, y);
  if (const auto status = AreOf(call, kBias, bias, "with y of that dtype")) return status;
  for (const int argument : {kAntiquantScale, kAntiquantOffset, kOffset}) {
    if (const auto status = NotThere(call, argument, " is not accepted with x of INT8, accepted: none."))
      return status;
  }
  if (call.attributes[kActType].integer != 0 && y != ACL_INT32 && CountOf(call, kY) > 1)
    return RefuseValue(call, kActType, "0 with several y");
  if (y == ACL_INT32) return ACL_SUCCESS;
  if (const auto status = IsThere(call, kScale, "with y of another dtype than INT32")) return status;
  DtypeSet scale = kWords;
  if (y == ACL_BF16) scale = is_950 ? DtypeSet(ACL_BF16, ACL_FLOAT) : DtypeSet(ACL_BF16);
  if (y == ACL_FLOAT16) scale = DtypeSet(ACL_FLOAT);
  if (const auto status = AreOf(call, kScale, scale, "with y of that dtype")) return status;
  if (y == ACL_INT8) {
    if (const auto status = NotThere(call, kPerToken, " is not accepted with y of INT8, accepted: none."))
      return status;
    if (call.attributes[kActType].integer != 0) return RefuseValue(call, kActType, "0 with y of INT8");
  }
  return AreOf(call, kPerToken, DtypeSet(ACL_FLOAT), "here");
}

// With 4-bit elements, x, weight and y are single tensors.
aclnnStatus FourBitsFit(const OperatorCall& call) {
  const bool is_a4 = ModeOf(call) == Mode::kA4W4;
  if (const auto status = AreOf(call, kY, kHalfAndBf16, "with weights of 4 bits")) return status;
  if (const auto status = IsThere(call, kScale, "with weights of 4 bits")) return status;
  if (const auto status = AreOf(call, kScale, kWords, "with weights of 4 bits")) return status;
  for (const int argument : {kAntiquantScale, kAntiquantOffset}) {
    if (const auto status = NotThere(call, argument, " is not accepted with x of integers, accepted: none."))
      return status;
  }
  if (is_a4) {
    if (const auto status = NotThere(call, kOffset, " is not accepted with x of 4 bits, accepted: none."))
      return status;
    if (const auto status = NotThere(call, kBias, " is not accepted with x of 4 bits, accepted: none."))
      return status;
  } else {
    if (const auto status = IsThere(call, kBias, "with x of INT8 and weights of 4 bits")) return status;
    if (const auto status = AreOf(call, kBias, DtypeSet(ACL_FLOAT), "here")) return status;
    if (const auto status = IsThere(call, kPerToken, "with x of INT8 and weights of 4 bits")) return status;
    if (const auto status = AreOf(call, kOffset, DtypeSet(ACL_FLOAT), "here")) return status;
  }
  if (call.attributes[kActType].integer != 0) return RefuseValue(call, kActType, "0 with weights of 4 bits");
  for (const int list : {kX, kWeight, kY}) {
    if (call.Count(list) != 1) return RefuseCount(call, list, "one with x of integers and weights of 4 bits");
  }
  if (GroupTypeOf(call) != kRowSplit) return RefuseValue(call, kGroupType, "0 with weights of 4 bits");
  if (call.attributes[kListType].integer == kPairs)
    return RefuseValue(call, kListType, "0 or 1 with weights of 4 bits");
  return AreOf(call, kPerToken, DtypeSet(ACL_FLOAT), "here");
}

}  // namespace

aclnnStatus DtypesFit(const Check&, OperatorCall& call) noexcept {
  if (const auto status = EntriesThere(call)) return status;
  for (const int argument :
       {kActivationInput, kActivationScale, kActivationOffset, kActivationOut, kDynamicScale}) {
    if (const auto status = NotThere(call, argument, " is not accepted, accepted: none.")) return status;
  }
  DtypeSet of_x(ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT4, ACL_INT32);
  if (kInference.Contains(call.product)) of_x = DtypeSet(ACL_FLOAT16);
  if (VersionOf(call) == kV1) of_x = DtypeSet(ACL_FLOAT16, ACL_BF16, ACL_INT8);
  if (!products::kSinceAtlasA2.Contains(call.product) && !kInference.Contains(call.product)) of_x = {};
  if (of_x.IsEmpty())
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kX, -1,
                          " has no dtype on this product, accepted: Atlas inference, A2, A3 and Ascend 950.");
  if (const auto status = AreOf(call, kX, of_x, "here")) return status;
  const aclDataType x = DtypeOf(call, kX);
  if (const auto status = AreOf(call, kX, DtypeSet(x), "beside x[0]")) return status;
  DtypeSet of_weight(x);
  if (kHalfAndBf16.Contains(x) && !kInference.Contains(call.product))
    of_weight = DtypeSet(x, ACL_INT8, ACL_INT4, ACL_INT32);
  const bool takes_floats =
      products::kAscend950.Contains(call.product) && (VersionOf(call) == kV4 || VersionOf(call) == kV5);
  if (kHalfAndBf16.Contains(x) && takes_floats) of_weight = of_weight | kFloat8Weights;
  if (x == ACL_INT8) of_weight = DtypeSet(ACL_INT8, ACL_INT4, ACL_INT32);
  if (Is4Bits(x)) of_weight = DtypeSet(ACL_INT4, ACL_INT32);
  if (const auto status = AreOf(call, kWeight, of_weight, "with x of that dtype")) return status;
  if (const auto status = AreOf(call, kWeight, DtypeSet(DtypeOf(call, kWeight)), "beside weight[0]"))
    return status;
  if (kInference.Contains(call.product) && call.attributes[kActType].integer != 0)
    return RefuseValue(call, kActType, "on this product 0");
  switch (ModeOf(call)) {
    case Mode::kFloats:
      return FloatsFit(call);
    case Mode::kIntegers:
      return IntegersFit(call);
    case Mode::kWeightsAlone:
      return WeightsAloneFit(call);
    default:
      return FourBitsFit(call);
  }
}

}  // namespace portacl::grouped
