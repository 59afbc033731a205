// hccl/hccl_comm.h: communicators, which join the processes of a job, and settings of the collective library.
// SPDX-License-Identifier: Apache-2.0
//
// Rank 0 makes root information, the program brings it to the other ranks, and every rank makes its communicator with
// it: the call returns when all have come, or with HCCL_E_TIMEOUT after HCCL_CONNECT_TIMEOUT seconds (120). Sockets are bound to
// HCCL_IF_IP, to the interface of HCCL_SOCKET_IFNAME, or to loopback; never to all. docs/collectives.md has the variables.
// Return HCCL_SUCCESS; HCCL_E_PTR for null; HCCL_E_PARA for another bad value, root information that is none included; HCCL_E_TCP_CONNECT
// when nobody answers or the secret is wrong; HCCL_E_NOT_FOUND when libportacl_gloo.so is gone. A refusal leaves an error text.
#ifndef PORTACL_HCCL_HCCL_COMM_H_
#define PORTACL_HCCL_HCCL_COMM_H_

#include "acl/acl.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                                    uint32_t rank, HcclComm* comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo,
                                                          uint32_t rank, const HcclCommConfig* config,
                                                          HcclComm* comm);
// Several root infos, the same list in every rank: the first one is used.
ACL_FUNC_VISIBILITY HcclResult HcclGetRootInfoScalable(HcclRootInfo* rootInfo);
ACL_FUNC_VISIBILITY HcclResult HcclCommInitRootInfoScalable(uint32_t nRanks, uint32_t nRoot,
                                                            const HcclRootInfo* rootInfoList, uint32_t rank,
                                                            uint32_t nExtRoot, const HcclCommConfig* config,
                                                            HcclComm* comm);
// One process, a rank for each device: comms[i] is rank i.
ACL_FUNC_VISIBILITY HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms);
// Creates a communicator of some ranks of *comm; only these call. rankIds are their ranks there, subCommRankId is the caller's index in it.
ACL_FUNC_VISIBILITY HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds,
                                                       uint64_t subCommId, uint32_t subCommRankId,
                                                       HcclCommConfig* config, HcclComm* subComm);
// Waits for no other rank. What runs in a stream ends with an error.
ACL_FUNC_VISIBILITY HcclResult HcclCommDestroy(HcclComm comm);
// While it is suspended, new operations are refused with HCCL_E_SUSPENDING; those in streams go on.
ACL_FUNC_VISIBILITY HcclResult HcclCommSuspend(HcclComm comm);
ACL_FUNC_VISIBILITY HcclResult HcclCommResume(HcclComm comm);

// *asyncError: HCCL_SUCCESS, or the first error of an operation in a stream. Waits for nothing; on any thread.
ACL_FUNC_VISIBILITY HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError);
ACL_FUNC_VISIBILITY HcclResult HcclGetCommName(HcclComm comm,
                                               char* commName);  // at most COMM_NAME_MAX_LENGTH bytes
ACL_FUNC_VISIBILITY HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize);
ACL_FUNC_VISIBILITY HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank);
ACL_FUNC_VISIBILITY const char* HcclGetErrorString(HcclResult code);
ACL_FUNC_VISIBILITY uint32_t HcclGetCommConfigCapability(void);

// A setting of the process: HCCL_DETERMINISTIC or HCCL_ACCELERATOR, a number, 0 at first. It is kept and given back; nothing
// depends on it, since every order is fixed. Neither aclInit nor a device is needed; any thread, at any time.
ACL_FUNC_VISIBILITY HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue);
ACL_FUNC_VISIBILITY HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue);

// Fills in what the caller does not set.
static inline void HcclCommConfigInit(HcclCommConfig* config) {
  if (config == NULL) return;
  config->size = sizeof(HcclCommConfig);
  config->magic = HCCL_COMM_CONFIG_MAGIC_WORD;
  config->version = HCCL_COMM_CONFIG_VERSION;
  config->reserved = 0;
  config->hcclBufferSize = config->hcclDeterministic = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclCommName[0] = config->hcclUdi[0] = config->hcclAlgo[0] = '\0';
  config->hcclOpExpansionMode = 0;
  config->hcclRdmaTrafficClass = config->hcclRdmaServiceLevel = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclWorldRankID = 0;
  config->hcclJobID = 0;
  config->aclGraphZeroCopyEnable = 0;
  config->hcclExecTimeOut = -1;
  config->hcclRetryEnable[0] = config->hcclRetryParams[0] = config->hcclBufferName[0] = '\0';
  config->hcclQos = HCCL_COMM_CONFIG_NOT_SET;
  config->hcclSymWinMaxMemSizePerRank = 16;
}

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_HCCL_HCCL_COMM_H_
