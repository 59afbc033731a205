// Loop plans as a pure function: a plan must visit exactly the addresses that plain nested loops over the logical
// indices visit, in as few dims as it can, at any size that an address can reach.
// SPDX-License-Identifier: Apache-2.0
#include "plan/loop_plan.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "support/dtype_rules.h"
#include "support/random_numbers.h"
#include "support/shapes.h"

namespace portacl::testing {
namespace {

using Dims = Shape;  // of the tests: a vector

portacl::Shape AsShape(const Dims& dims) {
  portacl::Shape shape;
  shape.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), shape.dim);
  return shape;
}

// One operand: the view as aclCreateTensor gets it.
struct Operand {
  Dims dims;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  aclDataType dtype = ACL_FLOAT;
  bool is_dense = false;

  StridedView Tensor() const {
    StridedView tensor;
    tensor.shape = AsShape(dims);
    tensor.strides = AsShape(strides);
    tensor.offset = offset;
    tensor.dtype = dtype;
    tensor.is_dense = is_dense;
    return tensor;
  }

  int64_t ElementBytes() const { return ElementSize(dtype); }

  // The byte address of a logical index of `shape`, to which this operand broadcasts.
  int64_t Address(const std::vector<int64_t>& index) const {
    int64_t elements = offset;
    const size_t missing = index.size() - dims.size();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] != 1) elements += index[missing + axis] * strides[axis];
    }
    return elements * ElementBytes();
  }
};

Operand Dense(const Dims& dims, aclDataType dtype = ACL_FLOAT) {
  return {dims, DenseStrides(dims), 0, dtype};
}

std::string Describe(const Dims& shape, const std::vector<Operand>& operands) {
  std::ostringstream text;
  text << "loop over " << ToString(shape);
  for (const Operand& operand : operands) {
    text << "; " << DtypeName(operand.dtype) << ToString(operand.dims) << " strides "
         << ToString(operand.strides) << " offset " << operand.offset;
  }
  return text.str();
}

LoopPlan PlanOf(const Dims& shape, const std::vector<Operand>& operands) {
  std::vector<StridedView> tensors;
  for (const Operand& operand : operands) tensors.push_back(operand.Tensor());
  std::vector<const StridedView*> pointers;
  for (const StridedView& tensor : tensors) pointers.push_back(&tensor);
  return PlanElementwise(AsShape(shape), pointers);
}

using AddressTuple = std::array<int64_t, kMaxLoopOperands>;

AddressTuple AddressesAt(const LoopPlan& plan, const int64_t* index) {
  AddressTuple addresses{};
  for (int k = 0; k < plan.operand_count; ++k) {
    addresses[static_cast<size_t>(k)] = plan.operand[k].offset;
    for (int axis = 0; axis < plan.rank; ++axis)
      addresses[static_cast<size_t>(k)] += index[axis] * plan.operand[k].stride[axis];
  }
  return addresses;
}

// Calls visit(index) for every index of `extents`, the last dim fastest.
template <class Visit>
void ForEachIndex(std::vector<int64_t> extents, const Visit& visit) {
  for (const int64_t extent : extents) {
    if (extent == 0) return;
  }
  std::vector<int64_t> index(extents.size(), 0);
  for (;;) {
    visit(index);
    size_t axis = extents.size();
    while (axis > 0 && ++index[axis - 1] == extents[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// What every plan promises, whatever its size.
void ExpectWellFormed(const LoopPlan& plan, const Dims& shape, const std::vector<Operand>& operands) {
  ASSERT_EQ(plan.operand_count, static_cast<int>(operands.size()));
  ASSERT_GE(plan.rank, 1);
  ASSERT_LE(plan.rank, kMaxLoopRank);
  int64_t count = 1;
  for (int axis = 0; axis < plan.rank; ++axis) {
    ASSERT_GE(plan.extent[axis], plan.rank == 1 ? 1 : 2);
    count *= plan.extent[axis];
  }
  ASSERT_EQ(plan.count, NumElements(shape));
  ASSERT_EQ(count, plan.count);
  for (int k = 0; k < plan.operand_count; ++k) {
    const OperandLoop& loop = plan.operand[k];
    ASSERT_EQ(loop.element_size, operands[static_cast<size_t>(k)].ElementBytes());
    // Linear exactly when every dim's stride continues the step of the dims inside it.
    __extension__ typedef __int128 Wide;
    Wide step = loop.stride[plan.rank - 1];
    bool linear = true;
    for (int axis = plan.rank - 1; axis >= 0 && linear; --axis) {
      linear = loop.stride[axis] == step;
      step *= plan.extent[axis];
    }
    ASSERT_EQ(loop.linear, linear);
    if (linear) {
      ASSERT_EQ(loop.linear_stride, loop.stride[plan.rank - 1]);
    }
  }
  const OperandLoop& output = plan.operand[plan.operand_count - 1];
  for (int axis = 0; axis < plan.rank; ++axis)
    ASSERT_GE(output.stride[axis], 0) << "the output is walked upwards";
}

void ExpectSameVisits(const Dims& shape, const std::vector<Operand>& operands) {
  const LoopPlan plan = PlanOf(shape, operands);
  ASSERT_NO_FATAL_FAILURE(ExpectWellFormed(plan, shape, operands));
  std::vector<AddressTuple> expected;
  ForEachIndex(shape, [&](const std::vector<int64_t>& index) {
    AddressTuple addresses{};
    for (size_t k = 0; k < operands.size(); ++k) addresses[k] = operands[k].Address(index);
    expected.push_back(addresses);
  });
  std::vector<AddressTuple> found;
  ForEachIndex({plan.extent, plan.extent + plan.rank}, [&](const std::vector<int64_t>& index) {
    const AddressTuple addresses = AddressesAt(plan, index.data());
    for (int k = 0; k < plan.operand_count; ++k) {
      const OperandLoop& loop = plan.operand[k];
      if (loop.linear) {
        ASSERT_EQ(addresses[static_cast<size_t>(k)],
                  loop.offset + static_cast<int64_t>(found.size()) * loop.linear_stride);
      }
    }
    found.push_back(addresses);
  });
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  ASSERT_TRUE(found == expected);
}

constexpr aclDataType kDtypes[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BOOL, ACL_INT64, ACL_COMPLEX128, ACL_BF16};

// ---- correctness by brute force ----

// Random shapes of every rank, operands that broadcast to them, strides of every kind: dense in any order, padded,
// negative, zero, and arbitrary numbers that overlap.
TEST(LoopPlan, VisitsWhatNestedLoopsVisit) {
  RandomNumbers random(0x914A);
  for (int round = 0; round < 12000; ++round) {
    const auto rank = static_cast<size_t>(random.Below(9));
    Dims shape(rank);
    int64_t room = 400;  // elements, so that many cases fit into a short time
    for (int64_t& dim : shape) {
      dim = random.Chance(25) ? 1 : random.Between(1, std::min<int64_t>(room, 6));
      room /= dim;
    }
    const auto count = static_cast<size_t>(random.Between(1, kMaxLoopOperands));
    std::vector<Operand> operands;
    for (size_t k = 0; k < count; ++k) {
      const bool is_output = k + 1 == count;
      Operand operand;
      operand.dims = shape;
      if (!is_output) {
        const bool broadcast = random.Chance(50);
        for (int64_t& dim : operand.dims) {
          if (broadcast && random.Chance(40)) dim = 1;
        }
        while (!operand.dims.empty() && operand.dims.front() == 1 && random.Chance(50))
          operand.dims.erase(operand.dims.begin());
      }
      operand.dtype = kDtypes[random.Below(std::ssize(kDtypes))];
      operand.offset = random.Chance(50) ? 0 : random.Between(-50, 1000);
      operand.strides.resize(operand.dims.size());
      if (!is_output && random.Chance(20)) {
        for (int64_t& stride : operand.strides) stride = random.Between(-9, 9);
      } else {
        std::vector<size_t> order(operand.dims.size());
        std::iota(order.begin(), order.end(), size_t{0});
        if (random.Chance(60)) {
          for (size_t i = order.size(); i > 1; --i)
            std::swap(order[i - 1], order[static_cast<size_t>(random.Below(static_cast<int64_t>(i)))]);
        }
        const bool padded = random.Chance(40);
        const bool flips = random.Chance(40);
        const bool expands = !is_output && random.Chance(20);
        int64_t stride = padded ? random.Between(1, 3) : 1;
        for (size_t i = order.size(); i-- > 0;) {
          const size_t axis = order[i];
          operand.strides[axis] = flips && random.Chance(50) ? -stride : stride;
          if (expands && random.Chance(40)) {
            operand.strides[axis] = 0;
            continue;
          }
          stride *= operand.dims[axis];
          if (padded) stride += random.Below(3);
        }
      }
      // The stride of a dim of length 1 is never used, whatever it is.
      for (size_t axis = 0; axis < operand.dims.size(); ++axis) {
        if (operand.dims[axis] == 1 && random.Chance(50)) operand.strides[axis] = random.Between(-1000, 1000);
      }
      operands.push_back(operand);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisits(shape, operands)) << Describe(shape, operands);
  }
}

// Shapes that the random walk meets too seldom.
TEST(LoopPlan, VisitsWhatNestedLoopsVisitAtTheEdges) {
  for (const Dims& shape : {Dims{}, Dims{1}, Dims{1, 1, 1, 1, 1, 1, 1, 1}, Dims{2, 2, 2, 2, 2, 2, 2, 2},
                            Dims{1, 7, 1}, Dims{7, 1, 1, 3}, Dims{1, 1, 5}}) {
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisits(shape, {Dense(shape), Dense({}), Dense({1}), Dense(shape)}));
    Operand backwards = Dense(shape);
    backwards.offset = NumElements(shape) - 1;
    for (int64_t& stride : backwards.strides) stride = -stride;
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisits(shape, {Dense(shape), backwards, Dense(shape)}));
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisits(shape, {Dense(shape), backwards}));
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisits(shape, {backwards, backwards}));
  }
}

// ---- as few dims as possible ----

TEST(LoopPlan, AlikeOperandsAreOneRunWhateverTheOrderAndDirectionOfTheirAxes) {
  RandomNumbers random(0xA11CE);
  for (int round = 0; round < 2000; ++round) {
    Dims shape(static_cast<size_t>(random.Below(9)));
    for (int64_t& dim : shape) dim = random.Between(1, 5);
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[static_cast<size_t>(random.Below(static_cast<int64_t>(i)))]);
    Operand operand;
    operand.dims = shape;
    operand.strides.resize(shape.size());
    int64_t stride = 1;
    int64_t lowest = 0;
    for (size_t i = order.size(); i-- > 0;) {
      const size_t axis = order[i];
      operand.strides[axis] = random.Chance(40) ? -stride : stride;
      if (operand.strides[axis] < 0) lowest += operand.strides[axis] * (shape[axis] - 1);
      stride *= shape[axis];
    }
    operand.offset = -lowest;
    Operand wide = operand;
    wide.dtype = ACL_DOUBLE;
    const std::vector<Operand> operands = {operand, Dense({}), wide, operand};
    const LoopPlan plan = PlanOf(shape, operands);
    ASSERT_EQ(plan.rank, 1) << Describe(shape, operands);
    ASSERT_EQ(plan.extent[0], NumElements(shape));
    for (int k = 0; k < plan.operand_count; ++k) {
      const bool one_value = k == 1 || NumElements(shape) == 1;
      ASSERT_TRUE(plan.operand[k].linear);
      ASSERT_EQ(plan.operand[k].offset, 0) << "the walk starts at the lowest address";
      ASSERT_EQ(plan.operand[k].linear_stride, one_value ? 0 : plan.operand[k].element_size);
    }
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisits(shape, operands));
  }
}

void ExpectExtents(const LoopPlan& plan, const std::vector<int64_t>& extents) {
  EXPECT_EQ(std::vector<int64_t>(plan.extent, plan.extent + plan.rank), extents);
}

void ExpectStrides(const LoopPlan& plan, int operand, const std::vector<int64_t>& strides) {
  EXPECT_EQ(std::vector<int64_t>(plan.operand[operand].stride, plan.operand[operand].stride + plan.rank),
            strides)
      << "operand " << operand;
}

TEST(LoopPlan, Collapses) {
  // A row against a matrix, a column against a matrix, one value against a matrix.
  LoopPlan plan = PlanOf({2, 3, 4, 5}, {Dense({4, 5}), Dense({2, 3, 4, 5})});
  ExpectExtents(plan, {6, 20});
  ExpectStrides(plan, 0, {0, 4});
  ExpectStrides(plan, 1, {80, 4});
  EXPECT_FALSE(plan.operand[0].linear);
  EXPECT_TRUE(plan.operand[1].linear);

  plan = PlanOf({2, 3, 4, 5}, {Dense({2, 3, 1, 1}), Dense({2, 3, 4, 5})});
  ExpectExtents(plan, {6, 20});
  ExpectStrides(plan, 0, {4, 0});

  plan = PlanOf({2, 3, 4, 5}, {Dense({}), Dense({1, 1}), Dense({2, 3, 4, 5})});
  ExpectExtents(plan, {120});
  EXPECT_TRUE(plan.operand[0].linear);
  EXPECT_EQ(plan.operand[0].linear_stride, 0);

  // Broadcast in the middle: nothing can merge.
  plan = PlanOf({2, 3, 4}, {Dense({2, 1, 4}), Dense({2, 3, 4})});
  ExpectExtents(plan, {2, 3, 4});
  ExpectStrides(plan, 0, {16, 0, 4});
}

TEST(LoopPlan, Sorts) {
  // A transposed output decides the order; a dense input is then the one that jumps.
  Operand transposed{{3, 4}, {1, 3}, 0, ACL_FLOAT};
  LoopPlan plan = PlanOf({3, 4}, {Dense({3, 4}), transposed});
  ExpectExtents(plan, {4, 3});
  ExpectStrides(plan, 0, {4, 16});
  ExpectStrides(plan, 1, {12, 4});
  // Both transposed alike: one run.
  plan = PlanOf({3, 4}, {transposed, transposed});
  ExpectExtents(plan, {12});
  EXPECT_TRUE(plan.operand[0].linear && plan.operand[1].linear);
}

TEST(LoopPlan, Flips) {
  Operand backwards{{6}, {-1}, 5, ACL_FLOAT16};
  LoopPlan plan = PlanOf({6}, {Dense({6}), backwards});
  ExpectExtents(plan, {6});
  EXPECT_EQ(plan.operand[1].offset, 0);
  EXPECT_EQ(plan.operand[1].linear_stride, 2);
  EXPECT_EQ(plan.operand[0].offset, 20);
  EXPECT_EQ(plan.operand[0].linear_stride, -4);
  // An input that runs backwards alone keeps its direction: the output decides.
  plan = PlanOf({6}, {backwards, Dense({6})});
  EXPECT_EQ(plan.operand[0].offset, 10);
  EXPECT_EQ(plan.operand[0].linear_stride, -2);
}

TEST(LoopPlan, PaddedRowsStayTwoDims) {
  const Operand padded{{4, 5}, {7, 1}, 3, ACL_FLOAT};
  const LoopPlan plan = PlanOf({4, 5}, {padded, Dense({4, 5})});
  ExpectExtents(plan, {4, 5});
  ExpectStrides(plan, 0, {28, 4});
  EXPECT_EQ(plan.operand[0].offset, 12);
  EXPECT_FALSE(plan.operand[0].linear);
  EXPECT_TRUE(plan.operand[1].linear);
}

// ---- dense views ----

TEST(LoopPlan, DenseViewsIgnoreStrides) {
  const Dims shape = {4, 3, 5};
  for (const std::vector<int64_t>& strides :
       {std::vector<int64_t>{1, 4, 12}, std::vector<int64_t>{-15, -5, -1}, std::vector<int64_t>{0, 0, 0}}) {
    Operand operand{shape, strides, 2, ACL_FLOAT16, /*is_dense=*/true};
    const LoopPlan plan = PlanOf(shape, {operand, Dense(shape), operand});
    ExpectExtents(plan, {60});
    for (const int k : {0, 2}) {
      EXPECT_TRUE(plan.operand[k].linear);
      EXPECT_EQ(plan.operand[k].linear_stride, 2);
      EXPECT_EQ(plan.operand[k].offset, 4);
    }
  }
  // Of others the strides count.
  const Operand operand{shape, {1, 4, 12}, 0, ACL_FLOAT, /*is_dense=*/false};
  ExpectExtents(PlanOf(shape, {operand, Dense(shape)}), {4, 3, 5});
}

// ---- beyond what memory could hold ----

// Random positions of a plan too large to walk: the output, whose elements have distinct addresses, tells which logical
// index a position is, and every input must be at that index.
void ExpectSameVisitsSampled(const Dims& shape, const std::vector<Operand>& operands,
                             const std::vector<size_t>& output_order) {
  const LoopPlan plan = PlanOf(shape, operands);
  ASSERT_NO_FATAL_FAILURE(ExpectWellFormed(plan, shape, operands));
  const Operand& output = operands.back();
  RandomNumbers random(0xB16);
  for (int round = 0; round < 3000; ++round) {
    int64_t position[kMaxLoopRank];
    for (int axis = 0; axis < plan.rank; ++axis) {
      const int64_t last = plan.extent[axis] - 1;
      position[axis] = round == 0          ? 0
                       : round == 1        ? last
                       : random.Chance(10) ? last
                                           : random.Below(plan.extent[axis]);
    }
    const AddressTuple found = AddressesAt(plan, position);
    // The output is dense in output_order, outermost first: its address spells the index.
    int64_t element = found[operands.size() - 1] / output.ElementBytes() - output.offset;
    std::vector<int64_t> index(shape.size(), 0);
    for (size_t i = output_order.size(); i-- > 0;) {
      const size_t axis = output_order[i];
      index[axis] = element % shape[axis];
      element /= shape[axis];
    }
    ASSERT_EQ(element, 0);
    for (size_t k = 0; k < operands.size(); ++k) ASSERT_EQ(found[k], operands[k].Address(index)) << k;
  }
}

TEST(LoopPlan, ShapesPastTwoToThe33AndTwoToThe40Elements) {
  constexpr int64_t k20 = int64_t{1} << 20;
  for (const Dims& shape : {Dims{(int64_t{1} << 33) + 1}, Dims{k20, k20 + 3}, Dims{3, k20, 5, k20 / 4},
                            Dims{1 << 10, 1 << 10, 1 << 10, 1 << 11}, Dims{2, (int64_t{1} << 40) + 7},
                            Dims{(int64_t{1} << 40) + 7, 2}}) {
    const int64_t count = NumElements(shape);
    ASSERT_GT(count, int64_t{1} << 33);
    std::vector<size_t> in_order(shape.size());
    std::iota(in_order.begin(), in_order.end(), size_t{0});

    const LoopPlan dense = PlanOf(shape, {Dense(shape), Dense({}), Dense(shape, ACL_COMPLEX128)});
    ExpectExtents(dense, {count});
    EXPECT_EQ(dense.count, count);
    EXPECT_EQ(dense.BytesWalked(), 20 * count + 4) << "the value that is repeated is there once";
    EXPECT_EQ(dense.operand[2].linear_stride, 16);

    std::vector<Operand> operands = {Dense(shape, ACL_FLOAT16), Dense(shape, ACL_INT64),
                                     Dense(shape, ACL_COMPLEX128)};
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisitsSampled(shape, operands, in_order)) << Describe(shape, operands);
    // Broadcast rows and columns, and an input that runs backwards.
    Dims row(shape);
    row.front() = shape.size() > 1 ? 1 : row.front();
    Dims column(shape);
    column.back() = shape.size() > 1 ? 1 : column.back();
    operands[0] = Dense(row);
    operands[1] = Dense(column, ACL_BF16);
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisitsSampled(shape, operands, in_order)) << Describe(shape, operands);
    operands[0] = Dense(shape);
    operands[0].offset = count - 1;
    for (int64_t& stride : operands[0].strides) stride = -stride;
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisitsSampled(shape, operands, in_order)) << Describe(shape, operands);
    // A transposed output over dense inputs.
    std::vector<size_t> reversed(in_order.rbegin(), in_order.rend());
    Operand transposed = Dense(shape, ACL_DOUBLE);
    int64_t stride = 1;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      transposed.strides[axis] = stride;
      stride *= shape[axis];
    }
    operands = {Dense(shape), Dense(row), transposed};
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisitsSampled(shape, operands, reversed)) << Describe(shape, operands);
    // Padding that pushes addresses further than the count.
    Operand padded = Dense(shape, ACL_FLOAT);
    for (int64_t& one : padded.strides) one *= 3;
    operands = {padded, Dense(shape)};
    ASSERT_NO_FATAL_FAILURE(ExpectSameVisitsSampled(shape, operands, in_order)) << Describe(shape, operands);
  }
}

TEST(LoopPlan, TheLastAddressThatInt64Holds) {
  // 2^59 elements of 16 bytes end at 2^63 bytes: the last element lies just below.
  const Dims shape = {int64_t{1} << 30, int64_t{1} << 29};
  const LoopPlan plan = PlanOf(shape, {Dense({}), Dense(shape, ACL_COMPLEX128)});
  ExpectExtents(plan, {int64_t{1} << 59});
  EXPECT_EQ(plan.BytesWalked(), INT64_MAX) << "2^63 bytes do not fit";
  const int64_t last = plan.count - 1;
  EXPECT_EQ(AddressesAt(plan, &last)[1], INT64_MAX - 15);
  Operand backwards = Dense(shape, ACL_COMPLEX128);
  backwards.offset = last;
  for (int64_t& stride : backwards.strides) stride = -stride;
  const LoopPlan flipped = PlanOf(shape, {Dense({}), backwards});
  ExpectExtents(flipped, {int64_t{1} << 59});
  EXPECT_EQ(flipped.operand[1].offset, 0);
  EXPECT_EQ(flipped.operand[1].linear_stride, 16);
  // A repeated row of that length: the step past its end fits nowhere, and nothing lies there.
  const Dims repeated = {2, int64_t{1} << 29, int64_t{1} << 30};
  const Operand row{repeated, {0, int64_t{1} << 30, 1}, 0, ACL_COMPLEX128};
  const LoopPlan rows = PlanOf(repeated, {row, Dense(repeated, ACL_FLOAT16)});
  ExpectExtents(rows, {2, int64_t{1} << 59});
  ExpectStrides(rows, 0, {0, 16});
  EXPECT_FALSE(rows.operand[0].linear);
  EXPECT_TRUE(rows.operand[1].linear);
}

}  // namespace
}  // namespace portacl::testing
