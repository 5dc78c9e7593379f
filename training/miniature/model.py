"""A complete Qwen2.5-VL, small enough to be trained on a CPU in minutes.

Architecture, processor, special tokens, chat rendering and generation settings are the original's; width, depth,
vocabulary and pictures are small, the weights random. torch and transformers are imported when a model is made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image

from agent.policies.local.chat_template import DIALECT

if TYPE_CHECKING:
    from transformers import Qwen2_5_VLForConditionalGeneration, Qwen2_5_VLProcessor, Qwen2Tokenizer

TOKEN_PIXELS = 28 * 28
"""Pixels of a picture that become one token: 2 × 2 patches of 14 × 14, as in the big one."""
INK = 0.15
"""How much darker than white is -1, where pixels are counted from white: a line one pixel wide, shrunk as
pictures are here, is then about -2."""
HEAD = 32
"""Width of an attention head, and what of its rotary frequencies goes to time, height and width."""
ROTARY = (4, 6, 6)
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


@dataclass(frozen=True)
class Size:
    """The dimensions of the model.

    :param width: of the language layers, a multiple of 32; an attention head is 32 wide
    :param keys: attention heads that hold keys and values; divides the number of heads
    :param sight_width: of the vision layers, also a multiple of 32
    :param whole: the vision layers in which each patch attends to the whole picture; in the others to a
        window of 8 × 8 patches
    :param picture: least and most tokens of a picture as the model gets it
    :param vocabulary: tokens that the tokenizer learns, at most, without the special ones
    :param context: tokens of a whole inspection, at most
    :param paper: pixels are counted from white, so that empty paper is 0 and ink is not, instead of from the
        mean colour of photographs; weights that have seen no photograph learn to see a line far sooner
    """

    width: int = 128
    layers: int = 3
    keys: int = 2
    inner: int = 352
    sight_width: int = 64
    sight_layers: int = 2
    sight_inner: int = 128
    whole: tuple[int, ...] = (1,)
    picture: tuple[int, int] = (8, 24)
    vocabulary: int = 1600
    context: int = 8192
    paper: bool = False


def processor_for(texts: Sequence[str], size: Size, phrases: Sequence[str] = ()) -> Qwen2_5_VLProcessor:
    """Return Qwen2.5-VL's processor, with a vocabulary learned from ``texts``.

    :param phrases: longer texts that become one token each wherever they stand
    """
    from transformers import Qwen2_5_VLProcessor, Qwen2VLImageProcessorPil, Qwen2VLVideoProcessor

    least, most = size.picture
    pixels = {"shortest_edge": least * TOKEN_PIXELS, "longest_edge": most * TOKEN_PIXELS}
    colours = {"image_mean": [1.0] * 3, "image_std": [INK] * 3} if size.paper else {}
    return Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessorPil(size=pixels, **colours),
        video_processor=Qwen2VLVideoProcessor(size=pixels),
        tokenizer=_tokenizer(texts, size, phrases),
        chat_template=DIALECT,
    )


def shrunk(image: Image.Image, size: Size) -> Image.Image:
    """Reduce a picture to the size of the processor, which then leaves it bit for bit unchanged."""
    import torch
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms.v2 import functional
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

    least, most = size.picture
    smaller = smart_resize(image.height, image.width, 28, least * TOKEN_PIXELS, most * TOKEN_PIXELS)
    pixels = torch.from_numpy(np.array(image.convert("RGB"))).permute(2, 0, 1)
    resized = functional.resize(pixels, list(smaller), InterpolationMode.BICUBIC, antialias=True)
    return Image.fromarray(resized.permute(1, 2, 0).numpy())


def model_for(tokenizer: Qwen2Tokenizer, size: Size) -> Qwen2_5_VLForConditionalGeneration:
    """Return the architecture with random weights from torch's own generator."""
    from transformers import GenerationConfig, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    ids = {token: tokenizer.convert_tokens_to_ids(token) for token in SPECIAL}
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": size.width,
        "intermediate_size": size.inner,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.width // HEAD,
        "num_key_value_heads": size.keys,
        "max_position_embeddings": size.context,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": list(ROTARY)},
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
        "pad_token_id": ids["<|endoftext|>"],
    }
    vision = {
        "depth": size.sight_layers,
        "hidden_size": size.sight_width,
        "intermediate_size": size.sight_inner,
        "num_heads": size.sight_width // HEAD,
        "out_hidden_size": size.width,
        "window_size": 112,
        "fullatt_block_indexes": list(size.whole),
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
    # As in Qwen2.5-VL, with the penalty that a server applies by default.
    model.generation_config = GenerationConfig(
        do_sample=True,
        temperature=1e-6,
        repetition_penalty=1.05,
        bos_token_id=ids["<|endoftext|>"],
        eos_token_id=[ids["<|im_end|>"], ids["<|endoftext|>"]],
        pad_token_id=ids["<|endoftext|>"],
    )
    return model


def _tokenizer(texts: Sequence[str], size: Size, phrases: Sequence[str]) -> Qwen2Tokenizer:
    """Return a byte-level BPE that splits as Qwen's does: any text in any script has tokens."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import AddedToken, Qwen2Tokenizer

    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = Qwen2Tokenizer().backend_tokenizer.pre_tokenizer
    learning = trainers.BpeTrainer(
        vocab_size=size.vocabulary,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    trained.train_from_iterator(texts, learning)
    model = json.loads(trained.to_str())["model"]
    tokenizer = Qwen2Tokenizer(
        vocab=model["vocab"],
        merges=[tuple(merge) for merge in model["merges"]],
        eos_token="<|im_end|>",
        model_max_length=size.context,
        extra_special_tokens=list(SPECIAL),
    )
    tokenizer.add_tokens([AddedToken(token, normalized=False) for token in (*phrases, *TOOL_TOKENS)])
    return tokenizer
