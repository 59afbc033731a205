// The log: off unless the ASCEND_* log variables ask for it; lines have CANN's envelope.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "acl/acl_base.h"
#include "base/text.h"

namespace portacl {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kNone = 4 };

// The destination of lines and the lowest level; the environment decides it at every aclInit that
// initialises.
struct LogConfiguration {
  LogLevel level = LogLevel::kError;
  bool to_stdout = false;
  // Directory of the log root; empty if files are not requested.
  char directory[256] = {};

  bool operator==(const LogConfiguration&) const = default;
};

LogConfiguration LogConfigurationFromEnvironment() noexcept;
void SetLogConfiguration(const LogConfiguration& configuration) noexcept;

// Tells whether a line of this level would be written; costs one relaxed load.
bool LogEnabled(LogLevel level) noexcept;

// The source position of a message. (Not std::source_location, which clang 14 lacks.)
struct SourceSite {
  const char* file;
  const char* function;
  int line;

  static constexpr SourceSite Current(const char* file = __builtin_FILE(),
                                      const char* function = __builtin_FUNCTION(),
                                      int line = __builtin_LINE()) {
    return {file, function, line};
  }
};

// Writes one line; `status` 0 leaves the errno field out.
void Log(LogLevel level, aclError status, std::string_view message,
         SourceSite site = SourceSite::Current()) noexcept;

// Logs a failing call: one line at level error.
inline void LogFailure(aclError status, std::string_view message, SourceSite site) noexcept {
  if (LogEnabled(LogLevel::kError)) Log(LogLevel::kError, status, message, site);
}

// Returns the local time in the format of log lines and messages: YYYY-MM-DD-HH:MM:SS.mmm.uuu.
Text LogTime() noexcept;

// Names the API that runs on this thread, for the OpName field of log lines. Scopes nest.
class ApiScope {
 public:
  explicit ApiScope(const char* api) noexcept;
  ~ApiScope();
  ApiScope(const ApiScope&) = delete;
  ApiScope& operator=(const ApiScope&) = delete;

 private:
  const char* outer_;
};

// Returns the API named by this thread's innermost scope, or nullptr outside.
const char* CurrentApi() noexcept;

}  // namespace portacl
