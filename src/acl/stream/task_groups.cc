// Groups of tasks in captures of streams, and their updates (see capture.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include "acl/stream/capture.h"
#include "acl/stream/open_captures.h"
#include "base/text.h"

namespace portacl {

using namespace captures;

aclError BeginGroup(const char* api, const FoundStream& stream) noexcept {
  Locked captures;
  Lane* lane = nullptr;
  Capture* const capture = captures.CaptureOf(stream.handle, &lane);
  if (capture == nullptr) return FailNotCaptured(api);
  if (capture->is_invalid) return FailInvalidated(api);
  if (lane->group >= 0) {
    return Refuse(api, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "a group of tasks is open on the stream, expected aclmdlRICaptureTaskGrpEnd before");
  }
  try {
    capture->graph->groups.emplace_back();
  } catch (...) {
    return FailNoMemory(api);
  }
  lane->group = static_cast<int32_t>(capture->graph->groups.size()) - 1;
  return ACL_SUCCESS;
}

aclError EndGroup(const char* api, const FoundStream& stream, aclrtTaskGrp* handle) noexcept {
  Locked captures;
  Lane* lane = nullptr;
  Capture* const capture = captures.CaptureOf(stream.handle, &lane);
  if (capture == nullptr) return FailNotCaptured(api);
  if (lane->group < 0) {
    return Refuse(api, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "no group of tasks is open on the stream, expected aclmdlRICaptureTaskGrpBegin before");
  }
  const int32_t group = std::exchange(lane->group, -1);
  if (capture->is_invalid) return FailInvalidated(api);
  const aclrtTaskGrp created = CreateGroup(capture->graph, group);
  if (created == nullptr) return FailNoMemory(api);
  *handle = created;
  return ACL_SUCCESS;
}

aclError BeginUpdate(const char* api, const FoundStream& stream, std::shared_ptr<Graph> graph,
                     int32_t group) noexcept {
  Locked captures;
  if (captures.CaptureOf(stream.handle) != nullptr) {
    return Refuse(api, ACL_ERROR_RT_STREAM_CAPTURED,
                  "the stream is being captured, expected one that is not");
  }
  if (captures.UpdateOf(stream.handle) != nullptr) {
    return Refuse(
        api, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
        "the stream updates a group of tasks already, expected aclmdlRICaptureTaskUpdateEnd before");
  }
  if (graph->is_captured) {
    return Refuse(api, ACL_ERROR_RT_MODEL_CAPTURED,
                  "the graph of the group is being captured, expected aclmdlRICaptureEnd before");
  }
  try {
    captures->updates.push_back({stream.handle, std::move(graph), group, {}, {}});
  } catch (...) {
    return FailNoMemory(api);
  }
  captures.Count();
  return ACL_SUCCESS;
}

aclError EndUpdate(const char* api, const FoundStream& stream, Update* update) noexcept {
  Locked captures;
  const auto position = std::find_if(captures->updates.begin(), captures->updates.end(),
                                     [&](const Updating& one) { return one.handle == stream.handle; });
  if (position == captures->updates.end()) {
    return Refuse(api, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "the stream updates no group of tasks, expected aclmdlRICaptureTaskUpdateBegin before");
  }
  update->graph = std::move(position->graph);
  update->nodes = std::move(position->nodes);
  const int32_t group = position->group;
  const Text reason = position->reason;
  captures->updates.erase(position);
  captures.Count();
  if (!reason.view().empty()) {
    return Fail(
        ACL_ERROR_RT_MODEL_UPDATE_FAILED, MessageClass::kAclReason,
        Text(api, ": a call made the update impossible; nothing was updated. It was ", reason.view()));
  }
  const Graph& graph = *update->graph;
  try {
    update->positions = graph.groups[static_cast<size_t>(group)];
  } catch (...) {
    return FailNoMemory(api);
  }
  if (update->positions.size() != update->nodes.size()) {
    return Fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED, MessageClass::kAclReason,
                Text(api, ": the group has ", update->positions.size(), " tasks and the stream was given ",
                     update->nodes.size(), ", expected as many; nothing was updated."));
  }
  for (size_t i = 0; i < update->positions.size(); ++i) {
    const char* const recorded = update->graph->WithTasks(
        [&] { return graph.nodes[static_cast<size_t>(update->positions[i])].info.api; });
    if (std::string_view(recorded) == update->nodes[i].info.api) continue;
    return Fail(ACL_ERROR_RT_MODEL_UPDATE_FAILED, MessageClass::kAclReason,
                Text(api, ": task ", i, " of the group is ", recorded, " and the stream was given ",
                     update->nodes[i].info.api, ", expected the same; nothing was updated."));
  }
  return ACL_SUCCESS;
}

}  // namespace portacl
