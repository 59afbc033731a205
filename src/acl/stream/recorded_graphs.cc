// Recording of a stream's work: refused, but for the questions that have an answer without it.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/errors.h"
#include "acl/queue/stream.h"
#include "acl/stream/found_stream.h"

namespace portacl {
namespace {

constexpr const char* kNoGraphs = "streams do their work at once and record none; submit it again instead";

thread_local aclmdlRICaptureMode capture_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  const char* const api = "aclmdlRICaptureGetInfo";
  if (status == nullptr) return FailNullPointer(api, "status", "the address of an aclmdlRICaptureStatus");
  aclError of_stream = ACL_SUCCESS;
  if (!FindStreamFor(api, stream, &of_stream)) return of_stream;
  *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  if (modelRI != nullptr) *modelRI = nullptr;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  const char* const api = "aclmdlRICaptureThreadExchangeMode";
  if (mode == nullptr) return FailNullPointer(api, "mode", "the address of an aclmdlRICaptureMode");
  int number = 0;  // any number may stand there
  std::memcpy(&number, mode, sizeof number);
  if (number < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || number > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return FailValue(api, "*mode", number, "0 to 2", ACL_ERROR_INVALID_PARAM);
  }
  const aclmdlRICaptureMode before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureBegin(aclrtStream, aclmdlRICaptureMode) {
  return FailUnsupported("aclmdlRICaptureBegin", kNoGraphs);
}

aclError aclmdlRICaptureEnd(aclrtStream, aclmdlRI*) {
  return FailUnsupported("aclmdlRICaptureEnd", kNoGraphs);
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream, aclmdlRI, aclmdlRICaptureMode) {
  return FailUnsupported("aclmdlRICaptureToModelRIBegin", kNoGraphs);
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream) {
  return FailUnsupported("aclmdlRICaptureTaskGrpBegin", kNoGraphs);
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream, aclrtTaskGrp*) {
  return FailUnsupported("aclmdlRICaptureTaskGrpEnd", kNoGraphs);
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream, aclrtTaskGrp) {
  return FailUnsupported("aclmdlRICaptureTaskUpdateBegin", kNoGraphs);
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream) {
  return FailUnsupported("aclmdlRICaptureTaskUpdateEnd", kNoGraphs);
}

aclError aclmdlRICondHandleCreate(aclmdlRI, uint32_t, aclmdlRICondHandleFlag, aclmdlRICondHandle*) {
  return FailUnsupported("aclmdlRICondHandleCreate", kNoGraphs);
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle, uint64_t**) {
  return FailUnsupported("aclmdlRICondHandleGetCondPtr", kNoGraphs);
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams, aclrtStream, uint32_t) {
  return FailUnsupported("aclmdlRIAddCondTask", kNoGraphs);
}

aclError aclmdlRIExecuteAsync(aclmdlRI, aclrtStream) {
  return FailUnsupported("aclmdlRIExecuteAsync", kNoGraphs);
}

aclError aclmdlRIExecute(aclmdlRI, int32_t) { return FailUnsupported("aclmdlRIExecute", kNoGraphs); }

aclError aclmdlRIAbort(aclmdlRI) { return FailUnsupported("aclmdlRIAbort", kNoGraphs); }

aclError aclmdlRIGetId(aclmdlRI, uint32_t*) { return FailUnsupported("aclmdlRIGetId", kNoGraphs); }

aclError aclmdlRISetName(aclmdlRI, const char*) { return FailUnsupported("aclmdlRISetName", kNoGraphs); }

aclError aclmdlRIGetName(aclmdlRI, uint32_t, char*) { return FailUnsupported("aclmdlRIGetName", kNoGraphs); }

aclError aclmdlRIDebugPrint(aclmdlRI) { return FailUnsupported("aclmdlRIDebugPrint", kNoGraphs); }

aclError aclmdlRIDebugJsonPrint(aclmdlRI, const char*, uint32_t) {
  return FailUnsupported("aclmdlRIDebugJsonPrint", kNoGraphs);
}

aclError aclmdlRIDestroy(aclmdlRI) { return FailUnsupported("aclmdlRIDestroy", kNoGraphs); }
