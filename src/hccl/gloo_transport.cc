// The transport on Gloo's pairs of TCP connections (see transport.h). No exception leaves it.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/loop.h>
#include <gloo/transport/unbound_buffer.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/process/cancellation.h"
#include "hccl/transport.h"

namespace portacl::hccl {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLongest = std::chrono::hours(100);  // Gloo takes no "for ever"

// Blocks signals, which belong to the program's own threads; Gloo's threads inherit the mask. Writing to a
// connection that the other end has closed raises SIGPIPE, which is consumed.
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

// Tells whether the calling thread may be ended by SIGPIPE. Threads of the library cannot be.
bool MayGetPipeSignal() noexcept {
  sigset_t current;
  sigemptyset(&current);
  pthread_sigmask(SIG_BLOCK, nullptr, &current);
  return sigismember(&current, SIGPIPE) == 0;
}

// Another rank, with a context of its own: Gloo closes all connections of a context if one wait in it takes
// too long.
struct Peer {
  std::shared_ptr<gloo::transport::Context> context;
  // A keepalive: a receive that no message ever matches. If a connection is lost, Gloo notifies waiters whose
  // message has not begun, but not those whose message was partly read or written. It does notify this one.
  std::unique_ptr<gloo::transport::UnboundBuffer> keepalive;
  char keepalive_byte = 0;
  // A lock around Gloo's own lock of the connection. A thread that closes a connection, also because writing
  // failed, holds Gloo's lock while it waits for Gloo's thread. Therefore Gloo's thread must never wait for
  // that lock; it checks this one instead.
  std::mutex lock;
  bool is_closed = false;
  std::atomic<int> waits{0};
  std::atomic<bool> is_lost{false};
};
constexpr int kHere = 0;  // ranks in a peer's context
constexpr int kThere = 1;
constexpr uint64_t kKeepaliveSlot = 0;

class GlooTransfer final : public Transfer {
 public:
  GlooTransfer(Peer& peer, uint64_t slot, void* data, size_t bytes, bool sends)
      : peer_(peer), buffer_(peer.context->createUnboundBuffer(data, bytes)), slot_(slot), is_send_(sends) {}

  Peer& peer() { return peer_; }
  bool is_by_poster() const noexcept { return is_by_poster_; }
  void LeaveToPoster() noexcept { is_by_poster_ = true; }
  bool was_posted() const noexcept { return was_posted_.load(); }
  bool has_failed() const noexcept { return has_failed_.load(); }
  // Throws if the connection is closed.
  void Post() {
    const std::lock_guard lock(peer_.lock);
    PostLocked();
  }
  // Posts the transfer without waiting or throwing, for threads that may do neither. An error is reported to
  // whoever waits for the transfer. Returns false if the transfer cannot be posted now.
  bool TryPost() noexcept {
    {
      const std::unique_lock lock(peer_.lock, std::try_to_lock);
      if (!lock) return false;
      try {
        PostLocked();
      } catch (const std::exception&) {
        has_failed_.store(true);
        AbortWait();
      }
    }
    was_posted_.store(true);  // the last access, after which this object may be destroyed
    return true;
  }
  // Returns false if the wait was aborted.
  bool Wait() {
    return is_send_ ? buffer_->waitSend(nullptr, kLongest) : buffer_->waitRecv(nullptr, kLongest);
  }
  void SetDeadline(Moment deadline) noexcept { deadline_.store(deadline); }
  bool IsLate() const noexcept {
    const Moment deadline = deadline_.load();
    return deadline != Moment::max() && std::chrono::steady_clock::now() >= deadline;
  }
  void AbortWait() {
    if (is_send_) {
      buffer_->abortWaitSend();
    } else {
      buffer_->abortWaitRecv();
    }
  }

 private:
  void PostLocked() {
    if (peer_.is_closed) throw std::runtime_error("closed");
    if (is_send_) {
      buffer_->send(kThere, slot_);
    } else {
      buffer_->recv(kThere, slot_);
    }
  }

  Peer& peer_;
  std::unique_ptr<gloo::transport::UnboundBuffer> buffer_;
  const uint64_t slot_;
  const bool is_send_;
  bool is_by_poster_ = false;
  std::atomic<Moment> deadline_{Moment::max()};
  std::atomic<bool> was_posted_{false};
  std::atomic<bool> has_failed_{false};
};

// Posts messages on a device's own thread. If data arrives while another thread writes to the same
// connection, Gloo's thread spins on the connection's lock, and takes the processor from the lock's holder.
// Posting large messages on Gloo's thread avoids that.
class Poster final : public gloo::transport::tcp::Handler {
 public:
  explicit Poster(gloo::transport::tcp::Device& device) : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (event_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    device.registerDescriptor(event_, EPOLLIN, this);
  }
  // Never destroyed, like its device.

  void Post(GlooTransfer* transfer) {
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      is_first = queue_.empty();
      queue_.push_back(transfer);
    }
    if (is_first) Wake();
  }
  // Removes a transfer, which is not touched here afterwards.
  void Forget(GlooTransfer* transfer) noexcept {
    const CancellationDeferred deferred;
    std::unique_lock lock(mutex_);
    std::erase(queue_, transfer);
    done_.wait(lock, [&] { return posting_ != transfer; });
  }

  void handleEvents(int) override {
    const CancellationDeferred deferred;
    uint64_t ones = 0;
    if (read(event_, &ones, sizeof ones) < 0) return;
    std::unique_lock lock(mutex_);
    while (!queue_.empty()) {
      posting_ = queue_.front();
      lock.unlock();
      const bool was_free = posting_->TryPost();
      lock.lock();
      // Removes it, unless Forget has done so meanwhile.
      if (was_free && !queue_.empty() && queue_.front() == posting_) queue_.pop_front();
      posting_ = nullptr;
      done_.notify_all();
      if (was_free) continue;
      // The holder of the peer's lock may wait for this thread to continue.
      lock.unlock();
      Wake();
      return;
    }
  }

 private:
  void Wake() noexcept {
    const CancellationDeferred deferred;
    const uint64_t one = 1;
    if (write(event_, &one, sizeof one) < 0) {  // the counter is full, so that the thread will wake anyway
    }
  }

  const int event_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::deque<GlooTransfer*> queue_;
  GlooTransfer* posting_ = nullptr;
};

// A device with its thread, for each address and process; a forked child has none of its parent's threads.
// Never destroyed, since communicators may be in use until the process ends.
struct DeviceAndPoster {
  std::shared_ptr<gloo::transport::Device> device;
  Poster* poster = nullptr;
};
DeviceAndPoster& DeviceOf(const std::string& host) {
  static std::mutex& mutex = *new std::mutex;
  static auto& devices = *new std::map<std::pair<pid_t, std::string>, DeviceAndPoster>;
  const std::lock_guard lock(mutex);
  DeviceAndPoster& found = devices[{getpid(), host}];
  if (found.poster == nullptr) {
    if (found.device == nullptr)
      found.device = gloo::transport::tcp::CreateDevice(gloo::transport::tcp::attr(host.c_str()));
    found.poster = new Poster(dynamic_cast<gloo::transport::tcp::Device&>(*found.device));
  }
  return found;
}

class GlooTransport final : public Transport {
 public:
  GlooTransport(const char* host, int rank, int size, int connect_seconds)
      : rank_(rank), size_(size), device_(DeviceOf(host)), peers_(new Peer[static_cast<size_t>(size)]) {
    for (int other = 0; other < size; ++other) {
      if (other == rank) continue;
      Peer& peer = PeerOf(other);
      peer.context = device_.device->createContext(kHere, 2);
      // Gloo waits five times as long for a connection.
      peer.context->setTimeout(std::max(milliseconds(connect_seconds * 200), milliseconds(200)));
      peer.context->createPair(kThere);
    }
    const CancellationDeferred deferred;
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
      // Stores the length in front, since Gloo accepts only exactly the bytes that it returned.
      char* const slot_begin = addresses + kAddressBytes * static_cast<size_t>(other);
      const auto length = static_cast<uint32_t>(std::min(bytes.size(), kAddressBytes - sizeof(uint32_t)));
      std::memcpy(slot_begin, &length, sizeof length);
      std::memcpy(slot_begin + sizeof length, bytes.data(), length);
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
      auto keepalive = peer.context->createUnboundBuffer(&peer.keepalive_byte, sizeof peer.keepalive_byte);
      keepalive->recv(kThere, kKeepaliveSlot);
      const std::lock_guard lock(mutex_);
      peer.keepalive = std::move(keepalive);
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

  // Gloo never gets the deadline: it would close the connection on this thread (see Poster). The watcher ends
  // the wait instead.
  Outcome Wait(Transfer* transfer, Moment deadline) noexcept override {
    auto& one = *static_cast<GlooTransfer*>(transfer);
    one.SetDeadline(deadline);
    const Watched watched(*this, one.peer());
    bool had_ended = false;
    try {
      for (;;) {
        if (one.Wait()) return Outcome::kDone;
        if (aborted_.load()) return Outcome::kAborted;
        if (one.has_failed()) return Outcome::kLost;
        // An aborted wait does not tell whether the message arrived completely; a second wait does.
        if (had_ended && one.peer().is_lost.load()) return Outcome::kLost;
        if (had_ended && std::chrono::steady_clock::now() >= deadline) return Outcome::kTimedOut;
        had_ended = true;
      }
    } catch (const std::exception&) {
      return aborted_.load() ? Outcome::kAborted : Outcome::kLost;
    }
  }

  void Release(Transfer* transfer) noexcept override {
    auto* const one = static_cast<GlooTransfer*>(transfer);
    if (one->is_by_poster() && !one->was_posted()) device_.poster->Forget(one);
    {
      const std::lock_guard lock(mutex_);
      posted_.erase(one);
    }
    delete one;
  }

  void Abort() noexcept override {
    const std::lock_guard abort_lock(abort_mutex_);  // a second caller finds all closed
    if (aborted_.exchange(true)) return;
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      Peer& peer = PeerOf(other);
      {
        const std::lock_guard lock(peer.lock);
        peer.is_closed = true;
      }
      try {
        peer.context->getPair(kThere)->close();
      } catch (const std::exception&) {  // closed already
      }
    }
    const std::lock_guard lock(mutex_);
    for (GlooTransfer* one : posted_) one->AbortWait();
  }

 private:
  static constexpr milliseconds kTick{100};
  static constexpr size_t kLarge = 32768;  // bytes for which one more thread switch does not matter

  // Makes the watcher observe a rank while a thread waits for it.
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
      auto made = std::make_unique<GlooTransfer>(PeerOf(rank), slot, data, bytes, sends);
      {
        const std::lock_guard lock(mutex_);
        if (aborted_.load()) return nullptr;
        posted_.insert(made.get());
      }
      posted = made.release();
      if (bytes > kLarge) {
        posted->LeaveToPoster();
        device_.poster->Post(posted);
      } else if (MayGetPipeSignal()) {
        // A program's thread, which makes or breaks a communicator.
        const SignalsBlocked blocked;
        posted->Post();
      } else {
        posted->Post();
      }
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

  // Aborts waits for ranks whose connection was lost, and waits beyond their deadline. Sleeps while nobody
  // waits.
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
        if (peer.keepalive != nullptr && peer.waits.load() > 0 && !peer.is_lost.load() && !HasKeepalive(peer))
          peer.is_lost.store(true);
      }
      // Repeats the abort at every tick (see Wait).
      for (GlooTransfer* one : posted_) {
        if (one->peer().is_lost.load() || one->IsLate()) one->AbortWait();
      }
    }
  }

  // Tests the keepalive. An aborted wait on it returns false at once, or throws the connection's error.
  static bool HasKeepalive(Peer& peer) noexcept {
    try {
      peer.keepalive->abortWaitRecv();
      peer.keepalive->waitRecv(nullptr, kLongest);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  const int rank_;
  const int size_;
  DeviceAndPoster& device_;
  const std::unique_ptr<Peer[]> peers_;  // by rank; the entry of this rank is empty
  std::atomic<bool> aborted_{false};
  std::atomic<bool> is_asleep_{false};
  std::mutex abort_mutex_;
  std::mutex mutex_;
  std::condition_variable awake_;
  bool is_ending_ = false;
  std::unordered_set<GlooTransfer*> posted_;
  std::thread watcher_;  // cancellable: nothing is done here
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
