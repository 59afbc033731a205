// Exchanges of operators as operations of a communicator (see named_ranks.h).
// SPDX-License-Identifier: Apache-2.0
#include "hccl/named_ranks.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "acl/device/device.h"
#include "aclnn/rank_group.h"
#include "hccl/communicator.h"
#include "hccl/operation.h"

namespace portacl::hccl {
namespace {

HcclDataType TypeOf(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT16:
      return HCCL_DATA_TYPE_FP16;
    case ACL_BF16:
      return HCCL_DATA_TYPE_BFP16;
    case ACL_INT32:
      return HCCL_DATA_TYPE_INT32;
    default:
      return HCCL_DATA_TYPE_FP32;
  }
}

Operation OperationOf(uint64_t number, const RankExchange& exchange, size_t ranks) {
  Operation operation;
  operation.number = number;
  operation.send = exchange.send;
  operation.recv = exchange.receive;
  operation.give.resize(ranks);
  operation.take.resize(ranks);
  const auto range = [](const RankExchange::Range& one) {
    return BufferRange{static_cast<uint64_t>(one.bytes), static_cast<uint64_t>(one.first)};
  };
  const auto count = static_cast<uint64_t>(exchange.count);
  switch (exchange.kind) {
    case RankExchange::Kind::kRanges:
      operation.function = Function::kAlltoAllV;
      operation.type = HCCL_DATA_TYPE_UINT8;
      for (size_t rank = 0; rank < ranks; ++rank) {
        operation.give[rank] = range(exchange.give[rank]);
        operation.take[rank] = range(exchange.take[rank]);
      }
      break;
    case RankExchange::Kind::kSum:
      operation.function = Function::kAllReduce;
      operation.type = TypeOf(exchange.dtype);
      operation.op = HCCL_REDUCE_SUM;
      operation.count = count;
      break;
    case RankExchange::Kind::kSumOfPart:
      operation.function = Function::kReduceScatter;
      operation.type = TypeOf(exchange.dtype);
      operation.op = HCCL_REDUCE_SUM;
      for (size_t rank = 0; rank < ranks; ++rank) operation.give[rank] = {count, rank * count};
      break;
  }
  return operation;
}

class NamedRanks final : public RankGroup {
 public:
  explicit NamedRanks(std::shared_ptr<Communicator> communicator) noexcept
      : communicator_(std::move(communicator)) {}

  int rank() const noexcept override { return communicator_->rank(); }
  int size() const noexcept override { return communicator_->size(); }

  Text WhyNot() noexcept override {
    Communicator& one = *communicator_;
    if (!one.IsOfThisProcess()) return Text("the communicator belongs to the process that forked this one.");
    if (one.IsClosing()) return Text("communicator ", one.name().c_str(), " was destroyed.");
    if (one.fault() != HCCL_SUCCESS)
      return Text("communicator ", one.name().c_str(), " is broken: ", one.FaultText().view());
    if (one.is_suspended.load())
      return Text("communicator ", one.name().c_str(), " is suspended until HcclCommResume.");
    return {};
  }
  uint64_t TakeNumbers(int count) noexcept override {
    return communicator_->NextCollective(static_cast<uint64_t>(count));
  }
  aclError Perform(uint64_t number, const RankExchange& exchange, Text* why) noexcept override {
    try {
      const Operation operation = OperationOf(number, exchange, static_cast<size_t>(size()));
      const Fault fault = hccl::Perform(*communicator_, operation);
      if (!fault) return ACL_SUCCESS;
      *why = fault.text;
      return fault.code == HCCL_E_TIMEOUT ? ACL_ERROR_RT_EVENT_SYNC_TIMEOUT
                                          : ACL_ERROR_RT_SUSPECT_REMOTE_ERROR;
    } catch (const std::bad_alloc&) {
      *why = Text("rank ", rank(), ": not enough memory.");
      Break({HCCL_E_OOM, *why});
      return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
  }
  void GiveUp(const Text& why) noexcept override {
    Break({HCCL_E_INTERNAL, Text("rank ", rank(), " of ", size(), ": ", why.view())});
  }
  void Interrupt() noexcept override { communicator_->Interrupt(); }

 private:
  // Ends what the other ranks would wait for in vain.
  void Break(const Fault& fault) noexcept {
    if (!communicator_->Enter()) return;
    communicator_->Break(fault);
    communicator_->Leave();
  }

  const std::shared_ptr<Communicator> communicator_;
};

std::shared_ptr<RankGroup> FindNamed(const char* name) noexcept {
  const Context* const context = CurrentContext();
  std::shared_ptr<Communicator> found =
      FindCommunicatorNamed(name, context == nullptr ? 0 : context->device.load());
  if (found == nullptr) return nullptr;
  try {
    return std::make_shared<NamedRanks>(std::move(found));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

void OfferToOperators() noexcept { find_rank_group.store(FindNamed, std::memory_order_release); }

}  // namespace portacl::hccl
