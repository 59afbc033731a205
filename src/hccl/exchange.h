// The messages of one operation: posted together, waited for, and taken back when one of them fails.
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

// Something that ended an operation; thrown inside Perform alone.
struct Failure {
  Fault fault;
};

class Exchange {
 public:
  Exchange(Communicator& communicator, const char* what);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  Communicator& communicator() noexcept { return communicator_; }
  Moment deadline() const noexcept { return deadline_; }

  // Posts; the transfer is this object's. `rank` is the one that a failure names.
  size_t Send(int rank, uint64_t slot, const void* data, size_t bytes);
  size_t Receive(int rank, uint64_t slot, void* data, size_t bytes);
  void Wait(size_t transfer);
  void WaitForAll();

  // Offers: a message that `data` follows when it fits, and one to come. Memory is the object's.
  void SendOffer(int rank, uint64_t slot, const Offer& offer, const void* data, size_t bytes);
  // From all other ranks, of collective `number`.
  void ReceiveOffers(uint64_t number);
  // Waits for the offer of `rank`, compares it, and copies what came with it.
  void MeetOffer(int rank, const Offer& wanted, void* data, size_t bytes);

  // Memory for what comes in between, for as long as the object lives.
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
  std::vector<Expected> expected_;  // offers, by rank
  bool has_offers_ = false;         // of Communicator::TakeOffers
  uint64_t number_ = 0;
};

}  // namespace portacl::hccl
