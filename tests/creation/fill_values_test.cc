// Zeros and ones that fills write, of every dtype in every layout.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"
#include "support/answer_suite.h"
#include "support/move_suite.h"

namespace portacl::testing {
namespace {

class FillValueNumerics : public MoveSuite {
 protected:
  void EveryTypeInEveryLayout(const char* name, double value) {
    const OperatorSpec& op = MoveOperatorNamed(name);
    const OperatorBinding binding = BindingOf(op);
    RandomNumbers random(0xF111);
    for (const DtypeNumber dtype : ConvertibleDtypes()) {
      if (!Accepts(op, {{}, {2, 3}, {}, dtype}, {})) continue;
      Element expected(static_cast<size_t>(ElementSize(dtype)), std::byte{0});
      EncodeElement(dtype, value, expected.data());
      for (const Shape& shape : {Shape{}, Shape{1}, Shape{17}, Shape{5, 7}, Shape{40, 3}, Shape{64, 1000},
                                 Shape{2, 3, 4, 5}, Shape{2, 2, 1, 2, 3, 2, 2, 2}, Shape{70001}}) {
        for (const Layout layout : kOutputLayouts) {
          HostTensor self(dtype, MakeView(shape, layout, random));
          CheckFill(binding, {self.Handle()}, self, expected, stream(),
                    DtypeName(dtype) + " " + LayoutName(layout));
        }
      }
    }
  }
};

TEST_P(FillValueNumerics, InplaceOne) { EveryTypeInEveryLayout("aclnnInplaceOne", 1); }
TEST_P(FillValueNumerics, InplaceZero) { EveryTypeInEveryLayout("aclnnInplaceZero", 0); }

// More dims than a loop has.
TEST_P(FillValueNumerics, ManyDims) {
  RandomNumbers random(0x9);
  HostTensor self(ACL_FLOAT, MakeView(Shape(12, 2), Layout::kDense, random));
  CheckFill(BindingOf(MoveOperatorNamed("aclnnInplaceZero")), {self.Handle()}, self, Element(4, std::byte{0}),
            stream(), "rank 12");
}

PORTACL_ON_EVERY_ISA(FillValueNumerics);

}  // namespace
}  // namespace portacl::testing
