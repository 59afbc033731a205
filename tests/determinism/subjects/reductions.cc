// Reductions and scans for the determinism test: along lines of several blocks, across rows, over everything, and in the middle. Sums
// are of ordinary numbers, so that another order has other bits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "determinism/calls.h"
#include "support/reduction_operators.h"

namespace portacl::testing {
namespace {

using Over = ReductionOperator::Over;

// A layout: what is reduced, and the kept shape of the result; two results lie side by side along its dim of `both`.
struct Layout {
  Shape shape;
  Shape dims;
  Shape result;
  size_t both;
};
const std::vector<Layout> kLayouts = {{{7, 9001}, {1}, {7, 1}, 1},
                                      {{9001, 7}, {0}, {1, 7}, 0},
                                      {{301, 257}, {0, 1}, {1, 1}, 0},
                                      {{5, 300, 41}, {1}, {5, 1, 41}, 1}};

bool TakesLayout(const ReductionOperator& op, const Layout& layout) {
  if (op.name == "aclnnAminmax") return layout.dims.size() == 1;
  switch (op.over) {
    case Over::kDims:
      return true;
    case Over::kAll:
    case Over::kDiagonal:
      return layout.dims.size() == 2;
    default:
      return layout.dims.size() == 1;
  }
}

bool IsOneOf(const std::string& name, std::initializer_list<const char*> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<DtypeNumber> DtypesOf(const std::string& name, bool is_complex) {
  if (is_complex) {
    const bool takes_complex = IsOneOf(name, {"aclnnReduceSum", "aclnnMean", "aclnnMeanV2", "aclnnTrace",
                                              "aclnnProd", "aclnnProdDim", "aclnnCumsum", "aclnnCumsumV2"});
    return takes_complex ? std::vector<DtypeNumber>{ACL_COMPLEX64} : std::vector<DtypeNumber>{};
  }
  if (IsOneOf(name, {"aclnnReduceSum", "aclnnMean", "aclnnMeanV2", "aclnnTrace"}))
    return {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE, ACL_INT32};
  if (name == "aclnnProd" || name == "aclnnProdDim") return {ACL_FLOAT, ACL_BF16, ACL_DOUBLE, ACL_INT64};
  if (IsOneOf(name, {"aclnnReduceNansum", "aclnnVar", "aclnnVarCorrection", "aclnnStd",
                     "aclnnStdMeanCorrection", "aclnnLogSumExp", "aclnnLinalgVectorNorm", "aclnnNorm"}))
    return {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  if (IsOneOf(name, {"aclnnVarMean", "aclnnReduceLogSum"})) return {ACL_FLOAT, ACL_FLOAT16};
  if (name.starts_with("aclnnCumsum")) return {ACL_FLOAT, ACL_BF16, ACL_DOUBLE, ACL_INT8};
  if (IsOneOf(name, {"aclnnMaxDim", "aclnnMinDim"})) return {ACL_FLOAT, ACL_BF16, ACL_INT64};
  return {ACL_FLOAT, ACL_BF16, ACL_DOUBLE, ACL_INT32};
}
DtypeNumber ResultOf(const std::string& name, DtypeNumber dtype) {
  if (name == "aclnnAny" || name == "aclnnAll") return ACL_BOOL;
  if (name.starts_with("aclnnArg")) return ACL_INT64;
  return name == "aclnnTrace" && dtype == ACL_INT32 ? DtypeNumber{ACL_INT64} : dtype;
}

// The results of operators with indices are of one dtype, since those of indices are converted to it; scans have but theirs.
aclnnStatus Plan(const ReductionOperator& op, Call& c) {
  const Layout& layout = kLayouts[static_cast<size_t>(c.setting) % kLayouts.size()];
  ReductionArguments arguments;
  arguments.dims = layout.dims;
  arguments.dim = layout.dims[0];
  arguments.number = c.setting < std::ssize(kLayouts) ? 2 : 3;
  std::vector<aclTensor*> tensors = {c[0], c[1]};
  if (op.tensors == 1) tensors.erase(tensors.begin());
  if (op.tensors == 3) tensors = {c[0], c.Part(1, layout.both, 0, 1), c.Part(1, layout.both, 1, 1)};
  arguments.tensors = tensors;
  return op.plan(arguments, c.size, c.executor);
}

// Complex numbers are a subject of their own, since their loops are plain code.
SubjectRegistration RegisterReduction(const ReductionOperator& op, bool is_complex) {
  std::vector<GivenCase> cases;
  const size_t settings = op.name.ends_with("Norm") ? 2 * kLayouts.size() : kLayouts.size();
  for (size_t i = 0; i < settings; ++i) {
    const Layout& layout = kLayouts[i % kLayouts.size()];
    if (!TakesLayout(op, layout)) continue;
    Shape result = layout.result;
    if (op.over == Over::kDiagonal) result = {};
    if (op.over == Over::kLine) result = layout.shape;
    if (op.tensors == 3) result[layout.both] *= 2;
    for (const DtypeNumber dtype : DtypesOf(op.name, is_complex))
      cases.push_back(Case(dtype, {layout.shape}, {result, ResultOf(op.name, dtype)}, i));
  }
  Traits traits;
  if (op.name == "aclnnReduceLogSum") traits.not_negative = {0};
  traits.is_plain_code = op.over == Over::kLine || is_complex;
  if (op.tensors == 1) traits.start = Start::kFirstInput;
  traits.seed_of = op.name;
  return Register(
      {is_complex ? op.name + "OfComplex" : op.name, op.run, [&op](Call& c) { return Plan(op, c); }}, cases,
      traits);
}

// Running extremes have indices of an integer type of their own; tests/reductions/ has them.
const std::vector<SubjectRegistration> kSubjects = [] {
  std::vector<SubjectRegistration> all;
  for (const ReductionOperator& op : AllReductions()) {
    if (op.over == Over::kLine && op.tensors == 3) continue;
    all.push_back(RegisterReduction(op, /*is_complex=*/false));
    if (!DtypesOf(op.name, /*is_complex=*/true).empty())
      all.push_back(RegisterReduction(op, /*is_complex=*/true));
  }
  return all;
}();

}  // namespace
}  // namespace portacl::testing
