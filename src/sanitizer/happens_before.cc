// The order of work and its accesses (see happens_before.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/happens_before.h"

#include <algorithm>
#include <utility>

namespace portacl::sanitizer {

void Clock::Tick(Agent agent) {
  if (ticks_.size() <= agent) ticks_.resize(agent + 1, 0);
  ++ticks_[agent];
}

void Clock::Join(const Clock& other) {
  if (ticks_.size() < other.ticks_.size()) ticks_.resize(other.ticks_.size(), 0);
  for (size_t i = 0; i < other.ticks_.size(); ++i) ticks_[i] = std::max(ticks_[i], other.ticks_[i]);
}

HappensBefore::HappensBefore(BlockOf block_of) : block_of_(std::move(block_of)), clocks_(1) {}

HappensBefore::Ticket HappensBefore::Submit(Agent agent, std::vector<Access> accesses, Origin origin) {
  return pending_.insert(pending_.end(), {agent, Release(kHost), std::move(accesses), std::move(origin)});
}

void HappensBefore::Begin(Ticket ticket, bool may_be_ordered, Conflicts* conflicts) {
  const Task& task = *ticket;  // pending until the end, so that possible conflicts are kept
  Clock& clock = ClockOf(task.agent);
  clock.Join(*task.submitted);
  clock.Tick(task.agent);
  for (const Access& access : task.accesses) {
    Check(task.agent, clock, access, task.origin, conflicts);
    if (!may_be_ordered) CheckPending(ticket, task.agent, access, task.origin, conflicts);
  }
  for (const Access& access : task.accesses) Remember(task.agent, clock, access, task.origin);
  pending_.erase(ticket);
}

void HappensBefore::Drop(Ticket ticket) { pending_.erase(ticket); }

ClockPointer HappensBefore::Release(Agent agent) {
  if (agent != kHost) return std::make_shared<const Clock>(ClockOf(agent));
  if (host_now_ == nullptr) host_now_ = std::make_shared<const Clock>(clocks_[kHost]);
  return host_now_;
}

void HappensBefore::Acquire(Agent agent, const ClockPointer& clock) {
  if (clock == nullptr) return;
  ClockOf(agent).Join(*clock);
  if (agent == kHost) host_now_ = nullptr;
}

void HappensBefore::AcquireAll(Agent agent) {
  Clock all;
  for (const Clock& one : clocks_) all.Join(one);
  ClockOf(agent).Join(all);
  if (agent == kHost) host_now_ = nullptr;
}

void HappensBefore::HostAccess(const Access& access, const Origin& origin, bool may_be_ordered,
                               Conflicts* conflicts) {
  if (access.bytes.IsEmpty()) return;
  Clock& clock = clocks_[kHost];
  Check(kHost, clock, access, origin, conflicts);
  if (pending_.empty()) return;
  if (!may_be_ordered) CheckPending(pending_.end(), kHost, access, origin, conflicts);
  clock.Tick(kHost);
  host_now_ = nullptr;
  Remember(kHost, clock, access, origin);
}

void HappensBefore::Forget(uintptr_t begin, uintptr_t end) {
  const auto block = blocks_.find(block_of_(begin));
  if (block == blocks_.end()) return;
  std::erase_if(block->second, [&](const Entry& one) {
    return one.access.bytes.begin < end && begin < one.access.bytes.End();
  });
  if (block->second.empty()) blocks_.erase(block);
}

size_t HappensBefore::Remembered() const noexcept {
  size_t count = 0;
  for (const auto& [block, entries] : blocks_) count += entries.size();
  return count;
}

void HappensBefore::Check(Agent agent, const Clock& clock, const Access& access, const Origin& origin,
                          Conflicts* conflicts) {
  if (access.bytes.IsEmpty()) return;
  const Clock& floor = Floor();
  std::vector<Entry>& entries = EntriesAt(access.bytes.begin);
  std::erase_if(entries, [&](const Entry& one) { return one.tick <= floor.At(one.agent); });
  for (const Entry& one : entries) {
    if (one.agent == agent || one.tick <= clock.At(one.agent)) continue;
    if (!one.access.writes && !access.writes) continue;
    if (FindOverlap(one.access.bytes, access.bytes) != Overlapping::kYes) continue;
    conflicts->push_back({one.access, one.origin, one.agent, false, access, origin, agent});
  }
}

void HappensBefore::CheckPending(std::list<Task>::const_iterator end, Agent agent, const Access& access,
                                 const Origin& origin, Conflicts* conflicts) const {
  for (auto task = pending_.begin(); task != end; ++task) {
    if (task->agent == agent) continue;
    for (const Access& queued : task->accesses) {
      if (!queued.writes && !access.writes) continue;
      if (FindOverlap(queued.bytes, access.bytes) != Overlapping::kYes) continue;
      conflicts->push_back({queued, task->origin, task->agent, true, access, origin, agent});
    }
  }
}

void HappensBefore::Remember(Agent agent, const Clock& clock, const Access& access, const Origin& origin) {
  if (access.bytes.IsEmpty()) return;
  std::vector<Entry>& entries = EntriesAt(access.bytes.begin);
  // Removes accesses that are ordered before this one and covered by it: this one conflicts with everything
  // that they would.
  std::erase_if(entries, [&](const Entry& one) {
    return (one.agent == agent || one.tick <= clock.At(one.agent)) && (access.writes || !one.access.writes) &&
           (!access.is_partial || one.access.is_partial) && Covers(access.bytes, one.access.bytes);
  });
  entries.push_back({access, agent, clock.At(agent), origin});
}

const Clock& HappensBefore::Floor() const noexcept {
  return pending_.empty() ? clocks_[kHost] : *pending_.front().submitted;
}

Clock& HappensBefore::ClockOf(Agent agent) {
  if (clocks_.size() <= agent) clocks_.resize(agent + 1);
  return clocks_[agent];
}

std::vector<HappensBefore::Entry>& HappensBefore::EntriesAt(uintptr_t address) {
  return blocks_[block_of_(address)];
}

}  // namespace portacl::sanitizer
