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
    case RecordedKind::kCondition:
      return "CONDITION";
    default:
      return "COLLECTIVE";
  }
}

const char* NameOf(aclmdlRICondTaskType type) noexcept {
  switch (type) {
    case ACL_MODEL_RI_COND_TYPE_IF:
      return "IF";
    case ACL_MODEL_RI_COND_TYPE_WHILE:
      return "WHILE";
    default:
      return "SWITCH";
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
    case RecordedKind::kCondition:
      return Text(TypeOf(node.info.kind), '_', NameOf(node.choice->type), '_', node.info.subject);
    default:
      return Text(node.info.api);
  }
}

void Add(std::string* text, const Text& part) { text->append(part.view()); }

// Adds the tasks of a graph, each followed by those of its parts. `at` is the time of the next one.
void AddJson(Graph& graph, size_t* at, std::string* text) {
  graph.WithTasks([&] {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const RecordedNode& node = graph.nodes[i];
      const int32_t stream = graph.stream_ids[node.lane];
      Add(text, Text(*at == 0 ? "\n" : ",\n", R"({"name": ")", NameOf(node, i).view(),
                     R"(", "cat": "task", "ph": "X", "ts": )", *at, R"(, "dur": 1, "pid": "graph )",
                     graph.id(), R"(", "tid": "stream)", stream, R"(", "args": {"Task Type": ")",
                     TypeOf(node.info.kind), R"(", "Task Id": )", i, R"(, "Stream Id": )", stream));
      ++*at;
      if (node.group >= 0) Add(text, Text(R"(, "Task Group": )", node.group));
      if (node.choice != nullptr) {
        text->append(R"(, "Graphs": [)");
        for (const auto& part : node.choice->parts) {
          Add(text, Text(part == node.choice->parts.front() ? "" : ", ", part->id()));
        }
        text->append("]");
      }
      text->append(R"(, "Addresses": [)");
      for (size_t k = 0; k < node.info.addresses.size(); ++k) {
        Add(text, Text(k == 0 ? "\"" : ", \"", node.info.addresses[k], '"'));
      }
      text->append("]}}");
      if (node.choice == nullptr) continue;
      for (const auto& part : node.choice->parts) AddJson(*part, at, text);
    }
  });
}

// Adds the tasks of a graph, and its parts in frames of their own. `prefix` makes the names of its tasks unique.
void AddDot(Graph& graph, std::string_view prefix, std::string* text) {
  graph.WithTasks([&] {
    std::vector<int64_t> last(graph.stream_ids.size(), -1);  // of each lane
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const RecordedNode& node = graph.nodes[i];
      const Text name("  ", prefix, i);
      Add(text, Text(name.view(), " [label=\"", i, ' ', NameOf(node, i).view(), "\\nstream ",
                     graph.stream_ids[node.lane], "\"];\n"));
      const auto arrow_from = [&](int64_t from) {
        Add(text, Text("  ", prefix, from, " ->", name.view().substr(1)));
      };
      if (last[node.lane] >= 0) {
        arrow_from(last[node.lane]);
        text->append(";\n");
      }
      if (node.awaits >= 0) {
        arrow_from(node.awaits);
        text->append(" [style=dashed];\n");
      }
      last[node.lane] = static_cast<int64_t>(i);
      if (node.choice == nullptr) continue;
      for (const auto& part : node.choice->parts) {
        const Text inner("g", part->id(), 'n');
        Add(text,
            Text("  subgraph \"cluster graph ", part->id(), "\" {\n  label=\"graph ", part->id(), "\";\n"));
        AddDot(*part, inner.view(), text);
        text->append("  }\n");
        if (!part->nodes.empty()) {
          Add(text, Text(name.view(), " -> ", inner.view(), "0 [style=dotted];\n"));
        }
      }
    }
  });
}

}  // namespace

std::string AsJson(Graph& graph) {
  std::string text = "[";
  size_t at = 0;
  AddJson(graph, &at, &text);
  return text.append("\n]\n");
}

std::string AsDot(Graph& graph) {
  std::string text;
  Add(&text, Text("digraph \"graph ", graph.id(), "\" {\n"));
  AddDot(graph, "n", &text);
  return text.append("}\n");
}

}  // namespace portacl
