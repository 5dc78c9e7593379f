r"""A tiny real Qwen2.5-VL that writes well-formed turns: ``python -m tests.models.support.tiny FOLDER``.

It has memorised a few traces of several turns. ``--random`` keeps the random weights; ``--adapter-of MODEL`` makes a
PEFT adapter instead, with which that model never ends its first turn.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.models.support.learned_traces import INSPECTED, Trace, inspected
from training.miniature.model import Size, model_for, processor_for

if TYPE_CHECKING:
    from transformers import PreTrainedModel, Qwen2_5_VLProcessor

STEPS, RATE = 150, 4e-3
LARGEST_LOSS = 0.02
"""The largest loss of a trace that counts as memorised: a model that has not memorised is no model for the tests."""
ADAPTER_STEPS, ADAPTER_RATE = 30, 5e-3
ENDLESS = "<think>First I" + " look" * 200
"""The beginning of what the model writes with the adapter."""


def make(folder: Path, random: bool = False) -> None:
    """Write model, tokenizer, processor, chat template and generation settings to ``folder``."""
    import torch

    torch.manual_seed(0)
    learned = [inspected(key) for key in INSPECTED]
    processor = processor_for([text for trace in learned for text in trace.texts], Size())
    model = model_for(processor.tokenizer, Size())
    if not random:
        learn_traces(model, processor, INSPECTED, STEPS, RATE)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def learn_traces(model: PreTrainedModel, processor: Any, keys: Iterable[str], steps: int, rate: float) -> None:
    """Train ``model`` on the learned traces of ``keys``; ``processor`` has the chat template of the dialect.

    Raise RuntimeError where it has not memorised them.
    """
    import torch

    examples = [_example(processor, inspected(key)) for key in keys]
    _train(model, examples, steps, rate)
    with torch.no_grad():
        losses = [model(**example).loss.item() for example in examples]
    print("loss of each trace:", *(f"{loss:.4f}" for loss in losses), flush=True)
    if max(losses) > LARGEST_LOSS:
        raise RuntimeError(f"a loss of {max(losses):.3f} after {steps} steps: above {LARGEST_LOSS}; shorten the traces")


def make_adapter(folder: Path, base: Path) -> None:
    """Write a LoRA adapter with which the model of ``base`` never ends its first turn."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForImageTextToText, AutoProcessor

    torch.manual_seed(0)
    processor = AutoProcessor.from_pretrained(base)
    # Names that only the language layers have: a server need not support adapters of the vision layers.
    config = LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])
    model = get_peft_model(AutoModelForImageTextToText.from_pretrained(base), config)
    examples = [_endless(processor, inspected(key)) for key in INSPECTED]
    _train(model, examples, ADAPTER_STEPS, ADAPTER_RATE)
    model.save_pretrained(folder)


def _train(model: PreTrainedModel, examples: Sequence[dict[str, Any]], steps: int, rate: float) -> None:
    """Train with AdamW, one example per step; the learning rate rises to ``rate`` and falls to zero."""
    import torch

    # For so small a model one thread is as fast as two, and it does not stall when the cores are busy.
    torch.set_num_threads(1)
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learning, betas=(0.9, 0.95), weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps, pct_start=0.1)
    model.train()
    for step, example in enumerate(islice(cycle(examples), steps), start=1):
        loss = model(**example).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(learning, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        if step % 15 == 0:
            print(f"step {step} of {steps}: loss {loss.item():.3f}", flush=True)
    model.eval()


def _example(processor: Any, trace: Trace) -> dict[str, Any]:
    """The model's input for one trace, with labels on the assistant's text and its <|im_end|>."""
    text = processor.apply_chat_template(trace.messages)
    batch = dict(processor(text=[text], images=list(trace.pictures), return_tensors="pt"))
    ids = batch["input_ids"][0].tolist()
    opening = processor.tokenizer.encode("<|im_start|>assistant\n")
    end = processor.tokenizer.convert_tokens_to_ids("<|im_end|>")
    labels, at = batch["input_ids"].new_full((1, len(ids)), -100), 0
    while at < len(ids):
        if ids[at : at + len(opening)] == opening:
            first = at + len(opening)
            at = ids.index(end, first) + 1
            labels[0, first:at] = batch["input_ids"][0, first:at]
        else:
            at += 1
    return {**batch, "labels": labels}


def _endless(processor: Qwen2_5_VLProcessor, trace: Trace) -> dict[str, Any]:
    """The model's input for a question and an answer that has not ended yet."""
    text = processor.apply_chat_template(trace.messages[:2], add_generation_prompt=True)
    question = processor(text=[text], images=[trace.pictures[0]], return_tensors="pt")
    batch = dict(processor(text=[text + ENDLESS], images=[trace.pictures[0]], return_tensors="pt"))
    labels = batch["input_ids"].clone()
    labels[:, : question["input_ids"].shape[1]] = -100
    return {**batch, "labels": labels}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="make a tiny Qwen2.5-VL for tests")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", action="store_true", help="keep the random initial weights")
    parser.add_argument("--adapter-of", type=Path, metavar="MODEL", help="make an adapter of it instead")
    arguments = parser.parse_args()
    if arguments.adapter_of:
        make_adapter(arguments.folder, arguments.adapter_of)
    else:
        make(arguments.folder, arguments.random)
