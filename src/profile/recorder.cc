// Records the events of profiles (see recorder.h).
// SPDX-License-Identifier: Apache-2.0
#include "profile/recorder.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl::profile {

constinit std::atomic<uint32_t> users_in_force{0};

namespace {

// Each thread uses one shard, so that its lock is nearly always free. The lock is the innermost: nothing else
// is locked while it is held.
constexpr size_t kShards = 64;
// The most events, of some 100 bytes each: a profile that nobody ends must not exhaust the machine's memory.
constexpr uint64_t kMostEvents = uint64_t{1} << 23;

struct TaskNote {
  Event event;
  bool has_begun = false;
};

struct alignas(64) Shard {
  std::mutex mutex;
  std::vector<Event> events;
  std::unordered_map<const void*, TaskNote> tasks;
  std::unordered_map<const void*, const std::string*> operands;
};

struct Texts {
  std::mutex mutex;
  std::unordered_set<std::string> texts;
};

struct Window {
  uint64_t begin = 0;
  uint64_t end = 0;  // of the recording; kOpen while it runs
  bool is_needed = false;
};
constexpr uint64_t kOpen = std::numeric_limits<uint64_t>::max();
constexpr size_t kUsers = 3;

struct Recorder {
  Shard shards[kShards];
  Texts texts;
  std::mutex windows_mutex;
  Window windows[kUsers];
  std::atomic<uint64_t> events{0};
  std::atomic<uint64_t> dropped{0};
  std::atomic<uint64_t> last_correlation{0};
  std::atomic<uint32_t> threads{0};
};

void AfterFork();

Recorder& TheRecorder() noexcept {
  static NoDestructor<Recorder> recorder;
  static const bool noticed = CallInForkedChild(AfterFork);
  (void)noticed;
  return *recorder;
}

// The child does not take part in the profile. Other threads may have held the locks and half changed the
// data, so that it is leaked.
void AfterFork() {
  users_in_force.store(0, std::memory_order_relaxed);
  new (&TheRecorder()) Recorder;
}

size_t IndexOf(User user) noexcept { return user == User::kFile ? 0 : user == User::kAclprof ? 1 : 2; }

thread_local Call* innermost = nullptr;

// A program's ranges nest. Deeper ones are only counted, and use the number of the last one with room. Every
// thread has this array, and some have small stacks.
struct External {
  uint32_t kind;
  uint64_t id;
};
constexpr uint32_t kMostExternal = 32;
thread_local External external[kMostExternal];
thread_local uint32_t externals = 0;

Shard& ShardOfThread() noexcept {
  thread_local const uint32_t index = TheRecorder().threads.fetch_add(1, std::memory_order_relaxed);
  return TheRecorder().shards[index % kShards];
}

Shard& ShardOf(const void* address) noexcept {
  return TheRecorder().shards[(reinterpret_cast<uintptr_t>(address) >> 6) * 0x9E3779B97F4A7C15u >> 58];
}

void Add(const Event& event) noexcept {
  Recorder& recorder = TheRecorder();
  const auto drop = [&recorder] {
    recorder.events.fetch_sub(1, std::memory_order_relaxed);
    recorder.dropped.fetch_add(1, std::memory_order_relaxed);
  };
  if (recorder.events.fetch_add(1, std::memory_order_relaxed) >= kMostEvents) {
    drop();
    return;
  }
  try {
    Shard& shard = ShardOfThread();
    std::lock_guard lock(shard.mutex);
    shard.events.push_back(event);
  } catch (...) {
    drop();
  }
}

// Frees events that ended before `oldest`: a profile that is taken in parts may have no end.
void DropBefore(Recorder& recorder, uint64_t oldest) noexcept {
  for (Shard& shard : recorder.shards) {
    std::lock_guard lock(shard.mutex);
    std::vector<Event>& events = shard.events;
    const size_t count = std::erase_if(events, [oldest](const Event& event) { return event.end < oldest; });
    recorder.events.fetch_sub(count, std::memory_order_relaxed);
    // Keeps the memory for later parts of the same size.
    if (events.empty() && count < events.capacity() / 4) std::vector<Event>().swap(events);
  }
}

uint64_t Read(clockid_t clock) noexcept {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

uint64_t Now() noexcept { return Read(CLOCK_MONOTONIC_RAW); }

int64_t SinceEpoch() noexcept {
  return static_cast<int64_t>(Read(CLOCK_REALTIME)) - static_cast<int64_t>(Now());
}

uint32_t ThreadNumber() noexcept {
  // Asks again in a forked child, whose process has another number.
  thread_local pid_t process = 0;
  thread_local uint32_t number = 0;
  const pid_t current = getpid();
  if (process != current) {
    process = current;
    number = static_cast<uint32_t>(syscall(SYS_gettid));
  }
  return number;
}

bool Start(User user) noexcept {
  Recorder& recorder = TheRecorder();
  std::lock_guard lock(recorder.windows_mutex);
  if (IsOn(user)) return false;
  recorder.windows[IndexOf(user)] = {};  // events that it did not take are no longer needed
  const auto is_needed = [](const Window& window) { return window.is_needed; };
  if (std::none_of(recorder.windows, recorder.windows + kUsers, is_needed)) {
    for (Shard& shard : recorder.shards) {
      std::lock_guard shard_lock(shard.mutex);
      std::vector<Event>().swap(shard.events);
      shard.tasks.clear();
      shard.operands.clear();
    }
    recorder.events.store(0, std::memory_order_relaxed);
    recorder.dropped.store(0, std::memory_order_relaxed);
  }
  recorder.windows[IndexOf(user)] = {Now(), kOpen, true};
  users_in_force.fetch_or(static_cast<uint32_t>(user), std::memory_order_relaxed);
  return true;
}

bool Stop(User user) noexcept {
  Recorder& recorder = TheRecorder();
  std::lock_guard lock(recorder.windows_mutex);
  if (!IsOn(user)) return false;
  users_in_force.fetch_and(~static_cast<uint32_t>(user), std::memory_order_relaxed);
  recorder.windows[IndexOf(user)].end = Now();
  return true;
}

std::vector<Event> Take(User user) {
  Recorder& recorder = TheRecorder();
  std::lock_guard lock(recorder.windows_mutex);
  Window& window = recorder.windows[IndexOf(user)];
  const uint64_t now = Now();
  std::vector<Event> taken;
  for (Shard& shard : recorder.shards) {
    std::lock_guard shard_lock(shard.mutex);
    for (const Event& event : shard.events) {
      // An event is recorded at its end.
      if (event.end >= window.begin && event.end < std::min(window.end, now)) taken.push_back(event);
    }
  }
  std::stable_sort(taken.begin(), taken.end(),
                   [](const Event& a, const Event& b) { return a.begin < b.begin; });
  window.begin = now;
  uint64_t oldest = now;
  for (const Window& other : recorder.windows) {
    if (other.is_needed) oldest = std::min(oldest, other.begin);
  }
  DropBefore(recorder, oldest);
  return taken;
}

void Release(User user) noexcept {
  Recorder& recorder = TheRecorder();
  std::lock_guard lock(recorder.windows_mutex);
  recorder.windows[IndexOf(user)] = {};
}

uint64_t Dropped() noexcept { return TheRecorder().dropped.load(std::memory_order_relaxed); }

const std::string* Interned(std::string_view text) noexcept {
  Texts& texts = TheRecorder().texts;
  try {
    std::string owned(text);
    std::lock_guard lock(texts.mutex);
    return &*texts.texts.insert(std::move(owned)).first;
  } catch (...) {
    return nullptr;
  }
}

void Call::Begin(const char* api) noexcept {
  api_ = api;
  arguments_ = nullptr;
  outer_ = innermost;
  innermost = this;
  begin_ = Now();
}

void Call::End() noexcept {
  innermost = outer_;
  if (!IsOn()) return;
  Add({.kind = Kind::kCall,
       .thread = ThreadNumber(),
       .begin = begin_,
       .end = Now(),
       .name = api_,
       .arguments = arguments_});
}

void Part::End() noexcept {
  if (!IsOn()) return;
  const uint64_t correlation = TheRecorder().last_correlation.fetch_add(1, std::memory_order_relaxed) + 1;
  Add({.kind = Kind::kTask,
       .device = device_,
       .stream = stream_,
       .thread = ThreadNumber(),
       .begin = begin_,
       .end = Now(),
       .name = name_,
       .arguments = arguments_,
       .correlation = correlation});
}

void Describe(const std::string* arguments) noexcept {
  if (innermost != nullptr) innermost->arguments_ = arguments;
}

void Called(const char* api, uint64_t begin, const std::string* arguments) noexcept {
  Add({.kind = Kind::kCall,
       .thread = ThreadNumber(),
       .begin = begin,
       .end = Now(),
       .name = api,
       .arguments = arguments});
}

void TaskQueued(const void* task, int32_t device, int32_t stream) noexcept {
  TaskNote note;
  note.event = {.kind = Kind::kTask,
                .device = device,
                .stream = stream,
                .thread = ThreadNumber(),
                .name = "task",
                .correlation = TheRecorder().last_correlation.fetch_add(1, std::memory_order_relaxed) + 1};
  if (const Call* const call = innermost) {
    note.event.name = call->api_;
    note.event.arguments = call->arguments_;
    note.event.submitted = call->begin_;
  }
  if (externals > 0) {
    const External& last = external[std::min(externals, kMostExternal) - 1];
    note.event.external = last.id;
    note.event.external_kind = last.kind;
  }
  try {
    Shard& shard = ShardOf(task);
    std::lock_guard lock(shard.mutex);
    shard.tasks[task] = note;
  } catch (...) {
    TheRecorder().dropped.fetch_add(1, std::memory_order_relaxed);
  }
}

void TaskBegins(const void* task) noexcept {
  Shard& shard = ShardOf(task);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.tasks.find(task);
  if (found == shard.tasks.end()) return;
  found->second.event.begin = Now();
  found->second.has_begun = true;
}

void TaskEnds(const void* task) noexcept {
  TaskNote note;
  {
    Shard& shard = ShardOf(task);
    std::lock_guard lock(shard.mutex);
    const auto found = shard.tasks.find(task);
    if (found == shard.tasks.end()) return;
    note = found->second;
    shard.tasks.erase(found);
  }
  if (!note.has_begun) return;  // it was dropped
  note.event.end = Now();
  Add(note.event);
}

void PushExternal(uint32_t kind, uint64_t id) noexcept {
  if (externals < kMostExternal) external[externals] = {kind, id};
  ++externals;
}

bool PopExternal(uint32_t kind, uint64_t* id) noexcept {
  if (externals > kMostExternal) {
    --externals;
    *id = 0;
    return true;
  }
  uint32_t at = externals;
  while (at > 0 && external[at - 1].kind != kind) --at;
  if (at == 0) return false;
  *id = external[at - 1].id;
  std::copy(external + at, external + externals, external + at - 1);
  --externals;
  return true;
}

void NoteOperands(const void* executor, const std::string* arguments) noexcept {
  try {
    Shard& shard = ShardOf(executor);
    std::lock_guard lock(shard.mutex);
    shard.operands[executor] = arguments;
  } catch (...) {
    // without memory nothing is recorded about them
  }
}

const std::string* OperandsOf(const void* executor) noexcept {
  Shard& shard = ShardOf(executor);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.operands.find(executor);
  return found == shard.operands.end() ? nullptr : found->second;
}

void Memory(int32_t device, int64_t bytes, int64_t total) noexcept {
  const uint64_t now = Now();
  Add({.kind = Kind::kMemory,
       .device = device,
       .thread = ThreadNumber(),
       .begin = now,
       .end = now,
       .name = bytes > 0   ? "memory taken"
               : bytes < 0 ? "memory given back"
                           : "memory held",
       .bytes = bytes,
       .total = total});
}

void Mark(std::string_view text) noexcept {
  const std::string* const name = Interned(text);
  if (name == nullptr) return;
  const uint64_t now = Now();
  Add({.kind = Kind::kMark, .thread = ThreadNumber(), .begin = now, .end = now, .name = name->c_str()});
}

void Range(std::string_view text, uint64_t begin, uint32_t thread) noexcept {
  const std::string* const name = Interned(text);
  if (name == nullptr) return;
  Add({.kind = Kind::kRange, .thread = thread, .begin = begin, .end = Now(), .name = name->c_str()});
}

}  // namespace portacl::profile
