// Runs jobs on 64-bit integers (see integer_distance.h). Arithmetic is unsigned wherever a result may wrap.
// SPDX-License-Identifier: Apache-2.0
#include "engine/reduction/integer_distance.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/map/tiles.h"
#include "engine/parallel.h"
#include "engine/strided.h"

namespace portacl::engine {
namespace {

constexpr int64_t kBlock = 16384;
constexpr int64_t kMaxElement = 16;  // complex128

template <class T>
void Load(const void* source, int64_t* destination, size_t n) {
  const auto* from = static_cast<const unsigned char*>(source);
  for (size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    destination[i] = static_cast<int64_t>(value);
  }
}

// Loads bools, whose memory may hold any byte.
void LoadBool(const void* source, int64_t* destination, size_t n) {
  const auto* from = static_cast<const unsigned char*>(source);
  for (size_t i = 0; i < n; ++i) destination[i] = from[i] != 0 ? 1 : 0;
}

// Stores the low bits for integers of 8 to 64 bits, and rounds once for f32 and f64.
template <class T, int kParts = 1>
void Store(const int64_t* source, void* destination, size_t n) {
  auto* to = static_cast<unsigned char*>(destination);
  for (size_t i = 0; i < n; ++i) {
    const T parts[2] = {static_cast<T>(source[i]), T{0}};
    std::memcpy(to + i * sizeof(T) * kParts, parts, sizeof(T) * kParts);
  }
}

// Converts through a float32 that already has the 16-bit type's value, so that the second conversion is
// exact.
template <aclDataType kDtype>
void StoreHalf(const int64_t* source, void* destination, size_t n) {
  const LoadFunction round = FindLoad(Isa::kPortable, ACL_INT64, kDtype);
  const StoreFunction narrow = FindStore(Isa::kPortable, kDtype);
  float rounded[kTile];
  for (size_t done = 0; done < n;) {
    const size_t m = std::min(n - done, static_cast<size_t>(kTile));
    round(source + done, rounded, m);
    narrow(rounded, static_cast<char*>(destination) + done * sizeof(uint16_t), m, false);
    done += m;
  }
}

uint64_t Distance(int64_t a, int64_t b) {
  const uint64_t difference = static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  return static_cast<int64_t>(difference) < 0 ? 0 - difference : difference;
}

// Calls visit(values, cursor, n) with the distances of a block, tile by tile.
template <class Visit>
void ForEachTile(const IntegerDistanceJob& job, char* const* base, int64_t begin, int64_t end,
                 const Visit& visit) {
  alignas(64) unsigned char raw[kTile * sizeof(int64_t)];
  alignas(64) int64_t values[2][kTile];
  Cursor cursor(job.plan, base, begin);
  for (int64_t position = begin; position < end;) {
    const int64_t n = std::min(end - position, int64_t{kTile});
    for (int k = 0; k < 2; ++k) {
      const int32_t size = job.plan.operand[k].element_size;
      ForEachDenseRange(job.plan, k, cursor, n,
                        [&](const char* address, int64_t stride, int64_t done, int64_t length) {
                          Gather(address, stride, size, raw + done * size, length);
                        });
      job.load[k](raw, values[k], static_cast<size_t>(n));
    }
    for (int64_t i = 0; i < n; ++i) {
      values[0][i] = static_cast<int64_t>(Distance(values[0][i], values[1][i]));
    }
    visit(values[0], cursor, n);
    position += n;
    cursor.Skip(n);
  }
}

}  // namespace

IntegerLoadFunction FindIntegerLoad(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_INT8:
      return Load<int8_t>;
    case ACL_UINT8:
      return Load<uint8_t>;
    case ACL_INT16:
      return Load<int16_t>;
    case ACL_INT32:
      return Load<int32_t>;
    case ACL_INT64:
      return Load<int64_t>;
    case ACL_BOOL:
      return LoadBool;
    default:
      return nullptr;
  }
}

IntegerStoreFunction FindIntegerStore(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_INT8:
    case ACL_UINT8:
      return Store<uint8_t>;
    case ACL_INT16:
    case ACL_UINT16:
      return Store<uint16_t>;
    case ACL_INT32:
    case ACL_UINT32:
      return Store<uint32_t>;
    case ACL_INT64:
    case ACL_UINT64:
      return Store<uint64_t>;
    case ACL_FLOAT:
      return Store<float>;
    case ACL_FLOAT16:
      return StoreHalf<ACL_FLOAT16>;
    case ACL_BF16:
      return StoreHalf<ACL_BF16>;
    case ACL_DOUBLE:
      return Store<double>;
    case ACL_COMPLEX64:
      return Store<float, 2>;
    case ACL_COMPLEX128:
      return Store<double, 2>;
    default:
      return nullptr;
  }
}

void IntegerDistanceJob::Run(void* const* addresses, void*) const noexcept {
  char* base[kMaxLoopOperands];
  for (int k = 0; k < plan.operand_count; ++k) {
    base[k] = static_cast<char*>(addresses[k < 2 ? argument[k] : output_argument]) + plan.operand[k].offset;
  }
  const int64_t blocks = (plan.count + kBlock - 1) / kBlock;
  std::atomic<uint64_t> sum{0};
  ForEachBlock(blocks, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    const int64_t begin = block * kBlock;
    const int64_t end = std::min(plan.count, begin + kBlock);
    if (summed) {
      uint64_t part = 0;
      ForEachTile(*this, base, begin, end, [&](const int64_t* values, const Cursor&, int64_t n) {
        for (int64_t i = 0; i < n; ++i) part += static_cast<uint64_t>(values[i]);
      });
      sum.fetch_add(part, std::memory_order_relaxed);
      return;
    }
    ForEachTile(*this, base, begin, end, [&](const int64_t* values, const Cursor& cursor, int64_t n) {
      alignas(64) char cast[kTile * kMaxElement];
      const int32_t size = plan.operand[2].element_size;
      store(values, cast, static_cast<size_t>(n));
      ForEachDenseRange(plan, 2, cursor, n, [&](char* address, int64_t stride, int64_t done, int64_t length) {
        Scatter(cast + done * size, address, stride, size, length);
      });
    });
  });
  if (!summed) return;
  const DefaultFloatEnvironment environment;
  const auto total = static_cast<int64_t>(sum.load(std::memory_order_relaxed));
  store(&total, static_cast<char*>(addresses[output_argument]) + sum_offset, 1);
}

}  // namespace portacl::engine
