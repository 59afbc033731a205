// An operation as a task of a stream (see collective_task.h), and groups of sends and receives (hccl/hcomm.h).
// SPDX-License-Identifier: Apache-2.0
#include "hccl/collective_task.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "acl/queue/workers.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "base/process/thread_end.h"
#include "base/sanitizer_hooks.h"
#include "hccl/hcomm.h"
#include "hccl/reduce.h"
#include "profile/recorder.h"

namespace portacl::hccl {
namespace {

void GiveNumbers(Communicator& communicator, Operation* operation) noexcept {
  if (operation->messages.empty()) operation->number = communicator.NextCollective();
  for (Operation::Message& one : operation->messages) {
    one.number = one.sends ? communicator.NextSend(one.rank) : communicator.NextReceive(one.rank);
  }
}

// Lives on the heap: an operation contains arrays, and its messages cost more than an allocation.
class OperationTask final : public Task {
 public:
  // Takes over one workers::Reserve.
  OperationTask(std::shared_ptr<Communicator> communicator, Operation operation) noexcept
      : communicator_(std::move(communicator)), operation_(std::move(operation)) {
    affinity = Affinity::kReservedWorker;
  }
  ~OperationTask() {
    if (sanitizer::IsOn()) sanitizer::hooks->EndWork(work_);
  }

  void Number() noexcept { GiveNumbers(*communicator_, &operation_); }

  Outcome Run(Stream& stream) noexcept override {
    if (sanitizer::IsOn()) UseWorkingAddresses();
    if (const Fault fault = Perform(*communicator_, operation_)) {
      stream.NoteFailure(
          {fault.code == HCCL_E_TIMEOUT ? ACL_ERROR_RT_EVENT_SYNC_TIMEOUT : ACL_ERROR_RT_SUSPECT_REMOTE_ERROR,
           fault.text});
    }
    // Through the operation the stream has synchronised with the other ranks, which may be threads of this process.
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->StreamWaitsForAll(&stream);
    return Outcome::kDone;
  }
  bool Interrupt(Stream&) noexcept override {
    // Destroying or aborting a stream gives up the communicator, because the other ranks would wait in vain.
    communicator_->Interrupt();
    return false;
  }
  void Finish(StreamList&) noexcept override {
    workers::Unreserve();
    delete this;
  }

 private:
  // Received data counts as written, to the end of its memory: a collective that reads it later has waited
  // for this one.
  void UseWorkingAddresses() noexcept {
    const auto receives = [](void*& address) {
      sanitizer::hooks->MarkWrittenToEnd(address);
      address = sanitizer::Working(address);
    };
    operation_.send = sanitizer::Working(operation_.send);
    receives(operation_.recv);
    for (Operation::Message& one : operation_.messages) {
      if (one.sends) {
        one.data = sanitizer::Working(one.data);
      } else {
        receives(one.data);
      }
    }
  }

  const std::shared_ptr<Communicator> communicator_;
  Operation operation_;
  const uint64_t work_ = sanitizer::IsOn() ? sanitizer::hooks->BeginWork() : 0;
};

// Lists the buffers whose size the operation states directly: those of sends and receives, and those that
// this rank gives and takes.
std::vector<sanitizer::Access> AccessesOf(const Operation& operation) {
  std::vector<sanitizer::Access> accesses;
  const auto add = [&](const void* data, uint64_t first, uint64_t count, HcclDataType type, bool writes) {
    if (data == nullptr || count == 0) return;
    const size_t size = ElementSize(type);
    accesses.push_back(
        {.bytes = StridedBytes::Run(static_cast<const char*>(data) + first * size, count * size),
         .writes = writes,
         .role = writes ? "recvBuf" : "sendBuf"});
  };
  for (const Operation::Message& one : operation.messages) add(one.data, 0, one.count, one.type, !one.sends);
  for (const BufferRange& range : operation.give)
    add(operation.send, range.first, range.count, operation.type, false);
  return accesses;
}

// A collective in a graph. Every execution takes new numbers, in the order in which executions are submitted,
// as on every rank.
class RecordedOperation final : public RecordedTask {
 public:
  RecordedOperation(std::shared_ptr<Communicator> communicator, Operation operation)
      : communicator_(std::move(communicator)), operation_(std::move(operation)) {}

  Progress Run(Stream& stream, portacl::Scratch&) noexcept override {
    try {
      OperationTask task(communicator_, operation_);
      task.Run(stream);
    } catch (...) {
      stream.NoteFailure({ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory for a collective of a graph."});
    }
    return Progress::kDone;
  }
  void Interrupt() noexcept override { communicator_->Interrupt(); }
  std::unique_ptr<RecordedTask> ForOneExecution() noexcept override {
    try {
      auto one = std::make_unique<RecordedOperation>(communicator_, operation_);
      GiveNumbers(*communicator_, &one->operation_);
      return one;
    } catch (...) {
      return nullptr;
    }
  }

 private:
  const std::shared_ptr<Communicator> communicator_;
  Operation operation_;
};

HcclResult RecordOperation(const char* api, const FoundStream& queue,
                           std::shared_ptr<Communicator> communicator, Operation operation) noexcept {
  RecordedInfo info{
      .api = api, .kind = RecordedKind::kCollective, .needs_worker = true, .per_execution = true};
  try {
    if (sanitizer::IsOn(sanitizer::kSync)) info.accesses = AccessesOf(operation);
    for (const void* one :
         {static_cast<const void*>(operation.send), static_cast<const void*>(operation.recv)}) {
      if (one != nullptr) info.addresses.push_back(one);
    }
    for (const Operation::Message& one : operation.messages) info.addresses.push_back(one.data);
    auto task = std::make_unique<RecordedOperation>(std::move(communicator), std::move(operation));
    if (Record(api, queue, std::move(task), std::move(info)) == ACL_SUCCESS) return HCCL_SUCCESS;
  } catch (...) {
    return Fail(HCCL_E_OOM, Text(api, ": not enough memory to record the operation."));
  }
  return Fail(HCCL_E_RUNTIME, Text(api, ": the stream is captured and refused the operation."));
}

// Describes an operation for profiles, as members of a JSON object.
[[gnu::cold, gnu::noinline]] const std::string* Describe(const Communicator& communicator,
                                                         const Operation& operation) noexcept {
  uint64_t given = operation.count;
  uint64_t taken = operation.count;
  if (given == 0) {
    for (const BufferRange& range : operation.give) given += range.count;
    for (const BufferRange& range : operation.take) taken += range.count;
  }
  for (const Operation::Message& one : operation.messages) (one.sends ? given : taken) += one.count;
  const HcclDataType type = operation.messages.empty() ? operation.type : operation.messages[0].type;
  const uint64_t elements = std::max(given, taken);
  Text text("\"Group\":\"");
  for (const char c : communicator.name()) {
    if (c >= ' ' && c != '"' && c != '\\') text.Add(c);
  }
  text.Add("\",\"Rank\":").Add(communicator.rank()).Add(",\"Ranks\":").Add(communicator.size());
  text.Add(",\"Data Type\":\"").Add(TypeName(type)).Add("\",\"Count\":").Add(elements);
  text.Add(",\"Bytes\":").Add(elements * ElementSize(type));
  return profile::Interned(text.view());
}

struct Grouped {
  std::shared_ptr<Communicator> communicator;
  aclrtStream stream;
  Operation operation;
};
struct Group final : Kept {
  int depth = 0;
  std::vector<Grouped> batches;
};
thread_local Kept* group_of_thread = nullptr;

Group* TheGroup() noexcept { return static_cast<Group*>(group_of_thread); }

}  // namespace

HcclResult Enqueue(const char* api, std::shared_ptr<Communicator> communicator, Operation operation,
                   aclrtStream stream) {
  profile::Call profiled(api);
  if (profile::IsOn()) profiled.Describe(Describe(*communicator, operation));
  if (stream == nullptr) return RefuseNull(api, "stream", "a live stream");
  const FoundStream queue = FindStream(stream);
  if (!queue) return RefuseValue(api, "stream", static_cast<const void*>(stream), "a live stream");
  if (sanitizer::IsOn()) {
    sanitizer::hooks->CheckOperand(api, "sendBuf", operation.send, 1);
    sanitizer::hooks->CheckOperand(api, "recvBuf", operation.recv, 1);
    for (const Operation::Message& one : operation.messages) {
      sanitizer::hooks->CheckOperand(api, one.sends ? "sendBuf" : "recvBuf", one.data, 1);
    }
  }
  if (IsCaptured(queue)) return RecordOperation(api, queue, std::move(communicator), std::move(operation));
  if (!workers::Reserve())
    return Fail(HCCL_E_SYSCALL, Text(api, ": no thread can be started for the operation."));
  std::vector<sanitizer::Access> accesses;
  if (sanitizer::IsOn(sanitizer::kSync)) accesses = AccessesOf(operation);
  auto* const task = new (std::nothrow) OperationTask(std::move(communicator), std::move(operation));
  if (task == nullptr) {
    workers::Unreserve();
    return Fail(HCCL_E_OOM, Text(api, ": not enough memory to queue the operation."));
  }
  task->Number();
  if (sanitizer::IsOn(sanitizer::kSync)) {
    sanitizer::hooks->Queue(static_cast<Task*>(task), api, NameForChecks(*queue.stream, queue.handle),
                            std::move(accesses), sanitizer::Waits::kForAnything);
  }
  if (queue.Submit(task) == Stream::Submission::kQueued) return HCCL_SUCCESS;
  return RefuseValue(api, "stream", static_cast<const void*>(stream), "a live stream");
}

bool IsInGroup() noexcept { return group_of_thread != nullptr && TheGroup()->depth > 0; }

HcclResult AddToGroup(std::shared_ptr<Communicator> communicator, Operation operation, aclrtStream stream) {
  for (Grouped& one : TheGroup()->batches) {
    if (one.communicator != communicator || one.stream != stream) continue;
    one.operation.messages.insert(one.operation.messages.end(), operation.messages.begin(),
                                  operation.messages.end());
    one.operation.function = Function::kBatchSendRecv;
    return HCCL_SUCCESS;
  }
  TheGroup()->batches.push_back({std::move(communicator), stream, std::move(operation)});
  return HCCL_SUCCESS;
}

}  // namespace portacl::hccl

using namespace portacl;
using namespace portacl::hccl;

HcclResult HcclGroupStart() {
  auto* const group = KeptIn<Group>(group_of_thread);
  if (group == nullptr) return Fail(HCCL_E_OOM, Text("HcclGroupStart: not enough memory for a group."));
  ++group->depth;
  return HCCL_SUCCESS;
}

HcclResult HcclGroupEnd() {
  const char* const api = "HcclGroupEnd";
  if (!IsInGroup())
    return Fail(HCCL_E_PARA, Text(api, ": the calling thread has started no group with HcclGroupStart."));
  if (--TheGroup()->depth > 0) return HCCL_SUCCESS;
  HcclResult first = HCCL_SUCCESS;
  for (Grouped& one : std::exchange(TheGroup()->batches, {})) {
    const HcclResult result = Enqueue(api, std::move(one.communicator), std::move(one.operation), one.stream);
    if (first == HCCL_SUCCESS) first = result;
  }
  return first;
}

HcclResult HcommMemAlloc(void** ptr, uint64_t size) {
  const char* const api = "HcommMemAlloc";
  if (ptr == nullptr) return RefuseNull(api, "ptr", "the address of a pointer");
  if (size == 0) return RefuseValue(api, "size", size, "1 or more");
  switch (aclrtMalloc(ptr, size, ACL_MEM_MALLOC_HUGE_FIRST)) {
    case ACL_SUCCESS:
      return HCCL_SUCCESS;
    case ACL_ERROR_RT_MEMORY_ALLOCATION:
      return HCCL_E_OOM;
    default:
      return HCCL_E_RUNTIME;
  }
}

HcclResult HcommMemFree(void* ptr) {
  if (ptr == nullptr) return RefuseNull("HcommMemFree", "ptr", "memory of HcommMemAlloc");
  return aclrtFree(ptr) == ACL_SUCCESS ? HCCL_SUCCESS : HCCL_E_PARA;
}
