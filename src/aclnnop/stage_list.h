// Jobs of several stages of any kind - maps, moves with indices, rows - that leave tensors to each other in the workspace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "aclnnop/map_list.h"
#include "engine/gemm/gemm.h"
#include "engine/move/indexed.h"
#include "engine/row/row.h"
#include "engine/sort/rows.h"

namespace portacl {

class StageList {
 public:
  // For at most `most` stages of the executor's job, which run in the order in which they are added. Where there is no memory for them, phase
  // 1 fails and nothing below does anything.
  StageList(const OperatorCall& call, Executor& executor, int most) noexcept;

  // A dense tensor of the shape in the workspace. As an operand it is behind those of the call. Where it has more elements than can be counted,
  // as an expanded operand may have without memory of its own, phase 1 fails and nothing else does anything.
  MappedView Scratch(const Shape& shape, aclDataType dtype) noexcept;

  // As MapList::Add.
  void Map(std::initializer_list<MappedView> inputs, const MappedView& output,
           const engine::KernelTable& kernels, const engine::Scalars& scalars = {}) noexcept;

  // As StepList::Indexed, of elements of one dtype. An index outside its bound is passed over where elements are put and gives 0 where they are
  // taken; the stream fails for it where `raises`, as the configuration says. `operand` of an index is a MappedView's;
  // `before` elements of its tensor come before those of the view.
  void Indexed(engine::IndexedAction action, const MappedView& plain, const MappedView& indexed,
               const engine::IndexView* indices, int count, bool raises, int64_t before = 0) noexcept;

  // Rows along a dim in ascending order, NaN behind all numbers, equal elements in their order: their values, and where they were (INT64).
  void Sort(const MappedView& source, const MappedView& values, const MappedView& places, int dim) noexcept;

  // A product of matrices (matmul::GemmOf), whose operands are MappedViews'.
  void Product(const engine::Gemm& gemm, const MappedView& left, const MappedView& right,
               const MappedView& out) noexcept;

  template <class Parameters>
  void Rows(engine::RowJobMaker& rows, const engine::RowKernels& kernels,
            const Parameters& parameters) noexcept {
    AddRows(rows.Make(kernels, parameters, &executor_.workspace_size), rows.touched());
  }

  // Ends the list: sets the executor's job.
  void SetJob() noexcept;

 private:
  void AddRows(const engine::RowJob& job, uint32_t touched) noexcept;
  engine::Place PlaceOf(int operand) const noexcept;
  void Touch(const MappedView& view) noexcept { touched_ |= uint32_t{1} << view.operand; }

  const OperatorCall& call_;
  Executor& executor_;
  std::byte* memory_;
  int count_ = 0;
  uint32_t touched_ = 0;
  int64_t elements_ = 0;
};

}  // namespace portacl
