"""A person's browser as the server sees it: signed in, each submit under its own key until it is heard."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.soak.journal import Journal

TRY_AGAIN = 0.1
"""Seconds; the page waits longer, but the trial wants the server under load the moment it is back."""
EXPECTED = ("held", "not_allowed", "lease_lost", "version_moved")
"""What people may be refused with who work on the same items at once. Anything else is a fault."""

Json = dict[str, Any]


Words = tuple[str, ...]
"""The texts of a draft and its comment: what a person would miss."""

_KEPT_WHEN_REFUSED = ("version_moved", "lease_lost", "not_allowed")


def words_of(body: Mapping[str, Any]) -> Words:
    """The words of an autosave's body."""
    steps = body.get("steps", ())
    texts = [step.get("text") or step.get("explanation") or "" for step in steps if step["kind"] != "zoom"]
    return (*texts, body.get("comment", ""))


@dataclass
class Unsent:
    """The unsent text of one person on each item: by the version it was drawn from, the latest last."""

    kept: dict[int, dict[int, Words]] = field(default_factory=dict)

    def expected(self, item: int) -> tuple[int, Words] | None:
        """The version and the words that the item's answer must hold; None: nothing unsent."""
        kept = self.kept.get(item)
        return next(reversed(kept.items())) if kept else None

    def after(self, kind: str, what: Mapping[str, Any], refused: str | None = None) -> Unsent:
        """What is kept once this was done, or refused."""
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
        """The comment on that version was said; other words than the version's own are still unsent."""
        kept = dict(self.kept.get(what["item"], {}))
        unsent = kept.get(what["version"])
        if unsent is None:
            return self
        if unsent[:-1] == tuple(what["texts"]):
            del kept[what["version"]]
        else:
            kept[what["version"]] = (*unsent[:-1], "")
        return Unsent({**self.kept, what["item"]: kept})


class Talking:
    """One person's requests, journalled."""

    def __init__(self, http: httpx.AsyncClient, journal: Journal, initials: str) -> None:
        self.http = http
        self.journal = journal
        self.initials = initials
        self.unsent = Unsent()

    async def sign_in(self, password: str) -> bool:
        """Signed in once; the session has to last for the whole trial."""
        form = {"initials": self.initials, "password": password}
        answer = await self._heard("POST", "/sign-in", data=form)
        if answer.status_code != 303:
            self.journal.fault(f"could not sign in: {answer.status_code}")
        return answer.status_code == 303

    async def asks(self, what: str, path: str, **params: Any) -> httpx.Response:
        """A request that only reads; asked again where the answer was lost."""
        begun = time.perf_counter()
        answer = await self._heard("GET", path, params=params)
        self.journal.asked(what, 1000 * (time.perf_counter() - begun))
        if answer.status_code != 200:
            self.journal.fault(f"{path} answered {answer.status_code}: {answer.text:.200}")
        return answer

    async def says(self, what: str, path: str, body: Json) -> Json | None:
        """A request that leaves no fact behind (a lease, a look); None where it was refused as expected."""
        begun = time.perf_counter()
        answer = await self._heard("POST", path, json=body)
        self.journal.asked(what, 1000 * (time.perf_counter() - begun))
        return answer.json() if self._refusal(path, answer) is None else None

    async def submits(self, kind: str, path: str, body: Json, what: Json) -> Json | None:
        """An action that must be there exactly once whatever happens to the server meanwhile.

        :param what: what of it is held against the database
        :returns: what the server answered; None where it was refused
        """
        number = self.journal.intends(kind, what)
        while True:
            self.journal.sends(number)
            begun = time.perf_counter()
            try:
                answer = await self.http.post(path, json=body)
            except httpx.TransportError:
                await self._back_again()
                await self._finds_what_was_typed(kind, what)
                continue
            took = 1000 * (time.perf_counter() - begun)
            refused = self._refusal(path, answer)
            self.unsent = self.unsent.after(kind, what, refused)
            if refused is not None:
                self.journal.refused(number, refused, took)
                return None
            said: Json = answer.json()
            self.journal.hears(number, said, took)
            return said

    def finds(self, item: Json, before: Unsent, after: Unsent) -> None:
        """Hold an item's unsent text against what this person had typed.

        :param after: as it is if the action on its way had arrived
        """
        found = None
        if item["autosave"] is not None:
            found = item["autosave"]["base"], words_of(item["autosave"]["body"])
        wanted = [one.expected(item["id"]) for one in (before, after)]
        if found not in wanted:
            self.journal.fault(f"item {item['id']}: found unsent {found!r:.300}, expected {wanted!r:.300}")

    async def _finds_what_was_typed(self, kind: str, what: Json) -> None:
        if "item" in what:
            answer = await self.asks("item", f"/api/item/{what['item']}")
            if answer.status_code == 200:
                self.finds(answer.json(), self.unsent, self.unsent.after(kind, what))

    async def _heard(self, method: str, path: str, **more: Any) -> httpx.Response:
        while True:
            try:
                return await self.http.request(method, path, **more)
            except httpx.TransportError:
                await asyncio.sleep(TRY_AGAIN)

    async def _back_again(self) -> None:
        """Wait until the server answers; whoever was signed in still is."""
        answer = await self._heard("GET", "/api/me")
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
