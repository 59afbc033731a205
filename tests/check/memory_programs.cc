// Programs that mix up host and device memory, with their right twins.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "acl/acl.h"
#include "check/corpus.h"

namespace {

constexpr size_t kBytes = 1024;

float* Device() {
  void* address = nullptr;
  if (aclrtMalloc(&address, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) std::abort();
  return static_cast<float*>(address);
}

volatile float seen;

}  // namespace

CASE(
    host_reads_device, "host-access",
    "the host reads address 0x[0-9a-f]+, which is byte 40 of 1024 bytes of device memory from aclrtMalloc",
    {
      float* device = Device();
      aclrtMemset(device, kBytes, 0, kBytes);
      seen = device[10];
      aclrtFree(device);
    },
    {
      float* device = Device();
      aclrtMemset(device, kBytes, 0, kBytes);
      float host = 0;
      aclrtMemcpy(&host, sizeof host, device + 10, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
      seen = host;
      aclrtFree(device);
    })
