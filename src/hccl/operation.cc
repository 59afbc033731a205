// Moves the bytes of each operation, and reduces elements in the order of ranks (see operation.h).
//
// Reductions: one rank is the root of each element. It receives the element from all others, reduces, and
// sends the result to those that want it. As many bytes travel as in a ring, but the order is that of ranks.
// Small data is sent to all at once, and each rank reduces everything: one step, in the same order.
// SPDX-License-Identifier: Apache-2.0
#include "hccl/operation.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <new>
#include <vector>

#include "hccl/reduce.h"
#include "hccl/round.h"

namespace portacl::hccl {
namespace {

// The chunk that a root reduces at a time, while the next ones are in flight. Smaller chunks would overlap
// more, but each costs three messages and several thread switches in Gloo.
constexpr size_t kChunk = size_t{1} << 20;
constexpr size_t kChunksInFlight = 4;

const char* At(const void* buffer, uint64_t element, size_t size) noexcept {
  return static_cast<const char*>(buffer) + element * size;
}
char* At(void* buffer, uint64_t element, size_t size) noexcept {
  return static_cast<char*>(buffer) + element * size;
}

bool Overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) noexcept {
  const std::less<const char*> before;
  const auto* const first = static_cast<const char*>(a);
  const auto* const second = static_cast<const char*>(b);
  return a_bytes > 0 && b_bytes > 0 && before(first, second + b_bytes) && before(second, first + a_bytes);
}

// Whether data for ranks other than `me` lies where the data of another rank, or this rank's own part, is
// written.
bool AreGivenOverwritten(const Operation& operation, size_t me, size_t size, bool own_is_put) noexcept {
  uint64_t begin = ~uint64_t{0};
  uint64_t end = 0;
  for (size_t rank = 0; rank < operation.give.size(); ++rank) {
    const Part& give = operation.give[rank];
    if (give.count == 0 || (rank == me && !own_is_put)) continue;
    begin = std::min(begin, give.first);
    end = std::max(end, give.first + give.count);
  }
  for (size_t rank = 0; rank < operation.take.size(); ++rank) {
    const Part& take = operation.take[rank];
    if (rank == me && !own_is_put) continue;
    if (begin < end && Overlap(At(operation.send, begin, size), (end - begin) * size,
                               At(operation.recv, take.first, size), take.count * size)) {
      return true;
    }
  }
  return false;
}

class Performance {
 public:
  Performance(Communicator& communicator, const Operation& operation)
      : operation_(operation),
        round_(communicator, NameOf(operation.function)),
        ranks_(communicator.size()),
        me_(communicator.rank()),
        size_(ElementSize(operation.type)) {}

  void Run() {
    switch (operation_.function) {
      case Function::kAllReduce:
        StageIfPartlyOverwritten();
        if (ranks_ == 2 && operation_.count * size_ > kWithHandshake) return ReduceBothHere();
        return operation_.count * size_ <= kWithHandshake ? ReduceEverywhere()
                                                          : ReduceByRoots(EqualBlocks(), true);
      case Function::kReduce:
      case Function::kReduceScatter:
      case Function::kReduceScatterV:
        return ReduceByRoots(operation_.give, false);
      case Function::kBroadcast:
        return ranks_ > 2 && operation_.count * size_ > kWithHandshake ? BroadcastByParts() : Direct();
      case Function::kSend:
      case Function::kRecv:
      case Function::kBatchSendRecv:
        return Messages();
      default:
        return Direct();
    }
  }

 private:
  // Copies the input if it partly overlaps the output: an all-reduce reads and writes chunk by chunk.
  void StageIfPartlyOverwritten() {
    const size_t bytes = operation_.count * size_;
    if (operation_.send == operation_.recv || !Overlap(operation_.send, bytes, operation_.recv, bytes))
      return;
    send_ = round_.Room(bytes);
    std::memcpy(const_cast<void*>(send_), operation_.send, bytes);
  }

  uint64_t HandshakeSlot() const noexcept { return Slot(SlotKind::kHandshake, operation_.number); }
  uint64_t PartSlot(uint64_t part, size_t bytes) const noexcept {
    return Slot(SlotKind::kCollective, operation_.number, part, bytes);
  }
  Handshake HandshakeWith(uint64_t give, uint64_t take) const noexcept {
    return {static_cast<uint32_t>(operation_.function),
            static_cast<uint32_t>(operation_.type),
            static_cast<uint32_t>(operation_.op),
            operation_.root,
            give,
            take,
            operation_.matrix};
  }

  // Posts the handshakes with small data; gives[p] goes to rank p if it exists.
  void PostHandshakes(const std::vector<Part>& give, const std::vector<Part>& take, const void* send) {
    round_.ReceiveHandshakes(operation_.number);
    for (int step = 1; step < ranks_; ++step) {
      // Each rank starts with a different one.
      const int other = (me_ + step) % ranks_;
      const Part& part = give[static_cast<size_t>(other)];
      round_.SendHandshake(
          other, HandshakeSlot(), HandshakeWith(part.count, take[static_cast<size_t>(other)].count),
          send == nullptr ? nullptr : At(send, part.first, size_), send == nullptr ? 0 : part.count * size_);
    }
  }
  void AcceptHandshake(int other, const Part& give, const Part& take, void* data) {
    round_.AcceptHandshake(other, HandshakeWith(take.count, give.count), data,
                           data == nullptr ? 0 : take.count * size_);
  }

  // Copies a rank's own part to its destination.
  void CopyOwn(const Part& give, const Part& take) {
    if (give.count == 0) return;
    const char* const from = At(operation_.send, give.first, size_);
    char* const to = At(operation_.recv, take.first, size_);
    if (from != to) std::memmove(to, from, give.count * size_);
  }

  // Sends every part directly to its destination.
  void Direct() {
    const void* send = operation_.send;
    uint64_t sent = 0;
    for (const Part& part : operation_.give) sent = std::max(sent, part.first + part.count);
    const Part& own = operation_.give[static_cast<size_t>(me_)];
    const Part& own_position = operation_.take[static_cast<size_t>(me_)];
    const bool in_place =
        own.count > 0 && At(send, own.first, size_) == At(operation_.recv, own_position.first, size_);
    if (AreGivenOverwritten(operation_, static_cast<size_t>(me_), size_, !in_place)) {
      void* const copy = round_.Room(sent * size_);
      std::memcpy(copy, send, sent * size_);
      if (own.count > 0) {
        std::memcpy(At(operation_.recv, own_position.first, size_), At(copy, own.first, size_),
                    own.count * size_);
      }
      send = copy;
    } else {
      CopyOwn(own, own_position);
    }
    PostHandshakes(operation_.give, operation_.take, send);
    for (int step = 1; step < ranks_; ++step) {
      const int to = (me_ + step) % ranks_;
      const int from = (me_ + ranks_ - step) % ranks_;
      const Part& take = operation_.take[static_cast<size_t>(from)];
      const Part& give = operation_.give[static_cast<size_t>(to)];
      if (take.count * size_ > kWithHandshake) {
        round_.Receive(from, PartSlot(0, take.count * size_), At(operation_.recv, take.first, size_),
                       take.count * size_);
      }
      if (give.count * size_ > kWithHandshake) {
        round_.Send(to, PartSlot(0, give.count * size_), At(send, give.first, size_), give.count * size_);
      }
    }
    for (int other = 0; other < ranks_; ++other) {
      if (other == me_) continue;
      const Part& take = operation_.take[static_cast<size_t>(other)];
      char scarcely = 0;  // address of empty parts
      AcceptHandshake(other, operation_.give[static_cast<size_t>(other)], take,
                      take.count == 0 ? &scarcely : At(operation_.recv, take.first, size_));
    }
    round_.WaitForAll();
  }

  // Small data: all ranks send to all, and each reduces everything.
  void ReduceEverywhere() {
    const Part all = {operation_.count, 0};
    const std::vector<Part> parts(static_cast<size_t>(ranks_), all);
    PostHandshakes(parts, parts, send_);
    const size_t bytes = operation_.count * size_;
    std::vector<const void*> inputs(static_cast<size_t>(ranks_));
    char* const came = static_cast<char*>(round_.Room(bytes * static_cast<size_t>(ranks_)));
    for (int other = 0; other < ranks_; ++other) {
      char* const slot_begin = came + bytes * static_cast<size_t>(other);
      inputs[static_cast<size_t>(other)] = other == me_ ? send_ : slot_begin;
      if (other != me_) AcceptHandshake(other, all, all, slot_begin);
    }
    FindReduce(operation_.type, operation_.op)(inputs.data(), ranks_, operation_.recv, operation_.count);
    round_.WaitForAll();
  }

  // Two ranks: each receives all of the other's data and reduces everything. No more bytes travel than to
  // roots and back, in one step.
  void ReduceBothHere() {
    const int other = 1 - me_;
    const Part all = {operation_.count, 0};
    const std::vector<Part> parts(2, all);
    const uint64_t chunk = kChunk / size_;
    const uint64_t chunks = (operation_.count + chunk - 1) / chunk;
    const auto count_of = [&](uint64_t i) { return std::min(chunk, operation_.count - i * chunk); };
    PostHandshakes(parts, parts, nullptr);
    const size_t room = chunk * size_;
    char* const came = static_cast<char*>(round_.Room(room * std::min<uint64_t>(chunks, kChunksInFlight)));
    size_t coming[kChunksInFlight];
    std::vector<size_t> going(chunks);
    const auto ask = [&](uint64_t i) {
      const size_t bytes = count_of(i) * size_;
      coming[i % kChunksInFlight] =
          round_.Receive(other, PartSlot(i, bytes), came + room * (i % kChunksInFlight), bytes);
    };
    for (uint64_t i = 0; i < std::min<uint64_t>(chunks, kChunksInFlight); ++i) ask(i);
    for (uint64_t i = 0; i < chunks; ++i) {
      going[i] = round_.Send(other, PartSlot(i, count_of(i) * size_), At(send_, i * chunk, size_),
                             count_of(i) * size_);
    }
    AcceptHandshake(other, all, all, nullptr);
    const ReduceFunction reduce = FindReduce(operation_.type, operation_.op);
    for (uint64_t i = 0; i < chunks; ++i) {
      round_.Wait(coming[i % kChunksInFlight]);
      round_.Wait(going[i]);  // in place, the result overwrites the data that is sent
      const void* const here = At(send_, i * chunk, size_);
      const void* const there = came + room * (i % kChunksInFlight);
      const void* const inputs[] = {me_ == 0 ? here : there, me_ == 0 ? there : here};
      reduce(inputs, 2, At(operation_.recv, i * chunk, size_), count_of(i));
      if (i + kChunksInFlight < chunks) ask(i + kChunksInFlight);
    }
    round_.WaitForAll();
  }

  // Divides the elements evenly among ranks, by default.
  std::vector<Part> EqualBlocks() const {
    std::vector<Part> blocks(static_cast<size_t>(ranks_));
    const auto ranks = static_cast<uint64_t>(ranks_);
    // Blocks are whole cache lines, so that no two chunks share one.
    const uint64_t line = std::max<uint64_t>(64 / size_, 1);
    const uint64_t lines = (operation_.count + line - 1) / line;
    uint64_t first = 0;
    for (uint64_t root = 0; root < ranks; ++root) {
      const uint64_t end = std::min((lines * (root + 1) / ranks) * line, operation_.count);
      blocks[root] = {end - first, first};
      first = end;
    }
    return blocks;
  }

  // A block is sent and reduced chunk by chunk.
  uint64_t ChunkLength() const { return kChunk / size_; }
  uint64_t ChunksOf(const Part& block) const { return (block.count + ChunkLength() - 1) / ChunkLength(); }
  Part ChunkOf(const Part& block, uint64_t i) const {
    return Part{std::min(ChunkLength(), block.count - i * ChunkLength()), block.first + i * ChunkLength()};
  }

  // Numbers parts by root and chunk, separately for the way to the root and back.
  static uint64_t PartNumber(size_t root, uint64_t i, bool back) {
    return uint64_t{root} << 40 | i << 1 | (back ? 1 : 0);
  }

  // Asks each root for the results of its block.
  void ReceiveFromRoots(const std::vector<Part>& blocks) {
    for (int step = 1; step < ranks_; ++step) {
      const int root = (me_ + step) % ranks_;
      const Part& block = blocks[static_cast<size_t>(root)];
      for (uint64_t i = 0; i < ChunksOf(block); ++i) {
        const Part one = ChunkOf(block, i);
        round_.Receive(root, PartSlot(PartNumber(static_cast<size_t>(root), i, true), one.count * size_),
                       At(operation_.recv, one.first, size_), one.count * size_);
      }
    }
  }

  // Sends a chunk to each root in turn, so that all of them have work from the beginning.
  void SendToRoots(const std::vector<Part>& blocks, const void* send) {
    uint64_t most = 0;
    for (const Part& block : blocks) most = std::max(most, ChunksOf(block));
    for (uint64_t i = 0; i < most; ++i) {
      for (int step = 1; step < ranks_; ++step) {
        const int root = (me_ + step) % ranks_;
        const Part& block = blocks[static_cast<size_t>(root)];
        if (i >= ChunksOf(block)) continue;
        const Part one = ChunkOf(block, i);
        round_.Send(root, PartSlot(PartNumber(static_cast<size_t>(root), i, false), one.count * size_),
                    At(send, one.first, size_), one.count * size_);
      }
    }
  }

  // Sends block p of every rank to rank p, chunk by chunk. With `everywhere` its result goes to all ranks.
  void ReduceByRoots(const std::vector<Part>& blocks, bool everywhere) {
    const auto me = static_cast<size_t>(me_);
    const Part& own = blocks[me];
    const void* send = send_;
    uint64_t sent = 0;
    for (const Part& block : blocks) sent = std::max(sent, block.first + block.count);
    // This rank's block of results is written to its position in recv. An all-reduce does that in place
    // anyway; otherwise recv may hold only this block.
    char* const results =
        everywhere ? At(operation_.recv, own.first, size_) : static_cast<char*>(operation_.recv);
    if (!everywhere && own.count > 0 && results != At(send, own.first, size_) &&
        Overlap(send, sent * size_, results, own.count * size_)) {
      void* const copy = round_.Room(sent * size_);
      std::memcpy(copy, send, sent * size_);
      send = copy;
    }

    std::vector<Part> offered(static_cast<size_t>(ranks_));
    std::vector<Part> wanted(static_cast<size_t>(ranks_));
    for (int other = 0; other < ranks_; ++other) {
      const auto p = static_cast<size_t>(other);
      // With blocks by rank, both ends must agree on them.
      offered[p] = everywhere ? Part{operation_.count, 0} : blocks[p];
      wanted[p] = everywhere ? Part{operation_.count, 0} : own;
    }
    PostHandshakes(offered, wanted, nullptr);

    if (everywhere) ReceiveFromRoots(blocks);
    const uint64_t own_chunks = ChunksOf(own);
    const uint64_t under_way = std::min<uint64_t>(own_chunks, kChunksInFlight);
    const size_t room = std::min(own.count, ChunkLength()) * size_;
    char* const came = static_cast<char*>(round_.Room(room * under_way * static_cast<size_t>(ranks_)));
    const auto place_of = [&](uint64_t i, int from) {
      return came + room * ((i % kChunksInFlight) * static_cast<size_t>(ranks_) + static_cast<size_t>(from));
    };
    std::vector<size_t> coming(under_way * static_cast<size_t>(ranks_));
    const auto ask = [&](uint64_t i) {
      const size_t bytes = ChunkOf(own, i).count * size_;
      for (int from = 0; from < ranks_; ++from) {
        if (from == me_) continue;
        coming[(i % kChunksInFlight) * static_cast<size_t>(ranks_) + static_cast<size_t>(from)] =
            round_.Receive(from, PartSlot(PartNumber(me, i, false), bytes), place_of(i, from), bytes);
      }
    };
    for (uint64_t i = 0; i < under_way; ++i) ask(i);
    SendToRoots(blocks, send);
    // Writes nothing before all ranks have made the same call.
    for (int other = 0; other < ranks_; ++other) {
      const auto p = static_cast<size_t>(other);
      if (other != me_) AcceptHandshake(other, offered[p], wanted[p], nullptr);
    }

    const ReduceFunction reduce = FindReduce(operation_.type, operation_.op);
    std::vector<const void*> inputs(static_cast<size_t>(ranks_));
    for (uint64_t i = 0; i < own_chunks; ++i) {
      const Part one = ChunkOf(own, i);
      for (int from = 0; from < ranks_; ++from) {
        if (from == me_) {
          inputs[me] = At(send, one.first, size_);
          continue;
        }
        round_.Wait(coming[(i % kChunksInFlight) * static_cast<size_t>(ranks_) + static_cast<size_t>(from)]);
        inputs[static_cast<size_t>(from)] = place_of(i, from);
      }
      char* const result = results + (one.first - own.first) * size_;
      reduce(inputs.data(), ranks_, result, one.count);
      if (i + kChunksInFlight < own_chunks) ask(i + kChunksInFlight);
      if (!everywhere) continue;
      for (int step = 1; step < ranks_; ++step) {
        const int other = (me_ + step) % ranks_;
        round_.Send(other, PartSlot(PartNumber(me, i, true), one.count * size_), result, one.count * size_);
      }
    }
    round_.WaitForAll();
  }

  // Broadcasts by parts: the root sends every other rank a part, which that rank passes on. The root sends
  // little more than the data once.
  void BroadcastByParts() {
    const int root = static_cast<int>(operation_.root);
    const auto others = static_cast<uint64_t>(ranks_ - 1);
    const uint64_t chunk = kChunk / size_;
    const uint64_t chunks = (operation_.count + chunk - 1) / chunk;
    // Returns the rank that passes on chunk i.
    const auto carrier_of = [&](uint64_t i) { return (root + 1 + static_cast<int>(i % others)) % ranks_; };
    char* const data = static_cast<char*>(operation_.recv);
    const auto bytes_of = [&](uint64_t i) { return std::min(chunk, operation_.count - i * chunk) * size_; };
    PostHandshakes(operation_.give, operation_.take, nullptr);
    if (me_ == root) {
      for (uint64_t i = 0; i < chunks; ++i) {
        round_.Send(carrier_of(i), PartSlot(i, bytes_of(i)), data + i * chunk * size_, bytes_of(i));
      }
    }
    std::vector<size_t> coming(chunks);
    if (me_ != root) {
      for (uint64_t i = 0; i < chunks; ++i) {
        coming[i] = round_.Receive(carrier_of(i) == me_ ? root : carrier_of(i), PartSlot(i, bytes_of(i)),
                                   data + i * chunk * size_, bytes_of(i));
      }
    }
    for (int other = 0; other < ranks_; ++other) {
      const auto p = static_cast<size_t>(other);
      if (other != me_) AcceptHandshake(other, operation_.give[p], operation_.take[p], nullptr);
    }
    for (uint64_t i = 0; i < chunks && me_ != root; ++i) {
      if (carrier_of(i) != me_) continue;
      round_.Wait(coming[i]);
      for (int step = 1; step < ranks_; ++step) {
        const int other = (me_ + step) % ranks_;
        if (other != root)
          round_.Send(other, PartSlot(i, bytes_of(i)), data + i * chunk * size_, bytes_of(i));
      }
    }
    round_.WaitForAll();
  }

  // Sends and receives, all concurrently.
  void Messages() {
    // The handshakes for sends to a rank and for receives from it have separate slots.
    struct PostedMessage {
      const Operation::Message* message;
      char* handshake;
      size_t transfer;
    };
    Communicator& communicator = round_.communicator();
    std::vector<PostedMessage> all_posted;
    for (const Operation::Message& one : operation_.messages) {
      if (one.sends && static_cast<int>(one.rank) == me_ &&
          !communicator.LeaveForSelf(one.number, one.data, one.count * ElementSize(one.type))) {
        throw std::bad_alloc();
      }
    }
    for (const Operation::Message& one : operation_.messages) {
      if (static_cast<int>(one.rank) == me_) continue;
      const int other = static_cast<int>(one.rank);
      const size_t bytes = one.count * ElementSize(one.type);
      const size_t room = sizeof(Handshake) + (one.sends ? 0 : kWithHandshake);
      char* const handshake = static_cast<char*>(round_.Room(room));
      all_posted.push_back(
          {&one, handshake,
           round_.Receive(other, Slot(one.sends ? SlotKind::kTake : SlotKind::kPart, one.number), handshake,
                          room)});
      if (bytes > kWithHandshake && !one.sends) {
        round_.Receive(other, Slot(SlotKind::kPart, one.number, 1, bytes), one.data, bytes);
      }
    }
    for (const Operation::Message& one : operation_.messages) {
      if (static_cast<int>(one.rank) == me_) continue;
      const int other = static_cast<int>(one.rank);
      const size_t bytes = one.count * ElementSize(one.type);
      round_.SendHandshake(other, Slot(one.sends ? SlotKind::kPart : SlotKind::kTake, one.number),
                           MessageHandshake(one), one.data, one.sends ? bytes : 0);
      if (bytes > kWithHandshake && one.sends) {
        round_.Send(other, Slot(SlotKind::kPart, one.number, 1, bytes), one.data, bytes);
      }
    }
    for (const PostedMessage& posted : all_posted) {
      const Operation::Message& one = *posted.message;
      round_.Wait(posted.transfer);
      Handshake handshake;
      std::memcpy(&handshake, posted.handshake, sizeof handshake);
      if (handshake.type != static_cast<uint32_t>(one.type) || handshake.give != one.count) {
        round_.Fail(HCCL_E_REMOTE,
                    Text("rank ", one.rank, one.sends ? " receives " : " sends ", handshake.give,
                         " elements of ", TypeName(static_cast<HcclDataType>(handshake.type)), "; here ",
                         one.count, " of ", TypeName(one.type), one.sends ? " are sent." : " are received."));
      }
      const size_t bytes = one.count * ElementSize(one.type);
      if (!one.sends && bytes <= kWithHandshake)
        std::memcpy(one.data, posted.handshake + sizeof handshake, bytes);
    }
    for (const Operation::Message& one : operation_.messages) {
      if (one.sends || static_cast<int>(one.rank) != me_) continue;
      CheckTaken(communicator.TakeFromSelf(one.number, one.data, one.count * ElementSize(one.type),
                                           round_.deadline()));
    }
    for (const Operation::Message& one : operation_.messages) {
      if (!one.sends || static_cast<int>(one.rank) != me_) continue;
      CheckTaken(communicator.AwaitTaken(one.number, round_.deadline()));
    }
    round_.WaitForAll();
  }
  static Handshake MessageHandshake(const Operation::Message& one) noexcept {
    Handshake handshake;
    handshake.type = static_cast<uint32_t>(one.type);
    handshake.give = one.count;
    return handshake;
  }
  void CheckTaken(Communicator::Taken taken) {
    switch (taken) {
      case Communicator::Taken::kYes:
        return;
      case Communicator::Taken::kTimedOut:
        round_.Fail(HCCL_E_TIMEOUT, Text("what this rank sends to itself met nothing in HCCL_EXEC_TIMEOUT, ",
                                         round_.communicator().exec_seconds(), " s."));
      case Communicator::Taken::kOtherSize:
        round_.Fail(HCCL_E_REMOTE, Text("this rank sends itself another number of bytes than it receives."));
      case Communicator::Taken::kClosing:
        round_.Fail(HCCL_E_UNAVAIL,
                    Text("the communicator was destroyed, or broken, before the operation was done."));
    }
  }

  const Operation& operation_;
  const void* send_ = operation_.send;  // or a copy of that data
  Round round_;
  const int ranks_;
  const int me_;
  const size_t size_;
};

}  // namespace

Fault Perform(Communicator& communicator, const Operation& operation) noexcept {
  if (!communicator.Enter()) {
    return {HCCL_E_UNAVAIL,
            Text(NameOf(operation.function), ": the communicator was destroyed before the operation began.")};
  }
  Fault fault;
  if (communicator.fault() != HCCL_SUCCESS) {
    fault = {communicator.fault(),
             Text(NameOf(operation.function),
                  ": an earlier operation of the communicator failed: ", communicator.FaultText().view())};
  } else {
    try {
      Performance(communicator, operation).Run();
    } catch (const Failure& failure) {
      fault = failure.fault;
    } catch (const std::bad_alloc&) {
      fault = {HCCL_E_OOM,
               Text(NameOf(operation.function), ", rank ", communicator.rank(), ": not enough memory.")};
      communicator.Break(fault);
    }
  }
  communicator.Leave();
  return fault;
}

}  // namespace portacl::hccl
