// aclnnAlltoAllvGroupedMatMul and aclnnGroupedMatMulAlltoAllv: rows travel to the ranks of their experts before a
// grouped product, or back behind it; and their quantised forms.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/communication/all_to_all_grouped_functions.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>
#include <vector>

#include "aclnnop/communication/expert_rows.h"
#include "aclnnop/communication/rank_products.h"
#include "aclnnop/jobs/code_matrices.h"
#include "aclnnop/jobs/exchanges.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/heads.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

using namespace communication;
using dense::DenseOpList;
using dense::Integer;
using dense::ShapeChecks;
using engine::BufferRef;
using engine::GroupedPart;

// aclnnGroupedMatMulAlltoAllv has no kPermuted. Functions without quantisation have null pointers as scales, and only
// the first attributes.
enum Tensors {
  kX,
  kWeight,
  kSendTensor,
  kRecvTensor,
  kMmX,
  kMmWeight,
  kXScale,
  kWeightScale,
  kMmXScale,
  kMmWeightScale,
  kCommScale,
  kY,
  kMmY,
  kPermuted
};
enum Attributes {
  kGroup,
  kRanks,
  kSend,
  kRecv,
  kTransposes,
  kMmTransposes,
  kPermutes,
  kXMode,
  kWeightMode,
  kMmXMode,
  kMmWeightMode,
  kCommQuantMode,
  kGroupSize
};

constexpr size_t kMostName = 127;

bool HasMm(const OperatorCall& call) noexcept { return call.IsGiven(kMmX); }
bool HasPermuted(const OperatorCall& call) noexcept {
  return std::ssize(call.tensors) > kPermuted && call.IsGiven(kPermuted);
}

// ---- checks ----

aclnnStatus CountTensorsAreNull(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kSendTensor, kRecvTensor})
    checks.Holds(!call.IsGiven(tensor), tensor, "a null pointer");
  return checks.status();
}
aclnnStatus GroupIsNamed(const Check& check, OperatorCall& call) noexcept {
  if (*call.attributes[kGroup].text != '\0') return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, kGroup, "a name that is not empty");
}
aclnnStatus GroupIsShort(const Check& check, OperatorCall& call) noexcept {
  if (std::strlen(call.attributes[kGroup].text) <= kMostName) return ACL_SUCCESS;
  return attention::RefuseAttribute(check, call, kGroup, "a name of at most 127 characters");
}
aclnnStatus OptionalsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool is_any = call.IsGiven(kMmX) || call.IsGiven(kMmWeight) || call.IsGiven(kMmY);
  for (const int tensor : {kMmX, kMmWeight, kMmY}) {
    if (is_any) checks.Given(tensor, "beside one of mmX, mmWeight and mmY");
  }
  for (const int tensor : {kMmXScale, kMmWeightScale}) {
    if (is_any && call.IsGiven(kXScale)) checks.Given(tensor, "beside one of mmX, mmWeight and mmY");
  }
  return checks
      .HoldsOf((Integer(call, kPermutes) != 0) == HasPermuted(call), kPermutes,
               "true beside permuteOutOptional, else false")
      .status();
}
aclnnStatus CountsAreGiven(const Check& check, OperatorCall& call) noexcept {
  for (const int attribute : {kSend, kRecv}) {
    if (call.attributes[static_cast<size_t>(attribute)].array != nullptr) continue;
    return attention::RefuseAttribute(check, call, attribute, "an array of counts");
  }
  return ACL_SUCCESS;
}

template <bool is_behind>
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t ranks = exchanges::RanksOf(call, kGroup);
  checks.HoldsOf(Integer(call, kRanks) == ranks, kRanks, "the number of ranks of the group");
  checks.Rank(kX, 2, 2).Rank(kWeight, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const bool is_transposed = Integer(call, kTransposes) != 0;
  const int64_t terms = weight[is_transposed ? 2 : 1];
  const int64_t columns = weight[is_transposed ? 1 : 2];
  int64_t entries = 0;
  checks.Holds(!weight.IsEmpty() && !__builtin_mul_overflow(weight[0], ranks, &entries), kWeight,
               "at least one element, and experts that can be counted");
  checks.Holds(terms == x[1], kWeight, "as many terms as gmmX has columns");
  for (const int attribute : {kSend, kRecv})
    checks.HoldsOf(std::ssize(call.Array(attribute)) == entries, attribute,
                   "a count for each expert of each rank");
  if (!checks.Passed()) return checks.status();
  const int64_t sent = SumOf(call.Array(kSend));
  const int64_t received = SumOf(call.Array(kRecv));
  checks.HoldsOf(sent == x[0], kSend, "counts from 0 on, the rows of gmmX together");
  checks.HoldsOf(received >= 0, kRecv, "counts from 0 on");
  if (!checks.Passed()) return checks.status();
  const int64_t own = exchanges::OwnRank(call, kGroup) * weight[0];
  for (int64_t i = own; i < own + weight[0]; ++i) {
    const auto at = static_cast<size_t>(i);
    checks.HoldsOf(call.Array(kSend)[at] == call.Array(kRecv)[at], kRecv,
                   "the counts of sendCounts for the own rank");
  }
  checks.Is(kY, Shape{received, columns});
  if (is_behind && HasPermuted(call)) checks.Is(kPermuted, Shape{received, x[1]});
  if (!checks.Passed() || !HasMm(call)) return checks.status();
  checks.Rank(kMmX, 2, 2).Rank(kMmWeight, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& right = call.Tensor(kMmWeight).shape;
  const bool is_other_transposed = Integer(call, kMmTransposes) != 0;
  checks.Holds(right[is_other_transposed ? 1 : 0] == call.Tensor(kMmX).shape[1], kMmWeight,
               "as many terms as mmX has columns");
  return checks.Is(kMmY, Shape{call.Tensor(kMmX).shape[0], right[is_other_transposed ? 0 : 1]}).status();
}

template <bool is_behind>
constexpr auto Checks() {
  return Join(
      List(NotNull(kX), NotNull(kWeight), NotNull(kY), Custom(CountTensorsAreNull, ACLNN_ERR_PARAM_NULLPTR),
           exchanges::GroupGiven(kGroup), Custom(GroupIsNamed, ACLNN_ERR_PARAM_NULLPTR),
           Custom(OptionalsFit, ACLNN_ERR_PARAM_NULLPTR), Custom(GroupIsShort)),
      List(DtypesIn(kHalvesSinceAtlasA2, {kX}), SameDtype(kX, kWeight), SameDtype(kX, kY),
           If(HasMm, SameDtype(kX, kMmX)), If(HasMm, SameDtype(kX, kMmWeight)),
           If(HasMm, SameDtype(kX, kMmY)), If(HasPermuted, SameDtype(kX, kPermuted)),
           Custom(CountsAreGiven, ACLNN_ERR_PARAM_NULLPTR), exchanges::GroupKnown(kGroup)),
      List(Custom(ShapesFit<is_behind>, dense::kTiling), SizesRepresentable({kX, kWeight, kY}),
           matmul::FractalInsideStorage({kWeight}), matmul::MatricesInsideStorage({kX, kWeight}),
           If(HasMm, matmul::MatricesInsideStorage({kMmX, kMmWeight}))));
}
constexpr auto kBehind = Checks<true>();
constexpr auto kBefore = Checks<false>();

// ---- checks of codes ----

// Modes of quantisation: one scale, and powers of two of 32 terms.
constexpr int64_t kOfTensor = 1;
constexpr int64_t kOfPowers = 6;
constexpr int64_t kGroupOfPowers = (int64_t{1} << 32) | (int64_t{1} << 16) | matmul::kMxTerms;

constexpr DtypeSet kFloat8s = matmul::kFloat8Codes | matmul::kHifloat8;
constexpr DtypeRule kCodes = ByGeneration({}, {}, kFloat8s | matmul::kFloat4Codes);
constexpr DtypeRule kResults = ByGeneration({}, {}, kHalves);

bool HasPowers(const OperatorCall& call) noexcept { return Integer(call, kXMode) == kOfPowers; }
bool Is4Bits(const OperatorCall& call, int tensor) noexcept {
  return call.Tensor(tensor).dtype == ACL_FLOAT4_E2M1;
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int64_t mode = Integer(call, kXMode);
  checks.HoldsOf(mode == kOfTensor || mode == kOfPowers, kXMode, "1 or 6");
  checks.HoldsOf(Integer(call, kWeightMode) == mode, kWeightMode, "gmmXQuantMode");
  for (const int attribute : {kMmXMode, kMmWeightMode}) {
    if (HasMm(call)) checks.HoldsOf(Integer(call, attribute) == mode, attribute, "gmmXQuantMode");
  }
  checks.HoldsOf(Integer(call, kCommQuantMode) == 0, kCommQuantMode,
                 "0: portacl does not quantise what ranks exchange");
  checks.Holds(!call.IsGiven(kCommScale), kCommScale, "null: portacl does not quantise what ranks exchange");
  const int64_t group = Integer(call, kGroupSize);
  checks.HoldsOf(group == 0 || (mode == kOfPowers && group == kGroupOfPowers), kGroupSize,
                 "0, and of mode 6 also groups of 1, 1 and 32");
  return checks.status();
}

// Checks the types of a product of two codes and of their scales.
template <bool is_mm>
aclnnStatus CodesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const int weight = is_mm ? kMmWeight : kWeight;
  const aclDataType dtype = call.Tensor(is_mm ? kMmX : kX).dtype;
  const bool are_powers = HasPowers(call);
  const DtypeSet codes = are_powers ? matmul::kFloat8Codes | matmul::kFloat4Codes : kFloat8s;
  checks.Holds(codes.Contains(dtype), is_mm ? kMmX : kX,
               are_powers ? "FLOAT8_E4M3FN, FLOAT8_E5M2 or FLOAT4_E2M1 with mode 6"
                          : "FLOAT8_E4M3FN, FLOAT8_E5M2 or HIFLOAT8 with mode 1");
  const DtypeSet rights = matmul::kFloat8Codes.Contains(dtype) ? matmul::kFloat8Codes : DtypeSet(dtype);
  checks.Holds(rights.Contains(call.Tensor(weight).dtype), weight,
               "FLOAT8_E4M3FN or FLOAT8_E5M2 beside one of these, else the type of the rows");
  for (const int scale : {is_mm ? kMmXScale : kXScale, is_mm ? kMmWeightScale : kWeightScale}) {
    checks.Holds(
        (are_powers ? matmul::kScalePowers : matmul::kScaleFloats).Contains(call.Tensor(scale).dtype), scale,
        are_powers ? "FLOAT8_E8M0 with mode 6" : "FLOAT with mode 1");
  }
  return checks.status();
}

// Checks the shapes of scales. The matrices have theirs.
void CheckScales(const OperatorCall& call, ShapeChecks& checks, int x, int weight, int x_scale,
                 int weight_scale, bool is_transposed) {
  if (!HasPowers(call)) {
    checks.Is(x_scale, Shape{1}).Is(weight_scale, Shape{1});
    return;
  }
  const Shape& rows = call.Tensor(x).shape;
  const Shape& shape = call.Tensor(weight).shape;
  const int last = shape.rank - 1;
  const int64_t pairs = matmul::BlocksIn(rows[1], matmul::kPairTerms);
  const int64_t columns = shape[is_transposed ? last - 1 : last];
  const Shape of_matrix = is_transposed ? Shape{columns, pairs, 2} : Shape{pairs, columns, 2};
  checks.Is(x_scale, Shape{rows[0], pairs, 2});
  checks.Is(weight_scale, last == 1 ? of_matrix : Shape{shape[0], of_matrix[0], of_matrix[1], of_matrix[2]});
}

aclnnStatus ScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  CheckScales(call, checks, kX, kWeight, kXScale, kWeightScale, Integer(call, kTransposes) != 0);
  if (HasMm(call))
    CheckScales(call, checks, kMmX, kMmWeight, kMmXScale, kMmWeightScale, Integer(call, kMmTransposes) != 0);
  // Rows of 4-bit codes travel as bytes.
  for (const int tensor : {kX, kMmX, kPermuted}) {
    if (tensor >= std::ssize(call.tensors) || !call.IsGiven(tensor) || !Is4Bits(call, tensor)) continue;
    const aclTensor& rows = call.Tensor(tensor);
    checks.Holds(rows.shape[1] % 2 == 0 && IsContiguous(rows) && rows.offset % 2 == 0, tensor,
                 "of 4 bits a contiguous tensor with an even number of columns, from an even element on");
  }
  for (const int tensor : {kWeight, kMmWeight}) {
    if (!call.IsGiven(tensor) || !Is4Bits(call, tensor)) continue;
    checks.Holds(matmul::LiesInBytes(matmul::LinesOf(call, tensor, false)), tensor,
                 "of 4 bits an even dim that lies side by side, from an even element on");
  }
  return checks.status();
}

template <bool is_behind>
constexpr auto QuantisedChecks() {
  return Join(List(NotNull(kX), NotNull(kWeight), NotNull(kXScale), NotNull(kWeightScale), NotNull(kY),
                   Custom(CountTensorsAreNull, ACLNN_ERR_PARAM_NULLPTR), exchanges::GroupGiven(kGroup),
                   Custom(GroupIsNamed, ACLNN_ERR_PARAM_NULLPTR),
                   Custom(OptionalsFit, ACLNN_ERR_PARAM_NULLPTR), Custom(GroupIsShort)),
              List(DtypesIn(kCodes, {kX, kWeight}), Custom(ModesFit), Custom(CodesFit<false>),
                   If(HasMm, Custom(CodesFit<true>)), DtypesIn(kResults, {kY}),
                   If(HasMm, DtypesIn(kResults, {kMmY})), If(HasPermuted, SameDtype(kX, kPermuted)),
                   Custom(CountsAreGiven, ACLNN_ERR_PARAM_NULLPTR), exchanges::GroupKnown(kGroup)),
              List(Custom(ShapesFit<is_behind>, dense::kTiling), Custom(ScalesFit, dense::kTiling),
                   SizesRepresentable({kX, kWeight, kY}), matmul::FractalInsideStorage({kWeight}),
                   matmul::MatricesInsideStorage({kX, kWeight, kXScale, kWeightScale}),
                   If(HasMm, matmul::MatricesInsideStorage({kMmX, kMmWeight, kMmXScale, kMmWeightScale}))));
}
constexpr auto kQuantisedBehind = QuantisedChecks<true>();
constexpr auto kQuantisedBefore = QuantisedChecks<false>();

// ---- the jobs ----

// Returns the product's part of gmmX, without rows and operands of rows.
GroupedPart PartOf(const OperatorCall& call, int weight, bool is_transposed, bool has_groups) {
  GroupedPart part{};
  part.right = grouped::OperandOf(call, weight, 0, true, has_groups);
  const Shape& shape = call.Tensor(weight).shape;
  part.depth = shape[shape.rank - 2];
  part.columns = shape[shape.rank - 1];
  if (!is_transposed) return part;
  std::swap(part.right.row, part.right.column);
  std::swap(part.depth, part.columns);
  return part;
}

void AddOther(const OperatorCall& call, DenseOpList& ops) {
  if (!HasMm(call) || call.Tensor(kMmY).shape.IsEmpty()) return;
  GroupedPart part = PartOf(call, kMmWeight, Integer(call, kMmTransposes) != 0, false);
  part.rows = call.Tensor(kMmX).shape[0];
  part.left = LeftOf(call, ops, kMmX);
  part.out = DenseRows(ops.Out(kMmY), call.Tensor(kMmY).dtype, part.columns);
  Multiply(ops, part);
}

// Operands without rows may have no address.
BufferRef InOr(const OperatorCall& call, DenseOpList& ops, int tensor) {
  return call.Tensor(tensor).shape.IsEmpty() ? ops.Bytes(1) : ops.In(tensor);
}
BufferRef OutOr(const OperatorCall& call, DenseOpList& ops, int tensor) {
  return call.Tensor(tensor).shape.IsEmpty() ? ops.Bytes(1) : ops.Out(tensor);
}

void AddJob(const OperatorCall& call, Executor& executor, bool is_behind) {
  if (!exchanges::Join(call, kGroup, 1, executor)) return;
  const int64_t ranks = exchanges::RanksIn(executor);
  const int64_t experts = call.Tensor(kWeight).shape[0];
  const aclDataType dtype = call.Tensor(kX).dtype;
  const int64_t size = dense::SizeOf(call, kX);
  GroupedPart part = PartOf(call, kWeight, Integer(call, kTransposes) != 0, true);
  const int64_t bytes = (is_behind ? part.depth : part.columns) * size;  // of a row that travels
  if (!RowsFit({call.Array(kSend), call.Array(kRecv)}, ranks, experts, bytes, call.Name(kX), executor))
    return;
  RowNumbers numbers;
  numbers.Set(call.Array(kSend), call.Array(kRecv), call.Array(is_behind ? kRecv : kSend), ranks, experts,
              bytes, is_behind);
  DenseOpList ops(call, executor, &numbers.all);
  part.rows = call.Tensor(is_behind ? kY : kX).shape[0];
  const BufferRef sizes = Behind(ops.Array(), numbers.sizes);
  const BufferRef positions = Behind(ops.Array(), numbers.positions);
  exchanges::ListedParts parts{};
  parts.list = ops.Array();
  parts.ranks = ranks;
  const auto moved = ops.Bytes(part.rows * bytes);
  if (is_behind) {
    parts.send = InOr(call, ops, kX);
    parts.receive = moved;
    exchanges::Add(ops, parts);
    const BufferRef permuted = HasPermuted(call) ? OutOr(call, ops, kPermuted) : ops.Bytes(part.rows * bytes);
    TakeInOrder(ops, moved, permuted, positions, part.rows, bytes);
    part.left = DenseRows(permuted, dtype, part.depth);
    part.out = DenseRows(OutOr(call, ops, kY), dtype, part.columns);
    MultiplyGroups(ops, part, experts, sizes);
  } else {
    part.left = DenseRows(InOr(call, ops, kX), dtype, part.depth);
    part.out = DenseRows(ops.Bytes(part.rows * bytes), dtype, part.columns);
    MultiplyGroups(ops, part, experts, sizes);
    TakeInOrder(ops, part.out.buffer, moved, positions, part.rows, bytes);
    parts.send = moved;
    parts.receive = OutOr(call, ops, kY);
    exchanges::Add(ops, parts);
  }
  AddOther(call, ops);
  ops.SetJob();
}

// ---- jobs of codes ----

int64_t BytesOf(const OperatorCall& call, int tensor, int64_t elements) {
  return elements * static_cast<int64_t>(StorageBits(call.Tensor(tensor).dtype)) / 8;
}

// Returns rows of codes. Those of 4 bits are dense.
BufferRef CodesIn(const OperatorCall& call, DenseOpList& ops, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  if (view.shape.IsEmpty()) return ops.Bytes(1);
  if (!Is4Bits(call, tensor)) return ops.In(tensor);
  return {call.OperandOf(tensor), BytesOf(call, tensor, view.offset)};
}
BufferRef CodesOut(const OperatorCall& call, DenseOpList& ops, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  if (view.shape.IsEmpty()) return ops.Bytes(1);
  if (!Is4Bits(call, tensor)) return ops.Out(tensor);
  return {call.OperandOf(tensor), BytesOf(call, tensor, view.offset)};
}

// The tensors of a product of codes.
struct Operands {
  int x, weight, x_scale, weight_scale, out;
  bool is_transposed;
};

// Adds the product of rows of codes, whose powers of two are `powers`, to a list. The rows are those of a matrix, or in
// groups of as many as `sizes` says.
void MultiplyCodes(const OperatorCall& call, DenseOpList& ops, const Operands& operands, BufferRef codes,
                   BufferRef powers, BufferRef out, int64_t rows, const BufferRef* sizes) {
  if (rows == 0) return;
  const StridedView lines = matmul::LinesOf(call, operands.weight, !operands.is_transposed);
  const int last = lines.shape.rank - 1;
  engine::CodeProduct job;
  job.rows = rows;
  job.columns = lines.shape[last - 1];
  job.terms = lines.shape[last];
  job.left = {.buffer = codes, .dtype = call.Tensor(operands.x).dtype, .line_step = job.terms};
  job.right = matmul::CodesFrom(ops, operands.weight, lines);
  if (HasPowers(call)) {
    job.block = matmul::kMxTerms;
    job.left_scale = {.buffer = powers,
                      .dtype = ACL_FLOAT8_E8M0,
                      .is_there = true,
                      .line_step = 2 * matmul::BlocksIn(job.terms, matmul::kPairTerms),
                      .block_step = 1};
    StridedView scale = PlainView(call.Tensor(operands.weight_scale));
    constexpr int kOrder[] = {0, 2, 1, 3};
    constexpr int kOrderOfMatrix[] = {1, 0, 2};
    if (!operands.is_transposed) Permute(scale, sizes != nullptr ? kOrder : kOrderOfMatrix);
    job.right_scale = matmul::PairsFrom(ops, operands.weight_scale, scale);
  } else {
    job.column_factor = matmul::NumbersFrom(ops, call, operands.weight_scale);
    job.row_factor = matmul::NumbersFrom(ops, call, operands.x_scale);
  }
  job.out = out;
  job.dtype = call.Tensor(operands.out).dtype;
  job.out_row_step = job.columns;
  if (sizes != nullptr) {
    job.batches = lines.shape[0];
    job.cut = engine::CodeProduct::Cut::kRows;
    job.ends = *sizes;
    job.are_counts = true;
  }
  matmul::AddProduct(ops, job);
}

void AddOtherCodes(const OperatorCall& call, DenseOpList& ops) {
  if (!HasMm(call) || call.Tensor(kMmY).shape.IsEmpty()) return;
  const Operands operands{kMmX,           kMmWeight, kMmXScale,
                          kMmWeightScale, kMmY,      Integer(call, kMmTransposes) != 0};
  const BufferRef codes = CodesIn(call, ops, kMmX);
  MultiplyCodes(call, ops, operands, codes, HasPowers(call) ? ops.In(kMmXScale) : codes, ops.Out(kMmY),
                call.Tensor(kMmX).shape[0], nullptr);
}

// Sends rows and brings them into the order of experts. `step` is the number of the exchange.
void Travel(DenseOpList& ops, BufferRef from, BufferRef to, BufferRef list, BufferRef positions, int64_t rows,
            int64_t bytes, int64_t ranks, int step) {
  exchanges::ListedParts parts{};
  parts.send = from;
  parts.receive = ops.Bytes(rows * bytes);
  parts.list = list;
  parts.ranks = ranks;
  parts.step = step;
  exchanges::Add(ops, parts);
  TakeInOrder(ops, parts.receive, to, positions, rows, bytes);
}

void AddCodesJob(const OperatorCall& call, Executor& executor, bool is_behind) {
  // Powers of two travel with their rows.
  const bool has_two = is_behind && HasPowers(call);
  if (!exchanges::Join(call, kGroup, has_two ? 2 : 1, executor)) return;
  const int64_t ranks = exchanges::RanksIn(executor);
  const int64_t experts = call.Tensor(kWeight).shape[0];
  const int64_t terms = call.Tensor(kX).shape[1];
  const int64_t columns = call.Tensor(kY).shape[1];
  const int64_t bytes = is_behind ? BytesOf(call, kX, terms) : columns * dense::SizeOf(call, kY);
  const int64_t scale_bytes = 2 * matmul::BlocksIn(terms, matmul::kPairTerms);
  if (!RowsFit({call.Array(kSend), call.Array(kRecv)}, ranks, experts, std::max(bytes, scale_bytes),
               call.Name(kX), executor))
    return;
  RowNumbers numbers;
  numbers.Set(call.Array(kSend), call.Array(kRecv), call.Array(is_behind ? kRecv : kSend), ranks, experts,
              bytes, is_behind);
  const int64_t ranges_of_scales =
      has_two ? numbers.AddRanges(call.Array(kSend), call.Array(kRecv), ranks, experts, scale_bytes) : 0;
  DenseOpList ops(call, executor, &numbers.all);
  const BufferRef sizes = Behind(ops.Array(), numbers.sizes);
  const BufferRef positions = Behind(ops.Array(), numbers.positions);
  const int64_t rows = call.Tensor(is_behind ? kY : kX).shape[0];
  const Operands operands{kX, kWeight, kXScale, kWeightScale, kY, Integer(call, kTransposes) != 0};
  const auto powers_in = [&] {
    return call.Tensor(kXScale).shape.IsEmpty() ? ops.Bytes(1) : ops.In(kXScale);
  };
  if (is_behind) {
    const BufferRef permuted = HasPermuted(call) ? CodesOut(call, ops, kPermuted) : ops.Bytes(rows * bytes);
    Travel(ops, CodesIn(call, ops, kX), permuted, ops.Array(), positions, rows, bytes, ranks, 0);
    BufferRef powers = permuted;
    if (has_two) {
      powers = ops.Bytes(rows * scale_bytes);
      Travel(ops, powers_in(), powers, Behind(ops.Array(), ranges_of_scales), positions, rows, scale_bytes,
             ranks, 1);
    }
    MultiplyCodes(call, ops, operands, permuted, powers, OutOr(call, ops, kY), rows, &sizes);
  } else {
    const BufferRef codes = CodesIn(call, ops, kX);
    const BufferRef product = ops.Bytes(rows * bytes);
    MultiplyCodes(call, ops, operands, codes, HasPowers(call) ? powers_in() : codes, product, rows, &sizes);
    exchanges::ListedParts parts{};
    parts.send = ops.Bytes(rows * bytes);
    parts.receive = OutOr(call, ops, kY);
    parts.list = ops.Array();
    parts.ranks = ranks;
    TakeInOrder(ops, product, parts.send, positions, rows, bytes);
    exchanges::Add(ops, parts);
  }
  AddOtherCodes(call, ops);
  ops.SetJob();
}

template <bool is_behind>
void SetJobOf(const OperatorCall& call, Executor& executor) {
  try {
    if (call.IsGiven(kXScale)) {
      AddCodesJob(call, executor, is_behind);
    } else {
      AddJob(call, executor, is_behind);
    }
  } catch (const std::bad_alloc&) {
    executor.out_of_memory = true;
  }
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's
PORTACL_PHASE_1(aclnnAlltoAllvGroupedMatMul) {
  return dense::RunOpList(call, kBehind, workspaceSize, executor, SetJobOf<true>);
}
PORTACL_PHASE_1(aclnnAlltoAllvGroupedMatMulV2) {
  return dense::RunOpList(call, kBehind, workspaceSize, executor, SetJobOf<true>);
}
PORTACL_PHASE_1(aclnnGroupedMatMulAlltoAllv) {
  return dense::RunOpList(call, kBefore, workspaceSize, executor, SetJobOf<false>);
}
PORTACL_PHASE_1(aclnnGroupedMatMulAlltoAllvV2) {
  return dense::RunOpList(call, kBefore, workspaceSize, executor, SetJobOf<false>);
}
PORTACL_PHASE_1(aclnnAlltoAllvQuantGroupedMatMul) {
  return dense::RunOpList(call, kQuantisedBehind, workspaceSize, executor, SetJobOf<true>);
}
PORTACL_PHASE_1(aclnnAlltoAllvQuantGroupedMatMulV2) {
  return dense::RunOpList(call, kQuantisedBehind, workspaceSize, executor, SetJobOf<true>);
}
PORTACL_PHASE_1(aclnnQuantGroupedMatMulAlltoAllv) {
  return dense::RunOpList(call, kQuantisedBefore, workspaceSize, executor, SetJobOf<false>);
}
PORTACL_PHASE_1(aclnnQuantGroupedMatMulAlltoAllvV2) {
  return dense::RunOpList(call, kQuantisedBefore, workspaceSize, executor, SetJobOf<false>);
}
// NOLINTEND(readability-identifier-naming)
