// Attention over paged caches and over packed sequences, by FusedInferAttentionScoreV3. Parts of it are merged by
// AttentionUpdate.
// SPDX-License-Identifier: Apache-2.0
#include "atb/attention_operations.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "aclnnop/aclnn_attention_update.h"
#include "aclnnop/aclnn_cast.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_eq_scalar.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v3.h"
#include "aclnnop/aclnn_masked_fill_scalar.h"
#include "atb/expectations.h"

namespace atb {

using infer::PagedAttentionParam;
using infer::SelfAttentionParam;

namespace {

constexpr int64_t kRope = 64;  // the elements of a rotary part

struct Attention {
  aclTensor* query = nullptr;
  aclTensor* key = nullptr;
  aclTensor* value = nullptr;
  aclTensor* shift = nullptr;  // a term added to the products
  aclIntArray* queries = nullptr;
  aclIntArray* keys = nullptr;
  aclTensor* table = nullptr;
  aclTensor* query_rope = nullptr;
  aclTensor* key_rope = nullptr;
  aclTensor* out = nullptr;
  aclTensor* lse = nullptr;  // the logarithm of each row's sum of exponentials; null: not wanted
  const char* layout = nullptr;
  int64_t heads = 0;
  int64_t key_heads = 0;
  double scale = 1;
  int64_t block = 0;
  bool is_causal = false;
};

void Attend(Calls& calls, const Attention& a, const Tensor& any) {
  constexpr int64_t kTriangle = 2048;
  constexpr int64_t kAll = 2147483647;
  aclTensorList* const key = calls.List({a.key});
  aclTensorList* const value = calls.List({a.value});
  Tensor byte = any;
  byte.desc.dtype = ACL_BOOL;  // this mode does not read the mask
  aclTensor* const mask = a.is_causal ? calls.View(byte, {kTriangle, kTriangle}, {0, 0}) : nullptr;
  const bool wants_lse = a.lse != nullptr;
  aclTensor* const lse = wants_lse ? a.lse : calls.View(calls.Temporary({1}, ACL_FLOAT));
  calls.Add(
      [=](uint64_t* size, aclOpExecutor** executor) {
        char layout[16];
        std::strcpy(layout, a.layout);
        return aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
            a.query, key, value, a.shift, mask, a.queries, a.keys, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, a.table, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, a.query_rope, a.key_rope, nullptr, a.heads, a.scale, kAll, kAll, layout,
            a.key_heads, a.is_causal ? 3 : 0, 0, a.block, 0, wants_lse, 0, 0, a.out, lse, size, executor);
      },
      aclnnFusedInferAttentionScoreV3);
}

// Returns the running sums of the sequence lengths.
std::vector<int64_t> Sums(std::vector<int64_t> lengths) {
  for (size_t i = 1; i < lengths.size(); ++i) lengths[i] += lengths[i - 1];
  return lengths;
}

// Views a paged cache [blocks, rows, heads, size] as the attention takes it: [blocks, rows, heads * size].
aclTensor* Pages(Calls& calls, const Tensor& cache, const char* name) {
  ExpectRank(cache, 4, name);
  if (cache.desc.format == ACL_FORMAT_FRACTAL_NZ)
    Refuse(kInvalidParam, std::string(name) + " is in FRACTAL_NZ, accepted: ND");
  const Shape shape = ShapeOf(cache);
  return calls.View(cache, {shape[0], shape[1], shape[2] * shape[3]});
}

// Views tokens, given as [tokens, heads, size] or [tokens, heads * size].
aclTensor* Tokens(Calls& calls, const Tensor& tensor, int64_t heads, const char* name) {
  const Shape shape = ShapeOf(tensor);
  if (shape.size() == 3) return calls.View(tensor);
  ExpectRank(tensor, 2, name);
  if (heads < 1 || shape[1] % heads != 0) ExpectSize(shape[1], -1, name);
  return calls.View(tensor, {shape[0], heads, shape[1] / heads});
}

// Views a mask [batches or 1, heads, 1, columns] as one of `keys` columns. Columns after the longest
// sequence are never read.
aclTensor* AlibiOfAllKeys(Calls& calls, const Tensor& mask, const Shape& shape, int64_t keys) {
  if (shape.size() != 4 || shape[3] >= keys) return calls.View(mask, shape);
  const Tensor wide = calls.Temporary({shape[0], shape[1], shape[2], keys}, mask.desc.dtype);
  aclTensor* const from = calls.View(mask, shape);
  aclTensor* const to = calls.View(wide, shape, {shape[1] * shape[2] * keys, shape[2] * keys, keys, 1});
  PORTACL_ATB_CALL(calls, aclnnInplaceCopy, to, from);
  return calls.View(wide);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Replaces a number by another. Rows without keys have +infinity in native operators; in ATB they have -infinity,
// the logarithm of 0.
void Replace(Calls& calls, const Tensor& logarithms, double from, double to) {
  aclTensor* const all = calls.View(logarithms);
  aclTensor* const mask = calls.View(calls.Temporary(ShapeOf(logarithms), ACL_BOOL));
  aclScalar* const old = calls.Number(from);
  aclScalar* const fresh = calls.Number(to);
  PORTACL_ATB_CALL(calls, aclnnEqScalar, all, old, mask);
  PORTACL_ATB_CALL(calls, aclnnInplaceMaskedFillScalar, all, mask, fresh);
}

// Copies between [tokens, heads] and its transpose.
void CopyAcross(Calls& calls, const Tensor& by_token, const Tensor& by_head, bool to_heads) {
  const int64_t heads = ShapeOf(by_head)[0];
  aclTensor* const of_tokens = calls.View(by_token, ShapeOf(by_head), {1, heads});
  aclTensor* const of_heads = calls.View(by_head);
  aclTensor* const to = to_heads ? of_heads : of_tokens;
  aclTensor* const from = to_heads ? of_tokens : of_heads;
  PORTACL_ATB_CALL(calls, aclnnInplaceCopy, to, from);
}

void ExpectShape(const Tensor& tensor, const Shape& expected, const char* name) {
  ExpectRank(tensor, expected.size(), name);
  const Shape shape = ShapeOf(tensor);
  for (size_t dim = 0; dim < expected.size(); ++dim) {
    if (shape[dim] == expected[dim]) continue;
    Refuse(kInvalidTensorSize, std::string(name) + " has " + Number(shape[dim]) + " in dim " +
                                   Number(static_cast<int64_t>(dim)) +
                                   ", accepted: " + Number(expected[dim]));
  }
}

}  // namespace

void Check(const PagedAttentionParam& param) {
  Accept(param.headNum >= 1, "headNum", param.headNum, "1 and more");
  Accept(param.kvHeadNum >= 0, "kvHeadNum", param.kvHeadNum, "0 (headNum) and more");
  const bool is_spec = param.calcType == 1;
  Accept(param.calcType == 0 || is_spec, "calcType", param.calcType, "0 and 1");
  const int mask = param.maskType;
  Accept(is_spec ? mask == PagedAttentionParam::kCompressed
                 : mask == PagedAttentionParam::kNoMask || mask == PagedAttentionParam::kAlibi,
         "maskType", mask, "0 and 2; 5 where calcType is 1");
  Accept(param.quantType == 0, "quantType", param.quantType, "0");
  Accept(param.compressType == 0, "compressType", param.compressType, "0");
  Accept(param.scaleType == 0, "scaleType", param.scaleType, "0");
  Accept(param.inputLayout == 0, "inputLayout", param.inputLayout, "0");
  Accept(param.mlaVHeadSize == 0, "mlaVHeadSize", param.mlaVHeadSize, "0");
  Accept(!param.batchRunStatusEnable, "batchRunStatusEnable", param.batchRunStatusEnable, "false");
}

void Make(const PagedAttentionParam& param, const VariantPack& pack, Calls& calls) {
  const bool is_spec = param.calcType == 1;
  const Tensor& query = pack.in[0];
  ExpectRank(query, 3, "query");
  const Shape shape = ShapeOf(query);
  Attention a;
  a.heads = param.headNum;
  a.key_heads = param.kvHeadNum;
  a.scale = param.qkScale;
  a.key = Pages(calls, pack.in[1], "keyCache");
  a.value = Pages(calls, pack.in[2], "valueCache");
  a.block = ShapeOf(pack.in[1])[1];
  a.table = calls.View(pack.in[3]);
  a.keys = calls.Integers(calls.HostIntegers(pack.in[4], "contextLens"));
  a.is_causal = is_spec;
  if (is_spec) {
    a.layout = "TND";
    a.query = calls.View(query);
    a.out = calls.View(pack.out[0]);
    a.queries = calls.Integers(Sums(calls.HostIntegers(pack.in[6], "qSeqLens")));
  } else {
    // Each sequence has one query.
    a.layout = "BSND";
    a.query = calls.View(query, {shape[0], 1, shape[1], shape[2]});
    const Shape out = ShapeOf(pack.out[0]);
    ExpectRank(pack.out[0], 3, "attnOut");
    a.out = calls.View(pack.out[0], {out[0], 1, out[1], out[2]});
    if (param.maskType == PagedAttentionParam::kAlibi) {
      const Tensor& mask = pack.in[5];
      Shape of_mask = ShapeOf(mask);
      if (of_mask.size() == 3) of_mask.insert(of_mask.begin(), 1);
      ExpectRank(pack.in[3], 2, "blockTables");
      a.shift = AlibiOfAllKeys(calls, mask, of_mask, ShapeOf(pack.in[3])[1] * a.block);
    }
  }
  Attend(calls, a, pack.out[0]);
}

void Check(const SelfAttentionParam& param) {
  Accept(param.headNum >= 1, "headNum", param.headNum, "1 and more");
  Accept(param.kvHeadNum >= 0, "kvHeadNum", param.kvHeadNum, "0 (headNum) and more");
  const bool has_pages = param.calcType == SelfAttentionParam::kPrefixEncoder;
  Accept(has_pages || param.calcType == SelfAttentionParam::kPackedEncoder, "calcType", param.calcType,
         "3 and 4");
  const int mask = param.maskType;
  Accept(mask == SelfAttentionParam::kCompressed || (!has_pages && mask == SelfAttentionParam::kNoMask),
         "maskType", mask, "3; 0 where calcType is 3");
  Accept(param.quantType == 0, "quantType", param.quantType, "0");
  Accept(param.qScale == 1, "qScale", static_cast<int64_t>(param.qScale), "1");
  Accept(param.clampType == 0, "clampType", param.clampType, "0");
  Accept(param.kvcacheCfg == 0, "kvcacheCfg", param.kvcacheCfg, "0");
  Accept(param.scaleType == 0, "scaleType", param.scaleType, "0");
  Accept(param.inputLayout == 0, "inputLayout", param.inputLayout, "0");
  Accept(param.mlaVHeadSize == 0, "mlaVHeadSize", param.mlaVHeadSize, "0");
  Accept(param.cacheType == 0, "cacheType", param.cacheType, "0");
  Accept(!param.batchRunStatusEnable, "batchRunStatusEnable", param.batchRunStatusEnable, "false");
}

void Make(const SelfAttentionParam& param, const VariantPack& pack, Calls& calls) {
  const bool has_pages = param.calcType == SelfAttentionParam::kPrefixEncoder;
  const bool has_mask = param.maskType == SelfAttentionParam::kCompressed;
  const int64_t key_heads = param.kvHeadNum == 0 ? param.headNum : param.kvHeadNum;
  Attention a;
  a.layout = "TND";
  a.heads = param.headNum;
  a.key_heads = key_heads;
  a.scale = param.qkScale;
  a.is_causal = has_mask;
  a.query = Tokens(calls, pack.in[0], a.heads, "query");
  a.out = Tokens(calls, pack.out[0], a.heads, "attnOut");
  if (has_pages) {
    a.key = Pages(calls, pack.in[1], "key");
    a.value = Pages(calls, pack.in[2], "value");
    a.block = ShapeOf(pack.in[1])[1];
    a.table = calls.View(pack.in[3]);
    a.queries = calls.Integers(Sums(calls.HostIntegers(pack.in[5], "seqLen")));
    a.keys = calls.Integers(calls.HostIntegers(pack.in[6], "kvSeqLen"));
  } else {
    a.key = Tokens(calls, pack.in[1], key_heads, "key");
    a.value = Tokens(calls, pack.in[2], key_heads, "value");
    a.queries = calls.Integers(Sums(calls.HostIntegers(pack.in[has_mask ? 4 : 3], "seqLen")));
    a.keys = calls.Integers(Sums(calls.HostIntegers(pack.in[has_mask ? 4 : 3], "seqLen")));
  }
  Attend(calls, a, pack.out[0]);
}

// ---- MLA: attention over pages that hold one latent row of each key, which is its value, too ----

void Check(const MlaParam& param) {
  Accept(param.headNum >= 1, "headNum", param.headNum, "1 and more");
  Accept(param.kvHeadNum == 1, "kvHeadNum", param.kvHeadNum, "1");
  Accept(param.maskType == 0, "maskType", param.maskType, "0");
  Accept(param.calcType == 0 || param.calcType == MlaParam::kRing, "calcType", param.calcType, "0 and 2");
  Accept(param.cacheMode == MlaParam::kLatentAndRope, "cacheMode", param.cacheMode, "1 (krope_ctkv)");
}

void Make(const MlaParam& param, const VariantPack& pack, Calls& calls) {
  const Tensor& query = pack.in[0];
  const Tensor& cache = pack.in[2];
  ExpectRank(query, 3, "qNope");
  ExpectRank(cache, 4, "ctkv");
  const int64_t tokens = ShapeOf(query)[0];
  const int64_t heads = param.headNum;
  const int64_t depth = ShapeOf(query)[2];
  const Shape pages = ShapeOf(cache);
  ExpectShape(query, {tokens, heads, depth}, "qNope");
  ExpectShape(pack.in[1], {tokens, heads, kRope}, "qRope");
  ExpectShape(cache, {pages[0], pages[1], 1, depth}, "ctkv");
  ExpectShape(pack.in[3], {pages[0], pages[1], 1, kRope}, "kRope");
  ExpectShape(pack.out[0], ShapeOf(query), "out");
  Attention a;
  a.heads = heads;
  a.key_heads = 1;
  a.scale = param.qkScale;
  a.key = Pages(calls, cache, "ctkv");
  a.value = Pages(calls, cache, "ctkv");
  a.key_rope = Pages(calls, pack.in[3], "kRope");
  a.block = pages[1];
  a.table = calls.View(pack.in[4]);
  a.keys = calls.Integers(calls.HostIntegers(pack.in[5], "contextLens"));
  const bool is_packed = IsThere(pack.in[7]);
  if (is_packed) {
    a.layout = "TND";
    a.query = calls.View(query);
    a.query_rope = calls.View(pack.in[1]);
    a.out = calls.View(pack.out[0]);
    a.queries = calls.Integers(Sums(calls.HostIntegers(pack.in[7], "qSeqlen")));
  } else {
    // Each sequence has one query.
    a.layout = "BSND";
    a.query = calls.View(query, {tokens, 1, heads, depth});
    a.query_rope = calls.View(pack.in[1], {tokens, 1, heads, kRope});
    a.out = calls.View(pack.out[0], {tokens, 1, heads, depth});
  }
  if (pack.out.count == 1 || !IsThere(pack.out[1])) return Attend(calls, a, pack.out[0]);
  const Tensor& lse = pack.out[1];
  ExpectShape(lse, {tokens, heads, 1}, "lse");
  const Tensor sums = calls.Temporary({tokens, heads, 1}, ACL_FLOAT);
  a.lse = is_packed ? calls.View(sums) : calls.View(sums, {tokens, heads, 1, 1});
  Attend(calls, a, pack.out[0]);
  Replace(calls, sums, kInfinity, -kInfinity);
  Replace(calls, sums, std::numeric_limits<float>::lowest(), -kInfinity);
  aclTensor* const from = calls.View(sums);
  aclTensor* const to = calls.View(lse);
  const aclDataType dtype = lse.desc.dtype;
  PORTACL_ATB_CALL(calls, aclnnCast, from, dtype, to);
}

// ---- RingMLA: attention over a part of the keys, merged with that over earlier parts ----

void Check(const RingMlaParam& param) {
  Accept(param.headNum >= 1, "headNum", param.headNum, "1 and more");
  Accept(param.kvHeadNum >= 0, "kvHeadNum", param.kvHeadNum, "0 (headNum) and more");
  Accept(param.kernelType == 0 || param.kernelType == 1, "kernelType", param.kernelType, "0 and 1");
  Accept(param.maskType == 0 || param.maskType == 1, "maskType", param.maskType, "0 and 1");
  Accept(param.inputLayout == 0, "inputLayout", param.inputLayout, "0");
  Accept(param.calcType == 0 || param.calcType == RingMlaParam::kFirst, "calcType", param.calcType,
         "0 and 1");
}

void Make(const RingMlaParam& param, const VariantPack& pack, Calls& calls) {
  const int64_t heads = param.headNum;
  const int64_t key_heads = param.kvHeadNum == 0 ? heads : param.kvHeadNum;
  const Tensor& query = pack.in[0];
  const Tensor& key = pack.in[2];
  const Tensor& value = pack.in[4];
  ExpectRank(query, 3, "qNope");
  ExpectRank(key, 3, "kNope");
  ExpectRank(value, 3, "value");
  const int64_t tokens = ShapeOf(query)[0];
  const int64_t depth = ShapeOf(query)[2];
  const int64_t value_depth = ShapeOf(value)[2];
  const int64_t keys = ShapeOf(key)[0];
  const Shape of_out = {tokens, heads, value_depth};
  const Shape of_lse = {heads, tokens};
  ExpectShape(query, {tokens, heads, depth}, "qNope");
  ExpectShape(pack.in[1], {tokens, heads, kRope}, "qRope");
  ExpectShape(key, {keys, key_heads, depth}, "kNope");
  ExpectShape(pack.in[3], {keys, key_heads, kRope}, "kRope");
  ExpectShape(value, {keys, key_heads, value_depth}, "value");
  ExpectShape(pack.out[0], of_out, "out");
  ExpectShape(pack.out[1], of_lse, "softmaxLse");
  const bool merges = param.calcType != RingMlaParam::kFirst;
  if (merges) {
    ExpectShape(pack.in[7], of_out, "preOut");
    ExpectShape(pack.in[8], of_lse, "prevLse");
  }
  // One length of each sequence, or those of queries and behind them those of keys.
  const std::vector<int64_t> lengths = calls.HostIntegers(pack.in[6], "seqlen");
  const Shape of_lengths = ShapeOf(pack.in[6]);
  const bool has_both = of_lengths.size() == 2;
  if (has_both ? of_lengths[0] != 2 : of_lengths.size() != 1)
    Refuse(kInvalidTensorDim, "seqlen has another shape, accepted: [batches] and [2, batches]");
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(has_both ? lengths.size() / 2 : 0);
  const Tensor part = merges ? calls.Temporary(of_out, pack.out[0].desc.dtype) : pack.out[0];
  const Tensor sums = calls.Temporary({tokens, heads}, ACL_FLOAT);
  Attention a;
  a.layout = "TND";
  a.heads = heads;
  a.key_heads = key_heads;
  a.scale = param.qkScale;
  a.is_causal = param.maskType == 1;
  a.query = calls.View(query);
  a.query_rope = calls.View(pack.in[1]);
  a.key = calls.View(key);
  a.key_rope = calls.View(pack.in[3]);
  a.value = calls.View(value);
  a.queries = calls.Integers(Sums({lengths.begin(), has_both ? middle : lengths.end()}));
  a.keys = calls.Integers(Sums({middle, lengths.end()}));
  a.out = calls.View(part);
  a.lse = calls.View(sums, {tokens, heads, 1});
  Attend(calls, a, pack.out[0]);
  if (merges) {
    const Tensor before = calls.Temporary({tokens, heads}, ACL_FLOAT);
    CopyAcross(calls, before, pack.in[8], /*to_heads=*/false);
    Replace(calls, before, -kInfinity, kInfinity);
    const Shape rows = {tokens * heads};
    const Shape numbers = {tokens * heads, value_depth};
    aclTensorList* const statistics = calls.List({calls.View(before, rows), calls.View(sums, rows)});
    aclTensorList* const parts = calls.List({calls.View(pack.in[7], numbers), calls.View(part, numbers)});
    aclTensor* const out = calls.View(pack.out[0], numbers);
    const Tensor merged = calls.Temporary({tokens, heads}, ACL_FLOAT);
    aclTensor* const lse = calls.View(merged, rows);
    PORTACL_ATB_CALL(calls, aclnnAttentionUpdate, statistics, parts, int64_t{1}, out, lse);
    CopyAcross(calls, merged, pack.out[1], /*to_heads=*/true);
  } else {
    CopyAcross(calls, sums, pack.out[1], /*to_heads=*/true);
  }
  Replace(calls, pack.out[1], kInfinity, -kInfinity);
}

}  // namespace atb
