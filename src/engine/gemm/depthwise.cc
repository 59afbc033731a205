// Convolutions from copies of a few rows of an image with their borders (see depthwise.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/gemm/depthwise.h"

#include <algorithm>
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

// Rows of the result of a group from which on products pack patches instead.
constexpr int64_t kMostRows = 8;
// Numbers of a copy: as many as stay in the first-level cache if that leaves enough rows, and at most.
constexpr int64_t kCopiedNumbers = 6144;
constexpr int64_t kMostNumbers = 32768;
constexpr int64_t kEnoughRows = 8;
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

int64_t Least(const PatchAxis& axis) {
  return axis.first + std::min<int64_t>(0, (axis.taps - 1) * axis.tap_step);
}
int64_t Most(const PatchAxis& axis) {
  return axis.first + std::max<int64_t>(0, (axis.taps - 1) * axis.tap_step);
}

struct TileOfWindows {
  int64_t row, rows;
  int64_t column, columns;
};

Copy CopyOf(const WindowProduct& product, const TileOfWindows& tile, int64_t lanes) {
  const PatchAxis& high = product.axis[kHigh];
  const int64_t step = product.part[0].axis.position_step;
  int64_t least = Least(product.part[0].axis);
  int64_t most = Most(product.part[0].axis);
  for (int i = 1; i < product.parts; ++i) {
    least = std::min(least, Least(product.part[i].axis));
    most = std::max(most, Most(product.part[i].axis));
  }
  Copy copy;
  copy.top = Least(high) + tile.row * high.position_step;
  copy.rows = Most(high) - Least(high) + (tile.rows - 1) * high.position_step + 1;
  copy.left = least + tile.column * step;
  copy.columns = most - least + (tile.columns - 1) * step + 1;
  copy.width = RoundedUp(tile.columns + (most - least) / step + lanes, 16);
  copy.pitch = copy.width * step;
  return copy;
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
    const int64_t last = product.out.axis[kPatchAxes - 1];
    const int64_t row = product.out.axis[kHigh];
    is_direct_ = product.parts == 1 && product.out.dtype == ACL_FLOAT && last == kNumber &&
                 row % kNumber == 0 && product.out.outer % kNumber == 0 && product.out.inner % kNumber == 0 &&
                 reinterpret_cast<uintptr_t>(out_) % alignof(float) == 0;
  }

  // Chooses the tiles. Returns false if a copy of even a few elements would be too large.
  bool Lay() {
    const PatchAxis& high = product_.axis[kHigh];
    const int64_t step = product_.part[0].axis.position_step;
    columns_ = product_.part[0].axis.positions;
    tile_columns_ = std::min({columns_, kMostColumns, std::max<int64_t>(1, kMostElements / step)});
    for (;; tile_columns_ = DividedUp(tile_columns_, 2)) {
      const auto numbers = [&](int64_t rows) {
        return product_.channels * CopyOf(product_, {0, rows, 0, tile_columns_}, kernels_.lanes).numbers();
      };
      const int64_t one = numbers(1);
      const Copy least = CopyOf(product_, {0, 1, 0, tile_columns_}, kernels_.lanes);
      if (one <= kMostNumbers && least.columns <= kMostElements) {
        const int64_t of_row = product_.channels * least.pitch * high.position_step;
        const auto fitting = [&](int64_t most) { return 1 + std::max<int64_t>(0, (most - one) / of_row); };
        tile_rows_ = fitting(kCopiedNumbers);
        if (tile_rows_ < kEnoughRows) tile_rows_ = std::min(kEnoughRows, fitting(kMostNumbers));
        tile_rows_ = std::min(tile_rows_, high.positions);
        return true;
      }
      if (tile_columns_ <= 1) return false;
    }
  }

  void Run(int threads) {
    const int64_t planes = product_.images * product_.groups;
    const int64_t row_tiles = DividedUp(product_.axis[kHigh].positions, tile_rows_);
    const int64_t column_tiles = DividedUp(columns_, tile_columns_);
    const double of_tile =
        static_cast<double>(tile_rows_ * tile_columns_ * product_.rows * product_.channels *
                            product_.axis[kHigh].taps * product_.part[0].axis.taps);
    const double work = of_tile * static_cast<double>(planes * row_tiles * column_tiles);
    threads = static_cast<int>(std::clamp(work / kWorkOfBlock, 1.0, static_cast<double>(threads)));
    auto together = static_cast<int64_t>(
        std::clamp(kWorkOfBlock / of_tile, 1.0, std::max(1.0, static_cast<double>(planes))));
    if (threads == 1) together = planes;
    const int64_t parts = DividedUp(planes, together);
    ForEachBlock(
        row_tiles * column_tiles * parts, threads,
        [&](int64_t block) {
          const int64_t part = block % parts;
          const int64_t tile = block / parts;
          RunTile(tile / column_tiles, tile % column_tiles, part * together,
                  std::min(together, planes - part * together));
        },
        of_tile * static_cast<double>(together) > kWorkOfLongBlock ? BlockLength::kLong
                                                                   : BlockLength::kShort);
    ReportIsaThatRan(kernels_.isa);
  }

 private:
  // The parts of a thread's memory, in numbers.
  struct Memory {
    float* copy;
    float* elements;  // of a row
    float* sums;      // of two parts
    float* line;      // their columns in turn, or elements of the result
  };
  static constexpr int64_t kSumNumbers = 2 * kMostNumbers;
  static_assert((kMostNumbers + kMostElements + 2 * kSumNumbers) * kNumber <= kGemmMemoryBytes);

  void RunTile(int64_t row, int64_t column, int64_t plane, int64_t planes) const {
    const DefaultFloatEnvironment environment;
    const TileOfWindows tile{
        row * tile_rows_, std::min(tile_rows_, product_.axis[kHigh].positions - row * tile_rows_),
        column * tile_columns_, std::min(tile_columns_, columns_ - column * tile_columns_)};
    const Copy copy = CopyOf(product_, tile, kernels_.lanes);
    auto* const numbers = reinterpret_cast<float*>(ThreadMemory(MemoryUse::kGemm));
    const Memory memory{numbers, numbers + kMostNumbers, numbers + kMostNumbers + kMostElements,
                        numbers + kMostNumbers + kMostElements + kSumNumbers};
    std::memset(memory.copy, 0, static_cast<size_t>(product_.channels * copy.numbers()) * sizeof(float));
    int64_t place[2][kMostWindowTerms];
    for (int i = 0; i < product_.parts; ++i) Lay(copy, tile, i, place[i]);
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
        ComputePlane(copy, tile, place, memory, image, group, of);
    }
  }

  // Lists a part's terms: places in the copy for the first row and column.
  void Lay(const Copy& copy, const TileOfWindows& tile, int part, int64_t* place) const {
    const PatchAxis& high = product_.axis[kHigh];
    const PatchAxis& last = product_.part[part].axis;
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
    const PatchAxis& high = product_.axis[kHigh];
    const PatchAxis& last = product_.part[0].axis;
    const int64_t begin = std::max<int64_t>(0, copy.left);
    const int64_t count = std::min(last.length, copy.left + copy.columns) - begin;
    if (count <= 0) return;
    const int64_t end = std::min(high.length, copy.top + copy.rows);
    for (int64_t row = std::max<int64_t>(0, copy.top); row < end; ++row) {
      const char* const first = from + row * high.stride + begin * last.stride;
      float* const to_row = to + (row - copy.top) * copy.pitch;
      if (last.position_step == 1) {
        Read(first, last.stride, count, to_row + (begin - copy.left));
        continue;
      }
      const float* read = elements;
      if (last.stride == kNumber && image_size_ == kNumber &&
          reinterpret_cast<uintptr_t>(first) % alignof(float) == 0) {
        read = reinterpret_cast<const float*>(first);
      } else {
        Read(first, last.stride, count, elements);
      }
      Spread(read, count, begin - copy.left, last.position_step, copy.width, to_row);
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

  // Distributes a row's numbers, of which the first one is at `place`.
  void Spread(const float* from, int64_t count, int64_t place, int64_t step, int64_t width, float* to) const {
    const auto put = [&](int64_t i) { to[(place + i) % step * width + (place + i) / step] = from[i]; };
    int64_t i = 0;
    if (step == 2) {
      if (place % 2 != 0) put(i++);
      const int64_t at = (place + i) / 2;
      const int64_t pairs = (count - i) / 2;
      kernels_.separate(from + i, pairs, to + at, to + width + at);
      i += 2 * pairs;
    }
    for (; i < count; ++i) put(i);
  }

  void ReadWeights(int64_t group, int64_t of, int part, float* w) const {
    const ConvolutionOperand& operand = product_.w;
    const WindowPart& last = product_.part[part];
    const PatchAxis& high = product_.axis[kHigh];
    const char* const first = w_ + group * product_.w_group + of * operand.outer + last.w_offset;
    const int64_t size = SizeOf(operand.dtype);
    const int64_t taps = last.axis.taps;
    const int64_t row = operand.axis[kHigh];
    if (product_.channels == 1 && (last.w_tap == size || taps == 1) &&
        (row == taps * size || high.taps == 1)) {
      return load_w_(first, w, static_cast<size_t>(high.taps * taps));
    }
    for (int64_t channel = 0; channel < product_.channels; ++channel) {
      for (int64_t i = 0; i < high.taps; ++i) {
        for (int64_t j = 0; j < taps; ++j)
          load_w_(first + channel * operand.inner + i * row + j * last.w_tap, w++, 1);
      }
    }
  }

  void ComputePlane(const Copy& copy, const TileOfWindows& tile, const int64_t (&place)[2][kMostWindowTerms],
                    const Memory& memory, int64_t image, int64_t group, int64_t of) const {
    const int64_t channel = group * product_.rows + of;
    char* const out = out_ + image * product_.out.outer + channel * product_.out.inner +
                      tile.row * product_.out.axis[kHigh] +
                      tile.column * product_.parts * product_.out.axis[kPatchAxes - 1];
    WindowSums sums{};
    sums.adds = product_.adds;
    if (product_.adds) load_added_(added_ + channel * product_.added.inner, &sums.added, 1);
    for (int i = 0; i < product_.parts; ++i) {
      alignas(64) float w[kMostWindowTerms];
      ReadWeights(group, of, i, w);
      sums.x = memory.copy;
      sums.place = place[i];
      sums.w = w;
      sums.columns = std::min(tile.columns, product_.part[i].axis.positions - tile.column);
      sums.out = is_direct_ ? reinterpret_cast<float*>(out) : memory.sums + i * kMostNumbers;
      sums.out_row = is_direct_ ? product_.out.axis[kHigh] / kNumber : tile.columns;
      sums.rows = tile.rows;
      Compute(copy, i, sums);
    }
    if (!is_direct_) Store(tile, memory, out);
  }

  // Chooses loops, and runs them on rows for which they can be used.
  void Compute(const Copy& copy, int part, WindowSums sums) const {
    const PatchAxis& high = product_.axis[kHigh];
    const PatchAxis& last = product_.part[part].axis;
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

  void Store(const TileOfWindows& tile, const Memory& memory, char* out) const {
    const int64_t last = product_.out.axis[kPatchAxes - 1];
    const int64_t row = product_.out.axis[kHigh];
    if (product_.parts == 1 && last == out_size_ && row == tile.columns * out_size_)
      return store_(memory.sums, out, static_cast<size_t>(tile.rows * tile.columns), false);
    for (int64_t i = 0; i < tile.rows; ++i) {
      const float* sums = memory.sums + i * tile.columns;
      int64_t count = tile.columns;
      float* line = memory.line;
      if (product_.parts == 2) {
        const int64_t odd = std::min(tile.columns, product_.part[1].axis.positions - tile.column);
        const float* const odds = memory.sums + kMostNumbers + i * tile.columns;
        kernels_.alternate(sums, odds, odd, line);
        if (odd < count) line[2 * odd] = sums[odd];
        sums = line;
        count += odd;
        line += RoundedUp(count, 16);
      }
      char* const to = out + i * row;
      if (last == out_size_ || count == 1) {
        store_(sums, to, static_cast<size_t>(count), false);
        continue;
      }
      store_(sums, line, static_cast<size_t>(count), false);
      scatter_(line, to, last, out_size_, count);
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
  bool is_direct_;
  int64_t columns_ = 0;
  int64_t tile_rows_ = 0;
  int64_t tile_columns_ = 0;
};

// Tells whether each window of an axis is one element of the image.
bool IsOne(const PatchAxis& axis) {
  return axis.taps == 1 && axis.positions == 1 && axis.first >= 0 && axis.first < axis.length;
}

}  // namespace

bool RunWindows(const WindowProduct& product, Isa isa, int threads, void* const* addresses) {
  // Lengths of axes and their steps are otherwise unbounded.
  constexpr int64_t kMostReach = int64_t{1} << 16;
  const auto is_short = [](const PatchAxis& axis) {
    return axis.taps >= 1 && axis.taps <= kMostWindowTerms && std::abs(axis.tap_step) <= kMostReach &&
           axis.position_step <= kMostReach;
  };
  const int64_t taps = product.channels * product.axis[kHigh].taps;
  bool fits = product.rows <= kMostRows && product.channels >= 1 && product.channels <= kMostWindowTerms &&
              IsOne(product.axis[0]) && product.axis[0].first == 0 && is_short(product.axis[kHigh]);
  for (int i = 0; i < product.parts && fits; ++i)
    fits = is_short(product.part[i].axis) && taps * product.part[i].axis.taps <= kMostWindowTerms;
  if (!fits || ThreadMemory(MemoryUse::kGemm) == nullptr) return false;
  WindowRun run(product, isa, addresses);
  if (!run.Lay()) return false;
  run.Run(threads);
  return true;
}

}  // namespace portacl::engine
