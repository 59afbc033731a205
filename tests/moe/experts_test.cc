// Counts of experts, rows of many ranks, copies of experts: checks, elements against the definition, and bad numbers.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"

namespace portacl::testing {
namespace {

OperatorSpec Counts() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeComputeExpertTokens);
  op.valid = {TensorArg("sortedExperts", {4}, ACL_INT32), IntegerArg("numExperts", 3),
              OutputArg("out", {3}, ACL_INT32)};
  op.takes_workspace = true;
  const auto takes = [](const PlanCall& call, DtypeNumber dtype) {
    return IsOnA2OrA3(call) && dtype == ACL_INT32;
  };
  op.rules = {NoNulls("sortedExperts out"), RefusedDtype("sortedExperts", takes), RefusedDtype("out", takes),
              Refuses(561002, "", [](PlanCall& call) {
                const int64_t count = call["numExperts"].integer;
                return call["sortedExperts"].shape.size() != 1 || call["out"].shape.size() != 1 ||
                       count < 1 || count > 2048 || call["out"].shape[0] < count;
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t count = random.Between(1, 20);
    call["sortedExperts"] = DistinctArg("sortedExperts", {random.Between(0, 40)}, ACL_INT32);
    call["numExperts"].integer = count;
    call["out"] = OutputArg("out", {count + (random.Chance(30) ? 3 : 0)}, ACL_INT32);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    std::vector<int64_t> sorted;
    for (int64_t i = 0; i < tensors[0].size(); ++i) sorted.push_back(random.Between(-1, 22));
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      EncodeIntegerElement(ACL_INT32, sorted[static_cast<size_t>(i)], tensors[0].Element(i));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers sorted(call, tensors, "sortedExperts");
    std::vector<int64_t> counts;
    for (int64_t e = 0; e < call["numExperts"].integer; ++e) {
      counts.push_back(0);
      for (int64_t i = 0; i < sorted.size(); ++i) counts.back() += sorted.Integer(i) <= e ? 1 : 0;
    }
    return std::vector<Outcome>{EncodedIntegers(ACL_INT32, counts)};
  };
  return op;
}

OperatorSpec Reroute() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeReRouting);
  op.valid = {TensorArg("tokens", {4, 3}, ACL_FLOAT16),
              DistinctArg("expertTokenNumPerRank", {2, 3}, ACL_INT64),
              TensorArg("perTokenScalesOptional", {4}),
              IntegerArg("expertTokenNumType", 1),
              IntegerArg("idxType", 0),
              OutputArg("permuteTokensOut", {4, 3}, ACL_FLOAT16),
              OutputArg("permutePerTokenScalesOut", {4}),
              OutputArg("permuteTokenIdxOut", {4}, ACL_INT32),
              OutputArg("expertTokenNumOut", {3}, ACL_INT64)};
  op.takes_workspace = true;
  const DtypeList whole = {ACL_FLOAT16, ACL_BF16, ACL_INT8};
  const DtypeList bytes = {ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E5M2, ACL_HIFLOAT8};
  const DtypeList pairs = {ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2};  // two of a byte
  Listed moved = {{}, whole, bytes};
  moved.on_950.insert(moved.on_950.end(), pairs.begin(), pairs.end());
  op.rules = {
      NoNulls("tokens expertTokenNumPerRank permuteTokensOut permutePerTokenScalesOut permuteTokenIdxOut "
              "expertTokenNumOut"),
      DtypeIn("tokens", moved),
      DtypeIn("expertTokenNumPerRank", kEitherIndex),
      Given("perTokenScalesOptional", DtypeIn("perTokenScalesOptional", kFloatAlone)),
      SameDtype("tokens", "permuteTokensOut"),
      DtypeIn("permutePerTokenScalesOut", kFloatAlone),
      DtypeIn("permuteTokenIdxOut", kInt32Alone),
      SameDtype("expertTokenNumPerRank", "expertTokenNumOut"),
      Refuses(561002, "", [=](PlanCall& call) {
        const Shape& tokens = call["tokens"].shape;
        const Shape& counts = call["expertTokenNumPerRank"].shape;
        const int64_t type = call["idxType"].integer;
        if (tokens.size() != 2 || counts.size() != 2 || call["expertTokenNumType"].integer != 1) return true;
        if (std::count(pairs.begin(), pairs.end(), call["tokens"].dtype) != 0 && tokens[1] % 2 != 0)
          return true;
        if (type < 0 || type > (IsOn950(call) ? 1 : 0)) return true;
        const Shape rows = {tokens[0]};
        if (!call["perTokenScalesOptional"].null &&
            (call["perTokenScalesOptional"].shape != rows || call["permutePerTokenScalesOut"].shape != rows))
          return true;
        return call["permuteTokensOut"].shape != tokens || call["permuteTokenIdxOut"].shape != rows ||
               call["expertTokenNumOut"].shape != Shape{counts[1]};
      })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t rows = random.Between(1, 12);
    const int64_t columns = DrawColumns(random);
    const DtypeNumber dtype = DrawDtype(random, random.Chance(50) ? whole : bytes);
    const DtypeNumber of_counts = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    const int64_t experts = random.Between(1, 4);
    call["tokens"] = TensorArg("tokens", {rows, columns}, dtype);
    call["expertTokenNumPerRank"] =
        DistinctArg("expertTokenNumPerRank", {random.Between(1, 4), experts}, of_counts);
    call["perTokenScalesOptional"].shape = {rows};
    call["perTokenScalesOptional"].null = random.Chance(40);
    call["idxType"].integer = random.Below(2);
    call["permuteTokensOut"] = OutputArg("permuteTokensOut", {rows, columns}, dtype);
    call["permutePerTokenScalesOut"] = OutputArg("permutePerTokenScalesOut", {rows});
    call["permuteTokenIdxOut"] = OutputArg("permuteTokenIdxOut", {rows}, ACL_INT32);
    call["expertTokenNumOut"] = OutputArg("expertTokenNumOut", {experts}, of_counts);
  };
  op.numbers_on = Product::k950;
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    // Counts that have all rows, or not all of them.
    SetIntegers(tensors[1], 0, 0, random);
    const int64_t rows = tensors[0].shape()[0] - (random.Chance(20) ? 1 : 0);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t cell = random.Below(tensors[1].size());
      EncodeIntegerElement(tensors[1].dtype(), tensors[1].Integer(cell) + 1, tensors[1].Element(cell));
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers tokens(call, tensors, "tokens");
    const Numbers counts(call, tensors, "expertTokenNumPerRank");
    const Numbers scales(call, tensors, "perTokenScalesOptional");
    const int64_t rows = tokens.shape()[0];
    const int64_t columns = tokens.shape()[1];
    const int64_t ranks = counts.shape()[0];
    const int64_t experts = counts.shape()[1];
    std::vector<int64_t> source;
    std::vector<int64_t> totals;
    for (int64_t e = 0; e < experts; ++e) {
      totals.push_back(0);
      for (int64_t rank = 0; rank < ranks; ++rank) {
        int64_t begin = 0;
        for (int64_t cell = 0; cell < rank * experts + e; ++cell) begin += counts.Integer(cell);
        const int64_t size = counts.Integer(rank * experts + e);
        totals.back() += size;
        for (int64_t i = 0; i < size; ++i) source.push_back(begin + i);
      }
    }
    source.resize(static_cast<size_t>(rows), -1);
    std::vector<int64_t> went(source.size(), -1);
    Outcome rerouted;
    Outcome of_scales;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t from = source[static_cast<size_t>(row)];
      if (from >= 0) went[static_cast<size_t>(from)] = row;
      for (int64_t h = 0; h < columns; ++h)
        rerouted.emplace_back(from >= 0 ? tokens.Bytes(from * columns + h)
                                        : Element(static_cast<size_t>(ElementSize(tokens.dtype()))));
      if (scales.is_given()) of_scales.emplace_back(from >= 0 ? scales.Bytes(from) : Encoded(ACL_FLOAT, 0));
    }
    return std::vector<Outcome>{rerouted, of_scales,
                                EncodedIntegers(ACL_INT32, call["idxType"].integer == 0 ? source : went),
                                EncodedIntegers(counts.dtype(), totals)};
  };
  return op;
}

OperatorSpec Update() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnMoeUpdateExpert);
  op.valid = {TensorArg("expertIds", {2, 3}, ACL_INT32),
              TensorArg("eplbTable", {4, 3}, ACL_INT32),
              TensorArg("expertScalesOptional", {2, 3}),
              TensorArg("pruningThresholdOptional", {3}),
              TensorArg("activeMaskOptional", {2}, ACL_BOOL),
              IntegerArg("localRankId", 1),
              IntegerArg("worldSize", 2),
              IntegerArg("balanceMode", 0),
              OutputArg("balancedExpertIds", {2, 3}, ACL_INT32),
              OutputArg("balancedActiveMask", {2, 3}, ACL_BOOL)};
  op.takes_workspace = true;
  op.rules = {
      NoNulls("expertIds eplbTable balancedExpertIds balancedActiveMask"),
      RefusedDtype("expertIds",
                   [](const PlanCall& call, DtypeNumber dtype) {
                     return (call.product == Product::kA3 || IsOn950(call)) &&
                            (dtype == ACL_INT32 || dtype == ACL_INT64);
                   }),
      DtypeIn("eplbTable", kInt32Alone),
      Given("expertScalesOptional", DtypeIn("expertScalesOptional", {kRowDtypes})),
      Given("pruningThresholdOptional", DtypeIn("pruningThresholdOptional", kFloatAlone)),
      Given("activeMaskOptional", DtypeIn("activeMaskOptional", {{ACL_BOOL}})),
      SameDtype("expertIds", "balancedExpertIds"),
      DtypeIn("balancedActiveMask", {{ACL_BOOL}}),
      Refuses(561002, "",
              [](PlanCall& call) {
                const Shape& ids = call["expertIds"].shape;
                const Shape& table = call["eplbTable"].shape;
                const int64_t world = call["worldSize"].integer;
                const int64_t rank = call["localRankId"].integer;
                const int64_t mode = call["balanceMode"].integer;
                if (ids.size() != 2 || table.size() != 2 || ids[0] > 512 || ids[1] > 16) return true;
                if (world < 1 || rank < 0 || rank >= world || mode < 0 || mode > 1) return true;
                if (table[0] < 1 || table[1] < 2 || table[1] > world + 1) return true;
                const bool has_scores = !call["expertScalesOptional"].null;
                const bool has_threshold = !call["pruningThresholdOptional"].null;
                const Shape& threshold = call["pruningThresholdOptional"].shape;
                if (has_scores && call["expertScalesOptional"].shape != ids) return true;
                if (has_threshold && threshold != Shape{ids[1]} && threshold != Shape{1, ids[1]}) return true;
                if (!call["activeMaskOptional"].null &&
                    (!has_scores || !has_threshold || call["activeMaskOptional"].shape != Shape{ids[0]}))
                  return true;
                return call["balancedExpertIds"].shape != ids ||
                       (has_scores && has_threshold && call["balancedActiveMask"].shape != ids);
              }),
      DoneIfEmpty("expertIds")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t n = random.Between(1, 9);
    const int64_t k = random.Between(1, 5);
    const int64_t world = random.Between(1, 8);
    const DtypeNumber dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    call["expertIds"] = TensorArg("expertIds", {n, k}, dtype);
    call["eplbTable"] =
        DistinctArg("eplbTable", {random.Between(1, 6), random.Between(2, world + 1)}, ACL_INT32);
    call["expertScalesOptional"] = TensorArg("expertScalesOptional", {n, k}, DrawDtype(random, kRowDtypes));
    call["expertScalesOptional"].null = random.Chance(30);
    call["pruningThresholdOptional"] =
        TensorArg("pruningThresholdOptional", random.Chance(50) ? Shape{k} : Shape{1, k});
    call["pruningThresholdOptional"].null = random.Chance(30);
    call["activeMaskOptional"] = TensorArg("activeMaskOptional", {n}, ACL_BOOL);
    call["activeMaskOptional"].null =
        call["expertScalesOptional"].null || call["pruningThresholdOptional"].null || random.Chance(40);
    call["localRankId"].integer = random.Below(world);
    call["worldSize"].integer = world;
    call["balanceMode"].integer = random.Below(2);
    call["balancedExpertIds"] = OutputArg("balancedExpertIds", {n, k}, dtype);
    call["balancedActiveMask"] = OutputArg("balancedActiveMask", {n, k}, ACL_BOOL);
  };
  op.numbers_on = Product::kA3;
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetIntegers(tensors[0], 0, call["eplbTable"].shape[0], random);
    SetIntegers(tensors[1], 0, 60, random);
    const int64_t columns = call["eplbTable"].shape[1];
    for (int64_t e = 0; e < call["eplbTable"].shape[0]; ++e)
      EncodeIntegerElement(ACL_INT32, random.Between(1, columns - 1), tensors[1].Element(e * columns));
    for (int64_t i = 0; i < tensors[2].size(); ++i)
      tensors[2].Set(i, static_cast<double>(random.Between(0, 16)) / 16);
    for (int64_t i = 0; i < tensors[3].size(); ++i)
      tensors[3].Set(i, static_cast<double>(random.Between(0, 4)) / 8);
    SetIntegers(tensors[4], 0, 2, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers ids(call, tensors, "expertIds");
    const Numbers table(call, tensors, "eplbTable");
    const Numbers scores(call, tensors, "expertScalesOptional");
    const Numbers threshold(call, tensors, "pruningThresholdOptional");
    const Numbers active(call, tensors, "activeMaskOptional");
    const int64_t k = ids.shape()[1];
    const int64_t columns = table.shape()[1];
    std::vector<int64_t> chosen;
    std::vector<int64_t> kept;
    for (int64_t p = 0; p < ids.size(); ++p) {
      const int64_t row = ids.Integer(p) * columns;
      const int64_t copies = table.Integer(row);
      const int64_t world = call["worldSize"].integer;
      const int64_t share = (world + copies - 1) / copies;
      const int64_t copy = copies == 1                        ? 0
                           : call["balanceMode"].integer == 1 ? p / k % copies
                                                              : call["localRankId"].integer / share;
      chosen.push_back(table.Integer(row + 1 + copy));
      double sum = 0;
      for (int64_t j = 0; j < k; ++j) sum += scores[p / k * k + j];
      kept.push_back((!active.is_given() || active.Integer(p / k) != 0) &&
                     scores[p] >= threshold[p % k] * sum);
    }
    const bool prunes = scores.is_given() && threshold.is_given();
    return std::vector<Outcome>{EncodedIntegers(ids.dtype(), chosen),
                                prunes ? EncodedIntegers(ACL_BOOL, kept) : Outcome{}};
  };
  return op;
}

const OperatorSpec kOperators[] = {Counts(), Reroute(), Update()};
PORTACL_OPERATOR_TESTS(Experts, kOperators);

TEST(ExpertsBad, CountsThatDoNotAddUpFailTheStream) {
  std::vector<int8_t> tokens = {1, 2, 3};
  std::vector<int8_t> moved(3);
  std::vector<float> scales(3);
  std::vector<int32_t> index(3);
  std::vector<int64_t> totals(2);
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const auto dense = [](const Shape& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  for (const int64_t bad : {int64_t{-5}, int64_t{4}, INT64_MAX, INT64_MIN}) {
    std::vector<int64_t> counts = {1, bad};
    aclTensor* const tensors[] = {
        dense({3, 1}, ACL_INT8, tokens.data()), dense({1, 2}, ACL_INT64, counts.data()),
        dense({3, 1}, ACL_INT8, moved.data()),  dense({3}, ACL_FLOAT, scales.data()),
        dense({3}, ACL_INT32, index.data()),    dense({2}, ACL_INT64, totals.data())};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMoeReRoutingGetWorkspaceSize(tensors[0], tensors[1], nullptr, 1, 0, tensors[2], tensors[3],
                                                tensors[4], tensors[5], &size, &executor),
              0)
        << TakeErrorMessage();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnMoeReRouting(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find("aclnnMoeReRouting: expertTokenNumPerRank has the value " + std::to_string(bad) +
                           " at element 1, accepted: 0 to 3."),
              std::string::npos)
        << message;
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    EXPECT_EQ(moved, bad > 0 ? (std::vector<int8_t>{1, 2, 3}) : (std::vector<int8_t>{1, 0, 0})) << bad;
    for (aclTensor* const tensor : tensors) aclDestroyTensor(tensor);
  }
}

// Three rows of four codes, from two ranks with two experts: of the first rank none and 1, of the second 1 and 1.
TEST(ExpertsByHand, RowsOfFloat4) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "Ascend950PR_9599"}});
  for (const aclDataType dtype : {ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2}) {
    Made made;
    std::vector<uint8_t> tokens = {0x10, 0x32, 0x54, 0x76, 0x98, 0xBA};
    std::vector<uint8_t> moved(tokens.size(), 0xEE);
    std::vector<int64_t> counts = {0, 1, 1, 1};
    std::vector<float> scales = {0.5f, 1.5f, 2.5f};
    std::vector<float> moved_scales(3);
    std::vector<int32_t> index(3);
    std::vector<int64_t> totals(2);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const auto plan = [&](int64_t columns) {
      const Shape shape = {3, columns};
      return aclnnMoeReRoutingGetWorkspaceSize(
          made.Dense(shape, dtype, tokens.data()), made.Dense({2, 2}, ACL_INT64, counts.data()),
          made.Dense({3}, ACL_FLOAT, scales.data()), 1, 0, made.Dense(shape, dtype, moved.data()),
          made.Dense({3}, ACL_FLOAT, moved_scales.data()), made.Dense({3}, ACL_INT32, index.data()),
          made.Dense({2}, ACL_INT64, totals.data()), &size, &executor);
    };
    EXPECT_EQ(plan(3), 561002);
    ExpectMessage("of 4 bits an even number of columns");
    ASSERT_EQ(plan(4), 0) << TakeErrorMessage();
    ASSERT_EQ(RunAndWait(environment, aclnnMoeReRouting, size, executor), 0);
    EXPECT_EQ(moved, (std::vector<uint8_t>{0x54, 0x76, 0x10, 0x32, 0x98, 0xBA}));
    EXPECT_EQ(moved_scales, (std::vector<float>{1.5f, 0.5f, 2.5f}));
    EXPECT_EQ(index, (std::vector<int32_t>{1, 0, 2}));
    EXPECT_EQ(totals, (std::vector<int64_t>{1, 2}));
  }
}

}  // namespace
}  // namespace portacl::testing
