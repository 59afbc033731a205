// Rowwise jobs: a row is read, reduced and written again while it is in a cache. A row spans some axes of a
// shape. Each row is computed alone, so that its bits do not depend on the number of rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/isa_table.h"
#include "engine/job.h"
#include "engine/rowwise/across.h"
#include "engine/rowwise/rowwise_operand.h"
#include "engine/rowwise/rowwise_work.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// The kernels of a rowwise formula; a table is empty if there is none for its element type.
struct RowwiseKernels {
  IsaTable<RowwiseFunction> f32;
  IsaTable<RowwiseFunction> bf16;
  IsaTable<RowwiseFunction> f16;
  IsaTable<RowwiseFunction> f64;
  IsaTable<AcrossFunction> across = {};  // of transposed rows (across_loop-inl.h); empty if there is none
  IsaTable<AcrossFunction> across_bf16 = {};  // for bf16 elements; if empty, those of float32 serve
};

// Adds a kernel of transposed rows to a formula's kernels.
constexpr RowwiseKernels WithAcross(RowwiseKernels kernels, const IsaTable<AcrossFunction>& across,
                                    const IsaTable<AcrossFunction>& across_bf16 = {}) {
  kernels.across = across;
  kernels.across_bf16 = across_bf16;
  return kernels;
}

struct RowwiseJob {
  static constexpr int kMaxParameterBytes = 32;
  RowwiseFunction kernel;
  AcrossFunction across;  // if all operands are transposed, else nullptr
  alignas(8) unsigned char parameters[kMaxParameterBytes];
  int64_t rows;
  int64_t n;
  int inputs;
  int outputs;
  int values_in;
  int values_out;
  int threads;
  int32_t computed_size;  // the size of a computed element, and of one as the kernel reads it
  int32_t native_size;
  int32_t across_size;  // the latter for a kernel of transposed rows
  int32_t raw_size;     // of the widest element that is converted
  bool keeps;
  bool stream;
  bool from_memory;  // more than the last cache holds
  bool sums_columns;
  RowwiseOperand operand[kMaxRowwiseOperands];
  RowwiseOperand value[kMaxRowwiseValues];  // inputs, then outputs
  RowwiseOperand column[kMaxColumnSums];
  bool wants_column[kMaxColumnSums];
  // Sums over columns: blocks of rows in chunks, which threads take. They lie in the workspace from an offset
  // on.
  int64_t chunk_blocks;
  int64_t chunks;
  int64_t chunk_levels;
  int64_t columns_offset;

  void Run(void* const* addresses, char* workspace) const noexcept;
};

// Several rowwise jobs, one after the other.
struct RowwiseJobs {
  int count;
  uint32_t touched;  // operands, a bit each
  int64_t elements;

  bool Touches(int operand) const noexcept { return (touched >> operand & 1) != 0; }
  int64_t Elements() const noexcept { return elements; }
  void Run(const JobContext& context) const noexcept;
};

// Makes a rowwise job. Inputs, outputs and values are named in the formula's order.
class RowwiseJobMaker {
 public:
  // Rows of `shape` that span the axes of a bit set; neither has a dim 0. `computed` is FLOAT or DOUBLE.
  RowwiseJobMaker(const Shape& shape, uint32_t axes, aclDataType computed, Isa isa, int threads) noexcept;

  // Adds an operand whose view broadcasts to the shape. Outputs have the shape itself and are rounded once.
  void Input(int operand, const StridedView& view) noexcept;
  void ConstantInput(double value) noexcept;
  void Output(int operand, const StridedView& view) noexcept;
  // Adds a number of each row: a view with one element for each row, in order, or with one for all.
  void ValueIn(int operand, const StridedView& view) noexcept;
  void ConstantValueIn(double value) noexcept;
  // Adds a result per row, rounded once from float64. NoValueOut stands for one that is not wanted.
  void ValueOut(int operand, const StridedView& view) noexcept;
  void NoValueOut() noexcept;
  // Adds a sum for each element of a row, in the order of a sum over axes other than the last: views of n
  // elements.
  void ColumnSum(int operand, const StridedView& view) noexcept;
  void NoColumnSum() noexcept;
  // Tells that the formula keeps terms.
  void Keep() noexcept { job_.keeps = true; }

  // Returns the job with the parameters, and adds its needs to the workspace.
  template <class Parameters>
  const RowwiseJob& Make(const RowwiseKernels& kernels, const Parameters& parameters,
                         uint64_t* workspace) noexcept {
    static_assert(sizeof parameters <= RowwiseJob::kMaxParameterBytes);
    std::memcpy(job_.parameters, &parameters, sizeof parameters);
    return Finish(kernels, workspace);
  }
  uint32_t touched() const noexcept { return touched_; }

 private:
  const RowwiseJob& Finish(const RowwiseKernels& kernels, uint64_t* workspace) noexcept;

  RowwiseJob job_{};
  aclDataType dtypes_[kMaxRowwiseOperands];
  Shape shape_;
  uint32_t axes_;
  aclDataType computed_;
  Isa isa_;
  uint32_t touched_ = 0;
  int columns_ = 0;
};

// Makes one job of at most two rowwise jobs, which run one after the other.
RowwiseJobs MakeRowJobs(JobMemory& memory, const RowwiseJob* const* jobs, int count,
                        uint32_t touched) noexcept;

}  // namespace portacl::engine

// The kernels of a rowwise formula: for float32, for 16-bit floats too, or for float64 too. 16-bit operands without a kernel pass through tiles of
// float32. The portable set, which is only a fallback, has none for them, as in maps (KernelTypes in engine/map/formula.h).
#define PORTACL_ROWWISE_KERNELS_OF_FLOAT(formula) \
  portacl::engine::RowwiseKernels {               \
    PORTACL_ISA_TABLE(formula::F32), {}, {}, {}   \
  }
#define PORTACL_ROWWISE_KERNELS(formula)                                      \
  portacl::engine::RowwiseKernels {                                           \
    PORTACL_ISA_TABLE(formula::F32), PORTACL_VECTOR_ISA_TABLE(formula::Bf16), \
        PORTACL_VECTOR_ISA_TABLE(formula::F16), {}                            \
  }
#define PORTACL_ROWWISE_KERNELS_OF_DOUBLE_TOO(formula)                          \
  portacl::engine::RowwiseKernels {                                             \
    PORTACL_ISA_TABLE(formula::F32), PORTACL_VECTOR_ISA_TABLE(formula::Bf16),   \
        PORTACL_VECTOR_ISA_TABLE(formula::F16), PORTACL_ISA_TABLE(formula::F64) \
  }
