"""Softmax, norms, losses over classes and sequences, and steps of optimizers as bench/maps.py measures them: rows as those of moves_table.py.

SPDX-License-Identifier: Apache-2.0
"""
from moves_table import moved

ATEN = "torch.ops.aten"
FLOAT = ("f32",)
CHANNELS = "torch.rand(16, generator=g)"

# As moves_table.MADE.
MADE = {
    "sums": "torch.zeros((rows, columns), dtype=a.dtype)",
    "shares": "torch.softmax(a2.float(), 1).to(a.dtype)",
    "some": "torch.sigmoid(a2.float()).to(a.dtype)",
    "gamma": "torch.rand(columns, generator=g).to(a.dtype)",
    "beta": "torch.rand(columns, generator=g).to(a.dtype)",
    "numbers": "torch.zeros((rows, 1))",
    "more_numbers": "torch.zeros((rows, 1))",
    "wide": "torch.zeros((rows, columns))",
    "their_numbers": "torch.zeros((rows, 1), dtype=a.dtype)",
    "their_more": "torch.zeros((rows, 1), dtype=a.dtype)",
    "means": "a2.float().mean(1, keepdim=True)",
    "rstds": "torch.rsqrt(a2.float().var(1, unbiased=False, keepdim=True) + 1e-5)",
    "their_means": "means.to(a.dtype)",
    "their_rstds": "rstds.to(a.dtype)",
    "of_gamma": "torch.zeros(columns)",
    "of_beta": "torch.zeros(columns)",
    "their_gamma": "torch.zeros(columns, dtype=a.dtype)",
    "their_beta": "torch.zeros(columns, dtype=a.dtype)",
    "scale": CHANNELS,
    "shift": CHANNELS,
    "channel_means": CHANNELS,
    "channel_rstds": CHANNELS,
    "of_scale": "torch.zeros(16)",
    "of_shift": "torch.zeros(16)",
    "group_scale": "scale.to(a.dtype)",
    "group_shift": "shift.to(a.dtype)",
    "group_means": "torch.rand((1, 4), generator=g).to(a.dtype)",
    "group_rstds": "torch.rand((1, 4), generator=g).to(a.dtype)",
    "of_group_scale": "torch.zeros(16, dtype=a.dtype)",
    "of_group_shift": "torch.zeros(16, dtype=a.dtype)",
    "grad_image": "b.view(1, 16, rows // 4, columns // 4)",
    "targets": "torch.randint(0, columns, (rows,), generator=g)",
    "labels": "torch.where(torch.arange(columns) < 4, torch.randint(0, columns, (rows, columns), generator=g), -1)",
    "pixels": "torch.randint(0, 16, (1, rows // 4, columns // 4), generator=g)",
    "class_weights": "torch.rand(columns, generator=g).to(a.dtype)",
    "pixel_weights": "torch.rand(16, generator=g).to(a.dtype)",
    "loss": "torch.ones((), dtype=a.dtype)",
    "total": "torch.ones((), dtype=a.dtype)",
    "count": "torch.full((), rows, dtype=a.dtype)",
    "empty": "torch.zeros(0, dtype=a.dtype)",
    "greatest": "a2.float().max(1).values",
    "powers": "(a2.float() - greatest[:, None]).exp().sum(1)",
    "predicted": "a2.float()[:, 0] - greatest",
    "loss_of_rows": "torch.zeros(rows)",
    "losses": "torch.zeros(rows, dtype=a.dtype)",
    "logarithms": "torch.log_softmax(a2, 1)",
    "more_scale": "torch.zeros(16)",
    "more_shift": "torch.zeros(16)",
    "their_variances": "channel_rstds.pow(-2) - 1e-5",
    "elements": "torch.full((1,), n // 16, dtype=torch.int32)",
    # Sequences of 64 steps over 64 symbols, with 16 targets each.
    "speech": "torch.log_softmax(a.view(64, -1, 64), 2)",
    "heard": "n // 4096",
    "said": "torch.randint(1, 64, (heard, 16), generator=g)",
    "likelihoods": "torch.zeros(heard)",
    "alphas": "torch.zeros((heard, 64, 40))",
    "loss_of_speech": "torch.ops.aten._ctc_loss(speech, said, [64] * heard, [16] * heard)",
    "known_alphas": "F.pad(loss_of_speech[1], (0, 7))",
    "of_speech": "torch.zeros_like(speech)",
    "first_moments": "torch.zeros(n)",
    "second_moments": "torch.zeros(n)",
    "weights": "torch.rand(n, generator=g)",
    "one_step": "torch.ones(1)",
    "their_step": "torch.ones(())",
    "beta1_power": "torch.full((1,), 0.9)",
    "beta2_power": "torch.full((1,), 0.999)",
    "rate": "torch.full((1,), 1e-3)",
    "decayed": "torch.full((1,), 1e-2)",
    "tiny": "torch.full((1,), 1e-8)",
    "none_found": "torch.zeros(1)",
    "scaled_by": "torch.ones(1)",
}


def softmaxes():
    for name, function, op in (("softmax", "Softmax", "_softmax"), ("logsoftmax", "LogSoftmax", "_log_softmax")):
        yield moved(name, function, "T:a2 I:1 T:out2", f"{ATEN}.{op}.out(a2, 1, False, out=out2)")
        yield moved(f"{name}.across", function, "T:a2 I:0 T:out2", f"{ATEN}.{op}.out(a2, 0, False, out=out2)")
        out = "grad_input" if name == "softmax" else "out"
        yield moved(f"{name}_backward", f"{function}Backward", "T:b2 T:shares I:1 T:out2",
                    f"{ATEN}.{op}_backward_data.out(b2, shares, 1, a.dtype, {out}=out2)")
        yield moved(f"{name}_backward.across", f"{function}Backward", "T:b2 T:shares I:0 T:out2",
                    f"{ATEN}.{op}_backward_data.out(b2, shares, 0, a.dtype, {out}=out2)")


def row_norms():
    yield moved("renorm", "Renorm", "T:a2 S:2.0 I:0 S:1.0 T:out2", "torch.renorm(a2, 2.0, 0, 1.0, out=out2)")
    yield moved("layer_norm", "LayerNorm", "T:a2 A:[columns] T:gamma T:beta D:1e-5 T:out2 T:numbers T:more_numbers",
                f"{ATEN}.native_layer_norm.out(a2, [columns], gamma, beta, 1e-5, out0=out2, out1=their_numbers, out2=their_more)", result="out2")
    yield moved("layer_norm_backward", "LayerNormBackward",
                "T:b2 T:a2 A:[columns] T:means T:rstds T:gamma T:beta B:[1,1,1] T:out2 T:of_gamma T:of_beta",
                f"{ATEN}.native_layer_norm_backward.out(b2, a2, [columns], their_means, their_rstds, gamma, beta, [True] * 3, out0=out2, "
                "out1=their_gamma, out2=their_beta)", result="out2")
    yield moved("rms_norm", "RmsNorm", "T:a2 T:gamma D:1e-6 T:out2 T:numbers", "F.rms_norm(a2, [columns], gamma, 1e-6)", result="out2")
    yield moved("add_layer_norm", "AddLayerNorm", "T:a2 T:b2 T:gamma T:beta T:null D:1e-5 I:1 T:out2 T:numbers T:more_numbers T:sums",
                "F.layer_norm(a2 + b2, [columns], gamma, beta, 1e-5)", result="out2")
    yield moved("add_rms_norm", "AddRmsNorm", "T:a2 T:b2 T:gamma D:1e-6 T:out2 T:numbers T:sums", "F.rms_norm(a2 + b2, [columns], gamma, 1e-6)",
                result="out2")
    yield moved("rms_norm_grad", "RmsNormGrad", "T:b2 T:a2 T:rstds T:gamma T:out2 T:of_gamma",
                "rstds * (b2 * gamma - a2 * rstds * (b2 * gamma * a2 * rstds).mean(1, keepdim=True))", FLOAT, result="out2")


def fused_norms():
    yield moved("gemma_rms_norm", "GemmaRmsNorm", "T:a2 T:gamma D:1e-6 T:out2 T:numbers", "F.rms_norm(a2, [columns], 1 + gamma, 1e-6)", result="out2")
    yield moved("inplace_add_rms_norm", "InplaceAddRmsNorm", "T:out2 T:sums T:gamma D:1e-6 T:numbers",
                "F.rms_norm(out2 + sums, [columns], gamma, 1e-6)", result="out2[:0]", compares=False)
    yield moved("add_rms_norm_cast", "AddRmsNormCast", "T:a2 T:b2 T:gamma D:1e-6 T:wide T:out2 T:numbers T:sums",
                "F.rms_norm(a2 + b2, [columns], gamma, 1e-6)", ("bf16",), result="out2")
    yield moved("deep_norm", "DeepNorm", "T:a2 T:b2 T:beta T:gamma D:0.5 D:1e-5 T:numbers T:more_numbers T:out2",
                "F.layer_norm(0.5 * a2 + b2, [columns], gamma, beta, 1e-5)", result="out2")
    normed = "(a2 + b2 - means) * rstds"
    yield moved("add_layer_norm_grad", "AddLayerNormGrad", "T:b2 T:a2 T:b2 T:rstds T:means T:gamma T:null T:out2 T:of_gamma T:of_beta",
                f"rstds * (b2 * gamma - (b2 * gamma).mean(1, keepdim=True) - {normed} * (b2 * gamma * {normed}).mean(1, keepdim=True))", FLOAT,
                result="out2")
    yield moved("deep_norm_grad", "DeepNormGrad", "T:b2 T:a2 T:b2 T:gamma T:means T:rstds D:1.0 T:out2 T:sums T:of_beta T:of_gamma",
                f"rstds * (b2 * gamma - (b2 * gamma).mean(1, keepdim=True) - {normed} * (b2 * gamma * {normed}).mean(1, keepdim=True))", FLOAT,
                result="out2")
    silu = "F.silu(F.group_norm(image, 4, group_scale, group_shift))"
    for name, function, flag in (("group_norm_silu", "GroupNormSilu", ""), ("group_norm_silu_v2", "GroupNormSiluV2", "I:1 ")):
        yield moved(name, function, f"T:image T:group_scale T:group_shift I:4 D:1e-5 {flag}T:out_image T:group_means T:group_rstds", silu,
                    result="out_image")
    yield moved("group_norm_swish", "GroupNormSwish",
                "T:image T:group_scale T:group_shift I:4 I:0 D:1e-5 I:1 D:1.0 T:out_image T:group_means T:group_rstds", silu, result="out_image")
    normed = "(image.view(1, 4, -1) - group_means[..., None]).mul_(group_rstds[..., None]).view_as(image)"
    of_silu = f"{ATEN}.silu_backward(grad_image, torch.addcmul(group_shift[:, None, None], {normed}, group_scale[:, None, None]))"
    yield moved("group_norm_swish_grad", "GroupNormSwishGrad",
                "T:grad_image T:group_means T:group_rstds T:image T:group_scale T:group_shift I:4 I:0 D:1.0 I:1 I:1 T:out_image T:of_group_scale "
                "T:of_group_shift", f"{ATEN}.native_group_norm_backward({of_silu}, image, group_means, group_rstds, group_scale, 1, 16, n // 16, 4, "
                "[True] * 3)[0]", FLOAT, result="out_image")
    scores = "a2.view(1, 1, rows, columns)"
    mask = "T:(b2>0).view(1,1,rows,columns)"
    placed = f"T:{scores.replace(' ', '')}"
    out = "T:out2.view(1,1,rows,columns)"
    yield moved("scaled_masked_softmax", "ScaledMaskedSoftmax", f"{placed} {mask} D:0.5 I:0 {out}",
                "torch.softmax((a2 * 0.5).masked_fill(b2 > 0, -10000), 1)", result="out2")
    yield moved("scaled_masked_softmax_backward", "ScaledMaskedSoftmaxBackward",
                f"T:b2.view(1,1,rows,columns) T:shares.view(1,1,rows,columns) {mask} D:0.5 I:0 {out}",
                "((b2 - (b2 * shares).sum(1, keepdim=True)) * shares * 0.5).masked_fill(b2 > 0, 0)", FLOAT, result="out2")
    yield moved("masked_softmax_with_rel_pos_bias", "MaskedSoftmaxWithRelPosBias",
                f"{placed} T:b2.view(1,rows,columns) T:b2.view(1,rows,columns) D:0.5 I:0 {out}", "torch.softmax(a2 * 0.5 + b2 + b2, 1)", FLOAT,
                result="out2")


def fused_gates():
    yield moved("ada_layer_norm", "AdaLayerNorm", "T:a.view(4,-1,256) T:b.view(-1,256)[:4] T:b.view(-1,256)[4:8] T:null T:null D:1e-5 T:out.view(4,-1,256)",
                "F.layer_norm(a.view(4, -1, 256), [256]) * (1 + b.view(-1, 256)[:4, None]) + b.view(-1, 256)[4:8, None]", compares=False)
    yield moved("gelu_mul", "GeluMul", "T:a.view(-1,1024) I:0 T:out.view(-1,1024)[:,:512]",
                "F.gelu(a.view(-1, 1024)[:, :512]) * a.view(-1, 1024)[:, 512:]", compares=False)
    yield moved("fatrelu_mul", "FatreluMul", "T:a.view(-1,1024) T:b.view(-1)[:1] T:out.view(-1,1024)[:,:512]",
                "torch.where(a.view(-1, 1024)[:, :512] > b.view(-1)[0], a.view(-1, 1024)[:, :512], 0) * a.view(-1, 1024)[:, 512:]", compares=False)
    yield moved("situ_glu", "SituGlu", "T:a2 I:1 D:4.0 D:25.0 I:1 T:out2[:,:columns//2]",
                "4 * torch.tanh(a2[:, :columns // 2] / 4) * torch.sigmoid(a2[:, :columns // 2]) * 25 * torch.tanh(a2[:, columns // 2:] / 25)", compares=False)
    yield moved("clipped_swiglu", "ClippedSwiglu", "T:a2 T:null I:1 D:1.702 D:7.0 D:1.0 I:1 T:out2[:,:columns//2]",
                "a2[:, ::2].clamp(max=7) * torch.sigmoid(1.702 * a2[:, ::2].clamp(max=7)) * (a2[:, 1::2].clamp(-7, 7) + 1)", compares=False)


def channel_norms():
    yield moved("batch_norm", "BatchNorm", "T:image T:scale T:shift T:null T:null I:1 D:0.1 D:1e-5 T:out_image T:of_scale T:of_shift",
                f"{ATEN}.native_batch_norm.out(image, scale, shift, None, None, True, 0.1, 1e-5, out=out_image, save_mean=of_scale, "
                "save_invstd=of_shift)", result="out_image")
    yield moved("batch_norm_backward", "BatchNormBackward",
                "T:grad_image T:image T:scale T:null T:null T:channel_means T:channel_rstds I:1 D:1e-5 B:[1,1,1] T:out_image T:of_scale T:of_shift",
                f"{ATEN}.native_batch_norm_backward.out(grad_image, image, scale, None, None, channel_means, channel_rstds, True, 1e-5, "
                "[True] * 3, out0=out_image, out1=of_scale, out2=of_shift)", result="out_image")
    yield moved("group_norm", "GroupNorm",
                "T:image T:group_scale T:group_shift I:1 I:16 I:n//16 I:4 D:1e-5 T:out_image T:group_means T:group_rstds",
                f"{ATEN}.native_group_norm.out(image, group_scale, group_shift, 1, 16, n // 16, 4, 1e-5, out0=out_image, out1=group_means, "
                "out2=group_rstds)", result="out_image")
    yield moved("group_norm_backward", "GroupNormBackward",
                "T:grad_image T:image T:group_means T:group_rstds T:group_scale I:1 I:16 I:n//16 I:4 B:[1,1,1] T:out_image T:of_group_scale "
                "T:of_group_shift",
                f"{ATEN}.native_group_norm_backward.out(grad_image, image, group_means, group_rstds, group_scale, 1, 16, n // 16, 4, [True] * 3, "
                "out0=out_image, out1=of_group_scale, out2=of_group_shift)", FLOAT, result="out_image")


def channel_parts():
    """The parts of a batch norm over several devices."""
    yield moved("batch_norm_stats", "BatchNormStats", "C:image D:1e-5 T:of_scale T:of_shift", "torch.var_mean(image, (0, 2, 3), correction=0)[1]", FLOAT,
                result="of_scale")
    yield moved("batch_norm_elemt", "BatchNormElemt", "C:image T:scale T:shift T:channel_means T:channel_rstds D:1e-5 C:out_image",
                f"{ATEN}.native_batch_norm.out(image, scale, shift, channel_means, their_variances, False, 0.1, 1e-5, out=out_image, "
                "save_mean=empty, save_invstd=empty)", FLOAT, result="out_image")
    yield moved("batch_norm_elemt_backward", "BatchNormElemtBackward",
                "C:grad_image C:image T:channel_means T:channel_rstds T:scale T:shift T:scale T:elements C:out_image",
                "((grad_image - (shift / elements)[:, None, None]) - (image - channel_means[:, None, None]) * "
                "(channel_rstds.square() * scale / elements)[:, None, None]) * (channel_rstds * scale)[:, None, None]", FLOAT, result="out_image")
    yield moved("batch_norm_reduce", "BatchNormReduce", "C:image T:of_scale T:of_shift",
                "(torch.sum(image, (0, 2, 3), out=of_scale), torch.sum(image * image, (0, 2, 3), out=of_shift))[0]", FLOAT, result="of_shift",
                theirs="of_shift")
    yield moved("batch_norm_reduce_backward", "BatchNormReduceBackward",
                "C:grad_image C:image T:channel_means T:channel_rstds T:scale I:1 I:1 I:1 T:of_scale T:of_shift T:more_scale T:more_shift",
                "(torch.sum(grad_image, (0, 2, 3), out=of_scale), "
                "torch.sum(grad_image * (image - channel_means[:, None, None]), (0, 2, 3), out=of_shift))[0]", FLOAT, result="of_shift",
                theirs="of_shift", compares=False)


def speech_losses():
    # Gradients that are sums over many steps differ by more than the tolerance of float32, so that means are compared.
    lengths = "A:[64]*heard A:[16]*heard"
    yield moved("ctc_loss", "CtcLoss", f"T:speech T:said {lengths} I:0 I:0 T:likelihoods T:alphas",
                f"{ATEN}._ctc_loss(speech, said, [64] * heard, [16] * heard)[0]", FLOAT, result="likelihoods", from_memory=22)
    yield moved("ctc_loss_backward", "CtcLossBackward",
                f"T:likelihoods T:speech T:said {lengths} T:loss_of_speech[0] T:known_alphas I:0 I:0 T:of_speech",
                f"{ATEN}._ctc_loss_backward(likelihoods, speech, said, [64] * heard, [16] * heard, *loss_of_speech, 0)", FLOAT, result="of_speech",
                from_memory=22, compares=False)


def steps():
    """A step changes its operands, so the sides are compared by the tests of the optimizers alone."""
    lists = "L:[weights] L:[a] L:[first_moments] L:[second_moments] L:[] L:[one_step] T:null T:null"
    adam = "[weights], [a], [first_moments], [second_moments], [], [their_step], lr=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8"
    more = {"dtypes": FLOAT, "result": "weights[:0]", "compares": False}
    for name, function, theirs in (("fused_adam", "FusedAdam", "_fused_adam_"), ("fused_adamw", "FusedAdamw", "_fused_adamw_")):
        yield moved(name, function, f"{lists} D:1e-3 D:0.9 D:0.999 D:0.01 D:1e-8 I:0 I:0",
                    f"(torch.{theirs}({adam}, amsgrad=False, maximize=False), weights)[1]", **more)
    step = f"(torch._fused_adamw_({adam}, amsgrad=False, maximize=False), weights)[1]"
    yield moved("apply_adam_w", "ApplyAdamW", "T:weights T:first_moments T:second_moments T:beta1_power T:beta2_power T:rate T:decayed T:beta1_power "
                "T:beta2_power T:tiny a T:null I:0 I:0", step, **more)
    yield moved("apply_adam_w_v2", "ApplyAdamWV2", "T:weights T:first_moments T:second_moments T:null a T:one_step F:1e-3 F:0.9 F:0.999 F:0.01 F:1e-8 "
                "I:0 I:0", step, **more)
    yield moved("fused_sgd", "FusedSgd", "L:[weights] L:[a] L:[first_moments] T:null F:0.01 F:0.9 F:1e-3 F:0.0 I:0 I:0 I:0",
                "(torch._fused_sgd_([weights], [a], [first_moments], weight_decay=0.01, momentum=0.9, lr=1e-3, dampening=0.0, nesterov=False, "
                "maximize=False, is_first_step=False), weights)[1]", **more)
    yield moved("foreach_non_finite_check_and_unscale", "ForeachNonFiniteCheckAndUnscale", "L:[out] T:none_found T:scaled_by",
                f"{ATEN}._amp_foreach_non_finite_check_and_unscale_([out], none_found, scaled_by)", FLOAT, compares=False)


def class_losses():
    for name, function, self, target, weight, op in (("nll_loss", "NLLLoss", "a2", "targets", "class_weights", "nll_loss"),
                                                     ("nll_loss2d", "NLLLoss2d", "image", "pixels", "pixel_weights", "nll_loss2d")):
        yield moved(name, function, f"T:{self} T:{target} T:{weight} I:1 I:-100 T:loss T:total",
                    f"{ATEN}.{op}_forward.output({self}, {target}, {weight}, 1, -100, output=loss, total_weight=total)[0]", result="loss")
        out = "out2" if self == "a2" else "out_image"
        yield moved(f"{name}_backward", f"{function}Backward", f"T:loss T:{self} T:{target} T:{weight} I:1 I:-100 T:total T:{out}",
                    f"{ATEN}.{op}_backward.grad_input(loss, {self}, {target}, {weight}, 1, -100, total, grad_input={out})", result=out)
    yield moved("multilabel_margin_loss", "MultilabelMarginLoss", "T:a2 T:labels I:1 T:loss T:out2",
                f"{ATEN}.multilabel_margin_loss_forward.output(a2, labels, 1, output=loss, is_target=out2)[0]", FLOAT, result="loss")
    loss = "F.cross_entropy(a2, targets)"
    yield moved("cross_entropy_loss", "CrossEntropyLoss", "T:a2 T:targets T:null I:0 I:-100 D:0 D:0 I:0 T:loss T:out2 T:empty T:empty", loss,
                result="loss")
    yield moved("softmax_cross_entropy_with_logits", "SoftmaxCrossEntropyWithLogits", "T:a2 T:shares T:losses T:out2",
                "(F.cross_entropy(a2, shares, reduction='none'), torch.softmax(a2, 1) - shares)[1]", result="out2")
    yield moved("fused_cross_entropy_loss_with_max_sum", "FusedCrossEntropyLossWithMaxSum",
                "T:greatest T:powers T:predicted F:0 T:null T:null T:a2 T:loss_of_rows T:wide",
                "(a2 - greatest[:, None]).exp().div_(powers[:, None])", result="wide")
    yield moved("cross_entropy_loss_grad", "CrossEntropyLossGrad", "T:loss T:logarithms T:targets T:null T:null T:null I:0 I:-100 D:0 D:0 T:out2",
                f"{ATEN}._log_softmax_backward_data.out({ATEN}.nll_loss_backward(loss, logarithms, targets, None, 1, -100, count), logarithms, 1, "
                "a.dtype, out=out2)", result="out2")


def binary_losses():
    yield moved("binary_cross_entropy", "BinaryCrossEntropy", "T:some T:shares T:null I:0 T:out2",
                f"{ATEN}.binary_cross_entropy.out(some, shares, None, 0, out=out2)")
    yield moved("binary_cross_entropy.mean", "BinaryCrossEntropy", "T:some T:shares T:null I:1 T:loss",
                f"{ATEN}.binary_cross_entropy(some, shares, None, 1)", result="loss")
    yield moved("binary_cross_entropy_backward", "BinaryCrossEntropyBackward", "T:b2 T:some T:shares T:null I:0 T:out2",
                f"{ATEN}.binary_cross_entropy_backward.grad_input(b2, some, shares, None, 0, grad_input=out2)")
    yield moved("binary_cross_entropy_with_logits", "BinaryCrossEntropyWithLogits", "T:a2 T:shares T:null T:null I:1 T:loss",
                f"{ATEN}.binary_cross_entropy_with_logits(a2, shares, None, None, 1)", result="loss")
    yield moved("binary_cross_entropy_with_logits_backward", "BinaryCrossEntropyWithLogitsBackward",
                "T:b2 T:a2 T:shares T:null T:null I:0 T:out2", "(torch.sigmoid(a2) - shares) * b2", result="out2")
    yield moved("binary_cross_entropy_with_logits_target_backward", "BinaryCrossEntropyWithLogitsTargetBackward",
                "T:b2 T:a2 T:shares T:null T:b2[0] I:0 T:out2", "(F.softplus(-a2) * b2[0] - F.softplus(a2)) * b2", result="out2", compares=False)
    yield moved("soft_margin_loss", "SoftMarginLoss", "T:a2 T:b2 I:1 T:loss", f"{ATEN}.soft_margin_loss(a2, b2, 1)", result="loss")
    yield moved("soft_margin_loss_backward", "SoftMarginLossBackward", "T:b2 T:a2 T:shares I:0 T:out2",
                f"{ATEN}.soft_margin_loss_backward.grad_input(b2, a2, shares, 0, grad_input=out2)")


ROWS = (*softmaxes(), *row_norms(), *fused_norms(), *fused_gates(), *channel_norms(), *channel_parts(), *class_losses(), *binary_losses(), *speech_losses(),
        *steps())
