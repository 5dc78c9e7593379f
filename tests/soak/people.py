"""Scripted people: a reviewer and a coordinator; ``python -m tests.soak.people`` is a process of them."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.soak.journal import Journal
from tests.soak.served import ROOT
from tests.soak.talking import Json, Talking, words_of

STATES = ("screening", "revision", "returned", "audit", "vote", "adjudication")
WEIGHTS = {
    "screening": {"keep": 19, "reject": 1},
    "revision": {"submit": 16, "reject": 1, "": 3},
    "audit": {"pass": 8, "return": 2, "": 1},
    "vote": {"approve": 8, "reject": 2, "abstain": 1},
    "adjudication": {"approve": 3, "reject": 2, "return": 3},
}
"""How often each decision is made; "" leaves the item without one."""
TEXT = "The continuum is blue and the Balmer lines are in absorption; the wings reach beyond ±25 Å. "


@dataclass
class Habits:
    """How somebody works.

    :param pause: seconds between two things, from and to
    :param looks: fetch everything the page paints, as a person's browser does
    :param avoid: items left to others
    :param scores: take part in open blind sessions
    """

    pause: tuple[float, float] = (0.0, 0.05)
    looks: bool = False
    avoid: Collection[int] = ()
    scores: bool = False


class Reviewer:
    """One person at work until told to stop."""

    def __init__(self, talking: Talking, habits: Habits, rng: random.Random) -> None:
        self.talking = talking
        self.habits = habits
        self.rng = rng
        self.said = 0
        self.at = 0

    async def works(self, stop: asyncio.Event) -> None:
        """Item after item; what was begun is finished before it stops."""
        tokens: list[str] = []
        if self.habits.scores:
            work = (await self.talking.asks("blind work", "/api/blind/work")).json()
            tokens = [place["token"] for session in work for place in session["places"]]
        while not stop.is_set():
            if tokens and self.rng.random() < 0.15:
                await self._scores(self.rng.choice(tokens))
            elif (item := await self._next_item()) is not None:
                await self._works_on(item)
            else:
                self.at = 0
                await self._thinks()
        await self._finds_everything_unsent()

    async def _finds_everything_unsent(self) -> None:
        """At the end, whatever was typed and not sent is there, on every item."""
        unsent = self.talking.unsent
        for number in unsent.kept:
            answer = await self.talking.asks("item", f"/api/item/{number}")
            if answer.status_code == 200:
                self.talking.finds(answer.json(), unsent, unsent)

    # ---- which item

    async def _next_item(self) -> int | None:
        asked: Json = {"mine": "true", "limit": 20, "after": self.at}
        if self.rng.random() < 0.7:
            # All begin somewhere else and go on from there, as people do whom leases keep apart.
            asked["state"] = self.rng.choice(STATES)
        rows = (await self.talking.asks("queue", "/api/queue", **asked)).json()["rows"]
        free = [r["id"] for r in rows if not r["blind"] and r["id"] not in self.habits.avoid]
        if not free:
            return None
        self.at = int(self.rng.choice(free[:5]))
        return self.at

    async def _works_on(self, number: int) -> None:
        answer = await self.talking.asks("item", f"/api/item/{number}")
        if answer.status_code != 200:
            return
        item = answer.json()
        self.talking.finds(item, self.talking.unsent, self.talking.unsent)
        await self._sees(item)
        lease = await self.talking.says("lease", f"/api/item/{number}/lease", {})
        await self._thinks()
        if lease is None or lease["stamp"] != item["stamp"]:
            return
        if not await self._judges(item, lease["lease"]):
            await self.talking.says("release", "/api/release", {"lease": lease["lease"]})

    async def _sees(self, item: Json) -> None:
        """What the page fetches to paint an item."""
        if not self.habits.looks:
            return
        row, number = item["row"], item["id"]
        await self.talking.asks("spectrum", f"/api/spectrum/{row['spectrum']}")
        await self.talking.asks("atlas", "/api/atlas", survey=row["survey"], task=row["task"])
        await self.talking.asks("place", f"/api/place/{number}", mine="true")
        await self.talking.asks("hints", f"/api/item/{number}/hints")
        for step in item["trajectory"]["steps"]:
            if step.get("picture"):
                asked = {"arguments": json.dumps(step["arguments"]), "spectrum": row["spectrum"]}
                redshift = item["trajectory"].get("redshift")
                asked |= {} if redshift is None else {"redshift": redshift}
                await self.talking.asks("picture", f"/api/picture/{step['picture']}", **asked)

    # ---- what is done with it

    async def _judges(self, item: Json, lease: str) -> bool:
        """Remarks, edits, a decision; whether there was one, which ends the lease."""
        if self.rng.random() < 0.3 and item["my_verdict"] is None:
            await self._commits_a_verdict(item)
        if self.rng.random() < 0.6:
            await self._marks(item)
        round_ = item["standing"]["round"]
        version = item["version"]["id"]
        if item["may"]["edit"] is None:
            version = await self._edits(item, lease)
        elif self.rng.random() < 0.5:
            await self._types(item, item["trajectory"]["steps"], self._words("a comment"))
        verb = self._verb(item, round_)
        if version is None or not verb:
            return False
        await self._thinks()
        decided = await self._decides(item, version, verb, lease)
        if decided and self.rng.random() < 0.12:
            await self._thinks()
            await self._takes_back(item["id"])
        return decided

    def _verb(self, item: Json, round_: str) -> str:
        free = {v["verb"] for v in item["may"]["verbs"] if v["refusal"] is None}
        weights = {verb: w for verb, w in WEIGHTS[round_].items() if verb in free or verb == ""}
        return self.rng.choices(list(weights), list(weights.values()))[0] if weights else ""

    async def _edits(self, item: Json, lease: str) -> int | None:
        """Type for a while, then save a version, leave the text unsent, or throw it away; the version."""
        steps = item["trajectory"]["steps"]
        words = self._words("clearer")
        for _ in range(self.rng.randint(1, 4)):
            steps = self._retyped(steps)
            await self._types(item, steps, words)
            await self._thinks()
        if self.habits.looks and item["row"]["spectrum"]:
            steps = await self._looks_elsewhere(item, steps)
        choice = self.rng.random()
        if choice < 0.1:
            return None
        if choice < 0.15:
            await self._discards(item)
            return None
        return await self._saves(item, steps, words, lease)

    async def _types(self, item: Json, steps: list[Json], comment: str) -> None:
        body = {"base": item["version"]["id"], "steps": steps, "comment": comment}
        what = {"item": item["id"], "base": body["base"], "words": words_of(body)}
        await self.talking.submits("autosave", f"/api/item/{item['id']}/autosave", body, what)

    async def _discards(self, item: Json) -> None:
        what = {"item": item["id"], "base": item["version"]["id"]}
        body = {"base": what["base"], "steps": []}
        await self.talking.submits("discard", f"/api/item/{item['id']}/discard", body, what)

    async def _saves(self, item: Json, steps: list[Json], words: str, lease: str) -> int | None:
        body = {"base": item["version"]["id"], "steps": steps, "reason": words, "lease": lease}
        what = {"item": item["id"], "base": body["base"], "key": self._key(), "says": words}
        what["words"] = words_of({"steps": steps, "comment": words})
        what["thinks"] = [step["text"] for step in steps if step["kind"] == "think"]
        path = f"/api/item/{item['id']}/version"
        made = await self.talking.submits("version", path, {**body, "key": what["key"]}, what)
        return None if made is None else int(made["version"])

    async def _decides(self, item: Json, version: int, verb: str, lease: str) -> bool:
        number, texts = item["id"], words_of(item["trajectory"])[:-1]
        comment = self._words(verb)
        said = {"version": version, "verb": verb, "comment": comment}
        said["reason"] = "bad_data" if verb == "reject" else ""
        what = {"item": number, "key": self._key(), "says": comment, "texts": texts, **said}
        body = {**said, "key": what["key"], "lease": lease}
        return await self.talking.submits("decide", f"/api/item/{number}/decide", body, what) is not None

    async def _takes_back(self, number: int) -> None:
        what = {"item": number, "key": self._key()}
        await self.talking.submits("undo", f"/api/item/{number}/undo", {"key": what["key"]}, what)

    async def _marks(self, item: Json) -> None:
        step = self.rng.choice(item["trajectory"]["steps"])["id"]
        mark = self.rng.choice(("supported", "not supported", "cleared"))
        said = {"version": item["version"]["id"], "step": step, "mark": mark, "note": self._words(mark)}
        what = {"item": item["id"], "key": self._key(), "says": said["note"], **said}
        body = {**said, "key": what["key"]}
        await self.talking.submits("mark", f"/api/item/{item['id']}/mark", body, what)

    async def _commits_a_verdict(self, item: Json) -> None:
        verdict = self.rng.choice(("YES", "NO", "cannot tell"))
        body = {"version": item["version"]["id"], "verdict": verdict}
        what = {"item": item["id"], **body}
        await self.talking.submits("verdict", f"/api/item/{item['id']}/verdict", body, what)

    async def _looks_elsewhere(self, item: Json, steps: list[Json]) -> list[Json]:
        """Move one window, as a drag does, and put what the tool answers into the step."""
        zooms = [step for step in steps if step["kind"] == "zoom" and step["ok"]]
        if not zooms:
            return steps
        moved = self.rng.choice(zooms)
        low, high = moved["arguments"]["wavelength_range"]
        by = self.rng.uniform(-40, 40)
        arguments = {**moved["arguments"], "wavelength_range": [round(low + by, 1), round(high + by, 1)]}
        answer = await self.talking.says("look", "/api/look", {"item": item["id"], "arguments": arguments})
        if answer is None or not answer["step"]["ok"]:
            return steps
        return [{**step, **answer["step"]} if step is moved else step for step in steps]

    async def _scores(self, token: str) -> None:
        said: Json = {"coherence": self.rng.randint(0, 5), "consistency": self.rng.choice((None, 3, 4))}
        said["comment"] = self._words("scored")
        what = {"token": token, "key": self._key(), "says": said["comment"], **said}
        body = {**said, "key": what["key"]}
        await self.talking.submits("score", f"/api/blind/sheet/{token}/score", body, what)

    # ---- words

    def _retyped(self, steps: list[Json]) -> list[Json]:
        thinks = [step for step in steps if step["kind"] == "think"]
        if not thinks:
            return steps
        typed = self.rng.choice(thinks)
        text = f"{TEXT * self.rng.randint(1, 8)}{self._words('typed')}"
        return [{**step, "text": text} if step is typed else step for step in steps]

    def _words(self, about: str) -> str:
        """Words that nobody has said before: what is twice in the database was written twice."""
        self.said += 1
        return f"{about} {self.talking.initials}-{self.said}"

    def _key(self) -> str:
        return self.rng.randbytes(16).hex()

    async def _thinks(self) -> None:
        await asyncio.sleep(self.rng.uniform(*self.habits.pause))


def reviewer(talking: Talking, habits: Habits, seed: Any) -> Reviewer:
    return Reviewer(talking, habits, random.Random(f"{seed} {talking.initials}"))


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
        await self._until_told("rules", "save_rules", [False, *RULES[self.rule]], rules)

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
        await self._until_told("import", "import_files", lines, {"names": names})

    async def _backup(self) -> None:
        await self._until_told("backup", "create_backup", [], {})

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


Work = Callable[[asyncio.Event], Awaitable[None]]
PROGRESS_EVERY = 15.0
"""Seconds between two requests of an open Progress tab."""


@dataclass
class Client:
    """Such a process, from outside."""

    url: str
    journals: Path
    password: str
    seed: int

    def start(self, people: Sequence[str], *more: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.soak.people", "--url", self.url, "--journals", str(self.journals)]
        command += ["--password", self.password, "--seed", str(self.seed), "--people", *people, *more]
        return subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )


async def look_at_progress(talking: Talking, rng: random.Random, stop: asyncio.Event) -> None:
    """What the Progress tab fetches each time it comes into view."""
    while not stop.is_set():
        await talking.asks("progress", "/api/progress")
        await talking.asks("agreement", "/api/progress/agreement")
        await asyncio.sleep(rng.uniform(0.5, 1.5) * PROGRESS_EVERY)


def work_of(talking: Talking, given: argparse.Namespace) -> Work:
    """What this person does, by the role the command line gave."""
    rng = random.Random(f"{given.seed} {talking.initials}")
    if given.role == "coordinator":
        rows = json.loads(given.rows.read_text(encoding="utf-8"))
        return Coordinator(talking, rows, rng).works
    if given.role == "progress":
        return lambda stop: look_at_progress(talking, rng, stop)
    habits = Habits((given.pause[0], given.pause[1]), given.looks, given.avoid, given.scores)
    return reviewer(talking, habits, given.seed).works


async def run(given: argparse.Namespace) -> None:
    """All of this process's people at once; says "at work" once all are signed in."""
    stop = asyncio.Event()
    asyncio.get_running_loop().run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: stop.set())
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        everybody = []
        for initials in given.people:
            http = httpx.AsyncClient(base_url=given.url, timeout=60, trust_env=False)
            await stack.enter_async_context(http)
            journal = Journal(given.journals / f"{initials}.jsonl", initials)
            stack.callback(journal.close)
            talking = Talking(http, journal, initials)
            if await talking.sign_in(given.password):
                everybody.append(talking)
        print("at work", flush=True)
        for talking in everybody:
            group.create_task(_to_the_end(work_of(talking, given), talking, stop))


async def _to_the_end(work: Work, talking: Talking, stop: asyncio.Event) -> None:
    try:
        await work(stop)
    except Exception as error:
        # One failing script would end the others as well; the fault is reported with the verdict.
        talking.journal.fault(f"the script stopped: {type(error).__name__}: {error}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.soak.people", description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--journals", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--password", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", nargs="+", required=True, metavar="INITIALS")
    parser.add_argument("--role", choices=("reviewer", "coordinator", "progress"), default="reviewer")
    parser.add_argument("--pause", type=float, nargs=2, default=(0.0, 0.05), metavar="SECONDS")
    parser.add_argument("--looks", action="store_true", help="fetch what the page paints as well")
    parser.add_argument("--scores", action="store_true", help="take part in open blind sessions")
    parser.add_argument("--avoid", type=int, nargs="*", default=(), metavar="ITEM")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="trajectories to import from")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
