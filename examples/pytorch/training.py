"""What the model scripts in this folder share: options, the loop of steps, checkpoints, the curve, the comparison of two devices.

A script derives a Task and calls main(); `python SCRIPT --help` lists the options.
"""

# SPDX-License-Identifier: Apache-2.0
import argparse
import hashlib
import math
import time

import torch
import torch_npu  # noqa: F401  (makes the device "npu" known)
from torch import nn

# The dtype of autocast, and that of parameters and inputs.
PRECISIONS = {
    "f32": (None, torch.float32),
    "bf16": (torch.bfloat16, torch.float32),
    "f16": (torch.float16, torch.float32),
    "bf16-weights": (None, torch.bfloat16),
}


class Task:
    """A model: its data, its network, the loss of a step, and how it is trained.

    Everything is a function of the step's number, so that a run that is resumed goes on with the batches that it would have had.
    Random bits are whole numbers of the CPU's generator, and what is computed from them is computed on the device.
    """

    name = ""
    steps = 200
    batch = 16
    rate = 3e-3
    clip = 1.0  # largest norm of all gradients together
    precision = "f32"
    below = math.inf  # below which the mean of the last tenth of the losses must be, after all steps
    compared = None  # how many losses are compared with the other device's, where not all of them
    dtype = torch.float32  # of the network's inputs

    def __init__(self, device):
        """Makes the data. Tensors are made on `device` where nothing else is said."""
        self.device = device

    @classmethod
    def tolerance(cls, precision, steps):
        """How far losses on two devices may be apart, in parts of the first loss.

        The same formulas are rounded at other places: sums of some hundred float32 terms in another order are at most some 2^-20
        apart, and steps hand that on without damping it, each its own. Autocast rounds what it multiplies to 8 or 11 bits, and a
        loss is a mean over many outputs; that is compared for ten steps. Parameters in bf16 are rounded to 8 bits after each step, too.
        """
        if precision == "f32":
            return steps * 2.0**-20
        return min(steps, 10) * 2.0 ** (-11 if precision == "f16" else -8)

    def network(self):
        raise NotImplementedError

    def loss(self, network, step):
        raise NotImplementedError

    def optimizer(self, parameters):
        return torch.optim.AdamW(parameters, lr=self.rate, fused=True)

    def shown(self, network):
        """What the trained network can do, as text."""
        return ""

    def uniform(self, seed, *shape):
        """Numbers in [0, 1), multiples of 2^-24: the same on every machine."""
        return torch.rand(shape, generator=torch.Generator().manual_seed(seed), device="cpu").to(self.device)

    def whole(self, seed, end, *shape):
        """Whole numbers in [0, end)."""
        return torch.randint(end, shape, generator=torch.Generator().manual_seed(seed), device="cpu").to(self.device)


class Run:
    """One training on one device."""

    def __init__(self, kind, device, precision=None, steps=None, batch=None, start=None):
        self.device = device
        self.precision = precision or kind.precision
        self.steps = steps or kind.steps
        torch.manual_seed(1)
        with torch.device(device):
            self.task = kind(device)
            self.task.batch = batch or kind.batch
            self.autocast, self.task.dtype = PRECISIONS[self.precision]
            self.network = self.task.network().to(self.task.dtype)
        if start is not None:  # another device's first parameters, since its random numbers are others
            self.network.load_state_dict(start)
        self.optimizer = self.task.optimizer(self.network.parameters())
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.rate_at)
        self.scaler = torch.amp.GradScaler(device, init_scale=1024.0, enabled=self.precision == "f16")
        self.losses = []
        self.seconds = 0.0

    def rate_at(self, step):
        """Up for a tenth of the steps, then down to a tenth, both in straight lines."""
        warm = max(1, self.steps // 10)
        return min((step + 1) / warm, 1 - 0.9 * max(0, step - warm) / max(1, self.steps - warm))

    def step(self):
        self.optimizer.zero_grad()
        with torch.autocast(self.device, self.autocast, enabled=self.autocast is not None):
            loss = self.task.loss(self.network, len(self.losses))
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.network.parameters(), self.task.clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.schedule.step()
        self.losses.append(loss.detach())

    def train(self, until=None, report=None):
        start = time.perf_counter()
        until = self.steps if until is None else until
        every = max(1, self.steps // 10)
        while len(self.losses) < until:
            self.step()
            if report and len(self.losses) % every == 0:
                report(len(self.losses), self.losses[-1].item())
        self.losses = [float(loss) for loss in self.losses]
        self.seconds += time.perf_counter() - start
        return self

    def save(self, file):
        state = {part: getattr(self, part).state_dict() for part in ("network", "optimizer", "schedule", "scaler")}
        torch.save({**state, "losses": self.losses}, file)

    def load(self, file):
        state = torch.load(file, map_location=self.device, weights_only=True)
        for part in ("network", "optimizer", "schedule", "scaler"):
            getattr(self, part).load_state_dict(state[part])
        self.losses = state["losses"]

    def hash(self):
        """SHA-256 of names, dtypes, shapes and bytes of all parameters and buffers."""
        digest = hashlib.sha256()
        for name, tensor in self.network.state_dict().items():
            digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
            digest.update(tensor.cpu().flatten().view(torch.uint8).numpy().tobytes())  # NumPy has no bf16
        return digest.hexdigest()

    def end(self):
        """The mean of the last tenth of the losses."""
        last = self.losses[-max(1, len(self.losses) // 10) :]
        return sum(last) / len(last)


def picture(title, curves):
    """An SVG of losses over steps, logarithmic; `curves` maps a name to losses, the second one is drawn dotted over the first."""
    width, height, left, top = 560, 300, 62, 58
    values = [value for losses in curves.values() for value in losses]
    low, high = min(values) / 1.1, max(values) * 1.1
    steps = max(len(losses) for losses in curves.values())

    def at(step, value):
        share = math.log(value / low) / math.log(high / low)
        return f"{left + step / max(1, steps - 1) * width:.1f},{top + height - share * height:.1f}"

    styles = ('stroke="#1f6fb4" stroke-width="2"', 'stroke="#222" stroke-width="3" stroke-dasharray="2 5"')
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width + left + 20}" height="{height + top + 44}" '
        'font-family="sans-serif" font-size="13" fill="#222"><rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{left}" y="24" font-size="16" font-weight="bold">{title}</text>',
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="#fafafa" stroke="#888"/>',
    ]
    for number, (name, losses) in enumerate(curves.items()):
        x, style = left + 220 * number, styles[number % 2]
        out.append(f'<line x1="{x}" y1="42" x2="{x + 34}" y2="42" {style}/><text x="{x + 42}" y="46.5">{name}</text>')
        points = " ".join(at(step, value) for step, value in enumerate(losses))
        out.append(f'<polyline points="{points}" fill="none" stroke-linejoin="round" {style}/>')
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = top + height - share * height
        out.append(f'<text x="{left - 7}" y="{y + 4.5:.1f}" text-anchor="end">{low * (high / low) ** share:.3g}</text>')
        x = left + share * width
        out.append(f'<text x="{x:.1f}" y="{top + height + 19}" text-anchor="middle">{round(share * (steps - 1)) + 1}</text>')
    out.append(f'<text x="{left + width / 2}" y="{top + height + 37}" text-anchor="middle">step</text>')
    return "\n".join([*out, "</svg>", ""])


def options(kind):
    parser = argparse.ArgumentParser(description=kind.__doc__)
    parser.add_argument("--device", choices=("npu", "cpu", "both"), default="both")
    how = "f32, or autocast, f16 with a GradScaler; bf16-weights: parameters and inputs, too"
    parser.add_argument("--precision", choices=PRECISIONS, default=kind.precision, help=how)
    parser.add_argument("--steps", type=int, default=kind.steps)
    parser.add_argument("--batch", type=int, default=kind.batch)
    parser.add_argument("--picture", metavar="FILE.svg", help="draw the curve")
    parser.add_argument("--checkpoint", metavar="FILE", help="save everything in the middle, or where --at says")
    parser.add_argument("--at", type=int, metavar="STEP")
    parser.add_argument("--resume", metavar="FILE", help="go on from a checkpoint")
    return parser.parse_args()


def main(kind):
    """Trains on one device or on both; 0 if the loss ends below its bound and the two agree."""
    given = options(kind)
    devices = ["npu", "cpu"] if given.device == "both" else [given.device]
    runs = []
    start = None
    for device in devices:
        run = Run(kind, device, given.precision, given.steps, given.batch, start)
        start = {name: tensor.cpu() for name, tensor in run.network.state_dict().items()}
        if given.resume:
            run.load(given.resume)
        print(f"{kind.name}, {given.precision}, on {device}: {sum(p.numel() for p in run.network.parameters())} parameters")

        def report(step, loss):
            print(f"  step {step:4} of {given.steps}  loss {loss:10.6f}", flush=True)

        if given.checkpoint and device == devices[0]:
            run.train(given.steps // 2 if given.at is None else given.at, report)
            run.save(given.checkpoint)
        run.train(report=report)
        print(f"  {run.seconds / max(1, given.steps) * 1e3:.2f} ms per step; parameters {run.hash()[:16]}")
        runs.append(run)
    text = runs[0].task.shown(runs[0].network)
    if text:
        print(text)
    good = all(math.isfinite(loss) for run in runs for loss in run.losses)
    if given.steps >= kind.steps and given.batch >= kind.batch:  # a shorter run need not get there
        good &= all(run.end() < kind.below for run in runs)
        print(f"ends at {' and '.join(f'{run.end():.6f}' for run in runs)}, must be below {kind.below:g}")
    if len(runs) == 2:
        compared = kind.compared if given.precision == "f32" else 10
        first, second = (run.losses[:compared] for run in runs)
        apart = max(abs(a - b) for a, b in zip(first, second)) / first[0]
        allowed = kind.tolerance(given.precision, given.steps)
        good &= apart <= allowed
        print(f"at most {apart:.1e} of the first loss between npu and cpu in {len(first)} steps, may be {allowed:.1e}")
    if given.picture:
        with open(given.picture, "w", encoding="utf-8") as file:
            file.write(picture(f"{kind.name}, {given.precision}", {f"on {run.device}": run.losses for run in runs}))
        print(f"the curve: {given.picture}")
    print("right" if good else "WRONG")
    return 0 if good else 1
