// Rows that travel to the ranks of their experts (see expert_rows.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/expert_rows.h"

#include <iterator>

namespace portacl::communication {

using engine::BufferRef;

namespace {

int64_t At(const std::vector<int64_t>& numbers, int64_t i) { return numbers[static_cast<size_t>(i)]; }

// Visits the index [rank][expert] of every count, rank by rank or expert by expert.
template <class F>
void ForEach(bool by_rank, int64_t ranks, int64_t experts, const F& f) {
  for (int64_t i = 0; i < ranks * experts; ++i) f(by_rank ? i : i % ranks * experts + i / ranks);
}

}  // namespace

int64_t SumOf(const std::vector<int64_t>& counts) noexcept {
  int64_t sum = 0;
  for (const int64_t count : counts) {
    if (count < 0 || __builtin_add_overflow(sum, count, &sum)) return -1;
  }
  return sum;
}

bool RowsFit(const RowCounts& counts, int64_t ranks, int64_t experts, int64_t bytes, const char* parameter,
             Executor& executor) noexcept {
  constexpr int64_t kMostRows = int64_t{1} << 31;
  constexpr int64_t kMostBytes = int64_t{1} << 48;
  for (const std::vector<int64_t>* const one : {&counts.send, &counts.receive}) {
    if (std::ssize(*one) != ranks * experts) {
      executor.out_of_memory = true;
      return false;
    }
    const int64_t rows = SumOf(*one);
    if (rows <= kMostRows && (rows == 0 || bytes <= kMostBytes / rows)) continue;
    executor.RefuseSize(parameter, rows);
    return false;
  }
  return true;
}

void RowNumbers::Set(const std::vector<int64_t>& send, const std::vector<int64_t>& receive,
                     const std::vector<int64_t>& by_expert, int64_t ranks, int64_t experts, int64_t bytes,
                     bool is_behind) {
  AddRanges(send, receive, ranks, experts, bytes);
  sizes = std::ssize(all);
  for (int64_t expert = 0; expert < experts; ++expert) {
    int64_t rows = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) rows += At(by_expert, rank * experts + expert);
    all.push_back(rows);
  }
  positions = std::ssize(all);
  // begins[rank][expert] is the first row's position in the order that is read.
  std::vector<int64_t> begins(by_expert.size());
  int64_t next = 0;
  ForEach(is_behind, ranks, experts, [&](int64_t i) {
    begins[static_cast<size_t>(i)] = next;
    next += At(by_expert, i);
  });
  ForEach(!is_behind, ranks, experts, [&](int64_t i) {
    for (int64_t row = 0; row < At(by_expert, i); ++row) all.push_back(At(begins, i) + row);
  });
}

int64_t RowNumbers::AddRanges(const std::vector<int64_t>& send, const std::vector<int64_t>& receive,
                              int64_t ranks, int64_t experts, int64_t bytes) {
  const int64_t index = std::ssize(all);
  for (const std::vector<int64_t>* const counts : {&send, &receive}) {
    int64_t first = 0;
    for (int64_t rank = 0; rank < ranks; ++rank) {
      int64_t rows = 0;
      for (int64_t expert = 0; expert < experts; ++expert) rows += At(*counts, rank * experts + expert);
      all.push_back(first);
      all.push_back(rows * bytes);
      first += rows * bytes;
    }
  }
  return index;
}

BufferRef Behind(BufferRef array, int64_t words) noexcept {
  array.offset += words * int64_t{sizeof(int64_t)};
  return array;
}

void TakeInOrder(dense::DenseOpList& ops, BufferRef from, BufferRef to, BufferRef positions, int64_t rows,
                 int64_t bytes) {
  engine::TakeRows taken{};
  taken.source = from;
  taken.to = to;
  taken.entry = {positions, true};
  taken.rows = taken.source_rows = rows;
  taken.bytes = bytes;
  taken.divisor = 1;
  taken.threads = ops.threads();
  ops.Compute(taken, {from, to}, rows * bytes);
}

}  // namespace portacl::communication
