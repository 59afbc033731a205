// A call of an operator by type name: the program's arguments, and the checks and reports that such operators
// share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "acl/acl_base.h"
#include "acl/operator/operator_attributes.h"
#include "acl/operator/tensor_description.h"
#include "base/errors.h"

namespace portacl {

// The inputs or the outputs of a call, as the C interface passes them.
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

// The code of a call that a check has refused and reported; none: the check has passed. The code may be 0: see
// FailCall.
using Refused = std::optional<aclError>;

// Reports that a call failed. In a stream that stops on failure the call succeeds and the stream fails
// instead (see failing_task.h).
aclError FailCall(const NamedCall& call, aclError status, MessageClass message_class,
                  const Text& message) noexcept;

// Reports that the operator does not support the call: "API: operator TYPE WHY.", 100000.
aclError FailNamed(const NamedCall& call, const Text& why) noexcept;

Refused CheckCounts(const NamedCall& call, int inputs, int outputs) noexcept;

// Computes the bytes of a tensor's elements. Elements of less than a byte count where whole bytes can be
// copied.
Refused BytesOf(const NamedCall& call, const aclTensorDesc& description, size_t* bytes) noexcept;

// Checks that the data buffer of an operand has at least `bytes` bytes.
Refused CheckRoom(const NamedCall& call, const NamedOperands& operands, int index, size_t bytes) noexcept;

// The operators that no native one computes. The caller has checked that descriptions and buffers are not
// null. Each operator checks the rest, and queues its work on the stream.
aclError RunIdentity(const NamedCall& call) noexcept;
aclError RunBroadcastTo(const NamedCall& call) noexcept;

}  // namespace portacl
