"""The blind report and its tables."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import app
from agent.trajectory import Drafter
from reviewer.agreement.mixed import Ratings, fit
from reviewer.agreement.preference import position_bias, preference_rate
from reviewer.agreement.raters import calibration, self_consistency
from reviewer.agreement.reliability import icc_a1, krippendorff_alpha
from reviewer.agreement.values import Estimate, Scores
from reviewer.blind import results as tables
from reviewer.blind.plan import DIMENSIONS, AnalysisPlan, Gold
from reviewer.blind.report.headline import _alpha
from reviewer.blind.report.names import Names, report_names
from reviewer.blind.report.scripts import script_policy
from reviewer.blind.report.tables import JUDGEMENT_COLUMNS, judgements_csv
from reviewer.blind.results import Judgement, JudgeScore, Results
from reviewer.blind.sheet import PreferenceAnswer
from reviewer.exchange import blind_report as report
from reviewer.store import Draft, Store
from tests.support.blind_campaign import GPT, SCORERS, SPEC, a_store, key, opened, tokens, trace
from tests.support.campaign import Clock, Desk, a_spectrum

NAUGHTY = "=HYPERLINK(\"http://x\") says Dr AU, and RE too <script>alert('x')</script>"
NO_NUMBER = re.compile(r"\bnan\b|\binf(?:inity)?\b", re.IGNORECASE)


def score(person: str, item: int, again: bool) -> tuple[int | str, int]:
    """The known scores: scorers differ in level, and odd items (by gpt-5) are worse."""
    level = {"RE": 1, "AU": 2, "VO": 3}[person] - item % 2 + (item // 3) % 2
    return ("cannot tell" if item == 7 else level + again), min(5, level + 1)


def prefer(person: str, number: int, left: str) -> str:
    return "both bad" if number == 1 else "left" if left == SPEC else "right"


def answer(store: Store, last: int, score: Callable[..., tuple], prefer: Callable[..., str]) -> None:
    """Answer every question about the items up to the last one."""
    items = {store.items.get(n).version.content_hash: n for n in range(1, last + 1)}
    scoring = store.blind.scoring
    for person in SCORERS:
        seen: set[int] = set()
        for token in tokens(store, person):
            item = items[scoring.source(token, person).trajectories[0].content_hash()]
            given = dict(zip(DIMENSIONS, score(person, item, item in seen), strict=True))
            wrong = ("s3",) * (item == 4)
            scoring.score(person=person, token=token, **given, key=key(), comment=NAUGHTY, wrong_steps=wrong)
            seen.add(item)
        for number, token in enumerate(tokens(store, person, "pair")):
            left = scoring.source(token, person).trajectories[0].drafter.name
            best = prefer(person, number, left)
            scoring.prefer(person=person, token=token, preference=best, key=key(), comment=NAUGHTY)


def judge(store: Store, session: int) -> None:
    """Record a judge that agrees with the people, and whose answer on one pair depends on the order."""
    results = store.blind.results.of_session(None, session)
    for versions in {response.shown for response in results.first("scores")}:
        item = results.traces[versions[0]].item
        judged = JudgeScore(5 - item % 2 * 2, 3 + item % 3, "=1+1")
        store.blind.judging.record(
            by="CO", session_id=session, judgement=Judgement("AstroSage", versions, judged, "hm", {}), key=key()
        )
    pairs = {frozenset(response.shown): response.shown for response in results.first("pair")}
    for number, shown in enumerate(sorted(map(sorted, pairs.values()))):
        for order in (tuple(shown), tuple(shown[::-1])):
            best = "left" if results.traces[order[0]].source == SPEC or number == 0 else "right"
            judgement = Judgement("AstroSage", order, PreferenceAnswer(best), "", {})
            store.blind.judging.record(by="CO", session_id=session, judgement=judgement, key=key())


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, int, dict[str, bytes]]]:
    """A closed session with scores, pairs, repeats, gold and a judge, and its files."""
    path = tmp_path_factory.mktemp("report") / "annotations.db"
    with a_store(path, spectra=8, clock=Clock()) as store:
        Desk(store).decide("VO", 4, "keep")
        gold = (Gold(1, 5, None, 0),)
        session = opened(store, mode="both", each=2, repeats=2, gold=gold, sources=(SPEC, GPT), seed=11).id
        answer(store, 16, score, prefer)
        store.blind.sessions.close("CO", session, key())
        judge(store, session)
        yield store, session, report.files(store, None, session)


def table(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[name].decode())))


def number(files: dict[str, bytes], *where: str) -> dict[str, str]:
    found = [
        row
        for row in table(files, "statistics.csv")
        if (row["section"], row["of"], row["dimension"], row["statistic"]) == where
    ]
    assert len(found) == 1, where
    return found[0]


def names_of(store: Store, session: int) -> Names:
    return report_names(store.blind.results.of_session(None, session), {})


def without_code(content: bytes) -> str:
    """A file of the report without plotly.js and our script."""
    return re.sub(r"<script>.*?</script>", "", content.decode(), flags=re.DOTALL)


class Words(HTMLParser):
    """The text of a page, its tags and the addresses that it would load."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_report_has_every_file(made) -> None:
    tables = ["answers.csv", "judgements.csv", "report.html", "session.json", "statistics.csv", "wrong_steps.csv"]
    assert list(made[2]) == ["analysis.R", *tables]
    assert {row["step"] for row in table(made[2], "wrong_steps.csv")} == {"3"}
    rows = table(made[2], "answers.csv")
    assert len(rows) == len(made[0].blind.results.of_session(None, made[1]).responses)
    assert {row["use"] for row in rows} == {"result", "repeat", "gold"}


def clusters(results: Results, scores: Scores) -> list[str]:
    spectra = {str(trace.item): f"{trace.task} {trace.spectrum}" for trace in results.traces.values()}
    return [spectra[item] for item in scores.items]


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_numbers_are_those_of_the_statistics(made, dimension) -> None:
    store, session, files = made
    results = store.blind.results.of_session(None, session)
    report_names = names_of(store, session)
    every = tables.score_table(results, dimension)
    by = {source: tables.score_table(results, dimension, source) for source in (SPEC, GPT)}
    re_again = self_consistency(*tables.repeated_scores(results, dimension, "RE"))
    rows = [
        (value, *clusters(results, every)[i : i + 1], every.items[i], rater)
        for i, own in enumerate(every.values)
        for value, rater in zip(own, every.raters, strict=True)
        if not np.isnan(value)
    ]
    source_of = {str(trace.item): trace.source for trace in results.traces.values()}
    values, spectra, items, scorers = zip(*rows, strict=True)
    rated = Ratings(np.array(values), spectra, items, scorers, tuple(source_of[item] for item in items))
    expected = {
        ("agreement", "all traces", "Krippendorff's alpha"): krippendorff_alpha(
            every, clusters=clusters(results, every)
        ),
        ("agreement", "all traces", "ICC(A,1)"): icc_a1(every, clusters(results, every)),
        ("agreement", SPEC, "Krippendorff's alpha"): krippendorff_alpha(by[SPEC], clusters=clusters(results, by[SPEC])),
        ("differences", f"{SPEC} less {GPT}", "difference"): fit(rated).difference(SPEC, GPT),
        ("severity", report_names.scorers["AU"], "severity"): fit(rated, these_scorers=True).severity("AU"),
        ("repeats", report_names.scorers["RE"], "mean difference"): re_again.difference,
    }
    if dimension == "coherence":
        gold = calibration(*tables.gold_scores(results, dimension, "VO"))
        expected[("gold", report_names.scorers["VO"], "bias")] = gold.bias
    for (section, of, statistic), estimate in expected.items():
        found = number(files, section, of, dimension, statistic)
        for name in ("value", "low", "high"):
            given = getattr(estimate, name)
            assert found[name] == "" if given is None else float(found[name]) == pytest.approx(given, abs=1e-9), (
                statistic
            )
        if section != "severity":  # of which n is the scorer's own scores
            assert int(found["n"]) == estimate.n


def test_the_statistics_of_known_answers(made) -> None:
    files = made[2]
    # Coherence of a repeat is one more than the first time; consistency is the same.
    for scorer in ("S1", "S2", "S3"):
        again = number(files, "repeats", scorer, "coherence", "mean difference")
        if again["value"]:
            assert float(again["value"]) == 1
        assert float(number(files, "repeats", scorer, "consistency", "mean difference")["value"]) == 0
    # Each of three scorers found one pair bad on both sides, and chose Spec-o3-7B in all others.
    results = made[0].blind.results.of_session(None, made[1])
    rate = preference_rate(tables.pair_votes(results), SPEC, GPT)
    assert rate.both_bad.detail["both_bad"] == 3
    assert number(files, "preference", f"{SPEC} over {GPT}", "", "preferred, of decided")["value"] == "1.0"
    assert number(files, "preference", f"{SPEC} over {GPT}", "", "both bad")["value"] == repr(rate.both_bad.value)


def test_judges_are_reported_next_to_people(made) -> None:
    files = made[2]
    flips = number(files, "judge bias", "AstroSage", "", "flip rate")
    pairs = int(flips["n"])
    assert float(flips["value"]) == pytest.approx(1 / pairs)
    decided = number(files, "judge preference", f"AstroSage: {SPEC} over {GPT}", "", "preferred, of decided")
    assert (decided["value"], int(decided["n"])) == ("1.0", pairs - 1)
    above = number(files, "judges", "AstroSage", "coherence", "judge less people")
    assert float(above["value"]) > 0
    assert number(files, "judges", "AstroSage", "coherence", "rank correlation with people")["n"] == above["n"]


def test_every_row_is_a_number_or_has_its_reason(made) -> None:
    for row in table(made[2], "statistics.csv"):
        assert row["value"] or row["reason"], row
        assert row["definition"]
        assert row["low"] or row["reason"]


def test_every_number_of_the_tables_is_on_the_page(made) -> None:
    page = Words(made[2]["report.html"].decode())
    for row in table(made[2], "statistics.csv"):
        assert all(sentence in page.text for sentence in re.split(r"(?<=\.) ", row["definition"]))
        assert f"Unit: {row['unit']}." in page.text
        assert row["of"] in page.text
        shown = f"{float(row['value']):.2f}".replace("-", "\N{MINUS SIGN}") if row["value"] else row["reason"]
        assert shown.removeprefix("\N{MINUS SIGN}" if shown.endswith("0.00") else "~") in page.text
    for words in ("Seed 11", "traces barred from a scorer", "complete hallucination", "of simulated spectra"):
        assert words in page.text


def test_judgements_have_numbers_and_flags_in_their_columns(made) -> None:
    store, session, files = made
    found = pd.read_csv(io.BytesIO(files["judgements.csv"]))
    assert tuple(found.columns) == JUDGEMENT_COLUMNS
    answers = pd.read_csv(io.BytesIO(files["answers.csv"]))
    items = answers[answers.kind == "scores"].set_index("item").source.to_dict()
    scores = found[found.kind == "scores"]
    assert scores.source.tolist() == [items[item] for item in scores["item"]]
    assert scores[["coherence", "consistency"]].notna().all(axis=None)
    pairs = found[found.kind == "pair"]
    assert pairs.left_source.tolist() == [items[item] for item in pairs.left_item]
    assert pairs[["item", "source", "coherence"]].isna().all(axis=None)
    results = store.blind.results.of_session(None, session)
    unable = tuple(
        replace(judgement, answer=replace(judgement.answer, coherence="cannot tell"))
        if judgement.kind == "scores"
        else judgement
        for judgement in results.judgements
    )
    text = judgements_csv(replace(results, judgements=unable), names_of(store, session))
    found = pd.read_csv(io.StringIO(text)).query("kind == 'scores'")
    assert found.coherence.isna().all()
    assert found.coherence_cannot_tell.astype(bool).all()
    assert not found.consistency_cannot_tell.astype(bool).any()


def test_the_page_loads_no_other_file(made) -> None:
    text = made[2]["report.html"].decode()
    page = Words(text)
    assert not {"img", "link", "iframe"} & set(page.tags)
    assert all(address.startswith("#") for address in page.addresses)
    # What runs is plotly and our own script, whose hashes the page allows, and no other.
    code = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in code]
    assert script_policy().split() == ["script-src", *(f"'sha256-{digest}'" for digest in digests)]
    assert script_policy() in text
    assert len(code) == 2
    assert "<script>alert" not in made[2]["report.html"].decode()


def test_no_person_is_named(made) -> None:
    people = "|".join(f"Dr {person}|{person}" for person in (*SCORERS, "CO"))
    for name, content in made[2].items():
        found = re.search(rf"(?<![\w-])(?:{people})(?![\w-])", without_code(content))
        assert found is None, (name, found)
    assert {row["scorer"] for row in table(made[2], "answers.csv")} == {"S1", "S2", "S3"}


def test_a_scorer_who_drafted_is_anonymous_as_a_source_too(tmp_path) -> None:
    with a_store(tmp_path / "annotations.db", clock=Clock()) as store:
        by_hand = Drafter("person", "Dr RE", {})
        spectra = [a_spectrum(f"spec-55859-F5902_sp01-{n:03d}.fits") for n in range(3)]
        drafts = [trace(SPEC, n, drafter=by_hand) for n in range(3)]
        store.items.add_all([Draft(trajectory, spectrum) for trajectory, spectrum in zip(drafts, spectra, strict=True)])
        compared = AnalysisPlan(first="Dr RE", second=SPEC)
        session = opened(store, sources=(SPEC, "Dr RE"), each=2, analysis=compared).id
        for person in SCORERS:
            for token in tokens(store, person):
                store.blind.scoring.score(person=person, token=token, coherence=4, consistency=4, key=key())
        store.blind.sessions.close("CO", session, key())
        files = report.files(store, None, session)
        report_names = names_of(store, session)
    assert {row["source"] for row in table(files, "answers.csv")} == {SPEC, report_names.scorers["RE"]}
    assert all(b"Dr RE" not in content for content in files.values())
    assert json.loads(files["session.json"])["plan"]["analysis"]["first"] == report_names.scorers["RE"]
    assert f'first <- "{report_names.scorers["RE"]}"'.encode() in files["analysis.R"]


def test_no_cell_is_a_formula(made) -> None:
    for name, content in made[2].items():
        if name.endswith(".csv"):
            for row in csv.reader(io.StringIO(content.decode())):
                for cell in row:
                    is_number = re.fullmatch(r"-?[\d.]+(e-?\d+)?", cell)
                    assert is_number or not cell.startswith(("=", "+", "-", "@", "\t")), (name, cell)


def test_the_same_session_gives_the_same_bytes(made) -> None:
    store, session, files = made
    assert report.files(store, None, session) == files
    packed = report.as_zip(store, None, session)
    with zipfile.ZipFile(io.BytesIO(packed)) as zipped:
        inside = {Path(name).name: zipped.read(name) for name in zipped.namelist()}
        assert {entry.date_time for entry in zipped.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert inside == files
    assert report.as_html(store, None, session).encode() == files["report.html"]


def test_work_after_the_session_does_not_change_its_report(made, tmp_path) -> None:
    store, session, files = made
    barred = r">traces barred from a scorer</th><td [^>]*>1</td><td [^>]*>the scorer worked on the trace"
    assert re.search(barred, files["report.html"].decode())
    store.upkeep.backup(tmp_path / "copy.db")
    with Store.open(tmp_path / "copy.db") as copy:
        Desk(copy).decide("RE", 3, "keep")
        assert report.files(copy, None, session) == files


@pytest.mark.parametrize(
    ("scorers", "case"),
    [(("RE",), "unanimous"), *((SCORERS, case) for case in ("nothing", "unanimous", "one answer", "all cannot tell"))],
)
def test_a_session_without_statistics_gives_reasons(tmp_path, scorers, case) -> None:
    with a_store(tmp_path / "annotations.db", spectra=3) as store:
        gold = (Gold(1, 5, 5),)
        session = opened(store, mode="both", each=len(scorers), scorers=scorers, repeats=1, gold=gold).id
        given = {"unanimous": 5, "one answer": 3, "all cannot tell": "cannot tell"}
        for person in scorers if case != "nothing" else ():
            for token in tokens(store, person)[: 1 if case == "one answer" else None]:
                store.blind.scoring.score(
                    person=person, token=token, coherence=given[case], consistency=given[case], key=key()
                )
            for token in tokens(store, person, "pair")[: 0 if case == "one answer" else None]:
                store.blind.scoring.prefer(person=person, token=token, preference="equal", key=key())
        store.blind.sessions.close("CO", session, key())
        files = report.files(store, None, session)
    for name, content in files.items():
        assert not NO_NUMBER.search(without_code(content)), name
    alpha = number(files, "agreement", "all traces", "coherence", "Krippendorff's alpha")
    assert alpha["value"] == ""
    assert alpha["reason"] in Words(files["report.html"].decode()).text
    if case == "nothing":
        assert {row["n"] for row in table(files, "statistics.csv")} == {"0"}
    assert json.loads(files["session.json"], parse_constant=pytest.fail)["session"] == session


def test_the_words_about_alpha_follow_from_its_interval() -> None:
    sentences = [_alpha(Estimate(0.8, low, high, 9, "d")) for low, high in ((0.1, 0.5), (0.7, 0.9), (0.81, 0.9))]
    assert ["too little" in sentences[0], "tentative" in sentences[1], "reliable" in sentences[2]] == [True] * 3


def test_all_files_are_written_or_none(made, tmp_path, monkeypatch) -> None:
    store, session, files = made
    (tmp_path / "empty").mkdir()
    written = report.write(store, None, session, tmp_path / "empty")
    assert {path.name: path.read_bytes() for path in written} == files
    with pytest.raises(report.ReportError, match="found files in it, expected a new or an empty folder"):
        report.write(store, None, session, tmp_path / "empty")
    wrote = iter([True, True, False])
    as_it_was = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if not next(wrote):
            raise OSError(28, "No space left on device")
        return as_it_was(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(report.ReportError, match="No space left on device; nothing was written"):
        report.write(store, None, session, tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty"]


def test_the_command_writes_a_report_and_draws_the_same_items_again(made, tmp_path, capsys) -> None:
    store, session, files = made
    base = ["--db", str(store.path)]
    assert app.main(["blind", "report", str(session), "--out", str(tmp_path / "out"), "--json", *base]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == list(files)
    again = ["blind", "draw", "--again", str(tmp_path / "out" / "session.json")]
    assert app.main([*again, "--scorers", "AU", "ED", "AX", "--json", *base]) == 0
    created = json.loads(capsys.readouterr().out)
    shown = {
        trace.item
        for response in store.blind.results.of_session(None, session).responses
        for trace in map(store_trace(store, session), response.shown)
    }
    assert {*created["plan"]["items"], *(gold["item"] for gold in created["plan"]["gold"])} == shown
    assert created["plan"]["seed"] == 11
    assert app.main(["blind", "report", str(created["session"]), "--out", str(tmp_path / "no"), *base]) == 2
    assert "its results are available once it is closed" in capsys.readouterr().err
    # An item that was changed later still has the draft that was scored.
    item = min(shown)
    store.blind.sessions.close(None, created["session"], "over")
    Desk(store).decide("ED", item, "keep")
    Desk(store).edit("ED", item, "Another text.")
    assert app.main([*again, "--scorers", "AU", "AX", "--each", "2", "--json", *base]) == 0
    texts = store.blind.checks.traces(None, json.loads(capsys.readouterr().out)["session"])
    assert {trace.item for trace in texts} == shown
    assert "Another text." not in {step.text for trace in texts for step in trace.trajectory.steps[:1]}
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    assert app.main(["blind", "draw", "--again", str(tmp_path / "bad.json"), *base]) == 2
    assert "expected a report's session.json" in capsys.readouterr().err


def store_trace(store: Store, session: int):
    return store.blind.results.of_session(None, session).traces.__getitem__


def test_names_are_replaced_in_one_pass() -> None:
    order = ["S2", "HE", "AU"]
    random.Random(3).shuffle(order)
    report_names = Names(
        {initials: f"S{n}" for n, initials in enumerate(order, 1)}, {9: 1}, {"S2": "Ann Lee", "HE": "", "AU": "AU"}
    )
    called = report_names.scorers
    assert (
        report_names.anonymous("S2, HE and au (AU)")
        == f"{called['S2']}, {called['HE']} and {called['AU']} ({called['AU']})"
    )
    assert report_names.anonymous("ann lee, Hestia") == f"{called['S2']}, Hestia"
    assert report_names.note("item 9 and item 10") == "item 1 and item outside of the session"


VERDICTS = {"RE": SPEC, "AU": GPT, "VO": None}
"""The source that each scorer prefers in every pair; VO finds both bad."""


def score_of(person: str, item: int, again: bool) -> int | str:
    """The score that a scorer gives an item; it depends on both and on repetition."""
    if person == "VO" and item % 4 == 0:
        return "cannot tell"
    return min(5, SCORERS.index(person) + item % 2 + int(again))


def prefer_own(person: str, number: int, left: str) -> str:
    best = VERDICTS[person]
    return "both bad" if best is None else "left" if left == best else "right"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    with a_store(tmp_path_factory.mktemp("tables") / "annotations.db") as store:
        session = opened(store, mode="both", each=3, repeats=1, gold=(Gold(1, 5, None, 0),), sources=(SPEC, GPT))
        answer(store, 12, lambda *given: (score_of(*given), 3), prefer_own)
        store.blind.sessions.close("CO", session.id, key())
        yield store.blind.results.of_session(None, session.id)


def test_each_score_is_in_its_own_cell(results) -> None:
    table = tables.score_table(results, "coherence")
    assert table.raters == tuple(sorted(SCORERS))
    assert len(table.items) == 10
    assert "1" not in table.items
    for row, item in enumerate(table.items):
        for column, person in enumerate(table.raters):
            given = score_of(person, int(item), again=False)
            found = table.values[row, column]
            assert np.isnan(found) if given == "cannot tell" else found == given


def test_scores_are_selected_by_source(results) -> None:
    gpt, spec = (tables.score_table(results, "consistency", source) for source in (GPT, SPEC))
    assert {int(item) % 2 for item in gpt.items} == {1}
    assert {int(item) % 2 for item in spec.items} == {0}
    assert set(gpt.values.flat) == {3.0}


def test_cannot_tell_is_counted_separately(results) -> None:
    sampled = [int(item) for item in tables.score_table(results, "coherence").items]
    assert tables.count_cannot_tell(results, "coherence") == sum(item % 4 == 0 for item in sampled) > 0
    assert tables.count_cannot_tell(results, "coherence", GPT) == 0
    assert tables.count_cannot_tell(results, "consistency") == 0


def test_correctness_is_in_the_order_of_the_items_of_the_table(results) -> None:
    table = tables.score_table(results, "coherence")
    # Items 1 and 2 are of spectrum 0, whose label is NO; every verdict is YES.
    assert tables.verdict_correctness(results, table) == tuple((int(item) - 1) // 2 % 2 == 1 for item in table.items)


def test_repeats_and_gold_have_tables_of_their_own(results) -> None:
    first, again = tables.repeated_scores(results, "coherence", "RE")
    assert (again - first).tolist() == [1.0]
    given, expected, tolerance = tables.gold_scores(results, "coherence", "AU")
    assert (given.tolist(), expected.tolist(), tolerance.tolist()) == ([2.0], [5.0], [0.0])
    assert all(len(part) == 0 for part in tables.gold_scores(results, "consistency", "AU"))


def test_left_and_right_are_mapped_to_the_sources_exactly_once(results) -> None:
    votes = tables.pair_votes(results)
    assert (set(votes.a), set(votes.b)) == ({SPEC}, {GPT})
    assert sorted(votes.verdicts) == ["a"] * 5 + ["b"] * 5 + ["both bad"] * 5
    rates = preference_rate(votes, SPEC, GPT)
    assert (rates.wins.value, rates.losses.value, rates.both_bad.value) == (1 / 3, 1 / 3, 1 / 3)


def test_sides_are_as_they_were_shown(results) -> None:
    pairs, sides = tables.shown_sides(results)
    assert len(set(pairs)) == 5
    assert sides.count("both bad") == 5
    # RE and AU always disagree, and neither source is always on one side.
    assert {"left", "right"} < set(sides)
    assert position_bias(pairs, sides).n == 10
