// hccl/hccl.h: collective operations of several processes. Communicators are in hccl/hccl_comm.h.
// SPDX-License-Identifier: Apache-2.0
//
// A call puts the operation into the stream and returns; events and synchronisation order it as any other work. Counts
// are elements. Every rank calls with the same count, type, operation and root; arrays of counts and displacements (uint64_t,
// elements, one for each rank) are read during the call. Reductions take the elements in the order of ranks, 16-bit floats in
// float32 with one rounding: the same bits in every rank and run. All types can be moved; reduced can be all but INT128 and 8-bit floats.
// HcclGetCommAsyncError and the next synchronisation of the stream (507057, 507047) report failures after the call (a rank that has ended,
// does not come in HCCL_EXEC_TIMEOUT seconds, or calls something else). The communicator is then unusable.
// Return HCCL_SUCCESS, also for count 0, which does nothing; HCCL_E_PTR for null; HCCL_E_PARA for another bad value;
// HCCL_E_NOT_SUPPORT for a type that cannot be reduced; the communicator's error once it has one. A refusal leaves an error text.
#ifndef PORTACL_HCCL_HCCL_H_
#define PORTACL_HCCL_HCCL_H_

#include "acl/acl.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

// sendBuf may be recvBuf. Reduce: recvBuf is written at the root alone.
ACL_FUNC_VISIBILITY HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count,
                                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                             aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                                          HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                                             HcclComm comm, aclrtStream stream);
// The larger buffer holds a part for each rank, in the order of ranks; the smaller one may lie in it.
ACL_FUNC_VISIBILITY HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount,
                                             HcclDataType dataType, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                                 HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                                 aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                                           HcclDataType dataType, uint32_t root, HcclComm comm,
                                           aclrtStream stream);
// Gather and reduce-scatter with a size and a displacement for each rank.
ACL_FUNC_VISIBILITY HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf,
                                              const void* recvCounts, const void* recvDispls,
                                              HcclDataType dataType, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts,
                                                  const void* sendDispls, void* recvBuf, uint64_t recvCount,
                                                  HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                                                  aclrtStream stream);
// Every rank sends a part to each rank. sendBuf is not recvBuf; both types are the same. VC: rank i sends sendCountMatrix[i][j] elements to j.
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                                            const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                                            HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                                             HcclDataType sendType, const void* recvBuf,
                                             const void* recvCounts, const void* rdispls,
                                             HcclDataType recvType, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix,
                                              HcclDataType sendType, const void* recvBuf,
                                              HcclDataType recvType, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclBarrier(HcclComm comm, aclrtStream stream);
// One send meets one receive of the other rank, in order. Those of one batch, or one group (hccl/hcomm.h), do not wait for each other.
ACL_FUNC_VISIBILITY HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType,
                                        uint32_t destRank, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType,
                                        uint32_t srcRank, HcclComm comm, aclrtStream stream);
ACL_FUNC_VISIBILITY HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum,
                                                 HcclComm comm, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_HCCL_HCCL_H_
