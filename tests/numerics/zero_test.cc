// aclnnInplaceZero's numbers: every bit is 0, in every layout.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"
#include "support/move_suite.h"

namespace portacl::testing {
namespace {

void EncodeOne(DtypeNumber dtype, Element& element) {
  element.assign(static_cast<size_t>(ElementSize(dtype)), std::byte{0});
}

const std::vector<DtypeNumber> kDtypes = {ACL_FLOAT, ACL_FLOAT16,   ACL_BF16,      ACL_DOUBLE, ACL_INT8,
                                          ACL_UINT8, ACL_INT16,     ACL_UINT16,    ACL_INT32,  ACL_INT64,
                                          ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128};

class InplaceZeroNumerics : public MoveSuite {};

const Shape kShapes[] = {
    {}, {1}, {17}, {5, 7}, {40, 3}, {64, 1000}, {2, 3, 4, 5}, {2, 2, 1, 2, 3, 2, 2, 2}, {70001}};

TEST_P(InplaceZeroNumerics, EveryTypeInEveryLayout) {
  RandomNumbers random(0xF111);
  for (const DtypeNumber dtype : kDtypes) {
    Element expected;
    EncodeOne(dtype, expected);
    for (const Shape& shape : kShapes) {
      for (const Layout layout : kOutputLayouts) {
        HostTensor self(dtype, MakeView(shape, layout, random));
        CheckFill(BindInplaceZero(), {self.Handle()}, self, expected, stream(),
                  DtypeName(dtype) + " " + LayoutName(layout));
      }
    }
  }
}

// More dims than a loop has.
TEST_P(InplaceZeroNumerics, ManyDims) {
  RandomNumbers random(0x9);
  HostTensor self(ACL_FLOAT, MakeView(Shape(12, 2), Layout::kDense, random));
  CheckFill(BindInplaceZero(), {self.Handle()}, self, Element(4, std::byte{0}), stream(), "rank 12");
}

PORTACL_ON_EVERY_ISA(InplaceZeroNumerics);

}  // namespace
}  // namespace portacl::testing
