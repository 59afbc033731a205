// Builds jobs of several stages of any kind - maps, indexed copies, rowwise formulas - that pass tensors to
// each other through the workspace.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "aclnnop/map_list.h"
#include "engine/gemm/gemm.h"
#include "engine/move/indexed.h"
#include "engine/rowwise/rowwise.h"
#include "engine/sort/rows.h"

namespace portacl {

class StageList {
 public:
  // Reserves room for `most` stages of the executor's job, which run in the order of the calls. Without
  // memory phase 1 fails, and the functions below do nothing.
  StageList(const OperatorCall& call, Executor& executor, int most) noexcept;

  // Returns a dense tensor of the shape in the workspace. As an operand it follows those of the call. If its
  // size overflows, which an expanded operand can cause, phase 1 fails, and the other functions do nothing.
  MappedView Scratch(const Shape& shape, aclDataType dtype) noexcept;

  // Adds a map like MapList::Add.
  void Map(std::initializer_list<MappedView> inputs, const MappedView& output,
           const engine::KernelTable& kernels, const engine::Scalars& scalars = {}) noexcept;

  // Adds an indexed copy like OpList::Indexed, between elements of one dtype. An index outside its bound is
  // skipped when elements are put, and gives 0 when they are taken. With `raises` the stream fails for it, if
  // the configuration says so. `operand` of an index is a MappedView's; `before` elements of its tensor
  // precede the view.
  void Indexed(engine::IndexedAction action, const MappedView& plain, const MappedView& indexed,
               const engine::IndexView* indices, int count, bool raises, int64_t before = 0) noexcept;

  // Sorts rows along a dim in ascending order, stably and with NaN last. Writes the values and their indices
  // (INT64).
  void Sort(const MappedView& source, const MappedView& values, const MappedView& indices, int dim) noexcept;

  // Adds a matrix product (matmul::GemmOf) whose operands are MappedViews.
  void Product(const engine::Gemm& gemm, const MappedView& left, const MappedView& right,
               const MappedView& out) noexcept;

  // Adds a computation like OpList::Compute. `views` lists the operands that it reads or writes.
  template <class Computation>
  void Compute(const Computation& computation, std::initializer_list<MappedView> views,
               int64_t elements) noexcept {
    static_assert(std::is_trivially_copyable_v<Computation> && sizeof(Computation) <= kComputationBytes);
    for (const MappedView& view : views) Touch(view);
    AddComputation(
        &computation, sizeof computation,
        [](const std::byte* held, const JobContext& context) {
          reinterpret_cast<const Computation*>(held)->Run(context);
        },
        elements);
  }

  // Returns where a view's storage begins, for a computation.
  engine::BufferRef BufferOf(int operand) const noexcept;

  template <class Parameters>
  void Rows(engine::RowwiseJobMaker& rows, const engine::RowwiseKernels& kernels,
            const Parameters& parameters) noexcept {
    AddRows(rows.Make(kernels, parameters, &executor_.workspace_size), rows.touched());
  }

  // Sets the executor's job.
  void SetJob() noexcept;

 private:
  static constexpr size_t kComputationBytes = 640;

  void AddRows(const engine::RowwiseJob& job, uint32_t touched) noexcept;
  void AddComputation(const void* computation, size_t bytes,
                      void (*run)(const std::byte* held, const JobContext& context),
                      int64_t elements) noexcept;
  void Touch(const MappedView& view) noexcept { touched_ |= uint32_t{1} << view.operand; }

  const OperatorCall& call_;
  Executor& executor_;
  std::byte* memory_;
  int count_ = 0;
  uint32_t touched_ = 0;
  int64_t elements_ = 0;
};

}  // namespace portacl
