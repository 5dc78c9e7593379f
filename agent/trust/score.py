"""P(YES) of a case: models fitted on decided cases with scikit-learn, their JSON form, and how to apply them.

A model is stored as plain numbers and applied without scikit-learn, so a certificate can be read and checked by eye.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.spectrum.record import BoolArray
from agent.statistics import FloatArray
from agent.trust.features import COUNTS, Features

Kind = Literal["raw", "scaled", "logistic", "isotonic"]
SCHEMA = "spec-o3/score/1"
FEWEST = 10
"""Spectra of each label that a fit needs."""
FOLDS = 5
_INPUTS = ("vote", "answer", *COUNTS, "log_snr", "coverage")
_LOG_ODDS = "log_odds"
_SMALLEST = 1e-6  # limits the log loss of one case whose P(YES) is 0 or 1


class ScoreError(Refusal, ValueError):
    """A model of P(YES) cannot be read: which field, what was found, what was expected."""


@dataclass(frozen=True)
class Term:
    """One feature of a logistic model: it adds ``weight`` times (value - mean) / scale to the log odds.

    :param missing: what is added where the feature is not defined
    """

    name: str
    mean: float
    scale: float
    weight: float
    missing: float = 0.0

    def of(self, value: float | None) -> float:
        return self.missing if value is None else self.weight * (value - self.mean) / self.scale


@dataclass(frozen=True)
class ScoreModel:
    """A model of P(YES).

    "raw" is the logistic function of the log odds that the policy gives, else of its vote; nothing is fitted. "scaled"
    is a line in these log odds (Platt 1999), "logistic" is linear in all features, "isotonic" is a non-decreasing
    function of the raw log odds (Zadrozny & Elkan 2002), interpolated between ``knots`` (log odds, P(YES)).
    """

    kind: Kind
    intercept: float = 0.0
    terms: tuple[Term, ...] = ()
    knots: tuple[tuple[float, float], ...] = ()

    def p_yes(self, features: Features) -> float:
        """Return P(YES); 0.5 from the raw model where the policy gave no answer."""
        odds = features.log_odds or 0.0
        if self.kind == "raw":
            return logistic(odds)
        if self.kind == "isotonic":
            return float(np.interp(odds, [x for x, _ in self.knots], [y for _, y in self.knots]))
        return logistic(self.intercept + sum(term.of(_value(features, term.name)) for term in self.terms))

    @property
    def uses_claims(self) -> bool:
        """Whether P(YES) depends on the claims of the samples."""
        return any(term.name in COUNTS for term in self.terms)

    def to_json(self) -> dict[str, Any]:
        terms = [[term.name, term.mean, term.scale, term.weight, term.missing] for term in self.terms]
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            "intercept": self.intercept,
            "terms": terms,
            "knots": [list(knot) for knot in self.knots],
        }

    @property
    def sha256(self) -> str:
        """SHA-256 of the JSON form with sorted keys and without spaces."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True, separators=(",", ":")).encode()).hexdigest()

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ScoreModel:
        """Read the JSON form. :raises ScoreError: the field, what was found, what was expected"""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            schema = data.get("schema") if isinstance(data, Mapping) else type(data).__name__
            raise ScoreError(tr("score.schema: found {found!r:.60}, expected {schema!r}", found=schema, schema=SCHEMA))
        kind: Kind | None = next((kind for kind in get_args(Kind) if kind == data.get("kind")), None)
        if kind is None:
            raise ScoreError(
                tr(
                    "score.kind: found {get!r:.60}, expected one of {names}",
                    get=data.get("kind"),
                    names=", ".join(get_args(Kind)),
                )
            )
        terms = tuple(_term(row) for row in _rows(data, "terms"))
        knots = tuple(_knot(row) for row in _rows(data, "knots"))
        if kind == "isotonic" and not knots:
            raise ScoreError(tr("score.knots: found none, expected one or more for an isotonic model"))
        if any(before[0] > after[0] for before, after in pairwise(knots)):
            raise ScoreError(tr("score.knots: found log odds that decrease, expected them in increasing order"))
        return cls(kind, _finite(data.get("intercept"), "intercept"), terms, knots)


RAW = ScoreModel("raw")


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    :param cross_fitted: (n,) P(YES) of each case from models that did not see its spectrum
    :param log_loss: mean log loss of each kind, cross-fitted, by which the kind was chosen; smaller is better
    :param why: why this kind was chosen, in a sentence
    """

    model: ScoreModel
    cross_fitted: FloatArray
    log_loss: Mapping[Kind, float]
    why: str


def fit(features: Sequence[Features], labels: Sequence[bool], groups: Sequence[str], seed: int = 0) -> Fit:
    """Fit P(YES): the kind with the least cross-validated log loss among "scaled", "logistic" and "isotonic".

    With fewer than ``FEWEST`` spectra of a label nothing is fitted and the model is ``RAW``.

    :param labels: True for YES, one per case
    :param groups: the spectrum of each case; all cases of one spectrum are in one fold
    """
    y = np.asarray(labels, dtype=bool)
    raw = np.array([RAW.p_yes(feature) for feature in features], dtype=float)
    yes, no = (
        len({group for group, label in zip(groups, labels, strict=True) if label is truth}) for truth in (True, False)
    )
    losses: dict[Kind, float] = {"raw": log_loss(raw, y)} if len(y) else {}
    if min(yes, no) < FEWEST:
        why = deferred(
            "not fitted: {yes} spectra are YES and {no} are NO; a fit needs {fewest} of each",
            yes=yes,
            no=no,
            fewest=FEWEST,
        )
        return Fit(RAW, raw, losses, why)
    folds = list(_folds(y, groups, seed))
    out_of_fold: dict[Kind, FloatArray] = {}
    for kind in ("scaled", "logistic", "isotonic"):
        p = np.zeros(len(y))
        for train, test in folds:
            model = _fitted(kind, [features[at] for at in train], y[train])
            p[test] = [model.p_yes(features[at]) for at in test]
        out_of_fold[kind] = p
        losses[kind] = log_loss(p, y)
    best = min(out_of_fold, key=lambda kind: losses[kind])
    rest = ", ".join(f"{kind} {loss:.4f}" for kind, loss in losses.items())
    return Fit(
        _fitted(best, features, y),
        out_of_fold[best],
        losses,
        deferred("{best}: least log loss over {n_folds} folds ({rest})", best=best, n_folds=len(folds), rest=rest),
    )


def log_loss(p: FloatArray, yes: BoolArray) -> float:
    """Return the mean of -ln P(label), with P(YES) limited to 1e-6 from 0 and 1."""
    limited = np.clip(p, _SMALLEST, 1 - _SMALLEST)
    return float(-np.mean(np.log(np.where(yes, limited, 1 - limited))))


def logistic(log_odds: float) -> float:
    """Return the probability with these log odds."""
    if log_odds >= 0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    small = math.exp(log_odds)
    return small / (1.0 + small)


def _folds(y: BoolArray, groups: Sequence[str], seed: int) -> Iterator[tuple[Any, Any]]:
    """Yield (numbers of the cases to fit on, numbers of the others), stratified by label, without splitting a group."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    names, group = np.unique(np.asarray(groups), return_inverse=True)
    if len(names) == len(y):
        # The same meaning with one case per spectrum; StratifiedGroupKFold needs milliseconds per spectrum.
        yield from StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
        return
    splitter = StratifiedGroupKFold(n_splits=min(FOLDS, len(names)), shuffle=True, random_state=seed)
    yield from splitter.split(np.zeros(len(y)), y, group)


def _fitted(kind: Kind, features: Sequence[Features], y: BoolArray) -> ScoreModel:
    if kind == "isotonic":
        return _isotonic(features, y)
    return _linear(kind, features, y, (_LOG_ODDS,) if kind == "scaled" else _INPUTS)


def _isotonic(features: Sequence[Features], y: BoolArray) -> ScoreModel:
    from sklearn.isotonic import IsotonicRegression

    # P(YES) of 0 or 1 would be a certainty that n labels cannot give: the ends are those of Laplace's rule.
    end = 1.0 / (len(y) + 2)
    curve = IsotonicRegression(y_min=end, y_max=1 - end, out_of_bounds="clip")
    curve.fit([feature.log_odds or 0.0 for feature in features], y.astype(float))
    knots = zip(curve.X_thresholds_, curve.y_thresholds_, strict=True)
    return ScoreModel("isotonic", knots=tuple((float(odds), float(p)) for odds, p in knots))


def _linear(kind: Kind, features: Sequence[Features], y: BoolArray, names: Sequence[str]) -> ScoreModel:
    """Fit a logistic regression with L2 penalty (C = 1) on standardised features and indicators of missing values.

    A feature without two different values, and an indicator that is always or never set, are left out.
    """
    from sklearn.linear_model import LogisticRegression

    columns: list[FloatArray] = []
    fitted: list[tuple[str, float, float, int | None, int | None]] = []
    for name in names:
        values = np.array(
            [np.nan if (value := _value(feature, name)) is None else value for feature in features], dtype=float
        )
        missing = np.isnan(values)
        known = values[~missing]
        mean, scale = (float(known.mean()), float(known.std())) if known.size else (0.0, 0.0)
        at = at_missing = None
        if scale > 1e-9:
            at = len(columns)
            columns.append(np.where(missing, 0.0, (values - mean) / scale))
        if missing.any() and not missing.all():
            at_missing = len(columns)
            columns.append(missing.astype(float))
        if at is not None or at_missing is not None:
            fitted.append((name, mean, scale if at is not None else 1.0, at, at_missing))
    if not columns:
        share = (int(y.sum()) + 1) / (len(y) + 2)
        return ScoreModel(kind, intercept=math.log(share / (1 - share)))
    model = LogisticRegression(C=1.0, max_iter=1000).fit(np.stack(columns, axis=1), y)
    weights = [float(weight) for weight in model.coef_[0]]

    def weight(at: int | None) -> float:
        return 0.0 if at is None else weights[at]

    terms = tuple(Term(name, mean, scale, weight(at), weight(missing)) for name, mean, scale, at, missing in fitted)
    return ScoreModel(kind, intercept=float(model.intercept_[0]), terms=terms)


def _value(features: Features, name: str) -> float | None:
    """Return a feature as the models use it: counts as ln(1 + n), as their distribution has a long tail."""
    value: float | None = getattr(features, name)
    return math.log1p(value) if name in COUNTS and value is not None else value


def _rows(data: Mapping[str, Any], name: str) -> list[Any]:
    rows = data.get(name)
    if not isinstance(rows, list):
        raise ScoreError(tr("score.{name}: found {name2}, expected a list", name=name, name2=type(rows).__name__))
    return rows


def _term(row: object) -> Term:
    if not isinstance(row, list) or len(row) != 5 or row[0] not in (_LOG_ODDS, *_INPUTS):
        known = ", ".join((_LOG_ODDS, *_INPUTS))
        raise ScoreError(
            tr(
                "score.terms: found {row!r:.80}, expected [name, mean, scale, weight, missing] of {known}",
                row=row,
                known=known,
            )
        )
    mean, scale, weight, missing = (_finite(value, "terms") for value in row[1:])
    if scale <= 0:
        raise ScoreError(
            tr("score.terms: found a scale of {scale:g} for {row}, expected one above 0", scale=scale, row=row[0])
        )
    return Term(row[0], mean, scale, weight, missing)


def _knot(row: object) -> tuple[float, float]:
    if not isinstance(row, list) or len(row) != 2:
        raise ScoreError(tr("score.knots: found {row!r:.80}, expected [log odds, P(YES)]", row=row))
    odds, p = _finite(row[0], "knots"), _finite(row[1], "knots")
    if not 0 <= p <= 1:
        raise ScoreError(tr("score.knots: found P(YES) {p:g}, expected 0 to 1", p=p))
    return odds, p


def _finite(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ScoreError(tr("score.{name}: found {value!r:.60}, expected a finite number", name=name, value=value))
    return float(value)
