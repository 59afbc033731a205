// The rendezvous of a new communicator's ranks (see rendezvous.h).
// SPDX-License-Identifier: Apache-2.0
#include "hccl/rendezvous.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/process/cancellation.h"
#include "base/process/thread_start.h"

namespace portacl::hccl {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kInfoMark = 0x4c43434841545250;  // "PRTAHCCL"
constexpr uint32_t kVersion = 1;

// The content of HcclRootInfo; its other bytes are 0.
struct Info {
  uint64_t mark = kInfoMark;
  uint32_t version = kVersion;
  uint32_t check = 0;  // checksum of the rest, to detect lost bytes
  Secret secret{};
  sockaddr_storage address{};
};
static_assert(sizeof(Info) <= sizeof(HcclRootInfo));

uint32_t CheckOf(const Info& info) noexcept {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&info);
  uint32_t sum = 2166136261u;  // FNV-1a
  for (size_t i = offsetof(Info, secret); i < sizeof info; ++i) sum = (sum ^ bytes[i]) * 16777619u;
  return sum;
}

// A rank's message. The addresses at which it waits for the other ranks follow.
struct Hello {
  uint64_t mark = kInfoMark;
  Secret secret{};
  uint32_t ranks = 0;
  uint32_t rank = 0;
};
// The answer to a Hello. If code is 0, the addresses at which the others wait for the rank follow.
struct Answer {
  uint32_t code = 0;
  char why[252] = {};
};

int MillisecondsTo(Moment deadline) noexcept {
  if (deadline == Moment::max()) return -1;
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1 << 30));
}

bool IsReady(int socket, short events, Moment deadline) noexcept {
  const CancellationDeferred deferred;
  for (;;) {
    pollfd one{socket, events, 0};
    const int count = poll(&one, 1, MillisecondsTo(deadline));
    if (count > 0) return true;
    if (count == 0 || errno != EINTR) return false;
  }
}

bool SendAll(int socket, const void* data, size_t bytes, Moment deadline) noexcept {
  const CancellationDeferred deferred;
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      at += sent;
      bytes -= static_cast<size_t>(sent);
    } else if (errno != EINTR && (errno != EAGAIN || !IsReady(socket, POLLOUT, deadline))) {
      return false;
    }
  }
  return true;
}

bool ReceiveAll(int socket, void* data, size_t bytes, Moment deadline) noexcept {
  const CancellationDeferred deferred;
  char* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t got = recv(socket, at, bytes, MSG_DONTWAIT);
    if (got == 0) return false;
    if (got > 0) {
      at += got;
      bytes -= static_cast<size_t>(got);
    } else if (errno != EINTR && (errno != EAGAIN || !IsReady(socket, POLLIN, deadline))) {
      return false;
    }
  }
  return true;
}

// Compares in constant time, so that timing does not reveal how many bytes match.
bool IsSame(const Secret& a, const Secret& b) noexcept {
  unsigned char differs = 0;
  for (size_t i = 0; i < a.size(); ++i) differs = static_cast<unsigned char>(differs | (a[i] ^ b[i]));
  return differs == 0;
}

// The rendezvous of one communicator, with the thread that serves it.
class Rendezvous {
 public:
  Rendezvous(int listener, const Secret& secret, int seconds) noexcept
      : listener_(listener), secret_(secret), seconds_(seconds) {}
  ~Rendezvous() {
    const CancellationDeferred deferred;
    close(listener_);
    for (const Visitor& one : visitors_) close(one.socket);
  }
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  static void* Main(void* rendezvous) {
    const std::unique_ptr<Rendezvous> owned(static_cast<Rendezvous*>(rendezvous));
    try {
      owned->Run();
    } catch (const std::bad_alloc&) {  // the ranks see their connections closed
    }
    return nullptr;
  }

 private:
  // Anybody may connect to an open port. A visitor that has not sent the secret within this time is
  // disconnected.
  static constexpr auto kPatience = std::chrono::seconds(10);
  static constexpr size_t kMostVisitors = size_t{2} * kMostRanks;

  struct Visitor {
    int socket = -1;
    Moment since;
    std::vector<char> said;
    bool is_done = false;     // the message is complete, and the rank is known
    bool is_refused = false;  // the reason has been sent; closing at once would lose it
    bool IsStranger() const noexcept { return is_refused || said.size() < sizeof(Hello); }
    Hello hello{};
  };

  void Run() {
    const CancellationDeferred deferred;
    while (!Everyone()) {
      std::vector<pollfd> watched(1 + visitors_.size());
      watched[0] = {listener_, POLLIN, 0};
      Moment next = deadline_;
      for (size_t i = 0; i < visitors_.size(); ++i) {
        watched[i + 1] = {visitors_[i].socket, POLLIN, 0};
        if (visitors_[i].IsStranger()) next = std::min(next, visitors_[i].since + kPatience);
      }
      const int count = poll(watched.data(), watched.size(), MillisecondsTo(next));
      if (count < 0 && errno != EINTR) return;
      if (Clock::now() >= deadline_) return TellAll(HCCL_E_TIMEOUT, Missing());
      for (size_t i = visitors_.size(); i-- > 0;) {
        Visitor& one = visitors_[i];
        const bool is_late = one.IsStranger() && Clock::now() >= one.since + kPatience;
        if (is_late || (watched[i + 1].revents != 0 && !Listen(one))) {
          close(one.socket);
          visitors_.erase(visitors_.begin() + static_cast<ptrdiff_t>(i));
        }
      }
      if (watched[0].revents != 0 && visitors_.size() < kMostVisitors) {
        const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0) {
          visitors_.emplace_back();
          visitors_.back().socket = socket;
          visitors_.back().since = Clock::now();
        }
      }
    }
    // Collects the addresses at which the other ranks wait for this one.
    for (const Visitor& to : visitors_) {
      if (!to.is_done) continue;
      std::vector<char> message(sizeof(Answer) + Transport::kAddressBytes * ranks_);
      new (message.data()) Answer;
      for (const Visitor& from : visitors_) {
        if (!from.is_done) continue;
        std::memcpy(message.data() + sizeof(Answer) + Transport::kAddressBytes * from.hello.rank,
                    from.said.data() + sizeof(Hello) + Transport::kAddressBytes * to.hello.rank,
                    Transport::kAddressBytes);
      }
      SendAll(to.socket, message.data(), message.size(), deadline_);
    }
  }

  bool Everyone() const noexcept {
    return ranks_ > 0 &&
           static_cast<uint32_t>(std::count_if(visitors_.begin(), visitors_.end(),
                                               [](const Visitor& one) { return one.is_done; })) == ranks_;
  }

  Text Missing() const noexcept {
    Text text("these ranks did not come to root information in HCCL_CONNECT_TIMEOUT, ", seconds_, " s:");
    int named = 0;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      if (std::any_of(visitors_.begin(), visitors_.end(),
                      [rank](const Visitor& one) { return one.is_done && one.hello.rank == rank; })) {
        continue;
      }
      if (++named > 8) {
        text.Add(" and more");
        break;
      }
      text.Add(' ').Add(rank);
    }
    return text.Add('.');
  }

  static bool Tell(Visitor& one, HcclResult code, const Text& why) noexcept {
    Answer answer;
    answer.code = static_cast<uint32_t>(code);
    const std::string_view text = why.view().substr(0, sizeof answer.why - 1);
    std::memcpy(answer.why, text.data(), text.size());
    SendAll(one.socket, &answer, sizeof answer, Clock::now() + std::chrono::seconds(1));
    one.is_refused = true;
    return true;
  }
  void TellAll(HcclResult code, const Text& why) noexcept {
    for (Visitor& one : visitors_) {
      if (one.is_done) Tell(one, code, why);
    }
  }

  // Reads a visitor's message. Returns false if the visitor has gone or is disconnected.
  bool Listen(Visitor& one) {
    const CancellationDeferred deferred;
    char bytes[4096];
    const size_t wanted = one.said.size() < sizeof(Hello) ? sizeof(Hello) : Whole(one);
    const size_t room = std::min(sizeof bytes, std::max<size_t>(wanted - one.said.size(), 1));
    const ssize_t got = recv(one.socket, bytes, room, MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0 || one.is_done) return false;
    if (one.is_refused) return true;
    one.said.insert(one.said.end(), bytes, bytes + got);
    if (one.said.size() == sizeof(Hello)) {
      std::memcpy(&one.hello, one.said.data(), sizeof one.hello);
      if (!Accept(one)) return false;
    }
    if (one.said.size() >= sizeof(Hello) && one.said.size() == Whole(one) && !one.is_refused)
      one.is_done = true;
    return true;
  }
  static size_t Whole(const Visitor& one) noexcept {
    return sizeof(Hello) + Transport::kAddressBytes * one.hello.ranks;
  }

  bool Accept(Visitor& one) noexcept {
    const Hello& hello = one.hello;
    if (hello.mark != kInfoMark || !IsSame(hello.secret, secret_)) return false;
    if (hello.ranks == 0 || hello.ranks > kMostRanks || hello.rank >= hello.ranks) return false;
    if (ranks_ == 0) {
      ranks_ = hello.ranks;
      deadline_ = Clock::now() + std::chrono::seconds(seconds_);
    }
    if (hello.ranks != ranks_) {
      return Tell(
          one, HCCL_E_PARA,
          Text("rank ", hello.rank, " gave nRanks ", hello.ranks, ", the first to come gave ", ranks_, "."));
    }
    for (const Visitor& other : visitors_) {
      if (&other == &one || other.IsStranger() || other.hello.rank != hello.rank) continue;
      return Tell(one, HCCL_E_PARA, Text("two processes came as rank ", hello.rank, "."));
    }
    return true;
  }

  const int listener_;
  const Secret secret_;
  const int seconds_;
  uint32_t ranks_ = 0;  // 0 until the first rank has come
  Moment deadline_ = Moment::max();
  std::vector<Visitor> visitors_;
};

bool Bind(int socket, HostAddress& address, const Ports& ports) noexcept {
  for (int i = 0; i < ports.count; ++i) {
    for (int port = ports.ranges[i].first; port <= ports.ranges[i].last; ++port) {
      address.SetPort(static_cast<uint16_t>(port));
      if (bind(socket, reinterpret_cast<const sockaddr*>(&address.storage), address.length()) == 0)
        return true;
    }
  }
  return false;
}

Fault ConnectTo(const HostAddress& root, int socket, Moment deadline) noexcept {
  const CancellationDeferred deferred;
  const auto* const address = reinterpret_cast<const sockaddr*>(&root.storage);
  int error = connect(socket, address, root.length()) == 0 ? 0 : errno;
  if (error == EINPROGRESS || error == EINTR) {
    if (!IsReady(socket, POLLOUT, deadline)) {
      error = ETIMEDOUT;
    } else {
      socklen_t size = sizeof error;
      getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
    }
  }
  if (error == 0) return {};
  return {error == ETIMEDOUT ? HCCL_E_TIMEOUT : HCCL_E_TCP_CONNECT,
          Text("nobody waits at the address of root information, ", root.text, " port ", int{root.port()},
               " (errno ", error, "); the process that made it must run until every rank has come.")};
}

}  // namespace

Fault NewSecret(Secret* secret) noexcept {
  const CancellationDeferred deferred;
  size_t done = 0;
  while (done < secret->size()) {
    const ssize_t got = getrandom(secret->data() + done, secret->size() - done, 0);
    if (got < 0 && errno != EINTR) return {HCCL_E_SYSCALL, Text("the system gives no random numbers.")};
    if (got > 0) done += static_cast<size_t>(got);
  }
  return {};
}

Fault OpenRendezvous(HcclRootInfo* info) noexcept {
  const CancellationDeferred deferred;
  HostAddress address;
  bool is_chosen = false;
  Ports ports;
  int seconds = 0;
  Info content;
  if (Fault fault = OwnAddress(&address, &is_chosen)) return fault;
  if (Fault fault = ListenerPorts(&ports)) return fault;
  if (Fault fault = ConnectTimeout(&seconds)) return fault;
  if (Fault fault = NewSecret(&content.secret)) return fault;
  const int listener = socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return {HCCL_E_SYSCALL, Text("no socket can be opened (errno ", errno, ").")};
  socklen_t length = sizeof content.address;
  if (!Bind(listener, address, ports) || listen(listener, 128) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&content.address), &length) != 0) {
    const int error = errno;
    close(listener);
    return {HCCL_E_TCP_CONNECT, Text("no port of ", address.text, " can be listened at (errno ", error,
                                     "); HCCL_HOST_SOCKET_PORT_RANGE and HCCL_IF_BASE_PORT name ports.")};
  }
  std::unique_ptr<Rendezvous> rendezvous(new (std::nothrow) Rendezvous(listener, content.secret, seconds));
  if (rendezvous == nullptr) {
    close(listener);
    return {HCCL_E_OOM, Text("not enough memory.")};
  }
  if (!StartThread(Rendezvous::Main, rendezvous.get())) {
    return {HCCL_E_SYSCALL, Text("no thread can be started to wait for the other ranks.")};
  }
  rendezvous.release();
  content.check = CheckOf(content);
  std::memset(info, 0, sizeof *info);
  std::memcpy(info, &content, sizeof content);
  return {};
}

Guest::~Guest() {
  const CancellationDeferred deferred;
  if (socket_ >= 0) close(socket_);
}

Fault Guest::Come(const HcclRootInfo& info, Moment deadline) noexcept {
  Info content;
  std::memcpy(static_cast<void*>(&content), &info, sizeof content);
  const int family = content.address.ss_family;
  if (content.mark != kInfoMark || content.version != kVersion || content.check != CheckOf(content) ||
      (family != AF_INET && family != AF_INET6)) {
    return {
        HCCL_E_PARA,
        Text("parameter rootInfo holds no root information of this version; accepted: all 4108 bytes that "
             "HcclGetRootInfo wrote in rank 0.")};
  }
  secret_ = content.secret;
  root_.storage = content.address;
  root_.Describe();
  bool is_chosen = false;
  if (Fault fault = OwnAddress(&own_, &is_chosen)) return fault;
  socket_ = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket_ < 0) return {HCCL_E_SYSCALL, Text("no socket can be opened (errno ", errno, ").")};
  if (Fault fault = ConnectTo(root_, socket_, deadline)) return fault;
  // If no interface is chosen, uses the one that leads to rank 0.
  if (!is_chosen) {
    socklen_t length = sizeof own_.storage;
    if (getsockname(socket_, reinterpret_cast<sockaddr*>(&own_.storage), &length) != 0) {
      return {HCCL_E_SYSCALL, Text("the own address cannot be found (errno ", errno, ").")};
    }
  }
  own_.SetPort(0);
  own_.Describe();
  return {};
}

Fault Guest::ExchangeAddresses(uint32_t ranks, uint32_t rank, std::vector<char>& addresses, Moment deadline) {
  Hello hello;
  hello.secret = secret_;
  hello.ranks = ranks;
  hello.rank = rank;
  Answer answer;
  // A refusal may arrive before everything has been sent.
  const bool said = SendAll(socket_, &hello, sizeof hello, deadline) &&
                    SendAll(socket_, addresses.data(), addresses.size(), deadline);
  // Waits a little longer than the deadline, because rank 0 knows who is missing and reports it then.
  if (!ReceiveAll(socket_, &answer, sizeof answer, deadline + std::chrono::seconds(5))) {
    if (Clock::now() >= deadline) {
      return {HCCL_E_TIMEOUT, Text("not every rank came to root information in HCCL_CONNECT_TIMEOUT.")};
    }
    return {HCCL_E_TCP_CONNECT,
            Text("who waits at the address of root information, ", root_.text, " port ", int{root_.port()},
                 ", refused rank ", rank, ": the secret is another one's, or that process has ended.")};
  }
  answer.why[sizeof answer.why - 1] = '\0';
  if (answer.code != 0) return {static_cast<HcclResult>(answer.code), Text(answer.why)};
  if (!said || !ReceiveAll(socket_, addresses.data(), addresses.size(), deadline + std::chrono::seconds(5))) {
    return {HCCL_E_TCP_TRANSFER, Text("the connection to rank 0 was lost.")};
  }
  return {};
}

}  // namespace portacl::hccl
