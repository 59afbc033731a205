// Runs consecutive steps, each by its kind of computing (see indexed.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/steps.h"

#include <algorithm>

namespace portacl::engine {
namespace {

// Whether input and output are one tensor, so that nothing has to be copied.
bool IsCopyOfItself(const Step& step, const JobContext& context) {
  const LoopPlan& plan = step.move.plan;
  const OperandLoop& source = plan.operand[kMoveSource];
  const OperandLoop& destination = plan.operand[kMoveDestination];
  return step.source.Address(context) == step.destination.Address(context) &&
         source.offset == destination.offset && step.move.conversion.KeepsBytes() &&
         std::equal(source.stride, source.stride + plan.rank, destination.stride);
}

}  // namespace

void StepsJob::Run(const JobContext& context) const noexcept {
  const auto* const steps = reinterpret_cast<const Step*>(context.memory + kSharedBytes);
  for (int i = 0; i < count; ++i) {
    const Step& step = steps[i];
    switch (step.kind) {
      case Step::Kind::kMove:
        if (!IsCopyOfItself(step, context))
          step.move.Run(step.source.Address(context), step.destination.Address(context));
        break;
      case Step::Kind::kIndexed:
        step.indexed.Run(context);
        break;
      case Step::Kind::kSumRows:
        SumRows(step, context);
        break;
      case Step::Kind::kDivideRows:
        DivideRows(step, context);
        break;
      case Step::Kind::kFindTrue:
        FindTrue(step, context);
        break;
      case Step::Kind::kPack:
      case Step::Kind::kCoordinates:
      case Step::Kind::kUnpack:
        WriteChosen(step, context);
        break;
      case Step::Kind::kSpread:
        step.spread.Run(context);
        break;
      case Step::Kind::kUnique:
        step.unique.Run(context);
        break;
      case Step::Kind::kSortRows:
        step.rows_to_sort.Run(context);
        break;
      case Step::Kind::kSearch:
        step.search.Run(context);
        break;
      case Step::Kind::kHistogram:
        step.histogram.Run(context);
        break;
      case Step::Kind::kComputation:
        step.compute(step.computation, context);
        break;
    }
  }
}

}  // namespace portacl::engine
