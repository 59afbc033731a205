// Makes rows for caches, puts them into pages and takes them out; advances requests (see serve.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float_environment.h"
#include "engine/parallel.h"
#include "engine/serve/serve.h"

namespace portacl::engine {
namespace {

constexpr int64_t kNumber = sizeof(float);
constexpr int64_t kWord = sizeof(int64_t);
constexpr int64_t kTogether = 8192;  // numbers that a thread takes at a time

int64_t WordAt(const BufferRef& buffer, const JobContext& context, int64_t i) {
  return Load<int64_t>(buffer.Address(context) + i * kWord);
}
void SetWord(const BufferRef& buffer, const JobContext& context, int64_t i, int64_t value) {
  Store(buffer.Address(context) + i * kWord, value);
}
float NumberOr(const OptionalBuffer& buffer, const JobContext& context, int64_t i, float otherwise) {
  return buffer.is_there ? Load<float>(buffer.buffer.Address(context) + i * kNumber) : otherwise;
}

// Arithmetic wraps, as the processor's does.
int64_t Sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t Product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// Calls body(first, end) for thread blocks of items. Each item has `numbers` numbers.
template <class Body>
void ForEachThreadBlock(int64_t items, int64_t numbers, int threads, const Body& body) {
  const int64_t each = std::max<int64_t>(1, kTogether / std::max<int64_t>(numbers, 1));
  ForEachBlock((items + each - 1) / each, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    body(block * each, std::min(items, (block + 1) * each));
  });
}

// Rounds to the nearest INT8, halfway cases to even; NaN is 0.
int8_t Nearest(float x) {
  const float rounded = std::nearbyintf(x);
  if (!(rounded > -128.0f)) return std::isnan(rounded) ? int8_t{0} : int8_t{-128};
  return rounded < 127.0f ? static_cast<int8_t>(rounded) : int8_t{127};
}
float Scaled(const CacheQuantiser& quantiser, const JobContext& context, float x, int64_t column) {
  const float scale = NumberOr(quantiser.scale, context, column % quantiser.scales, 1.0f);
  const float scaled = quantiser.divides ? x / scale : x * scale;
  return quantiser.offset.is_there
             ? scaled + NumberOr(quantiser.offset, context, column % quantiser.offsets, 0.0f)
             : scaled;
}
int8_t Quantised(const CacheQuantiser& quantiser, const JobContext& context, float x, int64_t column) {
  return Nearest(Scaled(quantiser, context, x, column));
}

}  // namespace

// ---- rows of pages ----

void ListSlots::Run(const JobContext& context) const noexcept {
  int64_t row = 0;
  for (int64_t batch = 0; batch < batches; ++batch) {
    const int64_t begin = WordAt(length, context, batch);
    const int64_t end = is_summed ? WordAt(length, context, batch + 1) : 0;
    int64_t count = begin;
    if (is_summed && __builtin_sub_overflow(end, begin, &count)) count = 0;
    const int64_t first_page = skipped.is_there ? WordAt(skipped.buffer, context, batch) / slots : 0;
    for (int64_t i = 0; i < count && row < rows; ++i, ++row) {
      const int64_t column = Sum(first_page, i / slots);
      const int64_t page =
          column >= 0 && column < columns ? WordAt(table, context, batch * columns + column) : int64_t{-1};
      SetWord(slot, context, row, page >= 0 && page < pages ? page * slots + i % slots : kClearedRow);
    }
  }
  for (; row < rows; ++row) SetWord(slot, context, row, kLeftRow);
}

void TakeFromPages::Run(const JobContext& context) const noexcept {
  char* const target = to.Address(context);
  const int64_t bytes = from.columns * from.size;
  ForEachThreadBlock(rows, bytes / 4, threads, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      const int64_t at = WordAt(slot, context, row);
      if (at == kLeftRow) return;
      char* const own = target + row * bytes;
      if (at < 0) {
        std::memset(own, 0, static_cast<size_t>(bytes));
        continue;
      }
      for (int64_t column = 0; column < from.columns; column += from.group)
        std::memcpy(own + column * from.size, from.At(context, at, column),
                    static_cast<size_t>(from.group * from.size));
    }
  });
}

int64_t PutInPages::SlotOf(const char* list, int64_t row) const noexcept {
  const auto at = [list](int64_t i) { return Load<int64_t>(list + i * kWord); };
  const int64_t batch = row / rows_of_batch;
  const int64_t step = row % rows_of_batch;
  int64_t found = -1;
  switch (slots) {
    case Slots::kEach:
      return at(row);
    case Slots::kPages: {
      if (to.slots == 0) return -1;
      const int64_t pages = (rows_of_batch + to.slots - 1) / to.slots;
      found = at(batch * pages + step / to.slots);
      return to.Has(found) ? found / to.slots * to.slots + step % to.slots : -1;
    }
    case Slots::kFirstInBatch:
      if (__builtin_add_overflow(at(batch), step, &found)) return -1;
      break;
    case Slots::kEachInBatch:
      found = at(row);
      break;
  }
  return found >= 0 && found < to.slots ? batch * to.slots + found : -1;
}

// Writes in the order of the rows, so that the last row of a slot remains.
void PutInPages::Run(const JobContext& context) const noexcept {
  const char* const source = from.Address(context);
  const char* const list = slot.Address(context);
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t at = SlotOf(list, row);
    if (!to.Has(at)) continue;
    for (int64_t column = 0; column < to.columns; column += to.group)
      std::memcpy(to.At(context, at, column), source + (row * to.columns + column) * to.size,
                  static_cast<size_t>(to.group * to.size));
  }
}

// ---- rows for caches ----

namespace {

int64_t HeadsTogether(int64_t width) { return std::max<int64_t>(1, kTogether / std::max<int64_t>(width, 1)); }

// x * gamma / sqrt(mean(x * x) + epsilon) * factor, in place.
void Norm(float* x, const float* gamma, int64_t width, double epsilon, float factor) {
  double sum = 0;
  for (int64_t i = 0; i < width; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  const auto rstd = static_cast<float>(1.0 / std::sqrt(sum / static_cast<double>(width) + epsilon));
  for (int64_t i = 0; i < width; ++i) x[i] = x[i] * rstd * gamma[i] * factor;
}

}  // namespace

int64_t MakeRows::Blocks() const noexcept {
  const int64_t together = HeadsTogether(width);
  return (rows * heads + together - 1) / together;
}

void MakeRows::Run(const JobContext& context) const noexcept {
  const int64_t together = HeadsTogether(width);
  float* const lines = reinterpret_cast<float*>(work.Address(context));
  const auto to_half = [&](float x) {
    uint16_t half;
    store_half(&x, &half, 1, false);
    load_half(&half, &x, 1);
    return x;
  };
  const auto step = [&](float x) { return rounds_steps ? to_half(x) : x; };
  const auto number = [&](const NumberRows& numbers, int64_t at) {
    float x;
    numbers.load(numbers.buffer.Address(context) + at * numbers.size, &x, 1);
    return x;
  };
  ForEachBlock(Blocks(), threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    float* const x = lines + block * 2 * width;
    float* const other = x + width;
    for (int64_t item = block * together; item < std::min(rows * heads, (block + 1) * together); ++item) {
      const int64_t row = item / heads;
      const int64_t head = item % heads;
      source.load(source.buffer.Address(context) + (row * pitch + first + head * width) * source.size, x,
                  static_cast<size_t>(width));
      if (gamma.is_there) {
        gamma.load(gamma.buffer.Address(context), other, static_cast<size_t>(width));
        Norm(x, other, width, epsilon, factor);
      }
      if (turned > 0) {
        const int64_t half = turned / 2;
        const int64_t angles = row / angle_rows * turned;
        for (int64_t i = 0; i < half; ++i) {
          const float a = step(x[is_interleaved ? 2 * i : i]);
          const float b = step(x[is_interleaved ? 2 * i + 1 : i + half]);
          const float cos_a = number(cos, angles + i);
          const float cos_b = number(cos, angles + i + half);
          const float sin_a = number(sin, angles + i);
          const float sin_b = number(sin, angles + i + half);
          other[i] = step(step(a * cos_a) - step(b * sin_a));
          other[i + half] = step(step(b * cos_b) + step(a * sin_b));
        }
        std::copy_n(other, turned, x);
      }
      const int64_t buffer = item * width;
      if (to.is_there)
        to.store(x, to.buffer.Address(context) + buffer * to.size, static_cast<size_t>(width), false);
      if (quantised.is_there) {
        char* const own = quantised.buffer.Address(context) + buffer;
        for (int64_t i = 0; i < width; ++i)
          own[i] = static_cast<char>(Quantised(quantiser, context, x[i], head * width + i));
      } else if (element.is_there) {
        element.store(x, element.buffer.Address(context) + buffer * element.size, static_cast<size_t>(width),
                      false);
      }
    }
  });
}

void DequantiseRows::Run(const JobContext& context) const noexcept {
  const char* const from = source.Address(context);
  char* const target = to.Address(context);
  ForEachThreadBlock(rows, columns, threads, [&](int64_t first, int64_t end) {
    for (int64_t at = first * columns; at < end * columns; ++at) {
      const int64_t c = at % columns;
      auto x = static_cast<uint32_t>(Load<int32_t>(from + at * 4));
      if (bias_before.is_there)
        x += static_cast<uint32_t>(Load<int32_t>(bias_before.buffer.Address(context) + c * 4));
      float value =
          static_cast<float>(static_cast<int32_t>(x)) * Load<float>(column.Address(context) + c * 4);
      if (row.is_there) value *= NumberOr(row, context, at / columns, 1.0f);
      if (bias_behind.is_there) value += NumberOr(bias_behind, context, c, 0.0f);
      Store(target + at * kNumber, value);
    }
  });
}

void QuantiseByRow::Run(const JobContext& context) const noexcept {
  const char* const from = source.buffer.Address(context);
  char* const codes = to.Address(context);
  ForEachThreadBlock(rows, 2 * columns, threads, [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      const auto number = [&](int64_t column) {
        float x;
        source.load(from + (row * columns + column) * source.size, &x, 1);
        return smooth.is_there ? x * NumberOr(smooth, context, column, 1.0f) : x;
      };
      float greatest = 0;
      for (int64_t column = 0; column < columns; ++column) {
        const float magnitude = std::fabs(number(column));
        greatest = magnitude > greatest ? magnitude : greatest;
      }
      const float by = greatest / 127.0f;
      for (int64_t column = 0; column < columns; ++column) {
        const int8_t code = by == 0 ? int8_t{0} : Nearest(number(column) / by);
        codes[row * columns + column] = static_cast<char>(code);
      }
      Store(step.Address(context) + row * kNumber, by);
    }
  });
}

void RescaleRows::Run(const JobContext& context) const noexcept {
  const auto by = Load<float>(factor.Address(context));
  ForEachThreadBlock(rows, columns, threads, [&](int64_t first, int64_t end) {
    for (int64_t at = first * columns; at < end * columns; ++at) {
      float x;
      source.load(source.buffer.Address(context) + at * source.size, &x, 1);
      x = x * by / Load<float>(step.Address(context) + at / columns * kNumber);
      to.store(&x, to.buffer.Address(context) + at * to.size, 1, false);
    }
  });
}

void QuantiseToIndices::Run(const JobContext& context) const noexcept {
  const DefaultFloatEnvironment environment;
  char* const target = to.Address(context);
  for (int64_t row = 0; row < batches * before * positions * between; ++row) {
    const int64_t inner = row % between;
    const int64_t j = row / between % positions;
    const int64_t outer = row / between / positions % before;
    const int64_t batch = row / between / positions / before;
    const int64_t target_batch = names_batch ? WordAt(buffer, context, 2 * batch) : batch;
    int64_t position = WordAt(buffer, context, names_batch ? 2 * batch + 1 : batch);
    if (__builtin_add_overflow(position, j, &position) || position < 0 || position >= target_positions ||
        target_batch < 0 || target_batch >= target_batches)
      continue;
    char* const own =
        target +
        (((target_batch * before + outer) * target_positions + position) * between + inner) * columns;
    for (int64_t i = 0; i < columns; ++i) {
      float x;
      source.load(source.buffer.Address(context) + (row * columns + i) * source.size, &x, 1);
      const float scaled = Scaled(quantiser, context, x, i);
      if (encode != nullptr) {
        encode(&scaled, own + i, 1, Rounding::kNearestEven);
      } else {
        own[i] = static_cast<char>(Nearest(scaled));
      }
    }
  }
}

// ---- requests ----

void AdvanceRequests::Run(const JobContext& context) const noexcept {
  const auto at = [&](const BufferRef& buffer, int64_t i) { return WordAt(buffer, context, i); };
  const auto set = [&](const BufferRef& buffer, int64_t i, int64_t value) {
    SetWord(buffer, context, i, value);
  };
  if (!proposed.is_there) {
    for (int64_t i = 0; i < rows; ++i) {
      if (i >= requests) {
        set(token, i, 0);
        set(position, i, 0);
        set(slot, i, -1);
        continue;
      }
      const int64_t now = at(length, i);
      set(token, i, at(sampled, i));
      set(position, i, now);
      set(length, i, Sum(now, 1));
      // Adds the request's number to its page's, as CANN does.
      const int64_t column = now / page;
      const bool is_there = now >= 0 && column < table_rows * table_columns;
      const int64_t of_request = Product(table_columns, i);
      set(slot, i, is_there ? Sum(Product(Sum(at(table, column), of_request), page), now % page) : -1);
    }
    return;
  }
  const int64_t each = proposals + 1;
  for (int64_t r = 0; r < requests; ++r) {
    // Finds the end of the sampled tokens. Negative values follow it; among them the least one marks the end.
    int64_t lowest = -1;
    int64_t end = each;
    for (int64_t i = each - 1; i >= 0; --i) {
      const int64_t value = at(sampled, r * each + i);
      if (value > lowest) continue;
      lowest = value;
      end = i;
    }
    const int64_t last = at(sampled, r * each + std::max<int64_t>(end - 1, 0));
    const int64_t stayed = Sum(at(accepted.buffer, r), 1);
    for (int64_t i = 0; i < each; ++i) {
      const int64_t row = r * each + i;
      const int64_t now = Sum(at(position, row), stayed);
      set(token, row, i == 0 ? last : at(proposed.buffer, r * proposals + i - 1));
      set(position, row, now);
      set(length, row, Sum(now, 1));
      const int64_t column = now / page;
      const bool is_there = now >= 0 && column < table_columns;
      set(slot, row, is_there ? Sum(Product(at(table, r * table_columns + column), page), now % page) : -1);
    }
  }
}

}  // namespace portacl::engine
