"""A nano model with random weights, made without torch: a folder in Hugging Face's format; and turns that it is
made to write."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agent.policies.nano.model import NanoModel
from agent.tasks import load
from agent.tool import TOOL_BLOCK

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>", "<|image_pad|>")
VIDEO = "<|video_pad|>"
PHRASES = ("So it is a cataclysmic variable.", "<answer>\\boxed{", "</answer>", "<think>", "</think>")
"""Added tokens of several words, as a small model's tokenizer may have them."""
WIDTH, HEADS, KEYS, LAYERS, INNER = 64, 4, 2, 2, 96
SIGHT, SIGHT_LAYERS, SIGHT_INNER = 32, 2, 48


def write(folder: Path, seed: int = 0, dtype: str = "float32", phrases: Sequence[str] = PHRASES) -> Path:
    """Write the model; the same arguments give the same files."""
    from safetensors.numpy import save_file
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    learning = trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([TOOL_BLOCK, *(task.prompt for task in load().values())], learning)
    tokenizer.add_special_tokens([AddedToken(one, normalized=False) for one in (*SPECIAL, VIDEO)])
    tokenizer.add_tokens([AddedToken(phrase, normalized=False) for phrase in phrases])
    tokenizer.save(str(folder / "tokenizer.json"))
    ids = {one: tokenizer.token_to_id(one) for one in (*SPECIAL, VIDEO)}
    config = {
        "model_type": "qwen2_5_vl",
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids[VIDEO],
        "tie_word_embeddings": True,
        "text_config": {
            "vocab_size": tokenizer.get_vocab_size(),
            "hidden_size": WIDTH,
            "intermediate_size": INNER,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "num_key_value_heads": KEYS,
            "max_position_embeddings": 4096,
            "rms_norm_eps": 1e-6,
            "hidden_act": "silu",
            "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]},
        },
        "vision_config": {
            "depth": SIGHT_LAYERS,
            "hidden_size": SIGHT,
            "intermediate_size": SIGHT_INNER,
            "num_heads": 2,
            "out_hidden_size": WIDTH,
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
            "hidden_act": "silu",
            "fullatt_block_indexes": [1],
        },
    }
    pictures = {
        "image_mean": [1.0, 1.0, 1.0],
        "image_std": [0.15, 0.15, 0.15],
        "size": {"shortest_edge": 8 * 784, "longest_edge": 24 * 784},
    }
    put(folder, "config.json", config)
    put(folder, "preprocessor_config.json", pictures)
    put(folder, "generation_config.json", {"eos_token_id": [ids["<|im_end|>"], ids["<|endoftext|>"]]})
    rng = np.random.default_rng(seed)
    arrays = {name: _array(rng, name, shape) for name, shape in _shapes(tokenizer.get_vocab_size()).items()}
    save_file({name: array.astype(dtype) for name, array in arrays.items()}, folder / "model.safetensors")
    return folder


def put(folder: Path, file: str, data: object) -> None:
    """Write a JSON file of the folder."""
    (folder / file).write_text(json.dumps(data), encoding="utf-8")


def change(folder: Path, file: str, **changes: Any) -> None:
    """Change fields of a JSON file; "a__b" is the field b in the table a, and None removes a field."""
    data = json.loads((folder / file).read_text(encoding="utf-8"))
    for name, value in changes.items():
        *tables, field = name.split("__")
        inside = data
        for table in tables:
            inside = inside[table]
        if value is None:
            del inside[field]
        else:
            inside[field] = value
    put(folder, file, data)


def made_to_write(model: NanoModel, ids: Sequence[int], logits: Mapping[int, float] | None = None) -> None:
    """Make the model write these tokens, once: at each, that token's logit is 0 and the others' are −20, or what
    ``logits`` has for them.
    """
    left = iter(ids)

    def forced(states: np.ndarray) -> np.ndarray:
        found = np.full((len(states), model.vocabulary.size), -20.0, np.float32)
        for token, value in (logits or {}).items():
            found[:, token] = value
        found[:, next(left)] = 0.0
        return found

    model.language.logits = forced


def _array(rng: np.random.Generator, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values that are large enough for each token and each pixel to matter."""
    if name.endswith(("norm.weight", "norm1.weight", "norm2.weight", "ln_q.weight", "layernorm.weight")):
        return rng.normal(1.0, 0.1, shape)
    if name.endswith("bias"):
        return rng.normal(0.0, 0.1, shape)
    # Sharp attention, and pictures that stand out of the text.
    times = 4.0 if ".q_proj" in name or ".k_proj" in name else 8.0 if "merger.mlp.2" in name else 1.5
    return rng.normal(0.0, times / np.sqrt(np.prod(shape[1:])), shape)


def _shapes(vocabulary: int) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (vocabulary, WIDTH),
        "model.norm.weight": (WIDTH,),
    }
    for n in range(LAYERS):
        layer = f"model.layers.{n}"
        for one, size in (("q", WIDTH), ("k", KEYS * WIDTH // HEADS), ("v", KEYS * WIDTH // HEADS)):
            found[f"{layer}.self_attn.{one}_proj.weight"] = (size, WIDTH)
            found[f"{layer}.self_attn.{one}_proj.bias"] = (size,)
        found[f"{layer}.self_attn.o_proj.weight"] = (WIDTH, WIDTH)
        found |= {f"{layer}.mlp.{one}_proj.weight": (INNER, WIDTH) for one in ("gate", "up")}
        found[f"{layer}.mlp.down_proj.weight"] = (WIDTH, INNER)
        found |= {f"{layer}.{one}_layernorm.weight": (WIDTH,) for one in ("input", "post_attention")}
    found["visual.patch_embed.proj.weight"] = (SIGHT, 3, 2, 14, 14)
    for n in range(SIGHT_LAYERS):
        block = f"visual.blocks.{n}"
        found |= {f"{block}.norm{k}.weight": (SIGHT,) for k in (1, 2)}
        linear = {"attn.qkv": (3 * SIGHT, SIGHT), "attn.proj": (SIGHT, SIGHT), "mlp.gate_proj": (SIGHT_INNER, SIGHT)}
        linear |= {"mlp.up_proj": (SIGHT_INNER, SIGHT), "mlp.down_proj": (SIGHT, SIGHT_INNER)}
        for one, shape in linear.items():
            found |= {f"{block}.{one}.weight": shape, f"{block}.{one}.bias": shape[:1]}
    found["visual.merger.ln_q.weight"] = (SIGHT,)
    for one, shape in (("0", (4 * SIGHT, 4 * SIGHT)), ("2", (WIDTH, 4 * SIGHT))):
        found |= {f"visual.merger.mlp.{one}.weight": shape, f"visual.merger.mlp.{one}.bias": shape[:1]}
    return found
