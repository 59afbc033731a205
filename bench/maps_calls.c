// Makes calls of elementwise operators in bursts for maps.py, so that what Python itself costs is not counted per call.
// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "acl/acl.h"

enum { MOST_WORDS = 6, MOST_NUMBERS = 3 };

// The arguments of phase 1: pointers and integers in the order of the signature, floating-point numbers apart. Only two signatures
// have such numbers: NanToNum three floats, IsClose two doubles.
struct maps_call {
  void* phase1;
  void* phase2;
  uint64_t words[MOST_WORDS];
  double numbers[MOST_NUMBERS];
  int32_t word_count;
  int32_t float_count;
  int32_t double_count;
  void* workspace;
  uint64_t workspace_size;
};

typedef uint64_t W;
typedef int (*phase2)(void*, uint64_t, void*, aclrtStream);

static int prepare(const struct maps_call* c, uint64_t* size, void** executor) {
  const W* w = c->words;
  const double* x = c->numbers;
  void* f = c->phase1;
  if (c->float_count == 3 && c->word_count == 2) {
    return ((int (*)(W, float, float, float, W, uint64_t*, void**))f)(w[0], (float)x[0], (float)x[1],
                                                                      (float)x[2], w[1], size, executor);
  }
  if (c->double_count == 2 && c->word_count == 4) {
    return ((int (*)(W, W, double, double, bool, W, uint64_t*, void**))f)(w[0], w[1], x[0], x[1], w[2] != 0,
                                                                          w[3], size, executor);
  }
  if (c->float_count != 0 || c->double_count != 0) return -1;
  switch (c->word_count) {
    case 1:
      return ((int (*)(W, uint64_t*, void**))f)(w[0], size, executor);
    case 2:
      return ((int (*)(W, W, uint64_t*, void**))f)(w[0], w[1], size, executor);
    case 3:
      return ((int (*)(W, W, W, uint64_t*, void**))f)(w[0], w[1], w[2], size, executor);
    case 4:
      return ((int (*)(W, W, W, W, uint64_t*, void**))f)(w[0], w[1], w[2], w[3], size, executor);
    case 5:
      return ((int (*)(W, W, W, W, W, uint64_t*, void**))f)(w[0], w[1], w[2], w[3], w[4], size, executor);
    default:
      return -1;
  }
}

static int run_once(struct maps_call* c, aclrtStream stream) {
  uint64_t size = 0;
  void* executor = NULL;
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
