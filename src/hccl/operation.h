// One collective, or one batch of sends and receives: what a task of a stream does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hccl/communicator.h"
#include "hccl/function.h"
#include "hccl/hccl_types.h"

namespace portacl::hccl {

// What a rank gives another one, or takes from it: elements, and where they lie in the buffer, in elements.
struct Part {
  uint64_t count = 0;
  uint64_t first = 0;
};

struct Operation {
  Function function = Function::kBarrier;
  HcclDataType type = HCCL_DATA_TYPE_UINT8;
  HcclReduceOp op = HCCL_REDUCE_RESERVED;
  uint32_t root = 0;
  const void* send = nullptr;
  void* recv = nullptr;
  uint64_t count = 0;  // of a whole buffer, where ranks have the same
  // For each rank; what goes to oneself included. Reductions: what of each rank's elements is put together here.
  std::vector<Part> give;
  std::vector<Part> take;
  // Stands for all counts of an AlltoAllVC, of ranks that have no part in them too; else 0.
  uint64_t matrix = 0;
  uint64_t number = 0;  // of Communicator::NextCollective

  // Of kSend, kRecv and kBatchSendRecv instead of the above.
  struct Message {
    bool sends = false;
    void* data = nullptr;
    uint64_t count = 0;
    HcclDataType type = HCCL_DATA_TYPE_UINT8;
    uint32_t rank = 0;
    uint64_t number = 0;  // of Communicator::NextSend or NextReceive
  };
  std::vector<Message> messages;
};

// Does it, waiting for the other ranks; on failure the communicator is broken.
Fault Perform(Communicator& communicator, const Operation& operation) noexcept;

}  // namespace portacl::hccl
