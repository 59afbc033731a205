// Unsupported channels of tensors between devices and hosts. The functions exist, so that a client which
// links to every name loads, and refuse every call.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_tdt.h"
#include "base/errors.h"

using namespace portacl;

namespace {

// Returns the code, with a message that names the function.
aclError Refuse(const char* function) {
  return FailUnsupported(function, "no graph engine is here, whose graphs would send tensors");
}

}  // namespace

acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t, const char*, size_t) {
  Refuse("acltdtCreateChannelWithCapacity");
  return nullptr;
}

acltdtDataset* acltdtCreateDataset(void) {
  Refuse("acltdtCreateDataset");
  return nullptr;
}

acltdtDataItem* acltdtGetDataItem(const acltdtDataset*, size_t) {
  Refuse("acltdtGetDataItem");
  return nullptr;
}

void* acltdtGetDataAddrFromItem(const acltdtDataItem*) {
  Refuse("acltdtGetDataAddrFromItem");
  return nullptr;
}

aclError acltdtDestroyChannel(acltdtChannelHandle*) { return Refuse("acltdtDestroyChannel"); }
aclError acltdtDestroyDataset(acltdtDataset*) { return Refuse("acltdtDestroyDataset"); }

aclError acltdtReceiveTensor(const acltdtChannelHandle*, acltdtDataset*, int32_t) {
  return Refuse("acltdtReceiveTensor");
}

aclError acltdtGetDimsFromItem(const acltdtDataItem*, int64_t*, size_t) {
  return Refuse("acltdtGetDimsFromItem");
}

size_t acltdtGetDatasetSize(const acltdtDataset*) {
  Refuse("acltdtGetDatasetSize");
  return 0;
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem*) {
  Refuse("acltdtGetDataSizeFromItem");
  return 0;
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem*) {
  Refuse("acltdtGetDimNumFromItem");
  return 0;
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem*) {
  Refuse("acltdtGetDataTypeFromItem");
  return ACL_DT_UNDEFINED;
}
