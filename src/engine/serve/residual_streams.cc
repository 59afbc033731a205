// Hyper-connections (see residual_streams.h), token by token.
// SPDX-License-Identifier: Apache-2.0
#include "engine/serve/residual_streams.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_environment.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kNumber = sizeof(float);

void Bring(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, float* to) {
  rows.load(rows.buffer.Address(context) + at * rows.size, to, static_cast<size_t>(n));
}
void Put(const NumberRows& rows, const JobContext& context, int64_t at, int64_t n, const float* from) {
  rows.store(from, rows.buffer.Address(context) + at * rows.size, static_cast<size_t>(n), false);
}
void Copy(const BufferRef& buffer, const JobContext& context, int64_t at, int64_t n, float* to) {
  std::memcpy(to, buffer.Address(context) + at * kNumber, static_cast<size_t>(n * kNumber));
}
float NumberAt(const BufferRef& buffer, const JobContext& context, int64_t at) {
  return Load<float>(buffer.Address(context) + at * kNumber);
}
void SetNumber(const BufferRef& buffer, const JobContext& context, int64_t at, float value) {
  Store<float>(buffer.Address(context) + at * kNumber, value);
}

}  // namespace

int64_t EnterConnections::Blocks() const noexcept {
  return std::clamp<int64_t>(tokens, 1, int64_t{4} * threads);
}

void EnterConnections::Run(const JobContext& context) const noexcept {
  const int64_t all = streams * columns;
  const int64_t length = Length();
  const int64_t blocks = Blocks();
  ForEachBlock(
      blocks, threads,
      [&](int64_t own) {
        const DefaultFloatEnvironment environment;
        float* const numbers = reinterpret_cast<float*>(work.Address(context)) + own * NumbersOfBlock();
        float* const scaled = numbers + length;
        float* const row = scaled + length;
        float* const sums = row + length;
        float* const parts_of_token = sums + columns;
        std::fill_n(scaled, length, 0.0f);
        std::fill_n(row, length, 0.0f);
        for (int64_t token = own; token < tokens; token += blocks) {
          Bring(x, context, token * all, all, numbers);
          double squares = 0;
          for (int64_t i = 0; i < all; ++i)
            squares += static_cast<double>(numbers[i]) * static_cast<double>(numbers[i]);
          const auto r =
              static_cast<float>(1.0 / std::sqrt(squares / static_cast<double>(all) + norm_epsilon));
          for (int64_t i = 0; i < all; ++i)
            scaled[i] = gamma.is_there ? numbers[i] * NumberAt(gamma.buffer, context, i) : numbers[i];
          for (int64_t part = 0; part < parts; ++part) {
            Copy(phi, context, part * all, all, row);
            const float product = functions.dot(scaled, row, length);
            if (mix.is_there) SetNumber(mix.buffer, context, token * parts + part, product);
            const int64_t which = std::min<int64_t>(part / streams, 2);
            const float w = product * r;
            parts_of_token[part] = w * NumberAt(alpha, context, which) + NumberAt(bias, context, part);
          }
          if (root.is_there) SetNumber(root.buffer, context, token, r);
          // The parts of pre and post become sigmoids: 1 / (1 + exp(-w)).
          for (int64_t i = 0; i < 2 * streams; ++i) parts_of_token[i] = -parts_of_token[i];
          functions.exponential(parts_of_token, 2 * streams);
          for (int64_t i = 0; i < 2 * streams; ++i) parts_of_token[i] = 1.0f / (1.0f + parts_of_token[i]);
          std::fill_n(sums, columns, 0.0f);
          for (int64_t s = 0; s < streams; ++s) {
            const float factor = parts_of_token[s] + epsilon;
            if (pre.is_there) SetNumber(pre.buffer, context, token * streams + s, factor);
            SetNumber(post, context, token * streams + s, 2.0f * parts_of_token[streams + s]);
            for (int64_t i = 0; i < columns; ++i) sums[i] += factor * numbers[s * columns + i];
          }
          Put(in, context, token * columns, columns, sums);
          const int64_t mixed = streams * streams;
          for (int64_t i = 0; residual.is_there && i < mixed; ++i)
            SetNumber(residual.buffer, context, token * mixed + i, parts_of_token[2 * streams + i]);
        }
      },
      BlockLength::kLong);
}

void LeaveConnections::Run(const JobContext& context) const noexcept {
  constexpr int64_t kTogether = 512;
  ForEachBlock(tokens * streams, threads, [&](int64_t item) {
    const DefaultFloatEnvironment environment;
    const int64_t token = item / streams;
    const int64_t j = item % streams;
    float sums[kTogether];
    float term[kTogether];
    for (int64_t column = 0; column < columns; column += kTogether) {
      const int64_t n = std::min(kTogether, columns - column);
      Bring(out, context, token * columns + column, n, term);
      const float by = NumberAt(post, context, item);
      for (int64_t i = 0; i < n; ++i) sums[i] = by * term[i];
      for (int64_t from = 0; from < streams; ++from) {
        const float factor = NumberAt(residual, context, (token * streams + from) * streams + j);
        Bring(x, context, (token * streams + from) * columns + column, n, term);
        for (int64_t i = 0; i < n; ++i) sums[i] += factor * term[i];
      }
      Put(to, context, item * columns + column, n, sums);
    }
  });
}

void BalanceMatrices::Run(const JobContext& context) const noexcept {
  constexpr int64_t kTogether = 64;
  ForEachBlock((count + kTogether - 1) / kTogether, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    float y[kMostSide * kMostSide];
    const auto divide = [&](bool rows) {
      for (int64_t i = 0; i < side; ++i) {
        float sum = 0;
        for (int64_t j = 0; j < side; ++j) sum += rows ? y[i * side + j] : y[j * side + i];
        for (int64_t j = 0; j < side; ++j) {
          float& one = rows ? y[i * side + j] : y[j * side + i];
          one /= sum + epsilon;
        }
      }
    };
    for (int64_t at = block * kTogether; at < std::min(count, (block + 1) * kTogether); ++at) {
      Copy(x, context, at * side * side, side * side, y);
      for (int64_t i = 0; i < side; ++i) {
        float* const row = y + i * side;
        float greatest = row[0];
        for (int64_t j = 1; j < side; ++j) greatest = row[j] > greatest ? row[j] : greatest;
        for (int64_t j = 0; j < side; ++j) row[j] -= greatest;
        exponential(row, side);
        float sum = 0;
        for (int64_t j = 0; j < side; ++j) sum += row[j];
        for (int64_t j = 0; j < side; ++j) row[j] = row[j] / sum + epsilon;
      }
      divide(/*rows=*/false);
      for (int64_t i = 1; i < rounds; ++i) {
        divide(/*rows=*/true);
        divide(/*rows=*/false);
      }
      std::memcpy(to.Address(context) + at * side * side * kNumber, y,
                  static_cast<size_t>(side * side * kNumber));
    }
  });
}

}  // namespace portacl::engine
