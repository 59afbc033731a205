// Members of product sets, and the dtypes that rules made of sets give each product.
// SPDX-License-Identifier: Apache-2.0
#include "contract/product_set.h"

#include <gtest/gtest.h>

#include <string>

#include "contract/dtype_rule.h"

namespace portacl {
namespace {

constexpr Product kEach[] = {Product::kAtlasTraining, Product::kAtlasA2,        Product::kAtlasA3,
                             Product::kAscend950,     Product::kAtlasInference, Product::kAtlas200I500A2,
                             Product::kNoDevice};

// Prints one letter for each product, in the order above: x if the set has it.
std::string Members(ProductSet set) {
  std::string members;
  for (const Product product : kEach) members += set.Contains(product) ? 'x' : '-';
  return members;
}

TEST(ProductSets, HaveTheseMembers) {
  EXPECT_EQ(Members({}), "-------");
  EXPECT_EQ(Members(products::kAll), "xxxxxxx");
  EXPECT_EQ(Members(products::kAtlasA2AndA3), "-xx----");
  EXPECT_EQ(Members(products::kAscend950), "---x---");
  EXPECT_EQ(Members(products::kSinceAtlasA2), "-xxx---");
  EXPECT_EQ(Members(products::kBeforeAtlasA2), "x---xxx");
  EXPECT_EQ(Members(products::kBeforeAscend950), "xxx-xxx");
  EXPECT_EQ(Members(products::kWithout200I500A2), "xxxxx--");
}

TEST(ProductSets, JoinAndTurnRound) {
  const ProductSet some{Product::kAtlasTraining, Product::kNoDevice};
  EXPECT_EQ(Members(some), "x-----x");
  EXPECT_EQ(Members(~some), "-xxxxx-");
  EXPECT_EQ(Members(some | products::kAtlasA2AndA3), "xxx---x");
  EXPECT_EQ(~~some, some);
  EXPECT_EQ(some | ~some, products::kAll);
}

// Prints one digit for each product: which of three sets the rule has for it, or 0 for none.
std::string Sets(const DtypeRule& rule, DtypeSet first, DtypeSet second, DtypeSet third) {
  std::string sets;
  for (const Product product : kEach) {
    const DtypeSet set = rule.For(product);
    sets += set == first ? '1' : set == second ? '2' : set == third ? '3' : set.IsEmpty() ? '0' : '?';
  }
  return sets;
}

TEST(ProductSets, RulesOfDtypes) {
  const DtypeSet real = kFloatAndHalf;
  const DtypeSet more = real | DtypeSet(ACL_BF16);
  const DtypeSet truth = kBool;
  EXPECT_EQ(Sets(Everywhere(real), real, more, truth), "1111111");
  EXPECT_EQ(Sets(ByGeneration(real, more, truth), real, more, truth), "1223111");
  EXPECT_EQ(Sets(SinceAtlasA2(more, real), real, more, truth), "1222111");
  EXPECT_EQ(Sets(SinceAtlasA2(more), real, more, truth), "0222000");
  EXPECT_EQ(Sets(WithBf16SinceAtlasA2(real), real, more, truth), "1222111");
  EXPECT_EQ(Sets(Everywhere(real).On(products::kAscend950, truth), real, more, truth), "1113111");
  EXPECT_EQ(Sets(Everywhere(real).OnlyOn(products::kWithout200I500A2), real, more, truth), "1111100");
}

}  // namespace
}  // namespace portacl
