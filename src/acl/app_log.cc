// Log lines that a program adds.
// SPDX-License-Identifier: Apache-2.0
#include <cstdarg>
#include <cstdio>

#include "acl/acl_base.h"
#include "base/log.h"

using namespace portacl;

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt,
               ...) {
  if (fmt == nullptr || logLevel < ACL_DEBUG || logLevel > ACL_ERROR) return;
  const auto level = static_cast<LogLevel>(logLevel);
  if (!LogEnabled(level)) return;
  char message[Text::kCapacity];
  va_list arguments;
  va_start(arguments, fmt);
  vsnprintf(message, sizeof message, fmt, arguments);
  va_end(arguments);
  Log(level, ACL_SUCCESS, message,
      {file == nullptr ? "" : file, func == nullptr ? "" : func, static_cast<int>(line)});
}
