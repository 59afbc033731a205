// The library started with chosen environment variables, and everything put back afterwards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace portacl::testing {

struct Variable {
  std::string name;
  std::string value;
};

using Variables = std::vector<Variable>;

// Sets exactly the given variables out of those that the library reads (all others are unset), then
// initialises. The destructor finalises and restores the variables, so that at any time at most one such
// object decides.
class ScopedEnvironment {
 public:
  enum class Start { kWithDevice, kWithoutDevice };

  explicit ScopedEnvironment(const Variables& variables, Start start = Start::kWithDevice);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

  aclError init_status() const { return init_status_; }
  aclrtStream stream() const { return stream_; }  // made for this object; null without a device

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> saved_;
  aclError init_status_ = ACL_SUCCESS;
  bool device_set_ = false;
  aclrtStream stream_ = nullptr;
};

}  // namespace portacl::testing
