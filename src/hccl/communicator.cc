// One rank's end of a group of ranks (see communicator.h).
// SPDX-License-Identifier: Apache-2.0
#include "hccl/communicator.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "base/handle_table.h"
#include "base/process/cancellation.h"
#include "base/process/unwinding.h"

namespace portacl::hccl {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTimeToRead{100};

uint64_t Mix(uint64_t x) noexcept {  // SplitMix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

struct Library {
  OpenTransportFunction start = nullptr;
  std::string file;
  std::string why;

  Library() {
    void* const library = dlopen(kTransportLibrary, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library != nullptr) {
      link_map* map = nullptr;
      if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0) file = map->l_name;
      start = reinterpret_cast<OpenTransportFunction>(dlsym(library, kOpenTransport));
    }
    if (start == nullptr) {
      file.clear();
      const char* const error = dlerror();
      why = error == nullptr ? "" : error;
    }
  }
};

const Library& TransportLibrary() {
  static const Library& library = *new Library;
  return library;
}

// The handshake of two ranks that connect.
struct Identity {
  Secret secret;
  uint32_t rank;
  uint32_t size;
};

struct Entry {
  std::mutex mutex;
  HcclComm handle = nullptr;
  std::shared_ptr<Communicator> communicator;
};
constinit HandleTable<Entry, 0x63> entries;

}  // namespace

std::string TransportFile(std::string* why) {
  *why = TransportLibrary().why;
  return TransportLibrary().file;
}

uint64_t Slot(SlotKind kind, uint64_t number, uint64_t chunk, uint64_t bytes) noexcept {
  // Contains the number in clear, so that no two operations in flight share a slot, and a hash of part and
  // size.
  return static_cast<uint64_t>(kind) << 60 | (number & 0xFFFFFFF) << 32 |
         (Mix(Mix(chunk) ^ bytes) & 0xFFFFFFFF);
}

char* Scratch::Take(size_t bytes) {
  constexpr size_t kLine = 64;
  bytes = (std::max<size_t>(bytes, 1) + kLine - 1) / kLine * kLine;
  if (bytes <= size_ - used_) {
    char* const taken = block_.get() + used_;
    used_ += bytes;
    asked_ += bytes;
    return taken;
  }
  more_.emplace_back(new char[bytes]);
  asked_ += bytes;
  return more_.back().get();
}

void Scratch::Reset() noexcept {
  if (!more_.empty() && asked_ <= kMostKept) {
    // Keeps the larger block, since the next operation is likely to be similar.
    if (char* const grown = new (std::nothrow) char[asked_]) {
      block_.reset(grown);
      size_ = asked_;
    }
  }
  more_.clear();
  used_ = asked_ = 0;
}

Communicator::Communicator(uint32_t rank, uint32_t size, CommunicatorOptions options)
    : rank_(static_cast<int>(rank)),
      size_(static_cast<int>(size)),
      options_(std::move(options)),
      process_(getpid()),
      outgoing_(new std::atomic<uint64_t>[size] {}),
      incoming_(new std::atomic<uint64_t>[size] {}) {}

Communicator::~Communicator() {
  if (transport_ == nullptr) return;
  if (!IsOfThisProcess()) {
    // Leaks it in a forked child, since closing would wait for threads that only the parent has.
    (void)transport_.release();
    return;
  }
  Close();
}

bool Communicator::IsOfThisProcess() const noexcept { return getpid() == process_; }

Fault Communicator::Open(const char* host, int connect_seconds) {
  const Library& library = TransportLibrary();
  if (library.start == nullptr) {
    return {
        HCCL_E_NOT_FOUND,
        Text("Gloo, which communicates, cannot be loaded from beside portacl: ", library.why.c_str(), ".")};
  }
  char why[256] = "";
  transport_.reset(library.start(host, rank_, size_, connect_seconds, why, sizeof why));
  if (transport_ == nullptr) return {HCCL_E_NETWORK, Text("no socket can be opened at ", host, ": ", why)};
  host_ = host;
  return {};
}

Fault Communicator::Join(const HcclRootInfo& info, uint32_t size, uint32_t rank, CommunicatorOptions options,
                         std::shared_ptr<Communicator>* joined) {
  EnsureUnwinding();
  int seconds = 0;
  if (Fault fault = ConnectTimeout(&seconds)) return fault;
  const Moment deadline = Clock::now() + std::chrono::seconds(seconds);
  Guest guest;
  if (Fault fault = guest.Come(info, deadline)) return fault;
  auto made = std::make_shared<Communicator>(rank, size, std::move(options));
  if (Fault fault = made->Open(guest.own().text, seconds)) return fault;
  std::vector<char> addresses(Transport::kAddressBytes * size);
  made->transport_->Addresses(addresses.data());
  if (Fault fault = guest.ExchangeAddresses(size, rank, addresses, deadline)) return fault;
  if (Fault fault = made->Connect(addresses, guest.secret(), deadline)) return fault;
  *joined = std::move(made);
  return {};
}

Fault Communicator::Split(Communicator& parent, const std::vector<uint32_t>& ranks, uint32_t rank,
                          uint64_t id, CommunicatorOptions options, std::shared_ptr<Communicator>* joined) {
  int seconds = 0;
  if (Fault fault = ConnectTimeout(&seconds)) return fault;
  const Moment deadline = Clock::now() + std::chrono::seconds(seconds);
  const auto size = static_cast<uint32_t>(ranks.size());
  auto made = std::make_shared<Communicator>(rank, size, std::move(options));
  if (Fault fault = made->Open(parent.host_.c_str(), seconds)) return fault;
  std::vector<char> own(Transport::kAddressBytes * size);
  std::vector<char> addresses(Transport::kAddressBytes * size);
  made->transport_->Addresses(own.data());
  uint64_t number = 0;
  {
    const std::lock_guard lock(parent.mutex_);
    number = parent.splits_[id]++;
  }
  const uint64_t slot = Slot(SlotKind::kRendezvous, number, id, Transport::kAddressBytes);
  std::vector<Transfer*> transfers;
  Fault fault;
  for (uint32_t other = 0; other < size; ++other) {
    if (other == rank) continue;
    const int there = static_cast<int>(ranks[other]);
    transfers.push_back(parent.transport_->Receive(
        there, slot, addresses.data() + Transport::kAddressBytes * other, Transport::kAddressBytes));
    transfers.push_back(parent.transport_->Send(there, slot, own.data() + Transport::kAddressBytes * other,
                                                Transport::kAddressBytes));
  }
  for (Transfer* transfer : transfers) {
    if (fault) continue;
    if (transfer == nullptr || parent.transport_->Wait(transfer, deadline) != Transport::Outcome::kDone) {
      fault = {HCCL_E_TIMEOUT, Text("not every rank of the list called with subCommId ", id,
                                    " in HCCL_CONNECT_TIMEOUT, ", seconds, " s.")};
    }
  }
  // Nothing may touch the memory of transfers that are given up.
  if (fault) parent.Break(fault);
  for (Transfer* transfer : transfers) {
    if (transfer != nullptr) parent.transport_->Release(transfer);
  }
  if (fault) return fault;
  if ((fault = made->Connect(addresses, parent.secret_, deadline))) return fault;
  *joined = std::move(made);
  return {};
}

Fault Communicator::Connect(const std::vector<char>& addresses, const Secret& secret, Moment deadline) {
  secret_ = secret;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    if (!transport_->Connect(other,
                             addresses.data() + Transport::kAddressBytes * static_cast<size_t>(other))) {
      return {HCCL_E_TCP_CONNECT, Text("rank ", rank_, " and rank ", other, " cannot be connected.")};
    }
  }
  // Verifies the peer: a stranger may have connected to the open port in place of the expected rank.
  const uint64_t slot = Slot(SlotKind::kIdentity, 0, 0, sizeof(Identity));
  const Identity own = {secret, static_cast<uint32_t>(rank_), static_cast<uint32_t>(size_)};
  std::vector<Identity> shown(static_cast<size_t>(size_), Identity{});
  std::vector<Transfer*> transfers;
  Fault fault;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    transfers.push_back(
        transport_->Receive(other, slot, &shown[static_cast<size_t>(other)], sizeof(Identity)));
    transfers.push_back(transport_->Send(other, slot, &own, sizeof own));
  }
  for (Transfer* transfer : transfers) {
    if (fault) continue;
    if (transfer == nullptr || transport_->Wait(transfer, deadline) != Transport::Outcome::kDone) {
      fault = {HCCL_E_TCP_CONNECT, Text("a rank was lost while the communicator was made.")};
    }
  }
  for (int other = 0; other < size_ && !fault; ++other) {
    const Identity& one = shown[static_cast<size_t>(other)];
    if (other == rank_) continue;
    if (one.secret != secret || one.rank != static_cast<uint32_t>(other) || one.size != own.size) {
      fault = {HCCL_E_TCP_CONNECT,
               Text("who came as rank ", other, " does not know the secret of root information.")};
    }
  }
  if (fault) transport_->Abort();
  for (Transfer* transfer : transfers) {
    if (transfer != nullptr) transport_->Release(transfer);
  }
  if (fault) return fault;
  AwaitFaults();
  for (uint64_t i = 0; i < kAhead; ++i) {
    HandshakesAhead& ahead = handshakes_ahead_[i];
    ahead.next = i;
    ahead.handshakes.transfers.assign(static_cast<size_t>(size_), nullptr);
    ahead.handshakes.messages.reset(new char[kHandshakeBytes * static_cast<size_t>(size_)]);
    PostHandshakes(ahead);
  }
  return fault;
}

void Communicator::AwaitFaults() {
  const auto ranks = static_cast<size_t>(size_);
  last_words_.assign(ranks * kLastWords, '\0');
  awaited_words_.assign(ranks, nullptr);
  for (size_t other = 0; other < ranks; ++other) {
    if (static_cast<int>(other) == rank_) continue;
    awaited_words_[other] =
        transport_->Receive(static_cast<int>(other), Slot(SlotKind::kFault, 0, 0, kLastWords),
                            last_words_.data() + other * kLastWords, kLastWords);
  }
}

void Communicator::PostHandshakes(HandshakesAhead& ahead) noexcept {
  ahead.number = ahead.next;
  ahead.next += kAhead;
  ahead.is_posted = true;
  for (int other = 0; other < size_; ++other) {
    if (other == rank_) continue;
    const auto index = static_cast<size_t>(other);
    ahead.handshakes.transfers[index] =
        transport_->Receive(other, Slot(SlotKind::kHandshake, ahead.number),
                            ahead.handshakes.messages.get() + index * kHandshakeBytes, kHandshakeBytes);
  }
}

Communicator::Handshakes* Communicator::TakeHandshakes(uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  HandshakesAhead& ahead = handshakes_ahead_[number % kAhead];
  ahead.next = std::max(ahead.next, number + kAhead);
  if (!ahead.is_posted || ahead.number != number) return nullptr;
  ahead.is_posted = false;
  ahead.user = number;
  return &ahead.handshakes;
}

void Communicator::ReturnHandshakes(uint64_t number) noexcept {
  const std::lock_guard lock(mutex_);
  HandshakesAhead& ahead = handshakes_ahead_[number % kAhead];
  if (ahead.user == number) ahead.user = kNobody;
  if (ahead.user == kNobody && !ahead.is_posted && !is_closing_ && fault_code_.load() == HCCL_SUCCESS)
    PostHandshakes(ahead);
}

std::unique_ptr<Scratch> Communicator::TakeScratch() {
  {
    const std::lock_guard lock(mutex_);
    if (!scratch_.empty()) {
      std::unique_ptr<Scratch> taken = std::move(scratch_.back());
      scratch_.pop_back();
      return taken;
    }
  }
  return std::make_unique<Scratch>();
}

void Communicator::ReturnScratch(std::unique_ptr<Scratch> scratch) noexcept {
  scratch->Reset();
  const std::lock_guard lock(mutex_);
  try {
    scratch_.push_back(std::move(scratch));
  } catch (const std::bad_alloc&) {  // then it is freed
  }
}

Text Communicator::FaultText() noexcept {
  const std::lock_guard lock(mutex_);
  return fault_text_;
}

Text Communicator::LastWordsOf(int rank) noexcept {
  const std::lock_guard lock(mutex_);
  Transfer*& awaited = awaited_words_[static_cast<size_t>(rank)];
  char* const words = last_words_.data() + static_cast<size_t>(rank) * kLastWords;
  if (awaited != nullptr) {
    const bool came =
        transport_->Wait(awaited, Clock::now() + std::chrono::milliseconds(1)) == Transport::Outcome::kDone;
    if (!came) return {};
    transport_->Release(awaited);
    awaited = nullptr;
  }
  words[kLastWords - 1] = '\0';
  return Text(words);
}

void Communicator::Break(const Fault& fault) noexcept {
  const CancellationDeferred deferred;
  {
    const std::lock_guard lock(mutex_);
    if (fault_code_.load() != HCCL_SUCCESS) return;
    fault_text_ = fault.text;
    fault_code_.store(fault.code);
  }
  // Tells the others why, as far as they can still be reached, and does not wait long for it.
  char words[kLastWords] = {};
  const std::string_view text = fault.text.view().substr(0, kLastWords - 1);
  std::memcpy(words, text.data(), text.size());
  const Moment soon = Clock::now() + std::chrono::seconds(1);
  std::vector<Transfer*> sent;
  try {
    sent.reserve(static_cast<size_t>(size_));
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      if (Transfer* one =
              transport_->Send(other, Slot(SlotKind::kFault, 0, 0, kLastWords), words, kLastWords)) {
        sent.push_back(one);
      }
    }
  } catch (const std::bad_alloc&) {  // then nobody is told
  }
  for (Transfer* one : sent) transport_->Wait(one, soon);
  // Closing a connection with unread data resets it, which also discards data that the other end has not read
  // yet.
  if (!sent.empty()) std::this_thread::sleep_for(kTimeToRead);
  transport_->Abort();
  for (Transfer* one : sent) transport_->Release(one);
  changed_.notify_all();
}

bool Communicator::Enter() noexcept {
  const std::lock_guard lock(mutex_);
  if (is_closing_) return false;
  ++running_;
  return true;
}

void Communicator::Leave() noexcept {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) changed_.notify_all();
}

void Communicator::Interrupt() noexcept {
  const std::lock_guard lock(mutex_);
  if (transport_ != nullptr) transport_->Abort();
  changed_.notify_all();
}

bool Communicator::IsClosing() noexcept {
  const std::lock_guard lock(mutex_);
  return is_closing_;
}

void Communicator::Close() noexcept {
  const CancellationDeferred deferred;
  std::unique_lock lock(mutex_);
  is_closing_ = true;
  changed_.notify_all();
  if (transport_ == nullptr) return;
  lock.unlock();
  transport_->Abort();
  lock.lock();
  while (running_ > 0) changed_.wait(lock);
  for (Transfer* awaited : awaited_words_) {
    if (awaited != nullptr) transport_->Release(awaited);
  }
  awaited_words_.clear();
  for (HandshakesAhead& ahead : handshakes_ahead_) {
    for (Transfer* one : ahead.handshakes.transfers) {
      if (ahead.is_posted && one != nullptr) transport_->Release(one);
    }
    ahead.is_posted = false;
  }
  transport_.reset();
}

bool Communicator::LeaveForSelf(uint64_t number, const void* data, size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    left_for_self_[number] = {data, bytes, false};
  } catch (const std::bad_alloc&) {
    return false;
  }
  changed_.notify_all();
  return true;
}

Communicator::Taken Communicator::TakeFromSelf(uint64_t number, void* data, size_t bytes,
                                               Moment deadline) noexcept {
  const CancellationDeferred deferred;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (is_closing_ || fault_code_.load() != HCCL_SUCCESS) return Taken::kClosing;
    const auto found = left_for_self_.find(number);
    if (found != left_for_self_.end()) {
      if (found->second.bytes != bytes) return Taken::kOtherSize;
      if (bytes > 0) std::memmove(data, found->second.data, bytes);
      found->second.is_taken = true;
      changed_.notify_all();
      return Taken::kYes;
    }
    if (deadline == Moment::max()) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) {
      return Taken::kTimedOut;
    }
  }
}

Communicator::Taken Communicator::AwaitTaken(uint64_t number, Moment deadline) noexcept {
  const CancellationDeferred deferred;
  std::unique_lock lock(mutex_);
  Taken taken = Taken::kYes;
  for (auto found = left_for_self_.find(number); !found->second.is_taken;) {
    if (is_closing_ || fault_code_.load() != HCCL_SUCCESS) {
      taken = Taken::kClosing;
      break;
    }
    if (deadline == Moment::max()) {
      changed_.wait(lock);
    } else if (changed_.wait_until(lock, deadline) == std::cv_status::timeout) {
      taken = Taken::kTimedOut;
      break;
    }
  }
  left_for_self_.erase(number);
  return taken;
}

HcclComm PublishCommunicator(std::shared_ptr<Communicator> made) noexcept {
  Entry* const entry = entries.Acquire();
  if (entry == nullptr) return nullptr;
  {
    const std::lock_guard lock(entry->mutex);
    entry->handle = entries.NextHandle(entry);
    entry->communicator = std::move(made);
  }
  return entries.Publish(entry);
}

std::shared_ptr<Communicator> FindCommunicator(HcclComm handle) noexcept {
  Entry* const entry = entries.Find(handle);
  if (entry == nullptr) return nullptr;
  const std::lock_guard lock(entry->mutex);
  return entry->handle == handle ? entry->communicator : nullptr;
}

std::shared_ptr<Communicator> FindCommunicatorNamed(std::string_view name, int device) noexcept {
  std::shared_ptr<Communicator> found;
  entries.ForEachSlot([&](Entry& entry) {
    const std::lock_guard lock(entry.mutex);
    const std::shared_ptr<Communicator>& one = entry.communicator;
    if (one == nullptr || one->name() != name) return;
    if (found == nullptr || (one->device() == device && found->device() != device)) found = one;
  });
  return found;
}

std::shared_ptr<Communicator> TakeCommunicator(HcclComm handle) noexcept {
  Entry* const entry = entries.Take(handle);
  if (entry == nullptr) return nullptr;
  std::shared_ptr<Communicator> taken;
  {
    const std::lock_guard lock(entry->mutex);
    taken = std::move(entry->communicator);
    entry->handle = nullptr;
  }
  entries.Recycle(entry);
  return taken;
}

}  // namespace portacl::hccl
