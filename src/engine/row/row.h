// Jobs over rows: a row is read, reduced and written again while it is in a cache. A row is what some axes of a shape span; each
// is worked on alone, so its bits do not depend on how many rows there are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/isa_table.h"
#include "engine/job.h"
#include "engine/row/row_operand.h"
#include "engine/row/row_work.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// The kernels of a formula over rows; that of an element type that it has none for is empty.
struct RowKernels {
  IsaTable<RowFunction> f32;
  IsaTable<RowFunction> bf16;
  IsaTable<RowFunction> f16;
  IsaTable<RowFunction> f64;
  IsaTable<RowFunction> across =
      {};  // of rows that lie side by side (across_loop-inl.h); empty if there is none
  IsaTable<RowFunction> across_bf16 = {};  // the same of bf16 elements; those of float32 where it is empty
};

// Those kernels, and one of rows that lie across.
constexpr RowKernels WithAcross(RowKernels kernels, const IsaTable<RowFunction>& across,
                                const IsaTable<RowFunction>& across_bf16 = {}) {
  kernels.across = across;
  kernels.across_bf16 = across_bf16;
  return kernels;
}

struct RowJob {
  static constexpr int kMaxParameterBytes = 32;
  RowFunction kernel;
  RowFunction across;  // where all operands lie so, else nullptr
  alignas(8) unsigned char parameters[kMaxParameterBytes];
  int64_t rows;
  int64_t n;
  int inputs;
  int outputs;
  int values_in;
  int values_out;
  int threads;
  int32_t computed_size;  // of an element that is computed, and of one as the kernel takes it
  int32_t native_size;
  int32_t across_size;  // the same of a kernel of rows that lie across
  int32_t raw_size;     // of the widest element that is converted
  bool keeps;
  bool stream;
  bool sums_columns;
  RowOperand operand[kMaxRowOperands];
  RowOperand value[kMaxRowValues];  // inputs, then outputs
  RowOperand column[kMaxColumnSums];
  bool wants_column[kMaxColumnSums];
  // Sums over columns: blocks of rows, by chunks that threads take; all of it lies in the workspace, from an offset on.
  int64_t chunk_blocks;
  int64_t chunks;
  int64_t chunk_levels;
  int64_t columns_offset;

  void Run(void* const* addresses, char* workspace) const noexcept;
};

// Several of them, one after the other.
struct RowJobs {
  int count;
  uint32_t touched;  // operands, a bit each
  int64_t elements;

  bool Touches(int operand) const noexcept { return (touched >> operand & 1) != 0; }
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept;
};

// Makes a job over rows. Inputs, outputs and values are named in the formula's order.
class RowJobMaker {
 public:
  // The rows of `shape` that the axes of the set span, a bit each; neither has a dim 0. `computed` is FLOAT or DOUBLE.
  RowJobMaker(const Shape& shape, uint32_t axes, aclDataType computed, Isa isa, int threads) noexcept;

  // An operand whose view broadcasts to the shape; outputs have its shape, and are rounded once.
  void Input(int operand, const StridedView& view) noexcept;
  void ConstantInput(double value) noexcept;
  void Output(int operand, const StridedView& view) noexcept;
  // A number of each row: a view with as many elements as there are rows, in their order, or with one for all.
  void ValueIn(int operand, const StridedView& view) noexcept;
  void ConstantValueIn(double value) noexcept;
  // Rounded once, from float64. Of one that is not wanted, ConstantValueOut takes the place.
  void ValueOut(int operand, const StridedView& view) noexcept;
  void NoValueOut() noexcept;
  // A sum for each element of a row, in the order of a sum over other axes than the last: views of n elements.
  void ColumnSum(int operand, const StridedView& view) noexcept;
  void NoColumnSum() noexcept;
  // The formula keeps terms.
  void Keep() noexcept { job_.keeps = true; }

  // The job, with the parameters; the workspace grows by what it needs.
  template <class Parameters>
  const RowJob& Make(const RowKernels& kernels, const Parameters& parameters, uint64_t* workspace) noexcept {
    static_assert(sizeof parameters <= RowJob::kMaxParameterBytes);
    std::memcpy(job_.parameters, &parameters, sizeof parameters);
    return Finish(kernels, workspace);
  }
  uint32_t touched() const noexcept { return touched_; }

 private:
  const RowJob& Finish(const RowKernels& kernels, uint64_t* workspace) noexcept;

  RowJob job_{};
  aclDataType dtypes_[kMaxRowOperands];
  Shape shape_;
  uint32_t axes_;
  aclDataType computed_;
  Isa isa_;
  uint32_t touched_ = 0;
  int columns_ = 0;
};

// Makes one job of those, one after the other, at most two.
RowJobs MakeRowJobs(JobMemory& memory, const RowJob* const* jobs, int count, uint32_t touched) noexcept;

}  // namespace portacl::engine

// The kernels of a formula over rows: of float32, 16-bit floats too, or float64 too.
#define PORTACL_ROW_KERNELS(formula)                                                                       \
  portacl::engine::RowKernels {                                                                            \
    PORTACL_ISA_TABLE(formula::F32), PORTACL_ISA_TABLE(formula::Bf16), PORTACL_ISA_TABLE(formula::F16), {} \
  }
#define PORTACL_ROW_KERNELS_OF_DOUBLE_TOO(formula)                                                      \
  portacl::engine::RowKernels {                                                                         \
    PORTACL_ISA_TABLE(formula::F32), PORTACL_ISA_TABLE(formula::Bf16), PORTACL_ISA_TABLE(formula::F16), \
        PORTACL_ISA_TABLE(formula::F64)                                                                 \
  }
