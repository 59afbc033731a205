// One rank's end of a group of ranks: its connections, its counters, and its first error.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hccl/hccl_comm.h"
#include "hccl/hccl_errors.h"
#include "hccl/rendezvous.h"
#include "hccl/transport.h"

namespace portacl::hccl {

// The slot of a message. Messages of different sizes never share a slot, so that a rank that calls something
// else never overruns a smaller buffer.
enum class SlotKind : uint64_t { kIdentity = 1, kFault, kRendezvous, kCollective, kHandshake, kTake, kData };
uint64_t Slot(SlotKind kind, uint64_t number, uint64_t chunk = 0, uint64_t bytes = 0) noexcept;

// Returns the file of the library that moves bytes between ranks, and loads it. Returns an empty string if it
// cannot be loaded, with the reason in `why`.
std::string TransportFile(std::string* why);

// Memory for intermediate results of one operation at a time. It is kept for the next operation, since fresh
// pages cost more than the work on them.
class Scratch {
 public:
  // The memory is valid until Reset.
  char* Take(size_t bytes);
  void Reset() noexcept;

 private:
  static constexpr size_t kMostKept = size_t{16} << 20;
  std::unique_ptr<char[]> block_;
  size_t size_ = 0;
  size_t used_ = 0;
  size_t asked_ = 0;
  std::vector<std::unique_ptr<char[]>> more_;
};

struct CommunicatorOptions {
  std::string name;
  int exec_seconds = 0;  // 0: for ever
  int device = 0;        // of the rank
};

// The handshake that every rank sends to each rank that it works with, which detects and names a rank that
// calls something else.
struct Handshake {
  uint32_t function = 0;
  uint32_t type = 0;
  uint32_t op = 0;
  uint32_t root = 0;
  uint64_t give = 0;    // elements to the rank that reads this
  uint64_t take = 0;    // and from it
  uint64_t matrix = 0;  // Operation::matrix
};
// Small data is sent together with the handshake: one message instead of two.
inline constexpr size_t kWithHandshake = 16384;
inline constexpr size_t kHandshakeBytes = sizeof(Handshake) + kWithHandshake;

class Communicator {
 public:
  // Meets the other ranks at `info`. For a sub-communicator it meets those that `ranks` names, in the new
  // order.
  static Fault Join(const HcclRootInfo& info, uint32_t size, uint32_t rank, CommunicatorOptions options,
                    std::shared_ptr<Communicator>* joined);
  static Fault Split(Communicator& parent, const std::vector<uint32_t>& ranks, uint32_t rank, uint64_t id,
                     CommunicatorOptions options, std::shared_ptr<Communicator>* joined);

  Communicator(uint32_t rank, uint32_t size, CommunicatorOptions options);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  const std::string& name() const noexcept { return options_.name; }
  int exec_seconds() const noexcept { return options_.exec_seconds; }
  int device() const noexcept { return options_.device; }
  Transport& transport() noexcept { return *transport_; }
  // False in a forked child, which has none of the threads that move bytes.
  bool IsOfThisProcess() const noexcept;

  // Numbers that separate the messages of operations, in the order of calls.
  uint64_t NextCollective(uint64_t count = 1) noexcept { return collectives_.fetch_add(count); }
  uint64_t NextSend(uint32_t to) noexcept { return outgoing_[to].fetch_add(1); }
  uint64_t NextReceive(uint32_t from) noexcept { return incoming_[from].fetch_add(1); }

  // Returns the first error of an operation, or HCCL_SUCCESS, without waiting.
  HcclResult fault() const noexcept { return fault_code_.load(); }
  Text FaultText() noexcept;
  // Stores the first error, tells the other ranks, and ends everything that runs.
  void Break(const Fault& fault) noexcept;
  // Returns the message that `rank` sent before it gave up; empty if there is none.
  Text LastWordsOf(int rank) noexcept;

  std::atomic<bool> is_suspended{false};

  // Ends everything that runs, without waiting for it; the operations then report it.
  void Interrupt() noexcept;

  // The handshakes of a collective, by rank, whose receives are posted before the collective begins. Gloo
  // sends at once if the other end has posted a receive, and otherwise announces the message first. A
  // transfer is nullptr if its rank is lost.
  struct Handshakes {
    std::vector<Transfer*> transfers;
    std::unique_ptr<char[]> messages;  // kHandshakeBytes for each rank
  };
  // Hands the handshakes of collective `number` over to the caller. Returns nullptr if there are none; the
  // caller then posts its own receives.
  Handshakes* TakeHandshakes(uint64_t number) noexcept;
  // Reuses the memory for a later collective, when collective `number` is done.
  void ReturnHandshakes(uint64_t number) noexcept;

  std::unique_ptr<Scratch> TakeScratch();
  void ReturnScratch(std::unique_ptr<Scratch> scratch) noexcept;

  // Enclose an operation's use of the connections. Enter returns false if the communicator is being
  // destroyed.
  bool Enter() noexcept;
  void Leave() noexcept;
  // Ends everything that runs, waits for it, and closes the connections.
  void Close() noexcept;
  bool IsClosing() noexcept;

  // A rank's sends to itself. The sender leaves its data and waits until the receiver has taken it.
  bool LeaveForSelf(uint64_t number, const void* data, size_t bytes) noexcept;
  enum class Taken { kYes, kTimedOut, kOtherSize, kClosing };
  Taken TakeFromSelf(uint64_t number, void* data, size_t bytes, Moment deadline) noexcept;
  Taken AwaitTaken(uint64_t number, Moment deadline) noexcept;

 private:
  struct Left {
    const void* data;
    size_t bytes;
    bool is_taken;
  };
  static constexpr size_t kLastWords = 256;
  // The number of concurrent collectives, in several streams, whose handshakes are received in advance. Each
  // entry serves the numbers n, n + kAhead, n + 2 * kAhead, ...
  static constexpr uint64_t kAhead = 2;
  static constexpr uint64_t kNobody = ~uint64_t{0};
  struct HandshakesAhead {
    Handshakes handshakes;
    uint64_t number = 0;  // of the collective for which receives are posted
    bool is_posted = false;
    uint64_t user = kNobody;  // the collective that has taken them
    uint64_t next = 0;        // the first collective that has not begun
  };

  Fault Open(const char* host, int connect_seconds);
  // Connects to every other rank and verifies its identity.
  Fault Connect(const std::vector<char>& addresses, const Secret& secret, Moment deadline);
  void AwaitFaults();
  void PostHandshakes(HandshakesAhead& ahead) noexcept;

  const int rank_;
  const int size_;
  const CommunicatorOptions options_;
  const pid_t process_;
  std::string host_;
  Secret secret_{};
  std::unique_ptr<Transport> transport_;
  std::atomic<uint64_t> collectives_{0};
  std::unique_ptr<std::atomic<uint64_t>[]> outgoing_;
  std::unique_ptr<std::atomic<uint64_t>[]> incoming_;

  std::atomic<HcclResult> fault_code_{HCCL_SUCCESS};
  std::mutex mutex_;
  std::condition_variable changed_;
  Text fault_text_;
  int running_ = 0;
  bool is_closing_ = false;
  std::map<uint64_t, uint32_t> splits_;  // the number of splits with each id
  std::map<uint64_t, Left> left_for_self_;
  std::vector<char> last_words_;
  std::vector<Transfer*> awaited_words_;
  HandshakesAhead handshakes_ahead_[kAhead];
  std::vector<std::unique_ptr<Scratch>> scratch_;
};

// Handles. FindCommunicator keeps the communicator alive; it returns nullptr for an invalid or destroyed
// handle.
HcclComm PublishCommunicator(std::shared_ptr<Communicator> made) noexcept;  // null: no memory
std::shared_ptr<Communicator> FindCommunicator(HcclComm handle) noexcept;
std::shared_ptr<Communicator> TakeCommunicator(HcclComm handle) noexcept;
// Finds the communicator of a name, nullptr if there is none. Of several, one of the device is taken.
std::shared_ptr<Communicator> FindCommunicatorNamed(std::string_view name, int device) noexcept;

}  // namespace portacl::hccl
