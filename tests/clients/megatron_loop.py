"""Megatron-core's GPT of experts with its distributed optimizer, trained by as many processes as torchrun starts.

usage: torchrun megatron_loop.py FILE TENSOR RING EXPERTS: rank 0 writes the losses and the whole weights there, by torch.save
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import sys
from typing import Any

import megatron_parts as parts  # before Megatron and PyTorch's names are used
import megatron_plain as plain
import torch
import torch.distributed as dist
from megatron.core import parallel_state, tensor_parallel
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
from megatron.core.models.gpt.gpt_model import GPTModel
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.transformer.transformer_config import TransformerConfig


def network(tensor: int, ring: int, experts: int) -> tuple[Any, GPTModel]:
    config = TransformerConfig(
        num_layers=plain.LAYERS,
        hidden_size=plain.WIDTH,
        num_attention_heads=plain.HEADS,
        ffn_hidden_size=plain.HIDDEN,
        tensor_model_parallel_size=tensor,
        context_parallel_size=ring,
        expert_model_parallel_size=experts,
        expert_tensor_parallel_size=1,
        sequence_parallel=tensor > 1,
        num_moe_experts=plain.EXPERTS,
        moe_router_topk=plain.CHOSEN,
        moe_ffn_hidden_size=plain.HIDDEN,
        moe_grouped_gemm=True,
        moe_token_dispatcher_type="alltoall",
        moe_router_load_balancing_type="none",
        moe_aux_loss_coeff=0.0,
        gated_linear_unit=True,
        activation_func=torch.nn.functional.silu,
        add_bias_linear=False,
        normalization="RMSNorm",
        hidden_dropout=0.0,
        attention_dropout=0.0,
        use_cpu_initialization=True,
        gradient_accumulation_fusion=False,
        masked_softmax_fusion=False,
    )
    settings = {"position_embedding_type": "rope", "share_embeddings_and_output_weights": False}
    return config, GPTModel(config, parts.layers(plain.EXPERTS), plain.WORDS, plain.LENGTH, **settings)


def _cut(name: str, parameter: torch.nn.Parameter) -> tuple[int, int, int]:
    """The dim along which ranks share a weight, how many they are, and which of them this process is."""
    if ".experts." in name:
        return 0, parallel_state.get_expert_model_parallel_world_size(), parallel_state.get_expert_model_parallel_rank()
    if getattr(parameter, "tensor_model_parallel", False):
        sizes = parallel_state.get_tensor_model_parallel_world_size(), parallel_state.get_tensor_model_parallel_rank()
        return parameter.partition_dim, *sizes
    return 0, 1, 0


def set_weights(model: GPTModel) -> None:
    wholes = plain.whole_weights()
    assert {name for name, _ in model.named_parameters()} == wholes.keys(), wholes.keys() ^ dict(model.named_parameters()).keys()
    for name, parameter in model.named_parameters():
        dim, count, index = _cut(name, parameter)
        parameter.data.copy_(wholes[name].chunk(count, dim)[index].reshape(parameter.shape))


def gathered(model: GPTModel) -> dict[str, torch.Tensor]:
    """The whole weights, as megatron_plain has them."""
    own = {name: (_cut(name, parameter), parameter.detach().cpu()) for name, parameter in model.named_parameters()}
    every: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(every, own)
    shapes = {name: whole.shape for name, whole in plain.whole_weights().items()}
    wholes = {}
    for name, shape in shapes.items():
        found: list[Any] = [None] * own[name][0][1]
        for one in every:
            (dim, count, index), value = one[name]
            part = list(shape)
            part[dim] //= count
            assert found[index] is None or torch.equal(found[index], value.view(part)), f"{name}: ranks that hold the same have other bits"
            found[index] = value.view(part)
        wholes[name] = torch.cat(found, dim)
    return wholes


def trained(tensor: int, ring: int, experts: int) -> dict[str, torch.Tensor]:
    config, model = network(tensor, ring, experts)
    set_weights(model)
    model = model.cuda()
    split = DistributedDataParallelConfig(use_distributed_optimizer=True, grad_reduce_in_fp32=True)
    wrapped = DistributedDataParallel(config, split, model)
    optimizer = get_megatron_optimizer(
        OptimizerConfig(
            optimizer="adam",
            lr=plain.ADAM["lr"],
            weight_decay=plain.ADAM["weight_decay"],
            adam_beta1=plain.ADAM["betas"][0],
            adam_beta2=plain.ADAM["betas"][1],
            adam_eps=plain.ADAM["eps"],
            clip_grad=plain.GREATEST_NORM,
            use_distributed_optimizer=True,
        ),
        [wrapped],
    )
    groups = parallel_state.get_data_parallel_world_size(), parallel_state.get_data_parallel_rank()
    everyone = parallel_state.get_data_parallel_group(with_context_parallel=True)
    pieces_of_ring = parts.pieces.pieces_of(parallel_state.get_context_parallel_rank(), ring, plain.LENGTH)
    numbers = {}
    for step in range(plain.STEPS):
        wrapped.zero_grad_buffer()
        optimizer.zero_grad()
        sequences = plain.batch(step).chunk(groups[0], 1)[groups[1]].T
        tokens, wanted, places = (
            torch.cat([one[:, piece] for piece in pieces_of_ring], 1).cuda()
            for one in (sequences[:, :-1], sequences[:, 1:], torch.arange(plain.LENGTH, device="cpu")[None].expand(len(sequences), -1))
        )
        loss = wrapped(tokens, places, None, labels=wanted).mean()
        loss.backward()
        finalize_model_grads([wrapped])
        assert optimizer.step()[0]
        total = loss.detach().clone()
        dist.all_reduce(total, group=everyone)
        numbers[f"loss.{step}"] = (total / dist.get_world_size(everyone)).cpu().reshape(1)
    return numbers | {f"weight.{name}": whole for name, whole in gathered(model).items()}


def main() -> None:
    torch.set_num_threads(1)
    parts.install()
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    tensor, ring, experts = map(int, sys.argv[2:])
    sizes = {"expert_model_parallel_size": experts, "expert_tensor_parallel_size": 1}
    parallel_state.initialize_model_parallel(tensor_model_parallel_size=tensor, context_parallel_size=ring, **sizes)
    tensor_parallel.model_parallel_cuda_manual_seed(5)
    numbers = trained(tensor, ring, experts)
    if dist.get_rank() == 0:
        torch.save(numbers, sys.argv[1])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
