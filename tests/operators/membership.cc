// Operators that look for numbers among others, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/logic.h"
#include "aclnnop/families/sort.h"
#include "indexing/index_calls.h"
#include "operators/sorts.h"
#include "support/rules.h"
#include "support/scalar_dtypes.h"

namespace portacl::testing {
namespace {

const DtypeList kSoughtDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8,
                                 ACL_UINT8, ACL_INT16,   ACL_INT32,  ACL_INT64};
const Listed kSought = {kSoughtDtypes, {ACL_BF16}};
const DtypeList kBucketDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_INT8,
                                 ACL_UINT8, ACL_INT16,   ACL_INT32, ACL_INT64};

long double RealOf(DtypeNumber dtype, const Element& element) { return NumberOf(dtype, element.data()).real; }

// Few numbers, so that some are found; floats are halves of them, and now and then NaN.
void FillFew(HostTensor& tensor, RandomNumbers& random) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t number = random.Between(-4, 6);
    if (IsIntegerDtype(tensor.dtype())) {
      EncodeIntegerElement(tensor.dtype(), number, tensor.Element(i));
    } else if (random.Below(12) == 0) {
      EncodeElement(tensor.dtype(), std::numeric_limits<double>::quiet_NaN(), tensor.Element(i));
    } else {
      EncodeElement(tensor.dtype(), static_cast<double>(number) / 2, tensor.Element(i));
    }
  }
}

DtypeNumber ScalarDtypeOf(const PlanCall& call, const std::string& number) {
  const DtypeNumber dtype = call[number].dtype;
  return call.product == Product::k950 && IsFloatingDtype(dtype) ? DtypeNumber{ACL_FLOAT} : dtype;
}
// What both are converted to before they are compared.
DtypeNumber ComparedIn(const PlanCall& call, const std::string& tensor, const std::string& number,
                       bool is_any) {
  const DtypeNumber of_number = ScalarDtypeOf(call, number);
  const DtypeNumber of_tensor = call[tensor].dtype;
  const bool is_lifted = is_any && NumElements(call[tensor].shape) >= 10;
  const bool crosses = IsFloatingDtype(of_number) && !IsFloatingDtype(of_tensor);
  return is_lifted || crosses ? PromoteDtypes(of_number, of_tensor) : of_tensor;
}
std::vector<bool> FoundIn(const PlanCall& call, const TensorValues& values, const std::string& tensor,
                          const std::string& number, bool is_any) {
  const DtypeNumber dtype = ComparedIn(call, tensor, number, is_any);
  const PlanArgument& scalar = call[number];
  const long double x =
      RealOf(dtype, ConvertedElement(scalar.dtype, ElementOfNumber(scalar.dtype, scalar.number), dtype));
  std::vector<bool> found;
  for (const Element& element : values.elements)
    found.push_back(RealOf(dtype, ConvertedElement(values.dtype, element, dtype)) == x);
  return found;
}
Element Truth(bool value) { return {std::byte{static_cast<unsigned char>(value ? 1 : 0)}}; }

Rule NumberListed(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) { return !kSought.Has(call.product, call[name].dtype); });
}
Rule OutIsBool() {
  return Refuses(161002, "out", [](PlanCall& call) { return call["out"].dtype != ACL_BOOL; });
}
void DrawNumber(PlanArgument& number, RandomNumbers& random) {
  number.dtype = DrawDtype(random, kSoughtDtypes);
  number.number = {.real = static_cast<long double>(random.Between(-4, 6)) / 2};
  if (IsFloatingDtype(number.dtype) && random.Below(12) == 0)
    number.number.real = std::numeric_limits<long double>::quiet_NaN();
}
const DtypeList kDrawnFrom = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,
                              ACL_UINT8, ACL_INT16,   ACL_INT32, ACL_INT64};

OperatorSpec IsInTensorScalar() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnIsInTensorScalar);
  op.valid = {TensorArg("element", {2, 3}), ScalarArg("testElement", {.real = 2}),
              IntegerArg("assumeUnique", 0), IntegerArg("invert", 0), OutputArg("out", {2, 3}, ACL_BOOL)};
  op.rules = {NoNulls("element testElement out"),
              DtypeIn("element", kSought),
              NumberListed("testElement"),
              OutIsBool(),
              Ranks("element", 0, 8),
              SameShape("element", "out"),
              DoneIfEmpty("element")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    call["element"] = TensorArg("element", DrawShape(random, 0, 5), DrawDtype(random, kDrawnFrom));
    DrawNumber(call["testElement"], random);
    call["assumeUnique"].integer = random.Below(2);
    call["invert"].integer = random.Below(2);
    call["out"] = OutputArg("out", call["element"].shape, ACL_BOOL);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillFew(tensors[0], random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    Outcome outcome;
    for (const bool found : FoundIn(call, tensors[0], "element", "testElement", /*is_any=*/false))
      outcome.emplace_back(Truth(found != (call["invert"].integer != 0)));
    return std::vector<Outcome>{outcome};
  };
  return op;
}

OperatorSpec IsInScalarTensor() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnIsInScalarTensor);
  op.valid = {ScalarArg("element", {.real = 2}), TensorArg("testElements", {2, 6}),
              IntegerArg("assumeUnique", 0), IntegerArg("invert", 0), OutputArg("out", {}, ACL_BOOL)};
  op.rules = {NoNulls("element testElements out"),
              DtypeIn("testElements", kSought),
              NumberListed("element"),
              OutIsBool(),
              Ranks("testElements", 0, 8),
              Refuses(161002, "out", [](PlanCall& call) { return !call["out"].shape.empty(); })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 0, 4, random.Chance(50) ? 3 : 5);
    if (random.Chance(5)) shape = {0};
    if (random.Chance(5)) shape = {40000};
    call["testElements"] = TensorArg("testElements", shape, DrawDtype(random, kDrawnFrom));
    DrawNumber(call["element"], random);
    // Mostly none of a few elements.
    if (random.Chance(50)) call["element"].number.real = 9;
    call["invert"].integer = random.Below(2);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillFew(tensors[0], random);
    if (tensors[0].size() == 0 || random.Chance(60)) return;
    EncodeElement(tensors[0].dtype(), 9, tensors[0].Element(tensors[0].size() - 1));
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const std::vector<bool> found = FoundIn(call, tensors[0], "testElements", "element", /*is_any=*/true);
    const bool is_there = std::find(found.begin(), found.end(), true) != found.end();
    return std::vector<Outcome>{{Truth(is_there != (call["invert"].integer != 0))}};
  };
  return op;
}

// What self and boundaries are compared in: of one without dims the kind alone counts.
DtypeNumber BucketDtype(const PlanCall& call) {
  const DtypeNumber self = call["self"].dtype;
  const DtypeNumber boundaries = call["boundaries"].dtype;
  return call["self"].shape.empty() ? Combine(boundaries, self) : PromoteDtypes(self, boundaries);
}

OperatorSpec Bucketize() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBucketize);
  op.numbers_on = Product::k950;
  op.takes_workspace = true;
  op.valid = {TensorArg("self", {2, 3}), TensorArg("boundaries", {4}), IntegerArg("outInt32", 0),
              IntegerArg("right", 0), OutputArg("out", {2, 3}, ACL_INT64)};
  op.rules = {Refuses(561000, "Ascend", [](PlanCall& call) { return call.product != Product::k950; }),
              NoNulls("self boundaries out"),
              DtypeIn("self boundaries", {kBucketDtypes}),
              Refuses(161002, "out",
                      [](PlanCall& call) {
                        return call["out"].dtype != (call["outInt32"].integer != 0 ? ACL_INT32 : ACL_INT64);
                      }),
              Ranks("self", 0, 8),
              Ranks("boundaries", 1, 1),
              SameShape("self", "out"),
              DoneIfEmpty("self")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const bool is_narrow = random.Chance(50);
    const DtypeNumber dtype = DrawDtype(random, kBucketDtypes);
    call["self"] = TensorArg("self", DrawShape(random, 0, 4),
                             random.Chance(60) ? dtype : DrawDtype(random, kBucketDtypes));
    call["boundaries"] = TensorArg("boundaries", {random.Between(random.Chance(5) ? 0 : 1, 60)}, dtype);
    call["outInt32"].integer = is_narrow ? 1 : 0;
    call["right"].integer = random.Below(2);
    call["out"] = OutputArg("out", call["self"].shape, is_narrow ? ACL_INT32 : ACL_INT64);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillFew(tensors[0], random);
    for (int64_t i = 0; i < tensors[1].size(); ++i) {
      if (IsIntegerDtype(tensors[1].dtype())) {
        EncodeIntegerElement(tensors[1].dtype(), i / 3 - 3, tensors[1].Element(i));
      } else {
        EncodeElement(tensors[1].dtype(), static_cast<double>(i / 2) / 2 - 3, tensors[1].Element(i));
      }
    }
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const DtypeNumber dtype = BucketDtype(call);
    const bool is_right = call["right"].integer != 0;
    Outcome outcome;
    for (const Element& element : tensors[0].elements) {
      const long double x = RealOf(dtype, ConvertedElement(tensors[0].dtype, element, dtype));
      // What comes before x, by bisection: a repeated boundary counts each time, and NaN comes behind all.
      int64_t low = 0;
      int64_t high = std::ssize(tensors[1].elements);
      while (low < high) {
        const int64_t mid = (low + high) / 2;
        const long double boundary = RealOf(
            dtype, ConvertedElement(tensors[1].dtype, tensors[1].elements[static_cast<size_t>(mid)], dtype));
        const bool is_behind = is_right ? boundary > x : boundary >= x;
        (is_behind ? high : low) = is_behind ? mid : mid + 1;
      }
      Element place(static_cast<size_t>(ElementSize(tensors[2].dtype)));
      EncodeIntegerElement(tensors[2].dtype, low, place.data());
      outcome.emplace_back(place);
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& MembershipOperators() {
  static const std::vector<OperatorSpec> all = {IsInTensorScalar(), IsInScalarTensor(), Bucketize()};
  return all;
}

}  // namespace portacl::testing
