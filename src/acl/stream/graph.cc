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
// A group or a condition of a graph.
struct MemberSlot {
  std::mutex mutex;
  std::weak_ptr<Graph> graph;
  size_t number = 0;
};

HandleTable<GraphSlot, 0x67> graphs;
HandleTable<MemberSlot, 0x6B> groups;
HandleTable<MemberSlot, 0x6C> conditions;
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
  const auto reset = [](MemberSlot& slot) { new (&slot.mutex) std::mutex; };
  groups.ForEachSlot(reset);
  conditions.ForEachSlot(reset);
  for (Running* one = innermost; one != nullptr; one = one->outer) one->graph = nullptr;
}

template <class Table>
void* CreateMember(Table& table, const std::shared_ptr<Graph>& graph, size_t number) noexcept {
  MemberSlot* const slot = table.Acquire();
  if (slot == nullptr) return nullptr;
  std::lock_guard lock(slot->mutex);
  slot->graph = graph;
  slot->number = number;
  return table.Publish(slot);
}

template <class Table>
std::shared_ptr<Graph> FindMember(Table& table, const void* handle, size_t* number) noexcept {
  MemberSlot* const slot = table.Find(handle);
  if (slot == nullptr) return nullptr;
  std::lock_guard lock(slot->mutex);
  if (table.Find(handle) != slot) return nullptr;
  *number = slot->number;
  return slot->graph.lock();
}

template <class Table>
void ReleaseMembers(Table& table, const std::shared_ptr<Graph>& graph) noexcept {
  table.ForEachLive([&](void* handle, MemberSlot& one) {
    {
      std::lock_guard lock(one.mutex);
      if (one.graph.lock() != graph) return;
      one.graph.reset();
    }
    if (table.Take(handle) != nullptr) table.Recycle(&one);
  });
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

int64_t Choice::PartNow() const noexcept {
  const uint64_t value = __atomic_load_n(sanitizer::Working(variable.get()), __ATOMIC_ACQUIRE);
  if (type == ACL_MODEL_RI_COND_TYPE_SWITCH) return value < parts.size() ? static_cast<int64_t>(value) : -1;
  if (value != 0) return 0;
  return parts.size() == 2 ? 1 : -1;
}

Graph::Frame Graph::NewFrame() const {
  Frame frame;
  frame.done.resize(nodes.size());
  frame.held.resize(stream_ids.size());
  frame.choices.resize(static_cast<size_t>(choices));
  if (choices == 0) return frame;
  for (const RecordedNode& node : nodes) {
    if (node.choice == nullptr) continue;
    for (const auto& part : node.choice->parts) {
      frame.choices[static_cast<size_t>(node.chosen)].parts.push_back(part->NewFrame());
    }
  }
  return frame;
}

RecordedTask::Progress Graph::RunChoice(const Choice& choice, Stream& stream, Scratch& scratch,
                                        Execution& execution, Frame::AtChoice& at) {
  for (;;) {
    if (at.part < 0) at.part = choice.PartNow();
    if (at.part < 0 || execution.Ends()) return RecordedTask::Progress::kDone;
    const auto part = static_cast<size_t>(at.part);
    if (choice.parts[part]->Continue(stream, scratch, execution, at.parts[part]) ==
        RecordedTask::Progress::kWaits) {
      return RecordedTask::Progress::kWaits;
    }
    at.part = -1;
    if (choice.type != ACL_MODEL_RI_COND_TYPE_WHILE) return RecordedTask::Progress::kDone;
  }
}

RecordedTask::Progress Graph::RunNode(size_t i, Stream& stream, Scratch& scratch, Execution& execution,
                                      Frame& frame) {
  RecordedNode& node = nodes[i];
  if (node.own >= 0) return execution.own[static_cast<size_t>(node.own)]->Run(stream, scratch);
  if (node.group < 0) {
    if (node.task != nullptr) return node.task->Run(stream, scratch);
    if (node.choice == nullptr) return RecordedTask::Progress::kDone;
    return RunChoice(*node.choice, stream, scratch, execution,
                     frame.choices[static_cast<size_t>(node.chosen)]);
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
  return task == nullptr ? RecordedTask::Progress::kDone : task->Run(stream, scratch);
}

RecordedTask::Progress Graph::Continue(Stream& stream, Scratch& scratch, Execution& execution, Frame& frame) {
  using Progress = RecordedTask::Progress;
  std::vector<bool>& done = frame.done;
  std::vector<bool>& held = frame.held;
  if (!frame.is_blocked) {
    for (const Condition& one : conditions) {
      if (!one.begins_anew) continue;
      __atomic_store_n(sanitizer::Working(one.variable.get()), one.first, __ATOMIC_RELEASE);
    }
    size_t i = 0;
    for (; i < nodes.size(); ++i) {
      if (execution.Ends()) return Progress::kDone;
      if (RunNode(i, stream, scratch, execution, frame) == Progress::kWaits) break;
    }
    if (i == nodes.size()) return Progress::kDone;
    std::fill(done.begin(), done.end(), false);
    std::fill_n(done.begin(), i, true);
    frame.is_blocked = true;
  }
  // Marks the lane of a node that waits as blocked, together with lanes that wait for it. The other lanes
  // continue, since they may do what it waits for.
  for (;;) {
    bool all = true;
    bool any = false;
    std::fill(held.begin(), held.end(), false);
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (done[i]) continue;
      if (execution.Ends()) return Progress::kDone;
      const RecordedNode& node = nodes[i];
      const bool runs = !held[node.lane] && (node.awaits < 0 || done[static_cast<size_t>(node.awaits)]) &&
                        RunNode(i, stream, scratch, execution, frame) == Progress::kDone;
      done[i] = runs;
      held[node.lane] = held[node.lane] || !runs;
      all = all && runs;
      any = any || runs;
    }
    frame.is_blocked = !all;
    if (all) return Progress::kDone;
    if (!any) return Progress::kWaits;
  }
}

void Graph::Run(Stream& stream, Execution& execution) {
  const auto ends = [&] { return execution.Ends(); };
  ValueWait wait_for_turn;
  while (!turn_.try_lock()) {
    if (ends()) return;
    wait_for_turn.Sleep(ends);
  }
  const Turn turn(*this);
  ValueWait wait;
  for (;;) {
    const uint64_t seen = ValueChanges();
    if (Continue(stream, scratch_, execution, execution.frame) == RecordedTask::Progress::kDone) return;
    wait.Sleep([&] { return ends() || ValueChanges() != seen; });
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

std::shared_ptr<Graph> CreateGraph(aclmdlRI* handle, uint64_t outer_capture) noexcept {
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  GraphSlot* const slot = graphs.Acquire();
  if (slot == nullptr) return nullptr;
  try {
    auto graph = std::make_shared<Graph>(last_id.fetch_add(1, std::memory_order_relaxed), outer_capture);
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
  ReleaseMembers(groups, last);
  ReleaseMembers(conditions, last);
  graphs.Recycle(slot);
  for (const RecordedNode& node : last->nodes) {
    if (node.choice == nullptr) continue;
    for (const aclmdlRI part : node.choice->handles) ReleaseGraph(part);
  }
  return true;
}

aclrtTaskGrp CreateGroup(const std::shared_ptr<Graph>& graph, int32_t group) noexcept {
  return CreateMember(groups, graph, static_cast<size_t>(group));
}

std::shared_ptr<Graph> FindGroup(aclrtTaskGrp handle, int32_t* group) noexcept {
  size_t number = 0;
  std::shared_ptr<Graph> graph = FindMember(groups, handle, &number);
  *group = static_cast<int32_t>(number);
  return graph;
}

aclmdlRICondHandle CreateConditionHandle(const std::shared_ptr<Graph>& graph, size_t condition) noexcept {
  return CreateMember(conditions, graph, condition);
}

std::shared_ptr<Graph> FindCondition(aclmdlRICondHandle handle, size_t* condition) noexcept {
  return FindMember(conditions, handle, condition);
}

int LiveGraphs() noexcept {
  int count = 0;
  graphs.ForEachLive([&count](void*, GraphSlot&) { ++count; });
  return count;
}

}  // namespace portacl
