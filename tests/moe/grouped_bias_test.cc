// Gradients of biases of groups of rows: their checks, and every element against its definition.
// SPDX-License-Identifier: Apache-2.0
#include "moe_calls.h"

namespace portacl::testing {
namespace {

OperatorSpec Sums(bool has_type) {
  OperatorSpec op;
  op.function =
      has_type ? PORTACL_C_FUNCTION(aclnnGroupedBiasAddGradV2) : PORTACL_C_FUNCTION(aclnnGroupedBiasAddGrad);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {TensorArg("gradY", {5, 4}), DistinctArg("groupIdxOptional", {3}, ACL_INT64)};
  if (has_type) op.valid.push_back(IntegerArg("groupIdxType", 0));
  op.valid.push_back(OutputArg("out", {3, 4}));
  op.rules = {NoNulls("gradY out"), DtypeIn("gradY", kFloats),
              Given("groupIdxOptional", DtypeIn("groupIdxOptional", kEitherIndex)),
              SameDtype("gradY", "out")};
  if (has_type) {
    op.rules.push_back(Refuses(161002, "groupIdxType", [](PlanCall& call) {
      return call["groupIdxType"].integer < 0 || call["groupIdxType"].integer > 1;
    }));
  }
  op.rules.push_back(Refuses(161002, "gradY groupIdxOptional out", [](PlanCall& call) {
    const Shape& grad = call["gradY"].shape;
    const PlanArgument& groups = call["groupIdxOptional"];
    if (groups.null) return grad.size() != 3 || call["out"].shape != Shape{grad[0], grad[2]};
    return grad.size() != 2 || groups.shape.size() != 1 ||
           call["out"].shape != Shape{groups.shape[0], grad[1]};
  }));
  op.rules.push_back(DoneIfEmpty("gradY out"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const int64_t groups = random.Between(1, 5);
    const int64_t columns = random.Between(1, random.Chance(20) ? 1100 : 9);
    const int64_t rows = random.Between(1, 12);
    PlanArgument& index = call["groupIdxOptional"];
    index.null = random.Chance(25);
    index.shape = {groups};
    index.dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    call["gradY"].shape = index.null ? Shape{groups, rows, columns} : Shape{rows, columns};
    call["out"].shape = {groups, columns};
    call["gradY"].dtype = call["out"].dtype = DrawDtype(random, kRowDtypes);
    if (has_type) call["groupIdxType"].integer = random.Below(2);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      EncodeElement(tensors[0].dtype(), static_cast<double>(random.Between(-3000, 3000)) / 1024,
                    tensors[0].Element(i));
    if (call["groupIdxOptional"].null) return;
    // Some rows may be behind the last group.
    int64_t end = 0;
    for (int64_t i = 0; i < tensors[1].size(); ++i) {
      const int64_t count = random.Below(call["gradY"].shape[0] - end + 1);
      end += count;
      const bool are_counts = has_type && call["groupIdxType"].integer == 1;
      EncodeIntegerElement(tensors[1].dtype(), are_counts ? count : end, tensors[1].Element(i));
    }
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Numbers grad(call, tensors, "gradY");
    const Shape& shape = call["gradY"].shape;
    const int64_t columns = shape.back();
    const bool is_uniform = call["groupIdxOptional"].null;
    Outcome outcome;
    int64_t begin = 0;
    for (int64_t group = 0; group < call["out"].shape[0]; ++group) {
      int64_t end = begin + (is_uniform ? shape[1] : 0);
      if (!is_uniform) {
        const bool are_counts = has_type && call["groupIdxType"].integer == 1;
        end = tensors[1].Integer(group) + (are_counts ? begin : 0);
      }
      for (int64_t column = 0; column < columns; ++column) {
        float sum = 0;
        for (int64_t row = begin; row < end; ++row) sum += static_cast<float>(grad[row * columns + column]);
        outcome.push_back(ElementOfNumber(call["out"].dtype, {static_cast<long double>(sum), 0}));
      }
      begin = end;
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

const OperatorSpec kOperators[] = {Sums(false), Sums(true)};
PORTACL_OPERATOR_TESTS(GroupedBias, kOperators);

aclTensor* Dense(const Shape& shape, aclDataType dtype, void* data) {
  return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                         shape.size(), data);
}

// An end before the one before it, or a count of more rows than are left, leaves its group without rows and fails the
// stream.
TEST(GroupedBiasAlone, GroupsThatDoNotFit) {
  const ScopedEnvironment environment(Variables{});
  for (const bool are_counts : {false, true}) {
    std::vector<float> grad = {1, 2, 4, 8, 16};
    std::vector<int64_t> given = {2, 1, 6, 5};
    if (are_counts) given = {2, -1, 4, 3};
    std::vector<float> out(4, 9);
    aclTensor* const from = Dense({5, 1}, ACL_FLOAT, grad.data());
    aclTensor* const groups = Dense({4}, ACL_INT64, given.data());
    aclTensor* const to = Dense({4, 1}, ACL_FLOAT, out.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(are_counts ? aclnnGroupedBiasAddGradV2GetWorkspaceSize(from, groups, 1, to, &size, &executor)
                         : aclnnGroupedBiasAddGradGetWorkspaceSize(from, groups, to, &size, &executor),
              0);
    const GuardedBuffer workspace(size);
    const auto run = are_counts ? aclnnGroupedBiasAddGradV2 : aclnnGroupedBiasAddGrad;
    ASSERT_EQ(run(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
    const std::string message = TakeErrorMessage();
    const std::string value = are_counts ? "-1" : "1";
    EXPECT_NE(message.find("groupIdxOptional has the value " + value + " at element 1, accepted: 0 to 5."),
              std::string::npos)
        << message;
    EXPECT_EQ(out, (std::vector<float>{3, 0, 0, 28}));
    for (aclTensor* tensor : {from, groups, to}) aclDestroyTensor(tensor);
  }
}

}  // namespace
}  // namespace portacl::testing
