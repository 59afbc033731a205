#!/usr/bin/env python3
"""Sums up what portacl_bench and peers.py measured: required against reached, and plots.

Usage: report.py [--plots FOLDER] [--page PAGE.md] [--missed] [--again ceiling|peers] RESULTS.json...

--page writes the tables and the plots between the marks of a page (what portacl_bench --limits measured: between marks of its own), --missed lists every case that misses what is required, --again
prints a filter that makes ./dev bench (peers: ./dev bench --peers) measure those cases once more, and does nothing else.
Several results are joined; a case that is in more than one counts as in the last. Files that do not exist are skipped.
SPDX-License-Identifier: Apache-2.0
"""
import argparse
import dataclasses
import json
import math
import pathlib
import re
import sys
from xml.sax.saxutils import escape

CEILING_SUFFIX = "/iterations:"
PEERS = ("eager", "forward", "autograd", "compile", "loop", "numpy")


@dataclasses.dataclass
class Result:
    name: str
    group: str  # ceiling, second_thread, resident, limit, or what it is compared with
    operator: str
    dtype: str
    layout: str
    log2: int
    threads: int
    values: dict

    @property
    def ratio(self):
        return self.values["ratio"]

    @property
    def full_name(self):
        return self.name if self.group == "ceiling" else f"{self.group}/{self.name}"

    @property
    def kind(self):
        """What is written: a gradient, or a loss of every element, summed over all of them or over axis 0."""
        _, _, output = self.operator.partition(".")
        if output.split(".")[0] not in ("none", "mean", "sum"):
            return "gradient"
        if output.startswith("none"):
            return "none"
        return "axis 0" if self.operator.startswith("mse_loss_out") else "mean"

    @property
    def uses_exp_or_log(self):
        return self.operator.startswith("kl_div") and self.operator != "kl_div_backward"


def parse(name, group, values):
    operator, dtype, layout, size, threads = name.split("/")
    return Result(name, group, operator, dtype, layout, int(size.removeprefix("2^")), int(threads.removeprefix("t")),
                  values)


def load(paths):
    results, notes = {}, {}
    for path in paths:
        if not path.exists():
            continue
        data = json.loads(path.read_text())
        if "comparisons" in data:
            notes["PyTorch"] = data["torch"]
            for values in data["comparisons"]:
                group, name = values["name"].split("/", 1)
                results[values["name"]] = parse(name, group, values)
        else:
            for values in data["benchmarks"]:
                if values.get("error_occurred"):
                    continue
                name = values["name"].split(CEILING_SUFFIX)[0]
                group = "ceiling"
                for other in ("second_thread", "second_thread_after_idle", "resident", "limit"):
                    if name.startswith(other + "/"):
                        group = other
                results["ceiling/" + name] = parse(name.removeprefix(group + "/"), group, values)
    return list(results.values()), notes


# ---- required against reached -----------------------------------------------------------------

@dataclasses.dataclass
class Requirement:
    text: str
    wanted: object  # a function of a result
    least: float | None = None  # no case below
    mean: float | None = None  # geometric mean over the cases
    most: float | None = None  # no case above
    value: str = "ratio"
    within_noise: bool = False  # a case counts as well if the 90th percentile of its pairs reaches what is required

    def is_met_by(self, r):
        value = r.values[self.value]
        if self.within_noise:
            value = max(value, r.values["ratio_p90"])
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)


def ceiling(kind, layouts, sizes, dtypes=("f32", "f16", "bf16")):
    """Against what memory allows: operators of a kind, without exp or log."""
    return lambda r: (r.group == "ceiling" and r.kind == kind and r.layout in layouts and r.log2 in sizes and
                      r.dtype in dtypes and not r.uses_exp_or_log)


def is_log_gradient(r):
    return r.operator == "kl_div_backward.log"


ALIKE = ("transposed", "row", "scalar_grad")
UNLIKE = ("one_transposed", "stride2")

REQUIREMENTS = [
    Requirement("gradients, dense, from memory (2^24, 2^26): of the ceiling", ceiling("gradient", ("dense",), (24, 26)), 0.95),
    Requirement("KL gradient with logTarget, from memory: of the smaller of the ceiling and its own rate in cache",
                lambda r: r.group == "ceiling" and r.layout == "dense" and r.log2 in (24, 26) and is_log_gradient(r) and
                r.dtype != "mixed", 0.85, value="ratio_to_smaller"),
    Requirement("KL gradient with logTarget, in cache (2^12, 2^16): times PyTorch's exp, mul chain",
                lambda r: r.group == "eager" and is_log_gradient(r) and r.layout == "dense" and r.log2 in (12, 16), 2.0),
    Requirement("gradients, dense f32 in cache (2^16): of the ceiling", ceiling("gradient", ("dense",), (16,), ("f32",)), 0.85),
    Requirement("dense 16-bit in cache (2^16): times PyTorch's best",
                lambda r: r.group == "eager" and r.layout == "dense" and r.log2 == 16 and r.dtype != "f32" and
                not r.uses_exp_or_log, 1.5),
    Requirement("gradients, all transposed alike, row broadcast, 0-dim gradOutput (2^24): of the ceiling for their bytes",
                ceiling("gradient", ALIKE, (24,)), 0.95),
    Requirement("gradients, mixed dtypes (2^24): of the ceiling", ceiling("gradient", ("dense",), (24,), ("mixed",)), 0.85),
    Requirement("gradients, one operand transposed, stride 2 (2^24): of the ceiling for the lines they touch",
                ceiling("gradient", UNLIKE, (24,)), 0.70),
    Requirement("KL with self broadcast, rows and columns (2^24): of a ceiling that only reads",
                ceiling("gradient", ("self_row", "self_column"), (24,)), 0.85),
    Requirement("losses, none, dense, from memory (2^24, 2^26): of the ceiling", ceiling("none", ("dense",), (24, 26)), 0.95),
    Requirement("losses, mean, dense, from memory (2^24, 2^26): of a ceiling that only reads",
                ceiling("mean", ("dense",), (24, 26)), 0.95),
    Requirement("losses, mean over axis 0 (MseLossOut), dense, from memory: of a ceiling that only reads",
                ceiling("axis 0", ("dense",), (24, 26)), 0.95),
    Requirement("losses in other layouts and dtypes, from memory (nothing is required)",
                lambda r: r.group == "ceiling" and r.kind != "gradient" and r.log2 in (24, 26) and not r.uses_exp_or_log and
                (r.layout != "dense" or r.dtype == "mixed")),
    Requirement("losses, dense f32 in cache (2^16): of the ceiling (nothing is required)",
                lambda r: r.kind != "gradient" and ceiling(r.kind, ("dense",), (16,), ("f32",))(r)),
    Requirement("PyTorch eager with preallocated outputs", lambda r: r.group == "eager", 1.0, 3.0),
    Requirement("forward operators against torch.nn.functional", lambda r: r.group == "forward", 1.0, 3.0),
    Requirement("autograd as users write it (loss and gradient on both sides)", lambda r: r.group == "autograd", 1.5, 6.0),
    Requirement("torch.compile", lambda r: r.group == "compile", 0.95, 1.2),
    Requirement("hand-written OpenMP loop (2^20 and up)", lambda r: r.group == "loop", 0.98, 1.15),
    Requirement("NumPy, one thread (nothing is required)", lambda r: r.group == "numpy"),
    Requirement("call of 4 elements, both phases and synchronize: times faster than PyTorch's best",
                lambda r: r.group == "eager" and r.log2 == 2 and r.layout == "dense", 5.0),
    Requirement("second thread, back to back, 2^18: times one thread",
                lambda r: r.group == "second_thread" and r.log2 == 18, 1.7),
    Requirement("second thread, back to back, 2^16: times one thread",
                lambda r: r.group == "second_thread" and r.log2 == 16, 1.3),
    Requirement("second thread, any size, also after 2 ms of idleness: times one thread (90th percentile of the pairs)",
                lambda r: r.group in ("second_thread", "second_thread_after_idle"), 1.0, within_noise=True),
    Requirement("peak resident growth over operands at 2^26, MiB", lambda r: r.group == "resident", most=4.0,
                value="mebibytes"),
]


def geometric_mean(values):
    return math.exp(sum(math.log(max(v, 1e-9)) for v in values) / len(values))


def spread(r):
    if "ratio_p10" not in r.values:
        return ""
    return f" ({r.values['ratio_p10']:.2f}..{r.values['ratio_p90']:.2f})"


def rows_of_table(results):
    for requirement in REQUIREMENTS:
        found = [r for r in results if requirement.wanted(r) and requirement.value in r.values]
        if not found:
            continue
        values = [r.values[requirement.value] for r in found]
        required, reached, good = [], [], sum(requirement.is_met_by(r) for r in found)
        if requirement.least is not None:
            required.append(f"{requirement.least:g}")
        if requirement.most is not None:
            required.append(f"at most {requirement.most:g}")
        if requirement.mean is not None:
            required.append(f"mean {requirement.mean:g}")
        mean = geometric_mean(values)
        worst = (max if requirement.most is not None else min)(found, key=lambda r: r.values[requirement.value])
        name = worst.name if "/" in worst.name else worst.operator
        reached.append(f"{worst.values[requirement.value]:.2f}{spread(worst) if requirement.value == 'ratio' else ''} "
                       f"`{name}`")
        met = good == len(found) and (requirement.mean is None or mean >= requirement.mean)
        yield (requirement.text, ", ".join(required) or "-", f"{sorted(values)[len(values) // 2]:.2f}", f"{mean:.2f}",
               reached[0], f"{good} of {len(found)}", "yes" if met else "no")


HEADINGS = ("case", "at least", "median", "geometric mean", "lowest (p10..p90 of its pairs)", "cases that reach it", "met")


def print_table(results):
    rows = list(rows_of_table(results))
    if rows:
        print("\nrequired and reached")
    for text, required, median, mean, worst, count, met in rows:
        print(f"  {text}\n      at least {required}; median {median}, geometric mean {mean}, lowest {worst}; "
              f"{count} cases reach it: {'met' if met == 'yes' else 'NOT met'}")


# ---- hand-written loops -----------------------------------------------------------------------

LIMIT_HEADINGS = ("case", "fastest loop tried", "loop: of the ceiling", "library: of that loop", "library: of the ceiling")


def rows_of_limits(results):
    for r in results:
        if r.group == "limit":
            share = lambda name: (f"{r.values[name]:.2f} ({r.values[name + '_p10']:.2f}..{r.values[name + '_p90']:.2f})")
            yield (r.name, r.values["label"], share("limit_of_ceiling"), share("ratio"), share("library_of_ceiling"))


def print_limits(results):
    rows = list(rows_of_limits(results))
    if rows:
        print("\nhand-written loops of the same access pattern: what they have of the ceiling, and the library of them")
    for name, loop, limit, library, of_ceiling in rows:
        print(f"  {name:44} loop {limit}, library {library} of it, {of_ceiling} of the ceiling; {loop}")


def markdown(headings, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in (headings, ("---",) * len(headings), *rows))


PAGE_MARKS = ("<!-- written by bench/report.py -->\n", "\n<!-- end of what bench/report.py wrote -->")
LIMIT_MARKS = ("<!-- hand-written loops, written by bench/report.py -->\n", "\n<!-- end of the hand-written loops -->")


PLOTS = {"sizes_one_thread": "time per element over size, one thread",
         "sizes_all_threads": "time per element over size, all threads",
         "layouts": "share of the ceiling by layout", "peers": "times faster than other programs"}


def write_between(page, marks, text):
    before, found, rest = page.read_text().partition(marks[0])
    _, found_end, after = rest.partition(marks[1])
    if not found or not found_end:
        sys.exit(f"{page}: the marks between which the table belongs are missing")
    page.write_text(before + marks[0] + text + marks[1] + after)


def write_page(results, page, plots):
    limits = [(f"`{name}`", *rest) for name, *rest in rows_of_limits(results)]
    if limits:
        write_between(page, LIMIT_MARKS, markdown(LIMIT_HEADINGS, limits))
    if len(limits) == len(results):
        return
    images = "".join(f"\n\n![{text}]({(plots / name).resolve().relative_to(page.resolve().parent)}.svg)"
                     for name, text in PLOTS.items() if plots and (plots / f"{name}.svg").exists())
    write_between(page, PAGE_MARKS, markdown(HEADINGS, rows_of_table(results)) + images)


def missed_by(results, requirement):
    return [r for r in results if requirement.wanted(r) and requirement.value in r.values and not requirement.is_met_by(r)]


def again(results, side):
    found = {r.full_name for q in REQUIREMENTS for r in missed_by(results, q) if (r.group in PEERS) == (side == "peers")}
    return "^(" + "|".join(re.escape(name) for name in sorted(found)) + ")$"


def print_missed(results):
    for requirement in REQUIREMENTS:
        missed = missed_by(results, requirement)
        if missed:
            print(f"\n{requirement.text}: at least {requirement.least:g}")
        for r in sorted(missed, key=lambda r: r.values[requirement.value]):
            print(f"  {r.values[requirement.value]:6.2f}{spread(r):20} {r.name}")


# ---- plots ------------------------------------------------------------------------------------

COLOURS = ("#3b82c4", "#d9822b", "#3a9d5d", "#9467bd", "#c2504f", "#7f7f7f", "#17a2b8")
STYLE = """<style>
text { font-family: "DejaVu Sans", Verdana, sans-serif; font-size: 12px; fill: #6e7681; }
.title { font-size: 15px; font-weight: bold; } .panel { font-size: 13px; font-weight: bold; }
.small { font-size: 11px; } .grid { stroke: #8b949e; stroke-opacity: 0.3; } .axis { stroke: #8b949e; }
</style>"""


class Svg:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                      f'height="{height}">', STYLE]

    def text(self, x, y, text, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>')

    def line(self, x1, y1, x2, y2, kind="grid"):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def path(self, points, colour, dashed=False):
        track = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        self.parts.append(f'<polyline points="{track}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')

    def dot(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}"/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" '
                          f'fill="{colour}"/>')

    def write(self, path):
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n")


def legend(svg, x, y, names, dashed=None):
    for i, name in enumerate(names):
        svg.bar(x, y - 9, 14, 9, COLOURS[i])
        svg.text(x + 19, y, name)
        x += 19 + 8 * len(name) + 18
    if dashed:
        svg.parts.append(f'<line x1="{x}" y1="{y - 4}" x2="{x + 24}" y2="{y - 4}" stroke="#8b949e" stroke-width="2" '
                         'stroke-dasharray="4 4"/>')
        svg.text(x + 30, y, dashed)


def plot_sizes(results, threads, path):
    operators = ("l1_loss_backward", "smooth_l1_loss_backward", "mse_loss_backward", "kl_div_backward",
                 "kl_div_backward.log", "l1_loss.mean")
    dtypes = ("f32", "f16", "bf16", "mixed")
    found = [r for r in results if r.group == "ceiling" and r.layout == "dense" and r.threads == threads and
             r.operator in operators and r.log2 >= 8]
    if len({r.log2 for r in found}) < 3:
        return
    operators = [o for o in operators if any(r.operator == o for r in found)]
    columns, width, height, left, top, gap = 3, 300, 210, 62, 78, 62
    rows = -(-len(operators) // columns)
    svg = Svg(left + columns * (width + gap) - gap + 20, top + rows * (height + 62))
    svg.text(left, 24, f"Nanoseconds per element over the number of elements, {threads} thread{'s' * (threads > 1)}", "title")
    legend(svg, left, 48, dtypes, "ceiling of the same run")
    values = [v for r in found for v in (r.values["ns_per_element"], r.values["ceiling_ns_per_element"])]
    low, high = math.floor(math.log10(min(values)) * 3) / 3, math.ceil(math.log10(max(values)) * 3) / 3
    sizes = sorted({r.log2 for r in found})
    for i, operator in enumerate(operators):
        x0, y0 = left + i % columns * (width + gap), top + i // columns * (height + 62)
        x = lambda s: x0 + (s - sizes[0]) / (sizes[-1] - sizes[0]) * width
        y = lambda v: y0 + height - (math.log10(v) - low) / (high - low) * height
        svg.text(x0, y0 - 7, operator, "panel")
        for mark in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10):
            if low <= math.log10(mark) <= high:
                svg.line(x0, y(mark), x0 + width, y(mark))
                svg.text(x0 - 6, y(mark) + 4, f"{mark:g}", "small", "end")
        for size in sizes:
            svg.line(x(size), y0, x(size), y0 + height)
            svg.text(x(size), y0 + height + 16, f"2^{size}", "small", "middle")
        for colour, dtype in zip(COLOURS, dtypes):
            line = sorted((r.log2, r) for r in found if r.operator == operator and r.dtype == dtype)
            if line:
                svg.path([(x(s), y(r.values["ceiling_ns_per_element"])) for s, r in line], colour, dashed=True)
                svg.path([(x(s), y(r.values["ns_per_element"])) for s, r in line], colour)
                for s, r in line:
                    svg.dot(x(s), y(r.values["ns_per_element"]), colour)
    svg.write(path)


def plot_layouts(results, path):
    layouts = ("dense", "scalar_grad", "row", "column", "transposed", "one_transposed", "stride2", "self_row",
               "self_column")
    found = [r for r in results if r.group == "ceiling" and r.log2 == 24 and r.dtype == "f32"]
    operators = [o for o in ("l1_loss_backward", "smooth_l1_loss_backward", "mse_loss_backward", "kl_div_backward",
                             "l1_loss.mean") if any(r.operator == o and r.layout != "dense" for r in found)]
    if not operators:
        return
    threads = sorted({r.threads for r in found})
    left, width, bar, top = 130, 330, 9, 84
    lines = [(layout, [o for o in operators if any(r.operator == o and r.layout == layout for r in found)])
             for layout in layouts]
    lines = [line for line in lines if line[1]]
    height = sum(len(line[1]) * (bar + 2) + 14 for line in lines)
    svg = Svg(left + len(threads) * (width + 40), top + height + 40)
    svg.text(20, 24, "Share of the ceiling by layout, float32, 2^24 elements (10th to 90th percentile as a line)", "title")
    legend(svg, 20, 48, operators)
    for column, count in enumerate(threads):
        x0 = left + column * (width + 40)
        x = lambda v: x0 + min(v, 1.3) / 1.3 * width
        svg.text(x0, top - 10, f"{count} thread{'s' * (count > 1)}", "panel")
        for mark in (0, 0.25, 0.5, 0.75, 1, 1.25):
            svg.line(x(mark), top, x(mark), top + height, "axis" if mark == 1 else "grid")
            svg.text(x(mark), top + height + 16, f"{mark:g}", "small", "middle")
        y = top + 6
        for layout, present in lines:
            if column == 0:
                svg.text(left - 10, y + len(present) * (bar + 2) / 2 + 4, layout, anchor="end")
            for operator in present:
                for r in found:
                    if (r.operator, r.layout, r.threads) == (operator, layout, count):
                        svg.bar(x0, y, x(r.ratio) - x0, bar, COLOURS[operators.index(operator)])
                        svg.line(x(r.values["ratio_p10"]), y + bar / 2, x(r.values["ratio_p90"]), y + bar / 2, "axis")
                y += bar + 2
            y += 14
    svg.write(path)


def plot_peers(results, path):
    titles = {"eager": "PyTorch eager, preallocated outputs", "autograd": "PyTorch autograd: loss and gradient",
              "forward": "torch.nn.functional, forward", "compile": "torch.compile", "loop": "hand-written OpenMP loop",
              "numpy": "NumPy"}
    sizes = (2, 16, 20, 24)
    found = [r for r in results if r.group in titles and r.layout == "dense" and r.log2 in sizes]
    groups = [g for g in titles if any(r.group == g for r in found)]
    if not groups:
        return
    lines = {g: list(dict.fromkeys(r.operator for r in found if r.group == g)) for g in groups}
    left, width, bar, top = 225, 310, 8, 80
    # Two columns of panels, each new one below the shorter.
    places, ends = {}, [top, top]
    for group in groups:
        column = ends.index(min(ends))
        places[group] = (column, ends[column])
        present = sum(len({r.log2 for r in found if (r.group, r.operator) == (group, o)}) * (bar + 1) + 10
                      for o in lines[group])
        ends[column] += present + 76
    svg = Svg(2 * (left + width) + 50, max(ends))
    svg.text(20, 24, "Times faster than others: geometric mean over dtypes and thread counts, dense operands", "title")
    legend(svg, 20, 48, [f"2^{s}" for s in sizes])
    for group in groups:
        column, y0 = places[group]
        x0 = left + column * (left + width + 20)
        marks = (0.2, 0.5, 1, 2, 5, 10, 20, 50)
        low, high = math.log10(marks[0]), math.log10(marks[-1])
        x = lambda v: x0 + (min(max(math.log10(v), low), high) - low) / (high - low) * width
        svg.text(x0, y0 + 14, titles[group], "panel")
        y = y0 + 26
        for operator in lines[group]:
            here = [s for s in sizes if any((r.group, r.operator, r.log2) == (group, operator, s) for r in found)]
            svg.text(x0 - 8, y + len(here) * (bar + 1) / 2 + 4, operator, "small", "end")
            for size in here:
                mean = geometric_mean([r.ratio for r in found if (r.group, r.operator, r.log2) == (group, operator, size)])
                begin, end = sorted((x(1), x(mean)))
                svg.bar(begin, y, end - begin, bar, COLOURS[sizes.index(size)])
                y += bar + 1
            y += 10
        for mark in marks:
            svg.line(x(mark), y0 + 22, x(mark), y, "axis" if mark == 1 else "grid")
            svg.text(x(mark), y + 14, f"{mark:g}", "small", "middle")
    svg.write(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="+", type=pathlib.Path)
    parser.add_argument("--plots", type=pathlib.Path)
    parser.add_argument("--page", type=pathlib.Path)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--again", choices=("ceiling", "peers"))
    options = parser.parse_args()
    results, _ = load(options.results)
    if not results:
        sys.exit("no results")
    if options.again:
        print(again(results, options.again))
        return
    print_table(results)
    print_limits(results)
    if options.missed:
        print_missed(results)
    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
        counts = sorted({r.threads for r in results if r.group == "ceiling"})
        for count in counts:
            name = "one_thread" if count == 1 else "all_threads"
            plot_sizes(results, count, options.plots / f"sizes_{name}.svg")
        plot_layouts(results, options.plots / "layouts.svg")
        plot_peers(results, options.plots / "peers.svg")
    if options.page:
        write_page(results, options.page, options.plots)


if __name__ == "__main__":
    main()
