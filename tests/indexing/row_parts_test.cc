// InplaceScatterUpdate and ScatterList, which write a part of every row of a batch: their checks, every element against loops over
// logical indices, and what leads nowhere.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/indexing.h"
#include "index_calls.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kTiling = 561002;
const DtypeList kFloat8Dtypes = {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN};

bool IsNew(const PlanCall& call) {
  return call.product == Product::kA2 || call.product == Product::kA3 || call.product == Product::k950;
}
bool IsIn(const DtypeList& list, DtypeNumber dtype) {
  return std::find(list.begin(), list.end(), dtype) != list.end();
}
void SetInteger(HostTensor& tensor, int64_t at, int64_t value) {
  EncodeIntegerElement(tensor.dtype(), value, tensor.Element(at));
}

// A tensor no two of whose elements share memory.
PlanArgument DistinctArg(const std::string& name, const Shape& shape, DtypeNumber dtype) {
  PlanArgument argument = TensorArg(name, shape, dtype);
  argument.is_distinct = true;
  return argument;
}

// ---- InplaceScatterUpdate ----

OperatorSpec Update() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceScatterUpdate);
  op.valid = {OutputArg("data", {3, 5, 4}), DistinctArg("indices", {2}, ACL_INT64),
              TensorArg("updates", {2, 2, 4}), IntegerArg("axis", -2)};
  op.updates = true;
  op.rules = {
      NoNulls("data indices updates"),
      Refuses(161002, "data",
              [](PlanCall& call) {
                const DtypeNumber dtype = call["data"].dtype;
                if (IsIn({ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_INT32}, dtype)) return false;
                if (dtype == ACL_BF16) return !IsNew(call);
                return call.product != Product::k950 || !(dtype == ACL_UINT8 || IsIn(kFloat8Dtypes, dtype));
              }),
      SameDtype("data", "updates"),
      DtypeIn("indices", kIndices),
      Refuses(161002, "data indices updates",
              [](PlanCall& call) {
                return NumElements(call["data"].shape) == 0 || NumElements(call["indices"].shape) == 0 ||
                       NumElements(call["updates"].shape) == 0;
              }),
      Refuses(161002, "indices updates",
              [](PlanCall& call) {
                const Shape& updates = call["updates"].shape;
                const Shape& indices = call["indices"].shape;
                if (updates.size() != call["data"].shape.size() || indices.size() > 2) return true;
                return indices.empty() && LengthAt(updates, 0) != 1;
              }),
      Refuses(kTiling, "",
              [](PlanCall& call) {
                const Shape& data = call["data"].shape;
                const Shape& updates = call["updates"].shape;
                const Shape& indices = call["indices"].shape;
                if (data.size() < 2 || data.size() > 8 || !IsDimOf(call["axis"].integer, data)) return true;
                const size_t axis = Wrapped(call["axis"].integer, data);
                if (axis == 0) return true;
                for (size_t dim = 1; dim < data.size(); ++dim) {
                  if (dim == axis ? updates[dim] > data[dim] : updates[dim] != data[dim]) return true;
                }
                if (!indices.empty() && indices[0] != updates[0]) return true;
                return indices.size() == 2 ? indices[1] != 2 : updates[0] > data[0];
              }),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const auto rank = static_cast<size_t>(random.Between(2, 5));
    const auto axis = static_cast<size_t>(random.Between(1, static_cast<int64_t>(rank) - 1));
    Shape data;
    for (size_t dim = 0; dim < rank; ++dim) data.push_back(random.Between(1, 5));
    data[0] = random.Between(1, 9);
    data.back() = random.Chance(30) ? random.Between(1, 70) : data.back();
    Shape updates = data;
    updates[axis] = random.Between(1, data[axis]);
    const int64_t columns = random.Chance(10) ? 0 : random.Chance(30) ? 2 : 1;
    updates[0] = columns == 0 ? 1 : columns == 1 ? random.Between(1, data[0]) : random.Between(1, 6);
    call["data"].shape = data;
    call["updates"].shape = updates;
    call["data"].dtype = call["updates"].dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT32});
    call["indices"].dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    call["indices"].shape = columns == 0 ? Shape{} : columns == 1 ? Shape{updates[0]} : Shape{updates[0], 2};
    call["axis"].integer = static_cast<int64_t>(axis) - (random.Chance(50) ? static_cast<int64_t>(rank) : 0);
  };
  op.range = [](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
    if (tensor != 1 || call["indices"].shape.size() == 2) return std::nullopt;
    const size_t axis = Wrapped(call["axis"].integer, call["data"].shape);
    return IndexRange{0, call["data"].shape[axis] - call["updates"].shape[axis] + 1};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    if (call["indices"].shape.size() != 2) return;
    const Shape& data = call["data"].shape;
    const size_t axis = Wrapped(call["axis"].integer, data);
    for (int64_t i = 0; i < tensors[1].size(); ++i)
      SetInteger(tensors[1], i,
                 random.Below(i % 2 == 0 ? data[0] : data[axis] - call["updates"].shape[axis] + 1));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& indices = tensors[1];
    const TensorValues& updates = tensors[2];
    const Shape& data = tensors[0].shape;
    const size_t axis = Wrapped(call["axis"].integer, data);
    const bool names_batch = indices.shape.size() == 2;
    Outcome out(static_cast<size_t>(NumElements(data)));
    for (int64_t i = 0; i < std::ssize(updates.elements); ++i) {
      Index at = IndexAt(updates.shape, i);
      const int64_t row = at[0];
      const int64_t start = indices.Integer(names_batch ? 2 * row + 1 : row);
      if (names_batch) at[0] = indices.Integer(2 * row);
      if (!IsPlace(start, data[axis] - updates.shape[axis] + 1) || !IsPlace(at[0], data[0])) continue;
      at[axis] += start;
      out[static_cast<size_t>(PositionOf(data, at))] = updates.elements[static_cast<size_t>(i)];
    }
    return std::vector<Outcome>{out};
  };
  return op;
}

// ---- ScatterList ----

OperatorSpec List() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnScatterList);
  op.valid = {ListArg("varRef", {{5, 4}, {5, 4}, {5, 4}}, true),
              DistinctArg("indice", {3}, ACL_INT64),
              TensorArg("updates", {3, 2, 4}),
              DistinctArg("maskOptional", {3}, ACL_UINT8),
              TextArg("reduceOptional", "update"),
              IntegerArg("axis", -2)};
  op.takes_workspace = true;
  op.updates = true;
  Listed list = {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8,
                  ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_BOOL}};
  list.on_new = {ACL_BF16};
  list.on_950 = kFloat8Dtypes;
  op.rules = {
      NoNulls("varRef indice updates"),
      DtypeIn("varRef", list),
      DtypeIn("updates", list),
      Refuses(161002, "varRef",
              [](PlanCall& call) {
                for (const PlanArgument& entry : call["varRef"].entries) {
                  if (entry.dtype != call["updates"].dtype) return true;
                }
                return false;
              }),
      DtypeIn("indice", kIndices),
      Refuses(161002, "maskOptional",
              [](PlanCall& call) {
                return !call["maskOptional"].null && call["maskOptional"].dtype != ACL_UINT8;
              }),
      Refuses(kTiling, "reduceOptional",
              [](PlanCall& call) {
                return !call["reduceOptional"].null && call["reduceOptional"].text != "update";
              }),
      Refuses(kTiling, "",
              [](PlanCall& call) {
                const auto& entries = call["varRef"].entries;
                const int64_t count = std::ssize(entries);
                const Shape& updates = call["updates"].shape;
                const Shape& indice = call["indice"].shape;
                if (count == 0 || updates.size() < 2 || updates.size() > 8) return true;
                if (!IsDimOf(call["axis"].integer, updates)) return true;
                const size_t axis = Wrapped(call["axis"].integer, updates);
                if (axis == 0 || updates[0] != count) return true;
                for (const PlanArgument& entry : entries) {
                  if (entry.shape != entries[0].shape || entry.shape.size() + 1 != updates.size())
                    return true;
                  for (size_t dim = 1; dim < updates.size(); ++dim) {
                    const int64_t length = entry.shape[dim - 1];
                    if (dim == axis ? updates[dim] > length : updates[dim] != length) return true;
                  }
                }
                if (indice != Shape{count} && indice != Shape{count, 2}) return true;
                return !call["maskOptional"].null && call["maskOptional"].shape != Shape{count};
              }),
      DoneIfEmpty("updates"),
  };
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t count = random.Chance(10) ? random.Between(30, 50) : random.Between(1, 9);
    const auto rank = static_cast<size_t>(random.Between(2, 5));
    const auto axis = static_cast<size_t>(random.Between(1, static_cast<int64_t>(rank) - 1));
    Shape updates = {count};
    for (size_t dim = 1; dim < rank; ++dim) updates.push_back(random.Between(1, 5));
    Shape var(updates.begin() + 1, updates.end());
    var[axis - 1] += random.Between(0, 4);
    if (random.Chance(5)) updates[axis] = 0;
    const DtypeNumber dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT64, ACL_BOOL, ACL_UINT16});
    PlanArgument& vars = call["varRef"];
    vars = ListArg("varRef", std::vector<Shape>(static_cast<size_t>(count), var), true, dtype);
    call["updates"].shape = updates;
    call["updates"].dtype = dtype;
    call["indice"].dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    call["indice"].shape = random.Chance(65) ? Shape{count} : Shape{count, 2};
    call["maskOptional"].shape = {count};
    call["maskOptional"].null = random.Chance(80);
    call["reduceOptional"].null = random.Chance(30);
    call["axis"].integer = static_cast<int64_t>(axis) - (random.Chance(50) ? static_cast<int64_t>(rank) : 0);
  };
  // Where some rows are not looked at, or a start depends on a length, `fill` sets the indices.
  op.range = [](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
    const auto& entries = call["varRef"].entries;
    const Shape& updates = call["updates"].shape;
    if (tensor != entries.size() || call["indice"].shape.size() == 2 || !call["maskOptional"].null ||
        NumElements(updates) == 0)
      return std::nullopt;
    const size_t axis = Wrapped(call["axis"].integer, updates);
    return IndexRange{0, entries[0].shape[axis - 1] - updates[axis] + 1};
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const auto& entries = call["varRef"].entries;
    const size_t count = entries.size();
    const Shape& updates = call["updates"].shape;
    const size_t axis = Wrapped(call["axis"].integer, updates);
    HostTensor& indice = tensors[count];
    const bool has_mask = !call["maskOptional"].null;
    const bool has_lengths = call["indice"].shape.size() == 2;
    for (size_t b = 0; b < count; ++b) {
      const auto row = static_cast<int64_t>(b);
      const bool is_written = !has_mask || random.Chance(60);
      if (has_mask) SetInteger(tensors[count + 2], row, is_written ? 1 : random.Chance(50) ? 0 : 2);
      const int64_t length = has_lengths ? random.Below(updates[axis] + 1) : updates[axis];
      const int64_t start = random.Below(entries[0].shape[axis - 1] - length + 1);
      SetInteger(indice, has_lengths ? 2 * row : row, is_written ? start : -9);
      if (has_lengths) SetInteger(indice, 2 * row + 1, is_written ? length : 99);
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const size_t count = call["varRef"].entries.size();
    const TensorValues& indice = tensors[count];
    const TensorValues& updates = tensors[count + 1];
    const size_t axis = Wrapped(call["axis"].integer, updates.shape);
    const bool has_lengths = indice.shape.size() == 2;
    std::vector<Outcome> outcomes;
    for (size_t b = 0; b < count; ++b) outcomes.emplace_back(tensors[b].elements.size());
    for (int64_t i = 0; i < std::ssize(updates.elements); ++i) {
      Index at = IndexAt(updates.shape, i);
      const int64_t row = at[0];
      if (!call["maskOptional"].null && tensors[count + 2].Integer(row) != 1) continue;
      const Shape& var = tensors[static_cast<size_t>(row)].shape;
      const int64_t start = indice.Integer(has_lengths ? 2 * row : row);
      const int64_t length = has_lengths ? indice.Integer(2 * row + 1) : updates.shape[axis];
      if (!IsPlace(length, updates.shape[axis] + 1) || !IsPlace(start, var[axis - 1] - length + 1)) continue;
      if (at[axis] >= length) continue;
      at[axis] += start;
      at.erase(at.begin());
      outcomes[static_cast<size_t>(row)][static_cast<size_t>(PositionOf(var, at))] =
          updates.elements[static_cast<size_t>(i)];
    }
    return outcomes;
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {Update(), List()};
  return all;
}

PORTACL_OPERATOR_TESTS(RowParts, Operators());

TEST_P(RowParts, BadIndices) { CheckBadIndices(*GetParam()); }

// A bad row is left out whole, the first one is named, and the others are written.
TEST(RowsOfTwoColumns, OutOfRangeAreLeftOutAndNamed) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> indices = {1, 1, 0, 2, 2, 0};
  std::vector<float> updates = {10, 20, 30, 40, 50, 60};
  aclTensor* const tensors[] = {Dense({2, 3}, ACL_FLOAT, data), Dense({3, 2}, ACL_INT64, indices),
                                Dense({3, 2}, ACL_FLOAT, updates)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnInplaceScatterUpdateGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 1, size,
                                                         executor);
      },
      aclnnInplaceScatterUpdate, environment.stream());
  EXPECT_EQ(called.first, 507015);
  EXPECT_NE(called.message.find("indices has the value 2 at element 3, accepted: 0 to 1."), std::string::npos)
      << called.message;
  EXPECT_EQ(data, (std::vector<float>{1, 2, 3, 4, 10, 20}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

TEST(StartsAndLengths, OutOfRangeAreLeftOutAndNamed) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> vars[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  std::vector<int32_t> indice = {2, 1, 2, 2, 0, 3, 1, 0};
  std::vector<float> updates = {10, 20, 30, 40, 50, 60, 70, 80};
  std::vector<const aclTensor*> entries;
  for (auto& var : vars) entries.push_back(Dense({3}, ACL_FLOAT, var));
  aclTensorList* const list = aclCreateTensorList(entries.data(), entries.size());
  aclTensor* const tensors[] = {Dense({4, 2}, ACL_INT32, indice), Dense({4, 2}, ACL_FLOAT, updates)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnScatterListGetWorkspaceSize(list, tensors[0], tensors[1], nullptr, nullptr, -1, size,
                                                executor);
      },
      aclnnScatterList, environment.stream());
  EXPECT_EQ(called.first, 507015);
  EXPECT_NE(called.message.find("indice has the value 2 at element 2, accepted: 0 to 1."), std::string::npos)
      << called.message;
  EXPECT_EQ(vars[0], (std::vector<float>{1, 2, 10}));
  EXPECT_EQ(vars[1], (std::vector<float>{4, 5, 6}));
  EXPECT_EQ(vars[2], (std::vector<float>{7, 8, 9}));
  EXPECT_EQ(vars[3], (std::vector<float>{10, 11, 12}));
  aclDestroyTensorList(list);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

}  // namespace
}  // namespace portacl::testing
