// Maps and sums over strided views, without tensors, executors or a device: what the jobs compute, against one element at
// a time, on every instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/map/map_job.h"

#include <cstdint>
#include <numeric>
#include <vector>

#include "aclnnop/jobs/mul.h"
#include "aclnnop/jobs/sum_of_terms.h"
#include "base/isa.h"
#include "engine/reduction/reduction_job.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

using engine::ViewOperand;

StridedView ViewOf(const Shape& shape, const Shape& strides, int64_t offset = 0) {
  StridedView view;
  view.dtype = ACL_FLOAT;
  view.shape = shape;
  view.strides = strides;
  view.offset = offset;
  view.Describe();
  return view;
}

std::vector<float> Counting(size_t n) {
  std::vector<float> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 1.0f);
  return numbers;
}

// A transposed matrix times a column that is repeated, written to every second element. Operands have any numbers.
TEST(MapJobTest, WalksViewsByTheirNumbers) {
  constexpr int64_t kRows = 37;
  constexpr int64_t kColumns = 19;
  std::vector<float> matrix = Counting(kRows * kColumns + 3);
  std::vector<float> column = Counting(kRows);
  const StridedView transposed = ViewOf(Shape{kRows, kColumns}, Shape{1, kRows}, 3);
  const StridedView repeated = ViewOf(Shape{kRows, 1}, Shape{1, 1});
  const StridedView result = ViewOf(Shape{kRows, kColumns}, Shape{2 * kColumns, 2});
  const ViewOperand inputs[] = {{&transposed, 2}, {&repeated, 0}};
  for (const Isa isa : SupportedIsas()) {
    std::vector<float> found(2 * kRows * kColumns, -1.0f);
    const engine::ElementwiseJob job =
        engine::MakeMapJob({isa, 1, ACL_FLOAT}, inputs, {&result, 3}, ProductKernels(ACL_FLOAT), {});
    for (int operand = 0; operand < 4; ++operand) EXPECT_EQ(job.Touches(operand), operand != 1) << operand;
    EXPECT_EQ(job.Elements(), kRows * kColumns);
    void* const addresses[] = {column.data(), nullptr, matrix.data(), found.data()};
    job.Run(addresses, nullptr);
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t c = 0; c < kColumns; ++c) {
        const auto at = static_cast<size_t>(2 * (row * kColumns + c));
        const float expected =
            matrix[static_cast<size_t>(3 + row + c * kRows)] * column[static_cast<size_t>(row)];
        ASSERT_EQ(found[at], expected) << IsaName(isa) << ", element " << row << ", " << c;
        ASSERT_EQ(found[at + 1], -1.0f) << IsaName(isa) << ", behind element " << row << ", " << c;
      }
    }
  }
}

// Contiguous views of more dims than loops have.
TEST(MapJobTest, MergesDims) {
  Shape shape;
  shape.rank = 12;
  int64_t elements = 1;
  for (int dim = 0; dim < shape.rank; ++dim) elements *= shape.dim[dim] = dim % 2 == 0 ? 2 : 3;
  const StridedView whole = ViewOf(shape, RowMajorStrides(shape));
  std::vector<float> numbers = Counting(static_cast<size_t>(elements));
  const ViewOperand inputs[] = {{&whole, 0}, {&whole, 0}};
  for (const Isa isa : SupportedIsas()) {
    std::vector<float> found(numbers.size());
    void* const addresses[] = {numbers.data(), found.data()};
    engine::MakeMapJob({isa, 1, ACL_FLOAT}, inputs, {&whole, 1}, ProductKernels(ACL_FLOAT), {})
        .Run(addresses, nullptr);
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], numbers[i] * numbers[i]) << IsaName(isa) << ", element " << i;
  }
}

// Means of every second column.
TEST(ReductionJobTest, SumsTermsOfAView) {
  constexpr int64_t kRows = 300;
  constexpr int64_t kColumns = 5;
  std::vector<float> numbers = Counting(2 * kRows * kColumns);
  const StridedView terms = ViewOf(Shape{kRows, kColumns}, Shape{2 * kColumns, 2}, 1);
  const StridedView sums = ViewOf(Shape{1, kColumns}, Shape{kColumns, 1});
  const ViewOperand input[] = {{&terms, 1}};
  for (const Isa isa : SupportedIsas()) {
    engine::ReductionJob job = engine::MakeReductionJob({isa, 1, ACL_FLOAT}, terms.shape, sums.shape, input,
                                                        {&sums, 0}, 1.0 / kRows);
    job.formula.Set(TermKernels(isa), engine::NoParameters());
    std::vector<char> workspace(job.plan.workspace_bytes());
    std::vector<float> found(kColumns, -1.0f);
    void* const addresses[] = {found.data(), numbers.data()};
    job.Run(addresses, workspace.data());
    for (int64_t c = 0; c < kColumns; ++c) {
      double sum = 0;  // exact: all are integers below 2^53
      for (int64_t row = 0; row < kRows; ++row)
        sum += static_cast<double>(numbers[static_cast<size_t>(1 + row * 2 * kColumns + 2 * c)]);
      EXPECT_EQ(found[static_cast<size_t>(c)], static_cast<float>(sum * (1.0 / kRows)))
          << IsaName(isa) << ", column " << c;
    }
  }
}

}  // namespace
}  // namespace portacl::testing
