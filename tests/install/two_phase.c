// A C11 program that runs one operator: the headers and the libraries serve C as they serve C++.
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "acl/acl.h"
#include "aclnnop/aclnn_l1_loss_backward.h"

int main(void) {
  const int64_t shape[1] = {3};
  float grad_output[3] = {1.0f, 2.0f, 4.0f};
  float self[3] = {0.0f, 5.0f, 1.0f};
  float target[3] = {1.0f, 3.0f, 1.0f};
  float grad_input[3] = {9.0f, 9.0f, 9.0f};
  float* operands[4] = {grad_output, self, target, grad_input};
  aclTensor* tensors[4];
  aclrtStream stream = NULL;
  uint64_t workspace_size = 1;
  aclOpExecutor* executor = NULL;

  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  if (aclrtCreateStream(&stream) != ACL_SUCCESS) return 2;
  for (int i = 0; i < 4; ++i) {
    tensors[i] = aclCreateTensor(shape, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 1, operands[i]);
    if (tensors[i] == NULL) return 3;
  }
  if (aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 2, tensors[3], &workspace_size,
                                          &executor) != ACL_SUCCESS) {
    return 4;
  }
  if (workspace_size != 0) return 5;
  if (aclnnL1LossBackward(NULL, 0, executor, stream) != ACL_SUCCESS) return 6;
  if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 7;
  printf("%g %g %g\n", grad_input[0], grad_input[1], grad_input[2]);
  if (grad_input[0] != -1.0f || grad_input[1] != 2.0f || grad_input[2] != 0.0f) return 8;
  for (int i = 0; i < 4; ++i) {
    if (aclDestroyTensor(tensors[i]) != ACL_SUCCESS) return 9;
  }
  if (aclrtDestroyStream(stream) != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS) return 10;
  return aclFinalize();
}
