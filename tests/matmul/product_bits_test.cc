// The bits of a product's element depend on its row, its column and the number of terms alone: not on the rows and columns that stand beside
// it, the batch, the layout of the operands, threads or the instruction set.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "engine/gemm/gemm.h"
#include "engine/gemm/pair_product.h"
#include "engine/gemm/word_pack.h"
#include "engine/isa_in_use.h"
#include "gtest/gtest.h"
#include "process/allocation_hook.h"
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

// Numbers of a type, of one size, or, some of 16 bits, of many: of products of BF16 a part are subnormal, or their sums are.
std::vector<float> RandomNumbersOf(DtypeNumber dtype, int64_t count, RandomNumbers& random) {
  std::vector<float> numbers;
  const bool are_many = dtype != ACL_FLOAT && random.Chance(40);
  for (int64_t i = 0; i < count; ++i) {
    double number = static_cast<double>(random.Between(-100000, 100000)) / 7777;
    if (are_many) {
      const int64_t exponent = dtype == ACL_BF16 ? random.Between(-78, -62) : random.Between(-26, 0);
      number = std::ldexp(number, static_cast<int>(exponent));
    }
    std::byte element[sizeof(float)];
    EncodeElement(dtype, number, element);
    numbers.push_back(static_cast<float>(NumberOf(dtype, element).real));
  }
  return numbers;
}
Matrix Random(int64_t rows, int64_t columns, RandomNumbers& random, DtypeNumber dtype = ACL_FLOAT) {
  return {rows, columns, RandomNumbersOf(dtype, rows * columns, random)};
}

std::vector<std::byte> ElementsOf(DtypeNumber dtype, const std::vector<float>& numbers) {
  const auto size = static_cast<size_t>(ElementSize(dtype));
  std::vector<std::byte> elements(numbers.size() * size);
  for (size_t i = 0; i < numbers.size(); ++i)
    EncodeElement(dtype, static_cast<double>(numbers[i]), elements.data() + i * size);
  return elements;
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
  bool adds_nothing = false;    // -0, which changes no sum: these are then finished by themselves
  bool without_memory = false;  // on a thread that gets none to keep
  int threads = 1;
  engine::Isa isa = engine::Isa::kPortable;
  DtypeNumber dtype = ACL_FLOAT;  // of both operands' numbers
  bool left_is_float = false;     // whose left ones lie as FLOAT
  const engine::TileKernels* tiles = nullptr;
};

constexpr int64_t kNumber = sizeof(float);

GemmOperand OperandAt(int argument, int64_t row, int64_t column, int64_t rows, int64_t columns, bool across,
                      DtypeNumber dtype = ACL_FLOAT) {
  GemmOperand operand{};
  operand.argument = static_cast<int8_t>(argument);
  operand.dtype = static_cast<aclDataType>(dtype);
  const int64_t size = ElementSize(dtype);
  operand.row = across ? size : columns * size;
  operand.column = across ? rows * size : size;
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
  const DtypeNumber left_dtype = part.left_is_float ? ACL_FLOAT : part.dtype;
  std::vector<std::byte> a_elements = ElementsOf(left_dtype, a.numbers);
  std::vector<std::byte> b_elements = ElementsOf(part.dtype, b.numbers);
  gemm.left = OperandAt(0, part.row, 0, left.rows, left.columns, part.left_across, left_dtype);
  gemm.right = OperandAt(1, 0, part.column, right.rows, right.columns, part.right_across, part.dtype);
  gemm.are_halves = part.left_is_float && part.dtype != ACL_FLOAT;
  gemm.out = OperandAt(2, 0, 0, part.rows, part.columns, part.out_across);
  gemm.added = GemmOperand{};
  gemm.added.argument = 3;
  gemm.adds = part.adds_nothing;
  gemm.alpha = gemm.beta = 1;
  void* const addresses[] = {a_elements.data(), b_elements.data(), out.numbers.data(), &nothing};
  const engine::GemmJob job = engine::MakeGemmJob(gemm, part.isa, part.threads, part.tiles);
  std::vector<char> workspace(static_cast<size_t>(job.WorkspaceBytes()));
  if (part.without_memory) {
    std::thread([&] {
      FailAllocation(1, Failing::kAllFromThereOn);
      job.Run(addresses, workspace.data());
      EXPECT_TRUE(StopFailingAllocations()) << "it asked for no memory";
    }).join();
  } else {
    job.Run(addresses, workspace.data());
  }
  if (!part.out_across) return out;
  return Transposed({part.columns, part.rows, out.numbers});
}

bool SameBits(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }

struct Size {
  int64_t rows, columns, depth;
};
// Kernels, panels, blocks of terms and tiles in part and in whole, and more than one of each.
constexpr Size kSizes[] = {{1, 1, 1},      {1, 1, 1000},   {3, 17, 256},   {14, 32, 257}, {29, 65, 513},
                           {1, 300, 700},  {300, 1, 600},  {40, 5, 300},   {5, 40, 300},  {230, 90, 40},
                           {530, 50, 270}, {20, 830, 270}, {128, 128, 64}, {2, 2, 3},     {17, 37, 64},
                           {64, 64, 64},   {15, 33, 65}};

class ProductBits : public ::testing::TestWithParam<std::tuple<Size, DtypeNumber>> {};

Matrix Expected(const Matrix& left, const Matrix& right, DtypeNumber dtype = ACL_FLOAT) {
  Matrix expected{left.rows, right.columns, {}};
  for (int64_t row = 0; row < left.rows; ++row) {
    for (int64_t column = 0; column < right.columns; ++column) {
      BlockedSum sum(dtype, dtype);
      for (int64_t k = 0; k < left.columns; ++k) sum.AddTerm(left.At(row, k), right.At(k, column));
      expected.numbers.push_back(sum.Result());
    }
  }
  return expected;
}

void ExpectPart(const Matrix& found, const Matrix& expected, const Part& part) {
  for (int64_t row = 0; row < part.rows; ++row) {
    for (int64_t column = 0; column < part.columns; ++column) {
      ASSERT_TRUE(SameBits(found.At(row, column), expected.At(part.row + row, part.column + column)))
          << engine::IsaName(part.isa) << ": row " << row << " of " << part.row << "+" << part.rows
          << ", column " << column << " of " << part.column << "+" << part.columns << ", threads "
          << part.threads << " across " << part.left_across << part.right_across << part.out_across
          << part.adds_nothing << ", type " << part.dtype << " left as FLOAT " << part.left_is_float
          << ", tiles " << (part.tiles == nullptr ? "none" : part.tiles->name);
    }
  }
}

TEST_P(ProductBits, DependOnNothingElse) {
  const auto& [size, dtype] = GetParam();
  RandomNumbers random(0xB175);
  const Matrix left = Random(size.rows, size.depth, random, dtype);
  const Matrix right = Random(size.depth, size.columns, random, dtype);
  const Matrix expected = Expected(left, right, dtype);
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
      part.dtype = dtype;
      part.left_is_float = random.Chance(20);
      ExpectPart(Multiplied(left, right, part), expected, part);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(ProductBits, NeedNoMemory) {
  const auto& [size, dtype] = GetParam();
  RandomNumbers random(0x3E3);
  const Matrix left = Random(size.rows, size.depth, random, dtype);
  const Matrix right = Random(size.depth, size.columns, random, dtype);
  const Matrix expected = Expected(left, right, dtype);
  for (const engine::Isa isa : IsasToTest()) {
    Part part;
    part.isa = isa;
    part.rows = size.rows;
    part.columns = size.columns;
    part.right_across = random.Chance(50);
    part.out_across = random.Chance(50);
    part.adds_nothing = random.Chance(50);
    part.without_memory = true;
    part.dtype = dtype;
    part.left_is_float = random.Chance(20);
    ExpectPart(Multiplied(left, right, part), expected, part);
    if (HasFatalFailure()) return;
  }
}

// ---- instructions for pairs of terms ----

std::vector<const engine::TileKernels*> TilesToTest() {
  std::vector<const engine::TileKernels*> all = {&engine::AmxModel()};
  for (const engine::TileKernels* one : {engine::FindDotKernels(), engine::FindAmxKernels()})
    if (one != nullptr) all.push_back(one);
  return all;
}

bool TakesTiles(const engine::TileKernels& tiles, engine::Isa isa) {
  if (isa == engine::Isa::kPortable) return false;  // whose panels are narrower
  return &tiles == &engine::AmxModel() || isa == engine::Isa::kAvx512;
}

// Numbers of one size or of many, of which some rows, columns, terms or blocks of terms are small.
Matrix RandomWithSmall(int64_t rows, int64_t columns, RandomNumbers& random) {
  Matrix matrix = Random(rows, columns, random, ACL_BF16);
  const int64_t kind = random.Below(5);
  for (int64_t i = 0; i < rows * columns; ++i) {
    float& number = matrix.numbers[static_cast<size_t>(i)];
    if (random.Chance(3)) number = 0;
    const bool is_small = kind == 1   ? i / columns % 37 == 5
                          : kind == 2 ? i % columns % 41 == 7
                          : kind == 3 ? random.Chance(1)
                          : kind == 4 ? i % columns / engine::kGemmDepth == 1
                                      : false;
    if (is_small) number = std::ldexp(number, static_cast<int>(-random.Between(60, 140)));
  }
  const std::vector<std::byte> elements = ElementsOf(ACL_BF16, matrix.numbers);
  for (size_t i = 0; i < matrix.numbers.size(); ++i)
    matrix.numbers[i] = static_cast<float>(NumberOf(ACL_BF16, elements.data() + 2 * i).real);
  return matrix;
}

class TileBits : public ::testing::TestWithParam<Size> {};

TEST_P(TileBits, AreThoseOfScalars) {
  const Size& size = GetParam();
  RandomNumbers random(0x711E5);
  for (int round = 0; round < 6; ++round) {
    const Matrix left = RandomWithSmall(size.rows, size.depth, random);
    const Matrix right = RandomWithSmall(size.depth, size.columns, random);
    const Matrix expected = Expected(left, right, ACL_BF16);
    for (const engine::TileKernels* const tiles : TilesToTest()) {
      for (const engine::Isa isa : IsasToTest()) {
        if (!TakesTiles(*tiles, isa)) continue;
        // The model is slow.
        if (tiles == &engine::AmxModel() && (round > 2 || size.rows * size.columns * size.depth > 4000000))
          continue;
        Part part;
        part.isa = isa;
        part.dtype = ACL_BF16;
        part.tiles = tiles;
        part.threads = static_cast<int>(random.Between(1, 3));
        part.rows = round < 2 ? size.rows : random.Between(1, size.rows);
        part.columns = round < 2 ? size.columns : random.Between(1, size.columns);
        part.row = random.Between(0, size.rows - part.rows);
        part.column = random.Between(0, size.columns - part.columns);
        part.left_across = random.Chance(50);
        part.right_across = random.Chance(50);
        part.out_across = random.Chance(50);
        part.adds_nothing = random.Chance(50);
        ExpectPart(Multiplied(left, right, part), expected, part);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A sum that is subnormal after some terms stays what it is when the others add nothing, whichever block they are in.
TEST(TileBitsOfSmallSums, Stay) {
  constexpr int64_t kRows = 40, kColumns = 70, kDepth = 600;
  for (const int64_t term : {3, 300}) {
    Matrix left{kRows, kDepth, std::vector<float>(size_t{kRows * kDepth}, 1)};
    Matrix right{kDepth, kColumns, std::vector<float>(size_t{kDepth * kColumns}, 0)};
    for (int64_t row = 0; row < kRows; ++row)
      left.numbers[static_cast<size_t>(row * kDepth + term)] = 0x1p-70f;
    for (int64_t column = 0; column < kColumns; ++column)
      right.numbers[static_cast<size_t>(term * kColumns + column)] = 0x1.8p-69f;
    for (const engine::TileKernels* const tiles : TilesToTest()) {
      for (const engine::Isa isa : IsasToTest()) {
        if (!TakesTiles(*tiles, isa)) continue;
        for (const bool right_across : {false, true}) {
          Part part;
          part.rows = kRows;
          part.columns = kColumns;
          part.isa = isa;
          part.dtype = ACL_BF16;
          part.tiles = tiles;
          part.right_across = right_across;
          const Matrix found = Multiplied(left, right, part);
          for (const float one : found.numbers) ASSERT_EQ(one, 0x1.8p-139f) << tiles->name << " " << term;
        }
      }
    }
  }
}

// Rows of the output without gaps may be stored together, others may not: nothing is written between them.
TEST(ProductsOfSixteenBits, StoreRowsWithAndWithoutGaps) {
  constexpr int64_t kRows = 20, kColumns = 48, kDepth = 70;
  RandomNumbers random(0x6A95);
  const Matrix left = Random(kRows, kDepth, random, ACL_BF16),
               right = Random(kDepth, kColumns, random, ACL_BF16);
  std::vector<std::byte> a = ElementsOf(ACL_BF16, left.numbers), b = ElementsOf(ACL_BF16, right.numbers);
  const std::vector<std::byte> expected = ElementsOf(ACL_BF16, Expected(left, right, ACL_BF16).numbers);
  for (const engine::Isa isa : IsasToTest()) {
    for (const int64_t gap : {0, 5}) {
      constexpr size_t kRowBytes = 2 * kColumns;
      const auto step = kRowBytes + static_cast<size_t>(2 * gap);
      std::vector<std::byte> out(kRows * step, std::byte{0x5A});
      Gemm gemm{};
      for (int64_t& length : gemm.batch) length = 1;
      gemm.rows = kRows;
      gemm.columns = kColumns;
      gemm.depth = kDepth;
      gemm.groups = 1;
      gemm.alpha = gemm.beta = 1;
      gemm.left = OperandAt(0, 0, 0, kRows, kDepth, false, ACL_BF16);
      gemm.right = OperandAt(1, 0, 0, kDepth, kColumns, false, ACL_BF16);
      gemm.out = OperandAt(2, 0, 0, kRows, kColumns + gap, false, ACL_BF16);
      void* const addresses[] = {a.data(), b.data(), out.data()};
      engine::MakeGemmJob(gemm, isa, 1).Run(addresses, nullptr);
      for (size_t row = 0; row < size_t{kRows}; ++row) {
        for (size_t byte = 0; byte < step; ++byte) {
          const std::byte wanted = byte < kRowBytes ? expected[row * kRowBytes + byte] : std::byte{0x5A};
          ASSERT_EQ(out[row * step + byte], wanted) << "row " << row << ", byte " << byte << ", gap " << gap;
        }
      }
    }
  }
}

std::string NameOfSize(const ::testing::TestParamInfo<Size>& info) {
  const Size& size = info.param;
  return std::to_string(size.rows) + "x" + std::to_string(size.columns) + "x" + std::to_string(size.depth);
}
// Rows, columns, blocks of terms and tiles in part and in whole.
INSTANTIATE_TEST_SUITE_P(Of, TileBits,
                         ::testing::Values(Size{4, 16, 1}, Size{7, 32, 32}, Size{32, 32, 64},
                                           Size{33, 65, 257}, Size{64, 64, 512}, Size{40, 100, 545},
                                           Size{230, 90, 300}, Size{530, 50, 270}, Size{20, 830, 270},
                                           Size{75, 40, 1290}),
                         NameOfSize);

TEST(TileKernels, HaveTheirBits) {
  for (const engine::TileKernels* const tiles : TilesToTest()) EXPECT_TRUE(engine::HaveTheBits(*tiles));
  if (engine::FindAmxKernels() == nullptr) std::puts("AMX: not here, or not permitted; its model is tested");
  if (engine::FindDotKernels() == nullptr) std::puts("AVX512-BF16: not here");
}

// Where products may be subnormal instructions are not used: 2^-63 times 2^-63 with eight bits of each is not, half of it is.
TEST(TileKernels, TakeWhatCannotBeSubnormal) {
  EXPECT_TRUE(engine::AreMultiplesOfNormals(71, 71));
  EXPECT_FALSE(engine::AreMultiplesOfNormals(71, 70));
  EXPECT_TRUE(engine::AreMultiplesOfNormals(1, engine::kNoExponent));
  EXPECT_FALSE(engine::AreMultiplesOfNormals(0, engine::kNoExponent));
  for (const engine::TileKernels* const tiles : TilesToTest()) {
    std::vector<float> numbers(static_cast<size_t>(32 * engine::kPackedRow));
    std::vector<uint32_t> pairs(static_cast<size_t>(32 * engine::kPairedRow));
    EXPECT_EQ(tiles->pair_rows(numbers.data(), 1, 40, pairs.data()), engine::kNoExponent);
    numbers[39] = 0x1.8p-63f;
    numbers[5] = -0x1p-50f;
    numbers[40] = 0x1p-90f;  // behind the last term
    EXPECT_EQ(tiles->pair_rows(numbers.data(), 1, 40, pairs.data()), 64);
    EXPECT_EQ(tiles->pair_panel(numbers.data(), 8, 5, pairs.data()), 64);
    numbers[2] = 0x1p-130f;
    EXPECT_EQ(tiles->pair_rows(numbers.data(), 1, 40, pairs.data()), 0);
  }
}

// BF16 numbers that are put into order where they lie become the pairs that numbers become, with the same least exponent.
TEST(TileKernels, OrderWhatTheyPair) {
  RandomNumbers random(0x0D3);
  for (const engine::TileKernels* const tiles : TilesToTest()) {
    for (const int64_t depth : {1, 2, 31, 32, 33, 75, 256}) {
      constexpr int64_t kLines = 7, kWidth = 32;
      const auto words = static_cast<size_t>(engine::PairsOf(depth));
      const Matrix numbers = RandomWithSmall(kLines, depth, random);
      const std::vector<std::byte> elements = ElementsOf(ACL_BF16, numbers.numbers);
      const auto at = [&](int64_t line, int64_t k) {
        uint16_t half = 0;
        if (line < kLines && k < depth)
          std::memcpy(&half, &elements[static_cast<size_t>(2 * (line * depth + k))], 2);
        return uint32_t{half};
      };
      std::vector<float> rows(static_cast<size_t>(32 * engine::kPackedRow)),
          panel(static_cast<size_t>(depth * kWidth));
      std::vector<uint32_t> row_pairs(static_cast<size_t>(32 * engine::kPairedRow)), ordered_rows = row_pairs;
      std::vector<uint32_t> panel_pairs(words * kWidth), ordered_panel = panel_pairs;
      for (int64_t line = 0; line < kLines; ++line) {
        for (int64_t k = 0; k < depth; ++k) {
          rows[static_cast<size_t>(line * engine::kPackedRow + k)] = numbers.At(line, k);
          panel[static_cast<size_t>(k * kWidth + line)] = numbers.At(line, k);
        }
        for (int64_t word = 0; word < engine::PairsOf(depth); ++word) {
          const uint32_t pair = at(line, 2 * word) | at(line, 2 * word + 1) << 16;
          ordered_rows[static_cast<size_t>(line * engine::kPairedRow + word)] = pair;
          ordered_panel[static_cast<size_t>(word * kWidth + line)] = pair;
        }
      }
      // Rows are their own result, or lie apart and begin at any byte.
      const int64_t row = engine::kPairedRow * int64_t{sizeof(uint32_t)};
      std::vector<char> apart(ordered_rows.size() * sizeof(uint32_t) + 1);
      std::memcpy(apart.data() + 1, ordered_rows.data(), apart.size() - 1);
      std::vector<uint32_t> from_apart(ordered_rows.size());
      const engine::LeastExponent least = tiles->pair_rows(rows.data(), kLines, depth, row_pairs.data());
      EXPECT_EQ(tiles->order_rows(ordered_rows.data(), row, kLines, depth, ordered_rows.data()), least);
      EXPECT_EQ(tiles->order_rows(apart.data() + 1, row, kLines, depth, from_apart.data()), least);
      EXPECT_EQ(ordered_rows, row_pairs) << tiles->name << " " << depth;
      EXPECT_EQ(from_apart, row_pairs) << tiles->name << " " << depth;
      EXPECT_EQ(tiles->order_panel(ordered_panel.data(), kWidth, depth),
                tiles->pair_panel(panel.data(), kWidth, depth, panel_pairs.data()));
      EXPECT_EQ(ordered_panel, panel_pairs) << tiles->name << " " << depth;
    }
  }
}

// Rows and panels that are multiplied outside of a product's tiles, as attention does: those that may be subnormal as numbers.
TEST(PairedPanels, HaveTheBitsOfScalars) {
  RandomNumbers random(0x9A13);
  for (const engine::TileKernels* const tiles : TilesToTest()) {
    for (const engine::Isa isa : IsasToTest()) {
      const engine::GemmKernels& kernels = engine::FindGemmKernels(isa);
      if (!TakesTiles(*tiles, isa)) continue;
      ASSERT_TRUE(engine::TakesPairs(kernels, *tiles));
      for (int round = 0; round < 12; ++round) {
        const int64_t m = random.Between(1, 40), n = random.Between(1, 70), k = random.Between(1, 256);
        const Matrix left = RandomWithSmall(m, k, random), right = RandomWithSmall(k, n, random);
        const Matrix expected = Expected(left, right, ACL_BF16);
        const bool is_across = random.Chance(50);
        const std::vector<std::byte> elements =
            ElementsOf(ACL_BF16, (is_across ? Transposed(right) : right).numbers);
        const engine::GatherFunction gather = engine::FindGather(isa, engine::GatherSource::kCache);
        const engine::WordSource source =
            engine::WordSourceOf(kernels, gather, is_across ? 2 * k : 2, is_across ? 2 : 2 * n, 2);
        std::vector<float> numbers(static_cast<size_t>(m * engine::kPackedRow));
        for (int64_t r = 0; r < m; ++r)
          for (int64_t i = 0; i < k; ++i)
            numbers[static_cast<size_t>(r * engine::kPackedRow + i)] = left.At(r, i);
        std::vector<uint32_t> pairs(static_cast<size_t>(engine::PairedWords(*tiles, m)), 0xFFFFFFFF);
        std::vector<engine::LeastExponent> least(static_cast<size_t>(engine::PairedGroups(*tiles, m)));
        engine::PairNumbers(*tiles, numbers.data(), m, k, pairs.data(), least.data());
        const int64_t width = kernels.columns;
        std::vector<uint32_t> panels(
            static_cast<size_t>((n + width - 1) / width * width * engine::PairsOf(k)));
        std::vector<float> widened(static_cast<size_t>(width * engine::kGemmDepth));
        std::vector<float> found(static_cast<size_t>(m * n)), twice = found;
        const engine::PairedRows rows{numbers.data(), pairs.data(), least.data(), m};
        tiles->begin();
        for (int i = 0; i < 3; ++i) {
          std::vector<float>& sums = i == 0 ? found : twice;
          engine::PackWordPanels(source, reinterpret_cast<const char*>(elements.data()), n, k,
                                 engine::PairsOf(k), width, panels.data());
          engine::MultiplyPairedPanels(*tiles, kernels, rows, panels.data(), n, k, sums.data(), n, i == 2,
                                       widened.data());
        }
        tiles->end();
        for (int64_t r = 0; r < m; ++r) {
          for (int64_t c = 0; c < n; ++c) {
            ASSERT_TRUE(SameBits(found[static_cast<size_t>(r * n + c)], expected.At(r, c)))
                << tiles->name << " " << m << " x " << k << " x " << n << ": " << r << ", " << c;
            // The second product is added block by block.
            BlockedSum sum(ACL_BF16, ACL_BF16);
            for (int i = 0; i < 2; ++i, sum.EndBlock())
              for (int64_t j = 0; j < k; ++j) sum.AddTerm(left.At(r, j), right.At(j, c));
            const float all = sum.Result();
            ASSERT_TRUE(SameBits(twice[static_cast<size_t>(r * n + c)], all)) << tiles->name << ", twice";
          }
        }
      }
    }
  }
}

// The model's steps: what is less than 2^-126 when it is rounded becomes 0, what is rounded to that does not.
TEST(TileKernels, ModelMakesSmallResultsZero) {
  const auto product = [](const std::vector<float>& row, const std::vector<float>& column) {
    const engine::TileKernels& model = engine::AmxModel();
    std::vector<float> rows(static_cast<size_t>(32 * engine::kPackedRow)), panel(row.size() * 16), c(32 * 16);
    std::copy(row.begin(), row.end(), rows.begin());
    for (size_t k = 0; k < column.size(); ++k) panel[k * 16] = column[k];
    std::vector<uint32_t> a(static_cast<size_t>(32 * engine::kPairedRow)), b(16 * 16);
    const auto depth = static_cast<int64_t>(row.size());
    model.pair_rows(rows.data(), 1, depth, a.data());
    model.pair_panel(panel.data(), 16, depth, b.data());
    model.multiply({a.data(), b.data(), c.data(), 16, 1, 16, 16, depth, false, false});
    return c[0];
  };
  EXPECT_EQ(product({0x1p-63f}, {0x1p-63f}), 0x1p-126f);
  EXPECT_EQ(product({0x1p-63f}, {0x1p-64f}), 0.0f);
  EXPECT_EQ(product({0x1p-130f}, {0x1p100f}), 0.0f) << "a subnormal operand";
  // 2^-126 less 2^-152 is rounded to 2^-126, less 2^-149 it is not.
  EXPECT_EQ(product({0x1p-63f, 0, 0x1p-76f}, {0x1p-63f, 0, -0x1p-76f}), 0x1p-126f);
  EXPECT_EQ(product({0x1p-63f, 0, 0x1p-75f}, {0x1p-63f, 0, -0x1p-74f}), 0.0f);
}

// Kernels that are off by a bit, or sum in another order, are not used.
TEST(TileKernels, OthersAreRefused) {
  engine::TileKernels kernels = engine::AmxModel();
  kernels.multiply = [](const engine::TileProduct& product) {
    engine::AmxModel().multiply(product);
    if (product.rows > 4) product.c[3 * product.c_row + 5] *= 1 + 0x1p-23f;
  };
  EXPECT_FALSE(engine::HaveTheBits(kernels));
  kernels = engine::AmxModel();
  kernels.multiply = [](const engine::TileProduct& product) {
    // Blocks of sixteen terms: what a shorter tile would add up.
    engine::TileProduct part = product;
    part.depth = 32;
    for (int64_t block = 0; block < product.depth; block += 32, part.adds = true) {
      part.a = product.a + block / 2;
      part.b = product.b + block / 2 * product.width;
      std::vector<uint32_t> a(part.a, part.a + (product.rows - 1) * engine::kPairedRow + 16);
      for (int half = 0; half < 2; ++half, part.adds = true) {
        std::vector<uint32_t> some(static_cast<size_t>(32 * engine::kPairedRow));
        for (int64_t r = 0; r < product.rows; ++r) {
          for (int64_t i = 8 * half; i < 8 * half + 8; ++i)
            some[static_cast<size_t>(r * engine::kPairedRow + i)] =
                a[static_cast<size_t>(r * engine::kPairedRow + i)];
        }
        part.a = some.data();
        engine::AmxModel().multiply(part);
      }
    }
  };
  EXPECT_FALSE(engine::HaveTheBits(kernels));
}

// Products that are rounded to -0 add up to +0, at which a sum of 16 bits begins.
TEST(ProductBitsOfSmallNumbers, BeginAtZero) {
  for (const Size& size : {Size{1, 1, 300}, Size{1, 40, 30}, Size{20, 40, 30}, Size{3, 5, 300}}) {
    const Matrix left{size.rows, size.depth,
                      std::vector<float>(static_cast<size_t>(size.rows * size.depth), 0x1p-80f)};
    const Matrix right{size.depth, size.columns,
                       std::vector<float>(static_cast<size_t>(size.depth * size.columns), -0x1p-80f)};
    const Matrix expected = Expected(left, right, ACL_BF16);
    for (const float one : expected.numbers) ASSERT_TRUE(SameBits(one, 0.0f));
    for (const engine::Isa isa : IsasToTest()) {
      for (int i = 0; i < 8; ++i) {
        Part part;
        part.isa = isa;
        part.dtype = ACL_BF16;
        part.rows = size.rows;
        part.columns = size.columns;
        part.right_across = i % 2 != 0;
        part.without_memory = i / 2 % 2 != 0;
        if (i >= 4 && TakesTiles(engine::AmxModel(), isa)) part.tiles = &engine::AmxModel();
        ExpectPart(Multiplied(left, right, part), expected, part);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// A vector's elements lie a step apart, or, of 0, are one.
struct Vector {
  int64_t step;
  std::vector<float> numbers;
  std::vector<std::byte> elements;
};

class ProductBitsOfVectors : public ::testing::TestWithParam<DtypeNumber> {};

TEST_P(ProductBitsOfVectors, DependOnNeitherThreadsNorSteps) {
  const DtypeNumber dtype = GetParam();
  RandomNumbers random(0xD07);
  // Blocks of terms in part, few and more than one thread takes at a time; the last one has work for several.
  for (const int64_t length :
       {int64_t{257}, int64_t{4096}, int64_t{16 * 256 + 1}, int64_t{40000}, int64_t{(3 << 18) + 77}}) {
    Vector vectors[2];
    for (Vector& vector : vectors) {
      vector.step = random.Chance(60) ? 1 : random.Between(2, 3);
      vector.numbers = RandomNumbersOf(dtype, length * vector.step, random);
      vector.elements = ElementsOf(dtype, vector.numbers);
    }
    BlockedSum sum(dtype, dtype);
    for (int64_t i = 0; i < length; ++i) {
      sum.AddTerm(vectors[0].numbers[static_cast<size_t>(i * vectors[0].step)],
                  vectors[1].numbers[static_cast<size_t>(i * vectors[1].step)]);
    }
    const float expected = sum.Result();
    for (const engine::Isa isa : IsasToTest()) {
      if (isa == engine::Isa::kPortable && length > 1 << 18) continue;
      for (const int threads : {1, 2, 5}) {
        Gemm gemm{};
        for (int64_t& count : gemm.batch) count = 1;
        gemm.rows = gemm.columns = gemm.groups = 1;
        gemm.depth = length;
        gemm.left.argument = 0;
        gemm.left.dtype = gemm.right.dtype = static_cast<aclDataType>(dtype);
        gemm.left.column = vectors[0].step * ElementSize(dtype);
        gemm.right.argument = 1;
        gemm.right.row = vectors[1].step * ElementSize(dtype);
        gemm.out.argument = 2;
        gemm.alpha = gemm.beta = 1;
        float found = 9;
        void* const addresses[] = {vectors[0].elements.data(), vectors[1].elements.data(), &found};
        const engine::GemmJob job = engine::MakeGemmJob(gemm, isa, threads);
        EXPECT_EQ(job.WorkspaceBytes() > 0, threads > 1 && length > 1 << 19);
        std::vector<char> workspace(static_cast<size_t>(job.WorkspaceBytes()));
        job.Run(addresses, workspace.data());
        EXPECT_TRUE(SameBits(found, expected))
            << engine::IsaName(isa) << " " << length << " threads " << threads << " steps " << vectors[0].step
            << " " << vectors[1].step;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ProductBitsOfVectors,
                         ::testing::Values<DtypeNumber>(ACL_FLOAT, ACL_FLOAT16, ACL_BF16),
                         [](const auto& parameter) { return DtypeName(parameter.param); });

// Matrices of a batch, of which an operand may have one for all along a dim, and whose results may lie between each other.
TEST(ProductBitsOfBatches, AreThoseOfEachProductAlone) {
  RandomNumbers random(0xBA7C4);
  for (const engine::Isa isa : IsasToTest()) {
    for (int i = 0; i < (isa == engine::Isa::kPortable ? 4 : 40); ++i) {
      const int64_t rows = random.Between(1, 40), columns = random.Between(1, 70),
                    depth = random.Between(1, 300);
      const int64_t outer = random.Between(1, 4), inner = random.Between(1, 5);
      std::vector<Matrix> left, right;
      const int64_t repeats[2][2] = {{random.Chance(30), random.Chance(30)},
                                     {random.Chance(30), random.Chance(30)}};
      const auto counts = [&](int side, int dim) {
        return repeats[side][dim] != 0 ? 1 : dim == 0 ? outer : inner;
      };
      std::vector<float> numbers[3];
      for (int side = 0; side < 2; ++side) {
        for (int64_t k = 0; k < counts(side, 0) * counts(side, 1); ++k) {
          std::vector<Matrix>& all = side == 0 ? left : right;
          all.push_back(side == 0 ? Random(rows, depth, random) : Random(depth, columns, random));
          numbers[side].insert(numbers[side].end(), all.back().numbers.begin(), all.back().numbers.end());
        }
      }
      numbers[2].assign(static_cast<size_t>(outer * inner * rows * columns), 9);
      Gemm gemm{};
      for (int64_t& count : gemm.batch) count = 1;
      gemm.batch[engine::kGemmBatchDims - 2] = outer;
      gemm.batch[engine::kGemmBatchDims - 1] = inner;
      gemm.rows = rows;
      gemm.columns = columns;
      gemm.depth = depth;
      gemm.groups = 1;
      gemm.left = OperandAt(0, 0, 0, rows, depth, false);
      gemm.right = OperandAt(1, 0, 0, depth, columns, false);
      gemm.out = OperandAt(2, 0, 0, rows, columns, false);
      const auto place = [&](GemmOperand& operand, int64_t of_outer, int64_t of_inner) {
        operand.batch[engine::kGemmBatchDims - 2] = of_outer * kNumber;
        operand.batch[engine::kGemmBatchDims - 1] = of_inner * kNumber;
      };
      const auto step = [&](int side, int64_t size, GemmOperand& operand) {
        place(operand, repeats[side][0] != 0 ? 0 : counts(side, 1) * size, repeats[side][1] != 0 ? 0 : size);
      };
      step(0, rows * depth, gemm.left);
      step(1, depth * columns, gemm.right);
      const bool is_between = random.Chance(50);
      if (is_between) gemm.out.row = outer * inner * columns * kNumber;
      const int64_t of_matrix = is_between ? columns : rows * columns;
      place(gemm.out, inner * of_matrix, of_matrix);
      gemm.alpha = gemm.beta = 1;
      void* const addresses[] = {numbers[0].data(), numbers[1].data(), numbers[2].data()};
      engine::MakeGemmJob(gemm, isa, static_cast<int>(random.Between(1, 4))).Run(addresses, nullptr);
      for (int64_t b = 0; b < outer * inner; ++b) {
        const auto at = [&](int side) {
          const int64_t along_outer = repeats[side][0] != 0 ? 0 : b / inner;
          const int64_t along_inner = repeats[side][1] != 0 ? 0 : b % inner;
          return static_cast<size_t>(along_outer * counts(side, 1) + along_inner);
        };
        const Matrix expected = Expected(left[at(0)], right[at(1)]);
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t column = 0; column < columns; ++column) {
            const int64_t found = b * of_matrix + row * (gemm.out.row / kNumber) + column;
            ASSERT_TRUE(SameBits(numbers[2][static_cast<size_t>(found)], expected.At(row, column)))
                << engine::IsaName(isa) << " call " << i << ": product " << b << " of " << outer << " x "
                << inner << ", row " << row << " column " << column;
          }
        }
      }
    }
  }
}

std::string NameOf(const ::testing::TestParamInfo<std::tuple<Size, DtypeNumber>>& info) {
  const auto& [size, dtype] = info.param;
  return std::to_string(size.rows) + "x" + std::to_string(size.columns) + "x" + std::to_string(size.depth) +
         "_" + DtypeName(dtype);
}
INSTANTIATE_TEST_SUITE_P(Of, ProductBits,
                         ::testing::Combine(::testing::ValuesIn(kSizes),
                                            ::testing::Values<DtypeNumber>(ACL_FLOAT, ACL_FLOAT16, ACL_BF16)),
                         NameOf);

}  // namespace
}  // namespace portacl::testing
