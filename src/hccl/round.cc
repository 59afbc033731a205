// The messages of one operation (see round.h).
// SPDX-License-Identifier: Apache-2.0
#include "hccl/round.h"

#include <chrono>
#include <utility>

#include "hccl/reduce.h"

namespace portacl::hccl {
namespace {

using Clock = std::chrono::steady_clock;

Text Describe(const Handshake& handshake) noexcept {
  Text text(NameOf(static_cast<Function>(handshake.function)), " of ",
            TypeName(static_cast<HcclDataType>(handshake.type)), ", operation ", handshake.op, ", root ",
            handshake.root, ", ", handshake.give, " elements to give and ", handshake.take, " to take");
  if (handshake.matrix != 0) text.Add(", a sendCountMatrix of digest ").Add(handshake.matrix);
  return text;
}

}  // namespace

Round::Round(Communicator& communicator, const char* what)
    : communicator_(communicator),
      what_(what),
      deadline_(communicator.exec_seconds() == 0
                    ? Moment::max()
                    : Clock::now() + std::chrono::seconds(communicator.exec_seconds())),
      scratch_(communicator.TakeScratch()),
      expected_(static_cast<size_t>(communicator.size())) {}

Round::~Round() {
  for (const Posted& one : posted_) {
    if (one.transfer == nullptr) continue;
    communicator_.transport().Abort();
    communicator_.transport().Release(one.transfer);
  }
  if (has_handshakes_) communicator_.ReturnHandshakes(number_);
  communicator_.ReturnScratch(std::move(scratch_));
}

void Round::Fail(HcclResult code, const Text& text) {
  Failure failure;
  failure.fault = {code, Text(what_, ", communicator ", communicator_.name().c_str(), ", rank ",
                              communicator_.rank(), " of ", communicator_.size(), ": ", text.view())};
  // Breaks the communicator now, because nobody may touch the memory of the remaining transfers.
  communicator_.Break(failure.fault);
  throw failure;
}

void Round::FailLost(int rank) {
  if (communicator_.IsClosing())
    Fail(HCCL_E_UNAVAIL, Text("the communicator was destroyed before the operation was done."));
  if (communicator_.fault() != HCCL_SUCCESS) {
    Fail(communicator_.fault(),
         Text("another operation of the communicator failed: ", communicator_.FaultText().view()));
  }
  const Text words = communicator_.LastWordsOf(rank);
  if (!words.view().empty()) Fail(HCCL_E_REMOTE, Text("rank ", rank, " gave up: ", words.view()));
  Fail(HCCL_E_REMOTE, Text("the connection to rank ", rank, " was lost: its process has ended, or gave up."));
}

size_t Round::Keep(int rank) {
  posted_.push_back({nullptr, rank});
  return posted_.size() - 1;
}

size_t Round::Send(int rank, uint64_t slot, const void* data, size_t bytes) {
  const size_t index = Keep(rank);
  posted_[index].transfer = communicator_.transport().Send(rank, slot, data, bytes);
  if (posted_[index].transfer == nullptr) FailLost(rank);
  return index;
}

size_t Round::Receive(int rank, uint64_t slot, void* data, size_t bytes) {
  const size_t index = Keep(rank);
  posted_[index].transfer = communicator_.transport().Receive(rank, slot, data, bytes);
  if (posted_[index].transfer == nullptr) FailLost(rank);
  return index;
}

void Round::Wait(size_t transfer) {
  Posted& one = posted_[transfer];
  if (one.transfer == nullptr) return;
  switch (communicator_.transport().Wait(one.transfer, deadline_)) {
    case Transport::Outcome::kDone:
      communicator_.transport().Release(one.transfer);
      one.transfer = nullptr;
      return;
    case Transport::Outcome::kTimedOut:
      Fail(HCCL_E_TIMEOUT, Text("rank ", one.rank, " did not come in HCCL_EXEC_TIMEOUT, ",
                                communicator_.exec_seconds(), " s."));
    case Transport::Outcome::kLost:
    case Transport::Outcome::kAborted:
      FailLost(one.rank);
  }
}

void Round::WaitForAll() {
  for (size_t i = 0; i < posted_.size(); ++i) Wait(i);
}

void Round::SendHandshake(int rank, uint64_t slot, const Handshake& handshake, const void* data,
                          size_t bytes) {
  if (bytes > kWithHandshake) bytes = 0;
  char* const message = static_cast<char*>(Room(sizeof handshake + bytes));
  std::memcpy(message, &handshake, sizeof handshake);
  if (bytes > 0) std::memcpy(message + sizeof handshake, data, bytes);
  Send(rank, slot, message, sizeof handshake + bytes);
}

void Round::ReceiveHandshakes(uint64_t number) {
  number_ = number;
  const auto ranks = static_cast<size_t>(communicator_.size());
  const size_t first = posted_.size();
  // Allocates first, so that no transfer that is taken over gets lost.
  posted_.resize(first + ranks, {nullptr, 0});
  Communicator::Handshakes* const ahead = communicator_.TakeHandshakes(number);
  has_handshakes_ = ahead != nullptr;
  for (size_t other = 0; other < ranks; ++other) {
    posted_[first + other] = {ahead == nullptr ? nullptr : ahead->transfers[other], static_cast<int>(other)};
    expected_[other] = {first + other,
                        ahead == nullptr ? nullptr : ahead->messages.get() + other * kHandshakeBytes};
  }
  for (size_t other = 0; other < ranks; ++other) {
    if (static_cast<int>(other) == communicator_.rank()) continue;
    Posted& one = posted_[first + other];
    if (ahead == nullptr) {
      expected_[other].message = static_cast<char*>(Room(kHandshakeBytes));
      one.transfer = communicator_.transport().Receive(one.rank, Slot(SlotKind::kHandshake, number),
                                                       expected_[other].message, kHandshakeBytes);
    }
    if (one.transfer == nullptr) FailLost(one.rank);
  }
}

void Round::AcceptHandshake(int rank, const Handshake& wanted, void* data, size_t bytes) {
  const Expected& one = expected_[static_cast<size_t>(rank)];
  Wait(one.transfer);
  Handshake handshake;
  std::memcpy(&handshake, one.message, sizeof handshake);
  if (std::memcmp(&handshake, &wanted, sizeof handshake) != 0) {
    Handshake own = wanted;
    std::swap(own.give, own.take);
    Fail(HCCL_E_REMOTE, Text("rank ", rank, " called something else: ", Describe(handshake).view(),
                             "; here it is ", Describe(own).view(), "."));
  }
  if (bytes > 0 && bytes <= kWithHandshake) std::memcpy(data, one.message + sizeof handshake, bytes);
}

}  // namespace portacl::hccl
