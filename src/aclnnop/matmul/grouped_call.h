// A call of a grouped matrix product: its parameters in every version, and the properties that follow from them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/jobs/grouped_operands.h"
#include "contract/arguments.h"
#include "contract/checks.h"

namespace portacl::grouped {

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
inline constexpr int64_t kNoSplit = -1, kRowSplit = 0, kTermSplit = 2;
// Values of kListType.
inline constexpr int64_t kEnds = 0, kSizes = 1, kPairs = 2;

// ---- properties of a call ----

inline int64_t VersionOf(const OperatorCall& call) { return call.attributes[kVersion].integer; }

// Counts the tensors of an argument. Returns 0 for a list that is empty, begins with a null pointer, or holds
// one tensor of the shape [0].
inline int CountOf(const OperatorCall& call, int argument) {
  const TensorArgument& given = call.tensors[static_cast<size_t>(argument)];
  if (!given.is_list) return given.tensor == nullptr ? 0 : 1;
  const int count = call.Count(argument);
  if (count == 0 || call.Entry(argument, 0) == nullptr) return 0;
  return count == 1 && call.Entry(argument, 0)->shape == Shape{0} ? 0 : count;
}
inline bool Has(const OperatorCall& call, int argument) { return CountOf(call, argument) > 0; }
inline const aclTensor& At(const OperatorCall& call, int argument, int entry = 0) {
  return *call.Entry(argument, call.Count(argument) == 1 ? 0 : entry);
}
inline aclDataType DtypeOf(const OperatorCall& call, int argument) { return At(call, argument).dtype; }

// Numbers of a weight's terms and columns.
struct Lengths {
  int64_t terms, columns;
};
inline Lengths LengthsOf(const StridedView& weight) {
  const Shape shape = InElements(weight).shape;
  return {shape[shape.rank - 2], shape[shape.rank - 1]};
}
inline int64_t TermsOf(const StridedView& x) {
  const Shape shape = InElements(x).shape;
  return shape[shape.rank - 1];
}
inline int64_t RowsOf(const StridedView& x) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < x.shape.rank; ++i) rows *= x.shape[i];
  return rows;
}

enum class Mode : uint8_t { kFloats, kIntegers, kWeightsAlone, kA8W4, kA4W4 };
inline Mode ModeOf(const OperatorCall& call) {
  const aclDataType x = DtypeOf(call, kX);
  const aclDataType weight = DtypeOf(call, kWeight);
  if (Is4Bits(x)) return Mode::kA4W4;
  if (x == ACL_INT8) return weight == ACL_INT8 ? Mode::kIntegers : Mode::kA8W4;
  return x == weight ? Mode::kFloats : Mode::kWeightsAlone;
}

// Returns the group type. V1 has none: its matrix products are separate if both sides have several tensors,
// or one each.
inline int64_t GroupTypeOf(const OperatorCall& call) {
  if (VersionOf(call) != kV1) return call.attributes[kGroupType].integer;
  const int x = CountOf(call, kX);
  const int y = CountOf(call, kY);
  const bool is_each = (x > 1 && y > 1) || (x == 1 && y == 1 && CountOf(call, kWeight) == 1);
  return is_each ? kNoSplit : kRowSplit;
}

inline bool HasArray(const OperatorCall& call) {
  const aclIntArray* const array = call.attributes[kGroups].array;
  return array != nullptr && !array->values.empty();
}

// Returns the number of groups.
inline int64_t GroupsOf(const OperatorCall& call) {
  const int64_t type = GroupTypeOf(call);
  if (type == kRowSplit && CountOf(call, kWeight) == 1) return At(call, kWeight).shape[0];
  if (type == kTermSplit && CountOf(call, kY) == 1 && CountOf(call, kWeight) == 1)
    return At(call, kY).shape[0];
  return CountOf(call, kWeight);
}

}  // namespace portacl::grouped
