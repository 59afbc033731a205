// The tree over a reduction's blocks, for accumulators of any kind (compare sum_tree.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/reduction/reduction_kernels.h"

namespace portacl::engine {

// Level i holds the last complete group of 2^i blocks that waits for its neighbour. A block is `width`
// adjacent accumulators.
class ReductionTree {
 public:
  ReductionTree(const ReductionKernels& kernels, void* levels, int64_t width)
      : kernels_(kernels),
        levels_(static_cast<char*>(levels)),
        width_(static_cast<size_t>(width)),
        bytes_(width_ * kernels.size) {}

  // Adds a block, which may be overwritten.
  void Add(void* block) {
    int level = 0;
    for (int64_t count = count_++; (count & 1) != 0; count >>= 1, ++level)
      kernels_.merge(Level(level), block, width_);
    std::memcpy(Level(level), block, bytes_);
  }

  // Combines all blocks; there is at least one. An odd group at the end moves up until it finds a neighbour.
  void Finish(void* block) {
    bool any = false;
    int level = 0;
    for (int64_t count = count_; count != 0; count >>= 1, ++level) {
      if ((count & 1) == 0) continue;
      if (any) {
        kernels_.merge(Level(level), block, width_);
      } else {
        std::memcpy(block, Level(level), bytes_);
      }
      any = true;
    }
    count_ = 0;
  }

 private:
  char* Level(int level) const { return levels_ + static_cast<size_t>(level) * bytes_; }

  const ReductionKernels& kernels_;
  char* levels_;
  size_t width_;
  size_t bytes_;
  int64_t count_ = 0;
};

}  // namespace portacl::engine
