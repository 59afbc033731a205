// The product of two vectors of integers (see integer_dot.h). Sums modulo 2^n need no particular order.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/integer_dot.h"

#include "engine/buffer_ref.h"

namespace portacl::engine {
namespace {

// Sums modulo 2^32 are also right modulo 2^8.
template <class T>
void Multiply(const char* a, int64_t a_step, const char* b, int64_t b_step, int64_t length, char* to) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < length; ++i) {
    sum += static_cast<uint32_t>(Load<T>(a + i * a_step)) * static_cast<uint32_t>(Load<T>(b + i * b_step));
  }
  Store(to, static_cast<T>(sum));
}

// Constant steps let the compiler vectorise.
template <class T>
void MultiplyAny(const char* a, int64_t a_step, const char* b, int64_t b_step, int64_t length, char* to) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(T));
  if (a_step == kSize && b_step == kSize) return Multiply<T>(a, kSize, b, kSize, length, to);
  Multiply<T>(a, a_step, b, b_step, length, to);
}

}  // namespace

void IntegerDotJob::Run(void* const* addresses, void*) const noexcept {
  const auto at = [&](int i) { return static_cast<char*>(addresses[argument[i]]) + offset[i]; };
  const auto multiply = dtype == ACL_INT32   ? MultiplyAny<int32_t>
                        : dtype == ACL_UINT8 ? MultiplyAny<uint8_t>
                                             : MultiplyAny<int8_t>;
  multiply(at(0), step[0], at(1), step[1], length, at(2));
}

}  // namespace portacl::engine
