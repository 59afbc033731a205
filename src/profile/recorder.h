// What a profile is made of: calls of public functions, tasks of streams, device memory, marks, with their times.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portacl::profile {

// Who takes profiles; each on its own, at any time.
enum class User : uint32_t {
  kFile = 1,       // PORTACL_PROFILE
  kAclprof = 2,    // aclprofStart
  kActivities = 4  // msptiActivityEnable
};

// The users who record, as a sum; 0 in nearly every process.
extern constinit std::atomic<uint32_t> users_in_force;

// Every hook asks this first, so that a program of which no profile is taken pays for one relaxed load.
inline bool IsOn() noexcept {
  return __builtin_expect(users_in_force.load(std::memory_order_relaxed) != 0, 0);
}
inline bool IsOn(User user) noexcept {
  return (users_in_force.load(std::memory_order_relaxed) & static_cast<uint32_t>(user)) != 0;
}

enum class Kind : uint8_t {
  kCall,    // of a public function, on a thread
  kTask,    // of a stream
  kMemory,  // of a device, taken (bytes > 0) or given back
  kMark,    // of the program
  kRange    // of the program, on a thread
};

struct Event {
  Kind kind = Kind::kCall;
  int32_t device = -1;
  int32_t stream = -1;
  uint32_t thread = 0;  // of a task: the one that submitted it
  uint64_t begin = 0;   // nanoseconds, see Now
  uint64_t end = 0;
  const char* name = "";                   // lives as long as the process
  const std::string* arguments = nullptr;  // members of a JSON object; nullptr: none
  uint64_t correlation = 0;                // of a task: its number, from 1 on
  uint64_t submitted = 0;                  // of a task: when the call that submitted it began
  uint64_t external = 0;                   // of a task: the program's number for the call that submitted it
  uint32_t external_kind = 0;              // 0: it has none
  int64_t bytes = 0;                       // of memory
  int64_t total = 0;                       // of memory: what this process holds of the device from then on
};

// Nanoseconds of CLOCK_MONOTONIC_RAW, in which clients of profiles measure, too.
uint64_t Now() noexcept;
// What a time of Now plus this is: nanoseconds since 1970.
int64_t SinceEpoch() noexcept;

// The calling thread's number in the system.
uint32_t ThreadNumber() noexcept;

// Begins recording for a user. False when it records already.
bool Start(User user) noexcept;
// Ends it. What was recorded stays until Release. False when it did not record.
bool Stop(User user) noexcept;
// What was recorded for the user since its Start, or its last Take, by begin; std::bad_alloc when memory is exhausted.
std::vector<Event> Take(User user);
// The user needs nothing of it any more. What nobody needs is freed at the next Start.
void Release(User user) noexcept;
// How many events had no room since nobody recorded.
uint64_t Dropped() noexcept;

// A text that lives as long as the process; nullptr when there is no memory for it.
const std::string* Interned(std::string_view text) noexcept;

// A call of a public function, from here to the end of the scope, on this thread. Tasks that are submitted meanwhile are of the
// innermost one. `api` lives as long as the process.
class Call {
 public:
  // The members are set where it is recorded alone: others pay for one store.
  explicit Call(const char* api) noexcept : begin_(0) {
    if (IsOn()) Begin(api);
  }
  ~Call() {
    if (__builtin_expect(begin_ != 0, 0)) End();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // What is said of it, and of its tasks, besides.
  void Describe(const std::string* arguments) noexcept {
    if (begin_ != 0) arguments_ = arguments;
  }
  const std::string* arguments() const noexcept { return begin_ != 0 ? arguments_ : nullptr; }

 private:
  friend void TaskQueued(const void* task, int32_t device, int32_t stream) noexcept;
  friend void Describe(const std::string* arguments) noexcept;

  void Begin(const char* api) noexcept;
  void End() noexcept;

  uint64_t begin_;  // 0: not recorded
  const char* api_;
  const std::string* arguments_;
  Call* outer_;
};

// A part of a task, as an operator of a graph is; from here to the end of the scope.
class Part {
 public:
  Part(const char* name, int32_t device, int32_t stream, const std::string* arguments) noexcept
      : begin_(IsOn() ? Now() : 0), name_(name), arguments_(arguments), device_(device), stream_(stream) {}
  ~Part() {
    if (begin_ != 0) End();
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 private:
  void End() noexcept;

  uint64_t begin_;
  const char* name_;
  const std::string* arguments_;
  int32_t device_;
  int32_t stream_;
};

// The program's numbers for what this thread calls, the last one first: pushed and popped. False when there is none of the kind; *id is
// 0 of one that lay too deep.
void PushExternal(uint32_t kind, uint64_t id) noexcept;
bool PopExternal(uint32_t kind, uint64_t* id) noexcept;

// All of these are called while IsOn alone.

// What is said of the thread's innermost call, and of its tasks, besides.
void Describe(const std::string* arguments) noexcept;

// A call that no scope encloses.
void Called(const char* api, uint64_t begin, const std::string* arguments) noexcept;

// The life of a task, which is named by its address.
void TaskQueued(const void* task, int32_t device, int32_t stream) noexcept;
void TaskBegins(const void* task) noexcept;
void TaskEnds(const void* task) noexcept;

// What is said of an executor's operands, from phase 1 to phase 2. The executor is named by its address.
void NoteOperands(const void* executor, const std::string* arguments) noexcept;
// nullptr when phase 1 was not recorded.
const std::string* OperandsOf(const void* executor) noexcept;

void Memory(int32_t device, int64_t bytes, int64_t total) noexcept;
void Mark(std::string_view text) noexcept;
void Range(std::string_view text, uint64_t begin, uint32_t thread) noexcept;

}  // namespace portacl::profile
