// The checks of dtypes (see checks.h): which ones an operator accepts, how operands promote, and what casts to what.
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/opdev/op_errno.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/check_text.h"
#include "contract/checks.h"
#include "contract/promotion.h"

namespace portacl {

using namespace check_text;

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

}  // namespace portacl
