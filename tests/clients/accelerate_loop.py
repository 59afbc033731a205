"""A training loop with an Accelerator, called in a process, or started in several by torchrun on device npu.

usage: torchrun accelerate_loop.py FILE: rank 0 writes its losses and weights there, as JSON
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import accelerate
import torch
from torch import nn

BATCH = 16  # of all processes together
STEPS = 6


def loop(device: str, folder: Path, precision: str = "no", accumulate: int = 1, save: bool = False) -> dict[str, dict]:
    """What this process saw: numbers, and what must be equal."""
    accelerator = accelerate.Accelerator(
        cpu=device == "cpu",
        mixed_precision=precision,
        gradient_accumulation_steps=accumulate,
        dataloader_config=accelerate.DataLoaderConfiguration(split_batches=True),
    )
    assert accelerator.device.type == device, accelerator.device
    torch.manual_seed(40)
    model = nn.Sequential(nn.Linear(20, 32), nn.SiLU(), nn.LayerNorm(32), nn.Linear(32, 5))
    x, y = torch.randn(BATCH * STEPS, 20), torch.randint(0, 5, (BATCH * STEPS,))
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, eps=1e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=STEPS)
    model, optimizer, data, schedule = accelerator.prepare(model, optimizer, data, schedule)
    losses = []
    for inputs, labels in data:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        losses.append(float(accelerator.gather(loss.detach().reshape(1)).float().mean()))
    if save:
        accelerator.save_state(str(folder / "state"))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
        accelerator.load_state(str(folder / "state"))
    kept = accelerator.unwrap_model(model).state_dict()
    numbers = {f"loss.{i}": [loss] for i, loss in enumerate(losses)}
    numbers |= {f"weight.{name}": tensor.detach().float().cpu().tolist() for name, tensor in kept.items()}
    return {"numbers": numbers, "equal": {"steps": len(losses), "learning rate": schedule.get_last_lr()}}


def main() -> None:
    torch.set_num_threads(1)
    out = Path(sys.argv[1])
    seen = loop("npu", out.parent)
    if os.environ["RANK"] == "0":
        out.write_text(json.dumps(seen), encoding="utf-8")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
