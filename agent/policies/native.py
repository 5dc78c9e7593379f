"""Policy for models with tool calls of their own (GPT, open models behind a server that parses calls).

They were not trained on this task, so the system turn explains how to inspect. Where the server's chat template does
not show the model the tools of a request, the system turn also describes the tool in words (the block of the Spec-o3
dialect, which is the Hermes form), and turns and tool results are sent as text. Replies become tagged text and,
in later turns, API messages again, always byte for byte the same, as prefix caches need.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal

from PIL import Image

from agent.conversation import Conversation, Exchange, Piece, PolicyError, Remark, ServerMessage, Stop, Usage
from agent.language import deferred, joined
from agent.policies import NATIVE, Sampling
from agent.policies.examples import Examples, Shown
from agent.policies.giveaways import mentions_label
from agent.policies.openai.endpoint import CallPiece, Delta, Endpoint
from agent.policies.openai.errors import ErrorResponse, ServerFailure
from agent.policies.openai.health import Health
from agent.policies.openai.probe import REFUSES_PICTURES, SECONDS, ProbeResult
from agent.policies.openai.responses import ITEMS
from agent.policies.yes_no import pieces_of_score
from agent.text import one_line
from agent.tool import MEASURE, TOOL_NAME, TOOL_SCHEMA, tool_block, tool_schemas
from agent.trajectory import Drafter
from agent.trajectory.messages import data_url, tool_result
from agent.trajectory.steps import Verdict
from agent.trajectory.tags import Call, between, parse

TAGS = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<answer>", "</answer>")
MARKS = (*TAGS, "\\boxed")
"""A thought without tags ends where one of these begins."""

_TAG = re.compile("|".join(TAGS))
_MARK = re.compile("|".join(map(re.escape, MARKS)))
_WRITTEN = re.compile(r'\{"name": "(?:[^"\\]|\\.)*", "arguments": (.*)\}', re.DOTALL)
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

Channel = Literal["reasoning", "words"]


@dataclass
class _Call:
    id: str
    name: str = ""
    arguments: str = ""


class Reply:
    """Converts one streamed reply with native tool calls to tagged text; ``add`` and ``end`` return what is certain.

    Reasoning becomes ``<think>``, words keep the model's own tags or become ``<think>``, calls become
    ``<tool_call>`` at the end, because a server may interleave their fragments. Only a possible beginning of a tag
    is held back, so the text does not depend on how the stream was cut. Nothing is repaired here.

    ``spoiled``: there were tags inside the reasoning. They are written ‹so›; otherwise a model that only considers
    ``<answer>`` would have answered.
    """

    def __init__(self) -> None:
        self.spoiled = False
        self._channel: Channel | None = None
        self._begun = False  # some text of this run of one channel was returned
        self._open = False  # our own <think> is open
        self._own_tags = False  # the words are in the model's own tags and pass unchanged
        self._held = ""
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}

    def add(self, delta: Delta) -> str:
        """Return the text that is certain after this piece."""
        text = self._append("reasoning", delta.reasoning) + self._append("words", delta.text)
        for piece in delta.calls:
            self._add_call(piece)
        return text

    def end(self) -> str:
        """Return the rest: held-back text, the end of the thought, the calls."""
        text = self._released() + ("</think>" if self._open else "")
        self._open = False
        return text + "".join(call_text(call.name, call.arguments) for call in self._calls)

    def _append(self, channel: Channel, text: str) -> str:
        if not text:
            return ""
        before = ""
        if channel != self._channel:
            before = self._released()
            self._channel, self._begun, self._own_tags = channel, False, False
        self._held += text
        return before + self._certain(final=False)

    def _released(self) -> str:
        """Return the held-back text, because nothing follows it."""
        text = self._certain(final=True)
        self._held = ""
        return text

    def _certain(self, final: bool) -> str:
        """Return the certain part of the held text. White space at the start of a run is held back."""
        if not self._begun and not self._held.strip():
            return ""
        return self._reasoning(final) if self._channel == "reasoning" else self._words(final)

    def _reasoning(self, final: bool) -> str:
        before = "" if self._begun else self._thinking()
        self._begun = True
        written = self._take(TAGS, final)
        cleaned = _TAG.sub(lambda tag: f"‹{tag[0][1:-1]}›", written)
        self.spoiled |= cleaned != written
        return before + cleaned

    def _words(self, final: bool) -> str:
        before = ""
        if not self._begun:
            start = self._held.lstrip()
            if not final and _unfinished(start, MARKS) == len(start):
                return ""
            self._begun = True
            mark = _MARK.match(start)
            before = self._thinking() if mark is None else self._left_to(mark[0])
        if not self._own_tags and (match := _MARK.search(self._held)):
            thought, self._held = self._held[: match.start()], self._held[match.start() :]
            before += thought + self._left_to(match[0])
        return before + self._take(() if self._own_tags else MARKS, final)

    def _left_to(self, mark: str) -> str:
        """Return what precedes the model's own tag: the end of an open thought, unless the tag ends it."""
        close = "</think>" if self._open and mark != "</think>" else ""
        self._open, self._own_tags = False, True
        return close

    def _thinking(self) -> str:
        """Return what precedes a thought: the tag, or a blank line if one is open."""
        if self._open:
            return "\n\n"
        self._open = True
        return "<think>"

    def _take(self, marks: Iterable[str], final: bool) -> str:
        """Take the held text except a possible beginning of a tag."""
        upto = len(self._held) - (0 if final else _unfinished(self._held, marks))
        taken, self._held = self._held[:upto], self._held[upto:]
        return taken

    def _add_call(self, piece: CallPiece) -> None:
        call = self._at.get(piece.index)
        # Some servers give every call the index 0; a new id tells them apart, or a name after complete arguments.
        if call is None or (piece.id and call.id and piece.id != call.id) or (piece.name and _is_json(call.arguments)):
            call = self._at[piece.index] = _Call(piece.id)
            self._calls.append(call)
        call.id = call.id or piece.id
        # Some send the whole name with each piece.
        if piece.name != call.name:
            call.name += piece.name
        call.arguments += piece.arguments


def call_text(name: str, arguments: str) -> str:
    """Return a call as tagged text. ``arguments`` is JSON as the model wrote it, broken or not; anything but an
    object is passed as a JSON text.
    """
    written = arguments if arguments.lstrip()[:1] in ("{", '"') else json.dumps(arguments, ensure_ascii=False)
    named = json.dumps(name, ensure_ascii=False)
    return f'\n<tool_call>\n{{"name": {named}, "arguments": {written}}}\n</tool_call>'


def assistant_message(text: str, call_id: str) -> dict[str, Any]:
    """Return an earlier turn as an API message: the words before its first call, and the call that was run, with
    its arguments as the model wrote them if they match.
    """
    call = parse(text).call
    if call is None:
        return {"role": "assistant", "content": text}
    words = text.partition("<tool_call>")[0].removesuffix("\n")
    function = {
        # An API rejects a conversation with a function name that it does not allow.
        "name": call.name if _NAME.fullmatch(call.name) else TOOL_NAME,
        "arguments": _as_written(text, call.arguments),
    }
    called = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": words or None, "tool_calls": [called]}


def server_message(message: Mapping[str, Any], text: str, call_id: str) -> tuple[dict[str, Any], str] | None:
    """Return an earlier turn as its server sent it, with the one call that was run, and the id of this call.

    :param call_id: for a call without an id
    :return: None if the call in it is not the one that was run: the turn is then written anew from its text
    """
    run = parse(text).call
    items = message.get(ITEMS)
    calls = message.get("tool_calls")
    if run is None or not isinstance(items or calls, list):
        return None
    if items:
        functions = [item for item in items if item.get("type") == "function_call"]
        if not functions or not _calls(functions[0], run) or not functions[0].get("call_id"):
            return None
        # An API wants an answer for each call.
        return {**message, ITEMS: [item for item in items if item not in functions[1:]]}, functions[0]["call_id"]
    first = calls[0] if calls and isinstance(calls[0], Mapping) else {}
    function = first.get("function")
    if not isinstance(function, Mapping) or not _calls(function, run):
        return None
    call_id = first.get("id") or call_id
    return {**message, "tool_calls": [{"type": "function", **first, "id": call_id}]}, call_id


def _calls(function: Mapping[str, Any], run: Call) -> bool:
    """Whether a function call of an API is the call that was run."""
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return False
    return function.get("name") == run.name and arguments == run.arguments


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _as_written(text: str, arguments: Mapping[str, Any]) -> str:
    for block in between(text, "<tool_call>\n", "\n</tool_call>"):
        written = _WRITTEN.fullmatch(block)
        try:
            if written is not None and json.loads(written[1]) == arguments:
                return str(written[1])
        except ValueError:
            continue
    return json.dumps(dict(arguments), ensure_ascii=False)


def _unfinished(text: str, marks: Iterable[str]) -> int:
    """Return how many characters at the end may be the beginning of a tag."""
    return max(
        (n for mark in marks for n in range(1, min(len(mark), len(text) + 1)) if text.endswith(mark[:n])),
        default=0,
    )


FILE = Path(__file__).with_name("native_prompts.toml")


@dataclass(frozen=True)
class Prompts:
    """The prompt texts, with ``$turns`` and ``$verdict`` as placeholders."""

    instructions: str
    unaided: str
    guidance: str
    picture: str
    measure: str
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
    ) -> None:
        self._in_words = in_words
        self.measure = measure
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
            settings |= {"tool": "described in words", "tool_block_sha256": sha256(tool_block(self.measure))}
        if self.measure:
            settings |= {MEASURE: True, "measure_sha256": sha256(prompts().measure + tool_block(self.measure))}
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
        tools = tool_schemas(conversation.measure) if conversation.with_tool and not in_words else None
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
        system = [conversation.system + (tool_block(conversation.measure) if in_words else ""), task_text]
        examples = self.examples.of(conversation) if self.examples is not None and conversation.with_tool else ()
        system += [prompts().measure] if conversation.measure else []
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
