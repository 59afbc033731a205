"""Fits a small network with four losses and two optimizers on an NPU, and the same on the CPU; draws the loss curves.

    python regression.py [--device npu|cpu|both] [--picture FILE.svg] [--epochs N]

Returns 0 if every loss ends below its bound and, where both devices ran, the two agree.
"""

# SPDX-License-Identifier: Apache-2.0
import argparse
import math
import sys
import time

import torch
import torch.nn.functional as F
import torch_npu  # noqa: F401  (makes the device "npu" known)
from torch import nn

SAMPLES, BATCH, CLASSES = 512, 128, 5

# Name: the loss, how many outputs the network needs for it, and the bound below which it must end with either optimizer.
LOSSES = {
    "l1": (F.l1_loss, 1, 0.10),
    "smooth l1": (F.smooth_l1_loss, 1, 0.01),
    "mse": (F.mse_loss, 1, 0.012),
    "kl": (lambda output, target: F.kl_div(F.log_softmax(output, 1), target, reduction="batchmean"), CLASSES, 0.006),
}
OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, lr=0.2, momentum=0.9),
    "AdamW": lambda parameters: torch.optim.AdamW(parameters, lr=0.03),
}

# How far the two devices' last losses may be apart, relatively. The same float32 formulas are rounded at other places: sums of
# up to 128 terms in another order are at most some 2^-20 (1e-6) apart per step. 240 steps that hand such a difference on
# without damping it make 240 * 2^-20 = 2.3e-4. L1's gradient is a sign: a prediction that is within rounding of its
# target may change sides, which moves one of 128 terms by a step of 2/128 of the learning rate. Both together stay below:
TOLERANCE = 2e-3


def data():
    """Points in a cube, a smooth function of them with a little noise, and class probabilities that depend on them."""
    generator = torch.Generator().manual_seed(7)
    x = torch.rand(SAMPLES, 4, generator=generator) * 2 - 1
    y = torch.sin(2 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] - 0.5 * x[:, 3:] ** 2
    y = y + 0.02 * torch.randn(SAMPLES, 1, generator=generator)
    teacher = torch.randn(4, CLASSES, generator=generator)
    return x, y, torch.softmax(2 * torch.tanh(x) @ teacher, dim=1)


class Fit:
    """One network, its optimizer and the history of its loss, on one device."""

    def __init__(self, loss, optimizer, device, epochs):
        self.loss, outputs, self.bound = LOSSES[loss]
        torch.manual_seed(1)  # the same start on every device
        network = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, outputs))
        self.network = network.to(device)
        self.optimizer = OPTIMIZERS[optimizer](self.network.parameters())
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, epochs)
        x, y, probabilities = data()
        self.x = x.to(device)
        self.target = (probabilities if outputs > 1 else y).to(device)
        self.history = []
        self.seconds = 0.0

    def epoch(self):
        start = time.perf_counter()
        total = 0.0
        for begin in range(0, SAMPLES, BATCH):
            rows = slice(begin, begin + BATCH)
            self.optimizer.zero_grad()
            loss = self.loss(self.network(self.x[rows]), self.target[rows])
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        self.schedule.step()
        self.history.append(total / (SAMPLES // BATCH))
        self.seconds += time.perf_counter() - start


def ticks(low, high):
    """Powers of ten, with 2 and 5 between them where there are few, inside [low, high]."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 1)
    few = math.log10(high / low) < 2
    return [f * 10.0**p for p in powers for f in ((1, 2, 5) if few else (1,)) if low <= f * 10.0**p <= high]


def picture(fits, devices, epochs):
    """An SVG: a panel per loss, the logarithm of the loss over the epochs; the CPU's curves are dashed over the NPU's."""
    width, height, left, top, across, down = 400, 250, 62, 74, 30, 62
    colours = {"SGD": "#1f6fb4", "AdamW": "#d1481b"}
    whole = (2 * (width + left) + across + 10, 2 * (height + down) + top)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole[0]}" height="{whole[1]}" viewBox="0 0 {whole[0]} {whole[1]}" '
        'font-family="sans-serif" font-size="13" fill="#222">',
        f'<rect width="{whole[0]}" height="{whole[1]}" fill="#fff"/>',
        f'<text x="{left}" y="26" font-size="18" font-weight="bold">Loss per epoch (logarithmic), four losses and two optimizers</text>',
    ]
    dotted = 'stroke="#222" stroke-width="4" stroke-dasharray="2 5"'
    legend = [(f"{o} on {devices[0]}", f'stroke="{c}" stroke-width="2.5"') for o, c in colours.items()]
    if len(devices) > 1:
        legend.append((f"the same on {devices[1]}", dotted))
    for place, (words, style) in enumerate(legend):
        x = left + 150 * place
        out.append(f'<line x1="{x}" y1="46" x2="{x + 34}" y2="46" {style}/>')
        out.append(f'<text x="{x + 42}" y="50.5">{words}</text>')
    for number, name in enumerate(LOSSES):
        px = left + number % 2 * (width + left + across)
        py = top + number // 2 * (height + down)
        shown = {key: fit for key, fit in fits.items() if key[0] == name}
        bound = LOSSES[name][2]
        values = [v for fit in shown.values() for v in fit.history] + [bound]
        low, high = min(values) / 1.3, max(values) * 1.3

        def at(epoch, value, px=px, py=py, low=low, high=high):
            share = math.log(value / low) / math.log(high / low)
            return px + (epoch - 1) / max(1, epochs - 1) * width, py + height - share * height

        out.append(f'<rect x="{px}" y="{py}" width="{width}" height="{height}" fill="#fafafa" stroke="#888"/>')
        out.append(f'<text x="{px + width - 10}" y="{py + 22}" text-anchor="end" font-weight="bold">{name}</text>')
        for value in ticks(low, high):
            y = at(1, value)[1]
            out.append(f'<line x1="{px}" y1="{y:.1f}" x2="{px + width}" y2="{y:.1f}" stroke="#ddd"/>')
            out.append(f'<text x="{px - 7}" y="{y + 4.5:.1f}" text-anchor="end">{value:g}</text>')
        for epoch in sorted({1, *range(10, epochs + 1, 10), epochs}):
            ex = at(epoch, high)[0]
            out.append(f'<line x1="{ex:.1f}" y1="{py + height}" x2="{ex:.1f}" y2="{py + height + 5}" stroke="#888"/>')
            out.append(f'<text x="{ex:.1f}" y="{py + height + 19}" text-anchor="middle">{epoch}</text>')
        out.append(f'<text x="{px + width / 2}" y="{py + height + 37}" text-anchor="middle">epoch</text>')
        y = at(1, bound)[1]
        out.append(f'<line x1="{px}" y1="{y:.1f}" x2="{px + width}" y2="{y:.1f}" stroke="#2a7d2a" stroke-dasharray="7 4"/>')
        out.append(f'<text x="{px + width - 8}" y="{y - 5:.1f}" text-anchor="end" fill="#2a7d2a">must end below {bound:g}</text>')
        for (_, optimizer, device), fit in shown.items():
            points = " ".join("{:.1f},{:.1f}".format(*at(i + 1, v)) for i, v in enumerate(fit.history))
            style = dotted if device != devices[0] else f'stroke="{colours[optimizer]}" stroke-width="2.5"'
            out.append(f'<polyline points="{points}" fill="none" stroke-linejoin="round" {style}/>')
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=("npu", "cpu", "both"), default="both")
    parser.add_argument("--picture", default="regression.svg")
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args()
    devices = ["npu", "cpu"] if options.device == "both" else [options.device]

    shown = [(loss, optimizer) for loss in LOSSES for optimizer in OPTIMIZERS]
    fits = {(*names, device): Fit(*names, device, options.epochs) for device in devices for names in shown}
    print(f"{len(fits)} fits on {' and '.join(devices)}; the loss on {devices[0]} per epoch:")
    print("epoch  " + "  ".join(f"{' '.join(names):>15}" for names in shown))
    for epoch in range(1, options.epochs + 1):
        for fit in fits.values():
            fit.epoch()
        print(f"{epoch:5}  " + "  ".join(f"{fits[(*names, devices[0])].history[-1]:15.6f}" for names in shown), flush=True)

    good = True
    print(f"\n{'loss':<10} {'optimizer':<9} " + " ".join(f"{'on ' + d:>12}" for d in devices) + f" {'below':>8} {'apart':>9}")
    for loss, optimizer in shown:
        last = [fits[loss, optimizer, d].history[-1] for d in devices]
        bound = LOSSES[loss][2]
        apart = (max(last) - min(last)) / max(last)
        fine = all(math.isfinite(v) and v < bound for v in last) and apart <= TOLERANCE
        good &= fine
        difference = f"{apart:9.1e}" if len(devices) > 1 else f"{'':9}"
        numbers = " ".join(f"{v:12.8f}" for v in last)
        print(f"{loss:<10} {optimizer:<9} {numbers} {bound:8g} {difference}  {'right' if fine else 'WRONG'}")
    steps = options.epochs * SAMPLES // BATCH
    for device in devices:
        times = [fit.seconds for key, fit in fits.items() if key[2] == device]
        print(f"{device}: {sum(times) / len(times) / steps * 1e3:.2f} ms per step")
    with open(options.picture, "w", encoding="utf-8") as file:
        file.write(picture(fits, devices, options.epochs))
    print(f"loss curves: {options.picture}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
