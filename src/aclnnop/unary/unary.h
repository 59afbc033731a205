// Functions of one tensor. A few rules declare each: the dtypes that it accepts, the dtype that it computes
// in, and its kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "aclnnop/phase1.h"

namespace portacl {

// Sets from which the lists of unary functions are joined.
inline constexpr DtypeSet kRealFloating = kFloatAndHalf | kDouble;
inline constexpr DtypeSet kFloating = kFloatAndHalf | kDouble | kComplex;
inline constexpr DtypeRule kRealFloatingDtypes = WithBf16SinceAtlasA2(kRealFloating);
inline constexpr DtypeRule kFloatingDtypes = WithBf16SinceAtlasA2(kFloating);
inline constexpr DtypeRule kRealFloatingAndBf16 = Everywhere(kRealFloating | kBf16);
inline constexpr DtypeRule kFloatingAndBf16 = Everywhere(kFloating | kBf16);

// Keeps a rule's floating and complex dtypes, which most in-place forms accept.
constexpr DtypeRule FloatingOf(const DtypeRule& rule) {
  DtypeRule floating = rule;
  for (DtypeSet& set : floating.by_product) set = set & (kFloating | kBf16);
  return floating;
}

struct UnaryRules {
  // The rule for out's dtype.
  enum class Out : uint8_t {
    kSame,            // self's
    kComputed,        // the dtype of the computation
    kCastsFromSelf,   // any to which self's casts
    kCastsComputed,   // any to which the computation's casts
    kListed,          // in the list
    kListedFromSelf,  // in the list, and self's casts to it
    kListedComputed,  // in the list, and the computation's casts to it
    kReal,            // self's, for complex numbers that of their parts
    kSign             // self's; checked later if Sign's list for all products lacks it
  };
  // The dtype to which integers and bool are converted before the function.
  enum class IntegersAs : uint8_t { kThemselves, kFloat, kFloatOrDouble /* of INT64 */, kOut };
  // The rule for formats.
  enum class Formats : uint8_t { kAny, kNotPrivate, kEqual, kEqualAndNotPrivate };

  const engine::KernelTable& kernels;
  DtypeRule self{};
  Out out = Out::kSame;
  DtypeRule listed{};  // of out
  IntegersAs integers = IntegersAs::kFloat;
  Formats formats = Formats::kAny;
  ProductSet formats_on = products::kAll;
  DtypeRule in_place = FloatingOf(self);
  DtypeSet copied{};                          // dtypes that the function leaves unchanged
  DtypeSet zeroed{};                          // dtypes for which the result is 0
  DtypeSet needs_sleef = kDouble | kComplex;  // dtypes whose functions come from SLEEF
  aclnnStatus null_code = ACLNN_ERR_PARAM_NULLPTR;
};

// The checks of a unary function in CANN's order.
struct UnaryChecks {
  std::array<Check, 20> checks{};
  size_t count = 0;

  constexpr void Append(const Check& check) { checks[count++] = check; }
  std::span<const Check> All() const { return {checks.data(), count}; }
};

namespace unary {

enum Tensors { kSelf, kOut };

bool SelfIsInteger(const OperatorCall& call) noexcept;  // or bool
bool SelfIsInt64(const OperatorCall& call) noexcept;
bool SelfIsComplex32(const OperatorCall& call) noexcept;
bool SelfIsComplex64(const OperatorCall& call) noexcept;
bool SelfIsReal(const OperatorCall& call) noexcept;
bool SelfIsInListOfSign(const OperatorCall& call) noexcept;
bool SelfIsNotInListOfSign(const OperatorCall& call) noexcept;

constexpr void AppendOutRule(const UnaryRules& rules, int out, UnaryChecks& list) {
  using Out = UnaryRules::Out;
  switch (rules.out) {
    case Out::kSame:
      return list.Append(SameDtype(kSelf, out));
    case Out::kComputed:
      return list.Append(PromotedIs(out));
    case Out::kCastsFromSelf:
      return list.Append(CastsTo(kSelf, out));
    case Out::kCastsComputed:
      return list.Append(PromotedCastsTo(out));
    case Out::kListed:
      return list.Append(DtypesIn(rules.listed, {out}));
    case Out::kListedFromSelf:
      list.Append(DtypesIn(rules.listed, {out}));
      return list.Append(CastsTo(kSelf, out));
    case Out::kListedComputed:
      list.Append(DtypesIn(rules.listed, {out}));
      return list.Append(PromotedCastsTo(out));
    case Out::kReal:
      list.Append(If(SelfIsReal, SameDtype(kSelf, out)));
      list.Append(If(SelfIsComplex64, DtypesIn(DtypeSet{ACL_FLOAT}, {out})));
      return list.Append(If(SelfIsComplex32, DtypesIn(DtypeSet{ACL_FLOAT16}, {out})));
    case Out::kSign:
      return list.Append(If(SelfIsInListOfSign, SameDtype(kSelf, out)));
  }
}

constexpr void AppendFormats(const UnaryRules& rules, int out, UnaryChecks& list) {
  using Formats = UnaryRules::Formats;
  if (rules.formats == Formats::kEqual || rules.formats == Formats::kEqualAndNotPrivate)
    list.Append(OnProducts(rules.formats_on, SameFormat({kSelf, out})));
  if (rules.formats == Formats::kNotPrivate || rules.formats == Formats::kEqualAndNotPrivate)
    list.Append(OnProducts(rules.formats_on, NotPrivate({kSelf, out})));
}

}  // namespace unary

// Returns the checks of `rules`, which must be static. In place, out is self.
constexpr UnaryChecks ChecksOf(const UnaryRules& rules, bool in_place) {
  using namespace unary;
  const bool is_sign = rules.out == UnaryRules::Out::kSign;
  const int out = in_place ? kSelf : kOut;
  UnaryChecks list;
  list.Append(WithCode(rules.null_code, NotNull(kSelf)));
  if (!in_place) list.Append(WithCode(rules.null_code, NotNull(kOut)));
  if (is_sign) {
    // On these products CANN accepts every dtype.
    constexpr ProductSet kTakesAny{Product::kAtlasInference, Product::kAtlas200I500A2};
    list.Append(OnProducts(~kTakesAny, DtypesIn(rules.self, {kSelf})));
  } else {
    list.Append(DtypesIn(in_place ? rules.in_place : rules.self, {kSelf}));
  }
  using IntegersAs = UnaryRules::IntegersAs;
  const bool to_float = rules.integers == IntegersAs::kFloat || rules.integers == IntegersAs::kFloatOrDouble;
  list.Append(to_float ? PromotesToFloat(kSelf) : PromotesToDtypeOf(kSelf));
  if (rules.integers == IntegersAs::kFloatOrDouble) list.Append(If(SelfIsInt64, PromotesTo(ACL_DOUBLE)));
  AppendOutRule(rules, out, list);
  if (rules.integers == IntegersAs::kOut) list.Append(If(SelfIsInteger, PromotesToDtypeOf(out)));
  list.Append(SameShape(kSelf, out));
  if (!is_sign) list.Append(RankAtMost(8, {kSelf}));
  AppendFormats(rules, out, list);
  list.Append(SizesRepresentable({out}));
  list.Append(DoneIfEmpty({kSelf}));
  if (is_sign) {
    list.Append(If(SelfIsNotInListOfSign, WithCode(ACLNN_ERR_INNER_NULLPTR, SameDtype(kSelf, out))));
    list.Append(WithCode(ACLNN_ERR_INNER_NULLPTR, RankAtMostUnlessContiguous(8, {kSelf, out})));
    // Integers are computed as int64 where CANN accepts them.
    list.Append(DtypeImplemented({kSelf}, kConvertible.Without(DtypeSet(ACL_UINT64))));
  }
  list.Append(InsideStorage({kSelf}));
  list.Append(DtypeImplemented({kSelf, out}, kConvertible));
  if (!rules.needs_sleef.IsEmpty()) list.Append(FunctionsThere(rules.needs_sleef, WhyFunctionsAreMissing));
  return list;
}

// Runs phase 1.
aclnnStatus RunUnary(OperatorCall& call, const UnaryRules& rules, const UnaryChecks& checks,
                     uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

}  // namespace portacl

// Defines phase 1 of aclnnNAME, and of aclnnInplaceNAME in place.
#define PORTACL_UNARY_OUT(name, rules)                                          \
  PORTACL_PHASE_1(aclnn##name) {                                                \
    static constexpr UnaryChecks kChecks = ChecksOf(rules, /*in_place=*/false); \
    return RunUnary(call, rules, kChecks, workspaceSize, executor);             \
  }
#define PORTACL_UNARY(name, rules)                                             \
  PORTACL_UNARY_OUT(name, rules)                                               \
  PORTACL_PHASE_1(aclnnInplace##name) {                                        \
    static constexpr UnaryChecks kChecks = ChecksOf(rules, /*in_place=*/true); \
    return RunUnary(call, rules, kChecks, workspaceSize, executor);            \
  }

// Defines the kernels of a function, by the name of its header. Operators on lists of tensors
// (aclnnop/foreach/functions.cc) compute entries with them. Each is declared only where it is defined: a
// header that declared all of them would cause everything to be rebuilt for each new one.
#define PORTACL_UNARY_KERNELS(stem, rules)                               \
  namespace unary_kernels {                                              \
  const engine::KernelTable& stem() noexcept;                            \
  const engine::KernelTable& stem() noexcept { return (rules).kernels; } \
  }
