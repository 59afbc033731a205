// Parts of the lists of checks that operators of two operands share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/phase1.h"
#include "contract/checks.h"

namespace portacl {

// Ends every list: sizes that no storage can have, empty tensors, and calls that CANN accepts but portacl
// does not implement.
constexpr auto ComputableChecks(Operands inputs, int out, Operands scalars = {}) {
  return List(SizesRepresentable({out}), DoneIfEmpty(inputs), InsideStorage(inputs), kLoopRankFits,
              DtypeImplemented(inputs, kConvertible), DtypeImplemented({out}, kConvertible),
              PromotedImplemented(kConvertible, inputs, scalars), ScalarsImplemented(kConvertible, scalars));
}

// Ascend 950 only: both operands cast to the promoted dtype, which must be in the list.
constexpr auto Ascend950Checks(const DtypeRule& rule, Operands tensors, Operands scalars = {}) {
  return List(OnProducts(products::kAscend950, CastsToPromoted(tensors)),
              OnProducts(products::kAscend950, ScalarsCastToPromoted(scalars)),
              OnProducts(products::kAscend950, PromotedIn(rule, tensors, scalars)));
}

// Two tensors of at most 8 dims broadcast to the output's shape.
constexpr auto BroadcastChecks(int a, int b, int out) {
  return Join(List(RankAtMost(8, {a, b})), BroadcastsInto({a, b}, out));
}

// The first checks of some in-place operators: nothing is null, and the other tensor broadcasts to self.
constexpr auto InPlaceFirstChecks(int self, int other) {
  return Join(List(NotNull(self), NotNull(other)), BroadcastsInto({self, other}, self));
}

}  // namespace portacl
