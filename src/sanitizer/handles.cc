// Tracks the objects that a program has created and not yet destroyed (see handles.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/handles.h"

#include <dlfcn.h>

#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/report.h"

namespace portacl::sanitizer {
namespace {

struct Made {
  const char* what;
  const char* mend;
  const char* api;
  CallStack where;
};

struct Handles {
  std::mutex mutex;
  std::unordered_map<const void*, Made> live;
};

Handles& TheHandles() {
  static NoDestructor<Handles> handles;
  static const bool guarded = GuardAcrossFork(handles->mutex, ForkRank::kCheckedHandles);
  (void)guarded;
  return *handles;
}

// Tells whether the object belongs to a Python program, whose objects end with the interpreter, or to PyTorch's
// back end, which keeps streams for its own use.
bool IsOfPython(const CallStack& stack) noexcept {
  if (stack.line_count > 0) return true;
  for (int i = 0; i < stack.frame_count; ++i) {
    Dl_info info{};
    if (dladdr(stack.frames[i], &info) == 0 || info.dli_fname == nullptr) continue;
    if (std::string_view(info.dli_fname).find("libtorch_npu") != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

void HandleMade(const char* what, const char* mend, const char* api, const void* handle) noexcept {
  // Blocks of device memory store their own call stack.
  const CallStack where = IsInDeviceRange(handle) ? CallStack() : CallStackHere();
  Handles& handles = TheHandles();
  std::lock_guard lock(handles.mutex);
  handles.live[handle] = {what, mend, api, where};
}

void HandleGoes(const void* handle) noexcept {
  Handles& handles = TheHandles();
  std::lock_guard lock(handles.mutex);
  handles.live.erase(handle);
}

void NoDevice(const char* api, bool is_set_elsewhere) noexcept {
  // Functions that query the device may legitimately find none.
  const std::string_view name = api;
  if (!is_set_elsewhere || name.find("Get") != std::string_view::npos) return;
  const CallStack here = CallStackHere();
  Finding finding;
  finding.part = kHandles;
  finding.kind = "thread-without-device";
  finding.certainty = Certainty::kWarning;
  finding.function = api;
  finding.what.Add(
      "this thread has no device, so the call fails, while another thread has set one; it may mean to");
  finding.mend.Add("call aclrtSetDevice, or aclrtSetCurrentContext, in every thread that uses the device");
  finding.locations[0] = {Text(api, " was called"), &here};
  Report(finding);
}

void MemoryOfAnotherDevice(const char* api, const char* operand, const void* address, int of_memory,
                           int of_stream) noexcept {
  const CallStack here = CallStackHere();
  Finding finding;
  finding.part = kHandles;
  finding.kind = "memory-of-another-device";
  finding.function = api;
  finding.subject = address;
  finding.what.Add(operand).Add(", at ").Add(address).Add(", is memory of device ").Add(of_memory);
  finding.what.Add("; the stream is one of device ").Add(of_stream).Add(", which was given no access to it");
  finding.mend.Add(
      "run the operator in a stream of the memory's device, copy the data, or call "
      "aclrtDeviceEnablePeerAccess");
  finding.locations[0] = {Text(api, " was called"), &here};
  Report(finding);
}

void TellHandlesLeft() noexcept {
  Handles& handles = TheHandles();
  std::unique_lock lock(handles.mutex);
  auto left = handles.live;
  lock.unlock();  // a report takes other locks
  for (auto& [handle, made] : left) {
    Block block;
    if (FindBlock(handle, &block)) made.where = block.made;
    if (IsOfPython(made.where)) continue;
    Finding finding;
    finding.part = kHandles;
    finding.kind = "handle-leaked";
    finding.certainty = Certainty::kWarning;
    finding.function = "aclFinalize";
    finding.subject = handle;
    finding.what.Add(made.what).Add(" that ").Add(made.api).Add(" made, ").Add(handle).Add(
        ", is still there");
    finding.mend.Add("call ").Add(made.mend).Add(" before aclFinalize");
    finding.locations[0] = {Text(made.api, " made it"), &made.where};
    Report(finding);
  }
}

}  // namespace portacl::sanitizer
