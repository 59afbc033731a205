// What the descriptions of reductions and scans share: which elements become one, sums and extremes by hand, rules, draws.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/map_values.h"
#include "support/rules.h"

namespace portacl::testing::reductions {

using Elements = std::vector<Element>;
using Number_ = long double;

inline const Listed kReal = kFDI - DtypeList{ACL_BOOL};
inline const Listed kRealComplex = kReal + kComplexDtypes;
inline const DtypeList kReals = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,
                                 ACL_UINT8, ACL_INT16,   ACL_INT32, ACL_INT64};
inline const DtypeList kThree = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};

inline DtypeList Plus(DtypeList list, const DtypeList& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}
inline const DtypeList kRealsAndBool = Plus(kReals, {ACL_BOOL});
inline const DtypeList kSummed = Plus(kRealsAndBool, kComplexDtypes);

inline bool IsInteger(DtypeNumber dtype) { return IsIntegral(dtype) || IsOneOf(dtype, kUnsigned); }

// ---- which elements become one ----

// One bit for each dim that is reduced.
inline uint32_t Reduced(const PlanCall& call, const std::string& name) {
  if (name.empty()) return ~0u;
  const PlanArgument& dims = call[name];
  const Shape& shape = call.arguments[0].shape;
  if (dims.kind != ParameterKind::kArray) return 1u << Wrapped(dims.integer, shape);
  if (dims.null || dims.values.empty()) return ~0u;
  uint32_t mask = 0;
  for (const int64_t dim : dims.values) mask |= 1u << Wrapped(dim, shape);
  return mask;
}
inline Shape ReducedShape(const Shape& shape, uint32_t mask, bool keeps) {
  Shape result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if ((mask >> i & 1) == 0) result.push_back(shape[i]);
    if ((mask >> i & 1) != 0 && keeps) result.push_back(1);
  }
  return result;
}
// For each result, the positions of its elements in row-major order.
inline std::vector<std::vector<int64_t>> Groups(const Shape& shape, uint32_t mask) {
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

inline Number_ RealOf(DtypeNumber dtype, const Element& element) {
  return NumberOf(dtype, element.data()).real;
}
inline uint64_t BitsOf(DtypeNumber dtype, const Element& element) {
  return static_cast<uint64_t>(DecodeInteger(dtype, element.data()));
}
inline Element FromInteger(DtypeNumber dtype, uint64_t value) {
  Element whole(8);
  EncodeIntegerElement(ACL_INT64, static_cast<int64_t>(value), whole.data());
  return ConvertedElement(ACL_INT64, whole, dtype);
}
inline bool IsTrue(DtypeNumber dtype, const Element& element) {
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
inline Total TotalOf(DtypeNumber dtype, const Elements& elements, bool is_product) {
  Total total(dtype, is_product);
  for (const Element& one : elements) total.Add(one);
  return total;
}
inline Element SumOf(DtypeNumber dtype, const Elements& elements, DtypeNumber out) {
  return TotalOf(dtype, elements, /*is_product=*/false).As(out);
}
inline Element ProductOf(DtypeNumber dtype, const Elements& elements, DtypeNumber out) {
  return TotalOf(dtype, elements, /*is_product=*/true).As(out);
}
inline Element MeanOf(DtypeNumber dtype, const Elements& elements, DtypeNumber out) {
  const auto n = static_cast<int64_t>(elements.size());
  if (IsInteger(dtype)) {
    const int64_t sum = static_cast<int64_t>(BitsOf(dtype, SumOf(dtype, elements, dtype)));
    return ConvertedElement(dtype, FromInteger(dtype, static_cast<uint64_t>(sum / n)), out);
  }
  const Number sum = TotalOf(dtype, elements, /*is_product=*/false).number();
  return ElementOfNumber(out, {sum.real / static_cast<Number_>(n), sum.imaginary / static_cast<Number_>(n)});
}

// Whether b takes the place of a: it is more, or the first NaN.
inline bool IsBetter(DtypeNumber dtype, const Element& a, const Element& b, bool least) {
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
inline size_t PlaceOf(DtypeNumber dtype, const Elements& elements, bool least) {
  size_t place = 0;
  for (size_t i = 1; i < elements.size(); ++i) {
    if (IsBetter(dtype, elements[place], elements[i], least)) place = i;
  }
  return place;
}
// -0 is below +0.
inline Element ExtremeOf(DtypeNumber dtype, const Elements& elements, bool least) {
  const size_t place = PlaceOf(dtype, elements, least);
  if (IsInteger(dtype) || RealOf(dtype, elements[place]) != 0) return elements[place];
  for (const Element& one : elements) {
    const Number_ value = RealOf(dtype, one);
    if (value == 0 && std::signbit(value) == least) return one;
  }
  return elements[place];
}
inline Number_ NormOf(DtypeNumber dtype, const Elements& elements, Number_ p) {
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

inline Rule Dims(const std::string& name, bool distinct = true, aclnnStatus code = 161002) {
  return Refuses(code, name, [=](PlanCall& call) {
    const PlanArgument& dims = call[name];
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
inline Rule SetsResult(const std::string& dims, const std::string& keep) {
  return Sets([=](PlanCall& call) {
    const bool keeps = !keep.empty() && call[keep].integer != 0;
    call.result = ReducedShape(call.arguments[0].shape, Reduced(call, dims), keeps);
  });
}
inline Rule DtypeListed(const std::string& name, const Listed& list) {
  return Refuses(161002, name, [=](PlanCall& call) {
    return !list.Has(call.product, static_cast<DtypeNumber>(call[name].integer));
  });
}
inline Rule DtypeOf(const std::string& tensor, const std::string& attribute) {
  return Refuses(161002, tensor + " " + attribute,
                 [=](PlanCall& call) { return call[tensor].dtype != call[attribute].integer; });
}
inline Rule Casts(const std::string& from, const std::string& to) {
  return Refuses(161002, from + " " + to, [=](PlanCall& call) {
    const auto dtype = [&](const std::string& name) {
      return call[name].kind == ParameterKind::kTensor ? call[name].dtype
                                                       : static_cast<DtypeNumber>(call[name].integer);
    };
    return !CanCastDtype(dtype(from), dtype(to));
  });
}
inline bool IsEmpty(const PlanCall& call) { return NumElements(call.arguments[0].shape) == 0; }
// Success, and outputs of any shape that the oracle says more of.
inline Rule EmptyGives() {
  return SucceedsIf([](PlanCall& call) { return IsEmpty(call); });
}
inline Rule Public(const std::string& names) {
  return Refuses(161002, names, [=](PlanCall& call) {
    for (const std::string& name : Words(names)) {
      if (call[name].format == ACL_FORMAT_FRACTAL_NZ) return true;
    }
    return false;
  });
}
inline Rule NoEmptyDims(const std::string& dims, const std::string& self) {
  return Refuses(161002, dims + " " + self, [=](PlanCall& call) {
    if (call[dims].kind == ParameterKind::kArray && call[dims].values.empty()) return false;
    const Shape& shape = call[self].shape;
    const uint32_t mask = Reduced(call, dims);
    for (size_t i = 0; i < shape.size(); ++i) {
      if ((mask >> i & 1) != 0 && shape[i] == 0) return true;
    }
    return false;
  });
}

// ---- calls ----

// Numbers whose sums and squares are exact, or products; now and then one that is special.
enum class Values { kSums, kProducts, kAny };
inline auto Filling(Values values) {
  return [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    HostTensor& self = tensors[0];
    const bool has_special = random.Chance(25);
    const bool is_random = values == Values::kAny && random.Chance(50);
    const DtypeNumber dtype = self.dtype();
    if (is_random) return;
    // Integers that floats hold exactly, if any floats take part.
    bool is_whole = true;
    for (const PlanArgument& argument : call.arguments) {
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
inline void Draw(PlanCall& call, RandomNumbers& random, const std::string& dims, const std::string& keep,
                 const Drawn& drawn, bool one_more_dim = true) {
  PlanArgument& self = call.arguments[0];
  self.shape = DrawShape(random, 0, 4);
  if (random.Chance(6)) self.shape = {random.Between(1, 3), random.Between(4000, 9000)};
  if (random.Chance(4)) self.shape = {random.Between(200, 700), random.Between(1, 40)};
  self.dtype = DrawDtype(random, drawn.self);
  const auto rank = std::max<int64_t>(std::ssize(self.shape), 1);
  if (!dims.empty()) {
    PlanArgument& given = call[dims];
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
  for (PlanArgument& argument : call.arguments) {
    if (!argument.is_output) continue;
    argument.shape = result;
    argument.dtype = argument.name == "indices" ? DrawDtype(random, drawn.indices) : dtype;
  }
}
inline auto Drawing(const std::string& dims, const std::string& keep, const Drawn& drawn,
                    bool one_more_dim = true) {
  return [=](PlanCall& call, RandomNumbers& random) { Draw(call, random, dims, keep, drawn, one_more_dim); };
}

// An element cast to a dtype; bool is 0 or 1, whatever its byte.
inline Element Cast(const TensorValues& tensor, int64_t position, DtypeNumber dtype) {
  const Element& element = tensor.elements[static_cast<size_t>(position)];
  if (dtype == ACL_BOOL) return FromInteger(ACL_BOOL, IsTrue(tensor.dtype, element) ? 1 : 0);
  return ConvertedElement(tensor.dtype, element, dtype);
}

// The outcome of each output: f(cast elements of a result) gives the element of each.
using Fold =
    std::function<std::vector<Element>(const PlanCall& call, DtypeNumber dtype, const Elements& elements)>;
inline OutcomeOracle Folding(const std::string& dims, std::function<DtypeNumber(const PlanCall&)> cast,
                             const Fold& fold) {
  return [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
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
inline DtypeNumber OwnDtype(const PlanCall& call) { return call.arguments[0].dtype; }
inline DtypeNumber GivenDtype(const PlanCall& call) {
  return static_cast<DtypeNumber>(call["dtype"].integer);
}
inline DtypeNumber OutOf(const PlanCall& call, const std::string& name = "out") { return call[name].dtype; }
inline Element Place(const PlanCall& call, const std::string& name, size_t place) {
  return FromInteger(call[name].dtype, place);
}

inline OperatorSpec Make(const CFunction& function, const std::vector<PlanArgument>& valid,
                         const Rules& rules) {
  OperatorSpec op;
  op.function = function;
  op.valid = valid;
  op.rules = rules;
  op.takes_workspace = true;
  op.is_inexact = true;
  return op;
}

// The descriptions by kind; operators/reductions.h has all of them.
std::vector<OperatorSpec> Sums();
std::vector<OperatorSpec> Variances();
std::vector<OperatorSpec> Logarithms();
std::vector<OperatorSpec> Extremes();
std::vector<OperatorSpec> Others();
std::vector<OperatorSpec> Scans();

}  // namespace portacl::testing::reductions
