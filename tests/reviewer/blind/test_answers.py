"""``answers.csv`` as R and pandas read it, and the R script."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest

from reviewer.blind import results as tables
from reviewer.blind.plan import DIMENSIONS, AnalysisPlan
from reviewer.blind.report.answers import COLUMNS, analysis_script, answers_csv
from reviewer.blind.report.names import report_names
from reviewer.blind.results import Results
from reviewer.blind.sheet import ScoreAnswer
from tests.support.blind_results import START, A, B, gold, results, score, simulated, trace


def read(found: Results) -> pd.DataFrame:
    """The table as pandas reads it; only the columns of times are named."""
    return pd.read_csv(io.StringIO(answers_csv(found, report_names(found, {}))), parse_dates=["at", "first_at"])


def test_columns_have_the_types_that_they_hold() -> None:
    table = read(simulated(spectra=4, scorers=2, mode="both", unable=0.2))
    assert tuple(table.columns) == COLUMNS
    for name in ("session", "place", "changes"):
        assert pd.api.types.is_integer_dtype(table[name]), name
    for name in ("coherence", "consistency", "first_coherence", "snr", "spectrum", "item", "left_item", "seconds"):
        assert pd.api.types.is_numeric_dtype(table[name]), name
    for name in ("exposed", "excluded", "simulated", "reveals"):
        assert pd.api.types.is_bool_dtype(table[name]), name
    for name in ("at", "first_at"):
        assert isinstance(table[name].dtype, pd.DatetimeTZDtype), name
        assert table[name].min() >= pd.Timestamp(START)
    scores = table[table.kind == "scores"]
    assert scores[["left_item", "right_source", "preference"]].isna().all(axis=None)
    assert (scores.coherence.isna() == scores.coherence_cannot_tell.astype(bool)).all()
    assert table[table.kind == "pair"][["item", "source", "coherence", "correct"]].isna().all(axis=None)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_table_of_scores_can_be_made_again(dimension) -> None:
    found = simulated(spectra=5, scorers=3, unable=0.1)
    table = read(found).query("kind == 'scores' and use == 'result'")
    names = report_names(found, {})
    again = table.pivot(index="item", columns="scorer", values=dimension)
    expected = tables.score_table(found, dimension)
    for scorer in expected.raters:
        column = [names.items[int(item)] for item in expected.items]
        pd.testing.assert_series_equal(
            again[names.scorers[scorer]].loc[column], pd.Series(expected.by(scorer), column), check_names=False
        )
    assert int(table[f"{dimension}_cannot_tell"].sum()) == tables.count_cannot_tell(found, dimension) > 0
    # The paired difference of the sources, on the spectra, is in the table too.
    means = table.groupby(["spectrum", "source"])[dimension].mean().unstack()
    by = [tables.score_table(found, dimension, source) for source in (A, B)]
    assert (table.groupby("source")[dimension].mean()[A] > 0) == (by[0].item_means().mean() > 0)
    assert (means[A] - means[B]).mean() == pytest.approx(float((by[0].item_means() - by[1].item_means()).mean()))


def test_preferences_can_be_counted_again() -> None:
    found = simulated(spectra=8, scorers=3, mode="both")
    table = read(found).query("kind == 'pair'")
    votes = tables.pair_votes(found)
    assert (table.preferred_source == A).sum() == votes.verdicts.count("a") > 0
    assert (table.preferred_source == B).sum() == votes.verdicts.count("b") > 0
    assert (table.preference == "equal").sum() == votes.verdicts.count("equal") > 0
    lefts = table[table.preference == "left"]
    assert (lefts.preferred_source == lefts.left_source).all()


def a_session(**plan: object) -> Results:
    """Training, gold, a repeat, a changed answer, an exposure, a trace that reveals its author, and no answer."""
    traces = [
        *(
            trace(11, A, 7),
            trace(12, B, 7),
            trace(13, A, 6, reveals=True, survey="SDSS"),
            trace(14, B, None, label="NO"),
        ),
        *(trace(15, A, 5), trace(16, A, 5)),
    ]
    first = ScoreAnswer(2, "cannot tell")
    minute = timedelta(minutes=1)
    responses = [
        score("RE", 15, 0, 0, place=1, training=True, first_at=START, at=START),
        score("RE", 16, 1, 1, place=2, gold=gold(16, 4), first_at=START + minute, at=START + minute),
        score(
            "RE", 11, 5, 4, place=3, first_answer=first, changes=2, first_at=START + 5 * minute, at=START + 9 * minute
        ),
        score("RE", 12, 3, 3, place=4, exposed=True, first_at=START + 3 * minute, at=START + 3 * minute),
        score("RE", 11, 5, 5, place=5, repeat_of="RE-11-3", first_at=START + 6 * minute, at=START + 6 * minute),
        score("AU", 13, 4, 4, place=1),
        score("AU", 14, 2, 2, place=2, answer=None, at=None, first_answer=None, first_at=None),
    ]
    return results(traces, responses, training=(15,), repeats=1, **plan)


def test_what_is_not_a_result_is_marked() -> None:
    table = read(a_session()).set_index(["item", "use"])
    assert [use for _, use in table.index].count("result") == 4
    assert set(table.index) == {
        *((5, "training"), (6, "gold"), (1, "repeat"), (1, "result"), (2, "result"), (3, "result"), (4, "result"))
    }
    assert table.loc[(1, "repeat"), "repeat_of"] == 3
    assert not table.excluded.any()
    assert table.index[table.exposed].tolist() == [(2, "result")]
    assert table.index[table.reveals].tolist() == [(3, "result")]
    assert table.loc[(4, "result"), ["at", "coherence", "coherence_cannot_tell", "spectrum"]].isna().all()
    assert not table.loc[(4, "result"), "correct"]
    # Numbers of spectra go by the order of the items; a trace without a spectrum has none.
    assert table.spectrum.dropna().groupby("item").first().to_dict() == {1: 1, 2: 1, 3: 2, 5: 3, 6: 3}


def test_first_answers_and_times() -> None:
    table = read(a_session())
    changed = table[(table.item == 1) & (table.use == "result")].iloc[0]
    assert (changed.first_coherence, changed.coherence, changed.changes) == (2, 5, 2)
    assert pd.isna(changed.first_consistency)
    assert (changed["at"] - changed.first_at) == pd.Timedelta(minutes=4)
    # In the order of the first answers: places 1, 2, 4, 3, 5.
    names = report_names(a_session(), {})
    own = table[table.scorer == names.scorers["RE"]].set_index("place").seconds
    assert own.fillna(-1).to_dict() == {1: -1, 2: 60, 4: 120, 3: 120, 5: 60}


def test_what_the_plan_excludes_is_marked() -> None:
    revealing = read(a_session(analysis=AnalysisPlan(without_revealing=True)))
    assert revealing[revealing.excluded].item.tolist() == [3]
    by_gold = read(a_session(analysis=AnalysisPlan(gold_within=0.5)))
    assert by_gold[by_gold.excluded].scorer.nunique() == 1
    assert by_gold.excluded.sum() == 5  # all that RE answered, who is far from gold; AU had no gold item


def r_with_packages() -> bool:
    if shutil.which("Rscript") is None:
        return False
    packages = "for (p in c('lme4', 'lmerTest', 'ordinal')) library(p, character.only = TRUE)"
    return subprocess.run(["Rscript", "-e", packages], capture_output=True, check=False).returncode == 0


def run_script(folder: Path, found: Results) -> str:
    script = analysis_script(found)
    assert script is not None
    (folder / "analysis.R").write_text(script, encoding="utf-8")
    (folder / "answers.csv").write_text(answers_csv(found, report_names(found, {})), encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "analysis.R"], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not r_with_packages(), reason="R with lme4, lmerTest and ordinal is not installed")
def test_the_r_script_finds_the_difference_of_the_means(tmp_path) -> None:
    # Balanced and complete: the mixed model's difference is that of the plain means.
    found = simulated(spectra=12, scorers=4, mode="both", margin=1.5)
    odd = '="Hα\\'  # a formula in a spreadsheet, with a quote, a letter outside ASCII and a backslash
    plan = replace(found.plan, sources=(odd, B))
    found = replace(
        found,
        plan=plan,
        traces={n: replace(trace, source=odd if trace.source == A else B) for n, trace in found.traces.items()},
    )
    by = [tables.score_table(found, "consistency", source) for source in (odd, B)]
    out = run_script(tmp_path, found)
    primary = re.search(r"^primary +(-?[\d.]+) \(", out, re.MULTILINE)
    assert float(primary[1]) == pytest.approx(by[0].values.mean() - by[1].values.mean(), abs=6e-4)
    assert "Cumulative link mixed model" in out
    assert "equivalent within 1.5 points: " in out
    votes = tables.pair_votes(found)
    pairs = run_script(tmp_path, replace(found, plan=replace(plan, mode="pairs")))
    assert f"{votes.verdicts.count('a')} of {votes.verdicts.count('a') + votes.verdicts.count('b')} decided" in pairs


def test_the_r_script_uses_columns_that_there_are() -> None:
    script = analysis_script(simulated(spectra=2, scorers=2, mode="both", without_revealing=True))
    assert script is not None
    assert "without_revealing <- TRUE" in script
    code = re.sub(r"#.*", "", script)
    used = set(re.findall(r"(?:answers|rows|primary)\$(\w+)", code))
    assigned = set(re.findall(r"rows\$(\w+) <-", code))
    assert {"spectrum", "excluded", "preferred_source"} <= used
    assert used - assigned <= set(COLUMNS)
    typed = re.search(r"texts <- c\(([^)]*)\)\nflags <- c\(([^)]*)\)", code)
    assert {name.strip(' "') for part in typed.groups() for name in part.split(",")} <= set(COLUMNS)
    assert {f"first_{dimension}" for dimension in DIMENSIONS} <= set(COLUMNS)


def test_a_single_source_has_no_script() -> None:
    assert analysis_script(results([trace(1, A, 1)], [score("RE", 1, 3, 3)], sources=(A,))) is None
