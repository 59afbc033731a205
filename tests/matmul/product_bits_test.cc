// The bits of a product's element depend on its row, its column and the number of terms alone: not on the rows and columns that stand beside
// it, the batch, the layout of the operands, threads or the instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/gemm/gemm.h"
#include "engine/isa.h"
#include "gtest/gtest.h"
#include "product_calls.h"
#include "support/environment.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

using engine::Gemm;
using engine::GemmOperand;

struct Matrix {
  int64_t rows, columns;
  std::vector<float> numbers;

  float At(int64_t row, int64_t column) const { return numbers[static_cast<size_t>(row * columns + column)]; }
};

Matrix Random(int64_t rows, int64_t columns, RandomNumbers& random) {
  Matrix matrix{rows, columns, {}};
  for (int64_t i = 0; i < rows * columns; ++i)
    matrix.numbers.push_back(static_cast<float>(random.Between(-100000, 100000)) / 7777);
  return matrix;
}

Matrix Transposed(const Matrix& matrix) {
  Matrix other{matrix.columns, matrix.rows, {}};
  for (int64_t column = 0; column < matrix.columns; ++column)
    for (int64_t row = 0; row < matrix.rows; ++row) other.numbers.push_back(matrix.At(row, column));
  return other;
}

// Rows and columns of the whole product, how the operands lie, and what computes them.
struct Part {
  int64_t row = 0, rows = 0, column = 0, columns = 0;
  bool left_across = false, right_across = false, out_across = false;
  bool adds_nothing = false;  // -0, which changes no sum: these are then finished by themselves
  int threads = 1;
  engine::Isa isa = engine::Isa::kPortable;
};

constexpr int64_t kNumber = sizeof(float);

GemmOperand OperandAt(int argument, int64_t row, int64_t column, int64_t rows, int64_t columns, bool across) {
  GemmOperand operand{};
  operand.argument = static_cast<int8_t>(argument);
  operand.dtype = ACL_FLOAT;
  operand.row = across ? kNumber : columns * kNumber;
  operand.column = across ? rows * kNumber : kNumber;
  operand.offset = row * operand.row + column * operand.column;
  return operand;
}

Matrix Multiplied(const Matrix& left, const Matrix& right, const Part& part) {
  const Matrix a = part.left_across ? Transposed(left) : left;
  const Matrix b = part.right_across ? Transposed(right) : right;
  Matrix out{part.rows, part.columns, std::vector<float>(static_cast<size_t>(part.rows * part.columns), 9)};
  float nothing = -0.0f;
  Gemm gemm{};
  for (int64_t& length : gemm.batch) length = 1;
  gemm.rows = part.rows;
  gemm.columns = part.columns;
  gemm.depth = left.columns;
  gemm.groups = 1;
  gemm.left = OperandAt(0, part.row, 0, left.rows, left.columns, part.left_across);
  gemm.right = OperandAt(1, 0, part.column, right.rows, right.columns, part.right_across);
  gemm.out = OperandAt(2, 0, 0, part.rows, part.columns, part.out_across);
  gemm.added = GemmOperand{};
  gemm.added.argument = 3;
  gemm.adds = part.adds_nothing;
  gemm.alpha = gemm.beta = 1;
  void* const addresses[] = {const_cast<float*>(a.numbers.data()), const_cast<float*>(b.numbers.data()),
                             out.numbers.data(), &nothing};
  engine::MakeGemmJob(gemm, part.isa, part.threads).Run(addresses, nullptr);
  if (!part.out_across) return out;
  return Transposed({part.columns, part.rows, out.numbers});
}

bool SameBits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

struct Size {
  int64_t rows, columns, depth;
};
// Kernels, panels, blocks of terms and tiles in part and in whole, and more than one of each.
constexpr Size kSizes[] = {{1, 1, 1},      {1, 1, 1000},   {3, 17, 256},  {14, 32, 257}, {29, 65, 513},
                           {1, 300, 700},  {300, 1, 600},  {40, 5, 300},  {5, 40, 300},  {230, 90, 40},
                           {530, 50, 270}, {20, 830, 270}, {128, 128, 64}};

class ProductBits : public ::testing::TestWithParam<Size> {};

TEST_P(ProductBits, DependOnNothingElse) {
  const Size size = GetParam();
  RandomNumbers random(0xB175);
  const Matrix left = Random(size.rows, size.depth, random);
  const Matrix right = Random(size.depth, size.columns, random);
  Matrix expected{size.rows, size.columns, {}};
  for (int64_t row = 0; row < size.rows; ++row) {
    for (int64_t column = 0; column < size.columns; ++column) {
      BlockedSum sum;
      for (int64_t k = 0; k < size.depth; ++k) sum.AddTerm(left.At(row, k), right.At(k, column));
      expected.numbers.push_back(sum.Result());
    }
  }
  for (const engine::Isa isa : IsasToTest()) {
    // Where a multiply-add is a function call, fewer parts.
    const int parts = isa == engine::Isa::kPortable ? 3 : 12;
    for (int i = 0; i < parts; ++i) {
      Part part;
      part.isa = isa;
      part.threads = static_cast<int>(random.Between(1, 5));
      part.rows = i < 2 ? size.rows : random.Between(1, size.rows);
      part.columns = i < 2 ? size.columns : random.Between(1, size.columns);
      part.row = random.Between(0, size.rows - part.rows);
      part.column = random.Between(0, size.columns - part.columns);
      part.left_across = random.Chance(50);
      part.right_across = random.Chance(50);
      part.out_across = random.Chance(50);
      part.adds_nothing = random.Chance(50);
      const Matrix found = Multiplied(left, right, part);
      for (int64_t row = 0; row < part.rows; ++row) {
        for (int64_t column = 0; column < part.columns; ++column) {
          ASSERT_TRUE(SameBits(found.At(row, column), expected.At(part.row + row, part.column + column)))
              << engine::IsaName(isa) << " part " << i << ": row " << row << " of " << part.row << "+"
              << part.rows << ", column " << column << " of " << part.column << "+" << part.columns
              << ", threads " << part.threads << " across " << part.left_across << part.right_across
              << part.out_across << part.adds_nothing;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ProductBits, ::testing::ValuesIn(kSizes), [](const auto& parameter) {
  const Size& size = parameter.param;
  return std::to_string(size.rows) + "x" + std::to_string(size.columns) + "x" + std::to_string(size.depth);
});

}  // namespace
}  // namespace portacl::testing
