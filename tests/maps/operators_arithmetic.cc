// Sums, products, quotients, powers and remainders as data.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aclnnop/families/arithmetic.h"
#include "support/map_operator.h"
#include "support/rules.h"
#include "support/scalar_dtypes.h"

namespace portacl::testing {
namespace {

using Complex = std::complex<long double>;

// Modulo 2^128, so that nothing overflows.
__extension__ typedef unsigned __int128 Natural;
Int Times(Int a, Int b) { return static_cast<Int>(static_cast<Natural>(a) * static_cast<Natural>(b)); }
Int Plus(Int a, Int b) { return static_cast<Int>(static_cast<Natural>(a) + static_cast<Natural>(b)); }

Int FloorOf(Int a, Int b) {
  if (b == 0) return 0;
  const Int quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool ByZero(const Int* x) { return x[1] == 0; }

// c + s * a * b by parts, for real and whole numbers and complex ones; the operands are (a, b, alpha).
Oracle ScaledSum(int sign, bool reversed) {
  const int from = reversed ? 1 : 0;  // what is scaled is the other one
  Oracle oracle;
  oracle.single = [=](const float* x) {
    return std::fma(static_cast<float>(sign) * x[2], x[1 - from], x[from]);
  };
  oracle.twofold = [=](const double* x) {
    return std::fma(static_cast<double>(sign) * x[2], x[1 - from], x[from]);
  };
  oracle.integer = [=](const Int* x) { return Plus(x[from], Times(sign, Times(x[2], x[1 - from]))); };
  oracle.complex = [=](const Complex* x) {
    return x[from] + static_cast<long double>(sign) * x[2] * x[1 - from];
  };
  oracle.scale = [=](const Complex* x) { return std::abs(x[from]) + std::abs(x[2] * x[1 - from]); };
  return oracle;
}

Rule ListedOn950(const std::string& names, const Listed& list) {
  return On(k950Only, PromotedIn(names, list));
}

// Two tensors and alpha.
Rules TwoTensors(const Listed& list, const Rules& alpha) {
  return Rules{NoNulls("self other alpha out"), DtypeIn("self other", list), Promotes("self other")} + alpha +
         Rules{On(k950Only, CastsToPromoted("self other")),
               ListedOn950("self other", list),
               PromotedCastsTo("out"),
               Ranks("self other"),
               Broadcasts("self other"),
               ResultIs("out"),
               DoneIfEmpty("self other")};
}

// A tensor, a scalar and alpha.
Rules TensorAndScalar(const std::string& tensor, const std::string& nulls, const Rules& lists,
                      const std::function<DtypeNumber(PlanCall&)>& rule, const Listed& list, bool bool_case) {
  return Rules{NoNulls(nulls)} + lists + Rules{PromotesTo("self other", rule),
                                               AlphaFits(bool_case),
                                               On(k950Only, CastsToPromoted("self other")),
                                               ListedOn950("self other", list),
                                               PromotedCastsTo("out"),
                                               Ranks(tensor),
                                               SameShape(tensor, "out"),
                                               DoneIfEmpty(tensor)};
}

DtypeNumber AddsRule(PlanCall& call) {
  return call.product == Product::k950
             ? ExactRule950(call, "self", "other alpha")
             : WithScalarBefore950(call["self"].dtype, call["other"].dtype, call["out"].dtype);
}

DtypeNumber AddV3Rule(PlanCall& call) {
  const DtypeNumber scalar = call["self"].dtype;
  const DtypeNumber tensor = call["other"].dtype;
  if (IsComplexDtype(scalar)) return Stt(tensor, scalar);
  if (IsFloatingDtype(tensor)) return ACL_FLOAT;
  return WithScalarBefore950(tensor, scalar, call["out"].dtype);
}

DtypeNumber RsubsRule(PlanCall& call) {
  const DtypeNumber tensor = call["self"].dtype;
  const DtypeNumber scalar = call["other"].dtype;
  if (call.product == Product::k950) return ExactRule950(call, "self", "other alpha");
  return !IsFloatingDtype(tensor) && IsFloatingDtype(scalar) ? Stt(tensor, scalar) : tensor;
}

void AddSums(std::vector<MapOperator>& all) {
  const auto first = static_cast<ptrdiff_t>(all.size());
  const Rules tensors = TwoTensors(kFDCI, {AlphaFits()});
  const Rules scalars =
      TensorAndScalar("self", "self other alpha out", {DtypeIn("self", kFDCI)}, AddsRule, kFDCI, true);
  const std::string names = "self other alpha out";
  const std::string in_place = "selfRef other alpha";
  const Oracle sum = ScaledSum(1, false);
  const Oracle difference = ScaledSum(-1, false);

  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnAdd), names, tensors, sum));
  all.push_back(
      InPlace(PORTACL_C_FUNCTION(aclnnInplaceAdd), all.back(), in_place, InPlaceFirst("self other")));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnAdds), names, scalars, sum));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceAdds), all.back(), in_place));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnSub), names, tensors, difference));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceSub), all.back(), in_place));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnSubs), names, scalars, difference));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceSubs), all.back(), in_place));

  const Listed without_bool = kFDCI - DtypeList{ACL_BOOL};
  const Oracle reversed = ScaledSum(-1, true);
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnRsub), names, TwoTensors(without_bool, {AlphaFits(false)}), reversed));
  all.push_back(Describe(
      PORTACL_C_FUNCTION(aclnnRsubs), names,
      TensorAndScalar("self", names, {DtypeIn("self other", without_bool)}, RsubsRule, without_bool, false),
      reversed));
  all.back().formula.rounds_scalars = true;

  const Listed third = {{ACL_FLOAT, ACL_INT32, ACL_FLOAT16, ACL_BF16, ACL_INT8}};
  Rules rules = {NoNulls(names),
                 DtypeIn("other", third),
                 PromotesTo("self other", AddV3Rule),
                 AlphaFits(),
                 PromotedCastsTo("out"),
                 Ranks("other"),
                 SameShape("other", "out"),
                 DoneIfEmpty("other")};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnAddV3), names, rules, sum));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceAddV3), all.back(), in_place));
  all.back().output = "other";
  // Of complex alphas, one whose real part is 1.
  for (auto op = all.begin() + first; op != all.end(); ++op) op->values.push_back({1, 1});
}

void AddProducts(std::vector<MapOperator>& all) {
  Oracle product;
  product.single = [](const float* x) { return x[0] * x[1]; };
  product.twofold = [](const double* x) { return x[0] * x[1]; };
  product.integer = [](const Int* x) { return Times(x[0], x[1]); };
  product.complex = [](const Complex* x) { return x[0] * x[1]; };
  const Rules lists = {NoNulls("self other out"), DtypeIn("self other out", kFDCI), Promotes("self other"),
                       On(kBefore950, PromotedCastsTo("out"))};
  const Rules shapes = {Broadcasts("self other"), ResultIs("out"), DoneIfEmpty("self other")};
  // Without a check of the rank nothing says what becomes of nine dimensions.
  const Rule any_rank = Undetermined([](PlanCall& call) {
    return call["self"].shape.size() > 8 || call["other"].shape.size() > 8 || call["out"].shape.size() > 8;
  });
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnMul), "self other out",
                         lists + Rules{Ranks("self other")} + shapes, product));
  MapOperator base = all.back();
  base.rules = lists + Rules{any_rank} + shapes;
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceMul), base, "selfRef other"));

  const auto rule = [](PlanCall& call) -> DtypeNumber {
    const DtypeNumber tensor = call["self"].dtype;
    const DtypeNumber scalar = call["other"].dtype;
    if (call.product == Product::k950) return ExactRule950(call, "self", "other");
    if (IsComplexDtype(tensor) || IsComplexDtype(scalar)) return Stt(tensor, scalar);
    if (IsFloatingDtype(tensor)) return tensor == ACL_BF16 ? ACL_FLOAT : tensor;
    if (scalar == ACL_DOUBLE && (tensor == ACL_BOOL || call["out"].dtype == ACL_FLOAT)) return ACL_FLOAT;
    return IsFloatingDtype(scalar) || tensor == ACL_BOOL ? Stt(tensor, scalar) : tensor;
  };
  const Rules scalars = {
      NoNulls("self other out"),
      any_rank,
      DtypeIn("self out", kFDCI),
      When([](PlanCall& call) { return call.product == Product::k950; }, PromotesTo("self other", rule)),
      Sets([=](PlanCall& call) { call.promoted = rule(call); }),
      ListedOn950("self other", kFDCI),
      On(k950Only, CastsToPromoted("self other")),
      On(k950Only, PromotedCastsTo("out")),
      SameShape("self", "out"),
      Undetermined([](PlanCall& call) { return call.promoted == kUndefinedDtype; }),
      DoneIfEmpty("self")};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnMuls), "self other out", scalars, product));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceMuls), all.back(), "selfRef other"));
}

// ---- quotients ----

DtypeNumber FloatOfIntegers(DtypeNumber dtype) { return IsIntegral(dtype) ? DtypeNumber{ACL_FLOAT} : dtype; }

bool HasMode(const PlanCall& call) { return call.Has("mode"); }

int ModeOf(const PlanCall& call) { return HasMode(call) ? static_cast<int>(call["mode"].integer) : 0; }

template <class T>
T Quotient(const T* x, T mode) {
  const T quotient = x[0] / x[1];
  return mode == 1 ? std::trunc(quotient) : mode == 2 ? std::floor(quotient) : quotient;
}

// The operands are (self, other[, mode]); without a mode it is `mode`.
Oracle QuotientOracle(int mode) {
  const auto mode_of = [=](auto given) { return mode >= 0 ? static_cast<decltype(given)>(mode) : given; };
  Oracle oracle;
  oracle.single = [=](const float* x) { return Quotient(x, mode >= 0 ? static_cast<float>(mode) : x[2]); };
  oracle.twofold = [=](const double* x) { return Quotient(x, mode >= 0 ? static_cast<double>(mode) : x[2]); };
  oracle.integer = [=](const Int* x) {
    if (x[1] == 0) return Int{0};
    return mode_of(mode >= 0 ? Int{0} : x[2]) == 1 ? x[0] / x[1] : FloorOf(x[0], x[1]);
  };
  oracle.any_integer = ByZero;
  oracle.complex = [](const Complex* x) { return x[0] / x[1]; };
  oracle.ulp_complex = 8;
  return oracle;
}

// What the products before 950 do with a mode: true division of float64 in float32, truncation of everything but 32-bit
// integers and floats in float32.
DtypeNumber OlderQuotient(PlanCall& call, DtypeNumber promoted) {
  if (promoted == ACL_BOOL) return ACL_FLOAT;
  if (call.product == Product::k950 || !HasMode(call)) return promoted;
  if (ModeOf(call) == 0) return promoted == ACL_DOUBLE ? DtypeNumber{ACL_FLOAT} : promoted;
  const bool whole = call["self"].dtype == ACL_INT32 && call["other"].dtype == ACL_INT32;
  if (ModeOf(call) != 1 || whole || promoted == ACL_FLOAT16 || promoted == ACL_BF16) return promoted;
  return ACL_FLOAT;
}

Rules QuotientRules(bool has_mode) {
  const auto floating_mode = [](PlanCall& call) {
    // What has to cast to out.
    DtypeNumber promoted = PromoteDtypes(call["self"].dtype, call["other"].dtype);
    if (call.product == Product::k950 && ModeOf(call) == 0) promoted = FloatOfIntegers(promoted);
    return promoted;
  };
  Rules rules = {NoNulls("out other self"),
                 Ranks("self other"),
                 Broadcasts("self other"),
                 ResultIs("out"),
                 DtypeIn("other self", kFDCI),
                 PromotesTo("self other", floating_mode),
                 When([](PlanCall& call) { return !(call.product == Product::k950 && ModeOf(call) == 1); },
                      PromotedCastsTo("out")),
                 NoPrivateFormat("self other out")};
  if (has_mode)
    rules.push_back(
        Refuses(161002, "mode", [](PlanCall& call) { return ModeOf(call) < 0 || ModeOf(call) > 2; }));
  rules.push_back(DoneIfEmpty("self other"));
  rules.push_back(Refuses(161002, "self other mode",
                          [](PlanCall& call) { return ModeOf(call) != 0 && IsComplexDtype(call.promoted); }));
  rules.push_back(Sets([](PlanCall& call) {
    if (ModeOf(call) == 0) call.promoted = FloatOfIntegers(call.promoted);
    call.promoted = OlderQuotient(call, call.promoted);
  }));
  return rules;
}

Rules ScalarQuotientRules(bool has_mode) {
  const auto computed = [](PlanCall& call) -> DtypeNumber {
    const DtypeNumber tensor = call["self"].dtype;
    const DtypeNumber scalar = call["other"].dtype;
    const int mode = ModeOf(call);
    DtypeNumber promoted = kUndefinedDtype;
    if (call.product == Product::k950) {
      promoted = WithScalarOn950(tensor, scalar);
    } else if (IsComplexDtype(scalar) || IsComplexDtype(tensor)) {
      promoted = Stt(tensor, scalar);
    } else {
      promoted = IsFloatingDtype(tensor) ? tensor : Stt(tensor, scalar);
      if (mode == 0 && IsIntegral(tensor)) promoted = ACL_FLOAT;
      if (mode == 1 && IsIntegral(tensor) && IsFloatingDtype(scalar)) promoted = ACL_FLOAT;
    }
    if (mode == 0) promoted = FloatOfIntegers(promoted);
    return IsComplexDtype(promoted) ? promoted : OlderQuotient(call, promoted);
  };
  Rules rules = {
      NoNulls("self other out"),
      NoPrivateFormat("self out"),
      DtypeIn("other", kFDCI),
      DtypeIn("self", kFDCI),
      Ranks("self"),
      SameShape("self", "out"),
      On(kBefore950, CastsTo("self", "out")),
      Sets([=](PlanCall& call) {
        call.promoted = WithScalarOn950(call["self"].dtype, call["other"].dtype);
        if (ModeOf(call) == 0) call.promoted = FloatOfIntegers(call.promoted);
      }),
      On(k950Only, When([](PlanCall& call) { return ModeOf(call) != 1; }, PromotedCastsTo("out")))};
  if (has_mode)
    rules.push_back(
        Refuses(161002, "mode", [](PlanCall& call) { return ModeOf(call) < 0 || ModeOf(call) > 2; }));
  rules.push_back(DoneIfEmpty("self"));
  rules.push_back(Sets([=](PlanCall& call) { call.promoted = computed(call); }));
  rules.push_back(Refuses(161002, "self other mode",
                          [](PlanCall& call) { return ModeOf(call) != 0 && IsComplexDtype(call.promoted); }));
  return rules;
}

void AddQuotients(std::vector<MapOperator>& all) {
  const Rules first = InPlaceFirst("self other");
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnDiv), "self other out", QuotientRules(false), QuotientOracle(0)));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceDiv), all.back(), "selfRef other", first));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnDivMod), "self other mode out", QuotientRules(true),
                         QuotientOracle(-1)));
  all.back().integers = {{0, 0}, {1, 0}, {2, 0}};
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceDivMod), all.back(), "selfRef other mode", first));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnDivs), "self other out", ScalarQuotientRules(false),
                         QuotientOracle(0)));
  // A2 and 950 differ in whether the scalar's reciprocal is multiplied: one unit.
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceDivs), all.back(), "selfRef other"));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnDivMods), "self other mode out", ScalarQuotientRules(true),
                         QuotientOracle(-1)));
  all.back().integers = {{0, 0}, {1, 0}, {2, 0}};
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceDivMods), all.back(), "selfRef other mode"));

  const Rule bool_as_float = Sets([](PlanCall& call) {
    if (call.promoted == ACL_BOOL) call.promoted = ACL_FLOAT;
  });
  const Rules lists = {NoNulls("self other out"), DtypeIn("self other", kFDI)};
  const Rules on_950 = {On(k950Only, PromotedIn("self other", kFDI)), On(k950Only, PromotedCastsTo("out"))};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnFloorDivide), "self other out",
                         lists + Rules{Promotes("self other")} + on_950 +
                             Rules{Ranks("self other"), Broadcasts("self other"), ResultIs("out"),
                                   DoneIfEmpty("self other"), bool_as_float},
                         QuotientOracle(2)));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceFloorDivide), all.back(), "selfRef other", first));
  const auto rule = [](PlanCall& call) -> DtypeNumber {
    const DtypeNumber tensor = call["self"].dtype;
    if (call.product != Product::k950) return Stt(tensor, call["other"].dtype);
    const DtypeNumber promoted = WithScalarOn950(tensor, call["other"].dtype);
    return promoted == ACL_FLOAT16 || promoted == ACL_BF16 ? DtypeNumber{ACL_FLOAT} : promoted;
  };
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnFloorDivides), "self other out",
               lists + Rules{PromotesTo("self other", rule)} + on_950 +
                   Rules{Ranks("self"), SameShape("self", "out"), DoneIfEmpty("self"), bool_as_float},
               QuotientOracle(2)));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceFloorDivides), all.back(), "selfRef other"));
}

// ---- three operands ----

void AddThreefold(std::vector<MapOperator>& all) {
  const std::string names = "self tensor1 tensor2 value out";
  const std::string in_place = "selfRef tensor1 tensor2 value";
  const std::string tensors = "self tensor1 tensor2";
  const Rule promotes = PromotesTo(tensors, [](PlanCall& call) {
    const DtypeNumber product = PromoteDtypes(call["tensor1"].dtype, call["tensor2"].dtype);
    return product == kUndefinedDtype ? product : PromoteDtypes(call["self"].dtype, product);
  });
  Oracle addcmul;
  // value * (t1 * t2) with t1 * t2 rounded, then one rounding.
  addcmul.single = [](const float* x) { return std::fma(x[1] * x[2], x[3], x[0]); };
  addcmul.twofold = [](const double* x) { return std::fma(x[1] * x[2], x[3], x[0]); };
  addcmul.integer = [](const Int* x) { return Plus(x[0], Times(x[3], Times(x[1], x[2]))); };
  const Listed list = kFD + DtypeList{ACL_INT32, ACL_INT64, ACL_INT8, ACL_UINT8};
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnAddcmul), names,
               {NoNulls(names), DtypeIn(tensors, list), promotes,
                Refuses(161002, tensors,
                        [](PlanCall& call) {
                          return IsOneOf(call.promoted, {ACL_INT16, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128});
                        }),
                PromotedCastsTo("out"), NoPrivateFormat(tensors + " out"), Ranks(tensors),
                Broadcasts(tensors), ResultIs("out"), DoneIfEmpty(tensors)},
               addcmul));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceAddcmul), all.back(), in_place));
  Oracle addcdiv;
  addcdiv.single = [](const float* x) { return std::fma(x[1] / x[2], x[3], x[0]); };
  addcdiv.twofold = [](const double* x) { return std::fma(x[1] / x[2], x[3], x[0]); };
  addcdiv.integer = [](const Int* x) { return Plus(x[0], Times(x[3], x[2] == 0 ? Int{0} : x[1] / x[2])); };
  addcdiv.any_integer = [](const Int* x) { return x[2] == 0; };
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnAddcdiv), names,
                         {NoNulls(names), DtypeIn(tensors, kFD + DtypeList{ACL_INT64}), promotes,
                          PromotedCastsTo("out"), Ranks(tensors + " out"), Broadcasts("tensor1 tensor2"),
                          Broadcasts(tensors), ResultIs("out"), DoneIfEmpty(tensors)},
                         addcdiv));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceAddcdiv), all.back(), in_place));

  // Fused steps or not: a bound in units of the larger operand would hide more than this hides.
  Oracle lerp;
  lerp.single = [](const float* x) {
    return x[2] < 0.5f ? std::fma(x[2], x[1] - x[0], x[0]) : std::fma(x[2] - 1, x[1] - x[0], x[1]);
  };
  const Rule own_dtype = Sets([](PlanCall& call) { call.promoted = call["self"].dtype; });
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnLerp), "self end weight out",
                         {NoNulls("self end weight out"), DtypeIn("self", kFloats), SameDtype("self", "end"),
                          SameDtype("self", "weight"), SameDtype("self", "out"), Broadcasts("self end"),
                          Broadcasts("self end weight"), ResultIs("out"),
                          RanksUnlessDense("self end weight out"), DoneIfEmpty("self"), own_dtype},
                         lerp));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceLerp), all.back(), "selfRef end weight"));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnLerps), "self end weight out",
                         {NoNulls("self end weight out"), DtypeIn("self", kFloats), DtypeIn("out", kFD),
                          SameDtype("self", "end"), Broadcasts("self end"), ResultIs("out"),
                          RanksUnlessDense("self end out"), DoneIfEmpty("self"), own_dtype},
                         lerp));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceLerps), all.back(), "selfRef end weight"));
}

void AddExtremes(std::vector<MapOperator>& all) {
  const Rules rules = {NoNulls("self other out"),
                       DtypeIn("self other out", kFDI),
                       PromotesTo("self other",
                                  [](PlanCall& call) {
                                    const PlanArgument& a = call["self"];
                                    const PlanArgument& b = call["other"];
                                    if (call.product == Product::k950 && a.shape.empty() != b.shape.empty()) {
                                      const bool a_is_value = a.shape.empty();
                                      return Combine(a_is_value ? b.dtype : a.dtype,
                                                     a_is_value ? a.dtype : b.dtype);
                                    }
                                    return PromoteDtypes(a.dtype, b.dtype);
                                  }),
                       PromotedCastsTo("out"),
                       Ranks("self other"),
                       Broadcasts("self other"),
                       ResultIs("out"),
                       DoneIfEmpty("self other")};
  const auto extreme = [](int sign) {
    const auto pick = [=](auto a, auto b) {
      if (std::isnan(a)) return a;
      if (std::isnan(b)) return b;
      if (a == b) return (std::signbit(a) ? -1 : 1) * sign > 0 ? a : b;
      return (a > b) == (sign > 0) ? a : b;
    };
    Oracle oracle;
    oracle.single = [=](const float* x) { return pick(x[0], x[1]); };
    oracle.twofold = [=](const double* x) { return pick(x[0], x[1]); };
    oracle.integer = [=](const Int* x) { return (x[0] > x[1]) == (sign > 0) ? x[0] : x[1]; };
    return oracle;
  };
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnMaximum), "self other out", rules, extreme(1)));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnMinimum), "self other out", rules, extreme(-1)));
}

// ---- powers ----

Int PowerOf(Int base, Int exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  Int power = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power = Times(power, base);
    base = Times(base, base);
  }
  return power;
}

bool IsNegativeOrTooLarge(PlanCall& call) {
  if (!IsIntegral(call.promoted)) return false;
  const PlanArgument& exponent = call["exponent"];
  const Number value = ScalarIn(exponent, exponent.dtype);
  if (std::trunc(value.real) < 0) return true;
  return ScalarIn(exponent, call.promoted).real != std::trunc(value.real);
}

void AddPowers(std::vector<MapOperator>& all) {
  Oracle power;
  // glibc's long double takes -2^63 for a positive exponent of infinity.
  power.real = [](const long double* x) -> long double {
    return std::isinf(x[0]) ? std::pow(static_cast<double>(x[0]), static_cast<double>(x[1]))
                            : std::pow(x[0], x[1]);
  };
  power.ulp32 = 2;
  power.ulp64 = 2;
  power.integer = [](const Int* x) { return PowerOf(x[0], x[1]); };
  power.any_integer = [](const Int* x) { return x[0] == 0 && x[1] < 0; };
  power.complex = [](const Complex* x) { return x[0] == Complex(0) ? Complex(1e40L) : std::pow(x[0], x[1]); };
  power.ulp_complex = 16;
  power.scale = [](const Complex* x) {  // the angle is multiplied by the exponent
    return std::abs(std::pow(x[0], x[1])) * (1 + std::abs(x[1]) * (1 + std::abs(std::log(x[0]))));
  };
  const Rule both_bool = Refuses(161002, "self exponent", [](PlanCall& call) {
    return call["self"].dtype == ACL_BOOL && call["exponent"].dtype == ACL_BOOL;
  });
  const std::string names = "self exponent out";
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnPowTensorTensor), names,
                         {NoNulls(names), both_bool, DtypeIn("self exponent", kFDCI),
                          Promotes("self exponent"), PromotedCastsTo("out"), Ranks("self exponent"),
                          Broadcasts("self exponent"), ResultIs("out"), DoneIfEmpty("self exponent")},
                         power));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplacePowTensorTensor), all.back(), "self exponent"));

  const auto lists = [=](const std::function<DtypeNumber(PlanCall&)>& rule) {
    return Rules{NoNulls(names),
                 Refuses(161002, "self exponent",
                         [](PlanCall& call) {
                           return !kFDCI.Has(call.product, call["self"].dtype) ||
                                  !kFDCI.Has(call.product, call["exponent"].dtype);
                         }),
                 PromotesTo("self exponent",
                            [](PlanCall& call) { return Stt(call["self"].dtype, call["exponent"].dtype); }),
                 PromotedCastsTo("out"),
                 PromotesTo("self exponent", rule),
                 both_bool,
                 PromotedCastsTo("out")};
  };
  const auto rule_of = [](const std::string& tensor, const std::string& scalar) {
    return [=](PlanCall& call) -> DtypeNumber {
      const DtypeNumber t = call[tensor].dtype;
      const DtypeNumber s = call[scalar].dtype;
      if (call.product == Product::k950) return WithScalarOn950(t, s);
      if (call["exponent"].dtype == ACL_DOUBLE && call["out"].dtype == ACL_FLOAT && !IsComplexDtype(t) &&
          !IsComplexDtype(s))
        return ACL_FLOAT;
      if (IsComplexDtype(s) || IsComplexDtype(t)) return Stt(t, s);
      if (IsFloatingDtype(t)) return t;
      return IsFloatingDtype(s) || t == ACL_BOOL ? Stt(t, s) : t;
    };
  };
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnPowTensorScalar), names,
                         lists(rule_of("self", "exponent")) +
                             Rules{Ranks("self"), SameShape("self", "out"), DoneIfEmpty("self"),
                                   On(k950Only, Refuses(161002, "exponent", IsNegativeOrTooLarge))},
                         power));
  all.back().values = {{2, 0}, {3, 0}, {0.5L, 0}, {-1, 0}, {2.7L, 0}, {0, 0}, {1, 0}};
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplacePowTensorScalar), all.back(), "self exponent"));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnPowScalarTensor), names,
                         lists(rule_of("exponent", "self")) +
                             Rules{Ranks("exponent"), SameShape("exponent", "out"), DoneIfEmpty("exponent"),
                                   Refuses(561000, "out",
                                           [](PlanCall& call) {
                                             const DtypeNumber out = call["out"].dtype;
                                             return ElementSize(out) == 0 || out == ACL_COMPLEX32;
                                           })},
                         power));
  all.back().values = {{2, 0}, {1, 0}, {0.3L, 0}, {-2, 0}};
}

// ---- remainders ----

template <class T>
T RemainderOf(T a, T b) {
  const T remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

Rule OutIsBroadcastOrOneValue() {
  return Refuses(161002, "out", [](PlanCall& call) {
    const Shape& out = call["out"].shape;
    const auto is_one_value = [](const Shape& shape) { return shape.empty() || shape == Shape{1}; };
    if (call.product != Product::k950 && !call.op->in_place && is_one_value(out) && is_one_value(call.result))
      return false;
    return out != call.result;
  });
}

void AddRemainders(std::vector<MapOperator>& all) {
  Oracle remainder;
  remainder.single = [](const float* x) { return RemainderOf(x[0], x[1]); };
  remainder.twofold = [](const double* x) { return RemainderOf(x[0], x[1]); };
  remainder.integer = [](const Int* x) {
    return x[1] == 0 ? Int{0} : x[0] - Times(FloorOf(x[0], x[1]), x[1]);
  };
  remainder.any_integer = ByZero;
  remainder.zero_sign_free = true;
  // 310B computes none of it.
  const Listed list = {{ACL_INT32, ACL_INT64, ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE}, {ACL_BF16}};
  const auto promoted_listed = [=](const std::string& names) {
    return Refuses(161002, names, [=](PlanCall& call) {
      return call.product == Product::k310B || !list.Has(call.product, call.promoted);
    });
  };
  const std::string names = "self other out";
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnRemainderTensorTensor), names,
                         {NoNulls(names), Promotes("self other"), PromotedCastsTo("out"),
                          promoted_listed("self other"), Broadcasts("self other"), OutIsBroadcastOrOneValue(),
                          Ranks("self other out"), DoneIfEmpty("self other")},
                         remainder));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceRemainderTensorTensor), all.back(), "selfRef other"));

  // Messages do not promise a dtype here: CANN's documents leave open whether a FLOAT16 scalar counts as FLOAT on 950.
  const Rule casts_to_out = Refuses(
      161002, "out", [](const PlanCall& call) { return !CanCastDtype(call.promoted, call["out"].dtype); });
  const auto rule_of = [](const std::string& tensor, const std::string& scalar) {
    return [=](PlanCall& call) -> DtypeNumber {
      const DtypeNumber t = call[tensor].dtype;
      const DtypeNumber s = call[scalar].dtype;
      if (call.product == Product::k950) return WithScalarOn950(t, s, true);
      if (scalar == "self") return t;
      if (IsFloatingDtype(t)) return t;
      return IsFloatingDtype(s) || t == ACL_BOOL ? Stt(t, s) : t;
    };
  };
  const Rule no_complex = Refuses(161002, "self other", [](PlanCall& call) {
    return IsComplexDtype(call["self"].dtype) || IsComplexDtype(call["other"].dtype);
  });
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnRemainderTensorScalar), names,
               {NoNulls(names), SameShape("self", "out"), no_complex,
                PromotesTo("self other", rule_of("self", "other")), CastsToPromoted("self"),
                promoted_listed("self other"), casts_to_out, Ranks("self out"), DoneIfEmpty("self")},
               remainder));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceRemainderTensorScalar), all.back(), "selfRef other"));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnRemainderScalarTensor), names,
                         {NoNulls(names, 561103), SameShape("other", "out"),
                          Undetermined([](PlanCall& call) { return ElementSize(call["other"].dtype) == 0; }),
                          no_complex, PromotesTo("self other", rule_of("other", "self")), casts_to_out,
                          Refuses(161002, "out",
                                  [=](PlanCall& call) {
                                    return call.product == Product::k310B ||
                                           !list.Has(call.product, call["out"].dtype);
                                  }),
                          Ranks("other out"), DoneIfEmpty("other"),
                          On(kBefore950, Sets([](PlanCall& call) { call.promoted = call["out"].dtype; }))},
                         remainder));

  Oracle fmod;
  fmod.single = [](const float* x) { return std::fmod(x[0], x[1]); };
  fmod.twofold = [](const double* x) { return std::fmod(x[0], x[1]); };
  fmod.integer = [](const Int* x) { return x[1] == 0 ? Int{0} : x[0] % x[1]; };
  fmod.any_integer = ByZero;
  const Listed fmod_list = kFD + DtypeList{ACL_INT32, ACL_INT8, ACL_UINT8, ACL_INT64};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnFmodTensor), names,
                         {NoNulls(names), DtypeIn("self other out", fmod_list), Promotes("self other"),
                          PromotedIn("self other", fmod_list), Ranks("self other"), Broadcasts("self other"),
                          ResultIs("out"), DoneIfEmpty("self other")},
                         fmod));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceFmodTensor), all.back(), "selfRef other"));
  const auto fmods_rule = [](PlanCall& call) {
    const DtypeNumber t = call["self"].dtype;
    const DtypeNumber s = call["other"].dtype;
    return call.product == Product::k950 ? WithScalarOn950(t, s, true) : Stt(t, s);
  };
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnFmodScalar), names,
                         {NoNulls("other", 561103), NoNulls(names), DtypeIn("self other out", fmod_list),
                          PromotesTo("self other", fmods_rule), PromotedIn("self other", fmod_list),
                          Ranks("self"), SameShape("self", "out"), DoneIfEmpty("self")},
                         fmod));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceFmodScalar), all.back(), "selfRef other"));
}

}  // namespace

const std::vector<MapOperator>& ArithmeticOperators() {
  static const std::vector<MapOperator> operators = [] {
    std::vector<MapOperator> all;
    AddSums(all);
    AddProducts(all);
    AddQuotients(all);
    AddThreefold(all);
    AddExtremes(all);
    AddPowers(all);
    AddRemainders(all);
    return Completed(std::move(all));
  }();
  return operators;
}

}  // namespace portacl::testing
