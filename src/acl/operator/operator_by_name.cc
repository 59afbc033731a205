// Operators that are called by the name of their type (acl_op_compiler.h).
// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "acl/acl_op_compiler.h"
#include "acl/data_type.h"
#include "acl/errors.h"
#include "acl/memory/async_copy.h"
#include "acl/operator/operator_attributes.h"
#include "acl/operator/tensor_description.h"
#include "acl/queue/stream.h"
#include "acl/stream/found_stream.h"

namespace portacl {
namespace {

// One side of a call, inputs or outputs, as the C interface has it.
struct Operands {
  const char* count_name;
  const char* descriptions_name;
  const char* buffers_name;
  int count;
  const aclTensorDesc* const* descriptions;
  const aclDataBuffer* const* buffers;
};

struct Call {
  const char* api;
  std::string_view type;
  Operands inputs;
  Operands outputs;
  const aclopAttr* attributes;
  aclrtStream stream;
};

aclError CheckOperands(const char* api, const Operands& operands) noexcept {
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

void AddOperands(Text& text, const Operands& operands) noexcept {
  for (int i = 0; i < operands.count; ++i) {
    if (i > 0) text.Add(", ");
    AddDescription(text, *operands.descriptions[i]);
  }
}

aclError FailNotImplemented(const Call& call) noexcept {
  Text text(call.api, ": operator ", call.type,
            " is not implemented; of those that are called by the name of their type, Identity is. It was "
            "called with inputs (");
  AddOperands(text, call.inputs);
  text.Add("), outputs (");
  AddOperands(text, call.outputs);
  text.Add(")");
  if (call.attributes != nullptr && !call.attributes->values.empty()) {
    text.Add(", attributes ");
    AddAttributes(text, call.attributes->values);
  }
  return Fail(ACL_ERROR_OP_NOT_FOUND, MessageClass::kAclUnsupported, text.Add("."));
}

aclError FailOperator(const Call& call, const Text& why) noexcept {
  return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclReason,
              Text(call.api, ": operator ", call.type, " ", why.view(), "."));
}

aclError CheckRoom(const Call& call, const char* name, const aclDataBuffer* buffer, size_t bytes) noexcept {
  const size_t room = aclGetDataBufferSizeV2(buffer);
  if (room < bytes) {
    return FailOperator(
        call, Text("needs ", bytes, " bytes in ", name, "[0], whose data buffer has the size ", room));
  }
  if (bytes > 0 && aclGetDataBufferAddr(buffer) == nullptr) {
    return FailOperator(call,
                        Text("needs ", bytes, " bytes in ", name, "[0], whose data buffer has no address"));
  }
  return ACL_SUCCESS;
}

// The output becomes the input: bytes, since both are dense and of one type.
aclError RunIdentity(const Call& call) noexcept {
  if (call.inputs.count != 1 || call.outputs.count != 1) {
    return FailOperator(
        call, Text("has 1 input and 1 output, not ", call.inputs.count, " and ", call.outputs.count));
  }
  const aclTensorDesc& from = *call.inputs.descriptions[0];
  const aclTensorDesc& to = *call.outputs.descriptions[0];
  size_t elements = 0;
  size_t elements_out = 0;
  size_t bytes = 0;
  if (from.dtype != to.dtype || !CountElements(from, &elements) || !CountElements(to, &elements_out) ||
      elements != elements_out) {
    Text text("wants an output like its input, which is ");
    AddDescription(text, from);
    text.Add(", not ");
    AddDescription(text, to);
    return FailOperator(call, text);
  }
  if (!CountBytes(from.dtype, elements, &bytes)) {
    Text text("cannot copy elements of type ");
    AddDtypeName(text, from.dtype);
    return FailOperator(call, text);
  }
  if (aclError status = CheckRoom(call, call.inputs.buffers_name, call.inputs.buffers[0], bytes))
    return status;
  if (aclError status = CheckRoom(call, call.outputs.buffers_name, call.outputs.buffers[0], bytes))
    return status;
  if (bytes == 0) {
    aclError status = ACL_SUCCESS;
    FindStreamFor(call.api, call.stream, &status);
    return status;
  }
  const CopyRows rows{.to = aclGetDataBufferAddr(call.outputs.buffers[0]),
                      .from = aclGetDataBufferAddr(call.inputs.buffers[0]),
                      .width = bytes};
  return SubmitCopy(call.api, call.stream, rows, false);
}

struct NamedOperator {
  std::string_view type;
  aclError (*run)(const Call&) noexcept;
};
constexpr NamedOperator kOperators[] = {{"Identity", RunIdentity}};

aclError Run(const Call& call) noexcept {
  if (aclError status = CheckOperands(call.api, call.inputs)) return status;
  if (aclError status = CheckOperands(call.api, call.outputs)) return status;
  for (const NamedOperator& known : kOperators) {
    if (known.type == call.type) return known.run(call);
  }
  return FailNotImplemented(call);
}

aclError Run(const char* api, const char* type, const Operands& inputs, const Operands& outputs,
             const aclopAttr* attributes, aclrtStream stream) noexcept {
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
