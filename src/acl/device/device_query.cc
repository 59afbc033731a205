// Queries about a device: its state, its numbers, and its name for the rest of the machine.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/settings/configuration.h"
#include "acl/settings/host_memory.h"
#include "acl/settings/soc_profile.h"
#include "base/errors.h"
#include "base/process/cancellation.h"

namespace portacl {
namespace {

// Reads the beginning of a system file, as much as fits. Returns an empty text if it cannot be read.
std::string_view ReadBeginning(const char* path, char* room, size_t size) noexcept {
  const CancellationDeferred deferred;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? -1 : read(file, room, size);
  if (file >= 0) close(file);
  return {room, length > 0 ? static_cast<size_t>(length) : 0};
}

int64_t L2Bytes() noexcept { return std::max<int64_t>(0, sysconf(_SC_LEVEL2_CACHE_SIZE)); }

int64_t Threads() noexcept { return CurrentConfiguration().num_threads; }

aclError StoreKnown(const char* api, int64_t found, int64_t* value) noexcept {
  if (found <= 0) return FailUnsupported(api, "the system does not tell this number");
  *value = found;
  return ACL_SUCCESS;
}

// Returns the percentage of time that the machine's processors were busy since the previous call, for any
// device; the first call counts from the machine's start. Returns -1 if the system does not tell.
int32_t ProcessorUtilization() noexcept {
  static std::atomic<uint64_t> last_busy{0};
  static std::atomic<uint64_t> last_total{0};
  static std::atomic<int32_t> last_percent{0};
  char room[512];
  const std::string_view text = ReadBeginning("/proc/stat", room, sizeof room);
  if (!text.starts_with("cpu ")) return -1;
  // user, nice, system, idle, iowait, irq, softirq, steal
  uint64_t total = 0;
  uint64_t idle = 0;
  const char* at = text.data() + 4;
  const char* const end = text.data() + text.size();
  for (int field = 0; field < 8; ++field) {
    while (at < end && *at == ' ') ++at;
    uint64_t ticks = 0;
    const auto parsed = std::from_chars(at, end, ticks);
    if (parsed.ec != std::errc()) return -1;
    at = parsed.ptr;
    total += ticks;
    if (field == 3 || field == 4) idle += ticks;
  }
  const uint64_t passed = total - last_total.exchange(total);
  const uint64_t busy = (total - idle) - last_busy.exchange(total - idle);
  // Within one clock tick the previous result still holds.
  if (passed == 0 || passed > total) return last_percent.load();
  const auto percent = static_cast<int32_t>(std::min<uint64_t>(100, busy * 100 / passed));
  last_percent.store(percent);
  return percent;
}

uint64_t Hash(uint64_t seed, std::string_view text) noexcept {
  uint64_t hash = 0xCBF29CE484222325 ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return hash;
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  const char* const api = "aclrtQueryDeviceStatus";
  if (deviceStatus == nullptr)
    return FailNullPointer(api, "deviceStatus", "the address of an aclrtDeviceStatus");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  const char* const api = "aclrtGetDeviceInfo";
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an int64_t");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      *value = Threads();
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      return StoreKnown(api, static_cast<int64_t>(ReadHostMemory().total), value);
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      return StoreKnown(api, L2Bytes(), value);
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      *value = CurrentConfiguration().visible_devices[deviceId];
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_IS_VIRTUAL:
      *value = 0;
      return ACL_SUCCESS;
    case ACL_DEV_ATTR_NPU_ARCH:
      return StoreKnown(api, CurrentConfiguration().soc->npu_arch, value);
    case ACL_DEV_ATTR_WARP_SIZE:
    case ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE:
    case ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE:
    case ACL_DEV_ATTR_MAX_GRID_DIM_X:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Y:
    case ACL_DEV_ATTR_MAX_GRID_DIM_Z:
    case ACL_DEV_ATTR_MAX_BLOCK_PER_GRID:
    case ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_X:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Y:
    case ACL_DEV_ATTR_MAX_BLOCK_DIM_Z:
      return FailUnsupported(api, Text("attribute ", static_cast<int>(attr),
                                       " is of kernels, which a program cannot "
                                       "launch here")
                                      .view());
    case ACL_DEV_ATTR_SMP_ID:
    case ACL_DEV_ATTR_SUPER_POD_DEVICE_ID:
    case ACL_DEV_ATTR_SUPER_POD_SERVER_ID:
    case ACL_DEV_ATTR_SUPER_POD_ID:
    case ACL_DEV_ATTR_CUST_OP_PRIVILEGE:
    case ACL_DEV_ATTR_MAINBOARD_ID:
    case ACL_DEV_ATTR_HD_CONNECT_TYPE:
    case ACL_DEV_ATTR_DEVICE_FORM_FACTOR:
      return FailUnsupported(api, Text("attribute ", static_cast<int>(attr),
                                       " is of a device's board, of which there "
                                       "is none")
                                      .view());
  }
  return FailValue(api, "attr", static_cast<int>(attr), "an enumerator of aclrtDevAttr",
                   ACL_ERROR_INVALID_PARAM);
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  const char* const api = "aclGetDeviceCapability";
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an int64_t");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  switch (deviceInfo) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      *value = Threads();
      return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE:
      return StoreKnown(api, L2Bytes(), value);
    case ACL_DEVICE_INFO_UNDEFINED:
      break;
  }
  return FailValue(api, "deviceInfo", static_cast<int>(deviceInfo), "0 to 2", ACL_ERROR_INVALID_PARAM);
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t* value) {
  const char* const api = "aclrtGetDeviceCapability";
  if (value == nullptr) return FailNullPointer(api, "value", "the address of an int32_t");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
      devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
    return FailValue(api, "devFeatureType", static_cast<int>(devFeatureType), "1 or 21",
                     ACL_ERROR_INVALID_PARAM);
  }
  *value = 0;  // neither updates of captured tasks nor queues between devices
  return ACL_SUCCESS;
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  const char* const api = "aclrtGetDeviceUtilizationRate";
  if (utilizationInfo == nullptr) {
    return FailNullPointer(api, "utilizationInfo", "the address of an aclrtUtilizationInfo");
  }
  if (aclError status = CheckDevice(api, deviceId)) return status;
  const int32_t processors = ProcessorUtilization();
  const HostMemory memory = ReadHostMemory();
  *utilizationInfo = {};
  utilizationInfo->cubeUtilization = processors;
  utilizationInfo->vectorUtilization = processors;
  utilizationInfo->aicpuUtilization = processors;
  utilizationInfo->memoryUtilization =
      memory.total == 0 ? -1 : static_cast<int32_t>((memory.total - memory.available) * 100.0 / memory.total);
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  const char* const api = "aclrtDeviceGetUuid";
  if (uuid == nullptr) return FailNullPointer(api, "uuid", "the address of an aclrtUuid");
  if (aclError status = CheckDevice(api, deviceId)) return status;
  char room[256] = {};
  std::string_view machine = ReadBeginning("/etc/machine-id", room, sizeof room);
  if (machine.empty() && gethostname(room, sizeof room - 1) == 0) machine = room;
  const auto device =
      static_cast<uint64_t>(CurrentConfiguration().visible_devices[static_cast<size_t>(deviceId)]);
  const uint64_t hashes[2] = {Hash(device, machine), Hash(device + (uint64_t{1} << 32), machine)};
  static_assert(sizeof hashes == sizeof uuid->bytes);
  std::memcpy(uuid->bytes, hashes, sizeof hashes);
  // Sets the version and variant bits of a UUID with vendor-defined content.
  uuid->bytes[6] = static_cast<char>((uuid->bytes[6] & 0x0F) | 0x80);
  uuid->bytes[8] = static_cast<char>((uuid->bytes[8] & 0x3F) | 0x80);
  return ACL_SUCCESS;
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  const char* const api = "aclrtGetLogicDevIdByUserDevId";
  if (logicDevId == nullptr) return FailNullPointer(api, "logicDevId", "the address of an int32_t");
  if (aclError status = CheckDevice(api, userDevid)) return status;
  *logicDevId = CurrentConfiguration().visible_devices[static_cast<size_t>(userDevid)];
  return ACL_SUCCESS;
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  if (pid == nullptr) return FailNullPointer("aclrtDeviceGetBareTgid", "pid", "the address of an int32_t");
  *pid = static_cast<int32_t>(getpid());
  return ACL_SUCCESS;
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  if (tsId == ACL_TS_ID_AICORE) return ACL_SUCCESS;
  if (tsId == ACL_TS_ID_AIVECTOR)
    return FailUnsupported("aclrtSetTsDevice", "a device has one scheduler here, 0");
  return FailValue("aclrtSetTsDevice", "tsId", static_cast<int>(tsId), "0 (ACL_TS_ID_AICORE)",
                   ACL_ERROR_INVALID_PARAM);
}
