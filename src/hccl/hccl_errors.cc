// Errors of the collective library (see hccl_errors.h).
// SPDX-License-Identifier: Apache-2.0
#include "hccl/hccl_errors.h"

#include <iterator>

#include "hccl/hccl.h"

namespace portacl::hccl {

HcclResult Fail(HcclResult code, const Text& message) noexcept {
  ReportMessage(code == HCCL_E_PARA ? MessageClass::kAclValue : MessageClass::kAclInner, message);
  return code;
}

HcclResult RefuseNull(const char* api, const char* parameter, const char* expected) noexcept {
  ReportMessage(MessageClass::kAclNullPointer,
                Text(api, ": parameter ", parameter, " is a null pointer, expected ", expected, "."));
  return HCCL_E_PTR;
}

}  // namespace portacl::hccl

const char* HcclGetErrorString(HcclResult code) {
  static constexpr const char* kTexts[] = {"no error",
                                           "a parameter is wrong",
                                           "a pointer is null",
                                           "memory error",
                                           "internal error",
                                           "not supported",
                                           "not found",
                                           "unavailable",
                                           "system call failed",
                                           "timed out",
                                           "cannot open a file",
                                           "TCP connection failed",
                                           "RoCE connection failed",
                                           "TCP transfer failed",
                                           "RoCE transfer failed",
                                           "runtime error",
                                           "driver error",
                                           "profiling error",
                                           "CCE error",
                                           "network error",
                                           "try again",
                                           "a rank is lost or called something else",
                                           "the communicator is suspended",
                                           "retry of an operation failed",
                                           "out of memory"};
  const auto number = static_cast<unsigned>(code);
  return number < std::size(kTexts) ? kTexts[number] : "unknown error";
}
