"""What pyACL's functions are made of (see _binding.py): the names are C's in snake case, without "acl" and "aclrt".

SPDX-License-Identifier: Apache-2.0
"""

ACL = {
    "init": "aclInit(text config_path?)",
    "finalize": "aclFinalize()",
    "get_soc_name": "aclrtGetSocName() -> text",
    "get_recent_err_msg": "aclGetRecentErrMsg() -> text",
    "data_type_size": "aclDataTypeSize(int data_type) -> size",
    "create_data_buffer": "aclCreateDataBuffer(pointer data, size size) -> pointer",
    "destroy_data_buffer": "aclDestroyDataBuffer(pointer data_buffer)",
    "get_data_buffer_addr": "aclGetDataBufferAddr(pointer data_buffer) -> pointer",
    "get_data_buffer_size": "aclGetDataBufferSizeV2(pointer data_buffer) -> size",
    "destroy_tensor_desc": "aclDestroyTensorDesc(pointer desc) -> none",
    "get_tensor_desc_type": "aclGetTensorDescType(pointer desc) -> int",
    "get_tensor_desc_format": "aclGetTensorDescFormat(pointer desc) -> int",
    "get_tensor_desc_size": "aclGetTensorDescSize(pointer desc) -> size",
    "get_tensor_desc_element_count": "aclGetTensorDescElementCount(pointer desc) -> size",
    "get_tensor_desc_num_dims": "aclGetTensorDescNumDims(pointer desc) -> size",
    "get_tensor_desc_dim_v2": "aclGetTensorDescDimV2(pointer desc, size index, *int64 dim)",
    "get_tensor_desc_name": "aclGetTensorDescName(pointer desc) -> text",
    "set_tensor_desc_name": "aclSetTensorDescName(pointer desc, text name) -> none",
}

# With the number of dims, which pyACL counts itself.
CREATE_TENSOR_DESC = "aclCreateTensorDesc(int data_type, int num_dims, dims dims, int format) -> pointer"

RT = {
    # devices
    "set_device": "aclrtSetDevice(int device)",
    "reset_device": "aclrtResetDevice(int device)",
    "reset_device_force": "aclrtResetDeviceForce(int device)",
    "get_device": "aclrtGetDevice(*int device)",
    "get_device_count": "aclrtGetDeviceCount(*uint count)",
    "get_device_info": "aclrtGetDeviceInfo(uint device, int attribute, *int64 value)",
    "query_device_status": "aclrtQueryDeviceStatus(int device, *int status)",
    "synchronize_device": "aclrtSynchronizeDevice()",
    "synchronize_device_with_timeout": "aclrtSynchronizeDeviceWithTimeout(int timeout)",
    "get_run_mode": "aclrtGetRunMode(*int run_mode)",
    "get_version": "aclrtGetVersion(*int major, *int minor, *int patch)",
    "get_soc_name": "aclrtGetSocName() -> text",
    "set_ts_device": "aclrtSetTsDevice(int ts_id)",
    "set_device_sat_mode": "aclrtSetDeviceSatMode(int mode)",
    "get_device_sat_mode": "aclrtGetDeviceSatMode(*int mode)",
    "device_can_access_peer": "aclrtDeviceCanAccessPeer(*int can_access, int device, int peer)",
    "device_enable_peer_access": "aclrtDeviceEnablePeerAccess(int peer, uint flags)",
    "device_disable_peer_access": "aclrtDeviceDisablePeerAccess(int peer)",
    "device_get_stream_priority_range": "aclrtDeviceGetStreamPriorityRange(*int least, *int greatest)",
    "set_op_wait_timeout": "aclrtSetOpWaitTimeout(uint timeout)",
    "set_op_execute_timeout": "aclrtSetOpExecuteTimeOut(uint timeout)",
    "peek_at_last_error": "aclrtPeekAtLastError(int level)",
    "get_last_error": "aclrtGetLastError(int level)",
    # contexts
    "create_context": "aclrtCreateContext(*pointer context, int device)",
    "destroy_context": "aclrtDestroyContext(pointer context)",
    "set_context": "aclrtSetCurrentContext(pointer context)",
    "get_context": "aclrtGetCurrentContext(*pointer context)",
    # streams
    "create_stream": "aclrtCreateStream(*pointer stream)",
    "create_stream_with_config": "aclrtCreateStreamWithConfig(*pointer stream, uint priority, uint flag)",
    "destroy_stream": "aclrtDestroyStream(pointer stream)",
    "destroy_stream_force": "aclrtDestroyStreamForce(pointer stream)",
    "stream_abort": "aclrtStreamAbort(pointer stream)",
    "stream_query": "aclrtStreamQuery(pointer stream, *int status)",
    "synchronize_stream": "aclrtSynchronizeStream(pointer stream)",
    "synchronize_stream_with_timeout": "aclrtSynchronizeStreamWithTimeout(pointer stream, int timeout)",
    "stream_wait_event": "aclrtStreamWaitEvent(pointer stream, pointer event)",
    "stream_get_id": "aclrtStreamGetId(pointer stream, *int id)",
    "get_stream_available_num": "aclrtGetStreamAvailableNum(*uint count)",
    "set_stream_failure_mode": "aclrtSetStreamFailureMode(pointer stream, uint64 mode)",
    # events
    "create_event": "aclrtCreateEvent(*pointer event)",
    "create_event_with_flag": "aclrtCreateEventWithFlag(*pointer event, uint flag)",
    "create_event_ex_with_flag": "aclrtCreateEventExWithFlag(*pointer event, uint flag)",
    "destroy_event": "aclrtDestroyEvent(pointer event)",
    "record_event": "aclrtRecordEvent(pointer event, pointer stream)",
    "reset_event": "aclrtResetEvent(pointer event, pointer stream)",
    "query_event": "aclrtQueryEvent(pointer event, *int status)",
    "query_event_status": "aclrtQueryEventStatus(pointer event, *int status)",
    "query_event_wait_status": "aclrtQueryEventWaitStatus(pointer event, *int status)",
    "synchronize_event": "aclrtSynchronizeEvent(pointer event)",
    "synchronize_event_with_timeout": "aclrtSynchronizeEventWithTimeout(pointer event, int timeout)",
    "event_elapsed_time": "aclrtEventElapsedTime(*float ms, pointer start, pointer end)",
    "get_event_id": "aclrtGetEventId(pointer event, *uint id)",
    # memory
    "malloc": "aclrtMalloc(*pointer address, size size, int policy)",
    "malloc_align32": "aclrtMallocAlign32(*pointer address, size size, int policy)",
    "malloc_cached": "aclrtMallocCached(*pointer address, size size, int policy)",
    "free": "aclrtFree(pointer address)",
    "malloc_host": "aclrtMallocHost(*pointer address, size size)",
    "free_host": "aclrtFreeHost(pointer address)",
    "memcpy": "aclrtMemcpy(pointer dst, size dest_max, pointer src, size count, int kind)",
    "memcpy_async": "aclrtMemcpyAsync(pointer dst, size dest_max, pointer src, size count, int kind, pointer stream)",
    "memcpy_2d": "aclrtMemcpy2d(pointer dst, size dpitch, pointer src, size spitch, size width, size height, int kind)",
    "memcpy_2d_async": (
        "aclrtMemcpy2dAsync(pointer dst, size dpitch, pointer src, size spitch, size width, size height, int kind, pointer stream)"
    ),
    "memset": "aclrtMemset(pointer address, size max_count, int value, size count)",
    "memset_async": "aclrtMemsetAsync(pointer address, size max_count, int value, size count, pointer stream)",
    "mem_flush": "aclrtMemFlush(pointer address, size size)",
    "mem_invalidate": "aclrtMemInvalidate(pointer address, size size)",
    "get_mem_info": "aclrtGetMemInfo(int attribute, *size free, *size total)",
    # functions of the host in streams, besides launch_callback
    "subscribe_report": "aclrtSubscribeReport(uint64 thread_id, pointer stream)",
    "unsubscribe_report": "aclrtUnSubscribeReport(uint64 thread_id, pointer stream)",
    "process_report": "aclrtProcessReport(int timeout)",
}

# Its first two parameters are a Python function and what it is called with.
LAUNCH_CALLBACK = "aclrtLaunchCallback(pointer function, pointer user_data, int block_type, pointer stream)"

OP = {
    "set_model_dir": "aclopSetModelDir(text model_dir)",
}
