"""Qwen2.5-VL with all its parts, cut down to what a CPU trains in a minute.

The architecture, the processor, the special tokens, the chat rendering and the generation settings are the
big one's; width, depth, vocabulary and pictures are small, the weights random.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import Qwen2_5_VLForConditionalGeneration, Qwen2_5_VLProcessor, Qwen2Tokenizer

VOCABULARY = 1600
CONTEXT = 8192
PIXELS = (28 * 28 * 8, 28 * 28 * 24)
"""Least and most pixels of a picture as the model gets it: 8 to 24 tokens a picture."""
SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
TOOL_TOKENS = ("<tool_call>", "</tool_call>")
"""Tokens of their own that are no special tokens: what is decoded keeps them."""

# Qwen2.5-VL's stock rules: a system turn if there is none; a content is a string, or blocks in their order.
CHAT_TEMPLATE = (
    "{%- for message in messages -%}"
    "{%- if loop.first and message['role'] != 'system' -%}"
    "{{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' -}}"
    "{%- endif -%}"
    "{{- '<|im_start|>' + message['role'] + '\\n' -}}"
    "{%- if message['content'] is string -%}{{- message['content'] -}}"
    "{%- else -%}{%- for content in message['content'] -%}"
    "{%- if content['type'] == 'image' or 'image' in content or 'image_url' in content -%}"
    "{{- '<|vision_start|><|image_pad|><|vision_end|>' -}}"
    "{%- elif 'text' in content -%}{{- content['text'] -}}{%- endif -%}"
    "{%- endfor -%}{%- endif -%}"
    "{{- '<|im_end|>\\n' -}}"
    "{%- endfor -%}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)


def processor_for(texts: Sequence[str]) -> Qwen2_5_VLProcessor:
    """Qwen2.5-VL's processor, with a vocabulary of what ``texts`` say."""
    from transformers import Qwen2_5_VLProcessor, Qwen2VLImageProcessorPil, Qwen2VLVideoProcessor

    size = {"shortest_edge": PIXELS[0], "longest_edge": PIXELS[1]}
    return Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessorPil(size=size),
        video_processor=Qwen2VLVideoProcessor(size=size),
        tokenizer=_tokenizer(texts),
        chat_template=CHAT_TEMPLATE,
    )


def _tokenizer(texts: Sequence[str]) -> Qwen2Tokenizer:
    """Byte-level BPE with Qwen's way of splitting: whatever is written, in any script, has tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import AddedToken, Qwen2Tokenizer

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = Qwen2Tokenizer().backend_tokenizer.pre_tokenizer
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trained.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=VOCABULARY, initial_alphabet=alphabet))
    model = json.loads(trained.to_str())["model"]
    tokenizer = Qwen2Tokenizer(
        vocab=model["vocab"],
        merges=[tuple(merge) for merge in model["merges"]],
        eos_token="<|im_end|>",
        model_max_length=CONTEXT,
        extra_special_tokens=list(SPECIAL),
    )
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in TOOL_TOKENS])
    return tokenizer


def model_for(tokenizer: Qwen2Tokenizer) -> Qwen2_5_VLForConditionalGeneration:
    """The architecture with random weights: 3 layers of width 128 to read, 2 of width 64 to see."""
    from transformers import GenerationConfig, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL}
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 128,
        "intermediate_size": 352,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 6, 6]},
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
    }
    vision = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 2,
        "out_hidden_size": text["hidden_size"],
        "window_size": 112,
        "fullatt_block_indexes": [1],
    }
    config = Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
    )
    model = Qwen2_5_VLForConditionalGeneration(config)
    # As Qwen2.5-VL has it, with the penalty that a server applies where nobody says otherwise.
    model.generation_config = GenerationConfig(
        do_sample=True,
        temperature=1e-6,
        repetition_penalty=1.05,
        bos_token_id=ids["<|endoftext|>"],
        eos_token_id=[ids["<|im_end|>"], ids["<|endoftext|>"]],
        pad_token_id=ids["<|endoftext|>"],
    )
    return model
