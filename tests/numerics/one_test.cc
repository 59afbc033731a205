// aclnnInplaceOne's numbers: 1 in every type and layout.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"
#include "support/move_suite.h"

namespace portacl::testing {
namespace {

void EncodeOne(DtypeNumber dtype, Element& element) {
  element.assign(static_cast<size_t>(ElementSize(dtype)), std::byte{0});
  EncodeElement(dtype, 1.0, element.data());
}

const std::vector<DtypeNumber> kDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,  ACL_DOUBLE, ACL_INT8,
                                          ACL_UINT8, ACL_INT16,   ACL_INT32, ACL_INT64,  ACL_BOOL};

class InplaceOneNumerics : public MoveSuite {};

const Shape kShapes[] = {
    {}, {1}, {17}, {5, 7}, {40, 3}, {64, 1000}, {2, 3, 4, 5}, {2, 2, 1, 2, 3, 2, 2, 2}, {70001}};

TEST_P(InplaceOneNumerics, EveryTypeInEveryLayout) {
  RandomNumbers random(0xF111);
  for (const DtypeNumber dtype : kDtypes) {
    Element expected;
    EncodeOne(dtype, expected);
    for (const Shape& shape : kShapes) {
      for (const Layout layout : kOutputLayouts) {
        HostTensor self(dtype, MakeView(shape, layout, random));
        CheckFill(BindInplaceOne(), {self.Handle()}, self, expected, stream(),
                  DtypeName(dtype) + " " + LayoutName(layout));
      }
    }
  }
}

PORTACL_ON_EVERY_ISA(InplaceOneNumerics);

}  // namespace
}  // namespace portacl::testing
