// Products of codes of few bits with scales of tensors, columns, rows or blocks (see quant_matmul_codes.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/quant_matmul_codes.h"

#include "acl/device/device.h"
#include "aclnnop/jobs/code_matrices.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/matrix_product.h"
#include "base/data_type.h"
#include "plan/views.h"

namespace portacl::matmul {
namespace {

using namespace dense;
using engine::CodeProduct;

// As aclnnQuantMatmulV5 passes them.
enum Tensors { kX1, kX2, kScale, kOffset, kPertoken, kBias, kYScale, kX1Offset, kYOffset, kOut };
enum Attributes { kTranspose1, kTranspose2, kGroupSize };

constexpr DtypeSet kAllFloat8s = kFloat8Codes | kHifloat8;
constexpr DtypeSet kHalfAndBf16{ACL_FLOAT16, ACL_BF16};
constexpr int32_t kBlock = 128;
constexpr int64_t kPackedTerms = 256;  // that share a scale of INT4 weights

enum class Mode : uint8_t {
  kWhole,    // scales of tensors, columns and rows
  kBlocks,   // of 128 terms and columns, and one row or 128
  kPowers,   // MX: powers of two of 32 terms
  kColumns,  // of 32 terms and a column of FLOAT4 weights
  kWords,    // INT8 times INT4 in words
  kOffsets   // INT4 with scales and offsets of 256 terms
};
Mode ModeOf(const OperatorCall& call) {
  const aclDataType x1 = call.Tensor(kX1).dtype;
  if (x1 == ACL_INT8) return Mode::kWords;
  if (x1 == ACL_INT4) return Mode::kOffsets;
  const aclTensor& scale = call.Tensor(kScale);
  if (scale.dtype == ACL_FLOAT8_E8M0) return Mode::kPowers;
  if (call.Tensor(kX2).dtype == ACL_FLOAT4_E2M1) return Mode::kColumns;
  const bool has_rows = call.IsGiven(kPertoken) && call.Tensor(kPertoken).shape.rank >= 2;
  return has_rows && scale.shape.rank >= 2 ? Mode::kBlocks : Mode::kWhole;
}
bool IsThere(const OperatorCall& call, int tensor) {
  return call.IsGiven(tensor) && !call.Tensor(tensor).shape.IsEmpty();
}
bool IsSwapped(const OperatorCall& call, bool is_left) {
  return Integer(call, is_left ? kTranspose1 : kTranspose2) != 0;
}
bool HasWords(const OperatorCall& call) { return kScaleWords.Contains(call.Tensor(kScale).dtype); }
// Tells whether FLOAT8 codes are multiplied by FLOAT4 weights.
bool IsMixed(const OperatorCall& call) {
  return call.Tensor(kX2).dtype == ACL_FLOAT4_E2M1 && call.Tensor(kX1).dtype != ACL_FLOAT4_E2M1;
}

// ---- checks ----

aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Mode mode = ModeOf(call);
  const aclDataType x1 = call.Tensor(kX1).dtype;
  const aclDataType x2 = call.Tensor(kX2).dtype;
  const auto is_in = [&](int tensor, DtypeSet set, const char* accepted) {
    if (call.IsGiven(tensor)) checks.Holds(set.Contains(call.Tensor(tensor).dtype), tensor, accepted);
  };
  DtypeSet outs = kFloatHalfAndBf16;
  switch (mode) {
    case Mode::kWhole:
    case Mode::kBlocks: {
      checks.Holds(kAllFloat8s.Contains(x1), kX1, "FLOAT8_E4M3FN, FLOAT8_E5M2 or HIFLOAT8");
      const bool is_hifloat = x1 == ACL_HIFLOAT8;
      checks.Holds((is_hifloat ? kHifloat8 : kFloat8Codes).Contains(x2), kX2,
                   "HIFLOAT8 with x1 of that, else FLOAT8_E4M3FN or FLOAT8_E5M2");
      const bool takes_words = mode == Mode::kWhole && !call.IsGiven(kPertoken);
      is_in(kScale, takes_words ? kScaleFloats | kScaleWords : kScaleFloats,
            "FLOAT, or UINT64 or INT64 without x1Scale");
      is_in(kPertoken, kScaleFloats, "FLOAT");
      is_in(kBias, kScaleFloats, "FLOAT");
      break;
    }
    case Mode::kPowers: {
      checks.Holds((kFloat8Codes | kFloat4Codes).Contains(x1), kX1,
                   "FLOAT8_E4M3FN, FLOAT8_E5M2 or FLOAT4_E2M1 beside powers of two");
      const bool fits = x1 == ACL_FLOAT4_E2M1
                            ? x2 == x1
                            : kFloat8Codes.Contains(x2) || (x1 == ACL_FLOAT8_E4M3FN && x2 == ACL_FLOAT4_E2M1);
      checks.Holds(fits, kX2, "FLOAT4_E2M1 with x1 of that or of FLOAT8_E4M3FN, else 8-bit floats");
      checks.Given(kPertoken, "beside powers of two");
      if (checks.Passed()) is_in(kPertoken, kScalePowers, "FLOAT8_E8M0");
      if (IsMixed(call)) outs = kHalfAndBf16;
      is_in(kBias, IsMixed(call) ? DtypeSet(call.Tensor(kOut).dtype) : kScaleFloats,
            "FLOAT, with FLOAT8 times FLOAT4 the dtype of out");
      break;
    }
    case Mode::kColumns:
      checks.Holds(x1 == ACL_FLOAT8_E4M3FN, kX1, "FLOAT8_E4M3FN beside FLOAT4 weights");
      is_in(kScale, kHalfAndBf16, "FLOAT16 or BF16 beside FLOAT4 weights");
      checks.Given(kYScale, "beside scales of FLOAT16 or BF16");
      if (checks.Passed()) is_in(kYScale, kScaleWords, "UINT64 or INT64");
      checks.Holds(!call.IsGiven(kBias), kBias, "a null pointer");
      checks.Holds(!call.IsGiven(kPertoken), kPertoken, "a null pointer");
      outs = kHalfAndBf16;
      break;
    case Mode::kWords:
      checks.Holds(x2 == ACL_INT32, kX2, "INT8, or eight INT4 in an INT32");
      is_in(kScale, kScaleFloats | kScaleWords, "UINT64, INT64 or FLOAT");
      checks.Given(kPertoken, "beside weights of INT4");
      if (checks.Passed()) is_in(kPertoken, kScaleFloats, "FLOAT");
      is_in(kYOffset, kScaleFloats, "FLOAT");
      checks.Holds(!call.IsGiven(kBias), kBias, "a null pointer");
      outs = kHalfAndBf16;
      break;
    case Mode::kOffsets:
      checks.Holds(x2 == ACL_INT4, kX2, "INT4, as x1 is");
      is_in(kScale, kScaleFloats, "FLOAT");
      checks.Given(kPertoken, "beside offsets of INT4");
      if (checks.Passed()) is_in(kPertoken, kScaleFloats, "FLOAT");
      checks.Given(kOffset, "beside scales of 256 terms");
      if (checks.Passed()) is_in(kOffset, DtypeSet(ACL_FLOAT16), "FLOAT16");
      checks.Holds(!call.IsGiven(kBias), kBias, "a null pointer");
      outs = kHalfAndBf16;
      break;
  }
  is_in(kOut, outs, mode <= Mode::kPowers ? "FLOAT, FLOAT16 or BF16" : "FLOAT16 or BF16");
  return checks.status();
}

// Refuses operands that the mode does not use. Tensors without elements count as null.
aclnnStatus HasNoMore(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Mode mode = ModeOf(call);
  checks.Holds(!IsThere(call, kX1Offset), kX1Offset, "a null pointer or no elements");
  checks.Holds(mode == Mode::kWords || !IsThere(call, kYOffset), kYOffset, "a null pointer or no elements");
  checks.Holds(mode != Mode::kWords || IsThere(call, kYOffset), kYOffset,
               "a number for each column beside weights of INT4");
  checks.Holds(mode == Mode::kColumns || mode == Mode::kPowers || !IsThere(call, kYScale), kYScale,
               "a null pointer or no elements");
  const bool takes_none = IsMixed(call) && call.IsGiven(kOffset);
  checks.Holds(mode == Mode::kOffsets || (!takes_none && !IsThere(call, kOffset)), kOffset, "a null pointer");
  return checks.status();
}
aclnnStatus HasNoYScale(const Check& check, OperatorCall& call) noexcept {
  const bool fits = ModeOf(call) != Mode::kPowers || !IsThere(call, kYScale);
  return ShapeChecks(check, call).Holds(fits, kYScale, "a null pointer or no elements").status();
}

// The dims of scales are those of their matrix, which a flag swaps.
Shape Swapped(const Shape& shape, bool swaps) {
  Shape swapped = shape;
  if (swaps) std::swap(swapped.dim[0], swapped.dim[1]);
  return swapped;
}

aclnnStatus MatricesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kX1, kX2, kOut}) checks.Rank(tensor, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Mode mode = ModeOf(call);
  if (mode == Mode::kWords) {
    checks.Holds(!IsSwapped(call, true), kX1, "no flag beside weights of INT4");
    checks.Holds(!IsSwapped(call, false) && grouped::WordsLieTogether(call.Tensor(kX2)), kX2,
                 "words of eight columns side by side, and no flag");
    if (!checks.Passed()) return checks.status();
  }
  const StridedView left = LinesOf(call, kX1, IsSwapped(call, true));
  const StridedView right = LinesOf(call, kX2, !IsSwapped(call, false));
  const int64_t terms = left.shape[1];
  checks.Holds(right.shape[1] == terms, kX2, "as many terms as x1 has");
  checks.Holds(terms > 0, kX1, "at least one term");
  for (const int tensor : {kX1, kX2}) {
    const StridedView& lines = tensor == kX1 ? left : right;
    if (StorageBits(lines.dtype) != 4 || mode == Mode::kWords) continue;
    checks.Holds(LiesInBytes(lines), tensor,
                 "of 4 bits an even dim that lies side by side, from an even element on");
    if (lines.dtype == ACL_FLOAT4_E2M1)
      checks.Holds(terms > 2 && terms % 2 == 0, tensor, "of FLOAT4 an even number of terms above 2");
  }
  if (mode == Mode::kColumns) checks.Holds(terms % kMxTerms == 0, kX1, "terms in multiples of 32");
  if (mode == Mode::kWords && call.Tensor(kScale).shape.rank == 2)
    checks.Holds(terms % kPackedTerms == 0, kX1, "terms in multiples of 256");
  if (mode == Mode::kOffsets) {
    checks.Holds(terms % (4 * kPackedTerms) == 0, kX1, "terms in multiples of 1024");
    checks.Holds(right.shape[0] % 256 == 0, kX2, "columns in multiples of 256");
  }
  return checks.Is(kOut, Shape{left.shape[0], right.shape[0]}).status();
}

aclnnStatus ScalesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool swaps1 = IsSwapped(call, true);
  const bool swaps2 = IsSwapped(call, false);
  const Shape left = LinesOf(call, kX1, swaps1).shape;
  const int64_t rows = left[0];
  const int64_t terms = left[1];
  const int64_t columns = LinesOf(call, kX2, !swaps2).shape[0];
  const auto is_one_or = [&](int tensor, int64_t many, const char* accepted) {
    if (!call.IsGiven(tensor)) return;
    const Shape& shape = call.Tensor(tensor).shape;
    const bool is_line = shape.rank == 1 && (shape[0] == 1 || shape[0] == many);
    checks.Holds(shape.rank == 0 || is_line, tensor, accepted);
  };
  if (call.IsGiven(kBias)) {
    const Shape& bias = call.Tensor(kBias).shape;
    checks.Holds(bias == Shape{columns} || bias == Shape{1, columns}, kBias, "a number for each column");
  }
  switch (ModeOf(call)) {
    case Mode::kWhole:
      is_one_or(kScale, columns, "no dims, or one dim, of one number or one for each column");
      is_one_or(kPertoken, rows, "no dims, or one dim, of one number or one for each row");
      break;
    case Mode::kBlocks: {
      const Shape& own = call.Tensor(kPertoken).shape;
      const int64_t blocks = BlocksIn(terms, kBlock);
      const Shape each = Swapped(Shape{rows, blocks}, swaps1);
      const Shape many = Swapped(Shape{BlocksIn(rows, kBlock), blocks}, swaps1);
      checks.Holds(own == each || own == many, kPertoken,
                   "a number for each block of 128 terms and one row or 128");
      checks.Is(kScale, Swapped(Shape{blocks, BlocksIn(columns, kBlock)}, swaps2));
      checks.Holds(own == each || !call.IsGiven(kBias), kBias, "a null pointer beside scales of 128 rows");
      break;
    }
    case Mode::kPowers: {
      const int64_t pairs = BlocksIn(terms, kPairTerms);
      Shape of_rows = Swapped(Shape{rows, pairs, 2}, swaps1);
      Shape of_columns = Swapped(Shape{pairs, columns, 2}, swaps2);
      checks.Is(kPertoken, of_rows).Is(kScale, of_columns);
      break;
    }
    case Mode::kColumns:
      checks.Is(kScale, Swapped(Shape{terms / kMxTerms, columns}, swaps2)).Is(kYScale, Shape{1, columns});
      break;
    case Mode::kWords: {
      const Shape& scale = call.Tensor(kScale).shape;
      checks.Holds(scale == Shape{columns} || scale == Shape{terms / kPackedTerms, columns}, kScale,
                   "a number for each column, or for each of these and 256 terms");
      const Shape& of_rows = call.Tensor(kPertoken).shape;
      checks.Holds(of_rows == Shape{rows, 1} || of_rows == Shape{rows}, kPertoken, "a number for each row");
      checks.Is(kYOffset, Shape{columns});
      break;
    }
    case Mode::kOffsets: {
      const Shape own{terms / kPackedTerms, columns};
      checks.Is(kScale, own).Is(kOffset, own);
      const Shape& of_rows = call.Tensor(kPertoken).shape;
      checks.Holds(of_rows == Shape{rows, 1} || of_rows == Shape{rows}, kPertoken, "a number for each row");
      break;
    }
  }
  return checks.status();
}

aclnnStatus GroupFits(const Check& check, OperatorCall& call) noexcept {
  const int64_t group = Integer(call, kGroupSize);
  const int64_t of_terms = group & 0xFFFF;
  const int64_t of_columns = group >> 16 & 0xFFFF;
  const int64_t of_rows = group >> 32;
  const auto is = [&](int64_t terms, int64_t columns, int64_t rows) {
    return (of_terms == 0 || of_terms == terms) && (of_columns == 0 || of_columns == columns) &&
           (of_rows == 0 || of_rows == rows);
  };
  bool fits = false;
  switch (ModeOf(call)) {
    case Mode::kWhole:
      fits = group == 0;
      break;
    case Mode::kBlocks: {
      const Shape left = LinesOf(call, kX1, IsSwapped(call, true)).shape;
      const int64_t columns = LinesOf(call, kX2, !IsSwapped(call, false)).shape[0];
      const int64_t lines = call.Tensor(kPertoken).shape[IsSwapped(call, true) ? 1 : 0];
      // A field of groupSize that is 0 means the length divided by its number of blocks.
      const auto is_block = [](int64_t field, int64_t length) {
        return field == kBlock || (field == 0 && length % kBlock == 0);
      };
      const bool fits_rows = (lines == left[0] && (of_rows == 0 || of_rows == 1)) ||
                             (lines == BlocksIn(left[0], kBlock) && is_block(of_rows, left[0]));
      fits = is_block(of_terms, left[1]) && is_block(of_columns, columns) && fits_rows;
      break;
    }
    case Mode::kPowers:
      fits = is(kMxTerms, 1, 1);
      break;
    case Mode::kColumns:
      fits = of_columns <= 1 && of_rows <= 1 && is(kMxTerms, of_columns, of_rows);
      break;
    case Mode::kWords:
      fits = group == 0 || (group == kPackedTerms && call.Tensor(kScale).shape.rank == 2);
      break;
    case Mode::kOffsets:
      fits = group == 0 || group == kPackedTerms;
      break;
  }
  return ShapeChecks(check, call).HoldsOf(fits, kGroupSize, "0, or the groups that the scales have").status();
}

aclnnStatus FormatsFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  for (const int tensor : {kX1, kScale, kOffset, kPertoken, kBias, kYScale, kYOffset, kOut}) {
    if (call.IsGiven(tensor))
      checks.Holds(!IsPrivateFormat(call.Tensor(tensor).format), tensor, "no private format");
  }
  return checks.status();
}
aclnnStatus IsFractal(const Check& check, OperatorCall& call) noexcept {
  const aclFormat format = call.Tensor(kX2).format;
  const bool is_fractal = format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_FRACTAL_NZ_C0_32;
  return ShapeChecks(check, call).Holds(is_fractal, kX2, "the format FRACTAL_NZ").status();
}

constexpr auto kChecks = List(
    NotNull(kX1), NotNull(kX2), NotNull(kScale), NotNull(kOut), Custom(TypesFit),
    Custom(HasNoMore, ACLNN_ERR_PARAM_NULLPTR), Custom(HasNoYScale), Custom(MatricesFit), Custom(ScalesFit),
    Custom(FormatsFit), Custom(GroupFits), SizesRepresentable({kOut}), DoneIfEmpty({kOut}),
    FractalInsideStorage({kX2}), MatricesInsideStorage({kX1, kX2}),
    MatricesInsideStorage({kScale, kPertoken, kOffset}), MatricesInsideStorage({kBias, kYScale, kYOffset}));
constexpr auto kFractalChecks = Join(List(Custom(IsFractal)), kChecks);

// ---- jobs ----

// Views scales as lines of blocks.
StridedView ScalesOf(const OperatorCall& call, int tensor, bool swaps) {
  if (call.Tensor(tensor).shape.rank == 3)
    return swaps ? OrderedView(call, tensor, {1, 0, 2}) : OrderedView(call, tensor, {0, 1, 2});
  return swaps ? OrderedView(call, tensor, {1, 0}) : OrderedView(call, tensor, {0, 1});
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const bool swaps1 = IsSwapped(call, true);
  const bool swaps2 = IsSwapped(call, false);
  const StridedView left = LinesOf(call, kX1, swaps1);
  const StridedView right = LinesOf(call, kX2, !swaps2);
  CodeProduct job;
  job.rows = left.shape[0];
  job.terms = left.shape[1];
  job.columns = right.shape[0];
  job.left = CodesFrom(ops, kX1, left);
  job.right = CodesFrom(ops, kX2, right);
  job.dtype = call.Tensor(kOut).dtype;
  job.out = ops.Out(kOut);
  job.out_row_step = job.columns;
  job.bias = NumbersFrom(ops, call, kBias);
  switch (ModeOf(call)) {
    case Mode::kBlocks: {
      const StridedView of_rows = ScalesOf(call, kPertoken, swaps1);
      job.block = kBlock;
      job.left_scale = ScalesFrom(ops, kPertoken, of_rows, of_rows.shape[0] == job.rows ? 1 : kBlock);
      job.right_scale = ScalesFrom(ops, kScale, ScalesOf(call, kScale, !swaps2), kBlock);
      break;
    }
    case Mode::kPowers:
      job.block = kMxTerms;
      job.left_scale = PairsFrom(ops, kPertoken, ScalesOf(call, kPertoken, swaps1));
      job.right_scale = PairsFrom(ops, kScale, ScalesOf(call, kScale, !swaps2));
      break;
    case Mode::kColumns:
      job.block = kMxTerms;
      job.right_scale = ScalesFrom(ops, kScale, ScalesOf(call, kScale, !swaps2));
      job.column_factor = NumbersFrom(ops, call, kYScale);
      break;
    case Mode::kOffsets:
      job.block = kPackedTerms;
      job.right_scale = ScalesFrom(ops, kScale, ScalesOf(call, kScale, true));
      job.zero = ScalesFrom(ops, kOffset, ScalesOf(call, kOffset, true));
      job.row_factor = NumbersFrom(ops, call, kPertoken);
      break;
    default:
      job.column_factor = NumbersFrom(ops, call, kScale);
      job.row_factor = NumbersFrom(ops, call, kPertoken);
      job.adds_first = HasWords(call);
      break;
  }
  AddProduct(ops, job);
  ops.SetJob();
}

// Multiplies INT8 by 4-bit weights: the sum of (x1 - 8) * weight, plus yOffset, in which the caller adds back 8 * weight.
void SetWords(const OperatorCall& call, Executor& executor) {
  OpList ops(executor, 3);
  const Shape& x = call.Tensor(kX1).shape;
  const int64_t columns = call.Tensor(kOut).shape[1];
  engine::GroupedProducts products{};
  products.cut = engine::GroupedProducts::Cut::kNone;
  products.groups = 1;
  products.name = call.Name(kX1);
  products.isa = call.isa;
  products.threads = call.threads;
  products.schedule = ops.Workspace(8 * products.ScheduleWords());
  engine::GroupedInput input{};
  input.kind = engine::GroupedInput::Kind::kLess8;
  input.from = grouped::OperandOf(call, kX1, 0, true, false);
  input.to = ops.Workspace(x[0] * x[1] * 2);
  input.rows = x[0];
  input.columns = x[1];
  input.isa = call.isa;
  input.threads = call.threads;
  ops.Compute(input, {input.from.buffer}, x[0] * x[1]);
  engine::GroupedPart& part = products.part;
  part.rows = x[0];
  part.depth = x[1];
  part.columns = columns;
  part.left = {true, input.to, ACL_BF16, x[1] * 2, 2, 0};
  grouped::SetWeights(part, call, kX2, 0);
  const Shape& scale = call.Tensor(kScale).shape;
  part.scale = grouped::OperandOf(call, kScale, 0, true, false);
  if (StorageBits(part.scale.dtype) == 64) part.scale.dtype = ACL_FLOAT;
  part.group_terms = scale.rank == 2 ? kPackedTerms : x[1];
  part.added = grouped::OperandOf(call, kYOffset, 0, false, false);
  const engine::BufferRef sums = ops.Workspace(x[0] * columns * 4);
  part.out = {true, sums, ACL_FLOAT, columns * 4, 4, 0};
  ops.Compute(products, {part.right.buffer, part.scale.buffer, part.added.buffer}, products.Elements());
  engine::GroupedRows rows{};
  rows.sums = sums;
  rows.covered = products.schedule;
  rows.rows = x[0];
  rows.columns = columns;
  rows.factor = grouped::OperandOf(call, kPertoken, 0, call.Tensor(kPertoken).shape.rank == 2, false);
  if (call.Tensor(kPertoken).shape.rank == 1) rows.factor.row = rows.factor.column;
  rows.factor.column = 0;
  rows.out = grouped::OperandOf(call, kOut, 0, true, false);
  rows.threads = call.threads;
  SetFunction(rows, call.isa);
  ops.Compute(rows, {rows.factor.buffer, rows.out.buffer}, x[0] * columns);
  ops.SetJob();
}
void Set(const OperatorCall& call, Executor& executor) {
  if (ModeOf(call) == Mode::kWords) return SetWords(call, executor);
  SetProduct(call, executor);
}

}  // namespace

bool AreCodes(const OperatorCall& call) noexcept {
  for (const int tensor : {kX1, kX2, kScale, kOut}) {
    if (!call.IsGiven(tensor)) return false;
  }
  const Product product = CurrentProduct();
  const aclDataType x1 = call.Tensor(kX1).dtype;
  const aclDataType x2 = call.Tensor(kX2).dtype;
  if (products::kAscend950.Contains(product)) return (kAllFloat8s | kFloat4Codes).Contains(x1);
  if (!products::kAtlasA2AndA3.Contains(product)) return false;
  if (x1 == ACL_INT8) return x2 == ACL_INT32;
  return x1 == ACL_INT4 && x2 == ACL_INT4 && call.Tensor(kScale).shape.rank == 2 && IsThere(call, kOffset);
}

aclnnStatus RunCodes(OperatorCall& call, bool is_fractal, uint64_t* workspaceSize,
                     aclOpExecutor** executor) noexcept {
  if (is_fractal) return dense::RunOpList(call, kFractalChecks, workspaceSize, executor, Set);
  return dense::RunOpList(call, kChecks, workspaceSize, executor, Set);
}

}  // namespace portacl::matmul
