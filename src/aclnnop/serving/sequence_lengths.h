// Lengths of sequences in the memory of a job.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace portacl::serving {

// Puts the numbers of sequences of queries and then of keys into one array. Returns false if there is no memory.
inline bool JoinLengths(std::span<const int64_t> of_query, std::span<const int64_t> of_key,
                        std::vector<int64_t>* lengths) noexcept {
  try {
    lengths->reserve(of_query.size() + of_key.size());
    lengths->insert(lengths->end(), of_query.begin(), of_query.end());
    lengths->insert(lengths->end(), of_key.begin(), of_key.end());
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace portacl::serving
