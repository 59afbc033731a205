// Texts compared with a form: what stands there literally, and places for what differs from run to run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace portacl::testing {

// In the form, % is one digit, # one or more digits, ~ one or more letters, digits, underscores and dots, and * anything
// (or nothing). The form must cover the whole text.
inline bool HasForm(std::string_view text, std::string_view form) {
  if (form.empty()) return text.empty();
  const char place = form.front();
  const std::string_view rest = form.substr(1);
  if (place == '*') {
    for (size_t n = 0; n <= text.size(); ++n) {
      if (HasForm(text.substr(n), rest)) return true;
    }
    return false;
  }
  const auto fits = [place](char c) {
    const bool digit = c >= '0' && c <= '9';
    if (place == '%' || place == '#') return digit;
    if (place == '~')
      return digit || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
    return c == place;
  };
  if (place != '#' && place != '~')
    return !text.empty() && fits(text.front()) && HasForm(text.substr(1), rest);
  for (size_t n = 1; n <= text.size() && fits(text[n - 1]); ++n) {
    if (HasForm(text.substr(n), rest)) return true;
  }
  return false;
}

// The time of messages and log lines.
inline constexpr char kTimeForm[] = "%%%%-%%-%%-%%:%%:%%.%%%.%%%";

}  // namespace portacl::testing
