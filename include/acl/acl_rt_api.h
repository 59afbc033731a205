// acl/acl_rt_api.h: overloads of the runtime's functions for C++, with types and defaults where C has none.
// SPDX-License-Identifier: Apache-2.0
//
// Each calls the function of acl_rt.h that stands in it and returns its code. In C this header adds nothing
// to acl_rt.h, and acl_rt.h does not include it.
#ifndef PORTACL_ACL_ACL_RT_API_H_
#define PORTACL_ACL_ACL_RT_API_H_

#include "acl_rt.h"

#ifdef __cplusplus

// Allocates device memory for a typed pointer.
//   size  bytes, not elements
template <typename T>
inline aclError aclrtMalloc(T** devPtr, size_t size, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST,
                            aclrtMallocConfig* cfg = nullptr) {
  void* memory = nullptr;
  const aclError status = aclrtMallocWithCfg(devPtr == nullptr ? nullptr : &memory, size, policy, cfg);
  if (status == ACL_SUCCESS) *devPtr = static_cast<T*>(memory);
  return status;
}

// Allocates pinned host memory for a typed pointer.
//   size  bytes, not elements
template <typename T>
inline aclError aclrtMallocHost(T** hostPtr, size_t size, aclrtMallocConfig* cfg = nullptr) {
  void* memory = nullptr;
  const aclError status = aclrtMallocHostWithCfg(hostPtr == nullptr ? nullptr : &memory, size, cfg);
  if (status == ACL_SUCCESS) *hostPtr = static_cast<T*>(memory);
  return status;
}

// Creates a stream with a priority and flags.
inline aclError aclrtCreateStream(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return aclrtCreateStreamWithConfig(stream, priority, flag);
}

// Creates an event with flags; while it is not recorded, queries say "complete".
inline aclError aclrtCreateEvent(aclrtEvent* event, uint32_t flag) {
  return aclrtCreateEventExWithFlag(event, flag);
}

// Wait for at most a time, in milliseconds; -1 waits for ever.
inline aclError aclrtSynchronizeStream(aclrtStream stream, int32_t timeout) {
  return aclrtSynchronizeStreamWithTimeout(stream, timeout);
}
inline aclError aclrtSynchronizeDevice(int32_t timeout) { return aclrtSynchronizeDeviceWithTimeout(timeout); }
inline aclError aclrtSynchronizeEvent(aclrtEvent event, int32_t timeout) {
  return aclrtSynchronizeEventWithTimeout(event, timeout);
}
inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return aclrtStreamWaitEventWithTimeout(stream, event, timeout);
}

#endif  // __cplusplus

#endif  // PORTACL_ACL_ACL_RT_API_H_
