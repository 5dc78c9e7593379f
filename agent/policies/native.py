"""A model behind an OpenAI-compatible server that calls tools by the API's own means: GPT, and open models
whose server parses their calls.

It was not trained on this task, so the system turn tells it how to inspect. What it says becomes tagged text
(``agent.policies.native_replies``) and, in the turns that follow, messages again, made from that text alone and
in the same way each time: the beginning of the conversation never changes by a byte, which is what a server's
prefix cache, and a bill, wants. The Chat Completions API takes no picture in a tool's answer, so the picture
follows in a user's turn.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from PIL import Image

from agent.conversation import Conversation, Piece, Remark
from agent.policies.native_replies import Reply, assistant_message
from agent.policies.openai.endpoint import Endpoint
from agent.policies.sampling import Sampling
from agent.tool import TOOL_SCHEMA
from agent.trajectory import Drafter
from agent.trajectory.messages import data_url
from agent.trajectory.steps import Verdict

FILE = Path(__file__).with_name("native_prompts.toml")

_GIVEAWAYS = re.compile(
    r"""
      ground[ -]?truth
    | \b (?: the | its | this | true | given | known | correct | provided | assigned | expected )
      \s label (?! \s for )
    | \b label(?:l?ed) \s (?: as | a )\b
    | \b (?: I | we ) (?: 've | \s have | \s was | \s were | \s am | \s are | \s had | 'm | 're )
      (?: \s been )? \s (?: told | informed | instructed )
    | \b as \s (?: given | told | stated | instructed | provided | known ) \b
      (?! \s (?: in | by ) \s the \s (?: guide | question | criteria ) )
    | \b (?: it | this | object | source | star | spectrum | target ) (?: \s is | \s was ) (?: \s already )?
      \s (?: known | given | confirmed | stated ) \s (?: to \s be | as ) \b
    | \b (?: known | given | correct | true | expected | required | desired | confirmed )
      \s (?: answer | verdict | classification | class | outcome )
    | \b (?: answer | verdict | classification ) \s (?: is | was ) \s (?: already \s )? (?: known | given )
    | \b already \s know
    | \b (?: I | we ) \s know \s the \s (?: answer | verdict | class | classification )
    | \b system \s (?: message | prompt | turn )
    | \b catalog(?:ue)? \s (?: says | lists | gives | class | label | type )
    | \b (?: supposed | told | asked | instructed ) \s to \s (?: be | answer | conclude | say ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)

# Every phrase above has one of these in it; most texts have none, and need not be searched.
_IN_EVERY_PHRASE = re.compile(
    "truth|label|told|inform|instruct|given|state|provide|know|confirm|true|correct|expect|require|desire|"
    "system|catalog|supposed|asked",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Prompts:
    """The texts, with ``$turns`` and ``$verdict`` where numbers and verdicts go."""

    instructions: str
    unaided: str
    guidance: str
    picture: str


@cache
def prompts() -> Prompts:
    """The texts that come with the program."""
    with FILE.open("rb") as opened:
        return Prompts(**{name: text.strip() for name, text in tomllib.load(opened).items()})


@dataclass(frozen=True)
class Guidance:
    """The known verdict, told to a drafter that writes the inspection which leads to it.

    It stands in the system turn that is sent, never in the trajectory; the trajectory says that it was told.
    """

    verdict: Verdict

    @property
    def text(self) -> str:
        return Template(prompts().guidance).substitute(verdict=self.verdict)


def instructions(turns: int) -> str:
    """How to inspect, and in how many turns."""
    return Template(prompts().instructions).substitute(turns=turns)


def sha256(text: str) -> str:
    """Of a text before anything is filled in; filled in, it would tell the verdict by which of two it is."""
    return hashlib.sha256(text.encode()).hexdigest()


def mentions_label(text: str) -> str | None:
    """The words by which a text gives away that its author had been told the answer; None if there are none.

    It knows phrases, not meanings: a reviewer looks at what it finds, and still reads the rest.
    """
    found = _GIVEAWAYS.search(text)
    return found[0] if found else None


def label_mentions(text: str) -> tuple[tuple[int, str], ...]:
    """All such words of a text, each with the place where it starts."""
    if _IN_EVERY_PHRASE.search(text) is None:
        return ()
    return tuple((found.start(), found[0]) for found in _GIVEAWAYS.finditer(text))


Message = dict[str, Any]


class Native:
    """The policy. ``guidance`` is for drafting alone: the model is told the known verdict."""

    def __init__(self, endpoint: Endpoint, sampling: Sampling | None = None, guidance: Guidance | None = None) -> None:
        self.endpoint = endpoint
        self.sampling = sampling or Sampling()
        self.guidance = guidance

    @property
    def drafter(self) -> Drafter:
        """The model with the texts it was told, by hash, and what the server says of itself."""
        texts = prompts()
        facts = self.endpoint.facts()
        settings: dict[str, Any] = {"dialect": "native", "instructions_sha256": sha256(texts.instructions)}
        settings |= self.sampling.settings()
        for name in self.endpoint.left_out:
            settings[name] = "left out: not taken by the server"
        told = {"server": facts.server, "server_version": facts.version, "context": facts.context}
        settings |= {name: value for name, value in told.items() if value}
        if self.guidance is not None:
            settings |= {"label_told": True, "guidance_sha256": sha256(texts.guidance)}
        return Drafter("model", self.endpoint.model or facts.model, settings)

    def turn(self, conversation: Conversation) -> Iterator[Piece]:
        """The next turn as it streams, then what there is to say about it."""
        reply = Reply()
        said = ""
        finish: str | None = None
        tools = [TOOL_SCHEMA] if conversation.with_tool else None
        stream = self.endpoint.stream(self.messages(conversation), self.sampling, conversation.stop, tools=tools)
        with closing(stream):
            for delta in stream:
                if text := reply.add(delta):
                    said += text
                    yield text
                if delta.remark:
                    yield Remark(delta.remark)
                if delta.usage is not None:
                    yield delta.usage
                finish = delta.finish or finish
        if text := reply.end():
            said += text
            yield text
        yield from self._remarks(said, reply.spoiled, finish)

    def messages(self, conversation: Conversation) -> list[Message]:
        """The conversation as the Chat Completions API takes it."""
        turns = len(conversation.exchanges) + conversation.turns_left
        told = instructions(turns) if conversation.with_tool else prompts().unaided
        system = [conversation.system, told]
        if self.guidance is not None:
            system.append(self.guidance.text)
        messages: list[Message] = [
            {"role": "system", "content": "\n\n".join(system)},
            _shown(conversation.overview, conversation.prompt),
        ]
        for number, exchange in enumerate(conversation.exchanges, start=1):
            # Nine letters and digits: Mistral's models take no other id.
            call_id = f"call{number:05d}"
            messages.append(assistant_message(exchange.text, call_id))
            if exchange.observation is None:
                continue
            text, image = exchange.observation.text, exchange.observation.image
            messages.append({"role": "tool", "tool_call_id": call_id, "content": text})
            if image is not None:
                messages.append(_shown(image, prompts().picture))
        return messages

    def _remarks(self, said: str, spoiled: bool, finish: str | None) -> Iterator[Remark]:
        if finish == "length":
            yield Remark(f"cut at its limit of {self.sampling.max_tokens} tokens")
        if finish == "content_filter":
            yield Remark("the server's content filter cut it")
        if spoiled:
            yield Remark("tags inside the reasoning, written ‹so›")
        if self.guidance is not None and (words := mentions_label(said)):
            yield Remark(f"gives away that the answer was told: {words!r}")


def _shown(image: Image.Image, text: str) -> Message:
    picture = {"type": "image_url", "image_url": {"url": data_url(image)}}
    return {"role": "user", "content": [picture, {"type": "text", "text": text}]}
