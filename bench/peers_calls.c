// Runs portacl's calls in bursts for peers.py, so that what Python itself costs is not counted per call.
// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_kl_div.h"
#include "aclnnop/aclnn_kl_div_backward.h"
#include "aclnnop/aclnn_kl_div_target_backward.h"
#include "aclnnop/aclnn_l1_loss.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "aclnnop/aclnn_mse_loss.h"
#include "aclnnop/aclnn_mse_loss_backward.h"
#include "aclnnop/aclnn_smooth_l1_loss.h"
#include "aclnnop/aclnn_smooth_l1_loss_backward.h"

struct operand {
  int64_t dims[2], strides[2];
  int64_t rank, dtype;
  void* data;
};

struct call {
  char kind;  // l1, smooth l1, mse, kl, or T for the gradient for kl's target
  int64_t reduction;
  bool log_target;
  aclTensor* t[4];
  void* workspace;
  uint64_t workspace_size;
};

static aclrtStream stream;
static bool started;

const char* peers_message(void) { return aclGetRecentErrMsg(); }

int peers_start(int threads) {
  char text[16];
  if (started) {
    aclrtDestroyStream(stream);
    aclrtResetDevice(0);
    aclFinalize();
  }
  started = true;
  snprintf(text, sizeof text, "%d", threads);
  setenv("PORTACL_NUM_THREADS", text, 1);
  int status = aclInit(NULL);
  if (status == 0) status = aclrtSetDevice(0);
  if (status == 0) status = aclrtCreateStream(&stream);
  return status;
}

struct call* peers_make(const char* operator_name, int64_t reduction, int log_target, int count,
                        const struct operand* operands) {
  struct call* call = calloc(1, sizeof *call);
  // The first letters tell the operators apart; the whole name was checked by peers.py.
  call->kind = operator_name[0] == 'k' && strstr(operator_name, "target") != NULL ? 'T' : operator_name[0];
  call->reduction = reduction;
  call->log_target = log_target != 0;
  for (int i = 0; i < count; ++i) {
    const struct operand* o = &operands[i];
    int64_t reach = 1;
    for (int64_t k = 0; k < o->rank; ++k) reach += (o->dims[k] - 1) * o->strides[k];
    call->t[i] = aclCreateTensor(o->dims, (uint64_t)o->rank, (aclDataType)o->dtype, o->strides, 0,
                                 ACL_FORMAT_ND, &reach, 1, o->data);
  }
  return call;
}

void peers_free(struct call* call) {
  for (int i = 0; i < 4; ++i) {
    if (call->t[i] != NULL) aclDestroyTensor(call->t[i]);
  }
  free(call->workspace);
  free(call);
}

typedef aclnnStatus (*phase2)(void*, uint64_t, aclOpExecutor*, aclrtStream);

static int run_once(struct call* c) {
  aclTensor** t = c->t;
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  phase2 run = NULL;
  int status = -1;
  switch (c->kind) {
    case 'l':
      if (t[3] != NULL) {
        status = aclnnL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], c->reduction, t[3], &size, &executor);
        run = aclnnL1LossBackward;
      } else {
        status = aclnnL1LossGetWorkspaceSize(t[0], t[1], c->reduction, t[2], &size, &executor);
        run = aclnnL1Loss;
      }
      break;
    case 's':
      if (t[3] != NULL) {
        status = aclnnSmoothL1LossBackwardGetWorkspaceSize(t[0], t[1], t[2], c->reduction, 1.0f, t[3], &size,
                                                           &executor);
        run = aclnnSmoothL1LossBackward;
      } else {
        status = aclnnSmoothL1LossGetWorkspaceSize(t[0], t[1], c->reduction, 1.0f, t[2], &size, &executor);
        run = aclnnSmoothL1Loss;
      }
      break;
    case 'm':
      if (t[3] != NULL) {
        status = aclnnMseLossBackwardGetWorkspaceSize(t[0], t[1], t[2], c->reduction, t[3], &size, &executor);
        run = aclnnMseLossBackward;
      } else {
        status = aclnnMseLossGetWorkspaceSize(t[0], t[1], c->reduction, t[2], &size, &executor);
        run = aclnnMseLoss;
      }
      break;
    case 'k':
      if (t[3] != NULL) {
        status = aclnnKlDivBackwardGetWorkspaceSize(t[0], t[1], t[2], c->reduction, c->log_target, t[3],
                                                    &size, &executor);
        run = aclnnKlDivBackward;
      } else {
        status = aclnnKlDivGetWorkspaceSize(t[0], t[1], c->reduction, c->log_target, t[2], &size, &executor);
        run = aclnnKlDiv;
      }
      break;
    case 'T':
      status = aclnnKlDivTargetBackwardGetWorkspaceSize(t[0], t[1], t[2], c->reduction, c->log_target, t[3],
                                                        &size, &executor);
      run = aclnnKlDivTargetBackward;
      break;
    default:
      return -1;
  }
  if (status != 0) return status;
  if (size > c->workspace_size) {
    free(c->workspace);
    c->workspace = malloc(size);
    c->workspace_size = size;
  }
  status = run(size > 0 ? c->workspace : NULL, size, executor, stream);
  return status == 0 ? aclrtSynchronizeStream(stream) : status;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Seconds per round over `rounds` rounds of all the calls, after one that does not count; negative: a status.
double peers_burst(struct call** calls, int count, int rounds) {
  double begin = 0;
  for (int round = 0; round <= rounds; ++round) {
    if (round == 1) begin = now();
    for (int i = 0; i < count; ++i) {
      const int status = run_once(calls[i]);
      if (status != 0) return -(double)(status < 0 ? -status : status);
    }
  }
  return rounds > 0 ? (now() - begin) / rounds : 0;
}
