// aclnnNonzero, aclnnNonzeroV2 and aclnnMaskedSelect: coordinates of nonzero elements, and elements where a
// mask is true. Only the work finds their number: phase 2 waits for the work and sets the output's shape.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/nonzero_functions.h"

#include <limits>

#include "aclnnop/jobs/op_list.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kOut };
enum SelectTensors { kSelectSelf, kMask, kSelected };

constexpr DtypeRule kNonzeroDtypes =
    ByGeneration(kRealArithmetic, kRealArithmetic | kBf16, kRealArithmetic | kBf16 | kUnsignedSince16Bits);
constexpr DtypeSet kNonzeroV2Set = kRealArithmetic | kUnsignedSince16Bits;
constexpr DtypeRule kNonzeroV2Dtypes = WithBf16SinceAtlasA2(kNonzeroV2Set);
constexpr DtypeSet kMaskDtypes{ACL_UINT8, ACL_BOOL};

aclnnStatus ExtentsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& self = call.Tensor(kSelf).shape;
  for (int dim = 0; dim < self.rank; ++dim) {
    if (self[dim] <= std::numeric_limits<int32_t>::max()) continue;
    Text message = StartMessage(call);
    AddArgumentShape(message.Add("parameter "), call, kSelf);
    return FailAclnn(check.code, message.Add(" has a dim beyond 2^31 - 1, accepted: dims up to that."));
  }
  return ACL_SUCCESS;
}

constexpr auto Checks(const DtypeRule& rule) {
  return List(NotNull(kSelf), NotNull(kOut),  // in CANN's order
              DtypesIn(rule, {kSelf}), DtypesIn(DtypeSet(ACL_INT64), {kOut}), RankAtMost(8, {kSelf, kOut}),
              Custom(ExtentsFit), SizesRepresentable({kOut}), DoneIfEmpty({kSelf, kOut}),
              InsideStorage({kSelf}));
}
constexpr auto kNonzeroChecks = Checks(kNonzeroDtypes);
constexpr auto kNonzeroV2Checks = Checks(kNonzeroV2Dtypes);

aclnnStatus OneDim(const Check& check, OperatorCall& call) noexcept {
  const aclTensor& out = call.Tensor(kSelected);
  if (out.shape.rank == 1 && out.numel == NumelOf(call.broadcast)) return ACL_SUCCESS;
  int64_t numel = 0;
  call.broadcast.Numel(&numel);
  return RefuseShape(check, call, kSelected, Shape{numel});
}

constexpr Check kSelectChecks[] = {
    NotNull(kSelectSelf),  // in CANN's order
    NotNull(kMask),
    NotNull(kSelected),
    DtypesIn(kNonzeroDtypes, {kSelectSelf}),
    DtypesIn(kMaskDtypes, {kMask}),
    DtypesIn(kNonzeroDtypes, {kSelected}),
    RankAtMost(8, {kSelectSelf, kMask}),
    Broadcasts({kSelectSelf, kMask}),
    SizesRepresentable({kSelected}),
    Custom(OneDim),
    DoneIfEmpty({kSelectSelf, kMask, kSelected}),
    InsideStorage({kSelectSelf, kMask}),
};

// Adds a dense mask of one byte for each element of `shape`: whether the broadcast tensor is not 0 there.
engine::BufferRef AddMask(const StridedView& tensor, int operand, const StridedView& mask, OpList& ops) {
  const engine::BufferRef buffer = ops.Workspace(mask.numel);
  ops.Copy(PlainView(tensor), OperandBuffer(operand), mask, buffer);
  return buffer;
}

aclnnStatus FindNonzero(OperatorCall& call, aclTensor* out, std::span<const Check> checks, bool is_across,
                        uint64_t* workspaceSize, aclOpExecutor** executor) {
  return RunPhase1(call, checks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const StridedView mask = DenseTensor(checked.Tensor(kSelf).shape, ACL_BOOL);
    OpList ops(fresh, 2);
    const engine::BufferRef buffer = AddMask(checked.Tensor(kSelf), kSelf, mask, ops);
    ops.WriteCompacted(mask, buffer, nullptr, {}, out, kOut, is_across);
    ops.SetJob();
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnNonzero) {
  return FindNonzero(call, given.out, kNonzeroChecks, /*is_across=*/false, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnNonzeroV2) {
  return FindNonzero(call, given.out, kNonzeroV2Checks, /*is_across=*/true, workspaceSize, executor);
}

PORTACL_PHASE_1(aclnnMaskedSelect) {
  return RunPhase1(
      call, kSelectChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
        OpList ops(fresh, 3);
        const StridedView where = DenseTensor(checked.broadcast, ACL_BOOL);
        const engine::BufferRef buffer = AddMask(checked.Tensor(kMask), kMask, where, ops);
        StridedView source = PlainView(checked.Tensor(kSelectSelf));
        engine::BufferRef source_buffer = OperandBuffer(kSelectSelf);
        if (source.dtype != given.out->dtype || !IsContiguous(source) ||
            !(source.shape == checked.broadcast)) {
          const StridedView dense = DenseTensor(checked.broadcast, given.out->dtype);
          source_buffer =
              ops.Workspace(dense.numel * static_cast<int64_t>(aclDataTypeSize(given.out->dtype)));
          ops.Copy(source, OperandBuffer(kSelectSelf), dense, source_buffer);
          source = dense;
        }
        ops.WriteCompacted(where, buffer, &source, source_buffer, given.out, kSelected, false);
        ops.SetJob();
      });
}
