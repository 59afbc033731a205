// Programs that use handles beyond their life, or tensors that a product does not take, with their right twins.
// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "check/corpus.h"
#include "check/device_program.h"

using namespace device_program;

namespace {

constexpr int64_t kCount = 256;
constexpr size_t kBytes = 1024;

// aclnnAdds in steps.
struct Call {
  Stream stream;
  Memory x{2 * kBytes};
  Memory y{2 * kBytes};
  float number = 1;
  aclScalar* scalar = aclCreateScalar(&number, ACL_FLOAT);
  aclTensor* from;
  aclTensor* to;
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;

  Call() {
    Ok(aclrtMemset(x.Get(), 2 * kBytes, 0, 2 * kBytes));
    Ok(aclrtMemset(y.Get(), 2 * kBytes, 0, 2 * kBytes));
    from = Tensor(x.Get(), kCount);
    to = Tensor(y.Get(), kCount);
  }
  ~Call() {
    Ok(aclrtSynchronizeDevice());
    Ok(aclDestroyScalar(scalar));
  }
  void Phase1() { Ok(aclnnAddsGetWorkspaceSize(from, scalar, scalar, to, &size, &executor)); }
  void Phase2() { Ok(aclnnAdds(nullptr, 0, executor, stream.Get())); }
  aclTensorList* List() const {
    const aclTensor* both[] = {from, to};
    return aclCreateTensorList(both, 2);
  }
  void DestroyTensors() {
    Ok(aclDestroyTensor(from));
    Ok(aclDestroyTensor(to));
  }
};

void AllocateInThread(bool sets_device) {
  std::thread thread([sets_device] {
    if (sets_device) Ok(aclrtSetDevice(0));
    void* memory = nullptr;
    if (aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) Ok(aclrtFree(memory));
  });
  thread.join();
}

// Adds a tensor of device 0 to one of device 1, in a stream of that.
void AddOfTwoDevices(bool gives_access) {
  Memory here(kBytes);
  Ok(aclrtMemset(here.Get(), kBytes, 0, kBytes));
  Ok(aclrtSetDevice(1));
  {
    Stream stream;
    Memory there(kBytes);
    if (gives_access) Ok(aclrtDeviceEnablePeerAccess(0, 0));
    Adds(here.Get(), there.Get(), kCount, stream.Get());
    Ok(aclrtSynchronizeStream(stream.Get()));
  }
  Ok(aclrtSetDevice(0));
}

void CreateEvent(bool destroys) {
  aclrtEvent event = nullptr;
  Ok(aclrtCreateEvent(&event));
  if (destroys) Ok(aclrtDestroyEvent(event));
}
void Allocate(bool frees) {
  void* memory = nullptr;
  Ok(aclrtMalloc(&memory, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  if (frees) Ok(aclrtFree(memory));
}

}  // namespace

CASE(
    thread_sets_no_device, "warning:thread-without-device",
    "aclrtMalloc: this thread has no device, so the call fails, while another thread has set one",
    { AllocateInThread(false); }, { AllocateInThread(true); })

CASE(
    memory_lies_on_another_device, "memory-of-another-device",
    "aclnnAdds: self, at 0x[0-9a-f]+, is memory of device 0; the stream is one of device 1",
    { AddOfTwoDevices(false); }, { AddOfTwoDevices(true); })

CASE(
    event_is_left, "warning:handle-leaked",
    ": an event that aclrtCreateEvent made, 0x[0-9a-f]+, is still there", { CreateEvent(false); },
    { CreateEvent(true); })

CASE(
    memory_is_left, "warning:handle-leaked", ": a piece of device memory that aclrtMalloc made",
    { Allocate(false); }, { Allocate(true); })

CASE(
    executor_is_used_twice, "executor-used-twice",
    "the executor 0x[0-9a-f]+ was used up already, by aclnnAdds; on an NPU that is a use after free",
    {
      Call call;
      call.Phase1();
      call.Phase2();
      aclnnAdds(nullptr, 0, call.executor, call.stream.Get());
      call.DestroyTensors();
    },
    {
      Call call;
      call.Phase1();
      Ok(aclSetAclOpExecutorRepeatable(call.executor));
      call.Phase2();
      call.Phase2();
      Ok(aclDestroyAclOpExecutor(call.executor));
      call.DestroyTensors();
    })

CASE(
    executor_is_left, "warning:executor-leaked", "an executor of aclnnAddsGetWorkspaceSize is still there",
    {
      Call call;
      call.Phase1();
      call.DestroyTensors();
    },
    {
      Call call;
      call.Phase1();
      Ok(aclDestroyAclOpExecutor(call.executor));
      call.DestroyTensors();
    })

CASE(
    tensor_is_destroyed_between_the_phases, "tensor-destroyed-between-phases",
    "aclDestroyTensor destroyed the tensor of out after aclnnAddsGetWorkspaceSize and before aclnnAdds",
    {
      Call call;
      call.Phase1();
      Ok(aclDestroyTensor(call.to));
      call.Phase2();
    },
    {
      Call call;
      call.Phase1();
      call.Phase2();
      call.DestroyTensors();
    })

CASE(
    address_is_changed_between_the_phases, "tensor-changed-between-phases",
    "aclSetRawTensorAddr changed the tensor of self after aclnnAddsGetWorkspaceSize",
    {
      Call call;
      call.Phase1();
      Ok(aclSetRawTensorAddr(call.from, call.y.Get()));
      call.Phase2();
    },
    {
      Call call;
      Ok(aclSetRawTensorAddr(call.from, call.y.Get()));
      call.Phase1();
      call.Phase2();
      call.DestroyTensors();
    })

CASE(
    tensor_of_a_list_is_destroyed_twice, "tensor-destroyed-twice",
    "was destroyed already, by aclDestroyTensor|aclDestroyTensorList destroys the tensors of the list",
    {
      Call call;
      Ok(aclDestroyTensorList(call.List()));
      Ok(aclDestroyTensor(call.from));
    },
    {
      Call call;
      Ok(aclDestroyTensorList(call.List()));
    })

CASE(
    tensor_is_left, "warning:tensor-leaked", "the tensor 0x[0-9a-f]+ is still there",
    {
      Call call;
      Ok(aclDestroyTensor(call.from));
    },
    {
      Call call;
      call.DestroyTensors();
    })

CASE(
    workspace_is_too_small, "workspace-too-small",
    "the workspace has 32 bytes and phase 1 asked for [0-9]+; an NPU does not check this",
    {
      Call call;
      Sort sort(call.x.Get(), call.y.Get());
      Memory workspace(sort.WorkspaceSize());
      (void)sort.Run(workspace.Get(), call.stream.Get(), 32);
    },
    {
      Call call;
      Sort sort(call.x.Get(), call.y.Get());
      Memory workspace(sort.WorkspaceSize());
      sort.Run(workspace.Get(), call.stream.Get());
      Ok(aclrtSynchronizeDevice());
      call.DestroyTensors();
    })

CASE(
    tensor_is_misaligned, "warning:misaligned-tensor",
    "the data address of self, 0x[0-9a-f]+, is no multiple of 32",
    {
      Call call;
      Adds(static_cast<char*>(call.x.Get()) + 4, call.y.Get(), kCount, call.stream.Get());
      call.DestroyTensors();
    },
    {
      Call call;
      Adds(call.x.Get(), call.y.Get(), kCount, call.stream.Get(), /*offset=*/1);
      call.DestroyTensors();
    })

CASE(
    operands_overlap, "warning:overlapping-operands",
    "the output out shares bytes with self without being the same view",
    {
      Call call;
      Adds(call.x.Get(), static_cast<char*>(call.x.Get()) + 64, kCount, call.stream.Get());
      call.DestroyTensors();
    },
    {
      Call call;
      Adds(call.x.Get(), call.x.Get(), kCount, call.stream.Get());
      call.DestroyTensors();
    })
