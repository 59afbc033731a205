// Reduction plans as a pure function: which terms belong to which output, in which order, and how blocks are shared,
// at any size that an address can reach.
// SPDX-License-Identifier: Apache-2.0
#include "plan/reduction_plan.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "support/random_numbers.h"
#include "support/shapes.h"

namespace portacl::testing {
namespace {

using Dims = Shape;

portacl::Shape AsShape(const Dims& dims) {
  portacl::Shape shape;
  shape.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), shape.dim);
  return shape;
}

StridedView Tensor(const Dims& dims, const std::vector<int64_t>& strides, int64_t offset = 0) {
  StridedView tensor;
  tensor.shape = AsShape(dims);
  tensor.strides = AsShape(strides);
  tensor.offset = offset;
  tensor.dtype = ACL_FLOAT;
  return tensor;
}

StridedView Dense(const Dims& dims) { return Tensor(dims, DenseStrides(dims)); }

// One element, seen everywhere.
StridedView Repeated(const Dims& dims) { return Tensor(dims, std::vector<int64_t>(dims.size(), 0)); }

ReductionPlan PlanOf(const Dims& shape, const Dims& kept, const StridedView& input,
                     const StridedView& output) {
  const StridedView* const inputs[] = {&input};
  return PlanReduction(AsShape(shape), AsShape(kept), inputs, output);
}

// Where the plan's walk has its element number `position`.
int64_t AddressAt(const LoopPlan& plan, int operand, int64_t position) {
  int64_t address = plan.operand[operand].offset;
  for (int axis = plan.rank - 1; axis >= 0; --axis) {
    address += position % plan.extent[axis] * plan.operand[operand].stride[axis];
    position /= plan.extent[axis];
  }
  return address;
}

// Chunks cover the blocks, are few, and are whole subtrees.
void ExpectSharedWell(const ReductionPlan& plan) {
  const int64_t block = plan.in_lanes() ? kLaneBlock : kRowBlock;
  EXPECT_EQ(plan.blocks, plan.reduced / block + (plan.reduced % block != 0 ? 1 : 0));
  ASSERT_GE(plan.chunks, 1);
  ASSERT_LE(plan.chunks, kMaxChunks);
  ASSERT_GE(plan.chunk_blocks, 1);
  if (plan.chunks > 1) {
    EXPECT_EQ(plan.chunk_blocks & (plan.chunk_blocks - 1), 0) << plan.chunk_blocks;
    EXPECT_LT(plan.chunk_blocks, plan.blocks);
    EXPECT_EQ(plan.chunks, (plan.blocks - 1) / plan.chunk_blocks + 1);
  } else {
    EXPECT_GE(plan.chunk_blocks, plan.blocks);
  }
  EXPECT_LE(plan.workspace_bytes(), uint64_t{1} << 19);
}

TEST(ReductionPlan, SizesUpToTheLargest) {
  constexpr int64_t kMost = INT64_MAX;
  constexpr int64_t k62 = int64_t{1} << 62;
  constexpr int64_t k31 = int64_t{1} << 31;
  for (const auto& [shape, kept, outer, reduced, inner] :
       std::vector<std::tuple<Dims, Dims, int64_t, int64_t, int64_t>>{
           {{kMost}, {}, 1, kMost, 1},
           {{kMost}, {1}, 1, kMost, 1},
           {{k62}, {}, 1, k62, 1},
           {{k62 / 2, 2}, {1, 2}, 1, k62 / 2, 2},
           {{k62 - 1, 2}, {1, 2}, 1, k62 - 1, 2},
           {{kMost / 3, 3}, {1, 3}, 1, kMost / 3, 3},
           {{2, k62 - 1}, {2, 1}, 2, k62 - 1, 1},
           {{2, k62 - 1}, {1, k62 - 1}, 1, 2, k62 - 1},
           {{k31, k31}, {1, k31}, 1, k31, k31},
           {{k31, k31}, {k31, 1}, k31, k31, 1},
           {{k31, 2, k31 / 2 + 7}, {k31, 1, k31 / 2 + 7}, k31, 2, k31 / 2 + 7},
           {{3, k31, 5, k31 / 8, 1}, {3, 1, 5, 1, 1}, 15, k31 * (k31 / 8), 1}}) {
    SCOPED_TRACE(ToString(shape) + " to " + ToString(kept));
    const StridedView input = Repeated(shape);
    const StridedView output = Repeated(kept);
    const ReductionPlan plan = PlanOf(shape, kept, input, output);
    EXPECT_EQ(plan.outer, outer);
    EXPECT_EQ(plan.reduced, reduced);
    EXPECT_EQ(plan.inner, inner);
    EXPECT_EQ(plan.terms.count, outer * reduced * inner);
    EXPECT_TRUE(plan.regular);
    ExpectSharedWell(plan);
  }
}

TEST(ReductionPlan, NoTerms) {
  constexpr int64_t k40 = int64_t{1} << 40;
  // The other reduced axes may be as long as they like: nothing is multiplied.
  for (const auto& [shape, kept] : std::vector<std::pair<Dims, Dims>>{{{0}, {}},
                                                                      {{0, 3}, {1, 3}},
                                                                      {{3, 0}, {3, 1}},
                                                                      {{k40, k40, 0, 2}, {1, 1, 1, 2}},
                                                                      {{k40, 0, k40, 7}, {1, 1, 1, 7}}}) {
    SCOPED_TRACE(ToString(shape));
    const ReductionPlan plan = PlanOf(shape, kept, Repeated(shape), Dense(kept));
    EXPECT_EQ(plan.reduced, 0);
    EXPECT_EQ(plan.outputs(), NumElements(kept));
    EXPECT_EQ(plan.chunks, 1);
    EXPECT_EQ(plan.workspace_bytes(), 0u);
  }
}

TEST(ReductionPlan, TheWalkIsOuterReducedInner) {
  RandomNumbers random(7);
  for (int round = 0; round < 3000; ++round) {
    Dims shape(static_cast<size_t>(random.Between(1, 5)));
    Dims kept(shape.size());
    std::vector<int64_t> strides(shape.size());
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      shape[axis] = random.Between(1, 4);
      kept[axis] = random.Chance(50) ? 1 : shape[axis];
      strides[axis] = random.Chance(20) ? 0 : random.Between(-60, 60);
    }
    if (random.Chance(40)) strides = DenseStrides(shape);
    SCOPED_TRACE(ToString(shape) + " strides " + ToString(strides) + " to " + ToString(kept));
    const int64_t offset = 1000;
    const ReductionPlan plan = PlanOf(shape, kept, Tensor(shape, strides, offset), Dense(kept));
    ExpectSharedWell(plan);

    // By hand: outer kept axes, reduced axes, kept axes after the last reduced one; each in row-major order.
    int last = -1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] > 1 && kept[axis] == 1) last = static_cast<int>(axis);
    }
    std::vector<size_t> order;
    for (const int group : {0, 1, 2}) {
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        const bool reduced = shape[axis] > 1 && kept[axis] == 1;
        const int own = reduced ? 1 : static_cast<int>(axis) < last ? 0 : 2;
        if (own == group) order.push_back(axis);
      }
    }
    int64_t reduced = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) reduced *= kept[axis] == 1 ? shape[axis] : 1;
    ASSERT_EQ(plan.reduced, reduced);
    ASSERT_EQ(plan.outputs(), NumElements(kept));
    ASSERT_EQ(plan.terms.count, NumElements(shape));
    for (int64_t position = 0; position < plan.terms.count; ++position) {
      int64_t address = offset;
      int64_t rest = position;
      for (size_t i = order.size(); i-- > 0;) {
        address += rest % shape[order[i]] * strides[order[i]];
        rest /= shape[order[i]];
      }
      ASSERT_EQ(AddressAt(plan.terms, 0, position), 4 * address) << position;
      if (!plan.regular) continue;
      // From the first term of the output's row, by the two strides.
      const int64_t column = position % plan.inner;
      const int64_t row = position / plan.inner % plan.reduced;
      const int64_t start = AddressAt(plan.terms, 0, position - column - row * plan.inner);
      ASSERT_EQ(start + row * plan.row_stride[0] + column * plan.column_stride[0], 4 * address) << position;
    }
  }
}

TEST(ReductionPlan, RegularWhereOneStrideServes) {
  const auto regular = [](const Dims& shape, const Dims& kept, const std::vector<int64_t>& strides) {
    return PlanOf(shape, kept, Tensor(shape, strides), Dense(kept)).regular;
  };
  EXPECT_TRUE(regular({4, 5}, {1, 5}, {5, 1}));
  EXPECT_TRUE(regular({4, 5}, {1, 5}, {7, 1}));
  EXPECT_TRUE(regular({4, 5}, {1, 5}, {-7, 1}));
  EXPECT_TRUE(regular({4, 5}, {1, 5}, {1, 4}));
  EXPECT_TRUE(regular({2, 3, 4, 5}, {1, 1, 4, 5}, {60, 20, 5, 1}));
  EXPECT_FALSE(regular({2, 4, 3, 5}, {1, 4, 1, 5}, {60, 15, 5, 1})) << "two strides over the rows";
  EXPECT_FALSE(regular({3, 4, 5}, {1, 4, 5}, {40, 8, 1})) << "a gap within a row";
}

}  // namespace
}  // namespace portacl::testing
