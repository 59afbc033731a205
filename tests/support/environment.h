// Starts the library with chosen environment variables, and restores everything afterwards.
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

// Sets the given variables and unsets all others that the library reads, then initialises. The destructor
// finalises and restores the variables, so that at most one such object is in effect.
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
