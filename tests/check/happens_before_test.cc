// The order of work against reachability in a graph: random programs over streams, events and the host.
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/happens_before.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace portacl::sanitizer {
namespace {

constexpr uintptr_t kBlock = 64;  // bytes of a block

uintptr_t BlockOf(uintptr_t address) { return address / kBlock; }

Access At(uintptr_t begin, size_t size, bool writes) {
  return {.bytes = StridedBytes::Run(reinterpret_cast<void*>(begin), size), .writes = writes};
}

Origin Named(int node) { return std::make_shared<const int>(node); }
int NodeOf(const Origin& origin) { return *static_cast<const int*>(origin.get()); }

// What happens in a program, with an edge from each thing to those that come behind it.
class Graph {
 public:
  int Add() {
    before_.emplace_back();
    return static_cast<int>(before_.size()) - 1;
  }
  void Edge(int from, int to) {
    if (from >= 0) before_[static_cast<size_t>(to)].push_back(from);
  }
  bool Reaches(int from, int to) const {
    std::set<int> seen{to};
    std::vector<int> left{to};
    while (!left.empty()) {
      const int node = left.back();
      left.pop_back();
      if (node == from) return true;
      for (const int one : before_[static_cast<size_t>(node)]) {
        if (seen.insert(one).second) left.push_back(one);
      }
    }
    return false;
  }

 private:
  std::vector<std::vector<int>> before_;
};

struct Done {
  int node;
  Access access;
};

bool Collide(const Access& a, const Access& b) {
  return (a.writes || b.writes) && a.bytes.begin < b.bytes.End() && b.bytes.begin < a.bytes.End();
}

class RandomProgram {
 public:
  explicit RandomProgram(unsigned seed) : random_(seed), order_(BlockOf), last_(kAgents, -1) {}

  void Run(int steps, int* found) {
    for (int i = 0; i < steps; ++i) {
      const int kind = Pick(0, 99);
      const Agent stream = static_cast<Agent>(Pick(1, kAgents - 1));
      if (kind < 35) {
        Submit(stream);
      } else if (kind < 65) {
        BeginOne(stream, found);
      } else if (kind < 75) {
        events_.push_back({order_.Release(stream), Mark(stream)});
      } else if (kind < 87) {
        if (!events_.empty()) Wait(kind < 81 ? stream : kHost);
      } else if (kind < 88) {
        Wait(kHost, order_.Release(stream), last_[stream]);
      } else if (kind < 90) {
        order_.AcquireAll(stream);
        const int node = Mark(stream);
        for (const int one : last_) graph_.Edge(one, node);
      } else if (kind < 98) {
        Touch(found);
      } else {
        const uintptr_t block = static_cast<uintptr_t>(Pick(1, 3)) * kBlock;
        order_.Forget(block, block + kBlock);
        std::erase_if(done_,
                      [&](const Done& one) { return one.access.bytes.begin / kBlock == block / kBlock; });
      }
    }
  }

 private:
  static constexpr int kAgents = 5;
  struct Event {
    ClockPointer clock;
    int node;
  };
  struct Queued {
    HappensBefore::Ticket ticket;
    int submission;
    std::vector<Access> accesses;
    int node;
  };

  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  // A thing that the agent does behind all that it has done.
  int Mark(Agent agent) {
    const int node = graph_.Add();
    graph_.Edge(last_[agent], node);
    return last_[agent] = node;
  }

  Access RandomAccess() {
    const uintptr_t begin = static_cast<uintptr_t>(Pick(1, 3)) * kBlock + static_cast<uintptr_t>(Pick(0, 40));
    return At(begin, static_cast<size_t>(Pick(1, 20)), Pick(0, 1) == 1);
  }

  void Submit(Agent stream) {
    std::vector<Access> accesses;
    for (int n = Pick(1, 3); n > 0; --n) accesses.push_back(RandomAccess());
    const int node = graph_.Add();
    const int submission = Mark(kHost);
    queues_[stream].push_back({order_.Submit(stream, accesses, Named(node)), submission, accesses, node});
  }

  void BeginOne(Agent stream, int* found) {
    auto& queue = queues_[stream];
    if (queue.empty()) return;
    const Queued one = queue.front();
    queue.erase(queue.begin());
    graph_.Edge(last_[stream], one.node);
    graph_.Edge(one.submission, one.node);
    last_[stream] = one.node;
    Conflicts conflicts;
    order_.Begin(one.ticket, true, &conflicts);
    Compare(one.node, one.accesses, {}, conflicts, found);
    for (const Access& access : one.accesses) done_.push_back({one.node, access});
  }

  void Touch(int* found) {
    const Access access = RandomAccess();
    const bool may_be_ordered = Pick(0, 1) == 1;
    const int node = Mark(kHost);
    std::vector<Done> queued;
    if (!may_be_ordered) {
      for (const auto& [stream, queue] : queues_) {
        for (const Queued& one : queue) {
          for (const Access& of_task : one.accesses) queued.push_back({one.node, of_task});
        }
      }
    }
    Conflicts conflicts;
    order_.HostAccess(access, Named(node), may_be_ordered, &conflicts);
    Compare(node, {access}, queued, conflicts, found);
    done_.push_back({node, access});
  }

  void Wait(Agent agent) {
    const Event& event = events_[static_cast<size_t>(Pick(0, static_cast<int>(events_.size()) - 1))];
    Wait(agent, event.clock, event.node);
  }
  void Wait(Agent agent, const ClockPointer& clock, int node) {
    order_.Acquire(agent, clock);
    graph_.Edge(node, Mark(agent));
  }

  // Each conflict is one, and where there is one, one is found.
  void Compare(int node, const std::vector<Access>& accesses, const std::vector<Done>& queued,
               const Conflicts& conflicts, int* found) {
    std::set<int> expected;
    for (const Access& access : accesses) {
      for (const Done& one : done_) {
        if (Collide(access, one.access) && !graph_.Reaches(one.node, node)) expected.insert(one.node);
      }
      for (const Done& one : queued) {
        if (Collide(access, one.access)) expected.insert(one.node);
      }
    }
    EXPECT_EQ(conflicts.empty(), expected.empty());
    for (const Conflict& one : conflicts) {
      EXPECT_EQ(NodeOf(one.later_origin), node);
      EXPECT_EQ(expected.count(NodeOf(one.earlier_origin)), 1u);
      EXPECT_TRUE(Collide(one.earlier, one.later));
    }
    *found += expected.empty() ? 0 : 1;
  }

  std::mt19937 random_;
  HappensBefore order_;
  Graph graph_;
  std::vector<int> last_;
  std::vector<Event> events_;
  std::map<Agent, std::vector<Queued>> queues_;
  std::vector<Done> done_;
};

TEST(HappensBefore, IsReachability) {
  int found = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomProgram program(seed);
    program.Run(120, &found);
    ASSERT_FALSE(HasFailure()) << seed;
  }
  EXPECT_GT(found, 1000);
}

constexpr Agent kOne = 1;
constexpr Agent kTwo = 2;

class Order : public ::testing::Test {
 protected:
  size_t Do(Agent agent, const Access& access) {
    const auto ticket = order_.Submit(agent, {access}, Named(0));
    Conflicts conflicts;
    order_.Begin(ticket, true, &conflicts);
    return conflicts.size();
  }
  HappensBefore order_{BlockOf};
};

TEST_F(Order, OneStreamIsInOrder) {
  EXPECT_EQ(Do(kOne, At(64, 4, true)), 0u);
  EXPECT_EQ(Do(kOne, At(64, 4, true)), 0u);
}

TEST_F(Order, TwoStreamsAreNot) {
  EXPECT_EQ(Do(kOne, At(64, 4, true)), 0u);
  EXPECT_EQ(Do(kTwo, At(68, 4, true)), 0u);
  EXPECT_EQ(Do(kTwo, At(66, 4, false)), 1u);
}

TEST_F(Order, WhatTheHostHasWaitedForComesBefore) {
  Do(kOne, At(64, 4, true));
  order_.Acquire(kHost, order_.Release(kOne));
  EXPECT_EQ(Do(kTwo, At(64, 4, true)), 0u);
}

TEST_F(Order, ADroppedTaskTouchesNothing) {
  order_.Drop(order_.Submit(kOne, {At(64, 4, true)}, Named(0)));
  Conflicts conflicts;
  order_.HostAccess(At(64, 4, true), Named(1), false, &conflicts);
  EXPECT_TRUE(conflicts.empty());
}

TEST_F(Order, WhatWasQueuedBeforeAndHasNotBegunIsNotOrdered) {
  order_.Submit(kOne, {At(64, 4, true)}, Named(0));
  const auto ticket = order_.Submit(kTwo, {At(64, 4, false)}, Named(1));
  order_.Submit(kOne, {At(64, 4, true)}, Named(2));
  Conflicts conflicts;
  order_.Begin(ticket, false, &conflicts);
  ASSERT_EQ(conflicts.size(), 1u);
  EXPECT_EQ(NodeOf(conflicts[0].earlier_origin), 0);
}

TEST_F(Order, WhatIsSynchronisedIsForgotten) {
  for (uintptr_t i = 0; i < 100; ++i) {
    Do(kOne, At(64, 4, true));
    Do(kOne, At(68, 4, false));
  }
  EXPECT_EQ(order_.Remembered(), 2u);
  order_.Acquire(kHost, order_.Release(kOne));
  Conflicts conflicts;
  order_.HostAccess(At(64, 8, true), Named(1), false, &conflicts);
  EXPECT_TRUE(conflicts.empty());
  EXPECT_EQ(order_.Remembered(), 0u);
}

}  // namespace
}  // namespace portacl::sanitizer
