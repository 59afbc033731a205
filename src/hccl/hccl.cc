// The functions of hccl/hccl.h: check their arguments and submit an operation to a stream.
// SPDX-License-Identifier: Apache-2.0
#include "hccl/hccl.h"

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "hccl/collective_task.h"
#include "hccl/communicator.h"
#include "hccl/hccl_errors.h"
#include "hccl/operation.h"
#include "hccl/reduce.h"

namespace portacl::hccl {
namespace {

constexpr uint64_t kMostElements = 0x7FFFFFFFF;

// The checks of every call, in this order; the first error is kept.
class Call {
 public:
  Call(Function function, HcclComm comm, aclrtStream stream, HcclDataType type)
      : api_(NameOf(function)), stream_(stream) {
    operation_.function = function;
    operation_.type = type;
    if (comm == nullptr) {
      result_ = RefuseNull(api_, "comm", "a live communicator");
      return;
    }
    communicator_ = FindCommunicator(comm);
    if (communicator_ == nullptr) {
      result_ = RefuseValue(api_, "comm", static_cast<const void*>(comm), "a live communicator");
      return;
    }
    if (stream == nullptr) {
      result_ = RefuseNull(api_, "stream", "a live stream");
    } else if (ElementSize(type) == 0) {
      result_ =
          RefuseValue(api_, "dataType", static_cast<int>(type), "a number of HcclDataType that is a type");
    } else if (!communicator_->IsOfThisProcess()) {
      result_ =
          Fail(HCCL_E_UNAVAIL, Text(api_, ": the communicator belongs to the process that forked this one."));
    } else if (communicator_->fault() != HCCL_SUCCESS) {
      result_ = Fail(communicator_->fault(),
                     Text(api_, ": the communicator is broken: ", communicator_->FaultText().view()));
    } else if (communicator_->is_suspended.load()) {
      result_ = Fail(HCCL_E_SUSPENDING, Text(api_, ": the communicator is suspended until HcclCommResume."));
    }
    operation_.give.resize(static_cast<size_t>(ranks()));
    operation_.take.resize(static_cast<size_t>(ranks()));
  }

  bool IsWrong() const noexcept { return result_ != HCCL_SUCCESS; }
  HcclResult result() const noexcept { return result_; }
  uint32_t ranks() const noexcept { return static_cast<uint32_t>(communicator_->size()); }
  uint32_t me() const noexcept { return static_cast<uint32_t>(communicator_->rank()); }
  Operation& operation() noexcept { return operation_; }

  void Pointer(const char* name, const void* pointer) noexcept {
    if (!IsWrong() && pointer == nullptr) result_ = RefuseNull(api_, name, "the address of elements");
  }
  void Array(const char* name, const void* pointer) noexcept {
    if (!IsWrong() && pointer == nullptr) result_ = RefuseNull(api_, name, "the address of uint64_t numbers");
  }
  void Rank(const char* name, uint32_t rank) noexcept {
    if (!IsWrong() && rank >= ranks()) result_ = RefuseValue(api_, name, rank, "a rank of the communicator");
  }
  void Count(const char* name, uint64_t count) noexcept {
    if (!IsWrong() && count > kMostElements)
      result_ = RefuseValue(api_, name, count, "0 to 0x7FFFFFFFF elements");
  }
  void Reduction(HcclReduceOp op) noexcept {
    operation_.op = op;
    if (IsWrong() || FindReduce(operation_.type, op) != nullptr) return;
    if (FindReduce(HCCL_DATA_TYPE_FP32, op) == nullptr) {
      result_ = RefuseValue(api_, "op", static_cast<int>(op), "HCCL_REDUCE_SUM, PROD, MAX and MIN");
    } else {
      result_ =
          Fail(HCCL_E_NOT_SUPPORT, Text(api_, ": parameter dataType is ", TypeName(operation_.type),
                                        ", accepted: integers to 64 bits, FP16, BFP16, FP32 and FP64."));
    }
  }
  void SameType(HcclDataType other) noexcept {
    if (!IsWrong() && other != operation_.type) {
      result_ = RefuseValue(api_, "recvType", static_cast<int>(other), "the same number as sendType");
    }
  }
  void Apart(const void* send, const void* recv) noexcept {
    if (!IsWrong() && send != nullptr && send == recv) {
      result_ = RefuseValue(api_, "recvBuf", recv, "another buffer than sendBuf");
    }
  }
  void Refuse(const Text& why) noexcept {
    if (!IsWrong()) result_ = Fail(HCCL_E_PARA, Text(api_, ": ", why.view()));
  }

  // Reads the counts and displacements of all ranks as parts of a buffer.
  void Ranges(const char* counts_name, const void* counts, const char* displacements_name,
              const void* displacements, const void* buffer, std::vector<BufferRange>& ranges) noexcept {
    for (uint32_t rank = 0; rank < ranks() && !IsWrong(); ++rank) {
      const uint64_t count = static_cast<const uint64_t*>(counts)[rank];
      const uint64_t first = static_cast<const uint64_t*>(displacements)[rank];
      Count(counts_name, count);
      ranges[rank] = {count, count == 0 ? 0 : first};
      if (count > 0 && !IsAddress(buffer, first, count)) {
        Refuse(Text("parameter ", displacements_name, " has the value ", first, " for rank ", rank,
                    ", accepted: that many elements, and the ", count,
                    " behind them, end where addresses do."));
      }
    }
  }
  // Reads counts alone, for parts that are packed in the order of ranks.
  void PackedRanges(const char* name, const uint64_t* counts, size_t step,
                    std::vector<BufferRange>& ranges) noexcept {
    uint64_t next = 0;
    for (uint32_t rank = 0; rank < ranks() && !IsWrong(); ++rank) {
      const uint64_t count = counts[rank * step];
      Count(name, count);
      ranges[rank] = {count, count == 0 ? 0 : next};
      next += count;
    }
  }

  HcclResult Submit() {
    if (IsWrong()) return result_;
    return Enqueue(api_, std::move(communicator_), std::move(operation_), stream_);
  }
  // Submits sends and receives, or keeps them until the end of their group.
  HcclResult SubmitMessages() {
    if (IsWrong()) return result_;
    return IsInGroup() ? AddToGroup(std::move(communicator_), std::move(operation_), stream_) : Submit();
  }

 private:
  // Tells whether elements [first, first + count) of a buffer have valid addresses.
  bool IsAddress(const void* buffer, uint64_t first, uint64_t count) const noexcept {
    constexpr uint64_t kEnd = uint64_t{1} << 56;  // no address of a process lies beyond
    uint64_t end = 0;
    return !__builtin_add_overflow(first, count, &end) &&
           !__builtin_mul_overflow(end, uint64_t{ElementSize(operation_.type)}, &end) &&
           !__builtin_add_overflow(end, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(buffer)), &end) &&
           end <= kEnd;
  }

  const char* const api_;
  const aclrtStream stream_;
  std::shared_ptr<Communicator> communicator_;
  Operation operation_;
  HcclResult result_ = HCCL_SUCCESS;
};

// Returns a hash of the numbers, never 0. Collisions are improbable.
uint64_t DigestOf(const uint64_t* numbers, size_t count) noexcept {
  uint64_t digest = count;
  for (size_t i = 0; i < count; ++i) {
    digest = (digest ^ numbers[i]) + 0x9E3779B97F4A7C15;
    digest = (digest ^ digest >> 30) * 0xBF58476D1CE4E5B9;
    digest = (digest ^ digest >> 27) * 0x94D049BB133111EB;
    digest ^= digest >> 31;
  }
  return digest == 0 ? 1 : digest;
}

// Runs the body of a function, in which memory may run out anywhere.
template <class Body>
HcclResult Guarded(Function function, Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Fail(HCCL_E_OOM, Text(NameOf(function), ": not enough memory."));
  }
}

bool AreEmpty(const std::vector<BufferRange>& ranges) noexcept {
  for (const BufferRange& range : ranges) {
    if (range.count > 0) return false;
  }
  return true;
}

HcclResult SendOrReceive(bool sends, void* buffer, uint64_t count, HcclDataType type, uint32_t rank,
                         HcclComm comm, aclrtStream stream) noexcept {
  const Function function = sends ? Function::kSend : Function::kRecv;
  if (count == 0) return HCCL_SUCCESS;
  return Guarded(function, [&] {
    Call call(function, comm, stream, type);
    call.Pointer(sends ? "sendBuf" : "recvBuf", buffer);
    if (call.IsWrong()) return call.result();
    call.Rank(sends ? "destRank" : "srcRank", rank);
    call.Count("count", count);
    call.operation().messages.push_back({sends, buffer, count, type, rank, 0});
    return call.SubmitMessages();
  });
}

}  // namespace
}  // namespace portacl::hccl

using namespace portacl;
using namespace portacl::hccl;

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream) {
  if (count == 0) return HCCL_SUCCESS;
  return Guarded(Function::kAllReduce, [&] {
    Call call(Function::kAllReduce, comm, stream, dataType);
    call.Pointer("sendBuf", sendBuf);
    call.Pointer("recvBuf", recvBuf);
    call.Count("count", count);
    call.Reduction(op);
    call.operation().send = sendBuf;
    call.operation().recv = recvBuf;
    call.operation().count = count;
    return call.Submit();
  });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream) {
  if (count == 0) return HCCL_SUCCESS;
  return Guarded(Function::kReduce, [&] {
    Call call(Function::kReduce, comm, stream, dataType);
    call.Pointer("sendBuf", sendBuf);
    if (call.IsWrong()) return call.result();
    call.Rank("root", root);
    if (root == call.me()) call.Pointer("recvBuf", recvBuf);
    call.Count("count", count);
    call.Reduction(op);
    if (call.IsWrong()) return call.result();
    call.operation().send = sendBuf;
    call.operation().recv = recvBuf;
    call.operation().root = root;
    call.operation().give[root] = {count, 0};
    return call.Submit();
  });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream) {
  if (count == 0) return HCCL_SUCCESS;
  return Guarded(Function::kBroadcast, [&] {
    Call call(Function::kBroadcast, comm, stream, dataType);
    call.Pointer("buf", buf);
    if (call.IsWrong()) return call.result();
    call.Rank("root", root);
    call.Count("count", count);
    if (call.IsWrong()) return call.result();
    Operation& operation = call.operation();
    operation.send = operation.recv = buf;
    operation.count = count;
    operation.root = root;
    if (root == call.me()) {
      for (uint32_t rank = 0; rank < call.ranks(); ++rank)
        operation.give[rank] = {rank == root ? 0 : count, 0};
    } else {
      operation.take[root] = {count, 0};
    }
    return call.Submit();
  });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
  if (sendCount == 0) return HCCL_SUCCESS;
  return Guarded(Function::kAllGather, [&] {
    Call call(Function::kAllGather, comm, stream, dataType);
    call.Pointer("sendBuf", sendBuf);
    call.Pointer("recvBuf", recvBuf);
    call.Count("sendCount", sendCount);
    if (call.IsWrong()) return call.result();
    call.operation().send = sendBuf;
    call.operation().recv = recvBuf;
    for (uint32_t rank = 0; rank < call.ranks(); ++rank) {
      call.operation().give[rank] = {sendCount, 0};
      call.operation().take[rank] = {sendCount, rank * sendCount};
    }
    return call.Submit();
  });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
  return Guarded(Function::kAllGatherV, [&] {
    Call call(Function::kAllGatherV, comm, stream, dataType);
    call.Array("recvCounts", recvCounts);
    call.Array("recvDispls", recvDispls);
    call.Count("sendCount", sendCount);
    if (call.IsWrong()) return call.result();
    Operation& operation = call.operation();
    call.Ranges("recvCounts", recvCounts, "recvDispls", recvDispls, recvBuf, operation.take);
    if (sendCount > 0) call.Pointer("sendBuf", sendBuf);
    if (!AreEmpty(operation.take)) call.Pointer("recvBuf", recvBuf);
    if (operation.take[call.me()].count != sendCount)
      call.Refuse(Text("parameter sendCount is not recvCounts of the own rank."));
    operation.send = sendBuf;
    operation.recv = recvBuf;
    for (BufferRange& range : operation.give) range = {sendCount, 0};
    return call.Submit();
  });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                             HcclReduceOp op, HcclComm comm, aclrtStream stream) {
  if (recvCount == 0) return HCCL_SUCCESS;
  return Guarded(Function::kReduceScatter, [&] {
    Call call(Function::kReduceScatter, comm, stream, dataType);
    call.Pointer("sendBuf", sendBuf);
    call.Pointer("recvBuf", recvBuf);
    call.Count("recvCount", recvCount);
    call.Reduction(op);
    if (call.IsWrong()) return call.result();
    call.operation().send = sendBuf;
    call.operation().recv = recvBuf;
    for (uint32_t rank = 0; rank < call.ranks(); ++rank)
      call.operation().give[rank] = {recvCount, rank * recvCount};
    return call.Submit();
  });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
  return Guarded(Function::kReduceScatterV, [&] {
    Call call(Function::kReduceScatterV, comm, stream, dataType);
    call.Array("sendCounts", sendCounts);
    call.Array("sendDispls", sendDispls);
    call.Count("recvCount", recvCount);
    call.Reduction(op);
    if (call.IsWrong()) return call.result();
    Operation& operation = call.operation();
    call.Ranges("sendCounts", sendCounts, "sendDispls", sendDispls, sendBuf, operation.give);
    if (!AreEmpty(operation.give)) call.Pointer("sendBuf", sendBuf);
    if (recvCount > 0) call.Pointer("recvBuf", recvBuf);
    if (operation.give[call.me()].count != recvCount)
      call.Refuse(Text("parameter recvCount is not sendCounts of the own rank."));
    operation.send = sendBuf;
    operation.recv = recvBuf;
    return call.Submit();
  });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream) {
  if (recvCount == 0) return HCCL_SUCCESS;
  return Guarded(Function::kScatter, [&] {
    Call call(Function::kScatter, comm, stream, dataType);
    call.Pointer("recvBuf", recvBuf);
    if (call.IsWrong()) return call.result();
    call.Rank("root", root);
    if (root == call.me()) call.Pointer("sendBuf", sendBuf);
    call.Count("recvCount", recvCount);
    if (call.IsWrong()) return call.result();
    Operation& operation = call.operation();
    operation.send = sendBuf;
    operation.recv = recvBuf;
    operation.root = root;
    operation.take[root] = {recvCount, 0};
    if (root == call.me()) {
      for (uint32_t rank = 0; rank < call.ranks(); ++rank)
        operation.give[rank] = {recvCount, rank * recvCount};
    }
    return call.Submit();
  });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  if (sendCount == 0 && recvCount == 0) return HCCL_SUCCESS;
  return Guarded(Function::kAlltoAll, [&] {
    Call call(Function::kAlltoAll, comm, stream, sendType);
    call.Pointer("sendBuf", sendBuf);
    call.Pointer("recvBuf", recvBuf);
    call.Count("sendCount", sendCount);
    if (sendCount != recvCount)
      call.Refuse(
          Text("parameter recvCount is ", recvCount, ", sendCount is ", sendCount, ", accepted: the same."));
    call.SameType(recvType);
    call.Apart(sendBuf, recvBuf);
    if (call.IsWrong()) return call.result();
    call.operation().send = sendBuf;
    call.operation().recv = const_cast<void*>(recvBuf);
    for (uint32_t rank = 0; rank < call.ranks(); ++rank) {
      call.operation().give[rank] = call.operation().take[rank] = {sendCount, rank * sendCount};
    }
    return call.Submit();
  });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Guarded(Function::kAlltoAllV, [&] {
    Call call(Function::kAlltoAllV, comm, stream, sendType);
    call.Array("sendCounts", sendCounts);
    call.Array("sdispls", sdispls);
    call.Array("recvCounts", recvCounts);
    call.Array("rdispls", rdispls);
    call.SameType(recvType);
    call.Apart(sendBuf, recvBuf);
    if (call.IsWrong()) return call.result();
    Operation& operation = call.operation();
    call.Ranges("sendCounts", sendCounts, "sdispls", sdispls, sendBuf, operation.give);
    call.Ranges("recvCounts", recvCounts, "rdispls", rdispls, recvBuf, operation.take);
    if (!AreEmpty(operation.give)) call.Pointer("sendBuf", sendBuf);
    if (!AreEmpty(operation.take)) call.Pointer("recvBuf", recvBuf);
    if (operation.give[call.me()].count != operation.take[call.me()].count) {
      call.Refuse(Text("sendCounts and recvCounts of the own rank differ."));
    }
    operation.send = sendBuf;
    operation.recv = const_cast<void*>(recvBuf);
    return call.Submit();
  });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                          const void* recvBuf, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
  return Guarded(Function::kAlltoAllVC, [&] {
    Call call(Function::kAlltoAllVC, comm, stream, sendType);
    call.Array("sendCountMatrix", sendCountMatrix);
    call.SameType(recvType);
    call.Apart(sendBuf, recvBuf);
    if (call.IsWrong()) return call.result();
    Operation& operation = call.operation();
    const auto* const matrix = static_cast<const uint64_t*>(sendCountMatrix);
    const size_t ranks = call.ranks();
    for (size_t i = 0; i < ranks * ranks; ++i) call.Count("sendCountMatrix", matrix[i]);
    call.PackedRanges("sendCountMatrix", matrix + call.me() * ranks, 1, operation.give);
    call.PackedRanges("sendCountMatrix", matrix + call.me(), ranks, operation.take);
    operation.matrix = DigestOf(matrix, ranks * ranks);
    if (!AreEmpty(operation.give)) call.Pointer("sendBuf", sendBuf);
    if (!AreEmpty(operation.take)) call.Pointer("recvBuf", recvBuf);
    operation.send = sendBuf;
    operation.recv = const_cast<void*>(recvBuf);
    return call.Submit();
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return Guarded(Function::kBarrier,
                 [&] { return Call(Function::kBarrier, comm, stream, HCCL_DATA_TYPE_UINT8).Submit(); });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
  return SendOrReceive(true, sendBuf, count, dataType, destRank, comm, stream);
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
  return SendOrReceive(false, recvBuf, count, dataType, srcRank, comm, stream);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
  if (itemNum == 0) return HCCL_SUCCESS;
  return Guarded(Function::kBatchSendRecv, [&] {
    Call call(Function::kBatchSendRecv, comm, stream, HCCL_DATA_TYPE_UINT8);
    call.Pointer("sendRecvInfo", sendRecvInfo);
    if (call.IsWrong()) return call.result();
    for (uint32_t i = 0; i < itemNum; ++i) {
      const HcclSendRecvItem& item = sendRecvInfo[i];
      if (item.sendRecvType != HCCL_SEND && item.sendRecvType != HCCL_RECV) {
        call.Refuse(Text("sendRecvInfo[", i, "].sendRecvType has the value ",
                         static_cast<int>(item.sendRecvType), ", accepted: HCCL_SEND and HCCL_RECV."));
      }
      call.Rank("sendRecvInfo[].remoteRank", item.remoteRank);
      call.Count("sendRecvInfo[].count", item.count);
      if (ElementSize(item.dataType) == 0) call.Refuse(Text("sendRecvInfo[", i, "].dataType is no type."));
      if (item.count == 0) continue;
      call.Pointer("sendRecvInfo[].buf", item.buf);
      call.operation().messages.push_back(
          {item.sendRecvType == HCCL_SEND, item.buf, item.count, item.dataType, item.remoteRank, 0});
    }
    if (!call.IsWrong() && call.operation().messages.empty()) return HCCL_SUCCESS;
    return call.SubmitMessages();
  });
}
