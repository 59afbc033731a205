// The rendezvous of a new communicator's ranks. Rank 0 listens at the address in the root information. Every
// rank tells it where it waits for the others; when all have come, rank 0 sends everybody these addresses.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "hccl/hccl_errors.h"
#include "hccl/hccl_settings.h"
#include "hccl/hccl_types.h"
#include "hccl/transport.h"

namespace portacl::hccl {

using Secret = std::array<unsigned char, 32>;
inline constexpr uint32_t kMostRanks = 4096;

// Creates a number that nobody can guess.
Fault NewSecret(Secret* secret) noexcept;

// Starts a thread that waits for the ranks of one communicator. *info gets its address and the secret. The
// thread ends when all have come, or some time after the first one did.
Fault OpenRendezvous(HcclRootInfo* info) noexcept;

// The connection of a rank to the rendezvous.
class Guest {
 public:
  Guest() = default;
  ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // Reads the root information and connects.
  Fault Come(const HcclRootInfo& info, Moment deadline) noexcept;
  // Returns this end's address of the connection, which the others can reach.
  const HostAddress& own() const noexcept { return own_; }
  const Secret& secret() const noexcept { return secret_; }

  // Sends the addresses at which this rank waits for the others, and receives those at which they wait for
  // it: one for each rank.
  Fault ExchangeAddresses(uint32_t ranks, uint32_t rank, std::vector<char>& addresses, Moment deadline);

 private:
  int socket_ = -1;
  HostAddress root_;
  HostAddress own_;
  Secret secret_{};
};

}  // namespace portacl::hccl
