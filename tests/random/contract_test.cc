// The contracts of the operators that draw random numbers, as data: for each a valid call and its faults in the order in which they are
// reported, tried one by one and in pairs, on every product.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "aclnnop/families/random.h"
#include "random/random_calls.h"
#include "support/contract_rows.h"
#include "support/contract_suite.h"

namespace portacl::testing {
namespace {

// One argument by name; what counts depends on the parameter's kind.
struct Given {
  std::string name;
  TensorSpec tensor = {};
  double number = 0;  // also of a scalar
  DtypeNumber scalar_dtype = ACL_DOUBLE;
  Shape dims = {};
};

struct RandomCall {
  std::vector<Given> arguments;
  Product product = Product::kA2;

  Given& operator[](const std::string& name) {
    for (Given& given : arguments) {
      if (given.name == name) return given;
    }
    throw std::out_of_range(name);
  }
};
using Change = std::function<void(RandomCall&)>;

// What is wrong, the code, and what the message says; on some products another code.
struct Wrong {
  std::string name;
  Change change;
  aclnnStatus code;
  std::string says;
  std::map<Product, aclnnStatus> elsewhere = {};

  aclnnStatus CodeOn(Product product) const {
    const auto found = elsewhere.find(product);
    return found == elsewhere.end() ? code : found->second;
  }
};

struct RandomContract {
  CFunction function;
  std::vector<Given> valid;
  std::vector<Wrong> faults;          // in order
  std::vector<Change> accepted = {};  // calls that are odd but valid
  std::string listed;                 // whose dtype the lists below are for
  std::vector<std::string> tied;      // which have the same
  DtypeLists dtypes;
  std::vector<Product> products = {kAllProducts,
                                   kAllProducts + std::size(kAllProducts)};  // on which the rest holds
};

// ---- Changes ----

Change NoTensor(const std::string& name) {
  return [=](RandomCall& call) { call[name].tensor.null = true; };
}
Change OfDtype(const std::string& name, DtypeNumber dtype) {
  return [=](RandomCall& call) { call[name].tensor.dtype = dtype; };
}
Change OfShape(const std::string& name, const Shape& shape) {
  return [=](RandomCall& call) { call[name].tensor.shape = shape; };
}
Change Outside(const std::string& name) {
  return [=](RandomCall& call) {
    call[name].tensor.every_stride = 77;
    call[name].tensor.storage_dims = Shape{1};
  };
}
Change Equal(const std::string& name, double number) {
  return [=](RandomCall& call) { call[name].number = number; };
}
Change Together(const std::vector<Change>& changes) {
  return [=](RandomCall& call) {
    for (const Change& change : changes) change(call);
  };
}

Given TensorOf(const std::string& name, DtypeNumber dtype = ACL_FLOAT, const Shape& shape = {2, 3}) {
  Given given{name};
  given.tensor.dtype = dtype;
  given.tensor.shape = shape;
  return given;
}
Given NumberOfName(const std::string& name, double number) {
  Given given{name};
  given.number = number;
  return given;
}
Given NoneOf(const std::string& name) {
  Given given{name};
  given.tensor.null = true;
  return given;
}
Given DimsOf(const std::string& name, const Shape& dims) {
  Given given{name};
  given.dims = dims;
  return given;
}

const Shape kRankNine = {1, 1, 1, 1, 1, 1, 1, 2, 3};
const std::vector<DtypeNumber> kFills = {ACL_FLOAT, ACL_INT32, ACL_INT64, ACL_FLOAT16,
                                         ACL_INT16, ACL_INT8,  ACL_UINT8, ACL_DOUBLE};
const std::vector<Product> kSinceAtlasA2AndA3 = {Product::kA2, Product::kA3, Product::k950};

std::vector<DtypeNumber> And(std::vector<DtypeNumber> list, const std::vector<DtypeNumber>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}
std::vector<Change> Plus(std::vector<Change> list, const std::vector<Change>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}
DtypeLists WithBf16(const std::vector<DtypeNumber>& list) {
  return ListedWith(list, kSinceAtlasA2AndA3, {ACL_BF16});
}

const Given kSeedOf = NumberOfName("seed", 7);
const Given kOffsetOf = NumberOfName("offset", 12);
const Given kSeedTensor = TensorOf("seedTensor", ACL_INT64, {1});
const Given kOffsetTensor = TensorOf("offsetTensor", ACL_INT64, {1});

// ---- The operators ----

std::vector<Wrong> UniformFaults(bool by_tensor) {
  std::vector<Wrong> faults = {{"selfRef null", NoTensor("selfRef"), kNullptr, "selfRef is a null"}};
  if (by_tensor) {
    faults.push_back({"seed null", NoTensor("seedTensor"), kNullptr, "seedTensor is a null"});
    faults.push_back({"offset null", NoTensor("offsetTensor"), kNullptr, "offsetTensor is a null"});
  }
  faults.push_back({"dtype", OfDtype("selfRef", ACL_BOOL), kInvalid, "DT_BOOL"});
  faults.push_back({"rank", OfShape("selfRef", kRankNine), kInvalid, "9"});
  faults.push_back({"bounds", Equal("from", 5), kInvalid, "parameter from has the value 5"});
  if (by_tensor) {
    faults.push_back(
        {"seed dtype", OfDtype("seedTensor", ACL_INT32), kInvalid, "seedTensor with dtype DT_INT32"});
    faults.push_back({"offset shape", OfShape("offsetTensor", {2}), kInvalid, "offsetTensor"});
  }
  faults.push_back({"view", Outside("selfRef"), kNullptr, "selfRef"});
  return faults;
}

std::vector<Wrong> NormalFaults(bool by_tensor) {
  std::vector<Wrong> faults;
  if (by_tensor) {
    faults = {{"seed null", NoTensor("seedTensor"), kNullptr, "seedTensor is a null"},
              {"offset null", NoTensor("offsetTensor"), kNullptr, "offsetTensor is a null"},
              {"seed dtype", OfDtype("seedTensor", ACL_UINT64), kInvalid, "seedTensor with dtype DT_UINT64"},
              {"offset shape", OfShape("offsetTensor", {}), kInvalid, "expected [1]"}};
  }
  faults.push_back({"selfRef null", NoTensor("selfRef"), kNullptr, "selfRef is a null"});
  faults.push_back({"std", Equal("std", -1), kInvalid, "parameter std has the value -1"});
  faults.push_back({"dtype", OfDtype("selfRef", ACL_UINT16), kInvalid, "DT_UINT16"});
  faults.push_back({"rank", OfShape("selfRef", kRankNine), kInvalid, "9"});
  faults.push_back({"view", Outside("selfRef"), kInnerNullptr, "selfRef"});
  return faults;
}

std::vector<Wrong> IntegerFaults(bool has_bounds, bool by_tensor) {
  std::vector<Wrong> faults = {{"selfRef null", NoTensor("selfRef"), kNullptr, "selfRef is a null"}};
  if (by_tensor) faults.push_back({"seed null", NoTensor("seedTensor"), kNullptr, "seedTensor is a null"});
  faults.push_back({"dtype", OfDtype("selfRef", ACL_UINT16), kInvalid, "DT_UINT16"});
  faults.push_back({"rank", OfShape("selfRef", kRankNine), kInvalid, "9"});
  if (has_bounds)
    faults.push_back({"bounds", Equal("from", 10), kInvalid, "parameter from has the value 10"});
  if (by_tensor)
    faults.push_back(
        {"seed dtype", OfDtype("seedTensor", ACL_FLOAT), kInvalid, "seedTensor with dtype DT_FLOAT"});
  faults.push_back({"view", Outside("selfRef"), kNullptr, "selfRef"});
  return faults;
}

std::vector<Wrong> BernoulliFaults(bool by_tensor, bool in_place) {
  const std::string self = in_place ? "selfRef" : "self";
  std::vector<Wrong> faults = {{"self null", NoTensor(self), kNullptr, self + " is a null"},
                               {"prob null", NoTensor("prob"), kNullptr, "prob is a null"}};
  if (!in_place) faults.push_back({"out null", NoTensor("out"), kNullptr, "out is a null"});
  std::vector<Change> both = {OfDtype(self, ACL_COMPLEX64)};
  faults.push_back({"self dtype", both[0], kInvalid, "DT_COMPLEX64"});
  faults.push_back({"prob dtype", by_tensor ? OfDtype("prob", ACL_INT64) : Change([](RandomCall& call) {
                      call["prob"].scalar_dtype = ACL_INT64;
                    }),
                    kInvalid, "DT_INT64"});
  if (!in_place) faults.push_back({"out dtype", OfDtype("out", ACL_INT32), kInvalid, "DT_INT32"});
  if (!by_tensor) faults.push_back({"prob", Equal("prob", 1.5), kInvalid, "prob has the value 1.5"});
  faults.push_back({"self rank", OfShape(self, kRankNine), kInvalid, "9"});
  if (by_tensor)
    faults.push_back({"prob rank", OfShape("prob", {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}), kInvalid, "10"});
  if (!in_place) faults.push_back({"out shape", OfShape("out", {6}), kInvalid, "out"});
  faults.push_back({"format", [=](RandomCall& call) { call[self].tensor.format = ACL_FORMAT_FRACTAL_NZ; },
                    kInvalid, "format"});
  if (by_tensor) faults.push_back({"prob shape", OfShape("prob", {4}), kInvalid, "prob"});
  if (by_tensor) faults.push_back({"prob view", Outside("prob"), kInnerNullptr, "prob"});
  return faults;
}

std::vector<Wrong> MaskedFaults(const std::string& in, const std::string& mask, const std::string& out,
                                const std::vector<Wrong>& of_attribute, bool may_be_larger) {
  std::vector<Wrong> faults = {{"in null", NoTensor(in), kNullptr, in + " is a null"}};
  const bool is_mask_last = mask == "maskOut";
  const Wrong no_mask = {"mask null", NoTensor(mask), kNullptr, mask + " is a null"};
  if (!is_mask_last) faults.push_back(no_mask);
  faults.push_back({"out null", NoTensor(out), kNullptr, out + " is a null"});
  if (is_mask_last) faults.push_back(no_mask);
  faults.push_back({"cast", OfDtype(out, ACL_INT32), kInvalid, "DT_INT32"});
  faults.push_back({"in dtype", OfDtype(in, ACL_DOUBLE), kInvalid, "DT_DOUBLE"});
  faults.push_back({"mask dtype", OfDtype(mask, ACL_INT8), kInvalid, "DT_INT8"});
  faults.insert(faults.end(), of_attribute.begin(), of_attribute.end());
  faults.push_back({"rank", OfShape(in, kRankNine), kInvalid, "9"});
  faults.push_back({"shape", OfShape(out, {6}), kInvalid, out});
  faults.push_back(
      {"mask size", OfShape(mask, {may_be_larger ? 15 : 17}), kInvalid, may_be_larger ? "15" : "17"});
  faults.push_back({"view", Outside(in), kInnerNullptr, in});
  return faults;
}

std::vector<Wrong> GenMaskFaults(bool by_tensor, bool has_dtype) {
  std::vector<Wrong> faults = {{"shape null", NoTensor("shape"), kNullptr, "shape is a null"}};
  if (by_tensor) faults.push_back({"seed null", NoTensor("seedTensor"), kNullptr, "seedTensor is a null"});
  faults.push_back({"out null", NoTensor("out"), kNullptr, "out is a null"});
  faults.push_back({"dtype", OfDtype("out", ACL_INT8), kInvalid, "DT_INT8"});
  faults.push_back({"prob", Equal("prob", -0.5), kInvalid, "prob has the value -0.5"});
  faults.push_back({"size", OfShape("out", {48}), kInvalid, "48"});
  if (by_tensor)
    faults.push_back(
        {"seed dtype", OfDtype("seedTensor", ACL_FLOAT), kInvalid, "seedTensor with dtype DT_FLOAT"});
  if (has_dtype)
    faults.push_back({"prob dtype",
                      Equal("probDataType", ACL_DOUBLE),
                      kInnerNullptr,
                      "DT_DOUBLE",
                      {{Product::k950, kOk}}});
  return faults;
}

std::vector<Wrong> MultinomialFaults(bool by_tensor) {
  std::vector<Wrong> faults = {{"self null", NoTensor("self"), kNullptr, "self is a null"}};
  if (by_tensor) faults.push_back({"seed null", NoTensor("seedTensor"), kNullptr, "seedTensor is a null"});
  faults.push_back({"out null", NoTensor("out"), kNullptr, "out is a null"});
  faults.push_back({"self dtype", OfDtype("self", ACL_INT32), kInvalid, "DT_INT32"});
  faults.push_back({"out dtype", OfDtype("out", ACL_INT32), kInvalid, "DT_INT32"});
  faults.push_back({"self rank", OfShape("self", {1, 2, 3}), kInvalid, "[1, 2, 3]"});
  faults.push_back({"out rank", OfShape("out", {2}), kInvalid, "out the shape [2]"});
  faults.push_back({"out shape", OfShape("out", {2, 3}), kInvalid, "out the shape [2, 3]"});
  faults.push_back({"rows", OfShape("out", {3, 2}), kInvalid, "out the shape [3, 2]"});
  faults.push_back({"too many samples", Together({Equal("numsamples", 4), OfShape("out", {2, 4})}), kInvalid,
                    "numsamples has the value 4"});
  faults.push_back(
      {"too many weights", Together({OfShape("self", {2, (1 << 24) + 1})}), kInvalid, "16777217"});
  if (by_tensor)
    faults.push_back(
        {"seed dtype", OfDtype("seedTensor", ACL_UINT64), kInvalid, "seedTensor with dtype DT_UINT64"});
  faults.push_back({"view", Outside("self"), kInnerNullptr, "self"});
  return faults;
}

#define FUNCTION(name) PORTACL_C_FUNCTION(aclnn##name)

const std::vector<RandomContract>& Contracts() {
  static const std::vector<RandomContract> contracts = [] {
    std::vector<RandomContract> all;
    const Given self = TensorOf("selfRef");
    const Given bounds[] = {NumberOfName("from", 0), NumberOfName("to", 1)};
    const Given integers[] = {NumberOfName("from", 0), NumberOfName("to", 10)};
    const Given moments[] = {NumberOfName("mean", 0), NumberOfName("std", 1)};
    const Change empty = OfShape("selfRef", {2, 0});
    const Change nine_and_empty = OfShape("selfRef", {0, 1, 1, 1, 1, 1, 1, 1});
    all.push_back({FUNCTION(InplaceUniform),
                   {self, bounds[0], bounds[1], kSeedOf, kOffsetOf},
                   UniformFaults(false),
                   {empty, nine_and_empty, Equal("to", 0), Equal("to", std::nan("")),
                    Equal("from", std::nan("")), Equal("offset", 1)},
                   "selfRef",
                   {},
                   WithBf16(kFills)});
    all.push_back({FUNCTION(InplaceUniformTensor),
                   {self, bounds[0], bounds[1], kSeedTensor, kOffsetTensor, kOffsetOf},
                   UniformFaults(true),
                   {empty, OfDtype("seedTensor", ACL_UINT64)},
                   "selfRef",
                   {},
                   WithBf16(kFills)});
    all.push_back({FUNCTION(InplaceNormal),
                   {self, moments[0], moments[1], kSeedOf, kOffsetOf},
                   NormalFaults(false),
                   {empty, Equal("std", 0), Equal("std", std::nan("")), Equal("mean", std::nan(""))},
                   "selfRef",
                   {},
                   WithBf16(And(kFills, {ACL_BOOL}))});
    all.push_back({FUNCTION(InplaceNormalTensor),
                   {self, moments[0], moments[1], kSeedTensor, kOffsetTensor, kOffsetOf},
                   NormalFaults(true),
                   {empty},
                   "selfRef",
                   {},
                   WithBf16(And(kFills, {ACL_BOOL}))});
    const std::vector<DtypeNumber> drawn = And(kFills, {ACL_BOOL, ACL_BF16});
    DtypeLists with_complex = ListedWith(
        drawn,
        {Product::kA2, Product::kA3, Product::k310B, Product::k310P, Product::k910, Product::kNoDevice},
        {ACL_COMPLEX64, ACL_COMPLEX128});
    all.push_back({FUNCTION(InplaceRandom),
                   {self, integers[0], integers[1], kSeedOf, kOffsetOf},
                   IntegerFaults(true, false),
                   {empty, Equal("from", 9)},
                   "selfRef",
                   {},
                   with_complex});
    all.push_back({FUNCTION(InplaceRandomTensor),
                   {self, integers[0], integers[1], kSeedTensor, kOffsetTensor, kOffsetOf},
                   IntegerFaults(true, true),
                   {empty},
                   "selfRef",
                   {},
                   with_complex});
    all.push_back({FUNCTION(InplaceRandomWithoutFromTo),
                   {self, kSeedOf, kOffsetOf},
                   IntegerFaults(false, false),
                   {empty},
                   "selfRef",
                   {},
                   ListedWith(drawn, {}, {})});
    all.push_back({FUNCTION(InplaceRandomWithoutFromToTensor),
                   {self, kSeedTensor, kOffsetTensor, kOffsetOf},
                   IntegerFaults(false, true),
                   {empty},
                   "selfRef",
                   {},
                   ListedWith(drawn, {}, {})});

    DtypeLists ones = WithBf16(And(kFills, {ACL_BOOL}));
    ones[Product::k950] = And(ones[Product::k950], {ACL_UINT16, ACL_UINT32, ACL_UINT64});
    ones[Product::k310P] = ones[Product::k310B] = {};
    const std::vector<Product> with_ones = {Product::k950, Product::kA3, Product::kA2, Product::k910,
                                            Product::kNoDevice};
    const Given plain = TensorOf("self");
    const Given out = TensorOf("out");
    const Given prob = NumberOfName("prob", 0.5);
    const Given probs = TensorOf("prob");
    const Change empty_self = Together({OfShape("self", {0}), OfShape("out", {0})});
    all.push_back({FUNCTION(Bernoulli),
                   {plain, prob, kSeedOf, kOffsetOf, out},
                   BernoulliFaults(false, false),
                   {empty_self, Equal("prob", 1), Equal("prob", std::nan(""))},
                   "self",
                   {"out"},
                   ones,
                   with_ones});
    all.push_back({FUNCTION(InplaceBernoulli),
                   {self, prob, kSeedOf, kOffsetOf},
                   BernoulliFaults(false, true),
                   {empty, Equal("prob", 0)},
                   "selfRef",
                   {},
                   ones,
                   with_ones});
    all.push_back({FUNCTION(BernoulliTensor),
                   {plain, probs, kSeedOf, kOffsetOf, out},
                   BernoulliFaults(true, false),
                   {empty_self, OfShape("prob", {0}), OfShape("prob", {1}), OfShape("prob", {3}),
                    OfDtype("prob", ACL_DOUBLE)},
                   "self",
                   {"out"},
                   ones,
                   with_ones});
    all.push_back({FUNCTION(InplaceBernoulliTensor),
                   {self, probs, kSeedOf, kOffsetOf},
                   BernoulliFaults(true, true),
                   {empty, OfShape("prob", {})},
                   "selfRef",
                   {},
                   ones,
                   with_ones});

    const Given mean = TensorOf("mean", ACL_FLOAT, {2, 1});
    const Given std = TensorOf("std", ACL_FLOAT, {3});
    const Given std_of_out = TensorOf("std");
    const DtypeLists reals = ListedWith({ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}, {}, {});
    all.push_back({FUNCTION(NormalTensorTensor),
                   {mean, std, kSeedOf, kOffsetOf, out},
                   {{"mean null", NoTensor("mean"), kNullptr, "mean is a null"},
                    {"std null", NoTensor("std"), kNullptr, "std is a null"},
                    {"out null", NoTensor("out"), kNullptr, "out is a null"},
                    {"rank", OfShape("mean", kRankNine), kInvalid, "9"},
                    {"no broadcast", OfShape("std", {4, 4}), kInvalid, "[4, 4]"},
                    {"shape", OfShape("out", {2, 4}), kInvalid, "[2, 4]"},
                    {"dtype", OfDtype("mean", ACL_INT32), kInvalid, "DT_INT32"},
                    {"view", Outside("mean"), kInnerNullptr, "mean"}},
                   {Together({OfShape("mean", {0}), OfShape("std", {1}), OfShape("out", {0})}),
                    OfDtype("out", ACL_DOUBLE)},
                   "out",
                   {},
                   reals});
    all.push_back({FUNCTION(NormalTensorFloat),
                   {mean, moments[1], kSeedOf, kOffsetOf, out},
                   {{"mean null", NoTensor("mean"), kNullptr, "mean is a null"},
                    {"out null", NoTensor("out"), kNullptr, "out is a null"},
                    {"rank", OfShape("mean", kRankNine), kInvalid, "9"},
                    {"enlarges", OfShape("mean", {4, 2, 3}), kInvalid, "[4, 2, 3]"},
                    {"dtype", OfDtype("out", ACL_INT32), kInvalid, "DT_INT32"},
                    {"view", Outside("mean"), kInnerNullptr, "mean"}},
                   {Equal("std", -1)},
                   "out",
                   {},
                   reals});
    all.push_back({FUNCTION(NormalFloatTensor),
                   {moments[0], std_of_out, kSeedOf, kOffsetOf, out},
                   {{"std null", NoTensor("std"), kNullptr, "std is a null"},
                    {"out null", NoTensor("out"), kNullptr, "out is a null"},
                    {"rank", OfShape("std", kRankNine), kInvalid, "9"},
                    {"shape", OfShape("std", {3}), kInvalid, "[3]"},
                    {"dtype", OfDtype("out", ACL_INT32), kInvalid, "DT_INT32"},
                    {"view", Outside("std"), kInnerNullptr, "std"}},
                   {Together({OfShape("std", {1}), OfShape("out", {0})})},
                   "out",
                   {},
                   reals});
    all.push_back({FUNCTION(NormalFloatFloat),
                   {moments[0], moments[1], kSeedOf, kOffsetOf, out},
                   {{"out null", NoTensor("out"), kNullptr, "out is a null"},
                    {"rank", OfShape("out", kRankNine), kInvalid, "9"},
                    {"dtype", OfDtype("out", ACL_INT32), kInvalid, "DT_INT32"}},
                   {OfShape("out", {0})},
                   "out",
                   {},
                   reals});

    const DtypeLists dropped = WithBf16({ACL_FLOAT, ACL_FLOAT16});
    DtypeLists dropped_before_950 = dropped;
    dropped_before_950[Product::k950] = {ACL_FLOAT, ACL_FLOAT16};
    const Given input = TensorOf("input");
    const Given mask = TensorOf("mask", ACL_UINT8, {16});
    const Given mask_out = TensorOf("maskOut", ACL_UINT8, {16});
    const Given p = NumberOfName("p", 0.5);
    const std::vector<Wrong> wrong_p = {{"p", Equal("p", 1.5), kInvalid, "p has the value 1.5"}};
    const Change empty_input =
        Together({OfShape("input", {0, 4}), OfShape("out", {0, 4}), OfShape("maskOut", {0})});
    all.push_back({FUNCTION(Dropout),
                   {input, p, NumberOfName("train", 1), kSeedOf, kOffsetOf, out, mask_out},
                   MaskedFaults("input", "maskOut", "out", wrong_p, false),
                   {empty_input, Equal("p", 1), Equal("p", std::nan("")), Equal("train", 0),
                    OfDtype("out", ACL_DOUBLE)},
                   "input",
                   {},
                   dropped_before_950});
    all.push_back(
        {FUNCTION(DropoutV3),
         {input, NoneOf("optionalNoiseShape"), p, kSeedOf, kOffsetOf, out, mask_out},
         MaskedFaults("input", "maskOut", "out",
                      {{"noise", [](RandomCall& call) { call["optionalNoiseShape"].tensor.null = false; },
                        kInvalid, "optionalNoiseShape"},
                       wrong_p[0]},
                      false),
         {empty_input, Equal("p", 0)},
         "input",
         {},
         dropped});
    std::vector<Wrong> do_mask = MaskedFaults(
        "self", "mask", "out", {{"prob", Equal("prob", -1), kInvalid, "prob has the value -1"}}, true);
    all.push_back({FUNCTION(DropoutDoMask),
                   {plain, mask, prob, out},
                   do_mask,
                   {OfShape("mask", {0}), OfShape("mask", {32}),
                    Together({OfShape("self", {0}), OfDtype("self", ACL_INT8)})},
                   "self",
                   {},
                   dropped});
    all.push_back({FUNCTION(DropoutBackward),
                   {TensorOf("gradOutput"), mask, NumberOfName("scale", 2), out},
                   MaskedFaults("gradOutput", "mask", "out",
                                {{"scale", Equal("scale", 0.5), kInvalid, "scale has the value 0.5"}}, false),
                   {Equal("scale", 0), Equal("scale", 1)},
                   "gradOutput",
                   {},
                   dropped});
    all.push_back({FUNCTION(DropoutV3Grad),
                   {TensorOf("gradY"), mask, NumberOfName("scale", 2), TensorOf("gradX")},
                   MaskedFaults("gradY", "mask", "gradX", {}, false),
                   {Equal("scale", -3)},
                   "gradY",
                   {},
                   ListedWith({}, {Product::k950}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}),
                   {Product::k950}});

    const Given dims = DimsOf("shape", {50, 3});
    const Given bits = TensorOf("out", ACL_UINT8, {32});
    const Given prob_dtype = NumberOfName("probDataType", ACL_FLOAT);
    const DtypeLists bytes = ListedWith({ACL_UINT8}, {}, {});
    const auto of_dims = [](const Shape& shape, int64_t size) {
      return Together({[=](RandomCall& call) { call["shape"].dims = shape; }, OfShape("out", {size})});
    };
    const std::vector<Change> masks = {of_dims({}, 16),    of_dims({0, 5}, 0),      of_dims({128}, 16),
                                       of_dims({129}, 32), OfShape("out", {2, 16}), Equal("prob", 1)};
    all.push_back({FUNCTION(DropoutGenMask),
                   {dims, prob, kSeedOf, kOffsetOf, bits},
                   GenMaskFaults(false, false),
                   masks,
                   "out",
                   {},
                   bytes});
    all.push_back({FUNCTION(DropoutGenMaskV2),
                   {dims, prob, kSeedOf, kOffsetOf, prob_dtype, bits},
                   GenMaskFaults(false, true),
                   Plus(masks, {Together({Equal("prob", 1), Equal("probDataType", ACL_INT8)}),
                                Equal("probDataType", ACL_BF16)}),
                   "out",
                   {},
                   bytes});
    all.push_back({FUNCTION(DropoutGenMaskV2Tensor),
                   {dims, prob, kSeedTensor, kOffsetTensor, kOffsetOf, prob_dtype, bits},
                   GenMaskFaults(true, true),
                   masks,
                   "out",
                   {},
                   bytes});

    all.push_back({FUNCTION(SimThreadExponential),
                   {self, NumberOfName("count", 6), NumberOfName("lambda", 2), kSeedOf, kOffsetOf},
                   {{"selfRef null", NoTensor("selfRef"), kNullptr, "selfRef is a null"},
                    {"dtype", OfDtype("selfRef", ACL_DOUBLE), kInvalid, "DT_DOUBLE"},
                    {"count", Equal("count", 7), 561002, "count has the value 7"},
                    {"lambda", Equal("lambda", 0), 561002, "lambda has the value 0"},
                    {"rank", OfShape("selfRef", kRankNine), kInvalid, "9"},
                    {"view", Outside("selfRef"), kInnerNullptr, "selfRef"}},
                   {Together({OfShape("selfRef", {0}), Equal("count", 0)})},
                   "selfRef",
                   {},
                   ListedWith({}, kSinceAtlasA2AndA3, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}),
                   kSinceAtlasA2AndA3});
    all.push_back({FUNCTION(Randperm),
                   {NumberOfName("n", 5), kSeedOf, kOffsetOf, TensorOf("out", ACL_INT64, {5})},
                   {{"out null", NoTensor("out"), kInnerNullptr, "out is a null"},
                    {"dtype", OfDtype("out", ACL_BOOL), kInvalid, "DT_BOOL"},
                    {"shape", OfShape("out", {6}), kInvalid, "[6]"},
                    {"rank", OfShape("out", {1, 5}), kInvalid, "[1, 5]"},
                    {"n", Together({Equal("n", -1), OfShape("out", {-1})}), kInvalid, "-1"}},
                   {Together({Equal("n", 0), OfShape("out", {0})})},
                   "out",
                   {},
                   WithBf16(kFills)});
    const Given weights = TensorOf("self");
    const Given indices = TensorOf("out", ACL_INT64, {2, 2});
    const Given samples = NumberOfName("numsamples", 2);
    const DtypeLists weighed = WithBf16({ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE});
    const Given no_replacement = NumberOfName("replacement", 0);
    all.push_back({FUNCTION(Multinomial),
                   {weights, samples, no_replacement, kSeedOf, kOffsetOf, indices},
                   MultinomialFaults(false),
                   {Together({Equal("numsamples", 7), Equal("replacement", 1), OfShape("out", {2, 7})}),
                    Together({OfShape("self", {3}), OfShape("out", {2})}),
                    Together({OfShape("self", {0, 3}), OfShape("out", {0, 2})})},
                   "self",
                   {},
                   weighed});
    all.push_back({FUNCTION(MultinomialTensor),
                   {weights, samples, no_replacement, kSeedTensor, kOffsetTensor, kOffsetOf, indices},
                   MultinomialFaults(true),
                   {},
                   "self",
                   {},
                   weighed});
    return all;
  }();
  return contracts;
}

class RandomContractOf : public ::testing::TestWithParam<const RandomContract*> {
 protected:
  // Calls phase 1 alone; what lies in the tensors is not touched.
  void Check(RandomCall call, aclnnStatus code, const std::vector<std::string>& says,
             const std::string& what) {
    const RandomContract& contract = *GetParam();
    std::vector<Argument> arguments;
    std::vector<aclTensor*> tensors;
    std::vector<aclScalar*> scalars;
    std::vector<aclIntArray*> arrays;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      Given& given = call.arguments[i];
      Argument argument;
      switch (contract.function.parameters[i]) {
        case ParameterKind::kTensor:
          if (!given.tensor.null) {
            tensors.push_back(Make(given.tensor));
            argument.tensor = tensors.back();
          }
          break;
        case ParameterKind::kScalar:
          if (!given.tensor.null) {
            scalars.push_back(aclCreateScalar(&given.number, AsAclDataType(given.scalar_dtype)));
            argument.scalar = scalars.back();
          }
          break;
        case ParameterKind::kArray:
          if (!given.tensor.null) {
            arrays.push_back(aclCreateIntArray(given.dims.data(), given.dims.size()));
            argument.array = arrays.back();
          }
          break;
        case ParameterKind::kList:
        case ParameterKind::kScalarList:
        case ParameterKind::kText:
          ADD_FAILURE() << "no operator of random numbers has lists or texts";
          break;
        case ParameterKind::kInteger:
          argument.integer = static_cast<int64_t>(given.number);
          break;
        case ParameterKind::kReal:
          argument.real = given.number;
          break;
      }
      arguments.push_back(argument);
    }
    constexpr uint64_t kUntouched = 0xDEADBEEFCAFEF00D;
    uint64_t size = kUntouched;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status = contract.function.plan(arguments, &size, &executor);
    const std::string message = TakeErrorMessage();
    EXPECT_EQ(status, code) << ProductName(call.product) << ", " << what << ": " << message;
    EXPECT_EQ(size == kUntouched, status != 0) << what;
    EXPECT_EQ(executor == nullptr, status != 0) << what;
    if (status != 0 && status == code) {
      EXPECT_NE(message.find(contract.function.name), std::string::npos) << what << ": " << message;
      for (const std::string& part : says)
        EXPECT_NE(message.find(part), std::string::npos) << what << ": " << message << " lacks " << part;
    }
    if (executor != nullptr) aclDestroyAclOpExecutor(executor);
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    for (aclScalar* scalar : scalars) aclDestroyScalar(scalar);
    for (aclIntArray* array : arrays) aclDestroyIntArray(array);
  }

  static aclTensor* Make(const TensorSpec& spec) {
    std::vector<int64_t> strides = DenseStrides(spec.shape);
    if (spec.every_stride) strides.assign(spec.shape.size(), *spec.every_stride);
    const Shape& storage = spec.storage_dims ? *spec.storage_dims : spec.shape;
    return aclCreateTensor(spec.shape.data(), spec.shape.size(), AsAclDataType(spec.dtype), strides.data(), 0,
                           static_cast<aclFormat>(spec.format), storage.data(), storage.size(),
                           ForbiddenAddress());
  }

  void OnEveryProduct(bool rest_alone, const std::function<void(RandomCall)>& body) {
    const std::vector<Product>& rest = GetParam()->products;
    for (const Product product : kAllProducts) {
      if (rest_alone && std::find(rest.begin(), rest.end(), product) == rest.end()) continue;
      const bool has_device = product != Product::kNoDevice;
      const ScopedEnvironment environment(
          Variables{{"PORTACL_SOC", SocNameOf(has_device ? product : Product::kA2)}},
          has_device ? ScopedEnvironment::Start::kWithDevice : ScopedEnvironment::Start::kWithoutDevice);
      ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
      body({GetParam()->valid, product});
    }
  }
};

TEST_P(RandomContractOf, FaultsOneByOneAndInPairs) {
  const std::vector<Wrong>& faults = GetParam()->faults;
  OnEveryProduct(true, [&](const RandomCall& valid) {
    Check(valid, kOk, {}, "the valid call");
    for (size_t i = 0; i < faults.size(); ++i) {
      for (size_t j = i; j < faults.size(); ++j) {
        RandomCall call = valid;
        faults[j].change(call);
        faults[i].change(call);
        const aclnnStatus first = faults[i].CodeOn(valid.product);
        const Wrong& reported = first == kOk ? faults[j] : faults[i];
        Check(call, reported.CodeOn(valid.product),
              i == j ? std::vector<std::string>{reported.says} : std::vector<std::string>{},
              faults[i].name + ", " + faults[j].name);
      }
    }
    uint64_t size = 1;
    aclOpExecutor* executor = nullptr;
    const std::vector<Argument> nothing(valid.arguments.size());
    EXPECT_EQ(GetParam()->function.plan(nothing, nullptr, &executor), kNullptr);
    EXPECT_EQ(GetParam()->function.plan(nothing, &size, nullptr), kNullptr);
    TakeErrorMessage();
  });
}

TEST_P(RandomContractOf, Accepted) {
  OnEveryProduct(true, [&](const RandomCall& valid) {
    for (size_t i = 0; i < GetParam()->accepted.size(); ++i) {
      RandomCall call = valid;
      GetParam()->accepted[i](call);
      Check(call, kOk, {}, "accepted " + std::to_string(i));
    }
  });
}

TEST_P(RandomContractOf, Dtypes) {
  const RandomContract& contract = *GetParam();
  OnEveryProduct(false, [&](const RandomCall& valid) {
    const std::vector<DtypeNumber>& listed = contract.dtypes.at(valid.product);
    for (const DtypeNumber dtype : AllDtypes()) {
      RandomCall call = valid;
      call[contract.listed].tensor.dtype = dtype;
      for (const std::string& name : contract.tied) call[name].tensor.dtype = dtype;
      const bool is_listed = std::find(listed.begin(), listed.end(), dtype) != listed.end();
      Check(call, is_listed ? kOk : kInvalid, {}, DtypeName(dtype));
    }
    for (const DtypeNumber dtype : UnknownDtypes()) {
      RandomCall call = valid;
      call[contract.listed].tensor.dtype = dtype;
      Check(call, kInvalid, {}, "dtype " + std::to_string(dtype));
    }
  });
}

std::vector<const RandomContract*> AllContracts() {
  std::vector<const RandomContract*> pointers;
  for (const RandomContract& contract : Contracts()) pointers.push_back(&contract);
  return pointers;
}

INSTANTIATE_TEST_SUITE_P(Of, RandomContractOf, ::testing::ValuesIn(AllContracts()),
                         [](const auto& contract) { return std::string(contract.param->function.name); });

}  // namespace
}  // namespace portacl::testing
