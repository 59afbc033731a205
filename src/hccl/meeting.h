// How the ranks of a new communicator find each other: rank 0 waits at an address that root information names, takes from every
// rank where it waits for each other one, and tells all when all have come.
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

// A number that nobody can guess.
Fault NewSecret(Secret* secret) noexcept;

// Starts to wait, on a thread of its own, for the ranks of one communicator; *info says where, and holds the secret. The thread ends
// when all have come, or some time after the first one did.
Fault OpenMeeting(HcclRootInfo* info) noexcept;

// One rank's way to a meeting.
class Guest {
 public:
  Guest() = default;
  ~Guest();
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  // Reads the root information and connects to who waits there.
  Fault Come(const HcclRootInfo& info, Moment deadline) noexcept;
  // The own end of that connection: an address that the others reach.
  const HostAddress& own() const noexcept { return own_; }
  const Secret& secret() const noexcept { return secret_; }

  // Gives where this rank waits for each other one, and takes where they wait for it: an address for each rank.
  Fault Exchange(uint32_t ranks, uint32_t rank, std::vector<char>& addresses, Moment deadline);

 private:
  int socket_ = -1;
  HostAddress root_;
  HostAddress own_;
  Secret secret_{};
};

}  // namespace portacl::hccl
