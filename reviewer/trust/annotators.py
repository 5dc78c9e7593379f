"""Votes of several people as noisy labels: skill of each person, P(YES) of each spectrum, wrong labels.

Dawid & Skene 1979, Applied Statistics 28, 20. Pure functions over votes and arrays, no database; one call per task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.statistics import FloatArray
from reviewer.agreement.values import Estimate

SKILL_PRIOR = (3.0, 1.5)
"""Beta prior of each sensitivity and specificity (right, wrong): mean 0.67, worth 4.5 votes."""
PREVALENCE_PRIOR = (1.0, 1.0)
"""Beta prior of the prevalence: uniform."""
FEW_VOTES = 20
"""Votes of a person that can be compared (two other people voted on the spectrum, or its label is known) below which
no skill is given."""
FEW_OF_CLASS = 5
"""Expected YES (NO) spectra among a person's votes below which no sensitivity (specificity) is given."""
CHAINS, BURN_IN, KEPT, THIN = 100, 100, 20, 10

_ITERATIONS = 2000
_SKILL = deferred(
    "Dawid & Skene 1979: {what}; mean and central 95 % of the posterior sample (data augmentation, Tanner & Wong "
    "1987), prior Beta(3, 1.5). Votes are assumed independent given the true class: the interval is too narrow where "
    "some spectra are hard for everybody."
)
_PREVALENCE = deferred(
    "Dawid & Skene 1979: share of YES among the spectra with votes; mean and central 95 % of the posterior sample, "
    "uniform prior. The interval is too narrow where some spectra are hard for everybody."
)
_NOISE = deferred(
    "Lower bound of the error rate of one vote: half the Clopper-Pearson lower bound (one-sided, {percent:g} %) of the "
    "share of spectra on which two people disagree, as one of the two is then wrong."
)


class VotesError(Refusal, ValueError):
    """Votes or arrays that cannot be used: what was found, what was expected."""


class Vote(Protocol):
    """One person's answer for one spectrum."""

    @property
    def spectrum_sha256(self) -> str: ...
    @property
    def person(self) -> str: ...
    @property
    def verdict(self) -> str: ...


@dataclass(frozen=True)
class Skill:
    """How often a person is right.

    :param votes: spectra on which the person voted
    :param compared: those of them with two other people's votes or a known label
    :param sensitivity: probability that the person says YES if it is YES
    :param specificity: probability that the person says NO if it is NO
    """

    person: str
    votes: int
    compared: int
    sensitivity: Estimate
    specificity: Estimate

    def to_json(self) -> dict[str, Any]:
        return {
            "person": self.person,
            "votes": self.votes,
            "compared": self.compared,
            "sensitivity": self.sensitivity.to_json(),
            "specificity": self.specificity.to_json(),
        }


@dataclass(frozen=True)
class Annotators:
    """Result of the votes of one task.

    :param p_yes: P(YES) of each spectrum with a known label or a vote of a person with enough votes
    :param reason: why there are no numbers, "" if there are
    """

    skills: tuple[Skill, ...]
    prevalence: Estimate
    p_yes: Mapping[str, float]
    reason: str

    def to_json(self) -> dict[str, Any]:
        return {
            "skills": [skill.to_json() for skill in self.skills],
            "prevalence": self.prevalence.to_json(),
            "p_yes": dict(self.p_yes),
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Model:
    """Parameters of Dawid and Skene's model.

    :param sensitivity: (people,)
    :param specificity: (people,)
    """

    prevalence: float
    sensitivity: FloatArray
    specificity: FloatArray


@dataclass(frozen=True)
class Table:
    """Votes by spectrum and person, both sorted by name.

    :param votes: (spectra, people): 1 YES, 0 NO, -1 no vote
    :param known: (spectra,): the same for known labels
    """

    spectra: tuple[str, ...]
    people: tuple[str, ...]
    votes: NDArray[np.int8]
    known: NDArray[np.int8]


def table_of(votes: Iterable[Vote], known: Mapping[str, bool] | None = None) -> Table:
    """Return the table; of several votes of one person on one spectrum the last counts.

    :param known: labels that are certain, by spectrum
    :raises VotesError: a verdict that is neither YES nor NO
    """
    certain = dict(known or {})
    given: dict[tuple[str, str], bool] = {}
    for vote in votes:
        if vote.verdict not in ("YES", "NO"):
            raise VotesError(
                tr(
                    "votes: {person!r} has the verdict {verdict!r}; expected YES or NO",
                    person=vote.person,
                    verdict=vote.verdict,
                )
            )
        given[vote.spectrum_sha256, vote.person] = vote.verdict == "YES"
    spectra = tuple(sorted({spectrum for spectrum, _ in given} | set(certain)))
    people = tuple(sorted({person for _, person in given}))
    rows, columns = ({name: i for i, name in enumerate(names)} for names in (spectra, people))
    array = np.full((len(spectra), len(people)), -1, dtype=np.int8)
    for (spectrum, person), yes in given.items():
        array[rows[spectrum], columns[person]] = yes
    labels = np.array([certain.get(spectrum, -1) for spectrum in spectra], dtype=np.int8)
    return Table(spectra, people, array, labels)


def annotators(votes: Iterable[Vote], known: Mapping[str, bool] | None = None, seed: int = 0) -> Annotators:
    """Return skills, prevalence and P(YES) of each spectrum.

    With fewer than three people per spectrum the votes alone do not determine the skills (Hui & Walter 1980,
    Biometrics 36, 167): one pair of error rates explains them as well as another. A person's number then would be the
    prior's, and is not given. Known labels count as a person who makes no errors.

    :raises VotesError: a verdict that is neither YES nor NO
    """
    table = table_of(votes, known)
    voted = table.votes >= 0
    others = voted.sum(axis=1)[:, None] - voted
    compared = (voted & ((others >= 2) | (table.known >= 0)[:, None])).sum(axis=0)
    skilled = compared >= FEW_VOTES
    reason = _not_identified(table, compared)
    if reason:
        certain = {s: float(label) for s, label in zip(table.spectra, table.known, strict=True) if label >= 0}
        undefined = [Estimate.undefined(reason, 0, _SKILL.format(what=what)) for what in _WHATS]
        skills = [
            Skill(person, int(voted[:, j].sum()), int(compared[j]), undefined[0], undefined[1])
            for j, person in enumerate(table.people)
        ]
        nothing = Estimate.undefined(reason, len(table.spectra), _PREVALENCE, n_of="spectra")
        return Annotators(tuple(skills), nothing, certain, reason)
    sample = _posterior(table, seed)
    p_yes = sample.p_yes
    skills = []
    for j, person in enumerate(table.people):
        n = int(voted[:, j].sum())
        of_class = [float(p_yes[voted[:, j]].sum()), float((1 - p_yes)[voted[:, j]].sum())]
        ends = []
        for what, name, expected, values in zip(
            _WHATS, ("YES", "NO"), of_class, (sample.sensitivity[:, j], sample.specificity[:, j]), strict=True
        ):
            definition = deferred(_SKILL, what=what)
            if not skilled[j]:
                why = deferred(
                    "{n} votes that can be compared with those of two others; {needed} needed",
                    n=int(compared[j]),
                    needed=FEW_VOTES,
                )
                ends.append(Estimate.undefined(why, n, definition, n_of="votes"))
            elif expected < FEW_OF_CLASS:
                why = deferred(
                    "about {expected:.0f} of the {n} spectra are {verdict}; {needed} needed",
                    expected=expected,
                    n=n,
                    verdict=name,
                    needed=FEW_OF_CLASS,
                )
                ends.append(Estimate.undefined(why, n, definition, n_of="votes"))
            else:
                ends.append(_of_sample(values, n, definition, "votes"))
        skills.append(Skill(person, n, int(compared[j]), ends[0], ends[1]))
    prevalence = _of_sample(sample.prevalence, len(table.spectra), _PREVALENCE, "spectra")
    judged = (voted & skilled).any(axis=1) | (table.known >= 0)
    p_of = {table.spectra[i]: float(p_yes[i]) for i in np.flatnonzero(judged)}
    return Annotators(tuple(skills), prevalence, p_of, "")


_WHATS = (deferred("probability of the vote YES if it is YES"), deferred("probability of the vote NO if it is NO"))


def _not_identified(table: Table, compared: NDArray[np.int64]) -> str:
    if not table.people:
        return deferred("no votes")
    if int(compared.max(initial=0)) >= FEW_VOTES:
        return ""
    return deferred(
        "no person has {needed} votes on spectra with votes of two other people or a known label (the most is {most}); "
        "with fewer the skills would rest on the prior, not on the votes",
        needed=FEW_VOTES,
        most=int(compared.max(initial=0)),
    )


def em(table: Table, weights: FloatArray | None = None) -> tuple[Model, FloatArray]:
    """Return the mode of the posterior by expectation and maximisation, and P(YES) of each spectrum, (spectra,).

    It starts from the share of YES votes per spectrum.

    :param weights: (spectra,), default 1
    """
    w = np.ones(len(table.spectra)) if weights is None else weights
    yes, no = (table.votes == 1).astype(float), (table.votes == 0).astype(float)
    total = (yes + no).sum(axis=1)
    p = np.where(total > 0, yes.sum(axis=1) / np.maximum(total, 1), 0.5)
    p = np.where(table.known >= 0, table.known, p)
    right, wrong = (pseudo - 1 for pseudo in SKILL_PRIOR)
    positive, negative = (pseudo - 1 for pseudo in PREVALENCE_PRIOR)
    model = None
    for _ in range(_ITERATIONS):
        a, b = w * p, w * (1 - p)
        model = Model(
            float((a.sum() + positive) / (w.sum() + positive + negative)),
            (a @ yes + right) / (a @ (yes + no) + right + wrong),
            (b @ no + right) / (b @ (yes + no) + right + wrong),
        )
        new = _p_yes(model.prevalence, model.sensitivity, model.specificity, yes, no, table.known)
        change = float(np.abs(new - p).max(initial=0.0))
        p = new
        if change < 1e-9:
            break
    if model is None:
        raise VotesError(tr("votes: no iteration was made"))
    return model, p


def _p_yes(
    prevalence: Any, sensitivity: FloatArray, specificity: FloatArray, yes: FloatArray, no: FloatArray, known: Any
) -> FloatArray:
    """Return P(YES), (..., spectra); the parameters are (...), (..., people), the votes (spectra, people)."""
    with np.errstate(divide="ignore"):
        prior = np.log(prevalence) - np.log1p(-np.asarray(prevalence))
    odds = np.log(sensitivity / (1 - specificity)) @ yes.T + np.log((1 - sensitivity) / specificity) @ no.T
    p = 1 / (1 + np.exp(-np.clip(odds + np.asarray(prior)[..., None], -700, 700)))
    return cast(FloatArray, np.where(known >= 0, known, p))


@dataclass(frozen=True)
class _Sample:
    prevalence: FloatArray  # (samples,)
    sensitivity: FloatArray  # (samples, people)
    specificity: FloatArray
    p_yes: FloatArray  # (spectra,), mean


def _posterior(table: Table, seed: int) -> _Sample:
    """Sample the posterior: true classes given the parameters, parameters given the classes, in turn.

    Spectra with the same votes are counted together. All chains start at the mode.
    """
    rng = np.random.default_rng(seed)
    both = np.concatenate([table.votes, table.known[:, None]], axis=1)
    patterns, member, counts = np.unique(both, axis=0, return_inverse=True, return_counts=True)
    member = member.ravel()
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    yes, no = (patterns[:, :-1] == 1).astype(float), (patterns[:, :-1] == 0).astype(float)
    known = patterns[:, -1]
    mode, _ = em(table)
    prevalence = _inside(np.full(CHAINS, mode.prevalence))
    sensitivity = _inside(np.tile(mode.sensitivity, (CHAINS, 1)))
    specificity = _inside(np.tile(mode.specificity, (CHAINS, 1)))
    kept: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    total = np.zeros(len(patterns))
    for step in range(1, BURN_IN + KEPT * THIN + 1):
        p = _p_yes(prevalence, sensitivity, specificity, yes, no, known)
        if step > BURN_IN:
            total += p.mean(axis=0)
        classes = rng.random((CHAINS, len(member)), dtype=np.float32) < np.repeat(p, counts, axis=1)
        positive = np.add.reduceat(classes, starts, axis=1, dtype=np.int64)
        negative = counts - positive
        prevalence = _inside(rng.beta(positive.sum(1) + PREVALENCE_PRIOR[0], negative.sum(1) + PREVALENCE_PRIOR[1]))
        right, wrong = SKILL_PRIOR
        sensitivity = _inside(rng.beta(positive @ yes + right, positive @ no + wrong))
        specificity = _inside(rng.beta(negative @ no + right, negative @ yes + wrong))
        if step > BURN_IN and (step - BURN_IN) % THIN == 0:
            kept.append((prevalence, sensitivity, specificity))
    first, second, third = (np.concatenate([sample[i] for sample in kept]) for i in range(3))
    return _Sample(first, second, third, (total / (KEPT * THIN))[member])


def _inside(values: FloatArray) -> FloatArray:
    """Return probabilities that are neither 0 nor 1 after rounding."""
    return cast(FloatArray, np.clip(values, 1e-6, 1 - 1e-6))


def _of_sample(values: FloatArray, n: int, definition: str, n_of: str) -> Estimate:
    low, high = np.quantile(values, (0.025, 0.975))
    return Estimate(float(values.mean()), float(low), float(high), n, definition, n_of=n_of)


def label_noise(votes: Iterable[Vote], delta: float = 0.05, seed: int = 0) -> Estimate:
    """Return a lower confidence bound of the error rate of one vote; ``value`` is the bound, without an interval.

    Nothing is assumed about how people err: of two that disagree one is wrong, so the mean of their error rates is at
    least half the share of spectra on which they disagree. Of a spectrum with more votes one pair is sampled. The bound
    fails with probability ``delta``, in addition to the δ of a certificate that uses it. For
    ``agent.trust.sides.Requirements.label_noise`` three things must hold: labels are single votes like these; the
    spectra with two votes are a random sample of the labelled ones; and the bound is taken from the votes of the cases
    beyond the threshold, since people err less often there than on doubtful spectra.
    """
    from scipy.stats import beta

    table = table_of(votes)
    definition = deferred(_NOISE, percent=100 * (1 - delta))
    rng = np.random.default_rng(seed)
    pairs = [rng.choice(row[row >= 0], 2, replace=False) for row in table.votes if (row >= 0).sum() >= 2]
    n, k = len(pairs), int(sum(pair != other for pair, other in pairs))
    detail = {"disagree": k, "delta": delta}
    if not n:
        nobody = deferred("no spectrum has votes of two people")
        return Estimate.undefined(nobody, 0, definition, detail, "spectra")
    bound = float(beta.ppf(delta, k, n - k + 1)) / 2 if k else 0.0
    why = deferred("the value is itself a bound")
    return Estimate(bound, None, None, n, definition, why, detail, "spectra")


@dataclass(frozen=True)
class Suspect:
    """A label that may be wrong.

    :param spectrum: the group
    :param label: the label as it is
    :param p_yes: mean cross-validated P(YES) of the cases of this spectrum
    """

    spectrum: str
    label: bool
    p_yes: float
    reason: str


def suspects(p_yes: Sequence[float], labels: Sequence[bool], groups: Sequence[str]) -> tuple[Suspect, ...]:
    """Return the labels that disagree strongly with P(YES), the strongest first.

    Confident learning (Northcutt, Jiang & Chuang 2021, JAIR 70, 1373): a label YES is a suspect if P(NO) is at least
    its mean over the spectra labelled NO and above 1/2, and likewise a label NO. Empty if one of the labels is missing.

    :param p_yes: (n,), cross-validated: the model did not see the case (``agent.trust.score.Fit.cross_fitted``)
    :param labels: (n,)
    :param groups: (n,), spectrum of each case; cases of one spectrum count once
    :raises VotesError: lengths that differ, a P(YES) outside 0 to 1, two labels for one spectrum
    """
    if not len(p_yes) == len(labels) == len(groups):
        raise VotesError(
            tr(
                "suspects: {n_p_yes} P(YES), {n_labels} labels, {n_groups} groups; expected as many",
                n_p_yes=len(p_yes),
                n_labels=len(labels),
                n_groups=len(groups),
            )
        )
    gathered: dict[str, list[float]] = {}
    label_of: dict[str, bool] = {}
    for p, label, group in zip(p_yes, labels, groups, strict=True):
        if not 0 <= p <= 1:
            raise VotesError(
                tr("suspects: P(YES) of {group!r} is {p}; expected a number from 0 to 1", group=group, p=p)
            )
        if label_of.setdefault(group, bool(label)) != bool(label):
            raise VotesError(tr("suspects: {group!r} has both labels; expected one", group=group))
        gathered.setdefault(group, []).append(float(p))
    mean = {group: math.fsum(values) / len(values) for group, values in gathered.items()}
    typical: dict[bool, float] = {}
    for label in (True, False):
        of_label = [mean[group] if label else 1 - mean[group] for group, pair in label_of.items() if pair is label]
        if not of_label:
            return ()
        typical[label] = math.fsum(of_label) / len(of_label)
    doubted = []
    for group, label in label_of.items():
        other = 1 - mean[group] if label else mean[group]
        if other > 0.5 and other >= typical[not label]:
            this, that = ("YES", "NO") if label else ("NO", "YES")
            reason = deferred(
                "Label {this}, but P({that}) is {other:.2f} by the other labelled spectra; spectra labelled "
                "{that} have {typical:.2f} on average.",
                this=this,
                that=that,
                other=other,
                typical=typical[not label],
            )
            doubted.append((other, Suspect(group, label, mean[group], reason)))
    return tuple(suspect for _, suspect in sorted(doubted, key=lambda pair: (-pair[0], pair[1].spectrum)))
