// One call of an operator by the name of its type: what the program gave, and what operators of that kind check and report.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "acl/acl_base.h"
#include "acl/errors.h"
#include "acl/operator/operator_attributes.h"
#include "acl/operator/tensor_description.h"

namespace portacl {

// One side of a call, inputs or outputs, as the C interface has it.
struct NamedOperands {
  const char* count_name;
  const char* descriptions_name;
  const char* buffers_name;
  int count;
  const aclTensorDesc* const* descriptions;
  const aclDataBuffer* const* buffers;
};

struct NamedCall {
  const char* api;
  std::string_view type;
  NamedOperands inputs;
  NamedOperands outputs;
  const aclopAttr* attributes;
  aclrtStream stream;
};

// Reports that a call failed; in a stream that stops on failure the call succeeds and the stream fails (see failing_task.h).
aclError FailCall(const NamedCall& call, aclError status, MessageClass message_class,
                  const Text& message) noexcept;

// The same of what the operator does not take: "API: operator TYPE WHY.", 100000.
aclError FailNamed(const NamedCall& call, const Text& why) noexcept;

aclError CheckCounts(const NamedCall& call, int inputs, int outputs) noexcept;

// The bytes of a tensor's elements, where each takes whole bytes or may be copied with its neighbours.
aclError BytesOf(const NamedCall& call, const aclTensorDesc& description, size_t* bytes) noexcept;

// Whether the data buffer of an operand has so many bytes.
aclError CheckRoom(const NamedCall& call, const NamedOperands& operands, int index, size_t bytes) noexcept;

// The operators. Descriptions and buffers are there; each checks the rest, and puts its work into the stream.
aclError RunIdentity(const NamedCall& call) noexcept;
aclError RunBroadcastTo(const NamedCall& call) noexcept;

}  // namespace portacl
