"""The client trl: trainers of language models with a tiny random llama, a tokenizer of words made here, and rows of data in memory."""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import datasets
import judging
import torch
import transformers
import trl

SHORT: tuple[str, ...] = ()
WORDS = "the sun is warm moon cold water wet fire hot day night why what because so yes no good bad ? . !".split()
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
STEPS = 3
ROWS = 8
# Which trainer with what of its own settings, and which kind of rows.
TRAINERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "SFT": ("SFT", "text", {}),
    "SFT, packed": ("SFT", "text", {"packing": True, "max_length": 16, "packing_strategy": "wrapped"}),
    "DPO": ("DPO", "preference", {}),
    "DPO, ipo": ("DPO", "preference", {"loss_type": "ipo"}),
    "KTO": ("KTO", "unpaired", {}),
    "Reward": ("Reward", "preference", {}),
    "GRPO": ("GRPO", "prompt", {"num_generations": 2, "max_completion_length": 6, "generation_kwargs": {"do_sample": False}}),
    "RLOO": ("RLOO", "prompt", {"num_generations": 2, "max_completion_length": 6, "generation_kwargs": {"do_sample": False}}),
}


def cases() -> list[str]:
    return list(TRAINERS)


def tokenizer() -> transformers.PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({word: i for i, word in enumerate([*SPECIAL, *WORDS])}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>", unk_token="<unk>", padding_side="left"
    )


def rows(kind: str) -> datasets.Dataset:
    def words(first: int, count: int) -> str:
        return " ".join(WORDS[(first * 5 + 3 * i) % len(WORDS)] for i in range(count))

    prompts, good, bad = ([words(i + 7 * j, 3 + j) for i in range(ROWS)] for j in range(3))
    columns: dict[str, dict[str, list[Any]]] = {
        "text": {"text": [f"{p} {g}" for p, g in zip(prompts, good)]},
        "preference": {"prompt": prompts, "chosen": good, "rejected": bad},
        "unpaired": {"prompt": prompts, "completion": good, "label": [i % 2 == 0 for i in range(ROWS)]},
        "prompt": {"prompt": prompts},
    }
    return datasets.Dataset.from_dict(columns[kind])


class OfItsRow(transformers.LogitsProcessor):
    """Leaves every row half of the words: completions of one prompt differ then, without a drawn number, which no two devices share."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        row = torch.arange(scores.shape[0], device=scores.device)[:, None]
        word = torch.arange(scores.shape[1], device=scores.device)[None, :]
        return scores.masked_fill((row + word) % 2 == 0, float("-inf"))


class Completing(transformers.LlamaForCausalLM):
    """A llama that completes each row of a batch in its own way."""

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        return super().generate(*args, logits_processor=transformers.LogitsProcessorList([OfItsRow()]), **kwargs)


def model(kind: str, folder: str) -> Any:
    """From a folder, since some trainers load it once more, to compare with."""
    torch.manual_seed(60)
    config = transformers.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        vocab_size=len(SPECIAL) + len(WORDS), max_position_embeddings=128, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        **({"num_labels": 1} if kind == "Reward" else {}),
    )  # fmt: skip
    made = transformers.LlamaForSequenceClassification if kind == "Reward" else transformers.LlamaForCausalLM
    made(config).save_pretrained(folder)
    return (Completing if kind in ("GRPO", "RLOO") else made).from_pretrained(folder)


def _reward(completions: list[str], **_: Any) -> list[float]:
    return [
        float(len(set(completion.split()))) + 0.1 * completion.count("the") + 0.01 * len(completion) for completion in completions
    ]


def _seen(case: str, device: str) -> judging.Observed:
    import accelerate

    kind, data, settings = TRAINERS[case]
    trainer_class: Callable[..., Any] = getattr(trl, f"{kind}Trainer")
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    with tempfile.TemporaryDirectory() as folder:
        arguments = getattr(trl, f"{kind}Config")(
            output_dir=folder, max_steps=STEPS, per_device_train_batch_size=4, learning_rate=1e-3, adam_epsilon=1e-3, optim="adamw_torch",
            lr_scheduler_type="constant", report_to=[], save_strategy="no", logging_steps=1, use_cpu=device == "cpu", seed=61, bf16=False,
            gradient_checkpointing=False, disable_tqdm=True, dataloader_pin_memory=False, **settings,
        )  # fmt: skip
        more = {"reward_funcs": _reward} if data == "prompt" else {}
        trainer = trainer_class(
            model=model(kind, f"{folder}/model"), args=arguments, train_dataset=rows(data), processing_class=tokenizer(), **more
        )
        if device not in str(next(trainer.model.parameters()).device):
            raise RuntimeError(f"the trainer chose {next(trainer.model.parameters()).device} instead of {device}")
        trainer.train()
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)
    seen = judging.Observed()
    logged = [line for line in trainer.state.log_history if "loss" in line]
    # Some losses are zero but for roundings: beside the gradients' norms they have a size.
    seen.numbers["log"] = torch.tensor(
        [float(line[name]) for line in logged for name in ("loss", "grad_norm")], dtype=torch.float64
    )
    for name, parameter in trainer.model.named_parameters():
        seen.numbers[f"weight.{name}"] = judging.kept(parameter)
    seen.equal["steps"] = trainer.state.global_step
    return seen


def run(case: str, outcome: judging.Outcome) -> None:
    judging.judge(outcome, _seen(case, "npu"), _seen(case, "cpu"), None)
