// Grouped products of codes of few bits whose rows travel between ranks, in 1, 2 and 4 processes, against loops over the numbers of all
// ranks: small numbers and powers of two, so that every sum is exact.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "aclnnop/families/communication.h"
#include "host_operand.h"

namespace portacl::testing {
namespace {

constexpr int64_t kOne = 127;  // the code of 2^0 as FLOAT8_E8M0
constexpr int64_t kExperts = 3;
constexpr int64_t kTerms = 70;  // two pairs of blocks of 32, the last of them of no terms
constexpr int64_t kPairs = 2;
constexpr int64_t kBlocks = 2 * kPairs;
constexpr int64_t kColumns = 6;
constexpr int64_t kOwnRows = 2;  // of the product that does not travel

// Processes of this test are of a product that has these operators.
class RankCodes : public ::testing::TestWithParam<uint32_t> {
 protected:
  void SetUp() override { setenv("PORTACL_SOC", "Ascend950PR_9579", 1); }
  void TearDown() override { unsetenv("PORTACL_SOC"); }
};
INSTANTIATE_TEST_SUITE_P(Processes, RankCodes, ::testing::Values(1u, 2u, 4u));

struct Form {
  const char* name;
  aclDataType dtype;
  aclDataType weights;
  unsigned char ones[2];  // the codes of 1, in rows and in weights
  unsigned char minus[2];
  int64_t mode;
  aclDataType out;
  bool is_transposed;
  bool is_second;  // the second version of the functions

  bool IsPacked() const { return dtype == ACL_FLOAT4_E2M1; }
  bool HasPowers() const { return mode == 6; }
};
const Form kForms[] = {
    {"e4m3", ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E4M3FN, {0x38, 0x38}, {0xB8, 0xB8}, 6, ACL_FLOAT16, false, false},
    {"e5m2 and e4m3",
     ACL_FLOAT8_E5M2,
     ACL_FLOAT8_E4M3FN,
     {0x3C, 0x38},
     {0xBC, 0xB8},
     6,
     ACL_BF16,
     true,
     true},
    {"e2m1", ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1, {0x2, 0x2}, {0xA, 0xA}, 6, ACL_FLOAT16, true, false},
    {"e2m1 of columns", ACL_FLOAT4_E2M1, ACL_FLOAT4_E2M1, {0x2, 0x2}, {0xA, 0xA}, 6, ACL_BF16, false, true},
    {"hif8", ACL_HIFLOAT8, ACL_HIFLOAT8, {0x08, 0x08}, {0x88, 0x88}, 1, ACL_FLOAT16, true, true},
    {"e4m3 and e5m2",
     ACL_FLOAT8_E4M3FN,
     ACL_FLOAT8_E5M2,
     {0x38, 0x3C},
     {0xB8, 0xBC},
     1,
     ACL_BF16,
     false,
     false},
};

// A dense tensor of codes of 8 or 4 bits.
class Codes {
 public:
  // Each of the numbers is -1, 0 or 1.
  Codes(const Form& form, int side, const std::vector<int64_t>& shape, const Matrix& numbers)
      : Codes(side == 0 ? form.dtype : form.weights, shape, CodesOf(form, side, numbers), form.IsPacked()) {}
  // These codes.
  Codes(aclDataType dtype, const std::vector<int64_t>& shape, const std::vector<unsigned char>& codes,
        bool is_packed = false) {
    for (size_t i = 0; i < codes.size(); ++i) {
      if (is_packed && i % 2 != 0) {
        bytes_.back() = static_cast<unsigned char>(bytes_.back() | codes[i] << 4);
      } else {
        bytes_.push_back(codes[i]);
      }
    }
    used_ = bytes_.size();
    bytes_.push_back(0x5A);
    tensor_ = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                              shape.size(), bytes_.data());
    EXPECT_NE(tensor_, nullptr);
  }
  ~Codes() { aclDestroyTensor(tensor_); }
  Codes(const Codes&) = delete;
  Codes& operator=(const Codes&) = delete;

  aclTensor* tensor() const { return tensor_; }
  void Expect(const Codes& other) const { EXPECT_EQ(bytes_, other.bytes_); }
  void Clear() { std::fill(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(used_), 0xEE); }

 private:
  static std::vector<unsigned char> CodesOf(const Form& form, int side, const Matrix& numbers) {
    std::vector<unsigned char> codes;
    for (const double number : numbers)
      codes.push_back(number == 0  ? static_cast<unsigned char>(0)
                      : number > 0 ? form.ones[side]
                                   : form.minus[side]);
    return codes;
  }

  std::vector<unsigned char> bytes_;
  size_t used_ = 0;
  aclTensor* tensor_ = nullptr;
};

// What all ranks can compute of each other's operands.
struct World {
  const Form& form;
  int64_t ranks;

  int64_t RowsOf(int64_t from, int64_t to, int64_t expert) const {
    return Drawn(9, static_cast<uint64_t>(from), static_cast<uint64_t>(to * kExperts + expert), 0, 4);
  }
  // A row that rank `from` sends, and its powers of two, of each block of terms.
  Matrix Row(int64_t from, int64_t to, int64_t expert, int64_t i) const {
    return DrawnMatrix(100 + static_cast<uint64_t>((to * kExperts + expert) * 8 + i),
                       static_cast<uint64_t>(from), kTerms);
  }
  Matrix Powers(int64_t from, int64_t to, int64_t expert, int64_t i) const {
    return DrawnMatrix(500 + static_cast<uint64_t>((to * kExperts + expert) * 8 + i),
                       static_cast<uint64_t>(from), kBlocks);
  }
  // Of an expert of a rank; -1 is the weight of the own product.
  Matrix Weights(int64_t rank, int64_t expert) const {
    return DrawnMatrix(20 + static_cast<uint64_t>(expert + 1), static_cast<uint64_t>(rank),
                       kTerms * kColumns);
  }
  Matrix WeightPowers(int64_t rank, int64_t expert) const {
    return DrawnMatrix(40 + static_cast<uint64_t>(expert + 1), static_cast<uint64_t>(rank),
                       kBlocks * kColumns);
  }
  // Scales of a rank's rows and weights with mode 1.
  double RowScale(int64_t rank) const { return rank % 2 == 0 ? 0.5 : 2; }
  double WeightScale(int64_t rank) const { return rank % 3 == 0 ? 1 : 0.25; }

  // A row times a matrix of a rank's.
  Matrix Times(const Matrix& row, const Matrix& powers, int64_t rank, int64_t expert) const {
    const Matrix weights = Weights(rank, expert);
    const Matrix of_weights = WeightPowers(rank, expert);
    Matrix made;
    for (int64_t n = 0; n < kColumns; ++n) {
      double sum = 0;
      for (int64_t k = 0; k < kTerms; ++k) {
        double term = At(row, k) * At(weights, k * kColumns + n);
        if (form.HasPowers()) term *= std::exp2(At(powers, k / 32) + At(of_weights, k / 32 * kColumns + n));
        sum += term;
      }
      if (!form.HasPowers()) sum *= RowScale(rank) * WeightScale(rank);
      made.push_back(form.out == ACL_BF16
                         ? DecodeFloat(kBfloat16, static_cast<uint16_t>(EncodeFloat(kBfloat16, sum)))
                         : DecodeFloat(kFloat16, static_cast<uint16_t>(EncodeFloat(kFloat16, sum))));
    }
    return made;
  }
};

void Append(Matrix& to, const Matrix& more) { to.insert(to.end(), more.begin(), more.end()); }

std::vector<unsigned char> PowerCodes(const Matrix& powers) {
  std::vector<unsigned char> codes;
  for (const double power : powers)
    codes.push_back(static_cast<unsigned char>(kOne + static_cast<int64_t>(power)));
  return codes;
}

// Matrices of [terms, columns] as they lie: transposed or not.
Matrix Lying(const Matrix& matrix, int64_t columns, bool is_transposed) {
  if (!is_transposed) return matrix;
  const int64_t terms = std::ssize(matrix) / columns;
  Matrix made;
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t k = 0; k < terms; ++k) made.push_back(At(matrix, k * columns + n));
  }
  return made;
}
// Powers of [blocks, columns] as they lie: [pairs, columns, 2], or transposed [columns, pairs, 2].
Matrix LyingPowers(const Matrix& powers, bool is_transposed) {
  Matrix made;
  for (int64_t i = 0; i < kPairs * kColumns; ++i) {
    const int64_t pair = is_transposed ? i % kPairs : i / kColumns;
    const int64_t column = is_transposed ? i / kPairs : i % kColumns;
    for (int64_t half = 0; half < 2; ++half)
      made.push_back(At(powers, (2 * pair + half) * kColumns + column));
  }
  return made;
}

// Scales of rows or weights: one FLOAT, or powers of two of this shape.
struct Scales {
  Scales(const Form& form, double number, const std::vector<int64_t>& shape, const Matrix& powers)
      : one(ACL_FLOAT, {1}, {number}),
        many(ACL_FLOAT8_E8M0, shape, PowerCodes(powers)),
        tensor(form.HasPowers() ? many.tensor() : one.tensor()) {}
  HostOperand one;
  Codes many;
  aclTensor* tensor;
};

class Counts {
 public:
  explicit Counts(const std::vector<int64_t>& values)
      : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~Counts() { aclDestroyIntArray(array_); }
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

void ThereAndBack(Group& group, const Form& form) {
  const World world{form, group.size()};
  const int64_t me = group.rank();
  std::vector<int64_t> send, receive;
  Matrix x, powers, wanted_back, permuted, permuted_powers, wanted;
  for (int64_t to = 0; to < world.ranks; ++to) {
    for (int64_t expert = 0; expert < kExperts; ++expert) {
      send.push_back(world.RowsOf(me, to, expert));
      receive.push_back(world.RowsOf(to, me, expert));
      for (int64_t i = 0; i < send.back(); ++i) {
        const Matrix row = world.Row(me, to, expert, i), of_row = world.Powers(me, to, expert, i);
        Append(x, row);
        Append(powers, of_row);
        Append(wanted_back, world.Times(row, of_row, to, expert));
      }
    }
  }
  Matrix weights, weight_powers;
  for (int64_t expert = 0; expert < kExperts; ++expert) {
    Append(weights, Lying(world.Weights(me, expert), kColumns, form.is_transposed));
    Append(weight_powers, LyingPowers(world.WeightPowers(me, expert), form.is_transposed));
    for (int64_t from = 0; from < world.ranks; ++from) {
      for (int64_t i = 0; i < world.RowsOf(from, me, expert); ++i) {
        const Matrix row = world.Row(from, me, expert, i), of_row = world.Powers(from, me, expert, i);
        Append(permuted, row);
        Append(permuted_powers, of_row);
        Append(wanted, world.Times(row, of_row, me, expert));
      }
    }
  }
  const int64_t sent = std::ssize(x) / kTerms, received = std::ssize(permuted) / kTerms;
  const bool is_transposed = form.is_transposed;
  const auto of = [&](int64_t terms, int64_t columns) {
    return is_transposed ? std::vector<int64_t>{columns, terms} : std::vector<int64_t>{terms, columns};
  };
  const auto with = [](int64_t first, std::vector<int64_t> shape, bool has_pairs = false) {
    shape.insert(shape.begin(), first);
    if (has_pairs) shape.push_back(2);
    return shape;
  };
  std::vector<int64_t> of_pairs = of(kPairs, kColumns);
  of_pairs.push_back(2);
  const Codes gmm_x(form, 0, {sent, kTerms}, x),
      weight(form, 1, with(kExperts, of(kTerms, kColumns)), weights);
  const Scales x_scale(form, world.RowScale(me), {sent, kPairs, 2}, powers);
  const Scales weight_scale(form, world.WeightScale(me), with(kExperts, of(kPairs, kColumns), true),
                            weight_powers);
  Matrix own, own_powers, own_wanted;
  for (int64_t i = 0; i < kOwnRows; ++i) {
    Append(own, world.Row(me, 7, 0, i));
    Append(own_powers, world.Powers(me, 7, 0, i));
    Append(own_wanted, world.Times(world.Row(me, 7, 0, i), world.Powers(me, 7, 0, i), me, -1));
  }
  const Codes mm_x(form, 0, {kOwnRows, kTerms}, own),
      mm_weight(form, 1, of(kTerms, kColumns), Lying(world.Weights(me, -1), kColumns, is_transposed));
  const Scales mm_x_scale(form, world.RowScale(me), {kOwnRows, kPairs, 2}, own_powers);
  const Scales mm_weight_scale(form, world.WeightScale(me), of_pairs,
                               LyingPowers(world.WeightPowers(me, -1), is_transposed));
  const HostOperand y(form.out, {received, kColumns}), mm_y(form.out, {kOwnRows, kColumns}),
      back(form.out, {sent, kColumns});
  const Codes in_order(form, 0, {received, kTerms}, permuted);
  Codes moved(form, 0, {received, kTerms}, permuted);
  moved.Clear();
  const Scales permuted_scale(form, world.RowScale(me), {received, kPairs, 2}, permuted_powers);
  const Counts send_counts(send), receive_counts(receive);
  const int64_t mode = form.mode, group_size = form.is_second && form.HasPowers() ? 4295032864 : 0;
  group.Works(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return form.is_second
                   ? aclnnAlltoAllvQuantGroupedMatMulV2GetWorkspaceSize(
                         gmm_x.tensor(), weight.tensor(), x_scale.tensor, weight_scale.tensor, nullptr,
                         nullptr, nullptr, nullptr, nullptr, nullptr, mode, mode, 0, 0, group.name(), "ccu",
                         world.ranks, send_counts, receive_counts, is_transposed, is_transposed, group_size,
                         false, y.tensor(), nullptr, nullptr, size, executor)
                   : aclnnAlltoAllvQuantGroupedMatMulGetWorkspaceSize(
                         gmm_x.tensor(), weight.tensor(), x_scale.tensor, weight_scale.tensor, nullptr,
                         nullptr, mm_x.tensor(), mm_weight.tensor(), mm_x_scale.tensor,
                         mm_weight_scale.tensor, mode, mode, mode, mode, group.name(), world.ranks,
                         send_counts, receive_counts, is_transposed, is_transposed, group_size, true,
                         y.tensor(), mm_y.tensor(), moved.tensor(), size, executor);
      },
      form.is_second ? aclnnAlltoAllvQuantGroupedMatMulV2 : aclnnAlltoAllvQuantGroupedMatMul);
  y.Expect(wanted, form.name);
  if (!form.is_second) {
    moved.Expect(in_order);
    mm_y.Expect(own_wanted, std::string("own product of ") + form.name);
  }
  group.Works(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return form.is_second
                   ? aclnnQuantGroupedMatMulAlltoAllvV2GetWorkspaceSize(
                         in_order.tensor(), weight.tensor(), permuted_scale.tensor, weight_scale.tensor,
                         nullptr, nullptr, mm_x.tensor(), mm_weight.tensor(), mm_x_scale.tensor,
                         mm_weight_scale.tensor, nullptr, mode, mode, mode, mode, 0, 0, group_size,
                         group.name(), "ccu", world.ranks, receive_counts, send_counts, is_transposed,
                         is_transposed, back.tensor(), mm_y.tensor(), size, executor)
                   : aclnnQuantGroupedMatMulAlltoAllvGetWorkspaceSize(
                         in_order.tensor(), weight.tensor(), permuted_scale.tensor, weight_scale.tensor,
                         nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, mode, mode, 0, 0, 0,
                         0, group_size, group.name(), world.ranks, receive_counts, send_counts, is_transposed,
                         is_transposed, back.tensor(), nullptr, size, executor);
      },
      form.is_second ? aclnnQuantGroupedMatMulAlltoAllvV2 : aclnnQuantGroupedMatMulAlltoAllv);
  back.Expect(wanted_back, std::string("back: ") + form.name);
  if (form.is_second) mm_y.Expect(own_wanted, std::string("own product of ") + form.name);
}

// Rows of every rank for every expert of every rank, also none, with scales of their own; there and back.
TEST_P(RankCodes, RowsOfExperts) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    for (const Form& form : kForms) ThereAndBack(group, form);
  });
}

// A call of one rank that sends each expert a row, and what may be changed in it.
struct OwnCall {
  explicit OwnCall(Group& of) : group(of) {}

  aclnnStatus Plan(bool is_behind, uint64_t* size, aclOpExecutor** executor) {
    const Counts counts({1, 1, 1});
    return is_behind
               ? aclnnAlltoAllvQuantGroupedMatMulGetWorkspaceSize(
                     x, w, x_scale, weight_scale, nullptr, nullptr, mm_x, nullptr, nullptr, nullptr, mode,
                     weight_mode, 0, 0, name == nullptr ? group.name() : name, ranks, counts, counts, false,
                     false, group_size, permutes, y.tensor(), nullptr, nullptr, size, executor)
               : aclnnQuantGroupedMatMulAlltoAllvGetWorkspaceSize(
                     x, w, x_scale, weight_scale, nullptr, nullptr, mm_x, nullptr, nullptr, nullptr,
                     comm_scale, mode, weight_mode, 0, 0, comm_mode, 0, group_size,
                     name == nullptr ? group.name() : name, ranks, counts, counts, false, false, y.tensor(),
                     nullptr, size, executor);
  }
  // Refused with a message that has these words, and nothing is left behind.
  void Expect(bool is_behind, aclnnStatus status, const std::string& words) {
    uint64_t size = 7;
    aclOpExecutor* executor = nullptr;
    Rank::Message();
    EXPECT_EQ(Plan(is_behind, &size, &executor), status) << words;
    EXPECT_NE(Rank::Message().find(words), std::string::npos) << words;
    EXPECT_EQ(executor, nullptr) << words;
    EXPECT_EQ(size, 7) << words;
  }

  Group& group;
  Codes rows{ACL_FLOAT8_E4M3FN, {3, 2}, {0x38, 0x38, 0x38, 0, 0xB8, 0}};
  Codes weight{ACL_FLOAT8_E4M3FN, {3, 2, 1}, {0x38, 0x38, 0x38, 0x38, 0x38, 0x38}};
  HostOperand scale{ACL_FLOAT, {1}, {2}}, scales{ACL_FLOAT, {2}, {1, 1}}, y{ACL_FLOAT16, {3, 1}};
  Codes powers{ACL_FLOAT8_E8M0, {3, 1, 2}, {127, 127, 127, 127, 127, 127}};
  aclTensor *x = rows.tensor(), *w = weight.tensor(), *x_scale = scale.tensor(),
            *weight_scale = scale.tensor(), *mm_x = nullptr, *comm_scale = nullptr;
  int64_t mode = 1, weight_mode = 1, comm_mode = 0, group_size = 0, ranks = 1;
  const char* name = nullptr;
  bool permutes = false;
};

// Arguments that do not go together are refused; the next right call is right.
TEST_P(RankCodes, Refused) {
  if (GetParam() != 1) return;
  InProcesses(1, [](Rank& rank) {
    Group group(rank);
    const Codes packed(ACL_FLOAT4_E2M1, {3, 3}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, true);
    const Codes packed_weight(ACL_FLOAT4_E2M1, {3, 3, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, true);
    const Codes powers_of_weight(ACL_FLOAT8_E8M0, {3, 1, 1, 2}, {127, 127, 127, 127, 127, 127});
    for (const bool is_behind : {true, false}) {
      const auto refused = [&](aclnnStatus status, const std::string& words,
                               const std::function<void(OwnCall&)>& change) {
        OwnCall call(group);
        change(call);
        call.Expect(is_behind, status, words);
      };
      refused(161001, "gmmX", [](OwnCall& call) { call.x = nullptr; });
      refused(161001, "gmmXScale", [](OwnCall& call) { call.x_scale = nullptr; });
      refused(161001, "gmmWeightScale", [](OwnCall& call) { call.weight_scale = nullptr; });
      refused(161001, "mmWeight", [](OwnCall& call) { call.mm_x = call.rows.tensor(); });
      refused(161001, "group", [](OwnCall& call) { call.name = ""; });
      refused(161002, "nobody", [](OwnCall& call) { call.name = "nobody"; });
      refused(161002, "gmmXQuantMode", [](OwnCall& call) { call.mode = 2; });
      refused(161002, "gmmWeightQuantMode", [](OwnCall& call) { call.weight_mode = 6; });
      refused(161002, "groupSize", [](OwnCall& call) { call.group_size = 32; });
      refused(161002, "groupSize", [](OwnCall& call) { call.group_size = 4295032864; });
      refused(161002, "gmmX", [&](OwnCall& call) { call.x = packed.tensor(); });
      refused(161002, "gmmX", [](OwnCall& call) { call.x = call.y.tensor(); });
      refused(161002, "gmmXScale", [](OwnCall& call) { call.x_scale = call.powers.tensor(); });
      refused(561002, "epWorldSize", [](OwnCall& call) { call.ranks = 2; });
      refused(561002, "gmmXScale", [](OwnCall& call) { call.x_scale = call.scales.tensor(); });
      refused(561002, "gmmWeightScale", [](OwnCall& call) { call.weight_scale = call.scales.tensor(); });
      refused(561002, "gmmWeightScale", [](OwnCall& call) {
        call.mode = call.weight_mode = 6;
        call.x_scale = call.weight_scale = call.powers.tensor();
      });
      refused(561002, "gmmX", [&](OwnCall& call) {  // rows of 4 bits that do not begin a byte
        call.mode = call.weight_mode = 6;
        call.x = packed.tensor();
        call.w = packed_weight.tensor();
        call.x_scale = call.powers.tensor();
        call.weight_scale = powers_of_weight.tensor();
      });
      if (is_behind) {
        refused(161001, "permuteOutFlag", [](OwnCall& call) { call.permutes = true; });
      } else {
        refused(161002, "commQuantMode", [](OwnCall& call) { call.comm_mode = 1; });
        refused(161002, "commQuantScale", [](OwnCall& call) { call.comm_scale = call.scale.tensor(); });
      }
      OwnCall right(group);
      group.Works(
          [&](uint64_t* size, aclOpExecutor** executor) { return right.Plan(is_behind, size, executor); },
          is_behind ? aclnnAlltoAllvQuantGroupedMatMul : aclnnQuantGroupedMatMulAlltoAllv);
      right.y.Expect({8, 4, -4}, "right");
    }
  });
}

// Other products do not have them.
TEST_P(RankCodes, OnAnotherProduct) {
  if (GetParam() != 1) return;
  setenv("PORTACL_SOC", "Ascend910B1", 1);
  InProcesses(1, [](Rank& rank) {
    Group group(rank);
    for (const bool is_behind : {true, false}) OwnCall(group).Expect(is_behind, 161002, "gmmX");
  });
}

}  // namespace
}  // namespace portacl::testing
