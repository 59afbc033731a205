// Many copies with one call.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/memory/async_copy.h"
#include "acl/stream/capture.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

struct Batch {
  void** dsts;
  size_t* dest_maxs;
  void** srcs;
  size_t* sizes;
  size_t count;
  aclrtMemcpyBatchAttr* attrs;
  size_t* attrs_indexes;
  size_t attr_count;

  // Returns the attributes of copy i: those of the last attrs_indexes not greater than i.
  const aclrtMemcpyBatchAttr& AttrOf(size_t i) const noexcept {
    size_t k = 0;
    while (k + 1 < attr_count && attrs_indexes[k + 1] <= i) ++k;
    return attrs[k];
  }
};

bool IsHost(const aclrtMemLocation& location) noexcept { return location.type == ACL_MEM_LOCATION_TYPE_HOST; }

aclrtMemcpyKind KindOf(const aclrtMemcpyBatchAttr& attr) noexcept {
  return IsHost(attr.srcLoc)
             ? ACL_MEMCPY_HOST_TO_DEVICE
             : (IsHost(attr.dstLoc) ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE);
}

aclError CheckLocation(const char* api, const char* name, const aclrtMemLocation& location) noexcept {
  if (IsHost(location)) return ACL_SUCCESS;
  if (location.type == ACL_MEM_LOCATION_TYPE_DEVICE) return CheckDevice(api, location.id);
  return FailValue(api, name, static_cast<int>(location.type), "0 (host) or 1 (device)",
                   ACL_ERROR_INVALID_PARAM);
}

// *fail_index receives the faulty copy, or SIZE_MAX if it is no particular one.
aclError Check(const char* api, const Batch& batch, size_t* fail_index) noexcept {
  if (fail_index == nullptr) return FailNullPointer(api, "failIndex", "the address of a size_t");
  *fail_index = SIZE_MAX;
  const struct {
    const char* name;
    const void* address;
  } arrays[] = {{"dsts", batch.dsts},   {"destMaxs", batch.dest_maxs}, {"srcs", batch.srcs},
                {"sizes", batch.sizes}, {"attrs", batch.attrs},        {"attrsIndexes", batch.attrs_indexes}};
  for (const auto& array : arrays) {
    if (array.address == nullptr) return FailNullPointer(api, array.name, "an array");
  }
  if (batch.count == 0)
    return FailValue(api, "numBatches", batch.count, "1 or more", ACL_ERROR_INVALID_PARAM);
  if (batch.attr_count == 0 || batch.attr_count > batch.count) {
    return FailValue(api, "numAttrs", batch.attr_count, "1 to numBatches", ACL_ERROR_INVALID_PARAM);
  }
  for (size_t k = 0; k < batch.attr_count; ++k) {
    const size_t index = batch.attrs_indexes[k];
    if (k == 0 ? index != 0 : index <= batch.attrs_indexes[k - 1] || index >= batch.count) {
      return FailValue(api, "attrsIndexes", index, "0 first, then ascending numbers below numBatches",
                       ACL_ERROR_INVALID_PARAM);
    }
    const aclrtMemcpyBatchAttr& attr = batch.attrs[k];
    if (aclError status = CheckLocation(api, "dstLoc.type", attr.dstLoc)) return status;
    if (aclError status = CheckLocation(api, "srcLoc.type", attr.srcLoc)) return status;
    if (IsHost(attr.dstLoc) && IsHost(attr.srcLoc)) {
      return FailUnsupported(api, "a batch copies to, from or inside devices, not from host to host");
    }
  }
  for (size_t i = 0; i < batch.count; ++i) {
    *fail_index = i;
    if (batch.sizes[i] == 0) continue;
    if (batch.dsts[i] == nullptr) return FailNullPointer(api, "dsts[failIndex]", "a valid address");
    if (batch.srcs[i] == nullptr) return FailNullPointer(api, "srcs[failIndex]", "a valid address");
    if (batch.sizes[i] > batch.dest_maxs[i]) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                  Text(api, ": parameter sizes[", i, "] has the value ", batch.sizes[i],
                       ", accepted: at most destMaxs[", i, "], which is ", batch.dest_maxs[i], "."));
    }
  }
  *fail_index = SIZE_MAX;
  return ACL_SUCCESS;
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// The signatures are CANN's.
// NOLINTBEGIN(readability-non-const-parameter)
aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                          size_t* failIndex) {
  const profile::Call profiled("aclrtMemcpyBatch");
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  if (aclError status = Check("aclrtMemcpyBatch", batch, failIndex)) return status;
  if (aclError status = RefuseAtOnce("aclrtMemcpyBatch")) return status;
  for (size_t i = 0; i < numBatches; ++i) {
    if (sizes[i] == 0) continue;
    if (sanitizer::IsOn()) {
      sanitizer::hooks->CopyChecked("aclrtMemcpyBatch", {.to = dsts[i], .from = srcs[i], .width = sizes[i]},
                                    KindOf(batch.AttrOf(i)));
    } else {
      std::memmove(dsts[i], srcs[i], sizes[i]);
    }
  }
  return ACL_SUCCESS;
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                               size_t* failIndex, aclrtStream stream) {
  const profile::Call profiled("aclrtMemcpyBatchAsync");
  const char* const api = "aclrtMemcpyBatchAsync";
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  if (aclError status = Check(api, batch, failIndex)) return status;
  for (size_t i = 0; i < numBatches; ++i) {
    if (sizes[i] == 0) continue;
    const CopyRows rows{.to = dsts[i], .from = srcs[i], .width = sizes[i]};
    if (sanitizer::IsOn()) sanitizer::hooks->CheckCopy(api, rows, KindOf(batch.AttrOf(i)));
    if (aclError status = SubmitCopy(api, stream, rows, MustComplete(KindOf(batch.AttrOf(i)), rows))) {
      *failIndex = i;
      return status;
    }
  }
  return ACL_SUCCESS;
}
// NOLINTEND(readability-non-const-parameter)
