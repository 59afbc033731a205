// Scales rows and stores their codes (see coder.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/quantise/coder.h"

#include <cmath>

#include "base/data_type.h"

namespace portacl::engine::quantise {

RowScale ScaleOf(const Quantiser& quantiser, float least, float greatest) {
  using Step = Quantiser::Step;
  RowScale scale;
  if (least > greatest) least = greatest = 0;  // the row has only NaN
  if (quantiser.kind == Quantiser::Kind::kGreatest) {
    const float size = std::max(std::fabs(least), std::fabs(greatest));
    switch (quantiser.step) {
      case Step::kReciprocal:
        scale.factor = quantiser.most / size;
        scale.step = 1.0f / scale.factor;
        break;
      case Step::kProduct:
        scale.divisor = scale.step = size * (1.0f / quantiser.most);
        break;
      case Step::kQuotient:
        scale.divisor = scale.step = size / quantiser.most;
        break;
      case Step::kInverse:
        scale.factor = scale.step = quantiser.most / size;
        break;
      case Step::kBoth:
        scale.factor = quantiser.most / size;
        scale.step = size / quantiser.most;
        break;
    }
    return scale;
  }
  scale.step = std::max((greatest - least) / quantiser.span + 0.0f, quantiser.least_step);
  scale.term = scale.step == 0 ? 0.0f : quantiser.most - greatest / scale.step;
  scale.has_term = true;
  if (quantiser.step == Step::kReciprocal) {
    scale.factor = 1.0f / scale.step;
  } else {
    scale.divisor = scale.step;
  }
  if (scale.step == 0) {
    scale.factor = 0;
    scale.divisor = std::numeric_limits<float>::infinity();
  }
  return scale;
}

Coder::Coder(const QuantisedRows& job, const Quantiser& quantiser, const JobContext& context)
    : q_(quantiser),
      functions_(FunctionsFor(job.isa)),
      scale_(quantiser.scale, job.isa, context, job.columns),
      offset_(quantiser.offset, job.isa, context, job.columns),
      columns_(job.columns) {
  if (!Writes()) return;
  encode_ = FindEncode(job.isa, quantiser.dtype);
  const auto bits = static_cast<int64_t>(StorageBits(quantiser.dtype));
  is_packed_ = bits == 4;
  size_ = is_packed_ ? 1 : bits / 8;
  codes_ = quantiser.codes.Address(context);
  load_half_ = FindLoad(job.isa, ACL_FLOAT16, ACL_FLOAT);
  store_half_ = FindStore(job.isa, ACL_FLOAT16);
  if (quantiser.row_step.is_there) row_step_ = quantiser.row_step.buffer.Address(context);
  if (quantiser.row_offset.is_there) row_offset_ = quantiser.row_offset.buffer.Address(context);
  if (quantiser.tensor_step.is_there) tensor_ = quantiser.tensor_step.buffer.Address(context);
}

void Coder::Smooth(int64_t row, int64_t group, int64_t column, int64_t n, float* x) const {
  float memory[kTileColumns];
  const FactorRow::Numbers scale = scale_.Bring(row, group, column, n, memory);
  functions_.multiply(x, scale.number, scale.count, static_cast<size_t>(n));
}

void Coder::ScaleBy(int64_t row, int64_t group, int64_t column, int64_t n, float* x) const {
  float memory[kTileColumns] = {};
  const auto count = static_cast<size_t>(n);
  if (scale_.is_there()) {
    const FactorRow::Numbers scale = scale_.Bring(row, group, column, n, memory);
    if (q_.passes_zero && scale.count == 1 && memory[0] == 0) memory[0] = 1;
    if (q_.squares_scale) {
      for (size_t i = 0; i < scale.count; ++i) memory[i] *= memory[i];
    }
    if (q_.kind == Kind::kReciprocal) {
      for (size_t i = 0; i < scale.count; ++i) memory[i] = 1.0f / memory[i];
    }
    if (q_.kind == Kind::kDivide) {
      functions_.divide(x, memory, scale.count, count);
    } else {
      functions_.multiply(x, memory, scale.count, count);
      if (q_.multiplies_twice) functions_.multiply(x, memory, scale.count, count);
    }
  }
  if (!offset_.is_there()) return;
  const FactorRow::Numbers offset = offset_.Bring(row, group, column, n, memory);
  functions_.add(x, offset.number, offset.count, count);
}

void Coder::Encode(int64_t row, int64_t column, int64_t n, float* x) const {
  const auto count = static_cast<size_t>(n);
  if (q_.half_before) {
    uint16_t half[kTileColumns];
    store_half_(x, half, count, false);
    load_half_(half, x, count);
  }
  const int64_t at = row * columns_ + column;
  if (!is_packed_) return encode_(x, codes_ + at * size_, count, q_.rounding);
  uint8_t nibbles[kTileColumns];
  encode_(x, nibbles, count, q_.rounding);
  auto* const bytes = reinterpret_cast<uint8_t*>(codes_) + at / 2;
  PackHalves(nibbles, bytes, count / 2);
  if (count % 2 != 0) bytes[count / 2] = nibbles[count - 1];
}

}  // namespace portacl::engine::quantise
