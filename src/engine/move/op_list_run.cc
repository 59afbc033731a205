// Runs the ops of a list one after the other, each by its kind of computing (see indexed.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/op_list_run.h"

#include <algorithm>

namespace portacl::engine {
namespace {

// Tells whether input and output are one tensor, so that nothing has to be copied.
bool IsCopyOfItself(const ListedOp& op, const JobContext& context) {
  const LoopPlan& plan = op.move.plan;
  const OperandLoop& source = plan.operand[kMoveSource];
  const OperandLoop& destination = plan.operand[kMoveDestination];
  return op.source.Address(context) == op.destination.Address(context) &&
         source.offset == destination.offset && op.move.conversion.KeepsBytes() &&
         std::equal(source.stride, source.stride + plan.rank, destination.stride);
}

}  // namespace

void OpListJob::Run(const JobContext& context) const noexcept {
  const auto* const ops = reinterpret_cast<const ListedOp*>(context.memory + kSharedValueBytes);
  for (int i = 0; i < count; ++i) {
    const ListedOp& op = ops[i];
    switch (op.kind) {
      case ListedOp::Kind::kMove:
        if (!IsCopyOfItself(op, context))
          op.move.Run(op.source.Address(context), op.destination.Address(context));
        break;
      case ListedOp::Kind::kIndexed:
        op.indexed.Run(context);
        break;
      case ListedOp::Kind::kSumRows:
        SumRows(op, context);
        break;
      case ListedOp::Kind::kDivideRows:
        DivideRows(op, context);
        break;
      case ListedOp::Kind::kFindTrue:
        FindTrue(op, context);
        break;
      case ListedOp::Kind::kPack:
      case ListedOp::Kind::kCoordinates:
      case ListedOp::Kind::kUnpack:
        WriteCompacted(op, context);
        break;
      case ListedOp::Kind::kRepeatInterleave:
        op.interleave.Run(context);
        break;
      case ListedOp::Kind::kUnique:
        op.unique.Run(context);
        break;
      case ListedOp::Kind::kSortRows:
        op.sort_rows.Run(context);
        break;
      case ListedOp::Kind::kSearch:
        op.search.Run(context);
        break;
      case ListedOp::Kind::kHistogram:
        op.histogram.Run(context);
        break;
      case ListedOp::Kind::kComputation:
        op.compute(op.computation, context);
        if (context.ranks != nullptr && context.ranks->HasFailed()) return;
        break;
    }
  }
}

}  // namespace portacl::engine
