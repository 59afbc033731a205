// How attention's operators see their tensors: batches of heads of rows, whatever the layout, and the checks that they share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/attention/attention.h"

namespace portacl::attention {

inline constexpr int64_t kStatisticCopies = 8;
// More than any sequence has.
inline constexpr int64_t kNoLimit = int64_t{1} << 40;
inline constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

// Dims of a layout's tensors. kBsh and kSbh have all heads in one, T are all batches' rows.
enum class Layout : uint8_t { kNone, kBsh, kSbh, kBnsd, kBsnd, kTnd, kNtd, kNbsd };
Layout LayoutOf(std::string_view name) noexcept;
int RankOf(Layout layout) noexcept;

// A tensor of heads of rows; of kTnd and kNtd, which have no batches, `rows` are those of all.
struct Heads {
  int64_t batches = 1;
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t depth = 0;
  engine::AttentionOperand operand;

  bool IsEmpty() const noexcept { return batches == 0 || heads == 0 || rows == 0 || depth == 0; }
};
// The tensor has the layout's rank. `heads` is how many there are where the layout has them in one dim with the elements; `operand` the
// executor's.
Heads HeadsOf(const StridedView& tensor, int operand, Layout layout, int64_t heads) noexcept;

// An operand of which row and column are the last two dims, head and batch those before, if there are so many. A dim of 1 is repeated.
engine::AttentionOperand Broadcast(const StridedView& tensor, int operand) noexcept;

// Reports what is wrong with a tensor's shape, and what is accepted, and returns the check's code.
aclnnStatus RefuseTensor(const Check& check, const OperatorCall& call, int tensor, const char* accepted,
                         int entry = 0);
// The same of an attribute.
aclnnStatus RefuseAttribute(const Check& check, const OperatorCall& call, int attribute,
                            const char* accepted);

// A tensor that is given and has dims: one without counts as absent.
inline bool IsThere(const OperatorCall& call, int tensor) noexcept {
  return call.IsGiven(tensor) && call.Tensor(tensor).view.rank > 0;
}
template <int tensor>
bool HasDims(const OperatorCall& call) noexcept {
  return IsThere(call, tensor);
}

// Which keys a batch's queries see by their place, from the number of the sparse mode. Its lengths are set.
void SetWindow(int64_t mode, int64_t before, int64_t after, engine::AttentionBatch& batch) noexcept;

// How far the first key is behind the first query, to which places can be added whatever the starts are.
int64_t SlopeStart(int64_t query_start, int64_t key_start) noexcept;

}  // namespace portacl::attention
