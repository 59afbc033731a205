// Options of an operator compiler. There is none here, so that they are only stored for queries
// (acl_op_compiler.h).
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <mutex>
#include <string>

#include "acl/acl_op_compiler.h"
#include "base/errors.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"

namespace portacl {
namespace {

constexpr int kOptions = ACL_OP_DEBUG_OPTION + 1;

struct Options {
  std::mutex mutex;
  std::array<std::string, kOptions> values;

  Options() { values[ACL_OP_JIT_COMPILE] = "disable"; }
};

Options& TheOptions() {
  static NoDestructor<Options> options;
  static const bool guarded = GuardAcrossFork(options->mutex, ForkRank::kCompileOptions);
  (void)guarded;
  return *options;
}

// Returns the option's number, or -1 if it is invalid. The C interface accepts any number.
int NumberOf(aclCompileOpt opt) noexcept {
  int number = 0;
  std::memcpy(&number, &opt, sizeof number);
  return number >= 0 && number < kOptions ? number : -1;
}

aclError FailOption(const char* api, aclCompileOpt opt) noexcept {
  int number = 0;
  std::memcpy(&number, &opt, sizeof number);
  return FailValue(api, "opt", number, "0 to 16", ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
  const char* const api = "aclSetCompileopt";
  const int number = NumberOf(opt);
  if (number < 0) return FailOption(api, opt);
  if (value == nullptr) return FailNullPointer(api, "value", "a text");
  try {
    std::string copy(value);
    Options& options = TheOptions();
    std::lock_guard lock(options.mutex);
    options.values[static_cast<size_t>(number)].swap(copy);
    return ACL_SUCCESS;
  } catch (...) {
    return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text(api, ": not enough memory."));
  }
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
  const int number = NumberOf(opt);
  if (number < 0) {
    FailOption("aclGetCompileoptSize", opt);
    return 0;
  }
  Options& options = TheOptions();
  std::lock_guard lock(options.mutex);
  return options.values[static_cast<size_t>(number)].size() + 1;
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
  const char* const api = "aclGetCompileopt";
  const int number = NumberOf(opt);
  if (number < 0) return FailOption(api, opt);
  if (value == nullptr) return FailNullPointer(api, "value", "room for length bytes");
  Options& options = TheOptions();
  std::lock_guard lock(options.mutex);
  const std::string& kept = options.values[static_cast<size_t>(number)];
  if (length <= kept.size()) {
    return FailValue(api, "length", length, Text(kept.size() + 1, " or more").view(),
                     ACL_ERROR_INVALID_PARAM);
  }
  std::memcpy(value, kept.c_str(), kept.size() + 1);
  return ACL_SUCCESS;
}
