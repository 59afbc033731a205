// XXH64 of bytes that come a block at a time, written from its public description.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>

namespace portacl::record {

// XXH64 by its public description: four lanes of eight bytes.
class Hash {
 public:
  // All blocks but the last must be multiples of 32 bytes.
  void Add(const unsigned char* bytes, std::size_t size) {
    total_ += size;
    for (; size >= 32; bytes += 32, size -= 32) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        lanes_[lane] = Round(lanes_[lane], Word(bytes + 8 * lane));
      }
    }
    std::memcpy(rest_, bytes, size);
    rest_size_ = size;
  }

  // Hashes `times` times 32 bytes and calls beside(bytes) for each. The two chains of operations do not wait
  // for each other.
  template <typename Beside>
  void AddBeside(const unsigned char* bytes, std::size_t times, const Beside& beside) {
    total_ += 32 * times;
    std::uint64_t lanes[4];
    std::copy_n(lanes_, 4, lanes);
    for (; times > 0; --times, bytes += 32) {
      for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = Round(lanes[lane], Word(bytes + 8 * lane));
      beside(bytes);
    }
    std::copy_n(lanes, 4, lanes_);
  }

  std::uint64_t Value() const {
    std::uint64_t hash = kPrime5;
    if (total_ >= 32) {
      hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
             std::rotl(lanes_[3], 18);
      for (const std::uint64_t lane : lanes_) {
        hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
      }
    }
    hash += total_;
    std::size_t at = 0;
    for (; at + 8 <= rest_size_; at += 8) {
      hash = std::rotl(hash ^ Round(0, Word(rest_ + at)), 27) * kPrime1 + kPrime4;
    }
    if (at + 4 <= rest_size_) {
      std::uint32_t word = 0;
      std::memcpy(&word, rest_ + at, sizeof word);
      hash = std::rotl(hash ^ (word * kPrime1), 23) * kPrime2 + kPrime3;
      at += 4;
    }
    for (; at < rest_size_; ++at) {
      hash = std::rotl(hash ^ (rest_[at] * kPrime5), 11) * kPrime1;
    }
    hash = (hash ^ (hash >> 33)) * kPrime2;
    hash = (hash ^ (hash >> 29)) * kPrime3;
    return hash ^ (hash >> 32);
  }

 private:
  static constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
  static constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
  static constexpr std::uint64_t kPrime3 = 0x165667B19E3779F9;
  static constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
  static constexpr std::uint64_t kPrime5 = 0x27D4EB2F165667C5;

  static std::uint64_t Round(std::uint64_t lane, std::uint64_t word) {
    return std::rotl(lane + word * kPrime2, 31) * kPrime1;
  }

  static std::uint64_t Word(const unsigned char* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
  }

  std::uint64_t lanes_[4] = {kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  std::uint64_t total_ = 0;
  unsigned char rest_[32] = {};
  std::size_t rest_size_ = 0;
};

}  // namespace portacl::record
