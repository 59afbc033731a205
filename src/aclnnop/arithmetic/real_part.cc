// aclnnReal: the real parts of complex numbers.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/arithmetic/real_part_functions.h"

#include "aclnnop/jobs/moves.h"
#include "contract/arguments.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };

// Returns the type of a number's parts.
aclDataType PartOf(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_COMPLEX64:
      return ACL_FLOAT;
    case ACL_COMPLEX128:
      return ACL_DOUBLE;
    default:
      return dtype;
  }
}

aclnnStatus PartFits(const Check& check, OperatorCall& call) noexcept {
  const Check one_of = WithCode(check.code, DtypesIn(DtypeSet(PartOf(call.Tensor(kSelf).dtype)), {kOut}));
  return one_of.run(one_of, call);
}

constexpr DtypeSet kDtypes{ACL_FLOAT, ACL_FLOAT16, ACL_COMPLEX64, ACL_COMPLEX128};
constexpr Check kChecks[] = {
    NotNull(kSelf),         NotNull(kOut),          DtypesIn(kDtypes, {kSelf}), Custom(PartFits),
    RankAtMost(8, {kSelf}), SameShape(kSelf, kOut), SizesRepresentable({kOut}), DoneIfEmpty({kSelf}),
    InsideStorage({kSelf}),
};

void SetParts(const OperatorCall& call, Executor& executor) {
  StridedView self = PlainView(call.Tensor(kSelf));
  const aclDataType part = PartOf(self.dtype);
  if (part != self.dtype) {
    // A complex number is two parts, the real one first. What overflows is the stride of a dim that nothing walks.
    for (int dim = 0; dim < self.shape.rank; ++dim)
      self.strides.dim[dim] = static_cast<int64_t>(static_cast<uint64_t>(self.strides[dim]) * 2);
    self.offset *= 2;
    self.dtype = part;
    self.Describe();
  }
  MoveList moves(executor, 1);
  moves.Copy(self, kSelf, PlainView(call.Tensor(kOut)), kOut);
  moves.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnReal) { return RunPhase1(call, kChecks, workspaceSize, executor, SetParts); }
