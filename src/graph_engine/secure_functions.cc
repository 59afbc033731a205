// Functions of the C standard's Annex K under CANN's names. They write no more than there is room for, and
// report what did not fit.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace {

constexpr size_t kMostBytes = 0x7fffffff;  // larger sizes are treated as errors

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's.
extern "C" {

int strcpy_s(char* to, size_t room, const char* from);
int vsnprintf_s(char* to, size_t room, size_t count, const char* format, std::va_list arguments);
int snprintf_s(char* to, size_t room, size_t count, const char* format, ...);

int strcpy_s(char* to, size_t room, const char* from) {
  if (to == nullptr || room == 0 || room > kMostBytes) return EINVAL;
  if (from == nullptr) {
    to[0] = '\0';
    return EINVAL;
  }
  const size_t length = std::strlen(from);
  if (length >= room) {
    to[0] = '\0';
    return ERANGE;
  }
  std::memmove(to, from, length + 1);
  return 0;
}

// Writes at most `count` characters. Returns -1 when the text is longer than that, or than the room.
int vsnprintf_s(char* to, size_t room, size_t count, const char* format, std::va_list arguments) {
  if (to == nullptr || room == 0 || room > kMostBytes) return -1;
  to[0] = '\0';
  if (format == nullptr) return -1;
  const size_t most = count < room ? count + 1 : room;
  const int length = std::vsnprintf(to, most, format, arguments);
  if (length < 0) to[0] = '\0';
  if (length >= 0 && static_cast<size_t>(length) < most) return length;
  if (count >= room) to[0] = '\0';  // a text that does not fit is cut only if the caller asked for it
  return -1;
}

int snprintf_s(char* to, size_t room, size_t count, const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf_s(to, room, count, format, arguments);
  va_end(arguments);
  return length;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
