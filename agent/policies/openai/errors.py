"""Errors of a model server: ``ErrorResponse`` is what it sent, ``ServerFailure`` the sentence for the user (what
happened and what to do). Also the limits and pauses of requests.
"""

from __future__ import annotations

import email.utils
import json
import random
import re
import socket
import ssl
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from agent.conversation import ConversationTooLong, PolicyError
from agent.language import deferred

_chance = random.Random()  # not the one of the whole process, which others may seed


@dataclass(frozen=True)
class RequestLimits:
    """Time limits in seconds, and ``tries``: the number of requests for one turn, including the first.

    ``first`` is long because a busy server queues: vLLM opens the answer when the request gets its place in
    the batch. ``between`` is for a server that has begun and hangs. ``whole`` is for an answer that comes in one piece,
    waiting for its place included.
    """

    connect: float = 5.0
    first: float = 600.0
    between: float = 120.0
    whole: float = 1800.0
    tries: int = 5
    pause: float = 0.5
    longest_pause: float = 30.0
    longest_wait: float = 150.0

    def before_next(self, tried: int, requested: float | None = None) -> float:
        """Return the seconds until the next try.

        They double after each of the ``tried`` ones up to ``longest_pause``, spread at random so that many clients do
        not return together; at least the server's ``Retry-After`` (``requested``). ``longest_wait`` limits all pauses
        of a turn together: a server that wants more is left.
        """
        doubled = min(self.pause * 2.0 ** min(tried - 1, 30), self.longest_pause)
        return max(doubled * _chance.uniform(0.5, 1.0), requested or 0.0)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110, section 10.2.3: seconds or a date; ``retry-after-ms`` is
    OpenAI's); None if it is missing.
    """
    if (thousandths := _number(headers.get("retry-after-ms"))) is not None:
        return thousandths / 1000.0
    header = headers.get("retry-after")
    if (seconds := _number(header)) is not None:
        return seconds
    try:
        date = email.utils.parsedate_to_datetime(header or "")
    except ValueError:
        return None
    return max(date.timestamp() - time.time(), 0.0)


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0.0 <= number < float("inf") else None


LONGEST_QUOTE = 300
"""Characters of a server's own text that are quoted."""
START_COMMAND = "spec-o3 serve --model Maxwell-Jia/spec-o3-3b"

_CONTEXT = re.compile(
    r"context.{0,8}(?:length|size|window)|maximum model length|exceed(?:s|ed)? the configured limit"
    r"|too long to fit",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"(?:context (?:length|size|window)(?: of| is)?|model length of|configured limit of)\D{0,3}(\d+)",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"(\d+) (?:input tokens|in the messages)|resulted in (\d+) tokens|\((?:total )?length (\d+)\)"
    r"|input \((\d+) tokens",
    re.IGNORECASE,
)
_UNSUPPORTED = re.compile(
    r"unsupported|not supported?|unrecognized|unknown|unexpected|not permitted|unavailable", re.IGNORECASE
)
_FEWER_LOGPROBS = re.compile(r"logprobs? of \d+.{0,60}(?:greater|larger|more) than|max_logprobs", re.IGNORECASE)
# OpenAI answers 403 for a reasoning model.
_NO_LOGPROBS = re.compile(r"not allowed to request logprobs", re.IGNORECASE)
_PICTURES = re.compile(r"at most \d+ (?:image|multimodal)|too many images", re.IGNORECASE)
_BLIND = re.compile(
    r"not a multimodal|(?:does not|doesn't|not) support (?:image|vision)|image input|image_url.{0,40}not supported",
    re.IGNORECASE,
)
_TOOLS = re.compile(
    r"jinja|support.{0,40}\b(?:tool|function)s?\b|\b(?:tool|function)s?\b.{0,60}(?:support|param|requires|not enabled)"
    r"|tool[ _-]choice.{0,40}requires",
    re.IGNORECASE,
)
_ROLE_ORDER = re.compile(
    r"role.{0,40}after.{0,20}role.{0,10}tool|(?:expected|must be).{0,60}assistant.{0,40}after.{0,20}tool|"
    r"roles must alternate|invalid_request_message_order",
    re.IGNORECASE,
)
_OTHER_API = re.compile(r"v1/responses|responses api|responses endpoint", re.IGNORECASE)
_NO_ROOM = re.compile(r"could not finish the message|max_tokens or model output limit", re.IGNORECASE)
_AZURE = re.compile(r"api-key header|subscription key|api-version", re.IGNORECASE)


class ServerFailure(PolicyError):
    """A request failed: one sentence for the user. ``retry``: another try may succeed, ``after`` so many seconds
    if the server says so. ``late``: it did not answer in time.
    """

    def __init__(self, sentence: str, retry: bool = False, after: float | None = None, late: bool = False) -> None:
        super().__init__(sentence)
        self.retry = retry
        self.after = after
        self.late = late


class ContextExceeded(ServerFailure, ConversationTooLong):
    """The server refused the conversation for its length."""


class UnsupportedParameter(Exception):
    """The server rejected one parameter of the request."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class StreamsOnly(Exception):
    """The server streams an answer that was requested whole."""


class ErrorResponse(Exception):
    """An HTTP status of 400 or more, or an error object inside a stream (``status`` 0 if it names none)."""

    def __init__(
        self, status: int, message: str, code: str = "", parameter: str = "", after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.parameter = parameter
        self.after = after

    @classmethod
    def read(cls, status: int, body: object, headers: Mapping[str, str] | None = None) -> ErrorResponse:
        """Read the body: OpenAI's error object, FastAPI's ``detail``, Google's list of errors, an error that a gateway
        passes on, or text.
        """
        code = parameter = ""
        for mapping in _mappings_in(body):
            code = code or str(mapping.get("code") or "")
            parameter = parameter or str(mapping.get("param") or "")
        if not status and code.isdigit():
            status = int(code)
        return cls(status, quoted(_message_in(body)), code, parameter, retry_after(headers or {}))

    @property
    def refuses_tools(self) -> bool:
        """Whether it refuses the tools of a request that it takes without them."""
        if self.needs_room:
            return False
        return self.status in (400, 422, 501) or self.names_tools

    @property
    def names_tools(self) -> bool:
        """Whether it says that the tools are the reason."""
        return self.status in (400, 404, 405, 422, 500, 501) and bool(_TOOLS.search(self.message))

    @property
    def needs_room(self) -> bool:
        """Whether a model that reasons had too few tokens for an answer."""
        return bool(_NO_ROOM.search(self.message))

    @property
    def refuses_role_order(self) -> bool:
        """Whether it refuses a user turn that follows the answer of a tool."""
        return self.status in (400, 422, 500) and bool(_ROLE_ORDER.search(f"{self.message} {self.code}"))

    @property
    def names_responses_api(self) -> bool:
        """Whether it refers to OpenAI's Responses API."""
        return self.status in (400, 404) and bool(_OTHER_API.search(self.message))

    def check_parameters(self, sent: Collection[str]) -> None:
        """:raises UnsupportedParameter: the server says that it does not take one of the parameters ``sent``"""
        if self.status == 403 and "logprobs" in sent and _NO_LOGPROBS.search(self.message):
            raise UnsupportedParameter("logprobs") from self
        if self.status not in (400, 422) or not (
            _UNSUPPORTED.search(self.message) or self.code.startswith("unsupported")
        ):
            return
        if self.parameter in sent:
            raise UnsupportedParameter(self.parameter) from self
        for name in sent:
            if re.search(rf"\b{name}\b", self.message):
                raise UnsupportedParameter(name) from self


_INSIDE = ("error", "errors", "detail", "message", "msg")
"""Fields of an error body with what went wrong, or with an object that has it, in this order."""


def _mappings_in(body: object) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of an error body, from the outside to the inside."""
    if isinstance(body, list):
        for entry in body:
            yield from _mappings_in(entry)
    elif isinstance(body, Mapping):
        yield body
        for name in _INSIDE:
            yield from _mappings_in(body.get(name))


def _message_in(body: object) -> object:
    if isinstance(body, list):
        return "; ".join(str(_message_in(entry)) for entry in body)
    if not isinstance(body, Mapping):
        return body
    message = next((_message_in(body[name]) for name in _INSIDE if body.get(name)), None)
    if message is None:
        return dict(body)
    if isinstance(field := body.get("loc"), list):
        # FastAPI: one entry per field.
        message = f"{'.'.join(map(str, field))}: {message}"
    # OpenRouter: what the provider behind it says.
    details = body.get("metadata")
    cause = details.get("raw") if isinstance(details, Mapping) else None
    if isinstance(cause, str):
        with suppress(ValueError, RecursionError):
            cause = json.loads(cause)
    return f"{message}: {_message_in(cause)}" if cause else message


def quoted(words: object) -> str:
    """Return a server's own text, shortened for use in a sentence; a web page is only named."""
    text = " ".join(str(words or "").split())
    if text[:200].lower().startswith(("<!doctype", "<html", "<head")):
        return deferred("a web page")
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def failure_of(response: ErrorResponse, where: str, model: str, has_key: bool, max_tokens: int) -> ServerFailure:
    """Word an error response for the user. Its text is quoted except for 401, where some servers repeat the key."""
    status, message = response.status, response.message.rstrip(".")
    quote = f": {message}." if message else "."
    if _CONTEXT.search(response.message) or response.code == "context_length_exceeded":
        return ContextExceeded(_too_long(response.message, max_tokens))
    if _PICTURES.search(response.message):
        return ServerFailure(
            deferred(
                "{where} takes fewer pictures in one conversation than an inspection makes ({value}). Start "
                "it with spec-o3 serve, or with --limit-mm-per-prompt '{{\"image\": 8}}', one per turn.",
                where=where,
                value=message,
            )
        )
    if status in (400, 422) and _FEWER_LOGPROBS.search(response.message):
        return ServerFailure(
            deferred(
                "{where} gives fewer log-probabilities per token than --logprobs requests ({value}). Start "
                "it with --max-logprobs 20, or leave --logprobs out.",
                where=where,
                value=message,
            )
        )
    if _BLIND.search(response.message):
        return ServerFailure(
            deferred("{model} cannot see pictures ({value}): choose a vision model.", model=model, value=message)
        )
    if response.needs_room:
        return ServerFailure(
            deferred(
                "{model} used its {max_tokens:,} tokens before it had written anything. Allow more (--max-tokens), "
                "or a lower reasoning effort (--reasoning-effort).",
                model=model,
                max_tokens=max_tokens,
            )
        )
    if response.names_tools:
        return ServerFailure(
            deferred(
                "{where} does not take the tool of the request ({status}){quote} Start llama.cpp's server with "
                "--jinja, and vLLM with --enable-auto-tool-choice and a --tool-call-parser; elsewhere set "
                "tool_in_words = true (--tool-in-words), or choose a model with tool calls.",
                where=where,
                status=status,
                quote=quote,
            )
        )
    if response.code == "insufficient_quota" or status == 402:
        return ServerFailure(
            deferred("The account behind the key for {where} has no credit left{quote}", where=where, quote=quote)
        )
    match status:
        case 401:
            known = deferred("rejected the API key") if has_key else deferred("needs an API key, and none was sent")
            if _AZURE.search(response.message):
                return ServerFailure(
                    deferred(
                        "{where} {known} (401). Azure takes this program's requests at "
                        "https://NAME.openai.azure.com/openai/v1, not at an address with api-version.",
                        where=where,
                        known=known,
                    )
                )
            return ServerFailure(
                deferred("{where} {known} (401). servers.toml says where its key is.", where=where, known=known)
            )
        case 403:
            return ServerFailure(
                deferred(
                    "{where} does not let this API key use {model} (403){quote}", where=where, model=model, quote=quote
                )
            )
        case 404:
            return ServerFailure(
                deferred(
                    "{where} has nothing for the model {model}, or is no model server (404){quote}",
                    where=where,
                    model=model,
                    quote=quote,
                )
            )
        case 413:
            return ServerFailure(
                deferred(
                    "The pictures of this conversation are more than {where} accepts at once (413). Allow fewer "
                    "turns, or raise the limit of the proxy in front of it (nginx: client_max_body_size).",
                    where=where,
                )
            )
        case 408 | 409 | 429:
            sentence = deferred(
                "{where} is overloaded ({status}){quote} Send fewer requests at once, or wait.",
                where=where,
                status=status,
                quote=quote,
            )
            return ServerFailure(sentence, retry=True, after=response.after)
        case _ if status >= 500:
            sentence = deferred(
                "{where} failed ({status}){quote} Its log says why.", where=where, status=status, quote=quote
            )
            return ServerFailure(sentence, retry=True, after=response.after)
    return ServerFailure(
        deferred(
            "{where} refused the request ({status}){quote}",
            where=where,
            status=status or deferred("no status"),
            quote=quote,
        )
    )


def _too_long(message: str, max_tokens: int) -> str:
    """Word the message; vLLM, OpenAI, SGLang and llama.cpp each have their own text, some with numbers."""
    prompt, holds = _PROMPT.search(message), _HOLDS.search(message)
    counted = ""
    if prompt and holds:
        read = int(next(filter(None, prompt.groups())))
        counted = deferred(
            ": {read:,} tokens to read and up to {max_tokens:,} to write, of {holds:,} it holds",
            read=read,
            max_tokens=max_tokens,
            holds=int(holds[1]),
        )
    elif holds:
        counted = deferred(", which holds {holds:,} tokens", holds=int(holds[1]))
    return deferred(
        "The conversation has grown too long for the model{counted}. Allow fewer turns or fewer "
        "tokens per turn, or serve it with a larger --max-model-len.",
        counted=counted,
    )


def is_here(url: str) -> bool:
    """Whether a server is on this machine."""
    return urlsplit(url).hostname in ("localhost", "127.0.0.1", "::1")


def unreachable(error: BaseException, where: str, seconds: float) -> ServerFailure:
    """Word a connection that was not made, or was closed before an answer.

    :param seconds: how long was waited for a connection
    """
    host = urlsplit(where).hostname or where
    causes = list(_causes(error))
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return ServerFailure(
            deferred("There is no machine named {host} ({where}): check the address.", host=host, where=where)
        )
    # Before TLS: a handshake that takes too long is an SSL error underneath.
    if any("Timeout" in type(cause).__name__ for cause in causes):
        return ServerFailure(
            deferred(
                "No answer from {where} within {seconds:g} s: the machine is off or overloaded, or a "
                "firewall is in between.",
                where=where,
                seconds=seconds,
            ),
            retry=True,
            late=True,
        )
    if wrong := next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None):
        return ServerFailure(
            deferred(
                "No safe connection to {where}: {value}. Check its certificate, and whether it supports https.",
                where=where,
                value=quoted(wrong.reason or wrong),
            )
        )
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        do = (
            deferred("Start one: {command}", command=START_COMMAND)
            if is_here(where)
            else deferred("Is it running, and does a firewall let this machine through?")
        )
        return ServerFailure(deferred("No server at {where}. {do}", where=where, do=do), retry=True)
    return ServerFailure(
        deferred("{where} closed the connection without an answer. Its log says why.", where=where),
        retry=True,
    )


def broken_off(where: str) -> ServerFailure:
    """Word an answer that broke off."""
    return ServerFailure(
        deferred(
            "{where} broke off in the middle of its answer: it was stopped, or crashed. Its log says why.", where=where
        ),
        retry=True,
    )


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and its causes, also those of several addresses of one name."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for exception in error.exceptions:
                yield from _causes(exception)
        error = error.__cause__ or error.__context__
