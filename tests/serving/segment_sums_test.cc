// Exponentials of sums of segments, their gradient, and Sinkhorn's plans: their checks, and every element against its definition.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"

#include "aclnnop/families/serving.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

Shape MatricesOf(Shape vectors) {
  vectors.push_back(vectors.back());
  return vectors;
}
Shape DrawVectors(RandomNumbers& random) {
  Shape shape = DrawShape(random, 1, random.Below(6) == 0 ? 7 : 3, 3);
  shape.back() = random.Between(1, random.Below(12) == 0 ? 600 : 12);
  if (shape.back() > 100) shape = {shape.back()};
  return shape;
}

OperatorSpec Sums() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnExpSegsum);
  op.takes_workspace = op.is_inexact = true;
  op.tolerance = 2e-6;
  op.valid = {TensorArg("self", {2, 3}), OutputArg("out", {2, 3, 3})};
  op.rules = {NoNulls("self out"), DtypeIn("self", kFloats), SameDtype("self", "out"),
              Refuses(161002, "self out",
                      [](PlanCall& call) {
                        const Shape& self = call["self"].shape;
                        return self.empty() || self.size() > 7 || call["out"].shape != MatricesOf(self);
                      }),
              DoneIfEmpty("self")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    call["self"].shape = DrawVectors(random);
    call["out"].shape = MatricesOf(call["self"].shape);
    call["self"].dtype = call["out"].dtype = DrawDtype(random, kRowDtypes);
  };
  // Sums that stay small.
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      EncodeElement(tensors[0].dtype(), static_cast<double>(random.Between(-1000, 900)) / 1024,
                    tensors[0].Element(i));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t n = call["self"].shape.back();
    std::vector<double> out(static_cast<size_t>(NumElements(call["out"].shape)));
    for (int64_t vector = 0; vector < NumElements(call["self"].shape) / n; ++vector) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t i = j; i < n; ++i) {
          if (i > j) sum += static_cast<float>(ValueAt(tensors[0], vector * n + i));
          out[static_cast<size_t>((vector * n + i) * n + j)] = std::exp(static_cast<double>(sum));
        }
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

OperatorSpec Gradients() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnExpSegsumBackward);
  op.takes_workspace = op.is_inexact = true;
  op.tolerance = 1e-6;
  op.valid = {TensorArg("gradOutput", {2, 3, 3}), TensorArg("gradSelf", {2, 3, 3}),
              OutputArg("gradInput", {2, 3})};
  op.rules = {NoNulls("gradOutput gradSelf gradInput"),
              DtypeIn("gradOutput", kFloats),
              SameDtype("gradOutput", "gradSelf"),
              SameDtype("gradOutput", "gradInput"),
              Refuses(161002, "gradOutput gradSelf gradInput",
                      [](PlanCall& call) {
                        const Shape& vectors = call["gradInput"].shape;
                        if (vectors.empty() || vectors.size() > 7) return true;
                        const Shape matrices = MatricesOf(vectors);
                        return call["gradOutput"].shape != matrices || call["gradSelf"].shape != matrices;
                      }),
              DoneIfEmpty("gradOutput")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["gradInput"].shape = DrawVectors(random);
    for (const char* name : {"gradOutput", "gradSelf"})
      call[name].shape = MatricesOf(call["gradInput"].shape);
    for (const char* name : {"gradOutput", "gradSelf", "gradInput"}) call[name].dtype = dtype;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (size_t tensor = 0; tensor < 2; ++tensor) {
      for (int64_t i = 0; i < tensors[tensor].size(); ++i)
        EncodeElement(tensors[tensor].dtype(), static_cast<double>(random.Between(-1000, 1000)) / 1024,
                      tensors[tensor].Element(i));
    }
  };
  // The sum of a suffix of rows and a prefix of columns, column by column.
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t n = call["gradInput"].shape.back();
    std::vector<double> out(static_cast<size_t>(NumElements(call["gradInput"].shape)));
    for (int64_t vector = 0; vector < std::ssize(out) / n; ++vector) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = n - 1; k > j; --k) {
          const int64_t at = (vector * n + k) * n + j;
          sum += ValueAt(tensors[0], at) * ValueAt(tensors[1], at);
          out[static_cast<size_t>(vector * n + k)] += sum;
        }
      }
    }
    return std::vector<Outcome>{AsOutcome(call["gradInput"].dtype, out)};
  };
  return op;
}

OperatorSpec Plans() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSinkhorn);
  op.takes_workspace = op.is_inexact = true;
  op.tolerance = 1e-5;
  op.valid = {TensorArg("cost", {3, 4}), ScalarArg("tol", {1e-4L, 0}), OutputArg("p", {3, 4})};
  op.rules = {NoNulls("cost p"), DtypeIn("cost", kFloats), SameDtype("cost", "p"),
              Refuses(161002, "cost p",
                      [](PlanCall& call) {
                        const Shape& cost = call["cost"].shape;
                        return cost.size() != 2 || cost[1] > 4096 || call["p"].shape != cost;
                      }),
              DoneIfEmpty("cost")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    call["cost"].shape = {random.Between(1, 20), random.Between(1, random.Below(6) == 0 ? 700 : 9)};
    call["p"].shape = call["cost"].shape;
    call["cost"].dtype = call["p"].dtype = DrawDtype(random, kRowDtypes);
    call["tol"].null = random.Below(3) == 0;
    // From 1e9 on there is no round.
    call["tol"].number = {random.Below(8) == 0 ? 1e9L : random.Below(2) == 0 ? 0.01L : 1e-5L, 0};
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      EncodeElement(tensors[0].dtype(), static_cast<double>(random.Between(-2000, 2000)) / 1024,
                    tensors[0].Element(i));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t rows = call["cost"].shape[0];
    const int64_t columns = call["cost"].shape[1];
    const double tolerance = call["tol"].null ? 1e-4 : static_cast<double>(call["tol"].number.real);
    const auto at = [&](int64_t row, int64_t column) { return static_cast<size_t>(row * columns + column); };
    std::vector<float> power(static_cast<size_t>(rows * columns));
    for (size_t i = 0; i < power.size(); ++i)
      power[i] = static_cast<float>(std::exp(ValueAt(tensors[0], static_cast<int64_t>(i))));
    std::vector<float> d0(static_cast<size_t>(rows), 1.0f);
    std::vector<float> d1(static_cast<size_t>(columns), 1.0f);
    double error = 1e9;
    while (error > tolerance) {
      for (int64_t row = 0; row < rows; ++row) {
        double sum = 1e-8;
        for (int64_t column = 0; column < columns; ++column)
          sum += static_cast<double>(d1[static_cast<size_t>(column)]) *
                 static_cast<double>(power[at(row, column)]);
        d0[static_cast<size_t>(row)] = static_cast<float>(1 / (static_cast<double>(rows) * sum));
      }
      error = 0;
      for (int64_t column = 0; column < columns; ++column) {
        double sum = 1e-8;
        for (int64_t row = 0; row < rows; ++row)
          sum +=
              static_cast<double>(d0[static_cast<size_t>(row)]) * static_cast<double>(power[at(row, column)]);
        const auto number = static_cast<float>(1 / (static_cast<double>(columns) * sum));
        error +=
            std::fabs(static_cast<double>(d1[static_cast<size_t>(column)]) - static_cast<double>(number));
        d1[static_cast<size_t>(column)] = number;
      }
      error /= static_cast<double>(columns);
    }
    std::vector<double> out;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < columns; ++column)
        out.push_back(static_cast<double>(d1[static_cast<size_t>(column)]) *
                      static_cast<double>(power[at(row, column)]) *
                      static_cast<double>(d0[static_cast<size_t>(row)]));
    }
    return std::vector<Outcome>{AsOutcome(call["p"].dtype, out)};
  };
  return op;
}

const OperatorSpec kOperators[] = {Sums(), Gradients(), Plans()};
PORTACL_OPERATOR_TESTS(SegmentSums, kOperators);

// What is above the diagonal is 0, and the diagonal 1, whatever the vector has.
TEST(SumsAlone, AboveTheDiagonal) {
  const ScopedEnvironment environment{Variables{}};
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> vector = {infinity, -infinity, 100, std::numeric_limits<float>::quiet_NaN()};
  std::vector<float> matrix(16, 7);
  const int64_t shape[] = {4, 4};
  aclTensor* const from =
      aclCreateTensor(shape, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 1, vector.data());
  aclTensor* const to =
      aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, matrix.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnExpSegsumGetWorkspaceSize(from, to, &size, &executor), 0);
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnExpSegsum(workspace.device(), size, executor, environment.stream()), 0);
  EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = i; j < 4; ++j) EXPECT_EQ(matrix[i * 4 + j], i == j ? 1 : 0) << i << ' ' << j;
  }
  EXPECT_EQ(matrix[4], 0);
  EXPECT_EQ(matrix[9], infinity);
  EXPECT_TRUE(std::isnan(matrix[14]));
  aclDestroyTensor(from);
  aclDestroyTensor(to);
}

TEST(PlansAlone, HaveAtMost4096Columns) {
  const ScopedEnvironment environment{Variables{}};
  std::vector<float> numbers(4097);
  for (const int64_t columns : {4096, 4097}) {
    const int64_t shape[] = {1, columns};
    aclTensor* const both =
        aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, numbers.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status = aclnnSinkhornGetWorkspaceSize(both, nullptr, both, &size, &executor);
    EXPECT_EQ(status, columns == 4096 ? 0 : 161002);
    EXPECT_EQ(TakeErrorMessage().find("at most 4096 columns") != std::string::npos, columns > 4096);
    if (status == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    }
    aclDestroyTensor(both);
  }
}

// A tolerance that is never reached, and costs whose sums are NaN, end all the same.
TEST(PlansAlone, End) {
  const ScopedEnvironment environment{Variables{}};
  const int64_t shape[] = {2, 2};
  for (const float cost : {0.5f, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> costs = {cost, -1.0f, 0.25f, 2.0f};
    std::vector<float> plan(4);
    float tolerance = -1;
    aclTensor* const from =
        aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, costs.data());
    aclTensor* const to =
        aclCreateTensor(shape, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, 2, plan.data());
    aclScalar* const scalar = aclCreateScalar(&tolerance, ACL_FLOAT);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnSinkhornGetWorkspaceSize(from, scalar, to, &size, &executor), 0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnSinkhorn(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    EXPECT_TRUE(std::isnan(cost) || std::fabs(plan[0] + plan[1] + plan[2] + plan[3] - 1) < 1e-5f);
    aclDestroyScalar(scalar);
    aclDestroyTensor(from);
    aclDestroyTensor(to);
  }
}

}  // namespace
}  // namespace portacl::testing
