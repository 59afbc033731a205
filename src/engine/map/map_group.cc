// Runs many maps as one job (see map_group.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/map_group.h"

#include <algorithm>
#include <cstring>

#include "base/float_environment.h"
#include "engine/map/elementwise_blocks.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

template <class T>
void Negate(unsigned char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  value = static_cast<T>(0 - value);
  std::memcpy(bytes, &value, sizeof value);
}

// Stores the number among the formula's parameters.
void SetNumber(const NumberInMemory& number, const char* base, Formula& formula) {
  Scalars scalars;
  std::memcpy(&scalars, formula.parameters, sizeof scalars);
  unsigned char* const bytes = scalars.bytes[number.position];
  const char* const from = base + number.offset;
  if (!number.is_converted) {
    std::memcpy(bytes, from, static_cast<size_t>(number.size));
  } else {
    alignas(16) unsigned char copy[16] = {};  // a load may take whole words
    std::memcpy(copy, from, static_cast<size_t>(number.size));
    number.load(copy, bytes, 1);
  }
  if (number.is_negated && number.is_integer) {
    Negate<uint64_t>(bytes);
  } else if (number.is_negated) {
    bytes[3] ^= 0x80;  // of float32
  }
  std::memcpy(formula.parameters, &scalars, sizeof scalars);
}

void RunPart(const PlannedMap& map, const JobContext& context, int64_t first, int64_t last) {
  char* base[kMaxLoopOperands];
  for (int k = 0; k < map.loop.plan.operand_count; ++k)
    base[k] = static_cast<char*>(context.addresses[map.operand[k]]) + map.loop.plan.operand[k].offset;
  if (map.number.operand < 0) return RunBlocks(map.loop, base, first, last);
  ElementwiseLoop loop = map.loop;
  SetNumber(map.number, static_cast<const char*>(context.addresses[map.number.operand]), loop.formula);
  RunBlocks(loop, base, first, last);
}

}  // namespace

void MapGroupJob::Run(const JobContext& context) const noexcept {
  const auto* const maps = reinterpret_cast<const PlannedMap*>(context.memory);
  const auto* const end = maps + count;
  ForEachBlock((blocks + blocks_together - 1) / blocks_together, threads, [&](int64_t together) {
    const DefaultFloatEnvironment environment;
    int64_t block = together * blocks_together;
    const int64_t stop = std::min(blocks, block + blocks_together);
    const auto* map =
        std::upper_bound(maps, end, block,
                         [](int64_t at, const PlannedMap& one) { return at < one.first_block; }) -
        1;
    for (; block < stop; ++map) {
      const int64_t next = map + 1 == end ? blocks : map[1].first_block;
      const int64_t last = std::min(stop, next);
      RunPart(*map, context, block - map->first_block, last - map->first_block);
      block = last;
    }
  });
}

}  // namespace portacl::engine
