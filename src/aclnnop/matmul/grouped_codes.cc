// Grouped products of codes with scales of groups, columns, rows or blocks (see grouped_codes.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/matmul/grouped_codes.h"

#include <algorithm>
#include <array>

#include "acl/device/device.h"
#include "aclnnop/jobs/code_matrices.h"
#include "aclnnop/jobs/lists.h"
#include "aclnnop/jobs/matrix_product.h"
#include "aclnnop/matmul/grouped_call.h"
#include "aclnnop/matmul/grouped_checks.h"
#include "base/data_type.h"
#include "plan/views.h"

namespace portacl::grouped {
namespace {

using namespace dense;
using namespace matmul;
using engine::CodeNumbers;
using engine::CodeProduct;

constexpr DtypeSet kAllFloat8s = kFloat8Codes | kHifloat8;
constexpr int64_t kBlock = 128;
constexpr int64_t kMostGroups = 1024;

enum class Scales : uint8_t {
  kWhole,   // of groups, columns and rows
  kPowers,  // MX: powers of two of 32 terms
  kBlocks   // of 128 terms and columns, and one row
};

bool CutsTerms(const OperatorCall& call) { return Integer(call, kGroupType) == kTermSplit; }
bool HasPairs(const OperatorCall& call) { return Integer(call, kListType) == kPairs; }
bool IsNz(const OperatorCall& call) { return VersionOf(call) == kWeightNz; }
bool HasTransposedWeights(const OperatorCall& call) { return IsTransposed(Lying(call.Tensor(kWeight))); }
// The lengths of a call whose matrices have their ranks.
struct Lines {
  int64_t groups, rows, terms, columns;
};
Lines LinesOfCall(const OperatorCall& call) {
  const Shape& x = call.Tensor(kX).shape;
  const Shape& weight = call.Tensor(kWeight).shape;
  const int64_t groups = CutsTerms(call) ? call.Tensor(kGroupList).shape[0] : weight[0];
  return {groups, x[0], x[1], weight[weight.rank - 1]};
}
Scales ScalesOf(const OperatorCall& call) {
  const aclTensor& scale = call.Tensor(kScale);
  if (scale.dtype == ACL_FLOAT8_E8M0) return Scales::kPowers;
  if (!CutsTerms(call)) return scale.shape.rank == 3 ? Scales::kBlocks : Scales::kWhole;
  const Lines at = LinesOfCall(call);
  const int64_t blocks = at.terms / kBlock + at.groups;
  const bool are_blocks = at.terms >= kBlock && Has(call, kPerToken) &&
                          call.Tensor(kPerToken).shape == Shape{blocks, at.rows} &&
                          scale.shape == Shape{blocks, BlocksIn(at.columns, kBlock)};
  return are_blocks ? Scales::kBlocks : Scales::kWhole;
}

// ---- checks ----

aclnnStatus ListsFit(const Check&, OperatorCall& call) noexcept {
  for (const int list : {kX, kWeight, kY}) {
    if (CountOf(call, list) != 1) return RefuseCount(call, list, "one with x of 8-bit or 4-bit floats");
  }
  for (const int list : {kBias, kScale, kPerToken}) {
    if (CountOf(call, list) > 1) return RefuseCount(call, list, "one with x of 8-bit or 4-bit floats");
  }
  for (const int list : {kOffset, kAntiquantScale, kAntiquantOffset, kActivationInput, kActivationScale,
                         kActivationOffset, kActivationOut, kDynamicScale}) {
    if (Has(call, list))
      return RefuseArgument(call, ACLNN_ERR_PARAM_INVALID, list, -1,
                            " is not accepted with x of 8-bit or 4-bit floats, accepted: none.");
  }
  if (const aclnnStatus status = IsThere(call, kScale, "with x of 8-bit or 4-bit floats")) return status;
  return IsThere(call, kGroupList, "with x of 8-bit or 4-bit floats");
}
aclnnStatus ModesAccepted(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool is_packed = call.Tensor(kX).dtype == ACL_FLOAT4_E2M1;
  const int64_t type = Integer(call, kGroupType);
  checks.HoldsOf(type == kRowSplit || (type == kTermSplit && !is_packed && !IsNz(call)), kGroupType,
                 "0, with 8-bit floats also 2 unless weights are in FRACTAL_NZ");
  checks.Integer(kSplitItem, 2, 3).Integer(kListType, kEnds, type == kRowSplit ? kPairs : kSizes);
  return checks.Integer(kActType, 0, 0).status();
}
aclnnStatus TypesAccepted(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const auto is_in = [&](int tensor, DtypeSet set, const char* accepted) {
    checks.Holds(set.Contains(call.Tensor(tensor).dtype), tensor, accepted);
  };
  const aclDataType x = call.Tensor(kX).dtype;
  is_in(kWeight, kFloat8Codes.Contains(x) ? kFloat8Codes : DtypeSet(x),
        "FLOAT8_E4M3FN or FLOAT8_E5M2 with x of those, else x's dtype");
  is_in(kY, kFloatHalfAndBf16, "FLOAT, FLOAT16 or BF16");
  is_in(kGroupList, kInt64, "INT64");
  DtypeSet scales = x == ACL_FLOAT4_E2M1 ? kScalePowers : kScaleFloats;
  if (kFloat8Codes.Contains(x)) scales = scales | kScalePowers;
  const bool has_rows = Has(call, kPerToken);
  if (kAllFloat8s.Contains(x) && !CutsTerms(call) && !has_rows) scales = scales | kScaleWords;
  is_in(kScale, scales, "FLOAT, without FLOAT4 and with HIFLOAT8 none FLOAT8_E8M0, by rows alone words");
  if (!checks.Passed()) return checks.status();
  const bool is_mx = call.Tensor(kScale).dtype == ACL_FLOAT8_E8M0;
  if (is_mx || call.Tensor(kScale).shape.rank == 3) checks.Holds(has_rows, kPerToken, "scales of rows");
  if (has_rows && checks.Passed())
    is_in(kPerToken, is_mx ? kScalePowers : kScaleFloats, "FLOAT8_E8M0 beside powers of two, else FLOAT");
  if (Has(call, kBias)) {
    checks.Holds(x == ACL_FLOAT4_E2M1, kBias, "none with 8-bit floats");
    if (checks.Passed()) is_in(kBias, kScaleFloats, "FLOAT");
  }
  return checks.status();
}

aclnnStatus MatricesAccepted(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const bool cuts_terms = CutsTerms(call);
  const int list_rank = HasPairs(call) ? 2 : 1;
  checks.Rank(kX, 2, 2).Rank(kGroupList, list_rank, list_rank);
  checks.Rank(kWeight, cuts_terms ? 2 : 3, cuts_terms ? 2 : 3);
  if (!checks.Passed()) return checks.status();
  const Lines at = LinesOfCall(call);
  const Shape& weight = call.Tensor(kWeight).shape;
  checks.Holds(at.groups >= 1 && at.groups <= kMostGroups, kGroupList, "1 to 1024 groups");
  const Shape& list = call.Tensor(kGroupList).shape;
  if (HasPairs(call)) {
    checks.Holds(list[0] >= 1 && list[0] <= kMostGroups && list[1] == 2, kGroupList,
                 "pairs of a group and its rows, 1 to 1024");
  } else {
    checks.Holds(list[0] == at.groups, kGroupList, "as many groups as weight has");
  }
  checks.Holds(weight[weight.rank - 2] == at.terms, kWeight, "as many terms as x has");
  if (IsNz(call)) {
    // Blocks of 32 bytes along what lies side by side, 16 of these.
    const int64_t of_block = call.Tensor(kX).dtype == ACL_FLOAT4_E2M1 ? 64 : 32;
    const bool are_transposed = HasTransposedWeights(call);
    checks.Holds(call.Tensor(kWeight).format == ACL_FORMAT_FRACTAL_NZ, kWeight, "the format FRACTAL_NZ");
    checks.Holds(at.terms % (are_transposed ? of_block : 16) == 0 &&
                     at.columns % (are_transposed ? 16 : of_block) == 0,
                 kWeight,
                 "terms and columns in whole blocks of FRACTAL_NZ: of 16, and 32, of FLOAT4 64, of what "
                 "lies side by side");
  }
  const bool is_transposed = at.rows <= 1 || at.terms <= 1 || call.Tensor(kX).strides[0] == 1;
  checks.Holds(!cuts_terms || is_transposed, kX, "a transposed matrix");
  if (call.Tensor(kX).dtype == ACL_FLOAT4_E2M1) {
    checks.Holds(at.terms > 2 && at.terms % 2 == 0, kX, "of FLOAT4 an even number of terms above 2");
    for (const int tensor : {kX, kWeight})
      checks.Holds(LiesInBytes(LinesOf(call, tensor, tensor == kWeight)), tensor,
                   "of 4 bits an even dim that lies side by side, from an even element on");
  }
  return checks.Is(kY, cuts_terms ? Shape{at.groups, at.rows, at.columns} : Shape{at.rows, at.columns})
      .status();
}
aclnnStatus ScalesAccepted(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  const Lines at = LinesOfCall(call);
  const bool cuts_terms = CutsTerms(call);
  const bool is_transposed = HasTransposedWeights(call);
  const auto is_one_of = [&](int tensor, std::initializer_list<Shape> shapes, const char* accepted) {
    const Shape& own = call.Tensor(tensor).shape;
    checks.Holds(std::find(shapes.begin(), shapes.end(), own) != shapes.end(), tensor, accepted);
  };
  if (Has(call, kBias)) checks.Is(kBias, Shape{at.groups, at.columns});
  const Shape each{at.groups};
  const Shape each_line{at.groups, 1};
  switch (ScalesOf(call)) {
    case Scales::kWhole:
      is_one_of(kScale, {Shape{at.groups, at.columns}, each, each_line},
                "a number for each group, or for each of its columns");
      if (Has(call, kPerToken))
        is_one_of(kPerToken, {cuts_terms ? Shape{at.groups, at.rows} : Shape{at.rows}, each, each_line},
                  "a number for each group, or for each row");
      break;
    case Scales::kPowers: {
      const int64_t pairs = cuts_terms ? at.terms / kPairTerms + at.groups : BlocksIn(at.terms, kPairTerms);
      if (cuts_terms) {
        checks.Is(kScale, Shape{pairs, at.columns, 2}).Is(kPerToken, Shape{pairs, at.rows, 2});
        break;
      }
      checks.Is(kScale, is_transposed ? Shape{at.groups, at.columns, pairs, 2}
                                      : Shape{at.groups, pairs, at.columns, 2});
      checks.Is(kPerToken, Shape{at.rows, pairs, 2});
      break;
    }
    case Scales::kBlocks: {
      if (cuts_terms) break;  // the shapes have said so
      const int64_t down = BlocksIn(at.terms, kBlock);
      const int64_t across = BlocksIn(at.columns, kBlock);
      checks.Is(kScale, is_transposed ? Shape{at.groups, across, down} : Shape{at.groups, down, across});
      checks.Is(kPerToken, Shape{at.rows, down});
      break;
    }
  }
  return checks.status();
}

constexpr Check kChecks[] = {
    Custom(ListsFit),
    Custom(ModesAccepted),
    Custom(TypesAccepted),
    Custom(MatricesAccepted),
    Custom(ScalesAccepted),
    SizesRepresentable({kY}),
    DoneIfEmpty({kY}),
    FractalInsideStorage({kWeight}),
    MatricesInsideStorage({kX, kWeight, kScale, kPerToken, kBias}),
    InsideStorage({kGroupList, kY}),
};

// ---- the job ----

// Numbers of groups, or of groups and of `lines`.
CodeNumbers NumbersOfGroups(DenseOpList& ops, const OperatorCall& call, int tensor, int64_t lines) {
  CodeNumbers numbers = NumbersFrom(ops, call, tensor);
  const Shape& shape = call.Tensor(tensor).shape;
  const bool has_lines = shape.rank == 2 && shape[1] == lines;
  numbers.is_one = !has_lines;
  numbers.batch_step = has_lines ? lines : 1;
  return numbers;
}

void SetProduct(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Lines at = LinesOfCall(call);
  const bool cuts_terms = CutsTerms(call);
  const bool is_transposed = HasTransposedWeights(call);
  CodeProduct job;
  job.batches = at.groups;
  job.rows = at.rows;
  job.terms = at.terms;
  job.columns = at.columns;
  job.left = CodesFrom(ops, kX, LinesOf(call, kX, false));
  job.right = CodesFrom(ops, kWeight, LinesOf(call, kWeight, true));
  job.cut = cuts_terms ? CodeProduct::Cut::kTerms : CodeProduct::Cut::kRows;
  job.ends = ops.In(kGroupList);
  job.name = call.Name(kGroupList);
  job.are_counts = Integer(call, kListType) == kSizes;
  if (HasPairs(call)) job.pairs = call.Tensor(kGroupList).shape[0];
  job.dtype = call.Tensor(kY).dtype;
  job.out = ops.Out(kY, ACL_DT_UNDEFINED, !cuts_terms);
  job.out_row_step = at.columns;
  if (cuts_terms) job.out_batch_step = at.rows * at.columns;
  if (Has(call, kBias)) job.bias = NumbersOfGroups(ops, call, kBias, at.columns);
  switch (ScalesOf(call)) {
    case Scales::kWhole:
      job.column_factor = NumbersOfGroups(ops, call, kScale, at.columns);
      if (!Has(call, kPerToken)) break;
      if (!cuts_terms && call.Tensor(kPerToken).shape == Shape{at.rows}) {
        job.row_factor = NumbersFrom(ops, call, kPerToken);
        job.row_factor.is_one = false;
      } else {
        job.row_factor = NumbersOfGroups(ops, call, kPerToken, cuts_terms ? at.rows : 0);
      }
      break;
    case Scales::kPowers:
      job.block = kMxTerms;
      if (cuts_terms) {
        job.left_scale = PairsFrom(ops, kPerToken, OrderedView(call, kPerToken, {1, 0, 2}));
        job.right_scale = PairsFrom(ops, kScale, OrderedView(call, kScale, {1, 0, 2}));
      } else {
        job.left_scale = PairsFrom(ops, kPerToken, OrderedView(call, kPerToken, {0, 1, 2}));
        job.right_scale = PairsFrom(ops, kScale,
                                    is_transposed ? OrderedView(call, kScale, {0, 1, 2, 3})
                                                  : OrderedView(call, kScale, {0, 2, 1, 3}));
      }
      break;
    case Scales::kBlocks:
      job.block = kBlock;
      job.together = 1;
      if (cuts_terms) {
        job.left_scale = ScalesFrom(ops, kPerToken, OrderedView(call, kPerToken, {1, 0}));
        job.right_scale = ScalesFrom(ops, kScale, OrderedView(call, kScale, {1, 0}), kBlock);
      } else {
        job.left_scale = ScalesFrom(ops, kPerToken, OrderedView(call, kPerToken, {0, 1}));
        job.right_scale = ScalesFrom(
            ops, kScale,
            is_transposed ? OrderedView(call, kScale, {0, 1, 2}) : OrderedView(call, kScale, {0, 2, 1}),
            kBlock);
      }
      break;
  }
  AddProduct(ops, job);
  ops.SetJob();
}

}  // namespace

bool AreCodes(const OperatorCall& call) noexcept {
  const int64_t version = VersionOf(call);
  if (version < kV4 || !products::kAscend950.Contains(CurrentProduct())) return false;
  for (const int list : {kX, kWeight, kY}) {
    if (!Has(call, list)) return false;
  }
  return (kAllFloat8s | kFloat4Codes).Contains(DtypeOf(call, kX));
}

aclnnStatus RunCodes(const OperatorCall& call, uint64_t* workspaceSize, aclOpExecutor** executor) noexcept {
  // Lists of one tensor are that tensor, too.
  std::array<TensorArgument, kY + 1> tensors;
  std::copy(call.tensors.begin(), call.tensors.end(), tensors.begin());
  for (int list = kX; list <= kY; ++list) {
    TensorArgument& argument = tensors[static_cast<size_t>(list)];
    if (argument.is_list && CountOf(call, list) == 1) argument.tensor = call.Entry(list, 0);
  }
  OperatorCall of_tensors = call;
  of_tensors.tensors = tensors;
  return dense::RunOpList(of_tensors, kChecks, workspaceSize, executor, SetProduct);
}

}  // namespace portacl::grouped
