// Operators that find what is there once: their checks, and shapes and elements against a search through all elements.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/sort.h"
#include "indexing/index_calls.h"
#include "support/contract_suite.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

const DtypeList kUniqueDrawn = {ACL_FLOAT,  ACL_FLOAT16, ACL_BF16,  ACL_INT8,   ACL_UINT8,
                                ACL_INT16,  ACL_UINT16,  ACL_INT32, ACL_UINT32, ACL_INT64,
                                ACL_UINT64, ACL_DOUBLE,  ACL_BOOL};

// One of few numbers, 0 with both signs and NaN among them.
Element Drawn(DtypeNumber dtype, RandomNumbers& random) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  const int64_t number = random.Between(-3, 3);
  if (IsComplexDtype(dtype))
    return ElementOfNumber(dtype, {static_cast<long double>(number), random.Chance(50) ? 1.0L : 0.0L});
  if (dtype == ACL_BOOL) {
    element[0] = std::byte{static_cast<unsigned char>(random.Below(2))};
  } else if (IsIntegerDtype(dtype)) {
    const int64_t far = ElementSize(dtype) == 8 && random.Chance(20) ? int64_t{1} << 62 : 0;
    EncodeIntegerElement(dtype, number + far, element.data());
  } else if (number == 3) {
    EncodeElement(dtype, std::numeric_limits<double>::quiet_NaN(), element.data());
  } else {
    EncodeElement(dtype, number == 0 && random.Chance(50) ? -0.0 : static_cast<double>(number) * 0.75,
                  element.data());
  }
  return element;
}

// How two elements compare: less, equal, greater; NaN is greater than all numbers, and not equal to itself.
int Compare(DtypeNumber dtype, const Element& a, const Element& b) {
  if (IsIntegerDtype(dtype) || dtype == ACL_BOOL) {
    const int64_t x = DecodeInteger(dtype, a.data());
    const int64_t y = DecodeInteger(dtype, b.data());
    if (dtype == ACL_UINT64) return static_cast<uint64_t>(x) < static_cast<uint64_t>(y) ? -1 : x != y;
    return x < y ? -1 : x > y;
  }
  double x[2] = {};
  double y[2] = {};
  const DtypeNumber wide = IsComplexDtype(dtype) ? ACL_COMPLEX128 : ACL_DOUBLE;
  const Element wide_a = ConvertedElement(dtype, a, wide);
  const Element wide_b = ConvertedElement(dtype, b, wide);
  std::memcpy(x, wide_a.data(), wide_a.size());
  std::memcpy(y, wide_b.data(), wide_b.size());
  if (std::isnan(x[0]) || std::isnan(x[1])) return 1;
  if (std::isnan(y[0]) || std::isnan(y[1])) return -1;
  if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
  return x[1] == y[1] ? 0 : 1;
}

struct Found {
  std::vector<int64_t> first;  // the part of each that is there once
  std::vector<int64_t> inverse;
  std::vector<int64_t> counts;
};

// Sorted, by looking at each element for what is less.
Found FindSorted(DtypeNumber dtype, const std::vector<Element>& elements) {
  std::vector<int64_t> order(elements.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const Element& x = elements[static_cast<size_t>(a)];
    const Element& y = elements[static_cast<size_t>(b)];
    // A NaN is not less than a NaN.
    return Compare(dtype, x, y) < 0 && !(Compare(dtype, x, x) != 0 && Compare(dtype, y, y) != 0);
  });
  Found found;
  found.inverse.resize(elements.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const auto at = static_cast<size_t>(order[i]);
    if (i == 0 || Compare(dtype, elements[static_cast<size_t>(order[i - 1])], elements[at]) != 0) {
      found.first.push_back(order[i]);
      found.counts.push_back(0);
    }
    ++found.counts.back();
    found.inverse[at] = std::ssize(found.first) - 1;
  }
  return found;
}

// Runs of parts along dim; without one of elements.
Found FindRuns(const TensorValues& self, const std::vector<int64_t>& dim_of_parts) {
  const int64_t n =
      dim_of_parts.empty() ? NumElements(self.shape) : self.shape[static_cast<size_t>(dim_of_parts[0])];
  Found found;
  for (int64_t i = 0; i < n; ++i) {
    bool equal = i > 0;
    for (int64_t k = 0; equal && k < std::ssize(self.elements); ++k) {
      Index at = IndexAt(self.shape, k);
      const int64_t place = dim_of_parts.empty() ? k : at[static_cast<size_t>(dim_of_parts[0])];
      if (place != i) continue;
      if (!dim_of_parts.empty()) --at[static_cast<size_t>(dim_of_parts[0])];
      const Element& before = dim_of_parts.empty() ? self.elements[static_cast<size_t>(k - 1)] : At(self, at);
      equal = Compare(self.dtype, before, self.elements[static_cast<size_t>(k)]) == 0;
    }
    if (!equal) {
      found.first.push_back(i);
      found.counts.push_back(0);
    }
    ++found.counts.back();
    found.inverse.push_back(std::ssize(found.first) - 1);
  }
  return found;
}

void ExpectNumbers(const HostTensor& tensor, const std::vector<int64_t>& expected, bool in_place) {
  for (int64_t i = 0; i < std::ssize(expected); ++i) {
    // Places are where the view has them, counts one behind the other.
    const std::byte* const at = in_place ? tensor.Element(i) : tensor.Element(0) + 8 * i;
    ASSERT_EQ(DecodeInteger(ACL_INT64, at), expected[static_cast<size_t>(i)]) << i;
  }
}

// One call with drawn elements.
void CheckUnique(const CFunction& function, const Shape& shape, DtypeNumber dtype, bool inverse, bool counts,
                 int64_t dim, bool has_counts, bool consecutive, aclrtStream stream, RandomNumbers& random) {
  HostTensor self(dtype, MakeView(shape, kOutputLayouts[random.Below(std::size(kOutputLayouts))], random));
  TensorValues values{dtype, shape, {}};
  Element last = Drawn(dtype, random);
  for (int64_t i = 0; i < self.size(); ++i) {
    if (!consecutive || random.Chance(40)) last = Drawn(dtype, random);
    std::memcpy(self.Element(i), last.data(), last.size());
    values.elements.push_back(last);
  }
  const bool along = consecutive && dim != 1000 && !shape.empty();
  const size_t axis = along ? Wrapped(dim, shape) : 0;
  // Parts that are equal, so that there are runs of them.
  for (int64_t i = 0; along && i < self.size(); ++i) {
    Index at = IndexAt(shape, i);
    if (at[axis] == 0 || (at[axis] * 7 + shape[axis]) % 3 == 0) continue;
    --at[axis];
    const auto from = static_cast<size_t>(PositionOf(shape, at));
    values.elements[static_cast<size_t>(i)] = values.elements[from];
    std::memcpy(self.Element(i), values.elements[from].data(), values.elements[from].size());
  }
  const Found found = consecutive ? FindRuns(values, along ? std::vector<int64_t>{static_cast<int64_t>(axis)}
                                                           : std::vector<int64_t>{})
                                  : FindSorted(dtype, values.elements);
  const int64_t parts = along ? shape[axis] : self.size();
  HostTensor value_out(dtype, MakeView(along ? shape : Shape{self.size()}, Layout::kDenseOffset, random));
  const bool wants_places = inverse || (has_counts && counts && !consecutive);
  HostTensor inverse_out(
      ACL_INT64,
      MakeView(wants_places ? (along ? Shape{parts} : shape) : Shape{0},
               wants_places ? kOutputLayouts[random.Below(std::size(kOutputLayouts))] : Layout::kDense,
               random));
  HostTensor counts_out(
      ACL_INT64, MakeView(counts ? (along && !consecutive ? Shape{parts} : Shape{along ? parts : self.size()})
                                 : Shape{0},
                          counts ? Layout::kDenseOffset : Layout::kDense, random));
  for (HostTensor* tensor : {&self, &value_out, &inverse_out, &counts_out}) tensor->Remember();
  std::vector<Argument> arguments = {{.tensor = self.Handle()}};
  if (!consecutive) arguments.push_back({.integer = random.Below(2)});
  arguments.push_back({.integer = inverse});
  if (has_counts) arguments.push_back({.integer = counts});
  if (consecutive) arguments.push_back({.integer = dim});
  arguments.push_back({.tensor = value_out.Handle()});
  arguments.push_back({.tensor = inverse_out.Handle()});
  if (has_counts) arguments.push_back({.tensor = counts_out.Handle()});
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(function.plan(arguments, &size, &executor), 0) << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(function.run(workspace.device(), size, executor, stream), 0) << TakeErrorMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeErrorMessage();
  Shape expected = along ? shape : Shape{0};
  expected[axis] = std::ssize(found.first);
  EXPECT_EQ(ViewShapeOf(value_out.Handle()), expected);
  EXPECT_TRUE(self.Unchanged());
  for (const HostTensor* tensor : {&value_out, &inverse_out, &counts_out})
    EXPECT_TRUE(tensor->UnchangedOutsideView());
  for (int64_t i = 0; i < NumElements(expected); ++i) {
    Index at = IndexAt(expected, i);
    at[axis] = found.first[static_cast<size_t>(at[axis])];
    const Element& one = along ? At(values, at) : values.elements[static_cast<size_t>(at[0])];
    ASSERT_EQ(std::memcmp(value_out.Element(i), one.data(), one.size()), 0)
        << function.name << " " << DtypeName(dtype) << " at " << i;
  }
  if (inverse) ExpectNumbers(inverse_out, found.inverse, true);
  if (counts) {
    EXPECT_EQ(ViewShapeOf(counts_out.Handle()), Shape{std::ssize(found.first)});
    ExpectNumbers(counts_out, found.counts, false);
  }
}

TEST(Unique, ElementsPlacesAndCounts) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x11111);
    for (int i = 0; i < 400; ++i) {
      const Shape shape = i % 100 == 99 ? Shape{3, 50000} : DrawShape(random, 0, 4);
      const DtypeNumber dtype = DrawDtype(random, kUniqueDrawn);
      const bool inverse = random.Chance(50);
      const bool counts = random.Chance(50);
      if (i % 3 == 0)
        CheckUnique(PORTACL_C_FUNCTION(aclnnUnique), shape, dtype, inverse, false, 1000, false, false,
                    environment.stream(), random);
      else
        CheckUnique(PORTACL_C_FUNCTION(aclnnUnique2), shape, dtype, inverse, counts, 1000, true, false,
                    environment.stream(), random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(Unique, Runs) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x22222);
    for (int i = 0; i < 400; ++i) {
      Shape shape = DrawShape(random, 0, 3);
      DtypeNumber dtype = DrawDtype(random, kUniqueDrawn);
      if (random.Chance(15)) dtype = random.Chance(50) ? ACL_COMPLEX64 : ACL_COMPLEX128;
      const int64_t rank = std::max<int64_t>(std::ssize(shape), 1);
      const int64_t dim = random.Chance(40) ? 1000 : random.Between(-rank, rank - 1);
      CheckUnique(PORTACL_C_FUNCTION(aclnnUniqueConsecutive), shape, dtype, random.Chance(50),
                  random.Chance(50), dim, true, true, environment.stream(), random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// What finds more than there is room for writes nothing behind it.
TEST(Unique, StaysInsideSmallOutputs) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> data = {3, 1, 2, 1, 5};
  std::vector<float> found(5, -7);
  std::vector<int64_t> places(5, -7);
  std::vector<int64_t> counts(5, -7);
  aclTensor* const self = Dense({5}, ACL_FLOAT, data);
  aclTensor* const tensors[] = {Dense({2}, ACL_FLOAT, found), Dense({3}, ACL_INT64, places),
                                Dense({1}, ACL_INT64, counts)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnUniqueConsecutiveGetWorkspaceSize(self, true, true, 1000, tensors[0], tensors[1],
                                                      tensors[2], size, executor);
      },
      aclnnUniqueConsecutive, environment.stream());
  EXPECT_EQ(called.status, 0);
  EXPECT_EQ(found, (std::vector<float>{3, 1, -7, -7, -7}));
  EXPECT_EQ(places, (std::vector<int64_t>{0, 1, 2, -7, -7}));
  EXPECT_EQ(counts, (std::vector<int64_t>{1, -7, -7, -7, -7}));
  EXPECT_EQ(ViewShapeOf(tensors[0]), Shape{2});
  EXPECT_EQ(ViewShapeOf(tensors[2]), Shape{1});
  aclDestroyTensor(self);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// Where nobody asks for places and counts there is another loop, which writes elements before it knows that they are new.
TEST(Unique, RunsAloneStayInsideASmallOutput) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> data = {3, 3, 1, 2, 2, 5};
  std::vector<float> found(6, -7);
  std::vector<int64_t> none(1, -7);
  aclTensor* const tensors[] = {Dense({6}, ACL_FLOAT, data), Dense({2}, ACL_FLOAT, found),
                                Dense({0}, ACL_INT64, none), Dense({0}, ACL_INT64, none)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnUniqueConsecutiveGetWorkspaceSize(tensors[0], false, false, 1000, tensors[1], tensors[2],
                                                      tensors[3], size, executor);
      },
      aclnnUniqueConsecutive, environment.stream());
  EXPECT_EQ(called.status, 0) << called.message;
  EXPECT_EQ(found, (std::vector<float>{3, 1, -7, -7, -7, -7}));
  EXPECT_EQ(ViewShapeOf(tensors[1]), Shape{2});
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

template <class T>
void CheckLongRuns(DtypeNumber dtype, aclrtStream stream) {
  RandomNumbers random(0x33333);
  std::vector<T> data(100000);
  std::vector<T> expected;
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = i > 0 && random.Chance(60) ? data[i - 1] : static_cast<T>(random.Below(5));
    if (i == 0 || data[i] != data[i - 1]) expected.push_back(data[i]);
  }
  std::vector<T> found(data.size(), T{77});
  std::vector<int64_t> none(1, -7);
  const Shape shape = {std::ssize(data)};
  aclTensor* const tensors[] = {Dense(shape, dtype, data), Dense(shape, dtype, found),
                                Dense({0}, ACL_INT64, none), Dense({0}, ACL_INT64, none)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnUniqueConsecutiveGetWorkspaceSize(tensors[0], false, false, 1000, tensors[1], tensors[2],
                                                      tensors[3], size, executor);
      },
      aclnnUniqueConsecutive, stream);
  EXPECT_EQ(called.status, 0) << called.message;
  EXPECT_EQ(ViewShapeOf(tensors[1]), Shape{std::ssize(expected)}) << DtypeName(dtype);
  expected.resize(found.size(), T{77});
  EXPECT_TRUE(found == expected) << DtypeName(dtype);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// Long tensors are cut among threads, which end and begin inside of runs.
TEST(Unique, RunsOfManyElements) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    CheckLongRuns<float>(ACL_FLOAT, environment.stream());
    CheckLongRuns<double>(ACL_DOUBLE, environment.stream());
    CheckLongRuns<int8_t>(ACL_INT8, environment.stream());
    CheckLongRuns<int16_t>(ACL_INT16, environment.stream());
    CheckLongRuns<int64_t>(ACL_INT64, environment.stream());
  }
}

// Bits of -0 and of each NaN stay; what is unsigned ascends as such.
TEST(Unique, KeepsTheFirstOfEqualOnes) {
  const ScopedEnvironment environment(Variables{});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> data = {nan, 0.0f, -1, -0.0f, nan, -1};
  std::vector<float> found(6, -7);
  std::vector<int64_t> places(6);
  aclTensor* const tensors[] = {Dense({6}, ACL_FLOAT, data), Dense({6}, ACL_FLOAT, found),
                                Dense({6}, ACL_INT64, places)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnUniqueGetWorkspaceSize(tensors[0], true, true, tensors[1], tensors[2], size, executor);
      },
      aclnnUnique, environment.stream());
  EXPECT_EQ(called.first, 0);
  EXPECT_EQ(ViewShapeOf(tensors[1]), Shape{4});
  EXPECT_EQ(found[0], -1);
  EXPECT_EQ(found[1], 0);
  EXPECT_FALSE(std::signbit(found[1]));
  EXPECT_TRUE(std::isnan(found[2]) && std::isnan(found[3]));
  EXPECT_EQ(places, (std::vector<int64_t>{2, 1, 0, 1, 3, 0}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// ---- UniqueDim ----

// The slices of a tensor along a dim, as rows of elements.
std::vector<std::vector<Element>> SlicesOf(const TensorValues& values, size_t dim) {
  std::vector<std::vector<Element>> slices(static_cast<size_t>(values.shape[dim]));
  for (int64_t i = 0; i < std::ssize(values.elements); ++i)
    slices[static_cast<size_t>(IndexAt(values.shape, i)[dim])].push_back(
        values.elements[static_cast<size_t>(i)]);
  return slices;
}
bool HasNan(DtypeNumber dtype, const std::vector<Element>& slice) {
  return std::any_of(slice.begin(), slice.end(), [&](const Element& x) { return Compare(dtype, x, x) != 0; });
}
bool AreEqual(DtypeNumber dtype, const std::vector<Element>& a, const std::vector<Element>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    if (Compare(dtype, a[k], b[k]) != 0) return false;
  }
  return true;
}
// NaN is greater than every number, and as great as another one.
bool IsBefore(DtypeNumber dtype, const std::vector<Element>& a, const std::vector<Element>& b) {
  for (size_t k = 0; k < a.size(); ++k) {
    const bool first_is_nan = HasNan(dtype, {a[k]});
    const bool second_is_nan = HasNan(dtype, {b[k]});
    if (first_is_nan && second_is_nan) continue;
    if (first_is_nan != second_is_nan) return second_is_nan;
    const int order = Compare(dtype, a[k], b[k]);
    if (order != 0) return order < 0;
  }
  return false;
}

void CheckSlices(const Shape& shape, DtypeNumber dtype, int64_t dim, bool inverse, bool counts,
                 aclrtStream stream, RandomNumbers& random) {
  const size_t axis = Wrapped(dim, shape);
  HostTensor self(dtype, MakeView(shape, kOutputLayouts[random.Below(std::size(kOutputLayouts))], random));
  TensorValues values{dtype, shape, {}};
  for (int64_t i = 0; i < self.size(); ++i) values.elements.push_back(Drawn(dtype, random));
  // Slices that are equal to one before them.
  for (int64_t i = 0; i < self.size(); ++i) {
    Index at = IndexAt(shape, i);
    if (at[axis] > 1 && at[axis] % 3 != 0) at[axis] /= 3;
    const auto from = static_cast<size_t>(PositionOf(shape, at));
    values.elements[static_cast<size_t>(i)] = values.elements[from];
  }
  for (int64_t i = 0; i < self.size(); ++i) {
    const Element& element = values.elements[static_cast<size_t>(i)];
    std::memcpy(self.Element(i), element.data(), element.size());
  }
  const std::vector<std::vector<Element>> slices = SlicesOf(values, axis);
  std::vector<int64_t> order(slices.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  const auto slice = [&](int64_t i) -> const std::vector<Element>& { return slices[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return IsBefore(dtype, slice(a), slice(b)); });
  std::vector<int64_t> first;
  std::vector<int64_t> how_often;
  std::vector<int64_t> places(slices.size());
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || !AreEqual(dtype, slice(order[i - 1]), slice(order[i]))) {
      first.push_back(order[i]);
      how_often.push_back(0);
    }
    ++how_often.back();
    places[static_cast<size_t>(order[i])] = std::ssize(first) - 1;
  }
  const int64_t count = shape[axis];
  HostTensor value_out(dtype, MakeView(shape, Layout::kDenseOffset, random));
  HostTensor inverse_out(ACL_INT64, MakeView({count}, inverse ? Layout::kStepped : Layout::kDense, random));
  HostTensor counts_out(
      ACL_INT64, MakeView({counts ? count : 0}, counts ? Layout::kDenseOffset : Layout::kDense, random));
  for (HostTensor* tensor : {&self, &value_out, &inverse_out, &counts_out}) tensor->Remember();
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnUniqueDimGetWorkspaceSize(self.Handle(), true, inverse, dim, value_out.Handle(),
                                           inverse_out.Handle(), counts_out.Handle(), &size, &executor),
            0)
      << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnUniqueDim(workspace.device(), size, executor, stream), 0) << TakeErrorMessage();
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0) << TakeErrorMessage();
  Shape expected = shape;
  expected[axis] = std::ssize(first);
  EXPECT_EQ(ViewShapeOf(value_out.Handle()), expected);
  EXPECT_TRUE(self.Unchanged());
  for (const HostTensor* tensor : {&value_out, &inverse_out, &counts_out})
    EXPECT_TRUE(tensor->UnchangedOutsideView());
  for (int64_t i = 0; i < NumElements(expected); ++i) {
    Index at = IndexAt(expected, i);
    at[axis] = first[static_cast<size_t>(at[axis])];
    const Element& one = At(values, at);
    ASSERT_EQ(std::memcmp(value_out.Element(0) + i * std::ssize(one), one.data(), one.size()), 0)
        << DtypeName(dtype) << ToString(shape) << " along " << dim << " at " << i;
  }
  if (inverse) {
    ExpectNumbers(inverse_out, places, true);
  } else {
    EXPECT_TRUE(inverse_out.Unchanged());
  }
  if (!counts) return;
  EXPECT_EQ(ViewShapeOf(counts_out.Handle()), Shape{std::ssize(first)});
  ExpectNumbers(counts_out, how_often, false);
}

TEST(Unique, Slices) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x33333);
    for (int i = 0; i < 200; ++i) {
      Shape shape = DrawShape(random, 1, 4);
      if (i % 50 == 49) shape = {2, 3000, 2};
      const int64_t rank = std::ssize(shape);
      const int64_t dim = i % 50 == 49 ? 1 : random.Between(-rank, rank - 1);
      if (NumElements(shape) == 0) continue;
      CheckSlices(shape, DrawDtype(random, kUniqueDrawn), dim, random.Chance(60), random.Chance(80),
                  environment.stream(), random);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// ---- codes ----

OperatorSpec UniqueDim() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnUniqueDim);
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3}),
              IntegerArg("sorted", 1),
              IntegerArg("returnInverse", 1),
              IntegerArg("dim", 1),
              OutputArg("valueOut", {2, 3}),
              OutputArg("inverseOut", {3}, ACL_INT64),
              OutputArg("countsOut", {3}, ACL_INT64)};
  op.rules = {NoNulls("self valueOut inverseOut countsOut"),
              DtypeIn("self", kFDI + kUnsigned),
              DtypeIn("inverseOut countsOut", {{ACL_INT64}}),
              SameDtype("self", "valueOut"),
              Ranks("self", 0, 8),
              Dims("dim", "self"),
              DoneIfEmpty("self")};
  op.draw = [](PlanCall&, RandomNumbers&) {};
  return op;
}

std::vector<OperatorSpec> UniqueOperators() {
  std::vector<OperatorSpec> all;
  for (const int form : {0, 1, 2}) {  // Unique, Unique2, UniqueConsecutive
    OperatorSpec op;
    op.function = form == 0   ? PORTACL_C_FUNCTION(aclnnUnique)
                  : form == 1 ? PORTACL_C_FUNCTION(aclnnUnique2)
                              : PORTACL_C_FUNCTION(aclnnUniqueConsecutive);
    op.takes_workspace = true;
    op.valid = {TensorArg("self", {2, 3})};
    if (form < 2) op.valid.push_back(IntegerArg("sorted", 1));
    op.valid.push_back(IntegerArg("returnInverse", 1));
    if (form > 0) op.valid.push_back(IntegerArg("returnCounts", 1));
    if (form == 2) op.valid.push_back(IntegerArg("dim", 1000));
    op.valid.push_back(OutputArg("valueOut", {6}));
    op.valid.push_back(OutputArg("inverseOut", {2, 3}, ACL_INT64));
    if (form > 0) op.valid.push_back(OutputArg("countsOut", {6}, ACL_INT64));
    const std::string counts = form > 0 ? " countsOut" : "";
    Listed list = (form == 2 ? kWithComplex : kFDI) + kUnsigned;
    op.rules = {NoNulls("self valueOut inverseOut" + counts), DtypeIn("self", list),
                DtypeIn("inverseOut" + counts, {{ACL_INT64}})};
    if (form == 2) op.rules.push_back(SameDtype("self", "valueOut"));
    op.rules.push_back(Ranks("self", 0, 8));
    if (form == 2) {
      op.rules.push_back(Refuses(161002, "dim", [](PlanCall& call) {
        return call["dim"].integer != 1000 && !IsDimOf(call["dim"].integer, call["self"].shape);
      }));
    } else {
      op.rules.push_back(Refuses(161002, "inverseOut countsOut", [=](PlanCall& call) {
        const bool gives_counts = form == 1 && call["returnCounts"].integer != 0;
        if ((call["returnInverse"].integer != 0 || gives_counts) &&
            call["inverseOut"].shape != call["self"].shape)
          return true;
        return gives_counts && call["countsOut"].shape != call["valueOut"].shape;
      }));
    }
    op.rules.push_back(DoneIfEmpty("self"));
    if (form < 2)
      op.rules.push_back(Refuses(
          561103, "valueOut", [](PlanCall& call) { return call["valueOut"].dtype != call["self"].dtype; }));
    op.draw = [](PlanCall&, RandomNumbers&) {};
    all.push_back(op);
  }
  return all;
}

TEST(Unique, Codes) {
  for (const OperatorSpec& op : UniqueOperators()) CheckContract(op);
  CheckContract(UniqueDim());
}

}  // namespace
}  // namespace portacl::testing
