// acl/acl_base_rt.h: base types of acl: handles, data types, formats, return codes, half precision.
// SPDX-License-Identifier: Apache-2.0
//
// Everything here is plain data or a pure function. Nothing needs aclInit or a device, and every function may
// be called from any thread at any time.
#ifndef PORTACL_ACL_ACL_BASE_RT_H_
#define PORTACL_ACL_ACL_BASE_RT_H_

#include <stddef.h>
#include <stdint.h>

// Marks the functions that a shared library exports. Empty for programs; a library that implements them is
// compiled with hidden visibility and defines FUNC_VISIBILITY, so that these functions and nothing else are
// exported.
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif

// Mark a declaration that should no longer be used, without and with advice to the reader of the warning.
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))

#ifdef __cplusplus
extern "C" {
#endif

// -----------------------------------------------------------------------------------------------------------
// Handles
// -----------------------------------------------------------------------------------------------------------

// The return code of a call: ACL_SUCCESS (0), or a code of this header, of error_codes/rt_error_codes.h,
// or of error_codes/ge_error_codes.h. aclGetRecentErrMsg (acl_rt.h) gives the text that belongs to a failure.
typedef int aclError;

// A queue of work, in order. Null names the default stream of the calling thread's current context.
typedef void* aclrtStream;

// A mark in a stream that other streams and the host can wait for.
typedef void* aclrtEvent;

// A context: a device, its default stream, and the streams that were created while the context was current.
typedef void* aclrtContext;

// A signal between streams, possibly of different devices.
typedef void* aclrtNotify;

// A piece of physical device memory that is mapped to an address separately.
typedef void* aclrtDrvMemHandle;

// A captured or built sequence of tasks that can be executed again.
typedef void* aclmdlRI;

// An address and a size in bytes, kept together; see the functions below.
typedef struct aclDataBuffer aclDataBuffer;

// -----------------------------------------------------------------------------------------------------------
// Data types
// -----------------------------------------------------------------------------------------------------------

// IEEE 754 half precision (1 sign, 5 exponent, 10 fraction bits) as raw bits.
typedef uint16_t aclFloat16;

// Type of a tensor's or a scalar's elements. The sizes are those of the storage: types of less than 8 bits
// are packed, and the number of bytes of a storage is rounded up. aclDataTypeSize differs for those types,
// see there.
typedef enum aclDataType {
  ACL_DT_UNDEFINED = -1,   // no type
  ACL_FLOAT = 0,           // IEEE 754 single precision, 4 bytes
  ACL_FLOAT16 = 1,         // IEEE 754 half precision, 2 bytes
  ACL_INT8 = 2,            // 1 byte
  ACL_INT32 = 3,           // 4 bytes
  ACL_UINT8 = 4,           // 1 byte
  ACL_INT16 = 6,           // 2 bytes
  ACL_UINT16 = 7,          // 2 bytes
  ACL_UINT32 = 8,          // 4 bytes
  ACL_INT64 = 9,           // 8 bytes
  ACL_UINT64 = 10,         // 8 bytes
  ACL_DOUBLE = 11,         // IEEE 754 double precision, 8 bytes
  ACL_BOOL = 12,           // 1 byte, any non-zero value is true
  ACL_STRING = 13,         // no fixed size
  ACL_COMPLEX64 = 16,      // two single precision numbers (real, imaginary), 8 bytes
  ACL_COMPLEX128 = 17,     // two double precision numbers, 16 bytes
  ACL_BF16 = 27,           // bfloat16: the upper half of a single precision number, 2 bytes
  ACL_INT4 = 29,           // 4 bits
  ACL_UINT1 = 30,          // 1 bit
  ACL_COMPLEX32 = 33,      // two half precision numbers, 4 bytes
  ACL_HIFLOAT8 = 34,       // 1 byte
  ACL_FLOAT8_E5M2 = 35,    // 1 byte, 5 exponent and 2 fraction bits
  ACL_FLOAT8_E4M3FN = 36,  // 1 byte, 4 exponent and 3 fraction bits, no infinities
  ACL_FLOAT8_E8M0 = 37,    // 1 byte, exponent only
  ACL_FLOAT6_E3M2 = 38,    // 6 bits
  ACL_FLOAT6_E2M3 = 39,    // 6 bits
  ACL_FLOAT4_E2M1 = 40,    // 4 bits
  ACL_FLOAT4_E1M2 = 41,    // 4 bits
} aclDataType;

// Meaning of a tensor's axes (N batch, C channels, D depth, H height, W width, L length) or, for the private
// formats, the order in which an accelerator keeps blocks in memory. ACL_FORMAT_ND says nothing about the
// axes and suits every operator here. A tensor of a private format counts as dense: its strides are ignored.
typedef enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,       // private
  ACL_FORMAT_FRACTAL_Z = 4,     // private
  ACL_FORMAT_NC1HWC0_C04 = 12,  // private
  ACL_FORMAT_HWCN = 16,
  ACL_FORMAT_NDHWC = 27,
  ACL_FORMAT_FRACTAL_NZ = 29,  // private
  ACL_FORMAT_NCDHW = 30,
  ACL_FORMAT_NDC1HWC0 = 32,  // private
  ACL_FRACTAL_Z_3D = 33,     // private; the name really has no FORMAT in it
  ACL_FORMAT_NC = 35,
  ACL_FORMAT_NCL = 47,
  ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,  // private
  ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,  // private
  ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,   // private
  ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,   // private
  ACL_FORMAT_FRACTAL_NZ_C0_8 = 54,   // private
} aclFormat;

// Returns the size of one element in bytes.
//   16 for COMPLEX128; 8 for DOUBLE, INT64, UINT64 and COMPLEX64; 4 for FLOAT, INT32, UINT32 and COMPLEX32; 2
//   for FLOAT16, BF16, INT16 and UINT16; 1 for INT8, UINT8, BOOL, HIFLOAT8 and FLOAT8_*; 0 for STRING and
//   DT_UNDEFINED.
// Beware of the packed types: INT4 and UINT1 give 1, FLOAT6_* and FLOAT4_* give 8, as in CANN. Do not size a
// buffer of those with this function.
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

// Converts half to single precision. Exact for every finite value, subnormal ones and the sign of zero
// included. Infinity and NaN are not kept, as in CANN: +inf gives 65536, -inf gives -65536, the usual NaN
// (0x7E00) gives 98304, and any other NaN something finite that is larger than 65536.
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

// Converts single to half precision: rounds to nearest, ties to even, with gradual underflow. It saturates,
// as in CANN: what is too large, infinity and NaN give the largest finite value, 65504 (0x7BFF), or -65504
// (0xFBFF) for what is too small and -inf. No result is infinite or NaN. (Operators do not saturate: they
// round as IEEE 754 says.)
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

// -----------------------------------------------------------------------------------------------------------
// Return codes
// -----------------------------------------------------------------------------------------------------------
// The first digit tells who can do something about it. The codes that this library returns most:
//
//   0       ACL_SUCCESS                  done
//   100000  ACL_ERROR_INVALID_PARAM      a null pointer, a size of 0, an unknown kind, a bad configuration
//   100002  ACL_ERROR_REPEAT_INITIALIZE  aclInit was called before; the call counts, and may be ignored
//   100003  ACL_ERROR_INVALID_FILE       aclInit's configuration file cannot be read
//   100037  ACL_ERROR_REPEAT_FINALIZE    aclFinalize without an aclInit before it
//   200000  ACL_ERROR_BAD_ALLOC          out of memory
//
// and, from error_codes/rt_error_codes.h, 107000 to 107003, 207001, 207008 and 507007. Mind that ACL_ERROR
// alone is not a return code: it is a log level, below.

// Success.
static const int ACL_ERROR_NONE = 0;
static const int ACL_SUCCESS = 0;

// 1xxxxx: the caller did something wrong.
static const int ACL_ERROR_INVALID_PARAM = 100000;
static const int ACL_ERROR_UNINITIALIZE = 100001;
static const int ACL_ERROR_REPEAT_INITIALIZE = 100002;
static const int ACL_ERROR_INVALID_FILE = 100003;
static const int ACL_ERROR_WRITE_FILE = 100004;
static const int ACL_ERROR_INVALID_FILE_SIZE = 100005;
static const int ACL_ERROR_PARSE_FILE = 100006;
static const int ACL_ERROR_FILE_MISSING_ATTR = 100007;
static const int ACL_ERROR_FILE_ATTR_INVALID = 100008;
static const int ACL_ERROR_INVALID_DUMP_CONFIG = 100009;
static const int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;
static const int ACL_ERROR_INVALID_MODEL_ID = 100011;
static const int ACL_ERROR_DESERIALIZE_MODEL = 100012;
static const int ACL_ERROR_PARSE_MODEL = 100013;
static const int ACL_ERROR_READ_MODEL_FAILURE = 100014;
static const int ACL_ERROR_MODEL_SIZE_INVALID = 100015;
static const int ACL_ERROR_MODEL_MISSING_ATTR = 100016;
static const int ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017;
static const int ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018;
static const int ACL_ERROR_MODEL_NOT_DYNAMIC = 100019;
static const int ACL_ERROR_OP_TYPE_NOT_MATCH = 100020;
static const int ACL_ERROR_OP_INPUT_NOT_MATCH = 100021;
static const int ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022;
static const int ACL_ERROR_OP_ATTR_NOT_MATCH = 100023;
static const int ACL_ERROR_OP_NOT_FOUND = 100024;
static const int ACL_ERROR_OP_LOAD_FAILED = 100025;
static const int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;
static const int ACL_ERROR_FORMAT_NOT_MATCH = 100027;
static const int ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028;
static const int ACL_ERROR_KERNEL_NOT_FOUND = 100029;
static const int ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030;
static const int ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031;
static const int ACL_ERROR_INVALID_QUEUE_ID = 100032;
static const int ACL_ERROR_REPEAT_SUBSCRIBE = 100033;
static const int ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;
static const int ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;
static const int ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;
static const int ACL_ERROR_REPEAT_FINALIZE = 100037;
static const int ACL_ERROR_NOT_STATIC_AIPP = 100038;
static const int ACL_ERROR_COMPILING_STUB_MODE = 100039;
static const int ACL_ERROR_GROUP_NOT_SET = 100040;
static const int ACL_ERROR_GROUP_NOT_CREATE = 100041;
static const int ACL_ERROR_PROF_ALREADY_RUN = 100042;
static const int ACL_ERROR_PROF_NOT_RUN = 100043;
static const int ACL_ERROR_DUMP_ALREADY_RUN = 100044;
static const int ACL_ERROR_DUMP_NOT_RUN = 100045;
static const int ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046;
static const int ACL_ERROR_PROF_API_CONFLICT = 148047;
static const int ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048;
static const int ACL_ERROR_INVALID_OPP_PATH = 148049;
static const int ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050;
static const int ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051;
static const int ACL_ERROR_UNSUPPORTED_JPEG = 148052;
static const int ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053;

// 2xxxxx: a resource is missing, or the feature is not supported.
static const int ACL_ERROR_BAD_ALLOC = 200000;
static const int ACL_ERROR_API_NOT_SUPPORT = 200001;
static const int ACL_ERROR_INVALID_DEVICE = 200002;
static const int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003;
static const int ACL_ERROR_RESOURCE_NOT_MATCH = 200004;
static const int ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;
static const int ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
static const int ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007;

// 3xxxxx: state of the business or of the machine.
static const int ACL_ERROR_STORAGE_OVER_LIMIT = 300000;

// 5xxxxx: internal error.
static const int ACL_ERROR_INTERNAL_ERROR = 500000;
static const int ACL_ERROR_FAILURE = 500001;
static const int ACL_ERROR_GE_FAILURE = 500002;
static const int ACL_ERROR_RT_FAILURE = 500003;
static const int ACL_ERROR_DRV_FAILURE = 500004;
static const int ACL_ERROR_PROFILING_FAILURE = 500005;

// -----------------------------------------------------------------------------------------------------------
// Data buffers, the program's own log lines, and enumerations of acl_rt.h
// -----------------------------------------------------------------------------------------------------------

// Importance of a line that a program adds to the log.
typedef enum aclLogLevel {
  ACL_DEBUG = 0,
  ACL_INFO = 1,
  ACL_WARNING = 2,
  ACL_ERROR = 3,
} aclLogLevel;

// Adds a line to the log, if the ASCEND_* variables of the log ask for lines of this level.
//   func, file, line  where in the program; ACL_APP_LOG fills them in
//   fmt               as printf takes it, with what it names; what does not fit into 1023 bytes is cut
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
                                   const char* fmt, ...);

// ACL_APP_LOG(level, fmt, ...): aclAppLog, from here.
#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, (uint32_t)__LINE__, __VA_ARGS__)

// A data buffer keeps the address and the size of memory that stays the program's.
// Creates one; null when memory is exhausted. Release it with aclDestroyDataBuffer.
ACL_FUNC_VISIBILITY aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);

// Releases the data buffer, not the memory. Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);

// Has it keep another address and size. Returns 0, or 100000 for null.
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size);

// Return what it keeps; null and 0 for a null data buffer.
ACL_FUNC_VISIBILITY void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);

// The location of memory.
typedef enum aclMemType {
  ACL_MEMTYPE_DEVICE = 0,
  ACL_MEMTYPE_HOST = 1,
  ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2,
} aclMemType;

// Features of the installed version.
typedef enum aclCannAttr {
  ACL_CANN_ATTR_UNDEFINED = -1,
  ACL_CANN_ATTR_INF_NAN = 0,
  ACL_CANN_ATTR_BF16 = 1,
  ACL_CANN_ATTR_JIT_COMPILE = 2,
} aclCannAttr;

// The number that a query about a device returns.
typedef enum aclDeviceInfo {
  ACL_DEVICE_INFO_UNDEFINED = -1,
  ACL_DEVICE_INFO_AI_CORE_NUM = 0,
  ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
  ACL_DEVICE_INFO_L2_SIZE = 2,
} aclDeviceInfo;

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACL_ACL_BASE_RT_H_
