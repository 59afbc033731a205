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
  kCollective,
  kCondition
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

class Graph;

// A number in device memory on which parts of a graph depend. It lasts as long as the graph.
struct Condition {
  std::shared_ptr<uint64_t> variable;
  uint64_t serial = 0;       // of its memory
  uint64_t first = 0;        // its value when an execution of the graph begins,
  bool begins_anew = false;  // if that is true; else it keeps its value
};

// Parts of a graph of which an execution does one, or repeats one, by the value of a condition at that moment.
struct Choice {
  aclmdlRICondTaskType type = ACL_MODEL_RI_COND_TYPE_IF;
  std::shared_ptr<uint64_t> variable;
  std::vector<std::shared_ptr<Graph>> parts;
  std::vector<aclmdlRI> handles;  // of the parts

  // Returns the number of the part that is to be done now; -1: none.
  int64_t PartNow() const noexcept;
};

struct RecordedNode {
  std::shared_ptr<RecordedTask> task;  // nullptr: a choice, or a mark, which only orders
  std::shared_ptr<const Choice> choice;
  RecordedInfo info;
  uint32_t lane = 0;    // number of the captured stream
  int32_t awaits = -1;  // a node of another lane that precedes it
  int32_t group = -1;
  int32_t own = -1;                // index in an execution's own tasks
  int32_t chosen = -1;             // number of the choice in the graph
  std::vector<UsedMemory> memory;  // for a grouped task; see Graph::memory
  uint64_t memory_seen = 0;        // MemoryEnds() when all of that existed
};

class Graph {
 public:
  Graph(uint32_t id, uint64_t outer) noexcept : outer_capture(outer), id_(id) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  uint32_t id() const noexcept { return id_; }

  // How far an execution has come in the graph, or in a part of it. All vectors have their final sizes from the
  // start.
  struct Frame {
    struct AtChoice {
      int64_t part = -1;  // that is being done; -1: none
      std::vector<Frame> parts;
    };

    bool is_blocked = false;  // a node has waited, and the next two are valid
    std::vector<bool> done;   // by node
    std::vector<bool> held;   // by lane
    std::vector<AtChoice> choices;
  };

  // The state of one execution.
  struct Execution {
    const Graph* graph = nullptr;  // that is executed, of which others are parts
    Frame frame;
    std::vector<std::unique_ptr<RecordedTask>> own;
    uint64_t aborts = 0;  // number of aborts when it was submitted
    std::atomic<bool> given_up{false};
    // Tells whether the memory of a grouped task still exists; otherwise *gone is the missing one. Called just
    // before the task runs, because another task may replace it until then, and while no task is being
    // replaced.
    bool (*has_memory)(RecordedNode& node, UsedMemory* gone) noexcept = nullptr;
    UsedMemory gone{};  // the reason why the execution ended

    // Tells whether it ends before its next task.
    bool Ends() const noexcept { return given_up.load(std::memory_order_relaxed) || graph->IsAborted(*this); }
  };

  // Throws if memory is exhausted.
  Frame NewFrame() const;

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

  // The number of the capture that records what this graph is a part of; 0: it is a graph by itself.
  const uint64_t outer_capture;
  bool is_part() const noexcept { return outer_capture != 0; }

  // Only the capture writes them, before anybody can execute the graph; Replace also writes tasks and memory
  // of grouped nodes.
  std::vector<RecordedNode> nodes;
  std::vector<Condition> conditions;
  int32_t choices = 0;
  bool is_begun = false;                     // a part, whose capture has begun or is over
  std::vector<int32_t> stream_ids;           // by lane
  std::vector<std::vector<int32_t>> groups;  // of nodes
  std::vector<UsedMemory> memory;            // of ungrouped nodes, each once
  std::atomic<int64_t> elements{0};
  bool needs_worker = false;
  int32_t own_tasks = 0;
  aclrtContext context = nullptr;
  std::atomic<int32_t> device{0};

  std::atomic<bool> is_captured{true};
  std::atomic<int> executions{0};        // submitted and not done
  std::atomic<uint64_t> memory_seen{0};  // MemoryEnds() when all of `memory` existed
  std::string name;                      // guarded by WithTasks
  aclrtStream own_stream = nullptr;      // of aclmdlRIExecute; guarded by WithTasks

 private:
  class Turn;

  // Does what can be done now. Called again after it returned kWaits, it continues from there.
  RecordedTask::Progress Continue(Stream& stream, Scratch& scratch, Execution& execution, Frame& frame);
  RecordedTask::Progress RunNode(size_t i, Stream& stream, Scratch& scratch, Execution& execution,
                                 Frame& frame);
  static RecordedTask::Progress RunChoice(const Choice& choice, Stream& stream, Scratch& scratch,
                                          Execution& execution, Frame::AtChoice& at);

  const uint32_t id_;
  std::mutex turn_;   // of the execution that runs
  std::mutex mutex_;  // what Replace changes
  Scratch scratch_;
  std::atomic<uint64_t> aborts_{0};
};

// Creates a graph and its handle; returns nullptr if memory is exhausted. A part has the number of the capture
// that it is for.
std::shared_ptr<Graph> CreateGraph(aclmdlRI* handle, uint64_t outer_capture = 0) noexcept;
// Returns the graph of a handle; nullptr for any other value.
std::shared_ptr<Graph> FindGraph(aclmdlRI handle) noexcept;
// Ends the life of the handle and of those of its parts; the graph is destroyed when its executions are done.
// Returns false if the handle has ended already.
bool ReleaseGraph(aclmdlRI handle) noexcept;

// Handles of groups and conditions live as long as their graph.
aclrtTaskGrp CreateGroup(const std::shared_ptr<Graph>& graph, int32_t group) noexcept;
std::shared_ptr<Graph> FindGroup(aclrtTaskGrp handle, int32_t* group) noexcept;
aclmdlRICondHandle CreateConditionHandle(const std::shared_ptr<Graph>& graph, size_t condition) noexcept;
std::shared_ptr<Graph> FindCondition(aclmdlRICondHandle handle, size_t* condition) noexcept;

// The number of live handles of graphs.
int LiveGraphs() noexcept;

}  // namespace portacl
