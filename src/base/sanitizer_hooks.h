// The hooks by which the runtime tells the checks of programs what a program does. They are null if nothing is checked.
//
// The runtime and the checks know each other only through this header. Callers of a hook have tested IsOn (checked_parts.h).
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
#include "base/memory_info.h"
#include "base/strided_bytes.h"

namespace portacl::sanitizer {

// ---- arguments of hooks ----

// A stream as messages name it. `slot` identifies it.
struct StreamName {
  const void* slot = nullptr;
  const void* handle = nullptr;
  int32_t id = 0;
  bool is_default = false;
};

enum class Waits {
  kForStreams,  // only for work of streams
  kForAnything,  // also for the host, so that later work of the stream may be ordered after what the host does meanwhile
};

// Bytes that work accesses.
struct Access {
  StridedBytes bytes;
  bool writes = false;
  bool is_partial = false;  // only some of the bytes, which the data decide
  const char* role = "";    // a parameter's name, or such as "the source"; static
};

// Returns the accesses of a copy: its source and its destination. A fill has no source.
std::vector<Access> AccessesOfCopy(const CopyRows& rows) noexcept;

// A point in a stream that others wait for. Null if the order of work is not checked.
class Signal {
 public:
  virtual ~Signal() = default;
};
using SignalPointer = std::shared_ptr<Signal>;

// The way in which an operator reads an operand.
enum class OperandUse {
  kReads,      // reads every element of the view, and the result depends on each
  kMoves,      // reads every element, but only to copy it
  kPartly,     // reads some elements, chosen by values or by attributes that the executor does not keep
  kWritesOnly  // reads none
};

// A tensor of a call, as it was in phase 1.
struct OperandInfo {
  const char* name = "";  // of the parameter; static
  int entry = -1;         // its index in a list; -1 if the parameter is no list
  const aclTensor* tensor = nullptr;
  OperandUse use = OperandUse::kReads;
  bool is_read = false;      // the call reads at least a part of it
  bool writes = false;       // it is a result of the call
  bool is_written = false;   // it is a result, or the call may write it: reading it afterwards is no error
  bool is_partial = false;   // the operator accesses only a part of it, chosen by values or attributes
  StridedBytes bytes;        // relative to the address; empty if not even bounds are known
  bool is_complete = false;  // every one of the bytes belongs to an element; else `bytes` are bounds
  bool is_exact = false;     // is_complete, and no byte holds a part of any other element
};

// An executor's slot, and its content in phase 2.
struct CallInSlot {
  const void* slot;
  const char* api;
  int operand_count;
  void** addresses;  // of the operands
  const bool* touched;
  void* workspace;
  uint64_t workspace_size;  // as phase 1 returned it
  bool repeatable;
  bool runs;  // there is something to compute
};

// ---- the hooks ----

class Hooks {
 public:
  // The program created an object, or is about to destroy it. `what`, such as "a stream", and `mend`, the function that destroys it,
  // are static. Callers of the functions up to ProgramEnds have tested IsOn(kHandles).
  virtual void HandleMade(const char* what, const char* mend, const char* api,
                          const void* handle) noexcept = 0;
  virtual void HandleGoes(const void* handle) noexcept = 0;
  // A call fails because the thread has no device. `is_set_elsewhere`: some other thread has one.
  virtual void NoDevice(const char* api, bool is_set_elsewhere) noexcept = 0;
  // An operator in a stream of one device was given another device's memory.
  virtual void MemoryOfAnotherDevice(const char* api, const char* operand, const void* address, int of_memory,
                                     int of_stream) noexcept = 0;
  // aclFinalize was called: reports objects that still exist.
  virtual void ProgramEnds() noexcept = 0;

  // Order of work. Callers of the functions up to WantAll have tested IsOn(kSync).
  // This thread is about to queue a task, which its address identifies.
  virtual void Queue(const void* task, const char* api, const StreamName& stream,
                     std::vector<Access> accesses, Waits waits = Waits::kForStreams) noexcept = 0;
  // The task's stream reaches it; it is done or dropped. Unknown tasks are ignored.
  virtual void Begin(const void* task) noexcept = 0;
  virtual void End(const void* task) noexcept = 0;
  // Returns a new signal, not yet raised.
  virtual SignalPointer NewSignal() noexcept = 0;
  // The stream has reached the signal. Earlier raises stay valid, since a waiter may mean any of them.
  virtual void Raise(const SignalPointer& signal, const void* stream) noexcept = 0;
  // The stream's further work is ordered after the signal, or after all work done so far anywhere.
  virtual void StreamWaits(const void* stream, const SignalPointer& signal) noexcept = 0;
  virtual void StreamWaitsForAll(const void* stream) noexcept = 0;
  // The host has waited for all of the stream's work, or for a signal.
  virtual void HostWaited(const void* stream) noexcept = 0;
  virtual void HostWaited(const SignalPointer& signal) noexcept = 0;
  // A host function of the stream ends, and the stream continues. A host function that runs tells the host that all earlier work of
  // the stream is done.
  virtual void HostFunctionEnds(const void* stream) noexcept = 0;
  // The calling thread frees memory.
  virtual void HostFrees(const char* api, const void* address, size_t size) noexcept = 0;
  // Memory that the library took for work of its own goes, in the order of that work.
  virtual void OwnMemoryGoes(const void* address, size_t size) noexcept = 0;
  // Delay queued work until somebody wants its result, or for some milliseconds, so that results that were not waited for are really
  // missing. A stream is held when it becomes ready.
  virtual void Hold(const void* stream) noexcept = 0;
  virtual void AwaitWanted(const void* stream) noexcept = 0;
  virtual void Want(const void* stream) noexcept = 0;
  virtual void WantAll() noexcept = 0;

  // Device memory, if GuardsDevice.
  // Allocates fresh memory, filled with a pattern and marked as unwritten. Returns nullptr if there is none.
  virtual void* AllocateDevice(const char* api, size_t size) noexcept = 0;
  // Frees a block; the caller knows that it is alive.
  virtual void FreeDevice(const char* api, void* address) noexcept = 0;
  // Enclose work that may still use memory which the program has freed: until EndWork the bytes of freed blocks are kept.
  virtual uint64_t BeginWork() noexcept = 0;
  virtual void EndWork(uint64_t work) noexcept = 0;
  // Reserves public addresses without memory. Returns nullptr if there are none.
  virtual void* ReserveDevice(size_t size, size_t alignment) noexcept = 0;
  virtual void ReleaseDevice(void* address) noexcept = 0;
  // Map the bytes of the file `from` at public addresses, or unmap them.
  virtual bool MapDevice(const char* api, void* address, size_t size, int from,
                         bool host_may_use) noexcept = 0;
  virtual bool UnmapDevice(const char* api, void* address, size_t size) noexcept = 0;
  // Mark bytes as written: `size` bytes, or all from the address to the end of its block.
  virtual void MarkWritten(const void* address, size_t size) noexcept = 0;
  virtual void MarkWrittenToEnd(const void* address) noexcept = 0;
  // Reports a free that frees nothing. `source` is the function whose memory `api` frees, such as aclrtMalloc.
  virtual void CheckWrongFree(const char* api, const char* source, const void* address) noexcept = 0;

  // Copies. Report errors in a copy's memory and direction, in a fill's memory, or in `size` bytes of an operand.
  virtual void CheckCopy(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept = 0;
  virtual void CheckFill(const char* api, const void* address, size_t size) noexcept = 0;
  virtual void CheckOperand(const char* api, const char* operand, const void* address,
                            size_t size) noexcept = 0;
  // Moves the bytes of a copy between working addresses, or fills if it has no source. Records the written bytes.
  virtual void MoveBytes(const CopyRows& rows, int32_t value) noexcept = 0;
  // Check and perform a copy or a fill synchronously.
  virtual void CopyChecked(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept = 0;
  virtual void FillChecked(const char* api, void* address, int32_t value, size_t size) noexcept = 0;

  // Tensors; callers have tested KeepsCalls. A tensor was created, was changed by `api` (address or shape), or is about to be destroyed.
  virtual void TensorMade(const char* api, const aclTensor* tensor) noexcept = 0;
  virtual void TensorChanged(const char* api, const aclTensor* tensor) noexcept = 0;
  // Returns false if the tensor is already destroyed and must not be touched.
  virtual bool TensorGoes(const char* api, const aclTensor* tensor) noexcept = 0;

  // Calls of operators. Phase 1 ends; the operands are in the executor's order.
  virtual void Phase1Ends(const void* slot, const char* api, const aclOpExecutor* handle,
                          std::vector<OperandInfo> operands) noexcept = 0;
  // Phase 2 has found the executor of a handle and was given this workspace; or it has found none.
  virtual void Phase2Begins(const char* api, const CallInSlot& call, const void* workspace,
                            uint64_t workspace_size) noexcept = 0;
  virtual void Phase2FindsNone(const char* api, const aclOpExecutor* handle) noexcept = 0;
  // Phase 2 accepts the call: reports operands and a workspace whose memory does not exist or belongs to no device.
  virtual void CheckLaunch(const CallInSlot& call) noexcept = 0;
  // An executor was copied for one more run of a repeatable one.
  virtual void CallIsCopied(const void* from, const void* to) noexcept = 0;
  // The work is about to be submitted; CallGoes tells its end.
  virtual void StartWork(const void* slot) noexcept = 0;
  // Returns the bytes that the call is about to access, at the addresses that are set in it.
  virtual std::vector<Access> AccessesOf(const CallInSlot& call) noexcept = 0;
  // Runs before the work, in stream order. Checks that the bytes it reads were written, and marks those it writes. Puts working
  // addresses into the executor's array, except the workspace's, which it returns.
  virtual void* BeforeWork(const CallInSlot& call) noexcept = 0;
  // The slot is free again.
  virtual void CallGoes(const void* slot) noexcept = 0;

 protected:
  ~Hooks() = default;
};

// The hooks in force. Null unless IsOn.
extern constinit Hooks* hooks;

// ---- the addresses of device memory in a checked program ----

struct DeviceRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  // The distances from public addresses to working addresses: by page, 0 for a page that has `distance`.
  const std::atomic<ptrdiff_t>* distance_of_page = nullptr;
  ptrdiff_t distance = 0;
};
inline constexpr size_t kDevicePage = 4096;
extern constinit DeviceRange device_range;

inline bool IsInDeviceRange(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= device_range.begin && at < device_range.end;
}

// Returns the working address of a program's address: there the library accesses its bytes. Other addresses are returned unchanged.
// Costs one test if nothing is checked.
template <class T>
inline T* Working(T* address) noexcept {
  if (!IsOn() || !IsInDeviceRange(address)) return address;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const ptrdiff_t own =
      device_range.distance_of_page[(at - device_range.begin) / kDevicePage].load(std::memory_order_relaxed);
  return reinterpret_cast<T*>(at + static_cast<uintptr_t>(own != 0 ? own : device_range.distance));
}

// Tells whether device memory is allocated by the checks.
inline bool GuardsDevice() noexcept { return IsOn() && device_range.end != 0; }
// Tells whether this is an address of such memory.
inline bool OwnsDevice(const void* address) noexcept { return IsOn() && IsInDeviceRange(address); }

// ---- the start ----

// The accepted values of PORTACL_CHECK, for messages.
inline constexpr const char* kAcceptedSettings =
    "0, 1 or report, and of memory, sync, init, handles and product those that are wanted, separated by "
    "commas";

// Reads the environment and puts the hooks in force. Returns the text of PORTACL_CHECK if it is not accepted, else nullptr.
using StartFunction = const char* (*)() noexcept;

// The checks register their start function while the library is loaded. The runtime calls it at the library's first call.
void RegisterStart(StartFunction start) noexcept;
const char* StartChecks() noexcept;

// Queries of the runtime's registry of memory, which the runtime registers while the library is loaded.
struct MemoryMap {
  uintptr_t (*block_of)(uintptr_t address) noexcept;  // the begin of its allocation; 0: none
  MemoryRange (*range_of)(const void* address) noexcept;
};
void RegisterMemory(const MemoryMap& map) noexcept;
uintptr_t BlockOf(uintptr_t address) noexcept;
MemoryRange RangeOf(const void* address) noexcept;

}  // namespace portacl::sanitizer
