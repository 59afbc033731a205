// Checks of phase 1 that operators share: see index_rules.h.
// SPDX-License-Identifier: Apache-2.0
#include "index_rules.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace portacl::testing {

std::vector<std::string> NamesOf(const DtypeList& dtypes) {
  std::vector<std::string> names;
  for (const DtypeNumber dtype : dtypes) {
    if (dtype != kUndefinedDtype && DtypeName(dtype).starts_with("DT_")) names.push_back(DtypeName(dtype));
  }
  return names;
}
namespace {

bool IsPrivateFormat(int32_t format) {
  constexpr int32_t kPrivate[] = {3, 4, 12, 29, 32, 33, 50, 51, 52, 53, 54};
  return std::find(std::begin(kPrivate), std::end(kPrivate), format) != std::end(kPrivate);
}

}  // namespace

bool IsDense(const IndexArgument& tensor) {
  const bool is_empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  // In a private format the elements lie otherwise than the strides say.
  if (!tensor.strides.are_given || is_empty || IsPrivateFormat(tensor.format)) return true;
  const std::vector<int64_t> strides = tensor.strides.For(tensor.shape);
  int64_t dense = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    if (tensor.shape[i] != 1 && strides[i] != dense) return false;
    dense *= tensor.shape[i];
  }
  return true;
}

namespace {

constexpr aclnnStatus kInvalid = 161002;
constexpr aclnnStatus kInnerNullptr = 561103;

// A rule for each of the names: nullopt if it passes, else what the message says beside the name.
using Refusal = std::optional<std::vector<std::string>>;
IndexRule ForEachOf(aclnnStatus code, const std::string& names,
                    const std::function<Refusal(const IndexCall&, const IndexArgument&)>& fault) {
  return [=, all = Words(names)](IndexCall& call) -> std::optional<Verdict> {
    for (const std::string& name : all) {
      if (Refusal says = fault(call, call[name])) {
        says->push_back(name);
        return Verdict{code, {}, *says};
      }
    }
    return std::nullopt;
  };
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
std::pair<Int, Int> Reach(const IndexArgument& tensor) {
  const std::vector<int64_t> strides = tensor.strides.For(tensor.shape);
  std::pair<Int, Int> reach(tensor.strides.offset, tensor.strides.offset);
  for (size_t i = 0; i < strides.size(); ++i) {
    const Int step = Int{strides[i]} * (tensor.shape[i] - 1);
    (step < 0 ? reach.first : reach.second) += step;
  }
  return reach;
}

// Tells whether elements of a view are 2^63 bytes and more from each other or from the storage's start.
bool IsFarApart(const IndexArgument& tensor) {
  const bool is_empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
  if (!tensor.strides.are_given || is_empty) return false;
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

IndexRule When(const Condition& condition, const IndexRule& rule) {
  return
      [=](IndexCall& call) -> std::optional<Verdict> { return condition(call) ? rule(call) : std::nullopt; };
}
IndexRule Given(const std::string& name, const IndexRule& rule) {
  return When([=](const IndexCall& call) { return !call[name].null; }, rule);
}
IndexRule On(std::initializer_list<Product> products, const IndexRule& rule) {
  return When(
      [these = std::vector<Product>(products)](const IndexCall& call) {
        return std::find(these.begin(), these.end(), call.product) != these.end();
      },
      rule);
}
IndexRule Tiling(const std::string& names, std::function<bool(IndexCall&)> wrong) {
  return Refuses(561002, names, std::move(wrong));
}
IndexRules operator+(IndexRules first, const IndexRules& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

IndexRule DtypeOf(const std::string& names, const Listed& list) {
  return ForEachOf(kInvalid, names, [=](const IndexCall& call, const IndexArgument& one) -> Refusal {
    if (list.Has(call.product, one.dtype)) return std::nullopt;
    return NamesOf({one.dtype});
  });
}
IndexRule SameDtypeAs(const std::string& first, const std::string& others) {
  return ForEachOf(kInvalid, others, [=](const IndexCall& call, const IndexArgument& one) -> Refusal {
    const DtypeNumber dtype = call[first].dtype;
    if (one.dtype == dtype) return std::nullopt;
    std::vector<std::string> says = NamesOf({one.dtype, dtype});
    says.push_back(first);
    return says;
  });
}
IndexRule Promote(const std::string& names) {
  return [all = Words(names)](IndexCall& call) -> std::optional<Verdict> {
    std::vector<std::string> says = {"promoted"};
    for (size_t i = 0; i < all.size(); ++i) {
      const DtypeNumber own = call[all[i]].dtype;
      for (const std::string& name : NamesOf({own})) says.push_back(name);
      says.push_back(all[i]);
      // CANN's table is not symmetric: the first two in their order, then each before what is promoted.
      call.promoted = i == 0   ? own
                      : i == 1 ? PromoteDtypes(call.promoted, own)
                               : PromoteDtypes(own, call.promoted);
      if (call.promoted == kUndefinedDtype) return Verdict{kInvalid, {}, says};
    }
    return std::nullopt;
  };
}
IndexRule PromotedIsIn(const Listed& list) {
  return [=](IndexCall& call) -> std::optional<Verdict> {
    if (list.Has(call.product, call.promoted)) return std::nullopt;
    return Verdict{kInvalid, {}, NamesOf({call.promoted})};
  };
}
IndexRule PromotedFits(const std::string& name) {
  return ForEachOf(kInvalid, name, [=](const IndexCall& call, const IndexArgument& one) -> Refusal {
    if (CanCastDtype(call.promoted, one.dtype)) return std::nullopt;
    return NamesOf({one.dtype, call.promoted});
  });
}
IndexRule Fits(const std::string& name, const std::string& into) {
  return ForEachOf(kInvalid, into, [=](const IndexCall& call, const IndexArgument& one) -> Refusal {
    if (CanCastDtype(call[name].dtype, one.dtype)) return std::nullopt;
    return NamesOf({one.dtype});
  });
}
IndexRule Convertible(const std::string& names, const DtypeList& list) {
  return ForEachOf(kInnerNullptr, names, [=](const IndexCall&, const IndexArgument& one) -> Refusal {
    if (IsOneOf(one.dtype, list)) return std::nullopt;
    return NamesOf({one.dtype});
  });
}

IndexRule IntegerFrom(const std::string& name, int64_t least, int64_t most) {
  return ForEachOf(kInvalid, name, [=](const IndexCall&, const IndexArgument& one) -> Refusal {
    if (one.integer >= least && one.integer <= most) return std::nullopt;
    return std::vector<std::string>{std::to_string(one.integer), std::to_string(least), std::to_string(most)};
  });
}
IndexRule NotBelowZero(const std::string& name) {
  return ForEachOf(kInvalid, name, [=](const IndexCall&, const IndexArgument& one) -> Refusal {
    if (one.real >= 0) return std::nullopt;
    return one.real == -1.5 ? std::vector<std::string>{"-1.5"} : std::vector<std::string>{};
  });
}

IndexRule AtMost8Dims(const std::string& names) {
  return ForEachOf(kInvalid, names, [](const IndexCall&, const IndexArgument& one) -> Refusal {
    if (one.shape.size() <= 8) return std::nullopt;
    return std::vector<std::string>{std::to_string(one.shape.size()), "8"};
  });
}
IndexRule Representable() {
  return [](IndexCall& call) -> std::optional<Verdict> {
    for (const IndexArgument& one : call.arguments) {
      if (one.kind != ParameterKind::kTensor) continue;
      if (IsTooLarge(one.shape, one.dtype)) return Verdict{kInvalid, {}, {ToString(one.shape)}};
      // Inputs that are not dense must lie inside their storage anyway.
      if ((one.is_output || IsDense(one)) && IsFarApart(one)) return Verdict{kInvalid, {}, {one.name}};
    }
    return std::nullopt;
  };
}
IndexRule BroadcastsTogether(const std::string& names) {
  return [all = Words(names)](IndexCall& call) -> std::optional<Verdict> {
    call.result = {};
    std::vector<std::string> says;
    for (const std::string& name : all) {
      const Shape& own = call[name].shape;
      says.insert(says.end(), {name, ToString(own)});
      const std::optional<Shape> together = Broadcast(call.result, own);
      if (!together) return Verdict{kInvalid, {}, says};
      call.result = *together;
    }
    if (IsTooLarge(call.result, ACL_FLOAT)) return Verdict{kInvalid};
    return std::nullopt;
  };
}
IndexRule Expands(const std::string& name) {
  return HasShape(name, [=](const IndexCall& call) {
    const Shape& own = call[name].shape;
    return Broadcast(own, call.result) == call.result ? own : call.result;
  });
}
IndexRule HasShape(const std::string& name, const std::function<Shape(const IndexCall&)>& shape,
                   aclnnStatus code) {
  return ForEachOf(code, name, [=](const IndexCall& call, const IndexArgument& one) -> Refusal {
    const Shape expected = shape(call);
    if (one.shape == expected) return std::nullopt;
    return std::vector<std::string>{ToString(one.shape), ToString(expected)};
  });
}
IndexRule HasOneElement(const std::string& name, aclnnStatus code) {
  return ForEachOf(code, name, [](const IndexCall&, const IndexArgument& one) -> Refusal {
    if (std::all_of(one.shape.begin(), one.shape.end(), [](int64_t dim) { return dim == 1; }))
      return std::nullopt;
    return std::vector<std::string>{ToString(one.shape)};
  });
}
IndexRule DoneIfEmpty(const std::string& names) {
  return SucceedsIf([=](IndexCall& call) { return IsAnyEmpty(call, names); });
}
bool IsAnyEmpty(const IndexCall& call, const std::string& names) {
  const std::vector<std::string> all = Words(names);
  return std::any_of(all.begin(), all.end(), [&](const std::string& name) {
    const Shape& shape = call[name].shape;
    return std::find(shape.begin(), shape.end(), 0) != shape.end();
  });
}

IndexRule Inside(const std::string& names) {
  return ForEachOf(kInnerNullptr, names, [](const IndexCall&, const IndexArgument& one) -> Refusal {
    if (IsDense(one)) return std::nullopt;
    Int room = 1;
    for (const int64_t dim : one.strides.storage ? *one.strides.storage : one.shape) room *= dim;
    const auto [low, high] = Reach(one);
    if (low >= 0 && high < room) return std::nullopt;
    return std::vector<std::string>{};
  });
}
IndexRule NoPrivateFormat(const std::string& names) {
  return ForEachOf(kInvalid, names, [](const IndexCall&, const IndexArgument& one) -> Refusal {
    if (!IsPrivateFormat(one.format)) return std::nullopt;
    return std::vector<std::string>{"format"};
  });
}

IndexRule OneFormat(const std::string& first, const std::string& second) {
  return Refuses(161002, first + " " + second,
                 [=](IndexCall& call) { return call[first].format != call[second].format; });
}

}  // namespace portacl::testing
