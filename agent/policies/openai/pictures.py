"""Pictures that a server already has: they are named by UUID instead of sent again.

vLLM keeps the pictures of a request under the ``uuid`` of their part, and takes the part without its picture as long as
it has it. UUIDs are hashes of the content (``agent.trajectory.messages.DataUrl``), so no two pictures share one.
"""

from __future__ import annotations

import logging
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

_log = logging.getLogger(__name__)


def takes_uuids(server: str, version: str) -> bool:
    """Whether a server of that name and version (as in ``Health``) takes pictures by UUID."""
    try:
        return server == "vLLM" and Version(version) >= SINCE
    except InvalidVersion:
        return False


@dataclass(frozen=True)
class Request:
    """The messages of one request as they are sent, the UUIDs of all its pictures, and of those sent without bytes."""

    messages: Messages
    uuids: frozenset[str]
    named: frozenset[str]


class Pictures:
    """What one server has, as far as this process knows. Used by one thread, that of the event loop.

    A picture counts as there only after a request with its bytes was answered, so no conversation depends on a request
    that failed.
    """

    def __init__(self) -> None:
        self.is_used = True
        self._there: OrderedDict[str, None] = OrderedDict()
        self._refused: deque[bool] = deque(maxlen=WINDOW)

    def request(self, messages: Messages, whole: bool = False) -> Request:
        """Return the messages with a UUID in each picture's part, and without the bytes of those that are there.

        :param whole: send the bytes of all pictures
        """
        uuids: set[str] = set()
        named: set[str] = set()

        def part(found: Any) -> Any:
            url = _url_of(found)
            if url is None:
                return found
            uuids.add(url.uuid)
            if whole or url.uuid not in self._there:
                return {**found, "uuid": url.uuid}
            named.add(url.uuid)
            return {**found, "image_url": None, "uuid": url.uuid}

        def message(found: Mapping[str, Any]) -> Mapping[str, Any]:
            content = found.get("content")
            if not isinstance(content, list) or not any(_url_of(one) for one in content):
                return found
            return {**found, "content": [part(one) for one in content]}

        return Request([message(one) for one in messages], frozenset(uuids), frozenset(named))

    def answered(self, request: Request) -> None:
        """Take note that the server answered: it has all pictures of the request."""
        for uuid in request.uuids:
            self._there[uuid] = None
            self._there.move_to_end(uuid)
        while len(self._there) > MOST:
            self._there.popitem(last=False)
        if request.named:
            self._refused.append(False)

    def forget(self) -> None:
        """Forget what the server has: it may have been started again."""
        self._there.clear()

    def refused(self, request: Request, response: ErrorResponse, address: str) -> None:
        """Take note that the server refused named pictures, though it takes the request with all bytes.

        It no longer has them: its cache is full, or another of its processes has them. If it refuses often, or for
        another reason, pictures are no longer named.
        """
        for uuid in request.named:
            self._there.pop(uuid, None)
        self._refused.append(True)
        if not is_missing(response) or self._refused.count(True) > MOST_REFUSED * WINDOW:
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
