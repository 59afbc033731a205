"""The client diffusers: tiny random denoisers and autoencoders, forward, gradients and steps; schedulers; pipelines."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import diffusers
import judging
import torch
from diffusers.models import activations

SHORT: tuple[str, ...] = ()
BATCH = 2
BLOCKS = {"block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 8}


def _drawn(*shape: int) -> torch.Tensor:
    return torch.empty(shape).uniform_(-1, 1)


def _unet2d() -> tuple[torch.nn.Module, dict[str, Any]]:
    model = diffusers.UNet2DModel(
        sample_size=16, in_channels=3, out_channels=3, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"), attention_head_dim=8, **BLOCKS,
    )  # fmt: skip
    return model, {"sample": _drawn(BATCH, 3, 16, 16), "timestep": torch.tensor([3, 500])}


def _unet2d_condition() -> tuple[torch.nn.Module, dict[str, Any]]:
    model = diffusers.UNet2DConditionModel(
        sample_size=16, in_channels=4, out_channels=4, down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"), cross_attention_dim=32, attention_head_dim=8, **BLOCKS,
    )  # fmt: skip
    return model, {
        "sample": _drawn(BATCH, 4, 16, 16),
        "timestep": torch.tensor([3, 500]),
        "encoder_hidden_states": _drawn(BATCH, 6, 32),
    }


def _autoencoder() -> tuple[torch.nn.Module, dict[str, Any]]:
    model = diffusers.AutoencoderKL(
        in_channels=3, out_channels=3, latent_channels=4, down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"), **BLOCKS,
    )  # fmt: skip
    return model, {"sample": _drawn(BATCH, 3, 32, 32)}


def _dit() -> tuple[torch.nn.Module, dict[str, Any]]:
    model = diffusers.DiTTransformer2DModel(
        sample_size=8,
        in_channels=4,
        num_layers=2,
        num_attention_heads=2,
        attention_head_dim=8,
        patch_size=2,
        num_embeds_ada_norm=100,
    )
    return model, {
        "hidden_states": _drawn(BATCH, 4, 8, 8),
        "timestep": torch.tensor([3, 50]),
        "class_labels": torch.tensor([1, 7]),
    }


def _sd3() -> tuple[torch.nn.Module, dict[str, Any]]:
    model = diffusers.SD3Transformer2DModel(
        sample_size=16, patch_size=2, in_channels=4, num_layers=2, attention_head_dim=8, num_attention_heads=4, joint_attention_dim=32,
        caption_projection_dim=32, pooled_projection_dim=64, out_channels=4,
    )  # fmt: skip
    inputs = {"hidden_states": _drawn(BATCH, 4, 16, 16), "encoder_hidden_states": _drawn(BATCH, 6, 32)}
    return model, {**inputs, "pooled_projections": _drawn(BATCH, 64), "timestep": torch.tensor([3, 500])}


def _vq() -> tuple[torch.nn.Module, dict[str, Any]]:
    model = diffusers.VQModel(
        in_channels=3, out_channels=3, latent_channels=3, num_vq_embeddings=32, down_block_types=("DownEncoderBlock2D", "DownEncoderBlock2D"),
        up_block_types=("UpDecoderBlock2D", "UpDecoderBlock2D"), **BLOCKS,
    )  # fmt: skip
    return model, {"sample": _drawn(BATCH, 3, 32, 32)}


MODELS: dict[str, Callable[[], tuple[torch.nn.Module, dict[str, Any]]]] = {
    "UNet2DModel": _unet2d,
    "UNet2DConditionModel": _unet2d_condition,
    "AutoencoderKL": _autoencoder,
    "DiTTransformer2DModel": _dit,
    "SD3Transformer2DModel": _sd3,
    "VQModel": _vq,
}
SCHEDULERS = (
    "DDPMScheduler", "DDIMScheduler", "PNDMScheduler", "EulerDiscreteScheduler", "HeunDiscreteScheduler", "DPMSolverMultistepScheduler",
    "UniPCMultistepScheduler", "FlowMatchEulerDiscreteScheduler", "DEISMultistepScheduler",
)  # fmt: skip
PIPELINES = ("DDPMPipeline", "DDIMPipeline")
STEPS = 4


def cases() -> list[str]:
    return [*MODELS, *SCHEDULERS, *PIPELINES]


def _seen_steps(name: str, device: str) -> judging.Observed:
    """Steps of a scheduler around a denoiser of one line; what is random is drawn on the CPU, by a generator."""
    made = getattr(diffusers, name)()
    generator = torch.Generator().manual_seed(51)
    made.set_timesteps(STEPS, device=device)
    sample = torch.empty(BATCH, 3, 8, 8).uniform_(-1, 1, generator=generator).to(device) * getattr(made, "init_noise_sigma", 1.0)
    seen = judging.Observed()
    for i, step in enumerate(made.timesteps):
        scaled = made.scale_model_input(sample, step) if hasattr(made, "scale_model_input") else sample
        takes = {"generator": generator} if "generator" in made.step.__code__.co_varnames else {}
        sample = made.step(torch.tanh(scaled) * 0.5, step, sample, **takes).prev_sample
        seen.numbers[f"sample.{i}"] = judging.kept(sample)
    return seen


def _seen_pipeline(name: str, device: str) -> judging.Observed:
    torch.manual_seed(52)
    model, _ = _unet2d()
    pipeline = getattr(diffusers, name)(
        unet=model.eval(), scheduler=getattr(diffusers, name.replace("Pipeline", "Scheduler"))()
    ).to(device)
    pipeline.set_progress_bar_config(disable=True)
    images = pipeline(
        batch_size=BATCH, num_inference_steps=STEPS, generator=torch.Generator().manual_seed(53), output_type="np"
    ).images
    return judging.Observed({"image": torch.from_numpy(images)})


@contextlib.contextmanager
def on_the_cpu() -> Iterator[None]:
    """Where torch_npu is installed, diffusers' GEGLU calls it for tensors on the CPU, too, which it does not take."""
    asked = activations.is_torch_npu_available
    activations.is_torch_npu_available = lambda: False
    try:
        with judging.AsOnAnNpu():
            yield
    finally:
        activations.is_torch_npu_available = asked


def run(case: str, outcome: judging.Outcome) -> None:
    if case in MODELS:
        torch.manual_seed(50)
        model, inputs = MODELS[case]()
        npu = judging.observed(model, inputs, "npu")
        with on_the_cpu():
            cpu = judging.observed(model, inputs, "cpu")
            exact = judging.observed(model, inputs, "cpu", torch.float64)
        judging.judge(outcome, npu, cpu, exact)
        return
    seen = _seen_steps if case in SCHEDULERS else _seen_pipeline
    with on_the_cpu():
        cpu = seen(case, "cpu")
    judging.judge(outcome, seen(case, "npu"), cpu, None)
