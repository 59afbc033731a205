// The exchanges of a running executor's job with other ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "acl/queue/stream.h"
#include "aclnn/executor.h"
#include "aclnn/rank_group.h"
#include "base/sanitizer_hooks.h"

namespace portacl {

// Exchanges data with the other ranks of the executor's communicators, and reports a failure to the stream.
class RanksOf final : public JobRanks {
 public:
  RanksOf(Executor& executor, Stream& stream) noexcept : executor_(executor), stream_(stream) {}

  bool Perform(int step, const RankExchange& exchange) const noexcept override {
    if (has_failed_) return false;
    --executor_.exchanges[exchange.group];
    Text why;
    const aclError status = executor_.ranks[exchange.group]->Perform(
        executor_.first_exchange[exchange.group] + static_cast<uint64_t>(step), exchange, &why);
    // Other ranks have synchronised with it as well, and some of them may be threads of this process.
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->StreamWaitsForAll(&stream_);
    if (status == ACL_SUCCESS) return true;
    has_failed_ = true;
    stream_.NoteFailure(Stream::Failure(status, Text(executor_.api, ": ", why.view())));
    return false;
  }
  bool HasFailed() const noexcept override { return has_failed_; }

  // Called behind the job. One that failed leaves out the rest of its exchanges, for which the other ranks would wait.
  void GiveUpRest() const noexcept {
    for (int group = 0; group < Executor::kMostGroups; ++group) {
      const std::shared_ptr<RankGroup>& one = executor_.ranks[group];
      if (one == nullptr || executor_.exchanges[group] == 0) continue;
      one->GiveUp(Text(executor_.api, " failed there before it exchanged data."));
      executor_.exchanges[group] = 0;
    }
  }

 private:
  Executor& executor_;  // counts the exchanges that are left
  Stream& stream_;
  mutable bool has_failed_ = false;
};

}  // namespace portacl
