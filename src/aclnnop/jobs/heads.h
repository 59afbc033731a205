// Views tensors of attention's operators as batches of heads of rows, whatever the layout, and defines checks
// that they share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "aclnnop/phase1.h"
#include "contract/arguments.h"
#include "engine/attention/attention.h"

namespace portacl::attention {

inline constexpr int64_t kStatisticCopies = 8;
// Longer than any sequence.
inline constexpr int64_t kNoLimit = int64_t{1} << 40;
inline constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

// Layouts of tensors, named by their dims. H holds all heads, T the rows of all batches.
enum class Layout : uint8_t { kNone, kBsh, kSbh, kBnsd, kBsnd, kTnd, kNtd, kNbsd };
Layout LayoutOf(std::string_view name) noexcept;
int RankOf(Layout layout) noexcept;

// A tensor of heads of rows. kTnd and kNtd have no batches: `rows` then counts the rows of all.
struct Heads {
  int64_t batches = 1;
  int64_t heads = 0;
  int64_t rows = 0;
  int64_t depth = 0;
  engine::AttentionOperand operand;

  bool IsEmpty() const noexcept { return batches == 0 || heads == 0 || rows == 0 || depth == 0; }
};
// Views a tensor, which must have the layout's rank. `heads` is the number of heads in layouts that join them
// with the elements. `operand` is the executor's.
Heads HeadsOf(const StridedView& tensor, int operand, Layout layout, int64_t heads) noexcept;

// Makes an operand whose last two dims are row and column. Head and batch are the dims before them, if there
// are any. Dims of 1 are repeated.
engine::AttentionOperand Broadcast(const StridedView& tensor, int operand) noexcept;

// Reports a refused tensor and the accepted ones. Returns the check's code.
aclnnStatus RefuseTensor(const Check& check, const OperatorCall& call, int tensor, const char* accepted,
                         int entry = 0);
// Reports a refused attribute likewise.
aclnnStatus RefuseAttribute(const Check& check, const OperatorCall& call, int attribute,
                            const char* accepted);

// Tells whether a tensor is given and has dims. A tensor without dims counts as omitted.
inline bool IsThere(const OperatorCall& call, int tensor) noexcept {
  return call.IsGiven(tensor) && call.Tensor(tensor).shape.rank > 0;
}
template <int tensor>
bool HasDims(const OperatorCall& call) noexcept {
  return IsThere(call, tensor);
}

// Sets the range of keys that each query of a batch sees, by the sparse mode. The batch's lengths must be
// set.
void SetWindow(int64_t mode, int64_t before, int64_t after, engine::AttentionBatch& batch) noexcept;

// Returns the distance of the first key from the first query, clamped so that positions can be added to it.
int64_t SlopeStart(int64_t query_start, int64_t key_start) noexcept;

}  // namespace portacl::attention
