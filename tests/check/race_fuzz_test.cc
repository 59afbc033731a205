// Random programs over streams, events, notifies and copies: what a checked program is told is what a graph of its calls says.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "acl/acl.h"
#include "sanitizer/report.h"

namespace {

constexpr int kStreams = 3;
constexpr size_t kBytes = 2048;

// Calls and what comes behind what. Every node is a call that the program has made; work of a stream is the call that queued it.
class Graph {
 public:
  int Add(std::initializer_list<int> before) {
    const int node = static_cast<int>(before_.size());
    before_.emplace_back();
    for (const int one : before) {
      if (one >= 0) before_.back().push_back(one);
    }
    return node;
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

struct Touch {
  int node;
  size_t begin;
  size_t size;
  bool writes;
};

void Ok(aclError status) {
  if (status != ACL_SUCCESS) _exit(3);
}

// Makes the calls of one program and notes them.
class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    Ok(aclInit(nullptr));
    Ok(aclrtSetDevice(0));
    for (auto& stream : streams_) Ok(aclrtCreateStream(&stream));
    for (auto& event : events_) Ok(aclrtCreateEvent(&event));
    Ok(aclrtMalloc(&memory_, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    Ok(aclrtMallocHost(&pinned_, kBytes));
  }

  // Whether it races.
  bool Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const int s = Pick(0, kStreams - 1);
      const int e = Pick(0, kEvents - 1);
      const int kind = Pick(0, 99);
      if (kind < 30) {
        const size_t begin = Begin();
        const size_t size = Size();
        Ok(aclrtMemsetAsync(Device(begin), size, 1, size, streams_[s]));
        Queued(s, {{begin, size, true}});
      } else if (kind < 50) {
        const size_t from = Begin();
        const size_t size = Size();
        // What is read and written lies apart; pinned memory is another block.
        Ok(aclrtMemcpyAsync(static_cast<char*>(pinned_) + from, size, Device(from), size,
                            ACL_MEMCPY_DEVICE_TO_HOST, streams_[s]));
        Queued(s, {{from, size, false}, {kBytes + from, size, true}});
      } else if (kind < 65) {
        Ok(aclrtRecordEvent(events_[e], streams_[s]));
        recorded_[e] = last_[s] = graph_.Add({last_[s], host_});
      } else if (kind < 80) {
        Ok(aclrtStreamWaitEvent(streams_[s], events_[e]));
        last_[s] = graph_.Add({last_[s], host_, recorded_[e]});
      } else if (kind < 84) {
        Ok(aclrtSynchronizeEvent(events_[e]));
        host_ = graph_.Add({host_, recorded_[e]});
      } else if (kind < 88) {
        Ok(aclrtSynchronizeStream(streams_[s]));
        host_ = graph_.Add({host_, last_[s]});
      } else if (kind < 90) {
        Ok(aclrtSynchronizeDevice());
        host_ = graph_.Add({host_});
        for (const int one : last_) graph_.Edge(one, host_);
      } else if (kind < 94) {
        const int to = (s + 1) % kStreams;
        aclrtNotify notify = nullptr;  // a new one each time: recording one that is up has no effect
        Ok(aclrtCreateNotify(&notify, 0));
        Ok(aclrtRecordNotify(notify, streams_[s]));
        Ok(aclrtWaitAndResetNotify(notify, streams_[to], 0));
        const int record = last_[s] = graph_.Add({last_[s], host_});
        last_[to] = graph_.Add({last_[to], host_, record});
      } else {
        const size_t begin = Begin();
        const size_t size = Size();
        char host[kBytes];
        Ok(aclrtMemcpy(host, size, Device(begin), size, ACL_MEMCPY_DEVICE_TO_HOST));
        host_ = graph_.Add({host_});
        Enter({host_, begin, size, false});
      }
      if (races_) break;
    }
    Ok(aclrtSynchronizeDevice());
    return races_;
  }

 private:
  static constexpr int kEvents = 3;
  struct Range {
    size_t begin;
    size_t size;
    bool writes;
  };

  int Pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  size_t Begin() { return static_cast<size_t>(Pick(0, 100)) * 16; }
  size_t Size() { return static_cast<size_t>(Pick(1, 3)) * 16; }
  char* Device(size_t offset) const { return static_cast<char*>(memory_) + offset; }

  void Queued(int stream, std::initializer_list<Range> ranges) {
    last_[stream] = graph_.Add({last_[stream], host_});
    for (const Range& range : ranges) Enter({last_[stream], range.begin, range.size, range.writes});
  }
  void Enter(const Touch& touch) {
    for (const Touch& one : touches_) {
      if (one.node == touch.node || !(one.writes || touch.writes)) continue;
      if (one.begin >= touch.begin + touch.size || touch.begin >= one.begin + one.size) continue;
      races_ = races_ || !graph_.Reaches(one.node, touch.node);
    }
    touches_.push_back(touch);
  }

  std::mt19937 random_;
  Graph graph_;
  aclrtStream streams_[kStreams] = {};
  aclrtEvent events_[kEvents] = {};
  void* memory_ = nullptr;
  void* pinned_ = nullptr;
  int last_[kStreams] = {-1, -1, -1};
  int recorded_[kEvents] = {-1, -1, -1};
  int host_ = -1;
  bool races_ = false;
  std::vector<Touch> touches_;
};

// What became of a program: whether it races, and whether that was said.
struct Outcome {
  bool races;
  bool is_told;
};

// Each in a process of its own, since what is checked is fixed at the first call.
bool RunOne(unsigned seed, Outcome* outcome) {
  const pid_t child = fork();
  if (child == 0) {
    setenv("PORTACL_CHECK", "report,sync", 1);
    if (freopen("/dev/null", "w", stderr) == nullptr) _exit(3);
    Program program(seed);
    const bool races = program.Run(20);
    const bool is_told = portacl::sanitizer::CountOf(portacl::sanitizer::Certainty::kError) > 0;
    _exit((races ? 16 : 0) + (is_told ? 32 : 0));
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || (WEXITSTATUS(status) & 15) != 0)
    return false;
  *outcome = {(WEXITSTATUS(status) & 16) != 0, (WEXITSTATUS(status) & 32) != 0};
  return true;
}

TEST(RaceFuzz, WhatIsToldIsWhatRaces) {
  int races = 0;
  constexpr unsigned kPrograms = 300;
  for (unsigned seed = 0; seed < kPrograms; ++seed) {
    Outcome outcome{};
    ASSERT_TRUE(RunOne(seed, &outcome)) << seed;
    EXPECT_EQ(outcome.is_told, outcome.races) << seed;
    races += outcome.races ? 1 : 0;
  }
  EXPECT_GT(races, 50);
  EXPECT_LT(races, 250);
}

}  // namespace
