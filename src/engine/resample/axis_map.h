// Maps from the positions of one axis to the indices of another: the common part of pads, windows and
// interpolation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace portacl::engine {

// Positions are numbered `outer` by `inner`; `outer` is 1 except for windows. Each position has some taps: an
// index in [0, length) and a weight. Strides are in elements.
struct AxisMap {
  enum class Kind : uint8_t {
    kReflect,
    kReplicate,
    kWrap,
    kWindows,
    kNearest,
    kLinear,
    kCubic,
    kSmoothLinear,
    kSmoothCubic
  };

  Kind kind = Kind::kReplicate;
  bool aligns_corners = false;
  bool is_wide = false;  // computes source coordinates and weights in float64, else in float32
  int64_t outer = 1;
  int64_t inner = 1;
  int64_t length = 1;
  int64_t before = 0;  // pads: the position of index 0, of a circle that of its first index
  int64_t circle = 0;  // circles: how many indices, from `first` on, repeat; there is one at least
  // Windows: the index is first + a * outer_step + b * inner_step; it may be missing.
  int64_t first = 0;
  int64_t outer_step = 0;
  int64_t inner_step = 1;  // positive
  double step = 1;         // interpolation: the distance of positions, in indices
  double shift = 0;        // nearest: the offset within a position at which its element is taken

  int64_t outer_stride = 0;  // of the tensor that has the positions
  int64_t inner_stride = 0;
  int64_t index_stride = 0;  // of the tensor that has the indices

  int64_t Positions() const { return outer * inner; }
  // Tells whether positions map to a few arithmetic sequences of indices, without weights.
  bool IsPiecewise() const { return kind <= Kind::kWindows; }
  // Tells whether the map is an interpolation that changes nothing.
  bool IsIdentity() const { return inner == length && step == 1; }
  // Tells whether it is interpolation against aliasing: the filter is as wide as a position, and its taps, whose
  // number varies, have weights that sum to 1.
  bool IsSmooth() const { return kind >= Kind::kSmoothLinear; }
  // Half of the smooth filter's width, in indices.
  double Support() const { return (kind == Kind::kSmoothCubic ? 2 : 1) * std::max(step, 1.0); }
  // The taps that a position has; if it is smooth, the most that one may have.
  int64_t MostTaps() const {
    if (IsIdentity()) return 1;
    if (kind == Kind::kLinear) return 2;
    if (kind == Kind::kCubic) return 4;
    if (!IsSmooth()) return 1;
    const double most = 2 * std::ceil(Support()) + 2;
    return most < static_cast<double>(length) ? static_cast<int64_t>(most) : length;
  }
};

// The maps of a tensor's last dims. Without a dim of planes, there is one plane.
struct AxisMaps {
  AxisMap rows;
  AxisMap columns;
  AxisMap planes = {};
};

// Calls f(a, b, count, index, step) for a piecewise map, in the order of positions. The positions (a, b), (a,
// b + 1), ..., (a, b + count - 1) map to the indices index, index + step, ...; index < 0 means none.
template <class F>
void ForEachAxisRange(const AxisMap& map, const F& f) {
  const int64_t n = map.kind == AxisMap::Kind::kWrap ? map.circle : map.length;
  const int64_t positions = map.inner;
  const auto range = [&](int64_t a, int64_t begin, int64_t end, int64_t index, int64_t step) {
    if (begin < end) f(a, begin, end - begin, index, step);
  };
  if (map.kind == AxisMap::Kind::kWindows) {
    for (int64_t a = 0; a < map.outer; ++a) {
      const int64_t start = map.first + a * map.outer_step;
      const auto reaching = [&](int64_t index) {  // returns the first b whose index is at least this one
        const int64_t missing = index - start;
        return std::clamp<int64_t>(missing <= 0 ? 0 : (missing + map.inner_step - 1) / map.inner_step, 0,
                                   positions);
      };
      const int64_t begin = reaching(0);
      const int64_t end = reaching(n);
      range(a, 0, begin, -1, 0);
      range(a, begin, end, start + begin * map.inner_step, map.inner_step);
      range(a, std::max(begin, end), positions, -1, 0);
    }
  } else if (map.kind == AxisMap::Kind::kWrap) {
    for (int64_t b = 0; b < positions;) {
      const int64_t index = ((b - map.before) % n + n) % n;
      const int64_t end = std::min(positions, b + n - index);
      range(0, b, end, map.first + index, 1);
      b = end;
    }
  } else {
    const bool reflects = map.kind == AxisMap::Kind::kReflect;
    const int64_t begin = std::clamp<int64_t>(map.before, 0, positions);
    const int64_t end = std::clamp<int64_t>(map.before + n, 0, positions);
    range(0, 0, begin, reflects ? map.before : 0, reflects ? -1 : 0);
    range(0, begin, end, begin - map.before, 1);
    const int64_t behind = std::max(begin, end);
    range(0, behind, positions, reflects ? 2 * (n - 1) - (behind - map.before) : n - 1, reflects ? -1 : 0);
  }
}

// Returns an upper bound for the calls that ForEachAxisRange makes.
inline int64_t MostRanges(const AxisMap& map) {
  if (map.kind == AxisMap::Kind::kWindows)
    return map.outer > (int64_t{1} << 60) ? int64_t{1} << 62 : 3 * map.outer;
  return map.kind == AxisMap::Kind::kWrap ? map.inner / map.circle + 2 : 3;
}

namespace axis_map {

// Returns the floor of a coordinate of any size, at most `last`.
template <class T>
int64_t IndexBelow(T source_coordinate, int64_t last) {
  if (!(source_coordinate < static_cast<T>(last))) return last;
  // std::floor is a call for processors without SSE4.1.
  const auto truncated = static_cast<int64_t>(source_coordinate);
  return static_cast<T>(truncated) > source_coordinate ? truncated - 1 : truncated;
}

// Indices [first, end).
struct Span {
  int64_t first;
  int64_t end;
};

// Returns the indices under the smooth filter of a position. Both ends ascend with positions.
template <class T>
Span SmoothSpan(const AxisMap& map, int64_t position) {
  const auto bounded = [&](T index) {
    if (!(index > 0)) return int64_t{0};
    return index < static_cast<T>(map.length) ? static_cast<int64_t>(index) : map.length;
  };
  const T half = static_cast<T>(0.5);
  const T centre = static_cast<T>(map.step) * (static_cast<T>(position) + half);
  const auto support = static_cast<T>(map.Support());
  return {bounded(centre - support + half), bounded(centre + support + half)};
}

// Calls f(0, position, index, weight) for the taps of a smooth map that weigh something.
template <class T, class F>
void ForEachSmoothTap(const AxisMap& map, int64_t position, const F& f) {
  const auto step = static_cast<T>(map.step);
  const T half = static_cast<T>(0.5);
  const T centre = step * (static_cast<T>(position) + half);
  const T narrowed = step >= 1 ? 1 / step : T{1};
  const auto weight = [&](int64_t index) {
    const T x = std::fabs((static_cast<T>(index) - centre + half) * narrowed);
    if (map.kind == AxisMap::Kind::kSmoothLinear) return x < 1 ? 1 - x : T{0};
    constexpr T kA = static_cast<T>(-0.5);
    if (x < 1) return ((kA + 2) * x - (kA + 3)) * x * x + 1;
    return x < 2 ? ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA : T{0};
  };
  const Span span = SmoothSpan<T>(map, position);
  T total = 0;
  for (int64_t index = span.first; index < span.end; ++index) total += weight(index);
  for (int64_t index = span.first; index < span.end; ++index) {
    const T part = total != 0 ? weight(index) / total : weight(index);
    if (part != 0) f(0, position, index, static_cast<double>(part));
  }
}

// Calls f(0, b, index, weight) for the taps of a position of an interpolating map.
template <class T, class F>
void ForEachTapAt(const AxisMap& map, int64_t b, const F& f) {
  const int64_t last = map.length - 1;
  const auto step = static_cast<T>(map.step);
  const T half = static_cast<T>(0.5);
  if (map.IsIdentity()) return f(0, b, b, 1.0);
  if (map.IsSmooth()) return ForEachSmoothTap<T>(map, b, f);
  if (map.kind == AxisMap::Kind::kNearest)
    return f(0, b, IndexBelow((static_cast<T>(b) + static_cast<T>(map.shift)) * step, last), 1.0);
  const bool is_linear = map.kind == AxisMap::Kind::kLinear;
  T source_coordinate =
      map.aligns_corners ? step * static_cast<T>(b) : step * (static_cast<T>(b) + half) - half;
  if (is_linear && !map.aligns_corners) source_coordinate = std::max(source_coordinate, T{0});
  const int64_t index = IndexBelow(source_coordinate, last);
  const T part = std::clamp(source_coordinate - static_cast<T>(index), T{0}, T{1});
  if (is_linear) {
    f(0, b, index, static_cast<double>(1 - part));
    return f(0, b, std::min(index + 1, last), static_cast<double>(part));
  }
  constexpr T kA = static_cast<T>(-0.75);
  const auto near = [](T x) { return ((kA + 2) * x - (kA + 3)) * x * x + 1; };
  const auto far = [](T x) { return ((kA * x - 5 * kA) * x + 8 * kA) * x - 4 * kA; };
  const T weight[4] = {far(part + 1), near(part), near(1 - part), far(2 - part)};
  for (int k = 0; k < 4; ++k)
    f(0, b, std::clamp<int64_t>(index - 1 + k, 0, last), static_cast<double>(weight[k]));
}

}  // namespace axis_map

// Calls f(0, b, index, weight) for the taps of a position of a map that is not piecewise.
template <class F>
void ForEachTapOfPosition(const AxisMap& map, int64_t b, const F& f) {
  map.is_wide ? axis_map::ForEachTapAt<double>(map, b, f) : axis_map::ForEachTapAt<float>(map, b, f);
}

// Calls f(a, b, index, weight) for every tap, in the order of positions, then of a position's taps.
template <class F>
void ForEachTap(const AxisMap& map, const F& f) {
  if (map.IsPiecewise()) {
    ForEachAxisRange(map, [&](int64_t a, int64_t b, int64_t count, int64_t index, int64_t step) {
      for (int64_t k = 0; index >= 0 && k < count; ++k) f(a, b + k, index + k * step, 1.0);
    });
  } else {
    for (int64_t b = 0; b < map.inner; ++b) ForEachTapOfPosition(map, b, f);
  }
}

}  // namespace portacl::engine
