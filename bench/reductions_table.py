"""Reductions and scans as bench/maps.py measures them: rows as those of moves_table.py, of a matrix along its rows, its columns, and whole.

SPDX-License-Identifier: Apache-2.0
"""
from moves_table import moved

FLOAT = ("f32",)
FLOATS = ("f32", "bf16")
NUMBERS = ("f32", "bf16", "i64")

# As moves_table.MADE.
MADE = {
    "by_rows": "torch.zeros(rows, dtype=a.dtype)",
    "by_columns": "torch.zeros(columns, dtype=a.dtype)",
    "whole": "torch.zeros((), dtype=a.dtype)",
    "more_by_rows": "torch.zeros(rows, dtype=a.dtype)",
    "more_by_columns": "torch.zeros(columns, dtype=a.dtype)",
    "more_whole": "torch.zeros((), dtype=a.dtype)",
    "wide_by_rows": "torch.zeros(rows, dtype=torch.int64)",
    "wide_by_columns": "torch.zeros(columns, dtype=torch.int64)",
    "wide_whole": "torch.zeros((), dtype=torch.int64)",
    "truth_by_rows": "torch.zeros(rows, dtype=torch.bool)",
    "truth_by_columns": "torch.zeros(columns, dtype=torch.bool)",
    "truth_whole": "torch.zeros((), dtype=torch.bool)",
    "places2": "torch.zeros((rows, columns), dtype=torch.int64)",
    "leading": "a2[:, :rows]",
    "seldom": "a * (torch.rand(n, generator=g) < 1e-9)",
}
# Which dims are reduced.
WAYS = (("", [1], "by_rows"), (".columns", [0], "by_columns"), (".whole", [0, 1], "whole"))


def over_dims(name, function, ours, theirs, dtypes=FLOATS, **more):
    """DIMS and OUT, MORE, WIDE or TRUTH stand for what a way has; DIM for the one dim, of ways that have one."""
    for suffix, dims, out in WAYS:
        if len(dims) > 1 and "DIM" in ours.replace("DIMS", ""):
            continue
        put = {"DIMS": f"[{','.join(map(str, dims))}]", "DIM": str(dims[0]), "OUT": out, "MORE": "more_" + out, "WIDE": "wide_" + out,
               "TRUTH": "truth_" + out}
        words = [ours, theirs, more.get("result", "OUT")]
        for key, text in put.items():
            words = [word.replace(key, text) for word in words]
        # PyTorch's float32 norm of 2^24 elements is 5e-4 off.
        compares = not (suffix == ".whole" and "norm" in name)
        yield moved(name + suffix, function, words[0], words[1], dtypes, **{**more, "result": words[2], "compares": compares})


def reductions():
    yield from over_dims("reduce_sum", "ReduceSum", "a2 A:DIMS I:0 type T:OUT", "torch.sum(a2, DIMS, out=OUT)", NUMBERS, domain="positive")
    yield from over_dims("reduce_nansum", "ReduceNansum", "a2 A:DIMS I:0 type T:OUT", "torch.nansum(a2, DIMS, out=OUT)", FLOAT, domain="positive")
    yield from over_dims("reduce_log_sum", "ReduceLogSum", "a2 A:DIMS I:0 I:0 T:OUT", "torch.log(torch.sum(a2, DIMS), out=OUT)", FLOAT,
                         domain="positive")
    yield from over_dims("mean", "Mean", "a2 A:DIMS I:0 type T:OUT", "torch.mean(a2, DIMS, out=OUT)", domain="positive")
    yield from over_dims("logsumexp", "LogSumExp", "a2 A:DIMS I:0 T:OUT", "torch.logsumexp(a2, DIMS, out=OUT)")
    yield moved("is_in_scalar_tensor", "IsInScalarTensor", "S:s T:a I:0 I:0 T:truth_whole", "torch.isin(s, a)", ("f32", "bf16", "i64", "i8"),
                result="truth_whole")
    yield moved("trace", "Trace", "T:leading T:whole", "torch.trace(leading)", FLOAT, domain="positive", result="whole")
    for most in ("max", "min"):
        title = most.title()
        yield from over_dims(f"a{most}", f"A{most}", "a2 A:DIMS I:0 T:OUT", f"torch.a{most}(a2, DIMS, out=OUT)", NUMBERS)
        yield from over_dims(f"{most}_dim", f"{title}Dim", "a2 I:DIM I:0 T:OUT T:WIDE", f"torch.{most}(a2, DIM, out=(OUT, WIDE))[0]", NUMBERS)
        yield from over_dims(f"arg{most}", f"Arg{title}", "a2 I:DIM I:0 T:WIDE", f"torch.arg{most}(a2, DIM, out=WIDE)", NUMBERS, result="WIDE")
        yield moved(most, title, "a2 T:whole", f"torch.{most}(a2, out=whole)", FLOATS, result="whole")
    yield from over_dims("max_v2", "MaxV2", "a2 A:DIMS I:0 I:0 T:OUT", "torch.amax(a2, DIMS, out=OUT)", FLOAT)
    yield from over_dims("aminmax", "Aminmax", "a2 A:[DIM] I:0 T:OUT T:MORE", "torch.aminmax(a2, dim=DIM, out=(OUT, MORE))[0]", FLOAT)
    yield from over_dims("aminmax_dim", "AminmaxDim", "a2 I:DIM I:0 T:OUT T:MORE", "torch.aminmax(a2, dim=DIM, out=(OUT, MORE))[0]", FLOAT)
    yield moved("aminmax_all", "AminmaxAll", "a2 T:whole T:more_whole", "torch.aminmax(a2, out=(whole, more_whole))[0]", FLOAT, result="whole")
    for name, title in (("any", "Any"), ("all", "All")):
        source = "seldom" if name == "any" else "a"
        yield from over_dims(name, title, f"T:{source}.view(rows,columns) A:DIMS I:0 T:TRUTH",
                             f"torch.{name}({source}.view(rows, columns), DIMS, out=TRUTH)", FLOATS, result="TRUTH", domain="positive")
    yield from over_dims("prod", "ProdDim", "a2 I:DIM I:0 type T:OUT", "torch.prod(a2, DIM, out=OUT)", FLOAT, domain="positive")
    for name, function, head, tail in (("linalg_vector_norm", "LinalgVectorNorm", "S:ORDER A:DIMS I:0 type", "OUT"),
                                       ("norm", "Norm", "S:ORDER A:DIMS I:0", "OUT")):
        for order, suffix in ((2, ""), (1, ".of_1"), (3, ".of_3")):
            yield from over_dims(name + suffix, function, f"a2 {head.replace('ORDER', str(order))} T:{tail}",
                                 f"torch.linalg.vector_norm(a2, {order}, DIMS, out=OUT)", FLOATS if order == 2 else FLOAT)
    yield from over_dims("var", "Var", "a2 A:DIMS I:1 I:0 T:OUT", "torch.var(a2, DIMS, correction=1, out=OUT)")
    yield from over_dims("std", "Std", "a2 A:DIMS I:1 I:0 T:OUT", "torch.std(a2, DIMS, correction=1, out=OUT)")
    yield from over_dims("std_mean_correction", "StdMeanCorrection", "a2 A:DIMS I:1 I:0 T:OUT T:MORE",
                         "torch.std_mean(a2, DIMS, correction=1)[0]", FLOAT)
    yield from over_dims("var_mean", "VarMean", "a2 A:DIMS I:1 I:0 T:OUT T:MORE", "torch.var_mean(a2, DIMS, correction=1)[0]", FLOAT)


def scans():
    for suffix, dim in (("", 1), (".columns", 0)):
        yield moved("cumsum" + suffix, "Cumsum", f"a2 I:{dim} type out2", f"torch.cumsum(a2, {dim}, out=out2)", NUMBERS, domain="positive")
        yield moved("cumprod" + suffix, "Cumprod", f"a2 S:{dim} type out2", f"torch.cumprod(a2, {dim}, out=out2)", FLOATS, domain="positive")
        for most in ("max", "min"):
            yield moved(f"cum{most}{suffix}", f"Cum{most}", f"a2 I:{dim} out2 T:places2", f"torch.cum{most}(a2, {dim}, out=(out2, places2))[0]", NUMBERS)


# Where a call of ours has a dtype it is that of `out`, which is self's.
ROWS = (*reductions(), *scans())
