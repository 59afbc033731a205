// The checks of phase 1: see rules.h.
// SPDX-License-Identifier: Apache-2.0
#include "rules.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "operator_spec.h"

namespace portacl::testing {
namespace {

constexpr aclnnStatus kInvalid = 161002;
constexpr aclnnStatus kInnerNullptr = 561103;

// The names of these arguments in this form of the operator.
std::vector<std::string> OwnNames(const PlanCall& call, const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words)
    names.push_back(call.Has(word) || call.op->has_aliases ? call.Name(word) : word);
  return names;
}

// How much of a refusal's text is asked for.
enum class Wording { kAlways, kOfWorded };  // every word; of operators that are not worded the name alone

// Checks each given argument, or the entries of a list: nullopt if it passes, else what the message says beside its name.
using Refusal = std::optional<std::vector<std::string>>;
Rule ForEach(aclnnStatus code, const std::string& names,
             const std::function<Refusal(const PlanCall&, const PlanArgument&)>& fault,
             Wording wording = Wording::kAlways) {
  return [=, words = Words(names)](PlanCall& call) -> std::optional<Verdict> {
    for (const std::string& word : words) {
      const PlanArgument& one = call[word];
      Refusal says;
      if (one.kind != ParameterKind::kList && !one.null) says = fault(call, one);
      for (size_t i = 0; i < one.entries.size() && !one.null && !says; ++i) {
        if (!one.entries[i].null) says = fault(call, one.entries[i]);
      }
      if (!says) continue;
      if (wording == Wording::kOfWorded && !call.op->is_worded) return Verdict{code, {one.name}};
      says->push_back(one.name);
      return Verdict{code, {one.name}, std::move(*says)};
    }
    return std::nullopt;
  };
}

// Compares each of the others with the first, which a message names beside it.
Rule ForEachBeside(
    const std::string& first, const std::string& others,
    const std::function<Refusal(const PlanArgument& first, const PlanArgument& other)>& fault) {
  return [=, words = Words(others)](PlanCall& call) -> std::optional<Verdict> {
    const PlanArgument& beside = call[first];
    for (const std::string& word : words) {
      const PlanArgument& one = call[word];
      if (one.null || beside.null) continue;
      Refusal says = fault(beside, one);
      if (!says) continue;
      if (!call.op->is_worded) says->clear();
      return Verdict{kInvalid, {one.name, beside.name}, std::move(*says)};
    }
    return std::nullopt;
  };
}

bool IsPrivateFormat(int32_t format) {
  constexpr int32_t kPrivate[] = {3, 4, 12, 29, 32, 33, 50, 51, 52, 53, 54};
  return std::find(std::begin(kPrivate), std::end(kPrivate), format) != std::end(kPrivate);
}

bool HasNoElements(const PlanArgument& one) {
  return std::find(one.shape.begin(), one.shape.end(), 0) != one.shape.end();
}

// Tells whether a shape has a negative dim, or its elements are 2^63 bytes and more.
bool IsTooLarge(const Shape& shape, DtypeNumber dtype) {
  if (std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; })) return true;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return false;
  Int bytes = std::max<int64_t>(ElementSize(dtype), 1);
  for (const int64_t dim : shape) {
    if ((bytes *= dim) > std::numeric_limits<int64_t>::max()) return true;
  }
  return false;
}

// The lowest and the highest place of a tensor's elements in its storage.
std::pair<Int, Int> Reach(const PlanArgument& tensor) {
  const std::vector<int64_t> strides = tensor.strides.For(tensor.shape);
  std::pair<Int, Int> reach(tensor.strides.offset, tensor.strides.offset);
  for (size_t i = 0; i < strides.size(); ++i) {
    const Int step = Int{strides[i]} * (tensor.shape[i] - 1);
    (step < 0 ? reach.first : reach.second) += step;
  }
  return reach;
}

// Tells whether elements of a view are 2^63 bytes and more from each other or from the storage's start.
bool IsFarApart(const PlanArgument& tensor) {
  if (!tensor.strides.are_given || HasNoElements(tensor)) return false;
  const Int size = std::max<int64_t>(ElementSize(tensor.dtype), 1);
  constexpr Int kLowest = std::numeric_limits<int64_t>::min();
  constexpr Int kHighest = std::numeric_limits<int64_t>::max();
  const auto [low, high] = Reach(tensor);
  bool is_far = low * size < kLowest || (high + 1) * size > kHighest;
  const std::vector<int64_t> strides = tensor.strides.For(tensor.shape);
  for (size_t i = 0; i < strides.size(); ++i) {
    const Int span = Int{strides[i]} * (tensor.shape[i] - 1) * size;
    is_far = is_far || span <= kLowest || span > kHighest;  // also walked backwards
  }
  return is_far;
}

}  // namespace

// ---- any check ----

Rule Refuses(aclnnStatus code, const std::string& names, const Condition& wrong) {
  return [=, words = Words(names)](PlanCall& call) -> std::optional<Verdict> {
    if (!wrong(call)) return std::nullopt;
    return Verdict{code, OwnNames(call, words)};
  };
}
Rule SucceedsIf(const Condition& done) { return Refuses(0, "", done); }
Rule Sets(const std::function<void(PlanCall&)>& change) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    change(call);
    return std::nullopt;
  };
}
Rule Undetermined(const Condition& condition) { return Refuses(kUndetermined, "", condition); }
Rule Tiling(const std::string& names, const Condition& wrong) { return Refuses(561002, names, wrong); }

// ---- around checks ----

Rule When(const Condition& condition, const Rule& rule) {
  return
      [=](PlanCall& call) -> std::optional<Verdict> { return condition(call) ? rule(call) : std::nullopt; };
}
Rule Given(const std::string& name, const Rule& rule) {
  return When([=](const PlanCall& call) { return !call[name].null; }, rule);
}
Rule On(std::initializer_list<Product> products, const Rule& rule) {
  return When(
      [these = std::vector<Product>(products)](const PlanCall& call) {
        return std::find(these.begin(), these.end(), call.product) != these.end();
      },
      rule);
}
Rule WithCode(aclnnStatus code, const Rule& rule) {
  return [=](PlanCall& call) -> std::optional<Verdict> {
    std::optional<Verdict> verdict = rule(call);
    if (verdict && verdict->code != 0) verdict->code = code;
    return verdict;
  };
}
Rules operator+(Rules first, const Rules& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// ---- null arguments ----

Rule NoNulls(const std::string& names, aclnnStatus code) {
  return [=, words = Words(names)](PlanCall& call) -> std::optional<Verdict> {
    for (const std::string& word : words) {
      const PlanArgument& one = call[word];
      if (one.null) return Verdict{code, {one.name}};
      for (const PlanArgument& entry : one.entries) {
        if (entry.null) return Verdict{161001, {one.name}};
      }
    }
    return std::nullopt;
  };
}
Rule NotAllNull(const std::string& names) {
  return Refuses(161001, names, [words = Words(names)](const PlanCall& call) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) { return call[word].null; });
  });
}

// ---- dtypes ----

std::vector<std::string> NamesOf(const DtypeList& dtypes) {
  std::vector<std::string> names;
  for (const DtypeNumber dtype : dtypes) {
    if (dtype != kUndefinedDtype && DtypeName(dtype).starts_with("DT_")) names.push_back(DtypeName(dtype));
  }
  return names;
}
Rule DtypeIn(const std::string& names, const Listed& list) {
  return ForEach(
      kInvalid, names,
      [=](const PlanCall& call, const PlanArgument& one) -> Refusal {
        if (list.Has(call.product, one.dtype)) return std::nullopt;
        return NamesOf({one.dtype});
      },
      Wording::kOfWorded);
}
Rule SameDtype(const std::string& first, const std::string& others) {
  return ForEachBeside(first, others, [](const PlanArgument& beside, const PlanArgument& one) -> Refusal {
    if (one.dtype == beside.dtype) return std::nullopt;
    return NamesOf({one.dtype, beside.dtype});
  });
}
Rule Promotes(const std::string& names) {
  return [words = Words(names)](PlanCall& call) -> std::optional<Verdict> {
    std::vector<const PlanArgument*> given;
    for (const std::string& word : words) {
      const PlanArgument& one = call[word];
      if (one.null) continue;
      given.push_back(&one);
      // CANN's table is not symmetric: the first two in their order, then each before what is promoted.
      call.promoted = given.size() == 1   ? one.dtype
                      : given.size() == 2 ? PromoteDtypes(call.promoted, one.dtype)
                                          : PromoteDtypes(one.dtype, call.promoted);
      if (call.promoted != kUndefinedDtype) continue;
      Verdict verdict{kInvalid, {}, {"promoted"}};
      for (const PlanArgument* argument : given) {
        verdict.says.push_back(argument->name);
        for (const std::string& name : NamesOf({argument->dtype})) verdict.says.push_back(name);
      }
      return verdict;
    }
    return std::nullopt;
  };
}
Rule PromotesTo(const std::string& names, const std::function<DtypeNumber(PlanCall&)>& promote) {
  return Refuses(kInvalid, names, [=](PlanCall& call) {
    call.promoted = promote(call);
    return call.promoted == kUndefinedDtype;
  });
}
Rule PromotedIn(const std::string& names, const Listed& list) {
  return [=, words = Words(names)](PlanCall& call) -> std::optional<Verdict> {
    if (list.Has(call.product, call.promoted)) return std::nullopt;
    return Verdict{kInvalid, OwnNames(call, words), NamesOf({call.promoted})};
  };
}
Rule PromotedCastsTo(const std::string& name) {
  return ForEach(kInvalid, name, [](const PlanCall& call, const PlanArgument& one) -> Refusal {
    if (CanCastDtype(call.promoted, one.dtype)) return std::nullopt;
    return NamesOf({one.dtype, call.promoted});
  });
}
Rule CastsToPromoted(const std::string& names) {
  return ForEach(kInvalid, names, [](const PlanCall& call, const PlanArgument& one) -> Refusal {
    if (CanCastDtype(one.dtype, call.promoted)) return std::nullopt;
    return NamesOf({one.dtype, call.promoted});
  });
}
Rule CastsTo(const std::string& from, const std::string& into) {
  return ForEachBeside(from, into, [](const PlanArgument& beside, const PlanArgument& one) -> Refusal {
    if (CanCastDtype(beside.dtype, one.dtype)) return std::nullopt;
    return NamesOf({one.dtype});
  });
}
Rule Convertible(const std::string& names, const DtypeList& list) {
  return ForEach(kInnerNullptr, names, [=](const PlanCall&, const PlanArgument& one) -> Refusal {
    if (IsOneOf(one.dtype, list)) return std::nullopt;
    return NamesOf({one.dtype});
  });
}

// ---- attributes ----

Rule IntegerFrom(const std::string& name, int64_t least, int64_t most) {
  return ForEach(kInvalid, name, [=](const PlanCall&, const PlanArgument& one) -> Refusal {
    if (one.integer >= least && one.integer <= most) return std::nullopt;
    return std::vector<std::string>{std::to_string(one.integer), std::to_string(least), std::to_string(most)};
  });
}
Rule NotBelowZero(const std::string& name) {
  return ForEach(kInvalid, name, [=](const PlanCall&, const PlanArgument& one) -> Refusal {
    if (one.real >= 0) return std::nullopt;
    return Shown(one.real);
  });
}
std::vector<std::string> Shown(double value) {
  if (value == 0 || std::fabs(value) > 1000 || value * 2 != std::floor(value * 2)) return {};
  const auto twice = static_cast<int64_t>(value * 2);
  const std::string whole = (twice < 0 ? "-" : "") + std::to_string(std::abs(twice) / 2);
  return {twice % 2 == 0 ? whole : whole + ".5"};
}

// ---- shapes ----

Rule Ranks(const std::string& names, size_t least, size_t most) {
  return ForEach(
      kInvalid, names,
      [=](const PlanCall&, const PlanArgument& one) -> Refusal {
        const size_t rank = one.shape.size();
        if (rank >= least && rank <= most) return std::nullopt;
        return std::vector<std::string>{std::to_string(rank), std::to_string(rank < least ? least : most)};
      },
      Wording::kOfWorded);
}
Rule RanksUnlessDense(const std::string& names) {
  return When(
      [words = Words(names)](const PlanCall& call) {
        return !std::all_of(words.begin(), words.end(),
                            [&](const std::string& word) { return IsDense(call[word]); });
      },
      Ranks(names));
}
Rule Representable() {
  return [](PlanCall& call) -> std::optional<Verdict> {
    std::vector<std::string> far;
    for (const PlanArgument& one : call.arguments) {
      if (one.kind != ParameterKind::kTensor || one.null) continue;
      if (IsTooLarge(one.shape, one.dtype)) return Verdict{kInvalid, {}, {ToString(one.shape)}};
      // Inputs that are not dense must lie inside their storage anyway.
      if ((one.is_output || IsDense(one)) && IsFarApart(one)) far.push_back(one.name);
    }
    if (far.empty()) return std::nullopt;
    // Of several outputs, any one is named.
    return far.size() == 1 ? Verdict{kInvalid, {}, far} : Verdict{kInvalid, far};
  };
}
Rule Broadcasts(const std::string& names) {
  return [words = Words(names)](PlanCall& call) -> std::optional<Verdict> {
    call.result = {};
    std::vector<const PlanArgument*> given;
    for (const std::string& word : words) {
      const PlanArgument& one = call[word];
      if (one.null) continue;
      given.push_back(&one);
      std::optional<Shape> together = Broadcast(call.result, one.shape);
      if (!together) {
        Verdict verdict{kInvalid};
        for (const PlanArgument* argument : given)
          verdict.says.insert(verdict.says.end(), {argument->name, ToString(argument->shape)});
        return verdict;
      }
      call.result = std::move(*together);
    }
    if (IsTooLarge(call.result, ACL_FLOAT)) return Verdict{kInvalid};
    return std::nullopt;
  };
}
namespace {

Rule ShapeIs(const std::string& name, const std::function<Shape(const PlanCall&)>& shape, aclnnStatus code,
             Wording wording) {
  return ForEach(
      code, name,
      [=](const PlanCall& call, const PlanArgument& one) -> Refusal {
        const Shape expected = shape(call);
        if (one.shape == expected) return std::nullopt;
        return std::vector<std::string>{ToString(one.shape), ToString(expected)};
      },
      wording);
}

}  // namespace

Rule HasShape(const std::string& name, const std::function<Shape(const PlanCall&)>& shape, aclnnStatus code) {
  return ShapeIs(name, shape, code, Wording::kAlways);
}
Rule Expands(const std::string& name) {
  return HasShape(name, [=](const PlanCall& call) {
    const Shape& own = call[name].shape;
    return Broadcast(own, call.result) == call.result ? own : call.result;
  });
}
Rule ResultIs(const std::string& name, aclnnStatus code) {
  return ShapeIs(
      name, [](const PlanCall& call) { return call.result; }, code, Wording::kOfWorded);
}
Rule ResultIsOrOne(const std::string& name, aclnnStatus code) {
  return ShapeIs(
      name,
      [=](const PlanCall& call) {
        const Shape& own = call[name].shape;
        return NumElements(own) == 1 && NumElements(call.result) == 1 ? own : call.result;
      },
      code, Wording::kOfWorded);
}
Rule SameShape(const std::string& first, const std::string& others) {
  return ForEachBeside(first, others, [](const PlanArgument& beside, const PlanArgument& one) -> Refusal {
    if (one.shape == beside.shape) return std::nullopt;
    return std::vector<std::string>{ToString(one.shape), ToString(beside.shape)};
  });
}
Rule HasOneElement(const std::string& name, aclnnStatus code) {
  return ForEach(code, name, [](const PlanCall&, const PlanArgument& one) -> Refusal {
    if (std::all_of(one.shape.begin(), one.shape.end(), [](int64_t dim) { return dim == 1; }))
      return std::nullopt;
    return std::vector<std::string>{ToString(one.shape)};
  });
}
Rule DoneIfEmpty(const std::string& names) {
  return SucceedsIf([words = Words(names)](const PlanCall& call) {
    return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return !call[word].null && HasNoElements(call[word]);
    });
  });
}
std::optional<int64_t> CountedElements(const Shape& shape) {
  if (std::any_of(shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; })) return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  Int elements = 1;
  for (const int64_t dim : shape) {
    if ((elements *= dim) > std::numeric_limits<int64_t>::max()) return std::nullopt;
  }
  return static_cast<int64_t>(elements);
}
bool IsAnyEmpty(const PlanCall& call, const std::string& names) {
  const std::vector<std::string> words = Words(names);
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return HasNoElements(call[word]); });
}

// ---- memory and formats ----

bool IsDense(const PlanArgument& tensor) {
  // In a private format the elements lie otherwise than the strides say.
  if (!tensor.strides.are_given || HasNoElements(tensor) || IsPrivateFormat(tensor.format)) return true;
  const std::vector<int64_t> strides = tensor.strides.For(tensor.shape);
  int64_t dense = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && strides[i] != dense) return false;
    dense *= tensor.shape[i];
  }
  return true;
}
Rule Inside(const std::string& names) {
  return ForEach(kInnerNullptr, names, [](const PlanCall&, const PlanArgument& one) -> Refusal {
    if (IsDense(one)) return std::nullopt;
    Int room = 1;
    for (const int64_t dim : one.strides.storage ? *one.strides.storage : one.shape) room *= dim;
    const auto [low, high] = Reach(one);
    if (low >= 0 && high < room) return std::nullopt;
    return std::vector<std::string>{};
  });
}
Rule NoPrivateFormat(const std::string& names) {
  return ForEach(kInvalid, names, [](const PlanCall&, const PlanArgument& one) -> Refusal {
    if (!IsPrivateFormat(one.format)) return std::nullopt;
    return std::vector<std::string>{"format"};
  });
}
Rule SameFormat(const std::string& first, const std::string& others) {
  return ForEachBeside(first, others, [](const PlanArgument& beside, const PlanArgument& one) -> Refusal {
    if (one.format == beside.format) return std::nullopt;
    return std::vector<std::string>{"format"};
  });
}

}  // namespace portacl::testing
