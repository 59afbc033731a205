// Bytes between the ranks of one communicator. Gloo does it, in a library of its own (gloo_transport.cc), which is loaded with the
// first communicator.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace portacl::hccl {

using Moment = std::chrono::steady_clock::time_point;

// A send or a receive that was posted. Its memory belongs to the transport until Release.
class Transfer {
 protected:
  ~Transfer() = default;
};

// All functions may be called by several threads. None throws: this is the border between two libraries.
class Transport {
 public:
  static constexpr size_t kAddressBytes = 192;  // where one rank waits for one other
  enum class Outcome { kDone, kTimedOut, kLost, kAborted };

  virtual ~Transport() = default;

  // Writes kAddressBytes for each rank; that of the own one means nothing.
  virtual void Addresses(char* addresses) const noexcept = 0;
  // Joins the rank that waits at `address`. False when it did not come in time.
  virtual bool Connect(int rank, const char* address) noexcept = 0;

  // A message meets the receive with the same slot, in order, and may be shorter, never longer. nullptr: the rank is lost,
  // or all is aborted, or there is no memory.
  virtual Transfer* Send(int rank, uint64_t slot, const void* data, size_t bytes) noexcept = 0;
  virtual Transfer* Receive(int rank, uint64_t slot, void* data, size_t bytes) noexcept = 0;
  // After kTimedOut the rank of the transfer is lost. A rank that ends is lost within a fraction of a second.
  virtual Outcome Wait(Transfer* transfer, Moment deadline) noexcept = 0;
  // Of one that is not done after Abort alone. From then on nobody touches its memory.
  virtual void Release(Transfer* transfer) noexcept = 0;

  // Closes every connection and ends all waiting.
  virtual void Abort() noexcept = 0;
};

// The entry of the library: a transport whose sockets are bound to the address `host`. nullptr on failure, with the reason in
// `why`, which holds `room` bytes.
using OpenTransportFunction = Transport* (*)(const char* host, int rank, int size, int connect_seconds,
                                             char* why, size_t room) noexcept;
inline constexpr const char* kOpenTransport = "PortaclOpenTransport";
inline constexpr const char* kTransportLibrary = "libportacl_gloo.so";

}  // namespace portacl::hccl
