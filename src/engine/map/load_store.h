// How stored elements become those that are computed, and computed ones stored: one function, or up to two conversions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "engine/conversions.h"

namespace portacl::engine {

struct Conversion;

// Reads n stored elements, at most a tile of them, as the type that is computed in. Trivially copyable; a conversion that
// it names outlives it (see ConversionBetween).
class ElementLoad {
 public:
  ElementLoad() = default;
  explicit ElementLoad(LoadFunction load) : load_(load) {}
  // First the one, then the other; either may be nullptr, not both. Where `real_part` is not 0, elements are complex numbers
  // and the first of their two parts, of so many bytes, is what is converted.
  ElementLoad(const Conversion* first, const Conversion* second, int real_part)
      : first_(first), second_(second), real_part_(real_part) {}

  void operator()(const void* source, void* destination, size_t n) const {
    if (load_ != nullptr) return load_(source, static_cast<float*>(destination), n);
    Convert(source, destination, n);
  }

 private:
  void Convert(const void* source, void* destination, size_t n) const;

  LoadFunction load_ = nullptr;
  const Conversion* first_ = nullptr;
  const Conversion* second_ = nullptr;
  int real_part_ = 0;
};

// Stores n computed elements, likewise; with `stream`, whole cache lines go past the caches where the conversion can.
class ElementStore {
 public:
  ElementStore() = default;
  explicit ElementStore(StoreFunction store) : store_(store) {}
  ElementStore(const Conversion* first, const Conversion* second, int real_part)
      : first_(first), second_(second), real_part_(real_part) {}

  void operator()(const void* source, void* destination, size_t n, bool stream) const {
    if (store_ != nullptr) return store_(static_cast<const float*>(source), destination, n, stream);
    Convert(source, destination, n, stream);
  }

 private:
  void Convert(const void* source, void* destination, size_t n, bool stream) const;

  StoreFunction store_ = nullptr;
  const Conversion* first_ = nullptr;
  const Conversion* second_ = nullptr;
  int real_part_ = 0;
};

}  // namespace portacl::engine
