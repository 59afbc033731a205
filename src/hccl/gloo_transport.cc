// The transport on Gloo's pairs of TCP connections (see transport.h). No exception leaves it.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "acl/process/cancellation.h"
#include "hccl/transport.h"

namespace portacl::hccl {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLongest = std::chrono::hours(100);  // Gloo takes no "for ever"

// Signals are for the program's own threads: Gloo's inherit that all are blocked. A connection that the other end has closed
// raises SIGPIPE in who writes; that one is taken away again.
class SignalsBlocked {
 public:
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    sigset_t pending;
    sigpending(&pending);
    had_pipe_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() {
    const CancellationDeferred deferred;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    const timespec at_once{};
    if (!had_pipe_ && sigismember(&before_, SIGPIPE) == 0) sigtimedwait(&pipe, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
  bool had_pipe_ = false;
};

// One device, with its thread, for each address and process; a forked child has none of the parent's threads. Never destroyed:
// communicators may be in use until the process ends.
std::shared_ptr<gloo::transport::Device> DeviceOf(const std::string& host) {
  static std::mutex& mutex = *new std::mutex;
  static auto& devices =
      *new std::map<std::pair<pid_t, std::string>, std::shared_ptr<gloo::transport::Device>>;
  const std::lock_guard lock(mutex);
  auto& device = devices[{getpid(), host}];
  if (device == nullptr)
    device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(host.c_str()));
  return device;
}

class GlooTransfer final : public Transfer {
 public:
  GlooTransfer(std::unique_ptr<gloo::transport::UnboundBuffer> buffer, bool sends)
      : buffer_(std::move(buffer)), is_send_(sends) {}

  gloo::transport::UnboundBuffer& buffer() { return *buffer_; }
  bool Wait(milliseconds limit) {
    return is_send_ ? buffer_->waitSend(nullptr, limit) : buffer_->waitRecv(nullptr, limit);
  }
  void AbortWait() {
    if (is_send_) {
      buffer_->abortWaitSend();
    } else {
      buffer_->abortWaitRecv();
    }
  }

 private:
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  bool is_send_;
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(const char* host, int rank, int size, int connect_seconds)
      : device_(DeviceOf(host)), context_(device_->createContext(rank, size)) {
    // Gloo waits five times as long for a connection.
    context_->setTimeout(std::max(milliseconds(connect_seconds * 200), milliseconds(200)));
    for (int other = 0; other < size; ++other) {
      if (other != rank) context_->createPair(other);
    }
  }

  void Addresses(char* addresses) const noexcept override {
    std::memset(addresses, 0, kAddressBytes * static_cast<size_t>(context_->size));
    for (int other = 0; other < context_->size; ++other) {
      if (other == context_->rank) continue;
      const std::vector<char> bytes = context_->getPair(other)->address().bytes();
      // The length comes first: Gloo takes back exactly what it gave.
      char* const place = addresses + kAddressBytes * static_cast<size_t>(other);
      const auto length = static_cast<uint32_t>(std::min(bytes.size(), kAddressBytes - sizeof(uint32_t)));
      std::memcpy(place, &length, sizeof length);
      std::memcpy(place + sizeof length, bytes.data(), length);
    }
  }

  bool Connect(int rank, const char* address) noexcept override {
    const SignalsBlocked blocked;
    uint32_t length = 0;
    std::memcpy(&length, address, sizeof length);
    if (length > kAddressBytes - sizeof length) return false;
    const char* const bytes = address + sizeof length;
    try {
      context_->getPair(rank)->connect(std::vector<char>(bytes, bytes + length));
    } catch (const std::exception&) {
      return false;
    }
    return true;
  }

  Transfer* Send(int rank, uint64_t slot, const void* data, size_t bytes) noexcept override {
    return Post(rank, slot, const_cast<void*>(data), bytes, true);
  }
  Transfer* Receive(int rank, uint64_t slot, void* data, size_t bytes) noexcept override {
    return Post(rank, slot, data, bytes, false);
  }

  Outcome Wait(Transfer* transfer, Moment deadline) noexcept override {
    milliseconds limit = kLongest;
    if (deadline != Moment::max()) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
      limit = std::clamp(left, milliseconds(1), kLongest);
    }
    try {
      if (static_cast<GlooTransfer*>(transfer)->Wait(limit)) return Outcome::kDone;
      return Outcome::kAborted;
    } catch (const std::exception&) {
      if (aborted_.load()) return Outcome::kAborted;
      return std::chrono::steady_clock::now() >= deadline ? Outcome::kTimedOut : Outcome::kLost;
    }
  }

  void Release(Transfer* transfer) noexcept override {
    auto* const one = static_cast<GlooTransfer*>(transfer);
    {
      const std::lock_guard lock(mutex_);
      posted_.erase(one);
    }
    delete one;
  }

  void Abort() noexcept override {
    if (aborted_.exchange(true)) return;
    for (int other = 0; other < context_->size; ++other) {
      if (other == context_->rank) continue;
      try {
        context_->getPair(other)->close();
      } catch (const std::exception&) {  // closed already
      }
    }
    const std::lock_guard lock(mutex_);
    for (GlooTransfer* one : posted_) one->AbortWait();
  }

 private:
  Transfer* Post(int rank, uint64_t slot, void* data, size_t bytes, bool sends) noexcept {
    const CancellationDeferred deferred;
    GlooTransfer* posted = nullptr;
    try {
      auto made = std::make_unique<GlooTransfer>(context_->createUnboundBuffer(data, bytes), sends);
      {
        const std::lock_guard lock(mutex_);
        if (aborted_.load()) return nullptr;
        posted_.insert(made.get());
      }
      posted = made.release();
      if (sends) {
        posted->buffer().send(rank, slot);
      } else {
        posted->buffer().recv(rank, slot);
      }
      return posted;
    } catch (const std::exception&) {
      if (posted != nullptr) Release(posted);
      return nullptr;
    }
  }

  std::shared_ptr<gloo::transport::Device> device_;
  std::shared_ptr<gloo::transport::Context> context_;
  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::unordered_set<GlooTransfer*> posted_;
};

}  // namespace
}  // namespace portacl::hccl

extern "C" __attribute__((visibility("default"))) portacl::hccl::Transport* PortaclOpenTransport(
    const char* host, int rank, int size, int connect_seconds, char* why, size_t room) noexcept {
  const portacl::hccl::SignalsBlocked blocked;
  try {
    return new portacl::hccl::GlooTransport(host, rank, size, connect_seconds);
  } catch (const std::exception& error) {
    std::snprintf(why, room, "%s", error.what());
    return nullptr;
  }
}
