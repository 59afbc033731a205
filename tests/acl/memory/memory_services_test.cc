// Memory beyond allocation and the plain copy: variants, matrices, batches, registration, attributes, virtual
// memory.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "acl/runtime_fixture.h"

#if PORTACL_ASAN || PORTACL_TSAN
// The sanitizers end the process at an allocation that is too large, unless told to behave like malloc.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
#endif

namespace {

constexpr size_t kTooMuch = size_t{1} << 60;
constexpr size_t kPage = size_t{2} << 20;

class MemoryServices : public RuntimeTest {
 protected:
  static void* Device(size_t size) {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMalloc(&memory, size, ACL_MEM_MALLOC_HUGE_FIRST), 0);
    return memory;
  }
  static char* Pinned(size_t size) {
    void* memory = nullptr;
    EXPECT_EQ(aclrtMallocHost(&memory, size), 0);
    std::memset(memory, 0, size);
    return static_cast<char*>(memory);
  }
  static aclrtMemLocationType TypeOf(const void* address) {
    aclrtPtrAttributes attributes;
    EXPECT_EQ(aclrtPointerGetAttributes(address, &attributes), 0);
    return attributes.location.type;
  }
};

TEST_F(MemoryServices, VariantsOfAllocation) {
  const auto check = [](const std::function<aclError(void**, size_t)>& allocate, bool of_host) {
    void* memory = nullptr;
    EXPECT_EQ(allocate(nullptr, 64), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(allocate(&memory, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(allocate(&memory, kTooMuch), ACL_ERROR_RT_MEMORY_ALLOCATION);
    EXPECT_EQ(memory, nullptr);
    std::thread([&] { EXPECT_EQ(allocate(&memory, 64), ACL_ERROR_RT_CONTEXT_NULL); }).join();
    ASSERT_EQ(allocate(&memory, 1000), 0);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 512, 0u);
    std::memset(memory, 1, 1000);
    EXPECT_EQ(of_host ? aclrtFree(memory) : aclrtFreeHost(memory), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(of_host ? aclrtFreeHost(memory) : aclrtFree(memory), 0);
  };
  check([](void** p, size_t n) { return aclrtMallocAlign32(p, n, ACL_MEM_MALLOC_HUGE_FIRST); }, false);
  check([](void** p, size_t n) { return aclrtMallocCached(p, n, ACL_MEM_MALLOC_HUGE_FIRST); }, false);
  check([](void** p, size_t n) { return aclrtMallocWithCfg(p, n, ACL_MEM_MALLOC_HUGE_FIRST, nullptr); },
        false);
  check([](void** p, size_t n) { return aclrtMallocHostWithCfg(p, n, nullptr); }, true);
  check([](void** p, size_t n) { return aclrtMemAllocManaged(p, n, ACL_RT_MEM_ATTACH_GLOBAL); }, false);
  void* memory = nullptr;
  EXPECT_EQ(aclrtMemAllocManaged(&memory, 64, 2), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemoryServices, AttributesOfAllocation) {
  aclrtMallocAttribute attributes[2] = {};
  attributes[0].attr = ACL_RT_MEM_ATTR_MODULE_ID;
  attributes[0].value.moduleId = 33;
  attributes[1].attr = ACL_RT_MEM_ATTR_DEVICE_ID;
  attributes[1].value.deviceId = 0;
  aclrtMallocConfig config{attributes, 2};
  void* memory = nullptr;
  ASSERT_EQ(aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY, &config), 0);
  EXPECT_EQ(aclrtFree(memory), 0);
  attributes[1].value.deviceId = 7;
  EXPECT_EQ(aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY, &config),
            ACL_ERROR_RT_INVALID_DEVICEID);
  attributes[1].attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attributes[1].value.vaFlag = 1;
  ASSERT_EQ(aclrtMallocHostWithCfg(&memory, 64, &config), 0);
  EXPECT_EQ(aclrtFreeHost(memory), 0);
  attributes[1].attr = static_cast<aclrtMallocAttrType>(9);
  EXPECT_EQ(aclrtMallocHostWithCfg(&memory, 64, &config), ACL_ERROR_INVALID_PARAM);
  config.attrs = nullptr;
  EXPECT_EQ(aclrtMallocHostWithCfg(&memory, 64, &config), ACL_ERROR_INVALID_PARAM);
}

TEST_F(MemoryServices, FreeingAfterTheWorkOfTheDevice) {
  const aclrtStream other = NewStream();
  for (const bool of_host : {false, true}) {
    std::atomic<bool> done{false};
    const auto slow = [](void* flag) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      static_cast<std::atomic<bool>*>(flag)->store(true);
    };
    void* memory = of_host ? Pinned(64) : Device(64);
    ASSERT_EQ(aclrtLaunchHostFunc(other, slow, &done), 0);
    EXPECT_EQ(of_host ? aclrtFreeHostWithDevSync(memory) : aclrtFreeWithDevSync(memory), 0);
    EXPECT_TRUE(done.load());
    EXPECT_EQ(of_host ? aclrtFreeHostWithDevSync(memory) : aclrtFreeWithDevSync(memory),
              ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(of_host ? aclrtFreeHostWithDevSync(nullptr) : aclrtFreeWithDevSync(nullptr),
              ACL_ERROR_INVALID_PARAM);
  }
  void* memory = Device(64);
  std::thread([&] { EXPECT_EQ(aclrtFreeWithDevSync(memory), ACL_ERROR_RT_CONTEXT_NULL); }).join();
  EXPECT_EQ(aclrtFree(memory), 0) << "nothing was freed without a device";
  EXPECT_EQ(aclrtDestroyStream(other), 0);
}

// Element (row, column) of a matrix whose rows are a pitch apart.
struct Matrix {
  Matrix(size_t the_pitch, size_t rows, char first) : pitch(the_pitch), bytes(the_pitch * rows) {
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(first + static_cast<char>(i % 50));
  }
  char at(size_t row, size_t column) const { return bytes[row * pitch + column]; }
  size_t pitch;
  std::vector<char> bytes;
};

TEST_F(MemoryServices, CopyOfAMatrix) {
  for (const bool async : {false, true}) {
    const Matrix from(10, 4, 'a');
    Matrix to(7, 4, 0);
    const Matrix before = to;
    const auto copy = [&](void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                          size_t height, int kind) {
      return async
                 ? aclrtMemcpy2dAsync(dst, dpitch, src, spitch, width, height,
                                      static_cast<aclrtMemcpyKind>(kind), stream_)
                 : aclrtMemcpy2d(dst, dpitch, src, spitch, width, height, static_cast<aclrtMemcpyKind>(kind));
    };
    char* const dst = to.bytes.data();
    const char* const src = from.bytes.data();
    EXPECT_EQ(copy(nullptr, 0, nullptr, 0, 0, 4, 1), 0);
    EXPECT_EQ(copy(nullptr, 0, nullptr, 0, 4, 0, 1), 0);
    EXPECT_EQ(copy(nullptr, 7, src, 10, 5, 4, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(copy(dst, 7, nullptr, 10, 5, 4, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(copy(dst, 7, src, 10, 8, 4, 1), ACL_ERROR_INVALID_PARAM) << "wider than dpitch";
    EXPECT_EQ(copy(dst, 7, src, 4, 5, 4, 1), ACL_ERROR_INVALID_PARAM) << "wider than spitch";
    EXPECT_EQ(copy(dst, 7, src, 10, 5, SIZE_MAX / 2, 1), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(copy(dst, 7, src, 10, 5, 4, 5), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(to.bytes, before.bytes);
    EXPECT_EQ(copy(dst, 7, src, 10, 5, 4, 1), 0);
    for (size_t row = 0; row < 4; ++row) {
      for (size_t column = 0; column < 7; ++column) {
        EXPECT_EQ(to.at(row, column), column < 5 ? from.at(row, column) : before.at(row, column));
      }
    }
    EXPECT_EQ(copy(dst, 7, src, 10, 5, 4, 0), async ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : 0);
  }
  char byte = 0;
  aclrtStream unknown = &byte;
  EXPECT_EQ(aclrtMemcpy2dAsync(&byte, 1, &byte, 1, 1, 1, ACL_MEMCPY_HOST_TO_DEVICE, unknown),
            ACL_ERROR_RT_STREAM_CONTEXT);
}

TEST_F(MemoryServices, AsynchronousCopiesKeepTheOrderOfTheStream) {
  char* const from = Pinned(6);
  char* const to = Pinned(6);
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtMemcpy2dAsync(to, 3, from, 3, 3, 2, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  std::memcpy(from, "sooner", 6);  // pinned: the copy has not begun
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(std::memcmp(to, "sooner", 6), 0);
  ASSERT_EQ(aclrtMemcpyAsyncWithCondition(to, 6, "pagean", 6, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(std::memcmp(to, "pagean", 6), 0) << "host memory that is not pinned: done at return";
  EXPECT_EQ(aclrtMemcpyAsyncWithCondition(to, 6, from, 6, ACL_MEMCPY_HOST_TO_HOST, stream_),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtFreeHost(from), 0);
  EXPECT_EQ(aclrtFreeHost(to), 0);
}

TEST_F(MemoryServices, Batches) {
  char a[4] = "abc";
  char b[4] = "def";
  char x[4] = {};
  char y[4] = {};
  void* dsts[] = {x, nullptr, y};
  void* srcs[] = {a, nullptr, b};
  size_t maxs[] = {4, 0, 4};
  size_t sizes[] = {4, 0, 4};
  aclrtMemcpyBatchAttr attrs[2] = {};
  attrs[0].dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attrs[1].srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  size_t indexes[] = {0, 2};
  size_t fail = 99;
  size_t count = 3;
  size_t attr_count = 2;
  for (const bool async : {false, true}) {
    const auto copy = [&] {
      return async ? aclrtMemcpyBatchAsync(dsts, maxs, srcs, sizes, count, attrs, indexes, attr_count, &fail,
                                           stream_)
                   : aclrtMemcpyBatch(dsts, maxs, srcs, sizes, count, attrs, indexes, attr_count, &fail);
    };
    std::memset(x, 0, 4);
    std::memset(y, 0, 4);
    EXPECT_EQ(copy(), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
    EXPECT_STREQ(x, "abc");
    EXPECT_STREQ(y, "def");
    EXPECT_EQ(fail, SIZE_MAX);
    maxs[2] = 3;
    EXPECT_EQ(copy(), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(fail, 2u);
    maxs[2] = 4;
    srcs[0] = nullptr;
    EXPECT_EQ(copy(), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(fail, 0u);
    srcs[0] = a;
    count = 0;
    EXPECT_EQ(copy(), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(fail, SIZE_MAX);
    count = 3;
    attr_count = 4;
    EXPECT_EQ(copy(), ACL_ERROR_INVALID_PARAM);
    attr_count = 0;
    EXPECT_EQ(copy(), ACL_ERROR_INVALID_PARAM);
    attr_count = 2;
    indexes[0] = 1;
    EXPECT_EQ(copy(), ACL_ERROR_INVALID_PARAM);
    indexes[0] = 0;
    indexes[1] = 3;
    EXPECT_EQ(copy(), ACL_ERROR_INVALID_PARAM);
    indexes[1] = 2;
    attrs[1].srcLoc.id = 5;
    EXPECT_EQ(copy(), ACL_ERROR_RT_INVALID_DEVICEID);
    attrs[1].srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
    EXPECT_EQ(copy(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    attrs[1].srcLoc = {0, ACL_MEM_LOCATION_TYPE_MANAGED};
    EXPECT_EQ(copy(), ACL_ERROR_INVALID_PARAM);
    attrs[1].srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  }
  EXPECT_EQ(aclrtMemcpyBatch(nullptr, maxs, srcs, sizes, 3, attrs, indexes, 2, &fail),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyBatch(dsts, maxs, srcs, sizes, 3, attrs, indexes, 2, nullptr),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, maxs, srcs, sizes, 3, attrs, indexes, 2, &fail, &fail),
            ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(fail, 0u);
}

TEST_F(MemoryServices, WhereAnAddressLies) {
  void* device = Device(100);
  void* large = Device(2 * kPage);
  char* pinned = Pinned(100);
  void* managed = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&managed, 100, ACL_RT_MEM_ATTACH_GLOBAL), 0);
  int own = 0;
  EXPECT_EQ(TypeOf(device), ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(TypeOf(static_cast<char*>(device) + 99), ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(TypeOf(static_cast<char*>(device) + 100), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_EQ(TypeOf(pinned), ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(TypeOf(managed), ACL_MEM_LOCATION_TYPE_MANAGED);
  EXPECT_EQ(TypeOf(&own), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  aclrtPtrAttributes attributes;
  ASSERT_EQ(aclrtPointerGetAttributes(large, &attributes), 0);
  EXPECT_EQ(attributes.pageSize, kPage);
  EXPECT_EQ(attributes.location.id, 0u);
  ASSERT_EQ(aclrtPointerGetAttributes(device, &attributes), 0);
  EXPECT_EQ(attributes.pageSize, 4096u);
  EXPECT_EQ(aclrtPointerGetAttributes(nullptr, &attributes), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPointerGetAttributes(device, nullptr), ACL_ERROR_INVALID_PARAM);
  for (void* one : {device, large, managed}) EXPECT_EQ(aclrtFree(one), 0);
  EXPECT_EQ(aclrtFreeHost(pinned), 0);
  EXPECT_EQ(TypeOf(device), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
}

TEST_F(MemoryServices, UsageOfADevice) {
  aclrtMemUsageInfo info[2];
  size_t count = 0;
  const auto usage = [&] {
    EXPECT_EQ(aclrtGetMemUsageInfo(0, info, 2, &count), 0);
    EXPECT_EQ(count, 1u);
    return info[0];
  };
  const aclrtMemUsageInfo before = usage();
  EXPECT_STREQ(before.name, "APP");
  void* memory = Device(100'000);
  char* pinned = Pinned(5000);
  EXPECT_EQ(usage().curMemSize, before.curMemSize + 100'000);
  EXPECT_EQ(aclrtFree(memory), 0);
  EXPECT_EQ(usage().curMemSize, before.curMemSize);
  EXPECT_GE(info[0].memPeakSize, before.curMemSize + 100'000);
  EXPECT_EQ(aclrtFreeHost(pinned), 0);
  EXPECT_EQ(aclrtGetMemUsageInfo(7, info, 2, &count), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetMemUsageInfo(0, nullptr, 2, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemUsageInfo(0, info, 2, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemUsageInfo(0, info, 0, &count), ACL_ERROR_INVALID_PARAM);
}

TEST_F(MemoryServices, Registration) {
  std::vector<char> memory(1000);
  char* const start = memory.data();
  void* address = nullptr;
  EXPECT_EQ(aclrtHostGetDevicePointer(start, &address, 0), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  ASSERT_EQ(aclrtHostRegister(start, 1000, ACL_HOST_REGISTER_MAPPED, &address), 0);
  EXPECT_EQ(address, start);
  EXPECT_EQ(TypeOf(start + 999), ACL_MEM_LOCATION_TYPE_HOST);
  ASSERT_EQ(aclrtHostGetDevicePointer(start + 10, &address, 0), 0);
  EXPECT_EQ(address, start + 10);
  EXPECT_EQ(aclrtHostGetDevicePointer(start, &address, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostGetDevicePointer(nullptr, &address, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegisterV2(start, 1000, ACL_HOST_REG_MAPPED), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(start + 500, 10, ACL_HOST_REG_MAPPED),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(start - 10, 11, ACL_HOST_REG_MAPPED),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);

  // An asynchronous copy from registered memory may go on after the call; a part that is not registered may
  // not.
  char target[4] = {};
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(target, 4, start, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream_), 0);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  std::memcpy(start, "abc", 4);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_STREQ(target, "abc");

  EXPECT_EQ(aclrtHostUnregister(start + 1), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(aclrtHostUnregister(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFreeHost(start), ACL_ERROR_RT_PARAM_INVALID) << "registering is not allocating";
  EXPECT_EQ(aclrtHostUnregister(start), 0);
  EXPECT_EQ(aclrtHostUnregister(start), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(start, 1000, ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED), 0);
  EXPECT_EQ(aclrtHostUnregister(start), 0);

  EXPECT_EQ(aclrtHostRegister(nullptr, 10, ACL_HOST_REGISTER_MAPPED, &address), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegister(start, 0, ACL_HOST_REGISTER_MAPPED, &address), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegister(start, 10, ACL_HOST_REGISTER_MAPPED, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegister(start, 10, ACL_HOST_REGISTER_IOMEMORY, &address),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtHostRegister(start, 10, ACL_HOST_REGISTER_READONLY, &address),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtHostRegister(start, 10, static_cast<aclrtHostRegisterType>(3), &address),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegister(start, SIZE_MAX, ACL_HOST_REGISTER_MAPPED, &address),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(start, 10, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostRegisterV2(start, 10, ACL_HOST_REG_IOMEMORY), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtHostRegisterV2(start, 10, ACL_HOST_REG_READONLY), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  std::thread([&] { EXPECT_EQ(aclrtHostRegisterV2(start, 10, 2), ACL_ERROR_RT_CONTEXT_NULL); }).join();
}

// A client that swaps tensors out allocates pinned memory and registers it, to be told the device's address.
TEST_F(MemoryServices, PinnedMemoryIsRegisteredToo) {
  char* const pinned = Pinned(8192);
  void* address = nullptr;
  ASSERT_EQ(aclrtHostRegister(pinned, 4096, ACL_HOST_REGISTER_MAPPED, &address), 0);
  EXPECT_EQ(address, pinned);
  EXPECT_EQ(aclrtHostRegisterV2(pinned, 1, ACL_HOST_REG_MAPPED), ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(pinned + 4095, 2, ACL_HOST_REG_MAPPED),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(pinned + 4096, 4097, ACL_HOST_REG_MAPPED),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED)
      << "beyond what was allocated";
  EXPECT_EQ(aclrtHostRegisterV2(pinned - 1, 2, ACL_HOST_REG_MAPPED),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostRegisterV2(pinned + 4096, 4096, ACL_HOST_REG_MAPPED), 0);
  EXPECT_EQ(aclrtHostUnregister(pinned + 4096), 0);
  EXPECT_EQ(aclrtHostUnregister(pinned + 4096), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_EQ(TypeOf(pinned + 4096), ACL_MEM_LOCATION_TYPE_HOST) << "still pinned";
  // Freed while it is registered: nothing of it is remembered by whoever gets the address next.
  EXPECT_EQ(aclrtFreeHost(pinned), 0);
  EXPECT_EQ(aclrtHostUnregister(pinned), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  void* const device = Device(4096);
  EXPECT_EQ(aclrtHostRegister(device, 4096, ACL_HOST_REGISTER_MAPPED, &address),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtFree(device), 0);
}

// It begins at a page and has whole ones: clients round its address and its size up to pages and register those.
TEST_F(MemoryServices, PinnedMemoryHasWholePages) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const auto check = [&](const std::function<aclError(void**, size_t)>& allocate) {
    // Several of a size: the heap gives some of them at a page by chance.
    for (const size_t size :
         {size_t{1}, size_t{64}, page - 1, page, page + 1, 5 * page, kPage, kPage + 100}) {
      std::vector<void*> blocks(3);
      for (void*& block : blocks) {
        ASSERT_EQ(allocate(&block, size), 0);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % page, 0u) << size;
        const size_t pages = (size + page - 1) / page * page;
        std::memset(block, 1, pages);
        void* address = nullptr;
        EXPECT_EQ(aclrtHostRegisterV2(block, pages + 1, ACL_HOST_REG_MAPPED),
                  ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        EXPECT_EQ(aclrtHostRegister(block, pages, ACL_HOST_REGISTER_MAPPED, &address), 0) << size;
        EXPECT_EQ(address, block);
      }
      EXPECT_EQ(aclrtHostUnregister(blocks[0]), 0);
      for (void* const block : blocks) EXPECT_EQ(aclrtFreeHost(block), 0);
    }
  };
  check([](void** p, size_t n) { return aclrtMallocHost(p, n); });
  check([](void** p, size_t n) { return aclrtMallocHostWithCfg(p, n, nullptr); });
}

// Memory that the library handed out was never registered: it is still there, and known, when it is not unregistered.
TEST_F(MemoryServices, OnlyRegisteredMemoryIsUnregistered) {
  void* const device = Device(4096);
  void* const pinned = Pinned(4096);
  void* managed = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&managed, 4096, ACL_RT_MEM_ATTACH_GLOBAL), 0);
  for (void* const memory : {device, pinned, managed}) {
    const aclrtMemLocationType type = TypeOf(memory);
    EXPECT_EQ(aclrtHostUnregister(memory), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
    EXPECT_EQ(TypeOf(memory), type);
    EXPECT_EQ(aclrtMemset(memory, 4096, 7, 4096), 0);
    EXPECT_EQ(memory == pinned ? aclrtFree(memory) : aclrtFreeHost(memory), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(static_cast<char*>(memory)[4095], 7);
    EXPECT_EQ(memory == pinned ? aclrtFreeHost(memory) : aclrtFree(memory), 0) << "it was not forgotten";
  }
}

TEST(DataBuffers, KeepAnAddressAndASize) {
  int value = 0;
  aclDataBuffer* buffer = aclCreateDataBuffer(&value, sizeof value);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &value);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof value);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, 7), 0);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 7u);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), 0);
  EXPECT_EQ(aclDestroyDataBuffer(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclUpdateDataBuffer(nullptr, &value, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclGetDataBufferAddr(nullptr), nullptr);
  EXPECT_EQ(aclGetDataBufferSizeV2(nullptr), 0u);
}

TEST_F(MemoryServices, Caches) {
  void* memory = Device(64);
  EXPECT_EQ(aclrtMemFlush(memory, 64), 0);
  EXPECT_EQ(aclrtMemFlush(nullptr, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemInvalidate(memory, 64), 0);
  EXPECT_EQ(aclrtMemInvalidate(memory, 0), ACL_ERROR_INVALID_PARAM);
  for (const aclrtCmoType type :
       {ACL_RT_CMO_TYPE_PREFETCH, ACL_RT_CMO_TYPE_WRITEBACK, ACL_RT_CMO_TYPE_FLUSH}) {
    EXPECT_EQ(aclrtCmoAsync(memory, 64, type, stream_), 0);
  }
  EXPECT_EQ(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_INVALID, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtCmoAsync(memory, 64, static_cast<aclrtCmoType>(9), stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCmoAsync(nullptr, 64, ACL_RT_CMO_TYPE_FLUSH, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCmoAsync(memory, 64, ACL_RT_CMO_TYPE_FLUSH, memory), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtFree(memory), 0);
}

class VirtualMemory : public MemoryServices {
 protected:
  static aclrtPhysicalMemProp Properties() {
    aclrtPhysicalMemProp properties{};
    properties.memAttr = ACL_HBM_MEM_HUGE;
    properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return properties;
  }
  static aclrtDrvMemHandle Physical(size_t size) {
    const aclrtPhysicalMemProp properties = Properties();
    aclrtDrvMemHandle handle = nullptr;
    EXPECT_EQ(aclrtMallocPhysical(&handle, size, &properties, 0), 0);
    return handle;
  }
  static char* Reserved(size_t size) {
    void* address = nullptr;
    EXPECT_EQ(aclrtReserveMemAddress(&address, size, 0, nullptr, 1), 0);
    return static_cast<char*>(address);
  }
};

// A segment that grows, as allocators use it.
TEST_F(VirtualMemory, ASegmentThatGrows) {
  size_t granularity = 0;
  aclrtPhysicalMemProp properties = Properties();
  ASSERT_EQ(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity),
            0);
  ASSERT_EQ(granularity, kPage);
  char* const start = Reserved(8 * kPage);
  ASSERT_EQ(reinterpret_cast<uintptr_t>(start) % kPage, 0u);
  const aclrtDrvMemHandle first = Physical(kPage);
  const aclrtDrvMemHandle second = Physical(2 * kPage);
  ASSERT_EQ(aclrtMapMem(start, kPage, 0, first, 0), 0);
  ASSERT_EQ(aclrtMapMem(start + kPage, 2 * kPage, 0, second, 0), 0);
  std::memset(start, 7, 3 * kPage);  // one range
  EXPECT_EQ(TypeOf(start + 3 * kPage - 1), ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(TypeOf(start + 3 * kPage), ACL_MEM_LOCATION_TYPE_UNREGISTERED);
  EXPECT_EQ(aclrtFree(start), ACL_ERROR_RT_PARAM_INVALID);
  // Memory lives while it is mapped, and keeps what is in it when it is mapped elsewhere.
  ASSERT_EQ(aclrtMapMem(start + 4 * kPage, kPage, 0, first, 0), 0);
  EXPECT_EQ(start[4 * kPage + 5], 7);
  EXPECT_EQ(aclrtFreePhysical(first), 0);
  start[0] = 9;
  EXPECT_EQ(start[4 * kPage], 9);

  EXPECT_EQ(aclrtMapMem(start, 2 * kPage, 0, second, 0), ACL_ERROR_RT_PARAM_INVALID)
      << "something is mapped there";
  EXPECT_EQ(aclrtMapMem(start + 7 * kPage, 2 * kPage, 0, second, 0), ACL_ERROR_RT_PARAM_INVALID)
      << "too long";
  EXPECT_EQ(aclrtMapMem(start + 6 * kPage, kPage, 0, second, 0), ACL_ERROR_RT_PARAM_INVALID)
      << "another size";
  EXPECT_EQ(aclrtMapMem(start + 5 * kPage + 4096, 2 * kPage, 0, second, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMapMem(nullptr, 2 * kPage, 0, second, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMapMem(start + 5 * kPage, 2 * kPage, 1, second, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMapMem(start + 5 * kPage, 2 * kPage, 0, second, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMapMem(start + 5 * kPage, kPage, 0, first, 0), ACL_ERROR_RT_INVALID_HANDLE) << "freed";
  EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_ERROR_RT_PARAM_INVALID) << "something is mapped";
  EXPECT_EQ(aclrtUnmapMem(start + 4096), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtUnmapMem(nullptr), ACL_ERROR_INVALID_PARAM);
  for (const size_t page : {0, 1, 4}) EXPECT_EQ(aclrtUnmapMem(start + page * kPage), 0);
  EXPECT_EQ(aclrtUnmapMem(start), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreePhysical(second), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(start), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(start), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtReleaseMemAddress(nullptr), ACL_ERROR_INVALID_PARAM);
}

// Clients reserve the number of free bytes, which is a multiple of nothing.
TEST_F(VirtualMemory, AReservationIsRoundedUp) {
  for (const size_t size : {size_t{1}, kPage - 1, kPage + 1, 3 * kPage + 4096}) {
    const size_t pages = (size + kPage - 1) / kPage;
    char* const start = Reserved(size);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(start) % kPage, 0u);
    const aclrtDrvMemHandle whole = Physical(pages * kPage);
    const aclrtDrvMemHandle more = Physical((pages + 1) * kPage);
    EXPECT_EQ(aclrtMapMem(start, (pages + 1) * kPage, 0, more, 0), ACL_ERROR_RT_PARAM_INVALID)
        << "more than was reserved";
    ASSERT_EQ(aclrtMapMem(start, pages * kPage, 0, whole, 0), 0) << size;
    std::memset(start, 7, pages * kPage);
    EXPECT_EQ(aclrtUnmapMem(start), 0);
    EXPECT_EQ(aclrtFreePhysical(whole), 0);
    EXPECT_EQ(aclrtFreePhysical(more), 0);
    EXPECT_EQ(aclrtReleaseMemAddress(start), 0);
  }
  void* address = nullptr;
  EXPECT_EQ(aclrtReserveMemAddress(&address, SIZE_MAX, 0, nullptr, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(address, nullptr);
  size_t free = 0;
  size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), 0);
  ASSERT_EQ(aclrtReserveMemAddress(&address, free, 0, nullptr, 0), 0);
  EXPECT_EQ(aclrtReleaseMemAddress(address), 0);
}

TEST_F(VirtualMemory, Refusals) {
  void* address = nullptr;
  EXPECT_EQ(aclrtReserveMemAddress(nullptr, kPage, 0, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtReserveMemAddress(&address, 0, 0, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtReserveMemAddress(&address, kPage, 1, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtReserveMemAddress(&address, kPage, 0, &address, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtReserveMemAddress(&address, kPage, 0, nullptr, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtReserveMemAddress(&address, kTooMuch, 0, nullptr, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(address, nullptr);
  aclrtPhysicalMemProp properties = Properties();
  aclrtDrvMemHandle handle = nullptr;
  EXPECT_EQ(aclrtMallocPhysical(nullptr, kPage, &properties, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPage, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPage, &properties, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocPhysical(&handle, 100, &properties, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMallocPhysical(&handle, kTooMuch, &properties, 0), ACL_ERROR_RT_MEMORY_ALLOCATION);
  properties.location.id = 9;
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPage, &properties, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  properties.location = {0, ACL_MEM_LOCATION_TYPE_MANAGED};
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPage, &properties, 0), ACL_ERROR_INVALID_PARAM);
  properties.location = {0, ACL_MEM_LOCATION_TYPE_HOST};
  properties.handleType = ACL_MEM_HANDLE_TYPE_POSIX;
  EXPECT_EQ(aclrtMallocPhysical(&handle, kPage, &properties, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  size_t granularity = 0;
  properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  EXPECT_EQ(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF, &granularity),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemGetAllocationGranularity(nullptr, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemGetAllocationGranularity(&properties, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, nullptr),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(handle, nullptr);
  EXPECT_EQ(aclrtFreePhysical(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFreePhysical(&granularity), ACL_ERROR_RT_INVALID_HANDLE);
  std::thread([&] {
    EXPECT_EQ(aclrtMallocPhysical(&handle, kPage, &properties, 0), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtReserveMemAddress(&address, kPage, 0, nullptr, 0), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
}

}  // namespace
