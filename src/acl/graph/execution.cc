// Executions of graphs (see execution.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/graph/execution.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "acl/memory/memory.h"
#include "acl/queue/workers.h"
#include "acl/settings/configuration.h"
#include "acl/stream/value_changes.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"

namespace portacl {
namespace {

void AddMemory(const RecordedInfo& info, std::vector<UsedMemory>* memory) {
  for (const void* address : info.addresses) {
    const MemoryRange range = RangeOfMemory(address);
    if (range.size > 0) memory->push_back({address, range.begin, range.serial, info.api});
  }
}

// Adds the memory of ungrouped nodes of a graph and its parts to a list, and that of the others to themselves.
void AddMemoryOf(Graph& graph, std::vector<UsedMemory>* memory) {
  for (RecordedNode& node : graph.nodes) {
    AddMemory(node.info, node.group < 0 ? memory : &node.memory);
    if (node.choice == nullptr) continue;
    for (const auto& part : node.choice->parts) AddMemoryOf(*part, memory);
  }
  // The program may have freed a condition's memory before the capture ended.
  for (const Condition& one : graph.conditions) {
    const uint64_t* const address = one.variable.get();
    memory->push_back(
        {address, reinterpret_cast<uintptr_t>(address), one.serial, "aclmdlRICondHandleCreate"});
  }
}

const UsedMemory* FirstGone(const std::vector<UsedMemory>& memory) noexcept {
  for (const UsedMemory& one : memory) {
    if (RangeOfMemory(reinterpret_cast<const void*>(one.begin)).serial != one.serial) return &one;
  }
  return nullptr;
}

// Tells whether the memory of all ungrouped tasks still exists; otherwise *gone is the missing one. Only looks if
// memory has been freed since the last time.
bool HasMemory(Graph& graph, UsedMemory* gone) noexcept {
  const uint64_t ends = MemoryEnds();
  if (graph.memory_seen.load(std::memory_order_relaxed) == ends) return true;
  return graph.WithTasks([&] {
    const UsedMemory* const first = FirstGone(graph.memory);
    if (first == nullptr) {
      graph.memory_seen.store(ends, std::memory_order_relaxed);
      return true;
    }
    *gone = *first;
    return false;
  });
}

// Does the same for a grouped task.
bool HasMemoryOf(RecordedNode& node, UsedMemory* gone) noexcept {
  const uint64_t ends = MemoryEnds();
  if (node.memory_seen == ends) return true;
  if (const UsedMemory* const first = FirstGone(node.memory)) {
    *gone = *first;
    return false;
  }
  node.memory_seen = ends;
  return true;
}

Stream::Failure Gone(Graph& graph, const UsedMemory& gone, const char* what_ran) noexcept {
  Text text("graph ", graph.id());
  graph.WithTasks([&] {
    if (!graph.name.empty()) text.Add(" (").Add(graph.name).Add(')');
  });
  return {ACL_ERROR_RT_MODEL_EXECUTE, text.Add(" was executed after the memory at ")
                                          .Add(gone.address)
                                          .Add(" had been freed, which its task ")
                                          .Add(gone.api)
                                          .Add(" uses; ")
                                          .Add(what_ran)};
}

// Lives on the heap, since it stands for many tasks.
class ExecutionTask final : public Task {
 public:
  // Takes over one workers::Reserve if the graph needs a worker.
  explicit ExecutionTask(std::shared_ptr<Graph> graph) noexcept : graph_(std::move(graph)) {
    execution_.graph = graph_.get();
    execution_.aborts = graph_->aborts();
    execution_.has_memory = HasMemoryOf;
    const bool is_alone = graph_->executions.fetch_add(1, std::memory_order_acq_rel) == 0;
    affinity = graph_->needs_worker                          ? Affinity::kReservedWorker
               : graph_->elements <= kSmallGraph && is_alone ? Affinity::kAnywhere
                                                             : Affinity::kWorker;
  }

  // Creates everything that this execution needs for itself; returns false if memory is exhausted.
  bool Prepare() noexcept {
    try {
      execution_.own.resize(static_cast<size_t>(graph_->own_tasks));
      execution_.frame = graph_->NewFrame();
    } catch (...) {
      return false;
    }
    for (const RecordedNode& node : graph_->nodes) {
      if (node.own < 0) continue;
      auto& own = execution_.own[static_cast<size_t>(node.own)];
      own = node.task->ForOneExecution();
      if (own == nullptr) return false;
    }
    return true;
  }

  Outcome Run(Stream& stream) override {
    UsedMemory gone;
    if (graph_->IsAborted(execution_)) {
      stream.NoteFailure({ACL_ERROR_RT_MODEL_ABORT_NORMAL, "a graph was aborted by aclmdlRIAbort."});
    } else if (!HasMemory(*graph_, &gone)) {
      stream.NoteFailure(Gone(*graph_, gone, "none of its tasks ran. Capture it anew."));
    } else {
      graph_->Run(stream, execution_);
      if (execution_.gone.api != nullptr) {
        stream.NoteFailure(
            Gone(*graph_, execution_.gone,
                 "it ended there, before that task of a group. Update the group, or capture it "
                 "anew."));
      } else if (graph_->IsAborted(execution_)) {
        stream.NoteFailure({ACL_ERROR_RT_MODEL_ABORT_NORMAL, "a graph was aborted by aclmdlRIAbort."});
      }
    }
    return Outcome::kDone;
  }
  bool Interrupt(Stream&) noexcept override {
    execution_.given_up.store(true);
    for (const auto& own : execution_.own) own->Interrupt();
    TellOfValueChange();
    return false;
  }
  void Finish(StreamList&) noexcept override {
    graph_->executions.fetch_sub(1, std::memory_order_acq_rel);
    if (affinity == Affinity::kReservedWorker) workers::Unreserve();
    delete this;
  }

 private:
  const std::shared_ptr<Graph> graph_;
  Graph::Execution execution_;
};

void AddAccesses(Graph& graph, std::vector<sanitizer::Access>* accesses) {
  graph.WithTasks([&] {
    for (const RecordedNode& node : graph.nodes) {
      accesses->insert(accesses->end(), node.info.accesses.begin(), node.info.accesses.end());
      if (node.choice == nullptr) continue;
      for (const auto& part : node.choice->parts) AddAccesses(*part, accesses);
    }
  });
}

std::vector<sanitizer::Access> AccessesOf(Graph& graph) {
  std::vector<sanitizer::Access> accesses;
  AddAccesses(graph, &accesses);
  return accesses;
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory to queue the work."));
}

}  // namespace

bool NoteMemory(Graph* graph) noexcept {
  try {
    std::vector<UsedMemory>& all = graph->memory;
    AddMemoryOf(*graph, &all);
    std::stable_sort(all.begin(), all.end(),
                     [](const UsedMemory& a, const UsedMemory& b) { return a.serial < b.serial; });
    all.erase(std::unique(all.begin(), all.end(),
                          [](const UsedMemory& a, const UsedMemory& b) { return a.serial == b.serial; }),
              all.end());
    return true;
  } catch (...) {
    return false;
  }
}

bool NoteMemory(RecordedNode* node) noexcept {
  try {
    AddMemory(node->info, &node->memory);
    return true;
  } catch (...) {
    return false;
  }
}

aclError SubmitExecution(const char* api, std::shared_ptr<Graph> graph, const FoundStream& stream) noexcept {
  const bool reserve = graph->needs_worker;
  if (reserve && !workers::Reserve()) return FailNoThread(api);
  Graph& of = *graph;
  auto* const task = new (std::nothrow) ExecutionTask(std::move(graph));
  if (task == nullptr) {
    if (reserve) workers::Unreserve();
    return FailNoMemory(api);
  }
  PrepareValueChanges();
  try {
    if (!task->Prepare()) throw std::bad_alloc();
    if (sanitizer::IsOn(sanitizer::kSync)) {
      sanitizer::hooks->Queue(static_cast<Task*>(task), api, NameForChecks(*stream.stream, stream.handle),
                              AccessesOf(of), sanitizer::Waits::kForAnything);
    }
  } catch (...) {
    StreamList nobody;
    task->Finish(nobody);
    return FailNoMemory(api);
  }
  return stream.SubmitFor(
      api, task, CurrentConfiguration().launch_blocking ? Stream::Wait::kLaunchBlocking : Stream::Wait::kNo);
}

}  // namespace portacl
