"""Features of a case, from which P(YES) is calculated, and the reasons why no certificate covers a case.

A case is one spectrum with the samples of one policy for one task. Depends on the samples, the spectrum and the task
only: the known label, if any, is not read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from agent.consensus import data_reasons, least_coverage, mean_score, typical_snr
from agent.hints.claims import claims_of, compare
from agent.hints.evidence import Evidence, at_rest, evidence
from agent.language import tr
from agent.measure import Undefined
from agent.spectrum import Spectrum
from agent.tasks import Task
from agent.trajectory import Answer, Think, Trajectory

__all__ = ["COUNTS", "NUMBERS", "Features", "data_reasons", "features_of"]


@dataclass(frozen=True)
class Features:
    """What is known about a case before anybody decides it; None where it is not defined.

    :param vote: log odds of YES among the samples that answered, ln((yes + 1/2) / (no + 1/2)); None without an answer
    :param answer: mean of the log odds of YES that the policy gives with its answers
    :param agreeing: claims of the samples that agree with the measurements, and ``contradicting`` that contradict
        them; a claim counts once per sample
    :param log_snr: log10 of the median S/N per pixel; None where the S/N is undefined or not above 0
    :param coverage: least share of a primary feature's span that holds data, 0 to 1
    """

    vote: float | None = None
    answer: float | None = None
    agreeing: int = 0
    contradicting: int = 0
    log_snr: float | None = None
    coverage: float = 1.0

    @property
    def log_odds(self) -> float | None:
        """Log odds of YES before calibration: ``answer`` if there is one, else ``vote``."""
        return self.vote if self.answer is None else self.answer

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Features:
        """Read the JSON form. :raises ValueError: which field, what was found, what was expected"""
        names = [field.name for field in fields(cls)]
        if not isinstance(data, Mapping) or sorted(data) != sorted(names):
            names_in_data = ", ".join(sorted(map(str, data))) if isinstance(data, Mapping) else type(data).__name__
            raise ValueError(
                tr("features: found {found:.200}, expected {names}", found=names_in_data, names=", ".join(names))
            )
        for name in names:
            _check(name, data[name])
        return cls(**data)


NUMBERS = ("vote", "answer", "log_snr")
"""Features that can be None."""
COUNTS = ("agreeing", "contradicting")


def _check(name: str, value: object) -> None:
    if value is None and name in NUMBERS:
        return
    if name in COUNTS:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise ValueError(
                tr("features.{name}: found {value!r:.60}, expected a whole number, 0 or more", name=name, value=value)
            )
    elif isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(tr("features.{name}: found {value!r:.60}, expected a finite number", name=name, value=value))
    elif name == "coverage" and not 0 <= value <= 1:
        raise ValueError(tr("features.coverage: found {value!r}, expected 0 to 1", value=value))


def features_of(
    trajectories: Sequence[Trajectory], spectrum: Spectrum, task: Task, with_claims: bool = True
) -> Features:
    """Return the features of a case.

    :param trajectories: the samples of one policy, in any order
    :param spectrum: the one that was inspected, as it was read
    :param with_claims: False leaves the claims uncounted, which saves most of the time
    """
    verdicts = Counter(t.answer.verdict for t in trajectories if t.answer is not None and t.answer.verdict is not None)
    yes, no = verdicts["YES"], verdicts["NO"]
    snr = typical_snr(spectrum)
    agreeing, contradicting = _claims(trajectories, spectrum) if with_claims else (0, 0)
    return Features(
        vote=math.log((yes + 0.5) / (no + 0.5)) if yes + no else None,
        answer=mean_score(trajectories),
        agreeing=agreeing,
        contradicting=contradicting,
        log_snr=None if isinstance(snr, Undefined) or snr <= 0 else math.log10(snr),
        coverage=least_coverage(spectrum, task),
    )


def _claims(trajectories: Sequence[Trajectory], spectrum: Spectrum) -> tuple[int, int]:
    """Count the claims of the thoughts and explanations that agree with the measurements, and that contradict them."""
    counts: Counter[str] = Counter()
    known: dict[float, Evidence] = {}
    for trajectory in trajectories:
        z = (spectrum.redshift or 0.0) if trajectory.redshift is None else trajectory.redshift
        if z not in known:
            known[z] = evidence(at_rest(spectrum, z))
        claims = dict.fromkeys(claim for text in _texts(trajectory) for claim in claims_of(text))
        counts.update(compare(claim, known[z]).verdict for claim in claims)
    return counts["agrees"], counts["contradicts"]


def _texts(trajectory: Trajectory) -> list[str]:
    thoughts = [step.text for step in trajectory.steps if isinstance(step, Think)]
    return [*thoughts, *(step.explanation for step in trajectory.steps if isinstance(step, Answer))]
