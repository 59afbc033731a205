// Graphs as text (see graph_text.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/graph/graph_text.h"

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace portacl {
namespace {

// The type names that tools of CANN's clients look for.
const char* TypeOf(RecordedKind kind) noexcept {
  switch (kind) {
    case RecordedKind::kOperator:
      return "KERNEL";
    case RecordedKind::kCopy:
      return "MEMCPY_ASYNC";
    case RecordedKind::kFill:
      return "MEMSET_ASYNC";
    case RecordedKind::kEventRecord:
      return "EVENT_RECORD";
    case RecordedKind::kEventWait:
      return "EVENT_WAIT";
    case RecordedKind::kEventReset:
      return "EVENT_RESET";
    case RecordedKind::kValueWrite:
      return "MEM_WRITE_VALUE";
    case RecordedKind::kValueWait:
      return "MEM_WAIT_VALUE";
    case RecordedKind::kHostFunction:
      return "HOST_FUNC";
    default:
      return "COLLECTIVE";
  }
}

// Captured records and waits of an event, which have no task, are named after the number of the recording
// node, so that a record and its waits have the same number.
Text NameOf(const RecordedNode& node, size_t position) noexcept {
  switch (node.info.kind) {
    case RecordedKind::kEventRecord:
    case RecordedKind::kEventWait:
      if (node.task == nullptr) {
        return Text(TypeOf(node.info.kind), '_',
                    node.awaits >= 0 ? static_cast<size_t>(node.awaits) : position);
      }
      [[fallthrough]];
    case RecordedKind::kEventReset:
    case RecordedKind::kValueWrite:
    case RecordedKind::kValueWait:
      return Text(TypeOf(node.info.kind), '_', node.info.subject);
    default:
      return Text(node.info.api);
  }
}

void Add(std::string* text, const Text& part) { text->append(part.view()); }

}  // namespace

std::string AsJson(Graph& graph) {
  std::string text = "[";
  graph.WithTasks([&] {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const RecordedNode& node = graph.nodes[i];
      const int32_t stream = graph.stream_ids[node.lane];
      Add(&text, Text(i == 0 ? "\n" : ",\n", R"({"name": ")", NameOf(node, i).view(),
                      R"(", "cat": "task", "ph": "X", "ts": )", i, R"(, "dur": 1, "pid": "graph )",
                      graph.id(), R"(", "tid": "stream)", stream, R"(", "args": {"Task Type": ")",
                      TypeOf(node.info.kind), R"(", "Task Id": )", i, R"(, "Stream Id": )", stream));
      if (node.group >= 0) Add(&text, Text(R"(, "Task Group": )", node.group));
      text.append(R"(, "Addresses": [)");
      for (size_t k = 0; k < node.info.addresses.size(); ++k) {
        Add(&text, Text(k == 0 ? "\"" : ", \"", node.info.addresses[k], '"'));
      }
      text.append("]}}");
    }
  });
  return text.append("\n]\n");
}

std::string AsDot(Graph& graph) {
  std::string text;
  Add(&text, Text("digraph \"graph ", graph.id(), "\" {\n"));
  graph.WithTasks([&] {
    std::vector<int64_t> last(graph.stream_ids.size(), -1);  // of each lane
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const RecordedNode& node = graph.nodes[i];
      Add(&text, Text("  n", i, " [label=\"", i, ' ', NameOf(node, i).view(), "\\nstream ",
                      graph.stream_ids[node.lane], "\"];\n"));
      if (last[node.lane] >= 0) Add(&text, Text("  n", last[node.lane], " -> n", i, ";\n"));
      if (node.awaits >= 0) Add(&text, Text("  n", node.awaits, " -> n", i, " [style=dashed];\n"));
      last[node.lane] = static_cast<int64_t>(i);
    }
  });
  return text.append("}\n");
}

}  // namespace portacl
