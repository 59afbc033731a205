"""Grouped products of 8-bit floats whose rows travel to the ranks of their experts and back, as torch_npu calls them on Ascend 950: small numbers
and powers of two, so that every sum is exact. Started by torchrun.

SPDX-License-Identifier: Apache-2.0
"""

import os

import torch
import torch.distributed as dist
import torch_npu

RANK, SIZE = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
EACH, TERMS, COLUMNS = 2, 128, 16  # experts of a rank; lengths of matrices
BLOCK, ONE = 32, 127  # terms of a power of two, and the code of 2^0


def drawn(seed: int, rank: int, *shape: int, low: int = -1, high: int = 1) -> torch.Tensor:
    """Whole numbers that every rank can draw for any rank."""
    return torch.randint(low, high + 1, shape, generator=torch.Generator().manual_seed(1000 * seed + rank)).float()


def powers(seed: int, rank: int, *shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Powers of two as they lie, in pairs, and as numbers of blocks; the last dim of the shape is that of blocks."""
    exponents = drawn(seed, rank, *shape)
    return (exponents + ONE).to(torch.uint8).view(*shape[:-1], -1, 2).view(torch.float8_e8m0fnu), 2.0**exponents


def lying(codes: torch.Tensor, one: int, other: int) -> torch.Tensor:
    """Codes with two dims swapped in memory."""
    return codes.view(torch.uint8).transpose(one, other).contiguous().view(codes.dtype)


def same(found: torch.Tensor, wanted: torch.Tensor, what: str) -> None:
    torch.testing.assert_close(found.cpu().float(), wanted.to(found.dtype).float(), rtol=0, atol=0, msg=lambda text: f"rank {RANK}, {what}: {text}")


def there_and_back(group: str, transposes: bool) -> None:
    counts = torch.stack([drawn(1, one, SIZE * EACH, low=0, high=3) for one in range(SIZE)]).long()  # [from][to and its expert]
    send, receive = counts[RANK].tolist(), counts[:, RANK * EACH : (RANK + 1) * EACH].reshape(-1).tolist()
    x = [drawn(2, one, int(counts[one].sum()), TERMS) for one in range(SIZE)]
    scales = [powers(3, one, int(counts[one].sum()), TERMS // BLOCK) for one in range(SIZE)]
    weights = [drawn(4, one, EACH, COLUMNS, TERMS) for one in range(SIZE)]
    weight_scales = [powers(5, one, EACH, COLUMNS, TERMS // BLOCK) for one in range(SIZE)]
    rows = [one * scale[1].repeat_interleave(BLOCK, 1) for one, scale in zip(x, scales, strict=True)]
    matrices = [(one * scale[1].repeat_interleave(BLOCK, 2)).mT for one, scale in zip(weights, weight_scales, strict=True)]

    def of(one: int, rank: int, expert: int) -> slice:
        begin = int(counts[one, : rank * EACH + expert].sum())
        return slice(begin, begin + int(counts[one, rank * EACH + expert]))

    orders = [(one, expert) for expert in range(EACH) for one in range(SIZE)]
    wanted = torch.cat([rows[one][of(one, RANK, expert)] @ matrices[RANK][expert] for one, expert in orders])
    code = torch.float8_e4m3fn
    weight, weight_scale = weights[RANK].to(code), weight_scales[RANK][0]
    if not transposes:
        weight, weight_scale = lying(weight, 1, 2), lying(weight_scale, 1, 2)
    weight, weight_scale = weight.npu(), weight_scale.npu()
    if transposes:  # views of terms before columns
        weight, weight_scale = weight.transpose(1, 2), weight_scale.transpose(1, 2)
    settings = {"gmm_x_quant_mode": 6, "gmm_weight_quant_mode": 6, "gmm_y_dtype": torch.float16}
    settings |= dict.fromkeys(("gmm_x_scale_dtype", "gmm_weight_scale_dtype"), torch_npu.float8_e8m0fnu)
    found, _, permuted = torch_npu.npu_alltoallv_quant_gmm(
        x[RANK].to(code).npu(), weight, scales[RANK][0].npu(), weight_scale, group, SIZE, send, receive, permute_out_flag=True, **settings
    )
    same(found, wanted, "rows of experts")
    in_order = torch.cat([x[one][of(one, RANK, expert)] for one, expert in orders])
    same(permuted.cpu().float(), in_order, "rows in the order of experts")
    scale_in_order = torch.cat([scales[one][0].view(torch.uint8)[of(one, RANK, expert)] for one, expert in orders])
    found, _ = torch_npu.npu_quant_gmm_alltoallv(
        in_order.to(code).npu(), weight, scale_in_order.view(torch.float8_e8m0fnu).npu(), weight_scale, group, SIZE, receive, send, **settings
    )
    places = [(rank, expert) for rank in range(SIZE) for expert in range(EACH)]
    same(found, torch.cat([rows[RANK][of(RANK, rank, expert)] @ matrices[rank][expert] for rank, expert in places]), "back")


def of_one_scale(group: str) -> None:
    """Every rank gives every expert one row; beside that each multiplies matrices of its own. Codes of HIFLOAT8 travel as bytes."""
    counts = [1] * SIZE * EACH
    one, minus = 0x08, 0x88  # the codes of 1 and -1

    def codes(numbers: torch.Tensor) -> torch.Tensor:
        return torch.where(numbers == 0, 0, torch.where(numbers > 0, one, minus)).to(torch.uint8).npu()

    x = [drawn(6, rank, SIZE * EACH, TERMS) for rank in range(SIZE)]
    weight, own, own_weight = drawn(7, RANK, EACH, TERMS, COLUMNS), drawn(8, RANK, 3, TERMS), drawn(9, RANK, TERMS, COLUMNS)
    half, two = (torch.tensor([number]).npu() for number in (0.5, 2.0))
    code = torch_npu.hifloat8
    found, found_own, _ = torch_npu.npu_alltoallv_quant_gmm(
        *(codes(x[RANK]), codes(weight), half, two, group, SIZE, counts, counts, torch.bfloat16),
        **{"mm_x": codes(own), "mm_weight": codes(own_weight), "mm_x_scale": two, "mm_weight_scale": two, "mm_y_dtype": torch.float16},
        **{name: 1 for name in ("gmm_x_quant_mode", "gmm_weight_quant_mode", "mm_x_quant_mode", "mm_weight_quant_mode")},
        **{name: code for name in ("gmm_x_dtype", "gmm_weight_dtype", "mm_x_dtype", "mm_weight_dtype")},
    )
    rows = [x[rank][RANK * EACH + expert] @ weight[expert] for expert in range(EACH) for rank in range(SIZE)]
    same(found, torch.stack(rows), "rows of HIFLOAT8")
    same(found_own, own @ own_weight * 4, "own product of HIFLOAT8")


def main() -> None:
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("hccl")
    backend = dist.distributed_c10d._get_default_group()._get_backend(torch.device("npu"))
    group = backend.get_hccl_comm_name(RANK)
    for transposes in (False, True):
        there_and_back(group, transposes)
    of_one_scale(group)
    print("done", flush=True)
    dist.destroy_process_group()


main()
