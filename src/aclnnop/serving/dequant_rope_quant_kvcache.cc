// aclnnDequantRopeQuantKvcache: dequantises and rotates rows of keys and values, and writes them to caches as INT8.
// SPDX-License-Identifier: Apache-2.0
#include <strings.h>

#include "aclnnop/jobs/normalized.h"
#include "aclnnop/serving/cache_rows.h"
#include "aclnnop/serving/dequant_rope_quant_kvcache_functions.h"
#include "aclnnop/serving/paged_rows.h"

namespace portacl {
namespace {

using namespace dense;
using namespace serving;

enum Dequant {
  kX,
  kXCos,
  kXSin,
  kXKeys,
  kXValues,
  kXIndex,
  kXKeyScale,
  kXValueScale,
  kXKeyOffset,
  kXValueOffset,
  kXWeightScale,
  kXRowScale,
  kXBias,
  kXQuery,
  kXKey,
  kXValue
};
enum DequantAttributes { kSplits, kQuantMode, kLayout, kOutputsKv, kXCacheMode };

bool IsInteger(const OperatorCall& call) noexcept { return call.Tensor(kX).dtype == ACL_INT32; }
bool IsNumber(const OperatorCall& call) noexcept { return !IsInteger(call); }
bool IsPaged(const OperatorCall& call) noexcept {
  return strcasecmp(TextOr(call, kXCacheMode, "contiguous"), "page") == 0;
}
int64_t RowsOf(const Shape& x) { return x.rank == 3 ? x[0] * x[1] : x[0]; }

aclnnStatus DequantFits(const Check& check, OperatorCall& call) noexcept {
  if (std::strcmp(TextOr(call, kQuantMode, "static"), "static") != 0)
    return serving::RefuseText(check, call, kQuantMode, "static");
  if (std::strcmp(TextOr(call, kLayout, "BSND"), "BSND") != 0)
    return serving::RefuseText(check, call, kLayout, "BSND");
  if (!IsPaged(call) && strcasecmp(TextOr(call, kXCacheMode, "contiguous"), "contiguous") != 0)
    return serving::RefuseText(check, call, kXCacheMode, "contiguous, page");
  const auto& splits = call.Array(kSplits);
  if (splits.size() != 3 || splits[0] < 0 || splits[1] < 0 || splits[2] != splits[1])
    return RefuseArray(check, call, kSplits, " is not of 3 widths", "3 widths, the last two equal");
  ShapeChecks checks(check, call);
  checks.Rank(kX, 2, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& x = call.Tensor(kX).shape;
  const int64_t columns = x[x.rank - 1];
  checks.Holds(columns > 0 && columns % 64 == 0 && columns <= 4096, kX,
               "rows of 64 to 4096 elements, a multiple of 64");
  checks.HoldsOf(splits[0] <= columns && splits[1] <= columns && splits[0] + 2 * splits[1] == columns,
                 kSplits, "widths that sum up to the last dim of x");
  checks.Rank(kXCos, x.rank == 3 ? 4 : 2, x.rank == 3 ? 4 : 2);
  if (!checks.Passed()) return checks.status();
  const Shape& cos = call.Tensor(kXCos).shape;
  const int64_t width = cos[cos.rank - 1];
  checks.Holds(width > 0 && width % 16 == 0, kXCos, "a last dim that is a multiple of 16");
  if (!checks.Passed()) return checks.status();
  checks.Is(kXCos, x.rank == 3 ? Shape{x[0], x[1], 1, width} : Shape{x[0], width}).Is(kXSin, cos);
  checks.HoldsOf(splits[0] % width == 0 && splits[1] % width == 0, kSplits,
                 "multiples of the last dim of cos");
  checks.Rank(kXKeys, 4, 4);
  if (!checks.Passed()) return checks.status();
  const Shape& cache = call.Tensor(kXKeys).shape;
  const int64_t heads = splits[1] / width;
  checks.Is(kXKeys, Shape{cache[0], cache[1], heads, width}).Is(kXValues, cache);
  if (!IsPaged(call)) checks.Holds(cache[0] == x[0], kXKeys, "as many batches as x");
  checks.Is(kXIndex, Shape{IsPaged(call) ? RowsOf(x) : x[0]});
  for (const int tensor : {kXKeyScale, kXValueScale, kXKeyOffset, kXValueOffset}) {
    if (!checks.Passed() || !call.IsGiven(tensor)) continue;
    const int64_t count = call.Tensor(tensor).numel;
    checks.Holds(count > 0 && (count == width || count == splits[1]), tensor,
                 "as many elements as a head, or as all heads of a row");
  }
  if (IsInteger(call)) {
    checks.Given(kXWeightScale, "where x is INT32");
    if (!checks.Passed()) return checks.status();
    checks.Is(kXWeightScale, Shape{columns}).IsIfGiven(kXBias, Shape{columns});
    if (call.IsGiven(kXRowScale))
      checks.Holds(call.Tensor(kXRowScale).numel == RowsOf(x), kXRowScale, "an element for each row of x");
  }
  checks.Holds(call.Tensor(kXQuery).numel == RowsOf(x) * splits[0], kXQuery,
               "as many elements as x has for queries");
  if (Integer(call, kOutputsKv) == 0) return checks.status();
  for (const int tensor : {kXKey, kXValue})
    checks.Holds(call.Tensor(tensor).numel == RowsOf(x) * splits[1], tensor,
                 "as many elements as x has for it");
  return checks.status();
}

constexpr DtypeRule kXDtypes = ByGeneration({}, serving::kHalves | kInt32, {});
constexpr DtypeSet kInt8{ACL_INT8};
constexpr DtypeSet kBiasDtypes = kFloatHalfAndBf16 | kInt32;
constexpr auto kDequantChecks = Join(
    Join(List(NotNull(kX), NotNull(kXCos), NotNull(kXSin), NotNull(kXKeys), NotNull(kXValues),
              NotNull(kXIndex), NotNull(kXKeyScale), NotNull(kXValueScale), NotNull(kXQuery), NotNull(kXKey),
              NotNull(kXValue), ArrayNotNull(kSplits)),
         List(DtypesIn(kXDtypes, {kX}), DtypesIn(serving::kHalves, {kXCos}), SameDtype(kXCos, kXSin),
              If(IsNumber, SameDtype(kX, kXCos)), DtypesIn(kInt8, {kXKeys, kXValues}),
              DtypesIn(kInt32, {kXIndex}), DtypesIn(kFloat, {kXKeyScale, kXValueScale}))),
    Join(List(IfGiven<kXKeyOffset>(DtypesIn(kFloat, {kXKeyOffset})),
              IfGiven<kXValueOffset>(DtypesIn(kFloat, {kXValueOffset})),
              IfGiven<kXWeightScale>(DtypesIn(kFloat, {kXWeightScale})),
              IfGiven<kXRowScale>(DtypesIn(kFloat, {kXRowScale})),
              IfGiven<kXBias>(DtypesIn(kBiasDtypes, {kXBias})), SameDtype(kXCos, kXQuery),
              SameDtype(kXCos, kXKey), SameDtype(kXCos, kXValue)),
         List(SizesRepresentable({kXKeys, kXValues, kXQuery, kXKey, kXValue}), Custom(DequantFits, kTiling),
              Custom(NothingToPut), InsideStorage({kX, kXCos, kXSin, kXIndex}),
              InsideStorage({kXKeyScale, kXValueScale}), IfGiven<kXKeyOffset>(InsideStorage({kXKeyOffset})),
              IfGiven<kXValueOffset>(InsideStorage({kXValueOffset})),
              IfGiven<kXWeightScale>(InsideStorage({kXWeightScale})),
              IfGiven<kXRowScale>(InsideStorage({kXRowScale})), IfGiven<kXBias>(InsideStorage({kXBias})))));

void SetDequant(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const auto& splits = call.Array(kSplits);
  const Shape& x = call.Tensor(kX).shape;
  const Shape& cos = call.Tensor(kXCos).shape;
  const Shape& cache = call.Tensor(kXKeys).shape;
  const int64_t rows = RowsOf(x);
  const int64_t columns = x[x.rank - 1];
  const int64_t width = cos[cos.rank - 1];
  const bool is_half = call.Tensor(kXCos).dtype == ACL_FLOAT16;
  const CacheLayout layout{cache[0], cache[1], /*is_grouped=*/false,
                           IsPaged(call) ? Slots::kEach : Slots::kFirstInBatch, x.rank == 3 ? x[1] : 1};
  const engine::BufferRef slot = ops.In(kXIndex, ACL_INT64);
  engine::NumberRows source;
  if (IsInteger(call)) {
    engine::DequantiseRows dequantise{};
    dequantise.source = ops.In(kX);
    dequantise.to = ops.Floats(rows * columns);
    dequantise.column = ops.In(kXWeightScale);
    dequantise.row = ops.InIfGiven(kXRowScale);
    if (call.IsGiven(kXBias) && call.Tensor(kXBias).dtype == ACL_INT32) {
      dequantise.bias_before = ops.InIfGiven(kXBias);
    } else {
      dequantise.bias_behind = ops.InIfGiven(kXBias, ACL_FLOAT);
    }
    dequantise.rows = rows;
    dequantise.columns = columns;
    dequantise.threads = call.threads;
    ops.Compute(dequantise,
                {dequantise.source, dequantise.column, dequantise.row.buffer, dequantise.bias_before.buffer,
                 dequantise.bias_behind.buffer},
                rows * columns);
    source = engine::NumberRowsOf(call.isa, dequantise.to, ACL_FLOAT);
  } else {
    source = ops.Rows(kX);
  }
  const engine::NumberRows angles[] = {ops.Rows(kXCos), ops.Rows(kXSin)};
  const bool has_offsets = call.IsGiven(kXKeyOffset) && call.IsGiven(kXValueOffset);
  int64_t first = 0;
  for (const int part : {0, 1, 2}) {
    const int64_t own = splits[static_cast<size_t>(part)];
    if (own == 0) continue;
    MakeRows made = StartRows(ops, rows, own / width, width);
    made.source = source;
    made.pitch = columns;
    made.first = first;
    first += own;
    if (part < 2) {
      made.turned = width;
      made.cos = angles[0];
      made.sin = angles[1];
      made.rounds_steps = is_half;
    }
    if (part == 0 || Integer(call, kOutputsKv) != 0) made.to = ops.RowsOut(kXQuery + part);
    if (part == 0) {
      Compute(ops, made);
      continue;
    }
    made.quantiser = Quantiser(call, ops, kXKeyScale + part - 1, has_offsets ? kXKeyOffset + part - 1 : -1,
                               /*divides=*/true);
    ComputeAndPut(call, ops, made, kXKeys + part - 1, slot, layout);
  }
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnDequantRopeQuantKvcache) {
  return dense::RunOpList(call, kDequantChecks, workspaceSize, executor, SetDequant);
}
