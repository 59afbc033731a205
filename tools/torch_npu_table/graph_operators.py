"""The operators of CANN's graph engine by which torch_npu computes its own, and those of them that portacl has.

Samples (traced_calls.py) reach only some of these, and the types are built in code, where static_calls.py does not see them. The
calls were made one by one, with a stand-in that wrote down type, operands and attributes; those that no arguments were found for
(qkv_fwd, qkv_grad, npu_multi_head_attention, gradients of whole recurrent layers) are strings of their kernels. On Ascend 950
torch_npu calls none of them.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from pathlib import Path

_TABLE = Path(__file__).resolve().parents[2] / "src" / "aclop" / "operator_table.cc"
_ROW = re.compile(r'\b(?:NATIVE|UNARY|BINARY)\(\s*"(\w+)"')

# Operator of torch_npu: types of the graph engine, any of which a call may need.
CALLS = {
    "_amp_foreach_non_finite_check": "NPUClearFloatStatusV2 NPUGetFloatStatusV2",
    "_cdist_backward": "CdistGrad",
    "_conv_depthwise2d_backward": "DepthwiseConv2DBackpropFilter DepthwiseConv2DBackpropInput",
    "_dropout_with_byte_mask": "DropOutDoMaskV3 DropOutGenMaskV3",
    "_dropout_with_byte_mask_backward": "DropOutDoMaskV3",
    "_npu_ciou": "CIoU",
    "_npu_silent_check": "SilentCheck",
    "npu_alloc_float_status": "NPUAllocFloatStatus",
    "npu_anchor_response_flags": "AnchorResponseFlags",
    "npu_batch_nms": "BatchMultiClassNonMaxSuppression",
    "npu_bert_apply_adam.out": "ApplyAdamV2",
    "npu_bmmV2": "BatchMatMul",
    "npu_bmm_v2_mat1_backward": "BatchMatMul",
    "npu_bmm_v2_mat2_backward": "BatchMatMul",
    "npu_bounding_box_decode": "BoundingBoxDecode",
    "npu_bounding_box_encode": "BoundingBoxEncode",
    "npu_ciou_backward": "CIoUGrad",
    "npu_clear_float_status": "NPUClearFloatStatusV2",
    "npu_confusion_transpose": "ConfusionTransposeD",
    "npu_confusion_transpose_backward": "ConfusionTransposeD",
    "npu_conv2d": "Conv2D",
    "npu_conv2d.out": "Conv2D",
    "npu_conv2d_backward": "Conv2DBackpropFilter Conv2DBackpropInput ReduceSum",
    "npu_conv3d": "Conv3D",
    "npu_conv3d.out": "Conv3D",
    "npu_conv3d_backward": "Conv3DBackpropFilter Conv3DBackpropInput ReduceSum",
    "npu_conv_transpose2d": "Conv2DTranspose",
    "npu_conv_transpose2d_backward": "Conv2D Conv2DBackpropFilter ReduceSum",
    "npu_conv_transpose3d_backward": "Conv3D Conv3DBackpropFilter ReduceSum",
    "npu_convolution": "Conv2D Conv3D",
    "npu_convolution_backward": "Conv2DBackpropFilter Conv2DBackpropInput Conv3DBackpropFilter Conv3DBackpropInput ReduceSum",
    "npu_convolution_transpose": "Conv2DTranspose Conv3DTranspose",
    "npu_convolution_transpose_backward": "Conv2D Conv2DBackpropFilter Conv3D Conv3DBackpropFilter ReduceSum",
    "npu_diou": "DIoU",
    "npu_diou_backward": "DIoUGrad",
    "npu_dropout_do_mask": "DropOutDoMask",
    "npu_dropout_with_add_softmax": "AxpyWithSoftmaxAndDropOutDoMask DropOutGenMaskV3",
    "npu_dropout_with_add_softmax_backward": "DropoutWithMulsAndSoftmaxGrad",
    "npu_dtype_cast_": "Cast",
    "npu_fused_attention_layernorm_qkv_fwd": "AttentionLnQKV",
    "npu_fused_attention_qkv_grad": "AttentionQKVGradW AttentionQKVGradX",
    "npu_fused_attention_score_backward": "AttentionScoreGrad ConfusionTransposeD",
    "npu_fused_attention_score_fwd": "AttentionScore DropOutGenMaskV3",
    "npu_fused_attention_score_grad": "AttentionScoreGrad ConfusionTransposeD",
    "npu_get_float_status": "NPUGetFloatStatusV2",
    "npu_giou": "GIoU",
    "npu_giou_backward": "GIoUGrad",
    "npu_grid_assign_positive": "Fill GridAssignPositive",
    "npu_gru": "DynamicGRUV2",
    "npu_ifmr": "IFMR",
    "npu_indexing": "StridedSlice",
    "npu_indexing.out": "StridedSlice",
    "npu_iou": "Iou",
    "npu_layer_norm_eval": "LayerNormV3",
    "npu_layernorm_grad": "LayerNormGrad",
    "npu_lstm": "DynamicRNN",
    "npu_lstm_backward": "DynamicRNNGrad",
    "npu_lstm_cell": "DynamicRNNV2",
    "npu_lstm_cell_backward": "DynamicRNNV2Grad",
    "npu_lstm_data": "DynamicRNN",
    "npu_lstm_data_backward": "DynamicRNNGrad",
    "npu_masked_fill_range": "MaskedFillRange",
    "npu_max.dim": "ArgMaxWithValue",
    "npu_max_backward": "ArgMaxGrad",
    "npu_min.dim": "ArgMinWithValue",
    "npu_min_backward": "ArgMaxGrad",
    "npu_mish": "Mish",
    "npu_mish_backward": "MishGrad",
    "npu_multi_head_attention": "MultiHeadAttention",
    "npu_multi_head_attention_backward": "MultiHeadAttentionGrad",
    "npu_nms_rotated": "Fill RotatedNMS",
    "npu_nms_v4": "Fill NonMaxSuppressionV4",
    "npu_nms_with_mask": "NMSWithMask",
    "npu_normalize_batch": "NormalizeBatch",
    "npu_one_hot": "Fill OneHotD",
    "npu_pad": "Pad",
    "npu_ps_roi_pooling": "PSROIPoolingV2",
    "npu_ps_roi_pooling_backward": "PSROIPoolingGradV2D",
    "npu_ptiou": "Iou",
    "npu_random_choice_with_mask": "RandomChoiceWithMask",
    "npu_rotated_box_decode": "RotatedBoxDecode",
    "npu_rotated_box_encode": "RotatedBoxEncode",
    "npu_rotated_iou": "RotatedIou",
    "npu_rotated_overlaps": "RotatedOverlaps",
    "npu_scaled_masked_softmax": "ScaledMaskedSoftmax",
    "npu_scaled_masked_softmax_backward": "ScaledMaskedSoftmaxGrad",
    "npu_scatter": "ArgMaxGrad",
    "npu_sign_bits_pack": "SignBitsPack",
    "npu_sign_bits_unpack": "SignBitsUnpack",
    "npu_silu": "Swish",
    "npu_silu_": "Swish",
    "npu_silu_backward": "SwishGrad",
    "npu_slice": "Slice",
    "npu_slice.out": "Slice",
    "npu_softmax_cross_entropy_with_logits": "SoftmaxCrossEntropyWithLogits",
    "npu_softmax_cross_entropy_with_logits_backward": "SoftmaxCrossEntropyWithLogits",
    "npu_sort_v2": "SortV2 Transpose",
    "npu_sort_v2.out": "SortV2 Transpose",
    "npu_stride_add": "StrideAdd",
    "npu_stride_copy": "AsStrided",
    "npu_stride_copy.out": "AsStrided",
    "npu_sub_sample": "SubSample",
    "npu_transpose": "Transpose",
    "npu_transpose.out": "Transpose",
    "npu_view_copy": "ViewCopy",
    "npu_yolo_boxes_encode": "YoloBoxesEncode",
    "slow_conv3d_forward": "Conv3D",
    "slow_conv3d_forward.output": "Conv3D",
}

_NOT_FLOATS = "bool complex128 complex64 float64 int16 int32 int64 int8"
_REDUCED = "complex128 complex64 float64 int16 int32 int8 uint8"
# Dtypes that these refuse, by the lists of the native functions: PyTorch's CPU has none of the operators, so that no call tells them.
REFUSED = {
    **dict.fromkeys(
        (
            *("npu_bmmV2", "npu_bmm_v2_mat1_backward", "npu_bmm_v2_mat2_backward", "_conv_depthwise2d_backward"),
            *(f"npu_conv{dims}{form}" for dims in ("2d", "3d") for form in ("", ".out", "_backward")),
            *("npu_conv_transpose2d", "npu_conv_transpose2d_backward", "npu_conv_transpose3d_backward"),
            *("npu_convolution", "npu_convolution_backward", "npu_convolution_transpose", "npu_convolution_transpose_backward"),
            *("npu_layer_norm_eval", "npu_mish", "npu_mish_backward", "npu_silu", "npu_silu_", "npu_silu_backward"),
            *("npu_softmax_cross_entropy_with_logits", "npu_softmax_cross_entropy_with_logits_backward"),
        ),
        _NOT_FLOATS + " uint8",
    ),
    # Beside a mask of bytes, or of bool.
    **dict.fromkeys(
        (
            *("_dropout_with_byte_mask", "_dropout_with_byte_mask_backward", "npu_dropout_do_mask"),
            *("npu_dropout_with_add_softmax", "npu_dropout_with_add_softmax_backward"),
        ),
        _NOT_FLOATS,
    ),
    **dict.fromkeys(
        ("npu_scaled_masked_softmax", "npu_scaled_masked_softmax_backward"), _NOT_FLOATS.removeprefix("bool ") + " uint8"
    ),
    **dict.fromkeys(("npu_max.dim", "npu_min.dim"), _REDUCED),
    "npu_sign_bits_pack": _NOT_FLOATS + " uint8 bfloat16",
    "npu_sign_bits_unpack": _NOT_FLOATS + " bfloat16",  # its result is FLOAT or FLOAT16
    **dict.fromkeys(("npu_sort_v2", "npu_sort_v2.out"), "complex128 complex64 float64"),
    # Those for which PyTorch's CPU stands in. Of 16 bits the distances would not say enough: it computes them again.
    "_cdist_backward": "bfloat16 float16 float64",
    **dict.fromkeys(("slow_conv3d_forward", "slow_conv3d_forward.output"), "float64"),
}


# Operators whose types are computed from Atlas A2 on, by native functions that refuse every dtype before.
SINCE_A2 = frozenset({"_cdist_backward"})


def here() -> frozenset[str]:
    """Returns the types that portacl computes."""
    return frozenset({"BroadcastTo", "Identity", *_ROW.findall(_TABLE.read_text(encoding="utf-8"))})


def needs(types: str) -> str:
    """Returns what an operator needs that calls these: each type that is not here."""
    present = here()
    return " ".join(f"graph:{one}" for one in types.split() if one not in present)
