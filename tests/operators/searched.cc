// Operators that search sorted numbers, or count them, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/sort.h"
#include "indexing/index_calls.h"
#include "operators/sorts.h"

namespace portacl::testing {
namespace {

const DtypeList kWholeDtypes = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64};
const DtypeList kSearchedDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_INT8,
                                   ACL_UINT8, ACL_INT16,   ACL_INT32,  ACL_INT64};
const Listed kSearched = {kSearchedDtypes};

long double RealOf(DtypeNumber dtype, const Element& element) { return NumberOf(dtype, element.data()).real; }

Element WholeElement(DtypeNumber dtype, int64_t value) {
  Element element(static_cast<size_t>(ElementSize(dtype)));
  EncodeIntegerElement(dtype, value, element.data());
  return element;
}

void SetNumber(HostTensor& tensor, int64_t i, int64_t number) {
  if (IsIntegerDtype(tensor.dtype())) {
    EncodeIntegerElement(tensor.dtype(), number, tensor.Element(i));
  } else if (tensor.dtype() == ACL_BOOL) {
    *tensor.Element(i) = std::byte{static_cast<unsigned char>(number & 1)};
  } else {
    EncodeElement(tensor.dtype(), static_cast<double>(number) * 0.5, tensor.Element(i));
  }
}

// The type that two of the searched ones promote to.
DtypeNumber Promoted(DtypeNumber a, DtypeNumber b) {
  for (const DtypeNumber floating : {ACL_DOUBLE, ACL_FLOAT, ACL_FLOAT16}) {
    if (a == floating || b == floating) return floating;
  }
  if (a == b) return a;
  const bool has_unsigned = a == ACL_UINT8 || b == ACL_UINT8;
  const DtypeNumber wide = ElementSize(a) >= ElementSize(b) ? a : b;
  return has_unsigned && ElementSize(wide) == 1 ? DtypeNumber{ACL_INT16} : wide;
}

// Where x is in one sequence, by the bisection of the definition.
int64_t Bisected(const std::vector<long double>& sequence, long double x, bool right) {
  int64_t low = 0;
  int64_t high = std::ssize(sequence);
  while (low < high) {
    const int64_t mid = low + (high - low) / 2;
    const long double value = sequence[static_cast<size_t>(mid)];
    if (right ? value > x : value >= x) {
      high = mid;
    } else {
      low = mid + 1;
    }
  }
  return low;
}

std::vector<long double> SequenceOf(const TensorValues& tensor, const TensorValues* sorter, int64_t row,
                                    DtypeNumber promoted) {
  const int64_t length = tensor.shape.back();
  std::vector<long double> sequence;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t at = sorter == nullptr ? i : sorter->Integer(row * length + i);
    sequence.push_back(RealOf(
        promoted,
        ConvertedElement(tensor.dtype, tensor.elements[static_cast<size_t>(row * length + at)], promoted)));
  }
  return sequence;
}

bool PromotesBadly(DtypeNumber a, DtypeNumber b) {
  return !IsOneOf(a, kSearchedDtypes) || !IsOneOf(b, kSearchedDtypes);
}

std::vector<OperatorSpec> Searches() {
  std::vector<OperatorSpec> all;
  const auto place_dtype = [](PlanCall& call) {
    return call["outInt32"].integer != 0 ? DtypeNumber{ACL_INT32} : DtypeNumber{ACL_INT64};
  };
  const Rule out_dtype =
      Refuses(161002, "out", [=](PlanCall& call) { return call["out"].dtype != place_dtype(call); });
  const Rule sorter_dtype = Refuses(161002, "sorter", [](PlanCall& call) {
    return !call["sorter"].null && call["sorter"].dtype != ACL_INT64;
  });
  const Rule sorter_shape = Refuses(161002, "sorter sortedSequence", [](PlanCall& call) {
    return !call["sorter"].null && call["sorter"].shape != call["sortedSequence"].shape;
  });

  OperatorSpec search;
  search.function = PORTACL_C_FUNCTION(aclnnSearchSorted);
  search.takes_workspace = true;
  search.valid = {TensorArg("sortedSequence", {2, 3}),
                  TensorArg("self", {2, 6}),
                  IntegerArg("outInt32", 0),
                  IntegerArg("right", 0),
                  TensorArg("sorter", {2, 3}, ACL_INT64),
                  OutputArg("out", {2, 6}, ACL_INT64)};
  search.rules = {
      NoNulls("sortedSequence self out"),
      DtypeIn("sortedSequence self", kSearched),
      out_dtype,
      sorter_dtype,
      Ranks("sortedSequence self", 0, 8),
      SameShape("self", "out"),
      sorter_shape,
      Refuses(161002, "sortedSequence",
              [](PlanCall& call) {
                const Shape& sequence = call["sortedSequence"].shape;
                const Shape& self = call["self"].shape;
                if (sequence.size() == 1) return false;
                if (self == Shape{1} || sequence.empty() || sequence.size() != self.size()) return true;
                return !std::equal(sequence.begin(), sequence.end() - 1, self.begin());
              }),
      Refuses(161002, "self",
              [](PlanCall& call) { return PromotesBadly(call["sortedSequence"].dtype, call["self"].dtype); }),
      SucceedsIf([](PlanCall& call) {
        return NumElements(call["sortedSequence"].shape) == 0 || NumElements(call["self"].shape) == 0;
      })};
  search.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape self = DrawShape(random, 1, 3);
    Shape sequence = self;
    sequence.back() = random.Between(1, random.Chance(30) ? 200 : 9);
    if (random.Chance(40)) {
      sequence = {sequence.back()};
      if (random.Chance(20)) self.clear();
    }
    if (random.Chance(5)) sequence.back() = 0;
    const DtypeNumber first = DrawDtype(random, kSearchedDtypes);
    const bool is_narrow = random.Chance(50);
    call["sortedSequence"] = TensorArg("sortedSequence", sequence, first);
    call["self"] = TensorArg("self", self, random.Chance(60) ? first : DrawDtype(random, kSearchedDtypes));
    call["outInt32"].integer = is_narrow ? 1 : 0;
    call["right"].integer = random.Below(2);
    call["sorter"] = TensorArg("sorter", sequence, ACL_INT64);
    call["sorter"].null = random.Chance(60);
    call["sorter"].is_distinct = true;
    call["out"] = OutputArg("out", self, is_narrow ? ACL_INT32 : ACL_INT64);
  };
  // Sequences that ascend in most calls: a number is a place of its sequence.
  search.fill = [](const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    HostTensor& sequence = tensors[0];
    const int64_t length = std::max<int64_t>(sequence.shape().back(), 1);
    const bool ascends = random.Chance(70) && sequence.view().strides.back() != 0;
    for (int64_t i = 0; i < sequence.size(); ++i) {
      const int64_t number = ascends ? i % length / 2 : random.Between(0, 9);
      SetNumber(sequence, i, number - 3);
    }
    for (int64_t i = 0; i < tensors[1].size(); ++i) SetNumber(tensors[1], i, random.Between(-5, length / 2));
    if (!IsIntegerDtype(tensors[1].dtype()) && tensors[1].size() > 1)
      EncodeElement(tensors[1].dtype(), std::numeric_limits<double>::quiet_NaN(), tensors[1].Element(1));
    for (int64_t i = 0; i < tensors[2].size(); ++i)
      EncodeIntegerElement(ACL_INT64, random.Chance(50) ? i % length : random.Below(length),
                           tensors[2].Element(i));
    (void)call;
  };
  search.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& sequence = tensors[0];
    const TensorValues& self = tensors[1];
    const TensorValues& out = tensors[3];
    const DtypeNumber promoted = Promoted(sequence.dtype, self.dtype);
    Outcome outcome;
    for (int64_t i = 0; i < std::ssize(out.elements); ++i) {
      int64_t place = 0;
      if (!sequence.elements.empty()) {
        const int64_t row = sequence.shape.size() == 1 ? 0 : i / self.shape.back();
        const long double x =
            RealOf(promoted, ConvertedElement(self.dtype, self.elements[static_cast<size_t>(i)], promoted));
        place = Bisected(SequenceOf(sequence, call["sorter"].null ? nullptr : &tensors[2], row, promoted), x,
                         call["right"].integer != 0);
      }
      outcome.emplace_back(WholeElement(out.dtype, place));
    }
    return std::vector<Outcome>{outcome};
  };
  all.push_back(search);

  OperatorSpec one;
  one.function = PORTACL_C_FUNCTION(aclnnSearchSorteds);
  one.takes_workspace = true;
  one.valid = {TensorArg("sortedSequence", {6}),    ScalarArg("self", {.real = 2}),
               IntegerArg("outInt32", 0),           IntegerArg("right", 0),
               TensorArg("sorter", {6}, ACL_INT64), OutputArg("out", {}, ACL_INT64)};
  one.rules = {NoNulls("sortedSequence self out"),
               Refuses(161002, "out", [](PlanCall& call) { return NumElements(call["out"].shape) == 0; }),
               DtypeIn("sortedSequence", kSearched),
               out_dtype,
               sorter_dtype,
               Ranks("sortedSequence", 0, 8),
               sorter_shape,
               Ranks("sortedSequence", 1, 1),
               SucceedsIf([](PlanCall& call) { return NumElements(call["sortedSequence"].shape) == 0; })};
  one.draw = [=](PlanCall& call, RandomNumbers& random) {
    const bool is_narrow = random.Chance(50);
    const Shape shape = {random.Between(random.Chance(10) ? 0 : 1, 40)};
    call["sortedSequence"] = TensorArg("sortedSequence", shape, DrawDtype(random, kSearchedDtypes));
    call["self"] = ScalarArg("self", {.real = static_cast<long double>(random.Between(-20, 40)) / 4},
                             DrawDtype(random, {ACL_FLOAT, ACL_DOUBLE, ACL_INT64}));
    call["outInt32"].integer = is_narrow ? 1 : 0;
    call["right"].integer = random.Below(2);
    call["sorter"] = TensorArg("sorter", shape, ACL_INT64);
    call["sorter"].null = random.Chance(60);
    call["out"] =
        OutputArg("out", random.Chance(50) ? Shape{} : Shape{2, 2}, is_narrow ? ACL_INT32 : ACL_INT64);
  };
  one.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    for (int64_t i = 0; i < tensors[0].size(); ++i) SetNumber(tensors[0], i, i / 2 - 3);
    for (int64_t i = 0; i < tensors[1].size(); ++i)
      EncodeIntegerElement(ACL_INT64, random.Below(tensors[1].size()), tensors[1].Element(i));
  };
  one.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& sequence = tensors[0];
    const Element scalar = ElementOfNumber(call["self"].dtype, call["self"].number);
    const Element rounded = ConvertedElement(call["self"].dtype, scalar, ACL_FLOAT);
    const Element x = ConvertedElement(ACL_FLOAT, rounded, sequence.dtype);
    const int64_t place =
        sequence.elements.empty()
            ? 0
            : Bisected(SequenceOf(sequence, call["sorter"].null ? nullptr : &tensors[1], 0, sequence.dtype),
                       RealOf(sequence.dtype, x), call["right"].integer != 0);
    return std::vector<Outcome>{{WholeElement(tensors[2].dtype, place)}};
  };
  all.push_back(one);
  return all;
}

// ---- counts ----

std::vector<OperatorSpec> Counts() {
  std::vector<OperatorSpec> all;
  OperatorSpec bincount;
  bincount.function = PORTACL_C_FUNCTION(aclnnBincount);
  bincount.takes_workspace = true;
  bincount.valid = {TensorArg("self", {6}, ACL_INT32), TensorArg("weights", {6}), IntegerArg("minlength", 2),
                    OutputArg("out", {3})};
  Listed sums = {{ACL_FLOAT, ACL_DOUBLE, ACL_INT32, ACL_INT64}};
  Listed weights = Listed{{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE}} + kSignedAndBool;
  const auto bins_of = [](PlanCall& call) {
    const Shape& out = call["out"].shape;
    return std::max<int64_t>(out.empty() ? 1 : out[0], call["minlength"].integer);
  };
  bincount.rules = {
      NoNulls("self out"),
      DtypeIn("self", {kWholeDtypes}),
      DtypeIn("out", sums),
      Refuses(161002, "weights",
              [=](PlanCall& call) {
                return !call["weights"].null && !weights.Has(call.product, call["weights"].dtype);
              }),
      Public("self out"),
      Ranks("self", 1, 1),
      Refuses(161002, "weights",
              [](PlanCall& call) {
                return !call["weights"].null && (call["weights"].format != call["self"].format ||
                                                 call["weights"].shape != call["self"].shape);
              }),
      SucceedsIf([](PlanCall& call) { return NumElements(call["self"].shape) == 0; }),
      Refuses(561103, "out", [=](PlanCall& call) {
        const int64_t n = bins_of(call);
        return call["out"].shape != Shape{n} && !(n == 1 && NumElements(call["out"].shape) == 1);
      })};
  bincount.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape self = {random.Between(1, 200)};
    if (random.Chance(5)) self = {0};
    if (random.Chance(5)) self = {100000};
    const int64_t length = random.Chance(5) ? 3000 : random.Between(1, 40);
    call["self"] = TensorArg("self", self, DrawDtype(random, kWholeDtypes));
    call["weights"] = TensorArg("weights", self, DrawDtype(random, weights.everywhere));
    call["weights"].null = random.Chance(50);
    call["minlength"].integer = random.Between(-1, length);
    call["out"] = OutputArg("out", {length}, DrawDtype(random, sums.everywhere));
  };
  bincount.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    const int64_t length = std::min<int64_t>(tensors[2].size(), 100);
    for (int64_t i = 0; i < tensors[0].size(); ++i)
      EncodeIntegerElement(tensors[0].dtype(), random.Below(length), tensors[0].Element(i));
    for (int64_t i = 0; i < tensors[1].size(); ++i) SetNumber(tensors[1], i, random.Between(-9, 9));
    if (tensors[1].dtype() == ACL_FLOAT) {
      // Their order shows.
      for (int64_t i = 0; i < tensors[1].size(); ++i)
        tensors[1].Set(i, static_cast<double>(random.Between(-1000000, 1000000)) * 1e-3);
    }
  };
  bincount.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const TensorValues& given = tensors[1];
    const TensorValues& out = tensors[2];
    const bool is_weighed = !call["weights"].null;
    if (self.elements.empty() && call["minlength"].integer <= 0) return std::vector<Outcome>{{}};
    const bool is_float = given.dtype == ACL_FLOAT;
    std::vector<float> single(out.elements.size());
    std::vector<double> twofold(out.elements.size());
    std::vector<int64_t> counts(out.elements.size());
    for (int64_t i = 0; i < std::ssize(self.elements); ++i) {
      const auto bin = static_cast<size_t>(self.Integer(i));
      ++counts[bin];
      if (!is_weighed) continue;
      const auto weight = static_cast<double>(RealOf(given.dtype, given.elements[static_cast<size_t>(i)]));
      single[bin] += static_cast<float>(weight);
      twofold[bin] += weight;
    }
    Outcome outcome;
    for (size_t bin = 0; bin < counts.size(); ++bin) {
      Element sum(8);
      DtypeNumber dtype = ACL_INT64;
      if (!is_weighed) {
        std::memcpy(sum.data(), &counts[bin], 8);
      } else if (is_float) {
        dtype = ACL_FLOAT;
        sum.resize(4);
        std::memcpy(sum.data(), &single[bin], 4);
      } else {
        dtype = ACL_DOUBLE;
        std::memcpy(sum.data(), &twofold[bin], 8);
      }
      outcome.emplace_back(ConvertedElement(dtype, sum, out.dtype));
    }
    return std::vector<Outcome>{outcome};
  };
  all.push_back(bincount);

  OperatorSpec histc;
  histc.function = PORTACL_C_FUNCTION(aclnnHistc);
  histc.takes_workspace = true;
  histc.valid = {TensorArg("self", {2, 3}), IntegerArg("bins", 3), ScalarArg("min", {.real = 1}),
                 ScalarArg("max", {.real = 4}), OutputArg("out", {3})};
  const Listed numbers = Listed{{ACL_FLOAT, ACL_FLOAT16}} + kWholeDtypes;
  const auto single = [](const PlanCall& call, const std::string& name) {
    if (IsComplexDtype(call[name].dtype))
      return Element(sizeof(float));  // as all operators read such a scalar
    const Element element = ElementOfNumber(call[name].dtype, call[name].number);
    return ConvertedElement(call[name].dtype, element, ACL_FLOAT);
  };
  const auto bound = [=](const PlanCall& call, const std::string& name) {
    return static_cast<float>(RealOf(ACL_FLOAT, single(call, name)));
  };
  histc.rules = {
      NoNulls("self out max min"),
      DtypeIn("self out", numbers),
      Refuses(161002, "min max",
              [=](PlanCall& call) {
                const float low = bound(call, "min");
                const float high = bound(call, "max");
                return low != high && !(std::isfinite(low) && std::isfinite(high));
              }),
      Refuses(161002, "bins", [](PlanCall& call) { return call["bins"].integer < 1; }),
      Refuses(161002, "min max",
              [=](PlanCall& call) {
                const float low = bound(call, "min");
                const float high = bound(call, "max");
                if (!IsIntegerDtype(call["self"].dtype)) return low > high;
                const auto as_int32 = [](float x) {
                  return static_cast<int64_t>(
                      std::clamp(static_cast<double>(x), -2147483648.0, 2147483647.0));
                };
                return std::isfinite(low) && as_int32(low) > as_int32(high);
              }),
      Refuses(161002, "out self",
              [](PlanCall& call) {
                return !IsIntegerDtype(call["out"].dtype) && IsIntegerDtype(call["self"].dtype);
              }),
      Ranks("out", 1, 1),
      Ranks("self", 0, 8),
      Refuses(161002, "out", [](PlanCall& call) { return call["out"].shape != Shape{call["bins"].integer}; }),
      SucceedsIf([](PlanCall& call) { return NumElements(call["self"].shape) == 0; })};
  histc.draw = [=](PlanCall& call, RandomNumbers& random) {
    const DtypeNumber dtype = DrawDtype(random, numbers.everywhere);
    const int64_t bins = random.Between(1, 12);
    const int64_t low = random.Between(-8, 4);
    const int64_t width = random.Chance(20) ? 0 : random.Between(0, 12);
    Shape shape = DrawShape(random, 0, 4);
    if (random.Chance(5)) shape = {100000};
    if (random.Chance(5)) shape = {3, 0};
    call["self"] = TensorArg("self", shape, dtype);
    call["bins"].integer = bins;
    const DtypeNumber scalar = DrawDtype(random, {ACL_FLOAT, ACL_DOUBLE, ACL_INT64});
    call["min"] = ScalarArg("min", {.real = static_cast<long double>(low) / 2}, scalar);
    call["max"] = ScalarArg("max", {.real = static_cast<long double>(low + width) / 2}, scalar);
    call["out"] = OutputArg(
        "out", {bins},
        IsIntegerDtype(dtype) ? DrawDtype(random, kWholeDtypes) : DrawDtype(random, numbers.everywhere));
  };
  histc.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
    HostTensor& self = tensors[0];
    const int64_t most = random.Chance(20) ? 0 : 12;
    for (int64_t i = 0; i < self.size(); ++i) SetNumber(self, i, random.Between(-most, most));
    if (IsIntegerDtype(self.dtype()) || most == 0) return;
    for (int64_t i = 0; i < self.size(); ++i) {
      if (random.Chance(5)) self.Set(i, std::numeric_limits<double>::quiet_NaN());
      if (random.Chance(20)) self.Set(i, static_cast<double>(random.Between(-9000, 9000)) * 1e-3);
    }
  };
  histc.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    const int64_t bins = call["bins"].integer;
    const bool is_whole = IsIntegerDtype(self.dtype);
    std::vector<int64_t> counts(static_cast<size_t>(bins));
    const auto converted = [&](const std::string& name) {
      return RealOf(self.dtype, ConvertedElement(ACL_FLOAT, single(call, name), self.dtype));
    };
    long double low = converted("min");
    long double high = converted("max");
    std::vector<long double> x;
    for (const Element& element : self.elements) x.push_back(RealOf(self.dtype, element));
    if (is_whole ? low == high : std::fabs(high - low) < 1e-6L) {
      bool any = false;
      for (const long double one : x) {
        if (std::isnan(one)) continue;
        low = any ? std::min(low, one) : one;
        high = any ? std::max(high, one) : one;
        any = true;
      }
      if (low == high) {
        low -= 1;
        high += 1;
      }
    }
    for (const long double one : x) {
      if (!(one >= low && one <= high)) continue;
      int64_t bin = 0;
      if (is_whole) {
        bin = static_cast<int64_t>((one - low) * static_cast<long double>(bins) / (high - low));
      } else {
        volatile const float distance = static_cast<float>(one) - static_cast<float>(low);
        volatile const float product = distance * static_cast<float>(bins);
        volatile const float range = static_cast<float>(high) - static_cast<float>(low);
        bin = static_cast<int64_t>(product / range);
      }
      ++counts[static_cast<size_t>(std::min(bin, bins - 1))];
    }
    Outcome outcome;
    for (const int64_t count : counts)
      outcome.emplace_back(ConvertedElement(ACL_INT64, WholeElement(ACL_INT64, count), tensors[1].dtype));
    return std::vector<Outcome>{outcome};
  };
  all.push_back(histc);
  return all;
}

}  // namespace

const std::vector<OperatorSpec>& SearchedOperators() {
  static const std::vector<OperatorSpec> all = Searches();
  return all;
}

const std::vector<OperatorSpec>& CountedOperators() {
  static const std::vector<OperatorSpec> all = Counts();
  return all;
}

}  // namespace portacl::testing
