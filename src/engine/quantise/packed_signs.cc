// Signs as bits (see packed_signs.h). Both directions look at the bits of numbers alone, so that no instruction set
// rounds.
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/packed_signs.h"

#include <algorithm>

#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kPiece = int64_t{1} << 13;  // bytes that a thread takes
constexpr int64_t kBits = 8;

// The bits of a float: its sign, its infinity, and 1.
struct Single {
  using Word = uint32_t;
  static constexpr Word kSign = 0x80000000;
  static constexpr Word kInfinity = 0x7F800000;
  static constexpr Word kOne = 0x3F800000;
};
struct Half {
  using Word = uint16_t;
  static constexpr Word kSign = 0x8000;
  static constexpr Word kInfinity = 0x7C00;
  static constexpr Word kOne = 0x3C00;
};

template <class Float>
uint8_t IsAtLeastZero(typename Float::Word word) {
  return static_cast<uint8_t>((word <= Float::kInfinity ? 1 : 0) | (word == Float::kSign ? 1 : 0));
}

template <class Float>
uint8_t ByteOf(const char* numbers, int64_t count) {
  using Word = typename Float::Word;
  uint8_t byte = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto word = Load<Word>(numbers + i * int64_t{sizeof(Word)});
    byte = static_cast<uint8_t>(byte | IsAtLeastZero<Float>(word) << i);
  }
  return byte;
}

template <class Float>
void PackPiece(const char* numbers, int64_t count, int64_t begin, int64_t end, char* bytes) {
  constexpr int64_t kStep = kBits * int64_t{sizeof(typename Float::Word)};
  for (int64_t b = begin; b < end; ++b)
    bytes[b] = static_cast<char>(ByteOf<Float>(numbers + b * kStep, std::min(kBits, count - b * kBits)));
}

template <class Float>
void UnpackPiece(const char* bytes, int64_t begin, int64_t end, char* numbers) {
  using Word = typename Float::Word;
  for (int64_t b = begin; b < end; ++b) {
    const auto byte = static_cast<uint8_t>(bytes[b]);
    for (int64_t i = 0; i < kBits; ++i) {
      const bool is_set = (byte >> i & 1) != 0;
      const auto word = static_cast<Word>(Float::kOne | (is_set ? Word{0} : Float::kSign));
      Store(numbers + (b * kBits + i) * int64_t{sizeof(Word)}, word);
    }
  }
}

template <class Body>
void ForEachPiece(int64_t bytes, int threads, const Body& body) {
  ForEachBlock((bytes + kPiece - 1) / kPiece, threads,
               [&](int64_t piece) { body(piece * kPiece, std::min(bytes, (piece + 1) * kPiece)); });
}

}  // namespace

void PackSigns::Run(const JobContext& context) const noexcept {
  const char* const numbers = from.Address(context);
  char* const bytes = to.Address(context);
  ForEachPiece((count + kBits - 1) / kBits, threads, [&](int64_t begin, int64_t end) {
    if (is_half) return PackPiece<Half>(numbers, count, begin, end, bytes);
    PackPiece<Single>(numbers, count, begin, end, bytes);
  });
}

void UnpackSigns::Run(const JobContext& context) const noexcept {
  const char* const packed = from.Address(context);
  char* const numbers = to.Address(context);
  ForEachPiece(bytes, threads, [&](int64_t begin, int64_t end) {
    if (is_half) return UnpackPiece<Half>(packed, begin, end, numbers);
    UnpackPiece<Single>(packed, begin, end, numbers);
  });
}

}  // namespace portacl::engine
