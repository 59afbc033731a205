"""Pads, windows, pools, upsampling and grid sampling as bench/maps.py measures them: rows as those of moves_table.py, of tensors with channels.

An image has 16 channels of rows/4 times columns/4; what is smaller has half as many rows and columns.

SPDX-License-Identifier: Apache-2.0
"""
from moves_table import looked_up, moved

FLOAT = ("f32",)
ATEN = "torch.ops.aten"
SMALLER = "1, 16, rows // 8, columns // 8"

# As moves_table.MADE.
MADE = {
    "lines": "a.view(1, 16, n // 16)",
    "out_lines": "out.view(1, 16, n // 16)",
    "wider_lines": "torch.zeros((1, 16, n // 16 + 6), dtype=a.dtype)",
    "image": "a.view(1, 16, rows // 4, columns // 4)",
    "out_image": "out.view(1, 16, rows // 4, columns // 4)",
    "wider_image": "torch.zeros((1, 16, rows // 4 + 6, columns // 4 + 6), dtype=a.dtype)",
    "smaller": f"a[:n // 4].view({SMALLER})",
    "out_smaller": f"out[:n // 4].view({SMALLER})",
    "shared": "a[:n // 16].view(1, 4, rows // 8, columns // 8)",  # an element is in nine windows
    "out_shared": "out[:n // 16].view(1, 4, rows // 8, columns // 8)",
    "nine": "torch.zeros((1, 36, n // 64), dtype=a.dtype)",
    "nine_grads": "torch.rand((1, 36, n // 64), generator=g).to(a.dtype)",
    "wider_grads": "torch.rand((1, 16, rows // 4 + 6, columns // 4 + 6), generator=g).to(a.dtype)",
    "wider_line_grads": "torch.rand((1, 16, n // 16 + 6), generator=g).to(a.dtype)",
    "window_grads": "torch.rand((rows, (columns - 4) // 2 + 1, 4), generator=g).to(a.dtype)",
    "turned": "F.affine_grid(torch.tensor([[[0.8, -0.6, 0.0], [0.6, 0.8, 0.0]]]), (1, 1, rows // 4, columns // 4), False).to(a.dtype)",
    "pooled_places": "F.max_pool2d(image.float(), 3, 2, 1, return_indices=True)[1].clone()",
    "pooled_places32": "pooled_places.to(torch.int32)",
    "pool_mask": "torch.cat([pooled_places32.view(-1).view(torch.int8), torch.zeros(5 * n + 16 * 9 * 32, dtype=torch.int8)])"
                 "[: 16 * 9 * 32 * (rows * columns // 1024 + 1)].view(1, 16, 9, -1)",
    "volume": "a.view(1, 16, 4, rows // 8, columns // 8)",
    "out_volume": "out.view(1, 16, 4, rows // 8, columns // 8)",
    "pooled_volume": "torch.zeros((1, 16, 2, rows // 16, columns // 16), dtype=a.dtype)",
    "part_of_volume": "a[:n // 8].view(1, 16, 2, rows // 16, columns // 16)",
    "out_part_of_volume": "out[:n // 8].view(1, 16, 2, rows // 16, columns // 16)",
    "wider_volume": "torch.zeros((1, 16, 8, rows // 8 + 4, columns // 8 + 4), dtype=a.dtype)",
    "wider_volume_grads": "torch.rand((1, 16, 8, rows // 8 + 4, columns // 8 + 4), generator=g).to(a.dtype)",
    "volume_places": "F.max_pool3d(volume.float(), 3, 2, 1, return_indices=True)[1].clone()",
    "volume_places32": "volume_places.to(torch.int32)",
    "many": "a.view(-1, 64, 8, 8)",  # the end of a network
    "one_each": "torch.zeros((n // 4096, 64, 1, 1), dtype=a.dtype)",
    "turns": "torch.tensor([[[0.8, -0.6, 0.0], [0.6, 0.8, 0.0]]], dtype=a.dtype)",
    "turned_volume": "F.affine_grid(torch.tensor([[[0.8, -0.6, 0.0, 0.0], [0.6, 0.8, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]]), "
                     "(1, 1, 4, rows // 8, columns // 8), False).to(a.dtype)",
    "turned_gradient": "torch.zeros((1, rows // 4, columns // 4, 2), dtype=a.dtype)",
    "turned_volume_gradient": "torch.zeros((1, 4, rows // 8, columns // 8, 3), dtype=a.dtype)",
    "anywhere": "(torch.rand((1, rows // 4, columns // 4, 2), generator=g) * 2 - 1).to(a.dtype)",
}


def pads():
    for how in ("reflection", "replication"):
        name = how.title() + "Pad"
        yield moved(f"{how}_pad1d", f"{name}1d", "T:lines A:[3,3] T:wider_lines",
                    f"{ATEN}.{how}_pad1d.out(lines, [3, 3], out=wider_lines)", result="wider_lines")
        yield moved(f"{how}_pad2d", f"{name}2d", "T:image A:[3,3,3,3] T:wider_image",
                    f"{ATEN}.{how}_pad2d.out(image, [3, 3, 3, 3], out=wider_image)", result="wider_image")
        yield moved(f"{how}_pad1d_backward", f"{name}1dBackward", "T:wider_line_grads T:lines A:[3,3] T:out_lines",
                    f"{ATEN}.{how}_pad1d_backward.grad_input(wider_line_grads, lines, [3, 3], grad_input=out_lines)")
        yield moved(f"pad2d_backward.{how}", f"{name}2dBackward", "T:wider_grads T:image A:[3,3,3,3] T:out_image",
                    f"{ATEN}.{how}_pad2d_backward.grad_input(wider_grads, image, [3, 3, 3, 3], grad_input=out_image)")


def pads_of_volumes():
    for how in ("reflection", "replication"):
        name = how.title() + "Pad3d"
        yield moved(f"{how}_pad3d", name, "T:volume A:[2,2,2,2,2,2] T:wider_volume",
                    f"{ATEN}.{how}_pad3d.out(volume, [2] * 6, out=wider_volume)", FLOAT, result="wider_volume")
        yield moved(f"pad3d_backward.{how}", f"{name}Backward", "T:wider_volume_grads T:volume A:[2,2,2,2,2,2] T:out_volume",
                    f"{ATEN}.{how}_pad3d_backward.grad_input(wider_volume_grads, volume, [2] * 6, grad_input=out_volume)", FLOAT)
    yield moved("circular_pad3d", "CircularPad3d", "T:volume A:[2,2,2,2,2,2] T:wider_volume", "F.pad(volume, (2,) * 6, 'circular')",
                result="wider_volume")


def windows():
    overlapping, apart = "A:[3,3] A:[1,1] A:[1,1] A:[1,1]", "A:[4,4] A:[1,1] A:[0,0] A:[4,4]"
    yield moved("im2col", "Im2col", f"T:shared {overlapping} T:nine",
                f"{ATEN}.im2col.out(shared, [3, 3], [1, 1], [1, 1], [1, 1], out=nine)", result="nine")
    yield moved("im2col.apart", "Im2col", f"T:image {apart} T:out.view(1,256,-1)",
                f"{ATEN}.im2col.out(image, [4, 4], [1, 1], [0, 0], [4, 4], out=out.view(1, 256, -1))")
    yield moved("im2col_backward", "Im2colBackward", f"T:nine_grads A:[rows//8,columns//8] {overlapping} T:out_shared",
                f"{ATEN}.col2im.out(nine_grads, [rows // 8, columns // 8], [3, 3], [1, 1], [1, 1], [1, 1], out=out_shared)", result="out_shared")
    yield moved("im2col_backward.apart", "Im2colBackward", f"T:a.view(1,256,-1) A:[rows//4,columns//4] {apart} T:out_image",
                f"{ATEN}.col2im.out(a.view(1, 256, -1), [rows // 4, columns // 4], [4, 4], [1, 1], [0, 0], [4, 4], out=out_image)")
    yield moved("unfold_grad", "UnfoldGrad", "T:window_grads A:[rows,columns] I:1 I:4 I:2 out2",
                f"{ATEN}.unfold_backward.out(window_grads, [rows, columns], 1, 4, 2, out=out2)", FLOAT)


def upsampled():
    size, shape = "[rows//4,columns//4]", "[1,16,rows//8,columns//8]"
    to_line = f"{ATEN}.upsample_nearest1d.out(a[:n // 2].view(1, 16, -1), [n // 16], 2.0, out=out_lines)"
    yield moved("upsample_nearest_1d", "UpsampleNearest1d", "C:a[:n//2].view(1,16,-1) A:[n//16] C:out_lines", to_line)
    yield moved("upsample_nearest_1d_v2", "UpsampleNearest1dV2", "C:a[:n//2].view(1,16,-1) A:[n//16] F:2.0 C:out_lines", to_line)
    lines = "C:a[:n//2].view(1,16,-1) A:[n//16]"
    back = "A:[n//16] A:[1,16,n//32]"
    yield moved("upsample_linear_1d", "UpsampleLinear1d", f"{lines} I:0 D:2.0 C:out_lines",
                f"{ATEN}.upsample_linear1d.out(a[:n // 2].view(1, 16, -1), [n // 16], False, 2.0, out=out_lines)")
    yield moved("upsample_linear_1d_backward", "UpsampleLinear1dBackward", f"C:lines {back} I:0 D:2.0 C:out[:n//2].view(1,16,-1)",
                f"{ATEN}.upsample_linear1d_backward.grad_input(lines, [n // 16], [1, 16, n // 32], False, 2.0, grad_input=out[:n // 2].view(1, 16, -1))",
                FLOAT, result="out[:n//2]")
    yield moved("upsample_nearest_1d_backward", "UpsampleNearest1dBackward", f"C:lines {back} D:2.0 C:out[:n//2].view(1,16,-1)",
                f"{ATEN}.upsample_nearest1d_backward.grad_input(lines, [n // 16], [1, 16, n // 32], 2.0, grad_input=out[:n // 2].view(1, 16, -1))",
                FLOAT, result="out[:n//2]")
    yield moved("upsample_nearest_exact_1d", "UpsampleNearestExact1d", f"{lines} D:2.0 C:out_lines",
                f"{ATEN}._upsample_nearest_exact1d.out(a[:n // 2].view(1, 16, -1), [n // 16], 2.0, out=out_lines)")
    yield moved("upsample_nearest_exact_1d_backward", "UpsampleNearestExact1dBackward", f"C:lines {back} D:2.0 C:out[:n//2].view(1,16,-1)",
                f"{ATEN}._upsample_nearest_exact1d_backward.grad_input(lines, [n // 16], [1, 16, n // 32], 2.0, "
                "grad_input=out[:n // 2].view(1, 16, -1))", FLOAT, result="out[:n//2]")
    yield moved("upsample_nearest_exact_2d", "UpsampleNearestExact2d", f"C:smaller A:{size} D:2.0 D:2.0 C:out_image",
                f"{ATEN}._upsample_nearest_exact2d.out(smaller, {size}, 2.0, 2.0, out=out_image)")
    yield moved("upsample_nearest_exact_2d_backward", "UpsampleNearestExact2dBackward",
                f"C:image A:{size} A:{shape} D:2.0 D:2.0 C:out_smaller",
                f"{ATEN}._upsample_nearest_exact2d_backward.grad_input(image, {size}, {shape}, 2.0, 2.0, grad_input=out_smaller)",
                result="out_smaller")
    to_image = f"{ATEN}.upsample_nearest2d.out(smaller, {size}, 2.0, 2.0, out=out_image)"
    yield moved("upsample_nearest_2d", "UpsampleNearest2d", f"C:smaller A:{size} C:out_image", to_image)
    yield moved("upsample_nearest_2d_v2", "UpsampleNearest2dV2", f"C:smaller A:{size} F:2.0 F:2.0 C:out_image", to_image)
    yield moved("upsample_nearest_2d_backward", "UpsampleNearest2dBackward", f"C:image A:{size} A:{shape} D:2.0 D:2.0 C:out_smaller",
                f"{ATEN}.upsample_nearest2d_backward.grad_input(image, {size}, {shape}, 2.0, 2.0, grad_input=out_smaller)", result="out_smaller")
    for form, aligns in (("", 0), (".aligned", 1)):
        ours, theirs = f"I:{aligns} D:0.0 D:0.0", f"{bool(aligns)}, None, None"
        yield moved("upsample_bilinear_2d" + form, "UpsampleBilinear2d", f"C:smaller A:{size} {ours} C:out_image",
                    f"{ATEN}.upsample_bilinear2d.out(smaller, {size}, {theirs}, out=out_image)")
        for version in ("", "_v2"):
            yield moved(f"upsample_bilinear_2d_backward{version}{form}", "UpsampleBilinear2dBackward" + version.strip("_").upper(),
                        f"C:image A:{size} A:{shape} {ours} C:out_smaller",
                        f"{ATEN}.upsample_bilinear2d_backward.grad_input(image, {size}, {shape}, {theirs}, grad_input=out_smaller)",
                        FLOAT, result="out_smaller")
        yield moved("upsample_bicubic_2d" + form, "UpsampleBicubic2d", f"C:smaller A:{size} {ours} C:out_image",
                    f"{ATEN}.upsample_bicubic2d.out(smaller, {size}, {theirs}, out=out_image)")


def resized_smoothly():
    size, whole = "[rows//8,columns//8]", "[1,16,rows//4,columns//4]"
    for kind, back in (("bilinear", "AABackward"), ("bicubic", "AAGrad")):
        name, end = f"Upsample{kind.title()}2d", "grad" if back == "AAGrad" else "backward"
        yield moved(f"upsample_{kind}_2d_aa", f"{name}AA", f"C:image A:{size} I:0 D:0.0 D:0.0 C:out_smaller",
                    f"{ATEN}._upsample_{kind}2d_aa.out(image, {size}, False, None, None, out=out_smaller)", FLOAT, result="out_smaller")
        yield moved(f"upsample_{kind}_2d_aa_{end}", name + back, f"C:smaller A:{size} A:{whole} I:0 D:0.0 D:0.0 C:out_image",
                    f"{ATEN}._upsample_{kind}2d_aa_backward.grad_input(smaller, {size}, {whole}, False, None, None, grad_input=out_image)", FLOAT)
    size, part = "[rows//4,columns//4]", "[1,16,rows//8,columns//8]"
    yield moved("upsample_bicubic_2d_backward", "UpsampleBicubic2dBackward", f"C:image A:{size} A:{part} I:0 D:0.0 D:0.0 C:out_smaller",
                f"{ATEN}.upsample_bicubic2d_backward.grad_input(image, {size}, {part}, False, None, None, grad_input=out_smaller)", FLOAT,
                result="out_smaller")


def volumes_resized():
    size, part = "[4,rows//8,columns//8]", "[1,16,2,rows//16,columns//16]"
    for name, function, theirs, corners in (("nearest", "Nearest", "upsample_nearest3d", ""),
                                            ("nearest_exact", "NearestExact", "_upsample_nearest_exact3d", ""),
                                            ("trilinear", "Trilinear", "upsample_trilinear3d", "I:0 ")):
        aligns = "False, " if corners else ""
        yield moved(f"upsample_{name}_3d", f"Upsample{function}3d", f"T:part_of_volume A:{size} {corners}D:2.0 D:2.0 D:2.0 T:out_volume",
                    f"{ATEN}.{theirs}.out(part_of_volume, {size}, {aligns}2.0, 2.0, 2.0, out=out_volume)", FLOAT)
        yield moved(f"upsample_{name}_3d_backward", f"Upsample{function}3dBackward",
                    f"T:volume A:{size} A:{part} {corners}D:2.0 D:2.0 D:2.0 T:out_part_of_volume",
                    f"{ATEN}.{theirs}_backward.grad_input(volume, {size}, {part}, {aligns}2.0, 2.0, 2.0, grad_input=out_part_of_volume)", FLOAT,
                    result="out_part_of_volume")


def pools_of_volumes():
    size = "[2,rows//16,columns//16]"
    yield moved("adaptive_avg_pool3d", "AdaptiveAvgPool3d", f"T:volume A:{size} T:pooled_volume",
                f"{ATEN}.adaptive_avg_pool3d.out(volume, {size}, out=pooled_volume)", FLOAT, result="pooled_volume")
    yield moved("adaptive_avg_pool3d_backward", "AdaptiveAvgPool3dBackward", "T:part_of_volume T:volume T:out_volume",
                f"{ATEN}.adaptive_avg_pool3d_backward.grad_input(part_of_volume, volume, grad_input=out_volume)", FLOAT)
    yield moved("adaptive_max_pool3d", "AdaptiveMaxPool3d", f"C:volume A:{size} C:pooled_volume T:volume_places32",
                f"{ATEN}.adaptive_max_pool3d.out(volume, {size}, out=pooled_volume, indices=volume_places)", FLOAT, result="pooled_volume")
    yield moved("adaptive_max_pool3d_backward", "AdaptiveMaxPool3dBackward", "T:part_of_volume T:volume T:volume_places32 T:out_volume",
                f"{ATEN}.adaptive_max_pool3d_backward.grad_input(part_of_volume, volume, volume_places, grad_input=out_volume)", FLOAT)


def unpools():
    steps = "[2, 2, 2], [1, 1, 1]"
    yield moved("max_unpool2d", "MaxUnpool2d", "C:smaller T:pooled_places A:[rows//4,columns//4] C:out_image",
                f"{ATEN}.max_unpool2d.out(smaller, pooled_places, [rows // 4, columns // 4], out=out_image)", FLOAT)
    yield moved("max_unpool2d_backward", "MaxUnpool2dBackward", "C:image C:smaller T:pooled_places A:[rows//4,columns//4] C:out_smaller",
                "torch.gather(image.view(1, 16, -1), 2, pooled_places.view(1, 16, -1), out=out_smaller.view(1, 16, -1))", FLOAT, result="out_smaller")
    yield moved("max_unpool3d", "MaxUnpool3d", "T:part_of_volume T:volume_places A:[4,rows//8,columns//8] A:[2,2,2] A:[1,1,1] T:out_volume",
                f"{ATEN}.max_unpool3d.out(part_of_volume, volume_places, [4, rows // 8, columns // 8], {steps}, out=out_volume)", FLOAT)
    yield moved("max_unpool3d_backward", "MaxUnpool3dBackward",
                "T:volume T:part_of_volume T:volume_places A:[4,rows//8,columns//8] A:[2,2,2] A:[1,1,1] T:out_part_of_volume",
                "torch.gather(volume.view(1, 16, -1), 2, volume_places.view(1, 16, -1), out=out_part_of_volume.view(1, 16, -1))", FLOAT,
                result="out_part_of_volume")


def pools():
    window = "A:[3,3] A:[2,2] A:[1,1]"
    theirs = "[3, 3], [2, 2], [1, 1]"
    maxima = f"{ATEN}.max_pool2d_with_indices.out(image, {theirs}, [1, 1], False, out=out_smaller, indices=pooled_places)"
    gradient = f"{ATEN}.max_pool2d_with_indices_backward.grad_input(smaller, image, {theirs}, [1, 1], False, pooled_places, grad_input=out_image)"
    yield moved("max_pool2d_with_mask", "MaxPool2dWithMask", f"C:image {window} A:[1,1] I:0 C:out_smaller C:pool_mask", maxima, result="out_smaller")
    yield moved("max_pool2d_with_mask_backward", "MaxPool2dWithMaskBackward",
                f"C:smaller C:image C:pool_mask {window} A:[1,1] I:0 C:out_image", gradient)
    yield moved("max_pool2d_with_indices", "MaxPool2dWithIndices", f"C:image {window} A:[1,1] I:0 C:out_smaller C:pooled_places32", maxima,
                result="out_smaller")
    yield moved("max_pool2d_with_indices_backward", "MaxPool2dWithIndicesBackward",
                f"C:smaller C:image C:pooled_places32 {window} A:[1,1] I:0 C:out_image", gradient, FLOAT)
    yield moved("max_pool", "MaxPool", "C:image A:[2,2] A:[2,2] I:0 A:[0,0] A:[1,1] I:0 C:out_smaller",
                f"{ATEN}.max_pool2d_with_indices.out(image, [2, 2], [2, 2], [0, 0], [1, 1], False, out=out_smaller, indices=pooled_places)", FLOAT,
                result="out_smaller")
    yield moved("max_pool3d_with_argmax", "MaxPool3dWithArgmax",
                "T:volume A:[3] A:[2] A:[1] A:[1] I:0 T:pooled_volume T:volume_places32",
                f"{ATEN}.max_pool3d_with_indices.out(volume, [3], [2], [1], [1], False, out=pooled_volume, indices=volume_places)",
                result="pooled_volume")
    yield moved("max_pool3d_with_argmax_backward", "MaxPool3dWithArgmaxBackward",
                "T:pooled_volume T:volume T:volume_places32 A:[3] A:[2] A:[1] A:[1] I:0 T:out_volume",
                f"{ATEN}.max_pool3d_with_indices_backward.grad_input(pooled_volume, volume, [3], [2], [1], [1], False, volume_places, "
                "grad_input=out_volume)")
    yield moved("avgpool2d", "AvgPool2d", f"C:image {window} I:0 I:1 I:0 I:0 C:out_smaller",
                f"{ATEN}.avg_pool2d.out(image, {theirs}, False, True, None, out=out_smaller)", result="out_smaller")
    yield moved("avgpool2d.apart", "AvgPool2d", "C:image A:[2,2] A:[2,2] A:[0,0] I:0 I:1 I:0 I:0 C:out_smaller",
                f"{ATEN}.avg_pool2d.out(image, [2, 2], [2, 2], [0, 0], False, True, None, out=out_smaller)", result="out_smaller")
    yield moved("avgpool2d_backward", "AvgPool2dBackward", f"C:smaller C:image {window} I:0 I:1 I:0 I:0 C:out_image",
                f"{ATEN}.avg_pool2d_backward.grad_input(smaller, image, {theirs}, False, True, None, grad_input=out_image)")
    yield moved("avgpool3d", "AvgPool3d", "T:volume A:[3] A:[2] A:[1] I:0 I:1 I:0 T:pooled_volume",
                f"{ATEN}.avg_pool3d.out(volume, [3], [2], [1], False, True, None, out=pooled_volume)", FLOAT, result="pooled_volume")
    yield moved("avgpool3d_backward", "AvgPool3dBackward", "T:pooled_volume T:volume A:[3] A:[2] A:[1] I:0 I:1 I:0 T:out_volume",
                f"{ATEN}.avg_pool3d_backward.grad_input(pooled_volume, volume, [3], [2], [1], False, True, None, grad_input=out_volume)", FLOAT)
    yield moved("global_average_pool", "GlobalAveragePool", "C:many C:one_each", f"{ATEN}.adaptive_avg_pool2d.out(many, [1, 1], out=one_each)", result="one_each")
    yield moved("global_max_pool", "GlobalMaxPool", "C:many C:one_each", "torch.amax(many, (2, 3), keepdim=True, out=one_each)", FLOAT, result="one_each")
    yield moved("adaptive_avg_pool2d", "AdaptiveAvgPool2d", "C:many A:[1,1] C:one_each",
                f"{ATEN}.adaptive_avg_pool2d.out(many, [1, 1], out=one_each)", result="one_each")
    yield moved("adaptive_avg_pool2d.many", "AdaptiveAvgPool2d", "C:image A:[rows//8,columns//8] C:out_smaller",
                f"{ATEN}.adaptive_avg_pool2d.out(image, [rows // 8, columns // 8], out=out_smaller)", result="out_smaller")
    yield moved("adaptive_avg_pool2d_backward", "AdaptiveAvgPool2dBackward", "C:smaller C:image C:out_image",
                f"{ATEN}._adaptive_avg_pool2d_backward.out(smaller, image, out=out_image)")
    yield moved("adaptive_max_pool2d", "AdaptiveMaxPool2d", "C:image A:[rows//8,columns//8] C:out_smaller C:pooled_places",
                f"{ATEN}.adaptive_max_pool2d.out(image, [rows // 8, columns // 8], out=out_smaller, indices=pooled_places)", result="out_smaller")
    yield moved("adaptive_max_pool2d_backward", "AdaptiveMaxPool2dBackward", "C:smaller C:image C:pooled_places C:out_image",
                f"{ATEN}.adaptive_max_pool2d_backward.grad_input(smaller, image, pooled_places, grad_input=out_image)")


def sampled():
    for filter_number, filter_name in enumerate(("linear", "nearest", "cubic")):
        for edge_number, edge in ((0, ""), (2, ".reflected")):
            for places, form in (("turned", ""), ("anywhere", ".anywhere")):
                if edge and form:
                    continue
                yield looked_up(f"grid_sampler2d.{filter_name}{edge}{form}", "GridSampler2D",
                                f"T:image T:{places} I:{filter_number} I:{edge_number} I:0 T:out_image",
                                f"{ATEN}.grid_sampler_2d.out(image, {places}, {filter_number}, {edge_number}, False, out=out_image)", FLOAT)


def sampled_volumes():
    yield moved("affine_grid", "AffineGrid", "T:turns A:[1,1,rows//4,columns//4] I:0 T:turned_gradient",
                "torch.ops.aten.affine_grid_generator.out(turns, [1, 1, rows // 4, columns // 4], False, out=turned_gradient)", FLOAT,
                result="turned_gradient")
    yield looked_up("grid_sampler3d", "GridSampler3D", "T:volume T:turned_volume I:0 I:0 I:0 T:out_volume",
                    f"{ATEN}.grid_sampler_3d.out(volume, turned_volume, 0, 0, False, out=out_volume)", FLOAT)
    yield looked_up("grid_sampler2d_backward", "GridSampler2DBackward", "T:image T:image T:turned I:0 I:0 I:0 B:[1,1] T:out_image T:turned_gradient",
                    f"{ATEN}.grid_sampler_2d_backward.out(image, image, turned, 0, 0, False, [True, True], "
                    "out0=out_image, out1=turned_gradient)", FLOAT)
    yield looked_up("grid_sampler3d_backward", "GridSampler3DBackward",
                    "T:volume T:volume T:turned_volume I:0 I:0 I:0 B:[1,1] T:out_volume T:turned_volume_gradient",
                    f"{ATEN}.grid_sampler_3d_backward.out(volume, volume, turned_volume, 0, 0, False, [True, True], out0=out_volume, "
                    "out1=turned_volume_gradient)", FLOAT)


ROWS = (
    *pads(),
    moved("circular_pad2d", "CircularPad2d", "T:image A:[3,3,3,3] T:wider_image", "F.pad(image, (3, 3, 3, 3), 'circular')", result="wider_image"),
    *pads_of_volumes(),
    *windows(),
    *upsampled(),
    *resized_smoothly(),
    *volumes_resized(),
    *pools(),
    *pools_of_volumes(),
    *unpools(),
    *sampled(),
    *sampled_volumes(),
)
