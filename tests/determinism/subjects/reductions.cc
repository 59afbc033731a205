// Reductions and scans for the determinism test: along lines of several blocks, across rows, over everything, and in the middle. Sums
// are of ordinary numbers, so that another order has other bits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "determinism/arguments.h"
#include "determinism/subject.h"
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
aclnnStatus Plan(const ReductionOperator& op, Tensors t, const Attributes& attributes, uint64_t* size,
                 aclOpExecutor** executor) {
  const Layout& layout = kLayouts[static_cast<size_t>(attributes.reduction) % kLayouts.size()];
  ReductionArguments arguments;
  arguments.dims = layout.dims;
  arguments.dim = layout.dims[0];
  arguments.number = attributes.reduction < std::ssize(kLayouts) ? 2 : 3;
  std::vector<aclTensor*> tensors(t.begin(), t.end());
  if (op.tensors == 1) tensors.erase(tensors.begin());
  if (op.tensors == 3) {
    tensors[1] = Part(t[1], layout.both, 0, 1);
    tensors.push_back(Part(t[1], layout.both, 1, 1));
    ListOf({tensors[1], tensors[2]});
  }
  arguments.tensors = tensors;
  return op.plan(arguments, size, executor);
}

// Those of complex numbers are a subject of their own, since their loops are plain code.
Subject SubjectOf(const ReductionOperator& op, bool is_complex) {
  Subject subject;
  subject.description.binding = {
      is_complex ? op.name + "OfComplex" : op.name,
      {"self", "out"},
      [&op](Tensors t, const Attributes& attributes, uint64_t* size, aclOpExecutor** executor) {
        return Plan(op, t, attributes, size, executor);
      },
      op.run};
  subject.description.binding.may_need_workspace = [](std::span<const Shape>) { return true; };
  const bool is_norm = op.name.ends_with("Norm");
  const size_t settings = is_norm ? 2 * kLayouts.size() : kLayouts.size();
  for (size_t i = 0; i < settings; ++i) {
    subject.description.attributes.emplace_back();
    subject.description.attributes.back().reduction = static_cast<int64_t>(i);
    const Layout& layout = kLayouts[i % kLayouts.size()];
    if (!TakesLayout(op, layout)) continue;
    Shape result = layout.result;
    if (op.over == Over::kDiagonal) result = {};
    if (op.over == Over::kLine) result = layout.shape;
    if (op.tensors == 3) result[layout.both] *= 2;
    for (const DtypeNumber dtype : DtypesOf(op.name, is_complex))
      subject.given.push_back({{dtype}, {layout.shape}, ResultOf(op.name, dtype), result, i});
  }
  subject.cuts_freely = [](const Attributes&) { return false; };
  subject.sums_everything = true;
  if (op.name == "aclnnReduceLogSum") subject.not_negative = {0};
  subject.is_plain_code = op.over == Over::kLine || is_complex;
  if (op.tensors == 1) subject.start = Start::kFirstInput;
  for (const char c : op.name) subject.seed = subject.seed * 31 + static_cast<unsigned char>(c);
  return subject;
}

// Running extremes have indices of an integer type of their own; tests/reductions/ has them.
const std::vector<SubjectRegistration> kSubjects = [] {
  std::vector<SubjectRegistration> all;
  for (const ReductionOperator& op : AllReductions()) {
    if (op.over == Over::kLine && op.tensors == 3) continue;
    all.emplace_back(SubjectOf(op, /*is_complex=*/false));
    if (!DtypesOf(op.name, /*is_complex=*/true).empty()) all.emplace_back(SubjectOf(op, /*is_complex=*/true));
  }
  return all;
}();

}  // namespace
}  // namespace portacl::testing
