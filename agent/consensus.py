"""Combine independent samples of one spectrum (self-consistency, Wang et al. 2023, ICLR) into YES, NO or *ask a
person*, with the reasons. The published agent answers once; vote and triage are ours.

The fraction of YES and its interval describe how consistent a policy is, not how often it is right.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

from agent.language import deferred, deferredn, joined, tr
from agent.lines import convert
from agent.measure import COARSE, Undefined, Window, coverage, rest, signal_to_noise
from agent.measure.pixels import shown
from agent.measure.values import signed
from agent.spectrum import Spectrum
from agent.statistics import wilson
from agent.tasks import Task
from agent.trajectory import Trajectory
from agent.trajectory.steps import Answer, Verdict, Zoom

What = Literal["look", "answer", "nothing"]

SAME = 0.5
"""Two zooms are one branch if their overlap is more than this fraction of their union."""


@dataclass(frozen=True)
class Node:
    """What several samples have in common in one turn.

    ``samples`` are their numbers from 0; ``window`` is the stretch that their zooms span together, in observed Å in
    the spectrum's medium (None if no window could be read); ``label`` is the most frequent one. A trace without an
    answer ends with a node "nothing".
    """

    turn: int
    samples: tuple[int, ...]
    what: What
    window: Window | None = None
    label: str = ""
    verdict: Verdict | None = None
    next: tuple[Node, ...] = ()


@dataclass(frozen=True)
class _Act:
    what: What
    window: Window | None = None
    label: str = ""
    verdict: Verdict | None = None

    def similarity(self, other: _Act) -> float:
        """Return how similar two acts are, 0 to 1."""
        if self.what != other.what or self.verdict != other.verdict:
            return 0.0
        if self.window is None or other.window is None:
            # Two measurements are alike where they are of one line.
            return 1.0 if self.window == other.window and self.label == other.label else 0.0
        both = min(self.window[1], other.window[1]) - max(self.window[0], other.window[0])
        lo, hi = _union([self.window, other.window])
        return max(both, 0.0) / (hi - lo)


def paths(trajectories: Sequence[Trajectory]) -> tuple[Node, ...]:
    """Return the tree as the nodes of its first turn, those with most samples first.

    A zoom belongs to the branch whose first sample's window is most similar; so a branch does not move as samples are
    added.
    """
    acts = [_acts(trajectory) for trajectory in trajectories]
    return _nodes(acts, tuple(range(len(acts))), 0)


def parts_at(nodes: tuple[Node, ...]) -> int | None:
    """Return the first turn (from 1) in which the samples differ; None if there is none."""
    while len(nodes) == 1:
        nodes = nodes[0].next
    return nodes[0].turn if nodes else None


def node_to_json(node: Node) -> dict[str, Any]:
    """Return the JSON form of a node and of all after it."""
    return {
        "turn": node.turn,
        "samples": list(node.samples),
        "what": node.what,
        "window": None if node.window is None else list(node.window),
        "label": node.label,
        "verdict": node.verdict,
        "next": [node_to_json(after) for after in node.next],
    }


def _acts(trajectory: Trajectory) -> list[_Act]:
    """Return what a sample did, one act per turn; the last is an answer or nothing."""
    acts: list[_Act] = []
    for turn in trajectory.turns():
        match turn[-1]:
            case Zoom() as zoom:
                label = zoom.tool if zoom.shows_sky else zoom.label
                acts.append(_Act("look", _increasing(zoom.window_observed), label))
            case Answer(verdict=verdict):
                return [*acts, _Act("answer", verdict=verdict)]
    return [*acts, _Act("nothing")]


def _increasing(window: Window | None) -> Window | None:
    return window if window is not None and -math.inf < window[0] < window[1] < math.inf else None


def _nodes(acts: Sequence[Sequence[_Act]], samples: tuple[int, ...], turn: int) -> tuple[Node, ...]:
    branches: list[list[int]] = []
    for sample in samples:
        if turn >= len(acts[sample]):
            continue
        similarity = [acts[sample][turn].similarity(acts[branch[0]][turn]) for branch in branches]
        best = max(similarity, default=0.0)
        if best > SAME:
            branches[similarity.index(best)].append(sample)
        else:
            branches.append([sample])
    ordered = sorted(branches, key=lambda branch: (-len(branch), branch[0]))
    return tuple(_node(acts, tuple(branch), turn) for branch in ordered)


def _node(acts: Sequence[Sequence[_Act]], samples: tuple[int, ...], turn: int) -> Node:
    here = [acts[sample][turn] for sample in samples]
    windows = [act.window for act in here if act.window is not None]
    return Node(
        turn=turn + 1,
        samples=samples,
        what=here[0].what,
        window=_union(windows) if windows else None,
        label=Counter(act.label for act in here).most_common(1)[0][0],
        verdict=here[0].verdict,
        next=_nodes(acts, samples, turn + 1),
    )


def _union(windows: Sequence[Window]) -> Window:
    return min(window[0] for window in windows), max(window[1] for window in windows)


DEFINITION = deferred(
    "The fraction is YES among the samples that answered; the interval is its Wilson score "
    "interval at 68 % (Wilson 1927). Both tell how consistent the policy is with itself, not "
    "how often it is right."
)
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Limits:
    """When a spectrum is left to a person instead of getting a verdict:

    - no sample answered, or the most frequent answer has less than ``majority`` of all samples, those without an
      answer included;
    - the S/N over the whole spectrum is below ``snr`` or undefined;
    - a sample that agrees with the majority is marked "cannot tell" by its policy, as the baseline does;
    - the spectrum is sampled more coarsely than ``agent.measure.COARSE``;
    - any primary feature of the task has data in less than ``coverage`` of its span, even if others are covered; for a
      feature that requires another one, the span of that one decides;
    - the majority is too small without the answers that directly followed a zoom on a stretch without data;
    - the policy gives a score, as the baseline does, and the size of its mean is below ``margin``.

    :param majority: the fraction of all samples, above 0 and at most 1, that has to give the verdict
    :param snr: the least signal-to-noise ratio, per pixel
    :param coverage: the fraction (0 to 1) of each primary feature's span that has to hold data
    :param margin: the least size of the mean score (log odds), 0 or more; how it was chosen is in docs/baseline.md
    """

    majority: float = 2 / 3
    snr: float = 3.0
    coverage: float = 0.5
    margin: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.majority <= 1:
            raise ValueError(
                tr("majority: found {majority}, expected more than 0 and at most 1", majority=self.majority)
            )
        if not math.isfinite(self.snr):
            raise ValueError(tr("snr: found {snr}, expected a finite number", snr=self.snr))
        if not 0 <= self.coverage <= 1:
            raise ValueError(tr("coverage: found {coverage}, expected 0 to 1", coverage=self.coverage))
        if not (math.isfinite(self.margin) and self.margin >= 0):
            raise ValueError(tr("margin: found {margin}, expected a number, 0 or more", margin=self.margin))


@dataclass(frozen=True)
class Consensus:
    """The combined result of the samples of one spectrum.

    ``leaning`` is the most frequent answer, None in a tie; ``verdict`` is the same, or None if there are ``reasons``
    to ask a person. ``yes_fraction`` and ``interval`` are defined in ``DEFINITION``, None if nothing was answered.
    ``snr`` is per pixel, None if undefined. ``score`` is the mean log odds of YES of the samples whose policy gives
    them, None if none does. ``paths`` is the tree of the traces, ``parts_at`` the first turn in which they differ.
    """

    samples: int
    yes: int
    no: int
    leaning: Verdict | None
    verdict: Verdict | None
    reasons: tuple[str, ...]
    yes_fraction: float | None
    interval: tuple[float, float] | None
    snr: float | None
    score: float | None
    parts_at: int | None
    paths: tuple[Node, ...]

    @property
    def none(self) -> int:
        """Number of samples without a YES or NO."""
        return self.samples - self.yes - self.no

    @property
    def needs_person(self) -> bool:
        return self.verdict is None


def consensus(
    trajectories: Sequence[Trajectory], spectrum: Spectrum, task: Task, limits: Limits | None = None
) -> Consensus:
    """Combine independent samples of one spectrum.

    :param trajectories: the samples, in their order; those that failed or were stopped have no answer
    """
    limits = limits or Limits()
    verdicts = [_verdict(trajectory) for trajectory in trajectories]
    yes, no = verdicts.count("YES"), verdicts.count("NO")
    leaning = _leaning(verdicts)
    snr = typical_snr(spectrum)
    thin = _too_small(verdicts, leaning, limits)
    undecided = thin or leaning is None
    blind = None if undecided else _without_data(trajectories, verdicts, leaning, spectrum, limits)
    score = mean_score(trajectories)
    close = None if undecided else _close(score, leaning, limits)
    voted = tuple(reason for reason in (thin, blind, close) if reason)
    reasons = (*voted, *data_reasons(trajectories, spectrum, task, limits))
    ways = paths(trajectories)
    return Consensus(
        samples=len(trajectories),
        yes=yes,
        no=no,
        leaning=leaning,
        verdict=None if reasons else leaning,
        reasons=reasons,
        yes_fraction=yes / (yes + no) if yes + no else None,
        interval=wilson(yes / (yes + no), yes + no, z=1.0) if yes + no else None,
        snr=None if isinstance(snr, Undefined) else snr,
        score=score,
        parts_at=parts_at(ways),
        paths=ways,
    )


def data_reasons(
    trajectories: Sequence[Trajectory], spectrum: Spectrum, task: Task, limits: Limits | None = None
) -> tuple[str, ...]:
    """Return why the data, or the lack of an answer, leave a spectrum to a person, whatever the answers are.

    These are the reasons of ``Limits`` about no answer, "cannot tell", S/N, sampling and coverage; those about the
    majority, the margin and zooms without data are left out.
    """
    limits = limits or Limits()
    verdicts = [_verdict(trajectory) for trajectory in trajectories]
    reasons = (
        _unanswered(verdicts),
        _cannot_tell(trajectories, _leaning(verdicts)),
        _noisy(typical_snr(spectrum), spectrum, limits),
        _coarse(spectrum),
        *_uncovered(spectrum, task, limits),
    )
    return tuple(reason for reason in reasons if reason)


def to_json(consensus: Consensus) -> dict[str, Any]:
    """Return the JSON form, for the page and for ``--json``."""
    return {
        "samples": consensus.samples,
        "yes": consensus.yes,
        "no": consensus.no,
        "none": consensus.none,
        "leaning": consensus.leaning,
        "verdict": consensus.verdict,
        "ask": consensus.needs_person,
        "reasons": list(consensus.reasons),
        "yes_fraction": consensus.yes_fraction,
        "interval": None if consensus.interval is None else list(consensus.interval),
        "definition": DEFINITION,
        "snr": consensus.snr,
        "score": consensus.score,
        "parts_at": consensus.parts_at,
        "paths": [node_to_json(node) for node in consensus.paths],
    }


def typical_snr(spectrum: Spectrum) -> float | Undefined:
    """Return the signal-to-noise per pixel, the median over the whole spectrum: measured, not the catalogue's."""
    return signal_to_noise(spectrum, (float(spectrum.wavelength[0]), float(spectrum.wavelength[-1])))


def mean_score(trajectories: Sequence[Trajectory]) -> float | None:
    """Return the mean of the scores (log odds of YES) that came with the answers; None if there are none."""
    scores = [t.answer.score for t in trajectories if t.answer is not None and t.answer.score is not None]
    return fmean(scores) if scores else None


def _close(score: float | None, leaning: Verdict | None, limits: Limits) -> str | None:
    """Return a reason if the score is too close to 0."""
    if score is None or leaning is None or abs(score) >= limits.margin:
        return None
    odds = deferred(
        "the log odds of YES are {score}; expected ±{margin:g} or beyond", score=signed(score), margin=limits.margin
    )
    return deferred("A narrow {leaning}: {odds}.", leaning=leaning, odds=odds)


def _verdict(trajectory: Trajectory) -> Verdict | None:
    return None if trajectory.answer is None else trajectory.answer.verdict


def _leaning(verdicts: Sequence[Verdict | None]) -> Verdict | None:
    """Return the most frequent answer, None in a tie."""
    yes, no = verdicts.count("YES"), verdicts.count("NO")
    return None if yes == no else "YES" if yes > no else "NO"


def _unanswered(verdicts: Sequence[Verdict | None]) -> str | None:
    """Return a reason if no sample answered."""
    if any(verdicts):
        return None
    return (
        deferred("No answer from {samples}.", samples=_samples(len(verdicts)))
        if verdicts
        else deferred("There are no samples.")
    )


def _too_small(verdicts: Sequence[Verdict | None], leaning: Verdict | None, limits: Limits) -> str | None:
    """Return a reason if the samples that answered are split, or too few of all samples agree."""
    samples = len(verdicts)
    yes, no = verdicts.count("YES"), verdicts.count("NO")
    if not yes + no:
        return None
    silent = deferred(", {n} without an answer", n=samples - yes - no) if samples > yes + no else ""
    if leaning is None:
        return deferred("The samples are split: {yes} YES, {no} NO{silent}.", yes=yes, no=no, silent=silent)
    share = max(yes, no) / samples
    if share < limits.majority - _ROUNDING:
        counts = deferred("{yes} YES, {no} NO{silent}", yes=yes, no=no, silent=silent)
        return deferred(
            "The majority is too small: {share:.0f} % of {samples} say {leaning} ({counts}); "
            "expected {majority:.0f} %.",
            share=100 * share,
            samples=_samples(samples),
            leaning=leaning,
            counts=counts,
            majority=100 * limits.majority,
        )
    return None


def _cannot_tell(trajectories: Sequence[Trajectory], leaning: Verdict | None) -> str | None:
    """Return a reason if a sample that agrees with the majority was marked: the data allow no answer."""
    marked = [t.cannot_tell for t in trajectories if t.cannot_tell and _verdict(t) == leaning]
    return deferred("The policy cannot tell: {marked}.", marked=marked[0]) if marked else None


def _noisy(snr: float | Undefined, spectrum: Spectrum, limits: Limits) -> str | None:
    if isinstance(snr, Undefined):
        return deferred("S/N undefined: {reason}.", reason=snr.reason)
    if snr >= limits.snr:
        return None
    estimated = deferred(", with the noise estimated from the scatter") if spectrum.errors == "estimated" else ""
    shown_snr = f"{snr:.1f}".replace("-0.0", "0.0")
    return deferred(
        "S/N {shown_snr} per pixel (median of the spectrum{estimated}); expected {snr:g} or more.",
        shown_snr=shown_snr,
        estimated=estimated,
        snr=limits.snr,
    )


def _coarse(spectrum: Spectrum) -> str | None:
    step = rest(spectrum).sampling
    if step <= COARSE:
        return None
    return deferred(
        "Sampled every {step:.0f} Å, so lines cannot be judged; expected {coarse:g} Å or less.",
        step=step,
        coarse=COARSE,
    )


def _uncovered(spectrum: Spectrum, task: Task, limits: Limits) -> list[str]:
    """Return a sentence for each span that a primary feature needs and that has too little data."""
    at_rest = rest(spectrum)
    sentences = []
    for span, (names, covered) in _primary(spectrum, task).items():
        if covered == 0.0 or covered < limits.coverage - _ROUNDING:
            where = (
                deferred(
                    "{covered:.0f} % of {span} (rest frame, air) has data", covered=100 * covered, span=shown(span)
                )
                if at_rest.medium == "air"
                else deferred(
                    "{covered:.0f} % of {span} (rest frame, vacuum) has data", covered=100 * covered, span=shown(span)
                )
            )
            sentences.append(
                deferred(
                    "{names}: {where}; expected {least:.0f} %.",
                    names=joined(names, " and "),
                    where=where,
                    least=100 * limits.coverage,
                )
            )
    return sentences


def least_coverage(spectrum: Spectrum, task: Task) -> float:
    """Return the least share of a primary feature's span that holds data, 0 to 1; 1 for a task without any."""
    return min((covered for _, covered in _primary(spectrum, task).values()), default=1.0)


def _primary(spectrum: Spectrum, task: Task) -> dict[Window, tuple[tuple[str, ...], float]]:
    """Return the spans that the primary features need: names of the features, and share of the span with data."""
    at_rest = rest(spectrum)
    by_span: dict[Window, dict[str, None]] = {}
    for feature in (f.in_medium(at_rest.medium) for f in task.features if f.role == "primary"):
        root = task.root(feature).in_medium(at_rest.medium)
        names = by_span.setdefault(root.span, {})
        names[root.name] = None
        if feature.span == root.span:
            names[feature.name] = None
    return {span: (tuple(names), coverage(at_rest, span)) for span, names in by_span.items()}


def _without_data(
    trajectories: Sequence[Trajectory],
    verdicts: Sequence[Verdict | None],
    leaning: Verdict | None,
    spectrum: Spectrum,
    limits: Limits,
) -> str | None:
    """Return a reason if the majority is too small without the answers that directly follow a zoom without data."""
    agreeing = [t for t, verdict in zip(trajectories, verdicts, strict=True) if verdict == leaning]
    zooms = [zoom for zoom in map(_last_zoom, agreeing) if zoom is not None and _has_no_data(zoom, spectrum)]
    if not zooms or (len(agreeing) - len(zooms)) / len(trajectories) >= limits.majority - _ROUNDING:
        return None
    window = zooms[0].window_observed
    where = "" if window is None else deferred(" ({window} observed)", window=shown(window))
    return deferred(
        "{n_zooms} of {n_agreeing} {leaning} answers followed a zoom where the spectrum has no data{where}.",
        n_zooms=len(zooms),
        n_agreeing=len(agreeing),
        leaning=leaning,
        where=where,
    )


def _last_zoom(trajectory: Trajectory) -> Zoom | None:
    """Return the zoom that directly precedes the last answer."""
    zoom = None
    for step in trajectory.steps:
        if isinstance(step, Zoom):
            zoom = step
        elif isinstance(step, Answer) and step is trajectory.answer:
            break
    return zoom


def _has_no_data(zoom: Zoom, spectrum: Spectrum) -> bool:
    window = zoom.window if spectrum.frame == "rest" else zoom.window_observed
    if window is None or not 0 < window[0] < window[1]:
        return False
    observed = (
        convert(window[0], zoom.medium, spectrum.medium),
        convert(window[1], zoom.medium, spectrum.medium),
    )
    return coverage(spectrum, observed) == 0.0


def _samples(count: int) -> str:
    return deferredn("{n} sample", "{n} samples", count)
