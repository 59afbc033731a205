// Unsupported functions, which need several processes, a device's kernels or its tracing. They exist, so that
// a client which looks up every name finds it, and return 207000 whatever their arguments.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_dump.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"
#include "base/errors.h"
#include "runtime/rt.h"

namespace portacl {
namespace {

constexpr const char* kOtherProcess = "memory and events of one process cannot be used in another here";
constexpr const char* kNoDump =
    "operands are not dumped; they are host memory, which the program can read itself";
constexpr const char* kNoKernels = "kernels are machine code of a device that is not there";

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

aclError aclrtMemSetPidToShareableHandle(uint64_t, int32_t*, size_t) {
  return FailUnsupported("aclrtMemSetPidToShareableHandle", kOtherProcess);
}

aclError aclrtIpcMemSetImportPid(const char*, int32_t*, size_t) {
  return FailUnsupported("aclrtIpcMemSetImportPid", kOtherProcess);
}

aclError aclrtIpcGetEventHandle(aclrtEvent, aclrtIpcEventHandle*) {
  return FailUnsupported("aclrtIpcGetEventHandle", kOtherProcess);
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle, aclrtEvent*) {
  return FailUnsupported("aclrtIpcOpenEventHandle", kOtherProcess);
}

aclError aclmdlInitDump(void) { return FailUnsupported("aclmdlInitDump", kNoDump); }
aclError aclmdlSetDump(const char*) { return FailUnsupported("aclmdlSetDump", kNoDump); }
aclError aclmdlFinalizeDump(void) { return FailUnsupported("aclmdlFinalizeDump", kNoDump); }
aclError aclopStartDumpArgs(uint32_t, const char*) { return FailUnsupported("aclopStartDumpArgs", kNoDump); }
aclError aclopStopDumpArgs(uint32_t) { return FailUnsupported("aclopStopDumpArgs", kNoDump); }

aclError aclrtBinaryLoadFromData(const void*, size_t, const aclrtBinaryLoadOptions*, aclrtBinHandle*) {
  return FailUnsupported("aclrtBinaryLoadFromData", kNoKernels);
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle, const char*, aclrtFuncHandle*) {
  return FailUnsupported("aclrtBinaryGetFunction", kNoKernels);
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle, void**, void**) {
  return FailUnsupported("aclrtGetFunctionAddr", kNoKernels);
}

aclError aclopSetModelDir(const char*) { return FailUnsupported("aclopSetModelDir", kNoKernels); }

rtError_t rtDevBinaryRegister(const rtDevBinary_t*, void**) {
  return FailUnsupported("rtDevBinaryRegister", kNoKernels);
}

rtError_t rtFunctionRegister(void*, const void*, const char*, const void*, uint32_t) {
  return FailUnsupported("rtFunctionRegister", kNoKernels);
}

rtError_t rtKernelLaunch(const void*, uint32_t, void*, uint32_t, rtSmDesc_t*, rtStream_t) {
  return FailUnsupported("rtKernelLaunch", kNoKernels);
}

rtError_t rtGetC2cCtrlAddr(uint64_t*, uint32_t*) { return FailUnsupported("rtGetC2cCtrlAddr", kNoKernels); }
