// The functions of acl_rt.h that set times for all streams (see timeouts.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/timeouts.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "acl/acl_rt.h"
#include "base/errors.h"

namespace portacl {
namespace {

std::atomic<int64_t> execution_timeout{0};
std::atomic<int32_t> wait_timeout{-1};

}  // namespace

int64_t ExecutionTimeout() noexcept { return execution_timeout.load(std::memory_order_relaxed); }
int32_t WaitTimeout() noexcept { return wait_timeout.load(std::memory_order_relaxed); }

}  // namespace portacl

using namespace portacl;

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  const int64_t milliseconds = int64_t{timeout} * 1000;
  wait_timeout.store(timeout == 0 ? -1
                                  : static_cast<int32_t>(std::min<int64_t>(
                                        milliseconds, std::numeric_limits<int32_t>::max())));
  return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  execution_timeout.store(int64_t{timeout} * 1'000'000);
  return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  if (actualTimeout == nullptr) {
    return FailNullPointer("aclrtSetOpExecuteTimeOutV2", "actualTimeout", "the address of a uint64_t");
  }
  // Durations of the clock hold three hundred years; more microseconds count as forever.
  const uint64_t most = std::numeric_limits<int64_t>::max() / 1000;
  *actualTimeout = std::min(timeout, most);
  execution_timeout.store(static_cast<int64_t>(*actualTimeout));
  return ACL_SUCCESS;
}
