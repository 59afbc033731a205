// Packing of patches (see patches.h). For one kernel element, the positions along the last axis read a
// contiguous run of the image between two borders.
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/patches.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace portacl::engine {
namespace {

constexpr int64_t kNumber = sizeof(float);
// Lines that are transposed at a time, and elements of a line that are filled at a time.
constexpr int64_t kLinesTogether = 16;
constexpr int64_t kMostRun = 512;
// Runs up to this length are read element by element.
constexpr int64_t kShortRun = 16;

// A kernel element; the last axis varies fastest.
struct Tap {
  int64_t channel;
  int64_t at[kPatchAxes];
};
struct Position {
  int64_t image;
  int64_t at[kPatchAxes];
};

Tap TapOf(const Patches& patches, int64_t index) {
  Tap tap;
  for (int axis = kPatchAxes - 1; axis >= 0; --axis) {
    tap.at[axis] = index % patches.axis[axis].taps;
    index /= patches.axis[axis].taps;
  }
  tap.channel = index;
  return tap;
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

void Step(const Patches& patches, Tap& tap) {
  for (int axis = kPatchAxes - 1; axis >= 0; --axis) {
    if (++tap.at[axis] < patches.axis[axis].taps) return;
    tap.at[axis] = 0;
  }
  ++tap.channel;
}

// Moves to the first position of the next run.
void StepRun(const Patches& patches, Position& position) {
  position.at[kPatchAxes - 1] = 0;
  for (int axis = kPatchAxes - 2; axis >= 0; --axis) {
    if (++position.at[axis] < patches.axis[axis].positions) return;
    position.at[axis] = 0;
  }
  ++position.image;
}

int64_t Coordinate(const PatchAxis& axis, int64_t tap, int64_t position) {
  return axis.first + tap * axis.tap_step + position * axis.position_step;
}
bool IsInside(const PatchAxis& axis, int64_t coordinate) {
  return coordinate >= 0 && coordinate < axis.length;
}

// Returns the first position whose coordinate is at least `least`.
int64_t FirstReaching(const PatchAxis& axis, int64_t tap, int64_t least) {
  const int64_t missing = least - Coordinate(axis, tap, 0);
  if (missing <= 0) return 0;
  return axis.position_step == 1 ? missing : (missing + axis.position_step - 1) / axis.position_step;
}

// Returns the start of the image row that contains a run, or nullptr outside the image.
const char* RunBase(const PatchSource& source, const Tap& tap, const Position& position) {
  const Patches& patches = *source.patches;
  const char* base = source.base + tap.channel * patches.channel + position.image * patches.image;
  for (int axis = 0; axis < kPatchAxes - 1; ++axis) {
    const PatchAxis& along = patches.axis[axis];
    const int64_t coordinate = Coordinate(along, tap.at[axis], position.at[axis]);
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

// Fills in the elements that a kernel element reads at `count` positions, at most kMostRun.
void FillFrom(const PatchSource& source, const Tap& tap, Position position, int64_t count, float* to) {
  const Patches& patches = *source.patches;
  const PatchAxis& last = patches.axis[kPatchAxes - 1];
  const int64_t of_tap = tap.at[kPatchAxes - 1];
  const int64_t begin = FirstReaching(last, of_tap, 0);
  const int64_t end = std::max(begin, FirstReaching(last, of_tap, last.length));
  const int64_t step = last.position_step * last.stride;
  const bool is_copied = step == kNumber && source.size == kNumber;
  while (count > 0) {
    const int64_t x = position.at[kPatchAxes - 1];
    const int64_t some = std::min(count, last.positions - x);
    const char* const base = RunBase(source, tap, position);
    const int64_t low = base == nullptr ? some : std::clamp(begin - x, int64_t{0}, some);
    const int64_t high = base == nullptr ? some : std::clamp(end - x, low, some);
    const char* const from = high > low ? base + Coordinate(last, of_tap, x + low) * last.stride : nullptr;
    if (some <= kShortRun && is_copied) {  // no call, which would cost more than the copy
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

// The image parts that some positions read, one channel at a time, copied densely with their borders. Every
// kernel element then copies from there without testing borders; the same elements are read again and again.
class BorderedImages {
 public:
  // Covers `count` positions from `position` on, at most kMostRun. Keeps nothing if there is no memory or too
  // little, or if nothing is read twice.
  BorderedImages(const PatchSource& source, Position position, int64_t count, char* memory)
      : source_(source), count_(count) {
    const Patches& patches = *source.patches;
    const PatchAxis& outer = patches.axis[0];
    const PatchAxis& last = patches.axis[kPatchAxes - 1];
    if (memory == nullptr || outer.taps != 1 || outer.positions != 1 || !IsInside(outer, outer.first) ||
        last.position_step != 1 || last.length > kMostRun || count > kMostRun ||
        patches.axis[1].taps * last.taps < kLeastTaps) {
      return;
    }
    numbers_ = reinterpret_cast<float*>(memory);
    rows_ = reinterpret_cast<Row*>(memory + kMostNumbers * kNumber);
    runs_ = reinterpret_cast<Run*>(memory + kMostNumbers * kNumber + kMostRows * int64_t{sizeof(Row)});
    is_kept_ = Lay(position, count);
  }

  bool is_kept() const { return is_kept_; }

  // Fills in the elements that a kernel element reads.
  void Fill(const Tap& tap, float* to) {
    if (tap.channel != channel_) Load(tap.channel);
    const Patches& patches = *source_.patches;
    const float* const from =
        numbers_ + tap.at[1] * patches.axis[1].tap_step * width_ + tap.at[2] * patches.axis[2].tap_step;
    const int64_t longest = std::min(count_, patches.axis[kPatchAxes - 1].positions);
    if (longest <= 4) {
      CopyRuns<4>(from, to);
    } else if (longest <= 8) {
      CopyRuns<8>(from, to);
    } else if (longest <= 16) {
      CopyRuns<16>(from, to);
    } else if (longest <= kSlack) {
      CopyRuns<kSlack>(from, to);
    } else {
      CopyRuns<0>(from, to);
    }
  }

 private:
  static constexpr int64_t kLeastTaps = 3;
  static constexpr int64_t kMostNumbers = 8192;
  static constexpr int64_t kMostRows = 1024;
  static constexpr int64_t kSlack = 32;  // numbers that copies may read behind the last one

  // A row inside an image: its distance in bytes from the channel's first element, and its destination.
  struct Row {
    int64_t from;
    int64_t to;
  };
  struct Run {
    int32_t from;
    int32_t length;
  };
  static_assert(kMostNumbers * kNumber + kMostRows * int64_t{sizeof(Row)} + kMostRun * int64_t{sizeof(Run)} <=
                kPatchMemory);

  bool Lay(Position position, int64_t count) {
    const Patches& patches = *source_.patches;
    const PatchAxis& outer = patches.axis[0];
    const PatchAxis& high = patches.axis[1];
    const PatchAxis& last = patches.axis[2];
    const int64_t high_span = (high.taps - 1) * high.tap_step;
    const int64_t last_span = (last.taps - 1) * last.tap_step;
    const int64_t above = std::min<int64_t>(0, high_span);
    const int64_t left = last.first + std::min<int64_t>(0, last_span);
    // The lengths of axes are otherwise unbounded.
    if (high.taps > kMostRows || last.taps > kMostRun || last.positions > kMostNumbers ||
        std::abs(high_span) > kMostNumbers || std::abs(last_span) > kMostNumbers ||
        high.position_step > kMostNumbers) {
      return false;
    }
    width_ = last.positions + std::abs(last_span);
    first_column_ = std::max<int64_t>(0, left);
    columns_ = std::max<int64_t>(0, std::min(last.length, left + width_) - first_column_);
    int64_t image = -1;  // the image whose rows have been listed, up to `row`
    int64_t first_row = 0;
    int64_t row = 0;
    int64_t base = 0;
    int64_t used = 0;
    while (count > 0) {
      const int64_t top = high.first + position.at[1] * high.position_step;
      if (position.image != image) {
        image = position.image;
        base = used;
        first_row = row = top + above;
      }
      const int64_t end = top + above + std::abs(high_span) + 1;
      if (base + (end - first_row) * width_ + kSlack > kMostNumbers) return false;
      for (; row < end; ++row) {
        if (!IsInside(high, row)) continue;
        if (row_count_ == kMostRows) return false;
        rows_[row_count_++] = {image * patches.image + outer.first * outer.stride + row * high.stride +
                                   first_column_ * last.stride,
                               base + (row - first_row) * width_ + first_column_ - left};
      }
      used = base + (end - first_row) * width_;
      const int64_t some = std::min(count, last.positions - position.at[2]);
      runs_[run_count_++] = {
          static_cast<int32_t>(base + (top - first_row) * width_ + last.first + position.at[2] - left),
          static_cast<int32_t>(some)};
      count -= some;
      StepRun(patches, position);
    }
    std::fill_n(numbers_, used + kSlack, 0.0f);
    return true;
  }

  void Load(int64_t channel) {
    const int64_t step = source_.patches->axis[kPatchAxes - 1].stride;
    const char* const base = source_.base + channel * source_.patches->channel;
    channel_ = channel;
    if (columns_ <= 0) return;
    const bool is_copied = step == kNumber && source_.size == kNumber;
    for (int64_t i = 0; i < row_count_; ++i) {
      const char* const from = base + rows_[i].from;
      float* const to = numbers_ + rows_[i].to;
      if (is_copied && columns_ <= kShortRun) {
        CopyShortRun(from, columns_, to);
      } else {
        Read(source_, from, step, columns_, to);
      }
    }
  }

  // Copies without a call, which would cost more than the numbers. Parts overlap.
  static void CopyShortRun(const char* from, int64_t count, float* to) {
    const auto copy = [&]<int64_t kPart>() {
      std::memcpy(to, from, kPart * sizeof(float));
      std::memcpy(to + (count - kPart), from + (count - kPart) * kNumber, kPart * sizeof(float));
    };
    if (count >= 8) {
      copy.operator()<8>();
    } else if (count >= 4) {
      copy.operator()<4>();
    } else {
      for (int64_t i = 0; i < count; ++i) std::memcpy(to + i, from + i * kNumber, sizeof(float));
    }
  }

  // Copies runs in whole parts of kPart numbers, at least a run's length; the next run overwrites the excess.
  // With kPart 0 each run is copied exactly.
  template <int64_t kPart>
  void CopyRuns(const float* from, float* to) const {
    const float* const end = to + count_;
    const Run* run = runs_;
    if constexpr (kPart > 0) {
      for (; end - to >= kPart; to += run++->length) {
        for (int64_t i = 0; i < kPart; i += 4) std::memcpy(to + i, from + run->from + i, 4 * sizeof(float));
      }
    }
    for (; to < end; to += run++->length)
      std::memcpy(to, from + run->from, static_cast<size_t>(run->length) * sizeof(float));
  }

  const PatchSource& source_;
  int64_t count_;
  float* numbers_ = nullptr;
  Row* rows_ = nullptr;
  Run* runs_ = nullptr;
  int64_t row_count_ = 0;
  int64_t run_count_ = 0;
  int64_t width_ = 0;
  int64_t first_column_ = 0;
  int64_t columns_ = 0;
  int64_t channel_ = -1;
  bool is_kept_ = false;
};

// Tells whether all positions of the only kernel element lie inside the image, so that all channels have their
// elements at the same distances.
bool HasNoBorder(const Patches& patches) {
  return std::all_of(std::begin(patches.axis), std::end(patches.axis), [](const PatchAxis& axis) {
    return axis.taps == 1 && IsInside(axis, Coordinate(axis, 0, 0)) &&
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

// Fills in the elements of some kernel elements, one after the other.
class OperandPositions {
 public:
  OperandPositions(const PatchSource& source, Position position, int64_t count, char* memory)
      : source_(source), position_(position), count_(count), images_(source, position, count, memory) {}

  void Fill(const Tap& tap, float* to) {
    if (images_.is_kept()) return images_.Fill(tap, to);
    FillFrom(source_, tap, position_, count_, to);
  }

  void PackRows(int64_t line, int64_t lines, float* to) {
    Tap tap = TapOf(*source_.patches, line);
    for (int64_t i = 0; i < lines; ++i) {
      Fill(tap, to + i * kPackedRow);
      Step(*source_.patches, tap);
    }
  }

 private:
  const PatchSource& source_;
  Position position_;
  int64_t count_;
  BorderedImages images_;
};

// Copies parts of a run to the panels they belong to, `depth` parts apart. A part of kWidth numbers needs no call, which
// would cost more than the copy; 0: any width.
template <int64_t kWidth>
void Distribute(const float* run, int64_t count, int64_t width, float* panel, int64_t depth) {
  if constexpr (kWidth > 0) width = kWidth;
  for (int64_t lane = 0; lane < count; lane += width)
    std::memcpy(panel + lane * depth, run + lane, static_cast<size_t>(width) * sizeof(float));
}

auto DistributionOf(int64_t width) {
  return width == 32   ? Distribute<32>
         : width == 16 ? Distribute<16>
         : width == 8  ? Distribute<8>
                       : Distribute<0>;
}

bool HasShortRuns(const Patches& patches) {
  return patches.axis[kPatchAxes - 1].positions < kShortRun && HasNoBorder(patches);
}

}  // namespace

void Patches::Merge() noexcept {
  const auto is_whole = [](const PatchAxis& one) {
    return one.taps == 1 && one.position_step == 1 && one.first == 0 && one.length == one.positions;
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
  if (HasShortRuns(*source.patches)) return PackShortRuns(source, line, lines, term, depth, to);
  OperandPositions(source, PositionOf(*source.patches, term), depth, /*memory=*/nullptr)
      .PackRows(line, lines, to);
}

void PackPatchPanels(const PatchSource& source, int64_t line, int64_t lines, int64_t term, int64_t depth,
                     int64_t width, char* memory, float* to) noexcept {
  const Patches& patches = *source.patches;
  if (patches.taps_are_lines) {
    alignas(64) float rows[kLinesTogether * kPackedRow];
    const bool has_short_runs = HasShortRuns(patches);
    OperandPositions taps(source, PositionOf(patches, term), depth, has_short_runs ? nullptr : memory);
    for (int64_t panel = 0; panel < lines; panel += width) {
      float* const first = to + panel * depth;
      const int64_t some = std::min(width, lines - panel);
      if (some < width) std::memset(first, 0, static_cast<size_t>(width * depth) * sizeof(float));
      for (int64_t lane = 0; lane < some; lane += kLinesTogether) {
        const int64_t count = std::min(kLinesTogether, some - lane);
        if (has_short_runs) {
          PackShortRuns(source, line + panel + lane, count, term, depth, rows);
        } else {
          taps.PackRows(line + panel + lane, count, rows);
        }
        source.transpose(reinterpret_cast<const char*>(rows), kPackedRow * kNumber, count, depth,
                         first + lane, width);
      }
    }
    return;
  }
  // Fills a run, then distributes its parts to panels.
  const int64_t most = kMostRun / width * width;
  for (int64_t begin = 0; begin < lines; begin += most) {
    alignas(64) float run[kMostRun];
    const int64_t some = std::min(most, lines - begin);
    const int64_t whole = (some + width - 1) / width * width;
    std::fill(run + some, run + whole, 0.0f);
    OperandPositions taps(source, PositionOf(patches, line + begin), some, memory);
    Tap tap = TapOf(patches, term);
    const auto distribute = DistributionOf(width);
    float* panel = to + begin * depth;
    for (int64_t k = 0; k < depth; ++k, panel += width) {
      taps.Fill(tap, run);
      Step(patches, tap);
      distribute(run, whole, width, panel, depth);
    }
  }
}

float PatchElement(const PatchSource& source, int64_t line, int64_t term) noexcept {
  const Patches& patches = *source.patches;
  const Tap tap = TapOf(patches, patches.taps_are_lines ? line : term);
  float value;
  FillFrom(source, tap, PositionOf(patches, patches.taps_are_lines ? term : line), 1, &value);
  return value;
}

}  // namespace portacl::engine
