// Arguments of the functions that clients look up by name (looked_up.cc), for which ATB has no structures.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace atb {

// Inputs are x and addNum, outputs are y and indices.
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

// Inputs are keyCache, valueCache, blockTable, contextLens and seqStarts, which may be absent; outputs are key
// and value.
struct PagedCacheLoadParam {
  int8_t kvCacheCfg;  // 0: the caches are FRACTAL_NZ, 1: ND
  bool cumsum;        // contextLens are sums, from 0 on
};

// Inputs are qNope, qRope, ctkv, kRope, blockTables, contextLens, mask, qSeqlen, qkDescale and pvDescale, of
// which the last four may be absent; outputs are out and, for a ring, lse.
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

// Inputs are qNope, qRope, kNope, kRope, value, mask, seqlen, preOut and prevLse, of which mask and the last two
// may be absent; outputs are out and softmaxLse.
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

// Is always refused.
struct MlaPreprocessParam {};

}  // namespace atb
