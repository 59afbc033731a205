"""The architectures of transformers that are made tiny, and what each needs beside smaller sizes: data."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

SHORT = ("bert", "gpt2", "llama", "qwen2", "qwen3_moe", "mistral", "t5", "vit", "whisper", "mamba")

_SPEECH = {"conv_dim": [32] * 7, "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 2}
_LATENT_HEADS = {
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 8,
    "qk_head_dim": 16,
    "v_head_dim": 8,
    "head_dim": 8,
    "num_key_value_heads": 4,
}
OVERRIDES: dict[str, dict[str, Any]] = {
    "clip": {"text_config": {"eos_token_id": 2}},
    "deepseek_v3": _LATENT_HEADS,
    "hubert": _SPEECH,
    "mamba2": {"num_heads": 8, "head_dim": 8, "n_groups": 1},
    "marian": {"decoder_vocab_size": 128},
    "siglip": {"text_config": {"projection_size": 32}},
    "swin": {
        "image_size": 56,
        "patch_size": 4,
        "embed_dim": 16,
        "depths": [1, 1],
        "num_heads": [2, 4],
        "window_size": 7,
        "out_features": ["stage2"],
        "out_indices": [2],
    },
    "switch_transformers": {"router_jitter_noise": 0.0},  # drawn while training
    "wav2vec2": _SPEECH,
}
BOTH = ("clip", "siglip")  # take tokens and pictures at once
DRAWS = ("phimoe",)  # its experts, while it trains
NO_GENERATION = ("higgs_audio_v2",)  # generates codes of sound, by settings of its own
NAMES = """
afmoe aimv2_vision_model albert apertus apertus1p5_text arcee aria aria_text audioflamingo3 aya_vision bart beam bert
bert-generation big_bird bigbird_pegasus biogpt bitnet blenderbot blenderbot-small bloom camembert canine
chinese_clip_vision_model clip clip_text_model clip_vision_model cohere cohere2 cohere2_moe convbert convnext convnextv2
cosmos3_omni cpmant ctrl cwm data2vec-text data2vec-vision deberta deberta-v2 deepseek_v3 deepseek_v4 deepseek_vl deit
diffllama dinov3_convnext distilbert doge dpr dpt electra emu3 ernie ernie4_5 ernie4_5_moe eurobert exaone
exaone4 exaone4_5 exaone_moe falcon falcon_mamba flaubert flava flex_olmo flint fnet focalnet fuyu gemma gemma2 gemma3
gemma3_text git glm glm4 glm4_moe glmasr glmasr_encoder got_ocr2 gpt-sw3 gpt2 gpt_bigcode gpt_neox gpt_neox_japanese gpt_oss
granite granite_docling granite_docling_text granite_speech granite_speech_plus granite_swa granitemoe granitemoe_swa
granitemoeshared gte helium hiera higgs_audio_v2 hubert hy_v3 hy_v4 hyperclovax hyperclovax_vision_v2 ibert idefics2 idefics3
ijepa imagegpt inkling_text internlm3 internvl internvl_vision iquestcoder jais2 jetmoe jina_embeddings_v3 kolibri1
kosmos-2.5 lara_mini layoutlm led lfm2 lfm2_vl lfm3 lfm3_vl lighton_ocr llama llama4 llama4_text llava llava_next
llava_next_video llava_onevision longformer longt5 m2m_100 mamba mamba2 marian markuplm mbart megatron-bert mellum mgp-str
mimo_v2_flash minicpm_ocr minicpmv4_6 minicpmv4_7 minimax minimax_m2 minimax_m3_vl minimax_m3_vl_text ministral3 mistral
mistral3 mixtral mlcd mlcd_vision_model mllama mobilebert mobilevit modernbert modernbert-decoder modernvbert molmo2_text
moshi moss_transcribe_diarize moss_transcribe_diarize_audio mpnet mpt mra mt5 muse_glimmer_text musicflamingo mvp nanochat
nemotron_h nllb-moe nomic_bert nystromformer olmo olmo2 olmo3 olmo_hybrid olmoe openai-gpt openai_privacy_filter opt ovis2
paligemma pegasus pegasus_x persimmon phi phi3 phi4_multimodal phimoe pixtral plbart poolformer prophetnet qianfan_ocr
qianfan_ocr_vision qwen2 qwen2_audio qwen2_audio_encoder qwen2_moe qwen3 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text
qwen3_moe qwen3_next qwen3_vl qwen3_vl_moe qwen3_vl_moe_text qwen3_vl_text radio regnet rembert resnet roberta
roberta-prelayernorm roformer rwkv sam3 sam3_lite_text sam3_lite_text_text_model sam3_vision_model sam3_vit_model
sam_hq_vision_model sam_vision_model sarvam_moe seed_oss segformer sew sew-d siglip siglip_vision_model smollm3 smolvlm
solar_open speech_to_text splinter squeezebert stablelm starcoder2 swiftformer swin switch_transformers t5 t5gemma t5gemma2
tapas timesformer tipsv2_text_model ultrabert ultravbert umt5 vaultgemma video_llama_3 video_llava videomae vipllava
visual_bert vit vit_mae vit_msn vivit voxtral voxtral_encoder voxtral_realtime_encoder wav2vec2 whisper xglm xlm xlm-roberta
xlm-roberta-xl xlnet yolos yoso zaya
""".split()
