// Every collective with 1, 2, 3 and 4 processes, every type and operation, small and large, against loops over ranks.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hccl/hccl.h"
#include "processes.h"
#include "support/float_formats.h"

namespace portacl::testing {
namespace {

struct Type {
  const char* name;
  HcclDataType type;
  size_t size;
};
constexpr Type kTypes[] = {{"int8", HCCL_DATA_TYPE_INT8, 1},     {"int16", HCCL_DATA_TYPE_INT16, 2},
                           {"int32", HCCL_DATA_TYPE_INT32, 4},   {"fp16", HCCL_DATA_TYPE_FP16, 2},
                           {"fp32", HCCL_DATA_TYPE_FP32, 4},     {"int64", HCCL_DATA_TYPE_INT64, 8},
                           {"uint64", HCCL_DATA_TYPE_UINT64, 8}, {"uint8", HCCL_DATA_TYPE_UINT8, 1},
                           {"uint16", HCCL_DATA_TYPE_UINT16, 2}, {"uint32", HCCL_DATA_TYPE_UINT32, 4},
                           {"fp64", HCCL_DATA_TYPE_FP64, 8},     {"bfp16", HCCL_DATA_TYPE_BFP16, 2}};
constexpr HcclReduceOp kOps[] = {HCCL_REDUCE_SUM, HCCL_REDUCE_PROD, HCCL_REDUCE_MAX, HCCL_REDUCE_MIN};
// Below what travels with the offer, just above, several pieces and a rest.
constexpr uint64_t kCounts[] = {1, 5, 1000, 20000, 1300007};

uint64_t Bits(uint64_t x) {
  x = (x + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 29)) * 0x94D049BB133111EB;
  return x ^ (x >> 32);
}

bool IsFloat(HcclDataType type) {
  return type == HCCL_DATA_TYPE_FP16 || type == HCCL_DATA_TYPE_BFP16 || type == HCCL_DATA_TYPE_FP32 ||
         type == HCCL_DATA_TYPE_FP64;
}

// Element i of rank's buffer, in its bits. Floats: of different sizes, so that another order gives other bits; now and then inf and NaN.
uint64_t Element(const Type& type, uint32_t rank, uint64_t i) {
  const uint64_t bits = Bits(i * 16 + rank);
  if (!IsFloat(type.type)) return type.size == 8 ? bits : bits & ((uint64_t{1} << 8 * type.size) - 1);
  double value =
      std::ldexp(static_cast<double>(bits & 0x7FF) / 1024 - 1, static_cast<int>(bits >> 40 & 7) - 3);
  if (bits >> 50 == 3) value = std::numeric_limits<double>::infinity();
  if (bits >> 50 == 5) value = std::numeric_limits<double>::quiet_NaN();
  switch (type.type) {
    case HCCL_DATA_TYPE_FP64: {
      uint64_t out;
      std::memcpy(&out, &value, 8);
      return out;
    }
    case HCCL_DATA_TYPE_FP32: {
      const float narrow = static_cast<float>(value);
      uint32_t out;
      std::memcpy(&out, &narrow, 4);
      return out;
    }
    case HCCL_DATA_TYPE_FP16:
      return EncodeFloat(kFloat16, value);
    default:
      return EncodeFloat(kBfloat16, value);
  }
}

template <class T>
T Combine(HcclReduceOp op, T a, T b) {
  switch (op) {
    case HCCL_REDUCE_SUM:
      return a + b;
    case HCCL_REDUCE_PROD:
      return a * b;
    case HCCL_REDUCE_MAX:
      return a != a ? a : b != b ? b : a < b ? b : a;
    default:
      return a != a ? a : b != b ? b : b < a ? b : a;
  }
}

template <class T>
T FromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
uint64_t ToBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// The reduction of element i over ranks 0 to size - 1, in this order.
uint64_t Wanted(const Type& type, HcclReduceOp op, uint32_t size, uint64_t i) {
  uint64_t result = Element(type, 0, i);
  const auto mask = [&type](uint64_t bits) {
    return type.size == 8 ? bits : bits & ((uint64_t{1} << 8 * type.size) - 1);
  };
  double half = 0;
  const bool is_half = type.size == 2 && IsFloat(type.type);
  const FloatFormat& format = type.type == HCCL_DATA_TYPE_FP16 ? kFloat16 : kBfloat16;
  if (is_half) half = DecodeFloat(format, static_cast<uint16_t>(result));
  for (uint32_t rank = 1; rank < size; ++rank) {
    const uint64_t next = Element(type, rank, i);
    switch (type.type) {
      case HCCL_DATA_TYPE_FP32:
        result = ToBits(Combine(op, FromBits<float>(result), FromBits<float>(next)));
        break;
      case HCCL_DATA_TYPE_FP64:
        result = ToBits(Combine(op, FromBits<double>(result), FromBits<double>(next)));
        break;
      case HCCL_DATA_TYPE_FP16:
      case HCCL_DATA_TYPE_BFP16:
        half = static_cast<double>(
            Combine(op, static_cast<float>(half),
                    static_cast<float>(DecodeFloat(format, static_cast<uint16_t>(next)))));
        break;
      default: {
        const bool is_signed = type.type == HCCL_DATA_TYPE_INT8 || type.type == HCCL_DATA_TYPE_INT16 ||
                               type.type == HCCL_DATA_TYPE_INT32 || type.type == HCCL_DATA_TYPE_INT64;
        const int shift = 64 - static_cast<int>(8 * type.size);
        if (op == HCCL_REDUCE_SUM || op == HCCL_REDUCE_PROD || !is_signed) {
          result = mask(Combine(op, result, next));
        } else {
          const auto a = static_cast<int64_t>(result << shift) >> shift;
          const auto b = static_cast<int64_t>(next << shift) >> shift;
          result = mask(static_cast<uint64_t>(Combine(op, a, b)));
        }
      }
    }
  }
  return is_half ? EncodeFloat(format, half) : result;
}

using Buffer = std::vector<unsigned char>;

void Put(Buffer& buffer, const Type& type, uint64_t i, uint64_t bits) {
  std::memcpy(&buffer[i * type.size], &bits, type.size);
}
uint64_t Get(const Buffer& buffer, const Type& type, uint64_t i) {
  uint64_t bits = 0;
  std::memcpy(&bits, &buffer[i * type.size], type.size);
  return bits;
}
Buffer Filled(const Type& type, uint32_t rank, uint64_t count, uint64_t from = 0) {
  Buffer buffer(count * type.size);
  for (uint64_t i = 0; i < count; ++i) Put(buffer, type, i, Element(type, rank, from + i));
  return buffer;
}

bool IsNan(const Type& type, uint64_t bits) {
  switch (type.type) {
    case HCCL_DATA_TYPE_FP32:
      return std::isnan(FromBits<float>(bits));
    case HCCL_DATA_TYPE_FP64:
      return std::isnan(FromBits<double>(bits));
    case HCCL_DATA_TYPE_FP16:
      return (bits & 0x7C00) == 0x7C00 && (bits & 0x3FF) != 0;
    case HCCL_DATA_TYPE_BFP16:
      return (bits & 0x7F80) == 0x7F80 && (bits & 0x7F) != 0;
    default:
      return false;
  }
}

// How many of `count` elements from `first` on are not wanted(i).
template <class Wants>
void ExpectElements(const Buffer& buffer, const Type& type, uint64_t first, uint64_t count, Wants wanted,
                    const std::string& what) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t found = Get(buffer, type, first + i);
    const uint64_t bits = wanted(i);
    if (found == bits || (IsNan(type, found) && IsNan(type, bits))) continue;
    ADD_FAILURE() << what << " " << type.name << " element " << i << ": " << std::hex << found << ", wanted "
                  << bits;
    return;
  }
}

void Await(aclrtStream stream) { EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << Rank::Message(); }

class Collectives : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Processes, Collectives, ::testing::Values(1u, 2u, 3u, 4u));

// Fewer elements for what is slow to check.
std::vector<uint64_t> CountsFor(const Type& type) {
  std::vector<uint64_t> counts(std::begin(kCounts), std::end(kCounts));
  if (type.type != HCCL_DATA_TYPE_FP32 && type.type != HCCL_DATA_TYPE_BFP16) counts.pop_back();
  return counts;
}

TEST_P(Collectives, AllReduce) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    for (const Type& type : kTypes) {
      for (const HcclReduceOp op : kOps) {
        for (const uint64_t count : CountsFor(type)) {
          Buffer send = Filled(type, rank.rank(), count);
          const auto wanted = [&](uint64_t i) { return Wanted(type, op, rank.size(), i); };
          if (op != HCCL_REDUCE_PROD) {
            const Buffer before = send;
            Buffer recv(send.size());
            ASSERT_EQ(HcclAllReduce(send.data(), recv.data(), count, type.type, op, comm, stream),
                      HCCL_SUCCESS)
                << Rank::Message();
            Await(stream);
            ExpectElements(recv, type, 0, count, wanted, "AllReduce " + std::to_string(op));
            EXPECT_EQ(send, before);
          }
          ASSERT_EQ(HcclAllReduce(send.data(), send.data(), count, type.type, op, comm, stream),
                    HCCL_SUCCESS);
          Await(stream);
          ExpectElements(send, type, 0, count, wanted, "AllReduce in place " + std::to_string(op));
        }
      }
    }
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
  });
}

TEST_P(Collectives, ReduceAndReduceScatter) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    for (const Type& type : {kTypes[2], kTypes[3], kTypes[4], kTypes[11]}) {
      for (const HcclReduceOp op : kOps) {
        for (const uint64_t count : CountsFor(type)) {
          const uint32_t root = static_cast<uint32_t>(count) % rank.size();
          Buffer send = Filled(type, rank.rank(), count);
          Buffer recv(send.size(), 0x5A);
          ASSERT_EQ(HcclReduce(send.data(), recv.data(), count, type.type, op, root, comm, stream),
                    HCCL_SUCCESS);
          Await(stream);
          if (rank.rank() == root) {
            ExpectElements(
                recv, type, 0, count, [&](uint64_t i) { return Wanted(type, op, rank.size(), i); }, "Reduce");
          } else {
            EXPECT_EQ(recv, Buffer(send.size(), 0x5A));
          }
          const uint64_t part = (count + 2) / 3;
          send = Filled(type, rank.rank(), part * rank.size());
          const auto wanted = [&](uint64_t i) {
            return Wanted(type, op, rank.size(), rank.rank() * part + i);
          };
          recv.assign(part * type.size, 0);
          ASSERT_EQ(HcclReduceScatter(send.data(), recv.data(), part, type.type, op, comm, stream),
                    HCCL_SUCCESS);
          Await(stream);
          ExpectElements(recv, type, 0, part, wanted, "ReduceScatter");
          // The result in the place of the own part, and in the first one.
          Buffer inside = send;
          ASSERT_EQ(HcclReduceScatter(inside.data(), inside.data() + rank.rank() * part * type.size, part,
                                      type.type, op, comm, stream),
                    HCCL_SUCCESS);
          Await(stream);
          ExpectElements(inside, type, rank.rank() * part, part, wanted, "ReduceScatter in place");
          inside = send;
          ASSERT_EQ(HcclReduceScatter(inside.data(), inside.data(), part, type.type, op, comm, stream),
                    HCCL_SUCCESS);
          Await(stream);
          ExpectElements(inside, type, 0, part, wanted, "ReduceScatter to the front");
        }
      }
    }
    HcclCommDestroy(comm);
  });
}

TEST_P(Collectives, Moves) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    const uint32_t size = rank.size();
    const uint32_t me = rank.rank();
    std::vector<Type> types(std::begin(kTypes), std::end(kTypes));
    types.push_back({"int128", HCCL_DATA_TYPE_INT128, 16});
    types.push_back({"fp8e4m3", HCCL_DATA_TYPE_FP8E4M3, 1});
    for (const Type& declared : types) {
      // Bytes are bytes: numbers of one size stand for the type; of INT128 the first half.
      const Type type = {declared.name, declared.size == 1 ? HCCL_DATA_TYPE_UINT8 : declared.type,
                         declared.size == 16 ? 8 : declared.size};
      const uint64_t factor = declared.size / type.size;
      for (const uint64_t whole : {uint64_t{1}, uint64_t{3000}, uint64_t{70001}, uint64_t{700001}}) {
        if (whole > 100000 && type.type != HCCL_DATA_TYPE_FP32) continue;
        const uint64_t count = whole * factor;
        const uint32_t root = static_cast<uint32_t>(whole) % size;
        const auto element = [&](uint32_t from, uint64_t i) { return Element(type, from, i); };
        Buffer data = Filled(type, me, count);
        ASSERT_EQ(HcclBroadcast(data.data(), whole, declared.type, root, comm, stream), HCCL_SUCCESS);
        Await(stream);
        ExpectElements(
            data, type, 0, count, [&](uint64_t i) { return element(root, i); }, "Broadcast");

        Buffer send = Filled(type, me, count);
        Buffer recv(send.size() * size);
        ASSERT_EQ(HcclAllGather(send.data(), recv.data(), whole, declared.type, comm, stream), HCCL_SUCCESS);
        Await(stream);
        for (uint32_t from = 0; from < size; ++from) {
          ExpectElements(
              recv, type, from * count, count, [&](uint64_t i) { return element(from, i); }, "AllGather");
        }
        std::fill(recv.begin(), recv.end(), 0);
        std::copy(send.begin(), send.end(), recv.begin() + static_cast<ptrdiff_t>(me * send.size()));
        ASSERT_EQ(
            HcclAllGather(recv.data() + me * send.size(), recv.data(), whole, declared.type, comm, stream),
            HCCL_SUCCESS);
        Await(stream);
        for (uint32_t from = 0; from < size; ++from) {
          ExpectElements(
              recv, type, from * count, count, [&](uint64_t i) { return element(from, i); },
              "AllGather in place");
        }

        send = Filled(type, me, count * size);
        recv.assign(count * type.size, 0);
        ASSERT_EQ(HcclScatter(me == root ? send.data() : nullptr, recv.data(), whole, declared.type, root,
                              comm, stream),
                  HCCL_SUCCESS);
        Await(stream);
        ExpectElements(
            recv, type, 0, count, [&](uint64_t i) { return element(root, me * count + i); }, "Scatter");

        recv.assign(send.size(), 0);
        ASSERT_EQ(
            HcclAlltoAll(send.data(), whole, declared.type, recv.data(), whole, declared.type, comm, stream),
            HCCL_SUCCESS);
        Await(stream);
        for (uint32_t from = 0; from < size; ++from) {
          ExpectElements(
              recv, type, from * count, count, [&](uint64_t i) { return element(from, me * count + i); },
              "AlltoAll");
        }
      }
    }
    ASSERT_EQ(HcclBarrier(comm, stream), HCCL_SUCCESS);
    Await(stream);
    HcclCommDestroy(comm);
  });
}

TEST_P(Collectives, PartsOfTheirOwnSizes) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    const uint32_t size = rank.size();
    const uint32_t me = rank.rank();
    const Type& type = kTypes[4];
    for (const uint64_t scale : {uint64_t{1}, uint64_t{3}, uint64_t{5001}, uint64_t{200003}}) {
      // Rank i gives rank j this many: some none, the displacements with gaps and not ascending.
      const auto given = [scale](uint32_t i, uint32_t j) { return (i * 3 + j * 5) % 4 * scale; };
      std::vector<uint64_t> counts(size);
      std::vector<uint64_t> places(size);
      uint64_t end = 7;
      for (uint32_t i = size; i-- > 0;) {
        counts[i] = (i + 1) % 3 * scale;
        places[i] = end;
        end += counts[i] + 3;
      }
      Buffer send = Filled(type, me, counts[me]);
      Buffer recv(end * type.size, 0x11);
      ASSERT_EQ(HcclAllGatherV(send.data(), counts[me], recv.data(), counts.data(), places.data(), type.type,
                               comm, stream),
                HCCL_SUCCESS)
          << Rank::Message();
      Await(stream);
      for (uint32_t from = 0; from < size; ++from) {
        ExpectElements(
            recv, type, places[from], counts[from], [&](uint64_t i) { return Element(type, from, i); },
            "AllGatherV");
        ExpectElements(
            recv, type, places[from] + counts[from], 3, [](uint64_t) { return 0x11111111; },
            "AllGatherV's gaps");
      }
      send = Filled(type, me, end);
      recv.assign(counts[me] * type.size, 0);
      ASSERT_EQ(HcclReduceScatterV(send.data(), counts.data(), places.data(), recv.data(), counts[me],
                                   type.type, HCCL_REDUCE_SUM, comm, stream),
                HCCL_SUCCESS)
          << Rank::Message();
      Await(stream);
      ExpectElements(
          recv, type, 0, counts[me],
          [&](uint64_t i) { return Wanted(type, HCCL_REDUCE_SUM, size, places[me] + i); }, "ReduceScatterV");

      std::vector<uint64_t> gives(size);
      std::vector<uint64_t> gives_at(size);
      std::vector<uint64_t> takes(size);
      std::vector<uint64_t> takes_at(size);
      std::vector<uint64_t> matrix;
      uint64_t give_end = 0;
      uint64_t take_end = 0;
      for (uint32_t other = 0; other < size; ++other) {
        gives[other] = given(me, other);
        takes[other] = given(other, me);
        gives_at[other] = give_end;
        takes_at[other] = take_end;
        give_end += gives[other];
        take_end += takes[other];
        for (uint32_t to = 0; to < size; ++to) matrix.push_back(given(other, to));
      }
      send = Filled(type, me, give_end);
      const auto check = [&](const char* what) {
        for (uint32_t from = 0; from < size; ++from) {
          uint64_t before = 0;
          for (uint32_t to = 0; to < me; ++to) before += given(from, to);
          ExpectElements(
              recv, type, takes_at[from], takes[from],
              [&](uint64_t i) { return Element(type, from, before + i); }, what);
        }
      };
      recv.assign(take_end * type.size, 0);
      // Null where there is nothing.
      ASSERT_EQ(HcclAlltoAllV(give_end == 0 ? nullptr : send.data(), gives.data(), gives_at.data(), type.type,
                              take_end == 0 ? nullptr : recv.data(), takes.data(), takes_at.data(), type.type,
                              comm, stream),
                HCCL_SUCCESS)
          << Rank::Message();
      // The arrays are the caller's again.
      const std::vector<uint64_t> kept = takes;
      std::fill(gives.begin(), gives.end(), 99);
      Await(stream);
      check("AlltoAllV");
      recv.assign(take_end * type.size, 0);
      ASSERT_EQ(HcclAlltoAllVC(give_end == 0 ? nullptr : send.data(), matrix.data(), type.type,
                               take_end == 0 ? nullptr : recv.data(), type.type, comm, stream),
                HCCL_SUCCESS)
          << Rank::Message();
      Await(stream);
      check("AlltoAllVC");
    }
    HcclCommDestroy(comm);
  });
}

// What is sent is what lay there before the operation, however the two buffers lie to each other.
TEST_P(Collectives, BuffersThatOverlap) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    const uint32_t size = rank.size();
    const uint32_t me = rank.rank();
    const auto type = HCCL_DATA_TYPE_INT32;
    const auto number = [](uint32_t from, uint64_t i) { return static_cast<int32_t>(1000003 * from + i); };
    constexpr uint64_t kShift = 7;
    std::vector<int32_t> memory;
    for (const uint64_t count : {uint64_t{100}, uint64_t{70000}, uint64_t{600000}}) {
      for (const bool is_behind : {false, true}) {
        const auto fill = [&](uint64_t elements) {
          memory.assign(elements + kShift, -1);
          int32_t* const send = memory.data() + (is_behind ? kShift : 0);
          for (uint64_t i = 0; i < elements; ++i) send[i] = number(me, i);
          return std::pair(send, memory.data() + (is_behind ? 0 : kShift));
        };
        auto [send, recv] = fill(count);
        ASSERT_EQ(HcclAllReduce(send, recv, count, type, HCCL_REDUCE_SUM, comm, stream), HCCL_SUCCESS);
        Await(stream);
        for (uint64_t i = 0; i < count; ++i) {
          int32_t sum = 0;
          for (uint32_t from = 0; from < size; ++from) sum += number(from, i);
          ASSERT_EQ(recv[i], sum) << "AllReduce of " << count << " at " << i;
        }
        std::tie(send, recv) = fill(count * size);
        ASSERT_EQ(HcclReduceScatter(send, recv, count, type, HCCL_REDUCE_MAX, comm, stream), HCCL_SUCCESS);
        Await(stream);
        for (uint64_t i = 0; i < count; ++i)
          ASSERT_EQ(recv[i], number(size - 1, me * count + i)) << "ReduceScatter at " << i;
        std::tie(send, recv) = fill(count * size);
        ASSERT_EQ(HcclAlltoAll(send, count, type, recv, count, type, comm, stream), HCCL_SUCCESS);
        Await(stream);
        for (uint32_t from = 0; from < size; ++from) {
          for (uint64_t i = 0; i < count; ++i)
            ASSERT_EQ(recv[from * count + i], number(from, me * count + i)) << "AlltoAll at " << i;
        }
      }
      // The own part stays in its place; what comes goes to where the next rank's part lies.
      std::vector<uint64_t> counts(size, count);
      std::vector<uint64_t> gives_at(size);
      std::vector<uint64_t> takes_at(size);
      for (uint32_t other = 0; other < size; ++other) {
        const uint32_t next = (other + 1) % size;
        const uint32_t place = other == me ? me : next == me ? (next + 1) % size : next;
        gives_at[other] = other * count;
        takes_at[other] = place * count;
      }
      memory.assign(size * count + 1, -1);
      for (uint64_t i = 0; i < size * count; ++i) memory[i + 1] = number(me, i);
      // As AlltoAllV refuses the same address for both, the receive buffer begins one element earlier.
      for (uint64_t& at : takes_at) ++at;
      ASSERT_EQ(HcclAlltoAllV(memory.data() + 1, counts.data(), gives_at.data(), type, memory.data(),
                              counts.data(), takes_at.data(), type, comm, stream),
                HCCL_SUCCESS)
          << Rank::Message();
      Await(stream);
      for (uint32_t from = 0; from < size; ++from) {
        for (uint64_t i = 0; i < count; ++i) {
          ASSERT_EQ(memory[takes_at[from] + i], number(from, me * count + i))
              << "AlltoAllV from " << from << " at " << i;
        }
      }
    }
    HcclCommDestroy(comm);
  });
}

TEST_P(Collectives, SendsAndReceives) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comm = rank.Join();
    aclrtStream stream = rank.NewStream();
    aclrtStream other_stream = rank.NewStream();
    const uint32_t size = rank.size();
    const uint32_t me = rank.rank();
    const uint32_t right = (me + 1) % size;
    const uint32_t left = (me + size - 1) % size;
    const Type& type = kTypes[4];
    for (const uint64_t count : {uint64_t{1}, uint64_t{1000}, uint64_t{300000}}) {
      Buffer send = Filled(type, me, count);
      Buffer recv(send.size());
      const auto check = [&](const char* what) {
        ExpectElements(
            recv, type, 0, count, [&](uint64_t i) { return Element(type, left, i); }, what);
        std::fill(recv.begin(), recv.end(), 0);
      };
      // Round the ring: a batch, a group of groups, and streams of their own. With one rank, to itself.
      HcclSendRecvItem items[] = {{HCCL_SEND, send.data(), count, type.type, right},
                                  {HCCL_RECV, recv.data(), count, type.type, left}};
      ASSERT_EQ(HcclBatchSendRecv(items, 2, comm, stream), HCCL_SUCCESS);
      Await(stream);
      check("batch");
      ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
      ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
      ASSERT_EQ(HcclSend(send.data(), count, type.type, right, comm, stream), HCCL_SUCCESS);
      ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
      ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
      ASSERT_EQ(HcclRecv(recv.data(), count, type.type, left, comm, stream), HCCL_SUCCESS);
      ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);  // nothing has begun
      ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
      Await(stream);
      check("group");
      ASSERT_EQ(HcclSend(send.data(), count, type.type, right, comm, stream), HCCL_SUCCESS);
      ASSERT_EQ(HcclRecv(recv.data(), count, type.type, left, comm, other_stream), HCCL_SUCCESS);
      Await(stream);
      Await(other_stream);
      check("two streams");
    }
    EXPECT_EQ(HcclGroupEnd(), HCCL_E_PARA);
    HcclCommDestroy(comm);
  });
}

// Two communicators, several streams, many operations at once: each stream in its order, whatever the others do.
TEST_P(Collectives, InFlightTogether) {
  InProcesses(GetParam(), [](Rank& rank) {
    HcclComm comms[] = {rank.Join(0), rank.Join(1)};
    aclrtStream streams[] = {rank.NewStream(), rank.NewStream(), rank.NewStream()};
    const uint64_t count = 5000;
    std::vector<std::vector<float>> data(12, std::vector<float>(count, static_cast<float>(rank.rank() + 1)));
    float ranks_sum = 0;
    for (uint32_t r = 0; r < rank.size(); ++r) ranks_sum += static_cast<float>(r + 1);
    for (int round = 0; round < 3; ++round) {
      for (size_t i = 0; i < data.size(); ++i) {
        // Ranks begin with different streams; a communicator's operations are in one order.
        ASSERT_EQ(HcclAllReduce(data[i].data(), data[i].data(), count, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                                comms[i % 2], streams[i % 3]),
                  HCCL_SUCCESS);
      }
    }
    for (aclrtStream stream : streams) Await(stream);
    const float wanted = ranks_sum * static_cast<float>(rank.size() * rank.size());
    for (const std::vector<float>& one : data) {
      EXPECT_EQ(std::count(one.begin(), one.end(), wanted), static_cast<ptrdiff_t>(count));
    }
    HcclResult error = HCCL_E_INTERNAL;
    EXPECT_EQ(HcclGetCommAsyncError(comms[0], &error), HCCL_SUCCESS);
    EXPECT_EQ(error, HCCL_SUCCESS);
    // In another order than they were made.
    HcclCommDestroy(comms[rank.rank() % 2]);
    HcclCommDestroy(comms[1 - rank.rank() % 2]);
  });
}

}  // namespace
}  // namespace portacl::testing
