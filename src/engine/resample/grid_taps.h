// The taps of a grid's coordinates, and numbers in memory: what sampling and its gradients share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "engine/conversions.h"
#include "engine/resample/grid_job.h"

namespace portacl::engine {

// Returns std::floor's value, which is a call for processors without SSE4.1.
template <class T>
T Floored(T x) {
  constexpr T kWhole = T{1} / std::numeric_limits<T>::epsilon();  // numbers of this size have no fraction
  if (!(std::fabs(x) < kWhole)) return x;
  const auto truncated = static_cast<T>(static_cast<int64_t>(x));
  if (truncated == x) return x;
  return truncated > x ? truncated - 1 : truncated;
}

// Converts a grid coordinate to elements of the image.
template <class T>
T Unnormalized(T source_coordinate, int64_t n, bool aligns_corners) {
  const auto length = static_cast<T>(n);
  return aligns_corners ? (source_coordinate + 1) / 2 * (length - 1)
                        : ((source_coordinate + 1) * length - 1) / 2;
}

// Applies the edge rule to a coordinate outside; NaN becomes 0.
template <class T>
T Inside(T source_coordinate, int64_t n, GridEdge edge, bool aligns_corners) {
  if (edge == GridEdge::kZero) return source_coordinate;
  if (edge == GridEdge::kReflection)
    source_coordinate = aligns_corners ? Reflected(source_coordinate, 0, 2 * (n - 1))
                                       : Reflected(source_coordinate, -1, 2 * n - 1);
  const auto last = static_cast<T>(n - 1);
  return source_coordinate > 0 ? std::min(source_coordinate, last) : T{0};
}

// Converts a floored coordinate to an index. Coordinates far outside become -1 or n, with a margin for
// neighbours.
template <class T>
int64_t IndexOf(T floored, int64_t n) {
  constexpr int64_t kMargin = 8;
  if (!(floored > static_cast<T>(-kMargin))) return -kMargin;
  return floored < static_cast<T>(n + kMargin) ? static_cast<int64_t>(floored) : n + kMargin;
}

// Returns how much an inside coordinate changes with the coordinate, for the edge rule.
template <class T>
T SlopeInside(T source_coordinate, int64_t n, GridEdge edge, bool aligns_corners) {
  if (edge == GridEdge::kZero) return 1;
  T slope = 1;
  if (edge == GridEdge::kReflection) {
    const int64_t twice_low = aligns_corners ? 0 : -1;
    const int64_t twice_high = aligns_corners ? 2 * (n - 1) : 2 * n - 1;
    if (twice_low == twice_high) return 0;
    const T low = static_cast<T>(twice_low) / 2;
    const T span = static_cast<T>(twice_high - twice_low) / 2;
    const T flips = std::floor(std::fabs(source_coordinate - low) / span);
    slope = (source_coordinate < low) == (std::fmod(flips, T{2}) == 0) ? T{-1} : T{1};
    source_coordinate = Reflected(source_coordinate, twice_low, twice_high);
  }
  return source_coordinate > 0 && source_coordinate < static_cast<T>(n - 1) ? slope : T{0};
}

// Taps along one dim: indices (-1 for none), weights, and, for a gradient, how much these change with the grid's coordinate.
template <class T>
struct AxisTaps {
  int count;
  int64_t index[4];
  T weight[4];
  T slope[4];
};

// The taps of an image along planes: it has one.
template <class T>
AxisTaps<T> OnePlane() {
  return {1, {0}, {1}, {0}};
}

template <class T, bool kWithSlopes = false>
AxisTaps<T> TapsOf(const GridJob& job, T coordinate, int64_t n) {
  const T scale = static_cast<T>(job.aligns_corners ? n - 1 : n) / 2;
  T source_coordinate = Unnormalized(std::isnan(coordinate) ? T{-1} : coordinate, n, job.aligns_corners);
  AxisTaps<T> taps{};
  const auto at = [&](int64_t index) { return index >= 0 && index < n ? index : -1; };
  if (job.filter == GridFilter::kCubic) {
    // Cubic interpolation applies the edge rule to each tap.
    const T below = Floored(source_coordinate);
    const T part = std::isfinite(source_coordinate) ? source_coordinate - below : T{0};
    constexpr T kA = static_cast<T>(-0.75);
    const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
    const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
    const T weight[4] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
    taps.count = 4;
    if constexpr (kWithSlopes) {
      const auto near_slope = [](T x) { return (3 * (kA + 2) * x - 2 * (kA + 3)) * x; };
      const auto far_slope = [](T x) { return (3 * kA * x - 10 * kA) * x + 8 * kA; };
      const T slope[4] = {far_slope(part + 1), near_slope(part), -near_slope(1 - part), -far_slope(2 - part)};
      for (int k = 0; k < 4; ++k) taps.slope[k] = slope[k] * scale;
    }
    for (int k = 0; k < 4; ++k) {
      const T neighbour = Inside(below + static_cast<T>(k - 1), n, job.edge, job.aligns_corners);
      taps.index[k] = at(IndexOf(neighbour, n));
      taps.weight[k] = weight[k];
    }
    return taps;
  }
  const T unbounded = source_coordinate;
  source_coordinate = Inside(source_coordinate, n, job.edge, job.aligns_corners);
  if (job.filter == GridFilter::kNearest) {
    taps.count = 1;
    taps.index[0] = at(IndexOf(std::nearbyint(source_coordinate), n));
    taps.weight[0] = 1;
    return taps;
  }
  const T below = Floored(source_coordinate);
  const T part = std::isfinite(source_coordinate) ? source_coordinate - below : T{0};
  const int64_t index = IndexOf(below, n);
  taps.count = 2;
  taps.index[0] = at(index);
  taps.index[1] = at(index + 1);
  taps.weight[0] = 1 - part;
  taps.weight[1] = part;
  if constexpr (kWithSlopes) {
    taps.slope[1] = scale * SlopeInside(unbounded, n, job.edge, job.aligns_corners);
    taps.slope[0] = -taps.slope[1];
  }
  return taps;
}

// Loads `count` numbers, at most kMost of them, that are `step` bytes apart. `load` converts 16-bit ones, and is otherwise null.
template <class T, int64_t kMost>
void LoadNumbers(LoadFunction load, const char* from, int64_t step, int64_t count, T* value) {
  if (load == nullptr) {
    for (int64_t i = 0; i < count; ++i) std::memcpy(value + i, from + i * step, sizeof(T));
    return;
  }
  if constexpr (sizeof(T) == sizeof(float)) {
    uint16_t raw[kMost];
    for (int64_t i = 0; i < count; ++i) std::memcpy(raw + i, from + i * step, sizeof raw[i]);
    load(raw, value, static_cast<size_t>(count));
  }
}

template <class T, int64_t kMost>
void StoreNumbers(StoreFunction store, const T* value, char* to, int64_t step, int64_t count) {
  if constexpr (sizeof(T) == sizeof(float)) {
    if (store != nullptr) {
      uint16_t raw[kMost];
      store(value, raw, static_cast<size_t>(count), false);
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * step, raw + i, sizeof raw[i]);
      return;
    }
  }
  if (step == static_cast<int64_t>(sizeof(T))) {
    std::memcpy(to, value, sizeof(T) * static_cast<size_t>(count));
    return;
  }
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * step, value + i, sizeof(T));
}

}  // namespace portacl::engine
