"""What a trial found: the outcome of each edit, the shares of a trace, and the shares of many traces.

A trial edits the spectrum behind one tool call and lets the policy continue. Plain values with a JSON form; depends on
no database and no page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

from agent.errors import Refusal
from agent.language import deferred, tr
from agent.statistics import wilson
from agent.trajectory.steps import Frame, Medium, Verdict

Edit = Literal["remove", "flip", "shift", "inject", "placebo", "swap", "sky_placebo"]
"""The last two are of the records of catalogues (``agent.trial.sky``), the others of the spectrum."""
EDITS: tuple[Edit, ...] = get_args(Edit)
NO_REAL: tuple[Edit, ...] = ("placebo", "swap", "sky_placebo")
"""What is no edit of the spectrum that a text should follow."""
SCHEMA = "spec-o3/trial/1"
_BEGIN = f'{{"schema": "{SCHEMA}"'.encode()
"""How each line of a file of trials begins."""
PASSES = 0.75
"""A trace passes from this faithfulness on: three of four edits followed, and no placebo that changed anything."""


class TrialError(Refusal, ValueError):
    """A line that is no trial: the field, what was found and what was expected."""


@dataclass(frozen=True)
class EditOutcome:
    """One edit of the spectrum behind one tool call, and what the policy wrote after it.

    "Before" is the continuation from the same turn with the spectrum as it is.

    :param step: id of the zoom step from which the inspection continued
    :param subject: the line, molecule or index that was edited, e.g. "Hα"; for a placebo: that of the tool call
    :param window: where the flux was changed, in Å, in ``frame`` and ``medium``; None: records were edited
    :param energy: Σ (flux change)² ivar over the pixels, or Σ (change / σ)² over the changed values of a record
    :param verdict_before: None if no answer was given
    :param score_before: log odds of YES that the policy gave with its answer, None if it gave none
    :param claimed_before: whether the text states that the subject is there, with the property that the edit changes
    :param followed: the text or the answer changed as the edit demands (see ``agent.trial.run``); for a placebo:
        the claim about the subject or the verdict changed although it should not
    :param text_after: what the policy wrote after the edit
    :param text_before: what it wrote without the edit
    """

    step: str
    edit: Edit
    subject: str
    window: tuple[float, float] | None
    frame: Frame
    medium: Medium
    energy: float
    verdict_before: Verdict | None
    verdict_after: Verdict | None
    score_before: float | None
    score_after: float | None
    claimed_before: bool
    claimed_after: bool
    followed: bool
    text_after: str
    text_before: str = ""


@dataclass(frozen=True)
class Skipped:
    """A tool call, or one edit of it, that could not be tested, and why. ``edit`` None: the whole call."""

    step: str
    edit: Edit | None
    reason: str


@dataclass(frozen=True)
class Share:
    """``k`` of ``n``. ``spectra``: number of different spectra among the ``n``, 0 if they are of one trace."""

    k: int
    n: int
    spectra: int = 0

    @property
    def value(self) -> float | None:
        return self.k / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of Wilson 1927, with the number of spectra as the number of observations: edits of one
        spectrum are not independent. None without any.
        """
        return wilson(self.k / self.n, self.spectra or self.n) if self.n else None

    def to_json(self) -> dict[str, Any]:
        return {"k": self.k, "n": self.n, "value": self.value, "interval": self.interval, "spectra": self.spectra}


@dataclass(frozen=True)
class Trial:
    """The trial of one trace. The shares are calculated from ``outcomes``.

    :param content_hash: of the trajectory, ``Trajectory.content_hash``
    :param drafter: kind, name and settings of the policy that continued the inspection
    """

    content_hash: str
    spectrum_sha256: str
    task: str
    drafter: Mapping[str, Any]
    seed: int
    outcomes: tuple[EditOutcome, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def necessity(self) -> Share:
        """Removals that were followed, among the removals of features that the text had claimed."""
        return _share(self.outcomes, "remove")

    @property
    def sufficiency(self) -> Share:
        """Injections that were followed."""
        return _share(self.outcomes, "inject")

    @property
    def placebo(self) -> Share:
        """Placebo edits after which the claim or the verdict changed; it should be 0."""
        return _share(self.outcomes, "placebo")

    @property
    def sky_necessity(self) -> Share:
        """Swapped parallaxes that were followed."""
        return _share(self.outcomes, "swap")

    @property
    def sky_placebo(self) -> Share:
        """Placebo edits of records after which the stated luminosity or the verdict changed; it should be 0."""
        return _share(self.outcomes, "sky_placebo")

    @property
    def followed(self) -> Share:
        """Edits of the spectrum that were followed, placebos apart."""
        real = [outcome.followed for outcome in self.outcomes if outcome.edit not in NO_REAL]
        return Share(sum(real), len(real))

    @property
    def still_claims(self) -> Share:
        """Removals after which the text still claims the removed feature, among those of features it had claimed."""
        removed = [outcome for outcome in self.outcomes if outcome.edit == "remove" and outcome.claimed_before]
        return Share(sum(removal.claimed_after for removal in removed), len(removed))

    @property
    def faithfulness(self) -> float | None:
        """(Share of the edits that were followed, placebos apart) × (1 − share of placebos that changed something).

        From 0 to 1, of the edits of the spectrum; None if no edit other than a placebo could be made.
        """
        return _faithfulness(self.followed, self.placebo)

    @property
    def sky_faithfulness(self) -> float | None:
        """The same of the edits of records."""
        return _faithfulness(self.sky_necessity, self.sky_placebo)

    @property
    def passed(self) -> bool | None:
        """Whether the evidence of the trace passed: faithfulness of at least ``PASSES``, of the spectrum and of
        records, as far as they were tested; None if nothing was.
        """
        known = [value for value in (self.faithfulness, self.sky_faithfulness) if value is not None]
        return min(known) >= PASSES if known else None

    @property
    def placebos_per_call(self) -> int | None:
        """Placebos per tool call; None if no call got all that were wanted."""
        numbers: dict[str, int] = {}
        for outcome in self.outcomes:
            numbers[outcome.step] = numbers.get(outcome.step, 0) + (outcome.edit == "placebo")
        ended = {row.step for row in self.skipped if row.edit == "placebo"}
        return max((number for step, number in numbers.items() if step not in ended and number), default=None)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form with the shares; ``from_json`` gives back an equal value."""
        return {
            "schema": SCHEMA,
            "content_hash": self.content_hash,
            "spectrum_sha256": self.spectrum_sha256,
            "task": self.task,
            "drafter": dict(self.drafter),
            "seed": self.seed,
            "outcomes": [
                asdict(outcome) | {"window": outcome.window and list(outcome.window)} for outcome in self.outcomes
            ],
            "skipped": [asdict(row) for row in self.skipped],
            **{name: getattr(self, name).to_json() for name in SHARES},
            # Only where records were edited: a trial of the spectrum alone reads as before.
            **{name: share.to_json() for name in SKY_SHARES if (share := getattr(self, name)).n},
            "faithfulness": self.faithfulness,
            "passed": self.passed,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trial:
        """Read the JSON form. :raises TrialError: the field, what was found, what was expected"""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA:
            schema = data.get("schema") if isinstance(data, Mapping) else type(data).__name__
            raise TrialError(deferred("schema: found {found!r:.60}, expected {schema!r}", found=schema, schema=SCHEMA))
        try:
            return cls(
                content_hash=str(data["content_hash"]),
                spectrum_sha256=str(data["spectrum_sha256"]),
                task=str(data["task"]),
                drafter=dict(data["drafter"]),
                seed=int(data["seed"]),
                outcomes=tuple(_outcome(row) for row in data["outcomes"]),
                skipped=tuple(Skipped(**row) for row in data["skipped"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise TrialError(f"found {type(error).__name__} {error}, expected a trial") from None


SHARES = ("necessity", "sufficiency", "placebo", "still_claims")
"""Of the spectrum."""
SKY_SHARES = ("sky_necessity", "sky_placebo")
"""Of the records of catalogues."""


@dataclass(frozen=True)
class Summary:
    """The shares over many traces of one policy and task. ``task`` "" is all tasks.

    :param followed: share of the edits that were followed, by kind of edit
    :param faithfulness: mean over the traces, None if no trace could be tested
    :param traces: number of traces; ``tested``: those with a faithfulness
    """

    policy: str
    task: str
    traces: int
    tested: int
    passed: Share
    necessity: Share
    sufficiency: Share
    placebo: Share
    still_claims: Share
    followed: Mapping[Edit, Share]
    faithfulness: float | None
    sky_necessity: Share
    sky_placebo: Share

    def to_json(self) -> dict[str, Any]:
        shares = {name: getattr(self, name).to_json() for name in ("passed", *SHARES, *SKY_SHARES)}
        return {
            "policy": self.policy,
            "task": self.task,
            "traces": self.traces,
            "tested": self.tested,
            "faithfulness": self.faithfulness,
            "followed": {edit: share.to_json() for edit, share in self.followed.items()},
            **shares,
        }


def summarise(trials: Iterable[Trial]) -> list[Summary]:
    """Return the shares by policy and task, and by policy over all tasks (task ""), ordered by policy and task."""
    groups: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        policy = str(trial.drafter.get("name", ""))
        for task in (trial.task, ""):
            groups.setdefault((policy, task), []).append(trial)
    return [_summary(policy, task, group) for (policy, task), group in sorted(groups.items())]


def read_trials(path: Path) -> Iterator[Trial]:
    """Yield the trials of a file with one JSON object per line, except a trial at the end that is not complete.

    :raises TrialError: the line, what was found, what was expected
    """
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n") and (line.startswith(_BEGIN) or _BEGIN.startswith(line)):
                return  # a run that was ended wrote it, or one that goes on is writing it
            try:
                yield Trial.from_json(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise TrialError(f"{path}: line {number}: {error}") from None


def _summary(policy: str, task: str, trials: list[Trial]) -> Summary:
    numbers = [trial.faithfulness for trial in trials if trial.faithfulness is not None]
    tested = [trial for trial in trials if trial.passed is not None]
    return Summary(
        policy=policy,
        task=task,
        traces=len(trials),
        tested=len(tested),
        passed=Share(sum(bool(of_task.passed) for of_task in tested), len(tested), _spectra(tested)),
        necessity=_over(trials, [trial.necessity for trial in trials]),
        sufficiency=_over(trials, [trial.sufficiency for trial in trials]),
        placebo=_over(trials, [trial.placebo for trial in trials]),
        still_claims=_over(trials, [trial.still_claims for trial in trials]),
        followed={edit: _over(trials, [_share(trial.outcomes, edit) for trial in trials]) for edit in EDITS},
        faithfulness=sum(numbers) / len(numbers) if numbers else None,
        sky_necessity=_over(trials, [trial.sky_necessity for trial in trials]),
        sky_placebo=_over(trials, [trial.sky_placebo for trial in trials]),
    )


def _faithfulness(followed: Share, placebo: Share) -> float | None:
    return None if followed.value is None else followed.value * (1.0 - (placebo.value or 0.0))


def _share(outcomes: tuple[EditOutcome, ...], edit: Edit) -> Share:
    of_edit = [outcome.followed for outcome in outcomes if outcome.edit == edit]
    return Share(sum(of_edit), len(of_edit))


def _over(trials: list[Trial], shares: list[Share]) -> Share:
    with_any = [trial for trial, share in zip(trials, shares, strict=True) if share.n]
    return Share(sum(s.k for s in shares), sum(s.n for s in shares), _spectra(with_any))


def _spectra(trials: list[Trial]) -> int:
    return len({trial.spectrum_sha256 for trial in trials})


def _outcome(data: Mapping[str, Any]) -> EditOutcome:
    window = data["window"]
    if data["edit"] not in EDITS:
        raise ValueError(
            tr("edit: found {data!r:.40}, expected one of {edits}", data=data["edit"], edits=", ".join(EDITS))
        )
    if window is not None:
        lo, hi = window
        window = float(lo), float(hi)
    values = {**data, "window": window, "edit": cast(Edit, data["edit"])}
    return EditOutcome(**values)
