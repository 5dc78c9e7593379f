"""The statistics against packages that are known for them, on random tables with gaps: krippendorff, pingouin,
statsmodels, scikit-learn, scipy and choix.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pandas as pd
import pingouin
import pytest
from choix import opt_pairwise
from krippendorff import alpha
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from agent.statistics import FloatArray, Resampling
from reviewer.agreement.davidson import davidson
from reviewer.agreement.pairs import spearman, weighted_kappa
from reviewer.agreement.preference import Verdict
from reviewer.agreement.reliability import Level, icc_a1, icc_ak, krippendorff_alpha
from reviewer.agreement.values import SCALE, Estimate, Scores
from tests.support.preferences import votes
from tests.support.scored import table

SEEDS = range(30)
QUICK = Resampling(resamples=20)
"""Values are compared here, not bootstrap intervals."""
MISSING = [0.0, 0.1, 0.4, 0.8]


def scored(seed: int, missing: float = 0.0) -> FloatArray:
    """(5 to 60 items, 2 to 6 scorers): scores from 0 to 5 with agreement from none to good, NaN where there is none."""
    rng = np.random.default_rng([seed, round(100 * missing)])
    shape = int(rng.integers(5, 61)), int(rng.integers(2, 7))
    quality = rng.normal(2.5, rng.uniform(0, 2), shape[0])[:, None]
    severity = rng.normal(0, 0.5, shape[1])
    values = np.clip(np.rint(quality + severity + rng.normal(0, 1, shape)), 0.0, 5.0) + 0.0  # no -0
    return np.where(rng.random(shape) < missing, np.nan, values)


def close(found: Estimate, expected: float) -> bool:
    return found.value is not None and found.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("missing", MISSING)
def test_alpha_is_that_of_krippendorff(level: Level, missing: float) -> None:
    compared = 0
    for seed in SEEDS:
        values = scored(seed, missing)
        found = krippendorff_alpha(table(values), level, QUICK)
        used = values[(~np.isnan(values)).sum(axis=1) > 1]
        if len(used) < 2 or np.nanmin(used) == np.nanmax(used):
            assert found.value is None
            continue
        assert close(found, alpha(values.T, level_of_measurement=level)), seed
        compared += 1
    assert compared >= 20


# Of pandas, in pingouin.
@pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame.dropna:DeprecationWarning")
def test_icc_of_complete_tables_is_that_of_pingouin(monkeypatch: pytest.MonkeyPatch) -> None:
    # Its intervals have two digits otherwise.
    monkeypatch.setitem(pingouin.options, "round.column.CI95", 15)
    intervals = 0
    for seed in SEEDS:
        values = scored(seed)
        items, scorers = np.indices(values.shape).reshape(2, -1)
        long = pd.DataFrame({"item": items, "scorer": scorers, "score": values.ravel()})
        rows = pingouin.intraclass_corr(long, targets="item", raters="scorer", ratings="score").set_index("Type")
        for found, name in ((icc_a1(table(values)), "ICC(A,1)"), (icc_ak(table(values)), "ICC(A,k)")):
            assert close(found, rows.loc[name, "ICC"]), (seed, name)
            # No interval here where the estimate is far below 0, which the formulas are not made for.
            if found.low is not None:
                ends = [found.low, found.high]
                assert ends == pytest.approx(list(rows.loc[name, "CI95"]), abs=1e-9), (seed, name)
                intervals += 1
    assert intervals >= 50


@pytest.mark.parametrize("missing", MISSING)
def test_weighted_kappa_is_that_of_scikit_learn_and_statsmodels(missing: float) -> None:
    compared = 0
    for seed in SEEDS:
        values = scored(seed, missing)
        found = weighted_kappa(table(values), "S1", "S2")
        x, y = values[~np.isnan(values[:, :2]).any(axis=1), :2].T.astype(int)
        if len(x) < 2 or (np.ptp(x) == np.ptp(y) == 0 and x[0] == y[0]):
            assert found.value is None
            continue
        assert close(found, cohen_kappa_score(x, y, labels=list(SCALE), weights="quadratic")), seed
        pairs = np.zeros((len(SCALE), len(SCALE)))
        np.add.at(pairs, (x, y), 1)
        assert close(found, cohens_kappa(pairs, wt="quadratic", return_results=False)), seed
        compared += 1
    assert compared >= 5


@pytest.mark.parametrize("missing", MISSING)
def test_rank_correlation_is_that_of_scipy_and_pandas(missing: float) -> None:
    compared = 0
    for seed in SEEDS:
        values = scored(seed, missing)
        found = spearman(values[:, 0], values[:, 1])
        kept = values[~np.isnan(values[:, :2]).any(axis=1), :2]
        if len(kept) < 3 or (np.ptp(kept, axis=0) == 0).any():
            # The packages give 1 or -1 for any two items, and NaN for a constant.
            assert found.value is None
            continue
        assert close(found, spearmanr(values[:, 0], values[:, 1], nan_policy="omit").statistic), seed
        assert close(found, pd.DataFrame(values[:, :2]).corr("spearman").iloc[0, 1]), seed
        compared += 1
    assert compared >= 5


def games(seed: int) -> Iterator[tuple[str, str, Verdict]]:
    """From 5 to 60 comparisons of 2 to 5 sources, without ties; the first two sources and the next ones met."""
    rng = np.random.default_rng(seed)
    names = "vwxyz"[: rng.integers(2, 6)]
    yield from ((a, b, "a") for a, b in pairwise(names))
    for _ in range(rng.integers(5, 61)):
        a, b = rng.choice(len(names), 2, replace=False)
        yield names[a], names[b], "a" if rng.random() < 1 / (1 + np.exp(0.5 * (a - b))) else "b"


@pytest.mark.parametrize("regularisation", [0.01, 0.1, 1.0])
def test_strengths_without_ties_are_those_of_bradley_and_terry_in_choix(regularisation: float) -> None:
    for seed in SEEDS:
        played = votes(*games(seed))
        number = {name: i for i, name in enumerate(played.sources)}
        beaten = [
            (number[a], number[b]) if verdict == "a" else (number[b], number[a])
            for a, b, verdict in zip(played.a, played.b, played.verdicts, strict=True)
        ]
        expected = opt_pairwise(len(number), beaten, alpha=regularisation, method="Newton-CG", tol=1e-10)
        found = davidson(played, regularisation, QUICK).sources
        assert [found[name].value for name in number] == pytest.approx(list(expected), abs=1e-5), seed


@pytest.mark.parametrize(("alike", "warns"), [(96, True), (60, False)])
def test_alpha_has_a_caution_where_nearly_all_scores_are_of_one_category(alike: int, warns: bool) -> None:
    rows = [(str(n), who, int(n >= alike and (n % 2 == 0) == (who == "a"))) for n in range(100) for who in "ab"]
    found = krippendorff_alpha(Scores.of(rows), "nominal")
    assert found.value is not None
    assert ("see the raw agreement" in found.reason) is warns
