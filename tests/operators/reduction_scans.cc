// Scans, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aclnnop/families/reductions.h"
#include "operators/reduction_calls.h"

namespace portacl::testing::reductions {

// ---- scans ----

std::vector<OperatorSpec> Scans() {
  std::vector<OperatorSpec> all;
  // The results at each place of a line, in the line's order.
  using Line =
      std::function<std::vector<std::vector<Element>>(const PlanCall&, DtypeNumber, const Elements& line)>;
  const auto scanning = [](std::function<int64_t(const PlanCall&)> dim,
                           std::function<DtypeNumber(const PlanCall&)> cast, const Line& scan) {
    return [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
      const Shape& shape = tensors[0].shape;
      const auto axis = static_cast<uint32_t>(Wrapped(dim(call), shape));
      const DtypeNumber dtype = cast(call);
      std::vector<Outcome> outcomes;
      for (const std::vector<int64_t>& line : Groups(shape, 1u << axis)) {
        Elements elements;
        for (const int64_t position : line) elements.push_back(Cast(tensors[0], position, dtype));
        const std::vector<std::vector<Element>> results = scan(call, dtype, elements);
        for (size_t i = 0; i < line.size(); ++i) {
          outcomes.resize(results[i].size());
          for (size_t k = 0; k < results[i].size(); ++k) {
            outcomes[k].resize(tensors[0].elements.size());
            outcomes[k][static_cast<size_t>(line[i])] = results[i][k];
          }
        }
      }
      return outcomes;
    };
  };
  const auto totals = [](bool is_product) {
    return [=](const PlanCall& call, DtypeNumber dtype, const Elements& line) {
      const auto is_set = [&](const char* name) {
        return std::any_of(call.arguments.begin(), call.arguments.end(), [&](const PlanArgument& argument) {
          return argument.name == name && argument.integer != 0;
        });
      };
      Total total(dtype, is_product);
      std::vector<std::vector<Element>> results(line.size());
      for (size_t i = 0; i < line.size(); ++i) {
        const size_t place = is_set("reverse") ? line.size() - 1 - i : i;
        const Element before = total.As(dtype);
        total.Add(line[place]);
        results[place] = {is_set("exclusive") ? before : total.As(dtype)};
      }
      return results;
    };
  };
  const auto draw = [](const DtypeList& selfs, const DtypeList& outs) {
    return [=](PlanCall& call, RandomNumbers& random) {
      PlanArgument& self = call.arguments[0];
      self.shape = DrawShape(random, 0, 4);
      if (random.Chance(15)) self.shape = {random.Between(1, 4), random.Between(2, 700)};
      if (random.Chance(15)) self.shape = {random.Between(2, 40), random.Between(200, 700)};
      self.dtype = DrawDtype(random, selfs);
      const DtypeNumber dtype = outs.empty() ? self.dtype : DrawDtype(random, outs);
      const auto rank = std::max<int64_t>(std::ssize(self.shape), 1);
      for (PlanArgument& argument : call.arguments) {
        if (argument.name == "dim") {
          argument.integer = random.Between(-rank, rank - 1);
          argument.number = {static_cast<Number_>(argument.integer), 0};
        }
        if (argument.name == "exclusive" || argument.name == "reverse") argument.integer = random.Below(2);
        if (argument.name == "dtype") argument.integer = dtype;
        if (!argument.is_output || &argument == &self) continue;
        argument.shape = self.shape;
        argument.dtype = argument.name == "indicesOut" ? (random.Chance(50) ? ACL_INT64 : ACL_INT32) : dtype;
      }
    };
  };
  const auto integer_dim = [](const PlanCall& call) { return call["dim"].integer; };
  const auto out_dtype = [](const PlanCall& call) { return call["out"].dtype; };
  const auto convertible = Refuses(561103, "self", [](PlanCall& call) {
    const auto& dtypes = ConvertibleDtypes();
    return std::find(dtypes.begin(), dtypes.end(), call["self"].dtype) == dtypes.end();
  });
  const Rules sum_tail = {SameShape("self", "out"), Ranks("self", 0, 8), Dims("dim"), DoneIfEmpty("self"),
                          convertible};
  OperatorSpec sum =
      Make(PORTACL_C_FUNCTION(aclnnCumsum),
           {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("dtype", ACL_FLOAT),
            OutputArg("out", {2, 3})},
           Rules{NoNulls("self out"), DtypeIn("out", kRealComplex), DtypeOf("out", "dtype")} + sum_tail);
  const DtypeList summed = Plus(kReals, kComplexDtypes);
  sum.draw = draw(Plus(kSummed, kUnsigned), summed);
  sum.fill = Filling(Values::kSums);
  sum.oracle = scanning(integer_dim, out_dtype, totals(false));
  all.push_back(sum);
  OperatorSpec v2 = Make(PORTACL_C_FUNCTION(aclnnCumsumV2),
                         {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("exclusive", 0),
                          IntegerArg("reverse", 0), OutputArg("out", {2, 3})},
                         Rules{NoNulls("self out"), DtypeIn("self", kRealComplex),
                               DtypeIn("out", kRealComplex), SameDtype("self", "out")} +
                             sum_tail);
  v2.draw = draw(summed, {});
  v2.fill = Filling(Values::kSums);
  v2.oracle = scanning(integer_dim, out_dtype, totals(false));
  all.push_back(v2);

  const Listed products = {Plus(kReals, kUnsigned)};
  const auto scalar_dim = [](const PlanCall& call) { return static_cast<int64_t>(call["dim"].number.real); };
  const Rules product_dim = {
      Refuses(
          161002, "dim",
          [](PlanCall& call) { return call["dim"].dtype != ACL_INT32 && call["dim"].dtype != ACL_INT64; }),
      Refuses(161002, "dim",
              [=](PlanCall& call) { return !IsDimOf(scalar_dim(call), call.arguments[0].shape); })};
  const auto few = Refuses(561103, "input", [](PlanCall& call) { return call["input"].shape.size() > 8; });
  OperatorSpec prod =
      Make(PORTACL_C_FUNCTION(aclnnCumprod),
           {TensorArg("input", {2, 3}), ScalarArg("dim", {1, 0}, ACL_INT64), IntegerArg("dtype", ACL_FLOAT),
            OutputArg("out", {2, 3})},
           Rules{NoNulls("input dim"), NoNulls("out"), DtypeIn("input", products), DtypeIn("out", products)} +
               product_dim +
               Rules{SameShape("input", "out"),
                     Refuses(161002, "dtype out",
                             [](PlanCall& call) {
                               return call["dtype"].integer != ACL_DT_UNDEFINED &&
                                      call["dtype"].integer != call["out"].dtype;
                             }),
                     DoneIfEmpty("input"), few});
  prod.draw = draw(products.everywhere, products.everywhere);
  prod.fill = Filling(Values::kProducts);
  prod.oracle = scanning(scalar_dim, out_dtype, totals(true));
  all.push_back(prod);
  OperatorSpec in_place = Make(PORTACL_C_FUNCTION(aclnnInplaceCumprod),
                               {OutputArg("input", {2, 3}), ScalarArg("dim", {1, 0}, ACL_INT64)},
                               Rules{NoNulls("input dim"), DtypeIn("input", products)} + product_dim +
                                   Rules{DoneIfEmpty("input"), few});
  in_place.draw = draw(products.everywhere, {});
  in_place.fill = Filling(Values::kProducts);
  in_place.oracle = scanning(
      scalar_dim, [](const PlanCall& call) { return call["input"].dtype; }, totals(true));
  all.push_back(in_place);

  for (const bool least : {false, true}) {
    const Listed dtypes = least ? kFDI + DtypeList{ACL_BF16} : kFDI;
    Rules rules = {NoNulls("self valuesOut indicesOut")};
    if (!least)
      rules.push_back(Refuses(161002, "self", [](PlanCall& call) { return call["self"].shape.empty(); }));
    rules = rules + Rules{Dims("dim"),
                          DtypeIn("self", dtypes),
                          DtypeIn("valuesOut", dtypes),
                          DtypeIn("indicesOut", {{ACL_INT32, ACL_INT64}}),
                          Ranks("self", 0, 8),
                          SameShape("self", "valuesOut"),
                          SameShape("self", "indicesOut"),
                          DoneIfEmpty("self")};
    OperatorSpec op = Make(least ? PORTACL_C_FUNCTION(aclnnCummin) : PORTACL_C_FUNCTION(aclnnCummax),
                           {TensorArg("self", {2, 3}), IntegerArg("dim", 1), OutputArg("valuesOut", {2, 3}),
                            OutputArg("indicesOut", {2, 3}, ACL_INT64)},
                           rules);
    op.draw = draw(kRealsAndBool, kRealsAndBool);
    op.fill = Filling(Values::kAny);
    // The last of those that no other one is better than; a NaN stays until the next.
    op.oracle =
        scanning(integer_dim, OwnDtype, [=](const PlanCall& call, DtypeNumber dtype, const Elements& line) {
          const auto is_nan = [&](const Element& one) {
            return !IsInteger(dtype) && std::isnan(RealOf(dtype, one));
          };
          std::vector<std::vector<Element>> results;
          size_t place = 0;
          for (size_t i = 0; i < line.size(); ++i) {
            if (is_nan(line[i]) || (!is_nan(line[place]) && !IsBetter(dtype, line[i], line[place], least)))
              place = i;
            results.push_back({ConvertedElement(dtype, line[place], call["valuesOut"].dtype),
                               Place(call, "indicesOut", place)});
          }
          return results;
        });
    all.push_back(op);
  }
  return all;
}

}  // namespace portacl::testing::reductions
