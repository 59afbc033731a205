// Loads stored elements as computed ones and stores computed ones, by one function or up to two conversions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "engine/conversions.h"

namespace portacl::engine {

struct Conversion;

// Reads n stored elements, at most a tile, as elements of the computed type. Trivially copyable; its
// conversions outlive it (see ConversionBetween).
class ElementLoad {
 public:
  ElementLoad() = default;
  explicit ElementLoad(LoadFunction load) : load_(load) {}
  // Applies `first`, then `second`; one of them may be nullptr. If `real_part` is not 0, elements are complex
  // numbers and only their first part, which has that many bytes, is converted.
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

// Stores n computed elements, likewise. With `stream`, whole cache lines go past the caches if the conversion
// can.
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
