// aclnnL1Loss for the determinism test.
// SPDX-License-Identifier: Apache-2.0
#include "determinism/described.h"

namespace portacl::testing {
namespace {

bool AnyDtypes(std::span<const DtypeNumber>) { return true; }

const DescribedSubject kElements([] { return LossSubject(DescribeL1Loss(), {{.reduction = 0}}); });
const DescribedSubject kReduced([] {
  Subject subject = ReducedLossSubject(DescribeReducedL1Loss(), {{.reduction = 1}, {.reduction = 2}});
  subject.description.accepts_dtypes = AnyDtypes;
  subject.description.output_dtypes = DescribeL1Loss().output_dtypes;
  return subject;
});

// Inputs that promote to INT64 are computed in integers.
Subject OfIntegers(const NumericDescription& op, int64_t reduction, const char* suffix) {
  Subject subject = LossSubject(op, {{.reduction = reduction}}, suffix);
  subject.description.accepts_dtypes = AnyDtypes;
  subject.description.input_dtypes = {ACL_INT64};
  subject.description.output_dtypes = {ACL_INT64,  ACL_FLOAT, ACL_FLOAT16, ACL_BF16,
                                       ACL_DOUBLE, ACL_INT8,  ACL_UINT32};
  subject.is_plain_code = true;
  return subject;
}

const DescribedSubject kIntegers([] { return OfIntegers(DescribeL1Loss(), 0, "_integers"); });
const DescribedSubject kReducedIntegers([] {
  return OfIntegers(DescribeReducedL1Loss(), 2, "_integers_reduced");
});

}  // namespace
}  // namespace portacl::testing
