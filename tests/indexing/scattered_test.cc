// Operators that repeat, fill, scatter and mark what indices, counts and masks name: their checks, every element against loops over
// logical indices, and what leads nowhere.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/indexing.h"
#include "aclnnop/families/shape.h"
#include "index_calls.h"

namespace portacl::testing {
namespace {

// ---- RepeatInterleave with a tensor of counts ----

// What the counts of a tensor of them are, for n elements.
std::vector<int64_t> CountsOf(const TensorValues& repeats, int64_t n) {
  std::vector<int64_t> counts;
  for (int64_t i = 0; i < n; ++i)
    counts.push_back(repeats.Integer(std::ssize(repeats.elements) == 1 ? 0 : i));
  return counts;
}

// Counts that add up to outputSize.
void FillCounts(HostTensor& repeats, int64_t n, int64_t length, RandomNumbers& random) {
  std::vector<int64_t> counts(static_cast<size_t>(repeats.size()));
  if (repeats.size() == 1 && n > 0) {
    counts[0] = length / n;
  } else {
    for (int64_t i = 0; i < length && !counts.empty(); ++i)
      ++counts[static_cast<size_t>(random.Below(std::ssize(counts)))];
  }
  for (int64_t i = 0; i < repeats.size(); ++i)
    EncodeIntegerElement(repeats.dtype(), counts[static_cast<size_t>(i)], repeats.Element(i));
}

std::vector<OperatorSpec> Repeats() {
  std::vector<OperatorSpec> all;
  Listed list = {{ACL_FLOAT, ACL_FLOAT16}};
  list = list + kSignedAndBool;
  list.on_new = {ACL_BF16};
  list.on_950 = kUnsigned;
  for (const bool along : {false, true}) {
    OperatorSpec op;
    op.function =
        along ? PORTACL_C_FUNCTION(aclnnRepeatInterleaveWithDim) : PORTACL_C_FUNCTION(aclnnRepeatInterleave);
    op.takes_workspace = true;
    op.valid = {TensorArg("self", {2, 3}), TensorArg("repeats", {along ? 3 : 6}, ACL_INT64)};
    if (along) op.valid.push_back(IntegerArg("dim", 1));
    op.valid.push_back(IntegerArg("outputSize", 5));
    op.valid.push_back(OutputArg("out", along ? Shape{2, 5} : Shape{5}));
    const auto length = [=](const PlanCall& call) {
      const Shape& self = call["self"].shape;
      return along ? LengthAt(self, Wrapped(call["dim"].integer, self)) : NumElements(self);
    };
    op.rules = {NoNulls("self repeats out"), DtypeIn("self", list), DtypeIn("repeats", kIndices),
                SameDtype("self", "out"), Ranks("repeats", 0, 1)};
    if (along) {
      op.rules.push_back(Refuses(161002, "dim", [](PlanCall& call) {
        return call["self"].shape.empty() || !IsDimOf(call["dim"].integer, call["self"].shape);
      }));
    }
    op.rules.push_back(Refuses(161002, "repeats self", [=](PlanCall& call) {
      const int64_t counts = NumElements(call["repeats"].shape);
      return (counts != 1 && counts != length(call)) || call["self"].shape.size() > 8;
    }));
    op.rules.push_back(DoneIfEmpty("self"));
    op.rules.push_back(SucceedsIf([=](PlanCall& call) {
      return along ? call["outputSize"].integer == 0 : NumElements(call["out"].shape) == 0;
    }));
    op.rules.push_back(Refuses(161002, "out", [=](PlanCall& call) {
      Shape result = {call["outputSize"].integer};
      if (along) {
        result = call["self"].shape;
        result[Wrapped(call["dim"].integer, result)] = call["outputSize"].integer;
      }
      return call["out"].shape != result;
    }));
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(random, kDrawn);
      const Shape self = DrawShape(random, along ? 1 : 0, 4);
      call["self"] = TensorArg("self", self, dtype);
      if (along) call["dim"].integer = random.Between(-std::ssize(self), std::ssize(self) - 1);
      const int64_t n = length(call);
      const bool one = random.Chance(30);
      const Shape counts = one ? (random.Chance(50) ? Shape{} : Shape{1}) : Shape{n};
      call["repeats"] = TensorArg("repeats", counts, random.Chance(50) ? ACL_INT32 : ACL_INT64);
      call["repeats"].is_distinct = true;
      const int64_t size = one ? n * random.Between(1, 3) : random.Between(1, 12);
      call["outputSize"].integer = size;
      Shape out = {size};
      if (along) {
        out = self;
        out[Wrapped(call["dim"].integer, self)] = size;
      }
      call["out"] = OutputArg("out", out, dtype);
    };
    op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
      FillCounts(tensors[1], length(call), call["outputSize"].integer, random);
    };
    op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
      std::vector<int64_t> places;
      const std::vector<int64_t> counts = CountsOf(tensors[1], length(call));
      for (size_t i = 0; i < counts.size(); ++i)
        places.insert(places.end(), static_cast<size_t>(counts[i]), static_cast<int64_t>(i));
      const size_t dim = along ? Wrapped(call["dim"].integer, call["self"].shape) : 0;
      return std::vector<Outcome>{ForEachElement(tensors[2].shape, [&](Index& at) -> std::optional<Element> {
        const int64_t place = places[static_cast<size_t>(at[dim])];
        if (!along) return tensors[0].elements[static_cast<size_t>(place)];
        at[dim] = place;
        return At(tensors[0], at);
      })};
    };
    all.push_back(op);
  }
  OperatorSpec numbers;
  numbers.function = PORTACL_C_FUNCTION(aclnnRepeatInterleaveTensor);
  numbers.takes_workspace = true;
  numbers.valid = {TensorArg("repeats", {6}, ACL_INT64), IntegerArg("outputSize", 5),
                   OutputArg("out", {5}, ACL_INT64)};
  numbers.rules = {NoNulls("repeats out"),
                   DtypeIn("repeats", kIndices),
                   SameDtype("repeats", "out"),
                   Refuses(161002, "repeats",
                           [](PlanCall& call) {
                             const Shape& shape = call["repeats"].shape;
                             return (shape.size() != 1 && NumElements(shape) != 0) || shape.size() > 8;
                           }),
                   DoneIfEmpty("repeats out"),
                   Refuses(161002, "out", [](PlanCall& call) {
                     return call["out"].shape != Shape{call["outputSize"].integer};
                   })};
  numbers.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = random.Chance(50) ? ACL_INT32 : ACL_INT64;
    const int64_t size = random.Between(1, 40);
    call["repeats"] = TensorArg("repeats", {random.Between(2, 20)}, dtype);
    call["repeats"].is_distinct = true;
    call["outputSize"].integer = size;
    call["out"] = OutputArg("out", {size}, dtype);
  };
  numbers.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    FillCounts(tensors[0], tensors[0].size(), call["outputSize"].integer, random);
  };
  numbers.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    Outcome outcome;
    for (int64_t i = 0; i < std::ssize(tensors[0].elements); ++i) {
      Element element(static_cast<size_t>(ElementSize(tensors[1].dtype)));
      EncodeIntegerElement(tensors[1].dtype, i, element.data());
      outcome.insert(outcome.end(), static_cast<size_t>(tensors[0].Integer(i)), element);
    }
    return std::vector<Outcome>{outcome};
  };
  all.push_back(numbers);
  return all;
}

// ---- IndexFill ----

std::vector<OperatorSpec> Fills() {
  std::vector<OperatorSpec> all;
  const struct {
    CFunction function;
    bool has_array;
    bool in_place;
  } forms[] = {{PORTACL_C_FUNCTION(aclnnIndexFill), false, false},
               {PORTACL_C_FUNCTION(aclnnInplaceIndexFill), false, true},
               {PORTACL_C_FUNCTION(aclnnIndexFillTensor), true, false},
               {PORTACL_C_FUNCTION(aclnnInplaceIndexFillTensor), true, true}};
  const DtypeList older = {ACL_FLOAT, ACL_FLOAT16, ACL_INT32, ACL_INT64, ACL_BOOL};
  for (const auto& form : forms) {
    const std::string self = form.in_place ? "selfRef" : "self";
    const std::string out = form.in_place ? "selfRef" : "out";
    OperatorSpec op;
    op.function = form.function;
    op.takes_workspace = true;
    op.numbers_on = Product::k950;
    op.valid = {form.in_place ? OutputArg(self, {2, 3}) : TensorArg(self, {2, 3}), IntegerArg("dim", 1),
                form.has_array ? ArrayArg("index", {2, -3}) : TensorArg("index", {2}, ACL_INT64),
                ScalarArg("value", {2, 0})};
    if (!form.in_place) op.valid.push_back(OutputArg("out", {2, 3}));
    Listed list;
    (form.has_array ? list.everywhere : list.on_new) = older;
    list.on_new.push_back(ACL_BF16);
    list.on_950 = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_DOUBLE};
    const auto walks = [=](const PlanCall& call) { return NumElements(call[self].shape) > 0; };
    op.rules = {NoNulls(self + " index value " + out), DtypeIn(self, list), SameDtype(self, out)};
    if (!form.has_array) op.rules.push_back(DtypeIn("index", kIndices));
    op.rules.push_back(Refuses(161002, self + " dim index " + out, [=](PlanCall& call) {
      if (!walks(call)) return false;
      const Shape& shape = call[self].shape;
      if (call[out].shape != shape || shape.size() > 8 || !IsDimOf(call["dim"].integer, shape)) return true;
      const int64_t length = LengthAt(shape, Wrapped(call["dim"].integer, shape));
      for (const int64_t index : call["index"].values) {
        if (index < -length || index >= length) return true;
      }
      return false;
    }));
    if (form.has_array)
      op.rules.push_back(
          Refuses(161002, "value", [](PlanCall& call) { return IsComplexDtype(call["value"].dtype); }));
    op.rules.push_back(DoneIfEmpty(self));
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(random, kDrawn);
      const Shape shape = DrawShape(random, 0, 4);
      call[self] = form.in_place ? OutputArg(self, shape, dtype) : TensorArg(self, shape, dtype);
      if (!form.in_place) call["out"] = OutputArg("out", shape, dtype);
      call["dim"].integer =
          shape.empty() ? random.Between(-1, 0) : random.Between(-std::ssize(shape), std::ssize(shape) - 1);
      const int64_t length = LengthAt(shape, Wrapped(call["dim"].integer, shape));
      if (form.has_array) {
        call["index"].values.clear();
        for (int64_t i = random.Below(5); i > 0; --i)
          call["index"].values.push_back(random.Between(-length, length - 1));
      } else {
        call["index"] = TensorArg("index", random.Chance(15) ? Shape{2, 3} : DrawShape(random, 0, 1),
                                  random.Chance(50) ? ACL_INT32 : ACL_INT64);
      }
      call["value"] = ScalarArg("value", {static_cast<long double>(random.Between(0, 7)), 0}, ACL_DOUBLE);
      if (dtype == ACL_BOOL) call["value"].number = {1, 0};
    };
    op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
      const Shape& shape = call[self].shape;
      const int64_t length = LengthAt(shape, Wrapped(call["dim"].integer, shape));
      // Some of them are out of range, and are passed over.
      if (!form.has_array) SetIndices(tensors[1], -length - 1, length + 2, random);
    };
    op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
      const TensorValues& given = tensors[0];
      const size_t dim = Wrapped(call["dim"].integer, given.shape);
      const int64_t length = LengthAt(given.shape, dim);
      std::vector<int64_t> indices = call["index"].values;
      for (int64_t i = 0; !form.has_array && i < std::ssize(tensors[1].elements); ++i)
        indices.push_back(tensors[1].Integer(i));
      for (int64_t& index : indices) index = Wrap(index, length);
      return std::vector<Outcome>{ForEachElement(given.shape, [&](Index& at) -> std::optional<Element> {
        const int64_t place = dim < at.size() ? at[dim] : 0;
        if (std::find(indices.begin(), indices.end(), place) == indices.end()) return At(given, at);
        return ElementOfNumber(given.dtype, call["value"].number);
      })};
    };
    all.push_back(op);
  }
  return all;
}

// ---- ScatterNd ----

std::vector<OperatorSpec> ByRows() {
  std::vector<OperatorSpec> all;
  for (const bool in_place : {false, true}) {
    const std::string data = in_place ? "varRef" : "data";
    const std::string out = in_place ? "varRef" : "out";
    OperatorSpec op;
    op.function = in_place ? PORTACL_C_FUNCTION(aclnnScatterNdUpdate) : PORTACL_C_FUNCTION(aclnnScatterNd);
    op.valid = {in_place ? OutputArg(data, {3, 2}) : TensorArg(data, {3, 2}),
                TensorArg("indices", {4, 1}, ACL_INT64), TensorArg("updates", {4, 2})};
    if (!in_place) op.valid.push_back(OutputArg("out", {3, 2}));
    op.rules = {NoNulls(data + " indices updates " + out),
                Refuses(161002, data,
                        [=](PlanCall& call) {
                          const DtypeNumber dtype = call[data].dtype;
                          const bool is_950 = call.product == Product::k950;
                          const bool is_new = is_950 || IsOneOf(static_cast<int>(call.product),
                                                                {static_cast<int>(Product::kA2),
                                                                 static_cast<int>(Product::kA3)});
                          if (IsOneOf(dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BOOL})) return false;
                          if (dtype == ACL_BF16) return !is_new;
                          if (!in_place) return true;
                          if (IsOneOf(dtype, {ACL_INT8, ACL_INT64})) return !is_new;
                          if (IsOneOf(dtype, {ACL_INT16, ACL_INT32})) return !is_new || is_950;
                          if (IsOneOf(dtype, {ACL_UINT8, ACL_FLOAT8_E5M2})) return !is_950;
                          return true;
                        }),
                DtypeIn("indices", kIndices), SameDtype(data, "updates"), SameDtype(data, out)};
    if (in_place) op.rules.push_back(DoneIfEmpty("varRef indices updates"));
    op.rules.push_back(Refuses(161002, data + " indices updates " + out, [=](PlanCall& call) {
      const Shape& shape = call[data].shape;
      const Shape& indices = call["indices"].shape;
      const Shape& updates = call["updates"].shape;
      const size_t least = in_place ? 0 : 1;
      for (const Shape& one : {shape, indices, updates, call[out].shape}) {
        if (one.size() < least || one.size() > 8) return true;
      }
      if (call[out].shape != shape || indices.empty() || indices.back() > std::ssize(shape)) return true;
      Shape expected(indices.begin(), indices.end() - 1);
      expected.insert(expected.end(), shape.begin() + indices.back(), shape.end());
      return updates != expected;
    }));
    op.rules.push_back(DoneIfEmpty(data + " indices updates"));
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(
          random, in_place ? DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT64, ACL_BOOL}
                           : DtypeList{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_BOOL});
      const Shape shape = DrawShape(random, 1, 4);
      call[data] = in_place ? OutputArg(data, shape, dtype) : TensorArg(data, shape, dtype);
      if (!in_place) call["out"] = OutputArg("out", shape, dtype);
      const int64_t named = random.Between(1, std::ssize(shape));
      Shape indices = DrawShape(random, 0, 2);
      Shape updates = indices;
      indices.push_back(named);
      updates.insert(updates.end(), shape.begin() + named, shape.end());
      call["indices"] = TensorArg("indices", indices, random.Chance(50) ? ACL_INT32 : ACL_INT64);
      call["indices"].is_distinct = true;
      call["updates"] = TensorArg("updates", updates, dtype);
    };
    op.fill = [=](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
      const int64_t named = call["indices"].shape.back();
      for (int64_t i = 0; i < tensors[1].size(); ++i)
        EncodeIntegerElement(tensors[1].dtype(),
                             random.Below(call[data].shape[static_cast<size_t>(i % named)]),
                             tensors[1].Element(i));
    };
    op.oracle = [=](const PlanCall&, const std::vector<TensorValues>& tensors) {
      Outcome outcome(tensors[0].elements.begin(), tensors[0].elements.end());
      const size_t rows = tensors[1].shape.size() - 1;
      const int64_t named = tensors[1].shape.back();
      for (int64_t i = 0; i < std::ssize(tensors[2].elements); ++i) {
        const Index from = IndexAt(tensors[2].shape, i);
        Index row(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(rows));
        row.push_back(0);
        Index to;
        for (int64_t k = 0; k < named; ++k) {
          row.back() = k;
          to.push_back(tensors[1].Integer(PositionOf(tensors[1].shape, row)));
        }
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(rows), from.end());
        outcome[static_cast<size_t>(PositionOf(tensors[0].shape, to))] =
            tensors[2].elements[static_cast<size_t>(i)];
      }
      return std::vector<Outcome>{outcome};
    };
    all.push_back(op);
  }
  return all;
}

// ---- ScatterReduce, and means of Scatter ----

// A number, or the parts of a complex one.
template <class T>
void DivideParts(Element& element, int64_t count) {
  for (size_t at = 0; at < element.size(); at += sizeof(T)) {
    T part;
    std::memcpy(&part, &element[at], sizeof part);
    part /= static_cast<T>(count);
    std::memcpy(&element[at], &part, sizeof part);
  }
}

// self and src combined with loops, as PyTorch's scatter_reduce is described.
Outcome Reduced(const TensorValues& self, const TensorValues& index, const TensorValues& src, size_t dim,
                int64_t reduce, bool includes_self) {
  const bool is_half = self.dtype == ACL_FLOAT16 || self.dtype == ACL_BF16;
  const DtypeNumber computed = is_half ? DtypeNumber{ACL_FLOAT} : self.dtype;
  const bool is_complex_product = reduce == 2 && IsComplexDtype(computed);
  const auto size = static_cast<size_t>(ElementSize(computed));
  std::vector<Cell> cells;
  for (const Element& element : self.elements)
    cells.emplace_back(computed, ConvertedElement(self.dtype, element, computed));
  std::vector<int64_t> counts(self.elements.size(), includes_self ? 1 : 0);
  for (int64_t i = 0; i < NumElements(index.shape); ++i) {
    const Index from = IndexAt(index.shape, i);
    Index to = from;
    to.resize(self.shape.size());
    const int64_t named = Wrap(index.Integer(i), LengthAt(self.shape, dim));
    if (!IsPlace(named, LengthAt(self.shape, dim))) continue;
    if (dim < to.size()) to[dim] = named;
    const auto place = static_cast<size_t>(PositionOf(self.shape, to));
    if (counts[place]++ == 0) {
      // A first one starts from 0, or is itself, but for complex products, where 1 times it has other signs of 0; of truths what "all"
      // and "any" start from.
      Element start =
          reduce == 1 || reduce == 5 ? Element(size) : ConvertedElement(src.dtype, At(src, from), computed);
      if (computed == ACL_BOOL && reduce != 0)
        start = {std::byte{static_cast<unsigned char>(reduce == 2 || reduce == 4 ? 1 : 0)}};
      if (is_complex_product) start = ConvertedElement(ACL_BOOL, {std::byte{1}}, computed);
      cells[place] = Cell(computed, start);
    }
    if (reduce == 0) {
      cells[place] = Cell(computed, ConvertedElement(src.dtype, At(src, from), computed));
    } else if (counts[place] > 1 || reduce == 1 || reduce == 5 || computed == ACL_BOOL ||
               is_complex_product) {
      cells[place].Combine(reduce == 5 ? 1 : reduce, src.dtype, At(src, from));
    }
  }
  Outcome outcome;
  for (size_t i = 0; i < cells.size(); ++i) {
    Element element = cells[i].value();
    if (reduce == 5 && counts[i] > 1) {
      if (computed == ACL_FLOAT || computed == ACL_COMPLEX64) {
        DivideParts<float>(element, counts[i]);
      } else if (computed == ACL_DOUBLE || computed == ACL_COMPLEX128) {
        DivideParts<double>(element, counts[i]);
      } else {
        const auto sum = static_cast<long double>(DecodeInteger(computed, element.data()));
        EncodeIntegerElement(computed,
                             static_cast<int64_t>(std::floor(sum / static_cast<long double>(counts[i]))),
                             element.data());
      }
    }
    outcome.emplace_back(ConvertedElement(computed, element, self.dtype));
  }
  return outcome;
}

std::vector<OperatorSpec> Reductions() {
  std::vector<OperatorSpec> all;
  for (const int form : {0, 1, 2}) {  // ScatterReduce, in place, and means of aclnnScatter
    const bool in_place = form == 1;
    const bool is_mean = form == 2;
    const std::string self = in_place ? "selfRef" : "self";
    const std::string out = in_place ? "selfRef" : "out";
    OperatorSpec op;
    op.function = is_mean    ? PORTACL_C_FUNCTION(aclnnScatter)
                  : in_place ? PORTACL_C_FUNCTION(aclnnInplaceScatterReduce)
                             : PORTACL_C_FUNCTION(aclnnScatterReduce);
    op.takes_workspace = op.is_inexact = true;
    op.numbers_on = Product::k950;
    op.valid = {in_place ? OutputArg(self, {2, 3}) : TensorArg(self, {2, 3}), IntegerArg("dim", 1),
                TensorArg("index", {2, 3}, ACL_INT64), TensorArg("src", {2, 3}),
                IntegerArg("reduce", is_mean ? 5 : 1)};
    if (!is_mean) op.valid.push_back(IntegerArg("includeSelf", 1));
    if (!in_place) op.valid.push_back(OutputArg("out", {2, 3}));
    const auto is_a2 = [](Product product) { return product == Product::kA2 || product == Product::kA3; };
    const auto walks = [](const PlanCall& call) { return NumElements(call["index"].shape) > 0; };
    op.rules = {NoNulls(self + " index src " + out),
                Refuses(161002, self,
                        [=](PlanCall& call) {
                          if (!is_mean && is_a2(call.product)) return call[self].dtype != ACL_FLOAT;
                          return !kWithComplex.Has(call.product, call[self].dtype);
                        }),
                SameDtype(self, "src"), SameDtype(self, out), Refuses(161002, "index", [=](PlanCall& call) {
                  return walks(call) && !kIndices.Has(call.product, call["index"].dtype);
                })};
    if (!is_mean) {
      op.rules.push_back(Refuses(161002, "reduce includeSelf", [=](PlanCall& call) {
        const int64_t reduce = call["reduce"].integer;
        if (reduce < 0 || reduce > 5) return true;
        return is_a2(call.product) && (reduce != 1 || call["includeSelf"].integer == 0);
      }));
    }
    op.rules.push_back(Refuses(161002, "index src " + self + " dim " + out, [=](PlanCall& call) {
      if (!walks(call)) return false;
      const auto rank = [&](const Shape& shape) {
        return call.product == Product::k950 ? std::max<size_t>(shape.size(), 1) : shape.size();
      };
      const Shape& s = call[self].shape;
      const Shape& index = call["index"].shape;
      if (rank(s) != rank(index) || rank(call["src"].shape) != rank(s)) return true;
      if (call[out].shape != s && !call[out].shape.empty()) return true;
      const bool is_dim = IsDimOf(call["dim"].integer, s);
      for (size_t i = 0; i < std::max<size_t>(index.size(), 1); ++i) {
        if (LengthAt(index, i) > LengthAt(call["src"].shape, i)) return true;
        if (!(is_dim && i == Wrapped(call["dim"].integer, s)) && LengthAt(index, i) > LengthAt(s, i))
          return true;
      }
      return s.size() > 8 || !is_dim;
    }));
    op.rules.push_back(Refuses(561103, out, [=](PlanCall& call) {
      const bool ones = NumElements(call[out].shape) == 1 && NumElements(call[self].shape) == 1;
      return call[out].shape != call[self].shape && !ones;
    }));
    op.rules.push_back(DoneIfEmpty(self));
    op.rules.push_back(Refuses(561103, "reduce", [=](PlanCall& call) {
      const int64_t reduce = call["reduce"].integer;
      if (reduce == 5) return call[self].dtype == ACL_BOOL;
      return (reduce == 3 || reduce == 4) && IsComplexDtype(call[self].dtype);
    }));
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(random, kDrawn);
      const Shape shape = DrawShape(random, 0, 4);
      call[self] = in_place ? OutputArg(self, shape, dtype) : TensorArg(self, shape, dtype);
      if (!in_place) call["out"] = OutputArg("out", shape, dtype);
      call["dim"].integer = shape.empty() ? 0 : random.Between(-std::ssize(shape), std::ssize(shape) - 1);
      Shape index = shape;
      for (size_t i = 0; i < index.size(); ++i)
        index[i] =
            i == Wrapped(call["dim"].integer, shape) ? random.Between(1, 9) : random.Between(1, shape[i]);
      call["index"] = TensorArg("index", index, random.Chance(50) ? ACL_INT32 : ACL_INT64);
      if (!is_mean) {
        call["reduce"].integer = random.Between(0, 5);
        call["includeSelf"].integer = random.Below(2);
      }
      for (int64_t& length : index) length += random.Below(2);
      call["src"] = TensorArg("src", index, dtype);
    };
    op.range = [=](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
      const Shape& shape = call[self].shape;
      const int64_t length = LengthAt(shape, Wrapped(call["dim"].integer, shape));
      return tensor == 1 ? std::optional<IndexRange>({-length, length}) : std::nullopt;
    };
    op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
      return std::vector<Outcome>{
          Reduced(tensors[0], tensors[1], tensors[2], Wrapped(call["dim"].integer, tensors[0].shape),
                  call["reduce"].integer, is_mean || call["includeSelf"].integer != 0)};
    };
    all.push_back(op);
  }
  all[2].rules.insert(all[2].rules.begin(), [](PlanCall& call) -> std::optional<Verdict> {
    // What the other numbers do is tested elsewhere.
    return call["reduce"].integer == 5 ? std::nullopt : std::optional<Verdict>(Verdict{kUndetermined, {}});
  });
  return all;
}

// ---- InplacePut, InplaceMaskedScatter, OneHot ----

OperatorSpec Put() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplacePut);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {OutputArg("selfRef", {2, 3}), TensorArg("index", {2, 2}, ACL_INT64),
              TensorArg("source", {2, 2}), IntegerArg("accumulate", 1)};
  op.rules = {
      NoNulls("selfRef index source"),
      Refuses(161002, "selfRef",
              [](PlanCall& call) {
                const DtypeNumber dtype = call["selfRef"].dtype;
                if (dtype == ACL_BF16 && call["accumulate"].integer != 0) return true;
                return !kWithComplex.Has(call.product, dtype);
              }),
      DtypeIn("index", kIndices),
      SameDtype("selfRef", "source"),
      Ranks("selfRef index", 0, 8),
      Refuses(161002, "index source",
              [](PlanCall& call) {
                return NumElements(call["index"].shape) != NumElements(call["source"].shape);
              }),
      DoneIfEmpty("index"),
      Refuses(161002, "selfRef", [](PlanCall& call) { return NumElements(call["selfRef"].shape) == 0; })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kDrawn);
    call["selfRef"] = OutputArg("selfRef", DrawShape(random, 0, 4), dtype);
    const Shape index = DrawShape(random, 0, 3);
    call["index"] = TensorArg("index", index, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["source"] = TensorArg("source", random.Chance(70) ? index : Shape{NumElements(index)}, dtype);
    call["accumulate"].integer = random.Below(2);
  };
  op.range = [](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
    const int64_t n = NumElements(call["selfRef"].shape);
    return tensor == 1 ? std::optional<IndexRange>({-n, n}) : std::nullopt;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<Cell> cells = CellsOf(tensors[0]);
    for (int64_t i = 0; i < std::ssize(tensors[1].elements); ++i) {
      const int64_t place = Wrap(tensors[1].Integer(i), std::ssize(cells));
      if (!IsPlace(place, std::ssize(cells))) continue;
      cells[static_cast<size_t>(place)].Combine(call["accumulate"].integer != 0 ? 1 : 0, tensors[2].dtype,
                                                tensors[2].elements[static_cast<size_t>(i)]);
    }
    return std::vector<Outcome>{OutcomeOf(cells)};
  };
  return op;
}

OperatorSpec MaskedScatter() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceMaskedScatter);
  op.takes_workspace = true;
  op.valid = {OutputArg("selfRef", {2, 3}), TensorArg("mask", {2, 3}, ACL_BOOL), TensorArg("source", {6})};
  op.rules = {NoNulls("selfRef mask source"),
              DtypeIn("selfRef", kFDI),
              DtypeIn("mask", {{ACL_UINT8, ACL_BOOL}}),
              SameDtype("selfRef", "source"),
              Ranks("selfRef mask source", 0, 8),
              Refuses(161002, "mask selfRef",
                      [](PlanCall& call) {
                        const Shape& self = call["selfRef"].shape;
                        if (self.empty() && call["mask"].shape == Shape{1}) return false;
                        const auto both = Broadcast(std::vector<Shape>{self, call["mask"].shape});
                        return !both || *both != self;
                      }),
              DoneIfEmpty("selfRef mask")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kDrawn);
    const Shape self = DrawShape(random, 0, 4);
    Shape mask = self;
    if (!mask.empty() && random.Chance(30)) mask.erase(mask.begin());
    for (int64_t& length : mask) length = random.Chance(15) ? 1 : length;
    if (self.empty() && random.Chance(50)) mask = {1};
    call["selfRef"] = OutputArg("selfRef", self, dtype);
    call["mask"] = TensorArg("mask", mask, random.Chance(50) ? ACL_BOOL : ACL_UINT8);
    call["source"] = TensorArg("source", random.Chance(50) ? self : Shape{2, NumElements(self)}, dtype);
  };
  op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    SetIndices(tensors[1], 0, 3, random);
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    Outcome outcome(tensors[0].elements.begin(), tensors[0].elements.end());
    const Shape mask_shape = tensors[0].shape.empty() ? Shape{} : tensors[1].shape;
    const std::vector<int64_t> of_mask = BroadcastPositions(mask_shape, tensors[0].shape);
    size_t next = 0;
    for (size_t i = 0; i < outcome.size(); ++i) {
      if (tensors[1].elements[static_cast<size_t>(of_mask[i])][0] != std::byte{0})
        outcome[i] = tensors[2].elements[next++];
    }
    return std::vector<Outcome>{outcome};
  };
  return op;
}

OperatorSpec OneHot() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnOneHot);
  op.takes_workspace = true;
  op.numbers_on = Product::k950;
  op.valid = {TensorArg("self", {2, 3}, ACL_INT64), IntegerArg("numClasses", 4), TensorArg("onValue", {1}),
              TensorArg("offValue", {1}),           IntegerArg("axis", -1),      OutputArg("out", {2, 3, 4})};
  Listed classes = kIndices;
  classes.on_950 = {ACL_UINT8};
  Listed values = {{ACL_FLOAT16, ACL_FLOAT, ACL_INT32, ACL_INT64}};
  values.on_950 = {ACL_INT8, ACL_UINT8};
  const auto result = [](const PlanCall& call) {
    Shape shape = call["self"].shape;
    const int64_t axis = call["axis"].integer;
    shape.insert(axis < 0 ? shape.end() : shape.begin() + axis, call["numClasses"].integer);
    return shape;
  };
  op.rules = {NoNulls("self onValue offValue out"),
              DtypeIn("self", classes),
              DtypeIn("out", values),
              SameDtype("out", "onValue"),
              SameDtype("out", "offValue"),
              Refuses(161002, "self onValue offValue out numClasses axis",
                      [=](PlanCall& call) {
                        const Shape& self = call["self"].shape;
                        if (self.size() > (call.product == Product::k950 ? 7 : 8)) return true;
                        for (const char* name : {"onValue", "offValue", "out"}) {
                          if (call[name].shape.size() > 8) return true;
                        }
                        if (call["numClasses"].integer < (NumElements(self) == 0 ? 1 : 0)) return true;
                        const int64_t axis = call["axis"].integer;
                        if (axis < -1 || axis > std::ssize(self)) return true;
                        return call["out"].shape != result(call);
                      }),
              DoneIfEmpty("self"),
              SucceedsIf([](PlanCall& call) { return call["numClasses"].integer == 0; }),
              Refuses(561103, "onValue offValue", [](PlanCall& call) {
                return NumElements(call["onValue"].shape) == 0 || NumElements(call["offValue"].shape) == 0;
              })};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype =
        DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_INT32, ACL_INT64, ACL_INT8, ACL_UINT8});
    const Shape self = DrawShape(random, 0, 3);
    call["self"] = TensorArg("self", self, DrawDtype(random, {ACL_INT32, ACL_INT64, ACL_UINT8}));
    call["numClasses"].integer = random.Between(1, 6);
    call["axis"].integer = random.Between(-1, std::ssize(self));
    for (const char* name : {"onValue", "offValue"})
      call[name] = TensorArg(name, random.Chance(50) ? Shape{} : Shape{2, 2}, dtype);
    call["out"] = OutputArg("out", result(call), dtype);
  };
  op.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const int64_t low = call["self"].dtype == ACL_UINT8 ? 0 : -2;
    SetIndices(tensors[0], low, call["numClasses"].integer + 2, random);
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t given = call["axis"].integer;
    const size_t axis = given < 0 ? tensors[0].shape.size() : static_cast<size_t>(given);
    return std::vector<Outcome>{ForEachElement(tensors[3].shape, [&](Index& at) -> std::optional<Element> {
      const int64_t place = at[axis];
      at.erase(at.begin() + static_cast<std::ptrdiff_t>(axis));
      return tensors[tensors[0].Integer(PositionOf(tensors[0].shape, at)) == place ? 1 : 2].elements[0];
    })};
  };
  return op;
}

const std::vector<OperatorSpec>& ScatteredOperators() {
  static const std::vector<OperatorSpec> operators = [] {
    std::vector<OperatorSpec> all = {Put(), MaskedScatter(), OneHot()};
    for (const auto& family : {Repeats(), Fills(), ByRows(), Reductions()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return operators;
}

PORTACL_OPERATOR_TESTS(Scattered, ScatteredOperators());
TEST_P(Scattered, BadIndices) {
  if (GetParam()->range) CheckBadIndices(*GetParam());
}

// ---- what leads nowhere ----

TEST(Counts, ThatAreNegativeOrDoNotAddUpFailTheStream) {
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    std::vector<float> self = {1, 2, 3};
    aclTensor* const from = Dense({3}, ACL_FLOAT, self);
    const struct {
      std::vector<int64_t> counts;
      std::vector<float> out;
      const char* message;
    } cases[] = {
        {{1, -2, 3}, {1, 3, 3, 3}, "repeats has the value -2 at element 1, accepted: at least 0."},
        {{2, 1, 0}, {1, 1, 2, 0}, "repeats adds up to 3, accepted: 4, as outputSize says."},
        {{1, 1, 9}, {1, 2, 3, 3}, "repeats adds up to 11, accepted: 4, as outputSize says."},
        {{1, INT64_MAX, INT64_MAX}, {1, 2, 2, 2}, "repeats adds up to 9223372036854775807, accepted: 4"},
        // Modulo 2^64 they are 2.
        {{INT64_MAX, INT64_MAX, 4}, {1, 1, 1, 1}, "repeats adds up to 9223372036854775807, accepted: 4"},
        {{-1, 2, -3}, {2, 2, 0, 0}, "repeats has the value -1 at element 0, accepted: at least 0."}};
    for (auto one : cases) {
      std::vector<float> out(4, -7);
      aclTensor* const to = Dense({4}, ACL_FLOAT, out);
      aclTensor* const repeats = Dense({3}, ACL_INT64, one.counts);
      const Called called = Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnRepeatInterleaveGetWorkspaceSize(from, repeats, 4, to, size, executor);
          },
          aclnnRepeatInterleave, environment.stream());
      EXPECT_EQ(called.status, 0);
      EXPECT_EQ(called.first, raises ? 507015 : 0);
      EXPECT_EQ(called.second, 0);
      EXPECT_EQ(called.message.find(one.message) != std::string::npos, raises) << called.message;
      EXPECT_EQ(out, one.out);
      aclDestroyTensor(to);
      aclDestroyTensor(repeats);
    }
    aclDestroyTensor(from);
  }
}

TEST(MaskedScatterTo, MoreThanThereIsStopsAndFailsTheStream) {
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    std::vector<float> self = {1, 2, 3, 4};
    std::vector<unsigned char> truth = {1, 0, 1, 1};
    std::vector<float> source = {10, 20};
    aclTensor* const tensors[] = {Dense({4}, ACL_FLOAT, self), Dense({4}, ACL_BOOL, truth),
                                  Dense({2}, ACL_FLOAT, source)};
    const Called called = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnInplaceMaskedScatterGetWorkspaceSize(tensors[0], tensors[1], tensors[2], size,
                                                           executor);
        },
        aclnnInplaceMaskedScatter, environment.stream());
    EXPECT_EQ(called.first, raises ? 507015 : 0);
    EXPECT_EQ(called.message.find("source has 2 elements, accepted: at least 3") != std::string::npos, raises)
        << called.message;
    EXPECT_EQ(self, (std::vector<float>{10, 2, 20, 4}));
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
}

// Long masks are cut among threads.
// An index that is the same one in every line, which is longer than what is worked on at a time: put and summed; with a bad one, too.
TEST(RepeatedPlaces, OfLongLines) {
  constexpr int64_t kLines = 5;
  constexpr int64_t kLength = 1500;
  constexpr int64_t kTargets = 1600;
  for (const char* threads : {"1", "4"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    for (const int64_t bad : {int64_t{-1}, int64_t{1300}}) {
      for (const int64_t reduction : {0, 1}) {
        RandomNumbers random(0x9E47);
        std::vector<int64_t> index(kLength);
        for (int64_t i = 0; i < kLength; ++i) index[static_cast<size_t>(i)] = (i * 997 + 5) % kTargets;
        if (bad >= 0) index[static_cast<size_t>(bad)] = kTargets;
        std::vector<int32_t> self(kLines * kTargets);
        std::vector<int32_t> source(kLines * kLength);
        for (int32_t& one : self) one = static_cast<int32_t>(random.Below(1000));
        for (int32_t& one : source) one = static_cast<int32_t>(random.Below(1000));
        std::vector<int32_t> out(self.size(), -7);
        std::vector<int32_t> expected = self;
        for (size_t line = 0; line < kLines; ++line) {
          for (size_t i = 0; i < kLength; ++i) {
            if (index[i] == kTargets) continue;
            int32_t& target = expected[line * kTargets + static_cast<size_t>(index[i])];
            target = source[line * kLength + i] + (reduction == 1 ? target : 0);
          }
        }
        const int64_t dims[] = {kLines, kLength};
        const int64_t strides[] = {0, 1};
        aclTensor* const tensors[] = {
            Dense({kLines, kTargets}, ACL_INT32, self),
            aclCreateTensor(dims, 2, ACL_INT64, strides, 0, ACL_FORMAT_ND, &dims[1], 1, index.data()),
            Dense({kLines, kLength}, ACL_INT32, source), Dense({kLines, kTargets}, ACL_INT32, out)};
        const Called called = Call(
            [&](uint64_t* size, aclOpExecutor** executor) {
              return aclnnScatterGetWorkspaceSize(tensors[0], 1, tensors[1], tensors[2], reduction,
                                                  tensors[3], size, executor);
            },
            aclnnScatter, environment.stream());
        EXPECT_EQ(called.first, bad < 0 ? 0 : 507015) << called.message;
        EXPECT_EQ(out, expected);
        for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
      }
    }
  }
}

TEST(MaskedScatterTo, ManyElements) {
  for (const char* threads : {"1", "4"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x3A5C);
    std::vector<int16_t> self(200000);
    std::vector<unsigned char> truth(self.size());
    std::vector<int16_t> source(self.size());
    for (size_t i = 0; i < self.size(); ++i) {
      self[i] = static_cast<int16_t>(random.Below(30000));
      truth[i] = random.Chance(40) ? 1 : 0;
      source[i] = static_cast<int16_t>(-1 - random.Below(30000));
    }
    std::vector<int16_t> expected = self;
    size_t next = 0;
    for (size_t i = 0; i < self.size(); ++i) {
      if (truth[i] != 0) expected[i] = source[next++];
    }
    const Shape shape = {std::ssize(self)};
    aclTensor* const tensors[] = {Dense(shape, ACL_INT16, self), Dense(shape, ACL_BOOL, truth),
                                  Dense(shape, ACL_INT16, source)};
    const Called called = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnInplaceMaskedScatterGetWorkspaceSize(tensors[0], tensors[1], tensors[2], size,
                                                           executor);
        },
        aclnnInplaceMaskedScatter, environment.stream());
    EXPECT_EQ(called.first, 0) << called.message;
    EXPECT_EQ(self, expected);
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
}

// As PyTorch's gradient of masked_select where nothing was selected.
TEST(MaskedScatterTo, NothingFromNoAddress) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self = {1, 2}, source;
  std::vector<unsigned char> truth = {0, 0};
  aclTensor* const tensors[] = {Dense({2}, ACL_FLOAT, self), Dense({2}, ACL_BOOL, truth),
                                Dense({0}, ACL_FLOAT, source)};
  ASSERT_EQ(source.data(), nullptr);
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnInplaceMaskedScatterGetWorkspaceSize(tensors[0], tensors[1], tensors[2], size, executor);
      },
      aclnnInplaceMaskedScatter, environment.stream());
  EXPECT_EQ(called.first, 0) << called.message;
  EXPECT_EQ(self, (std::vector<float>{1, 2}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

TEST(RowsOfIndices, OutOfRangeAreLeftOutAndNamed) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> indices = {0, 1, 2, 0, 1, -1, 1, 2};
  std::vector<float> updates = {10, 20, 30, 40};
  aclTensor* const tensors[] = {Dense({2, 3}, ACL_FLOAT, data), Dense({4, 2}, ACL_INT64, indices),
                                Dense({4}, ACL_FLOAT, updates)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnScatterNdUpdateGetWorkspaceSize(tensors[0], tensors[1], tensors[2], size, executor);
      },
      aclnnScatterNdUpdate, environment.stream());
  EXPECT_EQ(called.first, 507015);
  EXPECT_NE(called.message.find("indices has the value 2 at element 2, accepted: 0 to 1."), std::string::npos)
      << called.message;
  EXPECT_EQ(data, (std::vector<float>{1, 10, 3, 4, 5, 40}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// Long rows of counts are cut among threads.
TEST(Counts, OfManyElements) {
  for (const char* threads : {"1", "4"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x5EA7);
    std::vector<int32_t> counts(70000);
    std::vector<int32_t> expected;
    for (size_t i = 0; i < counts.size(); ++i) {
      counts[i] = random.Chance(30) ? static_cast<int32_t>(random.Below(4)) : 1;
      expected.insert(expected.end(), static_cast<size_t>(counts[i]), static_cast<int32_t>(i));
    }
    std::vector<int32_t> out(expected.size(), -7);
    aclTensor* const repeats = Dense({std::ssize(counts)}, ACL_INT32, counts);
    aclTensor* const to = Dense({std::ssize(out)}, ACL_INT32, out);
    const Called called = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnRepeatInterleaveTensorGetWorkspaceSize(repeats, std::ssize(out), to, size, executor);
        },
        aclnnRepeatInterleaveTensor, environment.stream());
    EXPECT_EQ(called.first, 0);
    EXPECT_EQ(out, expected);
    aclDestroyTensor(repeats);
    aclDestroyTensor(to);
  }
}

}  // namespace
}  // namespace portacl::testing
