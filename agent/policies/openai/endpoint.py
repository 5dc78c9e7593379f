"""One OpenAI-compatible server: turns from it, streamed or whole, with retries, time limits and cancellation.

A turn is retried only before its first piece arrived: what was shown is never taken back.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from agent.conversation import Stop
from agent.language import deferred
from agent.policies import Sampling
from agent.policies.openai import client
from agent.policies.openai.answer import ArrivingAnswer
from agent.policies.openai.client import ChatApi
from agent.policies.openai.errors import (
    ErrorResponse,
    RequestLimits,
    ServerFailure,
    StreamsOnly,
    UnsupportedParameter,
    failure_of,
)
from agent.policies.openai.health import Health, check_server
from agent.policies.openai.history import PARTS, Habits
from agent.policies.openai.pictures import Pictures, may_be_missing, takes_uuids
from agent.policies.openai.probe import SECONDS, ProbeResult, probed
from agent.policies.openai.responses import PATH, ResponsesReader, request
from agent.policies.openai.route import session
from agent.policies.openai.stream import CallPiece, ChatReader, Delta, MalformedStream
from agent.policies.yes_no import LISTED

__all__ = ["CallPiece", "Delta", "Endpoint", "RequestLimits"]

LINGER = 0.5
"""Seconds to wait for the end of an answer after [DONE], so that the connection can be reused; if the server
keeps it open for longer, it is closed."""
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

Put = Callable[[Delta], None]
Body = dict[str, Any]


class Endpoint:
    """A server's chat API, usable from many threads at once. No error message contains the key.

    :param url: where the API is, with its ``/v1``
    :param model: None: the first that it serves
    :param habits: how its API is used first; its refusals change it
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        api_key: str | None = None,
        limits: RequestLimits | None = None,
        habits: Habits | None = None,
    ) -> None:
        self.url = url.rstrip("/")
        self.model = model
        self.limits = limits or RequestLimits()
        self._has_key = bool(api_key)
        self._api = ChatApi(self.url, api_key, self.limits.connect)
        self._checking: asyncio.Task[Health] | None = None
        self._facts: Health | None = None
        self._probes: dict[str, asyncio.Task[ProbeResult]] = {}  # by model and settings
        self._pictures = Pictures()
        self._lock = threading.Lock()
        self._has_responses = False  # it has answered by this API
        self._broken_responses = 0
        self.habits = habits or Habits()  # replaced, never modified: other threads read it

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the parameters that the server rejected and that are no longer sent."""
        rejected = tuple(
            name for name, now in self.habits.instead.items() if now is None and name not in ("stream_options", *PARTS)
        )
        return rejected + (("seed",) if self.habits.api == "responses" else ())

    @property
    def settings(self) -> dict[str, Any]:
        """Return how the server is used, as far as it is not the usual way, for ``Drafter.settings``."""
        habits = self.habits
        used = {"api": habits.api, "picture_turn": habits.picture_turn}
        return {name: value for name, value in used.items() if value not in ("chat", "user")}

    def check(self) -> Health:
        """Check whether it answers, what it serves and how busy it is, in a few seconds; never raises."""
        return client.run_coroutine(self.examined())

    def facts(self) -> Health:
        """Return its last known health, checked now if it never was: for what seldom changes, such as versions."""
        return self._facts or self.check()

    def probe(
        self,
        tools: Sequence[Mapping[str, Any]],
        sampling: Sampling,
        stop: Stop | None = None,
        seconds: float | None = SECONDS,
        join: bool = True,
    ) -> ProbeResult | None:
        """Find out whether the model sees tools and pictures, by a few short requests, once per model and settings.

        Not for the thread of the loop.

        :param tools: the same in all calls
        :param seconds: how long to wait for it; None: as long as for a turn
        :param join: wait for requests that another caller began
        :return: None if there was no answer in time, or the server refuses such requests, or ``stop`` was set; the
            next call tries again
        :raises PolicyError: only if ``seconds`` is None: the server does not answer
        """
        try:
            return client.run_until(self._probed(tools, sampling, seconds, join), stop or Stop())
        except ServerFailure as failure:
            if seconds is None and failure.retry:
                raise
            return None

    @property
    def blindness(self) -> str:
        """The sentence for a model that a probe showed to ignore pictures."""
        return deferred(
            "{model} at {where} does not see pictures: the server counts no tokens for one, and a number in it was not "
            "read. Choose a vision model, and load its vision part too (llama.cpp: --mmproj).",
            model=self.model or self.facts().model,
            where=self.url,
        )

    async def _probed(
        self, tools: Sequence[Mapping[str, Any]], sampling: Sampling, seconds: float | None, join: bool
    ) -> ProbeResult | None:
        settings = [sampling.reasoning_effort, dict(sampling.extra_body)]
        key = json.dumps([self.model, bool(tools), settings], sort_keys=True)
        probe = self._probes.get(key)
        if probe is None or (probe.done() and (probe.cancelled() or probe.exception())):
            probe = self._probes[key] = asyncio.ensure_future(self._probe(tools, sampling))
            # Those who wait for it may all have been stopped: then nobody else takes its exception.
            probe.add_done_callback(lambda done: done.cancelled() or done.exception())
        elif not join and not probe.done():
            return None
        with suppress(TimeoutError):
            # Shielded: it is shared, and a stopped turn must not cancel it for the others.
            return await asyncio.wait_for(asyncio.shield(probe), seconds)
        return None

    async def _probe(self, tools: Sequence[Mapping[str, Any]], sampling: Sampling) -> ProbeResult:
        # With all parameters of a turn: what the server does not take is known before the first trace.
        parameters = _parameters(sampling)

        async def send(body: Body) -> tuple[int, str]:
            counted, text = 0, ""

            def put(delta: Delta) -> None:
                nonlocal counted, text
                text += delta.text
                counted = delta.usage.prompt if delta.usage is not None else counted

            await self._turn(parameters | body, put)
            return counted, text

        await self._model()
        facts = self._facts or await self.examined()
        result = await probed(send, tools, facts.server)
        if self.habits.api == "responses":
            # The counts of two APIs cannot be compared.
            result = await probed(send, tools, facts.server)
        return result

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
            **_parameters(sampling),
        }
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

        tried, waited = 0, 0.0
        while True:
            try:
                await self._try(body, forward)
                return
            except ServerFailure as failure:
                if begun or not failure.retry:
                    raise
                tried += 1
                pause = self.limits.before_next(tried, failure.after)
                waited += pause
                # A server that names a time will answer then: only the time is limited.
                is_last = tried >= self.limits.tries and (failure.after or 0.0) < 1.0
                if is_last or waited > self.limits.longest_wait:
                    raise self._given_up(failure, tried, time.monotonic() - since) from (failure.__cause__ or failure)
                await asyncio.sleep(pause)

    def _given_up(self, failure: ServerFailure, tried: int, seconds: float) -> ServerFailure:
        words = {"failure": failure, "tried": tried, "seconds": seconds, "after": failure.after or 0.0}
        if failure.after and failure.after > self.limits.longest_pause:
            sentence = deferred(
                "{failure} (Tried {tried} times in {seconds:.0f} s; the server wants {after:.0f} s before the next "
                "try.)",
                **words,
            )
        else:
            sentence = deferred("{failure} (Tried {tried} times in {seconds:.0f} s.)", **words)
        return ServerFailure(sentence, retry=True, after=failure.after)

    async def _try(self, body: Body, put: Put) -> None:
        """Send one request and read its answer; repeat it at once in another way if the server takes it only so.

        :raises ServerFailure: there is no answer, or it is incomplete
        """
        model = await self._model()
        while True:
            habits = self.habits
            is_responses = habits.api == "responses"
            sent = habits.parameters(body) | {"model": model, "messages": habits.arranged(body["messages"])}
            try:
                await self._answer_with_pictures(sent, put, is_responses)
                self._has_responses = self._has_responses or is_responses
                return
            except ErrorResponse as response:
                if not self._adapted(response, sent, habits, put):
                    raise await self._failure(response, sent) from response
            except StreamsOnly:
                with self._lock:
                    self.habits = replace(self.habits, streams=True)
            except ServerFailure:
                if not is_responses or self._has_responses:
                    raise
                # A server that only refers to this API may break at it.
                self._broken_responses += 1
                if self._broken_responses < 2:
                    raise
                with self._lock:
                    self.habits = replace(self.habits, api="chat", has_responses=False)

    def _adapted(self, response: ErrorResponse, sent: Body, habits: Habits, put: Put) -> bool:
        """Change the habits by a refusal of a request that was sent with ``habits``; return whether to send it again.

        A request that was sent with earlier habits teaches nothing: another one has changed them meanwhile.
        """
        with self._lock:
            if self.habits is not habits:
                return True
            try:
                response.check_parameters([name for name in OPTIONAL if name in sent])
                changed = habits.after(response, sent["messages"])
            except UnsupportedParameter as rejected:
                changed = habits.without(rejected.name)
            if changed is None:
                return False
            self.habits = changed
        new = [name for name, now in changed.instead.items() if now is None and name not in ("stream_options", *PARTS)]
        for name in new:
            if habits.instead.get(name, name) is not None:
                put(Delta(remark=f"the server does not take {name}: it was left out"))
        return True

    async def _answer_with_pictures(self, body: Body, put: Put, is_responses: bool) -> None:
        """Send one request and read its answer. Pictures that the server has are named by UUID, if it takes them."""
        pictures = self._pictures
        # Also the first turn has to know: vLLM finds a picture with another name, or none, not in its prefix cache.
        facts = self._facts or await self.examined()
        if is_responses:
            await self._answer(body, put, is_responses=True)
            return
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

    async def _answer(self, body: Body, put: Put, is_responses: bool = False) -> None:
        answer = ArrivingAnswer(self._api, put, ResponsesReader() if is_responses else ChatReader())
        route = session(body["messages"])
        now = asyncio.get_running_loop().time
        first = self.limits.first if body["stream"] else self.limits.whole
        try:
            async with (
                asyncio.timeout(first) as deadline,
                aclosing(
                    self._api.events(request(body), route, PATH) if is_responses else self._api.events(body, route)
                ) as events,
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

    def _too_slow(self, answer: ArrivingAnswer, first: float) -> ServerFailure:
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


def _parameters(sampling: Sampling) -> Body:
    """Return the sampling as fields of a request."""
    parameters = sampling.settings() | dict(sampling.extra_body)
    parameters.pop("extra_body", None)
    if sampling.logprobs:
        parameters["top_logprobs"] = LISTED
    return parameters
