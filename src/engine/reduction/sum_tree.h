// The tree in which the sums of blocks are added, in the order that docs/numerics.md defines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace portacl::engine {

// Combines the sums of blocks in their order, as a tree that pairs neighbours. Level i holds the last
// complete group of 2^i blocks that waits for its neighbour. A block is `width` adjacent sums.
class SumTree {
 public:
  SumTree(double* levels, int64_t width) : levels_(levels), width_(width) {}

  // Adds the block in sums[0..width), which may be overwritten.
  void Add(double* sums) {
    int level = 0;
    for (int64_t count = count_++; (count & 1) != 0; count >>= 1, ++level) AddOnto(sums, Level(level));
    std::memcpy(Level(level), sums, static_cast<size_t>(width_) * sizeof(double));
  }

  // Returns the sum of all blocks, or +0 without any. An odd group at the end moves up until it finds a
  // neighbour.
  void Finish(double* sums) {
    bool any = false;
    int level = 0;
    for (int64_t count = count_; count != 0; count >>= 1, ++level) {
      if ((count & 1) == 0) continue;
      if (any) {
        AddOnto(sums, Level(level));
      } else {
        std::memcpy(sums, Level(level), static_cast<size_t>(width_) * sizeof(double));
      }
      any = true;
    }
    if (!any) std::fill_n(sums, width_, 0.0);
    count_ = 0;
  }

 private:
  double* Level(int level) { return levels_ + level * width_; }
  // sums = earlier + sums
  void AddOnto(double* sums, const double* earlier) const {
    for (int64_t i = 0; i < width_; ++i) sums[i] = earlier[i] + sums[i];
  }

  double* levels_;
  int64_t width_;
  int64_t count_ = 0;
};

}  // namespace portacl::engine
