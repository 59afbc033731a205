// aclnnDualLevelQuantMatmulWeightNz: a product of FLOAT4 whose blocks of 32 terms have powers of two, and of 512
// terms a scale more.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/dual_level_matmul_functions.h"

#include "aclnnop/jobs/code_matrices.h"
#include "aclnnop/jobs/matrix_product.h"

namespace portacl {
namespace {

using namespace dense;
using namespace matmul;
using engine::CodeProduct;

enum Tensors { kX1, kX2, kX1Level0, kX2Level0, kX1Level1, kX2Level1, kBias, kOut };
enum Attributes { kTranspose1, kTranspose2, kLevel0, kLevel1 };

constexpr DtypeRule kCodesOn950 = ByGeneration({}, {}, kFloat4Codes);
constexpr DtypeSet kOuts{ACL_FLOAT16, ACL_BF16};
constexpr int64_t kLevelTerms = 512;

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  return ShapeChecks(check, call)
      .Integer(kTranspose1, 0, 0)
      .Integer(kTranspose2, 1, 1)
      .Integer(kLevel0, kLevelTerms, kLevelTerms)
      .Integer(kLevel1, kMxTerms, kMxTerms)
      .Holds(call.Tensor(kX2).format == ACL_FORMAT_FRACTAL_NZ, kX2, "the format FRACTAL_NZ")
      .status();
}
aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX1, 2, 2).Rank(kX2, 2, 2);
  if (!checks.Passed()) return checks.status();
  const Shape& left = call.Tensor(kX1).shape;
  const Shape& right = call.Tensor(kX2).shape;
  const int64_t terms = left[1];
  checks.Holds(right[1] == terms, kX2, "as many terms as x1 has");
  checks.Holds(terms > 0 && terms % 2 == 0, kX1, "an even number of terms");
  for (const int tensor : {kX1, kX2})
    checks.Holds(LiesInBytes(LinesOf(call, tensor, false)), tensor,
                 "of FLOAT4 an even dim that lies side by side, from an even element on");
  const int64_t levels = BlocksIn(terms, kLevelTerms);
  const int64_t pairs = BlocksIn(terms, kPairTerms);
  checks.Is(kX1Level0, Shape{left[0], levels}).Is(kX2Level0, Shape{levels, right[0]});
  checks.Is(kX1Level1, Shape{left[0], pairs, 2}).Is(kX2Level1, Shape{right[0], pairs, 2});
  return checks.IsIfGiven(kBias, Shape{right[0]}).Is(kOut, Shape{left[0], right[0]}).status();
}

constexpr Check kChecks[] = {
    NotNull(kX1),
    NotNull(kX2),
    NotNull(kX1Level0),
    NotNull(kX2Level0),
    NotNull(kX1Level1),
    NotNull(kX2Level1),
    NotNull(kOut),
    DtypesIn(kCodesOn950, {kX1, kX2}),
    DtypesIn(kScaleFloats, {kX1Level0, kX2Level0}),
    DtypesIn(kScalePowers, {kX1Level1, kX2Level1}),
    IfGiven<kBias>(DtypesIn(kScaleFloats, {kBias})),
    DtypesIn(kOuts, {kOut}),
    Custom(ModesFit),
    Custom(ShapesFit),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kOut}),
    FractalInsideStorage({kX2}),
    MatricesInsideStorage({kX1, kX2, kX1Level0, kX2Level0}),
    MatricesInsideStorage({kX1Level1, kX2Level1, kBias}),
};

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const StridedView left = LinesOf(call, kX1, false);
  const StridedView right = LinesOf(call, kX2, false);
  constexpr int32_t kBlocksOfLevel = kLevelTerms / kMxTerms;
  CodeProduct job;
  job.rows = left.shape[0];
  job.terms = left.shape[1];
  job.columns = right.shape[0];
  job.block = kMxTerms;
  job.left = CodesFrom(ops, kX1, left);
  job.right = CodesFrom(ops, kX2, right);
  job.left_level = ScalesFrom(ops, kX1Level0, OrderedView(call, kX1Level0, {0, 1}), 1, kBlocksOfLevel);
  job.right_level = ScalesFrom(ops, kX2Level0, OrderedView(call, kX2Level0, {1, 0}), 1, kBlocksOfLevel);
  job.left_scale = PairsFrom(ops, kX1Level1, OrderedView(call, kX1Level1, {0, 1, 2}));
  job.right_scale = PairsFrom(ops, kX2Level1, OrderedView(call, kX2Level1, {0, 1, 2}));
  job.bias = NumbersFrom(ops, call, kBias);
  job.out = ops.Out(kOut);
  job.dtype = call.Tensor(kOut).dtype;
  job.out_row_step = job.columns;
  AddProduct(ops, job);
  ops.SetJob();
}

}  // namespace
}  // namespace portacl

using namespace portacl;

// NOLINTNEXTLINE(readability-identifier-naming): the name is CANN's
PORTACL_PHASE_1(aclnnDualLevelQuantMatmulWeightNz) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetProduct);
}
