// The checks of phase 1 but for those of dtypes (see checks.h): given operands, values, shapes, formats and storage. Messages name the
// operator, the parameter, the value and what is accepted.
// SPDX-License-Identifier: Apache-2.0
#include "contract/checks.h"

#include <algorithm>

#include "aclnn/opdev/op_errno.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/broadcast.h"
#include "contract/check_text.h"

namespace portacl {

using namespace check_text;

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
        if (tensor.shape.rank <= check.high) return ACL_SUCCESS;
        Text message = Start(call);
        AddTensorShape(message.Add("parameter "), call, index, entry)
            .Add(" has the rank ")
            .Add(tensor.shape.rank);
        return FailAclnn(check.code, message.Add(", accepted: at most ").Add(check.high).Add(" dims."));
      });
}

aclnnStatus check::Broadcasts(const Check& check, OperatorCall& call) noexcept {
  const Operands& operands = check.operands;
  Shape result = call.Tensor(operands.index[0]).shape;
  for (int i = 1; i < operands.count; ++i) {
    const int tensor = operands.index[i];
    if (!call.IsGiven(tensor) || BroadcastShapes(result, call.Tensor(tensor).shape, &result)) continue;
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
  if (call.Tensor(tensor).shape == call.broadcast) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" differs from the broadcast shape of the inputs, accepted: ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add("."));
}

aclnnStatus check::ExpandsToBroadcast(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  Shape result;
  if (BroadcastShapes(call.Tensor(tensor).shape, call.broadcast, &result) && result == call.broadcast) {
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
  if (call.Tensor(a).shape == call.Tensor(b).shape) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, b).Add(" differs from ");
  AddTensorShape(message, call, a).Add("; accepted: the same shape.");
  return FailAclnn(check.code, message);
}

aclnnStatus check::IsScalar(const Check& check, OperatorCall& call) noexcept {
  const int tensor = check.operands.index[0];
  if (call.Tensor(tensor).shape.rank == 0) return ACL_SUCCESS;
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
  const Shape& view = call.Tensor(tensor).shape;
  if (view.rank == 0 || (view.rank == 1 && view[0] == 1)) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor).Add(" is not one value, accepted: [] or [1].");
  return FailAclnn(check.code, message);
}

aclnnStatus check::FormatKept(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& input = call.Tensor(check.operands.index[0]);
  const aclTensor& output = call.Tensor(check.operands.index[1]);
  if (input.format == ACL_FORMAT_ND || input.format == output.format || !(input.shape == call.broadcast)) {
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
    if (call.IsGiven(tensor) && call.Tensor(tensor).shape.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}

aclnnStatus check::NoTermsIfEmpty(const Check& check, OperatorCall& call) noexcept {
  const int inputs = check.operands.count - 1;
  bool empty = false;
  for (int i = 0; i < inputs; ++i) empty = empty || call.Tensor(check.operands.index[i]).shape.IsEmpty();
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

namespace {

aclnnStatus RefuseRank(const Check& check, const OperatorCall& call, int tensor, const char* accepted,
                       int64_t rank) {
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" has the rank ")
      .Add(call.Tensor(tensor).shape.rank);
  return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add(rank).Add(" dims."));
}

}  // namespace

aclnnStatus check::RankAtLeast(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).shape.rank >= check.low) continue;
    return RefuseRank(check, call, tensor, "at least ", check.low);
  }
  return ACL_SUCCESS;
}

aclnnStatus check::RankIs(const Check& check, OperatorCall& call) noexcept {
  for (int tensor : check.operands) {
    if (!call.IsGiven(tensor) || call.Tensor(tensor).shape.rank == check.low) continue;
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
    if (!call.IsGiven(tensor) || call.Tensor(tensor).shape.rank <= check.high) continue;
    Text message = Start(call);
    AddTensorShape(message.Add("parameter "), call, tensor)
        .Add(" has the rank ")
        .Add(call.Tensor(tensor).shape.rank)
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
  const Shape& view = call.Tensor(tensor).shape;
  if (view == call.broadcast || (is_value(view) && is_value(call.broadcast))) return ACL_SUCCESS;
  Text message = Start(call);
  AddTensorShape(message.Add("parameter "), call, tensor)
      .Add(" differs from the broadcast shape of the inputs, accepted: ");
  AddShape(message, call.broadcast);
  return FailAclnn(check.code, message.Add(is_value(call.broadcast) ? ", [] or [1]." : "."));
}

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

aclnnStatus RunChecks(std::span<const Check> checks, OperatorCall& call) noexcept {
  for (const Check& check : checks) {
    if (!check.Applies(call)) continue;
    if (const aclnnStatus status = check.run(check, call)) return status;
    if (call.work != OperatorCall::Work::kCompute) break;
  }
  return ACL_SUCCESS;
}

}  // namespace portacl
