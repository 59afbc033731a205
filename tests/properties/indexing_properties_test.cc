// What holds between operators that move and index elements: what one undoes of another, and what several say in their own ways.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "aclnnop/families/indexing.h"
#include "aclnnop/families/shape.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/operator_spec.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

using Values = std::vector<int64_t>;

class Ints {
 public:
  explicit Ints(const Values& values) : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~Ints() { aclDestroyIntArray(array_); }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

// The list owns its handles, not the tensors' memory.
class List {
 public:
  explicit List(const std::vector<HostTensor*>& tensors) {
    std::vector<aclTensor*> handles;
    for (HostTensor* tensor : tensors) {
      const View& view = tensor->view();
      handles.push_back(aclCreateTensor(view.shape.data(), view.shape.size(), AsAclDataType(tensor->dtype()),
                                        view.strides.data(), view.offset, ACL_FORMAT_ND,
                                        view.storage_dims.data(), view.storage_dims.size(),
                                        tensor->buffer().device()));
    }
    list_ = aclCreateTensorList(handles.data(), handles.size());
  }
  ~List() { aclDestroyTensorList(list_); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  operator aclTensorList*() const { return list_; }

 private:
  aclTensorList* list_ = nullptr;
};

class Scalar {
 public:
  explicit Scalar(float value) : scalar_(aclCreateScalar(&value, ACL_FLOAT)) {}
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  operator const aclScalar*() const { return scalar_; }

 private:
  aclScalar* scalar_;
};

std::vector<Element> ElementsOf(const HostTensor& tensor) {
  std::vector<Element> elements;
  const auto size = static_cast<size_t>(ElementSize(tensor.dtype()));
  for (int64_t i = 0; i < tensor.size(); ++i)
    elements.emplace_back(tensor.Element(i), tensor.Element(i) + size);
  return elements;
}

Shape With(Shape shape, size_t dim, int64_t length) {
  shape[dim] = length;
  return shape;
}

class IndexingProperties : public ::testing::Test {
 protected:
  IndexingProperties() : environment_(Variables{{"PORTACL_NUM_THREADS", "2"}}), random_(0x1A3) {}

  // Random bytes in a random layout; floats are ordinary numbers whose sums depend on their order.
  HostTensor Tensor(DtypeNumber dtype, const Shape& shape) {
    HostTensor tensor(dtype,
                      MakeView(shape, kOutputLayouts[random_.Below(std::size(kOutputLayouts))], random_));
    const auto size = static_cast<size_t>(ElementSize(dtype));
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const uint64_t bits = random_.Bits();
      std::memcpy(tensor.Element(i), &bits, std::min<size_t>(size, 8));
      if (IsFloatingDtype(dtype)) tensor.Set(i, random_.Unit() * 1e3 - 300);
    }
    return tensor;
  }
  HostTensor Zeros(DtypeNumber dtype, const Shape& shape) {
    HostTensor tensor = Tensor(dtype, shape);
    for (int64_t i = 0; i < tensor.size(); ++i)
      std::memset(tensor.Element(i), 0, static_cast<size_t>(ElementSize(dtype)));
    return tensor;
  }
  template <class ValueAt>
  HostTensor Indices(const Shape& shape, const ValueAt& value_at) {
    HostTensor tensor(random_.Chance(50) ? ACL_INT64 : ACL_INT32,
                      MakeView(shape, kOutputLayouts[random_.Below(std::size(kOutputLayouts))], random_));
    for (int64_t i = 0; i < tensor.size(); ++i)
      EncodeIntegerElement(tensor.dtype(), value_at(IndexAt(shape, i)), tensor.Element(i));
    return tensor;
  }
  HostTensor IndicesBelow(const Shape& shape, int64_t below) {
    return Indices(shape, [&](const Values&) { return random_.Below(below); });
  }
  Values Permutation(int64_t n) {
    Values values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    for (int64_t i = n - 1; i > 0; --i)
      std::swap(values[static_cast<size_t>(i)], values[static_cast<size_t>(random_.Below(i + 1))]);
    return values;
  }

  // Calls phase 1 with `plan(size, executor)` and phase 2.
  template <class Plan, class Run>
  void Call(const Plan& plan, const Run& run) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(plan(&size, &executor), 0) << TakeErrorMessage();
    const GuardedBuffer workspace(size);
    ASSERT_EQ(run(size == 0 ? nullptr : workspace.device(), size, executor, environment_.stream()), 0)
        << TakeErrorMessage();
    ASSERT_EQ(aclrtSynchronizeStream(environment_.stream()), 0) << TakeErrorMessage();
  }

  // Calls `body` with many shapes of rank 1 to `most_rank`, two of them large enough for several tiles and threads, a dtype and a dim of it.
  template <class Body>
  void ForManyShapes(size_t most_rank, const std::vector<DtypeNumber>& dtypes, const Body& body) {
    for (int i = 0; i < 40 && !HasFatalFailure() && !HasNonfatalFailure(); ++i) {
      Shape shape = DrawShape(random_, 1, most_rank, 9);
      if (i == 38) shape = {3, 1300};  // longer than a tile
      if (i == 39) shape = {301, 257};
      const DtypeNumber dtype = dtypes[static_cast<size_t>(random_.Below(std::ssize(dtypes)))];
      const auto dim = static_cast<size_t>(random_.Below(std::ssize(shape)));
      SCOPED_TRACE(DtypeName(dtype) + ToString(shape) + " dim " + std::to_string(dim));
      body(shape, dtype, dim);
    }
  }

  const ScopedEnvironment environment_;
  RandomNumbers random_;
};

const std::vector<DtypeNumber> kMoved = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8,
                                         ACL_INT32, ACL_INT64,   ACL_BOOL};
const std::vector<DtypeNumber> kSummed = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT64};

#define PORTACL_CALL(function, ...)                                                                       \
  Call([&](uint64_t* size,                                                                                \
           aclOpExecutor** executor) { return function##GetWorkspaceSize(__VA_ARGS__, size, executor); }, \
       function)

TEST_F(IndexingProperties, PermutingBackGivesTheTensor) {
  ForManyShapes(5, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t) {
    HostTensor self = Tensor(dtype, shape);
    const Values dims = Permutation(std::ssize(shape));
    Values back(dims.size());
    Shape permuted(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      back[static_cast<size_t>(dims[i])] = static_cast<int64_t>(i);
      permuted[i] = shape[static_cast<size_t>(dims[i])];
    }
    HostTensor between = Tensor(dtype, permuted);
    HostTensor again = Tensor(dtype, shape);
    PORTACL_CALL(aclnnPermute, self.Handle(), Ints(dims), between.Handle());
    PORTACL_CALL(aclnnPermute, between.Handle(), Ints(back), again.Handle());
    EXPECT_EQ(ElementsOf(again), ElementsOf(self));
  });
}

TEST_F(IndexingProperties, RollingAndFlippingBackGiveTheTensor) {
  ForManyShapes(4, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t dim) {
    HostTensor self = Tensor(dtype, shape);
    HostTensor between = Tensor(dtype, shape);
    HostTensor again = Tensor(dtype, shape);
    const Values dims = {static_cast<int64_t>(dim), 0};
    const Values shifts = {random_.Between(-20, 20), random_.Between(-20, 20)};
    PORTACL_CALL(aclnnRoll, self.Handle(), Ints(shifts), Ints(dims), between.Handle());
    PORTACL_CALL(aclnnRoll, between.Handle(), Ints({-shifts[0], -shifts[1]}), Ints(dims), again.Handle());
    EXPECT_EQ(ElementsOf(again), ElementsOf(self));
    const Values flipped = {static_cast<int64_t>(dim)};
    PORTACL_CALL(aclnnFlip, self.Handle(), Ints(flipped), between.Handle());
    PORTACL_CALL(aclnnFlip, between.Handle(), Ints(flipped), again.Handle());
    EXPECT_EQ(ElementsOf(again), ElementsOf(self));
  });
}

TEST_F(IndexingProperties, PartsJoinedAgainGiveTheTensor) {
  ForManyShapes(4, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t dim) {
    HostTensor self = Tensor(dtype, shape);
    const auto axis = static_cast<int64_t>(dim);
    // Parts of any sizes, then parts of one.
    for (const bool any : {true, false}) {
      const int64_t one = random_.Between(1, shape[dim]);
      Values sizes;
      for (int64_t rest = shape[dim]; rest > 0; rest -= sizes.back())
        sizes.push_back(any ? random_.Between(1, rest) : std::min(one, rest));
      std::vector<HostTensor> parts;
      for (const int64_t length : sizes) parts.push_back(Tensor(dtype, With(shape, dim, length)));
      std::vector<HostTensor*> pointers;
      for (HostTensor& part : parts) pointers.push_back(&part);
      const List list(pointers);
      if (any) {
        PORTACL_CALL(aclnnSplitWithSize, self.Handle(), Ints(sizes), axis, list);
      } else {
        PORTACL_CALL(aclnnSplitTensor, self.Handle(), static_cast<uint64_t>(one), axis, list);
      }
      HostTensor joined = Tensor(dtype, shape);
      PORTACL_CALL(aclnnCat, list, axis, joined.Handle());
      EXPECT_EQ(ElementsOf(joined), ElementsOf(self));
    }
  });
}

TEST_F(IndexingProperties, EachOfAStackIsSlicedOut) {
  ForManyShapes(3, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t dim) {
    HostTensor first = Tensor(dtype, shape);
    HostTensor second = Tensor(dtype, shape);
    HostTensor third = Tensor(dtype, shape);
    const std::vector<HostTensor*> all = {&first, &second, &third};
    const auto axis = static_cast<int64_t>(dim);
    Shape stacked = shape;
    stacked.insert(stacked.begin() + axis, 3);
    HostTensor stack = Tensor(dtype, stacked);
    PORTACL_CALL(aclnnStack, List(all), axis, stack.Handle());
    for (int64_t i = 0; i < 3; ++i) {
      HostTensor out = Tensor(dtype, With(stacked, dim, 1));
      PORTACL_CALL(aclnnSlice, stack.Handle(), axis, i, i + 1, 1, out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(*all[static_cast<size_t>(i)]));
    }
  });
}

TEST_F(IndexingProperties, WhatIsPaddedIsInsideThePads) {
  ForManyShapes(3, {ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT64},
                [&](const Shape& shape, DtypeNumber dtype, size_t) {
                  Values pads;
                  Values starts;
                  Values ends;
                  Values axes;
                  Shape padded = shape;
                  for (size_t dim = 0; dim < shape.size(); ++dim) {
                    const int64_t before = random_.Below(4);
                    const int64_t after = random_.Below(4);
                    pads.insert(pads.begin(), {before, after});
                    padded[dim] += before + after;
                    starts.push_back(before);
                    ends.push_back(before + shape[dim]);
                    axes.push_back(static_cast<int64_t>(dim));
                  }
                  HostTensor self = Tensor(dtype, shape);
                  HostTensor wide = Tensor(dtype, padded);
                  HostTensor again = Tensor(dtype, shape);
                  PORTACL_CALL(aclnnConstantPadNd, self.Handle(), Ints(pads), Scalar(3), wide.Handle());
                  PORTACL_CALL(aclnnSliceV2, wide.Handle(), Ints(starts), Ints(ends), Ints(axes),
                               Ints(Values(axes.size(), 1)), again.Handle());
                  EXPECT_EQ(ElementsOf(again), ElementsOf(self));
                });
}

TEST_F(IndexingProperties, TheDiagonalOfADiagonalMatrix) {
  for (const int64_t diagonal : {-3, 0, 2}) {
    HostTensor self = Tensor(ACL_FLOAT, {4, 5});
    const int64_t side = 20 + std::abs(diagonal);
    HostTensor matrix = Tensor(ACL_FLOAT, {side, side});
    HostTensor again = Tensor(ACL_FLOAT, {20});
    PORTACL_CALL(aclnnDiagFlat, self.Handle(), diagonal, matrix.Handle());
    PORTACL_CALL(aclnnDiag, matrix.Handle(), diagonal, again.Handle());
    EXPECT_EQ(ElementsOf(again), ElementsOf(self));
  }
}

TEST_F(IndexingProperties, RepeatingIsJoiningAndSelecting) {
  ForManyShapes(3, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t dim) {
    const auto axis = static_cast<int64_t>(dim);
    const Shape thrice = With(shape, dim, 3 * shape[dim]);
    HostTensor self = Tensor(dtype, shape);
    HostTensor repeated = Tensor(dtype, thrice);
    HostTensor joined = Tensor(dtype, thrice);
    Values repeats(shape.size(), 1);
    repeats[dim] = 3;
    PORTACL_CALL(aclnnRepeat, self.Handle(), Ints(repeats), repeated.Handle());
    PORTACL_CALL(aclnnCat, List({&self, &self, &self}), axis, joined.Handle());
    EXPECT_EQ(ElementsOf(repeated), ElementsOf(joined));

    HostTensor index = Indices({thrice[dim]}, [&](const Values& at) { return at[0] / 3; });
    PORTACL_CALL(aclnnIndexSelect, self.Handle(), axis, index.Handle(), joined.Handle());
    if (dtype == ACL_BOOL) return;
    PORTACL_CALL(aclnnRepeatInterleaveIntWithDim, self.Handle(), 3, axis, thrice[dim], repeated.Handle());
    EXPECT_EQ(ElementsOf(repeated), ElementsOf(joined));
  });
}

TEST_F(IndexingProperties, ExpandingIsSelectingTheFirst) {
  ForManyShapes(3, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t dim) {
    HostTensor self = Tensor(dtype, With(shape, dim, 1));
    HostTensor expanded = Tensor(dtype, shape);
    HostTensor selected = Tensor(dtype, shape);
    HostTensor index = Indices({shape[dim]}, [](const Values&) { return 0; });
    PORTACL_CALL(aclnnExpand, self.Handle(), Ints(shape), expanded.Handle());
    PORTACL_CALL(aclnnIndexSelect, self.Handle(), static_cast<int64_t>(dim), index.Handle(),
                 selected.Handle());
    EXPECT_EQ(ElementsOf(expanded), ElementsOf(selected));
  });
}

TEST_F(IndexingProperties, WhatWasPutIsTaken) {
  ForManyShapes(4, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t dim) {
    const auto axis = static_cast<int64_t>(dim);
    HostTensor self = Tensor(dtype, shape);
    HostTensor source = Tensor(dtype, shape);
    HostTensor written = Tensor(dtype, shape);
    HostTensor again = Tensor(dtype, shape);
    // Every line along the dim has a permutation of its own, counted from the end on every other one.
    std::vector<Values> lines;
    for (int64_t i = 0; i < NumElements(shape) / shape[dim]; ++i) lines.push_back(Permutation(shape[dim]));
    HostTensor index = Indices(shape, [&](Values at) {
      const int64_t place = at[dim];
      at[dim] = 0;
      const int64_t line = PositionOf(With(shape, dim, 1), at);
      return lines[static_cast<size_t>(line)][static_cast<size_t>(place)] - (line % 2) * shape[dim];
    });
    PORTACL_CALL(aclnnScatter, self.Handle(), axis, index.Handle(), source.Handle(), 0, written.Handle());
    PORTACL_CALL(aclnnGather, written.Handle(), axis, index.Handle(), again.Handle());
    EXPECT_EQ(ElementsOf(again), ElementsOf(source));

    const Values order = Permutation(shape[dim]);
    HostTensor slices =
        Indices({shape[dim]}, [&](const Values& at) { return order[static_cast<size_t>(at[0])]; });
    PORTACL_CALL(aclnnIndexCopy, self.Handle(), axis, slices.Handle(), source.Handle(), written.Handle());
    PORTACL_CALL(aclnnIndexSelect, written.Handle(), axis, slices.Handle(), again.Handle());
    EXPECT_EQ(ElementsOf(again), ElementsOf(source));
  });
}

TEST_F(IndexingProperties, FiveWaysToTakeRows) {
  for (const int64_t columns : {1, 7, 1300}) {
    for (const DtypeNumber dtype : kMoved) {
      const int64_t count = columns == 1300 ? 100 : 500;
      HostTensor self = Tensor(dtype, {40, columns});
      HostTensor rows = IndicesBelow({count}, 40);
      const Shape shape = {count, columns};
      HostTensor expected = Tensor(dtype, shape);
      HostTensor out = Tensor(dtype, shape);
      PORTACL_CALL(aclnnIndexSelect, self.Handle(), 0, rows.Handle(), expected.Handle());
      PORTACL_CALL(aclnnGatherV2, self.Handle(), 0, rows.Handle(), out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(expected));
      PORTACL_CALL(aclnnEmbedding, self.Handle(), rows.Handle(), out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(expected));
      PORTACL_CALL(aclnnIndex, self.Handle(), List({&rows}), out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(expected));
      HostTensor each = Indices(shape, [&](const Values& at) { return rows.Integer(at[0]); });
      PORTACL_CALL(aclnnGather, self.Handle(), 0, each.Handle(), out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(expected));
      HostTensor flat =
          Indices(shape, [&](const Values& at) { return rows.Integer(at[0]) * columns + at[1]; });
      PORTACL_CALL(aclnnTake, self.Handle(), flat.Handle(), out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(expected));
    }
  }
}

// Sums have one order, so that all of them have the same bits.
TEST_F(IndexingProperties, FourWaysToAddRows) {
  for (const int64_t columns : {1, 7, 1300}) {
    for (const DtypeNumber dtype : kSummed) {
      const int64_t count = columns == 1 ? 50000 : columns == 7 ? 700 : 150;
      HostTensor zeros = Zeros(dtype, {40, columns});
      HostTensor rows = IndicesBelow({count}, 40);
      HostTensor source = Tensor(dtype, {count, columns});
      HostTensor expected = Tensor(dtype, {40, columns});
      HostTensor out = Tensor(dtype, {40, columns});
      PORTACL_CALL(aclnnIndexAdd, zeros.Handle(), 0, rows.Handle(), source.Handle(), Scalar(1),
                   expected.Handle());
      HostTensor each = Indices({count, columns}, [&](const Values& at) { return rows.Integer(at[0]); });
      PORTACL_CALL(aclnnScatterAdd, zeros.Handle(), 0, each.Handle(), source.Handle(), out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(expected));
      HostTensor changed = Zeros(dtype, {40, columns});
      PORTACL_CALL(aclnnIndexPutImpl, changed.Handle(), List({&rows}), source.Handle(), true, false);
      EXPECT_EQ(ElementsOf(changed), ElementsOf(expected));
      if (!IsFloatingDtype(dtype)) continue;
      PORTACL_CALL(aclnnEmbeddingDenseBackward, source.Handle(), rows.Handle(), 40, ~uint64_t{0}, false,
                   out.Handle());
      EXPECT_EQ(ElementsOf(out), ElementsOf(expected));
    }
  }
}

TEST_F(IndexingProperties, MasksChooseTheSameEverywhere) {
  ForManyShapes(3, kMoved, [&](const Shape& shape, DtypeNumber dtype, size_t) {
    HostTensor self = Tensor(dtype, shape);
    HostTensor mask(ACL_BOOL, MakeView(shape, Layout::kDense, random_));
    int64_t chosen = 0;
    for (int64_t i = 0; i < mask.size(); ++i) {
      *mask.Element(i) = std::byte{static_cast<unsigned char>(i == 0 || random_.Chance(40) ? 1 : 0)};
      chosen += static_cast<int64_t>(*mask.Element(i));
    }
    HostTensor by_mask = Tensor(dtype, {chosen});
    PORTACL_CALL(aclnnIndex, self.Handle(), List({&mask}), by_mask.Handle());
    const int64_t count =
        NumElements(shape);  // outputs have room for all, and are filled densely from their start
    HostTensor selected(dtype, MakeView({count}, Layout::kDense, random_));
    PORTACL_CALL(aclnnMaskedSelect, self.Handle(), mask.Handle(), selected.Handle());
    std::vector<Element> first = ElementsOf(selected);
    first.resize(static_cast<size_t>(chosen));
    EXPECT_EQ(first, ElementsOf(by_mask));

    // The columns of the places are indices of their own.
    const auto rank = std::ssize(shape);
    HostTensor places(ACL_INT64, MakeView({rank, count}, Layout::kDense, random_));
    HostTensor below(ACL_INT64, MakeView({count, rank}, Layout::kDense, random_));
    PORTACL_CALL(aclnnNonzeroV2, mask.Handle(), places.Handle());
    PORTACL_CALL(aclnnNonzero, mask.Handle(), below.Handle());
    std::vector<HostTensor> columns;
    for (int64_t dim = 0; dim < rank; ++dim) {
      columns.push_back(Indices({chosen}, [&](const Values& at) {
        EXPECT_EQ(below.Integer(at[0] * rank + dim), places.Integer(dim * chosen + at[0]));
        return places.Integer(dim * chosen + at[0]);
      }));
    }
    std::vector<HostTensor*> pointers;
    for (HostTensor& column : columns) pointers.push_back(&column);
    HostTensor by_places = Tensor(dtype, {chosen});
    PORTACL_CALL(aclnnIndex, self.Handle(), List(pointers), by_places.Handle());
    EXPECT_EQ(ElementsOf(by_places), ElementsOf(by_mask));

    // What a mask takes and puts back changes nothing; what it puts is taken again.
    HostTensor given = Tensor(dtype, {chosen});
    PORTACL_CALL(aclnnIndexPutImpl, self.Handle(), List({&mask}), given.Handle(), false, false);
    PORTACL_CALL(aclnnIndex, self.Handle(), List(pointers), by_places.Handle());
    EXPECT_EQ(ElementsOf(by_places), ElementsOf(given));
  });
}

}  // namespace
}  // namespace portacl::testing
