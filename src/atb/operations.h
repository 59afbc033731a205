// Describes an ATB operation: its tensors, and the function that builds its calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "atb/abi.h"
#include "atb/native_calls.h"

namespace atb {

struct Counts {
  uint32_t in;
  uint32_t out;
};

struct Description {
  const char* name;
  Counts counts;
  // Adds the calls for these tensors; throws Refusal.
  std::function<void(const VariantPack&, Calls&)> make;
};

// Arguments of a function that clients look up by name (looked_up.cc), for which ATB has no structure. Inputs
// are x and addNum, outputs are y and indices.
struct FusedAddTopkDivParam {
  int64_t groupNum;
  int64_t groupTopk;
  int64_t n;  // members per group whose sum is the group's score
  int64_t k;
  int activationType;
  bool isNorm;
  float scale;
  bool enableExpertMapping;
};

// The same for rows of keys and values that are read from paged caches. Inputs are keyCache, valueCache,
// blockTable, contextLens and seqStarts, which may be absent; outputs are key and value.
struct PagedCacheLoadParam {
  int8_t kvCacheCfg;  // 0: the caches are FRACTAL_NZ, 1: ND
  bool cumsum;        // contextLens are sums, from 0 on
};

// Of attention over a latent cache. Inputs are qNope, qRope, ctkv, kRope, blockTables, contextLens, mask,
// qSeqlen, qkDescale and pvDescale, of which the last four may be absent; outputs are out and, for a ring, lse.
struct MlaParam {
  enum CalcType : int { kRing = 2 };
  enum CacheMode : int { kLatentAndRope = 1 };
  int64_t headNum;
  float qkScale;
  int64_t kvHeadNum;
  int maskType;
  int calcType;
  int cacheMode;
};

// Of attention over a part of the keys, merged with that over earlier parts. Inputs are qNope, qRope, kNope,
// kRope, value, mask, seqlen, preOut and prevLse, of which mask and the last two may be absent; outputs are out
// and softmaxLse.
struct RingMlaParam {
  enum CalcType : int { kFirst = 1 };
  int64_t headNum;
  int64_t kvHeadNum;
  float qkScale;
  int kernelType;
  int maskType;
  int inputLayout;
  int calcType;
};

// Of an operation that no fact describes well enough.
struct MlaPreprocessParam {};

// Creates an operation. Logs a refusal, and sets *operation to null then.
Status CreateDescribed(const std::function<Description()>& describe, const char* name,
                       Operation** operation) noexcept;

}  // namespace atb
