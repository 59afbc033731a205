// aclnnAttentionUpdate, aclnnRingAttentionUpdate and its V2: combine results of attention over parts of the
// keys into the result over all keys.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/attention/attention_update_functions.h"

#include <string_view>

#include "aclnnop/jobs/heads.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/attention/merge.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace attention;

constexpr int64_t kMostDepth = 512;
constexpr int64_t kDepthStep = 8;

// ---- aclnnAttentionUpdate: combines by logarithms of sums ----

enum Tensors { kLse, kLocalOut, kOut, kLseOut };

bool WantsLse(const OperatorCall& call) noexcept { return call.attributes[0].integer == 1; }

aclnnStatus TypeFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t type = call.attributes[0].integer;
  if (type < 0 || type > 1) return RefuseAttribute(check, call, 0, "0 without lseOut, 1 with it");
  if (call.IsGiven(kLseOut) == (type == 1)) return ACL_SUCCESS;
  return RefuseAttribute(check, call, 0, type == 1 ? "0 where lseOut is null" : "1 where lseOut is given");
}

aclnnStatus ListsGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int list : {kLse, kLocalOut}) {
    if (call.tensors[static_cast<size_t>(list)].list != nullptr) continue;
    return FailAclnn(check.code, StartMessage(call)
                                     .Add("parameter ")
                                     .Add(call.Name(list))
                                     .Add(" is a null pointer, expected tensors."));
  }
  return ACL_SUCCESS;
}

aclnnStatus PartsFit(const Check& check, OperatorCall& call) noexcept {
  const int count = call.Count(kLse);
  if (count >= 1 && count <= engine::kMostMergedParts && call.Count(kLocalOut) == count) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter lse has ")
                                   .Add(count)
                                   .Add(" tensors and localOut ")
                                   .Add(call.Count(kLocalOut))
                                   .Add(", accepted: 1 to 16 each, as many."));
}

aclnnStatus DtypesFit(const Check& check, OperatorCall& call) noexcept {
  const auto refuse = [&](int tensor, int entry, const char* accepted) {
    Text message = StartMessage(call);
    AddArgumentDtype(message.Add("parameter "), call, tensor, entry);
    return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add("."));
  };
  for (int entry = 0; entry < call.Count(kLse); ++entry) {
    if (call.Entry(kLse, entry)->dtype != ACL_FLOAT) return refuse(kLse, entry, "FLOAT");
  }
  const aclDataType dtype = call.Entry(kLocalOut, 0)->dtype;
  for (int entry = 0; entry < call.Count(kLocalOut); ++entry) {
    const aclDataType own = call.Entry(kLocalOut, entry)->dtype;
    if (!kFloatHalfAndBf16.Contains(own) || own != dtype)
      return refuse(kLocalOut, entry, "FLOAT, FLOAT16 or BF16, one for all");
  }
  if (call.Tensor(kOut).dtype != dtype) return refuse(kOut, 0, "that of localOut");
  if (WantsLse(call) && call.Tensor(kLseOut).dtype != ACL_FLOAT) return refuse(kLseOut, 0, "FLOAT");
  return ACL_SUCCESS;
}

aclnnStatus EntriesGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int list : {kLse, kLocalOut}) {
    for (int entry = 0; entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry) != nullptr) continue;
      Text message = StartMessage(call).Add("parameter ");
      AddArgument(message, call, list, entry);
      return FailAclnn(check.code, message.Add(" is a null pointer, expected a tensor."));
    }
  }
  return ACL_SUCCESS;
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape rows = call.Entry(kLse, 0)->shape;
  const Shape all = call.Entry(kLocalOut, 0)->shape;
  if (rows.rank != 1) return RefuseTensor(check, call, kLse, "[M]");
  if (all.rank != 2 || all[0] != rows[0] || all[1] % kDepthStep != 0 || all[1] > kMostDepth)
    return RefuseTensor(check, call, kLocalOut, "[M, D], D a multiple of 8 of at most 512");
  for (int entry = 1; entry < call.Count(kLse); ++entry) {
    if (call.Entry(kLse, entry)->shape != rows)
      return RefuseTensor(check, call, kLse, "the first one's", entry);
    if (call.Entry(kLocalOut, entry)->shape != all)
      return RefuseTensor(check, call, kLocalOut, "the first one's", entry);
  }
  if (call.Tensor(kOut).shape != all) return RefuseShape(check, call, kOut, all);
  if (WantsLse(call) && call.Tensor(kLseOut).shape != rows) return RefuseShape(check, call, kLseOut, rows);
  return ACL_SUCCESS;
}

aclnnStatus EmptyDone(const Check&, OperatorCall& call) noexcept {
  if (call.Entry(kLse, 0)->numel == 0 || call.Entry(kLocalOut, 0)->numel == 0)
    call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr DtypeRule kDtypes = kNoneBeforeAtlasA2;

aclnnStatus IsOnProduct(const Check& check, OperatorCall& call) noexcept {
  const Check given = WithCode(check.code, DtypesIn(kDtypes, {kOut}));
  return given.run(given, call);
}

constexpr Check kChecks[] = {
    Custom(TypeFits),
    Custom(ListsGiven, ACLNN_ERR_PARAM_NULLPTR),
    NotNull(kOut),
    Custom(PartsFit),
    Custom(EntriesGiven, ACLNN_ERR_PARAM_NULLPTR),
    Custom(IsOnProduct),
    Custom(DtypesFit),
    Custom(EmptyDone),
    Custom(ShapesFit),
    SizesRepresentable({kOut, kLseOut}),
    InsideStorage({kLse}),
    InsideStorage({kLocalOut}),
};

engine::AttentionOperand RowOf(const StridedView& tensor, int operand) {
  engine::AttentionOperand made = Broadcast(tensor, operand);
  if (tensor.shape.rank > 1) return made;
  made.row = made.column;
  made.column = 0;
  return made;
}

void SetMerge(const OperatorCall& call, Executor& executor) {
  const int count = call.Count(kLse);
  engine::MergedPart* const parts = engine::ReserveMergedParts(executor, count);
  if (parts == nullptr) return;
  for (int i = 0; i < count; ++i) {
    parts[i] = {RowOf(*call.Entry(kLocalOut, i), call.OperandOf(kLocalOut, i)),
                RowOf(*call.Entry(kLse, i), call.OperandOf(kLse, i)),
                {}};
  }
  engine::AttentionMerge merge{};
  merge.batches = merge.heads = 1;
  merge.rows = call.Tensor(kOut).shape[0];
  merge.depth = call.Tensor(kOut).shape[1];
  merge.parts = count;
  merge.copies = 1;
  merge.result.out = RowOf(call.Tensor(kOut), call.OperandOf(kOut));
  if (WantsLse(call)) merge.result.greatest = RowOf(call.Tensor(kLseOut), call.OperandOf(kLseOut));
  const int left_out = WantsLse(call) ? -1 : call.OperandOf(kLseOut);
  executor.SetJob([&] { return engine::MakeAttentionMergeJob(merge, left_out, call.isa, call.threads); });
}

// ---- aclnnRingAttentionUpdate: combines by maxima and sums ----

enum RingTensors {
  kPrevious,
  kPreviousMax,
  kPreviousSum,
  kCurrent,
  kCurrentMax,
  kCurrentSum,
  kSequences,
  kRingOut,
  kMaxOut,
  kSumOut
};
enum RingAttributes { kLayout, kStatisticLayout };

std::string_view TextOf(const OperatorCall& call, int attribute, std::string_view otherwise) {
  const char* const text = call.attributes[static_cast<size_t>(attribute)].text;
  return text == nullptr ? otherwise : text;
}
Layout RingLayout(const OperatorCall& call) { return LayoutOf(TextOf(call, kLayout, "SBH")); }

aclnnStatus RingLayoutFits(const Check& check, OperatorCall& call) noexcept {
  const Layout layout = RingLayout(call);
  if (layout != Layout::kSbh && layout != Layout::kTnd)
    return RefuseAttribute(check, call, kLayout, "SBH, TND or null");
  const std::string_view statistics = TextOf(call, kStatisticLayout, "");
  if (layout == Layout::kTnd ? statistics == "TND" : statistics.empty() || statistics == "SBH")
    return ACL_SUCCESS;
  return RefuseAttribute(check, call, kStatisticLayout, "TND in TND; SBH, an empty text or null in SBH");
}

// Refuses statistics that are packed by sequence: lengths on the device would determine their positions,
// which is not supported.
aclnnStatus StatisticsLieAsRows(const Check& check, OperatorCall& call) noexcept {
  if (RingLayout(call) != Layout::kTnd || !TextOf(call, kStatisticLayout, "").empty()) return ACL_SUCCESS;
  return FailAclnn(
      check.code,
      StartMessage(call).Add("parameter inputSoftmaxLayout is empty or not there, accepted in TND: TND. "
                             "portacl does not compute with statistics of sequences one by one."));
}

aclnnStatus RingShapesFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& out = call.Tensor(kPrevious).shape;
  const Shape& numbers = call.Tensor(kPreviousMax).shape;
  const bool is_packed = RingLayout(call) == Layout::kTnd;
  if (out.rank != 3) return RefuseTensor(check, call, kPrevious, "3 dims");
  const bool fits = is_packed
                        ? numbers == Shape{out[0], out[1], kStatisticCopies}
                        : numbers.rank == 4 && numbers[0] == out[1] && numbers[2] == out[0] &&
                              numbers[1] > 0 && out[2] % numbers[1] == 0 && numbers[3] == kStatisticCopies;
  if (!fits) return RefuseTensor(check, call, kPreviousMax, "[B, N, S, 8] of [S, B, H], [T, N, 8] in TND");
  for (const int tensor : {kCurrent, kRingOut}) {
    if (call.Tensor(tensor).shape != out) return RefuseShape(check, call, tensor, out);
  }
  for (const int tensor : {kPreviousSum, kCurrentMax, kCurrentSum, kMaxOut, kSumOut}) {
    if (call.Tensor(tensor).shape != numbers) return RefuseShape(check, call, tensor, numbers);
  }
  return ACL_SUCCESS;
}

constexpr DtypeRule kStatistics = Everywhere(DtypeSet(ACL_FLOAT));
constexpr auto kRingChecks = List(
    NotNull(kPrevious), NotNull(kPreviousMax), NotNull(kPreviousSum), NotNull(kCurrent), NotNull(kCurrentMax),
    NotNull(kCurrentSum), NotNull(kRingOut), NotNull(kMaxOut), NotNull(kSumOut),
    DtypesIn(kDtypes, {kPrevious}), SameDtype(kPrevious, kCurrent), SameDtype(kPrevious, kRingOut),
    DtypesIn(kStatistics, {kPreviousMax, kPreviousSum, kCurrentMax}),
    DtypesIn(kStatistics, {kCurrentSum, kMaxOut, kSumOut}),
    Custom(StatisticsLieAsRows, ACLNN_ERR_INNER_NULLPTR), Custom(RingLayoutFits, kTiling),
    Custom(RingShapesFit, kTiling), DoneIfEmpty({kPrevious}),
    SizesRepresentable({kRingOut, kMaxOut, kSumOut}), InsideStorage({kPrevious, kPreviousMax, kPreviousSum}),
    InsideStorage({kCurrent, kCurrentMax, kCurrentSum}));

void SetRing(const OperatorCall& call, Executor& executor) {
  engine::MergedPart* const parts = engine::ReserveMergedParts(executor, 2);
  if (parts == nullptr) return;
  const Layout layout = RingLayout(call);
  const bool is_packed = layout == Layout::kTnd;
  const int64_t heads = is_packed ? 0 : call.Tensor(kPreviousMax).shape[1];
  const auto rows = [&](int tensor) {
    return HeadsOf(call.Tensor(tensor), call.OperandOf(tensor), layout, heads);
  };
  const auto numbers = [&](int tensor) {
    return HeadsOf(call.Tensor(tensor), call.OperandOf(tensor), is_packed ? layout : Layout::kBnsd, 0)
        .operand;
  };
  parts[0] = {rows(kPrevious).operand, numbers(kPreviousMax), numbers(kPreviousSum)};
  parts[1] = {rows(kCurrent).operand, numbers(kCurrentMax), numbers(kCurrentSum)};
  const Heads out = rows(kRingOut);
  engine::AttentionMerge merge{};
  merge.batches = out.batches;
  merge.heads = out.heads;
  merge.rows = out.rows;
  merge.depth = out.depth;
  merge.parts = 2;
  merge.copies = kStatisticCopies;
  merge.result = {out.operand, numbers(kMaxOut), numbers(kSumOut)};
  executor.SetJob([&] {
    return engine::MakeAttentionMergeJob(merge, call.OperandOf(kSequences), call.isa, call.threads);
  });
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAttentionUpdate) { return RunPhase1(call, kChecks, workspaceSize, executor, SetMerge); }

PORTACL_PHASE_1(aclnnRingAttentionUpdate) {
  return RunPhase1(call, kRingChecks, workspaceSize, executor, SetRing);
}

PORTACL_PHASE_1(aclnnRingAttentionUpdateV2) {
  return RunPhase1(call, kRingChecks, workspaceSize, executor, SetRing);
}
