// Tokens sent to the ranks of their experts and back, in 1, 2 and 4 processes, against the order that the definition gives
// for the tokens of all ranks.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "aclnnop/families/communication.h"
#include "host_operand.h"

namespace portacl::testing {
namespace {

class ExpertRanks : public ::testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Processes, ExpertRanks, ::testing::Values(1u, 2u, 4u));

constexpr int64_t kChoices = 3;
constexpr int64_t kColumns = 20;

// What all ranks call with.
struct Setting {
  int64_t ranks = 1;
  int64_t experts_of_rank = 2;
  int64_t tokens = 5;
  int64_t shared_ranks = 0;  // each shared expert has one or two of them
  int64_t shared = 0;
  int64_t special = 0;
  int mask = 0;  // 0: none, 1: of tokens, 2: of choices

  int64_t Experts() const { return (ranks - shared_ranks) * experts_of_rank; }
  int64_t Id(int64_t rank, int64_t token, int64_t choice) const {
    const int64_t all = Experts() + special;
    const int64_t first = Drawn(1, static_cast<uint64_t>(rank), static_cast<uint64_t>(token), 0, all - 1);
    return (first + choice * (all > kChoices ? 1 + token % 2 : 1)) % all;
  }
  double X(int64_t rank, int64_t token, int64_t column) const {
    return static_cast<double>(
        Drawn(2, static_cast<uint64_t>(rank), static_cast<uint64_t>(token * kColumns + column), -20, 20));
  }
  double Scale(int64_t rank, int64_t token, int64_t choice) const {
    return static_cast<double>(Drawn(3, static_cast<uint64_t>(rank),
                                     static_cast<uint64_t>(token * kChoices + choice), 1, 4)) /
           4;
  }
  // Of tokens: the first ones but one; of choices: any.
  bool IsSent(int64_t rank, int64_t token, int64_t choice) const {
    if (mask == 1) return token + 1 < tokens;
    return mask == 0 ||
           Drawn(4, static_cast<uint64_t>(rank), static_cast<uint64_t>(token * kChoices + choice), 0, 2) > 0;
  }
  bool IsActive(int64_t rank, int64_t token) const {
    for (int64_t choice = 0; choice < kChoices; ++choice) {
      if (IsSent(rank, token, choice)) return true;
    }
    return false;
  }
};

struct Entry {
  int64_t rank, token, choice;
};

// The entries that an expert of a rank gets, from rank `from`.
std::vector<Entry> EntriesFor(const Setting& setting, int64_t rank, int64_t expert, int64_t from) {
  std::vector<Entry> entries;
  for (int64_t token = 0; token < setting.tokens; ++token) {
    if (rank < setting.shared_ranks) {
      const int64_t each = setting.shared_ranks / setting.shared;
      if (setting.IsActive(from, token) && from % each == rank % each)
        entries.push_back({from, token, kChoices + rank / each});
      continue;
    }
    const int64_t id = (rank - setting.shared_ranks) * setting.experts_of_rank + expert;
    for (int64_t choice = 0; choice < kChoices; ++choice) {
      if (setting.IsSent(from, token, choice) && setting.Id(from, token, choice) == id)
        entries.push_back({from, token, choice});
    }
  }
  return entries;
}

struct Operands {
  Operands(const Setting& setting, int64_t me)
      : x(ACL_BF16, {setting.tokens, kColumns},
          Filled(setting.tokens * kColumns,
                 [&](int64_t i) { return setting.X(me, i / kColumns, i % kColumns); })),
        ids(ACL_INT32, {setting.tokens, kChoices},
            Filled(
                setting.tokens * kChoices,
                [&](int64_t i) { return static_cast<double>(setting.Id(me, i / kChoices, i % kChoices)); })),
        scales(ACL_FLOAT, {setting.tokens, kChoices},
               Filled(setting.tokens * kChoices,
                      [&](int64_t i) { return setting.Scale(me, i / kChoices, i % kChoices); })),
        token_mask(ACL_BOOL, {setting.tokens},
                   Filled(setting.tokens, [&](int64_t i) { return setting.IsActive(me, i) ? 1.0 : 0.0; })),
        choice_mask(
            ACL_BOOL, {setting.tokens, kChoices},
            Filled(setting.tokens * kChoices,
                   [&](int64_t i) { return setting.IsSent(me, i / kChoices, i % kChoices) ? 1.0 : 0.0; })),
        mask(setting.mask == 0   ? nullptr
             : setting.mask == 1 ? token_mask.tensor()
                                 : choice_mask.tensor()) {}

  static Matrix Filled(int64_t count, const std::function<double(int64_t)>& value) {
    Matrix made;
    for (int64_t i = 0; i < count; ++i) made.push_back(value(i));
    return made;
  }

  HostOperand x, ids, scales, token_mask, choice_mask;
  const aclTensor* mask;
};

int64_t MostRows(const Setting& setting, int64_t me) {
  if (me < setting.shared_ranks) {
    const int64_t each = setting.shared_ranks / setting.shared;
    return setting.tokens * ((setting.ranks + each - 1) / each);
  }
  return setting.tokens * setting.ranks * std::min(setting.experts_of_rank, kChoices);
}

void ThereAndBack(Group& group, const Setting& setting, int64_t quant_mode) {
  const int64_t me = group.rank();
  const Operands given(setting, me);
  const bool is_shared = me < setting.shared_ranks;
  const int64_t own_experts = is_shared ? 1 : setting.experts_of_rank;
  const int64_t most = MostRows(setting, me);
  const int64_t special_each = setting.special / 3;
  const bool is_dynamic = quant_mode == 2;
  const HostOperand rows(is_dynamic ? ACL_INT8 : ACL_BF16, {most, kColumns});
  const HostOperand steps(ACL_FLOAT, {most});
  const HostOperand info(ACL_INT32, {3 * most});
  const HostOperand counts(ACL_INT64, {own_experts});
  const HostOperand received(ACL_INT32, {setting.ranks * own_experts});
  const HostOperand total(ACL_INT32, {1});
  const HostOperand row_scales(ACL_FLOAT, {most});
  group.Works(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnMoeDistributeDispatchV3GetWorkspaceSize(
            given.x.tensor(), given.ids.tensor(), nullptr, given.mask, given.scales.tensor(), nullptr,
            group.name(), setting.ranks, me, setting.Experts(), "", 0, 0, 0, setting.shared,
            setting.shared_ranks, quant_mode, 0, 1, "", special_each, special_each, special_each,
            rows.tensor(), steps.tensor(), info.tensor(), counts.tensor(), received.tensor(), total.tensor(),
            row_scales.tensor(), size, executor);
      },
      aclnnMoeDistributeDispatchV3);

  Matrix wanted_rows;
  Matrix wanted_info;
  Matrix wanted_counts;
  Matrix wanted_received;
  Matrix wanted_steps;
  int64_t row = 0;
  for (int64_t expert = 0; expert < own_experts; ++expert) {
    const int64_t begin = row;
    for (int64_t from = 0; from < setting.ranks; ++from) {
      for (const Entry& entry : EntriesFor(setting, me, expert, from)) {
        double greatest = 0;
        for (int64_t column = 0; column < kColumns; ++column)
          greatest = std::max(greatest, std::fabs(setting.X(from, entry.token, column)));
        const float steps_of_one = 127.0f / static_cast<float>(greatest);
        for (int64_t column = 0; column < kColumns; ++column) {
          const double value = setting.X(from, entry.token, column);
          wanted_rows.push_back(!is_dynamic       ? value
                                : greatest == 0.0 ? 0.0
                                                  : std::nearbyint(static_cast<float>(value) * steps_of_one));
        }
        wanted_steps.push_back(greatest == 0.0 ? 0.0 : static_cast<double>(1.0f / steps_of_one));
        for (const int64_t one : {entry.rank, entry.token, entry.choice})
          wanted_info.push_back(static_cast<double>(one));
        if (entry.choice < kChoices) {
          EXPECT_EQ(row_scales.Get(row), setting.Scale(from, entry.token, entry.choice));
        }
        ++row;
      }
      wanted_received.push_back(static_cast<double>(row));
    }
    wanted_counts.push_back(static_cast<double>(row - begin));
  }
  rows.Expect(wanted_rows, "rows");
  info.Expect(wanted_info, "triples");
  counts.Expect(wanted_counts, "counts");
  received.Expect(wanted_received, "received");
  total.Expect({static_cast<double>(row)}, "total");
  if (is_dynamic) return steps.Expect(wanted_steps, "steps");

  // What comes is doubled, tripled ... by the expert's number, and goes back.
  Matrix worked = wanted_rows;
  for (int64_t i = 0, expert = 0; i < row; ++i) {
    while (expert + 1 < own_experts &&
           static_cast<double>(i) >= At(wanted_received, (expert + 1) * setting.ranks - 1))
      ++expert;
    for (int64_t column = 0; column < kColumns; ++column)
      worked[static_cast<size_t>(i * kColumns + column)] *= static_cast<double>(expert + 1);
  }
  worked.resize(static_cast<size_t>(most * kColumns), 99);
  const HostOperand computed(ACL_BF16, {most, kColumns}, worked);
  const Matrix before(static_cast<size_t>(setting.tokens * kColumns), 77);
  const HostOperand out(ACL_BF16, {setting.tokens, kColumns}, before);
  const HostOperand added(ACL_BF16, {setting.tokens, kColumns}, Matrix(before.size(), 2));
  const Matrix alphas(static_cast<size_t>(special_each), 0.5);
  const HostOperand alpha1(ACL_BF16, {special_each}, alphas);
  const HostOperand alpha2(ACL_BF16, {special_each}, alphas);
  const HostOperand constant(ACL_BF16, {special_each, kColumns},
                             Matrix(static_cast<size_t>(special_each * kColumns), 8));
  const bool has_special = special_each > 0;
  const bool has_added = setting.shared_ranks == 0;
  const auto or_null = [&](const HostOperand& operand, bool is_there) {
    return is_there ? operand.tensor() : nullptr;
  };
  group.Works(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnMoeDistributeCombineV3GetWorkspaceSize(
            computed.tensor(), given.ids.tensor(), info.tensor(), received.tensor(), given.scales.tensor(),
            nullptr, given.mask, nullptr, nullptr, nullptr, nullptr, or_null(added, has_added), nullptr,
            or_null(given.x, has_special), or_null(alpha1, has_special), or_null(alpha2, has_special),
            or_null(constant, has_special), group.name(), setting.ranks, me, setting.Experts(), "", 0, 0, 0,
            setting.shared, setting.shared_ranks, 0, 0, 0, 0, "", special_each, special_each, special_each,
            out.tensor(), size, executor);
      },
      aclnnMoeDistributeCombineV3);
  for (int64_t token = 0; token < setting.tokens; ++token) {
    for (int64_t column = 0; column < kColumns; ++column) {
      const double x = setting.X(me, token, column);
      double sum = 0;
      for (int64_t choice = 0; choice < kChoices; ++choice) {
        if (!setting.IsSent(me, token, choice)) continue;
        const int64_t id = setting.Id(me, token, choice);
        const int64_t kind =
            has_special && id >= setting.Experts() ? (id - setting.Experts()) / special_each : -1;
        const double value = kind < 0    ? x * static_cast<double>(id % setting.experts_of_rank + 1)
                             : kind == 0 ? 0
                             : kind == 1 ? x
                                         : 0.5 * x + 4;
        sum += setting.Scale(me, token, choice) * value;
      }
      sum += static_cast<double>(setting.shared_ranks > 0 ? setting.shared : 0) * x + (has_added ? 2 : 0);
      const double rounded = DecodeFloat(kBfloat16, static_cast<uint16_t>(EncodeFloat(kBfloat16, sum)));
      ASSERT_EQ(out.Get(token * kColumns + column), setting.IsActive(me, token) ? rounded : 77)
          << token << ", " << column;
    }
  }
}

TEST_P(ExpertRanks, ThereAndBack) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Setting setting;
    setting.ranks = group.size();
    for (const int mask : {0, 1, 2}) {
      for (const int64_t special : {int64_t{0}, int64_t{3}}) {
        for (const int64_t tokens : {int64_t{1}, int64_t{5}, int64_t{300}}) {
          setting.mask = mask;
          setting.special = special;
          setting.tokens = tokens;
          setting.experts_of_rank = group.size() == 1 ? 4 : 2;
          ThereAndBack(group, setting, 0);
        }
      }
    }
    ThereAndBack(group, setting, 2);
  });
}

TEST_P(ExpertRanks, SharedExperts) {
  if (GetParam() < 2) return;  // one rank holds routed experts at least
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Setting setting;
    setting.ranks = group.size();
    setting.experts_of_rank = 4;
    for (const int mask : {0, 1, 2}) {
      setting.mask = mask;
      setting.shared_ranks = group.size() == 2 ? 1 : 2;
      for (setting.shared = 1; setting.shared <= setting.shared_ranks; ++setting.shared)
        ThereAndBack(group, setting, 0);
    }
  });
}

// The first versions: expandIdx counts the choices before one that have its expert.
TEST_P(ExpertRanks, FirstVersions) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Setting setting;
    setting.ranks = group.size();
    setting.experts_of_rank = 4;
    setting.tokens = 9;
    const int64_t me = group.rank();
    const Operands given(setting, me);
    const int64_t most = MostRows(setting, me);
    const HostOperand rows(ACL_BF16, {most, kColumns}, Matrix(static_cast<size_t>(most * kColumns), 1));
    const HostOperand index(ACL_INT32, {setting.tokens * kChoices});
    const HostOperand counts(ACL_INT64, {setting.experts_of_rank});
    const HostOperand received(ACL_INT32, {setting.ranks * setting.experts_of_rank});
    const HostOperand total(ACL_INT32, {1});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMoeDistributeDispatchGetWorkspaceSize(
              given.x.tensor(), given.ids.tensor(), nullptr, nullptr, nullptr, group.name(), setting.ranks,
              me, setting.Experts(), "", 0, 0, 0, 0, 0, 0, 0, 0, rows.tensor(), nullptr, index.tensor(),
              counts.tensor(), received.tensor(), total.tensor(), nullptr, size, executor);
        },
        aclnnMoeDistributeDispatch);
    Matrix wanted;
    std::vector<int64_t> seen(static_cast<size_t>(setting.Experts()));
    for (int64_t i = 0; i < setting.tokens * kChoices; ++i)
      wanted.push_back(
          static_cast<double>(seen[static_cast<size_t>(setting.Id(me, i / kChoices, i % kChoices))]++));
    index.Expect(wanted, "expandIdx");
    // expertTokenNumsType 0: sums up to each expert.
    Matrix sums;
    for (int64_t expert = 0; expert < setting.experts_of_rank; ++expert)
      sums.push_back(received.Get((expert + 1) * setting.ranks - 1));
    counts.Expect(sums, "counts");
    const HostOperand out(ACL_BF16, {setting.tokens, kColumns});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMoeDistributeCombineGetWorkspaceSize(
              rows.tensor(), given.ids.tensor(), index.tensor(), received.tensor(), given.scales.tensor(),
              nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, group.name(), setting.ranks, me,
              setting.Experts(), "", 0, 0, 0, 0, 0, 0, 0, 0, 0, out.tensor(), size, executor);
        },
        aclnnMoeDistributeCombine);
    for (int64_t i = 0; i < setting.tokens * kColumns; ++i) {
      double sum = 0;
      for (int64_t choice = 0; choice < kChoices; ++choice)
        sum += setting.Scale(me, i / kColumns, choice) * setting.X(me, i / kColumns, i % kColumns);
      ASSERT_EQ(out.Get(i), DecodeFloat(kBfloat16, static_cast<uint16_t>(EncodeFloat(kBfloat16, sum)))) << i;
    }
  });
}

// The sum that comes back is added to another and normed; every operation of float32 on it is exact or rounded once.
TEST_P(ExpertRanks, Norms) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Setting setting;
    setting.ranks = group.size();
    setting.experts_of_rank = 4;
    setting.tokens = 7;
    const int64_t me = group.rank();
    const Operands given(setting, me);
    const int64_t most = MostRows(setting, me);
    const HostOperand rows(ACL_BF16, {most, kColumns});
    const HostOperand info(ACL_INT32, {3 * most});
    const HostOperand counts(ACL_INT64, {setting.experts_of_rank});
    const HostOperand received(ACL_INT32, {setting.ranks * setting.experts_of_rank});
    const HostOperand total(ACL_INT32, {1});
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMoeDistributeDispatchV2GetWorkspaceSize(
              given.x.tensor(), given.ids.tensor(), nullptr, nullptr, nullptr, group.name(), setting.ranks,
              me, setting.Experts(), "", 0, 0, 0, 1, 0, 0, 0, 1, "", rows.tensor(), nullptr, info.tensor(),
              counts.tensor(), received.tensor(), total.tensor(), nullptr, size, executor);
        },
        aclnnMoeDistributeDispatchV2);
    const Matrix residual = DrawnMatrix(40, rank.rank(), setting.tokens * kColumns, -6, 6);
    const Matrix gamma = DrawnMatrix(41, 0, kColumns, 1, 3);
    const std::vector<int64_t> shape = {setting.tokens, 1, kColumns};
    const HostOperand other(ACL_BF16, shape, residual);
    const HostOperand gammas(ACL_BF16, {kColumns}, gamma);
    const HostOperand y(ACL_BF16, shape);
    const HostOperand reciprocal(ACL_FLOAT, {setting.tokens, 1, 1});
    const HostOperand sums(ACL_BF16, shape);
    constexpr float kEpsilon = 0.5f;
    group.Works(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnMoeDistributeCombineAddRmsNormGetWorkspaceSize(
              rows.tensor(), given.ids.tensor(), info.tensor(), received.tensor(), given.scales.tensor(),
              other.tensor(), gammas.tensor(), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
              group.name(), setting.ranks, me, setting.Experts(), "", 0, 0, 0, 1, 0, 0, 0, 0, 0, "", kEpsilon,
              y.tensor(), reciprocal.tensor(), sums.tensor(), size, executor);
        },
        aclnnMoeDistributeCombineAddRmsNorm);
    const auto rounded = [](double value) {
      return DecodeFloat(kBfloat16, static_cast<uint16_t>(EncodeFloat(kBfloat16, value)));
    };
    for (int64_t token = 0; token < setting.tokens; ++token) {
      Matrix sum;
      double squares = 0;
      for (int64_t column = 0; column < kColumns; ++column) {
        double value = At(residual, token * kColumns + column);
        for (int64_t choice = 0; choice < kChoices; ++choice)
          value += setting.Scale(me, token, choice) * setting.X(me, token, column);
        sum.push_back(value);
        squares += value * value;
      }
      const auto factor = static_cast<float>(1.0 / std::sqrt(squares / kColumns + 0.5));
      ASSERT_EQ(reciprocal.Get(token), static_cast<double>(factor)) << token;
      for (int64_t column = 0; column < kColumns; ++column) {
        const int64_t i = token * kColumns + column;
        ASSERT_EQ(sums.Get(i), rounded(At(sum, column))) << i;
        const double quotient = rounded(static_cast<float>(At(sum, column)) * factor);
        ASSERT_EQ(y.Get(i), rounded(static_cast<float>(quotient) * static_cast<float>(At(gamma, column))))
            << i;
      }
    }
  });
}

// Numbers that do not go together are refused; the next right call is right.
TEST_P(ExpertRanks, Refused) {
  InProcesses(GetParam(), [](Rank& rank) {
    Group group(rank);
    Setting setting;
    setting.ranks = group.size();
    setting.experts_of_rank = 4;
    const int64_t me = group.rank();
    const Operands given(setting, me);
    const int64_t most = MostRows(setting, me);
    const HostOperand rows(ACL_BF16, {most, kColumns});
    const HostOperand short_rows(ACL_BF16, {most - 1, kColumns});
    const HostOperand info(ACL_INT32, {3 * most});
    const HostOperand counts(ACL_INT64, {setting.experts_of_rank});
    const HostOperand received(ACL_INT32, {setting.ranks * setting.experts_of_rank});
    const HostOperand total(ACL_INT32, {1});
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto call = [&](const char* name, int64_t ranks, int64_t own, int64_t tp, int64_t mode,
                          const HostOperand& to) {
      return aclnnMoeDistributeDispatchV2GetWorkspaceSize(
          given.x.tensor(), given.ids.tensor(), nullptr, nullptr, nullptr, name, ranks, own,
          setting.Experts(), "", tp, 0, 0, 0, 0, mode, 0, 1, "", to.tensor(), nullptr, info.tensor(),
          counts.tensor(), received.tensor(), total.tensor(), nullptr, &size, &executor);
    };
    EXPECT_EQ(call(nullptr, setting.ranks, me, 0, 0, rows), 161001);
    EXPECT_EQ(call("", setting.ranks, me, 0, 0, rows), 161001);
    EXPECT_EQ(call(std::string(128, 'n').c_str(), setting.ranks, me, 0, 0, rows), 161001);
    EXPECT_EQ(call("another", setting.ranks, me, 0, 0, rows), 161002);
    EXPECT_EQ(call(group.name(), setting.ranks + 1, me, 0, 0, rows), 561002);
    EXPECT_NE(Rank::Message().find("epWorldSize"), std::string::npos) << Rank::Message();
    EXPECT_EQ(call(group.name(), setting.ranks, me + 1, 0, 0, rows), 561002);
    EXPECT_EQ(call(group.name(), setting.ranks, me, 2, 0, rows), 561103);
    EXPECT_EQ(call(group.name(), setting.ranks, me, 0, 2, rows), 161001);  // dynamicScales is null
    EXPECT_EQ(call(group.name(), setting.ranks, me, 0, 1, rows), 561002);
    EXPECT_EQ(call(group.name(), setting.ranks, me, 0, 0, short_rows), 561002);
    EXPECT_NE(Rank::Message().find("expandX"), std::string::npos) << Rank::Message();
    EXPECT_EQ(executor, nullptr);
    ThereAndBack(group, setting, 0);
  });
}

}  // namespace
}  // namespace portacl::testing
