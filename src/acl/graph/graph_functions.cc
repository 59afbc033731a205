// The functions of acl_rt.h that capture streams into graphs, and execute, update and describe graphs.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/acl_rt.h"
#include "acl/graph/condition_functions.h"
#include "acl/graph/execution.h"
#include "acl/graph/found_graph.h"
#include "acl/graph/graph_text.h"
#include "acl/queue/stream.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/graph.h"
#include "base/errors.h"
#include "base/log.h"
#include "base/process/cancellation.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory for the graph."));
}

// Replaces recorded tasks by those of an update, in stream order.
class UpdateTask final : public Task {
 public:
  explicit UpdateTask(Update update) noexcept : update_(std::move(update)) {}
  Outcome Run(Stream&) noexcept override {
    update_.graph->Replace(update_.positions, update_.nodes);
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override { delete this; }

 private:
  Update update_;
};

bool IsDot(const char* path) noexcept {
  const size_t length = std::strlen(path);
  return length >= 4 && std::strcmp(path + length - 4, ".dot") == 0;
}

aclError WriteFile(const char* api, const char* path, const std::string& text) noexcept {
  const CancellationDeferred deferred;
  std::FILE* const file = std::fopen(path, "we");
  if (file == nullptr) {
    return FailValue(api, "path", path, "a file that can be written", ACL_ERROR_RT_FILE_OPEN);
  }
  const bool is_whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) == 0 && is_whole) return ACL_SUCCESS;
  return FailValue(api, "path", path, "a file with room for the graph", ACL_ERROR_RT_FILE_WRITE);
}

void SetWhole(Graph& graph) noexcept {
  graph.is_captured = false;
  for (const RecordedNode& node : graph.nodes) {
    if (node.choice == nullptr) continue;
    for (const auto& part : node.choice->parts) SetWhole(*part);
  }
}

}  // namespace

std::shared_ptr<Graph> FindGraphFor(const char* api, aclmdlRI handle, aclError* status) noexcept {
  if (handle == nullptr) {
    *status = FailNullPointer(api, "modelRI", "a graph of aclmdlRICaptureEnd");
    return nullptr;
  }
  std::shared_ptr<Graph> graph = FindGraph(handle);
  if (graph == nullptr) {
    *status = FailValue(api, "modelRI", static_cast<const void*>(handle),
                        "a graph of aclmdlRICaptureEnd that is not destroyed", ACL_ERROR_RT_PARAM_INVALID);
  }
  return graph;
}

std::shared_ptr<Graph> FindWholeGraph(const char* api, aclmdlRI handle, aclError* status) noexcept {
  std::shared_ptr<Graph> graph = FindGraphFor(api, handle, status);
  if (graph != nullptr && graph->is_captured) {
    *status = Fail(ACL_ERROR_RT_MODEL_CAPTURED, MessageClass::kAclReason,
                   Text(api, ": the graph is being captured, expected aclmdlRICaptureEnd before."));
    return nullptr;
  }
  return graph;
}

std::shared_ptr<Graph> FindOuterGraph(const char* api, aclmdlRI handle, aclError* status) noexcept {
  std::shared_ptr<Graph> graph = FindGraphFor(api, handle, status);
  if (graph != nullptr && graph->is_part()) {
    *status = FailValue(api, "modelRI", static_cast<const void*>(handle),
                        "the graph that this one is a part of: only that is executed, aborted and destroyed");
    return nullptr;
  }
  return graph == nullptr ? nullptr : FindWholeGraph(api, handle, status);
}

aclError CheckCaptureMode(const char* api, const char* parameter, const aclmdlRICaptureMode* mode) noexcept {
  int number = 0;  // clients may pass any number
  std::memcpy(&number, mode, sizeof number);
  if (number >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && number <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
    return ACL_SUCCESS;
  }
  return FailValue(api, parameter, number, "0 to 2", ACL_ERROR_INVALID_PARAM);
}

}  // namespace portacl

using namespace portacl;

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status, aclmdlRI* modelRI) {
  const char* const api = "aclmdlRICaptureGetInfo";
  if (status == nullptr) return FailNullPointer(api, "status", "the address of an aclmdlRICaptureStatus");
  aclError of_stream = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &of_stream);
  if (!found) return of_stream;
  aclmdlRI graph = nullptr;
  TellCapture(found, status, &graph);
  if (modelRI != nullptr) *modelRI = graph;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  const char* const api = "aclmdlRICaptureThreadExchangeMode";
  if (mode == nullptr) return FailNullPointer(api, "mode", "the address of an aclmdlRICaptureMode");
  if (aclError status = CheckCaptureMode(api, "*mode", mode)) return status;
  *mode = ExchangeCaptureMode(*mode);
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  const profile::Call profiled("aclmdlRICaptureBegin");
  const char* const api = "aclmdlRICaptureBegin";
  if (aclError status = CheckCaptureMode(api, "mode", &mode)) return status;
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  return found ? BeginCapture(api, found, mode) : status;
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  const profile::Call profiled("aclmdlRICaptureEnd");
  const char* const api = "aclmdlRICaptureEnd";
  if (modelRI == nullptr) return FailNullPointer(api, "modelRI", "the address of an aclmdlRI");
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  std::shared_ptr<Graph> graph;
  aclmdlRI handle = nullptr;
  status = EndCapture(api, found, &graph, &handle);
  // The end of the outer graph does the rest for its parts.
  if (status == ACL_SUCCESS && !graph->is_part() && !NoteMemory(graph.get())) {
    ReleaseGraph(handle);
    status = FailNoMemory(api);
  }
  if (status != ACL_SUCCESS) {
    graph = nullptr;
    FreeEndedConditions();
    *modelRI = nullptr;
    return status;
  }
  if (!graph->is_part()) SetWhole(*graph);
  *modelRI = handle;
  return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
  const char* const api = "aclmdlRICaptureTaskGrpBegin";
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  return found ? BeginGroup(api, found) : status;
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
  const char* const api = "aclmdlRICaptureTaskGrpEnd";
  if (handle == nullptr) return FailNullPointer(api, "handle", "the address of an aclrtTaskGrp");
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  return found ? EndGroup(api, found, handle) : status;
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
  const char* const api = "aclmdlRICaptureTaskUpdateBegin";
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  if (handle == nullptr) return FailNullPointer(api, "handle", "a group of aclmdlRICaptureTaskGrpEnd");
  int32_t group = 0;
  std::shared_ptr<Graph> graph = FindGroup(handle, &group);
  if (graph == nullptr) {
    return FailValue(api, "handle", static_cast<const void*>(handle),
                     "a group of aclmdlRICaptureTaskGrpEnd, while its graph is not destroyed",
                     ACL_ERROR_RT_PARAM_INVALID);
  }
  return BeginUpdate(api, found, std::move(graph), group);
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
  const char* const api = "aclmdlRICaptureTaskUpdateEnd";
  aclError status = ACL_SUCCESS;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  Update update;
  if (aclError failed = EndUpdate(api, found, &update)) return failed;
  for (RecordedNode& node : update.nodes) {
    if (!NoteMemory(&node)) return FailNoMemory(api);
  }
  auto* const task = new (std::nothrow) UpdateTask(std::move(update));
  return task == nullptr ? FailNoMemory(api) : found.SubmitFor(api, task);
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  const profile::Call profiled("aclmdlRIExecuteAsync");
  const char* const api = "aclmdlRIExecuteAsync";
  aclError status = ACL_SUCCESS;
  std::shared_ptr<Graph> graph = FindOuterGraph(api, modelRI, &status);
  if (graph == nullptr) return status;
  const FoundStream found = FindStreamFor(api, stream, &status);
  if (!found) return status;
  if (IsUnrecordable(api, found, &status)) return status;
  return SubmitExecution(api, std::move(graph), found);
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
  const profile::Call profiled("aclmdlRIExecute");
  const char* const api = "aclmdlRIExecute";
  if (aclError status = CheckTimeout(api, timeout)) return status;
  aclError status = ACL_SUCCESS;
  std::shared_ptr<Graph> graph = FindOuterGraph(api, modelRI, &status);
  if (graph == nullptr) return status;
  const Deadline deadline = DeadlineIn(timeout);
  if (deadline == kForever && graph->IsRunHere()) return FailWaitsForSelf(api);
  // Uses a stream of the graph's own, so that the program's streams continue meanwhile.
  const aclrtStream handle = graph->WithTasks([&] {
    if (LiveStream(graph->own_stream) == nullptr) {
      graph->own_stream = CreateStream(graph->context, graph->device, false);
    }
    return graph->own_stream;
  });
  const FoundStream own{.stream = LiveStream(handle), .handle = handle, .asked = handle};
  if (!own) {
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, MessageClass::kAclInner,
                Text(api, ": no memory or no slot for the stream of the graph."));
  }
  if (aclError failed = SubmitExecution(api, std::move(graph), own)) return failed;
  return SynchronizeStream(api, *own.stream, own.handle, deadline);
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
  aclError status = ACL_SUCCESS;
  const std::shared_ptr<Graph> graph = FindOuterGraph("aclmdlRIAbort", modelRI, &status);
  if (graph != nullptr) graph->Abort();
  return status;
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  const char* const api = "aclmdlRIGetId";
  if (modelRIId == nullptr) return FailNullPointer(api, "modelRIId", "the address of a uint32_t");
  aclError status = ACL_SUCCESS;
  const std::shared_ptr<Graph> graph = FindGraphFor(api, modelRI, &status);
  if (graph != nullptr) *modelRIId = graph->id();
  return status;
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
  const char* const api = "aclmdlRISetName";
  if (name == nullptr) return FailNullPointer(api, "name", "a name");
  aclError status = ACL_SUCCESS;
  const std::shared_ptr<Graph> graph = FindGraphFor(api, modelRI, &status);
  if (graph == nullptr) return status;
  try {
    std::string copy(name);
    graph->WithTasks([&] { graph->name.swap(copy); });
  } catch (...) {
    return FailNoMemory(api);
  }
  return ACL_SUCCESS;
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
  const char* const api = "aclmdlRIGetName";
  if (name == nullptr) return FailNullPointer(api, "name", "the address of maxLen bytes");
  aclError status = ACL_SUCCESS;
  const std::shared_ptr<Graph> graph = FindGraphFor(api, modelRI, &status);
  if (graph == nullptr) return status;
  size_t needed = 0;
  graph->WithTasks([&] {
    needed = graph->name.size() + 1;
    if (needed <= maxLen) std::memcpy(name, graph->name.c_str(), needed);
  });
  if (needed <= maxLen) return ACL_SUCCESS;
  return FailValue(api, "maxLen", maxLen,
                   Text("at least ", needed, ", the name with the zero behind it").view(),
                   ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY);
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  const char* const api = "aclmdlRIDebugPrint";
  aclError status = ACL_SUCCESS;
  const std::shared_ptr<Graph> graph = FindWholeGraph(api, modelRI, &status);
  if (graph == nullptr) return status;
  try {
    const std::string text = AsDot(*graph);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      Log(LogLevel::kInfo, ACL_SUCCESS, std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
  } catch (...) {
    return FailNoMemory(api);
  }
  return ACL_SUCCESS;
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
  const char* const api = "aclmdlRIDebugJsonPrint";
  if (path == nullptr) return FailNullPointer(api, "path", "the path of a file");
  (void)flags;
  aclError status = ACL_SUCCESS;
  const std::shared_ptr<Graph> graph = FindWholeGraph(api, modelRI, &status);
  if (graph == nullptr) return status;
  try {
    return WriteFile(api, path, IsDot(path) ? AsDot(*graph) : AsJson(*graph));
  } catch (...) {
    return FailNoMemory(api);
  }
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  const profile::Call profiled("aclmdlRIDestroy");
  const char* const api = "aclmdlRIDestroy";
  aclError status = ACL_SUCCESS;
  std::shared_ptr<Graph> graph = FindOuterGraph(api, modelRI, &status);
  if (graph == nullptr) return status;
  // Waits for the graph's own stream before destroying it.
  const Stream* const waited_for = LiveStream(graph->WithTasks([&] { return graph->own_stream; }));
  if (waited_for != nullptr &&
      (HostFunctionScope::Holds(*waited_for) || (graph->IsRunHere() && graph->executions > 1))) {
    return FailWaitsForSelf(api);
  }
  if (!ReleaseGraph(modelRI)) {
    return FailValue(api, "modelRI", static_cast<const void*>(modelRI),
                     "a graph of aclmdlRICaptureEnd that is not destroyed", ACL_ERROR_RT_PARAM_INVALID);
  }
  const aclrtStream own = graph->WithTasks([&] { return std::exchange(graph->own_stream, nullptr); });
  if (own != nullptr) DestroyStream(own, false);
  graph = nullptr;
  FreeEndedConditions();
  return ACL_SUCCESS;
}
