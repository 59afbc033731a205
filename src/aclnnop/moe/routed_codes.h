// Tokens as codes of few bits on Ascend 950: how quantMode of aclnnMoeInitRoutingV3 makes them, and how they lie.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnnop/jobs/dense_op_list.h"
#include "base/data_type.h"

namespace portacl::routing {

// A mode: the dtype of its codes, and what their scales are.
struct CodeMode {
  enum class Scales : uint8_t {
    kNone,       // numbers are converted
    kGiven,      // numbers are multiplied by one that is given
    kRows,       // FLOAT, one for each row
    kPowers,     // FLOAT8_E8M0, one for 32 numbers, in pairs
    kQuotients,  // FLOAT, one for 128 numbers, in pairs
    kRoundedUp   // FLOAT, one for 128 numbers: powers of two
  };
  int64_t mode;
  aclDataType dtype;
  Scales scales;
  float least = 0;  // the greatest magnitude of numbers that share a scale counts as this at least
};
// Returns nullptr if the mode is none that makes codes on Ascend 950 alone.
const CodeMode* CodeModeOf(int64_t mode) noexcept;

// Tells whether a tensor of scales is that of rows of tokens.
bool FitsRows(const CodeMode& mode, const Shape& scales, int64_t rows, int64_t columns) noexcept;
// Tells the same of powers of two beside tokens that are codes: [rows, pairs, 2], or each row's in one dim.
bool ArePairs(const Shape& powers, int64_t rows, int64_t columns) noexcept;

// Bytes of a row of `columns` elements.
inline int64_t RowBytes(const OperatorCall& call, int tensor, int64_t columns) {
  return columns * static_cast<int64_t>(StorageBits(call.Tensor(tensor).dtype)) / 8;
}
// Return a tensor as rows of bytes. Elements of 4 bits lie contiguous (LiesInBytes).
engine::BufferRef BytesIn(dense::DenseOpList& ops, const OperatorCall& call, int tensor);
engine::BufferRef BytesOut(dense::DenseOpList& ops, const OperatorCall& call, int tensor, bool keeps);

// Codes and scales of all tokens, each row contiguous.
struct CodedTokens {
  engine::BufferRef codes, scales;
  int64_t scale_bytes = 0;  // of a row
};
// Adds the op that makes them from tokens [rows, columns]. `scale` is the tensor of given factors, if there is one.
CodedTokens AddCodes(dense::DenseOpList& ops, const OperatorCall& call, const CodeMode& mode, int tokens,
                     int scale);

// 561103 for a tensor of 4-bit elements that is not contiguous in whole bytes.
aclnnStatus LiesInBytes(const Check& check, const OperatorCall& call, int tensor) noexcept;
template <int tensor>
constexpr Check InBytes() {
  return Custom(
      [](const Check& check, OperatorCall& call) noexcept { return LiesInBytes(check, call, tensor); },
      ACLNN_ERR_INNER_NULLPTR);
}

}  // namespace portacl::routing
