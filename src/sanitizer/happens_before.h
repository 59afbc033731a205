// The happens-before order of work, by streams, events and host waits, and conflicts: unordered accesses to
// the same bytes. Knows only agents and clocks, neither streams nor operators.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "base/sanitizer_hooks.h"

namespace portacl::sanitizer {

// The host, or a stream.
using Agent = uint32_t;
inline constexpr Agent kHost = 0;

// A vector clock: how much of each agent's work has been done.
class Clock {
 public:
  uint64_t At(Agent agent) const noexcept { return agent < ticks_.size() ? ticks_[agent] : 0; }
  void Tick(Agent agent);
  void Join(const Clock& other);

 private:
  std::vector<uint64_t> ticks_;
};
using ClockPointer = std::shared_ptr<const Clock>;

// The caller's information about the work, kept as long as anybody may need it.
using Origin = std::shared_ptr<const void>;

// Two unordered accesses to the same bytes, at least one of which writes.
struct Conflict {
  Access earlier;
  Origin earlier_origin;
  Agent earlier_agent;
  bool earlier_is_pending;  // it has not begun
  Access later;
  Origin later_origin;
  Agent later_agent;
};
using Conflicts = std::vector<Conflict>;

// The order of work and its accesses. All host threads are one agent, in the order of their calls: their
// synchronisation is unknown here, so that two of them are never reported as a race. A task gets its position
// in the order when it begins, because the effects of host functions and the order of notifies are unknown
// before.
//
// Calls must not be concurrent.
class HappensBefore {
 public:
  struct Task {
    Agent agent;
    ClockPointer submitted;  // the host's clock at that time
    std::vector<Access> accesses;
    Origin origin;
  };
  using Ticket = std::list<Task>::iterator;

  // Returns the block of memory that contains an address. Accesses to different blocks never overlap.
  using BlockOf = std::function<uintptr_t(uintptr_t)>;
  explicit HappensBefore(BlockOf block_of);

  // The host queues work.
  Ticket Submit(Agent agent, std::vector<Access> accesses, Origin origin);
  // Work begins, ordered after all earlier work of its agent and after everything that the agent has
  // acquired. `may_be_ordered`: whether work that was queued earlier and has not begun may still come to wait
  // for it. It cannot if agents only wait for work that was queued before.
  void Begin(Ticket ticket, bool may_be_ordered, Conflicts* conflicts);
  // Work ends without having begun.
  void Drop(Ticket ticket);

  // Returns the agent's work up to now, for others to wait for.
  ClockPointer Release(Agent agent);
  // Orders the agent's further work after that.
  void Acquire(Agent agent, const ClockPointer& clock);
  // Orders the agent's further work after everything that any agent has done.
  void AcquireAll(Agent agent);

  // The host itself accesses memory. `may_be_ordered`: whether queued work may still come to wait for the
  // host.
  void HostAccess(const Access& access, const Origin& origin, bool may_be_ordered, Conflicts* conflicts);

  // Forgets these bytes of one block, which were freed.
  void Forget(uintptr_t begin, uintptr_t end);

  // The number of accesses that are remembered.
  size_t Remembered() const noexcept;

 private:
  struct Entry {
    Access access;
    Agent agent;
    uint64_t tick;
    Origin origin;
  };

  void Check(Agent agent, const Clock& clock, const Access& access, const Origin& origin,
             Conflicts* conflicts);
  void CheckPending(std::list<Task>::const_iterator end, Agent agent, const Access& access,
                    const Origin& origin, Conflicts* conflicts) const;
  void Remember(Agent agent, const Clock& clock, const Access& access, const Origin& origin);
  // Returns the clock that precedes all work that has not begun.
  const Clock& Floor() const noexcept;
  Clock& ClockOf(Agent agent);
  std::vector<Entry>& EntriesAt(uintptr_t address);

  BlockOf block_of_;
  std::vector<Clock> clocks_;  // by agent
  ClockPointer host_now_;      // a copy of the host's clock, until that changes
  std::list<Task> pending_;    // in the order of submission
  std::map<uintptr_t, std::vector<Entry>> blocks_;
};

}  // namespace portacl::sanitizer
