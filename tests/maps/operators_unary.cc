// Functions of one number as data: a row each.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <optional>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/unary.h"
#include "support/map_operator.h"
#include "support/rules.h"
#include "support/scalar_dtypes.h"

namespace portacl::testing {
namespace {

using Complex = std::complex<long double>;

constexpr long double kPi = 3.14159265358979323846264338327950288L;
constexpr long double kNan = std::numeric_limits<long double>::quiet_NaN();

// What decides out's dtype.
enum class Out { kSame, kCast, kCastOfFloat, kList, kListAndCast, kListAndCastOfFloat };
// What integers and BOOL are computed in; of other dtypes it is their own.
enum class Integers { kAsFloat, kAsOut, kOwn };

struct Row {
  Listed in;
  Out out = Out::kSame;
  Listed out_list = {};
  Integers integers = Integers::kAsFloat;
  std::optional<Listed> in_place = {};  // nullopt: the floating and complex dtypes of `in`
  Rules formats = {};
  Rules first = {};  // instead of the check of null tensors
  bool any_rank = false;
};

const Listed kEveryBf16 = {{ACL_BF16}};

Listed WithBf16(Listed list) { return list + DtypeList{ACL_BF16}; }
Listed Without910(Listed list) {  // BF16 on every product but 910: tested by a rule of its own
  return list + DtypeList{ACL_BF16};
}
const Rule kNoBf16On910 = Refuses(161002, "self", [](PlanCall& call) {
  return call.product == Product::k910 && call["self"].dtype == ACL_BF16;
});

Rules RulesOf(const Row& row) {
  const bool as_float = row.out == Out::kCastOfFloat || row.out == Out::kListAndCastOfFloat;
  const auto casts = Refuses(161002, "self out", [=](PlanCall& call) {
    const DtypeNumber self = call["self"].dtype;
    return !CanCastDtype(as_float && IsIntegral(self) ? DtypeNumber{ACL_FLOAT} : self, call["out"].dtype);
  });
  Rules rules = row.first.empty() ? Rules{NoNulls("self out")} : row.first;
  rules.push_back(DtypeIn("self", row.in));
  if (row.out == Out::kSame) rules.push_back(SameDtype("self", "out"));
  if (row.out == Out::kList || row.out == Out::kListAndCast || row.out == Out::kListAndCastOfFloat)
    rules.push_back(DtypeIn("out", row.out_list));
  if (row.out != Out::kSame && row.out != Out::kList) rules.push_back(casts);
  rules.push_back(SameShape("self", "out"));
  if (!row.any_rank) rules.push_back(Ranks("self"));
  rules = rules + row.formats;
  rules.push_back(DoneIfEmpty("self"));
  const Integers integers = row.integers;
  rules.push_back(Sets([=](PlanCall& call) {
    const DtypeNumber self = call["self"].dtype;
    call.promoted = self;
    if (IsIntegral(self) && integers == Integers::kAsFloat) call.promoted = ACL_FLOAT;
    if (IsIntegral(self) && integers == Integers::kAsOut) call.promoted = call["out"].dtype;
  }));
  return rules;
}

void Add(std::vector<MapOperator>& all, const CFunction& function, const std::string& self,
         const std::string& out, const Row& row, const Oracle& oracle) {
  all.push_back(Describe(function, self + " " + out, RulesOf(row), oracle));
  all.back().unary_domain = true;
}

void AddBoth(std::vector<MapOperator>& all, const CFunction& function, const CFunction& in_place,
             const std::string& self, const std::string& self_ref, const Row& row, const Oracle& oracle) {
  Add(all, function, self, "out", row, oracle);
  MapOperator base = all.back();
  const Listed list = row.in_place ? *row.in_place : row.in - kSignedAndBool - kUnsigned;
  base.rules.insert(base.rules.begin() + 1, DtypeIn("selfRef", list));
  all.push_back(InPlace(in_place, base, self_ref));
}

Oracle Near(std::function<long double(long double)> function, double ulp32 = 1, double ulp64 = 1.2) {
  Oracle oracle;
  oracle.real = [=](const long double* x) { return function(x[0]); };
  oracle.ulp32 = ulp32;
  oracle.ulp64 = ulp64;
  return oracle;
}

Oracle Near(std::function<long double(long double)> function, std::function<Complex(Complex)> complex,
            double ulp32 = 1, double ulp64 = 1.2) {
  Oracle oracle = Near(std::move(function), ulp32, ulp64);
  oracle.complex = [=](const Complex* z) { return complex(z[0]); };
  return oracle;
}

// One formula that is exact in every type.
template <class F, class I>
Oracle Exact(F formula, I of_integers) {
  Oracle oracle;
  oracle.single = [=](const float* x) { return formula(x[0]); };
  oracle.twofold = [=](const double* x) { return formula(x[0]); };
  oracle.integer = [=](const Int* x) { return of_integers(x[0]); };
  return oracle;
}

Int Itself(Int x) { return x; }

long double Digamma(long double x) {
  if (x == 0) return std::copysign(std::numeric_limits<long double>::infinity(), -x);
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    const long double fraction = x - std::floor(x);
    return Digamma(1 - x) - kPi / std::tan(kPi * fraction);
  }
  long double sum = 0;
  for (; x < 40; x += 1) sum -= 1 / x;
  const long double inverse = 1 / (x * x);
  constexpr long double kTerms[] = {1.0L / 12,  -1.0L / 120,     1.0L / 252, -1.0L / 240,
                                    1.0L / 132, -691.0L / 32760, 1.0L / 12};
  long double tail = 0;
  for (int i = 6; i >= 0; --i) tail = (tail + kTerms[i]) * inverse;
  return sum + std::log(x) - 0.5L / x - tail;
}

long double ErfInverse(long double y) {
  if (!(std::fabs(y) <= 1)) return kNan;
  if (std::fabs(y) == 1) return std::copysign(std::numeric_limits<long double>::infinity(), y);
  if (y == 0) return y;
  if (std::fabs(y) < 1e-10L) return y * std::sqrt(kPi) / 2;
  const long double a = 0.147L;
  const long double log = std::log1p(-y * y);
  const long double b = 2 / (kPi * a) + log / 2;
  long double x = std::copysign(std::sqrt(std::sqrt(b * b - log / a) - b), y);
  for (int i = 0; i < 6; ++i) {  // on the complement, which keeps its digits near 1
    const long double error = (1 - std::fabs(y)) - std::erfc(std::fabs(x));
    x -= (y < 0 ? -error : error) / (2 / std::sqrt(kPi) * std::exp(-x * x));
  }
  return x;
}

long double Sinc(long double x) {
  if (x == 0) return 1;
  if (std::isinf(x)) return kNan;  // as PyTorch has it
  const long double whole = std::nearbyint(x);
  const long double sine = std::sin(kPi * (x - whole));
  return (std::fmod(whole, 2.0L) == 0 ? sine : -sine) / (kPi * x);
}

// Three steps, each rounded. `x` is the number and the decimals.
template <class T>
T RoundedTo(const T* x) {
  const int decimals = static_cast<int>(x[1]);
  const bool is_single = std::is_same_v<T, float>;
  if (decimals == 0) return std::nearbyint(x[0]);
  if (is_single && std::abs(decimals) > 38) return std::numeric_limits<T>::quiet_NaN();
  const T scale = static_cast<T>(std::pow(10.0L, std::abs(decimals)));
  if (decimals > 0) return std::nearbyint(x[0] * scale) / scale;
  return std::nearbyint(x[0] / scale) * scale;
}

// To a multiple of 10^-decimals, halves to the even one.
Int RoundedWhole(const Int* x) {
  if (x[1] >= 0) return x[0];
  if (x[1] < -30) return 0;
  Int unit = 1;
  for (Int i = 0; i < -x[1]; ++i) unit *= 10;
  const Int size = x[0] < 0 ? -x[0] : x[0];
  Int count = size / unit;
  const Int rest = size % unit;
  if (rest * 2 > unit || (rest * 2 == unit && count % 2 == 1)) ++count;
  return x[0] < 0 ? -count * unit : count * unit;
}

#define PORTACL_BOTH(name) PORTACL_C_FUNCTION(aclnn##name), PORTACL_C_FUNCTION(aclnnInplace##name)

void AddFunctions(std::vector<MapOperator>& all) {
  const auto both = [&](const CFunction& function, const CFunction& in_place, const Row& row,
                        const Oracle& oracle, const std::string& self = "self",
                        const std::string& self_ref = "selfRef") {
    AddBoth(all, function, in_place, self, self_ref, row, oracle);
  };
  const Listed exp_in = kFDC + DtypeList{ACL_BOOL, ACL_INT64};
  const Listed fdc_bf16 = WithBf16(kFDC);
  const Listed fd_bf16 = WithBf16(kFD);

  both(PORTACL_BOTH(Exp), {exp_in, Out::kCastOfFloat},
       Near([](long double x) { return std::exp(x); }, [](Complex z) { return std::exp(z); }));
  const Row logs = {kFDCI, Out::kListAndCast, kFDC};
  both(PORTACL_BOTH(Log), logs,
       Near([](long double x) { return std::log(x); }, [](Complex z) { return std::log(z); }));
  both(PORTACL_BOTH(Log2), logs,
       Near([](long double x) { return std::log2(x); },
            [](Complex z) { return std::log(z) / std::log(2.0L); }));
  Row log10 = {WithBf16(kFDCI), Out::kCast};
  log10.in_place = kFDC;
  both(PORTACL_BOTH(Log10), log10,
       Near([](long double x) { return std::log10(x); }, [](Complex z) { return std::log10(z); }));
  for (MapOperator* op : {&all[all.size() - 2], &all.back()}) {  // integers want FLOAT, others themselves
    op->rules.insert(op->rules.end() - 4, Refuses(161002, "self out", [](PlanCall& call) {
                       const DtypeNumber self = call["self"].dtype;
                       return call["out"].dtype != (IsIntegral(self) ? DtypeNumber{ACL_FLOAT} : self);
                     }));
  }
  both(PORTACL_BOTH(Log1p), {kFDI, Out::kList, kFD, Integers::kAsOut},
       Near([](long double x) { return std::log1p(x); }));
  both(PORTACL_BOTH(Exp2), {kFDI, Out::kCastOfFloat}, Near([](long double x) { return std::exp2(x); }));
  both(PORTACL_BOTH(Expm1), {kFloats + DtypeList{ACL_BOOL, ACL_INT64}, Out::kCastOfFloat},
       Near([](long double x) { return std::expm1(x); }));

  // Roots.
  Oracle sqrt = Exact([](auto x) { return std::sqrt(x); }, Itself);
  sqrt.complex = [](const Complex* z) { return std::sqrt(z[0]); };
  Row roots = {Without910(kFDCI), Out::kCastOfFloat};
  roots.in_place = kFDC;
  roots.first = {NoNulls("self out"), kNoBf16On910};
  both(PORTACL_BOTH(Sqrt), roots, sqrt, "self", "self");
  for (MapOperator* op : {&all[all.size() - 2], &all.back()}) {
    op->rules.push_back(Sets([](PlanCall& call) {
      if (call["self"].dtype == ACL_INT64) call.promoted = ACL_DOUBLE;
    }));
  }
  both(PORTACL_BOTH(Rsqrt), {kFDCI, Out::kList, fdc_bf16, Integers::kAsOut},
       Near([](long double x) { return 1 / std::sqrt(x); }, [](Complex z) { return 1.0L / std::sqrt(z); }));
  Oracle reciprocal = Exact([](auto x) { return 1 / x; }, Itself);
  reciprocal.complex = [](const Complex* z) { return 1.0L / z[0]; };
  Row inverses = {kFDCI, Out::kList, kFDC};
  inverses.formats = {SameFormat("self", "out")};
  both(PORTACL_BOTH(Reciprocal), inverses, reciprocal);

  // Trigonometric and hyperbolic ones. Far out the complex ones overflow or lose everything: see FirstDifference.
  const Rules no_formats = {};
  const Row list_float = {kFDCI, Out::kList, kFDC};
  const Row list_float_bf16 = {kFDCI, Out::kList, fdc_bf16};
  both(PORTACL_BOTH(Sin), list_float_bf16,
       Near([](long double x) { return std::sin(x); }, [](Complex z) { return std::sin(z); }));
  both(PORTACL_BOTH(Cos), list_float,
       Near([](long double x) { return std::cos(x); }, [](Complex z) { return std::cos(z); }), "input",
       "inputRef");
  both(PORTACL_BOTH(Tan), {kFDCI, Out::kCastOfFloat},
       Near([](long double x) { return std::tan(x); }, [](Complex z) { return std::tan(z); }));
  both(PORTACL_BOTH(Asin), {kFDI, Out::kList, kFD}, Near([](long double x) { return std::asin(x); }));
  both(PORTACL_BOTH(Acos), {kFDI, Out::kList, fd_bf16}, Near([](long double x) { return std::acos(x); }),
       "input", "inputRef");
  both(PORTACL_BOTH(Atan), {kFDI, Out::kList, fd_bf16}, Near([](long double x) { return std::atan(x); }),
       "input", "inputRef");
  both(PORTACL_BOTH(Sinh), {kFDCI, Out::kList, kFDC, Integers::kAsOut},
       Near([](long double x) { return std::sinh(x); }, [](Complex z) { return std::sinh(z); }));
  Row cosh = {kFDCI, Out::kList, fdc_bf16};
  const Rules private_on_950 = {On(k950Only, NoPrivateFormat("self out"))};
  cosh.formats = private_on_950;
  both(PORTACL_BOTH(Cosh), cosh,
       Near([](long double x) { return std::cosh(x); }, [](Complex z) { return std::cosh(z); }));
  Row tanh = {kFI, Out::kListAndCastOfFloat, kFI};
  tanh.in_place = kFloats;
  tanh.first = {NoNulls("self out")};
  tanh.formats = {SameFormat("self", "out"), NoPrivateFormat("self out")};
  both(PORTACL_BOTH(Tanh), tanh, Near([](long double x) { return std::tanh(x); }));
  Row inverse_hyperbolic = list_float_bf16;
  both(PORTACL_BOTH(Atanh), inverse_hyperbolic,
       Near([](long double x) { return std::atanh(x); }, [](Complex z) { return std::atanh(z); }), "input",
       "inputRef");
  inverse_hyperbolic.formats = private_on_950;
  both(PORTACL_BOTH(Asinh), inverse_hyperbolic,
       Near([](long double x) { return std::asinh(x); }, [](Complex z) { return std::asinh(z); }), "input",
       "inputRef");
  Row acosh = {kFDCI, Out::kListAndCast, fdc_bf16};
  acosh.formats = private_on_950;
  both(PORTACL_BOTH(Acosh), acosh,
       Near([](long double x) { return std::acosh(x); }, [](Complex z) { return std::acosh(z); }));

  // Error functions and the like.
  both(PORTACL_BOTH(Sigmoid), {kFDCI, Out::kList, fdc_bf16, Integers::kAsOut},
       Near([](long double x) { return x < -11000 ? 0 : 1 / (1 + std::exp(-x)); },
            [](Complex z) { return 1.0L / (1.0L + std::exp(-z)); }, 1, 2.5));
  for (MapOperator* op : {&all[all.size() - 2], &all.back()}) {  // large near its poles
    op->formula.scale = [](const Complex* z) {
      const long double size = std::abs(1.0L / (1.0L + std::exp(-z[0])));
      return size * (1 + size);
    };
  }
  const Row errors = {kFD + DtypeList{ACL_BOOL, ACL_INT64}, Out::kCastOfFloat};
  both(PORTACL_BOTH(Erf), errors, Near([](long double x) { return std::erf(x); }, 1, 1));
  both(PORTACL_BOTH(Erfc), errors, Near([](long double x) { return std::erfc(x); }));
  Row erfinv = {kFI, Out::kCastOfFloat};
  both(PORTACL_BOTH(Erfinv), erfinv, Near(ErfInverse, 1, 2));
  Row sinc = {kFDI, Out::kList, fd_bf16};
  sinc.first = {NoNulls("self out", 561103)};
  sinc.in_place = kFD;
  both(PORTACL_BOTH(Sinc), sinc, Near(Sinc, 1, 2.5));
  all[all.size() - 2].formula.zero_sign_free = all.back().formula.zero_sign_free = true;

  // Absolute bounds near their zeros and below 0, so only away from there; tests/functions measures the rest. Digamma's absolute bound
  // is the wider one up to 2.
  Row gammas = {{{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}}};
  gammas.formats = {SameFormat("self", "out")};
  both(PORTACL_BOTH(Digamma), gammas, Near(Digamma, 1, 5));
  all[all.size() - 2].formula.any_real = all.back().formula.any_real = [](const long double* x) {
    return x[0] < 0 || std::fabs(Digamma(x[0])) < 0.01L;
  };
  all[all.size() - 2].formula.slack = all.back().formula.slack = [](const long double* x) {
    return std::fabs(Digamma(x[0])) < 2 ? 16 * 0x1p-53L : 0.0L;
  };
  both(PORTACL_BOTH(Lgamma), gammas, Near([](long double x) { return std::lgamma(x); }, 1, 2));
  all[all.size() - 2].formula.any_real = all.back().formula.any_real = [](const long double* x) {
    return std::fabs(std::lgamma(x[0])) < 0.5L || (x[0] < -3 && x[0] != std::floor(x[0]));
  };
}

void AddExactOnes(std::vector<MapOperator>& all) {
  const auto both = [&](const CFunction& function, const CFunction& in_place, const Row& row,
                        const Oracle& oracle, const std::string& self = "self",
                        const std::string& self_ref = "selfRef") {
    AddBoth(all, function, in_place, self, self_ref, row, oracle);
  };
  Oracle abs = Exact([](auto x) { return std::fabs(x); }, [](Int x) { return x < 0 ? -x : x; });
  abs.complex = [](const Complex* z) { return Complex(std::abs(z[0])); };
  abs.complex_to_real = true;
  Row magnitudes = {kFDI};
  magnitudes.in.on_new.push_back(ACL_COMPLEX64);
  magnitudes.in.on_950.push_back(ACL_COMPLEX32);
  magnitudes.out = Out::kList;
  magnitudes.out_list = kFDI + DtypeList{ACL_BF16};
  magnitudes.integers = Integers::kOwn;
  magnitudes.formats = {SameFormat("self", "out"), NoPrivateFormat("self out")};
  Add(all, PORTACL_C_FUNCTION(aclnnAbs), "self", "out", magnitudes, abs);
  all.back().rules.insert(all.back().rules.begin() + 2, Refuses(161002, "self out", [](PlanCall& call) {
                            const DtypeNumber self = call["self"].dtype;
                            const DtypeNumber part = self == ACL_COMPLEX64   ? DtypeNumber{ACL_FLOAT}
                                                     : self == ACL_COMPLEX32 ? DtypeNumber{ACL_FLOAT16}
                                                                             : self;
                            return call["out"].dtype != part;
                          }));

  Oracle neg = Exact([](auto x) { return -x; }, [](Int x) { return -x; });
  neg.complex = [](const Complex* z) { return -z[0]; };
  const Listed neg_in = kFDC + DtypeList{ACL_INT8, ACL_INT32, ACL_INT64};
  both(PORTACL_BOTH(Neg), {neg_in, Out::kCast, {}, Integers::kOwn, neg_in}, neg);

  Oracle sign = Exact([](auto x) { return decltype(x)((x > 0) - (x < 0)); },
                      [](Int x) { return Int{(x > 0) - (x < 0)}; });
  sign.complex = [](const Complex* z) { return z[0] == Complex(0) ? z[0] : z[0] / std::abs(z[0]); };
  Row signs = {kFDC + DtypeList{ACL_INT32, ACL_INT64, ACL_BOOL}};
  signs.integers = Integers::kOwn;
  signs.any_rank = true;
  Add(all, PORTACL_C_FUNCTION(aclnnSign), "self", "result", signs, sign);
  // Two products check nothing, then nothing converts; and BF16 passes without the test of out.
  {
    MapOperator& op = all.back();
    const Listed list = signs.in;
    op.rules[1] = Refuses(161002, "self", [=](PlanCall& call) {
      return !call.Is({Product::k310P, Product::k310B}) && !list.Has(call.product, call["self"].dtype);
    });
    op.rules[2] = Refuses(161002, "self out", [=](PlanCall& call) {
      const DtypeNumber self = call["self"].dtype;
      const bool tested = list.Has(call.product, self) && self != ACL_BF16;
      return tested && self != call["out"].dtype;
    });
    op.rules.push_back(WithCode(561103, SameDtype("self", "out")));
    op.rules.push_back(
        Undetermined([=](PlanCall& call) { return !list.Has(call.product, call["self"].dtype); }));
    op.rules.insert(op.rules.begin() + 1,
                    Undetermined([](PlanCall& call) { return call["self"].shape.size() > 8; }));
  }

  const Rules formats = {NoPrivateFormat("self out")};
  const Listed floor_in = kFD + DtypeList{ACL_INT8,  ACL_INT16,  ACL_INT32,  ACL_INT64,
                                          ACL_UINT8, ACL_UINT16, ACL_UINT32, ACL_UINT64};
  Row floor = {floor_in, Out::kSame, {}, Integers::kOwn, floor_in};
  floor.formats = formats;
  both(PORTACL_BOTH(Floor), floor, Exact([](auto x) { return std::floor(x); }, Itself));
  both(PORTACL_BOTH(Ceil), {kFD, Out::kSame}, Exact([](auto x) { return std::ceil(x); }, Itself));
  Listed trunc_in = kFloats;
  trunc_in.on_950 = {ACL_INT8, ACL_UINT8, ACL_INT32};
  both(PORTACL_BOTH(Trunc), {trunc_in, Out::kSame, {}, Integers::kOwn},
       Exact([](auto x) { return std::trunc(x); }, Itself));
  const Listed frac_in = kFloats + DtypeList{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64};
  both(PORTACL_BOTH(Frac), {frac_in, Out::kSame, {}, Integers::kOwn, frac_in},
       Exact([](auto x) { return x - std::trunc(x); }, [](Int) { return Int{0}; }), "input", "inputRef");
  Row square = {{{}, {}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT64}}};
  square.integers = Integers::kOwn;
  square.formats = {SameFormat("self", "out"), NoPrivateFormat("self out")};
  Add(all, PORTACL_C_FUNCTION(aclnnSquare), "self", "out", square,
      Exact([](auto x) { return x * x; }, [](Int x) { return x * x; }));
  all.back().numbers_on = Product::k950;

  Row round = {Without910(kFD + DtypeList{ACL_INT32, ACL_INT64})};
  round.integers = Integers::kOwn;
  round.in_place = round.in;
  round.first = {NoNulls("self out"), kNoBf16On910};
  round.formats = formats;
  both(PORTACL_BOTH(Round), round, Exact([](auto x) { return std::nearbyint(x); }, Itself));
  Oracle decimals;
  decimals.single = [](const float* x) { return RoundedTo(x); };
  decimals.twofold = [](const double* x) { return RoundedTo(x); };
  decimals.integer = RoundedWhole;
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnRoundDecimals), "self decimals out", RulesOf(round), decimals));
  all.back().integers = {{2, 0}, {0, 0}, {-1, 0}, {-3, 0}, {5, 0}, {39, 0}};
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceRoundDecimals), all.back(), "selfRef decimals"));
}

}  // namespace

const std::vector<MapOperator>& UnaryOperators() {
  static const std::vector<MapOperator> operators = [] {
    std::vector<MapOperator> all;
    AddFunctions(all);
    AddExactOnes(all);
    return Completed(std::move(all));
  }();
  return operators;
}

}  // namespace portacl::testing
