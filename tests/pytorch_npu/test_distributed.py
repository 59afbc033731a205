"""Several processes, with the back end "hccl": collectives, DistributedDataParallel, FSDP2's fully_shard. Two are started by torchrun."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import pathlib
import socket
import subprocess
import sys

import prepared
import pytest

SCRIPTS = pathlib.Path(__file__).parent / "distributed"


def torchrun(processes: int, *command: str, **variables: str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "PORTACL_DEVICE_COUNT": str(processes), "OMP_NUM_THREADS": "1", **variables}
    launch = [sys.executable, "-B", "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    return subprocess.run(
        [*launch, str(SCRIPTS / command[0]), *command[1:]], env=environment, capture_output=True, text=True, timeout=600
    )


def forked(processes: int, *command: str, **variables: str) -> subprocess.CompletedProcess:
    """The same with the variables that torchrun sets, in processes that need not import torch."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    size = str(processes)
    environment = {**os.environ, "PORTACL_DEVICE_COUNT": size, "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    environment |= {"WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, **variables}
    ranks = ({**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(processes))
    return prepared.run([str(SCRIPTS / command[0]), *command[1:]], *ranks)


def started(processes: int, *command: str, **variables: str) -> subprocess.CompletedProcess:
    return (torchrun if processes == 2 else forked)(processes, *command, **variables)


@pytest.mark.parametrize("processes", [1, 2, 4])
@pytest.mark.parametrize("command", [("collectives.py",), ("training.py", "ddp"), ("training.py", "fsdp")], ids="-".join)
def test_each_rank_has_what_one_process_computes(command, processes, no_libraries):
    # What the wheel carries is enough.
    done = started(processes, *command, LD_LIBRARY_PATH=f"{os.environ['LD_LIBRARY_PATH']}:{no_libraries}")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert done.stdout.count("done") == processes


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_synchronised_batch_norms_are_those_of_the_whole_batch(processes):
    done = started(processes, "sync_batch_norm.py", PORTACL_FALLBACK="error")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert done.stdout.count("done") == processes


@pytest.mark.parametrize("processes", [1, 2, 4])
def test_products_with_communication_are_those_of_all_ranks(processes):
    done = started(processes, "products.py", PORTACL_FALLBACK="error")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert done.stdout.count("done") == processes


# torch_npu asks for two ranks at least, and has them of Ascend 950 alone.
def test_codes_travel_to_the_ranks_of_their_experts():
    done = torchrun(2, "codes.py", PORTACL_FALLBACK="error", PORTACL_SOC="Ascend950PR_9579")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert done.stdout.count("done") == 2


def test_collectives_in_graphs():
    done = torchrun(2, "graph.py")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    assert done.stdout.count("done") == 2


def test_more_processes_than_devices_are_told_which_variable_says_how_many():
    done = torchrun(2, "collectives.py", PORTACL_DEVICE_COUNT="1")
    assert done.returncode != 0
    assert "deviceId has the value 1, accepted: 0 to 0. PORTACL_DEVICE_COUNT says how many devices there are" in done.stderr
