// Shared code of attention's operators (see heads.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/heads.h"

#include <algorithm>
#include <limits>

#include "base/data_type.h"
#include "base/errors.h"
#include "plan/views.h"

namespace portacl::attention {

Layout LayoutOf(std::string_view name) noexcept {
  if (name == "BSH") return Layout::kBsh;
  if (name == "SBH") return Layout::kSbh;
  if (name == "BNSD") return Layout::kBnsd;
  if (name == "BSND") return Layout::kBsnd;
  if (name == "TND") return Layout::kTnd;
  if (name == "NTD") return Layout::kNtd;
  if (name == "NBSD") return Layout::kNbsd;
  return Layout::kNone;
}

int RankOf(Layout layout) noexcept {
  return layout == Layout::kBnsd || layout == Layout::kBsnd || layout == Layout::kNbsd ? 4 : 3;
}

Heads HeadsOf(const StridedView& tensor, int operand, Layout layout, int64_t heads) noexcept {
  const StridedView view = PlainView(tensor);
  const auto length = [&](int dim) { return view.shape[dim]; };
  const auto stride = [&](int dim) { return ByteStride(view, dim); };
  Heads made;
  engine::AttentionOperand& to = made.operand;
  to.argument = static_cast<int16_t>(operand);
  to.dtype = view.dtype;
  to.offset = ByteOffset(view);
  to.column = stride(view.shape.rank - 1);
  const auto set = [&](int batch, int head, int row) {
    if (batch >= 0) {
      made.batches = length(batch);
      to.batch = stride(batch);
    }
    made.rows = length(row);
    to.row = stride(row);
    if (head >= 0) {
      made.heads = length(head);
      to.head = stride(head);
      made.depth = length(view.shape.rank - 1);
    } else {
      made.heads = heads;
      made.depth = heads > 0 ? length(view.shape.rank - 1) / heads : 0;
      to.head = made.depth * to.column;
    }
  };
  switch (layout) {
    case Layout::kBsh:
      set(0, -1, 1);
      break;
    case Layout::kSbh:
      set(1, -1, 0);
      break;
    case Layout::kBnsd:
      set(0, 1, 2);
      break;
    case Layout::kBsnd:
      set(0, 2, 1);
      break;
    case Layout::kNbsd:
      set(1, 0, 2);
      break;
    case Layout::kNtd:
      set(-1, 0, 1);
      break;
    default:
      set(-1, 1, 0);
      break;
  }
  return made;
}

engine::AttentionOperand Broadcast(const StridedView& tensor, int operand) noexcept {
  const StridedView view = PlainView(tensor);
  engine::AttentionOperand to;
  to.argument = static_cast<int16_t>(operand);
  to.dtype = view.dtype;
  to.offset = ByteOffset(view);
  int64_t* const steps[] = {&to.column, &to.row, &to.head, &to.batch};
  for (int i = 0; i < std::min(view.shape.rank, 4); ++i) {
    const int dim = view.shape.rank - 1 - i;
    *steps[i] = ByteStride(view, dim);
  }
  return to;
}

aclnnStatus RefuseTensor(const Check& check, const OperatorCall& call, int tensor, const char* accepted,
                         int entry) {
  Text message = StartMessage(call).Add("parameter ");
  const bool is_there = call.Count(tensor) > 0 && call.Entry(tensor, std::max(entry, 0)) != nullptr;
  if (!is_there) {
    message.Add(call.Name(tensor)).Add(" is a null pointer");
  } else {
    AddArgumentShape(message, call, tensor, entry).Add(" does not fit");
  }
  return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add("."));
}

aclnnStatus RefuseAttribute(const Check& check, const OperatorCall& call, int attribute,
                            const char* accepted) {
  const Attribute& given = call.attributes[static_cast<size_t>(attribute)];
  Text message = StartMessage(call);
  message.Add("parameter ").Add(given.name).Add(" is ");
  if (given.text != nullptr) {
    message.Add(std::string_view(given.text).substr(0, 64));
  } else if (given.array != nullptr) {
    message.Add("an array of ").Add(std::ssize(given.array->values)).Add(" numbers that do not fit");
  } else if (given.integer != 0 || given.wide == 0) {
    message.Add(given.integer);
  } else {
    message.Add(static_cast<float>(given.wide));
  }
  return FailAclnn(check.code, message.Add(", accepted: ").Add(accepted).Add("."));
}

void SetWindow(int64_t mode, int64_t before, int64_t after, engine::AttentionBatch& batch) noexcept {
  const bool from_ends = mode == 3 || mode == 4 || mode == 5 || mode == 6;
  const bool has_tokens = mode == 0 || mode == 4;
  batch.origin = from_ends ? batch.keys - batch.queries : 0;
  batch.before = has_tokens ? std::clamp(before, -kNoLimit, kNoLimit) : kNoLimit;
  batch.after = has_tokens ? std::clamp(after, -kNoLimit, kNoLimit) : mode == 1 ? kNoLimit : 0;
}

int64_t SlopeStart(int64_t query_start, int64_t key_start) noexcept {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 2;
  int64_t start;
  if (__builtin_sub_overflow(key_start, query_start, &start)) start = key_start < 0 ? -kMost : kMost;
  return std::clamp(start, -kMost, kMost);
}

}  // namespace portacl::attention
