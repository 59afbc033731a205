// An operator that moves or indexes elements as data: its C function, what phase 1 answers, as CANN's checks are written down, calls
// that are valid, and what every element of its outputs must be then.
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

// One argument; `kind` says which members count.
struct IndexArgument {
  ParameterKind kind = ParameterKind::kTensor;
  std::string name;
  bool is_output = false;    // of a tensor or a list: written
  bool is_distinct = false;  // no two of its elements share memory, as an expanded view's do
  bool null = false;
  DtypeNumber dtype = ACL_FLOAT;  // of a tensor or scalar
  Shape shape = {2, 3};
  int32_t format = ACL_FORMAT_ND;
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
// What a tensor's elements become; nullopt: they stay.
using Outcome = std::vector<std::optional<Element>>;
// The tensors of a call, entries of lists one by one, in the order of the C signature; what those that are outputs become.
using IndexOracle =
    std::function<std::vector<Outcome>(const IndexCall& call, const std::vector<TensorValues>& tensors)>;

struct IndexOperator {
  CFunction function;
  std::vector<IndexArgument> valid;
  IndexRules rules;
  // Changes a valid call into another one, of other shapes, dtypes and attributes; rules decide whether it still is valid.
  std::function<void(IndexCall& call, RandomNumbers& random)> draw;
  IndexOracle oracle;
  // What the values of a tensor lie between, if it holds indices: the lowest, and what they lie below. Others have random bytes.
  std::function<std::optional<IndexRange>(const IndexCall& call, size_t tensor)> range = {};
  // Sets the values of tensors, which are at their places in `tensors`, where a range does not say what they are.
  std::function<void(const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random)> fill =
      {};
  bool takes_workspace = false;
  bool updates = false;               // outputs are inputs, too: two runs are not one
  bool is_inexact = false;            // NaN results compare as NaN
  Product numbers_on = Product::kA2;  // where every element is compared
  double tolerance = 0;               // how far a number may be from the oracle's, by 1 and the size of that
};

inline void PrintTo(const IndexOperator* op, std::ostream* out) { *out << op->function.name; }

IndexCall ValidCall(const IndexOperator& op, Product product);
// What phase 1 answers: the first rule that fails.
Verdict Expected(IndexCall& call);
// The tensors of a call, entries of lists one by one; a null one is nullptr.
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
// For each element of a result of `shape`, the element that f(index) names.
Outcome ForEachElement(const Shape& shape,
                       const std::function<std::optional<Element>(std::vector<int64_t>& index)>& f);

// ---- the tests ----
void CheckContract(const IndexOperator& op);
void CheckNumbers(const IndexOperator& op, int calls);
void CheckAddressesSetAnew(const IndexOperator& op);
// Of operators with indices: bad ones among them leave zeros where elements are taken and nothing where they are put, and fail
// the stream once, with a message that names the first of them.
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
