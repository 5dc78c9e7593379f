"""Policy for a served Spec-o3 model, and its conversation as API messages with pictures as data URLs.

Rendered by Qwen2.5-VL's stock chat template the messages are byte for byte what the checkpoints were trained on. A
model that was trained in another form (``agent.trajectory.forms``) gets its messages in that form.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

from PIL import Image

from agent.conversation import Conversation, Piece, PolicyError, Remark, SkySource
from agent.policies import Sampling
from agent.policies.openai.endpoint import Endpoint
from agent.policies.yes_no import pieces_of_score
from agent.sky import context
from agent.text import one_line
from agent.tool import MEASURE
from agent.trajectory import Drafter
from agent.trajectory.forms import SPEC_O3, Form
from agent.trajectory.messages import data_url, tool_result

Block = dict[str, Any]
Message = dict[str, Any]

END = "<|im_end|>"
"""End of a turn in the template, which adds it; a server that leaves it in the text would repeat it."""
THINK = "<think>"


def tool_settings(form: Form, measure: bool, sky: SkySource | None = None) -> dict[str, Any]:
    """Return what a trace records of the form of its model and the tools that were offered."""
    block = form.tools(measure, sky is not None)
    settings = {"dialect": form.name, "tool_block_sha256": hashlib.sha256(block.encode()).hexdigest()}
    return settings | ({MEASURE: True} if measure else {}) | ({} if sky is None else context.settings(sky))


def messages(conversation: Conversation, form: Form = SPEC_O3) -> list[Message]:
    """Return system turn (with the tool block if there is a tool), question, then turns and tool results.

    The server must pass blocks to the template as blocks, as vLLM does for this template by itself
    (``--chat-template-content-format auto`` means ``openai``); ``string`` would reorder pictures and text. Turns are
    sent again exactly as written, so that the server's prefix cache applies.
    """
    messages = [
        _message("system", _text(form.system(conversation.system, *conversation.tools))),
        _message("user", _picture(conversation.overview), _text("\n" + conversation.prompt)),
    ]
    for exchange in conversation.exchanges:
        messages.append(_message("assistant", _text(form.again(exchange.text.removesuffix(END)))))
        if (seen := exchange.observation) is not None:
            messages.append(tool_result(seen.text, None if seen.image is None else _picture(seen.image)))
    return messages


def _message(role: str, *blocks: Block) -> Message:
    return {"role": role, "content": list(blocks)}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _picture(image: Image.Image) -> Block:
    return {"type": "image_url", "image_url": {"url": data_url(image)}}


class _Beginning:
    """Puts the opening of a form before a turn whose template wrote it in the prompt, and not before one in which the
    model wrote it: text is held back until that is known.
    """

    def __init__(self, opening: str) -> None:
        self._opening = opening
        self._held = ""

    def tag(self) -> str:
        """Return what precedes reasoning that the server has split off."""
        opening, self._opening = self._opening, ""
        return opening or THINK

    def add(self, text: str) -> str:
        self._held += text
        return "" if self._opening and THINK.startswith(self._held) else self.end()

    def end(self) -> str:
        """Return what is held."""
        text, self._held = self._held, ""
        opening = "" if not text or text.startswith(THINK) else self._opening
        self._opening = "" if text else self._opening
        return opening + text


_FINISHED = ("stop", "eos", "tool_calls")


class SpecO3:
    """The policy. It has no state: each turn follows from the conversation and the server.

    :param stream: request each turn piece by piece; False: whole, where nobody watches it being written
    :param measure: offer the ``measure`` tool, for a model that was trained with it
    :param sky: offer ``sky_context``, with these records, for a model that was trained with it
    :param form: the one in which the model was trained
    """

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling | None = None,
        stream: bool = True,
        measure: bool = False,
        form: Form = SPEC_O3,
        sky: SkySource | None = None,
    ) -> None:
        self.measure = measure
        self.sky = sky
        self.endpoint = endpoint
        self.sampling = sampling or Sampling()
        self.stream = stream
        self.form = form

    @property
    def drafter(self) -> Drafter:
        """The model, its sampling and its server; checks the server if that has not happened yet."""
        facts = self.endpoint.facts()
        settings = tool_settings(self.form, self.measure, self.sky) | self.sampling.settings()
        left_out = settings.keys() & self.endpoint.left_out
        settings |= dict.fromkeys(left_out, "left out: not taken by the server")
        reported = {"server": facts.server, "server_version": facts.version, "context": facts.context}
        settings |= {name: value for name, value in reported.items() if value}
        return Drafter("model", self.endpoint.model or facts.model, settings)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the next turn unchanged, as it arrives, and the score of an answer if log-probabilities are requested.

        Reasoning that the server splits off gets its ``<think>`` tags back, which the model wrote and must see again.
        """
        probe = self.endpoint.probe([], self.sampling, conversation.stop, seconds=None)
        if probe is not None and probe.pictures == "ignored":
            raise PolicyError(self.endpoint.blindness)
        thinking = False
        written = refusal = ""
        begun = _Beginning(self.form.opening)
        tokens: list[Mapping[str, Any]] = []
        sent = messages(conversation, self.form)
        pieces = self.endpoint.stream(sent, self.sampling, conversation.stop, whole=not self.stream)
        with closing(pieces):
            for delta in pieces:
                piece = ""
                if delta.reasoning:
                    piece = delta.reasoning if thinking else f"{begun.tag()}{delta.reasoning}"
                    thinking = True
                if delta.text:
                    piece += f"</think>{delta.text}" if thinking else begun.add(delta.text)
                    thinking = False
                if piece:
                    written += piece
                    yield piece
                tokens += delta.logprobs
                refusal += delta.refusal
                if delta.remark:
                    yield Remark(delta.remark)
                if delta.finish is not None and delta.finish not in _FINISHED:
                    yield Remark(self._cut(delta.finish))
                if delta.usage is not None:
                    yield delta.usage
        if piece := begun.end():
            written += piece
            yield piece
        if refusal:
            yield Remark(f"the model refused: {one_line(refusal, 200)}")
        if self.sampling.logprobs and "logprobs" not in self.endpoint.left_out:
            yield from pieces_of_score(written, tokens)

    def _cut(self, finish: str) -> str:
        match finish:
            case "length":
                return f"cut at its limit of {self.sampling.max_tokens} tokens"
            case "content_filter":
                return "cut by the server's content filter"
        return f"ended by the server: {one_line(finish, 80)}"
