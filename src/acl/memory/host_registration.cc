// Registration of the program's own host memory as pinned. Asynchronous copies then need not be done on
// return.
// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/memory/memory.h"
#include "base/errors.h"

namespace portacl {
namespace {

aclError Register(const char* api, void* address, uint64_t size) noexcept {
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice(api);
  if (reinterpret_cast<uintptr_t>(address) + size < size) {
    return FailValue(api, "size", size, "what lies between ptr and the end of the address space");
  }
  bool no_memory = false;
  if (EnterMemory(address, size, MemoryKind::kRegisteredHost, context->device, &no_memory))
    return ACL_SUCCESS;
  if (no_memory) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory."));
  }
  return FailValue(
      api, "ptr", static_cast<const void*>(address),
      "memory of which nothing is registered already or was allocated here, but by aclrtMallocHost",
      ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
}

aclError CheckRange(const char* api, const void* address, uint64_t size) noexcept {
  if (address == nullptr) return FailNullPointer(api, "ptr", "the address of host memory");
  return size > 0 ? ACL_SUCCESS : FailValue(api, "size", size, "1 or more bytes", ACL_ERROR_INVALID_PARAM);
}

aclError FailCannotEnforce(const char* api, const char* name) noexcept {
  return FailUnsupported(
      api, Text(name, " is a property of a device's address tables, which do not exist here").view());
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  const char* const api = "aclrtHostRegister";
  if (aclError status = CheckRange(api, ptr, size)) return status;
  if (devPtr == nullptr) return FailNullPointer(api, "devPtr", "the address of a pointer");
  if (type == ACL_HOST_REGISTER_IOMEMORY) return FailCannotEnforce(api, "ACL_HOST_REGISTER_IOMEMORY");
  if (type == ACL_HOST_REGISTER_READONLY) return FailCannotEnforce(api, "ACL_HOST_REGISTER_READONLY");
  if (type != ACL_HOST_REGISTER_MAPPED) {
    return FailValue(api, "type", static_cast<int>(type), "0 (ACL_HOST_REGISTER_MAPPED)",
                     ACL_ERROR_INVALID_PARAM);
  }
  if (aclError status = Register(api, ptr, size)) return status;
  *devPtr = ptr;
  return ACL_SUCCESS;
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  const char* const api = "aclrtHostRegisterV2";
  if (aclError status = CheckRange(api, ptr, size)) return status;
  if ((flag & ACL_HOST_REG_IOMEMORY) != 0) return FailCannotEnforce(api, "ACL_HOST_REG_IOMEMORY");
  if ((flag & ACL_HOST_REG_READONLY) != 0) return FailCannotEnforce(api, "ACL_HOST_REG_READONLY");
  if (flag == 0 || (flag & ~(ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED)) != 0) {
    return FailValue(api, "flag", flag, "ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED or both",
                     ACL_ERROR_INVALID_PARAM);
  }
  return Register(api, ptr, size);
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  const char* const api = "aclrtHostGetDevicePointer";
  if (pHost == nullptr) return FailNullPointer(api, "pHost", "the address of registered host memory");
  if (pDevice == nullptr) return FailNullPointer(api, "pDevice", "the address of a pointer");
  if (flag != 0) return FailValue(api, "flag", flag, "0", ACL_ERROR_INVALID_PARAM);
  const MemoryKind kind = KindOfMemory(pHost);
  if (kind != MemoryKind::kRegisteredHost && kind != MemoryKind::kPinnedHost) {
    return FailValue(api, "pHost", static_cast<const void*>(pHost),
                     "an address in memory of aclrtHostRegister or aclrtMallocHost",
                     ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  }
  *pDevice = pHost;
  return ACL_SUCCESS;
}

aclError aclrtHostUnregister(void* ptr) {
  const char* const api = "aclrtHostUnregister";
  if (ptr == nullptr) return FailNullPointer(api, "ptr", "the address that was registered");
  if (RemoveMemory(ptr, MemoryKind::kRegisteredHost)) return ACL_SUCCESS;
  return FailValue(api, "ptr", static_cast<const void*>(ptr),
                   "an address given to aclrtHostRegister, until now", ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
}
