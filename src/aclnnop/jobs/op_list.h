// Builds a job that runs a list of ops, copies and indexed copies, for operators that gather and scatter.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "aclnn/executor.h"
#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/move/indexed.h"
#include "plan/views.h"

namespace portacl {

class OpList {
 public:
  // Reserves room for `most` ops, and for the numbers of an array that they read. Without memory phase 1
  // fails, and the functions below do nothing.
  OpList(Executor& executor, int most, const std::vector<int64_t>* array = nullptr) noexcept;

  // Reserves a part of the workspace, aligned to a cache line.
  engine::BufferRef Workspace(int64_t bytes) noexcept;
  // Reserves a part for the numbers of an operand in FLOAT. Phase 1 fails for more than an address space holds.
  engine::BufferRef FloatsOf(engine::BufferRef operand, int64_t numel) noexcept;
  // Stores a value of any dtype, aligned to its size, which ops may read any number of times.
  engine::BufferRef Value(const ScalarValue& value) noexcept;
  // Returns the buffer of the array's numbers.
  engine::BufferRef Array() const noexcept { return array_; }

  void Copy(const StridedView& source, engine::BufferRef source_buffer, const StridedView& destination,
            engine::BufferRef destination_buffer) noexcept;
  // Fills elements with the value in a buffer.
  void Fill(const StridedView& destination, engine::BufferRef destination_buffer,
            engine::BufferRef value) noexcept;
  // Adds an indexed copy. The caller sets the fields that the views do not determine.
  engine::IndexedMove* Indexed(engine::IndexedAction action, const StridedView& plain,
                               engine::BufferRef plain_buffer, const StridedView& indexed,
                               engine::BufferRef indexed_buffer, const engine::IndexView* indices,
                               int count) noexcept;
  // Tells whether SumRows supports the move: it computes 16-bit floats of the indexed side in float32, and
  // rounds them once.
  bool SumsRows(engine::IndexedAction action, const StridedView& plain, const StridedView& indexed,
                const engine::IndexView* indices, int count) noexcept;
  engine::IndexedMove* SumRows(engine::IndexedAction action, const StridedView& plain,
                               engine::BufferRef plain_buffer, const StridedView& indexed,
                               engine::BufferRef indexed_buffer, const engine::IndexView* indices,
                               int count) noexcept;
  // See engine::ListedOp::Kind.
  void DivideRows(engine::BufferRef sums, engine::BufferRef counts, int64_t rows, int64_t columns,
                  aclDataType dtype = ACL_FLOAT) noexcept;
  void FindTrue(engine::BufferRef mask, const StridedView& shape, engine::BufferRef indices, int64_t count,
                const int64_t* stride, int entry) noexcept;

  // Packs the elements of the dense `source` where the dense mask is true to the start of `result`, in
  // source's dtype. Without a source, writes the coordinates in the mask's shape. Phase 2 then sets the shape
  // of `result`.
  void WriteCompacted(const StridedView& mask, engine::BufferRef mask_buffer, const StridedView* source,
                      engine::BufferRef source_buffer, aclTensor* result, int result_operand,
                      bool is_across) noexcept;

  // Unpacks elements of `source` to the positions of the dense destination where the dense mask is true. Mask
  // and destination have as many elements, of `size` bytes. `name` is the source's name.
  void Unpack(const StridedView& mask, engine::BufferRef mask_buffer, engine::BufferRef source, int64_t count,
              engine::BufferRef destination, int32_t size, const char* name) noexcept;
  // Writes for each element of a repeat_interleave the index of its source, in the workspace or at `to`.
  // `counts` has `elements` elements or one. The caller sets the fields that the counts do not determine.
  engine::RepeatInterleave* RepeatInterleave(const StridedView& counts, int operand, const char* name,
                                             int64_t elements, int64_t length, engine::BufferRef to) noexcept;
  // Adds a search for unique elements; its memory is in the workspace. Phase 2 sets the shape of `result`.
  // `source` is the call's first parameter, or a copy of it. The caller sets the remaining fields.
  engine::Unique* Unique(const StridedView& source, engine::BufferRef source_buffer, bool sorts, int dim,
                         aclTensor* result, int result_operand) noexcept;

  // Sorts the rows of `source`, the call's first parameter or a copy of it, along dim `dim`. Writes to
  // `values` and `indices`, which have as many dims; either may be null. `rows` selects the operation, and its
  // other fields are filled in here. The buffers of the operands are those of their storage.
  void SortRows(const StridedView& source, engine::BufferRef source_buffer, const StridedView* values,
                engine::BufferRef values_buffer, const StridedView* indices, engine::BufferRef indices_buffer,
                int dim, engine::SortRows rows) noexcept;
  void Search(const engine::Search& search) noexcept;
  // Adds a histogram, and returns the buffer of its bins; its memory is in the workspace. `bins` is the
  // parameter that gives their number.
  engine::BufferRef Histogram(engine::Histogram histogram, const char* bins) noexcept;

  // Adds a computation of another engine folder: a trivially copyable value with Run(context). `indices` lists
  // the operands that it reads or writes. `elements` is the number of elements that it visits.
  template <class Computation>
  void Compute(const Computation& computation, std::initializer_list<engine::BufferRef> buffers,
               int64_t elements) noexcept {
    static_assert(std::is_trivially_copyable_v<Computation> &&
                  sizeof(Computation) <= engine::ListedOp::kComputationBytes &&
                  alignof(Computation) <= engine::ListedOp::kComputationAlignment);
    engine::ListedOp* const op = Next(engine::ListedOp::Kind::kComputation);
    if (op == nullptr) return;
    std::memcpy(op->computation, &computation, sizeof computation);
    op->compute = [](const std::byte* held, const JobContext& context) {
      reinterpret_cast<const Computation*>(held)->Run(context);
    };
    op->touched = 0;
    for (const engine::BufferRef buffer : buffers) {
      if (buffer.operand >= 0) op->touched |= uint32_t{1} << buffer.operand;
    }
    elements_ += elements;
  }

  // Flattens a view: leaves its elements where they lie if one stride walks them, else copies them to the
  // workspace. `view` becomes the view of one dim.
  engine::BufferRef Flatten(StridedView& view, int operand) noexcept;

  // Sets the executor's job.
  void SetJob() noexcept;

 private:
  engine::ListedOp* Next(engine::ListedOp::Kind kind) noexcept;
  void Plan(engine::IndexedMove& move, engine::IndexedAction action, const StridedView& plain,
            engine::BufferRef plain_buffer, const StridedView& indexed, engine::BufferRef indexed_buffer,
            const engine::IndexView* indices, int count) noexcept;
  void Touch(engine::BufferRef buffer) noexcept;

  Executor& executor_;
  std::byte* memory_;
  engine::BufferRef array_;
  int count_ = 0;
  int values_ = 0;
  int64_t elements_ = 0;
};

inline engine::BufferRef OperandBuffer(int operand) noexcept { return {operand, 0}; }

// Returns a dense tensor of a dtype, at the start of its buffer.
StridedView DenseTensor(const Shape& shape, aclDataType dtype) noexcept;

}  // namespace portacl
