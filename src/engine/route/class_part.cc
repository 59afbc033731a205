// Rows of logits of a part of the classes (see class_part.h). One thread computes a row.
// SPDX-License-Identifier: Apache-2.0
#include "engine/route/class_part.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/route/class_part.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include "engine/functions/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

void Exponentials(const float* x, float less, float* to, int64_t n) {
  const hn::CappedTag<float, 16> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto base = hn::Set(d, less);
  for (int64_t i = 0; i < n; i += lanes)
    hn::StoreU(functions::Exp(d, hn::Sub(hn::LoadU(d, x + i), base)), d, to + i);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/float_environment.h"
#include "engine/bad_index.h"
#include "engine/isa_table.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int64_t kTile = 512;        // classes computed at a time, a multiple of vectors
constexpr int64_t kRowsTogether = 8;  // a byte of the mask

int64_t WholeAt(const StridedElements& elements, const JobContext& context, int64_t i, bool is_wide) {
  const char* const from = elements.At(context, i);
  return is_wide ? Load<int64_t>(from) : int64_t{Load<int32_t>(from)};
}
void PutWhole(const StridedElements& elements, const JobContext& context, int64_t i, bool is_wide,
              int64_t value) {
  char* const to = elements.At(context, i);
  if (is_wide) {
    Store(to, value);
  } else {
    Store(to, static_cast<int32_t>(value));
  }
}

// Calls body(tile, first class, count) for tiles of a row; tiles have room for whole vectors.
template <class Body>
void ForTiles(const float* row, int64_t classes, const Body& body) {
  alignas(64) float tile[kTile];
  for (int64_t first = 0; first < classes; first += kTile) {
    const int64_t n = std::min(kTile, classes - first);
    if (n % 16 != 0) std::fill(tile + n, tile + (n + 15) / 16 * 16, 0.0f);
    if (row == nullptr) {
      std::fill_n(tile, n, 0.0f);
    } else {
      std::memcpy(tile, row + first, static_cast<size_t>(n) * sizeof(float));
    }
    body(tile, first, n);
  }
}

// Adds numbers in 16 chains of float64, which are added in pairs.
class SumOfChains {
 public:
  void Add(const float* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) chain_[i % 16] += static_cast<double>(x[i]);
  }
  double Get() const {
    double sums[16];
    std::copy_n(chain_, 16, sums);
    for (int width = 8; width > 0; width /= 2) {
      for (int i = 0; i < width; ++i) sums[i] += sums[i + width];
    }
    return sums[0];
  }

 private:
  double chain_[16] = {};
};

template <class Body>
void ForRows(int64_t rows, int threads, const Body& body) {
  ForEachBlock((rows + kRowsTogether - 1) / kRowsTogether, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    body(block * kRowsTogether, std::min(rows, (block + 1) * kRowsTogether));
  });
}

}  // namespace

ExponentialsFunction ExponentialsOf(Isa isa) noexcept {
  static constexpr auto kFunctions = PORTACL_ISA_TABLE(Exponentials);
  return kFunctions.For(isa);
}

void ReduceClassPart::Run(const JobContext& context) const noexcept {
  BadIndex bad;
  const auto target_at = [&](int64_t row) { return WholeAt(target, context, row, is_wide); };
  const auto is_elsewhere = [&](int64_t whole) { return whole < begin || whole >= end; };
  ForRows(rows, threads, [&](int64_t low, int64_t high) {
    unsigned char bits = 0;
    for (int64_t i = low; i < high; ++i) {
      const int64_t row = first + i;
      const float* const from =
          has_terms ? reinterpret_cast<const float*>(logits.Address(context)) + i * classes : nullptr;
      float greatest = -std::numeric_limits<float>::infinity();
      ForTiles(from, classes, [&](const float* tile, int64_t, int64_t n) {
        for (int64_t k = 0; k < n; ++k)
          greatest = tile[k] > greatest || std::isnan(tile[k]) ? tile[k] : greatest;
      });
      SumOfChains chains;
      ForTiles(from, classes, [&](float* tile, int64_t at, int64_t n) {
        if (gives_logits) {
          char* const to = copy.At(context, row) + at * copy_column;
          if (copy_column == copy_size) {
            store(tile, to, static_cast<size_t>(n), false);
          } else {
            for (int64_t k = 0; k < n; ++k) store(tile + k, to + k * copy_column, 1, false);
          }
        }
        exponentials(tile, greatest, tile, n);
        chains.Add(tile, n);
      });
      const int64_t whole = target_at(row);
      const bool is_masked = is_elsewhere(whole);
      const int64_t at = is_masked ? 0 : whole - begin;
      if (at >= classes) bad.Note(row);
      const float own = from == nullptr || at >= classes ? 0.0f : from[at];
      Store(most.At(context, row), greatest);
      Store(sum.At(context, row), static_cast<float>(chains.Get()));
      Store(predicted.At(context, row), is_masked || at >= classes ? 0.0f : own - greatest);
      PutWhole(index, context, row, is_wide, at);
      if (is_masked) bits = static_cast<unsigned char>(bits | 1U << (i - low));
    }
    // The bits after the last row are set as for a target of 0.
    if (first + high == all_rows && is_elsewhere(0)) {
      for (int64_t i = high - low; i < kRowsTogether; ++i) bits = static_cast<unsigned char>(bits | 1U << i);
    }
    Store(mask.At(context, (first + low) / kRowsTogether), bits);
  });
  bad.Report(context, raises, name, begin, begin + classes, target_at);
}

void ShareClassPart::Run(const JobContext& context) const noexcept {
  BadIndex bad;
  const auto index_at = [&](int64_t row) { return WholeAt(index, context, row, is_wide); };
  ForRows(rows, threads, [&](int64_t low, int64_t high) {
    for (int64_t row = low; row < high; ++row) {
      float* const to = reinterpret_cast<float*>(logits.Address(context)) + row * classes;
      if (has_shares) {
        const char* const from = share.At(context, row);
        for (int64_t k = 0; k < classes; ++k) to[k] = Load<float>(from + k * share_column);
      } else {
        const auto greatest = Load<float>(most.At(context, row));
        const auto total = Load<float>(sum.At(context, row));
        ForTiles(has_terms ? to : nullptr, classes, [&](float* tile, int64_t at, int64_t n) {
          exponentials(tile, greatest, tile, n);
          for (int64_t k = 0; k < n; ++k) to[at + k] = tile[k] / total;
        });
      }
      const auto byte = Load<unsigned char>(mask.At(context, has_bits ? row / 8 : row));
      const bool is_masked = has_bits ? (byte >> (row % 8) & 1) != 0 : byte != 0;
      const int64_t at = index_at(row);
      if (at < 0 || at >= classes) {
        bad.Note(row);
      } else if (!is_masked) {
        to[at] -= 1.0f;
      }
      const auto factor = Load<float>(gradient.At(context, row));
      for (int64_t k = 0; k < classes; ++k) to[k] *= factor;
    }
  });
  bad.Report(context, raises, name, 0, classes, index_at);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
