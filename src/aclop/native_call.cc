// Queues the native calls of an operator by type name (see native_call.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclop/native_call.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "aclop/stream_memory.h"
#include "base/held_failure.h"

namespace portacl {
namespace {

// Owns the executors of the first phases. Those that no second phase takes are destroyed.
struct Executors {
  struct One {
    aclOpExecutor* executor = nullptr;
    uint64_t workspace_size = 0;
  };
  std::vector<One> all;

  Executors() = default;
  Executors(const Executors&) = delete;
  Executors& operator=(const Executors&) = delete;
  ~Executors() {
    for (const One& one : all) {
      if (one.executor != nullptr) aclDestroyAclOpExecutor(one.executor);
    }
  }
};

[[noreturn]] void RefuseFor(const NamedCall& call, const NativeCall& native, aclnnStatus status,
                            const Text& why) {
  throw NamedArguments::Stop{
      FailCall(call, ACL_ERROR_INVALID_PARAM, MessageClass::kAclReason,
               Text(call.api, ": operator ", call.type, " is computed by ", native.function,
                    ", which refuses it with ", status, ": ", why.view()))};
}

void CheckOperands(const NamedCall& call, NamedArguments& arguments, const NativeCall& native) {
  const bool takes = call.inputs.count >= native.least_inputs && call.inputs.count <= native.most_inputs;
  if (takes && call.outputs.count == native.outputs) return;
  Text text("has ");
  text.Add(native.least_inputs);
  if (native.most_inputs != native.least_inputs) text.Add(" to ").Add(native.most_inputs);
  text.Add(native.most_inputs == 1 ? " input and " : " inputs and ").Add(native.outputs);
  text.Add(native.outputs == 1 ? " output, not " : " outputs, not ");
  arguments.Refuse(text.Add(call.inputs.count).Add(" and ").Add(call.outputs.count));
}

aclError Queue(const NamedCall& call, std::span<const NativeCall> native_calls) {
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(call.api, call.stream, &status);
  if (!queue) return status;
  StreamMemory memory(call.api, queue);
  NamedArguments arguments(call, queue, memory);
  CheckOperands(call, arguments, native_calls.front());
  if (IsUnrecordable(call.api, queue, &status)) return status;

  Executors executors;
  executors.all.reserve(native_calls.size());
  uint64_t most = 0;
  for (const NativeCall& native : native_calls) {
    Executors::One one;
    Text why;
    aclnnStatus refused = ACL_SUCCESS;
    {
      HeldFailure held;
      refused = native.first(arguments, &one.workspace_size, &one.executor);
      if (refused != ACL_SUCCESS) why = held.Take();
    }
    if (refused != ACL_SUCCESS) RefuseFor(call, native, refused, why);
    executors.all.push_back(one);
    most = std::max(most, one.workspace_size);
  }
  arguments.CheckAttributes();

  // The calls of an operator share the workspace, since one begins when the one before has ended.
  void* const workspace = most == 0 ? nullptr : arguments.Memory(most);
  aclnnStatus failed = ACL_SUCCESS;
  Text why;
  size_t at = 0;
  {
    HeldFailure held;
    for (; failed == ACL_SUCCESS && at < native_calls.size(); ++at) {
      Executors::One& one = executors.all[at];
      failed = native_calls[at].second(one.workspace_size == 0 ? nullptr : workspace, one.workspace_size,
                                       std::exchange(one.executor, nullptr), call.stream);
    }
    if (failed != ACL_SUCCESS) why = held.Take();
  }
  memory.FreeInOrder();
  if (failed != ACL_SUCCESS) RefuseFor(call, native_calls[at - 1], failed, why);
  return ACL_SUCCESS;
}

}  // namespace

std::span<const NativeCall> NativeCallsFor(std::string_view type, int inputs) noexcept {
  const std::span<const NativeCall> all = NativeCalls();
  std::span<const NativeCall> found;
  for (size_t i = 0; i < all.size();) {
    size_t end = i + 1;
    while (end < all.size() && all[end].type == all[i].type && all[end].least_inputs == all[i].least_inputs &&
           all[end].most_inputs == all[i].most_inputs)
      ++end;
    if (all[i].type == type) {
      found = all.subspan(i, end - i);
      if (inputs >= all[i].least_inputs && inputs <= all[i].most_inputs) return found;
    }
    i = end;
  }
  return found;
}

aclError RunNatively(const NamedCall& call, std::span<const NativeCall> native_calls) noexcept {
  try {
    return Queue(call, native_calls);
  } catch (const NamedArguments::Stop& stop) {
    return stop.status;
  } catch (...) {
    return FailCall(call, ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner,
                    Text(call.api, ": operator ", call.type, ": not enough memory."));
  }
}

}  // namespace portacl
