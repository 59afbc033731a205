// The code of the calling thread's latest failure, for programs that query it later.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_rt.h"
#include "base/errors.h"

namespace portacl {
namespace {

// An invalid level is not stored as error: reading must not change what is read.
bool IsKnown(aclrtLastErrLevel level) noexcept { return level == ACL_RT_THREAD_LEVEL; }

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return IsKnown(level) ? LastError() : ACL_ERROR_INVALID_PARAM;
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  if (!IsKnown(level)) return ACL_ERROR_INVALID_PARAM;
  const aclError last = LastError();
  ForgetLastError();
  return last;
}
