// Programs that mix up host and device memory, or use memory that is not theirs, with their right twins.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "check/corpus.h"
#include "check/programs.h"

using namespace corpus;

namespace {

constexpr auto kToHost = ACL_MEMCPY_DEVICE_TO_HOST;
constexpr auto kToDevice = ACL_MEMCPY_HOST_TO_DEVICE;
constexpr auto kOnDevice = ACL_MEMCPY_DEVICE_TO_DEVICE;

volatile float seen;
float host_memory[kElements];

// 2 MiB of device memory, mapped into a range of addresses.
float* Mapped() {
  constexpr size_t kSize = size_t{2} << 20;
  void* address = nullptr;
  aclrtPhysicalMemProp properties = {};
  properties.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  properties.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  properties.memAttr = ACL_HBM_MEM_HUGE;
  properties.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtDrvMemHandle handle = nullptr;
  Must(aclrtReserveMemAddress(&address, kSize, 0, nullptr, 0));
  Must(aclrtMallocPhysical(&handle, kSize, &properties, 0));
  Must(aclrtMapMem(address, kSize, 0, handle, 0));
  return static_cast<float*>(address);
}

void ReadFirst(void* address) { seen = *static_cast<float*>(address); }

// Waits for 16 MiB that are to be zeros, all of them.
void MustBeZeros(const float* device, size_t count) {
  std::vector<float> host(count, 1.0f);
  Must(aclrtSynchronizeStream(nullptr));
  Must(aclrtMemcpy(host.data(), count * sizeof(float), device, count * sizeof(float), kToHost));
  for (const float value : host) {
    if (value != 0) std::_Exit(99);
  }
}

void QueueAbs(const float* self, float* out, int64_t count) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Must(aclnnAbsGetWorkspaceSize(Tensor(const_cast<float*>(self), {count}), Tensor(out, {count}), &size,
                                &executor));
  Must(aclnnAbs(nullptr, 0, executor, nullptr));
}

constexpr int64_t kMany = int64_t{1} << 22;

}  // namespace

// A result is looked at where it lies: the first program that somebody ports from a CPU.
CASE(
    host_reads_device, "host-access",
    "the host (reads|uses) address 0x[0-9a-f]+, which is byte 40 of 1024 bytes of device memory from "
    "aclrtMalloc",
    {
      float* device = Zeros(kBytes);
      seen = device[10];
      Must(aclrtFree(device));
    },
    {
      float* device = Zeros(kBytes);
      float host = 1;
      Must(aclrtMemcpy(&host, sizeof host, device + 10, sizeof host, kToHost));
      seen = host;
      Must(aclrtFree(device));
    })

// Faults of several threads at once: none gets lost, and with report all of them go on.
CASE(
    threads_read_device, "host-access", "the host (reads|uses) address",
    {
      std::vector<std::thread> threads;
      for (int i = 0; i < 8; ++i) {
        threads.emplace_back([] {
          Must(aclrtSetDevice(0));
          for (int k = 0; k < 20; ++k) {
            volatile const float* const device = Zeros(kBytes);
            if (device[k] != 0) std::_Exit(99);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    },
    {
      float host = 1;
      Must(aclrtMemcpy(&host, sizeof host, Zeros(kBytes), sizeof host, kToHost));
      seen = host;
    })

// It runs in a thread of the library's.
CASE(
    host_function_reads_device, "host-access", "the host (reads|uses) address .* byte 0 of 1024",
    {
      Must(aclrtLaunchHostFunc(nullptr, ReadFirst, Zeros(kBytes)));
      Must(aclrtSynchronizeStream(nullptr));
    },
    {
      Must(aclrtMemcpy(host_memory, kBytes, Zeros(kBytes), kBytes, kToHost));
      Must(aclrtLaunchHostFunc(nullptr, ReadFirst, host_memory));
      Must(aclrtSynchronizeStream(nullptr));
    })

// With report the host gets access while an operator writes the memory: nothing of what it writes may get lost.
CASE(
    host_reads_what_is_being_written, "host-access", "the host (reads|uses) address .* byte 0 of 16777216",
    {
      const float* const self = Zeros(kMany * sizeof(float));
      for (int round = 0; round < 12; ++round) {
        float* const out = Device(kMany * sizeof(float));
        QueueAbs(self, out, kMany);
        const auto begun = std::chrono::steady_clock::now();  // work is held back for 10 ms
        while (std::chrono::steady_clock::now() - begun < std::chrono::microseconds(9500 + 250 * round)) {
        }
        seen = out[0];
        MustBeZeros(out, kMany);
        Must(aclrtFree(out));
      }
    },
    {
      const float* const self = Zeros(kMany * sizeof(float));
      float* const out = Device(kMany * sizeof(float));
      QueueAbs(self, out, kMany);
      MustBeZeros(out, kMany);
    })

CASE(
    host_writes_device, "host-access", "the host (writes|uses) address .* byte 0 of 1024",
    {
      float* device = Device(kBytes);
      for (int64_t i = 0; i < kElements; ++i) device[i] = 1.0f;
    },
    {
      float* device = Device(kBytes);
      for (int64_t i = 0; i < kElements; ++i) host_memory[i] = 1.0f;
      Must(aclrtMemcpy(device, kBytes, host_memory, kBytes, kToDevice));
    })

CASE(
    memcpy_of_the_c_library, "host-access", "copy it to host memory by aclrtMemcpy",
    {
      float* device = Zeros(kBytes);
      std::memcpy(host_memory, device, kBytes);
      seen = host_memory[1];
    },
    {
      float* device = Zeros(kBytes);
      Must(aclrtMemcpy(host_memory, kBytes, device, kBytes, kToHost));
      seen = host_memory[1];
    })

CASE(
    host_reads_after_free, "host-access-after-free", "device memory from aclrtMalloc, freed by aclrtFree",
    {
      float* device = Zeros(kBytes);
      Must(aclrtFree(device));
      seen = device[0];
    },
    {
      float* device = Zeros(kBytes);
      Must(aclrtMemcpy(host_memory, kBytes, device, kBytes, kToHost));
      Must(aclrtFree(device));
      seen = host_memory[0];
    })

CASE(
    host_reads_mapped, "host-access", "device memory from aclrtMapMem", { seen = Mapped()[0]; },
    {
      float* device = Mapped();
      Must(aclrtMemset(device, kBytes, 0, kBytes));
      Must(aclrtMemcpy(host_memory, kBytes, device, kBytes, kToHost));
    })

CASE(
    operand_of_the_host, "host-operand",
    "aclnnAbs: parameter self has its data at .*the program's own host memory",
    { Abs(Tensor(host_memory, {kElements}), Tensor(Device(kBytes), {kElements})); },
    {
      float* device = Device(kBytes);
      Must(aclrtMemcpy(device, kBytes, host_memory, kBytes, kToDevice));
      Abs(Tensor(device, {kElements}), Tensor(Device(kBytes), {kElements}));
    })

CASE(
    operand_in_pinned_memory, "warning:host-operand", "host memory from aclrtMallocHost; only some products",
    {
      void* pinned = nullptr;
      Must(aclrtMallocHost(&pinned, kBytes));
      std::memset(pinned, 0, kBytes);
      Abs(Tensor(pinned, {kElements}), Tensor(Device(kBytes), {kElements}));
    },
    {
      void* pinned = nullptr;
      void* of_device = nullptr;
      Must(aclrtMallocHost(&pinned, kBytes));
      std::memset(pinned, 0, kBytes);
      Must(aclrtHostRegister(pinned, kBytes, ACL_HOST_REGISTER_MAPPED, &of_device));
      float* device = Device(kBytes);
      Must(aclrtMemcpy(device, kBytes, pinned, kBytes, kToDevice));
      Abs(Tensor(device, {kElements}), Tensor(Device(kBytes), {kElements}));
    })

// Bytes where elements were meant.
CASE(
    operand_beyond_its_memory, "beyond-allocation",
    "parameter out: 1024 bytes .* 768 bytes lie beyond its end",
    { Abs(Tensor(Zeros(kBytes), {kElements}), Tensor(Device(kElements), {kElements})); },
    { Abs(Tensor(Zeros(kBytes), {kElements}), Tensor(Device(kElements * sizeof(float)), {kElements})); })

// A view whose last row begins inside of the memory and ends outside of it.
CASE(
    view_beyond_its_memory, "beyond-allocation", "parameter self: .* lie beyond its end",
    {
      Abs(Tensor(Zeros(kBytes), {4, 64}, {65, 1}, 4 * 65), Tensor(Device(kBytes), {4, 64}));
    },
    {
      Abs(Tensor(Zeros(kBytes), {4, 60}, {64, 1}, 4 * 64), Tensor(Device(kBytes), {4, 60}));
    })

CASE(
    operand_after_free, "use-after-free", "parameter self is 0x[0-9a-f]+, device memory that aclrtFree freed",
    {
      float* device = Zeros(kBytes);
      aclTensor* self = Tensor(device, {kElements});
      Must(aclrtFree(device));
      Abs(self, Tensor(Device(kBytes), {kElements}));
    },
    {
      float* device = Zeros(kBytes);
      Abs(Tensor(device, {kElements}), Tensor(Device(kBytes), {kElements}));
      Must(aclrtFree(device));
    })

CASE(
    copy_the_wrong_way, "copy-direction",
    "parameter src is .* device memory from aclrtMalloc, but the kind 1 .ACL_MEMCPY_HOST_TO_DEVICE. says "
    "that it is the host's",
    { Must(aclrtMemcpy(Device(kBytes), kBytes, Zeros(kBytes), kBytes, kToDevice)); },
    { Must(aclrtMemcpy(Device(kBytes), kBytes, Zeros(kBytes), kBytes, kOnDevice)); })

CASE(
    copy_of_host_memory_on_the_device, "copy-direction",
    "parameter src is .* the program's own host memory, but the kind 3",
    { Must(aclrtMemcpy(Device(kBytes), kBytes, host_memory, kBytes, kOnDevice)); },
    { Must(aclrtMemcpy(Device(kBytes), kBytes, host_memory, kBytes, kToDevice)); })

CASE(
    copy_beyond_its_memory, "beyond-allocation",
    "aclrtMemcpy: parameter dst: 1024 bytes .* byte 4 of 1024 bytes .* 4 bytes lie",
    { Must(aclrtMemcpy(Device(kBytes) + 1, kBytes, host_memory, kBytes, kToDevice)); },
    { Must(aclrtMemcpy(Device(kBytes) + 1, kBytes - 4, host_memory, kBytes - 4, kToDevice)); })

CASE(
    copy_after_free, "use-after-free", "it was freed by aclrtFree",
    {
      float* device = Zeros(kBytes);
      Must(aclrtFree(device));
      Must(aclrtMemcpy(host_memory, kBytes, device, kBytes, kToHost));
    },
    {
      float* device = Zeros(kBytes);
      Must(aclrtMemcpy(host_memory, kBytes, device, kBytes, kToHost));
      Must(aclrtFree(device));
    })

CASE(
    async_copy_beyond_its_memory, "beyond-allocation", "aclrtMemcpyAsync: parameter src: 1028 bytes",
    {
      void* pinned = nullptr;
      Must(aclrtMallocHost(&pinned, 2 * kBytes));
      Must(aclrtMemcpyAsync(pinned, 2 * kBytes, Zeros(kBytes), kBytes + 4, kToHost, nullptr));
      Must(aclrtSynchronizeStream(nullptr));
    },
    {
      void* pinned = nullptr;
      Must(aclrtMallocHost(&pinned, 2 * kBytes));
      Must(aclrtMemcpyAsync(pinned, 2 * kBytes, Zeros(kBytes), kBytes, kToHost, nullptr));
      Must(aclrtSynchronizeStream(nullptr));
    })

CASE(
    rows_beyond_their_memory, "beyond-allocation", "aclrtMemcpy2d: parameter dst: ",
    { Must(aclrtMemcpy2d(Device(kBytes), 512, host_memory, 64, 64, 4, kToDevice)); },
    { Must(aclrtMemcpy2d(Device(kBytes), 256, host_memory, 64, 64, 4, kToDevice)); })

CASE(
    copy_onto_itself, "warning:copy-overlap", "overlap in a copy of 512 bytes",
    {
      float* device = Zeros(kBytes);
      Must(aclrtMemcpy(device + 4, 512, device, 512, kOnDevice));
    },
    {
      float* device = Zeros(kBytes);
      Must(aclrtMemcpy(device + 128, 512, device, 512, kOnDevice));
    })

CASE(
    fill_beyond_its_memory, "beyond-allocation", "aclrtMemset: parameter devPtr: 2048 bytes",
    { Must(aclrtMemset(Device(kBytes), 2 * kBytes, 0, 2 * kBytes)); },
    { Must(aclrtMemset(Device(kBytes), kBytes, 0, kBytes)); })

CASE(
    double_free, "double-free", "was freed already, by aclrtFree",
    {
      float* device = Device(kBytes);
      Must(aclrtFree(device));
      aclrtFree(device);
    },
    { Must(aclrtFree(Device(kBytes))); })

CASE(
    free_inside, "wrong-free",
    "is byte 4 of 1024 bytes of device memory from aclrtMalloc, which this function cannot free",
    { aclrtFree(Device(kBytes) + 1); }, { Must(aclrtFree(Device(kBytes))); })

CASE(
    free_of_host_memory, "wrong-free", "is none that aclrtMalloc gave",
    {
      void* host = std::malloc(kBytes);
      aclrtFree(host);
    },
    { std::free(std::malloc(kBytes)); })
