// A byte string as a source of decisions: what a fuzzer mutates.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>

namespace portacl::testing {

// Past its end every decision is 0, which therefore always means the ordinary, valid choice.
class ByteReader {
 public:
  ByteReader(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}

  bool AtEnd() const { return at_ == end_; }

  uint8_t Byte() { return at_ == end_ ? uint8_t{0} : *at_++; }

  // A number in [0, bound), bound at most 256.
  int Below(int bound) { return Byte() % bound; }

  // True in one of `bound` cases, never at the end.
  bool OneIn(int bound) { return Below(bound) == bound - 1; }

  uint64_t Bits64() {
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | Byte();
    return bits;
  }

  template <class T, size_t kCount>
  T Pick(const T (&choices)[kCount]) {
    return choices[Below(static_cast<int>(kCount))];
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace portacl::testing
