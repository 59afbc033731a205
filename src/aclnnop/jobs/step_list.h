// Builds a job of several steps, copies and indexed copies, for operators that gather and scatter.
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

class StepList {
 public:
  // Reserves room for `most` steps, and for the numbers of an array that they read. Without memory phase 1
  // fails, and the functions below do nothing.
  StepList(Executor& executor, int most, const std::vector<int64_t>* array = nullptr) noexcept;

  // Reserves a part of the workspace, aligned to a cache line.
  engine::Place Workspace(int64_t bytes) noexcept;
  // Stores a value of any dtype, aligned to its size, which steps may read any number of times.
  engine::Place Value(const ScalarValue& value) noexcept;
  // Returns the position of the array's numbers.
  engine::Place Array() const noexcept { return array_; }

  void Copy(const StridedView& source, engine::Place source_place, const StridedView& destination,
            engine::Place destination_place) noexcept;
  // Fills elements with the value at a position.
  void Fill(const StridedView& destination, engine::Place destination_place, engine::Place value) noexcept;
  // Adds an indexed copy. The caller sets the fields that the views do not determine.
  engine::IndexedMove* Indexed(engine::IndexedAction action, const StridedView& plain,
                               engine::Place plain_place, const StridedView& indexed,
                               engine::Place indexed_place, const engine::IndexView* indices,
                               int count) noexcept;
  // Tells whether SumRows supports the move: it computes 16-bit floats of the indexed side in float32, and
  // rounds them once.
  bool SumsRows(engine::IndexedAction action, const StridedView& plain, const StridedView& indexed,
                const engine::IndexView* indices, int count) noexcept;
  engine::IndexedMove* SumRows(engine::IndexedAction action, const StridedView& plain,
                               engine::Place plain_place, const StridedView& indexed,
                               engine::Place indexed_place, const engine::IndexView* indices,
                               int count) noexcept;
  // See engine::Step::Kind.
  void DivideRows(engine::Place sums, engine::Place counts, int64_t rows, int64_t columns,
                  aclDataType dtype = ACL_FLOAT) noexcept;
  void FindTrue(engine::Place mask, const StridedView& shape, engine::Place places, int64_t count,
                const int64_t* stride, int entry) noexcept;

  // Packs the elements of the dense `source` where the dense mask is true to the start of `result`, in
  // source's dtype. Without a source, writes the coordinates in the mask's shape. Phase 2 then sets the shape
  // of `result`.
  void WriteChosen(const StridedView& mask, engine::Place mask_place, const StridedView* source,
                   engine::Place source_place, aclTensor* result, int result_operand,
                   bool is_across) noexcept;

  // Unpacks elements of `source` to the positions of the dense destination where the dense mask is true. Mask
  // and destination have as many elements, of `size` bytes. `name` is the source's name.
  void Unpack(const StridedView& mask, engine::Place mask_place, engine::Place source, int64_t count,
              engine::Place destination, int32_t size, const char* name) noexcept;
  // Writes for each element of a repeat_interleave the index of its source, in the workspace or at `to`.
  // `counts` has `elements` elements or one. The caller sets the fields that the counts do not determine.
  engine::Spread* Spread(const StridedView& counts, int operand, const char* name, int64_t elements,
                         int64_t length, engine::Place to) noexcept;
  // Adds a search for unique elements; its memory is in the workspace. Phase 2 sets the shape of `result`.
  // `source` is the call's first parameter, or a copy of it. The caller sets the remaining fields.
  engine::Unique* Unique(const StridedView& source, engine::Place source_place, bool sorts, int dim,
                         aclTensor* result, int result_operand) noexcept;

  // Sorts the rows of `source`, the call's first parameter or a copy of it, along dim `dim`. Writes to
  // `values` and `places`, which have as many dims; either may be null. `rows` selects the operation, and its
  // other fields are filled in here. The positions of the operands are those of their storage.
  void SortRows(const StridedView& source, engine::Place source_place, const StridedView* values,
                engine::Place values_place, const StridedView* places, engine::Place places_place, int dim,
                engine::SortRows rows) noexcept;
  void Search(const engine::Search& search) noexcept;
  // Adds a histogram, and returns the position of its bins; its memory is in the workspace. `bins` is the
  // parameter that gives their number.
  engine::Place Histogram(engine::Histogram histogram, const char* bins) noexcept;

  // Adds a computation of another engine folder: a trivially copyable value with Run(context). `places` lists
  // the operands that it reads or writes. `elements` is the number of elements that it visits.
  template <class Computation>
  void Compute(const Computation& computation, std::initializer_list<engine::Place> places,
               int64_t elements) noexcept {
    static_assert(std::is_trivially_copyable_v<Computation> &&
                  sizeof(Computation) <= engine::Step::kComputationBytes);
    engine::Step* const step = Next(engine::Step::Kind::kComputation);
    if (step == nullptr) return;
    std::memcpy(step->computation, &computation, sizeof computation);
    step->compute = [](const std::byte* held, const JobContext& context) {
      reinterpret_cast<const Computation*>(held)->Run(context);
    };
    step->touched = 0;
    for (const engine::Place place : places) {
      if (place.operand >= 0) step->touched |= uint32_t{1} << place.operand;
    }
    elements_ += elements;
  }

  // Flattens a view: leaves its elements where they lie if one stride walks them, else copies them to the
  // workspace. `view` becomes the view of one dim.
  engine::Place Flatten(StridedView& view, int operand) noexcept;

  // Sets the executor's job.
  void SetJob() noexcept;

 private:
  engine::Step* Next(engine::Step::Kind kind) noexcept;
  void Plan(engine::IndexedMove& move, engine::IndexedAction action, const StridedView& plain,
            engine::Place plain_place, const StridedView& indexed, engine::Place indexed_place,
            const engine::IndexView* indices, int count) noexcept;
  void Touch(engine::Place place) noexcept;

  Executor& executor_;
  std::byte* memory_;
  engine::Place array_;
  int count_ = 0;
  int values_ = 0;
  int64_t elements_ = 0;
};

inline engine::Place OperandPlace(int operand) noexcept { return {operand, 0}; }

// Returns a dense tensor of a dtype, at the start of its buffer.
StridedView DenseTensor(const Shape& shape, aclDataType dtype) noexcept;

}  // namespace portacl
