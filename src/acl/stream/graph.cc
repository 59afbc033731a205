// Running graphs, and their handles (see graph.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/graph.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "acl/stream/value_changes.h"
#include "base/handle_table.h"
#include "base/process/fork.h"

namespace portacl {
namespace {

constexpr size_t kAlignment = 512;  // that of device memory

struct GraphSlot {
  std::mutex mutex;
  aclmdlRI handle = nullptr;  // null once it is destroyed
  std::shared_ptr<Graph> graph;
};
struct GroupSlot {
  std::mutex mutex;
  std::weak_ptr<Graph> graph;
  int32_t group = 0;
};

HandleTable<GraphSlot, 0x67> graphs;
HandleTable<GroupSlot, 0x6B> groups;
std::atomic<uint32_t> last_id{0};

// An execution that a thread is running, and the executions around it.
struct Running {
  Graph* graph;  // nullptr in a forked child
  Running* const outer;
};
thread_local Running* innermost = nullptr;

void AfterFork() {
  graphs.ForEachSlot([](GraphSlot& slot) {
    new (&slot.mutex) std::mutex;
    if (slot.graph != nullptr) slot.graph->AfterFork();
  });
  groups.ForEachSlot([](GroupSlot& slot) { new (&slot.mutex) std::mutex; });
  for (Running* one = innermost; one != nullptr; one = one->outer) one->graph = nullptr;
}

}  // namespace

Scratch::~Scratch() { std::free(memory_); }

void* Scratch::Room(size_t bytes) noexcept {
  if (bytes <= bytes_) return memory_;
  void* grown = nullptr;
  if (bytes > size_t{1} << 62 || posix_memalign(&grown, kAlignment, bytes) != 0) return nullptr;
  std::free(memory_);
  memory_ = grown;
  bytes_ = bytes;
  return memory_;
}

// Holds a graph's turn, which the calling thread has taken before.
class Graph::Turn {
 public:
  explicit Turn(Graph& graph) noexcept : running_{&graph, innermost} { innermost = &running_; }
  ~Turn() {
    innermost = running_.outer;
    Graph* const graph = running_.graph;
    if (graph == nullptr) return;
    graph->turn_.unlock();
    // Another execution may wait for it.
    if (graph->executions.load(std::memory_order_relaxed) > 1) TellOfValueChange();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Running running_;
};

bool Graph::IsRunHere() const noexcept {
  for (const Running* one = innermost; one != nullptr; one = one->outer) {
    if (one->graph == this) return true;
  }
  return false;
}

RecordedTask::Progress Graph::RunNode(size_t i, Stream& stream, Execution& execution) {
  RecordedNode& node = nodes[i];
  if (node.own >= 0) return execution.own[static_cast<size_t>(node.own)]->Run(stream, scratch_);
  if (node.group < 0) {
    return node.task == nullptr ? RecordedTask::Progress::kDone : node.task->Run(stream, scratch_);
  }
  std::shared_ptr<RecordedTask> task;  // kept until it is done, in case another task replaces it
  {
    std::lock_guard lock(mutex_);
    task = node.task;
    if (!execution.has_memory(node, &execution.gone)) {
      execution.given_up.store(true, std::memory_order_relaxed);
      return RecordedTask::Progress::kDone;
    }
  }
  return task == nullptr ? RecordedTask::Progress::kDone : task->Run(stream, scratch_);
}

void Graph::Run(Stream& stream, Execution& execution) {
  const auto stops = [&] {
    return execution.given_up.load(std::memory_order_relaxed) || IsAborted(execution);
  };
  ValueWait wait_for_turn;
  while (!turn_.try_lock()) {
    if (stops()) return;
    wait_for_turn.Sleep(stops);
  }
  const Turn turn(*this);
  size_t i = 0;
  for (; i < nodes.size(); ++i) {
    if (stops()) return;
    if (RunNode(i, stream, execution) == RecordedTask::Progress::kWaits) break;
  }
  if (i == nodes.size()) return;
  // Marks its lane as blocked, together with lanes that wait for it. The other lanes continue, since they may
  // do what it waits for.
  std::vector<bool>& done = execution.done;
  std::vector<bool>& held = execution.held;
  std::fill_n(done.begin(), i, true);
  ValueWait wait;
  for (;;) {
    const uint64_t seen = ValueChanges();
    bool all = true;
    bool any = false;
    std::fill(held.begin(), held.end(), false);
    for (i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      if (stops()) return;
      const RecordedNode& node = nodes[i];
      const bool runs = !held[node.lane] && (node.awaits < 0 || done[static_cast<size_t>(node.awaits)]) &&
                        RunNode(i, stream, execution) == RecordedTask::Progress::kDone;
      done[i] = runs;
      held[node.lane] = held[node.lane] || !runs;
      all = all && runs;
      any = any || runs;
    }
    if (all) return;
    if (!any) wait.Sleep([&] { return stops() || ValueChanges() != seen; });
  }
}

void Graph::Abort() noexcept {
  aborts_.fetch_add(1, std::memory_order_release);
  TellOfValueChange();
}

void Graph::Replace(const std::vector<int32_t>& positions, std::vector<RecordedNode>& with) noexcept {
  std::lock_guard lock(mutex_);
  for (size_t i = 0; i < positions.size(); ++i) {
    RecordedNode& node = nodes[static_cast<size_t>(positions[i])];
    std::swap(node.task, with[i].task);  // the old one is destroyed with `with`, after this lock
    std::swap(node.memory, with[i].memory);
    std::swap(node.info, with[i].info);
    node.memory_seen = 0;
    elements.store(std::max(elements.load(), node.info.elements));
  }
}

std::shared_ptr<Graph> CreateGraph(aclmdlRI* handle) noexcept {
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  GraphSlot* const slot = graphs.Acquire();
  if (slot == nullptr) return nullptr;
  try {
    auto graph = std::make_shared<Graph>(last_id.fetch_add(1, std::memory_order_relaxed));
    std::lock_guard lock(slot->mutex);
    slot->graph = graph;
    slot->handle = graphs.NextHandle(slot);
    *handle = graphs.Publish(slot);
    return graph;
  } catch (...) {
    graphs.Recycle(slot);
    return nullptr;
  }
}

std::shared_ptr<Graph> FindGraph(aclmdlRI handle) noexcept {
  GraphSlot* const slot = graphs.Find(handle);
  if (slot == nullptr) return nullptr;
  std::lock_guard lock(slot->mutex);
  return slot->handle == handle ? slot->graph : nullptr;
}

bool ReleaseGraph(aclmdlRI handle) noexcept {
  GraphSlot* const slot = graphs.Take(handle);
  if (slot == nullptr) return false;
  std::shared_ptr<Graph> last;
  {
    std::lock_guard lock(slot->mutex);
    last = std::move(slot->graph);
    slot->graph = nullptr;
    slot->handle = nullptr;
  }
  groups.ForEachLive([&](void* group, GroupSlot& one) {
    {
      std::lock_guard lock(one.mutex);
      if (one.graph.lock() != last) return;
      one.graph.reset();
    }
    if (groups.Take(group) != nullptr) groups.Recycle(&one);
  });
  graphs.Recycle(slot);
  return true;
}

aclrtTaskGrp CreateGroup(const std::shared_ptr<Graph>& graph, int32_t group) noexcept {
  GroupSlot* const slot = groups.Acquire();
  if (slot == nullptr) return nullptr;
  std::lock_guard lock(slot->mutex);
  slot->graph = graph;
  slot->group = group;
  return groups.Publish(slot);
}

std::shared_ptr<Graph> FindGroup(aclrtTaskGrp handle, int32_t* group) noexcept {
  GroupSlot* const slot = groups.Find(handle);
  if (slot == nullptr) return nullptr;
  std::lock_guard lock(slot->mutex);
  if (groups.Find(handle) != slot) return nullptr;
  *group = slot->group;
  return slot->graph.lock();
}

int LiveGraphs() noexcept {
  int count = 0;
  graphs.ForEachLive([&count](void*, GraphSlot&) { ++count; });
  return count;
}

}  // namespace portacl
