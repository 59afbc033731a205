"""Who is which rank, and what ranks send each other.

A program is written for lists: an entry for each rank that this process plays. `Processes` plays one, and the others are processes of their
own, reached by torch.distributed. `OneProcess` plays them all, and moves what they send by PyTorch's own operators: the same program, with
every sum in the same order, so that both have the same bits.

SPDX-License-Identifier: Apache-2.0
"""

from __future__ import annotations

import dataclasses

import torch
import torch.distributed as dist

TENSOR, RING, COPIES = "tensor", "ring", "copies"  # the axes: parts of weights; of sequences; all ranks that hold the same part of weights


@dataclasses.dataclass(frozen=True)
class Layout:
    """How many ranks share the weights of a layer, a sequence, and the sequences of a batch. Ranks of a tensor group are neighbours."""

    tensor: int = 1
    ring: int = 1
    data: int = 1

    @property
    def size(self) -> int:
        return self.tensor * self.ring * self.data

    @property
    def copies(self) -> int:
        return self.ring * self.data

    def place(self, rank: int) -> tuple[int, int, int]:
        """The indices of a rank: of its part of the weights, of the sequence, of the batch."""
        return rank % self.tensor, rank // self.tensor % self.ring, rank // (self.tensor * self.ring)

    def peers(self, rank: int, axis: str) -> list[int]:
        tensor, ring, data = self.place(rank)
        if axis == TENSOR:
            return [rank - tensor + index for index in range(self.tensor)]
        if axis == RING:
            first = data * self.ring * self.tensor + tensor
            return [first + index * self.tensor for index in range(self.ring)]
        return list(range(tensor, self.size, self.tensor))


class Processes:
    """This process is one rank."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.rank = dist.get_rank()
        self.ranks = [self.rank]
        self._groups = {}
        for axis in (TENSOR, RING, COPIES):
            for peers in sorted({tuple(layout.peers(rank, axis)) for rank in range(layout.size)}):
                group = dist.new_group(list(peers))  # every process takes part in making every group
                if self.rank in peers:
                    self._groups[axis] = group

    def _is_alone(self, axis: str) -> bool:
        return len(self.layout.peers(self.rank, axis)) == 1

    def sum(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        return self._reduced(parts, axis, dist.ReduceOp.SUM)

    def max(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        return self._reduced(parts, axis, dist.ReduceOp.MAX)

    def _reduced(self, parts, axis, operation) -> list[torch.Tensor]:
        result = parts[0].clone()
        if not self._is_alone(axis):
            dist.all_reduce(result, operation, group=self._groups[axis])
        return [result]

    def sum_in_shards(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        """Sums, of which each rank gets its shard."""
        if self._is_alone(axis):
            return [parts[0].clone()]
        result = parts[0].new_empty(parts[0].numel() // len(self.layout.peers(self.rank, axis)))
        dist.reduce_scatter_tensor(result, parts[0], group=self._groups[axis])
        return [result]

    def gathered(self, shards: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        """The shards of all ranks, one behind the other."""
        if self._is_alone(axis):
            return [shards[0].clone()]
        result = shards[0].new_empty(shards[0].numel() * len(self.layout.peers(self.rank, axis)))
        dist.all_gather_into_tensor(result, shards[0], group=self._groups[axis])
        return [result]

    def passed_on(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        """What the rank before has: each sends its own to the rank behind it."""
        if self._is_alone(axis):
            return [parts[0].clone()]
        peers = self.layout.peers(self.rank, axis)
        index = peers.index(self.rank)
        come, group = torch.empty_like(parts[0]), self._groups[axis]
        send = dist.P2POp(dist.isend, parts[0].contiguous(), peers[(index + 1) % len(peers)], group)
        receive = dist.P2POp(dist.irecv, come, peers[index - 1], group)
        for work in dist.batch_isend_irecv([send, receive]):
            work.wait()
        return [come]

    def exchanged(self, rows: list[torch.Tensor], sent: list[list[int]], received: list[list[int]], axis: str) -> list[torch.Tensor]:
        """Rows to every rank of the group: sent[p] of them, one behind the other, to the p-th, and received[p] from it."""
        if self._is_alone(axis):
            return [rows[0].clone()]
        result = rows[0].new_empty(sum(received[0]), *rows[0].shape[1:])
        dist.all_to_all_single(result, rows[0].contiguous(), received[0], sent[0], group=self._groups[axis])
        return [result]


class OneProcess:
    """This process is every rank."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.ranks = list(range(layout.size))

    def sum(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        return [self._folded(parts, rank, axis, torch.add) for rank in self.ranks]

    def max(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        return [self._folded(parts, rank, axis, torch.maximum) for rank in self.ranks]

    def _folded(self, parts, rank, axis, operation) -> torch.Tensor:
        """In the order of ranks, as HcclAllReduce."""
        first, *others = self.layout.peers(rank, axis)
        result = parts[first].clone()
        for peer in others:
            result = operation(result, parts[peer])
        return result

    def sum_in_shards(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        sums = self.sum(parts, axis)
        peers = [self.layout.peers(rank, axis) for rank in self.ranks]
        return [sums[rank].chunk(len(peers[rank]))[peers[rank].index(rank)].clone() for rank in self.ranks]

    def gathered(self, shards: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        return [torch.cat([shards[peer] for peer in self.layout.peers(rank, axis)]) for rank in self.ranks]

    def passed_on(self, parts: list[torch.Tensor], axis: str) -> list[torch.Tensor]:
        peers = [self.layout.peers(rank, axis) for rank in self.ranks]
        return [parts[peers[rank][peers[rank].index(rank) - 1]].clone() for rank in self.ranks]

    def exchanged(self, rows: list[torch.Tensor], sent: list[list[int]], received: list[list[int]], axis: str) -> list[torch.Tensor]:
        parts = [rows[rank].split(sent[rank]) for rank in self.ranks]
        result = []
        for rank in self.ranks:
            peers = self.layout.peers(rank, axis)
            result.append(torch.cat([parts[peer][peers.index(rank)] for peer in peers]))
            assert [len(parts[peer][peers.index(rank)]) for peer in peers] == received[rank]
        return result
