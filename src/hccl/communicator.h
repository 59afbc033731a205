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

#include "hccl/errors.h"
#include "hccl/hccl_comm.h"
#include "hccl/meeting.h"
#include "hccl/transport.h"

namespace portacl::hccl {

// What a message belongs to. Two messages of different sizes never have one slot, so that what a rank sends that calls something else
// never reaches memory that is too small for it.
enum class SlotKind : uint64_t { kIdentity = 1, kFault, kMeeting, kCollective, kOffer, kTake, kPart };
uint64_t Slot(SlotKind kind, uint64_t number, uint64_t part = 0, uint64_t bytes = 0) noexcept;

struct CommunicatorOptions {
  std::string name;
  int exec_seconds = 0;  // 0: for ever
};

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

  Fault Open(const char* host, int connect_seconds);
  // Joins every other rank, and makes sure that it is one.
  Fault Connect(const std::vector<char>& addresses, const Secret& secret, Moment deadline);
  void AwaitFaults();

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
};

// Handles. Find keeps the communicator alive; null for what is none (any more).
HcclComm PublishCommunicator(std::shared_ptr<Communicator> made) noexcept;  // null: no memory
std::shared_ptr<Communicator> FindCommunicator(HcclComm handle) noexcept;
std::shared_ptr<Communicator> TakeCommunicator(HcclComm handle) noexcept;

}  // namespace portacl::hccl
