"""The summary of a run: a row a spectrum, in the order in which somebody should look at them.

YES comes first, then NO, each by the lower end of the interval of the fraction of YES (Wilson's, as
``agent.consensus``: five of five before three of three, the surest candidate first and the most doubtful NO
before the surest), then by signal-to-noise ratio, then by name. ``rank`` counts them. What a person is asked
about stands after them in the same order and has no rank: a place between YES and NO would be a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Literal

from agent.consensus import Consensus, Limits, consensus
from agent.many.journal import Inspected
from agent.many.reading import SpectrumFile
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Trajectory

CandidateVerdict = Literal["YES", "NO", "ASK"]
_ORDER: dict[CandidateVerdict, int] = {"YES": 0, "NO": 1, "ASK": 2}


@dataclass(frozen=True)
class Candidate:
    """One row. ``agent.many.candidate_table`` describes every column."""

    rank: int | None
    verdict: CandidateVerdict
    reasons: str
    file: str
    target: str
    name: str
    survey: str
    ra: float | None
    dec: float | None
    redshift: float | None
    snr: float | None
    task: str
    n: int
    yes: int
    no: int
    none: int
    yes_fraction: float | None
    lo: float | None
    hi: float | None
    looks: float
    faults: int
    explanation: str


def candidate(
    file: str,
    target: str,
    trajectories: Sequence[Trajectory],
    spectrum: Spectrum | None,
    found: Consensus | None,
    why_not: str = "",
) -> Candidate:
    """The row of one spectrum, without a rank.

    :param trajectories: its samples, one or more
    :param spectrum: None where it cannot be read any more
    :param found: what the samples came to; None where that cannot be told, and then ``why_not`` says why
    """
    first = trajectories[0]
    lo, hi = (_rounded(end) for end in (found.interval if found else None) or (None, None))
    verdicts = [t.answer.verdict if t.answer else None for t in trajectories]
    return Candidate(
        rank=None,
        verdict=(found.verdict if found else None) or "ASK",
        reasons=" ".join(found.reasons) if found else why_not,
        file=file,
        target=target,
        name=first.spectrum_name,
        survey=spectrum.survey if spectrum else "",
        ra=spectrum.ra if spectrum else None,
        dec=spectrum.dec if spectrum else None,
        redshift=first.redshift,
        snr=_rounded(found.snr) if found else None,
        task=first.task,
        n=len(trajectories),
        yes=verdicts.count("YES"),
        no=verdicts.count("NO"),
        none=verdicts.count(None),
        yes_fraction=_rounded(found.yes_fraction) if found else None,
        lo=lo,
        hi=hi,
        looks=round(fmean(len(t.zooms) for t in trajectories), 4),
        faults=sum(len(t.faults) for t in trajectories),
        explanation=_explanation(trajectories),
    )


def candidates_of(
    inspected: Iterable[Inspected], folder: Path, task: Task, limits: Limits
) -> Iterator[Candidate]:
    """A row for each spectrum of the results. The spectra are read again, each file once where its spectra
    follow on each other.

    :param folder: that of the results
    """
    file: SpectrumFile | None = None
    for one in inspected:
        path = folder / one.file
        if file is None or file.path != path:
            file = SpectrumFile(path)
        spectrum = file.read(one.target)
        if not isinstance(spectrum, Spectrum):
            why = f"The spectrum cannot be read any more: {spectrum}."
            yield candidate(one.file, one.target, one.trajectories, None, None, why)
        elif any(trace.spectrum_sha256 != spectrum.sha256 for trace in one.trajectories):
            why = "The file is another than the one that was inspected."
            yield candidate(one.file, one.target, one.trajectories, spectrum, None, why)
        else:
            found = consensus(one.trajectories, spectrum, task, limits)
            yield candidate(one.file, one.target, one.trajectories, spectrum, found)


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """In the order of the module's docstring, those with a verdict numbered from 1."""
    ordered = sorted(candidates, key=_place)
    return [
        row if row.verdict == "ASK" else replace(row, rank=rank) for rank, row in enumerate(ordered, start=1)
    ]


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _place(row: Candidate) -> tuple[int, float, float, str, str]:
    lo = -1.0 if row.lo is None else row.lo
    snr = float("-inf") if row.snr is None else row.snr
    return _ORDER[row.verdict], -lo, -snr, row.file, row.target


def _explanation(trajectories: Sequence[Trajectory]) -> str:
    """What the first sample says that answered as most did."""
    answers = [t.answer for t in trajectories if t.answer is not None]
    yes = sum(answer.verdict == "YES" for answer in answers)
    no = sum(answer.verdict == "NO" for answer in answers)
    agreeing = [a for a in answers if yes == no or a.verdict == ("YES" if yes > no else "NO")]
    return " ".join(agreeing[0].explanation.split()) if agreeing else ""
