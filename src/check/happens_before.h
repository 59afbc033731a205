// Which work comes before which, by streams, events and what the host waits for, and which accesses to the same bytes nothing
// orders. Knows neither streams nor operators: agents and clocks alone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "check/strided_bytes.h"

namespace portacl::sanitizer {

// The host, or a stream.
using Agent = uint32_t;
inline constexpr Agent kHost = 0;

// How much of each agent's work has been done: a vector clock.
class Clock {
 public:
  uint64_t At(Agent agent) const noexcept { return agent < ticks_.size() ? ticks_[agent] : 0; }
  void Tick(Agent agent);
  void Join(const Clock& other);

 private:
  std::vector<uint64_t> ticks_;
};
using ClockPointer = std::shared_ptr<const Clock>;

struct Access {
  StridedBytes bytes;
  bool writes = false;
  bool is_partial = false;  // the data decide which of the bytes are touched
  const char* role = "";    // what the bytes are to the work: a parameter's name; static
};

// What a caller knows about the work, kept as long as somebody may ask.
using Origin = std::shared_ptr<const void>;

// Two accesses to the same bytes, of which one writes and which nothing orders.
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

// The order of work and its accesses. All threads of the host are one agent, in the order of their calls: how they wait for
// each other is not known here, so that two of them are never said to race. A task's place in the order is fixed when it begins,
// since what a host function does meanwhile, or which notify comes first, is not known before.
//
// No function is called by two threads at once.
class HappensBefore {
 public:
  struct Task {
    Agent agent;
    ClockPointer submitted;  // what the host had waited for
    std::vector<Access> accesses;
    Origin origin;
  };
  using Ticket = std::list<Task>::iterator;

  // The block of memory in which an address lies: accesses to different ones have no byte in common.
  using BlockOf = std::function<uintptr_t(uintptr_t)>;
  explicit HappensBefore(BlockOf block_of);

  // Work is queued by the host.
  Ticket Submit(Agent agent, std::vector<Access> accesses, Origin origin);
  // It begins, behind all earlier work of its agent and what that has acquired. `may_be_ordered`: whether work that was queued
  // before it, and has not begun, may yet come to wait for it. If agents wait only for what was queued before, it cannot.
  void Begin(Ticket ticket, bool may_be_ordered, Conflicts* conflicts);
  // It ends without having begun.
  void Drop(Ticket ticket);

  // The work of an agent until now, for whoever waits for it.
  ClockPointer Release(Agent agent);
  // What the agent does from now on comes behind that.
  void Acquire(Agent agent, const ClockPointer& clock);
  // The same, behind all that every agent has done.
  void AcquireAll(Agent agent);

  // The host itself touches memory. `may_be_ordered`: whether queued work may yet come to wait for the host.
  void HostAccess(const Access& access, const Origin& origin, bool may_be_ordered, Conflicts* conflicts);

  // These bytes of one block are gone; what comes there is new.
  void Forget(uintptr_t begin, uintptr_t end);

  // Accesses that are remembered.
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
  // What everything that is still to begin comes behind.
  const Clock& Floor() const noexcept;
  Clock& ClockOf(Agent agent);
  std::vector<Entry>& EntriesAt(uintptr_t address);

  BlockOf block_of_;
  std::vector<Clock> clocks_;  // by agent
  ClockPointer host_now_;      // a copy of the host's, until that changes
  std::list<Task> pending_;    // in the order of their submission
  std::map<uintptr_t, std::vector<Entry>> blocks_;
};

}  // namespace portacl::sanitizer
