"""HTTP client of one person: signed in, journalled, each submit repeated under its key until it is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.soak.journal import Journal

RETRY = 0.1
"""Seconds between tries. The page waits longer, but here the server shall be under load as soon as it is back."""
EXPECTED = ("held", "not_allowed", "lease_lost", "version_moved")
"""Refusals that are normal when several people work on the same items. Any other one is a fault."""

Json = dict[str, Any]


Words = tuple[str, ...]
"""The texts of a draft, and its comment last."""

_KEPT_WHEN_REFUSED = ("version_moved", "lease_lost", "not_allowed")


def words_of(body: Mapping[str, Any]) -> Words:
    """Return the texts of an autosave's body."""
    steps = body.get("steps", ())
    texts = [step.get("text") or step.get("explanation") or "" for step in steps if step["kind"] != "zoom"]
    return (*texts, body.get("comment", ""))


@dataclass
class Unsent:
    """Unsent text of one person per item, by the version it is based on, the latest last."""

    kept: dict[int, dict[int, Words]] = field(default_factory=dict)

    def expected(self, item: int) -> tuple[int, Words] | None:
        """Version and texts that the item's answer must have; None: nothing unsent."""
        kept = self.kept.get(item)
        return next(reversed(kept.items())) if kept else None

    def after(self, kind: str, what: Mapping[str, Any], refused: str | None = None) -> Unsent:
        """Return what is unsent after this action was done or refused."""
        if kind == "decide" and refused is None:
            return self._after_a_decision(what)
        if kind not in ("autosave", "discard", "version"):
            return self
        item, base = what["item"], what["base"]
        kept = dict(self.kept.get(item, {}))
        if (kind == "autosave" and refused is None) or (kind == "version" and refused in _KEPT_WHEN_REFUSED):
            kept.pop(base, None)
            kept[base] = tuple(what["words"])
        elif refused is None:
            kept.pop(base, None)
        return Unsent({**self.kept, item: kept})

    def _after_a_decision(self, what: Mapping[str, Any]) -> Unsent:
        """The comment on that version was sent; texts that differ from the version's are still unsent."""
        kept = dict(self.kept.get(what["item"], {}))
        unsent = kept.get(what["version"])
        if unsent is None:
            return self
        if unsent[:-1] == tuple(what["texts"]):
            del kept[what["version"]]
        else:
            kept[what["version"]] = (*unsent[:-1], "")
        return Unsent({**self.kept, what["item"]: kept})


class JournalledClient:
    """One person's requests, journalled."""

    def __init__(self, http: httpx.AsyncClient, journal: Journal, initials: str) -> None:
        self.http = http
        self.journal = journal
        self.initials = initials
        self.unsent = Unsent()

    async def sign_in(self, password: str) -> bool:
        """Sign in, once: the session has to last for the whole trial."""
        form = {"initials": self.initials, "password": password}
        answer = await self._request("POST", "/sign-in", data=form)
        if answer.status_code != 303:
            self.journal.fault(f"could not sign in: {answer.status_code}")
        return answer.status_code == 303

    async def get(self, what: str, path: str, **params: Any) -> httpx.Response:
        """Send a request that only reads; repeat it if the answer was lost."""
        begun = time.perf_counter()
        answer = await self._request("GET", path, params=params)
        self.journal.read_request(what, 1000 * (time.perf_counter() - begun))
        if answer.status_code != 200:
            self.journal.fault(f"{path} answered {answer.status_code}: {answer.text:.200}")
        return answer

    async def post(self, what: str, path: str, body: Json) -> Json | None:
        """Post a request that stores no action (a lease, a zoom); None if it was refused as expected."""
        begun = time.perf_counter()
        answer = await self._request("POST", path, json=body)
        self.journal.read_request(what, 1000 * (time.perf_counter() - begun))
        return answer.json() if self._refusal(path, answer) is None else None

    async def submit(self, kind: str, path: str, body: Json, what: Json) -> Json | None:
        """Send an action, which must be stored exactly once whatever happens to the server meanwhile.

        :param what: the part that is compared with the database
        :returns: the server's answer; None if it was refused
        """
        number = self.journal.begin(kind, what)
        while True:
            self.journal.sent(number)
            begun = time.perf_counter()
            try:
                answer = await self.http.post(path, json=body)
            except httpx.TransportError:
                await self._wait_for_server()
                await self._check_typed_text(kind, what)
                continue
            took = 1000 * (time.perf_counter() - begun)
            refused = self._refusal(path, answer)
            self.unsent = self.unsent.after(kind, what, refused)
            if refused is not None:
                self.journal.refused(number, refused, took)
                return None
            result: Json = answer.json()
            self.journal.answered(number, result, took)
            return result

    def check_unsent(self, item: Json, before: Unsent, after: Unsent) -> None:
        """Compare an item's unsent text with what this person typed.

        :param before: the unsent text without the action that is being sent
        :param after: the unsent text if that action has arrived
        """
        found = None
        if item["autosave"] is not None:
            found = item["autosave"]["base"], words_of(item["autosave"]["body"])
        expected = [unsent.expected(item["id"]) for unsent in (before, after)]
        if found not in expected:
            self.journal.fault(f"item {item['id']}: found unsent {found!r:.300}, expected {expected!r:.300}")

    async def _check_typed_text(self, kind: str, what: Json) -> None:
        if "item" in what:
            answer = await self.get("item", f"/api/v1/item/{what['item']}")
            if answer.status_code == 200:
                self.check_unsent(answer.json(), self.unsent, self.unsent.after(kind, what))

    async def _request(self, method: str, path: str, **more: Any) -> httpx.Response:
        while True:
            try:
                return await self.http.request(method, path, **more)
            except httpx.TransportError:
                await asyncio.sleep(RETRY)

    async def _wait_for_server(self) -> None:
        """Wait until the server answers; the person must still be signed in."""
        answer = await self._request("GET", "/api/v1/me")
        if answer.status_code != 200:
            self.journal.fault(f"signed out by a restart: {answer.status_code}")

    def _refusal(self, path: str, answer: httpx.Response) -> str | None:
        if answer.status_code == 200:
            return None
        try:
            kind = str(answer.json()["kind"])
        except (ValueError, KeyError):
            kind = f"status {answer.status_code}"
        if kind not in EXPECTED:
            self.journal.fault(f"{path} was refused ({kind}): {answer.text:.300}")
        return kind
