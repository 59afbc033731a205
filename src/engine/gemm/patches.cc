// Packing of patches (see patches.h): for a place of the kernel, positions along the last axis are a run of the image between two borders.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/patches.h"

#include <algorithm>
#include <cstring>

namespace portacl::engine {
namespace {

constexpr int64_t kNumber = sizeof(float);
// Lines that are transposed at a time, and what is filled of a line at a time.
constexpr int64_t kLinesTogether = 16;
constexpr int64_t kMostRun = 512;
// Runs that are so short are read element by element.
constexpr int64_t kShortRun = 16;

// The last axis fastest.
struct Place {
  int64_t channel;
  int64_t at[kPatchAxes];
};
struct Position {
  int64_t image;
  int64_t at[kPatchAxes];
};

Place PlaceOf(const Patches& patches, int64_t index) {
  Place place;
  for (int axis = kPatchAxes - 1; axis >= 0; --axis) {
    place.at[axis] = index % patches.axis[axis].places;
    index /= patches.axis[axis].places;
  }
  place.channel = index;
  return place;
}

Position PositionOf(const Patches& patches, int64_t index) {
  Position position;
  for (int axis = kPatchAxes - 1; axis >= 0; --axis) {
    position.at[axis] = index % patches.axis[axis].positions;
    index /= patches.axis[axis].positions;
  }
  position.image = index;
  return position;
}

void Step(const Patches& patches, Place& place) {
  for (int axis = kPatchAxes - 1; axis >= 0; --axis) {
    if (++place.at[axis] < patches.axis[axis].places) return;
    place.at[axis] = 0;
  }
  ++place.channel;
}

// To the first position of the next run.
void StepRun(const Patches& patches, Position& position) {
  position.at[kPatchAxes - 1] = 0;
  for (int axis = kPatchAxes - 2; axis >= 0; --axis) {
    if (++position.at[axis] < patches.axis[axis].positions) return;
    position.at[axis] = 0;
  }
  ++position.image;
}

int64_t Coordinate(const PatchAxis& axis, int64_t place, int64_t position) {
  return axis.first + place * axis.place_step + position * axis.position_step;
}
bool IsInside(const PatchAxis& axis, int64_t coordinate) {
  return coordinate >= 0 && coordinate < axis.length;
}

// The first position whose coordinate is `least` or more.
int64_t FirstReaching(const PatchAxis& axis, int64_t place, int64_t least) {
  const int64_t missing = least - Coordinate(axis, place, 0);
  if (missing <= 0) return 0;
  return axis.position_step == 1 ? missing : (missing + axis.position_step - 1) / axis.position_step;
}

// Where the row of an image begins that a run lies in; nullptr outside.
const char* RunBase(const PatchSource& source, const Place& place, const Position& position) {
  const Patches& patches = *source.patches;
  const char* base = source.base + place.channel * patches.channel + position.image * patches.image;
  for (int axis = 0; axis < kPatchAxes - 1; ++axis) {
    const PatchAxis& along = patches.axis[axis];
    const int64_t coordinate = Coordinate(along, place.at[axis], position.at[axis]);
    if (!IsInside(along, coordinate)) return nullptr;
    base += coordinate * along.stride;
  }
  return base;
}

void Read(const PatchSource& source, const char* from, int64_t step, int64_t count, float* to) {
  if (step == source.size) {
    source.load(from, to, static_cast<size_t>(count));
  } else if (source.size == kNumber) {
    source.gather(from, step, source.size, to, count);
  } else {
    alignas(64) char elements[kMostRun * 2];
    source.gather(from, step, source.size, elements, count);
    source.load(elements, to, static_cast<size_t>(count));
  }
}

// The elements that a place meets at `count` positions, at most kMostRun.
void Fill(const PatchSource& source, const Place& place, Position position, int64_t count, float* to) {
  const Patches& patches = *source.patches;
  const PatchAxis& last = patches.axis[kPatchAxes - 1];
  const int64_t of_place = place.at[kPatchAxes - 1];
  const int64_t begin = FirstReaching(last, of_place, 0);
  const int64_t end = std::max(begin, FirstReaching(last, of_place, last.length));
  const int64_t step = last.position_step * last.stride;
  const bool is_copied = step == kNumber && source.size == kNumber;
  while (count > 0) {
    const int64_t x = position.at[kPatchAxes - 1];
    const int64_t some = std::min(count, last.positions - x);
    const char* const base = RunBase(source, place, position);
    const int64_t low = base == nullptr ? some : std::clamp(begin - x, int64_t{0}, some);
    const int64_t high = base == nullptr ? some : std::clamp(end - x, low, some);
    const char* const from = high > low ? base + Coordinate(last, of_place, x + low) * last.stride : nullptr;
    if (some <= kShortRun && is_copied) {  // no call, which would cost more than the numbers
      for (int64_t i = 0; i < low; ++i) to[i] = 0.0f;
      for (int64_t i = low; i < high; ++i) std::memcpy(to + i, from + (i - low) * kNumber, kNumber);
      for (int64_t i = high; i < some; ++i) to[i] = 0.0f;
    } else {
      std::fill_n(to, low, 0.0f);
      if (high > low) Read(source, from, step, high - low, to + low);
      std::fill_n(to + high, some - high, 0.0f);
    }
    to += some;
    count -= some;
    StepRun(patches, position);
  }
}

// Whether every position of the only place lies inside, so that elements lie at the same distances for all channels.
bool HasNoBorder(const Patches& patches) {
  return std::all_of(std::begin(patches.axis), std::end(patches.axis), [](const PatchAxis& axis) {
    return axis.places == 1 && IsInside(axis, Coordinate(axis, 0, 0)) &&
           IsInside(axis, Coordinate(axis, 0, axis.positions - 1));
  });
}

template <class Element>
void ReadAt(const char* from, const int64_t* distances, int64_t count, void* to) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(static_cast<char*>(to) + i * static_cast<int64_t>(sizeof(Element)), from + distances[i],
                sizeof(Element));
}

void PackShortRuns(const PatchSource& source, int64_t line, int64_t lines, int64_t term, int64_t depth,
                   float* to) {
  const Patches& patches = *source.patches;
  const PatchAxis& last = patches.axis[kPatchAxes - 1];
  int64_t distances[kGemmDepth];
  Position position = PositionOf(patches, term);
  for (int64_t k = 0; k < depth;) {
    const char* const base = RunBase(source, {}, position);
    for (; k < depth && position.at[kPatchAxes - 1] < last.positions; ++k, ++position.at[kPatchAxes - 1])
      distances[k] = base - source.base + Coordinate(last, 0, position.at[kPatchAxes - 1]) * last.stride;
    StepRun(patches, position);
  }
  for (int64_t i = 0; i < lines; ++i) {
    const char* const from = source.base + (line + i) * patches.channel;
    float* const row = to + i * kPackedRow;
    if (source.size == kNumber) {
      ReadAt<float>(from, distances, depth, row);
    } else {
      alignas(64) char elements[kGemmDepth * 2];
      ReadAt<uint16_t>(from, distances, depth, elements);
      source.load(elements, row, static_cast<size_t>(depth));
    }
  }
}

void PackRowsOfPlaces(const PatchSource& source, int64_t line, int64_t lines, int64_t term, int64_t depth,
                      float* to) {
  const Position position = PositionOf(*source.patches, term);
  Place place = PlaceOf(*source.patches, line);
  for (int64_t i = 0; i < lines; ++i) {
    Fill(source, place, position, depth, to + i * kPackedRow);
    Step(*source.patches, place);
  }
}

}  // namespace

void Patches::Merge() noexcept {
  const auto is_whole = [](const PatchAxis& one) {
    return one.places == 1 && one.position_step == 1 && one.first == 0 && one.length == one.positions;
  };
  for (int inner = kPatchAxes - 1, outer = inner - 1; outer >= 0; --outer) {
    PatchAxis& low = axis[inner];
    PatchAxis& high = axis[outer];
    if (!is_whole(low) || !is_whole(high)) return;
    if (high.length != 1 && low.length != 1 && high.stride != low.length * low.stride) return;
    if (low.length == 1) low.stride = high.stride;
    low.length *= high.length;
    low.positions = low.length;
    high.length = high.positions = 1;
  }
}

void PackPatchRows(const PatchSource& source, int64_t line, int64_t lines, int64_t term, int64_t depth,
                   float* to) noexcept {
  if (source.patches->axis[kPatchAxes - 1].positions < kShortRun && HasNoBorder(*source.patches)) {
    PackShortRuns(source, line, lines, term, depth, to);
  } else {
    PackRowsOfPlaces(source, line, lines, term, depth, to);
  }
}

void PackPatchPanels(const PatchSource& source, int64_t line, int64_t lines, int64_t term, int64_t depth,
                     int64_t width, float* to) noexcept {
  const Patches& patches = *source.patches;
  if (patches.places_are_lines) {
    alignas(64) float rows[kLinesTogether * kPackedRow];
    for (int64_t panel = 0; panel < lines; panel += width) {
      float* const first = to + panel * depth;
      const int64_t some = std::min(width, lines - panel);
      if (some < width) std::memset(first, 0, static_cast<size_t>(width * depth) * sizeof(float));
      for (int64_t lane = 0; lane < some; lane += kLinesTogether) {
        const int64_t count = std::min(kLinesTogether, some - lane);
        PackPatchRows(source, line + panel + lane, count, term, depth, rows);
        source.transpose(reinterpret_cast<const char*>(rows), kPackedRow * kNumber, count, depth,
                         first + lane, width);
      }
    }
    return;
  }
  // A run, then its parts, which lie a panel apart.
  const int64_t most = kMostRun / width * width;
  for (int64_t begin = 0; begin < lines; begin += most) {
    alignas(64) float run[kMostRun];
    const int64_t some = std::min(most, lines - begin);
    const int64_t whole = (some + width - 1) / width * width;
    std::fill(run + some, run + whole, 0.0f);
    const Position position = PositionOf(patches, line + begin);
    Place place = PlaceOf(patches, term);
    float* panel = to + begin * depth;
    for (int64_t k = 0; k < depth; ++k, panel += width) {
      Fill(source, place, position, some, run);
      Step(patches, place);
      for (int64_t lane = 0; lane < whole; lane += width)
        std::memcpy(panel + lane * depth, run + lane, static_cast<size_t>(width) * sizeof(float));
    }
  }
}

float PatchElement(const PatchSource& source, int64_t line, int64_t term) noexcept {
  const Patches& patches = *source.patches;
  const Place place = PlaceOf(patches, patches.places_are_lines ? line : term);
  float value;
  Fill(source, place, PositionOf(patches, patches.places_are_lines ? term : line), 1, &value);
  return value;
}

}  // namespace portacl::engine
