// aclnnGroupedMatmulSwigluQuant, V2 and their forms for FRACTAL_NZ: multiply groups of rows, apply SwiGLU,
// and quantise to INT8.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/grouped_swiglu_functions.h"

#include <algorithm>
#include <new>
#include <utility>

#include "aclnnop/jobs/dense_op_list.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/lists.h"
#include "aclnnop/moe/gated_products.h"
#include "base/data_type.h"

namespace portacl {
namespace {

using namespace dense;
using namespace gated;
using engine::GroupedProducts;
using engine::GroupedRows;

constexpr DtypeSet kWords{ACL_UINT64, ACL_INT64};
constexpr DtypeSet k4Bits{ACL_INT4, ACL_INT32};
constexpr DtypeRule kInt8Rule = SinceAtlasA2(DtypeSet(ACL_INT8));

int64_t VersionOf(const OperatorCall& call) { return Integer(call, kVersion); }
bool Has(const OperatorCall& call, int argument) {
  if (!call.IsList(argument)) return call.IsGiven(argument);
  return call.tensors[static_cast<size_t>(argument)].list != nullptr && call.Count(argument) > 0 &&
         call.Entry(argument, 0) != nullptr;
}
const aclTensor& At(const OperatorCall& call, int argument, int entry = 0) {
  return *call.Entry(argument, entry);
}
bool Has4BitWeights(const OperatorCall& call) { return grouped::Is4Bits(At(call, kWeight).dtype); }
bool Has4BitRows(const OperatorCall& call) { return grouped::Is4Bits(At(call, kX).dtype); }
// Tells whether weights need a bias: those of 4 bits, unless x has 4 bits, too.
bool NeedsBias(const OperatorCall& call) { return Has4BitWeights(call) && !Has4BitRows(call); }
// Tells whether each group has a weight, a scale and a bias of its own in the lists.
bool HasWeightEach(const OperatorCall& call) { return At(call, kWeight).shape.rank == 2; }
int64_t GroupsOf(const OperatorCall& call) {
  return HasWeightEach(call) ? call.Count(kWeight) : At(call, kWeight).shape[0];
}
// Numbers of terms and of columns.
struct Lengths {
  int64_t terms, columns;
};
Lengths LengthsOf(const OperatorCall& call, int entry = 0) {
  const Shape shape = grouped::InElements(At(call, kWeight, entry)).shape;
  return {shape[shape.rank - 2], shape[shape.rank - 1]};
}

aclnnStatus Refused(const OperatorCall& call, aclnnStatus code, int argument, const char* what) {
  return RefuseArgument(call, code, argument, call.IsList(argument) ? 0 : -1, what);
}
aclnnStatus RefuseShapeOf(const OperatorCall& call, int argument, int entry, const char* accepted) {
  Text message = StartMessage(call).Add("parameter ");
  AddArgumentShape(message, call, argument, entry).Add(" is not accepted here, accepted: ");
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add(accepted).Add("."));
}
aclnnStatus RefuseDtypeOf(const OperatorCall& call, int argument, int entry, DtypeSet accepted) {
  Text message = StartMessage(call).Add("parameter ");
  AddArgumentDtype(message, call, argument, entry).Add(" is not accepted here, accepted: ");
  AddDtypeSet(message, accepted);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add("."));
}

aclnnStatus TensorsThere(const Check&, OperatorCall& call) noexcept {
  for (const int argument : {kX, kWeight, kWeightScale, kXScale, kGroups, kOut, kOutScale}) {
    if (Has(call, argument)) continue;
    const bool is_out = argument == kOut && VersionOf(call) >= kV2;
    return Refused(call, is_out ? ACLNN_ERR_PARAM_INVALID : ACLNN_ERR_PARAM_NULLPTR, argument,
                   " is a null pointer, accepted: a tensor, or a list of them.");
  }
  for (const int list : {kWeight, kWeightScale, kBias}) {
    for (int entry = 0; call.IsList(list) && Has(call, list) && entry < call.Count(list); ++entry) {
      if (call.Entry(list, entry) == nullptr)
        return RefuseArgument(call, ACLNN_ERR_PARAM_NULLPTR, list, entry,
                              " is a null pointer, accepted: a tensor.");
    }
  }
  if (!NeedsBias(call) || Has(call, kBias)) return ACL_SUCCESS;
  return Refused(call, ACLNN_ERR_PARAM_NULLPTR, kBias,
                 " is not there with weights of 4 bits, accepted: a tensor, or a list of them.");
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  if (VersionOf(call) < kV2) return ACL_SUCCESS;
  ShapeChecks checks(check, call);
  checks.Integer(kListType, 0, 1).Integer(kDequantMode, 0, 1).Integer(kQuantMode, 0, 0);
  if (!checks.Passed()) return checks.status();
  if (call.IsGiven(kOtherBias))
    return Refused(call, ACLNN_ERR_PARAM_INVALID, kOtherBias, " is given, accepted: a null pointer.");
  if (call.IsGiven(kSmooth) && !Has4BitRows(call))
    return Refused(call, ACLNN_ERR_PARAM_INVALID, kSmooth,
                   " is given, accepted: a null pointer, beside x of 4 bits a tensor.");
  for (const int list : {kWeightScale, kBias}) {
    if (call.IsList(list) && Has(call, list) && call.Count(list) != call.Count(kWeight))
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, list, -1,
                            " has another number of tensors, accepted: as many as weight has.");
  }
  return ACL_SUCCESS;
}

// Checks the numbers that belong to each weight: [columns], with groups of weights in one tensor these before it.
bool HasShape(const OperatorCall& call, int argument, int entry, const Shape& each) {
  const Shape& shape = At(call, argument, entry).shape;
  if (HasWeightEach(call)) return shape == each;
  Shape all{GroupsOf(call)};
  for (int dim = 0; dim < each.rank; ++dim) all.dim[all.rank++] = each[dim];
  return shape == all;
}
aclnnStatus WeightsFit(const OperatorCall& call) {
  const Shape& first = At(call, kWeight).shape;
  const int64_t terms = grouped::InElements(At(call, kX)).shape[1];
  const bool has_4_bit_weights = Has4BitWeights(call);
  for (int entry = 0; entry < call.Count(kWeight); ++entry) {
    const aclTensor& weight = At(call, kWeight, entry);
    const bool has_rank = VersionOf(call) < kV2 ? weight.shape.rank == 3
                                                : weight.shape.rank == 2 ||
                                                      (weight.shape.rank == 3 && call.Count(kWeight) == 1);
    if (!has_rank)
      return RefuseShapeOf(call, kWeight, entry,
                           "3 dims, [groups, terms, columns], or in a list [terms, columns] for each group, "
                           "whatever the format; the blocks of FRACTAL_NZ as dims are not computed");
    if (!grouped::WordsLieTogether(weight))
      return RefuseShapeOf(call, kWeight, entry,
                           "words of 4 bits side by side along the last dim, or the one before "
                           "where matrices are transposed");
    if (entry > 0 && (!(weight.shape == first) || weight.dtype != At(call, kWeight).dtype))
      return RefuseShapeOf(call, kWeight, entry, "the shape and the type of the first one");
    const Lengths own = LengthsOf(call, entry);
    if (own.terms != terms) return RefuseShapeOf(call, kWeight, entry, "as many terms as x has columns");
    if (own.columns % 2 != 0 || own.columns > 10240)
      return RefuseShapeOf(call, kWeight, entry, "an even number of columns up to 10240");
    const Shape& scale = At(call, kWeightScale, entry).shape;
    const int64_t of_terms = scale.rank < 2 ? 0 : scale[scale.rank - 2];
    const bool has_terms = has_4_bit_weights && of_terms > 0 && own.terms % of_terms == 0 &&
                           HasShape(call, kWeightScale, entry, Shape{of_terms, own.columns});
    if (!HasShape(call, kWeightScale, entry, Shape{own.columns}) && !has_terms)
      return RefuseShapeOf(call, kWeightScale, entry,
                           "[groups, columns], with weights of 4 bits [groups, groups of terms, columns] "
                           "too; in lists without groups");
    if (Has(call, kBias) && NeedsBias(call) && !HasShape(call, kBias, entry, Shape{own.columns}))
      return RefuseShapeOf(call, kBias, entry, "[groups, columns], in lists [columns]");
  }
  return ACL_SUCCESS;
}

aclnnStatus ShapesFit(const Check&, OperatorCall& call) noexcept {
  const aclTensor& x = At(call, kX);
  if (x.shape.rank != 2) return RefuseShapeOf(call, kX, 0, "2 dims");
  if (!grouped::WordsLieTogether(x)) return RefuseShapeOf(call, kX, 0, "words of 4 bits side by side");
  const int64_t rows = grouped::InElements(x).shape[0];
  const int64_t terms = grouped::InElements(x).shape[1];
  if (terms >= (Has4BitWeights(call) ? 20000 : 65536))
    return RefuseShapeOf(call, kX, 0, "fewer than 65536 columns, with weights of 4 bits than 20000");
  if (const auto status = WeightsFit(call)) return status;
  const int64_t columns = LengthsOf(call).columns;
  if (!(At(call, kXScale).shape == Shape{rows}))
    return RefuseShapeOf(call, kXScale, 0, "an element for each row");
  const Shape& groups = At(call, kGroups).shape;
  if (groups.rank != 1 || groups[0] > GroupsOf(call))
    return RefuseShapeOf(call, kGroups, 0, "one dim, of at most as many groups as weight has");
  if (!(At(call, kOut).shape == Shape{rows, columns / 2}))
    return RefuseShapeOf(call, kOut, 0, "x's rows by half of the columns");
  if (!(At(call, kOutScale).shape == Shape{rows}))
    return RefuseShapeOf(call, kOutScale, 0, "an element for each row");
  if (!call.IsGiven(kSmooth)) return ACL_SUCCESS;
  const Shape& smooth = At(call, kSmooth).shape;
  if (smooth == Shape{GroupsOf(call)} || smooth == Shape{GroupsOf(call), columns / 2}) return ACL_SUCCESS;
  return RefuseShapeOf(call, kSmooth, 0, "[groups] or [groups, half of the columns]");
}

aclnnStatus DtypesFit(const Check&, OperatorCall& call) noexcept {
  const auto is = [&](int argument, DtypeSet accepted) {
    const int count = call.IsList(argument) ? call.Count(argument) : 1;
    for (int entry = 0; entry < count; ++entry) {
      if (!accepted.Contains(At(call, argument, entry).dtype))
        return RefuseDtypeOf(call, argument, entry, accepted);
    }
    return aclnnStatus{ACL_SUCCESS};
  };
  const bool has_4_bit_weights = Has4BitWeights(call);
  const bool is_v2 = VersionOf(call) >= kV2;
  const DtypeSet numbers = kFloatHalfAndBf16;
  DtypeSet of_x = kInt8Rule.For(call.product);
  if (is_v2 && !of_x.IsEmpty()) of_x = of_x | k4Bits;
  if (const auto status = is(kX, of_x)) return status;
  if (const auto status = is(kWeight, Has4BitRows(call) ? k4Bits : k4Bits | DtypeSet(ACL_INT8)))
    return status;
  if (const auto status = is(kWeightScale, has_4_bit_weights ? kWords : numbers)) return status;
  if (const auto status = is(kXScale, is_v2 ? kFloat : numbers)) return status;
  if (const auto status = is(kGroups, kInt64)) return status;
  if (NeedsBias(call)) {
    if (const auto status = is(kBias, kFloat)) return status;
  } else if (Has(call, kBias) && is_v2) {
    return Refused(call, ACLNN_ERR_PARAM_INVALID, kBias,
                   " is not accepted with weights of INT8 or x of 4 bits, accepted: none.");
  }
  if (call.IsGiven(kSmooth)) {
    if (const auto status = is(kSmooth, kFloat)) return status;
  }
  if (const auto status = is(kOut, DtypeSet(ACL_INT8))) return status;
  if (const auto status = is(kOutScale, kFloat)) return status;
  const bool needs_nz = VersionOf(call) != kBaseNz && (VersionOf(call) == kV2Nz || !has_4_bit_weights) &&
                        VersionOf(call) != kV2;
  for (int entry = 0; needs_nz && entry < call.Count(kWeight); ++entry) {
    if (At(call, kWeight, entry).format != ACL_FORMAT_FRACTAL_NZ)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, kWeight, call.IsList(kWeight) ? entry : -1,
                            " has another format, accepted: FRACTAL_NZ.");
  }
  for (const int argument : {kX, kOut}) {
    if (IsPrivateFormat(At(call, argument).format))
      return Refused(call, ACLNN_ERR_PARAM_INVALID, argument, " has a private format, accepted: others.");
  }
  return ACL_SUCCESS;
}

aclnnStatus NothingToDo(const Check&, OperatorCall& call) noexcept {
  for (const int argument : {kOut, kOutScale, kGroups}) {
    if (At(call, argument).shape.IsEmpty()) call.work = OperatorCall::Work::kNothing;
  }
  return ACL_SUCCESS;
}
aclnnStatus Lies(const Check&, OperatorCall& call) noexcept { return grouped::CheckLies(call, kX, kSmooth); }

constexpr Check kChecks[] = {
    Custom(TensorsThere), Custom(ModesFit),  SizesRepresentable({kOut, kOutScale}),
    Custom(ShapesFit),    Custom(DtypesFit), Custom(NothingToDo),
    Custom(Lies),
};

// ---- the job ----

struct GatedProductsJob {
  bool has_input;
  engine::GroupedInput input;
  GroupedProducts products;
  GroupedRows rows;

  // The operands that phase 2 reads are marked when the job is set.
  bool Touches(int) const noexcept { return false; }
  int64_t Elements() const noexcept { return products.Elements(); }
  void Run(const JobContext& context) const noexcept {
    if (has_input) input.Run(context);
    products.Run(context);
    rows.Run(context);
  }
};

class Maker {
 public:
  Maker(const OperatorCall& call, Executor& executor)
      : call_(call), executor_(executor), has_each_(HasWeightEach(call)), columns_(LengthsOf(call).columns) {
    const Shape x = grouped::InElements(At(call, kX)).shape;
    row_count_ = x[0];
    terms_ = x[1];
  }

  void Make() {
    const bool is_ends = VersionOf(call_) < kV2 || Integer(call_, kListType) == 0;
    grouped::SetList(products_, call_, kGroups,
                     is_ends ? GroupedProducts::List::kEnds : GroupedProducts::List::kSizes);
    products_.cut = GroupedProducts::Cut::kRows;
    products_.groups = GroupsOf(call_);
    products_.schedule = Workspace(8 * products_.ScheduleWords());
    SetRows();
    if (Has4BitWeights(call_)) SetInput();
    products_.part = PartOf(0);
    if (has_each_) {
      const auto groups = static_cast<size_t>(products_.groups);
      std::byte* const memory = executor_.ReserveMemory(groups * sizeof(engine::GroupedPart));
      if (memory == nullptr) return;
      for (size_t i = 0; i < groups; ++i)
        new (memory + i * sizeof(engine::GroupedPart)) engine::GroupedPart(PartOf(static_cast<int>(i)));
      products_.has_part_each = true;
      products_.parts = {engine::BufferRef::kMemory, 0};
    }
    executor_.SetJob([&] { return GatedProductsJob{Has4BitWeights(call_), input_, products_, rows_}; });
    for (int argument = kX; argument <= kOutScale; ++argument) {
      if (!Has(call_, argument) || (argument == kBias && !NeedsBias(call_))) continue;
      for (int i = 0; i < (call_.IsList(argument) ? call_.Count(argument) : 1); ++i) {
        if (!At(call_, argument, i).shape.IsEmpty()) executor_.touched[call_.OperandOf(argument, i)] = true;
      }
    }
  }

 private:
  engine::BufferRef Workspace(int64_t bytes) {
    const engine::BufferRef buffer{engine::BufferRef::kWorkspace,
                                   static_cast<int64_t>(executor_.workspace_size)};
    executor_.workspace_size += (static_cast<uint64_t>(bytes) + 63) / 64 * 64;
    return buffer;
  }
  // A number for each row.
  engine::GroupedOperand OfRows(int argument) const {
    engine::GroupedOperand operand = grouped::OperandOf(call_, argument, 0, false, false);
    std::swap(operand.row, operand.column);
    return operand;
  }

  void SetRows() {
    rows_.function = GroupedRows::Function::kSwigluQuant;
    rows_.rows = row_count_;
    rows_.columns = columns_;
    rows_.sums = Workspace(row_count_ * columns_ * 4);
    rows_.covered = products_.schedule;
    rows_.scheduled = products_.MostScheduled();
    rows_.out = grouped::OperandOf(call_, kOut, 0, true, false);
    rows_.row_scale = OfRows(kOutScale);
    rows_.threads = products_.threads;
    SetFunction(rows_, products_.isa);
    if (Has4BitWeights(call_)) rows_.factor = OfRows(kXScale);
    if (!call_.IsGiven(kSmooth)) return;
    const bool has_columns = At(call_, kSmooth).shape.rank == 2;
    rows_.smooth = grouped::OperandOf(call_, kSmooth, 0, false, has_columns);
    if (!has_columns) std::swap(rows_.smooth.step, rows_.smooth.column);
  }

  void SetInput() {
    const bool unpacks = Has4BitRows(call_);
    using Kind = engine::GroupedInput::Kind;
    input_.kind = unpacks ? Kind::kUnpackNibbles : Kind::kLess8;
    input_.from = grouped::OperandOf(call_, kX, 0, true, false);
    if (unpacks) {
      const StridedView view = grouped::InElements(At(call_, kX));
      input_.from.buffer.offset = 0;
      input_.first = view.offset;
      input_.from.row = view.strides[0];
      input_.from.column = view.strides[1];
    }
    input_.rows = row_count_;
    input_.columns = terms_;
    input_.to = Workspace(row_count_ * terms_ * (unpacks ? 1 : 2));
    input_.isa = products_.isa;
    input_.threads = products_.threads;
  }

  engine::GroupedPart PartOf(int entry) const {
    engine::GroupedPart part{};
    part.rows = row_count_;
    part.depth = terms_;
    part.columns = columns_;
    part.left = grouped::OperandOf(call_, kX, 0, true, false);
    part.out = {true, rows_.sums, ACL_FLOAT, columns_ * 4, 4, 0};
    if (!Has4BitWeights(call_)) {
      part.kind = engine::GroupedPart::Kind::kIntegers;
      part.right = grouped::OperandOf(call_, kWeight, entry, true, !has_each_);
      part.scale = OfRows(kXScale);
      part.factor = grouped::OperandOf(call_, kWeightScale, entry, false, !has_each_);
      return part;
    }
    const bool is_whole = Has4BitRows(call_);
    part.left = {
        true, input_.to, is_whole ? ACL_INT8 : ACL_BF16, terms_ * (is_whole ? 1 : 2), is_whole ? 1 : 2, 0};
    grouped::SetWeights(part, call_, kWeight, entry);
    const Shape& scale = At(call_, kWeightScale, entry).shape;
    const bool has_terms = scale.rank == (has_each_ ? 2 : 3);
    part.scale = grouped::OperandOf(call_, kWeightScale, entry, has_terms, !has_each_);
    part.scale.dtype = ACL_FLOAT;  // lower half of a word
    if (has_terms) part.group_terms = std::max<int64_t>(terms_ / scale[scale.rank - 2], 1);
    if (NeedsBias(call_)) part.added = grouped::OperandOf(call_, kBias, entry, false, !has_each_);
    return part;
  }

  const OperatorCall& call_;
  Executor& executor_;
  bool has_each_;
  int64_t columns_;
  int64_t row_count_ = 0;
  int64_t terms_ = 0;
  engine::GroupedInput input_{};
  GroupedProducts products_{};
  GroupedRows rows_{};
};

void SetProducts(const OperatorCall& call, Executor& executor) { Maker(call, executor).Make(); }

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuant) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuantWeightNZ) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuantV2) {
  if (gated::AreCodes(call)) return gated::RunCodes(call, workspaceSize, executor);
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulSwigluQuantWeightNzV2) {
  if (gated::AreCodes(call)) return gated::RunCodes(call, workspaceSize, executor);
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProducts);
}
