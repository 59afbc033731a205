// aclnnEmbeddingBag: sums, means or maxima of the rows of a table that bags of indices name.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/indexing/embedding_bag_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/route/bags.h"

namespace portacl {
namespace {

using dense::DenseOpList;
using dense::ShapeChecks;

enum Tensors { kWeight, kIndices, kOffsets, kFactors, kOutput, kBagOf, kBagSize, kMostOf };
enum Attributes { kScalesGradient, kMode, kIsSparse, kIncludesLast, kPadding };
enum Modes { kSum, kMean };

constexpr DtypeRule kDtypes = kBf16SinceAtlasA2;
constexpr DtypeSet kWholes = kIntegers;
constexpr DtypeSet kIndexTypes{ACL_INT32, ACL_INT64};

bool IsOnAscend950(const OperatorCall& call) noexcept { return call.product == Product::kAscend950; }
bool IsMost(const OperatorCall& call) {
  const int64_t mode = dense::Integer(call, kMode);
  return mode != kSum && mode != kMean;
}
int64_t BagsOf(const OperatorCall& call) {
  return call.Tensor(kOffsets).shape[0] - (dense::Integer(call, kIncludesLast) != 0 ? 1 : 0);
}
bool WantsBagOf(const OperatorCall& call) { return !call.Tensor(kBagOf).shape.IsEmpty(); }

aclnnStatus OneIsAnIndexType(const Check& check, OperatorCall& call) noexcept {
  if (kIndexTypes.Contains(call.Tensor(kIndices).dtype) || kIndexTypes.Contains(call.Tensor(kOffsets).dtype))
    return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameters "), call, kIndices);
  AddArgumentDtype(message.Add(" and "), call, kOffsets);
  return FailAclnn(check.code,
                   message.Add(" are both narrow, accepted: DT_INT32 or DT_INT64 for one of them."));
}

aclnnStatus Fits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kWeight, 2, 2).Rank(kIndices, 0, IsOnAscend950(call) ? 2 : 1).Rank(kOffsets, 1, 1);
  checks.Rank(kOutput, 2, 2);
  if (!checks.Passed()) return checks.status();
  const int64_t bags = BagsOf(call);
  const int64_t entries = call.Tensor(kIndices).numel;
  const int64_t columns = call.Tensor(kWeight).shape[1];
  checks.Holds(bags >= 0, kOffsets, "at least one offset with includeLastOffset")
      .Is(kOutput, Shape{bags, columns});
  if (WantsBagOf(call)) checks.Is(kBagOf, Shape{entries});
  checks.Is(kBagSize, Shape{IsOnAscend950(call) ? call.Tensor(kOffsets).shape[0] : bags});
  if (IsMost(call)) {
    checks.Is(kMostOf, Shape{bags, columns});
  } else if (!IsOnAscend950(call)) {
    checks.Is(kMostOf, Shape{bags});
  }
  if (!call.IsGiven(kFactors)) return checks.status();
  checks.Is(kFactors, Shape{entries});
  if (!IsOnAscend950(call))
    checks.Holds(dense::Integer(call, kMode) == kSum, kFactors, "null where mode is not 0");
  return checks.status();
}

constexpr auto kChecks =
    Join(List(NotNull(kWeight), NotNull(kIndices), NotNull(kOffsets), NotNull(kOutput), NotNull(kBagOf),
              NotNull(kBagSize), NotNull(kMostOf), DtypesIn(kDtypes, {kWeight}),
              DtypesIn(kWholes, {kIndices, kOffsets}), Custom(OneIsAnIndexType), SameDtype(kWeight, kOutput),
              DtypesIn(kIndexTypes, {kBagOf, kBagSize, kMostOf}),
              dense::IfGiven<kFactors>(SameDtype(kWeight, kFactors))),
         List(Custom(Fits), SizesRepresentable({kOutput, kBagOf, kBagSize, kMostOf}),
              DoneIfEmpty({kWeight, kIndices, kOffsets}), InsideStorage({kWeight, kIndices, kOffsets}),
              dense::IfGiven<kFactors>(InsideStorage({kFactors}))));

// Ascend 950 has a size for each offset, the one after the last bag included: it is 0.
void SetBags(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const int64_t mode = dense::Integer(call, kMode);
  engine::ReduceBags bags{};
  bags.mode = mode == kSum    ? engine::ReduceBags::Mode::kSum
              : mode == kMean ? engine::ReduceBags::Mode::kMean
                              : engine::ReduceBags::Mode::kMost;
  bags.source = ops.Rows(kWeight);
  bags.factor = ops.RowsIfGiven(kFactors);
  bags.index = ops.In(kIndices, ACL_INT64);
  bags.offset = ops.In(kOffsets, ACL_INT64);
  bags.to = ops.RowsOut(kOutput);
  if (WantsBagOf(call)) bags.bag = {ops.Out(kBagOf, ACL_INT64), true};
  bags.count = {ops.Out(kBagSize, ACL_INT64), true};
  bags.clears_behind = call.Tensor(kBagSize).numel - BagsOf(call);
  if (IsMost(call)) {
    bags.most = {ops.Out(kMostOf, ACL_INT64), true};
  } else if (!call.Tensor(kMostOf).shape.IsEmpty()) {
    bags.none = {ops.Out(kMostOf, ACL_INT64), true};
    bags.none_words = call.Tensor(kMostOf).numel;
  }
  bags.bags = BagsOf(call);
  bags.offsets = call.Tensor(kOffsets).shape[0];
  bags.entries = call.Tensor(kIndices).numel;
  bags.columns = call.Tensor(kWeight).shape[1];
  bags.source_rows = call.Tensor(kWeight).shape[0];
  bags.skipped = dense::Integer(call, kPadding);
  bags.index_name = call.Name(kIndices);
  bags.offset_name = call.Name(kOffsets);
  bags.raises = ops.Raises();
  bags.threads = ops.threads();
  const auto buffer_or_source = [&](const engine::OptionalBuffer& buffer) {
    return buffer.is_there ? buffer.buffer : bags.source.buffer;
  };
  ops.Compute(bags,
              {bags.source.buffer, bags.factor.is_there ? bags.factor.buffer : bags.source.buffer, bags.index,
               bags.offset, bags.to.buffer, buffer_or_source(bags.bag), bags.count.buffer,
               buffer_or_source(bags.most), buffer_or_source(bags.none)},
              bags.entries * bags.columns);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnEmbeddingBag) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetBags);
}
