// aclnnInplaceCopy's numbers: every pair of dtypes, every layout, sources that broadcast, copies into themselves.
// SPDX-License-Identifier: Apache-2.0
#include "operators/moves.h"
#include "support/answer_suite.h"
#include "support/move_suite.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

const MoveDescription& InplaceCopy() {
  static const MoveDescription description = {BindingOf(MoveOperatorNamed("aclnnInplaceCopy")), /*source=*/1,
                                              /*destination=*/0,
                                              /*broadcasts=*/true};
  return description;
}

PORTACL_MOVE_TESTS(InplaceCopyNumerics, InplaceCopy());

// A view copied into itself stays; partly overlapping views leave everything else alone.
TEST(InplaceCopyOverlap, StaysInside) {
  const ScopedEnvironment environment({});
  RandomNumbers random(0x0E);
  for (const DtypeNumber dtype : {ACL_UINT8, ACL_BF16, ACL_FLOAT, ACL_COMPLEX128}) {
    for (const int64_t count : {5, 700, 100000}) {
      for (const int64_t shift : {0, 1, 3, 64}) {
        View view = MakeView({count + shift}, Layout::kDense, random);
        HostTensor whole(dtype, view);
        FillWithTestElements(whole, random);
        View low = view;
        View high = view;
        low.shape = high.shape = {count};
        high.offset += shift;
        HostTensor source = HostTensor::SharingStorageOf(whole, low);
        HostTensor destination = HostTensor::SharingStorageOf(whole, high);
        destination.Remember();
        aclTensor* handles[] = {destination.Handle(), source.Handle()};
        ASSERT_TRUE(CallTwoPhase(InplaceCopy().binding, handles, {}, environment.stream()).Succeeded());
        EXPECT_TRUE(shift == 0 ? destination.Unchanged() : destination.UnchangedOutsideView())
            << count << " " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace portacl::testing
