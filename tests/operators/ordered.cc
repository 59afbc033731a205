// Operators that sort along a dim or select from that order, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/sort.h"
#include "indexing/index_calls.h"
#include "operators/sorts.h"

namespace portacl::testing {
namespace {

const DtypeList kIntegerDtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64};
const Listed kOrdered = kFloats + kIntegerDtypes;

Listed With950(Listed list, const DtypeList& more) {
  list.on_950.insert(list.on_950.end(), more.begin(), more.end());
  return list;
}

bool IsNan(const TensorValues& tensor, int64_t at) {
  return std::isnan(NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(at)].data()).real);
}
// Whether one element comes before another: NaN behind all numbers.
bool IsLess(const TensorValues& tensor, int64_t a, int64_t b) {
  if (IsNan(tensor, a) || IsNan(tensor, b)) return IsNan(tensor, b) && !IsNan(tensor, a);
  return NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(a)].data()).real <
         NumberOf(tensor.dtype, tensor.elements[static_cast<size_t>(b)].data()).real;
}

// A row's positions, in order.
std::vector<int64_t> InOrder(const TensorValues& tensor, std::vector<int64_t> row, bool descends) {
  std::stable_sort(row.begin(), row.end(), [&](int64_t a, int64_t b) {
    return descends ? IsLess(tensor, b, a) : IsLess(tensor, a, b);
  });
  return row;
}

// The row through an index: along dim, or everything.
std::vector<int64_t> RowThrough(const TensorValues& self, Index index, int64_t dim) {
  std::vector<int64_t> row;
  if (self.shape.empty()) return {0};
  for (int64_t i = 0; i < self.shape[static_cast<size_t>(dim)]; ++i) {
    index[static_cast<size_t>(dim)] = i;
    row.push_back(PositionOf(self.shape, index));
  }
  return row;
}

Element PlaceElement(int64_t place) {
  Element element(sizeof place);
  std::memcpy(element.data(), &place, sizeof place);
  return element;
}

// Few numbers, so that many are equal: 0 with both signs and NaN among them. Else all kinds of them, as they are.
void FillSelf(const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  HostTensor& self = tensors[0];
  if (random.Chance(40)) return;
  const int64_t most = random.Chance(50) ? 3 : 100;
  for (int64_t i = 0; i < self.size(); ++i) {
    const int64_t number = random.Between(-most, most);
    if (self.dtype() == ACL_BOOL) {
      *self.Element(i) = std::byte{static_cast<unsigned char>(random.Below(3))};
    } else if (IsIntegerDtype(self.dtype())) {
      EncodeIntegerElement(self.dtype(), number, self.Element(i));
    } else if (number == most && random.Chance(50)) {
      EncodeElement(self.dtype(), std::numeric_limits<double>::quiet_NaN(), self.Element(i));
    } else {
      EncodeElement(self.dtype(),
                    number == 0 && random.Chance(50) ? -0.0 : static_cast<double>(number) * 0.75,
                    self.Element(i));
    }
  }
}

int64_t LengthOf(const PlanCall& call) {
  const Shape& self = call["self"].shape;
  return self.empty() ? 1 : self[Wrapped(call["dim"].integer, self)];
}
bool KeepsDim(const PlanCall& call, const std::string& name) {
  return call[name].integer != 0 || call["self"].shape.empty();
}
Shape Reduced(const PlanCall& call, const std::string& keep) {
  Shape shape = call["self"].shape;
  if (shape.empty()) return shape;
  const auto dim = static_cast<std::ptrdiff_t>(Wrapped(call["dim"].integer, shape));
  shape[static_cast<size_t>(dim)] = 1;
  if (!KeepsDim(call, keep)) shape.erase(shape.begin() + dim);
  return shape;
}

Shape DrawRows(RandomNumbers& random) {
  Shape shape = DrawShape(random, 0, 4);
  // Rows for which each way of sorting and selecting is taken.
  constexpr int64_t kLengths[] = {63, 64, 65, 130, 511, 513, 1023, 1024, 1100, 3000};
  if (random.Chance(20)) shape = {kLengths[random.Below(10)]};
  if (random.Chance(10)) shape = {random.Between(2, 4), kLengths[random.Below(10)]};
  if (random.Chance(10)) shape = {kLengths[random.Below(8)], random.Between(2, 4)};
  return shape;
}

Rule SixtyFour(const std::string& names) { return DtypeIn(names, {{ACL_INT64}}); }

// What a row's result is, of its ordered positions: one for each element of the outputs.
using Choose = std::function<std::vector<int64_t>(const PlanCall& call, const TensorValues& self,
                                                  const std::vector<int64_t>& row)>;

// Values and places along dim, of which the row's k-th is at index k. `only_places` of Argsort.
OutcomeOracle AlongDim(const Choose& choose, bool only_places = false) {
  return [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const bool is_scalar = self.shape.empty();
    const int64_t dim = is_scalar ? 0 : static_cast<int64_t>(Wrapped(call["dim"].integer, self.shape));
    const int64_t length = LengthOf(call);
    const TensorValues& places = tensors.back();
    Outcome values(places.elements.size());
    Outcome found(places.elements.size());
    // Rows in the order of the outputs' other dims.
    Shape outer = self.shape;
    if (!is_scalar) outer[static_cast<size_t>(dim)] = 1;
    for (int64_t r = 0; r < NumElements(outer); ++r) {
      const Index at = IndexAt(outer, r);
      const std::vector<int64_t> row = is_scalar ? std::vector<int64_t>{0} : RowThrough(self, at, dim);
      const std::vector<int64_t> chosen = choose(call, self, row);
      for (int64_t k = 0; k < std::ssize(chosen); ++k) {
        Shape result = outer;
        Index to = at;
        if (!is_scalar) {
          result[static_cast<size_t>(dim)] = std::ssize(chosen);
          to[static_cast<size_t>(dim)] = k;
        }
        const auto position = static_cast<size_t>(PositionOf(result, to));
        const auto from = chosen[static_cast<size_t>(k)];
        const int64_t place = std::find(row.begin(), row.end(), from) - row.begin();
        EXPECT_LT(place, length);
        values[position] = ConvertedElement(self.dtype, self.elements[static_cast<size_t>(from)],
                                            only_places ? self.dtype : tensors[1].dtype);
        found[position] = PlaceElement(place);
      }
    }
    if (only_places) return std::vector<Outcome>{found};
    return std::vector<Outcome>{values, found};
  };
}

std::vector<int64_t> Middle(const TensorValues& self, const std::vector<int64_t>& row, bool without_nan) {
  std::vector<int64_t> order = InOrder(self, row, false);
  const auto nans = std::count_if(row.begin(), row.end(), [&](int64_t at) { return IsNan(self, at); });
  if (nans > 0 && !without_nan) return {order[order.size() - static_cast<size_t>(nans)]};
  const int64_t numbers = std::ssize(order) - nans;
  return {order[static_cast<size_t>(numbers == 0 ? 0 : (numbers - 1) / 2)]};
}

std::vector<OperatorSpec> Sorts() {
  std::vector<OperatorSpec> all;
  const auto draw_dim = [](PlanCall& call, RandomNumbers& random) {
    const int64_t rank = std::max<int64_t>(std::ssize(call["self"].shape), 1);
    call["dim"].integer = random.Between(-rank, rank - 1);
  };
  const auto sorted_row = [](const PlanCall& call, const TensorValues& self,
                             const std::vector<int64_t>& row) {
    return InOrder(self, row, call["descending"].integer != 0);
  };

  OperatorSpec sort;
  sort.function = PORTACL_C_FUNCTION(aclnnSort);
  sort.takes_workspace = true;
  sort.valid = {TensorArg("self", {2, 3}),      IntegerArg("stable", 1),
                IntegerArg("dim", 1),           IntegerArg("descending", 0),
                OutputArg("valuesOut", {2, 3}), OutputArg("indicesOut", {2, 3}, ACL_INT64)};
  Listed sortable = Listed{{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}} + kSignedAndBool;
  Listed sorted = sortable;
  sortable.on_950 = sorted.on_950 = kUnsigned;
  sorted.before_950 = {ACL_DOUBLE};
  sort.rules = {NoNulls("self valuesOut indicesOut"),
                DtypeIn("self", sortable),
                DtypeIn("valuesOut", sorted),
                SixtyFour("indicesOut"),
                Dims("dim", "self"),
                SameShape("self", "valuesOut"),
                SameShape("self", "indicesOut"),
                DoneIfEmpty("self"),
                Refuses(161001, "valuesOut", [](PlanCall& call) {
                  return LengthOf(call) == 1 && call["self"].dtype != call["valuesOut"].dtype;
                })};
  sort.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = random.Chance(5) ? Shape{1, 2, 1, 2, 1, 2, 1, 1, 2, 3, 1} : DrawRows(random);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8,
                                                 ACL_INT16, ACL_INT32, ACL_INT64, ACL_BOOL});
    const bool converts = random.Chance(15);
    call["self"] = TensorArg("self", shape, dtype);
    call["valuesOut"] =
        OutputArg("valuesOut", shape,
                  converts ? DrawDtype(random, {ACL_FLOAT, ACL_DOUBLE, ACL_INT64, ACL_BF16}) : dtype);
    call["indicesOut"] = OutputArg("indicesOut", shape, ACL_INT64);
    call["descending"].integer = random.Below(2);
    call["stable"].integer = random.Below(2);
    draw_dim(call, random);
  };
  sort.fill = FillSelf;
  sort.oracle = AlongDim(sorted_row);
  all.push_back(sort);

  OperatorSpec argsort;
  argsort.function = PORTACL_C_FUNCTION(aclnnArgsort);
  argsort.takes_workspace = true;
  argsort.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("descending", 0),
                   OutputArg("out", {2, 3}, ACL_INT64)};
  argsort.rules = {NoNulls("self out"),
                   Dims("dim", "self"),
                   Refuses(161002, "self",
                           [](PlanCall& call) {
                             return call.product != Product::k950 && call["self"].dtype == ACL_BF16 &&
                                    LengthOf(call) == 1;
                           }),
                   DtypeIn("self", With950(kOrdered, kUnsigned)),
                   SixtyFour("out"),
                   Public("self out"),
                   Ranks("self", 0, 8),
                   SameShape("self", "out"),
                   DoneIfEmpty("self")};
  argsort.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawRows(random);
    call["self"] = TensorArg("self", shape,
                             DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT32,
                                                ACL_UINT32, ACL_INT64, ACL_UINT64, ACL_UINT16}));
    call["out"] = OutputArg("out", shape, ACL_INT64);
    call["descending"].integer = random.Below(2);
    draw_dim(call, random);
  };
  argsort.fill = FillSelf;
  argsort.oracle = AlongDim(sorted_row, true);
  argsort.numbers_on = Product::k950;
  all.push_back(argsort);

  OperatorSpec topk;
  topk.function = PORTACL_C_FUNCTION(aclnnTopk);
  topk.takes_workspace = true;
  topk.valid = {TensorArg("self", {2, 3}),
                IntegerArg("k", 2),
                IntegerArg("dim", 1),
                IntegerArg("largest", 1),
                IntegerArg("sorted", 1),
                OutputArg("valuesOut", {2, 2}),
                OutputArg("indicesOut", {2, 2}, ACL_INT64)};
  const auto topk_shape = [](PlanCall& call) {
    call.result = call["self"].shape;
    if (!call.result.empty()) call.result[Wrapped(call["dim"].integer, call.result)] = call["k"].integer;
    return false;
  };
  topk.rules = {
      NoNulls("self valuesOut indicesOut"),
      Dims("dim", "self"),
      Refuses(161002, "k",
              [](PlanCall& call) { return call["k"].integer < 0 || call["k"].integer > LengthOf(call); }),
      DtypeIn("self", With950(kOrdered + DtypeList{ACL_DOUBLE}, kUnsigned)),
      SameDtype("self", "valuesOut"),
      SixtyFour("indicesOut"),
      Ranks("self", 0, 8),
      DoneIfEmpty("self valuesOut indicesOut"),
      Refuses(0, "", topk_shape),
      ResultIsOrOne("valuesOut"),
      ResultIsOrOne("indicesOut")};
  topk.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawRows(random);
    const DtypeNumber dtype = DrawDtype(
        random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT64});
    call["self"] = TensorArg("self", shape, dtype);
    draw_dim(call, random);
    const int64_t length = LengthOf(call);
    call["k"].integer =
        random.Chance(50) ? random.Between(0, length) : random.Between(1, std::min<int64_t>(length, 20));
    topk_shape(call);
    Shape out = call.result;
    if (NumElements(out) == 1 && random.Chance(50)) out = Shape{1, 1};
    call["valuesOut"] = OutputArg("valuesOut", out, dtype);
    call["indicesOut"] = OutputArg("indicesOut", out, ACL_INT64);
    call["largest"].integer = random.Below(2);
    call["sorted"].integer = random.Below(2);
  };
  topk.fill = FillSelf;
  topk.oracle = AlongDim([](const PlanCall& call, const TensorValues& self, const std::vector<int64_t>& row) {
    std::vector<int64_t> order = InOrder(self, row, call["largest"].integer != 0);
    order.resize(static_cast<size_t>(call["k"].integer));
    return order;
  });
  all.push_back(topk);
  topk.function = PORTACL_C_FUNCTION(aclnnTopkV2);
  topk.valid.insert(topk.valid.begin() + 5, IntegerArg("stable", 1));
  all.push_back(topk);

  OperatorSpec kth;
  kth.function = PORTACL_C_FUNCTION(aclnnKthvalue);
  kth.takes_workspace = true;
  kth.valid = {TensorArg("self", {2, 3}),   IntegerArg("k", 2),
               IntegerArg("dim", 1),        IntegerArg("keepdim", 0),
               OutputArg("valuesOut", {2}), OutputArg("indicesOut", {2}, ACL_INT64)};
  const auto kth_shape = [](PlanCall& call) {
    call.result = Reduced(call, "keepdim");
    return false;
  };
  kth.rules = {
      NoNulls("self valuesOut indicesOut"),
      Dims("dim", "self"),
      Refuses(161002, "k",
              [](PlanCall& call) { return call["k"].integer < 1 || call["k"].integer > LengthOf(call); }),
      DtypeIn("self", With950(kOrdered, kUnsigned)),
      SameDtype("self", "valuesOut"),
      SixtyFour("indicesOut"),
      Ranks("self", 0, 8),
      DoneIfEmpty("self"),
      Refuses(0, "", kth_shape),
      ResultIsOrOne("valuesOut"),
      ResultIsOrOne("indicesOut")};
  kth.draw = [=](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(
        random, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64});
    call["self"] = TensorArg("self", DrawRows(random), dtype);
    draw_dim(call, random);
    call["k"].integer = random.Between(1, LengthOf(call));
    call["keepdim"].integer = random.Below(2);
    const Shape out = Reduced(call, "keepdim");
    call["valuesOut"] = OutputArg("valuesOut", out, dtype);
    call["indicesOut"] = OutputArg("indicesOut", out, ACL_INT64);
  };
  kth.fill = FillSelf;
  kth.oracle = AlongDim([](const PlanCall& call, const TensorValues& self, const std::vector<int64_t>& row) {
    return std::vector<int64_t>{InOrder(self, row, false)[static_cast<size_t>(call["k"].integer - 1)]};
  });
  all.push_back(kth);

  for (const bool without_nan : {false, true}) {
    OperatorSpec dim;
    dim.function = without_nan ? PORTACL_C_FUNCTION(aclnnNanMedianDim) : PORTACL_C_FUNCTION(aclnnMedianDim);
    dim.takes_workspace = true;
    dim.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepDim", 0),
                 OutputArg("valuesOut", {2}), OutputArg("indicesOut", {2}, ACL_INT64)};
    dim.rules = {
        NoNulls("self valuesOut indicesOut"),
        DtypeIn("self valuesOut", kOrdered),
        SameDtype("self", "valuesOut"),
        SixtyFour("indicesOut"),
        Dims("dim", "self"),
        Ranks("self valuesOut indicesOut", 0, 8),
        Refuses(161002, "valuesOut indicesOut",
                [](PlanCall& call) {
                  const size_t rank = Reduced(call, "keepDim").size();
                  return call["valuesOut"].shape.size() != rank || call["indicesOut"].shape.size() != rank;
                }),
        Refuses(161002, "self",
                [](PlanCall& call) { return call["self"].dtype == ACL_BF16 && LengthOf(call) == 1; })};
    if (without_nan)
      dim.rules.push_back(Refuses(161002, "self", [](PlanCall& call) { return LengthOf(call) == 0; }));
    dim.rules.push_back(DoneIfEmpty("self valuesOut indicesOut"));
    dim.rules.push_back(Refuses(0, "", [](PlanCall& call) {
      call.result = Reduced(call, "keepDim");
      return false;
    }));
    dim.rules.push_back(ResultIsOrOne("valuesOut"));
    dim.rules.push_back(ResultIsOrOne("indicesOut"));
    dim.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype =
          DrawDtype(random, {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT16, ACL_INT64});
      call["self"] = TensorArg("self", DrawRows(random), dtype);
      draw_dim(call, random);
      call["keepDim"].integer = random.Below(2);
      const Shape out = Reduced(call, "keepDim");
      call["valuesOut"] = OutputArg("valuesOut", out, dtype);
      call["indicesOut"] = OutputArg("indicesOut", out, ACL_INT64);
    };
    dim.fill = FillSelf;
    dim.oracle = AlongDim([=](const PlanCall&, const TensorValues& self, const std::vector<int64_t>& row) {
      return Middle(self, row, without_nan);
    });
    all.push_back(dim);

    OperatorSpec median;
    const std::string out = without_nan ? "out" : "valuesOut";
    median.function = without_nan ? PORTACL_C_FUNCTION(aclnnNanMedian) : PORTACL_C_FUNCTION(aclnnMedian);
    median.takes_workspace = true;
    median.valid = {TensorArg("self", {2, 3}), OutputArg(out, {})};
    median.rules = {NoNulls("self " + out),
                    DtypeIn("self " + out, kOrdered),
                    SameDtype("self", out),
                    Ranks("self " + out, 0, 8),
                    Refuses(161002, "self",
                            [](PlanCall& call) {
                              const Shape& self = call["self"].shape;
                              return call["self"].dtype == ACL_BF16 && (self.empty() || self.back() == 1);
                            }),
                    DoneIfEmpty(out),
                    DoneIfEmpty("self"),
                    Refuses(161002, out, [=](PlanCall& call) { return NumElements(call[out].shape) != 1; })};
    median.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeNumber dtype = DrawDtype(
          random, {ACL_FLOAT, ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_INT8, ACL_INT16, ACL_INT32, ACL_INT64});
      Shape shape = DrawRows(random);
      if (random.Chance(10)) shape.push_back(0);
      call["self"] = TensorArg("self", shape, dtype);
      call[out] = OutputArg(out, random.Chance(50) ? Shape{} : Shape{1, 1}, dtype);
    };
    median.fill = FillSelf;
    median.oracle = [=](const PlanCall&, const std::vector<TensorValues>& tensors) {
      const TensorValues& self = tensors[0];
      std::vector<int64_t> row(self.elements.size());
      for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<int64_t>(i);
      if (!row.empty())
        return std::vector<Outcome>{{self.elements[static_cast<size_t>(Middle(self, row, without_nan)[0])]}};
      Element none(static_cast<size_t>(ElementSize(self.dtype)));
      if (!IsIntegerDtype(self.dtype)) {
        EncodeElement(self.dtype, std::numeric_limits<double>::quiet_NaN(), none.data());
      } else if (ElementSize(self.dtype) >= 4) {
        none.back() = std::byte{0x80};
      }
      return std::vector<Outcome>{{none}};
    };
    all.push_back(median);
  }
  return all;
}

}  // namespace

const std::vector<OperatorSpec>& OrderedOperators() {
  static const std::vector<OperatorSpec> all = Sorts();
  return all;
}

}  // namespace portacl::testing
