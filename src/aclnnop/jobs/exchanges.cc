// Exchanges between ranks as ops of a list (see exchanges.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/exchanges.h"

#include <memory>
#include <string_view>

#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl::exchanges {

namespace {

const char* NameIn(const OperatorCall& call, int64_t attribute) noexcept {
  return call.attributes[static_cast<size_t>(attribute)].text;
}
std::shared_ptr<RankGroup> Find(const OperatorCall& call, int64_t attribute) noexcept {
  const char* const name = NameIn(call, attribute);
  return name == nullptr ? nullptr : FindRankGroup(name);
}
constexpr size_t kMostShown = 128;

}  // namespace

aclnnStatus check::GroupGiven(const Check& check, OperatorCall& call) noexcept {
  if (NameIn(call, check.low) != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code,
                   StartMessage(call)
                       .Add("parameter ")
                       .Add(call.attributes[static_cast<size_t>(check.low)].name)
                       .Add(" is a null pointer, expected the name that HcclGetCommName writes."));
}

aclnnStatus check::GroupKnown(const Check& check, OperatorCall& call) noexcept {
  if (Find(call, check.low) != nullptr) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter ")
                                   .Add(call.attributes[static_cast<size_t>(check.low)].name)
                                   .Add(" has the value \"")
                                   .Add(std::string_view(NameIn(call, check.low)).substr(0, kMostShown))
                                   .Add("\", accepted: the name of a communicator of this process, as "
                                        "HcclGetCommName writes it."));
}

int64_t RanksOf(const OperatorCall& call, int attribute) noexcept {
  const std::shared_ptr<RankGroup> found = Find(call, attribute);
  return found == nullptr ? 1 : found->size();
}
int64_t OwnRank(const OperatorCall& call, int attribute) noexcept {
  const std::shared_ptr<RankGroup> found = Find(call, attribute);
  return found == nullptr ? 0 : found->rank();
}

bool Join(const OperatorCall& call, int attribute, int count, Executor& executor, int group) noexcept {
  executor.ranks[group] = Find(call, attribute);
  executor.exchanges[group] = count;
  if (executor.ranks[group] == nullptr) executor.out_of_memory = true;
  return executor.ranks[group] != nullptr;
}

void EqualParts::Run(const JobContext& context) const noexcept {
  auto* const ranges = reinterpret_cast<RankExchange::Range*>(room.Address(context));
  for (int64_t rank = 0; rank < ranks; ++rank) {
    ranges[rank] = {rank * give_step, give};
    ranges[ranks + rank] = {rank * take_step, take};
  }
  RankExchange exchange;
  exchange.group = group;
  exchange.send = send.Address(context);
  exchange.receive = receive.Address(context);
  exchange.give = ranges;
  exchange.take = ranges + ranks;
  context.ranks->Perform(step, exchange);
}

void ListedParts::Run(const JobContext& context) const noexcept {
  const auto* const ranges = reinterpret_cast<const RankExchange::Range*>(list.Address(context));
  RankExchange exchange;
  exchange.send = send.Address(context);
  exchange.receive = receive.Address(context);
  exchange.give = ranges;
  exchange.take = ranges + ranks;
  context.ranks->Perform(step, exchange);
}

void SumOverRanks::Run(const JobContext& context) const noexcept {
  RankExchange exchange;
  exchange.group = group;
  exchange.kind = is_part ? RankExchange::Kind::kSumOfPart : RankExchange::Kind::kSum;
  exchange.send = send.Address(context);
  exchange.receive = receive.Address(context);
  exchange.count = count;
  exchange.dtype = dtype;
  context.ranks->Perform(step, exchange);
}

void Add(dense::DenseOpList& ops, EqualParts parts) {
  parts.room = ops.Bytes(RoomFor(parts.ranks));
  ops.Compute(parts, {parts.send, parts.receive}, parts.give + parts.take);
}
void Add(dense::DenseOpList& ops, const ListedParts& parts) {
  ops.Compute(parts, {parts.send, parts.receive}, 0);
}
void Add(dense::DenseOpList& ops, const SumOverRanks& sum) {
  ops.Compute(sum, {sum.send, sum.receive}, sum.count);
}

}  // namespace portacl::exchanges
