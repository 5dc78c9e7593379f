"""One OpenAI-compatible server: turns from it, streamed or whole, with retries, time limits and cancellation.

A turn is retried only before its first piece arrived: what was shown is never taken back.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from agent.conversation import PolicyError, Stop, Usage
from agent.language import deferred
from agent.policies import Sampling
from agent.policies.openai import client
from agent.policies.openai.client import ChatApi
from agent.policies.openai.errors import (
    ErrorResponse,
    RequestLimits,
    ServerFailure,
    UnsupportedParameter,
    broken_off,
    failure_of,
)
from agent.policies.openai.health import Health, check_server
from agent.policies.openai.pictures import Pictures, may_be_missing, takes_uuids
from agent.policies.openai.stream import END, CallPiece, Delta, MalformedStream, delta_of, model_of, parsed
from agent.policies.yes_no import LISTED

__all__ = ["CallPiece", "Delta", "Endpoint", "RequestLimits"]

LINGER = 0.5
"""Seconds to wait for the end of an answer after [DONE], so that the connection can be reused; if the server
keeps it open for longer, it is closed."""
INSTEAD = {"max_tokens": "max_completion_tokens"}
"""OpenAI's reasoning models reject the old name; servers of open models know only the old one."""
OPTIONAL = (
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "stream_options",
    "response_format",
    "logprobs",
    "top_logprobs",
)
"""Parameters that can be left out if a server does not take them."""

_PARTS = {"top_logprobs": "logprobs"}
"""Parameters that make no sense without another one: both are left out."""

PROBE_SECONDS = 20.0
"""Seconds to find out whether the model sees the tools of a request; a busier server is tried later."""
_PROBE = ({"role": "user", "content": "Hello"},)

ToolUse = Literal["shown", "dropped", "refused", "unknown"]
"""Whether the model sees the tools of a request: ``dropped`` by the server's chat template, ``refused`` by the server
(as vLLM does unless tool calls are switched on), or ``unknown``, because the server does not count tokens."""

Put = Callable[[Delta], None]
Body = dict[str, Any]


class Endpoint:
    """A server's chat API, usable from many threads at once. No error message contains the key.

    :param url: where the API is, with its ``/v1``
    :param model: None: the first that it serves
    """

    def __init__(
        self, url: str, model: str | None = None, api_key: str | None = None, limits: RequestLimits | None = None
    ) -> None:
        self.url = url.rstrip("/")
        self.model = model
        self.limits = limits or RequestLimits()
        self._has_key = bool(api_key)
        self._api = ChatApi(self.url, api_key, self.limits.connect)
        self._checking: asyncio.Task[Health] | None = None
        self._facts: Health | None = None
        self._probing: asyncio.Task[ToolUse] | None = None
        self._tool_use: dict[str, ToolUse] = {}  # by model
        self._pictures = Pictures()
        self._lock = threading.Lock()
        # Parameters sent under another name, or (None) not at all. Replaced, never modified: other threads read it.
        self._instead: Mapping[str, str | None] = {}

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the parameters that the server rejected and that are no longer sent."""
        return tuple(
            name for name, now in self._instead.items() if now is None and name not in ("stream_options", *_PARTS)
        )

    def check(self) -> Health:
        """Check whether it answers, what it serves and how busy it is, in a few seconds; never raises."""
        return client.run_coroutine(self.examined())

    def facts(self) -> Health:
        """Return its last known health, checked now if it never was: for what seldom changes, such as versions."""
        return self._facts or self.check()

    def tool_use(
        self, tools: Sequence[Mapping[str, Any]], stop: Stop | None = None, join: bool = True
    ) -> ToolUse | None:
        """Find out whether the model sees the tools of a request, by two requests of one token each, once per model.

        The server counts the tokens of a short message with and without ``tools``: an equal count means that its chat
        template drops them. ``tools`` are the same in all calls. Not for the thread of the loop.

        :param join: wait for requests that another caller began
        :return: None if there was no answer in time, or ``stop`` was set; the next call tries again
        """
        if (known := self._tool_use.get(self.model or (self._facts.model if self._facts else ""))) is not None:
            return known
        return client.run_until(self._probed(tools, join), stop or Stop())

    async def _probed(self, tools: Sequence[Mapping[str, Any]], join: bool) -> ToolUse | None:
        if not join and self._probing is not None and not self._probing.done():
            return None
        if self._probing is None or self._probing.done():
            self._probing = asyncio.ensure_future(self._probe(tools))
        try:
            # Shielded: it is shared, and a stopped turn must not cancel it for the others.
            return await asyncio.shield(self._probing)
        except (PolicyError, TimeoutError):
            return None

    async def _probe(self, tools: Sequence[Mapping[str, Any]]) -> ToolUse:
        """
        :raises PolicyError: the server does not answer, not even without tools
        :raises TimeoutError: not in time
        """
        async with asyncio.timeout(PROBE_SECONDS):
            model = await self._model()
            without, with_tools = await asyncio.gather(
                self._prompt_tokens(()), self._prompt_tokens(tools), return_exceptions=True
            )
        if isinstance(without, BaseException):
            raise without
        if isinstance(with_tools, BaseException):
            cause = with_tools.__cause__
            if not (isinstance(cause, ErrorResponse) and cause.status in (400, 422, 501)):
                raise with_tools
            use: ToolUse = "refused"
        elif not (without and with_tools):
            use = "unknown"
        else:
            use = "shown" if with_tools > without else "dropped"
        self._tool_use[model] = use
        return use

    async def _prompt_tokens(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Return the number of tokens that the server counts in a short message; 0: it does not count them."""
        body: Body = {"messages": _PROBE, "stream": False, "max_tokens": 1, **({"tools": tools} if tools else {})}
        counted = 0

        def put(delta: Delta) -> None:
            nonlocal counted
            counted = delta.usage.prompt if delta.usage is not None else counted

        await self._try(body, put)
        return counted

    def stream(
        self,
        messages: Sequence[Mapping[str, Any]],
        sampling: Sampling,
        stop: Stop,
        tools: Sequence[Mapping[str, Any]] | None = None,
        response_format: Mapping[str, Any] | None = None,
        *,
        whole: bool = False,
        template: Mapping[str, Any] | None = None,
    ) -> Generator[Delta, None, None]:
        """Stream one turn piece by piece, the token counts last. Closing or stopping it closes the connection at
        once, so that the server is free for the next request.

        :param whole: request the turn in one piece, which takes less CPU time, where nobody watches it being written
        :param response_format: required form of the answer, for a server that supports it
        :param template: arguments for the server's chat template (``chat_template_kwargs`` of vLLM and SGLang); a
            server that refuses them fails, as without them it would be another configuration
        :raises PolicyError: there is no turn, or it is incomplete; the pieces before remain valid
        """
        body: Body = {
            "messages": messages,
            "stream": not whole,
            **({} if whole else {"stream_options": {"include_usage": True}}),
            **sampling.settings(),
        }
        if sampling.logprobs:
            body["top_logprobs"] = LISTED
        if tools:
            body["tools"] = tools
        if response_format:
            body["response_format"] = response_format
        if template:
            body["chat_template_kwargs"] = dict(template)
        return client.iterate(partial(self._turn, body), stop)

    async def _turn(self, body: Body, put: Put) -> None:
        """Try until there is an answer, or no further try can help."""
        begun = False
        since = time.monotonic()

        def forward(delta: Delta) -> None:
            nonlocal begun
            begun = begun or bool(delta.text or delta.reasoning or delta.calls)
            put(delta)

        tried = 0
        while True:
            try:
                await self._try(body, forward)
                return
            except ServerFailure as failure:
                if begun or not failure.retry:
                    raise
                tried += 1
                if tried >= self.limits.tries:
                    seconds = time.monotonic() - since
                    raise PolicyError(
                        deferred(
                            "{failure} (Tried {tried} times in {seconds:.0f} s.)",
                            failure=failure,
                            tried=tried,
                            seconds=seconds,
                        )
                    ) from failure
                await asyncio.sleep(self.limits.before_next(tried, failure.after))

    async def _try(self, body: Body, put: Put) -> None:
        """Send one request and read its answer; repeat it at once without a parameter that the server rejects.

        :raises ServerFailure: there is no answer, or it is incomplete
        """
        model = await self._model()
        while True:
            sent = self._accepted(body) | {"model": model}
            try:
                await self._answer_with_pictures(sent, put)
                return
            except ErrorResponse as response:
                try:
                    response.check_parameters([name for name in OPTIONAL if name in sent])
                except UnsupportedParameter as rejected:
                    self._omit(rejected.name, put)
                else:
                    raise await self._failure(response, sent) from response

    async def _answer_with_pictures(self, body: Body, put: Put) -> None:
        """Send one request and read its answer. Pictures that the server has are named by UUID, if it takes them."""
        pictures = self._pictures
        # Also the first turn has to know: vLLM finds a picture with another name, or none, not in its prefix cache.
        facts = self._facts or await self.examined()
        if not (pictures.is_used and takes_uuids(facts.server, facts.version)):
            await self._answer(body, put)
            return
        begun = False

        def forward(delta: Delta) -> None:
            nonlocal begun
            begun = True
            put(delta)

        await pictures.wait(body["messages"])
        request = pictures.request(body["messages"])
        try:
            try:
                with pictures.sending(request):
                    await self._answer(body | {"messages": request.messages}, forward)
            except ErrorResponse as response:
                if begun or not request.named or not may_be_missing(response):
                    raise
                whole = pictures.request(body["messages"], whole=True)
                with pictures.sending(whole):
                    await self._answer(body | {"messages": whole.messages}, put)
                pictures.refused(request, response, self.url)
                request = whole
        except ServerFailure:
            pictures.forget()
            raise
        pictures.answered(request)

    async def _answer(self, body: Body, put: Put) -> None:
        answer = _Answer(self._api, put)
        now = asyncio.get_running_loop().time
        first = self.limits.first if body["stream"] else self.limits.whole
        try:
            async with (
                asyncio.timeout(first) as deadline,
                aclosing(self._api.events(body)) as events,
            ):
                async for event in events:
                    answer.take(event)
                    deadline.reschedule(now() + (LINGER if answer.done else self.limits.between))
        except TimeoutError:
            if not answer.done:
                raise self._too_slow(answer, first) from None
        except MalformedStream as bad:
            where = deferred(" in the middle of its answer") if body["stream"] else ""
            sentence = deferred(
                "{url} sent {bad}{where}: its API is not OpenAI-compatible.", url=self.url, bad=bad, where=where
            )
            raise ServerFailure(sentence) from bad
        answer.end()

    def _too_slow(self, answer: _Answer, first: float) -> ServerFailure:
        if answer.begun:
            return ServerFailure(
                deferred(
                    "{url} stopped in the middle of its answer: nothing for {between:g} s. It hangs; its log may "
                    "say why.",
                    url=self.url,
                    between=self.limits.between,
                )
            )
        late = {"url": self.url, "seconds": first}
        if first == self.limits.first:
            return ServerFailure(
                deferred(
                    "{url} had not begun to answer after {seconds:g} s: it is overloaded, or hangs. Send fewer "
                    "requests at once, or see its log.",
                    **late,
                )
            )
        return ServerFailure(
            deferred(
                "{url} had not answered after {seconds:g} s: it is overloaded, or hangs. Send fewer requests at "
                "once, or see its log.",
                **late,
            )
        )

    async def _failure(self, response: ErrorResponse, body: Body) -> ServerFailure:
        model = str(body["model"])
        if response.status == 404:
            health = await self.examined()
            if not health.ok:
                return ServerFailure(health.sentence)
        limit = next((body[name] for name in ("max_tokens", "max_completion_tokens") if name in body), 0)
        return failure_of(response, self.url, model, self._has_key, limit)

    def _accepted(self, body: Body) -> Body:
        """Return the body without rejected parameters, and with the names that the server knows."""
        renamed = {self._instead.get(name, name): value for name, value in body.items()}
        return {name: value for name, value in renamed.items() if name is not None}

    def _omit(self, name: str, put: Put) -> None:
        """Stop sending ``name``. The first turn to find out reports it once, if it changes the text."""
        with self._lock:
            given = next((old for old, now in self._instead.items() if now == name), name)
            given = _PARTS.get(given, given)
            now = None if given in self._instead else INSTEAD.get(given)
            first = self._instead.get(given, given) is not None
            parts = {part: None for part, whole in _PARTS.items() if whole == given}
            self._instead = {**self._instead, given: now, **parts}
        if first and now is None and given != "stream_options":
            put(Delta(remark=f"the server does not take {given}: it was left out"))

    async def _model(self) -> str:
        """Return the model to use. The first turn also starts a health check, whose facts the trace records."""
        if self.model is not None:
            if self._facts is None or not self._facts.ok:
                self._shared_check()
            return self.model
        health = self._facts if self._facts and self._facts.ok else await self.examined()
        if not health.ok:
            raise ServerFailure(health.sentence, retry=health.late, late=health.late)
        return health.model

    async def examined(self) -> Health:
        """Do what ``check`` does, on the loop; callers at the same time share one check."""
        # Shielded: the check is shared, and a stopped turn must not cancel it for the others.
        return await asyncio.shield(self._shared_check())

    def _shared_check(self) -> asyncio.Task[Health]:
        """Return the running check, or start one. Runs on the loop, so there are never two at once."""
        if self._checking is None or self._checking.done():
            self._checking = asyncio.ensure_future(self._examine())
        return self._checking

    async def _examine(self) -> Health:
        health = await check_server(self.url, self.model, self._get)
        # A busy server that answers late still serves what it did.
        if not (health.late and self._facts is not None and self._facts.ok):
            self._facts = health
        return health

    async def _get(self, path: str) -> object:
        try:
            return await self._api.get(path)
        except ErrorResponse as response:
            raise failure_of(response, self.url, self.model or deferred("its models"), self._has_key, 0) from response


class _Answer:
    """One answer as it arrives: passed on piece by piece, the token counts kept for the end."""

    def __init__(self, api: ChatApi, put: Put) -> None:
        self.begun = False
        self.done = False
        self._finished = False
        self._usage = Usage(requests=1)
        self._model = ""
        self._api = api
        self._redactor = api.redactor()
        self._put = put

    def take(self, event: str) -> None:
        """
        :raises MalformedStream: it is not a chunk
        :raises ErrorResponse: it is an error
        """
        if event == END:
            self.done = True
            return
        chunk = parsed(event)
        if chunk.get("error") or chunk.get("object") == "error":
            raise self._api.error_in(chunk)
        self.begun = True
        self._model = self._model or self._redactor.text(model_of(chunk))
        delta = self._redactor.delta(delta_of(chunk))
        self._finished = self._finished or delta.finish is not None
        if delta.usage is not None:
            # Some servers send cumulative counts with every chunk.
            self._usage, delta = delta.usage, replace(delta, usage=None)
        if delta != Delta():
            self._put(delta)

    def end(self) -> None:
        """
        :raises ServerFailure: the answer is incomplete
        """
        if not self.begun:
            raise ServerFailure(
                deferred("{url} sent an empty answer. Its log says why.", url=self._api.url), retry=True
            )
        if not (self.done or self._finished):
            raise broken_off(self._api.url)
        rest = self._redactor.rest()
        if rest != Delta():
            self._put(rest)
        self._put(Delta(usage=self._usage, model=self._model))
