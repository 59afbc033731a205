// Bounded, locale-free text building (see text.h).
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace portacl {

Text& Text::Add(std::string_view part) noexcept {
  const size_t room = kCapacity - 1 - size_;
  const size_t n = std::min(room, part.size());
  std::memcpy(buffer_ + size_, part.data(), n);
  size_ += n;
  buffer_[size_] = '\0';
  return *this;
}

Text& Text::AddSigned(long long value) noexcept {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return Add(std::string_view(digits, static_cast<size_t>(end - digits)));
}

Text& Text::AddUnsigned(unsigned long long value) noexcept {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return Add(std::string_view(digits, static_cast<size_t>(end - digits)));
}

Text& Text::Add(float value) noexcept {
  char digits[48];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return Add(std::string_view(digits, static_cast<size_t>(end - digits)));
}

Text& Text::Add(const void* pointer) noexcept {
  char digits[20] = {'0', 'x'};
  const auto end =
      std::to_chars(digits + 2, digits + sizeof digits, reinterpret_cast<uintptr_t>(pointer), 16).ptr;
  return Add(std::string_view(digits, static_cast<size_t>(end - digits)));
}

}  // namespace portacl
