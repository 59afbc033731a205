// Conversions between stored and computed elements (see load_store.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/load_store.h"

#include <cstring>

#include "engine/move/conversion.h"
#include "engine/tile_size.h"

namespace portacl::engine {
namespace {

template <class Real>
void CopyRealParts(const void* source, void* destination, size_t n) {
  const auto* const from = static_cast<const unsigned char*>(source);
  auto* const to = static_cast<unsigned char*>(destination);
  for (size_t i = 0; i < n; ++i)
    std::memcpy(to + i * sizeof(Real), from + 2 * i * sizeof(Real), sizeof(Real));
}

void RunBoth(const Conversion* first, const Conversion* second, int real_part, const void* source,
             void* destination, size_t n, bool stream) {
  alignas(64) char real_parts[kRawBytes];
  if (real_part != 0) {
    real_part == sizeof(float) ? CopyRealParts<float>(source, real_parts, n)
                               : CopyRealParts<double>(source, real_parts, n);
    source = real_parts;
  }
  if (first == nullptr || second == nullptr) {
    const Conversion& only = *(first != nullptr ? first : second);
    if (only.KeepsBytes()) {
      std::memcpy(destination, source, n * static_cast<size_t>(only.from_size));
    } else {
      only.Run(source, destination, n, stream);
    }
    return;
  }
  alignas(64) char between[kRawBytes];
  first->Run(source, between, n, false);
  second->Run(between, destination, n, stream);
}

}  // namespace

void ElementLoad::Convert(const void* source, void* destination, size_t n) const {
  RunBoth(first_, second_, real_part_, source, destination, n, false);
}

void ElementStore::Convert(const void* source, void* destination, size_t n, bool stream) const {
  RunBoth(first_, second_, real_part_, source, destination, n, stream);
}

}  // namespace portacl::engine
