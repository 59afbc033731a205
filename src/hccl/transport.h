// The transport of bytes between the ranks of one communicator. Gloo does it, in a separate library
// (gloo_transport.cc) that is loaded with the first communicator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace portacl::hccl {

using Moment = std::chrono::steady_clock::time_point;

// A posted send or receive. Its memory belongs to the transport until Release.
class Transfer {
 protected:
  ~Transfer() = default;
};

// All functions may be called by several threads. None throws, since this is the boundary between two
// libraries.
class Transport {
 public:
  static constexpr size_t kAddressBytes = 192;  // the address at which one rank waits for another
  enum class Outcome { kDone, kTimedOut, kLost, kAborted };

  virtual ~Transport() = default;

  // Writes kAddressBytes for each rank; the entry of this rank is unspecified.
  virtual void Addresses(char* addresses) const noexcept = 0;
  // Connects to the rank that waits at `address`. Returns false if it did not come in time.
  virtual bool Connect(int rank, const char* address) noexcept = 0;

  // A message matches the receive with the same slot, in order; it may be shorter than the receive but not
  // longer. Returns nullptr if the rank is lost, everything is aborted, or there is no memory.
  virtual Transfer* Send(int rank, uint64_t slot, const void* data, size_t bytes) noexcept = 0;
  virtual Transfer* Receive(int rank, uint64_t slot, void* data, size_t bytes) noexcept = 0;
  // After kTimedOut the transfer's rank counts as lost. A rank whose process ends is lost within a fraction
  // of a second.
  virtual Outcome Wait(Transfer* transfer, Moment deadline) noexcept = 0;
  // Frees a transfer; one that is not done requires Abort first. Afterwards nobody touches its memory.
  virtual void Release(Transfer* transfer) noexcept = 0;

  // Closes every connection and ends all waits.
  virtual void Abort() noexcept = 0;
};

// The library's entry: opens a transport whose sockets are bound to the address `host`. Returns nullptr on
// failure, with the reason in `why`, which has `room` bytes.
using OpenTransportFunction = Transport* (*)(const char* host, int rank, int size, int connect_seconds,
                                             char* why, size_t room) noexcept;
inline constexpr const char* kOpenTransport = "PortaclOpenTransport";
inline constexpr const char* kTransportLibrary = "libportacl_gloo.so";

}  // namespace portacl::hccl
