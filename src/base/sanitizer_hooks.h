// The hooks through which the runtime tells the checks of programs what a program does. They are null where nothing is checked.
//
// The runtime knows nothing else of the checks, and these know nothing of the runtime. A hook is called only where IsOn
// (checked_parts.h) says so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "aclnn/acl_meta.h"
#include "base/checked_parts.h"
#include "base/copy_rows.h"
#include "base/memory_facts.h"
#include "base/strided_bytes.h"

namespace portacl::sanitizer {

// ---- what hooks are told ----

// A stream as messages name it. `slot` is what it is known by.
struct StreamName {
  const void* slot = nullptr;
  const void* handle = nullptr;
  int32_t id = 0;
  bool is_default = false;
};

enum class Waits {
  kForStreams,   // at most for what streams do
  kForAnything,  // also for what the host does meanwhile, so that work behind it may be ordered after that
};

// Bytes that work touches.
struct Access {
  StridedBytes bytes;
  bool writes = false;
  bool is_partial = false;  // the data decide which of the bytes are touched
  const char* role = "";    // what the bytes are to the work: a parameter's name; static
};

// What a copy of rows touches; without a source it fills them.
std::vector<Access> AccessesOfCopy(const CopyRows& rows) noexcept;

// A moment in a stream that others wait for. Null where the order of work is not checked.
class Signal {
 public:
  virtual ~Signal() = default;
};
using SignalPointer = std::shared_ptr<Signal>;

// What an operator does with the bytes of an operand.
enum class OperandUse {
  kReads,      // every element of the view, and the result depends on each
  kMoves,      // every element, but only to put it somewhere
  kPartly,     // which elements depends on values, or on attributes that the executor does not keep
  kWritesOnly  // it reads none
};

// One tensor of a call, as it was in phase 1.
struct OperandInfo {
  const char* name = "";  // of the parameter; static
  int entry = -1;         // in a list; -1: it is none
  const aclTensor* tensor = nullptr;
  OperandUse use = OperandUse::kReads;
  bool is_read = false;      // in some part, if touched
  bool writes = false;       // the call hands results to the program in it
  bool is_written = false;   // that, or it may be written besides: it is in order to read it from then on
  bool is_partial = false;   // the operator touches a part of it, as its values or attributes say
  StridedBytes bytes;        // behind the address; empty: not even their bounds are known
  bool is_complete = false;  // each of the bytes belongs to an element; else they are bounds alone
  bool is_exact = false;     // and to no other element of the storage besides
};

// An executor's slot, and what phase 2 finds in it.
struct CallInSlot {
  const void* slot;
  const char* api;
  int operand_count;
  void** addresses;  // of its operands
  const bool* touched;
  void* workspace;
  uint64_t workspace_size;  // that phase 1 asked for
  bool repeatable;
  bool runs;  // there is something to compute
};

// ---- the hooks ----

class Hooks {
 public:
  // What a program makes and ends. `what`, as "a stream", and `mend`, the function that ends it, are static. All of these are for
  // callers that have asked IsOn(kHandles).
  virtual void HandleMade(const char* what, const char* mend, const char* api,
                          const void* handle) noexcept = 0;
  virtual void HandleGoes(const void* handle) noexcept = 0;
  // The thread has no device, so the call fails. `is_set_elsewhere`: some thread has one.
  virtual void NoDevice(const char* api, bool is_set_elsewhere) noexcept = 0;
  // An operator in a stream of one device is given another device's memory.
  virtual void MemoryOfAnotherDevice(const char* api, const char* operand, const void* address, int of_memory,
                                     int of_stream) noexcept = 0;
  // aclFinalize: tells what is still there.
  virtual void ProgramEnds() noexcept = 0;

  // The order of work. All of these are for callers that have asked IsOn(kSync).
  // A task, which the address names, is about to be queued by this thread.
  virtual void Queue(const void* task, const char* api, const StreamName& stream,
                     std::vector<Access> accesses, Waits waits = Waits::kForStreams) noexcept = 0;
  // Its stream comes to it; it is done, or dropped. Tasks that were not told of are passed over.
  virtual void Begin(const void* task) noexcept = 0;
  virtual void End(const void* task) noexcept = 0;
  virtual SignalPointer NewSignal() noexcept = 0;
  // The stream has come to it. What was signalled before stays so: whoever waits may mean any of it.
  virtual void Raise(const SignalPointer& signal, const void* stream) noexcept = 0;
  // What the stream does from now on comes behind it; behind all that was done anywhere.
  virtual void StreamWaits(const void* stream, const SignalPointer& signal) noexcept = 0;
  virtual void StreamWaitsForAll(const void* stream) noexcept = 0;
  // The host has waited for all that the stream has done, or for a signal.
  virtual void HostWaited(const void* stream) noexcept = 0;
  virtual void HostWaited(const SignalPointer& signal) noexcept = 0;
  // A function of the program ends that a stream has come to; the stream goes on then. The host knows from its running that what
  // was before it is done.
  virtual void HostFunctionEnds(const void* stream) noexcept = 0;
  // The calling thread itself frees memory.
  virtual void HostFrees(const char* api, const void* address, size_t size) noexcept = 0;
  // Work that a thread has queued waits until somebody wants what it does, or for some milliseconds: what was not waited for is
  // then really not there. A stream is held when it becomes ready.
  virtual void Hold(const void* stream) noexcept = 0;
  virtual void AwaitWanted(const void* stream) noexcept = 0;
  virtual void Want(const void* stream) noexcept = 0;
  virtual void WantAll() noexcept = 0;

  // Memory. Where GuardsDevice: fresh memory, filled with a pattern, none of it written yet; nullptr when there is none.
  virtual void* AllocateDevice(const char* api, size_t size) noexcept = 0;
  // Ends it; the caller knows that the block lives.
  virtual void FreeDevice(const char* api, void* address) noexcept = 0;
  // Work that may still use memory which the program has freed: between the two, the bytes of what is freed stay what they were.
  virtual uint64_t BeginWork() noexcept = 0;
  virtual void EndWork(uint64_t work) noexcept = 0;
  // Public addresses without memory; nullptr when there are none.
  virtual void* ReserveDevice(size_t size, size_t alignment) noexcept = 0;
  virtual void ReleaseDevice(void* address) noexcept = 0;
  // Puts the bytes of the file `from` behind public addresses, or takes them away.
  virtual bool MapDevice(const char* api, void* address, size_t size, int from,
                         bool host_may_use) noexcept = 0;
  virtual bool UnmapDevice(const char* api, void* address, size_t size) noexcept = 0;
  // Some bytes were written; those from the address to the end of its block.
  virtual void MarkWritten(const void* address, size_t size) noexcept = 0;
  virtual void MarkWrittenToEnd(const void* address) noexcept = 0;
  // Reports a free that frees nothing. `source` is the function whose memory `api` frees, such as aclrtMalloc.
  virtual void CheckWrongFree(const char* api, const char* source, const void* address) noexcept = 0;

  // Copies. Reports what is wrong with a copy's memory and direction, a fill's memory, `size` bytes of an operand.
  virtual void CheckCopy(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept = 0;
  virtual void CheckFill(const char* api, const void* address, size_t size) noexcept = 0;
  virtual void CheckOperand(const char* api, const char* operand, const void* address,
                            size_t size) noexcept = 0;
  // Moves the bytes of a copy, or fills those of one without a source, between working addresses, and notes what is written.
  virtual void MoveBytes(const CopyRows& rows, int32_t value) noexcept = 0;
  // A copy, or a fill, that is done at once.
  virtual void CopyChecked(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept = 0;
  virtual void FillChecked(const char* api, void* address, int32_t value, size_t size) noexcept = 0;

  // Tensors, for callers that have asked KeepsCalls: one was made, its address or shape was set anew by `api`, it is about to go.
  virtual void TensorMade(const char* api, const aclTensor* tensor) noexcept = 0;
  virtual void TensorChanged(const char* api, const aclTensor* tensor) noexcept = 0;
  // False when it is gone already: then it must not be touched.
  virtual bool TensorGoes(const char* api, const aclTensor* tensor) noexcept = 0;

  // Calls of operators. The end of phase 1; the operands in the executor's order.
  virtual void Phase1Ends(const void* slot, const char* api, const aclOpExecutor* handle,
                          std::vector<OperandInfo> operands) noexcept = 0;
  // Phase 2 has found the executor of a handle, and was given that workspace; or none.
  virtual void Phase2Begins(const char* api, const CallInSlot& call, const void* workspace,
                            uint64_t workspace_size) noexcept = 0;
  virtual void Phase2FindsNone(const char* api, const aclOpExecutor* handle) noexcept = 0;
  // Phase 2 accepts the call: reports operands, and a workspace, whose memory is not there or not a device's.
  virtual void CheckLaunch(const CallInSlot& call) noexcept = 0;
  // A copy for one more run of a repeatable one.
  virtual void CallIsCopied(const void* from, const void* to) noexcept = 0;
  // The work is about to be submitted; CallGoes ends it.
  virtual void StartWork(const void* slot) noexcept = 0;
  // What it is about to touch, with the addresses that are set in it.
  virtual std::vector<Access> AccessesOf(const CallInSlot& call) noexcept = 0;
  // Before the work, in stream order: what it reads was written, and what it writes is from then on. Puts the addresses at which
  // the library works into the executor's, but for the workspace's, which it returns.
  virtual void* BeforeWork(const CallInSlot& call) noexcept = 0;
  // The slot is free.
  virtual void CallGoes(const void* slot) noexcept = 0;

 protected:
  ~Hooks() = default;
};

// Null unless IsOn.
extern constinit Hooks* hooks;

// ---- the addresses of device memory in a checked program ----

struct DeviceRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  // Of the bytes behind a public address: where a page has one of its own, and of all others.
  const std::atomic<ptrdiff_t>* distance_of_page = nullptr;
  ptrdiff_t distance = 0;
};
inline constexpr size_t kDevicePage = 4096;
extern constinit DeviceRange device_range;

inline bool IsInDeviceRange(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= device_range.begin && at < device_range.end;
}

// Where the library reads and writes what a program's address names; any other address as it is. Costs one test where nothing
// is checked.
template <class T>
inline T* Working(T* address) noexcept {
  if (!IsOn() || !IsInDeviceRange(address)) return address;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const ptrdiff_t own =
      device_range.distance_of_page[(at - device_range.begin) / kDevicePage].load(std::memory_order_relaxed);
  return reinterpret_cast<T*>(at + static_cast<uintptr_t>(own != 0 ? own : device_range.distance));
}

// Whether device memory comes from the checks.
inline bool GuardsDevice() noexcept { return IsOn() && device_range.end != 0; }
// Whether this is an address of it.
inline bool OwnsDevice(const void* address) noexcept { return IsOn() && IsInDeviceRange(address); }

// ---- the start ----

// What PORTACL_CHECK accepts, for a message.
inline constexpr const char* kAcceptedSettings =
    "0, 1 or report, and of memory, sync, init, handles and product those that are wanted, separated by "
    "commas";

// Reads the environment and puts the hooks in force. Returns the text of PORTACL_CHECK that is not accepted, or nullptr.
using StartFunction = const char* (*)() noexcept;

// The checks register how they start when the library is loaded. The runtime starts them at the library's first call.
void RegisterStart(StartFunction start) noexcept;
const char* StartChecks() noexcept;

// What the runtime knows of memory; it registers that when the library is loaded.
struct MemoryMap {
  uintptr_t (*block_of)(uintptr_t address) noexcept;  // the allocation that holds it; 0: none
  MemoryRange (*range_of)(const void* address) noexcept;
};
void RegisterMemory(const MemoryMap& map) noexcept;
uintptr_t BlockOf(uintptr_t address) noexcept;
MemoryRange RangeOf(const void* address) noexcept;

}  // namespace portacl::sanitizer
