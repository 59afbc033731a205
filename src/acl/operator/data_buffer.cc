// Data buffers: an address with a size.
// SPDX-License-Identifier: Apache-2.0
#include <new>

#include "acl/acl_base.h"
#include "base/errors.h"

struct aclDataBuffer {
  void* data;
  size_t size;
};

using namespace portacl;

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  auto* const created = new (std::nothrow) aclDataBuffer{data, size};
  if (created == nullptr) {
    Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text("aclCreateDataBuffer: not enough memory."));
  }
  return created;
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  if (dataBuffer == nullptr) return FailNullPointer("aclDestroyDataBuffer", "dataBuffer", "a data buffer");
  delete dataBuffer;
  return ACL_SUCCESS;
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  if (dataBuffer == nullptr) return FailNullPointer("aclUpdateDataBuffer", "dataBuffer", "a data buffer");
  *dataBuffer = {data, size};
  return ACL_SUCCESS;
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  if (dataBuffer != nullptr) return dataBuffer->data;
  FailNullPointer("aclGetDataBufferAddr", "dataBuffer", "a data buffer");
  return nullptr;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  if (dataBuffer != nullptr) return dataBuffer->size;
  FailNullPointer("aclGetDataBufferSizeV2", "dataBuffer", "a data buffer");
  return 0;
}
