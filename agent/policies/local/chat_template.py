"""The chat template of the Spec-o3 dialect, for models whose own template writes the conversations otherwise.

That of Qwen3-VL writes them as Qwen2.5-VL's does. Those of Qwen3.5 and later begin each answer with ``<think>`` and
reformat the thoughts of earlier turns, so that the model would read other text than it was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

DIALECT = (
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
"""The rules of Qwen2.5-VL's stock template: a system turn if there is none; a content is a string, or blocks in their
order."""
MARKS = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|image_pad|>", "<|vision_end|>")
"""Tokens that a model must have to be used with this template."""

_PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"
_SPEECH = '<think>One line.</think>\n<tool_call>\n{"name": "zoom"}\n</tool_call>'


def use_dialect(processor: Any) -> bool:
    """Replace the chat template of a processor if it writes our conversations otherwise; return whether it did.

    A model without the marks of the Qwen family keeps its template.

    :param processor: of transformers, with a tokenizer
    """
    tokenizer = processor.tokenizer
    known = tokenizer.get_vocab()
    if not all(mark in known for mark in MARKS) or _writes_dialect(processor):
        return False
    processor.chat_template = tokenizer.chat_template = DIALECT
    return True


def _writes_dialect(processor: Any) -> bool:
    """Return whether the processor's own template writes a conversation with a tool call as the dialect does."""
    expected = (
        f"<|im_start|>system\nRules.<|im_end|>\n<|im_start|>user\n{_PICTURE}\nQuestion?<|im_end|>\n"
        f"<|im_start|>assistant\n{_SPEECH}<|im_end|>\n"
        f"<|im_start|>user\n<tool_response>\n{_PICTURE}Seen.\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )
    conversation = [
        _message("system", ["Rules."]),
        _message("user", [None, "\nQuestion?"]),
        _message("assistant", [_SPEECH]),
        _message("user", ["<tool_response>\n", None, "Seen.\n</tool_response>"]),
    ]
    try:
        written = processor.apply_chat_template(conversation, tokenize=False, add_generation_prompt=True)
    # There is no template, or it refuses such a conversation: it is a program of the model's folder.
    except Exception:
        return False
    return bool(written == expected)


def _message(role: str, blocks: Sequence[str | None]) -> dict[str, Any]:
    """Return a message; None stands for a picture."""
    return {
        "role": role,
        "content": [{"type": "image"} if block is None else {"type": "text", "text": block} for block in blocks],
    }
