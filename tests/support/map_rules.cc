// The checks of phase 1: see map_rules.h.
// SPDX-License-Identifier: Apache-2.0
#include "map_rules.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "map_values.h"

namespace portacl::testing {

MapCall::MapCall(const MapOperator& described, Product on) : op(&described), product(on) {
  size_t scalars = 0;
  size_t integers = 0;
  for (const ParameterKind kind : op->function.parameters) {
    Operand operand;
    operand.dtype = op->dtype;
    const bool is_attribute =
        kind == ParameterKind::kInteger || kind == ParameterKind::kReal || kind == ParameterKind::kText;
    if (is_attribute && !op->integers.empty())
      operand.value = op->integers[integers++ % op->integers.size()];
    else if (kind != ParameterKind::kTensor)
      operand.value = op->values[scalars++ % op->values.size()];
    operands.push_back(operand);
  }
  for (const auto& [name, dtype] : op->dtypes) (*this)[name].dtype = dtype;
  for (const auto& [name, shape] : op->shapes) (*this)[name].shape = shape;
}

size_t MapCall::Index(const std::string& name) const {
  const auto found = std::find(op->names.begin(), op->names.end(), name);
  if (found != op->names.end()) return static_cast<size_t>(found - op->names.begin());
  return name == "out" || name == "selfRef" ? op->Output() : 0;
}

Operand& MapCall::operator[](const std::string& name) { return operands[Index(name)]; }
const std::string& MapCall::Name(const std::string& name) const { return op->names[Index(name)]; }
bool MapCall::Is(std::initializer_list<Product> products) const {
  return std::find(products.begin(), products.end(), product) != products.end();
}

size_t MapOperator::Output() const {
  return static_cast<size_t>(std::find(names.begin(), names.end(), output) - names.begin());
}

bool MapOperator::Ignores(size_t parameter) const {
  return std::find(ignored.begin(), ignored.end(), names[parameter]) != ignored.end();
}

bool MapOperator::IsInput(size_t parameter) const {
  return (in_place || parameter != Output()) && !Ignores(parameter);
}

Verdict Expected(MapCall& call) {
  call.promoted = kUndefinedDtype;
  call.broadcast = {};
  for (const Rule& rule : call.op->rules) {
    if (const std::optional<Verdict> verdict = rule(call)) return *verdict;
  }
  // Refuses dtypes that pass the checks but have no conversion.
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const bool is_tensor = call.op->function.parameters[i] == ParameterKind::kTensor && !call.op->Ignores(i);
    if (is_tensor && !call.operands[i].null && ElementSize(call.operands[i].dtype) == 0)
      return {561103, {call.op->names[i]}};
    if (is_tensor && !call.operands[i].null && call.operands[i].dtype == ACL_COMPLEX32)
      return {561103, {call.op->names[i]}};
  }
  return {};
}

DtypeNumber CastOf(const MapCall& call, size_t operand) {
  for (const auto& [name, dtype] : call.op->casts) {
    if (call.Index(name) == operand) return dtype;
  }
  return call.promoted;
}

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool IsOneOf(DtypeNumber dtype, const DtypeList& dtypes) {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

bool IsIntegral(DtypeNumber dtype) { return IsIntegerDtype(dtype) || dtype == ACL_BOOL; }

bool Listed::Has(Product product, DtypeNumber dtype) const {
  const bool is_950 = product == Product::k950;
  const bool is_new = is_950 || product == Product::kA2 || product == Product::kA3;
  return IsOneOf(dtype, everywhere) || (is_new && IsOneOf(dtype, on_new)) ||
         (is_950 && IsOneOf(dtype, on_950)) || (!is_950 && IsOneOf(dtype, before_950)) ||
         (product == Product::k910 && IsOneOf(dtype, on_910)) ||
         ((product == Product::k310B || product == Product::k310P) && IsOneOf(dtype, on_310)) ||
         (product == Product::k310B && IsOneOf(dtype, on_310b));
}

Listed operator+(Listed list, const DtypeList& more) {
  list.everywhere.insert(list.everywhere.end(), more.begin(), more.end());
  return list;
}

Listed operator-(Listed list, const DtypeList& less) {
  for (DtypeList* dtypes : {&list.everywhere, &list.on_new, &list.on_950, &list.on_910, &list.before_950,
                            &list.on_310, &list.on_310b})
    std::erase_if(*dtypes, [&](DtypeNumber dtype) { return IsOneOf(dtype, less); });
  return list;
}

Rules operator+(Rules first, const Rules& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Rule Says(aclnnStatus code, const std::string& names, std::function<bool(MapCall&)> wrong) {
  return [=, words = Words(names)](MapCall& call) -> std::optional<Verdict> {
    if (!wrong(call)) return std::nullopt;
    Verdict verdict{code, {}};
    for (const std::string& word : words) verdict.names.push_back(call.Name(word));
    return verdict;
  };
}

Rule Undetermined(std::function<bool(MapCall&)> condition) {
  return [=](MapCall& call) -> std::optional<Verdict> {
    return condition(call) ? std::optional<Verdict>({kUndetermined, {}}) : std::nullopt;
  };
}

Rule Sets(std::function<void(MapCall&)> change) {
  return [=](MapCall& call) -> std::optional<Verdict> {
    change(call);
    return std::nullopt;
  };
}

namespace {

// Checks each given operand. The first one that fails is named.
Rule Each(const std::string& names, std::function<bool(MapCall&, const Operand&)> wrong) {
  return [=, words = Words(names)](MapCall& call) -> std::optional<Verdict> {
    for (const std::string& word : words) {
      const Operand& operand = call[word];
      if (!operand.null && wrong(call, operand)) return Verdict{161002, {call.Name(word)}};
    }
    return std::nullopt;
  };
}

bool IsPrivate(int32_t format) {
  return !IsOneOf(format, {ACL_FORMAT_ND, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_HWCN, ACL_FORMAT_NDHWC,
                           ACL_FORMAT_NCDHW, ACL_FORMAT_NC, ACL_FORMAT_NCL});
}

}  // namespace

Rule Nulls(const std::string& names, aclnnStatus code) {
  return [=, words = Words(names)](MapCall& call) -> std::optional<Verdict> {
    for (const std::string& word : words) {
      if (call[word].null) return Verdict{code, {call.Name(word)}};
    }
    return std::nullopt;
  };
}

Rule NotAllNull(const std::string& names) {
  return Says(161001, names, [words = Words(names)](MapCall& call) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) { return call[word].null; });
  });
}

Rule In(const std::string& names, const Listed& list) {
  return Each(names,
              [=](MapCall& call, const Operand& operand) { return !list.Has(call.product, operand.dtype); });
}

Rule PromotedIn(const std::string& names, const Listed& list) {
  return Says(161002, names, [=](MapCall& call) { return !list.Has(call.product, call.promoted); });
}

Rule PromotesTo(const std::string& names, std::function<DtypeNumber(MapCall&)> rule) {
  return Says(161002, names, [=](MapCall& call) {
    call.promoted = rule(call);
    return call.promoted == kUndefinedDtype;
  });
}

Rule Promotes(const std::string& names) {
  return PromotesTo(names, [words = Words(names)](MapCall& call) {
    DtypeNumber promoted = -2;
    for (const std::string& word : words) {
      if (call[word].null) continue;
      promoted = promoted == -2 ? call[word].dtype : PromoteDtypes(promoted, call[word].dtype);
    }
    return promoted;
  });
}

Rule CastsTo(const std::string& name) {
  return Says(161002, name, [=](MapCall& call) { return !CanCastDtype(call.promoted, call[name].dtype); });
}

Rule CastsFrom(const std::string& from, const std::string& to) {
  return Says(161002, from + " " + to,
              [=](MapCall& call) { return !CanCastDtype(call[from].dtype, call[to].dtype); });
}

Rule CastsToPromoted(const std::string& names) {
  return Each(names, [](MapCall& call, const Operand& operand) {
    return !CanCastDtype(operand.dtype, call.promoted);
  });
}

Rule SameDtypes(const std::string& first, const std::string& second) {
  return Says(161002, first + " " + second,
              [=](MapCall& call) { return call[first].dtype != call[second].dtype; });
}

Rule AlphaFits(bool bool_case) {
  return Says(161002, "alpha", [=](MapCall& call) {
    const DtypeNumber alpha = call["alpha"].dtype;
    if (bool_case && call.promoted == ACL_BOOL) return !IsIntegral(alpha);
    return !CanCastDtype(alpha, call.promoted);
  });
}

Rule Ranks(const std::string& names, size_t most, size_t least) {
  return Each(names, [=](MapCall&, const Operand& operand) {
    return operand.shape.size() > most || operand.shape.size() < least;
  });
}

Rule RanksUnlessContiguous(const std::string& names, const std::string& all) {
  return When(
      [words = Words(all)](MapCall& call) {
        return !std::all_of(words.begin(), words.end(),
                            [&](const std::string& w) { return call[w].contiguous; });
      },
      Ranks(names));
}

Rule Broadcasts(const std::string& names) {
  return Says(161002, names, [words = Words(names)](MapCall& call) {
    std::vector<Shape> shapes;
    for (const std::string& word : words) {
      if (!call[word].null) shapes.push_back(call[word].shape);
    }
    const std::optional<Shape> shape = Broadcast(shapes);
    if (shape) call.broadcast = *shape;
    return !shape.has_value();
  });
}

Rule BroadcastIs(const std::string& name) {
  return Says(161002, name, [=](MapCall& call) { return call[name].shape != call.broadcast; });
}

Rule SameShapes(const std::string& first, const std::string& second) {
  return Says(161002, first + " " + second, [=](MapCall& call) {
    call.broadcast = call[first].shape;
    return call[first].shape != call[second].shape;
  });
}

Rule Empty(const std::string& names) {
  return [words = Words(names)](MapCall& call) -> std::optional<Verdict> {
    for (const std::string& word : words) {
      if (!call[word].null && NumElements(call[word].shape) == 0) return Verdict{};
    }
    return std::nullopt;
  };
}

Rule NotPrivate(const std::string& names) {
  return Each(names, [](MapCall&, const Operand& operand) { return IsPrivate(operand.format); });
}

Rule SameFormats(const std::string& names) {
  return Says(161002, names, [words = Words(names)](MapCall& call) {
    return !std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return call[word].format == call[words.front()].format;
    });
  });
}

Rule On(std::initializer_list<Product> products, const Rule& rule) {
  return [=, on = std::vector<Product>(products)](MapCall& call) -> std::optional<Verdict> {
    if (std::find(on.begin(), on.end(), call.product) == on.end()) return std::nullopt;
    return rule(call);
  };
}

Rule When(std::function<bool(MapCall&)> condition, const Rule& rule) {
  return [=](MapCall& call) -> std::optional<Verdict> { return condition(call) ? rule(call) : std::nullopt; };
}

Rule WithCode(aclnnStatus code, const Rule& rule) {
  return [=](MapCall& call) -> std::optional<Verdict> {
    std::optional<Verdict> verdict = rule(call);
    if (verdict && verdict->code != 0) verdict->code = code;
    return verdict;
  };
}

Rules InPlaceFirst(const std::string& names) {
  return {Nulls(names), Broadcasts(names), BroadcastIs("selfRef")};
}

MapOperator Describe(const CFunction& function, const std::string& names, const Rules& rules,
                     const Oracle& oracle) {
  MapOperator op;
  op.function = function;
  op.names = Words(names);
  op.rules = rules;
  op.oracle = oracle;
  const auto output = std::find_if(op.names.begin(), op.names.end(),
                                   [](const std::string& name) { return name == "out" || name == "result"; });
  if (output != op.names.end()) op.output = *output;
  return op;
}

MapOperator InPlace(const CFunction& function, const MapOperator& base, const std::string& names,
                    const Rules& first) {
  MapOperator op = base;
  op.function = function;
  op.names = Words(names);
  op.rules = first + base.rules;
  op.output = op.names.front();
  op.in_place = true;
  return op;
}

// ---- scalars ----

DtypeNumber Stt(DtypeNumber tensor, DtypeNumber scalar) { return PromoteDtypes(tensor, scalar); }

DtypeNumber WithScalarBefore950(DtypeNumber tensor, DtypeNumber scalar, DtypeNumber out) {
  if (IsComplexDtype(tensor) || IsComplexDtype(scalar)) return Stt(tensor, scalar);
  if (IsFloatingDtype(tensor)) return tensor;
  if (scalar == ACL_DOUBLE && out == ACL_FLOAT) return ACL_FLOAT;
  if (IsFloatingDtype(scalar) || tensor == ACL_BOOL) return Stt(tensor, scalar);
  return tensor;
}

DtypeNumber WithScalarOn950(DtypeNumber tensor, DtypeNumber scalar, bool keeps_double) {
  if (IsFloatingDtype(scalar) && !(keeps_double && scalar == ACL_DOUBLE)) scalar = ACL_FLOAT;
  if (IsComplexDtype(scalar)) scalar = ACL_COMPLEX64;
  if (IsComplexDtype(tensor)) return tensor;
  if (IsComplexDtype(scalar)) return tensor == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
  if (IsFloatingDtype(tensor)) return tensor;
  if (tensor == ACL_BOOL || IsFloatingDtype(scalar)) return PromoteDtypes(tensor, scalar);
  return tensor;
}

DtypeNumber ExactRule950(MapCall& call, const std::string& tensor, const std::string& scalars) {
  const std::vector<std::string> words = Words(scalars);
  const DtypeNumber promoted = WithScalarOn950(call[tensor].dtype, call[words.front()].dtype);
  if (promoted != ACL_FLOAT16 && promoted != ACL_BF16) return promoted;
  for (const std::string& word : words) {
    const long double value = ScalarIn(call[word], ACL_FLOAT).real;
    if (std::fabs(ScalarIn(call[word], promoted).real - value) > 0x1p-23L) return ACL_FLOAT;
  }
  return promoted;
}

DtypeNumber Combine(DtypeNumber high, DtypeNumber low) {
  if (IsComplexDtype(high)) return high;
  if (IsComplexDtype(low)) {
    if (!IsFloatingDtype(high)) return low;
    return high == ACL_FLOAT16 ? ACL_COMPLEX32 : high == ACL_DOUBLE ? ACL_COMPLEX128 : ACL_COMPLEX64;
  }
  if (IsFloatingDtype(high)) return high;
  return high == ACL_BOOL || IsFloatingDtype(low) ? PromoteDtypes(high, low) : high;
}

DtypeNumber Def(DtypeNumber scalar) {
  return IsComplexDtype(scalar) ? ACL_COMPLEX64 : IsFloatingDtype(scalar) ? ACL_FLOAT : scalar;
}

DtypeNumber PromoteByRank(MapCall& call, const std::string& first, const std::string& second) {
  const Operand& a = call[first];
  const Operand& b = call[second];
  if (call.product == Product::k950 && a.shape.empty() != b.shape.empty())
    return a.shape.empty() ? Combine(b.dtype, a.dtype) : Combine(a.dtype, b.dtype);
  return PromoteDtypes(a.dtype, b.dtype);
}

Number ScalarIn(const Operand& scalar, DtypeNumber dtype) {
  const Element own = ElementOfNumber(scalar.dtype, scalar.value);
  const Number value = NumberOf(scalar.dtype, own.data());
  if (IsComplexDtype(scalar.dtype) && !IsComplexDtype(dtype)) return {0, 0};
  if (dtype == ACL_BOOL && IsFloatingDtype(scalar.dtype)) {
    const long double epsilon = scalar.dtype == ACL_DOUBLE ? 0x1p-52L : 0x1p-23L;
    return {!(std::fabs(value.real) < epsilon) ? 1.0L : 0.0L, 0};
  }
  const Element converted = ConvertedElement(scalar.dtype, own, dtype);
  return NumberOf(dtype, converted.data());
}

}  // namespace portacl::testing
