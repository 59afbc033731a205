// Tracks the order of work from the runtime's notifications (see order.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/order.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "sanitizer/happens_before.h"
#include "sanitizer/report.h"

namespace portacl::sanitizer {

namespace {

// The description of one side of a conflict.
struct Source {
  const char* api;
  StreamName stream;  // no slot: the host
  CallStack stack;
  uint64_t number;  // in the order of calls
};

std::atomic<uint64_t> last_number{0};

std::shared_ptr<const Source> NewSource(const char* api, const StreamName& stream) {
  return std::make_shared<const Source>(Source{api, stream, CallStackHere(), ++last_number});
}

// The longest time that a held stream waits for somebody to want its work: programs may look for its effects
// without waiting.
constexpr auto kLongestHold = std::chrono::milliseconds(10);

// A moment in a stream.
struct ClockSignal final : Signal {
  ClockPointer clock;  // null until the stream came to it
};
using ClockSignalPointer = std::shared_ptr<ClockSignal>;

ClockSignalPointer ClockOf(const SignalPointer& signal) noexcept {
  return std::static_pointer_cast<ClockSignal>(signal);
}

// A task from its submission until it is done or dropped.
struct Work {
  HappensBefore::Ticket ticket;
  const void* slot;
  Waits waits;
  bool is_pending;
};

struct StreamState {
  Agent agent = 0;
  std::vector<ClockSignalPointer> awaited;  // the signals that its next work comes after
};

struct Order {
  std::mutex mutex;
  HappensBefore order{BlockOf};
  std::unordered_map<const void*, StreamState> streams;
  std::unordered_map<const void*, Work> tasks;
  int waiting_for_host = 0;  // tasks, queued or running, that wait for anything

  std::mutex hold_mutex;
  std::condition_variable wanted;
  std::unordered_set<const void*> held;

  StreamState& Of(const void* slot) {
    const auto found = streams.try_emplace(slot).first;
    if (found->second.agent == 0) found->second.agent = static_cast<Agent>(streams.size());
    return found->second;
  }
  // Returns the stream's agent, ordered after everything that the stream has waited for.
  Agent Resolved(const void* slot) {
    StreamState& state = Of(slot);
    for (const ClockSignalPointer& one : state.awaited) order.Acquire(state.agent, one->clock);
    state.awaited.clear();
    return state.agent;
  }
};

// Replaced in a forked child, which has none of the work. Never destroyed.
Order* the_order = nullptr;

void AfterFork() { the_order = new (std::nothrow) Order; }

Order& TheOrder() {
  static const bool made = [] {
    the_order = new Order;
    return CallInForkedChild(AfterFork);
  }();
  (void)made;
  return *the_order;
}

void AddName(Text& text, const StreamName& stream) {
  if (stream.slot == nullptr) {
    text.Add("the host");
  } else if (stream.is_default) {
    text.Add("the default stream");
  } else {
    text.Add("stream ").Add(stream.id).Add(" (").Add(stream.handle).Add(')');
  }
}

void AddAddress(Text& text, uintptr_t address) { text.Add(reinterpret_cast<const void*>(address)); }

// Writes such as: aclnnAdd writes out, 64 bytes at 0x..., in stream 3 (0x...).
void AddSide(Text& text, const Source& source, const Access& access) {
  text.Add(source.api).Add(access.writes ? " writes " : " reads ");
  if (*access.role != '\0') text.Add(access.role).Add(", ");
  if (access.bytes.IsOneRun()) {
    text.Add(access.bytes.width).Add(" bytes at ");
    AddAddress(text, access.bytes.begin);
  } else {
    text.Add("rows of ").Add(access.bytes.width).Add(" bytes between ");
    AddAddress(text, access.bytes.begin);
    text.Add(" and ");
    AddAddress(text, access.bytes.End());
  }
  text.Add(source.stream.slot == nullptr ? ", on " : ", in ");
  AddName(text, source.stream);
}

bool IsWorkspace(const Access& access) { return std::strcmp(access.role, "workspace") == 0; }

RelatedLocation LocationOf(const Source& source) {
  return {Text(source.api, source.stream.slot == nullptr ? " was called" : " was queued"), &source.stack};
}

// Reports the conflict. Its sides are described in the order of calls, which may differ from the order of
// execution.
void Tell(const Conflict& found, bool is_free) {
  Conflict conflict = found;
  if (static_cast<const Source*>(found.earlier_origin.get())->number >
      static_cast<const Source*>(found.later_origin.get())->number) {
    std::swap(conflict.earlier, conflict.later);
    std::swap(conflict.earlier_origin, conflict.later_origin);
    std::swap(conflict.earlier_agent, conflict.later_agent);
  }
  const auto& earlier = *static_cast<const Source*>(conflict.earlier_origin.get());
  const auto& later = *static_cast<const Source*>(conflict.later_origin.get());
  const bool of_host = conflict.earlier_agent == kHost || conflict.later_agent == kHost;
  const bool workspaces = IsWorkspace(conflict.earlier) && IsWorkspace(conflict.later);
  const bool is_partial = conflict.earlier.is_partial || conflict.later.is_partial;
  Finding finding;
  finding.part = kSync;
  finding.function = later.api;
  finding.subject =
      reinterpret_cast<const void*>(std::max(conflict.earlier.bytes.begin, conflict.later.bytes.begin));
  if (is_free) {
    finding.kind = IsWorkspace(conflict.earlier) ? "workspace-freed-early" : "freed-while-in-use";
    finding.what.Add(later.api).Add(" frees memory that is still in use: ");
    AddSide(finding.what, earlier, conflict.earlier);
    finding.what.Add(", and nothing has waited for that");
    finding.mend.Add(
        "call aclrtSynchronizeStream, or wait for an event behind the work, before the memory is freed");
  } else if (of_host) {
    const bool reads = conflict.later_agent == kHost && !conflict.later.writes;
    finding.kind = reads ? "read-back-not-ordered" : "host-access-not-ordered";
    AddSide(finding.what, later, conflict.later);
    finding.what.Add("; ");
    AddSide(finding.what, earlier, conflict.earlier);
    finding.what.Add(conflict.later_agent == kHost ? ", and nothing has waited for that"
                                                   : ", and nothing orders the two");
    finding.mend.Add(
        "call aclrtSynchronizeStream, or wait for an event behind the work, before the host's access");
  } else {
    finding.kind = workspaces ? "workspace-shared" : "race";
    AddSide(finding.what, later, conflict.later);
    finding.what.Add("; ");
    AddSide(finding.what, earlier, conflict.earlier);
    finding.what.Add(", and nothing orders the two streams");
    if (workspaces) finding.mend.Add("give each operator a workspace of its own, or ");
    finding.mend.Add("record an event in ");
    AddName(finding.mend, earlier.stream);
    finding.mend.Add(" behind ").Add(earlier.api).Add(" (aclrtRecordEvent) and have ");
    AddName(finding.mend, later.stream);
    finding.mend.Add(" wait for it before ").Add(later.api).Add(" (aclrtStreamWaitEvent)");
  }
  if (is_partial) {
    finding.certainty = Certainty::kWarning;
    finding.what.Add(
        ". Which elements an indexing operator touches depends on its indices: they may be apart");
  }
  finding.locations[0] = LocationOf(later);
  finding.locations[1] = LocationOf(earlier);
  Report(finding);
}

void TellAll(const Conflicts& conflicts, bool is_free = false) {
  for (const Conflict& one : conflicts) Tell(one, is_free);
}

}  // namespace

void Queue(const void* task, const char* api, const StreamName& stream, std::vector<Access> accesses,
           Waits waits) noexcept {
  if (accesses.empty() && waits == Waits::kForStreams) return;
  auto source = NewSource(api, stream);
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  if (waits == Waits::kForAnything) ++all.waiting_for_host;
  const Agent agent = all.Of(stream.slot).agent;
  all.tasks.insert_or_assign(
      task, Work{all.order.Submit(agent, std::move(accesses), std::move(source)), stream.slot, waits, true});
}

void Begin(const void* task) noexcept {
  Conflicts conflicts;
  {
    Order& all = TheOrder();
    std::lock_guard lock(all.mutex);
    const auto found = all.tasks.find(task);
    if (found == all.tasks.end()) return;
    all.Resolved(found->second.slot);
    all.order.Begin(found->second.ticket, all.waiting_for_host > 0, &conflicts);
    found->second.is_pending = false;
  }
  TellAll(conflicts);
}

void End(const void* task) noexcept {
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  const auto found = all.tasks.find(task);
  if (found == all.tasks.end()) return;
  if (found->second.is_pending) all.order.Drop(found->second.ticket);
  if (found->second.waits == Waits::kForAnything) --all.waiting_for_host;
  all.tasks.erase(found);
}

SignalPointer NewSignal() noexcept { return std::make_shared<ClockSignal>(); }

void Raise(const SignalPointer& signal, const void* stream) noexcept {
  if (signal == nullptr) return;
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  ClockPointer now = all.order.Release(all.Resolved(stream));
  ClockPointer& clock = ClockOf(signal)->clock;
  if (clock == nullptr) {
    clock = std::move(now);
    return;
  }
  auto both = std::make_shared<Clock>(*clock);
  both->Join(*now);
  clock = std::move(both);
}

void StreamWaits(const void* stream, const SignalPointer& signal) noexcept {
  if (signal == nullptr) return;
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  all.Of(stream).awaited.push_back(ClockOf(signal));
}

void StreamWaitsForAll(const void* stream) noexcept {
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  all.order.AcquireAll(all.Resolved(stream));
}

void HostWaited(const void* stream) noexcept {
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  all.order.Acquire(kHost, all.order.Release(all.Resolved(stream)));
}

void HostWaited(const SignalPointer& signal) noexcept {
  if (signal == nullptr) return;
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  all.order.Acquire(kHost, ClockOf(signal)->clock);
}

void HostFunctionEnds(const void* stream) noexcept {
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  all.order.Acquire(all.Resolved(stream), all.order.Release(kHost));
}

void HostTouches(const char* api, const std::vector<Access>& accesses) noexcept {
  const auto source = NewSource(api, {});
  Conflicts conflicts;
  {
    Order& all = TheOrder();
    std::lock_guard lock(all.mutex);
    for (const Access& access : accesses) {
      all.order.HostAccess(access, source, all.waiting_for_host > 0, &conflicts);
    }
  }
  TellAll(conflicts);
}

void HostFrees(const char* api, const void* address, size_t size) noexcept {
  const Access access{.bytes = StridedBytes::Run(address, size), .writes = true};
  Conflicts conflicts;
  {
    Order& all = TheOrder();
    std::lock_guard lock(all.mutex);
    all.order.HostAccess(access, nullptr, all.waiting_for_host > 0, &conflicts);
    all.order.Forget(access.bytes.begin, access.bytes.End());
  }
  if (conflicts.empty()) return;
  // The call stack is taken only now, since nothing else needs it.
  const auto source = NewSource(api, {});
  for (Conflict& one : conflicts) one.later_origin = source;
  TellAll(conflicts, /*is_free=*/true);
}

void OwnMemoryGoes(const void* address, size_t size) noexcept {
  const StridedBytes bytes = StridedBytes::Run(address, size);
  Order& all = TheOrder();
  std::lock_guard lock(all.mutex);
  all.order.Forget(bytes.begin, bytes.End());
}

void Hold(const void* stream) noexcept {
  Order& all = TheOrder();
  std::lock_guard lock(all.hold_mutex);
  all.held.insert(stream);
}

void AwaitWanted(const void* stream) noexcept {
  Order& all = TheOrder();
  const CancellationDeferred deferred;
  std::unique_lock lock(all.hold_mutex);
  all.wanted.wait_for(lock, kLongestHold, [&] { return all.held.count(stream) == 0; });
  all.held.erase(stream);
}

void Want(const void* stream) noexcept {
  Order& all = TheOrder();
  {
    std::lock_guard lock(all.hold_mutex);
    if (all.held.erase(stream) == 0) return;
  }
  all.wanted.notify_all();
}

void WantAll() noexcept {
  Order& all = TheOrder();
  {
    std::lock_guard lock(all.hold_mutex);
    if (all.held.empty()) return;
    all.held.clear();
  }
  all.wanted.notify_all();
}

}  // namespace portacl::sanitizer
