// Tensors of the tests of quantised products: views over memory of their own, of elements of 4 bits too. Operators see it beside a guard page.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "product_calls.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {

// A tensor over memory of its own. Strides are in elements. From Make to Fetch `bytes` lie beside a guard page.
struct HeldView {
  Shape shape;
  std::vector<int64_t> strides;
  DtypeNumber dtype = ACL_FLOAT16;
  int64_t offset = 0;
  aclFormat format = ACL_FORMAT_ND;
  std::vector<unsigned char> bytes = {};
  bool null = false;
  Shape storage_shape = {};       // what storage is said to be; empty: one dim
  int64_t storage_elements = -1;  // as many as it is said to have; -1: as `bytes` hold
  Guard guard = Guard::kEnd;
  std::shared_ptr<GuardedBuffer> memory = nullptr;

  aclTensor* Make() {
    if (null) return nullptr;
    memory = std::make_shared<GuardedBuffer>(bytes.size(), guard);
    if (!bytes.empty()) std::memcpy(memory->data(), bytes.data(), bytes.size());
    const int64_t bits = ElementSize(dtype) == 0 ? 4 : 8 * ElementSize(dtype);
    int64_t storage = static_cast<int64_t>(bytes.size()) * 8 / bits;
    if (storage_elements >= 0) storage = storage_elements;
    const bool is_one = storage_shape.empty();
    return aclCreateTensor(shape.data(), shape.size(), static_cast<aclDataType>(dtype), strides.data(),
                           offset, format, is_one ? &storage : storage_shape.data(),
                           is_one ? 1 : storage_shape.size(), memory->device());
  }
  void Fetch() {
    if (memory == nullptr) return;
    if (!bytes.empty()) std::memcpy(bytes.data(), memory->data(), bytes.size());
    memory.reset();
  }
};

inline std::vector<int64_t> Dense(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

inline HeldView Numbers(const Shape& shape, DtypeNumber dtype, bool is_transposed = false) {
  HeldView view{shape, Dense(shape), dtype};
  if (is_transposed && shape.size() == 2) view.strides = {1, shape[0]};
  view.bytes.resize(static_cast<size_t>(NumElements(shape) * ElementSize(dtype)));
  return view;
}
inline float NumberAt(const HeldView& view, const Index& index) {
  int64_t place = view.offset;
  for (size_t i = 0; i < index.size(); ++i) place += index[i] * view.strides[i];
  return static_cast<float>(DecodeReal(view.dtype, view.bytes.data() + place * ElementSize(view.dtype)));
}
inline void Fill(HeldView& view, RandomNumbers& random, double scale) {
  const int64_t size = ElementSize(view.dtype);
  for (size_t i = 0; i < view.bytes.size() / static_cast<size_t>(size); ++i)
    EncodeElement(view.dtype, scale * static_cast<double>(random.Between(-4000, 4000)) / 1111,
                  view.bytes.data() + i * static_cast<size_t>(size));
}

enum class Packing { kInt8, kInt4, kWords };

}  // namespace portacl::testing
