// aclnnRopeWithSinCosCache and V2: look up the angles of each token by its position, and rotate the pairs of its heads by them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/attention/rope_with_sin_cos_cache.cc"
#include "base/foreach_target.h"

#include "aclnnop/mapped_view.h"
#include "engine/rowwise/rowwise_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace rope_with_sin_cos_cache {

// Copies the elements that are not rotated.
struct Kept : engine::HWY_NAMESPACE::RowwiseFormula<Kept> {
  static constexpr int kInputs = 1;
  explicit Kept(const void*) {}

  template <class Row>
  HWY_INLINE void operator()(Row& row) const {
    row.template Write<0, 0>([](auto, typename Row::V x) HWY_ATTR { return x; });
  }
};

}  // namespace rope_with_sin_cos_cache
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/attention/rope_with_sin_cos_cache_functions.h"
#include "aclnnop/attention/rotate.h"
#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/stage_list.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl {
namespace {

constexpr auto kKept = PORTACL_ROWWISE_KERNELS(rope_with_sin_cos_cache::Kept);

constexpr aclnnStatus kTiling =
    ACLNN_ERR_INNER_TILING_ERROR;  // CANN's code when a kernel's own checks refuse a call

enum Looked { kPositions, kQueryIn, kKeyIn, kTable, kQueryOut, kKeyOut };
enum LookedAttributes { kSections, kHeadSize, kIsNeox, kTableMode };
constexpr DtypeSet kPositionDtypes{ACL_INT32, ACL_INT64};
constexpr DtypeRule kDtypesOfV1 = ByGeneration(kNoDtype, kFloatHalfAndBf16, kNoDtype);
constexpr int kMostSections = 4;

int64_t HeadSize(const OperatorCall& call) { return call.attributes[kHeadSize].integer; }
int64_t AngleCount(const OperatorCall& call) { return call.Tensor(kTable).shape[1] / 2; }
// Tells whether the columns of the sections alternate.
bool TakesTurns(const OperatorCall& call) noexcept {
  return call.attributes.size() > kTableMode && call.attributes[kTableMode].integer == 1;
}
bool HasTableMode(const OperatorCall& call) noexcept { return call.attributes.size() > kTableMode; }
bool IsV1(const OperatorCall& call) noexcept { return !HasTableMode(call); }
// Returns section k of the array, or 0 if it has none.
int64_t Section(const OperatorCall& call, size_t k) {
  const aclIntArray* const array = call.attributes[kSections].array;
  return array != nullptr && k < array->values.size() ? array->values[k] : 0;
}

aclnnStatus TokensAgree(const Check& check, OperatorCall& call) noexcept {
  const Shape& key = call.Tensor(kKeyIn).shape;
  const Shape accepted{call.Tensor(kQueryIn).shape[0], key[1]};
  return key == accepted ? ACL_SUCCESS : RefuseShape(check, call, kKeyIn, accepted);
}
aclnnStatus HeadSizeIsPositive(const Check& check, OperatorCall& call) noexcept {
  if (HeadSize(call) > 0) return ACL_SUCCESS;
  return FailAclnn(check.code, StartMessage(call)
                                   .Add("parameter headSize has the value ")
                                   .Add(HeadSize(call))
                                   .Add(", accepted: above 0."));
}
aclnnStatus TableFits(const Check& check, OperatorCall& call) noexcept {
  const Shape& table = call.Tensor(kTable).shape;
  if (table[0] > 0 && table[1] > 0 && table[1] % 2 == 0 && table[1] <= HeadSize(call)) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, kTable);
  return FailAclnn(check.code,
                   message.Add(", accepted: rows of an even length of at most headSize, which is ")
                       .Add(HeadSize(call))
                       .Add("."));
}
template <int tensor>
aclnnStatus HasWholeHeads(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(tensor).shape[1] % HeadSize(call) == 0) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentShape(message.Add("parameter "), call, tensor);
  return FailAclnn(
      check.code,
      message.Add(", accepted: rows of a multiple of headSize, which is ").Add(HeadSize(call)).Add("."));
}
aclnnStatus PositionsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& positions = call.Tensor(kPositions).shape;
  const int64_t tokens = call.Tensor(kQueryIn).shape[0];
  const bool is_one = positions.rank == 1 && positions[0] == tokens;
  const bool are_many =
      positions.rank == 2 && positions[1] == tokens && (positions[0] == 3 || positions[0] == 4);
  return is_one || are_many ? ACL_SUCCESS : RefuseShape(check, call, kPositions, Shape{tokens});
}
aclnnStatus SectionsFit(const Check& check, OperatorCall& call) noexcept {
  const Shape& positions = call.Tensor(kPositions).shape;
  const int64_t angles = AngleCount(call);
  const int rows = positions.rank == 1 ? 0 : static_cast<int>(positions[0]);
  bool fits = true;
  int64_t sum = 0;
  for (int k = 0; k < kMostSections; ++k) {
    const int64_t length = Section(call, static_cast<size_t>(k));
    fits = fits && length >= 0 && length <= angles && (length == 0 || k < rows);
    sum += fits ? length : 0;
  }
  if (rows != 0) fits = fits && (TakesTurns(call) ? rows == 3 : sum == angles);
  if (fits) return ACL_SUCCESS;
  Text message = StartMessage(call).Add("parameter mropeSection does not go with ");
  AddArgumentShape(message, call, kPositions);
  return FailAclnn(check.code,
                   message
                       .Add(rows == 0 ? ", accepted: none, or zeros."
                                      : ", accepted: lengths from 0 on, one for each row of positions, ")
                       .Add(rows == 0          ? ""
                            : TakesTurns(call) ? "three rows, none longer than half of a row of cosSinCache."
                                               : "which add up to half of a row of cosSinCache."));
}
aclnnStatus NothingToTurn(const Check&, OperatorCall& call) noexcept {
  if (call.Tensor(kQueryIn).shape.IsEmpty() && call.Tensor(kKeyIn).shape.IsEmpty())
    call.work = OperatorCall::Work::kNothing;
  return ACL_SUCCESS;
}

constexpr auto kLookedChecks =
    Join(List(WithCode(ACLNN_ERR_INNER_NULLPTR, NotNull(kTable)), NotNull(kPositions), NotNull(kQueryIn),
              NotNull(kKeyIn), NotNull(kQueryOut), NotNull(kKeyOut)),
         List(DtypesIn(kPositionDtypes, {kPositions}), If(IsV1, DtypesIn(kDtypesOfV1, {kQueryIn})),
              If(HasTableMode, DtypesIn(kNoneBeforeAtlasA2, {kQueryIn})), SameDtype(kQueryIn, kKeyIn),
              SameDtype(kQueryIn, kTable), SameDtype(kQueryIn, kQueryOut), SameDtype(kQueryIn, kKeyOut),
              RankIs(2, {kQueryIn, kKeyIn, kTable}), Custom(TokensAgree), SameShape(kQueryIn, kQueryOut),
              SameShape(kKeyIn, kKeyOut), Custom(HeadSizeIsPositive)),
         List(If(HasTableMode, WithCode(kTiling, IntegerIn(kTableMode, 0, 1))), Custom(TableFits, kTiling),
              Custom(HasWholeHeads<kQueryIn>, kTiling), Custom(HasWholeHeads<kKeyIn>, kTiling),
              Custom(PositionsFit, kTiling), Custom(SectionsFit, kTiling),
              SizesRepresentable({kQueryOut, kKeyOut}), Custom(NothingToTurn),
              InsideStorage({kPositions, kQueryIn, kKeyIn, kTable})));

// The angles of every `step`-th column from `first` on. One row of positions selects them.
struct AngleColumns {
  int row;
  int64_t first;
  int64_t count;
  int64_t step;
};

void Look(StageList& stages, const OperatorCall& call, const MappedView& angles, int64_t which,
          const AngleColumns& columns) {
  if (columns.count == 0) return;
  MappedView plain = angles;
  Narrow(plain.tensor, 1, columns.first, columns.count, columns.step);
  MappedView table{PlainView(call.Tensor(kTable)), call.OperandOf(kTable)};
  const int64_t rows = table.tensor.shape[0];
  const int64_t of_row = table.tensor.strides[0];
  Narrow(table.tensor, 1, which * AngleCount(call) + columns.first, columns.count, columns.step);
  table.tensor.shape.dim[0] = plain.tensor.shape[0];
  table.tensor.strides.dim[0] = 0;
  StridedView positions = PlainView(call.Tensor(kPositions));
  const int64_t before = positions.shape.rank == 2 ? columns.row * plain.tensor.shape[0] : 0;
  if (positions.shape.rank == 2) Select(positions, 0, columns.row);
  InsertDim(positions, 1, columns.count, 0);
  const engine::IndexView index{.view = &positions,
                                .operand = call.OperandOf(kPositions),
                                .name = call.Name(kPositions),
                                .bound = rows,
                                .step = of_row,
                                .repeated = ~engine::DimBits(0, 1)};
  stages.Indexed(engine::IndexedAction::kTake, plain, table, &index, 1, /*raises=*/true, before);
}

void TurnHeads(StageList& stages, const OperatorCall& call, int from, int to, const MappedView& cos,
               const MappedView& sin) {
  if (call.Tensor(from).shape.IsEmpty()) return;
  const int64_t angles = AngleCount(call);
  const bool is_neox = call.attributes[kIsNeox].integer != 0;
  const auto heads_of = [&](int tensor) {
    StridedView view = PlainView(call.Tensor(tensor));
    SplitDim(view, 1, HeadSize(call));
    return view;
  };
  const auto pairs_of = [&](int tensor, int64_t which) {
    StridedView view = heads_of(tensor);
    Narrow(view, 2, is_neox ? which * angles : which, angles, is_neox ? 1 : 2);
    return view;
  };
  const auto rest_of = [&](int tensor) {
    StridedView view = heads_of(tensor);
    Narrow(view, 2, 2 * angles, HeadSize(call) - 2 * angles);
    return view;
  };
  const StridedView first = pairs_of(from, 0);
  engine::RowwiseJobMaker rows(first.shape, LastAxes(1, first.shape), ACL_FLOAT, call.isa, call.threads);
  for (const int64_t which : {0, 1}) rows.Input(from, pairs_of(from, which));
  for (const MappedView* angle : {&cos, &cos, &sin, &sin}) {
    StridedView view = angle->tensor;
    InsertDim(view, 1, 1, 0);
    rows.Input(angle->operand, view);
  }
  for (const int64_t which : {0, 1}) rows.Output(to, pairs_of(to, which));
  stages.Rows(rows, attention::RotateKernels(), engine::NoParameters());
  const StridedView rest = rest_of(from);
  if (rest.shape.IsEmpty()) return;
  engine::RowwiseJobMaker kept(rest.shape, LastAxes(1, rest.shape), ACL_FLOAT, call.isa, call.threads);
  kept.Input(from, rest);
  kept.Output(to, rest_of(to));
  stages.Rows(kept, kKept, engine::NoParameters());
}

void SetLooked(const OperatorCall& call, Executor& executor) {
  const aclTensor& query = call.Tensor(kQueryIn);
  const int64_t angles = AngleCount(call);
  StageList stages(call, executor, 2 * kMostSections + 4);
  const MappedView cos = stages.Scratch(Shape{query.shape[0], angles}, query.dtype);
  const MappedView sin = stages.Scratch(Shape{query.shape[0], angles}, query.dtype);
  AngleColumns columns[kMostSections];
  int count = 1;
  columns[0] = {0, 0, angles, 1};
  if (call.Tensor(kPositions).shape.rank == 2 && TakesTurns(call)) {
    // Later entries overwrite columns of earlier ones.
    const int64_t end = Section(call, 1) > angles / 3 ? angles : 3 * Section(call, 1);
    for (const int row : {1, 2}) columns[count++] = {row, row, (end - row + 2) / 3, 3};
  } else if (call.Tensor(kPositions).shape.rank == 2) {
    int64_t first = 0;
    for (count = 0; count < kMostSections; ++count) {
      columns[count] = {count, first, Section(call, static_cast<size_t>(count)), 1};
      first += columns[count].count;
    }
  }
  for (int k = 0; k < count; ++k) {
    Look(stages, call, cos, 0, columns[k]);
    Look(stages, call, sin, 1, columns[k]);
  }
  TurnHeads(stages, call, kQueryIn, kQueryOut, cos, sin);
  TurnHeads(stages, call, kKeyIn, kKeyOut, cos, sin);
  stages.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRopeWithSinCosCache) {
  return RunPhase1(call, kLookedChecks, workspaceSize, executor, SetLooked);
}

PORTACL_PHASE_1(aclnnRopeWithSinCosCacheV2) {
  return RunPhase1(call, kLookedChecks, workspaceSize, executor, SetLooked);
}

#endif  // HWY_ONCE
