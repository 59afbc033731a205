"""A small GPT of experts that is trained in parts, by the calls that MindSpeed and Megatron make of torch_npu and torch.distributed.

SPDX-License-Identifier: Apache-2.0
"""
