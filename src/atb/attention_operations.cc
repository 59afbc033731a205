// Attention over paged caches and over packed sequences, by FusedInferAttentionScoreV3.
// SPDX-License-Identifier: Apache-2.0
#include "atb/attention_operations.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_fused_infer_attention_score_v3.h"
#include "atb/expectations.h"

namespace atb {

using infer::PagedAttentionParam;
using infer::SelfAttentionParam;

namespace {

struct Attention {
  aclTensor* query = nullptr;
  aclTensor* key = nullptr;
  aclTensor* value = nullptr;
  aclTensor* shift = nullptr;  // a term added to the products
  aclIntArray* queries = nullptr;
  aclIntArray* keys = nullptr;
  aclTensor* table = nullptr;
  aclTensor* out = nullptr;
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
  aclTensorList* const key = calls.List(a.key);
  aclTensorList* const value = calls.List(a.value);
  Tensor byte = any;
  byte.desc.dtype = ACL_BOOL;  // this mode does not read the mask
  aclTensor* const mask = a.is_causal ? calls.View(byte, {kTriangle, kTriangle}, {0, 0}) : nullptr;
  aclTensor* const lse = calls.View(calls.Temporary({1}, ACL_FLOAT));
  calls.Add(
      [=](uint64_t* size, aclOpExecutor** executor) {
        char layout[16];
        std::strcpy(layout, a.layout);
        return aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
            a.query, key, value, a.shift, mask, a.queries, a.keys, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, a.table, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr, nullptr, nullptr, nullptr, a.heads, a.scale, kAll, kAll, layout, a.key_heads,
            a.is_causal ? 3 : 0, 0, a.block, 0, false, 0, 0, a.out, lse, size, executor);
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

}  // namespace atb
