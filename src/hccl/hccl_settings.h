// The environment's settings for collectives: time limits, addresses and ports.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netinet/in.h>

#include <cstdint>

#include "hccl/hccl_errors.h"

namespace portacl::hccl {

// An IPv4 or IPv6 address without a port.
struct HostAddress {
  sockaddr_storage storage{};
  char text[INET6_ADDRSTRLEN + 16] = {};  // an IPv6 one may name its interface

  socklen_t length() const noexcept {
    return storage.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  }
  void SetPort(uint16_t port) noexcept;
  uint16_t port() const noexcept;
  // Writes `text` from `storage`.
  void Describe() noexcept;
};

// Reads HCCL_CONNECT_TIMEOUT in seconds: 1 to 7200, 120 if unset.
Fault ConnectTimeout(int* seconds) noexcept;
// Reads HCCL_EXEC_TIMEOUT in seconds: 0 for unlimited, 1836 if unset or negative.
Fault ExecTimeout(int* seconds) noexcept;

// Finds the address to which sockets are bound. *is_chosen tells whether HCCL_IF_IP or HCCL_SOCKET_IFNAME
// chose it; otherwise it is loopback.
Fault OwnAddress(HostAddress* address, bool* is_chosen) noexcept;

// The ports for a listener, tried in order: HCCL_HOST_SOCKET_PORT_RANGE, else 32 from HCCL_IF_BASE_PORT on,
// else one that the system chooses (0).
struct Ports {
  static constexpr int kMost = 64;
  struct Range {
    uint16_t first = 0;
    uint16_t last = 0;
  };
  Range ranges[kMost];
  int count = 0;
};
Fault ListenerPorts(Ports* ports) noexcept;

}  // namespace portacl::hccl
