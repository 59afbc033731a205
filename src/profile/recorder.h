// Events of profiles with their times: calls of public functions, tasks of streams, device memory, and marks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portacl::profile {

// The users of profiles; each takes its own, at any time.
enum class User : uint32_t {
  kFile = 1,       // PORTACL_PROFILE
  kAclprof = 2,    // aclprofStart
  kActivities = 4  // msptiActivityEnable
};

// The users that are recording, as a bit set; 0 in nearly every process.
extern constinit std::atomic<uint32_t> users_in_force;

// Every hook tests this first, so that a program without a profile pays for one relaxed load.
inline bool IsOn() noexcept {
  return __builtin_expect(users_in_force.load(std::memory_order_relaxed) != 0, 0);
}
inline bool IsOn(User user) noexcept {
  return (users_in_force.load(std::memory_order_relaxed) & static_cast<uint32_t>(user)) != 0;
}

enum class Kind : uint8_t {
  kCall,    // of a public function, on a thread
  kTask,    // of a stream
  kMemory,  // of a device, allocated (bytes > 0), freed, or held at the begin of a profile (0)
  kMark,    // of the program
  kRange    // of the program, on a thread
};

struct Event {
  Kind kind = Kind::kCall;
  int32_t device = -1;
  int32_t stream = -1;
  uint32_t thread = 0;  // for a task: the one that submitted it
  uint64_t begin = 0;   // nanoseconds, see Now
  uint64_t end = 0;
  const char* name = "";                   // with static lifetime
  const std::string* arguments = nullptr;  // members of a JSON object; nullptr: none
  uint64_t correlation = 0;                // for a task: its number, from 1 on
  uint64_t submitted = 0;                  // for a task: begin of the call that submitted it
  uint64_t external = 0;                   // for a task: the program's number for the call that submitted it
  uint32_t external_kind = 0;              // 0: none
  int64_t bytes = 0;                       // for memory
  // For memory: the total that this process holds of the device from then on.
  int64_t total = 0;
};

// Returns nanoseconds of CLOCK_MONOTONIC_RAW, which clients of profiles use, too.
uint64_t Now() noexcept;
// Returns the difference between nanoseconds since 1970 and Now.
int64_t SinceEpoch() noexcept;

// Returns the system's number of the calling thread.
uint32_t ThreadNumber() noexcept;

// Begins recording for a user. Returns false if it records already.
bool Start(User user) noexcept;
// Ends recording; the events stay until Release. Returns false if it did not record.
bool Stop(User user) noexcept;
// Returns the events for the user since its Start or its last Take, ordered by begin. Throws std::bad_alloc
// if memory is exhausted.
std::vector<Event> Take(User user);
// Tells that the user needs no more events. Events that nobody needs are freed at the next Start.
void Release(User user) noexcept;
// Returns how many events were dropped for lack of room since recording began.
uint64_t Dropped() noexcept;

// Returns a text that lives as long as the process, or nullptr if there is no memory for it.
const std::string* Interned(std::string_view text) noexcept;

// A call of a public function on this thread, from here to the end of the scope. Tasks submitted meanwhile
// belong to the innermost call. `api` has static lifetime.
class Call {
 public:
  // Initialises the other members only when recording: calls that are not recorded pay for one store.
  explicit Call(const char* api) noexcept : begin_(0) {
    if (IsOn()) Begin(api);
  }
  ~Call() {
    if (__builtin_expect(begin_ != 0, 0)) End();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Adds information about the call and its tasks.
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

// A part of a task, such as an operator of a graph, from here to the end of the scope.
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

// A stack of the program's numbers for this thread's calls. PopExternal returns false if there is none of the
// kind; *id is 0 for one that was nested too deeply.
void PushExternal(uint32_t kind, uint64_t id) noexcept;
bool PopExternal(uint32_t kind, uint64_t* id) noexcept;

// Call the following functions only if IsOn().

// Adds information about the thread's innermost call and its tasks.
void Describe(const std::string* arguments) noexcept;

// Records a call that no scope encloses.
void Called(const char* api, uint64_t begin, const std::string* arguments) noexcept;

// Record the stages of a task, which is identified by its address.
void TaskQueued(const void* task, int32_t device, int32_t stream) noexcept;
void TaskBegins(const void* task) noexcept;
void TaskEnds(const void* task) noexcept;

// Keeps information about an executor's operands from phase 1 to phase 2. The executor is identified by its
// address.
void NoteOperands(const void* executor, const std::string* arguments) noexcept;
// Returns nullptr if phase 1 was not recorded.
const std::string* OperandsOf(const void* executor) noexcept;

void Memory(int32_t device, int64_t bytes, int64_t total) noexcept;
void Mark(std::string_view text) noexcept;
void Range(std::string_view text, uint64_t begin, uint32_t thread) noexcept;

}  // namespace portacl::profile
