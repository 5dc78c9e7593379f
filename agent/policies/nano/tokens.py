"""Text and tokens of a nano model: its tokenizer, the chat layout, and text from tokens as they come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from PIL import Image

from agent.conversation import Conversation, PolicyError
from agent.language import deferred
from agent.policies.nano.folder import TOKENIZER, Folder
from agent.settings_file import Problem
from agent.tool import tool_block
from agent.trajectory.messages import tool_result

START, END = "<|im_start|>", "<|im_end|>"
VISION_START, VISION_END = "<|vision_start|>", "<|vision_end|>"
INCOMPLETE = "\ufffd"
"""What the tokenizer gives for bytes that are no complete character."""

Script = tuple[str | Image.Image, ...]
"""Texts and pictures of a conversation in their order."""


def script(conversation: Conversation) -> Script:
    """Return what the model reads before its next turn: Qwen2.5-VL's stock chat template for these messages."""
    system = conversation.system + (tool_block(conversation.measure) if conversation.with_tool else "")
    parts: list[str | Image.Image] = [f"{START}system\n{system}{END}\n{START}user\n{VISION_START}"]
    parts += [conversation.overview, f"{VISION_END}\n{conversation.task.prompt_without_reasons}{END}\n"]
    for exchange in conversation.exchanges:
        # The template adds the end; a model's text with it would repeat it.
        parts.append(f"{START}assistant\n{exchange.text.removesuffix(END)}{END}\n")
        if (seen := exchange.observation) is not None:
            image = None if seen.image is None else {"image": seen.image}
            parts.append(f"{START}user\n")
            for block in tool_result(seen.text, image)["content"]:
                parts += [VISION_START, block["image"], VISION_END] if "image" in block else [block["text"]]
            parts.append(f"{END}\n")
    parts.append(f"{START}assistant\n")
    return _joined(parts)


def _joined(parts: Sequence[str | Image.Image]) -> Script:
    """Join neighbouring texts: a tokenizer may make one token of their ends."""
    joined: list[str | Image.Image] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


class Vocabulary:
    """The tokenizer of a model's folder. Safe to use from many threads at once."""

    def __init__(self, folder: Folder) -> None:
        """:raises PolicyError: the tokenizer cannot be used, or does not belong to this model"""
        from tokenizers import Tokenizer

        path = folder.path / TOKENIZER
        try:
            self._tokenizer: Any = Tokenizer.from_file(str(path))
        # The library raises a plain Exception for a file that it cannot read.
        except Exception as error:
            raise PolicyError(
                Problem(str(path), "file", str(error), deferred("a tokenizer.json of the library tokenizers"))
            ) from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.size = folder.config.text_config.vocab_size
        self.ends = folder.ends
        self.picture = folder.config.image_token_id
        self.never = (folder.config.image_token_id, folder.config.video_token_id)
        """Tokens that stand for pictures and are never written."""
        self._check(path)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text; special tokens in it are recognised."""
        token_ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return token_ids

    def text(self, ids: Sequence[int]) -> str:
        """Return the text of tokens, special ones included."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The text of each single token, in the order of their numbers."""
        return tuple(self.text([number]) for number in range(self.size))

    def _check(self, path: Path) -> None:
        for token in (START, END, VISION_START, VISION_END):
            if self._tokenizer.token_to_id(token) is None:
                raise PolicyError(
                    Problem(str(path), "added_tokens", f"no {token}", deferred("the special tokens of Qwen2.5-VL"))
                )
        largest = max(self._tokenizer.get_vocab(with_added_tokens=True).values())
        for what, number in (
            (deferred("its tokens"), largest),
            ("eos_token_id", max(self.ends)),
            ("image_token_id", self.picture),
        ):
            if not 0 <= number < self.size:
                raise PolicyError(
                    Problem(str(path), what, str(number), deferred("less than the vocab_size {size}", size=self.size))
                )


class TokenText:
    """Turns tokens into text as they come. What may be the beginning of a character is held back."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._held: list[int] = []
        self.written = ""

    def add(self, token: int) -> str:
        """Return the text that is certain with one more token."""
        self._held.append(token)
        text = self._vocabulary.text(self._held)
        return "" if text.endswith(INCOMPLETE) else self._emit(text)

    def end(self) -> str:
        """Return what is left, incomplete characters as U+FFFD."""
        return self._emit(self._vocabulary.text(self._held))

    @property
    def text(self) -> str:
        """All text so far, with what is held back."""
        return self.written + self._vocabulary.text(self._held)

    def _emit(self, text: str) -> str:
        self._held = []
        self.written += text
        return text
