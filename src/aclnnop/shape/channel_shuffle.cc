// aclnnChannelShuffle: takes the first channel of each group, then the second of each, and so on.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/channel_shuffle_functions.h"

#include <limits>

#include "aclnnop/jobs/moves.h"
#include "base/errors.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum Attributes { kGroups };

aclnnStatus GroupsFit(const Check& check, OperatorCall& call) noexcept {
  const int64_t groups = call.attributes[kGroups].integer;
  if (groups <= 0)
    return RefuseInteger(check, call, "groups", groups, 1, std::numeric_limits<int64_t>::max());
  const Shape& self = call.Tensor(kSelf).shape;
  if (self.rank < 2 || self[1] % groups == 0) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kSelf).Add(" has channels that groups = ").Add(groups);
  return FailAclnn(check.code, message.Add(" does not divide, accepted: a divisor of them."));
}

constexpr DtypeRule kDtypes = Everywhere(kArithmetic | kBf16);
constexpr Check kChecks[] = {
    NotNull(kSelf),  // in CANN's order
    NotNull(kOut),          DtypesIn(kDtypes, {kSelf}), SameDtype(kSelf, kOut), Custom(GroupsFit),
    SameShape(kSelf, kOut), RankAtLeast(3, {kSelf}),    RankAtMost(7, {kSelf}), SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf}),   InsideStorage({kSelf}),
};

void SetShuffle(const OperatorCall& call, Executor& executor) {
  const int64_t groups = call.attributes[kGroups].integer;
  StridedView self = PlainView(call.Tensor(kSelf));
  StridedView out = PlainView(call.Tensor(kOut));
  int order[] = {0, 2, 1, 3, 4, 5, 6, 7};
  SplitDim(self, 1, self.shape[1] / groups);
  Permute(self, order);
  SplitDim(out, 1, groups);
  MoveList moves(executor, 1);
  moves.Copy(self, kSelf, out, kOut);
  moves.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnChannelShuffle) { return RunPhase1(call, kChecks, workspaceSize, executor, SetShuffle); }
