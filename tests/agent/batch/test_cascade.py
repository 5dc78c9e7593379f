"""Stages of a run: ``spec-o3 inspect --first ... --then ...`` with real policies, resuming, certificates, the bound."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table

import app
from agent import tasks
from agent.batch import run as batch
from agent.batch.candidates import Candidate
from agent.batch.cascade import AFTER, Cascade, RunStage, Stage, StageRun
from agent.batch.journal import RunSummary
from agent.batch.sources import Source
from agent.conversation import Stop
from agent.policies.baseline.rule import Baseline
from agent.trajectory import Trajectory
from agent.trust.certificate import CertifiedPolicy, write
from agent.trust.certify import certify
from agent.trust.sides import Labelled, Requirements
from agent.trust.suspension import add_scores, suspension_path
from reviewer.trust.cases import run_of
from tests.support.certificates import NO, YES, certificate
from tests.support.held import is_left
from tests.support.model_server import BadServer, Status, answer, look, talking

ROOT = Path(__file__).resolve().parents[3]
CV = tasks.load()["cv"]
HEIGHTS = (80, 60, 70, 75, 50, 15, 10, 6, 2, 0)
"""Of the Balmer lines of each spectrum; the baseline leaves the first four undecided, and the fifth has He I too."""
STRONG = {f"sky/s{n}.csv" for n in range(4)}
TURNS = (look(6400, 6700), answer("YES"))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "PAUSE", 0.001)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with ten spectra in ``sky``."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sky").mkdir()
    wavelength = np.linspace(3800.0, 9000.0, 900)
    for n, height in enumerate(HEIGHTS):
        helium = (5877.2,) if n == 4 else ()
        centres = (6564.6, 4862.7, 4341.7, *helium)
        lines = sum(height * np.exp(-0.5 * ((wavelength - at) / 12.0) ** 2) for at in centres)
        flux = 100.0 + lines + np.random.default_rng(n).normal(0, 5.0, 900)
        columns = {"wavelength": wavelength, "flux": flux, "ivar": np.full(900, 0.04)}
        Table(columns).write(tmp_path / "sky" / f"s{n}.csv")
    return tmp_path


def options(server: BadServer | None, *more: str, first: str = "baseline") -> list[str]:
    address = [] if server is None else ["--server", server.url]
    stages = ["--first", f"{first},concurrency=2", "--then", "spec-o3", *address]
    return ["inspect", "sky", "--task", "cv", "--out", "r.jsonl", "--table", "t.csv", *stages, *more]


def inspect(server: BadServer | None, *more: str, first: str = "baseline") -> int:
    return app.main(options(server, *more, first=first))


def table(path: str = "t.csv") -> dict[str, dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def files(path: str) -> list[str]:
    return [json.loads(line)["source"]["file"] for line in Path(path).read_text("utf-8").splitlines()]


def begun(server: BadServer) -> int:
    """Number of conversations that were begun with the server."""
    return sum(all(one["role"] != "assistant" for one in chat.body["messages"]) for chat in server.chats)


def summary(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_model_sees_what_the_baseline_does_not_decide(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BadServer(talking(TURNS)) as server:
        assert inspect(server, "--json") == 0
        assert begun(server) == 4
    found = summary(capsys)
    first, last = found["stages"]
    assert (first["stage"], first["spectra"], first["no"], first["passed_on"]) == ("1-baseline", 10, 5, 4)
    assert (last["stage"], last["spectra"], last["yes"], last["passed_on"]) == ("2-spec-o3", 4, 4, 0)
    assert (found["spectra"], found["yes"], found["no"], found["ask"], found["people_share"]) == (10, 5, 5, 0, 0.0)
    assert first["this_run"]["tokens"]["requests"] == 0
    assert last["this_run"]["tokens"]["requests"] == found["this_run"]["tokens"]["requests"] == 8
    assert found["this_run"]["inspected"] == 14
    rows = table()
    assert {file for file, row in rows.items() if row["stage"] == "2-spec-o3"} == STRONG == set(files("r.jsonl"))
    assert all(row["explanation"] == "Balmer emission." for row in rows.values() if row["stage"] == "2-spec-o3")
    assert sorted(files("r.1-baseline.jsonl")) == sorted(rows)
    ranks = [int(row["rank"]) for row in rows.values()]
    assert ranks == list(range(1, 11))


def test_the_text_has_the_counts_of_each_stage_and_a_second_run_asks_nobody(here, capsys):
    with BadServer(talking(TURNS)) as server:
        assert inspect(server) == 0
        text, before, results = capsys.readouterr().out, table(), Path("r.jsonl").read_bytes()
        assert inspect(server, "--json") == 0
        assert begun(server) == 4
    assert (table(), Path("r.jsonl").read_bytes()) == (before, results)
    again = summary(capsys)
    assert [stage["spectra"] for stage in again["stages"]] == [10, 4]
    assert again["this_run"]["inspected"] == 0
    assert "10 spectra in r.jsonl: 5 YES, 5 NO, 0 left to a person (0.0 %)" in text
    assert "stage 1-baseline: 10 spectra: 1 YES, 5 NO, 4 passed on; this run: 10 spectra in" in text
    assert "stage 2-spec-o3: 4 spectra: 4 YES, 0 NO; this run: 4 spectra in" in text
    assert "stage 1-baseline has no certificate: no error bound is known for its verdicts" in text
    assert "tokens: 800 read (320 of them cached), 56 written" in text


def test_a_spectrum_that_cannot_be_read_is_not_given_to_the_next_stage(here, capsys):
    (here / "sky" / "s9.csv").write_text("wavelength,flux\nno,numbers\n")
    with BadServer(talking(TURNS)) as server:
        assert inspect(server, "--json") == 1
        found = summary(capsys)
        assert [(stage["spectra"], stage["failed"]) for stage in found["stages"]] == [(9, 1), (4, 0)]
        # One that was inspected and then removed is left to a person, and so is one that was changed, although the
        # last stage has answers for both.
        (here / "sky" / "s9.csv").unlink()
        (here / "sky" / "s0.csv").unlink()
        (here / "sky" / "s1.csv").write_bytes((here / "sky" / "s2.csv").read_bytes())
        asked = begun(server)
        assert inspect(server, "--json") == 0
        assert begun(server) == asked
    first, last = summary(capsys)["stages"]
    assert (first["passed_on"], first["left_to_a_person"], last["spectra"]) == (2, 2, 2)
    rows = table()
    assert len(rows) == 9
    assert rows["sky/s0.csv"]["reasons"].startswith("The spectrum can no longer be read")
    assert (rows["sky/s1.csv"]["verdict"], rows["sky/s1.csv"]["stage"]) == ("ASK", "1-baseline")


def test_spectra_wait_while_the_next_policy_is_gone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with BadServer(lambda _: Status(401, {"error": {"message": "no key", "type": "auth"}})) as server:
        assert inspect(server, "--json") == 1
    found = summary(capsys)
    first, last = found["stages"]
    assert (first["passed_on"], first["waiting_for_the_next"], last["spectra"], last["failed"]) == (4, 4, 0, 4)
    assert (found["spectra"], found["ask"], found["people_share"]) == (10, 4, 0.4)
    assert {row["stage"] for row in table().values()} == {"1-baseline"}
    with BadServer(talking(TURNS)) as server:
        assert inspect(server, "--json") == 0
    first, last = summary(capsys)["stages"]
    assert (first["waiting_for_the_next"], last["spectra"], last["failed"]) == (0, 4, 0)


def test_three_stages_of_which_two_are_one_model(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The model answers once with NO and YES in turn; with three samples it is split, too: people decide."""
    verdicts = iter(["NO", "YES"] * 50)
    with BadServer(lambda _: talking([answer(next(verdicts))])(_)) as server:
        arguments = ["--then", "spec-o3,samples=2,temperature=0.7,concurrency=1", "--json"]
        second = f"spec-o3,server={server.url},samples=2,temperature=0.5,concurrency=1"
        command = ["inspect", "sky", "--task", "cv", "--out", "r.jsonl", "--server", server.url, "--first", "baseline"]
        assert app.main([*command, "--then", second, *arguments]) == 0
    found = summary(capsys)
    assert [stage["stage"] for stage in found["stages"]] == ["1-baseline", "2-spec-o3", "3-spec-o3"]
    assert [(stage["spectra"], stage["passed_on"]) for stage in found["stages"]] == [(10, 4), (4, 4), (4, 0)]
    assert (found["ask"], found["stages"][2]["left_to_a_person"]) == (4, 4)
    assert len(files("r.2-spec-o3.jsonl")) == len(files("r.jsonl")) == 8


@pytest.mark.parametrize("stage", [1, 2])
def test_after_a_kill_in_a_stage_no_spectrum_is_asked_twice(here: Path, stage: int) -> None:
    results = Path("r.1-baseline.jsonl" if stage == 1 else "r.jsonl")
    with BadServer(talking(TURNS, delay=0.05)) as server:
        arguments = options(server, "--concurrency", "1")
        held = [sys.executable, "-m", "tests.support.held", results.name, "2", *arguments]
        variables = os.environ | {"PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(held, env=variables, start_new_session=True, stdout=subprocess.DEVNULL)
        wait_until(lambda: results.exists() and results.read_bytes().count(b"\n") == 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        wait_until(lambda: not is_left(process.pid))
        assert results.read_bytes().count(b"\n") == 2
        # What the killed client requested last is read before requests are counted.
        assert server.wait(lambda: not server._tasks)
        asked = begun(server)
        command = [sys.executable, str(ROOT / "app.py"), *arguments]
        again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert again.returncode == 0, again.stderr
        assert begun(server) - asked == (4 if stage == 1 else 2)
    assert Counter(files("r.1-baseline.jsonl")) == {f"sky/s{n}.csv": 1 for n in range(10)}
    assert Counter(files("r.jsonl")) == dict.fromkeys(STRONG, 1)
    assert len(table()) == 10


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("the condition was still false after a minute")


BASE = certificate(yes=replace(YES, threshold=0.72), no=replace(NO, threshold=0.01))


def test_a_stage_with_a_certificate_decides_by_its_thresholds_only(here, capsys):
    write(BASE, Path("base.json"))
    with BadServer(talking(TURNS)) as server:
        assert inspect(server, "--first-certificate", "base.json", "--json") == 0
    found, rows = summary(capsys), table()
    for row in rows.values():
        if row["stage"] == "1-baseline":
            p = float(row["p_yes"])
            assert row["verdict"] == ("YES" if p >= 0.72 else "NO" if p <= 0.01 else "?")
    first, last = found["stages"]
    by_stage = Counter(row["stage"] for row in rows.values())
    assert 0 < by_stage["1-baseline"] == first["yes"] + first["no"] < 10
    assert by_stage["2-spec-o3"] == first["passed_on"] == last["spectra"]
    # The first stage decides some by the certificate that the usual rules leave undecided, and the other way round.
    assert {file for file, row in rows.items() if row["stage"] == "2-spec-o3"} != STRONG
    assert first["certificate"]["sha256"] == BASE.sha256
    assert last["certificate"] is None


def test_a_certificate_that_is_suspended_by_the_run_ends_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(BASE, Path("base.json"))
    other = {f"{n:064x}": float(p) for n, p in enumerate(np.random.default_rng(5).beta(4, 1, 300))}
    assert add_scores(Path("base.json"), BASE, other, "before") is not None
    suspension_path(Path("base.json")).unlink()
    with BadServer(talking(TURNS)) as server:
        assert inspect(server, "--first-certificate", "base.json") == 1
        assert not server.chats  # otherwise the model would be asked for every spectrum
    assert "THE CERTIFICATE IS SUSPENDED" in capsys.readouterr().out
    assert {(row["verdict"], row["stage"]) for row in table().values()} == {("ASK", "1-baseline")}


def test_the_certificate_of_a_later_stage_must_be_made_after_the_same_stages(here, capsys):
    write(BASE, Path("base.json"))
    with BadServer(talking(TURNS)) as server:
        assert inspect(server, "--first-certificate", "base.json") == 0
        first, last = (
            Trajectory.from_json(json.loads(Path(name).read_text("utf-8").splitlines()[0]))
            for name in ("r.1-baseline.jsonl", "r.jsonl")
        )
        run = run_of(last)  # as `spec-o3 certify` takes it from the results
        assert run.settings[AFTER]["1-baseline"]["certificate"] == BASE.sha256
        assert AFTER not in first.drafter.settings

        def write_certificate(settings: Mapping[str, Any]) -> None:
            policy = CertifiedPolicy(run.kind, run.name, settings)
            write(certificate(policy=policy, yes=replace(YES, threshold=0.7)), Path("cv.json"))

        capsys.readouterr()
        write_certificate({key: value for key, value in run.settings.items() if key != AFTER})
        assert inspect(server, "--first-certificate", "base.json", "--certificate", "cv.json") == 2
        said = capsys.readouterr().err
        assert "policy.settings.after was not given, is {'1-baseline'" in said
        assert "its certificate must be made from such spectra" in said
        write_certificate(run.settings)
        assert inspect(server, "--first-certificate", "base.json", "--certificate", "cv.json", "--json") == 0
        last = summary(capsys)["stages"][1]
        assert last["certificate"]["file"] == "cv.json"
        assert last["spectra"] == last["yes"] + last["no"] + last["left_to_a_person"] > 0
        # Another rule of the first stage gives the last one other spectra: its results are another file.
        assert inspect(server, "--margin", "1.2") == 2
    assert "r.jsonl: found results of another run: policy.settings.after.1-baseline" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--first", "baseline"], "--first needs --then"),
        (["--first-certificate", "c.json"], "--first-certificate needs --first"),
        (["--first", "baseline", "--then", "replay", "--policy", "nano"], "--policy nano has no effect with --first"),
        (
            ["--first", "baseline,size=3", "--then", "replay"],
            "--first baseline,size=3: found 'size', expected a policy",
        ),
        (["--first", "baseline,samples=0", "--then", "replay"], "--first: argument --samples: found '0'"),
        (["--first", "baseline", "--then", "baseline,certificate=none.json"], "none.json: No such file"),
    ],
)
def test_stages_that_cannot_be_used_are_refused(here, capsys, arguments, message):
    assert app.main(["inspect", "sky", "--task", "cv", "--out", "r.jsonl", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in here.iterdir()) == ["sky"]


def test_limits_count_for_the_stages_without_a_certificate(here: Path) -> None:
    write(BASE, Path("base.json"))
    with BadServer(talking(TURNS)) as server:
        assert inspect(server, "--first-certificate", "base.json", "--min-snr", "1000") == 0
    last = [row for row in table().values() if row["stage"] == "2-spec-o3"]
    assert last
    assert {row["verdict"] for row in last} == {"ASK"}
    assert all("expected 1000 or more" in row["reasons"] for row in last)


class Simulated:
    """Two policies with a hidden truth: each row has P(YES) of the stage's policy, and the verdict of its thresholds.

    The first policy is right where the spectrum is easy; the second is worse where it is not, like the first.
    """

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self.yes = rng.random(n) < 0.5
        easy = rng.random(n) < 0.7
        sign = np.where(self.yes, 1.0, -1.0)
        first = np.where(easy, sign * rng.exponential(3, n) + sign, rng.normal(0, 0.7, n))
        second = sign * np.where(easy, 4.0, 1.0) + rng.normal(0, 1.5, n)
        self.p = [1 / (1 + np.exp(-log_odds)) for log_odds in (first, second)]
        self.asked: list[int] = []

    def run_stage(self, thresholds: Sequence[tuple[float, float]]) -> RunStage:
        def run(stage: Stage, sources: Sequence[Source], stop: Stop) -> StageRun:
            self.asked.append(len(sources))
            no, yes = thresholds[stage.number - 1]

            def rows() -> Iterator[Candidate]:
                for source in sources:
                    p = float(self.p[stage.number - 1][int(source.file)])
                    verdict = "YES" if p >= yes else "NO" if p <= no else "ASK"
                    yield replace(ROW, file=source.file, verdict=verdict, p_yes=p)

            return StageRun(RunSummary(), 0, rows())

        return run

    def certified(self, stage: int, which: np.ndarray[Any, Any], rng: np.random.Generator) -> tuple[float, float]:
        """Return thresholds from 600 labels of these spectra; a side that is not certified decides nothing."""
        some = rng.choice(which, min(600, len(which)), replace=False)
        p = self.p[stage]
        yes, no = certify(Labelled(p[some], self.yes[some]), p[which], Requirements())
        return -1.0 if no.threshold is None else no.threshold, 2.0 if yes.threshold is None else yes.threshold

    def run(self, thresholds: Sequence[tuple[float, float]]) -> tuple[dict[str, Candidate], Cascade]:
        cascade = Cascade([a_stage(1), a_stage(2)], self.run_stage(thresholds))
        sources = [Source(Path(str(n)), str(n)) for n in range(len(self.yes))]
        return {row.file: row for row in cascade.rows(sources, Stop())}, cascade

    def errors(self, rows: dict[str, Candidate], stage: str) -> dict[str, float]:
        """Share of wrong verdicts among those of a stage, by verdict."""
        found = {}
        for verdict in ("YES", "NO"):
            wrong = [
                (verdict == "YES") != self.yes[int(row.file)]
                for row in rows.values()
                if row.stage == stage and row.verdict == verdict
            ]
            found[verdict] = float(np.mean(wrong)) if wrong else 0.0
        return found


ROW = Candidate(
    None, "ASK", "", "", "", "", "", None, None, None, "air", 10.0, "cv", None, 1, 0, 0, 1, 0, None, None, None, 0.0,
    None, 0, "",
)  # fmt: skip


def a_stage(number: int) -> Stage:
    about = {"kind": "model", "name": f"policy {number}", "settings": {}}
    return Stage(number, f"policy-{number}", about, lambda _: Baseline(), CV, Path("no results"))


def test_the_errors_of_each_stage_stay_within_certificates_for_what_it_sees() -> None:
    """20 lists of 3,000 spectra: of each stage and side at most 5 % are wrong, in all but about 5 % of the lists.

    A certificate of the second policy for the whole list does not bound its errors among what the first leaves over.
    """
    rng = np.random.default_rng(17)
    above: Counter[str] = Counter()
    decided = whole_list = 0
    for _ in range(20):
        simulated = Simulated(rng, 3000)
        everything = np.arange(3000)
        first = simulated.certified(0, everything, rng)
        left = np.flatnonzero((simulated.p[0] > first[0]) & (simulated.p[0] < first[1]))
        second = simulated.certified(1, left, rng)
        rows, cascade = simulated.run([first, second])
        assert simulated.asked == [3000, len(left)]
        assert len(rows) == 3000
        one, two = cascade.counts
        assert (one.seen, one.passed, two.seen, one.waiting) == (3000, len(left), len(left), 0)
        assert two.left == sum(row.verdict == "ASK" for row in rows.values())
        decided += two.yes + two.no
        for stage in ("1-policy-1", "2-policy-2"):
            above.update(f"{stage} {side}" for side, share in simulated.errors(rows, stage).items() if share > 0.05)
        wrong, _ = simulated.run([first, simulated.certified(1, everything, rng)])
        whole_list += max(simulated.errors(wrong, "2-policy-2").values()) > 0.05
    assert decided > 0
    # 99.9 % of Binomial(20, 0.05)
    assert all(number <= 5 for number in above.values()), above
    assert whole_list > 12
