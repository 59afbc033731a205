// Tokens as codes of few bits (see routed_codes.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/moe/routed_codes.h"

#include "aclnnop/jobs/heads.h"
#include "engine/codes.h"
#include "engine/quantise/blocks.h"

namespace portacl::routing {

using dense::DenseOpList;
using engine::BufferRef;
using Scales = CodeMode::Scales;

namespace {

constexpr int64_t kPowerBlock = 32;    // numbers that share a power of two
constexpr int64_t kNumberBlock = 128;  // numbers that share a FLOAT
constexpr float kLeast = 1e-4f;

constexpr CodeMode kModes[] = {
    {2, ACL_FLOAT8_E5M2, Scales::kPowers},
    {3, ACL_FLOAT8_E4M3FN, Scales::kPowers},
    {4, ACL_FLOAT8_E5M2, Scales::kRoundedUp},
    {5, ACL_FLOAT8_E4M3FN, Scales::kRoundedUp},
    {6, ACL_HIFLOAT8, Scales::kNone},
    {7, ACL_HIFLOAT8, Scales::kGiven},
    {8, ACL_HIFLOAT8, Scales::kRows},
    {9, ACL_FLOAT4_E2M1, Scales::kPowers},
    {11, ACL_FLOAT8_E5M2, Scales::kQuotients},
    {12, ACL_FLOAT8_E4M3FN, Scales::kQuotients},
    {13, ACL_INT4, Scales::kRows},
    {14, ACL_FLOAT8_E5M2, Scales::kRoundedUp, kLeast},
    {15, ACL_FLOAT8_E4M3FN, Scales::kRoundedUp, kLeast},
    {16, ACL_FLOAT8_E5M2, Scales::kPowers, kLeast},
    {17, ACL_FLOAT8_E4M3FN, Scales::kPowers, kLeast},
};

int64_t BlocksIn(int64_t length, int64_t block) { return length / block + (length % block != 0 ? 1 : 0); }

// The power of two of a block: of FLOAT4 that of its greatest magnitude itself, else that not below the quotient.
engine::PowerRule RuleOf(const CodeMode& mode, aclDataType tokens) {
  engine::PowerRule rule;
  if (mode.dtype == ACL_FLOAT4_E2M1) {
    rule.greatest_exponent = 2;
    return rule;
  }
  rule.kind = engine::PowerRule::Kind::kQuotient;
  rule.most = engine::GreatestNumber(mode.dtype);
  rule.least_greatest = mode.least;
  rule.cuts_to_bfloat16 = tokens == ACL_FLOAT16;
  rule.least_exponent = -126;
  return rule;
}

// Sets what all quantisers have, and adds one.
template <class Quantise>
void Add(DenseOpList& ops, Quantise& quantise, const engine::Numbers& x, const BufferRef& scale,
         const CodedTokens& coded, int64_t elements) {
  quantise.x = x;
  quantise.isa = ops.isa();
  quantise.threads = ops.threads();
  ops.Compute(quantise, {x.buffer, scale, coded.codes, coded.scales}, elements);
}

// Quantises by a factor that is given, or by the greatest magnitude of each row.
void AddRows(DenseOpList& ops, const OperatorCall& call, const CodeMode& mode, const engine::Numbers& x,
             const Shape& shape, int scale, CodedTokens& coded) {
  engine::QuantisePlain quantise;
  quantise.rows = shape[0];
  quantise.columns = shape[1];
  engine::Quantiser& to = quantise.quantiser[0];
  to.dtype = mode.dtype;
  to.codes = coded.codes;
  to.kind = engine::Quantiser::Kind::kMultiply;
  if (call.IsGiven(scale)) {
    to.scale.numbers = {ops.In(scale), ACL_FLOAT, true};
    to.scale.by_column = mode.scales == Scales::kRows;
  }
  if (mode.scales == Scales::kRows) {
    to.kind = engine::Quantiser::Kind::kGreatest;
    to.step = engine::Quantiser::Step::kQuotient;
    to.most = engine::GreatestNumber(mode.dtype);
    coded.scale_bytes = sizeof(float);
    coded.scales = ops.Floats(shape[0]);
    to.row_step = {coded.scales, ACL_FLOAT, true};
  }
  Add(ops, quantise, x, to.scale.numbers.is_there ? to.scale.numbers.buffer : x.buffer, coded,
      shape[0] * shape[1]);
}

}  // namespace

const CodeMode* CodeModeOf(int64_t mode) noexcept {
  for (const CodeMode& known : kModes) {
    if (known.mode == mode) return &known;
  }
  return nullptr;
}

bool ArePairs(const Shape& powers, int64_t rows, int64_t columns) noexcept {
  const int64_t pairs = BlocksIn(columns, 2 * kPowerBlock);
  return powers == Shape{rows, pairs, 2} || powers == Shape{rows, 2 * pairs};
}

bool FitsRows(const CodeMode& mode, const Shape& scales, int64_t rows, int64_t columns) noexcept {
  switch (mode.scales) {
    case Scales::kRows:
      return scales == Shape{rows};
    case Scales::kPowers:
      return ArePairs(scales, rows, columns);
    case Scales::kQuotients:
      return scales == Shape{rows, BlocksIn(columns, 2 * kNumberBlock), 2};
    case Scales::kRoundedUp:
      return scales == Shape{rows, BlocksIn(columns, kNumberBlock)};
    default:
      return true;
  }
}

BufferRef BytesIn(DenseOpList& ops, const OperatorCall& call, int tensor) {
  const aclTensor& view = call.Tensor(tensor);
  if (StorageBits(view.dtype) != 4) return ops.In(tensor);
  return {call.OperandOf(tensor), view.offset / 2};
}
BufferRef BytesOut(DenseOpList& ops, const OperatorCall& call, int tensor, bool keeps) {
  const aclTensor& view = call.Tensor(tensor);
  if (StorageBits(view.dtype) != 4) return ops.Out(tensor, ACL_DT_UNDEFINED, keeps);
  return {call.OperandOf(tensor), view.offset / 2};
}

CodedTokens AddCodes(DenseOpList& ops, const OperatorCall& call, const CodeMode& mode, int tokens,
                     int scale) {
  const Shape& shape = call.Tensor(tokens).shape;
  const int64_t rows = shape[0];
  const int64_t columns = shape[1];
  CodedTokens coded;
  if (mode.scales == Scales::kNone) {
    coded.codes = ops.In(tokens, mode.dtype);
    return coded;
  }
  const engine::Numbers x{ops.In(tokens), call.Tensor(tokens).dtype, true};
  coded.codes = coded.scales = ops.Bytes(rows * columns * static_cast<int64_t>(StorageBits(mode.dtype)) / 8);
  if (mode.scales == Scales::kPowers) {
    coded.scale_bytes = 2 * BlocksIn(columns, 2 * kPowerBlock);
    coded.scales = ops.Bytes(rows * coded.scale_bytes);
    engine::QuantiseMx quantise;
    quantise.codes = coded.codes;
    quantise.dtype = mode.dtype;
    quantise.scales = coded.scales;
    quantise.outer = rows;
    quantise.length = columns;
    quantise.block = kPowerBlock;
    quantise.rule = RuleOf(mode, x.dtype);
    Add(ops, quantise, x, x.buffer, coded, rows * columns);
  } else if (mode.scales == Scales::kQuotients || mode.scales == Scales::kRoundedUp) {
    engine::QuantiseRectangles quantise;
    const int64_t blocks = BlocksIn(columns, kNumberBlock);
    quantise.rounds_up = mode.scales == Scales::kRoundedUp;
    quantise.more_scales = quantise.rounds_up ? 0 : blocks % 2;
    coded.scale_bytes = (blocks + quantise.more_scales) * int64_t{sizeof(float)};
    coded.scales = ops.Bytes(rows * coded.scale_bytes);
    quantise.codes = coded.codes;
    quantise.dtype = mode.dtype;
    quantise.scales = coded.scales;
    quantise.rows = rows;
    quantise.columns = columns;
    quantise.column_block = kNumberBlock;
    quantise.most = engine::GreatestNumber(mode.dtype);
    quantise.least = mode.least;
    Add(ops, quantise, x, x.buffer, coded, rows * columns);
  } else {
    AddRows(ops, call, mode, x, shape, scale, coded);
  }
  return coded;
}

aclnnStatus LiesInBytes(const Check& check, const OperatorCall& call, int tensor) noexcept {
  const aclTensor& view = call.Tensor(tensor);
  if (StorageBits(view.dtype) != 4 || view.shape.IsEmpty()) return ACL_SUCCESS;
  if (IsContiguous(view) && view.offset % 2 == 0) return ACL_SUCCESS;
  return attention::RefuseTensor(check, call, tensor, "of 4-bit elements a contiguous one at an even offset");
}

}  // namespace portacl::routing
