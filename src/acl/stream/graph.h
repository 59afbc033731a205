// Graphs: work that streams were given while they were captured, in the order of calls, repeated at every
// execution.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "base/sanitizer_hooks.h"

namespace portacl {

// The workspace of a graph's operators, which use it one after the other. The workspace that a program gave
// them during the capture may be anybody's by the time of an execution.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // Returns memory of `bytes` bytes, or nullptr if there is none.
  void* Room(size_t bytes) noexcept;

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

// A task that a capture recorded.
class RecordedTask {
 public:
  enum class Progress { kDone, kWaits };

  RecordedTask() = default;
  RecordedTask(const RecordedTask&) = delete;
  RecordedTask& operator=(const RecordedTask&) = delete;
  virtual ~RecordedTask() = default;

  // Does the work; no lock of a stream is held. kWaits: a condition is not met yet, and the task must be
  // called again. Throws nothing, except the exception that unwinds a thread ended by user code.
  virtual Progress Run(Stream& stream, Scratch& scratch) = 0;

  // Called under the stream's lock if the stream that executes the graph is destroyed by force or aborted:
  // makes a waiting task give up.
  virtual void Interrupt() noexcept {}

  // Makes the task that does the work of one execution instead, when that is submitted. Returns nullptr if
  // memory is exhausted.
  virtual std::unique_ptr<RecordedTask> ForOneExecution() noexcept { return nullptr; }
};

// A task that is run repeatedly, and ends its life with the graph.
class RepeatedTask final : public RecordedTask {
 public:
  explicit RepeatedTask(Task* task) noexcept : task_(task) {}
  ~RepeatedTask() override {
    StreamList nobody;
    task_->Finish(nobody);
  }
  Progress Run(Stream& stream, Scratch&) override {
    task_->Run(stream);
    return Progress::kDone;
  }

 private:
  Task* const task_;
};

enum class RecordedKind : uint8_t {
  kOperator,
  kCopy,
  kFill,
  kEventRecord,
  kEventWait,
  kEventReset,
  kValueWrite,
  kValueWait,
  kHostFunction,
  kCollective
};

// Work of fewer elements in total counts as small and runs on the thread that executes a graph.
inline constexpr int64_t kSmallGraph = 1048576;

struct RecordedInfo {
  const char* api = "";  // static: the function or operator
  RecordedKind kind = RecordedKind::kOperator;
  int64_t elements = 0;                  // that are visited, or as many as take the same time
  bool needs_worker = false;             // runs user code, or waits
  bool per_execution = false;            // ForOneExecution makes the task that runs
  const void* subject = nullptr;         // an event or an address, for readers of printed graphs
  std::vector<const void*> addresses{};  // that the work reads or writes
  std::vector<sanitizer::Access> accesses{};
};

// Memory that a recorded task uses: an entry of the registry of memory.
struct UsedMemory {
  const void* address = nullptr;  // as the task has it
  uintptr_t begin = 0;
  uint64_t serial = 0;  // of its entry
  const char* api = nullptr;
};

struct RecordedNode {
  std::shared_ptr<RecordedTask> task;  // nullptr: a mark, which only orders
  RecordedInfo info;
  uint32_t lane = 0;    // number of the captured stream
  int32_t awaits = -1;  // a node of another lane that precedes it
  int32_t group = -1;
  int32_t own = -1;                // index in an execution's own tasks
  std::vector<UsedMemory> memory;  // for a grouped task; see Graph::memory
  uint64_t memory_seen = 0;        // MemoryEnds() when all of that existed
};

class Graph {
 public:
  explicit Graph(uint32_t id) noexcept : id_(id) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  uint32_t id() const noexcept { return id_; }

  // The state of one execution.
  struct Execution {
    std::vector<std::unique_ptr<RecordedTask>> own;
    uint64_t aborts = 0;  // number of aborts when it was submitted
    std::atomic<bool> given_up{false};
    // Tells whether the memory of a grouped task still exists; otherwise *gone is the missing one. Called just
    // before the task runs, because another task may replace it until then, and while no task is being
    // replaced.
    bool (*has_memory)(RecordedNode& node, UsedMemory* gone) noexcept = nullptr;
    UsedMemory gone{};  // the reason why the execution ended
    // The nodes that are done and the lanes that are blocked, while a node waits. They have their final sizes
    // from the start.
    std::vector<bool> done;
    std::vector<bool> held;
  };

  // Runs the whole execution on the calling thread. It waits for another execution of the graph, unless it is
  // aborted.
  void Run(Stream& stream, Execution& execution);
  // Tells whether the calling thread is running an execution of this graph, and so is in a host function.
  bool IsRunHere() const noexcept;
  // Makes executions that are in progress or submitted end after the running task.
  void Abort() noexcept;
  bool IsAborted(const Execution& execution) const noexcept {
    return execution.aborts != aborts_.load(std::memory_order_acquire);
  }
  uint64_t aborts() const noexcept { return aborts_.load(std::memory_order_acquire); }

  // Replaces the tasks of a group, whose nodes are given.
  void Replace(const std::vector<int32_t>& positions, std::vector<RecordedNode>& with) noexcept;

  // Calls f() while no task is being replaced.
  template <class F>
  auto WithTasks(F f) {
    std::lock_guard lock(mutex_);
    return f();
  }

  // Resets the graph in a forked child: no execution and no change is in progress.
  void AfterFork() noexcept {
    new (&turn_) std::mutex;
    new (&mutex_) std::mutex;
    executions.store(0, std::memory_order_relaxed);
  }

  // Only the capture writes them, before anybody can execute the graph; Replace also writes tasks and memory
  // of grouped nodes.
  std::vector<RecordedNode> nodes;
  std::vector<int32_t> stream_ids;           // by lane
  std::vector<std::vector<int32_t>> groups;  // of nodes
  std::vector<UsedMemory> memory;            // of ungrouped nodes, each once
  std::atomic<int64_t> elements{0};
  bool needs_worker = false;
  int32_t own_tasks = 0;
  aclrtContext context = nullptr;
  int32_t device = 0;

  std::atomic<bool> is_captured{true};
  std::atomic<int> executions{0};        // submitted and not done
  std::atomic<uint64_t> memory_seen{0};  // MemoryEnds() when all of `memory` existed
  std::string name;                      // guarded by WithTasks
  aclrtStream own_stream = nullptr;      // of aclmdlRIExecute; guarded by WithTasks

 private:
  class Turn;

  RecordedTask::Progress RunNode(size_t i, Stream& stream, Execution& execution);

  const uint32_t id_;
  std::mutex turn_;   // of the execution that runs
  std::mutex mutex_;  // what Replace changes
  Scratch scratch_;
  std::atomic<uint64_t> aborts_{0};
};

// Creates a graph and its handle; returns nullptr if memory is exhausted.
std::shared_ptr<Graph> CreateGraph(aclmdlRI* handle) noexcept;
// Returns the graph of a handle; nullptr for any other value.
std::shared_ptr<Graph> FindGraph(aclmdlRI handle) noexcept;
// Ends the handle's life; the graph is destroyed when its executions are done. Returns false if the handle
// has ended already.
bool ReleaseGraph(aclmdlRI handle) noexcept;

// Handles of groups live as long as their graph.
aclrtTaskGrp CreateGroup(const std::shared_ptr<Graph>& graph, int32_t group) noexcept;
std::shared_ptr<Graph> FindGroup(aclrtTaskGrp handle, int32_t* group) noexcept;

// The number of live handles of graphs.
int LiveGraphs() noexcept;

}  // namespace portacl
