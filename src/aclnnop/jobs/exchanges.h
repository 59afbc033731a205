// Exchanges between the ranks of a communicator as ops of a list, for operators that name one by its group name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnn/rank_group.h"
#include "aclnnop/jobs/dense_op_list.h"
#include "contract/checks.h"

namespace portacl::exchanges {

namespace check {
aclnnStatus GroupGiven(const Check& check, OperatorCall& call) noexcept;
aclnnStatus GroupKnown(const Check& check, OperatorCall& call) noexcept;
}  // namespace check

// 161001 when the attribute, a group name, is null.
constexpr Check GroupGiven(int attribute) {
  return {.run = check::GroupGiven, .low = attribute, .code = ACLNN_ERR_PARAM_NULLPTR};
}
// 161002 when no communicator of this process has the name.
constexpr Check GroupKnown(int attribute) { return {.run = check::GroupKnown, .low = attribute}; }

// Returns the number of ranks, or this one's, of the communicator that an attribute names; 0 if there is none.
int64_t RanksOf(const OperatorCall& call, int attribute) noexcept;
int64_t OwnRank(const OperatorCall& call, int attribute) noexcept;

// Stores in the executor the communicator that an attribute names, for `count` exchanges; `group` is its index among the
// job's communicators. Returns false, and phase 1 fails, if it was destroyed since the call was checked.
bool Join(const OperatorCall& call, int attribute, int count, Executor& executor, int group = 0) noexcept;
// Returns the number of ranks of a communicator that the executor has.
inline int64_t RanksIn(const Executor& executor, int group = 0) noexcept {
  return executor.ranks[group]->size();
}

// Exchanges ranges of one length with every rank. Lengths and steps are in bytes. The range of rank r begins r steps
// after the buffer's start. With a step of 0 every rank gets the same bytes.
struct EqualParts {
  engine::BufferRef send;
  engine::BufferRef receive;
  engine::BufferRef room;  // RoomFor(ranks) bytes of the workspace
  int64_t ranks;
  int64_t give, give_step;
  int64_t take, take_step;
  int step;  // the number of the exchange in its job
  int group = 0;
  void Run(const JobContext& context) const noexcept;
};
constexpr int64_t RoomFor(int64_t ranks) { return 2 * ranks * int64_t{sizeof(RankExchange::Range)}; }

// Exchanges ranges from a list: pairs (first byte, bytes) that are sent to each rank, then those received from each.
struct ListedParts {
  engine::BufferRef send;
  engine::BufferRef receive;
  engine::BufferRef list;
  int64_t ranks;
  int step;
  void Run(const JobContext& context) const noexcept;
};

// Sums the ranks' elements, in the order of ranks. Each rank gets all sums, or with `is_part` its range of them.
struct SumOverRanks {
  engine::BufferRef send;
  engine::BufferRef receive;
  int64_t count;  // of the result
  aclDataType dtype;
  bool is_part;
  int step;
  int group = 0;
  void Run(const JobContext& context) const noexcept;
};

// Adds the ops to a list.
void Add(dense::DenseOpList& ops, EqualParts parts);  // `room` is found here
void Add(dense::DenseOpList& ops, const ListedParts& parts);
void Add(dense::DenseOpList& ops, const SumOverRanks& sum);

}  // namespace portacl::exchanges
