"""The rest of ATen, which is measured as one group: its operators, and why some rows are slower than half of PyTorch's rate.

SPDX-License-Identifier: Apache-2.0
"""

OPERATORS = frozenset("""
    ada_layer_norm adaptive_avg_pool3d adaptive_avg_pool3d_backward adaptive_max_pool3d adaptive_max_pool3d_backward add_n add_relu addr affine_grid
    angle_v2 apply_adam_w apply_adam_w_v2 batch_norm_elemt batch_norm_elemt_backward batch_norm_reduce batch_norm_reduce_backward batch_norm_stats
    binary_cross_entropy_with_logits_target_backward bucketize cdist_backward channel_shuffle chunk_cat circular_pad2d circular_pad3d clipped_swiglu
    complex confusion_transpose ctc_loss ctc_loss_backward embedding_bag fatrelu_mul fill_diagonal flatten fused_adam fused_adamw
    fused_cross_entropy_loss_with_max_sum fused_sgd gather_nd gather_v3 gcd gelu_mul gelu_v2 global_average_pool global_max_pool grid_sampler2d_backward
    grid_sampler3d grid_sampler3d_backward group_norm_swish group_norm_swish_grad heaviside index_add_v2 inverse is_in_tensor_scalar linalg_cholesky
    linalg_qr log_space masked_scale max_n max_unpool2d max_unpool2d_backward max_unpool3d max_unpool3d_backward min_n modulate modulate_backward
    nll_loss2d nll_loss2d_backward norm pad3d_backward pdist pdist_forward polar put real reflection_pad3d renorm repeat_interleave_grad
    replication_pad3d scale scatter_div scatter_list scatter_max scatter_min scatter_mul scatter_nd scatter_update shrink situ_glu slogdet strided_slice
    strided_slice_assign_v2 sum svd tf_scatter_add transpose_batch_mat_mul unique_dim upsample_bicubic_2d_aa upsample_bicubic_2d_aa_grad
    upsample_bicubic_2d_backward upsample_bilinear_2d_aa upsample_bilinear_2d_aa_backward upsample_linear_1d upsample_linear_1d_backward
    upsample_nearest_1d_backward upsample_nearest_3d upsample_nearest_3d_backward upsample_nearest_exact_1d upsample_nearest_exact_1d_backward
    upsample_nearest_exact_2d upsample_nearest_exact_2d_backward upsample_nearest_exact_3d upsample_nearest_exact_3d_backward upsample_trilinear_3d
    upsample_trilinear_3d_backward xlog1py xlogy_scalar_other xlogy_scalar_self xlogy_tensor
    """.split())

# By the names of rows, without dtype and size.
REASONS = {
    "svd": "turns pairs of columns in float64 until all are orthogonal, where PyTorch reduces to two diagonals in float32",
    "embedding_bag": "waits for rows at random places of memory, longer where others use it: 0.45 to 0.8 from run to run",
    "grid_sampler2d_backward": "adds to each pixel in the order of the points, twice: for the image and, with slopes, for the coordinates",
    "transpose_batch_mat_mul": "small products of bf16, whose pairs of terms have an order of their own (Products of matrices)",
}


def is_in(row_name):
    """Tells whether the row of this name is of the group."""
    return row_name.partition(".")[0] in OPERATORS
