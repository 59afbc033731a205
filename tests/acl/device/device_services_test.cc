// Devices: which there are, what they say of themselves, peers, limits on cores, many threads on several of
// them.
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "acl/runtime_fixture.h"
#include "acl/stream/thread_limit.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

using Start = ScopedEnvironment::Start;

Variables Devices(const std::string& count, const std::string& visible = "") {
  return {
      {"PORTACL_DEVICE_COUNT", count}, {"ASCEND_RT_VISIBLE_DEVICES", visible}, {"PORTACL_NUM_THREADS", "4"}};
}

std::vector<int32_t> VisibleDevices() {
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), 0);
  std::vector<int32_t> devices;
  for (uint32_t i = 0; i < count; ++i) {
    int32_t device = -1;
    EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(static_cast<int32_t>(i), &device), 0);
    devices.push_back(device);
  }
  return devices;
}

TEST(DeviceServices, VisibleDevices) {
  const struct {
    const char* list;
    std::vector<int32_t> expected;
  } cases[] = {{"", {0, 1, 2, 3}}, {"0,1,2,3", {0, 1, 2, 3}},
               {"2", {2}},         {"1,3", {1, 3}},
               {"1,x,3", {1}},     {"3,1", {3}},
               {"1,1", {1}},       {"1,4", {1}},
               {"4", {}},          {"-1", {}},
               {"x", {}},          {"1 ,2", {}},
               {"1,,2", {1}},      {"1,", {1}},
               {"0,2,", {0, 2}}};
  for (const auto& one : cases) {
    const ScopedEnvironment environment(Devices("4", one.list), Start::kWithoutDevice);
    EXPECT_EQ(VisibleDevices(), one.expected) << one.list;
    EXPECT_EQ(aclrtSetDevice(static_cast<int32_t>(one.expected.size())), ACL_ERROR_RT_INVALID_DEVICEID)
        << one.list;
  }
  const ScopedEnvironment environment(Devices("4", "1,3"));
  int64_t chip = -1;
  EXPECT_EQ(aclrtGetDeviceInfo(1, ACL_DEV_ATTR_PHY_CHIP_ID, &chip), 0);
  EXPECT_EQ(chip, 3);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(2, &device), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(-1, &device), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(0, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(DeviceServices, ADeviceTooManyNamesTheVariablesThatSayHowMany) {
  const struct {
    const char* list;
    int32_t device;
    const char* accepted;
  } cases[] = {{"", 2, "accepted: 0 to 1"}, {"0", 1, "accepted: 0 to 0"}, {"2", 0, "leaves no device"}};
  for (const auto& one : cases) {
    const ScopedEnvironment environment(Devices("2", one.list), Start::kWithoutDevice);
    EXPECT_EQ(aclrtSetDevice(one.device), ACL_ERROR_RT_INVALID_DEVICEID);
    const char* const said = aclGetRecentErrMsg();
    const std::string message = said == nullptr ? "" : said;
    for (const std::string& part :
         {"deviceId has the value " + std::to_string(one.device), std::string(one.accepted),
          std::string("PORTACL_DEVICE_COUNT"), std::string("ASCEND_RT_VISIBLE_DEVICES")}) {
      EXPECT_NE(message.find(part), std::string::npos) << part << " is not in: " << message;
    }
  }
}

TEST(DeviceServices, WhatADeviceSaysOfItself) {
  const ScopedEnvironment environment(Devices("2"), Start::kWithoutDevice);
  aclrtDeviceStatus state = ACL_RT_DEVICE_STATUS_END;
  EXPECT_EQ(aclrtQueryDeviceStatus(1, &state), 0);
  EXPECT_EQ(state, ACL_RT_DEVICE_STATUS_NORMAL);
  EXPECT_EQ(aclrtQueryDeviceStatus(2, &state), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtQueryDeviceStatus(0, nullptr), ACL_ERROR_INVALID_PARAM);

  int64_t value = -1;
  for (const int attribute : {1, 101, 102, 201}) {
    EXPECT_EQ(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(attribute), &value), 0);
    EXPECT_EQ(value, 4) << attribute;
  }
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &value), 0);
  EXPECT_NEAR(static_cast<double>(value),
              static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)), 1e9);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &value), 0);
  EXPECT_EQ(value, 2201);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_IS_VIRTUAL, &value), 0);
  EXPECT_EQ(value, 0);
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_L2_CACHE_SIZE, &value),
            l2 > 0 ? 0 : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  value = 77;
  for (const int attribute :
       {202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 401, 403, 404, 405, 406, 407, 408, 409}) {
    EXPECT_EQ(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(attribute), &value),
              ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  }
  EXPECT_EQ(aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(9999), &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(value, 77);
  EXPECT_EQ(aclrtGetDeviceInfo(9, ACL_DEV_ATTR_IS_VIRTUAL, &value), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_IS_VIRTUAL, nullptr), ACL_ERROR_INVALID_PARAM);

  EXPECT_EQ(aclGetDeviceCapability(1, ACL_DEVICE_INFO_AI_CORE_NUM, &value), 0);
  EXPECT_EQ(value, 4);
  EXPECT_EQ(aclGetDeviceCapability(1, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &value), 0);
  EXPECT_EQ(aclGetDeviceCapability(1, ACL_DEVICE_INFO_L2_SIZE, &value),
            l2 > 0 ? 0 : ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclGetDeviceCapability(2, ACL_DEVICE_INFO_AI_CORE_NUM, &value), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_UNDEFINED, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, nullptr), ACL_ERROR_INVALID_PARAM);

  int32_t has = 9;
  EXPECT_EQ(aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &has), 0);
  EXPECT_EQ(has, 0);
  EXPECT_EQ(aclrtGetDeviceCapability(0, static_cast<aclrtDevFeatureType>(2), &has), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceCapability(2, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &has),
            ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, nullptr),
            ACL_ERROR_INVALID_PARAM);

  aclrtUtilizationInfo utilization{};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, &utilization), 0);
    for (const int32_t percent : {utilization.cubeUtilization, utilization.vectorUtilization,
                                  utilization.aicpuUtilization, utilization.memoryUtilization}) {
      EXPECT_GE(percent, 0);
      EXPECT_LE(percent, 100);
    }
  }
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(2, &utilization), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, nullptr), ACL_ERROR_INVALID_PARAM);

  aclrtUuid first{};
  aclrtUuid again{};
  aclrtUuid second{};
  EXPECT_EQ(aclrtDeviceGetUuid(0, &first), 0);
  EXPECT_EQ(aclrtDeviceGetUuid(0, &again), 0);
  EXPECT_EQ(aclrtDeviceGetUuid(1, &second), 0);
  EXPECT_EQ(std::memcmp(&first, &again, 16), 0);
  EXPECT_NE(std::memcmp(&first, &second, 16), 0);
  EXPECT_EQ(aclrtDeviceGetUuid(2, &first), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceGetUuid(0, nullptr), ACL_ERROR_INVALID_PARAM);

  int32_t pid = 0;
  EXPECT_EQ(aclrtDeviceGetBareTgid(&pid), 0);
  EXPECT_EQ(pid, getpid());
  EXPECT_EQ(aclrtDeviceGetBareTgid(nullptr), ACL_ERROR_INVALID_PARAM);
  int32_t least = -1;
  int32_t greatest = -1;
  EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(&least, &greatest), 0);
  EXPECT_EQ(least, 7);
  EXPECT_EQ(greatest, 0);
  EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(nullptr, &greatest), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetStreamPriorityRange(&least, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AICORE), 0);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_RESERVED), ACL_ERROR_INVALID_PARAM);
}

// A UUID is of the device, not of the number that the process knows it by.
TEST(DeviceServices, AUuidStaysWithItsDevice) {
  aclrtUuid third{};
  aclrtUuid only{};
  {
    const ScopedEnvironment environment(Devices("4"), Start::kWithoutDevice);
    ASSERT_EQ(aclrtDeviceGetUuid(2, &third), 0);
  }
  const ScopedEnvironment environment(Devices("4", "2"), Start::kWithoutDevice);
  ASSERT_EQ(aclrtDeviceGetUuid(0, &only), 0);
  EXPECT_EQ(std::memcmp(&third, &only, 16), 0);
}

TEST(DeviceServices, PrimaryContext) {
  const ScopedEnvironment environment(Devices("2"), Start::kWithoutDevice);
  uint32_t flags = 9;
  int32_t active = 9;
  EXPECT_EQ(aclrtGetPrimaryCtxState(1, &flags, &active), 0);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(flags, 0u);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  EXPECT_EQ(aclrtGetPrimaryCtxState(1, &flags, &active), 0);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, &flags, &active), 0);
  EXPECT_EQ(active, 0);
  ASSERT_EQ(aclrtResetDeviceForce(1), 0);
  EXPECT_EQ(aclrtGetPrimaryCtxState(1, &flags, &active), 0);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(aclrtGetPrimaryCtxState(2, &flags, &active), ACL_ERROR_RT_INVALID_DEVICEID);
  // Clients that want to know no more than whether the context is there pass no flags.
  active = 9;
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), 0);
  EXPECT_EQ(active, 0);
  EXPECT_EQ(aclrtGetPrimaryCtxState(2, nullptr, &active), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, &flags, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(DeviceServices, Peers) {
  const ScopedEnvironment environment(Devices("2"));
  int32_t can = 0;
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 1), 0);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 1, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 2), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 2, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(nullptr, 0, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_PARAM_INVALID) << "not enabled";
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(2, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), 0);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), 0);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), 0);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_PARAM_INVALID);
  std::thread([] {
    EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
}

TEST(DeviceServices, LimitsOnCores) {
  const ScopedEnvironment environment(Devices("2"));
  const aclrtDevResLimitType vector = ACL_RT_DEV_RES_VECTOR_CORE;
  uint32_t value = 0;
  const auto in_thread = [&] {
    EXPECT_EQ(aclrtGetResInCurrentThread(vector, &value), 0);
    EXPECT_EQ(static_cast<uint32_t>(ThreadLimit()), value) << "what operators use";
    return value;
  };
  const auto of_stream = [&](aclrtStream stream) {
    EXPECT_EQ(aclrtGetStreamResLimit(stream, vector, &value), 0);
    return value;
  };
  EXPECT_EQ(in_thread(), 4u);
  ASSERT_EQ(aclrtSetDeviceResLimit(0, vector, 3), 0);
  EXPECT_EQ(in_thread(), 3u);
  EXPECT_EQ(of_stream(environment.stream()), 3u);
  EXPECT_EQ(aclrtGetDeviceResLimit(1, vector, &value), 0);
  EXPECT_EQ(value, 4u);
  EXPECT_EQ(aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &value), 0);
  EXPECT_EQ(value, 4u);
  ASSERT_EQ(aclrtSetStreamResLimit(environment.stream(), vector, 2), 0);
  EXPECT_EQ(of_stream(environment.stream()), 2u);
  EXPECT_EQ(in_thread(), 3u) << "not yet in use";
  ASSERT_EQ(aclrtUseStreamResInCurrentThread(environment.stream()), 0);
  EXPECT_EQ(in_thread(), 2u);
  std::thread([&] {
    EXPECT_EQ(aclrtGetResInCurrentThread(vector, &value), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(aclrtSetDevice(0), 0);
    EXPECT_EQ(in_thread(), 3u) << "only in the thread that said so";
    ASSERT_EQ(aclrtResetDevice(0), 0);
  }).join();
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_TRUE(call.IsDone());
  ASSERT_EQ(aclrtResetStreamResLimit(environment.stream()), 0);
  EXPECT_EQ(in_thread(), 3u);
  ASSERT_EQ(aclrtSetStreamResLimit(nullptr, vector, 1), 0);
  ASSERT_EQ(aclrtUseStreamResInCurrentThread(nullptr), 0) << "the default stream";
  EXPECT_EQ(in_thread(), 1u);
  ASSERT_EQ(aclrtUnuseStreamResInCurrentThread(nullptr), 0);
  EXPECT_EQ(in_thread(), 3u);
  ASSERT_EQ(aclrtResetDeviceResLimit(0), 0);
  EXPECT_EQ(in_thread(), 4u);
  ASSERT_EQ(aclrtSetDeviceResLimit(1, vector, 2), 0);
  ASSERT_EQ(aclrtSetDevice(1), 0);
  EXPECT_EQ(in_thread(), 2u);
  ASSERT_EQ(aclrtResetDevice(1), 0);
  ASSERT_EQ(aclrtGetDeviceResLimit(1, vector, &value), 0);
  EXPECT_EQ(value, 4u) << "the last reset takes back the limits";
  ASSERT_EQ(aclrtSetDevice(0), 0);
  ASSERT_EQ(aclrtResetDevice(0), 0);

  const auto unknown = static_cast<aclrtDevResLimitType>(2);
  const aclrtStream stream = environment.stream();
  EXPECT_EQ(aclrtSetDeviceResLimit(0, vector, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, vector, 5), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, unknown, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetDeviceResLimit(2, vector, 1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceResLimit(2, vector, &value), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceResLimit(0, unknown, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceResLimit(0, vector, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtResetDeviceResLimit(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtSetStreamResLimit(stream, vector, 5), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetStreamResLimit(stream, unknown, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetStreamResLimit(&value, vector, 1), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtGetStreamResLimit(&value, vector, &value), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtGetStreamResLimit(stream, unknown, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetStreamResLimit(stream, vector, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtResetStreamResLimit(&value), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtUseStreamResInCurrentThread(&value), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(&value), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtGetResInCurrentThread(unknown, &value), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetResInCurrentThread(vector, nullptr), ACL_ERROR_INVALID_PARAM);
}

// Each thread knows its device only by what the runtime tells it.
void UseDevice(int32_t device, int number, std::atomic<int>& left) {
  ASSERT_EQ(aclrtSetDevice(device), 0);
  for (int round = 0; round < 20 / std::min(kSanitizerSlowness, 4); ++round) {
    int32_t current = -1;
    ASSERT_EQ(aclrtGetDevice(&current), 0);
    ASSERT_EQ(current, device);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), 0);
    void* memory = nullptr;
    ASSERT_EQ(aclrtMalloc(&memory, 4096, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    aclrtPtrAttributes attributes{};
    ASSERT_EQ(aclrtPointerGetAttributes(memory, &attributes), 0);
    ASSERT_EQ(attributes.location.id, static_cast<uint32_t>(device));
    auto call = std::make_unique<L1Call>(round % 2 == 0 ? kSmall : kLarge, number);
    ASSERT_EQ(call->Launch(stream), 0);
    auto of_default = std::make_unique<L1Call>(kSmall, number + 1);
    ASSERT_EQ(of_default->Launch(nullptr), 0);
    ASSERT_EQ(aclrtMemsetAsync(memory, 4096, number, 4096, stream), 0);
    ASSERT_EQ(aclrtSynchronizeDevice(), 0);
    ASSERT_TRUE(call->IsDone());
    ASSERT_TRUE(of_default->IsDone());
    ASSERT_EQ(static_cast<char*>(memory)[4095], static_cast<char>(number));
    ASSERT_EQ(
        aclrtSetDeviceResLimit(device, ACL_RT_DEV_RES_VECTOR_CORE, static_cast<uint32_t>(1 + round % 4)), 0);
    aclrtMemUsageInfo usage;
    size_t count = 0;
    ASSERT_EQ(aclrtGetMemUsageInfo(device, &usage, 1, &count), 0);
    ASSERT_GE(usage.curMemSize, 4096u);
    ASSERT_EQ(aclrtFreeWithDevSync(memory), 0);
    ASSERT_EQ(aclrtDestroyStream(stream), 0);
  }
  left.fetch_sub(1);
  ASSERT_EQ(aclrtResetDevice(device), 0);
}

TEST(DeviceServices, SeveralDevicesWithSeveralThreadsEach) {
  const ScopedEnvironment environment(Devices("4"), Start::kWithoutDevice);
  constexpr int kThreadsEach = 3;
  std::atomic<int> left{4 * kThreadsEach};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4 * kThreadsEach; ++i) {
    threads.emplace_back([i, &left] { UseDevice(i / kThreadsEach, i, left); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(left.load(), 0);
  for (int32_t device = 0; device < 4; ++device) {
    aclrtMemUsageInfo usage;
    size_t count = 0;
    ASSERT_EQ(aclrtGetMemUsageInfo(device, &usage, 1, &count), 0);
    EXPECT_EQ(usage.curMemSize, 0u);
    EXPECT_EQ(aclrtResetDevice(device), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << "every thread has reset it";
  }
  EXPECT_EQ(LiveStreams(), 0);
}

}  // namespace
}  // namespace portacl::testing
