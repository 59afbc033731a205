// Shapes, formats and lengths of grouped matrix products (see grouped_checks.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/matmul/grouped_call.h"
#include "aclnnop/matmul/grouped_checks.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl::grouped {

using namespace matmul;

namespace {

constexpr int64_t kMostInner = 65535;
constexpr int64_t kMostTensors = 128;
constexpr int64_t kMostTensorsOfFloats = 1024;  // on Ascend 950
constexpr int64_t kMostGroups = 1024;
constexpr int64_t kMostGroupsOfArray = 128;

aclnnStatus RanksFit(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  const bool is_single_weight = type == kRowSplit && CountOf(call, kWeight) == 1;
  for (int i = 0; i < CountOf(call, kX); ++i) {
    const aclTensor& x = At(call, kX, i);
    const bool fits = type == kNoSplit ? x.shape.rank >= 2 && x.shape.rank <= 6 : x.shape.rank == 2;
    if (!fits) return RefuseShapeOf(call, kX, i, type == kNoSplit ? "2 to 6 dims" : "2 dims");
    if (type == kNoSplit && x.shape.rank > 2 && !IsContiguous(x))
      return RefuseEntry(call, ACLNN_ERR_INNER_NULLPTR, kX, i,
                         " has more than 2 dims and does not lie densely, accepted: a dense tensor.");
  }
  for (int i = 0; i < CountOf(call, kWeight); ++i) {
    const aclTensor& weight = At(call, kWeight, i);
    if (weight.shape.rank != (is_single_weight ? 3 : 2))
      return RefuseShapeOf(
          call, kWeight, i,
          is_single_weight ? "3 dims, [groups, terms, columns]" : "2 dims, [terms, columns]");
  }
  for (int i = 0; i < CountOf(call, kY); ++i) {
    const aclTensor& y = At(call, kY, i);
    const bool has_three = type == kTermSplit && CountOf(call, kY) == 1 && CountOf(call, kWeight) == 1;
    const int rank = type == kNoSplit ? At(call, kX, i).shape.rank : has_three ? 3 : 2;
    if (y.shape.rank != rank) {
      return RefuseShapeOf(call, kY, i,
                           type == kNoSplit ? "as many dims as x has" : "2 dims, of one result of terms 3");
    }
    if (y.shape.rank > 2 && type == kNoSplit && !IsContiguous(y))
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
  const bool takes_more = products::kAscend950.Contains(call.product) && ModeOf(call) == Mode::kFloats;
  const int64_t most = takes_more ? kMostTensorsOfFloats : kMostTensors;
  if (x > most || weight > most)
    return RefuseCount(call, x > most ? kX : kWeight, takes_more ? "at most 1024" : "at most 128");
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

aclnnStatus OperandLengthsFit(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  const int x_count = CountOf(call, kX);
  const int weights = CountOf(call, kWeight);
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
  return ACL_SUCCESS;
}

// Returns the rows of all x together.
int64_t RowsOfAll(const OperatorCall& call) {
  int64_t rows = 0;
  for (int i = 0; i < CountOf(call, kX); ++i) rows += RowsOf(At(call, kX, i));
  return rows;
}

aclnnStatus ResultLengthsFit(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  const int weights = CountOf(call, kWeight);
  const int y_count = CountOf(call, kY);
  const int64_t rows = RowsOfAll(call);
  int64_t terms = 0;
  for (int i = 0; i < weights; ++i) terms += LengthsOf(At(call, kWeight, i)).terms;
  int64_t result_rows = 0;
  for (int i = 0; i < y_count; ++i) {
    const Shape& y = At(call, kY, i).shape;
    if (y[y.rank - 1] != LengthsOf(At(call, kWeight, i)).columns)
      return RefuseShapeOf(call, kY, i, "as many columns as weight has");
    if (type == kNoSplit) {
      const Shape& x = At(call, kX, i).shape;
      for (int dim = 0; dim + 1 < x.rank; ++dim) {
        if (y[dim] != x[dim]) return RefuseShapeOf(call, kY, i, "x's dims but the last");
      }
    }
    if (type == kTermSplit && y[y.rank - 2] != At(call, kX).shape[0])
      return RefuseShapeOf(call, kY, i, "as many rows as x has");
    result_rows += y[y.rank - 2];
  }
  for (int i = 0; i < weights && type == kRowSplit; ++i) {
    if (LengthsOf(At(call, kWeight, i)).columns != At(call, kY, i).shape[1])
      return RefuseShapeOf(call, kWeight, i, "as many columns as y has");
  }
  if (type == kRowSplit && result_rows != rows)
    return RefuseShapeOf(call, kY, 0, "as many rows as x has, all tensors together");
  if (type == kTermSplit && terms != TermsOf(At(call, kX)))
    return RefuseShapeOf(call, kWeight, 0, "as many terms as x has columns, all tensors together");
  return ACL_SUCCESS;
}

aclnnStatus GroupListsFit(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  const int x_count = CountOf(call, kX);
  const int weights = CountOf(call, kWeight);
  const int y_count = CountOf(call, kY);
  const int64_t groups = GroupsOf(call);
  if (type == kTermSplit && weights > 1 && Has(call, kGroupList))
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kGroupList, -1,
                          " is not accepted where every group has a weight of its own, accepted: none.");
  if (type == kTermSplit && weights > 1 && HasArray(call))
    return FailAclnn(ACLNN_ERR_PARAM_INVALID,
                     StartMessage(call)
                         .Add("parameter ")
                         .Add(call.attributes[kGroups].name)
                         .Add(" is not accepted where every group has a weight of its own, accepted: none."));
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
    if (list.shape.IsEmpty()) return RefuseShapeOf(call, kGroupList, 0, "an element for each group");
    if (list.shape[0] > kMostGroups) return RefuseShapeOf(call, kGroupList, 0, "at most 1024 groups");
    if (has_pairs ? list.shape[1] != 2 : list.shape[0] != groups)
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
    if (const auto status =
            ArrayFits(call, groups, type == kTermSplit ? TermsOf(At(call, kX)) : RowsOfAll(call)))
      return status;
    int64_t before = 0;
    const auto& values = call.Array(kGroups);
    for (size_t i = 0; i < values.size() && type != kTermSplit; ++i) {
      const auto entry = static_cast<int>(i);
      const bool differs = (x_count > 1 && values[i] - before != RowsOf(At(call, kX, entry))) ||
                           (y_count > 1 && values[i] - before != At(call, kY, entry).shape[0]);
      if (differs)
        return RefuseShapeOf(call, x_count > 1 ? kX : kY, entry,
                             "as many rows as its group in groupList has");
      before = values[i];
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus LengthsFit(const OperatorCall& call) {
  if (const auto status = OperandLengthsFit(call)) return status;
  if (const auto status = ResultLengthsFit(call)) return status;
  return GroupListsFit(call);
}

// Tells whether per-weight numbers have the shape `each`, with a leading dim of groups where weights have
// one.
bool HasShape(const OperatorCall& call, int argument, int entry, int64_t groups, const Shape& each) {
  const Shape& shape = At(call, argument, entry).shape;
  const bool has_groups = At(call, kWeight).shape.rank == 3;
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
      const Shape& shape = At(call, argument, i).shape;
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
  if (Has(call, kOffset)) {
    if (CountOf(call, kOffset) != 1) return RefuseCount(call, kOffset, "one");
    if (!(At(call, kOffset).shape == Shape{groups, 1, LengthsOf(At(call, kWeight)).columns}))
      return RefuseShapeOf(call, kOffset, 0, "[groups, 1, columns]");
  }
  if (Has(call, kAntiquantScale) && Has(call, kAntiquantOffset)) {
    for (int i = 0; i < weights; ++i) {
      if (!(At(call, kAntiquantScale, i).shape == At(call, kAntiquantOffset, i).shape))
        return RefuseShapeOf(call, kAntiquantOffset, i, "antiquantScale's shape");
    }
  }
  if (Has(call, kPerToken) && DtypeOf(call, kY) != ACL_INT32) {
    const int64_t rows = RowsOf(At(call, kX));
    const Shape& shape = At(call, kPerToken).shape;
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

}  // namespace

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
    if (!At(call, kX, i).shape.IsEmpty()) return ACL_SUCCESS;
  }
  // Groups without terms give zeros.
  const Shape& x = At(call, kX).shape;
  if (GroupTypeOf(call) == kTermSplit && x[0] > 0) return ACL_SUCCESS;
  call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

aclnnStatus Lies(const Check&, OperatorCall& call) noexcept {
  return grouped::CheckLies(call, kX, kGroupList);
}

}  // namespace portacl::grouped
