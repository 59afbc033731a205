// The log: off unless the ASCEND_* log variables ask for it; lines have CANN's envelope.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "acl/acl_base.h"
#include "acl/text.h"

namespace portacl {

enum class LogLevel { kDebug = 0, kInfo = 1, kWarning = 2, kError = 3, kNone = 4 };

// Where lines go and from which level on; decided by the environment at every aclInit that initialises.
struct LogConfiguration {
  LogLevel level = LogLevel::kError;
  bool to_stdout = false;
  // Directory of the log root, empty when nothing asks for files.
  char directory[256] = {};

  bool operator==(const LogConfiguration&) const = default;
};

LogConfiguration LogConfigurationFromEnvironment() noexcept;
void SetLogConfiguration(const LogConfiguration& configuration) noexcept;

// Whether a line of this level would go anywhere; one relaxed load.
bool LogEnabled(LogLevel level) noexcept;

// Where in the sources a message comes from. (Not std::source_location: clang 14 does not have it.)
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

// A failing call: one line at level error.
inline void LogFailure(aclError status, std::string_view message, SourceSite site) noexcept {
  if (LogEnabled(LogLevel::kError)) Log(LogLevel::kError, status, message, site);
}

// The local time as log lines and messages print it: YYYY-MM-DD-HH:MM:SS.mmm.uuu.
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

// The API named by the innermost scope of this thread, nullptr outside.
const char* CurrentApi() noexcept;

}  // namespace portacl
