// Tests for NaN, in code that takes floating-point types and integers alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <type_traits>

namespace portacl::engine {

template <class T>
bool IsNan(T value) noexcept {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

}  // namespace portacl::engine
