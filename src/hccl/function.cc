// Names of functions (see function.h).
// SPDX-License-Identifier: Apache-2.0
#include "hccl/function.h"

#include <cstddef>
#include <iterator>

namespace portacl::hccl {

const char* NameOf(Function function) noexcept {
  static constexpr const char* kNames[] = {
      "HcclAllReduce",     "HcclReduce",         "HcclBroadcast", "HcclAllGather", "HcclAllGatherV",
      "HcclReduceScatter", "HcclReduceScatterV", "HcclScatter",   "HcclAlltoAll",  "HcclAlltoAllV",
      "HcclAlltoAllVC",    "HcclBarrier",        "HcclSend",      "HcclRecv",      "HcclBatchSendRecv"};
  const auto number = static_cast<size_t>(function);
  return number < std::size(kNames) ? kNames[number] : "an unknown function";
}

}  // namespace portacl::hccl
