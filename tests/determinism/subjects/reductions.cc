// Reductions and scans for the determinism test: along lines of several blocks, across rows, over everything, and in the middle. Sums
// are of ordinary numbers, so that another order has other bits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "determinism/calls.h"
#include "determinism/described.h"
#include "operators/reductions.h"
#include "support/plan_check.h"

namespace portacl::testing {
namespace {

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

bool TakesLayout(const OperatorSpec& op, const Layout& layout) {
  if (std::string(op.function.name) == "aclnnAminmax") return layout.dims.size() == 1;
  switch (OverOf(op)) {
    case ReducedOver::kDims:
      return true;
    case ReducedOver::kAll:
    case ReducedOver::kDiagonal:
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
aclnnStatus Plan(const OperatorSpec& op, Call& c) {
  const Layout& layout = kLayouts[static_cast<size_t>(c.setting) % kLayouts.size()];
  const PlanCall call = CallOver(op, layout.dims, c.setting < std::ssize(kLayouts) ? 2 : 3);
  std::vector<aclTensor*> tensors = {c[0], c[1]};
  if (TensorsOf(call).size() == 1) tensors.erase(tensors.begin());
  if (TensorsOf(call).size() == 3)
    tensors = {c[0], c.Part(1, layout.both, 0, 1), c.Part(1, layout.both, 1, 1)};
  return PlanWith(call, tensors, c.size, c.executor);
}

// Complex numbers are a subject of their own, since their loops are plain code.
Subject SubjectOfReduction(const OperatorSpec& op, bool is_complex) {
  const std::string name = op.function.name;
  const ReducedOver over = OverOf(op);
  const size_t tensors = TensorsOf(ValidCall(op, Product::kA2)).size();
  std::vector<GivenCase> cases;
  const size_t settings = name.ends_with("Norm") ? 2 * kLayouts.size() : kLayouts.size();
  for (size_t i = 0; i < settings; ++i) {
    const Layout& layout = kLayouts[i % kLayouts.size()];
    if (!TakesLayout(op, layout)) continue;
    Shape result = layout.result;
    if (over == ReducedOver::kDiagonal) result = {};
    if (over == ReducedOver::kLine) result = layout.shape;
    if (tensors == 3) result[layout.both] *= 2;
    for (const DtypeNumber dtype : DtypesOf(name, is_complex))
      cases.push_back(Case(dtype, {layout.shape}, {result, ResultOf(name, dtype)}, i));
  }
  Traits traits;
  if (name == "aclnnReduceLogSum") traits.not_negative = {0};
  traits.is_plain_code = over == ReducedOver::kLine || is_complex;
  if (tensors == 1) traits.start = Start::kFirstInput;
  traits.seed_of = name;
  return SubjectOf(
      {is_complex ? name + "OfComplex" : name, op.function.run, [&op](Call& c) { return Plan(op, c); }},
      cases, traits);
}

// Running extremes have indices of an integer type of their own; tests/reductions/ has them.
const DescribedSubjects kReductions([] {
  std::vector<Subject> all;
  for (const OperatorSpec& op : ReductionOperators()) {
    if (op.valid.back().name == "indicesOut") continue;
    all.push_back(SubjectOfReduction(op, /*is_complex=*/false));
    if (!DtypesOf(op.function.name, /*is_complex=*/true).empty())
      all.push_back(SubjectOfReduction(op, /*is_complex=*/true));
  }
  return all;
});

}  // namespace
}  // namespace portacl::testing
