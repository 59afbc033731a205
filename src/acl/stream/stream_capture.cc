// Captures of streams (see capture.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/capture.h"

#include <pthread.h>

#include <algorithm>
#include <list>
#include <utility>
#include <vector>

#include "acl/stream/open_captures.h"
#include "base/text.h"

namespace portacl {

using namespace captures;

namespace {

void Join(Front* front, const Front& other) {
  if (front->size() < other.size()) front->resize(other.size(), -1);
  for (size_t i = 0; i < other.size(); ++i) (*front)[i] = std::max((*front)[i], other[i]);
}

thread_local aclmdlRICaptureMode mode_of_thread = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

bool UsesMemory(const std::vector<RecordedNode>& nodes, const void* begin, size_t size) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  for (const RecordedNode& node : nodes) {
    for (const void* address : node.info.addresses) {
      if (reinterpret_cast<uintptr_t>(address) - first < size) return true;
    }
    if (node.choice == nullptr) continue;
    for (const auto& part : node.choice->parts) {
      if (UsesMemory(part->nodes, begin, size)) return true;
    }
  }
  return false;
}

// Conditions may be used before a task names them.
bool HasCondition(const Graph& graph, const void* begin, size_t size) noexcept {
  const auto first = reinterpret_cast<uintptr_t>(begin);
  for (const Condition& one : graph.conditions) {
    if (reinterpret_cast<uintptr_t>(one.variable.get()) - first < size) return true;
  }
  return false;
}

// Tells whether a refusal is reported only by the end of the capture. The submitter of work to a stream that stops
// on failure may have no way to report an error: torch_npu's thread silently drops all later work of any
// stream.
bool IsToldLater(const FoundStream& stream) noexcept {
  bool stops = false;
  stream.stream->IfStill(stream.handle, [&] { stops = stream.stream->StopsOnFailureLocked(); });
  return stops;
}

constexpr std::string_view kWaitRefused =
    "a stream that it waits for is captured, whose work is recorded and not done; end the capture first, "
    "which is "
    "invalidated now";

constexpr std::string_view kAtOnceRefused =
    "it does its work at once and would not be in the graph that is captured, which the mode of the capture "
    "forbids; "
    "accepted: mode ACL_MODEL_RI_CAPTURE_MODE_RELAXED, of the capture or of the thread "
    "(aclmdlRICaptureThreadExchangeMode). The capture is invalidated";

template <class Concerns>
aclError RefuseWait(const char* api, Concerns concerns) noexcept {
  bool refused = false;
  {
    std::list<Capture> ended;
    Locked captures;
    captures.Prune(&ended);
    for (Capture& capture : captures->all) {
      for (const Lane& lane : capture.lanes) {
        if (!concerns(lane.handle)) continue;
        refused = true;
        Invalidate(capture, api, kWaitRefused);
      }
    }
  }
  return refused ? Refuse(api, ACL_ERROR_RT_STREAM_CAPTURED, kWaitRefused) : ACL_SUCCESS;
}

}  // namespace

Destination DestinationOf(const FoundStream& stream) noexcept {
  Locked captures;
  if (captures.CaptureOf(stream.handle) != nullptr) return Destination::kGraph;
  return captures.UpdateOf(stream.handle) != nullptr ? Destination::kUpdate : Destination::kQueue;
}

aclError Record(const char* api, const FoundStream& stream, std::unique_ptr<RecordedTask> task,
                RecordedInfo info) noexcept {
  // The parameter `task` outlives this lock, so that a task that cannot be recorded is destroyed after it.
  Locked captures;
  try {
    RecordedNode node;
    if (Updating* const update = captures.UpdateOf(stream.handle)) {
      if (info.kind != RecordedKind::kOperator && info.kind != RecordedKind::kCopy &&
          info.kind != RecordedKind::kFill) {
        return Refuse(
            api, ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP,
            "the stream updates recorded tasks, which are operators, copies and fills; submit this one "
            "after aclmdlRICaptureTaskUpdateEnd");
      }
      node.info = std::move(info);
      update->nodes.reserve(update->nodes.size() + 1);
      node.task = std::move(task);
      update->nodes.push_back(std::move(node));
      return ACL_SUCCESS;
    }
    Lane* lane = nullptr;
    Capture* const capture = captures.CaptureOf(stream.handle, &lane);
    if (capture == nullptr) return FailNotCaptured(api);
    if (capture->is_invalid) return IsToldLater(stream) ? ACL_SUCCESS : FailInvalidated(api);
    if (info.per_execution && capture->outer != 0) {
      constexpr std::string_view kWhy =
          "a part of a graph that is done on a condition records no collectives, whose numbers every rank "
          "must "
          "count alike; submit it to a stream of the graph itself";
      Invalidate(*capture, api, kWhy);
      return IsToldLater(stream) ? ACL_SUCCESS : Refuse(api, ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT, kWhy);
    }
    Graph& graph = *capture->graph;
    graph.elements = std::min(kSmallGraph + 1, graph.elements + std::min(kSmallGraph + 1, info.elements));
    graph.needs_worker = graph.needs_worker || info.needs_worker;
    if (info.per_execution) node.own = graph.own_tasks;
    node.info = std::move(info);
    node.task = std::shared_ptr<RecordedTask>(std::move(task));
    const bool own = node.own >= 0;
    Append(*capture, *lane, std::move(node));
    if (own) ++graph.own_tasks;
    return ACL_SUCCESS;
  } catch (...) {
    return FailNoMemory(api, stream, captures);
  }
}

aclError Record(const char* api, const FoundStream& stream, Task* task, RecordedInfo info) noexcept {
  std::unique_ptr<RecordedTask> repeated(new (std::nothrow) RepeatedTask(task));
  if (repeated == nullptr) {
    StreamList nobody;
    task->Finish(nobody);
    Locked captures;
    return FailNoMemory(api, stream, captures);
  }
  return Record(api, stream, std::move(repeated), std::move(info));
}

aclError RefuseInCapture(const char* api, const FoundStream& stream, aclError status,
                         std::string_view why) noexcept {
  {
    Locked captures;
    Capture* const capture = captures.CaptureOf(stream.handle);
    if (capture != nullptr) {
      const bool is_told_later = IsToldLater(stream);
      if (capture->is_invalid) return is_told_later ? ACL_SUCCESS : FailInvalidated(api);
      Invalidate(*capture, api, why);
      if (is_told_later) return ACL_SUCCESS;
    }
  }
  return Refuse(api, status, why);
}

aclError RefuseWaitFor(const char* api, const FoundStream& stream) noexcept {
  if (!MayBeCaptured()) return ACL_SUCCESS;
  return RefuseWait(api, [&](aclrtStream one) { return one == stream.handle; });
}

aclError RefuseWaitForContext(const char* api, aclrtContext context) noexcept {
  if (!MayBeCaptured()) return ACL_SUCCESS;
  return RefuseWait(api, [&](aclrtStream one) {
    const Stream* const found = LiveStream(one);
    return found != nullptr && found->context() == context;
  });
}

aclError RefuseWaitForDevice(const char* api, int32_t device) noexcept {
  if (!MayBeCaptured()) return ACL_SUCCESS;
  return RefuseWait(api, [&](aclrtStream one) {
    const Stream* const found = LiveStream(one);
    return found != nullptr && found->device() == device;
  });
}

aclError RefuseAtOnce(const char* api) noexcept {
  if (!MayBeCaptured() || mode_of_thread == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) return ACL_SUCCESS;
  bool refused = false;
  {
    std::list<Capture> ended;
    Locked captures;
    captures.Prune(&ended);
    for (Capture& capture : captures->all) {
      if (capture.mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) continue;
      const bool of_others = capture.mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
                             mode_of_thread == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
      if (!of_others && capture.owner != pthread_self()) continue;
      refused = true;
      Invalidate(capture, api, kAtOnceRefused);
    }
  }
  return refused ? Refuse(api, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, kAtOnceRefused) : ACL_SUCCESS;
}

void NoteFreed(const char* api, const void* begin, size_t size) noexcept {
  if (!MayBeCaptured()) return;
  Locked captures;
  for (Capture& capture : captures->all) {
    if (!UsesMemory(capture.graph->nodes, begin, size) && !HasCondition(*capture.graph, begin, size))
      continue;
    Invalidate(capture, api, "it freed memory that recorded work uses. The capture is invalidated");
  }
  for (Updating& update : captures->updates) {
    if (!update.reason.view().empty() || !UsesMemory(update.nodes, begin, size)) continue;
    update.reason = Text(api, ": it freed memory that the tasks of the update use.");
  }
}

bool InvalidatesCapture(const FoundStream& stream, const Text& message) noexcept {
  Locked captures;
  if (Updating* const update = captures.UpdateOf(stream.handle)) {
    if (update->reason.view().empty()) update->reason = message;
    return true;
  }
  Capture* const capture = captures.CaptureOf(stream.handle);
  if (capture == nullptr) return false;
  Invalidate(*capture, message);
  return true;
}

bool IsUnderWay(const EventMark& mark) noexcept {
  if (mark.capture == 0 || !MayBeCaptured()) return false;
  Locked captures;
  return captures.Numbered(mark.capture) != nullptr;
}

aclError RecordMark(const char* api, const FoundStream& stream, const void* event, EventMark* mark) noexcept {
  Locked captures;
  Lane* lane = nullptr;
  Capture* const capture = captures.CaptureOf(stream.handle, &lane);
  if (capture == nullptr) return FailNotCaptured(api);
  if (capture->is_invalid) return IsToldLater(stream) ? ACL_SUCCESS : FailInvalidated(api);
  try {
    RecordedNode node;
    node.info = {.api = api, .kind = RecordedKind::kEventRecord, .subject = event};
    capture->marks.reserve(capture->marks.size() + 1);
    const int32_t position = Append(*capture, *lane, std::move(node));
    capture->marks.emplace_back(position, lane->front);
    *mark = {capture->number, position};
    return ACL_SUCCESS;
  } catch (...) {
    return FailNoMemory(api, stream, captures);
  }
}

aclError AwaitMark(const char* api, const FoundStream& stream, const void* event,
                   const EventMark& mark) noexcept {
  Locked captures;
  Capture* const capture = captures.Numbered(mark.capture);
  if (capture == nullptr) return ACL_SUCCESS;  // it ended meanwhile
  Lane* lane = nullptr;
  Capture* const own = captures.CaptureOf(stream.handle, &lane);
  if (own != nullptr && own != capture) {
    constexpr std::string_view kWhy =
        "the event is recorded in another capture than that of the stream, which is invalidated now";
    Invalidate(*own, api, kWhy);
    return IsToldLater(stream) ? ACL_SUCCESS : Refuse(api, ACL_ERROR_STREAM_CAPTURE_CONFLICT, kWhy);
  }
  if (capture->is_invalid) return IsToldLater(stream) ? ACL_SUCCESS : FailInvalidated(api);
  try {
    if (lane == nullptr) {
      Lane joins;
      joins.handle = stream.handle;
      capture->graph->stream_ids.reserve(capture->lanes.size() + 1);
      capture->lanes.push_back(std::move(joins));
      capture->graph->stream_ids.push_back(stream.stream->id());
      lane = &capture->lanes.back();
      captures.Count();
    }
    RecordedNode node;
    node.info = {.api = api, .kind = RecordedKind::kEventWait, .subject = event};
    node.awaits = mark.node;
    for (const auto& [position, front] : capture->marks) {
      if (position == mark.node) Join(&lane->front, front);
    }
    Append(*capture, *lane, std::move(node));
    return ACL_SUCCESS;
  } catch (...) {
    return FailNoMemory(api, stream, captures);
  }
}

aclError RefuseMarked(const char* api, const EventMark& mark) noexcept {
  constexpr std::string_view kWhy =
      "the event is recorded in a stream that is captured, and complete in executions of the graph alone; "
      "expected another "
      "event. The capture is invalidated";
  {
    Locked captures;
    if (Capture* const capture = captures.Numbered(mark.capture)) Invalidate(*capture, api, kWhy);
  }
  return Refuse(api, ACL_ERROR_RT_EVENT_CAPTURED, kWhy);
}

aclmdlRICaptureMode ExchangeCaptureMode(aclmdlRICaptureMode mode) noexcept {
  return std::exchange(mode_of_thread, mode);
}

aclError BeginCapture(const char* api, const FoundStream& stream, aclmdlRICaptureMode mode) noexcept {
  std::list<Capture> ended;  // destroyed after the lock is released
  Locked captures;
  captures.Prune(&ended);
  if (aclError status = CheckStream(api, stream, captures)) return status;
  aclmdlRI handle = nullptr;
  std::shared_ptr<Graph> graph = CreateGraph(&handle);
  if (graph == nullptr) return FailNoMemory(api);
  const aclError status = Open(api, stream, mode, std::move(graph), handle, captures);
  if (status != ACL_SUCCESS) ReleaseGraph(handle);
  return status;
}

aclError EndCapture(const char* api, const FoundStream& stream, std::shared_ptr<Graph>* graph,
                    aclmdlRI* handle) noexcept {
  std::list<Capture> ended;  // destroyed after the lock is released
  Locked captures;
  Lane* lane = nullptr;
  Capture* const capture = captures.CaptureOf(stream.handle, &lane);
  const auto fail_invalid = [&](const Text& reason) {
    return Fail(
        ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, MessageClass::kAclReason,
        Text(api, ": the capture was invalidated by a call; it is over, and there is no graph. It was ",
             reason.view()));
  };
  if (capture == nullptr) {
    Text reason;
    return captures.TakeDropped(stream.handle, &reason) ? fail_invalid(reason) : FailNotCaptured(api);
  }
  if (lane != capture->lanes.data()) {
    return Refuse(api, ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED,
                  "the stream joined the capture of another one, expected the stream on which that began");
  }
  if (capture->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && capture->owner != pthread_self()) {
    return Refuse(api, ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD,
                  "the capture was begun by another thread, expected that one, or mode "
                  "ACL_MODEL_RI_CAPTURE_MODE_RELAXED");
  }
  const auto position = std::find_if(captures->all.begin(), captures->all.end(),
                                     [&](const Capture& one) { return &one == capture; });
  if (capture->is_invalid) {
    const Text reason = capture->reason;
    captures.EndAll(position, reason, &ended);
    return fail_invalid(reason);
  }
  const auto fail = [&](aclError status, std::string_view why) {
    captures.EndAll(position, Text(api, ": ", why, "."), &ended);
    return Refuse(api, status, why);
  };
  for (size_t i = 0; i < capture->lanes.size(); ++i) {
    const Lane& one = capture->lanes[i];
    if (one.group >= 0) {
      return fail(ACL_ERROR_STREAM_TASK_GROUP_INTR,
                  "a group of tasks is open, expected aclmdlRICaptureTaskGrpEnd before; the capture is over, "
                  "and there is no graph");
    }
    if (i > 0 && (lane->front.size() <= i || lane->front[i] < one.last)) {
      return fail(
          ACL_ERROR_RT_STREAM_UNJOINED,
          "a stream that joined the capture has work that the stream of the capture has not waited for, "
          "expected an event recorded behind it and a wait for that; the capture is over, and there is no "
          "graph");
    }
  }
  for (const Capture& one : captures->all) {
    if (one.outer != capture->number) continue;
    return fail(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
                "a part of the graph is being captured, expected aclmdlRICaptureEnd on its stream before; "
                "both captures are over, and there is no graph");
  }
  if (Capture* const outer = captures.Numbered(capture->outer)) {
    outer->graph->needs_worker = outer->graph->needs_worker || capture->graph->needs_worker;
  }
  *graph = capture->graph;
  *handle = capture->handle;
  ended.splice(ended.end(), captures->all, position);
  captures.Count();
  return ACL_SUCCESS;
}

void TellCapture(const FoundStream& stream, aclmdlRICaptureStatus* status, aclmdlRI* handle) noexcept {
  *status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  *handle = nullptr;
  if (!MayBeCaptured()) return;
  Locked captures;
  const Capture* const capture = captures.CaptureOf(stream.handle);
  if (capture == nullptr) return;
  *status =
      capture->is_invalid ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
  *handle = capture->handle;
}

}  // namespace portacl
