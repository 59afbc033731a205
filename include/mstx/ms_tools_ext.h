// mstx/ms_tools_ext.h: marks and ranges of a program in a profile of it.
// SPDX-License-Identifier: Apache-2.0
//
// While no profile is taken the functions do nothing, ids are 0. They may be called from any thread at any time, and set no error
// text. A stream is accepted and not used: marks and ranges are of the thread that makes them. What one calls of memory is dropped.
#ifndef PORTACL_MSTX_MS_TOOLS_EXT_H_
#define PORTACL_MSTX_MS_TOOLS_EXT_H_

#include <stdint.h>

#ifdef FUNC_VISIBILITY
#define MSTX_DECLSPEC __attribute__((visibility("default")))
#else
#define MSTX_DECLSPEC
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtStream;
typedef uint64_t mstxRangeId;
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;
typedef struct mstxMemHeap_st* mstxMemHeapHandle_t;
typedef struct mstxMemHeapDesc mstxMemHeapDesc_t;
typedef struct mstxMemRegionsRegisterBatch mstxMemRegionsRegisterBatch_t;
typedef struct mstxMemRegionsUnregisterBatch mstxMemRegionsUnregisterBatch_t;

// Marks a moment. A null message is ignored.
MSTX_DECLSPEC void mstxMarkA(const char* message, aclrtStream stream);

// Begins a range, and returns its id; 0 for a null message, and while no profile is taken.
MSTX_DECLSPEC mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream);
// Ends it, on any thread: it is of the thread that began it. An id of no range is ignored.
MSTX_DECLSPEC void mstxRangeEnd(mstxRangeId id);

// Makes a domain, or finds the one of that name; null for null, and without memory. Domains live as long as the process.
MSTX_DECLSPEC mstxDomainHandle_t mstxDomainCreateA(const char* name);
MSTX_DECLSPEC void mstxDomainDestroy(mstxDomainHandle_t domain);
// Marks and ranges whose names begin with the domain's name.
MSTX_DECLSPEC void mstxDomainMarkA(mstxDomainHandle_t domain, const char* message, aclrtStream stream);
MSTX_DECLSPEC mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char* message,
                                                aclrtStream stream);
MSTX_DECLSPEC void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id);

// Tell of a program's own memory pools. Dropped; the handle is null.
MSTX_DECLSPEC mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain,
                                                      const mstxMemHeapDesc_t* desc);
MSTX_DECLSPEC void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap);
MSTX_DECLSPEC void mstxMemRegionsRegister(mstxDomainHandle_t domain,
                                          const mstxMemRegionsRegisterBatch_t* desc);
MSTX_DECLSPEC void mstxMemRegionsUnregister(mstxDomainHandle_t domain,
                                            const mstxMemRegionsUnregisterBatch_t* desc);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_MSTX_MS_TOOLS_EXT_H_
