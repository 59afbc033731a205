"""Sorting, selecting, searching and counting as bench/maps.py measures them: rows as those of moves_table.py.

What is sorted is drawn in MADE: patterns of operands repeat, which sorts of few keys and branch predictors would notice.

SPDX-License-Identifier: Apache-2.0
"""
from maps_table import NUMBERS
from moves_table import Placed

FLOATING = ("f32", "bf16")

MADE = {
    "drawn_": "torch.randn(n, generator=g).mul(1000).to(a.dtype)",
    "drawn2": "drawn_.view(rows, columns)",
    "vocabulary": "drawn_.repeat(2)[:32000] if n < 32000 else drawn_[:32000]",
    "batch": "drawn_[:n // 32000 * 32000].view(-1, 32000) if n >= 32000 else vocabulary.view(1, -1)",
    "first": "torch.zeros((batch.shape[0], 50), dtype=a.dtype)",
    "first64": "torch.zeros((batch.shape[0], 50), dtype=torch.int64)",
    "each": "torch.zeros(rows, dtype=a.dtype)",
    "each64": "torch.zeros(rows, dtype=torch.int64)",
    "ladder": "drawn_.sort()[0]",
    "classes64": "torch.randint(1000, (n,), generator=g)",
    "tally": "torch.zeros(1000, dtype=torch.int64)",
    "masses": "torch.zeros(1000, dtype=a.dtype)",
    "bars": "torch.zeros(100, dtype=a.dtype)",
}


def ordered(name, function, ours, torch, dtypes=FLOATING, **more):
    return Placed(name, function, ours, torch, dtypes, **{"from_memory": 20, **more})


ROWS = (
    ordered("sort", "Sort", "T:drawn_ I:0 I:0 I:0 out T:out64", "torch.sort(drawn_, out=(out, out64))", NUMBERS),
    ordered("sort.rows", "Sort", "T:drawn2 I:0 I:1 I:1 out2 T:out64.view(rows,columns)",
            "torch.sort(drawn2, 1, True, out=(out2, out64.view(rows, columns)))", NUMBERS),
    ordered("sort.rows_of_64", "Sort", "T:drawn_.view(-1,64) I:0 I:1 I:0 T:out.view(-1,64) T:out64.view(-1,64)",
            "torch.sort(drawn_.view(-1, 64), 1, out=(out.view(-1, 64), out64.view(-1, 64)))"),
    ordered("sort.columns", "Sort", "T:drawn2 I:0 I:0 I:0 out2 T:out64.view(rows,columns)",
            "torch.sort(drawn2, 0, out=(out2, out64.view(rows, columns)))"),
    ordered("argsort", "Argsort", "T:drawn_ I:0 I:0 T:out64", "torch.argsort(drawn_, stable=True)", result="out64"),
    ordered("topk", "Topk", "T:vocabulary I:50 I:0 I:1 I:1 T:first[0] T:first64[0]",
            "torch.topk(vocabulary, 50, out=(first[0], first64[0]))", result="first[0]"),
    ordered("topk.rows", "Topk", "T:batch I:50 I:1 I:1 I:1 T:first T:first64", "torch.topk(batch, 50, out=(first, first64))", NUMBERS,
            result="first"),
    ordered("topk_v2", "TopkV2", "T:vocabulary I:50 I:0 I:1 I:1 I:1 T:first[0] T:first64[0]",
            "torch.topk(vocabulary, 50, out=(first[0], first64[0]))", ("f32",), result="first[0]"),
    ordered("topk.half", "Topk", "T:drawn_ I:n//2 I:0 I:0 I:1 T:out[:n//2] T:out64[:n//2]",
            "torch.topk(drawn_, n // 2, largest=False, out=(out[:n // 2], out64[:n // 2]))", ("f32",), result="out[:n//2]"),
    ordered("median", "Median", "T:drawn_ T:each[0]", "torch.median(drawn_)", result="each[0]"),
    ordered("median.dim", "MedianDim", "T:drawn2 I:1 I:0 T:each T:each64", "torch.median(drawn2, 1, out=(each, each64))", result="each"),
    ordered("median.nan", "NanMedian", "T:drawn_ T:each[0]", "torch.nanmedian(drawn_)", ("f32",), result="each[0]"),
    ordered("kthvalue", "Kthvalue", "T:drawn2 I:9 I:1 I:0 T:each T:each64", "torch.kthvalue(drawn2, 9, 1, out=(each, each64))",
            result="each"),
    ordered("searchsorted", "SearchSorted", "T:ladder T:drawn_ I:0 I:0 I:0 T:out64", "torch.searchsorted(ladder, drawn_, out=out64)",
            ("f32", "i64"), result="out64"),
    ordered("searchsorted.few", "SearchSorted", "T:ladder[::64].contiguous() T:drawn_ I:0 I:1 I:0 T:out64",
            "torch.searchsorted(ladder[::64].contiguous(), drawn_, right=True, out=out64)", ("f32",), result="out64"),
    ordered("bucketize", "Bucketize", "T:drawn_ T:ladder[::64].contiguous() I:0 I:0 T:out64",
            "torch.bucketize(drawn_, ladder[::64].contiguous(), out=out64)", ("f32", "i64"), result="out64", product="Ascend950PR_9579"),
    ordered("searchsorteds", "SearchSorteds", "T:ladder S:0.5 I:0 I:0 I:0 T:out64[:1]",
            "torch.searchsorted(ladder, 0.5, out=out64[:1])", ("f32",), result="out64[:1]"),
    ordered("bincount", "Bincount", "T:classes64 I:0 I:0 T:tally", "torch.bincount(classes64, minlength=1000)", ("i64",), result="tally"),
    ordered("bincount.weights", "Bincount", "T:classes64 T:drawn_ I:0 T:masses", "torch.bincount(classes64, drawn_, minlength=1000)",
            ("f32",), result="masses"),
    ordered("histc", "Histc", "T:drawn_ I:100 S:-3000.0 S:3000.0 T:bars", "torch.histc(drawn_, 100, -3000.0, 3000.0, out=bars)", ("f32",),
            result="bars"),
)
