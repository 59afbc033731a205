// Describes an operator for tests: its C function, a valid call, what phase 1 answers to every call by CANN's checks, calls that are
// drawn, and the expected value of every output element. An elementwise operator has its formula besides: see map_operator.h.
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
#include "plan_call.h"
#include "rules.h"
#include "shapes.h"
#include "tensor_view.h"

namespace portacl::testing {

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
using OutcomeOracle =
    std::function<std::vector<Outcome>(const PlanCall& call, const std::vector<TensorValues>& tensors)>;

struct OperatorSpec {
  OperatorSpec();
  OperatorSpec(const OperatorSpec& other);
  OperatorSpec(OperatorSpec&& other) noexcept;
  OperatorSpec& operator=(const OperatorSpec& other);
  OperatorSpec& operator=(OperatorSpec&& other) noexcept;
  ~OperatorSpec();

  CFunction function;
  std::vector<PlanArgument> valid;
  Rules rules;
  // Changes a valid call into another one, of other shapes, dtypes and attributes. The rules decide whether
  // it is still valid.
  std::function<void(PlanCall& call, RandomNumbers& random)> draw;
  OutcomeOracle oracle;
  // Returns the range of a tensor's values if it holds indices: the lowest value, and the limit above the
  // highest. Other tensors get random bytes.
  std::function<std::optional<IndexRange>(const PlanCall& call, size_t tensor)> range = {};
  // Sets the values of tensors that a range does not describe, at their positions in `tensors`.
  std::function<void(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random)> fill =
      {};
  // Make other valid calls of the valid one: every reduction, empty tensors. For answer_suite.h.
  std::vector<std::function<void(PlanCall& call)>> bases = {};
  bool has_aliases = false;  // see PlanCall::Index
  bool in_place = false;     // of an elementwise operator: the output is an input too
  bool takes_workspace = false;
  bool valid_takes_workspace = false;  // so does the valid call
  bool updates = false;                // outputs are inputs, too, so two runs differ from one
  bool is_inexact = false;             // NaN results compare as NaN
  // Messages are asked for more than names of parameters: that they stand as such, and the dtypes, shapes and ranks of rules of rules.h.
  bool is_worded = false;
  Product numbers_on = Product::kA2;  // product on which every element is compared
  double tolerance = 0;               // allowed error of a number, relative to 1 plus its magnitude
};

inline void PrintTo(const OperatorSpec* op, std::ostream* out) { *out << op->function.name; }

PlanCall ValidCall(const OperatorSpec& op, Product product);
// Returns phase 1's answer: that of the first rule that fails.
Verdict Expected(PlanCall& call);

// ---- dims ----
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
void CheckContract(const OperatorSpec& op);
void CheckNumbers(const OperatorSpec& op, int calls);
void CheckAddressesSetAnew(const OperatorSpec& op);
// For operators with indices. Bad indices give zeros where elements are taken, and change nothing where they
// are put. They fail the stream once, with a message that names the first of them.
void CheckBadIndices(const OperatorSpec& op);

}  // namespace portacl::testing

extern template class std::vector<portacl::testing::OperatorSpec>;

#define PORTACL_OPERATOR_TESTS(suite, operators)                                              \
  class suite : public ::testing::TestWithParam<const ::portacl::testing::OperatorSpec*> {};  \
  TEST_P(suite, Contract) { ::portacl::testing::CheckContract(*GetParam()); }                 \
  TEST_P(suite, EveryElement) { ::portacl::testing::CheckNumbers(*GetParam(), 400); }         \
  TEST_P(suite, AddressesSetAnew) { ::portacl::testing::CheckAddressesSetAnew(*GetParam()); } \
  INSTANTIATE_TEST_SUITE_P(                                                                   \
      Of, suite, ::testing::ValuesIn([] {                                                     \
        std::vector<const ::portacl::testing::OperatorSpec*> all;                             \
        for (const auto& op : operators) all.push_back(&op);                                  \
        return all;                                                                           \
      }()),                                                                                   \
      [](const auto& parameter) { return std::string(parameter.param->function.name); })
