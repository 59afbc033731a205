// Products of INT8 by each of the engine's kernels: every sum against one of 64 bits, for every remainder of terms, layout and extreme.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "base/byte_words.h"
#include "engine/gemm/byte_kernel.h"
#include "engine/gemm/gemm.h"
#include "engine/gemm/integer_result.h"
#include "gtest/gtest.h"
#include "support/numeric_suite.h"

namespace portacl::testing {
namespace {

using engine::ByteKernels;
using engine::Isa;

struct Way {
  Isa isa;
  const ByteKernels* kernels;  // nullptr: pairs of 16 bits, or float32
};

// Every way in which this machine multiplies, and the model of AMX.
std::vector<Way> WaysToTest() {
  std::vector<Way> ways;
  for (const Isa isa : IsasToTest()) {
    ways.push_back({isa, nullptr});
    ways.push_back({isa, &engine::AmxByteModel()});
    for (const TermPairs most : {TermPairs::kNone, TermPairs::kAmx}) {
      const ByteKernels* const found = engine::FindByteKernels(isa, most, 1000);
      const bool is_new = std::none_of(
          ways.begin(), ways.end(), [&](const Way& way) { return way.isa == isa && way.kernels == found; });
      if (is_new) ways.push_back({isa, found});
    }
  }
  return ways;
}

const char* NameOf(const Way& way) {
  return way.kernels == nullptr ? engine::IsaName(way.isa) : way.kernels->name;
}

struct Bytes {
  int64_t rows, columns;
  int64_t row, column;  // steps
  std::vector<int8_t> numbers;

  Bytes(int64_t rows_, int64_t columns_, bool is_across, int64_t apart)
      : rows(rows_),
        columns(columns_),
        row(is_across ? apart : columns_ * apart),
        column(is_across ? rows_ * apart : apart),
        numbers(static_cast<size_t>(rows_ * columns_ * apart), int8_t{77}) {}
  int8_t& At(int64_t r, int64_t c) { return numbers[static_cast<size_t>(r * row + c * column)]; }
};

struct Product {
  int64_t m, n, k;
  bool left_across = false, right_across = false, out_across = false;
  int64_t apart = 1;  // the distance of adjacent elements of the operands
  int threads = 1;
};

enum class Values { kAny, kLeast, kExtremes };

void Fill(Bytes& bytes, Values values, RandomNumbers& random) {
  for (int64_t r = 0; r < bytes.rows; ++r) {
    for (int64_t c = 0; c < bytes.columns; ++c) {
      bytes.At(r, c) = static_cast<int8_t>(values == Values::kLeast      ? -128
                                           : values == Values::kExtremes ? (random.Chance(50) ? -128 : 127)
                                                                         : random.Between(-128, 127));
    }
  }
}

void ExpectSums(const Product& product, Values values, const Way& way, RandomNumbers& random) {
  const auto& [m, n, k, left_across, right_across, out_across, apart, threads] = product;
  Bytes left(m, k, left_across, apart), right(k, n, right_across, apart);
  Fill(left, values, random);
  Fill(right, values, random);
  std::vector<uint32_t> out(static_cast<size_t>(m * n), 0xDEADBEEF);
  engine::Gemm gemm{};
  std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
  gemm.rows = m;
  gemm.columns = n;
  gemm.depth = k;
  gemm.groups = 1;
  const auto operand = [](int8_t argument, aclDataType dtype, int64_t row, int64_t column) {
    engine::GemmOperand made{};
    made.argument = argument;
    made.dtype = dtype;
    made.row = row;
    made.column = column;
    return made;
  };
  gemm.left = operand(0, ACL_INT8, left.row, left.column);
  gemm.right = operand(1, ACL_INT8, right.row, right.column);
  gemm.out = operand(2, ACL_INT32, out_across ? 4 : 4 * n, out_across ? 4 * m : 4);
  engine::IntegerResult result{};
  result.out = ACL_INT32;
  gemm.integers = &result;
  const engine::GemmJob job = engine::MakeGemmJob(gemm, way.isa, threads, nullptr, way.kernels);
  std::vector<char> workspace(static_cast<size_t>(job.WorkspaceBytes()));
  void* const addresses[] = {left.numbers.data(), right.numbers.data(), out.data()};
  job.Run(addresses, workspace.data());
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t c = 0; c < n; ++c) {
      int64_t sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += int64_t{left.At(r, i)} * right.At(i, c);
      const uint32_t found = out[static_cast<size_t>(out_across ? c * m + r : r * n + c)];
      ASSERT_EQ(found, static_cast<uint32_t>(sum))
          << NameOf(way) << " on " << engine::IsaName(way.isa) << ": " << m << " x " << k << " x " << n
          << ", element " << r << ", " << c << ", across " << left_across << right_across << out_across
          << ", apart " << apart << ", threads " << threads;
    }
  }
}

// Every remainder of words, vectors and tiles.
TEST(ByteProducts, EveryNumberOfTerms) {
  RandomNumbers random(0x1278);
  for (const Way& way : WaysToTest()) {
    for (int64_t k = 1; k <= 140; ++k) {
      for (const int64_t m : {1, 5}) {
        Product product{m, 19, k};
        product.left_across = random.Chance(50);
        product.right_across = k % 2 == 0;
        product.out_across = random.Chance(30);
        product.apart = random.Chance(20) ? 2 : 1;
        ASSERT_NO_FATAL_FAILURE(
            ExpectSums(product, k % 3 == 0 ? Values::kExtremes : Values::kAny, way, random));
      }
    }
  }
}

// Kernels, panels, blocks of terms and tiles in part and in whole, and more than one of each.
TEST(ByteProducts, EverySize) {
  constexpr Product kSizes[] = {{1, 1, 1},      {1, 1, 5000},   {1, 300, 1700}, {300, 1, 1700}, {2, 2, 2},
                                {3, 17, 1024},  {14, 32, 1025}, {29, 65, 2049}, {32, 32, 64},   {33, 65, 257},
                                {40, 5, 300},   {5, 40, 300},   {64, 64, 64},   {230, 90, 40},  {530, 50, 70},
                                {20, 830, 270}, {7, 530, 1030}};
  RandomNumbers random(0x1279);
  for (const Way& way : WaysToTest()) {
    for (const Product& size : kSizes) {
      // The model is slow, and so are float32 without vectors.
      const bool is_slow = way.kernels == &engine::AmxByteModel() || way.isa == Isa::kPortable;
      for (int i = 0; i < (is_slow ? 2 : 4); ++i) {
        Product product = size;
        product.left_across = random.Chance(40);
        product.right_across = i % 2 == 0;
        product.out_across = random.Chance(40);
        product.apart = random.Chance(15) ? 3 : 1;
        product.threads = static_cast<int>(random.Between(1, 3));
        ASSERT_NO_FATAL_FAILURE(ExpectSums(product, Values::kAny, way, random));
      }
    }
  }
}

// -128 * -128 is the greatest product. With 131071 terms its sum is the last that 31 bits hold; more terms wrap. Instructions that
// saturate pairs of products, or take only one operand's sign, fail here with one term already.
TEST(ByteProducts, TheLeastTimesTheLeast) {
  RandomNumbers random(0x127A);
  for (const Way& way : WaysToTest()) {
    if (way.isa == Isa::kPortable) continue;
    for (const int64_t k : {1, 2, 4, 64, 1023, 131071, 131072, 262145}) {
      for (const int64_t m : {1, 3}) {
        for (const bool across : {false, true}) {
          // The model is slow.
          if (way.kernels == &engine::AmxByteModel() && k > 2000 && (m == 1 || across)) continue;
          Product product{m, 3, k};
          product.right_across = across;
          ASSERT_NO_FATAL_FAILURE(ExpectSums(product, Values::kLeast, way, random));
        }
      }
    }
  }
}

std::vector<const ByteKernels*> KernelsToTest() {
  std::vector<const ByteKernels*> all;
  for (const Way& way : WaysToTest()) {
    if (way.kernels != nullptr && std::find(all.begin(), all.end(), way.kernels) == all.end())
      all.push_back(way.kernels);
  }
  return all;
}

TEST(ByteKernels, HaveTheirSums) {
  bool has_tiles = false;
  for (const ByteKernels* const kernels : KernelsToTest()) {
    EXPECT_TRUE(engine::HaveTheSums(*kernels)) << kernels->name;
    has_tiles = has_tiles || std::string(kernels->name) == "amx_int8";
  }
  if (!has_tiles) std::puts("AMX of INT8: not here, or not permitted; its model is tested");
}

// Kernels that are off by one, or saturate sums of two products to 16 bits, are not used.
TEST(ByteKernels, OthersAreRefused) {
  ByteKernels kernels = engine::AmxByteModel();
  kernels.multiply = [](const engine::TileProduct& product) {
    engine::AmxByteModel().multiply(product);
    uint32_t sum;
    std::memcpy(&sum, product.c, sizeof sum);
    sum += product.adds ? 1 : 0;
    std::memcpy(product.c, &sum, sizeof sum);
  };
  EXPECT_FALSE(engine::HaveTheSums(kernels));
  kernels.multiply = [](const engine::TileProduct& product) {
    for (int64_t r = 0; r < product.rows; ++r) {
      for (int64_t j = 0; j < product.columns; ++j) {
        uint32_t sum = 0;
        if (product.adds) std::memcpy(&sum, product.c + r * product.c_row + j, sizeof sum);
        for (int64_t word = 0; word < (product.depth + 3) / 4; ++word) {
          int8_t a[4], b[4];
          std::memcpy(a, product.a + r * engine::kPackedRow + word, sizeof a);
          std::memcpy(b, product.b + word * product.width + j, sizeof b);
          for (int i = 0; i < 4; i += 2)
            sum += static_cast<uint32_t>(std::clamp(a[i] * b[i] + a[i + 1] * b[i + 1], -32768, 32767));
        }
        std::memcpy(product.c + r * product.c_row + j, &sum, sizeof sum);
      }
    }
  };
  EXPECT_FALSE(engine::HaveTheSums(kernels));
}

// The table: no words of four without vectors, no tiles where BF16 may not take them, nor for few rows.
TEST(ByteKernels, AreChosenByTheTable) {
  EXPECT_EQ(engine::FindByteKernels(Isa::kPortable, TermPairs::kAmx, 1000), nullptr);
  for (const Isa isa : IsasToTest()) {
    const ByteKernels* const vectors = engine::FindByteKernels(isa, TermPairs::kNone, 1000);
    EXPECT_EQ(vectors != nullptr, MachineHasByteDot(isa)) << engine::IsaName(isa);
    EXPECT_EQ(engine::FindByteKernels(isa, TermPairs::kDot, 1000), vectors);
    EXPECT_EQ(engine::FindByteKernels(isa, TermPairs::kAmx, 7), vectors);
    if (vectors == nullptr) continue;
    EXPECT_FALSE(vectors->takes_all_rows);
    EXPECT_NE(vectors->multiply_lines, nullptr);
  }
}

// Jobs take the kernels that they are given, but for one row whose right operand the kernels cannot read where it lies.
TEST(ByteKernels, AreTaken) {
  const auto job_of = [](int64_t m, int64_t n, int64_t k, bool right_across, const ByteKernels* kernels) {
    engine::Gemm gemm{};
    std::fill(std::begin(gemm.batch), std::end(gemm.batch), int64_t{1});
    gemm.rows = m;
    gemm.columns = n;
    gemm.depth = k;
    gemm.groups = 1;
    gemm.left.dtype = gemm.right.dtype = ACL_INT8;
    gemm.left.row = k;
    gemm.left.column = 1;
    gemm.right.row = right_across ? 1 : n;
    gemm.right.column = right_across ? k : 1;
    gemm.out.dtype = ACL_INT32;
    gemm.out.row = 4 * n;
    gemm.out.column = 4;
    static constexpr engine::IntegerResult kResult{{}, {}, {}, false, ACL_INT32, nullptr, nullptr, nullptr};
    gemm.integers = &kResult;
    return engine::MakeGemmJob(gemm, IsasToTest().back(), 1, nullptr, kernels);
  };
  if (IsasToTest().back() == Isa::kPortable) return;  // whose panels are narrower than tiles
  const ByteKernels* const tiles = &engine::AmxByteModel();
  EXPECT_EQ(job_of(2, 40, 30, false, tiles).byte_kernels, tiles);
  EXPECT_EQ(job_of(2, 40, 30, true, tiles).byte_kernels, tiles);
  EXPECT_EQ(job_of(1, 40, 30, false, tiles).byte_kernels, nullptr);
  EXPECT_EQ(job_of(2, 40, 0, false, tiles).byte_kernels, nullptr);
  const ByteKernels* const vectors = engine::FindByteKernels(IsasToTest().back(), TermPairs::kNone, 1);
  EXPECT_EQ(job_of(1, 40, 30, true, vectors).byte_kernels, vectors);
  EXPECT_EQ(job_of(1, 40, 100000, true, vectors).byte_kernels, vectors);
}

}  // namespace
}  // namespace portacl::testing
