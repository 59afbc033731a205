// Reductions and scans: their checks, and every element against loops over logical indices, with values whose results are exact.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/families/reductions.h"
#include "gtest/gtest.h"
#include "support/index_operator.h"
#include "support/map_values.h"

namespace portacl::testing {
namespace {

using Elements = std::vector<Element>;
using Number_ = long double;

const Listed kReal = kFDI - DtypeList{ACL_BOOL};
const Listed kRealComplex = kReal + kComplexDtypes;
const DtypeList kReals = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,
                          ACL_UINT8, ACL_INT16,   ACL_INT32, ACL_INT64};
const DtypeList kThree = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

DtypeList Plus(DtypeList list, const DtypeList& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}
const DtypeList kRealsAndBool = Plus(kReals, {ACL_BOOL});
const DtypeList kSummed = Plus(kRealsAndBool, kComplexDtypes);

bool IsInteger(DtypeNumber dtype) { return IsIntegral(dtype) || IsOneOf(dtype, kUnsigned); }

// ---- which elements become one ----

// One bit for each dim that is reduced.
uint32_t Reduced(const IndexCall& call, const std::string& name) {
  if (name.empty()) return ~0u;
  const IndexArgument& dims = call[name];
  const Shape& shape = call.arguments[0].shape;
  if (dims.kind != ParameterKind::kArray) return 1u << Wrapped(dims.integer, shape);
  if (dims.null || dims.values.empty()) return ~0u;
  uint32_t mask = 0;
  for (const int64_t dim : dims.values) mask |= 1u << Wrapped(dim, shape);
  return mask;
}
Shape ReducedShape(const Shape& shape, uint32_t mask, bool keeps) {
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((mask >> i & 1) == 0) result.push_back(shape[i]);
    if ((mask >> i & 1) != 0 && keeps) result.push_back(1);
  }
  return result;
}
// For each result, the positions of its elements in row-major order.
std::vector<std::vector<int64_t>> Groups(const Shape& shape, uint32_t mask) {
  const Shape kept = ReducedShape(shape, mask, true);
  std::vector<std::vector<int64_t>> groups(static_cast<size_t>(NumElements(kept)));
  for (int64_t i = 0; i < NumElements(shape); ++i) {
    std::vector<int64_t> index = IndexAt(shape, i);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if ((mask >> axis & 1) != 0) index[axis] = 0;
    }
    groups[static_cast<size_t>(PositionOf(kept, index))].push_back(i);
  }
  return groups;
}

// ---- what becomes of them ----

Number_ RealOf(DtypeNumber dtype, const Element& element) { return NumberOf(dtype, element.data()).real; }
uint64_t BitsOf(DtypeNumber dtype, const Element& element) {
  return static_cast<uint64_t>(DecodeInteger(dtype, element.data()));
}
Element FromInteger(DtypeNumber dtype, uint64_t value) {
  Element whole(8);
  EncodeIntegerElement(ACL_INT64, static_cast<int64_t>(value), whole.data());
  return ConvertedElement(ACL_INT64, whole, dtype);
}
bool IsTrue(DtypeNumber dtype, const Element& element) {
  const Number number = NumberOf(dtype, element.data());
  return number.real != 0 || number.imaginary != 0;
}

// A sum or a product of elements of a dtype, as far as it has come: of integers modulo 2^64, of truth or and and.
class Total {
 public:
  Total(DtypeNumber dtype, bool is_product)
      : dtype_(dtype),
        is_product_(is_product),
        bits_(is_product ? 1 : 0),
        number_{is_product ? 1.0L : 0.0L, 0} {}

  void Add(const Element& element) {
    if (dtype_ == ACL_BOOL) {
      const uint64_t is_true = IsTrue(dtype_, element) ? 1 : 0;
      bits_ = is_product_ ? bits_ & is_true : bits_ | is_true;
    } else if (IsInteger(dtype_)) {
      const uint64_t term = BitsOf(dtype_, element);
      bits_ = is_product_ ? bits_ * term : bits_ + term;
    } else {
      const Number term = NumberOf(dtype_, element.data());
      if (!is_product_) {
        number_ = {number_.real + term.real, number_.imaginary + term.imaginary};
      } else if (!IsOneOf(dtype_, kComplexDtypes)) {
        number_.real *= term.real;
      } else {
        number_ = {number_.real * term.real - number_.imaginary * term.imaginary,
                   number_.real * term.imaginary + number_.imaginary * term.real};
      }
    }
  }
  const Number& number() const { return number_; }
  Element As(DtypeNumber out) const {
    if (dtype_ == ACL_BOOL) return FromInteger(out, bits_);
    if (IsInteger(dtype_)) return ConvertedElement(dtype_, FromInteger(dtype_, bits_), out);
    return ElementOfNumber(out, number_);
  }

 private:
  DtypeNumber dtype_;
  bool is_product_;
  uint64_t bits_;
  Number number_;
};
Total TotalOf(DtypeNumber dtype, const Elements& elements, bool is_product) {
  Total total(dtype, is_product);
  for (const Element& one : elements) total.Add(one);
  return total;
}
Element SumOf(DtypeNumber dtype, const Elements& elements, DtypeNumber out) {
  return TotalOf(dtype, elements, /*is_product=*/false).As(out);
}
Element ProductOf(DtypeNumber dtype, const Elements& elements, DtypeNumber out) {
  return TotalOf(dtype, elements, /*is_product=*/true).As(out);
}
Element MeanOf(DtypeNumber dtype, const Elements& elements, DtypeNumber out) {
  const auto n = static_cast<int64_t>(elements.size());
  if (IsInteger(dtype)) {
    const int64_t sum = static_cast<int64_t>(BitsOf(dtype, SumOf(dtype, elements, dtype)));
    return ConvertedElement(dtype, FromInteger(dtype, static_cast<uint64_t>(sum / n)), out);
  }
  const Number sum = TotalOf(dtype, elements, /*is_product=*/false).number();
  return ElementOfNumber(out, {sum.real / static_cast<Number_>(n), sum.imaginary / static_cast<Number_>(n)});
}

// Whether b takes the place of a: it is more, or the first NaN.
bool IsBetter(DtypeNumber dtype, const Element& a, const Element& b, bool least) {
  if (IsInteger(dtype)) {
    const int64_t x = static_cast<int64_t>(BitsOf(dtype, a));
    const int64_t y = static_cast<int64_t>(BitsOf(dtype, b));
    return least ? y < x : y > x;
  }
  const Number_ x = RealOf(dtype, a);
  const Number_ y = RealOf(dtype, b);
  if (std::isnan(x)) return false;
  return std::isnan(y) || (least ? y < x : y > x);
}
size_t PlaceOf(DtypeNumber dtype, const Elements& elements, bool least) {
  size_t place = 0;
  for (size_t i = 1; i < elements.size(); ++i) {
    if (IsBetter(dtype, elements[place], elements[i], least)) place = i;
  }
  return place;
}
// -0 is below +0.
Element ExtremeOf(DtypeNumber dtype, const Elements& elements, bool least) {
  const size_t place = PlaceOf(dtype, elements, least);
  if (IsInteger(dtype) || RealOf(dtype, elements[place]) != 0) return elements[place];
  for (const Element& one : elements) {
    const Number_ value = RealOf(dtype, one);
    if (value == 0 && std::signbit(value) == least) return one;
  }
  return elements[place];
}
Number_ NormOf(DtypeNumber dtype, const Elements& elements, Number_ p) {
  Number_ sum = 0;
  Number_ most = 0;
  Number_ fewest = std::numeric_limits<Number_>::infinity();
  bool is_nan = false;
  for (const Element& one : elements) {
    const Number_ x = std::fabs(RealOf(dtype, one));
    is_nan = is_nan || std::isnan(x);
    most = std::max(most, x);
    fewest = std::min(fewest, x);
    sum += p == 0 ? (x != 0 ? 1 : 0) : p == 1 ? x : x * x;
    if (!IsOneOf(dtype, kComplexDtypes)) continue;
    const Number_ imaginary = NumberOf(dtype, one.data()).imaginary;
    sum += imaginary * imaginary;
  }
  if (is_nan && p != 0) return std::numeric_limits<Number_>::quiet_NaN();
  if (std::isinf(p)) return p > 0 ? most : fewest;
  return p == 2 ? std::sqrt(sum) : sum;
}

// ---- rules ----

IndexRule Dims(const std::string& name, bool distinct = true, aclnnStatus code = 161002) {
  return Refuses(code, name, [=](IndexCall& call) {
    const IndexArgument& dims = call[name];
    const Shape& shape = call.arguments[0].shape;
    if (dims.kind != ParameterKind::kArray) return !IsDimOf(dims.integer, shape);
    if (dims.null) return false;
    uint32_t seen = 0;
    for (const int64_t dim : dims.values) {
      if (!IsDimOf(dim, shape)) return true;
      const uint32_t bit = 1u << Wrapped(dim, shape);
      if (distinct && (seen & bit) != 0) return true;
      seen |= bit;
    }
    return false;
  });
}
IndexRule Sets(std::function<void(IndexCall&)> change) {
  return [=](IndexCall& call) -> std::optional<Verdict> {
    change(call);
    return std::nullopt;
  };
}
IndexRule SetsResult(const std::string& dims, const std::string& keep) {
  return Sets([=](IndexCall& call) {
    const bool keeps = !keep.empty() && call[keep].integer != 0;
    call.result = ReducedShape(call.arguments[0].shape, Reduced(call, dims), keeps);
  });
}
IndexRule When(std::function<bool(const IndexCall&)> condition, const IndexRule& rule) {
  return [=](IndexCall& call) { return condition(call) ? rule(call) : std::nullopt; };
}
std::function<bool(const IndexCall&)> On(std::initializer_list<Product> products) {
  return [products = std::vector<Product>(products)](const IndexCall& call) {
    return std::find(products.begin(), products.end(), call.product) != products.end();
  };
}
IndexRule DtypeListed(const std::string& name, const Listed& list) {
  return Refuses(161002, name, [=](IndexCall& call) {
    return !list.Has(call.product, static_cast<DtypeNumber>(call[name].integer));
  });
}
IndexRule DtypeOf(const std::string& tensor, const std::string& attribute) {
  return Refuses(161002, tensor + " " + attribute,
                 [=](IndexCall& call) { return call[tensor].dtype != call[attribute].integer; });
}
IndexRule Casts(const std::string& from, const std::string& to) {
  return Refuses(161002, from + " " + to, [=](IndexCall& call) {
    const auto dtype = [&](const std::string& name) {
      return call[name].kind == ParameterKind::kTensor ? call[name].dtype
                                                       : static_cast<DtypeNumber>(call[name].integer);
    };
    return !CanCastDtype(dtype(from), dtype(to));
  });
}
bool IsEmpty(const IndexCall& call) { return NumElements(call.arguments[0].shape) == 0; }
// Success, and outputs of any shape that the oracle says more of.
IndexRule EmptyGives() {
  return SucceedsIf([](IndexCall& call) { return IsEmpty(call); });
}
IndexRule Public(const std::string& names) {
  return Refuses(161002, names, [=](IndexCall& call) {
    for (const std::string& name : Words(names)) {
      if (call[name].format == ACL_FORMAT_FRACTAL_NZ) return true;
    }
    return false;
  });
}
IndexRule NoEmptyDims(const std::string& dims, const std::string& self) {
  return Refuses(161002, dims + " " + self, [=](IndexCall& call) {
    if (call[dims].kind == ParameterKind::kArray && call[dims].values.empty()) return false;
    const Shape& shape = call[self].shape;
    const uint32_t mask = Reduced(call, dims);
    for (size_t i = 0; i < shape.size(); ++i) {
      if ((mask >> i & 1) != 0 && shape[i] == 0) return true;
    }
    return false;
  });
}
IndexRules operator+(IndexRules first, const IndexRules& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// ---- calls ----

// Numbers whose sums and squares are exact, or products; now and then one that is special.
enum class Values { kSums, kProducts, kAny };
auto Filling(Values values) {
  return [=](const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    HostTensor& self = tensors[0];
    const bool has_special = random.Chance(25);
    const bool is_random = values == Values::kAny && random.Chance(50);
    const DtypeNumber dtype = self.dtype();
    if (is_random) return;
    // Integers that floats hold exactly, if any floats take part.
    bool is_whole = true;
    for (const IndexArgument& argument : call.arguments) {
      if (argument.kind == ParameterKind::kTensor) is_whole = is_whole && IsInteger(argument.dtype);
    }
    for (int64_t i = 0; i < self.size(); ++i) {
      Number number;
      if (values == Values::kProducts) {
        const Number_ factors[] = {1, -1, 2, -2, 0.5L, -0.5L, 1, 1};
        number.real = factors[random.Below(8)];
        if (IsOneOf(dtype, kComplexDtypes) && random.Chance(30)) number = {0, number.real};
      } else {
        number = {static_cast<Number_>(random.Between(-64, 64)) / 8,
                  static_cast<Number_>(random.Between(-8, 8)) / 8};
      }
      if (!IsOneOf(dtype, kComplexDtypes)) number.imaginary = 0;
      if (values == Values::kAny && random.Chance(20)) number.real = random.Chance(50) ? 0.0L : -0.0L;
      if (has_special && random.Chance(3)) {
        const Number_ infinity = std::numeric_limits<Number_>::infinity();
        const Number_ specials[] = {std::numeric_limits<Number_>::quiet_NaN(), infinity, -infinity};
        number.real = specials[random.Below(values == Values::kProducts ? 1 : 3)];
      }
      if (IsInteger(dtype)) {
        const int64_t whole = is_whole && random.Chance(10) ? static_cast<int64_t>(random.Below(INT64_MAX))
                              : values == Values::kProducts && !is_whole ? random.Between(1, 2)
                                                                         : random.Between(-9, 9);
        const Element element =
            FromInteger(dtype, static_cast<uint64_t>(dtype == ACL_BOOL ? random.Below(2) : whole));
        std::copy(element.begin(), element.end(), self.Element(i));
      } else {
        const Element element = ElementOfNumber(dtype, number);
        std::copy(element.begin(), element.end(), self.Element(i));
      }
    }
  };
}

struct Drawn {
  DtypeList self;
  DtypeList dtype = {};  // of the attribute of that name, and so of the outputs
  DtypeList out = {};    // else the first output's; without it self's
  DtypeList indices = {};
};

// Another valid call: dims, whether they are kept, dtypes, and outputs that fit.
void Draw(IndexCall& call, RandomNumbers& random, const std::string& dims, const std::string& keep,
          const Drawn& drawn, bool one_more_dim = true) {
  IndexArgument& self = call.arguments[0];
  self.shape = DrawShape(random, 0, 4);
  if (random.Chance(6)) self.shape = {random.Between(1, 3), random.Between(4000, 9000)};
  if (random.Chance(4)) self.shape = {random.Between(200, 700), random.Between(1, 40)};
  self.dtype = DrawDtype(random, drawn.self);
  const auto rank = std::max<int64_t>(std::ssize(self.shape), 1);
  if (!dims.empty()) {
    IndexArgument& given = call[dims];
    if (given.kind == ParameterKind::kArray) {
      given.values.clear();
      for (int64_t dim = 0; dim < rank; ++dim) {
        if (random.Chance(50)) given.values.push_back(random.Chance(30) ? dim - rank : dim);
      }
    } else {
      given.integer = random.Between(-rank, rank - 1);
    }
  }
  if (!keep.empty()) call[keep].integer = random.Below(2);
  Shape result = ReducedShape(self.shape, Reduced(call, dims), !keep.empty() && call[keep].integer != 0);
  if (one_more_dim && NumElements(result) == 1 && random.Chance(20))
    result.assign(static_cast<size_t>(random.Below(3)), 1);
  DtypeNumber dtype = self.dtype;
  if (!drawn.dtype.empty()) call["dtype"].integer = dtype = DrawDtype(random, drawn.dtype);
  if (!drawn.out.empty()) dtype = DrawDtype(random, drawn.out);
  for (IndexArgument& argument : call.arguments) {
    if (!argument.is_output) continue;
    argument.shape = result;
    argument.dtype = argument.name == "indices" ? DrawDtype(random, drawn.indices) : dtype;
  }
}
auto Drawing(const std::string& dims, const std::string& keep, const Drawn& drawn, bool one_more_dim = true) {
  return [=](IndexCall& call, RandomNumbers& random) { Draw(call, random, dims, keep, drawn, one_more_dim); };
}

// An element cast to a dtype; bool is 0 or 1, whatever its byte.
Element Cast(const TensorValues& tensor, int64_t position, DtypeNumber dtype) {
  const Element& element = tensor.elements[static_cast<size_t>(position)];
  if (dtype == ACL_BOOL) return FromInteger(ACL_BOOL, IsTrue(tensor.dtype, element) ? 1 : 0);
  return ConvertedElement(tensor.dtype, element, dtype);
}

// The outcome of each output: f(cast elements of a result) gives the element of each.
using Fold =
    std::function<std::vector<Element>(const IndexCall& call, DtypeNumber dtype, const Elements& elements)>;
IndexOracle Folding(const std::string& dims, std::function<DtypeNumber(const IndexCall&)> cast,
                    const Fold& fold) {
  return [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const DtypeNumber dtype = cast(call);
    std::vector<Outcome> outcomes;
    for (const std::vector<int64_t>& group : Groups(tensors[0].shape, Reduced(call, dims))) {
      Elements elements;
      for (const int64_t position : group) elements.push_back(Cast(tensors[0], position, dtype));
      const std::vector<Element> results = fold(call, dtype, elements);
      outcomes.resize(results.size());
      for (size_t i = 0; i < results.size(); ++i) outcomes[i].push_back(results[i]);
    }
    return outcomes;
  };
}
DtypeNumber OwnDtype(const IndexCall& call) { return call.arguments[0].dtype; }
DtypeNumber GivenDtype(const IndexCall& call) { return static_cast<DtypeNumber>(call["dtype"].integer); }
DtypeNumber OutOf(const IndexCall& call, const std::string& name = "out") { return call[name].dtype; }
Element Place(const IndexCall& call, const std::string& name, size_t place) {
  return FromInteger(call[name].dtype, place);
}

IndexOperator Make(const CFunction& function, const std::vector<IndexArgument>& valid,
                   const IndexRules& rules) {
  IndexOperator op;
  op.function = function;
  op.valid = valid;
  op.rules = rules;
  op.takes_workspace = true;
  op.is_inexact = true;
  return op;
}

// ---- sums and means ----

std::vector<IndexOperator> Sums() {
  std::vector<IndexOperator> all;
  const Listed sums = kFDCI;
  const auto complex_empty = [](const std::string& out) {
    return Refuses(161002, out, [=](IndexCall& call) {
      return IsEmpty(call) && IsOneOf(call[out].dtype, kComplexDtypes);
    });
  };
  const auto has_dims = [](const IndexCall& call) { return !call.arguments[0].shape.empty(); };
  const auto no_dims = [](const IndexCall& call) { return call.arguments[0].shape.empty(); };

  IndexOperator sum =
      Make(PORTACL_C_FUNCTION(aclnnReduceSum),
           {TensorArg("self", {2, 3}), ArrayArg("dims", {1}), IntegerArg("keepDims", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           {NoNulls("self dims out"), Listed_("self", sums), Listed_("out", sums), DtypeListed("dtype", sums),
            DtypeOf("out", "dtype"), RankRange("self", 0, 8), Dims("dims"), complex_empty("out"),
            EmptyGives(), SetsResult("dims", "keepDims"), When(has_dims, ResultIsOrOne("out")),
            When(no_dims, ResultIsOrOne("out", 561103))});
  sum.draw = Drawing("dims", "keepDims", {.self = kSummed, .dtype = kSummed});
  sum.fill = Filling(Values::kSums);
  sum.oracle =
      Folding("dims", GivenDtype, [](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
        return std::vector<Element>{SumOf(dtype, elements, OutOf(call))};
      });
  all.push_back(sum);

  IndexOperator mean =
      Make(PORTACL_C_FUNCTION(aclnnMean),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           {NoNulls("self dim out"), Listed_("self", kRealComplex), DtypeListed("dtype", kRealComplex),
            Listed_("out", kRealComplex), Casts("self", "dtype"), Casts("dtype", "out"), Dims("dim"),
            RankRange("self out", 0, 8), complex_empty("out"), EmptyGives(), SetsResult("dim", "keepDim"),
            ResultIsOrOne("out")});
  const DtypeList means = Plus(kReals, kComplexDtypes);
  mean.draw = Drawing("dim", "keepDim", {.self = means, .dtype = means, .out = means});
  mean.fill = Filling(Values::kSums);
  mean.oracle =
      Folding("dim", GivenDtype, [](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
        return std::vector<Element>{MeanOf(dtype, elements, OutOf(call))};
      });
  all.push_back(mean);

  const auto is_left_alone = [](const std::string& dims, const std::string& noop) {
    return [=](const IndexCall& call) { return call[dims].values.empty() && call[noop].integer != 0; };
  };
  const auto stays = Sets([](IndexCall& call) { call.result = call.arguments[0].shape; });

  IndexOperator mean_v2 =
      Make(PORTACL_C_FUNCTION(aclnnMeanV2),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0),
            IntegerArg("noopWithEmptyAxes", 0), OutputArg("out", {2})},
           {NoNulls("self dim out"), Listed_("self", kRealComplex), Listed_("out", kRealComplex),
            OneDtype("self", "out"), Dims("dim"), RankRange("self out", 0, 8), complex_empty("out"),
            EmptyGives(), SetsResult("dim", "keepDim"),
            When(is_left_alone("dim", "noopWithEmptyAxes"), stays), ResultIsOrOne("out")});
  mean_v2.draw = Drawing("dim", "keepDim", {.self = means});
  mean_v2.fill = Filling(Values::kSums);
  mean_v2.oracle =
      Folding("dim", OwnDtype, [](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
        return std::vector<Element>{MeanOf(dtype, elements, OutOf(call))};
      });
  mean_v2.oracle = [inner = mean_v2.oracle](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    if (call["noopWithEmptyAxes"].integer == 0 || !call["dim"].values.empty()) return inner(call, tensors);
    return std::vector<Outcome>{Outcome(tensors[0].elements.begin(), tensors[0].elements.end())};
  };
  all.push_back(mean_v2);

  const Listed nansum = {.on_new = kThree, .on_950 = {}};
  const auto nansum_list = [=](const std::string& name) {
    return Refuses(161002, name, [=](IndexCall& call) {
      const DtypeNumber dtype = call[name].kind == ParameterKind::kTensor
                                    ? call[name].dtype
                                    : static_cast<DtypeNumber>(call[name].integer);
      if (call.product != Product::k950 && IsOneOf(dtype, kSignedAndBool)) return false;
      return !IsOneOf(dtype, kThree);
    });
  };
  IndexOperator nan_sum =
      Make(PORTACL_C_FUNCTION(aclnnReduceNansum),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           {NoNulls("self dim out"),
            When(On({Product::k910, Product::k310P, Product::k310B}),
                 Refuses(161002, "self", [](IndexCall&) { return true; })),
            nansum_list("self"), nansum_list("dtype"), nansum_list("out"), DtypeOf("out", "dtype"),
            Casts("self", "out"), Dims("dim"), RankRange("self out", 0, 8), EmptyGives(),
            SetsResult("dim", "keepDim"), ResultIsOrOne("out")});
  const DtypeList nansums = Plus(kThree, {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL});
  nan_sum.draw = Drawing("dim", "keepDim", {.self = nansums, .dtype = nansums});
  nan_sum.fill = Filling(Values::kSums);
  nan_sum.oracle =
      Folding("dim", GivenDtype, [](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
        Elements numbers;
        for (const Element& one : elements) {
          if (IsInteger(dtype) || !std::isnan(RealOf(dtype, one))) numbers.push_back(one);
        }
        return std::vector<Element>{SumOf(dtype, numbers, OutOf(call))};
      });
  all.push_back(nan_sum);

  IndexOperator trace =
      Make(PORTACL_C_FUNCTION(aclnnTrace), {TensorArg("self", {2, 3}), OutputArg("out", {})},
           {NoNulls("self out"), RankRange("self", 2, 2), RankRange("out", 0, 0), Listed_("self", sums),
            Refuses(161002, "out",
                    [](IndexCall& call) {
                      const DtypeNumber self = call["self"].dtype;
                      return call["out"].dtype != (IsIntegral(self) ? ACL_INT64 : self);
                    }),
            EmptyGives()});
  trace.draw = [](IndexCall& call, RandomNumbers& random) {
    call["self"].shape = {random.Between(1, 40), random.Between(1, 40)};
    call["self"].dtype = DrawDtype(random, kSummed);
    call["out"].dtype = IsIntegral(call["self"].dtype) ? ACL_INT64 : call["self"].dtype;
  };
  trace.fill = Filling(Values::kSums);
  trace.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    Elements diagonal;
    const DtypeNumber out = OutOf(call);
    for (int64_t i = 0; i < std::min(tensors[0].shape[0], tensors[0].shape[1]); ++i)
      diagonal.push_back(ConvertedElement(
          tensors[0].dtype, tensors[0].elements[static_cast<size_t>(i * (tensors[0].shape[1] + 1))], out));
    return std::vector<Outcome>{{SumOf(out, diagonal, out)}};
  };
  all.push_back(trace);
  return all;
}

// ---- largest and least ----

std::vector<IndexOperator> Extremes() {
  std::vector<IndexOperator> all;
  for (const bool least : {false, true}) {
    const auto fold = [=](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
      return std::vector<Element>{ConvertedElement(dtype, ExtremeOf(dtype, elements, least), OutOf(call))};
    };
    IndexOperator whole =
        Make(least ? PORTACL_C_FUNCTION(aclnnMin) : PORTACL_C_FUNCTION(aclnnMax),
             {TensorArg("self", {2, 3}), OutputArg("out", {})},
             {NoNulls("self out"), Listed_("self", kFDI), Listed_("out", kFDI), RankRange("self out", 0, 8),
              EmptyDone("self out"), SetsResult("", ""), ResultIsOrOne("out")});
    whole.draw = Drawing("", "", {.self = kRealsAndBool, .out = kRealsAndBool});
    whole.fill = Filling(Values::kAny);
    whole.oracle = Folding("", OwnDtype, fold);
    all.push_back(whole);

    IndexOperator over = Make(
        least ? PORTACL_C_FUNCTION(aclnnAmin) : PORTACL_C_FUNCTION(aclnnAmax),
        {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0), OutputArg("out", {2})},
        {NoNulls("self dim out"), OneDtype("self", "out"), Listed_("self", kFDI), Dims("dim"),
         NoEmptyDims("dim", "self"), RankRange("self out", 0, 8), SetsResult("dim", "keepDim"),
         ResultIs("out"), EmptyDone("self")});
    over.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool}, false);
    over.fill = Filling(Values::kAny);
    over.oracle = Folding("dim", OwnDtype, fold);
    all.push_back(over);

    const Listed placed = {{ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_BOOL}, {ACL_BF16}, {ACL_INT32}};
    const Listed indices = {ConvertibleDtypes()};
    IndexOperator along = Make(
        least ? PORTACL_C_FUNCTION(aclnnMinDim) : PORTACL_C_FUNCTION(aclnnMaxDim),
        {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepdim", 0), OutputArg("out", {2}),
         OutputArg("indices", {2}, ACL_INT64)},
        {NoNulls("self out indices"), Listed_("self", placed), OneDtype("self", "out"),
         RankRange("self out indices", 0, 8), Dims("dim"), EmptyDone("self"), SetsResult("dim", "keepdim"),
         ResultIsOrOne("indices"), ResultIsOrOne("out"), Refuses(161001, "indices", [=](IndexCall& call) {
           return !indices.Has(call.product, call["indices"].dtype);
         })});
    along.draw = Drawing("dim", "keepdim",
                         {.self = {ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_BOOL, ACL_BF16},
                          .indices = {ACL_INT64, ACL_INT64, ACL_INT32, ACL_INT8, ACL_FLOAT16}});
    along.fill = Filling(Values::kAny);
    along.oracle =
        Folding("dim", OwnDtype, [=](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
          const size_t place = PlaceOf(dtype, elements, least);
          return std::vector<Element>{elements[place], Place(call, "indices", place)};
        });
    all.push_back(along);

    const Listed on_old = {{ACL_BF16}};
    const auto arg_list = Refuses(161002, "self", [=](IndexCall& call) {
      const DtypeNumber dtype = call["self"].dtype;
      if (dtype == ACL_BF16) return call.product == Product::k910 || call.product == Product::k310P;
      if (dtype == ACL_UINT16 && !least) return call.product != Product::k950;
      return !IsOneOf(dtype, kReals);
    });
    const IndexRules tail = {SetsResult("dim", "keepdim"), ResultIsOrOne("out")};
    IndexOperator arg =
        Make(least ? PORTACL_C_FUNCTION(aclnnArgMin) : PORTACL_C_FUNCTION(aclnnArgMax),
             {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepdim", 0),
              OutputArg("out", {2}, ACL_INT64)},
             least ? IndexRules{NoNulls("self out"), Dims("dim"), arg_list,
                                Listed_("out", {{ACL_INT32, ACL_INT64}}), Public("self out"),
                                RankRange("self out", 0, 8), NoEmptyDims("dim", "self"), EmptyDone("self")} +
                         tail
                   : IndexRules{NoNulls("self out"), arg_list, RankRange("self out", 0, 8), Dims("dim"),
                                EmptyDone("self out")} +
                         tail + IndexRules{Refuses(561103, "out", [=](IndexCall& call) {
                           return !indices.Has(call.product, call["out"].dtype);
                         })});
    arg.draw = Drawing("dim", "keepdim", {.self = kReals, .out = {ACL_INT64, ACL_INT32}});
    arg.fill = Filling(Values::kAny);
    arg.oracle =
        Folding("dim", OwnDtype, [=](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
          return std::vector<Element>{Place(call, "out", PlaceOf(dtype, elements, least))};
        });
    all.push_back(arg);
  }

  IndexOperator v2 =
      Make(PORTACL_C_FUNCTION(aclnnMaxV2),
           {TensorArg("self", {2, 3}), ArrayArg("dims", {1}), IntegerArg("keepDims", 0),
            IntegerArg("noopWithEmptyDims", 0), OutputArg("out", {2})},
           {NoNulls("self dims out"), OneDtype("self", "out"), Listed_("self", kFDI), Dims("dims"),
            NoEmptyDims("dims", "self"), RankRange("self out", 0, 8), SetsResult("dims", "keepDims"),
            When(
                [](const IndexCall& call) {
                  return call["dims"].values.empty() && call["noopWithEmptyDims"].integer != 0;
                },
                Sets([](IndexCall& call) { call.result = call["self"].shape; })),
            ResultIs("out"), EmptyDone("self")});
  v2.draw = Drawing("dims", "keepDims", {.self = kRealsAndBool}, false);
  v2.fill = Filling(Values::kAny);
  v2.oracle = Folding("dims", OwnDtype, [](const IndexCall&, DtypeNumber dtype, const Elements& elements) {
    return std::vector<Element>{ExtremeOf(dtype, elements, false)};
  });
  all.push_back(v2);

  const auto both = [](const IndexCall&, DtypeNumber dtype, const Elements& elements) {
    return std::vector<Element>{ExtremeOf(dtype, elements, true), ExtremeOf(dtype, elements, false)};
  };
  const IndexRules first = {Listed_("self", kFDI), OneDtype("self", "minOut"), OneDtype("self", "maxOut"),
                            RankRange("self minOut maxOut", 0, 8)};
  const IndexRules last = {ResultIsOrOne("minOut"), ResultIsOrOne("maxOut")};
  IndexOperator aminmax = Make(
      PORTACL_C_FUNCTION(aclnnAminmax),
      {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0), OutputArg("minOut", {2}),
       OutputArg("maxOut", {2})},
      IndexRules{NoNulls("self dim minOut maxOut")} + first +
          IndexRules{Refuses(161002, "self dim",
                             [](IndexCall& call) { return call["dim"].values.size() != 1 && IsEmpty(call); }),
                     When([](const IndexCall& call) { return call["dim"].values.size() == 1; }, Dims("dim")),
                     When([](const IndexCall& call) { return call["dim"].values.size() == 1; },
                          NoEmptyDims("dim", "self")),
                     Dims("dim", false, 561103), EmptyDone("self"), SetsResult("dim", "keepDim"),
                     When([](const IndexCall& call) { return call["dim"].values.empty(); },
                          Sets([](IndexCall& call) { call.result = call["self"].shape; }))} +
          last);
  aminmax.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool}, false);
  aminmax.fill = Filling(Values::kAny);
  aminmax.oracle = Folding("dim", OwnDtype, both);
  // Without dims nothing is reduced.
  aminmax.oracle = [inner = aminmax.oracle](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    if (!call["dim"].values.empty()) return inner(call, tensors);
    Outcome same;
    for (size_t i = 0; i < tensors[0].elements.size(); ++i)
      same.push_back(Cast(tensors[0], static_cast<int64_t>(i), tensors[0].dtype));
    return std::vector<Outcome>{same, same};
  };
  all.push_back(aminmax);
  IndexOperator all_of = Make(PORTACL_C_FUNCTION(aclnnAminmaxAll),
                              {TensorArg("self", {2, 3}), OutputArg("minOut", {}), OutputArg("maxOut", {})},
                              IndexRules{NoNulls("self minOut maxOut")} + first +
                                  IndexRules{EmptyDone("self"), SetsResult("", "")} + last);
  all_of.draw = Drawing("", "", {.self = kRealsAndBool});
  all_of.fill = Filling(Values::kAny);
  all_of.oracle = Folding("", OwnDtype, both);
  all.push_back(all_of);
  IndexOperator along = Make(PORTACL_C_FUNCTION(aclnnAminmaxDim),
                             {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepDim", 0),
                              OutputArg("minOut", {2}), OutputArg("maxOut", {2})},
                             IndexRules{NoNulls("self minOut maxOut")} + first +
                                 IndexRules{Dims("dim"), NoEmptyDims("dim", "self"), EmptyDone("self"),
                                            SetsResult("dim", "keepDim")} +
                                 last);
  along.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool});
  along.fill = Filling(Values::kAny);
  along.oracle = Folding("dim", OwnDtype, both);
  all.push_back(along);
  return all;
}

// ---- truth, products, norms ----

std::vector<IndexOperator> Others() {
  std::vector<IndexOperator> all;
  const Listed truths = {{ACL_UINT8, ACL_BOOL}};
  for (const bool is_all : {false, true}) {
    IndexRules rules = {NoNulls("self dim out"), Listed_("self", kFDI), Listed_("out", truths)};
    if (is_all) rules.push_back(Public("self"));
    rules = rules + IndexRules{Dims("dim", is_all), RankRange("self out", 0, 8)};
    rules = rules + (is_all ? IndexRules{SetsResult("dim", "keepdim"), ResultIs("out"), EmptyGives()}
                            : IndexRules{EmptyGives(), SetsResult("dim", "keepdim"), ResultIsOrOne("out")});
    IndexOperator op = Make(is_all ? PORTACL_C_FUNCTION(aclnnAll) : PORTACL_C_FUNCTION(aclnnAny),
                            {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepdim", 0),
                             OutputArg("out", {2}, ACL_BOOL)},
                            rules);
    op.draw = Drawing("dim", "keepdim", {.self = kRealsAndBool, .out = {ACL_BOOL, ACL_UINT8}}, !is_all);
    // Mostly true, or mostly false.
    op.fill = [](const IndexCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
      HostTensor& self = tensors[0];
      const int zeros = random.Chance(50) ? 1 : 99;
      for (int64_t i = 0; i < self.size(); ++i) {
        const Number_ specials[] = {1, -2, std::numeric_limits<Number_>::quiet_NaN()};
        Number number{random.Chance(zeros) ? (random.Chance(50) ? 0.0L : -0.0L) : specials[random.Below(3)],
                      0};
        if (IsInteger(self.dtype()) && std::isnan(number.real)) number.real = 1;
        const Element element =
            IsInteger(self.dtype())
                ? FromInteger(self.dtype(), static_cast<uint64_t>(static_cast<int64_t>(number.real)))
                : ElementOfNumber(self.dtype(), number);
        std::copy(element.begin(), element.end(), self.Element(i));
      }
    };
    op.oracle =
        Folding("dim", OwnDtype, [=](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
          const auto is_true = [&](const Element& one) { return IsTrue(dtype, one); };
          const bool result = is_all ? std::all_of(elements.begin(), elements.end(), is_true)
                                     : std::any_of(elements.begin(), elements.end(), is_true);
          return std::vector<Element>{FromInteger(OutOf(call), result ? 1 : 0)};
        });
    all.push_back(op);
  }

  const DtypeList filled = Plus(kRealsAndBool, {});
  const IndexRules product_tail = {
      Refuses(161002, "out",
              [=](IndexCall& call) { return IsEmpty(call) && !IsOneOf(call["out"].dtype, filled); }),
      EmptyGives()};
  const auto convertible = Refuses(561103, "out", [](IndexCall& call) {
    const auto& dtypes = ConvertibleDtypes();
    return std::find(dtypes.begin(), dtypes.end(), call["out"].dtype) == dtypes.end();
  });
  const auto product = [](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
    return std::vector<Element>{ProductOf(dtype, elements, OutOf(call))};
  };
  // Of complex products zeros' signs depend on the order: see orders_test.cc.
  const DtypeList product_dtypes = Plus(kRealsAndBool, kUnsigned);
  IndexOperator prod =
      Make(PORTACL_C_FUNCTION(aclnnProd),
           {TensorArg("self", {2, 3}), IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {})},
           IndexRules{NoNulls("self out"), Listed_("self", kFDCI), DtypeOf("out", "dtype"),
                      RankRange("self out", 0, 8)} +
               product_tail + IndexRules{SetsResult("", ""), ResultIsOrOne("out"), convertible});
  prod.draw = Drawing("", "", {.self = kRealsAndBool, .dtype = product_dtypes});
  prod.fill = Filling(Values::kProducts);
  prod.oracle = Folding("", GivenDtype, product);
  all.push_back(prod);
  IndexOperator prod_dim =
      Make(PORTACL_C_FUNCTION(aclnnProdDim),
           {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepDim", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           IndexRules{NoNulls("self out"), Listed_("self", kFDCI), DtypeOf("out", "dtype"),
                      RankRange("self out", 0, 8), Dims("dim")} +
               product_tail + IndexRules{SetsResult("dim", "keepDim"), ResultIsOrOne("out"), convertible});
  prod_dim.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool, .dtype = product_dtypes});
  prod_dim.fill = Filling(Values::kProducts);
  prod_dim.oracle = Folding("dim", GivenDtype, product);
  all.push_back(prod_dim);

  const Listed on950 = {kThree};
  for (const bool is_vector : {true, false}) {
    const std::string p = is_vector ? "ord" : "pScalar";
    const std::string dims = is_vector ? "dims" : "dim";
    const std::string keep = is_vector ? "keepDims" : "keepdim";
    const auto is_950 = On({Product::k950});
    IndexRules rules = {NoNulls("self " + p + " " + dims + " out")};
    if (is_vector)
      rules = rules + IndexRules{DtypeOf("out", "dtype"), Refuses(161002, "self out", [](IndexCall& call) {
                                   const DtypeList complex = Plus(kComplexDtypes, {ACL_COMPLEX32});
                                   return IsOneOf(call["self"].dtype, complex) ||
                                          IsOneOf(call["out"].dtype, complex);
                                 })};
    rules = rules + IndexRules{When(is_950, Listed_("self", on950)), When(is_950, Listed_("out", on950))};
    if (is_vector)
      rules.push_back(When(is_950, Refuses(161002, "out self", [](IndexCall& call) {
                             return call["out"].dtype != call["self"].dtype && call["out"].dtype != ACL_FLOAT;
                           })));
    rules =
        rules +
        IndexRules{
            Refuses(161002, "self out",
                    [](IndexCall& call) {
                      return PromoteDtypes(call["self"].dtype, call["out"].dtype) == kUndefinedDtype;
                    }),
            When(is_950, Refuses(161002, "out",
                                 [](IndexCall& call) {
                                   return !CanCastDtype(PromoteDtypes(call["self"].dtype, call["out"].dtype),
                                                        call["out"].dtype);
                                 })),
            Dims(dims), RankRange("self out", 0, 8), SetsResult(dims, keep), ResultIs("out"), EmptyGives(),
            Refuses(561103, "self",
                    [=](IndexCall& call) {
                      const auto& dtypes = ConvertibleDtypes();
                      return (is_vector && IsOneOf(call["self"].dtype, kComplexDtypes)) ||
                             std::find(dtypes.begin(), dtypes.end(), call["self"].dtype) == dtypes.end();
                    }),
            convertible,
            // Of complex numbers there is the 2-norm alone. A BOOL scalar is 1 at most, a complex one counts as 0.
            Refuses(561103, p, [=](IndexCall& call) {
              const IndexArgument& order = call[p];
              const bool is_two =
                  order.number.real == 2 && order.dtype != ACL_BOOL && !IsOneOf(order.dtype, kComplexDtypes);
              return IsOneOf(call["self"].dtype, kComplexDtypes) && !is_two;
            })};
    rules.push_back([](IndexCall& call) -> std::optional<Verdict> {
      // Scalars of dtypes that no scalar converts from.
      for (const IndexArgument& one : call.arguments) {
        if (one.kind == ParameterKind::kScalar) return std::nullopt;
      }
      return std::nullopt;
    });
    const std::vector<IndexArgument> vector_arguments = {
        TensorArg("self", {2, 3}), ScalarArg("ord", {2, 0}),       ArrayArg("dims", {1}),
        IntegerArg("keepDims", 0), IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})};
    const std::vector<IndexArgument> norm_arguments = {TensorArg("self", {2, 3}),
                                                       ScalarArg("pScalar", {2, 0}), ArrayArg("dim", {1}),
                                                       IntegerArg("keepdim", 0), OutputArg("out", {2})};
    IndexOperator norm =
        Make(is_vector ? PORTACL_C_FUNCTION(aclnnLinalgVectorNorm) : PORTACL_C_FUNCTION(aclnnNorm),
             is_vector ? vector_arguments : norm_arguments, rules);
    norm.draw = [=](IndexCall& call, RandomNumbers& random) {
      const DtypeList floats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};
      Drawn drawn{.self = is_vector ? kRealsAndBool : Plus(kRealsAndBool, kComplexDtypes),
                  .out = is_vector ? floats : Plus(floats, kComplexDtypes)};
      Draw(call, random, dims, keep, drawn, false);
      if (is_vector) call["dtype"].integer = call["out"].dtype;
      const Number_ infinity = std::numeric_limits<Number_>::infinity();
      const Number_ orders[] = {0, 1, 2, infinity, -infinity, 2147483648.0L};
      const bool is_complex = IsOneOf(call["self"].dtype, kComplexDtypes);
      call[p].number = {is_complex ? 2 : orders[random.Below(6)], 0};
    };
    norm.fill = Filling(Values::kSums);
    norm.oracle = Folding(
        dims,
        [](const IndexCall& call) {
          return IsIntegral(call["self"].dtype) ? static_cast<DtypeNumber>(ACL_FLOAT) : call["self"].dtype;
        },
        [=](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
          Number_ order = call[p].number.real;
          if (order == 2147483648.0L) order = std::numeric_limits<Number_>::infinity();
          const Number_ exact = NormOf(dtype, elements, order);
          // Square roots are those of float64.
          const Number_ norm_value = order == 2 ? static_cast<Number_>(static_cast<double>(exact)) : exact;
          return std::vector<Element>{ElementOfNumber(OutOf(call), {norm_value, 0})};
        });
    all.push_back(norm);
  }
  return all;
}

// ---- logarithms: results to within the rounding of the oracle ----

std::vector<IndexOperator> Logarithms() {
  std::vector<IndexOperator> all;
  const Listed exponentials = kReal + DtypeList{ACL_BOOL} - DtypeList{ACL_DOUBLE};
  const Listed floats = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};
  IndexOperator exp =
      Make(PORTACL_C_FUNCTION(aclnnLogSumExp),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0), OutputArg("out", {2})},
           {NoNulls("self dim out"), Listed_("self", exponentials), Listed_("out", floats),
            Casts("self", "out"), Dims("dim"), RankRange("self out", 0, 8), SetsResult("dim", "keepDim"),
            ResultIs("out"), EmptyGives(), When(On({Product::k950}), Public("self"))});
  exp.tolerance = 1e-6;
  DtypeList drawn = kRealsAndBool;
  drawn.erase(std::find(drawn.begin(), drawn.end(), DtypeNumber{ACL_DOUBLE}));
  exp.draw = Drawing("dim", "keepDim", {.self = drawn, .out = kThree}, false);
  exp.fill = Filling(Values::kSums);
  exp.oracle =
      Folding("dim", OwnDtype, [](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
        Number_ sum = 0;
        for (const Element& one : elements) sum += std::exp(RealOf(dtype, one));
        return std::vector<Element>{ElementOfNumber(OutOf(call), {std::log(sum), 0})};
      });
  all.push_back(exp);

  const Listed halves = {{ACL_FLOAT, ACL_FLOAT16}, {}, {ACL_BF16}};
  const auto is_left_alone = [](const IndexCall& call) {
    return call["axes"].values.empty() && call["noopWithEmptyAxes"].integer != 0;
  };
  const auto is_reduced = [=](const IndexCall& call) { return !is_left_alone(call); };
  IndexOperator log =
      Make(PORTACL_C_FUNCTION(aclnnReduceLogSum),
           {TensorArg("data", {2, 3}), ArrayArg("axes", {1}), IntegerArg("keepDims", 0),
            IntegerArg("noopWithEmptyAxes", 0), OutputArg("reduce", {2})},
           {NoNulls("data axes reduce"), Listed_("data", halves), Listed_("reduce", halves),
            RankRange("data", 0, 8), Dims("axes"), EmptyGives(), SetsResult("axes", "keepDims"),
            When(is_left_alone, Sets([](IndexCall& call) { call.result = call["data"].shape; })),
            When(is_reduced, ResultIsOrOne("reduce")), When(is_left_alone, ResultIsOrOne("reduce", 561103)),
            Refuses(561103, "data reduce",
                    [](IndexCall& call) { return call["data"].dtype != call["reduce"].dtype; })});
  log.tolerance = 1e-6;
  log.draw = Drawing("axes", "keepDims", {.self = {ACL_FLOAT, ACL_FLOAT16}});
  log.fill = Filling(Values::kSums);
  log.oracle =
      Folding("axes", OwnDtype, [](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
        const Number_ sum = TotalOf(dtype, elements, /*is_product=*/false).number().real;
        return std::vector<Element>{ElementOfNumber(call["reduce"].dtype, {std::log(sum), 0})};
      });
  log.oracle = [=, inner = log.oracle](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    if (!is_left_alone(call)) return inner(call, tensors);
    return std::vector<Outcome>{Outcome(tensors[0].elements.begin(), tensors[0].elements.end())};
  };
  all.push_back(log);
  return all;
}

// ---- scans ----

std::vector<IndexOperator> Scans() {
  std::vector<IndexOperator> all;
  // The results at each place of a line, in the line's order.
  using Line =
      std::function<std::vector<std::vector<Element>>(const IndexCall&, DtypeNumber, const Elements& line)>;
  const auto scanning = [](std::function<int64_t(const IndexCall&)> dim,
                           std::function<DtypeNumber(const IndexCall&)> cast, const Line& scan) {
    return [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
      const Shape& shape = tensors[0].shape;
      const auto axis = static_cast<uint32_t>(Wrapped(dim(call), shape));
      const DtypeNumber dtype = cast(call);
      std::vector<Outcome> outcomes;
      for (const std::vector<int64_t>& line : Groups(shape, 1u << axis)) {
        Elements elements;
        for (const int64_t position : line) elements.push_back(Cast(tensors[0], position, dtype));
        const std::vector<std::vector<Element>> results = scan(call, dtype, elements);
        for (size_t i = 0; i < line.size(); ++i) {
          outcomes.resize(results[i].size());
          for (size_t k = 0; k < results[i].size(); ++k) {
            outcomes[k].resize(tensors[0].elements.size());
            outcomes[k][static_cast<size_t>(line[i])] = results[i][k];
          }
        }
      }
      return outcomes;
    };
  };
  const auto totals = [](bool is_product) {
    return [=](const IndexCall& call, DtypeNumber dtype, const Elements& line) {
      const auto is_set = [&](const char* name) {
        return std::any_of(call.arguments.begin(), call.arguments.end(), [&](const IndexArgument& argument) {
          return argument.name == name && argument.integer != 0;
        });
      };
      Total total(dtype, is_product);
      std::vector<std::vector<Element>> results(line.size());
      for (size_t i = 0; i < line.size(); ++i) {
        const size_t place = is_set("reverse") ? line.size() - 1 - i : i;
        const Element before = total.As(dtype);
        total.Add(line[place]);
        results[place] = {is_set("exclusive") ? before : total.As(dtype)};
      }
      return results;
    };
  };
  const auto draw = [](const DtypeList& selfs, const DtypeList& outs) {
    return [=](IndexCall& call, RandomNumbers& random) {
      IndexArgument& self = call.arguments[0];
      self.shape = DrawShape(random, 0, 4);
      if (random.Chance(15)) self.shape = {random.Between(1, 4), random.Between(2, 700)};
      if (random.Chance(15)) self.shape = {random.Between(2, 40), random.Between(200, 700)};
      self.dtype = DrawDtype(random, selfs);
      const DtypeNumber dtype = outs.empty() ? self.dtype : DrawDtype(random, outs);
      const auto rank = std::max<int64_t>(std::ssize(self.shape), 1);
      for (IndexArgument& argument : call.arguments) {
        if (argument.name == "dim") {
          argument.integer = random.Between(-rank, rank - 1);
          argument.number = {static_cast<Number_>(argument.integer), 0};
        }
        if (argument.name == "exclusive" || argument.name == "reverse") argument.integer = random.Below(2);
        if (argument.name == "dtype") argument.integer = dtype;
        if (!argument.is_output || &argument == &self) continue;
        argument.shape = self.shape;
        argument.dtype = argument.name == "indicesOut" ? (random.Chance(50) ? ACL_INT64 : ACL_INT32) : dtype;
      }
    };
  };
  const auto integer_dim = [](const IndexCall& call) { return call["dim"].integer; };
  const auto out_dtype = [](const IndexCall& call) { return call["out"].dtype; };
  const auto convertible = Refuses(561103, "self", [](IndexCall& call) {
    const auto& dtypes = ConvertibleDtypes();
    return std::find(dtypes.begin(), dtypes.end(), call["self"].dtype) == dtypes.end();
  });
  const IndexRules sum_tail = {OneShape("self", "out"), RankRange("self", 0, 8), Dims("dim"),
                               EmptyDone("self"), convertible};
  IndexOperator sum =
      Make(PORTACL_C_FUNCTION(aclnnCumsum),
           {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("dtype", ACL_FLOAT),
            OutputArg("out", {2, 3})},
           IndexRules{NoNulls("self out"), Listed_("out", kRealComplex), DtypeOf("out", "dtype")} + sum_tail);
  const DtypeList summed = Plus(kReals, kComplexDtypes);
  sum.draw = draw(Plus(kSummed, kUnsigned), summed);
  sum.fill = Filling(Values::kSums);
  sum.oracle = scanning(integer_dim, out_dtype, totals(false));
  all.push_back(sum);
  IndexOperator v2 = Make(PORTACL_C_FUNCTION(aclnnCumsumV2),
                          {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("exclusive", 0),
                           IntegerArg("reverse", 0), OutputArg("out", {2, 3})},
                          IndexRules{NoNulls("self out"), Listed_("self", kRealComplex),
                                     Listed_("out", kRealComplex), OneDtype("self", "out")} +
                              sum_tail);
  v2.draw = draw(summed, {});
  v2.fill = Filling(Values::kSums);
  v2.oracle = scanning(integer_dim, out_dtype, totals(false));
  all.push_back(v2);

  const Listed products = {Plus(kReals, kUnsigned)};
  const auto scalar_dim = [](const IndexCall& call) { return static_cast<int64_t>(call["dim"].number.real); };
  const IndexRules product_dim = {
      Refuses(
          161002, "dim",
          [](IndexCall& call) { return call["dim"].dtype != ACL_INT32 && call["dim"].dtype != ACL_INT64; }),
      Refuses(161002, "dim",
              [=](IndexCall& call) { return !IsDimOf(scalar_dim(call), call.arguments[0].shape); })};
  const auto few = Refuses(561103, "input", [](IndexCall& call) { return call["input"].shape.size() > 8; });
  IndexOperator prod = Make(
      PORTACL_C_FUNCTION(aclnnCumprod),
      {TensorArg("input", {2, 3}), ScalarArg("dim", {1, 0}, ACL_INT64), IntegerArg("dtype", ACL_FLOAT),
       OutputArg("out", {2, 3})},
      IndexRules{NoNulls("input dim"), NoNulls("out"), Listed_("input", products), Listed_("out", products)} +
          product_dim +
          IndexRules{OneShape("input", "out"),
                     Refuses(161002, "dtype out",
                             [](IndexCall& call) {
                               return call["dtype"].integer != ACL_DT_UNDEFINED &&
                                      call["dtype"].integer != call["out"].dtype;
                             }),
                     EmptyDone("input"), few});
  prod.draw = draw(products.everywhere, products.everywhere);
  prod.fill = Filling(Values::kProducts);
  prod.oracle = scanning(scalar_dim, out_dtype, totals(true));
  all.push_back(prod);
  IndexOperator in_place = Make(PORTACL_C_FUNCTION(aclnnInplaceCumprod),
                                {OutputArg("input", {2, 3}), ScalarArg("dim", {1, 0}, ACL_INT64)},
                                IndexRules{NoNulls("input dim"), Listed_("input", products)} + product_dim +
                                    IndexRules{EmptyDone("input"), few});
  in_place.draw = draw(products.everywhere, {});
  in_place.fill = Filling(Values::kProducts);
  in_place.oracle = scanning(
      scalar_dim, [](const IndexCall& call) { return call["input"].dtype; }, totals(true));
  all.push_back(in_place);

  for (const bool least : {false, true}) {
    const Listed dtypes = least ? kFDI + DtypeList{ACL_BF16} : kFDI;
    IndexRules rules = {NoNulls("self valuesOut indicesOut")};
    if (!least)
      rules.push_back(Refuses(161002, "self", [](IndexCall& call) { return call["self"].shape.empty(); }));
    rules = rules + IndexRules{Dims("dim"),
                               Listed_("self", dtypes),
                               Listed_("valuesOut", dtypes),
                               Listed_("indicesOut", {{ACL_INT32, ACL_INT64}}),
                               RankRange("self", 0, 8),
                               OneShape("self", "valuesOut"),
                               OneShape("self", "indicesOut"),
                               EmptyDone("self")};
    IndexOperator op = Make(least ? PORTACL_C_FUNCTION(aclnnCummin) : PORTACL_C_FUNCTION(aclnnCummax),
                            {TensorArg("self", {2, 3}), IntegerArg("dim", 1), OutputArg("valuesOut", {2, 3}),
                             OutputArg("indicesOut", {2, 3}, ACL_INT64)},
                            rules);
    op.draw = draw(kRealsAndBool, kRealsAndBool);
    op.fill = Filling(Values::kAny);
    // The last of those that no other one is better than; a NaN stays until the next.
    op.oracle =
        scanning(integer_dim, OwnDtype, [=](const IndexCall& call, DtypeNumber dtype, const Elements& line) {
          const auto is_nan = [&](const Element& one) {
            return !IsInteger(dtype) && std::isnan(RealOf(dtype, one));
          };
          std::vector<std::vector<Element>> results;
          size_t place = 0;
          for (size_t i = 0; i < line.size(); ++i) {
            if (is_nan(line[i]) || (!is_nan(line[place]) && !IsBetter(dtype, line[i], line[place], least)))
              place = i;
            results.push_back({ConvertedElement(dtype, line[place], call["valuesOut"].dtype),
                               Place(call, "indicesOut", place)});
          }
          return results;
        });
    all.push_back(op);
  }
  return all;
}

// ---- variances: results to within the rounding of the oracle ----

std::vector<IndexOperator> Variances() {
  std::vector<IndexOperator> all;
  const Listed three = {{ACL_FLOAT, ACL_FLOAT16}, {ACL_BF16}};
  const Listed of_var_mean = {{ACL_FLOAT, ACL_FLOAT16}, {}, {ACL_BF16}};
  struct Kind {
    CFunction function;
    std::string correction;
    bool is_root;
    bool has_mean;
    bool is_fixed;  // on Atlas A2
  };
  const Kind kinds[] = {{PORTACL_C_FUNCTION(aclnnVar), "unbiased", false, false, false},
                        {PORTACL_C_FUNCTION(aclnnVarCorrection), "correction", false, false, true},
                        {PORTACL_C_FUNCTION(aclnnStd), "correction", true, false, true},
                        {PORTACL_C_FUNCTION(aclnnStdMeanCorrection), "correction", true, true, true},
                        {PORTACL_C_FUNCTION(aclnnVarMean), "correction", false, true, true}};
  for (const Kind& kind : kinds) {
    const std::string first = !kind.has_mean ? "out" : kind.is_root ? "stdOut" : "varOut";
    const std::string outs = kind.has_mean ? first + " meanOut" : first;
    std::vector<IndexArgument> valid = {TensorArg("self", {2, 3}), ArrayArg("dim", {1}),
                                        IntegerArg(kind.correction, 1), IntegerArg("keepdim", 0),
                                        OutputArg(first, {2})};
    if (kind.has_mean) valid.push_back(OutputArg("meanOut", {2}));
    const Listed& list = kind.has_mean && !kind.is_root ? of_var_mean : three;
    IndexRules rules = {NoNulls("self " + outs), Listed_("self " + outs, list)};
    if (kind.is_root && !kind.has_mean) rules.push_back(Casts("self", "out"));
    if (kind.is_root && kind.has_mean) {
      const auto before_950 = [](const IndexCall& call) { return call.product != Product::k950; };
      rules = rules + IndexRules{When(before_950, OneDtype("self", "stdOut")),
                                 When(before_950, OneDtype("self", "meanOut"))};
    }
    rules = rules + IndexRules{Dims("dim"), RankRange(kind.is_root ? "self " + outs : "self", 0, 8),
                               SetsResult("dim", "keepdim")};
    const auto names_dims = [](const IndexCall& call) {
      return !call["dim"].null && !call["dim"].values.empty();
    };
    const auto names_none = [=](const IndexCall& call) { return !names_dims(call); };
    for (const std::string& out :
         kind.has_mean ? (kind.is_root ? Words("stdOut meanOut") : Words("meanOut varOut")) : Words("out"))
      rules.push_back(kind.is_root ? When(names_dims, ResultIs(out)) : ResultIs(out));
    rules.push_back(EmptyGives());
    if (kind.is_root) {
      for (const std::string& out : Words(outs))
        rules.push_back(When(names_none, ResultIsOrOne(out, 561103)));
    }
    IndexOperator op = Make(kind.function, valid, rules);
    const DtypeList drawn_dtypes =
        kind.has_mean && !kind.is_root ? DtypeList{ACL_FLOAT, ACL_FLOAT16} : kThree;
    op.draw = [=](IndexCall& call, RandomNumbers& random) {
      Drawn drawn{.self = drawn_dtypes};
      // Exact numbers lie halfway between two of 16 bits too often for an oracle of other roundings.
      if (!kind.is_root || !kind.has_mean) drawn.out = {ACL_FLOAT};
      Draw(call, random, "dim", "keepdim", drawn, false);
      call[kind.correction].integer = kind.correction == "unbiased" ? random.Below(2) : random.Between(-1, 4);
    };
    op.fill = Filling(Values::kSums);
    op.oracle =
        Folding("dim", OwnDtype, [=](const IndexCall& call, DtypeNumber dtype, const Elements& elements) {
          const auto n = static_cast<Number_>(elements.size());
          const auto correction = static_cast<Number_>(call[kind.correction].integer);
          Number_ sum = 0;
          for (const Element& one : elements) sum += RealOf(dtype, one);
          const Number_ mean = sum / n;
          Number_ squares = 0;
          for (const Element& one : elements)
            squares += (RealOf(dtype, one) - mean) * (RealOf(dtype, one) - mean);
          const Number_ divisor = std::max<Number_>(0, n - correction);
          // What is 0 in exact numbers must not become infinite by the oracle's own rounding.
          const bool are_equal = std::all_of(elements.begin(), elements.end(), [&](const Element& one) {
            return RealOf(dtype, one) == RealOf(dtype, elements[0]);
          });
          Number_ variance = (are_equal && std::isfinite(mean) ? 0 : squares) / divisor;
          if (kind.is_fixed && n == 1 && correction >= 1)
            variance = std::numeric_limits<Number_>::quiet_NaN();
          if (kind.is_fixed && n > 1 && correction > 1 && n <= correction)
            variance = std::numeric_limits<Number_>::infinity();
          std::vector<Element> results = {
              ElementOfNumber(call[first].dtype, {kind.is_root ? std::sqrt(variance) : variance, 0})};
          if (kind.has_mean) results.push_back(ElementOfNumber(call["meanOut"].dtype, {mean, 0}));
          return results;
        });
    all.push_back(op);
  }
  return all;
}

const std::vector<IndexOperator>& All() {
  static const std::vector<IndexOperator> all = [] {
    std::vector<IndexOperator> every;
    for (const auto& some : {Sums(), Extremes(), Others(), Logarithms(), Scans(), Variances()})
      every.insert(every.end(), some.begin(), some.end());
    return every;
  }();
  return all;
}

class Reductions : public ::testing::TestWithParam<const IndexOperator*> {};
TEST_P(Reductions, Contract) { CheckContract(*GetParam()); }
TEST_P(Reductions, EveryElement) { CheckNumbers(*GetParam(), 400); }
TEST_P(Reductions, AddressesSetAnew) { CheckAddressesSetAnew(*GetParam()); }
INSTANTIATE_TEST_SUITE_P(Of, Reductions, ::testing::ValuesIn([] {
                           std::vector<const IndexOperator*> all;
                           for (const IndexOperator& op : All()) all.push_back(&op);
                           return all;
                         }()),
                         [](const auto& parameter) { return std::string(parameter.param->function.name); });

}  // namespace
}  // namespace portacl::testing
