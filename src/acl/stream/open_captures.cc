// Captures and updates in progress (see open_captures.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/open_captures.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {

constinit std::atomic<int> captured_streams{0};

namespace captures {

Captures& TheCaptures() noexcept {
  static NoDestructor<Captures> captures;
  static const bool guarded = GuardAcrossFork(captures->mutex, ForkRank::kCaptures);
  (void)guarded;
  return *captures;
}

aclError Refuse(const char* api, aclError status, std::string_view why) noexcept {
  return Fail(status, MessageClass::kAclReason, Text(api, ": ", why, "."));
}

void Locked::End(std::list<Capture>::iterator capture, std::list<Capture>* ended) noexcept {
  const uint64_t number = capture->number;
  if (Capture* const outer = Numbered(capture->outer)) {
    Invalidate(*outer, "aclmdlRICaptureEnd", "the capture of a part of the graph ended without that part");
  }
  if (capture->outer == 0) ReleaseGraph(capture->handle);
  ended->splice(ended->end(), captures_.all, capture);
  for (auto it = captures_.all.begin(); it != captures_.all.end();) {
    if (it->outer != number) {
      ++it;
      continue;
    }
    End(it, ended);
    it = captures_.all.begin();
  }
  Count();
}

void Locked::EndAll(std::list<Capture>::iterator capture, const Text& reason,
                    std::list<Capture>* ended) noexcept {
  while (capture->outer != 0) {
    const auto outer = std::find_if(captures_.all.begin(), captures_.all.end(),
                                    [&](const Capture& one) { return one.number == capture->outer; });
    if (outer == captures_.all.end()) break;
    capture = outer;
    try {
      captures_.dropped.push_back({capture->lanes.front().handle, reason});
    } catch (...) {
      // its end then says that the stream is not captured
    }
  }
  End(capture, ended);
}

bool Locked::TakeDropped(aclrtStream handle, Text* reason) noexcept {
  for (auto it = captures_.dropped.begin(); it != captures_.dropped.end(); ++it) {
    if (it->handle != handle) continue;
    *reason = it->reason;
    captures_.dropped.erase(it);
    return true;
  }
  return false;
}

void Invalidate(Capture& capture, const Text& reason) noexcept {
  if (!capture.is_invalid) capture.reason = reason;
  capture.is_invalid = true;
  if (capture.outer == 0) return;
  for (Capture& one : TheCaptures().all) {
    if (one.number == capture.outer) Invalidate(one, reason);
  }
}

void Invalidate(Capture& capture, const char* api, std::string_view why) noexcept {
  Invalidate(capture, Text(api, ": ", why, "."));
}

int32_t Append(Capture& capture, Lane& lane, RecordedNode node) {
  const auto index = static_cast<size_t>(&lane - capture.lanes.data());
  Graph& graph = *capture.graph;
  const auto position = static_cast<int32_t>(graph.nodes.size());
  node.lane = static_cast<uint32_t>(index);
  node.group = lane.group;
  if (lane.front.size() <= index) lane.front.resize(index + 1, -1);
  graph.nodes.reserve(graph.nodes.size() == graph.nodes.capacity() ? 2 * graph.nodes.size() + 8 : 0);
  if (lane.group >= 0 && node.task != nullptr) {
    graph.groups[static_cast<size_t>(lane.group)].push_back(position);
  }
  const bool is_work = node.task != nullptr || node.info.kind != RecordedKind::kEventRecord;
  graph.nodes.push_back(std::move(node));
  lane.front[index] = position;
  if (is_work) lane.last = position;
  return position;
}

aclError CheckStream(const char* api, const FoundStream& stream, Locked& captures) noexcept {
  if (stream.stream->is_default()) {
    return Refuse(api, ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                  "the default stream cannot be captured, expected one of aclrtCreateStream");
  }
  if (Capture* const before = captures.CaptureOf(stream.handle)) {
    constexpr std::string_view kWhy =
        "the stream is being captured, expected one that is not; the capture is invalidated";
    Invalidate(*before, api, kWhy);
    return Refuse(api, ACL_ERROR_RT_STREAM_CAPTURED, kWhy);
  }
  if (captures.UpdateOf(stream.handle) != nullptr) {
    return Refuse(api, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "the stream updates recorded tasks, expected aclmdlRICaptureTaskUpdateEnd before");
  }
  Text reason;
  captures.TakeDropped(stream.handle, &reason);
  return ACL_SUCCESS;
}

aclError Open(const char* api, const FoundStream& stream, aclmdlRICaptureMode mode,
              std::shared_ptr<Graph> graph, aclmdlRI handle, Locked& captures) noexcept {
  try {
    std::list<Capture> one(1);
    Capture& capture = one.front();
    capture.graph = std::move(graph);
    capture.handle = handle;
    capture.outer = capture.graph->outer_capture;
    capture.number = captures->last_number + 1;
    capture.mode = mode;
    capture.owner = pthread_self();
    Lane lane;
    lane.handle = stream.handle;
    capture.lanes.push_back(std::move(lane));
    capture.graph->stream_ids.push_back(stream.stream->id());
    capture.graph->context = stream.stream->context();
    capture.graph->device = stream.stream->device();
    ++captures->last_number;
    captures->all.splice(captures->all.end(), one);
    captures.Count();
    return ACL_SUCCESS;
  } catch (...) {
    return FailNoMemory(api);
  }
}

aclError FailInvalidated(const char* api) noexcept {
  return Refuse(api, ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                "the capture was invalidated by an earlier call that it does not allow; end it with "
                "aclmdlRICaptureEnd and begin anew");
}

aclError FailNotCaptured(const char* api) noexcept {
  return Refuse(
      api, ACL_ERROR_RT_STREAM_NOT_CAPTURED,
      "the stream is not captured, expected one between aclmdlRICaptureBegin and aclmdlRICaptureEnd");
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory to record the work."));
}

aclError FailNoMemory(const char* api, const FoundStream& stream, Locked& captures) noexcept {
  if (Capture* const capture = captures.CaptureOf(stream.handle)) {
    Invalidate(*capture, api, "not enough memory to record the work");
  }
  return FailNoMemory(api);
}

}  // namespace captures
}  // namespace portacl
