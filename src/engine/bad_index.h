// The first index of an op that is out of bounds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "base/errors.h"
#include "engine/job.h"

namespace portacl::engine {

class BadIndex {
 public:
  void Note(int64_t at) noexcept {
    int64_t seen = at_.load(std::memory_order_relaxed);
    while (at < seen && !at_.compare_exchange_weak(seen, at, std::memory_order_relaxed)) {
    }
  }
  // Fails the stream if a bad index was noted. value(at) returns the index at element `at`.
  template <class Value>
  void Report(const JobContext& context, bool raises, const char* name, int64_t low, int64_t below,
              const Value& value) const noexcept {
    const int64_t at = at_.load(std::memory_order_relaxed);
    if (!raises || at == std::numeric_limits<int64_t>::max()) return;
    Text message(context.api, ": ", name);
    message.Add(" has the value ").Add(value(at)).Add(" at element ").Add(at).Add(", accepted: ");
    message.Add(low).Add(" to ").Add(below - 1).Add(".");
    context.Fail(ACL_ERROR_RT_AICORE_EXCEPTION, message);
  }

 private:
  std::atomic<int64_t> at_{std::numeric_limits<int64_t>::max()};
};

}  // namespace portacl::engine
