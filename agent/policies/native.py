"""Policy for models with tool calls of their own (GPT, open models behind a server that parses calls).

They were not trained on this task, so the system turn explains how to inspect. Where the server's chat template does
not show the model the tools of a request, the system turn also describes the tool in words (the block of the Spec-o3
dialect, which is the Hermes form), and turns and tool results are sent as text. Replies become tagged text and,
in later turns, API messages again, always byte for byte the same, as prefix caches need.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from PIL import Image

from agent.conversation import (
    Conversation,
    Exchange,
    Piece,
    PolicyError,
    Remark,
    ServerMessage,
    SkySource,
    Stop,
    Usage,
)
from agent.language import deferred, joined
from agent.policies import NATIVE, Sampling
from agent.policies.examples import Examples, Shown
from agent.policies.giveaways import mentions_label
from agent.policies.native_turns import MARKS, Reply, assistant_message, call_text, server_message
from agent.policies.openai.endpoint import Endpoint
from agent.policies.openai.errors import ErrorResponse, ServerFailure
from agent.policies.openai.health import Health
from agent.policies.openai.probe import REFUSES_PICTURES, SECONDS, ProbeResult
from agent.policies.yes_no import pieces_of_score
from agent.sky import context
from agent.text import one_line
from agent.tool import MEASURE, TOOL_SCHEMA, tool_block, tool_schemas
from agent.trajectory import Drafter
from agent.trajectory.messages import data_url, tool_result
from agent.trajectory.steps import Verdict

__all__ = ["MARKS", "Guidance", "Native", "Reply", "assistant_message", "call_text", "health_of", "instructions"]

FILE = Path(__file__).with_name("native_prompts.toml")


@dataclass(frozen=True)
class Prompts:
    """The prompt texts, with ``$turns`` and ``$verdict`` as placeholders."""

    instructions: str
    unaided: str
    guidance: str
    picture: str
    measure: str
    sky: str
    examples: str


@cache
def prompts() -> Prompts:
    """Return the texts that come with the program."""
    with FILE.open("rb") as opened:
        return Prompts(**{name: text.strip() for name, text in tomllib.load(opened).items()})


@dataclass(frozen=True)
class Guidance:
    """The known verdict, given to a drafter that writes an inspection leading to it.

    It is part of the system turn sent to the model, never of the trajectory, whose settings record that it was given.
    """

    verdict: Verdict

    @property
    def text(self) -> str:
        return Template(prompts().guidance).substitute(verdict=self.verdict)


def instructions(turns: int) -> str:
    """Return the instructions for an inspection in so many turns."""
    return Template(prompts().instructions).substitute(turns=turns)


def sha256(text: str) -> str:
    """Hash a text before its placeholders are filled; the hash of the filled text would reveal the verdict."""
    return hashlib.sha256(text.encode()).hexdigest()


Message = dict[str, Any]


class Native:
    """The policy.

    :param in_words: describe the tool in words; None: if the model does not see the tools of a request
    :param guidance: only for drafting: it gives the model the known verdict
    :param stream: request each turn piece by piece; False: whole, where nobody watches it being written
    :param measure: offer the ``measure`` tool
    :param sky: offer ``sky_context``, with these records
    :param examples: shown before the conversation, where there is the tool
    """

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling | None = None,
        guidance: Guidance | None = None,
        stream: bool = True,
        in_words: bool | None = None,
        measure: bool = False,
        examples: Examples | None = None,
        sky: SkySource | None = None,
    ) -> None:
        self._in_words = in_words
        self.measure = measure
        self.sky = sky
        self.examples = examples
        self.stream = stream
        self.endpoint = endpoint
        self.sampling = sampling or Sampling()
        self.guidance = guidance

    @property
    def drafter(self) -> Drafter:
        """The model, the hashes of its instructions, and what the server reports about itself."""
        texts = prompts()
        facts = self.endpoint.facts()
        settings: dict[str, Any] = {"dialect": "native", "instructions_sha256": sha256(texts.instructions)}
        settings |= self.sampling.settings() | self.endpoint.settings
        left_out = settings.keys() & self.endpoint.left_out
        settings |= dict.fromkeys(sorted(left_out), "left out: not taken by the server")
        reported = {"server": facts.server, "server_version": facts.version, "context": facts.context}
        settings |= {name: value for name, value in reported.items() if value}
        # Not joined: a stopped inspection has a trace at once.
        if self._describes_tool(self._probe(join=False)):
            block = tool_block(self.measure, self.sky is not None)
            settings |= {"tool": "described in words", "tool_block_sha256": sha256(block)}
        if self.measure:
            settings |= {MEASURE: True, "measure_sha256": sha256(texts.measure + tool_block(measure=True))}
        if self.sky is not None:
            settings |= context.settings(self.sky, texts.sky)
        if self.examples is not None:
            settings |= self.examples.settings()
        if self.guidance is not None:
            settings |= {"label_told": True, "guidance_sha256": sha256(texts.guidance)}
        return Drafter("model", self.endpoint.model or facts.model, settings)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """Yield the next turn as it arrives, then the score of an answer if log-probabilities are requested, and
        remarks.
        """
        probe = self._probe(conversation.stop, seconds=None)
        if probe is not None and probe.pictures == "ignored":
            raise PolicyError(self.endpoint.blindness)
        in_words = conversation.with_tool and self._describes_tool(probe)
        tools = tool_schemas(*conversation.tools[1:]) if conversation.with_tool and not in_words else None
        messages = self.messages(conversation, in_words)
        stream = self.endpoint.stream(messages, self.sampling, conversation.stop, tools=tools, whole=not self.stream)
        reply = Reply()
        written = refusal = ""
        tokens: list[Mapping[str, Any]] = []
        finish: str | None = None
        with closing(stream):
            for delta in stream:
                if text := reply.add(delta):
                    written += text
                    yield text
                tokens += delta.logprobs
                refusal += delta.refusal
                if delta.remark:
                    yield Remark(delta.remark)
                if delta.usage is not None:
                    yield delta.usage
                    if not conversation.exchanges and self._may_be_blind(delta.usage, messages):
                        yield Remark(_TOO_FEW.format(tokens=delta.usage.prompt))
                if delta.message is not None:
                    yield ServerMessage(delta.message)
                finish = delta.finish or finish
        if text := reply.end():
            written += text
            yield text
        if self.sampling.logprobs and "logprobs" not in self.endpoint.left_out:
            yield from pieces_of_score(written, tokens)
        yield from self._remarks(written, refusal, reply.spoiled, finish)

    def _may_be_blind(self, usage: Usage, messages: Iterable[Message]) -> bool:
        """Whether the server counted fewer tokens than the texts of a conversation can have."""
        characters = 0
        for message in messages:
            content = message.get("content")
            for part in content if isinstance(content, list) else [{"text": content}]:
                characters += len(part.get("text") or "")
        is_short = 0 < usage.prompt < characters / _CHARACTERS
        return is_short and self.endpoint.facts().server not in REFUSES_PICTURES

    def _probe(
        self, stop: Stop | None = None, seconds: float | None = SECONDS, join: bool = True
    ) -> ProbeResult | None:
        try:
            tools = [TOOL_SCHEMA] if self._in_words is None else []
            return self.endpoint.probe(tools, self.sampling, stop, seconds, join)
        except ServerFailure as failure:
            # A connection that broke says nothing of a stream: the probe is not streamed.
            if self.stream and not isinstance(failure.__cause__, ErrorResponse):
                return None
            raise

    def _describes_tool(self, probe: ProbeResult | None) -> bool:
        """Whether the tool is described in words."""
        if self._in_words is not None:
            return self._in_words
        return probe is not None and probe.tools in ("dropped", "refused")

    def messages(self, conversation: Conversation, in_words: bool = False) -> list[Message]:
        """Return the conversation as messages of the Chat Completions API.

        The API takes no picture in a tool's answer, so each picture follows in a user turn. An earlier turn is sent
        back as its server sent it, with fields that only this server knows.

        :param in_words: describe the tool, and send turns and tool results as text
        """
        turns = len(conversation.exchanges) + conversation.turns_left
        task_text = instructions(turns) if conversation.with_tool else prompts().unaided
        system = [conversation.system + (tool_block(*conversation.tools[1:]) if in_words else ""), task_text]
        examples = self.examples.of(conversation) if self.examples is not None and conversation.with_tool else ()
        system += [prompts().measure] if conversation.measure else []
        system += [prompts().sky] if conversation.sky is not None else []
        system += [prompts().examples] if examples else []
        if self.guidance is not None:
            system.append(self.guidance.text)
        messages: list[Message] = [{"role": "system", "content": "\n\n".join(system)}]
        number = 0
        parts: list[Shown | Conversation] = [*examples, conversation]
        for shown in parts:
            messages.append(_shown(shown.overview, shown.prompt))
            messages += self._turns(shown.exchanges, number, in_words)
            number += len(shown.exchanges)
        return messages

    def _turns(self, exchanges: Sequence[Exchange], before: int, in_words: bool) -> list[Message]:
        """Return turns and tool results, after ``before`` turns of the examples."""
        messages: list[Message] = []
        for number, exchange in enumerate(exchanges, start=before + 1):
            # Nine letters and digits: Mistral's models accept no other id.
            call_id = f"call{number:05d}"
            own = exchange.message and server_message(exchange.message, exchange.text, call_id)
            if in_words:
                messages.append({"role": "assistant", "content": exchange.text})
            elif own:
                messages.append(own[0])
                call_id = own[1]
            else:
                messages.append(assistant_message(exchange.text, call_id))
            if exchange.observation is None:
                continue
            text, image = exchange.observation.text, exchange.observation.image
            if in_words:
                messages.append(tool_result(text, None if image is None else _picture(image)))
                continue
            messages.append({"role": "tool", "tool_call_id": call_id, "content": text})
            if image is not None:
                messages.append(_shown(image, prompts().picture))
        return messages

    def _remarks(self, written: str, refusal: str, spoiled: bool, finish: str | None) -> Iterator[Remark]:
        if refusal:
            yield Remark(f"the model refused: {one_line(refusal, 200)}")
        if finish == "length":
            none = "" if written.strip() else " before it had written anything: allow more, or a lower reasoning effort"
            yield Remark(f"cut at its limit of {self.sampling.max_tokens} tokens{none}")
        elif finish == "content_filter":
            yield Remark("the server's content filter cut it")
        elif finish in ("tool_calls", "function_call") and "<tool_call>" not in written:
            yield Remark("the server ended the turn for a tool call, but sent none")
        elif not written.strip() and not refusal:
            yield Remark(f"the server sent no text and no call (finish reason: {one_line(finish or 'none', 80)})")
        if spoiled:
            yield Remark("tags inside the reasoning, written ‹so›")
        if self.guidance is not None and (words := mentions_label(written)):
            yield Remark(f"reveals that the answer was known: {words!r}")


_CHARACTERS = 6
"""Characters per token, more than any text has on average (English prose 4 to 5)."""
_TOO_FEW = (
    "the server counted {tokens} tokens, fewer than the text alone has: it may not have taken the whole conversation, "
    "or no picture"
)


def _shown(image: Image.Image, text: str) -> Message:
    return {"role": "user", "content": [_picture(image), {"type": "text", "text": text}]}


def _picture(image: Image.Image) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": data_url(image)}}


TOOL_USE = {
    "shown": "",
    "dropped": deferred(
        " Its chat template drops the tools of a request: the instructions describe the tool in words."
    ),
    "refused": deferred(" It refuses requests with tools: the instructions describe the tool in words."),
    "unknown": deferred(
        " It does not count tokens, so it is unknown whether the model sees the tools of a request. If it does "
        "not call the tool, set tool_in_words = true in servers.toml."
    ),
}
"""What the health of a server of this dialect says about the tools of a request."""


def health_of(endpoint: Endpoint, in_words: bool | None, sampling: Sampling = NATIVE) -> Health:
    """Return the health of a server of this dialect, with whether the model sees the tools of a request."""
    health = endpoint.check()
    if not health.ok:
        return health
    probe = endpoint.probe([] if in_words else [TOOL_SCHEMA], sampling)
    if probe is not None and probe.pictures == "ignored":
        return replace(health, ok=False, sentence=endpoint.blindness)
    if in_words:
        use = deferred(" The instructions describe the tool in words, as configured.")
    else:
        use = TOOL_USE[probe.tools] if probe is not None else ""
    return replace(health, sentence=joined((health.sentence, use), ""))
