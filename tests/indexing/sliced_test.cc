// Operators that take, or combine with, the slices of a tensor that indices name: their checks, and every element against loops over
// logical indices.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/indexing.h"
#include "gtest/gtest.h"
#include "index_calls.h"

namespace portacl::testing {
namespace {

std::ptrdiff_t Signed(size_t size) { return static_cast<std::ptrdiff_t>(size); }

// Whether a row of indices names a slice, or each index does.
enum class Naming : uint8_t { kRow, kEach };

// The shape of the slices.
Shape SlicesOf(const Shape& data, const Shape& indices, Naming naming) {
  if (naming == Naming::kEach) {
    Shape shape = indices;
    shape.insert(shape.end(), data.begin() + 1, data.end());
    return shape;
  }
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + indices.back(), data.end());
  return shape;
}
bool NamesTooMany(const Shape& data, const Shape& indices) {
  return indices.empty() || indices.back() > std::ssize(data);
}

// The place in the data of an element of the slices. Indices below 0 count from the end with `wraps`.
Index PlaceOf(const TensorValues& indices, const Shape& data, const Index& at, Naming naming, bool wraps) {
  const std::ptrdiff_t rows = Signed(indices.shape.size()) - (naming == Naming::kRow ? 1 : 0);
  const int64_t named = naming == Naming::kRow ? indices.shape.back() : 1;
  Index row(at.begin(), at.begin() + rows);
  if (naming == Naming::kRow) row.push_back(0);
  Index place;
  for (int64_t k = 0; k < named; ++k) {
    if (naming == Naming::kRow) row.back() = k;
    const int64_t index = indices.Integer(PositionOf(indices.shape, row));
    place.push_back(wraps ? Wrap(index, data[static_cast<size_t>(k)]) : index);
  }
  place.insert(place.end(), at.begin() + rows, at.end());
  return place;
}
bool AreAll(const Index& place, const Shape& data) {
  for (size_t i = 0; i < place.size(); ++i) {
    if (!IsPlace(place[i], data[i])) return false;
  }
  return true;
}

// Indices of which a few are out of range.
void FillIndices(HostTensor& tensor, const Shape& data, Naming naming, bool wraps, RandomNumbers& random) {
  const int64_t named = naming == Naming::kRow ? tensor.shape().back() : 1;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t length = data[static_cast<size_t>(i % named)];
    EncodeIntegerElement(tensor.dtype(), random.Between(wraps ? -length : 0, length - 1), tensor.Element(i));
  }
}

OperatorSpec Gather() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGatherNd);
  op.valid = {TensorArg("self", {3, 2}), TensorArg("indices", {4, 1}, ACL_INT64),
              IntegerArg("negativeIndexSupport", 1), OutputArg("out", {4, 2})};
  op.rules = {NoNulls("self indices out"),
              DtypeIn("self", kFDCI),
              DtypeIn("indices", kIndices),
              SameDtype("self", "out"),
              Ranks("self indices out", 0, 8),
              Refuses(161002, "indices self",
                      [](PlanCall& call) { return NamesTooMany(call["self"].shape, call["indices"].shape); }),
              Refuses(161002, "out indices self",
                      [](PlanCall& call) {
                        return call["out"].shape !=
                               SlicesOf(call["self"].shape, call["indices"].shape, Naming::kRow);
                      }),
              DoneIfEmpty("self indices")};
  const auto wraps = [](const PlanCall& call) { return call["negativeIndexSupport"].integer != 0; };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kDrawn);
    const Shape self = DrawShape(random, 1, 4);
    Shape indices = DrawShape(random, 0, 2);
    indices.push_back(random.Between(1, std::ssize(self)));
    call["self"] = TensorArg("self", self, dtype);
    call["indices"] = TensorArg("indices", indices, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["indices"].is_distinct = true;
    call["negativeIndexSupport"].integer = random.Below(2);
    call["out"] = OutputArg("out", SlicesOf(self, indices, Naming::kRow), dtype);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillIndices(tensors[1], call["self"].shape, Naming::kRow, wraps(call), random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& self = call["self"].shape;
    return std::vector<Outcome>{ForEachElement(call["out"].shape, [&](Index& at) -> std::optional<Element> {
      return Taken(tensors[0], PlaceOf(tensors[1], self, at, Naming::kRow, wraps(call)));
    })};
  };
  return op;
}

// TfScatterAdd, which chooses how slices are named by the shapes, and the others, in which each index names one.
OperatorSpec Combined(const CFunction& function, int64_t reduce) {
  const bool adds = reduce == 1;
  const aclnnStatus late = adds ? 161002 : 561002;
  OperatorSpec op;
  op.function = function;
  op.takes_workspace = op.is_inexact = op.updates = true;
  op.valid = {OutputArg("varRef", {3, 2}), TensorArg("indices", {4}, ACL_INT64),
              TensorArg("updates", {4, 2})};
  if (!adds) op.valid.push_back(IntegerArg("useLocking", 0));
  Listed list = {{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8, ACL_INT32}, {ACL_BF16}};
  if (adds) list = list + DtypeList{ACL_INT16, ACL_INT64};
  const auto naming_of = [=](const PlanCall& call) {
    const Shape& data = call["varRef"].shape;
    const bool is_each =
        !data.empty() && call["updates"].shape == SlicesOf(data, call["indices"].shape, Naming::kEach);
    return is_each || !adds ? Naming::kEach : Naming::kRow;
  };
  op.rules = {NoNulls("varRef indices updates"),
              DtypeIn("varRef", list),
              DtypeIn("indices", kIndices),
              SameDtype("varRef", "updates"),
              Refuses(late, "varRef indices updates",
                      [=](PlanCall& call) {
                        const Shape& data = call["varRef"].shape;
                        const Shape& indices = call["indices"].shape;
                        for (const char* name : {"varRef", "indices", "updates"}) {
                          if (call[name].shape.size() > 8) return true;
                        }
                        const Naming naming = naming_of(call);
                        if (naming == Naming::kEach ? data.empty() : NamesTooMany(data, indices)) return true;
                        return call["updates"].shape != SlicesOf(data, indices, naming);
                      }),
              DoneIfEmpty("varRef indices updates")};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DtypeList drawn = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8, ACL_INT32};
    if (adds) drawn.push_back(ACL_INT64);
    const DtypeNumber dtype = DrawDtype(random, drawn);
    const Shape data = DrawShape(random, 1, 4);
    Shape indices = DrawShape(random, 0, 2, 9);
    const Naming naming = adds && random.Chance(50) ? Naming::kRow : Naming::kEach;
    if (naming == Naming::kRow) indices.push_back(random.Between(1, std::ssize(data)));
    call["varRef"] = OutputArg("varRef", data, dtype);
    call["indices"] = TensorArg("indices", indices, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["indices"].is_distinct = true;
    call["updates"] = TensorArg("updates", SlicesOf(data, indices, naming), dtype);
  };
  op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillIndices(tensors[1], call["varRef"].shape, naming_of(call), false, random);
  };
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<Cell> cells = CellsOf(tensors[0]);
    const TensorValues& updates = tensors[2];
    for (int64_t i = 0; i < std::ssize(updates.elements); ++i) {
      const Index place =
          PlaceOf(tensors[1], tensors[0].shape, IndexAt(updates.shape, i), naming_of(call), false);
      if (!AreAll(place, tensors[0].shape)) continue;
      cells[static_cast<size_t>(PositionOf(tensors[0].shape, place))].Combine(
          reduce, updates.dtype, updates.elements[static_cast<size_t>(i)]);
    }
    return std::vector<Outcome>{OutcomeOf(cells)};
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {
      Gather(),
      Combined(PORTACL_C_FUNCTION(aclnnTfScatterAdd), 1),
      Combined(PORTACL_C_FUNCTION(aclnnScatterMul), 2),
      Combined(PORTACL_C_FUNCTION(aclnnScatterMax), 3),
      Combined(PORTACL_C_FUNCTION(aclnnScatterMin), 4),
      Combined(PORTACL_C_FUNCTION(aclnnScatterDiv), Cell::kDivides)};
  return all;
}
PORTACL_OPERATOR_TESTS(Sliced, Operators());

// What is out of range changes nothing, is taken as 0, and fails the stream, which names the first.
TEST(SlicedOutOfRange, LeftOutAndNamed) {
  const ScopedEnvironment environment(Variables{});
  std::vector<int32_t> data = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> indices = {0, 1, 2, 0, 1, -1, 1, 2};
  std::vector<int32_t> updates = {10, 20, 30, 40};
  aclTensor* const tensors[] = {Dense({2, 3}, ACL_INT32, data), Dense({4, 2}, ACL_INT64, indices),
                                Dense({4}, ACL_INT32, updates)};
  const Called added = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnTfScatterAddGetWorkspaceSize(tensors[0], tensors[1], tensors[2], size, executor);
      },
      aclnnTfScatterAdd, environment.stream());
  EXPECT_EQ(added.first, 507015);
  EXPECT_NE(added.message.find("indices has the value 2 at element 2, accepted: 0 to 1."), std::string::npos)
      << added.message;
  EXPECT_EQ(data, (std::vector<int32_t>{1, 12, 3, 4, 5, 46}));
  for (const bool wraps : {false, true}) {
    const Called taken = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnGatherNdGetWorkspaceSize(tensors[0], tensors[1], wraps, tensors[2], size, executor);
        },
        aclnnGatherNd, environment.stream());
    EXPECT_EQ(taken.first, 507015);
    EXPECT_NE(taken.message.find(wraps ? "accepted: -2 to 1." : "accepted: 0 to 1."), std::string::npos)
        << taken.message;
    EXPECT_EQ(updates, (std::vector<int32_t>{12, 0, wraps ? 46 : 0, 46}));
  }
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// Where there is nothing to take from, nothing is looked up.
TEST(SlicedOutOfRange, NothingToTakeFrom) {
  const ScopedEnvironment environment(Variables{});
  std::vector<int32_t> data = {1};
  std::vector<int64_t> indices = {0, 7};
  std::vector<int32_t> out = {5, 5};
  aclTensor* const tensors[] = {Dense({0, 1}, ACL_INT32, data), Dense({2, 1}, ACL_INT64, indices),
                                Dense({2, 1}, ACL_INT32, out)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnGatherNdGetWorkspaceSize(tensors[0], tensors[1], false, tensors[2], size, executor);
      },
      aclnnGatherNd, environment.stream());
  EXPECT_EQ(called.status, 0);
  EXPECT_EQ(called.first, 0) << called.message;
  EXPECT_EQ(out, (std::vector<int32_t>{5, 5}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// Quotients that no processor has.
TEST(SlicedQuotients, OfIntegers) {
  const ScopedEnvironment environment(Variables{});
  std::vector<int8_t> data = {-128, 7, -7, 5};
  std::vector<int32_t> indices = {0, 1, 2, 3, 1};
  std::vector<int8_t> updates = {-1, 2, 2, 0, -2};
  aclTensor* const tensors[] = {Dense({4}, ACL_INT8, data), Dense({5}, ACL_INT32, indices),
                                Dense({5}, ACL_INT8, updates)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnScatterDivGetWorkspaceSize(tensors[0], tensors[1], tensors[2], true, size, executor);
      },
      aclnnScatterDiv, environment.stream());
  EXPECT_EQ(called.first, 0) << called.message;
  EXPECT_EQ(data, (std::vector<int8_t>{-128, -1, -3, 0}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

}  // namespace
}  // namespace portacl::testing
