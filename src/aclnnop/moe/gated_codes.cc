// Products of groups of codes with powers of two as scales, gated, and quantised to such codes again (see
// gated_products.h).
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include "acl/device/device.h"
#include "aclnnop/jobs/code_matrices.h"
#include "aclnnop/jobs/grouped_operands.h"
#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/moe/gated_products.h"
#include "aclnnop/moe/routed_codes.h"
#include "engine/codes.h"
#include "engine/quantise/blocks.h"

namespace portacl::gated {
namespace {

using namespace dense;
using namespace matmul;
using engine::CodeProduct;

constexpr int64_t kMx = 2;  // of dequantMode
constexpr DtypeSet kCodes = kFloat8Codes | kFloat4Codes;

bool IsPacked(const OperatorCall& call, int tensor) { return call.Tensor(tensor).dtype == ACL_FLOAT4_E2M1; }
Shape ScalesByPair(const OperatorCall& call) {
  const Shape& weight = call.Tensor(kWeight).shape;
  return Shape{weight[0], BlocksIn(weight[1], kPairTerms), weight[2], 2};
}
// Tells whether the powers of weights have the dim of columns before that of pairs. Those of transposed weights may,
// and are otherwise a view with the dims of others.
bool HasColumnsFirst(const OperatorCall& call) {
  const Shape by_pair = ScalesByPair(call);
  const Shape by_column{by_pair[0], by_pair[2], by_pair[1], 2};
  const Shape& own = call.Tensor(kWeightScale).shape;
  return own == by_column && !(own == by_pair) && IsTransposed(grouped::Lying(call.Tensor(kWeight)));
}

// ---- checks ----

aclnnStatus TensorsThere(const Check&, OperatorCall& call) noexcept {
  for (const int argument : {kX, kWeight, kWeightScale, kXScale, kGroups, kOut, kOutScale}) {
    if (call.IsList(argument) && call.Count(argument) > 1)
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, argument, -1,
                            " has several tensors, accepted: one where x is FLOAT8 or FLOAT4.");
    if (call.tensors[static_cast<size_t>(argument)].tensor != nullptr) continue;
    return RefuseArgument(call, argument == kOut ? ACLNN_ERR_PARAM_INVALID : ACLNN_ERR_PARAM_NULLPTR,
                          argument, -1, " is a null pointer, accepted: a tensor, or a list of one.");
  }
  for (const int argument : {kBias, kOtherBias, kSmooth}) {
    const TensorArgument& given = call.tensors[static_cast<size_t>(argument)];
    if (given.tensor == nullptr && (!given.is_list || given.list == nullptr || call.Count(argument) == 0))
      continue;
    return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, argument, -1,
                          " is given, accepted: none where x is FLOAT8 or FLOAT4.");
  }
  return ACL_SUCCESS;
}

aclnnStatus ModesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.HoldsOf(Integer(call, kDequantMode) == kMx, kDequantMode, "2 where x is FLOAT8 or FLOAT4");
  const int64_t mode = Integer(call, kQuantMode);
  checks.HoldsOf(mode == 0 || mode == kMx, kQuantMode, "0 or 2 where x is FLOAT8 or FLOAT4");
  return checks.Integer(kListType, 0, 1).status();
}

aclnnStatus TypesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const auto is_in = [&](int tensor, DtypeSet set, const char* accepted) {
    checks.Holds(set.Contains(call.Tensor(tensor).dtype), tensor, accepted);
  };
  is_in(kWeight, IsPacked(call, kX) ? kFloat4Codes : kFloat8Codes,
        "FLOAT8_E4M3FN or FLOAT8_E5M2 with x of those, else FLOAT4_E2M1");
  is_in(kWeightScale, kScalePowers, "FLOAT8_E8M0");
  is_in(kXScale, kScalePowers, "FLOAT8_E8M0");
  is_in(kGroups, kInt64, "INT64");
  is_in(kOut, kCodes, "FLOAT8_E4M3FN, FLOAT8_E5M2 or FLOAT4_E2M1");
  is_in(kOutScale, kScalePowers, "FLOAT8_E8M0");
  const bool needs_nz = Integer(call, kVersion) == kV2Nz;
  checks.Holds(!needs_nz || call.Tensor(kWeight).format == ACL_FORMAT_FRACTAL_NZ, kWeight,
               "the format FRACTAL_NZ");
  return checks.status();
}

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 2).Rank(kWeight, 3, 3).Rank(kGroups, 1, 1);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const int64_t columns = weight[2];
  checks.Holds(weight[1] == x[1], kWeight, "as many terms as x has columns");
  checks.Holds(columns % (IsPacked(call, kOut) ? 4 : 2) == 0 && columns <= 10240, kWeight,
               "an even number of columns up to 10240, with output of FLOAT4 a multiple of 4");
  if (IsPacked(call, kX)) {
    checks.Holds(x[1] > 2 && x[1] % 2 == 0, kX, "of FLOAT4 an even number of terms above 2");
    for (const int tensor : {kX, kWeight})
      checks.Holds(LiesInBytes(LinesOf(call, tensor, tensor == kWeight)), tensor,
                   "of 4 bits an even dim that lies side by side, from an even element on");
  }
  if (!checks.Passed()) return checks.status();
  const int64_t pairs = BlocksIn(x[1], kPairTerms);
  if (!HasColumnsFirst(call)) checks.Is(kWeightScale, ScalesByPair(call));
  checks.Is(kXScale, Shape{x[0], pairs, 2});
  checks.Holds(call.Tensor(kGroups).shape[0] <= weight[0], kGroups, "at most as many groups as weight has");
  return checks.Is(kOut, Shape{x[0], columns / 2})
      .Is(kOutScale, Shape{x[0], BlocksIn(columns / 2, kPairTerms), 2})
      .status();
}

constexpr Check kChecks[] = {
    Custom(TensorsThere),
    Custom(ModesFit),
    Custom(TypesFit),
    Custom(ShapesFit),
    routing::InBytes<kOut>(),
    SizesRepresentable({kOut, kOutScale}),
    DoneIfEmpty({kOut}),
    DoneIfEmpty({kGroups}),
    FractalInsideStorage({kWeight}),
    MatricesInsideStorage({kX, kWeight, kWeightScale, kXScale}),
    InsideStorage({kGroups, kOut, kOutScale}),
};

// ---- the job ----

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& x = call.Tensor(kX).shape;
  const int64_t columns = call.Tensor(kWeight).shape[2];
  const bool are_counts = Integer(call, kListType) == 1;
  CodeProduct product;
  product.batches = call.Tensor(kGroups).shape[0];
  product.rows = x[0];
  product.terms = x[1];
  product.columns = columns;
  product.left = CodesFrom(ops, kX, LinesOf(call, kX, false));
  product.right = CodesFrom(ops, kWeight, LinesOf(call, kWeight, true));
  product.cut = CodeProduct::Cut::kRows;
  product.ends = ops.In(kGroups);
  product.name = call.Name(kGroups);
  product.are_counts = are_counts;
  product.dtype = ACL_FLOAT;
  product.out = ops.Floats(x[0] * columns);
  product.out_row_step = columns;
  product.block = kMxTerms;
  product.left_scale = PairsFrom(ops, kXScale, OrderedView(call, kXScale, {0, 1, 2}));
  product.right_scale = PairsFrom(ops, kWeightScale,
                                  HasColumnsFirst(call) ? OrderedView(call, kWeightScale, {0, 1, 2, 3})
                                                        : OrderedView(call, kWeightScale, {0, 2, 1, 3}));
  AddProduct(ops, product);
  engine::SwigluRows gated;
  gated.rows = x[0];
  gated.columns = columns / 2;
  gated.groups.ends = {product.ends, ACL_INT64, true};
  gated.groups.count = product.batches;
  gated.groups.are_counts = are_counts;
  gated.x = {product.out, ACL_FLOAT, true};
  gated.to = {ops.Floats(gated.rows * gated.columns), ACL_FLOAT, true};
  gated.activates_left = true;
  gated.isa = ops.isa();
  gated.threads = ops.threads();
  ops.Compute(gated, {product.ends}, gated.rows * gated.columns);
  engine::QuantiseMx quantise;
  quantise.x = gated.to;
  quantise.dtype = call.Tensor(kOut).dtype;
  quantise.codes = routing::BytesOut(ops, call, kOut, /*keeps=*/true);
  quantise.scales = ops.Out(kOutScale, ACL_DT_UNDEFINED, /*keeps=*/true);
  quantise.outer = gated.rows;
  quantise.length = gated.columns;
  quantise.block = kMxTerms;
  quantise.rule.greatest_exponent = std::ilogb(engine::GreatestNumber(quantise.dtype));
  quantise.covered = gated.groups;
  quantise.isa = ops.isa();
  quantise.threads = ops.threads();
  ops.Compute(quantise, {product.ends, quantise.codes, quantise.scales}, gated.rows * gated.columns);
  ops.SetJob();
}

}  // namespace

bool AreCodes(const OperatorCall& call) noexcept {
  if (Integer(call, kVersion) < kV2 || !products::kAscend950.Contains(CurrentProduct())) return false;
  return call.IsGiven(kX) && kCodes.Contains(call.Tensor(kX).dtype);
}

aclnnStatus RunCodes(const OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor) noexcept {
  // Lists of one tensor are that tensor, too.
  std::array<TensorArgument, kOutScale + 1> tensors;
  std::copy(call.tensors.begin(), call.tensors.end(), tensors.begin());
  for (TensorArgument& argument : tensors) {
    const auto list = static_cast<int>(&argument - tensors.data());
    if (argument.is_list && argument.list != nullptr && call.Count(list) == 1)
      argument.tensor = call.Entry(list, 0);
  }
  OperatorCall of_tensors = call;
  of_tensors.tensors = tensors;
  return RunOpList(of_tensors, kChecks, workspaceSize, executor, SetProduct);
}

}  // namespace portacl::gated
