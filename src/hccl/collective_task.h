// An operation as a task of a stream.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "acl/acl_base.h"
#include "hccl/communicator.h"
#include "hccl/operation.h"

namespace portacl::hccl {

// Puts the operation into the stream, in which it waits for the other ranks on a thread of its own. Its numbers are given here, so that
// the order of calls is that of operations, whatever streams they are in.
HcclResult Enqueue(const char* api, std::shared_ptr<Communicator> communicator, Operation operation,
                   aclrtStream stream);

// Sends and receives between the outermost HcclGroupStart and HcclGroupEnd of the calling thread.
bool IsInGroup() noexcept;
HcclResult AddToGroup(std::shared_ptr<Communicator> communicator, Operation operation, aclrtStream stream);

}  // namespace portacl::hccl
