// Describes an operator that moves or indexes elements: its C function, the answers of phase 1 by CANN's
// checks, valid calls, and the expected value of every output element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "c_function.h"
#include "converted_value.h"
#include "map_rules.h"
#include "shapes.h"
#include "tensor_view.h"

namespace portacl::testing {

// Where a tensor's elements lie, for calls that phase 1 alone sees. Numbers count elements.
struct Strides {
  bool are_given = false;             // else they are those of a dense tensor, passed as null
  std::vector<int64_t> of_dims = {};  // a shape of another rank has `of_any` in every dim
  int64_t of_any = 77;
  int64_t offset = 0;
  std::optional<Shape> storage = {};  // its dims; nullopt: those of the tensor

  std::vector<int64_t> For(const Shape& shape) const {
    return of_dims.size() == shape.size() ? of_dims : std::vector<int64_t>(shape.size(), of_any);
  }
};

// One argument. `kind` selects the members in use.
struct IndexArgument {
  ParameterKind kind = ParameterKind::kTensor;
  std::string name;
  bool is_output = false;    // of a tensor or a list: written
  bool is_distinct = false;  // no two of its elements share memory, unlike those of an expanded view
  bool null = false;
  DtypeNumber dtype = ACL_FLOAT;  // of a tensor or scalar
  Shape shape = {2, 3};
  int32_t format = ACL_FORMAT_ND;
  Strides strides = {};
  bool is_unread = false;                   // needs no address
  bool is_contiguous = false;               // whether the operator takes no other view
  std::vector<IndexArgument> entries = {};  // of a list
  std::vector<IndexArgument> scalars = {};  // of a list of scalars
  std::vector<int64_t> values = {};         // of an array
  int64_t integer = 0;
  Number number = {};  // of a scalar
  double real = 0;
  std::string text = {};
};

IndexArgument TensorArg(const std::string& name, const Shape& shape, DtypeNumber dtype = ACL_FLOAT);
IndexArgument OutputArg(const std::string& name, const Shape& shape, DtypeNumber dtype = ACL_FLOAT);
IndexArgument ListArg(const std::string& name, const std::vector<Shape>& shapes, bool is_output = false,
                      DtypeNumber dtype = ACL_FLOAT);
IndexArgument ArrayArg(const std::string& name, const std::vector<int64_t>& values);
IndexArgument IntegerArg(const std::string& name, int64_t value);
IndexArgument RealArg(const std::string& name, double value);
IndexArgument TextArg(const std::string& name, const std::string& text);
IndexArgument ScalarArg(const std::string& name, Number value, DtypeNumber dtype = ACL_FLOAT);
IndexArgument ScalarsArg(const std::string& name, const std::vector<Number>& values,
                         DtypeNumber dtype = ACL_FLOAT);

struct IndexOperator;

struct IndexCall {
  const IndexOperator* op = nullptr;
  Product product = Product::kA2;
  std::vector<IndexArgument> arguments;  // in the order of the C signature
  bool null_workspace_size = false;
  bool null_executor = false;
  DtypeNumber promoted = kUndefinedDtype;
  Shape result;  // for rules that follow

  IndexArgument& operator[](const std::string& name);
  const IndexArgument& operator[](const std::string& name) const {
    return const_cast<IndexCall&>(*this)[name];
  }
};

using IndexRule = std::function<std::optional<Verdict>(IndexCall&)>;
using IndexRules = std::vector<IndexRule>;

// The elements of one tensor in row-major order.
struct TensorValues {
  DtypeNumber dtype = ACL_FLOAT;
  Shape shape;
  std::vector<Element> elements;

  int64_t Integer(int64_t position) const {
    return DecodeInteger(dtype, elements[static_cast<size_t>(position)].data());
  }
};
struct IndexRange {
  int64_t low;
  int64_t below;
};
// The new elements of a tensor; nullopt means that they stay.
using Outcome = std::vector<std::optional<Element>>;
// Computes the outcome of a call. `tensors` lists the call's tensors, entries of lists one by one, in the
// order of the C signature. Returns one outcome for each output.
using IndexOracle =
    std::function<std::vector<Outcome>(const IndexCall& call, const std::vector<TensorValues>& tensors)>;

struct IndexOperator {
  CFunction function;
  std::vector<IndexArgument> valid;
  IndexRules rules;
  // Changes a valid call into another one, of other shapes, dtypes and attributes. The rules decide whether
  // it is still valid.
  std::function<void(IndexCall& call, RandomNumbers& random)> draw;
  IndexOracle oracle;
  // Returns the range of a tensor's values if it holds indices: the lowest value, and the limit above the
  // highest. Other tensors get random bytes.
  std::function<std::optional<IndexRange>(const IndexCall& call, size_t tensor)> range = {};
  // Sets the values of tensors that a range does not describe, at their positions in `tensors`.
  std::function<void(const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random)> fill =
      {};
  // Make other valid calls of the valid one: every reduction, empty tensors. For index_answers.h.
  std::vector<std::function<void(IndexCall& call)>> bases = {};
  bool takes_workspace = false;
  bool updates = false;               // outputs are inputs, too, so two runs differ from one
  bool is_inexact = false;            // NaN results compare as NaN
  Product numbers_on = Product::kA2;  // product on which every element is compared
  double tolerance = 0;               // allowed error of a number, relative to 1 plus its magnitude
};

inline void PrintTo(const IndexOperator* op, std::ostream* out) { *out << op->function.name; }

IndexCall ValidCall(const IndexOperator& op, Product product);
// Returns phase 1's answer: that of the first rule that fails.
Verdict Expected(IndexCall& call);
// Returns the tensors of a call, entries of lists one by one. A null one is nullptr.
std::vector<const IndexArgument*> TensorsOf(const IndexCall& call);

// ---- rules; names as in map_rules.h ----
IndexRule Refuses(aclnnStatus code, const std::string& names, std::function<bool(IndexCall&)> wrong);
IndexRule SucceedsIf(std::function<bool(IndexCall&)> done);
IndexRule NoNulls(const std::string& names, aclnnStatus code = 161001);
IndexRule Listed_(const std::string& names, const Listed& list);  // every entry of a list
IndexRule OneDtype(const std::string& first, const std::string& second);
IndexRule OneShape(const std::string& first, const std::string& second);
IndexRule RankRange(const std::string& names, size_t least, size_t most);
IndexRule EmptyDone(const std::string& names);
IndexRule ResultIs(const std::string& name, aclnnStatus code = 161002);       // its shape is call.result
IndexRule ResultIsOrOne(const std::string& name, aclnnStatus code = 161002);  // or both have one element
bool IsDimOf(int64_t dim, const Shape& shape);  // a shape without dims counts as one dim
size_t Wrapped(int64_t dim, const Shape& shape);

// ---- drawing ----
Shape DrawShape(RandomNumbers& random, size_t least_rank, size_t most_rank, int64_t most = 5);
DtypeNumber DrawDtype(RandomNumbers& random, const DtypeList& dtypes);

// ---- oracles: loops over logical indices ----
std::vector<int64_t> IndexAt(const Shape& shape, int64_t position);
int64_t PositionOf(const Shape& shape, const std::vector<int64_t>& index);
// Takes for each element of a result of `shape` the element that f(index) returns.
Outcome ForEachElement(const Shape& shape,
                       const std::function<std::optional<Element>(std::vector<int64_t>& index)>& f);

// ---- the tests ----
void CheckContract(const IndexOperator& op);
void CheckNumbers(const IndexOperator& op, int calls);
void CheckAddressesSetAnew(const IndexOperator& op);
// For operators with indices. Bad indices give zeros where elements are taken, and change nothing where they
// are put. They fail the stream once, with a message that names the first of them.
void CheckBadIndices(const IndexOperator& op);

}  // namespace portacl::testing

#define PORTACL_INDEX_TESTS(suite, operators)                                                 \
  class suite : public ::testing::TestWithParam<const ::portacl::testing::IndexOperator*> {}; \
  TEST_P(suite, Contract) { ::portacl::testing::CheckContract(*GetParam()); }                 \
  TEST_P(suite, EveryElement) { ::portacl::testing::CheckNumbers(*GetParam(), 400); }         \
  TEST_P(suite, AddressesSetAnew) { ::portacl::testing::CheckAddressesSetAnew(*GetParam()); } \
  INSTANTIATE_TEST_SUITE_P(                                                                   \
      Of, suite, ::testing::ValuesIn([] {                                                     \
        std::vector<const ::portacl::testing::IndexOperator*> all;                            \
        for (const auto& op : operators) all.push_back(&op);                                  \
        return all;                                                                           \
      }()),                                                                                   \
      [](const auto& parameter) { return std::string(parameter.param->function.name); })
