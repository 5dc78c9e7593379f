"""One answer of a server as it arrives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from agent.conversation import Usage
from agent.language import deferred
from agent.policies.openai.client import ChatApi
from agent.policies.openai.errors import ServerFailure, broken_off
from agent.policies.openai.responses import ResponsesReader
from agent.policies.openai.stream import END, ChatReader, Delta, model_of, parsed

Put = Callable[[Delta], None]


class ArrivingAnswer:
    """One answer as it arrives: passed on piece by piece, token counts and the whole message kept for the end."""

    def __init__(self, api: ChatApi, put: Put, reader: ChatReader | ResponsesReader) -> None:
        self.begun = False
        self.done = False
        self._finished = False
        self._usage: Usage | None = None
        self._model = ""
        self._api = api
        self._redactor = api.redactor()
        self._put = put
        self._reader = reader

    def take(self, event: str) -> None:
        """
        :raises MalformedStream: it is not a chunk
        :raises ErrorResponse: it is an error
        """
        if event == END:
            self.done = True
            return
        chunk = parsed(event)
        failed = chunk.get("response") if chunk.get("type") == "response.failed" else None
        problem = failed if isinstance(failed, dict) else chunk
        if problem.get("error") or "error" in (problem.get("object"), problem.get("type")):
            raise self._api.error_in(problem)
        self.begun = True
        self._model = self._model or self._redactor.text(model_of(chunk))
        delta = self._redactor.delta(self._reader.read(chunk))
        self.done = self.done or self._reader.is_complete
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
        if not self._reader.has_answer:
            raise ServerFailure(
                deferred("{url} sent an answer without a choice, and no reason. Its log says why.", url=self._api.url),
                retry=True,
            )
        rest = self._redactor.rest()
        if rest != Delta():
            self._put(rest)
        message = self._redactor.value(self._reader.message())
        assert isinstance(message, dict)
        usage = self._usage or Usage(requests=1)
        self._put(Delta(usage=usage, model=self._model, message=message))
