// Attention to compressed keys (see compressed_keys.h). Queries and heads of keys are taken one by one.
// SPDX-License-Identifier: Apache-2.0
#include "engine/serve/compressed_keys.h"

#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

int64_t InLanes(int64_t n) { return (n + 15) / 16 * 16; }

void Bring(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + at * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + at * rows.size, static_cast<size_t>(n), false);
}

}  // namespace

int64_t AttendAndRank::Blocks() const noexcept {
  return std::clamp<int64_t>(rows * key_heads, 1, int64_t{4} * threads);
}
int64_t AttendAndRank::NumbersOfBlock() const noexcept {
  // A query, a key or value, a sum of values, scores, shares, and two numbers for each block's share.
  const int64_t most = InLanes(keys.Most());
  return Depth() + std::max(Depth(), ValueDepth()) + ValueDepth() + 4 * most;
}

void AttendAndRank::Rank(const JobContext& context, int64_t item, int64_t visible, const float* shares,
                         double* of_blocks) const noexcept {
  const int64_t blocks = (visible + block_steps - 1) / block_steps;
  for (int64_t j = 0; j < blocks; ++j) {
    double share = 0;
    for (int64_t m = 0; m < block_steps; ++m) {
      for (int64_t n = 0; n < window_steps; ++n) {
        const int64_t position = block_steps * j - m - n;
        if (position >= 0 && position < visible) share += static_cast<double>(shares[position]);
      }
    }
    of_blocks[j] = share;
  }
  char* const listed = index.Address(context) + item * count * int64_t{sizeof(int32_t)};
  for (int64_t i = 0; i < count; ++i) {
    int64_t best = -1;
    for (int64_t j = 0; j < blocks; ++j) {
      // A listed block has a share below all others.
      if (of_blocks[j] >= 0 && (best < 0 || of_blocks[j] > of_blocks[best])) best = j;
    }
    if (best >= 0) of_blocks[best] = -1;
    Store<int32_t>(listed + i * int64_t{sizeof(int32_t)}, static_cast<int32_t>(best));
  }
}

void AttendAndRank::Run(const JobContext& context) const noexcept {
  const int64_t padded = Depth();
  const int64_t width = ValueDepth();
  const int64_t most = InLanes(keys.Most());
  const int64_t blocks = Blocks();
  const int64_t group = heads / key_heads;
  ForEachBlock(
      blocks, threads,
      [&](int64_t own_block) {
        const DefaultFloatEnvironment environment;
        float* const of_query =
            reinterpret_cast<float*>(work.Address(context)) + own_block * NumbersOfBlock();
        float* const of_key = of_query + padded;
        float* const sums = of_key + std::max(padded, width);
        float* const scores = sums + width;
        float* const shares = scores + most;
        auto* const of_blocks = reinterpret_cast<double*>(shares + most);
        std::fill_n(of_query, padded, 0.0f);
        for (int64_t item = own_block; item < rows * key_heads; item += blocks) {
          const int64_t row = item / key_heads;
          const int64_t key_head = item % key_heads;
          const SequenceRows::Part own = queries.PartWith(context, row);
          const int64_t position = row - own.first;
          const SequenceRows::Part others = keys.PartOf(context, own.batch);
          const int64_t visible = position < own.count ? others.count : 0;
          std::fill_n(shares, visible, 0.0f);
          const auto is_seen = [&](int64_t j) {
            return keys.RowOf(context, others, j) >= 0 &&
                   (!mask.is_there ||
                    (j < mask_columns && mask.buffer.Address(context)[position * mask_columns + j] == 0));
          };
          for (int64_t head = key_head * group; head < (key_head + 1) * group; ++head) {
            const int64_t of_head = row * heads + head;
            Bring(query, context, of_head * depth, depth, of_query);
            std::fill_n(of_key, padded, 0.0f);
            float peak = kLowest;
            for (int64_t j = 0; j < visible; ++j) {
              if (!is_seen(j)) continue;
              Bring(key, context, (keys.RowOf(context, others, j) * key_heads + key_head) * depth, depth,
                    of_key);
              scores[j] = scale * functions.dot(of_query, of_key, padded);
              peak = std::max(peak, scores[j]);
            }
            for (int64_t j = 0; j < visible; ++j)
              scores[j] = is_seen(j) ? scores[j] - peak : -std::numeric_limits<float>::infinity();
            functions.exponential(scores, visible);
            std::fill_n(scores + visible, InLanes(visible) - visible, 0.0f);
            const float total = functions.sum(scores, InLanes(visible));
            const bool has_keys = total != 0;
            const auto put_statistic = [&](const OptionalBuffer& statistic, float number) {
              for (int64_t copy = 0; statistic.is_there && copy < copies; ++copy)
                Store<float>(
                    statistic.buffer.Address(context) + (of_head * copies + copy) * int64_t{sizeof(float)},
                    number);
            };
            put_statistic(greatest, peak);
            put_statistic(sum, has_keys ? total : std::numeric_limits<float>::max());
            const float factor = has_keys ? 1.0f / total : 0.0f;
            std::fill_n(sums, width, 0.0f);
            std::fill_n(of_key, width, 0.0f);
            for (int64_t j = 0; j < visible; ++j) {
              if (!is_seen(j)) continue;
              const float weight = scores[j] * factor;
              shares[j] += weight;
              Bring(value, context, (keys.RowOf(context, others, j) * key_heads + key_head) * value_depth,
                    value_depth, of_key);
              functions.add(of_key, weight, sums, width);
            }
            Put(to, context, of_head * value_depth, value_depth, sums);
          }
          Rank(context, item, visible, shares, of_blocks);
        }
      },
      BlockLength::kLong);
}

// A sequence's head of keys is one item, so that no two add to the same gradient.
void SelectedGradients::Run(const JobContext& context) const noexcept {
  const auto clear = [&](const BufferRef& buffer, int64_t count_of_numbers) {
    std::memset(buffer.Address(context), 0, static_cast<size_t>(count_of_numbers) * sizeof(float));
  };
  clear(of_query, queries.rows * heads * depth);
  clear(of_key, keys.rows * key_heads * depth);
  clear(of_value, keys.rows * key_heads * value_depth);
  const int64_t group = heads / key_heads;
  ForEachBlock(
      Items(), threads,
      [&](int64_t item) {
        const DefaultFloatEnvironment environment;
        float* const q = reinterpret_cast<float*>(work.Address(context)) + item * NumbersOfItem();
        float* const k = q + Depth();
        float* const v = k + Depth();
        float* const o = v + ValueDepth();
        float* const g = o + ValueDepth();
        std::fill_n(q, NumbersOfItem(), 0.0f);
        const auto bring = [&](const BufferRef& from, int64_t row, int64_t n, float* to) {
          load(from.Address(context) + row * n * size, to, static_cast<size_t>(n));
        };
        const auto sums = [&](const BufferRef& of, int64_t row, int64_t n) {
          return reinterpret_cast<float*>(of.Address(context)) + row * n;
        };
        const auto add = [](float factor, const float* x, int64_t n, float* to) {
          for (int64_t i = 0; i < n; ++i) to[i] += factor * x[i];
        };
        const int64_t key_head = item % key_heads;
        const SequenceRows::Part own = queries.PartOf(context, item / key_heads);
        const SequenceRows::Part others = keys.PartOf(context, own.batch);
        for (int64_t position = 0; position < own.count; ++position) {
          const int64_t row = own.first + position;
          const int64_t visible = is_causal ? std::min(position + 1, others.count) : others.count;
          const char* const listed =
              index.Address(context) + (row * key_heads + key_head) * count * int64_t{sizeof(int32_t)};
          for (int64_t head = key_head * group; head < (key_head + 1) * group; ++head) {
            const int64_t of_head = row * heads + head;
            bring(query, of_head, depth, q);
            bring(out, of_head, value_depth, o);
            bring(of_out, of_head, value_depth, g);
            const float delta = functions.dot(o, g, ValueDepth());
            const auto statistic = [&](const BufferRef& buffer) {
              return Load<float>(buffer.Address(context) + of_head * copies * int64_t{sizeof(float)});
            };
            const float peak = statistic(greatest);
            const float total = statistic(sum);
            for (int64_t i = 0; i < count; ++i) {
              const int64_t chosen = Load<int32_t>(listed + i * int64_t{sizeof(int32_t)});
              if (chosen < 0) continue;
              for (int64_t j = chosen * block; j < std::min((chosen + 1) * block, visible); ++j) {
                const int64_t of_keys = (others.first + j) * key_heads + key_head;
                bring(key, of_keys, depth, k);
                bring(value, of_keys, value_depth, v);
                float weight = scale * functions.dot(q, k, Depth()) - peak;
                functions.exponential(&weight, 1);
                weight /= total;
                const float slope = weight * (functions.dot(g, v, ValueDepth()) - delta) * scale;
                add(slope, k, depth, sums(of_query, of_head, depth));
                add(slope, q, depth, sums(of_key, of_keys, depth));
                add(weight, g, value_depth, sums(of_value, of_keys, value_depth));
              }
            }
          }
        }
      },
      BlockLength::kLong);
}

}  // namespace portacl::engine
