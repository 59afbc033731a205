// The functions that submit operations to streams.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::hccl {

enum class Function : uint32_t {
  kAllReduce,
  kReduce,
  kBroadcast,
  kAllGather,
  kAllGatherV,
  kReduceScatter,
  kReduceScatterV,
  kScatter,
  kAlltoAll,
  kAlltoAllV,
  kAlltoAllVC,
  kBarrier,
  kSend,
  kRecv,
  kBatchSendRecv
};
const char* NameOf(Function function) noexcept;

}  // namespace portacl::hccl
