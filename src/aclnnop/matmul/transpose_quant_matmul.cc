// aclnnTransposeQuantBatchMatMul and WeightNz: products of batches of 8-bit floats, of which the batch is the second
// dim of the left operand and of the result.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/transpose_quant_matmul_functions.h"

#include "aclnnop/jobs/code_matrices.h"
#include "aclnnop/jobs/matrix_product.h"
#include "plan/views.h"

namespace portacl {
namespace {

using namespace dense;
using namespace matmul;
using engine::CodeProduct;

enum Tensors { kX1, kX2, kBias, kX1Scale, kX2Scale, kOut };
enum Attributes { kDtype, kGroupSize, kPermX1, kPermX2, kPermY, kSplit };

constexpr DtypeRule kCodesOn950 = ByGeneration({}, {}, kFloat8Codes | kHifloat8);
constexpr DtypeSet kHalfAndBf16{ACL_FLOAT16, ACL_BF16};
constexpr int64_t kWholeTerms = 512;
constexpr int64_t kWholeColumns = 128;
constexpr int64_t kMxGroup = int64_t{1} << 32 | int64_t{1} << 16 | kMxTerms;

enum class Mode : uint8_t { kWhole, kPowers, kHifloat };
Mode ModeOf(const OperatorCall& call) {
  if (call.Tensor(kX1).dtype == ACL_HIFLOAT8) return Mode::kHifloat;
  return call.Tensor(kX2Scale).dtype == ACL_FLOAT8_E8M0 ? Mode::kPowers : Mode::kWhole;
}
bool HasRowScale(const OperatorCall& call) noexcept { return call.Tensor(kX1).dtype != ACL_HIFLOAT8; }

bool IsOrder(const OperatorCall& call, int attribute, std::initializer_list<int64_t> order) {
  const aclIntArray* const given = call.attributes[static_cast<size_t>(attribute)].array;
  return given != nullptr &&
         std::equal(given->values.begin(), given->values.end(), order.begin(), order.end());
}
// Tells whether x2 has terms behind columns.
bool IsSwapped(const OperatorCall& call) { return IsOrder(call, kPermX2, {0, 2, 1}); }

aclnnStatus DtypeFits(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .HoldsOf(Integer(call, kDtype) == call.Tensor(kOut).dtype, kDtype, "the dtype of out")
      .status();
}
aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const auto is_in = [&](int tensor, DtypeSet set, const char* accepted) {
    if (call.IsGiven(tensor)) checks.Holds(set.Contains(call.Tensor(tensor).dtype), tensor, accepted);
  };
  checks.Holds(!call.IsGiven(kBias), kBias, "a null pointer");
  switch (ModeOf(call)) {
    case Mode::kWhole:
      is_in(kX2, kFloat8Codes, "FLOAT8_E4M3FN or FLOAT8_E5M2");
      is_in(kX1Scale, kScaleFloats, "FLOAT");
      is_in(kX2Scale, kScaleFloats, "FLOAT or FLOAT8_E8M0");
      is_in(kOut, kHalfAndBf16, "FLOAT16 or BF16");
      break;
    case Mode::kPowers:
      is_in(kX1, DtypeSet(ACL_FLOAT8_E4M3FN), "FLOAT8_E4M3FN beside powers of two");
      is_in(kX2, DtypeSet(ACL_FLOAT8_E4M3FN), "FLOAT8_E4M3FN beside powers of two");
      is_in(kX1Scale, kScalePowers, "FLOAT8_E8M0, as x2Scale is");
      is_in(kOut, kHalfAndBf16, "FLOAT16 or BF16");
      break;
    case Mode::kHifloat:
      is_in(kX2, kHifloat8, "HIFLOAT8, as x1 is");
      is_in(kX1Scale, kScaleFloats, "FLOAT");
      is_in(kX2Scale, kScaleWords, "UINT64 or INT64 beside HIFLOAT8");
      is_in(kOut, kHalfAndBf16 | kHifloat8, "FLOAT16, BF16 or HIFLOAT8");
      break;
  }
  return checks.status();
}
aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Mode mode = ModeOf(call);
  checks.HoldsOf(IsOrder(call, kPermX1, {1, 0, 2}), kPermX1, "[1, 0, 2]");
  checks.HoldsOf(IsOrder(call, kPermX2, {0, 1, 2}) || (mode != Mode::kWhole && IsSwapped(call)), kPermX2,
                 "[0, 1, 2], beside powers of two and with HIFLOAT8 also [0, 2, 1]");
  checks.HoldsOf(IsOrder(call, kPermY, {1, 0, 2}), kPermY, "[1, 0, 2]");
  checks.HoldsOf(Integer(call, kSplit) == 1, kSplit, "1");
  const int64_t group = Integer(call, kGroupSize);
  return checks
      .HoldsOf(group == 0 || (mode == Mode::kPowers && group == kMxGroup), kGroupSize,
               "0, beside powers of two also groups of 1, 1 and 32")
      .status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 3, 3).Rank(kX2, 3, 3).Rank(kOut, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Mode mode = ModeOf(call);
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  const int64_t rows = left[0];
  const int64_t batches = left[1];
  const int64_t terms = left[2];
  const int64_t columns = right[IsSwapped(call) ? 1 : 2];
  checks.Is(kX2, IsSwapped(call) ? Shape{batches, columns, terms} : Shape{batches, terms, columns});
  checks.Holds(terms > 0, kX1, "at least one term");
  checks.Is(kOut, Shape{rows, batches, columns});
  const int64_t pairs = BlocksIn(terms, kPairTerms);
  switch (mode) {
    case Mode::kWhole:
      checks.Holds(terms == kWholeTerms && columns == kWholeColumns, kX2, "512 terms and 128 columns");
      checks.Is(kX1Scale, Shape{rows}).Is(kX2Scale, Shape{columns});
      break;
    case Mode::kPowers:
      checks.Is(kX1Scale, Shape{rows, batches, pairs, 2});
      checks.Is(kX2Scale,
                IsSwapped(call) ? Shape{batches, columns, pairs, 2} : Shape{batches, pairs, columns, 2});
      break;
    case Mode::kHifloat:
      checks.IsIfGiven(kX1Scale, Shape{1});
      checks.Holds(call.Tensor(kX2Scale).shape == Shape{columns} || call.Tensor(kX2Scale).shape == Shape{1},
                   kX2Scale, "one number, or one for each column");
      break;
  }
  return checks.status();
}
aclnnStatus IsFractal(const Check& check, OperatorCall& call) noexcept {
  const aclFormat format = call.Tensor(kX2).format;
  const bool is_fractal = format == ACL_FORMAT_FRACTAL_NZ || format == ACL_FORMAT_FRACTAL_NZ_C0_32;
  return ShapeChecks(check, call).Holds(is_fractal, kX2, "the format FRACTAL_NZ").status();
}

constexpr auto kChecks =
    List(NotNull(kX1), NotNull(kX2), NotNull(kX2Scale), NotNull(kOut), If(HasRowScale, NotNull(kX1Scale)),
         DtypesIn(kCodesOn950, {kX1}), Custom(DtypeFits), Custom(TypesFit), Custom(ModesFit),
         Custom(ShapesFit), SizesRepresentable({kOut}), DoneIfEmpty({kOut}), FractalInsideStorage({kX2}),
         MatricesInsideStorage({kX1, kX2}), MatricesInsideStorage({kX1Scale, kX2Scale}));
constexpr auto kFractalChecks =
    Join(List(NotNull(kX1), NotNull(kX2), NotNull(kX2Scale), NotNull(kOut), Custom(IsFractal)), kChecks);

// Swaps the first two dims of lines.
StridedView BatchFirst(StridedView lines) {
  constexpr int kOrder[] = {1, 0, 2};
  Permute(lines, kOrder);
  return lines;
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const StridedView left = BatchFirst(LinesOf(call, kX1, false));
  const StridedView right = LinesOf(call, kX2, !IsSwapped(call));
  CodeProduct job;
  job.batches = left.shape[0];
  job.rows = left.shape[1];
  job.terms = left.shape[2];
  job.columns = right.shape[1];
  job.left = CodesFrom(ops, kX1, left);
  job.right = CodesFrom(ops, kX2, right);
  job.out = ops.Out(kOut);
  job.dtype = call.Tensor(kOut).dtype;
  job.out_batch_step = job.columns;
  job.out_row_step = job.batches * job.columns;
  if (ModeOf(call) == Mode::kPowers) {
    job.block = kMxTerms;
    job.left_scale = PairsFrom(ops, kX1Scale, OrderedView(call, kX1Scale, {1, 0, 2, 3}));
    job.right_scale = PairsFrom(ops, kX2Scale,
                                IsSwapped(call) ? OrderedView(call, kX2Scale, {0, 1, 2, 3})
                                                : OrderedView(call, kX2Scale, {0, 2, 1, 3}));
  } else {
    job.column_factor = NumbersFrom(ops, call, kX2Scale);
    job.row_factor = NumbersFrom(ops, call, kX1Scale);
  }
  AddProduct(ops, job);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTBEGIN(readability-identifier-naming): the names are CANN's
PORTACL_PHASE_1(aclnnTransposeQuantBatchMatMul) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProduct);
}
PORTACL_PHASE_1(aclnnTransposeQuantBatchMatMulWeightNz) {
  return dense::RunOpList(call, kFractalChecks, workspaceSize, executor, SetProduct);
}
// NOLINTEND(readability-identifier-naming)
