// Makes calls of operators in bursts for maps.py, so that what Python itself costs is not counted per call.
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

enum { MOST_WORDS = 14, MOST_NUMBERS = 5 };

// The arguments of phase 1: pointers and integers in the order of the signature, floating-point numbers apart, a float in the low half
// of its place. The machines that this is for, x86-64 and AArch64, pass the two kinds in registers of their own, so that how they are
// mixed in the signature does not matter; numbers that a function does not take are left unread.
struct maps_call {
  void* phase1;
  void* phase2;
  uint64_t words[MOST_WORDS];
  double numbers[MOST_NUMBERS];
  int32_t word_count;
  int32_t shaped_rank;
  void* workspace;
  uint64_t workspace_size;
  // An output whose shape the operator sets; it has this one before each call. Dense.
  aclTensor* shaped;
  int64_t shaped_dims[2];
  int64_t shaped_dtype;
  void* shaped_data;
};

typedef uint64_t W;
typedef double D;
typedef int (*phase2)(void*, uint64_t, void*, aclrtStream);

static int prepare(const struct maps_call* c, uint64_t* size, void** executor) {
  const W* w = c->words;
  const D* x = c->numbers;
  void* f = c->phase1;
  switch (c->word_count) {
    case 1:
      return ((int (*)(W, uint64_t*, void**, D, D, D, D, D))f)(w[0], size, executor, x[0], x[1], x[2], x[3],
                                                               x[4]);
    case 2:
      return ((int (*)(W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], size, executor, x[0], x[1],
                                                                  x[2], x[3], x[4]);
    case 3:
      return ((int (*)(W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], size, executor, x[0],
                                                                     x[1], x[2], x[3], x[4]);
    case 4:
      return ((int (*)(W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(
          w[0], w[1], w[2], w[3], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 5:
      return ((int (*)(W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(
          w[0], w[1], w[2], w[3], w[4], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 6:
      return ((int (*)(W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(
          w[0], w[1], w[2], w[3], w[4], w[5], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 7:
      return ((int (*)(W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(
          w[0], w[1], w[2], w[3], w[4], w[5], w[6], size, executor, x[0], x[1], x[2], x[3], x[4]);
    // clang-format off
    case 8:
      return ((int (*)(W, W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 9:
      return ((int (*)(W, W, W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 10:
      return ((int (*)(W, W, W, W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 11:
      return ((int (*)(W, W, W, W, W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 12:
      return ((int (*)(W, W, W, W, W, W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 13:
      return ((int (*)(W, W, W, W, W, W, W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], size, executor, x[0], x[1], x[2], x[3], x[4]);
    case 14:
      return ((int (*)(W, W, W, W, W, W, W, W, W, W, W, W, W, W, uint64_t*, void**, D, D, D, D, D))f)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], size, executor, x[0], x[1], x[2], x[3], x[4]);
    // clang-format on
    default:
      return -1;
  }
}

static int run_once(struct maps_call* c, aclrtStream stream) {
  uint64_t size = 0;
  void* executor = NULL;
  if (c->shaped != NULL) {
    const int64_t strides[2] = {c->shaped_rank > 1 ? c->shaped_dims[1] : 1, 1};
    const uint64_t rank = (uint64_t)c->shaped_rank;
    aclInitTensor(c->shaped, c->shaped_dims, rank, (aclDataType)c->shaped_dtype, strides, 0, ACL_FORMAT_ND,
                  c->shaped_dims, rank, c->shaped_data);
  }
  const int status = prepare(c, &size, &executor);
  if (status != 0) return status;
  if (size > c->workspace_size) {
    aclrtSynchronizeStream(stream);  // a call before this one may still work in the old one
    free(c->workspace);
    c->workspace = malloc(size);
    c->workspace_size = size;
  }
  return ((phase2)c->phase2)(size > 0 ? c->workspace : NULL, size, executor, stream);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds per call over `calls` calls with one wait at their end, after `uncounted` ones; negative: a status.
double maps_burst(struct maps_call* c, aclrtStream stream, int uncounted, int calls) {
  int status = 0;
  for (int i = 0; i < uncounted && status == 0; ++i) status = run_once(c, stream);
  if (status == 0 && uncounted > 0) status = aclrtSynchronizeStream(stream);
  const double begin = now();
  for (int i = 0; i < calls && status == 0; ++i) status = run_once(c, stream);
  if (status == 0) status = aclrtSynchronizeStream(stream);
  if (status != 0) return -(double)(status < 0 ? -status : status);
  return calls > 0 ? (now() - begin) / calls : 0;
}

void maps_free(struct maps_call* c) { free(c->workspace); }
