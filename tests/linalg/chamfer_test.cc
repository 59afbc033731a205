// The gradients of the chamfer distance: their checks, and every element against its definition.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"
#include "aclnnop/families/linalg.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

OperatorSpec Chamfer() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnChamferDistanceBackward);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {TensorArg("xyz1", {2, 3, 2}),         TensorArg("xyz2", {2, 4, 2}),
              TensorArg("idx1", {2, 3}, ACL_INT32), TensorArg("idx2", {2, 4}, ACL_INT32),
              TensorArg("gradDist1", {2, 3}),       TensorArg("gradDist2", {2, 4}),
              OutputArg("gradXyz1", {2, 3, 2}),     OutputArg("gradXyz2", {2, 4, 2})};
  op.rules = {NoNulls("xyz1 xyz2 idx1 idx2 gradDist1 gradDist2 gradXyz1 gradXyz2"),
              DtypeIn("xyz1", {{ACL_FLOAT, ACL_FLOAT16}}),
              SameDtype("xyz1", "xyz2"),
              DtypeIn("idx1 idx2", {{ACL_INT32}}),
              SameDtype("xyz1", "gradDist1"),
              SameDtype("xyz1", "gradDist2"),
              SameDtype("xyz1", "gradXyz1"),
              SameDtype("xyz1", "gradXyz2"),
              Refuses(161002, "xyz1 xyz2 idx1 idx2 gradDist1 gradDist2 gradXyz1 gradXyz2",
                      [](PlanCall& call) {
                        const Shape& first = call["xyz1"].shape;
                        const Shape& second = call["xyz2"].shape;
                        if (first.size() != 3 || second.size() != 3 || first[2] != 2 || second[2] != 2 ||
                            first[0] != second[0])
                          return true;
                        const Shape of_first = {first[0], first[1]};
                        const Shape of_second = {first[0], second[1]};
                        return call["idx1"].shape != of_first || call["gradDist1"].shape != of_first ||
                               call["idx2"].shape != of_second || call["gradDist2"].shape != of_second ||
                               call["gradXyz1"].shape != first || call["gradXyz2"].shape != second;
                      }),
              DoneIfEmpty("xyz1 xyz2")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t batches = random.Between(1, 4), n = random.Between(1, 9), m = random.Between(1, 9);
    const DtypeNumber dtype = random.Below(2) == 0 ? ACL_FLOAT : ACL_FLOAT16;
    for (const char* name : {"xyz1", "gradXyz1"}) call[name].shape = {batches, n, 2};
    for (const char* name : {"xyz2", "gradXyz2"}) call[name].shape = {batches, m, 2};
    for (const char* name : {"idx1", "gradDist1"}) call[name].shape = {batches, n};
    for (const char* name : {"idx2", "gradDist2"}) call[name].shape = {batches, m};
    for (const char* name : {"xyz1", "xyz2", "gradDist1", "gradDist2", "gradXyz1", "gradXyz2"})
      call[name].dtype = dtype;
  };
  op.range = [](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
    if (tensor == 2) return IndexRange{0, call["xyz2"].shape[1]};
    if (tensor == 3) return IndexRange{0, call["xyz1"].shape[1]};
    return std::nullopt;
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (const size_t tensor : {size_t{0}, size_t{1}, size_t{4}, size_t{5}}) {
      for (int64_t i = 0; i < tensors[tensor].size(); ++i)
        EncodeElement(tensors[tensor].dtype(), static_cast<double>(random.Between(-3000, 3000)) / 1024,
                      tensors[tensor].Element(i));
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t counts[] = {call["xyz1"].shape[1], call["xyz2"].shape[1]};
    std::vector<float> gradients[2];
    for (size_t set = 0; set < 2; ++set)
      gradients[set].resize(static_cast<size_t>(call["xyz1"].shape[0] * counts[set] * 2));
    for (int64_t batch = 0; batch < call["xyz1"].shape[0]; ++batch) {
      for (size_t set = 0; set < 2; ++set) {
        for (int64_t i = 0; i < counts[set]; ++i) {
          const int64_t own = batch * counts[set] + i;
          const int64_t other = batch * counts[1 - set] + tensors[2 + set].Integer(own);
          const float factor = 2 * static_cast<float>(ValueAt(tensors[4 + set], own));
          for (int64_t dim = 0; dim < 2; ++dim) {
            const float difference = static_cast<float>(ValueAt(tensors[set], own * 2 + dim)) -
                                     static_cast<float>(ValueAt(tensors[1 - set], other * 2 + dim));
            volatile const float term = factor * difference;
            gradients[set][static_cast<size_t>(own * 2 + dim)] += term;
            gradients[1 - set][static_cast<size_t>(other * 2 + dim)] -= term;
          }
        }
      }
    }
    std::vector<Outcome> outcomes;
    for (const std::vector<float>& gradient : gradients)
      outcomes.push_back(
          AsOutcome(call["xyz1"].dtype, std::vector<double>(gradient.begin(), gradient.end())));
    return outcomes;
  };
  return op;
}

const OperatorSpec kOperators[] = {Chamfer()};
PORTACL_OPERATOR_TESTS(ChamferDistance, kOperators);

// An index that names no point is left out, and fails the stream, which names the first.
TEST(ChamferByHand, IndicesOfNoPoint) {
  const ScopedEnvironment environment{Variables{}};
  std::vector<float> points[] = {{1, 2, 3, 5}, {0, 0}};
  std::vector<int32_t> nearest[] = {{0, 1}, {-1}};
  std::vector<float> distances[] = {{1, 10}, {100}};
  std::vector<float> gradients[] = {{9, 9, 9, 9}, {9, 9}};
  const auto dense = [](const Shape& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  std::vector<aclTensor*> of[4];
  for (size_t set = 0; set < 2; ++set) {
    const int64_t count = std::ssize(nearest[set]);
    of[0].push_back(dense({1, count, 2}, ACL_FLOAT, points[set].data()));
    of[1].push_back(dense({1, count}, ACL_INT32, nearest[set].data()));
    of[2].push_back(dense({1, count}, ACL_FLOAT, distances[set].data()));
    of[3].push_back(dense({1, count, 2}, ACL_FLOAT, gradients[set].data()));
  }
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnChamferDistanceBackwardGetWorkspaceSize(of[0][0], of[0][1], of[1][0], of[1][1], of[2][0],
                                                         of[2][1], of[3][0], of[3][1], &size, &executor),
            0);
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnChamferDistanceBackward(workspace.device(), size, executor, environment.stream()), 0);
  EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 507015);
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("idx1 has the value 1 at element 1, accepted: 0 to 0."), std::string::npos)
      << message;
  EXPECT_EQ(gradients[0], (std::vector<float>{2, 4, 0, 0}));
  EXPECT_EQ(gradients[1], (std::vector<float>{-2, -4}));
  for (const auto& tensors : of) {
    for (const aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
}

}  // namespace
}  // namespace portacl::testing
