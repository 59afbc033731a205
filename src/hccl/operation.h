// A collective, or a batch of sends and receives: the work of a stream's task.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hccl/communicator.h"
#include "hccl/function.h"
#include "hccl/hccl_types.h"

namespace portacl::hccl {

// The data that a rank gives to another, or takes from it: a count of elements, and their position in the
// buffer in elements.
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
  uint64_t count = 0;  // of a whole buffer, if all ranks have the same
  // The parts of each rank, this one included. In reductions, `take` is the part of each rank's elements that
  // is reduced here.
  std::vector<Part> give;
  std::vector<Part> take;
  // A hash of all counts of an AlltoAllVC, also those between other ranks; else 0.
  uint64_t matrix = 0;
  uint64_t number = 0;  // of Communicator::NextCollective

  // The messages of kSend, kRecv and kBatchSendRecv, instead of the members above.
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

// Performs the operation, waiting for the other ranks. On failure the communicator is broken.
Fault Perform(Communicator& communicator, const Operation& operation) noexcept;

}  // namespace portacl::hccl
