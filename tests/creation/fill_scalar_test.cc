// aclnnInplaceFillScalar's numbers: values of every type into every type and layout, and the two rules that scalars have alone.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "aclnnop/families/creation.h"
#include "operators/moves.h"
#include "support/answer_suite.h"
#include "support/move_suite.h"

namespace portacl::testing {
namespace {

const std::vector<DtypeNumber> kDtypes = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16,   ACL_DOUBLE,    ACL_INT8,
                                          ACL_UINT8, ACL_INT16,   ACL_UINT16, ACL_INT32,     ACL_UINT32,
                                          ACL_INT64, ACL_UINT64,  ACL_BOOL,   ACL_COMPLEX64, ACL_COMPLEX128};

// What a scalar becomes: as an element does, but for a float into bool and a complex number into anything else.
Element FilledWith(DtypeNumber from, const Element& value, DtypeNumber to) {
  if (IsComplexDtype(from) && !IsComplexDtype(to))
    return Element(static_cast<size_t>(ElementSize(to)), std::byte{0});
  if (to == ACL_BOOL && IsFloatingDtype(from)) {
    const double epsilon = from == ACL_DOUBLE ? 0x1p-52 : 0x1p-23;
    return {std::fabs(DecodeReal(from, value.data())) >= epsilon ? std::byte{1} : std::byte{0}};
  }
  return ConvertedElement(from, value, to);
}

class InplaceFillScalarNumerics : public MoveSuite {
 protected:
  bool Fill(HostTensor& self, DtypeNumber from, Element value, const std::string& what) {
    value.resize(16);
    aclScalar* scalar = aclCreateScalar(value.data(), AsAclDataType(from));
    OperatorBinding binding = BindingOf(MoveOperatorNamed("aclnnInplaceFillScalar"));
    binding.plan = [&](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                       aclOpExecutor** executor) {
      return aclnnInplaceFillScalarGetWorkspaceSize(t[0], scalar, size, executor);
    };
    value.resize(static_cast<size_t>(ElementSize(from)));
    const bool right =
        CheckFill(binding, {self.Handle()}, self, FilledWith(from, value, self.dtype()), stream(), what);
    aclDestroyScalar(scalar);
    return right;
  }
};

TEST_P(InplaceFillScalarNumerics, EveryPair) {
  RandomNumbers random(0x5CA1);
  for (const DtypeNumber to : kDtypes) {
    for (const DtypeNumber from : ConvertibleDtypes()) {
      if (PromoteDtypes(to, from) == kUndefinedDtype) continue;
      for (const Element& value : TestElements(from, 20, random)) {
        HostTensor self(to, MakeView({3}, Layout::kDense, random));
        if (!Fill(self, from, value, DtypeName(from) + " into " + DtypeName(to))) break;
      }
    }
  }
}

TEST_P(InplaceFillScalarNumerics, EveryLayout) {
  RandomNumbers random(0x5CA2);
  for (const DtypeNumber to : {ACL_UINT8, ACL_BF16, ACL_FLOAT, ACL_INT64, ACL_COMPLEX128}) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{17}, Shape{5, 7}, Shape{64, 1000},
                               Shape{2, 2, 1, 2, 3, 2, 2, 2}, Shape{70001}}) {
      for (const Layout layout : kOutputLayouts) {
        HostTensor self(to, MakeView(shape, layout, random));
        const double value = 2.7;
        Element bytes(sizeof value);
        std::memcpy(bytes.data(), &value, sizeof value);
        Fill(self, ACL_DOUBLE, bytes, DtypeName(to) + " " + LayoutName(layout));
      }
    }
  }
}

PORTACL_ON_EVERY_ISA(InplaceFillScalarNumerics);

}  // namespace
}  // namespace portacl::testing
