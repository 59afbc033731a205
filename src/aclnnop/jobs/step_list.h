// A job of several steps - moves, and moves with indices - as operators that gather and scatter put it together.
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
  // For at most `most` steps of the executor's job, and the numbers of an array that they read. Where there is no memory for them, phase 1 fails and nothing below does
  // anything.
  StepList(Executor& executor, int most, const std::vector<int64_t>* array = nullptr) noexcept;

  // A part of the workspace, aligned to a cache line.
  engine::Place Workspace(int64_t bytes) noexcept;
  // One value of any dtype that steps may read as often as they like: aligned to its size.
  engine::Place Value(const ScalarValue& value) noexcept;
  // The array's numbers.
  engine::Place Array() const noexcept { return array_; }

  void Copy(const StridedView& source, engine::Place source_place, const StridedView& destination,
            engine::Place destination_place) noexcept;
  // Elements that all become the value at a place.
  void Fill(const StridedView& destination, engine::Place destination_place, engine::Place value) noexcept;
  // What of the move does not follow from the views is the caller's.
  engine::IndexedMove* Indexed(engine::IndexedAction action, const StridedView& plain,
                               engine::Place plain_place, const StridedView& indexed,
                               engine::Place indexed_place, const engine::IndexView* indices,
                               int count) noexcept;
  // The same in float32 for an indexed side of 16-bit floats, which are rounded once; where SumsRows says that it can be.
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

  // Packs the dense elements of `source` where the dense mask is true to the start of `result`, of source's dtype; or, without
  // source, writes the coordinates in the mask's shape. Phase 2 then sets the shape of `result`.
  void WriteChosen(const StridedView& mask, engine::Place mask_place, const StridedView* source,
                   engine::Place source_place, aclTensor* result, int result_operand,
                   bool is_across) noexcept;

  // Packed elements of `source` to where the dense mask is true in the dense destination, which has the mask's elements; all are of
  // `size` bytes. `name` is the source's.
  void Unpack(const StridedView& mask, engine::Place mask_place, engine::Place source, int64_t count,
              engine::Place destination, int32_t size, const char* name) noexcept;
  // Which element each of the result's is, as places in the workspace or at `to`; what does not follow from the operand of counts,
  // which has `elements` of them or one, is the caller's.
  engine::Spread* Spread(const StridedView& counts, int operand, const char* name, int64_t elements,
                         int64_t length, engine::Place to) noexcept;
  // Its memory is taken from the workspace. Phase 2 sets the shape of `result`. What is not set yet is the caller's. The source is
  // the call's first parameter, or a copy of it.
  engine::Unique* Unique(const StridedView& source, engine::Place source_place, bool sorts, int dim,
                         aclTensor* result, int result_operand) noexcept;

  // The rows of `source`, the call's first parameter or a copy of it, along dim `dim`, to `values` and `places`, which have as many dims; either of them may be null. `rows` says what
  // is done with them, and gets the rest; the places of the operands are those of their tensors' storage.
  void SortRows(const StridedView& source, engine::Place source_place, const StridedView* values,
                engine::Place values_place, const StridedView* places, engine::Place places_place, int dim,
                engine::SortRows rows) noexcept;
  void Search(const engine::Search& search) noexcept;
  // Its memory is taken from the workspace; returns where the bins are. `bins` is the parameter that says how many there are.
  engine::Place Histogram(engine::Histogram histogram, const char* bins) noexcept;

  // A computation of another part of the engine: a trivially copyable value with Run(context), and the operands among the places that
  // it reads or writes; `elements` is how many it visits.
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

  // A view's elements one behind the other: where they lie, or a copy of them in the workspace; `view` becomes a dense one of one dim, or
  // one with its step.
  engine::Place Flatten(StridedView& view, int operand) noexcept;

  // Ends the list: sets the executor's job.
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

// A dense tensor of a dtype, from the start of its place on.
StridedView DenseTensor(const Shape& shape, aclDataType dtype) noexcept;

}  // namespace portacl
