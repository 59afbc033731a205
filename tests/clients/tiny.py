"""Models of transformers made tiny: a configuration's sizes are cut by their names, and inputs are drawn that fit it."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from typing import Any

import architectures
import torch
import transformers
from transformers.models.auto import modeling_auto as auto

# What a size becomes, by its name in a configuration; a smaller one stays.
SIZES = {
    **dict.fromkeys(
        ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "embedding_size", "emb_dim", "model_dim", "width"), 32
    ),
    **dict.fromkeys(("encoder_hidden_size", "decoder_hidden_size", "hidden_dim", "output_dim", "projection_dim"), 32),
    **dict.fromkeys(
        ("text_embed_dim", "vision_embed_dim", "word_embed_proj_dim", "out_hidden_size", "attention_hidden_size"), 32
    ),
    **dict.fromkeys(("conv_dim_size", "output_hidden_size", "fpn_hidden_size", "decoder_hidden_dim", "feature_size"), 32),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "depth"), 2),
    **dict.fromkeys(("num_encoder_layers", "num_decoder_layers", "num_block_layers", "encoder_num_layers", "num_blocks"), 2),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "attention_heads"), 4),
    **dict.fromkeys(("decoder_attention_heads", "encoder_num_attention_heads", "decoder_num_attention_heads"), 4),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num"), 2),
    **dict.fromkeys(
        ("intermediate_size", "ffn_dim", "d_ff", "n_inner", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_hidden_size"), 64
    ),
    **dict.fromkeys(("mlp_dim", "hidden_features", "encoder_intermediate_size", "shared_expert_intermediate_size"), 64),
    **dict.fromkeys(("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size_mlp", "mlp_hidden_size"), 32),
    **dict.fromkeys(("num_experts", "n_routed_experts", "num_local_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_topk", "moe_k", "num_selected_experts"), 2),
    **dict.fromkeys(("head_dim", "d_kv", "key_length", "kv_channels", "attention_head_size", "d_head"), 8),
    **dict.fromkeys(("vocab_size", "text_vocab_size", "codebook_size"), 128),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length", "n_ctx", "seq_length"), 128),
    **dict.fromkeys(("max_source_positions", "max_target_positions"), 64),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "lora_rank"), 16),
    **dict.fromkeys(("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "qk_head_dim"), 8),
    **dict.fromkeys(("first_k_dense_replace", "n_group", "topk_group"), 1),
    **dict.fromkeys(("mamba_d_state", "state_size", "mamba_d_head", "mamba_d_ssm", "ssm_state_size"), 16),
    **dict.fromkeys(("linear_key_head_dim", "linear_value_head_dim"), 8),
    **dict.fromkeys(("linear_num_key_heads", "linear_num_value_heads"), 4),
    **dict.fromkeys(("image_size", "img_size", "input_size"), 32),
    **dict.fromkeys(("num_mel_bins", "num_queries", "num_codebooks"), 16),
    **dict.fromkeys(("num_conv_pos_embeddings", "num_conv_pos_embedding_groups"), 4),
}
PATCH = 8  # at most, of an image
IDS = ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id", "sep_token_id", "cls_token_id", "unk_token_id")
KINDS_OF_LAYERS = ("layer_types", "layers_block_type", "block_types", "attn_types", "mlp_layer_types")
COUNTS_OF_LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
MOST_PARAMETERS = 3_000_000


def shrink(value: Any, name: str = "") -> Any:
    """The same configuration, as a dict, with small sizes."""
    if isinstance(value, dict):
        made = {key: shrink(one, key) for key, one in value.items()}
        kinds = 0
        for key in KINDS_OF_LAYERS:
            if isinstance(made.get(key), list):
                made[key] = list(dict.fromkeys(value[key]))  # one layer of each kind
                kinds = max(kinds, len(made[key]))
        layers = max(2, kinds)
        for key in KINDS_OF_LAYERS:
            if isinstance(made.get(key), list):
                made[key] = (made[key] * layers)[:layers]
        for key in COUNTS_OF_LAYERS if kinds else ():
            if key in made:
                made[key] = layers
        return made
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return 0.0 if "drop" in name or name in ("mask_time_prob", "mask_feature_prob") else value
    if name in SIZES and isinstance(value, int):
        return min(value, SIZES[name])
    if name in ("image_size", "img_size") and isinstance(value, (list, tuple)):
        return [min(one, 32) for one in value]
    if name == "patch_size":
        return [min(one, PATCH) for one in value] if isinstance(value, (list, tuple)) else min(value, PATCH)
    if name in IDS and isinstance(value, int) and not isinstance(value, bool):
        return min(value, 1 + IDS.index(name))
    if name == "depths" and isinstance(value, (list, tuple)):
        return [1] * len(value)
    if name in ("hidden_sizes", "embed_dims", "neck_hidden_sizes", "channels") and isinstance(value, (list, tuple)):
        return [16 * (i + 1) for i in range(len(value))]
    return value


def configuration(model_type: str, overrides: dict[str, Any]) -> Any:
    """A tiny configuration of this type; `overrides` are merged in, dicts within dicts too."""
    made = transformers.AutoConfig.for_model(model_type)
    values = shrink(made.to_dict())

    def merge(into: dict[str, Any], more: dict[str, Any]) -> None:
        for key, value in more.items():
            if isinstance(value, dict) and isinstance(into.get(key), dict):
                merge(into[key], value)
            else:
                into[key] = value

    if values.get("is_encoder_decoder") and values.get("decoder_start_token_id") is None:
        values["decoder_start_token_id"] = 2
    merge(values, overrides)
    for key in ("transformers_version", "model_type", "architectures"):
        values.pop(key, None)
    return type(made)(**values)


def kind_of(model_type: str) -> Any:
    """The class that makes the model: with a head that generates, where there is one."""
    for names, made in (
        (auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES, transformers.AutoModelForSpeechSeq2Seq),
        (auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, transformers.AutoModelForSeq2SeqLM),
        (auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES, transformers.AutoModelForCausalLM),
    ):
        if model_type in names:
            return made
    return transformers.AutoModel


def model(kind: Any, config: Any) -> torch.nn.Module:
    """The model with random weights, if it is tiny."""
    with torch.device("meta"):
        size = sum(parameter.numel() for parameter in kind.from_config(config).parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"{size} parameters are more than {MOST_PARAMETERS}")
    torch.manual_seed(20)
    made = kind.from_config(config, dtype=torch.float32)
    generator = torch.Generator().manual_seed(21)
    with torch.no_grad():
        for parameter in made.parameters():  # what starts as zeros or ones would hide what it is multiplied with
            if parameter.is_floating_point():
                parameter.add_(torch.empty_like(parameter).uniform_(-0.05, 0.05, generator=generator))
    return made


def find(config: Any, names: tuple[str, ...]) -> Any:
    """The first attribute of one of these names, in the configuration or in those inside it."""
    for name in names:
        value = getattr(config, name, None)
        if value is not None:
            return value
    for inner in vars(config).values():
        if isinstance(inner, transformers.PreTrainedConfig):
            value = find(inner, names)
            if value is not None:
                return value
    return None


def accepted(made: torch.nn.Module) -> Any:
    """The names of what the model's forward takes."""
    return inspect.signature(made.forward).parameters


def inputs(made: torch.nn.Module, config: Any) -> dict[str, torch.Tensor]:
    """Inputs that fit: tokens with padding behind, pictures, waves or spectra, whatever the model's main input is."""
    generator = torch.Generator().manual_seed(22)
    takes = accepted(made)
    main = made.main_input_name
    vocabulary = find(config, ("vocab_size",)) or 100

    def tokens(*shape: int) -> torch.Tensor:
        return torch.randint(8, min(vocabulary, 100), shape, generator=generator)

    def numbers(*shape: int) -> torch.Tensor:
        return torch.empty(shape).uniform_(-1, 1, generator=generator)

    given: dict[str, torch.Tensor] = {}
    if main == "input_ids" or "input_ids" in takes:
        given["input_ids"] = tokens(2, 12)
        if "attention_mask" in takes:
            given["attention_mask"] = torch.ones(2, 12, dtype=torch.int64)
            given["attention_mask"][1, 9:] = 0
    if main == "pixel_values" or config.model_type in architectures.BOTH or (main != "input_ids" and "pixel_values" in takes):
        size = find(config, ("image_size", "img_size")) or 64
        height, width = size if isinstance(size, (list, tuple)) else (size, size)
        frames = find(config, ("num_frames",))
        channels = find(config, ("num_channels", "in_channels", "in_chans")) or 3
        shape = (2, frames, channels, height, width) if frames else (2, channels, height, width)
        given["pixel_values"] = numbers(*shape)
    if config.model_type == "vit_mae":  # draws which patches it hides, unless it is told
        given["noise"] = numbers(2, (given["pixel_values"].shape[-1] // config.patch_size) ** 2)
    if main == "input_features":
        bins = find(config, ("num_mel_bins", "input_feat_per_channel", "feature_size")) or 16
        length = 2 * (find(config, ("max_source_positions",)) or 32)
        speech = getattr(config, "model_type", "") in ("speech_to_text", "wav2vec2-bert", "seamless_m4t")
        given["input_features"] = numbers(2, length, bins) if speech else numbers(2, bins, length)
    if main == "input_values":
        given["input_values"] = numbers(2, 1200)
    if "decoder_input_ids" in takes and getattr(config, "is_encoder_decoder", False):
        given["decoder_input_ids"] = tokens(2, 7)
    return given
