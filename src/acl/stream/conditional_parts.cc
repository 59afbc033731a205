// Parts of graphs that are done on conditions, in captures of streams (see capture.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <list>
#include <string_view>
#include <utility>
#include <vector>

#include "acl/stream/capture.h"
#include "acl/stream/open_captures.h"
#include "base/sanitizer_hooks.h"

namespace portacl {

using namespace captures;

namespace {

// Parts in parts: each level takes stack where a graph is walked.
constexpr int kMostPartsInParts = 64;

aclError FailNotUnderCapture(const char* api, aclmdlRI graph) noexcept {
  return FailValue(api, "modelRI", static_cast<const void*>(graph),
                   "a graph that is being captured (aclmdlRICaptureGetInfo)");
}

RecordedInfo InfoOf(const char* api, const uint64_t* variable) {
  RecordedInfo info{
      .api = api, .kind = RecordedKind::kCondition, .subject = variable, .addresses = {variable}};
  if (sanitizer::IsOn(sanitizer::kSync)) {
    info.accesses.push_back(
        {.bytes = StridedBytes::Run(variable, sizeof *variable), .role = "the condition"});
  }
  return info;
}

}  // namespace

aclError AddCondition(const char* api, aclmdlRI graph_handle, const std::shared_ptr<Graph>& graph,
                      Condition condition, aclmdlRICondHandle* handle) noexcept {
  Locked captures;
  const Capture* const capture = captures.CaptureInto(*graph);
  if (capture == nullptr) return FailNotUnderCapture(api, graph_handle);
  if (capture->is_invalid) return FailInvalidated(api);
  try {
    graph->WithTasks([&] { graph->conditions.push_back(std::move(condition)); });
  } catch (...) {
    return FailNoMemory(api);
  }
  const aclmdlRICondHandle created = CreateConditionHandle(graph, graph->conditions.size() - 1);
  if (created == nullptr) {
    graph->WithTasks([&] { graph->conditions.pop_back(); });
    return FailNoMemory(api);
  }
  *handle = created;
  return ACL_SUCCESS;
}

aclError AddChoice(const char* api, const FoundStream& stream, aclmdlRICondTaskType type,
                   aclmdlRICondHandle condition, uint32_t parts, aclmdlRI* handles) noexcept {
  Locked captures;
  Lane* lane = nullptr;
  Capture* const capture = captures.CaptureOf(stream.handle, &lane);
  if (capture == nullptr) return FailNotCaptured(api);
  if (capture->is_invalid) return FailInvalidated(api);
  if (lane->group >= 0) {
    return Refuse(api, ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                  "a group of tasks is open on the stream, whose tasks are replaced one by one; expected "
                  "aclmdlRICaptureTaskGrpEnd before");
  }
  int depth = 1;
  for (const Capture* outer = captures.Numbered(capture->outer); outer != nullptr; ++depth)
    outer = captures.Numbered(outer->outer);
  if (depth > kMostPartsInParts) {
    return Refuse(
        api, ACL_ERROR_RT_PARAM_INVALID,
        Text("the parts would be ", depth, " deep in the graph, accepted: at most ", kMostPartsInParts)
            .view());
  }
  size_t number = 0;
  Graph& graph = *capture->graph;
  if (FindCondition(condition, &number).get() != &graph) {
    return FailValue(api, "params.handle", static_cast<const void*>(condition),
                     "a condition that aclmdlRICondHandleCreate made for the graph that the stream records");
  }
  std::vector<aclmdlRI> made;
  try {
    auto choice = std::make_shared<Choice>();
    choice->type = type;
    choice->variable = graph.conditions[number].variable;
    made.reserve(parts);
    choice->parts.reserve(parts);
    for (uint32_t i = 0; i < parts; ++i) {
      aclmdlRI part = nullptr;
      choice->parts.push_back(CreateGraph(&part, capture->number));
      if (part == nullptr) throw std::bad_alloc();
      made.push_back(part);
    }
    choice->handles = made;
    RecordedNode node;
    node.info = InfoOf(api, choice->variable.get());
    node.chosen = graph.choices;
    node.choice = std::move(choice);
    Append(*capture, *lane, std::move(node));
  } catch (...) {
    for (const aclmdlRI part : made) ReleaseGraph(part);
    return FailNoMemory(api, stream, captures);
  }
  ++graph.choices;
  graph.elements = kSmallGraph + 1;  // how many a part visits, or how often, is not known
  graph.needs_worker = graph.needs_worker || type == ACL_MODEL_RI_COND_TYPE_WHILE;
  std::copy(made.begin(), made.end(), handles);
  return ACL_SUCCESS;
}

aclError BeginPart(const char* api, const FoundStream& stream, std::shared_ptr<Graph> graph, aclmdlRI handle,
                   aclmdlRICaptureMode mode) noexcept {
  std::list<Capture> ended;  // destroyed after the lock is released
  Locked captures;
  captures.Prune(&ended);
  const Capture* const outer = captures.Numbered(graph->outer_capture);
  if (outer == nullptr) {
    return FailValue(api, "modelRI", static_cast<const void*>(handle),
                     "a graph of aclmdlRIAddCondTask, until the capture ends that it is a part of");
  }
  if (captures.CaptureInto(*graph) != nullptr) {
    return Refuse(api, ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING,
                  "the graph is being captured on another stream, expected aclmdlRICaptureEnd there");
  }
  if (graph->is_begun) {
    return FailValue(api, "modelRI", static_cast<const void*>(handle),
                     "a graph of aclmdlRIAddCondTask that has not been captured before");
  }
  if (outer->is_invalid) return FailInvalidated(api);
  if (aclError status = CheckStream(api, stream, captures)) return status;
  Graph& begun = *graph;
  const aclError status = Open(api, stream, mode, std::move(graph), handle, captures);
  begun.is_begun = status == ACL_SUCCESS;
  return status;
}

}  // namespace portacl
