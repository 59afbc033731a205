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
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
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

// One other rank. Its context is its own: Gloo closes all connections of a context when one wait in it takes too long.
struct Peer {
  std::shared_ptr<gloo::transport::Context> context;
  // A receive that no message meets: of a lost connection, Gloo tells those who wait for their message to begin, and not
  // those whose message was half read or written. This one it tells.
  std::unique_ptr<gloo::transport::UnboundBuffer> pulse;
  char pulse_byte = 0;
  std::atomic<int> waits{0};
  std::atomic<bool> is_lost{false};
};
constexpr int kHere = 0;  // ranks in a peer's context
constexpr int kThere = 1;
constexpr uint64_t kPulseSlot = 0;

class GlooTransfer final : public Transfer {
 public:
  GlooTransfer(Peer& peer, void* data, size_t bytes, bool sends)
      : peer_(peer), buffer_(peer.context->createUnboundBuffer(data, bytes)), is_send_(sends) {}

  Peer& peer() { return peer_; }
  void Post(uint64_t slot) {
    if (is_send_) {
      buffer_->send(kThere, slot);
    } else {
      buffer_->recv(kThere, slot);
    }
  }
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
  Peer& peer_;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  bool is_send_;
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(const char* host, int rank, int size, int connect_seconds)
      : rank_(rank), size_(size), device_(DeviceOf(host)), peers_(new Peer[static_cast<size_t>(size)]) {
    const CancellationDeferred deferred;
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      Peer& peer = PeerOf(other);
      peer.context = device_->createContext(kHere, 2);
      // Gloo waits five times as long for a connection.
      peer.context->setTimeout(std::max(milliseconds(connect_seconds * 200), milliseconds(200)));
      peer.context->createPair(kThere);
    }
    watcher_ = std::thread([this] { Watch(); });
  }
  ~GlooTransport() {
    const CancellationDeferred deferred;
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    awake_.notify_all();
    watcher_.join();
  }

  void Addresses(char* addresses) const noexcept override {
    std::memset(addresses, 0, kAddressBytes * static_cast<size_t>(size_));
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      const std::vector<char> bytes = PeerOf(other).context->getPair(kThere)->address().bytes();
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
    Peer& peer = PeerOf(rank);
    try {
      peer.context->getPair(kThere)->connect(std::vector<char>(bytes, bytes + length));
      auto pulse = peer.context->createUnboundBuffer(&peer.pulse_byte, sizeof peer.pulse_byte);
      pulse->recv(kThere, kPulseSlot);
      const std::lock_guard lock(mutex_);
      peer.pulse = std::move(pulse);
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
    auto& one = *static_cast<GlooTransfer*>(transfer);
    const Watched watched(*this, one.peer());
    milliseconds limit = kLongest;
    if (deadline != Moment::max()) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - std::chrono::steady_clock::now());
      limit = std::clamp(left, milliseconds(1), kLongest);
    }
    try {
      if (one.Wait(limit)) return Outcome::kDone;
      if (aborted_.load()) return Outcome::kAborted;
      // The watcher found the rank lost. Its last messages may have come whole before; then Gloo returns at once.
      return one.Wait(milliseconds(1)) ? Outcome::kDone : Outcome::kAborted;
    } catch (const std::exception&) {
      if (aborted_.load()) return Outcome::kAborted;
      if (one.peer().is_lost.load()) return Outcome::kLost;
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
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      try {
        PeerOf(other).context->getPair(kThere)->close();
      } catch (const std::exception&) {  // closed already
      }
    }
    const std::lock_guard lock(mutex_);
    for (GlooTransfer* one : posted_) one->AbortWait();
  }

 private:
  static constexpr milliseconds kTick{100};

  // While a thread waits for a rank, the watcher looks after that rank.
  class Watched {
   public:
    Watched(GlooTransport& transport, Peer& peer) noexcept : peer_(peer) {
      peer_.waits.fetch_add(1);
      if (!transport.is_asleep_.load()) return;
      const CancellationDeferred deferred;
      const std::lock_guard lock(transport.mutex_);
      transport.is_asleep_.store(false);
      transport.awake_.notify_all();
    }
    ~Watched() { peer_.waits.fetch_sub(1); }
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    Peer& peer_;
  };

  Peer& PeerOf(int rank) const noexcept { return peers_[static_cast<size_t>(rank)]; }

  Transfer* Post(int rank, uint64_t slot, void* data, size_t bytes, bool sends) noexcept {
    const CancellationDeferred deferred;
    GlooTransfer* posted = nullptr;
    try {
      auto made = std::make_unique<GlooTransfer>(PeerOf(rank), data, bytes, sends);
      {
        const std::lock_guard lock(mutex_);
        if (aborted_.load()) return nullptr;
        posted_.insert(made.get());
      }
      posted = made.release();
      posted->Post(slot);
      return posted;
    } catch (const std::exception&) {
      if (posted != nullptr) Release(posted);
      return nullptr;
    }
  }

  bool IsAnyoneWaiting() const noexcept {
    for (int other = 0; other < size_; ++other) {
      if (PeerOf(other).waits.load() > 0) return true;
    }
    return false;
  }

  // Ends the waiting for ranks whose connection was lost. Sleeps while nobody waits.
  void Watch() noexcept {
    const CancellationDeferred deferred;
    std::unique_lock lock(mutex_);
    while (!is_ending_) {
      is_asleep_.store(true);
      if (!IsAnyoneWaiting()) awake_.wait(lock, [this] { return is_ending_ || !is_asleep_.load(); });
      is_asleep_.store(false);
      if (awake_.wait_for(lock, kTick, [this] { return is_ending_; })) return;
      for (int other = 0; other < size_ && !aborted_.load(); ++other) {
        Peer& peer = PeerOf(other);
        if (peer.pulse == nullptr || peer.waits.load() == 0 || peer.is_lost.load() || HasPulse(peer))
          continue;
        peer.is_lost.store(true);
        for (GlooTransfer* one : posted_) {
          if (&one->peer() == &peer) one->AbortWait();
        }
      }
    }
  }

  // An aborted wait returns at once: false, or it throws what happened to the connection.
  static bool HasPulse(Peer& peer) noexcept {
    try {
      peer.pulse->abortWaitRecv();
      peer.pulse->waitRecv(nullptr, kLongest);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  const int rank_;
  const int size_;
  const std::shared_ptr<gloo::transport::Device> device_;
  const std::unique_ptr<Peer[]> peers_;  // by rank; the own one is empty
  std::atomic<bool> aborted_{false};
  std::atomic<bool> is_asleep_{false};
  std::mutex mutex_;
  std::condition_variable awake_;
  bool is_ending_ = false;
  std::unordered_set<GlooTransfer*> posted_;
  std::thread watcher_;  // cancellable: nothing is done here; who starts it and waits for its end defers
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
