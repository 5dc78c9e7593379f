"""Model drafts and the demo campaign."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from astropy.table import Table

import app
from agent import tool
from agent.conversation import Conversation, Exchange, Stop, Usage
from agent.policies.baseline.rule import Baseline
from agent.simulate import CLASSES, LOOK_ALIKES, truth
from agent.spectrum import Spectrum
from agent.spectrum.record import facts
from agent.tasks import load
from agent.trajectory import Trajectory
from agent.trajectory.steps import Think, Zoom
from agent.trajectory.tags import parse
from reviewer.drafting import demo_trust
from reviewer.drafting.budget import Budget, Prices, total_tokens
from reviewer.drafting.demo import RECIPES, demo_items, draft, planted
from reviewer.store import Store, WorkTime
from tests.support.campaign import Desk, an_item, people
from tests.support.model_server import BadServer, Say, Status, answer, look, talking

ROOT = Path(__file__).resolve().parents[3]
TURN = (1000, 400, 100)  # prompt, cached and completion tokens of each turn
COST = 2 * (0.6 * 1.25 + 0.4 * 0.125 + 0.1 * 10) / 1000  # of an inspection of two turns, at the prices below
PRICES = ("--price-in", "1.25", "--price-cached", "0.125", "--price-out", "10")


def a_table(path: Path, ivar: float = 0.04, height: float = 20.0) -> Path:
    """A made-up spectrum with a broad Hα, as a survey's table would have it."""
    wavelength = np.linspace(3800.0, 9000.0, 600)
    flux = 100.0 + height * np.exp(-0.5 * ((wavelength - 6564.6) / 12.0) ** 2)
    Table({"wavelength": wavelength, "flux": flux, "ivar": np.full(600, ivar)}).write(path)
    return path


@pytest.fixture(scope="module")
def spectra(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("spectra")
    return [a_table(folder / f"star{number}.csv", height=20.0 + number) for number in range(6)]


def label_is_yes(body: Mapping[str, Any]) -> bool:
    return "known to be YES" in body["messages"][0]["content"]


def drafting(last: str | None = None):
    """A drafter that zooms once and then answers with the known label, or with ``last``."""

    def behaviour(body: Mapping[str, Any]) -> Say:
        first = not any(message["role"] == "assistant" for message in body["messages"])
        reply = look(6400, 6700) if first else (last or answer("YES" if label_is_yes(body) else "NO"))
        return Say(reply, usage=TURN)

    return behaviour


class Drafted:
    """A run of ``spec-o3 draft`` with a model behind ``server``: status and output."""

    def __init__(self, capsys: pytest.CaptureFixture[str], server: BadServer, *given: object) -> None:
        words = ["draft", "--task", "cv", "--policy", "openai", "--model", "gpt", "--server", server.url, "--json"]
        capsys.readouterr()
        self.status = app.main([*words, *map(str, given)])
        captured = capsys.readouterr()
        self.errors = captured.err
        self.report = json.loads(captured.out) if captured.out else {}


@pytest.fixture
def draft_item(capsys, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return lambda server, *given: Drafted(capsys, server, *given)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def labels(path: Path, known: Mapping[str, str]) -> Path:
    path.write_text("file,label\n" + "".join(f"{name},{label}\n" for name, label in known.items()))
    return path


def test_the_drafter_gets_each_label_and_the_stored_texts_do_not_mention_it(draft_item, spectra, tmp_path):
    known = {path.name: "YES" if number % 2 else "NO" for number, path in enumerate(spectra[:4])}
    out = tmp_path / "d.jsonl"
    with BadServer(drafting()) as server:
        done = draft_item(server, *spectra[:4], "--labels", labels(tmp_path / "truth.csv", known), "--out", out)
        bodies = [chat.body for chat in server.chats]
    assert done.status == 0, done.errors
    assert sorted(map(label_is_yes, bodies)) == [False] * 4 + [True] * 4
    stored = {row["spectrum"]["name"]: row for row in rows(out)}
    assert {name: row["label"] for name, row in stored.items()} == known
    for row in stored.values():
        trajectory = Trajectory.from_json(row)
        assert trajectory.label_source == "truth.csv"
        assert trajectory.answer.verdict == trajectory.label
        assert trajectory.drafter.settings["label_told"] is True
        dumped = json.dumps([row["prompt"], row["system"], row["drafter"]])
        assert "known to be" not in dumped
        assert "YES" not in dumped
    assert done.report["contradicting"] == done.report["giving_away"] == 0


def test_drafts_of_a_model_can_be_imported(draft_item, capsys, spectra, tmp_path):
    out, db = tmp_path / "d.jsonl", tmp_path / "a.db"
    with BadServer(drafting()) as server:
        draft_item(server, spectra[0], "--label", "YES", "--out", out, "--batch", "first")
    assert app.main(["import", str(out), "--db", str(db), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["added"] == [1]
    with Store.open(db) as store:
        trajectory = store.items.get(1).version.trajectory
    assert (trajectory.label, trajectory.drafter.kind, trajectory.drafter.name) == ("YES", "model", "gpt")


def test_spectra_without_a_label_and_labels_without_a_spectrum_are_named(draft_item, spectra, tmp_path):
    known = {"star0.csv": "1", "nobody.csv": "0"}
    with BadServer(drafting()) as server:
        done = draft_item(
            server, *spectra[:3], "--labels", labels(tmp_path / "l.csv", known), "--out", tmp_path / "d.jsonl"
        )
        assert len(server.chats) == 2
    assert done.status == 1
    assert done.report["drafted"] == 1
    assert [Path(name).name for name in done.report["without_label"]] == ["star1.csv", "star2.csv"]
    assert done.report["labels_unused"] == ["nobody.csv"]


def test_drafts_that_contradict_their_label_are_kept_or_stored_separately_and_not_made_again(
    draft_item, spectra, tmp_path
):
    out, aside = tmp_path / "d.jsonl", tmp_path / "d.contradicting.jsonl"
    given = (*spectra[:2], "--labels", labels(tmp_path / "l.csv", {"star0.csv": "YES", "star1.csv": "NO"}))
    with BadServer(drafting(answer("NO"))) as server:
        kept = draft_item(server, *given, "--out", tmp_path / "kept.jsonl")
        assert (kept.status, kept.report["contradicting"], kept.report["left_out"]) == (0, 1, 0)
        assert len(rows(tmp_path / "kept.jsonl")) == 2
        done = draft_item(server, *given, "--out", out, "--drop-contradicting")
        assert (done.report["drafted"], done.report["left_out"]) == (2, 1)
        assert [row["spectrum"]["name"] for row in rows(out)] == ["star1.csv"]
        assert [row["spectrum"]["name"] for row in rows(aside)] == ["star0.csv"]
        requests = len(server.chats)
        again = draft_item(server, *given, "--out", out, "--drop-contradicting")
        assert len(server.chats) == requests
    assert again.report["drafted"] == 0


def test_texts_that_give_the_label_away_are_counted_and_a_fault(draft_item, spectra, tmp_path):
    out = tmp_path / "d.jsonl"
    with BadServer(drafting(answer("YES", thought="The known answer is YES."))) as server:
        done = draft_item(server, spectra[0], "--label", "YES", "--out", out)
    assert done.report["giving_away"] == 1
    assert any("reveals that the answer was known" in fault for fault in rows(out)[0]["faults"])


def test_a_budget_is_not_exceeded_and_a_later_run_resumes(draft_item, spectra, tmp_path):
    out = tmp_path / "d.jsonl"
    with BadServer(drafting()) as server:
        done = draft_item(server, *spectra, *PRICES, "--budget", 2.5 * COST, "--concurrency", 4, "--out", out)
        assert (done.status, done.report["drafted"], done.report["left"]) == (1, 2, 4)
        assert done.report["tokens"] == {"requests": 4, "prompt": 4000, "cached": 1600, "completion": 400}
        assert done.report["cost"] == pytest.approx(2 * COST)
        assert done.report["ended"] == "one more might exceed the budget"
        rest = draft_item(server, *spectra, *PRICES, "--out", out)
        assert (rest.status, rest.report["drafted"]) == (0, 4)
        assert "left" not in rest.report
        assert len(server.chats) == 12
    assert sorted(row["spectrum"]["name"] for row in rows(out)) == [path.name for path in spectra]


def test_tokens_can_be_limited_without_prices(draft_item, spectra, tmp_path):
    with BadServer(drafting()) as server:
        done = draft_item(server, *spectra, "--token-budget", 6600, "--out", tmp_path / "d.jsonl")
    assert done.report["drafted"] == 3
    assert "cost" not in done.report


def test_a_run_with_a_budget_ends_if_the_server_reports_no_tokens(draft_item, spectra, tmp_path):
    def uncounted(body: Mapping[str, Any]) -> Say:
        return Say(answer("YES"), usage=None)

    with BadServer(uncounted) as server:
        done = draft_item(server, *spectra, "--token-budget", 10**6, "--out", tmp_path / "d.jsonl")
    assert (done.status, done.report["drafted"]) == (1, 1)
    assert "does not report its tokens" in done.report["ended"]


def test_a_drafter_that_is_offered_a_second_tool_gets_its_answers(draft_item, spectra, tmp_path):
    call = json.dumps({"name": "measure", "arguments": {"feature": "Hα"}}, ensure_ascii=False)
    turns = (f"<think>How strong is it?</think>\n<tool_call>\n{call}\n</tool_call>", answer("YES"))
    out = tmp_path / "d.jsonl"
    with BadServer(talking(turns)) as server:
        draft_item(server, spectra[0], "--measure", "--out", out)
    trace = Trajectory.from_json(json.loads(out.read_text(encoding="utf-8")))
    assert trace.faults == ()
    assert [(zoom.tool, zoom.ok) for zoom in trace.zooms] == [("measure", True)]
    assert trace.zooms[0].observation.startswith("Hα at 656")


def test_several_drafts_of_a_spectrum_differ_by_their_seed(draft_item, spectra, tmp_path):
    out = tmp_path / "d.jsonl"
    with BadServer(drafting()) as server:
        done = draft_item(server, spectra[0], "--samples", 3, "--seed", 7, "--out", out)
    assert done.report["drafted"] == 3
    assert sorted(row["drafter"]["settings"]["seed"] for row in rows(out)) == [7, 8, 9]
    assert sorted(row["sample"] for row in rows(out)) == [0, 1, 2]


def test_a_run_resumes_with_the_draft_that_was_cut_off_in_the_file(draft_item, spectra, tmp_path):
    out = tmp_path / "d.jsonl"
    with BadServer(drafting()) as server:
        draft_item(server, *spectra[:3], "--out", out)
        out.write_bytes(out.read_bytes()[:-50])
        requests = len(server.chats)
        again = draft_item(server, *spectra[:3], "--out", out)
        assert len(server.chats) - requests == 2
    assert again.report["drafted"] == 1
    assert sorted(row["spectrum"]["name"] for row in rows(out)) == [path.name for path in spectra[:3]]


def test_a_server_that_refuses_every_request_ends_the_run_with_messages(draft_item, spectra, tmp_path, monkeypatch):
    monkeypatch.setattr("agent.batch.run.PAUSE", 0.01)
    with BadServer([Status(401, {"error": {"message": "Incorrect API key provided: sk-test"}})]) as server:
        done = draft_item(server, *spectra, "--concurrency", 1, "--out", tmp_path / "d.jsonl")
    assert done.status == 1
    assert done.report["drafted"] == 0
    assert len(done.report["refused"]) == len(spectra)
    assert "sk-test" not in json.dumps(done.report)
    assert not (tmp_path / "d.jsonl").read_text()
    assert len(rows(tmp_path / "d.jsonl.failed.jsonl")) == len(spectra)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--budget", "1"], "--budget: wants --price-in and --price-out"),
        (["--price-in", "1"], "--price-in and --price-out: found one, expected both"),
        (["--drop-contradicting", "--out", "d.jsonl"], "found no --out or no labels, expected both"),
        (["--label", "YES", "--labels", "l.csv"], "--label and --labels: found both"),
        (["--labels", "none.csv"], "--labels: none.csv: No such file"),
    ],
)
def test_options_that_conflict_are_refused_before_any_request(draft_item, spectra, tmp_path, monkeypatch, given, words):
    monkeypatch.chdir(tmp_path)
    with BadServer(drafting()) as server:
        done = draft_item(server, spectra[0], *given)
        assert server.chats == []
    assert done.status == 2
    assert words in done.errors
    assert list(tmp_path.iterdir()) == []


def test_results_of_another_model_are_not_mixed_in(draft_item, spectra, tmp_path):
    out = tmp_path / "d.jsonl"
    with BadServer(drafting()) as server:
        draft_item(server, spectra[0], "--out", out)
        other = draft_item(server, spectra[1], "--out", out, "--temperature", "0.5")
    assert other.status == 2
    assert "found results of another run" in other.errors
    assert len(rows(out)) == 1


# Budgets


def together(spending: Budget, costs: Sequence[int]) -> int:
    """Start inspections of these costs at the same time; return how many may begin."""
    begun = []

    def inspect(cost: int) -> None:
        with spending.one_more(Stop()) as tab:
            if tab is not None:
                begun.append(cost)
                for _ in range(2):
                    spending.use(tab, Usage(1, cost // 2, 0, 0))
                    time.sleep(0.001)

    with ThreadPoolExecutor(len(costs)) as pool:
        list(pool.map(inspect, costs))
    return len(begun)


def test_waiting_for_the_budget_can_be_stopped():
    spending, stop = Budget(token_budget=100), Stop()

    def wait() -> object:
        with spending.one_more(stop) as tab:
            return tab

    with ThreadPoolExecutor(1) as pool, spending.one_more(Stop()):
        waiting = pool.submit(wait)
        stop.set()
        assert waiting.result() is None
    assert spending.ended == ""


def test_the_budget_holds_for_inspections_that_begin_at_once():
    spending = Budget(token_budget=1050)
    assert together(spending, [100] * 40) == 10
    assert total_tokens(spending.used) == 1000
    assert together(Budget(Prices(1.0, 1.0)), [100] * 20) == 20
    spending = Budget(token_budget=300)
    assert [together(spending, [cost]) for cost in (100, 400, 10)] == [1, 1, 0], "a costly one may exceed the budget"
    assert spending.ended == "one more might exceed the budget"


def test_cached_tokens_have_their_own_price_or_the_usual_one():
    usage = Usage(1, 1_000_000, 400_000, 100_000)
    assert Prices(1.25, 10.0, 0.125).cost(usage) == pytest.approx(0.6 * 1.25 + 0.4 * 0.125 + 1.0)
    assert Prices(1.25, 10.0).cost(usage) == pytest.approx(1.25 + 1.0)


TASKS = load()


@pytest.fixture(scope="module")
def items():
    return list(demo_items())


def test_the_shipped_scores_and_trials_are_those_of_the_demo(items):
    shipped = json.loads(demo_trust.FILE.read_text("utf-8"))
    hashes = [trajectory.content_hash() for _, trajectory in items]
    assert set(shipped["scores"]) <= set(hashes), "run `python -m reviewer.drafting.demo_trust`"
    assert [trial["content_hash"] for trial in shipped["trials"]] == [
        hashes[demo_trust.PASSED - 1],
        hashes[demo_trust.NOT_PASSED - 1],
    ]


def test_the_demo_has_drafts_of_every_class_with_the_true_label_that_can_be_reviewed(items):
    assert {trajectory.task for _, trajectory in items} == set(CLASSES)
    assert len({recipe.kind for recipe in RECIPES} & set(LOOK_ALIKES)) >= 8
    assert len({spectrum.survey for spectrum, _ in items}) == 3
    assert len({spectrum.name for spectrum, _ in items}) == len(items)
    for recipe, (spectrum, trajectory) in zip(RECIPES, items, strict=True):
        assert spectrum.meta["simulated"]
        assert (trajectory.simulated, trajectory.label_source) == (True, "simulation")
        assert trajectory.drafter.name == "rule-based baseline"
        assert trajectory.spectrum_sha256 == spectrum.sha256
        assert trajectory.label == truth(recipe.kind, recipe.task)
        assert trajectory.prompt == TASKS[recipe.task].prompt
        assert trajectory.problems() == []


def test_only_the_data_of_a_demo_spectrum_tell_what_it_is(items):
    names = "|".join([*CLASSES, *LOOK_ALIKES, *map(re.escape, LOOK_ALIKES.values())])
    for spectrum, trajectory in items:
        assert re.fullmatch(r"demo-\d{4}\.fits", spectrum.name)
        assert trajectory.spectrum_name == spectrum.name
        header = json.dumps({**facts(spectrum), "survey": spectrum.survey.removeprefix("simulated ")})
        assert re.findall(rf"\b(?:{names})\b", header, re.IGNORECASE) == []
        assert spectrum.survey.startswith("simulated ")


def replayed(spectrum, task):
    """The turns of the present baseline, without pictures: it reads numbers only."""
    conversation = Conversation(spectrum, task, tool.overview(spectrum), turns_left=8)
    while conversation.turns_left:
        text = "".join(piece for piece in Baseline().turn(conversation) if isinstance(piece, str))
        turn = parse(text)
        yield turn
        if turn.call is None:
            return
        exchanges = (*conversation.exchanges, Exchange(text, None))
        conversation = replace(conversation, turns_left=conversation.turns_left - 1, exchanges=exchanges)


def test_shipped_drafts_are_those_of_the_present_baseline(items, monkeypatch):
    monkeypatch.setattr(tool, "overview", lambda spectrum: None)
    for recipe, (spectrum, trajectory) in zip(RECIPES, items, strict=True):
        if recipe.mistake:
            continue
        turns = list(replayed(spectrum, TASKS[recipe.task]))
        assert [t.thought for t in turns] == [s.text for s in trajectory.steps if isinstance(s, Think)], (
            f"{spectrum.name}: run python -m reviewer.drafting.demo"
        )
        assert [dict(t.call.arguments) for t in turns[:-1]] == [dict(z.arguments) for z in trajectory.zooms]


def test_a_new_draft_and_its_pictures_equal_the_shipped_ones(items):
    spectrum, shipped = items[0]
    assert draft(RECIPES[0], spectrum) == shipped
    for zoom in shipped.zooms:
        assert tool.call(spectrum, zoom.arguments).picture == zoom.picture


def test_each_kind_of_mistake_is_planted_and_not_revealed(items):
    mistakes = planted()
    kinds = {"hallucinated line", "wrong label", "flipped verdict", "wrong frame", "needless zoom"}
    assert set(mistakes.values()) == kinds
    assert 5 <= len(mistakes) <= len(items) / 4
    for spectrum, trajectory in items:
        text = str(trajectory.to_json()) + str(dict(spectrum.meta))
        assert not any(word in text for word in ("planted", "mistake", "hallucinated", "flipped"))
        if kind := mistakes.get(spectrum.name):
            check_mistake(kind, spectrum, trajectory)


def check_mistake(kind: str, spectrum: Spectrum, trajectory: Trajectory) -> None:
    task = TASKS[trajectory.task]
    honest = list(replayed(spectrum, task))
    first = trajectory.zooms[0]
    if kind == "flipped verdict":
        assert trajectory.answer.verdict != honest[-1].answer.verdict
    elif kind == "wrong frame":  # the window misses its line
        assert (first.frame, first.z) == ("rest", spectrum.redshift)
        assert first.window[0] > honest[0].call.arguments["wavelength_range"][0] + 100
    elif kind == "wrong label":  # of a line outside its window
        assert "Na I D" in first.label
        assert not first.window[0] < 5892 < first.window[1]
    elif kind == "needless zoom":  # of no feature of the task
        low, high = next(z for z in trajectory.zooms if z.label == "continuum").window
        features = [f for f in task.features if f.kind != "slope"]
        assert not any(f.span[0] < high and f.span[1] > low for f in features)
    else:  # a line is claimed where none was measured
        claimed = [s.text for s in trajectory.steps if isinstance(s, Think)]
        assert claimed[1].startswith(honest[1].thought)
        assert len(claimed[1]) > len(honest[1].thought) + 40
        assert isinstance(trajectory.steps[1], Zoom)


def test_spectra_below_the_snr_floor_are_skipped_with_the_reason(tmp_path: Path, capsys) -> None:
    good, bad = a_table(tmp_path / "good.csv", 0.04), a_table(tmp_path / "bad.csv", 0.0025)
    given = ["draft", str(good), str(bad), "--task", "cv", "--db", str(tmp_path / "a.db"), "--min-snr", "10"]
    assert app.main([*given, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["drafted"], report["refused"]) == (1, [])
    ((name, reason),) = report["skipped"].items()
    assert name.endswith("bad.csv")
    assert reason == "S/N 5 per pixel, expected 10 or more"
    assert app.main(given) == 0
    out = capsys.readouterr().out
    assert "1 skipped, below the S/N floor:" in out
    assert "bad.csv: S/N 5 per pixel" in out
    with Store.open(tmp_path / "a.db") as store:
        assert store.items.get(1).row.name == "good.csv"


def test_files_of_a_folder_that_hold_no_spectrum_are_named_with_the_reason(tmp_path: Path, capsys) -> None:
    folder = tmp_path / "spectra"
    folder.mkdir()
    a_table(folder / "star.csv", 0.04)
    (folder / "notes.md").write_text("observed in clouds")
    given = ["draft", str(folder), "--task", "cv", "--db", str(tmp_path / "a.db")]
    assert app.main([*given, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["drafted"], [skipped["file"] for skipped in report["skipped_files"]]) == (
        1,
        [str(folder / "notes.md")],
    )
    assert app.main(given) == 0
    assert "files skipped because they hold no spectrum: 1" in capsys.readouterr().out


def test_the_time_of_people_and_policy_is_compared_where_both_are_known(tmp_path: Path, capsys) -> None:
    with Store.open(tmp_path / "a.db") as store:
        people(store)
        desk = Desk(store)
        for number, seconds in enumerate((40.0, 60.0, 1000.0)):
            desk.decide("RE", an_item(store, number), "keep", worked=WorkTime(2000.0, seconds))
        desk.decide("RE", 1, "submit", worked=WorkTime(2000.0, 1500.0))
    path = a_table(tmp_path / "star.csv", 0.04)
    given = ["draft", str(path), "--task", "cv", "--json"]
    assert app.main([*given, "--db", str(tmp_path / "a.db")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["people"] == {"round": "screening", "decisions": 3, "median_seconds": 60.0}
    assert report["people_to_policy"] == pytest.approx(60.0 / report["seconds_per_draft"], rel=0.02)
    assert app.main([*given, "--db", str(tmp_path / "other.db")]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["seconds_per_draft"] > 0
    assert "people" not in report
    assert "people_to_policy" not in report
