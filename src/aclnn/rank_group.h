// Communicators as operators see them: an operator names one by its group name, and its job exchanges data with
// the other ranks. The collective library, which this folder does not know, implements and finds them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "acl/acl_base.h"
#include "base/text.h"
#include "engine/job.h"

namespace portacl {

// This process's end of a communicator.
class RankGroup {
 public:
  virtual ~RankGroup() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;

  // Tells in phase 2 why nothing can be queued: the communicator is broken, suspended, destroyed, or another
  // process's. Returns an empty text if something can.
  virtual Text WhyNot() noexcept = 0;
  // Takes the numbers of `count` exchanges, which are in the order of calls, and returns the first one.
  virtual uint64_t TakeNumbers(int count) noexcept = 0;
  // Performs the exchange of this number. Returns ACL_SUCCESS, or the stream's failure with its text in *why.
  virtual aclError Perform(uint64_t number, const RankExchange& exchange, Text* why) noexcept = 0;
  // Ends the running exchange when its stream is destroyed or aborted. Otherwise the other ranks would wait for ever.
  virtual void Interrupt() noexcept = 0;
};

// Finds the communicator of a name, null if there is none. Of several with one name, that of the calling
// thread's device is found.
using FindRankGroupFunction = std::shared_ptr<RankGroup> (*)(const char* name) noexcept;
// Set with the first communicator of the process.
extern std::atomic<FindRankGroupFunction> find_rank_group;

inline std::shared_ptr<RankGroup> FindRankGroup(const char* name) noexcept {
  const FindRankGroupFunction find = find_rank_group.load(std::memory_order_acquire);
  return find == nullptr ? nullptr : find(name);
}

}  // namespace portacl
