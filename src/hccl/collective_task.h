// Operations as tasks of streams.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "acl/acl_base.h"
#include "hccl/communicator.h"
#include "hccl/operation.h"

namespace portacl::hccl {

// Submits the operation to the stream, where it waits for the other ranks on its own thread. It gets its
// numbers here, so that operations are numbered in the order of calls, whatever their streams.
HcclResult Enqueue(const char* api, std::shared_ptr<Communicator> communicator, Operation operation,
                   aclrtStream stream);

// Collects the sends and receives between the calling thread's outermost HcclGroupStart and HcclGroupEnd.
bool IsInGroup() noexcept;
HcclResult AddToGroup(std::shared_ptr<Communicator> communicator, Operation operation, aclrtStream stream);

}  // namespace portacl::hccl
