// Identity, called by type name: copies the input to the output.
// SPDX-License-Identifier: Apache-2.0
#include "acl/memory/async_copy.h"
#include "acl/stream/found_stream.h"
#include "aclop/named_call.h"

namespace portacl {

// Copies bytes, since both tensors are dense and of one type.
aclError RunIdentity(const NamedCall& call) noexcept {
  if (const Refused refused = CheckCounts(call, 1, 1)) return *refused;
  const aclTensorDesc& from = *call.inputs.descriptions[0];
  const aclTensorDesc& to = *call.outputs.descriptions[0];
  size_t elements = 0;
  size_t elements_out = 0;
  if (from.dtype != to.dtype || !CountElements(from, &elements) || !CountElements(to, &elements_out) ||
      elements != elements_out) {
    Text text("wants an output like its input, which is ");
    AddDescription(text, from);
    text.Add(", not ");
    AddDescription(text, to);
    return FailNamed(call, text);
  }
  size_t bytes = 0;
  if (const Refused refused = BytesOf(call, from, &bytes)) return *refused;
  if (const Refused refused = CheckRoom(call, call.inputs, 0, bytes)) return *refused;
  if (const Refused refused = CheckRoom(call, call.outputs, 0, bytes)) return *refused;
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

}  // namespace portacl
