"""``spec-o3 blind``: printed text, JSON and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import app
from reviewer.blind import session_file
from reviewer.blind.plan import PlanError
from reviewer.store import Draft, NotFound, Store
from tests.support.blind_campaign import GPT, SCORERS, SPEC, a_store, key, tokens, trace
from tests.support.campaign import a_spectrum, edited
from tests.support.inputs.refusals import check_sentence
from tests.support.inputs.rows import sessions

ROOT = Path(__file__).resolve().parents[3]

PLAN = """
name = "november"
scorers = ["re", "AU", "VO"]
sources = ["gpt-5", "Spec-o3-7B"]
mode = "both"
number = 3
each = 3
repeats = 1
seed = 7

[filter]
survey = "LAMOST"

[[gold]]
item = 1
coherence = 5
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "annotations.db"
    a_store(path).close()
    return path


def run(capsys, path: Path, *arguments: object) -> tuple[int, str, str]:
    """Run a subcommand; return exit status, stdout and stderr."""
    what, *rest = map(str, arguments)
    status = app.main(["blind", what, *rest, "--db", str(path)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def printed_json(capsys, path: Path, *arguments: object) -> dict:
    status, out, err = run(capsys, path, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def test_a_session_of_a_plan_file_from_draw_to_close(capsys, path, tmp_path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    made = printed_json(capsys, path, "draw", tmp_path / "plan.toml", "--by", "co")
    assert (made["session"], made["state"], made["drawn_by"]) == (1, "drawn", "CO")
    assert made["plan"]["scorers"] == ["RE", "AU", "VO"]
    # Six scores, one gold and one repeat; three pairs and one repeat.
    assert made["assigned"] == dict.fromkeys(SCORERS, 12)
    assert printed_json(capsys, path, "open", 1)["state"] == "open"
    with Store.open(path) as store:
        store.blind.scoring.score(person="RE", token=tokens(store, "RE")[0], coherence=5, consistency=5, key=key())
    assert printed_json(capsys, path, "status", 1)["progress"] == [
        {"scorer": "RE", "done": 1, "assigned": 12},
        {"scorer": "AU", "done": 0, "assigned": 12},
        {"scorer": "VO", "done": 0, "assigned": 12},
    ]
    status, _, err = run(capsys, path, "close", 1)
    assert status == 2
    assert err == (
        "spec-o3: session 1: found 35 answers missing, and closing is final; --unfinished closes it anyway\n"
    )
    closed = printed_json(capsys, path, "close", 1, "--unfinished")
    assert (closed["state"], closed["unanswered"]) == ("closed", 35)
    assert [session["state"] for session in printed_json(capsys, path, "list")["sessions"]] == ["closed"]


def test_options_make_a_plan_and_override_the_file(capsys, path, tmp_path) -> None:
    made = printed_json(capsys, path, "draw", "--name", "flags", "--scorers", "RE", "AU", "--number", 2, "--seed", 3)
    assert (made["plan"]["number"], made["plan"]["seed"], made["plan"]["mode"]) == (2, 3, "scores")
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    over = printed_json(capsys, path, "draw", tmp_path / "plan.toml", "--mode", "scores", "--min-snr", 10)
    assert (over["plan"]["mode"], over["plan"]["number"]) == ("scores", 3)
    assert (over["plan"]["filter"]["survey"], over["plan"]["filter"]["snr_min"]) == ("LAMOST", 10.0)
    status, _, err = run(capsys, path, "draw", tmp_path / "plan.toml", "--mode", "pairs")
    assert (status, err) == (
        2,
        f"spec-o3: {tmp_path / 'plan.toml'}: gold: found gold items in a session of pairs alone, "
        "expected a session with scores, or no gold items\n",
    )


def test_options_of_design_and_analysis_override_the_file(capsys, path, tmp_path) -> None:
    file = PLAN + '[analysis]\nmargin = 0.5\nstopping = "in December"\n'
    (tmp_path / "plan.toml").write_text(file, encoding="utf-8")
    options = ["--design", "separate", "--strata", "survey", "label", "--training", 2, "--earlier", "bar"]
    analysis = ["--primary", "coherence", "--compare", SPEC, GPT, "--equivalence", 0.2, "--exclude-gold-below", 0.5]
    more = ["--exclude-repeats-below", 0.6, "--exclude-revealing"]
    made = printed_json(capsys, path, "draw", tmp_path / "plan.toml", "--number", 2, *options, *analysis, *more)["plan"]
    assert {name: made[name] for name in ("design", "strata", "training", "earlier")} == {
        "design": "separate",
        "strata": ["survey", "label"],
        "training": [2],
        "earlier": "bar",
    }
    assert made["analysis"] == {
        "dimension": "coherence",
        "first": SPEC,
        "second": GPT,
        "margin": 0.2,
        "gold_within": 0.5,
        "repeats_within_1": 0.6,
        "without_revealing": True,
        "stopping": "in December",
    }


def test_the_version_of_the_texts_is_chosen_and_listed(capsys, path) -> None:
    made = printed_json(capsys, path, "draw", "--name", "texts", "--scorers", *SCORERS, "--texts", "drafted")
    assert (made["version"], made["plan"]["version"]) == ("drafted", "drafted")
    status, out, _ = run(capsys, path, "draw", "--name", "none", "--scorers", *SCORERS, "--texts", "approved")
    assert (status, out) == (
        1,
        "nothing drawn: There are no trajectories to sample: none at all. 12 items were left out because they are not "
        "approved.\n",
    )
    (listed,) = printed_json(capsys, path, "list")["sessions"]
    assert listed["version"] == "drafted"


def test_a_session_is_repeated_with_its_design_and_training_items(tmp_path: Path) -> None:
    given = edited_session()
    given["plan"] |= {"design": "separate", "earlier": "bar", "training": [given["items"][0]["item"]]}
    again = session_file.rerun_plan(given, lambda texts: {text: 100 + n for n, text in enumerate(texts)})
    assert (again["design"], again["earlier"], again["training"]) == ("separate", "bar", [100])
    assert 100 not in again["items"]


def add_revealing(store: Store) -> None:
    """Add a trace of both drafters, of which the first reveals its author."""
    spectrum = a_spectrum("spec-55859-F5902_sp01-098.fits")
    drafts = (edited(trace(GPT, 98), "As GPT-5 I see a broad Hα."), trace(SPEC, 98))
    store.items.add_all([Draft(draft, spectrum) for draft in drafts])


def test_the_text_printed_for_a_person(capsys, path) -> None:
    with Store.open(path) as store:
        add_revealing(store)
    status, out, _ = run(capsys, path, "draw", "--name", "told", "--scorers", *SCORERS, "--each", 3)
    assert status == 0
    assert out.splitlines() == [
        "session 1 drawn: told",
        "  texts as drafted",
        "  RE has 14 questions",
        "  AU has 14 questions",
        "  VO has 14 questions",
        "1 text reveals its author: spec-o3 blind giveaways 1",
        "to let its scorers begin: spec-o3 blind open 1",
    ]
    status, out, _ = run(capsys, path, "giveaways", 1)
    assert status == 1
    assert out.splitlines() == [
        "item 13, step 1, by gpt-5: “GPT-5” (model)",
        "pictures of Spec-o3-7B: 14 drawn anew",
        "pictures of gpt-5: 14 drawn anew",
        "Whether a program tells the sources apart from length, steps and wording alone is not known: it takes 10 "
        "traces of each source, and Spec-o3-7B has 7, gpt-5 has 7.",
    ]
    status, out, _ = run(capsys, path, "giveaways", 1, "--json")
    printed = json.loads(out)
    assert (status, printed["giveaways"][0]["giveaway"]["words"]) == (1, "GPT-5")
    assert printed["pictures"] == {SPEC: {"drawn anew": 14}, GPT: {"drawn anew": 14}}
    assert printed["fingerprints"]["medians"][GPT]["steps"] == 4
    _, out, _ = run(capsys, path, "status", 1)
    assert out.splitlines()[0].startswith("1: told, drawn since 20")
    assert out.splitlines()[0].endswith("; texts as drafted")
    assert out.splitlines()[1] == "  RE: 0 of 14"


def test_too_few_trajectories_are_reported_with_numbers(capsys, path) -> None:
    arguments = ["draw", "--name", "n", "--scorers", *SCORERS, "--number", 7, "--sources", GPT, SPEC]
    status, out, err = run(capsys, path, *arguments)
    assert (status, err) == (1, "")
    assert out == ("nothing drawn: Found 6 of cv, expected 7 spectra of each: lower the number, or add trajectories.\n")
    status, out, _ = run(capsys, path, *arguments, "--json")
    assert (status, json.loads(out)["session"]) == (1, None)
    assert printed_json(capsys, path, "list") == {"sessions": []}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["draw", "--scorers", "RE"], "name: found nothing"),
        (["draw", "--name", "n", "--scorers", "QQ", "--each", "1"], "nobody with the initials 'QQ'"),
        (["draw", "--name", "n", "--scorers", "RE", "--each", "1", "--by", "RE"], "Only a coordinator"),
        (["draw", "nowhere.toml"], "nowhere.toml: No such file"),
        (["draw", str(ROOT / "README.md")], "README.md: found no TOML"),
        (["open", "7"], "no blind session 7"),
        (["giveaways", "7"], "no blind session 7"),
    ],
)
def test_a_failed_command_prints_one_line(capsys, path, arguments, words) -> None:
    status, out, err = run(capsys, path, *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


def test_a_filter_that_is_no_table_is_named_with_the_file(capsys, path, tmp_path) -> None:
    (tmp_path / "plan.toml").write_text('name = "n"\nscorers = ["RE"]\nfilter = 3', encoding="utf-8")
    status, _, err = run(capsys, path, "draw", tmp_path / "plan.toml", "--survey", "DESI", "--each", 1)
    assert status == 2
    assert "plan.toml: filter: found 3, expected a table of keys and values" in err


def test_a_missing_database_is_refused(capsys, tmp_path) -> None:
    status, _, err = run(capsys, tmp_path / "none.db", "list")
    assert status == 2
    assert "none.db: found no database" in err
    assert not (tmp_path / "none.db").exists()


def edited_session(**changes: object) -> dict:
    (whole,) = sessions()
    given = json.loads(whole)
    given["plan"] |= {key: value for key, value in changes.items() if key == "gold"}
    given["items"][1] |= {key: value for key, value in changes.items() if key == "content_hash"}
    return given


def test_a_session_whose_gold_item_is_none_of_its_items_is_refused(tmp_path: Path) -> None:
    given = edited_session(gold=[{"item": 99, "coherence": 4, "tolerance": 1}])
    (tmp_path / "session.json").write_text(json.dumps(given), "utf-8")
    read = session_file.read_session(tmp_path / "session.json")
    with pytest.raises(PlanError, match="session: found no item 99") as refused:
        session_file.rerun_plan(read, lambda texts: {text: n for n, text in enumerate(texts, 1)})
    check_sentence(str(refused.value))


@pytest.mark.parametrize("text", [None, [], {}, 3, True, "x"])
def test_a_session_with_invalid_or_unknown_texts_is_refused(text: object, tmp_path: Path) -> None:
    expected, match = (NotFound, None) if text == "x" else (PlanError, "session: found the content_hash")
    with Store.open(tmp_path / "annotations.db") as store, pytest.raises(expected, match=match) as refused:
        session_file.rerun_plan(edited_session(content_hash=text), store.blind.results.items_by_content)
    check_sentence(str(refused.value))
