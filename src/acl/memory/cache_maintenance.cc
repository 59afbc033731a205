// Writing back and filling caches. A host's processors keep their caches coherent, so that there is nothing
// to do. Calls that would lose data are refused.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "acl/stream/found_stream.h"
#include "base/errors.h"

namespace portacl {
namespace {

aclError CheckRange(const char* api, const char* parameter, const void* address, size_t size) noexcept {
  if (address == nullptr) return FailNullPointer(api, parameter, "a valid address");
  return size > 0 ? ACL_SUCCESS : FailValue(api, "size", size, "1 or more bytes", ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtMemFlush(void* devPtr, size_t size) {
  return CheckRange("aclrtMemFlush", "devPtr", devPtr, size);
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return CheckRange("aclrtMemInvalidate", "devPtr", devPtr, size);
}

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  const char* const api = "aclrtCmoAsync";
  if (aclError status = CheckRange(api, "src", src, size)) return status;
  switch (cmoType) {
    case ACL_RT_CMO_TYPE_PREFETCH:
    case ACL_RT_CMO_TYPE_WRITEBACK:
    case ACL_RT_CMO_TYPE_FLUSH:
      break;
    case ACL_RT_CMO_TYPE_INVALID:
      return FailUnsupported(api, "a cache of the host cannot be emptied without being written back");
    default:
      return FailValue(api, "cmoType", static_cast<int>(cmoType), "0, 1 or 3", ACL_ERROR_INVALID_PARAM);
  }
  aclError status = ACL_SUCCESS;
  FindStreamFor(api, stream, &status);
  return status;
}
