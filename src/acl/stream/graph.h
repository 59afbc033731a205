// Graphs: the work that streams were given while they were captured, in the order of the calls, done again at every
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
#include "check/happens_before.h"

namespace portacl {

// The workspace that the operators of a graph use, one after the other: what a program gave them while they were captured
// may be anybody's by the time of an execution.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  // Memory of so many bytes; nullptr when there is none.
  void* Room(size_t bytes) noexcept;

 private:
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

// One piece of recorded work.
class RecordedTask {
 public:
  enum class Progress { kDone, kWaits };

  RecordedTask() = default;
  RecordedTask(const RecordedTask&) = delete;
  RecordedTask& operator=(const RecordedTask&) = delete;
  virtual ~RecordedTask() = default;

  // Does the work; no lock of a stream is held. kWaits: what it waits for has not come; it is to be asked again. Throws
  // nothing but what unwinds a thread that user code ended.
  virtual Progress Run(Stream& stream, Scratch& scratch) = 0;

  // The stream that executes the graph is destroyed by force or aborted: what waits gives up. Called under the stream's lock.
  virtual void Interrupt() noexcept {}

  // What does the work of one execution instead, made when that is submitted; nullptr when memory is exhausted.
  virtual std::unique_ptr<RecordedTask> ForOneExecution() noexcept { return nullptr; }
};

// A task that is run again and again, and ends its life with the graph.
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

// Work that counts as small all together runs on the thread that executes a graph.
inline constexpr int64_t kSmallGraph = 1048576;

struct RecordedFacts {
  const char* api = "";  // static: the function or operator
  RecordedKind kind = RecordedKind::kOperator;
  int64_t elements = 0;                  // that are visited, or as many as take the same time
  bool needs_worker = false;             // runs user code, or waits
  bool per_execution = false;            // ForOneExecution makes what runs
  const void* subject = nullptr;         // an event or an address, for who reads what is printed
  std::vector<const void*> addresses{};  // that the work reads or writes
  std::vector<sanitizer::Access> accesses{};
};

// Memory that a recorded task uses: an entry of the registry of memory.
struct UsedMemory {
  const void* address = nullptr;  // as the task has it
  uintptr_t begin = 0;
  uint64_t serial = 0;  // of the entry that it was in
  const char* api = nullptr;
};

struct RecordedNode {
  std::shared_ptr<RecordedTask> task;  // none: a mark, which only orders
  RecordedFacts facts;
  uint32_t lane = 0;    // which of the captured streams
  int32_t awaits = -1;  // a node of another lane that is before it
  int32_t group = -1;
  int32_t own = -1;                // which of an execution's own tasks
  std::vector<UsedMemory> memory;  // of a grouped one; see Graph::memory
  uint64_t memory_seen = 0;        // how much memory had ended when all of that was there
};

class Graph {
 public:
  explicit Graph(uint32_t id) noexcept : id_(id) {}
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  uint32_t id() const noexcept { return id_; }

  // What one execution brings along.
  struct Execution {
    std::vector<std::unique_ptr<RecordedTask>> own;
    uint64_t aborts = 0;  // as many as there were when it was submitted
    std::atomic<bool> given_up{false};
    // Whether the memory of a grouped task is there; else *gone is what is not. Asked just before the task runs, since another
    // one may take its place until then. Called while no task is replaced.
    bool (*has_memory)(RecordedNode& node, UsedMemory* gone) noexcept = nullptr;
    UsedMemory gone{};  // for which the execution ended
    // While a node waits: which nodes are done, and which lanes are held up. Of their sizes from the start.
    std::vector<bool> done;
    std::vector<bool> held;
  };

  // Does all of it, on the calling thread. One execution waits for another, but not longer than it is wanted.
  void Run(Stream& stream, Execution& execution);
  // Whether the calling thread is in the middle of an execution of it: in a host function, then.
  bool IsRunHere() const noexcept;
  // Executions that are under way, or submitted, do no more than what runs.
  void Abort() noexcept;
  bool IsAborted(const Execution& execution) const noexcept {
    return execution.aborts != aborts_.load(std::memory_order_acquire);
  }
  uint64_t aborts() const noexcept { return aborts_.load(std::memory_order_acquire); }

  // Puts other tasks in the place of those of a group, whose nodes these are.
  void Replace(const std::vector<int32_t>& places, std::vector<RecordedNode>& with) noexcept;

  // Calls f() while no task is replaced.
  template <class F>
  auto WithTasks(F f) {
    std::lock_guard lock(mutex_);
    return f();
  }

  // In a forked child: nobody is in the middle of an execution, or of a change.
  void AfterFork() noexcept {
    new (&turn_) std::mutex;
    new (&mutex_) std::mutex;
    executions.store(0, std::memory_order_relaxed);
  }

  // Written by the capture alone, before anybody can execute it; tasks and memory of grouped ones also by Replace.
  std::vector<RecordedNode> nodes;
  std::vector<int32_t> stream_ids;           // by lane
  std::vector<std::vector<int32_t>> groups;  // of nodes
  std::vector<UsedMemory> memory;            // of what is in no group, each once
  std::atomic<int64_t> elements{0};
  bool needs_worker = false;
  int32_t own_tasks = 0;
  aclrtContext context = nullptr;
  int32_t device = 0;

  std::atomic<bool> is_captured{true};
  std::atomic<int> executions{0};        // submitted and not done
  std::atomic<uint64_t> memory_seen{0};  // how much memory had ended when all of `memory` was there
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

// A fresh graph and its handle; nullptr when memory is exhausted.
std::shared_ptr<Graph> CreateGraph(aclmdlRI* handle) noexcept;
// The graph of a handle; nullptr for any other value.
std::shared_ptr<Graph> FindGraph(aclmdlRI handle) noexcept;
// Ends the handle's life; the graph is gone when its executions are. False when that is over already.
bool ReleaseGraph(aclmdlRI handle) noexcept;

// Handles of groups live as long as their graph.
aclrtTaskGrp CreateGroup(const std::shared_ptr<Graph>& graph, int32_t group) noexcept;
std::shared_ptr<Graph> FindGroup(aclrtTaskGrp handle, int32_t* group) noexcept;

// How many graphs a handle finds.
int LiveGraphs() noexcept;

}  // namespace portacl
