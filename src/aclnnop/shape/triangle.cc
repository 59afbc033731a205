// aclnnTriu, aclnnTril and their in-place forms: keep a triangle of each matrix, and set 0 elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/shape/triangle_functions.h"

#include "aclnnop/phase1.h"
#include "engine/move/triangular.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };

constexpr DtypeSet kTriangleSet = kRealArithmetic | kUnsignedSince16Bits;
constexpr DtypeRule kTriangleDtypes = ByGeneration(
    kTriangleSet, kTriangleSet | kBf16, kTriangleSet | kBf16 | DtypeSet{ACL_COMPLEX32, ACL_COMPLEX64});

constexpr auto Start(int out) {
  return List(NotNull(kSelf), NotNull(out), DtypesIn(kTriangleDtypes, {kSelf}), SameDtype(kSelf, out),
              SameFormat({kSelf, out}));
}
constexpr auto Shapes(int out) {
  return List(RankAtMost(8, {kSelf}), SameShape(kSelf, out), SizesRepresentable({out}), DoneIfEmpty({kSelf}));
}
// aclnnTriu accepts an empty tensor of any rank.
constexpr auto TriuChecks(int out) {
  return Join(Start(out), List(NotPrivate({kSelf})), Shapes(out),
              List(RankAtLeast(2, {kSelf}), InsideStorage({kSelf})));
}
constexpr auto TrilChecks(int out) {
  return Join(Start(out), List(RankAtLeast(2, {kSelf})), Shapes(out), List(InsideStorage({kSelf})));
}
constexpr auto kTriuChecks = TriuChecks(kOut);
constexpr auto kInplaceTriuChecks = TriuChecks(kSelf);
constexpr auto kTrilChecks = TrilChecks(kOut);
constexpr auto kInplaceTrilChecks = TrilChecks(kSelf);

aclnnStatus KeepTriangle(OperatorCall& call, std::span<const Check> checks, bool is_upper,
                         uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    fresh.SetJob([&] {
      const int out = checked.in_place ? kSelf : kOut;
      engine::TriangleJob job = engine::MakeTriangle(checked.Tensor(kSelf), checked.Tensor(out), is_upper,
                                                     checked.attributes[0].integer, checked.threads);
      job.source = kSelf;
      job.destination = static_cast<int8_t>(out);
      return job;
    });
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTriu) {
  return KeepTriangle(call, kTriuChecks, /*is_upper=*/true, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceTriu) {
  return KeepTriangle(call, kInplaceTriuChecks, /*is_upper=*/true, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnTril) {
  return KeepTriangle(call, kTrilChecks, /*is_upper=*/false, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnInplaceTril) {
  return KeepTriangle(call, kInplaceTrilChecks, /*is_upper=*/false, workspaceSize, executor);
}
