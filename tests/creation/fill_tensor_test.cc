// aclnnInplaceFillTensor's numbers: every pair of types, every layout.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "operators/moves.h"
#include "support/answer_suite.h"
#include "support/move_suite.h"

namespace portacl::testing {
namespace {

class InplaceFillTensorNumerics : public MoveSuite {};

// The source is one value, read when the work runs.
const MoveDescription& InplaceFillTensor() {
  static const MoveDescription description = {BindingOf(MoveOperatorNamed("aclnnInplaceFillTensor")),
                                              /*source=*/1, /*destination=*/0,
                                              /*broadcasts=*/true};
  return description;
}

TEST_P(InplaceFillTensorNumerics, EveryPair) {
  RandomNumbers random(0xF7);
  for (const DtypeNumber to : ConvertibleDtypes()) {
    if (to == ACL_UINT16 || to == ACL_UINT32 || to == ACL_UINT64) continue;
    for (const DtypeNumber from : ConvertibleDtypes()) {
      for (const Element& element : TestElements(from, 10, random)) {
        HostTensor value(from, MakeView({}, Layout::kDenseOffset, random));
        HostTensor self(to, MakeView({5}, Layout::kDense, random));
        std::memcpy(value.Element(0), element.data(), element.size());
        if (!CheckMove(InplaceFillTensor(), value, self, stream(), DtypeName(from) + " to " + DtypeName(to)))
          break;
      }
    }
  }
}

TEST_P(InplaceFillTensorNumerics, EveryLayout) {
  RandomNumbers random(0xF8);
  for (const DtypeNumber to : {ACL_UINT8, ACL_BF16, ACL_FLOAT, ACL_INT64, ACL_COMPLEX128}) {
    for (const DtypeNumber from : {to, DtypeNumber{ACL_DOUBLE}}) {
      for (const Shape& shape : {Shape{}, Shape{1}, Shape{17}, Shape{5, 7}, Shape{64, 1000},
                                 Shape{2, 2, 1, 2, 3, 2, 2, 2}, Shape{70001}}) {
        for (const Layout layout : kOutputLayouts) {
          const Shape one = shape.empty() ? Shape{} : Shape{1};
          HostTensor value(from, MakeView(one, Layout::kDense, random));
          HostTensor self(to, MakeView(shape, layout, random));
          FillWithTestElements(value, random);
          CheckMove(InplaceFillTensor(), value, self, stream(), DtypeName(from) + " " + LayoutName(layout));
        }
      }
    }
  }
}

PORTACL_ON_EVERY_ISA(InplaceFillTensorNumerics);

}  // namespace
}  // namespace portacl::testing
