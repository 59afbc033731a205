// acl/acl_rt.h: the runtime: start and stop, error text, device, memory, stream, event, callback, context,
// notify.
// SPDX-License-Identifier: Apache-2.0
//
// On an ordinary CPU the "device" is this machine: device memory is host memory, any valid address of the
// process may be used as device memory, and several devices (PORTACL_DEVICE_COUNT) are several names for the
// same processors. The calls, their order and their return codes are those of a machine with an NPU. A whole
// program has this shape:
//
//   aclInit(NULL);                                       // once per process
//   aclrtSetDevice(0);                                   // once per thread
//   aclrtStream stream;
//   aclrtCreateStream(&stream);
//   void* data;
//   aclrtMalloc(&data, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
//   aclrtMemcpy(data, bytes, hostData, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
//   ...                                                  // operators on the stream, see aclnnop/
//   aclrtSynchronizeStream(stream);                      // the results exist from here on
//   aclrtMemcpy(hostData, bytes, data, bytes, ACL_MEMCPY_DEVICE_TO_HOST);
//   aclrtFree(data);
//   aclrtDestroyStream(stream);
//   aclrtResetDevice(0);
//   aclFinalize();
//
// Rules for every function below:
//   - It returns ACL_SUCCESS (0) or a code; on failure nothing is changed, outputs are left as they were, and
//     the text for aclGetRecentErrMsg is set in the calling thread. Functions that return something else say
//     so.
//   - A null pointer where a result is to be stored gives 100000 (ACL_ERROR_INVALID_PARAM).
//   - 107002 (ACL_ERROR_RT_CONTEXT_NULL) means that the calling thread has no device: call aclrtSetDevice in
//     it.
//   - Any function may be called from any number of threads at once, except that a handle or an address must
//     not be released while another thread still uses it.
#ifndef PORTACL_ACL_ACL_RT_H_
#define PORTACL_ACL_ACL_RT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt_allocator.h"

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------------------
// Start and stop, error text
// -----------------------------------------------------------------------------------------------------------

// Starts the library for this process and reads its environment variables (PORTACL_SOC, PORTACL_ISA,
// PORTACL_NUM_THREADS, PORTACL_DEVICE_COUNT, ASCEND_RT_VISIBLE_DEVICES, ASCEND_LAUNCH_BLOCKING and the
// ASCEND_* variables of the log).
//   configPath  null, or the path of a JSON file. Its key "err_msg_mode" chooses whether pending error texts
//               are kept per thread ("0", the default) or per process ("1"); "default_device" inside
//               "defaultDevice" names the device of threads that set none. The file is read during the call
//               only.
// Returns
//   0       started
//   100002  already started. The call is counted for aclFinalizeReference and changes nothing else; programs
//           may ignore this code
//   100003  configPath names no readable file, also when the library is started already
//   100000  started before with another content of the file; or a value in the file or in an environment
//           variable is unknown, and then the error text lists what is accepted
//   200000  out of memory
// A program that never calls it gets the environment's configuration at its first call of another function.
ACL_FUNC_VISIBILITY aclError aclInit(const char* configPath);

// Ends what aclInit started, however often that was called. Free memory, destroy handles and reset devices
// before. aclInit may follow, and reads the environment again.
// Returns 0, or 100037 if nothing is started.
ACL_FUNC_VISIBILITY aclError aclFinalize(void);

// Takes back one aclInit and ends the library, like aclFinalize, when it was the last one. For components
// that share a process.
//   refCount  receives how many calls of aclInit are left; may be null
// Returns 0, or 100037 if nothing is started.
ACL_FUNC_VISIBILITY aclError aclFinalizeReference(uint64_t* refCount);

// Returns and clears the error text of the calling thread (of the process, when aclInit's file set
// "err_msg_mode" to "1"): what failed, with which value, and what would have been accepted. The newest
// message is the headline, earlier ones that nobody has read follow, newest first.
// Returns null when nothing is pending, so do not print it with %s unchecked. The library owns the text; it
// stays valid until the next call of this function in the same thread.
ACL_FUNC_VISIBILITY const char* aclGetRecentErrMsg(void);

// -----------------------------------------------------------------------------------------------------------
// Device
// -----------------------------------------------------------------------------------------------------------

// On which side of the bus a program runs.
typedef enum aclrtRunMode {
  ACL_DEVICE = 0,  // on the device itself
  ACL_HOST = 1,    // on a host that drives the device
} aclrtRunMode;

// Makes a device current for the calling thread, with the device's default context and default stream. All
// threads that set the same device share those two. Every thread that uses the runtime does this once.
//   deviceId  0 to (number of devices - 1)
// Returns 0; 107001 for a device that does not exist; 207001 when memory is exhausted; 100000 when an
// environment variable has an unknown value (without aclInit before).
// Every call is counted, per process and device, and wants one aclrtResetDevice.
ACL_FUNC_VISIBILITY aclError aclrtSetDevice(int32_t deviceId);

// Takes back one aclrtSetDevice. The last one waits for the device's queued work and frees its default
// context and the streams in it; a thread that still used that context gets 107002 until it sets a device
// again. Memory stays.
// Returns 0, 107001 for a device that does not exist, 507007 when the device was reset more often than set, or
// 207000, without effect, when a function is in this call that the queued work waits for.
ACL_FUNC_VISIBILITY aclError aclrtResetDevice(int32_t deviceId);

// Takes back every aclrtSetDevice of the device at once, whatever their number. Otherwise as
// aclrtResetDevice.
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceForce(int32_t deviceId);

// Stores the device that is current in the calling thread.
// Returns 0, 100000 for null, or 107002 when no device is set.
ACL_FUNC_VISIBILITY aclError aclrtGetDevice(int32_t* deviceId);

// Waits until everything that was submitted to the streams of the current context before this call is done,
// and reports what went wrong in it.
// Returns 0; 107002 without a device; 207000 in a host function or blocking callback of one of the streams; or
// the code of the work that failed.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDevice(void);

// As aclrtSynchronizeDevice, for at most a time.
//   timeout  milliseconds; -1 waits for ever, 0 only looks
// Returns also 107000 for a timeout below -1; 507046 when the time is over and work is left, which goes on.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout);

// Stores the number of devices: 1, or what PORTACL_DEVICE_COUNT said when the library was started, or how
// many of those ASCEND_RT_VISIBLE_DEVICES leaves.
// Returns 0, or 100000 for null. Needs no device.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCount(uint32_t* count);

// Stores the run mode, which is always ACL_HOST.
// Returns 0, or 100000 for null. Needs no device.
ACL_FUNC_VISIBILITY aclError aclrtGetRunMode(aclrtRunMode* runMode);

// Returns the name of the product that is emulated, such as "Ascend910B1" (the default) or what PORTACL_SOC
// says. The product decides which data types the operators accept. Needs no device. The text belongs to the
// library and stays valid for the whole process. Null when an environment variable has an unknown value.
ACL_FUNC_VISIBILITY const char* aclrtGetSocName(void);

// -----------------------------------------------------------------------------------------------------------
// Memory
// -----------------------------------------------------------------------------------------------------------

// How memory is to be provided. On a CPU a hint only: every value, also one that is not listed, gives the
// same kind of memory, and large blocks may be backed by huge pages.
typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST = 0,  // huge pages if possible; what nearly every program asks for
  ACL_MEM_MALLOC_HUGE_ONLY = 1,
  ACL_MEM_MALLOC_NORMAL_ONLY = 2,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P = 4,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P = 5,
  ACL_MEM_MALLOC_HUGE1G_ONLY = 6,
  ACL_MEM_MALLOC_HUGE1G_ONLY_P2P = 7,
  ACL_MEM_TYPE_LOW_BAND_WIDTH = 0x0100,
  ACL_MEM_TYPE_HIGH_BAND_WIDTH = 0x1000,
  ACL_MEM_ACCESS_USER_SPACE_READONLY = 0x100000,
} aclrtMemMallocPolicy;

// Direction of a copy. For aclrtMemcpy a hint only, except that it refuses the last two; aclrtMemcpyAsync
// finds from it which address is host memory.
typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST = 0,
  ACL_MEMCPY_HOST_TO_DEVICE = 1,
  ACL_MEMCPY_DEVICE_TO_HOST = 2,
  ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
  ACL_MEMCPY_DEFAULT = 4,  // found from the addresses
  ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE = 5,
  ACL_MEMCPY_INNER_DEVICE_TO_DEVICE = 6,  // refused by aclrtMemcpy
  ACL_MEMCPY_INTER_DEVICE_TO_DEVICE = 7,  // refused by aclrtMemcpy
} aclrtMemcpyKind;

// The memory that aclrtGetMemInfo describes.
typedef enum aclrtMemAttr {
  ACL_DDR_MEM = 0,
  ACL_HBM_MEM = 1,
  ACL_DDR_MEM_HUGE = 2,
  ACL_DDR_MEM_NORMAL = 3,
  ACL_HBM_MEM_HUGE = 4,
  ACL_HBM_MEM_NORMAL = 5,
  ACL_DDR_MEM_P2P_HUGE = 6,
  ACL_DDR_MEM_P2P_NORMAL = 7,
  ACL_HBM_MEM_P2P_HUGE = 8,
  ACL_HBM_MEM_P2P_NORMAL = 9,
  ACL_HBM_MEM_HUGE1G = 10,
  ACL_HBM_MEM_P2P_HUGE1G = 11,
  ACL_MEM_NORMAL = 12,
  ACL_MEM_HUGE = 13,
  ACL_MEM_HUGE1G = 14,
  ACL_MEM_P2P_NORMAL = 15,
  ACL_MEM_P2P_HUGE = 16,
  ACL_MEM_P2P_HUGE1G = 17,
} aclrtMemAttr;

// Allocates device memory.
//   devPtr  receives the address, a multiple of 512. The content is not initialised. Release it with aclrtFree
//   size    bytes
//   policy  a hint, see above
// Returns 0; 100000 for a null devPtr or size 0 (found before the missing device); 107002 without a device;
// 207001 when memory is exhausted. Waits for no stream.
ACL_FUNC_VISIBILITY aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy);

// Releases memory of aclrtMalloc at once, without waiting for any stream: synchronise first if queued work
// uses it.
// Returns 0; 100000 for null; 107000 for an address that aclrtMalloc did not give, and then nothing is
// released.
ACL_FUNC_VISIBILITY aclError aclrtFree(void* devPtr);

// Allocates host memory that asynchronous copies can use without an intermediate copy. It begins at a page and has whole
// pages. Otherwise like aclrtMalloc. Release it with aclrtFreeHost.
ACL_FUNC_VISIBILITY aclError aclrtMallocHost(void** hostPtr, size_t size);

// Releases memory of aclrtMallocHost at once. Codes as aclrtFree.
ACL_FUNC_VISIBILITY aclError aclrtFreeHost(void* hostPtr);

// Copies bytes; done when the call returns. It does not wait for queued work: synchronise the stream first.
//   dst, destMax  where to, and how many bytes there is room for
//   src, count    where from, and how many bytes. src and dst may be equal; else they must not overlap
//   kind          0 to 5, a hint
// Returns 0, also for count 0 whatever the addresses; 100000 for a null address or another kind; 107000 when
// count is larger than destMax.
ACL_FUNC_VISIBILITY aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count,
                                         aclrtMemcpyKind kind);

// Sets bytes; done when the call returns. It does not wait for queued work.
//   devPtr, maxCount  where, and how many bytes there is room for
//   value             its low 8 bits are stored in each byte
//   count             how many bytes
// Returns 0, also for count 0 whatever the address; 100000 for a null address; 107000 when count is larger
// than maxCount.
ACL_FUNC_VISIBILITY aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count);

// Copies bytes in stream order. The memory must live and stay as it is until the copy is done.
// A copy whose host side (src for HOST_TO_DEVICE, dst for DEVICE_TO_HOST, either for DEFAULT) is memory that
// neither aclrtMallocHost nor aclrtMalloc gave is done when the call returns, after the stream's earlier
// work; so is HOST_TO_BUF_TO_DEVICE. Every other copy may go on after the call.
//   dst, destMax  where to, and how many bytes there is room for
//   src, count    where from, and how many bytes
//   kind          1 to 7
//   stream        null: the default stream
// Returns 0, also for count 0 whatever the addresses; 207000 for HOST_TO_HOST; 100000 for a null address or
// another kind; 107000 when count is larger than destMax; 107002 for a null stream without a device; 107003
// for an unknown stream; 207001 when memory is exhausted; 207000 in a host function or blocking callback of
// the stream for a copy that must be done when the call returns.
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count,
                                              aclrtMemcpyKind kind, aclrtStream stream);

// Sets bytes in stream order. Parameters as aclrtMemset, codes as aclrtMemcpyAsync.
ACL_FUNC_VISIBILITY aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count,
                                              aclrtStream stream);

// Stores how many bytes of device memory are free and exist. That is the machine's memory, for the DDR and
// for the HBM attributes; an attribute that has no meaning here gives 0 and 0.
// Returns 0; 100000 for a null free or total; 107002 without a device.
ACL_FUNC_VISIBILITY aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total);

// -----------------------------------------------------------------------------------------------------------
// Stream
// -----------------------------------------------------------------------------------------------------------
// A stream carries out what is submitted to it in order. Different streams run independently of each other;
// none waits for the default stream. Wherever a stream is taken, null is the default stream of the thread's
// current context.
//
// Submitting returns at once while the work goes on in another thread, with two exceptions: a small operator
// or copy on an idle stream is done on the spot, which is cheaper; and with ASCEND_LAUNCH_BLOCKING=1 in the
// environment every operator and copy is done when its call returns. One stream may be used by several
// threads.
//
// Codes of every function that takes a stream: 107002 for null in a thread without a device, 107003 for a
// handle that is no stream (any more), 207001 when there is no memory to queue the work.

// Flags of a stream; they can be combined.
#define ACL_STREAM_FAST_LAUNCH 0x00000001U
#define ACL_STREAM_FAST_SYNC 0x00000002U
#define ACL_STREAM_PERSISTENT 0x00000004U
#define ACL_STREAM_HUGE 0x00000008U
#define ACL_STREAM_CPU_SCHEDULE 0x00000010U
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020U

typedef enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE = 0,
  ACL_STREAM_STATUS_NOT_READY = 1,
  ACL_STREAM_STATUS_RESERVED = 65535,
} aclrtStreamStatus;

// Creates a stream in the current context.
//   stream  receives the handle. Release it with aclrtDestroyStream
// Returns 0; 100000 for null; 107002 without a device; 207008 when there is no room for another stream.
ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream* stream);

// As aclrtCreateStream.
//   priority  0 (greatest) to 7. It is kept and changes nothing on a CPU
//   flag      0, or a combination of FAST_LAUNCH, FAST_SYNC and HUGE: hints, kept, without effect on a CPU
// Returns also 107000 for another priority or an unknown flag, and 207000 for the flags PERSISTENT,
// CPU_SCHEDULE and DEVICE_USE_ONLY: a stream with them waits for a captured model or for a device.
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority,
                                                         uint32_t flag);

// Waits for the stream's queued work and destroys it. Only a stream of the current context can be destroyed.
// Returns 0; 100000 for null (the default stream cannot be destroyed); 107002 without a device; 107003 for a
// stream of another context or an unknown one; 207000 in a host function or blocking callback of the stream.
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);

// Destroys a stream without doing the work that has not begun: operators and copies are dropped, host
// functions and callbacks are not called, recorded events count as complete, waiting ends. What runs already
// is waited for. Codes as aclrtDestroyStream.
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

// Waits until everything that was submitted to the stream before this call is done, and reports what went
// wrong in it.
//   stream  null: the default stream
// Returns 0; 107002 for null without a device; 107003 for an unknown stream; 207000 in a host function or
// blocking callback of the stream, which would wait for itself; or the code of the work that failed: 507047
// when an aclrtStreamWaitEventWithTimeout ran out of time, 107015 when nobody was subscribed to a callback
// that was due, 507000 when a host function threw a C++ exception, 507004 in a forked process for work that
// its parent had queued.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);

// As aclrtSynchronizeStream, for at most a time.
//   timeout  milliseconds; -1 waits for ever, 0 only looks
// Returns also 107000 for a timeout below -1; 507046 when the time is over and work is left, which goes on.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);

// Stores whether everything that was submitted to the stream is done (ACL_STREAM_STATUS_COMPLETE) or not
// (ACL_STREAM_STATUS_NOT_READY). Waits for nothing.
// Returns 0; 100000 for a null status.
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status);

// Store the stream's number, which no other stream of this process had or has, and what it was created with.
// Return 0; 100000 for a null second argument.
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId);
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);

// -----------------------------------------------------------------------------------------------------------
// Event
// -----------------------------------------------------------------------------------------------------------
// An event is a mark in a stream. It is recorded in one stream; then a thread, or other streams, can wait
// until that stream has come to it. Waiting always means the latest recording at the moment of the call: an
// event may be recorded again, or destroyed, while others still wait for an earlier recording.
//
//   aclrtRecordEvent(event, first);
//   aclrtStreamWaitEvent(second, event);  // what follows in `second` runs after what precedes in `first`
//
// Codes of every function that takes an event: 100000 for null, 107000 for a handle that is no event (any
// more).

// The uses of an event. The flags can be combined.
#define ACL_EVENT_SYNC 0x00000001U                     // streams can wait for it
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002U  // it shows how far a stream is
#define ACL_EVENT_TIME_LINE 0x00000008U                // it keeps the time for aclrtEventElapsedTime
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010U
#define ACL_EVENT_EXTERNAL 0x00000020U
#define ACL_EVENT_IPC 0x00000040U

typedef enum aclrtEventStatus {
  ACL_EVENT_STATUS_COMPLETE = 0,
  ACL_EVENT_STATUS_NOT_READY = 1,
  ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
  ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

typedef enum aclrtEventWaitStatus {
  ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
  ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
  ACL_EVENT_WAIT_STATUS_RESERVED = 65535,
} aclrtEventWaitStatus;

// Creates an event with the flags ACL_EVENT_SYNC and ACL_EVENT_TIME_LINE. While it is not recorded, queries
// say "not ready".
//   event  receives the handle. Release it with aclrtDestroyEvent
// Returns 0; 100000 for null; 107002 without a device; 207007 when there is no room for another event.
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent* event);

// As aclrtCreateEvent, with other flags.
//   flag  one or more of the ACL_EVENT_ flags
// Returns also 107000 for 0 or an unknown flag, and 207000 for ACL_EVENT_IPC.
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag);

// As aclrtCreateEventWithFlag. While it is not recorded, queries say "complete".
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag);

// Destroys an event at once. Recordings and waiting that are queued already are carried out.
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

// Records the event: it is complete when everything submitted to the stream so far is done. Replaces an
// earlier recording of the event, in any stream.
// Returns 0; 207001 when memory is exhausted; 107002 or 107003 for the stream.
ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);

// Makes the event unrecorded again when the stream comes to this call, unless it was recorded anew meanwhile.
// Returns 0; 107000 for an event without ACL_EVENT_SYNC; 207001 when memory is exhausted; 107002 or 107003
// for the stream.
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);

// Has the stream wait for the event's latest recording, for ever or as long as aclrtSetOpWaitTimeout said;
// the calling thread does not wait. An event that is not recorded, or complete, is not waited for.
// Returns 0; 107000 for an event without ACL_EVENT_SYNC; 207001 when memory is exhausted; 107002 or 107003
// for the stream.
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);

// As aclrtStreamWaitEvent, for at most a time, which begins when the stream comes to this call. When it is
// over, the stream goes on and its next synchronisation returns 507047.
//   timeout  milliseconds; -1 waits for ever, 0 only looks
// Returns also 107000 for a timeout below -1, and 207005 when no thread can be started that watches the time.
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
                                                             int32_t timeout);

// Waits, in the calling thread, for the event's latest recording. An event that is not recorded is not waited
// for. Any flags will do.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);

// As aclrtSynchronizeEvent, for at most a time.
//   timeout  milliseconds; -1 waits for ever, 0 only looks
// Returns also 107000 for a timeout below -1; 507047 when the time is over.
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

// Store whether the event's latest recording is complete; the two differ in the numbers of their enumeration.
// Return 0; 100000 for a null status.
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status);
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status);

// Stores whether every stream that was told to wait for the event has gone on
// (ACL_EVENT_WAIT_STATUS_COMPLETE, also when none was told) or not (ACL_EVENT_WAIT_STATUS_NOT_READY).
// Returns 0; 100000 for a null status.
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status);

// Stores the time from startEvent to endEvent, in milliseconds.
// Returns 0; 100000 for a null ms; 107006 when an event has no ACL_EVENT_TIME_LINE, is not recorded or not
// complete; 107007 when endEvent was complete before startEvent.
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent);

// -----------------------------------------------------------------------------------------------------------
// Functions of the program in stream order
// -----------------------------------------------------------------------------------------------------------
// A host function is called by a thread of the library. A callback is called by a thread of the program,
// which is subscribed to the stream and asks for what is due:
//
//   // thread A                                        // thread B
//   aclrtSubscribeReport(idOfThreadB, stream);         while (!stop) aclrtProcessReport(100);
//   aclrtLaunchCallback(function, data, ACL_CALLBACK_BLOCK, stream);
//   aclrtSynchronizeStream(stream);
//   aclrtUnSubscribeReport(idOfThreadB, stream);
//
// Use one or the other on a stream. With CANN neither may call functions of the runtime. Here they may; what
// waits, without a time limit, for the stream that waits for the function returns 207000.

typedef void (*aclrtHostFunc)(void* args);
typedef void (*aclrtCallback)(void* userData);

// Tells whether a stream waits until its callback has been called.
typedef enum aclrtCallbackBlockType {
  ACL_CALLBACK_NO_BLOCK = 0,
  ACL_CALLBACK_BLOCK = 1,
} aclrtCallbackBlockType;

// Queues a host function: when the stream comes to it, fn(args) is called, never by the thread that is in
// this call, and the stream goes on when it has returned.
// Returns 0; 100000 for a null fn; 207005 when no thread can be started for it; 207001 when memory is
// exhausted; 107002 or 107003 for the stream.
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args);

// Subscribes a thread to the callbacks of a stream. A thread may have several streams, a stream one thread.
//   threadId  what pthread_self returns in that thread (or the kernel's number of it, as gettid returns)
// Returns 0; 107011 when the stream has a thread already; 207001 when memory is exhausted; 107002 or 107003
// for the stream.
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);

// Ends a subscription. Callbacks of the stream that are due and not yet called are dropped, and the stream's
// next synchronisation returns 107015: synchronise before.
// Returns 0; 107012 for a thread that has no stream; 107011 when the stream is not this thread's; 107002 or
// 107003 for the stream.
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);

// Queues a callback: when the stream comes to it, the subscribed thread's aclrtProcessReport calls
// fn(userData).
//   blockType  ACL_CALLBACK_BLOCK: the stream waits until fn has returned
// Returns 0; 100000 for a null fn or another blockType; 107015 when no thread is subscribed to the stream;
// 207001 when memory is exhausted; 107002 or 107003 for the stream.
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void* userData,
                                                 aclrtCallbackBlockType blockType, aclrtStream stream);

// Waits until a callback for the calling thread is due and calls it: one callback a call. While it waits the
// thread may be cancelled (pthread_cancel).
//   timeout  milliseconds, 1 and more; -1 waits for ever
// Returns 0; 100000 for another timeout; 107012 when the thread is not subscribed, or not any more; 507012
// when the time is over.
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

// -----------------------------------------------------------------------------------------------------------
// Context
// -----------------------------------------------------------------------------------------------------------
// Programs with one device per thread need none of this: aclrtSetDevice sets the device's default context. A
// context of one's own has its own default stream and its own streams.

// Creates a context on a device and makes it current for the calling thread, with its device.
//   context   receives the handle. Release it with aclrtDestroyContext
//   deviceId  0 to (number of devices - 1)
// Returns 0; 100000 for null; 107001 for a device that does not exist; 207001 when memory is exhausted.
ACL_FUNC_VISIBILITY aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId);

// Waits for the work of the context's streams, then destroys them and it. Threads in which it is current get
// 107002 until they set another context or a device.
// Returns 0; 100000 for null; 107000 for a handle that is no context, and for a device's default context,
// which only aclrtResetDevice frees; 207000 in a host function or blocking callback of one of its streams.
ACL_FUNC_VISIBILITY aclError aclrtDestroyContext(aclrtContext context);

// Makes a context, and with it its device, current for the calling thread. One context may be current in many
// threads.
// Returns 0; 100000 for null; 107002 for a handle that is no context.
ACL_FUNC_VISIBILITY aclError aclrtSetCurrentContext(aclrtContext context);

// Stores the default stream of the calling thread's current context: what null means as a stream.
// Returns 0; 100000 for null; 107002 when there is no context.
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);

// Stores the calling thread's current context. The handle stays the library's or its creator's.
// Returns 0; 100000 for null; 107002 when there is none.
ACL_FUNC_VISIBILITY aclError aclrtGetCurrentContext(aclrtContext* context);

// -----------------------------------------------------------------------------------------------------------
// Types and constants of the functions below. Some belong to functions that do not exist here; they are
// complete so that programs and headers which name them compile.
// -----------------------------------------------------------------------------------------------------------

// Description of a task that failed, and the function of the program that is told about it.
typedef struct aclrtExceptionInfo aclrtExceptionInfo;
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo* exceptionInfo);

// Functions of the program that are called while the library starts (configStr of len bytes is the
// configuration) and ends.
typedef aclError (*aclInitCallbackFunc)(const char* configStr, size_t len, void* userData);
typedef aclError (*aclFinalizeCallbackFunc)(void* userData);

// The behaviour of a stream after a task in it failed.
#define ACL_CONTINUE_ON_FAILURE 0x00000000U
#define ACL_STOP_ON_FAILURE 0x00000001U

// How a stream compares a value in memory that it waits for: greater or equal, equal, and, nor.
#define ACL_STREAM_WAIT_VALUE_GEQ 0x00000000U
#define ACL_STREAM_WAIT_VALUE_EQ 0x00000001U
#define ACL_STREAM_WAIT_VALUE_AND 0x00000002U
#define ACL_STREAM_WAIT_VALUE_NOR 0x00000003U

// How an event is recorded and waited for while a stream is being captured.
#define ACL_EVENT_RECORD_DEFAULT 0x00000000U
#define ACL_EVENT_RECORD_EXTERNAL 0x00000001U
#define ACL_EVENT_WAIT_DEFAULT 0x00000000U
#define ACL_EVENT_WAIT_EXTERNAL 0x00000001U

// Visibility of managed memory, and how host memory is registered.
#define ACL_RT_MEM_ATTACH_GLOBAL 0x00000001U
#define ACL_HOST_REG_MAPPED 0x00000002U
#define ACL_HOST_REG_IOMEMORY 0x00000004U
#define ACL_HOST_REG_READONLY 0x00000008U
#define ACL_HOST_REG_PINNED 0x10000000U

// Room in bytes for a version text.
#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

// Streams.
typedef enum aclrtStreamAttr {
  ACL_STREAM_ATTR_FAILURE_MODE = 1,
  ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
  ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
  ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
  ACL_STREAM_ATTR_PRIORITY = 5,
} aclrtStreamAttr;

typedef enum aclrtStreamConfigAttr {
  ACL_RT_STREAM_WORK_ADDR_PTR = 0,
  ACL_RT_STREAM_WORK_SIZE = 1,
  ACL_RT_STREAM_FLAG = 2,
  ACL_RT_STREAM_PRIORITY = 3,
} aclrtStreamConfigAttr;

// Devices.
typedef enum aclrtDeviceStatus {
  ACL_RT_DEVICE_STATUS_NORMAL = 0,
  ACL_RT_DEVICE_STATUS_ABNORMAL = 1,
  ACL_RT_DEVICE_STATUS_END = 65535,
} aclrtDeviceStatus;

typedef enum aclrtTsId {
  ACL_TS_ID_AICORE = 0,
  ACL_TS_ID_AIVECTOR = 1,
  ACL_TS_ID_RESERVED = 2,
} aclrtTsId;

typedef enum aclrtFloatOverflowMode {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1,
  ACL_RT_OVERFLOW_MODE_UNDEF = 2,
} aclrtFloatOverflowMode;

typedef enum aclrtDevAttr {
  ACL_DEV_ATTR_AICPU_CORE_NUM = 1,
  ACL_DEV_ATTR_AICORE_CORE_NUM = 101,
  ACL_DEV_ATTR_CUBE_CORE_NUM = 102,
  ACL_DEV_ATTR_VECTOR_CORE_NUM = 201,
  ACL_DEV_ATTR_WARP_SIZE = 202,
  ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE = 203,
  ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE = 204,
  ACL_DEV_ATTR_MAX_GRID_DIM_X = 205,
  ACL_DEV_ATTR_MAX_GRID_DIM_Y = 206,
  ACL_DEV_ATTR_MAX_GRID_DIM_Z = 207,
  ACL_DEV_ATTR_MAX_BLOCK_PER_GRID = 208,
  ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK = 209,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_X = 210,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Y = 211,
  ACL_DEV_ATTR_MAX_BLOCK_DIM_Z = 212,
  ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE = 301,
  ACL_DEV_ATTR_L2_CACHE_SIZE = 302,
  ACL_DEV_ATTR_SMP_ID = 401,
  ACL_DEV_ATTR_PHY_CHIP_ID = 402,
  ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID = 403,
  ACL_DEV_ATTR_SUPER_POD_DEVICE_ID = 403,
  ACL_DEV_ATTR_SUPER_POD_SERVER_ID = 404,
  ACL_DEV_ATTR_SUPER_POD_ID = 405,
  ACL_DEV_ATTR_CUST_OP_PRIVILEGE = 406,
  ACL_DEV_ATTR_MAINBOARD_ID = 407,
  ACL_DEV_ATTR_HD_CONNECT_TYPE = 408,
  ACL_DEV_ATTR_DEVICE_FORM_FACTOR = 409,
  ACL_DEV_ATTR_IS_VIRTUAL = 501,
  ACL_DEV_ATTR_NPU_ARCH = 601,
} aclrtDevAttr;

typedef enum aclrtDevResLimitType {
  ACL_RT_DEV_RES_CUBE_CORE = 0,
  ACL_RT_DEV_RES_VECTOR_CORE = 1,
} aclrtDevResLimitType;

typedef enum aclrtDevFeatureType {
  ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV = 1,
  ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV = 21,
} aclrtDevFeatureType;

// Memory.
typedef enum aclrtMemLocationType {
  ACL_MEM_LOCATION_TYPE_HOST = 0,
  ACL_MEM_LOCATION_TYPE_DEVICE = 1,
  ACL_MEM_LOCATION_TYPE_UNREGISTERED = 2,
  ACL_MEM_LOCATION_TYPE_MANAGED = 3,
  ACL_MEM_LOCATION_TYPE_HOST_NUMA = 4,
} aclrtMemLocationType;

typedef enum aclrtHostRegisterType {
  ACL_HOST_REGISTER_MAPPED = 0,
  ACL_HOST_REGISTER_IOMEMORY = 4,
  ACL_HOST_REGISTER_READONLY = 8,
} aclrtHostRegisterType;

typedef enum aclrtMallocAttrType {
  ACL_RT_MEM_ATTR_RSV = 0,
  ACL_RT_MEM_ATTR_MODULE_ID = 1,
  ACL_RT_MEM_ATTR_DEVICE_ID = 2,
  ACL_RT_MEM_ATTR_VA_FLAG = 3,
} aclrtMallocAttrType;

typedef enum aclrtCmoType {
  ACL_RT_CMO_TYPE_PREFETCH = 0,
  ACL_RT_CMO_TYPE_WRITEBACK = 1,
  ACL_RT_CMO_TYPE_INVALID = 2,
  ACL_RT_CMO_TYPE_FLUSH = 3,
} aclrtCmoType;

typedef enum aclrtReduceKind {
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
  ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13,
} aclrtReduceKind;

typedef enum aclrtMemHandleType {
  ACL_MEM_HANDLE_TYPE_NONE = 0,
  ACL_MEM_HANDLE_TYPE_POSIX = 2,
} aclrtMemHandleType;

typedef enum aclrtMemAllocationType {
  ACL_MEM_ALLOCATION_TYPE_PINNED = 0,
} aclrtMemAllocationType;

typedef enum aclrtMemGranularityOptions {
  ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM = 0,
  ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1,
  ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF = 65535,
} aclrtMemGranularityOptions;

// Errors, system options, packages and registered functions.
typedef enum aclrtLastErrLevel {
  ACL_RT_THREAD_LEVEL = 0,
} aclrtLastErrLevel;

typedef enum aclrtErrorType {
  ACL_RT_NO_ERROR = 0,
  ACL_RT_ERROR_MEMORY = 1,
  ACL_RT_ERROR_L2 = 2,
  ACL_RT_ERROR_AICORE = 3,
  ACL_RT_ERROR_LINK = 4,
  ACL_RT_ERROR_L3_PORT = 5,
  ACL_RT_ERROR_OTHERS = 65535,
} aclrtErrorType;

typedef enum aclSysParamOpt {
  ACL_OPT_DETERMINISTIC = 0,
  ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
  ACL_OPT_STRONG_CONSISTENCY = 2,
  ACL_OPT_ENABLE_KERNEL_EARLY_START = 3,
} aclSysParamOpt;

typedef enum aclCANNPackageName {
  ACL_PKG_NAME_CANN = 0,
  ACL_PKG_NAME_RUNTIME = 1,
  ACL_PKG_NAME_COMPILER = 2,
  ACL_PKG_NAME_HCCL = 3,
  ACL_PKG_NAME_TOOLKIT = 4,
  ACL_PKG_NAME_OPP = 5,
  ACL_PKG_NAME_OPP_KERNEL = 6,
  ACL_PKG_NAME_DRIVER = 7,
} aclCANNPackageName;

typedef enum aclRegisterCallbackType {
  ACL_REG_TYPE_ACL_MODEL = 0,
  ACL_REG_TYPE_ACL_OP_EXECUTOR = 1,
  ACL_REG_TYPE_ACL_OP_CBLAS = 2,
  ACL_REG_TYPE_ACL_OP_COMPILER = 3,
  ACL_REG_TYPE_ACL_TDT_CHANNEL = 4,
  ACL_REG_TYPE_ACL_TDT_QUEUE = 5,
  ACL_REG_TYPE_ACL_DVPP = 6,
  ACL_REG_TYPE_ACL_RETR = 7,
  ACL_REG_TYPE_OTHER = 65535,
} aclRegisterCallbackType;

// Capturing a stream into a model.
typedef enum aclmdlRICaptureMode {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL = 1,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED = 2,
} aclmdlRICaptureMode;

typedef enum aclmdlRICaptureStatus {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE = 1,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED = 2,
} aclmdlRICaptureStatus;

// -----------------------------------------------------------------------------------------------------------
// More about start and stop: versions, last error, system parameters, functions called at both ends
// -----------------------------------------------------------------------------------------------------------

// The version of this interface, and what it says as numbers.
#define ACL_MAJOR_VERSION 1
#define ACL_MINOR_VERSION 17
#define ACL_PATCH_VERSION 0

// The version of a package of CANN, as texts.
typedef struct aclCANNPackageVersion {
  char version[ACL_PKG_VERSION_MAX_SIZE];             // all of it, such as "9.1.0"
  char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];  // its first part
  char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];  // empty
  char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

// Stores the version of this interface: 1, 17, 0.
// Returns 0, or 100000 for a null pointer. Needs no device.
ACL_FUNC_VISIBILITY aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                             int32_t* patchVersion);

// Store the version of CANN that is emulated: as text, as major * 10000000 + minor * 100000 + release * 1000,
// or in parts. Every package of CANN has this version, because the library stands in for all of them: "cann",
// "runtime", "compiler", "hccl", "toolkit", "opp", "opp_kernel", "driver" (these have numbers, too), "ops_cv",
// "ops_transformer", "ops_nn", "ops_math" and "ops_legacy".
//   versionStr  room for ACL_PKG_VERSION_MAX_SIZE bytes
// Return 0; 100000 for a null pointer or an unknown number; 100003 for an unknown name.
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* pkgName, char* versionStr);
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum);
ACL_FUNC_VISIBILITY aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);

// Stores which of the attributes the product has: ACL_CANN_ATTR_INF_NAN always, ACL_CANN_ATTR_BF16 for Atlas
// A2, Atlas A3 and Ascend 950PR/950DT. The list belongs to the library and stays valid.
// Returns 0, or 100000 for a null pointer.
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num);

// Stores 1 for an attribute that the product has, 0 for one that it has not (ACL_CANN_ATTR_JIT_COMPILE
// never).
// Returns 0, or 100000 for a null value or an unknown attribute.
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value);

// Return the code of the calling thread's latest call that failed, operators included (a repeated aclInit is
// no failure; 207000 becomes 200006), 0 if there is none; aclrtGetLastError also forgets it. Failures of queued
// work count once a synchronisation has reported them.
//   level  ACL_RT_THREAD_LEVEL; for any other value they return 100000
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

// Set and get an option of the process, or of the calling thread's current context. An option is kept and
// changes nothing: results are the same bits in every run, whatever ACL_OPT_DETERMINISTIC says.
//   value  0 to 3 for ACL_OPT_DETERMINISTIC, 0 or 1 for the others
// Return 0; 100000 for an unknown option or a null pointer; 107000 for another value. For a context also
// 107002 when there is none, and 107021 for an option that was not set in it; of the process, one that was
// not set is 0.
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value);
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value);

// Register a function that each aclInit which starts the library calls at its end, with the content of the
// configuration file (an empty text without one), in the order of registration; if the library is started
// already, it is called at once. One that does not return 0 ends aclInit, or the registration, with its code,
// one that throws a C++ exception with 507000, and nothing is started or registered.
// Return 0, or 100000 for a null function, an unknown type, or a pair of both that is (not) registered
// already.
ACL_FUNC_VISIBILITY aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                                     void* userData);
ACL_FUNC_VISIBILITY aclError aclInitCallbackUnRegister(aclRegisterCallbackType type,
                                                       aclInitCallbackFunc cbFunc);

// Register a function that is called when the library begins to end (aclFinalize, or the last
// aclFinalizeReference), the one registered last first. All are called. The first code that is not 0 is
// returned, but the library has ended nevertheless.
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type,
                                                         aclFinalizeCallbackFunc cbFunc, void* userData);
ACL_FUNC_VISIBILITY aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                                           aclFinalizeCallbackFunc cbFunc);

// -----------------------------------------------------------------------------------------------------------
// More about devices
// -----------------------------------------------------------------------------------------------------------
// Every function that takes the number of a device returns 107001 for one that does not exist.

// How much of a device is in use, in percent; -1 where the system does not tell.
typedef struct AclrtUtilizationExtendInfo aclrtUtilizationExtendInfo;
typedef struct aclrtUtilizationInfo {
  int32_t cubeUtilization;
  int32_t vectorUtilization;
  int32_t aicpuUtilization;
  int32_t memoryUtilization;
  aclrtUtilizationExtendInfo* utilizationExtend;  // null
} aclrtUtilizationInfo;

typedef struct aclrtUuid {
  char bytes[16];
} aclrtUuid;

// Stores the state of a device, which is always ACL_RT_DEVICE_STATUS_NORMAL.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus);

// Stores a number of a device: for the counts of cores, how many threads an operator may use; the size of the
// memory and of the second-level cache of this machine; for PHY_CHIP_ID, the number that the device has
// without ASCEND_RT_VISIBLE_DEVICES; 0 for IS_VIRTUAL; the architecture of the product that is emulated.
// Returns 0; 100000 for null or an unknown attribute; 207000 for attributes of kernels and boards, and for
// what the system does not tell.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value);

// As aclrtGetDeviceInfo, for the number of cores and the size of the second-level cache.
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                                    int64_t* value);

// Stores whether a device has a feature, which is always 0: no.
// Returns 0, or 100000 for null or an unknown feature.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                                      int32_t* value);

// Stores how busy the machine's processors were since the last call of this function (at first: since the
// machine started), by whatever process, and how much of its memory is in use. Every device shares them.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceUtilizationRate(int32_t deviceId,
                                                           aclrtUtilizationInfo* utilizationInfo);

// Stores a name for the device that is the same in every process of this machine and differs between devices
// and machines.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid);

// Stores the number that a device of this process has without ASCEND_RT_VISIBLE_DEVICES.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid,
                                                           int32_t* const logicDevId);

// Stores the number of the calling process, as getpid returns it.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetBareTgid(int32_t* pid);

// Stores the priorities that a stream can have: 7 and 0.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority,
                                                               int32_t* greatestPriority);

// Stores whether the device's default context exists (*active is 1 or 0).
//   flags  receives 0; may be null
// Returns 0; 100000 for a null active; 107001 for a device that is not there.
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active);

// Stores whether a device can use another's memory: always 1, since all devices share the host's.
// Returns 0, or 100000 for null or equal numbers.
ACL_FUNC_VISIBILITY aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId,
                                                      int32_t peerDeviceId);

// Allow the current device to use another's memory, and forbid it again. It can in any case: what is allowed
// is only remembered.
//   flags  0
// Return 0; 100000 for other flags or the current device itself; 107002 without a device; disabling what is
// not enabled is 107000.
ACL_FUNC_VISIBILITY aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags);
ACL_FUNC_VISIBILITY aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId);

// Chooses what happens on overflow. Operators give infinities and NaN, so ACL_RT_OVERFLOW_MODE_INFNAN is
// accepted and ACL_RT_OVERFLOW_MODE_SATURATION is not.
// Returns 0; 207000 for SATURATION; 100000 for another mode; 107002 without a device.
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);

// Chooses the scheduler of a device; there is one.
// Returns 0 for ACL_TS_ID_AICORE, 207000 for ACL_TS_ID_AIVECTOR, 100000 for another value.
ACL_FUNC_VISIBILITY aclError aclrtSetTsDevice(aclrtTsId tsId);

// Drops the work that is queued in every stream of a device, and waits for what runs already; see
// aclrtStreamAbort. The next synchronisation of a stream that lost work returns 107022.
//   timeout  milliseconds; 0 waits for ever
// Returns 0; 507046 when the time is over, and what runs goes on then; 207000 with timeout 0 in a host function
// or blocking callback of one of the streams.
ACL_FUNC_VISIBILITY aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout);

// Limits on cores. A processor of the host counts as one; an operator takes at most as many threads as there
// are vector cores in the limit that is in force in the thread of its phase 1. Limits never change a result;
// on cube cores they are only kept.
//   value  1 to what aclrtGetDeviceInfo says
// In force is the limit of the stream that the thread has put to use, if it has one; else that of the current
// device; else the number of cores. The last aclrtResetDevice takes back the device's limits.
// Return 0; 100000 for an unknown type or a null pointer; 107000 for another value; 107002 or 107003 for the
// stream.
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t* value);
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type,
                                                    uint32_t value);
ACL_FUNC_VISIBILITY aclError aclrtResetDeviceResLimit(int32_t deviceId);
ACL_FUNC_VISIBILITY aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t* value);
ACL_FUNC_VISIBILITY aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type,
                                                    uint32_t value);
ACL_FUNC_VISIBILITY aclError aclrtResetStreamResLimit(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtUseStreamResInCurrentThread(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value);

// -----------------------------------------------------------------------------------------------------------
// More about memory
// -----------------------------------------------------------------------------------------------------------

// Attributes of memory, which are read when it is allocated.
typedef union aclrtMallocAttrValue {
  uint16_t moduleId;  // ACL_RT_MEM_ATTR_MODULE_ID: a name for statistics, not used here
  uint32_t deviceId;  // ACL_RT_MEM_ATTR_DEVICE_ID: a device that exists
  uint32_t vaFlag;    // ACL_RT_MEM_ATTR_VA_FLAG: one address for host and device, which all memory has here
  uint8_t rsv[8];
} aclrtMallocAttrValue;

typedef struct aclrtMallocAttribute {
  aclrtMallocAttrType attr;
  aclrtMallocAttrValue value;
} aclrtMallocAttribute;

typedef struct aclrtMallocConfig {
  aclrtMallocAttribute* attrs;
  size_t numAttrs;
} aclrtMallocConfig;

typedef struct aclrtMemLocation {
  uint32_t id;  // of a device
  aclrtMemLocationType type;
} aclrtMemLocation;

typedef struct aclrtPtrAttributes {
  aclrtMemLocation location;
  uint32_t pageSize;  // in bytes
  uint32_t rsv[4];
} aclrtPtrAttributes;

typedef struct aclrtMemUsageInfo {
  char name[32];         // who asked for the memory
  uint64_t curMemSize;   // bytes, now
  uint64_t memPeakSize;  // bytes, at most until now
  size_t reserved[8];
} aclrtMemUsageInfo;

typedef struct aclrtMemcpyBatchAttr {
  aclrtMemLocation dstLoc;
  aclrtMemLocation srcLoc;
  uint8_t rsv[16];
} aclrtMemcpyBatchAttr;

typedef struct aclrtPhysicalMemProp {
  aclrtMemHandleType handleType;          // ACL_MEM_HANDLE_TYPE_NONE
  aclrtMemAllocationType allocationType;  // ACL_MEM_ALLOCATION_TYPE_PINNED
  aclrtMemAttr memAttr;                   // a hint
  aclrtMemLocation location;              // a device, or the host
  uint64_t reserve;
} aclrtPhysicalMemProp;

// As aclrtMalloc; without the 32 bytes of padding, for cached access, and with attributes (null: none). Codes
// as aclrtMalloc; for the attributes also 100000, and 107001 for a device that does not exist.
ACL_FUNC_VISIBILITY aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
ACL_FUNC_VISIBILITY aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy);
ACL_FUNC_VISIBILITY aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                                aclrtMallocConfig* cfg);

// As aclrtMallocHost, with attributes.
ACL_FUNC_VISIBILITY aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg);

// Allocates memory that host and devices use under one address, as all memory here. Release it with
// aclrtFree.
//   flag  ACL_RT_MEM_ATTACH_GLOBAL; 107000 for any other
ACL_FUNC_VISIBILITY aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag);

// As aclrtFree and aclrtFreeHost, but wait first for the work in all streams of the current device. What
// failed in one of them is returned after the memory is free. Also 107002 without a device, 207000 in a host
// function or blocking callback of one of the streams; nothing is released then.
ACL_FUNC_VISIBILITY aclError aclrtFreeWithDevSync(void* devPtr);
ACL_FUNC_VISIBILITY aclError aclrtFreeHostWithDevSync(void* hostPtr);

// As aclrtMemcpyAsync, whose condition it names: with host memory that is not pinned the copy is done at
// return.
ACL_FUNC_VISIBILITY aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src,
                                                           size_t count, aclrtMemcpyKind kind,
                                                           aclrtStream stream);

// Copies `height` rows of `width` bytes; done when the call returns.
//   dpitch, spitch  how far the rows are apart, in bytes, in the destination and in the source
//   kind            0 to 4, a hint
// Returns 0, also for no rows or rows of no bytes whatever the rest; 100000 for a null address, another kind,
// a width that is larger than a pitch, or rows past the end of the address space. Source and destination must
// not overlap.
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch,
                                           size_t width, size_t height, aclrtMemcpyKind kind);

// Copies as aclrtMemcpy2d does, in stream order. It may continue after the call as aclrtMemcpyAsync may.
//   kind  1 to 4; 207000 for HOST_TO_HOST
ACL_FUNC_VISIBILITY aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch,
                                                size_t width, size_t height, aclrtMemcpyKind kind,
                                                aclrtStream stream);

// Copy numBatches pieces of memory, at once or in stream order; a piece of no bytes is passed over.
//   dsts, destMaxs, srcs, sizes  of each piece: where to, the room there, where from, how many bytes
//   attrs, attrsIndexes, numAttrs  where the pieces lie: attrs[k] holds from piece attrsIndexes[k] on. The
//                                first index is 0 and they ascend. A location is the host or a device, and
//                                not the host twice
//   failIndex                    receives the piece at fault, or SIZE_MAX if none in particular is
// Return 0; 100000 for null arrays or pieces, wrong counts, indexes or locations; 107000 for a piece that has
// not enough room; 107001 for a device that does not exist; 207000 for host to host. Nothing is copied then.
// In stream order also the codes of the stream and 207001, for which the pieces before failIndex are queued.
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                              size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                              size_t* attrsIndexes, size_t numAttrs, size_t* failIndex);
ACL_FUNC_VISIBILITY aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes,
                                                   size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                                   size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                                                   aclrtStream stream);

// Stores how many bytes of a device aclrtMalloc and its variants have handed out: one entry, called "APP".
//   inputNum   entries that memUsageInfo has room for
//   outputNum  receives 1
// Returns 0; 100000 for null or inputNum 0.
ACL_FUNC_VISIBILITY aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo,
                                                  size_t inputNum, size_t* outputNum);

// Stores where an address lies: on the device in memory of aclrtMalloc and of aclrtMapMem, managed in that of
// aclrtMemAllocManaged, on the host in that of aclrtMallocHost or registered, unregistered anywhere else.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes);

// Register memory of the program's own as pinned: an asynchronous copy with it may then go on after its call.
// It must be unregistered before it is freed. Memory of aclrtMallocHost, or a part of it, may be registered, too, to
// learn its address for the device; aclrtFreeHost ends that.
//   type    ACL_HOST_REGISTER_MAPPED
//   devPtr  receives the address for the device, which is the same
//   flag    ACL_HOST_REG_MAPPED, ACL_HOST_REG_PINNED or both
// Return 0; 100000 for null, size 0, or an unknown type or flag; 107002 without a device; 207000 for IOMEMORY
// and READONLY; 507910 when a byte of it is registered, or was allocated by another function of this library; 207001.
ACL_FUNC_VISIBILITY aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type,
                                               void** devPtr);
ACL_FUNC_VISIBILITY aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag);

// Stores the address by which devices know registered host memory, or that of aclrtMallocHost: the same
// address.
//   flag  0
// Returns 0; 100000 for null or another flag; 507911 for any other memory.
ACL_FUNC_VISIBILITY aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag);

// Ends a registration.
// Returns 0; 100000 for null; 507911 for an address at which none begins.
ACL_FUNC_VISIBILITY aclError aclrtHostUnregister(void* ptr);

// Write a cache back, and have it read anew: nothing to do, since caches of a host are coherent.
// Return 0, or 100000 for null or size 0.
ACL_FUNC_VISIBILITY aclError aclrtMemFlush(void* devPtr, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtMemInvalidate(void* devPtr, size_t size);

// Prefetches, writes back or flushes a cache in stream order, which changes no result.
// Returns 0; 100000 for null, size 0 or an unknown type; 207000 for ACL_RT_CMO_TYPE_INVALID, which would lose
// what was written; 107002 or 107003 for the stream.
ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream);

// Memory and addresses apart from each other: a range of addresses is reserved, pieces of memory are created,
// and mapped somewhere in the range. Sizes of pieces and addresses are multiples of the granularity, 2 MiB.
// Mapped memory is shared with forked children.
//
// Reserves addresses.
//   virPtr     receives the first one. Release it with aclrtReleaseMemAddress
//   size       bytes, rounded up to the granularity
//   alignment  0
//   expectPtr  null
//   flags      0 or 1, a hint
// Returns 0; 100000 for null, size 0 or other arguments; 107002 without a device; 207001 when there is no such
// range.
ACL_FUNC_VISIBILITY aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment,
                                                    void* expectPtr, uint64_t flags);

// Returns 0; 100000 for null; 107000 for an address at which no range begins, or while something is mapped in
// it.
ACL_FUNC_VISIBILITY aclError aclrtReleaseMemAddress(void* virPtr);

// Creates a piece of memory, filled with zeros.
//   handle  receives it. Release it with aclrtFreePhysical; where it is mapped it stays until it is unmapped
//   flags   0
// Returns 0; 100000 for null, size 0 or other properties; 107000 for a size that is no multiple; 107001,
// 107002 for the device; 207000 for a handle type that other processes could use; 207001 when memory is
// exhausted, or the process's limit on the size of files (RLIMIT_FSIZE) is smaller.
ACL_FUNC_VISIBILITY aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                                                 const aclrtPhysicalMemProp* prop, uint64_t flags);

// Returns 0; 100000 for null; 107017 for a handle that is none (any more).
ACL_FUNC_VISIBILITY aclError aclrtFreePhysical(aclrtDrvMemHandle handle);

// Maps all of a piece of memory into a reserved range.
//   size    that of the piece
//   offset  0
//   flags   0
// Returns 0; 100000 for null or other arguments; 107000 for another size, an address that is no multiple,
// lies in no reserved range or reaches beyond it, or where something is mapped; 107017 for an unknown handle,
// or when the program has closed the descriptor that holds the piece (as one does that closes all); 207001.
ACL_FUNC_VISIBILITY aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                                         uint64_t flags);

// Returns 0; 100000 for null; 107000 for an address at which nothing is mapped.
ACL_FUNC_VISIBILITY aclError aclrtUnmapMem(void* virPtr);

// Stores the granularity, 2 MiB for both options.
// Returns 0; 100000 for null or an unknown option; codes of aclrtMallocPhysical for the properties.
ACL_FUNC_VISIBILITY aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                                              aclrtMemGranularityOptions option,
                                                              size_t* granularity);

// Give memory to another process. Not supported: they return 207000.
ACL_FUNC_VISIBILITY aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle,
                                                             aclrtMemHandleType handleType, uint64_t flags,
                                                             uint64_t* shareableHandle);
ACL_FUNC_VISIBILITY aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                                               aclrtDrvMemHandle* handle);
ACL_FUNC_VISIBILITY aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid,
                                                             size_t pidNum);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len,
                                                     uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemClose(const char* key);
ACL_FUNC_VISIBILITY aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num);

// -----------------------------------------------------------------------------------------------------------
// More about streams and events
// -----------------------------------------------------------------------------------------------------------

// The value of a stream's attribute; which member counts depends on the attribute.
typedef union aclrtStreamAttrValue {
  uint64_t failureMode;        // ACL_STREAM_ATTR_FAILURE_MODE
  uint32_t overflowSwitch;     // ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK
  uint32_t userCustomTag;      // ACL_STREAM_ATTR_USER_CUSTOM_TAG
  uint32_t cacheOpInfoSwitch;  // ACL_STREAM_ATTR_CACHE_OP_INFO
  uint32_t priority;           // ACL_STREAM_ATTR_PRIORITY
  uint32_t reserve[4];
} aclrtStreamAttrValue;

// Set and get an attribute of a stream: the failure mode (below); a tag, the priority (0 to 7) and the switch of CACHE_OP_INFO,
// which are kept for the program. The switch of FLOAT_OVERFLOW_CHECK is always off.
// Return 0; 100000 for null or an unknown attribute; 107000 for another value; 207000 for switching that on.
ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue* value);
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                                     aclrtStreamAttrValue* value);

// Chooses what a stream does after work in it has failed. ACL_CONTINUE_ON_FAILURE, as it is created: it goes
// on, and one synchronisation reports the failure. ACL_STOP_ON_FAILURE: work that is queued after it, or
// submitted later, is dropped (as by aclrtDestroyStreamForce), and every synchronisation reports the failure,
// until the mode is set to continue.
// Returns 0, or 107000 for another mode.
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

// Switch the detection of overflow, which does not exist: 0 (off) is accepted, 1 is 207000, other values
// 107000.
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);

// Ask for, and clear, a note of overflow. Not supported: they return 207000. Look for infinities and NaN
// instead.
ACL_FUNC_VISIBILITY aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtResetOverflowStatus(aclrtStream stream);

// Drops the work that is queued in a stream: operators and copies are not done, host functions and callbacks
// not called, recordings count as complete, waiting ends. What runs already is waited for. The stream can be
// used afterwards; if it lost work, its next synchronisation returns 107023.
// Returns 0; 107002 or 107003 for the stream; 207000 in a host function or blocking callback of the stream.
ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);

// Stores how many more streams can be created.
// Returns 0; 100000 for null; 107002 without a device.
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAvailableNum(uint32_t* streamCount);

// Stores when the event's latest recording was complete: microseconds of a clock that only goes forward.
// Returns 0; 100000 for null; 107006 when the event has no ACL_EVENT_TIME_LINE, is not recorded or not
// complete.
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);

// Stores the event's number, which no other event of this process had or has.
// Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId);

// Sets how long aclrtStreamWaitEvent has a stream wait, in calls from now on, of any thread.
//   timeout  seconds (at most 24 days count); 0 waits for ever, as it is at first
// A wait that ends so is reported as by aclrtStreamWaitEventWithTimeout, and needs a thread meanwhile.
// Returns 0.
ACL_FUNC_VISIBILITY aclError aclrtSetOpWaitTimeout(uint32_t timeout);

// Set how long an operator may take, in any stream. One that takes longer is not interrupted: its result is
// whole, and the next synchronisation of its stream returns 507014.
//   timeout        seconds; for V2 microseconds. 0: as long as it wants, as it is at first
//   actualTimeout  receives the time that is in force
// Return 0; 100000 for null.
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOut(uint32_t timeout);
ACL_FUNC_VISIBILITY aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout);

// Has a stream write 8 bytes when it comes to this call.
//   devAddr  a multiple of 8; it must be valid until then
//   flag     0
// Returns 0; 100000 for null; 107008 for another address; 107000 for another flag; codes of the stream;
// 207001.
ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag,
                                             aclrtStream stream);

// Has a stream wait until the 8 bytes at an address, *p, compare with value as flag says:
//   ACL_STREAM_WAIT_VALUE_GEQ  (int64_t)(*p - value) >= 0
//   ACL_STREAM_WAIT_VALUE_EQ   *p == value
//   ACL_STREAM_WAIT_VALUE_AND  (*p & value) != 0
//   ACL_STREAM_WAIT_VALUE_NOR  ~(*p | value) != 0
// An aclrtValueWrite of another stream is seen at once, what anybody else writes within about 2 milliseconds.
// Returns also 207005 when no thread can be started that waits.
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream);

// A notify is a flag that a stream raises and another stream waits for and lowers. Each raising lets one wait
// pass; raising a flag that is up has no effect. Waiting costs no thread.
//
// Creates a notify, lowered.
//   flag  0
// Returns 0; 100000 for null; 107000 for another flag; 107002 without a device; 207009 when there is no room.
ACL_FUNC_VISIBILITY aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag);

// Destroys a notify. Work that is queued with it is carried out; no stream should still be waiting for it.
// Codes of every function that takes one: 100000 for null, 107000 for a handle that is none (any more).
ACL_FUNC_VISIBILITY aclError aclrtDestroyNotify(aclrtNotify notify);

// Raises it when the stream comes to this call.
ACL_FUNC_VISIBILITY aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream);

// Has the stream wait until it is raised, and lower it.
//   timeout  seconds; 0 waits for ever. When they are over the stream goes on and its next synchronisation
//            returns 107019
// Returns also 207005 when no thread can be started that watches the time.
ACL_FUNC_VISIBILITY aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream,
                                                     uint32_t timeout);

// Stores its number, which no other notify of this process had or has.
ACL_FUNC_VISIBILITY aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId);

// Lowers `num` of them at once, in no stream. If one is none, nothing is done.
ACL_FUNC_VISIBILITY aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num);

// An event of another process. Not supported: they return 207000.
#define ACL_IPC_EVENT_HANDLE_SIZE 64U
typedef struct aclrtIpcEventHandle {
  char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;
ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle);
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event);

// -----------------------------------------------------------------------------------------------------------
// Faults of the device
// -----------------------------------------------------------------------------------------------------------
// A host whose memory or processors fail does not report it here: no fault is ever there to be asked for.

// A piece of memory that is lost.
#define UCE_INFO_RESERVED_SIZE 14
typedef struct aclrtMemUceInfo {
  void* addr;
  size_t len;
  size_t reserved[UCE_INFO_RESERVED_SIZE];
} aclrtMemUceInfo;

// The origin of a core's fault.
typedef enum aclrtAicoreErrorType {
  ACL_RT_AICORE_ERROR_UNKNOWN = 0,
  ACL_RT_AICORE_ERROR_SW = 1,
  ACL_RT_AICORE_ERROR_HW_LOCAL = 2,
} aclrtAicoreErrorType;

// A fault, and what is known about it.
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
typedef struct {
  size_t arraySize;
  aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;
typedef union aclrtErrorInfoDetail {
  aclrtMemUceInfoArray uceInfo;
  aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;
typedef struct aclrtErrorInfo {
  uint8_t tryRepair;
  uint8_t hasDetail;
  uint8_t reserved[2];
  aclrtErrorType errorType;
  aclrtErrorInfoDetail detail;
} aclrtErrorInfo;

// Stores the pieces of a device's memory that are lost: none.
//   arraySize  how many memUceInfoArray has room for
//   retSize    receives 0
// Returns 0; 100000 for null; 107001 for a device that does not exist.
ACL_FUNC_VISIBILITY aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray,
                                                size_t arraySize, size_t* retSize);

// Repairs memory that aclrtGetMemUceInfo gave. Not supported: returns 207000.
ACL_FUNC_VISIBILITY aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray,
                                               size_t arraySize);

// Stores what is wrong with a device: ACL_RT_NO_ERROR, no detail, nothing to repair.
// Returns 0; 100000 for null; 107001 for a device that does not exist.
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo);

// Repairs a fault: with ACL_RT_NO_ERROR there is nothing to do.
// Returns 0; 100000 for null; 107001 for a device that does not exist; 207000 for every other fault.
ACL_FUNC_VISIBILITY aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo);

// -----------------------------------------------------------------------------------------------------------
// Recorded graphs
// -----------------------------------------------------------------------------------------------------------
// Work that is submitted to a stream while that is captured is recorded in a graph, with the addresses of its operands, and
// done at each execution of the graph. What is refused meanwhile, with which code, is said in docs/runtime.md. Graphs without
// conditions: the four functions that make these return 207000.

// A group of recorded tasks, and parts of a graph that are done on a condition.
typedef void* aclrtTaskGrp;
typedef void* aclmdlRICondHandle;
typedef enum {
  ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT = 1,
} aclmdlRICondHandleFlag;
typedef enum {
  ACL_MODEL_RI_COND_TYPE_IF = 0,
  ACL_MODEL_RI_COND_TYPE_WHILE = 1,
  ACL_MODEL_RI_COND_TYPE_SWITCH = 2,
} aclmdlRICondTaskType;
typedef struct tagAclmdlRICondTaskParams {
  aclmdlRICondHandle handle;
  aclmdlRICondTaskType type;
  uint32_t size;
  aclmdlRI* modelRIArray;
} aclmdlRICondTaskParams;

// Stores whether a stream is being captured, or its capture was invalidated by a call that it does not allow.
//   modelRI  receives the graph that is captured, null for none; may itself be null
// Returns 0; 100000 for a null status; 107002 or 107003 for the stream.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                                    aclmdlRI* modelRI);

// Exchanges the calling thread's mode, which is ACL_MODEL_RI_CAPTURE_MODE_GLOBAL at first, with *mode. With RELAXED the thread
// may call functions that work at once (aclrtMemcpy) during captures; with THREAD_LOCAL, only during captures of other threads.
// Returns 0; 100000 for null or an unknown mode.
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

// Capture: begin, end with the graph (null when that fails; 107025 to 107038, 507903); a group of tasks that others replace
// later, given to a stream between TaskUpdateBegin and TaskUpdateEnd (107033, 107040).
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

// Parts of a graph that are done on a condition, a number in device memory (GetCondPtr) that belongs to a graph under capture. With flag 1
// it is defaultLaunchValue when an execution of that graph begins, with 0 it keeps its value. aclmdlRIAddCondTask records a choice by that
// number and fills params.modelRIArray with params.size empty graphs: IF does the first one if it is not 0, else the second one of two;
// WHILE repeats the only one until it is 0; SWITCH does the one of that number, if there is one. CaptureToModelRIBegin captures into such
// a graph, each once, on a stream of its own; aclmdlRICaptureEnd ends that. It is executed, aborted and destroyed with the outer graph.
//   flags  0
// Returns 0; 100000 for null, a flag, a type or a mode that is none; 107000 for another handle, graph, size or flags; 107029 for a stream that
// is not captured; 107033 for one with an open group; 107045 where a part is being captured already, or still at the end of its outer graph; and
// as aclmdlRICaptureBegin.
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                                      aclmdlRICondHandleFlag flag,
                                                      aclmdlRICondHandle* handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr);
ACL_FUNC_VISIBILITY aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream,
                                                 uint32_t flags);
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                                           aclmdlRICaptureMode mode);

// Run a graph and wait for it for at most `timeout` milliseconds (-1: for ever); run it on a stream; stop it; get its number; name
// it; print it (as JSON, or as DOT if path ends in .dot); destroy it. 100000 for null, 107000 for no graph, 107026 while captured.
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout);
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclmdlRIAbort(aclmdlRI modelRI);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId);
ACL_FUNC_VISIBILITY aclError aclmdlRISetName(aclmdlRI modelRI, const char* name);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name);
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI modelRI);
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags);
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI modelRI);

// -----------------------------------------------------------------------------------------------------------
// Kernels
// -----------------------------------------------------------------------------------------------------------
// A kernel is machine code of a device that is not there. Not supported: they return 207000.

typedef void* aclrtBinHandle;
typedef void* aclrtFuncHandle;

// How a file of kernels is to be loaded.
typedef enum aclrtBinaryLoadOptionType {
  ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,
  ACL_RT_BINARY_LOAD_OPT_LAZY_MAGIC = 2,
  ACL_RT_BINARY_LOAD_OPT_MAGIC = 2,
  ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE = 3,
} aclrtBinaryLoadOptionType;
typedef union aclrtBinaryLoadOptionValue {
  uint32_t isLazyLoad;
  uint32_t magic;
  int32_t cpuKernelMode;
  uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;
typedef struct {
  aclrtBinaryLoadOptionType type;
  aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;
typedef struct aclrtBinaryLoadOptions {
  aclrtBinaryLoadOption* options;
  size_t numOpt;
} aclrtBinaryLoadOptions;

ACL_FUNC_VISIBILITY aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                                     const aclrtBinaryLoadOptions* options,
                                                     aclrtBinHandle* binHandle);
ACL_FUNC_VISIBILITY aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName,
                                                    aclrtFuncHandle* funcHandle);
ACL_FUNC_VISIBILITY aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACL_ACL_RT_H_
