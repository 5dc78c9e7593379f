"""Scripted reviewers and coordinators; ``python -m tests.soak.people`` runs several in one process."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from agent.trajectory import Trajectory
from agent.trajectory.statements import disagreements
from tests.benchmarks.results import ROOT, command_line
from tests.soak.journal import Journal
from tests.soak.served import DidNotStart
from tests.soak.talking import JournalledClient, Json, words_of

STATES = ("screening", "revision", "returned", "audit", "vote", "adjudication")
WEIGHTS = {
    "screening": {"keep": 19, "reject": 1},
    "revision": {"submit": 16, "reject": 1, "": 3},
    "audit": {"pass": 8, "return": 2, "": 1},
    "vote": {"approve": 8, "reject": 2, "abstain": 1},
    "adjudication": {"approve": 3, "reject": 2, "return": 3},
}
"""Weights of the decisions; "" leaves the item without one."""
TEXT = "The continuum is blue and the Balmer lines are in absorption; the wings reach beyond ±25 Å. "


@dataclass
class Habits:
    """How a person works.

    :param pause: seconds between two actions, from and to
    :param load_page: fetch everything the page paints, as a browser does
    :param avoid: items left to other people
    :param scores: take part in open blind sessions
    """

    pause: tuple[float, float] = (0.0, 0.05)
    load_page: bool = False
    avoid: Collection[int] = ()
    scores: bool = False


class Reviewer:
    """One person, at work until ``stop`` is set."""

    def __init__(self, client: JournalledClient, habits: Habits, rng: random.Random) -> None:
        self.client = client
        self.habits = habits
        self.rng = rng
        self.texts_written = 0
        self.at = 0

    async def work(self, stop: asyncio.Event) -> None:
        """Work on one item after the other; finish the current one before stopping."""
        tokens: list[str] = []
        if self.habits.scores:
            work = (await self.client.get("blind work", "/api/v1/blind/work")).json()
            tokens = [place["token"] for session in work for place in session["places"]]
        while not stop.is_set():
            if tokens and self.rng.random() < 0.15:
                await self._score(self.rng.choice(tokens))
            elif (item := await self._next_item()) is not None:
                await self._work_on(item)
            else:
                self.at = 0
                await self._pause()
        await self._check_all_unsent()

    async def _check_all_unsent(self) -> None:
        """At the end, check the unsent text of every item."""
        unsent = self.client.unsent
        for number in unsent.kept:
            answer = await self.client.get("item", f"/api/v1/item/{number}")
            if answer.status_code == 200:
                self.client.check_unsent(answer.json(), unsent, unsent)

    # ---- which item

    async def _next_item(self) -> int | None:
        query: Json = {"mine": "true", "limit": 20, "after": self.at}
        if self.rng.random() < 0.7:
            # Everyone begins at another item and continues from there, as people do because of leases.
            query["state"] = self.rng.choice(STATES)
        rows = (await self.client.get("queue", "/api/v1/queue", **query)).json()["rows"]
        free = [r["id"] for r in rows if not r["blind"] and r["id"] not in self.habits.avoid]
        if not free:
            return None
        self.at = int(self.rng.choice(free[:5]))
        return self.at

    async def _work_on(self, number: int) -> None:
        answer = await self.client.get("item", f"/api/v1/item/{number}")
        if answer.status_code != 200:
            return
        item = answer.json()
        self.client.check_unsent(item, self.client.unsent, self.client.unsent)
        await self._load_page(item)
        lease = await self.client.post("lease", f"/api/v1/item/{number}/lease", {})
        await self._pause()
        if lease is None or lease["stamp"] != item["stamp"]:
            return
        if not await self._review(item, lease["lease"]):
            await self.client.post("release", "/api/v1/release", {"lease": lease["lease"]})

    async def _load_page(self, item: Json) -> None:
        """Fetch what the page needs to paint an item."""
        if not self.habits.load_page:
            return
        row, number = item["row"], item["id"]
        await self.client.get("spectrum", f"/api/v1/spectrum/{row['spectrum']}")
        await self.client.get("atlas", "/api/v1/atlas", survey=row["survey"], task=row["task"])
        await self.client.get("opening", f"/api/v1/item/{number}/opening", mine="true")
        await self.client.get("checks", f"/api/v1/item/{number}/checks")
        for step in item["trajectory"]["steps"]:
            if step.get("picture"):
                query = {"arguments": json.dumps(step["arguments"]), "spectrum": row["spectrum"]}
                redshift = item["trajectory"].get("redshift")
                query |= {} if redshift is None else {"redshift": redshift}
                await self.client.get("picture", f"/api/v1/picture/{step['picture']}", **query)

    # ---- what is done with it

    async def _review(self, item: Json, lease: str) -> bool:
        """Mark, edit and decide; return whether there was a decision, which ends the lease."""
        if self.rng.random() < 0.3 and item["my_verdict"] is None:
            await self._commit_verdict(item)
        if self.rng.random() < 0.6:
            await self._mark(item)
        round_ = item["standing"]["round"]
        version = item["version"]["id"]
        if item["may"]["edit"] is None:
            version = await self._edit(item, lease)
        elif self.rng.random() < 0.5:
            await self._type(item, item["trajectory"]["steps"], self._words("a comment"))
        verb = self._verb(item, round_)
        if version is None or not verb:
            return False
        await self._pause()
        decided = await self._decide(item, version, verb, lease)
        if decided and self.rng.random() < 0.12:
            await self._pause()
            await self._undo(item["id"])
        return decided

    def _verb(self, item: Json, round_: str) -> str:
        free = {v["verb"] for v in item["may"]["verbs"] if v["refusal"] is None}
        weights = {verb: w for verb, w in WEIGHTS[round_].items() if verb in free or verb == ""}
        return self.rng.choices(list(weights), list(weights.values()))[0] if weights else ""

    async def _edit(self, item: Json, lease: str) -> int | None:
        """Type for a while, then save a version, leave the text unsent, or discard it; return the version."""
        steps = item["trajectory"]["steps"]
        words = self._words("clearer")
        for _ in range(self.rng.randint(1, 4)):
            steps = self._retype(steps)
            await self._type(item, steps, words)
            await self._pause()
        if self.habits.load_page and item["row"]["spectrum"]:
            steps = await self._move_window(item, steps)
        choice = self.rng.random()
        if choice < 0.1:
            return None
        if choice < 0.15:
            await self._discard(item)
            return None
        return await self._save(item, steps, words, lease)

    async def _type(self, item: Json, steps: list[Json], comment: str) -> None:
        body = {"base": item["version"]["id"], "steps": steps, "comment": comment}
        what = {"item": item["id"], "base": body["base"], "words": words_of(body)}
        await self.client.submit("autosave", f"/api/v1/item/{item['id']}/autosave", body, what)

    async def _discard(self, item: Json) -> None:
        what = {"item": item["id"], "base": item["version"]["id"]}
        body = {"base": what["base"], "steps": []}
        await self.client.submit("discard", f"/api/v1/item/{item['id']}/discard", body, what)

    async def _save(self, item: Json, steps: list[Json], words: str, lease: str) -> int | None:
        body = {"base": item["version"]["id"], "steps": steps, "reason": words, "lease": lease}
        what = {"item": item["id"], "base": body["base"], "key": self._key(), "says": words}
        what["words"] = words_of({"steps": steps, "comment": words})
        what["thinks"] = [step["text"] for step in steps if step["kind"] == "think"]
        path = f"/api/v1/item/{item['id']}/version"
        made = await self.client.submit("version", path, {**body, "key": what["key"]}, what)
        return None if made is None else int(made["version"])

    async def _decide(self, item: Json, version: int, verb: str, lease: str) -> bool:
        number, texts = item["id"], words_of(item["trajectory"])[:-1]
        comment = self._words(verb)
        content = {"version": version, "verb": verb, "comment": comment}
        content["reason"] = "bad_data" if verb == "reject" else ""
        what = {"item": number, "key": self._key(), "says": comment, "texts": texts, **content}
        confirmed = await self._disagreements(number)
        body = {**content, "key": what["key"], "lease": lease, "confirmed": confirmed}
        return await self.client.submit("decide", f"/api/v1/item/{number}/decide", body, what) is not None

    async def _disagreements(self, number: int) -> int:
        """The number of disagreements between texts and tool calls, which a decision has to confirm."""
        item = (await self.client.get("item", f"/api/v1/item/{number}")).json()
        now = Trajectory.from_json(item["trajectory"])
        draft = Trajectory.from_json({**item["trajectory"], "steps": item["originals"]}) if item["originals"] else None
        return len(disagreements(now, draft))

    async def _undo(self, number: int) -> None:
        what = {"item": number, "key": self._key()}
        await self.client.submit("undo", f"/api/v1/item/{number}/undo", {"key": what["key"]}, what)

    async def _mark(self, item: Json) -> None:
        step = self.rng.choice(item["trajectory"]["steps"])["id"]
        mark = self.rng.choice(("supported", "not supported", "cleared"))
        content = {"version": item["version"]["id"], "step": step, "mark": mark, "note": self._words(mark)}
        what = {"item": item["id"], "key": self._key(), "says": content["note"], **content}
        body = {**content, "key": what["key"]}
        await self.client.submit("mark", f"/api/v1/item/{item['id']}/mark", body, what)

    async def _commit_verdict(self, item: Json) -> None:
        verdict = self.rng.choice(("YES", "NO", "cannot tell"))
        body = {"version": item["version"]["id"], "verdict": verdict}
        what = {"item": item["id"], **body}
        await self.client.submit("verdict", f"/api/v1/item/{item['id']}/verdict", body, what)

    async def _move_window(self, item: Json, steps: list[Json]) -> list[Json]:
        """Move one window, as a drag does, and put the tool's answer into the step."""
        zooms = [step for step in steps if step["kind"] == "zoom" and step["ok"]]
        if not zooms:
            return steps
        moved = self.rng.choice(zooms)
        low, high = moved["arguments"]["wavelength_range"]
        by = self.rng.uniform(-40, 40)
        arguments = {**moved["arguments"], "wavelength_range": [round(low + by, 1), round(high + by, 1)]}
        answer = await self.client.post("zoom", "/api/v1/zoom", {"item": item["id"], "arguments": arguments})
        if answer is None or not answer["step"]["ok"]:
            return steps
        return [{**step, **answer["step"]} if step is moved else step for step in steps]

    async def _score(self, token: str) -> None:
        content: Json = {"coherence": self.rng.randint(0, 5), "consistency": self.rng.choice((None, 3, 4))}
        content["comment"] = self._words("scored")
        what = {"token": token, "key": self._key(), "says": content["comment"], **content}
        body = {**content, "key": what["key"]}
        await self.client.submit("score", f"/api/v1/blind/sheet/{token}/score", body, what)

    # ---- words

    def _retype(self, steps: list[Json]) -> list[Json]:
        thinks = [step for step in steps if step["kind"] == "think"]
        if not thinks:
            return steps
        typed = self.rng.choice(thinks)
        text = f"{TEXT * self.rng.randint(1, 8)}{self._words('typed')}"
        return [{**step, "text": text} if step is typed else step for step in steps]

    def _words(self, about: str) -> str:
        """Return a text that is used only once: if the database has it twice, the action was doubled."""
        self.texts_written += 1
        return f"{about} {self.client.initials}-{self.texts_written}"

    def _key(self) -> str:
        return self.rng.randbytes(16).hex()

    async def _pause(self) -> None:
        await asyncio.sleep(self.rng.uniform(*self.habits.pause))


RULES = ((2, 2, 2, 1), (2, 2, 2, 2), (1, 3, 2, 2), (2, 3, 2, 2), (1, 2, 2, 1))
"""Auditors, votes, to approve, to reject; a team of four can decide under each."""
PASSWORD = "a first password"
EVERY = 1.0
"""Seconds between two changes; one event of the page takes about half a second."""


class Coordinator:
    """One coordinator, at work until ``stop`` is set.

    :param rows: trajectories in the form of JSON lines, for imports
    """

    def __init__(self, client: JournalledClient, rows: list[Json], rng: random.Random) -> None:
        self.client = client
        self.rows = rows
        self.rng = rng
        self.done = 0
        self.rule = 0

    async def work(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            changes = (self._rules, self._person, self._import, self._backup)
            change = self.rng.choices(changes, (9, 2, 8, 1))[0]
            await change()
            await asyncio.sleep(self.rng.uniform(0, 2 * EVERY))

    async def _rules(self) -> None:
        self.rule = (self.rule + self.rng.randint(1, len(RULES) - 1)) % len(RULES)
        names = ("auditors", "votes", "approve_at", "reject_at")
        rules = dict(zip(names, RULES[self.rule], strict=True))
        await self._send_until_answered("rules", "rules", {"solo": False, **rules}, rules)

    async def _person(self) -> None:
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        self.done += 1
        initials = "Z" + "".join(letters[self.done // 26**place % 26] for place in (2, 1, 0))
        body = {"initials": initials, "name": f"Newcomer {self.done}", "roles": ["reviewer"], "password": PASSWORD}
        await self._send_until_answered("person", "people", body, {"initials": initials})

    async def _import(self) -> None:
        self.done += 1
        names = [f"imported-{self.done}-{number}" for number in range(self.rng.randint(1, 4))]
        rows = [_named(self.rng.choice(self.rows), name) for name in names]
        lines = "\n".join(json.dumps(row) for row in rows)
        await self._send_until_answered("import", "imports", {"lines": lines}, {"names": names})

    async def _backup(self) -> None:
        await self._send_until_answered("backup", "backups", {}, {})

    async def _send_until_answered(self, kind: str, path: str, body: Json, what: Json) -> None:
        """Send it until the server reports the result."""
        number = self.client.journal.begin(kind, what)
        while True:
            self.client.journal.sent(number)
            begun = time.perf_counter()
            try:
                answer = await self._imported(body["lines"]) if kind == "import" else await self._post(path, body)
            except httpx.TransportError:
                answer = None
            if answer is None:
                # It goes on in the background, or what a killed server was doing has to be resumed: the same file
                # again adds what is missing.
                await self.client.get("me", "/api/v1/me")
                await asyncio.sleep(0.5)
                continue
            # After a lost answer the server says that the initials are taken: the person was added.
            if answer.status_code != 200 and not (kind == "person" and "is taken" in answer.text):
                self.client.journal.fault(f"{kind} was refused: {answer.text[:300]}")
            self.client.journal.answered(number, {"said": answer.text[:300]}, 1000 * (time.perf_counter() - begun))
            return

    async def _post(self, path: str, body: Json) -> httpx.Response | None:
        """None: the server is ending."""
        answer = await self.client.http.post(f"/api/v1/{path}", json=body)
        return None if answer.status_code >= 500 else answer

    async def _imported(self, lines: str) -> httpx.Response | None:
        """Import rows as the page does; the last answer, None if the import did not come to its end."""
        files = {"files": ("rows.jsonl", lines.encode(), "application/octet-stream")}
        uploaded = await self.client.http.post("/gradio_api/upload", files=files)
        if uploaded.status_code != 200:
            return None
        answer = await self._post("imports", {"files": uploaded.json(), "batch": "imported", "same_spectrum": "import"})
        while answer is not None and answer.status_code == 200:
            job = next((job for job in answer.json()["jobs"] if job["kind"] == "import"), None)
            if job is None or job["can_resume"]:
                return None
            if not job["running"]:
                return answer
            await asyncio.sleep(0.2)
            answer = await self.client.http.get("/api/v1/jobs", params={"import": job["imports"]})
        return answer


def _named(row: Json, name: str) -> Json:
    """Return the trajectory with another name of its spectrum, which makes it another item."""
    return {**row, "spectrum": {**row["spectrum"], "name": name}}


Work = Callable[[asyncio.Event], Awaitable[None]]
PROGRESS_EVERY = 15.0
"""Mean seconds between two requests of an open Progress tab."""
TO_FINISH = 180.0
"""Seconds for clients to finish at the end."""


@dataclass
class ClientProcesses:
    """Starts processes of scripted people."""

    url: str
    journals: Path
    password: str
    seed: int
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, people: Sequence[str], *more: str) -> None:
        command = [sys.executable, "-m", "tests.soak.people", "--url", self.url, "--journals", str(self.journals)]
        command += ["--password", self.password, "--seed", str(self.seed), "--people", *people, *more]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.running.append(subprocess.Popen(command, cwd=ROOT, text=True, start_new_session=True, **pipes))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Begin when all are signed in; at the end each finishes its current item.

        :raises DidNotStart: a client could not sign in, or failed
        """
        try:
            for process in self.running:
                assert process.stdout is not None
                if process.stdout.readline() != "at work\n":
                    raise DidNotStart("a client could not sign in")
            yield
            for process in self.running:
                assert process.stdin is not None
                process.stdin.close()
            for process in self.running:
                if status := process.wait(timeout=TO_FINISH):
                    raise DidNotStart(f"a client ended with status {status}")
        finally:
            for process in self.running:
                process.kill()
                process.wait()


async def poll_progress(client: JournalledClient, rng: random.Random, stop: asyncio.Event) -> None:
    """Fetch repeatedly what the Progress tab needs."""
    while not stop.is_set():
        await client.get("progress", "/api/v1/progress")
        await client.get("agreement", "/api/v1/progress/agreement")
        await asyncio.sleep(rng.uniform(0.5, 1.5) * PROGRESS_EVERY)


def work_of(client: JournalledClient, given: argparse.Namespace) -> Work:
    """Return the work of a person in the role from the command line."""
    rng = random.Random(f"{given.seed} {client.initials}")
    if given.role == "coordinator":
        rows = json.loads(given.rows.read_text(encoding="utf-8"))
        return Coordinator(client, rows, rng).work
    if given.role == "progress":
        return lambda stop: poll_progress(client, rng, stop)
    habits = Habits((given.pause[0], given.pause[1]), given.load_page, given.avoid, given.scores)
    return Reviewer(client, habits, rng).work


async def run(given: argparse.Namespace) -> None:
    """Run all people of this process at once; print "at work" when all are signed in."""
    stop = asyncio.Event()
    asyncio.get_running_loop().run_in_executor(None, sys.stdin.read).add_done_callback(lambda _: stop.set())
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        clients = []
        for initials in given.people:
            http = httpx.AsyncClient(base_url=given.url, timeout=60, trust_env=False)
            await stack.enter_async_context(http)
            journal = Journal(given.journals / f"{initials}.jsonl", initials)
            stack.callback(journal.close)
            client = JournalledClient(http, journal, initials)
            if await client.sign_in(given.password):
                clients.append(client)
        print("at work", flush=True)
        for client in clients:
            group.create_task(_run_to_end(work_of(client, given), client, stop))


async def _run_to_end(work: Work, client: JournalledClient, stop: asyncio.Event) -> None:
    try:
        await work(stop)
    except Exception as error:
        # One failing script would end the others too; the fault is reported with the results.
        client.journal.fault(f"the script stopped: {type(error).__name__}: {error}")


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--journals", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--password", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--people", nargs="+", required=True, metavar="INITIALS")
    parser.add_argument("--role", choices=("reviewer", "coordinator", "progress"), default="reviewer")
    parser.add_argument("--pause", type=float, nargs=2, default=(0.0, 0.05), metavar="SECONDS")
    parser.add_argument("--load-page", action="store_true", help="also fetch what the page paints")
    parser.add_argument("--scores", action="store_true", help="take part in open blind sessions")
    parser.add_argument("--avoid", type=int, nargs="*", default=(), metavar="ITEM")
    parser.add_argument("--rows", type=Path, metavar="FILE", help="trajectories to import from")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
