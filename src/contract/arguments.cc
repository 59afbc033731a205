// Checks of lists, arrays and dims (see arguments.h).
// SPDX-License-Identifier: Apache-2.0
#include "contract/arguments.h"

#include <algorithm>

#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

const char* NameOf(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].name;
}

Text& AddArray(Text& text, const OperatorCall& call, int attribute) {
  text.Add(NameOf(call, attribute)).Add(" with the values [");
  const char* separator = "";
  for (const int64_t value : call.Array(attribute)) {
    text.Add(separator).Add(value);
    separator = ", ";
  }
  return text.Add(']');
}

}  // namespace

Text StartMessage(const OperatorCall& call) { return Text(call.api, ": "); }

Text& AddArgument(Text& text, const OperatorCall& call, int tensor, int entry) {
  text.Add(call.Name(tensor));
  if (call.IsList(tensor)) text.Add('[').Add(entry).Add(']');
  return text;
}

Text& AddArgumentShape(Text& text, const OperatorCall& call, int tensor, int entry) {
  AddArgument(text, call, tensor, entry).Add(" with shape ");
  AddShape(text, call.Entry(tensor, std::max(entry, 0))->shape);
  return text;
}

Text& AddArgumentDtype(Text& text, const OperatorCall& call, int tensor, int entry) {
  AddArgument(text, call, tensor, entry).Add(" with dtype ");
  AddDtypeName(text, call.Entry(tensor, std::max(entry, 0))->dtype);
  return text;
}

aclnnStatus RefuseInteger(const Check& check, const OperatorCall& call, const char* name, int64_t value,
                          int64_t low, int64_t high) {
  Text message = StartMessage(call);
  message.Add("parameter ").Add(name).Add(" has the value ").Add(value).Add(", accepted: ");
  return FailAclnn(check.code, message.Add(low).Add(" to ").Add(high).Add("."));
}

aclnnStatus RefuseShape(const Check& check, const OperatorCall& call, int tensor, const Shape& accepted,
                        int entry) {
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor, entry)
      .Add(" differs from the result's shape, accepted: ");
  AddShape(message, accepted);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus RefuseArray(const Check& check, const OperatorCall& call, int attribute, const char* wrong,
                        const char* accepted) {
  Text message = StartMessage(call);
  AddArray(message.Add("parameter "), call, attribute).Add(wrong).Add(", accepted: ").Add(accepted);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::ArrayNotNull(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[0])];
  if (attribute.array != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(attribute.name)
                                   .Add(" is a null pointer, expected an array of integers."));
}

aclnnStatus check::EntriesNotNull(const Check& check, OperatorCall& call) noexcept {
  const int list = check.operands.index[0];
  for (int entry = 0; entry < call.Count(list); ++entry) {
    if (call.Entry(list, entry) != nullptr) continue;
    Text message = StartMessage(call);
    AddArgument(message.Add("parameter "), call, list, entry);
    return FailAclnn(check.code, message.Add(" is a null pointer, expected a tensor."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::DimIn(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[0])];
  const int rank = call.Tensor(check.operands.index[1]).shape.rank;
  if (check.low != 0 && rank == 0) {
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, check.operands.index[1]);
    return FailAclnn(check.code, message.Add(" has no dims, accepted: at least 1 dim."));
  }
  if (IsDim(attribute.integer, rank)) return ACL_SUCCESS;
  const int dims = std::max(rank, 1);
  return RefuseInteger(check, call, attribute.name, attribute.integer, -dims, dims - 1);
}

aclnnStatus check::DimsIn(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  const int rank = call.Tensor(check.operands.index[1]).shape.rank;
  for (const int64_t dim : call.Array(attribute)) {
    if (IsDim(dim, rank)) continue;
    const int dims = std::max(rank, 1);
    return RefuseInteger(check, call, NameOf(call, attribute), dim, -dims, dims - 1);
  }
  return ACL_SUCCESS;
}

aclnnStatus check::DimsDistinct(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  const int rank = call.Tensor(check.operands.index[1]).shape.rank;
  uint64_t seen = 0;
  for (const int64_t dim : call.Array(attribute)) {
    const uint64_t bit = uint64_t{1} << WrappedDim(dim, rank);
    if ((seen & bit) != 0) return RefuseArray(check, call, attribute, " names a dim twice", "each dim once");
    seen |= bit;
  }
  return ACL_SUCCESS;
}

aclnnStatus check::ShapeIsResult(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const aclTensor& given = call.Tensor(tensor);
  if (given.shape == call.broadcast) return ACL_SUCCESS;
  if (check.low != 0 && given.numel == 1 && NumelOf(call.broadcast) == 1) return ACL_SUCCESS;
  return RefuseShape(check, call, tensor, call.broadcast);
}

aclnnStatus check::ArraySizeIs(const Check& check, OperatorCall& call) noexcept {
  const int attribute = check.operands.index[0];
  const int other = check.operands.index[1];
  if (call.Array(attribute).size() == call.Array(other).size()) return ACL_SUCCESS;
  Text message = StartMessage(call);
  message.Add("parameter ").Add(NameOf(call, attribute)).Add(" has ").Add(call.Array(attribute).size());
  message.Add(" values, accepted: as many as ").Add(NameOf(call, other)).Add(" has, which is ");
  return FailAclnn(check.code, message.Add(call.Array(other).size()).Add("."));
}

aclnnStatus check::MovesBytes(const Check& check, OperatorCall& call) noexcept {
  for (const int tensor : check.operands) {
    const uint32_t bits = StorageBits(call.Tensor(tensor).dtype);
    if (bits != 0 && bits % 8 == 0) continue;
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code, message.Add(" is not supported, accepted: dtypes of whole bytes."));
  }
  return ACL_SUCCESS;
}

}  // namespace portacl
