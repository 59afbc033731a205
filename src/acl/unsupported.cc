// Functions that need several processes or a device's tracing: present, so that a client which looks up every
// name finds it, and refused with 207000 whatever their arguments.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_dump.h"
#include "acl/acl_rt.h"
#include "acl/errors.h"

namespace portacl {
namespace {

constexpr const char* kOtherProcess = "memory of one process cannot be used in another here";
constexpr const char* kNoDump =
    "operands are not dumped; they are host memory, which the program can read itself";

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle, aclrtMemHandleType, uint64_t, uint64_t*) {
  return FailUnsupported("aclrtMemExportToShareableHandle", kOtherProcess);
}

aclError aclrtMemImportFromShareableHandle(uint64_t, int32_t, aclrtDrvMemHandle*) {
  return FailUnsupported("aclrtMemImportFromShareableHandle", kOtherProcess);
}

aclError aclrtIpcMemGetExportKey(void*, size_t, char*, size_t, uint64_t) {
  return FailUnsupported("aclrtIpcMemGetExportKey", kOtherProcess);
}

aclError aclrtIpcMemImportByKey(void**, const char*, uint64_t) {
  return FailUnsupported("aclrtIpcMemImportByKey", kOtherProcess);
}

aclError aclrtIpcMemClose(const char*) { return FailUnsupported("aclrtIpcMemClose", kOtherProcess); }

aclError aclmdlInitDump(void) { return FailUnsupported("aclmdlInitDump", kNoDump); }
aclError aclmdlSetDump(const char*) { return FailUnsupported("aclmdlSetDump", kNoDump); }
aclError aclmdlFinalizeDump(void) { return FailUnsupported("aclmdlFinalizeDump", kNoDump); }
