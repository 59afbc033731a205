"""pyACL beside torch_npu in one process: one library, so that each sees what the other has."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import acl
import torch


def test_memory_of_a_tensor():
    numbers = torch.arange(6.0).npu()
    torch.npu.synchronize()
    host, ret = acl.rt.malloc_host(24)
    assert ret == 0 and acl.rt.memcpy(host, 24, numbers.data_ptr(), 24, 2) == 0
    assert acl.util.ptr_to_bytes(host, 24) == numbers.cpu().numpy().tobytes()
    sent = bytes(24)
    assert acl.rt.memcpy(numbers.data_ptr(), 24, acl.util.bytes_to_ptr(sent), 24, 1) == 0
    assert not numbers.cpu().any() and acl.rt.free_host(host) == 0


def test_device_and_stream():
    stream = torch.npu.Stream()
    with torch.npu.stream(stream):
        doubled = torch.ones(1000, device="npu") * 2
    assert acl.rt.synchronize_stream(stream.npu_stream) == 0 and acl.rt.stream_query(stream.npu_stream) == (0, 0)
    assert doubled.sum().item() == 2000
    assert acl.rt.get_device() == (torch.npu.current_device(), 0) and acl.get_soc_name() == torch.npu.get_device_name()
    assert acl.init() == 100002  # torch_npu has called it
