// What tests of operators over lists of tensors share: the rules of CANN's checks, lists to draw, numbers to fill in.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "support/map_values.h"
#include "support/operator_spec.h"

namespace portacl::testing {

// An operator over lists. Its arguments have one name each, in the order of the C signature; lists of inputs come first among the
// lists, and the last one is out.
struct ListSpec {
  CFunction function;
  std::string names;
  bool is_generated;  // what is wrong with lists has the code 561002
  DtypeList dtypes;
  DtypeList dtypes_on_950;
  std::function<double(const double* x, double number)> real;
  std::function<int64_t(const int64_t* x, int64_t number)> integer = {};
  DtypeList number_dtypes = {};     // of any list; else those that go with its dtype
  bool takes_float_on_950 = false;  // a FLOAT number with a FLOAT16 list
  bool takes_wide_numbers = false;  // of a tensor: DOUBLE, or INT64
  bool has_range = false;           // a number of another dtype is finite in the list's
  bool integers_as_float = false;   // these are computed in float32 and cut
  bool is_mode = false;             // the number is an INT8
  bool powers = false;              // exponents of integers are not negative
};

inline bool IsFloatDtype(DtypeNumber dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}
inline bool Has(const DtypeList& list, DtypeNumber dtype) {
  return std::find(list.begin(), list.end(), dtype) != list.end();
}
inline bool IsNewProduct(Product product) {
  return product == Product::kA2 || product == Product::kA3 || product == Product::k950;
}

// Names of a call's lists, inputs first.
inline std::vector<std::string> ListsOf(const PlanCall& call) {
  std::vector<std::string> names;
  for (const PlanArgument& one : call.arguments) {
    if (one.kind == ParameterKind::kList) names.push_back(one.name);
  }
  return names;
}
inline const PlanArgument* NumberOfCall(const PlanCall& call) {
  for (const PlanArgument& one : call.arguments) {
    if (one.kind != ParameterKind::kList) return &one;
  }
  return nullptr;
}

// ---- rules ----

inline bool AnyArgumentNull(const PlanCall& call, bool with_entries) {
  for (const PlanArgument& one : call.arguments) {
    if (one.null) return true;
    for (const PlanArgument& entry : one.scalars) {
      if (entry.null) return true;
    }
    for (const PlanArgument& entry : one.entries) {
      if (with_entries && entry.null) return true;
    }
  }
  return false;
}
inline bool AnyEntryNull(const PlanCall& call) {
  for (const PlanArgument& one : call.arguments) {
    for (const PlanArgument& entry : one.entries) {
      if (entry.null) return true;
    }
  }
  return false;
}
inline bool FirstDtypesWrong(const PlanCall& call, const DtypeList& dtypes) {
  if (!IsNewProduct(call.product)) return true;
  const auto lists = ListsOf(call);
  const auto& first = call[lists[0]].entries;
  if (first.empty()) return false;
  if (!Has(dtypes, first[0].dtype)) return true;
  return std::any_of(lists.begin(), lists.end(), [&](const std::string& name) {
    const auto& entries = call[name].entries;
    return !entries.empty() && entries[0].dtype != first[0].dtype;
  });
}
inline bool StructureWrong(const PlanCall& call) {
  const auto lists = ListsOf(call);
  const auto& first = call[lists[0]].entries;
  for (const std::string& name : lists) {
    const auto& entries = call[name].entries;
    if (entries.size() != first.size()) return true;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].dtype != entries[0].dtype || entries[i].shape.size() > 8 ||
          entries[i].format == ACL_FORMAT_FRACTAL_NZ || entries[i].shape != first[i].shape)
        return true;
    }
  }
  return false;
}
inline bool NumberDtypeWrong(const ListSpec& spec, const PlanCall& call) {
  const PlanArgument* const number = NumberOfCall(call);
  const auto& first = call[ListsOf(call)[0]].entries;
  if (number == nullptr || first.empty()) return false;
  const DtypeNumber dtype = first[0].dtype;
  const bool is_float = IsFloatDtype(dtype);
  const bool takes_float = spec.takes_float_on_950 && call.product == Product::k950;
  DtypeList accepted = spec.number_dtypes;
  if (accepted.empty() && number->kind == ParameterKind::kScalarList) {
    accepted = is_float ? DtypeList{ACL_FLOAT, ACL_DOUBLE} : DtypeList{ACL_INT64};
  } else if (accepted.empty() && number->kind == ParameterKind::kScalar) {
    accepted = !is_float              ? DtypeList{ACL_INT32, ACL_INT64}
               : dtype == ACL_FLOAT16 ? DtypeList{ACL_FLOAT16, ACL_DOUBLE}
                                      : DtypeList{ACL_FLOAT, ACL_DOUBLE};
    if (takes_float && dtype == ACL_FLOAT16) accepted.push_back(ACL_FLOAT);
  } else if (accepted.empty() && number->name == "scalars") {
    accepted = {dtype};
  } else if (accepted.empty()) {
    accepted = {!is_float ? ACL_INT32 : dtype == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT};
    if (takes_float && dtype == ACL_FLOAT16) accepted.push_back(ACL_FLOAT);
    if (spec.takes_wide_numbers) accepted.push_back(is_float ? ACL_DOUBLE : ACL_INT64);
  }
  if (number->kind != ParameterKind::kScalarList) return !Has(accepted, number->dtype);
  return std::any_of(number->scalars.begin(), number->scalars.end(),
                     [&](const PlanArgument& one) { return !Has(accepted, one.dtype); });
}
inline bool NumberCountWrong(const PlanCall& call) {
  const PlanArgument* const number = NumberOfCall(call);
  if (number == nullptr) return false;
  const size_t count = call[ListsOf(call)[0]].entries.size();
  if (number->kind == ParameterKind::kScalarList) return number->scalars.size() != count;
  if (number->kind != ParameterKind::kTensor) return false;
  if (number->name == "scalars")
    return number->shape.size() > 8 || NumElements(number->shape) != static_cast<int64_t>(count);
  return NumElements(number->shape) != 1;
}
inline bool OutOfRange(const PlanCall& call) {
  const auto& first = call[ListsOf(call)[0]].entries;
  const PlanArgument* const number = NumberOfCall(call);
  if (first.empty() || number->dtype == first[0].dtype) return false;
  const long double value = number->number.real;
  const DtypeNumber dtype = first[0].dtype;
  if (dtype == ACL_INT32) return value < -2147483648.0L || value > 2147483647.0L;
  const long double most = dtype == ACL_FLOAT16 ? 65504.0L
                           : dtype == ACL_BF16  ? 0x1.fep127L
                                                : 0x1.fffffep127L;
  return std::fabs(value) > most;
}

inline Rules RulesOf(const ListSpec& spec) {
  const std::string& names = spec.names;
  const auto dtypes = [spec](const PlanCall& call) {
    return call.product == Product::k950 ? spec.dtypes_on_950 : spec.dtypes;
  };
  const auto is_done = [](const PlanCall& call) {
    const auto& first = call[ListsOf(call)[0]].entries;
    return std::all_of(first.begin(), first.end(),
                       [](const PlanArgument& one) { return NumElements(one.shape) == 0; });
  };
  Rules rules;
  if (spec.is_generated) {
    rules = {Refuses(161001, names, [=](PlanCall& call) { return AnyArgumentNull(call, true); }),
             Refuses(161002, names,
                     [=](PlanCall& call) {
                       return FirstDtypesWrong(call, dtypes(call)) || NumberDtypeWrong(spec, call);
                     }),
             Refuses(561002, names,
                     [=](PlanCall& call) { return StructureWrong(call) || NumberCountWrong(call); })};
  } else {
    rules = {Refuses(161001, names, [=](PlanCall& call) { return AnyArgumentNull(call, false); }),
             Refuses(161002, names, [=](PlanCall& call) {
               return AnyEntryNull(call) || FirstDtypesWrong(call, dtypes(call)) ||
                      NumberDtypeWrong(spec, call) || StructureWrong(call) || NumberCountWrong(call);
             })};
  }
  if (spec.has_range)
    rules.push_back(Refuses(161002, names, [](PlanCall& call) { return OutOfRange(call); }));
  rules.push_back(SucceedsIf(is_done));
  return rules;
}

// ---- calls ----

inline std::vector<Shape> DrawShapes(RandomNumbers& random) {
  std::vector<Shape> shapes;
  const int64_t count = random.Chance(10) ? 40 : random.Between(1, 6);
  for (int64_t i = 0; i < count; ++i) {
    shapes.push_back(random.Chance(10) ? DrawShape(random, 5, 8, 2) : DrawShape(random, 0, 4));
    if (random.Chance(6) && !shapes.back().empty()) shapes.back()[0] = 0;
  }
  if (random.Chance(2)) shapes.push_back({20000});
  return shapes;
}

inline void DrawNumber(const ListSpec& spec, DtypeNumber dtype, PlanArgument& number, RandomNumbers& random) {
  const bool is_float = IsFloatDtype(dtype);
  const double reals[] = {0.1, -1.5, 2, 0.5, -0.5, 3, 1, 0.75, -1, 0};
  const int64_t integers[] = {-3, -1, 0, 1, 2, 3, 5};
  long double value = is_float ? static_cast<long double>(reals[random.Below(10)])
                               : static_cast<long double>(integers[random.Below(7)]);
  if (spec.powers && !is_float) value = std::fabs(value);
  const bool is_wide = random.Chance(50);
  if (number.kind == ParameterKind::kScalarList) {
    number.dtype = is_float ? (is_wide ? ACL_DOUBLE : ACL_FLOAT) : ACL_INT64;
  } else if (number.kind == ParameterKind::kTensor) {
    number.dtype = !is_float ? ACL_INT32 : dtype == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT;
    if (spec.takes_wide_numbers && is_wide) number.dtype = is_float ? ACL_DOUBLE : ACL_INT64;
    if (number.name == "scalars") number.dtype = dtype;
  } else {
    number.dtype = !is_float ? (is_wide ? ACL_INT64 : ACL_INT32)
                   : is_wide ? ACL_DOUBLE
                             : (dtype == ACL_FLOAT16 ? ACL_FLOAT16 : ACL_FLOAT);
  }
  if (!spec.number_dtypes.empty()) number.dtype = DrawDtype(random, spec.number_dtypes);
  if (!is_float || number.dtype == ACL_INT64 || number.dtype == ACL_INT8) value = std::trunc(value);
  if (spec.is_mode) {
    const int64_t modes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, -1, number.dtype == ACL_INT64 ? 258 : 2};
    value = static_cast<long double>(modes[random.Below(11)]);
  }
  if (spec.has_range && random.Chance(10)) {
    if (is_float) value = random.Chance(50) ? std::numeric_limits<long double>::infinity() : 1e39L;
    if (number.dtype == ACL_INT64) value = 3e9L;
  }
  number.number = {value, 0};
}

// A shape of so many elements: one dim, or a few, most of them 1.
inline Shape ScalarsShape(int64_t count, RandomNumbers& random) {
  Shape shape;
  for (int64_t factor = 2; factor * factor <= count && shape.size() < 3; ++factor) {
    if (count % factor != 0 || random.Chance(50)) continue;
    shape.push_back(factor);
    count /= factor;
  }
  if (count != 1 || !shape.empty() || random.Chance(70)) shape.push_back(count);
  while (shape.size() < 8 && random.Chance(30))
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(random.Below(std::ssize(shape) + 1)), 1);
  return shape;
}

inline void DrawLists(const ListSpec& spec, PlanCall& call, RandomNumbers& random) {
  const std::vector<Shape> shapes = DrawShapes(random);
  const DtypeNumber dtype = DrawDtype(random, spec.dtypes);
  for (PlanArgument& one : call.arguments) {
    switch (one.kind) {
      case ParameterKind::kList: {
        const bool is_output = one.is_output;
        one = ListArg(one.name, shapes, is_output, dtype);
        break;
      }
      case ParameterKind::kScalarList:
        one.scalars.resize(shapes.size());
        for (PlanArgument& scalar : one.scalars) {
          scalar.kind = ParameterKind::kScalarList;
          DrawNumber(spec, dtype, scalar, random);
        }
        break;
      case ParameterKind::kTensor:
        DrawNumber(spec, dtype, one, random);
        one.shape = one.name == "scalars" ? ScalarsShape(static_cast<int64_t>(shapes.size()), random)
                    : random.Chance(50)   ? Shape{1}
                                          : Shape{};
        break;
      default:
        DrawNumber(spec, dtype, one, random);
    }
  }
}

// Numbers of about -3 to 3, of integers any; now and then one that is not finite.
inline void FillLists(const ListSpec& spec, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const bool special = random.Below(4) == 0;
  for (HostTensor& tensor : tensors) {
    for (int64_t k = 0; k < tensor.size(); ++k) {
      if (!IsFloatDtype(tensor.dtype()) && tensor.dtype() != ACL_DOUBLE) {
        const int64_t value = spec.powers              ? random.Between(0, 7)
                              : spec.integers_as_float ? random.Between(0, 4)
                                                       : random.Between(-300, 300);
        std::memcpy(tensor.Element(k), &value, static_cast<size_t>(ElementSize(tensor.dtype())));
        continue;
      }
      double value = static_cast<double>(random.Between(-3000, 3000)) / 1000;
      if (spec.is_mode && random.Chance(50)) value = static_cast<double>(random.Between(-20, 20)) / 2;
      if (special && random.Below(20) == 0) {
        const double values[] = {std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0};
        value = values[random.Below(5)];
      }
      const Element element = ElementOfNumber(tensor.dtype(), {static_cast<long double>(value), 0});
      std::copy(element.begin(), element.end(), tensor.Element(k));
    }
  }
}

// ---- the oracle: every element by itself, in float64 or int64 ----

inline double RealAt(const TensorValues& tensor, int64_t k) {
  return static_cast<double>(NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(k)].data()).real);
}

// The number as it goes into the formula: of a FLOAT16 list an aclScalar is rounded to that.
inline double RealNumber(const PlanArgument& number, DtypeNumber list) {
  DtypeNumber cast = ACL_FLOAT;
  if (number.kind == ParameterKind::kScalar && list == ACL_FLOAT16) cast = ACL_FLOAT16;
  const Element element = ElementOfNumber(cast, number.number);
  return static_cast<double>(NumberOf(cast, element.data()).real);
}

inline std::vector<Outcome> ListOutcomes(const ListSpec& spec, const PlanCall& call,
                                         const std::vector<TensorValues>& tensors) {
  const auto lists = ListsOf(call);
  const size_t count = call[lists[0]].entries.size();
  const size_t inputs = lists.size() - 1;
  const PlanArgument* const number = NumberOfCall(call);
  // Where each list's entries are among the tensors.
  std::vector<size_t> starts;
  size_t number_at = 0;
  size_t at = 0;
  for (const PlanArgument& one : call.arguments) {
    if (one.kind == ParameterKind::kList) starts.push_back(at);
    if (one.kind == ParameterKind::kTensor) number_at = at;
    at += one.kind == ParameterKind::kList ? count : one.kind == ParameterKind::kTensor ? 1 : 0;
  }
  std::vector<Outcome> outcomes;
  for (size_t i = 0; i < count; ++i) {
    const TensorValues& out = tensors[starts.back() + i];
    const DtypeNumber dtype = out.dtype;
    double real_number = 0;
    int64_t integer_number = 0;
    if (number != nullptr && number->kind == ParameterKind::kTensor) {
      const int64_t element = number->name == "scalars" ? static_cast<int64_t>(i) : 0;
      real_number = RealAt(tensors[number_at], element);
      integer_number = IsFloatDtype(dtype) && !spec.is_mode ? 0 : tensors[number_at].Integer(element);
    } else if (number != nullptr) {
      const PlanArgument& one = number->kind == ParameterKind::kScalarList ? number->scalars[i] : *number;
      real_number = spec.number_dtypes.empty() ? RealNumber(one, dtype)
                                               : static_cast<double>(static_cast<float>(one.number.real));
      integer_number = static_cast<int64_t>(one.number.real);
    }
    Outcome outcome;
    for (int64_t k = 0; k < std::ssize(out.elements); ++k) {
      double x[3] = {};
      int64_t n[3] = {};
      for (size_t list = 0; list < inputs; ++list) {
        const TensorValues& input = tensors[starts[list] + i];
        x[list] = RealAt(input, k);
        if (!IsFloatDtype(dtype)) n[list] = input.Integer(k);
      }
      if (IsFloatDtype(dtype)) {
        outcome.push_back(ElementOfNumber(dtype, {static_cast<long double>(spec.real(x, real_number)), 0}));
        continue;
      }
      const int64_t result = spec.integers_as_float
                                 ? static_cast<int64_t>(std::trunc(std::clamp(spec.real(x, 0), -1e18, 1e18)))
                                 : spec.integer(n, integer_number);
      Element element(static_cast<size_t>(ElementSize(dtype)));
      std::memcpy(element.data(), &result, element.size());
      outcome.push_back(element);
    }
    outcomes.push_back(outcome);
  }
  return outcomes;
}

inline OperatorSpec OperatorOf(const ListSpec& spec) {
  OperatorSpec op;
  op.function = spec.function;
  const std::vector<std::string> names = Words(spec.names);
  const std::vector<Shape> shapes = {{2, 3}, {4}};
  for (size_t i = 0; i < names.size(); ++i) {
    switch (spec.function.parameters[i]) {
      case ParameterKind::kList:
        op.valid.push_back(ListArg(names[i], shapes, i + 1 == names.size()));
        break;
      case ParameterKind::kScalarList:
        op.valid.push_back(ScalarsArg(names[i], {{0.5L, 0}, {2, 0}}));
        break;
      case ParameterKind::kTensor:
        op.valid.push_back(TensorArg(names[i], names[i] == "scalars" ? Shape{2} : Shape{1}));
        break;
      default:
        op.valid.push_back(ScalarArg(names[i], {0.5L, 0}));
    }
    if (!spec.number_dtypes.empty() && op.valid.back().kind != ParameterKind::kList)
      op.valid.back().dtype = spec.number_dtypes[0];
  }
  op.rules = RulesOf(spec);
  op.draw = [spec](PlanCall& call, RandomNumbers& random) { DrawLists(spec, call, random); };
  op.fill = [spec](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillLists(spec, tensors, random);
  };
  op.oracle = [spec](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    return ListOutcomes(spec, call, tensors);
  };
  op.tolerance = 2e-6;
  op.is_inexact = true;
  return op;
}

}  // namespace portacl::testing
