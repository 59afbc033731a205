// System parameters: options that a program sets for the process or for a context, and can read back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

namespace portacl {

// The value of each aclSysParamOpt. None of them has an effect here: results always have the same bits.
class SystemParameters {
 public:
  static constexpr int kCount = 4;
  static constexpr int64_t kNotSet = std::numeric_limits<int64_t>::min();

  void Forget() noexcept {
    for (auto& value : values_) value.store(kNotSet, std::memory_order_relaxed);
  }
  void Set(int option, int64_t value) noexcept { values_[option].store(value, std::memory_order_relaxed); }
  int64_t Get(int option) const noexcept { return values_[option].load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> values_[kCount] = {kNotSet, kNotSet, kNotSet, kNotSet};
};

}  // namespace portacl
