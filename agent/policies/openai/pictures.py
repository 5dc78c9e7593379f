"""Pictures that a server already has: they are named by UUID instead of sent again.

vLLM keeps the pictures of a request under the ``uuid`` of their part, and takes the part without its picture as long as
it has it. UUIDs are hashes of the content (``agent.trajectory.messages.DataUrl``), so no two pictures share one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from packaging.version import InvalidVersion, Version

from agent.policies.openai.errors import ErrorResponse
from agent.trajectory.messages import DataUrl

Messages = Sequence[Mapping[str, Any]]

SINCE = Version("0.22")
"""vLLM from which pictures are named: the oldest that ``spec-o3 serve`` supports."""
MOST = 8192
"""Pictures remembered per server, the latest used; vLLM's cache of 4 GiB holds 400 to 900 of ours."""
WINDOW = 50
"""Requests with named pictures over which the refused ones are counted."""
MOST_REFUSED = 0.2
"""Share of these requests; beyond it, naming costs more than it saves, and ends for this server."""
TAKEN_SECONDS = 0.5
"""After so many seconds a server usually has the pictures of a request, though it has not answered it."""
LONGEST_TAKEN_SECONDS = 8.0

_log = logging.getLogger(__name__)


def takes_uuids(server: str, version: str) -> bool:
    """Whether a server of that name and version (as in ``Health``) takes pictures by UUID."""
    try:
        return server == "vLLM" and Version(version) >= SINCE
    except InvalidVersion:
        return False


@dataclass(frozen=True)
class Request:
    """The messages of one request as they are sent, and UUIDs of its pictures: of all, of those sent without bytes, and
    of those among them that the server has only from a request that it has not answered.
    """

    messages: Messages
    uuids: frozenset[str]
    named: frozenset[str]
    expected: frozenset[str]


@dataclass(eq=False)
class _Sending:
    """A request with bytes of pictures that is not answered: when it was sent, and its end."""

    since: float
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Pictures:
    """What one server has, as far as this process knows. Used by one thread, that of the event loop.

    A picture counts as there after a request with its bytes was answered. One that is being sent is waited for
    (``wait``), so that samples of a spectrum that begin together send it once.
    """

    def __init__(self) -> None:
        self.is_used = True
        self._on_server: OrderedDict[str, None] = OrderedDict()
        self._refused: deque[bool] = deque(maxlen=WINDOW)
        self._sending: dict[str, _Sending] = {}
        self._taken_seconds = TAKEN_SECONDS

    async def wait(self, messages: Messages) -> None:
        """Wait until the server has the pictures that other requests are sending: until those are answered, or for the
        time in which it usually has taken them.
        """
        now = asyncio.get_running_loop().time
        uuids = [url.uuid for url in _urls_of(messages)]

        def awaited() -> _Sending | None:
            missing = (self._sending.get(uuid) for uuid in uuids if uuid not in self._on_server)
            return next(
                (picture for picture in missing if picture and now() < picture.since + self._taken_seconds), None
            )

        # Again after each: if a request failed, one of those that wait for it sends the bytes, and the others wait.
        while (picture := awaited()) is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(picture.since + self._taken_seconds):
                    await picture.ended.wait()

    @contextmanager
    def sending(self, request: Request) -> Iterator[None]:
        """Within the block the request is sent and answered."""
        mine = _Sending(asyncio.get_running_loop().time())
        for uuid in request.uuids - request.named:
            self._sending.setdefault(uuid, mine)
        try:
            yield
        finally:
            for uuid in request.uuids:
                if self._sending.get(uuid) is mine:
                    del self._sending[uuid]
            mine.ended.set()

    def request(self, messages: Messages, whole: bool = False) -> Request:
        """Return the messages with a UUID in each picture's part, and without the bytes of those that are there.

        :param whole: send the bytes of all pictures
        """
        uuids: set[str] = set()
        named: set[str] = set()
        expected: set[str] = set()

        def part(sent_part: Any) -> Any:
            url = _url_of(sent_part)
            if url is None:
                return sent_part
            uuids.add(url.uuid)
            if whole or (url.uuid not in self._on_server and url.uuid not in self._sending):
                return {**sent_part, "uuid": url.uuid}
            named.add(url.uuid)
            if url.uuid not in self._on_server:
                expected.add(url.uuid)
            return {**sent_part, "image_url": None, "uuid": url.uuid}

        def message(sent_part: Mapping[str, Any]) -> Mapping[str, Any]:
            if not any(_urls_of([sent_part])):
                return sent_part
            return {**sent_part, "content": [part(entry) for entry in sent_part["content"]]}

        sent = [message(entry) for entry in messages]
        return Request(sent, frozenset(uuids), frozenset(named), frozenset(expected))

    def answered(self, request: Request) -> None:
        """Take note that the server answered: it has all pictures of the request."""
        for uuid in request.uuids:
            self._on_server[uuid] = None
            self._on_server.move_to_end(uuid)
        while len(self._on_server) > MOST:
            self._on_server.popitem(last=False)
        if request.named:
            self._refused.append(False)

    def forget(self) -> None:
        """Forget what the server has: it may have been started again."""
        self._on_server.clear()

    def refused(self, request: Request, response: ErrorResponse, address: str) -> None:
        """Take note that the server refused named pictures, though it takes the request with all bytes.

        It no longer has them: its cache is full, or another of its processes has them; or it did not have them yet. If
        it refuses often, or for another reason, pictures are no longer named.
        """
        for uuid in request.named:
            self._on_server.pop(uuid, None)
        if request.expected and is_missing(response):
            self._taken_seconds = min(2 * self._taken_seconds, LONGEST_TAKEN_SECONDS)
            return
        self._refused.append(True)
        # vLLM answers 500 also where the two halves of its cache of pictures disagree for a moment.
        another_reason = response.status != 500 and not is_missing(response)
        if another_reason or self._refused.count(True) > MOST_REFUSED * WINDOW:
            self.is_used = False
            _log.debug("%s: pictures are sent with each turn: %s", address, response.message)


def is_missing(response: ErrorResponse) -> bool:
    """Whether the server says that it does not have a named picture."""
    return response.status in (400, 422) and "cache miss" in response.message.lower()


def may_be_missing(response: ErrorResponse) -> bool:
    """Whether a named picture can be the reason of an error: vLLM without a cache for pictures fails inside."""
    return response.status in (400, 422, 500)


def _url_of(part: Any) -> DataUrl | None:
    """Return the address of a picture of ours; None for any other part."""
    image = part.get("image_url") if isinstance(part, Mapping) else None
    url = image.get("url") if isinstance(image, Mapping) else None
    return url if isinstance(url, DataUrl) else None


def _urls_of(messages: Messages) -> Iterator[DataUrl]:
    """Yield the addresses of all pictures of ours."""
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if (url := _url_of(part)) is not None:
                yield url
