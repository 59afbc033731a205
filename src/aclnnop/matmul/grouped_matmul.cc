// aclnnGroupedMatmul and its versions: matrix products of groups of rows, or of groups along the inner (K)
// axis, each with its own weight.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/grouped_matmul_functions.h"

#include <algorithm>
#include <limits>
#include <new>

#include "acl/settings/configuration.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/matmul/grouped_call.h"
#include "aclnnop/matmul/grouped_checks.h"
#include "aclnnop/matmul/grouped_codes.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "contract/arguments.h"
#include "engine/gemm/grouped.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace grouped;

using namespace matmul;
using engine::BufferRef;
using engine::GroupedOperand;
using engine::GroupedPart;
using engine::GroupedProducts;
using engine::GroupedRows;

constexpr Check kChecks[] = {
    Custom(ListsThere),       Custom(ModesFit),    Custom(DtypesFit), Custom(StructureFits),
    SizesRepresentable({kY}), Custom(NothingToDo), Custom(Lies),
};

// ---- the job ----

struct GroupedMatmulJob {
  bool has_input;
  bool has_rows;
  bool has_offsets;
  engine::GroupedInput input;
  GroupedProducts products;
  engine::GroupedOffsets offsets;
  GroupedRows rows;

  // The operands that phase 2 reads are marked when the job is set.
  bool Touches(int) const noexcept { return false; }
  int64_t Elements() const noexcept { return products.Elements(); }
  void Run(const JobContext& context) const noexcept {
    if (has_input) input.Run(context);
    products.Run(context);
    if (has_offsets) offsets.Run(context);
    if (has_rows) rows.Run(context);
  }
};

class Maker {
 public:
  Maker(const OperatorCall& call, Executor& executor)
      : call_(call), executor_(executor), mode_(ModeOf(call)), type_(GroupTypeOf(call)) {}

  void Make() {
    if (!HasMemoryFor()) return;
    products_.isa = call_.isa;
    products_.threads = call_.threads;
    products_.raises = CurrentConfiguration().index_errors_raise;
    products_.name = call_.Name(kGroupList);
    const bool is_single = CountOf(call_, kX) == 1 && CountOf(call_, kY) == 1;
    const bool is_dynamic = Has(call_, kGroupList) && is_single && type_ != kNoSplit;
    const int64_t groups = GroupsOf(call_);
    products_.groups = groups;
    if (is_dynamic) {
      SetList();
      products_.cut = type_ == kRowSplit ? GroupedProducts::Cut::kRows : GroupedProducts::Cut::kTerms;
    }
    products_.has_part_each = !is_dynamic || CountOf(call_, kWeight) > 1;
    products_.schedule = Workspace(8 * products_.ScheduleWords());
    SetInput();
    SetSums();
    if (!products_.has_part_each) {
      products_.part = PartOf(0);
    } else {
      std::byte* const memory =
          executor_.ReserveMemory(static_cast<size_t>(std::max<int64_t>(groups, 1)) * sizeof(GroupedPart));
      if (memory == nullptr) return;
      for (int64_t i = 0; i < groups; ++i) {
        const GroupedPart part = is_dynamic ? PartOf(static_cast<int>(i)) : StaticPart(static_cast<int>(i));
        new (memory + static_cast<size_t>(i) * sizeof(GroupedPart)) GroupedPart(part);
        if (i == 0) products_.part = part;
      }
      products_.parts = {BufferRef::kMemory, 0};
    }
    if (Has(call_, kOffset)) SetOffsets();
    executor_.SetJob([&] {
      return GroupedMatmulJob{has_input_, has_rows_, has_offsets_, input_, products_, offsets_, rows_};
    });
    for (int argument = kX; argument <= kY; ++argument) {
      const bool is_read = argument < kGroupList || argument == kY || (argument == kGroupList && is_dynamic);
      if (!is_read || !IsUsed(argument)) continue;
      for (int i = 0; i < CountOf(call_, argument); ++i) {
        if (!At(call_, argument, i).shape.IsEmpty()) executor_.touched[call_.OperandOf(argument, i)] = true;
      }
    }
  }

 private:
  // An expanded tensor takes no memory itself, but its converted elements do.
  bool HasMemoryFor() const {
    constexpr int64_t kMost = int64_t{1} << 48;
    for (const int argument : {kX, kY}) {
      for (int i = 0; i < CountOf(call_, argument); ++i) {
        const int64_t numel = At(call_, argument, i).numel;
        if (numel <= kMost) continue;
        executor_.RefuseSize(call_.Name(argument), numel);
        return false;
      }
    }
    return true;
  }

  bool IsUsed(int argument) const {
    return DtypeOf(call_, kY) != ACL_INT32 || (argument != kScale && argument != kPerToken);
  }

  BufferRef Workspace(int64_t bytes) {
    const BufferRef buffer{BufferRef::kWorkspace, static_cast<int64_t>(executor_.workspace_size)};
    executor_.workspace_size += (static_cast<uint64_t>(bytes) + 63) / 64 * 64;
    return buffer;
  }

  GroupedOperand Operand(int argument, int entry, bool has_rows, bool has_groups) const {
    return grouped::OperandOf(call_, argument, entry, has_rows, has_groups);
  }

  void SetList() {
    const int64_t kind = call_.attributes[kListType].integer;
    using List = GroupedProducts::List;
    List list = kind == kEnds ? List::kEnds : kind == kSizes ? List::kSizes : List::kPairs;
    // An INT8 x with 4-bit weights reads the list as sizes, whatever its type is.
    if (mode_ == Mode::kA8W4) list = List::kSizes;
    grouped::SetList(products_, call_, kGroupList, list);
  }

  void SetInput() {
    if (mode_ != Mode::kA8W4 && mode_ != Mode::kA4W4) return;
    has_input_ = true;
    const StridedView view = InElements(At(call_, kX));
    input_.isa = products_.isa;
    input_.threads = products_.threads;
    input_.rows = view.shape[0];
    input_.columns = view.shape[1];
    const bool unpacks_nibbles = mode_ == Mode::kA4W4;
    input_.kind =
        unpacks_nibbles ? engine::GroupedInput::Kind::kUnpackNibbles : engine::GroupedInput::Kind::kLess8;
    input_.from = Operand(kX, 0, true, false);
    if (unpacks_nibbles) {
      input_.from.buffer.offset = 0;
      input_.first = view.offset;
      input_.from.row = view.strides[0];
      input_.from.column = view.strides[1];
    }
    input_.to = Workspace(input_.rows * input_.columns * (unpacks_nibbles ? 1 : 2));
    input_.adds_up = Has(call_, kOffset);
    if (input_.adds_up) input_.made = Workspace(input_.rows * 4);
  }

  // An INT8 x with 4-bit weights may have offsets: sums of x's rows times these are added.
  void SetOffsets() {
    has_offsets_ = true;
    offsets_ = {rows_.sums,
                input_.made,
                Operand(kOffset, 0, true, true),
                products_.schedule,
                products_.MostScheduled(),
                rows_.rows,
                rows_.columns,
                products_.threads};
  }

  // Keeps the sums in FLOAT where rows need more work after the product.
  void SetSums() {
    const int64_t act = call_.attributes[kActType].integer;
    const bool is_4_bits = mode_ == Mode::kA8W4 || mode_ == Mode::kA4W4;
    if (!is_4_bits && (act == 0 || DtypeOf(call_, kY) == ACL_INT32)) return;
    has_rows_ = true;
    using Function = GroupedRows::Function;
    rows_.function = act == 1   ? Function::kRelu
                     : act == 2 ? Function::kGeluTanh
                     : act == 4 ? Function::kFastGelu
                     : act == 5 ? Function::kSilu
                                : Function::kNone;
    for (int i = 0; i < CountOf(call_, kX); ++i) rows_.rows += RowsOf(At(call_, kX, i));
    rows_.columns = LengthsOf(At(call_, kWeight)).columns;
    rows_.sums = Workspace(rows_.rows * rows_.columns * 4);
    rows_.covered = products_.schedule;
    rows_.out = Operand(kY, 0, true, false);
    if (At(call_, kY).shape.rank > 2)
      rows_.out.row = rows_.columns * static_cast<int64_t>(StorageBits(rows_.out.dtype) / 8);
    rows_.threads = products_.threads;
    SetFunction(rows_, products_.isa);
    if (is_4_bits && Has(call_, kPerToken)) {
      rows_.factor = Operand(kPerToken, 0, At(call_, kPerToken).shape.rank == 2, false);
      if (At(call_, kPerToken).shape.rank == 1) rows_.factor.row = rows_.factor.column;
      rows_.factor.column = 0;
    }
  }

  // Returns numbers that belong to a weight: one for each column, or, on Ascend 950, one for all.
  GroupedOperand NumbersOf(int argument, int entry) const {
    if (!Has(call_, argument)) return {};
    const StridedView view = Lying(At(call_, argument, entry));
    const bool has_groups = At(call_, kWeight).shape.rank == 3;
    const int own = view.shape.rank - (has_groups ? 1 : 0);
    GroupedOperand numbers = Operand(argument, entry, own >= 2, has_groups);
    if (own == 0) std::swap(numbers.step, numbers.column);
    if (StorageBits(view.dtype) == 64) numbers.dtype = ACL_FLOAT;  // lower half of a word
    return numbers;
  }

  GroupedPart PartOf(int group) const {
    GroupedPart part{};
    const aclTensor& x = At(call_, kX, group);
    const StridedView weight = InElements(At(call_, kWeight, group));
    const int last = weight.shape.rank - 1;
    part.rows = RowsOf(x);
    part.depth = TermsOf(x);
    part.columns = weight.shape[last];
    part.left = Operand(kX, group, true, false);
    if (has_input_) {
      const bool unpacks_nibbles = mode_ == Mode::kA4W4;
      part.left.buffer = input_.to;
      part.left.dtype = unpacks_nibbles ? ACL_INT8 : ACL_BF16;
      part.left.column = unpacks_nibbles ? 1 : 2;
      part.left.row = part.depth * part.left.column;
    }
    part.right = Operand(kWeight, group, true, last == 2);
    part.out = Operand(kY, group, true, type_ == kTermSplit);
    if (has_rows_) {
      part.out = {true, rows_.sums, ACL_FLOAT, rows_.columns * 4, 4, 0};
    }
    if (Has(call_, kBias)) {
      part.added = NumbersOf(kBias, group);
      part.added.row = 0;
    }
    switch (mode_) {
      case Mode::kFloats:
        break;
      case Mode::kIntegers:
        part.kind = GroupedPart::Kind::kIntegers;
        if (DtypeOf(call_, kY) == ACL_INT32) break;
        part.scale = NumbersOf(kScale, group);
        part.scale.row = 0;
        if (Has(call_, kPerToken)) {
          part.factor = Operand(kPerToken, 0, false, false);
          part.factor.row = part.factor.column;
          part.factor.column = 0;
        }
        break;
      default:
        SetWeights(part, group);
    }
    return part;
  }

  void SetWeights(GroupedPart& part, int group) const {
    grouped::SetWeights(part, call_, kWeight, group);
    const bool has_all = At(call_, kWeight).shape.rank == 3;
    const bool is_alone = mode_ == Mode::kWeightsAlone;
    const int scale = is_alone ? kAntiquantScale : kScale;
    part.scale = NumbersOf(scale, group);
    if (is_alone) part.offset = NumbersOf(kAntiquantOffset, group);
    part.rounds_weights = is_alone;
    const Shape& shape = At(call_, scale, group).shape;
    // A separate weight may have a leading dim of 1 in its numbers.
    const bool has_groups = shape.rank >= (has_all ? 3 : 2);
    part.group_terms = std::max<int64_t>(has_groups ? part.depth / shape[shape.rank - 2] : part.depth, 1);
    if (!has_groups) part.scale.row = part.offset.row = 0;
  }

  // Returns a matrix product that no group list splits. Its rows, or its part of the inner (K) axis, follow
  // those of the products before it.
  GroupedPart StaticPart(int group) const {
    GroupedPart part = PartOf(group);
    if (type_ == kNoSplit) {
      // With more than two dims, all but the last are rows, which are dense.
      if (At(call_, kX, group).shape.rank > 2) {
        part.left.row = part.depth * static_cast<int64_t>(StorageBits(part.left.dtype) / 8);
        part.out.row = part.columns * static_cast<int64_t>(StorageBits(part.out.dtype) / 8);
      }
      return part;
    }
    int64_t begin = 0;
    int64_t size = 0;
    for (int i = 0; i <= group; ++i) {
      begin += size;
      size = SizeOf(i);
    }
    if (type_ == kRowSplit) {
      const bool is_one_x = CountOf(call_, kX) == 1;
      const bool is_one_y = CountOf(call_, kY) == 1;
      part.rows = size;
      if (is_one_x || has_input_) part.left.buffer.offset += begin * part.left.row;
      if (is_one_y || has_rows_) part.out.buffer.offset += begin * part.out.row;
      if (is_one_x && part.factor.is_there) part.factor.buffer.offset += begin * part.factor.row;
      if (CountOf(call_, kWeight) == 1) {
        for (GroupedOperand* const operand : {&part.right, &part.added, &part.scale, &part.offset}) {
          const bool is_elements = operand == &part.right && part.kind == GroupedPart::Kind::kWeights;
          (is_elements ? part.first_weight : operand->buffer.offset) += group * operand->step;
        }
      }
      return part;
    }
    part.depth = size;
    part.left.buffer.offset += begin * part.left.column;
    if (CountOf(call_, kWeight) == 1) part.right.buffer.offset += begin * part.right.row;
    if (CountOf(call_, kY) == 1) part.out.buffer.offset += group * part.out.step;
    return part;
  }
  int64_t SizeOf(int group) const {
    if (HasArray(call_)) {
      const auto& values = call_.Array(kGroups);
      const auto i = static_cast<size_t>(group);
      return values[i] - (i == 0 ? 0 : values[i - 1]);
    }
    if (type_ == kTermSplit) return LengthsOf(At(call_, kWeight, group)).terms;
    return CountOf(call_, kX) > 1 ? RowsOf(At(call_, kX, group)) : At(call_, kY, group).shape[0];
  }

  const OperatorCall& call_;
  Executor& executor_;
  Mode mode_;
  int64_t type_;
  bool has_input_ = false;
  bool has_rows_ = false;
  bool has_offsets_ = false;
  engine::GroupedInput input_{};
  engine::GroupedOffsets offsets_{};
  GroupedProducts products_{};
  GroupedRows rows_{};
};

void SetProducts(const OperatorCall& call, Executor& executor) { Maker(call, executor).Make(); }

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnGroupedMatmul) { return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts); }
PORTACL_PHASE_1(aclnnGroupedMatmulV2) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulV3) {
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulV4) {
  if (grouped::AreCodes(call)) return grouped::RunCodes(call, workspaceSize, executor);
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulV5) {
  if (grouped::AreCodes(call)) return grouped::RunCodes(call, workspaceSize, executor);
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
PORTACL_PHASE_1(aclnnGroupedMatmulWeightNz) {
  if (grouped::AreCodes(call)) return grouped::RunCodes(call, workspaceSize, executor);
  return RunPhase1(call, kChecks, workspaceSize, executor, SetProducts);
}
