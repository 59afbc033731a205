// Each kind of check in the lists of phase 1: the calls that it accepts, its code, its message and the values
// that it derives.
// SPDX-License-Identifier: Apache-2.0
#include "contract/checks.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "aclnnop/aclnn_lerp_scalar.h"
#include "aclnnop/phase1.h"
#include "base/errors.h"

namespace portacl {
namespace {

aclTensor TensorOf(aclDataType dtype, const Shape& shape = {2, 3}, aclFormat format = ACL_FORMAT_ND) {
  aclTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.storage = shape;
  tensor.strides = RowMajorStrides(shape);
  tensor.format = format;
  tensor.Describe();
  return tensor;
}

// Returns the same elements with twice the outermost stride.
aclTensor Strided(aclTensor tensor) {
  tensor.strides.dim[0] *= 2;
  tensor.storage.dim[0] *= 2;
  tensor.Describe();
  return tensor;
}

aclScalar ScalarOf(aclDataType dtype) {
  aclScalar scalar;
  scalar.dtype = dtype;
  return scalar;
}

enum Tensors { kSelf, kOther, kOut };
enum Attributes { kValue, kAlpha, kMode };

// A call of three tensors and three attributes, on a given product.
class Call {
 public:
  Call() = default;
  Call(aclDataType first, aclDataType second, aclDataType result)
      : self(TensorOf(first)), other(TensorOf(second)), out(TensorOf(result)) {}

  Call& On(Product which) {
    product = which;
    return *this;
  }
  Call& With(aclDataType value_dtype, aclDataType alpha_dtype = ACL_INT64) {
    value = ScalarOf(value_dtype);
    alpha = ScalarOf(alpha_dtype);
    return *this;
  }

  // Returns the check's code, and keeps its message and the values that it derived.
  aclnnStatus Run(const Check& check) {
    const TensorArgument tensors[] = {
        {"self", has_self ? &self : nullptr}, {"other", has_other ? &other : nullptr}, {"out", &out}};
    const Attribute attributes[] = {
        {"value", has_value ? &value : nullptr}, {"alpha", has_alpha ? &alpha : nullptr}, {"mode", mode}};
    OperatorCall call{"aclnnTried", tensors, attributes};
    call.product = product;
    call.promoted = promoted;
    call.broadcast = broadcast;
    TakeRecentMessages();
    const aclnnStatus status = RunChecks({&check, 1}, call);
    const char* text = TakeRecentMessages();
    message = text == nullptr ? "" : text;
    promoted = call.promoted;
    broadcast = call.broadcast;
    is_done = call.work == OperatorCall::Work::kNothing;
    return status;
  }

  aclTensor self = TensorOf(ACL_FLOAT);
  aclTensor other = TensorOf(ACL_FLOAT);
  aclTensor out = TensorOf(ACL_FLOAT);
  aclScalar value = ScalarOf(ACL_DOUBLE);
  aclScalar alpha = ScalarOf(ACL_INT64);
  int64_t mode = 0;
  bool has_self = true, has_other = true, has_value = true, has_alpha = true;
  Product product = Product::kAtlasA2;
  aclDataType promoted = ACL_DT_UNDEFINED;
  Shape broadcast;
  std::string message;
  bool is_done = false;
};

Call Promoted(aclDataType dtype) {
  Call call;
  call.promoted = dtype;
  return call;
}

void ExpectAccepted(Call call, const Check& check) {
  EXPECT_EQ(call.Run(check), ACL_SUCCESS) << call.message;
  EXPECT_EQ(call.message, "");
}

void ExpectRefused(Call call, const Check& check, aclnnStatus code, const std::vector<std::string>& says) {
  EXPECT_EQ(call.Run(check), code);
  for (const std::string& fragment : says) {
    EXPECT_NE(call.message.find(fragment), std::string::npos) << fragment << " is not in: " << call.message;
  }
  EXPECT_NE(call.message.find("aclnnTried: "), std::string::npos) << call.message;
}

constexpr aclnnStatus kNull = 161001;
constexpr aclnnStatus kInvalid = 161002;
constexpr aclnnStatus kInner = 561103;

TEST(Checks, NullsWithTheirCodes) {
  Call call;
  call.has_other = false;
  call.has_value = false;
  ExpectAccepted(call, NotNull(kSelf));
  ExpectRefused(call, NotNull(kOther), kNull, {"other", "null pointer", "tensor"});
  ExpectRefused(call, WithCode(561103, NotNull(kOther)), 561103, {"other"});
  ExpectAccepted(call, ScalarNotNull(kAlpha));
  ExpectRefused(call, ScalarNotNull(kValue), kNull, {"value", "null pointer", "scalar"});
  ExpectRefused(call, WithCode(561000, ScalarNotNull(kValue)), 561000, {"value"});
}

// Tests of clients search for these words in the error of a refused cast.
TEST(Checks, WhatIsNotCastSaysSoAsPyTorchDoes) {
  constexpr const char* kFloatToInteger =
      "result type DT_FLOAT can't be cast to the desired output type DT_INT32";
  const auto promoted = [](aclDataType dtype, aclDataType out) {
    Call call(ACL_FLOAT, ACL_FLOAT, out);
    call.promoted = dtype;
    return call;
  };
  ExpectRefused(promoted(ACL_FLOAT, ACL_INT32), PromotedCastsTo(kOut), kInvalid,
                {"parameter out with dtype DT_INT32 cannot hold the result dtype DT_FLOAT", kFloatToInteger});
  ExpectRefused(
      Call(ACL_FLOAT, ACL_FLOAT, ACL_INT32), CastsTo(kSelf, kOut), kInvalid,
      {"parameter out with dtype DT_INT32 cannot hold what self with dtype DT_FLOAT gives", kFloatToInteger});
  ExpectRefused(Call(ACL_FLOAT, ACL_FLOAT, ACL_INT32), FixedCastsTo(ACL_FLOAT, kOut), kInvalid,
                {"cannot hold the result dtype DT_FLOAT", kFloatToInteger});
  ExpectRefused(Promoted(ACL_INT32), CastsToPromoted({kSelf}), kInvalid,
                {"self with dtype DT_FLOAT cannot be cast to the common dtype DT_INT32", kFloatToInteger});
  ExpectRefused(Promoted(ACL_INT32).With(ACL_FLOAT), ScalarsCastToPromoted({kValue}), kInvalid,
                {"value with dtype DT_FLOAT cannot be cast to the common dtype DT_INT32", kFloatToInteger});
  ExpectRefused(promoted(ACL_COMPLEX64, ACL_DOUBLE), PromotedCastsTo(kOut), kInvalid,
                {"result type DT_COMPLEX64 can't be cast to the desired output type DT_DOUBLE; accepted: "});
}

TEST(Checks, OneOfSeveralHasToBeGiven) {
  Call call;
  ExpectAccepted(call, AnyGiven({kSelf, kOther}));
  ExpectAccepted(call, AnyScalarGiven({kValue, kAlpha}));
  call.has_other = false;
  call.has_alpha = false;
  ExpectAccepted(call, AnyGiven({kSelf, kOther}));
  ExpectAccepted(call, AnyScalarGiven({kValue, kAlpha}));
  call.has_self = false;
  call.has_value = false;
  ExpectRefused(call, AnyGiven({kSelf, kOther}), kNull, {"self and other", "null pointers", "one tensor"});
  ExpectRefused(call, AnyScalarGiven({kValue, kAlpha}), kNull, {"value and alpha", "one scalar"});
}

// Lists skip optional tensors that are null.
TEST(Checks, AbsentTensorsArePassedOver) {
  static constexpr DtypeRule kFloats = Everywhere(kFloatAndHalf);
  Call call(ACL_FLOAT, ACL_INT64, ACL_FLOAT);
  call.has_other = false;
  call.other.shape = {7, 7, 7};
  for (const Check& check :
       {DtypesIn(kFloats, {kSelf, kOther}), RankAtMost(2, {kSelf, kOther}), RankAtLeast(1, {kSelf, kOther}),
        DtypeImplemented({kSelf, kOther}, kFloatAndHalf), InsideStorage({kSelf, kOther}),
        SizesRepresentable({kOut}), NotPrivate({kOther}), SameFormat({kSelf, kOther}),
        DoneIfEmpty({kSelf, kOther}), RankAtMostUnlessContiguous(2, {kSelf, kOther}), NotAllBool({kOther})}) {
    ExpectAccepted(call, check);
  }
  EXPECT_EQ(call.Run(Promotes({kSelf, kOther})), ACL_SUCCESS);
  EXPECT_EQ(call.promoted, ACL_FLOAT);
  EXPECT_EQ(call.Run(Broadcasts({kSelf, kOther})), ACL_SUCCESS);
  EXPECT_EQ(call.broadcast, (Shape{2, 3}));
}

TEST(Checks, ConditionsOfAnyCheck) {
  const Check refusal = DtypesIn(kDouble, {kSelf});
  Call call;
  ExpectRefused(call, refusal, kInvalid, {"self with dtype DT_FLOAT", "[DT_DOUBLE,]"});
  ExpectRefused(call.On(Product::kAtlasA3), OnProducts(products::kSinceAtlasA2, refusal), kInvalid, {});
  ExpectAccepted(call.On(Product::kAtlasInference), OnProducts(products::kSinceAtlasA2, refusal));
  ExpectAccepted(call.On(Product::kNoDevice), OnProducts(products::kSinceAtlasA2, refusal));
  ExpectRefused(call.On(Product::kNoDevice), OnProducts(products::kBeforeAscend950, refusal), kInvalid, {});
  ExpectAccepted(call.On(Product::kAscend950), OnProducts(products::kBeforeAscend950, refusal));

  call.mode = 2;
  ExpectRefused(call, IfEqual(kMode, 2, refusal), kInvalid, {});
  ExpectAccepted(call, IfEqual(kMode, 1, refusal));

  const Check on_bool =
      If([](const OperatorCall& asked) noexcept { return asked.promoted == ACL_BOOL; }, refusal);
  ExpectAccepted(call, on_bool);
  call.promoted = ACL_BOOL;
  ExpectRefused(call, on_bool, kInvalid, {});
  // All conditions have to hold.
  call.On(Product::kAtlasA2);
  ExpectAccepted(call, OnProducts(products::kAscend950, on_bool));
  ExpectAccepted(call, IfEqual(kMode, 0, on_bool));
  ExpectRefused(call, OnProducts(products::kAtlasA2AndA3, IfEqual(kMode, 2, on_bool)), kInvalid, {});
}

TEST(Checks, CodesMayBeReplaced) {
  Call call(ACL_UINT16, ACL_INT8, ACL_FLOAT);
  ExpectRefused(call, WithCode(561103, Promotes({kSelf, kOther})), 561103, {"DT_UINT16", "DT_INT8"});
  ExpectRefused(call, WithCode(561103, SameDtype(kSelf, kOther)), 561103, {"DT_UINT16", "DT_INT8"});
  ExpectRefused(call, WithCode(561002, RankAtMost(1, {kSelf})), 561002, {"rank 2"});
  ExpectRefused(call, Promotes({kSelf, kOther}), kInvalid, {});
}

TEST(Checks, ScalarDtypes) {
  static constexpr DtypeRule kRule = WithBf16SinceAtlasA2(kFloatAndHalf);
  ExpectAccepted(Call().With(ACL_FLOAT, ACL_BF16), ScalarDtypesIn(kRule, {kValue, kAlpha}));
  ExpectRefused(Call().With(ACL_FLOAT, ACL_BF16).On(Product::kAtlasTraining),
                ScalarDtypesIn(kRule, {kValue, kAlpha}), kInvalid,
                {"alpha with dtype DT_BF16", "[DT_FLOAT,DT_FLOAT16,]"});
  ExpectRefused(Call().With(ACL_DOUBLE), ScalarDtypesIn(kRule, {kValue}), kInvalid,
                {"value with dtype DT_DOUBLE", "accepted: [DT_FLOAT,DT_FLOAT16,DT_BF16,]"});
  ExpectRefused(Call().With(ACL_COMPLEX64), ScalarDtypesIn(kRealArithmetic, {kValue}), kInvalid,
                {"value with dtype DT_COMPLEX64"});
  ExpectRefused(Call().With(ACL_HIFLOAT8), ScalarsImplemented(kConvertible, {kValue}), kInner,
                {"value with dtype", "accepted: ["});
  Call absent = Call().With(ACL_COMPLEX64);
  absent.has_value = false;
  ExpectAccepted(absent, ScalarDtypesIn(kRealArithmetic, {kValue}));
}

TEST(Checks, PromotionWithScalars) {
  const Check adds = PromotesScalarBy(ScalarRule::kAdds, kSelf, {kValue, kAlpha}, kOut);
  Call call(ACL_INT32, ACL_FLOAT, ACL_INT32);
  EXPECT_EQ(call.Run(adds), ACL_SUCCESS);
  EXPECT_EQ(call.promoted, ACL_DOUBLE);
  call.out = TensorOf(ACL_FLOAT);
  EXPECT_EQ(call.Run(adds), ACL_SUCCESS);
  EXPECT_EQ(call.promoted, ACL_FLOAT);
  call = Call(ACL_FLOAT16, ACL_FLOAT, ACL_FLOAT16).On(Product::kAscend950).With(ACL_DOUBLE, ACL_DOUBLE);
  EXPECT_EQ(call.Run(adds), ACL_SUCCESS);
  EXPECT_EQ(call.promoted, ACL_FLOAT16);
  const double tenth = 0.1;
  std::memcpy(call.alpha.value, &tenth, sizeof tenth);  // alpha takes part
  EXPECT_EQ(call.Run(adds), ACL_SUCCESS);
  EXPECT_EQ(call.promoted, ACL_FLOAT);
  ExpectRefused(Call(ACL_UINT16, ACL_FLOAT, ACL_UINT16), adds, kInvalid,
                {"self with dtype DT_UINT16", "value with dtype DT_DOUBLE", "common dtype"});

  // One of two bounds may be null. The other then decides alone.
  const Check clamp = PromotesScalarBy(ScalarRule::kClamp, kSelf, {kValue, kAlpha}, kOut);
  Call bounds = Call(ACL_INT32, ACL_FLOAT, ACL_INT32).On(Product::kAscend950).With(ACL_DOUBLE, ACL_INT64);
  EXPECT_EQ(bounds.Run(clamp), ACL_SUCCESS);
  EXPECT_EQ(bounds.promoted, ACL_FLOAT);
  bounds.has_value = false;
  EXPECT_EQ(bounds.Run(clamp), ACL_SUCCESS);
  EXPECT_EQ(bounds.promoted, ACL_INT32);
}

TEST(Checks, PromotionByRank) {
  Call call(ACL_INT32, ACL_INT64, ACL_INT64);
  call.other.shape = {};
  EXPECT_EQ(call.Run(PromotesByRank(kSelf, kOther)), ACL_SUCCESS);
  EXPECT_EQ(call.promoted, ACL_INT64);
  EXPECT_EQ(call.On(Product::kAscend950).Run(PromotesByRank(kSelf, kOther)), ACL_SUCCESS);
  EXPECT_EQ(call.promoted, ACL_INT32);
  ExpectRefused(Call(ACL_INT32, ACL_UINT32, ACL_INT64), PromotesByRank(kSelf, kOther), kInvalid,
                {"other with dtype DT_UINT32", "self with dtype DT_INT32"});
}

TEST(Checks, PromotedDtypeIsSetWithoutTests) {
  const auto promoted = [](Call call, const Check& check) {
    EXPECT_EQ(call.Run(check), ACL_SUCCESS);
    return call.promoted;
  };
  EXPECT_EQ(promoted({}, PromotesTo(ACL_BOOL)), ACL_BOOL);
  EXPECT_EQ(promoted(Call(ACL_INT8, ACL_FLOAT16, ACL_DOUBLE), PromotesToDtypeOf(kOut)), ACL_DOUBLE);
  for (const aclDataType dtype : {ACL_INT8, ACL_UINT64, ACL_BOOL})
    EXPECT_EQ(promoted(Call(dtype, ACL_FLOAT, ACL_FLOAT), PromotesToFloat(kSelf)), ACL_FLOAT);
  for (const aclDataType dtype : {ACL_BF16, ACL_DOUBLE, ACL_COMPLEX64, ACL_FLOAT})
    EXPECT_EQ(promoted(Call(dtype, ACL_FLOAT, ACL_FLOAT), PromotesToFloat(kSelf)), dtype);
  EXPECT_EQ(promoted(Promoted(ACL_INT32), ReplacesPromoted(kIntegersAndBool, ACL_FLOAT)), ACL_FLOAT);
  EXPECT_EQ(promoted(Promoted(ACL_DOUBLE), ReplacesPromoted(kIntegersAndBool, ACL_FLOAT)), ACL_DOUBLE);
}

TEST(Checks, PromotedDtypeIsTested) {
  static constexpr DtypeRule kFloats = Everywhere(kFloatAndHalf);
  ExpectAccepted(Promoted(ACL_FLOAT), PromotedIn(kFloats, {kSelf}, {kValue}));
  ExpectRefused(
      Promoted(ACL_INT64), PromotedIn(kFloats, {kSelf}, {kValue}), kInvalid,
      {"self with dtype DT_FLOAT, value with dtype DT_DOUBLE promote to DT_INT64", "[DT_FLOAT,DT_FLOAT16,]"});
  ExpectRefused(Promoted(ACL_INT64), PromotedIn(kFloats, {kSelf, kOther}), kInvalid,
                {"self with dtype DT_FLOAT, other with dtype DT_FLOAT promote to DT_INT64"});
  ExpectAccepted(Promoted(ACL_INT32), PromotedNotIn(kComplex, {kSelf, kOther}));
  ExpectRefused(
      Promoted(ACL_COMPLEX64), PromotedNotIn(kComplex, {kSelf, kOther}), kInvalid,
      {"other with dtype DT_FLOAT promote to DT_COMPLEX64", "all but [DT_COMPLEX64,DT_COMPLEX128,]"});
  ExpectAccepted(Promoted(ACL_FLOAT), PromotedIs(kOut));
  ExpectRefused(Promoted(ACL_FLOAT16), PromotedIs(kOut), kInvalid,
                {"out with dtype DT_FLOAT ", "accepted: DT_FLOAT16"});
  ExpectAccepted(Promoted(ACL_FLOAT16), CastsToPromoted({kSelf, kOther}));
  ExpectRefused(Promoted(ACL_INT32), CastsToPromoted({kOther}), kInvalid,
                {"other with dtype DT_FLOAT", "common dtype DT_INT32"});
  ExpectAccepted(Promoted(ACL_INT32).With(ACL_INT64), ScalarsCastToPromoted({kValue}));
  ExpectRefused(Promoted(ACL_INT32).With(ACL_DOUBLE), ScalarsCastToPromoted({kValue}), kInvalid,
                {"value with dtype DT_DOUBLE", "common dtype DT_INT32"});
  ExpectAccepted(Promoted(ACL_FLOAT), PromotedImplemented(kConvertible, {kSelf}));
  ExpectRefused(Promoted(ACL_COMPLEX32), PromotedImplemented(kConvertible, {kSelf}, {kValue}), kInner,
                {"self with dtype DT_FLOAT, value with dtype DT_DOUBLE promote to DT_COMPLEX32"});
}

TEST(Checks, Alpha) {
  const auto call = [](aclDataType promoted, aclDataType alpha) {
    return Promoted(promoted).With(ACL_FLOAT, alpha);
  };
  for (const aclDataType alpha : {ACL_BOOL, ACL_INT64, ACL_UINT8})
    ExpectAccepted(call(ACL_BOOL, alpha), AlphaFits(kAlpha));
  for (const aclDataType alpha : {ACL_DOUBLE, ACL_FLOAT16, ACL_COMPLEX64})
    ExpectRefused(call(ACL_BOOL, alpha), AlphaFits(kAlpha), kInvalid,
                  {"alpha with dtype", "DT_BOOL", "integer or bool"});
  ExpectAccepted(call(ACL_FLOAT, ACL_DOUBLE), AlphaFits(kAlpha));
  ExpectAccepted(call(ACL_INT8, ACL_INT64), AlphaFits(kAlpha));
  ExpectAccepted(call(ACL_COMPLEX64, ACL_COMPLEX128), AlphaFits(kAlpha));
  ExpectRefused(call(ACL_INT32, ACL_DOUBLE), AlphaFits(kAlpha), kInvalid,
                {"alpha with dtype DT_DOUBLE", "DT_INT32"});
  ExpectRefused(call(ACL_FLOAT, ACL_COMPLEX64), AlphaFits(kAlpha), kInvalid,
                {"alpha with dtype DT_COMPLEX64"});
}

TEST(Checks, FixedDtypes) {
  ExpectAccepted(Call(ACL_FLOAT, ACL_FLOAT, ACL_DOUBLE), FixedCastsTo(ACL_FLOAT, kOut));
  ExpectRefused(Call(ACL_FLOAT, ACL_FLOAT, ACL_INT32), FixedCastsTo(ACL_FLOAT, kOut), kInvalid,
                {"out with dtype DT_INT32", "result dtype DT_FLOAT"});
  ExpectRefused(Call(ACL_FLOAT, ACL_FLOAT, ACL_INT32), DtypesIn(kBool, {kOut}), kInvalid,
                {"out with dtype DT_INT32", "accepted: [DT_BOOL,]."});
  const Check not_bool = NotAllBool({kSelf, kOther});
  ExpectAccepted(Call(ACL_BOOL, ACL_INT8, ACL_BOOL), not_bool);
  ExpectAccepted(Call(ACL_INT8, ACL_BOOL, ACL_BOOL), not_bool);
  ExpectRefused(Call(ACL_BOOL, ACL_BOOL, ACL_FLOAT), not_bool, kInvalid,
                {"self with dtype DT_BOOL", "all bool"});
  ExpectAccepted(Call(ACL_BOOL, ACL_BOOL, ACL_BOOL).With(ACL_INT64), NotAllBool({kSelf}, {kValue}));
  ExpectRefused(Call(ACL_BOOL, ACL_FLOAT, ACL_BOOL).With(ACL_BOOL), NotAllBool({kSelf}, {kValue}), kInvalid,
                {"value with dtype DT_BOOL"});
}

TEST(Checks, Ranks) {
  Call call;
  call.other = TensorOf(ACL_FLOAT, {5});
  ExpectAccepted(call, RankAtLeast(1, {kSelf, kOther}));
  ExpectRefused(call, RankAtLeast(2, {kSelf, kOther}), kInvalid,
                {"other with shape [5]", "rank 1", "at least 2 dims"});
  ExpectAccepted(call, RankIs(2, {kSelf, kOut}));
  ExpectRefused(call, RankIs(0, {kOther}), kInvalid, {"other with shape [5]", "rank 1", "accepted: 0 dims"});

  const Check limit = RankAtMostUnlessContiguous(2, {kSelf, kOther, kOut});
  call.other = TensorOf(ACL_FLOAT, {2, 2, 2});
  ExpectAccepted(call, limit);
  call.out = Strided(call.out);
  ASSERT_FALSE(IsContiguous(call.out));
  ExpectRefused(call, limit, kInvalid,
                {"other with shape [2, 2, 2]", "rank 3", "out is not contiguous", "at most 2"});
  call.other = TensorOf(ACL_FLOAT, {2, 2});
  ExpectAccepted(call, limit);
}

TEST(Checks, BroadcastOrValue) {
  Call call;
  call.broadcast = Shape{1};
  call.out.shape = {};
  ExpectAccepted(call, ShapeIsBroadcastOrValue(kOut));
  call.broadcast = Shape{};
  call.out.shape = {1};
  ExpectAccepted(call, ShapeIsBroadcastOrValue(kOut));
  call.out.shape = {1, 1};
  ExpectRefused(call, ShapeIsBroadcastOrValue(kOut), kInvalid, {"out with shape [1, 1]", "[] or [1]"});
  call.broadcast = Shape{2, 3};
  ExpectRefused(call, ShapeIsBroadcastOrValue(kOut), kInvalid,
                {"out with shape [1, 1]", "accepted: [2, 3]."});
  call.out.shape = {1};
  ExpectRefused(call, ShapeIsBroadcastOrValue(kOut), kInvalid, {"out with shape [1]", "accepted: [2, 3]."});
  call.out.shape = {2, 3};
  ExpectAccepted(call, ShapeIsBroadcastOrValue(kOut));
}

// Dims that alternate between two broadcast inputs need ten nested loops. Without one of the inputs two loops
// are enough.
TEST(Checks, DimsThatNoLoopTakes) {
  const Shape turns = {2, 1, 2, 1, 2, 1, 2, 1, 2, 1};
  const Shape others = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2};
  const Shape whole = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
  Call call;
  call.self = TensorOf(ACL_FLOAT, turns);
  call.other = TensorOf(ACL_FLOAT, others);
  call.out = TensorOf(ACL_FLOAT, whole);
  ExpectRefused(call, kLoopRankFits, kInner, {"10 dims", "at most 8"});
  call.self = TensorOf(ACL_FLOAT, whole);
  call.other = TensorOf(ACL_FLOAT, {1, 1, 1, 1, 1, 2, 2, 2, 2, 2});
  ExpectAccepted(call, kLoopRankFits);

  // An operator that does not check the ranks of contiguous tensors.
  aclTensor start = TensorOf(ACL_FLOAT, turns);
  aclTensor end = TensorOf(ACL_FLOAT, others);
  aclTensor out = TensorOf(ACL_FLOAT, whole);
  aclScalar weight = ScalarOf(ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  TakeRecentMessages();
  EXPECT_EQ(aclnnLerpsGetWorkspaceSize(&start, &end, &weight, &out, &size, &executor), kInner);
  const char* message = TakeRecentMessages();
  ASSERT_NE(message, nullptr);
  EXPECT_NE(std::string(message).find("10 dims"), std::string::npos) << message;
}

TEST(Checks, Formats) {
  Call call;
  call.other.format = ACL_FORMAT_NCHW;
  ExpectAccepted(call, NotPrivate({kSelf, kOther, kOut}));
  ExpectAccepted(call, SameFormat({kSelf, kOut}));
  ExpectRefused(call, SameFormat({kSelf, kOut, kOther}), kInvalid,
                {"other with format NCHW", "self with format ND"});
  call.other.format = ACL_FORMAT_FRACTAL_NZ;
  ExpectRefused(call, NotPrivate({kSelf, kOther}), kInvalid, {"other with format FRACTAL_NZ"});
}

TEST(Checks, FunctionsOfTheProcessor) {
  const auto never = []() noexcept { return "the moon is full"; };
  const auto always = []() noexcept { return ""; };
  ExpectAccepted(Promoted(ACL_DOUBLE), FunctionsThere(kDouble | kComplex, always));
  ExpectAccepted(Promoted(ACL_FLOAT), FunctionsThere(kDouble | kComplex, never));
  ExpectRefused(Promoted(ACL_DOUBLE), FunctionsThere(kDouble | kComplex, never), kInner,
                {"DT_DOUBLE", "since the moon is full"});
}

TEST(Checks, AttributesOfEveryKind) {
  const bool flag = true;
  const int mode = -2;
  EXPECT_EQ(Attribute("flag", flag).integer, 1);
  EXPECT_EQ(Attribute("flag", false).integer, 0);
  EXPECT_EQ(Attribute("mode", mode).integer, -2);
  EXPECT_EQ(Attribute("mode", int64_t{1} << 40).integer, int64_t{1} << 40);
  EXPECT_EQ(Attribute("beta", 0.5f).real, 0.5);
  EXPECT_EQ(Attribute("dtype", ACL_BF16).dtype(), ACL_BF16);
}

TEST(Checks, ListsAreJoined) {
  static constexpr auto kNulls = List(NotNull(kSelf), NotNull(kOther));
  static constexpr auto kAll =
      Join(kNulls, BroadcastsInto({kSelf, kOther}, kSelf), List(RankAtMost(8, {kSelf, kOther})));
  static_assert(kAll.size() == 5);
  EXPECT_EQ(kAll[1].run, check::NotNull);
  EXPECT_EQ(kAll[1].operands.index[0], kOther);
  EXPECT_EQ(kAll[2].run, check::Broadcasts);
  EXPECT_EQ(kAll[3].run, check::ShapeIsBroadcast);
  EXPECT_EQ(kAll[4].high, 8);
}

TEST(DtypeRules, ShortWays) {
  constexpr DtypeSet kSet = kFloatAndHalf | kDouble;
  constexpr DtypeRule kRule = WithBf16SinceAtlasA2(kSet);
  constexpr DtypeRule kPage = kRule.OnlyOn(products::kSinceAtlasA2 | ProductSet{Product::kAtlasTraining});
  for (int i = 0; i < kProductCount; ++i) {
    const auto product = static_cast<Product>(i);
    const bool a2 = product == Product::kAtlasA2 || product == Product::kAtlasA3;
    const bool since = a2 || product == Product::kAscend950;
    const DtypeSet listed = since ? kSet | kBf16 : kSet;
    EXPECT_EQ(kRule.For(product), listed);
    EXPECT_EQ(kPage.For(product), since || product == Product::kAtlasTraining ? listed : kNoDtype);
    EXPECT_EQ(Everywhere(kSet).For(product), kSet);
    EXPECT_EQ(SinceAtlasA2(kSet).For(product), since ? kSet : kNoDtype);
    EXPECT_EQ(ByGeneration(kDouble, kBool, kComplex).For(product), a2 ? kBool : since ? kComplex : kDouble);
    EXPECT_EQ(kRule.On({Product::kNoDevice}, kBool).For(product),
              product == Product::kNoDevice ? kBool : listed);
    EXPECT_EQ(products::kBeforeAtlasA2.Contains(product), !since);
    EXPECT_EQ(products::kBeforeAscend950.Contains(product), product != Product::kAscend950);
    EXPECT_TRUE(products::kAll.Contains(product));
  }
  static_assert(kArithmetic == (kFloatAndHalf | kDouble | kComplex | kIntegersAndBool));
  static_assert(kRealArithmetic == kArithmetic.Without(kComplex));
  static_assert((kIntegersAndBool & kBool) == kBool && (kBool & kComplex).IsEmpty());
  static_assert(!kIntegersAndBool.Without(kBool).Contains(ACL_BOOL));
}

}  // namespace
}  // namespace portacl
