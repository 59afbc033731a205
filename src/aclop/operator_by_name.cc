// The C interface of operators that are called by type name (acl_op_compiler.h).
// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <string_view>

#include "acl/acl_op_compiler.h"
#include "aclop/named_call.h"
#include "aclop/native_call.h"
#include "base/errors.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

aclError CheckOperands(const char* api, const NamedOperands& operands) noexcept {
  if (operands.count < 0) {
    return FailValue(api, operands.count_name, operands.count, "0 or a positive number",
                     ACL_ERROR_INVALID_PARAM);
  }
  if (operands.count == 0) return ACL_SUCCESS;
  if (operands.descriptions == nullptr)
    return FailNullPointer(api, operands.descriptions_name, "an array of descriptions");
  if (operands.buffers == nullptr)
    return FailNullPointer(api, operands.buffers_name, "an array of data buffers");
  for (int i = 0; i < operands.count; ++i) {
    if (operands.descriptions[i] == nullptr) {
      return FailNullPointer(api, Text(operands.descriptions_name, '[', i, ']').c_str(), "a description");
    }
    if (operands.buffers[i] == nullptr) {
      return FailNullPointer(api, Text(operands.buffers_name, '[', i, ']').c_str(), "a data buffer");
    }
  }
  return ACL_SUCCESS;
}

void AddOperands(Text& text, const NamedOperands& operands) noexcept {
  for (int i = 0; i < operands.count; ++i) {
    if (i > 0) text.Add(", ");
    AddDescription(text, *operands.descriptions[i]);
  }
}

aclError FailNotImplemented(const NamedCall& call) noexcept {
  Text text(call.api, ": operator ", call.type,
            " is not implemented: no native operator computes what it does. It was called with inputs (");
  AddOperands(text, call.inputs);
  text.Add("), outputs (");
  AddOperands(text, call.outputs);
  text.Add(")");
  if (call.attributes != nullptr && !call.attributes->values.empty()) {
    text.Add(", attributes ");
    AddAttributes(text, call.attributes->values);
  }
  return FailCall(call, ACL_ERROR_OP_NOT_FOUND, MessageClass::kAclUnsupported, text.Add("."));
}

aclError Run(const NamedCall& call) noexcept {
  if (aclError status = CheckOperands(call.api, call.inputs)) return status;
  if (aclError status = CheckOperands(call.api, call.outputs)) return status;
  if (call.type == "Identity") return RunIdentity(call);
  if (call.type == "BroadcastTo") return RunBroadcastTo(call);
  const std::span<const NativeCall> native_calls = NativeCallsFor(call.type, call.inputs.count);
  if (!native_calls.empty()) return RunNatively(call, native_calls);
  return FailNotImplemented(call);
}

aclError Run(const char* api, const char* type, const NamedOperands& inputs, const NamedOperands& outputs,
             const aclopAttr* attributes, aclrtStream stream) noexcept {
  const profile::Call profiled(api);
  if (type == nullptr) return FailNullPointer(api, "opType", "the type of an operator");
  return Run({api, type, inputs, outputs, attributes, stream});
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[],
                                const aclDataBuffer* const inputs[], int numOutputs,
                                const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[],
                                const aclopAttr* attr, aclopEngineType, aclopCompileType, const char*,
                                aclrtStream stream) {
  return Run("aclopCompileAndExecute", opType,
             {"numInputs", "inputDesc", "inputs", numInputs, inputDesc, inputs},
             {"numOutputs", "outputDesc", "outputs", numOutputs, outputDesc, outputs}, attr, stream);
}

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[],
                                  aclDataBuffer* inputs[], int numOutputs, aclTensorDesc* outputDesc[],
                                  aclDataBuffer* outputs[], aclopAttr* attr, aclopEngineType,
                                  aclopCompileType, const char*, aclrtStream stream) {
  return Run("aclopCompileAndExecuteV2", opType,
             {"numInputs", "inputDesc", "inputs", numInputs, inputDesc, inputs},
             {"numOutputs", "outputDesc", "outputs", numOutputs, outputDesc, outputs}, attr, stream);
}
