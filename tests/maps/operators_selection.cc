// Comparisons, logic, bits, bounds and choices as data.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/logic.h"
#include "aclnnop/families/unary.h"
#include "support/map_operator.h"
#include "support/rules.h"
#include "support/scalar_dtypes.h"

namespace portacl::testing {
namespace {

using Complex = std::complex<long double>;

const DtypeList kIntegerDtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64};

// One formula for floats, doubles and integers that gives a truth.
template <class F>
Oracle Truth(F formula) {
  Oracle oracle;
  oracle.truth = true;
  oracle.single = [=](const float* x) { return formula(x) ? 1.0f : 0.0f; };
  oracle.twofold = [=](const double* x) { return formula(x) ? 1.0 : 0.0; };
  oracle.integer = [=](const Int* x) { return Int{formula(x) ? 1 : 0}; };
  return oracle;
}

// One that gives a value.
template <class F>
Oracle Value(F formula) {
  Oracle oracle;
  oracle.single = [=](const float* x) { return formula(x); };
  oracle.twofold = [=](const double* x) { return formula(x); };
  oracle.integer = [=](const Int* x) { return formula(x); };
  return oracle;
}

// ---- comparisons ----

enum class Relation { kEq, kNe, kGt, kGe, kLt, kLe };

struct Comparison {
  Relation relation;
  Listed in;
  Listed out;
  bool inputs_tested_one_by_one;  // else only what they promote to
  bool promoted_tested_off_950;   // the tensor form's P
  bool out_rank_tested;
  bool empty_first;
  CFunction tensor;
  CFunction inplace_tensor;
  CFunction scalar;
  CFunction inplace_scalar;
};

bool Holds(Relation relation, auto a, auto b) {
  switch (relation) {
    case Relation::kEq:
      return a == b;
    case Relation::kNe:
      return a != b;
    case Relation::kGt:
      return a > b;
    case Relation::kGe:
      return a >= b;
    case Relation::kLt:
      return a < b;
    default:
      return a <= b;
  }
}

DtypeNumber ComparedScalar(Relation relation, PlanCall& call) {
  const DtypeNumber d = call["self"].dtype;
  const DtypeNumber s = call["other"].dtype;
  if (call.product == Product::k950) {
    const DtypeNumber combined = Combine(d, Def(s));
    return combined == ACL_COMPLEX32 ? DtypeNumber{ACL_COMPLEX64} : combined;
  }
  switch (relation) {
    case Relation::kEq:
    case Relation::kNe:
      if (IsComplexDtype(d) || (IsFloatingDtype(d) && !IsComplexDtype(s))) return d;
      return d == ACL_BOOL || IsFloatingDtype(s) || IsComplexDtype(s) ? PromoteDtypes(d, s) : d;
    case Relation::kGt:
    case Relation::kGe:
      if (s == ACL_DOUBLE && IsFloatingDtype(d)) {
        const long double value = call["other"].number.real;
        const long double error =
            std::fabs(ScalarIn(call["other"], d).real - static_cast<long double>(static_cast<double>(value)));
        return error <= 1.19e-7L ? d : DtypeNumber{ACL_DOUBLE};
      }
      return PromoteDtypes(d, s);
    case Relation::kLt:
      return IsFloatingDtype(d) ? d : PromoteDtypes(d, s == ACL_DOUBLE ? DtypeNumber{ACL_FLOAT} : s);
    default:
      return IsFloatingDtype(d) ? d : s == ACL_DOUBLE ? DtypeNumber{ACL_FLOAT} : PromoteDtypes(d, s);
  }
}

void AddComparisons(std::vector<MapOperator>& all) {
  const Listed eq = {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32,
                      ACL_INT64, ACL_BOOL, ACL_COMPLEX64, ACL_COMPLEX128},
                     {ACL_BF16},
                     {ACL_UINT64},
                     {}};
  Listed eq_out = eq;
  eq_out.on_950 = kUnsigned;
  const Listed ordered = kFDI + kUnsigned;
  const Listed le = {{ACL_INT8, ACL_UINT8, ACL_INT16, ACL_UINT16, ACL_INT32, ACL_INT64, ACL_FLOAT16,
                      ACL_FLOAT, ACL_DOUBLE, ACL_BOOL},
                     {ACL_BF16},
                     {ACL_UINT64},
                     {}};
  Listed le_out = le;
  le_out.on_950 = {ACL_UINT32, ACL_UINT64, ACL_COMPLEX64, ACL_COMPLEX128};
  Listed lt_out = ordered;
  lt_out.on_950 = kComplexDtypes;

#define PORTACL_COMPARISON(name)                                                           \
  PORTACL_C_FUNCTION(aclnn##name##Tensor), PORTACL_C_FUNCTION(aclnnInplace##name##Tensor), \
      PORTACL_C_FUNCTION(aclnn##name##Scalar), PORTACL_C_FUNCTION(aclnnInplace##name##Scalar)
  const std::vector<Comparison> comparisons = {
      {Relation::kEq, eq, eq_out, false, true, true, false, PORTACL_COMPARISON(Eq)},
      {Relation::kNe, eq, eq_out, false, false, false, true, PORTACL_COMPARISON(Ne)},
      {Relation::kGt, ordered, ordered + kComplexDtypes, false, true, true, false, PORTACL_COMPARISON(Gt)},
      {Relation::kGe, ordered, ordered + kComplexDtypes + DtypeList{ACL_BF16}, false, true, true, false,
       PORTACL_COMPARISON(Ge)},
      {Relation::kLt, ordered, lt_out, true, false, false, false, PORTACL_COMPARISON(Lt)},
      {Relation::kLe, le, le_out, true, false, true, true, PORTACL_COMPARISON(Le)},
  };
#undef PORTACL_COMPARISON

  for (const Comparison& c : comparisons) {
    const Relation relation = c.relation;
    const bool is_equality = relation == Relation::kEq || relation == Relation::kNe;
    Oracle oracle = Truth([=](const auto* x) { return Holds(relation, x[0], x[1]); });
    oracle.rounds_scalars = true;
    if (is_equality)
      oracle.complex = [=](const Complex* x) {
        return Complex((x[0] == x[1]) == (relation == Relation::kEq) ? 1 : 0);
      };

    const Listed in = c.in;
    const auto old_list = [=](PlanCall& call, DtypeNumber dtype, const Listed& list) {
      // The tensor form of Eq on the older products: two unsigned types more, no BF16.
      const bool more = relation == Relation::kEq && call.Is(kOldProducts);
      return list.Has(call.product, dtype) || (more && (dtype == ACL_UINT32 || dtype == ACL_UINT64));
    };
    const auto in_list = [=](const std::string& name) {
      return Refuses(161002, name, [=](PlanCall& call) { return !old_list(call, call[name].dtype, in); });
    };
    const auto promoted_listed =
        Refuses(161002, "self other", [=](PlanCall& call) { return !old_list(call, call.promoted, in); });
    const Rule out_listed =
        Refuses(161002, "out", [=](PlanCall& call) { return !old_list(call, call["out"].dtype, c.out); });
    Rules tensor = {NoNulls("self other out")};
    if (c.empty_first) tensor.push_back(DoneIfEmpty("self other"));
    if (c.inputs_tested_one_by_one) {
      tensor.push_back(in_list("self"));
      tensor.push_back(in_list("other"));
    } else if (relation == Relation::kEq || relation == Relation::kNe) {
      tensor.push_back(On(k950Only, in_list("self")));
      tensor.push_back(On(k950Only, in_list("other")));
      if (relation == Relation::kNe) {
        tensor.push_back(On(kBefore950, in_list("self")));
        tensor.push_back(On(kBefore950, in_list("other")));
      }
    }
    tensor = tensor + Rules{out_listed, PromotesTo("self other", [](PlanCall& call) {
                              return PromoteByRank(call, "self", "other");
                            })};
    tensor.push_back(c.promoted_tested_off_950 ? promoted_listed : On(k950Only, promoted_listed));
    tensor = tensor + Rules{Ranks(c.out_rank_tested ? "self other out" : "self other"),
                            Broadcasts("self other"), ResultIs("out"), DoneIfEmpty("self other")};
    all.push_back(Describe(c.tensor, "self other out", tensor, oracle));
    all.push_back(InPlace(c.inplace_tensor, all.back(), "selfRef other"));

    Listed scalar_in = c.in;
    Listed scalar_out = c.out;
    if (relation == Relation::kEq) {
      scalar_in.on_910 = {ACL_UINT32, ACL_UINT64};
      scalar_out.on_910 = {ACL_UINT32, ACL_UINT64};
      scalar_in.on_310 = scalar_out.on_310 = {ACL_BF16};  // Atlas A2's list
    }
    // Ge looks at what the two promote to, and on 950 at self.
    const Rules scalar_lists =
        relation == Relation::kGe
            ? Rules{On(k950Only, Refuses(161002, "self out",
                                         [=](PlanCall& call) {
                                           return !scalar_in.Has(call.product, call["self"].dtype);
                                         }))}
            : Rules{DtypeIn("self other", scalar_in)};
    // The message may show another complex dtype than the one that is compared.
    const Rule promoted_in_list = Refuses(161002, "self other", [=](const PlanCall& call) {
      return !scalar_in.Has(call.product, call.promoted);
    });
    Rules scalar = Rules{NoNulls("self other out")} + scalar_lists + Rules{DtypeIn("out", scalar_out)};
    // Lt promotes before it asks for null pointers.
    if (relation == Relation::kLt)
      scalar.insert(scalar.begin(), On(kBefore950, NoNulls("self other", 561103)));
    if (relation == Relation::kEq) scalar.push_back(On(kBefore950, Promotes("self other")));
    scalar = scalar +
             Rules{PromotesTo("self other", [=](PlanCall& call) { return ComparedScalar(relation, call); }),
                   relation == Relation::kGe ? promoted_in_list
                                             : On(k950Only, PromotedIn("self other", scalar_in)),
                   Ranks("self out"), SameShape("self", "out"), DoneIfEmpty("self")};
    all.push_back(Describe(c.scalar, "self other out", scalar, oracle));
    all.back().values = {{1, 0}, {0, 0}, {0.1L, 0}, {-2.5L, 0}, {300, 0}, {100.1L, 0}};
    all.push_back(InPlace(c.inplace_scalar, all.back(), "selfRef other"));
  }
}

void AddNearness(std::vector<MapOperator>& all) {
  Oracle close;
  close.truth = true;
  const auto is_close = [](auto a, auto b, auto rtol, auto atol, auto equal_nan) {
    if (std::isnan(a) && std::isnan(b)) return equal_nan != 0;
    return a == b || (std::isfinite(b) && std::fabs(a - b) <= atol + rtol * std::fabs(b));
  };
  close.single = [=](const float* x) { return is_close(x[0], x[1], x[2], x[3], x[4]) ? 1.0f : 0.0f; };
  close.twofold = [=](const double* x) {
    const auto narrow = [](double value) { return static_cast<double>(static_cast<float>(value)); };
    return is_close(x[0], x[1], narrow(x[2]), narrow(x[3]), x[4]) ? 1.0 : 0.0;
  };
  all.push_back(Describe(
      PORTACL_C_FUNCTION(aclnnIsClose), "self other rtol atol equalNan out",
      {NoNulls("self other out"), DtypeIn("self other", kFDI), SameDtype("self", "other"),
       Ranks("self other"), Broadcasts("self other"), ResultIs("out"), DoneIfEmpty("self other"),
       WithCode(561103,
                Refuses(0 + 161002, "out", [](PlanCall& call) { return call["out"].dtype != ACL_BOOL; })),
       Sets([](PlanCall& call) {
         const DtypeNumber own = call["self"].dtype;
         const bool is_wide = own == ACL_INT64 || own == ACL_DOUBLE;
         call.promoted = is_wide ? DtypeNumber{ACL_DOUBLE} : DtypeNumber{ACL_FLOAT};
       })},
      close));
  all.back().dtypes = {{"out", ACL_BOOL}};
  all.back().integers = {{0.5L, 0}, {0.25L, 0}, {1, 0}, {0, 0}};
  // How 64-bit integers are compared is not determined: whole numbers are exact in the ranges that differ.
  all.back().formula.any_real = {};

  const auto classified = [&](const CFunction& function, const std::string& names, const Rules& rules,
                              auto formula, int integers) {
    Oracle oracle;
    oracle.truth = true;
    oracle.single = [=](const float* x) { return formula(x[0]) ? 1.0f : 0.0f; };
    oracle.twofold = [=](const double* x) { return formula(x[0]) ? 1.0 : 0.0; };
    oracle.integer = [=](const Int*) { return Int{integers}; };
    all.push_back(Describe(function, names, rules, oracle));
    all.back().dtypes = {{"out", ACL_BOOL}};
  };
  const Listed bool_only = {{ACL_BOOL}};
  const Rule own = Sets([](PlanCall& call) { call.promoted = call["self"].dtype; });
  classified(
      PORTACL_C_FUNCTION(aclnnIsFinite), "self out",
      {NoNulls("self out"), DtypeIn("self", kFDI), DtypeIn("out", bool_only), SameShape("self", "out"),
       Ranks("self"), DoneIfEmpty("self"), own},
      [](auto x) { return std::isfinite(x); }, 1);
  const auto is_310p = [](PlanCall& call) { return call.Is({Product::k310P}); };
  const auto is_other = [](PlanCall& call) { return !call.Is({Product::k310P}); };
  classified(
      PORTACL_C_FUNCTION(aclnnIsInf), "x out",
      {NoNulls("x out"), When(is_310p, DtypeIn("x", {{ACL_FLOAT, ACL_FLOAT16}})),
       When(is_other, DtypeIn("x", {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}})), DtypeIn("out", bool_only),
       SameShape("x", "out"), WithCode(561002, Ranks("x")), DoneIfEmpty("x"),
       Sets([](PlanCall& call) { call.promoted = call["x"].dtype; })},
      [](auto x) { return std::isinf(x); }, 0);
  const Rule not_there = Refuses(161002, "self", [](PlanCall& call) {
    return call.Is({Product::k910, Product::k310B});
  });
  const Rules infinite = {NoNulls("self out"),  SameShape("self", "out"),  Ranks("self"),       not_there,
                          DtypeIn("self", kFI), DtypeIn("out", bool_only), DoneIfEmpty("self"), own};
  classified(
      PORTACL_C_FUNCTION(aclnnIsPosInf), "self out", infinite, [](auto x) { return std::isinf(x) && x > 0; },
      0);
  classified(
      PORTACL_C_FUNCTION(aclnnIsNegInf), "self out", infinite, [](auto x) { return std::isinf(x) && x < 0; },
      0);

  const Listed signed_list = kFD + kSignedAndBool + kUnsigned;
  classified(
      PORTACL_C_FUNCTION(aclnnSignbit), "self out",
      {NoNulls("self out"), DtypeIn("self", signed_list), DtypeIn("out", signed_list),
       SameShape("self", "out"), Ranks("self out"), DoneIfEmpty("self"), own},
      [](auto x) { return std::signbit(x); }, 0);
  all.back().dtypes = {};
  all.back().formula.integer = [](const Int* x) { return Int{x[0] < 0 ? 1 : 0}; };
  all.back().formula.any_real = [](const long double* x) {
    return std::isnan(x[0]);
  };  // its sign is lost on the way here

  const auto replaced = [](auto x, auto nan, auto posinf, auto neginf) {
    return std::isnan(x) ? nan : std::isinf(x) ? (x > 0 ? posinf : neginf) : x;
  };
  Oracle nan_to_num;
  nan_to_num.single = [=](const float* x) { return replaced(x[0], x[1], x[2], x[3]); };
  nan_to_num.integer = [](const Int* x) { return x[0]; };
  const Rule new_only = Refuses(161002, "self", [](PlanCall& call) { return call.Is(kOldProducts); });
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnNanToNum), "self nan posinf neginf out",
                         {NoNulls("self out"), new_only, DtypeIn("self", kFI), SameDtype("self", "out"),
                          SameShape("self", "out"), Ranks("self"), DoneIfEmpty("self"), own},
                         nan_to_num));
  all.back().integers = {{0.5L, 0}, {0x1p126L, 0}, {-3, 0}};
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceNanToNum), all.back(), "selfRef nan posinf neginf"));
}

// ---- logic and bits ----

void AddLogic(std::vector<MapOperator>& all) {
  const Listed in = kFDCI;
  const Listed with_bf16 = kFDCI + DtypeList{ACL_BF16};
  const Rule as_truths = Sets([](PlanCall& call) { call.promoted = ACL_BOOL; });
  const auto rules = [&](const Listed& list, const Rules& out) {
    return Rules{NoNulls("self other out"), DtypeIn("self other", list)} + out +
           Rules{Ranks("self other"), Broadcasts("self other"), ResultIs("out"), DoneIfEmpty("self other"),
                 as_truths};
  };
  const Oracle both = Truth([](const auto* x) { return x[0] != 0 && x[1] != 0; });
  const Oracle either = Truth([](const auto* x) { return x[0] != 0 || x[1] != 0; });
  const Oracle one = Truth([](const auto* x) { return (x[0] != 0) != (x[1] != 0); });
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnLogicalAnd), "self other out", rules(with_bf16, {}), both));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceLogicalAnd), all.back(), "selfRef other"));
  Listed or_out = in;
  or_out.on_950 = kUnsigned;
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnLogicalOr), "self other out",
                         rules(in, {DtypeIn("out", or_out)}), either));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceLogicalOr), all.back(), "selfRef other"));
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnLogicalXor), "self other out", rules(in, {DtypeIn("out", in)}), one));
  all.back().rules.push_back(Refuses(161002, "self other", [](PlanCall& call) {
    for (const char* name : {"self", "other"}) {
      if (IsComplexDtype(call[name].dtype) && call[name].shape.size() > 7) return true;
    }
    return false;
  }));
  const Listed not_list = kFDI + DtypeList{ACL_BF16};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnLogicalNot), "self out",
                         {NoNulls("self out"), SameShape("self", "out"), DtypeIn("self out", not_list),
                          RanksUnlessDense("self out"), DoneIfEmpty("self"), as_truths},
                         Truth([](const auto* x) { return x[0] == 0; })));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceLogicalNot), all.back(), "selfRef"));
}

void AddBits(std::vector<MapOperator>& all) {
  const auto of = [](auto formula) {
    Oracle oracle;
    oracle.integer = [=](const Int* x) { return formula(x); };
    return oracle;
  };
  const Oracle bit_and = of([](const Int* x) { return x[0] & x[1]; });
  const Oracle bit_or = of([](const Int* x) { return x[0] | x[1]; });
  const Oracle bit_xor = of([](const Int* x) { return x[0] ^ x[1]; });
  const Listed and_list = {{ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_UINT16, ACL_BOOL}};
  const Listed or_list = {
      {ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_UINT16, ACL_UINT32, ACL_UINT64, ACL_BOOL}};
  Listed or_scalar = and_list;
  or_scalar.on_950 = {ACL_UINT32, ACL_UINT64};
  const Listed xor_list = {
      {ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_BOOL}, {}, kUnsigned, {}};

  const auto tensors = [](const Listed& list, const Rules& formats, const std::string& ranks) {
    return Rules{NoNulls("self other out"), DtypeIn("self other", list), Promotes("self other"),
                 PromotedCastsTo("out")} +
           formats +
           Rules{Ranks(ranks), Broadcasts("self other"), ResultIs("out"), DoneIfEmpty("self other")};
  };
  const auto scalars = [](const Listed& list, bool looks_at_value, const Rules& formats) {
    const auto rule = [=](PlanCall& call) {
      const DtypeNumber d = call["self"].dtype;
      DtypeNumber s = call["other"].dtype;
      if (call.product == Product::k950) return Combine(d, s);
      const long double value = call["other"].number.real;
      if (looks_at_value && s == ACL_INT64 && std::fabs(value) < 0x1p31L) s = ACL_INT32;
      return PromoteDtypes(d, s);
    };
    return Rules{NoNulls("self other out"), DtypeIn("self other", list), PromotesTo("self other", rule),
                 PromotedCastsTo("out")} +
           formats + Rules{Ranks("self"), SameShape("self", "out"), DoneIfEmpty("self")};
  };
  const auto add = [&](const CFunction& function, const CFunction& in_place, const Rules& rules,
                       const Oracle& oracle, const std::string& in_place_names = "selfRef other") {
    all.push_back(Describe(function, "self other out", rules, oracle));
    all.back().dtype = ACL_INT32;
    all.back().values = {{5, 0}, {1, 0}, {-3, 0}, {300, 0}, {70000, 0}};
    all.push_back(InPlace(in_place, all.back(), in_place_names));
  };
#define PORTACL_BITS(name) PORTACL_C_FUNCTION(aclnn##name), PORTACL_C_FUNCTION(aclnnInplace##name)
  const Rules no_private = {NoPrivateFormat("self other out")};
  add(PORTACL_BITS(BitwiseAndTensor), tensors(and_list, no_private, "self other"), bit_and);
  add(PORTACL_BITS(BitwiseAndScalar), scalars(and_list, false, {NoPrivateFormat("self out")}), bit_and);
  add(PORTACL_BITS(BitwiseOrTensor), tensors(or_list, {}, "self other out"), bit_or);
  add(PORTACL_BITS(BitwiseOrScalar), scalars(or_scalar, true, {}), bit_or);
  add(PORTACL_BITS(BitwiseXorTensor), tensors(xor_list, {}, "self other out"), bit_xor);
  add(PORTACL_BITS(BitwiseXorScalar), scalars(xor_list, true, {}), bit_xor);
  add(PORTACL_BITS(BitwiseAndTensorOut),
      tensors(and_list, {SameFormat("self", "other out"), NoPrivateFormat("self other out")}, "self other"),
      bit_and, "self other");
#undef PORTACL_BITS
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnBitwiseNot), "self out",
               {NoNulls("self out", 561103), DtypeIn("self", xor_list), SameDtype("self", "out"),
                NoPrivateFormat("self out"), Ranks("self"), SameShape("self", "out"), DoneIfEmpty("self"),
                Sets([](PlanCall& call) { call.promoted = call["self"].dtype; })},
               of([](const Int* x) { return ~x[0]; })));
  all.back().dtype = ACL_INT32;
  all.back().formula.flips_bool = true;

  // Shifts, the count cut off at the width less 1.
  const Listed shift_list = {
      {ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64, ACL_UINT8, ACL_UINT16, ACL_UINT32, ACL_UINT64}};
  const auto shift_rules = [&](const std::string& self, const Rules& shapes, const Rules& formats,
                               const std::string& lists, const std::string& empty) {
    return Rules{NoNulls(self + " shiftBits out"), DtypeIn(lists, shift_list)} + shapes + formats +
           Rules{DoneIfEmpty(empty), Promotes(self + " shiftBits"), PromotedCastsTo("out")};
  };
  const Rules broadcast = {Ranks("self shiftBits out"), Broadcasts("self shiftBits"), ResultIs("out")};
  // The counts of the test are below 8, or far above every width with one result for all widths: 0 or -1 to the right.
  const Oracle left = [] {
    Oracle oracle;
    oracle.integer = [](const Int* x) { return x[0] * (Int{1} << (x[1] < 0 ? 0 : static_cast<int>(x[1]))); };
    oracle.any_integer = [](const Int* x) { return x[1] > 7; };
    return oracle;
  }();
  const Oracle right = [] {
    Oracle oracle;
    oracle.integer = [](const Int* x) {
      const int count = x[1] < 0 ? 0 : x[1] > 63 ? 63 : static_cast<int>(x[1]);
      return x[0] >> count;
    };
    oracle.any_integer = [](const Int* x) { return x[1] > 7 && x[0] > 0; };  // the width decides
    return oracle;
  }();
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnLeftShift), "self shiftBits out",
                         shift_rules("self", broadcast, {NoPrivateFormat("self shiftBits out")},
                                     "self shiftBits out", "self shiftBits"),
                         left));
  all.back().dtype = ACL_INT32;
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnLeftShifts), "self shiftBits out",
                         shift_rules("self", {Ranks("self out"), SameShape("self", "out")},
                                     {NoPrivateFormat("self out")}, "self out shiftBits", "self"),
                         left));
  all.back().dtype = ACL_INT32;
  all.back().values = {{3, 0}, {0, 0}, {7, 0}};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnRightShift), "input shiftBits out",
                         shift_rules("self", broadcast, {}, "self shiftBits out", "self shiftBits"), right));
  all.back().dtype = ACL_INT32;
}

// ---- bounds and choices ----

// NaN wherever it is; the upper bound last.
Oracle Bounded(int lower, int upper, bool absent_possible) {
  const auto bounded = [=](const auto* x) {
    auto value = x[0];
    for (const int i : {lower, upper}) {
      if (i < 0) continue;
      if (value != value) return value;
      if (x[i] != x[i]) return x[i];
      if (i == lower ? value < x[i] : value > x[i]) value = x[i];
    }
    return value;
  };
  static_cast<void>(absent_possible);
  return Value(bounded);
}

void AddBounds(std::vector<MapOperator>& all) {
  const Listed list = kFD + kIntegerDtypes;
  const auto scalar_rules = [&](const std::string& bounds, const Rules& nulls) {
    const auto rule = [bounds](PlanCall& call) -> DtypeNumber {
      if (call.product != Product::k950) return call["out"].dtype;
      DtypeNumber bound = -2;
      for (const std::string& name : Words(bounds)) {
        if (call[name].null) continue;
        const DtypeNumber one = Def(call[name].dtype);
        bound = bound == -2 ? one : PromoteDtypes(bound, one);
      }
      return bound == kUndefinedDtype ? bound : Combine(call["self"].dtype, bound);
    };
    return nulls + Rules{DtypeIn("self out", list),
                         SameShape("self", "out"),
                         Ranks("self out"),
                         DoneIfEmpty("self"),
                         PromotesTo("self " + bounds, rule),
                         On(kBefore950, CastsTo("self", "out")),
                         On(k950Only, PromotedCastsTo("out")),
                         On(k950Only, PromotedIn("self " + bounds, list))};
  };
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnClamp), "self clipValueMin clipValueMax out",
                         scalar_rules("clipValueMin clipValueMax",
                                      {NoNulls("self out"), NotAllNull("clipValueMin clipValueMax")}),
                         Bounded(1, 2, true)));
  all.back().values = {{-1, 0}, {2, 0}, {0.7L, 0}};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnClampMin), "self clipValueMin out",
                         scalar_rules("clipValueMin", {NoNulls("clipValueMin self out")}),
                         Bounded(1, -1, false)));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnClampMax), "self clipValueMax out",
                         scalar_rules("clipValueMax", {NoNulls("clipValueMax self out")}),
                         Bounded(-1, 1, false)));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceClampMax), all.back(), "selfRef clipValueMax"));

  // Which of two dtypes comes first matters to a few pairs; of three it is not said.
  const Rule in_any_order = Undetermined([](PlanCall& call) {
    if (!call.Has("clipValueMin") || !call.Has("clipValueMax")) return false;
    const PlanArgument& lower = call["clipValueMin"];
    const PlanArgument& upper = call["clipValueMax"];
    return !lower.null && !upper.null &&
           PromoteDtypes(lower.dtype, upper.dtype) != PromoteDtypes(upper.dtype, lower.dtype);
  });
  const auto tensor_rules = [&](const std::string& bounds, const Rules& nulls) {
    const std::string inputs = "self " + bounds;
    return nulls + Rules{DtypeIn("self out", list),
                         Ranks("self out " + bounds),
                         DoneIfEmpty(inputs + " out"),
                         in_any_order,
                         Promotes(inputs),
                         PromotedCastsTo("out"),
                         PromotedIn(inputs, list),
                         Broadcasts(inputs),
                         ResultIs("out")};
  };
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnClampTensor), "self clipValueMin clipValueMax out",
                         tensor_rules("clipValueMin clipValueMax",
                                      {NoNulls("self out"), NotAllNull("clipValueMin clipValueMax")}),
                         Bounded(1, 2, true)));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnClampMinTensor), "self clipValueMin out",
                         tensor_rules("clipValueMin", {NoNulls("clipValueMin self out")}),
                         Bounded(1, -1, false)));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceClampMinTensor), all.back(), "selfRef clipValueMin"));
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnClampMaxTensor), "self max out",
                         tensor_rules("max", {NoNulls("max self out")}), Bounded(-1, 1, false)));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceClampMaxTensor), all.back(), "selfRef max"));
}

void AddChoices(std::vector<MapOperator>& all) {
  // Not computed: the bits that are chosen, converted.
  Oracle where = Value([](const auto* x) { return x[0] != 0 ? x[1] : x[2]; });
  where.complex = [](const Complex* x) { return x[0] != Complex(0) ? x[1] : x[2]; };
  where.ulp_complex = 1;
  const Listed list = kFDCI + kUnsigned;
  const auto listed = [=](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      const DtypeNumber dtype = call[name].dtype;
      return dtype == ACL_BF16 ? call.product == Product::k910 : !list.Has(call.product, dtype);
    });
  };
  all.push_back(Describe(
      PORTACL_C_FUNCTION(aclnnSWhere), "condition self other out",
      {NoNulls("self other condition out"), listed("self"), listed("other"), listed("out"),
       DtypeIn("condition", {{ACL_BOOL, ACL_UINT8}}), Ranks("self other condition"),
       Broadcasts("condition self other"), ResultIs("out"), DoneIfEmpty("condition self other"),
       WithCode(561103, Promotes("self other")),
       Refuses(561103, "self other out",
               [](PlanCall& call) { return call.promoted == ACL_BOOL && call["out"].dtype != ACL_BOOL; })},
      where));
  all.back().dtypes = {{"condition", ACL_BOOL}};
  all.back().casts = {{"condition", ACL_BOOL}};

  const Listed filled = kFloats + DtypeList{ACL_INT8, ACL_INT32, ACL_INT64, ACL_BOOL};
  const Rule own = Sets([](PlanCall& call) { call.promoted = call["selfRef"].dtype; });
  Oracle fill = Value([](const auto* x) { return x[1] != 0 ? x[2] : x[0]; });
  const Rules mask = {Ranks("selfRef mask")};
  const Rules mask_shape = {Broadcasts("selfRef mask"), ResultIs("selfRef"), DoneIfEmpty("selfRef mask"),
                            own};
  MapOperator base = Describe(
      PORTACL_C_FUNCTION(aclnnInplaceMaskedFillScalar), "selfRef mask value",
      Rules{NoNulls("selfRef mask value"), DtypeIn("selfRef", filled), DtypeIn("mask", {{ACL_BOOL}})} + mask +
          mask_shape,
      fill);
  base.dtypes = {{"mask", ACL_BOOL}};
  base.casts = {{"mask", ACL_BOOL}};
  base.formula.rounds_scalars = true;
  all.push_back(InPlace(base.function, base, "selfRef mask value"));
  base.function = PORTACL_C_FUNCTION(aclnnInplaceMaskedFillTensor);
  base.rules = Rules{NoNulls("selfRef mask value"), DtypeIn("selfRef", filled), DtypeIn("mask", {{ACL_BOOL}}),
                     DtypeIn("value", filled)} +
               mask +
               Rules{Refuses(161002, "value", [](PlanCall& call) { return !call["value"].shape.empty(); })} +
               mask_shape;
  base.shapes = {{"value", {}}};
  all.push_back(InPlace(base.function, base, "selfRef mask value"));

  Oracle threshold = Value([](const auto* x) { return x[0] <= x[1] ? x[2] : x[0]; });
  threshold.rounds_scalars = true;
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnThreshold), "self threshold value out",
               {NoNulls("self out threshold value"), DtypeIn("self", kFloats + kIntegerDtypes),
                On(kBefore950, CastsTo("self", "out")), Ranks("self"), SameShape("self", "out"),
                DoneIfEmpty("self"), Sets([](PlanCall& call) { call.promoted = call["self"].dtype; })},
               threshold));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceThreshold), all.back(), "selfRef threshold value"));
}

void AddBinaryFunctions(std::vector<MapOperator>& all) {
  const auto computed = Sets([](PlanCall& call) {
    const DtypeNumber promoted = PromoteDtypes(call["self"].dtype, call["other"].dtype);
    call.promoted = IsFloatingDtype(promoted) ? promoted : DtypeNumber{ACL_FLOAT};
  });
  Oracle angle;
  angle.real = [](const long double* x) { return std::atan2(x[0], x[1]); };
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnAtan2), "self other out",
                         {NoNulls("self other out"), DtypeIn("self other", kFDI), Ranks("self other"),
                          Broadcasts("self other"), ResultIs("out"), DoneIfEmpty("self other"), computed},
                         angle));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceAtan2), all.back(), "selfRef other"));

  Oracle times_log;
  times_log.real = [](const long double* x) -> long double {
    return x[0] == 0 && !std::isnan(x[1]) ? 0 : x[0] * std::log(x[1]);
  };
  times_log.ulp32 = 2;
  all.push_back(Describe(
      PORTACL_C_FUNCTION(aclnnXLogYTensor), "self other out",
      {NoNulls("self other out"), DtypeIn("self other out", kFloats + kSignedAndBool), Ranks("self other"),
       Broadcasts("self other"), ResultIs("out"), DoneIfEmpty("self other"), computed},
      times_log));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceXLogYTensor), all.back(), "selfRef other"));

  Oracle times_log1p;
  times_log1p.real = [](const long double* x) -> long double {
    return x[0] == 0 && !std::isnan(x[1]) ? 0 : x[0] * std::log1p(x[1]);
  };
  times_log1p.ulp32 = 2;
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnXlog1py), "x y z",
                         {NoNulls("x y z"), DtypeIn("x", kFloats), SameDtype("x", "y"), SameDtype("x", "z"),
                          Ranks("x y"), Broadcasts("x y"), ResultIs("z"), DoneIfEmpty("x y"),
                          Sets([](PlanCall& call) { call.promoted = call["x"].dtype; })},
                         times_log1p));
  all.back().output = "z";

  Oracle step;
  step.single = [](const float* x) { return x[0] == 0 ? x[1] : x[0] > 0 ? 1.0f : 0.0f; };
  all.push_back(Describe(
      PORTACL_C_FUNCTION(aclnnHeaviside), "input values out",
      {NoNulls("input values out"), DtypeIn("input values out", kFloats), Ranks("input values"),
       Broadcasts("input values"),
       Refuses(161002, "out",
               [](PlanCall& call) { return NumElements(call["out"].shape) != NumElements(call.result); }),
       Refuses(561103, "out", [](PlanCall& call) { return call["out"].dtype != call["input"].dtype; }),
       WithCode(561103, ResultIs("out")), DoneIfEmpty("input values"),
       Sets([](PlanCall& call) { call.promoted = ACL_FLOAT; })},
      step));

  // With a number, whose dtype counts as a tensor's.
  const auto as_tensors = [](PlanCall& call) {
    const DtypeNumber promoted = PromoteDtypes(call["self"].dtype, call["other"].dtype);
    return promoted == ACL_FLOAT16 || promoted == ACL_BF16 ? promoted : DtypeNumber{ACL_FLOAT};
  };
  const Listed tensors = kFloats + kSignedAndBool;
  const auto with_scalar = [&](const std::string& tensor) {
    const std::string scalar = tensor == "self" ? "other" : "self";
    return Rules{NoNulls("self other out"), DtypeIn(tensor + " out", tensors),
                 DtypeIn(scalar, kFDI),     PromotesTo("self other", as_tensors),
                 PromotedCastsTo("out"),    Ranks(tensor),
                 SameShape(tensor, "out"),  DoneIfEmpty(tensor)};
  };
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnXLogYScalarOther), "self other out", with_scalar("self"), times_log));
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceXLogYScalarOther), all.back(), "selfRef other"));
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnXLogYScalarSelf), "self other out", with_scalar("other"), times_log));

  Oracle masked;
  masked.single = [](const float* x) { return x[0] * x[1] * x[2]; };
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnMaskedScale), "self mask scale out",
               {NoNulls("self mask out"), DtypeIn("self", {.on_950 = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}}),
                DtypeIn("mask", {{ACL_FLOAT, ACL_FLOAT16, ACL_INT8, ACL_UINT8}}), SameDtype("self", "out"),
                Ranks("self"), SameShape("self", "mask"), SameShape("self", "out"), SameFormat("self", "out"),
                DoneIfEmpty("self"), Sets([](PlanCall& call) { call.promoted = ACL_FLOAT; })},
               masked));
  all.back().dtypes = {{"mask", ACL_INT8}};
  all.back().numbers_on = Product::k950;

  // Sums of which nothing below 0 is left. What wraps is tested by tests/pytorch_npu/test_aten.py.
  Oracle relu;
  relu.single = [](const float* x) {
    const float sum = std::fma(x[2], x[1], x[0]);
    return sum <= 0 ? 0.0f : sum;
  };
  relu.integer = [](const Int* x) { return x[0] + x[2] * x[1]; };
  relu.any_integer = [](const Int* x) { return x[0] + x[2] * x[1] < 0 || x[0] + x[2] * x[1] > 127; };
  const Listed summed = kFloats + kIntegerDtypes;
  const Rules sum_rules = {NoNulls("self other alpha out"), DtypeIn("self other", summed),
                           Promotes("self other"),          CastsToPromoted("alpha"),
                           PromotedCastsTo("out"),          Ranks("self other"),
                           Broadcasts("self other"),        ResultIs("out"),
                           DoneIfEmpty("self other")};
  all.push_back(Describe(PORTACL_C_FUNCTION(aclnnAddRelu), "self other alpha out", sum_rules, relu));
  all.back().values = {{1, 0}, {2, 0}, {-1, 0}};
  all.push_back(InPlace(PORTACL_C_FUNCTION(aclnnInplaceAddRelu), all.back(), "selfRef other alpha",
                        InPlaceFirst("selfRef other")));

  Oracle divisor;
  divisor.integer = [](const Int* x) {
    Int a = x[0] < 0 ? -x[0] : x[0];
    Int b = x[1] < 0 ? -x[1] : x[1];
    while (b != 0) {
      const Int rest = a % b;
      a = b;
      b = rest;
    }
    return a;
  };
  const Listed divided = {.everywhere = {ACL_INT32},
                          .on_new = {ACL_INT16, ACL_INT64},
                          .on_950 = {ACL_INT8, ACL_UINT8},
                          .on_310 = {ACL_INT16, ACL_INT64}};
  all.push_back(
      Describe(PORTACL_C_FUNCTION(aclnnGcd), "self other out",
               {NoNulls("self other out"), Promotes("self other"), PromotedIn("self other", divided),
                DtypeIn("out", {kIntegerDtypes}), Ranks("self other"), Broadcasts("self other"),
                ResultIs("out"), DoneIfEmpty("self other")},
               divisor));
  all.back().dtype = ACL_INT32;

  // What the sheet writes, so where the two parts cancel the bound is of the larger one.
  const auto log_sum = [](const long double* x, long double scale) -> long double {
    if (std::isnan(x[0]) || std::isnan(x[1])) return std::numeric_limits<long double>::quiet_NaN();
    const long double most = std::max(x[0], x[1]);
    const long double distance = x[0] == x[1] ? 0 : std::fabs(x[0] - x[1]);
    return most + std::log1p(std::exp(-distance * scale)) / scale;
  };
  const auto cancels = [](const long double* x) {
    return std::max(x[0], x[1]) < 0 && std::max(x[0], x[1]) > -4;
  };
  const Listed list = kFD + kSignedAndBool + kUnsigned;
  const Rules rules = {NoNulls("self other out"),
                       DtypeIn("self other", list),
                       DtypeIn("out", kFloats),
                       CastsTo("self", "out"),
                       CastsTo("other", "out"),
                       Ranks("self other"),
                       Broadcasts("self other"),
                       ResultIs("out"),
                       On(k950Only, SameFormat("self", "other out")),
                       On(k950Only, NoPrivateFormat("self other out")),
                       DoneIfEmpty("self other"),
                       Sets([](PlanCall& call) { call.promoted = call["out"].dtype; })};
  for (const bool base_two : {false, true}) {
    Oracle oracle;
    const long double scale = base_two ? std::log(2.0L) : 1.0L;
    oracle.real = [=](const long double* x) { return log_sum(x, scale); };
    oracle.any_real = cancels;
    oracle.ulp32 = oracle.ulp64 = 2;
    all.push_back(
        Describe(base_two ? PORTACL_C_FUNCTION(aclnnLogAddExp2) : PORTACL_C_FUNCTION(aclnnLogAddExp),
                 "self other out", rules, oracle));
  }
}

}  // namespace

const std::vector<MapOperator>& SelectionOperators() {
  static const std::vector<MapOperator> operators = [] {
    std::vector<MapOperator> all;
    AddComparisons(all);
    AddNearness(all);
    AddLogic(all);
    AddBits(all);
    AddBounds(all);
    AddChoices(all);
    AddBinaryFunctions(all);
    return Completed(std::move(all));
  }();
  return operators;
}

}  // namespace portacl::testing
