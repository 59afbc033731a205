// Convolutions from copies of a few rows of an image with their borders (see depthwise.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/depthwise.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/gemm/depthwise_kernel.h"
#include "engine/gemm/gemm_tile.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/strided.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

using gemm_tile::DividedUp;
using gemm_tile::kNumber;
using gemm_tile::RoundedUp;
using gemm_tile::SizeOf;

constexpr int kHigh = kPatchAxes - 2;  // the axis of rows
constexpr int kLast = kPatchAxes - 1;

// Rows of the result of a group, with one channel and with several, above which products pack patches instead.
constexpr int64_t kMostRows = 8;
constexpr int64_t kMostRowsOfChannels = 2;
// Numbers of a copy: as many as stay in the first-level cache if that leaves enough rows, and at most.
constexpr int64_t kCopiedNumbers = 6144;
constexpr int64_t kMostNumbers = 32768;
constexpr int64_t kEnoughRows = 8;
// Elements that may be copied for a multiplication.
constexpr double kMostCopiedOfWork = 2;
// Elements of an image's row that are copied at a time, and columns of a tile.
constexpr int64_t kMostElements = 8192;
constexpr int64_t kMostColumns = 2048;
// Multiplications of a block that a thread takes, and of one that takes long.
constexpr double kWorkOfBlock = 1 << 18;
constexpr double kWorkOfLongBlock = 1 << 21;

// The rows and columns of an image that the copy for a tile has, with borders. A row's columns whose places differ
// by the step of the positions are adjacent; the others follow behind them.
struct Copy {
  int64_t top;   // the image's row that is the first one
  int64_t left;  // likewise
  int64_t rows;
  int64_t columns;
  int64_t width;  // numbers of adjacent columns
  int64_t pitch;  // numbers of a row
  int64_t numbers() const { return rows * pitch; }
};

struct TileOfWindows {
  int64_t row, rows;
  int64_t column, columns;
};

// The places that windows of an axis's parts reach, from the first position on.
struct Reach {
  int64_t least;
  int64_t most;
};

Reach ReachOf(const WindowPart (&part)[2], int parts) {
  Reach reach{part[0].axis.first, part[0].axis.first};
  for (int i = 0; i < parts; ++i) {
    const PatchAxis& axis = part[i].axis;
    for (const int64_t at : {axis.first, axis.first + (axis.taps - 1) * axis.tap_step}) {
      reach.least = std::min(reach.least, at);
      reach.most = std::max(reach.most, at);
    }
  }
  return reach;
}

Copy CopyOf(const WindowProduct& product, const TileOfWindows& tile, int64_t lanes) {
  const Reach high = ReachOf(product.high, product.high_parts);
  const Reach last = ReachOf(product.last, product.last_parts);
  const int64_t row_step = product.high[0].axis.position_step;
  const int64_t step = product.last[0].axis.position_step;
  Copy copy;
  copy.top = high.least + tile.row * row_step;
  copy.rows = high.most - high.least + (tile.rows - 1) * row_step + 1;
  copy.left = last.least + tile.column * step;
  copy.columns = last.most - last.least + (tile.columns - 1) * step + 1;
  copy.width = RoundedUp(tile.columns + (last.most - last.least) / step + lanes, 16);
  copy.pitch = copy.width * step;
  return copy;
}

// Returns how many of a tile's rows or columns a part has.
int64_t CountOf(const WindowPart& part, int64_t first, int64_t count) {
  return std::clamp<int64_t>(part.axis.positions - first, 0, count);
}

class WindowRun {
 public:
  WindowRun(const WindowProduct& product, Isa isa, void* const* addresses)
      : product_(product),
        kernels_(FindDepthwiseKernels(isa)),
        load_image_(FindLoad(isa, product.image.dtype, ACL_FLOAT)),
        load_w_(FindLoad(isa, product.w.dtype, ACL_FLOAT)),
        load_added_(FindLoad(isa, product.adds ? product.added.dtype : ACL_FLOAT, ACL_FLOAT)),
        store_(FindStore(isa, product.out.dtype)),
        gather_(FindGather(isa, GatherSource::kCache)),
        scatter_(FindScatter(isa, /*from_memory=*/false)),
        image_size_(SizeOf(product.image.dtype)),
        out_size_(SizeOf(product.out.dtype)) {
    const auto at = [&](const ConvolutionOperand& operand) {
      return static_cast<char*>(addresses[operand.argument]) + operand.offset;
    };
    image_ = at(product.image);
    w_ = at(product.w);
    out_ = at(product.out);
    if (product.adds) added_ = at(product.added);
    is_even_odd_ = product.image.dtype == product.w.dtype && product.w.dtype != ACL_FLOAT;
    is_direct_ = product.out.dtype == ACL_FLOAT && AreNumbers(product.out, out_);
    are_numbers_ = product.image.dtype == ACL_FLOAT && AreNumbers(product.image, image_);
  }

  // Chooses the tiles. Returns false if a copy of even a few elements would be too large, or takes longer than the sums.
  bool ChooseTiles() {
    const PatchAxis& high = product_.high[0].axis;
    const int64_t step = product_.last[0].axis.position_step;
    columns_ = product_.last[0].axis.positions;
    tile_columns_ = std::min({columns_, kMostColumns, std::max<int64_t>(1, kMostElements / step)});
    for (;; tile_columns_ = DividedUp(tile_columns_, 2)) {
      const Copy least = CopyOf(product_, {0, 1, 0, tile_columns_}, kernels_.lanes);
      const int64_t one = product_.channels * least.numbers();
      if (one <= kMostNumbers && least.columns <= kMostElements) {
        const int64_t of_row = product_.channels * least.pitch * high.position_step;
        const auto fitting = [&](int64_t most) { return 1 + std::max<int64_t>(0, (most - one) / of_row); };
        tile_rows_ = fitting(kCopiedNumbers);
        if (tile_rows_ < kEnoughRows) tile_rows_ = std::min(kEnoughRows, fitting(kMostNumbers));
        tile_rows_ = std::min(tile_rows_, high.positions);
        return CopiedOfTile() <= kMostCopiedOfWork * WorkOfTile();
      }
      if (tile_columns_ <= 1) return false;
    }
  }

  // Returns false if a thread has no memory for a tile, which then is not computed.
  bool Run(int threads) {
    const int64_t planes = product_.images * product_.groups;
    const int64_t row_tiles = DividedUp(product_.high[0].axis.positions, tile_rows_);
    const int64_t column_tiles = DividedUp(columns_, tile_columns_);
    const double of_tile = WorkOfTile();
    const double work = of_tile * static_cast<double>(planes * row_tiles * column_tiles);
    threads = static_cast<int>(std::clamp(work / kWorkOfBlock, 1.0, static_cast<double>(threads)));
    auto together = static_cast<int64_t>(
        std::clamp(kWorkOfBlock / of_tile, 1.0, std::max(1.0, static_cast<double>(planes))));
    if (threads == 1) together = std::max<int64_t>(1, planes);
    const int64_t parts = DividedUp(planes, together);
    std::atomic<bool> lacks_memory{false};
    ForEachBlock(
        row_tiles * column_tiles * parts, threads,
        [&](int64_t block) {
          if (ThreadMemory(MemoryUse::kGemm) == nullptr) lacks_memory = true;
          if (lacks_memory) return;
          const int64_t part = block % parts;
          const int64_t tile = block / parts;
          RunTile(tile / column_tiles, tile % column_tiles, part * together,
                  std::min(together, planes - part * together));
        },
        of_tile * static_cast<double>(together) > kWorkOfLongBlock ? BlockLength::kLong
                                                                   : BlockLength::kShort);
    ReportIsaThatRan(kernels_.isa);
    return !lacks_memory;
  }

 private:
  // The parts of a thread's memory, in numbers.
  struct Memory {
    float* copy;
    float* elements;  // of the image as numbers
    float* sums;      // of four parts
    float* line;      // their columns in turn
    char* stored;     // elements of a row of the result
  };
  static constexpr int64_t kSumNumbers = 4 * kMostNumbers;
  static_assert((2 * kMostNumbers + 2 * kSumNumbers + kMostElements) * kNumber <= kGemmMemoryBytes);

  // The places of terms in a copy, for each part of rows and of columns.
  struct Places {
    int64_t of[2][2][kMostWindowTerms];
  };

  // Returns how many elements of an image's group are copied for a tile, borders aside.
  double CopiedOfTile() const {
    const Copy copy = CopyOf(product_, {0, tile_rows_, 0, tile_columns_}, kernels_.lanes);
    return static_cast<double>(product_.channels) *
           static_cast<double>(std::min(copy.rows, product_.high[0].axis.length)) *
           static_cast<double>(std::min(copy.columns, product_.last[0].axis.length));
  }

  // Returns how many multiplications a tile of an image's group has.
  double WorkOfTile() const {
    int64_t taps[2] = {};
    for (int i = 0; i < product_.high_parts; ++i) taps[0] += product_.high[i].axis.taps;
    for (int i = 0; i < product_.last_parts; ++i) taps[1] += product_.last[i].axis.taps;
    return static_cast<double>(tile_rows_ * tile_columns_ * product_.rows * product_.channels) *
           static_cast<double>(taps[0] * taps[1]);
  }

  // Tells whether elements can be read or written as they are.
  static bool AreNumbers(const ConvolutionOperand& operand, const char* first) {
    return operand.axis[kLast] == kNumber && operand.axis[kHigh] % kNumber == 0 &&
           operand.outer % kNumber == 0 && operand.inner % kNumber == 0 &&
           reinterpret_cast<uintptr_t>(first) % alignof(float) == 0;
  }

  static Memory ThreadsOwn() {
    Memory memory;
    memory.copy = reinterpret_cast<float*>(ThreadMemory(MemoryUse::kGemm));
    memory.elements = memory.copy + kMostNumbers;
    memory.sums = memory.elements + kMostNumbers;
    memory.line = memory.sums + kSumNumbers;
    memory.stored = reinterpret_cast<char*>(memory.line + kSumNumbers);
    return memory;
  }

  void RunTile(int64_t row, int64_t column, int64_t plane, int64_t planes) const {
    const DefaultFloatEnvironment environment;
    const TileOfWindows tile{
        row * tile_rows_, std::min(tile_rows_, product_.high[0].axis.positions - row * tile_rows_),
        column * tile_columns_, std::min(tile_columns_, columns_ - column * tile_columns_)};
    const Copy copy = CopyOf(product_, tile, kernels_.lanes);
    const Memory memory = ThreadsOwn();
    std::memset(memory.copy, 0, static_cast<size_t>(product_.channels * copy.numbers()) * sizeof(float));
    Places places;
    for (int high = 0; high < product_.high_parts; ++high) {
      for (int last = 0; last < product_.last_parts; ++last)
        ListPlaces(copy, tile, product_.high[high].axis, product_.last[last].axis, places.of[high][last]);
    }
    for (int64_t i = plane; i < plane + planes; ++i) {
      const int64_t image = i / product_.groups;
      const int64_t group = i % product_.groups;
      for (int64_t channel = 0; channel < product_.channels; ++channel) {
        Fill(copy,
             image_ + image * product_.image.outer +
                 (group * product_.channels + channel) * product_.image.inner,
             memory.elements, memory.copy + channel * copy.numbers());
      }
      for (int64_t of = 0; of < product_.rows; ++of)
        ComputePlane(copy, tile, places, memory, image, group, of);
    }
  }

  // Lists terms: places in the copy for the first row and column.
  void ListPlaces(const Copy& copy, const TileOfWindows& tile, const PatchAxis& high, const PatchAxis& last,
                  int64_t* place) const {
    for (int64_t channel = 0; channel < product_.channels; ++channel) {
      for (int64_t i = 0; i < high.taps; ++i) {
        const int64_t row = high.first + i * high.tap_step + tile.row * high.position_step - copy.top;
        for (int64_t j = 0; j < last.taps; ++j) {
          const int64_t column =
              last.first + j * last.tap_step + tile.column * last.position_step - copy.left;
          *place++ = channel * copy.numbers() + row * copy.pitch + column % last.position_step * copy.width +
                     column / last.position_step;
        }
      }
    }
  }

  // Copies what lies inside the image. Borders stay zero.
  void Fill(const Copy& copy, const char* from, float* elements, float* to) const {
    const PatchAxis& high = product_.high[0].axis;
    const PatchAxis& last = product_.last[0].axis;
    const int64_t left = std::max<int64_t>(0, copy.left);
    const int64_t count = std::min(last.length, copy.left + copy.columns) - left;
    const int64_t top = std::max<int64_t>(0, copy.top);
    const int64_t rows = std::min(high.length, copy.top + copy.rows) - top;
    if (count <= 0 || rows <= 0) return;
    from += top * high.stride + left * last.stride;
    to += (top - copy.top) * copy.pitch;
    if (are_numbers_) {
      return Spread(copy, {reinterpret_cast<const float*>(from), high.stride / kNumber, rows}, count,
                    left - copy.left, to);
    }
    if (last.stride == image_size_ && high.stride == count * image_size_ && rows * count <= kMostNumbers) {
      load_image_(from, elements, static_cast<size_t>(rows * count));
      return Spread(copy, {elements, count, rows}, count, left - copy.left, to);
    }
    for (int64_t row = 0; row < rows; ++row) {
      Read(from + row * high.stride, last.stride, count, elements);
      Spread(copy, {elements, count, 1}, count, left - copy.left, to + row * copy.pitch);
    }
  }

  void Read(const char* from, int64_t step, int64_t count, float* to) const {
    if (step == image_size_ || count == 1) {
      load_image_(from, to, static_cast<size_t>(count));
    } else if (image_size_ == kNumber) {
      gather_(from, step, image_size_, to, count);
    } else {
      alignas(64) char elements[kMostElements * 2];
      gather_(from, step, image_size_, elements, count);
      load_image_(elements, to, static_cast<size_t>(count));
    }
  }

  // Distributes numbers of rows, of which the first one is at `place`.
  void Spread(const Copy& copy, const NumberRows& from, int64_t count, int64_t place, float* to) const {
    const int64_t step = product_.last[0].axis.position_step;
    if (step == 1) return kernels_.copy_rows(from, count, to + place, copy.pitch);
    if (step == 2) {
      float* const even = to + (place + 1) / 2;
      float* const odd = to + copy.width + place / 2;
      return place % 2 == 0 ? kernels_.separate_rows(from, count, even, odd, copy.pitch)
                            : kernels_.separate_rows(from, count, odd, even, copy.pitch);
    }
    for (int64_t row = 0; row < from.rows; ++row, to += copy.pitch) {
      for (int64_t i = 0; i < count; ++i)
        to[(place + i) % step * copy.width + (place + i) / step] = from.first[row * from.row + i];
    }
  }

  void ReadWeights(int64_t group, int64_t of, const WindowPart& high, const WindowPart& last,
                   float* w) const {
    const ConvolutionOperand& operand = product_.w;
    const char* const first =
        w_ + group * product_.w_group + of * operand.outer + high.w_offset + last.w_offset;
    const int64_t size = SizeOf(operand.dtype);
    const int64_t rows = high.axis.taps;
    const int64_t taps = last.axis.taps;
    const int64_t row = rows == 1 ? 0 : high.w_tap;
    const int64_t step = taps == 1 ? 0 : last.w_tap;
    if (product_.channels == 1 && row >= 0 && step >= 0 && row % size == 0 && step % size == 0) {
      const int64_t span = ((rows - 1) * row + (taps - 1) * step) / size + 1;
      const bool is_dense = (taps == 1 || step == size) && (rows == 1 || row == taps * size);
      if (is_dense) return load_w_(first, w, static_cast<size_t>(span));
      if (span <= kMostWindowTerms) {
        float all[kMostWindowTerms];
        load_w_(first, all, static_cast<size_t>(span));
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < taps; ++j) *w++ = all[(i * row + j * step) / size];
        }
        return;
      }
    }
    for (int64_t channel = 0; channel < product_.channels; ++channel) {
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < taps; ++j)
          load_w_(first + channel * operand.inner + i * row + j * step, w++, 1);
      }
    }
  }

  void ComputePlane(const Copy& copy, const TileOfWindows& tile, const Places& places, const Memory& memory,
                    int64_t image, int64_t group, int64_t of) const {
    const int64_t channel = group * product_.rows + of;
    const int64_t row = product_.out.axis[kHigh];
    char* const out = out_ + image * product_.out.outer + channel * product_.out.inner +
                      tile.row * product_.high_parts * row +
                      tile.column * product_.last_parts * product_.out.axis[kLast];
    WindowSums sums{};
    sums.adds = product_.adds;
    if (product_.adds) load_added_(added_ + channel * product_.added.inner, &sums.added, 1);
    const bool is_direct = is_direct_ && product_.last_parts == 1;
    const int64_t of_part = RoundedUp(tile.rows * tile.columns + kernels_.lanes, 16);
    for (int high = 0; high < product_.high_parts; ++high) {
      for (int last = 0; last < product_.last_parts; ++last) {
        alignas(64) float w[kMostWindowTerms];
        ReadWeights(group, of, product_.high[high], product_.last[last], w);
        sums.x = memory.copy;
        sums.place = places.of[high][last];
        sums.w = w;
        sums.rows = CountOf(product_.high[high], tile.row, tile.rows);
        sums.columns = CountOf(product_.last[last], tile.column, tile.columns);
        if (product_.last_parts == 2) {
          sums.out = memory.sums + (2 * high + last) * of_part;
          sums.out_row = tile.columns;
        } else {
          sums.out_row = (is_direct ? row / kNumber : tile.columns) * product_.high_parts;
          sums.out = (is_direct ? reinterpret_cast<float*>(out) : memory.sums) +
                     high * sums.out_row / product_.high_parts;
        }
        Compute(copy, product_.high[high].axis, product_.last[last].axis, sums);
      }
    }
    if (!is_direct) Store(tile, memory, of_part, out);
  }

  // Chooses loops, and runs them on rows for which they can be used.
  void Compute(const Copy& copy, const PatchAxis& high, const PatchAxis& last, WindowSums sums) const {
    sums.terms = product_.channels * high.taps * last.taps;
    const WindowSumsFunction(&functions)[kWindowShapes] = kernels_.window_sums[is_even_odd_ ? 1 : 0];
    const int64_t step = std::abs(high.tap_step);
    const bool is_square =
        product_.channels == 1 && high.taps == last.taps && (last.taps == 3 || last.taps == 5);
    const bool is_of_two = step == 1 && high.position_step == 2;
    sums.x_row = high.position_step * copy.pitch;
    if (!is_square || (high.position_step != 1 && !is_of_two))
      return functions[static_cast<size_t>(WindowShape::kAny)](sums);
    // Every step-th row has its neighbour's window, one row of the window further.
    const auto shape = last.taps == 3 ? (is_of_two ? WindowShape::kThreeOfTwo : WindowShape::kThree)
                                      : (is_of_two ? WindowShape::kFiveOfTwo : WindowShape::kFive);
    const int64_t apart = is_of_two ? 1 : step;
    const int64_t direction = high.tap_step < 0 ? -1 : 1;
    for (int64_t row = 0; row < std::min(apart, sums.rows); ++row) {
      WindowSums some = sums;
      some.rows = DividedUp(sums.rows - row, apart);
      const int64_t first = direction > 0 ? row : row + (some.rows - 1) * apart;
      some.x += first * sums.x_row;
      some.out += first * sums.out_row;
      some.x_row *= direction * apart;
      some.out_row *= direction * apart;
      functions[static_cast<size_t>(shape)](some);
    }
  }

  // Stores the sums of a tile that are not yet where they belong.
  void Store(const TileOfWindows& tile, const Memory& memory, int64_t of_part, char* out) const {
    const int64_t step = product_.out.axis[kLast];
    const int64_t row = product_.out.axis[kHigh];
    const auto all = [](const WindowPart(&part)[2], int parts, int64_t first, int64_t count) {
      return CountOf(part[0], first, count) + (parts == 2 ? CountOf(part[1], first, count) : 0);
    };
    const int64_t rows = all(product_.high, product_.high_parts, tile.row, tile.rows);
    const int64_t columns = all(product_.last, product_.last_parts, tile.column, tile.columns);
    const float* numbers = memory.sums;
    if (product_.last_parts == 2) {
      float* const to = is_direct_ ? reinterpret_cast<float*>(out) : memory.line;
      const int64_t to_row = is_direct_ ? row / kNumber : columns;
      for (int high = 0; high < product_.high_parts; ++high) {
        const float* const even = memory.sums + of_part * 2 * high;
        kernels_.alternate_rows({even, tile.columns, CountOf(product_.high[high], tile.row, tile.rows)},
                                even + of_part, columns, to + high * to_row, product_.high_parts * to_row);
      }
      if (is_direct_) return;
      numbers = memory.line;
    }
    if (step == out_size_ && row == columns * out_size_)
      return store_(numbers, out, static_cast<size_t>(rows * columns), false);
    for (int64_t i = 0; i < rows; ++i) {
      char* const to = out + i * row;
      if (step == out_size_ || columns == 1) {
        store_(numbers + i * columns, to, static_cast<size_t>(columns), false);
        continue;
      }
      store_(numbers + i * columns, memory.stored, static_cast<size_t>(columns), false);
      scatter_(memory.stored, to, step, out_size_, columns);
    }
  }

  const WindowProduct& product_;
  const DepthwiseKernels& kernels_;
  LoadFunction load_image_;
  LoadFunction load_w_;
  LoadFunction load_added_;
  StoreFunction store_;
  GatherFunction gather_;
  ScatterFunction scatter_;
  int64_t image_size_;
  int64_t out_size_;
  const char* image_ = nullptr;
  const char* w_ = nullptr;
  const char* added_ = nullptr;
  char* out_ = nullptr;
  bool is_even_odd_;
  bool is_direct_;    // numbers are written where they belong
  bool are_numbers_;  // the image's elements are read as they are
  int64_t columns_ = 0;
  int64_t tile_rows_ = 0;
  int64_t tile_columns_ = 0;
};

// Tells whether an image's columns are quickly distributed by their places, or windows are wide enough to make up for it.
bool DistributesQuickly(const PatchAxis& axis) {
  return axis.position_step <= 2 || (axis.position_step <= 4 && 2 * axis.taps >= 3 * axis.position_step);
}

}  // namespace

bool RunWindows(const WindowProduct& product, Isa isa, int threads, void* const* addresses) {
  // Lengths of axes and their steps are otherwise unbounded.
  constexpr int64_t kMostReach = int64_t{1} << 16;
  const auto is_short = [](const PatchAxis& axis) {
    return axis.taps >= 1 && axis.taps <= kMostWindowTerms && std::abs(axis.tap_step) <= kMostReach &&
           axis.position_step <= kMostReach;
  };
  const PatchAxis& depth = product.depth;
  const PatchAxis& first = product.last[0].axis;
  // Terms of one element of each channel are rows of a matrix.
  const bool is_matrix = product.channels > 1 && product.high_parts == 1 && product.last_parts == 1 &&
                         product.high[0].axis.taps == 1 && first.taps == 1;
  bool fits = !is_matrix && DistributesQuickly(first) &&
              product.rows <= (product.channels == 1 ? kMostRows : kMostRowsOfChannels) &&
              product.channels >= 1 && product.channels <= kMostWindowTerms && depth.taps == 1 &&
              depth.positions == 1 && depth.first == 0 && depth.length >= 1;
  for (int high = 0; high < product.high_parts && fits; ++high) {
    const PatchAxis& axis = product.high[high].axis;
    for (int last = 0; last < product.last_parts && fits; ++last) {
      const PatchAxis& along = product.last[last].axis;
      fits = is_short(axis) && is_short(along) && product.channels * axis.taps <= kMostWindowTerms &&
             product.channels * axis.taps * along.taps <= kMostWindowTerms;
    }
  }
  if (!fits || ThreadMemory(MemoryUse::kGemm) == nullptr) return false;
  WindowRun run(product, isa, addresses);
  return run.ChooseTiles() && run.Run(threads);
}

}  // namespace portacl::engine
