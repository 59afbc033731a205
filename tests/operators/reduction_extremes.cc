// Extremes and their places, truth, products and norms, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "aclnnop/families/reductions.h"
#include "operators/reduction_calls.h"

namespace portacl::testing::reductions {

// ---- largest and least ----

std::vector<OperatorSpec> Extremes() {
  std::vector<OperatorSpec> all;
  for (const bool least : {false, true}) {
    const auto fold = [=](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
      return std::vector<Element>{ConvertedElement(dtype, ExtremeOf(dtype, elements, least), OutOf(call))};
    };
    OperatorSpec whole =
        Make(least ? PORTACL_C_FUNCTION(aclnnMin) : PORTACL_C_FUNCTION(aclnnMax),
             {TensorArg("self", {2, 3}), OutputArg("out", {})},
             {NoNulls("self out"), DtypeIn("self", kFDI), DtypeIn("out", kFDI), Ranks("self out", 0, 8),
              DoneIfEmpty("self out"), SetsResult("", ""), ResultIsOrOne("out")});
    whole.draw = Drawing("", "", {.self = kRealsAndBool, .out = kRealsAndBool});
    whole.fill = Filling(Values::kAny);
    whole.oracle = Folding("", OwnDtype, fold);
    all.push_back(whole);

    OperatorSpec over = Make(
        least ? PORTACL_C_FUNCTION(aclnnAmin) : PORTACL_C_FUNCTION(aclnnAmax),
        {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0), OutputArg("out", {2})},
        {NoNulls("self dim out"), SameDtype("self", "out"), DtypeIn("self", kFDI), Dims("dim"),
         NoEmptyDims("dim", "self"), Ranks("self out", 0, 8), SetsResult("dim", "keepDim"), ResultIs("out"),
         DoneIfEmpty("self")});
    over.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool}, false);
    over.fill = Filling(Values::kAny);
    over.oracle = Folding("dim", OwnDtype, fold);
    all.push_back(over);

    const Listed placed = {{ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_BOOL}, {ACL_BF16}, {ACL_INT32}};
    const Listed indices = {ConvertibleDtypes()};
    OperatorSpec along =
        Make(least ? PORTACL_C_FUNCTION(aclnnMinDim) : PORTACL_C_FUNCTION(aclnnMaxDim),
             {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepdim", 0),
              OutputArg("out", {2}), OutputArg("indices", {2}, ACL_INT64)},
             {NoNulls("self out indices"), DtypeIn("self", placed), SameDtype("self", "out"),
              Ranks("self out indices", 0, 8), Dims("dim"), DoneIfEmpty("self"), SetsResult("dim", "keepdim"),
              ResultIsOrOne("indices"), ResultIsOrOne("out"), Refuses(161001, "indices", [=](PlanCall& call) {
                return !indices.Has(call.product, call["indices"].dtype);
              })});
    along.draw = Drawing("dim", "keepdim",
                         {.self = {ACL_FLOAT, ACL_FLOAT16, ACL_INT64, ACL_BOOL, ACL_BF16},
                          .indices = {ACL_INT64, ACL_INT64, ACL_INT32, ACL_INT8, ACL_FLOAT16}});
    along.fill = Filling(Values::kAny);
    along.oracle =
        Folding("dim", OwnDtype, [=](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
          const size_t place = PlaceOf(dtype, elements, least);
          return std::vector<Element>{elements[place], Place(call, "indices", place)};
        });
    all.push_back(along);

    const Listed on_old = {{ACL_BF16}};
    const auto arg_list = Refuses(161002, "self", [=](PlanCall& call) {
      const DtypeNumber dtype = call["self"].dtype;
      if (dtype == ACL_BF16) return call.product == Product::k910 || call.product == Product::k310P;
      if (dtype == ACL_UINT16 && !least) return call.product != Product::k950;
      return !IsOneOf(dtype, kReals);
    });
    const Rules tail = {SetsResult("dim", "keepdim"), ResultIsOrOne("out")};
    OperatorSpec arg =
        Make(least ? PORTACL_C_FUNCTION(aclnnArgMin) : PORTACL_C_FUNCTION(aclnnArgMax),
             {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepdim", 0),
              OutputArg("out", {2}, ACL_INT64)},
             least ? Rules{NoNulls("self out"), Dims("dim"), arg_list,
                           DtypeIn("out", {{ACL_INT32, ACL_INT64}}), Public("self out"),
                           Ranks("self out", 0, 8), NoEmptyDims("dim", "self"), DoneIfEmpty("self")} +
                         tail
                   : Rules{NoNulls("self out"), arg_list, Ranks("self out", 0, 8), Dims("dim"),
                           DoneIfEmpty("self out")} +
                         tail + Rules{Refuses(561103, "out", [=](PlanCall& call) {
                           return !indices.Has(call.product, call["out"].dtype);
                         })});
    arg.draw = Drawing("dim", "keepdim", {.self = kReals, .out = {ACL_INT64, ACL_INT32}});
    arg.fill = Filling(Values::kAny);
    arg.oracle =
        Folding("dim", OwnDtype, [=](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
          return std::vector<Element>{Place(call, "out", PlaceOf(dtype, elements, least))};
        });
    all.push_back(arg);
  }

  OperatorSpec v2 =
      Make(PORTACL_C_FUNCTION(aclnnMaxV2),
           {TensorArg("self", {2, 3}), ArrayArg("dims", {1}), IntegerArg("keepDims", 0),
            IntegerArg("noopWithEmptyDims", 0), OutputArg("out", {2})},
           {NoNulls("self dims out"), SameDtype("self", "out"), DtypeIn("self", kFDI), Dims("dims"),
            NoEmptyDims("dims", "self"), Ranks("self out", 0, 8), SetsResult("dims", "keepDims"),
            When(
                [](const PlanCall& call) {
                  return call["dims"].values.empty() && call["noopWithEmptyDims"].integer != 0;
                },
                Sets([](PlanCall& call) { call.result = call["self"].shape; })),
            ResultIs("out"), DoneIfEmpty("self")});
  v2.draw = Drawing("dims", "keepDims", {.self = kRealsAndBool}, false);
  v2.fill = Filling(Values::kAny);
  v2.oracle = Folding("dims", OwnDtype, [](const PlanCall&, DtypeNumber dtype, const Elements& elements) {
    return std::vector<Element>{ExtremeOf(dtype, elements, false)};
  });
  all.push_back(v2);

  const auto both = [](const PlanCall&, DtypeNumber dtype, const Elements& elements) {
    return std::vector<Element>{ExtremeOf(dtype, elements, true), ExtremeOf(dtype, elements, false)};
  };
  const Rules first = {DtypeIn("self", kFDI), SameDtype("self", "minOut"), SameDtype("self", "maxOut"),
                       Ranks("self minOut maxOut", 0, 8)};
  const Rules last = {ResultIsOrOne("minOut"), ResultIsOrOne("maxOut")};
  OperatorSpec aminmax =
      Make(PORTACL_C_FUNCTION(aclnnAminmax),
           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepDim", 0),
            OutputArg("minOut", {2}), OutputArg("maxOut", {2})},
           Rules{NoNulls("self dim minOut maxOut")} + first +
               Rules{Refuses(161002, "self dim",
                             [](PlanCall& call) { return call["dim"].values.size() != 1 && IsEmpty(call); }),
                     When([](const PlanCall& call) { return call["dim"].values.size() == 1; }, Dims("dim")),
                     When([](const PlanCall& call) { return call["dim"].values.size() == 1; },
                          NoEmptyDims("dim", "self")),
                     Dims("dim", false, 561103), DoneIfEmpty("self"), SetsResult("dim", "keepDim"),
                     When([](const PlanCall& call) { return call["dim"].values.empty(); },
                          Sets([](PlanCall& call) { call.result = call["self"].shape; }))} +
               last);
  aminmax.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool}, false);
  aminmax.fill = Filling(Values::kAny);
  aminmax.oracle = Folding("dim", OwnDtype, both);
  // Without dims nothing is reduced.
  aminmax.oracle = [inner = aminmax.oracle](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    if (!call["dim"].values.empty()) return inner(call, tensors);
    Outcome same;
    for (size_t i = 0; i < tensors[0].elements.size(); ++i)
      same.push_back(Cast(tensors[0], static_cast<int64_t>(i), tensors[0].dtype));
    return std::vector<Outcome>{same, same};
  };
  all.push_back(aminmax);
  OperatorSpec all_of = Make(
      PORTACL_C_FUNCTION(aclnnAminmaxAll),
      {TensorArg("self", {2, 3}), OutputArg("minOut", {}), OutputArg("maxOut", {})},
      Rules{NoNulls("self minOut maxOut")} + first + Rules{DoneIfEmpty("self"), SetsResult("", "")} + last);
  all_of.draw = Drawing("", "", {.self = kRealsAndBool});
  all_of.fill = Filling(Values::kAny);
  all_of.oracle = Folding("", OwnDtype, both);
  all.push_back(all_of);
  OperatorSpec along = Make(
      PORTACL_C_FUNCTION(aclnnAminmaxDim),
      {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepDim", 0), OutputArg("minOut", {2}),
       OutputArg("maxOut", {2})},
      Rules{NoNulls("self minOut maxOut")} + first +
          Rules{Dims("dim"), NoEmptyDims("dim", "self"), DoneIfEmpty("self"), SetsResult("dim", "keepDim")} +
          last);
  along.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool});
  along.fill = Filling(Values::kAny);
  along.oracle = Folding("dim", OwnDtype, both);
  all.push_back(along);
  return all;
}

// ---- truth, products, norms ----

std::vector<OperatorSpec> Others() {
  std::vector<OperatorSpec> all;
  const Listed truths = {{ACL_UINT8, ACL_BOOL}};
  for (const bool is_all : {false, true}) {
    Rules rules = {NoNulls("self dim out"), DtypeIn("self", kFDI), DtypeIn("out", truths)};
    if (is_all) rules.push_back(Public("self"));
    rules = rules + Rules{Dims("dim", is_all), Ranks("self out", 0, 8)};
    rules = rules + (is_all ? Rules{SetsResult("dim", "keepdim"), ResultIs("out"), EmptyGives()}
                            : Rules{EmptyGives(), SetsResult("dim", "keepdim"), ResultIsOrOne("out")});
    OperatorSpec op = Make(is_all ? PORTACL_C_FUNCTION(aclnnAll) : PORTACL_C_FUNCTION(aclnnAny),
                           {TensorArg("self", {2, 3}), ArrayArg("dim", {1}), IntegerArg("keepdim", 0),
                            OutputArg("out", {2}, ACL_BOOL)},
                           rules);
    op.draw = Drawing("dim", "keepdim", {.self = kRealsAndBool, .out = {ACL_BOOL, ACL_UINT8}}, !is_all);
    // Mostly true, or mostly false.
    op.fill = [](const PlanCall&, std::vector<HostTensor>& tensors, RandomNumbers& random) {
      HostTensor& self = tensors[0];
      const int zeros = random.Chance(50) ? 1 : 99;
      for (int64_t i = 0; i < self.size(); ++i) {
        const Number_ specials[] = {1, -2, std::numeric_limits<Number_>::quiet_NaN()};
        Number number{random.Chance(zeros) ? (random.Chance(50) ? 0.0L : -0.0L) : specials[random.Below(3)],
                      0};
        if (IsInteger(self.dtype()) && std::isnan(number.real)) number.real = 1;
        const Element element =
            IsInteger(self.dtype())
                ? FromInteger(self.dtype(), static_cast<uint64_t>(static_cast<int64_t>(number.real)))
                : ElementOfNumber(self.dtype(), number);
        std::copy(element.begin(), element.end(), self.Element(i));
      }
    };
    op.oracle =
        Folding("dim", OwnDtype, [=](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
          const auto is_true = [&](const Element& one) { return IsTrue(dtype, one); };
          const bool result = is_all ? std::all_of(elements.begin(), elements.end(), is_true)
                                     : std::any_of(elements.begin(), elements.end(), is_true);
          return std::vector<Element>{FromInteger(OutOf(call), result ? 1 : 0)};
        });
    all.push_back(op);
  }

  const DtypeList filled = Plus(kRealsAndBool, {});
  const Rules product_tail = {
      Refuses(161002, "out",
              [=](PlanCall& call) { return IsEmpty(call) && !IsOneOf(call["out"].dtype, filled); }),
      EmptyGives()};
  const auto convertible = Refuses(561103, "out", [](PlanCall& call) {
    const auto& dtypes = ConvertibleDtypes();
    return std::find(dtypes.begin(), dtypes.end(), call["out"].dtype) == dtypes.end();
  });
  const auto product = [](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
    return std::vector<Element>{ProductOf(dtype, elements, OutOf(call))};
  };
  // Of complex products zeros' signs depend on the order: see orders_test.cc.
  const DtypeList product_dtypes = Plus(kRealsAndBool, kUnsigned);
  OperatorSpec prod = Make(
      PORTACL_C_FUNCTION(aclnnProd),
      {TensorArg("self", {2, 3}), IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {})},
      Rules{NoNulls("self out"), DtypeIn("self", kFDCI), DtypeOf("out", "dtype"), Ranks("self out", 0, 8)} +
          product_tail + Rules{SetsResult("", ""), ResultIsOrOne("out"), convertible});
  prod.draw = Drawing("", "", {.self = kRealsAndBool, .dtype = product_dtypes});
  prod.fill = Filling(Values::kProducts);
  prod.oracle = Folding("", GivenDtype, product);
  all.push_back(prod);
  OperatorSpec prod_dim =
      Make(PORTACL_C_FUNCTION(aclnnProdDim),
           {TensorArg("self", {2, 3}), IntegerArg("dim", 1), IntegerArg("keepDim", 0),
            IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})},
           Rules{NoNulls("self out"), DtypeIn("self", kFDCI), DtypeOf("out", "dtype"),
                 Ranks("self out", 0, 8), Dims("dim")} +
               product_tail + Rules{SetsResult("dim", "keepDim"), ResultIsOrOne("out"), convertible});
  prod_dim.draw = Drawing("dim", "keepDim", {.self = kRealsAndBool, .dtype = product_dtypes});
  prod_dim.fill = Filling(Values::kProducts);
  prod_dim.oracle = Folding("dim", GivenDtype, product);
  all.push_back(prod_dim);

  const Listed on950 = {kThree};
  for (const bool is_vector : {true, false}) {
    const std::string p = is_vector ? "ord" : "pScalar";
    const std::string dims = is_vector ? "dims" : "dim";
    const std::string keep = is_vector ? "keepDims" : "keepdim";
    const auto is_950 = [](const PlanCall& call) { return call.product == Product::k950; };
    Rules rules = {NoNulls("self " + p + " " + dims + " out")};
    if (is_vector)
      rules =
          rules + Rules{DtypeOf("out", "dtype"), Refuses(161002, "self out", [](PlanCall& call) {
                          const DtypeList complex = Plus(kComplexDtypes, {ACL_COMPLEX32});
                          return IsOneOf(call["self"].dtype, complex) || IsOneOf(call["out"].dtype, complex);
                        })};
    rules = rules + Rules{When(is_950, DtypeIn("self", on950)), When(is_950, DtypeIn("out", on950))};
    if (is_vector)
      rules.push_back(When(is_950, Refuses(161002, "out self", [](PlanCall& call) {
                             return call["out"].dtype != call["self"].dtype && call["out"].dtype != ACL_FLOAT;
                           })));
    rules =
        rules +
        Rules{
            Refuses(161002, "self out",
                    [](PlanCall& call) {
                      return PromoteDtypes(call["self"].dtype, call["out"].dtype) == kUndefinedDtype;
                    }),
            When(is_950, Refuses(161002, "out",
                                 [](PlanCall& call) {
                                   return !CanCastDtype(PromoteDtypes(call["self"].dtype, call["out"].dtype),
                                                        call["out"].dtype);
                                 })),
            Dims(dims), Ranks("self out", 0, 8), SetsResult(dims, keep), ResultIs("out"), EmptyGives(),
            Refuses(561103, "self",
                    [=](PlanCall& call) {
                      const auto& dtypes = ConvertibleDtypes();
                      return (is_vector && IsOneOf(call["self"].dtype, kComplexDtypes)) ||
                             std::find(dtypes.begin(), dtypes.end(), call["self"].dtype) == dtypes.end();
                    }),
            convertible,
            // Of complex numbers there is the 2-norm alone. A BOOL scalar is 1 at most, a complex one counts as 0.
            Refuses(561103, p, [=](PlanCall& call) {
              const PlanArgument& order = call[p];
              const bool is_two =
                  order.number.real == 2 && order.dtype != ACL_BOOL && !IsOneOf(order.dtype, kComplexDtypes);
              return IsOneOf(call["self"].dtype, kComplexDtypes) && !is_two;
            })};
    const std::vector<PlanArgument> vector_arguments = {
        TensorArg("self", {2, 3}), ScalarArg("ord", {2, 0}),       ArrayArg("dims", {1}),
        IntegerArg("keepDims", 0), IntegerArg("dtype", ACL_FLOAT), OutputArg("out", {2})};
    const std::vector<PlanArgument> norm_arguments = {TensorArg("self", {2, 3}), ScalarArg("pScalar", {2, 0}),
                                                      ArrayArg("dim", {1}), IntegerArg("keepdim", 0),
                                                      OutputArg("out", {2})};
    OperatorSpec norm =
        Make(is_vector ? PORTACL_C_FUNCTION(aclnnLinalgVectorNorm) : PORTACL_C_FUNCTION(aclnnNorm),
             is_vector ? vector_arguments : norm_arguments, rules);
    norm.draw = [=](PlanCall& call, RandomNumbers& random) {
      const DtypeList floats = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE};
      Drawn drawn{.self = is_vector ? kRealsAndBool : Plus(kRealsAndBool, kComplexDtypes),
                  .out = is_vector ? floats : Plus(floats, kComplexDtypes)};
      Draw(call, random, dims, keep, drawn, false);
      if (is_vector) call["dtype"].integer = call["out"].dtype;
      const Number_ infinity = std::numeric_limits<Number_>::infinity();
      const Number_ orders[] = {0, 1, 2, infinity, -infinity, 2147483648.0L};
      const bool is_complex = IsOneOf(call["self"].dtype, kComplexDtypes);
      call[p].number = {is_complex ? 2 : orders[random.Below(6)], 0};
    };
    norm.fill = Filling(Values::kSums);
    norm.oracle = Folding(
        dims,
        [](const PlanCall& call) {
          return IsIntegral(call["self"].dtype) ? static_cast<DtypeNumber>(ACL_FLOAT) : call["self"].dtype;
        },
        [=](const PlanCall& call, DtypeNumber dtype, const Elements& elements) {
          Number_ order = call[p].number.real;
          if (order == 2147483648.0L) order = std::numeric_limits<Number_>::infinity();
          const Number_ exact = NormOf(dtype, elements, order);
          // Square roots are those of float64.
          const Number_ norm_value = order == 2 ? static_cast<Number_>(static_cast<double>(exact)) : exact;
          return std::vector<Element>{ElementOfNumber(OutOf(call), {norm_value, 0})};
        });
    all.push_back(norm);
  }
  return all;
}

}  // namespace portacl::testing::reductions
