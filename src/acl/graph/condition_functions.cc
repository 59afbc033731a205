// The functions of acl_rt.h for parts of graphs that are done on conditions.
// SPDX-License-Identifier: Apache-2.0
#include "acl/graph/condition_functions.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/graph/found_graph.h"
#include "acl/memory/memory.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

constexpr const char* kCreate = "aclmdlRICondHandleCreate";
constexpr uint32_t kMostParts = 65536;

// The memory of a condition, as an entry of the registry of memory. When its graph ends, it is only kept for
// FreeEndedConditions, since that may happen under the lock of a stream.
struct ConditionMemory {
  void* address = nullptr;
  uint64_t serial = 0;
  ConditionMemory* next = nullptr;
};
std::atomic<ConditionMemory*> ended{nullptr};

void Keep(ConditionMemory* memory) noexcept {
  memory->next = ended.load(std::memory_order_relaxed);
  while (!ended.compare_exchange_weak(memory->next, memory, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
}

// Throws if memory is exhausted.
std::shared_ptr<uint64_t> NewVariable(int32_t device, uint64_t value) {
  auto memory = std::make_unique<ConditionMemory>();
  memory->address = TakeOwnMemory(kCreate, sizeof(uint64_t), device);
  if (memory->address == nullptr) throw std::bad_alloc();
  memory->serial = RangeOfMemory(memory->address).serial;
  auto* const address = static_cast<uint64_t*>(memory->address);
  if (sanitizer::IsOn()) sanitizer::hooks->MarkWritten(address, sizeof value);
  std::memcpy(sanitizer::Working(address), &value, sizeof value);
  return {address, [kept = memory.release()](uint64_t*) noexcept { Keep(kept); }};
}

// Reads an enumeration that clients may give any number.
template <class Enum>
int NumberOf(const Enum& value) noexcept {
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

aclError CheckParts(const char* api, int type, uint32_t size) noexcept {
  switch (type) {
    case ACL_MODEL_RI_COND_TYPE_IF:
      if (size == 1 || size == 2) return ACL_SUCCESS;
      return FailValue(api, "params.size", size, "1 or 2 for ACL_MODEL_RI_COND_TYPE_IF");
    case ACL_MODEL_RI_COND_TYPE_WHILE:
      if (size == 1) return ACL_SUCCESS;
      return FailValue(api, "params.size", size, "1 for ACL_MODEL_RI_COND_TYPE_WHILE");
    case ACL_MODEL_RI_COND_TYPE_SWITCH:
      if (size >= 1 && size <= kMostParts) return ACL_SUCCESS;
      return FailValue(api, "params.size", size,
                       Text("1 to ", kMostParts, " for ACL_MODEL_RI_COND_TYPE_SWITCH").view());
    default:
      return FailValue(api, "params.type", type, "0 to 2", ACL_ERROR_INVALID_PARAM);
  }
}

}  // namespace

void FreeEndedConditions() noexcept {
  ConditionMemory* memory = ended.exchange(nullptr, std::memory_order_acquire);
  while (memory != nullptr) {
    const std::unique_ptr<ConditionMemory> one(memory);
    memory = one->next;
    // The program may have freed it by mistake.
    if (RangeOfMemory(one->address).serial == one->serial) GiveBackOwnMemory(kCreate, one->address);
  }
}

}  // namespace portacl

using namespace portacl;

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue, aclmdlRICondHandleFlag flag,
                                  aclmdlRICondHandle* handle) {
  const char* const api = kCreate;
  if (handle == nullptr) return FailNullPointer(api, "handle", "the address of an aclmdlRICondHandle");
  const int number = NumberOf(flag);
  if (number != 0 && number != ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT) {
    return FailValue(api, "flag", number, "0 or 1 (ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT)",
                     ACL_ERROR_INVALID_PARAM);
  }
  aclError status = ACL_SUCCESS;
  const std::shared_ptr<Graph> graph = FindGraphFor(api, modelRI, &status);
  if (graph == nullptr) return status;
  FreeEndedConditions();
  Condition condition;
  condition.first = defaultLaunchValue;
  condition.begins_anew = number != 0;
  try {
    condition.variable = NewVariable(graph->device, defaultLaunchValue);
    condition.serial = RangeOfMemory(condition.variable.get()).serial;
  } catch (...) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough device memory for the condition."));
  }
  status = AddCondition(api, modelRI, graph, std::move(condition), handle);
  if (status != ACL_SUCCESS) FreeEndedConditions();
  return status;
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
  const char* const api = "aclmdlRICondHandleGetCondPtr";
  if (handle == nullptr) return FailNullPointer(api, "handle", "a condition of aclmdlRICondHandleCreate");
  if (ptr == nullptr) return FailNullPointer(api, "ptr", "the address of a uint64_t*");
  size_t number = 0;
  const std::shared_ptr<Graph> graph = FindCondition(handle, &number);
  if (graph == nullptr) {
    return FailValue(api, "handle", static_cast<const void*>(handle),
                     "a condition of aclmdlRICondHandleCreate whose graph is not destroyed");
  }
  *ptr = graph->WithTasks([&] { return graph->conditions[number].variable.get(); });
  return ACL_SUCCESS;
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
  const profile::Call profiled("aclmdlRIAddCondTask");
  const char* const api = "aclmdlRIAddCondTask";
  if (params.handle == nullptr) {
    return FailNullPointer(api, "params.handle", "a condition of aclmdlRICondHandleCreate");
  }
  if (params.modelRIArray == nullptr) {
    return FailNullPointer(api, "params.modelRIArray", "the address of params.size graphs");
  }
  if (flags != 0) return FailValue(api, "flags", flags, "0");
  if (aclError status = CheckParts(api, NumberOf(params.type), params.size)) return status;
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  return AddChoice(api, found, params.type, params.handle, params.size, params.modelRIArray);
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode) {
  const profile::Call profiled("aclmdlRICaptureToModelRIBegin");
  const char* const api = "aclmdlRICaptureToModelRIBegin";
  if (aclError status = CheckCaptureMode(api, "mode", &mode)) return status;
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  std::shared_ptr<Graph> graph = FindGraphFor(api, modelRI, &status);
  return graph == nullptr ? status : BeginPart(api, found, std::move(graph), modelRI, mode);
}
