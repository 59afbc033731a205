// Attention to chosen keys (see selected_keys.h). Queries are taken one by one; all heads of one share what is
// read of a key.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/serve/selected_keys.cc"
#include "base/foreach_target.h"

#include "engine/functions/exponential-inl.h"
#include "engine/serve/selected_keys.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace selected_keys {

namespace hn = hwy::HWY_NAMESPACE;

// The lanes of a sum, whatever the vector width.
constexpr int64_t kSums = 16;
using D = hn::CappedTag<float, kSums>;

HWY_INLINE float TotalOf(float* sums) {
  for (int64_t width = kSums / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

float Dot(const float* a, const float* b, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  float sums[kSums] = {};
  for (int64_t j = 0; j < kSums; j += lanes) {
    auto sum = hn::Zero(d);
    for (int64_t i = j; i < n; i += kSums)
      sum = functions::Fma(d, hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
    hn::StoreU(sum, d, sums + j);
  }
  return TotalOf(sums);
}

void Add(const float* x, float factor, float* to, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  for (int64_t i = 0; i < n; i += lanes)
    hn::StoreU(functions::Fma(d, by, hn::LoadU(d, x + i), hn::LoadU(d, to + i)), d, to + i);
}

float Sum(const float* values, int64_t n) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  float sums[kSums] = {};
  for (int64_t j = 0; j < kSums; j += lanes) {
    auto sum = hn::Zero(d);
    for (int64_t i = j; i < n; i += kSums) sum = hn::Add(sum, hn::LoadU(d, values + i));
    hn::StoreU(sum, d, sums + j);
  }
  return TotalOf(sums);
}

}  // namespace selected_keys
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/float_environment.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"
#include "engine/serve/serve.h"

namespace portacl::engine {
namespace {

constexpr auto kDot = PORTACL_ISA_TABLE(selected_keys::Dot);
constexpr auto kAdd = PORTACL_ISA_TABLE(selected_keys::Add);
constexpr auto kSum = PORTACL_ISA_TABLE(selected_keys::Sum);

constexpr int64_t kLanes = 16;
constexpr int64_t kBlocksOfThread = 4;
constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

int64_t InLanes(int64_t n) { return (n + kLanes - 1) / kLanes * kLanes; }
int64_t BlocksOf(int64_t rows, int threads) {
  return std::clamp<int64_t>(rows, 1, threads * kBlocksOfThread);
}
int64_t WordAt(const BufferRef& buffer, const JobContext& context, int64_t i) {
  return Load<int64_t>(buffer.Address(context) + i * int64_t{sizeof(int64_t)});
}
void Bring(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + at * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + at * rows.size, static_cast<size_t>(n), false);
}

// Returns the number of keys that a query sees by its position.
int64_t VisibleKeys(bool is_causal, int64_t position, int64_t queries, int64_t keys) {
  return is_causal ? std::clamp<int64_t>(position + 1 + keys - queries, 0, keys) : keys;
}

}  // namespace

SelectedKeysFunctions SelectedKeysFunctionsOf(Isa isa) noexcept {
  return {kDot.For(isa), kAdd.For(isa), kSum.For(isa), ServingFunctionsOf(isa).exponential};
}

// ---- sequences ----

SequenceRows::Part SequenceRows::PartOf(const JobContext& context, int64_t batch) const noexcept {
  const auto length_of = [&](int64_t b, int64_t most) {
    return length.is_there ? std::clamp<int64_t>(WordAt(length.buffer, context, b), 0, most) : most;
  };
  switch (layout) {
    case Layout::kBatches:
      return {batch, batch * rows, length_of(batch, rows)};
    case Layout::kPacked: {
      const int64_t first = batch == 0 ? 0 : length_of(batch - 1, rows);
      return {batch, first, std::max<int64_t>(length_of(batch, rows) - first, 0)};
    }
    case Layout::kPaged:
      break;
  }
  return {batch, 0, length_of(batch, rows * slots)};
}

SequenceRows::Part SequenceRows::PartWith(const JobContext& context, int64_t row) const noexcept {
  if (layout == Layout::kBatches) return PartOf(context, row / rows);
  for (int64_t b = 0; b < batches; ++b) {
    const Part part = PartOf(context, b);
    if (row >= part.first && row < part.first + part.count) return part;
  }
  return {0, row, 0};
}

int64_t SequenceRows::RowOf(const JobContext& context, const Part& part, int64_t row) const noexcept {
  if (layout != Layout::kPaged) return part.first + row;
  const int64_t page = WordAt(table, context, part.batch * rows + row / slots);
  return page >= 0 && page < pages ? page * slots + row % slots : -1;
}

// ---- ranking ----

int64_t RankKeys::Blocks() const noexcept { return BlocksOf(rows, threads); }
int64_t RankKeys::NumbersOfBlock() const noexcept {
  // The heads of a query, a key, weights and scales of heads, and a score and a number of each key.
  return (heads + 1) * InLanes(depth) + 2 * InLanes(heads) + 2 * InLanes(keys.Most());
}

void RankKeys::Run(const JobContext& context) const noexcept {
  const int64_t padded = InLanes(depth);
  const int64_t blocks = Blocks();
  ForEachBlock(
      blocks, threads,
      [&](int64_t block) {
        const DefaultFloatEnvironment environment;
        float* const of_query = reinterpret_cast<float*>(work.Address(context)) + block * NumbersOfBlock();
        float* const of_key = of_query + heads * padded;
        float* const weights = of_key + padded;
        float* const scales = weights + InLanes(heads);
        float* const scores = scales + InLanes(heads);
        auto* const order = reinterpret_cast<int32_t*>(scores + InLanes(keys.Most()));
        std::fill_n(of_query, (heads + 1) * padded, 0.0f);
        for (int64_t row = block; row < rows; row += blocks) {
          const SequenceRows::Part own = queries.PartWith(context, row);
          const int64_t position = row - own.first;
          const SequenceRows::Part others = keys.PartOf(context, own.batch);
          const int64_t visible =
              position < own.count ? VisibleKeys(is_causal, position, own.count, others.count) : 0;
          for (int64_t h = 0; h < heads; ++h)
            Bring(query, context, (row * heads + h) * depth, depth, of_query + h * padded);
          Bring(weight, context, row * heads, heads, weights);
          std::fill_n(scales, heads, 1.0f);
          if (query_scale.is_there) Bring(query_scale, context, row * heads, heads, scales);
          int64_t found = 0;
          for (int64_t j = 0; j < visible; ++j) {
            const int64_t at = keys.RowOf(context, others, j);
            if (at < 0) continue;
            Bring(key, context, at * depth, depth, of_key);
            float key_factor = 1;
            if (key_scale.is_there) Bring(key_scale, context, at, 1, &key_factor);
            float score = 0;
            for (int64_t h = 0; h < heads; ++h) {
              float product = functions.dot(of_query + h * padded, of_key, padded);
              if (query_scale.is_there) product = product * scales[h] * key_factor;
              // NaN passes.
              score += weights[h] * (product < 0 ? 0.0f : product);
            }
            scores[j] = score;
            order[found++] = static_cast<int32_t>(j);
          }
          const int64_t kept = std::min(found, count);
          // NaN is greater than all numbers; of equal scores the earlier key comes first.
          std::partial_sort(order, order + kept, order + found, [&](int32_t a, int32_t b) {
            const bool a_is_nan = std::isnan(scores[a]);
            const bool b_is_nan = std::isnan(scores[b]);
            if (a_is_nan != b_is_nan) return a_is_nan;
            if (!a_is_nan && scores[a] != scores[b]) return scores[a] > scores[b];
            return a < b;
          });
          char* const indices = index.Address(context) + row * count * int64_t{sizeof(int32_t)};
          for (int64_t i = 0; i < count; ++i) {
            Store<int32_t>(indices + i * int64_t{sizeof(int32_t)}, i < kept ? order[i] : -1);
            if (!to.is_there) continue;
            const float score = i < kept ? scores[order[i]] : -kInfinity;
            Put(to, context, row * count + i, 1, &score);
          }
        }
      },
      BlockLength::kLong);
}

// ---- attention ----

int64_t AttendToBlocks::Blocks() const noexcept { return BlocksOf(rows, threads); }
int64_t AttendToBlocks::NumbersOfBlock() const noexcept {
  // The heads of a query, a key, sums of values, scores of heads, and two numbers for each row of a key.
  return (heads + 1) * Depth() + heads * ValueDepth() + heads * InLanes(MostKeys()) + 2 * InLanes(MostKeys());
}

void AttendToBlocks::LoadKey(const JobContext& context, int64_t row, float* to_key) const noexcept {
  if (tile == 0) {
    Bring(key, context, row * depth, depth, to_key);
    if (rope_depth > 0) Bring(key_rope, context, row * rope_depth, rope_depth, to_key + depth);
    return;
  }
  const char* const bytes = key.buffer.Address(context) + row * row_bytes;
  const char* const ropes = bytes + value_depth;
  const char* const factors = ropes + (depth - value_depth) * key_rope.size;
  key.load(bytes, to_key, static_cast<size_t>(value_depth));
  for (int64_t i = 0; i < value_depth; ++i)
    to_key[i] *= Load<float>(factors + i / tile * int64_t{sizeof(float)});
  key_rope.load(ropes, to_key + value_depth, static_cast<size_t>(depth - value_depth));
}

int64_t AttendToBlocks::Choose(const JobContext& context, int64_t row, char* chosen) const noexcept {
  const SequenceRows::Part own = queries.PartWith(context, row);
  const int64_t position = row - own.first;
  const SequenceRows::Part others = keys.PartOf(context, own.batch);
  const int64_t visible =
      position < own.count ? VisibleKeys(is_causal, position, own.count, others.count) : 0;
  const char* const indices = index.Address(context) + row * count * int64_t{sizeof(int32_t)};
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t first = int64_t{Load<int32_t>(indices + i * int64_t{sizeof(int32_t)})} * block;
    if (first < 0) break;
    for (int64_t j = first; j < std::min(first + block, visible); ++j) {
      const int64_t at = keys.RowOf(context, others, j);
      if (at >= 0) Store<int64_t>(chosen + found++ * int64_t{sizeof(int64_t)}, at);
    }
  }
  return found;
}

void AttendToBlocks::Weigh(const JobContext& context, int64_t row, int64_t head, int64_t found,
                           float* scores) const noexcept {
  const int64_t most = InLanes(MostKeys());
  float peak = kLowest;
  for (int64_t i = 0; i < found; ++i) peak = std::max(peak, scores[i]);
  for (int64_t i = 0; i < found; ++i) scores[i] -= peak;
  functions.exponential(scores, found);
  std::fill_n(scores + found, most - found, 0.0f);
  float total = functions.sum(scores, most);
  const bool is_seen = total != 0;
  if (greatest.is_there) {
    const int64_t at = (row * heads + head) * int64_t{sizeof(float)};
    Store<float>(greatest.buffer.Address(context) + at, peak);
    Store<float>(sum.Address(context) + at, is_seen ? total : std::numeric_limits<float>::max());
  }
  float factor = 1;
  if (sink.is_there) {
    // A sink acts as one more key, whose value is 0.
    float other;
    Bring(sink, context, head, 1, &other);
    const float summit = std::max(peak, other);
    float shares[2] = {peak - summit, other - summit};
    functions.exponential(shares, 2);
    total = total * shares[0] + shares[1];
    factor = shares[0];
  }
  factor = is_seen ? factor / total : 0;
  for (int64_t i = 0; i < found; ++i) scores[i] *= factor;
}

void AttendToBlocks::Run(const JobContext& context) const noexcept {
  const int64_t padded = Depth();
  const int64_t width = ValueDepth();
  const int64_t most = InLanes(MostKeys());
  const int64_t blocks = Blocks();
  ForEachBlock(
      blocks, threads,
      [&](int64_t own_block) {
        const DefaultFloatEnvironment environment;
        float* const of_query =
            reinterpret_cast<float*>(work.Address(context)) + own_block * NumbersOfBlock();
        float* const of_key = of_query + heads * padded;
        float* const sums = of_key + padded;
        float* const scores = sums + heads * width;
        char* const chosen = reinterpret_cast<char*>(scores + heads * most);  // INT64 rows in memory
        const auto row_of = [&](int64_t i) { return Load<int64_t>(chosen + i * int64_t{sizeof(int64_t)}); };
        std::fill_n(of_query, (heads + 1) * padded, 0.0f);
        for (int64_t row = own_block; row < rows; row += blocks) {
          const int64_t found = Choose(context, row, chosen);
          for (int64_t h = 0; h < heads; ++h) {
            Bring(query, context, (row * heads + h) * depth, depth, of_query + h * padded);
            if (rope_depth > 0)
              Bring(query_rope, context, (row * heads + h) * rope_depth, rope_depth,
                    of_query + h * padded + depth);
          }
          for (int64_t i = 0; i < found; ++i) {
            LoadKey(context, row_of(i), of_key);
            for (int64_t h = 0; h < heads; ++h)
              scores[h * most + i] = scale * functions.dot(of_query + h * padded, of_key, padded);
          }
          std::fill_n(sums, heads * width, 0.0f);
          for (int64_t h = 0; h < heads; ++h) Weigh(context, row, h, found, scores + h * most);
          for (int64_t i = 0; i < found; ++i) {
            LoadKey(context, row_of(i), of_key);
            // Sums of the last lanes, which lie behind the value's elements, are not stored.
            for (int64_t h = 0; h < heads; ++h)
              functions.add(of_key, scores[h * most + i], sums + h * width, width);
          }
          for (int64_t h = 0; h < heads; ++h)
            Put(to, context, (row * heads + h) * value_depth, value_depth, sums + h * width);
        }
      },
      BlockLength::kLong);
}

int64_t AttendToHeads::Blocks() const noexcept { return BlocksOf(rows, threads); }
int64_t AttendToHeads::NumbersOfBlock() const noexcept {
  // A query, a key or value, a sum of values, scores, and two numbers for each row of a key.
  return Depth() + std::max(Depth(), ValueDepth()) + ValueDepth() + 3 * InLanes(MostKeys());
}

int64_t AttendToHeads::Choose(const JobContext& context, int64_t item, char* chosen) const noexcept {
  const int64_t row = item / heads;
  const int64_t head = item % heads;
  const int64_t key_head = head / (heads / key_heads);
  const SequenceRows::Part own = queries.PartWith(context, row);
  const int64_t position = row - own.first;
  const SequenceRows::Part others = keys.PartOf(context, own.batch);
  int64_t visible = position < own.count ? others.count : 0;
  if (is_causal)
    visible =
        std::min(visible, VisibleKeys(true, position, from_the_end ? own.count : others.count, others.count));
  int64_t found = 0;
  const auto choose = [&](int64_t block) {
    // A block's length and number may be any: products of those behind the last key may not be representable.
    if (block > (visible - 1) / key_block) return;
    const int64_t first = block * key_block;
    const int64_t end = first + std::min(key_block, visible - first);
    for (int64_t j = first; j < end; ++j) {
      // Pages that do not exist have no keys.
      const int64_t at = keys.RowOf(context, others, j);
      if (at >= 0) Store<int64_t>(chosen + found++ * int64_t{sizeof(int64_t)}, at);
    }
  };
  for (int64_t i = 0; i < count && visible > 0; ++i) {
    if (index.is_there) {
      const int64_t block =
          Load<int32_t>(index.buffer.Address(context) +
                        ((row * key_heads + key_head) * count + i) * int64_t{sizeof(int32_t)});
      if (block >= 0) choose(block);
    } else if (Load<int8_t>(mark.Address(context) +
                            ((own.batch * heads + head) * query_blocks + position / query_block) * count +
                            i) == 1) {
      choose(i);
    }
  }
  return found;
}

void AttendToHeads::Run(const JobContext& context) const noexcept {
  const int64_t padded = Depth();
  const int64_t width = ValueDepth();
  const int64_t most = InLanes(MostKeys());
  const int64_t blocks = Blocks();
  ForEachBlock(
      blocks, threads,
      [&](int64_t own_block) {
        const DefaultFloatEnvironment environment;
        float* const of_query =
            reinterpret_cast<float*>(work.Address(context)) + own_block * NumbersOfBlock();
        float* const of_key = of_query + padded;
        float* const sums = of_key + std::max(padded, width);
        float* const scores = sums + width;
        char* const chosen = reinterpret_cast<char*>(scores + most);  // INT64 rows in memory
        const auto row_of = [&](int64_t i) { return Load<int64_t>(chosen + i * int64_t{sizeof(int64_t)}); };
        std::fill_n(of_query, padded, 0.0f);
        for (int64_t item = own_block; item < rows * heads; item += blocks) {
          const int64_t key_head = item % heads / (heads / key_heads);
          const int64_t found = Choose(context, item, chosen);
          Bring(query, context, item * depth, depth, of_query);
          std::fill_n(of_key, padded, 0.0f);
          float peak = kLowest;
          for (int64_t i = 0; i < found; ++i) {
            Bring(key, context, (row_of(i) * key_heads + key_head) * depth, depth, of_key);
            scores[i] = scale * functions.dot(of_query, of_key, padded);
            peak = std::max(peak, scores[i]);
          }
          for (int64_t i = 0; i < found; ++i) scores[i] -= peak;
          functions.exponential(scores, found);
          std::fill_n(scores + found, most - found, 0.0f);
          const float total = functions.sum(scores, most);
          const bool is_seen = total != 0;
          const auto put_statistic = [&](const OptionalBuffer& to_statistic, float number) {
            for (int64_t copy = 0; to_statistic.is_there && copy < copies; ++copy)
              Store<float>(
                  to_statistic.buffer.Address(context) + (item * copies + copy) * int64_t{sizeof(float)},
                  number);
          };
          put_statistic(greatest, peak);
          put_statistic(sum, is_seen ? total : std::numeric_limits<float>::max());
          if (log_sum.is_there) put_statistic(log_sum, is_seen ? log_sum_of(peak, total) : kInfinity);
          const float factor = is_seen ? 1.0f / total : 0.0f;
          std::fill_n(sums, width, 0.0f);
          std::fill_n(of_key, width, 0.0f);
          for (int64_t i = 0; i < found; ++i) {
            Bring(value, context, (row_of(i) * key_heads + key_head) * value_depth, value_depth, of_key);
            functions.add(of_key, scores[i] * factor, sums, width);
          }
          Put(to, context, item * value_depth, value_depth, sums);
        }
      },
      BlockLength::kLong);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
