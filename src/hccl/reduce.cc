// Reduces elements of several ranks in the order of ranks (see reduce.h).
//
// Plain loops over tiles, since the network is slower than any of them. Each operation rounds once, so that
// no instruction set changes a bit.
// SPDX-License-Identifier: Apache-2.0
#include "hccl/reduce.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/is_nan.h"
#include "engine/isa_in_use.h"

namespace portacl::hccl {
namespace {

constexpr size_t kTile = 2048;  // elements; accumulators stay in the first cache

struct Sum {
  template <class T>
  static T Of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a + b;
    } else {
      using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
      return static_cast<T>(static_cast<Wide>(a) + static_cast<Wide>(b));
    }
  }
};
struct Product {
  template <class T>
  static T Of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return a * b;
    } else {
      using Wide = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    }
  }
};
struct Greatest {
  template <class T>
  static T Of(T a, T b) {
    return b > a || engine::IsNan(b) ? b : a;
  }
};
struct Least {
  template <class T>
  static T Of(T a, T b) {
    return b < a || engine::IsNan(b) ? b : a;
  }
};

template <class Op, class T>
void Reduce(const void* const* inputs, int count, void* out, size_t elements) {
  const DefaultFloatEnvironment environment;
  T sums[kTile];
  for (size_t first = 0; first < elements; first += kTile) {
    const size_t n = std::min(kTile, elements - first);
    std::memcpy(sums, static_cast<const T*>(inputs[0]) + first, n * sizeof(T));
    for (int k = 1; k < count; ++k) {
      const T* const input = static_cast<const T*>(inputs[k]) + first;
      for (size_t i = 0; i < n; ++i) sums[i] = Op::Of(sums[i], input[i]);
    }
    std::memcpy(static_cast<T*>(out) + first, sums, n * sizeof(T));
  }
}

template <class Op, aclDataType kType>
void Reduce16BitFloats(const void* const* inputs, int count, void* out, size_t elements) {
  const DefaultFloatEnvironment environment;
  const engine::LoadFunction load = engine::FindLoad(engine::IsaInUse(), kType, kType);
  const engine::StoreFunction store = engine::FindStore(engine::IsaInUse(), kType);
  float sums[kTile];
  float terms[kTile];
  for (size_t first = 0; first < elements; first += kTile) {
    const size_t n = std::min(kTile, elements - first);
    load(static_cast<const uint16_t*>(inputs[0]) + first, sums, n);
    for (int k = 1; k < count; ++k) {
      load(static_cast<const uint16_t*>(inputs[k]) + first, terms, n);
      for (size_t i = 0; i < n; ++i) sums[i] = Op::Of(sums[i], terms[i]);
    }
    store(sums, static_cast<uint16_t*>(out) + first, n, false);
  }
}

template <class Op>
ReduceFunction FindFor(HcclDataType type) noexcept {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
      return Reduce<Op, int8_t>;
    case HCCL_DATA_TYPE_INT16:
      return Reduce<Op, int16_t>;
    case HCCL_DATA_TYPE_INT32:
      return Reduce<Op, int32_t>;
    case HCCL_DATA_TYPE_INT64:
      return Reduce<Op, int64_t>;
    case HCCL_DATA_TYPE_UINT8:
      return Reduce<Op, uint8_t>;
    case HCCL_DATA_TYPE_UINT16:
      return Reduce<Op, uint16_t>;
    case HCCL_DATA_TYPE_UINT32:
      return Reduce<Op, uint32_t>;
    case HCCL_DATA_TYPE_UINT64:
      return Reduce<Op, uint64_t>;
    case HCCL_DATA_TYPE_FP32:
      return Reduce<Op, float>;
    case HCCL_DATA_TYPE_FP64:
      return Reduce<Op, double>;
    case HCCL_DATA_TYPE_FP16:
      return Reduce16BitFloats<Op, ACL_FLOAT16>;
    case HCCL_DATA_TYPE_BFP16:
      return Reduce16BitFloats<Op, ACL_BF16>;
    default:
      return nullptr;
  }
}

}  // namespace

size_t ElementSize(HcclDataType type) noexcept {
  switch (type) {
    case HCCL_DATA_TYPE_INT8:
    case HCCL_DATA_TYPE_UINT8:
    case HCCL_DATA_TYPE_HIF8:
    case HCCL_DATA_TYPE_FP8E4M3:
    case HCCL_DATA_TYPE_FP8E5M2:
    case HCCL_DATA_TYPE_FP8E8M0:
      return 1;
    case HCCL_DATA_TYPE_INT16:
    case HCCL_DATA_TYPE_UINT16:
    case HCCL_DATA_TYPE_FP16:
    case HCCL_DATA_TYPE_BFP16:
      return 2;
    case HCCL_DATA_TYPE_INT32:
    case HCCL_DATA_TYPE_UINT32:
    case HCCL_DATA_TYPE_FP32:
      return 4;
    case HCCL_DATA_TYPE_INT64:
    case HCCL_DATA_TYPE_UINT64:
    case HCCL_DATA_TYPE_FP64:
      return 8;
    case HCCL_DATA_TYPE_INT128:
      return 16;
    default:
      return 0;
  }
}

const char* TypeName(HcclDataType type) noexcept {
  static constexpr const char* kNames[] = {"INT8",   "INT16",  "INT32",  "FP16",    "FP32",    "INT64",
                                           "UINT64", "UINT8",  "UINT16", "UINT32",  "FP64",    "BFP16",
                                           "INT128", "(none)", "HIF8",   "FP8E4M3", "FP8E5M2", "FP8E8M0"};
  const auto number = static_cast<unsigned>(type);
  return number < std::size(kNames) ? kNames[number] : "(none)";
}

ReduceFunction FindReduce(HcclDataType type, HcclReduceOp op) noexcept {
  switch (op) {
    case HCCL_REDUCE_SUM:
      return FindFor<Sum>(type);
    case HCCL_REDUCE_PROD:
      return FindFor<Product>(type);
    case HCCL_REDUCE_MAX:
      return FindFor<Greatest>(type);
    case HCCL_REDUCE_MIN:
      return FindFor<Least>(type);
    default:
      return nullptr;
  }
}

}  // namespace portacl::hccl
