"""Table of candidates: one row per spectrum of a run, ranked, written as CSV, VOTable or FITS.

YES comes first, then NO, each by P(YES) if a certificate gives it, then by the lower end of the Wilson interval of the
fraction of YES, then by the score if the policy gives one, then by S/N, then by name. Spectra left to a person follow
without a rank: a place between YES and NO would be a verdict.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from agent.batch.catalogue import local_file
from agent.batch.journal import Inspected
from agent.batch.sources import SourceError, SpectrumFile
from agent.consensus import DEFINITION, Consensus, Limits, consensus, mean_score
from agent.errors import Refusal
from agent.language import tr
from agent.spectrum import Spectrum, SpectrumError
from agent.spectrum.record import Medium, medium_text
from agent.table_files import SUFFIXES, Column, TableData, write
from agent.tasks import Task
from agent.trajectory import Trajectory

if TYPE_CHECKING:
    from agent.trust.certificate import Judged

    Judge = Callable[[Sequence[Trajectory], Spectrum], Judged]

CandidateVerdict = Literal["YES", "NO", "ASK"]
ORDER: dict[CandidateVerdict, int] = {"YES": 0, "NO": 1, "ASK": 2}


@dataclass(frozen=True)
class Candidate:
    """One row. ``COLUMNS``, ``P_YES`` and ``STAGE`` describe every column.

    :param is_current: whether the spectrum can be read and is the one that was inspected; no column
    """

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
    medium: str
    snr: float | None
    task: str
    score: float | None
    n: int
    yes: int
    no: int
    none: int
    truncated: int
    yes_fraction: float | None
    lo: float | None
    hi: float | None
    zooms: float
    seconds: float | None
    faults: int
    explanation: str
    p_yes: float | None = None
    stage: str = ""
    is_current: bool = True


def candidate(
    file: str,
    target: str,
    trajectories: Sequence[Trajectory],
    spectrum: Spectrum | None,
    agreed: Consensus | None,
    why_not: str = "",
    seconds: Sequence[float] = (),
    truncated: int = 0,
    judged: Judged | None = None,
) -> Candidate:
    """Make the row of one spectrum, without a rank.

    :param trajectories: its samples, one or more
    :param spectrum: None if it can no longer be read
    :param agreed: the consensus of the samples; None if there is none, with the reason in ``why_not``
    :param seconds: of each sample; empty if they are not known
    :param truncated: samples without an answer because the conversation no longer fitted the model
    :param judged: the verdict of a certificate, which takes the place of the consensus
    """
    first = trajectories[0]
    lo, hi = (_rounded(end) for end in (agreed.interval if agreed else None) or (None, None))
    verdicts = [t.answer.verdict if t.answer else None for t in trajectories]
    reasons = (judged.reason,) if judged and judged.reason else () if judged or not agreed else agreed.reasons
    return Candidate(
        rank=None,
        verdict=judged.verdict if judged else (agreed.verdict if agreed else None) or "ASK",
        reasons=_reasons(reasons, len(trajectories), truncated) if agreed else why_not,
        file=file,
        target=target,
        name=first.spectrum_name,
        survey=spectrum.survey if spectrum else "",
        ra=spectrum.ra if spectrum else None,
        dec=spectrum.dec if spectrum else None,
        redshift=first.redshift,
        medium=medium_text(spectrum) if spectrum else first.medium,
        snr=_rounded(agreed.snr) if agreed else None,
        task=first.task,
        score=_rounded(mean_score(trajectories)),
        n=len(trajectories),
        yes=verdicts.count("YES"),
        no=verdicts.count("NO"),
        none=verdicts.count(None),
        truncated=truncated,
        yes_fraction=_rounded(agreed.yes_fraction) if agreed else None,
        lo=lo,
        hi=hi,
        zooms=round(fmean(len(t.zooms) for t in trajectories), 4),
        seconds=_rounded(fmean(seconds)) if seconds else None,
        faults=sum(len(t.faults) for t in trajectories),
        explanation=_explanation(trajectories),
        p_yes=_rounded(judged.p_yes) if judged else None,
        is_current=agreed is not None,
    )


def candidates_from(
    inspected: Iterable[Inspected],
    folder: Path,
    task: Task,
    limits: Limits,
    medium: Medium | None = None,
    judge: Judge | None = None,
) -> Iterator[Candidate]:
    """Yield a row for each spectrum of the results. The spectra are read again, each file once if its spectra are
    consecutive.

    :param folder: that of the results
    :param medium: with which spectra were inspected whose file does not state it
    :param judge: gives each readable spectrum the verdict of a certificate
    """
    for traced, spectrum in _read_again(inspected, folder, medium):
        if not isinstance(spectrum, Spectrum):
            why = f"The spectrum can no longer be read: {spectrum}."
            yield candidate(
                traced.file, traced.target, traced.trajectories, None, None, why, traced.seconds, traced.truncated
            )
        elif any(trace.spectrum_sha256 != spectrum.sha256 for trace in traced.trajectories):
            why = "The file differs from the one that was inspected."
            yield candidate(
                traced.file, traced.target, traced.trajectories, spectrum, None, why, traced.seconds, traced.truncated
            )
        else:
            agreed = consensus(traced.trajectories, spectrum, task, limits)
            judged = judge(traced.trajectories, spectrum) if judge else None
            traces, seconds, truncated = traced.trajectories, traced.seconds, traced.truncated
            yield candidate(traced.file, traced.target, traces, spectrum, agreed, "", seconds, truncated, judged)


def _read_again(
    inspected: Iterable[Inspected], folder: Path, medium: Medium | None
) -> Iterator[tuple[Inspected, Spectrum | SpectrumError | SourceError]]:
    """Yield each spectrum, or why it cannot be read. A file behind an address is copied for as long as it is read."""
    name: str | None = None
    file: SpectrumFile | SourceError
    with ExitStack() as copy:
        for traced in inspected:
            if name != traced.file:
                copy.close()
                try:
                    file = SpectrumFile(copy.enter_context(local_file(traced.file, folder)), medium)
                except SourceError as error:
                    file = error
                name = traced.file
            yield traced, file if isinstance(file, SourceError) else file.read(traced.target)


def ranked(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort the rows as the module's docstring says and number those with a verdict from 1."""
    ordered = sorted(candidates, key=place)
    return [row if row.verdict == "ASK" else replace(row, rank=rank) for rank, row in enumerate(ordered, start=1)]


def _reasons(reasons: Sequence[str], samples: int, truncated: int) -> str:
    """Return why a person should decide; "" if there is a verdict."""
    if reasons and truncated:
        cut = f"Truncated, because the conversation no longer fitted the model: {truncated} of {samples}."
        reasons = (*reasons, cut)
    return " ".join(reasons)


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def place(row: Candidate) -> tuple[int, float, float, float, float, str, str]:
    """Return what the rows are sorted by; its first number is that of ``ORDER``."""
    lo = -1.0 if row.lo is None else row.lo
    snr = float("-inf") if row.snr is None else row.snr
    return ORDER[row.verdict], -(row.p_yes or 0.0), -lo, -(row.score or 0.0), -snr, row.file, row.target


def _explanation(trajectories: Sequence[Trajectory]) -> str:
    """Return the explanation of the first sample that agrees with the majority."""
    answers = [t.answer for t in trajectories if t.answer is not None]
    yes = sum(answer.verdict == "YES" for answer in answers)
    no = sum(answer.verdict == "NO" for answer in answers)
    agreeing = [a for a in answers if yes == no or a.verdict == ("YES" if yes > no else "NO")]
    return " ".join(agreeing[0].explanation.split()) if agreeing else ""


class TableError(Refusal):
    """A table cannot be written: which file, and why."""


COLUMNS = (
    Column("rank", int, "Rank among those with a verdict, the most certain YES first", "stat.rank"),
    Column("verdict", str, "YES or NO, or ASK if a person should decide", "meta.code.class"),
    Column("reasons", str, "Why a person should decide", "meta.note"),
    Column("file", str, "Spectrum file, relative to the folder of the results", "meta.ref;meta.file"),
    Column("target", str, "Which spectrum of the file, where it holds several", "meta.id.part"),
    Column("name", str, "Name of the spectrum", "meta.id;meta.main"),
    Column("survey", str, "Survey", "meta.id;instr"),
    Column("ra", float, "Right ascension as the file gives it", "pos.eq.ra;meta.main", "deg"),
    Column("dec", float, "Declination as the file gives it", "pos.eq.dec;meta.main", "deg"),
    Column("redshift", float, "Redshift as the file gives it", "src.redshift"),
    Column(
        "medium",
        str,
        "Medium of the wavelengths: vacuum or air; (assumed) where the file does not state it",
        "meta.note",
    ),
    Column("snr", float, "Signal-to-noise ratio per pixel, the median over the spectrum", "stat.snr"),
    Column("task", str, "Class in question", "meta.code"),
    Column(
        "score",
        float,
        "Log odds of YES, mean of the samples; empty if the policy gives none",
        "stat.likelihood;arith.ratio",
    ),
    Column("n", int, "Samples", "meta.number"),
    Column("yes", int, "Samples that answered YES", "meta.number"),
    Column("no", int, "Samples that answered NO", "meta.number"),
    Column("none", int, "Samples without a YES or NO", "meta.number"),
    Column(
        "truncated", int, "Samples without an answer because the conversation no longer fitted the model", "meta.number"
    ),
    Column("yes_fraction", float, "Fraction of YES among the samples that answered", "stat.confidenceLevel"),
    Column("lo", float, "Lower end of its 68 % Wilson interval", "stat.confidenceLevel;stat.min"),
    Column("hi", float, "Upper end of its 68 % Wilson interval", "stat.confidenceLevel;stat.max"),
    Column("zooms", float, "Number of zooms, mean of the samples", "meta.number;stat.mean"),
    Column("seconds", float, "Time of a sample from its start to its end, mean of the samples", "time.duration", "s"),
    Column("faults", int, "Faults of form in all samples together", "meta.number"),
    Column("explanation", str, "Explanation of the first sample with the majority answer", "meta.note"),
)
P_YES = Column("p_yes", float, "P(YES) by the certificate", "stat.probability")
STAGE = Column("stage", str, "Stage that decided, or the last one that saw the spectrum", "meta.id")


def columns_for(certified: bool, cascade: bool) -> tuple[Column, ...]:
    """Return the columns of a table.

    :param certified: verdicts are those of a certificate
    :param cascade: several policies decided in turn
    """
    return (*COLUMNS, *((P_YES,) if certified else ()), *((STAGE,) if cascade else ()))


def write_table(rows: Sequence[Candidate], path: Path, columns: Sequence[Column] = COLUMNS) -> None:
    """Write the table atomically; the file extension selects the format.

    :param columns: those of ``columns_for``
    :raises TableError: another ending than those of ``SUFFIXES``, or it cannot be written
    """
    check_table_path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(TableData("candidates", DEFINITION, columns, rows), part, path.suffix.lower())
        part.replace(path)
    except OSError as error:
        raise TableError(f"{path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def check_table_path(path: Path) -> None:
    """:raises TableError: a table of that name could not be written"""
    if path.suffix.lower() not in SUFFIXES:
        raise TableError(
            tr(
                "{path}: found a name that ends in {suffix!r}, expected {names}",
                path=path,
                suffix=path.suffix,
                names=", ".join(SUFFIXES),
            )
        )
    if not path.parent.is_dir():
        raise TableError(tr("{path}: found no such folder", path=path.parent))
