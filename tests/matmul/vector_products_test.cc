// Ger and Addmv: what phase 1 answers, and every element against the definition, in every dtype.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "aclnnop/families/matmul.h"
#include "gtest/gtest.h"
#include "product_calls.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

bool IsShortFloat(DtypeNumber dtype) { return IsOneOf(dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}); }

// A value between the parts of a formula: 16-bit floats are not rounded to before the end.
struct Value {
  DtypeNumber dtype;
  Element element;
};
DtypeNumber HeldDtype(DtypeNumber dtype) { return IsShortFloat(dtype) ? ACL_FLOAT : dtype; }

// A value as an operand of what is computed in `dtype`: cast to that, unless it is a float that is not rounded yet.
Value OperandIn(DtypeNumber dtype, const Value& value) {
  const DtypeNumber held = HeldDtype(dtype);
  if (IsShortFloat(dtype) && IsShortFloat(value.dtype))
    return {held, ConvertedElement(value.dtype, value.element, held)};
  const Element cast = ConvertedElement(value.dtype, value.element, dtype);
  return {held, ConvertedElement(dtype, cast, held)};
}

template <class T>
T As(const Value& value) {
  T number;
  std::memcpy(&number, value.element.data(), sizeof number);
  return number;
}
template <class T>
Element BytesOf(T number) {
  Element element(sizeof number);
  std::memcpy(element.data(), &number, sizeof number);
  return element;
}

// a * b or a + b, of operands in the same held dtype.
Value Computed(DtypeNumber dtype, const Value& first, const Value& second, bool multiplies) {
  const Value a = OperandIn(dtype, first);
  const Value b = OperandIn(dtype, second);
  if (a.dtype == ACL_FLOAT) {
    const float x = As<float>(a), y = As<float>(b);
    return {a.dtype, BytesOf(multiplies ? x * y : x + y)};
  }
  if (a.dtype == ACL_DOUBLE) {
    const double x = As<double>(a), y = As<double>(b);
    return {a.dtype, BytesOf(multiplies ? x * y : x + y)};
  }
  const auto x = static_cast<uint64_t>(DecodeInteger(a.dtype, a.element.data()));
  const auto y = static_cast<uint64_t>(DecodeInteger(b.dtype, b.element.data()));
  uint64_t result = multiplies ? x * y : x + y;
  if (a.dtype == ACL_BOOL) result = result != 0 ? 1 : 0;
  Element element(static_cast<size_t>(ElementSize(a.dtype)));
  EncodeIntegerElement(a.dtype, static_cast<int64_t>(result), element.data());
  return {a.dtype, element};
}

const DtypeList kRealDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_UINT8,
                               ACL_INT16, ACL_INT32,   ACL_INT64,  ACL_BOOL};

// Floats are numbers of one size; integers are random bits, and so are truths: any byte that is not 0 is one.
void FillFloats(const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  for (HostTensor& tensor : tensors) {
    if (tensor.dtype() == ACL_BOOL) {
      for (int64_t i = 0; i < tensor.size(); ++i)
        *tensor.Element(i) = static_cast<std::byte>(random.Chance(50) ? 0 : random.Between(1, 255));
    }
    if (!IsFloatingDtype(tensor.dtype())) continue;
    for (int64_t i = 0; i < tensor.size(); ++i)
      EncodeElement(tensor.dtype(), static_cast<double>(random.Between(-4000, 4000)) / 1111,
                    tensor.Element(i));
  }
}

// ---- Ger ----

template <class T>
Element ComplexProduct(const Element& first, const Element& second, DtypeNumber out) {
  T a[2], b[2];
  std::memcpy(a, first.data(), sizeof a);
  std::memcpy(b, second.data(), sizeof b);
  const T real_products[] = {a[0] * b[0], a[1] * b[1]};
  const T imaginary_products[] = {a[0] * b[1], a[1] * b[0]};
  return ElementOfNumber(out, {static_cast<long double>(real_products[0] - real_products[1]),
                               static_cast<long double>(imaginary_products[0] + imaginary_products[1])});
}

OperatorSpec Ger() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGer);
  op.valid = {TensorArg("self", {3}), TensorArg("vec2", {4}), OutputArg("out", {3, 4})};
  Listed listed{kRealDtypes};
  listed = listed + kComplexDtypes;
  listed.on_950 = {ACL_BF16};
  op.rules = {NoNulls("self vec2 out"),
              DtypeIn("self vec2 out", listed),
              Refuses(161002, "self vec2 out",
                      [](PlanCall& call) {
                        call.promoted = PromoteDtypes(call["self"].dtype, call["vec2"].dtype);
                        return call.promoted == kUndefinedDtype ||
                               !CanCastDtype(call.promoted, call["out"].dtype);
                      }),
              Ranks("self vec2", 1, 1),
              Ranks("out", 2, 2),
              Refuses(161002, "out",
                      [](PlanCall& call) {
                        return call["out"].shape != Shape{call["self"].shape[0], call["vec2"].shape[0]};
                      }),
              DoneIfEmpty("self vec2")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), n = DrawLength(random);
    call["self"].shape = {m};
    call["vec2"].shape = {n};
    call["out"].shape = {m, n};
    DtypeList dtypes = kRealDtypes;
    dtypes.insert(dtypes.end(), kComplexDtypes.begin(), kComplexDtypes.end());
    call["self"].dtype = DrawDtype(random, dtypes);
    call["vec2"].dtype = random.Chance(50) ? call["self"].dtype : DrawDtype(random, dtypes);
    const DtypeNumber promoted = PromoteDtypes(call["self"].dtype, call["vec2"].dtype);
    call["out"].dtype = random.Chance(70) ? promoted : DrawDtype(random, dtypes);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const TensorValues& vec2 = tensors[1];
    const TensorValues& out = tensors[2];
    return std::vector<Outcome>{ForEachElement(out.shape, [&](Index& index) -> std::optional<Element> {
      const Element& a = self.elements[static_cast<size_t>(index[0])];
      const Element& b = vec2.elements[static_cast<size_t>(index[1])];
      const DtypeNumber dtype = call.promoted;
      if (IsComplexDtype(dtype)) {
        const Element x = ConvertedElement(self.dtype, a, dtype), y = ConvertedElement(vec2.dtype, b, dtype);
        return dtype == ACL_COMPLEX64 ? ComplexProduct<float>(x, y, out.dtype)
                                      : ComplexProduct<double>(x, y, out.dtype);
      }
      // Operands are cast to what they promote to, also those that are floats.
      const Value x{dtype, ConvertedElement(self.dtype, a, dtype)},
          y{dtype, ConvertedElement(vec2.dtype, b, dtype)};
      const Value product = Computed(dtype, x, y, true);
      return ConvertedElement(product.dtype, product.element, out.dtype);
    })};
  };
  op.fill = FillFloats;
  op.is_inexact = true;
  return op;
}

// ---- Addmv ----

Value FactorOf(const PlanCall& call, const std::string& name) {
  const PlanArgument& factor = call[name];
  return {factor.dtype, ElementOfNumber(factor.dtype, factor.number)};
}
// 0 and 1 are what is that to within float32's epsilon.
float NearNumber(const Value& factor) {
  const auto x = static_cast<float>(NumberOf(factor.dtype, factor.element.data()).real);
  if (std::fabs(x) <= 1.1920929e-7f) return 0;
  return std::fabs(x - 1) <= 1.1920929e-7f ? 1 : x;
}
DtypeNumber ScaledDtype(const PlanCall& call, const std::string& factor, DtypeNumber dtype) {
  return NearNumber(FactorOf(call, factor)) == 1 ? dtype : PromoteDtypes(call[factor].dtype, dtype);
}
DtypeNumber SumDtype(const PlanCall& call) {
  const DtypeNumber product = PromoteDtypes(call["mat"].dtype, call["vec"].dtype);
  return PromoteDtypes(ScaledDtype(call, "alpha", product), ScaledDtype(call, "beta", call["self"].dtype));
}

template <class T>
Element BlockedProduct(DtypeNumber dtype, const TensorValues& mat, const TensorValues& vec, int64_t row) {
  BlockedSumOf<T> sum(dtype, dtype);
  const int64_t depth = vec.shape[0];
  for (int64_t k = 0; k < depth; ++k) {
    const Value a{dtype,
                  ConvertedElement(mat.dtype, mat.elements[static_cast<size_t>(row * depth + k)], dtype)};
    const Value b{dtype, ConvertedElement(vec.dtype, vec.elements[static_cast<size_t>(k)], dtype)};
    sum.AddTerm(As<T>(OperandIn(dtype, a)), As<T>(OperandIn(dtype, b)));
  }
  return BytesOf(sum.Result());
}
Value ProductOf(const TensorValues& mat, const TensorValues& vec, int64_t row) {
  const DtypeNumber dtype = PromoteDtypes(mat.dtype, vec.dtype);
  if (IsShortFloat(dtype)) return {ACL_FLOAT, BlockedProduct<float>(dtype, mat, vec, row)};
  if (dtype == ACL_DOUBLE) return {dtype, BlockedProduct<double>(dtype, mat, vec, row)};
  uint64_t sum = 0;
  for (int64_t k = 0; k < vec.shape[0]; ++k) {
    const auto product =
        static_cast<uint64_t>(mat.Integer(row * vec.shape[0] + k)) * static_cast<uint64_t>(vec.Integer(k));
    sum = dtype == ACL_BOOL ? sum | product : sum + product;
  }
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeIntegerElement(dtype, static_cast<int64_t>(sum), element.data());
  return {dtype, element};
}

std::vector<Outcome> AddmvOracle(const PlanCall& call, const std::vector<TensorValues>& tensors) {
  const TensorValues& self = tensors[0];
  const TensorValues& mat = tensors[1];
  const TensorValues& vec = tensors[2];
  const DtypeNumber out = tensors[3].dtype;
  const Value alpha = FactorOf(call, "alpha"), beta = FactorOf(call, "beta");
  const float near_alpha = NearNumber(alpha), near_beta = NearNumber(beta);
  const bool multiplies = near_alpha != 0 && vec.shape[0] > 0;
  const DtypeNumber product_dtype = PromoteDtypes(mat.dtype, vec.dtype);
  return {ForEachElement(tensors[3].shape, [&](Index& index) -> std::optional<Element> {
    Value added{self.dtype, self.elements[self.elements.size() == 1 ? 0 : static_cast<size_t>(index[0])]};
    if (near_beta != 1 && (near_beta != 0 || !multiplies))
      added = Computed(ScaledDtype(call, "beta", self.dtype), added, beta, true);
    Value result = added;
    if (multiplies) {
      result = ProductOf(mat, vec, index[0]);
      if (near_alpha != 1) result = Computed(ScaledDtype(call, "alpha", product_dtype), result, alpha, true);
      if (near_beta != 0) result = Computed(SumDtype(call), added, result, false);
    }
    return ConvertedElement(result.dtype, result.element, out);
  })};
}

OperatorSpec Addmv() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAddmv);
  op.valid = {TensorArg("self", {2}),       TensorArg("mat", {2, 3}), TensorArg("vec", {3}),
              ScalarArg("alpha", {0.5}),    ScalarArg("beta", {2}),   OutputArg("out", {2}),
              IntegerArg("cubeMathType", 1)};
  op.takes_workspace = true;
  const Listed listed = Listed{kRealDtypes} + DtypeList{ACL_BF16};
  op.rules = {
      NoNulls("self mat vec alpha beta out"),
      DtypeIn("self mat vec out", listed),
      DtypeIn("alpha beta", listed),
      Refuses(161002, "self mat vec out alpha beta",
              [](PlanCall& call) { return !CanCastDtype(SumDtype(call), call["out"].dtype); }),
      Ranks("self", 0, 1),
      Ranks("mat", 2, 2),
      Ranks("vec out", 1, 1),
      Refuses(161002, "vec mat", [](PlanCall& call) { return call["vec"].shape[0] != call["mat"].shape[1]; }),
      Refuses(161002, "self mat",
              [](PlanCall& call) {
                const int64_t length = NumElements(call["self"].shape);
                return length != call["mat"].shape[0] &&
                       (length != 1 || NearNumber(FactorOf(call, "alpha")) == 0);
              }),
      Refuses(161002, "out mat", [](PlanCall& call) { return call["out"].shape[0] != call["mat"].shape[0]; }),
      TakesMode("mat vec"),
      IsNoFractal("self"),
      IsNoFractal("mat"),
      IsNoFractal("vec"),
      IsNoFractal("out"),
      DoneIfEmpty("self out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t m = DrawLength(random), k = DrawDepth(random);
    call["self"].shape = {m};
    if (random.Chance(20)) call["self"].shape = random.Chance(50) ? Shape{1} : Shape{};
    call["mat"].shape = {m, k};
    call["vec"].shape = {k};
    call["out"].shape = {m};
    DtypeList dtypes = kRealDtypes;
    dtypes.push_back(ACL_BF16);
    const bool is_mixed = random.Chance(50);
    const DtypeNumber dtype = DrawDtype(random, dtypes);
    for (const char* name : {"self", "mat", "vec"})
      call[name].dtype = is_mixed ? DrawDtype(random, dtypes) : dtype;
    const double factors[] = {1, 1, 0, 0.5, -1.25, 1 + 1e-7, 1e-7, 3};
    for (const char* name : {"beta", "alpha"}) {
      call[name].number.real = factors[random.Below(8)];
      call[name].dtype = random.Chance(40) ? dtype : DrawDtype(random, dtypes);
    }
    call["out"].dtype = random.Chance(70) ? SumDtype(call) : DrawDtype(random, dtypes);
  };
  op.oracle = AddmvOracle;
  op.fill = FillFloats;
  op.is_inexact = true;
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {Ger(), Addmv()};
  return operators;
}

PORTACL_OPERATOR_TESTS(VectorProducts, Operators());

// ---- out is self ----

constexpr int64_t kRows = 70, kTerms = 300;

aclTensor* TensorOn(std::vector<int64_t> dims, aclDataType dtype, void* data) {
  const std::vector<int64_t> strides = DenseStrides(dims);
  return aclCreateTensor(dims.data(), dims.size(), dtype, strides.data(), 0, ACL_FORMAT_ND, dims.data(),
                         dims.size(), data);
}

// self's elements after aclnnAddmv into `out`, or into self itself.
template <class T>
std::vector<T> Added(aclDataType dtype, const aclScalar* factor, bool in_place, aclrtStream stream) {
  RandomNumbers random(0x1417);
  const auto draw = [&](int64_t count) {
    std::vector<T> values;
    for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<T>(random.Between(-1000, 1000)));
    return values;
  };
  std::vector<T> self = draw(kRows), mat = draw(kRows * kTerms), vec = draw(kTerms), other(kRows);
  std::vector<T>& result = in_place ? self : other;
  aclTensor* const tensors[] = {
      TensorOn({kRows}, dtype, self.data()), TensorOn({kRows, kTerms}, dtype, mat.data()),
      TensorOn({kTerms}, dtype, vec.data()), TensorOn({kRows}, dtype, result.data())};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnAddmvGetWorkspaceSize(tensors[0], tensors[1], tensors[2], factor, factor, tensors[3], 1,
                                       &size, &executor),
            ACL_SUCCESS);
  const GuardedBuffer workspace(size);
  EXPECT_EQ(aclnnAddmv(workspace.device(), size, executor, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  return result;
}

TEST(AddmvInPlace, GivesWhatAnotherOutGets) {
  const ScopedEnvironment environment(Variables{});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  const auto check = [&](auto number, aclDataType dtype, double factor, bool factor_is_whole) {
    using T = decltype(number);
    auto whole = static_cast<int32_t>(factor);
    aclScalar* const scalar =
        factor_is_whole ? aclCreateScalar(&whole, ACL_INT32) : aclCreateScalar(&factor, ACL_DOUBLE);
    EXPECT_EQ(Added<T>(dtype, scalar, true, environment.stream()),
              Added<T>(dtype, scalar, false, environment.stream()))
        << dtype << " factor " << factor;
    aclDestroyScalar(scalar);
  };
  check(float{}, ACL_FLOAT, 3, true);
  check(float{}, ACL_FLOAT, 0.7, false);
  check(double{}, ACL_DOUBLE, -0.7, false);
  check(int32_t{}, ACL_INT32, 5, true);
  check(int64_t{}, ACL_INT64, 0, true);
}

}  // namespace
}  // namespace portacl::testing
