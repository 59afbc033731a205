#!/usr/bin/env python3
"""Network namespaces as hosts: a communicator over their interfaces, one of them cut off in the middle, and a new one of those that are left.

Usage: hosts_test.py LIB64 (ends with 77 where namespaces cannot be made)
SPDX-License-Identifier: Apache-2.0
"""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HOSTS = 3
COUNT = 200_000
FP32, SUM = 4, 0
LOST, TIME_OVER = 507057, 507047


def ip(*words, **options):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=60, **options)


def wait_for(path, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path} did not come"
        time.sleep(0.01)


class Rank:
    """What one host does, with the C interface alone."""

    def __init__(self, lib64, folder, rank):
        self.acl = ctypes.CDLL(f"{lib64}/libascendcl.so")
        self.hccl = ctypes.CDLL(f"{lib64}/libhccl.so")
        self.acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self.folder, self.rank = pathlib.Path(folder), rank
        self.stream = ctypes.c_void_p()
        assert self.acl.aclInit(None) == 0 and self.acl.aclrtSetDevice(0) == 0
        assert self.acl.aclrtCreateStream(ctypes.byref(self.stream)) == 0

    def text(self):
        return (self.acl.aclGetRecentErrMsg() or b"").decode()

    def join(self, name, size):
        """Rank 0's root information goes through a file: the program's own way."""
        info, path = ctypes.create_string_buffer(4108), self.folder / name
        if self.rank == 0:
            assert self.hccl.HcclGetRootInfo(info) == 0, self.text()
            path.with_suffix(".part").write_bytes(info.raw)
            path.with_suffix(".part").rename(path)
        wait_for(path)
        comm = ctypes.c_void_p()
        result = self.hccl.HcclCommInitRootInfo(size, path.read_bytes(), self.rank, ctypes.byref(comm))
        assert result == 0, f"{result}: {self.text()}"
        return comm

    def sum(self, comm):
        """(what the stream says, the first number and the last)"""
        data = (ctypes.c_float * COUNT)(*[self.rank + 1.0] * COUNT)
        assert self.hccl.HcclAllReduce(data, data, ctypes.c_uint64(COUNT), FP32, SUM, comm, self.stream) == 0, self.text()
        return self.acl.aclrtSynchronizeStream(self.stream), data[0], data[COUNT - 1]

    def run(self):
        comm = self.join("first", HOSTS)
        assert self.sum(comm) == (0, 6.0, 6.0)
        (self.folder / f"met{self.rank}").touch()
        wait_for(self.folder / "cut")
        begin = time.monotonic()
        status, *_ = self.sum(comm)
        assert status in (LOST, TIME_OVER), status
        assert time.monotonic() - begin < 30
        text = self.text()
        assert "HcclAllReduce" in text and "rank " in text, text
        error = ctypes.c_int()
        assert self.hccl.HcclGetCommAsyncError(comm, ctypes.byref(error)) == 0 and error.value != 0
        assert self.hccl.HcclCommDestroy(comm) == 0
        if self.rank < HOSTS - 1:
            comm = self.join("second", HOSTS - 1)
            assert self.sum(comm) == (0, 3.0, 3.0)
            assert self.hccl.HcclCommDestroy(comm) == 0


def main(lib64):
    names = [f"portacl{os.getpid()}-{rank}" for rank in range(HOSTS)]
    bridge = f"pb{os.getpid()}"
    try:
        if shutil.which("ip") is None:
            raise PermissionError("there is no ip")
        ip("netns", "add", names[0])
        ip("netns", "del", names[0])
    except (PermissionError, subprocess.CalledProcessError) as error:
        print(f"skipped: network namespaces cannot be made: {error}")
        return 77
    try:
        # The bridge, too, lies in a namespace: nothing of the machine's own network changes.
        ip("netns", "add", bridge)
        ip("-n", bridge, "link", "add", "br0", "type", "bridge")
        ip("-n", bridge, "link", "set", "br0", "up")
        for rank, name in enumerate(names):
            ip("netns", "add", name)
            ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", f"port{rank}", "netns", bridge)
            ip("-n", name, "addr", "add", f"10.77.0.{rank + 1}/24", "dev", "eth0")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", bridge, "link", "set", f"port{rank}", "master", "br0", "up")
        environment = {**os.environ, "HCCL_SOCKET_IFNAME": "=eth0", "HCCL_EXEC_TIMEOUT": "4", "HCCL_CONNECT_TIMEOUT": "60"}
        with tempfile.TemporaryDirectory() as folder:
            ranks = [
                subprocess.Popen(
                    ["ip", "netns", "exec", name, sys.executable, "-B", __file__, lib64, folder, str(rank)], env=environment
                )
                for rank, name in enumerate(names)
            ]
            for rank in range(HOSTS):
                wait_for(pathlib.Path(folder) / f"met{rank}")
            ip("-n", bridge, "link", "set", f"port{HOSTS - 1}", "down")
            (pathlib.Path(folder) / "cut").touch()
            statuses = [rank.wait(timeout=120) for rank in ranks]
        print(statuses)
        return int(any(statuses))
    finally:
        for name in [*names, bridge]:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        Rank(sys.argv[1], sys.argv[2], int(sys.argv[3])).run()
    else:
        sys.exit(main(*sys.argv[1:]))
