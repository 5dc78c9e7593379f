"""One example as a person sees it: what was spoken, and so learned, and what was only read.

In colours on a terminal; in brackets where there are none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

from training.render import IMAGE, Rendered

Kind = Literal["prompt", "spoken", "tool", "image"]

_COLOURS: dict[Kind, str] = {"prompt": "2", "spoken": "1;32", "tool": "33", "image": "36"}
_BRACKETS: dict[Kind, tuple[str, str]] = {
    "prompt": ("", ""),
    "spoken": ("⟦", "⟧"),
    "tool": ("", ""),
    "image": ("", ""),
}


@dataclass(frozen=True)
class Totals:
    """How many tokens the assistant spoke, were asked, were told by the tool, and are pictures."""

    spoken: int
    prompt: int
    tool: int
    image: int

    def __str__(self) -> str:
        every = self.spoken + self.prompt + self.tool + self.image
        return (
            f"{every} tokens: {self.spoken} spoken (the loss is taken on these and no others), "
            f"{self.prompt} of the prompt, {self.tool} of the tool's answers, {self.image} of pictures"
        )


def totals(rendered: Rendered, tokenizer: Any) -> Totals:
    kinds = _kinds(rendered, tokenizer)
    return Totals(*(kinds.count(kind) for kind in ("spoken", "prompt", "tool", "image")))


def shown(rendered: Rendered, tokenizer: Any, colours: bool) -> str:
    """The text token for token; a picture's run of tokens as one and their number."""
    return "".join(_marked(kind, text, colours) for kind, text in _runs(rendered, tokenizer))


def _kinds(rendered: Rendered, tokenizer: Any) -> list[Kind]:
    image = tokenizer.convert_tokens_to_ids(IMAGE)
    kinds: list[Kind] = []
    unspoken: Kind = "prompt"
    for token, spoken in zip(rendered.ids, rendered.spoken, strict=True):
        if spoken:
            unspoken = "tool"
        kinds.append("spoken" if spoken else "image" if token == image else unspoken)
    return kinds


def _runs(rendered: Rendered, tokenizer: Any) -> Iterator[tuple[Kind, str]]:
    pairs = zip(_kinds(rendered, tokenizer), rendered.ids, strict=True)
    for kind, run in groupby(pairs, key=lambda pair: pair[0]):
        ids = [token for _, token in run]
        yield kind, f"{IMAGE}×{len(ids)}" if kind == "image" else tokenizer.decode(ids)


def _marked(kind: Kind, text: str, colours: bool) -> str:
    if colours:
        # Line by line: a pager forgets a colour at the end of a line.
        return "\n".join(f"\x1b[{_COLOURS[kind]}m{line}\x1b[0m" if line else "" for line in text.split("\n"))
    before, after = _BRACKETS[kind]
    return before + text + after
