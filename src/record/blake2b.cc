// BLAKE2b after RFC 7693 (see blake2b.h).
// SPDX-License-Identifier: Apache-2.0
#include "record/blake2b.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace portacl::record {
namespace {

constexpr size_t kBlock = 128;

constexpr uint64_t kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

constexpr uint8_t kOrder[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

void Mix(uint64_t* v, int a, int b, int c, int d, uint64_t x, uint64_t y) noexcept {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 32);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 24);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 63);
}

void Compress(uint64_t* state, const unsigned char* block, uint64_t counted, bool is_last) noexcept {
  uint64_t m[16];
  std::memcpy(m, block, kBlock);
  uint64_t v[16];
  std::copy_n(state, 8, v);
  std::copy_n(kStart, 8, v + 8);
  v[12] ^= counted;
  if (is_last) v[14] = ~v[14];
  for (int round = 0; round < 12; ++round) {
    const uint8_t* const order = kOrder[round % 10];
    for (int i = 0; i < 4; ++i) {
      Mix(v, i, 4 + i, 8 + i, 12 + i, m[order[2 * i]], m[order[2 * i + 1]]);
    }
    for (int i = 0; i < 4; ++i) {
      Mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[order[8 + 2 * i]], m[order[9 + 2 * i]]);
    }
  }
  for (int i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[8 + i];
}

}  // namespace

ContentHash Blake2b(const void* content, size_t size) noexcept {
  static_assert(std::endian::native == std::endian::little);
  uint64_t state[8];
  std::copy_n(kStart, 8, state);
  ContentHash hash;
  state[0] ^= 0x01010000 ^ hash.size();
  const auto* bytes = static_cast<const unsigned char*>(content);
  uint64_t counted = 0;
  for (; size > kBlock; size -= kBlock, bytes += kBlock) {
    counted += kBlock;
    Compress(state, bytes, counted, /*is_last=*/false);
  }
  unsigned char last[kBlock] = {};
  if (size > 0) std::memcpy(last, bytes, size);
  Compress(state, last, counted + size, /*is_last=*/true);
  std::memcpy(hash.data(), state, hash.size());
  return hash;
}

}  // namespace portacl::record
