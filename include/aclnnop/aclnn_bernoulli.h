// aclnnop/aclnn_bernoulli.h: 1 with a probability, else 0, in all its forms.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i] = 1 where u < prob, u from 0 to below 1 in steps of 2^-32; else 0
//
// Values: a prob within 2^-52 of 0 or 1 gives 0 or 1 alone; NaN gives 0. Of the Tensor forms prob[i], not checked: at most 0
//   gives 0, from 1 on 1. self gives shape and type alone; it is not read.
// Types
//   self, out  FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL; BF16 on newer products; UINT16, UINT32 and
//              UINT64 on Ascend 950. On Ascend 310P and 310B none.
//   prob       FLOAT, FLOAT16, DOUBLE; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_BERNOULLI_H_
#define PORTACL_ACLNNOP_ACLNN_BERNOULLI_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h; selfRef is written, although it is const. seed, offset: "Random numbers" there.
//   prob  a scalar; or a tensor that broadcasts to self's shape
// Codes, after those that all operators share, in this order:
//   161001  self, prob or out is null
//   161002  self's type is not in its list; prob's is not; out's is not self's
//   161002  the scalar prob is below 0 or above 1
//   161002  self has more than 8 dimensions; prob has; out's shape is not self's
//   161002  a storage format is private
//           (here success is returned when self or prob is empty)
//   161002  prob does not broadcast to self's shape
//   561103  prob or selfRef reaches outside its storage
ACLNN_API aclnnStatus aclnnBernoulliGetWorkspaceSize(const aclTensor* self, const aclScalar* prob,
                                                     int64_t seed, int64_t offset, aclTensor* out,
                                                     uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBernoulli(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                     aclrtStream stream);
ACLNN_API aclnnStatus aclnnBernoulliTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* prob,
                                                           int64_t seed, int64_t offset, aclTensor* out,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBernoulliTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceBernoulliGetWorkspaceSize(const aclTensor* selfRef, const aclScalar* prob,
                                                            int64_t seed, int64_t offset,
                                                            uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceBernoulli(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceBernoulliTensorGetWorkspaceSize(const aclTensor* selfRef,
                                                                  const aclTensor* prob, int64_t seed,
                                                                  int64_t offset, uint64_t* workspaceSize,
                                                                  aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceBernoulliTensor(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BERNOULLI_H_
