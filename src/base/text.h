// Bounded text for messages and names: appends numbers, shapes and dtypes without heap, locale or exceptions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace portacl {

// A message of at most kCapacity - 1 bytes; longer text is cut (CANN cuts messages at 1023 bytes, too).
class Text {
 public:
  static constexpr size_t kCapacity = 1024;

  Text() = default;
  template <class... Parts>
  explicit Text(const Parts&... parts) {
    (Add(parts), ...);
  }

  Text& Add(std::string_view part) noexcept;
  Text& Add(const char* part) noexcept {
    return Add(part == nullptr ? std::string_view("(null)") : std::string_view(part));
  }
  Text& Add(char c) noexcept { return Add(std::string_view(&c, 1)); }
  Text& Add(bool value) noexcept { return Add(value ? "true" : "false"); }
  Text& Add(int value) noexcept { return AddSigned(value); }
  Text& Add(long value) noexcept { return AddSigned(value); }
  Text& Add(long long value) noexcept { return AddSigned(value); }
  Text& Add(unsigned value) noexcept { return AddUnsigned(value); }
  Text& Add(unsigned long value) noexcept { return AddUnsigned(value); }
  Text& Add(unsigned long long value) noexcept { return AddUnsigned(value); }
  Text& Add(float value) noexcept;
  Text& Add(const void* pointer) noexcept;

  std::string_view view() const noexcept { return {buffer_, size_}; }
  const char* c_str() const noexcept { return buffer_; }

 private:
  Text& AddSigned(long long value) noexcept;
  Text& AddUnsigned(unsigned long long value) noexcept;

  size_t size_ = 0;
  char buffer_[kCapacity] = {};
};

}  // namespace portacl
