// One rank's end of a group of ranks: its connections, what was counted in it, its first error.
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
#include <vector>

#include "hccl/hccl_comm.h"
#include "hccl/hccl_errors.h"
#include "hccl/meeting.h"
#include "hccl/transport.h"

namespace portacl::hccl {

// What a message belongs to. Two messages of different sizes never have one slot, so that what a rank sends that calls something else
// never reaches memory that is too small for it.
enum class SlotKind : uint64_t { kIdentity = 1, kFault, kMeeting, kCollective, kOffer, kTake, kPart };
uint64_t Slot(SlotKind kind, uint64_t number, uint64_t part = 0, uint64_t bytes = 0) noexcept;

// The file of the library that moves bytes between ranks, which is loaded by this; empty where it cannot be, and `why` is the reason.
std::string TransportFile(std::string* why);

// Memory for what comes in between, of one operation at a time. Kept for the next one: fresh pages cost more than what is done in them.
class Scratch {
 public:
  // Lives until Reset.
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
};

// What every rank shows every other one that it works with, so that one that calls something else is named.
struct Offer {
  uint32_t function = 0;
  uint32_t type = 0;
  uint32_t op = 0;
  uint32_t root = 0;
  uint64_t give = 0;    // elements to the rank that reads this
  uint64_t take = 0;    // and from it
  uint64_t matrix = 0;  // Operation::matrix
};
// What is small travels with the offer: one message instead of two.
inline constexpr size_t kWithOffer = 16384;
inline constexpr size_t kOfferRoom = sizeof(Offer) + kWithOffer;

class Communicator {
 public:
  // Meets the other ranks at `info`; or, of a communicator, those that `ranks` names, in the order of the new one.
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
  Transport& transport() noexcept { return *transport_; }
  // A child that was forked has none of the threads that move bytes.
  bool IsOfThisProcess() const noexcept;

  // Numbers that tell one operation's messages from another's, given in the order of calls.
  uint64_t NextCollective() noexcept { return collectives_.fetch_add(1); }
  uint64_t NextSend(uint32_t to) noexcept { return outgoing_[to].fetch_add(1); }
  uint64_t NextReceive(uint32_t from) noexcept { return incoming_[from].fetch_add(1); }

  // The first error of an operation, HCCL_SUCCESS before it. Waits for nothing.
  HcclResult fault() const noexcept { return fault_code_.load(); }
  Text FaultText() noexcept;
  // Keeps the first error, tells the other ranks, and ends all that runs.
  void Break(const Fault& fault) noexcept;
  // What `rank` said before it gave up; empty when it said nothing.
  Text LastWordsOf(int rank) noexcept;

  std::atomic<bool> is_suspended{false};

  // Ends what runs, without waiting for it; the operations then report it.
  void Interrupt() noexcept;

  // What each rank says of a collective, received before the collective begins: Gloo sends at once what the other end has asked for, and
  // announces the rest first. By rank; nullptr: that rank is lost.
  struct Offers {
    std::vector<Transfer*> transfers;
    std::unique_ptr<char[]> messages;  // kOfferRoom for each rank
  };
  // Those of collective `number`, whose transfers are the caller's from now on; nullptr when there are none: the caller receives for itself.
  Offers* TakeOffers(uint64_t number) noexcept;
  // That collective is done: the room is for a later one.
  void ReturnOffers(uint64_t number) noexcept;

  std::unique_ptr<Scratch> TakeScratch();
  void ReturnScratch(std::unique_ptr<Scratch> scratch) noexcept;

  // Around what an operation does with the connections. False: the communicator is being destroyed.
  bool Enter() noexcept;
  void Leave() noexcept;
  // Ends what runs, waits until it has ended, closes the connections.
  void Close() noexcept;
  bool IsClosing() noexcept;

  // Sends to the own rank: the sender leaves its data, and waits until the receiver has taken it.
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
  // Collectives under way at the same time, in several streams, whose offers are received ahead. One of `kAhead` has number, number + kAhead ...
  static constexpr uint64_t kAhead = 2;
  static constexpr uint64_t kNobody = ~uint64_t{0};
  struct OffersAhead {
    Offers offers;
    uint64_t number = 0;  // for which they are posted, when they are
    bool is_posted = false;
    uint64_t user = kNobody;  // the collective that has taken them
    uint64_t next = 0;        // the first that has not begun
  };

  Fault Open(const char* host, int connect_seconds);
  // Joins every other rank, and makes sure that it is one.
  Fault Connect(const std::vector<char>& addresses, const Secret& secret, Moment deadline);
  void AwaitFaults();
  void PostOffers(OffersAhead& ahead) noexcept;

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
  std::map<uint64_t, uint32_t> splits_;  // how often each id was split off
  std::map<uint64_t, Left> left_for_self_;
  std::vector<char> last_words_;
  std::vector<Transfer*> awaited_words_;
  OffersAhead offers_ahead_[kAhead];
  std::vector<std::unique_ptr<Scratch>> scratch_;
};

// Handles. Find keeps the communicator alive; null for what is none (any more).
HcclComm PublishCommunicator(std::shared_ptr<Communicator> made) noexcept;  // null: no memory
std::shared_ptr<Communicator> FindCommunicator(HcclComm handle) noexcept;
std::shared_ptr<Communicator> TakeCommunicator(HcclComm handle) noexcept;

}  // namespace portacl::hccl
