// Settings of streams: failure mode, attributes, priorities, the number of streams; and dropping a stream's
// work.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/queue/stream.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "base/errors.h"

namespace portacl {
namespace {

aclError SetFailureMode(const char* api, const FoundStream& found, uint64_t mode) noexcept {
  if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
    return FailValue(api, "mode", mode, "0 (ACL_CONTINUE_ON_FAILURE) or 1 (ACL_STOP_ON_FAILURE)");
  }
  return found.With(api,
                    [&](Stream& stream) { stream.SetStopsOnFailureLocked(mode == ACL_STOP_ON_FAILURE); });
}

// Overflow is visible in results, as infinities and NaN; nothing else counts it.
aclError SetOverflowSwitch(const char* api, uint32_t flag) noexcept {
  if (flag == 0) return ACL_SUCCESS;
  if (flag != 1) return FailValue(api, "flag", flag, "0 (off)");
  return FailUnsupported(api,
                         "no operator here notes an overflow beside its results; only 0 (off) is accepted");
}

aclError FailAttribute(const char* api, aclrtStreamAttr attribute) noexcept {
  return FailValue(api, "stmAttrType", static_cast<int>(attribute), "1 to 5", ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor("aclrtSetStreamFailureMode", stream, &status);
  return found ? SetFailureMode("aclrtSetStreamFailureMode", found, mode) : status;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  aclError status = ACL_SUCCESS;
  if (!FindStreamFor("aclrtSetStreamOverflowSwitch", stream, &status)) return status;
  return SetOverflowSwitch("aclrtSetStreamOverflowSwitch", flag);
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  const char* const api = "aclrtGetStreamOverflowSwitch";
  if (flag == nullptr) return FailNullPointer(api, "flag", "the address of a uint32_t");
  aclError status = ACL_SUCCESS;
  if (!FindStreamFor(api, stream, &status)) return status;
  *flag = 0;
  return ACL_SUCCESS;
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  const char* const api = "aclrtSetStreamAttribute";
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an aclrtStreamAttrValue");
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return SetFailureMode(api, found, value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      return SetOverflowSwitch(api, value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      return found.With(api, [&](Stream& one) { one.user_tag.store(value->userCustomTag); });
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      // Captured operators always keep their operands.
      if (value->cacheOpInfoSwitch > 1) {
        return FailValue(api, "value->cacheOpInfoSwitch", value->cacheOpInfoSwitch, "0 (off) or 1 (on)");
      }
      return found.With(api, [&](Stream& one) { one.caches_operator_info.store(value->cacheOpInfoSwitch); });
    case ACL_STREAM_ATTR_PRIORITY:
      if (value->priority > kLeastPriority) {
        return FailValue(api, "value->priority", value->priority, "0 to 7");
      }
      return found.With(api, [&](Stream& one) { one.set_priority(value->priority); });
  }
  return FailAttribute(api, stmAttrType);
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  const char* const api = "aclrtGetStreamAttribute";
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an aclrtStreamAttrValue");
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  aclrtStreamAttrValue result = {};
  switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      status = found.With(api, [&](const Stream& one) {
        result.failureMode = one.StopsOnFailureLocked() ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
      });
      break;
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      break;  // off
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      status = found.With(
          api, [&](const Stream& one) { result.cacheOpInfoSwitch = one.caches_operator_info.load(); });
      break;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      status = found.With(api, [&](const Stream& one) { result.userCustomTag = one.user_tag.load(); });
      break;
    case ACL_STREAM_ATTR_PRIORITY:
      status = found.With(api, [&](const Stream& one) { result.priority = one.priority(); });
      break;
    default:
      return FailAttribute(api, stmAttrType);
  }
  if (status == ACL_SUCCESS) *value = result;
  return status;
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
  const char* const api = "aclrtDeviceGetStreamPriorityRange";
  if (leastPriority == nullptr) return FailNullPointer(api, "leastPriority", "the address of an int32_t");
  if (greatestPriority == nullptr)
    return FailNullPointer(api, "greatestPriority", "the address of an int32_t");
  *leastPriority = static_cast<int32_t>(kLeastPriority);
  *greatestPriority = 0;
  return ACL_SUCCESS;
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
  const char* const api = "aclrtGetStreamAvailableNum";
  if (streamCount == nullptr) return FailNullPointer(api, "streamCount", "the address of a uint32_t");
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  *streamCount = StreamsLeft();
  return ACL_SUCCESS;
}

aclError aclrtStreamAbort(aclrtStream stream) {
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor("aclrtStreamAbort", stream, &status);
  if (!found) return status;
  if (HostFunctionScope::Holds(*found.stream)) return FailWaitsForSelf("aclrtStreamAbort");
  if (aclError refused = RefuseWaitFor("aclrtStreamAbort", found)) return refused;
  found.stream->Abort(found.handle, {ACL_ERROR_RT_STREAM_ABORT, "it was dropped by aclrtStreamAbort."},
                      kForever);
  return ACL_SUCCESS;
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  const char* const api = "aclrtDeviceTaskAbort";
  if (aclError status = CheckDevice(api, deviceId)) return status;
  const Deadline deadline =
      timeout == 0 ? kForever : std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
  return AbortStreamsOfDevice(api, deviceId, deadline);
}
