// The gradient of w of depthwise convolutions (see depthwise.h). An element of it is one long sum over pixels, so that
// the lanes of a vector are channels: a few rows of both images are transposed, and each vector of y is multiplied with
// those of x that the window's elements meet.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/float_environment.h"
#include "engine/conversions.h"
#include "engine/gemm/depthwise.h"
#include "engine/gemm/depthwise_kernel.h"
#include "engine/gemm/gemm_tile.h"
#include "engine/isa_in_use.h"
#include "engine/parallel.h"
#include "engine/thread_memory.h"

namespace portacl::engine {
namespace {

using gemm_tile::DividedUp;
using gemm_tile::kNumber;
using gemm_tile::SizeOf;

constexpr int kHigh = kPatchAxes - 2;
constexpr int kLast = kPatchAxes - 1;

constexpr int64_t kMostLanes = 64;
constexpr int64_t kMostSums = 64;
// The fewest groups that are worth a vector.
constexpr int64_t kFewestGroups = 4;
// Numbers of some of x's rows, and pixels of y, that are transposed at a time.
constexpr int64_t kMostNumbers = 65536;
constexpr int64_t kMostPixels = 1024;
// Numbers of x that may be transposed for a multiplication.
constexpr int64_t kMostReadOfWork = 4;
// Rows up to this length are transposed together, as they lie in memory, and then copied between their borders.
constexpr int64_t kShortRow = 48;
constexpr double kWorkOfThread = 1 << 18;
constexpr double kWorkOfLongBlock = 1 << 21;

// Some rows of y, or some columns of one row, and what they meet of x.
struct Chunk {
  int64_t row, rows;
  int64_t column, columns;
  int64_t top, high;    // x's first row, and how many
  int64_t left, width;  // likewise its columns
};

// Lanes, the channel of y in each of their groups, and places of the window.
struct Work {
  int64_t group;
  int64_t lanes;
  int64_t row;
  int64_t first;
  int64_t count;
};

class WeightRun {
 public:
  WeightRun(const Convolution& convolution, Isa isa, void* const* addresses)
      : c_(convolution),
        kernels_(FindDepthwiseKernels(isa)),
        gemm_kernels_(FindGemmKernels(isa)),
        lanes_(kernels_.lanes),
        kernel_(c_.axis[kHigh].kernel * c_.axis[kLast].kernel),
        load_x_(FindLoad(isa, c_.x.dtype, ACL_FLOAT)),
        load_y_(FindLoad(isa, c_.y.dtype, ACL_FLOAT)),
        store_(FindStore(isa, c_.w.dtype)),
        is_even_odd_(c_.x.dtype == c_.y.dtype && c_.x.dtype != ACL_FLOAT),
        block_(is_even_odd_ ? kEvenOddDepth : kGemmDepth) {
    const auto at = [&](const ConvolutionOperand& operand) {
      return static_cast<char*>(addresses[operand.argument]) + operand.offset;
    };
    x_ = at(c_.x);
    y_ = at(c_.y);
    w_ = at(c_.w);
  }

  // Chooses how many rows, or columns of one row, are transposed at a time. Returns false if what they meet of x is too
  // large, or takes longer to read than to multiply.
  bool ChooseChunks() {
    const ConvolutionAxis& high = c_.axis[kHigh];
    const ConvolutionAxis& last = c_.axis[kLast];
    columns_ = std::min(last.y, kMostPixels);
    for (; columns_ >= 1; columns_ = columns_ == 1 ? 0 : DividedUp(columns_, 2)) {
      const auto numbers = [&](int64_t rows) {
        return ((rows - 1) * high.stride + Reach(high)) * ((columns_ - 1) * last.stride + Reach(last)) *
               lanes_;
      };
      if (numbers(1) > kMostNumbers) continue;
      rows_ = columns_ < last.y ? 1 : std::max<int64_t>(1, std::min(high.y, kMostPixels / columns_));
      while (rows_ > 1 && numbers(rows_) > kMostNumbers) rows_ = DividedUp(rows_, 2);
      return numbers(rows_) <= kMostReadOfWork * rows_ * columns_ * kernel_ * lanes_;
    }
    return false;
  }

  // Returns false if a thread has no memory for its sums, which then are not computed.
  bool Run(int threads) {
    const int64_t groups = DividedUp(c_.groups, lanes_);
    const double work_of_groups = static_cast<double>(c_.images) * static_cast<double>(c_.axis[kHigh].y) *
                                  static_cast<double>(c_.axis[kLast].y) *
                                  static_cast<double>(kernel_ * lanes_);
    const double work = work_of_groups * static_cast<double>(groups * c_.y_channels);
    threads = static_cast<int>(std::clamp(work / kWorkOfThread, 1.0, static_cast<double>(threads)));
    // Too few groups for the threads: these share a window's places.
    const int64_t parts =
        std::min(DividedUp(int64_t{threads}, groups * c_.y_channels), DividedUp(kernel_, int64_t{4}));
    const int64_t each = DividedUp(kernel_, parts);
    std::atomic<bool> lacks_memory{false};
    ForEachBlock(
        groups * c_.y_channels * parts, threads,
        [&](int64_t block) {
          if (ThreadMemory(MemoryUse::kGemm) == nullptr) lacks_memory = true;
          if (lacks_memory) return;
          const int64_t first = block % parts * each;
          const int64_t rest = block / parts;
          const int64_t group = rest / c_.y_channels * lanes_;
          if (first >= kernel_) return;
          Sum({group, std::min(lanes_, c_.groups - group), rest % c_.y_channels, first,
               std::min(each, kernel_ - first)});
        },
        work_of_groups > kWorkOfLongBlock ? BlockLength::kLong : BlockLength::kShort);
    ReportIsaThatRan(kernels_.isa);
    return !lacks_memory;
  }

 private:
  struct Memory {
    float* x;
    float* flat;  // rows of x before they are copied between borders
    float* y;
    float* chain[2];
    float* sum;
  };
  static constexpr int64_t kMostChain = kMostSums * kMostLanes;
  static_assert((2 * kMostNumbers + kMostPixels * kMostLanes + 3 * kMostChain) * kNumber <= kGemmMemoryBytes);

  static int64_t Reach(const ConvolutionAxis& axis) { return (axis.kernel - 1) * axis.dilation + 1; }

  static Memory ThreadsOwn() {
    Memory memory;
    memory.x = reinterpret_cast<float*>(ThreadMemory(MemoryUse::kGemm));
    memory.flat = memory.x + kMostNumbers;
    memory.y = memory.flat + kMostNumbers;
    memory.chain[0] = memory.y + kMostPixels * kMostLanes;
    memory.chain[1] = memory.chain[0] + kMostChain;
    memory.sum = memory.chain[1] + kMostChain;
    return memory;
  }

  // Sums all terms, chunk by chunk; chains go on from one to the next.
  void Sum(const Work& work) const {
    const DefaultFloatEnvironment environment;
    const ConvolutionAxis& high = c_.axis[kHigh];
    const ConvolutionAxis& last = c_.axis[kLast];
    const Memory memory = ThreadsOwn();
    for (float* const numbers : {memory.chain[0], memory.chain[1], memory.sum})
      std::fill_n(numbers, kMostChain, 0.0f);
    int64_t term = 0;
    for (int64_t image = 0; image < c_.images; ++image) {
      for (int64_t row = 0; row < high.y; row += rows_) {
        for (int64_t column = 0; column < last.y; column += columns_) {
          Chunk chunk{};
          chunk.row = row;
          chunk.rows = std::min(rows_, high.y - row);
          chunk.column = column;
          chunk.columns = std::min(columns_, last.y - column);
          chunk.top = row * high.stride - high.padding;
          chunk.high = (chunk.rows - 1) * high.stride + Reach(high);
          chunk.left = column * last.stride - last.padding;
          chunk.width = (chunk.columns - 1) * last.stride + Reach(last);
          ReadX(chunk, work, image, memory);
          ReadY(chunk, work, image, memory.y);
          SumChunk(chunk, work, memory, term);
        }
      }
    }
    if (term % block_ != 0) AddBlock(work, memory, term - 1);
    Store(work, memory);
  }

  // Adds the chains of the block that contains a term.
  void AddBlock(const Work& work, const Memory& memory, int64_t term) const {
    kernels_.add_block(memory.chain[0], is_even_odd_ ? memory.chain[1] : nullptr, work.count * lanes_,
                       term < block_, memory.sum);
  }

  void SumChunk(const Chunk& chunk, const Work& work, const Memory& memory, int64_t& term) const {
    const ConvolutionAxis& high = c_.axis[kHigh];
    const ConvolutionAxis& last = c_.axis[kLast];
    int64_t place[kMostSums];
    for (int64_t i = 0; i < work.count; ++i) {
      const int64_t tap = work.first + i;
      place[i] =
          (tap / last.kernel * high.dilation * chunk.width + tap % last.kernel * last.dilation) * lanes_;
    }
    int32_t pixel[kMostPixels];
    for (int64_t row = 0, i = 0; row < chunk.rows; ++row) {
      for (int64_t column = 0; column < chunk.columns; ++column, ++i)
        pixel[i] = static_cast<int32_t>((row * high.stride * chunk.width + column * last.stride) * lanes_);
    }
    const int64_t pixels = chunk.rows * chunk.columns;
    for (int64_t i = 0; i < pixels;) {
      const int64_t some = std::min(block_ - term % block_, pixels - i);
      const int64_t chains = is_even_odd_ ? 2 : 1;
      for (int64_t chain = 0; chain < chains; ++chain) {
        const int64_t from = is_even_odd_ ? (term + chain) % 2 : 0;  // the first one of the chain's parity
        if (from >= some) continue;
        kernels_.pixel_sums({memory.y + (i + from) * lanes_, memory.x, pixel + i + from, some - from, chains,
                             place, work.count, memory.chain[chain]});
      }
      term += some;
      i += some;
      if (term % block_ == 0) AddBlock(work, memory, term - 1);
    }
  }

  // Transposes `count` elements of the lanes' channels, `line` bytes apart, that lie `step` bytes apart.
  void Transpose(const char* from, int64_t line, int64_t step, aclDataType dtype, LoadFunction load,
                 const Work& work, int64_t count, float* to) const {
    if (step != SizeOf(dtype)) {  // channels are neighbours
      for (int64_t i = 0; i < count; ++i)
        load(from + i * step, to + i * lanes_, static_cast<size_t>(work.lanes));
      return;
    }
    const auto element = dtype == ACL_FLOAT     ? GemmElement::kF32
                         : dtype == ACL_FLOAT16 ? GemmElement::kF16
                                                : GemmElement::kBf16;
    gemm_kernels_.transpose[static_cast<size_t>(element)](from, line, work.lanes, count, to, lanes_);
  }

  void ReadX(const Chunk& chunk, const Work& work, int64_t image, const Memory& memory) const {
    const ConvolutionOperand& x = c_.x;
    const ConvolutionAxis& high = c_.axis[kHigh];
    const ConvolutionAxis& last = c_.axis[kLast];
    const int64_t top = std::clamp<int64_t>(chunk.top, 0, high.x);
    const int64_t end = std::clamp<int64_t>(chunk.top + chunk.high, top, high.x);
    const int64_t left = std::clamp<int64_t>(chunk.left, 0, last.x);
    const int64_t columns = std::clamp<int64_t>(chunk.left + chunk.width, left, last.x) - left;
    const auto at = [&](int64_t row) { return memory.x + (row - chunk.top) * chunk.width * lanes_; };
    const auto zero = [&](float* from, const float* behind) {
      std::fill(from, memory.x + (behind - memory.x), 0.0f);
    };
    float* const behind = memory.x + chunk.high * chunk.width * lanes_;
    if (end == top || columns == 0) return zero(memory.x, behind);
    zero(memory.x, at(top));
    zero(at(end), behind);
    const char* const from =
        x_ + image * x.outer + work.group * x.inner + top * x.axis[kHigh] + left * x.axis[kLast];
    const bool is_flat = x.axis[kLast] == SizeOf(x.dtype) && x.axis[kHigh] == last.x * x.axis[kLast] &&
                         columns == last.x && columns < kShortRow &&
                         (end - top) * columns * lanes_ <= kMostNumbers;
    if (is_flat)
      Transpose(from, x.inner, x.axis[kLast], x.dtype, load_x_, work, (end - top) * columns, memory.flat);
    for (int64_t row = top; row < end; ++row) {
      float* const first = at(row) + (left - chunk.left) * lanes_;
      float* const past = first + columns * lanes_;
      zero(at(row), first);
      if (is_flat) {
        std::memcpy(first, memory.flat + (row - top) * columns * lanes_,
                    static_cast<size_t>(columns * lanes_) * sizeof(float));
      } else {
        Transpose(from + (row - top) * x.axis[kHigh], x.inner, x.axis[kLast], x.dtype, load_x_, work, columns,
                  first);
      }
      zero(past, at(row + 1));
    }
  }

  void ReadY(const Chunk& chunk, const Work& work, int64_t image, float* to) const {
    const ConvolutionOperand& y = c_.y;
    const char* const from = y_ + image * y.outer + (work.group * c_.y_channels + work.row) * y.inner +
                             chunk.row * y.axis[kHigh] + chunk.column * y.axis[kLast];
    const int64_t line = c_.y_channels * y.inner;
    if (y.axis[kHigh] == chunk.columns * y.axis[kLast] || chunk.rows == 1)
      return Transpose(from, line, y.axis[kLast], y.dtype, load_y_, work, chunk.rows * chunk.columns, to);
    for (int64_t row = 0; row < chunk.rows; ++row) {
      Transpose(from + row * y.axis[kHigh], line, y.axis[kLast], y.dtype, load_y_, work, chunk.columns,
                to + row * chunk.columns * lanes_);
    }
  }

  void Store(const Work& work, const Memory& memory) const {
    const ConvolutionOperand& w = c_.w;
    const int64_t size = SizeOf(w.dtype);
    const int64_t kernel = c_.axis[kLast].kernel;
    const bool is_dense = (w.axis[kLast] == size || kernel == 1) &&
                          (w.axis[kHigh] == kernel * size || c_.axis[kHigh].kernel == 1);
    for (int64_t lane = 0; lane < work.lanes; ++lane) {
      char* const to = w_ + ((work.group + lane) * c_.y_channels + work.row) * w.outer;
      float sums[kMostSums];
      for (int64_t i = 0; i < work.count; ++i) sums[i] = memory.sum[i * lanes_ + lane];
      if (is_dense) {
        store_(sums, to + work.first * size, static_cast<size_t>(work.count), false);
        continue;
      }
      for (int64_t i = 0; i < work.count; ++i) {
        const int64_t tap = work.first + i;
        store_(sums + i, to + tap / kernel * w.axis[kHigh] + tap % kernel * w.axis[kLast], 1, false);
      }
    }
  }

  const Convolution& c_;
  const DepthwiseKernels& kernels_;
  const GemmKernels& gemm_kernels_;
  int64_t lanes_;
  int64_t kernel_;  // places of the window
  LoadFunction load_x_;
  LoadFunction load_y_;
  StoreFunction store_;
  bool is_even_odd_;
  int64_t block_;
  const char* x_ = nullptr;
  const char* y_ = nullptr;
  char* w_ = nullptr;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
};

}  // namespace

bool RunWeightOfWindows(const Convolution& convolution, Isa isa, int threads, void* const* addresses) {
  // Lengths of axes and their steps are otherwise unbounded.
  constexpr int64_t kMostReach = int64_t{1} << 16;
  const Convolution& c = convolution;
  const ConvolutionAxis& first = c.axis[0];
  const auto is_short = [](const ConvolutionAxis& axis) {
    return axis.kernel <= kMostSums && axis.dilation <= kMostReach && axis.stride <= kMostReach;
  };
  const auto is_readable = [](const ConvolutionOperand& operand) {
    return operand.axis[kLast] == SizeOf(operand.dtype) || operand.inner == SizeOf(operand.dtype);
  };
  const bool fits = c.x_channels == 1 && c.groups >= kFewestGroups && first.x == 1 && first.y == 1 &&
                    first.kernel == 1 && first.padding == 0 && is_short(c.axis[kHigh]) &&
                    is_short(c.axis[kLast]) && c.axis[kHigh].kernel * c.axis[kLast].kernel <= kMostSums &&
                    is_readable(c.x) && is_readable(c.y) && FindDepthwiseKernels(isa).lanes <= kMostLanes &&
                    (c.y.axis[kLast] == SizeOf(c.y.dtype) || c.y_channels == 1);
  if (!fits || ThreadMemory(MemoryUse::kGemm) == nullptr) return false;
  WeightRun run(c, isa, addresses);
  return run.ChooseChunks() && run.Run(threads);
}

}  // namespace portacl::engine
