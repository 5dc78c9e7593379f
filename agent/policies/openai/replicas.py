"""Several servers with one model as one: the choice of a server, its health, and another try elsewhere.

The beginning of a conversation chooses the server, so that all its turns, and all samples of one spectrum, find their
earlier turns in that server's prefix cache.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from agent.conversation import PolicyError, Stop
from agent.language import deferred, joined
from agent.policies import Sampling
from agent.policies.openai import client
from agent.policies.openai.endpoint import Endpoint, ToolUse
from agent.policies.openai.errors import ContextExceeded, ErrorResponse, RequestLimits, ServerFailure, broken_off
from agent.policies.openai.health import Health, status_sentence
from agent.policies.openai.route import Route
from agent.policies.openai.stream import Delta

SLACK = 0.25
"""A server takes a new conversation as long as it has at most (1 + ``SLACK``) times the mean number of running turns
plus ``EXTRA``."""
EXTRA = 2
LONGEST_PAUSE = 10.0
"""Longest pause in seconds between two health checks of a server that is out."""
SILENT_SECONDS = 60.0
"""Seconds without a piece from a server that has turns to write, after which its health is checked, every
``PULSE_SECONDS``. If that fails ``SILENCE_CHECKS`` times in a row, it hangs, or its machine is gone."""
SILENCE_CHECKS = 3
PULSE_SECONDS = 15.0
MOST_LOST = 3
"""Servers that may end at one turn; then the turn is taken to be the reason, and fails."""
REMEMBERED = 50_000
"""Conversations whose last server is remembered, about 10 MB."""
NAMED = 4
"""Servers whose problems are quoted in a sentence."""
_GATEWAY = (502, 503, 504)
"""Answers of a proxy whose server is gone, and of a server that is starting or stopping."""


def open_endpoint(
    urls: Sequence[str], model: str | None = None, api_key: str | None = None, limits: RequestLimits | None = None
) -> Endpoint | Replicas:
    """Return the client for the servers at these addresses, which serve one model."""
    if len(urls) == 1:
        return Endpoint(urls[0], model, api_key, limits)
    return Replicas(urls, model, api_key, limits)


@dataclass(eq=False)
class _Replica:
    """One of the servers. ``problem``: why it is out, None while it is used; ``running``: the turns of this process
    there, each with what stops it; ``heard``: when it last gave a sign of life; ``losses``: how often it was taken out
    since it last wrote a turn; ``watched``: its return is being waited for.
    """

    endpoint: Endpoint
    problem: str | None = None
    running: set[Stop] = field(default_factory=set)
    heard: float = 0.0
    losses: int = 0
    watched: bool = False


class Replicas:
    """Several servers with one model and one key, with the interface of ``Endpoint``. Usable from many threads.

    A server that cannot be reached is out at once: its turns are requested elsewhere, and it is used again once its
    health check succeeds. A turn that has begun to arrive is not requested again.

    :param urls: where the APIs are, each with its ``/v1``
    :param model: None: the first model of the first server that answers; a server without it is not used
    :param limits: for one turn, at all servers together
    """

    def __init__(
        self,
        urls: Sequence[str],
        model: str | None = None,
        api_key: str | None = None,
        limits: RequestLimits | None = None,
    ) -> None:
        self.limits = limits or RequestLimits()
        self.model = model
        one_try = replace(self.limits, tries=1)
        self._replicas = tuple(_Replica(Endpoint(url, model, api_key, one_try)) for url in urls)
        self.url = self._replicas[0].endpoint.url
        self._facts: Health | None = None
        self._last: Health | None = None
        self._first_check = threading.Lock()
        self._tool_use: ToolUse | None = None
        self._lock = threading.Lock()
        self._answered: OrderedDict[bytes, _Replica] = OrderedDict()
        self._pulsing = False

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of the parameters that a server rejected and that it is no longer sent."""
        return tuple(dict.fromkeys(name for one in self._replicas for name in one.endpoint.left_out))

    def check(self) -> Health:
        """Check all servers at once, in a few seconds; never raises. It is well if one of them is."""
        return client.run_coroutine(self._check_all())

    def facts(self) -> Health:
        """Return what is recorded with each trace: the health of the first server, in the order of the addresses, that
        answered the first check. It stays the same whichever server writes a turn, but for a version that this server
        did not tell: then it is that of the next one that does.
        """
        with self._first_check:
            if self._last is None:
                self.check()
        return self._facts or self._last or Health(False, "")

    def tool_use(
        self, tools: Sequence[Mapping[str, Any]], stop: Stop | None = None, join: bool = True
    ) -> ToolUse | None:
        """Return what ``Endpoint.tool_use`` finds at the first server that answers; it applies to all of them."""
        self.facts()
        if self._tool_use is None:
            used = next((one for one in self._replicas if one.problem is None), self._replicas[0])
            self._tool_use = used.endpoint.tool_use(tools, stop, join)
        return self._tool_use

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
        """Yield one turn as ``Endpoint.stream`` does, from the server of this conversation, else from another one.

        :raises PolicyError: no server wrote it, or it broke off after its first piece
        """
        self.facts()
        route = Route.of(messages)
        failed: set[_Replica] = set()
        failure: ServerFailure | None = None
        since, tried, lost = time.monotonic(), 0, 0
        while not stop.is_set:
            own = Stop()
            one = self._taken(route, failed, own)
            if one is None:
                tried += 1
                none_left = all(other.problem is not None for other in self._replicas)
                if tried >= self.limits.tries:
                    problems = str(failure) if failure and not none_left else self._none_usable()
                    seconds = time.monotonic() - since
                    raise PolicyError(
                        deferred(
                            "{problems} (Tried {tried} times in {seconds:.0f} s.)",
                            problems=problems,
                            tried=tried,
                            seconds=seconds,
                        )
                    ) from failure
                if stop.wait(self.limits.before_next(tried, failure.after if failure else None)):
                    return
                if none_left:
                    self.check()
                failed.clear()
                continue
            begun = complete = False
            try:
                pieces = one.endpoint.stream(
                    messages, sampling, own, tools, response_format, whole=whole, template=template
                )
                with stop.waking(own.set), closing(pieces):
                    for delta in pieces:
                        one.heard = time.monotonic()
                        begun = begun or bool(delta.text or delta.reasoning or delta.calls)
                        # The token counts come last.
                        complete = complete or delta.usage is not None
                        yield delta
                if complete or not own.is_set:
                    self._remember(route, one)
                    return
                if begun and not stop.is_set:
                    raise broken_off(one.endpoint.url)
                # Stopped, which ends the loop, or lost before its first piece.
                failed.add(one)
            except PolicyError as error:
                cause = error if isinstance(error, ServerFailure) else error.__cause__
                if not isinstance(cause, ServerFailure) or not self._elsewhere(one, cause) or begun:
                    raise
                failure = cause
                failed.add(one)
                lost += cause.how == "lost"
                if lost >= MOST_LOST:
                    raise ServerFailure(
                        deferred("{lost} servers ended at this turn, the last one: {cause}", lost=lost, cause=cause)
                    ) from cause
            finally:
                with self._lock:
                    one.running.discard(own)

    def _taken(self, route: Route, failed: Collection[_Replica], own: Stop) -> _Replica | None:
        """Choose the server of a turn and count the turn as running there; None if there is none to ask now.

        It is the one that wrote the conversation's last turn. A new conversation goes to the one that rendezvous
        hashing gives, unless that has too many turns already: then to the one with the fewest.
        """
        with self._lock:
            used = [one for one in self._replicas if one.problem is None]
            free = [one for one in used if one not in failed]
            if not free:
                return None
            before = self._answered.get(route.before) if route.before else None
            if before in free:
                chosen = before
            else:
                free.sort(key=lambda one: route.weight(one.endpoint.url), reverse=True)
                chosen = free[0]
                most = (1 + SLACK) * sum(len(one.running) for one in used) / len(used) + EXTRA
                if len(chosen.running) > most:
                    chosen = min(free, key=lambda one: len(one.running))
            assert chosen is not None
            if not chosen.running:
                chosen.heard = time.monotonic()
            chosen.running.add(own)
            if not self._pulsing:
                self._pulsing = True
                asyncio.run_coroutine_threadsafe(self._pulse(), client.loop())
            return chosen

    def _remember(self, route: Route, one: _Replica) -> None:
        """Record that ``one`` has written this turn."""
        with self._lock:
            one.losses = 0
            self._answered[route.now] = one
            self._answered.move_to_end(route.now)
            while len(self._answered) > REMEMBERED:
                self._answered.popitem(last=False)

    def _elsewhere(self, one: _Replica, failure: ServerFailure) -> bool:
        """Return whether another server may write the turn that ``one`` did not; ``one`` may be out afterwards."""
        if isinstance(failure, ContextExceeded):
            return False
        if not failure.retry:
            # Is the request wrong, or the server?
            client.run_coroutine(self._check_one(one))
            return one.problem is not None
        answer = failure.__cause__
        status = answer.status if isinstance(answer, ErrorResponse) else 0
        if not status or status in _GATEWAY:
            self._lose(one, str(failure))
        elif status >= 500:
            asyncio.run_coroutine_threadsafe(self._check_one(one), client.loop())
        return True

    def _lose(self, one: _Replica, problem: str) -> None:
        """Take a server out and wait for its return in the background."""
        with self._lock:
            # Many turns may report one loss.
            one.losses += one.problem is None
            one.problem = problem
            if one.watched:
                return
            one.watched = True
        asyncio.run_coroutine_threadsafe(self._watch(one), client.loop())

    async def _watch(self, one: _Replica) -> None:
        """Check the health of a server with growing pauses until it is used again."""
        limits = replace(self.limits, longest_pause=min(LONGEST_PAUSE, self.limits.longest_pause))
        # A server that answers, but not with a turn, comes back less and less often.
        checked = one.losses - 1
        while True:
            await asyncio.sleep(limits.before_next(checked) if checked else 0.0)
            await self._check_one(one)
            with self._lock:
                if one.problem is None:
                    one.watched = False
                    return
            checked += 1

    async def _pulse(self) -> None:
        """As long as turns are written, take out servers that hang, so that their turns are requested elsewhere."""
        while True:
            await asyncio.sleep(PULSE_SECONDS)
            with self._lock:
                busy = [one for one in self._replicas if one.running]
                self._pulsing = bool(busy)
            if not busy:
                return
            silent = (one for one in busy if time.monotonic() - one.heard > SILENT_SECONDS)
            await asyncio.gather(*(self._check_silent(one) for one in silent))

    async def _check_silent(self, one: _Replica) -> None:
        for _ in range(SILENCE_CHECKS):
            health = await _health(one)
            if health.ok:
                one.heard = time.monotonic()
                return
        self._lose(one, health.sentence)
        with self._lock:
            turns = tuple(one.running)
        for turn in turns:
            turn.set()

    async def _check_all(self) -> Health:
        found = await asyncio.gather(*(_health(one) for one in self._replicas))
        for one, health in zip(self._replicas, found, strict=True):
            self._judge(one, health)
        self._last = self._summary(found)
        return self._last

    async def _check_one(self, one: _Replica) -> None:
        self._judge(one, await _health(one))

    def _judge(self, one: _Replica, health: Health) -> None:
        """Use a server, or take it out, after a health check. The first good one settles which model is used. One that
        is writing turns and only answers late stays.
        """
        problem = None if health.ok else health.sentence
        with self._lock:
            if health.late and one.problem is None and one.running and time.monotonic() - one.heard < SILENT_SECONDS:
                return
            if health.ok and self._facts is None:
                self._facts = health
                for other in self._replicas:
                    other.endpoint.model = health.model
            elif health.ok and self._facts is not None and health.model != self._facts.model:
                problem = deferred(
                    "{url} serves {model}, and the others {model2}: all addresses of a server must serve one "
                    "model. Correct urls in servers.toml, or set model there.",
                    url=one.endpoint.url,
                    model=health.model,
                    model2=self._facts.model,
                )
            elif health.version and self._facts is not None and not self._facts.version:
                self._facts = health  # the first one did not answer the request for its version
            if problem is None or one.watched:
                one.problem = problem
                return
        self._lose(one, problem)

    def _summary(self, found: Sequence[Health]) -> Health:
        """Return the health of all of them as one."""
        with self._lock:
            facts = self._facts
            used = [health for one, health in zip(self._replicas, found, strict=True) if one.problem is None]
        if not used or facts is None:
            return Health(False, self._none_usable(), self.model or "", addresses=f"0 of {len(found)}")
        running, waiting = _total(health.running for health in used), _total(health.waiting for health in used)
        server = f"{facts.server} {facts.version}".strip() or deferred("The server")
        addresses = f"{len(used)} of {len(found)}"
        serves = deferred(
            "{server} serves {model} at {addresses} addresses", server=server, model=facts.model, addresses=addresses
        )
        sentence = status_sentence(serves, facts.context, running, waiting)
        if problems := self._problems():
            sentence = deferred("{sentence} Not used: {problems}", sentence=sentence, problems=problems)
        return replace(facts, sentence=sentence, running=running, waiting=waiting, addresses=addresses)

    def _none_usable(self) -> str:
        return deferred(
            "None of the {n_replicas} addresses of this server can be used. {problems}",
            n_replicas=len(self._replicas),
            problems=self._problems(),
        )

    def _problems(self) -> str:
        with self._lock:
            problems = [one.problem for one in self._replicas if one.problem is not None]
        more = [deferred("And {n} more.", n=len(problems) - NAMED)] if len(problems) > NAMED else []
        return joined((*problems[:NAMED], *more), " ")


async def _health(one: _Replica) -> Health:
    """Check the health of a server. An error of ours is its problem, too: it must not end a wait for its return."""
    try:
        return await one.endpoint.examined()
    except Exception as error:
        return Health(False, f"{one.endpoint.url}: {type(error).__name__}: {error}")


def _total(counts: Iterable[int | None]) -> int | None:
    """Return the sum of those that are known; None if none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
