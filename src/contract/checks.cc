// The checks of phase 1 (see checks.h). Messages name the operator, the parameter, the value and what is
// accepted.
// SPDX-License-Identifier: Apache-2.0
#include "contract/checks.h"

#include <algorithm>

#include "acl/settings/configuration.h"
#include "aclnn/opdev/op_errno.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/broadcast.h"
#include "contract/promotion.h"

namespace portacl {
namespace {

Text Start(const OperatorCall& call) { return Text(call.api, ": "); }

// Adds a tensor's name: self, or tensors[3] for a list's entry.
Text& AddName(Text& text, const OperatorCall& call, int tensor, int entry) {
  text.Add(call.Name(tensor));
  if (call.IsList(tensor)) text.Add('[').Add(entry).Add(']');
  return text;
}

Text& AddTensorShape(Text& text, const OperatorCall& call, int tensor, int entry = 0) {
  AddName(text, call, tensor, entry).Add(" with shape ");
  AddShape(text, call.Entry(tensor, entry)->view);
  return text;
}

Text& AddTensorDtype(Text& text, const OperatorCall& call, int tensor, int entry = 0) {
  AddName(text, call, tensor, entry).Add(" with dtype ");
  AddDtypeName(text, call.Entry(tensor, entry)->dtype);
  return text;
}

// Calls f(tensor, index, entry) for each tensor among the operands until it returns a failure. Visits a list
// entry by entry.
template <class F>
aclnnStatus ForEachTensor(const Operands& operands, const OperatorCall& call, const F& f) {
  for (const int index : operands) {
    for (int entry = 0; entry < call.Count(index); ++entry) {
      const aclTensor* const tensor = call.Entry(index, entry);
      if (tensor == nullptr) continue;
      if (const aclnnStatus status = f(*tensor, index, entry)) return status;
    }
  }
  return ACL_SUCCESS;
}

Text& AddScalarDtype(Text& text, const OperatorCall& call, int attribute) {
  const Attribute& named = call.attributes[static_cast<size_t>(attribute)];
  text.Add(named.name).Add(" with dtype ");
  AddDtypeName(text, named.scalar->dtype);
  return text;
}

bool IsScalarGiven(const OperatorCall& call, int attribute) {
  return call.attributes[static_cast<size_t>(attribute)].scalar != nullptr;
}

// Adds the given tensors, then the scalars, with their dtypes: "self with dtype DT_INT8, other with dtype
// DT_BOOL".
Text& AddDtypes(Text& text, const OperatorCall& call, const Check& check) {
  const char* separator = "";
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor)) continue;
    AddTensorDtype(text.Add(separator), call, tensor);
    separator = ", ";
  }
  for (int attribute : check.attributes) {
    if (!IsScalarGiven(call, attribute)) continue;
    AddScalarDtype(text.Add(separator), call, attribute);
    separator = ", ";
  }
  return text;
}

// Returns the list of the call's product, or the check's only list where it has no rule.
DtypeSet AcceptedBy(const Check& check, const OperatorCall& call) {
  return check.rule != nullptr ? check.rule->For(call.product) : check.dtypes;
}

void AddProductNote(Text& text, const OperatorCall& call) {
  if (call.product == Product::kNoDevice) {
    text.Add(" (no device is set on this thread: aclrtSetDevice first)");
  } else {
    text.Add(" on ").Add(CurrentConfiguration().soc->line);
  }
}

}  // namespace

aclnnStatus check::NotNull(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const TensorArgument& argument = call.tensors[static_cast<size_t>(tensor)];
  if (argument.is_list ? argument.list != nullptr : argument.tensor != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code, Start(call)
                                   .Add("parameter ")
                                   .Add(call.Name(tensor))
                                   .Add(" is a null pointer, expected a ")
                                   .Add(argument.is_list ? "list of tensors." : "tensor."));
}

aclnnStatus check::ScalarNotNull(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[0])];
  if (attribute.scalar != nullptr) return ACL_SUCCESS;
  return FailAclnn(
      check.code,
      Start(call).Add("parameter ").Add(attribute.name).Add(" is a null pointer, expected a scalar."));
}

aclnnStatus check::IntegerIn(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[0])];
  if (attribute.integer >= check.low && attribute.integer <= check.high) return ACL_SUCCESS;
  return FailAclnn(check.code, Start(call)
                                   .Add("parameter ")
                                   .Add(attribute.name)
                                   .Add(" has the value ")
                                   .Add(attribute.integer)
                                   .Add(", accepted: ")
                                   .Add(check.low)
                                   .Add(" to ")
                                   .Add(check.high)
                                   .Add("."));
}

aclnnStatus check::DtypeIn(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[0])];
  const DtypeSet accepted = check.rule->For(call.product);
  if (accepted.Contains(attribute.dtype())) return ACL_SUCCESS;
  Text message = Start(call).Add("parameter ").Add(attribute.name).Add(" has the value ");
  AddDtypeName(message, attribute.dtype());
  message.Add(", accepted: ");
  AddDtypeSet(message, accepted);
  AddProductNote(message, call);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::PromotesScalar(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[1])];
  call.promoted = PromoteType(call.Tensor(tensor).dtype, attribute.scalar->dtype);
  if (call.promoted != ACL_DT_UNDEFINED) return ACL_SUCCESS;
  Text message = Start(call).Add("parameter ").Add(attribute.name).Add(" with dtype ");
  AddDtypeName(message, attribute.scalar->dtype);
  AddTensorDtype(message.Add(" cannot be promoted together with "), call, tensor);
  return FailAclnn(
      check.code,
      message.Add("; accepted: a scalar whose dtype and the tensor's promote to one common dtype."));
}

aclnnStatus check::Promotes(const Check& check, OperatorCall& call) noexcept {
  const Operands& operands = check.operands;
  aclDataType promoted = call.Tensor(operands.index[0]).dtype;
  for (int i = 1; i < operands.count; ++i) {
    const int tensor = operands.index[i];
    if (!call.IsGiven(tensor)) continue;
    const aclDataType before = promoted;
    // CANN passes the third tensor first; its table is not symmetric.
    promoted = i == 1 ? PromoteType(before, call.Tensor(tensor).dtype)
                      : PromoteType(call.Tensor(tensor).dtype, before);
    if (promoted == ACL_DT_UNDEFINED) {
      Text message = Start(call);
      message.Add("parameter ");
      AddTensorDtype(message, call, tensor).Add(" cannot be promoted together with ");
      for (int k = 0; k < i; ++k) {
        if (!call.IsGiven(operands.index[k])) continue;
        AddTensorDtype(message.Add(k == 0 ? "" : " and "), call, operands.index[k]);
      }
      message.Add("; accepted: dtypes that promote to one common dtype.");
      return FailAclnn(check.code, message);
    }
  }
  call.promoted = promoted;
  return ACL_SUCCESS;
}

aclnnStatus check::PromotedCastsTo(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  if (CanCast(call.promoted, call.Tensor(tensor).dtype)) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, tensor).Add(" cannot hold the result dtype ");
  AddDtypeName(message, call.promoted);
  AddCannotCast(message, call.promoted, call.Tensor(tensor).dtype)
      .Add(
          "; accepted: a dtype that the result can be cast to (not integer or bool from floating, not real "
          "from complex).");
  return FailAclnn(check.code, message);
}

aclnnStatus check::PromotedIn(const Check& check, OperatorCall& call) noexcept {
  const DtypeSet accepted = check.rule->For(call.product);
  if (accepted.Contains(call.promoted)) return ACL_SUCCESS;
  Text message = Start(call);
  AddDtypes(message, call, check).Add(" promote to ");
  AddDtypeName(message, call.promoted);
  message.Add(", accepted: ");
  AddDtypeSet(message, accepted);
  AddProductNote(message, call);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::DtypesIn(const Check& check, OperatorCall& call) noexcept {
  const DtypeSet accepted = AcceptedBy(check, call);
  return ForEachTensor(
      check.operands, call, [&](const aclTensor& tensor, int index, int entry) -> aclnnStatus {
        if (accepted.Contains(tensor.dtype)) return ACL_SUCCESS;
        Text message = Start(call);
        AddTensorDtype(message.Add("parameter "), call, index, entry).Add(" is not supported, accepted: ");
        AddDtypeSet(message, accepted);
        if (check.rule != nullptr) AddProductNote(message, call);
        return FailAclnn(check.code, message.Add("."));
      });
}

aclnnStatus check::CastsTo(const Check& check, OperatorCall& call) noexcept {
  const int from = check.operands.index[0];
  const int to = check.operands.index[1];
  if (CanCast(call.Tensor(from).dtype, call.Tensor(to).dtype)) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, to).Add(" cannot hold what ");
  AddCannotCast(AddTensorDtype(message, call, from).Add(" gives"), call.Tensor(from).dtype,
                call.Tensor(to).dtype);
  return FailAclnn(check.code, message.Add("; accepted: a dtype that it can be cast to."));
}

aclnnStatus check::SameDtype(const Check& check, OperatorCall& call) noexcept {
  const int a = check.operands.index[0];
  const int b = check.operands.index[1];
  if (call.Tensor(a).dtype == call.Tensor(b).dtype) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, b).Add(" differs from ");
  AddTensorDtype(message, call, a).Add("; accepted: the same dtype.");
  return FailAclnn(check.code, message);
}

aclnnStatus check::NotNegative(const Check& check, OperatorCall& call) noexcept {
  const Attribute& attribute = call.attributes[static_cast<size_t>(check.operands.index[0])];
  if (attribute.real >= 0.0f) return ACL_SUCCESS;
  return FailAclnn(check.code, Start(call)
                                   .Add("parameter ")
                                   .Add(attribute.name)
                                   .Add(" has the value ")
                                   .Add(attribute.real)
                                   .Add(", accepted: 0 or more."));
}

aclnnStatus check::RankAtMost(const Check& check, OperatorCall& call) noexcept {
  return ForEachTensor(
      check.operands, call, [&](const aclTensor& tensor, int index, int entry) -> aclnnStatus {
        if (tensor.view.rank <= check.high) return ACL_SUCCESS;
        Text message = Start(call);
        AddTensorShape(message.Add("parameter "), call, index, entry)
            .Add(" has the rank ")
            .Add(tensor.view.rank);
        return FailAclnn(check.code, message.Add(", accepted: at most ").Add(check.high).Add(" dims."));
      });
}

aclnnStatus check::Broadcasts(const Check& check, OperatorCall& call) noexcept {
  const Operands& operands = check.operands;
  Shape result = call.Tensor(operands.index[0]).view;
  for (int i = 1; i < operands.count; ++i) {
    const int tensor = operands.index[i];
    if (!call.IsGiven(tensor) || BroadcastShapes(result, call.Tensor(tensor).view, &result)) continue;
    Text message = Start(call);
    AddTensorShape(message.Add("parameter "), call, tensor).Add(" does not broadcast with ");
    for (int k = 0; k < i; ++k) {
      if (!call.IsGiven(operands.index[k])) continue;
      AddTensorShape(message.Add(k == 0 ? "" : " and "), call, operands.index[k]);
    }
    return FailAclnn(check.code,
                     message.Add("; accepted: dims that, from the last one on, are equal, 1 or missing."));
  }
  call.broadcast = result;
  return ACL_SUCCESS;
}

aclnnStatus check::ShapeIsBroadcast(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  if (call.Tensor(tensor).view == call.broadcast) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" differs from the broadcast shape of the inputs, accepted: ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::ExpandsToBroadcast(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  Shape result;
  if (BroadcastShapes(call.Tensor(tensor).view, call.broadcast, &result) && result == call.broadcast) {
    return ACL_SUCCESS;
  }
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" does not broadcast to the shape of the other inputs, accepted: ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add(" or a shape that broadcasts to it."));
}

aclnnStatus check::SameShape(const Check& check, OperatorCall& call) noexcept {
  const int a = check.operands.index[0];
  const int b = check.operands.index[1];
  if (call.Tensor(a).view == call.Tensor(b).view) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, b).Add(" differs from ");
  AddTensorShape(message, call, a).Add("; accepted: the same shape.");
  return FailAclnn(check.code, message);
}

aclnnStatus check::IsScalar(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  if (call.Tensor(tensor).view.rank == 0) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" cannot hold a result that is reduced to one value, accepted: [].");
  return FailAclnn(check.code, message);
}

aclnnStatus check::OneElement(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  if (call.Tensor(tensor).numel == 1) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" cannot hold a result that is reduced to one value, accepted: [] or another shape of 1 element.");
  return FailAclnn(static_cast<aclnnStatus>(check.low), message);
}

aclnnStatus check::IsValue(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const Shape& view = call.Tensor(tensor).view;
  if (view.rank == 0 || (view.rank == 1 && view[0] == 1)) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor).Add(" is not one value, accepted: [] or [1].");
  return FailAclnn(check.code, message);
}

aclnnStatus check::FormatKept(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& input = call.Tensor(check.operands.index[0]);
  const aclTensor& output = call.Tensor(check.operands.index[1]);
  if (input.format == ACL_FORMAT_ND || input.format == output.format || !(input.view == call.broadcast)) {
    return ACL_SUCCESS;
  }
  Text message = Start(call).Add("parameter ").Add(call.Name(check.operands.index[1])).Add(" with format ");
  AddFormatName(message, output.format);
  message.Add(" differs from ").Add(call.Name(check.operands.index[0])).Add(" with format ");
  AddFormatName(message, input.format);
  return FailAclnn(ACLNN_ERR_INNER_NULLPTR,
                   message.Add("; accepted: the same format, or an input of format ND."));
}

namespace {

void AddView(Text& text, const OperatorCall& call, int tensor, int entry) {
  AddTensorShape(text.Add("parameter "), call, tensor, entry).Add(", strides ");
  AddShape(text, call.Entry(tensor, entry)->strides);
  text.Add(" and offset ").Add(call.Entry(tensor, entry)->offset);
}

}  // namespace

aclnnStatus check::SizesRepresentable(const Check& check, OperatorCall& call) noexcept {
  const auto is_output = [&](int tensor) {
    return std::find(check.operands.begin(), check.operands.end(), tensor) != check.operands.end();
  };
  for (int i = 0; i < static_cast<int>(call.tensors.size()); ++i) {
    const aclnnStatus status =
        ForEachTensor({i}, call, [&](const aclTensor& tensor, int index, int entry) -> aclnnStatus {
          // InsideStorage checks the byte offsets of non-contiguous inputs.
          const bool is_asked = tensor.numel > 0 && (IsContiguous(tensor) || is_output(index));
          if (tensor.countable && (tensor.bytes_fit || !is_asked)) return ACL_SUCCESS;
          Text message = Start(call);
          AddView(message, call, index, entry);
          return FailAclnn(
              ACLNN_ERR_PARAM_INVALID,
              message.Add(" has a negative dim or addresses more than 2^63 bytes; accepted: dims of at "
                          "least 0 whose elements fit the address space."));
        });
    if (status != ACL_SUCCESS) return status;
  }
  int64_t numel = 0;
  if (call.broadcast.Numel(&numel)) return ACL_SUCCESS;
  Text message = Start(call);
  AddShape(message.Add("the inputs broadcast to the shape "), call.broadcast);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(" of more than 2^63 elements; accepted: fewer."));
}

aclnnStatus check::DoneIfEmpty(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (call.IsGiven(tensor) && call.Tensor(tensor).view.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}

aclnnStatus check::NoTermsIfEmpty(const Check& check, OperatorCall& call) noexcept {
  const int inputs = check.operands.count - 1;
  bool empty = false;
  for (int i = 0; i < inputs; ++i) empty = empty || call.Tensor(check.operands.index[i]).view.IsEmpty();
  if (!empty) return ACL_SUCCESS;
  const Check one_element = portacl::OneElement(check.operands.index[inputs], ACLNN_ERR_INNER_NULLPTR);
  if (const aclnnStatus status = one_element.run(one_element, call)) return status;
  call.broadcast = Shape{0};
  call.work = OperatorCall::Work::kNoTerms;
  return ACL_SUCCESS;
}

aclnnStatus check::InsideStorage(const Check& check, OperatorCall& call) noexcept {
  return ForEachTensor(
      check.operands, call, [&](const aclTensor& tensor, int index, int entry) -> aclnnStatus {
        if (IsContiguous(tensor)) return ACL_SUCCESS;
        int64_t lowest = 0;
        int64_t highest = 0;
        int64_t size = 0;
        const bool known = tensor.bytes_fit && ReachOf(tensor, &lowest, &highest);
        if (known && tensor.storage.Numel(&size) && lowest >= 0 && highest < size) return ACL_SUCCESS;
        Text message = Start(call);
        AddView(message, call, index, entry);
        if (known) {
          message.Add(" reaches the elements ").Add(lowest).Add(" to ").Add(highest);
        } else {
          message.Add(" reaches elements beyond 2^63 bytes");
        }
        AddShape(message.Add(", accepted: elements inside its storage of shape "), tensor.storage);
        return FailAclnn(check.code, message.Add("."));
      });
}

aclnnStatus check::DtypeImplemented(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || check.dtypes.Contains(call.Tensor(tensor).dtype)) continue;
    Text message = Start(call);
    AddTensorDtype(message.Add("parameter "), call, tensor).Add(" is not supported, accepted: ");
    AddDtypeSet(message, check.dtypes);
    return FailAclnn(ACLNN_ERR_INNER_NULLPTR, message.Add("."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::Converts(const Check& check, OperatorCall& call) noexcept {
  const int from = check.operands.index[0];
  const int to = check.operands.index[1];
  const aclDataType source = call.Tensor(from).dtype;
  const aclDataType result = call.Tensor(to).dtype;
  const bool converts = check.dtypes.Contains(source) && check.dtypes.Contains(result);
  if (converts || (source == result && StorageBits(source) % 8 == 0)) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, from).Add(" is not converted to ");
  AddTensorDtype(message, call, to);
  message.Add(source == result ? ", accepted: dtypes of whole bytes, and from and to each of "
                               : ", accepted: the same dtype, or from and to each of ");
  AddDtypeSet(message, check.dtypes);
  return FailAclnn(ACLNN_ERR_INNER_NULLPTR, message.Add("."));
}

aclnnStatus check::AnyGiven(const Check& check, OperatorCall& call) noexcept {
  if (std::any_of(check.operands.begin(), check.operands.end(), [&](int i) { return call.IsGiven(i); })) {
    return ACL_SUCCESS;
  }
  Text message = Start(call);
  const char* separator = "the parameters ";
  for (int tensor : check.operands) {
    message.Add(separator).Add(call.Name(tensor));
    separator = " and ";
  }
  return FailAclnn(check.code, message.Add(" are null pointers, expected at least one tensor."));
}

aclnnStatus check::AnyScalarGiven(const Check& check, OperatorCall& call) noexcept {
  if (std::any_of(check.attributes.begin(), check.attributes.end(),
                  [&](int i) { return IsScalarGiven(call, i); })) {
    return ACL_SUCCESS;
  }
  Text message = Start(call);
  const char* separator = "the parameters ";
  for (int attribute : check.attributes) {
    message.Add(separator).Add(call.attributes[static_cast<size_t>(attribute)].name);
    separator = " and ";
  }
  return FailAclnn(check.code, message.Add(" are null pointers, expected at least one scalar."));
}

aclnnStatus check::ScalarDtypesIn(const Check& check, OperatorCall& call) noexcept {
  const DtypeSet accepted = AcceptedBy(check, call);
  for (int attribute : check.attributes) {
    if (!IsScalarGiven(call, attribute) ||
        accepted.Contains(call.attributes[static_cast<size_t>(attribute)].scalar->dtype)) {
      continue;
    }
    Text message = Start(call);
    AddScalarDtype(message.Add("parameter "), call, attribute).Add(" is not supported, accepted: ");
    AddDtypeSet(message, accepted);
    if (check.rule != nullptr) AddProductNote(message, call);
    return FailAclnn(check.code, message.Add("."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::PromotesScalarBy(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const aclScalar* given[2] = {};
  int count = 0;
  for (int attribute : check.attributes) {
    if (IsScalarGiven(call, attribute)) {
      given[count++] = call.attributes[static_cast<size_t>(attribute)].scalar;
    }
  }
  if (count == 0) return ACL_SUCCESS;
  call.promoted = PromoteScalar(check.scalar_rule, call.product, call.Tensor(tensor).dtype, *given[0],
                                call.Tensor(check.operands.index[1]).dtype, given[1]);
  if (call.promoted != ACL_DT_UNDEFINED) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, tensor).Add(" cannot be promoted together with ");
  const char* separator = "";
  for (int attribute : check.attributes) {
    if (!IsScalarGiven(call, attribute)) continue;
    AddScalarDtype(message.Add(separator), call, attribute);
    separator = " and ";
  }
  return FailAclnn(check.code,
                   message.Add("; accepted: a scalar whose dtype and the tensor's have one common dtype."));
}

aclnnStatus check::PromotesByRank(const Check& check, OperatorCall& call) noexcept {
  const int a = check.operands.index[0];
  const int b = check.operands.index[1];
  call.promoted = PromoteByRank(call.product, call.Tensor(a), call.Tensor(b));
  if (call.promoted != ACL_DT_UNDEFINED) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, b).Add(" cannot be promoted together with ");
  AddTensorDtype(message, call, a);
  return FailAclnn(check.code, message.Add("; accepted: dtypes that promote to one common dtype."));
}

aclnnStatus check::PromotesTo(const Check& check, OperatorCall& call) noexcept {
  call.promoted = static_cast<aclDataType>(check.low);
  return ACL_SUCCESS;
}

aclnnStatus check::PromotesToDtypeOf(const Check& check, OperatorCall& call) noexcept {
  call.promoted = call.Tensor(check.operands.index[0]).dtype;
  return ACL_SUCCESS;
}

aclnnStatus check::PromotesToFloat(const Check& check, OperatorCall& call) noexcept {
  const aclDataType dtype = call.Tensor(check.operands.index[0]).dtype;
  call.promoted = IsInteger(dtype) || dtype == ACL_BOOL ? ACL_FLOAT : dtype;
  return ACL_SUCCESS;
}

aclnnStatus check::ReplacesPromoted(const Check& check, OperatorCall& call) noexcept {
  if (check.dtypes.Contains(call.promoted)) call.promoted = static_cast<aclDataType>(check.low);
  return ACL_SUCCESS;
}

aclnnStatus check::PromotedNotIn(const Check& check, OperatorCall& call) noexcept {
  if (!check.dtypes.Contains(call.promoted)) return ACL_SUCCESS;
  Text message = Start(call);
  AddDtypes(message, call, check).Add(" promote to ");
  AddDtypeName(message, call.promoted);
  message.Add(", accepted: all but ");
  AddDtypeSet(message, check.dtypes);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::PromotedIs(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  if (call.Tensor(tensor).dtype == call.promoted) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, tensor).Add(" differs from the result dtype, accepted: ");
  AddDtypeName(message, call.promoted);
  return FailAclnn(check.code, message.Add("."));
}

namespace {

constexpr const char* kCastable =
    "; accepted: a dtype that can be cast to it (not floating to integer or bool, not complex to real).";

}  // namespace

aclnnStatus check::CastsToPromoted(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || CanCast(call.Tensor(tensor).dtype, call.promoted)) continue;
    Text message = Start(call);
    AddTensorDtype(message.Add("parameter "), call, tensor).Add(" cannot be cast to the common dtype ");
    AddDtypeName(message, call.promoted);
    AddCannotCast(message, call.Tensor(tensor).dtype, call.promoted);
    return FailAclnn(check.code, message.Add(kCastable));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::ScalarsCastToPromoted(const Check& check, OperatorCall& call) noexcept {
  for (int attribute : check.attributes) {
    if (!IsScalarGiven(call, attribute)) continue;
    const aclDataType dtype = call.attributes[static_cast<size_t>(attribute)].scalar->dtype;
    if (CanCast(dtype, call.promoted)) continue;
    Text message = Start(call);
    AddScalarDtype(message.Add("parameter "), call, attribute).Add(" cannot be cast to the common dtype ");
    AddDtypeName(message, call.promoted);
    AddCannotCast(message, dtype, call.promoted);
    return FailAclnn(check.code, message.Add(kCastable));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::AlphaFits(const Check& check, OperatorCall& call) noexcept {
  if (call.promoted != ACL_BOOL) return check::ScalarsCastToPromoted(check, call);
  const int attribute = check.attributes.index[0];
  if (!IsScalarGiven(call, attribute)) return ACL_SUCCESS;
  const aclDataType dtype = call.attributes[static_cast<size_t>(attribute)].scalar->dtype;
  if (IsInteger(dtype) || dtype == ACL_BOOL) return ACL_SUCCESS;
  Text message = Start(call);
  AddScalarDtype(message.Add("parameter "), call, attribute);
  return FailAclnn(check.code,
                   message.Add(" does not go with operands of dtype DT_BOOL, accepted: an integer or bool."));
}

aclnnStatus check::FixedCastsTo(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  const auto dtype = static_cast<aclDataType>(check.low);
  if (CanCast(dtype, call.Tensor(tensor).dtype)) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorDtype(message.Add("parameter "), call, tensor).Add(" cannot hold the result dtype ");
  AddDtypeName(message, dtype);
  AddCannotCast(message, dtype, call.Tensor(tensor).dtype);
  return FailAclnn(check.code, message.Add("; accepted: a dtype that it can be cast to."));
}

aclnnStatus check::NotAllBool(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).dtype != ACL_BOOL) return ACL_SUCCESS;
  }
  for (int attribute : check.attributes) {
    const aclScalar* scalar = call.attributes[static_cast<size_t>(attribute)].scalar;
    if (scalar == nullptr || scalar->dtype != ACL_BOOL) return ACL_SUCCESS;
  }
  Text message = Start(call);
  AddDtypes(message.Add("parameters "), call, check);
  return FailAclnn(check.code, message.Add(" are all bool, accepted: at least one of another dtype."));
}

namespace {

aclnnStatus RefuseRank(const Check& check, const OperatorCall& call, int tensor, const char* accepted,
                       int64_t rank) {
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" has the rank ")
      .Add(call.Tensor(tensor).view.rank);
  return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add(rank).Add(" dims."));
}

}  // namespace

aclnnStatus check::RankAtLeast(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).view.rank >= check.low) continue;
    return RefuseRank(check, call, tensor, "at least ", check.low);
  }
  return ACL_SUCCESS;
}

aclnnStatus check::RankIs(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).view.rank == check.low) continue;
    return RefuseRank(check, call, tensor, "", check.low);
  }
  return ACL_SUCCESS;
}

aclnnStatus check::RankAtMostUnlessContiguous(const Check& check, OperatorCall& call) noexcept {
  int strided = -1;
  for (int tensor : check.operands) {
    if (call.IsGiven(tensor) && !IsContiguous(call.Tensor(tensor))) strided = tensor;
  }
  if (strided < 0) return ACL_SUCCESS;
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).view.rank <= check.high) continue;
    Text message = Start(call);
    AddTensorShape(message.Add("parameter "), call, tensor)
        .Add(" has the rank ")
        .Add(call.Tensor(tensor).view.rank)
        .Add(" while ")
        .Add(call.Name(strided))
        .Add(" is not contiguous, accepted: at most ")
        .Add(check.high);
    return FailAclnn(check.code, message.Add(" dims, or contiguous tensors."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::ShapeIsBroadcastOrValue(const Check& check, OperatorCall& call) noexcept {
  const auto is_value = [](const Shape& shape) {
    return shape.rank == 0 || (shape.rank == 1 && shape[0] == 1);
  };
  const int tensor = check.operands.index[0];
  const Shape& view = call.Tensor(tensor).view;
  if (view == call.broadcast || (is_value(view) && is_value(call.broadcast))) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" differs from the broadcast shape of the inputs, accepted: ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add(is_value(call.broadcast) ? ", [] or [1]." : "."));
}

namespace {

Text& AddTensorFormat(Text& text, const OperatorCall& call, int tensor) {
  text.Add(call.Name(tensor)).Add(" with format ");
  AddFormatName(text, call.Tensor(tensor).format);
  return text;
}

}  // namespace

aclnnStatus check::NotPrivate(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || !IsPrivateFormat(call.Tensor(tensor).format)) continue;
    Text message = Start(call);
    AddTensorFormat(message.Add("parameter "), call, tensor);
    return FailAclnn(check.code,
                     message.Add(" is not supported, accepted: ND, NCHW and other public formats."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::SameFormat(const Check& check, OperatorCall& call) noexcept {
  const int first = check.operands.index[0];
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).format == call.Tensor(first).format) continue;
    Text message = Start(call);
    AddTensorFormat(message.Add("parameter "), call, tensor).Add(" differs from ");
    AddTensorFormat(message, call, first);
    return FailAclnn(check.code, message.Add("; accepted: the same format."));
  }
  return ACL_SUCCESS;
}

aclnnStatus check::PromotedImplemented(const Check& check, OperatorCall& call) noexcept {
  if (check.dtypes.Contains(call.promoted)) return ACL_SUCCESS;
  Text message = Start(call);
  AddDtypes(message, call, check).Add(" promote to ");
  AddDtypeName(message, call.promoted);
  message.Add(", which is not supported, accepted: ");
  AddDtypeSet(message, check.dtypes);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::FunctionsThere(const Check& check, OperatorCall& call) noexcept {
  if (!check.dtypes.Contains(call.promoted)) return ACL_SUCCESS;
  const char* const reason = check.reason();
  if (reason[0] == '\0') return ACL_SUCCESS;
  Text message = Start(call).Add("the dtype ");
  AddDtypeName(message, call.promoted);
  return FailAclnn(check.code, message.Add(" needs functions that are not there, since ")
                                   .Add(reason)
                                   .Add(", accepted: other dtypes."));
}

aclnnStatus RunChecks(std::span<const Check> checks, OperatorCall& call) noexcept {
  for (const Check& check : checks) {
    if (!check.Applies(call)) continue;
    if (const aclnnStatus status = check.run(check, call)) return status;
    if (call.work != OperatorCall::Work::kCompute) break;
  }
  return ACL_SUCCESS;
}

}  // namespace portacl
