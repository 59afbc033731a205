// aclnnAlltoAllAllGatherBatchMatMul and aclnnBatchMatMulReduceScatterAlltoAll: products of experts between exchanges over
// two communicators, of ranks that divide the experts and of ranks that divide each expert.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/batch_all_to_all_functions.h"

#include <cstring>
#include <new>
#include <vector>

#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/exchanges.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/matrix_product.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::IfGiven;
using dense::Integer;
using dense::ShapeChecks;
using engine::BufferRef;
using engine::GroupedPart;
using engine::GroupedRows;

// aclnnBatchMatMulReduceScatterAlltoAll has one output.
enum Tensors { kX, kWeight, kBias, kOut, kGathered, kProduct };
enum Attributes { kGroup, kTpGroup, kRanks, kTpRanks, kShardType, kActivation };
enum Activation : int64_t { kNone, kGelu, kSilu, kRelu, kFastGelu };

constexpr int kTp = 1;  // the second communicator of the job
constexpr size_t kMostName = 127;

bool Has(const OperatorCall& call, int tensor) noexcept {
  return std::ssize(call.tensors) > tensor && call.IsGiven(tensor);
}
bool HasGathered(const OperatorCall& call) noexcept { return Has(call, kGathered); }
bool HasProduct(const OperatorCall& call) noexcept { return Has(call, kProduct); }

// The lengths of both operators. The ranks of the second communicator divide `rows`, or the columns.
struct Lengths {
  int64_t ranks, tp;
  int64_t experts;  // here
  int64_t rows;     // of each expert and rank
  int64_t terms, columns;
  bool divides_rows;

  int64_t OwnRows() const { return divides_rows ? rows / tp : rows; }
  int64_t Own(int64_t width) const { return divides_rows ? width : width / tp; }
};
Lengths LengthsOf(const OperatorCall& call) noexcept {
  Lengths lengths{};
  lengths.ranks = Integer(call, kRanks);
  lengths.tp = Integer(call, kTpRanks);
  lengths.divides_rows = Integer(call, kShardType) == 1;
  const Shape& weight = call.Tensor(kWeight).shape;
  lengths.experts = weight[0];
  lengths.terms = weight[1];
  lengths.columns = weight[2];
  return lengths;
}

// ---- checks ----

aclnnStatus NamesAreGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int attribute : {kGroup, kTpGroup}) {
    if (*call.attributes[static_cast<size_t>(attribute)].text == '\0')
      return attention::RefuseAttribute(check, call, attribute, "a name that is not empty");
  }
  return ACL_SUCCESS;
}
aclnnStatus NamesAreShort(const Check& check, OperatorCall& call) noexcept {
  for (const int attribute : {kGroup, kTpGroup}) {
    if (std::strlen(call.attributes[static_cast<size_t>(attribute)].text) > kMostName)
      return attention::RefuseAttribute(check, call, attribute, "a name of at most 127 characters");
  }
  return ACL_SUCCESS;
}
aclnnStatus BiasFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const aclDataType accepted = call.Tensor(kX).dtype == ACL_BF16 ? ACL_FLOAT : ACL_FLOAT16;
  return checks.Holds(call.Tensor(kBias).dtype == accepted, kBias, "the type FLOAT16, and beside BF16 FLOAT")
      .status();
}

// Checks the numbers of ranks and the ranks of tensors.
void CheckNumbers(ShapeChecks& checks, const OperatorCall& call) {
  checks.Integer(kShardType, 0, 1);
  checks.HoldsOf(Integer(call, kRanks) == exchanges::RanksOf(call, kGroup), kRanks,
                 "the number of ranks of groupEp");
  checks.HoldsOf(Integer(call, kTpRanks) == exchanges::RanksOf(call, kTpGroup), kTpRanks,
                 "the number of ranks of groupTp");
  checks.Rank(kX, 3, 3).Rank(kWeight, 3, 3);
  if (checks.Passed())
    checks.Holds(!call.Tensor(kX).shape.IsEmpty(), kX, "at least one element")
        .Holds(!call.Tensor(kWeight).shape.IsEmpty(), kWeight, "at least one element");
}
void CheckBias(ShapeChecks& checks, const OperatorCall& call, int64_t experts, int64_t columns) {
  if (!call.IsGiven(kBias)) return;
  const Shape& bias = call.Tensor(kBias).shape;
  checks.Holds(bias == Shape{experts, columns} || bias == Shape{experts, 1, columns}, kBias,
               "a row for each own expert");
}

aclnnStatus GatheredFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  CheckNumbers(checks, call);
  checks.Integer(kActivation, kNone, kFastGelu);
  checks.Holds(!HasProduct(call) || Integer(call, kActivation) != kNone, kProduct,
               "null without an activation");
  if (!checks.Passed()) return checks.status();
  Lengths lengths = LengthsOf(call);
  const Shape& x = call.Tensor(kX).shape;
  int64_t experts = 0;
  int64_t width = 0;
  int64_t rows = 0;
  checks.Holds(!__builtin_mul_overflow(lengths.experts, lengths.ranks, &experts) && x[0] == experts, kX,
               "the own experts times the ranks as the first dim");
  checks.Holds(
      !__builtin_mul_overflow(x[2], lengths.divides_rows ? 1 : lengths.tp, &width) && width == lengths.terms,
      kX, "columns that are together the rows of weight");
  checks.Holds(!__builtin_mul_overflow(x[1], lengths.divides_rows ? lengths.tp : 1, &rows) &&
                   !__builtin_mul_overflow(rows, lengths.ranks, &rows),
               kX, "fewer rows");
  if (!checks.Passed()) return checks.status();
  const Shape result{lengths.experts, rows, lengths.columns};
  checks.Is(kOut, result);
  if (HasGathered(call)) checks.Is(kGathered, Shape{lengths.experts, rows, lengths.terms});
  if (HasProduct(call)) checks.Is(kProduct, result);
  CheckBias(checks, call, lengths.experts, lengths.columns);
  return checks.status();
}

aclnnStatus ScatteredFits(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  CheckNumbers(checks, call);
  if (!checks.Passed()) return checks.status();
  Lengths lengths = LengthsOf(call);
  const Shape& x = call.Tensor(kX).shape;
  checks.Holds(x[0] == lengths.experts && x[2] == lengths.terms, kX, "weight's experts and rows");
  checks.Holds(x[1] % lengths.ranks == 0, kX, "a multiple of the ranks as rows");
  lengths.rows = x[1] / lengths.ranks;
  if (lengths.divides_rows) {
    checks.Holds(lengths.rows % lengths.tp == 0, kX, "a multiple of the ranks of both groups as rows");
  } else {
    checks.Holds(lengths.columns % lengths.tp == 0, kWeight, "a multiple of the ranks of groupTp as columns");
  }
  int64_t experts = 0;
  checks.Holds(!__builtin_mul_overflow(lengths.experts, lengths.ranks, &experts), kWeight, "fewer experts");
  if (!checks.Passed()) return checks.status();
  checks.Is(kOut, Shape{experts, lengths.OwnRows(), lengths.Own(lengths.columns)});
  CheckBias(checks, call, lengths.experts, lengths.Own(lengths.columns));
  return checks.status();
}

template <aclnnStatus (*kFits)(const Check& check, OperatorCall& call) noexcept>
constexpr auto Checks() {
  return Join(
      List(NotNull(kX), NotNull(kWeight), NotNull(kOut), exchanges::GroupGiven(kGroup),
           exchanges::GroupGiven(kTpGroup), Custom(NamesAreGiven, ACLNN_ERR_PARAM_NULLPTR),
           Custom(NamesAreShort)),
      List(DtypesIn(kHalvesSinceAtlasA2, {kX}), SameDtype(kX, kWeight), SameDtype(kX, kOut),
           If(HasGathered, SameDtype(kX, kGathered)), If(HasProduct, SameDtype(kX, kProduct)),
           IfGiven<kBias>(Custom(BiasFits)), exchanges::GroupKnown(kGroup), exchanges::GroupKnown(kTpGroup)),
      List(SizesRepresentable({kX, kWeight, kOut}), Custom(kFits), matmul::FractalInsideStorage({kWeight}),
           matmul::MatricesInsideStorage({kX, kWeight}), IfGiven<kBias>(InsideStorage({kBias}))));
}
constexpr auto kGatheredChecks = Checks<GatheredFits>();
constexpr auto kScatteredChecks = Checks<ScatteredFits>();

// ---- the jobs ----

// A view of dense elements of five dims in another order.
StridedView Turned(const Shape& shape, const int (&order)[5], aclDataType dtype) {
  StridedView view = PlainView(DenseTensor(shape, dtype));
  Permute(view, order);
  return view;
}

// Returns the products of this rank's experts. The caller sets the operands that have rows.
GroupedPart PartOf(const OperatorCall& call, const Lengths& lengths) {
  GroupedPart part{};
  part.rows = lengths.experts * lengths.ranks * lengths.rows;
  part.depth = lengths.terms;
  part.columns = lengths.columns;
  part.right = grouped::OperandOf(call, kWeight, 0, true, true);
  return part;
}
engine::GroupedOperand BiasOf(const OperatorCall& call) {
  const bool has_rows = call.Tensor(kBias).shape.rank == 3;
  engine::GroupedOperand bias = grouped::OperandOf(call, kBias, 0, has_rows, true);
  bias.row = 0;
  return bias;
}

exchanges::EqualParts BlocksOf(BufferRef from, BufferRef to, int64_t ranks, int64_t bytes) {
  exchanges::EqualParts blocks{};
  blocks.send = from;
  blocks.receive = to;
  blocks.ranks = ranks;
  blocks.give = blocks.give_step = blocks.take = blocks.take_step = bytes;
  return blocks;
}

void AddActivated(const OperatorCall& call, DenseOpList& ops, const GroupedPart& part, BufferRef covered) {
  constexpr GroupedRows::Function kFunctions[] = {
      GroupedRows::Function::kNone, GroupedRows::Function::kGeluTanh, GroupedRows::Function::kSilu,
      GroupedRows::Function::kRelu, GroupedRows::Function::kFastGelu};
  const aclDataType dtype = call.Tensor(kX).dtype;
  // The product itself is written before its sums are activated in place.
  for (const int tensor : {kProduct, kOut}) {
    if (tensor == kProduct && !HasProduct(call)) continue;
    GroupedRows rows{};
    rows.function = tensor == kOut ? kFunctions[Integer(call, kActivation)] : GroupedRows::Function::kNone;
    rows.rows = part.rows;
    rows.columns = part.columns;
    rows.sums = part.out.buffer;
    rows.covered = covered;
    rows.out = DenseRows(ops.Out(tensor), dtype, part.columns);
    rows.threads = call.threads;
    SetFunction(rows, call.isa);
    ops.Compute(rows, {rows.out.buffer}, part.rows * part.columns);
  }
}

void AddGathered(const OperatorCall& call, Executor& executor) {
  Lengths lengths = LengthsOf(call);
  const aclTensor& x = call.Tensor(kX);
  lengths.rows = x.shape[1] * (lengths.divides_rows ? lengths.tp : 1);
  const std::vector<int64_t> sizes(static_cast<size_t>(lengths.experts), lengths.ranks * lengths.rows);
  DenseOpList ops(call, executor, &sizes);
  const int64_t bytes = x.numel * dense::SizeOf(call, kX);
  const BufferRef exchanged = ops.Bytes(bytes);
  exchanges::Add(ops, BlocksOf(ops.In(kX), exchanged, lengths.ranks, bytes / lengths.ranks));
  exchanges::EqualParts every = BlocksOf(exchanged, ops.Bytes(lengths.tp * bytes), lengths.tp, bytes);
  every.give_step = 0;
  every.group = kTp;
  exchanges::Add(ops, every);
  GroupedPart part = PartOf(call, lengths);
  const BufferRef gathered =
      HasGathered(call) ? ops.Out(kGathered) : ops.Bytes(part.rows * part.depth * dense::SizeOf(call, kX));
  const Shape came{lengths.tp, lengths.ranks, lengths.experts, lengths.OwnRows(), lengths.Own(lengths.terms)};
  // Reorders to (expert, rank, row, column). The ranks of the second communicator hold consecutive rows or columns.
  constexpr int kRowsInTurn[] = {2, 1, 0, 3, 4};
  constexpr int kColumnsInTurn[] = {2, 1, 3, 0, 4};
  const StridedView from = Turned(came, lengths.divides_rows ? kRowsInTurn : kColumnsInTurn, x.dtype);
  ops.Copy(from, every.receive, DenseTensor(from.shape, x.dtype), gathered);
  if (call.IsGiven(kBias)) part.added = BiasOf(call);
  part.left = DenseRows(gathered, x.dtype, part.depth);
  const bool is_activated = Integer(call, kActivation) != kNone;
  part.out = is_activated ? DenseRows(ops.Floats(part.rows * part.columns), ACL_FLOAT, part.columns)
                          : DenseRows(ops.Out(kOut), x.dtype, part.columns);
  const BufferRef covered = MultiplyGroups(ops, part, lengths.experts, ops.Array());
  if (is_activated) AddActivated(call, ops, part, covered);
  ops.SetJob();
}

void AddScattered(const OperatorCall& call, Executor& executor) {
  Lengths lengths = LengthsOf(call);
  const aclTensor& x = call.Tensor(kX);
  lengths.rows = x.shape[1] / lengths.ranks;
  const std::vector<int64_t> sizes(static_cast<size_t>(lengths.experts), x.shape[1]);
  DenseOpList ops(call, executor, &sizes);
  const int64_t size = dense::SizeOf(call, kX);
  GroupedPart part = PartOf(call, lengths);
  const int64_t count = part.rows * part.columns;
  part.left = LeftOf(call, ops, kX);
  part.out = DenseRows(ops.Bytes(count * size), x.dtype, part.columns);
  MultiplyGroups(ops, part, lengths.experts, ops.Array());
  // Reorders to (rank of the second communicator, rank, expert, row, column).
  const int64_t own = count / lengths.tp;
  const BufferRef parts = ops.Bytes(count * size);
  const bool divides_rows = lengths.divides_rows;
  const Shape made =
      divides_rows
          ? Shape{lengths.experts, lengths.ranks, lengths.tp, lengths.OwnRows(), part.columns}
          : Shape{lengths.experts, lengths.ranks, lengths.rows, lengths.tp, lengths.Own(part.columns)};
  constexpr int kRowsApart[] = {2, 1, 0, 3, 4};
  constexpr int kColumnsApart[] = {3, 1, 0, 2, 4};
  const StridedView from = Turned(made, divides_rows ? kRowsApart : kColumnsApart, x.dtype);
  ops.Copy(from, part.out.buffer, DenseTensor(from.shape, x.dtype), parts);
  BufferRef sum = ops.Bytes(own * size);
  exchanges::SumOverRanks summed{parts, sum, own, x.dtype, /*is_part=*/true, /*step=*/0};
  summed.group = kTp;
  exchanges::Add(ops, summed);
  if (call.IsGiven(kBias)) {
    // Expands the bias to a row for each row of the sum, in FLOAT.
    const int64_t columns = lengths.Own(part.columns);
    StridedView bias = PlainView(call.Tensor(kBias));
    if (bias.shape.rank == 3) Select(bias, 1, 0);
    InsertDim(bias, 1, lengths.OwnRows(), 0);
    InsertDim(bias, 0, lengths.ranks, 0);
    const BufferRef rows = ops.Floats(own);
    ops.Copy(bias, OperandBuffer(call.OperandOf(kBias)), DenseTensor(bias.shape, ACL_FLOAT), rows);
    const BufferRef added = ops.Bytes(own * size);
    AddRows(ops, engine::NumberRowsOf(call.isa, sum, x.dtype),
            engine::NumberRowsOf(call.isa, rows, ACL_FLOAT), engine::NumberRowsOf(call.isa, added, x.dtype),
            own / columns, columns);
    sum = added;
  }
  exchanges::Add(ops, BlocksOf(sum, ops.Out(kOut), lengths.ranks, own * size / lengths.ranks));
  ops.SetJob();
}

template <void (*kAdd)(const OperatorCall& call, Executor& executor)>
void SetJobOf(const OperatorCall& call, Executor& executor) {
  if (!exchanges::Join(call, kGroup, 1, executor) || !exchanges::Join(call, kTpGroup, 1, executor, kTp))
    return;
  try {
    kAdd(call, executor);
  } catch (const std::bad_alloc&) {
    executor.out_of_memory = true;
  }
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnAlltoAllAllGatherBatchMatMul) {
  return dense::RunOpList(call, kGatheredChecks, workspaceSize, executor, SetJobOf<AddGathered>);
}
PORTACL_PHASE_1(aclnnBatchMatMulReduceScatterAlltoAll) {
  return dense::RunOpList(call, kScatteredChecks, workspaceSize, executor, SetJobOf<AddScattered>);
}
