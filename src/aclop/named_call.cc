// Checks and reports shared by the operators that are called by type name (see named_call.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclop/named_call.h"

#include "acl/stream/failing_task.h"
#include "base/data_type.h"

namespace portacl {
namespace {

Text& AddCount(Text& text, int count, const char* what) noexcept {
  return text.Add(count).Add(" ").Add(what).Add(count == 1 ? "" : "s");
}

}  // namespace

aclError FailCall(const NamedCall& call, aclError status, MessageClass message_class,
                  const Text& message) noexcept {
  return FailsInStream(FindStream(call.stream), status, message) ? ACL_SUCCESS
                                                                 : Fail(status, message_class, message);
}

aclError FailNamed(const NamedCall& call, const Text& why) noexcept {
  return FailCall(call, ACL_ERROR_INVALID_PARAM, MessageClass::kAclReason,
                  Text(call.api, ": operator ", call.type, " ", why.view(), "."));
}

Refused CheckCounts(const NamedCall& call, int inputs, int outputs) noexcept {
  if (call.inputs.count == inputs && call.outputs.count == outputs) return std::nullopt;
  Text text("has ");
  AddCount(text, inputs, "input").Add(" and ");
  AddCount(text, outputs, "output").Add(", not ");
  text.Add(call.inputs.count).Add(" and ").Add(call.outputs.count);
  return FailNamed(call, text);
}

Refused BytesOf(const NamedCall& call, const aclTensorDesc& description, size_t* bytes) noexcept {
  size_t elements = 0;
  if (CountElements(description, &elements) && CountBytes(description.dtype, elements, bytes))
    return std::nullopt;
  Text text("cannot copy elements of type ");
  AddDtypeName(text, description.dtype);
  return FailNamed(call, text);
}

Refused CheckRoom(const NamedCall& call, const NamedOperands& operands, int index, size_t bytes) noexcept {
  const aclDataBuffer* const buffer = operands.buffers[index];
  const size_t room = aclGetDataBufferSizeV2(buffer);
  if (room < bytes) {
    return FailNamed(call, Text("needs ", bytes, " bytes in ", operands.buffers_name, "[", index,
                                "], whose data buffer has the size ", room));
  }
  if (bytes > 0 && aclGetDataBufferAddr(buffer) == nullptr) {
    return FailNamed(call, Text("needs ", bytes, " bytes in ", operands.buffers_name, "[", index,
                                "], whose data buffer has no address"));
  }
  return std::nullopt;
}

}  // namespace portacl
