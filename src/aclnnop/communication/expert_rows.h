// Rows that travel to the ranks of their experts, or back: their ranges and order, and the ops that move them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "aclnnop/jobs/dense_op_list.h"

namespace portacl::communication {

// Adds up counts. Returns -1 if one is negative or the sum has no number.
int64_t SumOf(const std::vector<int64_t>& counts) noexcept;

// Counts of rows that one rank sends and receives.
struct RowCounts {
  const std::vector<int64_t>& send;
  const std::vector<int64_t>& receive;
};

// Returns false, and lets phase 1 fail, if the counts are not those of so many ranks, which the group may have got since the checks, or if
// their rows of so many bytes need more memory than there is. `parameter` is what the message names.
bool RowsFit(const RowCounts& counts, int64_t ranks, int64_t experts, int64_t bytes, const char* parameter,
             Executor& executor) noexcept;

// The numbers that a job reads: the ranges of the exchange, the number of rows of each expert, and a permutation that
// takes rows from rank-major to expert-major order or back.
struct RowNumbers {
  std::vector<int64_t> all;
  int64_t sizes = 0;  // index of the first
  int64_t positions = 0;

  // `by_expert` are the counts of rows on the rank of the experts, [ranks][experts]. With `is_behind` the permutation
  // gives the rank-major position of each row in expert-major order, else the reverse.
  void Set(const std::vector<int64_t>& send, const std::vector<int64_t>& receive,
           const std::vector<int64_t>& by_expert, int64_t ranks, int64_t experts, int64_t bytes,
           bool is_behind);
  // Adds the ranges of an exchange of rows of so many bytes. Returns the index of the first.
  int64_t AddRanges(const std::vector<int64_t>& send, const std::vector<int64_t>& receive, int64_t ranks,
                    int64_t experts, int64_t bytes);
};

// Returns where the words of an array begin behind the first `words`.
engine::BufferRef Behind(engine::BufferRef array, int64_t words) noexcept;

// Adds an op that copies rows in the order of `positions`, words that name the row of `from` for each of `to`.
void TakeInOrder(dense::DenseOpList& ops, engine::BufferRef from, engine::BufferRef to,
                 engine::BufferRef positions, int64_t rows, int64_t bytes);

}  // namespace portacl::communication
