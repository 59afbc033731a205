// Copies of a matrix: rows of one width, a pitch apart in each of the two memories.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/memory/async_copy.h"
#include "acl/stream/capture.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

// Checks parameters in order. *empty is set if nothing is to be copied, whatever the other parameters.
aclError Check(const char* api, const CopyRows& rows, int kind, int first_kind, bool* empty) noexcept {
  *empty = rows.width == 0 || rows.height == 0;
  if (*empty) return ACL_SUCCESS;
  if (rows.to == nullptr) return FailNullPointer(api, "dst", "a valid address");
  if (rows.from == nullptr) return FailNullPointer(api, "src", "a valid address");
  for (const auto& [name, pitch] :
       {std::pair("dpitch", rows.to_pitch), std::pair("spitch", rows.from_pitch)}) {
    if (rows.width > pitch) {
      return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                  Text(api, ": parameter width has the value ", rows.width, ", accepted: at most ", name,
                       ", which is ", pitch, "."));
    }
    size_t bytes = 0;
    if (__builtin_mul_overflow(pitch, rows.height, &bytes)) {
      return FailValue(api, "height", rows.height, "what does not reach past the end of the address space",
                       ACL_ERROR_INVALID_PARAM);
    }
  }
  if (kind < first_kind || kind > ACL_MEMCPY_DEFAULT) {
    return FailValue(api, "kind", kind, first_kind == 0 ? "0 to 4" : "1 to 4", ACL_ERROR_INVALID_PARAM);
  }
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  const profile::Call profiled("aclrtMemcpy2d");
  bool empty = false;
  if (aclError status = Check("aclrtMemcpy2d", {dst, dpitch, src, spitch, width, height}, kind, 0, &empty)) {
    return status;
  }
  if (empty) return ACL_SUCCESS;
  if (aclError status = RefuseAtOnce("aclrtMemcpy2d")) return status;
  if (sanitizer::IsOn()) {
    sanitizer::hooks->CopyChecked("aclrtMemcpy2d", {dst, dpitch, src, spitch, width, height}, kind);
    return ACL_SUCCESS;
  }
  for (size_t row = 0; row < height; ++row) {
    std::memmove(static_cast<char*>(dst) + row * dpitch, static_cast<const char*>(src) + row * spitch, width);
  }
  return ACL_SUCCESS;
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  const profile::Call profiled("aclrtMemcpy2dAsync");
  const char* const api = "aclrtMemcpy2dAsync";
  if (kind == ACL_MEMCPY_HOST_TO_HOST) {
    return FailUnsupported(api, "no stream copies from host to host (kind 0); aclrtMemcpy2d does");
  }
  const CopyRows rows{dst, dpitch, src, spitch, width, height};
  bool empty = false;
  if (aclError status = Check(api, rows, kind, 1, &empty)) return status;
  if (empty) return ACL_SUCCESS;
  if (sanitizer::IsOn()) sanitizer::hooks->CheckCopy(api, rows, kind);
  return SubmitCopy(api, stream, rows, MustComplete(kind, rows));
}
