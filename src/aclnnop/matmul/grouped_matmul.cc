// aclnnGroupedMatmul and its versions: products of groups of rows, or of terms, each with its own weight.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/grouped_matmul_functions.h"

#include <algorithm>
#include <limits>
#include <new>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/gemm/grouped.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace matmul;
using engine::BufferRef;
using engine::GroupedOperand;
using engine::GroupedPart;
using engine::GroupedProducts;
using engine::GroupedRows;
using grouped::InElements;
using grouped::Is4Bits;
using grouped::Lying;

// Parameters that older versions lack are null pointers for them.
enum Tensors {
  kX,
  kWeight,
  kBias,
  kScale,
  kOffset,
  kAntiquantScale,
  kAntiquantOffset,
  kPerToken,
  kGroupList,
  kActivationInput,
  kActivationScale,
  kActivationOffset,
  kActivationOut,
  kDynamicScale,
  kY
};
enum Attributes { kGroups, kSplitItem, kGroupType, kListType, kActType, kTuning, kVersion };
// Values of kVersion.
enum Version : int64_t { kV1 = 1, kV2, kV3, kV4, kV5, kWeightNz };
// Values of kGroupType.
constexpr int64_t kNoSplit = -1, kRowSplit = 0, kTermSplit = 2;
// Values of kListType.
constexpr int64_t kEnds = 0, kSizes = 1, kPairs = 2;

constexpr int64_t kMostInner = 65535;
constexpr int64_t kMostTensors = 128;
constexpr int64_t kMostGroups = 1024;
constexpr int64_t kMostGroupsOfArray = 128;
constexpr DtypeSet kWords(ACL_UINT64, ACL_INT64);
constexpr DtypeSet kHalves(ACL_FLOAT16, ACL_BF16);
constexpr ProductSet kInference{Product::kAtlasInference};

// ---- properties of a call ----

int64_t VersionOf(const OperatorCall& call) { return call.attributes[kVersion].integer; }

// Counts the tensors of an argument. Returns 0 for a list that is empty, begins with a null pointer, or holds
// one tensor of the shape [0].
int CountOf(const OperatorCall& call, int argument) {
  const TensorArgument& given = call.tensors[static_cast<size_t>(argument)];
  if (!given.is_list) return given.tensor == nullptr ? 0 : 1;
  const int count = call.Count(argument);
  if (count == 0 || call.Entry(argument, 0) == nullptr) return 0;
  return count == 1 && call.Entry(argument, 0)->view == Shape{0} ? 0 : count;
}
bool Has(const OperatorCall& call, int argument) { return CountOf(call, argument) > 0; }
const aclTensor& At(const OperatorCall& call, int argument, int entry = 0) {
  return *call.Entry(argument, call.Count(argument) == 1 ? 0 : entry);
}
aclDataType DtypeOf(const OperatorCall& call, int argument) { return At(call, argument).dtype; }

// Numbers of a weight's terms and columns.
struct Lengths {
  int64_t terms, columns;
};
Lengths LengthsOf(const StridedView& weight) {
  const Shape shape = InElements(weight).view;
  return {shape[shape.rank - 2], shape[shape.rank - 1]};
}
int64_t TermsOf(const StridedView& x) {
  const Shape shape = InElements(x).view;
  return shape[shape.rank - 1];
}
int64_t RowsOf(const StridedView& x) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < x.view.rank; ++i) rows *= x.view[i];
  return rows;
}

enum class Mode : uint8_t { kFloats, kIntegers, kWeightsAlone, kA8W4, kA4W4 };
Mode ModeOf(const OperatorCall& call) {
  const aclDataType x = DtypeOf(call, kX);
  const aclDataType weight = DtypeOf(call, kWeight);
  if (Is4Bits(x)) return Mode::kA4W4;
  if (x == ACL_INT8) return weight == ACL_INT8 ? Mode::kIntegers : Mode::kA8W4;
  return x == weight ? Mode::kFloats : Mode::kWeightsAlone;
}

// Returns the group type. V1 has none: its products are separate if both sides have several tensors, or one
// each.
int64_t GroupTypeOf(const OperatorCall& call) {
  if (VersionOf(call) != kV1) return call.attributes[kGroupType].integer;
  const int x = CountOf(call, kX);
  const int y = CountOf(call, kY);
  const bool is_each = (x > 1 && y > 1) || (x == 1 && y == 1 && CountOf(call, kWeight) == 1);
  return is_each ? kNoSplit : kRowSplit;
}

// ---- checks ----

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
    if (list.view.rank != (list_type == kPairs ? 2 : 1))
      return RefuseShapeOf(call, kGroupList, 0, "one dim, of groupListType 2 two");
    if (list.dtype != ACL_INT64) return RefuseDtypeOf(call, kGroupList, 0, DtypeSet(ACL_INT64), "here");
  }
  const int64_t act = call.attributes[kActType].integer;
  if (act < 0 || act == 3 || act > 5) return RefuseValue(call, kActType, "0, 1, 2, 4 or 5");
  const bool has_pairs = type == kRowSplit && products::kAtlasA2AndA3.Contains(call.product);
  if (list_type != kEnds && list_type != kSizes && !(list_type == kPairs && has_pairs))
    return RefuseValue(call, kListType, "0 or 1, on Atlas A2 and A3 with groupType 0 also 2");
  return ACL_SUCCESS;
}

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
aclnnStatus IsThere(const OperatorCall& call, int argument, const char* with) {
  if (Has(call, argument)) return ACL_SUCCESS;
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, StartMessage(call)
                                                .Add("parameter ")
                                                .Add(call.Name(argument))
                                                .Add(" is not there, accepted: a tensor or list ")
                                                .Add(with)
                                                .Add("."));
}

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

// Only products of floats can be split by terms.
aclnnStatus TermsStay(const OperatorCall& call) {
  if (GroupTypeOf(call) != kTermSplit) return ACL_SUCCESS;
  return RefuseValue(call, kGroupType, "-1 or 0 with integers in x or weight");
}

aclnnStatus WeightsAloneFit(const OperatorCall& call) {
  if (const auto status = TermsStay(call)) return status;
  const DtypeSet x(DtypeOf(call, kX));
  if (const auto status = AreOf(call, kY, x, "with x of that dtype")) return status;
  for (const int argument : {kAntiquantScale, kAntiquantOffset}) {
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
  if (const auto status = AreOf(call, kY, kHalves, "with weights of 4 bits")) return status;
  if (const auto status = IsThere(call, kScale, "with weights of 4 bits")) return status;
  if (const auto status = AreOf(call, kScale, kWords, "with weights of 4 bits")) return status;
  for (const int argument : {kAntiquantScale, kAntiquantOffset}) {
    if (const auto status = NotThere(call, argument, " is not accepted with x of integers, accepted: none."))
      return status;
  }
  if (const auto status = NotThere(call, kOffset, " is not computed with weights of 4 bits, accepted: none."))
    return status;
  if (is_a4) {
    if (const auto status = NotThere(call, kBias, " is not accepted with x of 4 bits, accepted: none."))
      return status;
  } else {
    if (const auto status = IsThere(call, kBias, "with x of INT8 and weights of 4 bits")) return status;
    if (const auto status = AreOf(call, kBias, DtypeSet(ACL_FLOAT), "here")) return status;
    if (const auto status = IsThere(call, kPerToken, "with x of INT8 and weights of 4 bits")) return status;
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
  if (kHalves.Contains(x) && !kInference.Contains(call.product))
    of_weight = DtypeSet(x, ACL_INT8, ACL_INT4, ACL_INT32);
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

// Checks ranks, and the layout of matrices in memory.
aclnnStatus RanksFit(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  const bool is_single_weight = type == kRowSplit && CountOf(call, kWeight) == 1;
  for (int i = 0; i < CountOf(call, kX); ++i) {
    const aclTensor& x = At(call, kX, i);
    const bool fits = type == kNoSplit ? x.view.rank >= 2 && x.view.rank <= 6 : x.view.rank == 2;
    if (!fits) return RefuseShapeOf(call, kX, i, type == kNoSplit ? "2 to 6 dims" : "2 dims");
    if (type == kNoSplit && x.view.rank > 2 && !IsContiguous(x))
      return RefuseEntry(call, ACLNN_ERR_INNER_NULLPTR, kX, i,
                         " has more than 2 dims and does not lie densely, accepted: a dense tensor.");
  }
  for (int i = 0; i < CountOf(call, kWeight); ++i) {
    const aclTensor& weight = At(call, kWeight, i);
    if (weight.view.rank != (is_single_weight ? 3 : 2))
      return RefuseShapeOf(
          call, kWeight, i,
          is_single_weight ? "3 dims, [groups, terms, columns]" : "2 dims, [terms, columns]");
  }
  for (int i = 0; i < CountOf(call, kY); ++i) {
    const aclTensor& y = At(call, kY, i);
    const bool has_three = type == kTermSplit && CountOf(call, kY) == 1 && CountOf(call, kWeight) == 1;
    const int rank = type == kNoSplit ? At(call, kX, i).view.rank : has_three ? 3 : 2;
    if (y.view.rank != rank) {
      return RefuseShapeOf(call, kY, i,
                           type == kNoSplit ? "as many dims as x has" : "2 dims, of one result of terms 3");
    }
    if (y.view.rank > 2 && type == kNoSplit && !IsContiguous(y))
      return RefuseEntry(call, ACLNN_ERR_INNER_NULLPTR, kY, i,
                         " has more than 2 dims and does not lie densely, accepted: a dense tensor.");
  }
  const bool is_transposed_x = IsTransposed(Lying(At(call, kX)));
  const bool is_transposed_weight = IsTransposed(Lying(At(call, kWeight)));
  if (is_transposed_x && is_transposed_weight)
    return RefuseShapeOf(call, kWeight, 0, "one that is not transposed where x is");
  if (type != kTermSplit && is_transposed_x) return RefuseShapeOf(call, kX, 0, "one that is not transposed");
  return ACL_SUCCESS;
}

aclnnStatus CountsFit(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  const int x = CountOf(call, kX);
  const int weight = CountOf(call, kWeight);
  const int y = CountOf(call, kY);
  if (x > kMostTensors || weight > kMostTensors)
    return RefuseCount(call, x > kMostTensors ? kX : kWeight, "at most 128");
  if (type == kNoSplit) {
    if (weight != x) return RefuseCount(call, kWeight, "as many as x has");
    return y == x ? ACL_SUCCESS : RefuseCount(call, kY, "as many as x has");
  }
  if (type == kTermSplit) {
    if (x != 1) return RefuseCount(call, kX, "one where terms are cut");
    if (weight == 1 && y == 1) return ACL_SUCCESS;
    return y == weight ? ACL_SUCCESS : RefuseCount(call, kY, "as many as weight has");
  }
  if (x > 1) {
    if (weight != x) return RefuseCount(call, kWeight, "as many as x has");
    return y == 1 ? ACL_SUCCESS : RefuseCount(call, kY, "one of several x that are put together");
  }
  if (y == 1) return ACL_SUCCESS;
  if (VersionOf(call) > kV2) return RefuseCount(call, kY, "one of one x");
  return y == weight ? ACL_SUCCESS : RefuseCount(call, kY, "as many as weight has");
}

// Checks an array of ends: one for each group, ascending, the last one equal to `all`.
aclnnStatus ArrayFits(const OperatorCall& call, int64_t groups, int64_t all) {
  const aclIntArray* const array = call.attributes[kGroups].array;
  const auto refuse = [&](const char* what) {
    Text message = StartMessage(call).Add("parameter ").Add(call.attributes[kGroups].name).Add(what);
    return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(all).Add("."));
  };
  const auto& values = array->values;
  if (std::ssize(values) > kMostGroupsOfArray || std::ssize(values) != groups)
    return refuse(" has another length, accepted: a value for each group, at most 128, that end at ");
  int64_t before = 0;
  for (const int64_t value : values) {
    if (value < before)
      return refuse(" has a value below the one before or 0, accepted: ends of groups, up to ");
    before = value;
  }
  return before == all ? ACL_SUCCESS : refuse(" has another last value, accepted: ends of groups, the last ");
}
bool HasArray(const OperatorCall& call) {
  const aclIntArray* const array = call.attributes[kGroups].array;
  return array != nullptr && !array->values.empty();
}

// Returns the number of groups.
int64_t GroupsOf(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  if (type == kRowSplit && CountOf(call, kWeight) == 1) return At(call, kWeight).view[0];
  if (type == kTermSplit && CountOf(call, kY) == 1 && CountOf(call, kWeight) == 1)
    return At(call, kY).view[0];
  return CountOf(call, kWeight);
}

aclnnStatus LengthsFit(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  const int x_count = CountOf(call, kX);
  const int weights = CountOf(call, kWeight);
  const int y_count = CountOf(call, kY);
  const bool is_nz = VersionOf(call) == kWeightNz;
  for (const int list : {kX, kWeight}) {
    for (int i = 0; i < CountOf(call, list); ++i) {
      if (!grouped::WordsLieTogether(At(call, list, i)))
        return RefuseShapeOf(call, list, i,
                             "words of 4 bits side by side along a matrix's last dim, or the "
                             "one before where it is transposed");
    }
  }
  for (int i = 0; i < weights; ++i) {
    const aclTensor& tensor = At(call, kWeight, i);
    const Lengths weight = LengthsOf(tensor);
    const int64_t terms = TermsOf(At(call, kX, i));
    if (type != kTermSplit && weight.terms != terms)
      return RefuseShapeOf(call, kWeight, i, "as many terms as x has columns");
    const bool is_transposed = IsTransposed(Lying(tensor));
    if (type == kRowSplit && !is_transposed && weight.columns > kMostInner)
      return RefuseShapeOf(call, kWeight, i, "at most 65535 columns, or transposed");
    const int64_t inner = is_transposed ? weight.terms : weight.columns;
    if (Is4Bits(tensor.dtype) && inner % 2 != 0)
      return RefuseShapeOf(call, kWeight, i, "an even number of elements of 4 bits side by side");
    if (!is_nz) continue;
    const bool is_16 = StorageBits(tensor.dtype) == 16;
    const int64_t of_terms = is_transposed ? (is_16 ? 16 : tensor.dtype == ACL_INT8 ? 32 : 64) : 16;
    const int64_t of_columns = is_transposed ? 16 : is_16 ? 16 : tensor.dtype == ACL_INT8 ? 32 : 64;
    if (weight.terms % of_terms != 0 || weight.columns % of_columns != 0)
      return RefuseShapeOf(
          call, kWeight, i,
          "terms and columns in whole blocks of FRACTAL_NZ: of 16 and 16, of INT8 32, of 4 bits "
          "64 of what lies side by side");
  }
  for (int i = 0; i < x_count; ++i) {
    if (type == kRowSplit && TermsOf(At(call, kX, i)) > kMostInner)
      return RefuseShapeOf(call, kX, i, "at most 65535 columns");
    if (Is4Bits(DtypeOf(call, kX)) && TermsOf(At(call, kX, i)) % 2 != 0)
      return RefuseShapeOf(call, kX, i, "an even number of columns of 4 bits");
  }
  const int64_t groups = GroupsOf(call);
  // Checks the results.
  int64_t rows = 0;
  int64_t terms = 0;
  for (int i = 0; i < x_count; ++i) rows += RowsOf(At(call, kX, i));
  for (int i = 0; i < weights; ++i) terms += LengthsOf(At(call, kWeight, i)).terms;
  int64_t result_rows = 0;
  for (int i = 0; i < y_count; ++i) {
    const Shape& y = At(call, kY, i).view;
    if (y[y.rank - 1] != LengthsOf(At(call, kWeight, i)).columns)
      return RefuseShapeOf(call, kY, i, "as many columns as weight has");
    if (type == kNoSplit) {
      const Shape& x = At(call, kX, i).view;
      for (int dim = 0; dim + 1 < x.rank; ++dim) {
        if (y[dim] != x[dim]) return RefuseShapeOf(call, kY, i, "x's dims but the last");
      }
    }
    if (type == kTermSplit && y[y.rank - 2] != At(call, kX).view[0])
      return RefuseShapeOf(call, kY, i, "as many rows as x has");
    result_rows += y[y.rank - 2];
  }
  for (int i = 0; i < weights && type == kRowSplit; ++i) {
    if (LengthsOf(At(call, kWeight, i)).columns != At(call, kY, i).view[1])
      return RefuseShapeOf(call, kWeight, i, "as many columns as y has");
  }
  if (type == kRowSplit && result_rows != rows)
    return RefuseShapeOf(call, kY, 0, "as many rows as x has, all tensors together");
  if (type == kTermSplit && terms != TermsOf(At(call, kX)))
    return RefuseShapeOf(call, kWeight, 0, "as many terms as x has columns, all tensors together");
  if (type == kTermSplit && weights > 1 && Has(call, kGroupList))
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kGroupList, -1,
                          " is not accepted where every group has a weight of its own, accepted: none.");
  if (type == kTermSplit && weights > 1 && HasArray(call))
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     StartMessage(call)
                         .Add("parameter ")
                         .Add(call.attributes[kGroups].name)
                         .Add(" is not accepted where every group has a weight of its own, accepted: none."));
  // Checks the group lists.
  const bool needs_list = type != kNoSplit && x_count == 1 && !(type == kTermSplit && weights > 1) &&
                          !(y_count > 1 && !HasArray(call));
  const bool is_dynamic = Has(call, kGroupList);
  if (type == kNoSplit && is_dynamic)
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kGroupList, -1,
                          " is not accepted where groupType is -1, accepted: none.");
  if (needs_list && !is_dynamic && !HasArray(call)) {
    if (VersionOf(call) <= kV2) {
      return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                       StartMessage(call)
                           .Add("parameter ")
                           .Add(call.attributes[kGroups].name)
                           .Add(" is not there, accepted: ends of groups of one x."));
    }
    return IsThere(call, kGroupList, "of groups of one x");
  }
  if (is_dynamic && x_count == 1) {
    const aclTensor& list = At(call, kGroupList);
    const bool has_pairs = call.attributes[kListType].integer == kPairs;
    if (list.view.IsEmpty()) return RefuseShapeOf(call, kGroupList, 0, "an element for each group");
    if (list.view[0] > kMostGroups) return RefuseShapeOf(call, kGroupList, 0, "at most 1024 groups");
    if (has_pairs ? list.view[1] != 2 : list.view[0] != groups)
      return RefuseShapeOf(call, kGroupList, 0, "an element for each group, of groupListType 2 pairs");
  }
  if (HasArray(call)) {
    if (type == kNoSplit && VersionOf(call) != kV1) {
      return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                       StartMessage(call)
                           .Add("parameter ")
                           .Add(call.attributes[kGroups].name)
                           .Add(" is not accepted where groupType is -1, accepted: none."));
    }
    if (const auto status = ArrayFits(call, groups, type == kTermSplit ? TermsOf(At(call, kX)) : rows))
      return status;
    int64_t before = 0;
    const auto& values = call.Array(kGroups);
    for (size_t i = 0; i < values.size() && type != kTermSplit; ++i) {
      const auto entry = static_cast<int>(i);
      const bool differs = (x_count > 1 && values[i] - before != RowsOf(At(call, kX, entry))) ||
                           (y_count > 1 && values[i] - before != At(call, kY, entry).view[0]);
      if (differs)
        return RefuseShapeOf(call, x_count > 1 ? kX : kY, entry,
                             "as many rows as its group in groupList has");
      before = values[i];
    }
  }
  return ACL_SUCCESS;
}

// Tells whether per-weight numbers have the shape `each`, with a leading dim of groups where weights have
// one.
bool HasShape(const OperatorCall& call, int argument, int entry, int64_t groups, const Shape& each) {
  const Shape& shape = At(call, argument, entry).view;
  const bool has_groups = At(call, kWeight).view.rank == 3;
  if (!has_groups && shape == each) return true;
  Shape all;
  all.rank = each.rank + 1;
  all.dim[0] = has_groups ? groups : 1;
  std::copy_n(each.dim, each.rank, all.dim + 1);
  return shape == all;
}

aclnnStatus NumbersFit(const OperatorCall& call) {
  const int64_t groups = GroupsOf(call);
  const int weights = CountOf(call, kWeight);
  const bool is_950 = products::kAscend950.Contains(call.product);
  for (const int argument : {kBias, kScale, kAntiquantScale, kAntiquantOffset}) {
    const int count = CountOf(call, argument);
    if (count == 0) continue;
    if (argument == kBias && GroupTypeOf(call) == kTermSplit)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, argument, -1,
                            " is not accepted where terms are cut, accepted: none.");
    if (argument == kScale && DtypeOf(call, kY) == ACL_INT32) continue;
    if (count != weights) return RefuseCount(call, argument, "as many as weight has");
    for (int i = 0; i < count; ++i) {
      const Lengths weight = LengthsOf(At(call, kWeight, i));
      const Shape& shape = At(call, argument, i).view;
      const bool takes_groups = argument != kBias && Is4Bits(DtypeOf(call, kWeight));
      bool fits = HasShape(call, argument, i, groups, Shape{weight.columns});
      if (!fits && is_950 && argument == kScale && weights == 1)
        fits = shape == Shape{groups} || shape == Shape{groups, 1};
      if (!fits && takes_groups && shape.rank >= 2) {
        const int64_t of_terms = shape[shape.rank - 2];
        fits = of_terms > 0 && weight.terms % of_terms == 0 &&
               HasShape(call, argument, i, groups, Shape{of_terms, weight.columns});
      }
      if (!fits)
        return RefuseShapeOf(
            call, argument, i,
            "an element for each column of each group, of 4 bits for each group of terms too");
    }
  }
  if (Has(call, kAntiquantScale)) {
    for (int i = 0; i < weights; ++i) {
      if (!(At(call, kAntiquantScale, i).view == At(call, kAntiquantOffset, i).view))
        return RefuseShapeOf(call, kAntiquantOffset, i, "antiquantScale's shape");
    }
  }
  if (Has(call, kPerToken) && DtypeOf(call, kY) != ACL_INT32) {
    const int64_t rows = RowsOf(At(call, kX));
    const Shape& shape = At(call, kPerToken).view;
    const bool is_column = Is4Bits(DtypeOf(call, kWeight)) && shape == Shape{rows, 1};
    if (CountOf(call, kX) != 1 || CountOf(call, kY) != 1)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kPerToken, -1,
                            " is not accepted with several x or y, accepted: none.");
    if (!(shape == Shape{rows}) && !is_column)
      return RefuseShapeOf(call, kPerToken, 0, "an element for each row of x");
  }
  const aclIntArray* const tuning = call.attributes[kTuning].array;
  if (tuning != nullptr && !tuning->values.empty()) {
    int64_t most = 0;
    for (int i = 0; i < CountOf(call, kX); ++i) most = std::max(most, RowsOf(At(call, kX, i)));
    const int64_t value = tuning->values[0];
    if (value < 0 || value > most)
      return FailAclnn(ACLNN_ERR_PARAM_INVALID, StartMessage(call)
                                                    .Add("parameter tuningConfigOptional begins with ")
                                                    .Add(value)
                                                    .Add(", accepted: 0 to ")
                                                    .Add(most)
                                                    .Add(", the rows of x."));
  }
  return ACL_SUCCESS;
}

aclnnStatus FormatsFit(const OperatorCall& call) {
  for (int argument = kX; argument <= kY; ++argument) {
    for (int i = 0; i < CountOf(call, argument); ++i) {
      const aclFormat format = At(call, argument, i).format;
      const bool is_weight = argument == kWeight;
      if (!IsPrivateFormat(format) || (is_weight && format == ACL_FORMAT_FRACTAL_NZ)) continue;
      return RefuseEntry(call, ACLNN_ERR_PARAM_INVALID, argument, i,
                         " has a private format, accepted: none, but FRACTAL_NZ of weights.");
    }
  }
  if (VersionOf(call) != kWeightNz) return ACL_SUCCESS;
  for (int i = 0; i < CountOf(call, kWeight); ++i) {
    if (At(call, kWeight, i).format != ACL_FORMAT_FRACTAL_NZ)
      return RefuseEntry(call, ACLNN_ERR_PARAM_INVALID, kWeight, i,
                         " has another format, accepted: FRACTAL_NZ.");
  }
  return ACL_SUCCESS;
}

aclnnStatus StructureFits(const Check&, OperatorCall& call) noexcept {
  for (int argument = kX; argument <= kY; ++argument) {
    for (int i = 0; i < CountOf(call, argument); ++i) {
      if (!At(call, argument, i).countable)
        return RefuseShapeOf(call, argument, i, "dims of at least 0, of elements that can be counted");
    }
  }
  if (const auto status = CountsFit(call)) return status;
  if (const auto status = RanksFit(call)) return status;
  if (const auto status = FormatsFit(call)) return status;
  if (const auto status = LengthsFit(call)) return status;
  return NumbersFit(call);
}

aclnnStatus NothingToDo(const Check&, OperatorCall& call) noexcept {
  for (int i = 0; i < CountOf(call, kX); ++i) {
    if (!At(call, kX, i).view.IsEmpty()) return ACL_SUCCESS;
  }
  // Groups without terms give zeros.
  const Shape& x = At(call, kX).view;
  if (GroupTypeOf(call) == kTermSplit && x[0] > 0) return ACL_SUCCESS;
  call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus Lies(const Check&, OperatorCall& call) noexcept {
  return grouped::CheckLies(call, kX, kGroupList);
}

constexpr Check kChecks[] = {
    Custom(ListsThere),       Custom(ModesFit),    Custom(DtypesFit), Custom(StructureFits),
    SizesRepresentable({kY}), Custom(NothingToDo), Custom(Lies),
};

// ---- the job ----

struct GroupedMatmulJob {
  bool has_input;
  bool has_rows;
  engine::GroupedInput input;
  GroupedProducts products;
  GroupedRows rows;

  // The operands that phase 2 reads are marked when the job is set.
  bool Touches(int) const noexcept { return false; }
  int64_t Elements() const noexcept { return products.Elements(); }
  void Run(const JobContext& context) const noexcept {
    if (has_input) input.Run(context);
    products.Run(context);
    if (has_rows) rows.Run(context);
  }
};

class Maker {
 public:
  Maker(const OperatorCall& call, Executor& executor)
      : call_(call), executor_(executor), mode_(ModeOf(call)), type_(GroupTypeOf(call)) {}

  void Make() {
    if (!HasMemoryFor()) return;
    products_.isa = call_.isa;
    products_.threads = call_.threads;
    products_.raises = CurrentConfiguration().index_errors_raise;
    products_.name = call_.Name(kGroupList);
    const bool is_single = CountOf(call_, kX) == 1 && CountOf(call_, kY) == 1;
    const bool is_dynamic = Has(call_, kGroupList) && is_single && type_ != kNoSplit;
    const int64_t groups = GroupsOf(call_);
    products_.groups = groups;
    if (is_dynamic) {
      SetList();
      products_.cut = type_ == kRowSplit ? GroupedProducts::Cut::kRows : GroupedProducts::Cut::kTerms;
    }
    products_.has_part_each = !is_dynamic || CountOf(call_, kWeight) > 1;
    products_.schedule = Workspace(8 * products_.ScheduleWords());
    SetInput();
    SetSums();
    if (!products_.has_part_each) {
      products_.part = PartOf(0);
    } else {
      std::byte* const memory =
          executor_.ReserveMemory(static_cast<size_t>(std::max<int64_t>(groups, 1)) * sizeof(GroupedPart));
      if (memory == nullptr) return;
      for (int64_t i = 0; i < groups; ++i) {
        const GroupedPart part = is_dynamic ? PartOf(static_cast<int>(i)) : StaticPart(static_cast<int>(i));
        new (memory + static_cast<size_t>(i) * sizeof(GroupedPart)) GroupedPart(part);
        if (i == 0) products_.part = part;
      }
      products_.parts = {BufferRef::kMemory, 0};
    }
    executor_.SetJob([&] { return GroupedMatmulJob{has_input_, has_rows_, input_, products_, rows_}; });
    for (int argument = kX; argument <= kY; ++argument) {
      const bool is_read = argument < kGroupList || argument == kY || (argument == kGroupList && is_dynamic);
      if (!is_read || !IsUsed(argument)) continue;
      for (int i = 0; i < CountOf(call_, argument); ++i) {
        if (!At(call_, argument, i).view.IsEmpty()) executor_.touched[call_.OperandOf(argument, i)] = true;
      }
    }
  }

 private:
  // An expanded tensor takes no memory itself, but its converted elements do.
  bool HasMemoryFor() const {
    constexpr int64_t kMost = int64_t{1} << 48;
    for (const int argument : {kX, kY}) {
      for (int i = 0; i < CountOf(call_, argument); ++i) {
        const int64_t numel = At(call_, argument, i).numel;
        if (numel <= kMost) continue;
        executor_.RefuseSize(call_.Name(argument), numel);
        return false;
      }
    }
    return true;
  }

  bool IsUsed(int argument) const {
    return DtypeOf(call_, kY) != ACL_INT32 || (argument != kScale && argument != kPerToken);
  }

  BufferRef Workspace(int64_t bytes) {
    const BufferRef buffer{BufferRef::kWorkspace, static_cast<int64_t>(executor_.workspace_size)};
    executor_.workspace_size += (static_cast<uint64_t>(bytes) + 63) / 64 * 64;
    return buffer;
  }

  GroupedOperand Operand(int argument, int entry, bool has_rows, bool has_groups) const {
    return grouped::OperandOf(call_, argument, entry, has_rows, has_groups);
  }

  void SetList() {
    const int64_t kind = call_.attributes[kListType].integer;
    using List = GroupedProducts::List;
    List list = kind == kEnds ? List::kEnds : kind == kSizes ? List::kSizes : List::kPairs;
    // An INT8 x with 4-bit weights reads the list as sizes, whatever its type is.
    if (mode_ == Mode::kA8W4) list = List::kSizes;
    grouped::SetList(products_, call_, kGroupList, list);
  }

  void SetInput() {
    if (mode_ != Mode::kA8W4 && mode_ != Mode::kA4W4) return;
    has_input_ = true;
    const StridedView view = InElements(At(call_, kX));
    input_.isa = products_.isa;
    input_.threads = products_.threads;
    input_.rows = view.view[0];
    input_.columns = view.view[1];
    const bool unpacks_nibbles = mode_ == Mode::kA4W4;
    input_.kind =
        unpacks_nibbles ? engine::GroupedInput::Kind::kUnpackNibbles : engine::GroupedInput::Kind::kLess8;
    input_.from = Operand(kX, 0, true, false);
    if (unpacks_nibbles) {
      input_.from.buffer.offset = 0;
      input_.first = view.offset;
      input_.from.row = view.strides[0];
      input_.from.column = view.strides[1];
    }
    input_.to = Workspace(input_.rows * input_.columns * (unpacks_nibbles ? 1 : 2));
  }

  // Keeps the sums in FLOAT where rows need more work after the product.
  void SetSums() {
    const int64_t act = call_.attributes[kActType].integer;
    const bool is_4_bits = mode_ == Mode::kA8W4 || mode_ == Mode::kA4W4;
    if (!is_4_bits && (act == 0 || DtypeOf(call_, kY) == ACL_INT32)) return;
    has_rows_ = true;
    using Function = GroupedRows::Function;
    rows_.function = act == 1   ? Function::kRelu
                     : act == 2 ? Function::kGeluTanh
                     : act == 4 ? Function::kFastGelu
                     : act == 5 ? Function::kSilu
                                : Function::kNone;
    for (int i = 0; i < CountOf(call_, kX); ++i) rows_.rows += RowsOf(At(call_, kX, i));
    rows_.columns = LengthsOf(At(call_, kWeight)).columns;
    rows_.sums = Workspace(rows_.rows * rows_.columns * 4);
    rows_.covered = products_.schedule;
    rows_.out = Operand(kY, 0, true, false);
    if (At(call_, kY).view.rank > 2)
      rows_.out.row = rows_.columns * static_cast<int64_t>(StorageBits(rows_.out.dtype) / 8);
    rows_.threads = products_.threads;
    SetFunction(rows_, products_.isa);
    if (is_4_bits && Has(call_, kPerToken)) {
      rows_.factor = Operand(kPerToken, 0, At(call_, kPerToken).view.rank == 2, false);
      if (At(call_, kPerToken).view.rank == 1) rows_.factor.row = rows_.factor.column;
      rows_.factor.column = 0;
    }
  }

  // Returns numbers that belong to a weight: one for each column, or, on Ascend 950, one for all.
  GroupedOperand NumbersOf(int argument, int entry) const {
    if (!Has(call_, argument)) return {};
    const StridedView view = Lying(At(call_, argument, entry));
    const bool has_groups = At(call_, kWeight).view.rank == 3;
    const int own = view.view.rank - (has_groups ? 1 : 0);
    GroupedOperand numbers = Operand(argument, entry, own >= 2, has_groups);
    if (own == 0) std::swap(numbers.step, numbers.column);
    if (StorageBits(view.dtype) == 64) numbers.dtype = ACL_FLOAT;  // lower half of a word
    return numbers;
  }

  GroupedPart PartOf(int group) const {
    GroupedPart part{};
    const aclTensor& x = At(call_, kX, group);
    const StridedView weight = InElements(At(call_, kWeight, group));
    const int last = weight.view.rank - 1;
    part.rows = RowsOf(x);
    part.depth = TermsOf(x);
    part.columns = weight.view[last];
    part.left = Operand(kX, group, true, false);
    if (has_input_) {
      const bool unpacks_nibbles = mode_ == Mode::kA4W4;
      part.left.buffer = input_.to;
      part.left.dtype = unpacks_nibbles ? ACL_INT8 : ACL_BF16;
      part.left.column = unpacks_nibbles ? 1 : 2;
      part.left.row = part.depth * part.left.column;
    }
    part.right = Operand(kWeight, group, true, last == 2);
    part.out = Operand(kY, group, true, type_ == kTermSplit);
    if (has_rows_) {
      part.out = {true, rows_.sums, ACL_FLOAT, rows_.columns * 4, 4, 0};
    }
    if (Has(call_, kBias)) {
      part.added = NumbersOf(kBias, group);
      part.added.row = 0;
    }
    switch (mode_) {
      case Mode::kFloats:
        break;
      case Mode::kIntegers:
        part.kind = GroupedPart::Kind::kIntegers;
        if (DtypeOf(call_, kY) == ACL_INT32) break;
        part.scale = NumbersOf(kScale, group);
        part.scale.row = 0;
        if (Has(call_, kPerToken)) {
          part.factor = Operand(kPerToken, 0, false, false);
          part.factor.row = part.factor.column;
          part.factor.column = 0;
        }
        break;
      default:
        SetWeights(part, group);
    }
    return part;
  }

  void SetWeights(GroupedPart& part, int group) const {
    grouped::SetWeights(part, call_, kWeight, group);
    const bool has_all = At(call_, kWeight).view.rank == 3;
    const bool is_alone = mode_ == Mode::kWeightsAlone;
    const int scale = is_alone ? kAntiquantScale : kScale;
    part.scale = NumbersOf(scale, group);
    if (is_alone) part.offset = NumbersOf(kAntiquantOffset, group);
    part.rounds_weights = is_alone;
    const Shape& shape = At(call_, scale, group).view;
    // A separate weight may have a leading dim of 1 in its numbers.
    const bool has_groups = shape.rank >= (has_all ? 3 : 2);
    part.group_terms = std::max<int64_t>(has_groups ? part.depth / shape[shape.rank - 2] : part.depth, 1);
    if (!has_groups) part.scale.row = part.offset.row = 0;
  }

  // Returns a product that no group list splits. Its rows, or terms, follow those of the products before it.
  GroupedPart StaticPart(int group) const {
    GroupedPart part = PartOf(group);
    if (type_ == kNoSplit) {
      // With more than two dims, all but the last are rows, which are dense.
      if (At(call_, kX, group).view.rank > 2) {
        part.left.row = part.depth * static_cast<int64_t>(StorageBits(part.left.dtype) / 8);
        part.out.row = part.columns * static_cast<int64_t>(StorageBits(part.out.dtype) / 8);
      }
      return part;
    }
    int64_t begin = 0;
    int64_t size = 0;
    for (int i = 0; i <= group; ++i) {
      begin += size;
      size = SizeOf(i);
    }
    if (type_ == kRowSplit) {
      const bool is_one_x = CountOf(call_, kX) == 1;
      const bool is_one_y = CountOf(call_, kY) == 1;
      part.rows = size;
      if (is_one_x || has_input_) part.left.buffer.offset += begin * part.left.row;
      if (is_one_y || has_rows_) part.out.buffer.offset += begin * part.out.row;
      if (is_one_x && part.factor.is_there) part.factor.buffer.offset += begin * part.factor.row;
      if (CountOf(call_, kWeight) == 1) {
        for (GroupedOperand* const operand : {&part.right, &part.added, &part.scale, &part.offset}) {
          const bool is_elements = operand == &part.right && part.kind == GroupedPart::Kind::kWeights;
          (is_elements ? part.first_weight : operand->buffer.offset) += group * operand->step;
        }
      }
      return part;
    }
    part.depth = size;
    part.left.buffer.offset += begin * part.left.column;
    if (CountOf(call_, kWeight) == 1) part.right.buffer.offset += begin * part.right.row;
    if (CountOf(call_, kY) == 1) part.out.buffer.offset += group * part.out.step;
    return part;
  }
  int64_t SizeOf(int group) const {
    if (HasArray(call_)) {
      const auto& values = call_.Array(kGroups);
      const auto i = static_cast<size_t>(group);
      return values[i] - (i == 0 ? 0 : values[i - 1]);
    }
    if (type_ == kTermSplit) return LengthsOf(At(call_, kWeight, group)).terms;
    return CountOf(call_, kX) > 1 ? RowsOf(At(call_, kX, group)) : At(call_, kY, group).view[0];
  }

  const OperatorCall& call_;
  Executor& executor_;
  Mode mode_;
  int64_t type_;
  bool has_input_ = false;
  bool has_rows_ = false;
  engine::GroupedInput input_{};
  GroupedProducts products_{};
  GroupedRows rows_{};
};

void SetProducts(const OperatorCall& call, Executor& executor) { Maker(call, executor).Make(); }

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupedMatmul) { return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts); }
PORTACL_PHASE_1(aclnnGroupedMatmulV2) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulV3) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulV4) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulV5) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulWeightNz) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
