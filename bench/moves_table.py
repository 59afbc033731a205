"""Movement, indexing and random numbers as bench/maps.py measures them: rows as those of maps_table.py, of tensors that rows name themselves.

Words of a call of ours, besides those of maps_table.py (no blanks inside):
  T:x   an aclTensor over the tensor that Python's x is     L:x   an aclTensorList over several     A:x   an aclIntArray
  C:x   one with channels: in NCL or NCHW instead of ND
  V:x   a dense one of one or two dims whose shape the operator sets
x and the other side may use the names below, and `torch`, `F` (torch.nn.functional), `memcpy(to, from)`.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses

from maps_table import NUMBERS, Row

FLOAT = ("f32",)
# What is looked up at random places is smaller: both sides take longer for it.
AT_RANDOM = 22
WIDTH = 64  # of a table's rows

# name -> how it is made, in this order; g is a generator with a seed of its own.
MADE = {
    "i": "torch.randint(n, (n,), generator=g)",  # any element
    "i0": "torch.randint(rows, (rows, columns), generator=g)",  # along the dims of a matrix
    "i1": "torch.randint(columns, (rows, columns), generator=g)",
    "r": "torch.randint(rows, (rows,), generator=g)",  # its rows
    "p": "torch.randperm(rows, generator=g)",
    "q": "torch.randperm(columns, generator=g)",
    "w": f"torch.randint(n // {WIDTH}, (n // {WIDTH},), generator=g)",  # the rows of a table
    "bags": f"torch.arange(0, n // {WIDTH}, 8)",  # of 8 rows each
    "bagged": f"torch.zeros((len(bags), {WIDTH}), dtype=a.dtype)",
    "few": f"torch.randint(1000, (n // {WIDTH},), generator=g)",
    "m2": "m.view(rows, columns)",
    "true": "int(m.sum())",
    "both": "torch.zeros(2 * n, dtype=a.dtype)",
    "wider": "torch.zeros((rows + 2, columns + 2), dtype=a.dtype)",
    "half": "torch.zeros((rows, columns // 2), dtype=a.dtype)",
    "chosen": "torch.zeros(true, dtype=a.dtype)",
    "places": "torch.zeros((n, 2), dtype=torch.int64)",
    "parts": "list(out.view(4, rows, columns // 4).unbind(0))",
    "table": f"a.view(n // {WIDTH}, {WIDTH})",
    "sums_of_few": f"torch.zeros((1000, {WIDTH}), dtype=a.dtype)",
    "chance": "torch.full((n,), 0.3, dtype=a.dtype)",
    "bits": "torch.full((n // 8,), 0x55, dtype=torch.uint8)",
    "m8": "torch.tensor([True, False]).repeat(n // 2)",
    "m9": "torch.zeros(n, dtype=torch.bool)",
    "drawn": "torch.zeros((rows, 16), dtype=torch.int64)",
    "out64": "torch.zeros(n, dtype=torch.int64)",
    "counts": "torch.randint(4, (n // 4,), generator=g)",
    "spread": "torch.zeros(int(counts.sum()), dtype=a.dtype)",
    "counts_of_rows": "torch.tensor([1, 3]).repeat(rows // 4)",
    "pairs": "torch.stack([i0.view(-1), i1.view(-1)], 1)",
    "classes": "torch.randint(16, (n // 16,), generator=g)",
    "on": "torch.ones(1, dtype=a.dtype)",
    "off": "torch.zeros(1, dtype=a.dtype)",
    "found": "torch.zeros(n, dtype=torch.int64)",
    "none": "torch.zeros(0, dtype=torch.int64)",
    "keys": "torch.randint(n, (n,), generator=g).to(a.dtype)",
    "few_keys": "torch.randint(1000, (n,), generator=g).to(a.dtype)",
    "runs": "(torch.arange(n) // 3).to(a.dtype)",
    "pairs_of_rows": "torch.zeros(rows * (rows - 1) // 2, dtype=a.dtype)",
    "symmetric": "torch.ones((rows, rows)) + rows * torch.eye(rows)",
    "triangle": "torch.rand((rows, rows), generator=g).triu() + rows * torch.eye(rows)",
    "square": "torch.rand((rows, rows), generator=g) + rows * torch.eye(rows)",
    "threes": "n // 3 * 3",
}


@dataclasses.dataclass(frozen=True)
class Placed(Row):
    result: str = "out"  # what is compared: a tensor, or a list of them; of the other side what it returns where it has no out=
    theirs: str = ""  # where they write elsewhere
    from_memory: int = 24
    in_cache: bool = True
    compares: bool = True  # else means and deviations
    family: str = ""


def moved(name, function, ours, torch, dtypes=("f32", "bf16"), **more):
    return Placed(name, function, ours, torch, dtypes, **more)


def looked_up(name, function, ours, torch, dtypes=NUMBERS, **more):
    return Placed(name, function, ours, torch, dtypes, **{"from_memory": AT_RANDOM, **more})


def drawn(name, function, ours, torch, dtypes=("f32", "bf16"), **more):
    return Placed(name, function, ours, torch, dtypes, **{"compares": False, "domain": "positive", **more})


def multiplied(name, function, ours, torch, dtypes=("f32", "bf16", "f16"), **more):
    """Products of square matrices; sums of the other side have another order, so means and deviations are compared."""
    return Placed(name, function, ours, torch, dtypes, **{"compares": False, "from_memory": AT_RANDOM, **more})


def copies():
    """Copies beside memcpy: runs of so many bytes in another order, and all of it."""
    for name, view in (("runs_64", "a.view(512,-1,16).transpose(0,1)"), ("runs_256", "a.view(512,-1,64).transpose(0,1)"),
                       ("runs_4096", "a.view(512,-1,1024).transpose(0,1)"), ("whole", "a"), ("transposed", "a2.t()")):
        ours = f"T:torch.as_strided(out,({view}).shape,torch.empty(({view}).shape,device='meta').stride()) T:{view}"
        yield Placed(f"copy.{name}", "InplaceCopy", ours, "memcpy(out, a)", FLOAT, compares=name == "whole", in_cache=False, family="memcpy")
    yield moved("copy.transposed_beside_copy_", "InplaceCopy", "T:out2 T:a2.t()", "out2.copy_(a2.t())", NUMBERS)


# flip, roll, repeat, repeat_interleave, pad, diagflat, index and embedding have no out=: what they return is new memory.
ROWS = (
    *copies(),
    moved("cat", "Cat", "L:[a2,b2] I:0 T:both.view(2*rows,columns)", "torch.cat([a2, b2], 0, out=both.view(2 * rows, columns))", NUMBERS,
          result="both"),
    moved("cat.columns", "Cat", "L:[a2,b2] I:1 T:both.view(rows,2*columns)",
          "torch.cat([a2, b2], 1, out=both.view(rows, 2 * columns))", result="both"),
    moved("stack", "Stack", "L:[a,b] I:0 T:both.view(2,n)", "torch.stack([a, b], 0, out=both.view(2, n))", result="both"),
    moved("stack.last", "Stack", "L:[a,b] I:1 T:both.view(n,2)", "torch.stack([a, b], 1, out=both.view(n, 2))", result="both"),
    moved("split_tensor", "SplitTensor", "a2 I:columns//4 I:1 L:parts", "torch.split_copy(a2, columns // 4, 1, out=parts)"),
    moved("split_with_size", "SplitWithSize", "a2 A:[columns//4]*4 I:1 L:parts",
          "torch.split_with_sizes_copy(a2, [columns // 4] * 4, 1, out=parts)"),
    moved("permute", "Permute", "a2 A:[1,0] T:out.view(columns,rows)", "torch.permute_copy(a2, (1, 0), out=out.view(columns, rows))", NUMBERS),
    moved("permute.heads", "Permute", "T:a.view(-1,16,16,64) A:[0,2,1,3] T:out.view(-1,16,16,64)",
          "torch.permute_copy(a.view(-1, 16, 16, 64), (0, 2, 1, 3), out=out.view(-1, 16, 16, 64))"),
    moved("permute.channels_last", "Permute", "T:a.view(4,16,-1) A:[0,2,1] T:out.view(4,-1,16)",
          "torch.permute_copy(a.view(4, 16, -1), (0, 2, 1), out=out.view(4, -1, 16))"),
    moved("flip", "Flip", "a2 A:[1] out2", "torch.flip(a2, (1,))", NUMBERS),
    moved("flip.rows", "Flip", "a2 A:[0] out2", "torch.flip(a2, (0,))"),
    moved("roll", "Roll", "a2 A:[3,5] A:[0,1] out2", "torch.roll(a2, (3, 5), (0, 1))"),
    moved("real", "Real", "a2 out2", "torch.real(a2).clone()"),
    moved("flatten", "Flatten", "T:a.view(64,-1).t() I:1 T:out.view(-1,64)", "torch.flatten(a.view(64, -1).t().clone(), 1)"),
    moved("confusion_transpose", "ConfusionTranspose", "a2 A:[1,0] A:[columns,rows] I:1 T:out.view(columns,rows)",
          "torch.permute_copy(a2, (1, 0), out=out.view(columns, rows))"),
    moved("channel_shuffle", "ChannelShuffle", "T:a.view(1,64,-1) I:8 T:out.view(1,64,-1)", "torch.channel_shuffle(a.view(1, 64, -1), 8)"),
    moved("add_n", "AddN", "L:[a2,b2,a2] out2", "a2 + b2 + a2"),
    moved("sum", "Sum", "L:[a2,b2,a2] out2", "a2 + b2 + a2"),
    moved("max_n", "MaxN", "L:[a2,b2,a2] out2", "torch.maximum(torch.maximum(a2, b2), a2)"),
    moved("min_n", "MinN", "L:[a2,b2,a2] out2", "torch.minimum(torch.minimum(a2, b2), a2)"),
    moved("chunk_cat", "ChunkCat", "L:[a2,b2] I:0 I:rows T:both.view(rows,2*columns)",
          "torch._chunk_cat([a2, b2], 0, rows, out=both.view(rows, 2 * columns))", result="both"),
    moved("slice", "Slice", "a2 I:1 I:0 I:columns//2 I:1 T:half", "torch.slice_copy(a2, 1, 0, columns // 2, 1, out=half)", result="half"),
    moved("slice.step", "Slice", "a2 I:1 I:0 I:columns I:2 T:half", "torch.slice_copy(a2, 1, 0, columns, 2, out=half)", NUMBERS, result="half"),
    moved("slice_v2", "SliceV2", "a2 A:[0,0] A:[rows,columns//2] A:[0,1] A:[1,1] T:half",
          "torch.slice_copy(a2, 1, 0, columns // 2, 1, out=half)", result="half"),
    moved("repeat", "Repeat", "T:a[:n//4] A:[4] out", "a[:n // 4].repeat(4)"),
    moved("expand", "Expand", "T:a[:columns] A:[rows,columns] out2", "out2.copy_(a[:columns].expand(rows, columns))"),
    moved("expand.columns", "Expand", "T:a[:rows].view(rows,1) A:[rows,columns] out2",
          "out2.copy_(a[:rows].view(rows, 1).expand(rows, columns))"),
    moved("repeat_interleave", "RepeatInterleaveInt", "T:a[:n//4] I:4 I:n out", "torch.repeat_interleave(a[:n // 4], 4)"),
    moved("repeat_interleave.rows", "RepeatInterleaveIntWithDim", "T:a2[:rows//4] I:4 I:0 I:rows out2",
          "torch.repeat_interleave(a2[:rows // 4], 4, 0)"),
    looked_up("repeat_interleave.counts", "RepeatInterleave", "T:a[:n//4] T:counts I:spread.numel() T:spread",
              "torch.repeat_interleave(a[:n // 4], counts, output_size=spread.numel())", result="spread"),
    looked_up("repeat_interleave.counts_of_rows", "RepeatInterleaveWithDim", "T:a2[:rows//2] T:counts_of_rows I:0 I:rows out2",
              "torch.repeat_interleave(a2[:rows // 2], counts_of_rows, 0, output_size=rows)"),
    looked_up("repeat_interleave.numbers", "RepeatInterleaveTensor", "T:counts I:spread.numel() T:spread",
              "torch.repeat_interleave(counts, output_size=spread.numel())", ("i64",), result="spread"),
    moved("constant_pad_nd", "ConstantPadNd", "a2 A:[1,1,1,1] S:s T:wider", "F.pad(a2, (1, 1, 1, 1), value=s)", result="wider"),
    moved("diag", "Diag", "T:a[:rows] I:0 T:out[:rows*rows].view(rows,rows)",
          "torch.diag(a[:rows], 0, out=out[:rows * rows].view(rows, rows))"),
    moved("diag.of_matrix", "Diag", "a2 I:0 T:out[:rows]", "torch.diag(a2, 0, out=out[:rows])"),
    moved("diag_flat", "DiagFlat", "T:a[:rows] I:0 T:out[:rows*rows].view(rows,rows)", "torch.diagflat(a[:rows])",
          result="out[:rows*rows]"),
    moved("index_select", "IndexSelect", "a2 I:0 T:r out2", "torch.index_select(a2, 0, r, out=out2)", NUMBERS),
    looked_up("index_select.columns", "IndexSelect", "a2 I:1 T:q out2", "torch.index_select(a2, 1, q, out=out2)"),
    looked_up("gather", "Gather", "a2 I:1 T:i1 out2", "torch.gather(a2, 1, i1, out=out2)"),
    looked_up("gather.rows", "Gather", "a2 I:0 T:i0 out2", "torch.gather(a2, 0, i0, out=out2)"),
    moved("gather_v2", "GatherV2", "a2 I:0 T:r out2", "torch.index_select(a2, 0, r, out=out2)"),
    moved("gather_v3", "GatherV3", "a2 I:0 T:r I:0 I:1 out2", "torch.index_select(a2, 0, r, out=out2)"),
    looked_up("take", "Take", "a T:i out", "torch.take(a, i, out=out)"),
    looked_up("take.of_transposed", "Take", "T:a2.t() T:i out", "torch.take(a2.t(), i, out=out)", ("f32",)),
    moved("embedding", "Embedding", f"T:table T:w T:out.view(-1,{WIDTH})", f"torch.index_select(table, 0, w, out=out.view(-1, {WIDTH}))"),
    looked_up("index", "Index", "a L:[i] out", "a[i]"),
    looked_up("index.two", "Index", "a2 L:[i0,i1] out2", "a2[i0, i1]"),
    moved("index.rows", "Index", "a2 L:[r] out2", "a2[r]"),
    moved("index.mask", "Index", "a L:[m] T:chosen", "a[m]", NUMBERS, result="chosen"),
    looked_up("index_put_impl", "IndexPutImpl", "out2 L:[i0,i1] T:a2*0+2 I:0 I:0", "out2.index_put_((i0, i1), a2 * 0 + 2)"),
    looked_up("index_put_impl.accumulate", "IndexPutImpl", "out L:[i] a I:1 I:0", "out.index_put_((i,), a, accumulate=True)"),
    looked_up("index_put_impl.accumulate_two", "IndexPutImpl", "out2 L:[i0,i1] a2 I:1 I:0", "out2.index_put_((i0, i1), a2, accumulate=True)"),
    looked_up("index_put_impl.accumulate_rows", "IndexPutImpl", "out2 L:[r] a2 I:1 I:0", "out2.index_put_((r,), a2, accumulate=True)"),
    moved("index_put_impl.rows", "IndexPutImpl", "out2 L:[p] a2 I:0 I:0", "out2.index_put_((p,), a2)"),
    moved("index_put_impl.mask", "IndexPutImpl", "out L:[m] T:a[:1] I:0 I:0", "out.index_put_((m,), a[:1])", FLOAT),
    looked_up("scatter", "Scatter", "b2 I:1 T:q.expand(rows,columns) a2 I:0 out2",
              "torch.scatter(b2, 1, q.expand(rows, columns), a2, out=out2)"),
    looked_up("scatter.rows", "Scatter", "b2 I:0 T:p.view(-1,1).expand(rows,columns) a2 I:0 out2",
              "torch.scatter(b2, 0, p.view(-1, 1).expand(rows, columns), a2, out=out2)", FLOAT),
    looked_up("scatter.value", "ScatterValue", "a2 I:1 T:i1 S:s I:0 out2", "torch.scatter(a2, 1, i1, s, out=out2)"),
    looked_up("scatter_add", "ScatterAdd", "b2 I:1 T:i1 a2 out2", "torch.scatter_add(b2, 1, i1, a2, out=out2)"),
    looked_up("scatter_add.rows", "ScatterAdd", "b2 I:0 T:i0 a2 out2", "torch.scatter_add(b2, 0, i0, a2, out=out2)"),
    looked_up("scatter_add.one_dim", "ScatterAdd", "b I:0 T:i a out", "torch.scatter_add(b, 0, i, a, out=out)"),
    looked_up("embedding_bag", "EmbeddingBag",
              "T:table T:w T:bags I:0 I:0 I:0 I:0 I:0 I:-1 T:bagged T:torch.zeros_like(w) T:torch.zeros_like(bags) T:torch.zeros_like(bags)",
              "torch.ops.aten._embedding_bag_forward_only(table, w, bags)[0]", ("f32",), result="bagged", compares=False),
    looked_up("embedding_dense_backward", "EmbeddingDenseBackward", f"T:table T:w I:n//{WIDTH} I:-1 I:0 T:out.view(-1,{WIDTH})",
              f"torch.ops.aten.embedding_dense_backward(table, w, n // {WIDTH}, -1, False)", ("f32", "bf16")),
    looked_up("embedding_dense_backward.few", "EmbeddingDenseBackward", "T:table T:few I:1000 I:-1 I:0 T:sums_of_few",
              "torch.ops.aten.embedding_dense_backward(table, few, 1000, -1, False)", ("f32", "bf16"), result="sums_of_few", compares=False),
    looked_up("embedding_dense_backward.scaled", "EmbeddingDenseBackward", "T:table T:few I:1000 I:-1 I:1 T:sums_of_few",
              "torch.ops.aten.embedding_dense_backward(table, few, 1000, -1, True)", FLOAT, result="sums_of_few"),
    looked_up("index_add", "IndexAdd", "b2 I:0 T:r a2 S:1 out2", "torch.index_add(b2, 0, r, a2, out=out2)"),
    looked_up("index_add_v2", "IndexAddV2", "b2 I:0 T:r a2 S:1 I:0 out2", "torch.index_add(b2, 0, r, a2, out=out2)"),
    looked_up("index_add.columns", "IndexAdd", "b2 I:1 T:q a2 S:1 out2", "torch.index_add(b2, 1, q, a2, out=out2)"),
    looked_up("index_copy", "IndexCopy", "b2 I:0 T:p a2 out2", "torch.index_copy(b2, 0, p, a2, out=out2)"),
    looked_up("index_fill", "IndexFill", "b2 I:0 T:r S:s out2", "torch.index_fill(b2, 0, r, s)"),
    looked_up("index_fill.columns", "InplaceIndexFill", "out2 I:1 T:q[:columns//2] S:s", "out2.index_fill_(1, q[:columns // 2], s)"),
    looked_up("index_fill_tensor", "IndexFillTensor", "b2 I:0 A:range(0,rows,2) S:s out2",
              "torch.index_fill(b2, 0, torch.arange(0, rows, 2), s)"),
    looked_up("scatter_nd_update", "ScatterNdUpdate", "out2 T:pairs a", "out2.index_put_((i0.view(-1), i1.view(-1)), a)", ("f32", "bf16"),
              compares=False),
    looked_up("scatter_nd", "ScatterNd", "b2 T:p.view(-1,1) a2 out2", "torch.index_copy(b2, 0, p, a2, out=out2)", ("f32", "bf16")),
    looked_up("scatter_nd_update.rows", "ScatterNdUpdate", "out2 T:p.view(-1,1) a2", "out2.index_put_((p,), a2)"),
    moved("scatter_update", "InplaceScatterUpdate", "T:out.view(64,-1,64) T:torch.zeros(64,dtype=torch.int64) T:a.view(64,-1,64) I:1",
          "out.copy_(a)"),
    moved("scatter_list", "ScatterList",
          "L:[out2[:rows//2],out2[rows//2:]] T:torch.zeros(2,dtype=torch.int64) T:a.view(2,-1,columns) T:null T:null I:1", "out2.copy_(a2)"),
    looked_up("scatter_reduce", "ScatterReduce", "b2 I:0 T:i0 a2 I:1 I:1 out2", "torch.scatter_reduce(b2, 0, i0, a2, 'sum', out=out2)", FLOAT),
    looked_up("scatter.mean", "Scatter", "b2 I:0 T:i0 a2 I:5 out2", "torch.scatter_reduce(b2, 0, i0, a2, 'mean', out=out2)", ("f32", "i64")),
    looked_up("put", "InplacePut", "out T:p.view(-1)[:rows] T:a[:rows] I:0", "out.put_(p, a[:rows])", FLOAT),
    looked_up("put.accumulate", "InplacePut", "out T:i a I:1", "out.put_(i, a, accumulate=True)", ("f32", "i64")),
    moved("masked_scatter", "InplaceMaskedScatter", "out m a", "out.masked_scatter_(m, a)", NUMBERS),
    moved("one_hot", "OneHot", "T:classes I:16 T:on T:off I:-1 T:out.view(-1,16)", "F.one_hot(classes, 16)", ("i64",), result="out.view(-1,16)"),
    looked_up("unique2", "Unique2", "T:keys I:1 I:0 I:0 V:out T:none T:none", "torch.unique(keys)", ("f32", "i64"),
              result="out[:torch.unique(keys).numel()]"),
    looked_up("unique2.few", "Unique2", "T:few_keys I:1 I:0 I:0 V:out T:none T:none", "torch.unique(few_keys)", NUMBERS,
              result="out[:torch.unique(few_keys).numel()]"),
    looked_up("unique2.inverse", "Unique2", "T:keys I:1 I:1 I:0 V:out T:found T:none",
              "torch.unique(keys, return_inverse=True)[0]", ("f32", "i64"), result="out[:torch.unique(keys).numel()]"),
    looked_up("unique", "Unique", "T:keys I:1 I:1 V:out T:found", "torch.unique(keys, return_inverse=True)[0]", ("f32", "i64"),
              result="out[:torch.unique(keys).numel()]"),
    looked_up("unique_consecutive", "UniqueConsecutive", "T:runs I:0 I:0 I:1000 V:out T:none T:none", "torch.unique_consecutive(runs)",
              ("f32", "i64"), result="out[:(n+2)//3]"),
    looked_up("unique_dim", "UniqueDim", "T:few_keys.view(-1,4) I:1 I:0 I:0 V:out.view(-1,4) T:none T:none",
              "torch.unique(few_keys.view(-1, 4), dim=0)", ("f32", "i64"), compares=False),
    moved("nonzero", "Nonzero", "T:m2 V:places", "torch.nonzero(m2)", FLOAT, result="places[:true]"),
    moved("nonzero.values", "Nonzero", "a2 V:places", "torch.nonzero(a2)", ("f32", "i64"), result="places[:int((a2!=0).sum())]"),
    moved("nonzero_v2", "NonzeroV2", "T:m2 V:places.view(2,n)", "torch.stack(torch.nonzero(m2, as_tuple=True))", FLOAT,
          result="places.view(-1)[:2*true]"),
    moved("masked_select", "MaskedSelect", "a m V:out", "torch.masked_select(a, m, out=chosen)", NUMBERS, result="out[:true]", theirs="chosen"),
    moved("masked_select.of_transposed", "MaskedSelect", "T:a2.t() T:m2 V:out", "torch.masked_select(a2.t(), m2, out=chosen)", FLOAT,
          result="out[:true]", theirs="chosen"),
    drawn("uniform", "InplaceUniform", "out D:0.0 D:1.0 I:5 I:0", "out.uniform_(0.0, 1.0)"),
    drawn("normal", "InplaceNormal", "out F:0.5 F:2.0 I:5 I:0", "out.normal_(0.5, 2.0)"),
    drawn("normal_out", "NormalTensorTensor", "a b I:5 I:0 out", "torch.normal(a, b, out=out)"),
    drawn("normal_out.mean", "NormalTensorFloat", "a F:2.0 I:5 I:0 out", "torch.normal(a, 2.0, out=out)"),
    drawn("random", "InplaceRandom", "out I:0 I:100 I:5 I:0", "out.random_(0, 100)", NUMBERS),
    drawn("bernoulli", "Bernoulli", "a S:0.3 I:5 I:0 out", "torch.ops.aten.bernoulli_(out, 0.3)", NUMBERS),
    drawn("bernoulli.in_place", "InplaceBernoulli", "T:m9 S:0.3 I:5 I:0", "m9.bernoulli_(0.3)", FLOAT, result="m9"),
    drawn("bernoulli.tensor", "InplaceBernoulliTensor", "out T:chance I:5 I:0", "torch.bernoulli(chance, out=out)"),
    drawn("sim_thread_exponential", "SimThreadExponential", "out I:n D:1.5 I:5 I:0", "out.exponential_(1.5)"),
    drawn("dropout", "Dropout", "a D:0.5 I:1 I:5 I:0 out T:bits", "torch.native_dropout(a, 0.5, True)[0]"),
    drawn("dropout_backward", "DropoutBackward", "a T:bits D:2.0 out", "torch.ops.aten.native_dropout_backward(a, m8, 2.0)"),
    drawn("dropout_do_mask", "DropoutDoMask", "a T:bits D:0.5 out", "torch.ops.aten.native_dropout_backward(a, m8, 2.0)"),
    drawn("dropout_gen_mask", "DropoutGenMask", "A:[n] D:0.5 I:5 I:0 T:bits", "m9.bernoulli_(0.5)", FLOAT, result="bits"),
    drawn("dropout_gen_mask_v2", "DropoutGenMaskV2", "A:[n] D:0.5 I:5 I:0 I:0 T:bits", "m9.bernoulli_(0.5)", FLOAT, result="bits"),
    drawn("dropout_v3", "DropoutV3", "a I:0 D:0.5 I:5 I:0 out T:bits", "torch.native_dropout(a, 0.5, True)[0]", product="Ascend950PR_9579"),
    drawn("dropout_v3_grad", "DropoutV3Grad", "a T:bits D:2.0 out", "torch.ops.aten.native_dropout_backward(a, m8, 2.0)",
          product="Ascend950PR_9579"),
    drawn("randperm", "Randperm", "I:n I:5 I:0 T:out64", "torch.randperm(n, out=out64)", FLOAT, result="out64", from_memory=AT_RANDOM),
    drawn("multinomial", "Multinomial", "a2 I:16 I:1 I:5 I:0 T:drawn", "torch.multinomial(a2, 16, True, out=drawn)", ("f32", "bf16"),
          result="drawn", from_memory=AT_RANDOM),
    drawn("multinomial.distinct", "Multinomial", "a2 I:16 I:0 I:5 I:0 T:drawn", "torch.multinomial(a2, 16, False, out=drawn)",
          ("f32", "bf16"), result="drawn", from_memory=AT_RANDOM),
    drawn("multinomial.one", "Multinomial", "a2 I:1 I:0 I:5 I:0 T:drawn[:,:1].contiguous()",
          "torch.multinomial(a2, 1, False)", ("f32", "bf16"), result="drawn[:0]", from_memory=AT_RANDOM),
    multiplied("mm", "Mm", "a2 b2 out2 I:1", "torch.mm(a2, b2, out=out2)"),
    multiplied("mm.transposed", "Mm", "a2 T:b2.t() out2 I:1", "torch.mm(a2, b2.t(), out=out2)"),
    multiplied("mm.gradient", "Mm", "T:a2.t() b2 out2 I:1", "torch.mm(a2.t(), b2, out=out2)"),
    multiplied("weight_quant_batch_matmul_v2", "WeightQuantBatchMatmulV2",
               "a2 T:b2.to(torch.int8) T:b2[:1].contiguous() T:null T:null T:null T:null I:0 out2",
               "torch.mm(a2, b2.to(torch.int8).to(a.dtype) * b2[:1], out=out2)", ("bf16", "f16")),
    multiplied("weight_quant_batch_matmul_v2.one_row", "WeightQuantBatchMatmulV2",
               "T:a2[:1] T:b2.to(torch.int8) T:b2[:1].contiguous() T:null T:null T:null T:null I:0 T:out2[:1]",
               "torch.mm(a2[:1], b2.to(torch.int8).to(a.dtype) * b2[:1], out=out2[:1])", ("bf16", "f16"), result="out2[:1]"),
    multiplied("weight_quant_batch_matmul_v2.one_row_transposed", "WeightQuantBatchMatmulV2",
               "T:a2[:1] T:b2.t().contiguous().to(torch.int8).t() T:b2[:1].contiguous() T:null T:null T:null T:null I:0 T:out2[:1]",
               "torch.mm(a2[:1], b2.to(torch.int8).to(a.dtype) * b2[:1], out=out2[:1])", ("bf16", "f16"), result="out2[:1]"),
    multiplied("quant_matmul_v3", "QuantMatmulV3",
               "T:a2.to(torch.int8) T:b2.to(torch.int8) T:b2[0].contiguous().float() T:null T:null I:0 I:0 out2",
               "torch.mul(torch._int_mm(a2.to(torch.int8), b2.to(torch.int8)), b2[0], out=out2)", ("bf16",)),
    multiplied("quant_matmul_v3.transposed", "QuantMatmulV3",
               "T:a2.to(torch.int8) T:b2.t().contiguous().to(torch.int8) T:b2[0].contiguous().float() T:null T:null I:0 I:1 out2",
               "torch.mul(torch._int_mm(a2.to(torch.int8), b2.t().contiguous().to(torch.int8).t()), b2[0], out=out2)", ("bf16",)),
    multiplied("quant_matmul_v3.one_row", "QuantMatmulV3",
               "T:a2[:1].to(torch.int8) T:b2.t().contiguous().to(torch.int8) T:b2[0].contiguous().float() T:null T:null I:0 I:1 T:out2[:1]",
               "torch.mul(torch._int_mm(a2[:1].to(torch.int8), b2.t().contiguous().to(torch.int8).t()), b2[0], out=out2[:1])", ("bf16",),
               result="out2[:1]"),
    multiplied("quant_matmul_v5", "QuantMatmulV5",
               "T:a2.to(torch.int8) T:b2.to(torch.int8) T:null T:b2[0].contiguous().float() T:null T:null T:null T:null T:null I:0 I:0 I:0 out2",
               "torch.mul(torch._int_mm(a2.to(torch.int8), b2.to(torch.int8)), b2[0], out=out2)", ("bf16",)),
    multiplied("quant_matmul_v4", "QuantMatmulV4",
               "T:a2.to(torch.int8) T:b2.to(torch.int8) T:b2[0].contiguous().float() T:null T:null T:null I:0 I:0 out2",
               "torch.mul(torch._int_mm(a2.to(torch.int8), b2.to(torch.int8)), b2[0], out=out2)", ("bf16",)),
    multiplied("matmul", "Matmul", "T:a.view(4,rows//2,-1) T:b2[:columns//2,:columns//2] T:out.view(4,rows//2,-1) I:1",
               "torch.matmul(a.view(4, rows // 2, -1), b2[:columns // 2, :columns // 2], out=out.view(4, rows // 2, -1))"),
    multiplied("batch_matmul", "BatchMatMul", "T:a.view(-1,64,64) T:b.view(-1,64,64) T:out.view(-1,64,64) I:1",
               "torch.bmm(a.view(-1, 64, 64), b.view(-1, 64, 64), out=out.view(-1, 64, 64))"),
    multiplied("transpose_batch_mat_mul", "TransposeBatchMatMul",
               "T:a.view(-1,64,64) T:b.view(-1,64,64) T:null T:null A:[0,1,2] A:[0,1,2] A:[1,0,2] I:1 I:1 T:out.view(64,-1,64)",
               "torch.bmm(a.view(-1, 64, 64), b.view(-1, 64, 64), out=out.view(64, -1, 64).transpose(0, 1))"),
    multiplied("addmm", "Addmm", "T:a[:columns] a2 T:b2.t() S:1 S:1 out2 I:1", "torch.addmm(a[:columns], a2, b2.t(), out=out2)"),
    multiplied("addmm.in_place", "InplaceAddmm", "out2 a2 b2 S:0 S:1 I:1", "out2.addmm_(a2, b2, beta=0)", result="out2"),
    multiplied("baddbmm", "Baddbmm", "T:a[:64] T:a.view(-1,64,64) T:b.view(-1,64,64) S:1 S:1 T:out.view(-1,64,64) I:1",
               "torch.baddbmm(a[:64], a.view(-1, 64, 64), b.view(-1, 64, 64), out=out.view(-1, 64, 64))"),
    multiplied("addbmm", "Addbmm", "T:a[:4096].view(64,64) T:a.view(-1,64,64) T:b.view(-1,64,64) S:1 S:1 T:out[:4096].view(64,64) I:1",
               "torch.addbmm(a[:4096].view(64, 64), a.view(-1, 64, 64), b.view(-1, 64, 64), out=out[:4096].view(64, 64))",
               result="out[:4096]"),
    multiplied("mv", "Mv", "a2 T:b[:columns] T:out[:rows] I:1", "torch.mv(a2, b[:columns], out=out[:rows])", result="out[:rows]", from_memory=24),
    multiplied("mv.columns", "Mv", "T:a2.t() T:b[:rows] T:out[:columns] I:1", "torch.mv(a2.t(), b[:rows], out=out[:columns])",
               result="out[:columns]", from_memory=24),
    multiplied("addmv", "Addmv", "T:a[:rows] a2 T:b[:columns] S:1 S:1 T:out[:rows] I:1", "torch.addmv(a[:rows], a2, b[:columns], out=out[:rows])",
               result="out[:rows]", from_memory=24),
    multiplied("ger", "Ger", "T:a[:rows] T:b[:columns] out2", "torch.outer(a[:rows], b[:columns], out=out2)", ("f32", "f16"), from_memory=24),
    multiplied("cdist", "Cdist", "T:a2[:,:64] T:b2[:,:64] F:2 I:2 out2",
               "torch.cdist(a2[:, :64], b2[:, :64], 2, 'donot_use_mm_for_euclid_dist')", ("f32",), result="out2"),
    multiplied("pdist", "Pdist", "T:a2[:,:64] F:2 T:pairs_of_rows", "F.pdist(a2[:, :64])", ("f32",), result="pairs_of_rows"),
    multiplied("cdist_backward", "CdistBackward", "T:b2 T:a2[:,:64] T:b2[:,:64] T:a2.abs() F:2 T:out2[:,:64]",
               "torch.ops.aten._cdist_backward(b2, a2[:, :64].contiguous(), b2[:, :64].contiguous(), 2.0, a2.abs())", ("f32",), result="out2[:,:64]",
               from_memory=18),
    multiplied("linalg_cross", "LinalgCross", "T:a[:threes].view(-1,3) T:b[:threes].view(-1,3) I:1 T:out[:threes].view(-1,3)",
               "torch.linalg.cross(a[:threes].view(-1, 3), b[:threes].view(-1, 3), dim=1, out=out[:threes].view(-1, 3))", ("f32",),
               result="out[:threes]", from_memory=24),
    multiplied("triangular_solve", "TriangularSolve", "a2 T:triangle I:1 I:0 I:0 out2 T:torch.zeros_like(triangle)",
               "torch.linalg.solve_triangular(triangle, a2, upper=True, out=out2)", ("f32",), result="out2", from_memory=18),
    multiplied("inverse", "Inverse", "T:square out2", "torch.linalg.inv(square, out=out2)", ("f32",), result="out2", from_memory=18),
    multiplied("linalg_qr", "LinalgQr", "a2 I:2 T:a[:0] out2", "torch.linalg.qr(a2, mode='r')[1]", ("f32",), result="out2", from_memory=18),
    multiplied("linalg_cholesky", "LinalgCholesky", "T:symmetric I:0 out2", "torch.linalg.cholesky(symmetric, out=out2)", ("f32",), result="out2",
               from_memory=18),
    multiplied("slogdet", "Slogdet", "T:square T:out[0] T:out[1]", "torch.linalg.slogdet(square)[1]", ("f32",), result="out[1:2]", from_memory=18),
    multiplied("svd", "Svd", "T:a2 I:0 I:0 T:out[:min(rows,columns)] T:a[:0] T:a[:0]", "torch.linalg.svdvals(a2)", ("f32",),
               result="out[:min(rows,columns)]", from_memory=16),
    multiplied("dot", "Dot", "a b T:out[0]", "torch.dot(a, b, out=out[0])", ("f32", "bf16"), result="out[:1]", from_memory=24),
)
