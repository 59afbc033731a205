// Runs elementwise jobs block by block (see elementwise.h). Nothing here depends on a formula.
// SPDX-License-Identifier: Apache-2.0
#include "engine/elementwise.h"

#include <algorithm>

#include "acl/float_environment.h"
#include "engine/isa.h"
#include "engine/parallel.h"

namespace portacl::engine {
namespace {

// Elements per block: fixed, so that results never depend on the thread count. 64 KiB of float32 per operand.
constexpr int64_t kBlock = 16384;
// Elements per tile: four float32 tiles stay in the first-level cache.
constexpr int64_t kTile = 512;
// Rows at least this long are walked one at a time, so that dense and repeated operands need no tile.
constexpr int64_t kLongRow = 64;

constexpr int64_t kFloatBytes = sizeof(float);
// The widest element: complex128.
constexpr int64_t kMaxElement = 16;

template <class Element>
void GatherElements(const char* source, int64_t stride, void* destination, int64_t n) {
  auto* to = static_cast<char*>(destination);
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * int64_t{sizeof(Element)}, source + i * stride, sizeof(Element));
}

template <class Element>
void ScatterElements(const void* source, char* destination, int64_t stride, int64_t n) {
  const auto* from = static_cast<const char*>(source);
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(destination + i * stride, from + i * int64_t{sizeof(Element)}, sizeof(Element));
}

struct Element16 {
  unsigned char bytes[16];
};

void Gather(const char* source, int64_t stride, int32_t size, void* destination, int64_t n) {
  switch (size) {
    case 1:
      return GatherElements<uint8_t>(source, stride, destination, n);
    case 2:
      return GatherElements<uint16_t>(source, stride, destination, n);
    case 4:
      return GatherElements<uint32_t>(source, stride, destination, n);
    default:
      return GatherElements<uint64_t>(source, stride, destination, n);
  }
}

void Scatter(const void* source, char* destination, int64_t stride, int32_t size, int64_t n) {
  switch (size) {
    case 2:
      return ScatterElements<uint16_t>(source, destination, stride, n);
    case 4:
      return ScatterElements<uint32_t>(source, destination, stride, n);
    case 8:
      return ScatterElements<uint64_t>(source, destination, stride, n);
    default:
      return ScatterElements<Element16>(source, destination, stride, n);
  }
}

// A position in the loop: the row it lies in, the column, and each operand's address at the row's start.
class Cursor {
 public:
  Cursor(const LoopPlan& plan, char* const* base, int64_t position) : plan_(plan) {
    const int last = plan.rank - 1;
    column_ = position % plan.extent[last];
    position /= plan.extent[last];
    for (int k = 0; k < plan.operand_count; ++k) row_[k] = base[k];
    for (int axis = last - 1; axis >= 0; --axis) {
      index_[axis] = position % plan.extent[axis];
      position /= plan.extent[axis];
      for (int k = 0; k < plan.operand_count; ++k) row_[k] += index_[axis] * plan.operand[k].stride[axis];
    }
  }

  int64_t left_in_row() const { return plan_.extent[plan_.rank - 1] - column_; }
  char* At(int operand) const {
    return row_[operand] + column_ * plan_.operand[operand].stride[plan_.rank - 1];
  }

  // Moves on by n elements, n at most left_in_row().
  void Advance(int64_t n) {
    column_ += n;
    if (column_ < plan_.extent[plan_.rank - 1]) return;
    column_ = 0;
    for (int axis = plan_.rank - 2; axis >= 0; --axis) {
      const bool wraps = ++index_[axis] == plan_.extent[axis];
      for (int k = 0; k < plan_.operand_count; ++k) {
        row_[k] += plan_.operand[k].stride[axis] * (wraps ? 1 - plan_.extent[axis] : 1);
      }
      if (!wraps) return;
      index_[axis] = 0;
    }
  }

 private:
  const LoopPlan& plan_;
  int64_t column_ = 0;
  int64_t index_[kMaxLoopRank] = {};
  char* row_[kMaxLoopOperands] = {};
};

// One block's walk over its tiles. Its buffers live on the stack of the thread that runs the block.
class BlockRun {
 public:
  BlockRun(const ElementwiseJob& job, char* const* base)
      : job_(job), plan_(job.plan), output_(job.plan.operand_count - 1) {
    for (int k = 0; k <= output_; ++k) base_[k] = base[k];
    for (int k = 0; k < output_; ++k) {
      const OperandLoop& operand = plan_.operand[k];
      is_one_value_[k] = operand.linear && operand.linear_stride == 0;
      if (is_one_value_[k]) Repeat(k, base_[k]);
    }
  }

  void Run(int64_t begin, int64_t end) {
    const int64_t row = plan_.extent[plan_.rank - 1];
    const bool long_rows = row >= kLongRow || plan_.rank == 1;
    const bool no_tiles = long_rows && NeedsNoTiles();
    Cursor cursor(plan_, base_, begin);
    for (int64_t position = begin; position < end;) {
      int64_t n = end - position;
      if (long_rows) n = std::min(n, cursor.left_in_row());
      if (!no_tiles) n = std::min(n, kTile);
      RunTile(cursor, position, n, n <= cursor.left_in_row());
      position += n;
      for (int64_t left = n; left > 0;) {
        const int64_t step = std::min(left, cursor.left_in_row());
        cursor.Advance(step);
        left -= step;
      }
    }
  }

 private:
  int64_t RowStride(int k) const { return plan_.operand[k].stride[plan_.rank - 1]; }

  // Whether within a row every operand can be used in place.
  bool NeedsNoTiles() const {
    for (int k = 0; k <= output_; ++k) {
      const bool repeated = k < output_ && RowStride(k) == 0;
      if (!repeated && !(job_.is_float32[k] && RowStride(k) == kFloatBytes)) return false;
    }
    return true;
  }

  // The address of the tile's first element when its n elements are dense there, else nullptr.
  char* DenseAddress(int k, const Cursor& cursor, int64_t position, bool in_one_row) const {
    const OperandLoop& operand = plan_.operand[k];
    if (operand.linear && operand.linear_stride == operand.element_size)
      return base_[k] + position * operand.linear_stride;
    if (in_one_row && RowStride(k) == operand.element_size) return cursor.At(k);
    return nullptr;
  }

  void Repeat(int k, const char* source) {
    float value;
    job_.load[k](source, &value, 1);
    std::fill_n(repeated_[k], kRepeated, value);
  }

  // Calls segment(address, stride, done, length) for each row piece of the tile.
  template <class Segment>
  void ForEachSegment(int k, Cursor cursor, int64_t n, Segment&& segment) const {
    for (int64_t done = 0; done < n;) {
      const int64_t length = std::min(n - done, cursor.left_in_row());
      segment(cursor.At(k), RowStride(k), done, length);
      cursor.Advance(length);
      done += length;
    }
  }

  void RunTile(const Cursor& cursor, int64_t position, int64_t n, bool in_one_row) {
    const float* in[kMaxInputs];
    size_t step[kMaxInputs];
    for (int k = 0; k < output_; ++k) {
      step[k] = 1;
      if (is_one_value_[k]) {
        in[k] = repeated_[k];
        step[k] = 0;
        continue;
      }
      const char* dense = DenseAddress(k, cursor, position, in_one_row);
      if (dense == nullptr && in_one_row && RowStride(k) == 0) {
        Repeat(k, cursor.At(k));
        in[k] = repeated_[k];
        step[k] = 0;
        continue;
      }
      if (dense == nullptr) {
        const int32_t size = plan_.operand[k].element_size;
        void* gathered = job_.is_float32[k] ? static_cast<void*>(tile_[k]) : raw_;
        ForEachSegment(k, cursor, n, [&](const char* address, int64_t stride, int64_t done, int64_t length) {
          Gather(address, stride, size, static_cast<char*>(gathered) + done * size, length);
        });
        dense = static_cast<const char*>(gathered);
      }
      if (job_.is_float32[k]) {
        in[k] = reinterpret_cast<const float*>(dense);
      } else {
        job_.load[k](dense, tile_[k], static_cast<size_t>(n));
        in[k] = tile_[k];
      }
    }

    char* const dense = DenseAddress(output_, cursor, position, in_one_row);
    const bool in_place = dense != nullptr && job_.is_float32[output_];
    float* out = in_place ? reinterpret_cast<float*>(dense) : tile_[output_];
    isa_ = job_.function(job_.parameters, in, step, out, static_cast<size_t>(n));
    if (in_place) return;
    if (dense != nullptr) {
      job_.store(out, dense, static_cast<size_t>(n));
      return;
    }
    const void* rounded = out;
    if (!job_.is_float32[output_]) {
      job_.store(out, raw_, static_cast<size_t>(n));
      rounded = raw_;
    }
    const int32_t size = plan_.operand[output_].element_size;
    ForEachSegment(output_, cursor, n, [&](char* address, int64_t stride, int64_t done, int64_t length) {
      Scatter(static_cast<const char*>(rounded) + done * size, address, stride, size, length);
    });
  }

 public:
  Isa isa() const { return isa_; }

 private:
  const ElementwiseJob& job_;
  const LoopPlan& plan_;
  const int output_;
  char* base_[kMaxLoopOperands];
  bool is_one_value_[kMaxInputs];
  Isa isa_ = Isa::kPortable;
  alignas(64) float tile_[kMaxLoopOperands][kTile];
  alignas(64) float repeated_[kMaxInputs][kRepeated];
  alignas(64) char raw_[kTile * kMaxElement];
};

}  // namespace

void ElementwiseJob::Run(void* const* addresses, void*) const noexcept {
  char* base[kMaxLoopOperands];
  for (int k = 0; k < plan.operand_count; ++k) {
    base[k] = static_cast<char*>(addresses[argument[k]]) + plan.operand[k].offset;
  }
  const int64_t blocks = (plan.count + kBlock - 1) / kBlock;
  ForEachBlock(blocks, threads, [&](int64_t block) {
    const DefaultFloatEnvironment environment;
    BlockRun run(*this, base);
    run.Run(block * kBlock, std::min(plan.count, (block + 1) * kBlock));
    ReportIsaThatRan(run.isa());
  });
}

}  // namespace portacl::engine
