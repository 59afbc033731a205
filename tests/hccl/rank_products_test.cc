// Products with communication in 1, 2 and 4 processes, against loops over the numbers of all ranks: whole numbers, so that
// every sum is exact.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "aclnnop/families/communication.h"
#include "host_operand.h"

namespace portacl::testing {
namespace {

class RankProducts : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Processes, RankProducts, ::testing::Values(1u, 2u, 4u));

constexpr char kSum[] = "sum";
constexpr aclDataType kTypes[] = {ACL_FLOAT16, ACL_BF16};

void AddTo(Matrix& sum, const Matrix& other) {
  if (sum.empty()) sum.assign(other.size(), 0);
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
}
Matrix Rows(const Matrix& numbers, int64_t first, int64_t rows, int64_t columns) {
  return {numbers.begin() + first * columns, numbers.begin() + (first + rows) * columns};
}

// Few and many elements: those that travel with the first message, and those that do not.
TEST_P(RankProducts, AllReduce) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    for (const aclDataType dtype : kTypes) {
      for (const int64_t rows : {int64_t{3}, int64_t{150}}) {
        for (int form = 0; form < 4; ++form) {
          const int64_t terms = form == 3 ? 0 : 21;
          const int64_t columns = 131;
          const bool has_bias = form == 1 || form == 3;
          const bool has_x3 = form >= 2;
          Matrix wanted;
          for (int64_t one = 0; one < group.size(); ++one) {
            const auto r = static_cast<uint64_t>(one);
            Matrix own = Product(DrawnMatrix(1, r, rows * terms), DrawnMatrix(2, r, terms * columns), rows,
                                 terms, columns);
            const Matrix bias = DrawnMatrix(3, r, columns);
            const Matrix x3 = DrawnMatrix(4, r, rows * columns);
            for (int64_t i = 0; i < rows * columns; ++i) {
              if (has_bias) own[static_cast<size_t>(i)] += At(bias, i % columns);
              if (has_x3) own[static_cast<size_t>(i)] += At(x3, i);
            }
            AddTo(wanted, own);
          }
          const uint64_t me = rank.rank();
          const HostOperand x1(dtype, {rows, terms}, DrawnMatrix(1, me, rows * terms));
          const HostOperand x2(dtype, {terms, columns}, DrawnMatrix(2, me, terms * columns), form == 1);
          const HostOperand bias(dtype, {columns}, DrawnMatrix(3, me, columns));
          const HostOperand x3(dtype, {rows, columns}, DrawnMatrix(4, me, rows * columns));
          const HostOperand out(dtype, {rows, columns});
          const aclTensor* const given_bias = has_bias ? bias.tensor() : nullptr;
          if (has_x3) {
            group.Works(
                [&](uint64_t* size, aclOpExecutor** executor) {
                  return aclnnMatmulAllReduceV2GetWorkspaceSize(x1.tensor(), x2.tensor(), given_bias,
                                                                x3.tensor(), group.name(), kSum, 0, 1,
                                                                out.tensor(), size, executor);
                },
                aclnnMatmulAllReduceV2);
          } else {
            group.Works(
                [&](uint64_t* size, aclOpExecutor** executor) {
                  return aclnnMatmulAllReduceGetWorkspaceSize(x1.tensor(), x2.tensor(), given_bias,
                                                              group.name(), kSum, 0, 1, out.tensor(), size,
                                                              executor);
                },
                aclnnMatmulAllReduce);
          }
          out.Expect(wanted, "form " + std::to_string(form));
        }
      }
    }
  });
}

// Scales are powers of two; the scale of columns as FLOAT beside those of rows, and as a word.
TEST_P(RankProducts, AllReduceOfInt8) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    constexpr int64_t kRows = 6;
    constexpr int64_t kTerms = 19;
    constexpr int64_t kColumns = 40;
    for (const bool has_rows : {false, true}) {
      const auto scale_of = [](int64_t column) { return column % 3 == 0 ? 0.5 : 1.0; };
      const auto factor_of = [](int64_t row) { return row % 2 == 0 ? 2.0 : 1.0; };
      Matrix wanted;
      for (int64_t one = 0; one < group.size(); ++one) {
        const auto r = static_cast<uint64_t>(one);
        Matrix own = Product(DrawnMatrix(1, r, kRows * kTerms, -3, 3),
                             DrawnMatrix(2, r, kTerms * kColumns, -3, 3), kRows, kTerms, kColumns);
        const Matrix bias = DrawnMatrix(3, r, kColumns, -9, 9);
        for (int64_t i = 0; i < kRows * kColumns; ++i) {
          double& value = own[static_cast<size_t>(i)];
          value = (value + At(bias, i % kColumns)) * scale_of(i % kColumns);
          if (has_rows) value *= factor_of(i / kColumns);
        }
        AddTo(wanted, own);
      }
      const uint64_t me = rank.rank();
      const HostOperand x1(ACL_INT8, {kRows, kTerms}, DrawnMatrix(1, me, kRows * kTerms, -3, 3));
      const HostOperand x2(ACL_INT8, {kTerms, kColumns}, DrawnMatrix(2, me, kTerms * kColumns, -3, 3));
      const HostOperand bias(ACL_INT32, {kColumns}, DrawnMatrix(3, me, kColumns, -9, 9));
      Matrix scales;
      Matrix words;
      for (int64_t i = 0; i < kColumns; ++i) {
        scales.push_back(scale_of(i));
        words.push_back(scale_of(i) == 1 ? 0x3F800000 : 0x3F000000);  // the bits of a float32
      }
      Matrix factors;
      for (int64_t i = 0; i < kRows; ++i) factors.push_back(factor_of(i));
      const HostOperand scale(ACL_FLOAT, {1, kColumns}, scales);
      const HostOperand word(ACL_INT64, {kColumns}, words);
      const HostOperand factor(ACL_FLOAT, {kRows}, factors);
      const HostOperand out(ACL_FLOAT16, {kRows, kColumns});
      group.Works(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnQuantMatmulAllReduceV2GetWorkspaceSize(
                x1.tensor(), x2.tensor(), bias.tensor(), nullptr, has_rows ? scale.tensor() : word.tensor(),
                has_rows ? factor.tensor() : nullptr, group.name(), kSum, 0, 1, out.tensor(), size, executor);
          },
          aclnnQuantMatmulAllReduceV2);
      out.Expect(wanted, has_rows ? "scales of rows" : "words");
    }
  });
}

TEST_P(RankProducts, AllReduceOfQuantisedWeights) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    constexpr int64_t kRows = 4;
    constexpr int64_t kTerms = 70;
    constexpr int64_t kColumns = 9;
    for (const int64_t terms_of_group : {int64_t{0}, int64_t{32}}) {
      const int64_t groups = terms_of_group == 0 ? 1 : (kTerms - 1) / terms_of_group + 1;
      Matrix wanted;
      const auto scale_at = [](uint64_t r, int64_t i) {
        return Drawn(5, r, static_cast<uint64_t>(i), 0, 1) == 0 ? 0.5 : 1.0;
      };
      for (int64_t one = 0; one < group.size(); ++one) {
        const auto r = static_cast<uint64_t>(one);
        Matrix weights = DrawnMatrix(2, r, kTerms * kColumns, -2, 2);
        const Matrix offsets = DrawnMatrix(6, r, groups * kColumns, -1, 1);
        for (int64_t i = 0; i < kTerms * kColumns; ++i) {
          const int64_t at =
              (terms_of_group == 0 ? 0 : i / kColumns / terms_of_group) * kColumns + i % kColumns;
          weights[static_cast<size_t>(i)] = (At(weights, i) + At(offsets, at)) * scale_at(r, at);
        }
        AddTo(wanted, Product(DrawnMatrix(1, r, kRows * kTerms), weights, kRows, kTerms, kColumns));
      }
      const uint64_t me = rank.rank();
      Matrix scales;
      for (int64_t i = 0; i < groups * kColumns; ++i) scales.push_back(scale_at(me, i));
      const std::vector<int64_t> shape =
          terms_of_group == 0 ? std::vector<int64_t>{kColumns} : std::vector<int64_t>{groups, kColumns};
      const HostOperand x1(ACL_FLOAT16, {kRows, kTerms}, DrawnMatrix(1, me, kRows * kTerms));
      const HostOperand x2(ACL_INT8, {kTerms, kColumns}, DrawnMatrix(2, me, kTerms * kColumns, -2, 2));
      const HostOperand scale(ACL_FLOAT16, shape, scales);
      const HostOperand offset(ACL_FLOAT16, shape, DrawnMatrix(6, me, groups * kColumns, -1, 1));
      const HostOperand out(ACL_FLOAT16, {kRows, kColumns});
      group.Works(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnWeightQuantMatmulAllReduceGetWorkspaceSize(
                x1.tensor(), x2.tensor(), nullptr, scale.tensor(), offset.tensor(), nullptr, group.name(),
                kSum, 0, 1, terms_of_group, out.tensor(), size, executor);
          },
          aclnnWeightQuantMatmulAllReduce);
      out.Expect(wanted, "groups of " + std::to_string(terms_of_group));
    }
  });
}

// The sum and the residual are whole numbers; the norm is a few operations of float32 on them.
TEST_P(RankProducts, Norms) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    constexpr int64_t kBatch = 2;
    constexpr int64_t kRows = 3;
    constexpr int64_t kTerms = 17;
    constexpr int64_t kColumns = 600;
    constexpr int64_t kCount = kBatch * kRows * kColumns;
    constexpr double kEpsilon = 0.25;
    Matrix sum;
    for (int64_t one = 0; one < group.size(); ++one) {
      const auto r = static_cast<uint64_t>(one);
      AddTo(sum, Product(DrawnMatrix(1, r, kBatch * kRows * kTerms), DrawnMatrix(2, r, kTerms * kColumns),
                         kBatch * kRows, kTerms, kColumns));
    }
    const Matrix residual = DrawnMatrix(3, 0, kCount, -9, 9);
    Matrix gamma = DrawnMatrix(4, 0, kColumns, 1, 5);
    for (double& one : gamma) one /= 4;
    AddTo(sum, residual);
    Matrix norm;
    for (int64_t row = 0; row < kBatch * kRows; ++row) {
      double squares = 0;
      for (int64_t i = 0; i < kColumns; ++i)
        squares += At(sum, row * kColumns + i) * At(sum, row * kColumns + i);
      const auto factor = static_cast<float>(1.0 / std::sqrt(squares / kColumns + kEpsilon));
      for (int64_t i = 0; i < kColumns; ++i) {
        const float quotient = static_cast<float>(At(sum, row * kColumns + i)) * factor;
        const float product = quotient * static_cast<float>(At(gamma, i));
        norm.push_back(DecodeFloat(kFloat16, static_cast<uint16_t>(EncodeFloat(kFloat16, product))));
      }
    }
    const uint64_t me = rank.rank();
    const HostOperand x1(ACL_FLOAT16, {kBatch * kRows, kTerms}, DrawnMatrix(1, me, kBatch * kRows * kTerms));
    const HostOperand x2(ACL_FLOAT16, {kTerms, kColumns}, DrawnMatrix(2, me, kTerms * kColumns));
    const HostOperand other(ACL_FLOAT16, {kBatch, kRows, kColumns}, residual);
    const HostOperand gammas(ACL_FLOAT16, {kColumns}, gamma);
    const HostOperand y(ACL_FLOAT16, {kBatch, kRows, kColumns});
    const HostOperand out(ACL_FLOAT16, {kBatch, kRows, kColumns});
    const HostOperand out_in_place(ACL_FLOAT16, {kBatch, kRows, kColumns});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMatmulAllReduceAddRmsNormGetWorkspaceSize(
              x1.tensor(), x2.tensor(), nullptr, other.tensor(), gammas.tensor(), kEpsilon, group.name(),
              kSum, 0, 1, y.tensor(), out.tensor(), size, executor);
        },
        aclnnMatmulAllReduceAddRmsNorm);
    y.Expect(sum, "sum");
    out.Expect(norm, "norm");
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnInplaceMatmulAllReduceAddRmsNormGetWorkspaceSize(
              x1.tensor(), x2.tensor(), nullptr, other.tensor(), gammas.tensor(), kEpsilon, group.name(),
              kSum, 0, 1, out_in_place.tensor(), size, executor);
        },
        aclnnInplaceMatmulAllReduceAddRmsNorm);
    other.Expect(sum, "sum in place");
    out_in_place.Expect(norm, "norm in place");
    // The same numbers as INT8, and as weights of INT8, with scales of 1.
    const HostOperand bytes1(ACL_INT8, {kBatch * kRows, kTerms}, DrawnMatrix(1, me, kBatch * kRows * kTerms));
    const HostOperand bytes2(ACL_INT8, {kTerms, kColumns}, DrawnMatrix(2, me, kTerms * kColumns));
    const HostOperand one(ACL_FLOAT, {1}, {1});
    const HostOperand half_one(ACL_FLOAT16, {1}, {1});
    const HostOperand again(ACL_FLOAT16, {kBatch, kRows, kColumns}, residual);
    for (const bool is_weight : {false, true}) {
      const HostOperand y2(ACL_FLOAT16, {kBatch, kRows, kColumns});
      const HostOperand out2(ACL_FLOAT16, {kBatch, kRows, kColumns});
      if (is_weight) {
        group.Works(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnWeightQuantMatmulAllReduceAddRmsNormGetWorkspaceSize(
                  x1.tensor(), bytes2.tensor(), nullptr, half_one.tensor(), nullptr, again.tensor(),
                  gammas.tensor(), kEpsilon, group.name(), kSum, 0, 1, 0, y2.tensor(), out2.tensor(), size,
                  executor);
            },
            aclnnWeightQuantMatmulAllReduceAddRmsNorm);
      } else {
        group.Works(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnQuantMatmulAllReduceAddRmsNormGetWorkspaceSize(
                  bytes1.tensor(), bytes2.tensor(), nullptr, one.tensor(), again.tensor(), gammas.tensor(),
                  kEpsilon, group.name(), kSum, 0, 1, y2.tensor(), out2.tensor(), size, executor);
            },
            aclnnQuantMatmulAllReduceAddRmsNorm);
      }
      y2.Expect(sum, is_weight ? "sum of weights" : "sum of bytes");
      out2.Expect(norm, is_weight ? "norm of weights" : "norm of bytes");
    }
  });
}

TEST_P(RankProducts, GatherAndScatter) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    constexpr int64_t kTerms = 256;
    constexpr int64_t kColumns = 23;
    const uint64_t me = rank.rank();
    for (const aclDataType dtype : kTypes) {
      for (const int64_t each : {int64_t{2}, int64_t{40}}) {
        const int64_t all = each * group.size();
        Matrix gathered;
        for (int64_t one = 0; one < group.size(); ++one) {
          const Matrix own = DrawnMatrix(1, static_cast<uint64_t>(one), each * kTerms);
          gathered.insert(gathered.end(), own.begin(), own.end());
        }
        const HostOperand x1(dtype, {each, kTerms}, DrawnMatrix(1, me, each * kTerms));
        const HostOperand x2(dtype, {kTerms, kColumns}, DrawnMatrix(2, me, kTerms * kColumns), each == 2);
        const HostOperand out(dtype, {all, kColumns});
        const HostOperand gather(dtype, {all, kTerms});
        for (const bool is_wanted : {true, false}) {
          group.Works(
              [&](uint64_t* size, aclOpExecutor** executor) {
                return aclnnAllGatherMatmulGetWorkspaceSize(
                    x1.tensor(), x2.tensor(), nullptr, group.name(), 0, 0, 1, out.tensor(),
                    is_wanted ? gather.tensor() : nullptr, size, executor);
              },
              aclnnAllGatherMatmul);
          out.Expect(Product(gathered, DrawnMatrix(2, me, kTerms * kColumns), all, kTerms, kColumns),
                     "product");
          gather.Expect(gathered, "gathered");
        }
        // The second version, with and without a bias.
        const Matrix bias = DrawnMatrix(3, me, kColumns, -3, 3);
        const HostOperand biases(dtype, {kColumns}, bias);
        for (const bool is_added : {true, false}) {
          Matrix wanted = Product(gathered, DrawnMatrix(2, me, kTerms * kColumns), all, kTerms, kColumns);
          for (size_t i = 0; is_added && i < wanted.size(); ++i) wanted[i] += bias[i % bias.size()];
          group.Works(
              [&](uint64_t* size, aclOpExecutor** executor) {
                return aclnnAllGatherMatmulV2GetWorkspaceSize(
                    x1.tensor(), x2.tensor(), is_added ? biases.tensor() : nullptr, nullptr, nullptr, nullptr,
                    0, group.name(), 0, 0, 1, 0, nullptr, out.tensor(), gather.tensor(), nullptr, size,
                    executor);
              },
              aclnnAllGatherMatmulV2);
          out.Expect(wanted, "product of the second version");
        }
        // Numbers of another type are refused.
        const HostOperand bytes(ACL_INT8, {all, kTerms});
        uint64_t unused = 0;
        aclOpExecutor* none = nullptr;
        EXPECT_EQ(aclnnAllGatherMatmulGetWorkspaceSize(x1.tensor(), x2.tensor(), nullptr, group.name(), 0, 0,
                                                       1, out.tensor(), bytes.tensor(), &unused, &none),
                  561002);
        EXPECT_NE(Rank::Message().find("gatherOut"), std::string::npos) << Rank::Message();
        EXPECT_EQ(none, nullptr);

        Matrix sum;
        for (int64_t one = 0; one < group.size(); ++one) {
          const auto r = static_cast<uint64_t>(one);
          AddTo(sum, Product(DrawnMatrix(7, r, all * kTerms), DrawnMatrix(2, r, kTerms * kColumns), all,
                             kTerms, kColumns));
        }
        const HostOperand whole(dtype, {all, kTerms}, DrawnMatrix(7, me, all * kTerms));
        const HostOperand part(dtype, {each, kColumns});
        group.Works(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnMatmulReduceScatterGetWorkspaceSize(whole.tensor(), x2.tensor(), nullptr,
                                                              group.name(), kSum, 0, 1, part.tensor(), size,
                                                              executor);
            },
            aclnnMatmulReduceScatter);
        part.Expect(Rows(sum, group.rank() * each, each, kColumns), "scattered");
        const HostOperand again(dtype, {each, kColumns});
        group.Works(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnMatmulReduceScatterV2GetWorkspaceSize(
                  whole.tensor(), x2.tensor(), nullptr, nullptr, nullptr, nullptr, 0, group.name(), kSum, 0,
                  1, 0, nullptr, again.tensor(), nullptr, size, executor);
            },
            aclnnMatmulReduceScatterV2);
        again.Expect(Rows(sum, group.rank() * each, each, kColumns), "scattered by the second version");
      }
    }
  });
}

TEST_P(RankProducts, GatherAndScatterOfInt8) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    constexpr int64_t kTerms = 256;
    constexpr int64_t kColumns = 12;
    constexpr int64_t kEach = 3;
    const int64_t all = kEach * group.size();
    const uint64_t me = rank.rank();
    const auto factor_of = [](int64_t row) { return row % 2 == 0 ? 0.5 : 2.0; };
    Matrix gathered;
    Matrix sum;
    for (int64_t one = 0; one < group.size(); ++one) {
      const auto r = static_cast<uint64_t>(one);
      const Matrix own = DrawnMatrix(1, r, kEach * kTerms, -2, 2);
      gathered.insert(gathered.end(), own.begin(), own.end());
      AddTo(sum, Product(DrawnMatrix(7, r, all * kTerms, -2, 2), DrawnMatrix(2, r, kTerms * kColumns), all,
                         kTerms, kColumns));
    }
    Matrix wanted = Product(gathered, DrawnMatrix(2, me, kTerms * kColumns), all, kTerms, kColumns);
    for (int64_t i = 0; i < all * kColumns; ++i) {
      wanted[static_cast<size_t>(i)] *= factor_of(i / kColumns % kEach);
      sum[static_cast<size_t>(i)] *= factor_of(i / kColumns);
    }
    Matrix factors;
    for (int64_t i = 0; i < all; ++i) factors.push_back(factor_of(i));
    const HostOperand x1(ACL_INT8, {kEach, kTerms}, DrawnMatrix(1, me, kEach * kTerms, -2, 2));
    const HostOperand x2(ACL_INT8, {kTerms, kColumns}, DrawnMatrix(2, me, kTerms * kColumns));
    const HostOperand own_factors(ACL_FLOAT, {kEach, 1}, Rows(factors, 0, kEach, 1));
    const HostOperand all_factors(ACL_FLOAT, {all, 1}, factors);
    const HostOperand scale(ACL_FLOAT, {1, kColumns}, Matrix(kColumns, 1));
    const HostOperand out(ACL_FLOAT16, {all, kColumns});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnAllGatherMatmulV2GetWorkspaceSize(
              x1.tensor(), x2.tensor(), nullptr, own_factors.tensor(), scale.tensor(), nullptr, 0,
              group.name(), 0, 0, 1, 0, "aiv", out.tensor(), nullptr, nullptr, size, executor);
        },
        aclnnAllGatherMatmulV2);
    out.Expect(wanted, "gathered");
    const HostOperand whole(ACL_INT8, {all, kTerms}, DrawnMatrix(7, me, all * kTerms, -2, 2));
    const HostOperand part(ACL_FLOAT16, {kEach, kColumns});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMatmulReduceScatterV2GetWorkspaceSize(
              whole.tensor(), x2.tensor(), nullptr, all_factors.tensor(), scale.tensor(), nullptr, 0,
              group.name(), kSum, 0, 1, 0, "aiv", part.tensor(), nullptr, size, executor);
        },
        aclnnMatmulReduceScatterV2);
    part.Expect(Rows(sum, group.rank() * kEach, kEach, kColumns), "scattered");
  });
}

TEST_P(RankProducts, BlocksOfAllRanks) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    const int64_t ranks = group.size();
    const uint64_t me = rank.rank();
    constexpr int64_t kWidth = 7;
    constexpr int64_t kColumns = 12;  // a multiple of the ranks
    for (const int64_t each : {int64_t{3}, int64_t{200}}) {
      for (const bool is_transposed : {false, true}) {
        const int64_t rows = each * ranks;
        const aclDataType dtype = is_transposed ? ACL_BF16 : ACL_FLOAT16;
        Matrix permuted(static_cast<size_t>(rows * kWidth));
        for (int64_t q = 0; q < ranks; ++q) {
          const Matrix theirs = DrawnMatrix(1, static_cast<uint64_t>(q), rows * kWidth);
          for (int64_t i = 0; i < each; ++i) {
            for (int64_t h = 0; h < kWidth; ++h)
              permuted[static_cast<size_t>(i * ranks * kWidth + q * kWidth + h)] =
                  At(theirs, (group.rank() * each + i) * kWidth + h);
          }
        }
        const int64_t terms = ranks * kWidth;
        const Matrix right = DrawnMatrix(2, me, terms * kColumns);
        const HostOperand x1(dtype, {rows, kWidth}, DrawnMatrix(1, me, rows * kWidth));
        // With transposeX2 its dims are swapped in its shape.
        Matrix swapped;
        for (int64_t j = 0; j < kColumns; ++j) {
          for (int64_t k = 0; k < terms; ++k) swapped.push_back(At(right, k * kColumns + j));
        }
        const HostOperand x2(
            dtype,
            is_transposed ? std::vector<int64_t>{kColumns, terms} : std::vector<int64_t>{terms, kColumns},
            is_transposed ? swapped : right);
        const HostOperand out(dtype, {each, kColumns});
        const HostOperand moved(dtype, {each, terms});
        group.Works(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnAlltoAllMatmulGetWorkspaceSize(x1.tensor(), x2.tensor(), nullptr, nullptr,
                                                         group.name(), false, is_transposed, out.tensor(),
                                                         moved.tensor(), size, executor);
            },
            aclnnAlltoAllMatmul);
        out.Expect(Product(permuted, right, each, terms, kColumns), "behind");
        moved.Expect(permuted, "permuted");

        const int64_t part = kColumns / ranks;
        Matrix wanted;
        for (int64_t q = 0; q < ranks; ++q) {
          const auto r = static_cast<uint64_t>(q);
          const Matrix theirs = Product(DrawnMatrix(3, r, each * kWidth),
                                        DrawnMatrix(4, r, kWidth * kColumns), each, kWidth, kColumns);
          for (int64_t i = 0; i < each; ++i) {
            for (int64_t j = 0; j < part; ++j)
              wanted.push_back(At(theirs, i * kColumns + group.rank() * part + j));
          }
        }
        const HostOperand y1(dtype, {each, kWidth}, DrawnMatrix(3, me, each * kWidth));
        const HostOperand y2(dtype, {kWidth, kColumns}, DrawnMatrix(4, me, kWidth * kColumns), is_transposed);
        const HostOperand blocks(dtype, {rows, part});
        group.Works(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnMatmulAlltoAllGetWorkspaceSize(y1.tensor(), y2.tensor(), nullptr, nullptr,
                                                         group.name(), false, false, blocks.tensor(), size,
                                                         executor);
            },
            aclnnMatmulAlltoAll);
        blocks.Expect(wanted, "before");
      }
    }
  });
}

// The greatest magnitude of every row is 127, so that its scale is 1.
TEST_P(RankProducts, BlocksOfInt8) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    const int64_t ranks = group.size();
    const uint64_t me = rank.rank();
    constexpr int64_t kEach = 3;
    constexpr int64_t kWidth = 6;
    constexpr int64_t kColumns = 8;
    const int64_t rows = kEach * ranks;
    const int64_t terms = ranks * kWidth;
    const auto left_of = [&](uint64_t r) {
      Matrix made = DrawnMatrix(1, r, rows * kWidth, -5, 5);
      for (int64_t row = 0; row < rows; ++row) made[static_cast<size_t>(row * kWidth)] = 127;
      return made;
    };
    Matrix permuted(static_cast<size_t>(kEach * terms));
    for (int64_t q = 0; q < ranks; ++q) {
      const Matrix theirs = left_of(static_cast<uint64_t>(q));
      for (int64_t i = 0; i < kEach; ++i) {
        for (int64_t h = 0; h < kWidth; ++h)
          permuted[static_cast<size_t>(i * terms + q * kWidth + h)] =
              At(theirs, (group.rank() * kEach + i) * kWidth + h);
      }
    }
    const Matrix bias = DrawnMatrix(3, me, kColumns, -4, 4);
    const auto scaled = [&](Matrix numbers, const Matrix& added) {
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = numbers[i] * 0.5 + added[i % kColumns];
      return numbers;
    };
    const HostOperand x1(ACL_BF16, {rows, kWidth}, left_of(me));
    const HostOperand x2(ACL_INT8, {terms, kColumns}, DrawnMatrix(2, me, terms * kColumns));
    const HostOperand biases(ACL_FLOAT, {kColumns}, bias);
    const HostOperand scale(ACL_FLOAT, {kColumns}, Matrix(kColumns, 0.5));
    const HostOperand out(ACL_FLOAT, {kEach, kColumns});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnAlltoAllQuantMatmulGetWorkspaceSize(
              x1.tensor(), x2.tensor(), biases.tensor(), nullptr, scale.tensor(), nullptr, nullptr, nullptr,
              group.name(), nullptr, 7, 2, 0, -1, ACL_INT8, 0, false, false, out.tensor(), nullptr, size,
              executor);
        },
        aclnnAlltoAllQuantMatmul);
    out.Expect(scaled(Product(permuted, DrawnMatrix(2, me, terms * kColumns), kEach, terms, kColumns), bias),
               "behind");

    const int64_t part = kColumns / ranks;
    Matrix wanted;
    for (int64_t q = 0; q < ranks; ++q) {
      const auto r = static_cast<uint64_t>(q);
      Matrix theirs = Product(DrawnMatrix(5, r, kEach * kWidth, -9, 9),
                              DrawnMatrix(6, r, kWidth * kColumns, -9, 9), kEach, kWidth, kColumns);
      for (int64_t i = 0; i < kEach * kColumns; ++i)
        theirs[static_cast<size_t>(i)] *= i / kColumns == 1 ? 2 : 1;
      theirs = scaled(theirs, DrawnMatrix(3, r, kColumns, -4, 4));
      for (int64_t i = 0; i < kEach; ++i) {
        for (int64_t j = 0; j < part; ++j)
          wanted.push_back(At(theirs, i * kColumns + group.rank() * part + j));
      }
    }
    const HostOperand y1(ACL_INT8, {kEach, kWidth}, DrawnMatrix(5, me, kEach * kWidth, -9, 9));
    const HostOperand y2(ACL_INT8, {kWidth, kColumns}, DrawnMatrix(6, me, kWidth * kColumns, -9, 9));
    const HostOperand factors(ACL_FLOAT, {kEach}, {1, 2, 1});
    const HostOperand blocks(ACL_FLOAT, {rows, part});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnQuantMatmulAlltoAllGetWorkspaceSize(
              y1.tensor(), y2.tensor(), biases.tensor(), factors.tensor(), scale.tensor(), nullptr, nullptr,
              nullptr, nullptr, group.name(), 3, 2, 0, -1, 0, false, false, blocks.tensor(), size, executor);
        },
        aclnnQuantMatmulAlltoAll);
    blocks.Expect(wanted, "before");
  });
}

// Rows of every rank for every expert of every rank, also none; there and back.
TEST_P(RankProducts, RowsOfExperts) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    const int64_t ranks = group.size();
    constexpr int64_t kExperts = 3;
    constexpr int64_t kTerms = 5;
    constexpr int64_t kColumns = 6;
    const auto rows_of = [&](int64_t from, int64_t to, int64_t expert) {
      return Drawn(9, static_cast<uint64_t>(from), static_cast<uint64_t>(to * kExperts + expert), 0, 4);
    };
    std::vector<int64_t> send;
    std::vector<int64_t> receive;
    int64_t sent = 0;
    int64_t received = 0;
    for (int64_t other = 0; other < ranks; ++other) {
      for (int64_t expert = 0; expert < kExperts; ++expert) {
        send.push_back(rows_of(group.rank(), other, expert));
        receive.push_back(rows_of(other, group.rank(), expert));
        sent += send.back();
        received += receive.back();
      }
    }
    // Element k of row i from rank `from` to an expert.
    const auto element = [](int64_t from, int64_t to, int64_t expert, int64_t i, int64_t k) {
      return static_cast<double>(Drawn(10, static_cast<uint64_t>(from),
                                       static_cast<uint64_t>(((to * kExperts + expert) * 8 + i) * kTerms + k),
                                       -2, 2));
    };
    Matrix x;
    for (int64_t to = 0; to < ranks; ++to) {
      for (int64_t expert = 0; expert < kExperts; ++expert) {
        for (int64_t i = 0; i < rows_of(group.rank(), to, expert); ++i) {
          for (int64_t k = 0; k < kTerms; ++k) x.push_back(element(group.rank(), to, expert, i, k));
        }
      }
    }
    const auto weights_of = [](int64_t r, int64_t expert) {
      return DrawnMatrix(static_cast<uint64_t>(20 + expert), static_cast<uint64_t>(r), kTerms * kColumns);
    };
    Matrix permuted;
    Matrix product;
    for (int64_t expert = 0; expert < kExperts; ++expert) {
      Matrix rows;
      int64_t count = 0;
      for (int64_t from = 0; from < ranks; ++from) {
        for (int64_t i = 0; i < rows_of(from, group.rank(), expert); ++i, ++count) {
          for (int64_t k = 0; k < kTerms; ++k) rows.push_back(element(from, group.rank(), expert, i, k));
        }
      }
      permuted.insert(permuted.end(), rows.begin(), rows.end());
      const Matrix own = Product(rows, weights_of(group.rank(), expert), count, kTerms, kColumns);
      product.insert(product.end(), own.begin(), own.end());
    }
    Matrix weights;
    for (int64_t expert = 0; expert < kExperts; ++expert) {
      const Matrix one = weights_of(group.rank(), expert);
      weights.insert(weights.end(), one.begin(), one.end());
    }
    const aclDataType dtype = ACL_BF16;
    const HostOperand gmm_x(dtype, {sent, kTerms}, x);
    const HostOperand weight(dtype, {kExperts, kTerms, kColumns}, weights);
    const HostOperand y(dtype, {received, kColumns});
    const HostOperand moved(dtype, {received, kTerms});
    const HostOperand mm_x(dtype, {2, kTerms}, DrawnMatrix(30, rank.rank(), 2 * kTerms));
    const HostOperand mm_weight(dtype, {kTerms, kColumns}, weights_of(group.rank(), 0));
    const HostOperand mm_y(dtype, {2, kColumns});
    aclIntArray* const send_counts = aclCreateIntArray(send.data(), send.size());
    aclIntArray* const receive_counts = aclCreateIntArray(receive.data(), receive.size());
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnAlltoAllvGroupedMatMulGetWorkspaceSize(
              gmm_x.tensor(), weight.tensor(), nullptr, nullptr, mm_x.tensor(), mm_weight.tensor(),
              group.name(), ranks, send_counts, receive_counts, false, false, true, y.tensor(), mm_y.tensor(),
              moved.tensor(), size, executor);
        },
        aclnnAlltoAllvGroupedMatMul);
    moved.Expect(permuted, "permuted");
    y.Expect(product, "products");
    mm_y.Expect(
        Product(DrawnMatrix(30, rank.rank(), 2 * kTerms), weights_of(group.rank(), 0), 2, kTerms, kColumns),
        "own product");

    // Back: what came goes through the experts' matrices to where it was from, in the order of x.
    Matrix wanted;
    int64_t row = 0;
    for (int64_t to = 0; to < ranks; ++to) {
      for (int64_t expert = 0; expert < kExperts; ++expert) {
        const int64_t count = rows_of(group.rank(), to, expert);
        const Matrix one =
            Product(Rows(x, row, count, kTerms), weights_of(to, expert), count, kTerms, kColumns);
        wanted.insert(wanted.end(), one.begin(), one.end());
        row += count;
      }
    }
    const HostOperand back(dtype, {sent, kColumns});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnGroupedMatMulAlltoAllvGetWorkspaceSize(
              moved.tensor(), weight.tensor(), nullptr, nullptr, nullptr, nullptr, group.name(), ranks,
              receive_counts, send_counts, false, false, back.tensor(), nullptr, size, executor);
        },
        aclnnGroupedMatMulAlltoAllv);
    back.Expect(wanted, "back");
    aclDestroyIntArray(send_counts);
    aclDestroyIntArray(receive_counts);
  });
}

// Experts divided among the ranks of one communicator, each of them among those of another.
TEST_P(RankProducts, TwoCommunicators) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    const int64_t tp = group.size() == 4 ? 2 : 1;
    const int64_t ep = group.size() / tp;
    const int64_t me = group.rank() / tp;  // in the first communicator
    const int64_t part = group.rank() % tp;
    const HcclComm ep_comm =
        rank.Join(1 + static_cast<int>(part), static_cast<uint32_t>(ep), static_cast<uint32_t>(me));
    const HcclComm tp_comm =
        rank.Join(4 + static_cast<int>(me), static_cast<uint32_t>(tp), static_cast<uint32_t>(part));
    char ep_name[128] = {};
    char tp_name[128] = {};
    EXPECT_EQ(HcclGetCommName(ep_comm, ep_name), HCCL_SUCCESS);
    EXPECT_EQ(HcclGetCommName(tp_comm, tp_name), HCCL_SUCCESS);
    constexpr int64_t kExperts = 3;  // of a rank
    constexpr int64_t kRows = 4;
    constexpr int64_t kTerms = 6;
    constexpr int64_t kColumns = 8;
    const auto seed = [](int64_t one) { return static_cast<uint64_t>(one); };
    const auto world = [&](int64_t q, int64_t t) { return seed(q * tp + t); };
    for (const bool divides_rows : {false, true}) {
      const int64_t own_rows = divides_rows ? kRows / tp : kRows;
      const int64_t own_terms = divides_rows ? kTerms : kTerms / tp;
      const int64_t own_columns = divides_rows ? kColumns : kColumns / tp;
      const auto all_of = [&](int64_t q) { return DrawnMatrix(1, seed(q), kExperts * ep * kRows * kTerms); };
      Matrix x;
      for (int64_t e = 0; e < kExperts * ep; ++e) {
        for (int64_t c = 0; c < own_rows; ++c) {
          for (int64_t h = 0; h < own_terms; ++h) {
            const int64_t row = c + (divides_rows ? part * own_rows : 0);
            const int64_t term = h + (divides_rows ? 0 : part * own_terms);
            x.push_back(At(all_of(me), (e * kRows + row) * kTerms + term));
          }
        }
      }
      const Matrix weight = DrawnMatrix(2, rank.rank(), kExperts * kTerms * kColumns);
      const Matrix bias = DrawnMatrix(3, rank.rank(), kExperts * kColumns, -3, 3);
      Matrix gathered;
      Matrix product;
      for (int64_t j = 0; j < kExperts; ++j) {
        Matrix rows;
        for (int64_t q = 0; q < ep; ++q) {
          const Matrix theirs = Rows(all_of(q), (me * kExperts + j) * kRows, kRows, kTerms);
          rows.insert(rows.end(), theirs.begin(), theirs.end());
        }
        Matrix made = Product(rows, Rows(weight, j * kTerms, kTerms, kColumns), ep * kRows, kTerms, kColumns);
        for (size_t i = 0; i < made.size(); ++i)
          made[i] += At(bias, j * kColumns + static_cast<int64_t>(i) % kColumns);
        gathered.insert(gathered.end(), rows.begin(), rows.end());
        product.insert(product.end(), made.begin(), made.end());
      }
      Matrix activated = product;
      for (double& one : activated) one = std::max(one, 0.0);
      const HostOperand given(ACL_FLOAT16, {kExperts * ep, own_rows, own_terms}, x);
      const HostOperand weights(ACL_FLOAT16, {kExperts, kTerms, kColumns}, weight);
      const HostOperand biases(ACL_FLOAT16, {kExperts, 1, kColumns}, bias);
      const HostOperand y1(ACL_FLOAT16, {kExperts, ep * kRows, kColumns});
      const HostOperand y2(ACL_FLOAT16, {kExperts, ep * kRows, kTerms});
      const HostOperand y3(ACL_FLOAT16, {kExperts, ep * kRows, kColumns});
      for (const bool is_activated : {false, true}) {
        group.Works(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnAlltoAllAllGatherBatchMatMulGetWorkspaceSize(
                  given.tensor(), weights.tensor(), biases.tensor(), ep_name, tp_name, ep, tp,
                  divides_rows ? 1 : 0, is_activated ? 3 : 0, y1.tensor(), y2.tensor(),
                  is_activated ? y3.tensor() : nullptr, size, executor);
            },
            aclnnAlltoAllAllGatherBatchMatMul);
        y1.Expect(is_activated ? activated : product, "y1");
        y2.Expect(gathered, "y2");
      }
      y3.Expect(product, "y3");

      Matrix wanted;
      for (int64_t q = 0; q < ep; ++q) {
        for (int64_t j = 0; j < kExperts; ++j) {
          Matrix sum;
          for (int64_t t = 0; t < tp; ++t) {
            const Matrix left = Rows(DrawnMatrix(4, world(q, t), kExperts * ep * kRows * kTerms),
                                     j * ep * kRows, ep * kRows, kTerms);
            const Matrix right =
                Rows(DrawnMatrix(2, world(q, t), kExperts * kTerms * kColumns), j * kTerms, kTerms, kColumns);
            AddTo(sum, Product(left, right, ep * kRows, kTerms, kColumns));
          }
          const Matrix own_bias =
              Rows(DrawnMatrix(5, world(q, part), kExperts * own_columns, -3, 3), j, 1, own_columns);
          for (int64_t c = 0; c < own_rows; ++c) {
            for (int64_t h = 0; h < own_columns; ++h) {
              const int64_t row = me * kRows + c + (divides_rows ? part * own_rows : 0);
              const int64_t column = h + (divides_rows ? 0 : part * own_columns);
              wanted.push_back(At(sum, row * kColumns + column) + At(own_bias, h));
            }
          }
        }
      }
      const HostOperand rows(ACL_FLOAT16, {kExperts, ep * kRows, kTerms},
                             DrawnMatrix(4, rank.rank(), kExperts * ep * kRows * kTerms));
      const HostOperand own_biases(ACL_FLOAT16, {kExperts, own_columns},
                                   DrawnMatrix(5, rank.rank(), kExperts * own_columns, -3, 3));
      const HostOperand out(ACL_FLOAT16, {kExperts * ep, own_rows, own_columns});
      group.Works(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnBatchMatMulReduceScatterAlltoAllGetWorkspaceSize(
                rows.tensor(), weights.tensor(), own_biases.tensor(), ep_name, tp_name, ep, tp,
                divides_rows ? 1 : 0, out.tensor(), size, executor);
          },
          aclnnBatchMatMulReduceScatterAlltoAll);
      out.Expect(wanted, "scattered");
    }
    EXPECT_EQ(HcclCommDestroy(ep_comm), HCCL_SUCCESS);
    EXPECT_EQ(HcclCommDestroy(tp_comm), HCCL_SUCCESS);
  });
}

// Numbers whose sums round: all ranks have one result, which another run has, too.
TEST_P(RankProducts, OneResult) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    constexpr int64_t kRows = 33;
    constexpr int64_t kTerms = 65;
    constexpr int64_t kColumns = 301;
    const auto drawn = [&](uint64_t seed, int64_t count) {
      Matrix made = DrawnMatrix(seed, rank.rank(), count, -999, 999);
      for (double& one : made) one /= 512;
      return made;
    };
    const HostOperand x1(ACL_BF16, {kRows, kTerms}, drawn(1, kRows * kTerms));
    const HostOperand x2(ACL_BF16, {kTerms, kColumns}, drawn(2, kTerms * kColumns));
    const HostOperand out(ACL_BF16, {kRows, kColumns});
    std::vector<unsigned char> first;
    for (int run = 0; run < 3; ++run) {
      group.Works(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnMatmulAllReduceGetWorkspaceSize(x1.tensor(), x2.tensor(), nullptr, group.name(), kSum,
                                                        0, 1, out.tensor(), size, executor);
          },
          aclnnMatmulAllReduce);
      if (run == 0) first = out.bytes();
      EXPECT_EQ(out.bytes(), first);
    }
    const size_t bytes = first.size() - 1;
    std::vector<unsigned char> all(bytes * rank.size());
    EXPECT_EQ(
        HcclAllGather(first.data(), all.data(), bytes, HCCL_DATA_TYPE_UINT8, group.comm(), group.stream()),
        HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(group.stream()), ACL_SUCCESS);
    for (size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], first[i % bytes]) << i;
  });
}

}  // namespace
}  // namespace portacl::testing
