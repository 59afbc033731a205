// Programs that compute with memory to which nobody wrote, with their right twins.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/serving.h"
#include "check/corpus.h"
#include "check/programs.h"

using namespace corpus;

namespace {

// Of two slots of a cache the first one is written, from a row of 8 numbers.
void PutToken(float* cache) {
  const int64_t dims[] = {1, 2, 1, 8}, storage[] = {16};
  aclTensor* const pages =
      aclCreateTensor(dims, 4, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, storage, 1, cache);
  const int64_t row[] = {1, 1, 8};
  aclTensor* const key =
      aclCreateTensor(row, 3, ACL_FLOAT16, nullptr, 0, ACL_FORMAT_ND, row + 2, 1, Zeros(kBytes));
  aclTensor* const slots =
      aclCreateTensor(row, 1, ACL_INT32, nullptr, 0, ACL_FORMAT_ND, row, 1, Zeros(kBytes));
  Launch(aclnnScatterPaKvCacheGetWorkspaceSize, aclnnScatterPaKvCache, aclrtStream{}, key, pages, slots,
         static_cast<aclTensor*>(nullptr), static_cast<aclTensor*>(nullptr), static_cast<aclTensor*>(nullptr),
         static_cast<aclTensor*>(nullptr), static_cast<aclTensor*>(nullptr), static_cast<char*>(nullptr),
         static_cast<char*>(nullptr), static_cast<aclIntArray*>(nullptr), static_cast<aclIntArray*>(nullptr));
}

}  // namespace

CASE(
    input_never_written, "uninitialised-read",
    "parameter self is read, but nothing was written to 0x[0-9a-f]+, byte 0 of 1024 bytes of device memory "
    "from aclrtMalloc",
    { Abs(Tensor(Device(kBytes), {kElements}), Tensor(Device(kBytes), {kElements})); },
    { Abs(Tensor(Zeros(kBytes), {kElements}), Tensor(Device(kBytes), {kElements})); })

CASE(
    input_written_in_part, "uninitialised-read", "byte 512 of 1024 bytes",
    {
      float* device = Device(kBytes);
      Must(aclrtMemset(device, kBytes, 0, kBytes / 2));
      Abs(Tensor(device, {kElements}), Tensor(Device(kBytes), {kElements}));
    },
    {
      float* device = Device(kBytes);
      Must(aclrtMemset(device, kBytes, 0, kBytes / 2));
      Abs(Tensor(device, {kElements / 2}), Tensor(Device(kBytes), {kElements / 2}));
    })

CASE(
    input_lacks_its_last_bytes, "uninitialised-read", "byte 1008 of 1024 bytes",
    {
      float* device = Device(kBytes);
      Must(aclrtMemset(device, kBytes, 0, kBytes - 16));
      Abs(Tensor(device, {kElements}), Tensor(Device(kBytes), {kElements}));
    },
    {
      float* device = Device(kBytes);
      Must(aclrtMemset(device, kBytes, 0, kBytes - 16));
      Abs(Tensor(device, {kElements - 4}), Tensor(Device(kBytes), {kElements - 4}));
    })

// The padding between rows is nobody's.
CASE(
    padding_is_read, "uninitialised-read", "parameter self is read",
    {
      float* device = Device(kBytes);
      float host[4 * 48] = {};
      Must(aclrtMemcpy2d(device, 256, host, 192, 192, 4, ACL_MEMCPY_HOST_TO_DEVICE));
      Abs(Tensor(device, {4, 64}), Tensor(Device(kBytes), {4, 64}));
    },
    {
      float* device = Device(kBytes);
      float host[4 * 48] = {};
      Must(aclrtMemcpy2d(device, 256, host, 192, 192, 4, ACL_MEMCPY_HOST_TO_DEVICE));
      Abs(Tensor(device, {4, 48}, {64, 1}, 256), Tensor(Device(kBytes), {4, 48}));
    })

CASE(
    copied_and_never_written, "uninitialised-read", "nothing was written",
    {
      float* device = Device(kBytes);
      Must(aclrtMemcpy(device, kBytes, Device(kBytes), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
      Abs(Tensor(device, {kElements}), Tensor(Device(kBytes), {kElements}));
    },
    {
      float* device = Device(kBytes);
      Must(aclrtMemcpy(device, kBytes, Zeros(kBytes), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
      Abs(Tensor(device, {kElements}), Tensor(Device(kBytes), {kElements}));
    })

CASE(
    rewritten_before_it_was_written, "uninitialised-read",
    "aclnnInplaceRelu: parameter selfRef|aclnnInplaceRelu: ",
    { InplaceRelu(Tensor(Device(kBytes), {kElements})); },
    {
      float* device = Device(kBytes);
      InplaceCopy(Tensor(device, {kElements}), Tensor(Zeros(kBytes), {kElements}));
      InplaceRelu(Tensor(device, {kElements}));
    })

// The allocator gives the same memory again, with what was there before: on an NPU, maybe.
CASE(
    new_memory_is_not_the_old, "uninitialised-read", "nothing was written",
    {
      Must(aclrtFree(Zeros(kBytes)));
      Abs(Tensor(Device(kBytes), {kElements}), Tensor(Device(kBytes), {kElements}));
    },
    {
      Must(aclrtFree(Zeros(kBytes)));
      Abs(Tensor(Zeros(kBytes), {kElements}), Tensor(Device(kBytes), {kElements}));
    })

CASE(
    moved_but_never_written, "warning:uninitialised-copy",
    "it matters where what was copied is computed with",
    { InplaceCopy(Tensor(Device(kBytes), {kElements}), Tensor(Device(kBytes), {kElements})); },
    { InplaceCopy(Tensor(Device(kBytes), {kElements}), Tensor(Zeros(kBytes), {kElements})); })

// Slots of a cache that no token has are left alone, and so is what was in them: nothing, at first.
CASE(
    cache_read_before_its_first_token, "uninitialised-read",
    "aclnnAbs: parameter self is read, but nothing was written",
    {
      float* cache = Device(kBytes);
      Abs(Tensor(cache, {4}), Tensor(Device(kBytes), {4}));
      PutToken(cache);
    },
    {
      float* cache = Device(kBytes);
      PutToken(cache);
      Abs(Tensor(cache, {4}), Tensor(Device(kBytes), {4}));
    })
