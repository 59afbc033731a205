// Cases, their names, operands and ceilings (see cases.h).
// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>
#include <iterator>

namespace portacl::bench {
namespace {

constexpr int kSizes[] = {2, 8, 12, 16, 20, 24, 26};
constexpr Dtypes kDtypes[] = {Dtypes::kF32, Dtypes::kF16, Dtypes::kBf16, Dtypes::kMixed};
constexpr Layout kLayouts[] = {Layout::kDense,   Layout::kScalarGrad, Layout::kRow,
                               Layout::kColumn,  Layout::kTransposed, Layout::kOneTransposed,
                               Layout::kStride2, Layout::kSumToRow,   Layout::kSumToColumn};

const char* DtypesName(Dtypes dtypes) {
  switch (dtypes) {
    case Dtypes::kF32:
      return "f32";
    case Dtypes::kF16:
      return "f16";
    case Dtypes::kBf16:
      return "bf16";
    case Dtypes::kMixed:
      break;
  }
  return "mixed";
}

std::string LayoutName(const Case& c) {
  const std::string summed = c.call->summed_like == 1 ? "self" : "target";
  switch (c.layout) {
    case Layout::kDense:
      return "dense";
    case Layout::kScalarGrad:
      return "scalar_grad";
    case Layout::kRow:
      return "row";
    case Layout::kColumn:
      return "column";
    case Layout::kTransposed:
      return "transposed";
    case Layout::kOneTransposed:
      return "one_transposed";
    case Layout::kStride2:
      return "stride2";
    case Layout::kSumToRow:
      return summed + "_row";
    case Layout::kSumToColumn:
      break;
  }
  return summed + "_column";
}

bool IsSummed(const Case& c) {
  return c.layout == Layout::kSumToRow || c.layout == Layout::kSumToColumn ||
         c.call->output != LossCall::Output::kEveryElement;
}

// The input that is different in the layouts where one is: target, but for the gradient for target, whose
// output must have target's shape.
int OddInput(const LossCall& call) { return call.InputCount() - (call.summed_like == 2 ? 2 : 1); }

aclDataType DtypeOf(const Case& c, int operand) {
  const int inputs = c.call->InputCount();
  switch (c.dtypes) {
    case Dtypes::kF32:
      return ACL_FLOAT;
    case Dtypes::kF16:
      return ACL_FLOAT16;
    case Dtypes::kBf16:
      return ACL_BF16;
    case Dtypes::kMixed:
      break;
  }
  if (c.call->inputs_share_dtype) return operand < inputs ? ACL_BF16 : ACL_FLOAT;
  if (operand == inputs && c.call->output_has_dtype_of >= 0) operand = c.call->output_has_dtype_of;
  if (operand == inputs) return ACL_FLOAT;
  constexpr aclDataType kMixed[] = {ACL_FLOAT, ACL_FLOAT16, ACL_BF16};
  return kMixed[operand + 3 - inputs];
}

}  // namespace

int DtypeSize(aclDataType dtype) { return dtype == ACL_FLOAT ? 4 : 2; }

std::string Case::Name() const {
  return std::string(call->name) + "/" + DtypesName(dtypes) + "/" + LayoutName(*this) + "/2^" +
         std::to_string(log2) + "/t" + std::to_string(threads);
}

bool Case::IsPossible() const {
  switch (layout) {
    case Layout::kScalarGrad:
      return call->is_gradient;
    case Layout::kSumToRow:
    case Layout::kSumToColumn:
      return call->summed_like >= 0;
    default:
      return true;
  }
}

std::vector<Case> AllCases(int all_threads) {
  std::vector<Case> cases;
  for (const int threads : {1, all_threads}) {
    if (threads == 1 && !cases.empty()) break;
    for (const Dtypes dtypes : kDtypes) {
      for (const int log2 : kSizes) {
        for (const LossCall& call : LossCalls()) {
          for (const Layout layout : kLayouts) {
            const Case c{&call, dtypes, log2, layout, threads};
            if (c.IsPossible()) cases.push_back(c);
          }
        }
      }
    }
  }
  return cases;
}

bool IsInQuickSelection(const Case& c) {
  const std::string name = c.call->name;
  const bool shown = name == "l1_loss_backward" || name == "smooth_l1_loss_backward" ||
                     name == "kl_div_backward" || name == "kl_div_backward.log";
  const bool f32 = c.dtypes == Dtypes::kF32;
  if (c.layout == Layout::kDense) {
    if (shown && (f32 || c.dtypes == Dtypes::kBf16) && (c.log2 == 16 || c.log2 == 24)) return true;
    if (c.threads > 1) return false;
    if (name == "l1_loss_backward") return f32 ? c.log2 == 2 : c.log2 == 24;
    return f32 && c.log2 == 24 &&
           (name == "l1_loss.mean" || name == "kl_div.mean" || name == "mse_loss.none");
  }
  if (c.threads > 1 || !f32 || c.log2 != 24) return false;
  return name == (c.layout == Layout::kSumToRow || c.layout == Layout::kSumToColumn ? "kl_div_backward"
                                                                                    : "l1_loss_backward");
}

bool IsInTable(const Case& c) {
  const std::string name = c.call->name;
  const auto has = [&](const char* part) { return name.find(part) != std::string::npos; };
  const bool is_like_another = has(".sum") || (!c.call->is_gradient && has(".log"));
  if (is_like_another) return false;
  if (c.layout != Layout::kDense)
    return c.log2 == 24 && (c.dtypes == Dtypes::kF32 || c.dtypes == Dtypes::kBf16) && !has("kl_div_target");
  const bool is_plotted = (c.call->is_gradient && !has("kl_div_target")) || name == "l1_loss.mean";
  switch (c.log2) {
    case 24:
      return true;
    case 26:
      return c.dtypes == Dtypes::kF32 || c.dtypes == Dtypes::kBf16;
    case 16:
      return is_plotted || c.dtypes == Dtypes::kF32;
    default:
      return is_plotted;
  }
}

bool IsInUsualSelection(const Case& c) { return c.log2 < 26 || c.layout == Layout::kDense; }

std::vector<Operand> Operands(const Case& c) {
  const int64_t rows = int64_t{1} << (c.log2 / 2);
  const int64_t columns = int64_t{1} << (c.log2 - c.log2 / 2);
  const int inputs = c.call->InputCount();
  const auto row_major = [&](int operand, std::vector<int64_t> shape) {
    std::vector<int64_t> strides(shape.size(), 1);
    for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    const int64_t elements = shape.empty() ? 1 : strides[0] * shape[0];
    return Operand{DtypeOf(c, operand), std::move(shape), std::move(strides), elements};
  };
  const auto whole = [&](int operand) {
    Operand result = row_major(operand, {rows, columns});
    if (c.layout == Layout::kTransposed ||
        (c.layout == Layout::kOneTransposed && operand == OddInput(*c.call)))
      result.strides = {1, rows};
    if (c.layout == Layout::kStride2) {
      result.strides = {2 * columns, 2};
      result.elements *= 2;
    }
    return result;
  };
  std::vector<Operand> operands;
  for (int i = 0; i < inputs; ++i) {
    const bool odd = i == OddInput(*c.call);
    const bool summed = i == c.call->summed_like;
    if (c.layout == Layout::kScalarGrad && i == 0) {
      operands.push_back(row_major(i, {}));
    } else if ((c.layout == Layout::kRow && odd) || (c.layout == Layout::kSumToRow && summed)) {
      operands.push_back(row_major(i, {1, columns}));
    } else if ((c.layout == Layout::kColumn && odd) || (c.layout == Layout::kSumToColumn && summed)) {
      operands.push_back(row_major(i, {rows, 1}));
    } else {
      operands.push_back(whole(i));
    }
  }
  if (c.layout == Layout::kSumToRow) {
    operands.push_back(row_major(inputs, {1, columns}));
  } else if (c.layout == Layout::kSumToColumn) {
    operands.push_back(row_major(inputs, {rows, 1}));
  } else if (c.call->output == LossCall::Output::kOneElement) {
    operands.push_back(row_major(inputs, {}));
  } else if (c.call->output == LossCall::Output::kWithoutFirstAxis) {
    operands.push_back(row_major(inputs, {columns}));
  } else {
    operands.push_back(whole(inputs));
  }
  return operands;
}

CeilingLoop Ceiling(const Case& c, const std::vector<Operand>& operands,
                    const std::vector<std::byte*>& data) {
  const int inputs = c.call->InputCount();
  const int64_t n = int64_t{1} << c.log2;
  CeilingLoop loop{};
  loop.traffic.elements = static_cast<size_t>(c.layout == Layout::kStride2 ? 2 * n : n);
  loop.may_stream = c.layout != Layout::kStride2;  // what lies between the elements must stay
  int streams = 0;
  for (int i = 0; i < inputs; ++i) {
    const Operand& operand = operands[static_cast<size_t>(i)];
    if (i == c.call->unread_input || operand.elements < n) continue;
    loop.traffic.in[streams++] = {data[static_cast<size_t>(i)], DtypeSize(operand.dtype)};
  }
  if (!IsSummed(c)) loop.traffic.out = {data.back(), DtypeSize(operands.back().dtype)};
  return loop;
}

}  // namespace portacl::bench
