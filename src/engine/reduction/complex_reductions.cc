// Reductions of complex numbers to sums and products (see reduction_kernels.h): plain loops over pairs of float64.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "engine/buffer_ref.h"
#include "engine/reduction/sum_reductions.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {
namespace {

struct Pair {
  double real;
  double imaginary;
};

struct Plus {
  static Pair Identity() { return {0, 0}; }
  static Pair With(Pair a, Pair b) { return {a.real + b.real, a.imaginary + b.imaginary}; }
};
struct Times {
  static Pair Identity() { return {1, 0}; }
  static Pair With(Pair a, Pair b) {
    return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
  }
};

constexpr size_t kPairLanes = 16;
static_assert(kPairLanes * sizeof(Pair) <= kBytesOfLanes);

template <class Reducer>
void Along(const ReductionConstants&, ReductionWork& work) {
  constexpr size_t kBlock = kLaneBlock;
  const auto* const terms = static_cast<const char*>(work.terms);
  auto* const lanes = static_cast<Pair*>(work.lanes);
  for (size_t i = 0; i < work.n; ++i) {
    const size_t in_block = work.at % kBlock;
    if (in_block == 0) std::fill_n(lanes, kPairLanes, Reducer::Identity());
    Pair& lane = lanes[in_block % kPairLanes];
    lane = Reducer::With(lane, Load<Pair>(terms + i * sizeof(Pair)));
    ++work.at;
    if (in_block + 1 < kBlock && work.at < work.length) continue;
    for (size_t width = kPairLanes / 2; width > 0; width /= 2) {
      for (size_t k = 0; k < width; ++k) lanes[k] = Reducer::With(lanes[k], lanes[k + width]);
    }
    auto*& out = reinterpret_cast<Pair*&>(work.out);
    *out++ = lanes[0];
    if (work.at == work.length) work.at = 0;
  }
}

template <class Reducer>
void Across(const ReductionConstants&, const ReductionRows& rows) {
  auto* const out = static_cast<Pair*>(rows.out);
  for (size_t row = 0; row < rows.rows; ++row) {
    const char* const terms =
        static_cast<const char*>(rows.terms) + static_cast<int64_t>(row) * rows.pitch * int64_t{sizeof(Pair)};
    for (size_t c = 0; c < rows.columns; ++c)
      out[c] = Reducer::With(out[c], Load<Pair>(terms + c * sizeof(Pair)));
  }
}

template <class Reducer>
void Clear(void* accumulators, size_t n) {
  std::fill_n(static_cast<Pair*>(accumulators), n, Reducer::Identity());
}

template <class Reducer>
void Merge(const void* earlier, void* later, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    Pair& to = static_cast<Pair*>(later)[i];
    to = Reducer::With(static_cast<const Pair*>(earlier)[i], to);
  }
}

void Finish(const ReductionConstants&, const void* accumulators, size_t n, void* results, int64_t*) {
  std::memcpy(results, accumulators, n * sizeof(Pair));
}

template <class Reducer>
constexpr ReductionKernels kReduction = {
    Isa::kPortable, sizeof(Pair),    true,           ElementType::kC128, ElementType::kC128,
    Along<Reducer>, Across<Reducer>, Clear<Reducer>, Merge<Reducer>,     Finish};

}  // namespace

const ReductionKernels* FindComplexReduction(ReductionOperation operation) noexcept {
  if (operation == ReductionOperation::kSum) return &kReduction<Plus>;
  return operation == ReductionOperation::kProduct ? &kReduction<Times> : nullptr;
}

}  // namespace portacl::engine
