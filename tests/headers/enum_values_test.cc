// The numbers of the public headers are CANN's, because programs compiled elsewhere carry them. The compiler
// checks every one of them; there is nothing to run.
// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnn/opdev/op_errno.h"

// aclDataType
static_assert(ACL_DT_UNDEFINED == -1 && std::is_same<decltype(ACL_DT_UNDEFINED), aclDataType>::value, "");
static_assert(ACL_FLOAT == 0 && std::is_same<decltype(ACL_FLOAT), aclDataType>::value, "");
static_assert(ACL_FLOAT16 == 1 && std::is_same<decltype(ACL_FLOAT16), aclDataType>::value, "");
static_assert(ACL_INT8 == 2 && std::is_same<decltype(ACL_INT8), aclDataType>::value, "");
static_assert(ACL_INT32 == 3 && std::is_same<decltype(ACL_INT32), aclDataType>::value, "");
static_assert(ACL_UINT8 == 4 && std::is_same<decltype(ACL_UINT8), aclDataType>::value, "");
static_assert(ACL_INT16 == 6 && std::is_same<decltype(ACL_INT16), aclDataType>::value, "");
static_assert(ACL_UINT16 == 7 && std::is_same<decltype(ACL_UINT16), aclDataType>::value, "");
static_assert(ACL_UINT32 == 8 && std::is_same<decltype(ACL_UINT32), aclDataType>::value, "");
static_assert(ACL_INT64 == 9 && std::is_same<decltype(ACL_INT64), aclDataType>::value, "");
static_assert(ACL_UINT64 == 10 && std::is_same<decltype(ACL_UINT64), aclDataType>::value, "");
static_assert(ACL_DOUBLE == 11 && std::is_same<decltype(ACL_DOUBLE), aclDataType>::value, "");
static_assert(ACL_BOOL == 12 && std::is_same<decltype(ACL_BOOL), aclDataType>::value, "");
static_assert(ACL_STRING == 13 && std::is_same<decltype(ACL_STRING), aclDataType>::value, "");
static_assert(ACL_COMPLEX64 == 16 && std::is_same<decltype(ACL_COMPLEX64), aclDataType>::value, "");
static_assert(ACL_COMPLEX128 == 17 && std::is_same<decltype(ACL_COMPLEX128), aclDataType>::value, "");
static_assert(ACL_BF16 == 27 && std::is_same<decltype(ACL_BF16), aclDataType>::value, "");
static_assert(ACL_INT4 == 29 && std::is_same<decltype(ACL_INT4), aclDataType>::value, "");
static_assert(ACL_UINT1 == 30 && std::is_same<decltype(ACL_UINT1), aclDataType>::value, "");
static_assert(ACL_COMPLEX32 == 33 && std::is_same<decltype(ACL_COMPLEX32), aclDataType>::value, "");
static_assert(ACL_HIFLOAT8 == 34 && std::is_same<decltype(ACL_HIFLOAT8), aclDataType>::value, "");
static_assert(ACL_FLOAT8_E5M2 == 35 && std::is_same<decltype(ACL_FLOAT8_E5M2), aclDataType>::value, "");
static_assert(ACL_FLOAT8_E4M3FN == 36 && std::is_same<decltype(ACL_FLOAT8_E4M3FN), aclDataType>::value, "");
static_assert(ACL_FLOAT8_E8M0 == 37 && std::is_same<decltype(ACL_FLOAT8_E8M0), aclDataType>::value, "");
static_assert(ACL_FLOAT6_E3M2 == 38 && std::is_same<decltype(ACL_FLOAT6_E3M2), aclDataType>::value, "");
static_assert(ACL_FLOAT6_E2M3 == 39 && std::is_same<decltype(ACL_FLOAT6_E2M3), aclDataType>::value, "");
static_assert(ACL_FLOAT4_E2M1 == 40 && std::is_same<decltype(ACL_FLOAT4_E2M1), aclDataType>::value, "");
static_assert(ACL_FLOAT4_E1M2 == 41 && std::is_same<decltype(ACL_FLOAT4_E1M2), aclDataType>::value, "");

// aclFormat
static_assert(ACL_FORMAT_UNDEFINED == -1 && std::is_same<decltype(ACL_FORMAT_UNDEFINED), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_NCHW == 0 && std::is_same<decltype(ACL_FORMAT_NCHW), aclFormat>::value, "");
static_assert(ACL_FORMAT_NHWC == 1 && std::is_same<decltype(ACL_FORMAT_NHWC), aclFormat>::value, "");
static_assert(ACL_FORMAT_ND == 2 && std::is_same<decltype(ACL_FORMAT_ND), aclFormat>::value, "");
static_assert(ACL_FORMAT_NC1HWC0 == 3 && std::is_same<decltype(ACL_FORMAT_NC1HWC0), aclFormat>::value, "");
static_assert(ACL_FORMAT_FRACTAL_Z == 4 && std::is_same<decltype(ACL_FORMAT_FRACTAL_Z), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_NC1HWC0_C04 == 12 &&
                  std::is_same<decltype(ACL_FORMAT_NC1HWC0_C04), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_HWCN == 16 && std::is_same<decltype(ACL_FORMAT_HWCN), aclFormat>::value, "");
static_assert(ACL_FORMAT_NDHWC == 27 && std::is_same<decltype(ACL_FORMAT_NDHWC), aclFormat>::value, "");
static_assert(ACL_FORMAT_FRACTAL_NZ == 29 && std::is_same<decltype(ACL_FORMAT_FRACTAL_NZ), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_NCDHW == 30 && std::is_same<decltype(ACL_FORMAT_NCDHW), aclFormat>::value, "");
static_assert(ACL_FORMAT_NDC1HWC0 == 32 && std::is_same<decltype(ACL_FORMAT_NDC1HWC0), aclFormat>::value, "");
static_assert(ACL_FRACTAL_Z_3D == 33 && std::is_same<decltype(ACL_FRACTAL_Z_3D), aclFormat>::value, "");
static_assert(ACL_FORMAT_NC == 35 && std::is_same<decltype(ACL_FORMAT_NC), aclFormat>::value, "");
static_assert(ACL_FORMAT_NCL == 47 && std::is_same<decltype(ACL_FORMAT_NCL), aclFormat>::value, "");
static_assert(ACL_FORMAT_FRACTAL_NZ_C0_16 == 50 &&
                  std::is_same<decltype(ACL_FORMAT_FRACTAL_NZ_C0_16), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_FRACTAL_NZ_C0_32 == 51 &&
                  std::is_same<decltype(ACL_FORMAT_FRACTAL_NZ_C0_32), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_FRACTAL_NZ_C0_2 == 52 &&
                  std::is_same<decltype(ACL_FORMAT_FRACTAL_NZ_C0_2), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_FRACTAL_NZ_C0_4 == 53 &&
                  std::is_same<decltype(ACL_FORMAT_FRACTAL_NZ_C0_4), aclFormat>::value,
              "");
static_assert(ACL_FORMAT_FRACTAL_NZ_C0_8 == 54 &&
                  std::is_same<decltype(ACL_FORMAT_FRACTAL_NZ_C0_8), aclFormat>::value,
              "");

// aclrtMemMallocPolicy
static_assert(ACL_MEM_MALLOC_HUGE_FIRST == 0 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_HUGE_FIRST), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_MALLOC_HUGE_ONLY == 1 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_HUGE_ONLY), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_MALLOC_NORMAL_ONLY == 2 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_NORMAL_ONLY), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_MALLOC_HUGE_FIRST_P2P == 3 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_HUGE_FIRST_P2P), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_MALLOC_HUGE_ONLY_P2P == 4 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_HUGE_ONLY_P2P), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_MALLOC_NORMAL_ONLY_P2P == 5 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_NORMAL_ONLY_P2P), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_MALLOC_HUGE1G_ONLY == 6 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_HUGE1G_ONLY), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_MALLOC_HUGE1G_ONLY_P2P == 7 &&
                  std::is_same<decltype(ACL_MEM_MALLOC_HUGE1G_ONLY_P2P), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_TYPE_LOW_BAND_WIDTH == 256 &&
                  std::is_same<decltype(ACL_MEM_TYPE_LOW_BAND_WIDTH), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_TYPE_HIGH_BAND_WIDTH == 4096 &&
                  std::is_same<decltype(ACL_MEM_TYPE_HIGH_BAND_WIDTH), aclrtMemMallocPolicy>::value,
              "");
static_assert(ACL_MEM_ACCESS_USER_SPACE_READONLY == 1048576 &&
                  std::is_same<decltype(ACL_MEM_ACCESS_USER_SPACE_READONLY), aclrtMemMallocPolicy>::value,
              "");

// aclrtMemcpyKind
static_assert(ACL_MEMCPY_HOST_TO_HOST == 0 &&
                  std::is_same<decltype(ACL_MEMCPY_HOST_TO_HOST), aclrtMemcpyKind>::value,
              "");
static_assert(ACL_MEMCPY_HOST_TO_DEVICE == 1 &&
                  std::is_same<decltype(ACL_MEMCPY_HOST_TO_DEVICE), aclrtMemcpyKind>::value,
              "");
static_assert(ACL_MEMCPY_DEVICE_TO_HOST == 2 &&
                  std::is_same<decltype(ACL_MEMCPY_DEVICE_TO_HOST), aclrtMemcpyKind>::value,
              "");
static_assert(ACL_MEMCPY_DEVICE_TO_DEVICE == 3 &&
                  std::is_same<decltype(ACL_MEMCPY_DEVICE_TO_DEVICE), aclrtMemcpyKind>::value,
              "");
static_assert(ACL_MEMCPY_DEFAULT == 4 && std::is_same<decltype(ACL_MEMCPY_DEFAULT), aclrtMemcpyKind>::value,
              "");
static_assert(ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE == 5 &&
                  std::is_same<decltype(ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE), aclrtMemcpyKind>::value,
              "");
static_assert(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE == 6 &&
                  std::is_same<decltype(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE), aclrtMemcpyKind>::value,
              "");
static_assert(ACL_MEMCPY_INTER_DEVICE_TO_DEVICE == 7 &&
                  std::is_same<decltype(ACL_MEMCPY_INTER_DEVICE_TO_DEVICE), aclrtMemcpyKind>::value,
              "");

// aclrtRunMode
static_assert(ACL_DEVICE == 0 && std::is_same<decltype(ACL_DEVICE), aclrtRunMode>::value, "");
static_assert(ACL_HOST == 1 && std::is_same<decltype(ACL_HOST), aclrtRunMode>::value, "");

// aclrtEventStatus
static_assert(ACL_EVENT_STATUS_COMPLETE == 0 &&
                  std::is_same<decltype(ACL_EVENT_STATUS_COMPLETE), aclrtEventStatus>::value,
              "");
static_assert(ACL_EVENT_STATUS_NOT_READY == 1 &&
                  std::is_same<decltype(ACL_EVENT_STATUS_NOT_READY), aclrtEventStatus>::value,
              "");
static_assert(ACL_EVENT_STATUS_RESERVED == 2 &&
                  std::is_same<decltype(ACL_EVENT_STATUS_RESERVED), aclrtEventStatus>::value,
              "");

// aclrtEventRecordedStatus
static_assert(
    ACL_EVENT_RECORDED_STATUS_NOT_READY == 0 &&
        std::is_same<decltype(ACL_EVENT_RECORDED_STATUS_NOT_READY), aclrtEventRecordedStatus>::value,
    "");
static_assert(ACL_EVENT_RECORDED_STATUS_COMPLETE == 1 &&
                  std::is_same<decltype(ACL_EVENT_RECORDED_STATUS_COMPLETE), aclrtEventRecordedStatus>::value,
              "");

// aclrtEventWaitStatus
static_assert(ACL_EVENT_WAIT_STATUS_COMPLETE == 0 &&
                  std::is_same<decltype(ACL_EVENT_WAIT_STATUS_COMPLETE), aclrtEventWaitStatus>::value,
              "");
static_assert(ACL_EVENT_WAIT_STATUS_NOT_READY == 1 &&
                  std::is_same<decltype(ACL_EVENT_WAIT_STATUS_NOT_READY), aclrtEventWaitStatus>::value,
              "");
static_assert(ACL_EVENT_WAIT_STATUS_RESERVED == 65535 &&
                  std::is_same<decltype(ACL_EVENT_WAIT_STATUS_RESERVED), aclrtEventWaitStatus>::value,
              "");

// aclrtStreamStatus
static_assert(ACL_STREAM_STATUS_COMPLETE == 0 &&
                  std::is_same<decltype(ACL_STREAM_STATUS_COMPLETE), aclrtStreamStatus>::value,
              "");
static_assert(ACL_STREAM_STATUS_NOT_READY == 1 &&
                  std::is_same<decltype(ACL_STREAM_STATUS_NOT_READY), aclrtStreamStatus>::value,
              "");
static_assert(ACL_STREAM_STATUS_RESERVED == 65535 &&
                  std::is_same<decltype(ACL_STREAM_STATUS_RESERVED), aclrtStreamStatus>::value,
              "");

// aclrtCallbackBlockType
static_assert(ACL_CALLBACK_NO_BLOCK == 0 &&
                  std::is_same<decltype(ACL_CALLBACK_NO_BLOCK), aclrtCallbackBlockType>::value,
              "");
static_assert(ACL_CALLBACK_BLOCK == 1 &&
                  std::is_same<decltype(ACL_CALLBACK_BLOCK), aclrtCallbackBlockType>::value,
              "");

// aclrtDeviceStatus
static_assert(ACL_RT_DEVICE_STATUS_NORMAL == 0 &&
                  std::is_same<decltype(ACL_RT_DEVICE_STATUS_NORMAL), aclrtDeviceStatus>::value,
              "");
static_assert(ACL_RT_DEVICE_STATUS_ABNORMAL == 1 &&
                  std::is_same<decltype(ACL_RT_DEVICE_STATUS_ABNORMAL), aclrtDeviceStatus>::value,
              "");
static_assert(ACL_RT_DEVICE_STATUS_END == 65535 &&
                  std::is_same<decltype(ACL_RT_DEVICE_STATUS_END), aclrtDeviceStatus>::value,
              "");

// aclrtTsId
static_assert(ACL_TS_ID_AICORE == 0 && std::is_same<decltype(ACL_TS_ID_AICORE), aclrtTsId>::value, "");
static_assert(ACL_TS_ID_AIVECTOR == 1 && std::is_same<decltype(ACL_TS_ID_AIVECTOR), aclrtTsId>::value, "");
static_assert(ACL_TS_ID_RESERVED == 2 && std::is_same<decltype(ACL_TS_ID_RESERVED), aclrtTsId>::value, "");

// aclrtFloatOverflowMode
static_assert(ACL_RT_OVERFLOW_MODE_SATURATION == 0 &&
                  std::is_same<decltype(ACL_RT_OVERFLOW_MODE_SATURATION), aclrtFloatOverflowMode>::value,
              "");
static_assert(ACL_RT_OVERFLOW_MODE_INFNAN == 1 &&
                  std::is_same<decltype(ACL_RT_OVERFLOW_MODE_INFNAN), aclrtFloatOverflowMode>::value,
              "");
static_assert(ACL_RT_OVERFLOW_MODE_UNDEF == 2 &&
                  std::is_same<decltype(ACL_RT_OVERFLOW_MODE_UNDEF), aclrtFloatOverflowMode>::value,
              "");

// aclrtMemAttr
static_assert(ACL_DDR_MEM == 0 && std::is_same<decltype(ACL_DDR_MEM), aclrtMemAttr>::value, "");
static_assert(ACL_HBM_MEM == 1 && std::is_same<decltype(ACL_HBM_MEM), aclrtMemAttr>::value, "");
static_assert(ACL_DDR_MEM_HUGE == 2 && std::is_same<decltype(ACL_DDR_MEM_HUGE), aclrtMemAttr>::value, "");
static_assert(ACL_DDR_MEM_NORMAL == 3 && std::is_same<decltype(ACL_DDR_MEM_NORMAL), aclrtMemAttr>::value, "");
static_assert(ACL_HBM_MEM_HUGE == 4 && std::is_same<decltype(ACL_HBM_MEM_HUGE), aclrtMemAttr>::value, "");
static_assert(ACL_HBM_MEM_NORMAL == 5 && std::is_same<decltype(ACL_HBM_MEM_NORMAL), aclrtMemAttr>::value, "");
static_assert(ACL_DDR_MEM_P2P_HUGE == 6 && std::is_same<decltype(ACL_DDR_MEM_P2P_HUGE), aclrtMemAttr>::value,
              "");
static_assert(ACL_DDR_MEM_P2P_NORMAL == 7 &&
                  std::is_same<decltype(ACL_DDR_MEM_P2P_NORMAL), aclrtMemAttr>::value,
              "");
static_assert(ACL_HBM_MEM_P2P_HUGE == 8 && std::is_same<decltype(ACL_HBM_MEM_P2P_HUGE), aclrtMemAttr>::value,
              "");
static_assert(ACL_HBM_MEM_P2P_NORMAL == 9 &&
                  std::is_same<decltype(ACL_HBM_MEM_P2P_NORMAL), aclrtMemAttr>::value,
              "");
static_assert(ACL_HBM_MEM_HUGE1G == 10 && std::is_same<decltype(ACL_HBM_MEM_HUGE1G), aclrtMemAttr>::value,
              "");
static_assert(ACL_HBM_MEM_P2P_HUGE1G == 11 &&
                  std::is_same<decltype(ACL_HBM_MEM_P2P_HUGE1G), aclrtMemAttr>::value,
              "");
static_assert(ACL_MEM_NORMAL == 12 && std::is_same<decltype(ACL_MEM_NORMAL), aclrtMemAttr>::value, "");
static_assert(ACL_MEM_HUGE == 13 && std::is_same<decltype(ACL_MEM_HUGE), aclrtMemAttr>::value, "");
static_assert(ACL_MEM_HUGE1G == 14 && std::is_same<decltype(ACL_MEM_HUGE1G), aclrtMemAttr>::value, "");
static_assert(ACL_MEM_P2P_NORMAL == 15 && std::is_same<decltype(ACL_MEM_P2P_NORMAL), aclrtMemAttr>::value,
              "");
static_assert(ACL_MEM_P2P_HUGE == 16 && std::is_same<decltype(ACL_MEM_P2P_HUGE), aclrtMemAttr>::value, "");
static_assert(ACL_MEM_P2P_HUGE1G == 17 && std::is_same<decltype(ACL_MEM_P2P_HUGE1G), aclrtMemAttr>::value,
              "");

// aclrtMemLocationType
static_assert(ACL_MEM_LOCATION_TYPE_HOST == 0 &&
                  std::is_same<decltype(ACL_MEM_LOCATION_TYPE_HOST), aclrtMemLocationType>::value,
              "");
static_assert(ACL_MEM_LOCATION_TYPE_DEVICE == 1 &&
                  std::is_same<decltype(ACL_MEM_LOCATION_TYPE_DEVICE), aclrtMemLocationType>::value,
              "");
static_assert(ACL_MEM_LOCATION_TYPE_UNREGISTERED == 2 &&
                  std::is_same<decltype(ACL_MEM_LOCATION_TYPE_UNREGISTERED), aclrtMemLocationType>::value,
              "");
static_assert(ACL_MEM_LOCATION_TYPE_MANAGED == 3 &&
                  std::is_same<decltype(ACL_MEM_LOCATION_TYPE_MANAGED), aclrtMemLocationType>::value,
              "");
static_assert(ACL_MEM_LOCATION_TYPE_HOST_NUMA == 4 &&
                  std::is_same<decltype(ACL_MEM_LOCATION_TYPE_HOST_NUMA), aclrtMemLocationType>::value,
              "");

// aclrtHostRegisterType
static_assert(ACL_HOST_REGISTER_MAPPED == 0 &&
                  std::is_same<decltype(ACL_HOST_REGISTER_MAPPED), aclrtHostRegisterType>::value,
              "");
static_assert(ACL_HOST_REGISTER_IOMEMORY == 4 &&
                  std::is_same<decltype(ACL_HOST_REGISTER_IOMEMORY), aclrtHostRegisterType>::value,
              "");
static_assert(ACL_HOST_REGISTER_READONLY == 8 &&
                  std::is_same<decltype(ACL_HOST_REGISTER_READONLY), aclrtHostRegisterType>::value,
              "");

// aclrtMallocAttrType
static_assert(ACL_RT_MEM_ATTR_RSV == 0 &&
                  std::is_same<decltype(ACL_RT_MEM_ATTR_RSV), aclrtMallocAttrType>::value,
              "");
static_assert(ACL_RT_MEM_ATTR_MODULE_ID == 1 &&
                  std::is_same<decltype(ACL_RT_MEM_ATTR_MODULE_ID), aclrtMallocAttrType>::value,
              "");
static_assert(ACL_RT_MEM_ATTR_DEVICE_ID == 2 &&
                  std::is_same<decltype(ACL_RT_MEM_ATTR_DEVICE_ID), aclrtMallocAttrType>::value,
              "");
static_assert(ACL_RT_MEM_ATTR_VA_FLAG == 3 &&
                  std::is_same<decltype(ACL_RT_MEM_ATTR_VA_FLAG), aclrtMallocAttrType>::value,
              "");

// aclrtStreamAttr
static_assert(ACL_STREAM_ATTR_FAILURE_MODE == 1 &&
                  std::is_same<decltype(ACL_STREAM_ATTR_FAILURE_MODE), aclrtStreamAttr>::value,
              "");
static_assert(ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK == 2 &&
                  std::is_same<decltype(ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK), aclrtStreamAttr>::value,
              "");
static_assert(ACL_STREAM_ATTR_USER_CUSTOM_TAG == 3 &&
                  std::is_same<decltype(ACL_STREAM_ATTR_USER_CUSTOM_TAG), aclrtStreamAttr>::value,
              "");
static_assert(ACL_STREAM_ATTR_CACHE_OP_INFO == 4 &&
                  std::is_same<decltype(ACL_STREAM_ATTR_CACHE_OP_INFO), aclrtStreamAttr>::value,
              "");
static_assert(ACL_STREAM_ATTR_PRIORITY == 5 &&
                  std::is_same<decltype(ACL_STREAM_ATTR_PRIORITY), aclrtStreamAttr>::value,
              "");

// aclrtStreamConfigAttr
static_assert(ACL_RT_STREAM_WORK_ADDR_PTR == 0 &&
                  std::is_same<decltype(ACL_RT_STREAM_WORK_ADDR_PTR), aclrtStreamConfigAttr>::value,
              "");
static_assert(ACL_RT_STREAM_WORK_SIZE == 1 &&
                  std::is_same<decltype(ACL_RT_STREAM_WORK_SIZE), aclrtStreamConfigAttr>::value,
              "");
static_assert(ACL_RT_STREAM_FLAG == 2 &&
                  std::is_same<decltype(ACL_RT_STREAM_FLAG), aclrtStreamConfigAttr>::value,
              "");
static_assert(ACL_RT_STREAM_PRIORITY == 3 &&
                  std::is_same<decltype(ACL_RT_STREAM_PRIORITY), aclrtStreamConfigAttr>::value,
              "");

// aclrtDevAttr
static_assert(ACL_DEV_ATTR_AICPU_CORE_NUM == 1 &&
                  std::is_same<decltype(ACL_DEV_ATTR_AICPU_CORE_NUM), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_AICORE_CORE_NUM == 101 &&
                  std::is_same<decltype(ACL_DEV_ATTR_AICORE_CORE_NUM), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_CUBE_CORE_NUM == 102 &&
                  std::is_same<decltype(ACL_DEV_ATTR_CUBE_CORE_NUM), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_VECTOR_CORE_NUM == 201 &&
                  std::is_same<decltype(ACL_DEV_ATTR_VECTOR_CORE_NUM), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_WARP_SIZE == 202 &&
                  std::is_same<decltype(ACL_DEV_ATTR_WARP_SIZE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE == 203 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_THREAD_PER_VECTOR_CORE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE == 204 &&
                  std::is_same<decltype(ACL_DEV_ATTR_LOCAL_MEM_PER_VECTOR_CORE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE == 204 &&
                  std::is_same<decltype(ACL_DEV_ATTR_UBUF_PER_VECTOR_CORE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_GRID_DIM_X == 205 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_GRID_DIM_X), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_GRID_DIM_Y == 206 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_GRID_DIM_Y), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_GRID_DIM_Z == 207 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_GRID_DIM_Z), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_BLOCK_PER_GRID == 208 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_BLOCK_PER_GRID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK == 209 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_THREADS_PER_BLOCK), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_BLOCK_DIM_X == 210 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_BLOCK_DIM_X), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_BLOCK_DIM_Y == 211 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_BLOCK_DIM_Y), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAX_BLOCK_DIM_Z == 212 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAX_BLOCK_DIM_Z), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE == 301 &&
                  std::is_same<decltype(ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_L2_CACHE_SIZE == 302 &&
                  std::is_same<decltype(ACL_DEV_ATTR_L2_CACHE_SIZE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_SMP_ID == 401 && std::is_same<decltype(ACL_DEV_ATTR_SMP_ID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_PHY_CHIP_ID == 402 &&
                  std::is_same<decltype(ACL_DEV_ATTR_PHY_CHIP_ID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID == 403 &&
                  std::is_same<decltype(ACL_DEV_ATTR_SUPER_POD_DEVIDE_ID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_SUPER_POD_DEVICE_ID == 403 &&
                  std::is_same<decltype(ACL_DEV_ATTR_SUPER_POD_DEVICE_ID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_SUPER_POD_SERVER_ID == 404 &&
                  std::is_same<decltype(ACL_DEV_ATTR_SUPER_POD_SERVER_ID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_SUPER_POD_ID == 405 &&
                  std::is_same<decltype(ACL_DEV_ATTR_SUPER_POD_ID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_CUST_OP_PRIVILEGE == 406 &&
                  std::is_same<decltype(ACL_DEV_ATTR_CUST_OP_PRIVILEGE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_MAINBOARD_ID == 407 &&
                  std::is_same<decltype(ACL_DEV_ATTR_MAINBOARD_ID), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_HD_CONNECT_TYPE == 408 &&
                  std::is_same<decltype(ACL_DEV_ATTR_HD_CONNECT_TYPE), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_DEVICE_FORM_FACTOR == 409 &&
                  std::is_same<decltype(ACL_DEV_ATTR_DEVICE_FORM_FACTOR), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_IS_VIRTUAL == 501 &&
                  std::is_same<decltype(ACL_DEV_ATTR_IS_VIRTUAL), aclrtDevAttr>::value,
              "");
static_assert(ACL_DEV_ATTR_NPU_ARCH == 601 &&
                  std::is_same<decltype(ACL_DEV_ATTR_NPU_ARCH), aclrtDevAttr>::value,
              "");

// aclrtDevResLimitType
static_assert(ACL_RT_DEV_RES_CUBE_CORE == 0 &&
                  std::is_same<decltype(ACL_RT_DEV_RES_CUBE_CORE), aclrtDevResLimitType>::value,
              "");
static_assert(ACL_RT_DEV_RES_VECTOR_CORE == 1 &&
                  std::is_same<decltype(ACL_RT_DEV_RES_VECTOR_CORE), aclrtDevResLimitType>::value,
              "");

// aclrtDevFeatureType
static_assert(
    ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV == 1 &&
        std::is_same<decltype(ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV), aclrtDevFeatureType>::value,
    "");
static_assert(ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV == 21 &&
                  std::is_same<decltype(ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV), aclrtDevFeatureType>::value,
              "");

// aclDeviceInfo
static_assert(ACL_DEVICE_INFO_UNDEFINED == -1 &&
                  std::is_same<decltype(ACL_DEVICE_INFO_UNDEFINED), aclDeviceInfo>::value,
              "");
static_assert(ACL_DEVICE_INFO_AI_CORE_NUM == 0 &&
                  std::is_same<decltype(ACL_DEVICE_INFO_AI_CORE_NUM), aclDeviceInfo>::value,
              "");
static_assert(ACL_DEVICE_INFO_VECTOR_CORE_NUM == 1 &&
                  std::is_same<decltype(ACL_DEVICE_INFO_VECTOR_CORE_NUM), aclDeviceInfo>::value,
              "");
static_assert(ACL_DEVICE_INFO_L2_SIZE == 2 &&
                  std::is_same<decltype(ACL_DEVICE_INFO_L2_SIZE), aclDeviceInfo>::value,
              "");

// aclCannAttr
static_assert(ACL_CANN_ATTR_UNDEFINED == -1 &&
                  std::is_same<decltype(ACL_CANN_ATTR_UNDEFINED), aclCannAttr>::value,
              "");
static_assert(ACL_CANN_ATTR_INF_NAN == 0 && std::is_same<decltype(ACL_CANN_ATTR_INF_NAN), aclCannAttr>::value,
              "");
static_assert(ACL_CANN_ATTR_BF16 == 1 && std::is_same<decltype(ACL_CANN_ATTR_BF16), aclCannAttr>::value, "");
static_assert(ACL_CANN_ATTR_JIT_COMPILE == 2 &&
                  std::is_same<decltype(ACL_CANN_ATTR_JIT_COMPILE), aclCannAttr>::value,
              "");

// aclSysParamOpt
static_assert(ACL_OPT_DETERMINISTIC == 0 &&
                  std::is_same<decltype(ACL_OPT_DETERMINISTIC), aclSysParamOpt>::value,
              "");
static_assert(ACL_OPT_ENABLE_DEBUG_KERNEL == 1 &&
                  std::is_same<decltype(ACL_OPT_ENABLE_DEBUG_KERNEL), aclSysParamOpt>::value,
              "");
static_assert(ACL_OPT_STRONG_CONSISTENCY == 2 &&
                  std::is_same<decltype(ACL_OPT_STRONG_CONSISTENCY), aclSysParamOpt>::value,
              "");
static_assert(ACL_OPT_ENABLE_KERNEL_EARLY_START == 3 &&
                  std::is_same<decltype(ACL_OPT_ENABLE_KERNEL_EARLY_START), aclSysParamOpt>::value,
              "");

// aclLogLevel
static_assert(ACL_DEBUG == 0 && std::is_same<decltype(ACL_DEBUG), aclLogLevel>::value, "");
static_assert(ACL_INFO == 1 && std::is_same<decltype(ACL_INFO), aclLogLevel>::value, "");
static_assert(ACL_WARNING == 2 && std::is_same<decltype(ACL_WARNING), aclLogLevel>::value, "");
static_assert(ACL_ERROR == 3 && std::is_same<decltype(ACL_ERROR), aclLogLevel>::value, "");

// aclMemType
static_assert(ACL_MEMTYPE_DEVICE == 0 && std::is_same<decltype(ACL_MEMTYPE_DEVICE), aclMemType>::value, "");
static_assert(ACL_MEMTYPE_HOST == 1 && std::is_same<decltype(ACL_MEMTYPE_HOST), aclMemType>::value, "");
static_assert(ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT == 2 &&
                  std::is_same<decltype(ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT), aclMemType>::value,
              "");

// aclrtLastErrLevel
static_assert(ACL_RT_THREAD_LEVEL == 0 &&
                  std::is_same<decltype(ACL_RT_THREAD_LEVEL), aclrtLastErrLevel>::value,
              "");

// aclrtCmoType
static_assert(ACL_RT_CMO_TYPE_PREFETCH == 0 &&
                  std::is_same<decltype(ACL_RT_CMO_TYPE_PREFETCH), aclrtCmoType>::value,
              "");
static_assert(ACL_RT_CMO_TYPE_WRITEBACK == 1 &&
                  std::is_same<decltype(ACL_RT_CMO_TYPE_WRITEBACK), aclrtCmoType>::value,
              "");
static_assert(ACL_RT_CMO_TYPE_INVALID == 2 &&
                  std::is_same<decltype(ACL_RT_CMO_TYPE_INVALID), aclrtCmoType>::value,
              "");
static_assert(ACL_RT_CMO_TYPE_FLUSH == 3 &&
                  std::is_same<decltype(ACL_RT_CMO_TYPE_FLUSH), aclrtCmoType>::value,
              "");

// aclrtReduceKind
static_assert(ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM == 10 &&
                  std::is_same<decltype(ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM), aclrtReduceKind>::value,
              "");
static_assert(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX == 11 &&
                  std::is_same<decltype(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX), aclrtReduceKind>::value,
              "");
static_assert(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN == 12 &&
                  std::is_same<decltype(ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN), aclrtReduceKind>::value,
              "");
static_assert(ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL == 13 &&
                  std::is_same<decltype(ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL), aclrtReduceKind>::value,
              "");

// aclCANNPackageName
static_assert(ACL_PKG_NAME_CANN == 0 && std::is_same<decltype(ACL_PKG_NAME_CANN), aclCANNPackageName>::value,
              "");
static_assert(ACL_PKG_NAME_RUNTIME == 1 &&
                  std::is_same<decltype(ACL_PKG_NAME_RUNTIME), aclCANNPackageName>::value,
              "");
static_assert(ACL_PKG_NAME_COMPILER == 2 &&
                  std::is_same<decltype(ACL_PKG_NAME_COMPILER), aclCANNPackageName>::value,
              "");
static_assert(ACL_PKG_NAME_HCCL == 3 && std::is_same<decltype(ACL_PKG_NAME_HCCL), aclCANNPackageName>::value,
              "");
static_assert(ACL_PKG_NAME_TOOLKIT == 4 &&
                  std::is_same<decltype(ACL_PKG_NAME_TOOLKIT), aclCANNPackageName>::value,
              "");
static_assert(ACL_PKG_NAME_OPP == 5 && std::is_same<decltype(ACL_PKG_NAME_OPP), aclCANNPackageName>::value,
              "");
static_assert(ACL_PKG_NAME_OPP_KERNEL == 6 &&
                  std::is_same<decltype(ACL_PKG_NAME_OPP_KERNEL), aclCANNPackageName>::value,
              "");
static_assert(ACL_PKG_NAME_DRIVER == 7 &&
                  std::is_same<decltype(ACL_PKG_NAME_DRIVER), aclCANNPackageName>::value,
              "");

// aclRegisterCallbackType
static_assert(ACL_REG_TYPE_ACL_MODEL == 0 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_MODEL), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_ACL_OP_EXECUTOR == 1 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_OP_EXECUTOR), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_ACL_OP_CBLAS == 2 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_OP_CBLAS), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_ACL_OP_COMPILER == 3 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_OP_COMPILER), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_ACL_TDT_CHANNEL == 4 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_TDT_CHANNEL), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_ACL_TDT_QUEUE == 5 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_TDT_QUEUE), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_ACL_DVPP == 6 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_DVPP), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_ACL_RETR == 7 &&
                  std::is_same<decltype(ACL_REG_TYPE_ACL_RETR), aclRegisterCallbackType>::value,
              "");
static_assert(ACL_REG_TYPE_OTHER == 65535 &&
                  std::is_same<decltype(ACL_REG_TYPE_OTHER), aclRegisterCallbackType>::value,
              "");

// aclrtErrorType
static_assert(ACL_RT_NO_ERROR == 0 && std::is_same<decltype(ACL_RT_NO_ERROR), aclrtErrorType>::value, "");
static_assert(ACL_RT_ERROR_MEMORY == 1 && std::is_same<decltype(ACL_RT_ERROR_MEMORY), aclrtErrorType>::value,
              "");
static_assert(ACL_RT_ERROR_L2 == 2 && std::is_same<decltype(ACL_RT_ERROR_L2), aclrtErrorType>::value, "");
static_assert(ACL_RT_ERROR_AICORE == 3 && std::is_same<decltype(ACL_RT_ERROR_AICORE), aclrtErrorType>::value,
              "");
static_assert(ACL_RT_ERROR_LINK == 4 && std::is_same<decltype(ACL_RT_ERROR_LINK), aclrtErrorType>::value, "");
static_assert(ACL_RT_ERROR_L3_PORT == 5 &&
                  std::is_same<decltype(ACL_RT_ERROR_L3_PORT), aclrtErrorType>::value,
              "");
static_assert(ACL_RT_ERROR_OTHERS == 65535 &&
                  std::is_same<decltype(ACL_RT_ERROR_OTHERS), aclrtErrorType>::value,
              "");

// aclmdlRICaptureMode
static_assert(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL == 0 &&
                  std::is_same<decltype(ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), aclmdlRICaptureMode>::value,
              "");
static_assert(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL == 1 &&
                  std::is_same<decltype(ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), aclmdlRICaptureMode>::value,
              "");
static_assert(ACL_MODEL_RI_CAPTURE_MODE_RELAXED == 2 &&
                  std::is_same<decltype(ACL_MODEL_RI_CAPTURE_MODE_RELAXED), aclmdlRICaptureMode>::value,
              "");

// aclmdlRICaptureStatus
static_assert(ACL_MODEL_RI_CAPTURE_STATUS_NONE == 0 &&
                  std::is_same<decltype(ACL_MODEL_RI_CAPTURE_STATUS_NONE), aclmdlRICaptureStatus>::value,
              "");
static_assert(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE == 1 &&
                  std::is_same<decltype(ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE), aclmdlRICaptureStatus>::value,
              "");
static_assert(
    ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED == 2 &&
        std::is_same<decltype(ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED), aclmdlRICaptureStatus>::value,
    "");

// aclrtMemHandleType
static_assert(ACL_MEM_HANDLE_TYPE_NONE == 0 &&
                  std::is_same<decltype(ACL_MEM_HANDLE_TYPE_NONE), aclrtMemHandleType>::value,
              "");
static_assert(ACL_MEM_HANDLE_TYPE_POSIX == 2 &&
                  std::is_same<decltype(ACL_MEM_HANDLE_TYPE_POSIX), aclrtMemHandleType>::value,
              "");

// aclrtMemAllocationType
static_assert(ACL_MEM_ALLOCATION_TYPE_PINNED == 0 &&
                  std::is_same<decltype(ACL_MEM_ALLOCATION_TYPE_PINNED), aclrtMemAllocationType>::value,
              "");

// aclrtMemGranularityOptions
static_assert(
    ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM == 0 &&
        std::is_same<decltype(ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM), aclrtMemGranularityOptions>::value,
    "");
static_assert(
    ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED == 1 &&
        std::is_same<decltype(ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED), aclrtMemGranularityOptions>::value,
    "");
static_assert(
    ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF == 65535 &&
        std::is_same<decltype(ACL_RT_MEM_ALLOC_GRANULARITY_UNDEF), aclrtMemGranularityOptions>::value,
    "");

// Codes of acl_base_rt.h
static_assert(ACL_ERROR_NONE == 0 && std::is_same<decltype(ACL_ERROR_NONE), const int>::value, "");
static_assert(ACL_SUCCESS == 0 && std::is_same<decltype(ACL_SUCCESS), const int>::value, "");
static_assert(ACL_ERROR_INVALID_PARAM == 100000 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_PARAM), const int>::value,
              "");
static_assert(ACL_ERROR_UNINITIALIZE == 100001 &&
                  std::is_same<decltype(ACL_ERROR_UNINITIALIZE), const int>::value,
              "");
static_assert(ACL_ERROR_REPEAT_INITIALIZE == 100002 &&
                  std::is_same<decltype(ACL_ERROR_REPEAT_INITIALIZE), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_FILE == 100003 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_FILE), const int>::value,
              "");
static_assert(ACL_ERROR_WRITE_FILE == 100004 &&
                  std::is_same<decltype(ACL_ERROR_WRITE_FILE), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_FILE_SIZE == 100005 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_FILE_SIZE), const int>::value,
              "");
static_assert(ACL_ERROR_PARSE_FILE == 100006 &&
                  std::is_same<decltype(ACL_ERROR_PARSE_FILE), const int>::value,
              "");
static_assert(ACL_ERROR_FILE_MISSING_ATTR == 100007 &&
                  std::is_same<decltype(ACL_ERROR_FILE_MISSING_ATTR), const int>::value,
              "");
static_assert(ACL_ERROR_FILE_ATTR_INVALID == 100008 &&
                  std::is_same<decltype(ACL_ERROR_FILE_ATTR_INVALID), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_DUMP_CONFIG == 100009 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_DUMP_CONFIG), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_PROFILING_CONFIG == 100010 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_PROFILING_CONFIG), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_MODEL_ID == 100011 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_MODEL_ID), const int>::value,
              "");
static_assert(ACL_ERROR_DESERIALIZE_MODEL == 100012 &&
                  std::is_same<decltype(ACL_ERROR_DESERIALIZE_MODEL), const int>::value,
              "");
static_assert(ACL_ERROR_PARSE_MODEL == 100013 &&
                  std::is_same<decltype(ACL_ERROR_PARSE_MODEL), const int>::value,
              "");
static_assert(ACL_ERROR_READ_MODEL_FAILURE == 100014 &&
                  std::is_same<decltype(ACL_ERROR_READ_MODEL_FAILURE), const int>::value,
              "");
static_assert(ACL_ERROR_MODEL_SIZE_INVALID == 100015 &&
                  std::is_same<decltype(ACL_ERROR_MODEL_SIZE_INVALID), const int>::value,
              "");
static_assert(ACL_ERROR_MODEL_MISSING_ATTR == 100016 &&
                  std::is_same<decltype(ACL_ERROR_MODEL_MISSING_ATTR), const int>::value,
              "");
static_assert(ACL_ERROR_MODEL_INPUT_NOT_MATCH == 100017 &&
                  std::is_same<decltype(ACL_ERROR_MODEL_INPUT_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_MODEL_OUTPUT_NOT_MATCH == 100018 &&
                  std::is_same<decltype(ACL_ERROR_MODEL_OUTPUT_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_MODEL_NOT_DYNAMIC == 100019 &&
                  std::is_same<decltype(ACL_ERROR_MODEL_NOT_DYNAMIC), const int>::value,
              "");
static_assert(ACL_ERROR_OP_TYPE_NOT_MATCH == 100020 &&
                  std::is_same<decltype(ACL_ERROR_OP_TYPE_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_OP_INPUT_NOT_MATCH == 100021 &&
                  std::is_same<decltype(ACL_ERROR_OP_INPUT_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_OP_OUTPUT_NOT_MATCH == 100022 &&
                  std::is_same<decltype(ACL_ERROR_OP_OUTPUT_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_OP_ATTR_NOT_MATCH == 100023 &&
                  std::is_same<decltype(ACL_ERROR_OP_ATTR_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_OP_NOT_FOUND == 100024 &&
                  std::is_same<decltype(ACL_ERROR_OP_NOT_FOUND), const int>::value,
              "");
static_assert(ACL_ERROR_OP_LOAD_FAILED == 100025 &&
                  std::is_same<decltype(ACL_ERROR_OP_LOAD_FAILED), const int>::value,
              "");
static_assert(ACL_ERROR_UNSUPPORTED_DATA_TYPE == 100026 &&
                  std::is_same<decltype(ACL_ERROR_UNSUPPORTED_DATA_TYPE), const int>::value,
              "");
static_assert(ACL_ERROR_FORMAT_NOT_MATCH == 100027 &&
                  std::is_same<decltype(ACL_ERROR_FORMAT_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED == 100028 &&
                  std::is_same<decltype(ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED), const int>::value,
              "");
static_assert(ACL_ERROR_KERNEL_NOT_FOUND == 100029 &&
                  std::is_same<decltype(ACL_ERROR_KERNEL_NOT_FOUND), const int>::value,
              "");
static_assert(ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED == 100030 &&
                  std::is_same<decltype(ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED), const int>::value,
              "");
static_assert(ACL_ERROR_KERNEL_ALREADY_REGISTERED == 100031 &&
                  std::is_same<decltype(ACL_ERROR_KERNEL_ALREADY_REGISTERED), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_QUEUE_ID == 100032 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_QUEUE_ID), const int>::value,
              "");
static_assert(ACL_ERROR_REPEAT_SUBSCRIBE == 100033 &&
                  std::is_same<decltype(ACL_ERROR_REPEAT_SUBSCRIBE), const int>::value,
              "");
static_assert(ACL_ERROR_STREAM_NOT_SUBSCRIBE == 100034 &&
                  std::is_same<decltype(ACL_ERROR_STREAM_NOT_SUBSCRIBE), const int>::value,
              "");
static_assert(ACL_ERROR_THREAD_NOT_SUBSCRIBE == 100035 &&
                  std::is_same<decltype(ACL_ERROR_THREAD_NOT_SUBSCRIBE), const int>::value,
              "");
static_assert(ACL_ERROR_WAIT_CALLBACK_TIMEOUT == 100036 &&
                  std::is_same<decltype(ACL_ERROR_WAIT_CALLBACK_TIMEOUT), const int>::value,
              "");
static_assert(ACL_ERROR_REPEAT_FINALIZE == 100037 &&
                  std::is_same<decltype(ACL_ERROR_REPEAT_FINALIZE), const int>::value,
              "");
static_assert(ACL_ERROR_NOT_STATIC_AIPP == 100038 &&
                  std::is_same<decltype(ACL_ERROR_NOT_STATIC_AIPP), const int>::value,
              "");
static_assert(ACL_ERROR_COMPILING_STUB_MODE == 100039 &&
                  std::is_same<decltype(ACL_ERROR_COMPILING_STUB_MODE), const int>::value,
              "");
static_assert(ACL_ERROR_GROUP_NOT_SET == 100040 &&
                  std::is_same<decltype(ACL_ERROR_GROUP_NOT_SET), const int>::value,
              "");
static_assert(ACL_ERROR_GROUP_NOT_CREATE == 100041 &&
                  std::is_same<decltype(ACL_ERROR_GROUP_NOT_CREATE), const int>::value,
              "");
static_assert(ACL_ERROR_PROF_ALREADY_RUN == 100042 &&
                  std::is_same<decltype(ACL_ERROR_PROF_ALREADY_RUN), const int>::value,
              "");
static_assert(ACL_ERROR_PROF_NOT_RUN == 100043 &&
                  std::is_same<decltype(ACL_ERROR_PROF_NOT_RUN), const int>::value,
              "");
static_assert(ACL_ERROR_DUMP_ALREADY_RUN == 100044 &&
                  std::is_same<decltype(ACL_ERROR_DUMP_ALREADY_RUN), const int>::value,
              "");
static_assert(ACL_ERROR_DUMP_NOT_RUN == 100045 &&
                  std::is_same<decltype(ACL_ERROR_DUMP_NOT_RUN), const int>::value,
              "");
static_assert(ACL_ERROR_PROF_REPEAT_SUBSCRIBE == 148046 &&
                  std::is_same<decltype(ACL_ERROR_PROF_REPEAT_SUBSCRIBE), const int>::value,
              "");
static_assert(ACL_ERROR_PROF_API_CONFLICT == 148047 &&
                  std::is_same<decltype(ACL_ERROR_PROF_API_CONFLICT), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG == 148048 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_OPP_PATH == 148049 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_OPP_PATH), const int>::value,
              "");
static_assert(ACL_ERROR_OP_UNSUPPORTED_DYNAMIC == 148050 &&
                  std::is_same<decltype(ACL_ERROR_OP_UNSUPPORTED_DYNAMIC), const int>::value,
              "");
static_assert(ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED == 148051 &&
                  std::is_same<decltype(ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED), const int>::value,
              "");
static_assert(ACL_ERROR_UNSUPPORTED_JPEG == 148052 &&
                  std::is_same<decltype(ACL_ERROR_UNSUPPORTED_JPEG), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_BUNDLE_MODEL_ID == 148053 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_BUNDLE_MODEL_ID), const int>::value,
              "");
static_assert(ACL_ERROR_BAD_ALLOC == 200000 && std::is_same<decltype(ACL_ERROR_BAD_ALLOC), const int>::value,
              "");
static_assert(ACL_ERROR_API_NOT_SUPPORT == 200001 &&
                  std::is_same<decltype(ACL_ERROR_API_NOT_SUPPORT), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_DEVICE == 200002 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_DEVICE), const int>::value,
              "");
static_assert(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED == 200003 &&
                  std::is_same<decltype(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED), const int>::value,
              "");
static_assert(ACL_ERROR_RESOURCE_NOT_MATCH == 200004 &&
                  std::is_same<decltype(ACL_ERROR_RESOURCE_NOT_MATCH), const int>::value,
              "");
static_assert(ACL_ERROR_INVALID_RESOURCE_HANDLE == 200005 &&
                  std::is_same<decltype(ACL_ERROR_INVALID_RESOURCE_HANDLE), const int>::value,
              "");
static_assert(ACL_ERROR_FEATURE_UNSUPPORTED == 200006 &&
                  std::is_same<decltype(ACL_ERROR_FEATURE_UNSUPPORTED), const int>::value,
              "");
static_assert(ACL_ERROR_PROF_MODULES_UNSUPPORTED == 200007 &&
                  std::is_same<decltype(ACL_ERROR_PROF_MODULES_UNSUPPORTED), const int>::value,
              "");
static_assert(ACL_ERROR_STORAGE_OVER_LIMIT == 300000 &&
                  std::is_same<decltype(ACL_ERROR_STORAGE_OVER_LIMIT), const int>::value,
              "");
static_assert(ACL_ERROR_INTERNAL_ERROR == 500000 &&
                  std::is_same<decltype(ACL_ERROR_INTERNAL_ERROR), const int>::value,
              "");
static_assert(ACL_ERROR_FAILURE == 500001 && std::is_same<decltype(ACL_ERROR_FAILURE), const int>::value, "");
static_assert(ACL_ERROR_GE_FAILURE == 500002 &&
                  std::is_same<decltype(ACL_ERROR_GE_FAILURE), const int>::value,
              "");
static_assert(ACL_ERROR_RT_FAILURE == 500003 &&
                  std::is_same<decltype(ACL_ERROR_RT_FAILURE), const int>::value,
              "");
static_assert(ACL_ERROR_DRV_FAILURE == 500004 &&
                  std::is_same<decltype(ACL_ERROR_DRV_FAILURE), const int>::value,
              "");
static_assert(ACL_ERROR_PROFILING_FAILURE == 500005 &&
                  std::is_same<decltype(ACL_ERROR_PROFILING_FAILURE), const int>::value,
              "");

// Codes of error_codes/rt_error_codes.h
static_assert(ACL_RT_SUCCESS == 0, "");
static_assert(ACL_ERROR_RT_PARAM_INVALID == 107000, "");
static_assert(ACL_ERROR_RT_INVALID_DEVICEID == 107001, "");
static_assert(ACL_ERROR_RT_CONTEXT_NULL == 107002, "");
static_assert(ACL_ERROR_RT_STREAM_CONTEXT == 107003, "");
static_assert(ACL_ERROR_RT_MODEL_CONTEXT == 107004, "");
static_assert(ACL_ERROR_RT_STREAM_MODEL == 107005, "");
static_assert(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID == 107006, "");
static_assert(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL == 107007, "");
static_assert(ACL_ERROR_RT_ADDR_UNALIGNED == 107008, "");
static_assert(ACL_ERROR_RT_FILE_OPEN == 107009, "");
static_assert(ACL_ERROR_RT_FILE_WRITE == 107010, "");
static_assert(ACL_ERROR_RT_STREAM_SUBSCRIBE == 107011, "");
static_assert(ACL_ERROR_RT_THREAD_SUBSCRIBE == 107012, "");
static_assert(ACL_ERROR_RT_GROUP_NOT_SET == 107013, "");
static_assert(ACL_ERROR_RT_GROUP_NOT_CREATE == 107014, "");
static_assert(ACL_ERROR_RT_STREAM_NO_CB_REG == 107015, "");
static_assert(ACL_ERROR_RT_INVALID_MEMORY_TYPE == 107016, "");
static_assert(ACL_ERROR_RT_INVALID_HANDLE == 107017, "");
static_assert(ACL_ERROR_RT_INVALID_MALLOC_TYPE == 107018, "");
static_assert(ACL_ERROR_RT_WAIT_TIMEOUT == 107019, "");
static_assert(ACL_ERROR_RT_TASK_TIMEOUT == 107020, "");
static_assert(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET == 107021, "");
static_assert(ACL_ERROR_RT_DEVICE_TASK_ABORT == 107022, "");
static_assert(ACL_ERROR_RT_STREAM_ABORT == 107023, "");
static_assert(ACL_ERROR_RT_CAPTURE_DEPENDENCY == 107024, "");
static_assert(ACL_ERROR_RT_STREAM_UNJOINED == 107025, "");
static_assert(ACL_ERROR_RT_MODEL_CAPTURED == 107026, "");
static_assert(ACL_ERROR_RT_STREAM_CAPTURED == 107027, "");
static_assert(ACL_ERROR_RT_EVENT_CAPTURED == 107028, "");
static_assert(ACL_ERROR_RT_STREAM_NOT_CAPTURED == 107029, "");
static_assert(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT == 107030, "");
static_assert(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT == 107031, "");
static_assert(ACL_ERROR_STREAM_CAPTURE_CONFLICT == 107032, "");
static_assert(ACL_ERROR_STREAM_TASK_GROUP_STATUS == 107033, "");
static_assert(ACL_ERROR_STREAM_TASK_GROUP_INTR == 107034, "");
static_assert(ACL_ERROR_RT_TASK_ABORT_STOP == 107035, "");
static_assert(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED == 107036, "");
static_assert(ACL_ERROR_RT_MODEL_RUNNING == 107037, "");
static_assert(ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD == 107038, "");
static_assert(ACL_ERROR_RT_INSUFFICIENT_INPUT_ARRAY == 107039, "");
static_assert(ACL_ERROR_RT_MODEL_UPDATE_FAILED == 107040, "");
static_assert(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC == 107041, "");
static_assert(ACL_ERROR_RT_SYMBOL_NOT_FOUND == 107042, "");
static_assert(ACL_ERROR_RT_INVALID_SYMBOL == 107043, "");
static_assert(ACL_ERROR_RT_INVALID_DEVICE_FUNCTION == 107044, "");
static_assert(ACL_ERROR_RT_SUB_ACLGRAPH_IS_CAPTURING == 107045, "");
static_assert(ACL_ERROR_RT_FEATURE_NOT_SUPPORT == 207000, "");
static_assert(ACL_ERROR_RT_MEMORY_ALLOCATION == 207001, "");
static_assert(ACL_ERROR_RT_MEMORY_FREE == 207002, "");
static_assert(ACL_ERROR_RT_AICORE_OVER_FLOW == 207003, "");
static_assert(ACL_ERROR_RT_NO_DEVICE == 207004, "");
static_assert(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL == 207005, "");
static_assert(ACL_ERROR_RT_NO_PERMISSION == 207006, "");
static_assert(ACL_ERROR_RT_NO_EVENT_RESOURCE == 207007, "");
static_assert(ACL_ERROR_RT_NO_STREAM_RESOURCE == 207008, "");
static_assert(ACL_ERROR_RT_NO_NOTIFY_RESOURCE == 207009, "");
static_assert(ACL_ERROR_RT_NO_MODEL_RESOURCE == 207010, "");
static_assert(ACL_ERROR_RT_NO_CDQ_RESOURCE == 207011, "");
static_assert(ACL_ERROR_RT_OVER_LIMIT == 207012, "");
static_assert(ACL_ERROR_RT_QUEUE_EMPTY == 207013, "");
static_assert(ACL_ERROR_RT_QUEUE_FULL == 207014, "");
static_assert(ACL_ERROR_RT_REPEATED_INIT == 207015, "");
static_assert(ACL_ERROR_RT_AIVEC_OVER_FLOW == 207016, "");
static_assert(ACL_ERROR_RT_OVER_FLOW == 207017, "");
static_assert(ACL_ERROR_RT_DEVICE_OOM == 207018, "");
static_assert(ACL_ERROR_RT_FEATURE_NOT_SUPPORT_UPDATE_OP == 207019, "");
static_assert(ACL_ERROR_RT_TIMEOUT == 207020, "");
static_assert(ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED == 207021, "");
static_assert(ACL_ERROR_RT_INTERNAL_ERROR == 507000, "");
static_assert(ACL_ERROR_RT_TS_ERROR == 507001, "");
static_assert(ACL_ERROR_RT_STREAM_TASK_FULL == 507002, "");
static_assert(ACL_ERROR_RT_STREAM_TASK_EMPTY == 507003, "");
static_assert(ACL_ERROR_RT_STREAM_NOT_COMPLETE == 507004, "");
static_assert(ACL_ERROR_RT_END_OF_SEQUENCE == 507005, "");
static_assert(ACL_ERROR_RT_EVENT_NOT_COMPLETE == 507006, "");
static_assert(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR == 507007, "");
static_assert(ACL_ERROR_RT_SOC_VERSION == 507008, "");
static_assert(ACL_ERROR_RT_TASK_TYPE_NOT_SUPPORT == 507009, "");
static_assert(ACL_ERROR_RT_LOST_HEARTBEAT == 507010, "");
static_assert(ACL_ERROR_RT_MODEL_EXECUTE == 507011, "");
static_assert(ACL_ERROR_RT_REPORT_TIMEOUT == 507012, "");
static_assert(ACL_ERROR_RT_SYS_DMA == 507013, "");
static_assert(ACL_ERROR_RT_AICORE_TIMEOUT == 507014, "");
static_assert(ACL_ERROR_RT_AICORE_EXCEPTION == 507015, "");
static_assert(ACL_ERROR_RT_AICORE_TRAP_EXCEPTION == 507016, "");
static_assert(ACL_ERROR_RT_AICPU_TIMEOUT == 507017, "");
static_assert(ACL_ERROR_RT_AICPU_EXCEPTION == 507018, "");
static_assert(ACL_ERROR_RT_AICPU_DATADUMP_RSP_ERR == 507019, "");
static_assert(ACL_ERROR_RT_AICPU_MODEL_RSP_ERR == 507020, "");
static_assert(ACL_ERROR_RT_PROFILING_ERROR == 507021, "");
static_assert(ACL_ERROR_RT_IPC_ERROR == 507022, "");
static_assert(ACL_ERROR_RT_MODEL_ABORT_NORMAL == 507023, "");
static_assert(ACL_ERROR_RT_KERNEL_UNREGISTERING == 507024, "");
static_assert(ACL_ERROR_RT_RINGBUFFER_NOT_INIT == 507025, "");
static_assert(ACL_ERROR_RT_RINGBUFFER_NO_DATA == 507026, "");
static_assert(ACL_ERROR_RT_KERNEL_LOOKUP == 507027, "");
static_assert(ACL_ERROR_RT_KERNEL_DUPLICATE == 507028, "");
static_assert(ACL_ERROR_RT_DEBUG_REGISTER_FAIL == 507029, "");
static_assert(ACL_ERROR_RT_DEBUG_UNREGISTER_FAIL == 507030, "");
static_assert(ACL_ERROR_RT_LABEL_CONTEXT == 507031, "");
static_assert(ACL_ERROR_RT_PROGRAM_USE_OUT == 507032, "");
static_assert(ACL_ERROR_RT_DEV_SETUP_ERROR == 507033, "");
static_assert(ACL_ERROR_RT_VECTOR_CORE_TIMEOUT == 507034, "");
static_assert(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION == 507035, "");
static_assert(ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION == 507036, "");
static_assert(ACL_ERROR_RT_CDQ_BATCH_ABNORMAL == 507037, "");
static_assert(ACL_ERROR_RT_DIE_MODE_CHANGE_ERROR == 507038, "");
static_assert(ACL_ERROR_RT_DIE_SET_ERROR == 507039, "");
static_assert(ACL_ERROR_RT_INVALID_DIEID == 507040, "");
static_assert(ACL_ERROR_RT_DIE_MODE_NOT_SET == 507041, "");
static_assert(ACL_ERROR_RT_AICORE_TRAP_READ_OVERFLOW == 507042, "");
static_assert(ACL_ERROR_RT_AICORE_TRAP_WRITE_OVERFLOW == 507043, "");
static_assert(ACL_ERROR_RT_VECTOR_CORE_TRAP_READ_OVERFLOW == 507044, "");
static_assert(ACL_ERROR_RT_VECTOR_CORE_TRAP_WRITE_OVERFLOW == 507045, "");
static_assert(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT == 507046, "");
static_assert(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT == 507047, "");
static_assert(ACL_ERROR_RT_FFTS_PLUS_TIMEOUT == 507048, "");
static_assert(ACL_ERROR_RT_FFTS_PLUS_EXCEPTION == 507049, "");
static_assert(ACL_ERROR_RT_FFTS_PLUS_TRAP_EXCEPTION == 507050, "");
static_assert(ACL_ERROR_RT_SEND_MSG == 507051, "");
static_assert(ACL_ERROR_RT_COPY_DATA == 507052, "");
static_assert(ACL_ERROR_RT_DEVICE_MEM_ERROR == 507053, "");
static_assert(ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR == 507054, "");
static_assert(ACL_ERROR_RT_SUSPECT_DEVICE_MEM_ERROR == 507055, "");
static_assert(ACL_ERROR_RT_LINK_ERROR == 507056, "");
static_assert(ACL_ERROR_RT_SUSPECT_REMOTE_ERROR == 507057, "");
static_assert(ACL_ERROR_RT_DRV_INTERNAL_ERROR == 507899, "");
static_assert(ACL_ERROR_RT_AICPU_INTERNAL_ERROR == 507900, "");
static_assert(ACL_ERROR_RT_SOCKET_CLOSE == 507901, "");
static_assert(ACL_ERROR_RT_AICPU_INFO_LOAD_RSP_ERR == 507902, "");
static_assert(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED == 507903, "");
static_assert(ACL_ERROR_RT_COMM_OP_RETRY_FAIL == 507904, "");
static_assert(ACL_ERROR_SNAPSHOT_LOCK_TIMEOUT == 507905, "");
static_assert(ACL_ERROR_SNAPSHOT_LOCK_FAILED == 507906, "");
static_assert(ACL_ERROR_SNAPSHOT_UNLOCK_FAILED == 507907, "");
static_assert(ACL_ERROR_SNAPSHOT_BACKUP_FAILED == 507908, "");
static_assert(ACL_ERROR_SNAPSHOT_RESTORE_FAILED == 507909, "");
static_assert(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED == 507910, "");
static_assert(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED == 507911, "");
static_assert(ACL_ERROR_SNAPSHOT_CALLBACK_FAILED == 507912, "");
static_assert(ACL_ERROR_SNAPSHOT_REGISTER_CALLBACK_FAILED == 507913, "");
static_assert(ACL_ERROR_RT_L3_PORT_ERROR == 507914, "");
static_assert(ACL_ERROR_RT_CCU_TIMEOUT == 507915, "");
static_assert(ACL_ERROR_RT_CCU_EXCEPTION == 507916, "");

// Codes of error_codes/ge_error_codes.h
static_assert(ACL_ERROR_GE_PARAM_INVALID == 145000 &&
                  std::is_same<decltype(ACL_ERROR_GE_PARAM_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_EXEC_NOT_INIT == 145001 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_NOT_INIT), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID == 145002 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID == 145003 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID == 145006 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_MODEL_DATA_SIZE_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID == 145007 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_MODEL_ADDR_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID == 145008 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_MODEL_QUEUE_ID_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED == 145009 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_LOAD_MODEL_REPEATED), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID == 145011 &&
                  std::is_same<decltype(ACL_ERROR_GE_DYNAMIC_INPUT_ADDR_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID == 145012 &&
                  std::is_same<decltype(ACL_ERROR_GE_DYNAMIC_INPUT_LENGTH_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID == 145013 &&
                  std::is_same<decltype(ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_AIPP_BATCH_EMPTY == 145014 &&
                  std::is_same<decltype(ACL_ERROR_GE_AIPP_BATCH_EMPTY), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_AIPP_NOT_EXIST == 145015 &&
                  std::is_same<decltype(ACL_ERROR_GE_AIPP_NOT_EXIST), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_AIPP_MODE_INVALID == 145016 &&
                  std::is_same<decltype(ACL_ERROR_GE_AIPP_MODE_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_OP_TASK_TYPE_INVALID == 145017 &&
                  std::is_same<decltype(ACL_ERROR_GE_OP_TASK_TYPE_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID == 145018 &&
                  std::is_same<decltype(ACL_ERROR_GE_OP_KERNEL_TYPE_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_PLGMGR_PATH_INVALID == 145019 &&
                  std::is_same<decltype(ACL_ERROR_GE_PLGMGR_PATH_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_FORMAT_INVALID == 145020 &&
                  std::is_same<decltype(ACL_ERROR_GE_FORMAT_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_SHAPE_INVALID == 145021 &&
                  std::is_same<decltype(ACL_ERROR_GE_SHAPE_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_DATATYPE_INVALID == 145022 &&
                  std::is_same<decltype(ACL_ERROR_GE_DATATYPE_INVALID), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_MEMORY_ALLOCATION == 245000 &&
                  std::is_same<decltype(ACL_ERROR_GE_MEMORY_ALLOCATION), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_MEMORY_OPERATE_FAILED == 245001 &&
                  std::is_same<decltype(ACL_ERROR_GE_MEMORY_OPERATE_FAILED), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED == 245002 &&
                  std::is_same<decltype(ACL_ERROR_GE_DEVICE_MEMORY_OPERATE_FAILED), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_SUBHEALTHY == 345102 &&
                  std::is_same<decltype(ACL_ERROR_GE_SUBHEALTHY), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_USER_RAISE_EXCEPTION == 345103 &&
                  std::is_same<decltype(ACL_ERROR_GE_USER_RAISE_EXCEPTION), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_DATA_NOT_ALIGNED == 345104 &&
                  std::is_same<decltype(ACL_ERROR_GE_DATA_NOT_ALIGNED), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_INTERNAL_ERROR == 545000 &&
                  std::is_same<decltype(ACL_ERROR_GE_INTERNAL_ERROR), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_LOAD_MODEL == 545001 &&
                  std::is_same<decltype(ACL_ERROR_GE_LOAD_MODEL), const uint32_t>::value,
              "");
static_assert(
    ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED == 545002 &&
        std::is_same<decltype(ACL_ERROR_GE_EXEC_LOAD_MODEL_PARTITION_FAILED), const uint32_t>::value,
    "");
static_assert(
    ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED == 545003 &&
        std::is_same<decltype(ACL_ERROR_GE_EXEC_LOAD_WEIGHT_PARTITION_FAILED), const uint32_t>::value,
    "");
static_assert(ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED == 545004 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_LOAD_TASK_PARTITION_FAILED), const uint32_t>::value,
              "");
static_assert(
    ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED == 545005 &&
        std::is_same<decltype(ACL_ERROR_GE_EXEC_LOAD_KERNEL_PARTITION_FAILED), const uint32_t>::value,
    "");
static_assert(ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA == 545006 &&
                  std::is_same<decltype(ACL_ERROR_GE_EXEC_RELEASE_MODEL_DATA), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_COMMAND_HANDLE == 545007 &&
                  std::is_same<decltype(ACL_ERROR_GE_COMMAND_HANDLE), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_GET_TENSOR_INFO == 545008 &&
                  std::is_same<decltype(ACL_ERROR_GE_GET_TENSOR_INFO), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_UNLOAD_MODEL == 545009 &&
                  std::is_same<decltype(ACL_ERROR_GE_UNLOAD_MODEL), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT == 545601 &&
                  std::is_same<decltype(ACL_ERROR_GE_MODEL_EXECUTE_TIMEOUT), const uint32_t>::value,
              "");
static_assert(ACL_ERROR_GE_REDEPLOYING == 545602 &&
                  std::is_same<decltype(ACL_ERROR_GE_REDEPLOYING), const uint32_t>::value,
              "");

// Codes of aclnn/opdev/op_errno.h
static_assert(ACLNN_SUCCESS == 0, "");
static_assert(ACLNN_ERR_PARAM_NULLPTR == 161001, "");
static_assert(ACLNN_ERR_PARAM_INVALID == 161002, "");
static_assert(ACLNN_ERR_RUNTIME_ERROR == 361001, "");
static_assert(ACLNN_ERR_INNER == 561000, "");
static_assert(ACLNN_ERR_INNER_INFERSHAPE_ERROR == 561001, "");
static_assert(ACLNN_ERR_INNER_TILING_ERROR == 561002, "");
static_assert(ACLNN_ERR_INNER_FIND_KERNEL_ERROR == 561003, "");
static_assert(ACLNN_ERR_INNER_CREATE_EXECUTOR == 561101, "");
static_assert(ACLNN_ERR_INNER_NOT_TRANS_EXECUTOR == 561102, "");
static_assert(ACLNN_ERR_INNER_NULLPTR == 561103, "");
static_assert(ACLNN_ERR_INNER_WRONG_ATTR_INFO_SIZE == 561104, "");
static_assert(ACLNN_ERR_INNER_KEY_CONFLICT == 561105, "");
static_assert(ACLNN_ERR_INNER_INVALID_IMPL_MODE == 561106, "");
static_assert(ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND == 561107, "");
static_assert(ACLNN_ERR_INNER_LOAD_JSON_FAILED == 561108, "");
static_assert(ACLNN_ERR_INNER_JSON_VALUE_NOT_FOUND == 561109, "");
static_assert(ACLNN_ERR_INNER_JSON_FORMAT_INVALID == 561110, "");
static_assert(ACLNN_ERR_INNER_JSON_DTYPE_INVALID == 561111, "");
static_assert(ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND == 561112, "");
static_assert(ACLNN_ERR_INNER_OP_FILE_INVALID == 561113, "");
static_assert(ACLNN_ERR_INNER_ATTR_NUM_OUT_OF_BOUND == 561114, "");
static_assert(ACLNN_ERR_INNER_ATTR_LEN_NOT_ENOUGH == 561115, "");
static_assert(ACLNN_ERR_INNER_INPUT_NUM_IN_JSON_TOO_LARGE == 561116, "");
static_assert(ACLNN_ERR_INNER_INPUT_JSON_IS_NULL == 561117, "");
static_assert(ACLNN_ERR_INNER_STATIC_WORKSPACE_INVALID == 561118, "");
static_assert(ACLNN_ERR_INNER_STATIC_BLOCK_DIM_INVALID == 561119, "");

static_assert(ACLNN_ERR_INNER_KEY_CONFILICT == 561105, "the old spelling");

// Flags
static_assert(ACL_STREAM_FAST_LAUNCH == 0x1, "");
static_assert(ACL_STREAM_FAST_SYNC == 0x2, "");
static_assert(ACL_STREAM_PERSISTENT == 0x4, "");
static_assert(ACL_STREAM_HUGE == 0x8, "");
static_assert(ACL_STREAM_CPU_SCHEDULE == 0x10, "");
static_assert(ACL_STREAM_DEVICE_USE_ONLY == 0x20, "");
static_assert(ACL_EVENT_SYNC == 0x1, "");
static_assert(ACL_EVENT_CAPTURE_STREAM_PROGRESS == 0x2, "");
static_assert(ACL_EVENT_TIME_LINE == 0x8, "");
static_assert(ACL_EVENT_DEVICE_USE_ONLY == 0x10, "");
static_assert(ACL_EVENT_EXTERNAL == 0x20, "");
static_assert(ACL_EVENT_IPC == 0x40, "");
static_assert(ACL_EVENT_RECORD_DEFAULT == 0, "");
static_assert(ACL_EVENT_WAIT_DEFAULT == 0, "");
static_assert(ACL_EVENT_RECORD_EXTERNAL == 1, "");
static_assert(ACL_EVENT_WAIT_EXTERNAL == 1, "");
static_assert(ACL_CONTINUE_ON_FAILURE == 0, "");
static_assert(ACL_STOP_ON_FAILURE == 1, "");
static_assert(ACL_STREAM_WAIT_VALUE_GEQ == 0, "");
static_assert(ACL_STREAM_WAIT_VALUE_EQ == 1, "");
static_assert(ACL_STREAM_WAIT_VALUE_AND == 2, "");
static_assert(ACL_STREAM_WAIT_VALUE_NOR == 3, "");
static_assert(ACL_RT_MEM_ATTACH_GLOBAL == 1, "");
static_assert(ACL_HOST_REG_MAPPED == 0x2, "");
static_assert(ACL_HOST_REG_IOMEMORY == 0x4, "");
static_assert(ACL_HOST_REG_READONLY == 0x8, "");
static_assert(ACL_HOST_REG_PINNED == 0x10000000, "");
static_assert(ACL_PKG_VERSION_MAX_SIZE == 128, "");

// Types whose size or kind is part of the binary interface
static_assert(std::is_same<aclError, int>::value, "");
static_assert(std::is_same<aclnnStatus, int32_t>::value, "");
static_assert(std::is_same<aclFloat16, uint16_t>::value, "");
static_assert(std::is_same<aclrtStream, void*>::value, "");
static_assert(std::is_same<aclrtEvent, void*>::value, "");
static_assert(std::is_same<aclrtContext, void*>::value, "");
static_assert(std::is_same<aclrtNotify, void*>::value, "");
static_assert(std::is_same<aclrtDrvMemHandle, void*>::value, "");
static_assert(std::is_same<aclmdlRI, void*>::value, "");
static_assert(std::is_same<decltype(OK), const aclnnStatus>::value && OK == 0, "");
static_assert(std::is_same<aclrtCallback, void (*)(void*)>::value, "");
static_assert(std::is_same<aclrtHostFunc, void (*)(void*)>::value, "");
static_assert(std::is_same<aclrtExceptionInfoCallback, void (*)(aclrtExceptionInfo*)>::value, "");
static_assert(std::is_same<aclInitCallbackFunc, aclError (*)(const char*, size_t, void*)>::value, "");
static_assert(std::is_same<aclFinalizeCallbackFunc, aclError (*)(void*)>::value, "");
static_assert(sizeof(aclDataType) == 4, "");
static_assert(sizeof(aclFormat) == 4, "");
static_assert(sizeof(aclrtMemMallocPolicy) == 4, "");
static_assert(sizeof(aclrtMemcpyKind) == 4, "");
static_assert(sizeof(aclrtRunMode) == 4, "");
static_assert(sizeof(aclrtEventStatus) == 4, "");
static_assert(sizeof(aclrtEventRecordedStatus) == 4, "");
static_assert(sizeof(aclrtEventWaitStatus) == 4, "");
static_assert(sizeof(aclrtStreamStatus) == 4, "");
static_assert(sizeof(aclrtCallbackBlockType) == 4, "");
static_assert(sizeof(aclrtDeviceStatus) == 4, "");
static_assert(sizeof(aclrtTsId) == 4, "");
static_assert(sizeof(aclrtFloatOverflowMode) == 4, "");
static_assert(sizeof(aclrtMemAttr) == 4, "");
static_assert(sizeof(aclrtMemLocationType) == 4, "");
static_assert(sizeof(aclrtHostRegisterType) == 4, "");
static_assert(sizeof(aclrtMallocAttrType) == 4, "");
static_assert(sizeof(aclrtStreamAttr) == 4, "");
static_assert(sizeof(aclrtStreamConfigAttr) == 4, "");
static_assert(sizeof(aclrtDevAttr) == 4, "");
static_assert(sizeof(aclrtDevResLimitType) == 4, "");
static_assert(sizeof(aclrtDevFeatureType) == 4, "");
static_assert(sizeof(aclDeviceInfo) == 4, "");
static_assert(sizeof(aclCannAttr) == 4, "");
static_assert(sizeof(aclSysParamOpt) == 4, "");
static_assert(sizeof(aclLogLevel) == 4, "");
static_assert(sizeof(aclMemType) == 4, "");
static_assert(sizeof(aclrtLastErrLevel) == 4, "");
static_assert(sizeof(aclrtCmoType) == 4, "");
static_assert(sizeof(aclrtReduceKind) == 4, "");
static_assert(sizeof(aclCANNPackageName) == 4, "");
static_assert(sizeof(aclRegisterCallbackType) == 4, "");
static_assert(sizeof(aclrtErrorType) == 4, "");
static_assert(sizeof(aclmdlRICaptureMode) == 4, "");
static_assert(sizeof(aclmdlRICaptureStatus) == 4, "");
static_assert(sizeof(aclrtMemHandleType) == 4, "");
static_assert(sizeof(aclrtMemAllocationType) == 4, "");
static_assert(sizeof(aclrtMemGranularityOptions) == 4, "");
