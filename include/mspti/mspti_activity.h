// mspti/mspti_activity.h: records of what devices did, for profilers inside a program such as torch.profiler.
// SPDX-License-Identifier: Apache-2.0
//
// A program registers a function that gives memory and one that takes it back filled, enables kinds, and flushes. Times are
// nanoseconds since 1970. Texts in records live as long as the process. All functions may be called from any thread.
#ifndef PORTACL_MSPTI_MSPTI_ACTIVITY_H_
#define PORTACL_MSPTI_MSPTI_ACTIVITY_H_

#include <stddef.h>
#include <stdint.h>

#include "mspti_result.h"

#ifdef __cplusplus
extern "C" {
#endif

// The kinds of records. KERNEL, EXTERNAL_CORRELATION and COMMUNICATION are recorded.
typedef enum {
  MSPTI_ACTIVITY_KIND_INVALID = 0,
  MSPTI_ACTIVITY_KIND_MARKER = 1,
  MSPTI_ACTIVITY_KIND_KERNEL = 2,
  MSPTI_ACTIVITY_KIND_API = 3,
  MSPTI_ACTIVITY_KIND_HCCL = 4,
  MSPTI_ACTIVITY_KIND_MEMORY = 5,
  MSPTI_ACTIVITY_KIND_MEMSET = 6,
  MSPTI_ACTIVITY_KIND_MEMCPY = 7,
  MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 8,
  MSPTI_ACTIVITY_KIND_COMMUNICATION = 9,
} msptiActivityKind;

// The origin of the correlation numbers that a program supplies.
typedef enum {
  MSPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
  MSPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 2,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 3,
  MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 = 4,
} msptiExternalCorrelationKind;

#pragma pack(push, 1)

// The head of every record.
typedef struct {
  msptiActivityKind kind;
} msptiActivity;

typedef struct {
  uint32_t deviceId;
  uint32_t streamId;
} msptiDeviceStream;

// An operator, or whatever else ran in a stream but a collective.
typedef struct {
  msptiActivityKind kind;
  uint64_t start;
  uint64_t end;
  msptiDeviceStream ds;
  uint64_t correlationId;  // of the call that queued it
  const char* type;
  const char* name;
} msptiActivityKernel;

// The program's number that was the thread's last when the call with correlationId was made.
typedef struct {
  msptiActivityKind kind;
  msptiExternalCorrelationKind externalKind;
  uint64_t externalId;
  uint64_t correlationId;
} msptiActivityExternalCorrelation;

typedef struct {
  msptiActivityKind kind;
  uint32_t dataType;  // of HcclDataType; 255 where it is not told
  uint64_t count;
  msptiDeviceStream ds;
  uint64_t start;
  uint64_t end;
  const char* algType;
  const char* name;
  const char* commName;
  uint64_t correlationId;
} msptiActivityCommunication;

#pragma pack(pop)

// Gives memory for records, at an address that 8 divides, and its size; maxNumRecords 0: as many as fit.
typedef void (*msptiBuffersCallbackRequestFunc)(uint8_t** buffer, size_t* size, size_t* maxNumRecords);
// Takes it back; validSize bytes of it are records.
typedef void (*msptiBuffersCallbackCompleteFunc)(uint8_t* buffer, size_t size, size_t validSize);

// Registers both; later registrations replace earlier ones. Returns 0, or 1 (MSPTI_ERROR_INVALID_PARAMETER) for null.
MSPTI_API msptiResult msptiActivityRegisterCallbacks(msptiBuffersCallbackRequestFunc funcBufferRequested,
                                                     msptiBuffersCallbackCompleteFunc funcBufferCompleted);

// Begin and end recording a kind. Return 0, or 1 for a kind that is not recorded, with an error text (aclGetRecentErrMsg).
MSPTI_API msptiResult msptiActivityEnable(msptiActivityKind kind);
MSPTI_API msptiResult msptiActivityDisable(msptiActivityKind kind);
// Returns 0 for a kind that is enabled, else 1.
MSPTI_API msptiResult msptiActivityIsEnabled(msptiActivityKind kind);

// Hands out all records since the last flush, before it returns: what is done by then. flag is ignored. Returns 0, 1 where no
// functions are registered, or 3 (MSPTI_ERROR_MAX_LIMIT_REACHED) where they give no memory; the records are gone then.
MSPTI_API msptiResult msptiActivityFlushAll(uint32_t flag);

// Sets *record to the record after *record, or, if that is null, to the first. Returns 0, 1 for null, or 3
// (MSPTI_ERROR_MAX_LIMIT_REACHED) after the last one.
MSPTI_API msptiResult msptiActivityGetNextRecord(uint8_t* buffer, size_t validBufferSizeBytes,
                                                 msptiActivity** record);

// From now on, calls of this thread are the program's number id; and until it is taken away again, which tells it in *lastId
// unless that is null. Of more than 32 that lie in each other, the deeper ones are counted, and told as 0. Return 0, 1 for no such
// kind, or 5 (MSPTI_ERROR_QUEUE_EMPTY) where there is none to take away.
MSPTI_API msptiResult msptiActivityPushExternalCorrelationId(msptiExternalCorrelationKind kind, uint64_t id);
MSPTI_API msptiResult msptiActivityPopExternalCorrelationId(msptiExternalCorrelationKind kind,
                                                            uint64_t* lastId);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_MSPTI_MSPTI_ACTIVITY_H_
