// Operators that read and write elements which index tensors name: their checks, every element against loops over logical indices, and
// bad indices.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "aclnnop/families/indexing.h"
#include "gtest/gtest.h"
#include "index_calls.h"
#include "support/guarded_buffer.h"

namespace portacl::testing {
namespace {

// ---- one index tensor ----

std::vector<OperatorSpec> Gathers() {
  const auto around = [](const PlanCall& call) {
    const Shape& self = call["self"].shape;
    Shape index = call["index"].shape;
    if (self.empty()) return Shape{};
    if (index.empty()) index = {1};
    const auto dim = static_cast<std::ptrdiff_t>(Wrapped(call["dim"].integer, self));
    Shape result(self.begin(), self.begin() + dim);
    result.insert(result.end(), index.begin(), index.end());
    result.insert(result.end(), self.begin() + dim + 1, self.end());
    return result;
  };
  const auto around_oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const bool wraps = call.op->function.name == std::string("aclnnGatherV2");
    const TensorValues& self = tensors[0];
    const TensorValues& index = tensors[1];
    const Shape& out = tensors[2].shape;
    if (self.shape.empty()) {
      const int64_t place = index.Integer(0);
      return std::vector<Outcome>{
          {IsPlace(wraps ? Wrap(place, 1) : place, 1) ? self.elements[0] : Element(self.elements[0].size())}};
    }
    const size_t dim = Wrapped(call["dim"].integer, self.shape);
    const size_t rank = std::max<size_t>(index.shape.size(), 1);
    return std::vector<Outcome>{ForEachElement(out, [&](Index& at) -> std::optional<Element> {
      const Index of_index(at.begin() + static_cast<std::ptrdiff_t>(dim),
                           at.begin() + static_cast<std::ptrdiff_t>(dim + (index.shape.empty() ? 0 : rank)));
      Index from(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(dim));
      const int64_t place = index.Integer(PositionOf(index.shape, of_index));
      from.push_back(wraps ? Wrap(place, self.shape[dim]) : place);
      from.insert(from.end(), at.begin() + static_cast<std::ptrdiff_t>(dim + rank), at.end());
      return Taken(self, from);
    })};
  };
  const auto range = [](bool wraps, const std::string& name) {
    return [=](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
      if (tensor != 1) return std::nullopt;
      const Shape& self = call.arguments[0].shape;
      int64_t length = NumElements(self);
      for (const PlanArgument& one : call.arguments) {
        if (one.name == "dim") length = LengthAt(self, Wrapped(one.integer, self));
      }
      if (name == "indices") length = LengthAt(self, 0);
      return IndexRange{wraps ? -length : 0, length};
    };
  };
  const auto draw_around = [=](size_t most_index_rank) {
    return [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(random, kDrawn);
      const Shape self = DrawShape(random, random.Chance(5) ? 0 : 1, 4);
      const Shape index = self.empty() ? Shape{} : DrawShape(random, 0, most_index_rank);
      call["self"] = TensorArg("self", self, dtype);
      call["dim"].integer =
          random.Between(-std::max<int64_t>(std::ssize(self), 1), std::max<int64_t>(std::ssize(self), 1) - 1);
      call["index"] = TensorArg("index", index, random.Chance(50) ? ACL_INT32 : ACL_INT64);
      call["out"] = OutputArg("out", around(call), dtype);
    };
  };

  OperatorSpec select;
  select.function = PORTACL_C_FUNCTION(aclnnIndexSelect);
  select.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1), TensorArg("index", {6}, ACL_INT64),
                  OutputArg("out", {2, 6})};
  Listed numbers = kWithComplex + kUnsigned;
  select.rules = {
      NoNulls("self index out"),
      DtypeIn("self", numbers),
      SameDtype("self", "out"),
      DtypeIn("index", kIndices),
      Public("self index out"),
      Refuses(161002, "out",
              [](PlanCall& call) { return call["self"].shape.empty() && !call["out"].shape.empty(); }),
      Ranks("self", 0, 8),
      Dims("dim", "self"),
      Ranks("index", 0, 1),
      DoneIfEmpty("self index"),
      Refuses(
          161002, "index",
          [](PlanCall& call) { return call["self"].shape.empty() && NumElements(call["index"].shape) != 1; }),
      Refuses(161002, "out", [=](PlanCall& call) { return call["out"].shape != around(call); })};
  select.draw = draw_around(1);
  select.oracle = around_oracle;
  select.range = range(false, "index");

  OperatorSpec v2;
  v2.function = PORTACL_C_FUNCTION(aclnnGatherV2);
  v2.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1), TensorArg("index", {2, 2}, ACL_INT64),
              OutputArg("out", {2, 2, 2})};
  Listed v2_list = kWithComplex;
  v2_list.on_950 = {ACL_UINT16};
  v2.rules = {NoNulls("self index out"),
              SameDtype("self", "out"),
              DtypeIn("self", v2_list),
              DtypeIn("index", kIndices),
              Ranks("self index", 0, 8),
              Dims("dim", "self"),
              Refuses(161002, "out", [=](PlanCall& call) { return call["out"].shape != around(call); }),
              DoneIfEmpty("self index")};
  v2.draw = draw_around(3);
  v2.oracle = around_oracle;
  v2.range = range(true, "index");

  // With dims that both share, on Ascend 950 alone; without them it is V2.
  const auto shared_of = [](const PlanCall& call) {
    return static_cast<std::ptrdiff_t>(call["batchDims"].integer);
  };
  const auto with_shared = [=](const PlanCall& call) {
    const Shape& index = call["index"].shape;
    if (shared_of(call) == 0) return around(call);
    const Shape& self = call["self"].shape;
    const auto dim = static_cast<std::ptrdiff_t>(Wrapped(call["dim"].integer, self));
    Shape result(self.begin(), self.begin() + dim);
    result.insert(result.end(), index.begin() + shared_of(call), index.end());
    result.insert(result.end(), self.begin() + dim + 1, self.end());
    return result;
  };
  OperatorSpec v3;
  v3.function = PORTACL_C_FUNCTION(aclnnGatherV3);
  v3.numbers_on = Product::k950;
  v3.valid = {TensorArg("self", {2, 3}),  IntegerArg("dim", 0),  TensorArg("index", {2, 2}, ACL_INT64),
              IntegerArg("batchDims", 0), IntegerArg("mode", 1), OutputArg("out", {2, 2, 3})};
  v3.rules = v2.rules;
  v3.rules.resize(6);  // up to dim's
  const auto is_before_950 = [](const PlanCall& call) { return call.product != Product::k950; };
  v3.rules.push_back(Refuses(161002, "dim", [=](PlanCall& call) {
    return is_before_950(call) && Wrapped(call["dim"].integer, call["self"].shape) != 0;
  }));
  v3.rules.push_back(Refuses(161002, "batchDims", [=](PlanCall& call) {
    return is_before_950(call) && call["batchDims"].integer != 0;
  }));
  v3.rules.push_back(Refuses(
      161002, "mode", [=](PlanCall& call) { return is_before_950(call) && call["mode"].integer != 1; }));
  v3.rules.push_back(Refuses(161002, "batchDims index", [=](PlanCall& call) {
    const Shape& self = call["self"].shape;
    const Shape& index = call["index"].shape;
    const auto dim = static_cast<std::ptrdiff_t>(Wrapped(call["dim"].integer, self));
    const std::ptrdiff_t shared = shared_of(call);
    return shared < 0 || shared > (self.empty() ? 0 : std::min(dim, std::ssize(index))) ||
           !std::equal(self.begin(), self.begin() + shared, index.begin());
  }));
  v3.rules.push_back(
      Refuses(161002, "out", [=](PlanCall& call) { return call["out"].shape != with_shared(call); }));
  v3.rules.push_back(DoneIfEmpty("self index"));
  v3.draw = [=](PlanCall& call, RandomNumbers& random) {
    draw_around(2)(call, random);
    if (call.product != Product::k950) call["dim"].integer = 0;
    const Shape& self = call["self"].shape;
    const auto dim = static_cast<int64_t>(Wrapped(call["dim"].integer, self));
    call["batchDims"].integer = self.empty() ? 0 : random.Below(dim + 1);
    Shape& index = call["index"].shape;
    index.insert(index.begin(), self.begin(), self.begin() + shared_of(call));
    call["mode"].integer = call.product != Product::k950 ? 1 : random.Below(3);
    call["out"].shape = with_shared(call);
  };
  v3.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const std::ptrdiff_t shared = shared_of(call);
    const TensorValues& self = tensors[0];
    const TensorValues& index = tensors[1];
    if (self.shape.empty())
      return std::vector<Outcome>{
          {IsPlace(Wrap(index.Integer(0), 1), 1) ? self.elements[0] : Element(self.elements[0].size())}};
    const size_t dim = Wrapped(call["dim"].integer, self.shape);
    const std::ptrdiff_t own = std::ssize(index.shape) - shared;
    return std::vector<Outcome>{ForEachElement(tensors[2].shape, [&](Index& at) -> std::optional<Element> {
      const auto behind = at.begin() + static_cast<std::ptrdiff_t>(dim);
      Index of_index(at.begin(), at.begin() + shared);
      of_index.insert(of_index.end(), behind, behind + own);
      Index from(at.begin(), behind);
      from.push_back(Wrap(index.Integer(PositionOf(index.shape, of_index)), self.shape[dim]));
      from.insert(from.end(), behind + (index.shape.empty() ? 1 : own), at.end());
      return Taken(self, from);
    })};
  };
  v3.range = range(true, "index");

  OperatorSpec gather;
  gather.function = PORTACL_C_FUNCTION(aclnnGather);
  gather.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1), TensorArg("index", {2, 6}, ACL_INT64),
                  OutputArg("out", {2, 6})};
  Listed gather_list = kFDI + kUnsigned;
  gather_list.on_950 = {ACL_HIFLOAT8, ACL_FLOAT8_E5M2, ACL_FLOAT8_E4M3FN, ACL_FLOAT8_E8M0};
  const auto rank1 = [](const Shape& shape) { return std::max<size_t>(shape.size(), 1); };
  gather.rules = {
      NoNulls("self index out"),
      DtypeIn("self", gather_list),
      Refuses(161002, "index",
              [](PlanCall& call) {
                return NumElements(call["index"].shape) > 0 &&
                       !kIndices.Has(call.product, call["index"].dtype);
              }),
      SameDtype("self", "out"),
      Refuses(161002, "index self",
              [=](PlanCall& call) { return rank1(call["self"].shape) != rank1(call["index"].shape); }),
      Ranks("self index", 0, 8),
      SameShape("index", "out"),
      Dims("dim", "self"),
      Refuses(161002, "index",
              [=](PlanCall& call) {
                const Shape& self = call["self"].shape;
                const size_t dim = Wrapped(call["dim"].integer, self);
                for (size_t i = 0; i < rank1(self); ++i) {
                  if (i != dim && LengthAt(call["index"].shape, i) > LengthAt(self, i)) return true;
                }
                return NumElements(call["index"].shape) > 0 && LengthAt(self, dim) == 0;
              }),
      DoneIfEmpty("index self")};
  gather.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kDrawn);
    const Shape self = DrawShape(random, 0, 4);
    call["self"] = TensorArg("self", self, dtype);
    call["dim"].integer = self.empty() ? 0 : random.Between(-std::ssize(self), std::ssize(self) - 1);
    Shape index = self;
    for (size_t i = 0; i < index.size(); ++i)
      index[i] = i == Wrapped(call["dim"].integer, self) ? random.Between(1, 7) : random.Between(1, self[i]);
    call["index"] = TensorArg("index", index, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["out"] = OutputArg("out", index, dtype);
  };
  gather.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const size_t dim = Wrapped(call["dim"].integer, self.shape);
    return std::vector<Outcome>{ForEachElement(tensors[1].shape, [&](Index& at) -> std::optional<Element> {
      const int64_t index =
          Wrap(tensors[1].Integer(PositionOf(tensors[1].shape, at)), LengthAt(self.shape, dim));
      at.resize(self.shape.size());
      if (dim < at.size()) at[dim] = index;
      if (at.empty() && index != 0) return Element(self.elements[0].size());
      return Taken(self, at);
    })};
  };
  gather.range = range(true, "index");

  OperatorSpec take;
  take.function = PORTACL_C_FUNCTION(aclnnTake);
  take.valid = {TensorArg("self", {2, 3}), TensorArg("index", {2, 6}, ACL_INT64), OutputArg("out", {2, 6})};
  take.takes_workspace = true;
  take.rules = {NoNulls("self index out"),
                DtypeIn("self", numbers),
                SameDtype("self", "out"),
                DtypeIn("index", kIndices),
                Ranks("index", 0, 8),
                SameShape("index", "out"),
                Refuses(161002, "self",
                        [](PlanCall& call) {
                          return NumElements(call["self"].shape) == 0 && NumElements(call["index"].shape) > 0;
                        }),
                Public("self index out"),
                DoneIfEmpty("index")};
  take.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kDrawn);
    const Shape index = DrawShape(random, 0, 3);
    call["self"] = TensorArg("self", DrawShape(random, 0, 4), dtype);
    call["index"] = TensorArg("index", index, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    call["out"] = OutputArg("out", index, dtype);
  };
  take.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{ForEachElement(tensors[1].shape, [&](Index& at) -> std::optional<Element> {
      const auto index =
          Wrap(tensors[1].Integer(PositionOf(tensors[1].shape, at)), NumElements(tensors[0].shape));
      if (!IsPlace(index, std::ssize(tensors[0].elements))) return Element(tensors[0].elements[0].size());
      return tensors[0].elements[static_cast<size_t>(index)];
    })};
  };
  take.range = range(true, "index");

  OperatorSpec embedding;
  embedding.function = PORTACL_C_FUNCTION(aclnnEmbedding);
  embedding.valid = {TensorArg("weight", {4, 3}), TensorArg("indices", {2}, ACL_INT64),
                     OutputArg("out", {2, 3})};
  embedding.rules = {NoNulls("weight indices out"),
                     DtypeIn("weight", kWithComplex),
                     SameDtype("weight", "out"),
                     DtypeIn("indices", kIndices),
                     Ranks("weight indices out", 0, 8),
                     Refuses(161002, "out",
                             [](PlanCall& call) {
                               Shape leading = call["out"].shape;
                               if (leading.empty()) return true;
                               leading.pop_back();
                               return leading != call["indices"].shape;
                             }),
                     DoneIfEmpty("weight indices"),
                     Refuses(561103, "weight", [](PlanCall& call) {
                       return call["weight"].shape.size() != 2 ||
                              call["weight"].shape[1] != call["out"].shape.back();
                     })};
  embedding.draw = [](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, kDrawn);
    const Shape weight = DrawShape(random, 2, 2, 8);
    Shape index = DrawShape(random, 0, 3);
    call["weight"] = TensorArg("weight", weight, dtype);
    call["indices"] = TensorArg("indices", index, random.Chance(50) ? ACL_INT32 : ACL_INT64);
    index.push_back(weight[1]);
    call["out"] = OutputArg("out", index, dtype);
  };
  embedding.oracle = [](const PlanCall&, const std::vector<TensorValues>& tensors) {
    return std::vector<Outcome>{ForEachElement(tensors[2].shape, [&](Index& at) -> std::optional<Element> {
      const int64_t column = at.back();
      at.pop_back();
      return Taken(tensors[0], {tensors[1].Integer(PositionOf(tensors[1].shape, at)), column});
    })};
  };
  embedding.range = range(false, "indices");
  return {select, v2, v3, gather, take, embedding};
}

// ---- Scatter ----

std::vector<OperatorSpec> Scatters() {
  std::vector<OperatorSpec> all;
  const struct {
    CFunction function;
    bool has_value;
    bool in_place;
    bool adds;
  } forms[] = {{PORTACL_C_FUNCTION(aclnnScatter), false, false, false},
               {PORTACL_C_FUNCTION(aclnnInplaceScatter), false, true, false},
               {PORTACL_C_FUNCTION(aclnnScatterValue), true, false, false},
               {PORTACL_C_FUNCTION(aclnnInplaceScatterValue), true, true, false},
               {PORTACL_C_FUNCTION(aclnnScatterAdd), false, false, true}};
  for (const auto& form : forms) {
    const std::string self = form.in_place ? "selfRef" : "self";
    const std::string out = form.in_place ? "selfRef" : "out";
    OperatorSpec op;
    op.function = form.function;
    op.takes_workspace = true;
    op.is_inexact = true;
    op.valid = {form.in_place ? OutputArg(self, {2, 3}) : TensorArg(self, {2, 3}), IntegerArg("dim", 1),
                TensorArg("index", {2, 3}, ACL_INT64)};
    op.valid.push_back(form.has_value ? ScalarArg("value", {2, 0}) : TensorArg("src", {2, 3}));
    if (!form.adds) op.valid.push_back(IntegerArg("reduce", 1));
    if (!form.in_place) op.valid.push_back(OutputArg("out", {2, 3}));
    const auto reduce_of = [=](const PlanCall& call) {
      return form.adds ? int64_t{1} : call["reduce"].integer;
    };
    op.rules = {NoNulls(self + " index " + (form.has_value ? "value" : "src") + " " + out)};
    if (form.has_value) {
      op.rules.push_back(Refuses(161002, "value", [=](PlanCall& call) {
        return IsComplexDtype(call["value"].dtype) && !IsComplexDtype(call[self].dtype);
      }));
    }
    op.rules.push_back(DtypeIn(self, kWithComplex));
    if (!form.has_value) op.rules.push_back(SameDtype(self, "src"));
    op.rules.push_back(SameDtype(self, out));
    const auto walks = [](const PlanCall& call) { return NumElements(call["index"].shape) > 0; };
    op.rules.push_back(Refuses(161002, "index", [=](PlanCall& call) {
      return walks(call) && !kIndices.Has(call.product, call["index"].dtype);
    }));
    op.rules.push_back(Refuses(161002, "index src " + self + " dim " + out, [=](PlanCall& call) {
      if (!walks(call)) return false;
      const auto rank = [&](const Shape& shape) {
        return call.product == Product::k950 ? std::max<size_t>(shape.size(), 1) : shape.size();
      };
      const Shape& s = call[self].shape;
      const Shape& index = call["index"].shape;
      if (rank(s) != rank(index) || (!form.has_value && rank(call["src"].shape) != rank(s))) return true;
      if (call[out].shape != s && !call[out].shape.empty()) return true;
      const bool is_dim = IsDimOf(call["dim"].integer, s);
      for (size_t i = 0; i < std::max<size_t>(index.size(), 1); ++i) {
        if (!form.has_value && LengthAt(index, i) > LengthAt(call["src"].shape, i)) return true;
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
      const int64_t reduce = reduce_of(call);
      if (reduce == 5) return call[self].dtype == ACL_BOOL;
      return (reduce == 3 || reduce == 4) && IsComplexDtype(call[self].dtype);
    }));
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(random, kDrawn);
      const Shape shape = DrawShape(random, 0, 4);
      call[self] = form.in_place ? OutputArg(self, shape, dtype) : TensorArg(self, shape, dtype);
      if (!form.in_place) call["out"] = OutputArg("out", shape, dtype);
      call["dim"].integer = shape.empty() ? 0 : random.Between(-std::ssize(shape), std::ssize(shape) - 1);
      Shape index = shape;
      for (size_t i = 0; i < index.size(); ++i)
        index[i] =
            i == Wrapped(call["dim"].integer, shape) ? random.Between(1, 9) : random.Between(1, shape[i]);
      call["index"] = TensorArg("index", index, random.Chance(50) ? ACL_INT32 : ACL_INT64);
      if (!form.adds) call["reduce"].integer = random.Between(0, 4);
      if (form.has_value) {
        call["value"] = ScalarArg("value", {static_cast<long double>(random.Between(-2, 3)), 0}, ACL_DOUBLE);
        if (dtype == ACL_BOOL) call["value"].number = {1, 0};
        return;
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
      const TensorValues& index = tensors[1];
      const Shape& shape = tensors[0].shape;
      std::vector<Cell> cells = CellsOf(tensors[0]);
      const size_t dim = Wrapped(call["dim"].integer, shape);
      for (int64_t i = 0; i < NumElements(index.shape); ++i) {
        const Index from = IndexAt(index.shape, i);
        Index to = from;
        to.resize(shape.size());
        const int64_t place = Wrap(index.Integer(i), LengthAt(shape, dim));
        if (!IsPlace(place, LengthAt(shape, dim))) continue;
        if (dim < to.size()) to[dim] = place;
        const DtypeNumber dtype = tensors[0].dtype;
        const Element value =
            form.has_value ? ElementOfNumber(dtype, call["value"].number) : At(tensors[2], from);
        cells[static_cast<size_t>(PositionOf(shape, to))].Combine(reduce_of(call), dtype, value);
      }
      return std::vector<Outcome>{OutcomeOf(cells)};
    };
    all.push_back(op);
  }
  return all;
}

// ---- IndexAdd, IndexCopy ----

std::vector<OperatorSpec> ByIndex() {
  std::vector<OperatorSpec> all;
  for (const int form : {0, 1, 2, 3}) {  // IndexAdd, IndexCopy, in place, IndexAddV2
    const bool has_mode = form == 3;
    const bool adds = form == 0 || has_mode;
    const bool in_place = form == 2;
    const std::string self = adds ? "self" : "selfRef";
    const std::string out = adds ? "out" : in_place ? "selfRef" : "outRef";
    OperatorSpec op;
    op.function = has_mode   ? PORTACL_C_FUNCTION(aclnnIndexAddV2)
                  : adds     ? PORTACL_C_FUNCTION(aclnnIndexAdd)
                  : in_place ? PORTACL_C_FUNCTION(aclnnInplaceIndexCopy)
                             : PORTACL_C_FUNCTION(aclnnIndexCopy);
    op.takes_workspace = op.is_inexact = true;
    op.valid = {in_place ? OutputArg(self, {3, 3}) : TensorArg(self, {3, 3}), IntegerArg("dim", 0),
                TensorArg("index", {2}, ACL_INT64), TensorArg("source", {2, 3})};
    if (adds) op.valid.push_back(ScalarArg("alpha", {2, 0}));
    if (has_mode) op.valid.push_back(IntegerArg("mode", 1));
    if (!in_place) op.valid.push_back(OutputArg(out, {3, 3}));
    Listed copied = kWithComplex;
    copied.on_950 = {ACL_UINT32, ACL_UINT64};
    if (adds) {
      op.rules = {NoNulls("self index source alpha out"),
                  DtypeIn("self", kFDI),
                  DtypeIn("index", kIndices),
                  DtypeIn("source out", kFDI),
                  SameDtype("self", "source"),
                  SameDtype("self", "out"),
                  Ranks("self source", 0, 8),
                  Refuses(161002, "dim",
                          [](PlanCall& call) {
                            const Shape& shape = call["self"].shape;
                            return !IsDimOf(call["dim"].integer, shape) ||
                                   (shape.empty() && call["dim"].integer != 0);
                          }),
                  Refuses(161002, "source index",
                          [](PlanCall& call) {
                            const Shape& shape = call["self"].shape;
                            const Shape source =
                                call["source"].shape.empty() ? Shape{1} : call["source"].shape;
                            const size_t dim = Wrapped(call["dim"].integer, shape);
                            if (!shape.empty() && source.size() != shape.size()) return true;
                            for (size_t i = 0; i < shape.size(); ++i) {
                              if (i != dim && source[i] != shape[i]) return true;
                            }
                            return call["index"].shape.size() > 1 ||
                                   NumElements(call["index"].shape) != LengthAt(source, dim);
                          }),
                  SameShape("self", "out"),
                  DoneIfEmpty("self source")};
      if (has_mode)
        op.rules.push_back(Refuses(561103, "self index dim", [](PlanCall& call) {
          const int64_t dim = call["dim"].integer;
          return call["mode"].integer == 0 &&
                 (!IsOneOf(call["self"].dtype, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT32, ACL_INT16}) ||
                  call["self"].shape.size() != 2 || call["index"].shape.size() != 1 ||
                  (dim != 0 && dim != -2));
        }));
    } else {
      op.rules = {NoNulls(self + " index source " + out),
                  DtypeIn(self, copied),
                  DtypeIn("index", kIndices),
                  SameDtype(self, "source"),
                  SameDtype(self, out),
                  Ranks(self + " source", 0, 8),
                  Ranks("index", 0, 1),
                  SameShape(self, out),
                  Refuses(161002, "index source dim",
                          [=](PlanCall& call) {
                            const Shape& shape = call[self].shape;
                            const Shape& source = call["source"].shape;
                            const int64_t count = NumElements(call["index"].shape);
                            if (source.empty() && count != 1) return true;
                            if (source.size() != shape.size() && !source.empty() && !shape.empty())
                              return true;
                            if (!IsDimOf(call["dim"].integer, shape)) return true;
                            const size_t dim = Wrapped(call["dim"].integer, shape);
                            for (size_t i = 0; i < std::max(shape.size(), source.size()); ++i) {
                              if (i != dim && LengthAt(source, i) != LengthAt(shape, i)) return true;
                            }
                            return !source.empty() && count != LengthAt(source, dim);
                          }),
                  Refuses(161002, out, [=](PlanCall& call) { return call[self].format != call[out].format; }),
                  DoneIfEmpty(self + " index")};
    }
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(random, kDrawn);
      const Shape shape = DrawShape(random, 0, 4);
      call[self] = in_place ? OutputArg(self, shape, dtype) : TensorArg(self, shape, dtype);
      if (!in_place) call[out] = OutputArg(out, shape, dtype);
      call["dim"].integer = shape.empty() ? 0 : random.Between(-std::ssize(shape), std::ssize(shape) - 1);
      const int64_t count = random.Between(1, 9);
      Shape source = shape;
      if (shape.empty())
        source = {count};
      else
        source[Wrapped(call["dim"].integer, shape)] = count;
      call["index"] = TensorArg("index", {count}, random.Chance(50) ? ACL_INT32 : ACL_INT64);
      call["source"] = TensorArg("source", source, dtype);
      if (adds)
        call["alpha"] = ScalarArg("alpha", {static_cast<long double>(random.Between(1, 3)), 0}, ACL_DOUBLE);
      if (adds && dtype == ACL_BOOL) call["alpha"].number = {1, 0};
      if (has_mode) call["mode"].integer = random.Below(3);
    };
    op.range = [=](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
      const Shape& shape = call[self].shape;
      if (tensor != 1) return std::nullopt;
      return IndexRange{0, LengthAt(shape, Wrapped(call["dim"].integer, shape))};
    };
    op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
      const Shape& shape = tensors[0].shape;
      const TensorValues& source = tensors[2];
      std::vector<Cell> cells = CellsOf(tensors[0]);
      const size_t dim = Wrapped(call["dim"].integer, shape);
      for (int64_t i = 0; i < NumElements(source.shape); ++i) {
        Index at = IndexAt(source.shape, i);
        const int64_t target = tensors[1].Integer(dim < at.size() ? at[dim] : 0);
        if (!IsPlace(target, LengthAt(shape, dim))) continue;
        at.resize(shape.size());
        if (dim < at.size()) at[dim] = target;
        cells[static_cast<size_t>(PositionOf(shape, at))].Combine(
            adds ? 1 : 0, source.dtype, source.elements[static_cast<size_t>(i)],
            adds && !(has_mode && call["mode"].integer == 0) ? static_cast<double>(call["alpha"].number.real)
                                                             : 1);
      }
      return std::vector<Outcome>{OutcomeOf(cells)};
    };
    all.push_back(op);
  }
  return all;
}

// ---- EmbeddingDenseBackward ----

OperatorSpec EmbeddingGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnEmbeddingDenseBackward);
  op.takes_workspace = op.is_inexact = true;
  op.valid = {TensorArg("grad", {2, 3}),    TensorArg("indices", {2}, ACL_INT64), IntegerArg("numWeights", 4),
              IntegerArg("paddingIdx", -1), IntegerArg("scaleGradByFreq", 0),     OutputArg("out", {4, 3})};
  op.rules = {
      NoNulls("grad indices out"),
      DtypeIn("grad", kFloats),
      DtypeIn("indices", {{ACL_FLOAT16, ACL_FLOAT, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32,
                           ACL_INT64, ACL_BOOL}}),
      DtypeIn("out", kFloats),
      Ranks("grad indices out", 0, 8),
      Refuses(161002, "grad indices",
              [](PlanCall& call) {
                Shape leading = call["grad"].shape;
                if (leading.empty()) return true;
                const int64_t last = leading.back();
                leading.pop_back();
                return last != 0 && NumElements(leading) != NumElements(call["indices"].shape);
              }),
      Refuses(161002, "out",
              [](PlanCall& call) {
                return call["out"].shape != Shape{call["numWeights"].integer, call["grad"].shape.back()};
              }),
      Public("grad indices out")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape index = DrawShape(random, 0, 3);
    const int64_t columns = random.Chance(20) ? random.Between(1, 700) : random.Between(1, 9);
    const int64_t rows = random.Between(2, 9);
    Shape grad = random.Chance(70) ? index : Shape{NumElements(index)};
    grad.push_back(columns);
    call["indices"] = TensorArg("indices", index,
                                DrawDtype(random, {ACL_INT64, ACL_INT32, ACL_INT8, ACL_FLOAT, ACL_FLOAT16}));
    call["grad"] = TensorArg("grad", grad, DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
    call["numWeights"].integer = rows;
    call["paddingIdx"].integer = random.Chance(50) ? -1 : random.Below(rows);
    call["scaleGradByFreq"].integer = random.Below(2);
    call["out"] = OutputArg("out", {rows, columns}, DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}));
  };
  op.range = [](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
    return tensor == 1 ? std::optional<IndexRange>({0, call["numWeights"].integer}) : std::nullopt;
  };
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t columns = tensors[0].shape.back();
    const int64_t rows = call["numWeights"].integer;
    std::vector<float> sums(static_cast<size_t>(rows * columns));
    std::vector<int64_t> counts(static_cast<size_t>(rows));
    for (int64_t i = 0; i < NumElements(tensors[1].shape); ++i) {
      const Element integer =
          ConvertedElement(tensors[1].dtype, tensors[1].elements[static_cast<size_t>(i)], ACL_INT64);
      const int64_t row = DecodeInteger(ACL_INT64, integer.data());
      if (row == call["paddingIdx"].integer || !IsPlace(row, rows)) continue;
      ++counts[static_cast<size_t>(row)];
      for (int64_t k = 0; k < columns; ++k) {
        const Element wide = ConvertedElement(
            tensors[0].dtype, tensors[0].elements[static_cast<size_t>(i * columns + k)], ACL_FLOAT);
        float value = 0;
        std::memcpy(&value, wide.data(), sizeof value);
        sums[static_cast<size_t>(row * columns + k)] += value;
      }
    }
    return std::vector<Outcome>{ForEachElement(tensors[2].shape, [&](Index& at) -> std::optional<Element> {
      float sum = sums[static_cast<size_t>(at[0] * columns + at[1])];
      const int64_t count = counts[static_cast<size_t>(at[0])];
      if (call["scaleGradByFreq"].integer != 0 && count > 1) sum /= static_cast<float>(count);
      Element element(sizeof sum);
      std::memcpy(element.data(), &sum, sizeof sum);
      return ConvertedElement(ACL_FLOAT, element, tensors[2].dtype);
    })};
  };
  return op;
}

// ---- Index, IndexPutImpl: NumPy's rules, from the elements of the result ----

// The indices of a call, masks as the columns of what is true.
struct Column {
  size_t dim;  // of self
  Shape shape;
  std::vector<int64_t> values;
};

bool StandsForAll(const PlanArgument& entry, DtypeNumber self, bool writes) {
  if (NumElements(entry.shape) > 0) return false;
  return !writes || entry.dtype == self || entry.shape == Shape{0};
}

// Columns, or nothing where the list takes too many dims. Values are there where tensors are given.
std::optional<std::vector<Column>> ColumnsOf(const PlanCall& call, const std::string& self, bool writes,
                                             const std::vector<TensorValues>* tensors, int64_t mask_length) {
  std::vector<Column> columns;
  size_t dim = 0;
  for (size_t i = 0; i < call["indices"].entries.size(); ++i) {
    const PlanArgument& entry = call["indices"].entries[i];
    if (StandsForAll(entry, call[self].dtype, writes)) {
      ++dim;
      continue;
    }
    const size_t takes = entry.dtype == ACL_BOOL ? std::max<size_t>(entry.shape.size(), 1) : 1;
    if (dim + takes > call[self].shape.size()) return std::nullopt;
    const TensorValues* values = tensors == nullptr ? nullptr : &(*tensors)[1 + i];
    if (entry.dtype != ACL_BOOL) {
      Column column{dim, entry.shape, {}};
      for (int64_t k = 0; values != nullptr && k < NumElements(entry.shape); ++k)
        column.values.push_back(Wrap(values->Integer(k), call[self].shape[dim]));
      columns.push_back(column);
    } else {
      for (size_t d = 0; d < takes; ++d) {
        Column column{dim + d, {mask_length}, {}};
        for (int64_t k = 0; values != nullptr && k < NumElements(entry.shape); ++k) {
          if (values->Integer(k) != 0) column.values.push_back(IndexAt(entry.shape, k)[d]);
        }
        if (values != nullptr) column.shape = {std::ssize(column.values)};
        columns.push_back(column);
      }
    }
    dim += takes;
  }
  return columns;
}

// The shape of what columns name, and for each of its elements the place in self.
struct Named {
  Shape shape;
  bool broadcasts = true;
  std::vector<Index> places;
};
Named NamedBy(const Shape& self, const std::vector<Column>& columns, bool with_places) {
  Named named;
  std::vector<Shape> shapes;
  bool adjacent = true;
  for (size_t i = 0; i < columns.size(); ++i) {
    shapes.push_back(columns[i].shape);
    if (i > 0 && columns[i].dim != columns[i - 1].dim + 1) adjacent = false;
  }
  const auto both = shapes.empty() ? std::optional<Shape>(Shape{}) : Broadcast(shapes);
  if (!both) {
    named.broadcasts = false;
    return named;
  }
  std::vector<size_t> kept;
  size_t before = 0;
  for (size_t dim = 0; dim < self.size(); ++dim) {
    if (std::any_of(columns.begin(), columns.end(), [&](const Column& one) { return one.dim == dim; }))
      continue;
    if (adjacent && !columns.empty() && dim < columns[0].dim) ++before;
    kept.push_back(dim);
  }
  for (size_t i = 0; i < before; ++i) named.shape.push_back(self[kept[i]]);
  named.shape.insert(named.shape.end(), both->begin(), both->end());
  for (size_t i = before; i < kept.size(); ++i) named.shape.push_back(self[kept[i]]);
  if (!with_places) return named;
  std::vector<std::vector<int64_t>> of_column;
  for (const Column& column : columns) of_column.push_back(BroadcastPositions(column.shape, *both));
  for (int64_t i = 0; i < NumElements(named.shape); ++i) {
    const Index at = IndexAt(named.shape, i);
    const Index among(at.begin() + static_cast<std::ptrdiff_t>(before),
                      at.begin() + static_cast<std::ptrdiff_t>(before + both->size()));
    const auto position = static_cast<size_t>(PositionOf(*both, among));
    Index place(self.size());
    for (size_t k = 0; k < kept.size(); ++k) place[kept[k]] = at[k < before ? k : k + both->size()];
    for (size_t k = 0; k < columns.size(); ++k)
      place[columns[k].dim] = columns[k].values[static_cast<size_t>(of_column[k][position])];
    named.places.push_back(place);
  }
  return named;
}

std::vector<OperatorSpec> Lists() {
  std::vector<OperatorSpec> all;
  for (const bool writes : {false, true}) {
    const std::string self = writes ? "selfRef" : "self";
    const std::string other = writes ? "values" : "out";
    OperatorSpec op;
    op.function = writes ? PORTACL_C_FUNCTION(aclnnIndexPutImpl) : PORTACL_C_FUNCTION(aclnnIndex);
    op.takes_workspace = op.is_inexact = true;
    op.valid = {writes ? OutputArg(self, {3, 2}) : TensorArg(self, {3, 2}),
                ListArg("indices", {{3}, {1}}, false, ACL_INT64),
                writes ? TensorArg(other, {3}) : OutputArg(other, {3})};
    if (writes) {
      op.valid.push_back(IntegerArg("accumulate", 1));
      op.valid.push_back(IntegerArg("unsafe", 0));
    }
    Listed list = {
        {ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_INT32, ACL_BOOL, ACL_INT8, ACL_UINT8, ACL_DOUBLE, ACL_INT16}};
    if (!writes) list.on_950 = {ACL_COMPLEX64};
    const auto listed = [=](const std::string& name) {
      return Refuses(161002, name, [=](PlanCall& call) {
        const bool bf16 = call[name].dtype == ACL_BF16 && call.product != Product::k910;
        return !bf16 && !list.Has(call.product, call[name].dtype);
      });
    };
    const Rule index_dtypes = Refuses(161002, "indices", [](PlanCall& call) {
      const auto& entries = call["indices"].entries;
      return std::any_of(entries.begin(), entries.end(), [](auto& one) {
        return NumElements(one.shape) > 0 && !IsOneOf(one.dtype, {ACL_INT32, ACL_INT64, ACL_BOOL});
      });
    });
    const auto has_mask = [](const PlanCall& call) {
      const auto& entries = call["indices"].entries;
      return std::any_of(entries.begin(), entries.end(),
                         [](auto& one) { return NumElements(one.shape) > 0 && one.dtype == ACL_BOOL; });
    };
    const Rule masks = Refuses(161002, "indices", [=](PlanCall& call) {
      if (!has_mask(call)) return false;
      size_t dim = 0;
      for (const PlanArgument& entry : call["indices"].entries) {
        const bool is_mask = entry.dtype == ACL_BOOL;
        if (NumElements(entry.shape) == 0 || (!is_mask && !writes)) {
          ++dim;
          continue;
        }
        if (entry.shape.empty()) return true;
        for (size_t i = 0; i < entry.shape.size(); ++i) {
          if (dim + i >= call[self].shape.size() || entry.shape[i] != call[self].shape[dim + i]) return true;
        }
        dim += is_mask ? entry.shape.size() : 1;
      }
      return false;
    });
    const auto defined = [=](const PlanCall& call) {
      std::vector<const PlanArgument*> entries;
      for (const PlanArgument& entry : call["indices"].entries) {
        if (!StandsForAll(entry, call[self].dtype, writes)) entries.push_back(&entry);
      }
      return entries;
    };
    if (writes) {
      op.rules = {NoNulls("selfRef values indices"), listed("selfRef"), listed("values"), index_dtypes,
                  SameDtype("selfRef", "values"), Ranks("selfRef", 0, 8),
                  Refuses(161002, "indices",
                          [](PlanCall& call) {
                            return call["indices"].entries.size() > call["selfRef"].shape.size();
                          }),
                  masks, DoneIfEmpty("selfRef values"),
                  SucceedsIf([=](PlanCall& call) { return defined(call).empty(); }),
                  // With masks the shape is not determined here: the drawn calls look at them.
                  [=](PlanCall& call) -> std::optional<Verdict> {
                    if (has_mask(call)) return Verdict{kUndetermined, {}};
                    const auto columns = ColumnsOf(call, self, writes, nullptr, 0);
                    if (!columns) return Verdict{161002, {"indices"}};
                    const Named named = NamedBy(call[self].shape, *columns, false);
                    if (!named.broadcasts || named.shape.size() > 8) return Verdict{161002, {"indices"}};
                    const auto both = Broadcast(std::vector<Shape>{named.shape, call["values"].shape});
                    if (!both || *both != named.shape) return Verdict{561103, {"values"}};
                    return std::nullopt;
                  }};
    } else {
      op.rules = {NoNulls("self out indices"),
                  SameDtype("self", "out"),
                  listed("self"),
                  index_dtypes,
                  Public("self out"),
                  Refuses(161002, "indices",
                          [](PlanCall& call) {
                            const auto& entries = call["indices"].entries;
                            return std::any_of(entries.begin(), entries.end(), [](auto& one) {
                              return NumElements(one.shape) > 0 && one.format == ACL_FORMAT_FRACTAL_NZ;
                            });
                          }),
                  Ranks("self indices", 0, 8),
                  DoneIfEmpty("self out"),
                  Refuses(161002, "indices",
                          [=](PlanCall& call) {
                            const auto entries = defined(call);
                            return !call["self"].shape.empty() && !entries.empty() &&
                                   entries[0]->shape.size() + call["self"].shape.size() - entries.size() > 8;
                          }),
                  [=](PlanCall& call) { return call["self"].shape.empty() ? std::nullopt : masks(call); },
                  [=](PlanCall& call) -> std::optional<Verdict> {
                    if (call["self"].shape.empty())
                      return NumElements(call["out"].shape) == 1
                                 ? std::nullopt
                                 : std::optional<Verdict>(Verdict{161002, {"out"}});
                    if (has_mask(call)) return Verdict{kUndetermined, {}};
                    const auto columns = ColumnsOf(call, self, writes, nullptr, 0);
                    if (!columns) return Verdict{161002, {"indices"}};
                    const Named named = NamedBy(call[self].shape, *columns, false);
                    if (!named.broadcasts || named.shape.size() > 8) return Verdict{161002, {"indices"}};
                    if (named.shape != call["out"].shape) return Verdict{161002, {"out"}};
                    if (call["self"].dtype == ACL_COMPLEX64) {
                      for (const auto* entry : defined(call)) {
                        if (entry->shape != defined(call)[0]->shape) return Verdict{561103, {"indices"}};
                      }
                    }
                    return std::nullopt;
                  }};
    }
    op.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(random, kDrawn);
      const Shape shape = DrawShape(random, 1, 4);
      const Shape both = DrawShape(random, 0, 2);
      call[self] = writes ? OutputArg(self, shape, dtype) : TensorArg(self, shape, dtype);
      std::vector<PlanArgument> entries;
      for (size_t dim = 0; dim < shape.size(); ++dim) {
        if (random.Chance(40)) {
          entries.push_back(TensorArg("", {0}, dtype));
          continue;
        }
        Shape index = both;
        for (int64_t& length : index) length = random.Chance(25) ? 1 : length;
        if (random.Chance(20) && !index.empty()) index.erase(index.begin());
        entries.push_back(TensorArg("", index, random.Chance(50) ? ACL_INT32 : ACL_INT64));
        if (random.Chance(20)) break;
      }
      call["indices"].entries = entries;
      const auto columns = ColumnsOf(call, self, writes, nullptr, 0);
      const Named named = NamedBy(shape, *columns, false);
      if (writes) {
        Shape values(
            named.shape.begin() + static_cast<std::ptrdiff_t>(
                                      random.Chance(30) ? random.Below(std::ssize(named.shape) + 1) : 0),
            named.shape.end());
        for (int64_t& length : values) length = random.Chance(15) ? 1 : length;
        call["values"] = TensorArg("values", values, dtype);
        call["accumulate"].integer = random.Below(2);
      } else {
        call["out"] = OutputArg("out", named.shape, dtype);
      }
    };
    op.range = [=](const PlanCall& call, size_t tensor) -> std::optional<IndexRange> {
      const auto& entries = call["indices"].entries;
      if (tensor == 0 || tensor > entries.size() || NumElements(entries[tensor - 1].shape) == 0)
        return std::nullopt;
      const int64_t length = LengthAt(call[self].shape, tensor - 1);
      return IndexRange{-length, length};
    };
    op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
      const auto columns = ColumnsOf(call, self, writes, &tensors, 0);
      const Named named = NamedBy(tensors[0].shape, *columns, true);
      if (!writes) {
        Outcome outcome;
        if (columns->empty()) {
          for (const Element& element : tensors[0].elements) outcome.emplace_back(element);
        }
        for (size_t i = 0; !columns->empty() && i < named.places.size(); ++i)
          outcome.emplace_back(Taken(tensors[0], named.places[i]));
        return std::vector<Outcome>{outcome};
      }
      if (columns->empty()) return std::vector<Outcome>{{}};
      std::vector<Cell> cells = CellsOf(tensors[0]);
      const TensorValues& values = tensors.back();
      const std::vector<int64_t> from = BroadcastPositions(values.shape, named.shape);
      for (size_t i = 0; i < named.places.size(); ++i) {
        const Index& place = named.places[i];
        bool is_position = true;
        for (size_t dim = 0; dim < place.size(); ++dim)
          is_position = is_position && IsPlace(place[dim], tensors[0].shape[dim]);
        if (!is_position) continue;
        cells[static_cast<size_t>(PositionOf(tensors[0].shape, named.places[i]))].Combine(
            call["accumulate"].integer, values.dtype, values.elements[static_cast<size_t>(from[i])]);
      }
      return std::vector<Outcome>{OutcomeOf(cells)};
    };
    all.push_back(op);
  }
  return all;
}

const std::vector<OperatorSpec>& IndexedOperators() {
  static const std::vector<OperatorSpec> operators = [] {
    std::vector<OperatorSpec> all = {EmbeddingGradient()};
    for (const auto& family : {Gathers(), Scatters(), ByIndex(), Lists()})
      all.insert(all.end(), family.begin(), family.end());
    return all;
  }();
  return operators;
}

PORTACL_OPERATOR_TESTS(Indexed, IndexedOperators());
TEST_P(Indexed, BadIndices) { CheckBadIndices(*GetParam()); }

// ---- by hand ----

TEST(BadIndices, FailTheStreamOnceAndNameTheFirst) {
  for (const char* how : {"raise", "ignore"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", how}});
    const bool raises = std::string(how) == "raise";
    std::vector<float> self = {1, 2, 3, 4, 5, 6};
    std::vector<int64_t> index = {1, 0, 3, -1};
    std::vector<float> out(8, -7);
    aclTensor* const tensors[] = {Dense({2, 3}, ACL_FLOAT, self), Dense({4}, ACL_INT64, index),
                                  Dense({2, 4}, ACL_FLOAT, out)};
    const Called read = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnIndexSelectGetWorkspaceSize(tensors[0], 1, tensors[1], tensors[2], size, executor);
        },
        aclnnIndexSelect, environment.stream());
    EXPECT_EQ(read.status, 0);
    EXPECT_EQ(read.first, raises ? 507015 : 0);
    EXPECT_EQ(read.second, 0);
    EXPECT_EQ(out, (std::vector<float>{2, 1, 0, 0, 5, 4, 0, 0}));
    EXPECT_EQ(read.message.find("aclnnIndexSelect: index has the value 3 at element 2, accepted: 0 to 2.") !=
                  std::string::npos,
              raises)
        << read.message;

    std::vector<float> source = {10, 20, 30, 40, 50, 60, 70, 80};
    aclTensor* const from = Dense({2, 4}, ACL_FLOAT, source);
    float alpha_value = 1;
    aclScalar* const alpha = aclCreateScalar(&alpha_value, ACL_FLOAT);
    const Called written = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnIndexAddGetWorkspaceSize(tensors[0], 1, tensors[1], from, alpha, tensors[0], size,
                                               executor);
        },
        aclnnIndexAdd, environment.stream());
    EXPECT_EQ(written.first, raises ? 507015 : 0);
    EXPECT_EQ(self, (std::vector<float>{21, 12, 3, 64, 55, 6}));
    aclDestroyScalar(alpha);
    aclDestroyTensor(from);
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
  EXPECT_NE(ScopedEnvironment(Variables{{"PORTACL_INDEX_ERRORS", "maybe"}}).init_status(), 0);
  TakeErrorMessage();
}

// self is expanded, too: its dim and that of the indices beside it have steps alike.
TEST(BadIndices, OfAnExpandedTensorCountItsElements) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self = {1, 2, 3};
  std::vector<int64_t> index = {1, 3};
  std::vector<float> out(40, -7);
  const auto expanded = [](const Shape& shape, DtypeNumber dtype, auto& data) {
    const int64_t strides[] = {1, 0};
    const int64_t length = std::ssize(data);
    return aclCreateTensor(shape.data(), shape.size(), AsAclDataType(dtype), strides, 0, ACL_FORMAT_ND,
                           &length, 1, data.data());
  };
  aclTensor* const tensors[] = {expanded({3, 5}, ACL_FLOAT, self), expanded({2, 4}, ACL_INT64, index),
                                Dense({2, 4, 5}, ACL_FLOAT, out)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnGatherV2GetWorkspaceSize(tensors[0], 0, tensors[1], tensors[2], size, executor);
      },
      aclnnGatherV2, environment.stream());
  EXPECT_EQ(called.first, 507015);
  EXPECT_NE(called.message.find("index has the value 3 at element 4, accepted: -3 to 2."), std::string::npos)
      << called.message;
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// Along a dim of one element no step is taken, so its stride says nothing.
TEST(Strides, OfOneElementMayBeAnyNumber) {
  const ScopedEnvironment environment(Variables{});
  const Shape shape = {1, 3};
  const int64_t strides[] = {std::numeric_limits<int64_t>::min(), 1};
  std::vector<float> self = {1, 2, 3};
  std::vector<int64_t> index = {0, 0};
  std::vector<float> out(6, -7);
  aclTensor* const tensors[] = {
      aclCreateTensor(shape.data(), 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, &shape[1], 1, self.data()),
      Dense({2}, ACL_INT64, index), Dense({2, 3}, ACL_FLOAT, out)};
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnIndexSelectGetWorkspaceSize(tensors[0], 0, tensors[1], tensors[2], size, executor);
      },
      aclnnIndexSelect, environment.stream());
  EXPECT_EQ(called.status, 0) << called.message;
  EXPECT_EQ(out, (std::vector<float>{1, 2, 3, 1, 2, 3}));
  // What a mask names lies as far apart.
  std::vector<uint8_t> mask = {1, 0, 1};
  std::vector<float> chosen = {-7, -7};
  const aclTensor* const entry = Dense({1, 3}, ACL_BOOL, mask);
  const aclTensorList* const list = aclCreateTensorList(&entry, 1);
  aclTensor* const result = Dense({2}, ACL_FLOAT, chosen);
  const Called by_mask = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnIndexGetWorkspaceSize(tensors[0], list, result, size, executor);
      },
      aclnnIndex, environment.stream());
  EXPECT_EQ(by_mask.status, 0) << by_mask.message;
  EXPECT_EQ(chosen, (std::vector<float>{1, 3}));
  aclDestroyTensorList(list);
  aclDestroyTensor(result);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

TEST(BadIndices, WithoutAnAddressAreRefused) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self = {1, 2, 3};
  std::vector<int64_t> index = {1, 2};
  std::vector<float> out = {-7, -7};
  aclTensor* const tensors[] = {Dense({3}, ACL_FLOAT, self), Dense({2}, ACL_INT64, index),
                                Dense({2}, ACL_FLOAT, out)};
  ASSERT_EQ(aclSetRawTensorAddr(tensors[1], nullptr), 0);
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnIndexSelectGetWorkspaceSize(tensors[0], 0, tensors[1], tensors[2], size, executor);
      },
      aclnnIndexSelect, environment.stream());
  EXPECT_EQ(called.status, 161001);
  EXPECT_NE(called.message.find("the data address of index is a null pointer"), std::string::npos)
      << called.message;
  EXPECT_EQ(out, (std::vector<float>{-7, -7}));
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

TEST(BadIndices, OfListsNameTheEntry) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> rows = {1, -2, 0};
  std::vector<int32_t> columns = {2, 0, -4};
  std::vector<float> out(3, -7);
  aclTensor* const tensor = Dense({2, 3}, ACL_FLOAT, self);
  aclTensor* const result = Dense({3}, ACL_FLOAT, out);
  const aclTensor* const entries[] = {Dense({3}, ACL_INT32, rows), Dense({3}, ACL_INT32, columns)};
  aclTensorList* const list = aclCreateTensorList(entries, 2);
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnIndexGetWorkspaceSize(tensor, list, result, size, executor);
      },
      aclnnIndex, environment.stream());
  EXPECT_EQ(called.first, 507015);
  EXPECT_NE(called.message.find("indices[1] has the value -4 at element 2, accepted: -3 to 2."),
            std::string::npos)
      << called.message;
  EXPECT_EQ(out, (std::vector<float>{6, 1, 0}));
  aclDestroyTensorList(list);
  aclDestroyTensor(tensor);
  aclDestroyTensor(result);
}

TEST(Masks, ReadAndWriteWhatTheyNameInOrder) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> self = {1, 2, 3, 4, 5, 6};
  std::vector<unsigned char> mask = {1, 0, 1, 0, 0, 1};
  std::vector<float> out(3, -7);
  aclTensor* const tensor = Dense({2, 3}, ACL_FLOAT, self);
  aclTensor* const result = Dense({3}, ACL_FLOAT, out);
  const aclTensor* const entries[] = {Dense({2, 3}, ACL_BOOL, mask)};
  aclTensorList* const list = aclCreateTensorList(entries, 1);
  const auto read = [&](aclTensor* to) {
    return Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnIndexGetWorkspaceSize(tensor, list, to, size, executor);
        },
        aclnnIndex, environment.stream());
  };
  EXPECT_EQ(read(result).first, 0);
  EXPECT_EQ(out, (std::vector<float>{1, 3, 6}));
  std::vector<float> longer(4, -7);
  aclTensor* const too_long = Dense({4}, ACL_FLOAT, longer);
  const Called wrong = read(too_long);
  EXPECT_EQ(wrong.first, 507015);
  EXPECT_NE(wrong.message.find("true at 3 places"), std::string::npos) << wrong.message;
  EXPECT_EQ(longer, (std::vector<float>{1, 3, 6, 0}));

  const auto write = [&](aclTensor* values, bool adds) {
    return Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnIndexPutImplGetWorkspaceSize(tensor, list, values, adds, false, size, executor);
        },
        aclnnIndexPutImpl, environment.stream());
  };
  std::vector<float> given = {10, 20, 30};
  aclTensor* const values = Dense({3}, ACL_FLOAT, given);
  EXPECT_EQ(write(values, true).first, 0);
  EXPECT_EQ(self, (std::vector<float>{11, 2, 23, 4, 5, 36}));
  std::vector<float> one = {9};
  aclTensor* const value = Dense({}, ACL_FLOAT, one);
  EXPECT_EQ(write(value, false).first, 0);
  EXPECT_EQ(self, (std::vector<float>{9, 2, 9, 4, 5, 9}));
  aclDestroyTensorList(list);
  for (aclTensor* used : {tensor, result, too_long, values, value}) aclDestroyTensor(used);
}

// A mask over all dims and one value, where both lie dense: a masked fill. Any byte but 0 is true, and a NaN keeps its bits.
TEST(Masks, OneValueOfAnySizeKeepsItsBits) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(0x0FA1);
  for (const DtypeNumber dtype : {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8,
                                  ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL}) {
    for (const Shape& shape : {Shape{1}, Shape{5, 3}, Shape{2, 3, 2, 1, 2, 3, 1, 2}, Shape{1100}}) {
      const auto size = static_cast<size_t>(ElementSize(dtype));
      const auto n = static_cast<size_t>(NumElements(shape));
      std::vector<unsigned char> self(n * size);
      std::vector<unsigned char> given(size, dtype == ACL_BOOL ? 1 : 0xFF);
      std::vector<unsigned char> mask(n);
      for (unsigned char& byte : self)
        byte = static_cast<unsigned char>(dtype == ACL_BOOL ? 0 : random.Below(250));
      for (unsigned char& byte : mask)
        byte = static_cast<unsigned char>(random.Chance(50) ? random.Below(256) : 0);
      std::vector<unsigned char> expected = self;
      for (size_t i = 0; i < n; ++i) {
        if (mask[i] != 0)
          std::copy(given.begin(), given.end(), expected.begin() + static_cast<std::ptrdiff_t>(i * size));
      }
      aclTensor* const tensor = Dense(shape, dtype, self);
      aclTensor* const value = Dense({1}, dtype, given);
      const aclTensor* const entries[] = {Dense(shape, ACL_BOOL, mask)};
      aclTensorList* const list = aclCreateTensorList(entries, 1);
      const Called called = Call(
          [&](uint64_t* bytes, aclOpExecutor** executor) {
            return aclnnIndexPutImplGetWorkspaceSize(tensor, list, value, false, false, bytes, executor);
          },
          aclnnIndexPutImpl, environment.stream());
      EXPECT_EQ(called.first, 0) << called.message;
      EXPECT_EQ(self, expected) << dtype << " of " << n;
      aclDestroyTensorList(list);
      aclDestroyTensor(tensor);
      aclDestroyTensor(value);
    }
  }
}

// ---- outputs whose length the data decide ----

// Calls an operator with strided inputs, work pending in the stream, and compares shape and elements.
void CheckChosen(const CFunction& function, std::vector<HostTensor>& inputs, DtypeNumber out_dtype,
                 const Shape& made_for, const Shape& shape, const std::vector<Element>& expected,
                 aclrtStream stream) {
  RandomNumbers random(1);
  HostTensor out(out_dtype, MakeView(made_for, Layout::kDenseOffset, random));
  for (HostTensor& input : inputs) input.Remember();
  out.Remember();
  std::vector<Argument> arguments;
  for (HostTensor& input : inputs) arguments.push_back({.tensor = input.Handle()});
  arguments.push_back({.tensor = out.Handle()});
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(function.plan(arguments, &size, &executor), 0) << TakeErrorMessage();
  const GuardedBuffer workspace(size);
  // What is pending in the stream sets the last input before it is read.
  std::vector<std::byte> bytes(inputs.back().buffer().size());
  std::memcpy(bytes.data(), inputs.back().buffer().data(), bytes.size());
  std::memset(inputs.back().buffer().data(), 0, bytes.size());
  ASSERT_EQ(aclrtMemcpyAsync(inputs.back().buffer().device(), bytes.size(), bytes.data(), bytes.size(),
                             ACL_MEMCPY_HOST_TO_DEVICE, stream),
            0);
  ASSERT_EQ(function.run(workspace.device(), size, executor, stream), 0) << TakeErrorMessage();
  EXPECT_EQ(ViewShapeOf(out.Handle()), shape);
  ASSERT_EQ(aclrtSynchronizeStream(stream), 0);
  for (const HostTensor& input : inputs) EXPECT_TRUE(input.Unchanged());
  EXPECT_TRUE(out.UnchangedOutsideView());
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(IsSameElement(out_dtype, out.Element(static_cast<int64_t>(i)), expected[i]))
        << function.name << " at " << i;
}

HostTensor RandomTensor(DtypeNumber dtype, const Shape& shape, bool mostly_zero, RandomNumbers& random) {
  HostTensor tensor(dtype, MakeView(shape, kOutputLayouts[random.Below(std::size(kOutputLayouts))], random));
  const std::vector<Element> elements = TestElements(dtype, 20, random);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const Element& element = elements[static_cast<size_t>(random.Below(std::ssize(elements)))];
    std::memcpy(tensor.Element(i), element.data(), element.size());
    if (mostly_zero && random.Chance(60)) std::memset(tensor.Element(i), 0, element.size());
  }
  return tensor;
}

TEST(ChosenByData, ShapesAndElements) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0xC405E);
    for (int i = 0; i < 300; ++i) {
      Shape shape = DrawShape(random, 1, 4);
      if (i % 50 == 49) shape = {random.Between(1, 3), 90000};
      const DtypeNumber dtype =
          DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT64, ACL_BOOL, ACL_DOUBLE});
      {
        std::vector<HostTensor> inputs;
        inputs.push_back(RandomTensor(dtype, shape, true, random));
        std::vector<Index> places;
        for (int64_t k = 0; k < inputs[0].size(); ++k) {
          const Element one(inputs[0].Element(k), inputs[0].Element(k) + ElementSize(dtype));
          if (ConvertedElement(dtype, one, ACL_BOOL)[0] != std::byte{0}) places.push_back(IndexAt(shape, k));
        }
        const auto rank = std::ssize(shape);
        for (const bool across : {false, true}) {
          std::vector<Element> expected(places.size() * shape.size(), Element(8));
          for (size_t n = 0; n < places.size(); ++n) {
            for (size_t d = 0; d < shape.size(); ++d)
              std::memcpy(expected[across ? d * places.size() + n : n * shape.size() + d].data(),
                          &places[n][d], 8);
          }
          CheckChosen(across ? PORTACL_C_FUNCTION(aclnnNonzeroV2) : PORTACL_C_FUNCTION(aclnnNonzero), inputs,
                      ACL_INT64, across ? Shape{rank, NumElements(shape)} : Shape{NumElements(shape), rank},
                      across ? Shape{rank, std::ssize(places)} : Shape{std::ssize(places), rank}, expected,
                      environment.stream());
        }
      }
      const DtypeNumber out = random.Chance(70) ? dtype : DtypeNumber{ACL_INT64};
      Shape mask_shape(shape.begin() + static_cast<std::ptrdiff_t>(random.Below(2)), shape.end());
      for (int64_t& dim : mask_shape) dim = random.Chance(20) ? 1 : dim;
      std::vector<HostTensor> inputs;
      inputs.push_back(RandomTensor(dtype, shape, false, random));
      inputs.push_back(RandomTensor(random.Chance(50) ? ACL_BOOL : ACL_UINT8, mask_shape, true, random));
      const std::vector<int64_t> of_mask = BroadcastPositions(mask_shape, shape);
      std::vector<Element> expected;
      for (int64_t k = 0; k < inputs[0].size(); ++k) {
        if (*inputs[1].Element(of_mask[static_cast<size_t>(k)]) == std::byte{0}) continue;
        const Element one(inputs[0].Element(k), inputs[0].Element(k) + ElementSize(dtype));
        expected.push_back(ConvertedElement(dtype, one, out));
      }
      CheckChosen(PORTACL_C_FUNCTION(aclnnMaskedSelect), inputs, out, {NumElements(shape)},
                  {std::ssize(expected)}, expected, environment.stream());
    }
  }
}

TEST(ChosenByData, Codes) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> data(6, 1);
  std::vector<int64_t> places(12, -7);
  std::vector<unsigned char> truth(6, 1);
  aclTensor* const self = Dense({2, 3}, ACL_FLOAT, data);
  aclTensor* const out = Dense({6, 2}, ACL_INT64, places);
  aclTensor* const wrong = Dense({6}, ACL_FLOAT, data);
  aclTensor* const mask = Dense({2, 3}, ACL_BOOL, truth);
  aclTensor* const empty = Dense({0, 3}, ACL_FLOAT, data);
  aclTensor* const complex = Dense({1}, ACL_COMPLEX64, data);
  uint64_t size = 77;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnNonzeroGetWorkspaceSize(nullptr, out, &size, &executor), 161001);
  EXPECT_EQ(aclnnNonzeroGetWorkspaceSize(self, nullptr, &size, &executor), 161001);
  EXPECT_EQ(aclnnNonzeroGetWorkspaceSize(self, wrong, &size, &executor), 161002);
  EXPECT_EQ(aclnnNonzeroV2GetWorkspaceSize(complex, out, &size, &executor), 161002);
  EXPECT_EQ(aclnnMaskedSelectGetWorkspaceSize(self, self, wrong, &size, &executor), 161002);
  EXPECT_EQ(aclnnMaskedSelectGetWorkspaceSize(self, mask, self, &size, &executor), 161002);
  EXPECT_EQ(aclnnMaskedSelectGetWorkspaceSize(self, nullptr, wrong, &size, &executor), 161001);
  EXPECT_EQ(size, 77u);
  TakeErrorMessage();
  // What is empty leaves the output's shape alone.
  ASSERT_EQ(aclnnNonzeroGetWorkspaceSize(empty, out, &size, &executor), 0);
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(aclnnNonzero(nullptr, 0, executor, environment.stream()), 0);
  EXPECT_EQ(ViewShapeOf(out), (Shape{6, 2}));
  for (aclTensor* tensor : {self, out, wrong, mask, empty, complex}) aclDestroyTensor(tensor);
}

// What finds more than the output has room for tells as much as it has written, and writes nothing behind.
TEST(ChosenByData, StaysInsideASmallOutput) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> data(6, 1);
  aclTensor* const self = Dense({2, 3}, ACL_FLOAT, data);
  for (const bool across : {false, true}) {
    std::vector<int64_t> places(12, -7);
    aclTensor* const out = Dense({2, 2}, ACL_INT64, places);
    const Called called = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return across ? aclnnNonzeroV2GetWorkspaceSize(self, out, size, executor)
                        : aclnnNonzeroGetWorkspaceSize(self, out, size, executor);
        },
        across ? aclnnNonzeroV2 : aclnnNonzero, environment.stream());
    EXPECT_EQ(called.first, 0);
    EXPECT_EQ(ViewShapeOf(out), (Shape{2, 2}));
    std::vector<int64_t> expected(12, -7);
    std::fill_n(expected.begin(), 4, 0);
    expected[3] = 1;  // the places [0, 0] and [0, 1], below or beside each other
    EXPECT_EQ(places, expected);
    aclDestroyTensor(out);
  }
  aclDestroyTensor(self);
}

// Sums have one order, so that they are the same bits whatever the threads and however the work is cut.
TEST(Accumulation, SameBitsForEveryNumberOfThreads) {
  std::map<std::string, std::vector<float>> seen;
  for (const char* threads : {"1", "2", "5"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x5EED);
    for (const int64_t columns : {1, 3, 700}) {
      const int64_t rows = columns == 1 ? 50 : 9;
      const int64_t n = 60000 / columns + 10000;
      std::vector<float> table(static_cast<size_t>(rows * columns));
      std::vector<float> source(static_cast<size_t>(n * columns));
      for (float& one : source) one = static_cast<float>(random.Unit() * 1e3 - 300);
      std::vector<int64_t> index(static_cast<size_t>(n));
      for (int64_t& one : index) one = random.Below(rows);
      std::vector<float> expected = table;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t k = 0; k < columns; ++k)
          expected[static_cast<size_t>(index[static_cast<size_t>(i)] * columns + k)] +=
              source[static_cast<size_t>(i * columns + k)];
      }
      aclTensor* const self = Dense({rows, columns}, ACL_FLOAT, table);
      aclTensor* const from = Dense({n, columns}, ACL_FLOAT, source);
      aclTensor* const at = Dense({n}, ACL_INT64, index);
      const Called called = Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnEmbeddingDenseBackwardGetWorkspaceSize(from, at, static_cast<uint64_t>(rows),
                                                               ~uint64_t{0}, false, self, size, executor);
          },
          aclnnEmbeddingDenseBackward, environment.stream());
      EXPECT_EQ(called.first, 0);
      EXPECT_EQ(table, expected) << threads << " threads, " << columns << " columns";
      for (aclTensor* used : {self, from, at}) aclDestroyTensor(used);
    }
  }
}

}  // namespace
}  // namespace portacl::testing
