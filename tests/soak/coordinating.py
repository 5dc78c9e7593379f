"""A scripted coordinator: changes rules, adds people, imports and makes backups through the page's events.

These forms have no key. Whoever loses the answer fills the form in again, and so does this one: the second
time has to do no harm.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from typing import Any

import httpx

from tests.soak.talking import Json, Talking

RULES = ((2, 2, 2, 1), (2, 2, 2, 2), (1, 3, 2, 2), (2, 3, 2, 2), (1, 2, 2, 1))
"""Auditors, votes, to approve, to reject; each leaves a team of four able to decide."""
PASSWORD = "a first password"
EVERY = 1.0
"""Seconds between two changes; an event of the page takes about half a second as it is."""


class NotHeard(Exception):
    """An event whose end nobody was told."""


class Coordinator:
    """One coordinator at work until told to stop.

    :param rows: trajectories as JSON lines have them, from which imports are made
    """

    def __init__(self, talking: Talking, rows: list[Json], rng: random.Random) -> None:
        self.talking = talking
        self.rows = rows
        self.rng = rng
        self.events: dict[str, int] = {}
        self.done = 0
        self.rule = 0

    async def works(self, stop: asyncio.Event) -> None:
        page = (await self.talking.asks("page", "/config")).json()
        self.events = {one["api_name"]: one["id"] for one in page["dependencies"]}
        while not stop.is_set():
            changes = (self._rules, self._person, self._import, self._backup)
            change = self.rng.choices(changes, (9, 2, 8, 1))[0]
            await change()
            await asyncio.sleep(self.rng.uniform(0, 2 * EVERY))

    async def _rules(self) -> None:
        self.rule = (self.rule + self.rng.randint(1, len(RULES) - 1)) % len(RULES)
        names = ("auditors", "votes", "approve_at", "reject_at")
        rules = dict(zip(names, RULES[self.rule], strict=True))
        await self._until_told("rules", "keep", [False, *RULES[self.rule]], rules)

    async def _person(self) -> None:
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        self.done += 1
        initials = "Z" + "".join(letters[self.done // 26**place % 26] for place in (2, 1, 0))
        fields = [initials, f"Newcomer {self.done}", ["reviewer"], PASSWORD]
        await self._until_told("person", "add_person", fields, {"initials": initials})

    async def _import(self) -> None:
        self.done += 1
        names = [f"imported-{self.done}-{number}" for number in range(self.rng.randint(1, 4))]
        rows = [_named(self.rng.choice(self.rows), name) for name in names]
        lines = "\n".join(json.dumps(row) for row in rows)
        await self._until_told("import", "bring_in", lines, {"names": names})

    async def _backup(self) -> None:
        await self._until_told("backup", "one_more", [], {})

    async def _until_told(self, kind: str, event: str, fields: Any, what: Json) -> None:
        """Send the form until somebody says what became of it."""
        number = self.talking.journal.intends(kind, what)
        while True:
            self.talking.journal.sends(number)
            begun = time.perf_counter()
            try:
                data = [await self._uploaded(fields), "imported", False] if kind == "import" else fields
                said = await self._event(event, data)
            except (httpx.TransportError, NotHeard):
                await self.talking.asks("me", "/api/me")
                continue
            # A person whose answer was lost is told that the initials are taken: they are in.
            if 'role="alert"' in said and not (kind == "person" and "is taken" in said):
                self.talking.journal.fault(f"{kind} was refused: {said[:300]}")
            self.talking.journal.hears(number, {"said": said[:300]}, 1000 * (time.perf_counter() - begun))
            return

    async def _uploaded(self, lines: str) -> list[Json]:
        files = {"files": ("rows.jsonl", lines.encode(), "application/octet-stream")}
        answer = await self.talking.http.post("/gradio_api/upload", files=files)
        answer.raise_for_status()
        (path,) = answer.json()
        return [{"path": path, "orig_name": "rows.jsonl", "meta": {"_type": "gradio.FileData"}}]

    async def _event(self, name: str, data: list[Any]) -> str:
        """Run one event as the page does; the lines it put on the page.

        :raises NotHeard: the server went away before it told
        """
        http, page = self.talking.http, self.rng.randbytes(8).hex()
        sent = {"data": data, "fn_index": self.events[name], "session_hash": page}
        joined = await http.post("/gradio_api/queue/join", json=sent)
        if joined.status_code != 200:
            raise NotHeard(joined.text)
        async with http.stream("GET", "/gradio_api/queue/data", params={"session_hash": page}) as stream:
            async for line in stream.aiter_lines():
                told = json.loads(line.removeprefix("data:")) if line.startswith("data:") else {}
                if told.get("msg") == "process_completed":
                    return "\n".join(one for one in told["output"]["data"] if isinstance(one, str))
        raise NotHeard(name)


def _named(row: Json, name: str) -> Json:
    """The trajectory under another name of its spectrum, by which its item is known."""
    return {**row, "spectrum": {**row["spectrum"], "name": name}}
