// What memory allows: a loop that reads and writes the bytes of a case, in as many streams, and only adds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace portacl::bench {

// The streams of one case. `width` is the number of bytes that one element takes in a stream: 2 or 4; 0 means
// that there is no such stream. Without `out` the loop only reads.
struct Traffic {
  struct Stream {
    std::byte* data = nullptr;
    int width = 0;
  };
  Stream in[3];
  Stream out;
  size_t elements = 0;

  size_t BytesPerElement() const;
};

// Threads that wait actively while a burst lasts, so that sharing a loop costs as little as it can, and sleep
// otherwise, so that they disturb nobody.
class Team {
 public:
  explicit Team(int threads);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  void Wake();
  void Sleep();
  // Calls share(thread, threads) on every thread. Only while awake.
  void Run(const std::function<void(int, int)>& share);

 private:
  void Loop(int thread);

  int threads_;
  std::atomic<int> awake_{0};
  std::atomic<uint64_t> round_{0};
  std::atomic<int> running_{0};
  std::atomic<bool> end_{false};
  const std::function<void(int, int)>* share_ = nullptr;
  std::vector<std::thread> helpers_;
};

// Runs the loop once over its part of the traffic: the best vectors of this machine, plain or streaming stores.
void MoveBytes(const Traffic& traffic, bool streaming, int part, int parts);

// The instruction set that MoveBytes uses here.
const char* CeilingInstructionSet();

}  // namespace portacl::bench
