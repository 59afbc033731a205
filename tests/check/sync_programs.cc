// Programs that do not wait for what they use, with their right twins.
// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <thread>

#include "acl/acl.h"
#include "acl/acl_op_compiler.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_advance_step.h"
#include "check/corpus.h"
#include "check/device_program.h"

using namespace device_program;

namespace {

constexpr size_t kBytes = 4096;
constexpr int64_t kCount = 1024;

// What two streams do one behind the other, or beside each other.
struct TwoStreams {
  Stream one;
  Stream two;
  Event event;
  Memory x{kBytes};
  Memory y{kBytes};
  Memory z{kBytes};

  TwoStreams() {
    for (void* memory : {x.Get(), y.Get(), z.Get()}) Ok(aclrtMemset(memory, kBytes, 0, kBytes));
  }
  ~TwoStreams() { Ok(aclrtSynchronizeDevice()); }
  void Order() {
    Ok(aclrtRecordEvent(event.Get(), one.Get()));
    Ok(aclrtStreamWaitEvent(two.Get(), event.Get()));
  }
};

void Add(const Memory& from, const Memory& to, aclrtStream stream) {
  Adds(from.Get(), to.Get(), kCount, stream);
}

// One sequence goes on: aclnnAdvanceStep writes parameters that are no outputs and have no names of such.
void Advance(const Memory& positions, const Memory& others, aclrtStream stream) {
  const auto matrix = [&](int64_t offset) {
    const int64_t shape[] = {1, 1};
    const int64_t storage = kBytes / sizeof(int64_t);
    return aclCreateTensor(shape, 2, ACL_INT64, shape, offset, ACL_FORMAT_ND, &storage, 1, others.Get());
  };
  const auto numbers = [&](int64_t offset) { return Tensor(others.Get(), 2, offset, ACL_INT64); };
  aclTensor* const operands[] = {numbers(8),  matrix(0),   Tensor(positions.Get(), 2, 0, ACL_INT64),
                                 numbers(16), numbers(24), matrix(32)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Ok(aclnnAdvanceStepGetWorkspaceSize(operands[0], operands[1], operands[2], operands[3], operands[4],
                                      operands[5], 2, 1, 4, &size, &executor));
  Ok(aclnnAdvanceStep(nullptr, size, executor, stream));
  for (aclTensor* const operand : operands) Ok(aclDestroyTensor(operand));
}

// Sorts by the name of the operator's type, which takes memory of its own until it is done.
void SortByName(const Memory& from, const Memory& to, aclrtStream stream) {
  const aclTensorDesc* const description = aclCreateTensorDesc(ACL_FLOAT, 1, &kCount, ACL_FORMAT_ND);
  const aclDataBuffer* const input = aclCreateDataBuffer(from.Get(), kBytes);
  aclDataBuffer* output = aclCreateDataBuffer(to.Get(), kBytes);
  Ok(aclopCompileAndExecute("SortV2", 1, &description, &input, 1, &description, &output, nullptr,
                            ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, stream));
  aclDestroyTensorDesc(description);
  Ok(aclDestroyDataBuffer(input));
  Ok(aclDestroyDataBuffer(output));
}

float host[kCount];

}  // namespace

CASE(
    read_back_at_once, "read-back-not-ordered",
    "aclrtMemcpy reads the source, 4096 bytes at 0x[0-9a-f]+, on the host; aclnnAdds writes out, 4096 bytes "
    "at "
    "0x[0-9a-f]+, in stream [0-9]+ [^ ]+, and nothing has waited for that",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtMemcpy(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtSynchronizeStream(program.one.Get()));
      Ok(aclrtMemcpy(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    })

CASE(
    another_stream_is_synchronised, "read-back-not-ordered", "aclnnAdds writes out",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtSynchronizeStream(program.two.Get()));
      Ok(aclrtMemcpy(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      program.Order();
      Ok(aclrtSynchronizeStream(program.two.Get()));
      Ok(aclrtMemcpy(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    })

// Nor does it matter that the work is long done: nothing says so.
CASE(
    another_stream_has_ended_its_work, "read-back-not-ordered", "aclnnAdds writes out",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      Ok(aclrtSynchronizeStream(program.two.Get()));
      Ok(aclrtMemcpy(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      Ok(aclrtSynchronizeStream(program.one.Get()));
      Ok(aclrtMemcpy(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    })

// Nor that memory which the library took for the call is free again.
CASE(
    call_by_name_has_ended, "read-back-not-ordered", "aclnnSort writes valuesOut",
    {
      TwoStreams program;
      SortByName(program.x, program.y, program.one.Get());
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      Ok(aclrtMemcpy(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    },
    {
      TwoStreams program;
      SortByName(program.x, program.y, program.one.Get());
      program.Order();
      SortByName(program.y, program.z, program.two.Get());
      Ok(aclrtSynchronizeStream(program.two.Get()));
      Ok(aclrtMemcpy(host, kBytes, program.z.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    })

CASE(
    default_stream_waits_for_nobody, "race", "in the default stream; aclnnAdds writes out",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Add(program.y, program.z, nullptr);
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtRecordEvent(program.event.Get(), program.one.Get()));
      Ok(aclrtStreamWaitEvent(nullptr, program.event.Get()));
      Add(program.y, program.z, nullptr);
    })

CASE(
    input_is_overwritten, "host-access-not-ordered",
    "aclrtMemcpy writes the destination, .* on the host; aclnnAdds reads self",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtMemcpy(program.x.Get(), kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtMemcpyAsync(program.x.Get(), kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                          program.one.Get()));
    })

CASE(
    freed_at_once, "freed-while-in-use", "aclrtFree frees memory that is still in use: aclnnAdds writes out",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      program.y.Free();
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtSynchronizeStream(program.one.Get()));
      program.y.Free();
    })

CASE(
    two_streams_write, "race",
    "aclnnAdds writes out, .* in stream [0-9]+ .*; aclnnAdds writes out, .* and nothing orders the two "
    "streams",
    {
      TwoStreams program;
      Add(program.x, program.z, program.one.Get());
      Add(program.y, program.z, program.two.Get());
    },
    {
      TwoStreams program;
      Add(program.x, program.z, program.one.Get());
      program.Order();
      Add(program.y, program.z, program.two.Get());
    })

CASE(
    inputs_that_are_written, "race", "aclnnAdds reads self, .*; aclnnAdvanceStep writes inputPositions",
    {
      TwoStreams program;
      Advance(program.x, program.z, program.one.Get());
      Add(program.x, program.y, program.two.Get());
    },
    {
      TwoStreams program;
      Advance(program.x, program.z, program.one.Get());
      program.Order();
      Add(program.x, program.y, program.two.Get());
    })

CASE(
    copy_in_another_stream, "race", "aclrtMemcpyAsync reads the source, .*; aclnnAdds writes out",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtMemcpyAsync(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                          program.two.Get()));
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtMemcpyAsync(host, kBytes, program.y.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                          program.one.Get()));
    })

CASE(
    recorded_too_early, "race", "record an event in stream [0-9]+ .* behind aclnnAdds",
    {
      TwoStreams program;
      Ok(aclrtRecordEvent(program.event.Get(), program.one.Get()));
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtStreamWaitEvent(program.two.Get(), program.event.Get()));
      Add(program.y, program.z, program.two.Get());
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      program.Order();
      Add(program.y, program.z, program.two.Get());
    })

CASE(
    waits_before_it_is_recorded, "race", "aclnnAdds writes out",
    {
      TwoStreams program;
      Ok(aclrtStreamWaitEvent(program.two.Get(), program.event.Get()));
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtRecordEvent(program.event.Get(), program.one.Get()));
      Add(program.y, program.z, program.two.Get());
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtRecordEvent(program.event.Get(), program.one.Get()));
      Ok(aclrtSynchronizeEvent(program.event.Get()));
      Add(program.y, program.z, program.two.Get());
    })

CASE(
    read_before_it_is_overwritten, "race",
    "aclrtMemsetAsync writes the destination, .*; aclnnAdds reads self",
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtMemsetAsync(program.x.Get(), kBytes, 1, kBytes, program.two.Get()));
    },
    {
      TwoStreams program;
      Add(program.x, program.y, program.one.Get());
      Add(program.x, program.z, program.two.Get());
      Ok(aclrtMemsetAsync(program.x.Get(), kBytes / 2, 1, 0, program.two.Get()));
    })

// Columns of one matrix: the bytes between the first and the last of both sides are the same.
CASE(
    columns_that_overlap, "race", "writes out, rows of 68 bytes between",
    {
      TwoStreams program;
      Columns(program.x.Get(), 0, 17, program.one.Get());
      Columns(program.x.Get(), 16, 16, program.two.Get());
    },
    {
      TwoStreams program;
      Columns(program.x.Get(), 0, 16, program.one.Get());
      Columns(program.x.Get(), 16, 16, program.two.Get());
    })

CASE(
    notify_is_recorded_too_early, "race", "aclnnAdds writes out",
    {
      TwoStreams program;
      Notify notify;
      Ok(aclrtRecordNotify(notify.Get(), program.one.Get()));
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtWaitAndResetNotify(notify.Get(), program.two.Get(), 0));
      Add(program.y, program.z, program.two.Get());
    },
    {
      TwoStreams program;
      Notify notify;
      Ok(aclrtWaitAndResetNotify(notify.Get(), program.two.Get(), 0));
      Add(program.y, program.z, program.two.Get());
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtRecordNotify(notify.Get(), program.one.Get()));
    })

CASE(
    pinned_memory_is_read_at_once, "read-back-not-ordered", "aclrtMemcpyAsync writes the destination",
    {
      TwoStreams program;
      Pinned pinned(kBytes);
      Ok(aclrtMemcpyAsync(pinned.Get(), kBytes, program.x.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                          program.one.Get()));
      Ok(aclrtMemcpy(host, kBytes, pinned.Get(), kBytes, ACL_MEMCPY_HOST_TO_HOST));
      Ok(aclrtSynchronizeDevice());
    },
    {
      TwoStreams program;
      Pinned pinned(kBytes);
      Ok(aclrtMemcpyAsync(pinned.Get(), kBytes, program.x.Get(), kBytes, ACL_MEMCPY_DEVICE_TO_HOST,
                          program.one.Get()));
      Ok(aclrtSynchronizeDevice());
      Ok(aclrtMemcpy(host, kBytes, pinned.Get(), kBytes, ACL_MEMCPY_HOST_TO_HOST));
    })

CASE(
    pinned_memory_is_freed_at_once, "freed-while-in-use", "aclrtFreeHost frees memory that is still in use",
    {
      TwoStreams program;
      Pinned pinned(kBytes);
      Ok(aclrtMemcpyAsync(program.x.Get(), kBytes, pinned.Get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                          program.one.Get()));
    },
    {
      TwoStreams program;
      Pinned pinned(kBytes);
      Ok(aclrtMemcpyAsync(program.x.Get(), kBytes, pinned.Get(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE,
                          program.one.Get()));
      Ok(aclrtSynchronizeStream(program.one.Get()));
    })

CASE(
    workspace_is_freed_at_once, "workspace-freed-early",
    "aclrtFree frees memory that is still in use: aclnnSort writes workspace",
    {
      TwoStreams program;
      Sort sort(program.x.Get(), program.y.Get());
      Memory workspace(sort.WorkspaceSize());
      sort.Run(workspace.Get(), program.one.Get());
    },
    {
      TwoStreams program;
      Sort sort(program.x.Get(), program.y.Get());
      Memory workspace(sort.WorkspaceSize());
      sort.Run(workspace.Get(), program.one.Get());
      Ok(aclrtSynchronizeStream(program.one.Get()));
    })

CASE(
    workspace_is_shared, "workspace-shared", "give each operator a workspace of its own",
    {
      TwoStreams program;
      Sort first(program.x.Get(), program.y.Get());
      Sort second(program.z.Get(), static_cast<char*>(program.y.Get()) + kBytes / 2);
      Memory workspace(first.WorkspaceSize());
      first.Run(workspace.Get(), program.one.Get());
      second.Run(workspace.Get(), program.two.Get());
      Ok(aclrtSynchronizeDevice());
    },
    {
      TwoStreams program;
      Sort first(program.x.Get(), program.y.Get());
      Sort second(program.z.Get(), static_cast<char*>(program.y.Get()) + kBytes / 2);
      Memory workspace(first.WorkspaceSize());
      first.Run(workspace.Get(), program.one.Get());
      second.Run(workspace.Get(), program.one.Get());
      Ok(aclrtSynchronizeDevice());
    })

namespace {

// What a host function waits for, which the program gives it.
void Spin(void* flag) {
  while (!__atomic_load_n(static_cast<bool*>(flag), __ATOMIC_ACQUIRE)) {
  }
}
bool may_go_on;

}  // namespace

// The host orders the streams by itself: the first is waited for before the second is let go.
CASE(
    host_function_lets_go_too_early, "race", "aclnnAdds",
    {
      TwoStreams program;
      may_go_on = false;
      Ok(aclrtLaunchHostFunc(program.two.Get(), Spin, &may_go_on));
      Add(program.y, program.z, program.two.Get());
      Add(program.x, program.y, program.one.Get());
      __atomic_store_n(&may_go_on, true, __ATOMIC_RELEASE);
      Ok(aclrtSynchronizeStream(program.two.Get()));
    },
    {
      TwoStreams program;
      may_go_on = false;
      Ok(aclrtLaunchHostFunc(program.two.Get(), Spin, &may_go_on));
      Add(program.y, program.z, program.two.Get());
      Add(program.x, program.y, program.one.Get());
      Ok(aclrtSynchronizeStream(program.one.Get()));
      __atomic_store_n(&may_go_on, true, __ATOMIC_RELEASE);
      Ok(aclrtSynchronizeStream(program.two.Get()));
    })
