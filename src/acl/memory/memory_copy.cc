// Copies and fills that are done when their call returns.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/stream/capture.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

using namespace portacl;

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  const profile::Call profiled("aclrtMemcpy");
  if (count == 0) return ACL_SUCCESS;
  if (dst == nullptr || src == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtMemcpy: parameter ", dst == nullptr ? "dst" : "src",
                     " is a null pointer, expected a valid address."));
  }
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
        Text("aclrtMemcpy: parameter kind has the value ", static_cast<int>(kind), ", accepted: 0 to 5."));
  }
  if (count > destMax) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text("aclrtMemcpy: parameter count has the value ", count,
                     ", accepted: at most destMax, which is ", destMax, "."));
  }
  if (aclError status = RefuseAtOnce("aclrtMemcpy")) return status;
  if (sanitizer::IsOn()) {
    sanitizer::hooks->CopyChecked("aclrtMemcpy", {.to = dst, .from = src, .width = count}, kind);
  } else {
    std::memmove(dst, src, count);
  }
  return ACL_SUCCESS;
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  const profile::Call profiled("aclrtMemset");
  if (count == 0) return ACL_SUCCESS;
  if (devPtr == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtMemset: parameter devPtr is a null pointer, expected a valid address."));
  }
  if (count > maxCount) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text("aclrtMemset: parameter count has the value ", count,
                     ", accepted: at most maxCount, which is ", maxCount, "."));
  }
  if (aclError status = RefuseAtOnce("aclrtMemset")) return status;
  if (sanitizer::IsOn()) {
    sanitizer::hooks->FillChecked("aclrtMemset", devPtr, value, count);
  } else {
    std::memset(devPtr, value, count);
  }
  return ACL_SUCCESS;
}
