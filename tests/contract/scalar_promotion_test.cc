// The dtype in which operators with a scalar compute, against tables of all dtypes, for the products before
// Ascend 950 and for it.
// SPDX-License-Identifier: Apache-2.0
#include "contract/scalar_promotion.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace portacl {
namespace {

const std::map<std::string, aclDataType> kDtypes = {
    {"f16", ACL_FLOAT16},   {"bf16", ACL_BF16},     {"f32", ACL_FLOAT},     {"f64", ACL_DOUBLE},
    {"s8", ACL_INT8},       {"u8", ACL_UINT8},      {"s16", ACL_INT16},     {"s32", ACL_INT32},
    {"s64", ACL_INT64},     {"bool", ACL_BOOL},     {"c64", ACL_COMPLEX64}, {"c128", ACL_COMPLEX128},
    {"u16", ACL_UINT16},    {"c32", ACL_COMPLEX32}, {"u32", ACL_UINT32},    {"u64", ACL_UINT64},
    {"-", ACL_DT_UNDEFINED}};

constexpr Product kBefore[] = {Product::kAtlasTraining,  Product::kAtlasA2,        Product::kAtlasA3,
                               Product::kAtlasInference, Product::kAtlas200I500A2, Product::kNoDevice};
constexpr Product k950[] = {Product::kAscend950};

std::string NameOf(aclDataType dtype) {
  for (const auto& [name, number] : kDtypes) {
    if (number == dtype) return name;
  }
  return std::to_string(dtype);
}

template <class Number>
aclScalar ScalarOf(aclDataType dtype, Number value) {
  aclScalar scalar;
  scalar.dtype = dtype;
  std::memcpy(scalar.value, &value, sizeof value);
  return scalar;
}

aclScalar One(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT:
      return ScalarOf(dtype, 1.0f);
    case ACL_DOUBLE:
    case ACL_COMPLEX128:
      return ScalarOf(dtype, 1.0);
    case ACL_COMPLEX64:
      return ScalarOf(dtype, 1.0f);
    case ACL_FLOAT16:
      return ScalarOf(dtype, uint16_t{0x3C00});
    case ACL_BF16:
      return ScalarOf(dtype, uint16_t{0x3F80});
    default:
      return ScalarOf(dtype, int64_t{1});
  }
}

// Parses a table. The first line lists dtypes of scalars. Each further line has the tensor's dtype and the
// result for each scalar; "=" means the tensor's dtype. `out` is "=" or a dtype.
void Expect(ScalarRule rule, std::span<const Product> products, const std::string& out,
            const std::string& table) {
  std::istringstream lines(table);
  std::string line;
  std::vector<std::string> scalars;
  int cells = 0;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string tensor;
    if (!(words >> tensor)) continue;
    std::string word;
    if (scalars.empty()) {
      for (scalars.push_back(tensor); words >> word;) scalars.push_back(word);
      continue;
    }
    for (const std::string& scalar : scalars) {
      ASSERT_TRUE(words >> word) << "the line of " << tensor << " is short";
      ++cells;
      const aclDataType dtype = kDtypes.at(tensor);
      const std::string expected = word == "=" ? tensor : word;
      for (const Product product : products) {
        const aclDataType found = PromoteScalar(rule, product, dtype, One(kDtypes.at(scalar)),
                                                out == "=" ? dtype : kDtypes.at(out));
        EXPECT_EQ(NameOf(found), expected)
            << "rule " << static_cast<int>(rule) << ", product " << static_cast<int>(product) << ", tensor "
            << tensor << ", scalar " << scalar << ", out " << out;
      }
    }
    EXPECT_FALSE(words >> word) << "the line of " << tensor << " is long";
  }
  EXPECT_GT(cells, 0);
}

const char* const kAsTensors = R"(
       f64  f32  f16  s64 s32 bool c128 c64
  f16  f64  f32  f16  =   =   =    c128 c64
  bf16 f64  f32  f32  =   =   =    c128 c64
  f32  f64  f32  f32  =   =   =    c128 c64
  f64  f64  f64  f64  =   =   =    c128 c128
  s8   f64  f32  f16  s64 s32 s8   c128 c64
  u8   f64  f32  f16  s64 s32 u8   c128 c64
  s16  f64  f32  f16  s64 s32 s16  c128 c64
  s32  f64  f32  f16  s64 s32 s32  c128 c64
  s64  f64  f32  f16  s64 s64 s64  c128 c64
  bool f64  f32  f16  s64 s32 bool c128 c64
  c64  c128 c64  c64  c64 c64 c64  c128 c64
  u16  -    -    -    -   -   -    c128 c64
)";

// Ascend 950's categories.
const char* const kCategories = R"(
       f64 f32 f16 s64 s32 bool c128 c64
  f16  =   =   =   =   =   =    c64  c64
  bf16 =   =   =   =   =   =    c64  c64
  f32  =   =   =   =   =   =    c64  c64
  f64  =   =   =   =   =   =    c128 c128
  s8   f32 f32 f32 =   =   =    c64  c64
  u8   f32 f32 f32 =   =   =    c64  c64
  s16  f32 f32 f32 =   =   =    c64  c64
  s32  f32 f32 f32 =   =   =    c64  c64
  s64  f32 f32 f32 =   =   =    c64  c64
  bool f32 f32 f32 s64 s32 bool c64  c64
  c64  =   =   =   =   =   =    =    =
  u16  -   -   -   =   =   =    c64  c64
)";

TEST(ScalarPromotion, AsTensors) {
  Expect(ScalarRule::kAsTensors, kBefore, "=", kAsTensors);
  Expect(ScalarRule::kAsTensors, k950, "=", kAsTensors);
  Expect(ScalarRule::kFloorDivides, kBefore, "=", kAsTensors);
  Expect(ScalarRule::kFmodScalar, kBefore, "=", kAsTensors);
  Expect(ScalarRule::kBitwiseAndScalar, kBefore, "=", kAsTensors);
}

TEST(ScalarPromotion, CategoriesOfAscend950) {
  for (const ScalarRule rule :
       {ScalarRule::kAdds, ScalarRule::kRsubs, ScalarRule::kMuls, ScalarRule::kPowTensorScalar,
        ScalarRule::kPowScalarTensor, ScalarRule::kEqScalar, ScalarRule::kDivModsFloorResult}) {
    Expect(rule, k950, "=", kCategories);
    Expect(rule, k950, "f32", kCategories);
  }
}

const char* const kAdds = R"(
       f64  f32  f16  s64 s32 bool c128 c64
  f16  =    =    =    =   =   =    c128 c64
  bf16 =    =    =    =   =   =    c128 c64
  f32  =    =    =    =   =   =    c128 c64
  f64  =    =    =    =   =   =    c128 c128
  s8   f64  f32  f16  =   =   =    c128 c64
  u8   f64  f32  f16  =   =   =    c128 c64
  s16  f64  f32  f16  =   =   =    c128 c64
  s32  f64  f32  f16  =   =   =    c128 c64
  s64  f64  f32  f16  =   =   =    c128 c64
  bool f64  f32  f16  s64 s32 bool c128 c64
  c64  c128 c64  c64  c64 c64 c64  c128 c64
)";

TEST(ScalarPromotion, AddsBeforeAscend950) {
  Expect(ScalarRule::kAdds, kBefore, "=", kAdds);
  // A DOUBLE scalar does not widen a result that goes to FLOAT.
  Expect(ScalarRule::kAdds, kBefore, "f32", R"(
         f64  f32 f16 s64 bool c128
    f16  =    =   =   =   =    c128
    bf16 =    =   =   =   =    c128
    f64  =    =   =   =   =    c128
    s8   f32  f32 f16 =   =    c128
    s64  f32  f32 f16 =   =    c128
    bool f32  f32 f16 s64 =    c128
    c64  c128 c64 c64 c64 c64  c128
  )");
}

TEST(ScalarPromotion, AddV3OnEveryProduct) {
  for (const auto products : {std::span<const Product>(kBefore), std::span<const Product>(k950)}) {
    Expect(ScalarRule::kAddV3, products, "=", R"(
           f64 f32 f16 s64 s32 bool c128 c64
      f16  f32 f32 f32 f32 f32 f32  c128 c64
      bf16 f32 f32 f32 f32 f32 f32  c128 c64
      f32  f32 f32 f32 f32 f32 f32  c128 c64
      s8   f64 f32 f16 =   =   =    c128 c64
      s32  f64 f32 f16 =   =   =    c128 c64
    )");
    Expect(ScalarRule::kAddV3, products, "f32", R"(
           f64 f32 f16 s64 s32 bool c128 c64
      bf16 f32 f32 f32 f32 f32 f32  c128 c64
      s8   f32 f32 f16 =   =   =    c128 c64
      s32  f32 f32 f16 =   =   =    c128 c64
    )");
  }
}

TEST(ScalarPromotion, RsubsBeforeAscend950) {
  for (const char* out : {"=", "f32"}) {
    Expect(ScalarRule::kRsubs, kBefore, out, R"(
           f64  f32 f16 s64 s32 bool c128 c64
      f16  =    =   =   =   =   =    =    =
      bf16 =    =   =   =   =   =    =    =
      f32  =    =   =   =   =   =    =    =
      f64  =    =   =   =   =   =    =    =
      s8   f64  f32 f16 =   =   =    =    =
      u8   f64  f32 f16 =   =   =    =    =
      s32  f64  f32 f16 =   =   =    =    =
      s64  f64  f32 f16 =   =   =    =    =
      c64  c128 c64 c64 =   =   =    =    =
    )");
  }
}

TEST(ScalarPromotion, MulsBeforeAscend950) {
  Expect(ScalarRule::kMuls, kBefore, "=", R"(
         f64  f32 f16 s64 s32 bool c128 c64
    f16  =    =   =   =   =   =    c128 c64
    bf16 f32  f32 f32 f32 f32 f32  c128 c64
    f32  =    =   =   =   =   =    c128 c64
    f64  =    =   =   =   =   =    c128 c128
    s8   f64  f32 f16 =   =   =    c128 c64
    s32  f64  f32 f16 =   =   =    c128 c64
    s64  f64  f32 f16 =   =   =    c128 c64
    bool f32  f32 f16 s64 s32 =    c128 c64
    c64  c128 c64 c64 =   =   =    c128 c64
  )");
  Expect(ScalarRule::kMuls, kBefore, "f32", R"(
         f64 f32 f16 s64
    f16  =   =   =   =
    f64  =   =   =   =
    s32  f32 f32 f16 =
    s64  f32 f32 f16 =
  )");
}

TEST(ScalarPromotion, DivsBeforeAscend950) {
  const char* const kept = R"(
         f64 f32 s64 bool c128
    f16  =   =   =   =    =
    f64  =   =   =   =    =
    s8   =   =   =   =    =
    s64  =   =   =   =    =
    bool =   =   =   =    =
    c64  =   =   =   =    =
  )";
  Expect(ScalarRule::kDivsResult, kBefore, "=", kept);
  Expect(ScalarRule::kDivModsFloorResult, kBefore, "=", kept);
  Expect(ScalarRule::kRemainderScalarTensor, kBefore, "=", kept);
  Expect(ScalarRule::kDivs, kBefore, "=", R"(
         f64 f32 s64 s32 bool c128 c64
    f16  =   =   =   =   =    c128 c64
    bf16 =   =   =   =   =    c128 c64
    f32  =   =   =   =   =    c128 c64
    f64  =   =   =   =   =    c128 c128
    s8   f32 f32 f32 f32 f32  c128 c64
    s64  f32 f32 f32 f32 f32  c128 c64
    bool f32 f32 f32 f32 f32  c128 c64
    c64  =   =   =   =   =    c128 c64
  )");
  Expect(ScalarRule::kDivModsTrue, kBefore, "=", R"(
         f64 f32 s64 bool c128
    f16  =   =   =   =    c128
    bf16 =   =   =   =    c128
    f64  f32 f32 f32 f32  c128
    s32  f32 f32 f32 f32  c128
    bool f32 f32 f32 f32  c128
  )");
  Expect(ScalarRule::kDivModsTruncate, kBefore, "=", R"(
         f64  f32 s64 s32 bool c128
    f16  =    =   =   =   =    c128
    bf16 =    =   =   =   =    c128
    f32  =    =   =   =   =    c128
    f64  f32  f32 f32 f32 f32  c128
    s8   f32  f32 f32 f32 f32  c128
    s16  f32  f32 f32 f32 f32  c128
    s32  f32  f32 f32 s32 f32  c128
    s64  f32  f32 f32 f32 f32  c128
    bool f32  f32 f32 f32 f32  c128
    c64  c128 c64 c64 c64 c64  c128
  )");
  Expect(ScalarRule::kDivModsFloor, kBefore, "=", R"(
         f64  f32 s64 s32 bool c128
    f16  =    =   =   =   =    c128
    bf16 =    =   =   =   =    c128
    f64  =    =   =   =   =    c128
    s8   f64  f32 s64 s32 =    c128
    s64  f64  f32 =   =   =    c128
    bool f64  f32 s64 s32 f32  c128
    c64  c128 c64 c64 c64 c64  c128
  )");
}

TEST(ScalarPromotion, DivsOnAscend950) {
  Expect(ScalarRule::kDivsResult, k950, "=", R"(
         f64 f32 s64 bool c128
    f16  =   =   =   =    c64
    bf16 =   =   =   =    c64
    f64  =   =   =   =    c128
    s8   f32 f32 f32 f32  c64
    s64  f32 f32 f32 f32  c64
    bool f32 f32 f32 f32  c64
    c64  =   =   =   =    =
  )");
  for (const ScalarRule rule : {ScalarRule::kDivs, ScalarRule::kDivModsTrue}) {
    Expect(rule, k950, "=", R"(
           f64 f32 s64 bool c128
      f16  f32 f32 f32 f32  c64
      bf16 f32 f32 f32 f32  c64
      f64  =   =   =   =    c128
      s8   f32 f32 f32 f32  c64
      bool f32 f32 f32 f32  c64
    )");
  }
  for (const ScalarRule rule : {ScalarRule::kDivModsTruncate, ScalarRule::kDivModsFloor}) {
    Expect(rule, k950, "=", R"(
           f64 f32 s64 bool c128
      f16  f32 f32 f32 f32  c64
      bf16 f32 f32 f32 f32  c64
      f64  =   =   =   =    c128
      s8   f32 f32 =   =    c64
      s64  f32 f32 =   =    c64
      bool f32 f32 s64 f32  c64
    )");
  }
  Expect(ScalarRule::kFloorDivides, k950, "=", R"(
         f64 f32 s64 bool
    f16  f32 f32 f32 f32
    bf16 f32 f32 f32 f32
    f64  =   =   =   =
    s8   f32 f32 =   =
    s64  f32 f32 =   =
    bool f32 f32 s64 =
  )");
}

TEST(ScalarPromotion, PowBeforeAscend950) {
  const char* const by_tensor = R"(
         f64  f32 f16 s64 s32 bool c128 c64
    f16  =    =   =   =   =   =    c128 c64
    bf16 =    =   =   =   =   =    c128 c64
    f64  =    =   =   =   =   =    c128 c128
    s8   f64  f32 f16 =   =   =    c128 c64
    s64  f64  f32 f16 =   =   =    c128 c64
    bool f64  f32 f16 s64 s32 =    c128 c64
    c64  c128 c64 c64 =   =   =    c128 c64
  )";
  Expect(ScalarRule::kPowTensorScalar, kBefore, "=", by_tensor);
  Expect(ScalarRule::kPowScalarTensor, kBefore, "=", by_tensor);
  // The first case comes before all others.
  Expect(ScalarRule::kPowTensorScalar, kBefore, "f32", R"(
         f64 f32 s64 bool c128
    f16  f32 =   =   =    c128
    f64  f32 =   =   =    c128
    s32  f32 f32 =   =    c128
    bool f32 f32 s64 =    c128
    c64  f32 c64 =   =    c128
  )");
  Expect(ScalarRule::kPowScalarTensor, kBefore, "f32", R"(
         f64 f32 s64 bool c128
    f16  =   =   =   =    c128
    f64  f32 f32 f32 f32  f32
    s32  f64 f32 =   =    c128
    bool f64 f32 s64 =    c128
  )");
}

TEST(ScalarPromotion, RemainderAndFmod) {
  Expect(ScalarRule::kRemainderTensorScalar, kBefore, "=", R"(
         f64 f32 f16 s64 s32 bool
    f16  =   =   =   =   =   =
    bf16 =   =   =   =   =   =
    f64  =   =   =   =   =   =
    s8   f64 f32 f16 =   =   =
    s64  f64 f32 f16 =   =   =
    bool f64 f32 f16 s64 s32 =
  )");
  for (const ScalarRule rule :
       {ScalarRule::kRemainderTensorScalar, ScalarRule::kRemainderScalarTensor, ScalarRule::kFmodScalar}) {
    Expect(rule, k950, "=", R"(
           f64 f32 f16 s64 s32 bool
      f16  =   =   =   =   =   =
      bf16 =   =   =   =   =   =
      f64  =   =   =   =   =   =
      s8   f64 f32 f16 =   =   =
      s32  f64 f32 f16 =   =   =
      s64  f64 f32 f16 =   =   =
      bool f64 f32 f16 s64 s32 =
    )");
  }
}

TEST(ScalarPromotion, ComparisonsBeforeAscend950) {
  Expect(ScalarRule::kEqScalar, kBefore, "bool", R"(
         f64 f32 f16 s64 s32 bool c128 c64
    f16  =   =   =   =   =   =    c128 c64
    bf16 =   =   =   =   =   =    c128 c64
    f64  =   =   =   =   =   =    c128 c128
    s8   f64 f32 f16 =   =   =    c128 c64
    u8   f64 f32 f16 =   =   =    c128 c64
    s64  f64 f32 f16 =   =   =    c128 c64
    bool f64 f32 f16 s64 s32 =    c128 c64
    c64  =   =   =   =   =   =    =    =
  )");
  Expect(ScalarRule::kGtScalar, kBefore, "bool", R"(
         f64 f32 f16 s64 s32 bool
    f16  =   f32 f16 =   =   =
    bf16 =   f32 f32 =   =   =
    f32  =   =   =   =   =   =
    f64  =   =   =   =   =   =
    s8   f64 f32 f16 s64 s32 =
    u8   f64 f32 f16 s64 s32 =
    s64  f64 f32 f16 =   =   =
    u64  -   -   -   -   -   -
    bool f64 f32 f16 s64 s32 =
  )");
  Expect(ScalarRule::kLtScalar, kBefore, "bool", R"(
         f64 f32 f16 s64 s32 bool
    f16  =   =   =   =   =   =
    f64  =   =   =   =   =   =
    s8   f32 f32 f16 s64 s32 =
    u8   f32 f32 f16 s64 s32 =
    s64  f32 f32 f16 =   =   =
    u16  -   -   -   -   -   -
    bool f32 f32 f16 s64 s32 =
  )");
  Expect(ScalarRule::kLeScalar, kBefore, "bool", R"(
         f64 f32 f16 s64 s32 bool
    f16  =   =   =   =   =   =
    f64  =   =   =   =   =   =
    s8   f32 f32 f16 s64 s32 =
    s64  f32 f32 f16 =   =   =
    u16  f32 -   -   -   -   -
    bool f32 f32 f16 s64 s32 =
  )");
}

TEST(ScalarPromotion, OrderOnAscend950) {
  for (const ScalarRule rule : {ScalarRule::kGtScalar, ScalarRule::kLtScalar, ScalarRule::kLeScalar}) {
    Expect(rule, k950, "bool", R"(
           f64 f32 f16 s64 s32 bool
      f16  =   =   =   =   =   =
      bf16 =   =   =   =   =   =
      f64  =   =   =   =   =   =
      s8   f32 f32 f32 =   =   =
      u8   f32 f32 f32 =   =   =
      s64  f32 f32 f32 =   =   =
      u64  -   -   -   =   =   =
      bool f32 f32 f32 s64 s32 =
    )");
  }
}

// Products before Ascend 950 compare a floating tensor with a DOUBLE in DOUBLE, for Gt and Ge, if the
// tensor's dtype cannot hold the number.
TEST(ScalarPromotion, GtKeepsDoublesThatRound) {
  const auto dtype_for = [](aclDataType tensor, double value) {
    return NameOf(PromoteScalar(ScalarRule::kGtScalar, Product::kAtlasA2, tensor, ScalarOf(ACL_DOUBLE, value),
                                ACL_BOOL));
  };
  EXPECT_EQ(dtype_for(ACL_FLOAT, 100.1), "f64");  // off by 1.5e-6
  EXPECT_EQ(dtype_for(ACL_FLOAT, 0.1), "f32");    // off by 1.5e-9
  EXPECT_EQ(dtype_for(ACL_FLOAT, 2.1), "f32");    // off by 9.5e-8
  EXPECT_EQ(dtype_for(ACL_FLOAT, 9.1), "f64");    // off by 3.8e-7
  EXPECT_EQ(dtype_for(ACL_FLOAT, 100.5), "f32");
  EXPECT_EQ(dtype_for(ACL_FLOAT16, 0.1), "f64");  // off by 2.4e-5
  EXPECT_EQ(dtype_for(ACL_FLOAT16, 0.5), "f16");
  EXPECT_EQ(dtype_for(ACL_FLOAT16, 70000.0), "f64");
  EXPECT_EQ(dtype_for(ACL_FLOAT16, 2048.0), "f16");
  EXPECT_EQ(dtype_for(ACL_FLOAT16, 2049.0), "f64");
  EXPECT_EQ(dtype_for(ACL_FLOAT16, 0x1p-26), "f16");  // rounds to 0, off by less than 2^-23
  EXPECT_EQ(dtype_for(ACL_BF16, 257.0), "f64");
  EXPECT_EQ(dtype_for(ACL_BF16, 256.0), "bf16");
  EXPECT_EQ(dtype_for(ACL_DOUBLE, 0.1), "f64");
}

// On Ascend 950, arithmetic with a number that FLOAT16 or BF16 would change goes through FLOAT.
TEST(ScalarPromotion, NarrowArithmeticOnAscend950KeepsTheScalar) {
  const auto dtype_for = [](ScalarRule rule, aclDataType tensor, const aclScalar& scalar,
                            const aclScalar* alpha = nullptr) {
    return NameOf(PromoteScalar(rule, Product::kAscend950, tensor, scalar, tensor, alpha));
  };
  const aclScalar tenth = ScalarOf(ACL_DOUBLE, 0.1);
  const aclScalar half = ScalarOf(ACL_DOUBLE, 0.5);
  for (const ScalarRule rule : {ScalarRule::kAdds, ScalarRule::kRsubs, ScalarRule::kMuls}) {
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, tenth), "f32");
    EXPECT_EQ(dtype_for(rule, ACL_BF16, tenth), "f32");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, half), "f16");
    EXPECT_EQ(dtype_for(rule, ACL_BF16, half), "bf16");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_INT64, int64_t{2049})), "f32");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_INT64, int64_t{-2048})), "f16");
    EXPECT_EQ(dtype_for(rule, ACL_BF16, ScalarOf(ACL_INT32, int32_t{257})), "f32");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_DOUBLE, 1e6)), "f32");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_DOUBLE, 65519.0)), "f32");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_DOUBLE, 65504.0)), "f16");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_DOUBLE, 1e-9)),
              "f16");  // rounds to 0: less than 2^-23 off
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_DOUBLE, 0x1p-25 + 0x1p-24)), "f16");
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT16, ScalarOf(ACL_BF16, uint16_t{0x4780})), "f32");  // 65536
    EXPECT_EQ(dtype_for(rule, ACL_BF16, ScalarOf(ACL_FLOAT16, uint16_t{0x3C01})), "f32");  // 1 + 2^-10
    EXPECT_EQ(dtype_for(rule, ACL_BF16, ScalarOf(ACL_FLOAT16, uint16_t{0x0001})), "bf16");
    EXPECT_EQ(dtype_for(rule, ACL_BF16, ScalarOf(ACL_FLOAT16, uint16_t{0x7C00})), "bf16");  // infinity
    EXPECT_EQ(dtype_for(rule, ACL_FLOAT, tenth), "f32");
    EXPECT_EQ(dtype_for(rule, ACL_DOUBLE, tenth), "f64");
  }
  EXPECT_EQ(dtype_for(ScalarRule::kAdds, ACL_FLOAT16, half, &tenth), "f32");
  EXPECT_EQ(dtype_for(ScalarRule::kAdds, ACL_FLOAT16, half, &half), "f16");
  EXPECT_EQ(dtype_for(ScalarRule::kPowTensorScalar, ACL_FLOAT16, tenth), "f16");
}

TEST(ScalarPromotion, BitwiseLooksAtTheValue) {
  const auto dtype_for = [](Product product, aclDataType tensor, const aclScalar& scalar) {
    return NameOf(PromoteScalar(ScalarRule::kBitwiseOrScalar, product, tensor, scalar, tensor));
  };
  for (const Product product : kBefore) {
    EXPECT_EQ(dtype_for(product, ACL_INT8, ScalarOf(ACL_INT64, int64_t{1})), "s32");
    EXPECT_EQ(dtype_for(product, ACL_UINT8, ScalarOf(ACL_INT64, int64_t{2147483647})), "s32");
    EXPECT_EQ(dtype_for(product, ACL_INT32, ScalarOf(ACL_INT64, int64_t{-2147483648})), "s32");
    EXPECT_EQ(dtype_for(product, ACL_INT32, ScalarOf(ACL_INT64, int64_t{2147483648})), "s64");
    EXPECT_EQ(dtype_for(product, ACL_INT32, ScalarOf(ACL_INT64, int64_t{-2147483649})), "s64");
    EXPECT_EQ(dtype_for(product, ACL_INT64, ScalarOf(ACL_INT64, int64_t{1})), "s64");
    EXPECT_EQ(dtype_for(product, ACL_BOOL, ScalarOf(ACL_INT64, int64_t{1})), "s32");
    EXPECT_EQ(dtype_for(product, ACL_BOOL, One(ACL_BOOL)), "bool");
    EXPECT_EQ(dtype_for(product, ACL_UINT16, One(ACL_INT64)), "-");
  }
  for (const ScalarRule rule : {ScalarRule::kBitwiseOrScalar, ScalarRule::kBitwiseAndScalar}) {
    Expect(rule, k950, "=", R"(
           s64 s32 s8 bool
      s8   =   =   =  =
      u8   =   =   =  =
      s64  =   =   =  =
      u16  =   =   =  =
      bool s64 s32 s8 bool
    )");
  }
}

TEST(ScalarPromotion, Clamp) {
  for (const char* out : {"f32", "s32", "f16"}) {
    for (const char* tensor : {"f32", "s32", "f16"}) {
      for (const Product product : kBefore) {
        EXPECT_EQ(NameOf(PromoteScalar(ScalarRule::kClamp, product, kDtypes.at(tensor), One(ACL_DOUBLE),
                                       kDtypes.at(out))),
                  out);
      }
    }
  }
  Expect(ScalarRule::kClamp, k950, "=", R"(
         f64 f32 s64 bool c128
    f16  =   =   =   =    c32
    f32  =   =   =   =    c64
    f64  =   =   =   =    c128
    s32  f32 f32 =   =    c64
    u8   f32 f32 =   =    c64
  )");
  const aclScalar whole = One(ACL_INT64);
  const aclScalar real = One(ACL_DOUBLE);
  const auto both = [](aclDataType tensor, const aclScalar& low, const aclScalar& high) {
    return NameOf(PromoteScalar(ScalarRule::kClamp, Product::kAscend950, tensor, low, tensor, &high));
  };
  EXPECT_EQ(both(ACL_INT32, whole, real), "f32");
  EXPECT_EQ(both(ACL_INT32, real, whole), "f32");
  EXPECT_EQ(both(ACL_INT32, whole, whole), "s32");
  EXPECT_EQ(both(ACL_FLOAT16, whole, real), "f16");
  EXPECT_EQ(both(ACL_INT32, One(ACL_UINT16), whole), "-");
}

TEST(ScalarPromotion, CombinedDtypes) {
  struct Case {
    const char *high, *low, *combined;
  };
  for (const Case& c : {Case{"c64", "f64", "c64"},
                        {"c64", "c128", "c64"},
                        {"c128", "c64", "c128"},
                        {"f16", "c64", "c32"},
                        {"bf16", "c64", "c64"},
                        {"f32", "c128", "c64"},
                        {"f64", "c64", "c128"},
                        {"s32", "c128", "c128"},
                        {"bool", "c64", "c64"},
                        {"f16", "f64", "f16"},
                        {"f32", "s64", "f32"},
                        {"bool", "s8", "s8"},
                        {"bool", "bool", "bool"},
                        {"s32", "f16", "f16"},
                        {"s32", "f64", "f64"},
                        {"s32", "s64", "s32"},
                        {"u8", "s8", "u8"},
                        {"u64", "s64", "u64"},
                        {"u64", "f32", "-"}}) {
    EXPECT_EQ(NameOf(CombineDtypes(kDtypes.at(c.high), kDtypes.at(c.low))), c.combined)
        << c.high << ' ' << c.low;
  }
  EXPECT_EQ(NameOf(CategoryDtype(ACL_COMPLEX128)), "c64");
  EXPECT_EQ(NameOf(CategoryDtype(ACL_DOUBLE)), "f32");
  EXPECT_EQ(NameOf(CategoryDtype(ACL_BF16)), "f32");
  EXPECT_EQ(NameOf(CategoryDtype(ACL_INT64)), "s64");
  EXPECT_EQ(NameOf(CategoryDtype(ACL_BOOL)), "bool");
}

TEST(ScalarPromotion, TensorsWithoutDims) {
  const auto tensor = [](aclDataType dtype, const Shape& shape) {
    aclTensor made;
    made.dtype = dtype;
    made.shape = shape;
    return made;
  };
  const aclTensor whole = tensor(ACL_INT32, {3});
  const aclTensor wide = tensor(ACL_INT64, {});
  const aclTensor half = tensor(ACL_FLOAT16, {2});
  const aclTensor real = tensor(ACL_FLOAT, {});
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, whole, wide)), "s32");
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, wide, whole)), "s32");
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, half, real)), "f16");
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, real, half)), "f16");
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, whole, real)), "f32");
  // Both have dims, or neither has; a tensor of shape [1] has a dim.
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, whole, tensor(ACL_INT64, {1}))), "s64");
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, real, wide)), "f32");
  EXPECT_EQ(NameOf(PromoteByRank(Product::kAscend950, tensor(ACL_INT32, {}), wide)), "s64");
  for (const Product product : kBefore) {
    EXPECT_EQ(NameOf(PromoteByRank(product, whole, wide)), "s64");
    EXPECT_EQ(NameOf(PromoteByRank(product, half, real)), "f32");
  }
}

}  // namespace
}  // namespace portacl
