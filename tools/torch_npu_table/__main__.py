"""Writes python/portacl/torch/operators-VERSION.json: what each operator of the installed torch_npu needs of CANN. That of one
version, BASE, has everything; those of others have what differs from it.

    python tools/torch_npu_table PREFIX          (a Python with torch, torch_npu, expecttest and capstone; PREFIX: portacl, installed)

Two sources. What the kernel of an operator can reach, read from the binary (static_calls.py), and of that what it can reach on
a product with plain formats (guarded_paths.py), is complete, but it holds the ways of all arguments and versions of CANN. What
PyTorch's samples make it call, with a stand-in for CANN that has everything (traced_calls.py), is exact and incomplete. So an
operator needs what it can reach, less what the rules of needs() take away, and CANN's graph engine where it can reach nothing
else, or where a sample led there. The rest, by hand, is in PLACES_BY_HAND below. Last, what is own on the installed portacl is
called with tensors of every dtype (refused_dtypes.py). Needs capstone, a disassembler. Takes about 10 minutes on one core.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import collections
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import graph_operators
import stand_in
from guarded_paths import Condition, Paths
from static_calls import Binary, custom_operators_among, functions_among

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "portacl" / "torch"
BASE = "2.13.0"
DEFAULT_PRODUCT = "Ascend910B1"
OTHER_PRODUCTS = {  # pattern of the products' names: one of them
    "Ascend310B.*": "Ascend310B1",
    "Ascend310P.*": "Ascend310P3",
    "Ascend910(A|B|ProA|ProB|PremiumA)": "Ascend910A",
    "Ascend950.*": "Ascend950PR_9579",
}

# Where more goes to the graph engine than samples show: what may go there falls back.
BEFORE_A2 = ("Ascend310B1", "Ascend310P3", "Ascend910A")

# The operators of the graph engine that stand in code with much else, for tensors in an internal format: what needs only these needs
# nothing. Which others portacl has, graph_operators.py knows.
GRAPH_OPERATORS_HERE = ("BroadcastTo", "Identity")

# Reached from everything: casts of tensors in the device's internal formats.
_INFRASTRUCTURE = {
    "aclnnNpuFormatCast",
    "aclnnNpuFormatCastCalculateSizeAndFormat",
    "npu::_npu_dtype_cast",
    "npu::npu_dtype_cast_",
    "npu::npu_format_cast",
    "npu::npu_format_cast_",
    "npu::npu_reshape",
    "npu::get_npu_format",
}

# What neither source shows, and why.
PLACES_BY_HAND = {
    # Complex tensors alone pass through aclnnComplex; copying them as pairs of numbers needs nothing else.
    "aten::copy_": "InplaceCopy Cast",
    # Nothing but memory; the binary registers it in another way than the others.
    "aten::new_empty_strided": "",
    # More than one layer, or both directions, call DynamicRNN, an operator of the graph engine.
    "aten::lstm.input": "legacy",
    "aten::lstm.data": "legacy",
    "aten::lstm_cell": "legacy",
    "aten::gru.input": "legacy",
    "aten::_thnn_fused_gru_cell": "legacy",
    # Calls BroadcastTo of the graph engine, which is here; the code of 2.10.0.post4 does not show that.
    "aten::npu_broadcast": "",
    "aten::npu_broadcast.out": "",
    # Holds the steps of synchronized batch norm as well, which no argument of its leads to.
    "aten::native_batch_norm_backward": "BatchNormBackward",
    # LessScalar, which CANN lacks, is for a number on the CPU as self: that falls back.
    "aten::ge.Tensor": "GeScalar GeTensor",
    # Call fused attention through a dispatcher key of their own; what has sinks or shifts of slopes needs more and says so itself.
    "aten::scaled_dot_product_attention": "npu::npu_fusion_attention_v3 npu::npu_fusion_attention_grad_v3",
    "aten::npu_fusion_attention_v3": "DropoutGenMaskV2 FlashAttentionScore",
    "aten::npu_fusion_attention_grad_v3": "FlashAttentionScoreGrad",
    "aten::npu_fusion_attention": "DropoutGenMaskV2 FlashAttentionScore FlashAttentionVarLenScore FlashAttentionVarLenScoreV4",
    "aten::npu_fusion_attention_grad": "FlashAttentionScoreGrad FlashAttentionUnpaddingScoreGrad FlashAttentionUnpaddingScoreGradV4",
    # Asks for the product in a way that is not seen; as without out.
    "aten::npu_fused_infer_attention_score.out": "FusedInferAttentionScoreV3|FusedInferAttentionScoreV2",
    # No aclnn function and not a single sample: operators of the graph engine.
    "aten::_embedding_bag_per_sample_weights_backward": "legacy",
    "aten::_native_multi_head_attention": "legacy",
    "aten::_pad_packed_sequence": "legacy",
    "aten::_weight_norm": "legacy",
    "aten::fft_c2r_backward": "legacy",
    "aten::fft_r2c_backward": "legacy",
    "aten::multilabel_margin_loss": "MultilabelMarginLoss",
    "aten::pdist": "Pdist",
    "aten::quantize_per_channel": "legacy",
    "aten::quantize_per_tensor": "legacy",
    "aten::repeat_interleave_backward_int": "legacy",
    "aten::to_padded_tensor": "legacy",
}

# The same for the products of a pattern.
PLACES_BY_HAND_ON = {
    "Ascend950.*": {
        "aten::npu_fused_infer_attention_score.out": "FusedInferAttentionScoreV5",
        "aten::npu_fusion_attention": "DropoutV3 FlashAttentionScoreV4",
        "aten::npu_fusion_attention_grad": "FlashAttentionScoreGradV4",
        "aten::npu_fusion_attention_grad_v3": "FlashAttentionScoreGradV4",
        "aten::npu_fusion_attention_v3": "DropoutV3 FlashAttentionScoreV4",
    },
}

# Operators whose gradient is torch_npu's own: what that calls.
GRADIENTS = {
    "aten::_fft_c2r": "npu::fft_c2r_backward",
    "aten::_fft_r2c": "npu::fft_r2c_backward",
    "aten::adaptive_avg_pool2d": "aten::_adaptive_avg_pool2d_backward",
    "aten::affine_grid_generator_backward": "",
    "aten::binary_cross_entropy_with_logits": "npu::npu_binary_cross_entropy_with_logits_backward",
    "aten::cdist": "aten::_cdist_backward",
    "aten::gather": "npu::npu_gather_backward",
    "aten::kl_div": "npu::kl_div_backward npu::kl_div_target_backward",
    "aten::l1_loss": "npu::l1_loss_backward",
    "aten::log_sigmoid": "aten::log_sigmoid_backward",
    "aten::matmul": "aten::matmul_backward",
    "aten::multilabel_margin_loss": "legacy",
    "aten::native_dropout": "aten::native_dropout_backward",
    "aten::pdist": "legacy",
    "aten::renorm": "npu::npu_renorm_backward",
    "aten::renorm_": "npu::npu_renorm_backward",
    "aten::repeat_interleave.self_Tensor": "npu::repeat_interleave_backward_tensor",
    "aten::repeat_interleave.self_int": "npu::repeat_interleave_backward_int",
    "aten::softmax.int": "aten::_softmax_backward_data npu::_npu_dtype_cast_backward",
    "aten::stft": "npu::stft_backward",
}


def trace(product: str, library: Path, prefix: Path) -> dict[str, set[str]]:
    """Operator: functions that it called."""
    environment = environment_on(prefix, product) | {"LD_PRELOAD": str(library), "TASK_QUEUE_ENABLE": "0"}
    environment["LD_LIBRARY_PATH"] = f"{library.parent}:{environment['LD_LIBRARY_PATH']}"
    calls: dict[str, set[str]] = collections.defaultdict(set)
    start, entries = 0, 1
    while start <= entries:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("traced_calls.py")), str(library), str(start)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        last = start
        for line in process.stdout:
            told = json.loads(line)
            entries = told.get("entries", entries)
            last = told.get("begin", last)
            for name, names in told.get("calls", {}).items():
                calls[name] |= set(names)
        if process.wait() == 0:
            break
        print(f"  {product}: entry {last} ended the process ({process.returncode}); going on behind it", flush=True)
        start = last + 1
    return calls


def is_version_of(name: str, other: str) -> bool:
    """aclnnTopkV2 is a version of aclnnTopk."""
    return other.startswith(name) and other[len(name) :].strip("V23456789") == "" and other != name


class Found(NamedTuple):
    """What the kernel of an operator can reach on a product."""

    functions: frozenset[str]
    custom: frozenset[str]  # operators of torch_npu's own, called through the dispatcher
    graph: bool  # an operator of CANN's graph engine that portacl lacks


def found_on(product: int, paths: Paths, kernels: dict[str, list[int]], functions: set[str]) -> dict[str, Found]:
    found = {}
    for name, roots in kernels.items():
        reached = paths.reached(roots, Condition(product))
        graph = any(not paths.mentions(function, GRAPH_OPERATORS_HERE) for function in reached.graph)
        custom = custom_operators_among(reached.strings) - _INFRASTRUCTURE
        found[name] = Found(frozenset(reached.asked & functions - _INFRASTRUCTURE), frozenset(custom), graph)
    return found


def needs(
    found: Found, default: Found, others: list[Found], reached: set[str], called: set[str], called_elsewhere: set[str]
) -> list[str]:
    """What an operator needs on a product. `others`: what it can reach on others; `reached`: the functions of all ways at once."""
    if found.graph and not default.graph:  # a way that this product is sent
        return ["legacy"]
    graph_operators = {c.removeprefix("legacy:") for c in called if c.startswith("legacy:")}
    if found.functions:
        kept = functions_needed(set(found.functions), called, called_elsewhere)
    elif found.graph or any(other.graph and not other.functions for other in others):
        return ["legacy"]
    elif any(other.functions for other in others):  # another product alone has it
        kept = functions_needed(reached, called, called_elsewhere)
    else:
        kept = sorted(found.custom or default.custom)
    if found.graph and not graph_operators <= set(GRAPH_OPERATORS_HERE):  # else it was for a tensor in an internal format
        kept.append("legacy")
    return kept


def functions_needed(reached: set[str], called: set[str], called_elsewhere: set[str]) -> list[str]:
    """The functions, less those that only another product, older CANN, internal formats or graph capture take."""
    kept = []
    for name in sorted(reached | {c for c in called if not c.startswith("legacy")}):
        if name not in called:
            if name.endswith("WeightNz"):  # weights in an internal format
                continue
            if name in called_elsewhere:
                continue
            if any(is_version_of(name, other) or is_version_of(other, name) for other in called):
                continue
            if name.endswith("Tensor") and name[: -len("Tensor")] in reached and ("Random" in name or is_random(name)):
                continue  # seed and offset in device memory: while a graph is captured
            if name == "aclnnStatelessExponentialTensor":  # likewise
                continue
            if name in ("aclnnFastLayerNorm", "aclnnGroupNormSwish", "aclnnSetPytorchRandom"):  # asked for by variables
                continue
            if name == "aclnnLogSigmoid" and "aclnnLogSigmoidForward" in called:
                continue
            if name == "aclnnRepeatInterleave" and "aclnnRepeatInterleaveWithDim" in reached and not called:
                continue
        kept.append(name)
    return [k for k in kept if not any(is_version_of(k, other) for other in kept) or k in called]


def with_older(needed: list[str], reached: frozenset[str]) -> list[str]:
    """Each function with its versions, the newest first, any of which is enough: torch_npu takes the newest that is there, or
    chooses by the arguments and says by itself, before anything is queued, that a version is not there."""
    alternatives = []
    for name in needed:
        base = name.rstrip("V23456789")
        versions = sorted((f for f in reached if f == base or is_version_of(base, f)), reverse=True)
        alternatives.append("|".join(map(short, versions)) if name in versions else short(name))
    return list(dict.fromkeys(alternatives))


def is_random(name: str) -> bool:
    return any(word in name for word in ("Uniform", "Normal", "Dropout", "Multinomial", "Exponential", "Bernoulli"))


def short(name: str) -> str:
    """As the table has it: without aclnn; acl-only names keep their prefix."""
    return name[len("aclnn") :] if name.startswith("aclnn") else name


def environment_on(prefix: Path, product: str) -> dict[str, str]:
    return dict(
        os.environ,
        ASCEND_HOME_PATH=str(prefix),
        ASCEND_OPP_PATH=str(prefix / "opp"),
        LD_LIBRARY_PATH=str(prefix / "lib64"),
        PORTACL_SOC=product,
    )


def refused(prefix: Path) -> dict[str, str]:
    """Operator: dtypes that its functions refuse and the CPU takes, on portacl itself. Reads the table."""
    program = [sys.executable, "-B", str(Path(__file__).with_name("refused_dtypes.py"))]
    environment = environment_on(prefix, DEFAULT_PRODUCT) | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    return json.loads(subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout)


def number_of(product: str, prefix: Path) -> int:
    """How torch_npu numbers a product."""
    program = [sys.executable, "-c", "import any_build, torch_npu; print(torch_npu._C._npu_get_soc_version())"]
    environment = environment_on(prefix, product) | {"PYTHONPATH": str(Path(__file__).parent)}
    return int(subprocess.run(program, env=environment, capture_output=True, text=True, check=True).stdout.split()[-1])


def write(file: Path, data: dict) -> None:
    """Writes all of it for the version BASE, and for another version what differs from that."""
    if data["torch_npu"] != BASE:
        data = {"base": BASE, **_table().differences(json.loads((PACKAGE / f"operators-{BASE}.json").read_text()), data)}
    file.write_text(json.dumps(data, indent=0, ensure_ascii=True) + "\n", encoding="utf-8")


def _table():
    """The module _table of the checkout, without the rest of its package, which would put portacl in force."""
    sys.path.append(str(PACKAGE.parents[1]))
    spec = importlib.util.spec_from_file_location("_table", PACKAGE / "_table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def computes_on_cpu(operator: str) -> bool:
    import torch

    try:
        return torch._C._dispatch_has_computed_kernel_for_dispatch_key(operator, "CPU")
    except RuntimeError:  # an overload that this version of PyTorch does not have
        return False


def table_of(
    product: str,
    found: dict[str, dict[str, Found]],
    traces: dict[str, dict[str, set[str]]],
    reached: dict[str, set[str]],
    has_cpu_kernel: set[str],
) -> dict[str, str]:
    table = {}
    others = [p for p in found if p != product]
    for name, here in found[product].items():
        full = "aten::" + name
        calls = traces[product].get(full, set()) | traces[product].get("npu::" + name, set())
        elsewhere = {f for p in others for f in traces[p].get(full, set())} if calls else set()
        needed = needs(here, found[DEFAULT_PRODUCT][name], [found[p][name] for p in others], reached[name], calls, elsewhere)
        strict = name in has_cpu_kernel  # which is better than an error for some arguments
        if strict and here.graph and not calls and product in BEFORE_A2:  # may be sent there, as what samples called was
            needed = ["legacy"]
        table[full] = " ".join(map(short, needed) if strict else with_older(needed, here.functions))
    table.update(PLACES_BY_HAND)
    if product != OTHER_PRODUCTS["Ascend950.*"]:  # there torch_npu refuses them by itself
        for name, types in graph_operators.CALLS.items():
            if table.get("aten::" + name) == "legacy":
                absent = product in BEFORE_A2 and name in graph_operators.SINCE_A2
                table["aten::" + name] = " ".join(f"graph:{one}" for one in types.split()) if absent else graph_operators.needs(types)
    for pattern, places in PLACES_BY_HAND_ON.items():
        if OTHER_PRODUCTS[pattern] == product:
            table.update(places)
    return table


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    prefix = Path(sys.argv[1]).resolve()
    import any_build  # noqa: F401
    import torch
    import torch_npu

    version = torch_npu.__version__.split("+")[0]
    print(f"reading libtorch_npu.so of torch_npu {version}", flush=True)
    binary = Binary(str(Path(torch_npu.__file__).parent / "lib" / "libtorch_npu.so"))
    registered = {
        name.partition("::")[2]
        for name in torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1")
        if name.startswith("aten::")
    }
    kernels = binary.registrations(registered)
    functions = binary.functions()
    print(f"  {len(kernels)} operators, {len(functions)} functions", flush=True)
    products = (DEFAULT_PRODUCT, *OTHER_PRODUCTS.values())
    print("following their paths on each product", flush=True)
    paths = Paths(binary)
    found = {p: found_on(number_of(p, prefix), paths, kernels, set(functions)) for p in products}
    traces = {}
    with tempfile.TemporaryDirectory() as folder:
        searched = [library.name for library in (prefix / "lib64").glob("libopapi_*.so")]
        library = stand_in.build(functions, Path(folder), searched)
        for product in products:
            print(f"calling every operator as {product}", flush=True)
            traces[product] = trace(product, library, prefix)
            print(f"  {sum(1 for c in traces[product].values() if c)} operators called functions", flush=True)
    reached = {name: functions_among(binary.strings_reached(roots)) - _INFRASTRUCTURE for name, roots in kernels.items()}
    has_cpu_kernel = {name for name in kernels if computes_on_cpu("aten::" + name)}
    tables = {product: table_of(product, found, traces, reached, has_cpu_kernel) for product in products}
    base = tables[DEFAULT_PRODUCT]
    data = {
        "torch_npu": version,
        "operators": dict(sorted(base.items())),
        "products": {
            product: {k: v for k, v in sorted(tables[example].items()) if v != base[k]}
            for product, example in OTHER_PRODUCTS.items()
        },
        "gradients": GRADIENTS,
        "refused": {},
    }
    file = PACKAGE / f"operators-{version}.json"
    write(file, data)
    print("calling every own operator with every dtype", flush=True)
    by_hand = {"aten::" + name: " ".join(sorted(dtypes.split())) for name, dtypes in graph_operators.REFUSED.items()}
    data["refused"] = dict(sorted({**refused(prefix), **by_hand}.items()))
    write(file, data)
    print(f"wrote {file}", flush=True)


if __name__ == "__main__":
    main()
