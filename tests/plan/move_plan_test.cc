// Plans of copies as a pure function: every byte goes where plain nested loops over the logical indices put it, once, in as
// few dims as can be, the source's closest dim beside the destination's.
// SPDX-License-Identifier: Apache-2.0
#include "plan/move_plan.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

#include "gtest/gtest.h"
#include "support/random_numbers.h"
#include "support/tensor_view.h"

namespace portacl::testing {
namespace {

portacl::Shape AsShape(const std::vector<int64_t>& dims) {
  portacl::Shape shape;
  shape.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), shape.dim);
  return shape;
}

StridedView TensorOf(const View& view, DtypeNumber dtype) {
  StridedView tensor;
  tensor.shape = AsShape(view.shape);
  tensor.strides = AsShape(view.strides);
  tensor.offset = view.offset;
  tensor.dtype = AsAclDataType(dtype);
  tensor.Describe();
  return tensor;
}

// Destination byte -> source byte.
using Bytes = std::map<int64_t, int64_t>;

Bytes BytesOf(const LoopPlan& plan, int64_t size) {
  Bytes bytes;
  std::vector<int64_t> index(static_cast<size_t>(plan.rank), 0);
  for (int64_t done = 0; done < plan.count; ++done) {
    int64_t from = plan.operand[kMoveSource].offset;
    int64_t to = plan.operand[kMoveDestination].offset;
    for (int axis = 0; axis < plan.rank; ++axis) {
      from += index[static_cast<size_t>(axis)] * plan.operand[kMoveSource].stride[axis];
      to += index[static_cast<size_t>(axis)] * plan.operand[kMoveDestination].stride[axis];
    }
    for (int64_t i = 0; i < size; ++i) EXPECT_TRUE(bytes.emplace(to + i, from + i).second) << "written twice";
    for (int axis = plan.rank - 1; axis >= 0 && ++index[static_cast<size_t>(axis)] == plan.extent[axis];
         --axis)
      index[static_cast<size_t>(axis)] = 0;
  }
  return bytes;
}

Bytes ExpectedBytes(const View& source, const View& destination, int64_t size) {
  Bytes bytes;
  const std::vector<int64_t> positions = BroadcastPositions(source.shape, destination.shape);
  const std::vector<int64_t> from = StridedOffsets(source.shape, source.strides);
  const std::vector<int64_t> to = StridedOffsets(destination.shape, destination.strides);
  for (size_t i = 0; i < to.size(); ++i) {
    for (int64_t b = 0; b < size; ++b) {
      bytes[(destination.offset + to[i]) * size + b] =
          (source.offset + from[static_cast<size_t>(positions[i])]) * size + b;
    }
  }
  return bytes;
}

TEST(MovePlan, EveryByteOnce) {
  RandomNumbers random(0x307E);
  for (int i = 0; i < 600; ++i) {
    const std::vector<Shape> shapes = RandomBroadcastShapes(2, 8, random);
    const Shape shape = *Broadcast(shapes);
    if (shapes[0].size() > shape.size() || NumElements(shape) == 0 || NumElements(shape) > 1000) continue;
    const DtypeNumber dtype = random.Chance(50) ? ACL_INT8 : random.Chance(50) ? ACL_FLOAT : ACL_COMPLEX128;
    const View source = MakeView(shapes[0], Layout::kMixedExpanded, random);
    const View destination = MakeView(shape, Layout::kMixed, random);
    for (const bool same_bytes : {true, false}) {
      const LoopPlan plan =
          PlanMove(AsShape(shape), TensorOf(source, dtype), TensorOf(destination, dtype), same_bytes);
      const int64_t size = plan.operand[kMoveDestination].element_size;
      EXPECT_EQ(plan.operand[kMoveSource].element_size, size);
      EXPECT_TRUE(same_bytes || size == ElementSize(dtype));
      EXPECT_LE(size, std::max<int64_t>(kWidestMove, ElementSize(dtype)));
      ASSERT_EQ(BytesOf(plan, size), ExpectedBytes(source, destination, ElementSize(dtype)))
          << ToString(shape);
    }
  }
}

LoopPlan PlanOf(const Shape& shape, const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                bool same_bytes) {
  View source;
  source.shape = shape;
  source.strides = from;
  View destination = source;
  destination.strides = to;
  return PlanMove(AsShape(shape), TensorOf(source, ACL_FLOAT), TensorOf(destination, ACL_FLOAT), same_bytes);
}

TEST(MovePlan, AlikeOnBothSidesIsOneDim) {
  const LoopPlan plan = PlanOf({3, 4, 5}, {1, 3, 12}, {1, 3, 12}, true);
  EXPECT_EQ(plan.rank, 1);
  EXPECT_EQ(plan.extent[0], 60);
  EXPECT_EQ(plan.operand[kMoveSource].element_size, 4);
  EXPECT_TRUE(plan.operand[kMoveSource].linear);
}

TEST(MovePlan, RowsDenseOnBothSidesAreElements) {
  // Heads swapped: (2, 3, 4, 8) from strides of (2, 4, 3, 8).
  const LoopPlan plan = PlanOf({2, 3, 4, 8}, {96, 8, 24, 1}, {96, 32, 8, 1}, true);
  EXPECT_EQ(plan.operand[kMoveDestination].element_size, 32);
  EXPECT_EQ(plan.rank, 3);
  EXPECT_EQ(
      PlanOf({2, 3, 4, 8}, {96, 8, 24, 1}, {96, 32, 8, 1}, false).operand[kMoveDestination].element_size, 4);
  // Not where they are longer than it pays.
  EXPECT_EQ(PlanOf({2, 4096}, {5000, 1}, {4096, 1}, true).operand[kMoveDestination].element_size, 4);
}

TEST(MovePlan, SourcesClosestDimIsBesideTheLast) {
  const LoopPlan plan = PlanOf({6, 7, 8}, {1, 6, 42}, {56, 8, 1}, true);
  ASSERT_EQ(plan.rank, 3);
  EXPECT_EQ(plan.operand[kMoveDestination].stride[2], 4);
  EXPECT_EQ(plan.operand[kMoveSource].stride[1], 4);
  // Backwards as well.
  EXPECT_EQ(std::abs(PlanOf({6, 7, 8}, {-1, 6, 42}, {56, 8, 1}, true).operand[kMoveSource].stride[1]), 4);
}

TEST(MergedDims, KeepsTheElements) {
  RandomNumbers random(0x3E46);
  for (int i = 0; i < 500; ++i) {
    Shape shape(static_cast<size_t>(random.Below(12)));
    for (int64_t& dim : shape) dim = random.Between(1, 2);
    const View view = MakeView(shape, random.Chance(50) ? Layout::kMixed : Layout::kDense, random);
    const StridedView tensor = TensorOf(view, ACL_FLOAT);
    const StridedView merged = MergedDims(tensor);
    EXPECT_LE(merged.shape.rank, tensor.shape.rank);
    EXPECT_TRUE(!IsContiguous(tensor) || merged.shape.rank <= 1);
    std::vector<int64_t> strides(merged.strides.dim, merged.strides.dim + merged.shape.rank);
    const Shape dims(merged.shape.dim, merged.shape.dim + merged.shape.rank);
    EXPECT_EQ(StridedOffsets(dims, strides), StridedOffsets(view.shape, view.strides));
  }
}

}  // namespace
}  // namespace portacl::testing
