// The messages of one operation: posted together, waited for, and withdrawn if one of them fails.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "hccl/communicator.h"
#include "hccl/function.h"

namespace portacl::hccl {

// The error that ended an operation; thrown only within Perform.
struct Failure {
  Fault fault;
};

class Round {
 public:
  Round(Communicator& communicator, const char* what);
  ~Round();
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  Communicator& communicator() noexcept { return communicator_; }
  Moment deadline() const noexcept { return deadline_; }

  // Posts a message whose transfer this object owns. `rank` is the one that an error names.
  size_t Send(int rank, uint64_t slot, const void* data, size_t bytes);
  size_t Receive(int rank, uint64_t slot, void* data, size_t bytes);
  void Wait(size_t transfer);
  void WaitForAll();

  // Handshakes: sends one with `data` behind it if that fits. This object owns the memory.
  void SendHandshake(int rank, uint64_t slot, const Handshake& handshake, const void* data, size_t bytes);
  // Receives the handshakes of all other ranks for collective `number`.
  void ReceiveHandshakes(uint64_t number);
  // Waits for the handshake of `rank`, compares it, and copies the data behind it.
  void AcceptHandshake(int rank, const Handshake& wanted, void* data, size_t bytes);

  // Returns memory for intermediate results, with the lifetime of this object.
  void* Room(size_t bytes) { return scratch_->Take(bytes); }

  [[noreturn]] void Fail(HcclResult code, const Text& text);

 private:
  struct Posted {
    Transfer* transfer;
    int rank;
  };
  size_t Keep(int rank);
  [[noreturn]] void FailLost(int rank);

  Communicator& communicator_;
  const char* const what_;
  const Moment deadline_;
  std::vector<Posted> posted_;
  std::unique_ptr<Scratch> scratch_;
  struct Expected {
    size_t transfer = 0;
    char* message = nullptr;
  };
  std::vector<Expected> expected_;  // handshakes, by rank
  bool has_handshakes_ = false;     // of Communicator::TakeHandshakes
  uint64_t number_ = 0;
};

}  // namespace portacl::hccl
