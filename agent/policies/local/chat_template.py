"""The chat templates of our forms, for models whose own template writes the conversations otherwise.

That of Qwen3-VL writes them as Qwen2.5-VL's does. Those of Qwen3.5 and later begin each answer with ``<think>`` and
reformat the thoughts of earlier turns, so that the model would read other text than it was trained on. The form of
Qwen3.5 is what its template makes of a well-formed turn; ours leaves every turn as it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent.trajectory.forms import FORMS, QWEN3_5, SPEC_O3, Form

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
TEMPLATES = {
    SPEC_O3.name: DIALECT,
    QWEN3_5.name: DIALECT.replace("assistant\\n' -}}", "assistant\\n<think>\\n' -}}"),
}
"""The template of each form, which is in the folder of every model trained in it."""
MARKS = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|image_pad|>", "<|vision_end|>")
"""Tokens that a model must have to be used with this template."""

_PICTURE = "<|vision_start|><|image_pad|><|vision_end|>"
_SPEECH = '<think>One line.</think>\n<tool_call>\n{"name": "zoom"}\n</tool_call>'


def form_of(processor: Any) -> Form:
    """Return the form that the template of a processor writes: Spec-o3's, unless it is the one of another form."""
    template = getattr(processor, "chat_template", None)
    return next((FORMS[name] for name, text in TEMPLATES.items() if text == template), SPEC_O3)


def form_in(folder: str | Path | None) -> Form | None:
    """Return the form in which the model or adapter of a folder was trained; None if its template does not say."""
    try:
        template = (Path(str(folder)).expanduser() / "chat_template.jinja").read_text(encoding="utf-8")
    except OSError:
        return None
    return next((FORMS[name] for name, text in TEMPLATES.items() if text == template), None)


def use_dialect(processor: Any, form: Form | None = None) -> bool:
    """Replace the chat template of a processor if it writes our conversations otherwise; return whether it did.

    A model without the marks of the Qwen family keeps its template.

    :param processor: of transformers, with a tokenizer
    :param form: None: the one that its template writes
    """
    tokenizer = processor.tokenizer
    known = tokenizer.get_vocab()
    form = form or form_of(processor)
    template = TEMPLATES[form.name]
    keeps = processor.chat_template == template or (form is SPEC_O3 and _writes_dialect(processor))
    if keeps or not all(mark in known for mark in MARKS):
        return False
    processor.chat_template = tokenizer.chat_template = template
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
