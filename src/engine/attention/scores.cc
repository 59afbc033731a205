// The common part of attention and its gradients (see scores.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/attention/scores.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/buffer_ref.h"

namespace portacl::engine::attention {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();

}  // namespace

int32_t SizeOf(aclDataType dtype) noexcept { return dtype == ACL_FLOAT ? 4 : dtype == ACL_INT8 ? 1 : 2; }

size_t ElementOf(aclDataType dtype) noexcept {
  return static_cast<size_t>(dtype == ACL_FLOAT     ? GemmElement::kF32
                             : dtype == ACL_FLOAT16 ? GemmElement::kF16
                                                    : GemmElement::kBf16);
}

PackSource SourceOf(const Attention& attention, const AttentionOperand& operand, bool lines_are_rows) {
  const size_t element = ElementOf(operand.dtype);
  return {lines_are_rows ? operand.row : operand.column,
          lines_are_rows ? operand.column : operand.row,
          SizeOf(operand.dtype),
          FindLoad(attention.isa, operand.dtype, ACL_FLOAT),
          attention.gemm->pack_columns[element],
          attention.gemm->transpose[element],
          attention.gather};
}

namespace {

// Packs rows of INT8, which become FLOAT first.
void PackQueryCodes(const Work& work, const AttentionOperand& operand, const char* first, int64_t rows,
                    int64_t depth, char* memory, float* to) {
  AttentionOperand copied;
  copied.dtype = ACL_FLOAT;
  copied.column = kNumber;
  copied.row = depth * kNumber;
  const PackSource source = SourceOf(work.attention, copied, true);
  char* const copy = memory + kPackMemory;
  for (int64_t r = 0; r < rows; ++r) {
    LoadRow(work.attention, operand, first + r * operand.row, depth, reinterpret_cast<float*>(copy));
    for (int64_t term = 0; term < depth; term += kGemmDepth) {
      PackRows(source, copy + term * kNumber, 1, std::min(kGemmDepth, depth - term), memory,
               to + term / kGemmDepth * rows * kPackedRow + r * kPackedRow);
    }
  }
}

}  // namespace

void PackQueryRows(const Work& work, const AttentionOperand& operand, const char* first, int64_t rows,
                   int64_t depth, char* memory, float* to) {
  if (operand.dtype == ACL_INT8) return PackQueryCodes(work, operand, first, rows, depth, memory, to);
  const PackSource source = SourceOf(work.attention, operand, true);
  for (int64_t term = 0; term < depth; term += kGemmDepth) {
    PackRows(source, first + term * operand.column, rows, std::min(kGemmDepth, depth - term), memory, to);
    to += rows * kPackedRow;
  }
}

// ---- rows of keys and values ----

const char* Rows::WithoutGap(int64_t first, int64_t count) const {
  if (IsCopied()) return nullptr;
  int64_t run;
  const char* const from = At(first, &run);
  return run >= count ? from : nullptr;
}

WordSource Rows::Words(bool lines_are_rows) const {
  const int64_t line = lines_are_rows ? operand_.row : operand_.column;
  const int64_t term = lines_are_rows ? operand_.column : operand_.row;
  return WordSourceOf(*work_.attention.gemm, work_.attention.gather, line, term, SizeOf(operand_.dtype));
}

int64_t Rows::PageOf(int64_t row) const {
  const AttentionOperand& table = work_.attention.table;
  return Load<int32_t>(work_.Base(table) + batch_ * table.batch + row / work_.attention.page * table.column);
}

const char* Rows::At(int64_t row, int64_t* run) const {
  const Attention& attention = work_.attention;
  const AttentionParts* const parts = work_.parts;
  const bool is_before = row < start_;
  row = std::max(row, start_);
  const AttentionBatch& batch = work_.First(batch_);
  const char* const base = work_.Base(operand_) + head_ * operand_.head;
  const char* at;
  if (prefix_ != nullptr && row < parts->prefix_rows) {
    *run = parts->prefix_rows - row;
    at = work_.Base(*prefix_) + head_ * prefix_->head + row * prefix_->row;
  } else if (!attention.table.IsThere()) {
    *run = batch.keys - row;
    const int64_t own = prefix_ != nullptr ? row - parts->prefix_rows : row;
    at = base + batch_ * operand_.batch + (batch.first_key + own) * operand_.row;
  } else {
    *run = attention.page - row % attention.page;
    at = base + PageOf(row) * operand_.batch + row % attention.page * operand_.row;
  }
  if (is_before) *run = 1;
  return at;
}

void Rows::Prefetch(int64_t first, int64_t count, int64_t bytes) const {
  constexpr int64_t kLine = 64;
  for (int64_t done = 0; done < count;) {
    int64_t run;
    const char* from = At(first + done, &run);
    run = std::min(run, count - done);
    for (int64_t i = 0; i < run; ++i, from += operand_.row) {
      for (int64_t byte = 0; byte < bytes; byte += kLine) __builtin_prefetch(from + byte, 0, 2);
    }
    done += run;
  }
}

void Rows::CopyRows(int64_t first, int64_t count, char* to) const {
  const int64_t bytes = depth_ * operand_.column;
  for (int64_t done = 0; done < count;) {
    int64_t run;
    const char* const from = At(first + done, &run);
    run = std::min(run, count - done);
    for (int64_t i = 0; i < run; ++i, to += bytes)
      std::memcpy(to, from + i * operand_.row, static_cast<size_t>(bytes));
    done += run;
  }
}

void Rows::MakeNumbers(int64_t row, int64_t column, int64_t count, const char* elements,
                       float* numbers) const {
  const Attention& attention = work_.attention;
  FindLoad(attention.isa, operand_.dtype, ACL_FLOAT)(elements, numbers, static_cast<size_t>(count));
  if (scales_->of_scores) return;
  alignas(64) float factors[2][kAttentionKeys];
  const AttentionOperand* const operands[] = {&scales_->scale, &scales_->offset};
  for (int i = 0; i < 2; ++i) {
    const AttentionOperand& operand = *operands[i];
    if (!operand.IsThere()) {
      std::fill_n(factors[i], count, 0.0f);
      continue;
    }
    const int64_t batch = scales_->by_page ? PageOf(row) : batch_;
    const int64_t before = attention.pads_left ? work_.First(batch_).first_key : 0;
    const int64_t position = scales_->by_page ? row % attention.page : before + row;
    const char* const from = work_.Base(operand) + batch * operand.batch + head_ * operand.head +
                             position * operand.row + column * operand.column;
    if (operand.column != 0) {
      LoadRow(attention, operand, from, count, factors[i]);
    } else {
      LoadRow(attention, operand, from, 1, factors[i]);
      std::fill_n(factors[i] + 1, count - 1, factors[i][0]);
    }
  }
  for (int64_t j = 0; j < count; ++j) numbers[j] = (numbers[j] + factors[1][j]) * factors[0][j];
}

void Rows::Copy(int64_t row, int64_t column, int64_t count, char* to) const {
  row = std::max(row, start_);
  const bool is_prefix = prefix_ != nullptr && row < work_.parts->prefix_rows;
  const AttentionOperand& operand = is_prefix ? *prefix_ : operand_;
  const int32_t size = SizeOf(operand.dtype);
  int64_t run;
  const char* const from = At(row, &run);
  alignas(64) char elements[kAttentionKeys * kNumber];
  for (int64_t done = 0; done < count;) {
    const int64_t at = column + done;
    int64_t some = scales_ != nullptr ? std::min(count - done, kAttentionKeys) : count - done;
    int64_t step = at * operand.column;
    if (fractals_.elements > 0) {
      some = std::min(some, fractals_.elements - at % fractals_.elements);
      step = at / fractals_.elements * fractals_.step + at % fractals_.elements * operand.column;
    }
    char* const raw = scales_ != nullptr ? elements : to + done * size;
    if (operand.column == size) {
      std::memcpy(raw, from + step, static_cast<size_t>(some * size));
    } else {
      work_.attention.gather(from + step, operand.column, size, raw, some);
    }
    if (scales_ != nullptr) MakeNumbers(row, at, some, elements, reinterpret_cast<float*>(to) + done);
    done += some;
  }
}

void Rows::PackCopiedLines(int64_t first, int64_t count, char* memory, float* to) const {
  AttentionOperand copied;
  copied.dtype = CopiedDtype();
  copied.column = SizeOf(copied.dtype);
  copied.row = depth_ * copied.column;
  const PackSource source = SourceOf(work_.attention, copied, true);
  const int64_t width = work_.attention.gemm->columns;
  const int64_t padded = RoundedUp(count, width);
  char* const copy = memory + kPackMemory;
  for (int64_t line = 0; line < count; line += width) {
    const int64_t some = std::min(width, count - line);
    for (int64_t i = 0; i < some; ++i) Copy(first + line + i, 0, depth_, copy + i * copied.row);
    for (int64_t term = 0; term < depth_; term += kGemmDepth) {
      const int64_t depth = std::min(kGemmDepth, depth_ - term);
      PackPanels(source, copy + term * copied.column, some, depth, width, memory,
                 to + padded * term + line * depth);
    }
  }
}

void Rows::PackCopiedTerms(int64_t first, int64_t count, char* memory, float* to) const {
  AttentionOperand copied;
  copied.dtype = CopiedDtype();
  copied.column = SizeOf(copied.dtype);
  const int64_t width = work_.attention.gemm->columns;
  char* const copy = memory + kPackMemory;
  for (int64_t column = 0; column < depth_; column += width) {
    const int64_t some = std::min(width, depth_ - column);
    copied.row = some * copied.column;
    for (int64_t i = 0; i < count; ++i) Copy(first + i, column, some, copy + i * copied.row);
    PackPanels(SourceOf(work_.attention, copied, false), copy, some, count, width, memory,
               to + column * count);
  }
}

// Packs a panel of lines directly from memory, or from a copy if they lie in several pages.
void Rows::PackLines(int64_t first, int64_t count, char* memory, float* to) const {
  if (IsCopied()) return PackCopiedLines(first, count, memory, to);
  const Attention& attention = work_.attention;
  PackSource source = SourceOf(attention, operand_, true);
  const int64_t width = attention.gemm->columns;
  const int64_t padded = RoundedUp(count, width);
  for (int64_t line = 0; line < count;) {
    int64_t run;
    const char* from = At(first + line, &run);
    run = std::min(run, count - line);
    int64_t step = operand_.row;
    if (run < count - line) {
      run = run / width * width;
      if (run == 0) {
        run = std::min(width, count - line);
        step = depth_ * source.size;
        char* const copy = memory + kPackMemory;
        for (int64_t i = 0; i < run; ++i) {
          int64_t rest;
          const char* const row = At(first + line + i, &rest);
          if (operand_.column == source.size) {
            std::memcpy(copy + i * step, row, static_cast<size_t>(step));
          } else {
            source.gather(row, operand_.column, source.size, copy + i * step, depth_);
          }
        }
        from = copy;
      }
    }
    source.line = step;
    source.term = step == operand_.row && from != memory + kPackMemory ? operand_.column : source.size;
    for (int64_t term = 0; term < depth_; term += kGemmDepth) {
      const int64_t depth = std::min(kGemmDepth, depth_ - term);
      PackPanels(source, from + term * source.term, run, depth, width, memory,
                 to + padded * term + line * depth);
    }
    line += run;
  }
}

void Rows::PackTerms(int64_t first, int64_t count, char* memory, float* to) const {
  if (IsCopied()) return PackCopiedTerms(first, count, memory, to);
  const Attention& attention = work_.attention;
  const PackSource source = SourceOf(attention, operand_, false);
  const int64_t width = attention.gemm->columns;
  int64_t run;
  const char* from = At(first, &run);
  if (run >= count) return PackPanels(source, from, depth_, count, width, memory, to);
  for (int64_t term = 0; term < count;) {
    from = At(first + term, &run);
    run = std::min(run, count - term);
    for (int64_t column = 0; column < depth_; column += width) {
      PackPanels(source, from + column * operand_.column, std::min(width, depth_ - column), run, width,
                 memory, to + column * count + term * width);
    }
    term += run;
  }
}

// ---- scores ----

Scores::Scores(const Work& work, int64_t batch, int64_t head)
    : work_(work),
      lengths_(work.Of(batch)),
      batch_(batch),
      head_(head),
      rows_before_(work.attention.pads_left ? lengths_.first_query : 0),
      keys_before_(work.attention.pads_left ? lengths_.first_key : 0) {}

void Scores::Range(int64_t i, int64_t* from, int64_t* to) const {
  const int64_t at = i + lengths_.origin;
  const int64_t end = std::max(at + lengths_.after + 1, lengths_.prefix);
  *from = std::clamp<int64_t>(at - lengths_.before, 0, lengths_.keys);
  *to = std::clamp<int64_t>(end, 0, lengths_.keys);
}

bool Scores::Make(float* s, int64_t i, int64_t first, int64_t count, float* greatest) const {
  const Attention& attention = work_.attention;
  int64_t from, to;
  Range(i, &from, &to);
  from = std::clamp<int64_t>(from - first, 0, count);
  to = std::clamp<int64_t>(to - first, 0, count);
  if (from >= to) return false;
  const int64_t padded = InLanes(count);
  alignas(64) float shifts[kAttentionKeys];
  const float* shift = nullptr;
  if (attention.shift.IsThere()) {
    const AttentionOperand& operand = attention.shift;
    const char* const elements = work_.Base(operand) + batch_ * operand.batch + head_ * operand.head +
                                 (rows_before_ + i) * operand.row + (keys_before_ + first) * operand.column;
    LoadRow(attention, operand, elements, count, shifts);
    std::fill(shifts + count, shifts + padded, 0.0f);
    shift = shifts;
  }
  if (work_.parts != nullptr && work_.parts->slopes.IsThere()) {
    MakeShifts(i, first, count, shifts);
    std::fill(shifts + count, shifts + padded, 0.0f);
    shift = shifts;
  }
  if (count < padded) std::fill(s + count, s + padded, 0.0f);
  *greatest = attention.kernels.scale(s, shift, padded, ScaleOf(i), attention.shift_first);
  if (from == 0 && to == padded && !attention.mask.IsThere()) return true;
  std::fill(s, s + from, kHidden);
  std::fill(s + to, s + padded, kHidden);
  if (attention.mask.IsThere()) {
    const AttentionOperand& operand = attention.mask;
    const char* bytes = work_.Base(operand) + batch_ * operand.batch + head_ * operand.head +
                        (rows_before_ + i) * operand.row + (keys_before_ + first + from) * operand.column;
    alignas(64) char gathered[kAttentionKeys];
    if (operand.column != 1) {
      for (int64_t j = 0; j < to - from; ++j) gathered[j] = bytes[j * operand.column];
      bytes = gathered;
    }
    if (!attention.kernels.hide(s + from, reinterpret_cast<const unsigned char*>(bytes), to - from))
      return false;
  }
  *greatest = attention.kernels.greatest(s, padded);
  return true;
}

float Scores::ScaleOf(int64_t i) const {
  const float scale = work_.attention.scale;
  if (work_.parts == nullptr || !work_.parts->query_scale.IsThere()) return scale;
  const auto number = [&](const AttentionOperand& operand, const char* from) {
    float loaded;
    LoadRow(work_.attention, operand, from, 1, &loaded);
    return loaded;
  };
  const AttentionOperand& of_query = work_.parts->query_scale;
  const AttentionOperand& of_key = work_.parts->key_scales.scale;
  return scale * number(of_query, work_.RowOfQuery(of_query, batch_, head_, i)) *
         number(of_key, work_.Base(of_key));
}

void Scores::MakeShifts(int64_t i, int64_t first, int64_t count, float* shifts) const {
  const AttentionParts& parts = *work_.parts;
  float slope;
  LoadRow(work_.attention, parts.slopes,
          work_.Base(parts.slopes) + batch_ * parts.slopes.batch + head_ * parts.slopes.head, 1, &slope);
  for (int64_t j = 0; j < count; ++j) {
    const auto distance = static_cast<float>(std::abs(first + j + parts.slope_start - i));
    shifts[j] = -(slope * (parts.slopes_of_roots ? std::sqrt(distance) : distance));
  }
}

void Scores::Drop(float* values, int64_t i, int64_t first, int64_t count, float factor) const {
  const Attention& attention = work_.attention;
  const auto row = static_cast<uint64_t>(head_ * lengths_.queries + i);
  const uint64_t number = lengths_.first_score * static_cast<uint64_t>(attention.heads) +
                          row * static_cast<uint64_t>(lengths_.keys) + static_cast<uint64_t>(first);
  if (!attention.kept.IsThere())
    return attention.kernels.drop(values, attention.drawn, number, count, attention.most, factor);
  const auto begin = static_cast<int64_t>(number);  // there is a bit of it
  const int64_t column = attention.kept.column;
  const auto* bits = reinterpret_cast<const unsigned char*>(work_.Base(attention.kept)) + begin / 8 * column;
  unsigned char gathered[kAttentionKeys / 8 + 1];
  if (column != 1) {
    for (int64_t byte = 0; byte < DividedUp(begin % 8 + count, 8); ++byte)
      gathered[byte] = bits[byte * column];
    bits = gathered;
  }
  attention.kernels.keep(values, bits, static_cast<int>(begin % 8), count, factor);
}

// ---- jobs ----

void StoreRow(const Attention& attention, const AttentionOperand& operand, const float* numbers,
              int64_t count, char* to) {
  const StoreFunction store = FindStore(attention.isa, operand.dtype);
  const int32_t size = SizeOf(operand.dtype);
  if (operand.column == size || count == 1) return store(numbers, to, static_cast<size_t>(count), false);
  constexpr int64_t kTogether = 256;
  alignas(64) char elements[kTogether * kNumber];
  for (int64_t i = 0; i < count; i += kTogether) {
    const int64_t some = std::min(kTogether, count - i);
    store(numbers + i, elements, static_cast<size_t>(some), false);
    attention.scatter(elements, to + i * operand.column, operand.column, size, some);
  }
}

void StoreZeros(const Attention& attention, const AttentionOperand& operand, int64_t count, char* to) {
  constexpr int64_t kTogether = 256;
  constexpr float kZeros[kTogether] = {};
  if (operand.dtype == ACL_INT8) {
    for (int64_t i = 0; i < count; ++i) to[i * operand.column] = 0;
    return;
  }
  for (int64_t i = 0; i < count; i += kTogether)
    StoreRow(attention, operand, kZeros, std::min(kTogether, count - i), to + i * operand.column);
}

void StoreCodes(const Work& work, int64_t head, const float* row, char* to) {
  constexpr int64_t kTogether = 256;
  const Attention& attention = work.attention;
  const AttentionParts& parts = *work.parts;
  const StoreFunction store_half = FindStore(attention.isa, ACL_FLOAT16);
  const LoadFunction load_half = FindLoad(attention.isa, ACL_FLOAT16, ACL_FLOAT);
  alignas(64) float numbers[kTogether];
  alignas(64) float offsets[kTogether];
  uint16_t halves[kTogether];
  const auto load = [&](const AttentionOperand& operand, int64_t first, int64_t count, float* loaded) {
    std::fill_n(loaded, count, 0.0f);
    if (!operand.IsThere()) return;
    const char* const from = work.Base(operand) + head * operand.head + first * operand.column;
    LoadRow(attention, operand, from, operand.column != 0 ? count : 1, loaded);
    if (operand.column == 0) std::fill_n(loaded + 1, count - 1, loaded[0]);
  };
  for (int64_t i = 0; i < attention.value_depth; i += kTogether) {
    const int64_t some = std::min(kTogether, attention.value_depth - i);
    load(parts.out_scale, i, some, numbers);
    load(parts.out_offset, i, some, offsets);
    for (int64_t j = 0; j < some; ++j) numbers[j] = row[i + j] * numbers[j] + offsets[j];
    store_half(numbers, halves, static_cast<size_t>(some), false);
    load_half(halves, numbers, static_cast<size_t>(some));
    for (int64_t j = 0; j < some; ++j) {
      const float rounded = std::round(numbers[j]);
      const float inside = std::isnan(rounded) ? 0.0f : std::clamp(rounded, -128.0f, 127.0f);
      to[(i + j) * attention.out.column] = static_cast<char>(static_cast<int8_t>(inside));
    }
  }
}

int64_t PaddedBytes(const Attention& attention) noexcept {
  if (!attention.pads_left) return 0;
  return (attention.are_alike ? 1 : attention.batches) * int64_t{sizeof(AttentionBatch)};
}

void SetPadded(Work& work, char* memory) noexcept {
  const Attention& attention = work.attention;
  const AttentionParts& parts = *work.parts;
  auto* const batches = reinterpret_cast<AttentionBatch*>(memory);
  const auto begin = [&](const AttentionOperand& padding, int64_t rows, int64_t* first, int64_t* count) {
    if (!padding.IsThere()) return;
    const int64_t behind = std::clamp<int64_t>(Load<int64_t>(work.Base(padding)), 0, rows);
    *first = rows - behind - *count;
    if (*first < 0) *first = *count = 0;
  };
  for (int64_t i = 0; i < (attention.are_alike ? 1 : attention.batches); ++i) {
    AttentionBatch one = work.batches[i];
    begin(parts.query_padding, attention.queries, &one.first_query, &one.queries);
    begin(parts.key_padding, parts.padded_keys, &one.first_key, &one.keys);
    batches[i] = one;
  }
  work.batches = batches;
}

void LoadRow(const Attention& attention, const AttentionOperand& operand, const char* from, int64_t count,
             float* numbers) {
  const LoadFunction load = FindLoad(attention.isa, operand.dtype, ACL_FLOAT);
  const int32_t size = SizeOf(operand.dtype);
  if (operand.column == size || count == 1) return load(from, numbers, static_cast<size_t>(count));
  constexpr int64_t kTogether = 256;
  alignas(64) char elements[kTogether * kNumber];
  for (int64_t i = 0; i < count; i += kTogether) {
    const int64_t some = std::min(kTogether, count - i);
    attention.gather(from + i * operand.column, operand.column, size, elements, some);
    load(elements, numbers + i, static_cast<size_t>(some));
  }
}

void RoundRow(const Attention& attention, aclDataType dtype, float* numbers, int64_t count) {
  alignas(64) char elements[kAttentionKeys * 2];
  FindStore(attention.isa, dtype)(numbers, elements, static_cast<size_t>(count), false);
  FindLoad(attention.isa, dtype, ACL_FLOAT)(elements, numbers, static_cast<size_t>(count));
}

void Slots::Clear() const {
  for (int i = 0; i < attention_.threads; ++i) memory_[i] = 0;
}

int Slots::Take() const {
  for (int slot = 0;; slot = (slot + 1) % attention_.threads) {
    std::atomic_ref<char> taken(memory_[slot]);
    if (taken.load(std::memory_order_relaxed) == 0 && taken.exchange(1, std::memory_order_acquire) == 0)
      return slot;
  }
}

void Slots::Give(int slot) const { std::atomic_ref<char>(memory_[slot]).store(0, std::memory_order_release); }

Attention Completed(const Attention& attention, Isa isa, int threads) noexcept {
  Attention made = attention;
  made.kernels = FindAttentionKernels(isa);
  made.gemm = &FindGemmKernels(isa);
  const bool has_bf16 = made.query.dtype == ACL_BF16 || made.value.dtype == ACL_BF16;
  made.tiles = has_bf16 ? TileKernelsInUse(isa) : nullptr;
  if (made.tiles != nullptr && !TakesPairs(*made.gemm, *made.tiles)) made.tiles = nullptr;
  made.gather = FindGather(isa, GatherSource::kCache);
  made.scatter = FindScatter(isa, /*from_memory=*/false);
  made.isa = isa;
  made.threads = threads;
  return made;
}

int64_t ElementsOf(const Attention& attention, int products) {
  constexpr double kMultiplicationsOfElement = 32;
  const double multiplications =
      static_cast<double>(attention.batches) * static_cast<double>(attention.heads) *
      static_cast<double>(attention.queries) * static_cast<double>(attention.keys) *
      static_cast<double>(attention.depth + attention.value_depth) * products / 2;
  constexpr double kMost = double{1LL << 62};
  return static_cast<int64_t>(std::clamp(multiplications / kMultiplicationsOfElement, 1.0, kMost));
}

}  // namespace portacl::engine::attention

namespace portacl::engine {

AttentionBatch* ReserveAttentionBatches(JobMemory& job, int64_t batches) noexcept {
  size_t bytes;
  std::byte* memory = nullptr;
  if (!__builtin_mul_overflow(static_cast<size_t>(batches), sizeof(AttentionBatch), &bytes))
    memory = job.ReserveMemory(bytes);
  if (memory == nullptr) job.RefuseSize(0, batches);
  return reinterpret_cast<AttentionBatch*>(memory);
}

AttentionMemory ReserveAttentionParts(JobMemory& job, int64_t batches, int64_t operands) noexcept {
  const size_t behind = sizeof(AttentionParts) + static_cast<size_t>(operands) * sizeof(AttentionOperand);
  size_t bytes;
  std::byte* memory = nullptr;
  if (!__builtin_mul_overflow(static_cast<size_t>(batches), sizeof(AttentionBatch), &bytes) &&
      !__builtin_add_overflow(bytes, behind, &bytes))
    memory = job.ReserveMemory(bytes);
  if (memory == nullptr) {
    job.RefuseSize(0, batches);
    return {};
  }
  auto* const parts = new (memory) AttentionParts;
  auto* const made = reinterpret_cast<AttentionBatch*>(memory + sizeof(AttentionParts));
  return {parts, made, reinterpret_cast<AttentionOperand*>(made + batches)};
}

}  // namespace portacl::engine
